//! What a client does with a board on a good line.

use std::time::Duration;

use logpose_core::{Batch, Session, Time};
use logpose_refloat::session::{
    Change, Client, ClientOptions, Event, Failure, FetchOptions, Job, PartialRecording, Phase, RecorderState, Refused,
    Task,
};
use logpose_refloat::wire::{Control, Request};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Recorded, Scenario};

use crate::client_world::{MS, START, VERSIONS, World, fetch, is_download_of, patient, recorded, samples, serving};

const V1_1: BoardVersion = BoardVersion::V1_1;
const V1_2: BoardVersion = BoardVersion::V1_2;
const V1_3: BoardVersion = BoardVersion::V1_3;

fn world(board: BoardOptions) -> World {
    World::new(ClientOptions::default(), board, LineOptions::default())
}

fn late(ms: u64) -> LineOptions {
    LineOptions { delay: Duration::from_millis(ms), ..LineOptions::default() }
}

/// The requests to the package that were sent.
fn requests(world: &World) -> Vec<Request> {
    let app = |payload: &Vec<u8>| {
        let inner = if payload[0] == 34 { &payload[2..] } else { &payload[..] };
        inner.strip_prefix(&[36]).map(|app| Request::parse(app).unwrap())
    };
    world.sent.iter().filter_map(|(_, payload)| app(payload)).collect()
}

/// Runs until a download has so many samples.
fn run_until(world: &mut World, received: u32) {
    while world.client.view().fetch.is_none_or(|progress| progress.received < received) {
        assert!(world.step(Time::MAX));
    }
}

#[test]
fn a_recording_comes_byte_for_byte_from_every_version() {
    for version in VERSIONS {
        let mut world = world(BoardOptions { version, ..BoardOptions::default() });
        let recorded = world.board.board().recorded();
        assert_eq!(recorded.len(), world.board.board().view().capacity, "the ring is full");
        let events = world.run(Job::Fetch(fetch()));
        is_download_of(&events, &recorded);
        let other_events: Vec<&Event> = events.iter().filter(|event| !matches!(event, Event::Samples { .. })).collect();
        assert!(
            matches!(
                other_events[..],
                [
                    Event::Identified { .. },
                    Event::Status { .. },
                    Event::Protected,
                    Event::Header { .. },
                    Event::Time(_),
                    Event::Restored,
                    Event::Complete { .. },
                    Event::Done(Task::Fetch)
                ]
            ),
            "{other_events:?}"
        );
        let Event::Status { payload, .. } = other_events[1] else { unreachable!() };
        assert_eq!(*payload, recorded.status, "{version}");
        assert_eq!(*other_events[0], Event::Identified { info: recorded.info });
    }
}

#[test]
fn every_size_comes_whole() {
    for version in VERSIONS {
        for size in [0, 1, 2, 7, 8, 15, 16, 17, 19, 20, 21, 24, 39, 40, 41, 160, 168, 200, 321] {
            let mut world = world(serving(version, size));
            let events = world.run(Job::Fetch(fetch()));
            is_download_of(&events, &recorded(version, size));
        }
    }
}

#[test]
fn values_that_are_no_ieee_numbers_and_ticks_that_jump_come_as_they_are() {
    for version in VERSIONS {
        let mut odd = recorded(version, 500);
        let length = odd.sample_len();
        // Every code from 7C00 on, equal ticks, and ticks that step back.
        for (i, sample) in odd.samples.chunks_mut(length).enumerate() {
            let tick = (i as u32 / 3).wrapping_mul(if i > 250 { 0x9000_0000 } else { 1 });
            sample[..4].copy_from_slice(&tick.to_be_bytes());
            for (j, code) in sample[5..].chunks_mut(2).enumerate() {
                code.copy_from_slice(&(0x7c00 | (i * 13 + j) as u16 & 0x83ff).to_be_bytes());
            }
        }
        let board = BoardOptions { version, recording: Some(odd.clone()), ..BoardOptions::default() };
        is_download_of(&world(board).run(Job::Fetch(fetch())), &odd);
    }
}

