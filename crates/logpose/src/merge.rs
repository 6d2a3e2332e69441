//! The order of time, made from the index without sorting the log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

use logpose_core::{ChannelId, Index, Lookup, Row, Sample, Sink, SinkError, Time};

use crate::Log;

/// One log to be merged.
pub(crate) struct Input<'a> {
    pub(crate) log: &'a Log,
    /// Its index, with positions.
    pub(crate) index: &'a Index,
    pub(crate) lookup: &'a Lookup,
    /// The sink's number for each of the log's channels; empty if they are the same.
    pub(crate) map: &'a [ChannelId],
}

impl<'a> Input<'a> {
    pub(crate) fn new(log: &'a Log, lookup: &'a Lookup, map: &'a [ChannelId]) -> Result<Self, SinkError> {
        let index = log.placed().map_err(|error| SinkError::Io(io::Error::other(error.to_string())))?;
        Ok(Self { log, index, lookup, map })
    }
}

/// Gives the samples of all inputs to a sink, by (time, input, place in the file). Channels are the caller's
/// to declare.
///
/// Every channel is a list of places that is in the order of time already, or is put in it, stably; then the
/// lists are merged. Memory: a block of each list, and 16 bytes for every sample of a channel out of order.
pub(crate) fn run(inputs: &[Input<'_>], sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut lanes = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        for (id, channel) in input.index.channels.iter().enumerate() {
            let Ok(id) = ChannelId::try_from(id) else { break };
            if channel.samples > 0 && input.lookup.wants(id) {
                lanes.push(Lane::new(input, place, id));
            }
        }
    }
    let mut heap = BinaryHeap::with_capacity(lanes.len());
    for (lane, state) in lanes.iter_mut().enumerate() {
        if let Some((time, at)) = state.next(inputs) {
            heap.push(Reverse((time, state.input, at, lane)));
        }
    }
    let mut batch = Batch::new(inputs);
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((time, input, at, lane)) = *top;
        let Some(state) = lanes.get_mut(lane) else { break };
        batch.push(input, Row { time, at, channel: state.channel });
        match state.next(inputs) {
            Some((time, at)) => *top = Reverse((time, input, at, lane)),
            None => {
                PeekMut::pop(top);
            }
        }
        if batch.is_full() {
            batch.deliver(inputs, sink)?;
        }
    }
    batch.deliver(inputs, sink)
}

/// One channel's places, in the order of time.
struct Lane<'a> {
    input: usize,
    channel: ChannelId,
    places: Box<dyn Iterator<Item = u64> + 'a>,
    sorted: bool,
    block: Vec<(Time, u64)>,
    /// How much of the block is used.
    used: usize,
}

impl<'a> Lane<'a> {
    fn new(input: &Input<'a>, place: usize, channel: ChannelId) -> Self {
        let found = input.index.channels.get(channel as usize);
        let places: Box<dyn Iterator<Item = u64> + 'a> = match found {
            Some(channel) => Box::new(channel.positions.iter()),
            None => Box::new(std::iter::empty()),
        };
        let sorted = found.is_none_or(|channel| channel.sorted);
        Self { input: place, channel, places, sorted, block: Vec::new(), used: 0 }
    }

    fn next(&mut self, inputs: &[Input<'_>]) -> Option<(Time, u64)> {
        if self.used == self.block.len() {
            self.fill(inputs.get(self.input)?);
        }
        let next = self.block.get(self.used).copied();
        self.used += 1;
        next
    }

    /// The next block that has anything wanted in it. A channel out of order is one block.
    #[cold]
    fn fill(&mut self, input: &Input<'_>) {
        let (mut at, mut times) = (Vec::new(), Vec::new());
        self.block.clear();
        self.used = 0;
        while self.block.is_empty() || !self.sorted {
            at.clear();
            times.clear();
            at.extend(self.places.by_ref().take(BLOCK));
            if at.is_empty() {
                break;
            }
            input.log.dialect().times(input.log.bytes(), input.index, &at, &mut times);
            let places = times.iter().zip(&at);
            let wanted = places.filter_map(|(time, at)| Some((input.lookup.admits(self.channel, *time)?, *at)));
            self.block.extend(wanted);
        }
        if !self.sorted {
            self.block.sort_by_key(|(time, _)| *time);
        }
    }
}

/// Rows on their way to the sink.
struct Batch<'a> {
    /// Of each input, in its order.
    rows: Vec<Vec<Row>>,
    /// Which input each row of the batch is of.
    order: Vec<usize>,
    decoded: Vec<Vec<Sample<'a>>>,
    merged: Vec<Sample<'a>>,
}

impl<'a> Batch<'a> {
    fn new(inputs: &[Input<'a>]) -> Self {
        let rows = inputs.iter().map(|_| Vec::new()).collect();
        let decoded = inputs.iter().map(|_| Vec::new()).collect();
        Self { rows, order: Vec::new(), decoded, merged: Vec::new() }
    }

    fn push(&mut self, input: usize, row: Row) {
        if let Some(rows) = self.rows.get_mut(input) {
            rows.push(row);
            self.order.push(input);
        }
    }

    fn is_full(&self) -> bool {
        self.order.len() >= BATCH
    }

    fn deliver(&mut self, inputs: &[Input<'a>], sink: &mut dyn Sink) -> Result<(), SinkError> {
        for ((input, rows), decoded) in inputs.iter().zip(&mut self.rows).zip(&mut self.decoded) {
            decoded.clear();
            input.log.dialect().samples(input.log.bytes(), input.index, rows, decoded);
            rows.clear();
            if !input.map.is_empty() {
                decoded.retain_mut(|sample| match input.map.get(sample.channel as usize) {
                    Some(id) => {
                        sample.channel = *id;
                        true
                    }
                    None => false,
                });
            }
        }
        let samples = match &*self.decoded {
            [only] => only,
            many => {
                let mut next: Vec<_> = many.iter().map(|decoded| decoded.iter()).collect();
                self.merged.clear();
                self.merged.extend(self.order.iter().filter_map(|input| next.get_mut(*input)?.next().copied()));
                &self.merged
            }
        };
        self.order.clear();
        if samples.is_empty() { Ok(()) } else { sink.samples(samples) }
    }
}

const BLOCK: usize = 256;
const BATCH: usize = 1024;
