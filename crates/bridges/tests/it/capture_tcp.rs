//! TCP in captures: segments in any order, holes, several connections, RLOG.

use std::net::IpAddr;

use logpose_bridges::fuzzing;
use logpose_core::{Channel, Link, Sample, Session, Time, Value};
use logpose_rlog::{Options, RlogServer};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq, proptest};

use crate::capture_kit::{Conversation, OTHER_ROBOT, ROBOT, STATION, Seen, Tcp, Traffic, console, see};

/// Lines of changing length, and the stream that they make.
fn lines(count: u16) -> (Vec<String>, Vec<u8>) {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n} {}", "x".repeat(usize::from(n * 7 % 50)))).collect();
    let stream = (0..).zip(&lines).flat_map(|(n, line)| console(n, line)).collect();
    (lines, stream)
}

fn console_of(seen: &Seen) -> Vec<String> {
    seen.texts("/ds/console")
}

#[test]
fn messages_of_both_directions_are_read() {
    let side = Conversation::side((100, 4_000_000_000));
    let mut traffic = Traffic::link(STATION, ROBOT);
    side.open(5, &mut traffic);
    side.client(7, 0, &[0, 4, 0x0e, b'L', b'R', b'L', 0, 0], &mut traffic);
    side.server(8, 0, &console(1, "hello"), &mut traffic);
    side.server(30, 14, &console(2, "again"), &mut traffic);
    let seen = see(&Traffic::default().and(traffic).capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.texts("/ds/game_data"), ["LRL"]);
    assert_eq!(console_of(&seen), ["hello", "again"]);
    let times: Vec<i64> = seen.samples("/ds/console").iter().map(|(us, _)| *us).collect();
    assert_eq!(times, [8_000, 30_000]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_order_and_repetition_gives_the_plain_stream(
        begin in any::<u32>(),
        cuts in vec(0_usize..1200, 0..30),
        order in vec(any::<u16>(), 32),
        again in vec((0_usize..1200, 1_usize..300), 0..20),
    ) {
        let (lines, stream) = lines(30);
        let side = Conversation::side((7, begin));
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).chain([0, stream.len()]).collect();
        cuts.sort_unstable();
        let mut parts: Vec<(u16, usize, usize)> =
            cuts.windows(2).zip(order.iter().cycle()).map(|(cut, order)| (*order, cut[0], cut[1])).collect();
        for ((from, length), order) in again.iter().zip(order.iter().rev()) {
            parts.push((*order, (*from).min(stream.len()), (from + length).min(stream.len())));
        }
        parts.sort_unstable();
        let mut traffic = Traffic::default();
        side.open(0, &mut traffic);
        for (n, (_, from, to)) in (1..).zip(parts) {
            side.server(n, from, &stream[from..to], &mut traffic);
        }
        let seen = see(&traffic.capture());
        prop_assert!(seen.problems.is_empty(), "{:?}", seen.problems);
        prop_assert_eq!(console_of(&seen), lines);
    }

    #[test]
    fn messages_behind_holes_were_sent(
        length in 20_usize..200,
        lost in vec(any::<u8>(), 1..6),
        acknowledge in any::<bool>(),
    ) {
        let (lines, stream) = lines(60);
        let side = Conversation::side((7, 9));
        let mut traffic = Traffic::default();
        side.open(0, &mut traffic);
        let parts: Vec<&[u8]> = stream.chunks(length).collect();
        let lost: Vec<usize> = lost.iter().map(|n| usize::from(*n) % parts.len()).collect();
        for (n, part) in parts.iter().enumerate() {
            if !lost.contains(&n) {
                side.server(n as i64 + 1, n * length, part, &mut traffic);
            }
            if acknowledge {
                side.client_has(n as i64 + 1, n * length + part.len(), &mut traffic);
            }
        }
        let seen = see(&traffic.capture());
        // Nothing shows that the end is missing, unless another source has it.
        let first = lost.iter().copied().min().unwrap_or_default();
        let only_the_end = (first..parts.len()).all(|n| lost.contains(&n));
        prop_assert!(!seen.problems.is_empty() || !acknowledge && only_the_end);
        let console = console_of(&seen);
        // In order, each of them once, and nothing else.
        let mut sent = lines.iter();
        for line in &console {
            if !sent.any(|sent| sent == line) {
                return Err(TestCaseError::fail(format!("{line:?} was not sent, or not then")));
            }
        }
    }

    #[test]
    fn reassembly_gives_every_byte_in_its_place(data in vec(any::<u8>(), 0..400)) {
        fuzzing::reassembly(&data);
    }
}

