//! A program that records is killed at any instant, and what it had said to be flushed is there.
//!
//! The program is this test binary itself, run again with [`RECORD_TO`] set.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use logpose::bridges::mcap::FOOTER;
use logpose::{Log, OpenOptions, Quiet};
use logpose_core::{Channel, Sample, Severity, Sink, Time, Value};
use logpose_live::recorder::{RecordOptions, Recorder, SplitBy};
use logpose_live::{Batch, Clock, Output};

/// Where the program to be killed records to.
const RECORD_TO: &str = "LOGPOSE_TEST_RECORD_TO";
/// Whether it splits its files.
const SPLIT: &str = "LOGPOSE_TEST_SPLIT";
const CHANNELS: u32 = 20;
/// A text in every cycle, so that a flush is more than one page of memory and can be torn.
const TEXT: [u8; 2000] = [b'x'; 2000];

/// Not a test of its own: it is what the others kill, and does nothing without a path to record to.
#[test]
fn a_program_that_is_killed() {
    let Some(path) = std::env::var_os(RECORD_TO) else { return };
    let split = std::env::var_os(SPLIT).map(|_| SplitBy::Size(100_000));
    let options = RecordOptions { flush_ns: 60_000_000, split, keep_free: 0, ..RecordOptions::default() };
    let mut recorder = Recorder::create(Path::new(&path), options).unwrap();
    let (watch, clock, start) = (recorder.watch(), Clock::new(), Instant::now());
    let mut announced = 0;
    // It is killed long before.
    for cycle in 0..20_000_u32 {
        recorder.take(&cycle_of(cycle, clock.now())).unwrap();
        recorder.tick(clock.now()).unwrap();
        let flushed = watch.samples();
        if flushed > announced || cycle == 0 {
            announced = flushed;
            std::io::stdout().write_all(format!("flushed {flushed}\n").as_bytes()).unwrap();
        }
        let next = start + Duration::from_millis(1) * (cycle + 1);
        // A robot's pace: whoever kills this must find it between two flushes.
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

fn cycle_of(cycle: u32, now: Time) -> Batch {
    let mut batch = Batch::new(now);
    if cycle == 0 {
        for id in 0..CHANNELS {
            batch.channel(id, &Channel::new(format!("/Counter/{id}"), "int64")).unwrap();
        }
        batch.channel(CHANNELS, &Channel::new("/Text", "string")).unwrap();
    }
    let time = Time::from_millis(i64::from(cycle) + 1);
    let counters = (0..CHANNELS).map(|channel| Sample { channel, time, value: Value::Int64(cycle.into()) });
    let text = Sample { channel: CHANNELS, time, value: Value::String(&TEXT) };
    Sink::samples(&mut batch, &counters.chain([text]).collect::<Vec<_>>()).unwrap();
    batch
}

/// How a killing went.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// Samples that were said to be flushed.
    announced: u64,
    /// Samples that were found.
    found: u64,
    /// Files whose last record is not whole.
    torn: u32,
}

/// Starts the program, kills it after a while, and looks at what it left.
fn kill(folder: &Path, name: &str, split: bool, wait: Duration, from_the_start: bool) -> Outcome {
    let path = folder.join(name);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::a_program_that_is_killed", "--nocapture"]).env(RECORD_TO, &path);
    if split {
        command.env(SPLIT, "1");
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut announced = 0;
    let mut line = Vec::new();
    let mut next = |announced: &mut u64| {
        line.clear();
        let more = lines.read_until(b'\n', &mut line).unwrap() > 0;
        let count = line.strip_prefix(b"flushed ").and_then(|count| count.strip_suffix(b"\n"));
        if let Some(count) = count {
            *announced = str::from_utf8(count).unwrap().parse().unwrap();
        }
        (more, count.is_some())
    };
    if !from_the_start {
        while next(&mut announced) == (true, false) {}
    }
    // The moment of the killing is the point of the test, and any moment will do.
    std::thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
    while next(&mut announced).0 {}

    let mut outcome = Outcome { announced, ..Outcome::default() };
    let mut cycles = vec![0; CHANNELS as usize];
    let mut number = 1;
    let mut path = path;
    while path.exists() && std::fs::metadata(&path).unwrap().len() > 0 {
        look_at(&path, &mut cycles, &mut outcome);
        number += 1;
        let (stem, extension) = name.split_once('.').unwrap();
        path = folder.join(format!("{stem}_{number:03}.{extension}"));
    }
    assert!(outcome.found >= announced, "{name}: {announced} samples were flushed, {} are there", outcome.found);
    std::fs::read_dir(folder).unwrap().for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    outcome
}

/// Counts what is in a file. Every counter must go on where the file before has ended.
fn look_at(path: &Path, cycles: &mut [i64], outcome: &mut Outcome) {
    let log = Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap_or_else(|error| panic!("{error}"));
    if path.extension().is_some_and(|extension| extension == "mcap") {
        assert!(std::fs::read(path).unwrap().ends_with(&FOOTER[29..]), "{}: the footer is at the end", path.display());
        assert!(log.problems.is_empty(), "{}: {:?}", path.display(), log.problems.list());
    }
    for problem in log.problems.list().iter().filter(|problem| problem.severity == Severity::Damage) {
        let end = problem.at.unwrap() + problem.length;
        assert_eq!((problem.code, end), ("truncated", log.file_len()), "{}: {problem}", path.display());
        outcome.torn += 1;
    }
    let columns = log.all_columns().unwrap();
    // What the file began with is in the file before, too.
    let repeated = u64::from(outcome.found > 0);
    for column in &columns.columns {
        let Some(id) = column.channel.name.strip_prefix("/Counter/") else {
            outcome.found += (columns.samples(column).count() as u64).saturating_sub(repeated);
            continue;
        };
        let next = &mut cycles[id.parse::<usize>().unwrap()];
        for (_, value) in columns.samples(column) {
            let Value::Int64(count) = value else { panic!("{value:?}") };
            if count + 1 == *next {
                continue;
            }
            assert_eq!(count, *next, "{}: {}", path.display(), column.channel.name);
            (*next, outcome.found) = (count + 1, outcome.found + 1);
        }
    }
}

/// Kills so many programs, each after another while.
fn kill_many(name: &str, split: bool, kills: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Outcome::default();
    for round in 0..kills {
        // From 5 to 149 ms, in an order that looks like none.
        let wait = Duration::from_millis(5 + round * 89 % 145);
        // Every fifth while it is still starting.
        let outcome = kill(folder.path(), name, split, wait, round % 5 == 4);
        all.announced += outcome.announced;
        all.found += outcome.found;
        all.torn += outcome.torn;
    }
    println!("{name}: {kills} kills, {all:?}");
    assert!(all.announced > 100 * kills, "{name}: {all:?}");
}

#[test]
fn a_killed_wpilog_recording_has_all_that_was_flushed() {
    kill_many("match.wpilog", false, 20);
}

#[test]
fn a_killed_rlog_recording_has_all_that_was_flushed() {
    kill_many("match.rlog", false, 20);
}

#[test]
fn a_killed_mcap_recording_has_all_that_was_flushed() {
    kill_many("match.mcap", false, 20);
}

#[test]
fn a_recording_that_is_killed_while_it_splits_has_all_that_was_flushed() {
    for name in ["match.wpilog", "match.rlog", "match.mcap"] {
        kill_many(name, true, 6);
    }
}
