//! The samples of one message on their way to a sink.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use logpose_core::{Channel, ChannelId, Sample, Sink, SinkError, Time, Value};

/// A value that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnedValue {
    Boolean(bool),
    Int64(i64),
    Float(f32),
    Double(f64),
    Text(Vec<u8>),
}

impl OwnedValue {
    fn borrow(&self) -> Value<'_> {
        match self {
            Self::Boolean(on) => Value::Boolean(*on),
            Self::Int64(n) => Value::Int64(*n),
            Self::Float(x) => Value::Float(*x),
            Self::Double(x) => Value::Double(*x),
            Self::Text(text) => Value::String(text),
        }
    }
}

/// When a value has a sample.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum When {
    Always,
    /// Where it is another than the last one.
    Changed,
}

/// Collects the samples of one message and hands them over in one call. Channels are declared when they first have a
/// value.
#[derive(Debug, Default)]
pub(super) struct Samples {
    slots: HashMap<String, Slot>,
    pending: Vec<(ChannelId, Time, OwnedValue)>,
}

#[derive(Debug)]
struct Slot {
    id: ChannelId,
    /// The last value, of channels that have a sample only when they change.
    last: Option<OwnedValue>,
}

/// More channels than any board has: who makes up more is not listened to.
const MOST: usize = 4096;

impl Samples {
    /// Begins a message: what a sink did not take is dropped.
    pub(super) fn begin(&mut self) {
        self.pending.clear();
    }

    /// Forgets the last values, so that every channel gets a sample again.
    pub(super) fn forget(&mut self) {
        self.slots.values_mut().for_each(|slot| slot.last = None);
    }

    /// Adds a value.
    pub(super) fn put(
        &mut self,
        channel: Channel,
        time: Time,
        value: OwnedValue,
        when: When,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let count = self.slots.len();
        let slot = match self.slots.entry(channel.name.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(_) if count >= MOST => return Ok(()),
            Entry::Vacant(entry) => {
                let id = ChannelId::try_from(count).unwrap_or(ChannelId::MAX);
                sink.channel(id, &channel)?;
                entry.insert(Slot { id, last: None })
            }
        };
        if when == When::Changed {
            if slot.last.as_ref() == Some(&value) {
                return Ok(());
            }
            slot.last = Some(value.clone());
        }
        self.pending.push((slot.id, time, value));
        Ok(())
    }

    /// Hands over what was added.
    pub(super) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = self.pending.iter();
        let samples: Vec<Sample<'_>> = pending
            .map(|(channel, time, value)| Sample { channel: *channel, time: *time, value: value.borrow() })
            .collect();
        sink.samples(&samples)
    }
}
