//! Protobuf with descriptors made here.

use logpose_schema::{Note, Registry, SchemaError};
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MessageOptions, OneofDescriptorProto,
};

use crate::support::{hex, shown};

fn add(registry: &mut Registry, file: &FileDescriptorProto) -> Result<(), SchemaError> {
    add_bytes(registry, file.name(), &file.encode_to_vec())
}

fn add_bytes(registry: &mut Registry, name: &str, bytes: &[u8]) -> Result<(), SchemaError> {
    registry.add(&format!("NT:/.schema/proto:{name}"), "proto:FileDescriptorProto", bytes)
}

fn file(name: &str, dependencies: &[&str], messages: Vec<DescriptorProto>) -> FileDescriptorProto {
    FileDescriptorProto {
        name: Some(name.into()),
        package: Some("t".into()),
        syntax: Some("proto3".into()),
        dependency: dependencies.iter().map(|name| (*name).to_owned()).collect(),
        message_type: messages,
        ..FileDescriptorProto::default()
    }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field, ..DescriptorProto::default() }
}

fn field(name: &str, number: i32, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        r#type: Some(kind.into()),
        label: Some(Label::Optional.into()),
        ..FieldDescriptorProto::default()
    }
}

fn part(name: &str, number: i32, type_name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(type_name.into()), ..field(name, number, Type::Message) }
}

fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated.into()), ..field }
}

fn inner() -> FileDescriptorProto {
    file("inner.proto", &[], vec![message("Inner", vec![field("y", 2, Type::Double), field("x", 1, Type::Int32)])])
}

fn outer() -> FileDescriptorProto {
    let parts = vec![part("one", 1, ".t.Inner"), repeated(part("many", 2, ".t.Inner"))];
    file("outer.proto", &["inner.proto"], vec![message("Outer", parts)])
}

#[test]
fn files_may_come_in_any_order() {
    let mut registry = Registry::new();
    add(&mut registry, &outer()).unwrap();
    let Err(SchemaError::Missing { what, needed_by }) = registry.decode("proto:t.Outer", &[]) else { panic!() };
    assert_eq!((what.as_str(), needed_by.as_deref()), ("proto:inner.proto", Some("proto:outer.proto")));
    add(&mut registry, &inner()).unwrap();
    // Fields come in the order of the file, not of their numbers; unset messages are null.
    assert_eq!(shown(&registry, "proto:t.Outer", &[]), "{one: null, many: []}");
    assert_eq!(
        shown(&registry, "proto:t.Outer", &hex("0a 00 12 02 08 05 12 00")),
        "{one: {y: 0, x: 0}, many: [{y: 0, x: 5}, {y: 0, x: 0}]}",
    );
    let error = registry.decode("proto:t.None", &[]).unwrap_err();
    assert_eq!(error, SchemaError::Missing { what: "proto:t.None".into(), needed_by: None });
}

#[test]
fn a_chain_that_arrives_backwards_resolves() {
    let mut registry = Registry::new();
    for at in (0..50).rev() {
        let name = format!("f{at}.proto");
        let before = format!("f{}.proto", at - 1);
        let dependencies: &[&str] = if at == 0 { &[] } else { &[&before] };
        add(&mut registry, &file(&name, dependencies, vec![message(&format!("M{at}"), vec![])])).unwrap();
    }
    assert_eq!(shown(&registry, "proto:t.M49", &[]), "{}");
}

/// A file with one of each kind of field.
pub(crate) fn everything() -> FileDescriptorProto {
    let mut all = message(
        "All",
        vec![
            field("b", 1, Type::Bool),
            field("u", 2, Type::Uint64),
            field("s", 3, Type::Sint32),
            field("f", 4, Type::Float),
            field("text", 5, Type::String),
            field("raw", 6, Type::Bytes),
            repeated(field("list", 7, Type::Int32)),
            FieldDescriptorProto { type_name: Some(".t.Mode".into()), ..field("mode", 8, Type::Enum) },
            repeated(part("map", 9, ".t.All.MapEntry")),
            FieldDescriptorProto { oneof_index: Some(0), ..field("left", 10, Type::Int32) },
            FieldDescriptorProto { oneof_index: Some(0), ..field("right", 11, Type::Int32) },
        ],
    );
    all.oneof_decl.push(OneofDescriptorProto { name: Some("side".into()), options: None });
    all.nested_type.push(DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        ..message("MapEntry", vec![field("key", 1, Type::String), field("value", 2, Type::Double)])
    });
    let value =
        |name: &str, number| EnumValueDescriptorProto { name: Some(name.into()), number: Some(number), options: None };
    let mut file = file("all.proto", &[], vec![all]);
    file.enum_type.push(EnumDescriptorProto {
        name: Some("Mode".into()),
        value: vec![value("OFF", 0), value("ON", 1)],
        ..EnumDescriptorProto::default()
    });
    file
}

#[test]
fn all_kinds_of_fields_decode() {
    let mut registry = Registry::new();
    add(&mut registry, &everything()).unwrap();
    let payload = hex("08 01 10 ffffffffffffffffff01 18 01 25 0000803f 2a 01 61 32 02 00ff 3a 02 01 02 40 01 \
         4a 0c 0a 01 7a 11 000000000000f03f 4a 03 0a 01 61 58 05");
    assert_eq!(
        shown(&registry, "proto:t.All", &payload),
        r#"{b: true, u: 18446744073709551615, s: -1, f: 1, text: "a", raw: 0x00ff, list: [1, 2], mode: ON(1), map: {a: 0, z: 1}, left: null, right: 5}"#,
    );
    assert_eq!(
        shown(&registry, "proto:t.All", &[]),
        r#"{b: false, u: 0, s: 0, f: 0, text: "", raw: 0x, list: [], mode: OFF(0), map: {}, left: null, right: null}"#,
    );
    assert_eq!(registry.decode("proto:t.All", &hex("40 07")).unwrap().tree.field("mode").unwrap().to_string(), "7");
}

