//! Conversations in simulated time.

use logpose_core::{Channel, EncodeOptions, Limits, Link, LiveDialect, Sample, Serve, Session, Sink, Time, To, Value};
use logpose_rlog::{HEARTBEAT, KEEP_ALIVE, Options, Revision, Rlog, RlogClient, RlogServer};
use logpose_testkit::ms;

use crate::kit::Lines;

const LINK: Link = Link(1);

fn server(revision: Revision) -> RlogServer {
    let mut server = RlogServer::new(Options { revision, ..Options::default() });
    server.declare(0, &Channel::new("/A", "double"));
    server.declare(1, &Channel::new("/B", "string"));
    server
}

fn publish(server: &mut RlogServer, at: i64, a: f64, b: &str) {
    let samples = [
        Sample { channel: 0, time: ms(at), value: Value::Double(a) },
        Sample { channel: 1, time: ms(at), value: Value::String(b.as_bytes()) },
    ];
    server.publish(ms(at), &samples).unwrap();
}

fn sent(session: &mut dyn Session) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(transmit) = session.poll_transmit() {
        all.extend_from_slice(&transmit.bytes);
    }
    all
}

fn due(session: &mut dyn Session, now: Time) {
    if session.poll_timeout().is_some_and(|at| at <= now) {
        session.handle_timeout(now);
    }
}

/// Client and server joined in memory for a while, in steps of 5 ms, a cycle every 20 ms. `link` changes what
/// the server sends.
fn converse(revision: Revision, until: i64, mut link: impl FnMut(i64, Vec<u8>) -> Vec<Vec<u8>>) -> (RlogClient, Lines) {
    let (mut client, mut server) = (RlogClient::new(Limits::default()), server(revision));
    let mut sink = Lines::default();
    let mut open = false;
    for at in (0..until).step_by(5) {
        let now = ms(at);
        if !open {
            client.handle_open(now, LINK);
            server.handle_open(now, LINK);
            open = true;
        }
        if at % 20 == 0 {
            publish(&mut server, at, at as f64, if at % 100 == 0 { "tick" } else { "tock" });
        }
        due(&mut client, now);
        due(&mut server, now);
        let up = sent(&mut client);
        server.handle_input(now, LINK, &up, &mut sink).unwrap();
        for piece in link(at, sent(&mut server)) {
            client.handle_input(now, LINK, &piece, &mut sink).unwrap();
        }
        if let Some(LINK) = client.poll_close() {
            server.handle_close(now, LINK);
            open = false;
        }
        assert_eq!(server.poll_close(), None, "the client shows that it is there");
    }
    (client, sink)
}

#[test]
fn a_client_hears_every_cycle_of_a_server() {
    for revision in [Revision::R1, Revision::R2] {
        let (client, sink) = converse(revision, 10_000, |_, bytes| vec![bytes]);
        assert!(sink.problems.is_empty(), "{:?}", sink.problems);
        // 500 values of /A; /B changes twice in every 100 ms.
        assert_eq!(sink.lines.iter().filter(|line| line.contains("/A double")).count(), 500);
        assert_eq!(sink.lines.iter().filter(|line| line.contains("/B string")).count(), 200);
        assert_eq!(client.stats().cycles, 501, "500 and the newcomer's");
        assert!(client.stats().keep_alives > 400);
        assert_eq!((client.stats().connections, client.stats().failures), (1, 0));
    }
}

#[test]
fn pieces_of_any_size_are_the_same_to_a_client() {
    for revision in [Revision::R1, Revision::R2] {
        let (_, whole) = converse(revision, 1000, |_, bytes| vec![bytes]);
        for size in [1, 3, 7] {
            let (_, pieces) = converse(revision, 1000, |_, bytes| bytes.chunks(size).map(<[u8]>::to_vec).collect());
            assert_eq!(pieces.lines, whole.lines);
        }
        // Half of every frame comes a step later.
        let mut held = Vec::new();
        let (_, late) = converse(revision, 1000, |_, bytes| {
            let mut all = std::mem::take(&mut held);
            all.extend(bytes);
            held = all.split_off(all.len() / 2);
            vec![all]
        });
        assert_eq!(whole.lines[..late.lines.len()], late.lines);
        assert!(late.lines.len() + 20 > whole.lines.len());
    }
}

#[test]
fn garbage_closes_the_link_and_a_new_one_brings_everything_anew() {
    for revision in [Revision::R1, Revision::R2] {
        let (client, sink) = converse(revision, 4000, |at, mut bytes| {
            if at == 1000 {
                bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
            }
            vec![bytes]
        });
        assert_eq!((client.stats().connections, client.stats().failures), (2, 1));
        assert_eq!(sink.problems.len(), 1, "{:?}", sink.problems);
        assert_eq!(sink.channels.len(), 2, "channels keep their numbers");
        assert!(sink.lines.last().unwrap().starts_with("3.980 /A"));
    }
}