#[test]
fn a_hole_is_reported_with_its_place_and_reading_goes_on() {
    let (lines, _) = lines(20);
    let side = Conversation::side((7, 9));
    let mut traffic = Traffic::link(STATION, ROBOT);
    side.open(3, &mut traffic);
    let mut place = 0;
    for (n, pair) in (0_u16..).step_by(2).zip(lines.chunks(2)) {
        let bytes = [console(n, &pair[0]), console(n + 1, &pair[1])].concat();
        if n != 8 {
            side.server(10 + i64::from(n) * 40, place, &bytes, &mut traffic);
        }
        place += bytes.len();
        side.client_has(11 + i64::from(n) * 40, place, &mut traffic);
    }
    let seen = see(&Traffic::default().and(traffic).capture());
    assert_eq!(seen.problem_codes(), ["missing-segment"]);
    let problem = &seen.problems.list()[0];
    let lost = (console(8, &lines[8]).len() + console(9, &lines[9]).len()) as u64;
    assert_eq!(problem.length, lost);
    assert_eq!(problem.message, format!("{lost} bytes of the TCP stream from the robot were not captured"));
    let expected: Vec<_> =
        lines.iter().enumerate().filter(|(n, _)| ![8, 9].contains(n)).map(|(_, l)| l.clone()).collect();
    assert_eq!(console_of(&seen), expected);
    // What waited for the hole has its own time all the same.
    assert_eq!(seen.samples("/ds/console")[8].0, (10 + 10 * 40) * 1000);
}

#[test]
fn a_capture_from_the_middle_of_a_stream_finds_the_next_message() {
    let (lines, stream) = lines(40);
    for start in 0..200 {
        let side = Conversation::side((7, u32::MAX - 100));
        let mut traffic = Traffic::default();
        // The first segment begins anywhere, the others with a message.
        let mut place = 0;
        for (n, line) in (0_u16..).zip(&lines) {
            let message = console(n, line);
            let from = start.max(place);
            if from < place + message.len() {
                side.server(n.into(), from, &stream[from..place + message.len()], &mut traffic);
            }
            place += message.len();
        }
        let seen = see(&traffic.capture());
        let console = console_of(&seen);
        assert!(lines.ends_with(&console) && console.len() >= 33, "{start}: {}", console.len());
        assert_eq!(seen.problem_codes()[0], "middle-of-stream");
    }
}

#[test]
fn a_port_that_is_used_again_is_another_connection() {
    let mut traffic = Traffic::default();
    let old = Conversation::side((100, 200));
    old.open(0, &mut traffic);
    let first = console(1, "of the old one");
    old.server(1, 0, &first[..first.len() - 3], &mut traffic);
    let new = Conversation::side((5_000, 0));
    new.open(10, &mut traffic);
    new.server(11, 0, &console(1, "of the new one"), &mut traffic);
    let (from, to) = (new.server, new.client);
    traffic.tcp(12, &Tcp { from, to, sequence: 24, acknowledged: 0, flags: 4, payload: &[] });
    let seen = see(&traffic.capture());
    assert_eq!(console_of(&seen), ["of the new one"]);
    assert_eq!(seen.problem_codes(), ["cut-message"]);
}

#[test]
fn an_invalid_message_is_reported_with_its_byte() {
    let side = Conversation::side((1, 2));
    let mut traffic = Traffic::default();
    side.open(0, &mut traffic);
    // An error message that ends too early, behind a good line, and cut in two.
    let bytes = [console(1, "before"), vec![0, 4, 0x0b, 1, 2, 3], console(2, "behind")].concat();
    side.server(1, 0, &bytes[..17], &mut traffic);
    side.server(2, 17, &bytes[17..], &mut traffic);
    let file = traffic.capture();
    let seen = see(&file);
    assert_eq!(console_of(&seen), ["before", "behind"]);
    assert_eq!(seen.problems.list().len(), 1, "{:?}", seen.problems);
    // Behind the head of the file, three segments of 60 bytes, one of 58 and 17, and all headers.
    let body = 24 + 3 * 76 + 91 + 16 + 58;
    let at = seen.problems.list()[0].at.unwrap();
    assert!((body..body + 4).contains(&at), "{at} {body}");
}

