//! What looks at every sample: statistics, SQL, export.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use logpose::stats::{self, Kind, StatsOptions};
use logpose::{ClockMap, Log, OpenOptions};
use logpose_core::{Lookup, Time, Value};
use logpose_server::{LiveClock, Options, Server, Sql, SqlAnswer, SqlError};
use logpose_testkit::until_so;
use serde_json::json;

use crate::live_kit::{self, batch, fed, ms};
use crate::support::{Batch, Client, FRC, named, numbers, open, reference, serve, serve_all, session};

#[test]
fn statistics_are_those_of_the_library() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let (start, end) = (Time::from_millis(3000), Time::from_millis(9000));
    let lookup = Lookup { start: Some(start), end: Some(end), ..Lookup::default() };
    let all = stats::of(&log, &lookup, &StatsOptions::default()).unwrap();
    let mut checked = 0;
    for channel in &all {
        for row in channel.rows.iter().filter(|row| !row.path.ends_with(".bytes")) {
            let Kind::Numbers(numbers) = &row.kind else { continue };
            let query = json!({"start": 3, "end": 9, "bins": 8, "series": [{"log": 0, "channel": channel.id, "path": row.path}]});
            let found = client.json("/api/stats", &query)["series"][0].clone();
            let expected = json!({
                "samples": channel.samples,
                "count": row.count - numbers.nan,
                "min": numbers.min.as_ref().and_then(|(x, _)| x.number()),
                "max": numbers.max.as_ref().and_then(|(x, _)| x.number()),
                "mean": numbers.mean,
                "stddev": numbers.stddev,
                "median": numbers.median,
                "p05": numbers.percentiles[0].1,
                "p95": numbers.percentiles[1].1,
                "first": row.first.number(),
                "last": row.last.number(),
                "rate_hz": channel.timing.rate_hz(),
                "longest_gap": channel.timing.longest_gap.map(|(a, b)| (a.seconds(), b.seconds())),
            });
            let mut rest = found.as_object().unwrap().clone();
            let histogram = rest.remove("histogram").unwrap();
            assert_eq!(serde_json::Value::from(rest), expected, "{}{}", channel.name, row.path);
            let counts = histogram["counts"].as_array().unwrap();
            assert_eq!(counts.len(), 8);
            assert_eq!(counts.iter().map(|n| n.as_u64().unwrap()).sum::<u64>(), row.count - numbers.nan);
            checked += 1;
        }
    }
    assert!(checked > 20);
    let text = client
        .json("/api/stats", &json!({"start": 0, "end": 99, "bins": 3, "series": [reference(&log, "messages", "")]}));
    assert_eq!((&text["series"][0]["count"], &text["series"][0]["histogram"]), (&json!(0), &json!(null)));
}

#[test]
fn exports_are_logs_again() {
    let log = open(&named(FRC));
    let client = serve(&log);
    let series = [reference(&log, "/Power/BatteryVoltage", ""), reference(&log, "NT:/Drive/Pose", ".translation.x")];
    for format in ["csv", "ndjson", "mcap", "parquet", "arrow", "wpilog", "rlog"] {
        let answer = client.ask("/api/export", &json!({"format": format, "start": 3, "end": 5, "series": series}));
        let expected = format!("attachment; filename=\"FRC_20260321_142233_DEMO_Q12.{format}\"");
        assert_eq!(answer.header("content-disposition"), Some(&*expected));
        assert_eq!(answer.header("content-length"), Some(&*answer.body.len().to_string()));
        let back = Log::from_bytes(&format!("x.{format}"), answer.body, &OpenOptions::default()).unwrap();
        let volts: Vec<(f64, f64)> =
            numbers(&log, "/Power/BatteryVoltage", "").into_iter().filter(|(t, _)| (3.0..=5.0).contains(t)).collect();
        // RLOG wants a slash in front of every name.
        assert_eq!(numbers(&back, "/Power/BatteryVoltage", ""), volts, "{format}");
        assert!(
            back.index.channels.iter().any(|found| found.channel.name.ends_with("Drive/Pose") && found.samples > 0)
        );
    }
    let wide = client.ask("/api/export", &json!({"format": "csv", "wide": true, "series": series}));
    assert!(wide.body.starts_with(b"time,/Power/BatteryVoltage,NT:/Drive/Pose\r\n"));
}

