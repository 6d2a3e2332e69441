//! Playing by the clock on the wall. Nothing here asks for more than any machine gives.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use logpose::core::{Channel, ChannelId, EncodeOptions, Problem, Sample, Sink, SinkError, Time, Value};
use logpose::{Log, OpenOptions};
use logpose_live::Batch;
use logpose_live::player::{Control, End, PlayOptions, Player};
use logpose_testkit::{encoded, ms};

/// A channel that counts, at these milliseconds.
fn log_of(times_ms: &[i64]) -> Log {
    let encoder = logpose::Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
    let samples: Vec<_> = (0..).zip(times_ms).map(|(i, at)| (0, ms(*at), Value::Int64(i))).collect();
    let log = encoded(encoder, &[("/x", "int64")], &samples);
    Log::from_bytes("made.wpilog", log, &OpenOptions::default()).unwrap()
}

#[derive(Default)]
struct Times(Vec<Time>);

impl Sink for Times {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0.extend(samples.iter().map(|sample| sample.time));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

#[test]
fn a_log_that_cannot_be_read_on_ends_the_player_with_an_error() {
    let times: Vec<i64> = (0..5000).collect();
    let (whole, mut short) = (log_of(&times), log_of(&times[..2000]));
    short.index = whole.index.clone();
    let logs = [short];
    let mut player = Player::new(&logs, Vec::new(), PlayOptions { rate: 0.0, ..PlayOptions::default() }).unwrap();
    let (_sender, controls) = mpsc::channel();
    let mut given = 0;
    let report = player.run(controls, &mut |batch: Batch| {
        let mut times = Times::default();
        batch.play(&mut times).unwrap();
        given += times.0.len();
        ControlFlow::Continue(())
    });
    let End::Unreadable(error) = report.end else { panic!("{:?}", report.end) };
    assert!(error.to_string().contains("the index names a record here"), "{error}");
    assert!(given <= 2000, "{given}");
}

#[test]
fn by_the_clock_nothing_comes_early_and_all_in_order() {
    let times: Vec<i64> = (0..60).map(|i| 1000 + 5 * i + i % 3).collect();
    let logs = [log_of(&times)];
    let mut player = Player::new(&logs, Vec::new(), PlayOptions::default()).unwrap();
    let status = player.status();
    let (_sender, controls) = mpsc::channel();
    let (start, mut first, mut seen) = (Instant::now(), None, Times::default());
    let report = player.run(controls, &mut |batch: Batch| {
        let before = seen.0.len();
        batch.play(&mut seen).unwrap();
        let began = *first.get_or_insert(batch.received);
        for time in &seen.0[before..] {
            assert!(batch.received.since(began) >= time.since(Time::from_millis(1000)));
        }
        assert!(status.snapshot().range.is_some());
        ControlFlow::Continue(())
    });
    assert!(seen.0.iter().copied().eq(times.iter().map(|ms| Time::from_millis(*ms))));
    assert!(start.elapsed() >= Duration::from_millis(times.last().unwrap().unsigned_abs() - 1000));
    assert!(matches!(report.end, End::Finished));
    assert_eq!((report.last.groups, report.last.samples), (60, 60));
    assert!(report.last.error.p50_ns <= report.last.error.p99_ns);
    assert!(report.last.error.p99_ns <= report.last.error.max_ns);
}

#[test]
fn by_the_clock_a_player_that_waits_for_hours_can_resume_or_quit() {
    let hours = 7_200_000;
    let logs: &'static [Log] = Box::leak(Box::new([log_of(&[0, hours, 2 * hours])]));
    let (sender, controls) = mpsc::channel();
    let (events, seen) = mpsc::channel();
    let done = events.clone();
    thread::spawn(move || {
        let mut player = Player::new(logs, Vec::new(), PlayOptions::default()).unwrap();
        let report = player.run(controls, &mut |batch| {
            events.send(batch.sample_count()).unwrap();
            ControlFlow::Continue(())
        });
        assert!(matches!(report.end, End::Quit));
        done.send(usize::MAX).unwrap();
    });
    let next = || seen.recv_timeout(Duration::from_secs(30)).unwrap();
    // The declaration, and the first sample.
    assert_eq!((next(), next()), (0, 1));
    sender.send(Control::Seek(Time::from_millis(hours))).unwrap();
    assert_eq!((next(), next()), (1, 1));
    sender.send(Control::Pause).unwrap();
    sender.send(Control::Step(1)).unwrap();
    assert_eq!(next(), 1);
    sender.send(Control::Quit).unwrap();
    assert_eq!(next(), usize::MAX);
}

#[test]
fn nobody_to_give_to_ends_it() {
    let logs = [log_of(&[0, 1, 2])];
    let mut player = Player::new(&logs, Vec::new(), PlayOptions::default()).unwrap();
    let report = player.run(mpsc::channel().1, &mut |_| ControlFlow::Break(()));
    assert!(matches!(report.end, End::Refused));
    assert_eq!(report.last.samples, 0);
}
