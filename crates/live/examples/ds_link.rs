//! How even a station's packets come, how long a proxy keeps datagrams, and what it adds to a round trip; on loopback.
#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use logpose_driverstation::wire::Control;
use logpose_live::ds::{Proxy, ProxyOptions, ProxyView, StationRunner, StationSetup};
use logpose_live::{Clock, Host, Join, Live};

const ROBOT: Ipv4Addr = Ipv4Addr::new(127, 9, 9, 1);
const BETWEEN: Ipv4Addr = Ipv4Addr::new(127, 9, 9, 2);
const STATION: Ipv4Addr = Ipv4Addr::new(127, 9, 9, 3);
const LENGTH: Duration = Duration::from_secs(20);
const TRIPS: usize = 5000;

fn main() -> Result<(), Box<dyn Error>> {
    let robot = Robot::start()?;
    cadence()?;
    let came = robot.stop()?;
    println!("{:34} {}", "packets of a station, off 20 ms", spread(&mut off_grid(&came)));

    let robot = Robot::start()?;
    plain()?;
    let came = robot.stop()?;
    println!("{:34} {}", "the same from a thread that sleeps", spread(&mut off_grid(&came)));

    let _robot = Robot::start()?;
    println!("{:34} {}", "round trip without a proxy", spread(&mut trips(ROBOT)?));
    let options = ProxyOptions { robot: Host::Ip(ROBOT.into()), bind: BETWEEN.into(), ..ProxyOptions::default() };
    let mut proxy = Proxy::start(Clock::new(), &options)?;
    let stop: Arc<AtomicBool> = Arc::default();
    let stopped = Arc::clone(&stop);
    let proxying = thread::spawn(move || {
        let mut last = ProxyView::default();
        proxy.run(&[], &mut |view| {
            last = view;
            if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        last
    });
    println!("{:34} {}", "round trip through a proxy", spread(&mut trips(BETWEEN)?));
    stop.store(true, Ordering::Relaxed);
    let view = proxying.join().map_err(|_| "the proxy has failed")?;
    for (name, way) in
        [("in the proxy, to the robot", view.to_robot), ("in the proxy, to the station", view.to_station)]
    {
        let delay = way.delay;
        let [p50, p99, max] = [delay.p50_ns, delay.p99_ns, delay.max_ns].map(us);
        println!("{name:34} p50 {p50:7.1} µs, p99 {p99:7.1} µs, max {max:8.1} µs, {} datagrams", way.datagrams);
    }
    println!("{:34} {}", "not recorded", view.unrecorded);
    Ok(())
}

/// A robot that only answers, on a plain thread, and remembers when packets came.
struct Robot {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Vec<Instant>>,
}

impl Robot {
    fn start() -> Result<Self, Box<dyn Error>> {
        let socket = UdpSocket::bind((ROBOT, 1110))?;
        socket.set_read_timeout(Some(Duration::from_millis(100)))?;
        let stop: Arc<AtomicBool> = Arc::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let (mut buffer, mut came) = ([0; 2048], Vec::new());
            while !stopped.load(Ordering::Relaxed) {
                let Ok((n, from)) = socket.recv_from(&mut buffer) else { continue };
                came.push(Instant::now());
                let Ok(control) = Control::parse(buffer.get(..n).unwrap_or_default()) else { continue };
                let [high, low] = control.sequence.to_be_bytes();
                let _ = socket.send_to(&[high, low, 1, 0, 0x31, 12, 0x80, 0], (from.ip(), 1150));
            }
            came
        });
        Ok(Self { stop, thread })
    }

    fn stop(self) -> Result<Vec<Instant>, Box<dyn Error>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the robot has failed".into())
    }
}

/// Runs a station for a while.
fn cadence() -> Result<(), Box<dyn Error>> {
    let live = Live::new()?;
    let setup = StationSetup { robot: Host::Ip(ROBOT.into()), ..StationSetup::default() };
    let runner = StationRunner::new(live.clock(), setup)?;
    let (mut trips, handle) = (Vec::new(), runner.handle());
    live.listen(vec![runner.into_source()], Join::single(), &[], &mut |progress| {
        trips.extend(handle.view().trip_time.map(|ns| ns.unsigned_abs()));
        if progress.elapsed >= LENGTH { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    println!("{:34} {}", "trip times that a station sees", spread(&mut trips));
    Ok(())
}

/// How far moments are from being 20 ms apart.
fn off_grid(came: &[Instant]) -> Vec<u64> {
    let apart = came.iter().zip(came.iter().skip(1)).map(|(a, b)| ns(*b - *a).abs_diff(20_000_000));
    // The first packets ask whether somebody is there.
    apart.skip(5).collect()
}

/// Sends packets as evenly as a thread can that sleeps.
fn plain() -> Result<(), Box<dyn Error>> {
    let socket = UdpSocket::bind((IpAddr::from(STATION), 0))?;
    let start = Instant::now();
    let mut due = start;
    while due - start < LENGTH {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        socket.send_to(&[0, 1, 1, 0, 0x10, 0], (ROBOT, 1110))?;
        due += Duration::from_millis(20);
    }
    Ok(())
}

/// Sends packets one after the other and waits for each answer.
fn trips(to: Ipv4Addr) -> Result<Vec<u64>, Box<dyn Error>> {
    let socket = UdpSocket::bind((IpAddr::from(STATION), 1150))?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let (mut buffer, mut trips) = ([0; 2048], Vec::new());
    for n in 0..TRIPS {
        let [.., high, low] = n.to_be_bytes();
        let start = Instant::now();
        socket.send_to(&[high, low, 1, 0, 0x10, 0], (to, 1110))?;
        socket.recv_from(&mut buffer)?;
        trips.push(ns(start.elapsed()));
        thread::sleep(Duration::from_millis(1));
    }
    Ok(trips)
}

fn spread(ns: &mut [u64]) -> String {
    ns.sort_unstable();
    let at = |percent: usize| us(ns.get((ns.len().max(1) - 1) * percent / 100).copied().unwrap_or(0));
    format!("p50 {:7.1} µs, p99 {:7.1} µs, max {:8.1} µs, {} in all", at(50), at(99), at(100), ns.len())
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "microseconds for people")]
fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}
