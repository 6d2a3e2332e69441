//! Conversations between a station and a robot, in simulated time.

use std::time::Duration;

use logpose_core::{Link, Session, Severity};
use logpose_driverstation::session::{
    Change, Command, Description, DeviceVersion, Event, Fault, JoystickState, Match, Refused, Robot, RobotOptions,
    Station, StationOptions, Stopped,
};
use logpose_driverstation::wire::{
    AllianceStation, CanMetrics, Control, MatchType, Messages, Mode, Status, StatusTag, ToRobot, ToStation,
};

use crate::kit::bytes;
use crate::world::{End, Kept, MS, START, UDP, World};

/// Connected, with TCP, at 100 ms.
fn connected() -> World {
    let mut world = World::new();
    world.run_to(100);
    assert!(world.station.view().connected && world.station.view().tcp);
    world
}

/// The same and enabled in teleop, at 200 ms.
fn enabled() -> World {
    let mut world = connected();
    world.command(Command::Enable);
    world.run_to(200);
    assert!(world.robot.view().enabled && world.station.view().robot.unwrap().enabled);
    world
}

fn messages(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Messages::default();
    messages.push(stream);
    let mut found = Vec::new();
    while let Some((_, body)) = messages.next() {
        found.push(body.to_vec());
    }
    assert_eq!(messages.rest_len(), 0);
    found
}

fn from_robot(world: &World) -> Vec<String> {
    let shown = messages(&world.stream(End::Robot));
    shown.iter().map(|body| ToStation::parse(body).unwrap().to_string()).collect()
}

fn from_station(world: &World) -> Vec<String> {
    let shown = messages(&world.stream(End::Station));
    shown.iter().map(|body| ToRobot::parse(body).unwrap().to_string()).collect()
}

/// The request bytes of all control packets, each once where it is the same as before.
fn requests(world: &World) -> Vec<(i64, u8)> {
    let packets = world.datagrams(End::Station).into_iter().map(|(at, bytes)| (at / MS, bytes[4]));
    let mut changes: Vec<(i64, u8)> = Vec::new();
    for (at, request) in packets {
        if changes.last().is_none_or(|(_, last)| *last != request) {
            changes.push((at, request));
        }
    }
    changes
}

#[test]
fn connects_as_captured() {
    let mut world = World::with(RobotOptions { battery: f64::from(0x0915) / 256.0, ..RobotOptions::default() });
    world.set(Change::Can(CanMetrics { tx_full: 1, transmit_errors: 128, ..CanMetrics::default() }));
    world.run_to(15);
    let late = Change::Delay { delay: Duration::from_millis(50), jitter: Duration::ZERO };
    world.set(late);
    world.run_to(100);
    let station: Vec<Vec<u8>> = world.datagrams(End::Station).iter().map(|(_, bytes)| bytes.to_vec()).collect();
    assert_eq!(station[0], bytes("00 01 01 00 00 00"));
    let dated = bytes("00 02 01 00 10 00 0b 0f 00 05 3f b6 10 01 14 11 07 7c 08 10 50 53 54 38 50 44 54");
    assert_eq!(station[1], dated);
    assert_eq!([station[2].len(), station[3].len()], [dated.len(); 2], "until the date has arrived");
    assert_eq!(station[4], bytes("00 05 01 00 10 00"));
    let robot: Vec<Vec<u8>> = world.datagrams(End::Robot).iter().map(|(_, bytes)| bytes.to_vec()).collect();
    assert_eq!(robot[0], bytes("00 01 01 00 11 25 60 01"));
    let can = "0f 0e 00 00 00 00 00 00 00 00 00 00 00 01 00 80";
    assert_eq!(robot[1], bytes(&format!("00 02 01 00 31 09 15 00 {can}")));
    let empty = |stick: u8| format!("00 08 02 {stick:02x} 00 ff 00 00 00 00");
    let sticks: Vec<String> = (0..6).map(empty).collect();
    let said = format!("{} 00 06 07 00 00 00 00 00 00 01 0e", sticks.join(" "));
    assert_eq!(world.stream(End::Station), bytes(&said));
    world.run_to(1000);
    let greeting = bytes("00 06 0d 00 00 04 04 04");
    let unknown = world.sent.iter().find(|(_, _, link, bytes)| *link != UDP && *bytes == greeting).unwrap();
    assert_eq!(unknown.0 / MS, 620, "0.6 s after the TCP link at 20 ms");
    assert_eq!(world.station_sink.problems, []);
    assert_eq!(world.robot_sink.problems, []);
}

