//! Disks that get full, at every possible byte, in memory.

use std::io;
use std::path::{Path, PathBuf};

use logpose::bridges::mcap::{Compression, McapOptions};
use logpose::{Log, OpenOptions};
use logpose_core::{Channel, Sample, Severity, Sink, Time, Value};

use super::disk::memory::Memory;
use super::{RecordError, RecordOptions, RecordWatch, Recorder, SplitBy};
use crate::{Batch, Output, OutputError};

const LOGS: [&str; 3] = ["match.wpilog", "match.rlog", "match.mcap"];

/// A counter and a text, every 20 ms.
fn cycle(ms: i64) -> Batch {
    let time = Time::from_millis(ms);
    let mut batch = Batch::new(time);
    if ms == 0 {
        batch.channel(0, &Channel::new("/Count", "int64")).unwrap();
        batch.channel(1, &Channel::new("/Text", "string")).unwrap();
    }
    let sample = |channel, value| Sample { channel, time, value };
    Sink::samples(&mut batch, &[sample(0, Value::Int64(ms)), sample(1, Value::String(b"text"))]).unwrap();
    batch
}

fn create(disk: &Memory, name: &str, options: RecordOptions) -> Result<Box<Recorder>, RecordError> {
    Recorder::create_on(Box::new(disk.clone()), Path::new(name), options).map(Box::new)
}

/// Records so many milliseconds, up to an error.
fn run(mut recorder: Box<Recorder>, ms: i64) -> Result<(), OutputError> {
    for ms in (0..ms).step_by(20) {
        recorder.take(&cycle(ms))?;
        recorder.tick(Time::from_millis(ms))?;
    }
    recorder.finish()
}

/// The counts in a file, which must be whole.
fn counts(disk: &Memory, path: &Path) -> Vec<i64> {
    let bytes = disk.change(|state| state.files[path].clone());
    let log = Log::from_bytes(path.to_str().unwrap(), bytes, &OpenOptions::default())
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(log.problems.worst() < Some(Severity::Damage), "{}: {:?}", path.display(), log.problems.list());
    let columns = log.all_columns().unwrap();
    let mut counts = Vec::new();
    for column in columns.columns.iter().filter(|column| column.channel.name == "/Count") {
        counts.extend(columns.samples(column).map(|(_, value)| match value {
            Value::Int64(count) => count,
            other => panic!("{other:?}"),
        }));
    }
    counts
}

fn paths(disk: &Memory) -> Vec<PathBuf> {
    disk.change(|state| state.files.keys().cloned().collect())
}

