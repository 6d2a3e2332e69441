//! Over a lake, SQL answers what it answers over the logs themselves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use logpose::core::Value;
use logpose::{Log, OpenOptions, Quiet};
use logpose_lake::{Done, IngestOptions, Lake, Sources, ingest};
use logpose_query::{Engine, LakeTables, Options, Source};

use crate::support::Making;

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
    // The tables of a lake are those of logs, with the same columns in the same order; `logs` and `channels` have more.
    let stored: Vec<String> = lake.tables().map(str::to_owned).collect();
    assert!(stored.iter().any(|name| name.starts_with("struct_")), "{stored:?}");
    for table in &stored {
        let (raw, lake) = (raw.columns(table).unwrap(), lake.columns(table).unwrap());
        assert!(lake.len() == raw.len() || ["logs", "channels"].contains(&table.as_str()), "{table}");
        let plain = |columns: &[(String, String)]| -> Vec<(String, String)> {
            let whole = |kind: String| {
                ["UInt8", "UInt16", "UInt32", "UInt64", "Int8", "Int16", "Int32"]
                    .iter()
                    .fold(kind, |kind, narrow| kind.replace(narrow, "Int64"))
            };
            let text = |kind: &str| whole(kind.replace("Dictionary(Int32, Utf8)", "Utf8"));
            columns.iter().map(|(name, kind)| (name.clone(), text(kind))).collect()
        };
        let (raw, lake) = (plain(&raw), plain(&lake));
        assert!(lake.starts_with(&raw), "{table}: {raw:?} {lake:?}");
    }
    for table in &stored {
        let name = Engine::quoted(table);
        let sql = match table.starts_with("struct_") {
            true => format!("SELECT * FROM {name} WHERE time < 30"),
            false => format!("SELECT log, count(*) FROM {name} GROUP BY log"),
        };
        if table != "logs" {
            assert_eq!(rows(&lake, &sql), rows(&raw, &sql), "{sql}");
        }
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

/// A log with points: `fields` is their schema, and each row is of one of the channels.
fn points(fields: &str, rows: &[(usize, i64, Vec<u8>)]) -> Log {
    let mut log = Making::new();
    let schema = log.channel("/.schema/struct:Point", "structschema");
    let channels = ["/Drive/Pose", "/Arm/Tip"].map(|name| log.channel(name, "struct:Point"));
    log.add(schema, 0, Value::String(fields.as_bytes()));
    for (channel, ms, payload) in rows {
        log.add(channels[*channel], *ms, Value::Bytes(payload));
    }
    log.log("points.wpilog")
}

#[test]
fn versions_of_a_struct_share_a_table_unless_a_field_changes_its_type() {
    let dir = tempfile::tempdir().unwrap();
    let doubles = |values: &[f64]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let more = [doubles(&[3.0, 4.0]), 7_i32.to_le_bytes().to_vec()].concat();
    let logs = [
        ("a.wpilog", points("double x;double y;", &[(0, 1, doubles(&[1.0, 2.0])), (1, 2, doubles(&[f64::NAN, -0.0]))])),
        ("b.wpilog", points("double x;double y;int32 time;", &[(0, 3, more)])),
        ("c.wpilog", points("float x;int32 y;", &[(0, 4, [1.5_f32.to_le_bytes(), 5_i32.to_le_bytes()].concat())])),
        ("d.wpilog", points("double y;", &[(1, 5, doubles(&[9.0])), (1, 6, vec![1, 2])])),
    ];
    let write = |(name, log): &(&str, Log)| {
        let path = dir.path().join(name);
        std::fs::write(&path, log.bytes()).unwrap();
        path
    };
    let files: Vec<PathBuf> = logs.iter().map(write).collect();
    let (lake, logs) = lake_of(&files, &dir.path().join("lake"));
    let names = lake.tables().unwrap();
    assert!(names.contains(&"struct_Point".to_owned()) && names.contains(&"struct_Point_2".to_owned()), "{names:?}");
    let raw = Engine::new(logs, &Options::default()).unwrap();
    let lake = Engine::over(Source::Lake(Arc::new(lake)), &Options::default()).unwrap();
    let first = [
        "log|time|time_ns|channel|x|y|time_2",
        "\"a.wpilog\"|0.001|1000000|\"/Drive/Pose\"|1|2|null",
        "\"a.wpilog\"|0.002|2000000|\"/Arm/Tip\"|\"NaN\"|-0|null",
        "\"b.wpilog\"|0.003|3000000|\"/Drive/Pose\"|3|4|7",
        "\"d.wpilog\"|0.005|5000000|\"/Arm/Tip\"|null|9|null",
        "\"d.wpilog\"|0.006|6000000|\"/Arm/Tip\"|null|null|null",
    ];
    let second = ["log|time|time_ns|channel|x|y", "\"c.wpilog\"|0.004|4000000|\"/Drive/Pose\"|1.5|5"];
    for engine in [&raw, &lake] {
        assert_eq!(rows(engine, "SELECT * FROM \"struct_Point\""), first);
        assert_eq!(rows(engine, "SELECT * FROM struct_point_2"), second);
        assert_eq!(rows(engine, "SELECT channel FROM \"struct_Point\" WHERE channel = '/Arm/Tip' AND y = 9").len(), 2);
        assert!(rows(engine, "SHOW TABLES").iter().any(|row| row.contains("struct_Point_2")));
    }
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