#[test]
fn sends_a_control_packet_every_20_ms_for_half_an_hour() {
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, Link(3));
    let (mut sent, mut sink) = (Vec::new(), Kept::default());
    let end = START.plus(1_800_000 * MS);
    while let Some(due) = station.poll_timeout().filter(|due| *due <= end) {
        // A timer is always a little late.
        station.handle_timeout(due.plus(1 + sent.len() as i64 % 7 * MS));
        while let Some(transmit) = station.poll_transmit() {
            let sequence = u16::from_be_bytes([transmit.bytes[0], transmit.bytes[1]]);
            assert_eq!(sequence as usize, (sent.len() + 1) % 65536);
            sent.push(due.since(START));
        }
        station.poll_samples(&mut sink).unwrap();
    }
    // The first one went out when the link was opened, and was taken with the second.
    assert_eq!(sent.len(), 90_001);
    assert!((1..).zip(&sent[1..]).all(|(n, at)| *at == n * 20 * MS));
}

#[test]
fn a_timer_that_is_late_sends_one_packet_and_keeps_the_grid() {
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, UDP);
    let count = |station: &mut Station, ms| {
        station.handle_timeout(START.plus(ms * MS));
        std::iter::from_fn(|| station.poll_transmit()).count()
    };
    assert_eq!(count(&mut station, 0), 1);
    assert_eq!(count(&mut station, 19), 0);
    assert_eq!(count(&mut station, 20), 1);
    assert_eq!(count(&mut station, 20), 0, "twice does nothing");
    assert_eq!(count(&mut station, 517), 1, "no burst");
    assert_eq!(station.poll_timeout(), Some(START.plus(520 * MS)));
    assert_eq!(count(&mut station, -3_600_000), 1, "a clock that is set back does not silence it");
    assert_eq!(station.poll_timeout(), Some(START.plus((20 - 3_600_000) * MS)));
}

#[test]
fn the_robot_does_what_the_station_is_commanded() {
    let mut world = connected();
    assert!(!world.robot.view().enabled);
    for mode in [Mode::Autonomous, Mode::Teleop, Mode::Test] {
        world.command(Command::Mode(mode));
        world.command(Command::Enable);
        world.run_for(60);
        let (robot, station) = (world.robot.view(), world.station.view());
        assert_eq!((robot.enabled, robot.mode), (true, mode));
        assert_eq!(station.robot.map(|robot| (robot.enabled, robot.mode)), Some((true, mode)));
        let trace = station.robot.unwrap().trace;
        let loops = [trace.teleop(), trace.autonomous(), trace.test(), trace.disabled()];
        let expected = [mode == Mode::Teleop, mode == Mode::Autonomous, mode == Mode::Test, false];
        assert_eq!(loops, expected);
        world.command(Command::Disable);
        world.run_for(60);
        assert!(!world.robot.view().enabled);
        assert!(world.station.view().robot.unwrap().trace.disabled());
    }
    world.command(Command::Station("blue 2".parse().unwrap()));
    world.command(Command::Countdown(Some(15.0)));
    world.run_for(1020);
    let view = world.robot.view();
    assert_eq!(view.station, Some(AllianceStation(4)));
    assert!((view.countdown.unwrap() - 14.0).abs() < 0.03, "{view:?}");
    world.command(Command::Countdown(None));
    world.run_for(40);
    assert_eq!(world.robot.view().countdown, None);
    assert!(world.datagrams(End::Station).iter().all(|(_, packet)| packet[3] & 0x08 == 0), "never a field");
}

#[test]
fn the_trace_follows_the_mode_one_packet_later() {
    let mut world = connected();
    world.command(Command::Enable);
    world.run_for(60);
    let replies = world.datagrams(End::Robot);
    let first = replies.iter().position(|(_, bytes)| bytes[3] == 0x04).unwrap();
    assert_eq!([replies[first].1[4], replies[first + 1].1[4]], [0x31, 0x32]);
}

#[test]
fn an_emergency_stop_is_for_good() {
    let mut world = enabled();
    world.command(Command::EStop);
    world.run_for(40);
    assert!(world.robot.view().estop && !world.robot.view().enabled);
    assert!(world.station.view().robot.unwrap().estop);
    assert_eq!(world.station.command(world.now, Command::Enable), Err(Refused::Stopped));
    world.command(Command::Disable);
    world.command(Command::Mode(Mode::Test));
    world.run_for(2000);
    assert!(world.datagrams(End::Station).last().unwrap().1[3] & 0x84 == 0x80);
    // Another station finds a robot that stays stopped until it is rebooted.
    world.close_tcp();
    world.close_udp();
    world.station = Station::new(StationOptions { may_enable: true, ..StationOptions::default() });
    world.station_sink = Kept::default();
    world.open_udp();
    world.run_for(200);
    assert_eq!(world.station.command(world.now, Command::Enable), Err(Refused::RobotStopped));
    world.command(Command::Reboot);
    world.run_for(20_000);
    world.command(Command::Enable);
    world.run_for(100);
    assert!(world.robot.view().enabled);
}