#[test]
fn silence_of_3_s_closes_the_link() {
    let mut client = RlogClient::new(Limits::default());
    client.handle_open(ms(0), LINK);
    let mut closed = None;
    for at in 0..5000 {
        due(&mut client, ms(at));
        if client.poll_close().is_some() {
            closed = Some(at);
        }
    }
    assert_eq!(closed, Some(3000));
    assert_eq!(client.poll_timeout(), None);
    let (client, _) =
        converse(Revision::R2, 8000, |at, bytes| if (1000..4000).contains(&at) { Vec::new() } else { vec![bytes] });
    assert_eq!((client.stats().connections, client.stats().failures), (2, 1));
}

#[test]
fn a_client_sends_heartbeats_every_500_ms() {
    let mut client = RlogClient::new(Limits::default());
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    let mut times = Vec::new();
    for at in 0..=2000 {
        due(&mut client, ms(at));
        client.handle_input(ms(at), LINK, &KEEP_ALIVE, &mut sink).unwrap();
        while let Some(transmit) = client.poll_transmit() {
            assert_eq!((transmit.to, &transmit.bytes[..]), (To::One(LINK), &HEARTBEAT[..]));
            times.push(at);
        }
    }
    assert_eq!(times, [0, 500, 1000, 1500, 2000]);
    assert_eq!(client.stats().keep_alives, 2001);
}

#[test]
fn frames_beyond_the_limit_close_the_link() {
    let mut client = RlogClient::new(Limits { record_len: 1000, ..Limits::default() });
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    client.handle_input(ms(1), LINK, &[0, 0, 3, 233], &mut sink).unwrap();
    assert_eq!((client.poll_close(), sink.problems[0].code), (Some(LINK), "too-long"));
    client.handle_input(ms(2), LINK, &[0; 100], &mut sink).unwrap();
    assert_eq!(client.stats().frames, 0, "a closed link is not listened to");
}

#[test]
fn a_step_back_after_connecting_is_tolerated_once() {
    let frame = |seconds: f64| [&[0, 0, 0, 9, 0][..], &seconds.to_be_bytes()].concat();
    let mut client = RlogClient::new(Limits::default());
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    let newcomer = [&[0, 0, 0, 10, 2, 0][..], &5.0_f64.to_be_bytes()].concat();
    for bytes in [newcomer, frame(4.9), frame(4.92)] {
        client.handle_input(ms(1), LINK, &bytes, &mut sink).unwrap();
    }
    assert!(sink.problems.is_empty());
    client.handle_input(ms(1), LINK, &frame(4.0), &mut sink).unwrap();
    assert_eq!(sink.problems[0].code, "time-step-back");
    assert!(client.is_connected());
}

#[test]
fn a_repeated_revision_byte_and_unknown_keys_are_survived() {
    let mut client = RlogClient::new(Limits::default());
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    let bytes = b"\0\0\0\x0a\x01\0\0\0\0\0\0\0\0\0\0\0\0\x1a\x01\0\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\x02\0\0\x01\x01\x02\0\x09\0\0\0\0\x0e\0\x40\0\0\0\0\0\0\0\x02\0\x09\x01\x01";
    client.handle_input(ms(1), LINK, bytes, &mut sink).unwrap();
    assert!(client.is_connected(), "{:?}", sink.problems);
    assert_eq!(sink.problems.iter().map(|p| p.code).collect::<Vec<_>>(), ["repeated-revision", "unknown-key"]);
    assert_eq!(sink.lines, ["1.000 /A boolean Boolean [01]"]);
}

#[test]
fn a_newcomer_gets_everything_in_one_frame() {
    let mut early = server(Revision::R2);
    early.handle_open(ms(0), LINK);
    assert_eq!(sent(&mut early), b"\0\0\0\x0a\x02\0\0\0\0\0\0\0\0\0", "before any cycle");

    let mut server = server(Revision::R2);
    publish(&mut server, 980, 1.0, "x");
    publish(&mut server, 1000, 1.5, "x");
    server.handle_open(ms(1000), LINK);
    let keys = b"\x01\0\0\0\x02/A\0\x06double\x01\0\x01\0\x02/B\0\x06string";
    let values = b"\x02\0\0\0\x08\x3f\xf8\0\0\0\0\0\0\x02\0\x01\0\x01x";
    let content = [b"\x02\0\x3f\xf0\0\0\0\0\0\0", &keys[..], values].concat();
    assert_eq!(sent(&mut server), [&[0, 0, 0, content.len() as u8][..], &content].concat());
    // A cycle without changes is nine bytes, and has no revision byte.
    publish(&mut server, 1040, 1.5, "x");
    assert_eq!(sent(&mut server), b"\0\0\0\0\0\0\0\x09\0\x3f\xf0\xa3\xd7\x0a\x3d\x70\xa4");
}

