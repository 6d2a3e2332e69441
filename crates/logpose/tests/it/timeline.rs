//! Several logs on one clock, against rows that are sorted and counted here.

use std::collections::BTreeMap;

use logpose::core::{Layout, Lookup, Sample, SinkError, Time, Value};
use logpose::{Align, Filter, Log, Names, OpenOptions, Order, Timeline};

use crate::order::jumbled;
use crate::support::{AKIT, DATALOG, R2, Row, encode, log_of, open_demo, rows};

fn timeline(logs: &[Log]) -> Timeline<'_> {
    Timeline::new(logs, Vec::new(), Align::None, &Names::Shared).unwrap()
}

fn row(channels: &[logpose::core::Channel], sample: &Sample<'_>) -> Row {
    let channel = &channels[sample.channel as usize];
    let mut payload = Vec::new();
    sample.value.emit(Layout::Little, &mut payload);
    (channel.name.clone(), channel.type_name.clone(), sample.time.nanos(), payload)
}

fn read(line: &mut Timeline<'_>, until: Time) -> Vec<Row> {
    let channels = line.channels().to_vec();
    let mut all = Vec::new();
    let mut take = |samples: &[Sample<'_>]| -> Result<(), SinkError> {
        all.extend(samples.iter().map(|sample| row(&channels, sample)));
        Ok(())
    };
    while line.read(100, until, &mut take).unwrap() {}
    all
}

fn held(line: &mut Timeline<'_>, before: Time) -> Vec<Row> {
    let channels = line.channels().to_vec();
    let mut all = Vec::new();
    line.held(before, &mut |samples| {
        all.extend(samples.iter().map(|sample| row(&channels, sample)));
        Ok(())
    })
    .unwrap();
    all
}

/// Every moment of `moments` gives what sorting all rows gives.
fn check(logs: &[Log], moments: impl Iterator<Item = i64>) {
    let all = rows(logs, Vec::new(), Order::Time);
    let mut line = timeline(logs);
    for ns in moments {
        let moment = Time::from_nanos(ns);
        line.seek(moment);
        let behind: Vec<Row> = all.iter().filter(|row| row.2 >= ns).cloned().collect();
        assert_eq!(line.peek().map(Time::nanos), behind.first().map(|row| row.2), "{ns}");
        let before = all.iter().map(|row| row.2).filter(|time| *time < ns).max();
        assert_eq!(line.before(moment).map(Time::nanos), before, "{ns}");
        let mut last: BTreeMap<&str, &Row> = BTreeMap::new();
        all.iter().filter(|row| row.2 < ns).for_each(|row| {
            last.insert(&row.0, row);
        });
        let mut found = held(&mut line, moment);
        found.sort();
        assert_eq!(found, last.values().map(|row| (*row).clone()).collect::<Vec<_>>(), "{ns}");
        assert!(read(&mut line, Time::MAX) == behind, "{ns}");
    }
}

#[test]
fn any_moment_is_found_in_any_order() {
    let moments = [-500_000, 0, 100_000, 50_000_000, 50_000_001, 49_999_999, 99_900_000, 1, 200_000_000];
    check(&[jumbled(5, 5000)], moments.into_iter());
    check(&[jumbled(1, 3000), jumbled(2, 100), jumbled(3, 4000)], moments.into_iter());
    check(&[jumbled(2, 0)], moments.into_iter());
}

#[test]
fn a_log_without_positions_is_walked_once_for_them() {
    let light = OpenOptions { light_from: 0, ..OpenOptions::default() };
    let log = Log::from_bytes("made.wpilog", jumbled(5, 2000).bytes().to_vec(), &light).unwrap();
    assert!(!log.index.placed);
    check(&[log], [0, 20_000_000, 7_000_000].into_iter());
}

#[test]
fn reading_stops_where_it_is_stopped() {
    let logs = [jumbled(4, 2000)];
    let all = rows(&logs, Vec::new(), Order::Time);
    let mut line = timeline(&logs);
    line.seek(Time::MIN);
    let middle = all[all.len() / 2].2;
    let first = read(&mut line, Time::from_nanos(middle));
    assert!(first.iter().eq(all.iter().filter(|row| row.2 <= middle)));
    assert!(read(&mut line, Time::MAX).iter().eq(all.iter().filter(|row| row.2 > middle)));
}

#[test]
fn schemas_are_held_before_they_appear_and_come_first() {
    let channels = [("/x", "double"), ("/p", "struct:P"), ("/.schema/struct:P", "structschema")];
    let point = 2.5f64.to_le_bytes();
    let samples = [
        (0, Time::from_millis(0), Value::Double(1.0)),
        (0, Time::from_millis(10), Value::Double(2.0)),
        (1, Time::from_millis(20), Value::Bytes(&point)),
        (2, Time::from_millis(30), Value::String(b"double x")),
    ];
    let logs = [log_of(encode("wpilog", &channels, &samples))];
    let names = |rows: Vec<Row>| rows.into_iter().map(|row| row.0).collect::<Vec<_>>();
    let mut line = timeline(&logs);
    assert_eq!(names(held(&mut line, Time::from_millis(0))), ["/.schema/struct:P"]);
    assert_eq!(names(held(&mut line, Time::from_millis(25))), ["/.schema/struct:P", "/x", "/p"]);
    assert!(line.is_schema(2) && !line.is_schema(1));
    assert_eq!((line.first(1), line.first(0)), (Some(Time::from_millis(20)), Some(Time::from_millis(0))));
    // Also where the part that is wanted ends before the schema does.
    let cut = Lookup { end: Some(Time::from_millis(20)), ..Lookup::default() };
    let mut line = Timeline::new(&logs, vec![cut], Align::Auto, &Names::Auto).unwrap();
    assert_eq!(line.range(), Some((Time::from_millis(0), Time::from_millis(20))));
    assert_eq!(names(held(&mut line, Time::from_millis(0))), ["/.schema/struct:P"]);
}

