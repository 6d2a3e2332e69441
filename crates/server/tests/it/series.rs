//! What is drawn: pixels, states, values and rows, against columns read in another way.

use serde_json::{Value, json};

use crate::support::{Client, FRC, demo, named, numbers, open, reference, serve};

/// The buckets of one series: t, u, first, min, max, last.
fn drawn(client: &Client, query: &Value) -> (Vec<[f64; 6]>, Value) {
    let batch = client.arrow("/api/pixels", query);
    assert!(batch.series().iter().all(|series| *series == 0));
    let columns = ["start", "end", "first", "min", "max", "last"].map(|name| batch.column(name));
    let rows = (0..columns[0].len()).map(|row| columns.each_ref().map(|column| column[row]));
    (rows.collect(), batch.about("series")[0].clone())
}

/// One numeric channel of each dialect.
const CHANNELS: [(&str, &str, &str); 6] = [
    (FRC, "/Power/BatteryVoltage", ""),
    (FRC, "NT:/Drive/Pose", ".translation.x"),
    ("demo_q12.rlog", "/Drive/Module0/TurnPositionRad", ""),
    ("demo_q12.dslog", "/ds/battery", ""),
    ("demo_junction.log", "/carla/actors/10/transform", ".yaw"),
    ("demo_nosedive.rfrec", "/refloat/pitch", ""),
];

#[test]
fn samples_are_drawn_as_they_are_where_there_are_few() {
    for (file, name, path) in CHANNELS {
        let log = open(&named(file));
        let client = serve(&log);
        let all = numbers(&log, name, path);
        let (start, end) = (all[10].0, all[30].0);
        let query = json!({"start": start, "end": end, "width": 100, "series": [reference(&log, name, path)]});
        let (rows, about) = drawn(&client, &query);
        assert_eq!((about["raw"].as_bool(), about["samples"].as_u64()), (Some(true), Some(21)), "{file}");
        // With a neighbour on each side.
        let expected: Vec<[f64; 6]> = all[9..=31].iter().map(|(t, x)| [*t, *t, *x, *x, *x, *x]).collect();
        assert_eq!(rows, expected, "{file} {name}");
        let low = all.iter().map(|(_, x)| *x).fold(f64::INFINITY, f64::min);
        assert_eq!(about["series_min"].as_f64(), Some(low));
    }
}

#[test]
fn many_samples_become_buckets_of_the_same_extremes() {
    for (file, name, path) in CHANNELS {
        let log = open(&named(file));
        let client = serve(&log);
        let all = numbers(&log, name, path);
        for width in [1, 7, 50, 200] {
            let query = json!({"start": -1e9, "end": 1e9, "width": width, "series": [reference(&log, name, path)]});
            let (rows, about) = drawn(&client, &query);
            assert!(rows.len() <= 2 * width + 3, "{} buckets on {width} pixels", rows.len());
            assert_eq!(about["samples"].as_u64(), Some(all.len() as u64));
            let (mut next, mut count) = (all.iter().peekable(), 0);
            for [t, u, first, min, max, last] in &rows {
                let within: Vec<f64> =
                    std::iter::from_fn(|| next.next_if(|(at, _)| at <= u)).map(|(_, x)| *x).collect();
                count += within.len();
                assert!(t <= u && !within.is_empty());
                let lowest = within.iter().copied().fold(f64::INFINITY, f64::min);
                let most = within.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert_eq!((*first, *last), (within[0], within[within.len() - 1]));
                assert_eq!((*min, *max), (lowest, most), "{file} {name} {width}");
            }
            assert_eq!(count, all.len());
        }
    }
}

