//! A proxy between a station and a robot.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use logpose_driverstation::session::Command;
use logpose_live::ds::{Proxy, ProxyOptions, ProxyView};
use logpose_live::{Clock, Host, OutputThread};

use crate::ds::{address, check, recording, robot, station, until};

struct Proxying {
    stop: Arc<AtomicBool>,
    view: Arc<Mutex<ProxyView>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxying {
    fn start(bind: IpAddr, robot: IpAddr, file: Option<OutputThread>) -> Self {
        let options = ProxyOptions { robot: Host::Ip(robot), bind, ..ProxyOptions::default() };
        let mut proxy = Proxy::start(Clock::new(), &options).unwrap();
        let (stop, view): (Arc<AtomicBool>, Arc<Mutex<ProxyView>>) = Default::default();
        let (stopped, seen) = (Arc::clone(&stop), Arc::clone(&view));
        let thread = thread::spawn(move || {
            let outputs: Vec<&OutputThread> = file.iter().collect();
            proxy.run(&outputs, &mut |view| {
                *seen.lock().unwrap() = view;
                if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            drop(outputs);
            file.map_or(Ok(()), OutputThread::finish).unwrap();
        });
        Self { stop, view, thread: Some(thread) }
    }

    fn view(&self) -> ProxyView {
        self.view.lock().unwrap().clone()
    }
}

impl Drop for Proxying {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().unwrap().join();
    }
}

#[test]
fn a_station_and_a_robot_notice_nothing_of_a_proxy() {
    let (at, between) = (address(), address());
    let (robot, _robot) = robot(at, None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.wpilog");
    let proxy = Proxying::start(between, at, Some(recording(&path)));
    let (station, _station) = station(between, true, None);
    until("they are connected", || station.view().tcp && robot.view().tcp);
    until("the program is there", || station.view().robot.is_some_and(|robot| robot.code));
    station.command(Command::GameData("RRL".to_owned())).unwrap();
    station.command(Command::Enable).unwrap();
    until("the robot is enabled", || robot.view().enabled);
    until("the secret came", || robot.view().game_data.as_deref() == Some("RRL"));
    until("the proxy has seen it", || {
        let view = proxy.view();
        let enabled = view.control.is_some_and(|one| one.enabled()) && view.status.is_some_and(|one| one.enabled());
        enabled && view.to_robot.datagrams > 50 && view.to_station.datagrams > 50
    });
    let view = proxy.view();
    assert_eq!((view.station, view.robot, view.stream), (Some(between), Some(at), true));
    assert!(view.to_robot.stream_bytes > 20 && view.unrecorded == 0, "{view:?}");
    assert!(view.to_robot.delay.p50_ns < 5_000_000 && view.to_station.delay.p50_ns < 5_000_000, "{view:?}");
    drop(proxy);
    check(&path, "RRL");
}

#[test]
fn bytes_that_nobody_understands_are_passed_on_unchanged() {
    let (at, between) = (address(), address());
    let proxy = Proxying::start(between, at, None);
    let socket = |ip: IpAddr, port: u16| {
        let socket = UdpSocket::bind((ip, port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket
    };
    // The station sends from any port and hears at 1150; the robot hears at 1110 and sends from any port.
    let here = address();
    let (sends, hears) = (socket(here, 0), socket(here, 1150));
    let (robot, answers) = (socket(at, 1110), socket(at, 0));
    let listener = TcpListener::bind((at, 1740)).unwrap();
    let mut buffer = [0; 70_000];
    let noise: Vec<u8> = (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for length in [0, 1, 5, 6, 100, 20_000] {
        sends.send_to(&noise[..length], (between, 1110)).unwrap();
        let (n, from) = robot.recv_from(&mut buffer).unwrap();
        assert!(buffer[..n] == noise[..length], "to the robot, {length}");
        assert_eq!(from.port(), 1150, "the robot answers there");
        answers.send_to(&noise[..length], from).unwrap();
        let (n, from) = hears.recv_from(&mut buffer).unwrap();
        assert!(buffer[..n] == noise[..length] && from.ip() == between, "to the station, {length}");
    }
    let mut station = TcpStream::connect((between, 1740)).unwrap();
    let (mut robot, _) = listener.accept().unwrap();
    station.write_all(&noise).unwrap();
    let mut heard = vec![0; noise.len()];
    robot.read_exact(&mut heard).unwrap();
    assert!(heard == noise);
    robot.write_all(&noise).unwrap();
    heard.fill(0);
    station.read_exact(&mut heard).unwrap();
    assert!(heard == noise);
    // A second stream is turned away; when the first one has ended, another one is let in.
    let mut second = TcpStream::connect((between, 1740)).unwrap();
    second.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert!(matches!(second.read(&mut buffer), Ok(0) | Err(_)));
    // What is seen of the proxy is up to 50 ms old.
    until("one was turned away", || proxy.view().turned_away == 1 && proxy.view().stream);
    drop(robot);
    assert!(matches!(station.read(&mut buffer), Ok(0) | Err(_)));
    until("the stream has ended", || !proxy.view().stream);
    let _third = TcpStream::connect((between, 1740)).unwrap();
    drop(listener.accept().unwrap());
    assert_eq!(proxy.view().turned_away, 1);
}

#[test]
fn a_proxy_does_not_talk_to_itself() {
    let at = address();
    let options = ProxyOptions { robot: Host::Ip(at), bind: at, ..ProxyOptions::default() };
    let error = Proxy::start(Clock::new(), &options).err().unwrap().to_string();
    assert_eq!(error, format!("the robot's address {at}:1110 is the address of the proxy itself"));
    let options = ProxyOptions { bind: Ipv4Addr::UNSPECIFIED.into(), ..options };
    let error = Proxy::start(Clock::new(), &options).err().unwrap().to_string();
    assert_eq!(error, format!("the robot's address {at}:1110 is the address of the proxy itself"));
}
