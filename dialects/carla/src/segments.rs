//! Walks over segments of a recording, in parallel if there are threads. The joined result is that of a single walk.

use std::collections::HashSet;

use logpose_core::{
    Channel, Cursor, DecodeError, Fate, IndexBuilder, Mark, Problem, Problems, ReadOptions, Severity, SlotId, Span,
    Time,
};

use crate::model::{Key, Topic};
use crate::reader::Reader;
use crate::recover::{SEAM, find, salvage};
use crate::schema::Struct;
use crate::walk::{Found, Known, Layout, NONE, Slots, Stop, Visit, Walk, follow, layout_of, place};
use crate::wire::{ActorType, EventAdd, FrameStart, Header, PACKET_HEADER, Packet, Record, WireFormat};

/// A recording is split for two threads only if each has at least this much to do.
pub(crate) const MIN_SEGMENT: usize = 2 << 20;
/// Bytes between two places where a walk may begin later.
const STEP: usize = 1 << 20;
/// Bytes in which a frame must begin, for a segment to begin there.
const SEARCH: usize = 64 << 20;

/// What a walk makes.
pub(crate) trait Collect: Visit + Send + Sized {
    /// Nothing yet.
    fn new(read: &ReadOptions<'_>) -> Self;
    /// Appends what a walk over the next segment made; `map` names this side's slot for each of the other's.
    fn join(&mut self, later: Self, map: &[Option<SlotId>]);
}

/// Collects an index.
pub(crate) struct Indexer {
    pub(crate) builder: IndexBuilder,
    pub(crate) marks: Vec<Mark>,
    /// Actors of each type, in the order of [`ActorType::ALL`].
    pub(crate) actors: [u64; 6],
    /// The first ego vehicle.
    pub(crate) hero: Option<u32>,
    /// Whether records are counted only, but for those of rare kinds.
    counting: bool,
    /// By topic the packets that held the same actors as the one before and are not counted yet.
    same: Vec<Same>,
}

/// Packets of one topic that hold records of the same actors.
#[derive(Clone, Copy, Debug, Default)]
struct Same {
    packets: u64,
    /// Where the first record of the last one stands, and when.
    at: u64,
    time: i64,
}

impl Visit for Indexer {
    fn slot(&mut self, slot: SlotId, key: &Key, _: WireFormat) {
        if key.topic.is_rare() {
            self.builder.place(slot);
        }
    }

    fn frame(&mut self, at: u64, _: &FrameStart, time: i64) {
        self.marks.push(Mark { at, time: Time::from_nanos(time) });
    }

    #[inline(always)]
    fn sample(&mut self, found: Found<'_>) {
        let Found { topic, slot, at, time, record, form } = found;
        // The text of a layout is not in the file.
        let length = if topic == Topic::Layout { 0 } else { record.len() as u64 };
        self.builder.record(slot, at, time, topic.size(record.len()), length);
        if topic == Topic::Add {
            self.add(record, form);
        }
    }

    #[inline]
    fn takes_whole(&self, topic: Topic) -> bool {
        self.counting && !topic.is_rare() && topic.has_keys()
    }

    #[inline]
    fn again(&mut self, topic: Topic, known: &[Known], at: u64, time: i64) {
        // Frames whose times step back are noted one by one.
        if self.same.get(topic as usize).is_some_and(|same| same.packets == 0 || time < same.time) {
            self.settle(topic, known);
            let mut at = at;
            for one in known {
                if one.slot != NONE {
                    self.builder.record(one.slot, at, time, topic.size(one.length as usize), one.length.into());
                }
                at += u64::from(one.length);
            }
            if let Some(same) = self.same.get_mut(topic as usize) {
                *same = Same { packets: 1, at, time };
            }
        } else if let Some(same) = self.same.get_mut(topic as usize) {
            *same = Same { packets: same.packets + 1, at, time };
        }
    }