#[test]
fn ticks_may_wrap_within_a_recording() {
    for version in VERSIONS {
        // The ride was shortly before.
        let board = BoardOptions { version, boot_ticks: Some(28_000), ..BoardOptions::default() };
        let mut world = world(board);
        let recorded = world.board.board().recorded();
        let ticks: Vec<u32> = recorded
            .samples
            .chunks(recorded.sample_len())
            .map(|sample| u32::from_be_bytes(*sample.first_chunk().unwrap()))
            .collect();
        assert!(ticks.first() > ticks.last(), "{version}: {:?} {:?}", ticks.first(), ticks.last());
        let events = world.run(Job::Fetch(fetch()));
        is_download_of(&events, &recorded);
        let checks = requests(&world).iter().filter(|request| **request == Request::Data { offset: 0 }).count();
        assert_eq!(checks, 2, "fetched once and compared once");
    }
}

#[test]
fn discovery_finds_the_board() {
    for version in VERSIONS {
        let mut world = world(BoardOptions { version, ..BoardOptions::default() });
        assert_eq!(world.client.view().phase, Phase::Closed);
        let events = world.run(Job::Identify);
        assert!(matches!(events[..], [Event::Identified { .. }, Event::Done(Task::Identify)]), "{events:?}");
        let view = world.client.view();
        assert_eq!((view.phase, view.connected, view.can, view.missing), (Phase::Idle, true, None, None));
        assert!(view.info.unwrap().to_string().starts_with(&format!("Refloat {version}")));
        assert_eq!(view.firmware.unwrap().firmware.unwrap(), "rflt-xtras-6.05");
        assert_eq!(requests(&world), [Request::Info { version: Some(2), flags: None }]);
        // The board is asked once, and every request is answered.
        assert!(matches!(world.run(Job::Identify)[..], [Event::Identified { .. }, Event::Done(_)]));
        assert_eq!(requests(&world).len(), 1);
    }
}

#[test]
fn a_board_behind_a_can_bus_is_found_and_asked_one_thing_at_a_time() {
    for version in VERSIONS {
        let board = BoardOptions { can: Some(21), ..serving(version, 100) };
        let mut world = World::new(ClientOptions::default(), board.clone(), late(5));
        is_download_of(&world.run(Job::Fetch(fetch())), &recorded(version, 100));
        let view = world.client.view();
        assert_eq!(view.can, Some(21));
        assert_eq!(view.firmware.unwrap().hardware, "LITTLE_FOCER_V3_1");
        assert_eq!(view.gateway.unwrap().hardware, "VESC Express T");
        assert_eq!(world.client.view().fetch.unwrap().window, 1);
        assert!(world.at_ms() > 2500, "the bus was searched");
        // Who knows the node need not search.
        let options = ClientOptions { can: Some(21), window: Some(4), ..ClientOptions::default() };
        let mut world = World::new(options, board, late(5));
        is_download_of(&world.run(Job::Fetch(fetch())), &recorded(version, 100));
        assert!(world.at_ms() < 1000);
        assert!(world.client.view().fetch.unwrap().window > 1);
        assert!(world.sent.iter().all(|(_, payload)| payload.len() == 1 || payload[..2] == [34, 21]));
    }
}

#[test]
fn what_is_missing_is_said_in_a_sentence() {
    let cases = [
        (
            BoardOptions { recorder: false, version: V1_2, ..BoardOptions::default() },
            "Refloat 1.2.3 can record, but the firmware ",
            "install a recorder firmware",
        ),
        (
            BoardOptions { recorder: false, can: Some(3), ..BoardOptions::default() },
            "Refloat 1.3.0-beta2 can record, but the firmware VESC 6.05 on LITTLE_FOCER_V3_1 reserves no memory for it",
            "rflt-xtras",
        ),
        (
            BoardOptions { version: BoardVersion::V1_0, ..BoardOptions::default() },
            "Refloat 1.0 cannot record",
            "recording needs Refloat 1.1",
        ),
    ];
    for (board, begins, contains) in cases {
        let mut world = world(board);
        world.run(Job::Identify);
        let missing = world.client.view().missing.unwrap();
        for job in [Job::Status, Job::Control(Control::Record(true)), Job::Fetch(fetch())] {
            let failure = world.fail(job);
            assert_eq!(failure, missing);
            let text = failure.to_string();
            assert!(text.starts_with(begins) && text.contains(contains), "{text}");
        }
        assert!(!requests(&world).iter().any(|request| matches!(request, Request::Control(_) | Request::Header)));
    }
}

