//! A robot with scripted samples, and which of them should be found in files.

use std::collections::BTreeMap;
use std::path::Path;

use logpose::{Log, OpenOptions, Quiet};
use logpose_core::{Channel, ChannelId, Layout, Problem, Sample, Severity, Sink, SinkError, Time, Value};
use logpose_live::Batch;

/// Every sample of every channel with its time in microseconds and its payload.
pub(crate) type Contents = BTreeMap<(String, String), Vec<(i64, Vec<u8>)>>;

/// What was said, gathered by channel.
#[derive(Debug, Default)]
pub(crate) struct Said {
    channels: BTreeMap<ChannelId, (String, String)>,
    pub(crate) contents: Contents,
}

impl Sink for Said {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.insert(id, (channel.name.clone(), channel.type_name.clone()));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let channel = self.channels[&sample.channel].clone();
            self.contents.entry(channel).or_default().push((sample.time.micros(), payload(&sample.value)));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("unexpected: {problem}");
    }
}

pub(crate) fn payload(value: &Value<'_>) -> Vec<u8> {
    let mut payload = Vec::new();
    value.emit(Layout::Little, &mut payload);
    payload
}

/// What batches say.
pub(crate) fn said<'a>(batches: impl IntoIterator<Item = &'a Batch>) -> Contents {
    let mut said = Said::default();
    batches.into_iter().for_each(|batch| batch.play(&mut said).unwrap());
    said.contents
}

/// What a log says. It must not be damaged.
pub(crate) fn contents(log: &Log) -> Contents {
    assert!(log.problems.worst() < Some(Severity::Damage), "{}: {:?}", log.path.display(), log.problems.list());
    let columns = log.all_columns().unwrap();
    let mut contents = Contents::new();
    for column in &columns.columns {
        let samples: Vec<_> = columns.samples(column).map(|(time, value)| (time.micros(), payload(&value))).collect();
        if !samples.is_empty() {
            contents.insert((column.channel.name.clone(), column.channel.type_name.clone()), samples);
        }
    }
    contents
}

pub(crate) fn open(path: &Path) -> Log {
    Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn read(path: &Path) -> Contents {
    contents(&open(path))
}

/// The bytes of a file that may still be written, opened under its name.
pub(crate) fn read_now(path: &Path) -> Contents {
    let name = path.file_name().unwrap().to_str().unwrap();
    contents(&Log::from_bytes(name, std::fs::read(path).unwrap(), &OpenOptions::default()).unwrap())
}

/// What is in two contents, one after the other.
pub(crate) fn joined(mut first: Contents, second: Contents) -> Contents {
    for (channel, samples) in second {
        first.entry(channel).or_default().extend(samples);
    }
    first
}

pub(crate) fn at(ms: i64) -> Time {
    Time::from_millis(ms)
}

pub(crate) fn batch(ms: i64) -> Batch {
    Batch::new(at(ms))
}

pub(crate) fn put(batch: &mut Batch, channel: ChannelId, ms: i64, value: Value<'_>) {
    batch.samples(&[Sample { channel, time: at(ms), value }]).unwrap();
}

/// One of each type, a struct with its schema, and metadata: what a robot declares first.
pub(crate) fn hello(ms: i64) -> Batch {
    let mut batch = batch(ms);
    let metadata = r#"{"unit":"m/s"}"#.to_owned();
    let channels = [
        Channel { metadata, ..Channel::new("/Drive/Speed", "double") },
        Channel::new("/Drive/Count", "int64"),
        Channel::new("/Drive/State", "string"),
        Channel::new("/Drive/Ok", "boolean"),
        Channel::new("/Drive/Volts", "float"),
        Channel::new("/Drive/Axes", "double[]"),
        Channel::new("/Drive/Names", "string[]"),
        Channel::new("/Drive/Pose", "struct:Point"),
        Channel::new("/.schema/struct:Point", "structschema"),
        Channel::new("/Drive/Silent", "double"),
    ];
    for (id, channel) in (0..).zip(&channels) {
        batch.channel(id, channel).unwrap();
    }
    put(&mut batch, 8, ms, Value::String(b"double x;double y"));
    batch
}

/// What it says in one cycle.
pub(crate) fn cycle(ms: i64) -> Batch {
    let mut batch = batch(ms);
    let x = ms as f64 / 7.0;
    let (mut axes, mut pose) = (Vec::new(), Vec::new());
    (0..ms % 4).for_each(|i| axes.extend_from_slice(&(x + i as f64).to_le_bytes()));
    [x, -x].iter().for_each(|x| pose.extend_from_slice(&x.to_le_bytes()));
    put(&mut batch, 0, ms, Value::Double(x));
    put(&mut batch, 1, ms, Value::Int64(ms << 40));
    put(&mut batch, 2, ms, Value::String(format!("state {ms}, \"quoted\"").as_bytes()));
    put(&mut batch, 3, ms, Value::Boolean(ms % 40 == 0));
    put(&mut batch, 4, ms, Value::Float(12.5));
    put(&mut batch, 5, ms, Value::parse(logpose_core::Type::DoubleArray, &axes, Layout::Little).unwrap());
    let names = b"\x02\0\0\0\x01\0\0\0a\x03\0\0\0b\xc3\xa9";
    put(&mut batch, 6, ms, Value::parse(logpose_core::Type::StringArray, names, Layout::Little).unwrap());
    put(&mut batch, 7, ms, Value::Bytes(&pose));
    batch
}
