use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use logpose::core::{EncodeOptions, Severity, Time, Value};
use logpose::{
    ConvertOptions, Feed, Filter, Format, Log, Moment, OpenOptions, Order, Output, Progress, Quiet, Wide, convert,
};
use tempfile::TempDir;

use crate::support::{
    AKIT, DATALOG, R1, R2, Row, by_channel, convert_to, demo_dir, encode, log_of, open, open_demo, rows,
};

fn text(logs: &[Log], format: &str, options: &ConvertOptions) -> String {
    let mut out = Vec::new();
    let format = Format::from_name(format).unwrap();
    convert(logs, Vec::new(), &format, Output::Stream(&mut out), options, &Quiet).unwrap();
    String::from_utf8(out).unwrap()
}

/// One of each type.
fn one_of_each() -> Log {
    let schema = b"double x;int32 n;bool ok;float f[2]";
    let mut payload = 1.5_f64.to_le_bytes().to_vec();
    payload.extend((-7_i32).to_le_bytes());
    payload.push(1);
    payload.extend(0.1_f32.to_le_bytes());
    payload.extend(f32::NAN.to_le_bytes());
    let t = Time::from_micros(1_500_001);
    let array = [1.0_f64.to_le_bytes(), f64::INFINITY.to_le_bytes()].concat();
    let texts = b"\x02\0\0\0\x01\0\0\0a\x03\0\0\0b,\"";
    let parse = |ty, bytes| Value::parse(ty, bytes, logpose::core::Layout::Little).unwrap();
    log_of(encode(
        "wpilog",
        &[
            ("/.schema/struct:S", "structschema"),
            ("b", "boolean"),
            ("i", "int64"),
            ("f", "float"),
            ("d", "double"),
            ("s", "string"),
            ("raw", "raw"),
            ("d[]", "double[]"),
            ("s[]", "string[]"),
            ("struct", "struct:S"),
            ("structs", "struct:S[]"),
            ("json", "json"),
            ("lost", "struct:Lost"),
            ("i", "string"),
        ],
        &[
            (0, t, Value::String(schema)),
            (1, t, Value::Boolean(true)),
            (2, t, Value::Int64(-(1 << 60))),
            (3, t, Value::Float(0.1)),
            (4, t, Value::Double(-0.0)),
            (5, t, Value::String(b"say \"hi\",\nyou")),
            (6, t, Value::Bytes(&[0, 255, 7])),
            (7, t, parse(logpose::core::Type::DoubleArray, &array)),
            (8, t, parse(logpose::core::Type::StringArray, texts)),
            (9, t, Value::Bytes(&payload)),
            (10, t, Value::Bytes(&[payload.clone(), payload.clone()].concat())),
            (11, t, Value::String(b"{\"a\": [1,\n2]}")),
            (12, t, Value::Bytes(&[1, 2, 3])),
            (13, Time::from_nanos(-1_000), Value::String(b"second i")),
        ],
    ))
}

#[test]
fn csv_holds_one_of_each() {
    let struct_ = r#"{""x"":1.5,""n"":-7,""ok"":true,""f"":[0.1,""NaN""]}"#;
    let expected = format!(
        "time,channel,value\r\n\
         1.500001,/.schema/struct:S,double x;int32 n;bool ok;float f[2]\r\n\
         1.500001,b,true\r\n\
         1.500001,i,-1152921504606846976\r\n\
         1.500001,f,0.1\r\n\
         1.500001,d,-0.0\r\n\
         1.500001,s,\"say \"\"hi\"\",\nyou\"\r\n\
         1.500001,raw,AP8H\r\n\
         1.500001,d[],\"[1.0,\"\"Infinity\"\"]\"\r\n\
         1.500001,s[],\"[\"\"a\"\",\"\"b,\\\"\"\"\"]\"\r\n\
         1.500001,struct,\"{struct_}\"\r\n\
         1.500001,structs,\"[{struct_},{struct_}]\"\r\n\
         1.500001,json,\"{{\"\"a\"\": [1,\n2]}}\"\r\n\
         1.500001,lost,AQID\r\n\
         -0.000001,i,second i\r\n"
    );
    assert_eq!(text(&[one_of_each()], "csv", &ConvertOptions::default()), expected);
}