#[test]
fn several_series_stand_one_behind_the_other() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let series = [
        reference(&log, "/Power/BatteryVoltage", ""),
        reference(&log, "NT:/FMSInfo/EventName", ""),
        reference(&log, "DS:enabled", ""),
        reference(&log, "DS:joystick0/axes", "[1]"),
        reference(&log, "DS:joystick0/axes", ".length"),
    ];
    let batch = client.arrow("/api/pixels", &json!({"start": 2.0, "end": 3.0, "width": 500, "series": series}));
    assert!(batch.series().is_sorted());
    let about = batch.about("series");
    assert_eq!(about.as_array().unwrap().len(), 5);
    // A text has no numbers.
    assert_eq!((&about[1]["samples"], &about[1]["series_min"]), (&json!(0), &Value::Null));
    assert!(!batch.series().contains(&1));
    let ons: Vec<f64> =
        batch.series().iter().zip(batch.column("last")).filter(|(s, _)| **s == 2).map(|(_, x)| x).collect();
    assert!(!ons.is_empty() && ons.iter().all(|on| *on == 0.0 || *on == 1.0));
    assert_eq!(about[4]["series_max"].as_f64(), Some(6.0));
}

#[test]
fn states_are_runs_of_labels() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let (first, last) = log.robust_range().map(|(a, b)| (a.seconds(), b.seconds())).unwrap();
    let series = [reference(&log, "DS:enabled", ""), reference(&log, "/Shooter/State", "")];
    let query = json!({"start": first, "end": last, "width": 4000, "series": series});
    let answer = client.json("/api/states", &query);
    let changes = {
        let mut all = numbers(&log, "DS:enabled", "");
        all.dedup_by_key(|(_, x)| *x);
        all
    };
    let enabled = &answer["series"][0];
    let runs = enabled["runs"].as_array().unwrap();
    assert_eq!(runs.len(), changes.len());
    for (run, (t, x)) in runs.iter().zip(&changes) {
        let label =
            enabled["labels"].as_array().unwrap()[usize::try_from(run[2].as_u64().unwrap()).unwrap()].as_str().unwrap();
        assert_eq!((run[0].as_f64(), label), (Some(*t), if *x == 1.0 { "true" } else { "false" }));
    }
    assert_eq!(runs.last().unwrap()[1].as_f64(), Some(last));
    assert!(runs.windows(2).all(|two| two[0][1] == two[1][0]));
    // On one pixel, all is a mixture.
    let coarse = client.json("/api/states", &json!({"start": first, "end": last, "width": 1, "series": [series[0]]}));
    assert_eq!(coarse["series"][0]["runs"].as_array().unwrap().len(), 1);
    assert_eq!(coarse["series"][0]["runs"][0][2], -1);
    // Nothing before the first sample or behind the log.
    let before = client.json("/api/states", &json!({"start": -9, "end": 0.5, "width": 10, "series": series}));
    assert_eq!(before["series"][0], json!({"labels": [], "runs": []}));
}

#[test]
fn enums_have_their_names() {
    let log = open(&named("demo_junction.log"));
    let client = serve(&log);
    let query =
        json!({"start": 0, "end": 30, "width": 900, "series": [reference(&log, "/carla/lights/2/state", ".state")]});
    let answer = client.json("/api/states", &query);
    let labels = answer["series"][0]["labels"].as_array().unwrap();
    assert!(labels.iter().all(|label| ["red", "yellow", "green", "off"].contains(&label.as_str().unwrap())));
    assert!(!labels.is_empty());
}

#[test]
fn values_are_those_that_hold() {
    for path in demo().iter().filter(|path| path.extension().is_none_or(|end| end != "dsevents")) {
        let log = open(path);
        let client = serve(&log);
        let (first, last) = log.robust_range().unwrap();
        let at = first.plus(last.since(first) / 3);
        let ids: Vec<u32> = (0..).take(log.index.channels.len()).collect();
        let values: Vec<Value> = ids.iter().map(|id| json!({"log": 0, "channel": id})).collect();
        let answer = client.json("/api/values", &json!({"time": at.seconds(), "series": values}));
        let columns = log.columns(&ids).unwrap();
        for (column, held) in columns.columns.iter().zip(answer["values"].as_array().unwrap()) {
            let mut last = None;
            logpose::in_time_order(&columns, column, |time, value| {
                if time <= at {
                    let mut json = Vec::new();
                    log.schemas().write_json(&column.channel, value, &mut json);
                    let text = log.schemas().show(&column.channel, value).to_string();
                    last = Some((time.seconds(), serde_json::from_slice::<Value>(&json).unwrap(), text));
                }
            });
            match last {
                None => assert_eq!(*held, Value::Null, "{}", column.channel.name),
                Some((t, value, text)) => {
                    assert_eq!((held["time"].as_f64(), &held["value"]), (Some(t), &value), "{}", column.channel.name);
                    let shown = held["text"].as_str().unwrap();
                    assert!(shown == text || text.chars().count() > 1000 && shown.chars().count() == 1001);
                }
            }
        }
    }
}

