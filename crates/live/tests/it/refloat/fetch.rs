use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use logpose_live::Address;
use logpose_live::refloat::rfrec::{Kind, Recording};
use logpose_live::refloat::wire::Control;
use logpose_live::refloat::{BoardLink, FetchError, FetchOptions, LinkError, LinkOptions, LinkView};
use logpose_sim::board::{BoardVersion, LineOptions};

use super::{Board, link, on, places, tcp};

const VERSIONS: [BoardVersion; 3] = [BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3];

#[test]
fn a_board_is_known_and_obeys_over_every_link() {
    for place in places() {
        for version in VERSIONS {
            let board = Board::start(place.clone(), version, 1, LineOptions::default());
            let link = board.link();
            let view = link.identify(&mut on).unwrap();
            assert!(view.info.is_some() && view.firmware.is_some() && view.missing.is_none(), "{view:?}");
            let view = link.control(Control::Autostart(false), &mut on).unwrap();
            assert_eq!(view.recorder.autostart, Some(false), "{place:?} {version:?}");
            assert_eq!(link.status(&mut on).unwrap().recorder.autostart, Some(false), "{place:?} {version:?}");
        }
    }
}

#[test]
fn a_recording_is_fetched_over_every_link() {
    let dir = tempfile::tempdir().unwrap();
    for place in places() {
        for version in VERSIONS {
            let board = Board::start(place.clone(), version, 2, LineOptions::default());
            let path = dir.path().join("ride.rfrec");
            let fetched = board.fetch(&path).unwrap();
            assert_eq!((fetched.before, fetched.autostart_left_off), (0, false), "{place:?} {version:?}");
            board.check(&path);
            assert_eq!(board.link().status(&mut on).unwrap().recorder.autostart, Some(true), "it was restored");
            fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn a_file_records_where_it_is_from() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let board = Board::start(tcp(), BoardVersion::V1_3, 3, LineOptions::default());
    let options = FetchOptions { note: Some("after the nosedive".to_owned()), ..FetchOptions::default() };
    board.link().fetch(&path, &options, &mut on).unwrap();
    let bytes = fs::read(&path).unwrap();
    let recording = Recording::read(&bytes).unwrap();
    let text = |key: &str| recording.meta.get(key).and_then(|value| value.as_str()).unwrap_or_default().to_owned();
    assert_eq!((&*text("transport"), &*text("note")), ("tcp", "after the nosedive"));
    assert_eq!(text("address"), board.handle.address());
    assert!(text("captured_at").starts_with("20") && text("captured_at").ends_with('Z'));
    assert!(text("tool").starts_with("logpose ") && !text("firmware").is_empty() && !text("hardware").is_empty());
    assert!(recording.info.is_some() && recording.status.is_some() && !recording.timerefs.is_empty());
    let now = i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos()).unwrap();
    let last = recording.timed().last().unwrap().time.nanos() + recording.epoch_ns().unwrap();
    assert!(last <= now && now - last < 3_600_000_000_000, "the last sample is of {last}, and it is {now}");
    assert_eq!(recording.parts().first().map(|part| part.kind), Some(Kind::Meta));
}

/// Fetches until there are so many samples, then has enough.
fn part(board: &Board, path: &Path, enough: u32) -> FetchError {
    let mut watch = |view: &LinkView| match view.client.fetch.as_ref().is_some_and(|fetch| fetch.received >= enough) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    board.link().fetch(path, &FetchOptions::default(), &mut watch).unwrap_err()
}

/// So slow that it takes long enough to be stopped in the middle.
fn slow() -> LineOptions {
    LineOptions { baud: Some(921_600), ..LineOptions::default() }
}

#[test]
fn one_that_was_stopped_goes_on_with_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    for place in places() {
        let path = dir.path().join("ride.rfrec");
        let board = Board::start(place, BoardVersion::V1_2, 4, slow());
        let error = part(&board, &path, 100);
        assert!(matches!(&error, FetchError::Link { error: LinkError::Stopped, held: Some(_), .. }), "{error}");
        assert!(error.help().unwrap().contains("run the same command to continue"));
        assert_eq!(board.link().status(&mut on).unwrap().recorder.autostart, Some(true), "it was restored");
        // Its last block was torn when it was killed.
        let mut bytes = fs::read(&path).unwrap();
        bytes.truncate(bytes.len() - 7);
        fs::write(&path, &bytes).unwrap();
        let fetched = board.fetch(&path).unwrap();
        assert!(fetched.before >= 60 && fetched.before < fetched.samples, "{fetched:?}");
        board.check(&path);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn one_that_was_killed_before_the_first_block_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let board = Board::start(tcp(), BoardVersion::V1_3, 5, LineOptions::default());
    board.fetch(&path).unwrap();
    let whole = fs::read(&path).unwrap();
    let header = Recording::read(&whole).unwrap().parts().iter().find(|part| part.kind == Kind::Header).unwrap().at;
    for length in [0, 1, 15, 16, 17, 30, usize::try_from(header).unwrap() + 3] {
        fs::write(&path, &whole[..length]).unwrap();
        let fetched = board.fetch(&path).unwrap_or_else(|error| panic!("{length}: {error}"));
        assert_eq!(fetched.before, 0, "{length}");
        board.check(&path);
    }
    // All samples are there, and only the end is missing.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let fetched = board.fetch(&path).unwrap();
    assert_eq!(fetched.before, fetched.samples);
    board.check(&path);
}

#[test]
fn a_file_that_is_whole_is_left_alone_unless_forced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let board = Board::start(tcp(), BoardVersion::V1_2, 6, LineOptions::default());
    board.fetch(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let error = board.fetch(&path).unwrap_err();
    assert!(matches!(error, FetchError::Complete { .. }) && error.help().unwrap().contains("--force"), "{error}");
    assert!(fs::read(&path).unwrap() == before);
    let other = Board::start(tcp(), BoardVersion::V1_2, 66, LineOptions::default());
    let force = FetchOptions { force: true, ..FetchOptions::default() };
    other.link().fetch(&path, &force, &mut on).unwrap();
    other.check(&path);
}

#[test]
fn a_file_is_replaced_only_when_there_is_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    fs::write(&path, "not a recording").unwrap();
    let board = Board::start(tcp(), BoardVersion::V1_2, 7, LineOptions::default());
    let error = board.fetch(&path).unwrap_err();
    assert!(matches!(error, FetchError::NoRecording { .. }), "{error}");
    let nobody = free_address();
    let force = FetchOptions { force: true, ..FetchOptions::default() };
    let error = link(&nobody).fetch(&path, &force, &mut on).unwrap_err();
    assert!(matches!(error, FetchError::Link { error: LinkError::Unreachable { .. }, held: None, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"not a recording");
    // And where there was no file there is none.
    let none = dir.path().join("none.rfrec");
    link(&nobody).fetch(&none, &FetchOptions::default(), &mut on).unwrap_err();
    assert!(!none.exists());
}

#[test]
fn a_part_of_another_recording_is_not_destroyed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let board = Board::start(tcp(), BoardVersion::V1_2, 8, slow());
    part(&board, &path, 100);
    let before = fs::read(&path).unwrap();
    for (version, seed) in [(BoardVersion::V1_2, 88), (BoardVersion::V1_3, 8)] {
        let other = Board::start(tcp(), version, seed, LineOptions::default());
        let error = other.fetch(&path).unwrap_err();
        assert!(matches!(error, FetchError::Another { .. }), "{error}");
        assert!(error.help().unwrap().contains("choose another name"), "{error}");
        assert!(fs::read(&path).unwrap() == before);
        assert_eq!(other.link().status(&mut on).unwrap().recorder.autostart, Some(true), "it was restored");
    }
    board.fetch(&path).unwrap();
    board.check(&path);
}

#[test]
fn what_cannot_be_written_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let board = Board::start(tcp(), BoardVersion::V1_2, 9, LineOptions::default());
    let error = board.fetch(&dir.path().join("none/ride.rfrec")).unwrap_err();
    assert!(matches!(&error, FetchError::NoFolder { folder } if folder.ends_with("none")), "{error}");
    let error = board.fetch(dir.path()).unwrap_err();
    assert!(error.to_string().contains("irectory"), "{error}");
    if cfg!(target_os = "linux") {
        let force = FetchOptions { force: true, ..FetchOptions::default() };
        let error = board.link().fetch(Path::new("/dev/full"), &force, &mut on).unwrap_err();
        assert!(matches!(error, FetchError::NoSpace { .. }), "{error}");
        assert_eq!(board.link().status(&mut on).unwrap().recorder.autostart, Some(true), "it was restored");
    }
}

