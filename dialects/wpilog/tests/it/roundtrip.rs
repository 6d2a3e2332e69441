//! What was written reads the same, in one piece and in many.

use logpose_core::{Cursor, FileDialect, Problems, ReadOptions};
use logpose_wpilog::{Control, Header, Record, Start, VERSION, Wpilog, fuzzing};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{
    Build, Event, Events, Series, channels, in_columns, index, logs_in, replay, replayed, rewritten, streamed,
};

fn check(record: Record<'_>) {
    let mut bytes = Vec::new();
    record.emit(&mut bytes);
    let mut cur = Cursor::new(&bytes, 0);
    assert_eq!(Record::parse(&mut cur), Ok(record));
    assert!(cur.is_empty());
}

#[test]
fn one_of_each_record_comes_back() {
    let start = Start { entry: 7, name: b"/a", type_name: b"double", metadata: b"{}", exact: true };
    let controls = [
        Control::Start(start),
        Control::Start(Start { entry: u32::MAX, name: b"", type_name: b"", metadata: b"", exact: true }),
        Control::Finish { entry: 7 },
        Control::SetMetadata { entry: 7, metadata: b"" },
        Control::SetMetadata { entry: 7, metadata: b"more" },
        Control::Unknown { bytes: b"" },
        Control::Unknown { bytes: b"\x09what" },
    ];
    for control in controls {
        let mut payload = Vec::new();
        control.emit(&mut payload);
        assert_eq!(Control::parse(&payload), control);
        let record = Record { entry: 0, timestamp: -5, payload: &payload };
        assert_eq!(record.control(), Some(control));
        check(record);
    }
    check(Record { entry: 1, timestamp: 0, payload: b"" });
    for extra in ["", "AdvantageKit"] {
        let header = Header { version: VERSION, extra: extra.as_bytes() };
        let mut bytes = Vec::new();
        header.emit(&mut bytes);
        assert_eq!((Header::parse(&mut Cursor::new(&bytes, 0)), bytes.len()), (Ok(header), header.len()));
    }
}

#[test]
fn streams_in_pieces_are_the_samples_of_the_whole() {
    for folder in ["valid", "corrupt"] {
        for (name, log) in logs_in(folder) {
            let whole = streamed(&log, usize::MAX >> 1);
            for piece in [1, 2, 5, 64] {
                same(&streamed(&log, piece), &whole, &format!("{name} in pieces of {piece} bytes"));
            }
            if Wpilog.index(&log, &ReadOptions::default(), &mut Problems::default()).is_ok() {
                assert_eq!(whole.series(), replayed(&log), "{name}");
            }
        }
    }
}

/// The same events and the same problems. Problems need not wait for the samples before them.
fn same(a: &Events, b: &Events, what: &str) {
    let events = |all: &Events| {
        all.events.iter().filter(|event| !matches!(event, Event::Problem { .. })).cloned().collect::<Vec<_>>()
    };
    assert_eq!(events(a), events(b), "{what}");
    assert_eq!(a.problems(), b.problems(), "{what}");
}

/// The events of a log regardless of their order: samples by channel, and the texts and ends of each.
fn contents(collect: &Events) -> (Series, Vec<Event>) {
    let rest = |event: &&Event| matches!(event, Event::End { .. });
    let mut series = collect.series();
    // A time beyond the microseconds that can be read again is written as the nearest that can.
    let (first, last) = (i64::MIN / 1000 * 1000, i64::MAX / 1000 * 1000);
    series.values_mut().flatten().for_each(|(time, _)| *time = (*time).clamp(first, last));
    (series, collect.events.iter().filter(rest).cloned().collect())
}

