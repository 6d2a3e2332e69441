//! Boards that do not answer, lie, or talk nonsense: a client ends with a failure, in bounded time and memory.

use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::{Batch, Limits, Link, Session, Time};
use logpose_refloat::session::{Change, Client, ClientOptions, Event, Failure, FetchOptions, Job, LiveOptions};
use logpose_refloat::vesc::{forwarded, framed};
use logpose_refloat::wire::Header;
use logpose_sim::board::{Board, BoardOptions, BoardVersion, LineOptions};

use crate::client_world::{MS, START, World, fetch, is_download_of, permitted, recorded, serving};

const LINK: Link = Link(1);

/// A client, and something that answers each payload with bytes, a millisecond later.
struct Talk<F: FnMut(&[u8]) -> Vec<Vec<u8>>> {
    client: Client,
    peer: F,
    now: Time,
    flying: VecDeque<(Time, Vec<u8>)>,
    /// Bytes that come every ten milliseconds, whatever is asked.
    noise: Option<Box<dyn FnMut() -> Vec<u8>>>,
}

impl<F: FnMut(&[u8]) -> Vec<Vec<u8>>> Talk<F> {
    fn new(options: ClientOptions, peer: F) -> Self {
        let mut client = Client::new(options);
        client.handle_open(START, LINK);
        Self { client, peer, now: START, flying: VecDeque::new(), noise: None }
    }

    /// Does a job; returns its end, and how many milliseconds it took.
    fn run(&mut self, job: Job, most_ms: i64) -> (Result<u32, Failure>, i64) {
        let begin = self.now;
        self.client.command(self.now, job).unwrap();
        let mut sink = Batch::default();
        let mut received = 0;
        let mut next_noise = self.now;
        loop {
            while let Some(transmit) = self.client.poll_transmit() {
                for payload in permitted(&transmit.bytes) {
                    let replies = (self.peer)(&payload);
                    self.flying.extend(replies.into_iter().map(|bytes| (self.now.plus(MS), bytes)));
                }
            }
            while let Some(event) = self.client.poll_event() {
                match event {
                    Event::Samples { bytes, .. } => received += bytes.len() as u32,
                    Event::Done(_) => return (Ok(received), self.now.since(begin) / MS),
                    Event::Failed { failure, .. } => return (Err(failure), self.now.since(begin) / MS),
                    _ => {}
                }
            }
            let noise = self.noise.as_ref().map(|_| next_noise);
            let next = [self.client.poll_timeout(), self.flying.front().map(|(at, _)| *at), noise];
            self.now = self.now.max(next.into_iter().flatten().min().expect("something happens"));
            assert!(self.now.since(begin) / MS < most_ms, "no end: {:?}", self.client.view());
            if let Some(noise) = self.noise.as_mut().filter(|_| next_noise <= self.now) {
                next_noise = self.now.plus(10 * MS);
                self.client.handle_input(self.now, LINK, &noise(), &mut sink).unwrap();
            }
            while let Some((_, bytes)) = self.flying.pop_front_if(|(at, _)| *at <= self.now) {
                self.client.handle_input(self.now, LINK, &bytes, &mut sink).unwrap();
            }
            self.client.handle_timeout(self.now);
            assert!(self.client.poll_timeout().is_none_or(|due| due > self.now), "it does not wait");
            sink = Batch::default();
        }
    }
}

/// An honest board, whose app payloads `change` may replace.
fn liar(
    board: BoardOptions,
    mut change: impl FnMut(&[u8], &mut Vec<Vec<u8>>),
) -> Talk<impl FnMut(&[u8]) -> Vec<Vec<u8>>> {
    let mut board = Board::new(board);
    let mut ticks = 0;
    Talk::new(ClientOptions::default(), move |payload| {
        let mut replies = Vec::new();
        ticks += 1;
        board.handle(START.plus(ticks * MS), payload, &mut replies);
        change(payload, &mut replies);
        replies.iter().map(|reply| framed(reply)).collect()
    })
}

fn random(seed: u64) -> impl FnMut() -> u8 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    }
}

#[test]
fn a_board_that_never_answers_has_an_end() {
    for job in [Job::Identify, Job::Status, Job::Ids, Job::Fetch(fetch()), Job::Live(LiveOptions::default())] {
        let mut talk = Talk::new(ClientOptions::default(), |_| Vec::new());
        let (end, ms) = talk.run(job, 10_000);
        assert!(matches!(end, Err(Failure::Nobody { skipped: None, .. })), "{end:?}");
        assert!(ms < 7000, "{ms} ms");
    }
}

