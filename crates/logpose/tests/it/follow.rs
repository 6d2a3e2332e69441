//! Files that grow while they are read, and pipes that are decoded as they come.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions as FileOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use logpose::core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Time, Value};
use logpose::find::{FindOptions, Finder, Interval, Query};
use logpose::{Follow, FollowError, Log, Notice, OpenOptions, Order, Pipe, Piped, Polled, Quiet};
use tempfile::TempDir;

use crate::support::{AKIT, DATALOG, R2, demo_dir, open, open_demo};

/// What came, as lines.
#[derive(Default)]
struct Lines {
    names: HashMap<ChannelId, String>,
    lines: Vec<String>,
    problems: Vec<(&'static str, Option<u64>)>,
}

impl Sink for Lines {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.names.insert(id, channel.name.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let line = |s: &Sample<'_>| format!("{} {} {:?}", s.time, self.names[&s.channel], s.value);
        self.lines.extend(samples.iter().map(line));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push((problem.code, problem.at));
    }
}

impl Lines {
    /// Without the schemas of CARLA: in a stream they come with the first value that needs them.
    fn sorted(&self) -> Vec<&str> {
        let lines = self.lines.iter().map(String::as_str).filter(|line| !line.contains("/.schema/struct:Carla"));
        let mut lines: Vec<&str> = lines.collect();
        lines.sort_unstable();
        lines
    }

    fn of(log: &Log) -> Self {
        let mut lines = Self::default();
        log.rows(Order::File, &Lookup::default(), &mut lines).unwrap();
        lines
    }
}

/// A file that is followed.
struct Growing {
    _dir: TempDir,
    path: PathBuf,
    follow: Follow,
    lines: Lines,
    notices: Vec<Notice>,
}

impl Growing {
    fn new(name: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join(name);
        let follow = Follow::new(&path, &OpenOptions::default());
        Self { _dir: dir, path, follow, lines: Lines::default(), notices: Vec::new() }
    }

    fn append(&self, bytes: &[u8]) {
        FileOptions::new().append(true).create(true).open(&self.path).unwrap().write_all(bytes).unwrap();
    }

    /// Polls until nothing more comes.
    fn poll(&mut self) -> Polled {
        loop {
            let notices = &mut self.notices;
            match self.follow.poll(&mut self.lines, &mut |notice| notices.push(notice)).unwrap() {
                Polled::Read => {}
                other => return other,
            }
        }
    }
}

fn valid(dialect: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(dialect).join("valid");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let extensions = ["wpilog", "rlog", "log", "dslog"];
    paths.retain(|path| path.extension().is_some_and(|found| extensions.iter().any(|known| found == *known)));
    paths.sort();
    assert!(!paths.is_empty(), "no fixtures of {dialect}");
    paths
}

#[test]
fn a_log_that_grew_in_pieces_is_the_log() {
    for dialect in ["wpilog", "rlog", "carla", "dslog"] {
        for path in valid(dialect) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let bytes = fs::read(&path).unwrap();
            // A copy of its own, so that a file beside it does not belong to it.
            let dir = TempDir::new().unwrap();
            fs::copy(&path, dir.path().join(name)).unwrap();
            let Ok(log) = Log::open_with(&dir.path().join(name), &OpenOptions::default(), &Quiet) else { continue };
            let mut growing = Growing::new(name);
            let step = if bytes.len() < 2000 { 1 } else { bytes.len() / 50 };
            for piece in bytes.chunks(step) {
                growing.append(piece);
                assert_eq!(growing.poll(), Polled::Idle, "{name}");
            }
            let Growing { follow, mut lines, notices, .. } = growing;
            follow.finish(&mut lines).unwrap();
            assert_eq!(lines.sorted(), Lines::of(&log).sorted(), "{name}");
            assert!(notices.is_empty(), "{name}: {notices:?}");
        }
    }
}

/// A log of RLOG with so many cycles, and where each of them ends.
fn cycles(from: i64, count: i64) -> (Vec<u8>, Vec<usize>) {
    let mut log = logpose_rlog::Writer::new(logpose_rlog::Options::default());
    let key = log.key("/Count", "int64");
    let mut ends = Vec::new();
    for ms in (from..).step_by(20).take(count as usize) {
        log.cycle(Time::from_millis(ms));
        log.put(key, &Value::Int64(ms)).unwrap();
        ends.push(log.bytes().len());
    }
    (log.into_bytes(), ends)
}

#[test]
fn half_a_record_waits_for_its_other_half() {
    let (bytes, ends) = cycles(20, 40);
    let mut growing = Growing::new("a.rlog");
    let mut given = 0;
    for (number, end) in ends.iter().enumerate() {
        growing.append(&bytes[given..end - 3]);
        growing.poll();
        let before = growing.lines.lines.len();
        assert!(before <= number);
        growing.append(&bytes[end - 3..*end]);
        growing.poll();
        // The first cycles wait until it is clear that this is RLOG.
        assert!(number < 20 || growing.lines.lines.len() == number + 1, "{number}");
        given = *end;
    }
    assert_eq!(growing.lines.lines.len(), 40);
}

