//! A client and a server in simulated time.

use logpose_core::{Channel, Layout, Numbers, Sample, Serve, Session, Value};
use logpose_nt4::{Nt4Server, Options, ServerOptions};

use crate::kit::{Way, World, doubles, due, ms, put, receive, sent, server, whole};

const CHANNELS: [(&str, &str); 3] = [("/count", "int64"), ("/array", "double[]"), ("/text", "string")];

/// Two samples every 20 ms, and a text now and then.
fn robot(server: &mut Nt4Server, at: i64) {
    if at % 20 == 0 {
        let bytes = doubles(&[at as f64, 0.5]);
        put(server, ms(at), 0, Value::Int64(at));
        put(server, ms(at), 1, Value::DoubleArray(Numbers::new(&bytes, Layout::Little).unwrap()));
    }
    if at % 1000 == 0 {
        put(server, ms(at), 2, Value::String(format!("at {at}").as_bytes()));
    }
}

fn line(at: i64, rest: &str) -> String {
    format!("{} {rest}", ms(at).plus(1000))
}

#[test]
fn a_client_hears_every_value_of_a_server() {
    let mut world = World::new(server(&CHANNELS), Options::default());
    world.run(10_000, robot, whole);
    assert!(world.heard.problems.is_empty() && world.server_sink.problems.is_empty());
    // What is sent in the last milliseconds is still under way.
    let counts: Vec<_> = (0..9960).step_by(20).map(|at| line(at, &format!("NT:/count {at}"))).collect();
    assert_eq!(world.heard.of("NT:/count")[..counts.len()], counts);
    let arrays: Vec<_> = (0..9960).step_by(20).map(|at| line(at, &format!("NT:/array [{at}.0, 0.5]"))).collect();
    assert_eq!(world.heard.of("NT:/array")[..arrays.len()], arrays);
    assert_eq!(world.heard.of("NT:/text").len(), 10);
    let stats = world.client.stats();
    assert_eq!((stats.connections, stats.failures, stats.syncs, stats.repeats), (1, 0, 4, 0));
    assert!((490..=510).contains(&stats.messages), "one message every 20 ms: {stats:?}");
}

#[test]
fn only_what_is_asked_for_is_heard() {
    let options = Options { topics: vec!["/c".into(), "/te".into()], periodic: 0.1, all: false, ..Options::default() };
    let mut world = World::new(server(&CHANNELS), options);
    world.run(5_000, robot, whole);
    assert_eq!(world.heard.channels.len(), 2);
    assert_eq!(world.heard.of("NT:/count").len(), 50);
    assert!(world.heard.of("NT:/array").is_empty());
}

#[test]
fn the_clients_idea_of_the_servers_time_is_right() {
    for (ahead, latency) in [(0, 1), (5_000_000_000, 7), (-86_400_000_000_000, 50)] {
        let mut world = World::new(server(&CHANNELS), Options::default());
        (world.ahead, world.latency) = (ahead, latency);
        world.run(10_000, robot, whole);
        let now = ms(world.at).plus(ahead);
        let wrong = world.client.server_time(now).unwrap().since(ms(world.at));
        assert!(wrong.abs() <= 1_000, "{wrong} ns wrong");
        assert_eq!(world.client.round_trip(), Some(2 * latency * 1_000_000));
        // Samples have the server's time, whatever the client's clock says.
        let counts = world.heard.of("NT:/count");
        assert!(counts.len() > 480 && counts.contains(&line(9_000, "NT:/count 9000").as_str()));
    }
}

#[test]
fn a_lost_link_costs_what_was_sent_meanwhile_and_no_more() {
    let mut world = World::new(server(&CHANNELS), Options::default());
    world.run(3_333, robot, whole);
    world.cut();
    world.run(10_000, robot, whole);
    assert!(world.heard.problems.is_empty());
    assert_eq!(world.heard.channels.len(), 3, "channels keep their numbers");
    let counts = world.heard.of("NT:/count");
    let heard: Vec<i64> = counts.iter().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let missing: Vec<i64> = (0..9960).step_by(20).filter(|at| !heard.contains(at)).collect();
    assert!(missing.iter().all(|at| (3_300..3_440).contains(at)), "{missing:?}");
    assert!(heard.is_sorted_by(|a, b| a < b), "nothing twice");
    // The text had not changed while the link was lost.
    assert_eq!((world.heard.of("NT:/text").len(), world.client.stats().repeats), (10, 1));
    assert_eq!((world.client.stats().connections, world.client.stats().failures), (2, 0));
}