/// What a server of RLOG sends to a client, in pieces with times in milliseconds; the robot's clock began 5 s before.
pub(crate) fn rlog(names: [&str; 2], until: i64) -> Vec<(i64, Vec<u8>)> {
    let mut server = RlogServer::new(Options::default());
    server.declare(0, &Channel::new(names[0], "double"));
    server.declare(1, &Channel::new(names[1], "string"));
    let mut pieces = Vec::new();
    for at in (0..until).step_by(20) {
        let time = Time::from_millis(5000 + at);
        let text = format!("cycle {at}");
        let samples = [
            Sample { channel: 0, time, value: Value::Double(at as f64) },
            Sample { channel: 1, time, value: Value::String(text.as_bytes()) },
        ];
        server.publish(time, &samples).unwrap();
        if at == 100 {
            server.handle_open(time, Link(1));
        }
        let mut bytes = Vec::new();
        while let Some(transmit) = server.poll_transmit() {
            bytes.extend_from_slice(&transmit.bytes);
        }
        if !bytes.is_empty() {
            // Mostly 3 ms on the way, sometimes 10.
            pieces.push((at + if at % 60 == 0 { 3 } else { 10 }, bytes));
        }
    }
    pieces
}

pub(crate) fn rlog_connection(robot: IpAddr, client: IpAddr, port: u16) -> Conversation {
    Conversation { client: (client, port), server: (robot, 5800), begins: (77, 88) }
}

pub(crate) fn send(conversation: &Conversation, pieces: &[(i64, Vec<u8>)], traffic: &mut Traffic) {
    let mut place = 0;
    for (ms, piece) in pieces {
        conversation.server(*ms, place, piece, traffic);
        place += piece.len();
        conversation.client_has(*ms, place, traffic);
        conversation.client(*ms, 0, &[6, 3, 2, 8], traffic);
    }
}