    fn settle(&mut self, topic: Topic, known: &[Known]) {
        let Some(same) = self.same.get_mut(topic as usize).map(std::mem::take) else { return };
        // The first of them was noted when it came.
        let Some(more) = same.packets.checked_sub(1).filter(|more| *more > 0) else { return };
        let mut at = same.at;
        for one in known {
            if one.slot != NONE {
                self.builder.repeat(one.slot, more, at, same.time, one.length.into());
            }
            at += u64::from(one.length);
        }
    }
}

impl Indexer {
    #[cold]
    fn add(&mut self, record: &[u8], form: WireFormat) {
        let Ok(add) = EventAdd::parse(&mut Cursor::new(record, 0), form) else { return };
        if let Some(count) = self.actors.get_mut(usize::from(add.class().number())) {
            *count += 1;
        }
        if add.is_hero() {
            self.hero.get_or_insert(add.actor);
        }
    }

    /// How many actors of a type appear.
    pub(crate) fn count(&self, class: ActorType) -> u64 {
        self.actors.get(usize::from(class.number())).copied().unwrap_or(0)
    }
}

impl Collect for Indexer {
    fn new(read: &ReadOptions<'_>) -> Self {
        let builder = IndexBuilder::new(read.prepare);
        let builder = if read.positions { builder } else { builder.counting() };
        let same = vec![Same::default(); Topic::ALL.len()];
        Self { builder, marks: Vec::new(), actors: [0; 6], hero: None, counting: !read.positions, same }
    }

    fn join(&mut self, mut later: Self, map: &[Option<SlotId>]) {
        self.builder.join(later.builder, map);
        self.marks.append(&mut later.marks);
        self.actors.iter_mut().zip(later.actors).for_each(|(count, more)| *count += more);
        self.hero = self.hero.or(later.hero);
    }
}

/// Where the packets of a recording are and how they are written.
pub(crate) struct Plan<'a> {
    /// The header; that of a damaged recording may be made up.
    pub(crate) header: Header<'a>,
    pub(crate) form: WireFormat,
    pub(crate) spans: Vec<Span>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(log: &'a [u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Self, DecodeError> {
        if read.salvage {
            let found = salvage(log, problems)?;
            let spans = found.spans().into_iter().map(|(start, end)| Span { start, end }).collect();
            return Ok(Self { header: found.header(), form: found.wire_format(), spans });
        }
        let reader = Reader::new(log)?;
        let (header, form) = (reader.header(), reader.wire_format());
        Ok(Self { header, form, spans: vec![Span { start: header.size() as u64, end: log.len() as u64 }] })
    }

    /// The structs that the values of some channels need.
    fn schemas(&self, keys: &[Key]) -> Vec<Struct> {
        let mut schemas: Vec<Struct> = Vec::new();
        for schema in keys.iter().filter_map(|key| key.topic.schema(self.form.vectors)) {
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        schemas
    }
}

/// Where a frame begins behind another, at `from` or later.
fn seam(log: &[u8], from: usize, until: usize) -> Option<usize> {
    let bytes = log.get(from..until.min(from.saturating_add(SEARCH)).min(log.len()))?;
    // Behind the end of the frame before it, which is a packet without a body.
    find(bytes, &SEAM).map(|at| from + at + PACKET_HEADER)
}

/// What walks over a whole recording made.
pub(crate) struct Collected<C> {
    pub(crate) walk: Walk,
    pub(crate) product: C,
    pub(crate) steps: Vec<u64>,
    /// The stretches that hold whole packets.
    pub(crate) spans: Vec<Span>,
    pub(crate) schemas: Vec<Struct>,
}

impl<C> Collected<C> {
    /// The channels, those of schemas first, and what the slots are: first those of the walk, then one for each schema.
    pub(crate) fn channels(&self, plan: &Plan<'_>) -> (Vec<Channel>, Vec<Fate>) {
        let keys = &self.walk.slots.keys;
        let schemas = self.schemas.iter().map(|schema| Channel::new(schema.channel(), "structschema"));
        let channels = schemas.chain(keys.iter().map(|key| key.channel(&plan.header, plan.form))).collect();
        let first = SlotId::try_from(self.schemas.len()).unwrap_or(SlotId::MAX);
        let fates = (first..).take(keys.len()).chain((0..).take(self.schemas.len())).map(Fate::Started);
        (channels, fates.collect())
    }

