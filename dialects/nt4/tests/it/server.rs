//! A server that receives what clients might send.

use std::collections::BTreeMap;

use logpose_core::{Channel, Cursor, Limits, Link, Sample, Serve, Session, Value};
use logpose_nt4::{Item, Messages, Notice, Nt4Server, ServerOptions, Updates};

use crate::kit::{Lines, due, ms, put, receive, sent, server};

const A: Link = Link(1);
const B: Link = Link(2);

fn subscribe(topics: &str, subuid: i32, options: &str) -> String {
    format!(r#"[{{"method":"subscribe","params":{{"topics":{topics},"subuid":{subuid},"options":{{{options}}}}}}}]"#)
}

fn publish(name: &str, pubuid: i32, type_name: &str, properties: &str) -> String {
    format!(
        r#"[{{"method":"publish","params":{{"name":"{name}","pubuid":{pubuid},"type":"{type_name}","properties":{{{properties}}}}}}}]"#
    )
}

fn announced(name: &str, id: i32, type_name: &str, rest: &str) -> String {
    format!(
        r#"[{{"method":"announce","params":{{"name":"{name}","id":{id},"type":"{type_name}","properties":{rest}}}}}]"#
    )
}

/// Everything that is sent until `until`, with the times.
fn run(server: &mut Nt4Server, from: i64, until: i64, mut each: impl FnMut(&mut Nt4Server, i64)) -> Vec<(i64, String)> {
    let mut all = Vec::new();
    for at in from..until {
        each(server, at);
        due(server, ms(at));
        all.extend(sent(server).into_iter().map(|line| (at, line)));
    }
    all
}

#[test]
fn a_subscriber_gets_the_topics_and_their_last_values() {
    let mut server = server(&[("NT:/a", "int64"), ("/b", "double"), ("/other", "double")]);
    let mut sink = Lines::default();
    put(&mut server, ms(1), 0, Value::Int64(1));
    put(&mut server, ms(2), 0, Value::Int64(2));
    server.handle_open(ms(3), A);
    assert!(sent(&mut server).is_empty(), "nobody has asked");
    receive(&mut server, ms(3), A, &subscribe(r#"["/a","/b","/none"]"#, 1, ""), &mut sink);
    server.handle_timeout(ms(3));
    let a = r#"{"method":"announce","params":{"name":"/a","id":0,"type":"int","properties":{}}}"#;
    let b = r#"{"method":"announce","params":{"name":"/b","id":1,"type":"double","properties":{}}}"#;
    assert_eq!(sent(&mut server), [format!("[{a},{b}]"), "#0 0.002001 int 2".to_owned()]);
    assert!(sink.problems.is_empty() && sink.channels.is_empty());
}

#[test]
fn only_the_last_value_of_a_period_goes_out_unless_all_are_wanted() {
    let every: Vec<(i64, i64)> = (0..=20).map(|i| ((i + 9) / 10 * 100, i * 10)).collect();
    for (options, expected) in [
        ("", vec![(0, 0), (100, 100), (200, 200)]),
        (r#""all":true"#, every),
        (r#""periodic":0.05"#, vec![(0, 0), (50, 50), (100, 100), (150, 150), (200, 200)]),
        (r#""topicsonly":true"#, vec![]),
    ] {
        let mut server = server(&[("/a", "int64")]);
        let mut sink = Lines::default();
        server.handle_open(ms(0), A);
        receive(&mut server, ms(0), A, &subscribe(r#"["/a"]"#, 1, options), &mut sink);
        let all = run(&mut server, 0, 250, |server, at| {
            if at % 10 == 0 {
                put(server, ms(at), 0, Value::Int64(at));
            }
        });
        let values: Vec<(i64, i64)> = all
            .iter()
            .filter_map(|(at, line)| Some((*at, line.strip_prefix("#0 ")?.split(' ').nth(2)?.parse().ok()?)))
            .collect();
        assert_eq!(values, expected, "{options}");
    }
}

#[test]
fn values_have_the_time_at_which_they_were_put_in() {
    let mut server = server(&[("/a", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &subscribe(r#"["/a"]"#, 1, r#""all":true"#), &mut sink);
    // Within a call the distances are kept, whatever clock the samples are from.
    let day = ms(86_400_000);
    let sample = |at: i64, value| Sample { channel: 0, time: day.plus(at * 1_000_000), value: Value::Int64(value) };
    server.sink(ms(1000)).samples(&[sample(0, 1), sample(4, 2), sample(10, 3)]).unwrap();
    server.sink(ms(1005)).samples(&[sample(12, 4), sample(20, 5)]).unwrap();
    server.sink(ms(2000)).samples(&[sample(-5_000, 6), sample(30, 7)]).unwrap();
    server.handle_timeout(ms(2000));
    let lines = sent(&mut server);
    let times: Vec<_> = lines[1..].iter().map(|line| line.split(' ').nth(1).unwrap()).collect();
    // The fourth would be from before the third: a topic does not go back in time.
    assert_eq!(times, ["0.990001", "0.994001", "1.000001", "1.000001", "1.005001", "2.000001", "2.000001"]);
}

#[test]
fn overlapping_subscriptions_give_one_message_and_the_most_that_is_asked_for() {
    let mut server = server(&[("/a", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    put(&mut server, ms(0), 0, Value::Int64(0));
    for (uid, options) in [(1, ""), (2, r#""all":true,"prefix":true"#), (3, r#""topicsonly":true,"periodic":0.01"#)] {
        receive(&mut server, ms(0), A, &subscribe(r#"["/a","/a"]"#, uid, options), &mut sink);
    }
    let all = run(&mut server, 0, 10, |_, _| {});
    assert_eq!(all.len(), 2, "announced once, one value: {all:?}");
    put(&mut server, ms(10), 0, Value::Int64(1));
    put(&mut server, ms(11), 0, Value::Int64(2));
    assert_eq!(run(&mut server, 11, 300, |_, _| {}).len(), 2);
    // Without the second, only the last value.
    receive(&mut server, ms(300), A, r#"[{"method":"unsubscribe","params":{"subuid":2}}]"#, &mut sink);
    put(&mut server, ms(301), 0, Value::Int64(3));
    put(&mut server, ms(302), 0, Value::Int64(4));
    assert_eq!(run(&mut server, 302, 500, |_, _| {}), [(302, "#0 0.302001 int 4".to_owned())]);
    for uid in [1, 3, 3, 7] {
        receive(
            &mut server,
            ms(500),
            A,
            &format!(r#"[{{"method":"unsubscribe","params":{{"subuid":{uid}}}}}]"#),
            &mut sink,
        );
    }
    put(&mut server, ms(501), 0, Value::Int64(5));
    assert!(run(&mut server, 501, 700, |_, _| {}).is_empty());
    assert!(sink.problems.is_empty());
}

#[test]
fn a_subscription_is_replaced_by_one_with_its_id() {
    let mut server = server(&[("/a", "int64"), ("/b", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    put(&mut server, ms(0), 0, Value::Int64(0));
    put(&mut server, ms(0), 1, Value::Int64(0));
    receive(&mut server, ms(0), A, &subscribe(r#"["/a"]"#, 1, ""), &mut sink);
    assert_eq!(run(&mut server, 0, 5, |_, _| {}).len(), 2);
    receive(&mut server, ms(200), A, &subscribe(r#"["/b"]"#, 1, ""), &mut sink);
    let all = run(&mut server, 200, 205, |_, _| {});
    assert_eq!(all.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>()[1], "#1 0.000001 int 0");
    put(&mut server, ms(300), 0, Value::Int64(1));
    put(&mut server, ms(300), 1, Value::Int64(1));
    assert_eq!(run(&mut server, 300, 500, |_, _| {}), [(300, "#1 0.300001 int 1".to_owned())]);
    // Again what was heard already: no value comes twice.
    receive(&mut server, ms(500), A, &subscribe(r#"["/b"]"#, 1, r#""all":true"#), &mut sink);
    assert!(run(&mut server, 500, 700, |_, _| {}).is_empty());
}

#[test]
fn a_new_topic_is_announced_before_its_values_and_its_end_comes_after_them() {
    let mut server = server(&[]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &subscribe(r#"["/"]"#, 1, r#""all":true,"prefix":true"#), &mut sink);
    server.sink(ms(1)).channel(7, &Channel::new("/a", "boolean")).unwrap();
    put(&mut server, ms(1), 7, Value::Boolean(true));
    server.sink(ms(1)).end(7, ms(1)).unwrap();
    server.sink(ms(1)).end(7, ms(1)).unwrap();
    server.sink(ms(1)).channel(8, &Channel::new("/b", "boolean")).unwrap();
    put(&mut server, ms(1), 8, Value::Boolean(false));
    // A channel that has ended begins again with its next sample.
    put(&mut server, ms(1), 7, Value::Boolean(true));
    let all = run(&mut server, 1, 300, |_, _| {});
    let lines: Vec<_> = all.iter().map(|(_, line)| line.as_str()).collect();
    let joined = format!(
        r#"[{{"method":"unannounce","params":{{"name":"/a","id":0}}}},{},{}]"#,
        announced("/b", 0, "boolean", "{}").trim_matches(['[', ']']),
        announced("/a", 1, "boolean", "{}").trim_matches(['[', ']'])
    );
    assert_eq!(
        lines,
        [
            announced("/a", 0, "boolean", "{}").as_str(),
            "#0 0.001001 boolean true",
            &joined,
            "#0 0.001001 boolean false",
            "#1 0.001001 boolean true"
        ]
    );
}

#[test]
fn retained_topics_stay_and_uncached_ones_have_no_last_value() {
    let mut server = server(&[]);
    let mut sink = Lines::default();
    let metadata = |properties: &str| format!(r#"{{"properties":{{{properties}}},"source":"NT"}}"#);
    let cases = [
        ("/retained", r#""retained":true"#),
        ("/persistent", r#""persistent":true"#),
        ("/uncached", r#""cached":false"#),
    ];
    for (id, (name, properties)) in (0..).zip(cases) {
        let channel = Channel { metadata: metadata(properties), ..Channel::new(name, "boolean") };
        server.sink(ms(0)).channel(id, &channel).unwrap();
        put(&mut server, ms(0), id, Value::Boolean(true));
    }
    server.sink(ms(1)).end(0, ms(1)).unwrap();
    server.sink(ms(1)).end(1, ms(1)).unwrap();
    assert_eq!(server.topics(), 3);
    server.handle_open(ms(2), A);
    receive(&mut server, ms(2), A, &subscribe(r#"[""]"#, 1, r#""prefix":true"#), &mut sink);
    let all = run(&mut server, 2, 50, |_, _| {});
    assert_eq!(all[1..], [(2, "#0 0.000001 boolean true".to_owned()), (2, "#1 0.000001 boolean true".to_owned())]);
    put(&mut server, ms(200), 2, Value::Boolean(false));
    assert_eq!(run(&mut server, 200, 250, |_, _| {}), [(200, "#2 0.200001 boolean false".to_owned())]);
    // Without the property nobody keeps it.
    server.sink(ms(300)).metadata(0, ms(300), "").unwrap();
    receive(
        &mut server,
        ms(300),
        A,
        r#"[{"method":"setproperties","params":{"name":"/retained","update":{"retained":null}}}]"#,
        &mut sink,
    );
    assert_eq!(server.topics(), 2);
    assert_eq!(sent(&mut server), [r#"[{"method":"unannounce","params":{"name":"/retained","id":0}}]"#]);
}

#[test]
fn properties_are_sent_to_all_clients_that_know_the_topic() {
    let mut server = server(&[("/a", "int64")]);
    let mut sink = Lines::default();
    for link in [A, B] {
        server.handle_open(ms(0), link);
        receive(&mut server, ms(0), link, &subscribe(r#"["/a"]"#, 1, ""), &mut sink);
    }
    sent(&mut server);
    receive(
        &mut server,
        ms(1),
        A,
        r#"[{"method":"setproperties","params":{"name":"/a","update":{"unit":"m"}}}]"#,
        &mut sink,
    );
    let update = |rest: &str| format!(r#"[{{"method":"properties","params":{{"name":"/a","update":{rest}}}}}]"#);
    assert_eq!(sent(&mut server), [update(r#"{"unit":"m"},"ack":true"#), update(r#"{"unit":"m"}"#)]);
    // The server's own: what has changed, and null for what is gone.
    let metadata = r#"{"properties":{"b":1},"source":"NT"}"#;
    server.sink(ms(2)).metadata(0, ms(2), metadata).unwrap();
    server.sink(ms(3)).metadata(0, ms(3), metadata).unwrap();
    let channel = Channel { metadata: metadata.into(), ..Channel::new("/a", "int64") };
    server.sink(ms(3)).channel(0, &channel).unwrap();
    assert_eq!(sent(&mut server), vec![update(r#"{"b":1,"unit":null}"#); 2]);
    receive(&mut server, ms(4), A, r#"[{"method":"setproperties","params":{"name":"/none","update":{}}}]"#, &mut sink);
    assert_eq!(sink.codes(), ["no-topic"]);
}

#[test]
fn what_a_client_publishes_goes_to_the_others_and_into_the_sink() {
    let mut server = server(&[]);
    let mut sink = Lines::default();
    for link in [A, B] {
        server.handle_open(ms(0), link);
        receive(
            &mut server,
            ms(0),
            link,
            &subscribe(r#"[""]"#, 1, r#""prefix":true,"all":true,"periodic":0.01"#),
            &mut sink,
        );
    }
    receive(&mut server, ms(1), A, &publish("/x", 9, "int", r#""unit":"m""#), &mut sink);
    let (plain, with) =
        (announced("/x", 0, "int", r#"{"unit":"m"}"#), announced("/x", 0, "int", r#"{"unit":"m"},"pubuid":9"#));
    assert_eq!(sent(&mut server), [with.clone(), plain], "the publisher gets its id, the other one does not");
    server.handle_input(ms(2), A, b"\x94\x09\xcd\x03\xe8\x02\x05\x94\x09\x00\x02\x06", &mut sink).unwrap();
    let all = run(&mut server, 2, 50, |_, _| {});
    assert_eq!(all, [(2, "#0 0.001 int 5".to_owned()), (2, "#0 0.000 int 6".to_owned())], "not to the publisher");
    assert_eq!(sink.channels[&0].metadata, r#"{"properties":{"unit":"m"},"source":"NT"}"#);
    assert_eq!(sink.lines, ["0.001 NT:/x 5", "0.002001 NT:/x 6"], "a value without a time came now");
    // Again the same publisher: again the same answer.
    receive(&mut server, ms(60), A, &publish("/x", 9, "int", ""), &mut sink);
    assert_eq!(sent(&mut server), [with]);
    receive(
        &mut server,
        ms(61),
        A,
        r#"[{"method":"setproperties","params":{"name":"/x","update":{"unit":null}}}]"#,
        &mut sink,
    );
    receive(
        &mut server,
        ms(62),
        A,
        r#"[{"method":"unpublish","params":{"pubuid":9}},{"method":"unpublish","params":{"pubuid":9}}]"#,
        &mut sink,
    );
    assert_eq!(sink.lines[2..], [r#"0.061001 NT:/x metadata {"properties":{},"source":"NT"}"#, "0.062001 NT:/x ends"]);
    assert_eq!(server.topics(), 0);
    let gone = r#"[{"method":"unannounce","params":{"name":"/x","id":0}}]"#;
    assert_eq!(sent(&mut server).iter().filter(|line| line.contains(&gone[1..gone.len() - 1])).count(), 2);
    // Once more, with the number it had.
    receive(&mut server, ms(70), B, &publish("/x", 1, "int", ""), &mut sink);
    server.handle_input(ms(70), B, b"\x94\x01\x07\x02\x07", &mut sink).unwrap();
    assert_eq!((sink.lines.last().unwrap().as_str(), sink.channels.len()), ("0.000007 NT:/x 7", 1));
    // A client that goes takes its topics with it; the sink hears of it with the next message.
    server.handle_close(ms(80), B);
    assert_eq!(server.topics(), 0);
    server.handle_input(ms(90), A, b"[]", &mut sink).unwrap();
    assert_eq!(sink.lines.last().unwrap(), "0.090001 NT:/x ends");
    assert!(sink.problems.is_empty(), "{:?}", sink.problems);
}

#[test]
fn the_value_with_the_latest_time_is_kept() {
    let mut server = server(&[]);
    let mut sink = Lines::default();
    for link in [A, B, Link(3)] {
        server.handle_open(ms(0), link);
    }
    receive(&mut server, ms(0), A, &publish("/x", 1, "int", ""), &mut sink);
    receive(&mut server, ms(0), B, &publish("/x", 1, "int", ""), &mut sink);
    receive(&mut server, ms(0), Link(3), &subscribe(r#"["/x"]"#, 1, ""), &mut sink);
    sent(&mut server);
    server.handle_input(ms(1), A, b"\x94\x01\x64\x02\x01", &mut sink).unwrap();
    server.handle_input(ms(1), B, b"\x94\x01\x32\x02\x02\x94\x01\x00\x02\x03", &mut sink).unwrap();
    assert_eq!(run(&mut server, 1, 50, |_, _| {}), [(1, "#0 0.000100 int 1".to_owned())]);
    // Whoever set it may go back in time, and a default never wins.
    server.handle_input(ms(60), A, b"\x94\x01\x32\x02\x04", &mut sink).unwrap();
    server.handle_input(ms(60), B, b"\x94\x01\x00\x02\x05", &mut sink).unwrap();
    assert_eq!(run(&mut server, 60, 150, |_, _| {}), [(101, "#0 0.000050 int 4".to_owned())]);
    server.handle_input(ms(160), B, b"\x94\x01\x32\x02\x06", &mut sink).unwrap();
    assert_eq!(run(&mut server, 160, 250, |_, _| {}), [(201, "#0 0.000050 int 6".to_owned())]);
}

#[test]
fn a_type_that_conflicts_is_answered_with_the_type_that_there_is() {
    let mut server = server(&[("/a", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &publish("/a", 1, "string", r#""x":1"#), &mut sink);
    assert_eq!(sent(&mut server), [announced("/a", 0, "int", r#"{},"pubuid":1"#)]);
    server.handle_input(ms(1), A, b"\x94\x01\x05\x04\xa1x\x94\x01\x06\x04\xa1y", &mut sink).unwrap();
    assert_eq!(sink.codes(), ["type-conflict", "bad-value"]);
    assert!(sink.lines.is_empty());
    server.handle_input(ms(2), A, b"\x94\x01\x05\x02\x07", &mut sink).unwrap();
    assert_eq!(sink.lines, ["0.000005 NT:/a 7"], "who publishes what it is may do so");
}

#[test]
fn the_servers_own_type_wins() {
    let mut server = server(&[]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &publish("/a", 1, "string", ""), &mut sink);
    receive(&mut server, ms(0), A, &subscribe(r#"["/a"]"#, 1, r#""all":true"#), &mut sink);
    server.handle_input(ms(1), A, b"\x94\x01\x05\x04\xa1x", &mut sink).unwrap();
    sent(&mut server);
    server.sink(ms(10)).channel(0, &Channel::new("/a", "double")).unwrap();
    assert!(sent(&mut server).is_empty(), "it may never have a value");
    put(&mut server, ms(10), 0, Value::Double(1.0));
    // A log in which a type changes has two channels of one name.
    server.sink(ms(10)).channel(1, &Channel::new("/a", "boolean")).unwrap();
    put(&mut server, ms(11), 1, Value::Boolean(true));
    put(&mut server, ms(12), 1, Value::Boolean(false));
    let all = run(&mut server, 12, 200, |_, _| {});
    let lines: Vec<_> = all.iter().map(|(_, line)| line.as_str()).collect();
    let change = |type_name| {
        format!(
            r#"[{{"method":"unannounce","params":{{"name":"/a","id":0}}}},{}"#,
            announced("/a", 0, type_name, "{}").trim_start_matches('[')
        )
    };
    assert_eq!(
        lines,
        [
            &change("double"),
            "#0 0.010001 double 1.0",
            &change("boolean"),
            "#0 0.011001 boolean true",
            "#0 0.012001 boolean false"
        ]
    );
    server.handle_input(ms(300), A, b"\x94\x01\x06\x04\xa1y", &mut sink).unwrap();
    assert_eq!(sink.lines, ["0.000005 NT:/a \"x\"", "0.300001 NT:/a ends"]);
}

#[test]
fn what_a_client_may_not_do_is_reported_and_left_out() {
    let limits = Limits { channels: 3, record_len: 300, held_back: 200 };
    let options = ServerOptions { limits, publishers: 2, subscriptions: 2, ..ServerOptions::default() };
    let mut server = Nt4Server::new(options);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    server.handle_open(ms(0), B);
    receive(&mut server, ms(0), A, &publish("$x", 1, "int", ""), &mut sink);
    receive(&mut server, ms(0), A, &publish("/1", 1, "int", ""), &mut sink);
    receive(&mut server, ms(0), A, &publish("/2", 1, "int", ""), &mut sink);
    receive(&mut server, ms(0), A, &publish("/2", 2, "int", ""), &mut sink);
    receive(&mut server, ms(0), A, &publish("/3", 3, "int", ""), &mut sink);
    receive(&mut server, ms(0), B, &publish("/3", 3, "int", ""), &mut sink);
    receive(&mut server, ms(0), B, &publish("/4", 4, "int", ""), &mut sink);
    assert_eq!(sink.codes(), ["reserved-name", "publisher-in-use", "too-many", "too-many"]);
    assert_eq!(server.topics(), 3);
    for uid in [1, 2, 1, 3] {
        receive(&mut server, ms(0), A, &subscribe(r#"["/1"]"#, uid, ""), &mut sink);
    }
    let long = format!("[\"{}\"]", "x".repeat(200));
    receive(&mut server, ms(0), B, &subscribe(&long, 1, ""), &mut sink);
    assert_eq!(sink.codes()[4..], ["too-many", "too-many"]);
    server.handle_input(ms(0), A, b"\x94\x07\x01\x00\xc3", &mut sink).unwrap();
    receive(&mut server, ms(0), A, r#"[{"method":"announce","params":{}}]"#, &mut sink);
    assert_eq!(sink.codes()[6..], ["bad-value", "odd-message"]);
    assert_eq!(sink.problems[6].message, "client NT4@0: skipped values of publisher 7, which does not exist");
    receive(&mut server, ms(0), B, &" ".repeat(301), &mut sink);
    assert_eq!((sink.codes()[8], server.poll_close()), ("too-long", Some(B)));
    // The server itself may have no more topics, either, and says whose values are lost.
    server.handle_close(ms(1), A);
    assert_eq!(server.topics(), 0);
    for id in 0..4 {
        server.sink(ms(1)).channel(id, &Channel::new(format!("/{id}"), "int64")).unwrap();
    }
    let samples: Vec<_> = (0..4).map(|channel| Sample { channel, time: ms(1), value: Value::Int64(1) }).collect();
    let error = server.sink(ms(1)).samples(&samples).unwrap_err();
    assert_eq!(error.to_string(), "nt4: channel \"/3\": too many topics");
}

#[test]
fn clients_cannot_fill_the_memory_with_what_is_kept() {
    let mut server = Nt4Server::new(ServerOptions { kept: 100_000, ..ServerOptions::default() });
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    for pubuid in 0..10 {
        receive(&mut server, ms(0), A, &publish(&format!("/{pubuid}"), pubuid, "raw", r#""retained":true"#), &mut sink);
        let value = [&[0x94, pubuid as u8, 1, 5, 0xc5, 0x4e, 0x20][..], &[7; 20_000]].concat();
        server.handle_input(ms(1), A, &value, &mut sink).unwrap();
        server.handle_input(ms(1), A, &value, &mut sink).unwrap();
    }
    // Four values fit; the sink still gets all of them.
    assert_eq!((sink.codes(), sink.lines.len()), (vec!["too-many"], 20));
    server.handle_close(ms(2), A);
    assert_eq!(server.topics(), 10);
    server.handle_open(ms(3), A);
    receive(&mut server, ms(3), A, &publish("/long", 0, "raw", &format!(r#""x":"{}""#, "x".repeat(20_000))), &mut sink);
    let update =
        format!(r#"[{{"method":"setproperties","params":{{"name":"/0","update":{{"x":"{}"}}}}}}]"#, "x".repeat(20_000));
    receive(&mut server, ms(3), A, &update, &mut sink);
    assert_eq!(sink.codes(), ["too-many"; 3]);
    // What is gone makes room.
    for name in 0..10 {
        let text =
            format!(r#"[{{"method":"setproperties","params":{{"name":"/{name}","update":{{"retained":null}}}}}}]"#);
        receive(&mut server, ms(4), A, &text, &mut sink);
    }
    receive(&mut server, ms(5), A, &publish("/long", 0, "raw", &format!(r#""x":"{}""#, "x".repeat(20_000))), &mut sink);
    assert_eq!((server.topics(), sink.problems.len()), (1, 3));
}

#[test]
fn garbage_closes_the_link_and_takes_its_topics() {
    let garbage: [&[u8]; 5] = [b"\x94\x00\x02", b"\xc1", b"{}", b"[{", b"\x94\x01\x05\x02\x07\xff"];
    for bytes in garbage {
        let mut server = server(&[]);
        let mut sink = Lines::default();
        server.handle_open(ms(0), A);
        receive(&mut server, ms(0), A, &publish("/x", 1, "int", ""), &mut sink);
        sent(&mut server);
        server.handle_input(ms(1), A, bytes, &mut sink).unwrap();
        assert_eq!((server.poll_close(), server.clients(), server.topics()), (Some(A), 0, 0), "{bytes:02x?}");
        assert_eq!(sink.codes(), ["bad-message"]);
        assert_eq!(sink.lines.last().unwrap(), "0.001001 NT:/x ends");
        server.handle_close(ms(2), A);
        server.handle_input(ms(3), A, b"[]", &mut sink).unwrap();
        assert!(sent(&mut server).is_empty());
    }
}

#[test]
fn a_value_of_another_type_does_not_hold_up_the_others() {
    let mut server = server(&[("/a", "int64"), ("/b", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &subscribe(r#"["/"]"#, 1, r#""prefix":true"#), &mut sink);
    let sample = |channel, value| Sample { channel, time: ms(1), value };
    let samples = [sample(0, Value::Double(1.0)), sample(1, Value::Int64(1)), sample(9, Value::Int64(1))];
    let error = server.sink(ms(1)).samples(&samples).unwrap_err();
    assert_eq!(error.to_string(), "nt4: channel \"/a\": a Double is not int");
    assert_eq!(run(&mut server, 1, 50, |_, _| {})[1..], [(1, "#1 0.001001 int 1".to_owned())]);
}

#[test]
fn names_that_begin_with_a_dollar_get_a_slash() {
    let mut server = server(&[("NT:$x", "int64")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &subscribe(r#"[""]"#, 1, r#""prefix":true"#), &mut sink);
    assert_eq!(sent(&mut server), [announced("/$x", 0, "int", "{}")]);
}

#[test]
fn long_messages_are_cut_between_values() {
    let mut server = server(&[("/a", "raw"), ("/b", "raw")]);
    let mut sink = Lines::default();
    server.handle_open(ms(0), A);
    receive(&mut server, ms(0), A, &subscribe(r#"["/"]"#, 1, r#""prefix":true,"all":true"#), &mut sink);
    assert!(server.poll_transmit().unwrap().text);
    let bytes = vec![7; 1000];
    for _ in 0..100 {
        put(&mut server, ms(1), 0, Value::Bytes(&bytes));
    }
    put(&mut server, ms(1), 1, Value::Bytes(&vec![7; 100_000]));
    server.handle_timeout(ms(1));
    let mut sizes = Vec::new();
    let mut count = 0;
    while let Some(transmit) = server.poll_transmit() {
        sizes.push(transmit.bytes.len());
        count += Updates::new(&transmit.bytes).filter(Result::is_ok).count();
    }
    assert_eq!(count, 101);
    assert!(sizes[..sizes.len() - 2].iter().all(|size| (15_000..=16_384).contains(size)), "{sizes:?}");
    assert!(sizes.last().unwrap() > &100_000);
    // So do announcements.
    for id in 0..1000 {
        server.sink(ms(2)).channel(10 + id, &Channel::new(format!("/{id}/{}", "x".repeat(100)), "raw")).unwrap();
    }
    let mut texts = 0;
    while let Some(transmit) = server.poll_transmit() {
        assert!(transmit.text && transmit.bytes.len() < 16_500);
        assert!(transmit.bytes.starts_with(b"[") && transmit.bytes.ends_with(b"}]"));
        texts += 1;
    }
    assert!((12..16).contains(&texts), "{texts}");
}

#[test]
fn topics_of_the_server_about_itself_are_there_for_those_who_ask() {
    let mut server = server(&[("/a", "int64")]);
    let mut sink = Lines::default();
    for link in [A, B, Link(3)] {
        server.handle_open(ms(0), link);
    }
    server.introduce(A, "dash", "10.0.0.5:1234");
    server.introduce(B, "", "");
    receive(&mut server, ms(0), A, &subscribe(r#"[""]"#, 1, r#""prefix":true"#), &mut sink);
    server.handle_input(ms(0), Link(3), b"\x94\xff\x00\x02\x00", &mut sink).unwrap();
    run(&mut server, 0, 200, |_, _| {});
    assert_eq!(server.poll_timeout(), None, "nobody asks");
    assert_eq!((server.clients(), server.topics()), (1, 1), "who only asks for the time is no client");

    receive(&mut server, ms(200), B, &subscribe(r#"["$"]"#, 5, r#""prefix":true,"all":true,"x":7"#), &mut sink);
    receive(&mut server, ms(200), B, &publish("/b", 4, "int", ""), &mut sink);
    let mut metas = Metas::default();
    let lines = metas.run(&mut server, 200, 300);
    let dash = "[id, dash@0, conn, 10.0.0.5:1234]";
    let all = [
        "$clientpub$NT4@1 [[uid, 4, topic, /b]]".to_owned(),
        "$clientpub$dash@0 []".to_owned(),
        format!("$clients [{dash}, [id, NT4@1, conn, ]]"),
        "$clientsub$NT4@1 [[uid, 5, topics, [$], options, [all, true, prefix, true, x, 7]]]".to_owned(),
        "$clientsub$dash@0 [[uid, 1, topics, [], options, [prefix, true]]]".to_owned(),
        "$pub$/a [[client, , pubuid, 0]]".to_owned(),
        "$pub$/b [[client, NT4@1, pubuid, 4]]".to_owned(),
        "$serverpub [[uid, 0, topic, /a]]".to_owned(),
        "$serversub []".to_owned(),
        "$sub$/a [[client, dash@0, subuid, 1, options, [prefix, true]]]".to_owned(),
        "$sub$/b [[client, dash@0, subuid, 1, options, [prefix, true]]]".to_owned(),
    ];
    assert_eq!(lines, all);
    assert_eq!(server.topics(), 2, "they do not count");
    // Changes are announced, the rest is not; a name that nobody subscribes to is not created.
    server.handle_close(ms(300), A);
    let lines = metas.run(&mut server, 300, 500);
    let changed = ["$clients [[id, NT4@1, conn, ]]", "$sub$/a []", "$sub$/b []"];
    assert_eq!(lines, changed);
    receive(&mut server, ms(600), B, &subscribe(r#"["$sub$/a"]"#, 5, ""), &mut sink);
    let left = run(&mut server, 600, 900, |_, _| {});
    let gone = left.iter().map(|(_, line)| line.matches("unannounce").count()).sum::<usize>();
    assert_eq!(gone, 8, "of nine, one is still asked for: {left:?}");
    receive(&mut server, ms(1000), B, r#"[{"method":"unsubscribe","params":{"subuid":5}}]"#, &mut sink);
    run(&mut server, 1000, 1200, |_, _| {});
    assert_eq!(server.poll_timeout(), None);
    assert!(sink.problems.is_empty(), "{:?}", sink.problems);
}

/// The values of the server's own topics that are sent, by name.
#[derive(Default)]
struct Metas {
    names: BTreeMap<i64, String>,
}

impl Metas {
    fn run(&mut self, server: &mut Nt4Server, from: i64, until: i64) -> Vec<String> {
        let mut values = BTreeMap::new();
        for at in from..until {
            due(server, ms(at));
            while let Some(transmit) = server.poll_transmit() {
                if transmit.text {
                    Messages::new(&transmit.bytes).for_each(|notice| self.notice(notice.unwrap()));
                    continue;
                }
                for update in Updates::new(&transmit.bytes).map(Result::unwrap) {
                    let Item::Bin(bytes) = update.value else { continue };
                    let item = Item::parse(&mut Cursor::new(bytes, 0)).unwrap();
                    values.insert(self.names[&update.id].clone(), plain(&item));
                }
            }
        }
        values.into_iter().map(|(name, value)| format!("{name} {value}")).collect()
    }

    fn notice(&mut self, notice: Notice) {
        let Notice::Announce { name, id, type_name, properties, .. } = notice else { return };
        if name.starts_with('$') {
            assert_eq!((type_name.as_str(), properties["retained"].as_bool()), ("msgpack", Some(true)));
        }
        self.names.insert(id.into(), name);
    }
}

fn plain(item: &Item<'_>) -> String {
    match item {
        Item::Boolean(value) => value.to_string(),
        Item::Int(number) => number.to_string(),
        Item::Double(number) => number.to_string(),
        Item::Str(text) => String::from_utf8_lossy(text).into_owned(),
        Item::Array(items) | Item::Map(items) => {
            format!("[{}]", items.iter().map(|item| plain(&item)).collect::<Vec<_>>().join(", "))
        }
        other => other.name().to_owned(),
    }
}
