//! A station and a simulated robot over loopback, each test at addresses of its own.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use logpose_driverstation::script::{Role, Script};
use logpose_driverstation::session::{Command, JoystickState, Refused, RobotOptions, StationOptions};
use logpose_driverstation::wire::{Control, Mode};
use logpose_live::ds::{
    News, Ports, RobotHandle, RobotRunner, RobotSetup, StationHandle, StationRunner, StationSetup, joystick_moves,
};
use logpose_live::recorder::{RecordOptions, Recorder};
use logpose_live::{Address, Clock, Host, Join, Live, OutputThread, Source};
pub(crate) use logpose_testkit::until_so as until;

use crate::source::{open, read};

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
    fn start(live: Live, source: Source, file: Option<OutputThread>) -> Self {
        let stop: Arc<AtomicBool> = Arc::default();
        let theirs = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let outputs: Vec<&OutputThread> = file.iter().collect();
            live.listen(vec![source], Join::single(), &outputs, &mut |_| match theirs.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
            drop(outputs);
            file.map_or(Ok(()), OutputThread::finish).unwrap();
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
    (runner.handle(), Running::start(live, runner.into_source(), None))
}

pub(crate) fn station(robot: IpAddr, may_enable: bool, script: Option<&str>) -> (StationHandle, Running) {
    let live = Live::new().unwrap();
    let scripts = script.iter().map(|text| Script::parse(text, Role::Station).unwrap()).collect();
    let options = StationOptions { may_enable, ..StationOptions::default() };
    let setup = StationSetup { robot: Host::Ip(robot), options, scripts, ..StationSetup::default() };
    let runner = StationRunner::new(live.clock(), setup).unwrap();
    (runner.handle(), Running::start(live, runner.into_source(), None))
}

#[test]
fn a_station_and_a_robot_find_each_other_and_the_robot_obeys() {
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
    // The last line of the script was refused too: from here on nothing asks again.
    let mut refused = 0;
    until("both lines were refused", || {
        let news = std::iter::from_fn(|| station.poll_news());
        refused += news.filter(|news| matches!(news, News::Refused { why: Refused::NotPermitted, .. })).count();
        refused >= 2
    });
    assert_eq!(refused, 2);
    assert!(!robot.view().enabled && !station.view().enabled);
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
        let scripts = vec![Script::parse("0.2 enable", Role::Station).unwrap()];
        let setup = StationSetup { robot: Host::Ip(at), options, scripts, ..StationSetup::default() };
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
fn a_port_in_use_is_reported_in_one_sentence() {
    let at = address();
    let (_handle, _running) = station(at, false, None);
    let live = Live::new().unwrap();
    let setup = StationSetup { robot: Host::Ip(at), ..StationSetup::default() };
    let error = StationRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert_eq!(error, format!("UDP port 1150 of {at} is in use: another Driver Station is running on this computer"));
    let (_handle, _running) = robot(at, None);
    let setup = RobotSetup { bind: at, ..RobotSetup::default() };
    let error = RobotRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert_eq!(error, format!("UDP port 1110 of {at} is in use: another simulated robot or proxy is running there"));
}

#[test]
fn a_field_system_is_never_talked_to() {
    let live = Live::new().unwrap();
    let field = Host::Ip([10, 0, 100, 5].into());
    let setup = StationSetup { robot: field, ..StationSetup::default() };
    let error = StationRunner::new(live.clock(), setup).err().unwrap().to_string();
    assert!(error.contains("10.0.100.x is the field network"), "{error}");
}

#[test]
fn all_ports_can_be_others() {
    let at = address();
    let ports = Ports { datagrams: 2110, answers: 2150, stream: 2740 };
    let live = Live::new().unwrap();
    let robot = RobotRunner::new(live.clock(), RobotSetup { bind: at, ports, ..RobotSetup::default() }).unwrap();
    assert_eq!(robot.address(), SocketAddr::new(at, 2110));
    let view = robot.handle();
    let _robot = Running::start(live, robot.into_source(), None);
    let live = Live::new().unwrap();
    let bind = Some(address());
    let setup = StationSetup { robot: Host::Ip(at), ports, bind, ..StationSetup::default() };
    let station = StationRunner::new(live.clock(), setup).unwrap();
    let _station = Running::start(live, station.into_source(), None);
    until("they are connected", || view.view().tcp);
}

/// What writes to a file.
pub(crate) fn recording(path: &Path) -> OutputThread {
    let options = RecordOptions { keep_free: 0, ..RecordOptions::default() };
    let recorder = Recorder::create(path, options).unwrap();
    OutputThread::start("recorder", Box::new(recorder), Clock::new()).unwrap()
}

/// A recording has both directions: the robot was enabled and disabled again, and it heard the secret.
pub(crate) fn check(path: &Path, secret: &str) {
    let log = open(path);
    let values = |name: &str| -> Vec<String> {
        let columns = log.all_columns().unwrap();
        let column = columns.columns.iter().find(|column| column.channel.name == name);
        let column = column.unwrap_or_else(|| panic!("{name} is missing"));
        columns.samples(column).map(|(_, value)| format!("{value:?}")).collect()
    };
    for name in ["/ds/control/enabled", "/ds/status/enabled"] {
        assert_eq!(values(name)[..2], ["Boolean(false)", "Boolean(true)"], "{name}");
    }
    assert!(
        values("/ds/game_data").contains(&format!("String({:?})", secret.as_bytes())),
        "{:?}",
        values("/ds/game_data")
    );
    assert!(values("/ds/battery").iter().all(|volts| volts == "Double(12.5)"));
    assert!(values("/ds/trip_time").len() > 20);
    let lost = values("/ds/lost");
    assert!(lost.iter().filter(|lost| *lost == "Boolean(true)").count() * 10 < lost.len(), "{lost:?}");
}

#[test]
fn what_both_sides_say_is_recorded_by_either() {
    let at = address();
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (folder.path().join("station.wpilog"), folder.path().join("robot.mcap"));
    let live = Live::new().unwrap();
    let robot = RobotRunner::new(live.clock(), RobotSetup { bind: at, ..RobotSetup::default() }).unwrap();
    let robot_running = Running::start(live, robot.into_source(), Some(recording(&there)));
    let live = Live::new().unwrap();
    let script = "0 gamedata LLR\n0.2 enable\n0.8 disable\n1 end";
    let scripts = vec![Script::parse(script, Role::Station).unwrap()];
    let options = StationOptions { may_enable: true, ..StationOptions::default() };
    let setup = StationSetup { robot: Host::Ip(at), options, scripts, ..StationSetup::default() };
    let station = StationRunner::new(live.clock(), setup).unwrap();
    let handle = station.handle();
    let running = Running::start(live, station.into_source(), Some(recording(&here)));
    until("the script is over", || handle.is_over());
    running.stop();
    robot_running.stop();
    check(&here, "LLR");
    check(&there, "LLR");
}

#[test]
fn a_robot_can_be_recorded_as_any_other_source_and_stays_disabled() {
    let at = address();
    let (robot, _robot) = robot(at, Some("0.2 print hello\n0.3 battery 11"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("robot.wpilog");
    let live = Live::new().unwrap();
    let source = Source::new(&Address::parse(&format!("ds://{at}")).unwrap(), "test").unwrap();
    let stats = source.stats();
    let running = Running::start(live, source, Some(recording(&path)));
    until("it is connected", || robot.view().tcp);
    until("it was heard for a while", || robot.view().replied > 60);
    assert!(!robot.view().enabled);
    assert_eq!((stats.figures().open, stats.figures().peer), (2, Some(format!("{at}:1110"))));
    running.stop();
    let contents = read(&path);
    let has = |name: &str, ty: &str| contents.get(&(name.to_owned(), ty.to_owned())).map_or(0, Vec::len);
    assert!(has("/ds/battery", "double") > 20 && has("/ds/console", "string") >= 1, "{:?}", contents.keys());
    assert_eq!(has("/ds/control/enabled", "boolean"), 1, "it was never another one");
}

#[test]
fn sticks_move_as_they_did_in_a_log() {
    let at = address();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sticks.wpilog");
    let record = |path: &Path, setup: StationSetup| {
        let live = Live::new().unwrap();
        let station = StationRunner::new(live.clock(), setup).unwrap();
        let handle = station.handle();
        (handle, Running::start(live, station.into_source(), Some(recording(path))))
    };
    let (_handle, robot_running) = robot(at, None);
    let script = "0.1 joystick 2 axes 0.5 -1 buttons 1,3 of 4 pov 90\n0.3 joystick 2 axes 1 buttons none\n0.5 end";
    let scripts = vec![Script::parse(script, Role::Station).unwrap()];
    let setup = StationSetup { robot: Host::Ip(at), scripts, ..StationSetup::default() };
    let (handle, running) = record(&path, setup);
    until("the script is over", || handle.is_over());
    running.stop();
    robot_running.stop();
    let moves = joystick_moves(&open(&path)).unwrap();
    assert_eq!(moves.iter().map(|one| one.port).collect::<Vec<_>>(), [2, 2]);
    let between = (moves[1].at - moves[0].at).as_millis();
    assert!((150..=400).contains(&between), "{between} ms");
    let (robot, _robot) = robot(at, None);
    let setup = StationSetup { robot: Host::Ip(at), moves, ..StationSetup::default() };
    let (_handle, _running) = record(&folder.path().join("again.wpilog"), setup);
    until("the stick has moved", || {
        let view = robot.view();
        let stick = view.joysticks.get(2).cloned().flatten();
        stick.is_some_and(|stick| stick.axes == [1.0, -1.0] && stick.buttons == [false; 4] && stick.povs == [90])
    });
}
