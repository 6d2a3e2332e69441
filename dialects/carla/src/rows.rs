//! Samples out of a recording whose index is known: all in their order, some by their places, or as columns.

use logpose_core::{
    ChannelId, ColumnBuilder, Columns, Cursor, DecodeError, Index, Layout, Lookup, Row, Sample, Sink, SinkError, Span,
    TakeSamples, Time, Type, Value,
};

use crate::dialect::NAME;
use crate::model::{Key, Topic, form_of, payload};
use crate::schema::Struct;
use crate::walk::{Found, Slots, Stop, Visit, Walk, layout_of, place, stretch_of, wheels_length};
use crate::wire::{Field as _, FrameStart, PACKET_HEADER, Packet, Record as _, WireFormat};

/// Samples in a batch.
const BATCH: usize = 1024;
/// Bytes of the recording in a step: a sink that wants no more ends the walk with its step.
const STEP: usize = 1 << 20;

/// How the recording of an index is written.
pub(crate) fn form_in(index: &Index) -> WireFormat {
    form_of(index.fact("vectors"), index.fact("ids")).unwrap_or_default()
}

/// Where the first packet is, with which schemas come.
fn front(index: &Index) -> u64 {
    index.spans.first().map_or(0, |span| span.start)
}

/// The channels of schemas that a lookup wants, with the time at which they come.
fn schemas<'i>(index: &'i Index, lookup: &'i Lookup) -> impl Iterator<Item = (ChannelId, Time, Struct)> + 'i {
    let time = index.marked_time(front(index));
    let front = lookup.within.is_none_or(|within| (within.start..within.end).contains(&front(index)));
    let all = (0..).zip(&index.channels).filter(move |(id, found)| front && found.samples > 0 && lookup.wants(*id));
    all.filter_map(move |(id, found)| {
        let schema = Struct::of_channel(&found.channel.name)?;
        Some((id, lookup.admits(id, time)?, schema))
    })
}

/// Walks over the wanted part of a recording, in steps; `after` is asked after each whether to go on.
fn walk<V: Visit>(
    log: &[u8],
    index: &Index,
    lookup: &Lookup,
    visit: &mut V,
    mut after: impl FnMut(&mut V) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let mut within = lookup.within.unwrap_or(Span { start: 0, end: u64::MAX });
    if index.sorted {
        // The frames of the wanted times, and no others.
        let at = |place: usize| index.marks.get(place).map_or(u64::MAX, |mark| mark.at);
        if let Some(start) = lookup.start {
            within.start = within.start.max(at(index.marks.partition_point(|mark| mark.time < start)));
        }
        if let Some(end) = lookup.end {
            within.end = within.end.min(at(index.marks.partition_point(|mark| mark.time <= end)));
        }
    }
    let form = form_in(index);
    let mut walk = Walk::at(log, index, form, within.start, Slots::of(index, lookup));
    for span in &index.spans {
        let (mut at, end) = (place(span.start.max(within.start)), place(span.end.min(within.end)));
        let log = log.get(..place(span.end).min(log.len())).unwrap_or_default();
        while at < end {
            let stop = walk.run(log, at, end.min(at.saturating_add(STEP)), visit);
            after(visit)?;
            at = match stop {
                Stop::At(next) if next > at => next,
                stop => return Err(DecodeError::stale_index(NAME, stop.at() as u64).into()),
            };
        }
    }
    Ok(())
}

/// Which topics and times are wanted.
struct Wanted {
    topics: Vec<bool>,
    start: i64,
    end: i64,
    /// Whether this frame is.
    now: bool,
}

impl Wanted {
    fn new(index: &Index, lookup: &Lookup) -> Self {
        let slots = Slots::of(index, lookup);
        let start = lookup.start.map_or(i64::MIN, Time::nanos);
        let end = lookup.end.map_or(i64::MAX, Time::nanos);
        let now = (start..=end).contains(&0);
        Self { topics: Topic::ALL.iter().map(|topic| slots.has(*topic)).collect(), start, end, now }
    }

    fn frame(&mut self, time: i64) {
        self.now = (self.start..=self.end).contains(&time);
    }

    #[inline]
    fn wants(&self, topic: Topic) -> bool {
        self.now && self.topics.get(topic as usize).copied().unwrap_or(false)
    }
}

/// Values on their way to a sink.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    /// Channel, time, type, and where the value ends in the bytes.
    rows: Vec<(ChannelId, Time, Type, usize)>,
    scratch: Vec<u8>,
}

impl Batch {
    #[inline]
    pub(crate) fn push(&mut self, channel: ChannelId, time: Time, ty: Type, payload: &[u8]) {
        self.bytes.extend_from_slice(payload);
        self.rows.push((channel, time, ty, self.bytes.len()));
    }

    #[inline]
    pub(crate) fn push_record(&mut self, channel: ChannelId, time: Time, ty: Type, found: &Found<'_>) {
        let payload = payload(found.topic, found.record, found.form, &mut self.scratch);
        self.bytes.extend_from_slice(payload);
        self.rows.push((channel, time, ty, self.bytes.len()));
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows.len() >= BATCH
    }

