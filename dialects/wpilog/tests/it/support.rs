//! What several tests need: logs made by hand, and everything that was read as plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use logpose_core::{
    Channel, ChannelId, Columns, Dialect, EncodeOptions, Encoding, Index, Layout, Lookup, Problem, Problems,
    ReadOptions, Sample, Sink, SinkError, Time,
};
use logpose_wpilog::{Control, Header, Record, Start, VERSION, Wpilog};

/// A log, put together record by record. Nothing is checked: what no writer would write can be made too.
#[derive(Clone, Debug)]
pub(crate) struct Build(pub(crate) Vec<u8>);

impl Build {
    pub(crate) fn new() -> Self {
        Self::with_extra("")
    }

    pub(crate) fn with_extra(extra: &str) -> Self {
        let mut out = Vec::new();
        Header { version: VERSION, extra: extra.as_bytes() }.emit(&mut out);
        Self(out)
    }

    /// The byte at which the next record will stand.
    pub(crate) fn at(&self) -> u64 {
        self.0.len() as u64
    }

    pub(crate) fn start(self, entry: u32, name: &str, type_name: &str, metadata: &str, time: i64) -> Self {
        let (name, type_name, metadata) = (name.as_bytes(), type_name.as_bytes(), metadata.as_bytes());
        self.control(&Control::Start(Start { entry, name, type_name, metadata, exact: true }), time)
    }

    pub(crate) fn finish(self, entry: u32, time: i64) -> Self {
        self.control(&Control::Finish { entry }, time)
    }

    pub(crate) fn metadata(self, entry: u32, metadata: &str, time: i64) -> Self {
        self.control(&Control::SetMetadata { entry, metadata: metadata.as_bytes() }, time)
    }

    pub(crate) fn control(self, control: &Control<'_>, time: i64) -> Self {
        let mut payload = Vec::new();
        control.emit(&mut payload);
        self.data(0, time, &payload)
    }

    pub(crate) fn data(mut self, entry: u32, timestamp: i64, payload: &[u8]) -> Self {
        Record { entry, timestamp, payload }.emit(&mut self.0);
        self
    }

    pub(crate) fn double(self, entry: u32, timestamp: i64, value: f64) -> Self {
        self.data(entry, timestamp, &value.to_le_bytes())
    }

    pub(crate) fn int(self, entry: u32, timestamp: i64, value: i64) -> Self {
        self.data(entry, timestamp, &value.to_le_bytes())
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Bytes written as in the specification: hexadecimal, with spaces.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect(text)).collect()
}

/// One thing that a sink was told, with the channel's name and type in place of its number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    Channel { name: String, type_name: String, metadata: String },
    Sample { key: Key, time: i64, payload: Vec<u8> },
    Metadata { key: Key, time: i64, metadata: String },
    End { key: Key, time: i64 },
    Problem { code: &'static str, at: u64 },
}

/// A channel's name and type.
pub(crate) type Key = (String, String);
/// The samples of every channel: times in nanoseconds, payloads as a log has them.
pub(crate) type Series = BTreeMap<Key, Vec<(i64, Vec<u8>)>>;

/// Writes down what it is told.
#[derive(Debug, Default)]
pub(crate) struct Collect {
    pub(crate) events: Vec<Event>,
    keys: BTreeMap<ChannelId, Key>,
    all_known: bool,
}

impl Collect {
    /// The samples of every channel; channels without samples are there too.
    pub(crate) fn series(&self) -> Series {
        let mut series = Series::new();
        for event in &self.events {
            match event {
                Event::Channel { name, type_name, .. } => {
                    series.entry((name.clone(), type_name.clone())).or_default();
                }
                Event::Sample { key, time, payload } => {
                    series.entry(key.clone()).or_default().push((*time, payload.clone()))
                }
                _ => {}
            }
        }
        series
    }

    pub(crate) fn problems(&self) -> Vec<(&'static str, u64)> {
        self.events
            .iter()
            .filter_map(|event| if let Event::Problem { code, at } = event { Some((*code, *at)) } else { None })
            .collect()
    }

    /// Knows all channels of an index, as if they had been declared; they may be declared again.
    pub(crate) fn know(&mut self, index: &Index) {
        let keys = index.channels.iter().map(|c| (c.channel.name.clone(), c.channel.type_name.clone()));
        self.keys = (0..).zip(keys).collect();
        self.all_known = true;
    }

    fn key(&self, id: ChannelId) -> Key {
        self.keys.get(&id).expect("a channel is declared before it is used").clone()
    }
}

