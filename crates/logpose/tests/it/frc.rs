use logpose::core::{Time, Value};
use logpose::frc::{Facts, MatchKind, Mode};
use logpose::{Log, OpenOptions};

use crate::support::{AKIT, DATALOG, R1, R2, encode, log_of, open_demo};

#[test]
fn the_demo_has_its_match() {
    for name in [DATALOG, AKIT, R2, R1] {
        let log = open_demo(name);
        let facts = Facts::of(&log);
        let modes: Vec<_> = facts
            .modes
            .iter()
            .map(|span| (span.mode, (span.end.since(span.start) + 50_000_000) / 100_000_000))
            .collect();
        let expected =
            [(Mode::Disabled, 50), (Mode::Auto, 150), (Mode::Disabled, 30), (Mode::Teleop, 250), (Mode::Disabled, 20)];
        assert_eq!(modes, expected, "{name}");
        let found = facts.match_.as_ref().unwrap_or_else(|| panic!("{name}"));
        assert_eq!(
            (found.event.as_deref(), found.kind, found.number),
            (Some("DEMO"), MatchKind::Qualification, Some(12)),
            "{name}"
        );
        assert_eq!(found.station.as_deref(), Some("red 2"), "{name}");
        assert_eq!(facts.brownouts.len(), 1, "{name}");
        let (start, end) = facts.brownouts[0];
        assert!(start >= Time::from_millis(43_000) && end <= Time::from_millis(45_500), "{name}: {start} {end}");
        assert_eq!(facts.low_battery.len(), 1, "{name}");
        let battery = facts.battery.as_ref().unwrap();
        assert!(battery.lowest < 6.8 && battery.lowest > 5.0, "{name}: {battery:?}");
        assert_eq!(facts.joysticks.iter().map(|stick| stick.port).collect::<Vec<_>>(), [0], "{name}");
    }
}

#[test]
fn the_epoch_is_exact() {
    let epoch = Some(1_774_102_953_000_000_000);
    for (name, expected) in [(DATALOG, epoch), (AKIT, epoch), (R2, epoch), (R1, None)] {
        assert_eq!(open_demo(name).epoch_ns(), expected, "{name}");
    }
}

#[test]
fn writers_are_known() {
    let expected =
        [(DATALOG, "WPILib DataLogManager"), (AKIT, "AdvantageKit"), (R2, "AdvantageKit"), (R1, "AdvantageKit")];
    for (name, writer) in expected {
        assert_eq!(Facts::of(&open_demo(name)).writer.as_deref(), Some(writer), "{name}");
    }
}

#[test]
fn a_control_word_has_the_modes_where_nothing_else_does() {
    let words = [(0, 0x30), (1000, 0x33), (3000, 0x30), (4000, 0x31), (6000, 0x38), (7000, 0x38)];
    let samples: Vec<_> = words.iter().map(|(ms, word)| (0, Time::from_millis(*ms), Value::Int64(*word))).collect();
    let log = log_of(encode("wpilog", &[("NT:/FMSInfo/FMSControlData", "int64")], &samples));
    let modes: Vec<_> = log.modes().iter().map(|span| span.mode).collect();
    assert_eq!(modes, [Mode::Disabled, Mode::Auto, Mode::Disabled, Mode::Teleop, Mode::EStop]);
}

#[test]
fn the_struct_of_2027_has_the_modes() {
    let schema = "uint64 opModeHash:56;enum{unknown=0,autonomous=1,teleoperated=2,test=3} uint64 robotMode:2;bool enabled:1;bool eStop:1;bool fmsAttached:1;bool dsAttached:1;";
    let word = |mode: u64, enabled: u64| (mode << 56 | enabled << 58).to_le_bytes();
    let words = [word(1, 0), word(1, 1), word(2, 1), word(3, 1), word(3, 1)];
    let mut samples = vec![(0, Time::ZERO, Value::String(schema.as_bytes()))];
    samples
        .extend(words.iter().enumerate().map(|(i, word)| (1, Time::from_millis(i as i64 * 1000), Value::Bytes(word))));
    let log = log_of(encode(
        "wpilog",
        &[("/.schema/struct:ControlWord", "structschema"), ("DS:controlWord", "struct:ControlWord")],
        &samples,
    ));
    let modes: Vec<_> = log.modes().iter().map(|span| span.mode).collect();
    assert_eq!(modes, [Mode::Disabled, Mode::Auto, Mode::Teleop, Mode::Test]);
}