#[test]
fn ndjson_holds_one_of_each() {
    let struct_ = r#"{"x":1.5,"n":-7,"ok":true,"f":[0.1,"NaN"]}"#;
    let values = [
        ("/.schema/struct:S", "\"double x;int32 n;bool ok;float f[2]\""),
        ("b", "true"),
        ("i", "\"-1152921504606846976\""),
        ("f", "0.1"),
        ("d", "-0.0"),
        ("s", r#""say \"hi\",\nyou""#),
        ("raw", "\"AP8H\""),
        ("d[]", "[1.0,\"Infinity\"]"),
        ("s[]", r#"["a","b,\""]"#),
        ("struct", struct_),
        ("structs", &format!("[{struct_},{struct_}]")),
        ("json", "{\"a\": [1, 2]}"),
        ("lost", "\"AQID\""),
    ];
    let mut expected: String = values
        .iter()
        .map(|(name, value)| format!("{{\"time_ns\":1500001000,\"channel\":\"{name}\",\"value\":{value}}}\n"))
        .collect();
    expected.push_str("{\"time_ns\":-1000,\"channel\":\"i\",\"value\":\"second i\"}\n");
    let found = text(&[one_of_each()], "ndjson", &ConvertOptions::default());
    assert_eq!(found, expected);
    found.lines().for_each(|line| drop(serde_json::from_str::<serde_json::Value>(line).unwrap()));
}

#[test]
fn a_missing_schema_is_reported_once() {
    let mut out = Vec::new();
    let report = convert(
        &[one_of_each()],
        Vec::new(),
        &Format::CSV,
        Output::Stream(&mut out),
        &ConvertOptions::default(),
        &Quiet,
    )
    .unwrap();
    let missing: Vec<_> = report.problems.list().iter().filter(|problem| problem.code == "missing-schema").collect();
    assert_eq!(missing.len(), 1);
    assert!(missing[0].message.contains("Lost"));
    let raw = ConvertOptions { raw_values: true, ..ConvertOptions::default() };
    let report = convert(&[one_of_each()], Vec::new(), &Format::CSV, Output::Stream(&mut out), &raw, &Quiet).unwrap();
    assert!(report.problems.is_empty());
}

#[test]
fn a_wide_table_holds_the_last_value() {
    let at = |ms: i64| Time::from_millis(ms);
    let samples = [
        (0, at(0), Value::Double(1.0)),
        (1, at(15), Value::String(b"x,y")),
        (0, at(30), Value::Double(f64::NAN)),
        (2, at(30), Value::Boolean(true)),
        (0, at(55), Value::Double(3.0)),
    ];
    let logs = [log_of(encode("wpilog", &[("a", "double"), ("b", "string"), ("b", "boolean")], &samples))];
    let wide = |every| ConvertOptions { wide: Some(Wide { every }), ..ConvertOptions::default() };
    let header = "time,a,b (string),b (boolean)\r\n";
    let expected =
        format!("{header}0.000,1.0,,\r\n0.015,1.0,\"x,y\",\r\n0.030,NaN,\"x,y\",true\r\n0.055,3.0,\"x,y\",true\r\n");
    assert_eq!(text(&logs, "csv", &wide(None)), expected);
    let expected = format!("{header}0.000,1.0,,\r\n0.020,1.0,\"x,y\",\r\n0.040,NaN,\"x,y\",true\r\n");
    assert_eq!(text(&logs, "csv", &wide(Some(20_000_000))), expected);
}

#[test]
fn absurd_tables_are_refused_before_they_fill_the_disk() {
    let samples =
        [(0, Time::ZERO, Value::Double(1.0)), (0, Time::from_micros(1_774_102_953_000_000), Value::Double(1.0))];
    let logs = [log_of(encode("wpilog", &[("a", "double")], &samples))];
    let options = ConvertOptions { wide: Some(Wide { every: Some(1_000_000) }), ..ConvertOptions::default() };
    let error =
        convert(&logs, Vec::new(), &Format::CSV, Output::Stream(&mut Vec::new()), &options, &Quiet).unwrap_err();
    assert_eq!(error.code(), "usage");
    assert!(error.help.unwrap().contains("clock"));
}

#[test]
fn logs_go_to_rlog_and_back_unchanged() {
    let dir = TempDir::new().unwrap();
    for name in [DATALOG, AKIT] {
        let there = dir.path().join(format!("{name}.rlog"));
        let back = dir.path().join(format!("{name}.back.wpilog"));
        let report = convert_to(&[open_demo(name)], Vec::new(), &there, &ConvertOptions::default()).unwrap();
        if name == DATALOG {
            let metadata: Vec<_> =
                report.problems.list().iter().filter(|problem| problem.message.contains("metadata")).collect();
            assert_eq!(metadata.len(), 1, "{:?}", report.problems);
            assert!(metadata[0].severity < Severity::Damage);
        }
        convert_to(&[open(&there)], Vec::new(), &back, &ConvertOptions::default()).unwrap();
        assert!(by_channel(open(&back)) == by_channel(open_demo(name)), "{name}");
    }
}

#[test]
fn a_wpilog_is_copied_with_metadata_and_extra_header() {
    let dir = TempDir::new().unwrap();
    for name in [DATALOG, AKIT] {
        let path = dir.path().join(name);
        convert_to(&[open_demo(name)], Vec::new(), &path, &ConvertOptions::default()).unwrap();
        let (copy, original) = (open(&path), open_demo(name));
        assert_eq!(copy.index.fact("extra_header"), original.index.fact("extra_header"));
        let channels =
            |log: &Log| log.index.channels.iter().map(|c| (c.channel.clone(), c.samples)).collect::<Vec<_>>();
        assert_eq!(channels(&copy), channels(&original));
        assert!(rows(&[copy], Vec::new(), Order::File) == rows(&[original], Vec::new(), Order::File));
    }
}

#[test]
fn revision_1_keeps_what_it_can() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    let filter = Filter::new(&[], &["*Epoch*".into(), "/Timestamp".into()]).unwrap();
    let logs = [open_demo(AKIT)];
    let lookup = logs[0].lookup(&filter, None, None).unwrap();
    let options = ConvertOptions {
        encode: EncodeOptions { revision: Some(1), ..EncodeOptions::default() },
        verify: true,
        ..ConvertOptions::default()
    };
    let report = convert_to(&logs, vec![lookup], &path, &options).unwrap();
    assert!(report.verified);
    assert_eq!(open(&path).index.fact("revision"), Some("1"));
}

#[test]
fn what_a_format_cannot_say_is_refused_by_name() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.rlog");
    let options = ConvertOptions {
        encode: EncodeOptions { revision: Some(1), ..EncodeOptions::default() },
        ..ConvertOptions::default()
    };
    let error = convert_to(&[open_demo(AKIT)], Vec::new(), &path, &options).unwrap_err();
    assert_eq!(error.code(), "refused");
    assert!(error.to_string().contains("EpochTimeMicros"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left behind");
    let options = ConvertOptions {
        encode: EncodeOptions { revision: Some(7), ..EncodeOptions::default() },
        ..ConvertOptions::default()
    };
    let error = convert_to(&[open_demo(AKIT)], Vec::new(), &path, &options).unwrap_err();
    assert!(error.to_string().contains("no revision 7"), "{error}");
}

#[test]
fn filters_and_crops_keep_what_was_asked_for() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.wpilog");
    let logs = [open_demo(DATALOG)];
    let filter = Filter::new(&["/Drive/*".into()], &["*Temperature".into()]).unwrap();
    let (start, end) = Moment::parse_range("auto..auto").unwrap();
    let lookup = logs[0].lookup(&filter, start.as_ref(), end.as_ref()).unwrap();
    convert_to(&logs, vec![lookup.clone()], &path, &ConvertOptions { verify: true, ..ConvertOptions::default() })
        .unwrap();
    let mut expected: Vec<Row> = rows(&logs, Vec::new(), Order::File);
    expected.retain(|row| {
        let time = Time::from_nanos(row.2);
        row.0.starts_with("/Drive/") && !row.0.ends_with("Temperature") && lookup.admits(0, time) == Some(time)
    });
    assert!(!expected.is_empty());
    assert!(rows(&[open(&path)], Vec::new(), Order::File) == expected);
}

#[test]
fn a_part_of_a_log_keeps_the_schemas_that_its_values_need() {
    let dir = TempDir::new().unwrap();
    let logs = [open_demo(DATALOG)];
    let filter = Filter::new(&["NT:/Drive/Pose".into()], &[]).unwrap();
    let (start, end) = Moment::parse_range("auto..auto").unwrap();
    let lookup = logs[0].lookup(&filter, start.as_ref(), end.as_ref()).unwrap();
    for name in ["x.wpilog", "x.rlog"] {
        let path = dir.path().join(name);
        let verify = ConvertOptions { verify: true, ..ConvertOptions::default() };
        convert_to(&logs, vec![lookup.clone()], &path, &verify).unwrap();
        let part = open(&path);
        let pose = part.channel("NT:/Drive/Pose").expect("what was asked for");
        let schema = part.channel("NT:/.schema/struct:Pose2d").expect("what it needs");
        assert!(part.channel("NT:/Drive/ChassisSpeeds").is_none(), "what was not asked for");
        assert_eq!(part.index.channels[schema as usize].first, lookup.start.unwrap(), "at the start of the part");
        assert_eq!(part.index.range().unwrap().0, lookup.start.unwrap());
        let columns = part.columns(&[pose]).unwrap();
        let (_, value) = columns.samples(&columns.columns[0]).next().unwrap();
        let mut shown = String::new();
        part.schemas().write_text(&part.index.channels[pose as usize].channel, &value, &mut shown);
        assert!(shown.starts_with("{translation: {x: "), "{shown}");
        assert!(part.schemas().problems().is_empty(), "nothing is guessed");
    }
    // A table has the values themselves.
    let csv = dir.path().join("x.csv");
    convert_to(&logs, vec![lookup], &csv, &ConvertOptions::default()).unwrap();
    assert!(!std::fs::read_to_string(&csv).unwrap().contains("schema"));
}

#[test]
fn several_logs_become_one() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.wpilog");
    let logs = [open_demo(R2), open_demo(DATALOG), open_demo(R1)];
    let report =
        convert_to(&logs, Vec::new(), &path, &ConvertOptions { verify: true, ..ConvertOptions::default() }).unwrap();
    assert_eq!(report.channels, Feed::new(&logs, Vec::new()).channels().len());
    let merged = open(&path);
    assert!(merged.index.sorted);
    assert_eq!(merged.index.samples(), logs.iter().map(|log| log.index.samples()).sum::<u64>());
}

