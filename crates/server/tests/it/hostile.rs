//! Bodies that nobody means well with: refused with a sentence, and the server goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use logpose::ClockMap;
use logpose_server::{Options, Server};
use serde_json::{Value, json};

use crate::support::{Client, FRC, named, open, reference, serve, session};

const POSTS: [&str; 9] = [
    "/api/pixels",
    "/api/states",
    "/api/values",
    "/api/rows",
    "/api/table",
    "/api/console",
    "/api/stats",
    "/api/sql",
    "/api/export",
];

fn alive(client: &Client) {
    assert_eq!(client.get("/api/session").status, 200);
}

#[test]
fn what_is_no_request_is_refused() {
    let client = serve(&open(&named(FRC)));
    let deep = "[".repeat(100_000);
    let long = format!("{{\"start\":{}}}", "9".repeat(100_000));
    for path in POSTS {
        for body in [
            "",
            "{",
            "[]",
            "null",
            "1",
            "\"x\"",
            "{}x",
            "{\"unknown\":1}",
            "\u{feff}{}",
            &deep,
            &long,
            "{\"time\":NaN}",
        ] {
            let answer =
                client.request("POST", path, &["Host: {host}", "Content-Type: application/json"], body.as_bytes());
            assert_eq!(answer.refusal(), (400, "bad-request".to_owned()), "{path} {:?}", body.get(..20));
        }
        let answer = client.request("POST", path, &["Host: {host}", "Content-Type: text/plain"], b"{}");
        assert_eq!(answer.refusal(), (415, "unsupported-media-type".to_owned()));
        let large = vec![b' '; (1 << 20) + 1];
        let answer = client.request("POST", path, &["Host: {host}", "Content-Type: application/json"], &large);
        assert_eq!(answer.refusal(), (413, "too-large".to_owned()));
    }
    alive(&client);
}

#[test]
fn numbers_out_of_bounds_are_refused_or_harmless() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let volts = reference(&log, "/Power/BatteryVoltage", "");
    let check = |path: &str, query: Value, code: &str| {
        let answer = client.post_text(path, &query.to_string());
        assert_eq!(answer.refusal().1, code, "{path} {query}");
    };
    for width in [json!(0), json!(8193), json!(u64::MAX)] {
        check("/api/pixels", json!({"start": 0, "end": 1, "width": width, "series": [volts]}), "invalid-width");
        check("/api/states", json!({"start": 0, "end": 1, "width": width, "series": [volts]}), "invalid-width");
    }
    for odd in [json!(-1), json!(1.5), json!("x"), json!(null), json!([1])] {
        check("/api/pixels", json!({"start": 0, "end": 1, "width": odd, "series": [volts]}), "bad-request");
        check("/api/values", json!({"time": 0, "series": [{"log": odd, "channel": 0}]}), "bad-request");
        check("/api/values", json!({"time": 0, "series": [{"log": 0, "channel": odd}]}), "bad-request");
    }
    check("/api/pixels", json!({"start": 2, "end": 1, "width": 10, "series": [volts]}), "invalid-range");
    check("/api/rows", json!({"start": 2, "end": 1, "points": 10, "series": [volts]}), "invalid-range");
    check("/api/rows", json!({"start": 0, "end": 1, "points": 100_001, "series": [volts]}), "invalid-points");
    check("/api/table", json!({"from": 0, "limit": 2001, "series": [volts]}), "invalid-limit");
    check("/api/table", json!({"from": 0, "limit": 0, "series": [volts]}), "invalid-limit");
    check("/api/console", json!({"limit": 1_000_000}), "invalid-limit");
    check("/api/console", json!({"limit": 1, "levels": ["loud"]}), "invalid-level");
    check("/api/console", json!({"limit": 1, "include": "/(/"}), "invalid-pattern");
    check("/api/console", json!({"limit": 1, "include": format!("/{}/", "(a{1000}){1000}")}), "invalid-pattern");
    check("/api/stats", json!({"start": 0, "end": 1, "bins": 0, "series": [volts]}), "invalid-bins");
    check("/api/stats", json!({"start": 0, "end": 1, "bins": 1001, "series": [volts]}), "invalid-bins");
    check("/api/export", json!({"format": "exe", "series": []}), "invalid-format");
    check("/api/export", json!({"format": "../x", "series": []}), "invalid-format");
    check("/api/export", json!({"format": "mcap", "wide": true, "series": [volts]}), "unreadable-log");
    check("/api/values", json!({"time": 0, "series": [{"log": 1, "channel": 0}]}), "log-not-found");
    check("/api/values", json!({"time": 0, "series": [{"log": 0, "channel": 4_000_000_000_u32}]}), "channel-not-found");
    check("/api/values", json!({"time": 0, "series": [{"log": 0, "channel": 5_000_000_000_u64}]}), "bad-request");
    for path in ["x", "[", "[x]", "[-1]", ".", "..", "[99999999999999999999999999]", &".a".repeat(100_000)] {
        check("/api/values", json!({"time": 0, "series": [{"log": 0, "channel": 0, "path": path}]}), "invalid-path");
    }
    let many: Vec<Value> = (0..1025).map(|_| json!({"log": 0, "channel": 0})).collect();
    check("/api/values", json!({"time": 0, "series": many}), "too-many-series");
    for bad in ["-1", "1", "x", "0x0", "99999999999999999999", "0%20", "%ff", "%00", "-0"] {
        assert_eq!(client.get(&format!("/api/logs/{bad}/channels")).refusal(), (404, "log-not-found".to_owned()));
        assert_eq!(client.get(&format!("/api/logs/{bad}/events")).refusal(), (404, "log-not-found".to_owned()));
    }
    alive(&client);
}