#[test]
fn nobody_there_is_said_soon() {
    let silent = LineOptions { drop: 1.0, ..LineOptions::default() };
    let mut world = World::new(ClientOptions::default(), BoardOptions::default(), silent);
    let failure = world.fail(Job::Identify);
    assert!(matches!(failure, Failure::Nobody { skipped: None, .. }), "{failure:?}");
    assert!((5000..7000).contains(&world.at_ms()), "{}", world.at_ms());
    assert!(failure.to_string().starts_with("no answer from a VESC within 5."), "{failure}");
    // The next job looks again.
    assert!(matches!(world.fail(Job::Status), Failure::Nobody { .. }));
}

#[test]
fn every_version_reports_the_state_of_the_recorder() {
    for version in VERSIONS {
        let mut world = world(BoardOptions { version, ..BoardOptions::default() });
        let events = world.run(Job::Status);
        let Event::Status { state, payload } = &events[1] else { panic!("{events:?}") };
        let new = version == V1_3;
        let board = world.board.board().view();
        let expected = RecorderState {
            recording: Some(false),
            autostart: Some(true),
            autostop: Some(true),
            decimation: new.then_some(board.decimation),
            duration_cs: state.duration_cs,
        };
        assert_eq!(*state, expected);
        assert_eq!((state.duration_cs.is_some(), payload.is_some()), (new, new));
        assert_eq!(world.client.view().recorder, *state);
        let text = state.to_string();
        assert!(text.starts_with("stopped, autostart on, autostop on"), "{text}");
    }
}

#[test]
fn the_recorder_is_controlled_and_seen_to_obey() {
    for (version, line) in VERSIONS.into_iter().flat_map(|version| {
        let bad = LineOptions { drop: 0.3, lose: 0.3, duplicate: 0.3, ..LineOptions::default() };
        [(version, late(20)), (version, bad)]
    }) {
        let board = BoardOptions { version, scenario: Scenario::Empty, ..BoardOptions::default() };
        let mut world = World::new(patient(), board, line);
        for (control, is) in [
            (Control::Record(true), [true, true, true]),
            (Control::Autostop(false), [true, true, false]),
            (Control::Record(false), [false, true, false]),
            (Control::Autostart(false), [false, false, false]),
            (Control::Autostop(true), [false, false, true]),
            (Control::Autostart(true), [false, true, true]),
        ] {
            let events = world.run(Job::Control(control));
            assert_eq!(events.last(), Some(&Event::Done(Task::Control(control))));
            let view = world.board.board().view();
            assert_eq!([view.recording, view.autostart, view.autostop], is, "{version}: {control:?}");
            let state = world.client.view().recorder;
            assert_eq!([state.recording, state.autostart, state.autostop], is.map(Some));
        }
        match version {
            V1_3 => {
                for (asked, is) in [(7, 7), (0, 1), (255, 255)] {
                    world.run(Job::Control(Control::Decimation(asked)));
                    assert_eq!(world.board.board().view().decimation, is);
                    assert_eq!(world.client.view().recorder.decimation, Some(is));
                }
            }
            _ => {
                let failure = world.fail(Job::Control(Control::Decimation(4)));
                let text = failure.to_string();
                assert!(text.starts_with("decimation needs Refloat 1.3; the board has Refloat 1."), "{text}");
            }
        }
    }
}