    /// The slots of the schemas, with their texts.
    pub(crate) fn schema_slots(&self) -> Vec<(SlotId, &'static str)> {
        let first = SlotId::try_from(self.walk.slots.keys.len()).unwrap_or(SlotId::MAX);
        (first..).zip(self.schemas.iter().map(|schema| schema.text)).collect()
    }

    /// Where schemas stand, and when: with the first packet.
    pub(crate) fn front(&self) -> (u64, i64) {
        let start = self.spans.first().map_or(0, |span| span.start);
        let first = self.walk.first.filter(|(at, _)| *at == start);
        (start, first.and_then(|(_, start)| crate::walk::time_of(start.elapsed)).unwrap_or(0))
    }
}

/// Walks over a whole recording.
pub(crate) fn collect<C: Collect>(
    log: &[u8],
    plan: &Plan<'_>,
    read: &ReadOptions<'_>,
    split: usize,
    problems: &mut Problems,
) -> Collected<C> {
    let mut spans = plan.spans.clone();
    let mut whole = match &spans[..] {
        [span] => segments(log, (place(span.start), place(span.end)), None, plan, read, (read.threads, split)),
        _ => {
            let mut segment = Segment::new(plan, read);
            for span in &mut spans {
                segment.run(log, (place(span.start), place(span.end)), read);
                // What was searched for is whole packets, so that only the last can be damaged.
                span.end = span.end.min(segment.stop.at() as u64);
            }
            segment
        }
    };
    if let (Stop::Bad(at, error), Some(span)) = (whole.stop, spans.last_mut()) {
        let rest = log.len() - at;
        let message = format!(
            "{}; skipped the last {rest} bytes. CARLA's replayer hangs on such files: run `logpose recover` for a repaired copy",
            error.kind
        );
        whole.walk.problems.push(Problem::new(Severity::Damage, error.code(), at as u64, rest as u64, message));
        span.end = at as u64;
    } else if whole.walk.open {
        let message = "the last frame has no end. CARLA's replayer hangs on such files: run `logpose recover` for a repaired copy";
        whole.walk.problems.push(Problem::new(Severity::Damage, "frame-open", log.len() as u64, 0, message));
    }
    if whole.walk.frames == 0 {
        whole.walk.problems.push(Problem::general(Severity::Warning, "no-frames", "the recording has no frames"));
    }
    let found = std::mem::take(&mut whole.walk.problems);
    if read.salvage {
        // What is wrong with frames and packets was said by who searched for them.
        let reported: HashSet<u64> = problems.list().iter().filter_map(|problem| problem.at).collect();
        let new = |problem: &&Problem| problem.at.is_some_and(|at| !reported.contains(&at));
        found.list().iter().filter(new).cloned().for_each(|problem| problems.push(problem));
    } else {
        problems.append(found);
    }
    let schemas = if whole.walk.packets > 0 { plan.schemas(&whole.walk.slots.keys) } else { Vec::new() };
    Collected { walk: whole.walk, product: whole.product, steps: whole.steps, spans, schemas }
}

/// The result of walking one segment, and where the walk ended.
struct Segment<C> {
    walk: Walk,
    product: C,
    stop: Stop,
    steps: Vec<u64>,
}

impl<C: Collect> Segment<C> {
    fn new(plan: &Plan<'_>, read: &ReadOptions<'_>) -> Self {
        let (mut walk, mut product) = (Walk::new(plan.form, Slots::new(read.limits.channels)), C::new(read));
        walk.declare_frame(&mut product);
        Self { walk, product, stop: Stop::At(0), steps: Vec::new() }
    }

    /// Walks on, over another stretch.
    fn run(&mut self, log: &[u8], (from, until): (usize, usize), read: &ReadOptions<'_>) {
        self.stop = Stop::At(from);
        // A segment that is not the last sees the frame that the next begins with.
        let log = if read.salvage { log.get(..until).unwrap_or(log) } else { log };
        while let Stop::At(at) = self.stop
            && at < until
        {
            self.steps.push(at as u64);
            self.stop = self.walk.run(log, at, until.min(at.saturating_add(STEP)), &mut self.product);
            (read.passed)(log.get(at..self.stop.at()).unwrap_or_default());
        }
        self.walk.settle(&mut self.product);
    }

