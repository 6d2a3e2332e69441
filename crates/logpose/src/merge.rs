//! The order of time, made from the index without sorting the log.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;

use logpose_core::{ChannelId, Index, Lookup, Row, Sample, Sink, SinkError, Span, TakeSamples, Time};

use crate::Log;
use crate::spill::{Place, Spill};

/// One log to be merged.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) log: &'a Log,
    index: &'a Index,
    pub(crate) lookup: &'a Lookup,
    /// The sink's number for each of the log's channels; empty if they are the same.
    pub(crate) map: &'a [ChannelId],
}

impl<'a> Input<'a> {
    pub(crate) fn new(log: &'a Log, lookup: &'a Lookup, map: &'a [ChannelId]) -> Self {
        Self { log, index: &log.index, lookup, map }
    }

    /// The same, with positions in the index.
    fn placed(self) -> Result<Self, SinkError> {
        let index = self.log.placed().map_err(|error| SinkError::Io(io::Error::other(error.to_string())))?;
        Ok(Self { index, ..self })
    }

    /// The wanted channels that have samples.
    fn channels(self) -> impl Iterator<Item = ChannelId> + 'a {
        let full = (0..).zip(&self.index.channels).filter(|(_, channel)| channel.samples > 0);
        full.map(|(id, _)| id).filter(move |id| self.lookup.wants(*id))
    }

    fn samples(self, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        self.log.dialect().samples(self.log.bytes(), self.index, rows, take)
    }

    /// Bytes of memory that merging lists takes, at most.
    fn cost(self) -> u64 {
        let samples =
            |id: ChannelId| self.index.channels.get(id as usize).map_or(0, |c| if c.sorted { 0 } else { c.samples });
        let positions = if self.log.has_places() { 0 } else { 4 * self.index.samples() };
        positions + SORTING * self.channels().map(samples).sum::<u64>()
    }
}

