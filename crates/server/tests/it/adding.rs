//! Logs that are added and closed while a server runs.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use logpose::{Align, Browse, ClockMap, Log, OpenOptions, Quiet};
use logpose_core::Value;
use logpose_server::{Demos, Library, LibraryOptions, LiveFiles, Options, Server, Session};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::live_kit::{Page, Robot, batch, ms, until};
use crate::support::{Answer, Client, FRC, named, open, serve};

/// A server to which logs can be added, and its folder.
struct Fixture {
    client: Client,
    folder: TempDir,
}

struct NoDemos;

impl Demos for NoDemos {
    fn list(&self) -> Vec<(String, String)> {
        vec![("demo_q12.rlog".to_owned(), "a match".to_owned())]
    }

    fn write(&self, name: &str, folder: &Path) -> Result<PathBuf, logpose::Error> {
        let path = folder.join(name);
        fs::copy(named(name), &path).unwrap();
        Ok(path)
    }
}

impl Fixture {
    fn new() -> Self {
        Self::with(&[], |_| {})
    }

    fn with(logs: &[(Arc<Log>, ClockMap)], change: impl FnOnce(&mut LibraryOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = LibraryOptions {
            open: OpenOptions::default(),
            recent: Some(folder.path().join("recent.json")),
            local: true,
            upload: true,
            upload_limit: 1 << 30,
            keep_free: 0,
            folder: folder.path().join("temporary"),
            demos: Some(Box::new(NoDemos)),
            lake: None,
        };
        change(&mut options);
        let library = Library::new(options);
        let mut session = Session::new();
        for (log, clock) in logs {
            library.remember(&log.path);
            session.add(Browse::new(Arc::clone(log), &Quiet).unwrap(), *clock);
        }
        session.set_library(library);
        let live = LiveFiles { folder: folder.path().to_owned(), ..LiveFiles::default() };
        let server = Server::start(session, &Options { live, ..Options::default() }).unwrap();
        Self { client: Client::new(server), folder }
    }

    fn send(&self, path: &str, file: &File<'_>, body: &[u8]) -> Answer {
        let File { name, size, modified, batch, companion } = file;
        let name: String = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let query = format!("name={name}&size={size}&modified={modified}&batch={batch}&companion={companion}");
        let lines = ["Host: {host}", "Content-Type: application/octet-stream"];
        self.client.request("POST", &format!("/api/logs/{path}?{query}"), &lines, body)
    }

    /// Uploads a file that must be taken, and gives its number.
    fn upload(&self, path: &Path) -> usize {
        let bytes = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let answer = self.send("upload", &File::new(name, bytes.len()), &bytes);
        number(&answer)
    }

    fn close(&self, log: usize) {
        assert_eq!(self.client.post_text(&format!("/api/logs/{log}/close"), "{}").status, 200);
    }

    fn session(&self) -> Json {
        self.client.got("/api/session")
    }

    /// All files below the folder of temporary files.
    fn files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() { walk(&path, found) } else { found.push(path) }
            }
        }
        let mut found = Vec::new();
        walk(&self.folder.path().join("temporary"), &mut found);
        found.retain(|path| !path.ends_with(".lock"));
        found
    }
}

struct File<'n> {
    name: &'n str,
    size: u64,
    modified: f64,
    batch: u32,
    companion: bool,
}

impl<'n> File<'n> {
    fn new(name: &'n str, size: usize) -> Self {
        Self { name, size: size as u64, modified: 0.0, batch: 1, companion: false }
    }

    fn of(path: &'n Path) -> Self {
        let about = path.metadata().unwrap();
        let modified = about.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let name = path.file_name().unwrap().to_str().unwrap();
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of this century")]
        Self { modified: modified as f64, ..Self::new(name, about.len().try_into().unwrap()) }
    }
}

fn number(answer: &Answer) -> usize {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["log"].as_u64().unwrap().try_into().unwrap()
}

/// What a page sends to have a file recognised, written down once more from docs/http-api.md.
fn samples(bytes: &[u8]) -> Vec<u8> {
    let block = 65_536;
    if bytes.len() <= 16 * block {
        return bytes.to_vec();
    }
    let step = (bytes.len() - block) / 15;
    (0..16).flat_map(|place| bytes[place * step..place * step + block].to_vec()).collect()
}

