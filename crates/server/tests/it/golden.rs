//! Answers that the front end's tests read: `fixtures/api`, written by `make bless` and compared otherwise.

use std::sync::Arc;

use logpose::Log;
use logpose_testkit::golden;
use serde_json::{Value, json};

use crate::support::{Client, FRC, fixture, named, open, reference, serve};

fn keep(name: &str, bytes: &[u8]) {
    assert!(bytes.len() < 20_000, "{name} has {} bytes", bytes.len());
    golden(&fixture("api").join(name), bytes);
}

/// JSON in lines, so that changes can be read.
fn keep_json(name: &str, json: &Value) {
    let mut text = String::new();
    write(json, 0, &mut text);
    text.push('\n');
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), *json);
    keep(name, text.as_bytes());
}

fn write(json: &Value, depth: usize, out: &mut String) {
    let (open, close, parts): (_, _, Vec<(String, &Value)>) = match json {
        Value::Array(items) => ('[', ']', items.iter().map(|item| (String::new(), item)).collect()),
        Value::Object(fields) => ('{', '}', fields.iter().map(|(k, v)| (format!("{}: ", json!(k)), v)).collect()),
        _ => return out.push_str(&json.to_string()),
    };
    let line = json.to_string();
    if line.len() <= LINE || parts.is_empty() {
        return out.push_str(&line);
    }
    out.push(open);
    for (place, (name, part)) in parts.iter().enumerate() {
        out.push_str(if place > 0 { ",\n" } else { "\n" });
        out.push_str(&"  ".repeat(depth + 1));
        out.push_str(name);
        write(part, depth + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

/// What fits is on one line.
const LINE: usize = 300;

/// What every log has: session, channels, events, and the values of all channels in its middle.
fn keep_log(prefix: &str, log: &Arc<Log>, client: &Client) {
    let mut session = client.got("/api/session");
    let name = session["logs"][0]["name"].clone();
    session["logs"][0]["path"] = name;
    session["version"] = json!("0.0.0");
    keep_json(&format!("{prefix}-session.json"), &session);
    keep_json(&format!("{prefix}-channels.json"), &client.got("/api/logs/0/channels"));
    keep_json(&format!("{prefix}-events.json"), &client.got("/api/logs/0/events"));
    keep_json(&format!("{prefix}-panes.json"), &client.got("/api/logs/0/panes"));
    let (first, last) = log.robust_range().unwrap();
    let t = first.plus(last.since(first) / 2).seconds();
    let shown = |(_, found): &(u32, &logpose_core::ChannelIndex)| !found.channel.name.contains(".schema");
    let values = (0..).zip(&log.index.channels).filter(shown).map(|(id, _)| json!({"log": 0, "channel": id}));
    let query = json!({"time": t, "series": values.collect::<Vec<_>>()});
    keep_json(&format!("{prefix}-values.json"), &json!({"query": query, "answer": client.json("/api/values", &query)}));
}

#[test]
fn a_match() {
    let log = open(&named(FRC));
    let client = serve(&log);
    keep_log("frc", &log, &client);
    let volts = reference(&log, "/Power/BatteryVoltage", "");
    let (x, y) =
        (reference(&log, "NT:/Drive/Pose", ".translation.x"), reference(&log, "NT:/Drive/Pose", ".translation.y"));
    let (enabled, state) = (reference(&log, "DS:enabled", ""), reference(&log, "/Shooter/State", ""));
    let pixels = json!({"start": 5, "end": 15, "width": 40, "series": [volts, x, enabled]});
    let fine = json!({"start": 8, "end": 8.5, "width": 40, "series": [volts]});
    let states = json!({"start": 0, "end": 30, "width": 300, "series": [enabled, state]});
    let rows = json!({"start": 5, "end": 15, "points": 50, "series": [x, y, enabled]});
    let table = json!({"from": 6, "limit": 6, "series": [volts, enabled, x]});
    let console = json!({"limit": 50});
    let stats = json!({"start": 5, "end": 15, "bins": 10, "series": [volts, x, state]});
    keep("frc-pixels.arrow", &client.ask("/api/pixels", &pixels).body);
    keep("frc-pixels-raw.arrow", &client.ask("/api/pixels", &fine).body);
    keep("frc-rows.arrow", &client.ask("/api/rows", &rows).body);
    keep_json("frc-queries.json", &json!({"pixels": pixels, "pixels-raw": fine, "rows": rows}));
    for (name, query) in [("states", &states), ("table", &table), ("console", &console), ("stats", &stats)] {
        let answer = client.json(&format!("/api/{name}"), query);
        keep_json(&format!("frc-{name}.json"), &json!({"query": query, "answer": answer}));
    }
    let refusal = client.post_text("/api/values", r#"{"time":0,"series":[{"log":0,"channel":999}]}"#);
    keep_json("refusal.json", &refusal.json());
}

#[test]
fn a_recording_a_ride_and_a_station_s_log() {
    for (prefix, file) in [
        ("carla", "carla/valid/traffic.log"),
        ("refloat", "refloat/valid/nosedive-1.3.rfrec"),
        ("ds", "dslog/valid/match.dslog"),
    ] {
        let log = open(&fixture(file));
        keep_log(prefix, &log, &serve(&log));
    }
}

#[test]
fn actors_and_their_motion() {
    let client = serve(&open(&named("demo_junction.log")));
    keep_json("junction-actors.json", &client.got("/api/logs/0/carla/actors"));
    // When the hero is hit, while somebody disappears.
    keep("junction-motion.arrow", &client.get("/api/logs/0/carla/motion?start=10&end=13&step=0.5").body);
}
