//! A log that is read window by window is the log that is read in one.

use logpose_core::{Columns, FileDialect, Index, Lookup, Problems, ReadOptions, Span, Sum, Time};
use logpose_wpilog::Wpilog;

use crate::support::{Build, Event, Events, in_columns, index_with, logs_in, replay};

/// Places where records begin, as a walk over single records finds them.
fn boundaries(log: &[u8], read: &ReadOptions<'_>) -> Vec<u64> {
    let mut places = Vec::new();
    let _ = Wpilog.records(log, read, 1, &mut |line| {
        places.push(line.at);
        std::ops::ControlFlow::Continue(())
    });
    places
}

fn windows(index: &Index, places: &[u64], every: usize) -> Vec<Span> {
    let within = |at: &&u64| index.spans.iter().any(|span| (span.start..span.end).contains(at));
    let mut starts: Vec<u64> = places.iter().filter(within).step_by(every).copied().collect();
    if let Some(first) = starts.first_mut() {
        *first = 0;
    }
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    starts.iter().zip(ends).map(|(start, end)| Span { start: *start, end }).collect()
}

fn check(log: &[u8], salvage: bool, what: &str) {
    let read = ReadOptions { salvage, ..ReadOptions::default() };
    let Ok(index) = Wpilog.index(log, &read, &mut Problems::default()) else { return };
    let whole = replay(log, &index);
    let scanned = Wpilog.scan(log, &index, &Lookup::default(), |_| {}).unwrap();
    let bits = |sums: Vec<Sum>| sums.into_iter().map(|sum| (sum.count, sum.sum.to_bits())).collect::<Vec<_>>();
    for untimed in [false, true] {
        let sums = Wpilog.sums(log, &index, &Lookup { untimed, ..Lookup::default() }, |_| {}).unwrap();
        assert!(bits(sums) == bits(scanned.sums()), "{what}: sums and scanned columns differ");
    }
    let columns = in_columns(&scanned);
    let mut series = whole.series();
    // A column is there also for a channel that was only ever started behind the last readable record.
    for key in columns.keys() {
        series.entry(key.clone()).or_default();
    }
    assert!(columns == series, "{what}: rows and scanned columns differ");

    let places = boundaries(log, &read);
    for every in [1, 2, 3, 7, 50] {
        if places.is_empty() || places.len() / every > 3000 {
            continue;
        }
        let mut parts = Events::default();
        let mut all: Option<Columns> = None;
        parts.know(&index);
        for within in windows(&index, &places, every) {
            let lookup = Lookup { within: Some(within), ..Lookup::default() };
            Wpilog.replay(log, &index, &lookup, &mut parts).unwrap();
            let part = Wpilog.scan(log, &index, &lookup, |_| {}).unwrap();
            match &mut all {
                Some(all) => all.append(part),
                None => all = Some(part),
            }
        }
        let without_channels = |events: &[Event]| -> Vec<Event> {
            events.iter().filter(|event| !matches!(event, Event::Channel { .. })).cloned().collect()
        };
        assert!(
            without_channels(&parts.events) == without_channels(&whole.events),
            "{what}: other rows in windows of {every} records"
        );
        assert!(in_columns(&all.unwrap_or_default()) == columns, "{what}: other columns, {every} records a window");
    }
}

#[test]
fn windows_of_fixtures_are_the_fixtures() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in logs_in(folder) {
            check(&log, false, &name);
            check(&log, true, &format!("{name} salvaged"));
        }
    }
}

#[test]
fn ids_that_live_many_lives_mean_the_same_in_every_window() {
    let mut log = Build::new();
    for i in 0..200_i64 {
        let id = 1 + u32::try_from(i % 3).unwrap();
        log = match i % 11 {
            0 => log.start(id, &format!("/{}", i % 4), "double", "{}", i),
            3 => log.finish(id, i),
            5 => log.metadata(id, &format!("{i}"), i),
            _ => log.double(id, i, 0.5),
        };
    }
    check(&log.0, false, "many lives");
}

#[test]
fn steps_are_where_records_begin_and_windows_cover_the_log() {
    let mut log = Build::new().start(1, "/a", "double", "", 0).start(2, "/text", "string", "", 0);
    for i in 0..300_000_i64 {
        log = log.double(1, i, 0.5);
    }
    log = log.data(2, 300_000, &vec![b'x'; 5 << 20]).double(1, 300_001, 1.0);
    let (index, _) = index_with(&log.0, &ReadOptions::default());
    assert!(index.steps.len() >= 4, "{:?}", index.steps);
    for bytes in [1, 1 << 20, 3 << 20, u64::MAX] {
        let windows = Wpilog.windows(&index, bytes);
        assert_eq!(windows.first().unwrap().start, index.spans[0].start);
        assert_eq!(windows.last().unwrap().end, log.0.len() as u64);
        assert!(windows.windows(2).all(|pair| pair[0].end == pair[1].start && pair[0].start < pair[0].end));
        let samples: usize = windows
            .iter()
            .map(|within| {
                let lookup = Lookup { within: Some(*within), ..Lookup::default() };
                let columns = Wpilog.scan(&log.0, &index, &lookup, |_| {}).unwrap();
                columns.columns.iter().map(|column| column.samples()).sum::<usize>()
            })
            .sum();
        assert_eq!(samples, 300_002, "{bytes}");
    }
}

#[test]
fn a_scan_gives_the_wanted_channels_and_times_alone() {
    let mut log = Build::new().start(1, "/a", "double", "", 0).start(2, "/b", "double", "", 0);
    for i in 0..100 {
        log = log.double(1, i, 0.5).double(2, i, 1.5);
    }
    let (index, _) = index_with(&log.0, &ReadOptions::default());
    let lookup = Lookup {
        channels: vec![false, true],
        start: Some(Time::from_micros(10)),
        end: Some(Time::from_micros(19)),
        ..Lookup::default()
    };
    let columns = Wpilog.scan(&log.0, &index, &lookup, |_| {}).unwrap();
    let samples: Vec<usize> = columns.columns.iter().map(|column| column.samples()).collect();
    assert_eq!(samples, [0, 10]);
}

#[test]
fn an_index_without_positions_says_the_same_otherwise() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in logs_in(folder) {
            let index = |positions: bool| {
                let (mut problems, read) = (Problems::default(), ReadOptions { positions, ..ReadOptions::default() });
                let index = Wpilog.index(&log, &read, &mut problems).ok()?;
                let said: Vec<_> = index
                    .channels
                    .iter()
                    .map(|c| (c.channel.clone(), c.samples, c.bytes, c.first, c.last, c.sorted))
                    .collect();
                Some((said, index.sorted, index.records, index.lives, index.steps, problems.list().to_vec()))
            };
            assert_eq!(index(true), index(false), "{name}");
        }
    }
}
