//! Expressions over something that arrives in pieces, against those over the whole log.

use logpose::core::{Channel, ChannelId, Layout, Lookup, Problem, Sample, Sink, SinkError, Time, Type, Value};
use logpose::find::{FindOptions, Query, Watcher};
use logpose::{Log, OpenOptions, Order, Quiet};

use crate::support::{AKIT, DATALOG, R1, R2, encode, log_of, open_demo};

/// A log that can be given again in pieces.
#[derive(Default)]
struct Tape {
    channels: Vec<Channel>,
    rows: Vec<(ChannelId, Time, Type, Vec<u8>)>,
}

impl Sink for Tape {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len());
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let mut payload = Vec::new();
            sample.value.emit(Layout::Little, &mut payload);
            self.rows.push((sample.channel, sample.time, sample.value.ty(), payload));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

impl Tape {
    fn of(log: Log) -> (Self, Log) {
        let logs = [log];
        let mut tape = Self::default();
        logpose::Feed::new(&logs, Vec::new()).run(Order::Time, &mut tape).unwrap();
        let [log] = logs;
        (tape, log)
    }

    /// Gives everything, so many samples at once. Channels are announced at first, or right before their first sample.
    fn play(&self, piece: usize, early: bool, watcher: &mut Watcher) {
        let mut declared = vec![false; self.channels.len()];
        if early {
            (0..).zip(&self.channels).for_each(|(id, channel)| watcher.channel(id, channel).unwrap());
            declared.fill(true);
        }
        for rows in self.rows.chunks(piece) {
            for (id, ..) in rows {
                if !std::mem::replace(&mut declared[*id as usize], true) {
                    watcher.channel(*id, &self.channels[*id as usize]).unwrap();
                }
            }
            let samples: Vec<Sample<'_>> = rows
                .iter()
                .map(|row| {
                    let value = Value::parse(row.2, &row.3, Layout::Little).unwrap();
                    Sample { channel: row.0, time: row.1, value }
                })
                .collect();
            watcher.samples(&samples).unwrap();
        }
    }
}

fn starts(log: &Log, text: &str) -> Vec<Time> {
    let mut starts = Vec::new();
    let query = Query::parse(text).unwrap();
    let found =
        query.find(log, &Lookup::default(), &FindOptions::default(), &mut |interval| starts.push(interval.start));
    found.unwrap_or_else(|error| panic!("{text}: {error}"));
    starts
}

