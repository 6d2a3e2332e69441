use crate::support::{Making, ask, engine, line, small};
use logpose::core::Value;

#[test]
fn wide_holds_the_last_value() {
    let engine = engine(vec![small("a.wpilog")]);
    let sql = "SELECT time, \"/Power/Volts\", \"/Arm/Tilt\", \"/Drive/Pose.x\", \"messages\"
               FROM wide('1s', '/Power/*', '/Arm/*', '/Drive/Pose', 'messages') WHERE time BETWEEN 6 AND 8";
    assert_eq!(line(&engine, sql), "6.0 11.4 1.5 60.0  | 7.0 11.3 1.5 70.0  | 8.0 11.2 1.5 70.0 grün, \"gut\"");
    assert_eq!(line(&engine, "SELECT count(*), max(time) FROM wide('20ms', '/Power/*')"), "1496 29.9");
    let columns = engine.columns("/Drive/Pose").unwrap();
    assert_eq!(columns.len(), 3);
}

#[test]
fn wide_reads_only_what_is_asked_for() {
    let engine = engine(vec![small("a.wpilog")]);
    let plan = engine.explain("SELECT \"/Power/Volts\" FROM wide('20ms', '*') WHERE time < 1").unwrap();
    assert!(plan.contains("AlignedScan: table=wide, channels=1 of 9, every=0.020s, time=limited"), "{plan}");
    assert!(!plan.contains("FilterExec"), "{plan}");
    assert_eq!(ask(&engine, "SELECT time FROM wide('20ms', '*') LIMIT 5").len(), 5);
}

/// What `wide` gives is what looking for the last sample of each channel gives.
#[test]
fn wide_is_the_last_sample_before_each_time() {
    let engine = engine(vec![small("a.wpilog")]);
    let wide = line(&engine, "SELECT \"/Arm/Tilt\", \"/Drive/Count\" FROM wide('130ms', '/Arm/*', '/Drive/Count')");
    let samples = |channel: &str| -> Vec<(i64, String)> {
        let rows = ask(&engine, &format!("SELECT time_ns, value FROM \"{channel}\""));
        rows.into_iter().map(|row| (row[0].parse().unwrap(), row[1].clone())).collect()
    };
    let (tilt, count) = (samples("/Arm/Tilt"), samples("/Drive/Count"));
    let last = |samples: &[(i64, String)], at: i64| {
        samples.iter().rfind(|(time, _)| *time <= at).map_or(String::new(), |(_, value)| value.clone())
    };
    let ends = [tilt[tilt.len() - 1].0, count[count.len() - 1].0];
    let (first, end) = (tilt[0].0.min(count[0].0), ends[0].max(ends[1]));
    let naive: Vec<String> = (0..)
        .map(|row| first + row * 130_000_000)
        .take_while(|at| *at <= end)
        .map(|at| format!("{} {}", last(&tilt, at), last(&count, at)))
        .collect();
    assert_eq!(wide, naive.join(" | "));
}

#[test]
fn without_a_period_there_is_a_row_for_every_time() {
    let mut log = Making::new();
    let (a, b) = (log.channel("/a", "int64"), log.channel("/b", "int64"));
    for (channel, ms) in [(a, 10), (b, 10), (b, 30), (a, 20), (b, 20)] {
        log.add(channel, ms, Value::Int64(ms));
    }
    let engine = engine(vec![log.log("a.wpilog")]);
    for period in ["NULL", "''"] {
        let sql = format!("SELECT time, \"/a\", \"/b\" FROM wide({period}, '/*')");
        assert_eq!(line(&engine, &sql), "0.01 10 10 | 0.02 20 20 | 0.03 20 30");
    }
}

#[test]
fn asof_gives_the_value_that_was_known() {
    let mut log = Making::new();
    let (a, b) = (log.channel("/a", "int64"), log.channel("/b", "double"));
    for ms in [10, 20, 20, 50] {
        log.add(a, ms, Value::Int64(ms));
    }
    for ms in [15, 20, 45] {
        log.add(b, ms, Value::Double(ms as f64));
    }
    let engine = engine(vec![log.log("a.wpilog")]);
    let all = "SELECT time, \"/a\", \"/b\" FROM asof('/a', '/b')";
    assert_eq!(line(&engine, all), "0.01 10  | 0.02 20 20.0 | 0.02 20 20.0 | 0.05 50 45.0");
    let fresh = "SELECT \"/a\", \"/b\" FROM asof('/a', '/b', '1ms')";
    assert_eq!(line(&engine, fresh), "10  | 20 20.0 | 20 20.0 | 50 ");
    let part = "SELECT \"/a\", \"/b\" FROM asof('/a', '/b') WHERE time > 0.01 AND time < 0.05";
    assert_eq!(line(&engine, part), "20 20.0 | 20 20.0");
    assert_eq!(line(&engine, "SELECT \"/b\" FROM asof('/a', '/b') WHERE time >= 0.05"), "45.0");
}