#[test]
fn the_order_can_be_asked_for() {
    let logs = [open_demo(DATALOG)];
    assert!(!logs[0].index.sorted, "the demo has records out of order");
    let times = |order| {
        let options = ConvertOptions { order: Some(order), ..ConvertOptions::default() };
        let csv = text(&logs, "csv", &options);
        csv.lines().filter_map(|line| line.split(',').next()?.parse::<f64>().ok()).collect::<Vec<_>>()
    };
    assert!(times(Order::Time).is_sorted());
    assert!(!times(Order::File).is_sorted());
    let options = ConvertOptions { order: Some(Order::File), ..ConvertOptions::default() };
    let rlog = Format::from_name("rlog").unwrap();
    let error = convert(&logs, Vec::new(), &rlog, Output::Stream(&mut Vec::new()), &options, &Quiet).unwrap_err();
    assert_eq!(error.code(), "usage");
}

#[test]
fn a_closed_pipe_is_success() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for format in ["csv", "ndjson", "wpilog", "rlog"] {
        let format = Format::from_name(format).unwrap();
        convert(
            &[open_demo(AKIT)],
            Vec::new(),
            &format,
            Output::Stream(&mut Closed),
            &ConvertOptions::default(),
            &Quiet,
        )
        .unwrap();
    }
}