#[test]
fn a_control_that_no_version_knows_is_not_sent() {
    let mut client = Client::new(ClientOptions::default());
    let job = Job::Control(Control::Other { sub: 9, value: 1 });
    assert_eq!(client.command(START, job), Err(Refused::NoSuchControl));
    client.command(START, Job::Fetch(fetch())).unwrap();
    assert_eq!(client.command(START, Job::Fetch(fetch())), Err(Refused::Fetching));
    for _ in 0..63 {
        client.command(START, Job::Status).unwrap();
    }
    assert_eq!(client.command(START, Job::Status), Err(Refused::Busy(64)));
}

#[test]
fn a_board_that_is_recording_is_not_stopped_without_permission() {
    for version in VERSIONS {
        let board = BoardOptions { version, scenario: Scenario::Empty, ..BoardOptions::default() };
        let mut world = world(board);
        world.run(Job::Control(Control::Record(true)));
        let asks = FetchOptions { may_stop: false, ..fetch() };
        assert_eq!(world.fail(Job::Fetch(asks.clone())), Failure::Recording);
        let view = world.board.board().view();
        assert!(view.recording && view.autostart);
        assert!(!requests(&world).contains(&Request::Header));
        // With it the board stops and gives what it has.
        world.run_for(1000);
        let events = world.run(Job::Fetch(fetch()));
        let recorded = world.board.board().recorded();
        assert!(recorded.len() > 100, "{}", recorded.len());
        is_download_of(&events, &recorded);
        // A board that is not recording needs none.
        is_download_of(&world.run(Job::Fetch(asks)), &recorded);
    }
}

#[test]
fn autostart_is_off_meanwhile_and_afterwards_what_it_was() {
    for version in VERSIONS {
        for (protect, autostart) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut world = World::new(ClientOptions::default(), serving(version, 300), late(20));
            world.run(Job::Control(Control::Autostart(autostart)));
            let before = requests(&world).len();
            world.command(Job::Fetch(FetchOptions { protect, ..fetch() }));
            run_until(&mut world, 100);
            assert_eq!(world.board.board().view().autostart, autostart && !protect);
            assert_eq!(world.client.view().fetch.unwrap().protected, protect && autostart);
            while world.client.is_busy() {
                world.step(Time::MAX);
            }
            assert_eq!(world.board.board().view().autostart, autostart);
            let protected = world.events.iter().any(|(_, event)| *event == Event::Protected);
            assert_eq!(protected, protect && autostart);
            let sent = requests(&world);
            let controls = sent[before..].iter().filter(|request| match request {
                Request::Control(control) => *control != Control::Status,
                _ => false,
            });
            assert_eq!(controls.count(), if protect && autostart { 2 } else { 0 });
        }
    }
}

#[test]
fn an_aborted_download_restores_autostart_first() {
    for version in VERSIONS {
        let mut world = World::new(ClientOptions::default(), serving(version, 1000), late(20));
        world.command(Job::Fetch(fetch()));
        world.command(Job::Status);
        run_until(&mut world, 200);
        world.client.abort(world.now);
        let first = world.events.len();
        world.run_for(3000);
        let events: Vec<Event> = world.events[first..].iter().map(|(_, event)| event.clone()).collect();
        let failed = |task| Event::Failed { task, failure: Failure::Aborted };
        assert_eq!(events, [failed(Task::Status), Event::Restored, failed(Task::Fetch)]);
        assert!(world.board.board().view().autostart);
        assert_eq!(world.client.poll_timeout(), None, "nothing is left to do");
    }
}

