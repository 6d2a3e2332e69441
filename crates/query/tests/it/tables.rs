use logpose_query::Options;

use crate::support::{Making, ask, engine, line, small, with};
use logpose::core::Value;

#[test]
fn channels_are_listed_with_what_the_index_knows() {
    let engine = engine(vec![small("a.wpilog")]);
    let sql = "SELECT channel, type, samples, first, last FROM channels WHERE channel LIKE '/Drive/%' ORDER BY channel";
    assert_eq!(
        line(&engine, sql),
        "/Drive/Count int64 30 0.0 29.0 | /Drive/Pose struct:Point 2 6.0 7.0 | /Drive/Speeds double[] 2 6.0 7.0"
    );
}

#[test]
fn samples_have_each_value_in_its_column() {
    let engine = engine(vec![small("a.wpilog")]);
    let values = |channel: &str| {
        let sql = format!(
            "SELECT time, time_ns, number, integer, boolean, text, bytes, numbers FROM samples
             WHERE channel = '{channel}' ORDER BY time_ns LIMIT 2"
        );
        line(&engine, &sql)
    };
    assert_eq!(values("/Power/Volts"), "0.0 0 12.0      | 0.1 100000000 11.99     ");
    assert_eq!(values("/Drive/Count"), "0.0 0  9223372036854775807     | 1.0 1000000000  9223372036854775797    ");
    assert_eq!(values("DS:enabled"), "0.0 0   false    | 5.0 5000000000   true   ");
    assert_eq!(values("/Arm/Tilt"), "0.05 50000000 1.5      | 1.05 1050000000 1.5     ");
    // What is no text is kept as bytes.
    assert_eq!(values("messages"), "8.0 8000000000    grün, \"gut\"   | 9.0 9000000000     bm90IP8gdGV4dA== ");
    assert_eq!(values("/Drive/Speeds"), "6.0 6000000000      [1.0,\"NaN\"] | 7.0 7000000000      [1.0,\"NaN\"]");
    assert_eq!(line(&engine, "SELECT count(*), count(number), count(integer) FROM samples"), "372 330 33");
}

