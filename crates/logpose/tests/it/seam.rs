//! A log that changed after it was indexed is an error, in every dialect and every way to read it: never a log with fewer
//! samples.

use logpose::core::fuzzing::{check_cut, check_readings};
use logpose::core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Time, Value};
use logpose::{Align, Log, Names, OpenOptions, Order, Quiet, Timeline};
use logpose_testkit::{fixture, ms};

use crate::support::{encode, log_of};

fn open(path: &std::path::Path) -> Log {
    Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap()
}

#[test]
fn a_log_that_became_shorter_is_an_error_in_every_dialect() {
    let mut checked = std::collections::BTreeMap::new();
    for folder in ["carla", "dslog", "pcap", "refloat", "rides", "rlog", "wpilog"] {
        for entry in std::fs::read_dir(fixture(folder).join("valid")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                continue;
            }
            let log = open(&path);
            println!("{}", path.display()); // shown if the next line panics
            check_readings(log.dialect(), log.bytes(), &log.index);
            check_cut(log.dialect(), log.bytes(), &log.index);
            if log.index.samples() > 0 {
                *checked.entry(log.format().info().name).or_insert(0) += 1;
            }
        }
    }
    assert!(checked.len() >= 10 && checked.values().sum::<i32>() > 40, "{checked:?}");
}

/// A log of so many samples, at every millisecond.
fn written(samples: i64) -> Log {
    let samples: Vec<_> = (1..=samples).map(|at| (0, ms(at), Value::Double(at as f64))).collect();
    log_of(encode("wpilog", &[("/x", "double")], &samples))
}

struct Count(usize);

impl Sink for Count {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.0 += samples.len();
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

/// What was readable is given all the same, and the error says what to do.
#[test]
fn whatever_reads_a_log_says_that_its_index_is_not_its_own() {
    let whole = written(5000);
    let mut short = written(2000);
    short.index = whole.index.clone();
    let is_stale = |error: SinkError| {
        let SinkError::Source(error) = error else { panic!("{error:?}") };
        assert_eq!((error.code, error.help.is_some()), ("bad-index", true));
    };
    let mut sink = Count(0);
    is_stale(short.rows(Order::File, &Lookup::default(), &mut sink).unwrap_err());
    assert_eq!(sink.0, 2000);
    let late = Lookup { start: Some(Time::from_millis(4500)), ..Lookup::default() };
    for lookup in [Lookup::default(), late] {
        is_stale(short.rows(Order::Time, &lookup, &mut Count(0)).unwrap_err());
        is_stale(short.rows_by_index(&lookup, &mut Count(0)).unwrap_err());
        assert!(short.columns_within(&[0], &lookup).is_err() && short.scan(&lookup).is_err());
        assert!(short.sums(&lookup).is_err());
    }
    assert!(short.columns(&[0]).is_err() && short.all_columns().is_err());

    let logs = [short];
    let mut timeline = Timeline::new(&logs, Vec::new(), Align::None, &Names::Auto).unwrap();
    timeline.seek(Time::from_millis(4000));
    is_stale(timeline.read(10, Time::MAX, &mut |_| Ok(())).unwrap_err());
    is_stale(timeline.held(Time::from_millis(4000), &mut |_| Ok(())).unwrap_err());
}
