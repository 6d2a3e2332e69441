use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use logpose_core::{Channel, ChannelId, EncodeOptions, Sample, Time, Value};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Browse, Bucket, Piece, Pyramid};
use logpose_demo::{DemoOptions, demo};
use logpose_files::{
    Cache, ConvertOptions, FieldReader, Format, Log, OpenOptions, Output, Quiet, ScalarValue, Visit, convert,
    in_time_order, parse_path,
};

/// What a bucket of some samples must be.
fn naive(samples: &[(Time, f64)]) -> Option<Bucket> {
    let (first, last) = (samples.first()?, samples.last()?);
    let number = |pick: fn(f64, f64) -> f64| samples.iter().map(|(_, x)| *x).fold(f64::NAN, pick);
    Some(Bucket {
        start: first.0,
        end: last.0,
        first: first.1,
        min: number(f64::min),
        max: number(f64::max),
        last: last.1,
        count: samples.len() as u64,
    })
}

fn same(a: &Bucket, b: &Bucket) -> bool {
    let eq = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    (a.start, a.end, a.count) == (b.start, b.end, b.count)
        && eq(a.first, b.first)
        && eq(a.min, b.min)
        && eq(a.max, b.max)
        && eq(a.last, b.last)
}

/// The samples of a range.
fn within(samples: &[(Time, f64)], start: Time, end: Time) -> &[(Time, f64)] {
    let first = samples.partition_point(|(time, _)| *time < start);
    let behind = samples.partition_point(|(time, _)| *time <= end);
    samples.get(first..behind).unwrap_or_default()
}

/// Every sample of the range is in exactly one piece, and every bucket is what its samples say.
fn check_pieces(pyramid: &Pyramid, sorted: &[(Time, f64)], start: Time, end: Time, most: usize) {
    let about = format!("{start:?}..{end:?} in {most}");
    let (mut at, mut buckets) = (None, Vec::new());
    let mut covered = 0;
    let mut coarse = 0;
    let width = end.nanos().abs_diff(start.nanos()) / most.max(1) as u64;
    let _ = pyramid.pieces(start, end, most, &mut |piece| {
        let (from, to) = match piece {
            Piece::Bucket(bucket) => (bucket.start, bucket.end),
            Piece::Samples(from, to) => (from, to),
        };
        assert!(from <= to && at < Some(from) && to >= start && from <= end, "{about}: {piece:?} behind {at:?}");
        at = Some(to);
        let samples = within(sorted, from, to);
        match piece {
            Piece::Bucket(bucket) => {
                assert!(naive(samples).is_some_and(|naive| same(&naive, &bucket)), "{about}: {bucket:?} {samples:?}");
                assert!(bucket.span() <= width.saturating_add(1), "{about}: {bucket:?}");
                buckets.push(bucket);
            }
            Piece::Samples(..) => coarse += 1,
        }
        covered += within(samples, start, end).len();
        ControlFlow::Continue(())
    });
    assert_eq!(covered, within(sorted, start, end).len(), "{about}");
    assert!(buckets.len() <= 2 * most.max(1) + 1 && coarse <= most.max(1) + 1, "{about}: {} {coarse}", buckets.len());
    let mut out = vec![Bucket::of(Time::MIN, 0.0)];
    let enough = pyramid.buckets(start, end, most, &mut out);
    let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    assert_eq!(enough, coarse == 0 && (count == 0 || count > most as u64), "{about}");
    assert_eq!(out.len() - 1, if enough { buckets.len() } else { 0 }, "{about}");
}

