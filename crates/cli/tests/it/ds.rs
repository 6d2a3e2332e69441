//! A robot, a station and a proxy as programs of their own, over loopback.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(unix)]
use std::time::{SystemTime, UNIX_EPOCH};

use crate::live::Running;
use crate::run::{code, stderr, stdout, typed};

/// An address that no other test uses.
fn address() -> Ipv4Addr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let [_, a, b, c] = (std::process::id() * 16 + NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes();
    Ipv4Addr::new(127, 128 + a % 64, b, c)
}

/// The samples of a channel: seconds and the value.
fn samples(dir: &Path, file: &str, channel: &str) -> Vec<(f64, String)> {
    let output = typed(dir, &format!("logpose cat {file} -y {channel} --format csv"));
    assert_eq!(code(&output), 0, "{file}: {}", stderr(&output));
    let text = stdout(&output);
    let cells = text.lines().skip(1).map(|line| line.splitn(3, ',').map(str::to_owned).collect::<Vec<_>>());
    cells.map(|cells| (cells[0].parse().unwrap(), cells[2].clone())).collect()
}

fn values(dir: &Path, file: &str, channel: &str) -> Vec<String> {
    samples(dir, file, channel).into_iter().map(|(_, value)| value).collect()
}

#[cfg(unix)]
#[test]
fn a_script_drives_a_robot_through_a_proxy_and_all_three_record_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (at, between) = (address(), address());
    let match_script =
        "0 mode auto\n0.5 enable\n0.6 joystick 0 axes 0.5 buttons 2 of 4\n1.2 disable\n1.3 mode teleop\n1.5 end\n";
    fs::write(dir.join("match.txt"), match_script).unwrap();
    fs::write(dir.join("trouble.txt"), "0 battery 12\n0.8 battery 9.5\n0.9 print \"too low\"\n").unwrap();
    let free = "--keep-free 0MB --json";
    let mut robot = Running::start(
        dir,
        &format!("ds robot --bind {at} --script trouble.txt -o robot.wpilog --duration 30s {free}"),
    );
    robot.line("started");
    let mut proxy = Running::start(dir, &format!("ds proxy --robot {at} --bind {between} -o proxy.mcap {free}"));
    proxy.line("started");
    let mut station = Running::start(
        dir,
        &format!(
            "ds station --robot {between} --enable --script match.txt --game-data LRL --alliance blue2 -o station.rlog {free}"
        ),
    );
    let (done, end) = station.wait();
    assert_eq!((end, &done["robot"]["enabled"]), (Some(0), &false.into()), "{done}");
    let (passed, _) = proxy.interrupt();
    assert_eq!(passed["unrecorded"], 0, "{passed}");
    assert!(passed["to_robot"]["datagrams"].as_u64().unwrap() > 50, "{passed}");
    let (seen, _) = robot.interrupt();
    assert_eq!((&seen["station"], &seen["watchdog"]), (&"blue 2".into(), &0.into()), "{seen}");
    for file in ["robot.wpilog", "proxy.mcap", "station.rlog"] {
        let says = |channel| values(dir, file, channel);
        assert_eq!(says("/ds/control/enabled"), ["false", "true", "false"], "{file}");
        assert_eq!(says("/ds/status/enabled"), ["false", "true", "false"], "{file}");
        assert_eq!(says("/ds/control/station"), ["blue 2"], "{file}");
        assert!(says("/ds/battery").contains(&"9.5".to_owned()), "{file}");
        assert!(says("/ds/console").contains(&"too low".to_owned()), "{file}");
        assert_eq!(says("/ds/game_data").last().map(String::as_str), Some("LRL"), "{file}");
    }
}

