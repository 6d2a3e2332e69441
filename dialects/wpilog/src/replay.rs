use logpose_core::{
    ChannelId, ChannelIndex, ColumnBuilder, Columns, Declaration, DecodeError, Fate, Index, Layout, Lookup, Sample,
    Sink, SinkError, SlotId, Span, Sum, Time, Type, Value,
};

use crate::dialect::NAME;
use crate::walk::{Stop, Visit, Walk, place, record_at};
use crate::wire::metadata_of_2022;

/// Bytes of the log in a step: a sink that wants no more ends the walk with its step.
const STEP: usize = 1 << 20;
/// Samples in a batch.
const BATCH: usize = 1024;

/// Hands all samples that are wanted to a sink, in the order of the file.
pub(crate) fn replay(log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let within = lookup.within.unwrap_or(EVERYTHING);
    let mut walk = Walk::at(index, within.start);
    let mut channels: Vec<(Type, bool)> = index.channels.iter().map(|c| (c.channel.ty(), false)).collect();
    for slot in 0..walk.bindings.slots().len() {
        // What was started before the window is known already.
        let id = index.slots.get(slot).and_then(|fate| fate.channel());
        if let Some((_, known)) = id.and_then(|id| channels.get_mut(id as usize)) {
            *known = true;
        }
    }
    let mut replay = Replay { log, index, lookup, sink, channels, batch: Vec::with_capacity(BATCH), result: Ok(()) };
    let walked = walk_indexed(log, index, &mut walk, within, STEP, &mut replay, |replay| {
        std::mem::replace(&mut replay.result, Ok(()))
    });
    if let Ok(()) | Err(SinkError::Source(_)) = walked {
        replay.flush();
    }
    replay.result.and(walked)
}

/// Walks over what lies in `within` of a log whose index is known. Every `step` bytes `after` says whether to go on. A log
/// that ends before its index says so is an error, once everything before that was visited.
pub(crate) fn walk_indexed<V: Visit>(
    log: &[u8],
    index: &Index,
    walk: &mut Walk,
    within: Span,
    step: usize,
    visit: &mut V,
    mut after: impl FnMut(&mut V) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    for span in index.spans_within(Some(within)) {
        let (mut at, end) = (place(span.start), place(span.end));
        while at < end {
            let stop = walk.run(log, at, end.min(at.saturating_add(step)), visit);
            after(visit)?;
            at = match stop {
                Stop::At(next) if next > at => next,
                stop => return Err(DecodeError::stale_index(NAME, stop.at() as u64).into()),
            };
        }
    }
    Ok(())
}

/// What is wanted as flat buffers. See [`logpose_core::FileDialect::scan`].
pub(crate) fn scan(log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
    let within = lookup.within.unwrap_or(EVERYTHING);
    let wanted = |fate: &Fate| fate.channel().filter(|id| lookup.wants(*id)).unwrap_or(UNWANTED);
    let mut scan = Scan {
        builder: ColumnBuilder::wanted(index, lookup, prepare),
        channels: index.slots.iter().map(wanted).collect(),
        start: lookup.start.map_or(i64::MIN, Time::nanos),
        end: lookup.end.map_or(i64::MAX, Time::nanos),
        lookup,
    };
    let walked =
        walk_indexed(log, index, &mut Walk::at(index, within.start), within, usize::MAX, &mut scan, |_| Ok(()));
    walked.map_err(|error| error.into_source(NAME))?;
    scan.builder.scanned(NAME, index, lookup, Layout::Little, |rest, sink| replay(log, index, rest, sink))
}

/// Counts and sums of numbers. See [`logpose_core::FileDialect::sums`]. `None` if a payload is not a value of its type: then
/// the samples have to be read one by one.
pub(crate) fn sums(log: &[u8], index: &Index, lookup: &Lookup) -> Result<Option<Vec<Sum>>, DecodeError> {
    let within = lookup.within.unwrap_or(EVERYTHING);
    let number = |id: &ChannelId| {
        let ty = index.channels.get(*id as usize).map(|found| found.channel.ty());
        matches!(ty, Some(Type::Double | Type::Float)) && lookup.wants(*id)
    };
    let wanted = |fate: &Fate| fate.channel().filter(number).unwrap_or(UNWANTED);
    let width = |found: &ChannelIndex| found.channel.ty().fixed_size().unwrap_or(0);
    let mut adding = Adding {
        channels: index.slots.iter().map(wanted).collect(),
        sums: index.channels.iter().map(|found| (Sum::default(), width(found))).collect(),
        start: lookup.start.map_or(i64::MIN, Time::nanos),
        end: lookup.end.map_or(i64::MAX, Time::nanos),
        odd: false,
    };
    let mut walk = Walk::at(index, within.start);
    let walked = walk_indexed(log, index, &mut walk, within, usize::MAX, &mut adding, |_| Ok(()));
    walked.map_err(|error| error.into_source(NAME))?;
    Ok((!adding.odd).then(|| adding.sums.into_iter().map(|(sum, _)| sum).collect()))
}

/// Adds up the numbers of a walk, by channel.
struct Adding {
    /// The channel of each slot, if it is wanted and has numbers.
    channels: Vec<ChannelId>,
    /// The sum of each channel, and the size of its values.
    sums: Vec<(Sum, usize)>,
    start: i64,
    end: i64,
    odd: bool,
}

