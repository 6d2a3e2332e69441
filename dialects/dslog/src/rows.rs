//! Samples out of a log whose index is known: all in their order, some by their places, or as columns.

use logpose_core::{
    ChannelId, ColumnBuilder, Columns, Cursor, DecodeError, Index, Layout, Lookup, Parcel, Row, Sink, SinkError, Span,
    TakeSamples, Time, Value,
};

use crate::dialect::NAME;
use crate::model::{Said, TOPICS, Topic, TopicSet, Values, told_at};
use crate::walk::{Clock, Found, Plan, Records, Stop, TextSample, Visit, place, seek, span_of, walk_texts};
use crate::wire::Record;

/// Places in a batch.
const BATCH: usize = 1024;

/// The event that the texts describe.
fn event_of(index: &Index) -> Option<&str> {
    index.fact("event")
}

/// The channels of topics, as far as they are wanted.
struct Wanted<'l> {
    lookup: &'l Lookup,
    channels: [Option<ChannelId>; TOPICS],
    /// The topics of records, and whether any of texts.
    topics: TopicSet,
    texts: bool,
}

impl<'l> Wanted<'l> {
    fn new(index: &Index, lookup: &'l Lookup) -> Self {
        let mut wanted = Self { lookup, channels: [None; TOPICS], topics: 0, texts: false };
        for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            let Some(topic) = Topic::of_name(&found.channel.name) else { continue };
            if let Some(place) = wanted.channels.get_mut(topic.place()) {
                *place = Some(id);
            }
            wanted.topics |= topic.set();
            wanted.texts |= topic.set() == 0;
        }
        wanted
    }

    #[inline]
    fn channel(&self, topic: Topic) -> Option<ChannelId> {
        self.channels.get(topic.place()).copied().flatten()
    }

    /// The channel of a topic, and the time at which a sample of it comes, if it is wanted.
    #[inline]
    fn admits(&self, topic: Topic, time: i64) -> Option<(ChannelId, Time)> {
        let id = self.channel(topic)?;
        Some((id, self.lookup.admits(id, Time::from_nanos(time))?))
    }
}

/// Walks over the wanted part of a log. A log that ends before its index says so is an error, once everything before that
/// was visited.
fn walk<'a, V: Visit<'a>>(
    plan: &Plan<'a>,
    index: &Index,
    (topics, texts): (TopicSet, bool),
    lookup: &Lookup,
    visit: &mut V,
) -> Result<(), DecodeError> {
    let within = lookup.within.unwrap_or(Span { start: 0, end: u64::MAX });
    if let Some(file) = plan.log.filter(|_| topics != 0) {
        let span = span_of(index, &file)?;
        let (mut from, mut to) = (place(span.start.max(within.start)), place(span.end.min(within.end)));
        if lookup.always.is_empty() {
            if let Some(start) = lookup.start {
                from = from.max(seek(plan, &file, index, start)?);
            }
            if let Some(end) = lookup.end {
                to = to.min(seek(plan, &file, index, end.plus(1))?);
            }
        }
        if from < to {
            let stop = Records::from(plan, &file, index, from)?.walk(plan, &file, to, visit);
            check_arrived(&stop, to, visit)?;
        }
    }
    if let Some(file) = plan.events.filter(|_| texts && !visit.is_done()) {
        let span = span_of(index, &file)?;
        let (from, to) = (place(span.start.max(within.start)), place(span.end.min(within.end)));
        if from < to {
            let (stop, _) = walk_texts(plan, &file, from, to, visit);
            check_arrived(&stop, to, visit)?;
        }
    }
    Ok(())
}

/// Whether a walk came as far as the index says it can, unless it was stopped.
fn check_arrived<'a, V: Visit<'a>>(stop: &Stop, to: usize, visit: &V) -> Result<(), DecodeError> {
    match stop {
        Stop::At(at) if *at >= to || visit.is_done() => Ok(()),
        stop => Err(DecodeError::stale_index(NAME, stop.at() as u64)),
    }
}

/// Adds the values of a text.
pub(crate) fn push_said<'a>(
    batch: &mut Parcel<'a>,
    channel: ChannelId,
    time: Time,
    said: &Said<'a>,
    event: Option<&str>,
) {
    match said.value() {
        Some(value) => batch.push(channel, time, value),
        None => batch.make(channel, time, |out| said.emit(event, out)),
    }
}

