//! The functions of the fuzz targets, over generated inputs.

use logpose_nt4::fuzzing;
use proptest::prelude::*;

const TEXTS: [&str; 14] = [
    r#"[{"method":"publish","params":{"name":"/0","pubuid":0,"type":"double","properties":{}}}]"#,
    r#"[{"method":"publish","params":{"name":"/1","pubuid":1,"type":"int","properties":{"retained":true}}}]"#,
    r#"[{"method":"publish","params":{"name":"/2","pubuid":2,"type":"string[]","properties":{"cached":false}}}]"#,
    r#"[{"method":"unpublish","params":{"pubuid":0}},{"method":"unpublish","params":{"pubuid":1}}]"#,
    r#"[{"method":"setproperties","params":{"name":"/1","update":{"retained":null}}}]"#,
    r#"[{"method":"setproperties","params":{"name":"/0","update":{"x":{"y":1.5}}}}]"#,
    r#"[{"method":"subscribe","params":{"topics":["","$"],"subuid":1,"options":{"prefix":true,"all":true}}}]"#,
    r#"[{"method":"subscribe","params":{"topics":["/0","$clients"],"subuid":2,"options":{"periodic":0.01}}}]"#,
    r#"[{"method":"unsubscribe","params":{"subuid":1}}]"#,
    r#"[{"method":"announce","params":{"name":"/0","id":0,"type":"double","properties":{}}}]"#,
    r#"[{"method":"announce","params":{"name":"/1","id":1,"type":"int","properties":{"a":1}}}]"#,
    r#"[{"method":"announce","params":{"name":"/2","id":2,"type":"string[]","properties":{}}}]"#,
    r#"[{"method":"unannounce","params":{"name":"/1","id":1}}]"#,
    r#"[{"method":"properties","params":{"name":"/0","update":{"x":2},"ack":true}}]"#,
];
const VALUES: [&[u8]; 6] = [
    b"\x94\x00\x05\x01\xcb\x3f\xf0\0\0\0\0\0\0",
    b"\x94\x01\x06\x02\x07\x94\x01\x07\x02\x08",
    b"\x94\x02\x00\x14\x92\xa1x\xa0",
    b"\x94\xff\x00\x02\xcd\x03\xe8",
    b"\x03\x05",
    b"\x0f\x00\0\0\0\0\0\0\xf0\x3f",
];

/// A conversation: pieces as the fuzz functions read them, most of them messages that make sense.
fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let text = (any::<u8>(), 0..TEXTS.len()).prop_map(|(first, at)| [&[first], TEXTS[at].as_bytes(), b"\n"].concat());
    let value = (any::<u8>(), 0..VALUES.len()).prop_map(|(class, at)| {
        let bytes = VALUES[at];
        // The length is the first byte, which also says what happens.
        let padding = usize::from(class % 16);
        [&[(bytes.len() + padding) as u8], bytes, &vec![0xc0; padding]].concat()
    });
    let open = (0..15_u8).prop_map(|n| vec![n * 16]);
    let noise = proptest::collection::vec(any::<u8>(), 0..20);
    let piece = prop_oneof![6 => text, 4 => value, 2 => open, 1 => noise];
    (proptest::collection::vec(piece, 1..40), proptest::collection::vec((any::<u16>(), any::<u8>()), 0..3)).prop_map(
        |(pieces, flips)| {
            let mut bytes = pieces.concat();
            for (at, byte) in flips {
                // All pieces may be empty.
                let at = usize::from(at) % bytes.len().max(1);
                bytes.get_mut(at).into_iter().for_each(|old| *old = byte);
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sessions_survive_any_conversation(data in conversation()) {
        fuzzing::session(&data);
    }

    #[test]
    fn sessions_survive_anything(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        fuzzing::session(&data);
    }

    #[test]
    fn values_come_back(data in proptest::collection::vec(any::<u8>(), 0..2000)) {
        fuzzing::roundtrip(&data);
    }

    #[test]
    fn messages_come_back(data in conversation()) {
        fuzzing::roundtrip(&data);
        fuzzing::roundtrip(data.get(1..).unwrap_or_default());
    }
}

#[test]
fn every_message_of_the_seeds_comes_back() {
    TEXTS.iter().for_each(|text| fuzzing::roundtrip(text.as_bytes()));
    VALUES.iter().for_each(|bytes| fuzzing::roundtrip(bytes));
}
