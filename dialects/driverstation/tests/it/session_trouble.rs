//! Two minutes of trouble, and what must hold in it.

use std::time::Duration;

use logpose_core::Time;
use logpose_driverstation::session::{Change, Command, RobotOptions, WATCHDOG};
use logpose_driverstation::wire::Mode;

use crate::world::{End, MS, START, Trouble, World};

/// The longest that a datagram is on its way.
const LONGEST: i64 = 81 * MS;

/// What must hold after every step.
fn check(world: &World, permitted: bool, last_asked: &mut Option<Time>) {
    let (station, robot) = (world.station.view(), world.robot.view());
    if station.enabled {
        assert!(permitted, "enabled without a command at {} ms", world.at_ms());
        assert!(station.connected && !station.estop);
        *last_asked = Some(world.now);
    }
    if robot.enabled {
        let enabled_at = world.enabled_at.expect("enabled without a packet");
        assert!(world.now.since(enabled_at) < WATCHDOG, "still enabled at {} ms", world.at_ms());
        let asked = last_asked.expect("enabled without a station that asks for it");
        assert!(world.now.since(asked) <= WATCHDOG + LONGEST + 20 * MS);
        assert!(robot.code && !robot.estop && !robot.booting);
    }
}

fn trouble(seed: u64) {
    let mut world = World::with(RobotOptions { seed, boot: Duration::from_secs(3), ..RobotOptions::default() });
    (0..seed).for_each(|_| {
        world.random();
    });
    // Whether the last command that counts permits the robot to be enabled.
    let mut permitted = false;
    let mut last_asked = None;
    let mut enabled_steps = 0;
    while world.at_ms() < 120_000 {
        match (world.random() * 24.0) as u32 {
            // A station that is asked so often to enable is enabled most of the time.
            0..8 => permitted = world.station.command(world.now, Command::Enable).is_ok() || permitted,
            8 => {
                world.command(Command::Disable);
                permitted = false;
            }
            9 => {
                let mode = [Mode::Teleop, Mode::Autonomous, Mode::Test][(world.random() * 3.0) as usize];
                permitted &= mode == world.station.view().mode;
                world.command(Command::Mode(mode));
            }
            10..14 => {
                let (drop, duplicate) = (world.random() * 0.4, world.random() * 0.2);
                let jitter = (world.random() * 80.0) as i64 * MS;
                world.trouble = Trouble { drop, duplicate, delay: MS, jitter };
            }
            14 => world.trouble = Trouble { drop: 1.0, ..world.trouble },
            15 => world.trouble = Trouble { delay: MS, ..Trouble::default() },
            16 => {
                let length = Duration::from_millis((world.random() * 2000.0) as u64);
                world.set(Change::Silence(length));
            }
            17 => world.close_tcp(),
            18 => {
                world.close_udp();
                permitted = false;
                world.run_for(30);
                world.open_udp();
            }
            19 if world.random() < 0.2 => world.set(Change::Reboot),
            20 => world.set(Change::Code(world.robot.view().brownout)),
            21 => world.set(Change::Brownout(!world.robot.view().brownout)),
            22 => world.set(Change::Drop(world.station.view().sent as f64 % 0.5)),
            _ => world.set(Change::Code(true)),
        }
        let pause = 1 + (world.random() * 400.0) as i64;
        world.run_to_with(world.at_ms() + pause, |world| {
            // What disables the station ends the permission; only a command brings it back.
            permitted &= world.station.view().stopped.is_none();
            enabled_steps += usize::from(world.robot.view().enabled);
            check(world, permitted, &mut last_asked);
        });
    }
    assert!(enabled_steps > 500, "nothing was tried: {enabled_steps}");
    // Every packet arrived, is on its way, or was lost.
    let (station, robot) = (world.station.view(), world.robot.view());
    let count = |from| world.datagrams(from).len() as u64;
    assert_eq!(station.sent, count(End::Station));
    assert_eq!(robot.replied, count(End::Robot));
    let lost = world.dropped.iter().filter(|(from, _)| *from == End::Robot).count() as u64;
    let arrived =
        robot.replied + world.doubled.get(&End::Robot).copied().unwrap_or(0) - lost - world.flying(End::Station);
    assert!(station.received <= arrived);
    assert!(robot.received <= station.sent + world.doubled.get(&End::Station).copied().unwrap_or(0));
    let packets = world.datagrams(End::Station);
    let numbers = packets.iter().map(|(_, bytes)| u16::from_be_bytes([bytes[0], bytes[1]]));
    assert!(numbers.eq((1..).take(packets.len())), "no number is left out");
    let problems: Vec<_> = world.station_sink.problems.iter().filter(|p| p.code != "station-disabled").collect();
    assert!(problems.is_empty(), "{problems:?}");
    assert!(world.robot_sink.problems.is_empty(), "{:?}", world.robot_sink.problems);
    let times: Vec<i64> = world.station_sink.of("/ds/lost").iter().map(|(at, _)| *at).collect();
    assert!(times.is_sorted(), "in the order of sending");
    assert!(world.now > START);
}

#[test]
fn nothing_is_enabled_that_should_not_be() {
    (1..=6).for_each(trouble);
}

#[test]
fn every_packet_arrives_or_is_lost() {
    let mut world = World::new();
    world.trouble = Trouble { drop: 0.3, duplicate: 0.2, delay: MS, jitter: 70 * MS };
    world.run_to(120_000);
    let doubled = |from| world.doubled.get(&from).copied().unwrap_or(0);
    let lost = |from| world.dropped.iter().filter(|(by, _)| *by == from).count() as u64;
    let (station, robot) = (world.station.view(), world.robot.view());
    assert_eq!(station.sent, 6001);
    let arrived = station.sent + doubled(End::Station) - lost(End::Station) - world.flying(End::Robot);
    assert_eq!(robot.received, arrived);
    assert_eq!(robot.replied, robot.received, "one reply each");
}
