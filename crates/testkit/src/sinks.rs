use std::collections::BTreeMap;
use std::marker::PhantomData;

use logpose_core::{Channel, ChannelId, Columns, Index, Layout, Problem, Sample, Sink, SinkError, Time, Value};

/// How a value stands in a line.
pub trait Show: Default {
    /// The value as text.
    fn show(value: &Value<'_>) -> String;

    /// How the channel stands before it.
    fn channel(channel: &Channel) -> String {
        channel.name.clone()
    }
}

/// Type and bytes, so that nothing can hide; a text as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits;

impl Show for Bits {
    fn show(value: &Value<'_>) -> String {
        bits(value)
    }
}

/// The same for every value, and the channel's type beside its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typed;

impl Show for Typed {
    fn show(value: &Value<'_>) -> String {
        format!("{:?} {:02x?}", value.ty(), payload(value))
    }

    fn channel(channel: &Channel) -> String {
        format!("{} {}", channel.name, channel.type_name)
    }
}

/// Numbers and texts as a person writes them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Show for Plain {
    fn show(value: &Value<'_>) -> String {
        match value {
            Value::Float(number) => number.to_string(),
            Value::Double(number) => number.to_string(),
            Value::String(text) => String::from_utf8_lossy(text).into_owned(),
            value => Literal::show(value),
        }
    }
}

/// Numbers and texts as literals of Rust, so that `1.0` is no integer and every text has its quotes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Literal;

impl Show for Literal {
    fn show(value: &Value<'_>) -> String {
        let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        match value {
            Value::Boolean(on) => on.to_string(),
            Value::Int64(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Double(number) => format!("{number:?}"),
            Value::String(bytes) => format!("{:?}", text(bytes)),
            Value::Bytes(bytes) => format!("{bytes:02x?}"),
            Value::BooleanArray(bytes) => list(bytes.iter().map(|byte| *byte != 0)),
            Value::Int64Array(numbers) => list(numbers.iter()),
            Value::FloatArray(numbers) => list(numbers.iter()),
            Value::DoubleArray(numbers) => list(numbers.iter()),
            Value::StringArray(texts) => list(texts.iter().map(text)),
        }
    }
}

fn list<T: std::fmt::Debug>(items: impl Iterator<Item = T>) -> String {
    format!("{:?}", items.collect::<Vec<_>>())
}

/// A value's type and bytes; a text as it is.
#[must_use]
pub fn bits(value: &Value<'_>) -> String {
    if let Value::String(text) = value {
        return String::from_utf8_lossy(text).into_owned();
    }
    format!("{:?} {:02x?}", value.ty(), payload(value))
}

/// A value's bytes, as a WPILOG has them.
#[must_use]
pub fn payload(value: &Value<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.emit(Layout::Little, &mut bytes);
    bytes
}

/// A sink that writes everything down, a line a sample: `12.345 name value`.
#[derive(Clone, Debug, Default)]
pub struct Lines<S = Plain> {
    /// The channels that were declared.
    pub channels: BTreeMap<ChannelId, Channel>,
    /// What came, in its order.
    pub lines: Vec<String>,
    /// What was reported.
    pub problems: Vec<Problem>,
    /// How many samples came.
    pub samples: u64,
    /// In how many batches.
    pub batches: usize,
    show: PhantomData<S>,
}

impl<S: Show> Lines<S> {
    /// The samples of one channel.
    #[must_use]
    pub fn of(&self, name: &str) -> Vec<&str> {
        self.lines.iter().map(String::as_str).filter(|line| line.split(' ').nth(1) == Some(name)).collect()
    }

    /// The samples of channels whose name begins so.
    #[must_use]
    pub fn below(&self, name: &str) -> Vec<&str> {
        let begins = |line: &&str| line.split(' ').nth(1).is_some_and(|found| found.starts_with(name));
        self.lines.iter().map(String::as_str).filter(begins).collect()
    }

    /// The values of one channel.
    #[must_use]
    pub fn values(&self, name: &str) -> Vec<&str> {
        self.of(name).into_iter().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect()
    }

    /// The channel of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> &Channel {
        self.channels.values().find(|channel| channel.name == name).unwrap_or_else(|| panic!("no channel {name}"))
    }

    /// The codes of what was reported.
    #[must_use]
    pub fn codes(&self) -> Vec<&'static str> {
        self.problems.iter().map(|problem| problem.code).collect()
    }

    /// What came since the last time.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    fn name(&self, id: ChannelId) -> String {
        S::channel(self.channels.get(&id).expect("a channel is declared before it is used"))
    }
}