#[test]
fn failed_restores_are_reported() {
    // The link is gone for good.
    let mut world = World::new(ClientOptions::default(), serving(V1_2, 1000), late(20));
    world.reopens = false;
    world.command(Job::Fetch(fetch()));
    run_until(&mut world, 200);
    world.close();
    world.client.abort(world.now);
    world.settle();
    let last: Vec<String> = world.events.iter().rev().take(3).map(|(_, event)| event.to_string()).collect();
    assert_eq!(last[0], "fetch: aborted");
    assert!(last[1].starts_with("autostart was turned off for the download and could not"), "{last:?}");
    assert!(last[2].starts_with("the link was closed"));
    // The board is gone, and the link does not know.
    let mut world = World::new(ClientOptions::default(), serving(V1_3, 1000), late(20));
    world.command(Job::Fetch(fetch()));
    run_until(&mut world, 200);
    world.board = BoardSession::new(serving(V1_3, 1000), LineOptions { drop: 1.0, ..LineOptions::default() });
    world.board.handle_open(world.now, world.link.unwrap());
    let first = world.events.len();
    let from = world.at_ms();
    while world.client.is_busy() {
        world.step(Time::MAX);
    }
    let events: Vec<&Event> = world.events[first..].iter().map(|(_, event)| event).collect();
    assert!(
        matches!(events[..], [Event::NotRestored, Event::Failed { failure: Failure::Silent { .. }, .. }]),
        "{events:?}"
    );
    assert!(world.at_ms() - from < 20_000, "it ends in bounded time: {} ms", world.at_ms() - from);
    let Event::Failed { failure, .. } = events[1] else { unreachable!() };
    assert!(failure.to_string().starts_with("the board stopped answering: requested sample 2"), "{failure}");
}

#[test]
fn a_client_that_ends_in_the_middle_says_what_is_to_be_restored() {
    let mut world = World::new(ClientOptions::default(), serving(V1_2, 1000), late(20));
    world.command(Job::Fetch(fetch()));
    run_until(&mut world, 200);
    assert!(!world.board.board().view().autostart);
    world.client.handle_end(world.now);
    world.settle();
    world.run_for(1);
    assert!(world.board.board().view().autostart);
}

#[test]
fn only_what_is_missing_is_fetched_again() {
    for version in VERSIONS {
        let whole = recorded(version, 1000);
        let length = whole.sample_len();
        let piece = |from: usize, to: usize| (from as u32, whole.samples[from * length..to * length].to_vec());
        // Gaps at the front, in the middle, of one sample, and behind the end.
        for pieces in
            [vec![(40, 300), (301, 302), (500, 900)], vec![(0, 999)], vec![(0, 1000)], vec![], vec![(999, 1000)]]
        {
            let held: Vec<(u32, Vec<u8>)> = pieces.iter().map(|(from, to)| piece(*from, *to)).collect();
            let count: usize = pieces.iter().map(|(from, to)| to - from).sum();
            let held = PartialRecording { header: whole.header.clone(), samples: held };
            let mut world = World::new(ClientOptions::default(), serving(version, 1000), late(10));
            let options = FetchOptions { held: Some(held.clone()), ..fetch() };
            let mut events = world.run(Job::Fetch(options));
            assert!(!events.iter().any(|event| matches!(event, Event::Header { .. })), "it is held");
            let received: usize = events
                .iter()
                .map(|event| if let Event::Samples { bytes, .. } = event { bytes.len() / length } else { 0 })
                .sum();
            assert_eq!(received, 1000 - count, "{version}: {pieces:?}");
            let progress = world.client.view().fetch.unwrap();
            assert_eq!((progress.before as usize, progress.received, progress.size), (count, 1000, Some(1000)));
            events.extend(
                held.samples.iter().map(|(index, bytes)| Event::Samples { index: *index, bytes: bytes.clone() }),
            );
            assert!(samples(&events, length) == whole.samples);
            assert!(events.contains(&Event::Complete { samples: 1000 }));
        }
    }
}

#[test]
fn a_link_that_comes_again_goes_on_where_it_was() {
    for version in VERSIONS {
        let mut world = World::new(ClientOptions::default(), serving(version, 1000), late(10));
        world.command(Job::Fetch(fetch()));
        for received in [100, 300, 500, 700, 980] {
            run_until(&mut world, received);
            world.close();
        }
        while world.client.is_busy() {
            world.step(Time::MAX);
        }
        let events: Vec<Event> =
            world.events.iter().map(|(_, event)| event.clone()).filter(|event| *event != Event::Interrupted).collect();
        is_download_of(&events, &recorded(version, 1000));
        assert_eq!(world.client.view().fetch.unwrap().interruptions, 5);
        assert!(requests(&world).iter().filter(|request| **request == Request::Header).count() >= 6);
        assert!(world.board.board().view().autostart);
    }
}

