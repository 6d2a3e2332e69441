//! Robots on loopback, somebody who looks at them, and a page that listens.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use logpose::ClockMap;
use logpose_core::{Channel, Sample, Sink, Time, Value};
use logpose_live::{Address, Batch, Join, Live, Output, OutputThread, ServerOptions, Source};
use logpose_server::{LiveClock, LiveLog, LiveOptions, Options, Server, Session};
pub(crate) use logpose_testkit::{ms, until};
use serde_json::{Value as Json, json};

use crate::support::{Batch as Frame, Client};

/// A robot that serves the samples of a test.
pub(crate) struct Robot {
    pub(crate) address: String,
    output: OutputThread,
    _live: Live,
}

impl Robot {
    /// One at an address such as `rlog://127.0.0.1:0`.
    pub(crate) fn start(address: &str) -> Self {
        let live = Live::new().unwrap();
        let address = Address::parse(address).unwrap();
        let server = live.serve(&address, &ServerOptions::default()).unwrap();
        let address = format!("{}://{}", address.speech.scheme(), server.address());
        let output = OutputThread::start("robot", Box::new(server), live.clock()).unwrap();
        Self { address, output, _live: live }
    }

    pub(crate) fn send(&self, batch: Batch) {
        assert!(self.output.give(Arc::new(batch)));
    }

    pub(crate) fn stop(self) {
        self.output.finish().unwrap();
    }
}

/// What happened at a time, for one who builds it line by line.
pub(crate) fn batch(channels: &[(u32, &str, &str)], samples: &[(u32, Time, Value<'_>)]) -> Batch {
    let mut batch = Batch::new(samples.first().map_or(Time::ZERO, |(_, time, _)| *time));
    for (id, name, type_name) in channels {
        batch.channel(*id, &Channel::new(*name, *type_name)).unwrap();
    }
    for (channel, time, value) in samples {
        batch.samples(&[Sample { channel: *channel, time: *time, value: *value }]).unwrap();
    }
    batch
}

pub(crate) fn log(address: &str, clock: LiveClock) -> LiveLog {
    let folder: PathBuf = std::env::temp_dir();
    let address = Address::parse(address).unwrap();
    let name = address.to_string();
    LiveLog::new(&LiveOptions { name, address, clock, folder, limit: u64::MAX, keep_free: 0 }).unwrap()
}

/// A log that is fed by hand, and a server over it.
pub(crate) fn fed() -> (LiveLog, Box<dyn Output>, Client) {
    let log = log("rlog://127.0.0.1:9", LiveClock::Own);
    let (output, client) = (log.output(), client(&[&log]));
    (log, output, client)
}

pub(crate) fn client(logs: &[&LiveLog]) -> Client {
    let mut session = Session::new();
    for log in logs {
        session.add_live(log.log(), ClockMap::default());
    }
    Client::new(Server::start(session, &Options::default()).unwrap())
}

/// Somebody who listens to sources and looks at them.
pub(crate) struct Viewer {
    pub(crate) client: Client,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Viewer {
    pub(crate) fn start(addresses: &[&str]) -> Self {
        let live = Live::new().unwrap();
        let clock = if addresses.len() > 1 { LiveClock::Common(live.clock().now()) } else { LiveClock::Own };
        let logs: Vec<LiveLog> = addresses.iter().map(|address| log(address, clock)).collect();
        let client = client(&logs.iter().collect::<Vec<_>>());
        let stop: Arc<AtomicBool> = Arc::default();
        let stopped = Arc::clone(&stop);
        let sources = addresses.iter().map(|text| Source::new(&Address::parse(text).unwrap(), "test").unwrap());
        let sources: Vec<Source> = sources.collect();
        let thread = thread::spawn(move || {
            let threads = logs.iter().map(|log| OutputThread::start("viewer", log.output(), live.clock()).unwrap());
            let threads: Vec<OutputThread> = threads.collect();
            let names: Vec<String> = (0..sources.len()).map(|n| n.to_string()).collect();
            let join = Join::several(&names, live.clock().now());
            live.listen_to_each(sources, &threads.iter().collect::<Vec<_>>(), join, &[], &mut |progress| {
                logs.iter().zip(&progress.sources).for_each(|(log, source)| log.set_progress(source));
                if stopped.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        });
        Self { client, stop, thread: Some(thread) }
    }

    /// The number of a channel, once it is there.
    pub(crate) fn channel(&self, log: usize, name: &str) -> u64 {
        until(name, || {
            let all = self.client.got(&format!("/api/logs/{log}/channels"));
            let channels = all["channels"].as_array().unwrap().clone();
            channels.iter().find(|channel| channel["name"] == name).map(|channel| channel["id"].as_u64().unwrap())
        })
    }

    pub(crate) fn state(&self, log: usize) -> String {
        self.client.got("/api/session")["logs"][log]["state"].as_str().unwrap().to_owned()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// All samples of a series, as they are drawn.
pub(crate) fn drawn(client: &Client, reference: &Json, start: f64, end: f64) -> Vec<(f64, f64)> {
    let query = json!({"start": start, "end": end, "width": 8192, "series": [reference]});
    let frame = client.arrow("/api/pixels", &query);
    frame.column("start").into_iter().zip(frame.column("last")).collect()
}

/// A page that listens.
pub(crate) struct Page {
    stream: TcpStream,
}

/// One message that the server sent to the page.
pub(crate) enum PageMessage {
    Text(Json),
    Frame(Frame),
    Closed,
}

impl Page {
    pub(crate) fn open(client: &Client) -> Self {
        let mut stream = TcpStream::connect(client.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!(
            "GET /api/live HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
            client.address()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        Self { stream }
    }

    pub(crate) fn say(&mut self, text: &str) {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        // Masked with zeros, which changes nothing.
        let frame = [&[0x81, 0x80 | 126], &length[..], &[0; 4], text.as_bytes()].concat();
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn subscribe(&mut self, references: &[Json], rate: u32) {
        self.say(&json!({"subscribe": references, "rate": rate}).to_string());
    }

    /// The next message; pings are passed over.
    pub(crate) fn next(&mut self) -> PageMessage {
        loop {
            let mut head = [0; 2];
            if self.stream.read_exact(&mut head).is_err() {
                return PageMessage::Closed;
            }
            let length = match head[1] {
                126 => u64::from(u16::from_be_bytes(self.take())),
                127 => u64::from_be_bytes(self.take()),
                short => u64::from(short),
            };
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut body).unwrap();
            match head[0] & 15 {
                1 => return PageMessage::Text(serde_json::from_slice(&body).unwrap()),
                2 => return PageMessage::Frame(Frame::of(&body)),
                8 => return PageMessage::Closed,
                _ => {}
            }
        }
    }

    /// The next samples.
    pub(crate) fn frame(&mut self) -> Frame {
        loop {
            match self.next() {
                PageMessage::Frame(frame) => return frame,
                PageMessage::Text(_) => {}
                PageMessage::Closed => panic!("it was closed"),
            }
        }
    }

    /// The next tick.
    pub(crate) fn tick(&mut self) -> Json {
        loop {
            if let PageMessage::Text(text) = self.next()
                && !text["tick"].is_null()
            {
                return text["tick"].clone();
            }
        }
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }
}

impl Page {
    /// Sends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }
}
