//! Messages byte for byte: those of the specification, and one of each type.

use logpose_core::{Channel, Cursor, Layout, Limits, Link, Numbers, Sample, Serve, Session, Strings, Value};
use logpose_nt4::{Error, ErrorKind, Item, Kind, Nt4Client, Options, Update, Updates, is_text};

use logpose_testkit::{Literal, Show as _};

use crate::kit::{Lines, doubles, ms, receive, sent, server};

const LINK: Link = Link(1);

fn parsed(bytes: &[u8]) -> Update<'_> {
    let mut all = Updates::new(bytes);
    let update = all.next().unwrap().unwrap();
    assert!(all.next().is_none());
    update
}

#[test]
fn the_double_of_the_specification() {
    let bytes = b"\x94\x32\xd2\x07\x27\x0e\x00\x01\xcb\x3f\xbf\x97\x24\x74\x53\x8e\xf3";
    let update = parsed(bytes);
    assert_eq!((update.id, update.time, update.kind), (50, 120_000_000, Kind::Double));
    assert_eq!(update.value, Item::Double(0.1234));
    assert_eq!(update.to_string(), "#50 120.000 double 0.1234");
    // Written, the timestamp is unsigned: ntcore does so, too.
    let mut out = Vec::new();
    update.emit(&mut out);
    assert_eq!(out, b"\x94\x32\xce\x07\x27\x0e\x00\x01\xcb\x3f\xbf\x97\x24\x74\x53\x8e\xf3");
}

#[test]
fn time_syncs() {
    let asked = parsed(b"\x94\xff\x00\x02\xce\x00\x0f\x42\x40");
    assert_eq!((asked.id, asked.time, asked.value), (-1, 0, Item::Int(1_000_000)));
    assert_eq!(asked.to_string(), "sync 0.000 int 1000000");
    let mut server = server(&[]);
    server.handle_open(ms(1000), LINK);
    server.handle_input(ms(1500), LINK, b"\x94\xff\x00\x02\xce\x00\x0f\x42\x40", &mut Lines::default()).unwrap();
    // Half a second and the one microsecond that makes a time of it.
    let answer = server.poll_transmit().unwrap();
    assert_eq!(*answer.bytes, *b"\x94\xff\xce\x00\x07\xa1\x21\x02\xce\x00\x0f\x42\x40");
    // Whatever the client gave comes back: some send doubles.
    server.handle_input(ms(2000), LINK, b"\x94\xff\x00\x01\xcb\x3f\xf0\0\0\0\0\0\0", &mut Lines::default()).unwrap();
    assert_eq!(sent(&mut server), ["sync 1.000001 double 1.0"]);
}

/// A channel's type, the topic's, a value, and its bytes behind array, id and time.
fn one_of_each() -> Vec<(&'static str, &'static str, Vec<u8>, &'static [u8])> {
    let le = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let floats = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    vec![
        ("boolean", "boolean", vec![1], b"\x00\xc3"),
        ("int64", "int", le(&[-200]), b"\x02\xd1\xff\x38"),
        ("float", "float", floats(&[1.5]), b"\x03\xca\x3f\xc0\0\0"),
        ("double", "double", doubles(&[-0.5]), b"\x01\xcb\xbf\xe0\0\0\0\0\0\0"),
        ("string", "string", b"\xc3\xa9!".to_vec(), b"\x04\xa3\xc3\xa9!"),
        ("json", "json", b"{}".to_vec(), b"\x04\xa2{}"),
        ("raw", "raw", vec![0, 255], b"\x05\xc4\x02\x00\xff"),
        ("msgpack", "msgpack", vec![0x90], b"\x05\xc4\x01\x90"),
        ("boolean[]", "boolean[]", vec![1, 0], b"\x10\x92\xc3\xc2"),
        ("int64[]", "int[]", le(&[1, 300, -1]), b"\x12\x93\x01\xcd\x01\x2c\xff"),
        ("float[]", "float[]", floats(&[1.0]), b"\x13\x91\xca\x3f\x80\0\0"),
        ("double[]", "double[]", doubles(&[2.0]), b"\x11\x91\xcb\x40\0\0\0\0\0\0\0"),
        ("string[]", "string[]", b"\x02\0\0\0\x01\0\0\0a\0\0\0\0".to_vec(), b"\x14\x92\xa1a\xa0"),
        ("string[]", "string[]", b"\0\0\0\0".to_vec(), b"\x14\x90"),
        ("struct:Pose2d", "struct:Pose2d", vec![7; 3], b"\x05\xc4\x03\x07\x07\x07"),
        ("proto:A", "proto:A", vec![], b"\x05\xc4\x00"),
        // Schemas are texts in logs and bytes on the wire.
        ("structschema", "structschema", b"int32 a".to_vec(), b"\x05\xc4\x07int32 a"),
    ]
}