#[test]
fn times_may_be_any_numbers() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let volts = reference(&log, "/Power/BatteryVoltage", "");
    let ends = [-1e308, -1e18, -9.3e9, -1.0, 0.0, 1e-300, 5.0, 9.3e9, 1e18, 1e308];
    for (place, start) in ends.iter().enumerate() {
        for end in &ends[place..] {
            let draw = json!({"start": start, "end": end, "width": 50, "series": [volts]});
            client.ask("/api/pixels", &draw);
            client.ask("/api/states", &draw);
            client.ask("/api/rows", &json!({"start": start, "end": end, "points": 7, "series": [volts]}));
            client.ask("/api/stats", &json!({"start": start, "end": end, "bins": 7, "series": [volts]}));
            client.ask("/api/export", &json!({"format": "csv", "start": start, "end": end, "series": [volts]}));
        }
        client.ask("/api/values", &json!({"time": start, "series": [volts]}));
        for back in [true, false] {
            client.ask("/api/table", &json!({"series": [volts], "from": start, "limit": 5, "backward": back}));
            client.ask("/api/console", &json!({"from": start, "limit": 5, "backward": back}));
        }
    }
    alive(&client);
}

#[test]
fn nothing_is_a_fair_question() {
    let client = serve(&open(&named(FRC)));
    assert_eq!(client.json("/api/values", &json!({"time": 0, "series": []}))["values"], json!([]));
    assert_eq!(
        client.json("/api/states", &json!({"start": 0, "end": 1, "width": 1, "series": []}))["series"],
        json!([])
    );
    assert_eq!(
        client.json("/api/table", &json!({"series": [], "from": 0, "limit": 1})),
        json!({"rows": [], "more": false})
    );
    assert_eq!(client.json("/api/console", &json!({"limit": 1, "series": []})), json!({"rows": [], "more": false}));
    assert_eq!(client.arrow("/api/pixels", &json!({"start": 0, "end": 1, "width": 1, "series": []})).0.num_rows(), 0);
    assert_eq!(client.arrow("/api/rows", &json!({"start": 0, "end": 1, "points": 1, "series": []})).0.num_rows(), 0);
}

#[test]
fn numbers_that_are_none_have_words() {
    let text = "time,channel,value\n0,a,NaN\n1,a,inf\n2,a,-inf\n3,a,1.5\n";
    let log = logpose::Log::from_bytes("odd.csv", text.into(), &logpose::OpenOptions::default()).unwrap();
    let log = std::sync::Arc::new(log);
    let client = serve(&log);
    let value = |t: f64| {
        let answer = client.json("/api/values", &json!({"time": t, "series": [{"log": 0, "channel": 0}]}));
        answer["values"][0]["value"].clone()
    };
    assert_eq!(
        [value(0.0), value(1.0), value(2.0), value(3.0)],
        [json!("NaN"), json!("Infinity"), json!("-Infinity"), json!(1.5)]
    );
    let stats =
        client.json("/api/stats", &json!({"start": 0, "end": 9, "bins": 2, "series": [{"log": 0, "channel": 0}]}));
    assert_eq!((&stats["series"][0]["samples"], &stats["series"][0]["count"]), (&json!(4), &json!(3)));
    assert_eq!(stats["series"][0]["histogram"]["counts"], json!([1, 0]));
    let drawn =
        client.arrow("/api/pixels", &json!({"start": 0, "end": 9, "width": 100, "series": [{"log": 0, "channel": 0}]}));
    assert!(drawn.column("first")[0].is_nan() && drawn.column("min")[1] == f64::INFINITY);
}

/// Connections whose requests never become whole.
fn half_requests(client: &Client, count: usize) -> Vec<TcpStream> {
    let body = format!(
        "POST /api/sql HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{",
        client.address()
    );
    let halves = ["GET /api/ses", &body, ""];
    let send = |half: &str| {
        let mut stream = TcpStream::connect(client.address()).unwrap();
        stream.write_all(half.as_bytes()).unwrap();
        stream
    };
    halves.into_iter().cycle().take(count).map(send).collect()
}

#[test]
fn half_requests_keep_nobody_out() {
    let log = [(open(&named(FRC)), ClockMap::default())];
    let options = Options { connections: 20, patience: Duration::from_secs(600), ..Options::default() };
    let client = Client::new(Server::start(session(&log), &options).unwrap());
    let held = half_requests(&client, 90);
    for _ in 0..30 {
        alive(&client);
    }
    drop(held);
    alive(&client);
}

#[test]
fn a_request_that_does_not_come_is_not_waited_for() {
    let log = [(open(&named(FRC)), ClockMap::default())];
    let options = Options { patience: Duration::from_millis(100), ..Options::default() };
    let client = Client::new(Server::start(session(&log), &options).unwrap());
    let mut quiet = half_requests(&client, 1);
    // Between two requests it is waited for as long.
    let mut between = TcpStream::connect(client.address()).unwrap();
    write!(between, "GET /api/session HTTP/1.1\r\nHost: {}\r\n\r\n", client.address()).unwrap();
    quiet.push(between);
    for mut stream in quiet {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
    }
    alive(&client);
}
