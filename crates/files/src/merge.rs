//! The order of time, made from the index without sorting the log.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BTreeMap, BinaryHeap};
use std::io;

use logpose_core::{
    ChannelId, ChannelIndex, DecodeError, Index, Lookup, Row, Sample, Sink, SinkError, Span, TakeSamples, Time,
};

use crate::spill::{Place, Spill};
use crate::{ClockMap, Error, Log};

/// One log to be merged.
#[derive(Clone)]
pub(crate) struct Input<'a> {
    pub(crate) log: &'a Log,
    index: &'a Index,
    pub(crate) lookup: Cow<'a, Lookup>,
    /// The sink's number for each of the log's channels; empty if they are the same.
    pub(crate) map: Cow<'a, [ChannelId]>,
    /// The clock on which its times are put.
    pub(crate) clock: ClockMap,
}

impl<'a> Input<'a> {
    pub(crate) fn new(log: &'a Log, lookup: &'a Lookup, map: &'a [ChannelId]) -> Self {
        let clock = ClockMap::default();
        Self { log, index: &log.index, lookup: Cow::Borrowed(lookup), map: Cow::Borrowed(map), clock }
    }

    /// The same with its times on another clock.
    pub(crate) fn on(self, clock: ClockMap) -> Self {
        Self { clock, ..self }
    }

    /// One whose times are moved, with positions in the index.
    pub(crate) fn moved(log: &'a Log, lookup: Lookup, map: Vec<ChannelId>, clock: ClockMap) -> Result<Self, Error> {
        Ok(Self { log, index: log.placed()?, lookup: Cow::Owned(lookup), map: Cow::Owned(map), clock })
    }

    /// The same, with positions in the index.
    fn placed(&self) -> Result<Self, SinkError> {
        let index = self.log.placed().map_err(|error| SinkError::Io(io::Error::other(error.to_string())))?;
        Ok(Self { index, ..self.clone() })
    }

    /// The wanted channels that have samples.
    fn channels(&self) -> impl Iterator<Item = ChannelId> + '_ {
        let full = (0..).zip(&self.index.channels).filter(|(_, channel)| channel.samples > 0);
        full.map(|(id, _)| id).filter(|id| self.lookup.wants(*id))
    }

    fn samples(&self, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        self.log.dialect().samples(self.log.bytes(), self.index, rows, take)
    }

    fn time(&self, at: u64) -> Result<Time, DecodeError> {
        Ok(self.clock.at(time(self.log, self.index, at)?))
    }

    /// How many samples of a channel in order lie before a moment.
    fn border(&self, found: &ChannelIndex, moment: Time) -> Result<usize, DecodeError> {
        border(self.log, self.index, found, &self.clock, moment)
    }

    /// The sink's number of a channel.
    fn number(&self, own: ChannelId) -> Option<ChannelId> {
        if self.map.is_empty() { Some(own) } else { self.map.get(own as usize).copied() }
    }

    fn is_always(&self, channel: ChannelId) -> bool {
        self.lookup.always.get(channel as usize).copied().unwrap_or(false)
    }

    /// Bytes of memory that merging lists takes, at most.
    fn cost(&self) -> u64 {
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
    let cost = inputs.iter().map(Input::cost).sum::<u64>();
    match allowed.filter(|allowed| cost > *allowed) {
        Some(allowed) => spilled(inputs, allowed, sink),
        None => {
            let inputs: Vec<_> = inputs.iter().map(Input::placed).collect::<Result<_, _>>()?;
            let mut merge = Merge::new(inputs);
            merge.begin();
            while merge.read(BATCH, Time::MAX, &mut |samples| sink.samples(samples))? {}
            Ok(())
        }
    }
}

