//! msgpack and JSON payloads.

use logpose_schema::{Note, Registry, SchemaError, Tree};

use crate::support::{hex, map, shown};

fn msgpack(bytes: &str) -> Result<String, String> {
    let decoded = Registry::new().decode("msgpack", &hex(bytes)).map_err(|error| error.key().to_owned())?;
    Ok(decoded.tree.to_string() + &decoded.note.map(|note| format!(" ({note})")).unwrap_or_default())
}

#[test]
fn msgpack_objects_decode() {
    let check = |bytes: &str, expected: &str| assert_eq!(msgpack(bytes).as_deref(), Ok(expected), "{bytes}");
    check("82 a1 61 94 01 cb 4004000000000000 c3 c0 a1 62 c4 02 00 01", "{a: [1, 2.5, true, null], b: 0x0001}");
    check("cf ffffffffffffffff", "18446744073709551615");
    check("cf 0000000000000001", "1");
    check("d3 8000000000000000", "-9223372036854775808");
    check("ca 3dcccccd", "0.1");
    check("a2 c3 28", "0xc328");
    check("d4 05 07", "{ext: 5, data: 0x07}");
    check("82 01 02 c0 03", "{1: 2, null: 3}");
    check("90", "[]");
}

#[test]
fn msgpack_must_use_the_whole_payload() {
    let decoded = Registry::new().decode("msgpack", &hex("01 02 03")).unwrap();
    assert_eq!(decoded.tree, Tree::Int(1));
    assert_eq!(decoded.note, Some(Note::Longer { used: 1, left: 2 }));
}

#[test]
fn broken_msgpack_is_reported() {
    for bytes in ["c1", "", "91", "a5 61", "dd ffffffff", "df ffffffff", "c6 ffffffff", "81 90 01"] {
        assert_eq!(msgpack(bytes), Err("payload".to_owned()), "{bytes}");
    }
    assert_eq!(msgpack(&"91".repeat(100_000)), Err("payload".to_owned()));
    assert!(msgpack(&("91".repeat(100) + "c0")).is_ok());
}

#[test]
fn json_documents_decode() {
    let registry = Registry::new();
    assert_eq!(
        registry.decode("json", r#"{"z":[1,2,{"b":null}],"c":"é","d":1.5,"e":true}"#.as_bytes()).unwrap().tree,
        map(&[
            ("z", Tree::List(vec![Tree::Int(1), Tree::Int(2), map(&[("b", Tree::Null)])])),
            ("c", Tree::Text("é".into())),
            ("d", Tree::Double(1.5)),
            ("e", Tree::Bool(true)),
        ]),
    );
    assert_eq!(shown(&registry, "json", b"18446744073709551615"), "18446744073709551615");
    assert_eq!(shown(&registry, "json", b"-9223372036854775808"), "-9223372036854775808");
    assert_eq!(shown(&registry, "json", b"1e3"), "1000");
}

#[test]
fn broken_json_is_reported() {
    let deep = "[".repeat(100_000);
    for text in ["not json", "", "{", "1 2", "\"\u{1}\"", &deep] {
        let error = Registry::new().decode("json", text.as_bytes()).unwrap_err();
        assert!(matches!(error, SchemaError::Payload { format: "json", .. }));
    }
    assert!(Registry::new().decode("json", b"\"\xff\"").is_err());
}

#[test]
fn every_marker_of_msgpack_is_known() {
    let check = |bytes: &str, expected: &str| assert_eq!(msgpack(bytes).as_deref(), Ok(expected), "{bytes}");
    check("7f", "127");
    check("e0", "-32");
    check("cc ff", "255");
    check("cd 0100", "256");
    check("ce 00010000", "65536");
    check("d0 80", "-128");
    check("d1 8000", "-32768");
    check("d2 80000000", "-2147483648");
    check("c2", "false");
    check("d9 01 61", r#""a""#);
    check("da 0001 61", r#""a""#);
    check("db 00000001 61", r#""a""#);
    check("c5 0001 61", "0x61");
    check("c6 00000001 61", "0x61");
    check("dc 0001 01", "[1]");
    check("dd 00000001 01", "[1]");
    check("de 0001 a1 61 01", "{a: 1}");
    check("df 00000001 a1 61 01", "{a: 1}");
    check("d8 ff 00000000000000000000000000000000", &format!("{{ext: -1, data: 0x{}}}", "00".repeat(16)));
    check("c7 01 05 61", "{ext: 5, data: 0x61}");
    check("c8 0001 05 61", "{ext: 5, data: 0x61}");
    check("c9 00000001 05 61", "{ext: 5, data: 0x61}");
}

#[test]
fn large_payloads_are_refused() {
    let json = format!("[{}1]", "1,".repeat(2 << 20));
    assert_eq!(Registry::new().decode("json", json.as_bytes()).unwrap_err().key(), "too-large");
    let msgpack = [vec![0xdd, 0x00, 0x20, 0x00, 0x00], vec![0xc0; 2 << 20]].concat();
    assert_eq!(Registry::new().decode("msgpack", &msgpack).unwrap_err().key(), "too-large");
}
