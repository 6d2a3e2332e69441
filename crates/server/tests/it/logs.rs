//! What is open: session, channels, events, and several logs on one clock.

use logpose::frc::Facts;
use logpose::{Align, Alignment, ClockMap, Log, Names, OpenOptions, Quiet, Timeline};
use logpose_core::Time;
use serde_json::{Value, json};

use crate::support::{FRC, demo, fixture, named, numbers, open, reference, serve, serve_all};

#[test]
fn every_dialect_has_its_session_channels_and_events() {
    let mut presets = Vec::new();
    for path in demo().iter().filter(|path| path.extension().is_none_or(|end| end != "dsevents")) {
        let log = open(path);
        let client = serve(&log);
        let session = client.got("/api/session");
        let told = &session["logs"][0];
        let (first, last) = log.robust_range().unwrap();
        assert_eq!(told["name"], path.file_name().unwrap().to_str().unwrap());
        assert_eq!((told["start"].as_f64(), told["end"].as_f64()), (Some(first.seconds()), Some(last.seconds())));
        assert_eq!((session["start"].as_f64(), session["end"].as_f64()), (Some(first.seconds()), Some(last.seconds())));
        assert_eq!(told["samples"].as_u64(), Some(log.index.samples()));
        assert_eq!((told["state"].as_str(), told["offset_ns"].as_str()), (Some("finished"), Some("0")));
        let wall = log.epoch_ns().map(|ns| Time::from_nanos(ns).seconds());
        assert_eq!(told["unix_offset"].as_f64(), wall);
        presets.push(told["preset"].as_str().unwrap().to_owned());

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
fn events_tell_what_the_library_finds() {
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
    // Both tell the same wall clock.
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
    // A match of a second has too few edges to tell; where it is refused, any map will do here.
    let clock = Alignment::by_enabled(&logs).map_or(ClockMap::shifted(7), |found| found.clocks()[1]);
    let client = serve_all(&[(open(&paths[0]), ClockMap::default()), (open(&paths[1]), clock)]);
    let (first, _) = logs[1].robust_range().unwrap();
    let told = client.got("/api/session");
    assert_eq!(told["logs"][1]["start"].as_f64(), Some(clock.at(first).seconds()));
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