/// A log that is read and written again keeps every name, type, time, value, metadata and end.
fn keeps_everything(log: &[u8]) {
    let (before, _) = index(log);
    let written = rewritten(log);
    let (after, problems) = index(&written);
    let worse: Vec<_> = problems.iter().filter(|(code, _)| *code != "after-finish").collect();
    assert!(worse.is_empty(), "a log of ours has no problems: {worse:?}");
    assert_eq!(contents(&replay(&written, &after)), contents(&replay(log, &before)));
    let sorted = |index| {
        let mut channels = channels(index);
        channels.sort_unstable();
        channels
            .into_iter()
            .map(|(name, ty, samples, metadata)| (name.to_owned(), ty.to_owned(), samples, metadata.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(sorted(&after), sorted(&before));
    assert_eq!(rewritten(&written), written, "and writing it again changes nothing");
}

#[test]
fn every_fixture_is_kept_by_writing_it_again() {
    for folder in ["valid", "corrupt"] {
        for (_, log) in logs_in(folder) {
            fuzzing::roundtrip(&log);
            if Wpilog.index(&log, &ReadOptions::default(), &mut Problems::default()).is_ok() {
                keeps_everything(&log);
            }
        }
    }
}

/// One step of a generated log.
#[derive(Clone, Debug)]
enum Step {
    Start(u32, usize, usize, String),
    Finish(u32),
    Metadata(u32, String),
    Data(u32, i64, Vec<u8>),
}

const NAMES: [&str; 5] = ["/a", "/b", "NT:/c", "", "ü"];
const TYPES: [&str; 8] = ["double", "int64", "boolean", "string", "string[]", "float[]", "raw", "struct:X"];

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![20 => 1..6_u32, 1 => Just(300), 1 => Just(u32::MAX)]
}

fn time() -> impl Strategy<Value = i64> {
    // Beyond these the model's nanoseconds end.
    prop_oneof![10 => 0..10_000_000_i64, 1 => -9_000_000_000_000_000..9_000_000_000_000_000_i64]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![6 => vec(any::<u8>(), 8), 2 => vec(0..2_u8, 1), 1 => Just(vec![0; 4]), 2 => vec(any::<u8>(), 0..40)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (id(), 0..NAMES.len(), 0..TYPES.len(), "[a-z]{1,3}").prop_map(|(id, name, ty, text)| Step::Start(id, name, ty, text)),
        1 => id().prop_map(Step::Finish),
        1 => (id(), "[a-z]{1,3}").prop_map(|(id, text)| Step::Metadata(id, text)),
        10 => (id(), time(), payload()).prop_map(|(id, time, payload)| Step::Data(id, time, payload)),
    ]
}

/// A log of these steps. Names are shared by all ids, or each id has its own.
fn build(steps: &[Step], shared: bool) -> Vec<u8> {
    let mut log = Build::new();
    for (time, step) in (0..).zip(steps) {
        log = match step {
            Step::Start(id, name, ty, text) if shared => log.start(*id, NAMES[*name], TYPES[*ty], text, time),
            Step::Start(id, name, ty, text) => log.start(*id, &format!("{}{id}", NAMES[*name]), TYPES[*ty], text, time),
            Step::Finish(id) => log.finish(*id, time),
            Step::Metadata(id, text) => log.metadata(*id, text, time),
            Step::Data(id, time, payload) => log.data(*id, *time, payload),
        };
    }
    log.0
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_record_comes_back(entry: u32, timestamp: i64, payload in vec(any::<u8>(), 0..300)) {
        check(Record { entry, timestamp, payload: &payload });
    }

    #[test]
    fn any_control_comes_back(entry in 1_u32.., name: Vec<u8>, type_name: Vec<u8>, metadata: Vec<u8>) {
        let controls = [
            Control::Start(Start { entry, name: &name, type_name: &type_name, metadata: &metadata, exact: true }),
            Control::Finish { entry },
            Control::SetMetadata { entry, metadata: &metadata },
        ];
        for control in controls {
            let mut payload = Vec::new();
            control.emit(&mut payload);
            prop_assert_eq!(Control::parse(&payload), control);
        }
    }

    #[test]
    fn any_log_reads_the_same_in_all_ways(steps in vec(step(), 0..60), piece in 1..50_usize) {
        let log = build(&steps, true);
        fuzzing::decode(&log);
        fuzzing::recover(&log);
        fuzzing::roundtrip(&log);
        let rows = replayed(&log);
        let columns = logpose_testkit::columns(&Wpilog, &log);
        prop_assert_eq!(in_columns(&columns), rows.clone());
        let whole = streamed(&log, usize::MAX >> 1);
        same(&streamed(&log, piece), &whole, "in pieces");
        // Two ids with one name, one of them late: a stream cannot put their samples into the order of the file.
        let sorted = |mut series: Series| {
            series.values_mut().for_each(|samples| samples.sort());
            series
        };
        prop_assert_eq!(sorted(whole.series()), sorted(rows));
    }

    #[test]
    fn any_log_is_kept_by_writing_it_again(steps in vec(step(), 0..60)) {
        keeps_everything(&build(&steps, false));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes: Vec<u8>, header: bool) {
        let log = if header { Build::new().raw(&bytes).0 } else { bytes };
        fuzzing::decode(&log);
        fuzzing::recover(&log);
        fuzzing::roundtrip(&log);
    }
}

#[test]
fn the_first_and_the_last_time_can_be_read_again() {
    let mut encoder = Wpilog.encoder(&logpose_core::EncodeOptions::default()).unwrap();
    let mut log = Vec::new();
    encoder.begin(&mut log);
    encoder.channel(0, &logpose_core::Channel::new("/a", "int64"), &mut log).unwrap();
    for time in [logpose_core::Time::MIN, logpose_core::Time::MAX] {
        let value = logpose_core::Value::Int64(1);
        encoder.samples(&[logpose_core::Sample { channel: 0, time, value }], &mut log).unwrap();
    }
    encoder.finish(&mut log);
    let mut problems = logpose_core::Problems::default();
    let index = Wpilog.index(&log, &logpose_core::ReadOptions::default(), &mut problems).unwrap();
    assert_eq!((index.samples(), problems.worst()), (2, None), "{problems:?}");
}