#[test]
fn a_station_enables_only_when_it_may_and_can() {
    let now = START;
    let mut station = Station::new(StationOptions::default());
    let refused = station.command(now, Command::Enable).unwrap_err();
    assert_eq!(refused, Refused::NotPermitted);
    assert!(refused.to_string().contains("--enable"), "{refused}");
    let mut station = Station::new(StationOptions { may_enable: true, ..StationOptions::default() });
    assert_eq!(station.command(now, Command::Enable), Err(Refused::NotConnected));
    assert_eq!(station.command(now, Command::Reboot), Err(Refused::NotConnected));
    assert_eq!(station.command(now, Command::Mode(Mode::Reserved)), Err(Refused::NoSuchMode));
    assert_eq!(station.command(now, Command::Unplug { port: 6 }), Err(Refused::NoSuchStick(6)));
    let nowhere = AllianceStation(6);
    assert_eq!(station.command(now, Command::Station(nowhere)), Err(Refused::NoSuchStation(nowhere)));
    let event = "x".repeat(256);
    let refused = station.command(now, Command::Match(Match { event, ..Match::default() })).unwrap_err();
    assert_eq!(refused.to_string(), "the name of the event has 256 bytes, the limit is 255");

    let mut world = World::with(RobotOptions { code: false, ..RobotOptions::default() });
    world.run_to(100);
    assert_eq!(world.station.command(world.now, Command::Enable), Err(Refused::NoCode));
    assert_eq!(world.datagrams(End::Robot).last().unwrap().1[4], 0x10);
    world.set(Change::Code(true));
    world.run_for(100);
    world.command(Command::Enable);
    world.run_for(100);
    assert!(world.robot.view().enabled);
}

#[test]
fn another_mode_disables_first() {
    let mut world = enabled();
    world.command(Command::Mode(Mode::Teleop));
    assert!(world.station.view().enabled, "it is the same mode");
    world.command(Command::Mode(Mode::Autonomous));
    world.run_for(60);
    assert!(!world.robot.view().enabled);
    assert_eq!(world.station.view().stopped, Some(Stopped::Mode));
    assert_eq!(world.events.last().unwrap().1, Event::Disabled(Stopped::Mode));
    let never = world.datagrams(End::Station).into_iter().any(|(_, packet)| packet[3] == 0x06);
    assert!(!never, "never enabled in the new mode");
}

#[test]
fn a_lost_robot_is_disabled_by_itself_and_by_the_station_and_stays_so() {
    let mut world = enabled();
    world.set(Change::Silence(Duration::from_secs(3)));
    let last = world.now.since(START) / MS;
    let mut off = None;
    let mut disabled = None;
    world.run_to_with(last + 2900, |world| {
        if !world.robot.view().enabled && off.is_none() {
            off = Some(world.at_ms());
        }
        if !world.station.view().enabled && disabled.is_none() {
            disabled = Some(world.at_ms());
        }
    });
    // The last enabled packet arrived at 181 ms, the last reply at 182 ms.
    assert_eq!(off, Some(181 + 125));
    assert_eq!(disabled, Some(1200), "with the first packet more than a second after 182");
    let view = world.station.view();
    assert_eq!((view.connected, view.robot, view.stopped), (false, None, Some(Stopped::Lost)));
    assert_eq!(view.lost, 25);
    assert_eq!(world.station.command(world.now, Command::Enable), Err(Refused::NotConnected));
    let later: Vec<_> = world.events.iter().filter(|(at, _)| *at > 200).collect();
    assert_eq!(later, [&(1200, Event::Lost), &(1200, Event::Disabled(Stopped::Lost))]);
    let note = &world.station_sink.problems[0];
    assert_eq!((note.severity, note.code), (Severity::Note, "station-disabled"));
    assert_eq!(note.message, "disabled: no answer from the robot for a second");
    world.run_for(2000);
    assert!(world.station.view().connected);
    assert!(!world.station.view().enabled && !world.robot.view().enabled);
    assert_eq!(world.robot.view().comms_faults, 1);
    assert!(from_robot(&world).contains(&"disabled 1 times by the watchdog, 0 times by brownout".to_owned()));
    world.command(Command::Enable);
    world.run_for(100);
    assert!(world.robot.view().enabled);
    assert_eq!(world.station.view().stopped, None);
}

