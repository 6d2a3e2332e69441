//! What several tests need: sinks, folders, sample logs.

use std::path::{Path, PathBuf};

use logpose_core::{
    Channel, ChannelId, Columns, Decode, Dialect, Index, Lookup, Problem, Problems, ReadOptions, Sample, Sink,
    SinkError, Time, Value,
};
use logpose_rlog::{Decoder, Options, Revision, Rlog, Writer};

/// Writes down what it is given, one line each.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) channels: Vec<(ChannelId, String, String)>,
    pub(crate) samples: u64,
    pub(crate) lines: Vec<String>,
    pub(crate) problems: Vec<Problem>,
}

impl Lines {
    fn name(&self, id: ChannelId) -> String {
        let channel = self.channels.iter().rev().find(|(known, ..)| *known == id);
        channel.map(|(_, name, ty)| format!("{name} {ty}")).expect("a channel is declared before its samples")
    }
}

impl Sink for Lines {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.push((id, channel.name.clone(), channel.type_name.clone()));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        assert!(!samples.is_empty(), "an empty batch");
        self.samples += samples.len() as u64;
        for sample in samples {
            let line = format!("{} {} {}", sample.time, self.name(sample.channel), show(&sample.value));
            self.lines.push(line);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        let line = format!("{time} {} ends", self.name(id));
        self.lines.push(line);
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// A value, to the bit.
pub(crate) fn show(value: &Value<'_>) -> String {
    let mut bytes = Vec::new();
    value.emit(logpose_core::Layout::Little, &mut bytes);
    format!("{:?} {bytes:02x?}", value.ty())
}

pub(crate) fn index(log: &[u8]) -> (Index, Problems) {
    let mut problems = Problems::default();
    let index = Rlog.index(log, &ReadOptions::default(), &mut problems).expect("an index");
    (index, problems)
}

pub(crate) fn salvaged(log: &[u8]) -> (Index, Problems) {
    let mut problems = Problems::default();
    let index =
        Rlog.index(log, &ReadOptions { salvage: true, ..ReadOptions::default() }, &mut problems).expect("an index");
    (index, problems)
}

pub(crate) fn replayed(log: &[u8], index: &Index) -> Lines {
    let mut lines = Lines::default();
    Rlog.replay(log, index, &Lookup::default(), &mut lines).expect("a sink that takes everything");
    lines
}

pub(crate) fn decoded(log: &[u8], step: usize) -> Lines {
    let mut decoder = Decoder::new(&ReadOptions::default());
    let mut lines = Lines::default();
    let (mut used, mut given) = (0, 0);
    while given < log.len() {
        given = (given + step).min(log.len());
        used += decoder.decode(&log[used..given], &mut lines).expect("a whole log");
    }
    decoder.finish(&log[used..], &mut lines).expect("a whole log");
    lines
}

/// The columns as lines, channel by channel.
pub(crate) fn column_lines(columns: &Columns) -> Vec<String> {
    let mut lines = Vec::new();
    for column in &columns.columns {
        lines.push(format!("{} {} sorted {}", column.channel.name, column.channel.type_name, column.sorted));
        lines.extend(columns.samples(column).map(|(time, value)| format!("{time} {}", show(&value))));
    }
    lines
}

/// The channels of an index as lines.
pub(crate) fn index_lines(index: &Index) -> Vec<String> {
    let channels = index.channels.iter().map(|c| {
        let at: Vec<u64> = c.positions.iter().collect();
        format!(
            "{} {} {} {} {} {} {} {at:?}",
            c.channel.name, c.channel.type_name, c.samples, c.bytes, c.first, c.last, c.sorted
        )
    });
    let whole =
        [format!("{:?} {:?} {} {} {:?}", index.spans, index.marks.len(), index.records, index.sorted, index.facts)];
    channels.chain(whole).collect()
}

pub(crate) fn codes(problems: &Problems) -> Vec<&'static str> {
    problems.kinds().iter().map(|(code, ..)| *code).collect()
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("dialects/rlog lies two folders deep").into()
}

/// The files of one folder of fixtures with this extension, which must not be empty.
pub(crate) fn fixtures(folder: &str, extension: &str) -> Vec<(String, Vec<u8>)> {
    let folder = workspace().join("fixtures/rlog").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of fixtures")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                std::fs::read(&path).expect("a readable fixture"),
            )
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no fixtures in {}", folder.display());
    files
}

pub(crate) fn bless() -> bool {
    std::env::var_os("LOGPOSE_BLESS").is_some()
}

