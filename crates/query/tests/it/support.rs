//! Logs made for the tests, and questions asked in one line.

use std::sync::Arc;

use logpose::core::{Channel, ChannelId, EncodeOptions, Sample, Time, Value};
use logpose::{Log, OpenOptions};
use logpose_query::{Engine, Options};

/// A log under construction.
pub(crate) struct Making {
    encoder: Box<dyn logpose::core::Encode>,
    channels: ChannelId,
    bytes: Vec<u8>,
}

impl Making {
    pub(crate) fn new() -> Self {
        let mut encoder = logpose::Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
        let mut bytes = Vec::new();
        encoder.begin(&mut bytes);
        Self { encoder, channels: 0, bytes }
    }

    pub(crate) fn channel(&mut self, name: &str, type_name: &str) -> ChannelId {
        let id = self.channels;
        self.channels += 1;
        self.encoder.channel(id, &Channel::new(name, type_name), &mut self.bytes).unwrap();
        id
    }

    pub(crate) fn add(&mut self, channel: ChannelId, ms: i64, value: Value<'_>) {
        let sample = Sample { channel, time: Time::from_millis(ms), value };
        self.encoder.samples(&[sample], &mut self.bytes).unwrap();
    }

    pub(crate) fn log(mut self, name: &str) -> Log {
        self.encoder.finish(&mut self.bytes);
        Log::from_bytes(name, self.bytes, &OpenOptions::default()).unwrap()
    }
}

/// Thirty seconds: volts every 100 ms, a count every second, a few texts, a pose, and a channel out of order.
pub(crate) fn small(name: &str) -> Log {
    let mut log = Making::new();
    let volts = log.channel("/Power/Volts", "double");
    let count = log.channel("/Drive/Count", "int64");
    let on = log.channel("DS:enabled", "boolean");
    let words = log.channel("messages", "string");
    let schema = log.channel("/.schema/struct:Point", "structschema");
    let pose = log.channel("/Drive/Pose", "struct:Point");
    let tilt = log.channel("/Arm/Tilt", "float");
    let list = log.channel("/Drive/Speeds", "double[]");
    let late = log.channel("/late", "int64");
    log.add(schema, 0, Value::String(b"double x;double y;"));
    log.add(on, 0, Value::Boolean(false));
    for i in 0..300 {
        let ms = i * 100;
        log.add(volts, ms, Value::Double(12.0 - i as f64 / 100.0));
        if i % 10 == 0 {
            log.add(count, ms, Value::Int64(i64::MAX - i));
            log.add(tilt, ms + 50, Value::Float(1.5));
        }
        match i {
            50 => log.add(on, ms, Value::Boolean(true)),
            60 | 70 => {
                let point = [(i as f64).to_le_bytes(), (-1.5f64).to_le_bytes()].concat();
                log.add(pose, ms, Value::Bytes(&point));
                let speeds = [1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
                let speeds = Value::parse(logpose::core::Type::DoubleArray, &speeds, logpose::core::Layout::Little);
                log.add(list, ms, speeds.unwrap());
            }
            80 => log.add(words, ms, Value::String("grün, \"gut\"".as_bytes())),
            90 => log.add(words, ms, Value::String(b"not \xff text")),
            _ => {}
        }
    }
    for ms in [300, 100, 200] {
        log.add(late, ms, Value::Int64(ms));
    }
    log.log(name)
}

/// A few megabytes: `channels` channels of doubles, `rows` samples each, in the order of time.
pub(crate) fn large(channels: u32, rows: i64) -> Log {
    let mut log = Making::new();
    let ids: Vec<_> = (0..channels).map(|i| log.channel(&format!("/big/{i:03}"), "double")).collect();
    for row in 0..rows {
        for (i, id) in ids.iter().enumerate() {
            log.add(*id, row, Value::Double((row * 7 % 1000) as f64 + i as f64));
        }
    }
    log.log("large.wpilog")
}

pub(crate) fn engine(logs: Vec<Log>) -> Engine {
    with(logs, &Options { threads: 2, ..Options::default() })
}

pub(crate) fn with(logs: Vec<Log>, options: &Options) -> Engine {
    Engine::new(logs.into_iter().map(Arc::new).collect(), options).unwrap()
}

/// The answer as rows of texts.
pub(crate) fn ask(engine: &Engine, sql: &str) -> Vec<Vec<String>> {
    let mut answer = engine.run(sql).unwrap_or_else(|error| panic!("{sql}: {error}: {:?}", error.help));
    let columns = answer.columns().len();
    let mut all = Vec::new();
    while let Some(rows) = answer.next_rows().unwrap_or_else(|error| panic!("{sql}: {error}")) {
        for row in 0..rows.len() {
            let cell = |column| {
                let mut text = String::new();
                rows.text(row, column, &mut text);
                text
            };
            all.push((0..columns).map(cell).collect());
        }
    }
    all
}

/// The answer in one line: cells between blanks, rows between bars.
pub(crate) fn line(engine: &Engine, sql: &str) -> String {
    let rows: Vec<String> = ask(engine, sql).iter().map(|row| row.join(" ")).collect();
    rows.join(" | ")
}
