//! The server of the viewer on a large log, over HTTP on loopback: how long opening takes, the first time and with what was
//! kept, and how many requests it answers, and how fast.
//!
//! `view [LOG [SECONDS]]`; without a log, or if it is not there, one of 1 GB is generated. Each row of the table ends after
//! so many seconds (4) or 5,000 requests.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a measuring program prints, and ends where something is not as it should be"
)]

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use logpose::{Browse, Cache, ClockMap, Log, OpenOptions, Quiet};
use logpose_bench::meter::Memory;
use logpose_core::Type;
use logpose_server::{Options, Server, Session};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().map_or_else(|| PathBuf::from("target/bench/data/wpilog-big.wpilog"), PathBuf::from);
    let seconds = args.next().map_or(4, |text| text.parse().expect("view [LOG [SECONDS]]"));
    if !path.exists() {
        generate(&path);
    }
    let cache = tempfile::tempdir().unwrap();
    let options = OpenOptions {
        cache: Cache::Folder(cache.path().to_owned()),
        light_from: u64::MAX,
        cache_after: Duration::ZERO,
        ..OpenOptions::default()
    };
    println!("{}: {} MB", path.display(), std::fs::metadata(&path).unwrap().len() / 1_000_000);
    drop(open("opened, nothing kept", &path, &options));
    let browse = open("opened again", &path, &options);
    let log = browse.log();
    println!("{} channels, {} samples", log.index.channels.len(), log.index.samples());
    let doubles = (0..log.index.channels.len()).filter(|id| log.index.channels[*id].channel.ty() == Type::Double);
    let channels: Vec<usize> = doubles.take(300).collect();
    let mut session = Session::new();
    session.add(browse, ClockMap::default());
    let server = Server::start(session, &Options::default()).unwrap();
    let mut client = Client::new(server.address());
    let about: serde_json::Value = serde_json::from_slice(&client.get("/api/session")).unwrap();
    let range = (about["start"].as_f64().unwrap(), about["end"].as_f64().unwrap());
    let load = Load { address: server.address(), channels, range, seconds };
    println!("range: {:.0} s\n", range.1 - range.0);
    println!(
        "{:<52} {:>7} {:>9} {:>10} {:>9} {:>9} {:>9} {:>9}",
        "request", "clients", "requests", "a second", "p50 ms", "p99 ms", "most ms", "kB each"
    );
    for clients in [1, 4] {
        load.run("pixels, 1 series, whole range, 1600 wide", clients, |load, _| load.pixels(1, load.range));
        load.run("pixels, 10 series, whole range, 1600 wide", clients, |load, _| load.pixels(10, load.range));
        load.run("pixels, 1 series, panned and zoomed at random", clients, |load, random| {
            load.pixels(1, load.anywhere(random))
        });
        load.run("pixels, 10 series, panned and zoomed at random", clients, |load, random| {
            load.pixels(10, load.anywhere(random))
        });
        load.run("values, 300 references, any time", clients, |load, random| load.values(random));
    }
    let memory = Memory::now();
    println!(
        "\nmemory: {} MB of its own, {} MB at most with the pages of files",
        memory.anonymous / 1_000_000,
        memory.peak / 1_000_000
    );
    server.stop();
}

/// Makes the log with the program beside this one.
fn generate(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let program = std::env::current_exe().unwrap().with_file_name("generate");
    let status = Command::new(program).arg("wpilog-big").arg(path).status();
    assert!(status.is_ok_and(|status| status.success()), "no log found, and no `generate` to make one");
}

/// Opens a log, prepares its overview, and returns how long that took.
fn open(what: &str, path: &Path, options: &OpenOptions) -> Browse {
    let start = Instant::now();
    let log = Log::open_with(path, options, &Quiet).unwrap();
    let indexed = start.elapsed();
    let browse = Browse::new(Arc::new(log), &Quiet).unwrap();
    let whole = start.elapsed();
    println!("{what}: index {:.3} s, pyramids {:.3} s", indexed.as_secs_f64(), (whole - indexed).as_secs_f64());
    browse
}

