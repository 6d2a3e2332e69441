//! What the two sides of a conversation emit to their sinks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use logpose_core::Session;
use logpose_driverstation::session::{Change, Command, JoystickState, Match};
use logpose_driverstation::wire::{MatchType, Mode};

use crate::world::{End, MS, START, Trouble, World};

/// The numbers of packets reported as lost, and of all reported packets. Packet 1 was sent at 0.
fn reported(world: &World) -> (BTreeSet<u16>, BTreeSet<u16>) {
    let number = |at: i64| u16::try_from(at / (20 * MS) + 1).unwrap();
    let all = world.station_sink.of("/ds/lost");
    let lost = all.iter().filter(|(_, lost)| *lost == "true").map(|(at, _)| number(*at)).collect();
    (lost, all.iter().map(|(at, _)| number(*at)).collect())
}

/// The numbers of packets whose every reply, or that themselves, were lost by the links.
fn dropped(world: &World, until: u16) -> BTreeSet<u16> {
    let mut replies: BTreeMap<u16, i64> = BTreeMap::new();
    for (_, bytes) in world.datagrams(End::Robot) {
        *replies.entry(u16::from_be_bytes([bytes[0], bytes[1]])).or_default() += 1;
    }
    for (from, number) in &world.dropped {
        if *from == End::Robot {
            *replies.entry(*number).or_default() -= 1;
        }
    }
    (1..=until).filter(|number| replies.get(number).is_none_or(|left| *left == 0)).collect()
}

fn check_lost(trouble: Trouble) {
    let mut world = World::new();
    world.trouble = trouble;
    world.run_to(120_000);
    let sent = u16::try_from(world.station.view().sent).unwrap();
    world.trouble = Trouble { delay: MS, ..Trouble::default() };
    world.run_for(1000);
    let (lost, all) = reported(&world);
    let first = *all.first().unwrap();
    let expected: BTreeSet<u16> = dropped(&world, sent).into_iter().filter(|number| *number >= first).collect();
    let lost: BTreeSet<u16> = lost.into_iter().filter(|number| *number <= sent).collect();
    assert_eq!(lost, expected, "{trouble:?}");
    assert!(all.len() > 6000 - 50 && *all.last().unwrap() as usize == all.len() + usize::from(first) - 1);
    assert_eq!(world.station.view().received, world.station_sink.of("/ds/trip_time").len() as u64);
}

#[test]
fn lost_packets_are_those_that_the_link_lost() {
    check_lost(Trouble { delay: MS, ..Trouble::default() });
    check_lost(Trouble { drop: 0.1, delay: 2 * MS, ..Trouble::default() });
    check_lost(Trouble { drop: 0.05, duplicate: 0.1, delay: MS, jitter: 60 * MS });
    check_lost(Trouble { duplicate: 0.5, jitter: 100 * MS, ..Trouble::default() });
}

#[test]
fn the_emitted_share_is_the_share_in_the_view() {
    let mut world = World::new();
    world.trouble = Trouble { drop: 0.2, delay: MS, ..Trouble::default() };
    for n in 1..40 {
        world.run_to(1000 * n);
        let loss: f64 = world.station_sink.values("/ds/packet_loss").last().unwrap().parse().unwrap();
        assert!((loss - f64::from(world.station.view().lost) / 25.0).abs() < 1e-9, "{loss}");
    }
}

#[test]
fn both_sides_emit_what_they_send_and_receive() {
    let mut world = World::new();
    world.run_to(100);
    let state = JoystickState { axes: vec![0.0, -1.0], buttons: vec![true], povs: vec![] };
    world.command(Command::Joystick { port: 1, state });
    let event = "TXPAS".to_owned();
    world.command(Command::Match(Match { event, kind: MatchType::PRACTICE, number: 3, replay: 0 }));
    world.command(Command::Mode(Mode::Autonomous));
    world.command(Command::Enable);
    world.run_to(2000);
    world.set(Change::Print("hello".into()));
    world.command(Command::Versions);
    world.run_to(3000);
    world.set(Change::Silence(Duration::from_secs(3)));
    world.run_to(8000);
    for sink in [&world.station_sink, &world.robot_sink] {
        assert_eq!(sink.values("/ds/control/enabled"), ["false", "true", "false"]);
        assert_eq!(sink.values("/ds/status/enabled"), ["false", "true", "false"]);
        assert_eq!(sink.values("/ds/control/autonomous"), ["false", "true"]);
        assert_eq!(sink.values("/ds/control/station"), ["red 1"]);
        assert_eq!(sink.values("/ds/game_data"), [""]);
        assert_eq!(sink.values("/ds/match").len(), 2);
        assert_eq!(sink.values("/ds/console"), ["********** Robot program starting **********", "hello"]);
        assert_eq!(sink.values("/ds/joystick/1/descriptor").len(), 2);
        assert_eq!(sink.values("/ds/faults/comms"), ["1"]);
        assert_eq!(sink.of("/ds/unknown/to_station/0d").len(), 1);
        assert!(sink.values("/ds/versions")[0].contains("roboRIO Image"));
    }
    let station = &world.station_sink;
    assert_eq!(station.values("/ds/connected"), ["true", "false", "true"]);
    assert!(station.values("/ds/trip_time").iter().all(|trip| *trip == "0.002"));
    assert_eq!(station.of("/ds/control/enabled")[1].0 / MS, 120, "stamped with its sending");
    assert_eq!(station.of("/ds/status/enabled")[1].0 / MS, 122);
    // Each side counts from its first packet, which comes to the robot a millisecond later, and reports when that was.
    assert_eq!(world.robot_sink.of("/ds/control/enabled")[1].0 / MS, 120);
    assert_eq!(world.station.clock_offset(), Some(START.nanos()));
    assert_eq!(world.robot.clock_offset(), Some(START.plus(MS).nanos()));
    let codes: Vec<&str> = station.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["station-disabled"]);
    assert_eq!(world.robot_sink.problems, []);
}

#[test]
fn what_cannot_be_read_is_a_problem_and_nothing_more() {
    use logpose_core::{Link, Session};

    let mut world = World::new();
    world.run_to(100);
    let now = world.now;
    world.station.handle_input(now, Link(0), &[0, 1, 1], &mut world.station_sink).unwrap();
    world.robot.handle_input(now, Link(0), &[0, 7, 1, 0, 0x10, 0, 9, 0x0c], &mut world.robot_sink).unwrap();
    world.station.handle_input(now, Link(1), &[0, 3, 0x0c, 1, 2, 0, 0], &mut world.station_sink).unwrap();
    world.robot.handle_input(now, Link(1), &[0, 1], &mut world.robot_sink).unwrap();
    world.station.handle_input(now, Link(9), &[0, 1, 1, 4], &mut world.station_sink).unwrap();
    world.run_to(1000);
    assert_eq!(world.station_sink.problems.len(), 2, "{:?}", world.station_sink.problems);
    assert_eq!(world.robot_sink.problems.len(), 1, "{:?}", world.robot_sink.problems);
    assert!(world.station.view().connected && world.robot.view().connected);
    // The robot waits for the rest of a message when the link is closed.
    world.close_tcp();
    let problem = world.robot_sink.problems.last().unwrap();
    assert_eq!(problem.code, "unfinished-message");
    assert_eq!((problem.at, problem.length), (Some(6 * 10 + 8 + 3), 2), "{problem}");
}
