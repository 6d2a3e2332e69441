//! Over a lake, SQL answers what it answers over the logs themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use logpose::core::Value;
use logpose::{Log, OpenOptions, Quiet};
use logpose_lake::{Done, IngestOptions, Lake, Sources, ingest};
use logpose_query::{Engine, LakeTables, Options, Source};

/// A lake of files, and the logs that went in, by the names of files.
fn lake_of(files: &[PathBuf], place: &Path) -> (Lake, Vec<Arc<Log>>) {
    let lake = Lake::create(place.to_str().unwrap()).unwrap();
    let sources = Sources::find(files, place.to_str().unwrap());
    let mut names = Vec::new();
    ingest(&lake, sources, &IngestOptions::default(), &LakeTables, &Quiet, &mut |path, done| {
        if let Done::Added(_) = done {
            names.push(path.to_owned());
        }
        Ok(())
    })
    .unwrap();
    let open = |path: &PathBuf| Arc::new(Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap());
    (lake, names.iter().map(open).collect())
}

/// The rows of an answer as lines, in any order.
fn rows(engine: &Engine, sql: &str) -> Vec<String> {
    let mut answer = engine.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let columns: Vec<String> = answer.columns().into_iter().map(|(name, _)| name).collect();
    let mut lines = Vec::new();
    while let Some(rows) = answer.next_rows().unwrap_or_else(|error| panic!("{sql}: {error}")) {
        for row in 0..rows.len() {
            let cells: Vec<String> = (0..columns.len()).map(|column| rows.value(row, column)).collect();
            lines.push(cells.join("|"));
        }
    }
    lines.sort();
    lines.insert(0, columns.join("|"));
    lines
}

/// Questions about logs of every kind.
const QUESTIONS: &[&str] = &[
    "SELECT count(*) FROM samples",
    "SELECT log, count(*) FROM samples GROUP BY log",
    "SELECT channel, count(*), count(number), min(number), max(number) FROM samples GROUP BY channel",
    "SELECT log, channel, min(time), max(time), min(time_ns), max(time_ns) FROM samples GROUP BY log, channel",
    "SELECT log, channel, count(*) FROM samples WHERE time >= 1 AND time < 2.5 GROUP BY log, channel",
    "SELECT log, time, time_ns, number FROM samples WHERE channel LIKE '%Voltage' AND number < 12",
    "SELECT log, time_ns, channel, integer FROM samples WHERE integer > 5",
    "SELECT log, time_ns, channel, text FROM samples WHERE text IS NOT NULL AND length(text) < 40",
    "SELECT log, time_ns, channel, boolean FROM samples WHERE boolean",
    "SELECT log, time_ns, channel, encode(bytes, 'hex') FROM samples WHERE bytes IS NOT NULL AND time < 1",
    "SELECT log, time_ns, channel, numbers, integers, booleans, texts FROM samples WHERE time BETWEEN 0 AND 0.5",
    "SELECT log, channel, type, unit, samples, bytes, first, last, metadata FROM channels",
    "SELECT type, count(*), sum(samples) FROM channels GROUP BY type",
    "SELECT log, mode, enabled, start, \"end\", duration FROM modes",
    "SELECT log, event, kind, number, station FROM matches",
    "SELECT log, time, time_ns, channel, text, robot_time, sequence FROM console",
    "SELECT log, time, severity, code, details FROM errors",
    "SELECT log, severity, code, byte, length, message FROM problems",
    "SELECT log, bytes, dialect, first, last, epoch_ns, channels, samples, problems, match, event FROM logs WHERE samples IS NOT NULL",
    "SELECT l.dialect, count(*) FROM samples s JOIN logs l USING (log) GROUP BY l.dialect",
    "SELECT m.log, m.mode, count(*) FROM samples s JOIN modes m ON s.log = m.log AND s.time >= m.start AND s.time < m.\"end\" GROUP BY m.log, m.mode",
    "SELECT c.log, c.channel, c.samples - count(*) FROM channels c JOIN samples s ON s.log = c.log AND s.channel = c.channel GROUP BY c.log, c.channel, c.samples",
    "SELECT channel, time_bucket('1s', time) AS t, count(*) FROM samples WHERE time < 4 GROUP BY channel, t",
    "SELECT log, channel, number FROM samples WHERE number = 'NaN'::double",
    "SELECT count(*) FROM samples WHERE time > 1e18",
    "SELECT count(*) FROM samples WHERE channel = 'no such channel'",
    "SELECT DISTINCT log FROM samples WHERE time_ns > 1000000000",
];

