//! The life of the buffer.

use logpose_core::Time;
use logpose_refloat::wire::Flags;
use logpose_sim::board::{Board, BoardOptions, BoardVersion, Scenario};

use super::{VERSIONS, ask, board, data, ms, numbered, replies, serving, ticks};

fn header_size(board: &mut Board, now: Time) -> u32 {
    let header = ask(board, now, "65 29 02 01");
    u32::from_be_bytes(header[2..6].try_into().unwrap())
}

/// A control request, whatever the version answers.
fn control(board: &mut Board, now: Time, sub: u8, value: u8) {
    replies(board, now, &format!("24 65 29 01 {sub:02X} {value:02X}"));
}

#[test]
fn reads_past_the_end_are_empty_from_1_2_on() {
    for version in [BoardVersion::V1_2, BoardVersion::V1_3] {
        let mut board = serving(version, 30);
        for offset in [30, 31, 60, u32::MAX] {
            assert!(data(&mut board, Time::ZERO, offset).is_empty(), "{version} {offset}");
        }
        assert_eq!(data(&mut board, Time::ZERO, 29).len(), 1);
    }
}

#[test]
fn reads_past_the_end_of_a_full_ring_of_1_1_start_over() {
    let mut board = serving(BoardVersion::V1_1, 30);
    let all = numbered(BoardVersion::V1_1, 30);
    let samples: Vec<Vec<u8>> = all.samples.chunks(25).map(<[u8]>::to_vec).collect();
    assert_eq!(data(&mut board, Time::ZERO, 0), samples[..20]);
    assert_eq!(data(&mut board, Time::ZERO, 25), samples[25..]);
    assert_eq!(data(&mut board, Time::ZERO, 30), samples[..20]);
    assert_eq!(data(&mut board, Time::ZERO, 33), samples[3..23]);
    assert_eq!(data(&mut board, Time::ZERO, 55), samples[25..]);
    // 2^32 - 1 is 15 more than a multiple of 30.
    assert_eq!(data(&mut board, Time::ZERO, u32::MAX), samples[15..]);
}

#[test]
fn stale_slots_of_1_1_are_readable() {
    let options = BoardOptions { capacity: Some(50), ..board(BoardVersion::V1_1) };
    let mut board = Board::new(options);
    let before: Vec<Vec<u8>> = board.recorded().samples.chunks(25).map(<[u8]>::to_vec).collect();
    assert_eq!(before.len(), 50);
    // It lies there and records a little.
    control(&mut board, ms(100), 1, 1);
    board.advance(ms(116));
    control(&mut board, ms(116), 1, 0);
    let size = header_size(&mut board, ms(116)) as usize;
    assert!((8..18).contains(&size), "{size}");
    let fresh = data(&mut board, ms(116), 0);
    assert_eq!(fresh.len(), size);
    assert!(fresh.iter().all(|sample| !before.contains(sample)));
    let stale = data(&mut board, ms(116), size as u32);
    assert_eq!(stale.len(), 20);
    assert!(stale.iter().all(|sample| before.contains(sample)));
    // Around the end of the memory, up to the newest sample.
    let around = data(&mut board, ms(116), 48);
    assert_eq!(around.len(), size + 2);
    assert!(around[..2].iter().all(|sample| before.contains(sample)));
    assert_eq!(around[2..], fresh[..]);
}

#[test]
fn slots_never_written_are_garbage_in_1_1_and_not_there_later() {
    for version in VERSIONS {
        let recording = Some(numbered(version, 5));
        let mut board = Board::new(BoardOptions { recording, capacity: Some(100), ..board(version) });
        let past = data(&mut board, Time::ZERO, 5);
        if version == BoardVersion::V1_1 {
            assert_eq!(past, vec![vec![0; 25]; 20]);
        } else {
            assert!(past.is_empty());
        }
    }
}

#[test]
fn any_offset_may_be_asked_for_in_any_order() {
    for version in VERSIONS {
        let mut board = serving(version, 100);
        let all = board.recorded();
        let samples: Vec<&[u8]> = all.samples.chunks(all.sample_len()).collect();
        let most = if version == BoardVersion::V1_3 { 16 } else { 20 };
        for offset in [99, 0, 7, 7, 63, 85, 1] {
            let end = (offset + most).min(100);
            assert_eq!(data(&mut board, Time::ZERO, offset as u32), samples[offset..end], "{version} {offset}");
        }
    }
}

#[test]
fn riding_starts_and_stops_the_recorder() {
    for version in VERSIONS {
        let mut board = Board::new(BoardOptions { ridden: false, ..board(version) });
        board.advance(Time::ZERO);
        board.advance(ms(1_500));
        assert!(!board.view().running && !board.view().recording);
        assert_eq!(board.view().size, 0);
        board.advance(ms(3_000));
        assert!(board.view().running && board.view().recording);
        let size = board.view().size;
        assert!(size > 100, "{size}");
        board.advance(ms(25_000));
        assert!(!board.view().running && !board.view().recording);
        assert_eq!(board.view().size, version.capacity(), "the ring is full");
        let recorded = board.recorded();
        let flags = |sample: &[u8]| Flags(sample[4]);
        let samples = recorded.samples.chunks(recorded.sample_len());
        assert!(samples.clone().all(|sample| flags(sample).running()), "nothing after the stop is recorded");
        assert!(ticks(&recorded).is_sorted());
        // The next ride begins, and the recording is gone.
        board.advance(ms(42_000));
        assert!(board.view().recording && board.view().size < version.capacity(), "{:?}", board.view());
        assert_ne!(board.recorded().samples, recorded.samples);
    }
}

