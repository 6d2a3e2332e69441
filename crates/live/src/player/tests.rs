//! Playing in simulated time: a moment that is waited for comes at once, and controls come when the script says.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::rc::Rc;

use logpose::{Feed, Log, OpenOptions, Order};
use logpose_core::{Channel, ChannelId, EncodeOptions, Layout, Lookup, Problem, Sample, Sink, SinkError, Time, Value};
use logpose_testkit::{encoded, ms};

use super::timer::{Timer, Wake};
use super::{Control, End, PlayOptions, Player, Report};
use crate::Batch;

struct Simulated {
    now: Rc<Cell<Time>>,
    script: VecDeque<(Time, Control)>,
}

impl Timer for Simulated {
    fn now(&self) -> Time {
        self.now.get()
    }

    fn wait(&mut self, until: Option<Time>) -> Wake {
        let end = until.map_or(Time::MAX, |until| until.max(self.now.get()));
        if let Some((time, control)) = self.script.pop_front_if(|(time, _)| *time <= end) {
            self.now.set(time.max(self.now.get()));
            return Wake::Control(control);
        }
        self.now.set(if until.is_some() { end } else { self.now.get() });
        if until.is_some() { Wake::Due } else { Wake::Alone }
    }
}

/// One batch, as its receiver sees it: times in milliseconds and names with values.
#[derive(Clone, Debug, Default, PartialEq)]
struct Given {
    /// Since the start.
    at: f64,
    declared: Vec<String>,
    samples: Vec<(f64, String, Vec<u8>)>,
    ended: Vec<(f64, String)>,
}

impl Given {
    /// Names and values, if all are of that time.
    fn shown(&self, time: f64) -> Vec<String> {
        let one = |(at, name, payload): &(f64, String, Vec<u8>)| {
            assert_eq!(*at, time, "{self:?}");
            let value = <[u8; 8]>::try_from(&**payload).map_or_else(
                |_| String::from_utf8_lossy(payload).into_owned(),
                |bytes| i64::from_le_bytes(bytes).to_string(),
            );
            format!("{name} {value}")
        };
        self.samples.iter().map(one).collect()
    }
}

struct Receiver<'n> {
    names: &'n mut Vec<String>,
    given: Given,
}