/// Hands all samples that are wanted to a sink, in the order of the file.
pub(crate) fn replay(log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let plan = Plan::new(log)?;
    let wanted = Wanted::new(index, lookup);
    let kinds = (wanted.topics, wanted.texts);
    let known = vec![false; index.channels.len()];
    let mut replay = Replay { index, sink, wanted, known, batch: Parcel::default(), result: Ok(()) };
    let walked = walk(&plan, index, kinds, lookup, &mut replay);
    replay.result?;
    replay.batch.flush(replay.sink)?;
    Ok(walked?)
}

struct Replay<'a, 'i, 's> {
    index: &'i Index,
    sink: &'s mut dyn Sink,
    wanted: Wanted<'i>,
    /// For each channel whether the sink knows it.
    known: Vec<bool>,
    batch: Parcel<'a>,
    result: Result<(), SinkError>,
}

impl Replay<'_, '_, '_> {
    /// The channel of a topic and the time of a sample, once the sink knows the channel.
    #[inline]
    fn declared(&mut self, topic: Topic, time: i64) -> Option<(ChannelId, Time)> {
        let (id, time) = self.wanted.admits(topic, time)?;
        let known = self.known.get_mut(id as usize)?;
        if !std::mem::replace(known, true) {
            let channel = &self.index.channels.get(id as usize)?.channel;
            let end = self.batch.flush(self.sink).and_then(|()| self.sink.channel(id, channel));
            self.note(end);
        }
        Some((id, time))
    }

    fn note(&mut self, result: Result<(), SinkError>) {
        if self.result.is_ok() {
            self.result = result;
        }
    }

    #[inline]
    fn settle(&mut self) {
        if self.batch.is_full() {
            let end = self.batch.flush(self.sink);
            self.note(end);
        }
    }
}

impl<'a> Visit<'a> for Replay<'a, '_, '_> {
    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        let topics = found.topics & self.wanted.topics;
        let values = Values::new(found.record, found.power);
        for topic in Topic::of(topics) {
            if let (Some((id, time)), Some(value)) = (self.declared(topic, found.time), values.value(topic)) {
                self.batch.push(id, time, value);
            }
        }
        self.settle();
    }

    fn said(&mut self, sample: TextSample<'a>) {
        if let Some((id, time)) = self.declared(sample.topic, sample.time) {
            push_said(&mut self.batch, id, time, &sample.said, event_of(self.index));
        }
        self.settle();
    }

    fn is_done(&self) -> bool {
        self.result.is_err()
    }
}

/// What is wanted as flat buffers. See [`logpose_core::FileDialect::scan`].
pub(crate) fn scan(log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
    let plan = Plan::new(log)?;
    let (builder, wanted) = (ColumnBuilder::wanted(index, lookup, prepare), Wanted::new(index, lookup));
    let kinds = (wanted.topics, wanted.texts);
    let mut scan = Scan { builder, event: event_of(index), wanted, scratch: Vec::new() };
    walk(&plan, index, kinds, lookup, &mut scan)?;
    scan.builder.scanned(NAME, index, lookup, Layout::Little, |rest, sink| replay(log, index, rest, sink))
}

struct Scan<'i> {
    builder: ColumnBuilder,
    event: Option<&'i str>,
    wanted: Wanted<'i>,
    scratch: Vec<u8>,
}

impl Scan<'_> {
    #[inline]
    fn put(&mut self, channel: ChannelId, time: Time, value: &Value<'_>) {
        let (slot, time) = (channel, time.nanos());
        match value {
            Value::Double(x) => self.builder.record(slot, time, &x.to_le_bytes()),
            Value::Int64(n) => self.builder.record(slot, time, &n.to_le_bytes()),
            Value::Boolean(flag) => self.builder.record(slot, time, &[u8::from(*flag)]),
            Value::String(bytes) | Value::Bytes(bytes) => self.builder.record(slot, time, bytes),
            // No topic has values of other types.
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Scan<'_> {
    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        let values = Values::new(found.record, found.power);
        for topic in Topic::of(found.topics & self.wanted.topics) {
            if let (Some((id, time)), Some(value)) = (self.wanted.admits(topic, found.time), values.value(topic)) {
                self.put(id, time, &value);
            }
        }
    }

    fn said(&mut self, sample: TextSample<'a>) {
        let Some((id, time)) = self.wanted.admits(sample.topic, sample.time) else { return };
        match sample.said.value() {
            Some(value) => self.put(id, time, &value),
            None => {
                self.scratch.clear();
                sample.said.emit(self.event, &mut self.scratch);
                self.builder.record(id, time.nanos(), &self.scratch);
            }
        }
    }
}