fn watcher(text: &str) -> Watcher {
    Watcher::new(&Query::parse(text).unwrap()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn edges(mut watcher: Watcher) -> Vec<Time> {
    watcher.finish();
    std::iter::from_fn(|| watcher.take()).collect()
}

const EXPRESSIONS: [&str; 22] = [
    "BatteryVoltage < 11.5",
    "BatteryVoltage < 8 and mode = 'teleop'",
    "enabled",
    "not enabled",
    "mode = 'auto' or mode = 'teleop'",
    "mode in ('auto', 'disabled') and BatteryVoltage > 12",
    "changed(mode)",
    "enabled and not changed(enabled)",
    "age(mode) >= 1 and age(mode) < 2500ms",
    "rate(BatteryVoltage) < -2",
    "delta(Shooter/RPM) > 200 or BatteryVoltage < 7",
    "Shooter/RPM > 3000 and enabled",
    "changed(Shooter/State)",
    "Shooter/State = 'SHOOTING' and Shooter/RPM between 4000 and 4300",
    "contains(Shooter/State, 'S') and abs(BatteryVoltage - 12) > 0.25",
    "age(BatteryVoltage) > 15ms",
    "age(mode) - age(BatteryVoltage) > 200ms",
    "Pose.translation.x > Pose.translation.y * 2",
    "not (BatteryVoltage > 12 or Pose.rotation.value < 0)",
    "ModuleStates[2].speed > 1 and mode != 'disabled'",
    "true",
    "1 / (BatteryVoltage - BatteryVoltage) > 1 or min(BatteryVoltage, 9, 10) < 8",
];

#[test]
fn edges_in_a_stream_are_the_starts_of_intervals_in_the_log() {
    for name in [DATALOG, AKIT, R2, R1] {
        let (tape, log) = Tape::of(open_demo(name));
        for text in EXPRESSIONS {
            // The second revision of AdvantageKit's log has poses, the first has not.
            let fits = !text.contains("Pose.") && !text.contains("ModuleStates") || name != R1;
            if !fits {
                continue;
            }
            let expected = starts(&log, text);
            assert!(!expected.is_empty(), "{name}: {text}");
            for (piece, early) in [(1, false), (64, true), (1000, false), (usize::MAX, true)] {
                let mut watcher = watcher(text);
                tape.play(piece, early, &mut watcher);
                assert_eq!(watcher.fault(), None, "{name}: {text}");
                assert_eq!(watcher.missing().collect::<Vec<_>>(), Vec::<&str>::new(), "{name}: {text}");
                assert_eq!(edges(watcher), expected, "{name}: {text}: {piece} {early}");
            }
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn edges_of_modes_in_real_logs_are_the_starts_of_intervals() {
    let files = logpose_testkit::corpus_files("wpilog");
    let mut compared = 0;
    for file in files {
        let Ok(log) = Log::open_with(&file, &OpenOptions::default(), &Quiet) else { continue };
        let plain = log.robust_range() == log.index.range();
        if !plain || log.modes().is_empty() || log.file_len() > 8 << 20 {
            continue;
        }
        let (tape, log) = Tape::of(log);
        for text in ["enabled", "mode = 'auto' or mode = 'disabled'", "changed(mode)"] {
            let mut watcher = watcher(text);
            tape.play(100, true, &mut watcher);
            assert_eq!(edges(watcher), starts(&log, text), "{}: {text}", file.display());
        }
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

/// Milliseconds of all edges.
fn watched(watcher: &mut Watcher) -> Vec<i64> {
    std::iter::from_fn(|| watcher.take()).map(|time| time.nanos() / 1_000_000).collect()
}

fn sample(watcher: &mut Watcher, channel: ChannelId, ms: i64, value: Value<'_>) {
    watcher.samples(&[Sample { channel, time: Time::from_millis(ms), value }]).unwrap();
}

fn channel(watcher: &mut Watcher, id: ChannelId, name: &str, type_name: &str) {
    watcher.channel(id, &Channel::new(name, type_name)).unwrap();
}

#[test]
fn an_edge_is_reported_as_soon_as_its_moment_is_over() {
    let mut w = watcher("x > 1");
    channel(&mut w, 0, "/x", "double");
    channel(&mut w, 1, "/other", "double");
    sample(&mut w, 0, 0, Value::Double(0.0));
    sample(&mut w, 0, 10, Value::Double(2.0));
    // There may be more of that moment.
    assert!(watched(&mut w).is_empty());
    sample(&mut w, 1, 11, Value::Double(0.0));
    assert_eq!((watched(&mut w), w.since()), (vec![10], Some(Time::from_millis(10))));
    sample(&mut w, 0, 20, Value::Double(3.0));
    sample(&mut w, 0, 30, Value::Double(0.0));
    sample(&mut w, 0, 40, Value::Double(9.0));
    assert_eq!((watched(&mut w), w.since()), (vec![], None));
    w.finish();
    assert_eq!(watched(&mut w), [40]);
}

#[test]
fn an_age_is_reported_when_any_channel_shows_that_time_went_on() {
    let mut w = watcher("age(x) > 200ms");
    channel(&mut w, 0, "/x", "double");
    channel(&mut w, 1, "/other", "double");
    sample(&mut w, 0, 100, Value::Double(0.0));
    sample(&mut w, 1, 290, Value::Double(0.0));
    assert!(watched(&mut w).is_empty());
    sample(&mut w, 1, 500, Value::Double(0.0));
    // To the nanosecond: 300.000001 ms.
    assert_eq!(w.take(), Some(Time::from_nanos(300_000_001)));
}

#[test]
fn names_are_found_when_their_channels_come() {
    let mut w = watcher("Arm/x > 1 or y");
    assert_eq!(w.missing().collect::<Vec<_>>(), ["Arm/x", "y"]);
    channel(&mut w, 3, "/Leg/y", "boolean");
    sample(&mut w, 3, 0, Value::Boolean(true));
    sample(&mut w, 3, 10, Value::Boolean(false));
    // Known to hold although half of it is unknown.
    assert_eq!(watched(&mut w), [0]);
    assert_eq!(w.missing().collect::<Vec<_>>(), ["Arm/x"]);
    channel(&mut w, 7, "/Robot/Arm/x", "double");
    sample(&mut w, 7, 20, Value::Double(5.0));
    sample(&mut w, 7, 30, Value::Double(0.0));
    assert_eq!((watched(&mut w), w.missing().count()), (vec![20], 0));
    // Another one that would fit as well changes nothing, one that fits better does.
    channel(&mut w, 8, "/Model/Arm/x", "double");
    sample(&mut w, 8, 40, Value::Double(5.0));
    sample(&mut w, 7, 50, Value::Double(5.0));
    sample(&mut w, 7, 60, Value::Double(0.0));
    assert_eq!(watched(&mut w), [50]);
    channel(&mut w, 9, "Arm/x", "double");
    sample(&mut w, 7, 70, Value::Double(5.0));
    sample(&mut w, 9, 80, Value::Double(5.0));
    sample(&mut w, 3, 90, Value::Boolean(false));
    assert_eq!((watched(&mut w), w.fault()), (vec![80], None));
}

#[test]
fn invalid_expressions_are_reported_as_soon_as_they_are_known() {
    let refused = |text: &str| Watcher::new(&Query::parse(text).unwrap()).err().map(|error| error.message);
    assert!(refused("1 < 'a'").unwrap().contains("cannot compare"));
    assert!(refused("mode = 'telop'").unwrap().contains("unknown mode"));
    assert!(refused("sqrt(age(x)) > 1").unwrap().contains("age()"));
    assert_eq!(refused("anything > 1"), None);
    let mut w = watcher("x > 1");
    channel(&mut w, 0, "/x", "string");
    sample(&mut w, 0, 0, Value::String(b"2"));
    assert!(w.fault().unwrap().message.contains("cannot compare a text with a number"));
    let mut w = watcher("x > 1");
    channel(&mut w, 0, "/a/x", "double");
    channel(&mut w, 1, "/b/x", "double");
    sample(&mut w, 0, 0, Value::Double(2.0));
    assert!(w.fault().unwrap().message.contains("several channels"));
    sample(&mut w, 0, 10, Value::Double(3.0));
    assert!(watched(&mut w).is_empty());
}

#[test]
fn a_struct_that_comes_before_its_schema_is_read_when_it_comes() {
    let mut w = watcher("Point.y > 1 and age(Point) < 1s");
    channel(&mut w, 0, "/Point", "struct:Point");
    channel(&mut w, 1, "/.schema/struct:Point", "structschema");
    let point = [1.0f64.to_le_bytes(), 2.0f64.to_le_bytes()].concat();
    sample(&mut w, 0, 0, Value::Bytes(&point));
    sample(&mut w, 1, 5, Value::String(b"double x;double y"));
    channel(&mut w, 2, "/t", "double");
    sample(&mut w, 2, 10, Value::Double(0.0));
    sample(&mut w, 2, 20, Value::Double(0.0));
    assert_eq!(watched(&mut w), [5]);
    assert_eq!(w.fault(), None);
    // A field that it turns out not to have.
    let mut w = watcher("Point.z > 1");
    channel(&mut w, 0, "/Point", "struct:Point");
    channel(&mut w, 1, "/.schema/struct:Point", "structschema");
    sample(&mut w, 0, 0, Value::Bytes(&point));
    assert_eq!(w.fault(), None);
    sample(&mut w, 1, 5, Value::String(b"double x;double y"));
    sample(&mut w, 0, 10, Value::Bytes(&point));
    assert!(w.fault().unwrap().message.contains("has no .z"));
}

#[test]
fn a_mode_waits_for_its_flags_and_is_reported_at_its_moment() {
    let mut w = watcher("mode = 'auto' and x > 1");
    assert_eq!(w.missing().collect::<Vec<_>>(), ["mode", "x"]);
    for (id, name) in (0..).zip(["DS:enabled", "DS:autonomous", "DS:test", "DS:estop"]) {
        channel(&mut w, id, name, "boolean");
    }
    channel(&mut w, 4, "/x", "double");
    (0..4).for_each(|id| sample(&mut w, id, 0, Value::Boolean(false)));
    sample(&mut w, 4, 1, Value::Double(2.0));
    sample(&mut w, 4, 20, Value::Double(2.0));
    // Enabled, which alone would be teleop, and 2 ms later autonomous.
    sample(&mut w, 0, 100, Value::Boolean(true));
    sample(&mut w, 4, 101, Value::Double(3.0));
    sample(&mut w, 1, 102, Value::Boolean(true));
    sample(&mut w, 4, 104, Value::Double(4.0));
    assert!(watched(&mut w).is_empty());
    sample(&mut w, 4, 108, Value::Double(4.0));
    assert_eq!((watched(&mut w), w.missing().count()), (vec![102], 0));
}

#[test]
fn flags_that_come_before_the_first_one_count() {
    let mut w = watcher("mode = 'auto'");
    channel(&mut w, 0, "/DriverStation/Autonomous", "boolean");
    sample(&mut w, 0, 0, Value::Boolean(true));
    channel(&mut w, 1, "/DriverStation/Enabled", "boolean");
    sample(&mut w, 1, 0, Value::Boolean(true));
    assert!(watched(&mut w).is_empty());
    sample(&mut w, 0, 20, Value::Boolean(true));
    assert_eq!(watched(&mut w), [0]);
    // The field's word is not heeded as long as there is someone better.
    channel(&mut w, 2, "/FMSInfo/FMSControlData", "int64");
    sample(&mut w, 2, 40, Value::Int64(0x30));
    sample(&mut w, 2, 60, Value::Int64(0x33));
    assert_eq!((watched(&mut w).len(), w.since()), (0, Some(Time::ZERO)));
}

#[test]
fn old_samples_count_as_new_and_a_clock_that_begins_anew_is_followed() {
    let mut w = watcher("x > 1");
    channel(&mut w, 0, "/x", "double");
    channel(&mut w, 1, "/y", "double");
    sample(&mut w, 1, 100_000, Value::Double(0.0));
    // A value from long ago that arrives now.
    sample(&mut w, 0, 3_000, Value::Double(5.0));
    sample(&mut w, 1, 100_020, Value::Double(0.0));
    assert_eq!(watched(&mut w), [100_000]);
    sample(&mut w, 0, 100_040, Value::Double(0.0));
    sample(&mut w, 1, 100_060, Value::Double(0.0));
    // The robot is restarted.
    for i in 0..100 {
        sample(&mut w, 1, 20 * i, Value::Double(0.0));
    }
    sample(&mut w, 0, 2_000, Value::Double(5.0));
    sample(&mut w, 1, 2_020, Value::Double(0.0));
    assert_eq!(watched(&mut w), [2_000]);
}

#[test]
fn an_unsorted_log_in_the_order_of_time_gives_the_same() {
    let samples = [(30, 3.0), (10, 1.0), (20, 2.0)].map(|(t, x)| (0, Time::from_millis(t), Value::Double(x)));
    let (tape, log) = Tape::of(log_of(encode("wpilog", &[("/late", "double")], &samples)));
    let mut w = watcher("late = 2");
    tape.play(1, false, &mut w);
    assert_eq!(edges(w), starts(&log, "late = 2"));
}
