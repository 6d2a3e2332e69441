use std::time::Duration;

use logpose_live::refloat::emulated::{BoardVersion, LineOptions};

use super::{Board, places, tcp, terminal};

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
    let places = if cfg!(unix) { vec![tcp(), terminal()] } else { vec![tcp()] };
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