#[test]
fn endless_noise_has_an_end() {
    for seed in 1..20 {
        let mut byte = random(seed);
        let mut talk = Talk::new(ClientOptions::default(), |_| Vec::new());
        talk.noise = Some(Box::new(move || (0..200).map(|_| byte()).collect()));
        let (end, ms) = talk.run(Job::Fetch(fetch()), 60_000);
        let Err(failure) = end else { panic!() };
        let text = failure.to_string();
        assert!(text.contains("invalid bytes (perhaps the wrong baud rate)"), "{text}");
        assert!(ms < 10_000, "{ms} ms");
    }
    // The same bytes in good frames.
    for seed in 1..20 {
        let mut byte = random(seed);
        let mut talk = Talk::new(ClientOptions::default(), |_| Vec::new());
        talk.noise = Some(Box::new(move || {
            let mut payload: Vec<u8> = (0..50).map(|_| byte()).collect();
            let id = [0, 31, 33, 41, 42, 43][usize::from(payload[3]) % 6];
            payload[..3].copy_from_slice(&[36, 101, id]);
            framed(&payload)
        }));
        let (end, ms) = talk.run(Job::Fetch(fetch()), 600_000);
        assert!(end.is_err(), "{end:?}");
        assert!(ms < 120_000, "{ms} ms: {end:?}");
    }
}

#[test]
fn a_peer_that_is_not_refloat_is_named() {
    // A controller, and a radio with nobody, with another module and with a silent bus behind it.
    let firmware = |kind: u8| {
        let mut payload = vec![0, 6, 5];
        payload.extend(b"HW\0");
        payload.extend([7; 12]);
        payload.extend([0, 0, kind]);
        payload
    };
    let cases: [(u8, Option<&[u8]>, &str); 4] = [
        (0, Some(&[]), "a controller (VESC 6.05 on HW) answers, but Refloat does not, and its CAN bus is empty"),
        (2, Some(&[]), "its CAN bus is empty"),
        (2, Some(&[9, 40]), "nor over CAN nodes 9, 40"),
        (1, None, "a BMS (VESC 6.05 on HW) answers, but Refloat does not; check that the package is installed"),
    ];
    for (kind, nodes, text) in cases {
        let mut talk = Talk::new(ClientOptions::default(), |payload| match payload {
            [0] => vec![framed(&firmware(kind))],
            [62] => nodes.map(|nodes| framed(&[&[62], nodes].concat())).into_iter().collect(),
            _ => Vec::new(),
        });
        let (end, ms) = talk.run(Job::Identify, 60_000);
        let Err(failure @ Failure::NoRefloat { .. }) = end else { panic!("{end:?}") };
        assert!(failure.to_string().contains(text), "{failure}");
        assert!(ms < 30_000, "{ms} ms");
    }
    // The node that was named is not there.
    let options = ClientOptions { can: Some(5), ..ClientOptions::default() };
    let mut talk = Talk::new(options, |payload| if payload == [0] { vec![framed(&firmware(2))] } else { vec![] });
    let (end, _) = talk.run(Job::Identify, 60_000);
    assert!(end.unwrap_err().to_string().contains("nor over CAN node 5"));
}

#[test]
fn several_boards_are_named_and_one_can_be_chosen() {
    let bus = |can: Option<u8>| {
        let mut boards = [(21, BoardVersion::V1_2), (40, BoardVersion::V1_3)]
            .map(|(can, version)| Board::new(BoardOptions { can: Some(can), ..serving(version, 100) }));
        let mut asked = 0;
        Talk::new(ClientOptions { can, ..ClientOptions::default() }, move |payload: &[u8]| {
            let mut replies = Vec::new();
            asked += 1;
            match payload {
                [62] => replies.push(vec![62, 3, 21, 40]),
                // Every third request is lost, and replies come twice.
                _ if asked % 3 == 0 => {}
                _ => boards.iter_mut().for_each(|board| board.handle(START, payload, &mut replies)),
            }
            replies.truncate(if forwarded(payload).is_some() { 2 } else { 1 });
            replies.iter().flat_map(|reply| [framed(reply), framed(reply)]).collect()
        })
    };
    let (end, _) = bus(None).run(Job::Identify, 60_000);
    let Err(failure) = end else { panic!() };
    let text =
        "several boards answer on the CAN bus: 21 (Refloat 1.2.3), 40 (Refloat 1.3.0-beta2); select one with --can ID";
    assert_eq!(failure.to_string(), text);
    let (end, _) = bus(Some(21)).run(Job::Fetch(fetch()), 60_000);
    assert_eq!(end, Ok(100 * 25));
    let (end, _) = bus(Some(40)).run(Job::Fetch(fetch()), 60_000);
    assert_eq!(end, Ok(100 * 31));
}

