use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use logpose_live::Address;
use logpose_live::refloat::session::{ClientOptions, Failure};
use logpose_live::refloat::{BoardLink, BoardPlace, FetchError, FetchOptions, LinkError, LinkOptions, LinkView};
use logpose_sim::board::{BoardVersion, LineOptions};

use super::{Board, link, on, places, tcp};

#[test]
fn a_recording_comes_whole_over_bad_lines() {
    let lines = [
        ("dropped", LineOptions { drop: 0.15, seed: 1, ..LineOptions::default() }),
        ("corrupted", LineOptions { corrupt: 0.15, seed: 2, ..LineOptions::default() }),
        ("twice", LineOptions { duplicate: 0.5, seed: 3, ..LineOptions::default() }),
        (
            "late",
            LineOptions {
                delay: Duration::from_millis(3),
                jitter: Duration::from_millis(10),
                seed: 4,
                ..LineOptions::default()
            },
        ),
        ("in pieces", LineOptions { split: Some(7), seed: 5, ..LineOptions::default() }),
        ("noise and others", LineOptions { noise: 0.3, foreign: 0.3, seed: 6, ..LineOptions::default() }),
        (
            "everything",
            LineOptions {
                drop: 0.05,
                corrupt: 0.05,
                duplicate: 0.1,
                noise: 0.1,
                foreign: 0.1,
                split: Some(100),
                seed: 7,
                ..LineOptions::default()
            },
        ),
    ];
    let dir = tempfile::tempdir().unwrap();
    for place in places() {
        std::thread::scope(|scope| {
            for (seed, (name, line)) in (30..).zip(lines.clone()) {
                let path = dir.path().join(format!("{seed}.rfrec"));
                let place = place.clone();
                scope.spawn(move || {
                    let board = Board::start(place.clone(), BoardVersion::V1_2, seed, line);
                    board.fetch(&path).unwrap_or_else(|error| panic!("{name} over {place:?}: {error}"));
                    board.check(&path);
                    std::fs::remove_file(&path).unwrap();
                });
            }
        });
    }
}

#[test]
fn a_link_that_breaks_again_and_again_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    // One that is plugged in again is found by its name, whatever its number is then.
    let terminal = BoardPlace::Terminal { link: Some(dir.path().join("board")) };
    let places = if cfg!(unix) { vec![tcp(), terminal] } else { vec![tcp()] };
    for (seed, place) in (40..).zip(places) {
        let line = LineOptions { close_after: Some(15_000), ..LineOptions::default() };
        let board = Board::start(place.clone(), BoardVersion::V1_3, seed, line);
        let path = dir.path().join(format!("{seed}.rfrec"));
        let fetched = board.fetch(&path).unwrap_or_else(|error| panic!("{place:?}: {error}"));
        assert!(fetched.view.fetch.as_ref().unwrap().interruptions >= 2, "{fetched:?}");
        assert_eq!(fetched.before, 0);
        board.check(&path);
    }
}

#[test]
fn a_board_that_is_switched_off_and_on_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let slow = LineOptions { baud: Some(921_600), ..LineOptions::default() };
    let first = Board::start(tcp(), BoardVersion::V1_2, 41, slow);
    let address = first.address();
    let place = BoardPlace::Tcp(first.handle.address().trim_start_matches("refloat+tcp://").parse().unwrap());
    let (mut first, mut second) = (Some(first), None);
    let mut watch = |view: &LinkView| {
        let received = view.client.fetch.as_ref().map_or(0, |fetch| fetch.received);
        if received > 100 && view.client.connected {
            first = None;
        }
        if first.is_none() && !view.client.connected && second.is_none() {
            second = Some(Board::start(place.clone(), BoardVersion::V1_2, 41, LineOptions::default()));
        }
        ControlFlow::Continue(())
    };
    let fetched = link(&address).fetch(&path, &FetchOptions::default(), &mut watch).unwrap();
    assert_eq!(fetched.view.fetch.as_ref().map(|fetch| fetch.interruptions), Some(1));
    second.unwrap().check(&path);
}

