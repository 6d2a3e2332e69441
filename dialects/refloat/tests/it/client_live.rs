//! Live values through a client into a sink.

use std::collections::BTreeMap;
use std::time::Duration;

use logpose_core::{Batch, Channel, ChannelId, Problem, Sample, Session, Sink, SinkError, Time, Value};
use logpose_refloat::session::{ClientOptions, Event, Job, LiveOptions, LiveValue, Phase};
use logpose_refloat::wire::{Control, Request};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Scenario};

use crate::client_world::{MS, START, VERSIONS, World, fetch, is_download_of, recorded, serving};

/// What a sink was given, by the names of channels.
#[derive(Default)]
struct Seen {
    channels: BTreeMap<ChannelId, Channel>,
    samples: BTreeMap<String, Vec<(Time, String)>>,
    problems: Vec<Problem>,
}

impl Seen {
    fn of(batch: &Batch) -> Self {
        let mut seen = Self::default();
        batch.play(&mut seen).unwrap();
        seen
    }

    fn times(&self, name: &str) -> Vec<Time> {
        self.samples.get(name).map(|samples| samples.iter().map(|(time, _)| *time).collect()).unwrap_or_default()
    }

    fn texts(&self, name: &str) -> Vec<&str> {
        self.samples.get(name).map(|samples| samples.iter().map(|(_, text)| &text[..]).collect()).unwrap_or_default()
    }
}

