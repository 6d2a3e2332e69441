//! Structs, messages and the like against the trees that the decoder makes of the same payloads.

use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use logpose_core::Channel;
use logpose_model::Shape;
use logpose_schema::Registry;
use proptest::prelude::*;
use prost_reflect::prost::Message as _;
use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
use prost_reflect::prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MessageOptions,
};

use crate::support::{check_column, column};

fn structs(schemas: &[(&str, &str)]) -> Registry {
    let mut registry = Registry::new();
    for (name, text) in schemas {
        registry.add(&format!("/.schema/struct:{name}"), "structschema", text.as_bytes()).unwrap();
    }
    registry
}

fn everything() -> Registry {
    structs(&[
        (
            "All",
            "bool b;char c;int8 i8;uint8 u8;int16 i16;uint16 u16;int32 i32;uint32 u32;int64 i64;uint64 u64;float f;\
             double d;char name[7];double xs[3];bool flags[2];Empty nothing[10];In one;In two[2];\
             enum {off=0, on=1, third=-3} int8 mode;enum{a=5} uint64 big[2];uint8 low:3;int8 high:5;bool bit:1;\
             enum{p=1,q=2} uint32 pick:2;int64 wide:40",
        ),
        ("In", "Deep deep[2];int16 z"),
        ("Deep", "float x;enum {zero=0} uint16 kind[2]"),
        ("Empty", ""),
        ("Number", "double value"),
    ])
}

fn shown(type_name: &str, registry: &Registry) -> String {
    Shape::of(&Channel::new("/c", type_name), registry).data_type().to_string()
}

/// Whether every payload decodes like its tree; returns how many do not decode.
fn check(type_name: &str, registry: &Registry, payloads: &[Vec<u8>]) -> usize {
    let samples: Vec<(i64, Vec<u8>)> = (0..).zip(payloads.iter().cloned()).collect();
    let (column, memory) = column(type_name, &samples);
    check_column(&column, &memory, registry)
}

proptest! {
    #[test]
    fn structs_are_their_trees(
        kind in prop::sample::select(vec!["struct:All", "struct:All[]", "struct:All[2]", "struct:Number", "struct:Number[]"]),
        ragged in any::<bool>(),
        bytes in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 1..60),
    ) {
        let registry = everything();
        let size = registry.decoder(kind).unwrap().layouts()[0].size;
        let payloads: Vec<Vec<u8>> = bytes.into_iter().map(|mut bytes| {
            // Most logs have whole structs; some payloads are cut or longer.
            if !ragged {
                bytes.resize(size * if kind.ends_with("[]") { bytes.len() % 4 } else { 2 }, 7);
            }
            bytes
        }).collect();
        check(kind, &registry, &payloads);
    }

    #[test]
    fn photonstructs_are_their_trees(bytes in prop::collection::vec(prop::collection::vec(0_u8..4, 0..80), 1..40)) {
        let mut registry = everything();
        let add = |registry: &mut Registry, name: &str, text: &[u8]| {
            registry.add(&format!("/.schema/photonstruct:{name}"), "photonstructschema", text).unwrap();
        };
        add(&mut registry, "R:1", b"int64 seq;optional float32 conf;Corner:2 corners[?];char name[?];optional Corner:2 last;None:3 no[?]");
        add(&mut registry, "Corner:2", b"int16 x;optional In in;uint8 many[?]");
        add(&mut registry, "None:3", b"");
        check("photonstruct:R:1", &registry, &bytes);
    }
}

