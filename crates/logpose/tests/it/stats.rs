//! Statistics: by hand on small logs, and against a naive count over rows on the demo logs.

use std::collections::BTreeMap;

use logpose::core::{Layout, Lookup, Time, Type, Value};
use logpose::stats::{self, ChannelStats, Kind, Numbers, Row, StatsOptions};
use logpose::{Filter, Log, Order, ScalarValue};

use crate::support::{self, AKIT, DATALOG, R2, encode, log_of, open_demo};

fn all(log: &Log, percentiles: &[f64]) -> Vec<ChannelStats> {
    stats::of(log, &Lookup::default(), &StatsOptions { percentiles: percentiles.to_vec() }).unwrap()
}

fn row<'s>(all: &'s [ChannelStats], name: &str) -> &'s Row {
    let rows = all.iter().flat_map(|c| c.rows.iter().map(move |row| (format!("{}{}", c.name, row.path), row)));
    let mut names = Vec::new();
    for (found, row) in rows {
        if found == name {
            return row;
        }
        names.push(found);
    }
    panic!("no {name} in {names:?}")
}

fn numbers<'s>(all: &'s [ChannelStats], name: &str) -> &'s Numbers {
    match &row(all, name).kind {
        Kind::Numbers(numbers) => numbers,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_small_log_by_hand() {
    let ms = Time::from_millis;
    let mut samples = Vec::new();
    for (i, x) in [4.0, 1.0, f64::NAN, 3.0, 2.0].into_iter().enumerate() {
        samples.push((0, ms(20 * i as i64), Value::Double(x)));
    }
    // A gap of 200 ms: ten times the middle interval.
    samples.push((0, ms(280), Value::Double(5.0)));
    for (t, on) in [(0, false), (20, true), (40, true), (60, false)] {
        samples.push((1, ms(t), Value::Boolean(on)));
    }
    for (t, text) in [(0, &b"OFF"[..]), (20, b"ON"), (40, b"OFF"), (60, b"AUTO")] {
        samples.push((2, ms(t), Value::String(text)));
    }
    for (t, x) in [(0, i64::MAX), (20, i64::MAX - 1), (40, i64::MIN)] {
        samples.push((3, ms(t), Value::Int64(x)));
    }
    let pair = [1.5f64.to_le_bytes(), (-2.0f64).to_le_bytes()].concat();
    let three = [0.0f64; 3].map(f64::to_le_bytes).concat();
    let array = |bytes: &'static [u8]| Value::parse(Type::DoubleArray, bytes, Layout::Little).unwrap();
    let (pair, three): (&[u8], &[u8]) = (pair.leak(), three.leak());
    samples.push((4, ms(0), array(pair)));
    samples.push((4, ms(20), array(pair)));
    samples.push((5, ms(0), array(pair)));
    samples.push((5, ms(20), array(three)));
    samples.push((6, ms(0), Value::Bytes(b"abc")));
    let channels = [
        ("/x", "double"),
        ("/on", "boolean"),
        ("/state", "string"),
        ("/count", "int64"),
        ("/pair", "double[]"),
        ("/uneven", "double[]"),
        ("/blob", "mystery"),
        ("/never", "double"),
    ];
    let log = log_of(encode("wpilog", &channels, &samples));
    let all = all(&log, &[0.0, 25.0, 100.0]);

    let x = numbers(&all, "/x");
    assert_eq!((row(&all, "/x").count, x.nan), (6, 1));
    assert_eq!(x.min, Some((ScalarValue::Double(1.0), ms(20))));
    assert_eq!(x.max, Some((ScalarValue::Double(5.0), ms(280))));
    assert_eq!((x.mean, x.median, x.stddev), (3.0, 3.0, Some(2.5f64.sqrt())));
    assert_eq!(x.percentiles, [(0.0, 1.0), (25.0, 2.0), (100.0, 5.0)]);
    let timing = &all[0].timing;
    assert_eq!((timing.median_interval_ns, timing.rate_hz()), (Some(20_000_000), Some(50.0)));
    assert_eq!((timing.gaps, timing.longest_gap), (1, Some((ms(80), ms(280)))));
    assert_eq!((timing.first, timing.last), (Some(ms(0)), Some(ms(280))));

    assert!(matches!(row(&all, "/on").kind, Kind::Booleans { yes: 2, changes: 2 }));
    let Kind::Texts { distinct, most, times, cut } = &row(&all, "/state").kind else { panic!() };
    assert_eq!((*distinct, most.as_str(), *times, *cut), (3, "OFF", 2, false));
    assert_eq!(row(&all, "/state").last, ScalarValue::Text(b"AUTO"[..].into()));
    let count = numbers(&all, "/count");
    assert_eq!(count.min.as_ref().unwrap().0, ScalarValue::Integer(i64::MIN));
    assert_eq!(count.max.as_ref().unwrap().0, ScalarValue::Integer(i64::MAX));
    let close = [(0, i64::MAX), (20, i64::MAX - 2)].map(|(t, x)| (0, ms(t), Value::Int64(x)));
    let close =
        stats::of(&log_of(encode("wpilog", &[("/i", "int64")], &close)), &Lookup::default(), &StatsOptions::default());
    assert_eq!(numbers(&close.unwrap(), "/i").stddev, Some(2.0f64.sqrt()));
    assert_eq!(numbers(&all, "/pair.length").mean, 2.0);
    assert_eq!((numbers(&all, "/pair[0]").mean, numbers(&all, "/pair[1]").mean), (1.5, -2.0));
    let uneven = all.iter().find(|c| c.name == "/uneven").unwrap();
    assert_eq!(uneven.rows.iter().map(|row| &*row.path).collect::<Vec<_>>(), [".length"]);
    assert_eq!(numbers(&all, "/blob.bytes").mean, 3.0);
    let never = all.iter().find(|c| c.name == "/never").unwrap();
    assert!(never.rows.is_empty() && never.samples == 0 && never.timing.first.is_none());
}

#[test]
fn samples_out_of_order_are_put_in_order() {
    let samples = [(0, 30, 3), (0, 10, 1), (0, 20, 2)].map(|(c, t, x)| (c, Time::from_millis(t), Value::Int64(x)));
    let log = log_of(encode("wpilog", &[("/late", "int64")], &samples));
    let all = all(&log, &[]);
    assert_eq!((&all[0].rows[0].first, &all[0].rows[0].last), (&ScalarValue::Integer(1), &ScalarValue::Integer(3)));
    assert_eq!(all[0].timing.median_interval_ns, Some(10_000_000));
}

#[test]
fn only_the_wanted_times_count() {
    let log = open_demo(R2);
    let filter = Filter::new(&["*BatteryVoltage".into()], &[]).unwrap();
    let (start, end) = (Time::from_millis(10_000), Time::from_millis(11_000));
    let lookup = Lookup { start: Some(start), end: Some(end), ..log.lookup(&filter, None, None).unwrap() };
    let found = stats::of(&log, &lookup, &StatsOptions::default()).unwrap();
    assert_eq!((found.len(), found[0].samples), (1, 50));
    assert!(found[0].timing.first.unwrap() >= start && found[0].timing.last.unwrap() <= end);
}

#[test]
fn percentiles_outside_0_to_100_are_refused() {
    let log = open_demo(R2);
    for bad in [-1.0, 100.1, f64::NAN] {
        assert!(stats::of(&log, &Lookup::default(), &StatsOptions { percentiles: vec![bad] }).is_err());
    }
}

/// Everything counted again, the slow way: all rows sorted, every value looked at.
#[test]
fn demo_logs_agree_with_a_naive_count_over_rows() {
    for name in [DATALOG, AKIT, R2] {
        let log = open_demo(name);
        let all = all(&log, &[5.0, 50.0, 99.0]);
        let mut values: BTreeMap<_, Vec<(i64, Vec<u8>)>> = BTreeMap::new();
        let logs = [log];
        for (name, type_name, ns, payload) in support::rows(&logs, Vec::new(), Order::Time) {
            values.entry((name, type_name)).or_default().push((ns, payload));
        }
        let mut checked = 0;
        for ((channel, type_name), rows) in &values {
            let found = all.iter().find(|c| c.name == *channel && c.type_name == *type_name).unwrap();
            assert_eq!(found.samples, rows.len() as u64, "{channel}");
            let mut intervals: Vec<i64> = rows.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
            let longest = intervals.iter().copied().max();
            assert_eq!(found.timing.longest_gap.map(|(start, end)| end.since(start)), longest, "{channel}");
            intervals.sort_unstable();
            let median = intervals.get(intervals.len() / 2).copied();
            assert_eq!(found.timing.median_interval_ns, median, "{channel}");
            let gaps = median.map_or(0, |m| intervals.iter().filter(|i| m > 0 && **i > 5 * m).count());
            assert_eq!(found.timing.gaps, gaps as u64, "{channel}");
            let mut numbers: Vec<f64> = match &**type_name {
                "double" => rows.iter().map(|(_, p)| f64::from_le_bytes(p[..].try_into().unwrap())).collect(),
                "struct:Pose2d" => rows.iter().map(|(_, p)| f64::from_le_bytes(p[..8].try_into().unwrap())).collect(),
                _ => continue,
            };
            let path = if type_name == "double" { "" } else { ".translation.x" };
            let Kind::Numbers(stats) = &row(&all, &format!("{channel}{path}")).kind else { panic!("{channel}") };
            let n = numbers.len() as f64;
            let mean = numbers.iter().sum::<f64>() / n;
            let stddev = (numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
            assert!(near(stats.mean, mean) && (n < 2.0 || near(stats.stddev.unwrap(), stddev)), "{channel}");
            numbers.sort_by(f64::total_cmp);
            assert_eq!(stats.min.as_ref().unwrap().0, ScalarValue::Double(numbers[0]), "{channel}");
            assert_eq!(stats.max.as_ref().unwrap().0, ScalarValue::Double(*numbers.last().unwrap()), "{channel}");
            for (p, value) in stats.percentiles.iter().copied().chain([(50.0, stats.median)]) {
                let rank = (n - 1.0) * p / 100.0;
                let (low, high) = (numbers[rank.floor() as usize], numbers[rank.ceil() as usize]);
                assert!(near(value, low + (high - low) * rank.fract()), "{channel} p{p}: {value}");
            }
            checked += 1;
        }
        assert!(checked > 10, "{name}");
    }
}

#[test]
fn one_thread_and_many_say_the_same() {
    let path = support::demo_dir().join(AKIT);
    let of = |threads| {
        let options = logpose::OpenOptions { threads, ..Default::default() };
        let log = Log::open_with(&path, &options, &logpose::Quiet).unwrap();
        format!("{:?}", all(&log, &[1.0, 99.0]))
    };
    assert_eq!(of(1), of(4));
}