/// Hands the places of all wanted samples to `take`, in the order of the file.
pub(crate) fn rows(
    log: &[u8],
    index: &Index,
    lookup: &Lookup,
    take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let plan = Plan::new(log)?;
    let wanted = Wanted::new(index, lookup);
    let kinds = (wanted.topics, wanted.texts);
    let mut places = Places { wanted, batch: Vec::new(), take, result: Ok(()) };
    let walked = walk(&plan, index, kinds, lookup, &mut places);
    places.result?;
    (places.take)(&places.batch)?;
    Ok(walked?)
}

struct Places<'i, 't> {
    wanted: Wanted<'i>,
    batch: Vec<Row>,
    take: &'t mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    result: Result<(), SinkError>,
}

impl Places<'_, '_> {
    #[inline]
    fn push(&mut self, topic: Topic, at: u64, time: i64) {
        if let Some((channel, time)) = self.wanted.admits(topic, time) {
            self.batch.push(Row { time, at, channel });
        }
    }

    fn settle(&mut self) {
        if self.batch.len() >= BATCH && self.result.is_ok() {
            self.result = (self.take)(&self.batch);
            self.batch.clear();
        }
    }
}

impl<'a> Visit<'a> for Places<'_, '_> {
    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        for topic in Topic::of(found.topics & self.wanted.topics) {
            self.push(topic, found.at, found.time);
        }
        self.settle();
    }

    fn said(&mut self, sample: TextSample<'a>) {
        self.push(sample.topic, sample.at, sample.time);
        self.settle();
    }

    fn is_done(&self) -> bool {
        self.result.is_err()
    }
}

/// The times of records, by their places.
pub(crate) fn times(log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
    let plan = Plan::new(log)?;
    let mut clock = Clock::new(&plan, index);
    out.reserve(at.len());
    for at in at {
        out.push(clock.time(*at)?);
    }
    Ok(())
}

/// Gives the samples of some places to `take`. See [`logpose_core::FileDialect::samples`].
pub(crate) fn samples(log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
    let plan = Plan::new(log)?;
    let clock = Clock::new(&plan, index);
    let mut topics: Vec<Option<Topic>> = vec![None; index.channels.len()];
    let mut batch = Parcel::default();
    let mut last: Option<(u64, Values<'_>)> = None;
    for row in rows {
        let stale = || DecodeError::stale_index(NAME, row.at);
        let found = index.channel(NAME, row.channel)?;
        let known = topics.get_mut(row.channel as usize).ok_or_else(stale)?;
        let topic = known.or_else(|| Topic::of_name(&found.channel.name)).ok_or_else(stale)?;
        *known = Some(topic);
        if let Some(file) = plan.log.filter(|file| file.contains(row.at)) {
            // The samples of one record are mostly asked for together.
            if last.as_ref().is_none_or(|(at, _)| *at != row.at) {
                let mut cur = Cursor::new(plan.slice(place(row.at), file.to), row.at);
                let record = Record::parse(&mut cur, file.header.version).map_err(DecodeError::from)?;
                last = Some((row.at, Values::new(&record, record.power())));
            }
            let value = last.as_ref().and_then(|(_, values)| values.value(topic)).ok_or_else(stale)?;
            batch.push(row.channel, row.time, value);
        } else {
            let file = plan.events.filter(|file| file.contains(row.at)).ok_or_else(stale)?;
            let said = clock.rest_of_text(&file, row.at).and_then(|rest| told_at(topic, rest)).ok_or_else(stale)?;
            push_said(&mut batch, row.channel, row.time, &said, event_of(index));
        }
    }
    batch.take(take)
}
