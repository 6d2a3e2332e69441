//! Over a lake, SQL answers what it answers over the logs themselves.

use std::fs;
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

/// Questions of which both have the same answer, and that are answered from `channels` over a lake.
const WHOLE: &[&str] = &[
    "SELECT channel, count(*), count(number), count(integer), count(boolean), min(number), max(number) FROM samples GROUP BY channel",
    "SELECT log, channel, min(time), max(time), min(time_ns), max(time_ns) FROM samples s GROUP BY log, channel",
    "SELECT log, count(*) AS n FROM samples WHERE channel LIKE '%Voltage' OR channel LIKE '%o%' GROUP BY log HAVING count(*) > 3",
    "SELECT count(number), min(number), max(number) FROM samples WHERE channel = 'no such channel'",
    "SELECT DISTINCT s.log, channel FROM samples s WHERE s.channel > 'D'",
    "SELECT upper(channel) AS c, max(s.time) - min(s.time) FROM samples AS s GROUP BY upper(channel) ORDER BY c LIMIT 7",
    "SELECT l.match, c.n FROM logs l JOIN (SELECT log, count(*) AS n FROM samples GROUP BY log) c ON l.log = c.log",
];

/// Questions that look alike and need the samples.
const NOT_WHOLE: &[&str] = &[
    "SELECT channel, count(*) FROM samples WHERE time > 1 GROUP BY channel",
    "SELECT channel, count(DISTINCT number) FROM samples GROUP BY channel",
    "SELECT channel, max(integer), min(text) FROM samples GROUP BY channel",
    "SELECT channel, max(number) FILTER (WHERE number < 5) FROM samples GROUP BY channel",
    "SELECT channel, number > 5 AS high, count(*) FROM samples GROUP BY channel, high",
    "SELECT count(*), max(number) FROM (SELECT * FROM samples ORDER BY log, channel, time_ns, number LIMIT 10)",
];

/// Sums, whose last digits depend on the order of addition.
const SUMS: &[&str] = &[
    "SELECT channel, sum(number), avg(number) FROM samples GROUP BY channel ORDER BY channel",
    "SELECT log, avg(number) FROM samples WHERE channel LIKE '%Voltage' GROUP BY log ORDER BY log",
    "SELECT sum(number), avg(number) FROM samples WHERE channel LIKE '%Current%'",
];

fn assert_near(found: &[String], expected: &[String], sql: &str) {
    assert_eq!(found.len(), expected.len(), "{sql}");
    for (found, expected) in found.iter().zip(expected).flat_map(|(a, b)| a.split('|').zip(b.split('|'))) {
        let near = match (found.parse::<f64>(), expected.parse::<f64>()) {
            (Ok(a), Ok(b)) if a.is_finite() && b.is_finite() => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
            _ => found == expected,
        };
        assert!(near, "{sql}: {found} {expected}");
    }
}

fn assert_same_answers(files: &[PathBuf]) {
    let dir = tempfile::tempdir().unwrap();
    let (lake, logs) = lake_of(files, &dir.path().join("lake"));
    assert!(logs.len() > 1);
    let raw = Engine::new(logs, &Options { name_logs: true, ..Options::default() }).unwrap();
    let lake = Engine::over(Source::Lake(Arc::new(lake)), &Options::default()).unwrap();
    for sql in QUESTIONS.iter().chain(WHOLE).chain(NOT_WHOLE) {
        let (expected, found) = (rows(&raw, sql), rows(&lake, sql));
        assert_eq!(found.len(), expected.len(), "{sql}");
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{sql}");
        }
    }
    for sql in SUMS {
        assert_near(&rows(&lake, sql), &rows(&raw, sql), sql);
    }
    let touches_samples = |sql: &str| lake.explain(sql).unwrap().contains("samples/");
    for sql in WHOLE.iter().chain(SUMS) {
        assert!(!touches_samples(sql), "{sql}");
    }
    assert!(NOT_WHOLE.iter().all(|sql| touches_samples(sql)));
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
    let folders = ["wpilog", "rlog", "carla", "ds"].map(logpose_testkit::corpus);
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    // Damaged and rewritten copies have the samples of their originals, which every query would read again.
    let is_copy = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("derived-");
    // Their expected values lie beside them, and what is named has to be a log.
    let is_log = |path: &PathBuf| {
        path.extension().is_some_and(|extension| {
            ["wpilog", "rlog", "log", "rec", "dslog", "pcap", "pcapng"].contains(&&*extension.to_string_lossy())
        })
    };
    let files: Vec<PathBuf> = files.filter(|path| !is_copy(path) && is_log(path)).collect();
    assert!(files.len() > 40, "{files:#?}");
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
        "a.wpilog|0.001|1000000|/Drive/Pose|1.0|2.0|",
        "a.wpilog|0.002|2000000|/Arm/Tip|NaN|-0.0|",
        "b.wpilog|0.003|3000000|/Drive/Pose|3.0|4.0|7",
        "d.wpilog|0.005|5000000|/Arm/Tip||9.0|",
        "d.wpilog|0.006|6000000|/Arm/Tip|||",
    ];
    let second = ["log|time|time_ns|channel|x|y", "c.wpilog|0.004|4000000|/Drive/Pose|1.5|5"];
    for engine in [&raw, &lake] {
        assert_eq!(rows(engine, "SELECT * FROM \"struct_Point\""), first);
        assert_eq!(rows(engine, "SELECT * FROM struct_point_2"), second);
        assert_eq!(rows(engine, "SELECT channel FROM \"struct_Point\" WHERE channel = '/Arm/Tip' AND y = 9").len(), 2);
        assert!(rows(engine, "SHOW TABLES").iter().any(|row| row.contains("struct_Point_2")));
    }
}

