//! Live sources, from their samples to what is drawn of them.

use logpose_core::Value;
use logpose_live::ds::{RobotRunner, RobotSetup};
use logpose_live::refloat::{BoardPlace, BoardRunner};
use logpose_live::{Join, Live, Source};
use logpose_sim::board::{BoardOptions, BoardSession, LineOptions};
use serde_json::{Value as Json, json};

use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::live_kit::{Page, Robot, Viewer, batch, drawn, fed, ms, until};

#[test]
fn samples_of_a_robot_are_drawn_held_listed_and_sent() {
    // NetworkTables has its names behind a prefix.
    for (scheme, sent, heard) in [("rlog", "", ""), ("nt4", "/AdvantageKit", "NT:/AdvantageKit")] {
        let robot = Robot::start(&format!("{scheme}://127.0.0.1:0"));
        let names = ["/Speed", "/DriverStation/Enabled", "/RealOutputs/Console"].map(|name| format!("{sent}{name}"));
        let channels = [(0, &*names[0], "double"), (1, &*names[1], "boolean"), (2, &*names[2], "string")];
        let first = [
            (0, ms(1000), Value::Double(0.0)),
            (1, ms(1000), Value::Boolean(false)),
            (2, ms(1000), Value::String(b"hello")),
        ];
        robot.send(batch(&channels, &first));
        let viewer = Viewer::start(&[&robot.address]);
        let speed = json!({"log": 0, "channel": viewer.channel(0, &format!("{heard}/Speed"))});
        let mut page = Page::open(&viewer.client);
        page.subscribe(std::slice::from_ref(&speed), 50);
        // The latest values come first, then new ones.
        let mut last = page.frame().column("last");
        for n in 1..=300_i32 {
            let time = ms(1000 + i64::from(n) * 20);
            robot.send(batch(&[], &[(0, time, Value::Double(f64::from(n)))]));
        }
        robot.send(batch(&[], &[(1, ms(7020), Value::Boolean(true)), (2, ms(7020), Value::String(b"a Warning: hot"))]));
        robot.send(batch(&[], &[(0, ms(8000), Value::Double(1e3))]));
        let all = until("all has come", || {
            Some(drawn(&viewer.client, &speed, -1e9, 1e9))
                .filter(|all| all.last().is_some_and(|(_, last)| *last == 1e3))
        });
        // NetworkTables has the value that held when the client came; what follows is all there.
        let values: Vec<f64> = all.iter().map(|(_, value)| *value).collect();
        assert!(values.ends_with(&(1..=300).map(f64::from).chain([1e3]).collect::<Vec<_>>()), "{scheme}: {values:?}");
        let (times, _): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
        assert!(times.is_sorted(), "{scheme}: {times:?}");
        // NetworkTables has the times at which values were published.
        assert!(scheme == "nt4" || times.ends_with(&[6.98, 7.0, 8.0]), "{scheme}: {times:?}");
        let place = times.len() - 150;
        let held = viewer.client.json("/api/values", &json!({"time": times[place], "series": [speed]}));
        assert!(held["values"][0]["value"].as_f64() >= Some(values[place]), "{scheme}: {held}");
        until("both messages are said", || {
            let said = viewer.client.json("/api/console", &json!({"limit": 10}));
            let rows = said["rows"].as_array().unwrap();
            let texts: Vec<&str> = rows.iter().filter_map(|row| row["text"].as_str()).collect();
            (texts == ["hello", "a Warning: hot"]).then_some(())
        });
        until("modes are known", || {
            let events = viewer.client.got("/api/logs/0/events");
            let bands = events["events"].as_array().unwrap().iter().filter(|event| event["kind"] == "mode");
            let modes: Vec<&str> = bands.filter_map(|event| event["text"].as_str()).collect();
            modes.ends_with(&["Disabled", "Teleoperated"]).then_some(())
        });
        while last.last() != Some(&1e3) {
            let frame = page.frame();
            assert_eq!(frame.about("references"), json!([speed]));
            last.extend(frame.column("last"));
        }
        assert_eq!(last, values, "{scheme}");
        // The state of the source is sent now and then, not with each sample.
        until("it is live", || (viewer.state(0) == "live").then_some(()));
    }
}