#[test]
fn only_tables_are_wide() {
    let options = ConvertOptions { wide: Some(Wide::default()), ..ConvertOptions::default() };
    let error = convert_to(&[open_demo(AKIT)], Vec::new(), Path::new("/nowhere/x.ndjson"), &options).unwrap_err();
    assert_eq!(error.code(), "usage");
}

#[test]
fn progress_begins_rises_and_ends() {
    #[derive(Default)]
    struct Seen(Mutex<Vec<String>>, AtomicU64);
    impl Progress for Seen {
        fn begin(&self, what: &str, bytes: u64) {
            assert!(bytes > 0);
            self.0.lock().unwrap().push(what.to_owned());
            self.1.store(0, Ordering::Relaxed);
        }
        fn at(&self, bytes: u64) {
            assert!(self.1.swap(bytes, Ordering::Relaxed) <= bytes);
        }
        fn end(&self) {
            self.0.lock().unwrap().push("end".to_owned());
        }
    }
    let seen = Seen::default();
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.csv");
    let logs = [Log::open_with(&demo_dir().join(AKIT), &OpenOptions::default(), &seen).unwrap()];
    let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
    convert(
        &logs,
        Vec::new(),
        &Format::CSV,
        Output::File { path: &path, force: false, wrapper: None },
        &options,
        &seen,
    )
    .unwrap();
    assert_eq!(*seen.0.lock().unwrap(), ["reading", "end", "converting", "end", "verifying", "end"]);
}