#[test]
fn an_uploaded_log_is_shown_like_any_other_and_gone_when_it_is_closed() {
    let fixture = Fixture::new();
    let empty = fixture.session();
    assert_eq!((&empty["logs"], &empty["title"], &empty["start"]), (&json!([]), &json!("logpose"), &json!(null)));
    assert_eq!(empty["adding"], json!({"upload": true, "upload_limit": 1 << 30, "local": true}));
    assert_eq!(fixture.upload(&named(FRC)), 0);
    let (session, other) = (fixture.session(), serve(&open(&named(FRC))));
    let (own, peer) = (&session["logs"][0], &other.got("/api/session")["logs"][0]);
    for field in ["name", "start", "end", "channels", "samples", "bytes", "preset", "facts", "format"] {
        assert_eq!(own[field], peer[field], "{field}");
    }
    // The temporary file is nobody's business.
    assert_eq!((&own["path"], &own["uploaded"]), (&json!(FRC), &json!(true)));
    for path in ["/api/logs/0/channels", "/api/logs/0/events", "/api/logs/0/panes"] {
        assert_eq!(fixture.client.got(path), other.got(path));
    }
    let files = fixture.files();
    assert_eq!(files.len(), 1);
    fixture.close(0);
    let session = fixture.session();
    assert_eq!((&session["logs"][0]["state"], &session["logs"][0]["name"]), (&json!("closed"), &json!(FRC)));
    assert_eq!((&session["revision"], &session["start"]), (&json!(2), &json!(null)));
    until("the file is deleted", || fixture.files().is_empty().then_some(()));
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    assert!(!maps.contains(files[0].to_str().unwrap()), "the file is still mapped");
    let pixels = json!({"start": 0, "end": 1, "width": 9, "series": [{"log": 0, "channel": 0}]}).to_string();
    assert_eq!(fixture.client.post_text("/api/pixels", &pixels).refusal(), (404, "log-closed".into()));
    assert_eq!(fixture.client.post_text("/api/logs/0/close", "{}").refusal(), (404, "log-closed".into()));
    assert_eq!(fixture.client.post_text("/api/logs/7/close", "{}").refusal(), (404, "log-not-found".into()));
    // Numbers are not used again.
    assert_eq!(fixture.upload(&named("demo_q12.rlog")), 1);
    // What is left ends with the server.
    let Fixture { client, folder } = fixture;
    drop(client);
    let left = fs::read_dir(folder.path().join("temporary")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn uploads_that_cannot_be_taken_are_refused_and_leave_nothing() {
    let fixture = Fixture::with(&[], |options| options.upload_limit = 3000);
    let refusal = |file: &File<'_>, body: &[u8]| fixture.send("upload", file, body).refusal();
    let noise: Vec<u8> = (0..2000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    assert_eq!(refusal(&File::new("noise.bin", 2000), &noise).0, 422);
    assert_eq!(refusal(&File::new("empty.wpilog", 0), b"").0, 422);
    assert_eq!(refusal(&File::new("text.wpilog", 5), b"hello").0, 422);
    let changed = (400, "incomplete-upload".to_owned());
    assert_eq!(refusal(&File::new("shrunk.rlog", 2000), &noise[..1999]), changed);
    assert_eq!(refusal(&File::new("grown.rlog", 1999), &noise), changed);
    for name in ["../up.rlog", "/etc/up.rlog", "", ".", "..", "a/b.rlog", "a\\b.rlog", "c:x.rlog", "nul\0.rlog"] {
        assert_eq!(refusal(&File::new(name, 2000), &noise), (400, "invalid-name".into()), "{name:?}");
    }
    let long = "n".repeat(5000);
    let answer = fixture.send("upload", &File::new(&long, 2000), &noise);
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("too long: 5000 bytes, at most 255"));
    let large = (400, "upload-too-large".to_owned());
    assert_eq!(refusal(&File::new("large.rlog", 3001), &vec![0; 3001]), large);
    assert_eq!(refusal(&File::new("large.rlog", usize::MAX / 2), &noise), large);
    assert_eq!(fixture.send("known", &File::new("large.rlog", 3001), &vec![0; 3001]).refusal(), large);
    // Cut off in the middle.
    let head = "POST /api/logs/upload?name=a.rlog&size=2000&modified=0&batch=1 HTTP/1.1\r\nContent-Length: 2000\r\n";
    let lines = format!("Host: {}\r\nContent-Type: application/octet-stream\r\n\r\n", fixture.client.address());
    {
        use std::io::Write;
        let mut stream = std::net::TcpStream::connect(fixture.client.address()).unwrap();
        stream.write_all(format!("{head}{lines}").as_bytes()).unwrap();
        stream.write_all(&noise[..1000]).unwrap();
    }
    // As a form of another page would.
    for kind in ["text/plain", "multipart/form-data", "application/json"] {
        let lines = ["Host: {host}", &format!("Content-Type: {kind}")];
        let path = "/api/logs/upload?name=a.rlog&size=2000&modified=0&batch=1";
        assert_eq!(fixture.client.request("POST", path, &lines, &noise).status, 415);
    }
    let lines = ["Host: {host}", "Content-Type: application/octet-stream"];
    for query in ["", "?name=a", "?name=a&size=-1&modified=0&batch=1", "?name=a&size=1&modified=x&batch=1"] {
        assert_eq!(fixture.client.request("POST", &format!("/api/logs/upload{query}"), &lines, b"x").status, 400);
    }
    until("nothing is left", || fixture.files().is_empty().then_some(()));
    assert_eq!(fixture.session()["logs"], json!([]));
    // All of the room is free again.
    assert_eq!(refusal(&File::new("noise.bin", 3000), &vec![7; 3000]).0, 422);
}

#[test]
fn a_disk_that_would_become_full_takes_no_upload() {
    let fixture = Fixture::with(&[], |options| options.keep_free = u64::MAX / 2);
    let answer = fixture.send("known", &File::new("a.rlog", 3), b"abc");
    assert_eq!(answer.refusal(), (507, "disk-full".into()));
    let answer = fixture.send("upload", &File::new("a.rlog", 3), b"abc");
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("the disk is too full for a copy"));
}

#[test]
fn a_file_is_read_where_it_is_only_for_who_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let (first, path) = (folder.path().join("first.wpilog"), folder.path().join("second.csv"));
    fs::copy(named(FRC), &first).unwrap();
    let rows = (0..100_000).map(|n| format!("{n},a,{}\n", n * 7));
    fs::write(&path, std::iter::once("time,channel,value\n".to_owned()).chain(rows).collect::<String>()).unwrap();
    let fixture = Fixture::with(&[(open(&first), ClockMap::default())], |_| {});
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 1 << 20, "more than what is compared");
    let known = |file: &File<'_>, samples: &[u8]| {
        let answer = fixture.send("known", file, samples);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()["log"].as_u64()
    };
    let (file, right) = (File::of(&path), samples(&bytes));
    // Any difference is refused, without details.
    for place in [0, 70_000, right.len() - 1] {
        let mut wrong = right.clone();
        wrong[place] ^= 1;
        assert_eq!(known(&file, &wrong), None, "byte {place}");
    }
    assert_eq!(known(&file, &right[..right.len() - 1]), None);
    assert_eq!(known(&file, b""), None);
    assert_eq!(known(&File { size: file.size - 1, ..File::of(&path) }, &right), None);
    assert_eq!(known(&File { modified: file.modified + 60_000.0, ..File::of(&path) }, &right), None);
    for name in ["third.csv", "../second.csv", path.to_str().unwrap(), "."] {
        let answer = fixture.send("known", &File { name, ..File::of(&path) }, &right);
        assert!(answer.status == 400 || answer.json()["log"] == json!(null), "{name}");
    }
    assert_eq!(known(&file, &right), Some(1));
    let session = fixture.session();
    let log = &session["logs"][1];
    assert_eq!((&log["path"], &log["uploaded"]), (&json!(path.to_str().unwrap()), &json!(false)));
    assert!(fixture.files().is_empty(), "nothing is copied");
    // Once more it is the same log.
    let again = fixture.send("known", &file, &right).json();
    assert_eq!(again, json!({"log": 1, "already": true}));
    // It is among the recent files now, and can be opened from there.
    let start = fixture.client.got("/api/start");
    assert_eq!(
        (&start["recent"][0]["name"], &start["recent"][1]["name"]),
        (&json!("second.csv"), &json!("first.wpilog"))
    );
    fixture.close(1);
    let id = start["recent"][0]["id"].clone();
    assert_eq!(fixture.client.json("/api/logs/open", &json!({"recent": id}))["log"], 2);
    fixture.close(2);
    fs::remove_file(&path).unwrap();
    assert_eq!(fixture.client.got("/api/start")["recent"][0]["bytes"], json!(null));
    let gone = fixture.client.post_text("/api/logs/open", &json!({"recent": id}).to_string());
    assert_eq!(gone.status, 422);
    // No path is a number.
    for id in [first.to_str().unwrap(), "0", ""] {
        let query = json!({"recent": id}).to_string();
        assert_eq!(fixture.client.post_text("/api/logs/open", &query).refusal(), (404, "file-not-found".into()));
    }
}

