//! A board at the end of a line.

use std::time::Duration;

use logpose_core::{Batch, Link, Session, Time, To};
use logpose_refloat::vesc::{Deframer, MAX_PAYLOAD, framed};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions};

use super::{board, hex, ms, numbered};

struct Wire {
    session: BoardSession,
    deframer: Deframer,
    now: Time,
}

impl Wire {
    fn new(options: BoardOptions, line: LineOptions) -> Self {
        let mut session = BoardSession::new(options, line);
        session.handle_open(Time::ZERO, Link(0));
        Self { session, deframer: Deframer::new(MAX_PAYLOAD), now: Time::ZERO }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.session.handle_input(self.now, Link(0), bytes, &mut Batch::default()).unwrap();
    }

    fn ask(&mut self, request: &str) {
        self.send(&framed(&hex(request)));
    }

    /// What arrives until `until`, with the time of each payload.
    fn run(&mut self, until: Time) -> Vec<(Time, Vec<u8>)> {
        let mut arrived = Vec::new();
        loop {
            while let Some(transmit) = self.session.poll_transmit() {
                assert_eq!(transmit.to, To::One(Link(0)));
                self.deframer.push(&transmit.bytes);
                while let Some(payload) = self.deframer.next_payload() {
                    arrived.push((self.now, payload.to_vec()));
                }
            }
            match self.session.poll_timeout() {
                Some(at) if at <= until => {
                    self.now = self.now.max(at);
                    self.session.handle_timeout(self.now);
                }
                _ => break,
            }
        }
        self.now = until;
        arrived
    }

    fn payloads(&mut self, until: Time) -> Vec<Vec<u8>> {
        self.run(until).into_iter().map(|(_, payload)| payload).collect()
    }
}

fn recording(size: u32) -> BoardOptions {
    BoardOptions { recording: Some(numbered(BoardVersion::V1_2, size)), ..board(BoardVersion::V1_2) }
}

#[test]
fn several_requests_in_one_segment_are_answered_in_order() {
    let mut wire = Wire::new(recording(100), LineOptions::default());
    let requests = ["24 65 29 02 01", "24 65 29 02 02 00 00 00 14", "00", "24 65 29 02 02 00 00 00 00", "24 65 00"];
    let segment: Vec<u8> = requests.iter().flat_map(|request| framed(&hex(request))).collect();
    wire.send(&segment);
    let replies = wire.payloads(ms(1));
    let heads: Vec<&[u8]> = replies.iter().map(|reply| &reply[..7.min(reply.len())]).collect();
    assert_eq!(heads[0][..3], hex("24 65 2A"));
    assert_eq!(heads[1], hex("24 65 2B 00 00 00 14"));
    assert_eq!(heads[2][0], 0);
    assert_eq!(heads[3], hex("24 65 2B 00 00 00 00"));
    assert_eq!(heads[4], hex("24 65 00 0C 01 00"));
    assert_eq!(replies.len(), 5);
}

#[test]
fn bad_frames_are_ignored_and_good_ones_behind_them_are_not() {
    let mut wire = Wire::new(recording(1), LineOptions::default());
    let good = framed(&hex("24 65 00"));
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        wire.send(&bad);
    }
    assert!(wire.payloads(ms(5_000)).is_empty());
    for byte in &good {
        wire.send(&[*byte]);
    }
    assert_eq!(wire.payloads(ms(5_001)), [hex("24 65 00 0C 01 00")]);
    // More than 512 bytes are a framing error.
    wire.send(&[3, 2, 1, 0]);
    wire.send(&good);
    assert_eq!(wire.payloads(ms(5_002)), [hex("24 65 00 0C 01 00")]);
}

#[test]
fn a_bogus_beginning_does_not_make_the_board_deaf_for_ever() {
    let mut wire = Wire::new(recording(1), LineOptions::default());
    wire.send(&[2, 200]);
    wire.ask("24 65 00");
    assert!(wire.payloads(ms(900)).is_empty());
    assert_eq!(wire.payloads(ms(1_100)), [hex("24 65 00 0C 01 00")]);
}

#[test]
fn a_second_client_is_closed_at_once() {
    let mut session = BoardSession::new(recording(1), LineOptions::default());
    session.handle_open(Time::ZERO, Link(3));
    session.handle_open(Time::ZERO, Link(4));
    assert_eq!(session.poll_close(), Some(Link(4)));
    assert_eq!(session.poll_close(), None);
    session.handle_input(ms(1), Link(4), &framed(&[0]), &mut Batch::default()).unwrap();
    assert!(session.poll_transmit().is_none());
    session.handle_close(ms(2), Link(3));
    assert!(!session.is_connected());
    session.handle_open(ms(3), Link(5));
    session.handle_input(ms(3), Link(5), &framed(&[0]), &mut Batch::default()).unwrap();
    assert_eq!(session.poll_transmit().unwrap().to, To::One(Link(5)));
}