#[test]
fn a_file_may_come_late_be_truncated_vanish_and_be_replaced() {
    let (first, _) = cycles(20, 30);
    let (second, _) = cycles(1000, 10);
    let mut growing = Growing::new("a.rlog");
    assert_eq!((growing.poll(), growing.poll()), (Polled::Idle, Polled::Idle));
    assert_eq!(std::mem::take(&mut growing.notices), [Notice::Missing], "said once");
    growing.append(&first);
    growing.poll();
    assert_eq!(growing.lines.lines.len(), 30);
    // Written anew in place.
    File::create(&growing.path).unwrap();
    growing.append(&second);
    growing.poll();
    let (read, len) = (first.len() as u64, second.len() as u64);
    assert_eq!(std::mem::take(&mut growing.notices), [Notice::Truncated { read, len }]);
    assert_eq!((growing.lines.lines.len(), &*growing.lines.lines[30]), (40, "1.000 /Count Int64(1000)"));
    // Renamed, and still written to.
    let old = growing.path.with_extension("old");
    fs::rename(&growing.path, &old).unwrap();
    growing.poll();
    growing.poll();
    assert_eq!(std::mem::take(&mut growing.notices), [Notice::Gone], "said once");
    let (more, _) = cycles(1000, 12);
    FileOptions::new().append(true).open(&old).unwrap().write_all(&more[second.len()..]).unwrap();
    growing.append(&first);
    growing.poll();
    assert_eq!(std::mem::take(&mut growing.notices), [Notice::Replaced]);
    assert_eq!(growing.lines.lines.len(), 40 + 2 + 30, "the old one is read to its end, then the new one");
    assert!(growing.lines.problems.is_empty(), "{:?}", growing.lines.problems);
}

/// Every dialect that can be followed, with two of its logs: the first is truncated and written anew as the second, which
/// is renamed and replaced by the first.
#[test]
fn truncation_and_rotation_are_the_same_in_every_dialect() {
    for dialect in ["wpilog", "rlog", "carla", "dslog"] {
        let open = |path: &PathBuf| {
            Log::from_bytes(path.file_name()?.to_str()?, fs::read(path).ok()?, &OpenOptions::default()).ok()
        };
        let mut logs: Vec<_> = valid(dialect).iter().filter_map(open).collect();
        logs.retain(|log| log.index.samples() > 0 && log.path.extension() == logs_extension(dialect));
        logs.sort_by_key(|log| std::cmp::Reverse(log.bytes().len()));
        let (first, second) = (&logs[0], &logs[1]);
        let lines = [first, second, first].into_iter().flat_map(|log| Lines::of(log).lines).collect();
        let expected = Lines { lines, ..Lines::default() };
        let mut growing = Growing::new(first.path.file_name().unwrap().to_str().unwrap());
        growing.append(first.bytes());
        growing.poll();
        File::create(&growing.path).unwrap();
        growing.append(second.bytes());
        growing.poll();
        fs::rename(&growing.path, growing.path.with_extension("old")).unwrap();
        growing.append(first.bytes());
        growing.poll();
        let Growing { follow, mut lines, notices, .. } = growing;
        follow.finish(&mut lines).unwrap();
        assert!(matches!(notices[..], [Notice::Truncated { .. }, Notice::Replaced]), "{dialect}: {notices:?}");
        assert_eq!(lines.sorted(), expected.sorted(), "{dialect}");
    }
}

fn logs_extension(dialect: &str) -> Option<&std::ffi::OsStr> {
    Some(if dialect == "carla" { "log" } else { dialect }.as_ref())
}

#[test]
fn damage_is_reported_with_its_byte_and_ends_it() {
    let (mut bytes, ends) = cycles(20, 30);
    bytes.extend([9; 40]);
    let mut growing = Growing::new("a.rlog");
    growing.append(&bytes);
    assert_eq!(growing.poll(), Polled::Ended);
    assert_eq!(growing.lines.lines.len(), 30);
    assert_eq!(growing.lines.problems.iter().map(|(_, at)| *at).collect::<Vec<_>>(), [Some(ends[29] as u64)]);
    // Values that make no sense are skipped, and reading goes on.
    let first = [(0, Time::ZERO, Value::Double(1.5))];
    let mut log = crate::support::encode("wpilog", &[("/x", "double")], &first);
    let bad = log.len() as u64;
    log.extend([0, 1, 3, 9, 7, 7, 7]);
    log.extend([0, 1, 8, 10].into_iter().chain(2.5_f64.to_le_bytes()));
    let mut growing = Growing::new("a.wpilog");
    growing.append(&log);
    assert_eq!(growing.poll(), Polled::Idle);
    assert_eq!((growing.lines.lines.len(), &*growing.lines.problems), (2, &[("bad-value", Some(bad))][..]));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    for (name, bytes) in [("a.wpilog.gz", &b"\x1f\x8b\x08\x00\x00\x00\x00"[..]), ("a.parquet", &[b'P'; 300])] {
        let growing = Growing::new(name);
        growing.append(bytes);
        let Growing { mut follow, mut lines, .. } = growing;
        let FollowError::Log(error) = follow.poll(&mut lines, &mut |_| {}).unwrap_err() else { panic!("{name}") };
        assert!(error.to_string().contains(name), "{error}");
    }
    let dir = TempDir::new().unwrap();
    let mut follow = Follow::new(dir.path(), &OpenOptions::default());
    assert!(follow.poll(&mut Lines::default(), &mut |_| {}).is_err());
}

