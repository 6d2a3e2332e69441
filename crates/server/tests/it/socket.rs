//! The page that listens: what it may send, and what it receives.

use logpose_core::Value;
use serde_json::json;

use crate::live_kit::{Page, PageMessage, batch, fed, ms};
use crate::support::{FRC, named, open, serve};

#[test]
fn a_session_without_anything_live_has_a_tick_too() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let tick = Page::open(&client).tick();
    assert_eq!((&tick["logs"][0]["state"], &tick["logs"][0]["samples_per_s"]), (&json!("finished"), &json!(0.0)));
    assert_eq!(tick["logs"][0]["samples"], log.index.samples());
    assert_eq!(tick["end"], client.got("/api/session")["end"]);
}

#[test]
fn what_makes_no_sense_is_said_and_the_talk_goes_on() {
    let (_, _output, client) = fed();
    let mut page = Page::open(&client);
    let many: Vec<_> = (0..2000).map(|n| json!({"log": 0, "channel": n})).collect();
    for text in ["", "{", "[]", r#"{"subscribe": 5}"#, r#"{"subscribe": [], "nonsense": 1}"#] {
        page.say(text);
        let error = loop {
            if let PageMessage::Text(text) = page.next()
                && !text["error"].is_null()
            {
                break text["error"].clone();
            }
        };
        assert_eq!(error["code"], "bad-request", "{text}: {error}");
    }
    page.subscribe(&many, 10);
    let refused = loop {
        match page.next() {
            PageMessage::Text(text) if !text["error"].is_null() => break text["error"]["code"].clone(),
            PageMessage::Text(_) => {}
            _ => panic!("nothing is subscribed"),
        }
    };
    assert_eq!(refused, "too-many-series");
    // References to nothing are passed over, and rates that are none are others.
    page.say(r#"{"subscribe": [{"log": 9, "channel": 0}, {"log": 0, "channel": 77, "path": ".x"}], "rate": -1e300}"#);
    page.subscribe(&[], 60);
    assert_eq!(page.tick()["logs"][0]["state"], "waiting");
    page.say(&"x".repeat(65_000));
    while !matches!(page.next(), PageMessage::Text(text) if text["error"]["code"] == "bad-request") {}
}

#[test]
fn a_message_that_is_too_long_ends_the_talk_and_binary_ones_do() {
    let (_, _output, client) = fed();
    for frame in [&[0x82, 0x80, 0, 0, 0, 0][..], &[0x81, 0xff, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0]] {
        let mut page = Page::open(&client);
        page.raw(frame);
        while !matches!(page.next(), PageMessage::Closed) {}
    }
}

#[test]
fn a_page_that_is_slow_gets_fewer_frames_and_misses_nothing() {
    let (_, mut output, client) = fed();
    output.take(&batch(&[(0, "/A", "double"), (1, "/B", "boolean")], &[(0, ms(0), Value::Double(0.0))])).unwrap();
    let mut page = Page::open(&client);
    let (a, b) = (json!({"log": 0, "channel": 0}), json!({"log": 0, "channel": 1, "path": ""}));
    page.subscribe(&[a.clone(), b.clone()], 60);
    assert_eq!(page.frame().column("last"), [0.0], "it is listened");
    // Nobody reads meanwhile.
    for n in 1..=300_i64 {
        let some: Vec<_> =
            (0..1000).map(|i| (0, ms(n * 1000 + i), Value::Double(f64::from(i32::try_from(n).unwrap())))).collect();
        output.take(&batch(&[], &some)).unwrap();
    }
    output.take(&batch(&[], &[(1, ms(400_000), Value::Boolean(true)), (0, ms(400_000), Value::Double(-7.0))])).unwrap();
    let (mut samples, mut frames, mut last) = (0, 0, f64::NAN);
    while last != -7.0 {
        let frame = page.frame();
        assert_eq!(frame.about("references"), json!([a, b]));
        let about = frame.about("series");
        samples += about[0]["samples"].as_u64().unwrap();
        let rows = frame.series().iter().filter(|series| **series == 0).count();
        assert!(rows <= 4000, "{rows}");
        assert!(frame.column("start").iter().zip(frame.series()).filter(|(_, s)| *s == 0).map(|(t, _)| *t).is_sorted());
        last =
            frame.column("last").iter().zip(frame.series()).rfind(|(_, series)| *series == 0).map_or(last, |(x, _)| *x);
        frames += 1;
    }
    assert_eq!(samples, 300_001, "in {frames} frames");
}

#[test]
fn there_are_not_more_pages_than_there_is_room_for() {
    let (_, _output, client) = fed();
    let pages: Vec<Page> = (0..64).map(|_| Page::open(&client)).collect();
    let head = "GET /api/live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\n\
                Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let answer = client.raw(head.replace("{host}", &client.address().to_string()).as_bytes());
    assert_eq!((answer.status, answer.refusal().1), (503, "too-many-connections".to_owned()));
    drop(pages);
}