#[test]
fn a_short_silence_disables_the_robot_for_that_time() {
    let mut world = enabled();
    world.set(Change::Silence(Duration::from_millis(500)));
    world.run_for(400);
    assert!(!world.robot.view().enabled);
    world.run_for(200);
    assert!(world.robot.view().enabled, "the station still asks for it");
    assert_eq!(world.robot.view().comms_faults, 1);
}

#[test]
fn without_a_watchdog_a_robot_stays_enabled_until_the_station_is_gone() {
    let mut world = World::with(RobotOptions { watchdog: false, ..RobotOptions::default() });
    world.run_to(100);
    world.command(Command::Enable);
    world.run_to(200);
    world.close_udp();
    assert!(!world.robot.view().enabled, "a closed link is no silence");
    world.open_udp();
    world.run_for(100);
    world.command(Command::Enable);
    world.run_for(100);
    world.set(Change::Silence(Duration::from_secs(3)));
    world.run_for(900);
    assert!(world.robot.view().enabled);
    world.run_for(200);
    assert!(!world.robot.view().enabled);
}

#[test]
fn sticks_arrive_as_they_are() {
    let mut world = connected();
    let pad = JoystickState {
        axes: vec![-1.0, -0.5, 0.0, 0.5, 1.0, 7.0],
        buttons: (1..=10).map(|n| [1, 3, 10].contains(&n)).collect(),
        povs: vec![90, -1],
    };
    world.command(Command::Joystick { port: 2, state: pad.clone() });
    world.run_for(60);
    let view = world.robot.view();
    assert_eq!(view.joysticks[..2], [None, None]);
    let seen = view.joysticks[2].as_ref().unwrap();
    assert_eq!(seen.axes, [-1.0, -0.5, 0.0, 64.0 / 127.0, 1.0, 1.0]);
    assert_eq!((&seen.buttons, &seen.povs), (&pad.buttons, &pad.povs));
    assert_eq!(view.joysticks.len(), 3, "none after the last one");
    let packet = world.datagrams(End::Station).last().unwrap().1.to_vec();
    let tags = "01 0c 01 0c 10 0c 06 80 c0 00 40 7f 7f 0a 02 05 02 00 5a ff ff";
    assert_eq!(packet[6..], bytes(tags));
    assert_eq!(view.descriptions[2], Description::of_state("Joystick 2", &pad));
    assert_eq!(view.descriptions[0], Description::default());

    let xbox = Description {
        name: "Controller (Xbox One For Windows)".into(),
        xbox: true,
        kind: Description::GAMEPAD,
        axes: (0..6).collect(),
        buttons: 16,
        povs: 1,
    };
    world.command(Command::Describe { port: 0, description: xbox.clone() });
    world.run_for(60);
    let view = world.robot.view();
    assert_eq!(view.descriptions[0], xbox);
    assert_eq!(view.joysticks[0], Some(xbox.at_rest()));
    let stream = world.stream(End::Station);
    let captured = r#"00 2f 02 00 01 01 21 "Controller (Xbox One For Windows)" 06 00 01 02 03 04 05 10 01"#;
    assert!(stream.windows(49).any(|window| window == bytes(captured)));

    let described = |world: &World| from_station(world).iter().filter(|line| line.contains(" POVs")).count();
    let before = described(&world);
    world.command(Command::Joystick { port: 0, state: xbox.at_rest() });
    world.run_for(60);
    assert_eq!(described(&world), before, "the same stick");
    world.command(Command::Unplug { port: 2 });
    world.command(Command::Unplug { port: 0 });
    world.run_for(60);
    assert_eq!(described(&world), before + 12);
    let view = world.robot.view();
    assert_eq!(view.joysticks, []);
    assert_eq!(view.descriptions[0], Description { name: xbox.name.clone(), ..Description::default() });
}

#[test]
fn match_and_game_data_arrive_before_and_during_a_connection() {
    let mut world = World::new();
    let info = Match { event: "TXPAS".into(), kind: MatchType::QUALIFICATION, number: 12, replay: 1 };
    world.command(Command::Match(info.clone()));
    world.run_to(100);
    let view = world.robot.view();
    assert_eq!((view.match_info, view.game_data), (Some(info), Some(String::new())));
    world.command(Command::GameData("LRL".into()));
    world.run_for(20);
    assert_eq!(world.robot.view().game_data.as_deref(), Some("LRL"));
    world.run_for(10_000);
    let keepalives: Vec<i64> = world.sent.iter().filter(|sent| sent.3 == [0, 0]).map(|sent| sent.0 / MS).collect();
    assert_eq!(keepalives, [20 + 2070, 20 + 4140, 20 + 6210, 20 + 8280]);
}

