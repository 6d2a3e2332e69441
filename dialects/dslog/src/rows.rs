//! Samples out of a log whose index is known: all in their order, some by their places, or as columns.

use logpose_core::{
    Channel, ChannelId, ColumnBuilder, Columns, Cursor, DecodeError, Fate, Index, Layout, Lookup, Parcel, Row, Sink,
    SinkError, Span, TakeSamples, Time, Value,
};

use crate::model::{LANES, Lane, Lanes, Said, Values, told_at};
use crate::walk::{Clock, Found, Plan, Records, Told, Visit, place, seek, span_of, walk_texts};
use crate::wire::Record;

/// Places in a batch.
const BATCH: usize = 1024;

/// The event that the texts tell of.
fn event_of(index: &Index) -> Option<&str> {
    index.fact("event")
}

/// The channels of lanes, as far as they are wanted.
struct Wanted<'l> {
    lookup: &'l Lookup,
    channels: [Option<ChannelId>; LANES],
    /// The lanes of records, and whether any of texts.
    lanes: Lanes,
    texts: bool,
}

impl<'l> Wanted<'l> {
    fn new(index: &Index, lookup: &'l Lookup) -> Self {
        let mut wanted = Self { lookup, channels: [None; LANES], lanes: 0, texts: false };
        for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            let Some(lane) = Lane::of_name(&found.channel.name) else { continue };
            if let Some(place) = wanted.channels.get_mut(lane.place()) {
                *place = Some(id);
            }
            wanted.lanes |= lane.set();
            wanted.texts |= lane.set() == 0;
        }
        wanted
    }

    #[inline]
    fn channel(&self, lane: Lane) -> Option<ChannelId> {
        self.channels.get(lane.place()).copied().flatten()
    }

    /// The channel of a lane, and the time at which a sample of it comes, if it is wanted.
    #[inline]
    fn admits(&self, lane: Lane, time: i64) -> Option<(ChannelId, Time)> {
        let id = self.channel(lane)?;
        Some((id, self.lookup.admits(id, Time::from_nanos(time))?))
    }
}

/// Walks over the wanted part of a log.
fn walk<'a, V: Visit<'a>>(
    plan: &Plan<'a>,
    index: &Index,
    (lanes, texts): (Lanes, bool),
    lookup: &Lookup,
    visit: &mut V,
) {
    let within = lookup.within.unwrap_or(Span { start: 0, end: u64::MAX });
    if let Some(file) = plan.log.filter(|_| lanes != 0) {
        let span = span_of(index, &file);
        let (mut from, mut to) = (place(span.start.max(within.start)), place(span.end.min(within.end)));
        if lookup.always.is_empty() {
            from = lookup.start.map_or(from, |start| from.max(seek(plan, &file, index, start)));
            to = lookup.end.map_or(to, |end| to.min(seek(plan, &file, index, end.plus(1))));
        }
        if from < to {
            Records::from(plan, &file, index, from).walk(plan, &file, to, visit);
        }
    }
    if let Some(file) = plan.events.filter(|_| texts && !visit.is_done()) {
        let span = span_of(index, &file);
        let (from, to) = (place(span.start.max(within.start)), place(span.end.min(within.end)));
        if from < to {
            walk_texts(plan, &file, from, to, visit);
        }
    }
}

/// Adds what a text tells.
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
    let kinds = (wanted.lanes, wanted.texts);
    let known = vec![false; index.channels.len()];
    let mut replay = Replay { index, sink, wanted, known, batch: Parcel::default(), result: Ok(()) };
    walk(&plan, index, kinds, lookup, &mut replay);
    replay.result?;
    replay.batch.flush(replay.sink)
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
    /// The channel of a lane and the time of a sample, once the sink knows the channel.
    #[inline]
    fn declared(&mut self, lane: Lane, time: i64) -> Option<(ChannelId, Time)> {
        let (id, time) = self.wanted.admits(lane, time)?;
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
        let lanes = found.lanes & self.wanted.lanes;
        let values = Values::new(found.record, found.power);
        for lane in Lane::of(lanes) {
            if let (Some((id, time)), Some(value)) = (self.declared(lane, found.time), values.value(lane)) {
                self.batch.push(id, time, value);
            }
        }
        self.settle();
    }

    fn said(&mut self, told: Told<'a>) {
        if let Some((id, time)) = self.declared(told.lane, told.time) {
            push_said(&mut self.batch, id, time, &told.said, event_of(self.index));
        }
        self.settle();
    }

    fn is_done(&self) -> bool {
        self.result.is_err()
    }
}

/// Collects columns, by lanes or by channels.
pub(crate) struct Columner<'e> {
    pub(crate) builder: ColumnBuilder,
    pub(crate) event: Option<&'e str>,
    scratch: Vec<u8>,
}

impl<'e> Columner<'e> {
    pub(crate) fn new(prepare: fn(&mut [u8]), event: Option<&'e str>) -> Self {
        Self { builder: ColumnBuilder::new(prepare), event, scratch: Vec::new() }
    }