/// One walk over each log lists all samples, which are sorted in pieces that fit the memory.
fn spilled(inputs: &[Input<'_>], memory: u64, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let mut spill = Spill::new(memory);
    for (number, input) in (0..).zip(inputs) {
        let mut take = |rows: &[Row]| {
            let place =
                |row: &Row| Place { time: input.clock.at(row.time), input: number, at: row.at, channel: row.channel };
            let mut places = rows.iter().map(place);
            places.try_for_each(|place| spill.push(place)).map_err(SinkError::Io)
        };
        for window in input.log.windows(WINDOW) {
            let lookup = Lookup { within: Some(window), ..(*input.lookup).clone() };
            input.log.dialect().rows(input.log.bytes(), input.index, &lookup, &mut take)?;
            input.log.pass(window);
        }
    }
    let mut sorted = spill.finish().map_err(SinkError::Io)?;
    let mut batch = Batch::new(inputs);
    let take: &mut TakeSamples<'_> = &mut |samples| sink.samples(samples);
    while let Some(place) = sorted.next().map_err(SinkError::Io)? {
        batch.push(place.input as usize, Row { time: place.time, at: place.at, channel: place.channel });
        if batch.len() >= BATCH {
            batch.deliver(inputs, take)?;
        }
    }
    batch.deliver(inputs, take)
}

/// Logs that are read in the order of time, from any moment on.
///
/// Every channel is a list of places that is in the order of time already, or is put in it, stably; then the
/// lists are merged. Memory: a block of each list, and 16 bytes for every sample of a channel out of order, or half as
/// much again while it is sorted.
///
/// Where a time cannot be read, the order is not known: then every later call for samples is an error.
pub(crate) struct Merge<'a> {
    inputs: Vec<Input<'a>>,
    lanes: Vec<ChannelCursor<'a>>,
    heap: BinaryHeap<Reverse<(Time, usize, u64, usize)>>,
    batch: Batch,
    unreadable: Option<DecodeError>,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(inputs: Vec<Input<'a>>) -> Self {
        let (mut lanes, mut unreadable) = (Vec::new(), None);
        for (place, input) in inputs.iter().enumerate() {
            let cursors = input.channels().map(|id| ChannelCursor::new(input, place, id));
            lanes.extend(cursors.filter_map(|cursor| noted(cursor, &mut unreadable)));
        }
        let batch = Batch::new(&inputs);
        Self { inputs, heap: BinaryHeap::with_capacity(lanes.len()), lanes, batch, unreadable }
    }

    /// Goes to the front.
    pub(crate) fn begin(&mut self) {
        self.heap.clear();
        for (lane, state) in self.lanes.iter_mut().enumerate() {
            if let Some((time, at)) = noted(state.next(&self.inputs), &mut self.unreadable).flatten() {
                self.heap.push(Reverse((time, state.input, at, lane)));
            }
        }
    }

    /// Goes to the first samples at or behind a moment.
    pub(crate) fn seek(&mut self, to: Time) {
        for lane in &mut self.lanes {
            noted(lane.seek(&self.inputs, to), &mut self.unreadable);
        }
        self.begin();
    }

    /// The time of the next sample.
    pub(crate) fn peek(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, ..))| *time)
    }

    /// Gives the next samples up to a moment, at most so many, in one call. Tells whether there were any.
    pub(crate) fn read(&mut self, most: usize, until: Time, take: &mut TakeSamples<'_>) -> Result<bool, SinkError> {
        while self.batch.len() < most
            && self.unreadable.is_none()
            && let Some(mut top) = self.heap.peek_mut()
        {
            let Reverse((time, input, at, lane)) = *top;
            if time > until {
                break;
            }
            let Some(state) = self.lanes.get_mut(lane) else { break };
            self.batch.push(input, Row { time, at, channel: state.channel });
            match noted(state.next(&self.inputs), &mut self.unreadable).flatten() {
                Some((time, at)) => *top = Reverse((time, input, at, lane)),
                None => {
                    PeekMut::pop(top);
                }
            }
        }
        let any = self.batch.len() > 0;
        self.batch.deliver(&self.inputs, take)?;
        self.check()?;
        Ok(any)
    }

    /// The error of a time that could not be read.
    fn check(&self) -> Result<(), DecodeError> {
        self.unreadable.clone().map_or(Ok(()), Err)
    }

    /// The last sample of every channel before a moment: the sink's number of the channel, and the row and its input.
    /// Of several logs with one channel, the latest.
    pub(crate) fn held(&mut self, before: Time) -> BTreeMap<ChannelId, (usize, Row)> {
        let mut held: BTreeMap<ChannelId, (usize, Row)> = BTreeMap::new();
        for lane in &mut self.lanes {
            let number = self.inputs.get(lane.input).and_then(|input| input.number(lane.channel));
            let last = noted(lane.last(&self.inputs, before), &mut self.unreadable).flatten();
            if let (Some(number), Some((time, at))) = (number, last) {
                let found = (lane.input, Row { time, at, channel: lane.channel });
                let newest = held.entry(number).or_insert(found);
                if newest.1.time <= time {
                    *newest = found;
                }
            }
        }
        held
    }

    /// Gives the samples of rows, in one call.
    pub(crate) fn rows(
        &mut self,
        rows: impl Iterator<Item = (usize, Row)>,
        take: &mut TakeSamples<'_>,
    ) -> Result<(), SinkError> {
        rows.for_each(|(input, row)| self.batch.push(input, row));
        self.batch.deliver(&self.inputs, take)?;
        Ok(self.check()?)
    }

    /// How many samples of an input lie outside a range.
    pub(crate) fn outside(&mut self, input: usize, (first, last): (Time, Time)) -> u64 {
        let lanes = self.lanes.iter().filter(|lane| lane.input == input);
        let counts = lanes.map(|lane| lane.outside(&self.inputs, first, last));
        counts.filter_map(|count| noted(count, &mut self.unreadable)).sum()
    }

    /// The latest time of any sample before a moment.
    pub(crate) fn before(&mut self, moment: Time) -> Option<Time> {
        let last = self.lanes.iter_mut().map(|lane| lane.last(&self.inputs, moment));
        last.filter_map(|last| noted(last, &mut self.unreadable).flatten()).map(|(time, _)| time).max()
    }
}

