//! Intervals: by hand on small logs, and against a naive walk over rows on the demo logs.

use std::collections::HashMap;

use logpose::core::{Layout, Lookup, Time, Type, Value};
use logpose::find::{FindError, FindOptions, Interval, Query, summaries};
use logpose::frc::Mode;
use logpose::{Filter, Log, Order};
use logpose_testkit::ms;

use crate::support::{self, DATALOG, R2, encode, log_of, open_demo};

fn found_with(log: &Log, text: &str, lookup: &Lookup, options: FindOptions) -> Vec<Interval> {
    let mut all = Vec::new();
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let found = query.find(log, lookup, &options, &mut |interval| all.push(interval));
    let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!((found.count, found.total_ns), (all.len() as u64, all.iter().map(Interval::duration_ns).sum()));
    all
}

/// Starts and ends in milliseconds.
fn found(log: &Log, text: &str) -> Vec<(f64, f64)> {
    let all = found_with(log, text, &Lookup::default(), FindOptions::default());
    let ms = |time: Time| time.nanos() as f64 / 1e6;
    all.iter().map(|interval| (ms(interval.start), ms(interval.end))).collect()
}

fn refused(log: &Log, text: &str) -> (String, String, Option<String>) {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    match query.find(log, &Lookup::default(), &FindOptions::default(), &mut |_| {}) {
        Err(FindError::Query(error)) => (error.message, text[error.at].to_owned(), error.help),
        other => panic!("{text}: {other:?}"),
    }
}

/// x: 0 1 2 3 2 1 0 at 0, 100, … ms; flag true from 200 to 500; state A, B at 350, A at 600; the log ends at 1000.
fn small() -> Log {
    let mut samples = Vec::new();
    for (i, x) in [0.0, 1.0, 2.0, 3.0, 2.0, 1.0, 0.0].into_iter().enumerate() {
        samples.push((0, ms(100 * i as i64), Value::Double(x)));
    }
    for (t, on) in [(50, false), (200, true), (500, false)] {
        samples.push((1, ms(t), Value::Boolean(on)));
    }
    for (t, text) in [(0, &b"A"[..]), (350, b"B"), (600, b"A")] {
        samples.push((2, ms(t), Value::String(text)));
    }
    for (t, x) in [(0, i64::MAX - 1), (400, i64::MAX)] {
        samples.push((3, ms(t), Value::Int64(x)));
    }
    let array: &[u8] = [7.0f64, 8.0].map(f64::to_le_bytes).concat().leak();
    samples.push((4, ms(300), Value::parse(Type::DoubleArray, array, Layout::Little).unwrap()));
    samples.push((5, ms(0), Value::String(b"double x;double y;enum {IDLE=0,RUN=1} int8 mode")));
    let point: &[u8] = [&1.0f64.to_le_bytes()[..], &2.0f64.to_le_bytes(), &[1]].concat().leak();
    samples.push((6, ms(100), Value::Bytes(point)));
    samples.push((7, ms(1000), Value::Boolean(true)));
    let channels = [
        ("/Arm/x", "double"),
        ("/Arm/flag", "boolean"),
        ("/Arm/state", "string"),
        ("/count", "int64"),
        ("/list", "double[]"),
        ("/.schema/struct:Point", "structschema"),
        ("/Point", "struct:Point"),
        ("/My Flag", "boolean"),
        ("/Leg/y", "double"),
        ("/Arm/y", "double"),
    ];
    samples.sort_by_key(|(_, time, _)| *time);
    log_of(encode("wpilog", &channels, &samples))
}