    #[inline]
    pub(crate) fn put(&mut self, slot: u32, time: i64, value: &Value<'_>) {
        match value {
            Value::Double(x) => self.builder.record(slot, time, &x.to_le_bytes()),
            Value::Int64(n) => self.builder.record(slot, time, &n.to_le_bytes()),
            Value::Boolean(flag) => self.builder.record(slot, time, &[u8::from(*flag)]),
            Value::String(bytes) | Value::Bytes(bytes) => self.builder.record(slot, time, bytes),
            // No lane has values of other types.
            _ => {}
        }
    }

    pub(crate) fn put_said(&mut self, slot: u32, time: i64, said: &Said<'_>) {
        if let Some(value) = said.value() {
            return self.put(slot, time, &value);
        }
        self.scratch.clear();
        said.emit(self.event, &mut self.scratch);
        self.builder.record(slot, time, &self.scratch);
    }
}

/// What is wanted as flat buffers. See [`logpose_core::FileDialect::scan`].
pub(crate) fn scan(log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
    let plan = Plan::new(log)?;
    let channels: Vec<Channel> = index.channels.iter().map(|c| c.channel.clone()).collect();
    let wanted = Wanted::new(index, lookup);
    let mut scan = Scan { columns: Columner::new(prepare, event_of(index)), wanted };
    for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
        scan.columns.builder.declare(id, &found.channel.type_name);
        if lookup.within.is_none() && lookup.start.is_none() && lookup.end.is_none() {
            scan.columns.builder.expect(id, found.samples);
        }
    }
    let kinds = (scan.wanted.lanes, scan.wanted.texts);
    walk(&plan, index, kinds, lookup, &mut scan);
    let fates: Vec<Fate> = (0..).zip(&channels).map(|(id, _)| Fate::Started(id)).collect();
    Ok(scan.columns.builder.columns(channels, &fates, Layout::Little).0)
}

struct Scan<'i> {
    columns: Columner<'i>,
    wanted: Wanted<'i>,
}

impl<'a> Visit<'a> for Scan<'_> {
    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        let values = Values::new(found.record, found.power);
        for lane in Lane::of(found.lanes & self.wanted.lanes) {
            if let (Some((id, time)), Some(value)) = (self.wanted.admits(lane, found.time), values.value(lane)) {
                self.columns.put(id, time.nanos(), &value);
            }
        }
    }

    fn said(&mut self, told: Told<'a>) {
        if let Some((id, time)) = self.wanted.admits(told.lane, told.time) {
            self.columns.put_said(id, time.nanos(), &told.said);
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
    let kinds = (wanted.lanes, wanted.texts);
    let mut places = Places { wanted, batch: Vec::new(), take, result: Ok(()) };
    walk(&plan, index, kinds, lookup, &mut places);
    places.result?;
    (places.take)(&places.batch)
}

struct Places<'i, 't> {
    wanted: Wanted<'i>,
    batch: Vec<Row>,
    take: &'t mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    result: Result<(), SinkError>,
}

impl Places<'_, '_> {
    #[inline]
    fn push(&mut self, lane: Lane, at: u64, time: i64) {
        if let Some((channel, time)) = self.wanted.admits(lane, time) {
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
        for lane in Lane::of(found.lanes & self.wanted.lanes) {
            self.push(lane, found.at, found.time);
        }
        self.settle();
    }

    fn said(&mut self, told: Told<'a>) {
        self.push(told.lane, told.at, told.time);
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
    out.extend(at.iter().map(|at| clock.time(*at)));
    Ok(())
}

/// Gives the samples of some places to `take`. See [`logpose_core::FileDialect::samples`].
pub(crate) fn samples(log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
    let plan = Plan::new(log)?;
    let clock = Clock::new(&plan, index);
    let mut lanes: Vec<Option<Lane>> = vec![None; index.channels.len()];
    let mut batch = Parcel::default();
    let mut last: Option<(u64, Values<'_>)> = None;
    for row in rows {
        let Some(known) = lanes.get_mut(row.channel as usize) else { continue };
        if known.is_none() {
            let found = index.channels.get(row.channel as usize);
            *known = found.and_then(|found| Lane::of_name(&found.channel.name));
        }
        let Some(lane) = *known else { continue };
        if let Some(file) = plan.log.filter(|file| file.contains(row.at)) {
            // The samples of one record are mostly asked for together.
            if last.as_ref().is_none_or(|(at, _)| *at != row.at) {
                let mut cur = Cursor::new(plan.slice(place(row.at), file.to), row.at);
                let record = Record::parse(&mut cur, file.header.version).map_err(DecodeError::from)?;
                last = Some((row.at, Values::new(&record, record.power())));
            }
            if let Some(value) = last.as_ref().and_then(|(_, values)| values.value(lane)) {
                batch.push(row.channel, row.time, value);
            }
        } else if let Some(file) = plan.events.filter(|file| file.contains(row.at)) {
            let said = clock.rest_of_text(&file, row.at).and_then(|rest| told_at(lane, rest));
            if let Some(said) = said {
                push_said(&mut batch, row.channel, row.time, &said, event_of(index));
            }
        } else {
            let message = "the index names a record here, and there is none".to_owned();
            return Err(DecodeError { dialect: "dslog", code: "bad-index", at: row.at, message, help: None }.into());
        }
    }
    batch.take(take)
}