/// A recording on a disk with so much room: how it stood, and how it ended.
fn recorded(disk: &Memory, name: &str, options: RecordOptions) -> Option<(RecordWatch, Result<(), OutputError>)> {
    match create(disk, name, options) {
        Ok(recorder) => Some((recorder.watch(), run(recorder, 1000))),
        Err(RecordError::NoSpace { .. } | RecordError::Io { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_disk_that_gets_full_at_any_byte_leaves_whole_files() {
    for name in LOGS {
        for split in [None, Some(SplitBy::Time(300_000_000))] {
            let mcap = McapOptions { compression: Compression::None, ..McapOptions::default() };
            let options = || RecordOptions { split, mcap, keep_free: 0, ..RecordOptions::default() };
            let all: Vec<i64> = (0..1000).step_by(20).collect();
            let disk = Memory::with_room(u64::MAX);
            recorded(&disk, name, options()).unwrap().1.unwrap();
            let total: u64 = paths(&disk).iter().map(|path| disk.change(|state| state.files[path].len() as u64)).sum();
            assert!(total > 1000);
            let mut kept = 0;
            // An MCAP file is made of few writes, and of many bytes.
            let step = if name.ends_with("mcap") { 23 } else { 1 };
            for room in (0..total).step_by(step).chain([total]) {
                let disk = Memory::with_room(room);
                let Some((watch, end)) = recorded(&disk, name, options()) else {
                    assert!(paths(&disk).is_empty(), "what never began leaves nothing behind");
                    continue;
                };
                let stats = watch.stats();
                let mut found = Vec::new();
                for path in &stats.files {
                    let counts = counts(&disk, path);
                    let repeated = usize::from(!found.is_empty());
                    found.extend_from_slice(&counts[repeated.min(counts.len())..]);
                }
                assert_eq!(found, all[..found.len()], "{name}: {room} of {total}");
                assert_eq!(stats.samples, 2 * found.len() as u64);
                assert_eq!(paths(&disk), stats.files);
                assert!(found.len() >= kept, "more room, more samples");
                kept = found.len();
                match end {
                    Ok(()) => assert_eq!((room, found.len()), (total, all.len())),
                    Err(OutputError::NoSpace { saved, .. }) => assert_eq!(saved, stats.bytes),
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(kept, all.len());
        }
    }
}

#[test]
fn an_mcap_file_has_an_end_after_every_write() {
    let disk = Memory::with_room(u64::MAX);
    disk.change(|state| state.keep_states = true);
    let recorder = create(&disk, "match.mcap", RecordOptions { keep_free: 0, ..RecordOptions::default() }).unwrap();
    run(recorder, 10_000).unwrap();
    let states = disk.change(|state| std::mem::take(&mut state.states));
    assert!(states.len() > 100, "{} writes", states.len());
    let mut samples = 0;
    for state in states {
        assert!(state.ends_with(&logpose::bridges::mcap::FOOTER[29..]), "readers look there first");
        let log = Log::from_bytes("match.mcap", state, &OpenOptions::default()).unwrap();
        // Without an end, or with one that is cut, there would be a problem.
        assert!(log.problems.is_empty(), "{:?}", log.problems.list());
        assert!(log.index.samples() >= samples);
        samples = log.index.samples();
    }
    assert_eq!(samples, 1000);
}

#[test]
fn another_error_of_the_disk_says_what_was_saved() {
    let disk = Memory::with_room(400);
    disk.change(|state| state.error = Some(io::ErrorKind::Other));
    let recorder = create(&disk, "match.wpilog", RecordOptions { keep_free: 0, ..RecordOptions::default() }).unwrap();
    let error = run(recorder, 1000).unwrap_err();
    let OutputError::Disk { path, saved, .. } = &error else { panic!("{error}") };
    assert_eq!((&**path, *saved), (Path::new("match.wpilog"), disk.change(|s| s.files[path].len() as u64)));
    assert!(error.to_string().contains("recording stopped, "), "{error}");
    assert!(!counts(&disk, path).is_empty());
}

#[test]
fn a_full_disk_replaces_nothing() {
    for room in 0..60 {
        let disk = Memory::with_room(room);
        disk.change(|state| state.files.insert("match.wpilog".into(), b"precious".to_vec()));
        let options = RecordOptions { force: true, keep_free: 0, ..RecordOptions::default() };
        if let Some((_, end)) = recorded(&disk, "match.wpilog", options) {
            assert!(matches!(end, Err(OutputError::NoSpace { .. })));
        }
        assert_eq!(
            disk.change(|state| std::mem::take(&mut state.files)).into_values().collect::<Vec<_>>(),
            [b"precious"]
        );
    }
}

#[test]
fn a_recording_ends_while_the_disk_has_room_to_end_it() {
    for name in LOGS {
        let disk = Memory::with_room(u64::MAX);
        let mut recorder = create(&disk, name, RecordOptions { keep_free: 1000, ..RecordOptions::default() }).unwrap();
        let mut end = Ok(());
        for ms in (0..5000_i64).step_by(20) {
            disk.change(|state| state.free = 3000 - ms.unsigned_abs());
            end = recorder.take(&cycle(ms)).and_then(|()| recorder.tick(Time::from_millis(ms)));
            if end.is_err() {
                break;
            }
        }
        let error = end.unwrap_err();
        let OutputError::NoSpace { free, keep, saved, .. } = error else { panic!("{error}") };
        assert_eq!((free, keep), (0, 1000), "it is looked at each second");
        let path = Path::new(name);
        assert_eq!(saved, disk.change(|state| state.files[path].len() as u64));
        assert_eq!(counts(&disk, path), (0..=3000).step_by(20).collect::<Vec<_>>(), "all up to then");
        // Nothing more is written, and nothing more is said.
        recorder.take(&cycle(9000)).unwrap();
        recorder.tick(Time::from_millis(9000)).unwrap();
        recorder.finish().unwrap();
        assert_eq!(saved, disk.change(|state| state.files[path].len() as u64));
    }
}

#[test]
fn one_write_for_each_flush_and_one_sync_for_each_second() {
    let disk = Memory::with_room(u64::MAX);
    let recorder = create(&disk, "match.wpilog", RecordOptions { keep_free: 0, ..RecordOptions::default() }).unwrap();
    let watch = recorder.watch();
    run(recorder, 10_000).unwrap();
    let (writes, syncs) = disk.change(|state| (state.writes, state.syncs));
    assert!((40..=48).contains(&writes), "{writes}");
    assert!((9..=12).contains(&syncs), "{syncs}");
    assert_eq!(watch.samples(), 1000);
}