#[test]
fn values_hold_until_the_next_one() {
    let log = small();
    let cases: &[(&str, &[(f64, f64)])] = &[
        ("x >= 2", &[(200.0, 500.0)]),
        ("x = 2", &[(200.0, 300.0), (400.0, 500.0)]),
        ("x > 5", &[]),
        ("/Arm/x < 1", &[(0.0, 100.0), (600.0, 1000.0)]),
        ("flag", &[(200.0, 500.0)]),
        // Unknown before the first sample at 50 ms.
        ("not flag", &[(50.0, 200.0), (500.0, 1000.0)]),
        ("flag or x = 0", &[(0.0, 100.0), (200.0, 500.0), (600.0, 1000.0)]),
        ("flag and x between 2 and 2.5", &[(200.0, 300.0), (400.0, 500.0)]),
        ("state = 'B'", &[(350.0, 600.0)]),
        ("state != 'B' and x > 0", &[(100.0, 350.0)]),
        ("state in ('B', 'C')", &[(350.0, 600.0)]),
        ("state < 'B'", &[(0.0, 350.0), (600.0, 1000.0)]),
        ("contains(state, 'B')", &[(350.0, 600.0)]),
        ("x * 2 - 1 = 3", &[(200.0, 300.0), (400.0, 500.0)]),
        ("x % 2 = 1", &[(100.0, 200.0), (300.0, 400.0), (500.0, 600.0)]),
        // Division by zero is unknown, and so is what depends on it.
        ("1 / x > 0", &[(100.0, 600.0)]),
        ("not (1 / x > 0)", &[]),
        ("1 / x > 0 or true", &[(0.0, 1000.0)]),
        ("abs(-x) = 3 or sqrt(x) = 1", &[(100.0, 200.0), (300.0, 400.0), (500.0, 600.0)]),
        ("floor(x / 2) = 1", &[(200.0, 500.0)]),
        ("min(x, 1) = 1 and max(x, 2, 1.5) = 2", &[(100.0, 300.0), (400.0, 600.0)]),
        ("delta(x) < 0", &[(400.0, 1000.0)]),
        ("rate(x) = 10", &[(100.0, 400.0)]),
        // Integers are exact: as doubles both would be 2^63.
        ("delta(count) = 1", &[(400.0, 1000.0)]),
        ("list[1] = 8V", &[(300.0, 1000.0)]),
        ("list[2] = 8 or not (list[2] = 8)", &[]),
        ("Point.y > Point.x", &[(100.0, 1000.0)]),
        ("Point.mode = 'RUN' and Point.mode = 1", &[(100.0, 1000.0)]),
        // Comes at the very last moment.
        ("\"My Flag\"", &[(1000.0, 1000.0)]),
        ("true", &[(0.0, 1000.0)]),
        ("false", &[]),
    ];
    for (text, intervals) in cases {
        assert_eq!(found(&log, text), *intervals, "{text}");
    }
}

#[test]
fn a_change_is_a_moment() {
    let log = small();
    assert_eq!(found(&log, "changed(state)"), [(350.0, 350.0), (600.0, 600.0)]);
    assert_eq!(found(&log, "changed(flag) and x = 2"), [(200.0, 200.0)]);
    assert_eq!(found(&log, "not changed(state) and state = 'B'"), [(350.0, 600.0)]);
    assert_eq!(found(&log, "changed(state) or x = 3"), [(300.0, 400.0), (600.0, 600.0)]);
}

#[test]
fn an_age_crosses_between_samples_to_the_nanosecond() {
    let log = small();
    let just = 0.000_001;
    // The last sample of x is at 600, of flag at 500, of state at 600.
    assert_eq!(found(&log, "age(x) >= 0.25"), [(850.0, 1000.0)]);
    assert_eq!(found(&log, "age(x) > 0.25"), [(850.0 + just, 1000.0)]);
    assert_eq!(found(&log, "age(x) > 250ms"), [(850.0 + just, 1000.0)]);
    assert_eq!(found(&log, "age(flag) >= 0.1 and age(flag) < 0.2"), [(150.0, 200.0), (300.0, 400.0), (600.0, 700.0)]);
    assert_eq!(
        found(&log, "age(flag) between 100ms and 0.2"),
        [(150.0, 200.0), (300.0, 400.0 + just), (600.0, 700.0 + just)]
    );
    // The ages of both grow alike: their difference does not cross.
    assert_eq!(found(&log, "age(flag) - age(state) = 0.1"), [(600.0, 1000.0)]);
    assert_eq!(found(&log, "2 * age(x) - 0.1 >= x"), [(50.0, 100.0), (650.0, 1000.0)]);
    assert_eq!(found(&log, "age(state) = 0.1"), [(100.0, 100.0 + just), (450.0, 450.0 + just), (700.0, 700.0 + just)]);
    assert_eq!(found(&log, "age(\"My Flag\") >= 0"), [(1000.0, 1000.0)]);
}

#[test]
fn intervals_are_joined_then_chosen_then_widened() {
    let log = small();
    let with = |options| {
        let all = found_with(&log, "x = 2 or x = 0", &Lookup::default(), options);
        all.iter().map(|i| (i.start.nanos() / 1_000_000, i.end.nanos() / 1_000_000, i.open)).collect::<Vec<_>>()
    };
    let ns = |ms: i64| ms * 1_000_000;
    let plain = [(0, 100, false), (200, 300, false), (400, 500, false), (600, 1000, true)];
    assert_eq!(with(FindOptions::default()), plain);
    // Closer than: a gap of exactly 100 ms stays.
    assert_eq!(with(FindOptions { merge_ns: ns(100), ..Default::default() }), plain);
    assert_eq!(with(FindOptions { merge_ns: ns(101), ..Default::default() }), [(0, 1000, true)]);
    assert_eq!(with(FindOptions { min_duration_ns: ns(101), ..Default::default() }), [(600, 1000, true)]);
    let pad = FindOptions { pad_ns: ns(20), ..Default::default() };
    assert_eq!(with(pad), [(0, 120, false), (180, 320, false), (380, 520, false), (580, 1000, true)]);
    assert_eq!(with(FindOptions { pad_ns: ns(50), ..Default::default() }), [(0, 1000, true)]);
    let both = FindOptions { pad_ns: ns(50), min_duration_ns: ns(200), ..Default::default() };
    assert_eq!(with(both), [(550, 1000, true)]);
}