impl Sink for Receiver<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.names.len(), "numbers count up, and each comes once");
        self.names.push(channel.name.clone());
        self.given.declared.push(channel.name.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let mut payload = Vec::new();
            sample.value.emit(Layout::Little, &mut payload);
            let name = self.names[sample.channel as usize].clone();
            self.given.samples.push((millis(sample.time), name, payload));
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.given.ended.push((millis(time), self.names[id as usize].clone()));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

fn millis(time: Time) -> f64 {
    time.nanos() as f64 / 1e6
}

/// Plays logs; `cost` says how many milliseconds the receiver takes for its n-th batch.
fn play_to(
    logs: &[Log],
    lookups: Vec<Lookup>,
    options: PlayOptions,
    script: &[(i64, Control)],
    cost: impl Fn(usize) -> i64,
) -> (Vec<Given>, Report) {
    let start = Time::from_millis(1_700_000_000_000);
    let now = Rc::new(Cell::new(start));
    let script = script.iter().map(|(at, control)| (start.plus(at * 1_000_000), *control)).collect();
    let mut timer = Simulated { now: Rc::clone(&now), script };
    let (mut names, mut all) = (Vec::new(), Vec::new());
    let mut give = |batch: Batch| {
        assert_eq!(batch.received, now.get());
        let given = Given { at: millis(Time::from_nanos(now.get().since(start))), ..Given::default() };
        let mut receiver = Receiver { names: &mut names, given };
        batch.play(&mut receiver).unwrap();
        all.push(receiver.given);
        now.set(now.get().plus(cost(all.len() - 1) * 1_000_000));
        ControlFlow::Continue(())
    };
    let mut player = Player::new(logs, lookups, options).unwrap();
    let report = player.drive(&mut timer, &mut give);
    (all, report)
}

fn play(logs: &[Log], options: PlayOptions, script: &[(i64, Control)]) -> (Vec<Given>, Report) {
    play_to(logs, Vec::new(), options, script, |_| 0)
}

fn log_of(channels: &[(&str, &str)], samples: &[(ChannelId, Time, Value<'_>)]) -> Log {
    let encoder = logpose::Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
    Log::from_bytes("made.wpilog", encoded(encoder, channels, samples), &OpenOptions::default()).unwrap()
}

/// `/x` counts at 1000, 1010, 1020, … ms; `/y` has 7 at 1025 ms; the schema of something comes last.
fn counting(n: i64) -> [Log; 1] {
    let mut samples: Vec<_> = (0..n).map(|i| (0, ms(1000 + 10 * i), Value::Int64(i))).collect();
    samples.push((1, ms(1025), Value::Int64(7)));
    samples.push((2, ms(1000 + 10 * (n - 1)), Value::String(b"double x;")));
    [log_of(&[("/x", "int64"), ("/y", "int64"), ("/.schema/struct:P", "structschema")], &samples)]
}

const SCHEMA: &str = "/.schema/struct:P double x;";

#[test]
fn every_group_comes_at_its_moment() {
    for rate in [1.0, 2.0, 0.25] {
        let (all, report) = play(&counting(5), PlayOptions { rate, ..PlayOptions::default() }, &[]);
        let moments: Vec<f64> = all.iter().map(|given| given.at * rate).collect();
        assert_eq!(moments, [0.0, 0.0, 10.0, 20.0, 25.0, 30.0, 40.0]);
        assert_eq!(all[0].declared, ["/x", "/y", "/.schema/struct:P"]);
        assert_eq!(all[0].shown(1000.0), [SCHEMA]);
        assert_eq!(all[1].shown(1000.0), ["/x 0"]);
        assert_eq!(all[4].shown(1025.0), ["/y 7"]);
        assert_eq!(all[6].shown(1040.0), ["/x 4", SCHEMA]);
        assert!(matches!(report.end, End::Finished));
        assert_eq!((report.last.groups, report.last.samples), (6, 7));
        assert_eq!((report.last.error.max_ns, report.last.late, report.last.position), (0, 0, ms(1040)));
    }
}

#[test]
fn nothing_drifts_at_an_odd_rate() {
    let rate = 3.7;
    let (all, _) = play(&counting(20_000), PlayOptions { rate, ..PlayOptions::default() }, &[]);
    for given in &all[1..] {
        let due = (given.samples[0].0 - 1000.0) / rate;
        assert!((given.at - due).abs() < 1e-5, "{} {due}", given.at);
    }
}

#[test]
fn the_demo_logs_come_whole_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 20, force: false }).unwrap();
    assert!(files.len() > 4);
    for file in &files {
        let logs = [Log::open_with(file, &OpenOptions::default(), &logpose::Quiet).unwrap()];
        let mut expected = Receiver { names: &mut Vec::new(), given: Given::default() };
        Feed::new(&logs, Vec::new()).run(Order::Time, &mut expected).unwrap();
        for rate in [1.0, 30.0, f64::INFINITY] {
            let (all, report) = play(&logs, PlayOptions { rate, ..PlayOptions::default() }, &[]);
            let rows: Vec<_> = all[1..].iter().flat_map(|given| given.samples.clone()).collect();
            assert!(rows == expected.given.samples, "{}", file.display());
            assert_eq!(report.last.samples, logs[0].index.samples());
            // At high rates groups come together, but never before their moment and not much later.
            let start = rows[0].0;
            for given in all[1..].iter().filter(|_| rate.is_finite()) {
                for (time, ..) in &given.samples {
                    let late = given.at - (time - start) / rate;
                    assert!((-0.00001..1.01).contains(&late), "{late}");
                }
            }
            let batches = usize::try_from(report.last.groups).unwrap();
            assert!(if rate == 1.0 { all.len() == batches + 1 } else { all.len() <= batches + 1 });
        }
    }
}

