//! The Driver Station's logs: two files that are one log, and folders full of them.

use std::path::{Path, PathBuf};

use logpose::core::{Lookup, Severity};
use logpose::season;
use logpose::{ConvertOptions, Log, OpenOptions, Order, Quiet};
use tempfile::TempDir;

use crate::support::{convert_to, open, rows};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dslog/valid");
    std::fs::read(folder.join(name)).unwrap()
}

fn put(dir: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn has(log: &Log, name: &str) -> bool {
    log.channel(name).is_some()
}

#[test]
fn naming_one_of_a_pair_opens_both() {
    for (a, b) in [
        ("q 1.dslog", "q 1.dsevents"),
        ("q.dslog", "q.DSEVENTS"),
        ("q.DSLOG", "q.DsEvents"),
        ("q.v2.dslog", "q.v2.dsevents"),
    ] {
        let dir = TempDir::new().unwrap();
        let log_path = put(&dir, a, &fixture("match.dslog"));
        let events_path = put(&dir, b, &fixture("match.dsevents"));
        put(&dir, "other.dsevents", b"of another log");
        for (path, companion) in [(&log_path, &events_path), (&events_path, &log_path)] {
            let log = open(path);
            // Where case does not matter, a file is found under other names than its own.
            let name = |path: &Path| path.to_string_lossy().to_lowercase();
            assert_eq!(&log.path, path);
            assert_eq!(log.companion().map(name), Some(name(companion)));
            assert!(cfg!(windows) || log.companion() == Some(companion));
            assert!(has(&log, "/ds/battery") && has(&log, "/ds/console") && log.problems.is_empty(), "{a}");
            assert_eq!(log.file_len(), (fixture("match.dslog").len() + fixture("match.dsevents").len()) as u64);
            assert_eq!(log.epoch_ns(), Some(1_646_552_020_500_000_000));
        }
    }
}

#[test]
fn a_file_alone_is_a_log() {
    let dir = TempDir::new().unwrap();
    let log = open(&put(&dir, "a.dslog", &fixture("match.dslog")));
    let events = open(&put(&dir, "b.dsevents", &fixture("match.dsevents")));
    assert!(has(&log, "/ds/battery") && !has(&log, "/ds/console") && log.companion().is_none());
    assert!(!has(&events, "/ds/battery") && has(&events, "/ds/console") && events.companion().is_none());
    assert!(log.problems.is_empty() && events.problems.is_empty());
    // Bytes in memory have nothing beside them.
    let path = dir.path().join("b.dslog");
    let log = Log::from_bytes(path.to_str().unwrap(), fixture("match.dslog"), &OpenOptions::default()).unwrap();
    assert!(log.companion().is_none());
}

#[test]
fn wrapped_files_are_pairs_too() {
    let dir = TempDir::new().unwrap();
    let gz = |name: &str| gz(&fixture(name));
    for (a, log, b, events) in [
        ("a.dslog.gz", gz("match.dslog"), "a.dsevents", fixture("match.dsevents")),
        ("b.dslog", fixture("match.dslog"), "b.dsevents.gz", gz("match.dsevents")),
        ("c.dslog.gz", gz("match.dslog"), "c.dsevents.gz", gz("match.dsevents")),
    ] {
        let (log, _) = (put(&dir, a, &log), put(&dir, b, &events));
        let log = open(&log);
        assert!(has(&log, "/ds/battery") && has(&log, "/ds/console") && log.problems.is_empty(), "{a}");
    }
    let alone = open(&put(&dir, "d.dslog.gz", &gz("match.dslog")));
    assert!(has(&alone, "/ds/battery") && alone.companion().is_none());
    // A companion that was cut keeps what came out of it, and is named.
    let cut = gz("match.dsevents");
    put(&dir, "e.dsevents.gz", &cut[..cut.len() * 2 / 3]);
    let log = open(&put(&dir, "e.dslog", &fixture("match.dslog")));
    assert!(has(&log, "/ds/events"));
    assert!(log.problems.list().iter().all(|p| p.message.starts_with("e.dsevents.gz: ")), "{:?}", log.problems);
}

#[test]
fn a_companion_of_another_log_is_not_joined() {
    let mut late = fixture("match.dsevents");
    late[11] += 3;
    let mut near = fixture("match.dsevents");
    near[11] += 2;
    for (events, why) in [
        (late, Some("it starts at 2022-03-06T07:33:43.500000000Z, this log at 2022-03-06T07:33:40.500000000Z")),
        (near, None),
        (b"nonsense".to_vec(), Some("seconds needs 8 bytes, 4 left")),
        (fixture("match.dslog"), Some("its contents are those of a .dslog file")),
        (Vec::new(), Some("the file is empty")),
        (fixture("match.dsevents")[..20].to_vec(), None),
    ] {
        let dir = TempDir::new().unwrap();
        put(&dir, "x.dsevents", &events);
        let log = open(&put(&dir, "x.dslog", &fixture("match.dslog")));
        assert_eq!(log.companion().is_some(), why.is_none(), "{why:?}");
        let Some(why) = why else { continue };
        let [problem] = log.problems.list() else { panic!("{:?}", log.problems) };
        assert_eq!((problem.severity, problem.code, problem.at), (Severity::Warning, "companion", None));
        assert!(problem.message.starts_with("x.dsevents is not opened with it: "), "{problem}");
        assert!(problem.message.contains(why), "{problem}");
        assert!(has(&log, "/ds/battery") && !has(&log, "/ds/console"));
    }
}

#[test]
fn problems_are_reported_with_the_byte_of_their_file() {
    let dir = TempDir::new().unwrap();
    let (log, events) = (fixture("match.dslog"), fixture("match.dsevents"));
    let log_path = put(&dir, "x.dslog", &log[..log.len() - 1]);
    let events_path = put(&dir, "x.dsevents", &events[..events.len() - 1]);
    let problems = |path: &Path| open(path).problems.list().iter().map(ToString::to_string).collect::<Vec<_>>();
    let (in_log, in_events) = (
        "power distribution needs 33 bytes, 32 left; skipped the last 46 bytes",
        "text needs 23 bytes, 22 left; skipped the last 42 bytes",
    );
    assert_eq!(problems(&log_path), [format!("byte 0x201: {in_log}"), format!("byte 0x599: x.dsevents: {in_events}")]);
    assert_eq!(problems(&events_path), [format!("byte 0x201: x.dslog: {in_log}"), format!("byte 0x599: {in_events}")]);
}

#[test]
fn a_pair_is_converted_and_comes_back() {
    let dir = TempDir::new().unwrap();
    put(&dir, "x.dsevents", &fixture("match.dsevents"));
    let path = put(&dir, "x.dslog", &fixture("match.dslog"));
    let expected = rows(&[open(&path)], vec![Lookup::default()], Order::Time);
    assert!(expected.is_sorted_by_key(|(_, _, time, _)| *time));
    for name in ["x.wpilog", "x.parquet", "x.mcap"] {
        let other = dir.path().join(name);
        let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
        assert!(convert_to(&[open(&path)], Vec::new(), &other, &options).unwrap().verified, "{name}");
        let mut found = rows(&[open(&other)], vec![Lookup::default()], Order::Time);
        let mut expected = expected.clone();
        found.sort();
        expected.sort();
        assert!(found == expected, "{name}");
    }
}

#[test]
fn a_light_index_gives_the_same_rows() {
    let dir = TempDir::new().unwrap();
    put(&dir, "x.dsevents", &fixture("match.dsevents"));
    let path = put(&dir, "x.dslog", &fixture("match.dslog"));
    let light = Log::open_with(&path, &OpenOptions { light_from: 0, ..OpenOptions::default() }, &Quiet).unwrap();
    assert!(!light.index.placed);
    for order in [Order::File, Order::Time] {
        let lookup = || vec![Lookup::default()];
        assert!(rows(&[open(&path)], lookup(), order) == rows(std::slice::from_ref(&light), lookup(), order));
    }
    let ids: Vec<u32> = (0..light.index.channels.len() as u32).collect();
    let count = |log: &Log| log.columns(&ids).unwrap().columns.iter().map(|c| c.samples()).sum::<usize>();
    assert_eq!(count(&light), count(&open(&path)));
}

#[test]
fn a_version_that_is_not_read_names_its_season() {
    let mut old = fixture("match.dslog");
    old[3] = 1;
    let error = Log::from_bytes("x.dslog", old, &OpenOptions::default()).unwrap_err();
    assert!(error.to_string().contains("written by the Driver Station of 2014"), "{error}");
}

#[test]
fn a_season_is_listed_by_its_starts() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str, seconds: u8| {
        let mut bytes = fixture(name);
        bytes[11] += seconds;
        bytes
    };
    put(&dir, "b/late.dslog", &at("v4-pdp.dslog", 30));
    put(&dir, "a/match.dslog", &fixture("match.dslog"));
    put(&dir, "a/match.dsevents", &fixture("match.dsevents"));
    put(&dir, "a/deeper/alone.DSEVENTS", &at("v3.dsevents", 5));
    put(&dir, "a/two.dslog", &at("v3-pdp.dslog", 10));
    put(&dir, "a/two.dsevents.gz", &gz(&at("match.dsevents", 20)));
    put(&dir, "old.dslog", &[b"\0\0\0\x02".to_vec(), fixture("match.dslog")[4..].to_vec()].concat());
    put(&dir, "broken.dslog", b"x");
    put(&dir, "readme.txt", b"not a log");
    #[cfg(unix)]
    std::os::unix::fs::symlink(dir.path(), dir.path().join("a/round")).unwrap();
    let found = season::list(&[dir.path().to_owned()], 2).unwrap();
    let names: Vec<_> = found
        .iter()
        .map(|entry| entry.path().strip_prefix(dir.path()).unwrap().to_str().unwrap().replace('\\', "/"))
        .collect();
    assert_eq!(
        names,
        [
            "a/match.dslog",
            "a/deeper/alone.DSEVENTS",
            "a/two.dslog",
            "a/two.dsevents.gz",
            "b/late.dslog",
            "broken.dslog",
            "old.dslog"
        ]
    );
    assert_eq!(found.iter().filter(|entry| entry.error.is_some()).count(), 2);
    let first = &found[0];
    assert!(first.dsevents.is_some() && first.summary.played.as_ref().unwrap().number == Some(35));
    assert_eq!((first.summary.brownouts, first.summary.drops), (1, 1));
    assert_eq!(found[2].summary.problems.kinds()[0].0, "companion");
    assert!(found[6].error.as_ref().unwrap().contains("2015"), "{:?}", found[6].error);
    // A file that is named brings its companion along.
    let one = season::list(&[dir.path().join("a/match.dsevents")], 1).unwrap();
    assert_eq!((one.len(), one[0].path()), (1, &*dir.path().join("a/match.dslog")));
    assert!(season::list(&[dir.path().join("nowhere")], 1).is_err());
}
