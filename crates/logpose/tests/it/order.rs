use std::path::Path;

use logpose::core::{ChannelId, Lookup, Time, Value};
use logpose::{Log, OpenOptions, Order};

use crate::support::{Row, demo_dir, encode, log_of, rows};

/// A log with times that jump about, many of them equal.
pub(crate) fn jumbled(seed: u64, n: i64) -> Log {
    let mut x = seed;
    let mut random = |below: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % below
    };
    let names: Vec<String> = (0..7).map(|i| format!("/c{i}")).collect();
    let channels: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "int64")).collect();
    let mut samples = Vec::new();
    for i in 0..n {
        let channel = random(7) as ChannelId;
        // The first channels step back, the last are in order.
        let time = if channel < 4 { i * 20 + random(500) as i64 - 250 } else { i * 20 };
        samples.push((channel, Time::from_micros(time / 100 * 100), Value::Int64(i)));
    }
    log_of(encode("wpilog", &channels, &samples))
}

fn naive(logs: &[Log], within: impl Fn(i64) -> bool) -> Vec<Row> {
    let mut all = Vec::new();
    for (place, log) in logs.iter().enumerate() {
        let bytes = log.bytes().to_vec();
        let all_of_one = rows(&[log_of(bytes)], Vec::new(), Order::File);
        all.extend(all_of_one.into_iter().map(|row| (place, row)));
    }
    all.retain(|(_, row)| within(row.2));
    all.sort_by_key(|(place, row)| (row.2, *place));
    all.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn the_order_of_time_is_that_of_a_stable_sort() {
    for (seed, n) in [(1, 0), (2, 1), (3, 300), (4, 5000), (5, 20_000)] {
        let logs = [jumbled(seed, n)];
        assert_eq!(rows(&logs, Vec::new(), Order::Time), naive(&logs, |_| true), "{n} samples");
    }
}

#[test]
fn several_logs_merge_like_one() {
    let logs = [jumbled(1, 3000), jumbled(2, 100), jumbled(3, 4000)];
    assert_eq!(rows(&logs, Vec::new(), Order::Time), naive(&logs, |_| true));
    let file: Vec<Row> =
        logs.iter().flat_map(|log| rows(&[log_of(log.bytes().to_vec())], Vec::new(), Order::File)).collect();
    assert_eq!(rows(&logs, Vec::new(), Order::File), file);
}

/// The same log, opened with little memory, with the place of every record or without.
fn cramped(log: &Log, light: bool) -> Log {
    let light_from = if light { 0 } else { u64::MAX };
    let options = OpenOptions { memory: Some(1), light_from, ..OpenOptions::default() };
    Log::from_bytes("made.wpilog", log.bytes().to_vec(), &options).unwrap()
}

#[test]
fn little_memory_does_not_change_the_order() {
    let logs = [jumbled(1, 30_000), jumbled(2, 100), jumbled(3, 9000)];
    let lookups = || -> Vec<Lookup> {
        let (start, end) = (Time::from_micros(20_000), Time::from_micros(150_000));
        let few = vec![true, false, true, true, false, true, true];
        let always = vec![false, false, true, false, false, false, false];
        vec![
            Lookup { start: Some(start), end: Some(end), channels: few, always, ..Lookup::default() },
            Lookup::default(),
            Lookup { start: Some(start), ..Lookup::default() },
        ]
    };
    for light in [false, true] {
        let cramped: Vec<Log> = logs.iter().map(|log| cramped(log, light)).collect();
        assert_eq!(cramped[0].index.placed, !light);
        assert!(rows(&cramped, Vec::new(), Order::Time) == rows(&logs, Vec::new(), Order::Time));
        assert!(rows(&cramped, lookups(), Order::Time) == rows(&logs, lookups(), Order::Time));
    }
}

#[test]
fn little_memory_does_not_change_the_order_of_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(demo_dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    for dialect in ["wpilog/valid", "wpilog/corrupt", "rlog/valid", "rlog/corrupt"] {
        paths.extend(std::fs::read_dir(folder.join(dialect)).unwrap().map(|entry| entry.unwrap().path()));
    }
    let mut compared = 0;
    for path in paths {
        let open = |options: &OpenOptions| Log::open_with(&path, options, &logpose::Quiet).ok();
        for light_from in [0, u64::MAX] {
            let cramped = OpenOptions { memory: Some(0), light_from, ..OpenOptions::default() };
            let (Some(a), Some(b)) = (open(&OpenOptions::default()), open(&cramped)) else { continue };
            compared += usize::from(!a.index.sorted);
            assert!(rows(&[a], Vec::new(), Order::Time) == rows(&[b], Vec::new(), Order::Time), "{}", path.display());
        }
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn bounds_are_included() {
    let logs = [jumbled(9, 4000)];
    let (start, end) = (Time::from_micros(20_000), Time::from_micros(40_000));
    let lookup = Lookup { start: Some(start), end: Some(end), ..Lookup::default() };
    let found = rows(&logs, vec![lookup], Order::Time);
    assert_eq!(found, naive(&logs, |ns| (start.nanos()..=end.nanos()).contains(&ns)));
    assert!(found.iter().any(|row| row.2 == start.nanos()) && found.iter().any(|row| row.2 == end.nanos()));
}

#[test]
fn unwanted_channels_have_no_number() {
    let logs = [jumbled(9, 500)];
    let wanted = |name: &str| name == "/c2" || name == "/c6";
    for order in [Order::File, Order::Time] {
        let filter = logpose::Filter::new(&["/c[26]".into()], &[]).unwrap();
        let lookup = logs[0].lookup(&filter, None, None).unwrap();
        let feed = logpose::Feed::new(&logs, vec![lookup.clone()]);
        assert_eq!(feed.channels().iter().map(|c| &*c.name).collect::<Vec<_>>(), ["/c2", "/c6"]);
        let found = rows(&logs, vec![lookup], order);
        let mut expected = rows(&logs, Vec::new(), order);
        expected.retain(|row| wanted(&row.0));
        assert_eq!(found, expected);
    }
}

#[test]
fn a_stopped_sink_ends_it() {
    struct Stop(usize);
    impl logpose::core::Sink for Stop {
        fn channel(&mut self, _: ChannelId, _: &logpose::core::Channel) -> Result<(), logpose::core::SinkError> {
            Ok(())
        }
        fn samples(&mut self, samples: &[logpose::core::Sample<'_>]) -> Result<(), logpose::core::SinkError> {
            self.0 += samples.len();
            Err(logpose::core::SinkError::Stopped)
        }

        fn problem(&mut self, problem: logpose::core::Problem) {
            panic!("unexpected: {problem}");
        }
    }
    let log = jumbled(1, 20_000);
    for order in [Order::File, Order::Time] {
        let mut sink = Stop(0);
        let end = log.rows(order, &Lookup::default(), &mut sink);
        assert!(matches!(end, Err(logpose::core::SinkError::Stopped)));
        assert!(sink.0 < 10_000);
    }
}