#[test]
fn numbers_that_are_none_count_alike_over_whole_channels() {
    let dir = tempfile::tempdir().unwrap();
    let (minus, plus) = (-f64::NAN, f64::NAN);
    let values: [(&str, &[f64]); 6] = [
        ("nan", &[plus, minus]),
        ("some", &[1.0, plus, -2.5, minus]),
        ("zeros", &[0.0, -0.0]),
        ("minus", &[-0.0]),
        ("infinite", &[f64::INFINITY, f64::NEG_INFINITY, 1.0]),
        ("empty", &[]),
    ];
    let mut log = Making::new();
    for (name, values) in values {
        let id = log.channel(name, "double");
        (1..).zip(values).for_each(|(ms, x)| log.add(id, ms, Value::Double(*x)));
    }
    // Of one name and three types, one of which has a signalling NaN that is no number.
    let same = ["float", "int64", "boolean"].map(|kind| log.channel("same", kind));
    log.add(same[0], 5, Value::Float(1.5));
    log.add(same[0], 6, Value::Float(f32::from_bits(0x7fa0_0000)));
    log.add(same[1], 7, Value::Int64(i64::MAX));
    log.add(same[2], 8, Value::Boolean(true));
    let path = dir.path().join("a.wpilog");
    std::fs::write(&path, log.log("a.wpilog").bytes()).unwrap();
    let (lake, logs) = lake_of(&[path], &dir.path().join("lake"));
    let raw = Engine::new(logs, &Options { name_logs: true, ..Options::default() }).unwrap();
    let lake = Engine::over(Source::Lake(Arc::new(lake)), &Options::default()).unwrap();
    let columns =
        "count(*), count(number), count(integer), min(number), max(number), sum(number), avg(number), max(time)";
    for sql in [
        format!("SELECT channel, {columns} FROM samples GROUP BY channel"),
        format!("SELECT log, {columns} FROM samples WHERE channel <> 'some' GROUP BY log"),
        format!("SELECT {columns} FROM samples WHERE channel LIKE '%i%'"),
        format!("SELECT {columns} FROM samples WHERE channel = 'empty'"),
        "SELECT channel, arrow_typeof(count(number)), arrow_typeof(min(number)), arrow_typeof(avg(number)), arrow_typeof(max(time)), arrow_typeof(min(time_ns)) FROM samples GROUP BY channel".to_owned(),
    ] {
        assert_eq!(rows(&lake, &sql), rows(&raw, &sql), "{sql}");
        assert!(!lake.explain(&sql).unwrap().contains("samples/"), "{sql}");
    }
}

/// Questions about channels side by side, and about one; `{}` is the name of a log.
const ALIGNED: &[&str] = &[
    "SELECT * FROM wide('500ms', '*Battery*', '*Pose*') WHERE time < 4",
    "SELECT * FROM wide(NULL, '*Voltage') WHERE log = '{}' AND time BETWEEN 1 AND 2",
    "SELECT log, count(*), max(time) FROM wide('20ms', '*Current*', '/carla/*_time') GROUP BY log",
    "SELECT * FROM asof('/RealOutputs/Drive/Pose', '/SystemStats/BatteryVoltage', '50ms') WHERE time < 3",
    "SELECT log, time_ns, value FROM \"/SystemStats/BatteryVoltage\" WHERE log = '{}'",
    "SELECT log, time, value.translation.x FROM \"/RealOutputs/Drive/Pose (struct:Pose2d)\" WHERE time > 2",
    "SELECT * FROM \"/RealOutputs/Drive/Pose (struct:Pose2d)\" WHERE time < 1.5",
];

