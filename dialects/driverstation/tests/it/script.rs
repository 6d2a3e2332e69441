//! Scripts for both sides.

use std::time::Duration;

use logpose_driverstation::pd::PowerDistribution;
use logpose_driverstation::script::{Action, Role, Script};
use logpose_driverstation::session::{Change, Command, Description, DeviceVersion, Fault, JoystickState, Match};
use logpose_driverstation::wire::{AllianceStation, CanMetrics, MatchType, Mode};

use crate::world::World;

const LONG: Duration = Duration::from_secs(1_000_000);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// All that happens by then, with the times in milliseconds.
fn steps(text: &str, role: Role, by: Duration) -> Vec<(u128, Action)> {
    let mut script = Script::parse(text, role).unwrap();
    let mut found = Vec::new();
    while let Some(step) = script.due(by) {
        found.push((step.at.as_millis(), step.action));
    }
    found
}

fn commands(text: &str) -> Vec<Command> {
    let command = |(_, action)| match action {
        Action::Station(command) => command,
        other => panic!("{other:?}"),
    };
    steps(text, Role::Station, LONG).into_iter().map(command).collect()
}

fn changes(text: &str) -> Vec<Change> {
    let change = |(_, action)| match action {
        Action::Robot(change) => change,
        other => panic!("{other:?}"),
    };
    steps(text, Role::Robot, LONG).into_iter().map(change).collect()
}

#[test]
fn the_commands_of_a_station() {
    let text = r##"
        # nothing here
        0    mode auto       # and a comment
        0    mode test
        1    enable
        1s   disable
        2    estop
        2    unplug 5
        2    describe 1 "Big \"Pad\"" xbox axes 6 buttons 16 povs 1
        2    match qualification 12 TXPAS
        2    match none
        2    match elimination 3 "A B" replay 2
        18   gamedata LRL
        18   gamedata "#1 "
        18   gamedata  two  words   # kept as they stand
        19   countdown 15
        19   countdown off
        19   station blue 2
        19   station red1
        20   versions
        20   restart
        20   reboot
    "##;
    let pad = Description {
        name: "Big \"Pad\"".into(),
        xbox: true,
        kind: 1,
        axes: vec![0, 1, 2, 3, 4, 5],
        buttons: 16,
        povs: 1,
    };
    let final_match = Match { event: "A B".into(), kind: MatchType::ELIMINATION, number: 3, replay: 2 };
    let expected = [
        Command::Mode(Mode::Autonomous),
        Command::Mode(Mode::Test),
        Command::Enable,
        Command::Disable,
        Command::EStop,
        Command::Unplug { port: 5 },
        Command::Describe { port: 1, description: pad },
        Command::Match(Match { event: "TXPAS".into(), kind: MatchType::QUALIFICATION, number: 12, replay: 0 }),
        Command::Match(Match::default()),
        Command::Match(final_match),
        Command::GameData("LRL".into()),
        Command::GameData("#1 ".into()),
        Command::GameData("two  words".into()),
        Command::Countdown(Some(15.0)),
        Command::Countdown(None),
        Command::Station(AllianceStation(4)),
        Command::Station(AllianceStation(0)),
        Command::Versions,
        Command::RestartCode,
        Command::Reboot,
    ];
    assert_eq!(commands(text), expected);
}

#[test]
fn the_commands_of_a_robot() {
    let text = r#"
        0  battery 12.6
        5  battery 9.5 over 2s
        6  brownout on
        7  cpu 40 20
        7  cpu 9.5/0/0/1.5
        7  can 0.35 busoff 1 txfull 2 receive 3 transmit 4
        7  disk 3231232000
        7  ram 253648896
        8  print hello  world
        8  print "tab\there"
        9  error 1 "details" "location" "stack"
        9  warning -3 details
        9  text Warning <Code> 44008
        9  version "PDP" 1.40 type 8 id 3
        9  faults 1 2
        9  rails 1 2 3
        9  output 2 5 0.25 1
        10 silence 2s
        12 code off
        13 loss 0.2
        13 reorder 0.1
        13 duplicate 1
        13 delay 20ms jitter 1500us
        14 reboot
        15 pd off
    "#;
    let fault = |error, code, texts: [&str; 3]| {
        let [details, location, stack] = texts.map(str::to_owned);
        Change::Error(Fault { error, code, details, location, stack })
    };
    let can = CanMetrics { utilization: 0.35, bus_off: 1, tx_full: 2, receive_errors: 3, transmit_errors: 4 };
    let expected = [
        Change::Battery(12.6),
        Change::BatteryOver { volts: 9.5, over: ms(2000) },
        Change::Brownout(true),
        Change::Cpu(vec![[40.0, 0.0, 0.0, 0.0], [20.0, 0.0, 0.0, 0.0]]),
        Change::Cpu(vec![[9.5, 0.0, 0.0, 1.5]]),
        Change::Can(can),
        Change::Disk(3_231_232_000),
        Change::Ram(253_648_896),
        Change::Print("hello  world".into()),
        Change::Print("tab\there".into()),
        fault(true, 1, ["details", "location", "stack"]),
        fault(false, -3, ["details", "", ""]),
        Change::Text("Warning <Code> 44008".into()),
        Change::Version(DeviceVersion { kind: 8, id: 3, name: "PDP".into(), version: "1.40".into() }),
        Change::Faults { comms: 1, brownouts: 2 },
        Change::Rails([1, 2, 3]),
        Change::Output { port: 2, bits: 5, left: 0.25, right: 1.0 },
        Change::Silence(ms(2000)),
        Change::Code(false),
        Change::Drop(0.2),
        Change::Reorder(0.1),
        Change::Duplicate(1.0),
        Change::Delay { delay: ms(20), jitter: Duration::from_micros(1500) },
        Change::Reboot,
        Change::Pd(None),
    ];
    assert_eq!(changes(text), expected);
}