#[test]
fn every_type_goes_out_and_comes_back() {
    for (channel_type, topic_type, payload, bytes) in one_of_each() {
        let mut server = server(&[("NT:/x", channel_type)]);
        let mut sink = Lines::default();
        let value = Value::parse(Channel::new("", channel_type).ty(), &payload, Layout::Little).unwrap();
        server.sink(ms(0)).samples(&[Sample { channel: 0, time: ms(0), value }]).unwrap();
        server.handle_open(ms(0), LINK);
        let ask = r#"[{"method":"subscribe","params":{"topics":["/x"],"subuid":1}}]"#;
        receive(&mut server, ms(0), LINK, ask, &mut sink);
        server.handle_timeout(ms(0));
        let announced = server.poll_transmit().unwrap();
        let text = String::from_utf8(announced.bytes.to_vec()).unwrap();
        let expected = format!(
            r#"[{{"method":"announce","params":{{"name":"/x","id":0,"type":"{topic_type}","properties":{{}}}}}}]"#
        );
        assert_eq!((announced.text, text.as_str()), (true, expected.as_str()));
        let message = server.poll_transmit().unwrap();
        assert_eq!(*message.bytes, *[&b"\x94\x00\x01"[..], bytes].concat(), "{channel_type}");

        let mut client = Nt4Client::new(Options::default(), Limits::default());
        client.handle_open(ms(0), LINK);
        for bytes in [announced.bytes, message.bytes] {
            client.handle_input(ms(1), LINK, &bytes, &mut sink).unwrap();
        }
        let declared = &sink.channels[&0];
        assert_eq!((declared.name.as_str(), declared.type_name.as_str()), ("NT:/x", channel_type));
        assert_eq!(sink.lines, [format!("0.000001 NT:/x {}", Literal::show(&value))], "{channel_type}");
        assert!(sink.problems.is_empty(), "{:?}", sink.problems);
    }
}

#[test]
fn arrays_in_any_layout_are_written() {
    let mut server = server(&[("/d", "double[]"), ("/i", "int64[]"), ("/s", "string[]")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), LINK);
    let ask = r#"[{"method":"subscribe","params":{"topics":["/"],"subuid":1,"options":{"prefix":true,"all":true}}}]"#;
    receive(&mut server, ms(0), LINK, ask, &mut sink);
    let big = [1.5_f64.to_be_bytes(), f64::NAN.to_be_bytes()].concat();
    let short = [7_i32.to_be_bytes(), (-7_i32).to_be_bytes()].concat();
    let values = [
        Value::DoubleArray(Numbers::new(&big, Layout::Big).unwrap()),
        Value::Int64Array(Numbers::new(&short, Layout::BigShort).unwrap()),
        Value::StringArray(Strings::new(b"\0\x01\0\x02hi", Layout::BigShort).unwrap()),
    ];
    let samples: Vec<_> = (0..).zip(values).map(|(channel, value)| Sample { channel, time: ms(0), value }).collect();
    server.sink(ms(0)).samples(&samples).unwrap();
    server.handle_timeout(ms(0));
    let lines = sent(&mut server);
    assert_eq!(
        lines[1..],
        [r"#0 0.000001 double[] [1.5, NaN]", "#1 0.000001 int[] [7, -7]", r#"#2 0.000001 string[] ["hi"]"#]
    );
}

#[test]
fn the_first_byte_distinguishes_text_from_values() {
    for text in [&b"[]"[..], b" \r\n\t[]", b"\n[", b"["] {
        assert!(is_text(text));
    }
    for binary in [&b"\x94"[..], b"\xdc\0\x04", b"\xdd\0\0\0\x04", b"", b"{}", b"\x00"] {
        assert!(!is_text(binary), "{binary:02x?}");
    }
}

#[test]
fn an_update_is_an_array_of_four_in_any_width() {
    for head in [&b"\x94"[..], b"\xdc\0\x04", b"\xdd\0\0\0\x04"] {
        let bytes = [head, b"\x05\x01\x00\xc3"].concat();
        assert_eq!(parsed(&bytes).to_string(), "#5 0.000001 boolean true");
    }
    let kind = |bytes: &[u8]| Update::parse(&mut Cursor::new(bytes, 0)).unwrap_err();
    for (bytes, found) in
        [(&b"\x93\0\0\0"[..], 0x93), (b"\x95", 0x95), (b"\xdc\0\x05", 0xdc), (b"{", b'{'), (b"\xc0", 0xc0)]
    {
        assert_eq!(kind(bytes), Error { at: 0, kind: ErrorKind::NotAnUpdate { found } });
    }
    let error = kind(b"\x94\xa1x\x00\x00\xc3");
    assert_eq!(error, Error { at: 1, kind: ErrorKind::NotAnInteger { what: "id", found: "a str" } });
    let error = kind(b"\x94\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x00\xc3");
    assert_eq!(error.to_string(), "nt4: byte 0x2: timestamp is an int beyond 63 bits, expected a 64-bit integer");
}

#[test]
fn codes_and_type_strings_have_kinds() {
    for code in (-1..30).chain([255, i64::MAX]) {
        assert_eq!(Kind::of_code(code).code(), code);
    }
    for name in ["boolean", "double", "int", "float", "string", "boolean[]", "double[]", "int[]", "float[]", "string[]"]
    {
        assert_eq!(Kind::of_type(name).to_string(), name);
    }
    assert_eq!(
        (Kind::of_type("json"), Kind::of_type("int64"), Kind::of_type("")),
        (Kind::String, Kind::Raw, Kind::Raw)
    );
    assert_eq!(Kind::of_code(6).to_string(), "type 6");
}
