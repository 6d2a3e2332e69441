//! The samples of one packet on their way to a sink.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use logpose_core::{ChannelId, Layout, Sample, Sink, SinkError, Time, Type, Value};

use crate::channels::Name;

/// Collects the samples of one packet and hands them over in one call. Channels are declared when they first have a
/// value. Nothing is allocated once every channel has been seen.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    slots: HashMap<Name, Slot, BuildHasherDefault<FewBytes>>,
    pending: Vec<PendingSample>,
    /// The values of `pending`, as their channels' types lie in bytes.
    packed: Vec<u8>,
    /// Room for the samples of the next call.
    spare: Vec<Sample<'static>>,
}

/// Hashes names of channels, of which there are few and none that a stranger chose: a channel is looked up for every
/// value of every packet.
#[derive(Debug, Default)]
struct FewBytes(u64);

impl Hasher for FewBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word.unsigned_abs() as u64);
    }
}

#[derive(Debug)]
struct Slot {
    id: ChannelId,
    ty: Type,
    /// The last value, of channels that have a sample only when they change.
    last: Option<Vec<u8>>,
}

/// A sample that waits for the end of its packet.
#[derive(Debug)]
struct PendingSample {
    id: ChannelId,
    ty: Type,
    time: Time,
    place: Range<usize>,
}

impl Samples {
    /// Begins a packet: what a sink did not take is dropped.
    pub(crate) fn begin(&mut self) {
        self.pending.clear();
        self.packed.clear();
    }

    /// Whether a channel has had a value.
    pub(crate) fn has(&self, name: Name) -> bool {
        self.slots.contains_key(&name)
    }

    /// Adds a value.
    pub(crate) fn put(
        &mut self,
        name: Name,
        time: Time,
        value: Value<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        self.put_with(name, time, sink, |out| value.emit(Layout::Little, out))
    }

    /// Adds a value whose little-endian bytes `emit` appends.
    pub(crate) fn put_with(
        &mut self,
        name: Name,
        time: Time,
        sink: &mut dyn Sink,
        emit: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), SinkError> {
        let begin = self.packed.len();
        emit(&mut self.packed);
        let bytes = self.packed.get(begin..).unwrap_or_default();
        let slot = match self.slots.get_mut(&name) {
            Some(Slot { last: Some(last), .. }) if last == bytes => {
                self.packed.truncate(begin);
                return Ok(());
            }
            Some(slot) => {
                if let Some(last) = &mut slot.last {
                    last.clear();
                    last.extend_from_slice(bytes);
                }
                slot
            }
            None => {
                let row = name.row();
                let id = ChannelId::try_from(self.slots.len()).unwrap_or(ChannelId::MAX);
                sink.channel(id, &row.channel)?;
                let last = row.on_change.then(|| bytes.to_vec());
                self.slots.entry(name).or_insert(Slot { id, ty: row.channel.ty(), last })
            }
        };
        let place = begin..self.packed.len();
        self.pending.push(PendingSample { id: slot.id, ty: slot.ty, time, place });
        Ok(())
    }

    /// Hands over what was added.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut samples: Vec<Sample<'_>> = std::mem::take(&mut self.spare);
        samples.extend(self.pending.iter().map(|pending| {
            let bytes = self.packed.get(pending.place.clone()).unwrap_or_default();
            let value = Value::parse(pending.ty, bytes, Layout::Little);
            debug_assert!(value.is_ok(), "{pending:?} was put as another type");
            Sample { channel: pending.id, time: pending.time, value: value.unwrap_or(Value::Bytes(bytes)) }
        }));
        let done = sink.samples(&samples);
        samples.clear();
        // An empty vector that borrows nothing any more: the elements have the same size, so its room is kept.
        let unborrowed = |sample: Sample<'_>| Sample { value: Value::Boolean(false), ..sample };
        self.spare = samples.into_iter().map(unborrowed).collect();
        done
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::{Batch, Time, Value};

    use super::Samples;
    use crate::channels::Name;

    #[test]
    fn the_room_for_samples_is_kept() {
        let (mut samples, mut sink) = (Samples::default(), Batch::default());
        let mut packet = |n: u32| {
            samples.begin();
            for name in [Name::Battery, Name::TripTime, Name::Cpu] {
                samples.put(name, Time::ZERO, Value::Double(n.into()), &mut sink).unwrap();
            }
            samples.flush(&mut sink).unwrap();
            (samples.spare.as_ptr(), samples.spare.capacity())
        };
        let first = packet(0);
        assert!(first.1 >= 3);
        assert_eq!(packet(1), first);
    }
}
