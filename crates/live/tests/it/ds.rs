//! A station and a simulated robot over loopback, each test at addresses of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use logpose_driverstation::script::{Role, Script};
use logpose_driverstation::session::{Command, JoystickState, Refused, RobotOptions, StationOptions};
use logpose_driverstation::wire::{Control, Mode};
use logpose_live::ds::{News, Ports, RobotHandle, RobotRunner, RobotSetup, StationHandle, StationRunner, StationSetup};
use logpose_live::{Host, Join, Live, Source};

/// An address that no other test uses.
pub(crate) fn address() -> IpAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let [_, a, b, c] = (std::process::id() * 16 + NEXT.fetch_add(1, Ordering::Relaxed)).to_be_bytes();
    Ipv4Addr::new(127, 64 + a % 64, b, c).into()
}

/// Something that runs until it is dropped.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(live: Live, source: Source) -> Self {
        let stop: Arc<AtomicBool> = Arc::default();
        let theirs = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            live.listen(vec![source], Join::single(), &[], &mut |_| match theirs.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
        });
        Self { stop, thread: Some(thread) }
    }

    fn stop(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn robot(at: IpAddr, script: Option<&str>) -> (RobotHandle, Running) {
    let live = Live::new().unwrap();
    let script = script.map(|text| Script::parse(text, Role::Robot).unwrap());
    let setup = RobotSetup { bind: at, script, options: RobotOptions::default(), ..RobotSetup::default() };
    let runner = RobotRunner::new(live.clock(), setup).unwrap();
    (runner.handle(), Running::start(live, runner.into_source()))
}

pub(crate) fn station(robot: IpAddr, may_enable: bool, script: Option<&str>) -> (StationHandle, Running) {
    let live = Live::new().unwrap();
    let script = script.map(|text| Script::parse(text, Role::Station).unwrap());
    let options = StationOptions { may_enable, ..StationOptions::default() };
    let setup = StationSetup { robot: Some(Host::Ip(robot)), options, script, ..StationSetup::default() };
    let runner = StationRunner::new(live.clock(), setup).unwrap();
    (runner.handle(), Running::start(live, runner.into_source()))
}

/// Waits until something is so.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(15);
    while !is_so() {
        assert!(Instant::now() < deadline, "not so in 15 s: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_station_and_a_robot_find_each_other_and_the_robot_does_what_it_is_told() {
    let at = address();
    let (robot, _robot) = robot(at, None);
    let (station, _station) = station(at, true, None);
    until("they are connected", || station.view().tcp && robot.view().tcp);
    assert!(!robot.view().enabled && !robot.view().fms_attached);
    station.command(Command::Mode(Mode::Autonomous)).unwrap();
    let state = JoystickState { axes: vec![0.5, -1.0], buttons: vec![true, false, true], povs: vec![90] };
    station.command(Command::Joystick { port: 1, state }).unwrap();
    station.command(Command::GameData("LRL".to_owned())).unwrap();
    until("the program is there", || station.view().robot.is_some_and(|robot| robot.code));
    station.command(Command::Enable).unwrap();
    until("the robot is enabled", || robot.view().enabled);
    let view = robot.view();
    assert_eq!((view.mode, view.game_data.as_deref()), (Mode::Autonomous, Some("LRL")));
    assert_eq!(view.joysticks[1].as_ref().unwrap().buttons, [true, false, true]);
    assert_eq!(view.descriptions[1].name, "Joystick 1");
    until("the station hears it", || station.view().robot.is_some_and(|robot| robot.enabled));
    assert!(station.view().trip_time.unwrap() < 20_000_000, "{:?}", station.view());
    station.command(Command::Disable).unwrap();
    until("the robot is disabled", || !robot.view().enabled);
}

#[test]
fn nothing_enables_without_permission() {
    let at = address();
    let (robot, _robot) = robot(at, None);
    let (station, _station) = station(at, false, Some("0.1 enable\n0.2 mode test\n0.3 enable"));
    until("they are connected", || station.view().tcp);
    assert_eq!(station.command(Command::Enable), Err(Refused::NotPermitted));
    until("the script was read", || robot.view().mode == Mode::Test);
    thread::sleep(Duration::from_millis(200));
    assert!(!robot.view().enabled && !station.view().enabled);
    let refused = std::iter::from_fn(|| station.poll_news())
        .filter(|news| matches!(news, News::Refused { why: Refused::NotPermitted, .. }));
    assert_eq!(refused.count(), 2);
}

#[test]
fn a_station_that_ends_says_goodbye() {
    let at = address();
    let (robot, _robot) = robot(at, None);
    // Without the watchdog of the robot: it is the station that disables it.
    let (station, running) = station(at, true, Some("0.3 enable"));
    until("the robot is enabled", || robot.view().enabled);
    drop(station);
    running.stop();
    until("the robot is disabled", || !robot.view().enabled);
    assert_eq!(robot.view().comms_faults, 0, "it was not the watchdog");
}

#[test]
fn a_station_says_goodbye_also_when_who_watches_it_panics() {
    let at = address();
    let (robot, _robot) = robot(at, None);
    let panicking = thread::spawn(move || {
        let live = Live::new().unwrap();
        let options = StationOptions { may_enable: true, ..StationOptions::default() };
        let script = Some(Script::parse("0.2 enable", Role::Station).unwrap());
        let setup = StationSetup { robot: Some(Host::Ip(at)), options, script, ..StationSetup::default() };
        let runner = StationRunner::new(live.clock(), setup).unwrap();
        let handle = runner.handle();
        live.listen(vec![runner.into_source()], Join::single(), &[], &mut |_| {
            assert!(!handle.view().robot.is_some_and(|robot| robot.enabled), "as it should");
            ControlFlow::Continue(())
        });
    });
    until("the robot is enabled", || robot.view().enabled);
    assert!(panicking.join().is_err());
    until("the robot is disabled", || !robot.view().enabled);
    assert_eq!(robot.view().comms_faults, 0, "it was not the watchdog");
}

#[test]
fn a_robot_that_is_lost_is_disabled_and_found_again_and_stays_disabled() {
    let at = address();
    let (first, running) = robot(at, None);
    let (station, _station) = station(at, true, Some("0.2 enable"));
    until("the robot is enabled", || first.view().enabled);
    running.stop();
    until("the station has lost it", || !station.view().connected && !station.view().enabled);
    let (second, _second) = robot(at, None);
    until("they are connected again", || station.view().tcp && second.view().tcp);
    assert!(!second.view().enabled);
    let news: Vec<String> = std::iter::from_fn(|| station.poll_news()).map(|news| news.to_string()).collect();
    assert!(news.iter().any(|news| news.starts_with("disabled: ")), "{news:?}");
}

#[test]
fn one_station_at_a_time() {
    let at = address();
    let (robot, _robot) = robot(at, None);
    let (_handle, _station) = station(at, false, None);
    until("they are connected", || robot.view().tcp);
    // Another one, at another address, is not heard, and its stream is closed.
    let other = UdpSocket::bind((address(), 0)).unwrap();
    let before = robot.view();
    for _ in 0..20 {
        other.send_to(&[0, 9, 1, 4, 0, 5], (at, 1110)).unwrap();
    }
    let mut stream = TcpStream::connect((at, 1740)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut byte = [0];
    assert!(matches!(std::io::Read::read(&mut stream, &mut byte), Ok(0) | Err(_)));
    until("packets of the first one came", || robot.view().received > before.received + 5);
    assert_eq!((robot.view().station, robot.view().enabled, robot.view().tcp), (before.station, false, true));
}

#[test]
fn the_stream_comes_back_while_datagrams_come() {
    let at = address();
    let socket = UdpSocket::bind((at, 1110)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let listener = std::net::TcpListener::bind((at, 1740)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (station, _station) = station(at, false, None);
    let mut buffer = [0; 100];
    let mut streams = 0;
    let mut open = None;
    let deadline = Instant::now() + Duration::from_secs(15);
    while streams < 3 {
        assert!(Instant::now() < deadline, "{streams} streams");
        let (n, from) = socket.recv_from(&mut buffer).unwrap();
        let control = Control::parse(&buffer[..n]).unwrap();
        assert!(streams > 0 || open.is_none(), "no stream before the first answer");
        let [high, low] = control.sequence.to_be_bytes();
        // A robot answers from another port.
        let answer = UdpSocket::bind((at, 0)).unwrap();
        answer.send_to(&[high, low, 1, 0, 0x30, 12, 0, 0], (from.ip(), 1150)).unwrap();
        if let Ok((stream, _)) = listener.accept() {
            streams += 1;
            open = (streams >= 3).then_some(stream);
        }
    }
    until("there is a stream", || station.view().tcp);
    assert!(open.is_some() && station.view().received > 3);
}

#[test]
fn a_port_that_is_taken_is_told_in_one_sentence() {
    let at = address();
    let (_handle, _running) = station(at, false, None);
    let live = Live::new().unwrap();
    let setup = StationSetup { robot: Some(Host::Ip(at)), ..StationSetup::default() };
    let error = StationRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert_eq!(error, format!("UDP port 1150 of {at} is taken: another Driver Station runs on this machine"));
    let (_handle, _running) = robot(at, None);
    let setup = RobotSetup { bind: at, ..RobotSetup::default() };
    let error = RobotRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert_eq!(error, format!("UDP port 1110 of {at} is taken: a simulated robot or a proxy runs there already"));
}

#[test]
fn a_field_system_is_never_talked_to() {
    let live = Live::new().unwrap();
    let field = Host::Ip([10, 0, 100, 5].into());
    let setup = StationSetup { robot: Some(field), ..StationSetup::default() };
    let error = StationRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert!(error.contains("the network of the field system"), "{error}");
}

#[test]
fn all_ports_can_be_others() {
    let at = address();
    let ports = Ports { datagrams: 2110, answers: 2150, stream: 2740 };
    let live = Live::new().unwrap();
    let robot = RobotRunner::new(live.clock(), RobotSetup { bind: at, ports, ..RobotSetup::default() }).unwrap();
    assert_eq!(robot.address(), SocketAddr::new(at, 2110));
    let view = robot.handle();
    let _robot = Running::start(live, robot.into_source());
    let live = Live::new().unwrap();
    let bind = Some(address());
    let setup = StationSetup { robot: Some(Host::Ip(at)), ports, bind, ..StationSetup::default() };
    let station = StationRunner::new(live.clock(), setup).unwrap();
    let _station = Running::start(live, station.into_source());
    until("they are connected", || view.view().tcp);
}
