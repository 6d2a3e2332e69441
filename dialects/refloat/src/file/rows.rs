//! Samples out of a file whose index is known.

use std::ops::Range;

use logpose_core::{ChannelId, Index, Lookup, Parcel, Row, Sink, SinkError, TakeSamples, Time, Value};

use super::model::{Lane, lanes, value};
use crate::rfrec::{Kind, TimeRef};

/// How the places of an index are to be read: first those of blocks, then those of samples in the order of their numbers.
///
/// The lives of the index tell where they are: one for each block, then one for each stretch of samples.
struct Places<'a, 'i> {
    log: &'a [u8],
    index: &'i Index,
    lanes: Vec<Option<Lane>>,
    /// How many blocks there are.
    parts: usize,
    sample_len: usize,
}

impl<'a, 'i> Places<'a, 'i> {
    fn new(log: &'a [u8], index: &'i Index) -> Self {
        let lanes = lanes(&index.channels);
        let of = |lane: fn(&Lane) -> bool| {
            let all = lanes.iter().zip(&index.channels);
            all.filter(move |(found, _)| found.as_ref().is_some_and(lane)).map(|(_, channel)| channel)
        };
        let parts = of(|lane| matches!(lane, Lane::Part(_))).map(|channel| channel.samples).sum::<u64>();
        let items = of(|lane| matches!(lane, Lane::Item(_))).count();
        Self { log, index, parts: usize::try_from(parts).unwrap_or(usize::MAX), sample_len: 5 + 2 * items, lanes }
    }

    fn bytes(&self, start: u64, end: u64) -> &'a [u8] {
        let range = |start, end| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        range(start, end).and_then(|range: Range<usize>| self.log.get(range)).unwrap_or_default()
    }

    /// The bytes at a place.
    fn at(&self, place: u64) -> Option<&'a [u8]> {
        let lives = &self.index.lives;
        let life = lives.get(lives.partition_point(|life| u64::from(life.id) <= place).checked_sub(1)?)?;
        if place < self.parts as u64 {
            return Some(self.bytes(life.start, life.end?));
        }
        let start = life.start + (place - u64::from(life.id)) * self.sample_len as u64;
        Some(self.bytes(start, start + self.sample_len as u64))
    }

    fn value(&self, channel: ChannelId, bytes: &'a [u8], batch: &mut Parcel<'a>, time: Time) {
        match self.lanes.get(channel as usize).copied().flatten() {
            Some(Lane::Part(kind)) => push_part(batch, channel, time, kind, bytes),
            Some(lane) => value(lane, bytes).into_iter().for_each(|value| batch.push(channel, time, value)),
            None => {}
        }
    }
}

/// Adds what a block holds.
pub(crate) fn push_part<'a>(batch: &mut Parcel<'a>, channel: ChannelId, time: Time, kind: Kind, payload: &'a [u8]) {
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
    let lane = |id: &ChannelId| places.lanes.get(*id as usize).copied().flatten();
    let (parts, values): (Vec<_>, Vec<_>) =
        wanted.iter().filter_map(|id| Some((*id, lane(id)?))).partition(|(_, lane)| matches!(lane, Lane::Part(_)));
    let mut batch = Parcel::default();
    let first = index.marked_time(0);
    for life in index.lives.iter().take(places.parts).filter(|life| within.contains(&u64::from(life.id))) {
        let Some(kind) = life.start.checked_sub(8).and_then(|at| places.bytes(at, at + 1).first()) else { continue };
        let lane = Lane::Part(Kind::of(*kind));
        let bytes = places.bytes(life.start, life.end.unwrap_or(life.start));
        for (id, _) in parts.iter().filter(|(_, other)| *other == lane) {
            if let Some(time) = lookup.admits(*id, first) {
                places.value(*id, bytes, &mut batch, time);
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
        let bytes = places.bytes(life.start, life.end.unwrap_or(life.start));
        for (sample, mark) in bytes.chunks_exact(places.sample_len).zip(times.by_ref()) {
            if !within.contains(&mark.at) {
                continue;
            }
            for (id, lane) in &values {
                if let (Some(time), Some(value)) = (lookup.admits(*id, mark.time), value(*lane, sample)) {
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
            Some((at, bytes)) if at == row.at => Some(bytes),
            _ => places.at(row.at),
        };
        let Some(bytes) = bytes else { continue };
        last = Some((row.at, bytes));
        places.value(row.channel, bytes, &mut batch, row.time);
    }
    batch.take(take)
}