/// Gives its bytes away in small pieces.
struct Drip(io::Cursor<Vec<u8>>);

impl Read for Drip {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = out.len().min(61);
        self.0.read(&mut out[..len])
    }
}

fn piped(bytes: Vec<u8>) -> Piped {
    Pipe::open(Path::new("-"), Drip(io::Cursor::new(bytes)), &OpenOptions::default(), &Quiet).unwrap()
}

#[test]
fn a_pipe_is_decoded_as_it_comes() {
    for name in [DATALOG, AKIT, R2] {
        let bytes = fs::read(demo_dir().join(name)).unwrap();
        let log = Lines::of(&open_demo(name));
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&bytes).unwrap();
        let gz = gz.finish().unwrap();
        for (bytes, damaged) in [(bytes, false), (gz.clone(), false), (gz[..gz.len() / 2].to_vec(), true)] {
            let Piped::Stream(mut pipe) = piped(bytes) else { panic!("{name} is no stream") };
            let (mut lines, mut first) = (Lines::default(), None);
            let mut polls = 0;
            while pipe.poll(&mut lines).unwrap() != Polled::Ended {
                polls += 1;
                if !lines.lines.is_empty() {
                    first.get_or_insert(polls);
                }
            }
            assert!(first.unwrap() < polls / 2, "samples come before the end");
            if damaged {
                assert!(lines.problems.iter().any(|(code, _)| *code == "truncated-wrapper"), "{:?}", lines.problems);
                assert!(lines.lines.len() < log.lines.len());
            } else {
                assert_eq!(lines.sorted(), log.sorted(), "{name}");
            }
        }
    }
}

#[test]
fn a_pipe_of_a_format_that_is_no_stream_is_read_whole() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.parquet");
    let log = [open_demo(R2)];
    crate::support::convert_to(&log, Vec::new(), &path, &logpose::ConvertOptions::default()).unwrap();
    let Piped::Log(piped) = piped(fs::read(&path).unwrap()) else { panic!("it is no stream") };
    assert_eq!(Lines::of(&piped).sorted(), Lines::of(&open(&path)).sorted());
    let bad = Pipe::open(Path::new("-"), &b"remember the battery"[..], &OpenOptions::default(), &Quiet);
    assert_eq!(bad.err().unwrap().code(), "unknown-format");
    let empty = Pipe::open(Path::new("-"), &b""[..], &OpenOptions::default(), &Quiet);
    assert_eq!(empty.err().unwrap().code(), "empty");
}

#[test]
fn a_finder_finds_what_a_search_of_the_whole_log_finds() {
    let log = open_demo(AKIT);
    let options = [
        FindOptions::default(),
        FindOptions { merge_ns: 300_000_000, ..FindOptions::default() },
        FindOptions { merge_ns: 50_000_000, min_duration_ns: 40_000_000, pad_ns: 100_000_000 },
    ];
    for text in
        ["BatteryVoltage < 10", "enabled", "mode = 'teleop' and BatteryVoltage < 11", "abs(rate(BatteryVoltage)) > 5"]
    {
        let query = Query::parse(text).unwrap();
        for options in options {
            let mut expected: Vec<Interval> = Vec::new();
            let found =
                query.find(&log, &Lookup::default(), &options, &mut |interval| expected.push(interval)).unwrap();
            let mut finder = Finder::new(&query, options, (None, None)).unwrap();
            log.rows(Order::Time, &Lookup::default(), &mut finder).unwrap();
            let early = std::iter::from_fn(|| finder.take()).count();
            assert!(early + 2 >= expected.len(), "{text}: {early} of {} before the end", expected.len());
            let mut finder = Finder::new(&query, options, (None, None)).unwrap();
            log.rows(Order::Time, &Lookup::default(), &mut finder).unwrap();
            finder.finish();
            let intervals: Vec<Interval> = std::iter::from_fn(|| finder.take()).collect();
            assert_eq!(intervals, expected, "{text} {options:?}");
            assert_eq!(finder.found(), found);
            assert!(finder.watcher().check().is_ok());
        }
    }
    let mut finder =
        Finder::new(&Query::parse("NoSuchChannel > 1").unwrap(), FindOptions::default(), (None, None)).unwrap();
    log.rows(Order::Time, &Lookup::default(), &mut finder).unwrap();
    assert!(finder.watcher().check().unwrap_err().message.contains("NoSuchChannel"));
}