#[test]
fn a_slow_receiver_is_caught_up_with() {
    // The batch of 1020 ms takes 24 ms; how long the first one takes does not matter.
    let cost = |n: usize| match n {
        0 => 100,
        3 => 24,
        _ => 0,
    };
    let (all, report) = play_to(&counting(10), Vec::new(), PlayOptions::default(), &[], cost);
    let moments: Vec<f64> = all.iter().skip(1).map(|given| given.at - 100.0).collect();
    assert_eq!(moments, [0.0, 10.0, 20.0, 44.0, 50.0, 60.0, 70.0, 80.0, 90.0]);
    // What was missed came in one batch, with the times it had.
    let times: Vec<f64> = all[4].samples.iter().map(|(time, ..)| *time).collect();
    assert_eq!(times, [1025.0, 1030.0, 1040.0]);
    assert_eq!((report.last.late, report.last.error.max_ns), (2, 19_000_000));
    assert_eq!(report.last.behind_ns, 0);
}

#[test]
fn as_fast_as_possible_waits_for_nothing() {
    for rate in [0.0, f64::INFINITY] {
        let (all, report) = play(&counting(5000), PlayOptions { rate, ..PlayOptions::default() }, &[]);
        assert!(all.iter().all(|given| given.at == 0.0));
        assert!(all.len() < 10 && report.last.groups == 5001, "{}", all.len());
        assert_eq!((report.last.position, report.last.error.max_ns), (ms(50_990), 0));
    }
    assert!(Player::new(&counting(5), Vec::new(), PlayOptions { rate: -1.0, ..PlayOptions::default() }).is_err());
    assert!(Player::new(&counting(5), Vec::new(), PlayOptions { rate: f64::NAN, ..PlayOptions::default() }).is_err());
}

#[test]
fn a_part_begins_with_the_values_of_its_start() {
    let part = PlayOptions { start: Some(ms(1026)), end: Some(ms(1045)), ..PlayOptions::default() };
    let (all, report) = play(&counting(10), part, &[]);
    assert_eq!(all[0].shown(1026.0), [SCHEMA, "/x 2", "/y 7"]);
    assert_eq!(all[1..].iter().map(|given| given.at).collect::<Vec<_>>(), [4.0, 14.0]);
    assert!(matches!(report.end, End::Finished));
    assert_eq!(report.last.samples, 2);
    // The same by a lookup.
    let lookup = Lookup { start: Some(ms(1026)), end: Some(ms(1045)), ..Lookup::default() };
    assert_eq!(play_to(&counting(10), vec![lookup], PlayOptions::default(), &[], |_| 0).0[..2], all[..2]);
}

#[test]
fn standing_still_takes_no_time_of_the_log() {
    let script = [(15, Control::Pause), (1000, Control::Toggle), (1002, Control::Resume)];
    let (all, _) = play(&counting(5), PlayOptions::default(), &script);
    let moments: Vec<f64> = all.iter().map(|given| given.at).collect();
    assert_eq!(moments, [0.0, 0.0, 10.0, 1005.0, 1010.0, 1015.0, 1025.0]);
}

#[test]
fn a_start_at_rest_shows_its_moment() {
    let options = PlayOptions { paused: true, start: Some(ms(1020)), ..PlayOptions::default() };
    let (all, report) = play(&counting(5), options.clone(), &[(500, Control::Quit)]);
    assert!(matches!(report.end, End::Quit));
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].shown(1020.0), [SCHEMA, "/x 1"]);
    assert_eq!((all[1].shown(1020.0), all[1].at), (vec!["/x 2".to_owned()], 0.0));
    // With nobody to let it go on it would stand for ever.
    let (all, report) = play(&counting(5), options, &[]);
    assert!(matches!(report.end, End::Quit));
    assert_eq!(all.len(), 2);
}

#[test]
fn another_rate_begins_where_it_is() {
    let script = [(5, Control::Rate(2.0)), (6, Control::Rate(f64::NAN)), (7, Control::Rate(-2.0))];
    let (all, report) = play(&counting(4), PlayOptions::default(), &script);
    // 5 ms at first, then twice as fast.
    assert_eq!(all.iter().map(|given| given.at).collect::<Vec<_>>(), [0.0, 0.0, 7.5, 12.5, 15.0, 17.5]);
    assert_eq!(report.last.rate, 2.0);
}

