//! Every fault really happens, about as often as it should.

use std::time::Duration;

use logpose_core::Time;
use logpose_refloat::vesc::{Deframer, MAX_PAYLOAD};
use logpose_sim::board::{Line, LineOptions, LineTally};

use super::ms;

const FRAMES: usize = 4_000;

/// Sends numbered payloads and returns which of them arrive whole, the statistics of the line, and all pieces.
fn sent(options: LineOptions) -> (Vec<usize>, LineTally, Vec<Vec<u8>>) {
    let mut line = Line::new(options);
    let mut deframer = Deframer::new(MAX_PAYLOAD);
    let mut arrived = Vec::new();
    let mut pieces = Vec::new();
    let mut take = |deframer: &mut Deframer| {
        while let Some(payload) = deframer.next_payload() {
            arrived.push(usize::from(payload[1]) << 8 | usize::from(payload[2]));
        }
    };
    for i in 0..FRAMES {
        let mut payload = vec![36, (i >> 8) as u8, i as u8];
        payload.resize(3 + i % 500, 0x55);
        line.send(ms(i as i64), &payload, Duration::ZERO);
        while let Some(bytes) = line.take(Time::MAX) {
            deframer.push(&bytes);
            take(&mut deframer);
            pieces.push(bytes);
        }
    }
    while deframer.is_pending() {
        deframer.expire();
        take(&mut deframer);
    }
    (arrived, line.tally(), pieces)
}

/// About a tenth of all.
fn check_rate(count: u64) {
    let expected = FRAMES as u64 / 10;
    assert!((expected * 8 / 10..expected * 12 / 10).contains(&count), "{count}");
}

#[test]
fn a_line_without_trouble_has_none() {
    let (arrived, tally, pieces) = sent(LineOptions::default());
    assert!(arrived.iter().copied().eq(0..FRAMES));
    assert_eq!(pieces.len(), FRAMES, "a frame is one piece");
    assert_eq!(tally, LineTally { frames: FRAMES as u64, bytes: tally.bytes, ..LineTally::default() });
}

#[test]
fn frames_are_dropped() {
    let (arrived, tally, _) = sent(LineOptions { drop: 0.1, ..LineOptions::default() });
    check_rate(tally.dropped);
    assert_eq!(arrived.len() as u64, FRAMES as u64 - tally.dropped);
}

#[test]
fn every_part_of_a_frame_is_corrupted_and_the_others_arrive() {
    let (arrived, tally, _) = sent(LineOptions { corrupt: 0.1, ..LineOptions::default() });
    check_rate(tally.corrupted.iter().sum());
    assert!(tally.corrupted.iter().all(|count| *count > 40), "{:?}", tally.corrupted);
    assert_eq!(arrived.len() as u64, FRAMES as u64 - tally.corrupted.iter().sum::<u64>());
}

#[test]
fn frames_are_truncated_and_the_others_arrive() {
    let (arrived, tally, _) = sent(LineOptions { truncate: 0.1, ..LineOptions::default() });
    check_rate(tally.truncated);
    // Where only the end was missing, the start of the next frame may stand for it.
    assert!((arrived.len() as u64).abs_diff(FRAMES as u64 - tally.truncated) < 5, "{}", arrived.len());
}

#[test]
fn frames_come_twice() {
    let (arrived, tally, _) = sent(LineOptions { duplicate: 0.1, ..LineOptions::default() });
    check_rate(tally.duplicated);
    assert_eq!(arrived.len() as u64, FRAMES as u64 + tally.duplicated);
    assert!(arrived.is_sorted());
}

#[test]
fn noise_comes_before_frames_and_all_of_them_arrive() {
    let (arrived, tally, _) = sent(LineOptions { noise: 0.1, ..LineOptions::default() });
    check_rate(tally.noisy);
    assert!(arrived.iter().copied().eq(0..FRAMES));
}