#[test]
fn unknown_fields_are_counted() {
    let mut registry = Registry::new();
    add(&mut registry, &inner()).unwrap();
    let decoded = registry.decode("proto:t.Inner", &hex("08 01 a0 06 01 a0 06 02")).unwrap();
    assert_eq!(decoded.tree.to_string(), "{y: 0, x: 1}");
    assert_eq!(decoded.note, Some(Note::UnknownFields { count: 2 }));
}

#[test]
fn well_known_files_need_not_be_in_the_log() {
    let mut registry = Registry::new();
    let stamp = message("Stamp", vec![part("at", 1, ".google.protobuf.Timestamp")]);
    add(&mut registry, &file("stamp.proto", &["google/protobuf/timestamp.proto"], vec![stamp])).unwrap();
    assert_eq!(shown(&registry, "proto:t.Stamp", &hex("0a 02 08 05")), "{at: {seconds: 5, nanos: 0}}");
}

#[test]
fn broken_descriptors_and_payloads_are_reported() {
    let mut registry = Registry::new();
    for _ in 0..2 {
        assert_eq!(add_bytes(&mut registry, "a.proto", b"\xff\xff").unwrap_err().key(), "descriptor");
    }
    let lost = file("lost.proto", &[], vec![message("M", vec![part("a", 1, ".t.Nowhere")])]);
    assert_eq!(add(&mut registry, &lost).unwrap_err().key(), "descriptor");
    add(&mut registry, &inner()).unwrap();
    assert_eq!(registry.decode("proto:t.Inner", &[0x08]).unwrap_err().key(), "payload");
    // The pool is whole after a failure: the same message can still be added.
    add(&mut registry, &file("again.proto", &[], vec![message("M", vec![])])).unwrap();
    assert_eq!(shown(&registry, "proto:t.M", &[]), "{}");
}

#[test]
fn crooked_descriptors_are_refused() {
    let entry = |fields| DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        ..message("E", fields)
    };
    let crooked = [
        entry(vec![]),
        entry(vec![field("key", 1, Type::Double), field("value", 2, Type::Double)]),
        entry(vec![field("key", 1, Type::String)]),
        entry(vec![repeated(field("key", 1, Type::String)), field("value", 2, Type::Double)]),
    ];
    for entry in crooked {
        let outer = message("M", vec![repeated(part("map", 1, ".t.E"))]);
        let error = add(&mut Registry::new(), &file("e.proto", &[], vec![entry, outer])).unwrap_err();
        assert_eq!(error.key(), "descriptor");
    }
    let mut odd = file("e.proto", &[], vec![]);
    odd.syntax = Some("editions".into());
    assert_eq!(add(&mut Registry::new(), &odd).unwrap_err().key(), "descriptor");
    let mut empty = file("e.proto", &[], vec![]);
    empty.enum_type.push(EnumDescriptorProto { name: Some("E".into()), ..EnumDescriptorProto::default() });
    assert_eq!(add(&mut Registry::new(), &empty).unwrap_err().key(), "descriptor");
}

#[test]
fn a_changed_file_is_used_and_reported() {
    let mut registry = Registry::new();
    add(&mut registry, &outer()).unwrap();
    add(&mut registry, &inner()).unwrap();
    add(&mut registry, &inner()).unwrap();
    assert_eq!(shown(&registry, "proto:t.Outer", &hex("0a 00")), "{one: {y: 0, x: 0}, many: []}");
    let changed = file("inner.proto", &[], vec![message("Inner", vec![field("z", 1, Type::Int32)])]);
    let error = add(&mut registry, &changed).unwrap_err();
    assert_eq!(error, SchemaError::Replaced { name: "proto:inner.proto".into() });
    assert_eq!(shown(&registry, "proto:t.Outer", &hex("0a 02 08 07")), "{one: {z: 7}, many: []}");
    assert_eq!(add_bytes(&mut registry, "inner.proto", &[0xff]).unwrap_err().key(), "descriptor");
    assert_eq!(shown(&registry, "proto:t.Outer", &hex("0a 02 08 07")), "{one: {z: 7}, many: []}");
}

#[test]
fn small_payloads_cannot_make_large_trees() {
    let fields = (1..=2000).map(|number| field(&format!("field_{number}"), number, Type::Int32)).collect();
    let wide = file(
        "wide.proto",
        &[],
        vec![message("Wide", fields), message("Many", vec![repeated(part("a", 1, ".t.Wide"))])],
    );
    let mut registry = Registry::new();
    add(&mut registry, &wide).unwrap();
    let error = registry.decode("proto:t.Many", &[0x0a, 0x00].repeat(100_000)).unwrap_err();
    assert_eq!(error.key(), "too-large");
}

#[test]
fn deep_payloads_are_refused() {
    let mut registry = Registry::new();
    add(&mut registry, &file("r.proto", &[], vec![message("R", vec![part("r", 1, ".t.R")])])).unwrap();
    let mut payload = Vec::new();
    for _ in 0..200 {
        let mut next = vec![0x0a];
        prost_reflect::prost::encoding::encode_varint(u64::try_from(payload.len()).unwrap(), &mut next);
        next.extend(payload);
        payload = next;
    }
    assert_eq!(registry.decode("proto:t.R", &payload).unwrap_err().key(), "payload");
}