struct Load {
    address: SocketAddr,
    channels: Vec<usize>,
    range: (f64, f64),
    seconds: u64,
}

/// A path and a body.
type Request = (&'static str, String);

impl Load {
    fn pixels(&self, series: usize, (start, end): (f64, f64)) -> Request {
        let step = self.channels.len() / series;
        let series = self.references(self.channels.iter().step_by(step).take(series));
        ("/api/pixels", format!(r#"{{"start":{start},"end":{end},"width":1600,"series":[{series}]}}"#))
    }

    fn values(&self, random: &mut Random) -> Request {
        let t = self.range.0 + (self.range.1 - self.range.0) * random.next();
        ("/api/values", format!(r#"{{"time":{t},"series":[{}]}}"#, self.references(self.channels.iter())))
    }

    fn references<'c>(&self, channels: impl Iterator<Item = &'c usize>) -> String {
        let mut text = String::new();
        for channel in channels {
            let comma = if text.is_empty() { "" } else { "," };
            let _ = write!(text, r#"{comma}{{"log":0,"channel":{channel}}}"#);
        }
        text
    }

    /// From the whole range to a hundred-thousandth of it, every magnitude as often.
    fn anywhere(&self, random: &mut Random) -> (f64, f64) {
        let whole = self.range.1 - self.range.0;
        let part = whole * 10_f64.powf(-5.0 * random.next());
        let start = self.range.0 + (whole - part) * random.next();
        (start, start + part)
    }

    /// Asks from several connections at once, and prints a row.
    fn run(&self, what: &str, clients: usize, request: impl Fn(&Self, &mut Random) -> Request + Sync) {
        let (begin, asked) = (Instant::now(), AtomicUsize::new(0));
        let ask = |seed: u64| {
            let (mut client, mut random, mut seen) = (Client::new(self.address), Random(seed), Vec::new());
            while begin.elapsed().as_secs() < self.seconds && asked.fetch_add(1, Ordering::Relaxed) < MOST {
                let (path, body) = request(self, &mut random);
                let start = Instant::now();
                let answer = client.post(path, &body);
                seen.push((start.elapsed(), answer.len()));
            }
            seen
        };
        let seen: Vec<Vec<(Duration, usize)>> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..clients as u64).map(|seed| scope.spawn(move || ask(seed + 1))).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let wall = begin.elapsed().as_secs_f64();
        let bytes: usize = seen.iter().flatten().map(|(_, bytes)| bytes).sum();
        let mut times: Vec<Duration> = seen.into_iter().flatten().map(|(time, _)| time).collect();
        times.sort_unstable();
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
        println!(
            "{what:<52} {clients:>7} {:>9} {:>10.0} {:>9.2} {:>9.2} {:>9.2} {:>9.1}",
            times.len(),
            times.len() as f64 / wall,
            at(0.5),
            at(0.99),
            at(1.0),
            bytes as f64 / times.len() as f64 / 1e3
        );
    }
}

/// A connection that stays open.
struct Client {
    stream: BufReader<TcpStream>,
    host: SocketAddr,
}

impl Client {
    fn new(host: SocketAddr) -> Self {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::with_capacity(1 << 16, stream), host }
    }

    fn get(&mut self, path: &str) -> Vec<u8> {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host))
    }

    fn post(&mut self, path: &str, body: &str) -> Vec<u8> {
        let kind = "Content-Type: application/json";
        let len = body.len();
        self.ask(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{kind}\r\nContent-Length: {len}\r\n\r\n{body}",
            self.host
        ))
    }

    fn ask(&mut self, request: &str) -> Vec<u8> {
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut line, mut length, mut status) = (String::new(), 0, None);
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            let text = line.trim_end();
            if text.is_empty() {
                break;
            }
            status.get_or_insert_with(|| text.to_owned());
            if let Some((name, value)) = text.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        let status = status.unwrap_or_default();
        assert!(status.contains(" 200 "), "{status}: {}", String::from_utf8_lossy(&body));
        body
    }
}

/// splitmix64, from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Requests of one row.
const MOST: usize = 5000;