impl Sink for Collect {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let before = self.keys.insert(id, (channel.name.clone(), channel.type_name.clone()));
        assert!(before.is_none() || self.all_known, "channel {id} is declared twice");
        let (name, type_name, metadata) = (channel.name.clone(), channel.type_name.clone(), channel.metadata.clone());
        self.events.push(Event::Channel { name, type_name, metadata });
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let mut payload = Vec::new();
            sample.value.emit(Layout::Little, &mut payload);
            self.events.push(Event::Sample { key: self.key(sample.channel), time: sample.time.nanos(), payload });
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.events.push(Event::Metadata { key: self.key(id), time: time.nanos(), metadata: metadata.into() });
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.events.push(Event::End { key: self.key(id), time: time.nanos() });
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.events.push(Event::Problem { code: problem.code, at: problem.at.unwrap_or(u64::MAX) });
    }
}

/// The index of a log and what was odd about it.
pub(crate) fn index_with(log: &[u8], read: &ReadOptions<'_>) -> (Index, Problems) {
    let mut problems = Problems::default();
    let index = Wpilog.index(log, read, &mut problems).expect("the log has an index");
    (index, problems)
}

/// The index of a log, and the codes and places of what was odd about it.
pub(crate) fn index(log: &[u8]) -> (Index, Vec<(&'static str, u64)>) {
    let (index, problems) = index_with(log, &ReadOptions::default());
    (index, places(&problems))
}

/// The same with the search for records behind damage.
pub(crate) fn salvage(log: &[u8]) -> (Index, Vec<(&'static str, u64)>) {
    let (index, problems) = index_with(log, &ReadOptions { salvage: true, ..ReadOptions::default() });
    (index, places(&problems))
}

pub(crate) fn places(problems: &Problems) -> Vec<(&'static str, u64)> {
    problems.list().iter().map(|problem| (problem.code, problem.at.unwrap_or(u64::MAX))).collect()
}

pub(crate) fn replay(log: &[u8], index: &Index) -> Collect {
    let mut collect = Collect::default();
    Wpilog.replay(log, index, &Lookup::default(), &mut collect).expect("the sink takes everything");
    collect
}

/// All samples, by replaying the log.
pub(crate) fn replayed(log: &[u8]) -> Series {
    replay(log, &index(log).0).series()
}

/// All samples, through the columns.
pub(crate) fn in_columns(columns: &Columns) -> Series {
    let mut series = Series::new();
    for column in &columns.columns {
        let key = (column.channel.name.clone(), column.channel.type_name.clone());
        let samples = columns.samples(column).map(|(time, value)| {
            let mut payload = Vec::new();
            value.emit(Layout::Little, &mut payload);
            (time.nanos(), payload)
        });
        assert!(series.insert(key, samples.collect()).is_none(), "one column for each name and type");
    }
    series
}

/// All samples, through the stream decoder, which gets its bytes in pieces.
pub(crate) fn streamed(log: &[u8], piece: usize) -> Collect {
    let mut collect = Collect::default();
    let mut decoder = Wpilog.decoder(&ReadOptions::default());
    let (mut from, mut to) = (0, 0);
    while to < log.len() {
        to = (to + piece).min(log.len());
        match decoder.decode(&log[from..to], &mut collect) {
            Ok(used) => from += used,
            Err(_) => return collect,
        }
    }
    let _ = decoder.finish(&log[from..], &mut collect);
    collect
}

/// The log, read through the index and written again.
pub(crate) fn rewritten(log: &[u8]) -> Vec<u8> {
    let (index, _) = index(log);
    let mut out = Vec::new();
    let mut encoder = Wpilog.encoder(&EncodeOptions::default()).expect("WPILOG can be written");
    encoder.begin(&mut out);
    Wpilog
        .replay(log, &index, &Lookup::default(), &mut Encoding { encoder: &mut *encoder, out: &mut out })
        .expect("WPILOG holds what WPILOG held");
    encoder.finish(&mut out);
    out
}

/// A time in the model, of microseconds on the wire.
pub(crate) fn us(micros: i64) -> i64 {
    Time::from_micros(micros).nanos()
}

/// Names and types of the channels, with their samples and metadata.
pub(crate) fn channels(index: &Index) -> Vec<(&str, &str, u64, &str)> {
    index.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name, c.samples, &*c.channel.metadata)).collect()
}

/// The folder of this dialect's fixtures.
pub(crate) fn fixtures() -> PathBuf {
    workspace().join("fixtures/wpilog")
}

pub(crate) fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether fixtures and dumps are to be written instead of compared.
pub(crate) fn bless() -> bool {
    std::env::var_os("LOGPOSE_BLESS").is_some_and(|value| value == "1")
}

/// The logs in a folder of fixtures, by name. It must not be empty.
pub(crate) fn logs_in(folder: &str) -> Vec<(String, Vec<u8>)> {
    crate::fixtures::blessed();
    let mut logs = Vec::new();
    for file in std::fs::read_dir(fixtures().join(folder)).expect(folder) {
        let path = file.expect(folder).path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name in UTF-8").to_owned();
        if !name.ends_with(".txt") {
            logs.push((name, std::fs::read(&path).expect(folder)));
        }
    }
    logs.sort();
    assert!(!logs.is_empty(), "there is no log in {folder}");
    logs
}