#[test]
fn a_part_of_a_log_knows_what_was_before() {
    let log = small();
    let within = |text: &str, start: i64, end: i64| {
        let lookup = Lookup { start: Some(ms(start)), end: Some(ms(end)), ..Lookup::default() };
        let all = found_with(&log, text, &lookup, FindOptions::default());
        all.iter().map(|i| (i.start.nanos() / 1_000_000, i.end.nanos() / 1_000_000, i.open)).collect::<Vec<_>>()
    };
    assert_eq!(within("x >= 2", 250, 450), [(250, 450, true)]);
    assert_eq!(within("x >= 2", 250, 900), [(250, 500, false)]);
    assert_eq!(within("x >= 2", 500, 900), []);
    assert_eq!(within("changed(state)", 350, 600), [(350, 350, false), (600, 600, false)]);
    assert_eq!(within("flag", 0, 100), []);
}

#[test]
fn summaries_count_values_as_long_as_they_held() {
    let log = small();
    let intervals = found_with(&log, "flag or \"My Flag\"", &Lookup::default(), FindOptions::default());
    let id = |name| log.channel(name).unwrap();
    let all = summaries(&log, &[id("/Arm/x"), id("/Arm/state"), id("/Leg/y")], &intervals).unwrap();
    let shown: Vec<_> = all
        .iter()
        .map(|s| {
            let text = |part: &Option<logpose::ScalarValue<'static>>| part.as_ref().map(ToString::to_string);
            (s.interval, s.name.as_str(), text(&s.start), text(&s.end), s.numbers)
        })
        .collect();
    let some = |text: &str| Some(text.to_owned());
    // 2, 3 and 2 for 100 ms each; at the end the value that held last.
    assert_eq!(
        shown,
        [
            (0, "/Arm/x", some("2"), some("2"), Some((2.0, 7.0 / 3.0, 3.0))),
            (1, "/Arm/x", some("0"), some("0"), Some((0.0, 0.0, 0.0))),
            (0, "/Arm/state", some("\"A\""), some("\"B\""), None),
            (1, "/Arm/state", some("\"A\""), some("\"A\""), None),
        ]
    );
}

#[test]
fn what_makes_no_sense_is_pointed_at() {
    let log = small();
    let cases = [
        ("z > 1", "no channel \"z\"", "z", None),
        ("Arm/stat = 'B'", "no channel \"Arm/stat\"", "Arm/stat", Some("did you mean /Arm/state?")),
        ("y > 1", "\"y\" matches several channels", "y", Some("use a longer name: /Arm/y  /Leg/y")),
        ("x + 1", "expected a condition, found a number", "x + 1", Some("compare it")),
        ("x and flag", "expected a condition, found a number", "x", None),
        ("state > 5", "cannot compare a text with a number", "state > 5", Some("single quotes")),
        ("flag = 1", "cannot compare a boolean with a number", "flag = 1", Some("on its own")),
        ("flag < true", "booleans have no order", "flag < true", None),
        ("list = 1", "expected a single value, found a list", "list", Some("list[0]")),
        ("Point > 1", "expected a single value, found a struct", "Point", Some(".x .y .mode")),
        ("Point.z > 1", "/Point (struct:Point) has no .z", "Point.z", Some("it has .x .y .mode")),
        ("x[0] > 1", "/Arm/x (double) has no [0]", "x[0]", None),
        ("sqrt(age(x)) > 1", "age() cannot be used inside sqrt()", "age(x)", Some("compared")),
        ("age(x) * age(y) > 1", "\"y\" matches several channels", "y", None),
        ("1 / age(x) > 1", "age() cannot be used inside a divisor", "age(x)", None),
        ("rate(state) > 1", "rate() needs a number, found a text", "state", Some("changed()")),
        ("age(x + 1) > 1", "age() needs a channel, not an expression", "x + 1", None),
        ("mode = 'auto'", "the log has no Driver Station modes", "mode", Some("double quotes")),
        ("x-1 > 2", "no channel \"x-1\"", "x-1", Some("put spaces around it")),
    ];
    for (text, message, at, help) in cases {
        let (found_message, found_at, found_help) = refused(&log, text);
        assert!(found_message.starts_with(message), "{text}: {found_message}");
        assert_eq!(found_at, at, "{text}");
        let found_help = found_help.unwrap_or_default();
        assert!(help.is_none_or(|help| found_help.contains(help)), "{text}: {found_help}");
    }
    let demo = open_demo(R2);
    let (message, at, help) = refused(&demo, "mode = 'teleopp'");
    assert_eq!((&*message, &*at), ("unknown mode 'teleopp'", "'teleopp'"));
    assert!(help.unwrap().contains("'teleop'"));
}