#[test]
fn versions_are_asked_for_until_the_list_has_ended() {
    let mut world = connected();
    let pdp = DeviceVersion { kind: 8, id: 3, name: "PDP".into(), version: "1.40".into() };
    world.set(Change::Version(pdp));
    world.command(Command::Versions);
    world.run_for(200);
    let versions: Vec<String> = from_robot(&world).into_iter().filter(|line| line.contains("version")).collect();
    let expected = [
        r#"version type 0 id 0: "roboRIO Image" "simulated by logpose""#,
        r#"version type 8 id 3: "PDP" "1.40""#,
        "end of versions",
    ];
    assert_eq!(versions, expected);
    assert_eq!(requests(&world), [(0, 0x00), (20, 0x10), (120, 0x11), (140, 0x10)]);
    world.tcp = false;
    world.close_tcp();
    world.command(Command::Versions);
    world.run_for(2000);
    assert_eq!(requests(&world)[4..], [(320, 0x11), (1300, 0x10)], "no list, and no end of it");
}

#[test]
fn the_backlog_comes_first_and_live_lines_go_on_counting() {
    let mut world = World::new();
    world.tcp = false;
    world.run_to(1000);
    world.set(Change::Print("one\ntwo".into()));
    let fault =
        Fault { error: true, code: -44061, details: "wrong".into(), location: "here".into(), stack: "a\nb".into() };
    world.set(Change::Error(fault));
    world.set(Change::Print("three".into()));
    world.run_to(2000);
    world.open_tcp();
    world.set(Change::Print("four".into()));
    world.run_to(2500);
    world.set(Change::Error(Fault { details: "mild".into(), ..Fault::default() }));
    world.set(Change::Text("Warning <Code> 44008".into()));
    world.run_to(2900);
    let expected = [
        r#"console at -2 s #1: "********** Robot program starting **********""#,
        r#"console at -1 s #2: "one""#,
        r#"console at -1 s #3: "two""#,
        r#"console at -1 s #5: "three""#,
        r#"error -44061 at -1 s #4: "wrong", "here", "a\nb""#,
        r#"console at 0 s #6: "four""#,
        r#"warning 0 at 0.5 s #7: "mild""#,
        r#"text "Warning <Code> 44008""#,
        "message 0d 00 00 04 04 04",
    ];
    assert_eq!(from_robot(&world), expected);
    world.close_tcp();
    world.run_for(100);
    world.open_tcp();
    let again = from_robot(&world).len() - expected.len();
    assert_eq!(again, 7, "the whole backlog again");
}

#[test]
fn the_start_of_a_program_is_answered_with_one_packet_without_a_request() {
    let mut world = connected();
    world.set(Change::Code(false));
    world.run_for(100);
    let view = world.station.view();
    assert!(!view.robot.unwrap().code);
    world.set(Change::Code(true));
    world.run_for(200);
    let started: Vec<_> = world.datagrams(End::Robot).into_iter().filter(|(_, bytes)| bytes[3] == 0x08).collect();
    assert_eq!(started.len(), 1);
    assert_eq!(requests(&world), [(0, 0x00), (20, 0x10), (220, 0x00), (240, 0x10)]);
    assert!(world.events.contains(&(202, Event::CodeStarted)), "{:?}", world.events);
}

#[test]
fn a_program_that_ends_disables_the_station() {
    let mut world = enabled();
    world.set(Change::Code(false));
    world.run_for(60);
    assert_eq!(world.station.view().stopped, Some(Stopped::NoCode));
    world.set(Change::Code(true));
    world.run_for(1000);
    assert!(!world.robot.view().enabled);
}

