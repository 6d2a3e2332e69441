//! Logs that end anywhere, and logs with any one byte changed: never a panic, and all ways of reading agree.

use std::collections::BTreeMap;

use logpose_core::{FileDialect, Problems, ReadOptions};
use logpose_wpilog::{Reader, Wpilog, fuzzing};

use crate::fixtures::{corrupt, valid};
use crate::support::{Build, Series, in_columns, index, logs_in, replay, streamed};

/// Runs everything that can be done with a log; the samples of a stream are those of the index.
fn everything(log: &[u8], what: &str) {
    fuzzing::decode(log);
    fuzzing::recover(log);
    fuzzing::roundtrip(log);
    if Wpilog.index(log, &ReadOptions::default(), &mut Problems::default()).is_err() {
        return;
    }
    let rows = replay(log, &index(log).0).series();
    let columns = logpose_testkit::columns(&Wpilog, log);
    assert_eq!(in_columns(&columns), rows, "{what}: columns");
    assert_eq!(sorted(streamed(log, 64).series()), sorted(rows), "{what}: a stream");
}

/// Samples of two ids with one name stand in another order where one of them is late.
fn sorted(mut series: Series) -> Series {
    series.values_mut().for_each(|samples| samples.sort());
    series
}

#[test]
fn every_prefix_of_every_fixture_reads_without_panic() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in logs_in(folder) {
            // Long logs repeat themselves: some hundred bytes hold all kinds of ends.
            for end in (0..=log.len()).filter(|end| *end < 150 || *end + 50 > log.len() || end % 41 == 0) {
                everything(&log[..end], &format!("{name} up to byte {end}"));
            }
        }
    }
}

#[test]
fn a_prefix_has_the_records_that_are_whole() {
    for (name, log) in valid() {
        let mut ends = BTreeMap::from([(Reader::new(&log).expect(name).header().len(), 0)]);
        let mut reader = Reader::new(&log).expect(name);
        while reader.next().is_some() {
            ends.insert(usize::try_from(reader.offset()).expect("small"), ends.len());
        }
        for end in 12..=log.len() {
            let Ok(reader) = Reader::new(&log[..end]) else { continue };
            let (_, whole) = ends.range(..=end).next_back().expect("the header is there");
            assert_eq!(reader.filter_map(Result::ok).count(), *whole, "{name} up to byte {end}");
        }
    }
}

#[test]
fn every_single_byte_corruption_reads_without_panic() {
    let small = Build::new()
        .start(1, "/a", "double", "", 5)
        .double(1, 6, 1.5)
        .data(2, 7, &[1])
        .start(2, "/b", "boolean", "{}", 8)
        .metadata(1, "m", 9)
        .start(3, "s", "string[]", "", 10)
        .data(3, 11, b"\x02\0\0\0\x01\0\0\0a\x01\0\0\0b")
        .finish(1, 300)
        .start(1, "/a", "int64[]", "", 301)
        .data(1, 302, &[7; 16])
        .double(1, 70_000, 2.5)
        .0;
    for at in 0..small.len() {
        let flipped = (0..8).map(|bit| small[at] ^ 1 << bit);
        for value in flipped.chain([0, 1, 2, 3, 5, 8, 0x0f, 0x10, 0x20, 0x30, 0x7f, 0x80, 0xf0, 0xff]) {
            let mut log = small.clone();
            log[at] = value;
            everything(&log, &format!("byte {at} is {value:#04x}"));
        }
    }
}

#[test]
fn every_fixture_with_some_bytes_changed_reads_without_panic() {
    for (name, log) in valid().into_iter().chain(corrupt()) {
        let step = 1 + log.len() / 30;
        for at in (0..log.len()).step_by(step) {
            for value in [0xff, log[at] ^ 1, log[at] ^ 0x10] {
                let mut log = log.clone();
                log[at] = value;
                everything(&log, &format!("{name} with byte {at} as {value:#04x}"));
            }
        }
    }
}