impl Visit for Adding {
    #[inline(always)]
    fn data(&mut self, slot: SlotId, _: u64, timestamp: i64, payload: &[u8], _: u64) {
        if let Some(id) = self.channels.get(slot as usize)
            && *id != UNWANTED
            && (self.start..=self.end).contains(&timestamp.saturating_mul(1000))
            && let Some((sum, width)) = self.sums.get_mut(*id as usize)
        {
            let number = match payload.first_chunk() {
                Some(bytes) if *width == 8 => f64::from_le_bytes(*bytes),
                _ => payload.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes).into()),
            };
            self.odd |= payload.len() != *width;
            sum.count += 1;
            sum.sum += number;
        }
    }
}

/// Collects the wanted records of a walk in columns, by channel.
struct Scan<'l> {
    builder: ColumnBuilder,
    /// The channel of each slot, if it is wanted.
    channels: Vec<ChannelId>,
    start: i64,
    end: i64,
    lookup: &'l Lookup,
}

impl Visit for Scan<'_> {
    #[inline(always)]
    fn data(&mut self, slot: SlotId, _: u64, timestamp: i64, payload: &[u8], _: u64) {
        let time = timestamp.saturating_mul(1000);
        if let Some(id) = self.channels.get(slot as usize)
            && *id != UNWANTED
        {
            if (self.start..=self.end).contains(&time) {
                self.builder.record(*id, time, payload);
            } else if let Some(time) = self.lookup.admits(*id, Time::from_nanos(time)) {
                self.builder.record(*id, time.nanos(), payload);
            }
        }
    }
}

const UNWANTED: ChannelId = ChannelId::MAX;
const EVERYTHING: Span = Span { start: 0, end: u64::MAX };

/// Hands the records of a walk to a sink.
struct Replay<'a, 's> {
    log: &'a [u8],
    index: &'a Index,
    lookup: &'a Lookup,
    sink: &'s mut dyn Sink,
    /// For each channel its type, and whether the sink knows it.
    channels: Vec<(Type, bool)>,
    batch: Vec<Sample<'a>>,
    result: Result<(), SinkError>,
}

impl<'a> Replay<'a, '_> {
    fn channel(&self, slot: SlotId) -> Option<ChannelId> {
        let id = self.index.slots.get(slot as usize)?.channel()?;
        self.lookup.wants(id).then_some(id)
    }

    fn known(&self, id: ChannelId) -> bool {
        self.channels.get(id as usize).is_some_and(|(_, known)| *known)
    }

    /// The channel's type, once the sink knows the channel.
    fn declared(&mut self, id: ChannelId, metadata: Option<&str>) -> Option<Type> {
        let (ty, known) = self.channels.get_mut(id as usize)?;
        let ty = *ty;
        if !*known {
            *known = true;
            let mut channel = self.index.channels.get(id as usize)?.channel.clone();
            if let Some(metadata) = metadata {
                metadata.clone_into(&mut channel.metadata);
            }
            self.flush();
            let result = self.sink.channel(id, &channel);
            self.note(result);
        }
        Some(ty)
    }

    /// A payload that is not a valid value of its type: metadata, as WPILib 2022 wrote them, or nothing.
    #[cold]
    fn odd(&mut self, id: ChannelId, at: u64, time: Time) {
        let Some((record, _)) = record_at(self.log, at) else { return };
        if let Some(metadata) = metadata_of_2022(record.entry, record.payload) {
            self.flush();
            let result = self.sink.metadata(id, time, &String::from_utf8_lossy(metadata));
            self.note(result);
        }
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() && self.result.is_ok() {
            let result = self.sink.samples(&self.batch);
            self.note(result);
        }
        self.batch.clear();
    }

    fn note(&mut self, result: Result<(), SinkError>) {
        if self.result.is_ok() {
            self.result = result;
        }
    }
}

impl Visit for Replay<'_, '_> {
    #[inline]
    fn data(&mut self, slot: SlotId, at: u64, timestamp: i64, payload: &[u8], len: u64) {
        let Some(id) = self.channel(slot) else { return };
        let Some(time) = self.lookup.admits(id, Time::from_micros(timestamp)) else { return };
        let Some(ty) = self.declared(id, None) else { return };
        // The same bytes again, borrowed from the log for as long as the batch lives.
        let end = place(at + len);
        let Some(payload) = self.log.get(end - payload.len()..end) else { return };
        let Ok(value) = Value::parse(ty, payload, Layout::Little) else {
            return self.odd(id, at, time);
        };
        self.batch.push(Sample { channel: id, time, value });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        if self.known(id) {
            // Started again: its metadata may be others.
            self.metadata(slot, &declaration.metadata, timestamp);
        } else {
            self.declared(id, Some(&declaration.metadata));
        }
    }

    fn metadata(&mut self, slot: SlotId, metadata: &str, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        self.declared(id, None);
        self.flush();
        let result = self.sink.metadata(id, Time::from_micros(timestamp), metadata);
        self.note(result);
    }

    fn end(&mut self, slot: SlotId, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        if !self.known(id) {
            return; // it had nothing but data outside the wanted times
        }
        self.flush();
        let result = self.sink.end(id, Time::from_micros(timestamp));
        self.note(result);
    }
}