#[test]
fn a_part_is_bounded_and_knows_what_was_before() {
    let logs = [jumbled(6, 2000)];
    let (start, end) = (Time::from_micros(10_000), Time::from_micros(20_000));
    let lookup = Lookup { start: Some(start), end: Some(end), ..Lookup::default() };
    let mut line = Timeline::new(&logs, vec![lookup], Align::Auto, &Names::Auto).unwrap();
    assert_eq!(line.range(), Some((start, end)));
    assert_eq!(held(&mut line, start).len(), 7);
    line.seek(start);
    let all = rows(&logs, Vec::new(), Order::Time);
    let within = all.iter().filter(|row| (start.nanos()..=end.nanos()).contains(&row.2));
    assert!(read(&mut line, Time::MAX).iter().eq(within));
    assert!(line.before(Time::MAX) <= Some(end));
}

fn two(offset_ms: i64) -> [Log; 2] {
    [0, offset_ms].map(|offset| {
        let samples = [0, 10, 20].map(|ms| (0, Time::from_millis(ms + offset), Value::Int64(ms)));
        log_of(encode("wpilog", &[("/x", "int64")], &samples))
    })
}

fn times_and_names(logs: &[Log], align: Align, names: &Names) -> Vec<(i64, String)> {
    let mut line = Timeline::new(logs, Vec::new(), align, names).unwrap();
    line.seek(Time::MIN);
    read(&mut line, Time::MAX).into_iter().map(|row| (row.2 / 1_000_000, row.0)).collect()
}

#[test]
fn logs_without_a_wall_clock_start_together() {
    let logs = two(5000);
    let of = |text: &str| [0, 10, 20].map(|ms| (ms, text.to_owned()));
    let mut both = [of("/a/x"), of("/b/x")].concat();
    both.sort();
    assert_eq!(times_and_names(&logs, Align::Auto, &Names::Auto), both);
    assert_eq!(times_and_names(&logs, Align::Start, &Names::Auto), both);
    let given = Names::Prefixed(vec!["/left/".into()]);
    let found = times_and_names(&logs, Align::Start, &given);
    assert_eq!(found[..2], [(0, "/left/x".to_owned()), (0, "/x".to_owned())]);
    let error = Timeline::new(&logs, Vec::new(), Align::Epoch, &Names::Auto).err().unwrap();
    assert!(error.to_string().contains("wall-clock"), "{error}");
}

#[test]
fn logs_that_follow_each_other_are_one() {
    let logs = two(20);
    let times: Vec<i64> = times_and_names(&logs, Align::None, &Names::Auto).into_iter().map(|row| row.0).collect();
    assert_eq!(times, [0, 10, 20, 20, 30, 40]);
    assert!(times_and_names(&logs, Align::None, &Names::Auto).iter().all(|row| row.1 == "/x"));
}

#[test]
fn logs_of_one_match_meet_on_the_wall_clock() {
    let logs = [open_demo(DATALOG), open_demo(R2)];
    let line = Timeline::new(&logs, Vec::new(), Align::Auto, &Names::Auto).unwrap();
    let expected = logs[1].epoch_ns().unwrap() - logs[0].epoch_ns().unwrap();
    assert_eq!(line.shifts(), [0, expected]);
    // Their names differ.
    assert_eq!(line.prefixes(), ["", ""]);
    let logs = [open_demo(AKIT), open_demo(AKIT)];
    let line = Timeline::new(&logs, Vec::new(), Align::Auto, &Names::Auto).unwrap();
    assert_eq!(line.prefixes(), ["a", "b"]);
    let schemas = line.channels().iter().filter(|c| c.name.contains("schema"));
    assert!(schemas.clone().count() > 0 && schemas.clone().all(|c| c.name.starts_with("/.schema")));
}

#[test]
fn a_filter_moves_the_start_to_the_first_wanted_sample() {
    let samples = [(0, Time::from_millis(0), Value::Int64(1)), (1, Time::from_millis(50), Value::Int64(2))];
    let logs = [log_of(encode("wpilog", &[("/x", "int64"), ("/y", "int64")], &samples))];
    let lookup = logs[0].lookup(&Filter::new(&["/y".into()], &[]).unwrap(), None, None).unwrap();
    let line = Timeline::new(&logs, vec![lookup], Align::Auto, &Names::Auto).unwrap();
    assert_eq!(line.range(), Some((Time::from_millis(50), Time::from_millis(50))));
    assert_eq!(line.channels().len(), 1);
}