#[test]
fn a_seek_forward_jumps_and_brings_the_values() {
    let (all, _) = play(&counting(100), PlayOptions::default(), &[(5, Control::Seek(ms(1907)))]);
    assert_eq!(all[2].shown(1907.0), [SCHEMA, "/x 90", "/y 7"]);
    assert_eq!((all[2].at, &all[2].ended), (5.0, &Vec::new()));
    assert_eq!((all[3].shown(1910.0), all[3].at), (vec!["/x 91".to_owned()], 8.0));
    let (all, _) = play(&counting(100), PlayOptions::default(), &[(5, Control::SeekBy(900_000_000))]);
    assert_eq!((all[2].samples[0].0, all[3].samples[0].0, all[3].at), (1905.0, 1910.0, 10.0));
}

#[test]
fn a_seek_back_goes_on_in_time_and_ends_what_is_not_there_yet() {
    let (all, report) = play(&counting(5), PlayOptions::default(), &[(32, Control::Seek(ms(1010)))]);
    // Given until then: the state and 1000, 1010, 1020, 1025, 1030.
    let back = &all[6];
    let jump = 1030.001;
    assert_eq!((back.at, back.shown(jump)), (32.0, vec![SCHEMA.to_owned(), "/x 0".to_owned()]));
    assert_eq!(back.ended, [(jump, "/y".to_owned())]);
    // Then at their distances: 1010, 1020, 1025, 1030, 1040 again.
    let rest: Vec<_> = all[7..].iter().map(|given| (given.at, given.samples[0].0)).collect();
    let expected = [0.0, 10.0, 15.0, 20.0, 30.0].map(|ms| (32.0 + ms, 1030.001 + ms));
    rest.iter().zip(expected).for_each(|(a, b)| assert!((a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-6, "{a:?} {b:?}"));
    assert!(matches!(report.end, End::Finished));
    assert_eq!((rest.len(), report.last.position), (5, ms(1040)));
}

#[test]
fn several_seeks_before_anything_is_given_are_one() {
    let script = [(0, Control::Seek(ms(1900))), (0, Control::SeekBy(-880_000_000)), (0, Control::SeekBy(5_000_000))];
    let (all, _) = play(&counting(100), PlayOptions::default(), &script);
    assert_eq!(all[0].declared.len(), 3);
    assert_eq!(all[0].shown(1025.0), [SCHEMA, "/x 2"]);
    assert_eq!(all[1].shown(1025.0), ["/y 7"]);
}

#[test]
fn a_seek_is_shown_whatever_comes_right_behind_it() {
    for rate in [1.0, f64::INFINITY] {
        let options = PlayOptions { rate, paused: true, ..PlayOptions::default() };
        let script = [(1, Control::Resume), (1, Control::Seek(ms(1500))), (1, Control::Pause), (50, Control::Quit)];
        let (all, report) = play(&counting(100), options, &script);
        assert_eq!(all[2].shown(1500.0), [SCHEMA, "/x 49", "/y 7"]);
        assert_eq!(all[3].shown(1500.0), ["/x 50"]);
        assert_eq!((all.len(), report.last.position), (4, ms(1500)));
    }
}

#[test]
fn a_loop_goes_on_in_time() {
    let options = PlayOptions { looped: true, ..PlayOptions::default() };
    let (all, report) = play(&counting(5), options, &[(105, Control::Quit)]);
    assert!(matches!(report.end, End::Quit));
    assert_eq!(report.last.loops, 2);
    let turns: Vec<_> = all.iter().filter(|given| !given.ended.is_empty()).collect();
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].ended, [(1040.001, "/y".to_owned())]);
    assert_eq!(turns[0].shown(1040.001), [SCHEMA]);
    let times: Vec<f64> = all.iter().flat_map(|given| given.samples.iter().map(|(time, ..)| *time)).collect();
    assert!(times.is_sorted());
    // Every round takes 40 ms and the jump.
    let starts = all.iter().filter(|given| given.samples.iter().any(|(_, name, v)| name == "/x" && v[0] == 0));
    let starts: Vec<f64> = starts.map(|given| given.at).collect();
    assert_eq!(starts.len(), 3);
    starts.iter().zip([0.0, 40.001, 80.002]).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{starts:?}"));
    // What takes no time is not begun again for ever.
    let one = [log_of(&[("/x", "int64")], &[(0, ms(5), Value::Int64(1))])];
    let (all, report) = play(&one, PlayOptions { looped: true, ..PlayOptions::default() }, &[]);
    assert!(matches!(report.end, End::Finished));
    assert_eq!(all.len(), 2);
}

