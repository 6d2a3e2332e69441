//! What is open: session, channels, events, and several logs on one clock.

use std::sync::Arc;

use logpose::frc::Facts;
use logpose::{Align, Alignment, ClockMap, Log, Names, OpenOptions, Quiet, Timeline};
use logpose_core::{Severity, Time};
use logpose_server::{Layouts, Options, Server, Session};
use serde_json::{Value, json};

use crate::support::{Client, FRC, demo, fixture, named, numbers, open, reference, serve, serve_all, session};

#[test]
fn every_dialect_has_its_session_channels_and_events() {
    let mut presets = Vec::new();
    for path in demo().iter().filter(|path| path.extension().is_none_or(|end| end != "dsevents")) {
        let log = open(path);
        let client = serve(&log);
        let session = client.got("/api/session");
        let entry = &session["logs"][0];
        let (first, last) = log.robust_range().unwrap();
        assert_eq!(entry["name"], path.file_name().unwrap().to_str().unwrap());
        assert_eq!((entry["start"].as_f64(), entry["end"].as_f64()), (Some(first.seconds()), Some(last.seconds())));
        assert_eq!((session["start"].as_f64(), session["end"].as_f64()), (Some(first.seconds()), Some(last.seconds())));
        assert_eq!(entry["samples"].as_u64(), Some(log.index.samples()));
        assert_eq!((entry["state"].as_str(), entry["offset_ns"].as_str()), (Some("finished"), Some("0")));
        let wall = log.epoch_ns().map(|ns| Time::from_nanos(ns).seconds());
        assert_eq!(entry["unix_offset"].as_f64(), wall);
        presets.push(entry["preset"].as_str().unwrap().to_owned());

        let channels = client.got("/api/logs/0/channels");
        let listed = channels["channels"].as_array().unwrap();
        assert_eq!(listed.len(), log.index.channels.len());
        for (found, listed) in log.index.channels.iter().zip(listed) {
            assert_eq!(listed["name"], *found.channel.name);
            assert_eq!(listed["samples"].as_u64(), Some(found.samples));
        }
        let events = client.got("/api/logs/0/events");
        let times: Vec<f64> =
            events["events"].as_array().unwrap().iter().map(|e| e["start"].as_f64().unwrap()).collect();
        assert!(times.is_sorted());
        let bands = events["bands"].as_array().unwrap();
        assert_eq!(bands.len(), log.modes().len());
        assert!(bands.windows(2).all(|two| two[0]["end"] == two[1]["start"]));
    }
    presets.sort_unstable();
    assert_eq!(presets, ["carla", "ds", "ds", "frc", "frc", "frc", "frc", "frc", "refloat"]);
}

/// The parts of a channel, flat.
fn fields(of: &Value, out: &mut Vec<String>) {
    for field in of["fields"].as_array().unwrap() {
        out.push(format!("{} {} {}", field["path"].as_str().unwrap(), field["kind"].as_str().unwrap(), field["unit"]));
        fields(field, out);
    }
}

#[test]
fn fields_are_those_of_structs_lists_and_json() {
    let log = open(&named(FRC));
    let channels = serve(&log).got("/api/logs/0/channels");
    let of = |name: &str| {
        let channel = &channels["channels"][log.channel(name).unwrap() as usize];
        let mut found = vec![channel["kind"].as_str().unwrap().to_owned()];
        fields(channel, &mut found);
        found
    };
    assert_eq!(
        of("NT:/Drive/Pose"),
        [
            "struct",
            ".translation struct null",
            ".translation.x number \"m\"",
            ".translation.y number \"m\"",
            ".rotation struct null",
            ".rotation.value number \"rad\"",
        ]
    );
    let modules = of("NT:/Drive/ModuleStates");
    assert_eq!(modules.len(), 1 + 4 * 4 + 1);
    assert_eq!((&*modules[1], &*modules[2]), ("[0] struct null", "[0].speed number \"m/s\""));
    assert_eq!(modules.last().unwrap(), ".length number null");
    assert_eq!(of("DS:enabled"), ["boolean"]);
    assert!(of("NTConnection").contains(&".connected boolean null".to_owned()));
    assert_eq!(of("DS:joystick0/axes")[..2], ["list".to_owned(), "[0] number null".to_owned()]);
}

