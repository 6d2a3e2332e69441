//! Schema channels, changes, shapes of payloads.

use logpose_schema::{Note, Registry, SchemaError};

use crate::support::{add_struct, doubles, hex, shown, structs};

#[test]
fn schema_channels_are_found_behind_any_prefix() {
    let check = |channel: &str, type_name: &str, expected: bool| {
        assert_eq!(Registry::is_schema(channel, type_name), expected, "{channel} {type_name}");
    };
    check("/.schema/struct:A", "structschema", true);
    check("NT:/.schema/struct:A", "structschema", true);
    check("/AdvantageKit/.schema/struct:A", "structschema", true);
    check("/.schema/photonstruct:A:12", "photonstructschema", true);
    check("/.schema/proto:a.proto", "proto:FileDescriptorProto", true);
    check("/.schema/proto:a.proto", "structschema", false);
    check("/.schema/struct:A", "string", false);
    check("/.schema/struct:", "structschema", false);
    check("/struct:A", "structschema", false);
    let error = Registry::new().add("/x", "double", &[]).unwrap_err();
    assert_eq!(error.key(), "not-schema");
}

#[test]
fn types_are_known_by_their_form() {
    for name in ["struct:A", "struct:A[]", "struct:A[4]", "proto:a.B", "photonstruct:A:1", "msgpack", "json"] {
        assert!(Registry::decodes(name), "{name}");
    }
    for name in ["double", "structschema", "photonstructschema", "proto:FileDescriptorProto", "", "raw"] {
        assert!(!Registry::decodes(name), "{name}");
        assert_eq!(Registry::new().decode(name, &[]).unwrap_err().key(), "unsupported");
    }
}

#[test]
fn order_does_not_matter() {
    let mut registry = Registry::new();
    let payload = [0; 24];
    add_struct(&mut registry, "P", "T translation;R rotation").unwrap();
    assert_eq!(registry.decode("struct:P", &payload).unwrap_err().key(), "missing");
    add_struct(&mut registry, "T", "double x;double y").unwrap();
    assert_eq!(registry.decode("struct:P", &payload).unwrap_err().key(), "missing");
    add_struct(&mut registry, "R", "double value").unwrap();
    assert!(registry.decode("struct:P", &payload).is_ok());
    assert_eq!(registry.layout("P").unwrap().size, 24);
}

#[test]
fn the_same_schema_again_is_no_news() {
    let mut registry = structs(&[("A", "int8 a;int8 b")]);
    for text in ["int8 a;int8 b", "int8 a; int8 b", "int8 a;int8 b;", "int8 a;int8 b"] {
        assert_eq!(add_struct(&mut registry, "A", text), Ok(()), "{text}");
    }
}

#[test]
fn a_changed_schema_is_used_and_reported() {
    let mut registry = structs(&[("A", "B b"), ("B", "int8 x")]);
    assert_eq!(shown(&registry, "struct:A", &[1]), "{b: {x: 1}}");
    let error = add_struct(&mut registry, "B", "uint8 y").unwrap_err();
    assert_eq!(error, SchemaError::Replaced { name: "struct:B".into() });
    assert_eq!(shown(&registry, "struct:A", &[255]), "{b: {y: 255}}");
}

#[test]
fn a_broken_schema_does_not_replace_a_good_one() {
    let mut registry = structs(&[("A", "int8 x")]);
    assert_eq!(add_struct(&mut registry, "A", "int8").unwrap_err().key(), "parse");
    assert_eq!(shown(&registry, "struct:A", &[1]), "{x: 1}");
}

#[test]
fn a_broken_schema_is_named_until_a_good_one_comes() {
    let mut registry = Registry::new();
    assert_eq!(registry.decode("struct:A", &[1]).unwrap_err().key(), "missing");
    for _ in 0..2 {
        assert_eq!(add_struct(&mut registry, "A", "int8").unwrap_err().key(), "parse");
    }
    assert_eq!(
        registry.decode("struct:A", &[1]).unwrap_err().to_string(),
        "schema of struct:A: byte 4: expected a field name, found the end",
    );
    assert_eq!(registry.add("/.schema/struct:A", "structschema", b"int8 \xff").unwrap_err().key(), "not-utf8");
    assert_eq!(add_struct(&mut registry, "A", "int8 x"), Ok(()));
    assert_eq!(shown(&registry, "struct:A", &[1]), "{x: 1}");
}

#[test]
fn payloads_of_the_wrong_length_are_reported() {
    let registry = structs(&[("A", "int16 x")]);
    let error = registry.decode("struct:A", &[1]).unwrap_err();
    assert_eq!(error.to_string(), "struct:A needs 2 bytes, payload has 1");
    let decoded = registry.decode("struct:A", &[1, 0, 9]).unwrap();
    assert_eq!(decoded.tree.to_string(), "{x: 1}");
    assert_eq!(decoded.note, Some(Note::Longer { used: 2, left: 1 }));
    let decoded = registry.decode("struct:A[]", &[1, 0, 2, 0, 9]).unwrap();
    assert_eq!(decoded.tree.to_string(), "[{x: 1}, {x: 2}]");
    assert_eq!(decoded.note, Some(Note::Remainder { count: 2, size: 2, left: 1 }));
    assert_eq!(shown(&registry, "struct:A[]", &[]), "[]");
    assert_eq!(shown(&registry, "struct:A[2]", &[1, 0, 2, 0]), "[{x: 1}, {x: 2}]");
    assert_eq!(registry.decode("struct:A[2]", &[1, 0, 2]).unwrap_err().key(), "short");
    assert_eq!(registry.decode("struct:A[2]", &[0; 5]).unwrap().note, Some(Note::Longer { used: 4, left: 1 }));
    assert_eq!(registry.decode("struct:A[18446744073709551615]", &[0; 5]).unwrap_err().key(), "too-large");
    assert_eq!(registry.decode("struct:A[x]", &[0; 5]).unwrap_err().key(), "missing");
}

#[test]
fn arrays_of_nothing_are_empty() {
    let registry = structs(&[("E", "")]);
    assert_eq!(shown(&registry, "struct:E[]", &[]), "[]");
    let note = registry.decode("struct:E[]", &[1]).unwrap().note;
    assert_eq!(note, Some(Note::Remainder { count: 0, size: 0, left: 1 }));
    assert_eq!(shown(&registry, "struct:E[2]", &[]), "[{}, {}]");
}

#[test]
fn names_may_hold_dots() {
    let registry = structs(&[("TrajectorySample.Base", "double t")]);
    assert_eq!(shown(&registry, "struct:TrajectorySample.Base", &doubles(&[1.0])), "{t: 1}");
}

#[test]
fn user_structs_of_real_logs_decode() {
    let registry = structs(&[("Result", "int32 fiducialId;Pose pose;double ambiguity;"), ("Pose", "float x;")]);
    let payload = [hex("07000000 0000803f"), doubles(&[0.25])].concat();
    assert_eq!(shown(&registry, "struct:Result", &payload), "{fiducialId: 7, pose: {x: 1}, ambiguity: 0.25}");
}

#[test]
fn a_decoder_outlives_changes_and_crosses_threads() {
    let mut registry = structs(&[("A", "int8 x")]);
    let decoder = registry.decoder("struct:A").unwrap();
    add_struct(&mut registry, "A", "int8 y").unwrap_err();
    let shown = std::thread::spawn(move || decoder.decode(&[1]).unwrap().tree.to_string()).join().unwrap();
    assert_eq!(shown, "{x: 1}");
    std::thread::scope(|scope| {
        scope.spawn(|| registry.decode("struct:A", &[1]).unwrap());
    });
}
