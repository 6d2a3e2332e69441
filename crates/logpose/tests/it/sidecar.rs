use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use logpose::core::{ChannelId, Time, Value};
use logpose::{Cache, Log, OpenOptions, Order, Quiet};
use tempfile::TempDir;

use crate::support::{demo_dir, encode, rows};

fn keeping(folder: &Path) -> OpenOptions {
    let cache = Cache::Folder(folder.to_owned());
    OpenOptions { cache, cache_from: 0, cache_after: Duration::ZERO, ..OpenOptions::default() }
}

fn open(path: &Path, options: &OpenOptions) -> Log {
    Log::open_with(path, options, &Quiet).unwrap_or_else(|error| panic!("{error}"))
}

/// Everything that can be seen of an index.
fn seen(log: &Log) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let index = &log.index;
    for c in &index.channels {
        let places: Vec<u64> = c.positions.iter().collect();
        let about = (c.samples, c.bytes, c.first, c.last, c.sorted, c.positions.len());
        writeln!(text, "{:?} {about:?} {places:?}", c.channel).unwrap();
    }
    writeln!(text, "{:?} {:?} {:?}", index.slots, index.lives, index.steps).unwrap();
    writeln!(text, "{:?} {:?} {:?}", index.marks, index.spans, index.facts).unwrap();
    writeln!(text, "{} {} {}", index.placed, index.records, index.sorted).unwrap();
    writeln!(text, "{:?} {:?} {}", log.problems.list(), log.problems.kinds(), log.problems.lost_bytes()).unwrap();
    text
}

