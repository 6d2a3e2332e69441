use logpose_core::{ChannelId, Declaration, Index, Layout, Lookup, Sample, Sink, SinkError, SlotId, Time, Type, Value};

use crate::walk::{Stop, Visit, Walk, place, record_at};
use crate::wire::metadata_of_2022;

/// Bytes of the log in a step: a sink that wants no more ends the walk with its step.
const STEP: usize = 1 << 20;
/// Samples in a batch.
const BATCH: usize = 1024;

/// Hands all samples that are wanted to a sink, in the order of the file.
pub(crate) fn replay(log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut walk = Walk::new(u32::try_from(index.slots.len()).unwrap_or(u32::MAX));
    let channels = index.channels.iter().map(|c| (c.channel.ty(), false)).collect();
    let mut replay = Replay { log, index, lookup, sink, channels, batch: Vec::with_capacity(BATCH), result: Ok(()) };
    for span in &index.spans {
        let (mut at, end) = (place(span.start), place(span.end));
        while at < end && replay.result.is_ok() {
            at = match walk.run(log, at, end.min(at + STEP), &mut replay) {
                Stop::At(at) => at,
                Stop::Truncated(_) => break,
            };
        }
    }
    replay.flush();
    replay.result
}

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

    /// A payload that is no value of its type: metadata, as WPILib 2022 wrote them, or nothing.
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
