use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs, UdpSocket};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use logpose_core::Problem;
use logpose_driverstation::HELLO;
use logpose_driverstation::wire::{ControlBits, StatusBits};

use super::pipe;
use super::tap::{Tap, Tapped, What};
use super::{DsError, Ports, ROBOT_RUNS, STATION_RUNS};
use crate::histogram::{Histogram, Spread};
use crate::links::paired::{Caller, Turn, is_field, is_passing};
use crate::{Clock, Host, OutputThread};

/// Stands between a station and a robot: passes every byte on as it is, and reports what went by.
///
/// Datagrams are passed on by plain threads with blocking sockets, first of all; a copy with the time of receipt goes to
/// a queue for whoever records, who puts them in the order of receipt. What finds no room there is counted and is not
/// recorded.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    tapped: Receiver<Tapped>,
    tap: Tap,
    threads: Vec<JoinHandle<()>>,
    clock: Clock,
}

/// What a proxy stands between.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// Where the robot is.
    pub robot: Host,
    /// The address of this machine at which a station finds it, as if it were the robot.
    pub bind: IpAddr,
    /// The address of this machine at which the robot's answers come, if not the one that comes by itself.
    pub answers: Option<IpAddr>,
    /// The robot's ports.
    pub ports: Ports,
    /// Those at which a station finds it.
    pub front: Ports,
}

/// The robot and the station are on this machine.
impl Default for ProxyOptions {
    fn default() -> Self {
        let (ports, front) = (Ports::default(), Ports::default());
        Self { robot: Host::Unsaid, bind: Ipv4Addr::LOCALHOST.into(), answers: None, ports, front }
    }
}

impl ProxyOptions {
    /// Whether what is sent to a robot at this address would come back to the proxy.
    fn is_itself(&self, robot: IpAddr) -> bool {
        // What can be bound is an address of this machine.
        let here = || robot == self.bind || self.bind.is_unspecified() && UdpSocket::bind((robot, 0)).is_ok();
        self.front.datagrams == self.ports.datagrams && here()
    }
}

/// How it goes.
#[derive(Clone, Debug, Default)]
pub struct ProxyView {
    /// Since the start.
    pub elapsed: Duration,
    /// The station, once it was heard.
    pub station: Option<IpAddr>,
    /// The robot, while it answers.
    pub robot: Option<IpAddr>,
    /// Whether there is a TCP link.
    pub stream: bool,
    /// What the station asks for.
    pub control: Option<ControlBits>,
    /// What the robot says of itself.
    pub status: Option<StatusBits>,
    /// Its battery, in volts.
    pub battery: Option<f64>,
    /// From the station to the robot.
    pub to_robot: Way,
    /// From the robot to the station.
    pub to_station: Way,
    /// Datagrams and links of others than the station at hand, which were not passed on.
    pub turned_away: u64,
    /// Pieces that were passed on and not recorded, because there was no time to.
    pub unrecorded: u64,
    /// Samples that were emitted.
    pub samples: u64,
    /// What was doubtful since the last time.
    pub problems: Vec<Problem>,
}

/// What went one way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// Datagrams that were passed on.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Datagrams that the system did not take.
    pub failed: u64,
    /// Bytes of the TCP link.
    pub stream_bytes: u64,
    /// How long datagrams were here, from receipt to the end of sending.
    pub delay: Spread,
}

/// What the threads of a proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    stop: AtomicBool,
    /// Whose turn it is to be the station.
    turn: Mutex<Turn>,
    robots: Mutex<Robots>,
    pub(super) to_robot: Counts,
    pub(super) to_station: Counts,
    pub(super) turned_away: AtomicU64,
    unrecorded: AtomicU64,
    pub(super) streams: AtomicU64,
    /// What moments in atomics are counted from.
    start: Instant,
    taps: SyncSender<Tapped>,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    datagrams: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
    pub(super) stream_bytes: AtomicU64,
    delay: Mutex<Histogram>,
    /// When the datagram was received that is being passed on and is not tapped yet.
    passing: Passing,
}

/// The moment of what is passed on just now, in nanoseconds since the start of a proxy plus one; 0 if there is nothing.
#[derive(Debug, Default)]
struct Passing(AtomicU64);

impl Passing {
    fn begin(&self, since_start: Duration) {
        self.0.store(nanos(since_start) + 1, Ordering::SeqCst);
    }

    fn end(&self) {
        self.0.store(0, Ordering::SeqCst);
    }

    /// The moment before it.
    fn before(&self) -> Option<Duration> {
        let begun = self.0.load(Ordering::SeqCst).checked_sub(1)?;
        Some(Duration::from_nanos(begun.saturating_sub(1)))
    }
}