/// All of a pyramid, at all widths.
fn check(pyramid: &Pyramid, samples: &[(Time, f64)], questions: &[(Time, Time)]) {
    let mut sorted = samples.to_vec();
    sorted.sort_by_key(|(time, _)| *time);
    assert_eq!(pyramid.samples(), sorted.len() as u64);
    let whole = naive(&sorted);
    let number = |pick: fn(&Bucket) -> f64| whole.as_ref().map(pick).filter(|x| !x.is_nan());
    assert_eq!((pyramid.min(), pyramid.max()), (number(|b| b.min), number(|b| b.max)));
    assert_eq!(pyramid.range(), whole.map(|whole| (whole.start, whole.end)));
    let all = (Time::MIN, Time::MAX);
    let own = whole.map_or(all, |whole| (whole.start, whole.end));
    for (start, end) in questions.iter().copied().chain([all, own, (own.1, own.0)]) {
        for most in [0, 1, 2, 3, 7, 50, 1000] {
            check_pieces(pyramid, &sorted, start, end, most);
        }
    }
}

fn times() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => 0..2000_i64,
        2 => (0..50_i64).prop_map(|t| t * 1_000_000_000),
        1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), Just(i64::MIN + 1), Just(i64::MAX - 1)],
        1 => any::<i64>(),
    ]
}

fn values() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -100.0..100.0_f64,
        1 => Just(f64::NAN),
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-0.0), Just(f64::MAX)],
    ]
}

fn series() -> impl Strategy<Value = Vec<(Time, f64)>> {
    let many = prop::collection::vec((times(), values()), 0..900);
    let bursts = (prop::collection::vec((times(), 1..200_usize), 0..12), values())
        .prop_map(|(bursts, value)| bursts.into_iter().flat_map(|(t, n)| std::iter::repeat_n((t, value), n)).collect());
    let steps = prop::collection::vec((0..3_i64, values()), 0..3000).prop_map(|steps| {
        let mut now = 0;
        let next = |(step, value): (i64, f64)| {
            now += step * step * step;
            (now, value)
        };
        steps.into_iter().map(next).collect::<Vec<_>>()
    });
    prop_oneof![many, bursts, steps]
        .prop_map(|all: Vec<(i64, f64)>| all.into_iter().map(|(time, value)| (Time::from_nanos(time), value)).collect())
}