#[test]
fn a_robot_that_goes_away_is_waited_for_and_the_log_goes_on() {
    let robot = Robot::start("rlog://127.0.0.1:0");
    let address = robot.address.clone();
    robot.send(batch(&[(0, "/A", "int64")], &[(0, ms(60_000), Value::Int64(1))]));
    let viewer = Viewer::start(&[&address]);
    let a = json!({"log": 0, "channel": viewer.channel(0, "/A")});
    until("it is there", || (viewer.state(0) == "live").then_some(()));
    let mut page = Page::open(&viewer.client);
    robot.stop();
    let trouble = until("it is missed", || {
        let log = page.tick()["logs"][0].clone();
        (log["state"] == "waiting").then(|| log["problem"].as_str().unwrap().to_owned())
    });
    assert!(!trouble.is_empty());
    // Switched off and on: it counts from zero again.
    let robot = Robot::start(&address);
    let both = [(0, ms(20), Value::Int64(9)), (1, ms(20), Value::Int64(2))];
    robot.send(batch(&[(0, "/B", "int64"), (1, "/A", "int64")], &both));
    let all = until("it is back", || {
        Some(drawn(&viewer.client, &a, -1e6, 1e6)).filter(|all| all.iter().any(|(_, value)| *value == 2.0))
    });
    assert!(all.is_sorted_by(|a, b| a.0 <= b.0) && all[0] == (60.0, 1.0), "{all:?}");
    // While it was away nobody knew.
    let (lost, _) = *all.iter().find(|(_, value)| value.is_nan()).expect("a gap");
    let held =
        |time: f64| viewer.client.json("/api/values", &json!({"time": time, "series": [a]}))["values"][0].clone();
    assert_eq!((held(lost), &held(all[0].0)["value"]), (Json::Null, &json!(1)));
    assert_eq!(held(all.last().unwrap().0)["value"], json!(2));
    until("it is live", || (viewer.state(0) == "live").then_some(()));
    assert_eq!(viewer.channel(0, "/B"), 1, "channels keep their numbers");
}

#[test]
fn a_million_samples_take_little_memory_and_all_of_them_are_there() {
    let (log, mut output, client) = fed();
    let channels: Vec<(u32, String)> = (0..10).map(|id| (id, format!("/C{id}"))).collect();
    let declared: Vec<(u32, &str, &str)> = channels.iter().map(|(id, name)| (*id, &**name, "double")).collect();
    output.take(&batch(&declared, &[])).unwrap();
    for n in 0..1000_i32 {
        let at = |i: i32| ms(i64::from(n * 100 + i));
        let samples: Vec<_> =
            (0..100).flat_map(|i| (0..10).map(move |id| (id, at(i), Value::Double(f64::from(n * 100 + i))))).collect();
        output.take(&batch(&[], &samples)).unwrap();
    }
    let (memory, file) = log.size();
    assert!(memory < 1 << 20 && file > 15 << 20, "{memory} {file}");
    let seven = json!({"log": 0, "channel": 7});
    // From the start, from the middle, and from afar.
    assert_eq!(drawn(&client, &seven, 0.0, 0.003), [0.0, 1.0, 2.0, 3.0, 4.0].map(|n| (n / 1e3, n)));
    let middle = drawn(&client, &seven, 50.0, 50.5);
    assert_eq!((middle.len(), middle[0]), (503, (49.999, 49_999.0)));
    let afar = client.arrow("/api/pixels", &json!({"start": 0.0, "end": 100.0, "width": 500, "series": [seven]}));
    let about = &afar.about("series")[0];
    assert_eq!(
        (&about["samples"], &about["raw"], &about["series_max"]),
        (&json!(100_000), &json!(false), &json!(99_999.0))
    );
    assert!((400..=1003).contains(&afar.column("start").len()), "{}", afar.column("start").len());
    assert_eq!(afar.column("last").last(), Some(&99_999.0));
    let held = client.json("/api/values", &json!({"time": 12.3456, "series": [seven]}));
    assert_eq!(held["values"][0]["value"], 12_345.0);
    let stats = client.json("/api/stats", &json!({"start": 0.0, "end": 100.0, "bins": 10, "series": [seven]}));
    assert_eq!(stats["series"].as_array().map_or(&stats[0], |all| &all[0])["count"], 100_000, "{stats}");
    // What comes then is in the picture of before.
    output.take(&batch(&[], &[(7, ms(100_000), Value::Double(-5.0))])).unwrap();
    let query = json!({"start": 0.0, "end": 101.0, "width": 500, "series": [seven]});
    let later = client.arrow("/api/pixels", &query);
    assert_eq!((&later.about("series")[0]["series_min"], later.column("last").last()), (&json!(-5.0), Some(&-5.0)));
}