#[cfg(unix)]
#[test]
fn a_station_that_is_ended_disables_the_robot_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for signal in ["-INT", "-TERM"] {
        let at = address();
        let file = format!("robot{signal}.wpilog");
        let mut robot =
            Running::start(dir, &format!("ds robot --bind {at} -o {file} --keep-free 0MB --no-watchdog --json"));
        robot.line("started");
        let mut station = Running::start(dir, &format!("ds station --robot {at} --enable --enable-after 200ms --json"));
        while !robot.line("control")["enabled"].as_bool().unwrap() {}
        station.line("status");
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let killed = now();
        let (done, end) = station.end(signal);
        assert_eq!((end, &done["enabled"]), (Some(0), &false.into()), "{signal}: {done}");
        let (seen, _) = robot.interrupt();
        assert_eq!(seen["enabled"], false, "{signal}: {seen}");
        let said = samples(dir, &file, "/ds/status/enabled");
        let (disabled, value) = said.last().unwrap();
        assert_eq!((said.len(), &**value), (3, "false"), "{signal}: {said:?}");
        // Times count from the first packet; when that was is printed, too.
        let about = stdout(&typed(dir, &format!("logpose info {file} --json")));
        let about: serde_json::Value = serde_json::from_str(&about).unwrap();
        let epoch: i64 = about["epoch_ns"].as_str().unwrap().parse().unwrap();
        let after = epoch as f64 / 1e9 + disabled - killed;
        assert!((0.0..0.1).contains(&after), "{signal}: {after} s");
    }
}

#[test]
fn nothing_enables_without_the_word() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("match.txt"), "1 enable\n").unwrap();
    let at = address();
    let refused = typed(dir.path(), &format!("logpose ds station --robot {at} --script match.txt --duration 1s"));
    assert_eq!(code(&refused), 2);
    assert!(stderr(&refused).contains("match.txt enables the robot, which needs --enable"));
    let refused = typed(dir.path(), &format!("logpose ds station --robot {at} --enable-after 1s --duration 1s"));
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
}

#[test]
fn a_robot_is_recorded_by_record_and_stays_disabled() {
    let dir = tempfile::tempdir().unwrap();
    let at = address();
    let mut robot = Running::start(dir.path(), &format!("ds robot --bind {at} --duration 30s --json"));
    robot.line("started");
    let line = format!("logpose record ds://{at} -o pit.wpilog --duration 1500ms --keep-free 0MB");
    let recorded = typed(dir.path(), &line);
    assert_eq!(code(&recorded), 0, "{}", stderr(&recorded));
    let says = stderr(&recorded);
    assert!(says.contains("logpose replaces the Driver Station; the robot stays disabled"), "{says}");
    assert!(says.contains(&format!("connected: ds://{at}:1110 at {at}:1110")), "{says}");
    assert_eq!(values(dir.path(), "pit.wpilog", "/ds/control/enabled"), ["false"]);
    assert!(values(dir.path(), "pit.wpilog", "/ds/battery").len() > 30);
    // The port is free again, and a missing robot is reported.
    let nobody =
        typed(dir.path(), &format!("logpose record ds://{} -o x.wpilog --duration 300ms --keep-free 0MB", address()));
    assert_eq!(code(&nobody), 1);
    assert!(stderr(&nobody).contains("no data received"), "{}", stderr(&nobody));
}

#[test]
fn sticks_of_a_log_are_moved_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.txt"), "0 joystick 1 axes 0.25 pov 90\n0.4 joystick 1 axes -1 pov off\n0.6 end\n").unwrap();
    fs::write(dir.join("b.txt"), "1.5 end\n").unwrap();
    let at = address();
    let mut robot = Running::start(dir, &format!("ds robot --bind {at} --duration 30s --json"));
    robot.line("started");
    for (how, file) in [("--script a.txt", "a.wpilog"), ("--joysticks a.wpilog --script b.txt", "b.wpilog")] {
        let output = typed(dir, &format!("logpose ds station --robot {at} {how} -o {file} --keep-free 0MB"));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    let (first, second) =
        (values(dir, "a.wpilog", "/ds/joystick/1/axes"), values(dir, "b.wpilog", "/ds/joystick/1/axes"));
    assert_eq!(first.len(), 2);
    assert_eq!(first, second);
    let none = typed(dir, "logpose ds station --joysticks a.txt --duration 1s");
    assert_eq!(code(&none), 1, "{}", stderr(&none));
}