#[test]
fn several_logs_are_exported_on_the_clock_of_the_session() {
    let (a, b) = (open(&named(FRC)), open(&named("demo_q12.dslog")));
    let shift = 12_345_678_901;
    let client = serve_all(&[(Arc::clone(&a), ClockMap::default()), (Arc::clone(&b), ClockMap::shifted(shift))]);
    let series = json!([
        {"log": 0, "channel": a.channel("DS:enabled")},
        {"log": 1, "channel": b.channel("/ds/control/enabled")},
    ]);
    let answer = client.ask("/api/export", &json!({"format": "mcap", "series": series}));
    let both = Log::from_bytes("x.mcap", answer.body, &OpenOptions::default()).unwrap();
    let first = |log: &Log, name: &str| log.index.channels[log.channel(name).unwrap() as usize].first;
    assert_eq!(first(&both, "DS:enabled"), first(&a, "DS:enabled"));
    assert_eq!(first(&both, "/ds/control/enabled"), first(&b, "/ds/control/enabled").plus(shift));
}

#[test]
fn live_logs_are_exported_counted_and_changed_like_others() {
    let (_log, mut output, client) = fed();
    let mut point = Vec::new();
    [1.5_f64, 2.5].iter().for_each(|x| point.extend(x.to_le_bytes()));
    let channels = [
        (0, "/.schema/struct:Point", "structschema"),
        (1, "/Point", "struct:Point"),
        (2, "/State", "string"),
        (3, "/Speed", "double"),
    ];
    let (schema, bytes) = (Value::String(b"double x; double y"), Value::Bytes(&point));
    let mut samples = vec![(0, ms(0), schema), (1, ms(1), bytes), (2, ms(10), Value::String(b"idle"))];
    samples.extend((0..100).map(|n| (3, ms(n * 10), Value::Double(1.0))));
    output.take(&batch(&channels, &samples)).unwrap();
    let states = || {
        let query = json!({"start": 0, "end": 10, "width": 2000, "series": [{"log": 0, "channel": 2}]});
        client.json("/api/states", &query)["series"][0].clone()
    };
    assert_eq!(states(), json!({"labels": ["idle"], "runs": [[0.01, 0.99, 0]]}));
    output.take(&batch(&[], &[(2, ms(2000), Value::String(b"shoot")), (3, ms(3000), Value::Double(3.0))])).unwrap();
    assert_eq!(states(), json!({"labels": ["idle", "shoot"], "runs": [[0.01, 2.0, 0], [2.0, 3.0, 1]]}));
    // What comes late is put where it belongs.
    output.take(&batch(&[], &[(2, ms(1000), Value::String(b"spin"))])).unwrap();
    let runs = json!([[0.01, 1.0, 0], [1.0, 2.0, 1], [2.0, 3.0, 2]]);
    assert_eq!(states(), json!({"labels": ["idle", "spin", "shoot"], "runs": runs}));

    let stats =
        client.json("/api/stats", &json!({"start": 0, "end": 10, "bins": 2, "series": [{"log": 0, "channel": 3}]}));
    assert_eq!(stats["series"][0]["histogram"]["counts"], json!([100, 1]));
    let query = json!({"format": "mcap", "start": 0, "end": 0.5, "series": [{"log": 0, "channel": 1}, {"log": 0, "channel": 3}]});
    let back = Log::from_bytes("x.mcap", client.ask("/api/export", &query).body, &OpenOptions::default()).unwrap();
    assert_eq!(numbers(&back, "/Speed", "").len(), 51);
    assert_eq!(numbers(&back, "/Point", ".y"), [(0.001, 2.5)]);
    assert_eq!(back.channel("/State"), None);
    let all = client.ask("/api/export", &json!({"format": "wpilog"}));
    let all = Log::from_bytes("x.wpilog", all.body, &OpenOptions::default()).unwrap();
    assert_eq!(all.index.samples(), 106);
}