#[test]
fn panels_have_the_currents_they_are_given() {
    let panel = |text: &str| match changes(text).as_slice() {
        [Change::Pd(Some(panel))] => *panel,
        other => panic!("{other:?}"),
    };
    let pdp = panel("0 pd pdp 1.5 20 id 3 voltage 11.5");
    assert_eq!((pdp.id(), pdp.voltage(), pdp.resistance()), (3, Some(11.5), None));
    assert_eq!(pdp.currents().collect::<Vec<_>>()[..3], [1.5, 20.0, 0.0]);
    assert!((pdp.temperature().unwrap() - 25.0).abs() < 0.6);
    let all: Vec<String> = (0..24).map(|n| n.to_string()).collect();
    let pdh = panel(&format!("0 pd pdh {}", all.join(" ")));
    assert!(matches!(pdh, PowerDistribution::Pdh(_)));
    let currents: Vec<f64> = pdh.currents().collect();
    assert_eq!(currents[..20], (0..20).map(f64::from).collect::<Vec<_>>());
    assert_eq!(currents[20..], [15.9375; 4], "more does not fit into these");
}

#[test]
fn a_stick_keeps_what_a_line_does_not_name() {
    let text = "
        1 joystick 0 axes 0.5 -1 buttons 1,3 pov 90
        2 joystick 0 buttons none
        3 joystick 0 buttons 2 of 4 pov off
        4 joystick 0 axes 0
        1.5 joystick 3
    ";
    let state = |axes: [f32; 2], buttons: [bool; 4], pov| JoystickState {
        axes: axes.to_vec(),
        buttons: buttons.to_vec(),
        povs: vec![pov],
    };
    let none = [false; 4];
    let second = [false, true, false, false];
    let expected = [
        (0, state([0.5, -1.0], [true, false, true, false], 90)),
        (3, JoystickState::default()),
        (0, state([0.5, -1.0], none, 90)),
        (0, state([0.5, -1.0], second, -1)),
        (0, state([0.0, -1.0], second, -1)),
    ];
    let expected = expected.map(|(port, state)| Command::Joystick { port, state });
    assert_eq!(commands(text), expected);
}

#[test]
fn times_have_units_and_may_follow_each_other() {
    let text = "500ms code on\n+250ms code off\n1.5 code on\n0.3 code off\n1min code on\n+1 end\n100 code off";
    let found = steps(text, Role::Robot, LONG);
    assert_eq!(found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [300, 500, 750, 1500, 60_000, 61_000]);
    assert_eq!(found.last().unwrap().1, Action::End, "nothing comes after the end");
    let mut script = Script::parse(text, Role::Robot).unwrap();
    assert_eq!(script.next_at(), Some(ms(300)));
    assert_eq!(script.due(ms(299)), None);
    assert_eq!(script.due(ms(300)).unwrap().line, 4);
    assert_eq!(script.next_at(), Some(ms(500)));
    while script.due(LONG).is_some() {}
    assert_eq!(script.next_at(), None);
}

#[test]
fn what_is_every_so_often_goes_on_until_its_end() {
    let text = "1 every 100ms until 1.25s print tick\n1.1 print tock";
    let found = steps(text, Role::Robot, LONG);
    let line = |text: &str| Action::Robot(Change::Print(text.into()));
    assert_eq!(found, [(1000, line("tick")), (1100, line("tick")), (1100, line("tock")), (1200, line("tick"))]);
    assert_eq!(steps("0 every 1s print tick", Role::Robot, ms(10_000)).len(), 11);
    assert_eq!(steps("0 every 1s print tick\n5.5 end", Role::Robot, LONG).len(), 7);
}

