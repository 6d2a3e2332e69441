//! A log that is read in parts is the log that is read in one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use logpose_core::{Index, Problems, ReadOptions};
use logpose_wpilog::Wpilog;

use crate::support::{Build, channels, in_columns, index_with, replay};

/// How often a log was split, by any of these tests.
static SPLITS: AtomicUsize = AtomicUsize::new(0);

fn side_by_side(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    SPLITS.fetch_add(1, Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(a);
        b();
    });
}

/// All that an index says, as text.
fn shown(index: &Index, problems: &Problems) -> String {
    let channels: Vec<_> = index
        .channels
        .iter()
        .map(|c| {
            (
                &c.channel,
                c.samples,
                c.bytes,
                c.first,
                c.last,
                c.sorted,
                c.positions.iter().fold(0, |sum: u64, at| sum.wrapping_mul(31).wrapping_add(at)),
            )
        })
        .collect();
    let (slots, spans, records, sorted, facts) =
        (&index.slots, &index.spans, index.records, index.sorted, &index.facts);
    let mut problems = problems.clone();
    problems.sort_by_place();
    format!(
        "{channels:#?}\n{slots:?}\n{spans:?} {records} {sorted} {facts:?}\n{:#?}\n{:?}",
        problems.list(),
        kinds(&problems)
    )
}

fn kinds(problems: &Problems) -> Vec<String> {
    let mut kinds: Vec<String> = problems.kinds().iter().map(|kind| format!("{kind:?}")).collect();
    kinds.sort();
    kinds
}

/// Reads with one to four threads.
fn check(log: &[u8], what: &str) {
    let (index, problems) = index_with(log, &ReadOptions::default());
    let expected = shown(&index, &problems);
    let rows = replay(log, &index).series();
    assert!(rows == in_columns(&logpose_testkit::columns(&Wpilog, log)), "{what}: rows and columns differ");
    for threads in [2, 3, 4] {
        let read = ReadOptions { threads, join: &side_by_side, ..ReadOptions::default() };
        let (index, problems) = index_with(log, &read);
        let found = shown(&index, &problems);
        if found != expected {
            let differs = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
            panic!("{what}: another index with {threads} threads: {differs:?}");
        }
        assert!(replay(log, &index).series() == rows, "{what}: other rows with {threads} threads");
        assert!(
            in_columns(&logpose_testkit::columns_with(&Wpilog, log, &read)) == rows,
            "{what}: other columns with {threads} threads"
        );
    }
}

/// About `megabytes` of records of many entries. `middle` is called once, about half way.
fn long_log(megabytes: usize, middle: impl Fn(Build) -> Build) -> Vec<u8> {
    let mut log = Build::new();
    for id in 1..=400_u32 {
        let ty = ["double", "int64", "boolean", "string", "float[]"][id as usize % 5];
        log = log.start(id, &format!("/channel/{id}"), ty, if id % 7 == 0 { "{}" } else { "" }, i64::from(id));
    }
    log = log.start(500, "/quiet", "double", "", 900).double(500, 901, 1.0);
    let (bytes, mut half) = (megabytes << 20, false);
    for i in 0_u32.. {
        let (id, time) = (1 + i * 7 % 400, 1_000_000 + 211 * i64::from(i));
        log = match id % 5 {
            0 | 1 => log.double(id, time, f64::from(i)),
            2 => log.data(id, time, &[(i / 400 % 2) as u8]),
            3 => log.data(id, time, format!("value {i} {:1$}", ' ', 900 + i as usize % 100).as_bytes()),
            _ => log.data(id, time, &[0; 32][..4 * (i as usize / 400 % 8)]),
        };
        if i % 5_000 == 4_999 {
            // Restarts, all over the log.
            log = log.finish(5, time).start(5, "/channel/5", "double", "again", time).metadata(6, &i.to_string(), time);
        }
        if i % 9_000 == 0 {
            log = log.double(900 + i / 9_000, time, 1.0); // its Start comes at the end
        }
        if !half && log.0.len() > bytes / 2 {
            half = true;
            log = middle(log);
        }
        if log.0.len() > bytes {
            break;
        }
    }
    for id in 900..906 {
        log = log.start(id, &format!("/late/{id}"), "double", "", 5);
    }
    log.0
}