#[test]
fn steps_give_one_group_and_go_back_to_the_one_before() {
    let script = [
        (12, Control::Step(1)),
        (100, Control::Step(2)),
        (200, Control::Step(-1)),
        (300, Control::Step(-2)),
        (400, Control::Step(-50)),
        (500, Control::Step(1)),
        (600, Control::Resume),
    ];
    let (all, report) = play(&counting(5), PlayOptions::default(), &script);
    let shown: Vec<(f64, Vec<String>)> = all
        .iter()
        .map(|given| {
            (
                given.at,
                given
                    .samples
                    .iter()
                    .filter(|s| s.1 != "/.schema/struct:P")
                    .map(|s| format!("{} {}", s.1, s.2[0]))
                    .collect(),
            )
        })
        .collect();
    let expected: &[(f64, &[&str])] = &[
        (0.0, &[]),
        (0.0, &["/x 0"]),
        (10.0, &["/x 1"]),
        // It stands at 1012 ms: the next group is that of 1020.
        (12.0, &["/x 2"]),
        (100.0, &["/y 7"]),
        (100.0, &["/x 3"]),
        // Back to 1025: what was before it, and itself.
        (200.0, &["/x 2"]),
        (200.0, &["/y 7"]),
        (300.0, &["/x 0"]),
        (300.0, &["/x 1"]),
        (400.0, &[]),
        (400.0, &["/x 0"]),
        (500.0, &["/x 1"]),
        (610.0, &["/x 2"]),
        (615.0, &["/y 7"]),
        (620.0, &["/x 3"]),
        (630.0, &["/x 4"]),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(at, all)| (*at, all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())).collect();
    assert_eq!(shown, expected);
    assert!(matches!(report.end, End::Finished));
}

#[test]
fn at_the_end_it_can_be_stepped_back() {
    let options = PlayOptions { start: Some(ms(1035)), paused: true, ..PlayOptions::default() };
    let script = [(1, Control::Step(5)), (2, Control::Step(-1)), (3, Control::Quit)];
    let (all, report) = play(&counting(5), options, &script);
    // The only group of the part is the last; before it there is the start, where there is no group to go back to.
    assert!(matches!(report.end, End::Quit));
    assert_eq!(all.len(), 2);
    let script = [(35, Control::Pause), (36, Control::Step(5)), (37, Control::Step(-1)), (38, Control::Resume)];
    let (all, report) = play(&counting(5), PlayOptions::default(), &script);
    assert!(matches!(report.end, End::Finished));
    assert_eq!(all.last().unwrap().at, 48.0);
}

#[test]
fn controls_are_heeded_during_long_waits() {
    let hours = ms(1000).plus(3 * 3_600_000_000_000);
    let log = || [log_of(&[("/x", "int64")], &[(0, ms(1000), Value::Int64(0)), (0, hours, Value::Int64(1))])];
    let (all, report) = play(&log(), PlayOptions::default(), &[(20, Control::Quit)]);
    assert!(matches!(report.end, End::Quit));
    assert_eq!(all.len(), 2);
    let (all, _) = play(&log(), PlayOptions::default(), &[(20, Control::Seek(hours))]);
    assert_eq!((all.len(), all[3].at), (4, 20.0));
}

