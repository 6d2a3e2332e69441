//! The shapes that scripts rely on, key by key.

use serde_json::Value;

use crate::run::{SHARED, code, stderr, stdout, typed};

fn parsed(line: &str) -> Value {
    let output = typed(&SHARED, line);
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{line}: {error}: {}", stdout(&output)))
}

fn lines(line: &str) -> Vec<Value> {
    stdout(&typed(&SHARED, line)).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn info_keeps_its_promise() {
    let info = parsed("logpose info match.wpilog --json");
    let promised = [
        "file", "dialect", "version", "bytes", "records", "samples", "channels", "first_ns", "last_ns", "epoch_ns",
        "problems", "details",
    ];
    assert_eq!(keys(&info), promised);
    assert_eq!(
        (&info["file"], &info["dialect"], &info["version"]),
        (&"match.wpilog".into(), &"wpilog".into(), &"1.0".into())
    );
    assert_eq!((info["first_ns"].as_i64(), info["last_ns"].as_i64()), (Some(0), Some(30_000_000_000)));
    // Beyond 2^53, so a string.
    assert_eq!(info["epoch_ns"], "1772999999000000000");
    assert_eq!(info["problems"], Value::Array(vec![]));
    let modes: Vec<_> = info["details"]["modes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| (m["mode"].as_str().unwrap(), m["start_ns"].as_i64().unwrap()))
        .collect();
    assert_eq!(
        modes,
        [("disabled", 0), ("auto", 5_000_000_000), ("disabled", 15_000_000_000), ("teleop", 17_000_000_000)]
    );
    assert_eq!(info["details"]["match"]["number"], 12);

    let damaged = parsed("logpose info truncated.wpilog --json");
    let problem = &damaged["problems"][0];
    assert_eq!(keys(problem), ["at", "kind", "severity", "message"]);
    assert!(problem["at"].is_u64() && problem["kind"].is_string() && problem["message"].is_string());
}

#[test]
fn info_of_several_files_is_an_array() {
    let both = parsed("logpose info match.wpilog pit.wpilog --json");
    assert_eq!(
        both.as_array().unwrap().iter().map(|info| info["file"].as_str().unwrap()).collect::<Vec<_>>(),
        ["match.wpilog", "pit.wpilog"]
    );
    // One that cannot be read does not break the array.
    let output = typed(&SHARED, "logpose info nowhere.wpilog pit.wpilog --json");
    assert_eq!(code(&output), 1);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap().as_array().unwrap().len(), 1);
}

#[test]
fn list_keeps_its_promise() {
    let list = parsed("logpose list match.wpilog --json");
    let channels = list.as_array().unwrap();
    assert_eq!(channels.len(), 12);
    for channel in channels {
        assert_eq!(
            keys(channel),
            ["name", "type", "unit", "samples", "bytes", "first_ns", "last_ns", "rate_hz", "metadata"]
        );
    }
    let volts = channels.iter().find(|c| c["name"] == "/Power/BatteryVoltage").unwrap();
    assert_eq!((&volts["type"], &volts["unit"], &volts["samples"]), (&"double".into(), &"V".into(), &31.into()));
}

#[test]
fn cat_keeps_its_promise() {
    let samples = lines("logpose cat match.wpilog --format ndjson -y '/Drive/*'");
    for sample in &samples {
        assert_eq!(keys(sample), ["time_ns", "channel", "value"]);
    }
    let first = |channel: &str| &samples.iter().find(|s| s["channel"] == channel).unwrap()["value"];
    assert_eq!(first("/Drive/Pose"), &serde_json::json!({"x": 1.25, "y": -1.5}));
    assert_eq!(first("/Drive/Speeds"), &serde_json::json!([1.0, "NaN"]));
    assert_eq!(first("/Drive/Count"), "9223372036854775802");
}

#[test]
fn stats_keep_their_promise() {
    let rows = parsed("logpose stats match.wpilog --json");
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    let shared = [
        "name",
        "channel",
        "type",
        "kind",
        "count",
        "first_ns",
        "last_ns",
        "rate_hz",
        "median_interval_ns",
        "gaps",
        "longest_gap_ns",
        "longest_gap_at_ns",
        "first",
        "last",
    ];
    let with = |own: &[&'static str]| shared.iter().chain(own).copied().collect::<Vec<_>>();
    let numbers = ["nan", "min", "min_at_ns", "max", "max_at_ns", "mean", "stddev", "median", "percentiles"].as_slice();
    let volts = row("/Power/BatteryVoltage");
    assert_eq!(keys(volts), with(numbers));
    assert_eq!((&volts["count"], &volts["rate_hz"], &volts["max"]), (&31.into(), &1.0.into(), &12.5.into()));
    assert_eq!(keys(row("DS:enabled")), with(&["true", "share_true", "changes"]));
    assert_eq!(keys(row("messages")), with(&["distinct", "distinct_is_exact", "most_frequent", "most_frequent_count"]));
    assert_eq!(row("/Drive/Speeds[1]")["nan"], row("/Drive/Speeds[1]")["count"]);
    // Beyond 2^53, so a string.
    assert_eq!(row("/Drive/Count")["max"], "9223372036854775802");
}

#[test]
fn find_keeps_its_promise() {
    let found = parsed("logpose find 'BatteryVoltage < 12' match.wpilog --json --show '*Count'");
    assert_eq!(keys(&found), ["file", "expression", "count", "total_ns", "intervals"]);
    assert_eq!((&found["count"], &found["total_ns"]), (&2.into(), &23_000_000_000_u64.into()));
    let interval = &found["intervals"][0];
    assert_eq!(keys(interval), ["start_ns", "end_ns", "duration_ns", "mode", "open", "show"]);
    assert_eq!((&interval["start_ns"], &interval["mode"]), (&5_000_000_000_u64.into(), &"auto".into()));
    assert_eq!(keys(&interval["show"][0]), ["name", "min", "mean", "max", "first", "last"]);
    assert_eq!(interval["show"][0]["first"], "9223372036854775802");
    let several = parsed("logpose find 'BatteryVoltage < 12.2' match.wpilog pit.wpilog --json");
    assert_eq!(several.as_array().unwrap().len(), 2);
}

#[test]
fn diff_keeps_its_promise() {
    let diff = parsed("logpose diff match.wpilog pit.wpilog --json");
    assert_eq!(
        keys(&diff),
        ["a", "b", "differs", "align", "offset_ns", "common_start_ns", "common_end_ns", "first_divergence", "channels"]
    );
    assert_eq!((&diff["differs"], &diff["align"]), (&true.into(), &"time".into()));
    assert_eq!(keys(&diff["first_divergence"]), ["channel", "time_ns", "path", "a", "b", "difference"]);
    let channel = &diff["channels"][0];
    assert_eq!(
        keys(channel),
        [
            "name",
            "verdict",
            "type_a",
            "type_b",
            "samples_a",
            "samples_b",
            "differing_a",
            "differing_b",
            "missing_a",
            "missing_b",
            "first",
            "largest"
        ]
    );
    assert_eq!((&channel["name"], &channel["verdict"]), (&"/Power/BatteryVoltage".into(), &"differs".into()));
    assert_eq!(channel["largest"]["difference"], 0.5);
}

#[test]
fn doctor_and_the_map_keep_their_promise() {
    let checkup = parsed("logpose doctor garbage.wpilog --json");
    assert_eq!(keys(&checkup), ["file", "ok", "findings"]);
    assert_eq!(checkup["ok"], false);
    for finding in checkup["findings"].as_array().unwrap() {
        assert_eq!(keys(finding), ["severity", "code", "at", "length", "message"]);
    }
    let dir = crate::run::folder();
    typed(dir.path(), "logpose recover garbage.wpilog --map map.json");
    let map: Value = serde_json::from_slice(&std::fs::read(dir.path().join("map.json")).unwrap()).unwrap();
    assert_eq!(keys(&map), ["file", "ok", "findings"]);
    assert_eq!(map["ok"], false);
}

#[test]
fn the_bytes_of_du_add_up() {
    for file in ["match.wpilog", "pit.wpilog", "truncated.wpilog", "garbage.wpilog", "many.wpilog"] {
        let du = parsed(&format!("logpose du {file} --json --depth 1"));
        let n = |key: &str| du[key].as_u64().unwrap();
        assert_eq!(n("data") + n("header") + n("control") + n("damage"), n("bytes"), "{file}");
        let tree: u64 = du["tree"].as_array().unwrap().iter().map(|node| node["bytes"].as_u64().unwrap()).sum();
        assert_eq!(tree, n("data"), "{file}");
        assert_eq!(n("bytes"), std::fs::metadata(SHARED.join(file)).unwrap().len());
    }
}

#[test]
fn errors_are_json_on_stderr() {
    let cases = [
        ("logpose info nowhere.wpilog --json", 1, "not-found"),
        ("logpose info folder --json", 1, "directory"),
        ("logpose info empty.wpilog --json", 1, "empty"),
        ("logpose info notes.txt --format json", 1, "unknown-format"),
        ("logpose cat match.wpilog --json -y nothing", 1, "channel-not-found"),
        ("logpose cat match.wpilog --json -S soon", 2, "usage"),
        ("logpose list --json", 2, "usage"),
        ("logpose grep --json 'a(' match.wpilog", 2, "usage"),
        ("logpose find --json 'x <' match.wpilog", 2, "usage"),
        ("logpose diff --json match.wpilog nowhere.wpilog", 1, "not-found"),
    ];
    for (line, exit, word) in cases {
        let output = typed(&SHARED, line);
        let error: Value = serde_json::from_str(&stderr(&output))
            .unwrap_or_else(|error| panic!("{line}: {error}: {}", stderr(&output)));
        assert_eq!((code(&output), &error["error"]["code"]), (exit, &word.into()), "{line}");
        assert!(error["error"]["message"].is_string() && error["error"].get("at").is_some(), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
    }
}