/// What happens in a log.
type Step = fn(Build) -> Build;

#[test]
fn a_long_log_is_the_same_with_any_number_of_threads() {
    let log = long_log(12, |log| log);
    assert!(log.len() > 12 << 20);
    let before = SPLITS.load(Ordering::Relaxed);
    check(&log, "a long log");
    assert!(SPLITS.load(Ordering::Relaxed) > before, "it was split");
}

#[test]
fn ends_and_starts_around_the_middle_are_the_same_with_any_number_of_threads() {
    let steps: [(&str, Step); 13] = [
        ("Finish", |log| log.finish(10, 7)),
        ("Finish, then data", |log| log.finish(10, 7).double(10, 8, 1.0)),
        ("Finish and Start", |log| log.finish(10, 7).start(10, "/other", "double", "", 8)),
        ("Start of a live id with another name", |log| log.start(10, "/other", "double", "", 8)),
        ("Start of a live id with the same name", |log| log.start(10, "/channel/10", "double", "other", 8)),
        ("SetMetadata", |log| log.metadata(10, "m", 8)),
        ("Finish and SetMetadata of unknown ids", |log| log.finish(7000, 8).metadata(7001, "m", 8)),
        ("Finish of a quiet entry", |log| log.finish(500, 7)),
        ("Finish of a quiet entry, then data", |log| log.finish(500, 7).double(500, 8, 1.0)),
        ("Finish and Start of a quiet entry", |log| log.finish(500, 7).start(500, "/quiet", "double", "", 8)),
        ("SetMetadata of a quiet entry", |log| log.metadata(500, "m", 8)),
        ("data of a quiet entry, then a second Start", |log| {
            log.double(500, 7, 1.0).start(500, "/quiet", "double", "", 8)
        }),
        ("a time that steps back", |log| log.double(10, -5, 1.0)),
    ];
    let plain = long_log(5, |log| log);
    for (what, step) in steps {
        check(&long_log(5, step), what);
        // The same behind the middle, so that it falls into the second part.
        let late = step(Build(plain.clone())).double(10, i64::MAX / 2000, 1.0).0;
        check(&late, &format!("{what} at the end"));
    }
}

#[test]
fn wrong_sizes_and_zero_fill_are_the_same_with_any_number_of_threads() {
    check(&long_log(5, |log| log.raw(&[0; 4096]).data(10, 7, &[1, 2, 3]).data(0, 1, &[9])), "zeros and a bad value");
    let mut cut = long_log(5, |log| log);
    cut.truncate(cut.len() - 1);
    check(&cut, "a cut log");
    let mut broken = long_log(5, |log| log.raw(&[0xff; 20]));
    broken.extend([1, 2, 3]);
    check(&broken, "a log that is broken in the middle");
}

#[test]
fn two_logs_in_one_file_are_the_same_with_any_number_of_threads() {
    let one = long_log(3, |log| log);
    check(&[&one[..], &one].concat(), "two logs");
    check(&[&one[..], &one, &one].concat(), "three logs");
}

#[test]
fn payloads_that_look_like_records_mislead_nobody() {
    let mut fake = Vec::new();
    for i in 0..40_000_i64 {
        let log = Build(fake).double(1 + u32::try_from(i % 50).unwrap(), 1_000_000 + i, 2.0);
        fake = if i % 5000 == 0 { log.start(77, "/fake", "double", "", i).finish(3, i).0 } else { log.0 };
    }
    for shift in 0..3 {
        let payload = [&vec![0xee; shift][..], &fake].concat();
        let log =
            long_log(5, |log| log.start(1000, "/raw", "raw", "", 1).data(1000, 2, &payload).data(1000, 3, &payload));
        check(&log, "payloads of fake records");
        // Most of the log: the place where it is to be split lies within.
        let log = Build::new()
            .start(1, "/raw", "raw", "", 1)
            .data(1, 2, &payload.repeat(8))
            .double(2, 3, 1.0)
            .start(2, "/two", "double", "", 4);
        check(&log.0, "one payload");
        assert_eq!(channels(&index_with(&log.0, &ReadOptions::default()).0).len(), 2);
    }
}