#[test]
fn a_clock_years_away_is_not_waited_for() {
    let mut samples: Vec<_> = (0..50).map(|i| (0, ms(1000 + 10 * i), Value::Int64(i))).collect();
    samples.push((1, Time::from_millis(1_700_000_000_000), Value::Int64(7)));
    let logs = [log_of(&[("/x", "int64"), ("/wall", "int64")], &samples)];
    let (all, report) = play(&logs, PlayOptions::default(), &[]);
    assert!(matches!(report.end, End::Finished));
    assert_eq!((all.last().unwrap().at, report.last.samples), (490.0, 50));
    assert_eq!(Player::new(&logs, Vec::new(), PlayOptions::default()).unwrap().timeline().strays(), 1);
}

#[test]
fn nothing_to_play_is_declared_all_the_same() {
    let logs = [log_of(&[("/x", "int64")], &[])];
    let (all, report) = play(&logs, PlayOptions { looped: true, ..PlayOptions::default() }, &[]);
    assert!(matches!(report.end, End::Finished));
    assert_eq!((all.len(), &*all[0].declared[0]), (1, "/x"));
    let (all, report) = play(&[], PlayOptions::default(), &[]);
    assert!(matches!(report.end, End::Finished));
    assert_eq!(all.len(), 0);
}

#[test]
fn several_logs_play_side_by_side() {
    let (a, b) = (counting(3), counting(3));
    let logs: Vec<Log> = a.into_iter().chain(b).collect();
    let (all, _) = play(&logs, PlayOptions::default(), &[]);
    assert_eq!(all[0].declared, ["/a/x", "/a/y", "/.schema/struct:P", "/b/x", "/b/y"]);
    assert_eq!(all[1].shown(1000.0), ["/a/x 0", "/b/x 0"]);
    assert_eq!(all.last().unwrap().shown(1025.0), ["/a/y 7", "/b/y 7"]);
}

#[test]
fn whatever_is_told_times_never_step_back() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 20, force: false }).unwrap();
    let logs = [Log::open_with(&files[0], &OpenOptions::default(), &logpose::Quiet).unwrap()];
    let mut x = 7_u64;
    let mut random = |below: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % below
    };
    for _ in 0..10 {
        let mut script: Vec<(i64, Control)> = (0..40)
            .map(|_| {
                let at = random(8000) as i64;
                let control = match random(8) {
                    0 => Control::Pause,
                    1 | 2 => Control::Resume,
                    3 => Control::Seek(ms(random(50_000) as i64)),
                    4 => Control::SeekBy(random(20_000_000_000) as i64 - 10_000_000_000),
                    5 => Control::Step(i32::try_from(random(9)).unwrap() - 4),
                    6 => Control::Rate([0.1, 1.0, 3.0, 50.0][usize::try_from(random(4)).unwrap()]),
                    _ => Control::Toggle,
                };
                (at, control)
            })
            .collect();
        script.sort_by_key(|(at, _)| *at);
        script.push((8100, Control::Quit));
        let looped = random(2) == 0;
        let (all, report) = play(&logs, PlayOptions { looped, ..PlayOptions::default() }, &script);
        let times = all.iter().flat_map(|given| given.samples.iter().map(|(time, ..)| *time));
        assert!(times.is_sorted());
        assert!(all.iter().map(|given| given.at).is_sorted());
        let (first, last) = report.last.range.unwrap();
        assert!((first..=last).contains(&report.last.position));
        // What is held at the end is what the log says there.
        let mut held: BTreeMap<&str, &[u8]> = BTreeMap::new();
        for given in &all {
            given.ended.iter().for_each(|(_, name)| {
                held.remove(&**name);
            });
            held.extend(given.samples.iter().map(|(_, name, payload)| (&**name, &**payload)));
        }
        let mut expected = Receiver { names: &mut Vec::new(), given: Given::default() };
        let end = Lookup { end: Some(report.last.position), ..Lookup::default() };
        Feed::new(&logs, vec![end]).run(Order::Time, &mut expected).unwrap();
        let values = expected.given.samples.iter().map(|(_, name, payload)| (&**name, &**payload));
        let mut expected: BTreeMap<&str, &[u8]> = values.collect();
        expected.retain(|name, _| !name.contains(".schema"));
        held.retain(|name, _| !name.contains(".schema"));
        assert!(held == expected);
    }
}
