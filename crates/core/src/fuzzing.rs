//! What the fuzz targets of dialects with files share.

use std::collections::BTreeMap;

use crate::{
    Channel, ChannelId, ChannelIndex, Columns, Decode, DecodeError, FileDialect, Index, Layout, Lookup, Problem, Row,
    Sample, Sink, SinkError, Time, Type, Value,
};

/// The samples of each channel, as lines. There is one channel for each name and type.
pub type LinesByChannel = BTreeMap<String, Vec<String>>;

/// The samples that a log replays.
#[must_use]
pub fn rows(dialect: &dyn FileDialect, log: &[u8], index: &Index, lookup: &Lookup) -> LinesByChannel {
    let mut found = Lines::default();
    let end = dialect.replay(log, index, lookup, &mut found);
    assert!(end.is_ok(), "a log that was just indexed: {end:?}");
    found.lines
}

/// Everything that reads a log through its index finds the same.
pub fn check_readings(dialect: &dyn FileDialect, log: &[u8], index: &Index) {
    let all = readings(dialect, log, index);
    for reading in &all {
        let Ok(found) = reading else { panic!("a log that was just indexed: {reading:?}") };
        assert_eq!(found.total(), index.samples(), "samples");
        assert_eq!(Some(found), all.first().and_then(|first| first.as_ref().ok()), "all ways to read it");
    }
}

/// A log that became shorter after it was indexed gives all that it gave before, or an error, in every way to read it.
pub fn check_cut(dialect: &dyn FileDialect, log: &[u8], index: &Index) {
    let all = readings(dialect, log, index);
    let whole = index.spans.last().map_or(0, |span| span.end);
    for cut in [1, whole / 4, whole / 2, whole.saturating_sub(1)] {
        let cut = usize::try_from(cut).unwrap_or(usize::MAX);
        let part = log.get(..cut).unwrap_or(log);
        for (found, expected) in readings(dialect, part, index).iter().zip(&all) {
            assert!(found.is_err() || found == expected, "of {cut} bytes: {found:?} in place of {expected:?}");
        }
    }
}

/// What a way of reading found, or its error.
type Reading = Result<Digests, DecodeError>;

/// What each way to read a log through its index finds.
fn readings(dialect: &dyn FileDialect, log: &[u8], index: &Index) -> Vec<Reading> {
    let name = dialect.info().name;
    let everything = Lookup::default();
    let ids: Vec<ChannelId> = (0..).zip(&index.channels).map(|(id, _)| id).collect();
    let windows =
        dialect.windows(index, 1).into_iter().map(|within| Lookup { within: Some(within), ..Lookup::default() });
    let windows: Vec<Lookup> = windows.collect();
    let replayed = |lookups: &[Lookup]| -> Reading {
        let mut found = Digests::of(index);
        let end = lookups.iter().try_for_each(|lookup| dialect.replay(log, index, lookup, &mut found));
        end.map_err(|error| error.into_source(name)).map(|()| found)
    };
    let mut readings = vec![
        replayed(std::slice::from_ref(&everything)),
        replayed(&windows),
        dialect.scan(log, index, &everything, |_| {}).map(|columns| Digests::of(index).with(&columns)),
    ];
    // Sums count numbers only, so of everything else the index has the last word.
    let mut counts: Vec<u64> =
        index.channels.iter().map(|found| if is_number(found) { 0 } else { found.samples }).collect();
    let summed = windows.iter().try_for_each(|lookup| {
        let sums = dialect.sums(log, index, lookup, |_| {})?;
        counts.iter_mut().zip(sums).for_each(|(count, sum)| *count += sum.count);
        Ok::<(), DecodeError>(())
    });
    assert!(summed.is_err() || counts.iter().sum::<u64>() == index.samples(), "sums: {counts:?}");
    let placed = || -> Reading {
        let (mut places, mut times): (Vec<Row>, Vec<Time>) = Default::default();
        for lookup in &windows {
            let rows = dialect.rows(log, index, lookup, &mut |rows| {
                places.extend(rows);
                Ok(())
            });
            rows.map_err(|error| error.into_source(name))?;
        }
        let at: Vec<u64> = places.iter().map(|row| row.at).collect();
        dialect.times(log, index, &at, &mut times)?;
        assert!(places.iter().map(|row| row.time).eq(times), "the times of places");
        let mut found = Digests::of(index);
        let end = dialect.samples(log, index, &places, &mut |samples| found.samples(samples));
        end.map_err(|error| error.into_source(name)).map(|()| found)
    };
    readings.push(placed());
    if index.placed {
        readings.push(dialect.gather(log, index, &ids, |_| {}).map(|columns| Digests::of(index).with(&columns)));
    }
    readings
}

fn is_number(found: &ChannelIndex) -> bool {
    matches!(found.channel.ty(), Type::Double | Type::Float)
}

/// For each channel how many samples there are, and a hash of them in their order.
#[derive(Debug, Eq, PartialEq)]
struct Digests {
    channels: Vec<(u64, u64)>,
    scratch: Vec<u8>,
}

impl Digests {
    fn of(index: &Index) -> Self {
        Self { channels: vec![(0, FNV_OFFSET); index.channels.len()], scratch: Vec::new() }
    }

    fn total(&self) -> u64 {
        self.channels.iter().map(|(count, _)| count).sum()
    }

    fn with(mut self, columns: &Columns) -> Self {
        for (id, column) in (0..).zip(&columns.columns) {
            columns.samples(column).for_each(|(time, value)| self.add(id, time, &value));
        }
        self
    }

    fn add(&mut self, channel: ChannelId, time: Time, value: &Value<'_>) {
        self.scratch.clear();
        self.scratch.extend_from_slice(&time.nanos().to_le_bytes());
        value.emit(Layout::Little, &mut self.scratch);
        let Some((count, hash)) = self.channels.get_mut(channel as usize) else { panic!("no channel {channel}") };
        *count += 1;
        // FNV-1a.
        *hash = self.scratch.iter().fold(*hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        self.scratch.clear();
    }
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

impl Sink for Digests {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        samples.iter().for_each(|sample| self.add(sample.channel, sample.time, &sample.value));
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("a replay reports no problems: {problem}");
    }
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

/// What a decoder makes of bytes that come at once, and how that ends. In pieces it makes the same.
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
    pub lines: LinesByChannel,
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