fn questions() -> impl Strategy<Value = Vec<(Time, Time)>> {
    let question = (times(), times()).prop_map(|(a, b)| (Time::from_nanos(a.min(b)), Time::from_nanos(a.max(b))));
    prop::collection::vec(question, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn buckets_are_what_their_samples_say(samples in series(), asked in questions(), sort: bool, bound in 2..200_usize) {
        let mut samples = samples;
        if sort {
            samples.sort_by_key(|(time, _)| *time);
        }
        let (mut free, mut bounded) = (Pyramid::new(), Pyramid::bounded(bound));
        for (time, value) in &samples {
            free.push(*time, *value);
            bounded.push(*time, *value);
        }
        assert!(bounded.levels().first().map_or(0, |cells| cells.len()) <= bound);
        check(&free, &samples, &asked);
        check(&bounded, &samples, &asked);
    }

    #[test]
    fn what_one_pass_makes_is_what_samples_say(samples in series(), asked in questions()) {
        let log = sorted_log(&samples);
        let browse = Browse::with(Arc::clone(&log), 1, u64::MAX, &Quiet).unwrap();
        for (name, path) in [("/x", ""), ("/s", ".a"), ("/s", ".c[1]")] {
            let Some(channel) = log.channel(name).filter(|_| !samples.is_empty()) else { continue };
            let pyramid = browse.far.pyramid(channel, &parse_path(path).unwrap()).unwrap();
            check(&pyramid, &samples_of(&log, channel, path), &asked);
        }
    }
}

/// A log in which the samples stand in the order of time: as doubles, and as structs of them.
fn sorted_log(samples: &[(Time, f64)]) -> Arc<Log> {
    let mut sorted = samples.to_vec();
    sorted.sort_by_key(|(time, _)| *time);
    let mut made = Made::new(&[("/x", "double"), ("/s", "struct:S"), ("/.schema/struct:S", "structschema")]);
    made.push(2, Time::ZERO, Value::String(b"double a; bool b; float c[2]"));
    for (time, value) in &sorted {
        made.push(0, *time, Value::Double(*value));
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.push(1);
        #[expect(clippy::cast_possible_truncation, reason = "the field has so many bits")]
        bytes.extend([0.5_f32, *value as f32].into_iter().flat_map(f32::to_le_bytes));
        made.push(1, *time, Value::Bytes(&bytes));
    }
    made.log()
}

struct Made {
    encoder: Box<dyn logpose_core::Encode>,
    out: Vec<u8>,
}

impl Made {
    fn new(channels: &[(&str, &str)]) -> Self {
        let mut encoder =
            logpose_files::Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        for (id, (name, type_name)) in (0..).zip(channels) {
            encoder.channel(id, &Channel::new(*name, *type_name), &mut out).unwrap();
        }
        Self { encoder, out }
    }

    fn push(&mut self, channel: ChannelId, time: Time, value: Value<'_>) {
        self.encoder.samples(&[Sample { channel, time, value }], &mut self.out).unwrap();
    }

    fn bytes(mut self) -> Vec<u8> {
        self.encoder.finish(&mut self.out);
        self.out
    }

    fn log(self) -> Arc<Log> {
        Arc::new(Log::from_bytes("made.wpilog", self.bytes(), &OpenOptions::default()).unwrap())
    }
}

/// The numbers of a part, in the order of time, by reading columns.
fn samples_of(log: &Log, channel: ChannelId, path: &str) -> Vec<(Time, f64)> {
    let columns = log.columns(&[channel]).unwrap();
    let column = &columns.columns[0];
    let (parts, path) = (FieldReader::of(&column.channel, log.schemas().registry()), parse_path(path).unwrap());
    let mut samples = Vec::new();
    in_time_order(&columns, column, |time, value| {
        samples.push((time, parts.at(value, &path).and_then(|part| part.drawn()).unwrap_or(f64::NAN)));
    });
    samples
}

/// The paths of all parts of a value, with those that are drawn.
#[derive(Default)]
struct Paths {
    drawn: BTreeSet<String>,
    other: BTreeSet<String>,
}

impl Visit for Paths {
    fn list(&mut self, path: &str, len: usize) -> usize {
        self.drawn.insert(format!("{path}.length"));
        len.min(2)
    }

    fn scalar(&mut self, path: &str, part: ScalarValue<'_>) {
        let drawn = part.drawn().is_some();
        if drawn { &mut self.drawn } else { &mut self.other }.insert(path.to_owned());
    }
}

/// Everything that can be asked of a log, against reading whole columns.
fn check_log(log: &Arc<Log>) -> usize {
    let pass = Browse::with(Arc::clone(log), 1, 4096, &Quiet).unwrap();
    let lazy = Browse::with(Arc::clone(log), u64::MAX, 4096, &Quiet).unwrap();
    let mut series = 0;
    for (id, found) in (0..).zip(&log.index.channels) {
        let about = format!("{} {}", log.path.display(), found.channel.name);
        let columns = log.columns(&[id]).unwrap();
        let mut paths = Paths::default();
        let mut all: Vec<(Time, Vec<u8>)> = Vec::new();
        let mut parts = FieldReader::of(&found.channel, log.schemas().registry());
        in_time_order(&columns, &columns.columns[0], |time, value| {
            let mut bytes = Vec::new();
            value.emit(logpose_core::Layout::Little, &mut bytes);
            if all.len() < 50 {
                parts.visit(value, &mut paths);
            }
            all.push((time, bytes));
        });
        check_reading(&lazy, id, &all, &about);
        for path in paths.drawn.iter().take(8) {
            let samples = samples_of(log, id, path);
            check_drawing(&pass, &lazy, id, path, &samples, &about);
            series += 1;
        }
        for path in paths.other.difference(&paths.drawn).take(5) {
            let steps = parse_path(path).unwrap();
            if samples_of(log, id, path).iter().all(|(_, x)| x.is_nan()) {
                assert!(lazy.pyramid(id, &steps).unwrap().is_none(), "{about}{path}");
            }
        }
    }
    series
}

fn check_reading(browse: &Browse, id: ChannelId, all: &[(Time, Vec<u8>)], about: &str) {
    let whole = (Time::MIN, Time::MAX);
    let middle = all.get(all.len() / 3).map_or(Time::ZERO, |(time, _)| *time);
    let end = all.get(all.len() / 2).map_or(Time::ZERO, |(time, _)| *time);
    for (start, end) in [whole, (middle, end), (middle.plus(1), end.plus(-1)), (end, middle)] {
        let wanted: Vec<_> = all.iter().filter(|(time, _)| (start..=end).contains(time)).cloned().collect();
        assert_eq!(browse.count(id, start, end).unwrap(), wanted.len() as u64, "{about}");
        let (mut read, mut value_bytes) = (Vec::new(), Vec::new());
        let mut take = |time: Time, value: &Value<'_>| {
            value_bytes.clear();
            value.emit(logpose_core::Layout::Little, &mut value_bytes);
            read.push((time, value_bytes.clone()));
            ControlFlow::Continue(())
        };
        browse.read(id, start, end, &mut take).unwrap();
        assert!(read == wanted, "{about}");
    }
    for before in [Time::MIN, middle, Time::MAX] {
        let mut wanted = all.iter().filter(|(time, _)| *time < before).rev().take(30);
        let mut left = 30;
        let take = &mut |time: Time, _: &Value<'_>| {
            assert_eq!(Some(time), wanted.next().map(|(time, _)| *time), "{about}");
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        browse.read_back(id, before, take).unwrap();
        assert!(wanted.next().is_none(), "{about}");
    }
    for at in [Time::MIN, middle.plus(-1), middle, Time::MAX] {
        let wanted = all.iter().rfind(|(time, _)| *time <= at);
        let mut held = Vec::new();
        browse.held(&[id, id], at, &mut |place, time, _| held.push((place, time))).unwrap();
        let both = wanted.iter().flat_map(|(time, _)| [(0, *time), (1, *time)]);
        assert!(held.iter().copied().eq(both), "{about}: {held:?}");
    }
}

