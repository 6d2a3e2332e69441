//! The viewer's command: what it serves, to whom, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
#[cfg(unix)]
use std::time::{Duration, Instant};

use logpose_testkit::until;
use serde_json::Value;

use crate::run::{SHARED, code, folder, logpose, stderr, stdout, typed};

/// A viewer that runs, and is killed when it is no longer needed.
struct Viewer {
    child: Child,
    url: String,
}

impl Viewer {
    fn start(dir: &Path, line: &str) -> Self {
        let mut child = logpose(dir)
            .args(format!("open {line} --no-browser --json").split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut first).unwrap();
        let ready: Value = serde_json::from_str(&first).unwrap_or_else(|_| panic!("{line}: {first:?}"));
        assert_eq!(ready["pid"], child.id());
        Self { child, url: ready["url"].as_str().unwrap().to_owned() }
    }

    /// Host and port.
    fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    fn get(&self, path: &str, lines: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let host = if lines.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.host()) };
        write!(stream, "GET {path} HTTP/1.1\r\n{host}Connection: close\r\n{lines}\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn post(&self, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        let (host, length) = (self.host(), body.len());
        let head = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n");
        write!(stream, "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn session(&self) -> Value {
        let (status, body) = self.get("/api/session", "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Ends it as Ctrl-C does; the answer is its exit code and how long that took.
    #[cfg(unix)]
    fn interrupt(mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let status = until("it ends", || self.child.try_wait().unwrap());
        (status.code(), begun.elapsed())
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_layout_is_given_to_the_page_or_refused() {
    let dir = folder();
    let layout = dir.path().join("drive.json");
    std::fs::write(&layout, r#"{"version": 1, "tabs": []}"#).unwrap();
    let line = |path: &Path| format!("match.wpilog --layout {}", path.display());
    let viewer = Viewer::start(&SHARED, &line(&layout));
    let (status, body) = viewer.get("/api/layouts", "");
    let reply: Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, &reply["given"]["name"], &reply["kept"]), (200, &"drive.json".into(), &false.into()));
    assert_eq!(reply["given"]["layout"]["version"], 1);
    std::fs::write(&layout, "{").unwrap();
    for (path, reason) in [(&*layout, "not JSON"), (&dir.path().join("missing.json"), "No such file"), (dir.path(), "")]
    {
        let output = typed(&SHARED, &format!("logpose open {} --no-browser --duration 50ms", line(path)));
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        assert!(stderr(&output).contains(reason) && stderr(&output).contains(&path.display().to_string()));
    }
}

#[cfg(unix)]
#[test]
fn logs_are_served_until_ctrl_c() {
    let viewer = Viewer::start(&SHARED, "match.wpilog match.wpilog");
    let session = viewer.session();
    assert_eq!(session["logs"].as_array().map(Vec::len), Some(2), "{session}");
    assert_eq!(session["logs"][0]["name"], "match.wpilog");
    assert_eq!(viewer.get("/", "").0, 200);
    // Somebody listens, and somebody else is in the middle of a request.
    let mut page = TcpStream::connect(viewer.host()).unwrap();
    let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let host = viewer.host();
    write!(
        page,
        "GET /api/live HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}\r\n\r\n"
    )
    .unwrap();
    assert_eq!(page.read(&mut [0; 12]).unwrap(), 12);
    let mut half = TcpStream::connect(viewer.host()).unwrap();
    half.write_all(b"POST /api/pixels HTTP/1.1\r\nContent-Length: 1000\r\n").unwrap();
    let (code, took) = viewer.interrupt();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn only_its_own_page_may_ask() {
    let viewer = Viewer::start(&SHARED, "match.wpilog --host pit.local");
    let port = viewer.host().split(':').nth(1).unwrap();
    assert!(viewer.host().starts_with("127.0.0.1:") && !viewer.url.contains("token"));
    let asked = |lines: &str| viewer.get("/api/session", lines).0;
    assert_eq!(asked(&format!("Host: pit.local:{port}\r\n")), 200);
    assert_eq!(asked(&format!("Host: localhost:{port}\r\n")), 200);
    assert_eq!(asked(&format!("Host: evil.example:{port}\r\n")), 403);
    assert_eq!(asked("Origin: http://evil.example\r\n"), 403);
    for path in ["/../Cargo.toml", "/etc/passwd", "/api/logs/../../match.wpilog", "/%2e%2e/%2e%2e/etc/passwd"] {
        let (status, body) = viewer.get(path, "");
        assert!(status == 404 || body.contains("<html") || body.contains("<!doctype"), "{path}: {status} {body}");
        assert!(!body.contains("root:"));
    }
}

#[test]
fn beyond_this_machine_there_is_a_token() {
    // Every address that begins with 127 is this machine.
    assert!(!Viewer::start(&SHARED, "match.wpilog --bind 127.0.0.2").url.contains("token"));
    let viewer = Viewer::start(&SHARED, "match.wpilog --bind 0.0.0.0");
    let token = viewer.url.split_once("?token=").unwrap().1;
    assert!(token.len() >= 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let asked = |path: &str, lines: &str| viewer.get(path, lines).0;
    assert_eq!((asked("/", ""), asked("/api/session", ""), asked("/api/session?token=0", "")), (401, 401, 401));
    assert_eq!(asked("/api/session", &format!("Authorization: Bearer {token}\r\n")), 200);
    let other = Viewer::start(&SHARED, "match.wpilog --bind 0.0.0.0");
    assert_ne!(viewer.url.split_once("token=").unwrap().1, other.url.split_once("token=").unwrap().1);
    let output = typed(&SHARED, "logpose open match.wpilog --bind 0.0.0.0 --no-browser --duration 50ms");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stderr(&output).contains("exposed: anyone with the full address"), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 1);
}

#[test]
fn damage_is_reported_and_readable_parts_are_shown() {
    let viewer = Viewer::start(&SHARED, "truncated.wpilog");
    let log = &viewer.session()["logs"][0];
    assert!(log["samples"].as_u64() > Some(0) && log["problem_count"].as_u64() > Some(0), "{log}");
    let output = typed(&SHARED, "logpose open truncated.wpilog --no-browser --duration 50ms");
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("problem: byte"), "{}", stderr(&output));
    // One that cannot be read at all does not hide the others.
    let output = typed(&SHARED, "logpose open match.wpilog nothing.wpilog --no-browser --duration 50ms");
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).starts_with("http://"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_shown_is_said_and_what_helps() {
    let dir = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let cases = [
        ("nothing.wpilog", 1, "no such file"),
        ("folder", 1, "is a directory"),
        ("empty.wpilog", 1, "empty"),
        (&format!("match.wpilog --port {port}"), 1, "another program uses this port"),
        ("match.wpilog --bind 203.0.113.5", 1, "an address of this computer"),
        ("match.wpilog --port 70000", 2, "70000"),
        ("match.wpilog --record a.wpilog", 2, "needs a live source"),
        ("rlog://127.0.0.1:9 --record nowhere/a.wpilog", 1, "nowhere"),
        ("rlog://127.0.0.1:9 --record match.wpilog", 1, "--force"),
        ("foxglove://127.0.0.1:9", 2, "Foxglove clients connect to logpose"),
        ("ftp://127.0.0.1", 2, "unknown live scheme ftp"),
        ("--bind 0.0.0.0", 2, "nothing to show to others on the network"),
        ("match.wpilog --allow-upload", 2, "--bind"),
        ("--limit-upload nonsense", 2, "nonsense"),
        ("--follow", 2, "--follow needs a file"),
    ];
    for (line, expected, words) in cases {
        let output = typed(dir.path(), format!("logpose open {line} --no-browser --duration 50ms").as_str());
        assert_eq!(code(&output), expected, "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{line}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{line}");
    }
}

#[test]
fn without_arguments_there_is_a_start_page_and_files_are_remembered() {
    let dir = folder();
    let start = |line: &str| {
        let viewer = Viewer::start(dir.path(), line);
        let (_, body) = viewer.get("/api/start", "");
        (viewer.session(), serde_json::from_str::<Value>(&body).unwrap())
    };
    let (session, page) = start("--limit-upload 5MB");
    assert_eq!(session["logs"], serde_json::json!([]));
    assert_eq!(session["adding"], serde_json::json!({"upload": true, "upload_limit": 5_000_000, "local": true}));
    assert_eq!(page["demos"].as_array().unwrap().len(), 7);
    let recent = |page: &Value| -> Vec<String> {
        let names = page["recent"].as_array().unwrap().iter();
        let here = names.filter(|file| file["folder"] == dir.path().to_str().unwrap());
        here.map(|file| file["name"].as_str().unwrap().to_owned()).collect()
    };
    let (_, page) = start("match.wpilog --no-cache");
    assert_eq!(recent(&page), ["match.wpilog"], "as long as it runs");
    let (_, page) = start("match.wpilog");
    assert_eq!(recent(&page), ["match.wpilog"]);
    assert_eq!(recent(&start("--no-cache").1), [""; 0]);
    assert_eq!(recent(&start("--port 0").1), ["match.wpilog"]);
    // Others on the network see only what they are shown.
    let (session, page) = start("match.wpilog --bind 127.0.0.1 --allow-upload");
    assert_eq!((&session["adding"]["local"], recent(&page).len()), (&Value::Bool(true), 1));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_said_so() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder();
    let path = dir.path().join("match.wpilog");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The one who may everything is not stopped by this.
    if std::fs::read(&path).is_err() {
        let output = typed(dir.path(), "logpose open match.wpilog --no-browser --duration 50ms");
        assert_eq!(code(&output), 1);
        assert!(stderr(&output).to_lowercase().contains("permission"), "{}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn a_live_source_is_shown_beside_a_file_and_recorded() {
    let dir = folder();
    let mut playing =
        crate::live::Running::start(dir.path(), "play match.wpilog --to rlog://:0 --json --stay --rate 20");
    let address = playing.line("serving")["address"].as_str().unwrap().to_owned();
    let viewer = Viewer::start(dir.path(), &format!("match.wpilog {address} --record seen.wpilog --keep-free 1MB"));
    let live = until("the source is live", || {
        let log = viewer.session()["logs"][1].clone();
        (log["state"] == "live" && log["samples"].as_u64() > Some(20)).then_some(log)
    });
    assert_eq!((&live["path"], &live["preset"]), (&Value::from(address), &Value::from("frc")));
    assert_eq!(viewer.interrupt().0, Some(0));
    let seen = typed(dir.path(), "logpose doctor seen.wpilog");
    assert_eq!(code(&seen), 0, "{}", stdout(&seen));
    drop(playing.interrupt());
}

#[cfg(unix)]
#[test]
fn a_growing_file_is_shown_as_it_grows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robot.wpilog");
    let log = |samples: i64| {
        let mut log = crate::logs::Wpilog::new("");
        let entry = log.start("/count", "int64", "");
        (1..=samples).for_each(|n| log.record(entry, n * 1_000, &n.to_le_bytes()));
        log.bytes()
    };
    let (short, long) = (log(1), log(2));
    std::fs::write(&path, &short).unwrap();
    let viewer = Viewer::start(dir.path(), "robot.wpilog --follow");
    let samples = |count: u64| {
        until("the samples are shown", || {
            let log = viewer.session()["logs"][0].clone();
            (log["samples"].as_u64()? >= count && log["state"] == "live").then_some(log)
        })
    };
    let first = samples(1);
    assert_eq!((&first["name"], &first["dialect"]), (&"robot.wpilog".into(), &"wpilog".into()), "{first}");
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    file.write_all(long.strip_prefix(&*short).unwrap()).unwrap();
    let second = samples(2);
    assert_eq!(second["end"], 2.0, "{second}");
    assert_eq!(viewer.interrupt().0, Some(0));
}

#[test]
fn logs_of_a_lake_are_listed_and_opened() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(code(&typed(dir.path(), "logpose demo logs -q")), 0);
    assert_eq!(code(&typed(dir.path(), "logpose ingest season logs/demo_q12.rlog logs/demo_junction.log -q")), 0);
    let viewer = Viewer::start(dir.path(), "--lake season demo_q12.rlog");
    let session = viewer.session();
    assert_eq!(session["logs"].as_array().unwrap().len(), 1, "{session}");
    let info: Value = {
        let output = typed(dir.path(), "logpose info logs/demo_q12.rlog --json");
        serde_json::from_str(&stdout(&output)).unwrap()
    };
    assert_eq!(session["logs"][0]["samples"], info["samples"], "{session}");
    let (status, start) = viewer.get("/api/start", "");
    let start: Value = serde_json::from_str(&start).unwrap();
    let names: Vec<&str> = start["lake"].as_array().unwrap().iter().map(|log| log["name"].as_str().unwrap()).collect();
    assert_eq!((status, names), (200, vec!["demo_junction.log", "demo_q12.rlog"]));
    // With a click another one is added, once.
    for already in [false, true] {
        let (status, added) = viewer.post("/api/logs/open", r#"{"lake": "demo_junction.log"}"#);
        let added: Value = serde_json::from_str(&added).unwrap();
        assert_eq!((status, &added["already"]), (200, &already.into()), "{added}");
    }
    assert_eq!(viewer.session()["logs"].as_array().unwrap().len(), 2);
    let (status, _) = viewer.post("/api/logs/open", r#"{"lake": "../logs/demo_q12.rlog"}"#);
    assert_eq!(status, 404);
    drop(viewer);
    let missing = typed(dir.path(), "logpose open --lake season nothing.wpilog --no-browser --duration 50ms");
    assert_eq!(code(&missing), 1);
    assert!(stderr(&missing).contains("no log is named"), "{}", stderr(&missing));
}