#[test]
fn what_a_robot_said_does_not_hold_while_its_station_has_lost_it() {
    let (_, mut output, client) = fed();
    let channels = [
        (0, "/ds/connected", "boolean"),
        (1, "/ds/battery", "double"),
        (2, "/ds/status/brownout", "boolean"),
        (3, "/ds/control/enabled", "boolean"),
    ];
    let (yes, no) = (Value::Boolean(true), Value::Boolean(false));
    let said = [
        (0, ms(0), yes),
        (1, ms(0), Value::Double(12.0)),
        (2, ms(0), no),
        (3, ms(0), yes),
        (1, ms(20), Value::Double(12.5)),
        (0, ms(40), no),
        (0, ms(100), yes),
        (1, ms(120), Value::Double(11.0)),
    ];
    output.take(&batch(&channels, &said)).unwrap();
    let series = |channel: u32| json!({"log": 0, "channel": channel});
    let shown = drawn(&client, &series(1), 0.0, 0.2);
    let known: Vec<(f64, Option<f64>)> =
        shown.iter().map(|(time, value)| (*time, Some(*value).filter(|value| !value.is_nan()))).collect();
    assert_eq!(known, [(0.0, Some(12.0)), (0.02, Some(12.5)), (0.04, None), (0.12, Some(11.0))]);
    let all = json!([series(1), series(2), series(3)]);
    let held = |time: f64| {
        let values = client.json("/api/values", &json!({"time": time, "series": all}));
        values["values"].as_array().unwrap().iter().map(|held| held["value"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(held(0.03), [json!(12.5), json!(false), json!(true)]);
    assert_eq!(held(0.05), [Json::Null, Json::Null, json!(true)], "the station still says what it asks for");
    // A state is said when it changes, so it holds again.
    assert_eq!(held(0.11), [Json::Null, json!(false), json!(true)]);
    assert_eq!(held(0.12)[0], json!(11.0));
    let query = json!({"start": 0, "end": 0.12, "width": 120, "series": [series(2)]});
    let runs = client.json("/api/states", &query)["series"][0]["runs"].clone();
    assert_eq!(runs, json!([[0.0, 0.04, 0], [0.1, 0.12, 0]]));
    // Nor do tables and series beside each other hold what nobody knows.
    let both = json!([series(0), series(1), series(2)]);
    let cells = |query: &Json| {
        let table = client.json("/api/table", query);
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| (row["time"].as_f64().unwrap(), row["cells"].clone())).collect::<Vec<_>>()
    };
    let forward = cells(&json!({"series": both, "from": 0, "limit": 10}));
    assert_eq!(
        forward,
        [
            (0.0, json!(["true", "12.0", "false"])),
            (0.02, json!(["true", "12.5", "false"])),
            (0.04, json!(["false", null, null])),
            (0.1, json!(["true", null, "false"])),
            (0.12, json!(["true", "11.0", "false"])),
        ]
    );
    // From within the gap on, what came before it is hidden too.
    assert_eq!(cells(&json!({"series": both, "from": 0.05, "limit": 10})), forward[3..]);
    assert_eq!(cells(&json!({"series": both, "from": 0.05, "limit": 1, "backward": true})), forward[2..3]);
    let rows =
        client.arrow("/api/rows", &json!({"start": 0, "end": 1, "points": 10, "series": [series(0), series(1)]}));
    let known: Vec<Option<f64>> = rows.options("c1");
    assert_eq!(known, [Some(12.0), None, None]);
}

#[test]
fn events_are_reported_while_they_happen() {
    let (_, mut output, client) = fed();
    let channels = [
        (0, "/refloat/adjustment", "string"),
        (1, "/refloat/running", "boolean"),
        (2, "/refloat/stop_condition", "string"),
        (3, "NT:/messages", "string"),
        (4, "NT:/console", "string"),
        (5, "/ds/errors", "json"),
    ];
    output.take(&batch(&channels, &[(1, ms(0), Value::Boolean(false)), (0, ms(0), Value::String(b"none"))])).unwrap();
    let mut page = Page::open(&client);
    let before = page.tick()["logs"][0]["events_revision"].as_u64().unwrap();
    let warning = Value::String(b"Warning: hot\nvery");
    let error = Value::String(br#"{"severity":"error","details":"no camera","location":"Camera.java:7"}"#);
    let happened = [
        (1, ms(1000), Value::Boolean(true)),
        (0, ms(1000), Value::String(b"centering")),
        (0, ms(1500), Value::String(b"none")),
        (0, ms(3000), Value::String(b"duty pushback")),
        (0, ms(3400), Value::String(b"none")),
        // Nobody feels that.
        (0, ms(3500), Value::String(b"duty pushback")),
        (3, ms(3600), warning),
        (4, ms(3601), warning),
        (4, ms(3700), Value::String(b"all is well")),
        (5, ms(3800), error),
        (0, ms(4000), Value::String(b"low voltage")),
        (0, ms(5000), Value::String(b"none")),
        (1, ms(5000), Value::Boolean(false)),
        (2, ms(5000), Value::String(b"pitch")),
    ];
    output.take(&batch(&[], &happened)).unwrap();
    until("something happened", || (page.tick()["logs"][0]["events_revision"].as_u64() > Some(before)).then_some(()));
    let events = client.got("/api/logs/0/events");
    let events: Vec<(f64, Option<f64>, &str, &str, &str)> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            let text = |key: &str| event[key].as_str().unwrap();
            (event["start"].as_f64().unwrap(), event["end"].as_f64(), text("kind"), text("level"), text("text"))
        })
        .collect();
    let expected = [
        (1.0, Some(5.0), "mode", "info", "The board is engaged"),
        (1.0, Some(1.5), "pushback", "info", "The board centers itself after engaging"),
        (3.0, Some(4.0), "pushback", "warning", "Duty pushback: the motor is close to its top speed"),
        (3.6, None, "warning", "warning", "Warning: hot"),
        (3.8, None, "error", "error", "no camera (Camera.java:7)"),
        (4.0, Some(5.0), "pushback", "warning", "Low voltage pushback"),
        (5.0, None, "fault", "warning", "The board stopped: pitch too far"),
    ];
    assert_eq!(events, expected);
}

#[test]
fn who_complains_without_end_is_news_but_until_no_more_is_kept() {
    let (_, mut output, client) = fed();
    output.take(&batch(&[(0, "messages", "string"), (1, "/ds/brownout", "boolean")], &[])).unwrap();
    let mut complain = |from: i64, to: i64| {
        let texts: Vec<String> = (from..to).map(|n| format!("Warning: {n}")).collect();
        let samples: Vec<_> = (from..to)
            .zip(&texts)
            .flat_map(|(n, text)| [(0, ms(n), Value::String(text.as_bytes())), (1, ms(n), Value::Boolean(true))])
            .collect();
        output.take(&batch(&[], &samples)).unwrap();
    };
    let number = || Page::open(&client).tick()["logs"][0]["events_revision"].as_u64();
    complain(0, 6000);
    let (full, events) = (number(), client.got("/api/logs/0/events"));
    assert_eq!((&events["truncated"], events["events"].as_array().map(Vec::len)), (&json!(true), Some(5000)));
    complain(6000, 7000);
    assert_eq!(number(), full);
}

#[test]
fn schemas_that_come_late_explain_what_came_before_and_types_may_change() {
    let (_, mut output, client) = fed();
    let mut pose = Vec::new();
    [1.5_f64, 2.5].iter().for_each(|x| pose.extend(x.to_le_bytes()));
    let point = [(0, "/Point", "struct:Point"), (1, "/X", "double")];
    let samples = [(0, ms(1), Value::Bytes(&pose)), (1, ms(1), Value::Double(1.0))];
    output.take(&batch(&point, &samples)).unwrap();
    let before = client.got("/api/logs/0/channels");
    assert_eq!(before["channels"][0]["fields"], json!([]));
    let x = json!({"log": 0, "channel": 0, "path": ".x"});
    assert_eq!(drawn(&client, &x, 0.0, 1.0), []);
    let schema = [(2, "/.schema/struct:Point", "structschema"), (3, "/X", "string")];
    let samples = [(2, ms(2), Value::String(b"double x; double y")), (3, ms(2), Value::String(b"one"))];
    output.take(&batch(&schema, &samples)).unwrap();
    let after = client.got("/api/logs/0/channels");
    assert!(after["revision"].as_u64() > before["revision"].as_u64());
    assert_eq!(after["channels"][0]["fields"][1]["path"], ".y");
    assert_eq!(drawn(&client, &x, 0.0, 1.0), [(0.001, 1.5)]);
    let types: Vec<(&str, &str)> = after["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["name"].as_str().unwrap(), c["type"].as_str().unwrap()))
        .collect();
    assert!(types.contains(&("/X", "double")) && types.contains(&("/X", "string")), "{types:?}");
}

#[test]
fn a_clock_that_starts_anew_and_late_samples_do_not_break_the_view() {
    let (_, mut output, client) = fed();
    let one = |received: i64, time: i64, value: f64| {
        let mut one = batch(&[(0, "/A", "double")], &[(0, ms(time), Value::Double(value))]);
        one.received = ms(1_000_000 + received);
        one
    };
    for (received, time, value) in [(0, 5000, 1.0), (100, 5100, 2.0), (110, 5050, 1.5), (200, 5200, 3.0)] {
        output.take(&one(received, time, value)).unwrap();
    }
    output.take(&one(10_200, 300, 4.0)).unwrap();
    output.take(&one(10_300, 400, 5.0)).unwrap();
    let a = json!({"log": 0, "channel": 0});
    let expected = [(5.0, 1.0), (5.05, 1.5), (5.1, 2.0), (5.2, 3.0), (15.2, 4.0), (15.3, 5.0)];
    assert_eq!(drawn(&client, &a, -1e9, 1e9), expected);
    let session = client.got("/api/session");
    assert_eq!((&session["start"], &session["end"]), (&json!(5.0), &json!(15.3)));
    let events = client.got("/api/logs/0/events");
    assert_eq!(events["events"][0]["kind"], "link", "{events}");
    let rows = client.json("/api/table", &json!({"series": [a], "from": 5.02, "backward": false, "limit": 2}));
    let times: Vec<f64> = rows["rows"].as_array().unwrap().iter().filter_map(|row| row["time"].as_f64()).collect();
    assert_eq!(times, [5.05, 5.1]);
}

/// Runs something that others listen to, until it is dropped.
struct Running(Arc<AtomicBool>, Option<std::thread::JoinHandle<()>>);

impl Running {
    fn start(live: Live, source: Source) -> Self {
        let stop: Arc<AtomicBool> = Arc::default();
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            live.listen(vec![source], Join::single(), &[], &mut |_| match stopped.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
        });
        Self(stop, Some(thread))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

#[test]
fn a_board_and_a_robot_of_a_station_are_looked_at_together() {
    let live = Live::new().unwrap();
    let place = BoardPlace::Tcp((Ipv4Addr::LOCALHOST, 0).into());
    let session = BoardSession::new(BoardOptions::default(), LineOptions::default());
    let board = BoardRunner::new(&live, place, session).unwrap();
    let board_address = board.handle().address();
    let _board = Running::start(live, board.into_source());
    let [_, a, b, c] = std::process::id().to_be_bytes();
    let at = Ipv4Addr::new(127, 128 + a % 64, b, c);
    let live = Live::new().unwrap();
    let robot = RobotRunner::new(live.clock(), RobotSetup { bind: at.into(), ..RobotSetup::default() }).unwrap();
    let _robot = Running::start(live, robot.into_source());
    let viewer = Viewer::start(&[&board_address, &format!("ds://{at}")]);
    until("the robot is heard", || (viewer.state(1) == "live").then_some(()));
    let battery = json!({"log": 1, "channel": viewer.channel(1, "/ds/battery")});
    let found = until("volts", || Some(drawn(&viewer.client, &battery, -10.0, 1e6)).filter(|all| all.len() > 5));
    assert!(
        found.iter().all(|(t, volts)| (-2.0..60.0).contains(t) && *volts > 5.0),
        "on the clock of the session: {found:?}"
    );
    until("the board is heard", || (viewer.state(0) == "live").then_some(()));
    let session = viewer.client.got("/api/session");
    let presets: Vec<&Json> = session["logs"].as_array().unwrap().iter().map(|log| &log["preset"]).collect();
    assert_eq!(presets, ["refloat", "ds"]);
}