#[test]
fn without_autostart_the_recording_stays() {
    let mut board = Board::new(board(BoardVersion::V1_2));
    let recorded = board.recorded();
    control(&mut board, Time::ZERO, 2, 0);
    board.advance(ms(30_000));
    assert!(board.view().running && !board.view().recording);
    assert!(board.recorded().samples == recorded.samples);
}

#[test]
fn without_autostop_it_records_on() {
    let mut board = Board::new(BoardOptions { ridden: false, ..board(BoardVersion::V1_3) });
    control(&mut board, Time::ZERO, 3, 0);
    board.advance(ms(22_000));
    assert!(!board.view().running && board.view().recording);
    let recorded = board.recorded();
    let last = recorded.samples.chunks(recorded.sample_len()).last().unwrap();
    assert!(!Flags(last[4]).running());
}

#[test]
fn a_header_request_stops_and_a_start_clears() {
    for version in VERSIONS {
        let mut board = Board::new(BoardOptions { ridden: false, ..board(version) });
        board.advance(Time::ZERO);
        board.advance(ms(4_000));
        assert!(board.view().recording);
        let size = header_size(&mut board, ms(4_000));
        assert!(size > 100 && !board.view().recording);
        assert_eq!(header_size(&mut board, ms(5_000)), size, "it stays stopped, also while riding");
        control(&mut board, ms(5_000), 1, 7);
        assert!(board.view().recording);
        assert_eq!(board.view().size, 0);
        board.advance(ms(5_100));
        assert!((1..100).contains(&board.view().size));
    }
}

#[test]
fn decimation_thins_out() {
    let mut sizes = Vec::new();
    for decimation in [1, 4, 200] {
        let mut board = Board::new(board(BoardVersion::V1_3));
        control(&mut board, Time::ZERO, 4, decimation);
        control(&mut board, Time::ZERO, 1, 1);
        board.advance(ms(1_000));
        sizes.push(board.view().size);
    }
    assert!((828..=834).contains(&sizes[0]), "{sizes:?}");
    assert_eq!(sizes[1], sizes[0] / 4);
    assert_eq!(sizes[2], sizes[0] / 200);
}

#[test]
fn no_two_samples_of_1_3_have_the_same_tick() {
    let mut board = Board::new(BoardOptions { capacity: Some(20_000), ..board(BoardVersion::V1_3) });
    control(&mut board, Time::ZERO, 1, 1);
    board.advance(ms(15_000));
    let ticks = ticks(&board.recorded());
    assert!(ticks.len() > 10_000);
    assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(ticks.windows(2).any(|pair| pair[1] - pair[0] == 1), "late callbacks come in bursts");
}

#[test]
fn ticks_wrap_as_the_specification_says() {
    for version in VERSIONS {
        // The ride was over 1.5 s ago, so that zero is half a second before its end.
        let capacity = Some(2_000);
        let options = BoardOptions { boot_ticks: Some(20_000), capacity, ..board(version) };
        let recorded = Board::new(options).recorded();
        let ticks = ticks(&recorded);
        let steps: Vec<u32> = ticks.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        assert!(steps.iter().all(|step| (1..4_000).contains(step)), "{version}");
        let wrap = ticks.windows(2).position(|pair| pair[1] < pair[0]).expect("it wraps");
        if version == BoardVersion::V1_3 {
            // Counted up by one until it wraps itself, then one jump.
            assert_eq!(ticks[wrap..wrap + 2], [u32::MAX, 0]);
            let ones = steps[..=wrap].iter().rev().take_while(|step| **step == 1).count();
            assert!((1..=60).contains(&ones), "{ones}");
            assert!(steps[wrap + 1] > 100, "{:?}", &steps[wrap..wrap + 5]);
        } else {
            assert!(steps[wrap] < 20);
        }
    }
}

#[test]
fn a_fallen_board_lies_still_and_keeps_its_recording() {
    let options = BoardOptions { scenario: Scenario::Nosedive, ..board(BoardVersion::V1_3) };
    let mut board = Board::new(options);
    let recorded = board.recorded();
    for s in [1, 50, 1_000, 100_000] {
        board.advance(ms(s * 1_000));
        assert!(!board.view().running);
        assert!(board.view().speed.abs() < 5.0);
    }
    assert!(board.recorded().samples == recorded.samples);
    control(&mut board, ms(100_000_000), 1, 1);
    board.advance(ms(100_001_000));
    let after = board.recorded();
    assert!(!after.is_empty());
    assert!(after.samples.chunks(after.sample_len()).all(|sample| !Flags(sample[4]).running()));
}