#[test]
fn events_are_what_the_library_finds() {
    let of = |name: &str| {
        let log = open(&named(name));
        let events = serve(&log).got("/api/logs/0/events");
        let kinds: Vec<(String, f64)> = events["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| (e["kind"].as_str().unwrap().to_owned(), e["start"].as_f64().unwrap()))
            .collect();
        (log, kinds)
    };
    let (log, events) = of(FRC);
    for (start, _) in &Facts::of(&log).brownouts {
        assert!(events.contains(&("brownout".to_owned(), start.seconds())));
    }
    assert_eq!(events.iter().filter(|(kind, _)| kind == "mode").count(), log.modes().len());
    assert!(events.iter().any(|(kind, _)| kind == "warning"));
    let (log, events) = of("demo_junction.log");
    let collisions = numbers(&log, "/carla/events/collision", ".actor1");
    assert!(events.contains(&("collision".to_owned(), collisions[0].0)));
    let (_, events) = of("demo_nosedive.rfrec");
    assert!(events.iter().any(|(kind, _)| kind == "pushback") && events.iter().any(|(kind, _)| kind == "fault"));
    let (_, events) = of("demo_q12.dslog");
    assert!(events.iter().any(|(kind, _)| kind == "link"));
    let (_, events) = of("damaged.wpilog");
    assert!(events.iter().any(|(kind, _)| kind == "problem"));
}

#[test]
fn logs_on_one_clock_keep_their_nanoseconds() {
    let paths = [named(FRC), named("demo_q12.dslog")];
    let logs: Vec<Log> =
        paths.iter().map(|path| Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap()).collect();
    let shifts = Timeline::new(&logs, Vec::new(), Align::Auto, &Names::Auto).unwrap().shifts().to_vec();
    assert_ne!(shifts[1], 0);
    let logs: Vec<_> = paths.iter().zip(&shifts).map(|(path, ns)| (open(path), ClockMap::shifted(*ns))).collect();
    let client = serve_all(&logs);
    let session = client.got("/api/session");
    assert_eq!(session["logs"][1]["offset_ns"], shifts[1].to_string());
    // Both have the same wall clock.
    assert_eq!(session["logs"][0]["unix_offset"], session["logs"][1]["unix_offset"]);
    let channel = logs[1].0.channel("/ds/battery").unwrap();
    let query = json!({"start": 0.0, "end": 100.0, "width": 8192, "series": [{"log": 1, "channel": channel}]});
    let drawn = client.arrow("/api/pixels", &query);
    let own = numbers(&logs[1].0, "/ds/battery", "");
    assert!(drawn.about("series")[0]["raw"].as_bool().unwrap());
    for (t, (seconds, _)) in drawn.column("start").iter().zip(&own) {
        let ns = (t * 1e9).round() - shifts[1] as f64;
        assert_eq!(ns, (seconds * 1e9).round());
    }
}

#[test]
fn clocks_that_run_at_another_rate_are_followed() {
    let paths = [named(FRC), named("demo_q12.dslog")];
    let logs: Vec<Log> =
        paths.iter().map(|path| Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap()).collect();
    // A match of a second has too few edges to decide; where it is refused, any map will do here.
    let clock = Alignment::by_enabled(&logs).map_or(ClockMap::shifted(7), |found| found.clocks()[1]);
    let client = serve_all(&[(open(&paths[0]), ClockMap::default()), (open(&paths[1]), clock)]);
    let (first, _) = logs[1].robust_range().unwrap();
    let session = client.got("/api/session");
    assert_eq!(session["logs"][1]["start"].as_f64(), Some(clock.at(first).seconds()));
}

#[test]
fn an_aligned_log_has_its_times_on_the_shown_clock_and_its_quality() {
    let paths = [named(FRC), named("demo_q12.dslog")];
    let logs: Vec<Log> =
        paths.iter().map(|path| Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap()).collect();
    let found = Alignment::by_enabled(&logs).unwrap();
    let clocks = found.clocks();
    let mut session = session(&[(open(&paths[0]), clocks[0]), (open(&paths[1]), clocks[1])]);
    session.set_alignment(1, (&found.others[0]).into());
    let client = Client::new(Server::start(session, &Options::default()).unwrap());
    let session = client.got("/api/session");
    let at = Facts::of(&logs[1]).battery.as_ref().unwrap().at;
    assert!(clocks[1].at(at).since(at).abs() > 1_000_000_000, "the clocks are not the same");
    let battery = |log: usize| {
        let facts = session["logs"][log]["facts"].as_array().unwrap().iter();
        facts.clone().find(|fact| fact[0] == "Battery").unwrap()[1].as_str().unwrap().to_owned()
    };
    assert!(battery(1).ends_with(&format!("V at {:.3} s", clocks[1].at(at).seconds())), "{}", battery(1));
    assert!(session["logs"][0]["alignment"].is_null());
    let alignment = &session["logs"][1]["alignment"];
    assert_eq!(
        (&alignment["by"], &alignment["edges"]["matched"]),
        (&json!("enabled"), &json!(found.others[0].matched))
    );
    assert_eq!(alignment["edges"]["confidence_name"], found.others[0].confidence_name());
}

#[test]
fn layouts_are_kept_and_one_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut layouts = Layouts::new(Some(dir.path().join("layouts.json")));
    layouts.give("drive.json", br#"{"tabs": []}"#).unwrap();
    let mut session = Session::new();
    session.set_layouts(layouts);
    let client = Client::new(Server::start(session, &Options::default()).unwrap());
    let first = client.got("/api/layouts");
    assert_eq!(first["given"], json!({"name": "drive.json", "layout": {"tabs": []}}));
    assert_eq!((&first["kept"], &first["kinds"], &first["named"]), (&json!(true), &json!({}), &json!([])));
    let kept = client.json("/api/layouts", &json!({"name": "Pit", "layout": {"tabs": [1]}}));
    assert_eq!(kept["named"], json!([{"name": "Pit", "layout": {"tabs": [1]}}]));
    client.json("/api/layouts", &json!({"kind": "frc", "layout": {"tabs": [2]}}));
    let again = client.got("/api/layouts");
    assert_eq!((&again["kinds"]["frc"], &again["named"][0]["name"]), (&json!({"tabs": [2]}), &json!("Pit")));
    client.json("/api/layouts", &json!({"name": "Pit"}));
    assert_eq!(client.got("/api/layouts")["named"], json!([]));
    let refused = client.post_text("/api/layouts", r#"{"layout": {}}"#).refusal();
    assert_eq!(refused, (400, "bad-request".to_owned()));
    // Without a file nothing is kept, and the page is informed.
    let client = Client::new(Server::start(Session::new(), &Options::default()).unwrap());
    assert_eq!(client.got("/api/layouts")["kept"], json!(false));
}

#[test]
fn wall_clock_logs_are_counted_from_an_origin() {
    let text = "time,channel,value\n1774102953.123456789,a,1\n1774102953.223456789,a,2\n";
    let log =
        Log::from_bytes("wall.csv", text.into(), &OpenOptions { from: Some("csv".into()), ..OpenOptions::default() });
    let log = std::sync::Arc::new(log.unwrap());
    let client = serve(&log);
    let session = client.got("/api/session");
    let origin: i64 = session["origin_ns"].as_str().unwrap().parse().unwrap();
    let held = client.json("/api/values", &json!({"time": 0.15, "series": [reference(&log, "a", "")]}));
    let t = held["values"][0]["time"].as_f64().unwrap();
    assert_eq!(Time::from_seconds(t).unwrap().plus(origin), log.index.channels[0].first);
    assert!(t < 1.0);
}

#[test]
fn a_log_without_samples_has_no_times() {
    let log = open(&fixture("dslog/valid/v4-empty.dslog"));
    let client = serve(&log);
    let session = client.got("/api/session");
    assert_eq!((&session["start"], &session["logs"][0]["end"]), (&Value::Null, &Value::Null));
    let events = client.got("/api/logs/0/events");
    assert_eq!(events["events"], json!([]));
}

#[test]
fn stragglers_are_named_with_the_times_that_the_page_shows() {
    let samples = (0..200).map(|n| format!("{}.5,/x,{n}\n", n + 10)).collect::<String>();
    let csv = format!("time,channel,value\n-33225,/x,1\n{samples}");
    let log = Arc::new(Log::from_bytes("x.csv", csv.into_bytes(), &OpenOptions::default()).unwrap());
    let client = serve_all(&[(log, ClockMap::shifted(1_000_000_000))]);
    let session = client.got("/api/session");
    assert_eq!((&session["start"], &session["end"]), (&json!(11.5), &json!(210.5)));
    let text = "1 sample at -9:13:44, written before the clock was set";
    let expected = json!([{"start": -33224.0, "end": -33224.0, "samples": 1, "text": text}]);
    assert_eq!(session["logs"][0]["stragglers"], expected);
}

#[test]
fn a_damaged_log_is_shown_as_far_as_it_can_be_read_and_repaired() {
    let path = named("damaged.wpilog");
    let log = Arc::new(Log::open_recovered(&path, &OpenOptions::default(), &Quiet).unwrap());
    assert!(log.index.samples() > open(&path).index.samples(), "what lies behind the damage is there too");
    let client = serve(&log);
    let about = client.got("/api/session")["logs"][0].clone();
    let lost = log.problems.lost_bytes();
    assert_eq!(about["damage"]["bytes"], json!(lost));
    let share = about["damage"]["share"].as_f64().unwrap();
    assert!((share - lost as f64 / log.bytes().len() as f64).abs() < 1e-12 && share > 0.0);
    assert!(about["problems"].as_array().unwrap().iter().any(|found| found["length"].as_u64() > Some(0)));
    let answer = client.request("POST", "/api/logs/0/repaired", &["Host: {host}"], b"");
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"damaged.recovered.wpilog\""));
    let whole = Log::from_bytes("x.wpilog", answer.body, &OpenOptions::default()).unwrap();
    assert_eq!(whole.index.samples(), log.index.samples());
    assert!(whole.problems.worst() < Some(Severity::Damage));
    assert_eq!(client.request("POST", "/api/logs/7/repaired", &["Host: {host}"], b"").status, 404);
}

#[test]
fn every_damaged_file_opens_for_what_is_left_or_is_refused() {
    for dialect in ["wpilog", "rlog", "carla", "dslog", "refloat"] {
        for entry in std::fs::read_dir(fixture(dialect).join("corrupt")).unwrap() {
            let path = entry.unwrap().path();
            let plain = Log::open_with(&path, &OpenOptions::default(), &Quiet);
            match Log::open_recovered(&path, &OpenOptions::default(), &Quiet) {
                Ok(log) => {
                    let known = plain.map_or(0, |plain| plain.index.samples());
                    assert!(log.index.samples() >= known, "{path:?}");
                    let repaired =
                        serve(&Arc::new(log)).request("POST", "/api/logs/0/repaired", &["Host: {host}"], b"");
                    assert!(matches!(repaired.status, 200 | 422), "{path:?}: {}", repaired.status);
                }
                Err(error) => assert!(plain.is_err() && !error.to_string().is_empty(), "{path:?}"),
            }
        }
    }
}