/// Where the robot may be.
#[derive(Debug, Default)]
struct Robots {
    candidates: Vec<SocketAddr>,
    /// The one that answers, and when it did.
    found: Option<(SocketAddr, Instant)>,
}

impl Proxy {
    /// Takes the ports of a robot and the one to which robots answer, and passes on from then on.
    pub fn start(clock: Clock, options: &ProxyOptions) -> Result<Self, DsError> {
        DsError::check(&options.robot)?;
        let (ports, answers) = (options.ports, options.front.answers);
        let front = SocketAddr::new(options.bind, options.front.datagrams);
        let robot = match options.robot {
            Host::Ip(ip) => Some(ip),
            Host::Unsaid => Some(Ipv4Addr::LOCALHOST.into()),
            Host::Team(_) | Host::Name(_) => None,
        };
        if let Some(robot) = robot.filter(|robot| options.is_itself(*robot)) {
            return Err(DsError::Itself(SocketAddr::new(robot, ports.datagrams)));
        }
        let caller =
            Caller { host: options.robot.clone(), ports, hello: HELLO.into(), bind: options.answers, socket: None };
        let back = SocketAddr::new(caller.local(), ports.answers);
        let stream = SocketAddr::new(options.bind, options.front.stream);
        let blocking = |address| {
            let socket = UdpSocket::bind(address)?;
            socket.set_read_timeout(Some(LOOK))?;
            Ok(Arc::new(socket))
        };
        let station_side = blocking(front).map_err(DsError::bind("UDP", front, ROBOT_RUNS))?;
        let robot_side = blocking(back).map_err(DsError::bind("UDP", back, STATION_RUNS))?;
        let bound = TcpListener::bind(stream).and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        let listener = bound.map_err(DsError::bind("TCP", stream, ROBOT_RUNS))?;
        let (taps, tapped) = sync_channel(TAPS);
        let shared = Arc::new(Shared::new(taps));
        let mut proxy = Self { shared: Arc::clone(&shared), tapped, tap: Tap::default(), threads: Vec::new(), clock };
        seek(&shared, options);
        let (theirs, from, to) = (Arc::clone(&shared), Arc::clone(&station_side), Arc::clone(&robot_side));
        proxy.thread("to-robot", move || theirs.pass_to_robot(&from, &to))?;
        let theirs = Arc::clone(&shared);
        proxy.thread("to-station", move || theirs.pass_to_station(&robot_side, &station_side, answers))?;
        let local = caller.local();
        proxy.thread("streams", move || pipe::accept(&shared, &listener, ports.stream, local))?;
        Ok(proxy)
    }

    fn thread(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), DsError> {
        let started = thread::Builder::new().name(name.to_owned()).spawn(work);
        let thread = started.map_err(|error| DsError::Io { what: "cannot start a thread".to_owned(), error })?;
        self.threads.push(thread);
        Ok(())
    }

    /// Tells outputs what goes by, until `watch` has enough. It is asked every 50 ms or so.
    pub fn run(&mut self, outputs: &[&OutputThread], watch: &mut dyn FnMut(ProxyView) -> ControlFlow<()>) {
        let start = Instant::now();
        let mut next_look = start;
        let mut over = false;
        while !over {
            let now = Instant::now();
            if now >= next_look {
                next_look = now + EVERY;
                let view = self.view(start.elapsed());
                over = watch(view).is_break();
            }
            let wait = next_look.saturating_duration_since(Instant::now());
            let first = self.tapped.recv_timeout(wait).ok();
            // Before it is looked what was tapped: what is passed on from now on was received later.
            let until = self.shared.complete(Instant::now());
            let batch = self.tap.take(first.into_iter().chain(self.tapped.try_iter()), until, &self.clock);
            if !batch.is_empty() {
                let batch = Arc::new(batch);
                outputs.iter().for_each(|output| output.offer(&batch));
            }
        }
        self.stop();
        let batch = self.tap.finish(self.tapped.try_iter(), &self.clock);
        let batch = Arc::new(batch);
        outputs.iter().for_each(|output| output.offer(&batch));
        let view = self.view(start.elapsed());
        let _ = watch(view);
    }

    fn view(&mut self, elapsed: Duration) -> ProxyView {
        let shared = &self.shared;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let tap = &mut self.tap;
        ProxyView {
            elapsed,
            station: lock(&shared.turn).who(),
            robot: lock(&shared.robots).found().map(|robot| robot.ip()),
            stream: count(&shared.streams) > 0,
            control: tap.control,
            status: tap.status,
            battery: tap.battery,
            to_robot: shared.to_robot.way(),
            to_station: shared.to_station.way(),
            turned_away: count(&shared.turned_away),
            unrecorded: count(&shared.unrecorded),
            samples: tap.samples,
            problems: std::mem::take(&mut tap.problems),
        }
    }

    fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn new(taps: SyncSender<Tapped>) -> Self {
        Self {
            stop: AtomicBool::new(false),
            turn: Mutex::default(),
            robots: Mutex::default(),
            to_robot: Counts::default(),
            to_station: Counts::default(),
            turned_away: AtomicU64::new(0),
            unrecorded: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            start: Instant::now(),
            taps,
        }
    }

    fn pass_to_robot(&self, from: &UdpSocket, to: &UdpSocket) {
        self.pass(from, |bytes, sender, received| {
            if !lock(&self.turn).take(sender, received) {
                self.turned_away.fetch_add(1, Ordering::Relaxed);
                return;
            }
            self.pass_on(&self.to_robot, What::Control, bytes, received, || {
                lock(&self.robots).each(|robot| to.send_to(bytes, robot).is_ok())
            });
        });
    }

    fn pass_to_station(&self, from: &UdpSocket, to: &UdpSocket, port: u16) {
        self.pass(from, |bytes, sender, received| {
            if !lock(&self.robots).heard(sender, received) {
                return;
            }
            let station = lock(&self.turn).who();
            self.pass_on(&self.to_station, What::Status, bytes, received, || {
                station.is_some_and(|station| to.send_to(bytes, (station, port)).is_ok())
            });
        });
    }

    /// Sends a datagram on, and then hands a copy to whoever records. The answer may come, and be tapped, in between;
    /// therefore it is noted before that something is on its way.
    fn pass_on(&self, counts: &Counts, what: What, bytes: &[u8], received: Instant, send: impl FnOnce() -> bool) {
        counts.passing.begin(received.saturating_duration_since(self.start));
        counts.passed(bytes, received, send());
        self.tap(received, what, bytes);
        counts.passing.end();
    }

    /// Until when everything that was received is tapped, if that is asked at `now`: what was received before and is still
    /// being passed on was noted before anybody could answer it.
    fn complete(&self, now: Instant) -> Instant {
        let passing = [&self.to_robot, &self.to_station].into_iter().filter_map(|counts| counts.passing.before());
        passing.map(|before| self.start + before).fold(now, Instant::min)
    }

    /// Gives each datagram to `act`, until the end.
    fn pass(&self, from: &UdpSocket, act: impl Fn(&[u8], IpAddr, Instant)) {
        let mut buffer = vec![0; LARGEST];
        while !self.is_over() {
            match from.recv_from(&mut buffer) {
                Ok((n, sender)) => act(buffer.get(..n).unwrap_or_default(), sender.ip(), Instant::now()),
                Err(error) if is_late(&error) || is_passing(&error) => {}
                // A network that is gone comes back.
                Err(_) => thread::sleep(LOOK),
            }
        }
    }

    /// Hands a copy to whoever records.
    pub(super) fn tap(&self, at: Instant, what: What, bytes: &[u8]) -> bool {
        let taken = self.taps.try_send(Tapped { at, what, bytes: bytes.into() }).is_ok();
        if !taken {
            self.unrecorded.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// The robot, if it answers.
    pub(super) fn robot(&self) -> Option<IpAddr> {
        lock(&self.robots).found().map(|robot| robot.ip())
    }
}

impl Counts {
    fn passed(&self, bytes: &[u8], received: Instant, sent: bool) {
        let delay = received.elapsed();
        if !sent {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.datagrams.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        lock(&self.delay).add(nanos(delay));
    }

    fn way(&self) -> Way {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Way {
            datagrams: count(&self.datagrams),
            bytes: count(&self.bytes),
            failed: count(&self.failed),
            stream_bytes: count(&self.stream_bytes),
            delay: lock(&self.delay).spread(),
        }
    }
}

impl Robots {
    /// The one that answers.
    fn found(&self) -> Option<SocketAddr> {
        self.found.filter(|(_, last)| last.elapsed() < LOST).map(|(robot, _)| robot)
    }

    /// Does something for the one that answers, or for all that could. Whether it was done for any.
    fn each(&self, act: impl Fn(SocketAddr) -> bool) -> bool {
        match self.found() {
            Some(robot) => act(robot),
            None => self.candidates.iter().filter(|robot| act(**robot)).count() > 0,
        }
    }

    /// Whether it is the robot that was heard.
    fn heard(&mut self, from: IpAddr, now: Instant) -> bool {
        match (self.found(), self.candidates.iter().find(|robot| robot.ip() == from)) {
            (Some(found), _) if found.ip() != from => false,
            (_, Some(robot)) => {
                self.found = Some((*robot, now));
                true
            }
            (_, None) => false,
        }
    }
}

/// Finds out where a robot may be. Names are asked for again and again, each on its own thread, because that takes long.
fn seek(shared: &Arc<Shared>, options: &ProxyOptions) {
    let port = options.ports.datagrams;
    for host in options.robot.candidates() {
        if let Ok(ip) = host.parse::<IpAddr>() {
            lock(&shared.robots).candidates.push(SocketAddr::new(ip, port));
            continue;
        }
        let (shared, options) = (Arc::downgrade(shared), options.clone());
        // Without it the others are still there.
        let _ = thread::Builder::new().name("seek".to_owned()).spawn(move || {
            while let Some(shared) = shared.upgrade().filter(|shared| !shared.is_over()) {
                let found = (&*host, port).to_socket_addrs().ok();
                let found = found.and_then(|mut all| {
                    all.find(|one| one.is_ipv4() && !is_field(one.ip()) && !options.is_itself(one.ip()))
                });
                if let Some(found) = found {
                    lock(&shared.robots).candidates.push(found);
                    return;
                }
                drop(shared);
                thread::sleep(SEEK_AGAIN);
            }
        });
    }
}

/// Whether nothing came in time.
pub(super) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX - 1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pieces that may wait to be recorded: twenty seconds of both directions.
const TAPS: usize = 4096;
/// No datagram is larger.
const LARGEST: usize = 65_536;
/// How often threads look whether it is over.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// How often progress is reported.
const EVERY: Duration = Duration::from_millis(50);
/// A robot that does not answer for so long is sought among all candidates again.
const LOST: Duration = Duration::from_secs(2);
const SEEK_AGAIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::time::{Duration, Instant};

    use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Value};

    use super::{Shared, Tap, Tapped, What};
    use crate::{Batch, Clock};

    /// The verdicts on packets.
    #[derive(Default)]
    struct Verdicts {
        lost: Option<ChannelId>,
        list: Vec<bool>,
    }

    impl Sink for Verdicts {
        fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
            if channel.name == "/ds/lost" {
                self.lost = Some(id);
            }
            Ok(())
        }

        fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
            for sample in samples.iter().filter(|sample| Some(sample.channel) == self.lost) {
                self.list.push(matches!(sample.value, Value::Boolean(true)));
            }
            Ok(())
        }