fn assert_same_answers(files: &[PathBuf]) {
    let dir = tempfile::tempdir().unwrap();
    let (lake, logs) = lake_of(files, &dir.path().join("lake"));
    assert!(logs.len() > 1);
    let raw = Engine::new(logs, &Options { name_logs: true, ..Options::default() }).unwrap();
    let lake = Engine::over(Source::Lake(Arc::new(lake)), &Options::default()).unwrap();
    for sql in QUESTIONS {
        let (expected, found) = (rows(&raw, sql), rows(&lake, sql));
        assert_eq!(found.len(), expected.len(), "{sql}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{sql}");
        }
    }
    // What both have they have in one order of columns.
    for table in ["samples", "channels", "modes", "matches", "console", "errors", "problems", "logs"] {
        let (raw, lake) = (raw.columns(table).unwrap(), lake.columns(table).unwrap());
        let names: Vec<&String> = raw.iter().map(|(name, _)| name).collect();
        assert!(lake.iter().map(|(name, _)| name).zip(names).all(|(a, b)| a == b), "{table}: {raw:?} {lake:?}");
    }
}

#[test]
fn a_lake_answers_like_its_logs() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 5, force: false }).unwrap();
    assert_same_answers(&files);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_lake_of_the_corpus_answers_like_its_logs() {
    let files: Vec<PathBuf> =
        ["wpilog", "rlog", "carla", "ds"].iter().map(|name| logpose_testkit::corpus(name)).collect();
    assert_same_answers(&files);
}

#[test]
fn what_a_question_over_a_lake_touches_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 5, force: false }).unwrap();
    let (lake, logs) = lake_of(&files, &dir.path().join("lake"));
    let engine = Engine::over(Source::Lake(Arc::new(lake)), &Options::default()).unwrap();
    let name = logs[0].path.file_name().unwrap().to_str().unwrap();
    let plan = engine.explain(&format!("SELECT max(number) FROM samples WHERE log = '{name}' AND time > 1")).unwrap();
    assert_eq!(plan.matches(".parquet").count(), 1, "{plan}");
    assert!(plan.contains("time_ns@"), "{plan}");
    let plan = engine.explain("SELECT count(*) FROM samples WHERE channel = '~ none is called so'").unwrap();
    assert!(!plan.contains(".parquet"), "{plan}");
}

/// The samples of each channel of a log, in the order of time.
fn assert_same_samples(before: &Log, after: &Log) {
    assert_eq!(before.index.channels.len(), after.index.channels.len());
    for (id, found) in (0..).zip(&before.index.channels) {
        let same = &after.index.channels[id as usize];
        assert_eq!(
            (&found.channel.name, &found.channel.type_name, &found.channel.metadata),
            (&same.channel.name, &same.channel.type_name, &same.channel.metadata)
        );
        let (a, b) = (before.columns(&[id]).unwrap(), after.columns(&[id]).unwrap());
        let mut expected: Vec<_> = a.samples(&a.columns[0]).collect();
        expected.sort_by_key(|(time, _)| *time);
        let found: Vec<_> = b.samples(&b.columns[0]).collect();
        assert_eq!(found.len(), expected.len(), "{}", same.channel.name);
        for ((time, value), (at, expected)) in found.iter().zip(&expected) {
            assert!(time == at && Value::same(value, expected), "{}: {value:?} at {time}", same.channel.name);
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_sample_of_the_corpus_comes_back_from_a_lake() {
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> =
        ["wpilog", "rlog", "carla", "ds"].iter().map(|name| logpose_testkit::corpus(name)).collect();
    let (lake, logs) = lake_of(&files, &dir.path().join("lake"));
    assert!(logs.len() > 60, "{}", logs.len());
    let rows = lake.logs().unwrap();
    for log in logs {
        let source = std::fs::canonicalize(&log.path).unwrap().display().to_string();
        let row = rows.iter().find(|row| row.source == source).unwrap();
        let mut out = tempfile::NamedTempFile::with_suffix(".parquet").unwrap();
        assert_eq!(lake.restore(row, out.as_file_mut()).unwrap(), log.index.samples(), "{source}");
        let after = Log::open_with(out.path(), &OpenOptions::default(), &Quiet).unwrap();
        assert_eq!(after.epoch_ns(), log.epoch_ns(), "{source}");
        assert_same_samples(&log, &after);
    }
    assert_eq!(lake.verify(true, &mut |_| ()).unwrap().faults, []);
}
