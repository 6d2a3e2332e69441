//! The test vectors of the specification, section 8.

use logpose_schema::Tree;

use crate::support::{doubles, hex, map, shown, structs};

const GEOMETRY: &[(&str, &str)] = &[
    ("Translation2d", "double x;double y"),
    ("Rotation2d", "double value"),
    ("Pose2d", "Translation2d translation;Rotation2d rotation"),
    ("Translation3d", "double x;double y;double z"),
    ("Quaternion", "double w;double x;double y;double z"),
    ("Rotation3d", "Quaternion q"),
    ("Pose3d", "Translation3d translation;Rotation3d rotation"),
    ("ChassisSpeeds", "double vx;double vy;double omega"),
    ("SwerveModuleState", "double speed;Rotation2d angle"),
];

#[test]
fn packed_values_of_wpilib_decode() {
    let registry = structs(GEOMETRY);
    let check = |type_name: &str, bytes: &str, expected: &str| {
        assert_eq!(shown(&registry, type_name, &hex(bytes)), expected, "{type_name}");
    };
    let translation = "00 00 00 00 00 00 f0 3f 00 00 00 00 00 00 00 40";
    let pose = "00 00 00 00 00 00 f0 3f 00 00 00 00 00 00 00 40 00 00 00 00 00 00 e0 3f";
    let state = "00 00 00 00 00 00 f8 3f 00 00 00 00 00 00 e0 3f";
    check("struct:Translation2d", translation, "{x: 1, y: 2}");
    check("struct:Pose2d", pose, "{translation: {x: 1, y: 2}, rotation: {value: 0.5}}");
    check("struct:ChassisSpeeds", pose, "{vx: 1, vy: 2, omega: 0.5}");
    check("struct:SwerveModuleState", state, "{speed: 1.5, angle: {value: 0.5}}");
    check(
        "struct:SwerveModuleState[]",
        &format!("{state} 00 00 00 00 00 00 f0 bf 00 00 00 00 00 00 00 00"),
        "[{speed: 1.5, angle: {value: 0.5}}, {speed: -1, angle: {value: 0}}]",
    );
    assert_eq!(
        shown(&registry, "struct:Pose3d", &doubles(&[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0])),
        "{translation: {x: 1, y: 2, z: 3}, rotation: {q: {w: 1, x: 0, y: 0, z: 0}}}",
    );
}

/// Checks size, and one payload with the line it decodes to.
fn check(schema: &str, size: usize, bytes: &str, expected: &str) {
    let registry = structs(&[("S", schema)]);
    assert_eq!(registry.layout("S").unwrap().size, size, "{schema}");
    assert_eq!(shown(&registry, "struct:S", &hex(bytes)), expected, "{schema}");
}

/// Checks where the fields are: offset, and shift and width of bit-fields.
fn check_places(schema: &str, expected: &[(usize, Option<(u32, u32)>)]) {
    let layout = structs(&[("S", schema)]).layout("S").unwrap();
    let places: Vec<_> =
        layout.fields.iter().map(|field| (field.offset, field.bits.map(|bits| (bits.shift, bits.width)))).collect();
    assert_eq!(places, expected, "{schema}");
}

#[test]
fn ordinary_fields_are_packed() {
    check("bool b; int16 i;", 3, "01 fe ff", "{b: true, i: -2}");
    check("int16 i[2]", 4, "01 00 ff ff", "{i: [1, -1]}");
    check("", 0, "", "{}");
    check(";;", 0, "", "{}");
    check("int8 a[1]", 1, "05", "{a: [5]}");
}

#[test]
fn bit_fields_share_units_as_in_java() {
    check("int8 a:4; int16 b:4;", 3, "0f 0f 00", "{a: -1, b: -1}");
    check_places("int8 a:4; int16 b:4;", &[(0, Some((0, 4))), (1, Some((0, 4)))]);
    check("int16 a:4;uint16 b:5;bool c:1;int16 d:7;", 4, "ff 03 7f 00", "{a: -1, b: 31, c: true, d: -1}");
    check_places(
        "int16 a:4;uint16 b:5;bool c:1;int16 d:7;",
        &[(0, Some((0, 4))), (0, Some((4, 5))), (0, Some((9, 1))), (2, Some((0, 7)))],
    );
    check("uint8 a:4;int8 b:2;bool c:1;int16 d:1;", 3, "7f 01 00", "{a: 15, b: -1, c: true, d: -1}");
    check_places(
        "uint8 a:4;int8 b:2;bool c:1;int16 d:1;",
        &[(0, Some((0, 4))), (0, Some((4, 2))), (0, Some((6, 1))), (1, Some((0, 1)))],
    );
    check("bool a:1;bool b:1;int8 c:2;", 1, "0d", "{a: true, b: false, c: -1}");
    check("bool a:1;bool b:1;int16 c:2;", 3, "03 03 00", "{a: true, b: true, c: -1}");
    check("int32 a:2; uint32 b:30", 4, "fe ff ff ff", "{a: -2, b: 1073741823}");
    check("int16 a:16; bool b:1", 3, "ff ff 01", "{a: -1, b: true}");
    check_places("int16 a:16; bool b:1", &[(0, None), (2, Some((0, 1)))]);
    check("int8 a:8;int8 b:1", 2, "05 01", "{a: 5, b: -1}");
    check("uint8 a:3;uint8 b[2];uint8 c:3", 4, "07 01 02 07", "{a: 7, b: [1, 2], c: 7}");
    check_places("uint8 a:3;uint8 b[2];uint8 c:3", &[(0, Some((0, 3))), (1, None), (3, Some((0, 3)))]);
    check_places(
        "int16 a:2; bool b:1; bool c:1; uint16 d:5",
        &[(0, Some((0, 2))), (0, Some((2, 1))), (0, Some((3, 1))), (0, Some((4, 5)))],
    );
    check_places("int8 a:4; int8 b:5", &[(0, Some((0, 4))), (1, Some((0, 5)))]);
}