/// Gives the samples of all inputs to a sink, by (time, input, place in the file). Channels are the caller's
/// to declare.
///
/// If that would take more than half of the memory that is allowed, it goes over a temporary file.
pub(crate) fn run(inputs: &[Input<'_>], sink: &mut dyn Sink) -> Result<(), SinkError> {
    let allowed = inputs.iter().filter_map(|input| input.log.memory()).min().map(|memory| memory / 2);
    let cost = inputs.iter().map(|input| input.cost()).sum::<u64>();
    match allowed.filter(|allowed| cost > *allowed) {
        Some(allowed) => spilled(inputs, allowed, sink),
        None => {
            let inputs: Vec<_> = inputs.iter().map(|input| input.placed()).collect::<Result<_, _>>()?;
            merged(&inputs, sink)
        }
    }
}

/// One walk over each log lists all samples, which are sorted in pieces that fit the memory.
fn spilled(inputs: &[Input<'_>], memory: u64, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut spill = Spill::new(memory);
    for (number, input) in (0..).zip(inputs) {
        let mut take = |rows: &[Row]| {
            let places =
                rows.iter().map(|row| Place { time: row.time, input: number, at: row.at, channel: row.channel });
            places.into_iter().try_for_each(|place| spill.push(place)).map_err(SinkError::Io)
        };
        for window in input.log.windows(WINDOW) {
            let lookup = Lookup { within: Some(window), ..input.lookup.clone() };
            input.log.dialect().rows(input.log.bytes(), input.index, &lookup, &mut take)?;
            input.log.pass(window);
        }
    }
    let mut sorted = spill.finish().map_err(SinkError::Io)?;
    let mut batch = Batch::new(inputs);
    while let Some(place) = sorted.next().map_err(SinkError::Io)? {
        batch.push(place.input as usize, Row { time: place.time, at: place.at, channel: place.channel });
        if batch.is_full() {
            batch.deliver(inputs, sink)?;
        }
    }
    batch.deliver(inputs, sink)
}

/// Every channel is a list of places that is in the order of time already, or is put in it, stably; then the
/// lists are merged. Memory: a block of each list, and 16 bytes for every sample of a channel out of order, or half as
/// much again while it is sorted.
fn merged(inputs: &[Input<'_>], sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut lanes = Vec::new();
    for (place, input) in inputs.iter().enumerate() {
        lanes.extend(input.channels().map(|id| Lane::new(input, place, id)));
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
    /// How many there are; fewer are wanted if times are cut away.
    expected: usize,
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
        let expected = found.map_or(0, |channel| channel.positions.len());
        Self { input: place, channel, places, sorted, expected, block: Vec::new(), used: 0 }
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
        if !self.sorted {
            self.block.reserve_exact(self.expected);
        }
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
struct Batch {
    /// Of each input, in its order.
    rows: Vec<Vec<Row>>,
    /// Which input each row of the batch is of.
    order: Vec<usize>,
    /// Of each input, up to where its bytes were given back to the system.
    passed: Vec<u64>,
}

impl Batch {
    fn new(inputs: &[Input<'_>]) -> Self {
        Self { rows: inputs.iter().map(|_| Vec::new()).collect(), order: Vec::new(), passed: vec![0; inputs.len()] }
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

    fn deliver(&mut self, inputs: &[Input<'_>], sink: &mut dyn Sink) -> Result<(), SinkError> {
        for ((input, rows), passed) in inputs.iter().zip(&self.rows).zip(&mut self.passed) {
            // Most logs are nearly in order: what lies far behind is not needed again, or not soon.
            let lowest = rows.iter().map(|row| row.at).min().unwrap_or(*passed);
            if lowest > *passed + 2 * WINDOW {
                input.log.pass(Span { start: *passed, end: lowest - WINDOW });
                *passed = lowest - WINDOW;
            } else {
                *passed = lowest.min(*passed);
            }
        }
        let end = match inputs {
            [input] if input.map.is_empty() => self.rows.first().map_or(Ok(()), |rows| {
                input.samples(rows, &mut |samples| if samples.is_empty() { Ok(()) } else { sink.samples(samples) })
            }),
            _ => self.decode(inputs, 0, None, sink),
        };
        self.rows.iter_mut().for_each(Vec::clear);
        self.order.clear();
        end
    }

    /// Decodes the rows of the inputs from `place` on, one within the call for the one before, because samples last no
    /// longer; at the innermost call all are there.
    fn decode(
        &self,
        inputs: &[Input<'_>],
        place: usize,
        outer: Option<&Decoded<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<(), SinkError> {
        let next = self.rows.iter().enumerate().skip(place).find(|(_, rows)| !rows.is_empty());
        let Some((place, rows)) = next else { return self.merge(inputs, outer, sink) };
        let Some(input) = inputs.get(place) else { return Ok(()) };
        input.samples(rows, &mut |samples| {
            self.decode(inputs, place + 1, Some(&Decoded { place, samples, outer }), sink)
        })
    }

    fn merge(&self, inputs: &[Input<'_>], decoded: Option<&Decoded<'_>>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut next: Vec<_> = inputs.iter().map(|_| [].iter()).collect();
        for part in std::iter::successors(decoded, |part| part.outer) {
            if let Some(place) = next.get_mut(part.place) {
                *place = part.samples.iter();
            }
        }
        let mut merged: Vec<Sample<'_>> = Vec::with_capacity(self.order.len());
        merged.extend(self.order.iter().filter_map(|place| {
            let (sample, map) = (next.get_mut(*place)?.next()?, inputs.get(*place)?.map);
            let channel = if map.is_empty() { sample.channel } else { *map.get(sample.channel as usize)? };
            Some(Sample { channel, ..*sample })
        }));
        if merged.is_empty() { Ok(()) } else { sink.samples(&merged) }
    }
}

/// The decoded rows of one input, and those of the inputs before it.
struct Decoded<'d> {
    place: usize,
    samples: &'d [Sample<'d>],
    outer: Option<&'d Self>,
}

/// Bytes for a sample of a channel that is put in order.
const SORTING: u64 = 24;
/// Bytes of a log that are walked over before they are given back to the system.
const WINDOW: u64 = 32 << 20;
const BLOCK: usize = 256;
const BATCH: usize = 1024;