#[test]
fn a_package_with_the_short_info_alone_is_an_old_one_whatever_its_number() {
    for (number, text) in [(10, "Refloat 1.0 cannot record"), (13, "Float 1.3 cannot record")] {
        let mut talk = liar(BoardOptions::default(), move |payload, replies| {
            if payload.starts_with(&[36, 101, 0]) {
                *replies = vec![vec![36, 101, 0, number, 1, 0]];
            }
        });
        assert_eq!(talk.run(Job::Identify, 10_000).0, Ok(0));
        let (end, _) = talk.run(Job::Status, 10_000);
        assert!(end.unwrap_err().to_string().starts_with(text));
    }
    // Somebody else has asked for the short one: the long one comes all the same.
    let mut talk = liar(BoardOptions::default(), |payload, replies| {
        if payload.starts_with(&[36, 101, 0]) {
            replies.insert(0, vec![36, 101, 0, 13, 1, 0]);
        }
    });
    assert_eq!(talk.run(Job::Status, 10_000).0, Ok(0));
}

#[test]
fn samples_from_before_the_header_are_of_another_recording() {
    for version in crate::client_world::VERSIONS {
        let whole = recorded(version, 100);
        let length = whole.sample_len();
        let mut talk = liar(serving(version, 100), move |payload, replies| {
            let mut stale = vec![36, 101, 43, 0, 0, 0, 20];
            stale.extend(std::iter::repeat_n(0xee, length * 10));
            if !payload.starts_with(&[36, 101, 41, 2, 2]) {
                replies.insert(0, stale);
            }
        });
        let (end, ms) = talk.run(Job::Fetch(fetch()), 60_000);
        assert_eq!(end, Ok(100 * length as u32), "{version}");
        assert!(ms < 1000, "{ms} ms");
        assert!(talk.client.view().fetch.unwrap().rejected >= 2);
    }
}

#[test]
fn a_late_reply_of_an_older_recording_is_found_out_by_its_ticks() {
    for version in crate::client_world::VERSIONS {
        let length = recorded(version, 1).sample_len();
        let mut asked = 0;
        let mut talk = liar(serving(version, 1000), move |payload, replies| {
            if payload.starts_with(&[36, 101, 41, 2, 2]) {
                asked += 1;
                if asked == 3 {
                    // Ticks from before, at a place that nobody has asked for yet.
                    let mut old = vec![36, 101, 43, 0, 0, 2, 128];
                    old.extend((0..10_u8).flat_map(|i| [&[0, 0, 1, i][..], &vec![0; length - 4]].concat()));
                    replies.push(old);
                }
            }
        });
        let (end, _) = talk.run(Job::Fetch(fetch()), 60_000);
        assert!(matches!(end, Err(Failure::Changed(Change::Sample { index: 639..=649 }))), "{version}: {end:?}");
    }
}

#[test]
fn claims_of_a_header_are_bounded() {
    for (size, n) in [(u32::MAX, 10), (u32::MAX, 255), (1 << 20, 255), (u32::MAX, 0)] {
        let mut talk = liar(serving(BoardVersion::V1_2, 10), move |payload, replies| {
            if payload == [36, 101, 41, 2, 1] {
                let mut reply = vec![36];
                Header::put(size, std::iter::repeat_n("", n), &mut reply);
                *replies = vec![reply];
            }
        });
        let (end, ms) = talk.run(Job::Fetch(fetch()), 60_000);
        let limit = Limits::default().held_back;
        assert_eq!(end, Err(Failure::TooLarge { size, sample_len: 5 + 2 * n, limit }));
        assert!(ms < 1000, "{ms} ms");
    }
}

