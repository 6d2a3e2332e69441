//! Layouts, columns and their limits.

use logpose_schema::SchemaError;
use logpose_schema::wpistruct::Scalar;

use crate::support::{hex, structs};

#[test]
fn columns_have_fixed_places() {
    let registry = structs(&[
        ("Robot", "uint8 id;Module modules[2];char name[3];float raw[2];enum{off=0,on=1} uint8 mode:2;bool ok:1"),
        ("Module", "double speed;Angle angle"),
        ("Angle", "double value"),
    ]);
    let layout = registry.layout("Robot").unwrap();
    assert_eq!(layout.size, 45);
    let columns = layout.columns(100).unwrap();
    let found: Vec<_> =
        columns.iter().map(|column| (column.path.as_str(), column.offset, column.scalar, column.count)).collect();
    assert_eq!(
        found,
        [
            ("id", 0, Scalar::UInt8, None),
            ("modules/0/speed", 1, Scalar::Double, None),
            ("modules/0/angle/value", 9, Scalar::Double, None),
            ("modules/1/speed", 17, Scalar::Double, None),
            ("modules/1/angle/value", 25, Scalar::Double, None),
            ("name", 33, Scalar::Char, Some(3)),
            ("raw", 36, Scalar::Float, Some(2)),
            ("mode", 44, Scalar::UInt8, None),
            ("ok", 44, Scalar::Bool, None),
        ]
    );
    let mode = &columns[7];
    assert_eq!(mode.names.name(1), Some("on"));
    assert_eq!(mode.names.iter().collect::<Vec<_>>(), [(0, "off"), (1, "on")]);
    assert_eq!(columns[8].bits.unwrap().unsigned(&[0b101]), Some(1));
    assert!(matches!(layout.columns(8), Err(SchemaError::TooLarge { .. })));
    assert_eq!(registry.decoder("struct:Robot[]").unwrap().layout().unwrap().size, 45);
}

#[test]
fn both_conventions_for_signed_bit_fields_can_be_read() {
    let columns = structs(&[("S", "int8 a:4")]).layout("S").unwrap().columns(1).unwrap();
    let bits = columns[0].bits.unwrap();
    assert_eq!(bits.signed(&[0xff]), Some(-1));
    assert_eq!(bits.unsigned(&[0xff]), Some(15));
    assert_eq!(bits.signed(&[]), None);
}

#[test]
fn wide_bit_fields_reach_the_top_of_the_unit() {
    let registry = structs(&[("S", "int64 a:1;int64 b:63")]);
    let decoded = registry.decode("struct:S", &hex("01 00 00 00 00 00 00 80")).unwrap();
    assert_eq!(decoded.tree.to_string(), format!("{{a: -1, b: {}}}", i64::MIN >> 1));
}

#[test]
fn sizes_beyond_the_limit_are_refused() {
    for schema in ["uint8 a[16777217]", "double a[9223372036854775807]", "uint8 a[16777216];uint8 b"] {
        let registry = structs(&[("S", schema)]);
        assert!(matches!(registry.layout("S"), Err(SchemaError::TooLarge { .. })), "{schema}");
    }
    assert_eq!(structs(&[("S", "uint8 a[16777216]")]).layout("S").unwrap().size, 16 << 20);
}

#[test]
fn arrays_of_arrays_are_refused_before_they_are_built() {
    let text = |inner: &str| format!("{inner} a[1000]");
    let registry = structs(&[
        ("A", &text("B")),
        ("B", &text("C")),
        ("C", &text("D")),
        ("D", "uint8 x"),
        ("E", &text("F")),
        ("F", &text("G")),
        ("G", &text("H")),
        ("H", ""),
        ("I", "Empty a[9223372036854775807];uint8 b"),
        ("Empty", ""),
    ]);
    assert!(matches!(registry.layout("A"), Err(SchemaError::TooLarge { .. })));
    // Structs without bytes never get too large, so the tree is what has to be bounded.
    assert_eq!(registry.layout("E").unwrap().size, 0);
    assert!(matches!(registry.decode("struct:E", &[]), Err(SchemaError::TooLarge { .. })));
    assert!(matches!(registry.decode("struct:I", &[1]), Err(SchemaError::TooLarge { .. })));
    assert_eq!(registry.layout("E").unwrap().columns(10).unwrap(), []);
    assert_eq!(registry.layout("I").unwrap().columns(10).unwrap().len(), 1);
}

#[test]
fn long_names_count_against_the_limits() {
    let name = "n".repeat(1 << 20);
    let registry = structs(&[("S", "Inner a[1000]"), ("Inner", &format!("uint8 {name}"))]);
    assert!(matches!(registry.decode("struct:S", &[0; 1000]), Err(SchemaError::TooLarge { .. })));
    assert!(matches!(registry.layout("S").unwrap().columns(1000), Err(SchemaError::TooLarge { .. })));
}

#[test]
fn depth_is_limited_from_every_start() {
    let names: Vec<String> = (0..=64).map(|at| format!("S{at}")).collect();
    let mut schemas: Vec<(&str, String)> =
        names.windows(2).map(|pair| (pair[0].as_str(), format!("{} a;{} b", pair[1], pair[1]))).collect();
    schemas.push((&names[64], String::new()));
    let schemas: Vec<(&str, &str)> = schemas.iter().map(|(name, text)| (*name, text.as_str())).collect();
    for warm in [false, true] {
        let registry = structs(&schemas);
        if warm {
            assert_eq!(registry.layout("S1").unwrap().size, 0);
        }
        assert!(matches!(registry.layout("S0"), Err(SchemaError::TooDeep { .. })));
        // 2^63 empty structs: the layout is small, a tree would not be.
        let layout = registry.layout("S1").unwrap();
        assert_eq!(layout.columns(10).unwrap(), []);
        assert!(matches!(registry.decode("struct:S1", &[]), Err(SchemaError::TooLarge { .. })));
        assert!(format!("{layout:?}").len() < 100);
    }
}