/// What could be read; else the error is kept, if it is the first.
fn noted<T>(read: Result<T, DecodeError>, unreadable: &mut Option<DecodeError>) -> Option<T> {
    read.map_err(|error| unreadable.get_or_insert(error)).ok()
}

/// One channel's places, in the order of time.
struct ChannelCursor<'a> {
    input: usize,
    channel: ChannelId,
    found: Option<&'a ChannelIndex>,
    places: Box<dyn Iterator<Item = u64> + Send + 'a>,
    sorted: bool,
    /// The next places. Of a channel out of order these are all of them.
    block: Vec<(Time, u64)>,
    /// How much of the block is used.
    used: usize,
}

impl<'a> ChannelCursor<'a> {
    fn new(input: &Input<'a>, place: usize, channel: ChannelId) -> Result<Self, DecodeError> {
        let found = input.index.channels.get(channel as usize);
        let places: Box<dyn Iterator<Item = u64> + Send + 'a> = match found {
            Some(found) if found.sorted => {
                // What lies before the wanted times need not be gone over.
                let start = input.lookup.start.filter(|_| !input.is_always(channel));
                let first = start.map_or(Ok(0), |start| input.border(found, input.clock.at(start)))?;
                Box::new(found.positions.iter_from(first))
            }
            Some(found) => Box::new(found.positions.iter()),
            None => Box::new(std::iter::empty()),
        };
        let sorted = found.is_none_or(|channel| channel.sorted);
        Ok(Self { input: place, channel, found, places, sorted, block: Vec::new(), used: 0 })
    }

    #[inline]
    fn next(&mut self, inputs: &[Input<'_>]) -> Result<Option<(Time, u64)>, DecodeError> {
        if self.used >= self.block.len()
            && let Some(input) = inputs.get(self.input)
        {
            self.fill(input)?;
        }
        let next = self.block.get(self.used).copied();
        self.used += 1;
        Ok(next)
    }

    /// The next block that has anything wanted in it.
    #[cold]
    fn fill(&mut self, input: &Input<'_>) -> Result<(), DecodeError> {
        if !self.sorted {
            return self.sort(input);
        }
        self.block.clear();
        self.used = 0;
        let (mut at, mut times) = (Vec::new(), Vec::new());
        while self.block.is_empty() && self.take_block(input, &mut at, &mut times)? {
            let behind = input.lookup.end.is_some_and(|end| times.last().is_some_and(|last| *last > end));
            if behind && !input.is_always(self.channel) {
                self.places = Box::new(std::iter::empty());
            }
        }
        Ok(())
    }

    /// A channel out of order is one block.
    fn sort(&mut self, input: &Input<'_>) -> Result<(), DecodeError> {
        if !self.block.is_empty() {
            return Ok(());
        }
        self.block.reserve_exact(self.found.map_or(0, |found| found.positions.len()));
        let (mut at, mut times) = (Vec::new(), Vec::new());
        while self.take_block(input, &mut at, &mut times)? {}
        self.block.sort_by_key(|(time, _)| *time);
        Ok(())
    }

    /// Adds what is wanted of the next places to the block; `times` are those of all of them. `false` if there are none.
    fn take_block(&mut self, input: &Input<'_>, at: &mut Vec<u64>, times: &mut Vec<Time>) -> Result<bool, DecodeError> {
        at.clear();
        times.clear();
        at.extend(self.places.by_ref().take(BLOCK));
        input.log.dialect().times(input.log.bytes(), input.index, at, times)?;
        let places = times.iter().zip(&*at);
        let wanted = places.filter_map(|(time, at)| Some((input.lookup.admits(self.channel, *time)?, *at)));
        self.block.extend(wanted.map(|(time, at)| (input.clock.at(time), at)));
        Ok(!at.is_empty())
    }

    /// Makes the first sample at or behind a moment the next one.
    fn seek(&mut self, inputs: &[Input<'a>], to: Time) -> Result<(), DecodeError> {
        let (Some(input), Some(found)) = (inputs.get(self.input), self.found) else { return Ok(()) };
        if self.sorted {
            self.block.clear();
            self.used = 0;
            self.places = Box::new(found.positions.iter_from(input.border(found, to)?));
        } else {
            self.sort(input)?;
            self.used = self.block.partition_point(|(time, _)| *time < to);
        }
        Ok(())
    }

    /// How many samples lie outside a range.
    fn outside(&self, inputs: &[Input<'_>], first: Time, last: Time) -> Result<u64, DecodeError> {
        let (Some(input), Some(found)) = (inputs.get(self.input), self.found) else { return Ok(0) };
        let within = match self.sorted {
            true => input.border(found, last.plus(1))?.saturating_sub(input.border(found, first)?),
            false => {
                let mut within = 0;
                for at in found.positions.iter() {
                    within += usize::from((first..=last).contains(&input.time(at)?));
                }
                within
            }
        };
        Ok((found.positions.len() - within) as u64)
    }

    /// The last sample before a moment.
    fn last(&mut self, inputs: &[Input<'_>], before: Time) -> Result<Option<(Time, u64)>, DecodeError> {
        let (Some(input), Some(found)) = (inputs.get(self.input), self.found) else { return Ok(None) };
        if self.sorted {
            let end = input
                .lookup
                .end
                .filter(|_| !input.is_always(self.channel))
                .map_or(before, |end| before.min(input.clock.at(end).plus(1)));
            let place = input.border(found, end)?.checked_sub(1);
            let at = place.and_then(|place| found.positions.iter_from(place).next());
            return at.map(|at| Ok((input.time(at)?, at))).transpose();
        }
        self.sort(input)?;
        let place = self.block.partition_point(|(time, _)| *time < before).checked_sub(1);
        Ok(place.and_then(|place| self.block.get(place).copied()))
    }
}

/// How many samples of a channel in order lie before a moment, on the clock on which its times are put.
pub(crate) fn border(
    log: &Log,
    index: &Index,
    found: &ChannelIndex,
    clock: &ClockMap,
    moment: Time,
) -> Result<usize, DecodeError> {
    if moment <= clock.at(found.first) {
        return Ok(0);
    }
    if clock.at(found.last) < moment {
        return Ok(found.positions.len());
    }
    let mut unreadable = None;
    let before = found
        .positions
        .partition_point(|at| noted(time(log, index, at), &mut unreadable).is_some_and(|time| clock.at(time) < moment));
    unreadable.map_or(Ok(before), Err)
}

/// The time of the record at a place.
fn time(log: &Log, index: &Index, at: u64) -> Result<Time, DecodeError> {
    let mut times = Vec::with_capacity(1);
    log.dialect().times(log.bytes(), index, &[at], &mut times)?;
    times.first().copied().ok_or_else(|| DecodeError::stale_index(log.dialect().info().name, at))
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

    fn len(&self) -> usize {
        self.order.len()
    }

    fn deliver(&mut self, inputs: &[Input<'_>], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
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
                input.samples(rows, &mut |samples| if samples.is_empty() { Ok(()) } else { take(samples) })
            }),
            _ => self.decode(inputs, 0, None, take),
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
        take: &mut TakeSamples<'_>,
    ) -> Result<(), SinkError> {
        let next = self.rows.iter().enumerate().skip(place).find(|(_, rows)| !rows.is_empty());
        let Some((place, rows)) = next else { return self.merge(inputs, outer, take) };
        let Some(input) = inputs.get(place) else { return Ok(()) };
        input.samples(rows, &mut |samples| {
            self.decode(inputs, place + 1, Some(&Decoded { place, samples, outer }), take)
        })
    }

    fn merge(
        &self,
        inputs: &[Input<'_>],
        decoded: Option<&Decoded<'_>>,
        take: &mut TakeSamples<'_>,
    ) -> Result<(), SinkError> {
        let mut next: Vec<_> = inputs.iter().map(|_| [].iter()).collect();
        for part in std::iter::successors(decoded, |part| part.outer) {
            if let Some(place) = next.get_mut(part.place) {
                *place = part.samples.iter();
            }
        }
        let mut merged: Vec<Sample<'_>> = Vec::with_capacity(self.order.len());
        merged.extend(self.order.iter().filter_map(|place| {
            let (sample, input) = (next.get_mut(*place)?.next()?, inputs.get(*place)?);
            let channel = input.number(sample.channel)?;
            Some(Sample { channel, ..*sample })
        }));
        if merged.is_empty() { Ok(()) } else { take(&merged) }
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
