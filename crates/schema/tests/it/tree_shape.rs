//! What decoded values look like before there is one.

use logpose_schema::wpistruct::Scalar;
use logpose_schema::{Registry, SchemaError, TreeShape};

use crate::support::structs;

#[test]
fn a_form_has_the_fields_of_the_tree() {
    let registry = structs(&[
        ("A", "enum {off=0} uint8 mode:2;char name[4];B b[2];Empty none"),
        ("B", "double x;bool on[3]"),
        ("Empty", ""),
    ]);
    let form = |type_name: &str| registry.decoder(type_name).unwrap().shape(100).unwrap();
    let TreeShape::Struct(fields) = form("struct:A") else { panic!() };
    let names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["mode", "name", "b"]);
    assert!(matches!(&fields[0].1, TreeShape::Enum(names) if names.name(0) == Some("off")));
    assert_eq!(fields[1].1, TreeShape::Text);
    let TreeShape::Struct(inner) = form("struct:B") else { panic!() };
    assert_eq!(inner[0].1, TreeShape::Scalar(Scalar::Double));
    assert_eq!(inner[1].1, TreeShape::Array(Box::new(TreeShape::Scalar(Scalar::Bool)), 3));
    assert_eq!(fields[2].1, TreeShape::Array(Box::new(form("struct:B")), 2));
    assert_eq!(form("struct:B[]"), TreeShape::List(Box::new(form("struct:B"))));
    assert_eq!(form("struct:Empty"), TreeShape::Struct(Vec::new()));
    assert_eq!(form("msgpack"), TreeShape::Any);

    let small = registry.decoder("struct:A").unwrap().shape(4);
    assert_eq!(small, Err(SchemaError::TooLarge { what: "fields", limit: 4 }));
}

#[test]
fn the_size_of_a_payload_decides_between_layouts() {
    let registry = Registry::new();
    let decoder = registry.decoder("struct:ArmFeedforward").unwrap();
    assert_eq!(decoder.layouts().len(), 2);
    assert_eq!([32, 40, 33].map(|len| decoder.layout_for(len).map(|layout| layout.size)), [Some(32), Some(40), None]);
    let TreeShape::Struct(fields) = decoder.shape(100).unwrap() else { panic!() };
    assert_eq!(fields.len(), 5);

    let registry = structs(&[("P", "double x")]);
    let fits = |type_name: &str, len| registry.decoder(type_name).unwrap().layout_for(len).is_some();
    assert!(fits("struct:P", 9) && !fits("struct:P", 7));
    assert!(fits("struct:P[2]", 16) && !fits("struct:P[2]", 15));
    assert!(fits("struct:P[]", 3));
}
