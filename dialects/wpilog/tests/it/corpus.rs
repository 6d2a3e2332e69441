//! Real logs, and damaged ones made from them, that are not part of this repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use logpose_core::{FileDialect, Index, Layout, Problems, ReadOptions, Severity, Type, Value};
use logpose_wpilog::{Control, Reader, Wpilog, fuzzing};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::support::{Series, in_columns, index_with, places, replay, streamed};

/// One file of the corpus and what is known of it.
struct File {
    name: String,
    log: Vec<u8>,
    expected: Json,
}

impl File {
    fn number(&self, key: &str) -> Option<u64> {
        self.expected.get(key)?.as_u64()
    }

    fn is_damaged(&self) -> bool {
        self.expected.get("damage").is_some()
    }
}

/// The logs of the corpus.
fn corpus() -> Vec<File> {
    let folder = logpose_testkit::corpus("wpilog");
    let text = std::fs::read_to_string(folder.join("expected.json")).expect("expected.json");
    let expected: BTreeMap<String, Json> = serde_json::from_str(&text).expect("expected.json is JSON");
    // Compressed logs are opened by crates/files.
    let files = expected.into_iter().filter(|(name, _)| !name.ends_with("xz"));
    let files: Vec<File> = files
        .map(|(name, expected)| File { log: std::fs::read(folder.join(&name)).expect(&name), name, expected })
        .collect();
    assert!(files.len() > 30, "the corpus at {} has {} logs", folder.display(), files.len());
    files
}

/// What the walk that made `expected.json` counted, counted with our reader.
#[derive(Default)]
struct Count {
    numbers: BTreeMap<&'static str, i64>,
    start_types: BTreeMap<String, u64>,
    records_by_type: BTreeMap<String, u64>,
    consumed: u64,
    sha256: String,
}

fn count(log: &[u8]) -> Count {
    let mut reader = Reader::new(log).expect("a header");
    let mut c = Count::default();
    for key in [
        "records",
        "data_records",
        "start_records",
        "finish_records",
        "set_metadata_records",
        "zero_control_records",
        "other_control_records",
        "timestamps_going_backwards",
        "data_for_unknown_or_finished_id",
        "max_payload",
    ] {
        c.numbers.insert(key, 0);
    }
    let mut hash = Sha256::new();
    let mut live: HashMap<u32, (Vec<u8>, String)> = HashMap::new();
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut last_data = None;
    while let Some(Ok(record)) = reader.next() {
        c.consumed = reader.offset();
        let mut add = |key, n: i64| *c.numbers.entry(key).or_default() += n;
        add("records", 1);
        let time = record.timestamp;
        match record.control() {
            None => {
                add("data_records", 1);
                add("timestamps_going_backwards", last_data.is_some_and(|last| time < last).into());
                last_data = Some(time);
                match live.get(&record.entry) {
                    Some((name, type_name)) => {
                        *c.records_by_type.entry(type_name.clone()).or_default() += 1;
                        hash.update(length(name));
                        hash.update(name);
                        hash.update(time.to_le_bytes());
                        hash.update(length(record.payload));
                        hash.update(record.payload);
                    }
                    None => add("data_for_unknown_or_finished_id", 1),
                }
                range(
                    &mut c.numbers,
                    time,
                    [
                        "data_first_timestamp_us",
                        "data_last_timestamp_us",
                        "data_min_timestamp_us",
                        "data_max_timestamp_us",
                    ],
                );
            }
            Some(Control::Start(start)) => {
                add("start_records", 1);
                let type_name = String::from_utf8_lossy(start.type_name).into_owned();
                *c.start_types.entry(type_name.clone()).or_default() += 1;
                ids.insert(start.entry);
                names.insert(start.name.to_vec());
                live.insert(start.entry, (start.name.to_vec(), type_name));
            }
            Some(Control::Finish { entry }) => {
                add("finish_records", 1);
                live.remove(&entry);
            }
            Some(Control::SetMetadata { .. }) => add("set_metadata_records", 1),
            Some(Control::Unknown { bytes: [] }) if time == 0 => add("zero_control_records", 1),
            Some(Control::Unknown { .. }) => add("other_control_records", 1),
        }
        range(
            &mut c.numbers,
            time,
            ["first_timestamp_us", "last_timestamp_us", "min_timestamp_us", "max_timestamp_us"],
        );
        let largest = c.numbers.entry("max_payload").or_default();
        *largest = (*largest).max(i64::try_from(record.payload.len()).expect("small"));
    }
    if c.consumed == 0 {
        c.consumed = reader.header().len() as u64;
    }
    c.numbers.insert("distinct_entry_ids", i64::try_from(ids.len()).expect("small"));
    c.numbers.insert("distinct_names", i64::try_from(names.len()).expect("small"));
    c.numbers.insert("consumed_bytes", i64::try_from(c.consumed).expect("small"));
    c.numbers.insert("trailing_bytes", i64::try_from(log.len() as u64 - c.consumed).expect("small"));
    c.sha256 = hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    });
    c
}

fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).expect("small").to_le_bytes()
}

fn range(numbers: &mut BTreeMap<&'static str, i64>, time: i64, [first, last, min, max]: [&'static str; 4]) {
    numbers.entry(first).or_insert(time);
    numbers.insert(last, time);
    let low = numbers.entry(min).or_insert(time);
    *low = time.min(*low);
    let high = numbers.entry(max).or_insert(time);
    *high = time.max(*high);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_reader_finds_what_other_readers_found() {
    for file in corpus() {
        if file.expected.get("plain_walk_error").is_some() {
            assert!(Reader::new(&file.log).is_err(), "{}", file.name);
            continue;
        }
        let found = count(&file.log);
        let header = Reader::new(&file.log).expect("a header").header();
        assert_eq!(file.number("version"), Some(header.version.into()), "{}", file.name);
        assert_eq!(file.expected["extra_header"].as_str(), std::str::from_utf8(header.extra).ok(), "{}", file.name);
        for (key, value) in &found.numbers {
            assert_eq!(file.expected[*key].as_i64(), Some(*value), "{} {key}", file.name);
        }
        for (key, ours) in [("start_types", &found.start_types), ("records_by_type", &found.records_by_type)] {
            let theirs: BTreeMap<String, u64> = serde_json::from_value(file.expected[key].clone()).expect(key);
            assert_eq!(theirs, *ours, "{} {key}", file.name);
        }
        assert_eq!(file.expected["data_sha256"].as_str(), Some(&*found.sha256), "{}", file.name);
    }
}

/// How many data records the reading policy drops from a log, by a plain reading of the policy: those whose id
/// is never started, and those that are no value of their type. The types are those of the index's channels.
fn dropped(log: &[u8]) -> u64 {
    let mut types: HashMap<u32, Vec<(u64, Type)>> = HashMap::new();
    let mut reader = Reader::new(log).expect("a header");
    while let Some(Ok(record)) = reader.next() {
        if let Some(Control::Start(start)) = record.control() {
            let ty = Type::of(&String::from_utf8_lossy(start.type_name));
            types.entry(start.entry).or_default().push((reader.offset(), ty));
        }
    }
    let mut reader = Reader::new(log).expect("a header");
    let mut dropped = 0;
    while let Some(Ok(record)) = reader.next() {
        if record.entry == 0 {
            continue;
        }
        let starts = types.get(&record.entry).map_or(&[][..], |starts| starts);
        let before = starts.partition_point(|(at, _)| *at <= reader.offset());
        let ty = starts.get(before.saturating_sub(1)).map(|(_, ty)| *ty);
        dropped += u64::from(ty.is_none_or(|ty| Value::parse(ty, record.payload, Layout::Little).is_err()));
    }
    dropped
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_index_agrees_with_the_reader() {
    for file in corpus() {
        let mut problems = Problems::default();
        let index = match Wpilog.index(&file.log, &ReadOptions::default(), &mut problems) {
            Ok(index) => index,
            Err(error) => {
                assert!(file.expected.get("plain_walk_error").is_some(), "{}: {error}", file.name);
                continue;
            }
        };
        agree(&file.name, &file.log, &index);
        if file.name.contains("concatenated") {
            // Other readers stumble over the second header; this one reads both logs.
            assert_eq!(Some(index.records), file.number("complete_records").map(|n| 2 * n), "{}", file.name);
            assert_eq!(
                places(&problems).first(),
                file.number("damage_offset").map(|at| ("second-header", at)).as_ref(),
                "{}",
                file.name
            );
            continue;
        }
        let zeros = file.number("zero_control_records").expect("a number");
        let records = file.number("records").expect("a number");
        // A run of zero bytes is one problem and no records. It may end one to three bytes into the next record,
        // which then reads as something else, here as there.
        assert_eq!(index.records, records - zeros, "{}", file.name);
        assert_eq!(
            index.samples(),
            file.number("data_records").expect("a number") - dropped(&file.log),
            "{}",
            file.name
        );
        let trailing = file.number("trailing_bytes").expect("a number");
        let truncated = problems.list().iter().find(|problem| problem.code == "truncated");
        assert_eq!(truncated.map_or(0, |problem| problem.length), trailing, "{}", file.name);
        if trailing > 0 {
            assert_eq!(truncated.and_then(|problem| problem.at), file.number("consumed_bytes"), "{}", file.name);
        }
        assert_eq!(index.spans.last().map(|span| span.end), file.number("consumed_bytes"), "{}", file.name);
        if !file.is_damaged() && dropped(&file.log) == 0 {
            let range = index.range().map(|(first, last)| (first.micros(), last.micros()));
            let expected = |key: &str| file.expected[key].as_i64();
            assert_eq!(
                range,
                expected("data_min_timestamp_us").zip(expected("data_max_timestamp_us")),
                "{}",
                file.name
            );
            let back = file.number("timestamps_going_backwards").expect("a number");
            assert_eq!(index.sorted, back == 0, "{}", file.name);
        }
        if file.expected["origin"] == "real" {
            assert!(
                problems.worst() < Some(Severity::Damage) || file.name.contains("nukkeldev"),
                "{}: {:?}",
                file.name,
                problems.list()
            );
        }
    }
}

/// Rows, columns and streams have the same samples.
fn agree(name: &str, log: &[u8], index: &Index) {
    let rows = replay(log, index).series();
    let samples: usize = rows.values().map(Vec::len).sum();
    assert_eq!(samples as u64, index.samples(), "{name}");
    let columns = logpose_testkit::columns(&Wpilog, log);
    same(name, "columns", &rows, &in_columns(&columns));
    same(name, "a stream", &rows, &streamed(log, 16 << 10).series());
}

fn same(name: &str, what: &str, a: &Series, b: &Series) {
    assert!(a.keys().eq(b.keys()), "{name}: {what} has other channels");
    for (key, samples) in a {
        assert!(b[key] == *samples, "{name}: {what} has other samples of {key:?}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn undamaged_logs_are_salvaged_without_a_gap() {
    for file in corpus() {
        if file.is_damaged() {
            continue;
        }
        let (plain, _) = index_with(&file.log, &ReadOptions::default());
        let (index, problems) = index_with(&file.log, &ReadOptions { salvage: true, ..ReadOptions::default() });
        let lost: Vec<_> = problems
            .list()
            .iter()
            .filter(|problem| ["lost-bytes", "zero-fill", "no-header"].contains(&problem.code))
            .collect();
        assert!(
            lost.is_empty() && (index.spans.len() == 1 || index.records == 0),
            "{}: {lost:?} {:?}",
            file.name,
            index.spans
        );
        assert_eq!((index.records, index.samples()), (plain.records, plain.samples()), "{}", file.name);
    }
}

/// A record's place and length.
type Place = (u64, u64);

fn records(log: &[u8], salvage: bool) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    let all = Wpilog.records(log, &ReadOptions { salvage, ..ReadOptions::default() }, 0, &mut |line| {
        places.insert((line.at, line.length));
        ControlFlow::Continue(())
    });
    all.expect("records");
    places
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn records_behind_damage_are_found_again() {
    let files = corpus();
    let by_name: HashMap<&str, &File> = files.iter().map(|file| (&*file.name, file)).collect();
    let mut table = format!("{:<44} {:>7} {:>9} {:>7} {:>10}\n", "file", "intact", "recovered", "false", "lost bytes");
    let (mut damaged, mut complete) = (0, 0);
    for file in files.iter().filter(|file| file.is_damaged()) {
        fuzzing::recover(&file.log);
        let source = by_name[file.expected["source"].as_str().expect("a name")];
        let header = Reader::new(&source.log).expect("a header").header().len() as u64;
        let all: BTreeSet<Place> = records(&source.log, false).into_iter().filter(|(at, _)| *at >= header).collect();
        let length = file.log.len() as u64;
        let damage = file.number("damage_offset").unwrap_or(0);
        let damage = damage..damage + file.number("damage_length").unwrap_or(1);
        // Where the records of the source are in this file, if nothing happened to them.
        let intact: BTreeSet<Place> = if file.expected.get("plain_walk_error").is_some() {
            all.iter().map(|(at, len)| (at - 12, *len)).collect()
        } else if file.name.contains("concatenated") {
            all.iter().flat_map(|(at, len)| [(*at, *len), (at + source.log.len() as u64, *len)]).collect()
        } else if file.expected["damage"]
            .as_str()
            .is_some_and(|damage| damage.contains("tail") || damage.contains("truncated"))
        {
            all.iter().filter(|(at, len)| at + len <= damage.start).copied().collect()
        } else {
            all.iter().filter(|(at, len)| at + len <= damage.start || *at >= damage.end).copied().collect()
        };
        let known = file
            .number("intact_records_total")
            .or_else(|| file.number("source_records"))
            .or_else(|| file.number("complete_records"));
        let twice = if file.name.contains("concatenated") { 2 } else { 1 };
        assert_eq!(known.map(|n| n * twice), Some(intact.len() as u64), "{}", file.name);
        let mut found = BTreeSet::new();
        let (index, problems) = index_with(&file.log, &ReadOptions { salvage: true, ..ReadOptions::default() });
        for span in &index.spans {
            let mut at = span.start;
            while at < span.end {
                let next = next_record(&file.log, at);
                if next.1 {
                    found.insert((at, next.0));
                }
                at += next.0;
            }
        }
        assert_eq!(found.len() as u64, index.records, "{}", file.name);
        let recovered = intact.intersection(&found).count();
        let lost: u64 = problems
            .list()
            .iter()
            .filter(|problem| ["lost-bytes", "zero-fill"].contains(&problem.code))
            .map(|problem| problem.length)
            .sum();
        writeln!(
            table,
            "{:<44} {:>7} {:>9} {:>7} {:>10}",
            file.name,
            intact.len(),
            recovered,
            found.len() - recovered,
            lost
        )
        .expect("a string takes all");
        damaged += 1;
        complete += usize::from(recovered == intact.len());
        assert!(recovered + 1 >= intact.len(), "{}: {} of {} intact records", file.name, recovered, intact.len());
        assert!(found.len() <= recovered + 2, "{}: {} records that never were", file.name, found.len() - recovered);
        assert!(lost <= length);
    }
    if damaged > 0 {
        println!("{table}all intact records: {complete} of {damaged} files");
        // The prototype of the specification: 12 of 15.
        assert!(complete * 15 >= damaged * 12, "{complete} of {damaged}");
    }
}

/// The length of the record at a place, and whether it is one and not a second header.
fn next_record(log: &[u8], at: u64) -> (u64, bool) {
    let at = usize::try_from(at).expect("small");
    if log[at..].starts_with(b"WPILOG\0\x01") {
        return (Reader::new(&log[at..]).expect("a header").header().len() as u64, false);
    }
    let mut cur = logpose_core::Cursor::new(&log[at..], 0);
    logpose_wpilog::Record::parse(&mut cur).expect("a record in a span");
    (cur.offset(), true)
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_log_survives_what_the_fuzzer_does() {
    for file in corpus() {
        println!("{}", file.name); // shown if one of the next lines panics
        fuzzing::decode(&file.log);
        fuzzing::roundtrip(&file.log);
    }
}