/// A log whose sidecar is small.
fn small() -> Vec<u8> {
    let channels = [("/a", "int64"), ("/b", "string[]"), ("/c", "double")];
    let samples: Vec<(ChannelId, Time, Value<'_>)> = (0..60)
        .map(|i: i64| match i % 3 {
            0 => (0, Time::from_millis(i), Value::Int64(i)),
            1 => (0, Time::from_millis(i), Value::Int64(-i)),
            _ => (2, Time::from_millis(100 - i), Value::Double(0.5)),
        })
        .collect();
    let mut bytes = encode("wpilog", &channels, &samples);
    // It ends in the middle of a record, so that there is a problem to keep.
    bytes.extend([0x30, 1, 8, 0]);
    bytes
}

fn only_sidecar(folder: &Path) -> PathBuf {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut files = Vec::new();
    for dialect in ["wpilog", "rlog"] {
        for folder in ["valid", "corrupt"] {
            let Ok(entries) = fs::read_dir(root.join(dialect).join(folder)) else { continue };
            files.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    files.retain(|path| path.extension().is_some_and(|e| e == "wpilog" || e == "rlog"));
    assert!(!files.is_empty());
    files.extend(fs::read_dir(demo_dir()).unwrap().map(|entry| entry.unwrap().path()));
    files
}

/// Opens a file without, first and second; compares all that can be seen. Returns whether the second was from a sidecar.
fn check(path: &Path) -> bool {
    let dir = TempDir::new().unwrap();
    let Ok(plain) = Log::open_with(path, &OpenOptions::default(), &Quiet) else { return false };
    let first = open(path, &keeping(dir.path()));
    assert!(!first.from_cache());
    let second = open(path, &keeping(dir.path()));
    assert_eq!(seen(&first), seen(&plain), "{}", path.display());
    assert_eq!(seen(&second), seen(&plain), "{}", path.display());
    if plain.bytes().len() < 300_000 {
        for order in [Order::File, Order::Time] {
            let [a, b] = [open(path, &OpenOptions::default()), open(path, &keeping(dir.path()))];
            assert!(rows(&[a], Vec::new(), order) == rows(&[b], Vec::new(), order), "{}", path.display());
        }
    }
    let ids: Vec<ChannelId> = (0..plain.index.channels.len() as ChannelId).collect();
    let of = |log: &Log| format!("{:?}", log.columns(&ids).unwrap().columns);
    assert!(of(&plain) == of(&second), "{}", path.display());
    second.from_cache()
}

#[test]
fn what_is_kept_says_the_same_as_a_fresh_index() {
    let mut kept = 0;
    for path in fixtures() {
        let plain = Log::open_with(&path, &OpenOptions::default(), &Quiet);
        // What was unwrapped, unpacked or joined is not what lies in the file.
        let is_the_file = |log: Log| std::fs::read(&path).unwrap() == log.bytes();
        let expected = plain.is_ok_and(is_the_file);
        assert_eq!(check(&path), expected, "{}", path.display());
        kept += usize::from(expected);
    }
    assert!(kept > 10, "{kept}");
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn what_is_kept_of_the_corpus_says_the_same() {
    for folder in ["wpilog", "rlog"] {
        let files = logpose_testkit::corpus_files(folder);
        let small = |path: &&PathBuf| fs::metadata(path).unwrap().len() < 2 << 20;
        let kept = files.iter().filter(small).filter(|path| check(path)).count();
        assert!(kept > 3, "{kept}");
    }
}

#[test]
fn every_change_of_the_file_is_seen() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    let whole = small();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let changes: [(&str, Vec<u8>); 4] = [
        ("append", [&whole[..], b"\0"].concat()),
        ("truncate", whole[..whole.len() - 1].to_vec()),
        ("flip", flipped(whole.len() / 2)),
        ("flip the last", flipped(whole.len() - 1)),
    ];
    for (what, changed) in changes {
        fs::write(&log, &whole).unwrap();
        let time = fs::metadata(&log).unwrap().modified().unwrap();
        open(&log, &keeping(&cache));
        assert!(open(&log, &keeping(&cache)).from_cache(), "{what}");
        fs::write(&log, changed).unwrap();
        File::options().write(true).open(&log).unwrap().set_modified(time).unwrap();
        let after = open(&log, &keeping(&cache));
        assert!(!after.from_cache(), "{what}");
        assert_eq!(seen(&after), seen(&open(&log, &OpenOptions::default())), "{what}");
    }
    open(&log, &keeping(&cache));
    let touched = SystemTime::now() - Duration::from_secs(100);
    File::options().write(true).open(&log).unwrap().set_modified(touched).unwrap();
    assert!(!open(&log, &keeping(&cache)).from_cache());
    assert!(open(&log, &keeping(&cache)).from_cache());
    let moved = dir.path().join("b.wpilog");
    fs::rename(&log, &moved).unwrap();
    fs::copy(&moved, &log).unwrap();
    // On Windows a copy has the times of its original and no inode; only the content differs.
    assert!(cfg!(windows) || !open(&log, &keeping(&cache)).from_cache());
}

#[test]
fn another_way_of_reading_is_another_index() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    fs::write(&log, small()).unwrap();
    let plain = keeping(&cache);
    open(&log, &plain);
    let mut few = plain.clone();
    few.limits.channels = 1;
    assert!(!open(&log, &few).from_cache());
    let salvage = OpenOptions { salvage: true, ..plain.clone() };
    assert!(!open(&log, &salvage).from_cache() && !open(&log, &salvage).from_cache());
    let beside = OpenOptions { cache: Cache::Beside, ..plain.clone() };
    assert!(!open(&log, &beside).from_cache() && open(&log, &beside).from_cache());
    assert!(dir.path().join("a.wpilog.lpx").is_file());
    few.cache = Cache::Beside;
    assert!(!open(&log, &few).from_cache());
    assert!(open(&log, &plain).from_cache());
}

#[test]
fn no_single_wrong_byte_changes_what_is_read() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    fs::write(&log, small()).unwrap();
    let expected = seen(&open(&log, &keeping(&cache)));
    let path = only_sidecar(&cache);
    let whole = fs::read(&path).unwrap();
    let mut used = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        let opened = open(&log, &keeping(&cache));
        used += usize::from(opened.from_cache());
        assert_eq!(seen(&opened), expected, "byte {at}");
    }
    // Wrong positions are found when they are asked for, and then the sidecar is gone.
    assert!(used > 0 && used < whole.len(), "{used}");
    for len in (0..whole.len()).step_by(5) {
        fs::write(&path, &whole[..len]).unwrap();
        assert_eq!(seen(&open(&log, &keeping(&cache))), expected, "{len} bytes");
    }
    fs::write(&path, [&whole[..], b"\0"].concat()).unwrap();
    assert!(!open(&log, &keeping(&cache)).from_cache());
    assert!(open(&log, &keeping(&cache)).from_cache());
    fs::remove_file(&path).unwrap();
    assert!(!open(&log, &keeping(&cache)).from_cache());
}