#[test]
fn silence_makes_a_new_connection() {
    let mut world = World::new(server(&CHANNELS), Options::default());
    world.run(20_000, robot, |at, _, bytes| (!(2_000..9_000).contains(&at)).then_some(bytes));
    assert_eq!((world.client.stats().connections, world.client.stats().failures), (2, 1));
    assert!(world.client.is_connected());
    assert_eq!(world.heard.channels.len(), 3);
    assert_eq!(world.heard.of("NT:/count").last().unwrap(), &line(19_980, "NT:/count 19980").as_str());
}

#[test]
fn noise_on_the_link_does_no_lasting_harm() {
    for seed in 1..=20_u64 {
        let mut world = World::new(server(&CHANNELS), Options::default());
        let mut state = seed;
        let mut random = move |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        world.run(10_000, robot, |at, _, mut bytes| {
            if at >= 1_000 && random(20) == 0 {
                let place = random(bytes.len() as u64) as usize;
                bytes[place] ^= 1 << random(8);
            }
            Some(bytes)
        });
        // A changed name or option lasts as long as the connection does.
        world.cut();
        world.run(20_000, robot, whole);
        assert!(world.client.is_connected(), "seed {seed}");
        let good = |at: i64| line(at, &format!("NT:/count {at}"));
        assert!(world.heard.lines.contains(&good(19_900)), "seed {seed}: {:?}", world.heard.problems);
        assert!(world.heard.lines.contains(&good(500)));
    }
}

#[test]
fn a_topic_that_is_gone_after_a_new_connection_ends() {
    let mut world = World::new(server(&CHANNELS), Options::default());
    world.run(2_000, robot, whole);
    // The robot's program starts again, without the text.
    world.server = Nt4Server::new(ServerOptions::default());
    for (id, (name, type_name)) in (0..).zip(&CHANNELS[..2]) {
        world.server.sink(ms(2_000)).channel(id, &Channel::new(*name, *type_name)).unwrap();
    }
    world.cut();
    world.run(
        8_000,
        |server, at| {
            if at % 20 == 0 {
                put(server, ms(at), 0, Value::Int64(at))
            }
        },
        whole,
    );
    let ends: Vec<_> = world.heard.lines.iter().filter(|line| line.ends_with("ends")).collect();
    assert_eq!(ends.len(), 1);
    assert!(ends[0].contains("NT:/text"), "{ends:?}");
    assert_eq!(world.heard.codes(), ["server-clock"], "and its clock");
}

#[test]
fn what_was_heard_can_be_served_again() {
    let mut first = server(&[]);
    let metadata = r#"{"properties":{"unit":"m"},"source":"NT"}"#;
    let channel = Channel { metadata: metadata.into(), ..Channel::new("NT:/x", "int64") };
    first.sink(ms(0)).channel(0, &channel).unwrap();
    let mut world = World::new(first, Options::default());
    world.run(500, |_, _| {}, whole);
    assert_eq!(world.heard.channels[&0], channel);
    let mut again = World::new(Nt4Server::new(ServerOptions::default()), Options::default());
    again.server.sink(ms(0)).channel(0, &world.heard.channels[&0]).unwrap();
    again.run(500, |_, _| {}, whole);
    assert_eq!(again.heard.channels[&0], channel);
}

#[test]
fn a_thousand_topics_and_twenty_clients() {
    let mut server = Nt4Server::new(ServerOptions::default());
    for id in 0..1000 {
        server.sink(ms(0)).channel(id, &Channel::new(format!("/{id}"), "double")).unwrap();
    }
    let mut sink = crate::kit::Lines::default();
    let ask = r#"[{"method":"subscribe","params":{"topics":[""],"subuid":1,"options":{"prefix":true,"all":true}}}]"#;
    for link in 0..20 {
        server.handle_open(ms(0), logpose_core::Link(link));
        receive(&mut server, ms(0), logpose_core::Link(link), ask, &mut sink);
    }
    assert_eq!(sent(&mut server).iter().map(|text| text.matches("announce").count()).sum::<usize>(), 20_000);
    for at in 1..=10 {
        let samples: Vec<_> =
            (0..1000).map(|channel| Sample { channel, time: ms(at), value: Value::Double(0.5) }).collect();
        server.sink(ms(at)).samples(&samples).unwrap();
    }
    due(&mut server, ms(10));
    assert_eq!(sent(&mut server).len(), 200_000);
}

#[test]
fn both_ways_are_named() {
    // The world loses what goes up as well: a question for the time that never arrives is asked again.
    let mut world = World::new(server(&CHANNELS), Options::default());
    world.run(5_000, robot, |at, way, bytes| (at > 500 || way == Way::Down).then_some(bytes));
    assert_eq!(world.client.stats().syncs, 1);
    assert!(world.heard.of("NT:/count").len() > 150);
}