#[test]
fn a_restart_of_the_program_is_asked_for_until_it_has_ended() {
    let mut world = enabled();
    world.command(Command::RestartCode);
    assert_eq!(world.station.command(world.now, Command::Enable), Err(Refused::Restarting));
    world.run_for(1000);
    assert!(!world.robot.view().code);
    assert_eq!(requests(&world)[2..], [(220, 0x14), (240, 0x10)]);
    world.run_for(1500);
    assert!(world.robot.view().code);
    assert!(from_robot(&world).iter().filter(|line| line.contains("#1: \"*****")).count() == 2);

    // A robot that does not obey is asked for 0.44 s.
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, UDP);
    let reply = bytes("00 01 01 00 31 0c 00 00");
    station.handle_input(START.plus(MS), UDP, &reply, &mut Kept::default()).unwrap();
    station.command(START.plus(2 * MS), Command::RestartCode).unwrap();
    let mut asked = 0;
    for n in 1..50 {
        station.handle_timeout(START.plus(n * 20 * MS));
        asked += std::iter::from_fn(|| station.poll_transmit()).filter(|packet| packet.bytes[4] == 0x14).count();
    }
    assert_eq!(asked, 22);
}

#[test]
fn a_reboot_takes_the_robot_away_and_brings_it_back_disabled() {
    let mut world = World::with(RobotOptions { boot: Duration::from_secs(20), ..RobotOptions::default() });
    world.run_to(100);
    world.command(Command::Enable);
    world.run_to(200);
    world.command(Command::Reboot);
    world.run_to(1000);
    assert!(world.robot.view().booting && !world.station.view().tcp);
    assert_eq!(world.events.last().unwrap().1, Event::Disabled(Stopped::Restart));
    world.run_to(19_000);
    assert!(!world.station.view().connected);
    assert_eq!(requests(&world)[2..], [(220, 0x18), (18_200, 0x10)]);
    world.run_to(30_000);
    let (robot, station) = (world.robot.view(), world.station.view());
    assert!(robot.code && !robot.enabled && robot.tcp && robot.date.is_some(), "{robot:?}");
    assert!(station.connected && !station.enabled && station.tcp);
    let starts = requests(&world).into_iter().filter(|(_, request)| *request == 0).count();
    assert_eq!(starts, 2, "the beginning and the start of the program");

    // One that is back sooner is not sent away again by a station that still asks.
    world.robot = Robot::new(RobotOptions { boot: Duration::from_secs(3), ..RobotOptions::default() });
    world.robot_sink = Kept::default();
    world.robot.handle_open(world.now, UDP);
    world.close_tcp();
    world.run_for(200);
    world.command(Command::Reboot);
    world.run_for(10_000);
    assert!(world.robot.view().code && world.station.view().connected);
    assert_eq!(requests(&world).last().unwrap().1, 0x10);
}

