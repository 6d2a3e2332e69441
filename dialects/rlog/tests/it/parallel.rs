//! One, two or three threads: the same index and the same columns.

use logpose_core::{FileDialect, Join, Lookup, Problems, ReadOptions};
use logpose_rlog::{Options, Revision, Rlog, Writer, fuzzing};

use crate::kit::{column_lines, drive, index_lines};

fn threads(n: usize, join: &Join) -> ReadOptions<'_> {
    ReadOptions { threads: n, join, ..ReadOptions::default() }
}

fn side_by_side(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    std::thread::scope(|scope| {
        scope.spawn(b);
        a();
    });
}

fn check(log: &[u8], split: usize) {
    let run = |n| {
        let read = threads(n, &side_by_side);
        let mut problems = Problems::default();
        let index = fuzzing::index_split(log, &read, &mut problems, split).unwrap();
        let columns = Rlog.scan(log, &index, &Lookup::default(), |_| {}).unwrap();
        let marks: Vec<_> = index.marks.iter().map(|mark| (mark.at, mark.time)).collect();
        let slots = format!("{:?}", index.slots);
        (index_lines(&index), column_lines(&columns), (marks, slots), format!("{:?}", problems.list()))
    };
    let one = run(1);
    for n in [2, 3, 5] {
        let found = run(n);
        assert_eq!(found.0, one.0, "index with {n} threads");
        assert!(found.1 == one.1, "columns with {n} threads");
        assert_eq!((found.2, found.3), (one.2.clone(), one.3.clone()), "{n} threads");
    }
}

#[test]
fn threads_do_not_change_what_is_found() {
    for revision in [Revision::R1, Revision::R2] {
        check(&drive(revision, 6000), 64 << 10);
        check(&drive(revision, 400), 1000);
    }
}

#[test]
fn a_large_log_is_split_by_itself() {
    let log = drive(Revision::R2, 12_000);
    assert!(log.len() > 4 << 20);
    static CALLS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let join = |a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)| {
        CALLS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        side_by_side(a, b);
    };
    let read = threads(2, &join);
    let index = Rlog.index(&log, &read, &mut Problems::default()).unwrap();
    assert_eq!(CALLS.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(index.fact("cycles"), Some("12000"));
}

#[test]
fn damage_and_redefinitions_are_the_same_in_parts() {
    for revision in [Revision::R1, Revision::R2] {
        let log = drive(revision, 2000);
        // Damage in either half, and a cut.
        for at in [log.len() / 5, log.len() * 4 / 5] {
            let mut damaged = log.clone();
            damaged[at..at + 50].fill(0xee);
            check(&damaged, 10_000);
        }
        check(&log[..log.len() - 5], 10_000);
        // Two logs in one: every key is defined again, with other names under the same ids.
        let mut other = Writer::new(Options { revision, ..Options::default() });
        for i in 0..3000 {
            other.cycle(logpose_core::Time::from_millis(1_000_000 + 20 * i));
            for name in ["/X", "/Y", "/Z"] {
                let key = other.key(name, "double");
                other.put(key, &logpose_core::Value::Double(i as f64)).unwrap();
            }
        }
        let both = [&log, &other.bytes()[1..]].concat();
        check(&both, 10_000);
        let twice = [&log, &log[1..]].concat();
        check(&twice, 10_000);
    }
}

#[test]
fn false_beginnings_inside_values_do_no_harm() {
    // A raw value that holds a whole log: the split is sure to fall into it.
    let inner = drive(Revision::R2, 10)[1..].to_vec();
    let mut log = Writer::new(Options::default());
    let key = log.key("/Recorded", "raw");
    for i in 0..500 {
        log.cycle(logpose_core::Time::from_millis(i * 20));
        log.put(key, &logpose_core::Value::Bytes(&inner)).unwrap();
    }
    check(log.bytes(), 10_000);
}
