//! Findings about the link of a driver station, from generated logs.

use logpose::Log;
use logpose::core::{ChannelId, Layout, Time, Type, Value};
use logpose::frc::{Facts, LinkFacts, MatchKind, Mode, Reason};

use crate::support::{encode, log_of, open};

/// A log that is put together channel by channel.
#[derive(Default)]
struct Made {
    channels: Vec<(&'static str, &'static str)>,
    samples: Vec<(ChannelId, Time, Value<'static>)>,
}

impl Made {
    fn with(mut self, name: &'static str, type_name: &'static str, values: &[(i64, Value<'static>)]) -> Self {
        let id = self.channels.len() as ChannelId;
        self.channels.push((name, type_name));
        self.samples.extend(values.iter().map(|(ms, value)| (id, Time::from_millis(*ms), *value)));
        self
    }

    fn flag(self, name: &'static str, changes: &[(i64, bool)]) -> Self {
        let values: Vec<_> = changes.iter().map(|(ms, on)| (*ms, Value::Boolean(*on))).collect();
        self.with(name, "boolean", &values)
    }

    fn numbers(self, name: &'static str, values: impl Iterator<Item = (i64, f64)>) -> Self {
        let values: Vec<_> = values.map(|(ms, value)| (ms, Value::Double(value))).collect();
        self.with(name, "double", &values)
    }

    fn texts(self, name: &'static str, type_name: &'static str, texts: &[(i64, &'static str)]) -> Self {
        let values: Vec<_> = texts.iter().map(|(ms, text)| (*ms, Value::String(text.as_bytes()))).collect();
        self.with(name, type_name, &values)
    }

    fn log(mut self) -> Log {
        self.samples.sort_by_key(|(_, time, _)| *time);
        log_of(encode("wpilog", &self.channels, &self.samples))
    }

    fn link(self) -> LinkFacts {
        Facts::of(&self.log()).link.unwrap()
    }
}

/// Enabled in teleop from 10 s to 20 s, with a robot that answers for 30 s.
fn driven() -> Made {
    Made::default()
        .flag("/ds/control/enabled", &[(0, false), (10_000, true), (20_000, false)])
        .numbers("/ds/battery", (0..=300).map(|i| (i * 100, 12.5)))
}

fn reason(made: Made) -> (Reason, String) {
    let link = made.link();
    assert_eq!(link.disables.len(), 1);
    assert_eq!((link.disables[0].at, link.disables[0].mode), (Time::from_millis(20_000), Mode::Teleop));
    (link.disables[0].reason, link.disables[0].evidence.clone())
}

#[test]
fn the_reason_of_a_disable_has_its_evidence() {
    let connected = |changes: &[(i64, bool)]| driven().flag("/ds/connected", changes);
    let cases = [
        (connected(&[(0, true)]), Reason::Station, "nothing else explains it"),
        (
            connected(&[(0, true), (19_200, false), (23_200, true)]),
            Reason::RobotLost,
            "the robot stopped answering 800 ms before, for 4.0 s",
        ),
        (
            connected(&[(0, true), (20_900, false)]),
            Reason::RobotLost,
            "the robot stopped answering 900 ms after, and never answered again",
        ),
        (
            driven().numbers("/ds/packet_loss", [(19_500, 0.04), (20_500, 0.56)].into_iter()),
            Reason::Station,
            "up to 56 % of the packets were lost within a second of it",
        ),
        (connected(&[(0, true), (22_000, false)]), Reason::Station, "nothing else explains it"),
        (
            driven().flag("/ds/control/estop", &[(0, false), (20_000, true)]),
            Reason::EStop,
            "the emergency stop came at the same moment",
        ),
        (
            driven().flag("/ds/status/estop", &[(0, false), (19_900, true)]),
            Reason::EStop,
            "the emergency stop came 100 ms before",
        ),
        // What comes later is no cause.
        (driven().flag("/ds/status/estop", &[(0, false), (20_400, true)]), Reason::Station, "nothing else explains it"),
        (
            driven().flag("/ds/status/code", &[(0, true), (19_500, false)]),
            Reason::Code,
            "the robot code stopped 500 ms before",
        ),
        (
            driven().flag("/ds/status/code_start", &[(0, false), (19_000, true), (19_020, false)]),
            Reason::Code,
            "the robot code started 1.0 s before",
        ),
        (
            driven().flag("/ds/status/brownout", &[(0, false), (19_700, true), (20_020, false)]),
            Reason::Brownout,
            "the robot reported a brownout 300 ms before, for 320 ms",
        ),
        (
            driven().flag("/ds/status/watchdog", &[(0, false), (19_980, true)]),
            Reason::Watchdog,
            "the robot's watchdog tripped 20 ms before",
        ),
        (
            driven().texts("/ds/errors", "json", &[(20_400, r#"{"severity":"warning","code":44004,"details":""}"#)]),
            Reason::RobotLost,
            "the station reported lost communication 400 ms after",
        ),
        (
            driven().flag("/ds/control/fms_attached", &[(0, true)]),
            Reason::Station,
            "by the field or the drivers; nothing else explains it",
        ),
    ];
    for (made, expected, evidence) in cases {
        assert_eq!(reason(made), (expected, evidence.to_owned()));
    }
}

#[test]
fn a_match_explains_its_own_disables() {
    let played = || {
        let enabled = [(0, false), (5_000, true), (20_000, false), (22_900, true), (158_000, false)];
        Made::default()
            .flag("/ds/control/enabled", &enabled)
            .flag("/ds/control/autonomous", &[(0, true), (22_900, false)])
            .numbers("/ds/battery", (0..=1650).map(|i| (i * 100, 12.5)))
    };
    let reasons = |made: Made| made.link().disables.into_iter().map(|d| (d.reason, d.evidence)).collect::<Vec<_>>();
    let found = reasons(played().flag("/ds/control/fms_attached", &[(0, true)]));
    let auto = "after 15.0 s of autonomous, teleop followed 2.9 s later";
    assert_eq!(found[0], (Reason::EndOfAuto, auto.to_owned()));
    let end = "after 15.0 s of autonomous and 135.1 s of teleop with the field attached";
    assert_eq!(found[1], (Reason::EndOfMatch, end.to_owned()));
    let json = r#"{"event":"TXPAS","type":"qualification","number":35,"replay":1}"#;
    let named =
        played().texts("/ds/match", "json", &[(10, json)]).texts("/ds/control/station", "string", &[(0, "blue 2")]);
    let named = named.texts("/ds/game_data", "string", &[(0, ""), (6_000, "LRL")]).log();
    let found = Facts::of(&named).match_.unwrap();
    assert_eq!((found.event.as_deref(), found.kind, found.number), (Some("TXPAS"), MatchKind::Qualification, Some(35)));
    assert_eq!((found.station.as_deref(), found.game_data.as_deref()), (Some("blue 2"), Some("LRL")));
    let disables = &Facts::of(&named).link.unwrap().disables;
    assert_eq!(disables[1].reason, Reason::EndOfMatch);
    assert!(disables[1].evidence.ends_with("of qualification 35"), "{disables:?}");
    // The same lengths without a field are a practice.
    let found = reasons(played());
    assert_eq!((found[0].0, found[1].0), (Reason::EndOfAuto, Reason::Station));
    assert!(found[1].1.contains("practice"), "{found:?}");
}

#[test]
fn the_link_is_measured_while_the_robot_is_there() {
    let connected = [(0, false), (1_000, true), (5_000, false), (7_000, true), (9_000, false)];
    let loss = |ms: i64| match ms {
        3_000..4_000 => 0.4,
        // What is lost before the robot is there is still reckoned with when it is.
        1_000..1_500 => 0.8,
        ms if ms < 1_000 || ms > 5_000 && ms < 7_000 || ms > 9_000 => 1.0,
        _ => 0.0,
    };
    let link = Made::default()
        .flag("/ds/connected", &connected)
        .numbers("/ds/packet_loss", (0..500).map(|i| (i * 20, loss(i * 20))))
        .numbers("/ds/trip_time", (1..=100).map(|i| (1_000 + i * 20, i as f64 / 1000.0)))
        .with(
            "/ds/lost",
            "boolean",
            &(0..450).map(|i| (1_000 + i * 20, Value::Boolean(i % 10 == 0))).collect::<Vec<_>>(),
        )
        .numbers("/ds/cpu", [(0, 1.0), (2_000, 0.2), (4_000, 0.9), (4_500, 0.9)].into_iter())
        .numbers("/ds/can/utilization", [(3_000, f64::NAN), (3_010, 0.5)].into_iter())
        .link();
    assert_eq!(link.drops, [(Time::from_millis(5_000), Time::from_millis(7_000))]);
    assert_eq!(link.gone, Some(Time::from_millis(9_000)));
    let trip = link.trip_time.unwrap();
    assert_eq!([trip.p50, trip.p95, trip.p99, trip.max], [0.05, 0.095, 0.099, 0.1]);
    assert_eq!(link.packets, Some((41, 401)));
    let loss = link.loss.unwrap();
    assert_eq!([loss.p50, loss.p95, loss.max], [0.0, 0.4, 0.4]);
    let worst = link.worst.unwrap();
    assert_eq!((worst.start, worst.end), (Time::from_millis(3_000), Time::from_millis(3_980)));
    assert!((worst.loss - 0.4).abs() < 1e-9);
    assert_eq!((link.cpu.unwrap().value, link.cpu.unwrap().at), (0.9, Time::from_millis(4_000)));
    assert_eq!(link.can.unwrap().value, 0.5);
}

#[test]
fn errors_are_counted_by_what_they_say() {
    let loop_time = r#"{"severity":"warning","code":0,"details":"Loop time of 0.02s overrun\nat x"}"#;
    let can = r#"{"severity":"error","code":-44087,"details":"CAN: Message not found"}"#;
    let link = Made::default()
        .texts("/ds/errors", "json", &[(0, loop_time), (10, can), (20, loop_time), (30, "no json"), (40, loop_time)])
        .with(
            "/ds/faults/brownout_12v",
            "int64",
            &[(0, Value::Int64(3)), (50, Value::Int64(5)), (60, Value::Int64(0)), (70, Value::Int64(1))],
        )
        .with("/ds/faults/rail_5v", "int64", &[(0, Value::Int64(3)), (50, Value::Int64(3))])
        .link();
    assert_eq!((link.errors, link.warnings, link.frequent.len()), (1, 3, 2));
    let first = &link.frequent[0];
    assert_eq!(
        (first.text.as_str(), first.count, first.code, first.is_error),
        ("Loop time of 0.02s overrun", 3, 0, false)
    );
    let rise = &link.faults[..];
    assert_eq!((rise.len(), rise[0].by, rise[0].first), (1, 3, Time::from_millis(50)));
}

#[test]
fn a_station_has_battery_brownouts_and_sticks() {
    // One axis at 0.5.
    let axes = Value::parse(Type::FloatArray, &[0, 0, 0, 0x3f], Layout::Little).unwrap();
    let log = driven()
        .flag("/ds/status/brownout", &[(0, false), (25_000, true)])
        .with("/ds/joystick/1/axes", "float[]", &[(0, axes)])
        .texts("/ds/joystick/0/descriptor", "json", &[(0, r#"{"name":"Pad"}"#), (10, r#"{"name":""}"#)])
        .texts("/ds/joystick/2/descriptor", "json", &[(0, r#"{"name":""}"#)])
        .log();
    let facts = Facts::of(&log);
    assert_eq!(facts.battery.as_ref().map(|battery| battery.channel.as_str()), Some("/ds/battery"));
    // It is logged when it changes: the last brownout goes on to the end.
    assert_eq!(facts.brownouts, [(Time::from_millis(25_000), Time::from_millis(30_000))]);
    let sticks: Vec<_> = facts.joysticks.iter().map(|stick| (stick.port, stick.name.as_deref())).collect();
    assert_eq!(sticks, [(0, Some("Pad")), (1, None)]);
}

#[test]
fn other_logs_have_no_link() {
    let log = Made::default().flag("DS:enabled", &[(0, false), (10, true), (20, false)]).log();
    assert_eq!(log.modes().len(), 2);
    assert!(Facts::of(&log).link.is_none());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn real_logs_of_stations_are_explained() {
    let files = logpose_testkit::corpus_files("ds");
    let dslogs = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "dslog"));
    let reasons = |name: &str| {
        let path = files.iter().find(|path| path.to_string_lossy().ends_with(name)).unwrap();
        let disables = Facts::of(&open(path)).link.unwrap().disables;
        disables.into_iter().map(|disable| disable.reason).collect::<Vec<_>>()
    };
    assert_eq!(reasons("2020_02_23_09_57_49_Sun.dslog"), [Reason::RobotLost; 3]);
    let brownouts = reasons("2023_07_01_17_06_24_Sat.dslog");
    assert_eq!((&brownouts[..6], brownouts[6]), (&[Reason::Brownout; 6][..], Reason::Station));
    assert_eq!(reasons("2022_02_25_21_25_39_Fri.dslog"), [Reason::Station; 2]);
    for path in dslogs {
        let log = open(path);
        let facts = Facts::of(&log);
        let link = facts.link.as_ref().unwrap();
        assert_eq!(facts.writer.as_deref(), Some("NI Driver Station"), "{}", path.display());
        // No robot, no trip time.
        let robot = facts.battery.is_some();
        assert_eq!((link.trip_time.is_some(), link.loss.is_some()), (robot, robot), "{}", path.display());
        assert!(link.loss.is_none_or(|loss| loss.p50 <= loss.p95 && loss.p95 <= loss.p99 && loss.max <= 1.0));
    }
}
