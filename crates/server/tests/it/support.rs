//! Demo logs, a server over them, and a client that sends exactly what a test asks for.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use logpose::{Browse, ClockMap, Log, OpenOptions, Quiet};
use logpose_demo::DemoOptions;
use logpose_server::{Options, Server, Session};
pub(crate) use logpose_testkit::fixture;
use logpose_testkit::kept;
use serde_json::{Value, json};

/// The demo logs of a short match.
pub(crate) fn demo() -> &'static [PathBuf] {
    static DEMO: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        let dir = kept(env!("CARGO_TARGET_TMPDIR"), "server-demo", |dir| {
            logpose_demo::demo(dir, &DemoOptions { teleop_s: 1, force: false }).unwrap();
        });
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
    });
    &DEMO
}

pub(crate) fn named(name: &str) -> PathBuf {
    demo().iter().find(|path| path.ends_with(name)).unwrap().clone()
}

pub(crate) const FRC: &str = "FRC_20260321_142233_DEMO_Q12.wpilog";

pub(crate) fn open(path: &Path) -> Arc<Log> {
    Arc::new(Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap())
}

pub(crate) fn session(logs: &[(Arc<Log>, ClockMap)]) -> Session {
    let mut session = Session::new();
    for (log, clock) in logs {
        session.add(Browse::new(Arc::clone(log), &Quiet).unwrap(), *clock);
    }
    session
}

/// A server over one log.
pub(crate) fn serve(log: &Arc<Log>) -> Client {
    serve_all(&[(Arc::clone(log), ClockMap::default())])
}

pub(crate) fn serve_all(logs: &[(Arc<Log>, ClockMap)]) -> Client {
    Client::new(Server::start(session(logs), &Options::default()).unwrap())
}

pub(crate) struct Client {
    pub server: Server,
}

pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    /// Code and status of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let json = self.json();
        assert!(json["error"]["message"].as_str().is_some_and(|message| !message.is_empty()));
        (self.status, json["error"]["code"].as_str().unwrap().to_owned())
    }
}

impl Client {
    pub(crate) fn new(server: Server) -> Self {
        Self { server }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Sends bytes as they are, and reads what comes until the server hangs up.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that refuses need not read all of it.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": ")).map(|(a, b)| (a.to_lowercase(), b.to_owned()));
        Answer { status, headers: headers.collect(), body: bytes[end + 4..].to_vec() }
    }

    /// A request with these lines in its head; `{host}` is the server's.
    pub(crate) fn request(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for line in lines {
            head.push_str(&line.replace("{host}", &self.address().to_string()));
            head.push_str("\r\n");
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.raw(&[head.as_bytes(), body].concat())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &["Host: {host}"], b"")
    }

    pub(crate) fn post_text(&self, path: &str, body: &str) -> Answer {
        self.request("POST", path, &["Host: {host}", "Content-Type: application/json"], body.as_bytes())
    }

    /// What a request that must go well is answered with.
    pub(crate) fn got(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    pub(crate) fn ask(&self, path: &str, query: &Value) -> Answer {
        let answer = self.post_text(path, &query.to_string());
        assert_eq!(answer.status, 200, "{path} {query}: {}", String::from_utf8_lossy(&answer.body));
        answer
    }

    pub(crate) fn json(&self, path: &str, query: &Value) -> Value {
        self.ask(path, query).json()
    }

    pub(crate) fn arrow(&self, path: &str, query: &Value) -> Batch {
        Batch::of(&self.ask(path, query).body)
    }
}

/// An Arrow stream of one batch.
pub(crate) struct Batch(pub RecordBatch);

impl Batch {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut batches: Vec<RecordBatch> = StreamReader::try_new(bytes, None).unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        Self(batches.remove(0))
    }

    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        self.0.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec()
    }

    /// The same where nulls may be.
    pub(crate) fn options(&self, name: &str) -> Vec<Option<f64>> {
        self.0.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
    }

    pub(crate) fn series(&self) -> Vec<u16> {
        let column = self.0.column_by_name("series").unwrap();
        assert_eq!(column.null_count(), 0);
        column.as_primitive::<arrow_array::types::UInt16Type>().values().to_vec()
    }

    pub(crate) fn about(&self, key: &str) -> Value {
        serde_json::from_str(self.0.schema().metadata().get(key).unwrap()).unwrap()
    }
}

/// A reference to a channel of log 0.
pub(crate) fn reference(log: &Log, name: &str, path: &str) -> Value {
    json!({"log": 0, "channel": log.channel(name).unwrap_or_else(|| panic!("{name}")), "path": path})
}

/// All numbers of a channel, read as columns: another way than the server's.
pub(crate) fn numbers(log: &Log, name: &str, path: &str) -> Vec<(f64, f64)> {
    let columns = log.columns(&[log.channel(name).unwrap()]).unwrap();
    let column = &columns.columns[0];
    let parts = logpose::FieldReader::of(&column.channel, log.schemas().registry());
    let steps = logpose::parse_path(path).unwrap();
    let mut found = Vec::new();
    logpose::in_time_order(&columns, column, |time, value| {
        let number = match parts.at(value, &steps) {
            Some(logpose::ScalarValue::Boolean(on)) => f64::from(u8::from(on)),
            part => part.and_then(|part| part.number()).unwrap_or(f64::NAN),
        };
        found.push((time.seconds(), number));
    });
    found
}
