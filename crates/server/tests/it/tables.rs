//! Rows of text: tables and consoles.

use serde_json::{Value, json};

use crate::support::{FRC, named, numbers, open, reference, serve};

#[test]
fn tables_go_both_ways_over_the_same_rows() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let series = [
        reference(&log, "/Power/BatteryVoltage", ""),
        reference(&log, "DS:enabled", ""),
        reference(&log, "NT:/Drive/Pose", ".rotation"),
    ];
    let mut ahead: Vec<Value> = Vec::new();
    let mut from = -10.0;
    loop {
        let page = client.json("/api/table", &json!({"series": series, "from": from, "limit": 333}));
        ahead.extend(page["rows"].as_array().unwrap().iter().cloned());
        from = ahead.last().unwrap()["time"].as_f64().unwrap() + 1e-9;
        if page["more"] == false {
            break;
        }
    }
    let mut back: Vec<Value> = Vec::new();
    let mut from = 1e6;
    loop {
        let page = client.json("/api/table", &json!({"series": series, "from": from, "limit": 100, "backward": true}));
        back.splice(0..0, page["rows"].as_array().unwrap().iter().cloned());
        from = back[0]["time"].as_f64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(ahead.len(), back.len());
    assert!(ahead == back);
    let volts = numbers(&log, "/Power/BatteryVoltage", "");
    let fresh: Vec<&Value> = ahead.iter().filter(|row| row["fresh"][0] == true).collect();
    assert_eq!(fresh.len(), volts.len());
    for (row, (t, x)) in fresh.iter().zip(&volts) {
        assert_eq!((row["time"].as_f64(), row["cells"][0].as_str()), (Some(*t), Some(&*x.to_string())));
    }
    // What is not fresh still holds.
    let first = ahead.iter().position(|row| row["fresh"][1] == true).unwrap();
    assert!(ahead[..first].iter().all(|row| row["cells"][1].is_null()));
    assert!(ahead[first..].iter().all(|row| row["cells"][1].is_string()));
}

#[test]
fn consoles_have_levels_and_filters() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let rows = |query: Value| client.json("/api/console", &query)["rows"].as_array().unwrap().clone();
    let texts = |query: Value| -> Vec<String> {
        rows(query).iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
    };
    let all = texts(json!({"limit": 100}));
    // Every line once, though two channels have each.
    let mut said: Vec<String> =
        logpose::frc::console(&log).into_iter().map(|line| line.text.trim().to_owned()).collect();
    said.dedup();
    assert_eq!(all, said);
    assert_eq!(texts(json!({"limit": 100, "include": "TELEOP"})), ["Teleop enabled"]);
    assert_eq!(texts(json!({"limit": 100, "include": "/^w.rning at/"})), ["Warning at Intake.java:88: piece lost"]);
    assert_eq!(texts(json!({"limit": 100, "levels": ["warning"]})), ["Warning at Intake.java:88: piece lost"]);
    assert!(!texts(json!({"limit": 100, "exclude": "auto"})).iter().any(|text| text.contains("Auto")));
    assert_eq!(texts(json!({"limit": 100, "levels": []})), Vec::<String>::new());
    let last = client.json("/api/console", &json!({"limit": 1, "backward": true}));
    assert_eq!((last["rows"][0]["text"].as_str(), &last["more"]), (said.last().map(String::as_str), &json!(true)));
    let first = client.json("/api/console", &json!({"limit": 1, "from": 0, "end": 2}));
    assert_eq!(first["rows"].as_array().unwrap().len(), 1);
    // Any channel can be read as one.
    let own = rows(json!({"limit": 3, "series": [reference(&log, "DS:enabled", "")]}));
    assert_eq!(
        (&own[0]["text"], &own[0]["source"], &own[0]["level"]),
        (&json!("false"), &json!("DS:enabled"), &json!("info"))
    );
}

#[test]
fn a_station_s_errors_are_messages() {
    let log = open(&named("demo_q12.dslog"));
    let answer = serve(&log).json("/api/console", &json!({"limit": 100, "levels": ["warning", "error"]}));
    let errors = logpose::frc::errors(&log);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), errors.len());
    for (row, error) in rows.iter().zip(&errors) {
        assert_eq!((row["time"].as_f64(), row["level"].as_str()), (Some(error.time.seconds()), Some(&*error.severity)));
        assert!(row["text"].as_str().unwrap().starts_with(&error.details));
    }
}