#[test]
fn a_board_that_is_gone_leaves_what_came_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let slow = LineOptions { baud: Some(921_600), ..LineOptions::default() };
    let board = Board::start(tcp(), BoardVersion::V1_2, 42, slow);
    let options = LinkOptions { patience: Duration::from_millis(300), ..LinkOptions::default() };
    let hurried = BoardLink::new(&board.address(), options).unwrap();
    let mut board = Some(board);
    let mut watch = |view: &LinkView| {
        if view.client.fetch.as_ref().is_some_and(|fetch| fetch.received > 100) {
            board = None;
        }
        ControlFlow::Continue(())
    };
    let error = hurried.fetch(&path, &FetchOptions::default(), &mut watch).unwrap_err();
    let FetchError::Link { error: LinkError::Lost { .. }, held: Some((held, size)), autostart_left_off: true, .. } =
        &error
    else {
        panic!("{error:?}")
    };
    assert!(*held > 100 && held < size, "{error}");
    assert!(error.to_string().contains("autostart is still off"), "{error}");
    let again = Board::start(tcp(), BoardVersion::V1_2, 42, LineOptions::default());
    assert_eq!(again.fetch(&path).unwrap().before, *held);
    again.check(&path);
}

#[test]
fn a_client_that_waits_for_another_hears_that_nobody_answers() {
    let board = Board::start(tcp(), BoardVersion::V1_2, 43, LineOptions::default());
    let first = TcpStream::connect(board.handle.address().trim_start_matches("refloat+tcp://")).unwrap();
    let client = ClientOptions { timeout: Duration::from_millis(100), tries: 2, ..ClientOptions::default() };
    let hurried = BoardLink::new(&board.address(), LinkOptions { client, ..LinkOptions::default() }).unwrap();
    let error = hurried.identify(&mut on).unwrap_err();
    assert!(matches!(error, LinkError::Failed(Failure::Nobody { .. })), "{error}");
    drop(first);
    hurried.identify(&mut on).unwrap();
}

#[test]
fn a_client_that_is_always_turned_away_gives_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("refloat+tcp://{}", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let options = LinkOptions { patience: Duration::from_millis(300), ..LinkOptions::default() };
    let error = BoardLink::new(&address, options).unwrap().identify(&mut on).unwrap_err();
    assert!(matches!(error, LinkError::Lost { .. }), "{error}");
}

/// A frame with the version of a firmware: 6.5, hardware "X".
const FIRMWARE: [u8; 25] =
    *b"\x02\x14\x00\x06\x05\x58\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x83\x03";

/// Something at an address of a board that answers each connection with the same bytes and closes it.
fn curt(answer: &'static [u8]) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("refloat+tcp://{}", listener.local_addr().unwrap())).unwrap();
    std::thread::spawn(move || {
        for mut caller in listener.incoming().flatten() {
            let _ = caller.read(&mut [0; 64]);
            let _ = caller.write_all(answer);
        }
    });
    address
}

#[test]
fn one_who_sends_a_byte_and_closes_each_time_is_no_board() {
    let address = curt(&[0x55]);
    let options = LinkOptions { patience: Duration::from_millis(300), ..LinkOptions::default() };
    let link = BoardLink::new(&address, options).unwrap();
    let start = Instant::now();
    for error in [link.identify(&mut on).unwrap_err(), link.status(&mut on).unwrap_err()] {
        assert!(matches!(error, LinkError::Lost { .. }), "{error}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let error = link.fetch(&path, &FetchOptions::default(), &mut on).unwrap_err();
    assert!(matches!(error, FetchError::Link { error: LinkError::Lost { .. }, held: None, .. }), "{error}");
    assert!(!path.exists());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn one_who_answers_one_question_and_closes_each_time_has_an_end() {
    let address = curt(&FIRMWARE);
    let limit = Duration::from_millis(500);
    let link = BoardLink::new(&address, LinkOptions { limit, ..LinkOptions::default() }).unwrap();
    let mut frames = 0;
    let mut watch = |view: &LinkView| {
        frames = view.client.frames;
        ControlFlow::Continue(())
    };
    let error = link.identify(&mut watch).unwrap_err();
    assert!(matches!(error, LinkError::Endless { .. }), "{error}");
    assert!(frames > 0);
    assert!(error.to_string().contains("has not finished answering after"), "{error}");
}