fn check_drawing(pass: &Browse, lazy: &Browse, id: ChannelId, path: &str, samples: &[(Time, f64)], about: &str) {
    let steps = parse_path(path).unwrap();
    let Some(pyramid) = lazy.pyramid(id, &steps).unwrap() else { panic!("{about}{path}: nothing") };
    let whole = samples.first().zip(samples.last()).map_or((Time::ZERO, Time::ZERO), |(a, b)| (a.0, b.0));
    let third = whole.1.since(whole.0) / 3;
    let part = (whole.0.plus(third), whole.1.plus(-third));
    for (start, end) in [whole, part] {
        for most in [1, 20, 300] {
            check_pieces(&pyramid, samples, start, end, most);
            for browse in [pass, lazy] {
                let mut buckets = Vec::new();
                let drawn = browse.drawn(id, &steps, start, end, most, &mut buckets).unwrap().unwrap();
                let wanted = within(samples, start, end);
                assert_eq!(drawn.samples, wanted.len() as u64, "{about}{path}");
                assert_eq!(drawn.raw, wanted.len() <= 2 * most);
                assert_eq!((drawn.min, drawn.max), (pyramid.min(), pyramid.max()));
                let buckets_of = |bucket: &Bucket| naive(within(samples, bucket.start, bucket.end));
                let right = |bucket: &Bucket| buckets_of(bucket).is_some_and(|naive| same(&naive, bucket));
                assert!(drawn.raw || buckets.iter().all(right), "{about}{path} {most} {buckets:?}");
                let count: u64 = buckets.iter().map(|bucket| bucket.count).sum();
                assert!(count >= wanted.len() as u64 && buckets.len() <= 3 * most + 1, "{about}{path} {most}");
                assert!(!drawn.raw || count == wanted.len() as u64, "{about}{path}");
            }
        }
    }
}

