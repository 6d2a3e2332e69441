//! A client that receives what a server might send.

use logpose_core::{Dialect, Limits, Link, LiveDialect, Session, Time, To};
use logpose_nt4::{Nt4, Nt4Client, Options};

use crate::kit::{Lines, due, ms, sent};

const LINK: Link = Link(1);
const SUBSCRIBE: &str = r#"[{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"all":true,"prefix":true,"periodic":0.02}}}]"#;

struct ClientUnderTest {
    client: Nt4Client,
    sink: Lines,
}

impl ClientUnderTest {
    fn new() -> Self {
        let mut test = Self { client: Nt4Client::new(Options::default(), Limits::default()), sink: Lines::default() };
        test.client.handle_open(ms(0), LINK);
        sent(&mut test.client);
        test
    }

    fn at(&mut self, at: i64, bytes: &[u8]) -> &mut Self {
        self.client.handle_input(ms(at), LINK, bytes, &mut self.sink).unwrap();
        self
    }

    fn announce(&mut self, at: i64, name: &str, id: i32, type_name: &str, properties: &str) -> &mut Self {
        let text = format!(
            r#"[{{"method":"announce","params":{{"name":"{name}","id":{id},"type":"{type_name}","properties":{properties}}}}}]"#
        );
        self.at(at, text.as_bytes())
    }

    fn reopen(&mut self, at: i64) -> &mut Self {
        self.client.handle_close(ms(at), LINK);
        self.client.handle_open(ms(at), LINK);
        sent(&mut self.client);
        self
    }
}

#[test]
fn it_asks_for_the_time_first_and_then_for_everything() {
    let mut client = Nt4Client::new(Options::default(), Limits::default());
    let mut sink = Lines::default();
    client.handle_open(ms(5000), LINK);
    let first = client.poll_transmit().unwrap();
    assert_eq!(
        (first.to, first.text, &first.bytes[..]),
        (To::One(LINK), false, &b"\x94\xff\x00\x02\xce\x00\x4c\x4b\x40"[..])
    );
    assert_eq!(client.poll_transmit(), None, "nothing may delay the answer");
    // The server's clock says 1 s; the answer took 10 ms.
    client.handle_input(ms(5010), LINK, b"\x94\xff\xce\x00\x0f\x42\x40\x02\xce\x00\x4c\x4b\x40", &mut sink).unwrap();
    assert_eq!(sent(&mut client), [SUBSCRIBE]);
    assert_eq!(client.server_time(ms(5010)), Some(ms(1005)));
    assert_eq!(client.round_trip(), Some(10_000_000));
    assert_eq!(client.stats().syncs, 1);
}

#[test]
fn a_server_that_does_not_send_its_time_is_subscribed_to_all_the_same() {
    let mut client = Nt4Client::new(Options::default(), Limits::default());
    client.handle_open(ms(0), LINK);
    sent(&mut client);
    let mut asked = Vec::new();
    for at in 1..=5000 {
        due(&mut client, ms(at));
        asked.extend(sent(&mut client).into_iter().map(|line| (at, line)));
    }
    assert_eq!(asked, [(1000, SUBSCRIBE.to_owned()), (3000, "sync 0.000 int 3000000".to_owned())]);
}

#[test]
fn it_asks_for_the_time_every_3_s_and_gives_up_after_6_s_of_silence() {
    let mut test = ClientUnderTest::new();
    let (mut asked, mut closed) = (Vec::new(), None);
    for at in 1..=20_000 {
        due(&mut test.client, ms(at));
        asked.extend(sent(&mut test.client).into_iter().filter(|line| line.starts_with("sync")).map(|_| at));
        if at <= 7000 && at % 1000 == 0 {
            test.at(at, b"[]");
        }
        if test.client.poll_close().is_some() {
            closed = Some(at);
        }
    }
    assert_eq!((asked, closed), (vec![3000, 6000, 9000, 12_000], Some(13_000)));
    assert_eq!((test.client.poll_timeout(), test.client.stats().failures), (None, 1));
}