/// What becomes of a download when the board is another one after the link was closed.
fn reconnect_to(
    version: BoardVersion,
    board: BoardOptions,
    prepare: impl FnOnce(&mut BoardSession),
) -> (World, Failure) {
    let mut world = World::new(ClientOptions::default(), serving(version, 1000), late(10));
    world.command(Job::Fetch(fetch()));
    run_until(&mut world, 400);
    world.close();
    world.board = BoardSession::new(board, late(10));
    prepare(&mut world.board);
    while world.client.is_busy() {
        world.step(Time::MAX);
    }
    let [(_, changed), (_, failed)] = world.events.last_chunk().unwrap();
    let Event::Failed { failure, .. } = failed.clone() else { panic!("{failed:?}") };
    if let Failure::Changed(change) = &failure {
        assert_eq!(*changed, Event::Changed(*change));
    }
    let failure = failure.clone();
    (world, failure)
}

#[test]
fn a_board_that_has_recorded_anew_is_not_mixed_with_what_was_received() {
    for version in VERSIONS {
        let other = |seed| logpose_sim::board::simulate(Scenario::Ride, version, seed);
        let cut = |mut recorded: Recorded, size: u32| {
            recorded.samples.truncate(size as usize * recorded.sample_len());
            recorded.header[2..6].copy_from_slice(&size.to_be_bytes());
            recorded
        };
        let serve = |recording| BoardOptions { version, recording: Some(recording), ..BoardOptions::default() };

        let (_, failure) = reconnect_to(version, serve(cut(other(3), 990)), |_| {});
        assert_eq!(failure, Failure::Changed(Change::Size { before: 1000, now: 990 }));

        let (world, failure) = reconnect_to(version, serve(cut(other(3), 1000)), |_| {});
        assert_eq!(failure, Failure::Changed(Change::Sample { index: 0 }));
        assert!(failure.to_string().contains("sample 0 differs"), "{failure}");
        let received: Vec<Event> = world.events.into_iter().map(|(_, event)| event).collect();
        assert!(recorded(version, 1000).samples.starts_with(&samples(&received, recorded(version, 1).sample_len())));

        // The same beginning, and another sample where the link was closed.
        let mut same = recorded(version, 1000);
        let length = same.sample_len();
        same.samples[100 * length..].iter_mut().for_each(|byte| *byte ^= 1);
        let (_, failure) = reconnect_to(version, serve(same), |_| {});
        assert!(matches!(failure, Failure::Changed(Change::Sample { index: 400.. })), "{failure:?}");

        // Another number of the same length.
        let mut named = recorded(version, 1000);
        let place = named.header.len() - 1;
        named.header[place] ^= 1;
        let (_, failure) = reconnect_to(version, serve(named), |_| {});
        assert_eq!(failure, Failure::Changed(Change::Ids));
    }
}

#[test]
fn a_board_that_records_again_is_left_alone() {
    for version in VERSIONS {
        let board = BoardOptions { version, scenario: Scenario::Empty, ..BoardOptions::default() };
        let (world, failure) = reconnect_to(version, board, |board| {
            let mut replies = Vec::new();
            let mut start = vec![36];
            Request::Control(Control::Record(true)).emit(&mut start);
            board.board_mut().handle(START, &start, &mut replies);
        });
        assert_eq!(failure, Failure::Changed(Change::Recording));
        assert!(world.board.board().view().recording, "it was not stopped");
    }
}

#[test]
fn another_version_is_another_board() {
    let (_, failure) = reconnect_to(V1_1, serving(V1_2, 1000), |_| {});
    assert_eq!(failure, Failure::Changed(Change::Board));
}

