//! One server and many clients on loopback: whether all get every cycle, how late, and what it costs.
//!
//! The server is a process of its own, so that its processor time and memory are its own. Everything ends after a fixed
//! number of cycles. `live [CLIENTS [HZ [FIELDS [SECONDS]]]]`, as in `live 500 50 300 10`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a measuring program prints, and ends where something is not as it should be"
)]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use logpose_core::{Channel, Sample, Sink, Time, Value};
use logpose_live::{Address, Batch, Live, OutputThread, ServerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

#[derive(Clone, Copy)]
struct Load {
    clients: usize,
    hz: u32,
    fields: u32,
    seconds: u32,
}

impl Load {
    fn cycles(self) -> u32 {
        self.hz * self.seconds
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let serves = args.first().is_some_and(|word| word == "serve");
    let number = |at: usize, usual: u32| {
        let text = args.get(at + usize::from(serves));
        text.map_or(usual, |text| text.parse().expect("live [CLIENTS [HZ [FIELDS [SECONDS]]]]"))
    };
    let load =
        Load { clients: number(0, 500) as usize, hz: number(1, 50), fields: number(2, 300), seconds: number(3, 10) };
    if serves { serve(load) } else { measure(load) }
}

/// The server: waits for all clients, publishes its cycles, prints what it cost.
fn serve(load: Load) {
    let live = Live::new().unwrap();
    let options = ServerOptions { queue_bytes: QUEUE, clients: load.clients + 10, ..ServerOptions::default() };
    let server = live.serve(&Address::parse("rlog://127.0.0.1:0").unwrap(), &options).unwrap();
    let (address, stats, clock) = (server.address(), server.stats(), live.clock());
    let output = OutputThread::start("server", Box::new(server), clock).unwrap();
    println!("{address}");
    let deadline = Instant::now() + Duration::from_secs(30);
    while stats.figures().open < load.clients as u64 + 1 {
        assert!(Instant::now() < deadline, "not all clients came");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (busy, start) = (processor_seconds(), Instant::now());
    for cycle in 0..load.cycles() {
        let due = start + Duration::from_secs(1) * cycle / load.hz;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let now = clock.now();
        let mut batch = Batch::new(now);
        for id in (0..load.fields).filter(|_| cycle == 0) {
            batch.channel(id, &Channel::new(format!("/Field/Number{id}"), "double")).unwrap();
        }
        let value = |id| Value::Double(f64::from(cycle) + f64::from(id));
        let samples: Vec<_> = (0..load.fields).map(|id| Sample { channel: id, time: now, value: value(id) }).collect();
        batch.samples(&samples).unwrap();
        assert!(output.give(Arc::new(batch)));
    }
    std::thread::sleep(Duration::from_millis(500));
    let wall = start.elapsed().as_secs_f64();
    let figures = stats.figures();
    println!(
        "{:.3} {:.3} {} {} {} {}",
        processor_seconds() - busy,
        wall,
        peak_memory(),
        figures.sent,
        figures.cut_off,
        figures.open
    );
    // Until the clients have read what is on its way.
    let _ = std::io::stdin().read(&mut [0]);
}

fn measure(load: Load) {
    let numbers = [load.clients, load.hz as usize, load.fields as usize, load.seconds as usize].map(|n| n.to_string());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .args(&numbers)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.next().unwrap().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let busy = processor_seconds();
    let clients: Vec<_> = (0..load.clients).map(|_| runtime.spawn(client(address.clone(), load.cycles()))).collect();
    let stalled = runtime.spawn(stalled(address.clone()));
    let mut latencies = Vec::new();
    let mut cycles: Vec<usize> = Vec::new();
    for client in clients {
        let seen = runtime.block_on(client).unwrap();
        cycles.push(seen.len());
        latencies.extend(seen);
    }
    let busy = processor_seconds() - busy;
    let server: Vec<String> = lines.next().unwrap().unwrap().split(' ').map(str::to_owned).collect();
    drop(child.stdin.take());
    let _ = child.wait();
    stalled.abort();
    latencies.sort_unstable();
    let at = |part: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        let place = ((latencies.len() as f64 - 1.0) * part) as usize;
        latencies[place] as f64 / 1e6
    };
    let number = |at: usize| server[at].parse::<f64>().unwrap();
    println!("clients {} (and one that never reads), {} Hz, {} fields", load.clients, load.hz, load.fields);
    println!(
        "cycles {} sent; clients got {} to {} of them",
        load.cycles(),
        cycles.iter().min().unwrap(),
        cycles.iter().max().unwrap()
    );
    println!("latency p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", at(0.5), at(0.99), at(1.0));
    println!(
        "server: {:.0} % of one core, {:.0} MB at most, {:.0} MB sent, {} cut off, {} open at the end",
        100.0 * number(0) / number(1),
        number(2) / 1e6,
        number(3) / 1e6,
        server[4],
        server[5]
    );
    println!("clients: {:.0} % of one core", 100.0 * busy / number(1));
    let all = cycles.iter().all(|n| *n == load.cycles() as usize);
    if !all || server[4] != "1" {
        println!("NOT as it should be");
        std::process::exit(1);
    }
}

/// Reads until it has all cycles: how late each came, in nanoseconds.
async fn client(address: String, cycles: u32) -> Vec<u64> {
    let (mut reader, mut writer) = connect(&address).await.into_split();
    let beats = tokio::spawn(async move {
        while writer.write_all(&logpose_rlog::HEARTBEAT).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut seen = Vec::with_capacity(cycles as usize);
    let mut frame = Vec::new();
    let mut newcomer = true;
    while seen.len() < cycles as usize {
        let mut length = [0; 4];
        if reader.read_exact(&mut length).await.is_err() {
            break;
        }
        frame.resize(u32::from_be_bytes(length) as usize, 0);
        if reader.read_exact(&mut frame).await.is_err() {
            break;
        }
        if frame.is_empty() || std::mem::take(&mut newcomer) {
            continue;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let sent = f64::from_be_bytes(frame[1..9].try_into().unwrap());
        seen.push(Time::from_seconds((now - sent).max(0.0)).unwrap().nanos().unsigned_abs());
    }
    beats.abort();
    seen
}

/// Never reads, but shows that it is there.
async fn stalled(address: String) {
    let mut socket = connect(&address).await;
    while socket.write_all(&logpose_rlog::HEARTBEAT).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn connect(address: &str) -> tokio::net::TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    socket.connect(address.parse().unwrap()).await.unwrap()
}

/// Processor time of this process, in seconds.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// The most memory that this process had, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// What may wait for a client here: two and a half seconds of cycles.
const QUEUE: usize = 512 << 10;