#[test]
fn the_names_of_modes_in_a_converted_hoot_log_tell_modes() {
    let names = ["Disabled", "Disabled", "Autonomous", "Disabled", "Teleop", "Test", "EStopped", "Something else"];
    let at = |place: usize| Time::from_millis(place as i64 * 1000);
    let samples: Vec<_> =
        names.iter().enumerate().map(|(place, name)| (0, at(place), Value::String(name.as_bytes()))).collect();
    let log = log_of(encode("wpilog", &[("RobotMode", "string")], &samples));
    let modes: Vec<_> = log.modes().iter().map(|span| span.mode).collect();
    assert_eq!(modes, [Mode::Disabled, Mode::Auto, Mode::Disabled, Mode::Teleop, Mode::Test, Mode::EStop]);
    assert_eq!(log.modes()[0].end, at(2));
}

#[test]
fn mixed_clocks_do_not_spoil_the_range() {
    let mut samples = Vec::new();
    for i in 0..200 {
        samples.push((0, Time::from_millis(1000 + i * 20), Value::Double(0.0)));
    }
    samples.push((1, Time::from_micros(1_774_102_953_000_000), Value::Double(0.0)));
    let log = log_of(encode("wpilog", &[("a", "double"), ("b", "double")], &samples));
    assert!(log.index.range().unwrap().1 > Time::from_seconds(1e9).unwrap());
    assert_eq!(log.robust_range(), Some((Time::from_millis(1000), Time::from_millis(4980))));
    assert_eq!(log.epoch_ns(), None);
}

#[test]
fn samples_before_the_clock_was_set_do_not_spoil_the_range() {
    let mut samples: Vec<_> = (0..10).map(|i| (0, Time::from_millis(-33_225_000 + i), Value::Double(0.0))).collect();
    samples.push((1, Time::from_millis(-20), Value::Double(0.0)));
    samples.extend((0..1000).map(|i| (0, Time::from_millis(500 + i * 20), Value::Double(0.0))));
    let log = log_of(encode("wpilog", &[("a", "double"), ("b", "double")], &samples));
    let range = log.time_range().unwrap();
    assert_eq!((range.first, range.last), (Time::from_millis(500), Time::from_millis(20_480)));
    let stragglers: Vec<_> = range.stragglers().map(ToString::to_string).collect();
    assert_eq!(stragglers, ["11 samples between -9:13:45 and -0.020 s, written before the clock was set"]);
}

#[test]
fn sparse_samples_before_and_after_a_burst_are_in_the_range() {
    let burst = (0..10_000).map(|i| (0, Time::from_millis(5000 + i), Value::Double(0.0)));
    let sparse = (0..10).map(|i| (1, Time::from_millis(i * 10_000), Value::Double(0.0)));
    let log = log_of(encode("wpilog", &[("a", "double"), ("b", "double")], &burst.chain(sparse).collect::<Vec<_>>()));
    assert_eq!(log.robust_range(), log.index.range());
    assert_eq!(log.time_range().unwrap().stragglers().count(), 0);
}

#[test]
fn a_log_on_the_wall_clock_is_its_own_epoch() {
    let samples = [(0, Time::from_micros(1_774_102_953_000_000), Value::Double(0.0))];
    assert_eq!(log_of(encode("wpilog", &[("a", "double")], &samples)).epoch_ns(), Some(0));
}

#[test]
fn a_log_without_a_match_has_no_facts() {
    let log = Log::from_bytes("x.wpilog", encode("wpilog", &[], &[]), &OpenOptions::default()).unwrap();
    let facts = Facts::of(&log);
    assert!(facts.modes.is_empty() && facts.match_.is_none() && facts.writer.is_none() && facts.battery.is_none());
    assert_eq!(log.robust_range(), None);
}