#[test]
fn a_channel_is_a_table_in_the_order_of_time() {
    let engine = engine(vec![small("a.wpilog")]);
    assert_eq!(line(&engine, "SELECT time, value FROM \"/late\""), "0.1 100 | 0.2 200 | 0.3 300");
    assert_eq!(line(&engine, "SELECT time, value.x, value['y'] FROM \"/Drive/Pose\""), "6.0 60.0 -1.5 | 7.0 70.0 -1.5");
    assert_eq!(line(&engine, "SELECT value FROM \"/Drive/Pose\" LIMIT 1"), r#"{"x":60.0,"y":-1.5}"#);
    assert_eq!(line(&engine, "SELECT array_length(value) FROM \"/Drive/Speeds\" LIMIT 1"), "2");
    // A name without capitals and signs needs no quotes, and one with capitals none if only one is meant.
    assert_eq!(line(&engine, "SELECT value FROM messages LIMIT 1"), "grün, \"gut\"");
}

#[test]
fn columns_are_called_as_they_were_asked_for() {
    let engine = engine(vec![small("a.wpilog")]);
    let names =
        |sql: &str| -> Vec<String> { engine.run(sql).unwrap().columns().into_iter().map(|(name, _)| name).collect() };
    assert_eq!(names("SELECT value.x, avg(value.y) OVER () FROM \"/Drive/Pose\" LIMIT 1")[0], "value[x]");
    assert_eq!(
        names("SELECT channel, avg(number), max(s.time) FROM samples s GROUP BY 1"),
        ["channel", "avg(number)", "max(time)"]
    );
    assert_eq!(names("SELECT max(a.time), max(b.time) FROM \"/late\" a, messages b"), ["max(a.time)", "max(b.time)"]);
}

#[test]
fn a_channel_with_two_types_is_two_tables() {
    let mut log = Making::new();
    let first = log.channel("/x", "double");
    log.add(first, 1, Value::Double(1.0));
    let second = log.channel("/x", "int64");
    log.add(second, 2, Value::Int64(2));
    let engine = engine(vec![log.log("a.wpilog")]);
    assert_eq!(line(&engine, "SELECT value FROM \"/x (double)\""), "1.0");
    assert_eq!(line(&engine, "SELECT value FROM \"/x (int64)\""), "2");
    assert_eq!(line(&engine, "SELECT count(*) FROM samples WHERE channel = '/x'"), "2");
}

#[test]
fn a_family_is_one_table_with_the_key_as_a_column() {
    let mut log = Making::new();
    let schema = log.channel("/.schema/struct:Point", "structschema");
    log.add(schema, 0, Value::String(b"double x;double y;"));
    for actor in [7, 9] {
        let id = log.channel(&format!("/some/points/{actor}/at"), "struct:Point");
        for ms in 0..3 {
            let point = [(ms as f64).to_le_bytes(), f64::from(actor).to_le_bytes()].concat();
            log.add(id, ms, Value::Bytes(&point));
        }
    }
    // WPILOG has no families, so the index is told by hand.
    let mut log = log.log("a.wpilog");
    for found in &mut log.index.channels[1..] {
        let key = found.channel.name.split('/').nth(3).unwrap().to_owned();
        found.channel.family = Some(Box::new(("points".to_owned(), key)));
    }
    let engine = engine(vec![log]);
    assert_eq!(
        line(&engine, "SELECT key, count(*), max(x), avg(y) FROM points GROUP BY key ORDER BY key"),
        "7 3 2.0 7.0 | 9 3 2.0 9.0"
    );
    assert_eq!(line(&engine, "SELECT time, key, x, y FROM points WHERE key = '9' LIMIT 1"), "0.0 9 0.0 9.0");
    let plan = engine.explain("SELECT * FROM points WHERE key = '9'").unwrap();
    assert!(plan.contains("channels=1 of 2"), "{plan}");
}

#[test]
fn modes_and_matches_are_views() {
    let engine = engine(vec![small("FRC_20260321_142233_DEMO_Q12.wpilog")]);
    assert_eq!(
        line(&engine, "SELECT mode, enabled, start, \"end\", duration FROM modes"),
        "disabled false 0.0 5.0 5.0 | teleop true 5.0 29.9 24.9"
    );
    assert_eq!(line(&engine, "SELECT event, kind, number FROM matches"), "DEMO qualification 12");
    let sql = "SELECT m.mode, count(*) FROM samples s JOIN modes m ON s.time >= m.start AND s.time < m.end
               WHERE channel = '/Power/Volts' GROUP BY m.mode ORDER BY 1";
    assert_eq!(line(&engine, sql), "disabled 50 | teleop 249");
}

#[test]
fn consoles_and_errors_are_views() {
    let mut log = Making::new();
    let console = log.channel("/ds/console", "string");
    let stamps = log.channel("/ds/console/time", "double");
    let counts = log.channel("/ds/console/sequence", "int64");
    let errors = log.channel("/ds/errors", "json");
    let messages = log.channel("messages", "string");
    for (ms, text, stamp, count) in [(1, "ready", -3.5, 1), (3, "go", 2.25, 4)] {
        log.add(console, ms, Value::String(text.as_bytes()));
        log.add(stamps, ms, Value::Double(stamp));
        log.add(counts, ms, Value::Int64(count));
    }
    log.add(messages, 2, Value::String(b"mine"));
    let error = br#"{"severity":"error","code":-44009,"details":"gone","location":"main","time":2.5,"sequence":5}"#;
    log.add(errors, 4, Value::String(error));
    log.add(errors, 5, Value::String(b"no JSON"));
    let engine = engine(vec![log.log("ds.wpilog")]);
    assert_eq!(
        line(&engine, "SELECT time_ns, channel, text, robot_time, sequence FROM console"),
        "1000000 /ds/console ready -3.5 1 | 2000000 messages mine   | 3000000 /ds/console go 2.25 4"
    );
    assert_eq!(
        line(&engine, "SELECT time_ns, severity, code, details, location, robot_time, sequence FROM errors"),
        "4000000 error -44009 gone main 2.5 5"
    );
}

#[test]
fn several_logs_have_the_column_log() {
    let engine = engine(vec![small("x/a.wpilog"), small("y/a.wpilog"), small("b.wpilog")]);
    assert_eq!(
        line(&engine, "SELECT log, count(*) FROM samples GROUP BY log ORDER BY log"),
        "b.wpilog 372 | x/a.wpilog 372 | y/a.wpilog 372"
    );
    assert_eq!(line(&engine, "SELECT count(*), count(DISTINCT log) FROM \"/Power/Volts\""), "900 3");
    assert_eq!(
        line(&engine, "SELECT log, value FROM \"/Power/Volts\" WHERE log = 'b.wpilog' LIMIT 1"),
        "b.wpilog 12.0"
    );
    let first = ask(&engine, "SELECT log, time FROM \"/late\" ORDER BY log, time");
    assert_eq!(first.len(), 9);
    assert_eq!(first[3], ["x/a.wpilog", "0.1"]);
    for table in ["channels", "modes", "samples", "\"/late\"", "wide('1s', '/late')"] {
        assert_eq!(ask(&engine, &format!("SELECT DISTINCT log FROM {table}")).len(), 3, "{table}");
    }
    let one = with(vec![small("b.wpilog")], &Options { name_logs: true, ..Options::default() });
    assert_eq!(line(&one, "SELECT DISTINCT log FROM samples"), "b.wpilog");
}

#[test]
fn wall_clock_time_is_a_timestamp() {
    let made = |second: i64| {
        let mut log = Making::new();
        let system = log.channel("systemTime", "int64");
        let x = log.channel("/x", "double");
        log.add(system, 1000, Value::Int64(1_773_000_000_000_000 + second * 1_000_000));
        log.add(x, 2000, Value::Double(1.0));
        log.log(&format!("{second}.wpilog"))
    };
    let engine = with(vec![made(0), made(60)], &Options { wall: true, ..Options::default() });
    assert_eq!(
        line(&engine, "SELECT log, time, time_ns FROM \"/x\" ORDER BY time"),
        "0.wpilog 2026-03-08T20:00:01.000000Z 2000000000 | 60.wpilog 2026-03-08T20:01:01.000000Z 2000000000"
    );
    let sql = "SELECT log FROM \"/x\" WHERE time > '2026-03-08T20:00:30Z'";
    assert_eq!(line(&engine, sql), "60.wpilog");
    assert!(engine.explain(sql).unwrap().contains("channels=1 of 2"));
    let none = logpose_query::Engine::new(
        vec![std::sync::Arc::new(small("a.wpilog"))],
        &Options { wall: true, ..Options::default() },
    );
    assert_eq!(none.unwrap_err().code, "no-epoch");
}

#[test]
fn times_fall_into_buckets() {
    let engine = engine(vec![small("a.wpilog")]);
    let sql = "SELECT time_bucket('10s', time) AS t, count(*) FROM \"/Power/Volts\" GROUP BY t ORDER BY t";
    assert_eq!(line(&engine, sql), "0.0 100 | 10.0 100 | 20.0 100");
    let sql =
        "SELECT time_bucket('100ms', 0.3), time_bucket('1s', -5), time_bucket('1s', TIMESTAMP '2026-01-01T00:00:01.5')";
    assert_eq!(line(&engine, sql), "0.3 -1000000000 2026-01-01T00:00:01");
}

#[test]
fn the_tables_and_their_columns_can_be_shown() {
    let engine = engine(vec![small("a.wpilog")]);
    let tables = ask(&engine, "SHOW TABLES");
    assert!(tables.iter().any(|row| row.contains(&"/Drive/Pose".to_owned())), "{tables:?}");
    let columns: Vec<String> = ask(&engine, "DESCRIBE samples").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(columns[..5], ["time", "time_ns", "channel", "number", "integer"]);
    assert_eq!(engine.columns("/Drive/Count").unwrap()[2], ("value".to_owned(), "Int64".to_owned()));
}
