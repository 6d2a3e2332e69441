//! photonstruct: optional and variable parts, read in sequence.

use logpose_schema::{Note, Registry, SchemaError};

use crate::support::{add_struct, doubles, hex, shown};

fn add(registry: &mut Registry, name: &str, text: &str) -> Result<(), SchemaError> {
    registry.add(&format!("/.schema/photonstruct:{name}"), "photonstructschema", text.as_bytes())
}

fn photons(schemas: &[(&str, &str)]) -> Registry {
    let mut registry = Registry::new();
    for (name, text) in schemas {
        add(&mut registry, name, text).unwrap();
    }
    registry
}

#[test]
fn optional_and_variable_parts_decode() {
    let registry = photons(&[
        ("Result:01", "int64 seq;optional float32 conf;Corner:fe corners[?];int8 tail;"),
        ("Corner:fe", "float64 x;float64 y;"),
    ]);
    let full = [hex("0500000000000000 01 0000003f 02"), doubles(&[1.0, 2.0, 3.0, 4.0]), hex("ff")].concat();
    assert_eq!(
        shown(&registry, "photonstruct:Result:01", &full),
        "{seq: 5, conf: 0.5, corners: [{x: 1, y: 2}, {x: 3, y: 4}], tail: -1}",
    );
    let bare = hex("0600000000000000 00 00 07");
    assert_eq!(shown(&registry, "photonstruct:Result:01", &bare), "{seq: 6, conf: null, corners: [], tail: 7}");
}

#[test]
fn wpilib_structs_nest_in_photonstructs() {
    let mut registry = photons(&[("Target:1", "Transform3d best;optional Other:2 other;optional bool b[?]")]);
    add(&mut registry, "Other:2", "uint16 id").unwrap();
    let payload = [doubles(&[1.0, 2.0]), hex("01 0700 01 02 01 00")].concat();
    let Err(SchemaError::Missing { what, needed_by }) = registry.decode("photonstruct:Target:1", &payload) else {
        panic!()
    };
    assert_eq!((what.as_str(), needed_by.as_deref()), ("struct:Transform3d", Some("photonstruct:Target:1")));
    add_struct(&mut registry, "Transform3d", "Part a").unwrap();
    let error = registry.decode("photonstruct:Target:1", &payload).unwrap_err();
    assert_eq!(error.to_string(), "no schema for struct:Part, needed by struct:Transform3d");
    add_struct(&mut registry, "Part", "double x;double y").unwrap();
    assert_eq!(
        shown(&registry, "photonstruct:Target:1", &payload),
        "{best: {a: {x: 1, y: 2}}, other: {id: 7}, b: [true, false]}",
    );
}

#[test]
fn every_prefix_is_short() {
    let registry = photons(&[("R:1", "optional A:2 a[?];int32 b"), ("A:2", "int8 c;char d[?]")]);
    let payload = hex("01 02 05 02 6869 06 00 01000000");
    assert_eq!(shown(&registry, "photonstruct:R:1", &payload), r#"{a: [{c: 5, d: "hi"}, {c: 6, d: ""}], b: 1}"#);
    for end in 0..payload.len() {
        let error = registry.decode("photonstruct:R:1", &payload[..end]).unwrap_err();
        assert!(matches!(error, SchemaError::Short { .. }), "{end}: {error}");
    }
    let longer = [payload, vec![0]].concat();
    let note = registry.decode("photonstruct:R:1", &longer).unwrap().note;
    assert_eq!(note, Some(Note::Longer { used: 12, left: 1 }));
}

#[test]
fn impossible_flags_and_counts_are_reported() {
    let registry = photons(&[("R:1", "optional int8 a;int8 b[?]")]);
    let check = |bytes: &str, expected: &str| {
        let error = registry.decode("photonstruct:R:1", &hex(bytes)).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    check("02 00", "photonstruct:R:1: optional flag at byte 0 is 2");
    check("00 80", "photonstruct:R:1: array count at byte 1 is -128");
}

#[test]
fn broken_schemas_are_reported() {
    for text in [
        "int8",
        "optional int8",
        "int8 a b",
        "a b c d e",
        "int8 a[2]",
        "int8 a:3",
        "int8 [?]",
        "int8 a;int8 a",
        "{} a",
        "enum{a=1} int8 a",
    ] {
        let error = add(&mut Registry::new(), "R:1", text).expect_err(text);
        assert!(matches!(error, SchemaError::Parse { .. }), "{text}");
    }
    assert!(add(&mut Registry::new(), "R:1", " ; ").is_ok());
}

#[test]
fn circles_and_depth_are_refused() {
    let registry = photons(&[("A:1", "B:1 b[?]"), ("B:1", "optional A:1 a")]);
    assert!(matches!(registry.decode("photonstruct:A:1", &[0]), Err(SchemaError::Recursive { .. })));

    let mut registry = Registry::new();
    for at in 0..65 {
        add(&mut registry, &format!("S:{at}"), &format!("S:{0} a;S:{0} b", at + 1)).unwrap();
    }
    add(&mut registry, "S:65", "").unwrap();
    assert!(matches!(registry.decode("photonstruct:S:0", &[]), Err(SchemaError::TooDeep { .. })));
    // Two to the power of 62 parts without a byte of payload.
    assert!(matches!(registry.decode("photonstruct:S:3", &[]), Err(SchemaError::TooLarge { .. })));
    assert!(registry.decode("photonstruct:S:60", &[]).is_ok());
}
