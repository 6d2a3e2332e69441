//! A file that still grows, from its bytes to what the page is shown of it.

use std::fs::{self, OpenOptions as Append};
use std::io::Write;
use std::path::{Path, PathBuf};

use logpose::{ClockMap, Notice, OpenOptions, Polled};
use logpose_server::{FollowedLog, FollowedOptions, Options, Server, Session};
use serde_json::{Value as Json, json};

use crate::live_kit::drawn;
use crate::support::Client;

/// A followed file and a client of the server that shows it. Nothing happens between two polls, so nothing waits.
struct Shown {
    path: PathBuf,
    log: FollowedLog,
    client: Client,
    _dir: tempfile::TempDir,
}

impl Shown {
    fn new(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let options = FollowedOptions { folder: dir.path().to_owned(), limit: u64::MAX, keep_free: 0 };
        let log = FollowedLog::new(&path, &OpenOptions::default(), &options).unwrap();
        let mut session = Session::new();
        session.add_live(log.log(), ClockMap::default());
        let client = Client::new(Server::start(session, &Options::default()).unwrap());
        Self { path, log, client, _dir: dir }
    }

    /// Polls until nothing more comes at once.
    fn poll(&mut self) -> Vec<Notice> {
        let mut notices = Vec::new();
        while self.log.poll(&mut |notice| notices.push(notice)).unwrap() == Polled::Read {}
        notices
    }

    fn about(&self) -> Json {
        self.client.got("/api/session")["logs"][0].clone()
    }

    fn counts(&self) -> Vec<(f64, f64)> {
        drawn(&self.client, &json!({"log": 0, "channel": 0}), -1e9, 1e9)
    }

    fn events(&self) -> Vec<String> {
        let events = self.client.got("/api/logs/0/events")["events"].as_array().unwrap().clone();
        events.iter().filter_map(|event| event["text"].as_str().map(str::to_owned)).collect()
    }
}

fn append(path: &Path, bytes: &[u8]) {
    Append::new().create(true).append(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn record(entry: u32, micros: i64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0b0111_1111];
    bytes.extend(entry.to_le_bytes());
    bytes.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
    bytes.extend(micros.to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// The beginning of a WPILOG with the channel `/count`.
fn head() -> Vec<u8> {
    let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
    let mut start = vec![0];
    start.extend(1_u32.to_le_bytes());
    for text in ["/count", "int64", ""] {
        start.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        start.extend(text.as_bytes());
    }
    bytes.extend(record(0, 0, &start));
    bytes
}

/// One sample, at so many seconds.
fn count(seconds: i64, value: i64) -> Vec<u8> {
    record(1, seconds * 1_000_000, &value.to_le_bytes())
}

#[test]
fn a_growing_file_is_shown_with_its_own_times() {
    let mut shown = Shown::new("robot.wpilog");
    assert_eq!(shown.poll(), [Notice::Missing]);
    let about = shown.about();
    assert_eq!((&about["state"], &about["name"]), (&json!("waiting"), &json!("robot.wpilog")), "{about}");
    append(&shown.path, &head());
    append(&shown.path, &count(100, 1));
    // The next record is not whole yet.
    let second = count(101, 2);
    append(&shown.path, &second[..10]);
    assert_eq!(shown.poll(), []);
    let about = shown.about();
    assert_eq!((&about["state"], &about["dialect"]), (&json!("live"), &json!("wpilog")), "{about}");
    assert_eq!(shown.counts(), [(100.0, 1.0)]);
    append(&shown.path, &second[10..]);
    assert_eq!(shown.poll(), []);
    assert_eq!(shown.counts(), [(100.0, 1.0), (101.0, 2.0)]);
}

#[test]
fn a_file_that_begins_anew_goes_on_behind_the_old_one() {
    let mut shown = Shown::new("robot.wpilog");
    append(&shown.path, &[head(), count(100, 1), count(101, 2)].concat());
    shown.poll();
    // Truncated by a program that starts over.
    fs::write(&shown.path, [head(), count(1, 3)].concat()).unwrap();
    assert!(matches!(shown.poll()[..], [Notice::Truncated { .. }]));
    assert_eq!(shown.counts(), [(100.0, 1.0), (101.0, 2.0), (101.0, 3.0)]);
    // Rotated: the next part of the same recording has the same clock, here that of the file before.
    append(&shown.path, &count(3, 4));
    fs::rename(&shown.path, shown.path.with_extension("old")).unwrap();
    append(&shown.path, &[head(), count(105, 5)].concat());
    assert_eq!(shown.poll(), [Notice::Replaced]);
    let all = [(100.0, 1.0), (101.0, 2.0), (101.0, 3.0), (103.0, 4.0), (105.0, 5.0)];
    assert_eq!(shown.counts(), all);
    assert_eq!(
        shown.events(),
        ["The file was truncated and begins again", "The file was replaced by a new one"],
        "{:?}",
        shown.events()
    );
    // Removed: what came is still shown, and a new one is waited for.
    fs::remove_file(&shown.path).unwrap();
    assert_eq!(shown.poll(), [Notice::Gone]);
    assert_eq!(shown.about()["state"], "waiting");
    assert_eq!(shown.counts(), all);
}

#[test]
fn behind_damage_a_new_file_is_waited_for() {
    let mut shown = Shown::new("robot.wpilog");
    // An entry of 4 GB.
    let broken = [&[0x7f, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff][..], &[0; 64]].concat();
    append(&shown.path, &[head(), count(100, 1), broken].concat());
    shown.poll();
    let about = shown.about();
    assert_eq!((&about["state"], &about["problem_count"]), (&json!("waiting"), &json!(1)), "{about}");
    // More bytes behind it are no more damage.
    append(&shown.path, &[0x55; 1000]);
    shown.poll();
    assert_eq!(shown.about()["problem_count"], 1);
    fs::rename(&shown.path, shown.path.with_extension("old")).unwrap();
    append(&shown.path, &[head(), count(101, 2)].concat());
    assert_eq!(shown.poll(), [Notice::Replaced]);
    assert_eq!(shown.counts(), [(100.0, 1.0), (101.0, 2.0)]);
    assert_eq!(shown.about()["state"], "live");
}

#[test]
fn a_format_that_cannot_be_followed_names_those_that_can() {
    let mut shown = Shown::new("robot.mcap");
    append(&shown.path, b"\x89MCAP0\r\n");
    append(&shown.path, &[0; 300]);
    let error = shown.log.poll(&mut |_| {}).unwrap_err();
    let logpose::FollowError::Log(error) = error else { panic!("{error}") };
    assert!(error.to_string().contains("mcap file cannot be read while it grows"), "{error}");
    let help = error.help.as_deref().unwrap_or_default();
    assert!(help.contains("wpilog, rlog, carla"), "{help}");
    assert_eq!(shown.about()["state"], "ended");
}