#[test]
fn modes_are_those_of_the_driver_station() {
    let log = open_demo(R2);
    for (text, fits) in [
        ("mode = 'teleop'", &(|mode: Mode| mode == Mode::Teleop) as &dyn Fn(Mode) -> bool),
        ("enabled", &|mode: Mode| mode.is_enabled()),
        ("mode in ('auto', 'disabled')", &|mode: Mode| mode != Mode::Teleop),
    ] {
        let mut spans: Vec<(Time, Time)> = Vec::new();
        for span in log.modes().iter().filter(|span| fits(span.mode)) {
            match spans.last_mut() {
                Some(last) if last.1 == span.start => last.1 = span.end,
                _ => spans.push((span.start, span.end)),
            }
        }
        let all = found_with(&log, text, &Lookup::default(), FindOptions::default());
        assert_eq!(all.iter().map(|i| (i.start, i.end)).collect::<Vec<_>>(), spans, "{text}");
        assert!(all.iter().all(|i| fits(i.mode.unwrap())), "{text}");
    }
}

type State = HashMap<String, Vec<f64>>;

/// The same question asked at every row: all values held in a map, the condition a closure.
#[test]
fn demo_logs_agree_with_a_naive_walk_over_rows() {
    let volts = |state: &State| Some(*state.get("/Power/BatteryVoltage")?.first()?);
    let rpm = |state: &State| Some(*state.get("/Shooter/RPM")?.first()?);
    let pose = |state: &State| state.get("NT:/Drive/Pose").cloned();
    let speed = |state: &State| Some(*state.get("NT:/Drive/ModuleStates")?.get(4)?);
    type Condition<'c> = &'c dyn Fn(&State) -> Option<bool>;
    let cases: [(&str, Condition<'_>); 5] = [
        ("BatteryVoltage < 11.5", &|s| Some(volts(s)? < 11.5)),
        ("BatteryVoltage < 11.5 and Shooter/RPM > 4000", &|s| Some(volts(s)? < 11.5 && rpm(s)? > 4000.0)),
        ("Pose.translation.x > Pose.translation.y * 2", &|s| Some(pose(s)?[0] > pose(s)?[1] * 2.0)),
        ("ModuleStates[2].speed between 0.5 and 1 or Shooter/RPM <= 100", &|s| {
            Some((0.5..=1.0).contains(&speed(s)?) || rpm(s)? <= 100.0)
        }),
        ("not (BatteryVoltage > 12 or Pose.rotation.value < 0)", &|s| Some(!(volts(s)? > 12.0 || pose(s)?[2] < 0.0))),
    ];
    let logs = [open_demo(DATALOG)];
    let rows = support::rows(&logs, Vec::new(), Order::Time);
    let (_, end) = logs[0].robust_range().unwrap();
    for (text, holds) in cases {
        let mut state = State::new();
        let mut naive: Vec<(i64, i64)> = Vec::new();
        let mut open = None;
        for (place, (name, type_name, ns, payload)) in rows.iter().enumerate() {
            if type_name == "double" || type_name.starts_with("struct:") {
                let numbers = payload.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
                state.insert(name.clone(), numbers.collect());
            }
            if rows.get(place + 1).is_some_and(|next| next.2 == *ns) {
                continue;
            }
            match (open, holds(&state).unwrap_or(false)) {
                (None, true) => open = Some(*ns),
                (Some(start), false) => {
                    naive.push((start, *ns));
                    open = None;
                }
                _ => {}
            }
        }
        naive.extend(open.map(|start| (start, end.nanos())));
        let all = found_with(&logs[0], text, &Lookup::default(), FindOptions::default());
        let all: Vec<_> = all.iter().map(|i| (i.start.nanos(), i.end.nanos())).collect();
        assert!(all.len() > 1, "{text}");
        assert_eq!(all, naive, "{text}");
    }
}

#[test]
fn an_unsorted_log_is_walked_in_the_order_of_time() {
    let samples = [(30, 3.0), (10, 1.0), (20, 2.0)].map(|(t, x)| (0, ms(t), Value::Double(x)));
    let log = log_of(encode("wpilog", &[("/late", "double")], &samples));
    assert_eq!(found(&log, "late = 2"), [(20.0, 30.0)]);
}

#[test]
fn filters_do_not_hide_channels_from_the_expression() {
    let log = small();
    let lookup = log.lookup(&Filter::new(&["/count".into()], &[]).unwrap(), None, None).unwrap();
    assert_eq!(found_with(&log, "x >= 2", &lookup, FindOptions::default()).len(), 1);
}