    /// Appends the next segment, if the two are what one walk would have made.
    fn join(&mut self, later: Self, before: &Layout) -> bool {
        let joins = self.walk.layout.tokens == before.tokens && self.walk.slots.has_room_for(&later.walk.slots);
        if !joins {
            return false;
        }
        let map = self.walk.slots.join(later.walk.slots);
        self.product.join(later.product, &map);
        if let (Some(last), Some((at, first))) = (self.walk.last, later.walk.first) {
            follow(last, first, at, self.walk.open, &mut self.walk.problems);
        }
        self.walk.problems.append(later.walk.problems);
        self.walk.packets += later.walk.packets;
        self.walk.frames += later.walk.frames;
        self.walk.first = self.walk.first.or(later.walk.first);
        self.walk.last = later.walk.last.or(self.walk.last);
        self.walk.open = later.walk.open;
        self.walk.layout = later.walk.layout;
        self.stop = later.stop;
        self.steps.extend(later.steps);
        true
    }
}

/// The bytes from a frame at `from` to `until`, in one segment per thread; `before` is the layout in front.
///
/// The second segment begins where frames seem to start. The guess was right if the first segment ends exactly there;
/// otherwise everything is walked again as one segment. So the result is always that of a single walk.
fn segments<C: Collect>(
    log: &[u8],
    (from, until): (usize, usize),
    before: Option<&Layout>,
    plan: &Plan<'_>,
    read: &ReadOptions<'_>,
    (threads, split): (usize, usize),
) -> Segment<C> {
    let alone = || {
        let mut segment = Segment::new(plan, read);
        segment.walk.layout = before.cloned().unwrap_or_default();
        segment.run(log, (from, until), read);
        segment
    };
    if threads < 2 || until - from < 2 * split {
        return alone();
    }
    let first = threads / 2;
    let middle = from + (until - from) / threads * first;
    let Some((middle, seam)) = boundary(log, middle, until, plan.form) else { return alone() };
    let (mut a, mut b) = (None, None);
    (read.join)(&mut || a = Some(segments::<C>(log, (from, middle), before, plan, read, (first, split))), &mut || {
        b = Some(segments::<C>(log, (middle, until), Some(&seam), plan, read, (threads - first, split)))
    });
    let (Some(mut a), Some(b)) = (a, b) else { return alone() };
    match a.stop {
        Stop::At(at) if at == middle => {
            if a.join(b, &seam) {
                a
            } else {
                alone()
            }
        }
        Stop::At(_) => alone(),
        Stop::Bad(..) => a,
    }
}

/// A place where frames seem to begin, and the layout of the stretch in front of it.
fn boundary(log: &[u8], from: usize, until: usize, form: WireFormat) -> Option<(usize, Layout)> {
    let before = seam(log, from, until)?;
    let mut cur = Cursor::new(log.get(before..until)?, before as u64);
    let mut packets = std::iter::from_fn(|| Packet::parse(&mut cur).ok());
    let next = packets.by_ref().skip(1).find(|packet| packet.id == 0 && packet.body.len() == 24)?;
    let layout = layout_of(log, Span { start: before as u64, end: next.at }, form);
    Some((place(next.at), layout))
}

/// Whether bytes could be from the middle of a recording: a frame begins behind another, and the packets behind that are
/// whole up to the next, which counts one more.
pub(crate) fn looks_headless(head: &[u8]) -> bool {
    let mut at = 0;
    while let Some(start) = seam(head, at, head.len()) {
        at = start;
        let mut cur = Cursor::new(head.get(start..).unwrap_or_default(), start as u64);
        let mut packets = std::iter::from_fn(|| Packet::parse(&mut cur).ok());
        let frame = |packet: Packet<'_>| FrameStart::parse(&mut Cursor::new(packet.body, 0)).ok();
        let first = packets.next().and_then(frame);
        let next = packets.find(|packet| packet.id == 0 && packet.body.len() == 24).and_then(frame);
        if let (Some(first), Some(next)) = (first, next)
            && first.frame.checked_add(1) == Some(next.frame)
            && (0.0..f64::MAX).contains(&first.elapsed)
            && next.elapsed >= first.elapsed
        {
            return true;
        }
    }
    false
}