#[test]
fn it_is_known_whether_a_script_enables() {
    assert!(Script::parse("1 enable", Role::Station).unwrap().enables());
    assert!(Script::parse("9 every 1s enable", Role::Station).unwrap().enables());
    assert!(!Script::parse("1 disable\n2 mode auto\n3 joystick 0 axes 1", Role::Station).unwrap().enables());
    assert!(!Script::parse("", Role::Robot).unwrap().enables());
}

#[test]
fn mistakes_are_named_with_their_place_and_what_would_be_right() {
    let check = |role, text: &str, expected: &str| {
        let error = Script::parse(text, role).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    };
    let station = |text: &str, expected: &str| check(Role::Station, text, expected);
    let robot = |text: &str, expected: &str| check(Role::Robot, text, expected);
    station(
        "enable",
        "line 1, column 1: expected a time such as 1.5, 200ms or +1s, found `enable`; usage: `TIME COMMAND …`",
    );
    station("\n\n  1", "line 3, column 4: missing a command; usage: `TIME COMMAND …`");
    station(
        "0 mode auto\n1 mode fast",
        "line 2, column 8: expected a mode, found `fast`; usage: `mode teleop|auto|test`",
    );
    station(
        "0 enabel",
        "line 1, column 3: unknown command `enabel`; commands of a station script: mode, enable, disable, estop, joystick, \
         describe, unplug, match, gamedata, countdown, station, versions, restart, reboot, end",
    );
    station(
        "0 battery 12",
        "line 1, column 3: `battery` is for a robot script; commands of a station script: mode, enable, disable, estop, \
         joystick, describe, unplug, match, gamedata, countdown, station, versions, restart, reboot, end",
    );
    station("0 enable now", "line 1, column 10: unexpected `now`; usage: `enable`");
    let stick = "`joystick PORT [axes V…] [buttons N,N…|none [of COUNT]] [pov DEGREES|off…]`";
    station("0 joystick 6", &format!("line 1, column 12: expected a stick from 0 to 5, found `6`; usage: {stick}"));
    station(
        "0 joystick 0 axes 1.5",
        &format!("line 1, column 19: expected an axis from -1 to 1, found `1.5`; usage: {stick}"),
    );
    station(
        "0 joystick 0 axes buttons 1",
        &format!("line 1, column 19: missing an axis from -1 to 1 before `buttons`; usage: {stick}"),
    );
    station(
        "0 joystick 0 buttons 0",
        &format!("line 1, column 22: expected a button from 1 to 32, found `0`; usage: {stick}"),
    );
    station("0 gamedata \"LRL", "line 1, column 12: the quoted text has no closing \"");
    station(r#"0 gamedata "\x""#, r#"line 1, column 13: expected n, t, \ or " after \"#);
    station(
        "0 station green 1",
        "line 1, column 17: expected red 1 to blue 3, found `1`; usage: `station red|blue 1|2|3`",
    );
    robot("0 battery", "line 1, column 10: missing volts from 0 to 255; usage: `battery VOLTS [over TIME]`");
    robot(
        "0 battery nan",
        "line 1, column 11: expected volts from 0 to 255, found `nan`; usage: `battery VOLTS [over TIME]`",
    );
    robot(
        "0 battery 12 over -1",
        "line 1, column 19: expected a time such as 1.5 or 200ms, found `-1`; usage: `battery VOLTS [over TIME]`",
    );
    robot("ü print", "line 1, column 1: expected a time such as 1.5, 200ms or +1s, found `ü`; usage: `TIME COMMAND …`");
    robot("0 print \"ü\" x", "line 1, column 13: unexpected `x`; usage: `print TEXT`");
}

#[test]
fn a_script_drives_both_sides() {
    let mut world = World::new();
    let mut station = Script::parse(
        "0.1 mode auto\n0.2 enable\n0.3 joystick 0 axes 0.5 -1\n+0.7 disable\n2 gamedata LRL\n3 end",
        Role::Station,
    )
    .unwrap();
    let mut robot = Script::parse("0 battery 12.5\n1 battery 9.5 over 2s\n2.5 print hello", Role::Robot).unwrap();
    let mut enabled = Vec::new();
    for n in 0..=300 {
        let elapsed = ms(10 * n);
        while let Some(step) = station.due(elapsed) {
            if let Action::Station(command) = step.action {
                world.command(command);
            }
        }
        while let Some(step) = robot.due(elapsed) {
            if let Action::Robot(change) = step.action {
                world.set(change);
            }
        }
        world.run_to(10 * i64::try_from(n).unwrap());
        if world.robot.view().enabled {
            enabled.push(10 * n);
        }
    }
    assert_eq!((enabled.first(), enabled.last()), (Some(&210), Some(&1000)));
    assert_eq!(world.robot.view().game_data.as_deref(), Some("LRL"));
    assert_eq!(world.station.view().robot.unwrap().battery, Some(9.511_718_75));
    assert!(world.station_sink.values("/ds/console").contains(&"hello"));
    assert_eq!(station.next_at(), None);
}