#[test]
fn frames_come_in_pieces_down_to_one_byte() {
    for size in [1, 20, 244] {
        let (arrived, tally, pieces) = sent(LineOptions { split: Some(size), ..LineOptions::default() });
        assert!(arrived.iter().copied().eq(0..FRAMES));
        assert!(pieces.iter().all(|piece| (1..=size).contains(&piece.len())));
        assert_eq!(pieces.iter().map(Vec::len).sum::<usize>() as u64, tally.bytes);
    }
}

#[test]
fn the_same_seed_has_the_same_trouble() {
    let options = LineOptions { drop: 0.1, corrupt: 0.1, truncate: 0.1, noise: 0.1, ..LineOptions::default() };
    assert_eq!(sent(options.clone()), sent(options.clone()));
    assert_ne!(sent(options.clone()), sent(LineOptions { seed: 2, ..options }));
}

#[test]
fn everything_is_late_and_nothing_overtakes() {
    let (delay, jitter) = (Duration::from_millis(30), Duration::from_millis(50));
    let mut line = Line::new(LineOptions { delay, jitter, ..LineOptions::default() });
    let mut last = Time::ZERO;
    let (mut min, mut max) = (i64::MAX, 0);
    for i in 0..200 {
        let now = ms(i * 100);
        line.send(now, &[1, 2, 3], Duration::ZERO);
        let due = line.due().unwrap();
        assert!(due >= last);
        assert_eq!(line.take(due.plus(-1)), None);
        assert!(line.take(due).is_some());
        (min, max) = (min.min(due.since(now)), max.max(due.since(now)));
        last = due;
    }
    assert!((30_000_000..35_000_000).contains(&min), "{min}");
    assert!((75_000_000..=80_000_000).contains(&max), "{max}");
}

#[test]
fn a_serial_line_takes_ten_bits_a_byte() {
    let mut line = Line::new(LineOptions { baud: Some(115_200), ..LineOptions::default() });
    // Frames of 513 bytes, one behind the other.
    for i in 1..=3 {
        line.send(Time::ZERO, &[0; 507], Duration::ZERO);
        let due = line.pieces_due();
        assert_eq!(due.len(), i);
        assert_eq!(due[i - 1].nanos(), i as i64 * (513 * 10 * 1_000_000_000_i64 / 115_200));
    }
}

/// When all that waits comes out.
trait PiecesDue {
    fn pieces_due(&self) -> Vec<Time>;
}

impl PiecesDue for Line {
    fn pieces_due(&self) -> Vec<Time> {
        let mut line = self.clone();
        let mut due = Vec::new();
        while let Some(at) = line.due() {
            line.take(at);
            due.push(at);
        }
        due
    }
}

#[test]
fn a_connection_is_closed_after_so_many_bytes() {
    let mut line = Line::new(LineOptions { close_after: Some(20), ..LineOptions::default() });
    for _ in 0..3 {
        line.send(Time::ZERO, &[7; 10], Duration::ZERO);
    }
    assert_eq!(line.take(Time::ZERO).unwrap().len(), 15);
    assert!(!line.is_closed());
    assert_eq!(line.take(Time::ZERO).unwrap().len(), 5);
    assert!(line.is_closed());
    assert_eq!(line.take(Time::ZERO), None);
    line.open();
    line.send(Time::ZERO, &[7; 10], Duration::ZERO);
    assert_eq!(line.take(Time::ZERO).unwrap().len(), 15);
}

#[test]
fn what_no_board_could_send_is_not_sent_and_what_waits_is_bounded() {
    let mut line = Line::new(LineOptions::default());
    line.send(Time::ZERO, &[0; 513], Duration::ZERO);
    line.send(Time::ZERO, &[], Duration::ZERO);
    assert_eq!(line.due(), None);
    for _ in 0..10_000 {
        line.send(Time::ZERO, &[0; 512], Duration::ZERO);
    }
    assert!(line.tally().overflowed > 9_000);
    let bytes: usize = std::iter::from_fn(|| line.take(Time::ZERO)).map(|bytes| bytes.len()).sum();
    assert!(bytes <= 1 << 18);
}