/// Answers with numbers, or goes on until nobody waits.
#[derive(Clone, Default)]
struct Numbers {
    begun: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

impl Sql for Numbers {
    fn forget(&self) {}

    fn ask(&self, logs: &[Arc<Log>], sql: &str, limit: usize, stop: &dyn Fn() -> bool) -> Result<SqlAnswer, SqlError> {
        if sql == "forever" {
            self.begun.store(true, Ordering::SeqCst);
            until_so("it is asked to stop", stop);
            self.stopped.store(true, Ordering::SeqCst);
        }
        let help = Some("SELECT 1".to_owned());
        if sql == "samples" {
            let samples: u64 = logs.iter().map(|log| log.index.samples()).sum();
            return self.ask(logs, &samples.to_string(), limit, stop);
        }
        let count: i64 =
            sql.parse().map_err(|_| SqlError { code: "syntax".into(), message: "no number".into(), help })?;
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
        let rows = count.min(i64::try_from(limit).unwrap());
        let column = Arc::new((0..rows).collect::<Int64Array>());
        let batches = vec![RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap()];
        Ok(SqlAnswer { schema, batches, more: rows < count })
    }
}

#[test]
fn sql_is_answered_by_who_was_brought() {
    let log = open(&named(FRC));
    let without = serve(&log).post_text("/api/sql", r#"{"sql":"1"}"#);
    assert_eq!(without.refusal(), (404, "sql-unavailable".to_owned()));

    let numbers = Numbers::default();
    let mut with = session(&[(log, ClockMap::default())]);
    with.set_sql(Box::new(numbers.clone()));
    let client = Client::new(Server::start(with, &Options::default()).unwrap());
    assert_eq!(client.got("/api/session")["sql"], true);
    let answer = client.ask("/api/sql", &json!({"sql": "10", "limit": 4}));
    assert_eq!((answer.header("logpose-more"), Batch::of(&answer.body).0.num_rows()), (Some("true"), 4));
    assert_eq!(client.ask("/api/sql", &json!({"sql": "10"})).header("logpose-more"), None);
    let wrong = client.post_text("/api/sql", r#"{"sql":"x"}"#);
    assert_eq!(
        (wrong.refusal(), wrong.json()["error"]["help"].as_str()),
        ((422, "syntax".to_owned()), Some("SELECT 1"))
    );

    // What has come of a live log so far is asked like a finished one.
    let live = live_kit::log("rlog://127.0.0.1:9", LiveClock::Own);
    let (mut output, mut both) = (live.output(), session(&[(open(&named(FRC)), ClockMap::default())]));
    both.add_live(live.log(), ClockMap::default());
    both.set_sql(Box::new(numbers.clone()));
    let whole = open(&named(FRC)).index.samples();
    let both = Client::new(Server::start(both, &Options::default()).unwrap());
    for n in 0..3_u64 {
        let answer = both.ask("/api/sql", &json!({"sql": "samples"}));
        assert_eq!(u64::try_from(Batch::of(&answer.body).0.num_rows()).unwrap(), whole + n);
        let time = ms(i64::try_from(n).unwrap());
        output.take(&batch(&[(0, "/A", "int64")], &[(0, time, Value::Int64(1))])).unwrap();
    }

    // Who hangs up stops the work.
    {
        use std::io::Write as _;
        let body = r#"{"sql":"forever"}"#;
        let mut stream = std::net::TcpStream::connect(client.address()).unwrap();
        let head =
            format!("POST /api/sql HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n", client.address());
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        until_so("the work begins", || numbers.begun.load(Ordering::SeqCst));
    }
    until_so("the work ends", || numbers.stopped.load(Ordering::SeqCst));
}