#[test]
fn two_do_not_write_to_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ride.rfrec");
    let board = Board::start(tcp(), BoardVersion::V1_2, 10, slow());
    let other = Board::start(tcp(), BoardVersion::V1_2, 10, LineOptions::default());
    let tried = AtomicU32::new(0);
    let mut watch = |view: &LinkView| {
        if view.client.fetch.as_ref().is_some_and(|fetch| fetch.received > 0)
            && tried.fetch_add(1, Ordering::Relaxed) == 0
        {
            let error = other.fetch(&path).unwrap_err();
            assert!(matches!(error, FetchError::InUse { .. }), "{error}");
        }
        ControlFlow::Continue(())
    };
    board.link().fetch(&path, &FetchOptions::default(), &mut watch).unwrap();
    assert!(tried.into_inner() > 0);
    board.check(&path);
}

#[test]
fn several_boards_are_fetched_at_once() {
    let dir = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for (seed, place) in (20..).zip(places().into_iter().cycle().take(6)) {
            let path = dir.path().join(format!("{seed}.rfrec"));
            scope.spawn(move || {
                let board = Board::start(place, BoardVersion::V1_3, seed, LineOptions::default());
                board.fetch(&path).unwrap();
                board.check(&path);
            });
        }
    });
}

fn free_address() -> Address {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Address::parse(&format!("refloat+tcp://{}", listener.local_addr().unwrap())).unwrap()
}

#[test]
fn a_missing_board_is_reported() {
    let error = link(&free_address()).identify(&mut on).unwrap_err();
    assert!(matches!(&error, LinkError::Unreachable { trouble, .. } if trouble.contains("refused")), "{error}");
    let error = link(&Address::parse("refloat+serial:/nowhere/ttyACM0").unwrap()).identify(&mut on).unwrap_err();
    assert!(error.to_string().contains("/nowhere/ttyACM0 does not exist"), "{error}");
    let robot = Address::parse("rlog://127.0.0.1").unwrap();
    assert!(matches!(BoardLink::new(&robot, LinkOptions::default()), Err(LinkError::NoBoard(_))));
}
