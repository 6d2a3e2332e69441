//! One, two or three threads: the same index and the same columns.

use logpose_carla::{Carla, fuzzing};
use logpose_core::{FileDialect, Lookup, Problems, ReadOptions};

use crate::model_kit::{column_lines, drive, f32_form, f64_form, index_lines};

fn side_by_side(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    std::thread::scope(|scope| {
        scope.spawn(b);
        a();
    });
}

fn check(log: &[u8], split: usize) {
    let run = |threads, (salvage, positions)| {
        let read = ReadOptions { threads, join: &side_by_side, salvage, positions, ..ReadOptions::default() };
        let mut problems = Problems::default();
        let index = fuzzing::index_split(log, &read, &mut problems, split).unwrap();
        let columns = Carla.scan(log, &index, &Lookup::default(), |_| {}).unwrap();
        (index_lines(&index), column_lines(&columns), format!("{:?}", problems.list()))
    };
    for how in [(false, true), (false, false), (true, true)] {
        let one = run(1, how);
        for threads in [2, 3, 5] {
            let found = run(threads, how);
            assert!(found.0 == one.0, "index with {threads} threads");
            assert!(found.1 == one.1, "columns with {threads} threads");
            assert_eq!(found.2, one.2, "{threads} threads");
        }
    }
}

#[test]
fn threads_do_not_change_what_is_found() {
    check(&drive(200, 20, f32_form(), 2), 2000);
    check(&drive(200, 20, f64_form(), 1), 2000);
}

on_recordings!(check_parts: threads_find_the_same_in_our_recordings, threads_find_the_same_in_real_recordings);

fn check_parts(name: &str, log: &[u8]) {
    println!("{name}"); // shown if the next line panics
    check(log, 3000);
}

#[test]
fn damage_is_the_same_in_parts() {
    let log = drive(60, 10, f32_form(), 2);
    for at in [log.len() / 5, log.len() / 2, log.len() * 4 / 5] {
        let mut damaged = log.clone();
        damaged[at..at + 50].fill(0xee);
        check(&damaged, 2000);
        check(&log[..at], 2000);
    }
    // Frames that do not follow on each other, and a seam in the wrong place.
    let twice = [&log[..], &log[34..]].concat();
    check(&twice, 2000);
}
