//! Every prefix and every changed byte of messages: an error or fewer samples, never a panic.

use logpose_core::{Limits, Link, Session};
use logpose_nt4::{Messages, Notice, Nt4Client, Options, Request, Updates, is_text};

use crate::kit::{Lines, ms, server};

const LINK: Link = Link(1);
const ANNOUNCE: &str = r#"[{"method":"announce","params":{"name":"/d","id":0,"type":"double","pubuid":3,"properties":{"a":[1,"ü"]}}},{"method":"announce","params":{"name":"/s","id":1,"type":"string[]","properties":{}}},{"method":"properties","params":{"name":"/d","update":{"b":null},"ack":true}},{"method":"unannounce","params":{"name":"/s","id":1}}]"#;
const REQUESTS: &str = r#"[{"method":"publish","params":{"name":"/d","pubuid":0,"type":"double","properties":{"retained":true}}},{"method":"publish","params":{"name":"/s","pubuid":1,"type":"string[]","properties":{}}},{"method":"subscribe","params":{"topics":["","$"],"subuid":1,"options":{"prefix":true,"all":true,"periodic":0.02}}},{"method":"setproperties","params":{"name":"/d","update":{"retained":null}}},{"method":"unpublish","params":{"pubuid":1}},{"method":"unsubscribe","params":{"subuid":1}}]"#;
const VALUES: &[u8] = b"\x94\x00\xce\x00\x0f\x42\x40\x01\xcb\x3f\xf0\0\0\0\0\0\0\x94\xff\x01\x02\xcd\x03\xe8\x94\x01\x05\x14\x93\xa3abc\xa0\xd9\x02\xc3\xa9\x94\x00\x07\x01\xca\x3f\xf0\0\0";

fn to_client(messages: &[&[u8]]) -> Lines {
    let mut client = Nt4Client::new(Options::default(), Limits { record_len: 4096, ..Limits::default() });
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    for bytes in messages {
        client.handle_input(ms(5), LINK, bytes, &mut sink).unwrap();
    }
    sink
}

fn to_server(messages: &[&[u8]]) -> Lines {
    let mut server = server(&[("/own", "double")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), LINK);
    for bytes in messages {
        server.handle_input(ms(5), LINK, bytes, &mut sink).unwrap();
        server.handle_timeout(ms(5));
        while let Some(transmit) = server.poll_transmit() {
            assert_eq!(transmit.text, is_text(&transmit.bytes));
        }
    }
    sink
}

#[test]
fn whole_messages_are_taken() {
    let first = ANNOUNCE.split_once(r#",{"method":"properties""#).unwrap().0.to_owned() + "]";
    assert_eq!(to_client(&[first.as_bytes(), VALUES]).lines.len(), 3);
    assert_eq!(Updates::new(VALUES).filter(Result::is_ok).count(), 4);
    assert_eq!(Messages::<Notice>::new(ANNOUNCE.as_bytes()).filter(Result::is_ok).count(), 4);
    assert_eq!(Messages::<Request>::new(REQUESTS.as_bytes()).filter(Result::is_ok).count(), 6);
    assert!(to_server(&[REQUESTS.as_bytes()]).problems.is_empty());
}

#[test]
fn every_prefix_is_survived() {
    let first = ANNOUNCE.split_once(r#",{"method":"properties""#).unwrap().0.to_owned() + "]";
    let ends = [0, 17, 24, 38, VALUES.len()];
    for end in 0..=VALUES.len() {
        let sink = to_client(&[first.as_bytes(), &VALUES[..end]]);
        assert!(sink.lines.len() <= 3);
        assert_eq!(sink.codes().contains(&"bad-message"), !ends.contains(&end), "{end}");
        let publish = REQUESTS.split_once(r#",{"method":"subscribe""#).unwrap().0.to_owned() + "]";
        to_server(&[publish.as_bytes(), &VALUES[..end]]);
    }
    for end in 1..ANNOUNCE.len() {
        assert_eq!(to_client(&[&ANNOUNCE.as_bytes()[..end]]).codes(), ["bad-message"], "{end}");
    }
    for end in 1..REQUESTS.len() {
        assert_eq!(to_server(&[&REQUESTS.as_bytes()[..end]]).codes(), ["bad-message"], "{end}");
    }
}

#[test]
fn every_changed_byte_is_survived() {
    let first = ANNOUNCE.split_once(r#",{"method":"properties""#).unwrap().0.to_owned() + "]";
    let publish = REQUESTS.split_once(r#",{"method":"subscribe""#).unwrap().0.to_owned() + "]";
    let mut values = VALUES.to_vec();
    for at in 0..values.len() {
        let before = values[at];
        for byte in 0..=255 {
            values[at] = byte;
            to_client(&[first.as_bytes(), &values]);
            to_server(&[publish.as_bytes(), &values]);
        }
        values[at] = before;
    }
    for (text, is_client) in [(ANNOUNCE, true), (REQUESTS, false)] {
        let mut text = text.as_bytes().to_vec();
        for at in 0..text.len() {
            let before = text[at];
            for bit in 0..8 {
                text[at] = before ^ 1 << bit;
                let messages: [&[u8]; 2] = [&text, VALUES];
                if is_client {
                    to_client(&messages)
                } else {
                    to_server(&messages)
                };
            }
            text[at] = before;
        }
    }
}