#[test]
fn logs_of_every_dialect_are_browsed_as_they_are_read() {
    let dir = TempDir::new().unwrap();
    for path in demo(dir.path(), &DemoOptions { teleop_s: 1, force: false }).unwrap() {
        let log = Arc::new(Log::open_with(&path, &OpenOptions::default(), &Quiet).unwrap());
        assert!(check_log(&log) > 10, "{}", path.display());
    }
}

#[test]
fn logs_of_other_fields_are_browsed_as_they_are_read() {
    let dir = TempDir::new().unwrap();
    let files = demo(dir.path(), &DemoOptions { teleop_s: 1, force: false }).unwrap();
    let log = Log::open_with(&files[1], &OpenOptions::default(), &Quiet).unwrap();
    for (name, format) in [("a.mcap", Format::MCAP), ("a.parquet", Format::PARQUET), ("a.csv", Format::CSV)] {
        let path = dir.path().join(name);
        let to = Output::File { path: &path, force: false, wrapper: None };
        convert(&[&log], Vec::new(), &format, to, &ConvertOptions::default(), &Quiet).unwrap();
        let log = Arc::new(Log::open_with(&path, &OpenOptions::default(), &Quiet).unwrap());
        assert!(check_log(&log) > 10, "{name}");
    }
}

#[test]
fn damaged_logs_are_browsed_as_they_are_read() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut opened = 0;
    for dialect in std::fs::read_dir(fixtures).unwrap() {
        let Ok(files) = std::fs::read_dir(dialect.unwrap().path().join("corrupt")) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            for salvage in [false, true] {
                let options = OpenOptions { salvage, ..OpenOptions::default() };
                let Ok(log) = Log::open_with(&file, &options, &Quiet) else { continue };
                if log.index.samples() < 20_000 {
                    check_log(&Arc::new(log));
                    opened += 1;
                }
            }
        }
    }
    assert!(opened > 30, "{opened}");
}

/// A log of several windows: a channel that is even, one in bursts of equal times, one out of order, structs that are
/// sometimes too short.
fn long_log(turns: i64) -> Vec<u8> {
    let channels = [("/even", "double"), ("/bursts", "int64"), ("/back", "float"), ("/on", "boolean")];
    let structs = [("/s", "struct:S"), ("/.schema/struct:S", "structschema")];
    let mut made = Made::new(&[&channels[..], &structs].concat());
    made.push(5, Time::ZERO, Value::String(b"int16 a; bool b:1; int8 c:3; uint8 d:4; enum {off = 0, on = 1} int8 e"));
    for i in 0..turns {
        let now = Time::from_millis(i);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let x = (i % 977) as f64;
        made.push(0, now, Value::Double(if i % 5000 == 7 { f64::NAN } else { x }));
        made.push(1, Time::from_millis(i / 1000 * 1000), Value::Int64(i % 313));
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        made.push(2, Time::from_millis(i ^ 5), Value::Float(x as f32));
        made.push(3, now, Value::Boolean(i / 100 % 2 == 1));
        let bytes = [i.to_le_bytes()[0], i.to_le_bytes()[1], i.to_le_bytes()[0], 1];
        made.push(4, now, Value::Bytes(if i % 1000 == 999 { &bytes[..2] } else { &bytes }));
    }
    made.bytes()
}

const ALL: [(&str, &str); 9] = [
    ("/even", ""),
    ("/bursts", ""),
    ("/back", ""),
    ("/on", ""),
    ("/s", ".a"),
    ("/s", ".b"),
    ("/s", ".c"),
    ("/s", ".d"),
    ("/s", ".e"),
];

