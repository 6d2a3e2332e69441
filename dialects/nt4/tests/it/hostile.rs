//! Clients that ask for too much. Their cost is that of what they send: at topics times subscriptions these tests would
//! take minutes.

use logpose_core::{Channel, Link, Serve, Session, Value};
use logpose_nt4::{Nt4Server, ServerOptions, Updates};

use crate::kit::{Lines, due, ms, put, receive, sent};

const TOPICS: u32 = 1000;

fn server() -> Nt4Server {
    let mut server = Nt4Server::new(ServerOptions::default());
    for id in 0..TOPICS {
        server.sink(ms(0)).channel(id, &Channel::new(format!("/table{}/{id}", id % 7), "int64")).unwrap();
        put(&mut server, ms(0), id, Value::Int64(id.into()));
    }
    server
}

fn subscribe(topic: &str, subuid: i32, options: &str) -> String {
    format!(
        r#"{{"method":"subscribe","params":{{"topics":["{topic}"],"subuid":{subuid},"options":{{"prefix":true{options}}}}}}}"#
    )
}

fn unsubscribe(subuid: i32) -> String {
    format!(r#"{{"method":"unsubscribe","params":{{"subuid":{subuid}}}}}"#)
}

/// One message with thousands of subscriptions, each at another period, to everything and to the server's own topics.
fn flood(subscriptions: i32) -> String {
    let one = |uid| {
        let (topic, period) = (["", "/table", "$"][uid as usize % 3], f64::from(uid % 900) / 100.0);
        subscribe(topic, uid, &format!(r#","all":{},"periodic":{period}"#, uid % 2 == 0))
    };
    format!("[{}]", (0..subscriptions).map(one).collect::<Vec<_>>().join(","))
}

#[test]
fn thousands_of_subscriptions_in_a_message_send_each_value_once() {
    let (mut server, mut sink) = (server(), Lines::default());
    server.handle_open(ms(1), Link(1));
    receive(&mut server, ms(1), Link(1), &flood(3000), &mut sink);
    let mut lines = Vec::new();
    for at in 1..1000 {
        due(&mut server, ms(at));
        lines.extend(sent(&mut server));
    }
    let announced: usize = lines.iter().map(|line| line.matches(r#""name":"/table"#).count()).sum();
    let values = lines.iter().filter(|line| line.contains(" int ")).count();
    assert_eq!((announced, values), (TOPICS as usize, TOPICS as usize), "each topic once, each value once");
    assert!(sink.problems.is_empty(), "{:?}", sink.problems.first());
}

#[test]
fn who_has_left_costs_nothing() {
    let (mut server, mut sink) = (server(), Lines::default());
    let links = || (1..=60).map(Link);
    for link in links() {
        server.handle_open(ms(1), link);
        receive(&mut server, ms(1), link, &flood(300), &mut sink);
        server.poll_transmit();
    }
    for link in links() {
        server.handle_close(ms(2), link);
    }
    for at in 2..1500 {
        due(&mut server, ms(at));
        while server.poll_transmit().is_some() {}
    }
    assert_eq!((server.poll_timeout(), server.clients()), (None, 0), "nothing is left to do");
    assert_eq!(server.topics(), TOPICS as usize);
}

#[test]
fn those_who_change_their_minds_without_end_get_their_turn_with_others() {
    let (mut server, mut sink) = (server(), Lines::default());
    let (hostile, honest) = (Link(1), Link(2));
    server.handle_open(ms(0), hostile);
    server.handle_open(ms(0), honest);
    let (mut values, mut heard) = (0, None);
    for at in 0..200 {
        // Everything, and nothing, in messages of their own: hundreds of times in each millisecond.
        for round in 0..100 {
            let text = if round % 2 == 0 { subscribe("", 1, "") } else { unsubscribe(1) };
            receive(&mut server, ms(at), hostile, &format!("[{text}]"), &mut sink);
        }
        if at == 150 {
            receive(&mut server, ms(at), honest, &format!("[{}]", subscribe("/table3/3", 1, "")), &mut sink);
        }
        due(&mut server, ms(at));
        while let Some(transmit) = server.poll_transmit() {
            if transmit.to == logpose_core::To::One(hostile) && !transmit.text {
                values += Updates::new(&transmit.bytes).count();
            }
            if transmit.to == logpose_core::To::One(honest) {
                heard = heard.or(Some(at));
            }
        }
    }
    assert!(values < 400_000, "{values} values for 10,000 subscriptions to {TOPICS} topics");
    assert!(heard.is_some_and(|at| at < 155), "the honest client waited: {heard:?}");
}

#[test]
fn a_message_that_subscribes_and_unsubscribes_again_changes_nothing() {
    let (mut server, mut sink) = (server(), Lines::default());
    server.handle_open(ms(0), Link(1));
    let pairs = (0..5000).flat_map(|_| [subscribe("", 1, ""), unsubscribe(1)]).collect::<Vec<_>>().join(",");
    receive(&mut server, ms(0), Link(1), &format!("[{pairs}]"), &mut sink);
    due(&mut server, ms(0));
    assert!(sent(&mut server).is_empty());
    // What stays of a message counts, also if a topic of it is published in between.
    let publish =
        r#"{"method":"publish","params":{"name":"/table3/3","pubuid":7,"type":"int","properties":{}}}"#.to_owned();
    let all = [subscribe("", 1, ""), unsubscribe(1), subscribe("/table3/", 2, ""), publish].join(",");
    receive(&mut server, ms(100), Link(1), &format!("[{all}]"), &mut sink);
    server.handle_timeout(ms(200));
    let lines = sent(&mut server);
    let of = |what: &str| lines.iter().map(|line| line.matches(what).count()).sum::<usize>();
    let expected = (0..TOPICS).filter(|id| id % 7 == 3).count();
    assert_eq!((of("announce"), of(r#""pubuid":7"#), of(" int ")), (expected + 1, 1, expected), "{lines:?}");
}

#[test]
fn names_and_properties_are_bounded() {
    let options = ServerOptions { properties: 1000, names: 10, ..ServerOptions::default() };
    let (mut server, mut sink) = (Nt4Server::new(options), Lines::default());
    server.handle_open(ms(0), Link(1));
    let names = |n: usize, uid: i32| {
        let names = (0..n).map(|i| format!("\"/{i}\"")).collect::<Vec<_>>().join(",");
        format!(r#"[{{"method":"subscribe","params":{{"topics":[{names}],"subuid":{uid}}}}}]"#)
    };
    for (n, uid) in [(8, 1), (3, 2), (10, 1), (1, 2)] {
        receive(&mut server, ms(0), Link(1), &names(n, uid), &mut sink);
    }
    assert_eq!(sink.codes(), ["too-many"; 2], "the second and the last");
    let publish = |name: &str, size: usize| {
        let value = "x".repeat(size);
        format!(
            r#"[{{"method":"publish","params":{{"name":"{name}","pubuid":1,"type":"int","properties":{{"p":"{value}"}}}}}}]"#
        )
    };
    receive(&mut server, ms(0), Link(1), &publish("/a", 1000), &mut sink);
    receive(&mut server, ms(0), Link(1), &publish(&"/a".repeat(3000), 1), &mut sink);
    assert_eq!((server.topics(), sink.problems.len()), (0, 4));
    receive(&mut server, ms(0), Link(1), &publish("/a", 900), &mut sink);
    assert_eq!((server.topics(), sink.problems.len()), (1, 4));
    let set = |key: &str, value: &str| {
        format!(r#"[{{"method":"setproperties","params":{{"name":"/a","update":{{"{key}":{value}}}}}}}]"#)
    };
    receive(&mut server, ms(0), Link(1), &set("q", &format!("\"{}\"", "y".repeat(200))), &mut sink);
    assert_eq!(sink.codes()[4..], ["too-many"]);
    // What is taken away makes room.
    receive(&mut server, ms(0), Link(1), &set("p", "null"), &mut sink);
    receive(&mut server, ms(0), Link(1), &set("q", &format!("\"{}\"", "y".repeat(200))), &mut sink);
    assert_eq!(sink.problems.len(), 5, "{:?}", sink.problems.last());
}
