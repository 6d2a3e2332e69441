//! Text messages: as the specification has them, and as it has not.

use logpose_nt4::{Error, ErrorKind, Message, Messages, Notice, Request, SubscribeOptions};
use serde_json::{Map, Value as Json, json};

fn map(json: Json) -> Map<String, Json> {
    json.as_object().unwrap().clone()
}

fn check<M: Message + PartialEq + std::fmt::Debug>(text: &str, expected: &M) {
    let mut found = Messages::<M>::new(text.as_bytes());
    assert_eq!(found.next().unwrap().as_ref(), Ok(expected), "{text}");
    assert_eq!(found.next(), None);
    let written = format!("[{}]", expected.to_json());
    assert_eq!(Messages::<M>::new(written.as_bytes()).next().unwrap().as_ref(), Ok(expected), "{written}");
}

#[test]
fn what_a_client_asks() {
    check(
        r#"[{"method":"publish","params":{"name":"/a","pubuid":3,"type":"double","properties":{"persistent":true}}}]"#,
        &Request::Publish {
            name: "/a".into(),
            pubuid: 3,
            type_name: "double".into(),
            properties: map(json!({ "persistent": true })),
        },
    );
    // ntcore takes a publish without properties.
    check(
        r#"[{"params":{"type":"raw","name":"ü","pubuid":-7},"method":"publish"}]"#,
        &Request::Publish { name: "ü".into(), pubuid: -7, type_name: "raw".into(), properties: Map::new() },
    );
    check(r#" [ {"method":"unpublish","params":{"pubuid":3}} ] "#, &Request::Unpublish { pubuid: 3 });
    check(
        r#"[{"method":"setproperties","params":{"name":"/a","update":{"x":null,"y":[1,{"z":2}]}}}]"#,
        &Request::SetProperties { name: "/a".into(), update: map(json!({ "x": null, "y": [1, { "z": 2 }] })) },
    );
    let options = SubscribeOptions {
        periodic: 0.02,
        all: true,
        topics_only: true,
        prefix: true,
        others: map(json!({ "mine": "kept" })),
    };
    check(
        r#"[{"method":"subscribe","params":{"topics":["/a","/b"],"subuid":-1,"options":{"all":true,"mine":"kept","topicsonly":true,"prefix":true,"periodic":0.02}}}]"#,
        &Request::Subscribe { topics: vec!["/a".into(), "/b".into()], subuid: -1, options },
    );
    check(
        r#"[{"method":"subscribe","params":{"topics":[],"subuid":2147483647,"options":{}}}]"#,
        &Request::Subscribe { topics: vec![], subuid: i32::MAX, options: SubscribeOptions::default() },
    );
    check(r#"[{"method":"unsubscribe","params":{"subuid":1}}]"#, &Request::Unsubscribe { subuid: 1 });
}

#[test]
fn messages_of_a_server() {
    check(
        r#"[{"method":"announce","params":{"name":"/a","id":17,"type":"int[]","pubuid":3,"properties":{"retained":true}}}]"#,
        &Notice::Announce {
            name: "/a".into(),
            id: 17,
            type_name: "int[]".into(),
            pubuid: Some(3),
            properties: map(json!({ "retained": true })),
        },
    );
    // Some servers have no properties, or null.
    for properties in ["", r#","properties":null"#] {
        let text = format!(r#"[{{"method":"announce","params":{{"name":"/a","id":1,"type":"int"{properties}}}}}]"#);
        let (name, type_name) = ("/a".into(), "int".into());
        check(&text, &Notice::Announce { name, id: 1, type_name, pubuid: None, properties: Map::new() });
    }
    check(
        r#"[{"method":"unannounce","params":{"name":"/a","id":17}}]"#,
        &Notice::Unannounce { name: "/a".into(), id: 17 },
    );
    for (text, ack) in [("", false), (r#","ack":true"#, true), (r#","ack":false"#, false)] {
        let text = format!(r#"[{{"method":"properties","params":{{"name":"/a","update":{{"x":1}}{text}}}}}]"#);
        check(&text, &Notice::Properties { name: "/a".into(), ack, update: map(json!({ "x": 1 })) });
    }
}

#[test]
fn what_is_no_message_is_passed_over() {
    let text = br#"[1, "x", null, [], {}, {"method":1,"params":{}}, {"method":"publish"}, {"method":"publish","params":[]},
        {"method":"announce","params":{}}, {"method":"subscribe","params":{"subuid":1}},
        {"method":"subscribe","params":{"subuid":1,"topics":[1]}}, {"method":"unpublish","params":{"pubuid":2147483648}},
        {"method":"unpublish","params":{"pubuid":1.5}}, {"method":"unpublish","params":{"pubuid":"1"}},
        {"method":"subscribe","params":{"subuid":1,"topics":[],"options":{"all":1}}},
        {"method":"subscribe","params":{"subuid":1,"topics":[],"options":{"periodic":-1}}},
        {"method":"subscribe","params":{"subuid":1,"topics":[],"options":[]}},
        {"method":"unsubscribe","params":{"subuid":9}}]"#;
    let all: Vec<_> = Messages::<Request>::new(text).collect();
    assert_eq!(all.len(), 18);
    assert_eq!(all[17], Ok(Request::Unsubscribe { subuid: 9 }));
    let said: Vec<_> = all.iter().filter_map(|message| message.as_ref().err()).map(|e| e.kind.to_string()).collect();
    assert!(all[..17].iter().all(|message| message.as_ref().is_err_and(Error::is_recoverable)));
    assert_eq!(
        said,
        [
            "a JSON message without keys",
            "a JSON message without keys",
            "a JSON message without keys",
            "a JSON message without keys",
            "a JSON message without a method",
            "a JSON message without a method",
            "a JSON message without parameters",
            "a JSON message without parameters",
            r#"unknown method "announce""#,
            r#"subscribe without a list of texts in "topics""#,
            r#"subscribe without a list of texts in "topics""#,
            r#"unpublish without an integer of 32 bits in "pubuid""#,
            r#"unpublish without an integer of 32 bits in "pubuid""#,
            r#"unpublish without an integer of 32 bits in "pubuid""#,
            r#"subscribe without a boolean in "all""#,
            r#"subscribe without seconds in "periodic""#,
            r#"subscribe without an object in "options""#,
        ]
    );
}

#[test]
fn what_is_no_list_ends_it() {
    let error = |text: &str| {
        let mut all = Messages::<Notice>::new(text.as_bytes());
        let error = all.by_ref().find_map(Result::err).unwrap();
        assert!(!error.is_recoverable() && all.next().is_none(), "{text}");
        error
    };
    let good = r#"{"method":"unannounce","params":{"name":"/a","id":17}}"#;
    for text in ["", "{}", "7", "x"] {
        assert_eq!(error(text).kind, ErrorKind::NotAList { expected: "the beginning" });
    }
    assert_eq!(error(&format!("[{good}")).kind, ErrorKind::NotAList { expected: "a comma or the end" });
    assert_eq!(error(&format!("[{good}{good}]")).at, 1 + good.len() as u64);
    assert_eq!(error(&format!("[{good}] x")).kind, ErrorKind::NotAList { expected: "nothing behind the end" });
    assert!(matches!(error(&format!("[{good},]")).kind, ErrorKind::BadJson { .. }));
    assert!(matches!(error("[{\"method\":").kind, ErrorKind::BadJson { .. }));
    assert_eq!(error("[").kind, ErrorKind::NotAList { expected: "the end" });
    // Deep nests, long messages.
    assert!(matches!(error(&"[".repeat(100_000)).kind, ErrorKind::BadJson { .. }));
    let long = format!("[{{\"method\":\"{}\"}}]", "x".repeat(2 << 20));
    assert_eq!(error(&long), Error { at: 1, kind: ErrorKind::TooLong { limit: 1 << 20 } });
}

#[test]
fn a_long_list_of_short_messages_is_taken() {
    let one = r#"{"method":"unsubscribe","params":{"subuid":9}}"#;
    let text = format!("[{}]", vec![one; 50_000].join(" , "));
    assert_eq!(Messages::<Request>::new(text.as_bytes()).filter(Result::is_ok).count(), 50_000);
    assert_eq!(Messages::<Request>::new(b"[]").count(), 0);
}