        fn problem(&mut self, problem: Problem) {
            panic!("{problem}");
        }
    }

    /// A proxy without sockets, and whoever records.
    struct Between {
        shared: Shared,
        tapped: Receiver<Tapped>,
        tap: Tap,
        clock: Clock,
        verdicts: Verdicts,
    }

    impl Between {
        fn new() -> Self {
            let (taps, tapped) = sync_channel(64);
            let clock = Clock::new();
            let shared = Shared::new(taps);
            Self { shared, tapped, tap: Tap::default(), clock, verdicts: Verdicts::default() }
        }

        fn at(&self, ms: u64) -> Instant {
            self.shared.start + Duration::from_millis(ms)
        }

        fn look(&mut self, ms: u64) {
            let until = self.shared.complete(self.at(ms));
            let batch: Batch = self.tap.take(self.tapped.try_iter(), until, &self.clock);
            batch.play(&mut self.verdicts).unwrap();
        }

        fn ask(&self, sequence: u16, ms: u64, meanwhile: impl FnOnce()) {
            let [high, low] = sequence.to_be_bytes();
            let bytes = [high, low, 1, 0, 0, 0];
            self.shared.pass_on(&self.shared.to_robot, What::Control, &bytes, self.at(ms), || {
                meanwhile();
                true
            });
        }

        fn answer(&self, sequence: u16, ms: u64) {
            let [high, low] = sequence.to_be_bytes();
            let bytes = [high, low, 1, 0, 0, 12, 0, 0];
            self.shared.pass_on(&self.shared.to_station, What::Status, &bytes, self.at(ms), || true);
        }
    }

    #[test]
    fn an_answer_that_is_tapped_before_its_question_is_an_answer() {
        let mut between = Between::new();
        between.ask(1, 1, || {});
        between.answer(1, 2);
        between.look(3);
        for n in 2..20 {
            let ms = 20 * u64::from(n);
            // The thread that passes on to the robot does not run again before the answer was tapped.
            between.ask(n, ms, || between.answer(n, ms + 1));
            between.look(ms + 2);
        }
        between.look(2_000);
        assert_eq!(between.verdicts.list, vec![false; 19]);
    }

    #[test]
    fn whoever_records_waits_for_what_is_being_passed_on() {
        let mut between = Between::new();
        between.ask(1, 1, || {});
        between.answer(1, 2);
        between.look(3);
        let samples = between.tap.samples;
        // The question is on its way when the answer is tapped and somebody looks, long after.
        between.shared.to_robot.passing.begin(Duration::from_millis(20));
        between.answer(2, 21);
        between.look(900);
        assert_eq!(between.tap.samples, samples);
        between.ask(2, 20, || {});
        between.look(2_000);
        assert_eq!(between.verdicts.list, [false, false]);
    }
}