#[test]
fn a_server_for_others_takes_only_what_it_is_allowed_to() {
    // As it was started with its logs.
    let client = serve(&open(&named(FRC)));
    let closed = |path: &str, body: &str| client.post_text(path, body).refusal();
    assert_eq!(client.got("/api/session")["adding"], json!(null));
    for (path, body) in
        [("open", r#"{"demo": "demo_q12.rlog"}"#), ("connect", r#"{"address": "nt4://1"}"#), ("0/close", "{}")]
    {
        assert_eq!(closed(&format!("/api/logs/{path}"), body), (403, "adding-not-allowed".into()), "{path}");
    }
    assert_eq!(client.get("/api/start").refusal(), (403, "adding-not-allowed".into()));
    let lines = ["Host: {host}", "Content-Type: application/octet-stream"];
    for path in ["known", "upload"] {
        let path = format!("/api/logs/{path}?name=a.rlog&size=3&modified=0&batch=1");
        assert_eq!(client.request("POST", &path, &lines, b"abc").refusal(), (403, "adding-not-allowed".into()));
    }
    // With uploads alone: files of this computer stay its own.
    let log = open(&named(FRC));
    let fixture = Fixture::with(&[(Arc::clone(&log), ClockMap::default())], |options| options.local = false);
    let start = fixture.client.got("/api/start");
    assert_eq!((&start["recent"], &start["sources"]), (&json!([]), &json!([])));
    let path = named(FRC);
    let known = fixture.send("known", &File::of(&path), &samples(&fs::read(&path).unwrap()));
    assert_eq!(known.json(), json!({"log": null, "already": false}));
    let refused = |path: &str, body: Json| fixture.client.post_text(path, &body.to_string()).refusal();
    assert_eq!(refused("/api/logs/open", json!({"recent": "0"})), (403, "localhost-only".into()));
    assert_eq!(refused("/api/logs/connect", json!({"address": "nt4://254"})), (403, "localhost-only".into()));
    assert_eq!(fixture.upload(&named("demo_q12.rlog")), 1);
    // Other pages may do nothing of it, and a token is wanted for all of it.
    let token = "abc-DEF_123456";
    let mut session = Session::new();
    session.set_library(Library::new(LibraryOptions {
        open: OpenOptions::default(),
        recent: None,
        local: false,
        upload: true,
        upload_limit: 9,
        keep_free: 0,
        folder: fixture.folder.path().to_owned(),
        demos: None,
        lake: None,
    }));
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let options = Options { bind, token: Some(token.into()), ..Options::default() };
    let client = Client::new(Server::start(session, &options).unwrap());
    for path in [
        "open",
        "known?name=a&size=1&modified=0&batch=1",
        "upload?name=a&size=1&modified=0&batch=1",
        "connect",
        "0/close",
    ] {
        let path = format!("/api/logs/{path}");
        assert_eq!(client.request("POST", &path, &lines, b"x").status, 401, "{path}");
        let bearer = format!("Authorization: Bearer {token}");
        for foreign in ["Origin: http://evil.example", "Sec-Fetch-Site: cross-site"] {
            let lines = ["Host: {host}", lines[1], &bearer, foreign];
            assert_eq!(client.request("POST", &path, &lines, b"x").status, 403, "{path} {foreign}");
        }
        let lines = ["Host: evil.example", lines[1], &bearer];
        assert_eq!(client.request("POST", &path, &lines, b"x").status, 403, "{path}");
    }
}

#[test]
fn an_added_log_lies_where_it_would_if_both_were_opened_together() {
    for name in ["akit_26-03-21_14-22-33_demo_q12.wpilog", "demo_q12.dslog", "demo_junction.log"] {
        let logs = [FRC, name].map(|name| Log::open_with(&named(name), &OpenOptions::default(), &Quiet).unwrap());
        let expected = Align::Auto.shifts(&logs).unwrap()[1];
        // The first log has another clock than the session already.
        let fixture = Fixture::with(&[(open(&named(FRC)), ClockMap::shifted(5_000_000_000))], |_| {});
        assert_eq!(fixture.upload(&named(name)), 1);
        let offset = &fixture.session()["logs"][1]["offset_ns"];
        assert_eq!(offset.as_str().unwrap(), (expected + 5_000_000_000).to_string(), "{name}");
    }
}

#[test]
fn a_pair_is_one_log() {
    let fixture = Fixture::new();
    let (records, events) = (named("demo_q12.dslog"), named("demo_q12.dsevents"));
    let bytes = fs::read(&events).unwrap();
    let beside =
        fixture.send("upload", &File { companion: true, ..File::new("demo_q12.dsevents", bytes.len()) }, &bytes);
    assert_eq!(beside.json(), json!({"log": null, "already": false}));
    assert_eq!(fixture.upload(&records), 0);
    assert_eq!(fixture.client.got("/api/logs/0/channels"), serve(&open(&records)).got("/api/logs/0/channels"));
    // The same names again are another pair.
    assert_eq!(fixture.upload(&records), 1);
    fixture.close(0);
    fixture.close(1);
    until("both files are deleted", || fixture.files().is_empty().then_some(()));
}

#[test]
fn pages_hear_of_logs_that_come_and_go() {
    let fixture = Fixture::new();
    let mut page = Page::open(&fixture.client);
    let first = page.tick();
    assert_eq!((&first["revision"], &first["logs"]), (&json!(0), &json!([])));
    let demo = fixture.client.json("/api/logs/open", &json!({"demo": "demo_q12.rlog"}));
    assert_eq!(demo, json!({"log": 0, "already": false}));
    let added = page.tick();
    assert_eq!((&added["revision"], &added["logs"][0]["state"]), (&json!(1), &json!("finished")));
    fixture.close(0);
    let closed = page.tick();
    assert_eq!((&closed["revision"], &closed["logs"][0]["state"]), (&json!(2), &json!("closed")));
    let nothing = fixture.client.post_text("/api/logs/open", r#"{"demo": "../demo_q12.rlog"}"#);
    assert_eq!(nothing.refusal(), (404, "file-not-found".into()));
}

#[test]
fn a_robot_is_connected_to_and_let_go() {
    let fixture = Fixture::new();
    let robot = Robot::start("rlog://127.0.0.1:0");
    let connected = fixture.client.json("/api/logs/connect", &json!({"address": robot.address}));
    assert_eq!(connected, json!({"log": 0, "already": false}));
    robot.send(batch(&[(0, "/a", "double")], &[(0, ms(20), Value::Double(1.5))]));
    until("its channel is there", || (fixture.session()["logs"][0]["channels"] == 1).then_some(()));
    let log = &fixture.session()["logs"][0];
    assert_eq!((&log["path"], &log["dialect"]), (&json!(robot.address), &json!("rlog")));
    fixture.close(0);
    until("the robot is alone again", || {
        robot.send(batch(&[], &[(0, ms(40), Value::Double(1.5))]));
        (fixture.session()["logs"][0]["state"] == "closed").then_some(())
    });
    robot.stop();
    let refused = |address: &str| {
        fixture.client.post_text("/api/logs/connect", &json!({"address": address}).to_string()).refusal()
    };
    // Files are not reached in this way either.
    for bad in [
        "refloat+serial:/etc/passwd",
        "refloat+serial:../x",
        "match.wpilog",
        "foxglove://",
        "",
        "http://1.2.3.4",
        "rlog://a/b",
    ] {
        assert_eq!(refused(bad), (400, "invalid-address".into()), "{bad}");
    }
    let kinds = fixture.client.got("/api/start")["sources"].clone();
    let schemes: Vec<_> = kinds.as_array().unwrap().iter().map(|kind| kind["scheme"].as_str().unwrap()).collect();
    for scheme in ["rlog", "nt4", "ds", "refloat+tcp", "refloat+serial"] {
        assert!(schemes.contains(&scheme), "{schemes:?}");
    }
}