    /// Gives everything away in one call.
    fn take(&mut self, take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let mut samples = Vec::with_capacity(self.rows.len());
        let mut start = 0;
        for (channel, time, ty, end) in self.rows.drain(..) {
            let payload = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            if let Ok(value) = Value::parse(ty, payload, Layout::Little) {
                samples.push(Sample { channel, time, value });
            }
        }
        let end = take(&samples);
        self.bytes.clear();
        end
    }

    /// Gives everything to a sink, if there is anything.
    pub(crate) fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if self.rows.is_empty() { Ok(()) } else { self.take(&mut |samples| sink.samples(samples)) }
    }
}

/// Hands all samples that are wanted to a sink, in the order of the file.
pub(crate) fn replay(log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let start = lookup.within.map_or(0, |within| within.start);
    let mut channels: Vec<(Type, bool)> = index.channels.iter().map(|c| (c.channel.ty(), false)).collect();
    for (fate, life) in index.slots.iter().zip(&index.lives) {
        // What began before the window is known already.
        let id = fate.channel().filter(|_| life.start < start);
        if let Some((_, known)) = id.and_then(|id| channels.get_mut(id as usize)) {
            *known = true;
        }
    }
    let wanted = Wanted::new(index, lookup);
    let mut replay = Replay { index, sink, channels, wanted, batch: Batch::default(), result: Ok(()) };
    for (id, time, schema) in schemas(index, lookup) {
        replay.declare(id);
        replay.batch.push(id, time, Type::String, schema.text.as_bytes());
    }
    // It says what the recording is, so that it comes first, also where packets stand before the first frame.
    let frame = (0..)
        .zip(&index.channels)
        .find(|(_, found)| Key::parse(&found.channel.name) == Some(Key::new(Topic::Frame, 0)));
    if let Some((id, _)) = frame.filter(|(id, _)| lookup.wants(*id)) {
        replay.declare(id);
    }
    let walked = walk(log, index, lookup, &mut replay, |replay| std::mem::replace(&mut replay.result, Ok(())));
    if let Ok(()) | Err(SinkError::Source(_)) = walked {
        replay.batch.flush(replay.sink)?;
    }
    walked
}

struct Replay<'a, 's> {
    index: &'a Index,
    sink: &'s mut dyn Sink,
    /// For each channel its type, and whether the sink knows it.
    channels: Vec<(Type, bool)>,
    wanted: Wanted,
    batch: Batch,
    result: Result<(), SinkError>,
}

impl Replay<'_, '_> {
    /// The channel's type, once the sink knows the channel.
    #[inline]
    fn declare(&mut self, id: ChannelId) -> Option<Type> {
        let (ty, known) = self.channels.get_mut(id as usize)?;
        let ty = *ty;
        if !std::mem::replace(known, true) {
            let channel = &self.index.channels.get(id as usize)?.channel;
            let end = self.batch.flush(self.sink).and_then(|()| self.sink.channel(id, channel));
            self.note(end);
        }
        Some(ty)
    }

    fn note(&mut self, result: Result<(), SinkError>) {
        if self.result.is_ok() {
            self.result = result;
        }
    }
}

impl Visit for Replay<'_, '_> {
    fn frame(&mut self, _: u64, _: &FrameStart, time: i64) {
        self.wanted.frame(time);
    }

    #[inline]
    fn wants(&self, topic: Topic) -> bool {
        self.wanted.wants(topic)
    }

    #[inline]
    fn sample(&mut self, found: Found<'_>) {
        if self.result.is_err() {
            return;
        }
        let Some(ty) = self.declare(found.slot) else { return };
        self.batch.push_record(found.slot, Time::from_nanos(found.time), ty, &found);
        if self.batch.is_full() {
            let end = self.batch.flush(self.sink);
            self.note(end);
        }
    }
}

/// What is wanted as flat buffers. See [`logpose_core::FileDialect::scan`].
pub(crate) fn scan(log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
    let mut builder = ColumnBuilder::wanted(index, lookup, prepare);
    for (id, time, schema) in schemas(index, lookup) {
        builder.record(id, time.nanos(), schema.text.as_bytes());
    }
    let mut scan = Scan { builder, wanted: Wanted::new(index, lookup), scratch: Vec::new() };
    walk(log, index, lookup, &mut scan, |_| Ok(())).map_err(|error| error.into_source(NAME))?;
    scan.builder.scanned(NAME, index, lookup, Layout::Little, |rest, sink| replay(log, index, rest, sink))
}

struct Scan {
    builder: ColumnBuilder,
    wanted: Wanted,
    scratch: Vec<u8>,
}

impl Visit for Scan {
    fn frame(&mut self, _: u64, _: &FrameStart, time: i64) {
        self.wanted.frame(time);
    }

    #[inline]
    fn wants(&self, topic: Topic) -> bool {
        self.wanted.wants(topic)
    }

    #[inline(always)]
    fn sample(&mut self, found: Found<'_>) {
        let payload = payload(found.topic, found.record, found.form, &mut self.scratch);
        self.builder.record(found.slot, found.time, payload);
    }
}