#[test]
fn a_large_log_is_kept_without_places_until_they_are_known() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    fs::write(&log, small()).unwrap();
    let light = OpenOptions { light_from: 0, ..keeping(&cache) };
    assert!(!open(&log, &light).from_cache());
    let second = open(&log, &light);
    assert!(second.from_cache() && !second.index.placed);
    let expected = rows(&[open(&log, &OpenOptions::default())], Vec::new(), Order::Time);
    assert_eq!(rows(&[second], Vec::new(), Order::Time), expected);
    let third = open(&log, &light);
    assert!(third.from_cache() && third.index.placed);
    assert_eq!(seen(&third), seen(&open(&log, &OpenOptions::default())));
    assert!(open(&log, &keeping(&cache)).from_cache());
    // Where places are wanted, an index without is not enough.
    drop(third);
    fs::remove_file(only_sidecar(&cache)).unwrap();
    open(&log, &light);
    let wanted = open(&log, &keeping(&cache));
    assert!(!wanted.from_cache() && wanted.index.placed);
}

#[test]
fn many_may_open_a_log_at_once() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    fs::write(&log, small()).unwrap();
    let expected = seen(&open(&log, &OpenOptions::default()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(seen(&open(&log, &keeping(&cache))), expected);
                    if let Ok(entries) = fs::read_dir(&cache) {
                        entries.flatten().for_each(|entry| drop(fs::remove_file(entry.path())));
                    }
                }
            });
        }
    });
    open(&log, &keeping(&cache));
    assert!(open(&log, &keeping(&cache)).from_cache());
    only_sidecar(&cache);
}

#[test]
fn a_folder_that_cannot_be_written_is_no_hindrance() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("a.wpilog");
    fs::write(&log, small()).unwrap();
    let expected = seen(&open(&log, &OpenOptions::default()));
    for cache in [log.join("cache"), PathBuf::from("/proc/nowhere"), dir.path().join("name\0zero")] {
        for _ in 0..2 {
            let opened = open(&log, &keeping(&cache));
            assert!(!opened.from_cache());
            assert_eq!(seen(&opened), expected);
        }
    }
    // A folder where the sidecar should be.
    fs::create_dir(dir.path().join("a.wpilog.lpx")).unwrap();
    let beside = OpenOptions { cache: Cache::Beside, ..keeping(dir.path()) };
    assert!(!open(&log, &beside).from_cache() && !open(&log, &beside).from_cache());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn nothing_is_kept_of_small_fresh_or_wrapped_files_nor_by_default() {
    let dir = TempDir::new().unwrap();
    let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
    fs::write(&log, small()).unwrap();
    let keeping = keeping(&cache);
    open(&log, &OpenOptions { cache_from: 1 << 20, ..keeping.clone() });
    open(&log, &OpenOptions { cache_after: Duration::from_secs(3600), ..keeping.clone() });
    open(&log, &OpenOptions { cache: Cache::Off, ..keeping.clone() });
    let packed = dir.path().join("a.wpilog.zst");
    fs::write(&packed, zstd::encode_all(&small()[..], 1).unwrap()).unwrap();
    open(&packed, &keeping);
    Log::from_bytes("a.wpilog", small(), &keeping).unwrap();
    assert!(!cache.exists());
    assert_eq!(OpenOptions::default().cache, Cache::Off);
}