#[test]
fn tcp_alone_comes_back() {
    let mut world = enabled();
    world.command(Command::GameData("RRR".into()));
    world.run_for(100);
    world.close_tcp();
    world.run_for(100);
    let view = world.robot.view();
    assert!(view.enabled && view.tcp, "the packets go on");
    assert_eq!(world.events.len(), 1);
    let lines = from_station(&world);
    let first: Vec<_> = lines.iter().filter(|line| line.contains("match")).collect();
    assert_eq!(first.len(), 2);
    assert_eq!(lines.last().unwrap(), r#"game data "RRR""#);
}

#[test]
fn everything_comes_back_but_not_enabled() {
    let mut world = enabled();
    world.close_tcp();
    world.close_udp();
    assert_eq!(world.station.view().stopped, Some(Stopped::Closed));
    assert_eq!(world.station.poll_timeout(), None);
    world.run_for(500);
    world.open_udp();
    world.run_for(500);
    let (robot, station) = (world.robot.view(), world.station.view());
    assert!(station.connected && station.tcp && robot.tcp);
    assert!(!station.enabled && !robot.enabled);
    assert_eq!(requests(&world), [(0, 0x00), (20, 0x10), (700, 0x00), (720, 0x10)]);
}

#[test]
fn a_newer_tcp_link_takes_the_place_of_the_older() {
    let mut robot = Robot::new(RobotOptions::default());
    let mut station = Station::new(StationOptions::default());
    for session in [&mut robot as &mut dyn Session, &mut station] {
        session.handle_open(START, Link(5));
        session.handle_open(START, Link(6));
        session.handle_open(START, Link(7));
        assert_eq!(session.poll_close(), Some(Link(6)));
        assert_eq!(session.poll_close(), None);
    }
}

#[test]
fn a_farewell_is_five_disabled_packets() {
    let mut world = enabled();
    let before = world.datagrams(End::Station).len();
    world.station.farewell(world.now);
    world.run_for(25);
    let after = world.datagrams(End::Station);
    assert_eq!(after.len() - before, 6, "and the next one of the grid");
    assert!(after[before..].iter().all(|(_, packet)| packet[3] == 0));
    assert!(!world.robot.view().enabled);
}

#[test]
fn tags_come_at_their_times() {
    let mut world = connected();
    world.set(Change::Cpu(vec![[9.5, 0.0, 0.0, 1.5], [7.0, 0.0, 0.0, 2.0]]));
    world.set(Change::Output { port: 2, bits: 5, left: 0.25, right: 1.0 });
    world.run_to(5000);
    let mut times: [Vec<i64>; 4] = Default::default();
    let replies = world.datagrams(End::Robot);
    for (at, bytes) in &replies {
        for tag in Status::parse(bytes).unwrap().tags {
            let place = match StatusTag::parse(tag.unwrap()).unwrap() {
                StatusTag::Cpu { cores, .. } => {
                    assert_eq!(cores.len(), 2);
                    0
                }
                StatusTag::Disk { .. } => 1,
                StatusTag::Ram { .. } => 2,
                StatusTag::Can { .. } => 3,
                _ => continue,
            };
            times[place].push(at / MS);
        }
    }
    let every = |first: i64, period: i64| -> Vec<i64> { (first..5000).step_by(period as usize).collect() };
    let [cpu, disk, ram, can] = times;
    assert_eq!(can, every(21, 200));
    assert_eq!(cpu, every(821, 1000));
    assert_eq!(disk, every(921, 1000));
    assert_eq!(ram, every(1021, 1000));
    let outputs = bytes("01 01 01 01 09 01 00 00 00 05 40 00 ff ff");
    assert_eq!(replies.last().unwrap().1[8..], outputs);
}

#[test]
fn voltage_and_brownout_are_sent() {
    let mut world = enabled();
    world.set(Change::Battery(12.0));
    world.run_for(40);
    assert_eq!(world.station.view().robot.unwrap().battery, Some(12.0));
    world.set(Change::BatteryOver { volts: 6.0, over: Duration::from_secs(2) });
    world.run_for(1000);
    let half = world.station.view().robot.unwrap().battery.unwrap();
    assert!((half - 9.0).abs() < 0.1, "{half}");
    world.run_for(2000);
    assert_eq!(world.station.view().robot.unwrap().battery, Some(6.0));
    world.set(Change::Brownout(true));
    world.run_for(40);
    let view = world.robot.view();
    assert!(view.enabled && !view.outputs && view.brownout);
    assert!(world.station.view().robot.unwrap().brownout);
    assert!(from_robot(&world).contains(&"disabled 0 times by the watchdog, 1 times by brownout".to_owned()));
    world.set(Change::Rails([1, 2, 3]));
    assert!(from_robot(&world).contains(&"rail faults 6 V 1, 5 V 2, 3.3 V 3".to_owned()));
}

#[test]
fn packets_that_were_overtaken_are_answered_and_change_nothing() {
    let mut robot = Robot::new(RobotOptions::default());
    robot.handle_open(START, UDP);
    let mut sink = Kept::default();
    let mut hear = |packet: &str| {
        robot.handle_input(START, UDP, &bytes(packet), &mut sink).unwrap();
        let reply = robot.poll_transmit().unwrap().bytes;
        (reply[1], robot.view().enabled)
    };
    assert_eq!(hear("00 10 01 04 10 00"), (0x10, true));
    assert_eq!(hear("00 12 01 00 10 00"), (0x12, false));
    assert_eq!(hear("00 11 01 04 18 00"), (0x11, false));
    assert_eq!(hear("00 12 01 00 10 00"), (0x12, false));
    assert_eq!(hear("00 13 01 04 10 00"), (0x13, true));
    assert_eq!(hear("ff 01 01 00 10 00"), (0x01, false), "another station, which counts from elsewhere");
}

#[test]
fn a_reply_to_nobody_changes_nothing() {
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, UDP);
    let mut sink = Kept::default();
    let mut hear = |packet: &str| {
        station.handle_input(START.plus(MS), UDP, &bytes(packet), &mut sink).unwrap();
        (station.view().received, station.view().connected)
    };
    assert_eq!(hear("00 02 01 00 31 0c 00 00"), (0, false), "that packet was not sent yet");
    assert_eq!(hear("00 00 01 00 31 0c 00 00"), (0, false));
    assert_eq!(hear("00 01 01"), (0, false));
    assert_eq!(hear("00 01 01 00 31 0c 00 00"), (1, true));
    assert_eq!(hear("00 01 01 00 31 0c 00 00"), (1, true), "the same again");
}