#[test]
fn a_board_that_has_less_than_it_says_has_an_end() {
    for version in [BoardVersion::V1_2, BoardVersion::V1_3] {
        let mut talk = liar(serving(version, 100), |payload, replies| {
            if payload == [36, 101, 41, 2, 1] {
                replies[0][3..7].copy_from_slice(&100_000_u32.to_be_bytes());
            }
        });
        let (end, ms) = talk.run(Job::Fetch(fetch()), 600_000);
        assert!(matches!(end, Err(Failure::Missing { size: 100_000, at: 100.. })), "{end:?}");
        assert!(ms < 60_000, "{ms} ms");
    }
    // Silence instead of empty replies.
    let mut talk = liar(serving(BoardVersion::V1_3, 100), |payload, replies| {
        if payload.starts_with(&[36, 101, 41, 2, 2]) && payload[8] > 50 {
            replies.clear();
        }
    });
    let (end, ms) = talk.run(Job::Fetch(fetch()), 600_000);
    assert!(matches!(end, Err(Failure::Silent { .. })), "{end:?}");
    assert!(ms < 30_000, "{ms} ms");
}

#[test]
fn fewer_samples_than_fit_are_taken_and_more_than_there_are_cut_off() {
    for version in crate::client_world::VERSIONS {
        let whole = recorded(version, 333);
        let length = whole.sample_len();
        for most in [1, 3, 7] {
            let mut talk = liar(serving(version, 333), move |payload, replies| {
                if payload.starts_with(&[36, 101, 41, 2, 2]) {
                    replies.iter_mut().for_each(|reply| reply.truncate(7 + most * length));
                }
            });
            assert_eq!(talk.run(Job::Fetch(fetch()), 600_000).0, Ok(333 * length as u32));
        }
        // Stale samples behind the end, as 1.1 has them.
        let mut talk = liar(serving(version, 333), move |payload, replies| {
            if payload.starts_with(&[36, 101, 41, 2, 2]) {
                replies.iter_mut().for_each(|reply| {
                    let room = (512 - reply.len()) / length;
                    reply.extend(std::iter::repeat_n(0xee, room * length));
                });
            }
        });
        assert_eq!(talk.run(Job::Fetch(fetch()), 600_000).0, Ok(333 * length as u32));
        // Pieces of samples are none.
        let mut broken = 0;
        let mut talk = liar(serving(version, 333), move |payload, replies| {
            broken += 1;
            if payload.starts_with(&[36, 101, 41, 2, 2]) && broken % 2 == 0 {
                replies.iter_mut().for_each(|reply| reply.truncate(reply.len() - 1));
            }
        });
        assert_eq!(talk.run(Job::Fetch(fetch()), 600_000).0, Ok(333 * length as u32));
    }
}

#[test]
fn samples_that_contradict_are_not_taken_for_ever() {
    // Every reply is another.
    let mut count = 0;
    let mut talk = liar(serving(BoardVersion::V1_3, 500), move |payload, replies| {
        if payload.starts_with(&[36, 101, 41, 2, 2]) {
            count += 1;
            replies.iter_mut().for_each(|reply| reply[20] = count);
        }
    });
    let (end, ms) = talk.run(Job::Fetch(fetch()), 600_000);
    assert!(matches!(end, Err(Failure::Changed(Change::Sample { .. }))), "{end:?}");
    assert!(ms < 10_000);
    // A foreign reply that contradicts makes it look again, and goes on when all is as it was.
    let mut asked = 0;
    let mut talk = liar(serving(BoardVersion::V1_3, 500), move |payload, replies| {
        if payload.starts_with(&[36, 101, 41, 2, 2]) {
            asked += 1;
            if asked == 9 {
                let mut wrong = vec![36, 101, 43, 0, 0, 0, 16];
                wrong.extend([9; 62]);
                replies.push(wrong);
            }
        }
    });
    let (end, _) = talk.run(Job::Fetch(fetch()), 600_000);
    assert_eq!(end, Ok(500 * 31));
}

#[test]
fn a_header_that_changes_all_the_time_has_an_end() {
    let mut size = 400;
    let mut talk = liar(serving(BoardVersion::V1_2, 500), move |payload, replies| {
        if payload == [36, 101, 41, 2, 1] {
            size += 1;
            replies[0][3..7].copy_from_slice(&u32::to_be_bytes(size));
        }
        if payload.starts_with(&[36, 101, 41, 2, 2]) && payload[8] > 100 {
            replies[0].truncate(7);
        }
    });
    let (end, _) = talk.run(Job::Fetch(fetch()), 600_000);
    assert_eq!(end, Err(Failure::Changed(Change::Size { before: 401, now: 402 })));
}