#[test]
fn channels_are_those_of_wpilibs_own_logs() {
    let mut test = ClientUnderTest::new();
    test.announce(1, "/SmartDashboard/x", 4, "int", r#"{"z":1,"persistent":true}"#)
        .announce(1, "/SmartDashboard/xs", 5, "int[]", "{}")
        .announce(1, "/.schema/struct:Pose2d", 6, "structschema", r#"{"retained":true}"#)
        .announce(1, "/Pose", 7, "struct:Pose2d", "{}");
    let found: Vec<_> =
        test.sink.channels.values().map(|c| format!("{} {} {}", c.name, c.type_name, c.metadata)).collect();
    assert_eq!(
        found,
        [
            r#"NT:/SmartDashboard/x int64 {"properties":{"persistent":true,"z":1},"source":"NT"}"#,
            r#"NT:/SmartDashboard/xs int64[] {"properties":{},"source":"NT"}"#,
            r#"NT:/.schema/struct:Pose2d structschema {"properties":{"retained":true},"source":"NT"}"#,
            r#"NT:/Pose struct:Pose2d {"properties":{},"source":"NT"}"#,
        ]
    );
}

#[test]
fn values_of_one_message_are_one_batch_with_the_servers_times() {
    let mut test = ClientUnderTest::new();
    test.announce(1, "/b", 0, "boolean", "{}").announce(1, "/d", 1, "double", "{}");
    test.at(
        2,
        b"\x94\x00\xcd\x03\xe8\x00\xc3\x94\x01\xcd\x03\xe9\x01\xcb\x3f\xf8\0\0\0\0\0\0\x94\x00\xcd\x03\xea\x00\xc2",
    );
    assert_eq!(test.sink.lines, ["0.001 NT:/b true", "0.001001 NT:/d 1.5", "0.001002 NT:/b false"]);
    assert_eq!((test.sink.batches, test.client.stats().values), (1, 3));
}

#[test]
fn every_number_is_taken_for_a_double_or_float() {
    let mut test = ClientUnderTest::new();
    test.announce(1, "/d", 0, "double", "{}")
        .announce(1, "/f", 1, "float", "{}")
        .announce(1, "/a", 2, "double[]", "{}");
    test.at(2, b"\x94\x00\x01\x01\x07\x94\x00\x01\x01\xca\x3f\x00\0\0\x94\x01\x01\x03\xcb\x3f\xf8\0\0\0\0\0\0\x94\x01\x01\x03\xd0\x80");
    test.at(3, b"\x94\x02\x01\x11\x93\x01\xca\x3f\x00\0\0\xcb\x3f\xf8\0\0\0\0\0\0");
    let values: Vec<_> = test.sink.lines.iter().map(|line| line.split_once(" NT:").unwrap().1).collect();
    assert_eq!(values, ["/d 7.0", "/d 0.5", "/f 1.5", "/f -128.0", "/a [1.0, 0.5, 1.5]"]);
    assert!(test.sink.problems.is_empty());
}

#[test]
fn a_value_without_a_time_gets_the_servers_time_of_its_arrival() {
    let mut test = ClientUnderTest::new();
    test.announce(1, "/d", 0, "boolean", "{}").at(2, b"\x94\x00\x00\x00\xc3");
    // Ask at 0, answer at 10 ms: the server was at 1 s then.
    test.at(10, b"\x94\xff\xce\x00\x0f\x42\x40\x02\x00").at(20, b"\x94\x00\x00\x00\xc2");
    assert_eq!(test.sink.lines, ["0.000 NT:/d true", "1.015 NT:/d false"]);
}

#[test]
fn odd_values_are_left_out_and_reported_once() {
    let cases: [(&str, &[u8], &str); 9] = [
        ("double", b"\x94\x00\x01\x02\x07", "that is not double: it says that it is int"),
        ("double", b"\x94\x00\x01\x01\xa1x", "that is not double: it is a str"),
        (
            "int",
            b"\x94\x00\x01\x02\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
            "that is not int: it is an int beyond 63 bits",
        ),
        ("int", b"\x94\x00\x01\x06\x07", "that is not int: it says that it is type 6"),
        ("raw", b"\x94\x00\x01\x05\xa1x", "that is not raw: it is a str"),
        ("string", b"\x94\x00\x01\x04\xc4\x01x", "that is not string: it is a bin"),
        ("int[]", b"\x94\x00\x01\x12\x92\x01\xcb\0\0\0\0\0\0\0\0", "that is not int[]: it is a float 64"),
        ("string[]", b"\x94\x00\x01\x14\x92\xa1x\x01", "that is not string[]: it is an int"),
        // NetworkTables does not know this type, so it is bytes; logs do, and eight are needed.
        ("int64", b"\x94\x00\x01\x05\xc4\x01x", "that is not raw: 1 bytes, expected 8 for a Int64"),
    ];
    for (type_name, bytes, said) in cases {
        let mut test = ClientUnderTest::new();
        test.announce(1, "/x", 0, type_name, "{}").at(2, bytes).at(3, bytes);
        assert_eq!(test.sink.codes(), ["bad-value"], "{type_name}");
        assert_eq!(test.sink.problems[0].message, format!("skipped a value of \"/x\" {said}"));
        assert!(test.sink.lines.is_empty() && test.client.is_connected());
    }
    let mut test = ClientUnderTest::new();
    test.at(1, b"\x94\x07\x01\x00\xc3\x94\x08\x01\x00\xc3")
        .at(2, b"\x94\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\xc3");
    assert_eq!(test.sink.codes()[0], "unknown-topic");
    assert_eq!(test.sink.codes().len(), 2, "an id beyond 63 bits is no message");
}

#[test]
fn garbage_closes_the_link_behind_what_was_good() {
    let garbage: [&[u8]; 8] =
        [b"\x94\x00\x02", b"\xc1", b"{}", b"[{", b"garbage", b"\x94\x00\x02\x00\xc3\xff", b"\x93\x00\x01\x00", b"[][]"];
    for bytes in garbage {
        let mut test = ClientUnderTest::new();
        test.announce(1, "/x", 0, "boolean", "{}").at(2, &[b"\x94\x00\x01\x00\xc3", bytes].concat()).at(2, bytes);
        assert_eq!(test.sink.lines[0], "0.000001 NT:/x true");
        assert_eq!((test.client.poll_close(), test.client.is_connected()), (Some(LINK), false), "{bytes:02x?}");
        assert_eq!(test.sink.codes(), ["bad-message"]);
        assert!(test.sink.problems[0].message.ends_with("; closed the connection"));
        test.at(3, b"\x94\x00\x05\x00\xc3");
        assert!(!test.sink.lines.iter().any(|line| line.starts_with("0.000005")), "a closed link is not listened to");
    }
}

#[test]
fn messages_beyond_the_limit_close_the_link() {
    let mut test = ClientUnderTest::new();
    test.client = Nt4Client::new(Options::default(), Limits { record_len: 100, ..Limits::default() });
    test.client.handle_open(ms(0), LINK);
    test.at(1, &[b' '; 101]);
    assert_eq!((test.sink.codes(), test.client.poll_close()), (vec!["too-long"], Some(LINK)));
}

#[test]
fn too_many_channels_are_reported() {
    let mut test = ClientUnderTest::new();
    test.client = Nt4Client::new(Options::default(), Limits { channels: 2, ..Limits::default() });
    test.client.handle_open(ms(0), LINK);
    for (id, name) in (0..).zip(["/a", "/b", "/c"]) {
        test.announce(1, name, id, "boolean", "{}");
    }
    assert_eq!((test.sink.channels.len(), test.sink.codes()), (2, vec!["too-many-channels"]));
    // Its values are of an unknown topic then.
    test.at(2, b"\x94\x02\x01\x00\xc3");
    assert_eq!(test.sink.codes()[1], "unknown-topic");
}

#[test]
fn properties_and_ends_have_the_servers_time() {
    let mut test = ClientUnderTest::new();
    test.at(10, b"\x94\xff\xce\x00\x0f\x42\x40\x02\x00"); // 1 s at 5 ms
    test.announce(15, "/x", 0, "boolean", r#"{"a":1}"#)
        .at(25, br#"[{"method":"properties","params":{"name":"/x","update":{"a":null,"b":2}}}]"#)
        .at(35, br#"[{"method":"properties","params":{"name":"/x","update":{"b":2}}}]"#)
        .at(35, br#"[{"method":"properties","params":{"name":"/unknown","update":{"b":2}}}]"#)
        .at(45, br#"[{"method":"unannounce","params":{"name":"/x","id":0}}]"#)
        .at(55, br#"[{"method":"unannounce","params":{"name":"/x","id":0}}]"#);
    assert_eq!(test.sink.lines, [r#"1.020 NT:/x metadata {"properties":{"b":2},"source":"NT"}"#, "1.040 NT:/x ends"]);
    // It comes back under another id, with other properties; a number is for ever.
    test.announce(65, "/x", 9, "boolean", "{}").at(66, b"\x94\x09\x07\x00\xc3");
    assert_eq!(
        test.sink.lines[2..],
        [r#"1.060 NT:/x metadata {"properties":{},"source":"NT"}"#, "0.000007 NT:/x true"]
    );
    assert_eq!(test.sink.channels.len(), 1);
    // Another type is another channel.
    test.announce(75, "/x", 9, "int", "{}").at(76, b"\x94\x09\x08\x02\x05");
    assert_eq!((test.sink.channels.len(), test.sink.lines.last().unwrap().as_str()), (2, "0.000008 NT:/x 5"));
}

#[test]
fn a_new_connection_keeps_the_numbers_and_brings_no_value_twice() {
    let mut test = ClientUnderTest::new();
    test.announce(1, "/kept", 0, "boolean", "{}")
        .announce(1, "/gone", 1, "boolean", "{}")
        .announce(1, "/new", 2, "int", "{}");
    test.at(2, b"\x94\x00\x05\x00\xc3\x94\x01\x05\x00\xc3\x94\x02\x05\x02\x01");
    test.reopen(1000);
    // The ids are others now; the first value is the one that was there.
    test.at(1001, b"\x94\xff\xce\x00\x0f\x42\x40\x02\xce\x00\x0f\x42\x40");
    test.announce(1002, "/new", 0, "int", "{}").announce(1002, "/kept", 1, "boolean", "{}");
    test.at(1003, b"\x94\x01\x05\x00\xc3\x94\x01\x05\x00\xc2\x94\x00\x06\x02\x02");
    assert_eq!(test.client.stats().repeats, 1);
    assert_eq!(test.sink.lines[3..], ["0.000005 NT:/kept false", "0.000006 NT:/new 2"]);
    // What does not come again within 3 s is gone.
    test.at(3999, b"[]");
    assert_eq!(test.sink.lines.len(), 5);
    test.at(4000, b"[]").at(4001, b"[]");
    assert_eq!(test.sink.lines[5..], ["3.999500 NT:/gone ends"]);
    assert_eq!((test.sink.channels.len(), test.client.stats().connections), (3, 2));
}

#[test]
fn another_clock_is_reported() {
    let mut test = ClientUnderTest::new();
    let sync = |server: u32, sent: u32| {
        [&b"\x94\xff\xce"[..], &server.to_be_bytes(), b"\x02\xce", &sent.to_be_bytes()].concat()
    };
    test.at(2, &sync(90_000_000, 0));
    test.reopen(1000).at(1002, &sync(91_000_500, 1_000_000));
    assert!(test.sink.problems.is_empty(), "half a millisecond is no other clock");
    test.reopen(2000).at(2002, &sync(1_000_000, 2_000_000));
    assert_eq!(test.sink.codes(), ["server-clock"]);
    let said = "the server's clock stepped by -91.001 s since the last connection";
    assert_eq!(test.sink.problems[0].message, said);
    assert_eq!(test.client.server_time(ms(2002)), Some(Time::from_micros(1_001_000)));
}

#[test]
fn invalid_answers_are_reported() {
    let mut test = ClientUnderTest::new();
    test.at(1, b"\x94\xff\x05\x02\xce\x00\x0f\x42\x40")
        .at(2, b"\x94\xff\x05\x04\xa1x")
        .at(3, b"\x94\xff\x05\x02\xd3\x80\0\0\0\0\0\0\0");
    assert_eq!(test.sink.codes(), ["bad-sync"; 3]);
    assert_eq!(test.sink.problems[1].message, "invalid time answer from the server: sync 0.000005 string \"x\"");
    assert_eq!((test.client.server_time(ms(3)), test.client.is_connected()), (None, true));
}

#[test]
fn the_seam_has_both_sides() {
    let mut client = Nt4.client(Limits::default()).unwrap();
    client.handle_open(ms(0), LINK);
    assert_eq!(sent(&mut *client), ["sync 0.000 int 0"]);
    let mut server = Nt4.server(&logpose_core::EncodeOptions::default()).unwrap();
    server.handle_open(ms(0), LINK);
    assert_eq!((sent(&mut *server).len(), server.poll_timeout()), (0, None), "nobody has asked for anything");
    assert!(Nt4.live().is_some() && Nt4.files().is_none());
    let error = Nt4.info().no_files();
    assert_eq!((error.code, error.help.is_some()), ("no-files", true));
}

#[test]
fn options_say_what_is_asked_for() {
    let options = Options {
        topics: vec!["/a".into(), "$clients".into()],
        prefix: false,
        periodic: 0.1,
        all: false,
        topics_only: true,
    };
    let mut client = Nt4Client::new(options, Limits::default());
    client.handle_open(ms(0), LINK);
    client.handle_timeout(ms(1000));
    let asked =
        r#"[{"method":"subscribe","params":{"topics":["/a","$clients"],"subuid":1,"options":{"topicsonly":true}}}]"#;
    assert_eq!(sent(&mut client)[1], asked);
}