/// Hands the places of all wanted samples to `take`, in the order of the file.
pub(crate) fn rows(
    log: &[u8],
    index: &Index,
    lookup: &Lookup,
    take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let at = front(index);
    let first = schemas(index, lookup).map(|(channel, time, _)| Row { time, at, channel });
    let mut places = Places { wanted: Wanted::new(index, lookup), batch: first.collect() };
    walk(log, index, lookup, &mut places, |places| {
        let end = take(&places.batch);
        places.batch.clear();
        end
    })
}

struct Places {
    wanted: Wanted,
    batch: Vec<Row>,
}

impl Visit for Places {
    fn frame(&mut self, _: u64, _: &FrameStart, time: i64) {
        self.wanted.frame(time);
    }

    #[inline]
    fn wants(&self, topic: Topic) -> bool {
        self.wanted.wants(topic)
    }

    #[inline]
    fn sample(&mut self, found: Found<'_>) {
        self.batch.push(Row { time: Time::from_nanos(found.time), at: found.at, channel: found.slot });
    }
}

/// Gives the samples of some places to `take`. See [`logpose_core::FileDialect::samples`].
pub(crate) fn samples(log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
    let form = form_in(index);
    let mut batch = Batch::default();
    let mut last: Option<(ChannelId, Source)> = None;
    for row in rows {
        let source = match &last {
            Some((channel, source)) if *channel == row.channel => *source,
            _ => {
                let source = Source::of(index, row.channel)?;
                last = Some((row.channel, source));
                source
            }
        };
        let stale = || DecodeError::stale_index(NAME, row.at);
        match source {
            Source::Schema(schema) => batch.push(row.channel, row.time, Type::String, schema.text.as_bytes()),
            // These are found by going over their frame, which is rarely asked for.
            Source::Topic(topic @ (Topic::Layout | Topic::Physics), ty) => {
                let span = stretch_of(index, row.at);
                let log = log.get(..place(span.end)).ok_or_else(stale)?;
                if topic == Topic::Layout {
                    batch.push(row.channel, row.time, ty, layout_of(log, span, form).text().as_bytes());
                } else {
                    let mut find = Find { row: *row, ty, batch: &mut batch, found: false };
                    let slots = Slots::of(index, &Lookup::default());
                    Walk::new(form, slots).run(log, place(span.start), usize::MAX, &mut find);
                    if !find.found {
                        return Err(stale().into());
                    }
                }
            }
            Source::Topic(topic, ty) => {
                let record = record_at(log, row.at, topic, form).ok_or_else(stale)?;
                let (slot, at, time) = (row.channel, row.at, row.time.nanos());
                batch.push_record(row.channel, row.time, ty, &Found { topic, slot, at, time, record, form });
            }
        }
    }
    batch.take(take)
}

/// Where the values of a channel come from.
#[derive(Clone, Copy)]
enum Source {
    Schema(Struct),
    Topic(Topic, Type),
}

impl Source {
    fn of(index: &Index, channel: ChannelId) -> Result<Self, DecodeError> {
        let found = index.channel(NAME, channel)?;
        let channel = &found.channel;
        if let Some(schema) = Struct::of_channel(&channel.name) {
            return Ok(Self::Schema(schema));
        }
        let key = Key::parse(&channel.name).ok_or_else(|| DecodeError::stale_index(NAME, front(index)))?;
        Ok(Self::Topic(key.topic, channel.ty()))
    }
}

/// Finds one record of a frame.
struct Find<'b> {
    row: Row,
    ty: Type,
    batch: &'b mut Batch,
    found: bool,
}

impl Visit for Find<'_> {
    fn wants(&self, topic: Topic) -> bool {
        topic == Topic::Physics
    }

    fn sample(&mut self, found: Found<'_>) {
        if (found.slot, found.at) == (self.row.channel, self.row.at) {
            self.found = true;
            self.batch.push_record(found.slot, self.row.time, self.ty, &found);
        }
    }
}

/// The record at a place where a walk has met one.
fn record_at(log: &[u8], at: u64, topic: Topic, form: WireFormat) -> Option<&[u8]> {
    let rest = log.get(place(at)..)?;
    let mut cur = Cursor::new(rest, at);
    let kind = match topic {
        Topic::Packet => return Some(Packet::parse(&mut cur).ok()?.body),
        topic => topic.kind()?,
    };
    if let Some(size) = kind.fixed_size() {
        return rest.get(PACKET_HEADER..PACKET_HEADER + size);
    }
    let length = match (kind.record_size(form), topic) {
        (Some(size), _) => size,
        (None, Topic::Bone) => {
            crate::wire::Bone::get(&mut cur, form, "bone").ok()?;
            place(cur.offset() - at)
        }
        (None, Topic::Wheels) => wheels_length(rest)?,
        (None, _) => {
            crate::wire::EventAdd::parse(&mut cur, form).ok()?;
            place(cur.offset() - at)
        }
    };
    rest.get(..length)
}