/// A value of every type, twice, and what R1 and R2 have of their own.
pub(crate) fn every_type(revision: Revision) -> Vec<u8> {
    let mut log = Writer::new(Options { revision, ..Options::default() });
    let bytes_of = |numbers: &[f64]| numbers.iter().flat_map(|x| x.to_be_bytes()).collect::<Vec<u8>>();
    let doubles = bytes_of(&[1.5, -0.0, f64::INFINITY]);
    let ints: Vec<u8> = [1_i64, -1].iter().flat_map(|x| x.to_le_bytes()).collect();
    let floats: Vec<u8> = [0.5_f32, 3.25].iter().flat_map(|x| x.to_le_bytes()).collect();
    let texts = b"\x03\0\0\0\x01\0\0\0a\0\0\0\0\x02\0\0\0\xc3\xa9";
    let parse = |name, bytes, layout| Value::parse(logpose_core::Type::of(name), bytes, layout).expect("a value");
    use logpose_core::Layout::{Big, Little};
    let values = [
        ("/Boolean", "boolean", Value::Boolean(true)),
        ("/Int", "int64", Value::Int64(-2)),
        ("/Float", "float", Value::Float(1.5)),
        ("/Double", "double", Value::Double(-0.1)),
        ("/String", "string", Value::String("hé".as_bytes())),
        ("/Raw", "raw", Value::Bytes(&[1, 2])),
        ("/Booleans", "boolean[]", Value::BooleanArray(&[1, 0])),
        ("/Ints", "int64[]", parse("int64[]", &ints, Little)),
        ("/Floats", "float[]", parse("float[]", &floats, Little)),
        ("/Doubles", "double[]", parse("double[]", &doubles, Big)),
        ("/Strings", "string[]", parse("string[]", texts, Little)),
        ("/.schema/struct:T", "structschema", Value::String(b"double x")),
        ("/Struct", "struct:T", Value::Bytes(&[0, 0, 0, 0, 0, 0, 0xf8, 0x3f])),
    ];
    let keys: Vec<_> = values.iter().map(|(name, ty, _)| log.key(name, ty)).collect();
    for ms in [1000, 1020] {
        log.cycle(Time::from_millis(ms));
        for (key, (.., value)) in keys.iter().zip(&values) {
            log.put(*key, value).expect("a value that can be said");
        }
    }
    log.cycle(Time::from_millis(1040));
    if revision == Revision::R1 {
        assert!(log.remove(keys[3]));
        log.cycle(Time::from_millis(1060));
        log.put(keys[3], &Value::Double(7.0)).expect("a double");
    }
    log.into_bytes()
}

/// A log of `cycles` cycles with a few dozen keys of several types, some of which begin late.
pub(crate) fn drive(revision: Revision, cycles: i64) -> Vec<u8> {
    drive_with(revision, cycles, 30)
}

/// The same, small enough for a fixture.
pub(crate) fn small(revision: Revision) -> Vec<u8> {
    drive_with(revision, 8, 3)
}

fn drive_with(revision: Revision, cycles: i64, doubles: usize) -> Vec<u8> {
    let mut log = Writer::new(Options { revision, ..Options::default() });
    let doubles: Vec<_> = (0..doubles).map(|i| log.key(&format!("/Drive/Module{i}/Position"), "double")).collect();
    let mode = log.key("/Mode", "string");
    let ints = log.key("/Count", "int64");
    let list = log.key("/List", "double[]");
    let enabled = log.key("/Enabled", "boolean");
    let names = log.key("/Names", "string[]");
    let mut elements = Vec::new();
    for cycle in 0..cycles {
        log.cycle(Time::from_micros(250_000 + cycle * 20_003));
        for (i, key) in doubles.iter().enumerate() {
            if i != 2 || cycle > cycles / 2 {
                log.put(*key, &Value::Double((cycle * 31 + i as i64) as f64 / 7.0)).unwrap();
            }
        }
        log.put(ints, &Value::Int64(cycle)).unwrap();
        if cycle % 5 == 0 {
            elements.clear();
            (0..cycle % 9).for_each(|i| elements.extend_from_slice(&(i as f64).to_be_bytes()));
            log.put(
                list,
                &Value::parse(logpose_core::Type::DoubleArray, &elements, logpose_core::Layout::Big).unwrap(),
            )
            .unwrap();
            log.put(enabled, &Value::Boolean(cycle % 2 == 0)).unwrap();
        }
        if cycle % 50 == 0 {
            log.put(mode, &Value::String(format!("mode {cycle}").as_bytes())).unwrap();
            let texts = b"\0\0\0\x02\0\0\0\x01a\0\0\0\x03bcd";
            log.put(names, &Value::parse(logpose_core::Type::StringArray, texts, logpose_core::Layout::Big).unwrap())
                .unwrap();
        }
        if revision == Revision::R1 && cycle % 97 == 96 {
            log.remove(enabled);
        }
    }
    log.into_bytes()
}