#[test]
fn a_serial_line_is_paced_both_ways() {
    let mut wire = Wire::new(recording(100), LineOptions { baud: Some(115_200), ..LineOptions::default() });
    let request = "24 65 29 02 02 00 00 00 00";
    wire.ask(request);
    wire.ask(request);
    let arrived = wire.run(ms(1_000));
    let byte = 1e10 / 115_200.0;
    // The second request is through while the first reply is still on its way.
    let expected = [14.0 + 513.0, 14.0 + 2.0 * 513.0].map(|bytes| bytes * byte);
    for ((at, _), expected) in arrived.iter().zip(expected) {
        assert!((at.nanos() as f64 - expected).abs() < 1_000.0, "{at} and not {expected} ns");
    }
    assert_eq!(arrived.len(), 2);
}

#[test]
fn a_search_on_the_can_bus_takes_long_and_holds_nothing_up() {
    let options = BoardOptions { can: Some(21), ..recording(1) };
    let mut wire = Wire::new(options, LineOptions::default());
    wire.ask("3E");
    wire.ask("22 15 24 65 00");
    let arrived = wire.run(ms(10_000));
    assert_eq!(arrived, [(Time::ZERO, hex("24 65 00 0C 01 00")), (ms(2_500), hex("3E 15"))]);
}

#[test]
fn foreign_packets_come_in_between() {
    for version in [BoardVersion::V1_0, BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3] {
        let mut wire = Wire::new(board(version), LineOptions { foreign: 0.5, ..LineOptions::default() });
        for i in 0..400 {
            wire.ask("24 65 00");
            wire.now = ms(i);
        }
        let replies = wire.payloads(ms(1_000));
        let info: Vec<u8> = vec![36, 0x65, 0, 10 + version as u8, 1, 0];
        assert_eq!(replies.iter().filter(|reply| **reply == info).count(), 400);
        let foreign = replies.len() - 400;
        assert_eq!(foreign as u64, wire.session.tally().foreign);
        assert!((160..240).contains(&foreign), "{foreign}");
        let kinds: std::collections::BTreeSet<&[u8]> =
            replies.iter().map(|reply| &reply[..3.min(reply.len())]).collect();
        assert!(kinds.len() >= 6, "{version}: {kinds:?}");
        assert_eq!(wire.session.board().view().answered, 400);
    }
}

#[test]
fn requests_are_lost() {
    let mut wire = Wire::new(recording(1), LineOptions { lose: 0.25, ..LineOptions::default() });
    for _ in 0..400 {
        wire.ask("00");
    }
    let answered = wire.payloads(ms(1)).len() as u64;
    assert_eq!(answered + wire.session.tally().lost, 400);
    assert!((260..340).contains(&answered), "{answered}");
}

#[test]
fn a_connection_breaks_in_the_middle_of_a_reply() {
    let mut wire = Wire::new(recording(100), LineOptions { close_after: Some(700), ..LineOptions::default() });
    for _ in 0..3 {
        wire.ask("24 65 29 02 02 00 00 00 00");
    }
    assert_eq!(wire.payloads(ms(1)).len(), 1);
    assert_eq!(wire.session.poll_close(), Some(Link(0)));
    wire.ask("00");
    assert!(wire.payloads(ms(2)).is_empty());
    wire.session.handle_close(ms(2), Link(0));
    wire.session.handle_open(ms(3), Link(0));
    wire.deframer.clear();
    wire.ask("24 65 29 02 02 00 00 00 00");
    assert_eq!(wire.payloads(ms(4)).len(), 1);
    assert_eq!(wire.session.tally().closed, 1);
}

#[test]
fn late_replies_arrive_late() {
    let line = LineOptions { delay: Duration::from_millis(400), ..LineOptions::default() };
    let mut wire = Wire::new(recording(1), line);
    wire.ask("24 65 00");
    assert_eq!(wire.run(ms(2_000)), [(ms(400), hex("24 65 00 0C 01 00"))]);
}

#[test]
fn the_board_lives_on_while_nobody_asks() {
    let mut wire = Wire::new(BoardOptions { ridden: false, ..board(BoardVersion::V1_3) }, LineOptions::default());
    wire.run(ms(5_000));
    let view = wire.session.board().view();
    assert!(view.running && view.recording && view.size > 100, "{view:?}");
}

#[test]
fn any_bytes_leave_the_board_well() {
    let mut state = 1_u32;
    for length in [0, 1, 17, 300, 5_000] {
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        logpose_sim::fuzzing::board(&bytes);
        // The same inside of frames.
        let framed: Vec<u8> = bytes.chunks(9).flat_map(framed).collect();
        logpose_sim::fuzzing::board(&framed);
    }
}