impl<S: Show> Sink for Lines<S> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert!(self.channels.insert(id, channel.clone()).is_none(), "channel {id} is declared twice: {channel:?}");
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        assert!(!samples.is_empty(), "an empty batch");
        self.batches += 1;
        self.samples += samples.len() as u64;
        for sample in samples {
            let name = self.name(sample.channel);
            assert_eq!(self.channels[&sample.channel].ty(), sample.value.ty(), "{name}");
            self.lines.push(format!("{} {name} {}", sample.time, S::show(&sample.value)));
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.lines.push(format!("{time} {} metadata {metadata}", self.name(id)));
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.lines.push(format!("{time} {} ends", self.name(id)));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// One thing that a sink was given, with the channel's name and type in place of its number.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// A channel was declared.
    Channel {
        /// Its name.
        name: String,
        /// Its type.
        type_name: String,
        /// Its metadata.
        metadata: String,
    },
    /// A sample came.
    Sample {
        /// Whose.
        key: Key,
        /// Nanoseconds.
        time: i64,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// Metadata are others from here on.
    Metadata {
        /// Whose.
        key: Key,
        /// Nanoseconds.
        time: i64,
        /// The new ones.
        metadata: String,
    },
    /// A channel has no value from here on.
    End {
        /// Which.
        key: Key,
        /// Nanoseconds.
        time: i64,
    },
    /// Something was reported.
    Problem {
        /// Its code.
        code: &'static str,
        /// The byte, or `u64::MAX` if there is none.
        at: u64,
    },
}

/// A channel's name and type.
pub type Key = (String, String);
/// The samples of every channel: times in nanoseconds, payloads as a WPILOG has them.
pub type Series = BTreeMap<Key, Vec<(i64, Vec<u8>)>>;

/// All samples that columns hold.
#[must_use]
pub fn in_columns(columns: &Columns) -> Series {
    let mut series = Series::new();
    for column in &columns.columns {
        let key = (column.channel.name.clone(), column.channel.type_name.clone());
        let samples = columns.samples(column).map(|(time, value)| (time.nanos(), payload(&value)));
        assert!(series.insert(key, samples.collect()).is_none(), "one column for each name and type");
    }
    series
}

/// A sink that writes down every call.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// What came, in its order.
    pub events: Vec<Event>,
    keys: BTreeMap<ChannelId, Key>,
    all_known: bool,
}

impl Events {
    /// The samples of every channel; channels without samples are among them.
    #[must_use]
    pub fn series(&self) -> Series {
        let mut series = Series::new();
        for event in &self.events {
            match event {
                Event::Channel { name, type_name, .. } => {
                    series.entry((name.clone(), type_name.clone())).or_default();
                }
                Event::Sample { key, time, payload } => {
                    series.entry(key.clone()).or_default().push((*time, payload.clone()));
                }
                _ => {}
            }
        }
        series
    }

    /// The samples in their order: name, type, nanoseconds, bytes.
    #[must_use]
    pub fn rows(self) -> Vec<(String, String, i64, Vec<u8>)> {
        let row = |event| match event {
            Event::Sample { key: (name, type_name), time, payload } => Some((name, type_name, time, payload)),
            _ => None,
        };
        self.events.into_iter().filter_map(row).collect()
    }

    /// What was reported.
    #[must_use]
    pub fn problems(&self) -> Vec<(&'static str, u64)> {
        let problem = |event: &Event| if let Event::Problem { code, at } = event { Some((*code, *at)) } else { None };
        self.events.iter().filter_map(problem).collect()
    }

    /// Knows all channels of an index, as if they had been declared; they may be declared again.
    pub fn know(&mut self, index: &Index) {
        let keys = index.channels.iter().map(|c| (c.channel.name.clone(), c.channel.type_name.clone()));
        self.keys = (0..).zip(keys).collect();
        self.all_known = true;
    }

    fn key(&self, id: ChannelId) -> Key {
        self.keys.get(&id).expect("a channel is declared before it is used").clone()
    }
}

impl Sink for Events {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let before = self.keys.insert(id, (channel.name.clone(), channel.type_name.clone()));
        assert!(before.is_none() || self.all_known, "channel {id} is declared twice: {channel:?}");
        let Channel { name, type_name, metadata, .. } = channel.clone();
        self.events.push(Event::Channel { name, type_name, metadata });
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let (key, time) = (self.key(sample.channel), sample.time.nanos());
            self.events.push(Event::Sample { key, time, payload: payload(&sample.value) });
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
