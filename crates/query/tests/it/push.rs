use crate::support::{ask, engine, large, line, small};

#[test]
fn the_plan_says_what_is_read() {
    let engine = engine(vec![small("a.wpilog")]);
    let plan = |sql: &str| engine.explain(sql).unwrap();
    let one = plan("SELECT number FROM samples WHERE channel = '/Power/Volts' AND time BETWEEN 10 AND 20");
    assert!(one.contains("LogScan: table=samples, channels=1 of 9, columns=[number], time=[10.000s, 20.000s]"), "{one}");
    assert!(!one.contains("FilterExec"), "{one}");
    let few = plan("SELECT * FROM samples WHERE channel LIKE '/Drive/%' OR channel IN ('messages')");
    assert!(few.contains("channels=4 of 9") && few.contains("by=index") && !few.contains("FilterExec"), "{few}");
    let none = plan("SELECT * FROM samples WHERE channel = 'nothing' AND number > 1");
    assert!(none.contains("channels=0 of 9, ") && none.contains("bytes=0"), "{none}");
    let limit = plan("SELECT * FROM samples LIMIT 3");
    assert!(limit.contains("limit=3"), "{limit}");
    let sorted = plan("SELECT * FROM \"/Power/Volts\" ORDER BY time DESC LIMIT 1");
    assert!(sorted.contains("LogScan"), "{sorted}");
    let ordered = plan("SELECT * FROM \"/Power/Volts\" ORDER BY time");
    assert!(!ordered.contains("SortExec"), "{ordered}");
}

#[test]
fn counts_and_ends_come_from_the_index() {
    let engine = engine(vec![small("a.wpilog")]);
    for sql in [
        "SELECT count(*) FROM samples",
        "SELECT count(*) FROM \"/Power/Volts\"",
        "SELECT count(*), min(time), max(time_ns) FROM samples WHERE channel = '/Power/Volts'",
    ] {
        let plan = engine.explain(sql).unwrap();
        assert!(plan.contains("PlaceholderRowExec") && !plan.contains("LogScan"), "{plan}");
    }
    let sql = "SELECT count(*), min(time), max(time_ns) FROM samples WHERE channel = '/Power/Volts'";
    assert_eq!(line(&engine, sql), "300 0.0 29900000000");
}

#[test]
fn counting_measures_what_was_touched() {
    let engine = engine(vec![small("a.wpilog")]);
    let plan = line(&engine, "EXPLAIN ANALYZE SELECT sum(number) FROM samples WHERE channel = '/Drive/Count'");
    assert!(plan.contains("samples_decoded=30"), "{plan}");
    assert!(plan.contains("bytes_touched="), "{plan}");
}

/// A condition that the reader obeys leaves what the same condition leaves when every row is looked at.
#[test]
fn conditions_leave_the_same_rows_wherever_they_are_checked() {
    let engine = engine(vec![small("a.wpilog")]);
    let pairs = [
        ("time >= 0.1", "time + 0 >= 0.1"),
        ("time > 0.3", "time + 0 > 0.3"),
        ("time = 0.3", "time + 0 = 0.3"),
        ("time < 0.3", "time + 0 < 0.3"),
        ("time <= -1", "time + 0 <= -1"),
        ("20 <= time", "20 <= time + 0"),
        ("time_ns > 5000000000 AND time_ns <= 6000000000", "time_ns + 0 > 5000000000 AND time_ns + 0 <= 6000000000"),
        ("time NOT BETWEEN 1 AND 29", "time + 0 NOT BETWEEN 1 AND 29"),
        ("time BETWEEN 5 AND 4", "time + 0 BETWEEN 5 AND 4"),
        ("time > 10 OR channel = '/late'", "time + 0 > 10 OR channel = '/late'"),
        ("channel LIKE '%e%'", "channel || text IS NULL AND channel LIKE '%e%' OR channel || text IS NOT NULL AND channel LIKE '%e%'"),
        ("NOT channel = '/late'", "concat(channel, number) NOT LIKE '/late%'"),
        ("time > 'NaN'::double", "time + 0 > 'NaN'::double"),
    ];
    for (pushed, looked_at) in pairs {
        for table in ["samples", "(SELECT * FROM samples WHERE channel IN ('/late', 'messages'))"] {
            let rows = |condition: &str| {
                let sql = format!("SELECT channel, time_ns, number, integer, text FROM {table} WHERE {condition}");
                let mut rows = ask(&engine, &sql);
                rows.sort();
                rows
            };
            assert_eq!(rows(pushed), rows(looked_at), "{pushed} of {table}");
        }
    }
}

#[test]
fn a_large_log_is_read_in_windows() {
    let engine = engine(vec![large(40, 4000)]);
    let sql = "SELECT count(number), sum(number), min(time), max(time) FROM samples";
    let plan = engine.explain("SELECT sum(number) FROM samples").unwrap();
    assert!(plan.contains("windows=1 of 1"), "{plan}");
    let small = crate::support::with(
        vec![large(40, 4000)],
        &logpose_query::Options { threads: 2, memory: Some(16 << 20), ..Default::default() },
    );
    let plan = small.explain("SELECT sum(number) FROM samples").unwrap();
    assert!(!plan.contains("windows=1 of 1") && plan.contains("windows="), "{plan}");
    assert_eq!(line(&engine, sql), line(&small, sql));
    let plan = small.explain("SELECT sum(number) FROM samples WHERE time < 0.5").unwrap();
    assert!(plan.contains("windows=1 of "), "{plan}");
    let part = "SELECT count(*), sum(number) FROM samples WHERE time BETWEEN 1.5 AND 2.5";
    assert_eq!(line(&engine, part), line(&small, part));
    assert_eq!(line(&small, "SELECT count(*) FROM samples WHERE time BETWEEN 1.5 AND 2.5"), "40040");
}

#[test]
fn limits_stop_reading() {
    let engine = engine(vec![large(40, 4000)]);
    let plan = line(&engine, "EXPLAIN ANALYZE SELECT number FROM samples LIMIT 10");
    let decoded = plan.split("samples_decoded=").nth(1).unwrap();
    let decoded: String = decoded.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    assert!(decoded.parse::<f64>().unwrap() < 10_000.0, "{plan}");
    assert_eq!(ask(&engine, "SELECT number FROM samples LIMIT 10").len(), 10);
}
