//! Samples out of a file whose index is known.

use logpose_core::{
    ChannelId, DecodeError, Index, Life, Lookup, Parcel, Row, Sink, SinkError, TakeSamples, Time, Value,
};

use super::model::{Source, sources, value};
use crate::dialect::NAME;
use crate::rfrec::{Kind, TimeRef};

/// How the places of an index are to be read: first those of blocks, then those of samples in the order of their numbers.
///
/// The lives of the index give their offsets: one for each block, then one for each stretch of samples.
struct Places<'a, 'i> {
    log: &'a [u8],
    index: &'i Index,
    sources: Vec<Option<Source>>,
    /// How many blocks there are.
    parts: usize,
    sample_len: usize,
}

impl<'a, 'i> Places<'a, 'i> {
    fn new(log: &'a [u8], index: &'i Index) -> Self {
        let sources = sources(&index.channels);
        let of = |source: fn(&Source) -> bool| {
            let all = sources.iter().zip(&index.channels);
            all.filter(move |(found, _)| found.as_ref().is_some_and(source)).map(|(_, channel)| channel)
        };
        let parts = of(|source| matches!(source, Source::Block(_))).map(|channel| channel.samples).sum::<u64>();
        let items = of(|source| matches!(source, Source::Item(_))).count();
        Self { log, index, parts: usize::try_from(parts).unwrap_or(usize::MAX), sample_len: 5 + 2 * items, sources }
    }

    /// A stretch of the file that the index names.
    fn bytes(&self, start: u64, end: u64) -> Result<&'a [u8], DecodeError> {
        let range = || Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        range().and_then(|range| self.log.get(range)).ok_or_else(|| DecodeError::stale_index(NAME, start))
    }

    /// The bytes that a life names.
    fn of(&self, life: &Life) -> Result<&'a [u8], DecodeError> {
        self.bytes(life.start, life.end.unwrap_or(life.start))
    }

    /// The bytes at a place.
    fn at(&self, place: u64) -> Result<&'a [u8], DecodeError> {
        let lives = &self.index.lives;
        let after = lives.partition_point(|life| u64::from(life.id) <= place);
        let life = after.checked_sub(1).and_then(|last| lives.get(last));
        let life = life.ok_or_else(|| DecodeError::stale_index(NAME, place))?;
        if place < self.parts as u64 {
            return self.of(life);
        }
        let start = life.start + (place - u64::from(life.id)) * self.sample_len as u64;
        self.bytes(start, start + self.sample_len as u64)
    }

    fn value(
        &self,
        channel: ChannelId,
        bytes: &'a [u8],
        batch: &mut Parcel<'a>,
        time: Time,
    ) -> Result<(), DecodeError> {
        self.index.channel(NAME, channel)?;
        match self.sources.get(channel as usize).copied().flatten() {
            Some(Source::Block(kind)) => push_block(batch, channel, time, kind, bytes),
            source => {
                let value = source.and_then(|source| value(source, bytes));
                batch.push(channel, time, value.ok_or_else(|| DecodeError::stale_index(NAME, 0))?);
            }
        }
        Ok(())
    }
}

/// How many places an index has: of blocks, and of samples.
pub(crate) fn places(index: &Index) -> u64 {
    index.marks.last().map_or(0, |mark| mark.at + 1).max(index.lives.last().map_or(0, |life| u64::from(life.id) + 1))
}

/// Adds what a block holds.
pub(crate) fn push_block<'a>(batch: &mut Parcel<'a>, channel: ChannelId, time: Time, kind: Kind, payload: &'a [u8]) {
    match kind {
        Kind::Meta => batch.push(channel, time, Value::String(payload)),
        Kind::TimeRef => batch.make(channel, time, |out| {
            let text = TimeRef::parse(payload).map(|timeref| timeref.to_json()).unwrap_or_default();
            out.extend_from_slice(text.as_bytes());
        }),
        _ => batch.push(channel, time, Value::Bytes(payload)),
    }
}

/// Hands all samples that are wanted to a sink: what the blocks hold, then the samples in the order of their numbers.
pub(crate) fn replay(log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let places = Places::new(log, index);
    let within = lookup.within.map_or(0..u64::MAX, |within| within.start..within.end);
    let wanted = (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id));
    let wanted: Vec<ChannelId> = wanted
        .map(|(id, found)| {
            sink.channel(id, &found.channel)?;
            Ok(id)
        })
        .collect::<Result<_, SinkError>>()?;
    let source = |id: &ChannelId| places.sources.get(*id as usize).copied().flatten();
    let (parts, values): (Vec<_>, Vec<_>) = wanted
        .iter()
        .filter_map(|id| Some((*id, source(id)?)))
        .partition(|(_, source)| matches!(source, Source::Block(_)));
    let mut batch = Parcel::default();
    let first = index.marked_time(0);
    for life in index.lives.iter().take(places.parts).filter(|life| within.contains(&u64::from(life.id))) {
        let at = life.start.saturating_sub(8);
        let kind = places.bytes(at, at + 1)?.first().copied().unwrap_or_default();
        let source = Source::Block(Kind::of(kind));
        let bytes = places.of(life)?;
        for (id, _) in parts.iter().filter(|(_, other)| *other == source) {
            if let Some(time) = lookup.admits(*id, first) {
                places.value(*id, bytes, &mut batch, time)?;
            }
        }
        if batch.is_full() {
            batch.flush(sink)?;
        }
    }
    if values.is_empty() {
        return batch.flush(sink);
    }
    let mut times = index.marks.iter().skip_while(|mark| mark.at < places.parts as u64);
    for life in index.lives.iter().skip(places.parts) {
        let bytes = match places.of(life) {
            Ok(bytes) => bytes,
            Err(error) => {
                batch.flush(sink)?;
                return Err(error.into());
            }
        };
        for (sample, mark) in bytes.chunks_exact(places.sample_len).zip(times.by_ref()) {
            if !within.contains(&mark.at) {
                continue;
            }
            for (id, source) in &values {
                if let (Some(time), Some(value)) = (lookup.admits(*id, mark.time), value(*source, sample)) {
                    batch.push(*id, time, value);
                }
            }
            if batch.is_full() {
                batch.flush(sink)?;
            }
        }
    }
    batch.flush(sink)
}

/// Gives the samples of some places to `take`. See [`logpose_core::FileDialect::samples`].
pub(crate) fn samples(log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
    let places = Places::new(log, index);
    let mut batch = Parcel::default();
    let mut last: Option<(u64, &[u8])> = None;
    for row in rows {
        // The samples of one record are mostly asked for together.
        let bytes = match last {
            Some((at, bytes)) if at == row.at => bytes,
            _ => places.at(row.at)?,
        };
        last = Some((row.at, bytes));
        places.value(row.channel, bytes, &mut batch, row.time)?;
    }
    batch.take(take)
}