#[test]
fn channels_side_by_side_are_the_same_over_a_lake() {
    let dir = tempfile::tempdir().unwrap();
    let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 5, force: false }).unwrap();
    let wanted = ["rlog", "wpilog", "log"].map(Some);
    let some = files.into_iter().filter(|path| wanted.contains(&path.extension().and_then(|e| e.to_str())));
    let (lake, logs) = lake_of(&some.collect::<Vec<_>>(), &dir.path().join("lake"));
    let one = logs.iter().find(|log| log.channel("/SystemStats/BatteryVoltage").is_some()).unwrap();
    let name = one.path.file_name().unwrap().to_str().unwrap().to_owned();
    let lake = Arc::new(lake);
    let raw = Engine::new(logs.clone(), &Options { name_logs: true, ..Options::default() }).unwrap();
    let kept = Engine::over(Source::Lake(lake.clone()), &Options::default()).unwrap();
    for sql in ALIGNED {
        let sql = sql.replace("{}", &name);
        let expected = rows(&raw, &sql);
        assert!(expected.len() > 1, "{sql}");
        assert_eq!(rows(&kept, &sql), expected, "{sql}");
    }
    let every = raw.tables().filter(|name| name.starts_with('/')).step_by(9);
    let every: Vec<String> = every.map(str::to_owned).collect();
    assert!(every.len() > 10, "{every:?}");
    for channel in every {
        let sql = format!("SELECT * FROM {}", Engine::quoted(&channel));
        assert_eq!(rows(&kept, &sql), rows(&raw, &sql), "{sql}");
        assert_eq!(kept.columns(&channel), raw.columns(&channel), "{channel}");
    }
    let plan = kept.explain(&format!("SELECT * FROM wide('1s', '*Voltage') WHERE log = '{name}'")).unwrap();
    assert!(plan.contains("logs=1 of "), "{plan}");
    let error = kept.run("SELECT * FROM \"/no/such\"").err().unwrap();
    assert_eq!(error.code, "table-not-found");
    // Wall-clock time, of the logs that know it.
    let timed: Vec<Arc<Log>> = logs.iter().filter(|log| log.epoch_ns().is_some()).cloned().collect();
    assert!(!timed.is_empty());
    let names: Vec<String> =
        timed.iter().map(|log| format!("'{}'", log.path.file_name().unwrap().to_str().unwrap())).collect();
    let raw = Engine::new(timed, &Options { wall: true, name_logs: true, ..Options::default() }).unwrap();
    let kept = Engine::over(Source::Lake(lake), &Options { wall: true, ..Options::default() }).unwrap();
    let is_timed = format!("log IN ({})", names.join(", "));
    let middle =
        &rows(&raw, "SELECT arrow_cast(median(arrow_cast(time, 'Int64')), 'Timestamp(Nanosecond, None)') FROM samples")
            [1];
    let middle = middle.trim_matches('"').trim_end_matches('Z');
    for sql in [
        format!(
            "SELECT log, time, time_ns, channel, number FROM samples WHERE {is_timed} AND number IS NOT NULL AND time < TIMESTAMP '{middle}'"
        ),
        format!("SELECT log, min(time), max(time) FROM samples WHERE {is_timed} GROUP BY log"),
        format!("SELECT log, first, last, samples FROM logs WHERE {is_timed}"),
        format!("SELECT log, mode, start, \"end\" FROM modes WHERE {is_timed}"),
    ] {
        assert_eq!(rows(&kept, &sql), rows(&raw, &sql), "{sql}");
    }
    let error = kept.run("SELECT * FROM \"/SystemStats/BatteryVoltage\"").err().unwrap();
    assert!(error.message.contains("does not contain the wall-clock time"), "{error}");
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
    let all = logs.len();
    assert!(plan.contains(&format!("samples: 1 of {all} files, 1 of their 1 row groups")), "{plan}");
    let plan = engine.explain("SELECT count(*) FROM samples WHERE channel = '~' AND time > 1").unwrap();
    assert!(plan.contains(&format!("samples: 0 of {all} files, 0 of their 0 row groups")), "{plan}");
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
