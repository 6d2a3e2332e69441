//! The emulated board.

mod line;
mod recorder;
mod rides;
mod session;
mod silence;
mod vectors;

use logpose_core::Time;
use logpose_refloat::items;
use logpose_refloat::wire::{Flags, Header, Sample};
use logpose_sim::board::{Board, BoardOptions, BoardVersion, Recorded};
use logpose_testkit::{hex, ms};

const VERSIONS: [BoardVersion; 3] = [BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3];

fn board(version: BoardVersion) -> BoardOptions {
    BoardOptions { version, ..BoardOptions::default() }
}

/// All payloads that a request is answered with.
fn replies(board: &mut Board, now: Time, request: &str) -> Vec<Vec<u8>> {
    let mut replies = Vec::new();
    board.handle(now, &hex(request), &mut replies);
    replies
}

/// The one message that a message is answered with.
fn ask(board: &mut Board, now: Time, message: &str) -> Vec<u8> {
    let replies = replies(board, now, &format!("24 {message}"));
    let [reply] = &replies[..] else { panic!("{message}: {replies:02X?}") };
    assert_eq!(reply[0], 0x24, "{message}: {reply:02X?}");
    reply[1..].to_vec()
}

/// The samples at an offset, whole ones.
fn data(board: &mut Board, now: Time, offset: u32) -> Vec<Vec<u8>> {
    let [a, b, c, d] = offset.to_be_bytes();
    let reply = ask(board, now, &format!("65 29 02 02 {a:02X} {b:02X} {c:02X} {d:02X}"));
    assert_eq!(reply[..6], [0x65, 0x2B, a, b, c, d]);
    let length = 5 + 2 * board.recorded().ids().count();
    assert_eq!((reply.len() - 6) % length, 0);
    reply[6..].chunks(length).map(<[u8]>::to_vec).collect()
}

/// A recording of so many samples, numbered by their ticks.
fn numbered(version: BoardVersion, size: u32) -> Recorded {
    let text = match version {
        BoardVersion::V1_3 => "1.3.0",
        _ => "1.2.3",
    };
    let ids = items::recorded(&text.parse().unwrap());
    let mut recorded = Recorded::default();
    Header::put(size, ids.iter().copied(), &mut recorded.header);
    for i in 0..size {
        let codes = (0..ids.len()).map(|j| (i as u16) << 4 | j as u16);
        Sample::put(1_000 + 12 * i, Flags(0x0D), codes, &mut recorded.samples);
    }
    recorded
}

/// A board that serves so many samples, and has no more room.
fn serving(version: BoardVersion, size: u32) -> Board {
    let recording = Some(numbered(version, size));
    Board::new(BoardOptions { recording, capacity: Some(size as usize), ..board(version) })
}

fn ticks(recorded: &Recorded) -> Vec<u32> {
    let samples = recorded.samples.chunks(recorded.sample_len());
    samples.map(|sample| u32::from_be_bytes(*sample.first_chunk().unwrap())).collect()
}
