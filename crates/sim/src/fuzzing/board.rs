use std::time::Duration;

use logpose_core::{Batch, Link, Session, Time};

use crate::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Scenario};
use logpose_refloat::vesc::{MAX_PAYLOAD, command, forward, framed};
use logpose_refloat::wire::PACKAGE;

/// Any bytes into a board of any version, in pieces and with time passing: it answers within the limits or not at all, and
/// what waits does not grow.
pub fn board(data: &[u8]) {
    let [kind, piece, step, rest @ ..] = data else { return };
    let version = match kind & 3 {
        0 => BoardVersion::V1_0,
        1 => BoardVersion::V1_1,
        2 => BoardVersion::V1_2,
        _ => BoardVersion::V1_3,
    };
    let options = BoardOptions {
        version,
        scenario: Scenario::Ride,
        ridden: false,
        capacity: Some(64),
        can: (kind & 4 != 0).then_some(21),
        recorder: kind & 8 == 0,
        boot_ticks: Some(u32::MAX - 10_000),
        ..BoardOptions::default()
    };
    let faults = if kind & 16 == 0 { 0.0 } else { 0.2 };
    let line = LineOptions {
        drop: faults,
        corrupt: faults,
        duplicate: faults,
        truncate: faults,
        noise: faults,
        foreign: faults,
        delay: Duration::from_millis(u64::from(kind >> 5)),
        baud: (kind & 32 != 0).then_some(115_200),
        split: (kind & 64 != 0).then_some(20),
        ..LineOptions::default()
    };
    let mut session = BoardSession::new(options, line);
    session.handle_open(Time::ZERO, Link(0));
    let mut now = Time::ZERO;
    let (mut received, mut sent) = (0, 0);
    for chunk in rest.chunks(usize::from(*piece).max(1)) {
        let bytes = if kind & 128 == 0 { chunk.to_vec() } else { message(kind & 4 != 0, chunk) };
        let _ = session.handle_input(now, Link(0), &bytes, &mut Batch::default());
        received += bytes.len();
        now = now.plus(i64::from(*step) * 1_000_000);
        while session.poll_timeout().is_some_and(|at| at <= now) {
            session.handle_timeout(now);
            while let Some(transmit) = session.poll_transmit() {
                assert!(transmit.bytes.len() <= MAX_PAYLOAD + 6 + 16 || faults > 0.0, "one frame each");
                sent += transmit.bytes.len();
            }
        }
        while let Some(transmit) = session.poll_transmit() {
            sent += transmit.bytes.len();
        }
    }
    // The shortest request with the longest reply has 14 bytes; foreign packets and duplicates at most quadruple it.
    assert!(sent <= 4 * (received + 6) / 6 * (MAX_PAYLOAD + 24), "{received} bytes gave {sent}");
    assert!(session.board().view().size <= 64);
}

/// The frame of a message with these bytes: by chance alone no sum would ever be right.
fn message(can: bool, bytes: &[u8]) -> Vec<u8> {
    let inner: Vec<u8> = [command::APP_DATA, PACKAGE].into_iter().chain(bytes.iter().copied()).collect();
    let mut payload = Vec::new();
    forward(can.then_some(21), &inner, &mut payload);
    framed(&payload)
}