#[test]
fn a_log_of_several_windows_is_browsed_as_it_is_read() {
    let log = Arc::new(Log::from_bytes("long.wpilog", long_log(40_000), &OpenOptions::default()).unwrap());
    assert!(log.windows(1).len() > 1);
    let browse = Browse::with(Arc::clone(&log), 1000, 1, &Quiet).unwrap();
    let lazy = Browse::with(Arc::clone(&log), u64::MAX, 1, &Quiet).unwrap();
    for (name, path) in ALL {
        let channel = log.channel(name).unwrap();
        let steps = parse_path(path).unwrap();
        let samples = samples_of(&log, channel, path);
        assert_eq!(browse.far.pyramid(channel, &steps).is_some(), name != "/back", "{name}{path}");
        for browse in [&browse, &lazy] {
            let pyramid = browse.pyramid(channel, &steps).unwrap().unwrap();
            check(&pyramid, &samples, &[(Time::from_millis(100), Time::from_millis(20_000))]);
        }
        check_drawing(&browse, &lazy, channel, path, &samples, name);
    }
}

#[test]
fn cells_of_a_pass_stay_within_their_memory() {
    let log = Arc::new(Log::from_bytes("long.wpilog", long_log(5000), &OpenOptions::default()).unwrap());
    let lanes = super::pass::plan(&log, 1);
    assert_eq!(super::pass::fill(&log, &lanes), super::pyramid::FILL);
    for fill in [64, 4096] {
        for (lane, pyramid) in lanes.iter().zip(super::pass::build(&log, &lanes, fill, 1, &Quiet).unwrap()) {
            check(&pyramid, &samples_of(&log, lane.channel, &lane.path), &[]);
        }
    }
}

fn keeping(folder: &Path) -> OpenOptions {
    let cache = Cache::Folder(folder.to_owned());
    OpenOptions { cache, cache_from: 0, cache_after: Duration::ZERO, ..OpenOptions::default() }
}

/// A log in a folder, and where things about it are kept.
struct Place {
    _dir: TempDir,
    log: PathBuf,
    cache: PathBuf,
}

impl Place {
    fn new(turns: i64) -> Self {
        let dir = TempDir::new().unwrap();
        let (log, cache) = (dir.path().join("a.wpilog"), dir.path().join("cache"));
        std::fs::write(&log, long_log(turns)).unwrap();
        Self { _dir: dir, log, cache }
    }

    fn browse(&self) -> Browse {
        let log = Log::open_with(&self.log, &keeping(&self.cache), &Quiet).unwrap();
        Browse::with(Arc::new(log), 100, 1, &Quiet).unwrap()
    }

    fn file(&self) -> PathBuf {
        let files = std::fs::read_dir(&self.cache).unwrap().map(|entry| entry.unwrap().path());
        files.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "lpp")).unwrap()
    }
}

/// All buckets of all series.
fn seen(browse: &Browse) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let log = browse.log();
    for (name, path) in ALL {
        let pyramid = browse.pyramid(log.channel(name).unwrap(), &parse_path(path).unwrap()).unwrap().unwrap();
        writeln!(text, "{name}{path} {:?}", pyramid.levels()).unwrap();
    }
    text
}

#[test]
fn what_is_kept_is_what_was_made() {
    let place = Place::new(3000);
    let first = place.browse();
    assert!(!first.from_cache());
    let second = place.browse();
    assert!(second.from_cache());
    let plain = Arc::new(Log::open_with(&place.log, &OpenOptions::default(), &Quiet).unwrap());
    let plain = Browse::with(plain, 100, 1, &Quiet).unwrap();
    assert_eq!(seen(&second), seen(&plain));
    assert_eq!(seen(&first), seen(&plain));
    // What is pushed into a copy of what was kept leaves the file alone.
    let mut copy = (*second.pyramid(second.log().channel("/even").unwrap(), &[]).unwrap().unwrap()).clone();
    let before = copy.samples();
    copy.push(Time::from_millis(1), 5.0);
    assert_eq!(copy.samples(), before + 1);
    assert_eq!(seen(&second), seen(&plain));
    // Another log at the same place; Windows lets nobody write to a file that is mapped.
    drop((first, second, plain, copy));
    std::fs::write(&place.log, long_log(2999)).unwrap();
    assert!(!place.browse().from_cache());
    assert!(place.browse().from_cache());
}