#[test]
fn a_board_that_does_not_obey_is_reported() {
    for version in crate::client_world::VERSIONS {
        let mut talk = liar(serving(version, 50), |payload, replies| {
            let live = payload == [36, 101, 31];
            // It says that autostart is on, whatever it was set to.
            for reply in replies.iter_mut() {
                if live && reply.starts_with(&[36, 101, 31]) {
                    reply[4] |= 2;
                }
                if reply.starts_with(&[36, 101, 41]) {
                    reply[4] |= 2;
                }
            }
        });
        let (end, ms) = talk.run(Job::Fetch(fetch()), 600_000);
        let Err(failure @ Failure::NotTaken { .. }) = end else { panic!("{end:?}") };
        assert!(failure.to_string().starts_with("the board did not accept `autostart off`, sent"), "{failure}");
        assert!(ms < 30_000, "{ms} ms");
        // Without protection it needs not obey.
        let (end, _) = talk.run(Job::Fetch(FetchOptions { protect: false, ..fetch() }), 600_000);
        assert!(end.is_ok(), "{end:?}");
    }
}

#[test]
fn events_that_nobody_takes_hold_the_download_up() {
    let options = ClientOptions { patience: Duration::from_secs(5), ..ClientOptions::default() };
    let mut recording = recorded(BoardVersion::V1_2, 1);
    // Samples without values, one in each reply: as many events as possible.
    recording.header.truncate(7);
    recording.header[2..7].copy_from_slice(&[0, 0, 0x40, 0, 0]);
    recording.samples = (0..0x4000_u32).flat_map(|i| [&i.to_be_bytes()[..], &[13]].concat()).collect();
    let whole = recording.clone();
    let board = BoardOptions {
        version: BoardVersion::V1_2,
        recording: Some(recording),
        capacity: Some(0x4000),
        ..BoardOptions::default()
    };
    let mut board = Board::new(board);
    let mut talk = Talk::new(options, move |payload: &[u8]| {
        let mut replies = Vec::new();
        board.handle(START, payload, &mut replies);
        let samples = payload.starts_with(&[36, 101, 41, 2, 2]);
        replies.iter_mut().filter(|_| samples).for_each(|reply| reply.truncate(12));
        replies.iter().map(|reply| framed(reply)).collect()
    });
    talk.client.command(START, Job::Fetch(FetchOptions { protect: false, ..fetch() })).unwrap();
    let mut sink = Batch::default();
    for _ in 0..50_000 {
        while let Some(transmit) = talk.client.poll_transmit() {
            for payload in permitted(&transmit.bytes) {
                for reply in (talk.peer)(&payload) {
                    talk.client.handle_input(talk.now, LINK, &reply, &mut sink).unwrap();
                }
            }
        }
        talk.now = talk.now.max(talk.client.poll_timeout().unwrap());
        talk.client.handle_timeout(talk.now);
    }
    let received = talk.client.view().fetch.unwrap().received;
    assert!((4000..5000).contains(&received), "{received}");
    // Somebody takes them.
    let mut pieces = std::collections::BTreeMap::new();
    while talk.client.is_busy() {
        while let Some(event) = talk.client.poll_event() {
            if let Event::Samples { index, bytes } = event {
                pieces.insert(index, bytes);
            }
        }
        while let Some(transmit) = talk.client.poll_transmit() {
            for payload in permitted(&transmit.bytes) {
                for reply in (talk.peer)(&payload) {
                    talk.client.handle_input(talk.now, LINK, &reply, &mut sink).unwrap();
                }
            }
        }
        talk.now = talk.now.max(talk.client.poll_timeout().unwrap_or(talk.now));
        talk.client.handle_timeout(talk.now);
    }
    while let Some(event) = talk.client.poll_event() {
        if let Event::Samples { index, bytes } = event {
            pieces.insert(index, bytes);
        }
    }
    assert!(pieces.into_values().flatten().collect::<Vec<u8>>() == whole.samples);
}

#[test]
fn a_board_between_bad_ones_is_still_understood() {
    // All faults at once, some of each.
    for seed in 1..6 {
        let line = LineOptions {
            drop: 0.1,
            corrupt: 0.1,
            duplicate: 0.1,
            truncate: 0.1,
            noise: 0.2,
            foreign: 0.3,
            lose: 0.1,
            delay: Duration::from_millis(30),
            jitter: Duration::from_millis(60),
            split: Some(20),
            baud: Some(115_200),
            close_after: Some(9000),
            seed,
        };
        for version in crate::client_world::VERSIONS {
            let mut world = World::new(crate::client_world::patient(), serving(version, 400), line.clone());
            let events = world.run(Job::Fetch(fetch()));
            is_download_of(&events, &recorded(version, 400));
            println!("all faults, {version}: {:.1} s, {:?}", world.at_ms() as f64 / 1e3, world.client.view().fetch);
        }
    }
}
