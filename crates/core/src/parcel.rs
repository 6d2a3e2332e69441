use std::ops::Range;

use crate::{ChannelId, Sample, Sink, SinkError, TakeSamples, Time, Value};

/// Values on their way to a sink: pieces of a log, numbers, and texts that were made.
#[derive(Debug, Default)]
pub struct Parcel<'a> {
    rows: Vec<(ChannelId, Time, ParcelValue<'a>)>,
    made: Vec<u8>,
}

#[derive(Debug)]
enum ParcelValue<'a> {
    Value(Value<'a>),
    /// A text, by its place in `made`.
    Made(Range<usize>),
}

impl<'a> Parcel<'a> {
    /// Adds a value that needs no making.
    #[inline]
    pub fn push(&mut self, channel: ChannelId, time: Time, value: Value<'a>) {
        self.rows.push((channel, time, ParcelValue::Value(value)));
    }

    /// Adds a text, which `make` appends.
    pub fn make(&mut self, channel: ChannelId, time: Time, make: impl FnOnce(&mut Vec<u8>)) {
        let start = self.made.len();
        make(&mut self.made);
        self.rows.push((channel, time, ParcelValue::Made(start..self.made.len())));
    }

    /// Whether it is time to give it away.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.rows.len() >= FULL
    }

    /// Gives everything away in one call.
    pub fn take(&mut self, take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let made = &self.made;
        let samples = self.rows.drain(..).map(|(channel, time, held)| {
            let value = match held {
                ParcelValue::Value(value) => value,
                ParcelValue::Made(range) => Value::String(made.get(range).unwrap_or_default()),
            };
            Sample { channel, time, value }
        });
        let end = take(&samples.collect::<Vec<_>>());
        self.made.clear();
        end
    }

    /// Gives everything to a sink, if there is anything.
    pub fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.rows.is_empty() { Ok(()) } else { self.take(&mut |samples| sink.samples(samples)) }
    }
}

/// Samples that are given away together.
const FULL: usize = 1024;