#[test]
fn a_server_keeps_links_alive_every_20_ms() {
    let mut server = server(Revision::R1);
    assert_eq!(server.poll_timeout(), None, "nobody is there");
    server.handle_open(ms(0), LINK);
    sent(&mut server);
    let mut times = Vec::new();
    for at in 1..=100 {
        due(&mut server, ms(at));
        let bytes = sent(&mut server);
        if !bytes.is_empty() {
            assert_eq!(bytes, KEEP_ALIVE);
            times.push(at);
        }
    }
    assert_eq!(times, [20, 40, 60, 80, 100]);
}

#[test]
fn a_silent_client_is_closed_after_3_s() {
    let mut server = server(Revision::R2);
    let mut sink = Lines::default();
    server.handle_open(ms(0), Link(1));
    server.handle_open(ms(0), Link(2));
    let mut closed = Vec::new();
    for at in 1..=4000 {
        due(&mut server, ms(at));
        if at % 1000 == 0 {
            server.handle_input(ms(at), Link(2), b"anything", &mut sink).unwrap();
        }
        sent(&mut server);
        while let Some(link) = server.poll_close() {
            closed.push((at, link));
        }
    }
    assert_eq!(closed, [(3020, Link(1))]);
    assert_eq!(server.clients(), 1);
}

#[test]
fn a_cycle_is_made_once_for_all_clients() {
    let mut server = server(Revision::R2);
    publish(&mut server, 0, 0.0, "x");
    assert_eq!(server.poll_transmit(), None, "nobody is there");
    for link in 0..500 {
        server.handle_open(ms(0), Link(link));
        assert_eq!(server.poll_transmit().unwrap().to, To::One(Link(link)));
    }
    publish(&mut server, 20, 1.0, "x");
    let cycle = server.poll_transmit().unwrap();
    assert_eq!((cycle.to, server.poll_transmit()), (To::All, None));
    assert!(cycle.bytes.starts_with(&KEEP_ALIVE), "a keep-alive stands before it");
}

#[test]
fn while_cycles_come_no_keep_alive_goes_alone() {
    let mut server = server(Revision::R2);
    server.handle_open(ms(0), LINK);
    sent(&mut server);
    let mut alone = Vec::new();
    for at in 1..=200 {
        if at % 20 == 0 && at <= 100 {
            let sample = Sample { channel: 0, time: ms(at), value: Value::Double(at as f64) };
            // A cycle may come a little late.
            server.sink(ms(at + 4)).samples(&[sample]).unwrap();
            sent(&mut server);
        }
        due(&mut server, ms(at + 4));
        if sent(&mut server) == KEEP_ALIVE {
            alone.push(at + 4);
        }
    }
    assert_eq!(alone, [20, 129, 149, 169, 189], "before the first cycle, and after the last");
}

#[test]
fn a_refused_value_does_not_hold_up_the_others() {
    let mut server = server(Revision::R2);
    server.handle_open(ms(0), LINK);
    sent(&mut server);
    let long = vec![b'x'; 40_000];
    let samples = [
        Sample { channel: 1, time: ms(20), value: Value::String(&long) },
        Sample { channel: 0, time: ms(20), value: Value::Double(1.0) },
    ];
    let error = server.publish(ms(20), &samples).unwrap_err();
    assert_eq!(error.channel, "/B");
    assert!(sent(&mut server).ends_with(&1.0_f64.to_be_bytes()));
}

#[test]
fn an_r1_server_can_take_a_value_back() {
    let mut server = server(Revision::R1);
    let mut client = RlogClient::new(Limits::default());
    let mut sink = Lines::default();
    client.handle_open(ms(0), LINK);
    server.handle_open(ms(0), LINK);
    publish(&mut server, 20, 1.0, "x");
    Sink::end(&mut server, 0, ms(40)).unwrap();
    Sink::end(&mut server, 0, ms(60)).unwrap();
    let bytes = sent(&mut server);
    client.handle_input(ms(1), LINK, &bytes, &mut sink).unwrap();
    assert_eq!(
        sink.lines,
        [
            "0.020 /A double Double [00, 00, 00, 00, 00, 00, f0, 3f]",
            "0.020 /B string String [78]",
            "0.040 /A double ends"
        ]
    );
    assert_eq!(client.stats().cycles, 3);
}

#[test]
fn the_seam_has_both_sides() {
    let mut client = Rlog.client(Limits::default()).unwrap();
    client.handle_open(ms(0), LINK);
    assert_eq!(*client.poll_transmit().unwrap().bytes, HEARTBEAT);
    let options = |revision| EncodeOptions { revision, ..EncodeOptions::default() };
    for (asked, byte) in [(None, 2), (Some(1), 1), (Some(2), 2)] {
        let mut server = Rlog.server(&options(asked)).unwrap();
        server.handle_open(ms(0), LINK);
        assert_eq!(server.poll_transmit().unwrap().bytes[4], byte);
    }
    assert!(Rlog.server(&options(Some(3))).is_none());
}