#[test]
fn parts_of_values_have_paths() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let part = |name: &str, path: &str| {
        let answer = client.json("/api/values", &json!({"time": 8, "series": [reference(&log, name, path)]}));
        answer["values"][0].clone()
    };
    assert!(part("NT:/Drive/Pose", ".translation")["value"]["x"].is_f64());
    assert!(part("NT:/Drive/Pose", ".translation")["text"].as_str().unwrap().starts_with("{x: "));
    assert_eq!(part("NT:/Drive/ModuleStates", ".length")["value"], 4);
    assert_eq!(part("NT:/Drive/ModuleStates", "[1]")["value"].as_object().unwrap().len(), 2);
    assert_eq!(part("NT:/Drive/ModuleStates", "[9]"), Value::Null);
    assert_eq!(part("NT:/Drive/Pose", ".nothing"), Value::Null);
    assert_eq!(part("NTConnection", ".connected")["text"], "true");
}

#[test]
fn rows_hold_what_others_held() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let (voltage, enabled) = ("/Power/BatteryVoltage", "DS:enabled");
    let (volts, on) = (numbers(&log, voltage, ""), numbers(&log, enabled, ""));
    let series = [reference(&log, voltage, ""), reference(&log, enabled, ""), reference(&log, "messages", "")];
    let batch = client.arrow("/api/rows", &json!({"start": 0, "end": 100, "points": 100000, "series": series}));
    assert_eq!(batch.about("rows"), json!({"samples": volts.len(), "downsampled": false}));
    assert_eq!(batch.column("time"), volts.iter().map(|(t, _)| *t).collect::<Vec<_>>());
    assert_eq!(batch.column("c0"), volts.iter().map(|(_, x)| *x).collect::<Vec<_>>());
    let held: Vec<Option<f64>> =
        volts.iter().map(|(t, _)| on.iter().rev().find(|(at, _)| at <= t).map(|(_, x)| *x)).collect();
    assert_eq!(batch.options("c1"), held);

    // Thinned: the first of each of some stretches, and what others held then.
    let batch = client.arrow("/api/rows", &json!({"start": -1e6, "end": 1e6, "points": 10, "series": series}));
    assert_eq!(batch.about("rows"), json!({"samples": volts.len(), "downsampled": true}));
    let times = batch.column("time");
    assert!(times.len() <= 10 && times.len() >= 9 && times.is_sorted());
    assert_eq!(times[0], volts[0].0);
    for (t, (c0, c1)) in times.iter().zip(batch.column("c0").iter().zip(batch.options("c1"))) {
        assert!(volts.contains(&(*t, *c0)));
        assert_eq!(c1, on.iter().rev().find(|(at, _)| at <= t).map(|(_, x)| *x));
    }

    // The other way round: few rows, and one of many samples looked up for each.
    let series = [reference(&log, enabled, ""), reference(&log, voltage, "")];
    let batch = client.arrow("/api/rows", &json!({"start": 0, "end": 100, "points": 100, "series": series}));
    for (t, c1) in batch.column("time").iter().zip(batch.options("c1")) {
        assert_eq!(c1, volts.iter().rev().find(|(at, _)| at <= t).map(|(_, x)| *x));
    }
}