#[test]
fn types_of_structs() {
    let registry = everything();
    assert_eq!(shown("struct:Number", &registry), r#"Struct("value": Float64)"#);
    assert_eq!(
        shown("struct:In[]", &registry),
        r#"List(Struct("deep": FixedSizeList(2 x Struct("x": Float32, "kind": FixedSizeList(2 x Dictionary(Int32, Utf8)))), "z": Int16))"#,
    );
    // How many elements a type string claims costs nothing.
    assert_eq!(shown("struct:Number[999999999]", &registry), r#"List(Struct("value": Float64))"#);
    assert_eq!(check("struct:Number[999999999]", &registry, &[vec![0; 64]]), 1);
    for binary in ["struct:Empty", "struct:Empty[]", "struct:Unknown", "raw", "proto:None", "photonstruct:None", "x"] {
        let shape = Shape::of(&Channel::new("/c", binary), &registry);
        assert_eq!((shape.data_type().to_string().as_str(), shape.is_decoded()), ("Binary", false), "{binary}");
    }
    assert_eq!(shown("json", &registry), "Utf8");
}

#[test]
fn guessed_structs_decode_by_size() {
    let registry = Registry::new();
    let doubles = |n: usize| (0..n).flat_map(|x| (x as f64).to_le_bytes()).collect::<Vec<u8>>();
    assert_eq!(check("struct:Pose2d", &registry, &[doubles(3), doubles(3)]), 0);
    assert_eq!(check("struct:Pose2d", &registry, &[doubles(3), doubles(4)]), 1);
    assert_eq!(check("struct:SwerveModuleState[]", &registry, &[doubles(8), doubles(0), doubles(3)]), 1);
    // Two sizes of one name: the fields that a payload lacks are null.
    assert_eq!(check("struct:ArmFeedforward", &registry, &[doubles(5), doubles(5)]), 0);
    assert_eq!(check("struct:ArmFeedforward", &registry, &[doubles(4), doubles(5), doubles(6)]), 1);
}

#[test]
fn schemas_that_claim_much_cost_little() {
    let wide: String = (0..2000).map(|at| format!("double f{at};")).collect();
    let registry = structs(&[("Long", "double xs[2000000]"), ("Wide", &wide), ("Odd", "int8 a;Long b")]);
    assert_eq!(shown("struct:Long", &registry), r#"Struct("xs": List(Float64))"#);
    assert_eq!(shown("struct:Wide", &registry), "Binary");
    let empty = vec![Vec::new(); 5000];
    assert_eq!(check("struct:Long", &registry, &empty), 5000);
    assert_eq!(check("struct:Odd", &registry, &empty), 5000);
    let whole: Vec<u8> = (0..16_000_001_u32).map(|at| at as u8).collect();
    let samples: Vec<(i64, Vec<u8>)> = vec![(0, Vec::new()), (1, whole.clone()), (2, whole)];
    let (column, memory) = column("struct:Odd", &samples);
    let shape = Shape::of(&column.channel, &registry);
    let rows: Vec<bool> = column
        .chunks
        .iter()
        .map(|chunk| shape.array(&memory, chunk))
        .flat_map(|array| {
            let lists = array.as_struct().column(1).as_struct().column(0).as_list::<i32>().clone();
            (0..array.len()).map(move |row| array.is_valid(row) && lists.value(row).len() == 2_000_000)
        })
        .collect();
    assert_eq!(rows, [false, true, true]);
}

#[test]
fn structs_that_hold_others_twice_on_each_level_end() {
    let schemas: Vec<(String, String)> =
        (0..30).map(|at| (format!("S{at}"), format!("S{} a;S{} b", at + 1, at + 1))).collect();
    let mut registry = Registry::new();
    for (name, text) in &schemas {
        registry.add(&format!("/.schema/struct:{name}"), "structschema", text.as_bytes()).unwrap();
    }
    registry.add("/.schema/struct:S30", "structschema", b"").unwrap();
    assert_eq!(shown("struct:S0", &registry), "Binary");
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

fn named(name: &str, number: i32, kind: Type, type_name: &str) -> FieldDescriptorProto {
    FieldDescriptorProto { type_name: Some(type_name.into()), ..field(name, number, kind) }
}

fn repeated(field: FieldDescriptorProto) -> FieldDescriptorProto {
    FieldDescriptorProto { label: Some(Label::Repeated.into()), ..field }
}

fn message(name: &str, field: Vec<FieldDescriptorProto>) -> DescriptorProto {
    DescriptorProto { name: Some(name.into()), field, ..DescriptorProto::default() }
}

fn protobuf() -> Registry {
    let mut all = message(
        "All",
        vec![
            field("b", 1, Type::Bool),
            field("u", 2, Type::Uint64),
            field("s", 3, Type::Sint32),
            field("f", 4, Type::Float),
            field("d", 5, Type::Double),
            field("text", 6, Type::String),
            field("raw", 7, Type::Bytes),
            repeated(field("list", 8, Type::Int32)),
            named("mode", 9, Type::Enum, ".t.Mode"),
            repeated(named("map", 10, Type::Message, ".t.All.MapEntry")),
            named("self", 11, Type::Message, ".t.All"),
            repeated(named("inner", 12, Type::Message, ".t.Inner")),
            named("none", 13, Type::Message, ".t.None"),
            field("fixed", 14, Type::Fixed32),
        ],
    );
    all.nested_type.push(DescriptorProto {
        options: Some(MessageOptions { map_entry: Some(true), ..MessageOptions::default() }),
        ..message("MapEntry", vec![field("key", 1, Type::Sint64), field("value", 2, Type::Double)])
    });
    let value =
        |name: &str, number| EnumValueDescriptorProto { name: Some(name.into()), number: Some(number), options: None };
    let file = FileDescriptorProto {
        name: Some("t.proto".into()),
        package: Some("t".into()),
        syntax: Some("proto3".into()),
        message_type: vec![all, message("Inner", vec![field("x", 1, Type::Int64)]), message("None", vec![])],
        enum_type: vec![EnumDescriptorProto {
            name: Some("Mode".into()),
            value: vec![value("OFF", 0), value("ON", 1)],
            ..EnumDescriptorProto::default()
        }],
        ..FileDescriptorProto::default()
    };
    let mut registry = Registry::new();
    registry.add("/.schema/proto:t.proto", "proto:FileDescriptorProto", &file.encode_to_vec()).unwrap();
    registry
}

#[test]
fn messages_that_hold_others_twice_on_each_level_are_binary() {
    let messages = (0..40).map(|at| {
        let next = format!(".t.M{}", at + 1);
        message(&format!("M{at}"), vec![named("a", 1, Type::Message, &next), named("b", 2, Type::Message, &next)])
    });
    let file = FileDescriptorProto {
        name: Some("t.proto".into()),
        package: Some("t".into()),
        syntax: Some("proto3".into()),
        message_type: messages.chain([message("M40", vec![field("x", 1, Type::Int32)])]).collect(),
        ..FileDescriptorProto::default()
    };
    let mut registry = Registry::new();
    registry.add("/.schema/proto:t.proto", "proto:FileDescriptorProto", &file.encode_to_vec()).unwrap();
    assert_eq!(shown("proto:t.M0", &registry), "Binary");
    assert_eq!(shown("proto:t.M39", &registry), r#"Struct("a": Struct("x": Int32), "b": Struct("x": Int32))"#);
}

#[test]
fn messages_are_their_trees() {
    let registry = protobuf();
    assert_eq!(
        shown("proto:t.All", &registry),
        r#"Struct("b": Boolean, "u": UInt64, "s": Int32, "f": Float32, "d": Float64, "text": Utf8, "raw": Binary, "list": List(Int32), "mode": Dictionary(Int32, Utf8), "map": List(Struct("key": Int64, "value": Float64)), "self": Utf8, "inner": List(Struct("x": Int64)), "none": Utf8, "fixed": UInt32)"#,
    );
    let fields: Vec<Vec<u8>> = vec![
        vec![0x08, 1],
        vec![0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        vec![0x18, 3],
        [&[0x25][..], &1.5_f32.to_le_bytes()].concat(),
        [&[0x29][..], &f64::NAN.to_le_bytes()].concat(),
        [&[0x32, 2][..], "é".as_bytes()].concat(),
        vec![0x3a, 2, 0xff, 0],
        vec![0x42, 3, 1, 2, 3],
        vec![0x48, 1],
        vec![0x48, 7],
        [&[0x52, 11, 0x08, 3, 0x11][..], &2.5_f64.to_le_bytes()].concat(),
        vec![0x5a, 2, 0x08, 1],
        vec![0x62, 2, 0x08, 9, 0x62, 0],
        vec![0x6a, 0],
        vec![0x75, 1, 2, 3, 0xff],
    ];
    let mut payloads = vec![Vec::new(), fields.concat(), vec![0xff]];
    payloads.extend(fields);
    assert_eq!(check("proto:t.All", &registry, &payloads), 1);
    assert_eq!(shown("proto:t.None", &registry), "Binary");
}

#[test]
fn msgpack_is_json_text() {
    let payloads = [b"\x82\xa1a\x93\x01\xc3\xca\x3f\xc0\0\0\xa1b\xc4\x01\xff".to_vec(), vec![0xc1], vec![5]];
    assert_eq!(check("msgpack", &Registry::new(), &payloads), 1);
    assert_eq!(shown("msgpack", &Registry::new()), "Utf8");
}