#[test]
fn what_was_kept_and_is_odd_is_made_again() {
    let place = Place::new(1000);
    let right = seen(&place.browse());
    let file = place.file();
    let whole = std::fs::read(&file).unwrap();
    let other = Place::new(1001);
    assert!(!other.browse().from_cache());
    let foreign = std::fs::read(other.file()).unwrap();
    let cut = (0..whole.len()).step_by(997).map(|len| whole[..len].to_vec());
    let longer = [whole.clone(), vec![0]].concat();
    for bytes in cut.chain([foreign, longer, b"LPP\0\0\0\0\x01".to_vec(), vec![0xff; 100_000]]) {
        std::fs::write(&file, &bytes).unwrap();
        let browse = place.browse();
        assert!(!browse.from_cache());
        assert_eq!(seen(&browse), right);
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
    // A wrong byte is seen at the latest when it is asked for, and then the file is gone; Windows may keep it as long as
    // it is mapped.
    for at in (0..whole.len()).step_by(1499).chain((whole.len() - 300..whole.len()).step_by(13)) {
        let mut wrong = whole.clone();
        wrong[at] ^= 0x10;
        std::fs::write(&file, &wrong).unwrap();
        let browse = place.browse();
        assert_eq!(browse.from_cache(), at >= 32 && at < description(&whole));
        assert!(right.len() == seen(&browse).len() || browse.from_cache(), "byte {at}");
        for (name, path) in [("/even", ""), ("/s", ".e")] {
            let channel = browse.log().channel(name).unwrap();
            let pyramid = browse.pyramid(channel, &parse_path(path).unwrap()).unwrap().unwrap();
            check(&pyramid, &samples_of(browse.log(), channel, path), &[]);
        }
        assert!(cfg!(windows) || !browse.from_cache() || !file.exists(), "byte {at}");
    }
    // A folder where the file should be.
    let _ = std::fs::remove_file(&file);
    std::fs::create_dir(&file).unwrap();
    assert_eq!(seen(&place.browse()), right);
}

/// Where the description begins.
fn description(file: &[u8]) -> usize {
    usize::try_from(u64::from_le_bytes(*file[8..].first_chunk().unwrap())).unwrap()
}

#[test]
fn a_file_that_lies_with_the_right_hash_breaks_nothing() {
    let place = Place::new(200);
    drop(place.browse());
    let file = place.file();
    let whole = std::fs::read(&file).unwrap();
    let start = description(&whole);
    let hash = |bytes: &[u8]| twox_hash::XxHash3_64::oneshot(bytes).to_le_bytes();
    let mut believed = 0;
    for at in (32..start).step_by(61).chain((start..whole.len()).step_by(3)) {
        for change in [1, 0x80, 0xff] {
            let mut lie = whole.clone();
            lie[at] ^= change;
            if at < start {
                // The hash of the first series is made right as well.
                let (before, after) = (hash(&whole[32..first_end(&whole)]), hash(&lie[32..first_end(&whole)]));
                let place = lie.windows(8).position(|window| window == before).unwrap();
                lie[place..place + 8].copy_from_slice(&after);
            }
            let described = hash(&lie[start..]);
            lie[24..32].copy_from_slice(&described);
            std::fs::write(&file, &lie).unwrap();
            let browse = place.browse();
            believed += usize::from(browse.from_cache());
            for id in 0..5 {
                for path in [vec![], parse_path(".a").unwrap()] {
                    let Some(pyramid) = browse.pyramid(id, &path).unwrap() else { continue };
                    let _ = (pyramid.samples(), pyramid.min(), pyramid.max(), pyramid.range());
                    for (from, to) in [(Time::MIN, Time::MAX), (Time::from_millis(50), Time::from_millis(60))] {
                        browse.drawn(id, &path, from, to, 7, &mut Vec::new()).unwrap();
                    }
                }
            }
        }
    }
    assert!(believed > 100, "{believed}");
}

/// Where the first series of a file ends: 200 samples are seven cells and two above them.
fn first_end(_: &[u8]) -> usize {
    32 + 9 * Bucket::BYTES
}

#[test]
fn what_is_not_there_is_told() {
    let log = Arc::new(Log::from_bytes("long.wpilog", long_log(10), &OpenOptions::default()).unwrap());
    let browse = Browse::new(Arc::clone(&log), &Quiet).unwrap();
    for id in [99, ChannelId::MAX] {
        assert!(browse.count(id, Time::MIN, Time::MAX).is_err());
        assert!(browse.pyramid(id, &[]).is_err());
        assert!(browse.held(&[0, id], Time::MAX, &mut |_, _, _| {}).is_err());
    }
    for path in [".x", "[0]", ".a.b", ".a[0]", ".length"] {
        assert!(browse.pyramid(log.channel("/s").unwrap(), &parse_path(path).unwrap()).unwrap().is_none(), "{path}");
    }
    for path in ["x", "[", "[]", "[-1]", ".", "..", ".a.", "[0", "[0]]", "[99999999999999999999]"] {
        assert!(parse_path(path).is_err(), "{path}");
    }
    assert!(parse_path(&".a".repeat(1000)).is_err());
    let path = ".poses[2].rotation.value";
    assert_eq!(parse_path(path).unwrap().iter().map(ToString::to_string).collect::<String>(), path);
}

#[test]
fn lists_have_elements_and_a_length() {
    let mut made =
        Made::new(&[("/d", "double[]"), ("/j", "json"), ("/s", "struct:S[]"), ("/.schema/struct:S", "structschema")]);
    made.push(3, Time::ZERO, Value::String(b"uint8 a; uint8 list[2]"));
    for i in 0..100_u8 {
        let now = Time::from_millis(i.into());
        let numbers: Vec<u8> = (0..i % 3).flat_map(|x| f64::from(x + i).to_le_bytes()).collect();
        let numbers = logpose_core::Numbers::new(&numbers, logpose_core::Layout::Little).unwrap();
        made.push(0, now, Value::DoubleArray(numbers));
        let json = format!(r#"{{"a": {i}, "list": [1, 2], "text": "x"}}"#);
        made.push(1, now, Value::String(json.as_bytes()));
        made.push(2, now, Value::Bytes(&[i, 7, 8].repeat(2)));
    }
    let log = made.log();
    let browse = Browse::new(Arc::clone(&log), &Quiet).unwrap();
    let ask = |name: &str, path: &str| {
        let pyramid = browse.pyramid(log.channel(name).unwrap(), &parse_path(path).unwrap()).unwrap()?;
        Some((pyramid.samples(), pyramid.min(), pyramid.max()))
    };
    assert_eq!(ask("/d", "[0]"), Some((100, Some(1.0), Some(98.0))));
    assert_eq!(ask("/d", ".length"), Some((100, Some(0.0), Some(2.0))));
    assert_eq!(ask("/d", ""), None);
    assert_eq!(ask("/j", ".a"), Some((100, Some(0.0), Some(99.0))));
    assert_eq!(ask("/j", ".list.length"), Some((100, Some(2.0), Some(2.0))));
    assert_eq!(ask("/j", ".text"), None);
    assert_eq!(ask("/s", ".length"), Some((100, Some(2.0), Some(2.0))));
    assert_eq!(ask("/s", "[1].a"), Some((100, Some(0.0), Some(99.0))));
    assert_eq!(ask("/s", "[1].list.length"), Some((100, Some(2.0), Some(2.0))));
    assert_eq!(ask("/s", "[1].list[1]"), Some((100, Some(8.0), Some(8.0))));
}