#[test]
fn the_robots_own_trouble_is_the_same_for_the_same_seed() {
    let run = |seed| {
        let mut world = World::with(RobotOptions { seed, ..RobotOptions::default() });
        world.run_to(100);
        world.set(Change::Drop(0.2));
        world.set(Change::Reorder(0.1));
        world.set(Change::Duplicate(0.1));
        let (delay, jitter) = (Duration::from_millis(2), Duration::from_millis(10));
        world.set(Change::Delay { delay, jitter });
        world.run_to(20_000);
        world.datagrams(End::Robot).iter().map(|(at, bytes)| (*at, bytes.to_vec())).collect::<Vec<_>>()
    };
    let replies = run(5);
    assert_eq!(replies, run(5));
    assert_ne!(replies, run(6));
    let numbers: Vec<u16> = replies.iter().map(|(_, bytes)| Status::parse(bytes).unwrap().sequence).collect();
    let pairs = || numbers.windows(2).map(|pair| (pair[0], pair[1]));
    let twice = numbers.len() - numbers.iter().collect::<std::collections::BTreeSet<_>>().len();
    let lost = 1000 - (numbers.len() - twice);
    assert!((150..250).contains(&lost) && (50..120).contains(&twice), "{lost} lost, {twice} twice");
    assert!(pairs().filter(|(a, b)| b < a).count() > 40, "overtaken");
}

#[test]
fn control_packets_stay_readable_whatever_a_stick_is_said_to_be() {
    let mut world = connected();
    let state = JoystickState { axes: vec![f32::NAN; 300], buttons: vec![true; 300], povs: vec![45; 300] };
    world.command(Command::Joystick { port: 5, state });
    world.run_for(40);
    let packet = world.datagrams(End::Station).last().unwrap().1.to_vec();
    assert!(Control::parse(&packet).unwrap().tags.all(|tag| tag.is_ok()));
    let seen = world.robot.view().joysticks[5].clone().unwrap();
    assert_eq!((seen.axes, seen.buttons, seen.povs), (vec![0.0; 12], vec![true; 32], vec![45; 12]));
    assert_eq!(world.station.view().sent, world.robot.view().received + 1, "one is on its way");
}

#[test]
fn a_reply_that_was_overtaken_brings_back_no_older_state() {
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, UDP);
    station.handle_timeout(START.plus(20 * MS));
    let mut sink = Kept::default();
    let mut hear = |packet: &str| {
        station.handle_input(START.plus(30 * MS), UDP, &bytes(packet), &mut sink).unwrap();
        station.view()
    };
    assert_eq!(hear("00 02 01 00 31 0c 00 00").robot.unwrap().battery, Some(12.0));
    let view = hear("00 01 01 00 31 0b 00 00");
    assert_eq!((view.robot.unwrap().battery, view.received), (Some(12.0), 2));
}

#[test]
fn numbers_go_on_behind_65535() {
    let mut station = Station::new(StationOptions::default());
    station.handle_open(START, UDP);
    let mut sink = Kept::default();
    let mut answered = 0;
    for n in 1..66_000 {
        let now = START.plus(n * 20 * MS);
        station.handle_timeout(now);
        while let Some(transmit) = station.poll_transmit() {
            let reply = [transmit.bytes[0], transmit.bytes[1], 1, 0, 0x31, (n % 12) as u8, 0, 0];
            station.handle_input(now, UDP, &reply, &mut sink).unwrap();
            answered += 1;
        }
        let view = station.view();
        assert_eq!((view.received, view.lost), (answered, 0));
        assert_eq!(view.robot.unwrap().battery, Some((n % 12) as f64), "{n}");
        sink.samples.clear();
    }
}

#[test]
fn sticks_of_other_stations_are_taken_as_they_can_be() {
    let mut robot = Robot::new(RobotOptions::default());
    robot.handle_open(START, UDP);
    let mut sink = Kept::default();
    let mut hear = |packet: &str| {
        robot.handle_input(START, UDP, &bytes(packet), &mut sink).unwrap();
        robot.view().joysticks
    };
    // The second one claims more axes than it has.
    let sticks = hear("00 01 01 00 10 00 05 0c 01 7f 00 00 03 0c 09 01 05 0c 01 80 00 00");
    let axes: Vec<_> = sticks.into_iter().map(|stick| stick.map(|stick| stick.axes)).collect();
    assert_eq!(axes, [Some(vec![1.0]), None, Some(vec![-1.0])]);
    // LibDS counts the size byte.
    let sticks = hear("00 02 01 00 80 00 06 0c 01 7f 00 00");
    assert_eq!(sticks, [Some(JoystickState { axes: vec![1.0], ..JoystickState::default() })]);
    assert_eq!(hear(&format!("00 03 01 00 10 00 {}", "04 0c 00 00 00 ".repeat(9))).len(), 6);
}