#[test]
fn what_changes_while_the_link_is_open_is_seen_in_the_end() {
    for version in VERSIONS {
        let mut world = World::new(ClientOptions::default(), serving(version, 1000), late(10));
        world.command(Job::Fetch(fetch()));
        run_until(&mut world, 400);
        // Somebody else has started and stopped it.
        let mut other = recorded(version, 1000);
        other.samples.iter_mut().for_each(|byte| *byte ^= 0x55);
        let board = BoardOptions { version, recording: Some(other), ..BoardOptions::default() };
        world.board = BoardSession::new(board, late(10));
        world.board.handle_open(world.now, world.link.unwrap());
        while world.client.is_busy() {
            world.step(Time::MAX);
        }
        let (_, last) = world.events.last().unwrap();
        let Event::Failed { failure: Failure::Changed(change), .. } = last else { panic!("{last:?}") };
        assert!(matches!(change, Change::Sample { .. }), "{change:?}");
    }
}

#[test]
fn a_download_may_be_done_twice_and_by_another_client() {
    for version in VERSIONS {
        let mut world = world(serving(version, 333));
        let whole = recorded(version, 333);
        is_download_of(&world.run(Job::Fetch(fetch())), &whole);
        is_download_of(&world.run(Job::Fetch(fetch())), &whole);
        world.close();
        world.client = Client::new(ClientOptions::default());
        is_download_of(&world.run(Job::Fetch(fetch())), &whole);
    }
}

#[test]
fn held_parts_that_make_no_sense_are_refused() {
    let header = recorded(V1_1, 10).header;
    let held = |header: &[u8], samples: Vec<(u32, Vec<u8>)>| FetchOptions {
        held: Some(PartialRecording { header: header.to_vec(), samples }),
        ..fetch()
    };
    for options in [
        held(&[], vec![]),
        held(&header[..30], vec![]),
        held(&header, vec![(0, vec![0; 26])]),
        held(&header, vec![(0, vec![0; 50]), (1, vec![1; 25])]),
    ] {
        let mut world = world(serving(V1_1, 10));
        assert!(matches!(world.fail(Job::Fetch(options)), Failure::Held(_)));
    }
}

#[test]
fn the_mark_of_time_is_right_within_what_it_says() {
    for version in VERSIONS {
        for (delay, jitter) in [(0, 0), (1, 0), (30, 0), (30, 100), (700, 0)] {
            let line = LineOptions { jitter: Duration::from_millis(jitter), ..late(delay) };
            let mut world = World::new(patient(), serving(version, 100), line);
            let events = world.run(Job::Fetch(fetch()));
            let time = events.iter().find_map(|event| if let Event::Time(time) = event { Some(*time) } else { None });
            let time = time.unwrap();
            // What the board's tick is at a time of the host.
            let board = world.board.board().view().tick;
            let ago = i64::from(board.wrapping_sub(time.tick)) * 100;
            let true_us = world.now.micros() - ago;
            let error = (time.host_us.cast_signed() - true_us).abs();
            assert!(error <= i64::from(time.uncertainty_us) + 100, "{version}, {delay} ms: {error} µs off, {time:?}");
            let most = 500 * (delay + jitter) + 1100;
            assert!(u64::from(time.uncertainty_us) <= most, "{version}, {delay} ms: {time:?}");
        }
    }
}

#[test]
fn the_clock_of_the_caller_may_begin_anywhere() {
    let options = ClientOptions { epoch_ns: -START.nanos() + 5_000_000_000, ..ClientOptions::default() };
    let mut world = World::new(options, serving(V1_2, 10), LineOptions::default());
    let events = world.run(Job::Fetch(fetch()));
    let Some(Event::Time(time)) = events.iter().find(|event| matches!(event, Event::Time(_))) else { panic!() };
    assert!((5_000_000..6_000_000).contains(&time.host_us), "{time:?}");
}