#[test]
fn rlog_is_read_on_the_clock_of_the_capture() {
    let connection = rlog_connection(ROBOT, STATION, 60_000);
    let mut traffic = Traffic::link(STATION, ROBOT);
    connection.open(90, &mut traffic);
    send(&connection, &rlog(["/A", "/B"], 600), &mut traffic);
    let seen = see(&Traffic::default().and(traffic).capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(seen.doubles("/ds/battery").len(), 50);
    let expected: Vec<f64> = (100..600).step_by(20).map(f64::from).collect();
    assert_eq!(seen.doubles("/A"), expected);
    // The shortest way was 3 ms, and so long is taken as the way of all.
    let times: Vec<i64> = seen.samples("/A").iter().map(|(us, _)| *us).collect();
    assert_eq!(times, (100..600).step_by(20).map(|ms| (ms + 3) * 1000).collect::<Vec<_>>());
    assert_eq!(seen.texts("/B")[1], "cycle 120");
    assert_eq!(seen.fact("rlog_streams"), "10.2.54.2 to 10.2.54.5: 49 frames in 1 connections");
}

#[test]
fn rlog_of_several_robots_and_connections() {
    let mut traffic = Traffic::default();
    for (robot, port, at) in [(ROBOT, 60_000, 0), (OTHER_ROBOT, 60_000, 0), (ROBOT, 60_001, 2000)] {
        let connection = rlog_connection(robot, STATION, port);
        connection.open(90 + at, &mut traffic);
        let pieces: Vec<_> = rlog(["/A", "B"], 600).into_iter().map(|(ms, bytes)| (ms + at, bytes)).collect();
        send(&connection, &pieces, &mut traffic);
    }
    let seen = see(&Traffic::default().and(traffic).capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    let mut names = seen.names();
    names.sort_unstable();
    assert_eq!(names, ["/10.2.54.2/A", "/10.2.54.2/B", "/10.3.16.2/A", "/10.3.16.2/B"]);
    assert_eq!(seen.doubles("/10.2.54.2/A").len(), 50);
    assert_eq!(seen.doubles("/10.3.16.2/A").len(), 25);
    let times: Vec<i64> = seen.samples("/10.2.54.2/A").iter().map(|(us, _)| *us).collect();
    // The first packet is time zero.
    assert_eq!((times[0], times[25]), (13_000, 2_013_000));
}

#[test]
fn two_listeners_on_one_machine_do_not_mix_up_their_streams() {
    let (first, second) = (rlog_connection(ROBOT, STATION, 60_000), rlog_connection(ROBOT, STATION, 60_001));
    let (mut traffic, mut other) = (Traffic::default(), Traffic::default());
    first.open(90, &mut traffic);
    send(&first, &rlog(["/A", "/B"], 600), &mut traffic);
    second.open(90, &mut other);
    send(&second, &rlog(["/C", "/B"], 600), &mut other);
    let seen = see(&traffic.and(other).capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(["/A", "/B", "/C"].map(|name| seen.samples(name).len()), [25, 50, 25]);
}

#[test]
fn behind_a_hole_rlog_goes_on_with_the_keys_it_knows() {
    let connection = rlog_connection(ROBOT, STATION, 60_000);
    let mut traffic = Traffic::default();
    connection.open(90, &mut traffic);
    let pieces = rlog(["/A", "/B"], 2000);
    let mut place = 0;
    for (n, (ms, piece)) in pieces.iter().enumerate() {
        if !(10..13).contains(&n) {
            connection.server(*ms, place, piece, &mut traffic);
        }
        place += piece.len();
        connection.client_has(*ms, place, &mut traffic);
    }
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes(), ["missing-segment"]);
    assert_eq!(seen.doubles("/A").len(), pieces.len() - 3);
}

#[test]
fn rlog_from_its_middle_on_lacks_the_names() {
    let connection = rlog_connection(ROBOT, STATION, 60_000);
    let mut traffic = Traffic::default();
    let pieces = rlog(["/A", "/B"], 600);
    send(&connection, &pieces[5..], &mut traffic);
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes()[0], "unknown-fields");
    assert!(seen.names().is_empty());
}

#[test]
fn other_things_on_the_port_of_rlog_are_no_damage() {
    let page = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n".repeat(100);
    for open in [true, false] {
        let connection = rlog_connection(ROBOT, STATION, 60_000);
        let mut traffic = Traffic::link(STATION, ROBOT);
        if open {
            connection.open(90, &mut traffic);
        }
        let mut place = 0;
        for ms in 100..400 {
            connection.server(ms, place, &page[..1400], &mut traffic);
            place += if ms == 200 { 5000 } else { 1400 };
        }
        let seen = see(&Traffic::default().and(traffic).capture());
        assert!(seen.problems.is_empty(), "{:?}", seen.problems);
        assert_eq!(seen.fact("rlog_streams"), "");
        let segments = if open { 303 } else { 300 };
        assert_eq!(seen.fact("unused_packets"), format!("TCP 5800 without RLOG {segments}"));
    }
}

#[test]
fn a_single_message_is_enough_if_it_fits() {
    let side = Conversation::side((1, 2));
    let mut traffic = Traffic::default();
    side.client(1, 70, &[0, 0], &mut traffic);
    side.server(2, 900, &console(1, "alone"), &mut traffic);
    let seen = see(&traffic.capture());
    assert_eq!(seen.problem_codes(), ["middle-of-stream", "middle-of-stream"]);
    assert_eq!(console_of(&seen), ["alone"]);
}

#[test]
fn what_comes_after_a_reset_belongs_to_the_stream() {
    let side = Conversation::side((1, 2));
    let mut traffic = Traffic::default();
    side.open(0, &mut traffic);
    let line = console(1, "before");
    side.server(1, 0, &line, &mut traffic);
    let (from, to) = (side.client, side.server);
    traffic.tcp(2, &Tcp { from, to, sequence: 2, acknowledged: 0, flags: 4, payload: &[] });
    side.server(3, line.len(), &console(2, "under way"), &mut traffic);
    let seen = see(&traffic.capture());
    assert!(seen.problems.is_empty(), "{:?}", seen.problems);
    assert_eq!(console_of(&seen), ["before", "under way"]);
}
