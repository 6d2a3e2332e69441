//! How long it takes to fetch a recording from an emulated board: over TCP with several requests on their way, over a
//! pseudo-terminal, and over one that is as slow as a real serial port.
#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::fs;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use logpose_live::refloat::session::ClientOptions;
use logpose_live::refloat::{BoardLink, BoardPlace, BoardRunner, FetchOptions, LinkOptions};
use logpose_live::{Address, Join, LinkStats, Live};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Scenario, simulate};

const WINDOWS: [usize; 4] = [1, 2, 4, 8];
const BAUD: u32 = 115_200;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "one recording, best of {ROUNDS}; the bound is bytes * 10 / baud, both ways one after the other or at once"
    );
    println!(
        "{:34} {:>6} {:>9} {:>9} {:>10} {:>9} {:>9} {:>8}",
        "link", "window", "samples", "time", "samples/s", "trip", "bound", "of it"
    );
    let tcp = || BoardPlace::Tcp((Ipv4Addr::LOCALHOST, 0).into());
    let terminal = || BoardPlace::Terminal { link: None };
    let late = LineOptions { delay: Duration::from_millis(20), ..LineOptions::default() };
    let paced = LineOptions { baud: Some(BAUD), ..LineOptions::default() };
    for window in WINDOWS {
        measure("tcp", tcp(), LineOptions::default(), window, ROUNDS)?;
    }
    for window in WINDOWS {
        measure("tcp, replies 20 ms late", tcp(), late.clone(), window, ROUNDS)?;
    }
    for window in WINDOWS {
        measure("pseudo-terminal", terminal(), LineOptions::default(), window, ROUNDS)?;
    }
    for window in WINDOWS {
        measure("pseudo-terminal at 115200", terminal(), paced.clone(), window, 1)?;
    }
    Ok(())
}

fn measure(
    name: &str,
    place: BoardPlace,
    line: LineOptions,
    window: usize,
    rounds: usize,
) -> Result<(), Box<dyn Error>> {
    let baud = line.baud;
    let board = Board::start(place, line)?;
    let client = ClientOptions { window: Some(window), ..ClientOptions::default() };
    let link = BoardLink::new(&board.address, LinkOptions { client, ..LinkOptions::default() })?;
    let folder = tempfile::tempdir()?;
    let mut best: Option<(Duration, u32, Duration, (u64, u64))> = None;
    for round in 0..rounds {
        let path = folder.path().join(format!("{round}.rfrec"));
        let before = board.bytes();
        let (samples, time, trip) = fetch(&link, &path)?;
        let after = board.bytes();
        let bytes = (after.0 - before.0, after.1 - before.1);
        if best.is_none_or(|(fastest, ..)| time < fastest) {
            best = Some((time, samples, trip, bytes));
        }
        fs::remove_file(&path)?;
    }
    let Some((time, samples, trip, (asked, answered))) = best else { return Ok(()) };
    // Requests and replies go one after the other with one request on its way, and at once with more.
    let bits = 10 * if window == 1 { asked + answered } else { asked.max(answered) };
    let bound = baud.map(|baud| Duration::from_micros(bits * 1_000_000 / u64::from(baud)));
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    println!(
        "{name:34} {window:>6} {samples:>9} {:>9} {:>10.0} {:>9} {:>9} {:>8}",
        ms(time),
        f64::from(samples) / time.as_secs_f64(),
        ms(trip),
        bound.map_or(String::new(), ms),
        bound.map_or(String::new(), |bound| format!("{:.2}x", time.as_secs_f64() / bound.as_secs_f64())),
    );
    Ok(())
}

/// Fetches, and prints how long it took from the connection to the last byte in the file.
fn fetch(link: &BoardLink, path: &Path) -> Result<(u32, Duration, Duration), Box<dyn Error>> {
    let start = Instant::now();
    let fetched = link.fetch(path, &FetchOptions::default(), &mut |_| ControlFlow::Continue(()))?;
    let trip = fetched.view.fetch.and_then(|fetch| fetch.round_trip).unwrap_or_default();
    Ok((fetched.samples, start.elapsed(), trip))
}

struct Board {
    address: Address,
    stats: Arc<LinkStats>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    fn start(place: BoardPlace, line: LineOptions) -> Result<Self, Box<dyn Error>> {
        let live = Live::new()?;
        let recording = Some(simulate(Scenario::Ride, BoardVersion::V1_3, 1));
        let options = BoardOptions { version: BoardVersion::V1_3, recording, ..BoardOptions::default() };
        let runner = BoardRunner::new(&live, place, BoardSession::new(options, line))?;
        let address = Address::parse(&runner.handle().address())?;
        let source = runner.into_source();
        let (stats, stop): (_, Arc<AtomicBool>) = (source.stats(), Arc::default());
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            live.listen(vec![source], Join::single(), &[], &mut |_| match stopped.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
        });
        Ok(Self { address, stats, stop, thread: Some(thread) })
    }

    /// Bytes that it has received and sent.
    fn bytes(&self) -> (u64, u64) {
        let figures = self.stats.figures();
        (figures.received, figures.sent)
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
