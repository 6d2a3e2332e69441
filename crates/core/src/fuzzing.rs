//! What the fuzz targets of dialects with files share.

use std::collections::BTreeMap;

use crate::{
    Channel, ChannelId, Columns, Decode, FileDialect, Index, Lookup, Problem, Sample, Sink, SinkError, Time, Value,
};

/// The samples of each channel, as lines. There is one channel for each name and type.
pub type Told = BTreeMap<String, Vec<String>>;

/// The samples that a log replays.
#[must_use]
pub fn rows(dialect: &dyn FileDialect, log: &[u8], index: &Index, lookup: &Lookup) -> Told {
    let mut found = Lines::default();
    let end = dialect.replay(log, index, lookup, &mut found);
    assert!(end.is_ok(), "a log that was just indexed: {end:?}");
    found.lines
}

/// The samples that columns hold.
#[must_use]
pub fn lines(columns: &Columns) -> Told {
    let line = |(time, value): (Time, Value<'_>)| format!("{time} {}", shown(&value));
    let all = columns.columns.iter().filter(|column| column.samples() > 0);
    all.map(|column| (key(&column.channel), columns.samples(column).map(line).collect())).collect()
}

/// What is asked for before and behind the middle of the time is all there is, each once.
pub fn check_times(dialect: &dyn FileDialect, log: &[u8], index: &Index) {
    let Some((first, last)) = index.range() else { return };
    let middle = Time::from_nanos(first.nanos() / 2 + last.nanos() / 2);
    let before = Lookup { end: Some(middle), ..Lookup::default() };
    let behind = Lookup { start: Some(middle.plus(1)), ..Lookup::default() };
    let both = [before, behind].map(|lookup| rows(dialect, log, index, &lookup).values().map(Vec::len).sum::<usize>());
    assert_eq!(both.iter().sum::<usize>() as u64, index.samples(), "before and behind the middle");
}

/// What a decoder tells of bytes that come at once, and how that ends. In pieces it tells the same.
pub fn in_pieces<D: Decode>(make: impl Fn() -> D, bytes: &[u8]) -> (Lines, Option<String>) {
    let run = |step: usize| {
        let mut sink = Lines::default();
        let end = feed(&mut make(), bytes, step, &mut sink);
        (sink, end)
    };
    let (whole, end) = run(bytes.len().max(1));
    let (pieces, pieces_end) = run(7);
    assert_eq!(whole.lines, pieces.lines, "at once and in pieces");
    assert_eq!(whole.problems, pieces.problems, "at once and in pieces");
    assert_eq!(end, pieces_end, "at once and in pieces");
    (whole, end)
}

/// Gives bytes to a decoder, `step` more each time, and says how that ended if not well.
pub fn feed(decoder: &mut dyn Decode, bytes: &[u8], step: usize, sink: &mut dyn Sink) -> Option<String> {
    let (mut used, mut given) = (0, 0);
    while given < bytes.len() {
        given = (given + step).min(bytes.len());
        match decoder.decode(bytes.get(used..given).unwrap_or_default(), sink) {
            Ok(n) => used += n,
            Err(error) => return Some(error.to_string()),
        }
    }
    let end = decoder.finish(bytes.get(used..).unwrap_or_default(), sink);
    end.err().map(|error| error.to_string())
}

/// Writes down what it is given, by channel.
#[derive(Debug, Default)]
pub struct Lines {
    names: BTreeMap<ChannelId, String>,
    /// The samples.
    pub lines: Told,
    /// Code, byte and length of each problem.
    pub problems: Vec<(&'static str, Option<u64>, u64)>,
}

impl Sink for Lines {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.names.insert(id, key(channel));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let name = self.names.get(&sample.channel).map_or("not declared", |name| name);
            let line = format!("{} {}", sample.time, shown(&sample.value));
            self.lines.entry(name.to_owned()).or_default().push(line);
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push((problem.code, problem.at, problem.length));
    }
}

fn key(channel: &Channel) -> String {
    format!("{} {}", channel.name, channel.type_name)
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::String(bytes) | Value::Bytes(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        Value::Float(x) => format!("{:08x}", x.to_bits()),
        Value::Double(x) => format!("{:016x}", x.to_bits()),
        value => format!("{value:?}"),
    }
}