impl Sink for Seen {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert!(self.channels.insert(id, channel.clone()).is_none(), "declared once");
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let text = match sample.value {
                Value::String(text) => String::from_utf8_lossy(text).into_owned(),
                value => format!("{value:?}"),
            };
            let name = self.channels[&sample.channel].name.clone();
            self.samples.entry(name).or_default().push((sample.time, text));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

fn live(period_ms: u64) -> ClientOptions {
    let live = LiveOptions { period: Duration::from_millis(period_ms) };
    ClientOptions { live: Some(live), ..ClientOptions::default() }
}

fn late(ms: u64) -> LineOptions {
    LineOptions { delay: Duration::from_millis(ms), ..LineOptions::default() }
}

/// The requests for live values of whichever kind, and when they were sent.
fn polls(world: &World) -> Vec<i64> {
    let is_poll = |payload: &[u8]| matches!(payload, [36, 101, 10 | 31 | 33, ..]);
    world.sent.iter().filter(|(_, payload)| is_poll(payload)).map(|(at, _)| *at).collect()
}

#[test]
fn values_come_as_often_as_was_asked_for() {
    for (version, channel) in [
        (BoardVersion::V1_0, "/refloat/erpm"),
        (BoardVersion::V1_1, "/refloat/motor.erpm"),
        (BoardVersion::V1_2, "/refloat/motor.erpm"),
        (BoardVersion::V1_3, "/refloat/erpm"),
    ] {
        let board = BoardOptions { version, scenario: Scenario::Ride, ..BoardOptions::default() };
        let mut world = World::new(live(50), board, late(5));
        world.run_for(10_000);
        let seen = Seen::of(&world.sink);
        let count = seen.times(channel).len();
        assert!((190..=200).contains(&count), "{version}: {count} of {channel}, {:?}", seen.samples.keys());
        assert!(seen.problems.is_empty(), "{version}: {:?}", seen.problems);
        let view = world.client.view();
        assert_eq!(view.phase, Phase::Live);
        assert!(matches!(view.live[channel], LiveValue::Number(_, Some(ref unit)) if unit == "rpm"), "{:?}", view.live);
        assert!(matches!(view.live["/refloat/running"], LiveValue::Boolean(_)));
        assert!(matches!(view.live["/refloat/state"], LiveValue::Text(_)));
        assert_eq!(view.live.len(), seen.samples.len());
        // Sent at the period, and not more than one at a time.
        let polls = polls(&world);
        assert!(polls.windows(2).all(|pair| pair[1] - pair[0] >= 45), "{polls:?}");
    }
}

#[test]
fn times_are_those_of_the_board_and_their_offset_is_known() {
    for version in VERSIONS {
        let board = BoardOptions { version, ..BoardOptions::default() };
        let mut world = World::new(live(100), board, late(5));
        assert_eq!(world.client.clock_offset(), None);
        world.run_for(5000);
        let offset = world.client.clock_offset().unwrap();
        world.board.board_mut().advance(world.now);
        let tick = world.board.board().view().tick;
        let true_offset = world.now.nanos() - i64::from(tick) * 100_000;
        assert!((offset - true_offset).abs() <= 6 * MS, "{version}: {offset} {true_offset}");
        let times = Seen::of(&world.sink).times("/refloat/setpoint");
        assert!(times.is_sorted());
    }
}

#[test]
fn a_slow_link_is_not_asked_more_than_it_answers() {
    for version in VERSIONS {
        let board = BoardOptions { version, ..BoardOptions::default() };
        let mut world = World::new(live(10), board, late(200));
        world.run_for(20_000);
        let view = world.client.view();
        assert!(view.live_replies >= 60, "{version}: {}", view.live_replies);
        assert!(view.requests <= view.live_replies + 60, "{version}: {} for {}", view.requests, view.live_replies);
        assert_eq!(view.retries, 0);
    }
}

#[test]
fn alerts_and_the_recorder_are_emitted_where_the_version_has_them() {
    for version in VERSIONS {
        let board = BoardOptions { version, scenario: Scenario::Empty, ..BoardOptions::default() };
        let mut world = World::new(live(100), board, late(5));
        world.run_for(3000);
        world.board.board_mut().set_fault(world.now, 5);
        world.run_for(3000);
        world.run(Job::Control(Control::Autostart(false)));
        world.run_for(3000);
        let seen = Seen::of(&world.sink);
        let alerts = seen.texts("/refloat/alerts");
        let expected = if version == BoardVersion::V1_1 { 0 } else { 1 };
        assert_eq!(alerts.len(), expected, "{version}: {alerts:?}");
        assert_eq!(seen.texts("/refloat/autostart"), ["Boolean(true)", "Boolean(false)"], "{version}");
        let count = world.sent.iter().filter(|(_, payload)| payload.starts_with(&[36, 101, 35])).count();
        assert!(if expected == 0 { count == 0 } else { (14..=19).contains(&count) }, "{version}: {count}");
        assert_eq!(world.client.view().recorder.autostart, Some(false));
    }
}

#[test]
fn jobs_are_done_between_live_values() {
    for version in VERSIONS {
        let mut world = World::new(live(50), serving(version, 500), late(10));
        world.run_for(2000);
        assert_eq!(world.client.view().phase, Phase::Live);
        let events = world.run(Job::Fetch(fetch()));
        assert!(matches!(events[0], Event::Status { .. }), "the board is already known");
        is_download_of(&events, &recorded(version, 500));
        let before = world.client.view().live_replies;
        world.run_for(2000);
        assert!(world.client.view().live_replies >= before + 35);
        world.client.stop_live(world.now);
        let before = world.client.view().requests;
        world.run_for(2000);
        assert_eq!((world.client.view().requests, world.client.poll_timeout()), (before, None));
        // And again.
        world.run(Job::Live(LiveOptions::default()));
        world.run_for(1000);
        assert!(world.client.view().live.len() > 20);
    }
}

#[test]
fn ids_are_emitted() {
    for version in VERSIONS {
        let mut world = World::new(ClientOptions::default(), serving(version, 5), late(10));
        let events = world.run(Job::Ids);
        let Event::Ids { always, running } = &events[1] else { panic!("{events:?}") };
        assert!(always.len() >= 16 && running.len() >= 10, "{always:?} {running:?}");
        assert!(running.iter().any(|id| id == "setpoint"));
    }
    let board = BoardOptions { version: BoardVersion::V1_0, ..BoardOptions::default() };
    let mut world = World::new(ClientOptions::default(), board, late(10));
    assert_eq!(world.fail(Job::Ids).to_string(), "live values by ids needs Refloat 1.1; the board has Refloat 1.0");
}

#[test]
fn a_board_that_comes_back_is_heard_again() {
    for version in VERSIONS {
        let board = BoardOptions { version, ..BoardOptions::default() };
        let mut world = World::new(live(100), board.clone(), late(5));
        world.run_for(3000);
        // The link stays, the board is switched off and on.
        world.board = BoardSession::new(board.clone(), LineOptions { drop: 1.0, ..LineOptions::default() });
        world.board.handle_open(world.now, world.link.unwrap());
        world.run_for(30_000);
        let silent = world.client.view().live_replies;
        world.board = BoardSession::new(board, late(5));
        world.board.handle_open(world.now, world.link.unwrap());
        world.run_for(10_000);
        assert!(world.client.view().live_replies > silent + 40, "{version}");
        let seen = Seen::of(&world.sink);
        let codes: Vec<&str> = seen.problems.iter().map(|problem| problem.code).collect();
        assert_eq!(codes, ["refloat-absent", "restarted"], "{version}: {:?}", seen.problems);
    }
}

#[test]
fn live_values_survive_every_fault() {
    let faults = [
        LineOptions { drop: 0.3, lose: 0.3, ..late(5) },
        LineOptions { corrupt: 0.3, truncate: 0.3, ..late(5) },
        LineOptions { noise: 0.5, split: Some(1), ..late(5) },
        LineOptions { duplicate: 0.5, foreign: 0.5, ..late(5) },
        LineOptions { jitter: Duration::from_millis(300), ..late(100) },
        LineOptions { close_after: Some(3000), ..late(5) },
    ];
    for version in VERSIONS {
        for line in &faults {
            let board = BoardOptions { version, ..BoardOptions::default() };
            let mut world = World::new(live(100), board, line.clone());
            world.run_for(20_000);
            let seen = Seen::of(&world.sink);
            let name = if version == BoardVersion::V1_3 { "/refloat/erpm" } else { "/refloat/motor.erpm" };
            let times = seen.times(name);
            assert!(times.len() > 20, "{version}: {} with {line:?}", times.len());
            assert!(!seen.problems.iter().any(|problem| problem.code == "restarted"), "{:?}", seen.problems);
            // Each reply once, however often it came.
            if line.foreign == 0.0 {
                assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{version}: {line:?}");
            }
        }
    }
}

#[test]
fn who_polls_sends_nothing_that_changes_anything() {
    for version in VERSIONS {
        let board = BoardOptions { version, ..BoardOptions::default() };
        let mut world = World::new(live(50), board, LineOptions { drop: 0.2, ..late(5) });
        world.run_for(30_000);
        for (_, payload) in &world.sent {
            if let [36, app @ ..] = &payload[..] {
                let request = Request::parse(app).unwrap();
                let changes = match request {
                    Request::Control(control) => control != Control::Status,
                    Request::Header | Request::ClearFatal => true,
                    _ => false,
                };
                assert!(!changes, "{request}");
            }
        }
        assert!(START < world.now);
    }
}