#[test]
fn a_bool_that_finds_the_unit_full_opens_its_own() {
    check("uint8 a:7;bool b:1;bool c:1", 2, "ff 01", "{a: 127, b: true, c: true}");
    check(
        "bool a:1;bool b:1;bool c:1;bool d:1;bool e:1;bool f:1;bool g:1;bool h:1;bool i:1",
        2,
        "80 01",
        "{a: false, b: false, c: false, d: false, e: false, f: false, g: false, h: true, i: true}",
    );
}

#[test]
fn nested_structs_keep_their_own_units() {
    let registry = structs(&[("S", "uint8 a:3;Inner i;uint8 b:3"), ("Inner", "uint8 c:3")]);
    assert_eq!(shown(&registry, "struct:S", &hex("01 02 03")), "{a: 1, i: {c: 2}, b: 3}");
}

#[test]
fn char_arrays_are_text() {
    check("char s[4]", 4, "61 00 00 00", r#"{s: "a"}"#);
    check("char s[4]", 4, "61 62 63 64", r#"{s: "abcd"}"#);
    check("char s[4]", 4, "61 00 62 00", r#"{s: "a\0b"}"#);
    check("char s[2]", 2, "61 c8", r#"{s: "a"}"#);
    check("char s[4]", 4, "61 c8 00 00", r#"{s: "a"}"#);
    check("char s[4]", 4, "61 e2 82 00", r#"{s: "a"}"#);
    check("char s[4]", 4, "61 e2 82 ac", r#"{s: "a€"}"#);
    check("char s[4]", 4, "f0 9f 98 00", r#"{s: ""}"#);
    check("char s[3]", 3, "ff 61 62", "{s: \"\u{fffd}ab\"}");
    check("char c", 1, "61", r#"{c: "a"}"#);
    check("char s[4]", 4, "00 00 00 00", r#"{s: ""}"#);
}

#[test]
fn enums_are_numbers_with_names() {
    check("enum {a=1, b=2} int8 val", 1, "02", "{val: b(2)}");
    check("enum {a=1, b=2} int8 val", 1, "07", "{val: 7}");
    check("{x=1,y=-2} int32 a;", 4, "fe ff ff ff", "{a: y(-2)}");
    check("enum{first=1,second=1} uint8 a[2]", 2, "01 00", "{a: [first(1), 0]}");
    check("enum{a=1} double d", 8, "00 00 00 00 00 00 f0 3f", "{d: 1}");
    check("enum{a=1} bool d", 1, "01", "{d: true}");
    check("enum{a=-1} uint64 d", 8, "ff ff ff ff ff ff ff ff", "{d: 18446744073709551615}");
}

#[test]
fn a_control_word_decodes() {
    let schema = "uint64 opModeHash:56;enum{unknown=0,autonomous=1,teleoperated=2,utility=3} uint64 robotMode:2;\
        bool enabled:1;bool eStop:1;bool fmsAttached:1;bool dsAttached:1;";
    check(
        schema,
        8,
        "ef be ad de 00 00 00 26",
        "{opModeHash: 3735928559, robotMode: teleoperated(2), enabled: true, eStop: false, fmsAttached: false, \
         dsAttached: true}",
    );
}

#[test]
fn wide_types_keep_all_bits() {
    let registry = structs(&[("S", "int64 a;uint64 b;float f;double d;float32 g;float64 h")]);
    let bytes = hex(&("ff".repeat(16) + "00 00 c0 3f 00 00 00 00 00 00 f8 3f 00 00 c0 bf 00 00 00 00 00 00 f8 bf"));
    assert_eq!(
        registry.decode("struct:S", &bytes).unwrap().tree,
        map(&[
            ("a", Tree::Int(-1)),
            ("b", Tree::UInt(u64::MAX)),
            ("f", Tree::Float(1.5)),
            ("d", Tree::Double(1.5)),
            ("g", Tree::Float(-1.5)),
            ("h", Tree::Double(-1.5)),
        ]),
    );
}