#[test]
fn a_download_is_limited_by_the_line() {
    for version in VERSIONS {
        let size = 1500;
        let whole = recorded(version, size);
        // The frames of the samples at 115200 baud: the reply needs longer than the next request.
        let chunk = 505 / whole.sample_len();
        let frames = size.div_ceil(chunk);
        let bytes = size * whole.sample_len() + frames * 13;
        let min = bytes as f64 * 10.0 / 115_200.0;
        let line = LineOptions { baud: Some(115_200), ..LineOptions::default() };
        let mut world = World::new(ClientOptions::default(), serving(version, size), line);
        is_download_of(&world.run(Job::Fetch(fetch())), &whole);
        let took = world.at_ms() as f64 / 1000.0;
        println!("{version} at 115200 baud: {took:.2} s of {min:.2} s, {:.0} %", min / took * 100.0);
        assert!(took < min * 1.1, "{version}: {took} s, {min} s");
        // On a long way several requests under way make it shorter.
        let alone = ClientOptions { window: Some(1), ..ClientOptions::default() };
        let times = [alone, ClientOptions::default()].map(|options| {
            let mut world = World::new(options, serving(version, size), late(50));
            is_download_of(&world.run(Job::Fetch(fetch())), &whole);
            world.at_ms()
        });
        println!("{version} over 50 ms: {} ms one at a time, {} ms with a window", times[0], times[1]);
        assert!(times[1] * 3 < times[0], "{times:?}");
    }
}

#[test]
fn no_more_requests_are_under_way_than_permitted() {
    for window in [1, 2, 5, 300] {
        let options = ClientOptions { window: Some(window), ..ClientOptions::default() };
        let mut world = World::new(options, serving(V1_2, 1999), late(50));
        world.command(Job::Fetch(fetch()));
        let mut most = 0;
        while world.client.is_busy() {
            world.step(Time::MAX);
            // Every request is answered in its time, so those of the last 50 ms are under way.
            let since = world.at_ms() - 50;
            let is_data = |payload: &[u8]| payload.starts_with(&[36, 101, 41, 2, 2]);
            most = most.max(world.sent.iter().filter(|(at, payload)| *at > since && is_data(payload)).count());
        }
        assert!(most <= window, "{most} of {window}");
        assert!(most == window || window == 300, "{most} of {window}");
    }
}

#[test]
fn progress_shows_how_far_it_is_and_how_long_it_takes() {
    let line = LineOptions { baud: Some(115_200), ..LineOptions::default() };
    let mut world = World::new(ClientOptions::default(), serving(V1_2, 2000), line);
    world.command(Job::Fetch(fetch()));
    assert!(world.step(Time::MAX));
    assert_eq!(world.client.view().phase, Phase::Identifying);
    run_until(&mut world, 1000);
    let view = world.client.view();
    assert_eq!(view.phase, Phase::Working(Task::Fetch));
    let progress = view.fetch.unwrap();
    assert_eq!(
        (progress.size, progress.sample_len, progress.bytes),
        (Some(2000), 25, 25 * u64::from(progress.received))
    );
    // 20 samples take 513 bytes of the line.
    let rate = 11_520.0 * 500.0 / 513.0;
    assert!((progress.rate / rate - 1.0).abs() < 0.1, "{} of {rate}", progress.rate);
    let left = progress.left.unwrap().as_secs_f64();
    assert!((left * rate / 25_000.0 - 1.0).abs() < 0.15, "{left} s");
    assert!(progress.round_trip.unwrap() >= Duration::from_millis(45));
}

#[test]
fn a_second_link_is_not_listened_to() {
    let mut world = world(serving(V1_2, 10));
    world.run(Job::Identify);
    let before = world.client.view();
    world.client.handle_open(world.now, logpose_core::Link(77));
    let mut sink = Batch::default();
    world.client.handle_input(world.now, logpose_core::Link(77), &[2, 1, 0, 0, 0, 3], &mut sink).unwrap();
    world.client.handle_close(world.now, logpose_core::Link(77));
    assert_eq!(world.client.view(), before);
    world.run(Job::Status);
    assert!(world.at_ms() * MS < 1_000_000_000);
}
