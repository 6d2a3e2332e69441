//! The one loop over the packets of a recording that the index, the columns and the rows are made with.
//!
//! It goes from frame to frame: a *stretch* is a frame with all that stands before the next one. A walk can begin at any
//! frame; what it needs to know of those before is in [`Slots`] and in the layout of the stretch before.

use std::collections::HashMap;

use logpose_core::{Cursor, Index, Lookup, Mark, Problem, Problems, Severity, SlotId, Span, Time};

use crate::error::Error;
use crate::model::{Key, Topic, comes_back};
use crate::wire::{
    Body, EventAdd, FrameStart, Kind, OPEN_DURATION, PACKET_HEADER, Packet, PhysicsControl, Record, Vectors, WireFormat,
};

/// Callbacks of a walk. The calls are inlined into the loop, so that every use is a loop of its own.
pub(crate) trait Visit {
    /// A slot is met for the first time in this walk.
    fn slot(&mut self, slot: SlotId, key: &Key, form: WireFormat) {
        let _ = (slot, key, form);
    }
    /// A frame begins.
    fn frame(&mut self, at: u64, start: &FrameStart, time: i64) {
        let _ = (at, start, time);
    }
    /// Whether the records of a topic are wanted, in the frame that began last.
    #[inline]
    fn wants(&self, topic: Topic) -> bool {
        let _ = topic;
        true
    }
    /// A record that is a sample.
    fn sample(&mut self, found: Found<'_>);
    /// Whether packets of a topic that hold the same actors as the one before may be passed in one call.
    #[inline]
    fn takes_whole(&self, topic: Topic) -> bool {
        let _ = topic;
        false
    }
    /// A packet holds records of the same actors as the one before, which are `known`; its first record stands at `at`.
    fn again(&mut self, topic: Topic, known: &[Known], at: u64, time: i64) {
        let _ = (topic, known, at, time);
    }
    /// The next packet of a topic may hold others than those that are `known`.
    fn settle(&mut self, topic: Topic, known: &[Known]) {
        let _ = (topic, known);
    }
}

/// A record of the packet before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The actor or light.
    pub(crate) id: u32,
    /// Its slot; [`NONE`] where there were too many.
    pub(crate) slot: SlotId,
    /// The length of its record.
    pub(crate) length: u32,
}

/// A record that is a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'r> {
    pub(crate) topic: Topic,
    pub(crate) slot: SlotId,
    /// Its place.
    pub(crate) at: u64,
    pub(crate) time: i64,
    /// The record; of packets that hold none, the body; of layouts, the text.
    pub(crate) record: &'r [u8],
    pub(crate) form: WireFormat,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stop {
    /// It arrived at this byte, where a frame starts or its bytes end.
    At(usize),
    /// A packet is not whole.
    Bad(usize, Error),
}

impl Stop {
    /// The byte where it ended.
    pub(crate) fn at(self) -> usize {
        match self {
            Self::At(at) | Self::Bad(at, _) => at,
        }
    }
}

/// A walk over a part of a recording: what it has learned so far.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) form: WireFormat,
    pub(crate) slots: Slots,
    pub(crate) problems: Problems,
    /// Packets met.
    pub(crate) packets: u64,
    pub(crate) frames: u64,
    /// The first and the last frame, each with its place.
    pub(crate) first: Option<(u64, FrameStart)>,
    pub(crate) last: Option<FrameStart>,
    /// Whether a frame has begun and not ended.
    pub(crate) open: bool,
    /// The layout of the stretch before.
    pub(crate) layout: Layout,
    stretch: Layout,
    time: i64,
    /// Where the last packet began.
    packet: u64,
}

impl Walk {
    /// A walk that knows these slots.
    pub(crate) fn new(form: WireFormat, slots: Slots) -> Self {
        Self {
            form,
            slots,
            problems: Problems::default(),
            packets: 0,
            frames: 0,
            first: None,
            last: None,
            open: false,
            layout: Layout::default(),
            stretch: Layout::default(),
            time: 0,
            packet: 0,
        }
    }

    /// A walk that begins at `at` and knows all that one from the front would know there.
    pub(crate) fn at(log: &[u8], index: &Index, form: WireFormat, at: u64, slots: Slots) -> Self {
        let mut walk = Self::new(form, slots);
        walk.layout = layout_before(log, index, form, at);
        walk
    }

    /// Walks from the packet at `from`, which begins a stretch, until one begins at `until` or behind it. `log` ends
    /// where the packets do.
    pub(crate) fn run<V: Visit>(&mut self, log: &[u8], from: usize, until: usize, visit: &mut V) -> Stop {
        let mut cur = Cursor::new(log.get(from..).unwrap_or_default(), from as u64);
        let stop = loop {
            let at = place(cur.offset());
            if cur.is_empty() {
                break Stop::At(at);
            }
            let packet = match Packet::parse(&mut cur) {
                Ok(packet) => packet,
                Err(error) => break Stop::Bad(at, error),
            };
            if packet.id == 0 {
                self.end_stretch(visit);
                if at >= until {
                    return Stop::At(at);
                }
            }
            if let Err(error) = self.packet(&packet, visit) {
                break Stop::Bad(at, error);
            }
        };
        self.end_stretch(visit);
        stop
    }

    /// Makes the channel of frames, which says what the recording is.
    pub(crate) fn declare_frame<V: Visit>(&mut self, visit: &mut V) {
        self.slot(Topic::Frame, 0, visit);
    }

    /// Takes one packet.
    pub(crate) fn packet<V: Visit>(&mut self, packet: &Packet<'_>, visit: &mut V) -> Result<(), Error> {
        let kind = packet.checked_kind(self.form)?;
        self.packets += 1;
        self.packet = packet.at;
        if !self.open && kind != Some(Kind::FrameStart) {
            let text = match kind {
                Some(Kind::FrameEnd) => "end of a frame without a start".to_owned(),
                _ => format!("packet {} is outside a frame; kept", packet.id),
            };
            self.odd(Severity::Damage, "frame-order", packet, text);
        }
        let Some(kind) = kind else {
            self.keep(packet, visit);
            return Ok(());
        };
        match kind {
            Kind::FrameStart => self.start(packet, visit)?,
            Kind::FrameEnd => {
                self.open = false;
                self.stretch.push(packet.id, false, None);
            }
            _ => self.records(kind, packet, visit),
        }
        Ok(())
    }

    fn start<V: Visit>(&mut self, packet: &Packet<'_>, visit: &mut V) -> Result<(), Error> {
        let start = FrameStart::parse(&mut Cursor::new(packet.body, packet.at + PACKET_HEADER as u64))?;
        match self.last {
            Some(before) => follow(before, start, packet.at, self.open, &mut self.problems),
            None => self.first = Some((packet.at, start)),
        }
        let time = time_of(start.elapsed);
        if time.is_none() {
            let message = format!("the frame starts at the invalid time {} s", start.elapsed);
            self.problems.push(Problem::new(Severity::Damage, "bad-time", packet.at, 0, message));
        }
        self.time = time.unwrap_or(0);
        self.last = Some(start);
        self.open = true;
        self.frames += 1;
        visit.frame(packet.at, &start, self.time);
        self.whole(Topic::Frame, packet, visit);
        Ok(())
    }

    /// Notes the layout of the stretch that ends here, if it is another than that of the one before. What comes next
    /// begins another stretch.
    pub(crate) fn end_stretch<V: Visit>(&mut self, visit: &mut V) {
        if self.stretch.tokens.is_empty() {
            return;
        }
        self.stretch.settle();
        if self.stretch.tokens != self.layout.tokens
            && visit.wants(Topic::Layout)
            && let Some(slot) = self.slot(Topic::Layout, 0, visit)
        {
            let text = self.stretch.text();
            let (topic, at, time, form) = (Topic::Layout, self.packet, self.time, self.form);
            visit.sample(Found { topic, slot, at, time, record: text.as_bytes(), form });
        }
        std::mem::swap(&mut self.stretch, &mut self.layout);
        self.stretch.clear();
    }

    /// A packet that is one sample.
    fn whole<V: Visit>(&mut self, topic: Topic, packet: &Packet<'_>, visit: &mut V) {
        self.stretch.push(packet.id, false, None);
        self.one(topic, 0, packet, visit);
    }

    /// A packet that is kept as it is.
    fn keep<V: Visit>(&mut self, packet: &Packet<'_>, visit: &mut V) {
        self.stretch.push(packet.id, true, None);
        self.one(Topic::Packet, packet.id.into(), packet, visit);
    }

    #[inline]
    fn one<V: Visit>(&mut self, topic: Topic, id: u32, packet: &Packet<'_>, visit: &mut V) {
        if visit.wants(topic)
            && let Some(slot) = self.slot(topic, id, visit)
        {
            let (at, time, form) = (packet.at, self.time, self.form);
            visit.sample(Found { topic, slot, at, time, record: packet.body, form });
        }
    }

    fn slot<V: Visit>(&mut self, topic: Topic, id: u32, visit: &mut V) -> Option<SlotId> {
        match self.slots.find(topic, id) {
            Some(slot) => Some(slot),
            None => self.add(Key::new(topic, id), visit),
        }
    }

    #[cold]
    fn add<V: Visit>(&mut self, key: Key, visit: &mut V) -> Option<SlotId> {
        let slot = self.slots.add(key.clone());
        match slot {
            Some(slot) => visit.slot(slot, &key, self.form),
            None if self.slots.is_open => {
                let message = format!("too many channels; skipped {}", key.name());
                self.problems.push(Problem::new(Severity::Damage, "too-many-channels", self.packet, 0, message));
            }
            None => {}
        }
        slot
    }

    /// A packet that is not a frame's begin or end.
    fn records<V: Visit>(&mut self, kind: Kind, packet: &Packet<'_>, visit: &mut V) {
        let Some(topic) = Topic::of(kind) else { return };
        if kind.fixed_size().is_some() {
            return self.whole(topic, packet, visit);
        }
        let total = packet.total();
        if total > 0 && visit.takes_whole(topic) && self.again(kind, topic, packet, visit) {
            return;
        }
        if let Err(unsupported) = check_packet(kind, packet, self.form) {
            let (severity, code, why) = match unsupported {
                Unsupported::Misfit(why) => (Severity::Damage, "packet-size", why),
                Unsupported::Odd(why) => (Severity::Warning, "odd-packet", why),
            };
            let text = format!("packet {} ({}) {why}; kept as bytes", packet.id, kind.name());
            self.odd(severity, code, packet, text);
            return self.keep(packet, visit);
        }
        if kind == Kind::WalkerBones && self.stretch.count(packet.id) > 0 {
            // Where the records of the first end and those of this one begin could not be determined.
            return self.keep(packet, visit);
        }
        self.stretch.push(packet.id, false, Some(total));
        if total == 0 || !visit.wants(topic) {
            return;
        }
        let body = packet.body.get(2..).unwrap_or_default();
        let at = packet.at + PACKET_HEADER as u64 + 2;
        match kind.record_size(self.form) {
            Some(size) => self.fixed(topic, body, size, at, visit),
            None => match topic {
                Topic::Bone => self.bones(body, at, visit),
                _ => self.variable(topic, packet, visit),
            },
        }
    }

    /// Tells a packet in one call, if it holds records of the same actors and lengths as the one before.
    #[inline]
    fn again<V: Visit>(&mut self, kind: Kind, topic: Topic, packet: &Packet<'_>, visit: &mut V) -> bool {
        let known = self.slots.recent(topic);
        let body = packet.body.get(2..).unwrap_or_default();
        let same = known.len() == usize::from(packet.total())
            && match (kind.record_size(self.form), topic) {
                (Some(size), _) => same_ids(known, body, size) && comes_back_from_metres(kind, body, size, self.form),
                (None, Topic::Wheels) => same_wheels(known, body),
                (None, _) => false,
            };
        if same {
            self.stretch.push(packet.id, false, Some(packet.total()));
            visit.again(topic, known, packet.at + PACKET_HEADER as u64 + 2, self.time);
        } else {
            visit.settle(topic, known);
        }
        same
    }

    /// Ends a run of packets that were passed in one call.
    pub(crate) fn settle<V: Visit>(&self, visit: &mut V) {
        Topic::ALL.iter().for_each(|topic| visit.settle(*topic, self.slots.recent(*topic)));
    }

    /// Records of one size. In most packets they are those of the packet before, in the same order.
    #[inline]
    fn fixed<V: Visit>(&mut self, topic: Topic, body: &[u8], size: usize, at: u64, visit: &mut V) {
        let (time, form) = (self.time, self.form);
        if !topic.has_keys() {
            let Some(slot) = self.slot(topic, 0, visit) else { return };
            for (record, at) in body.chunks_exact(size).zip((at..).step_by(size)) {
                visit.sample(Found { topic, slot, at, time, record, form });
            }
            return;
        }
        let mut recent = self.slots.take_recent(topic);
        let mut known = recent.iter();
        let mut rest = body;
        let mut at = at;
        let mut place = 0;
        // As long as the actors are those of the packet before.
        while let Some((record, behind)) = rest.split_at_checked(size)
            && let Some(id) = record.first_chunk()
            && let Some(known) = known.next()
            && known.id == u32::from_le_bytes(*id)
        {
            if known.slot != NONE {
                visit.sample(Found { topic, slot: known.slot, at, time, record, form });
            }
            rest = behind;
            at += size as u64;
            place += 1;
        }
        recent.truncate(place);
        for record in rest.chunks_exact(size) {
            let id = record.first_chunk().map_or(0, |id| u32::from_le_bytes(*id));
            let slot = self.slot(topic, id, visit);
            recent.push(Known { id, slot: slot.unwrap_or(NONE), length: u32::try_from(size).unwrap_or(u32::MAX) });
            if let Some(slot) = slot {
                visit.sample(Found { topic, slot, at, time, record, form });
            }
            at += size as u64;
        }
        self.slots.put_recent(topic, recent);
    }

    /// Records that contain their own length.
    fn variable<V: Visit>(&mut self, topic: Topic, packet: &Packet<'_>, visit: &mut V) {
        let time = self.time;
        // Of physics there are several bodies.
        let mut form = self.form;
        if topic == Topic::Physics
            && let Ok(Body::PhysicsControl(records)) = packet.decode(form)
        {
            form = records.wire_format();
        }
        let mut recent = self.slots.take_recent(topic);
        let (mut rest, mut at) = (packet.body.get(2..).unwrap_or_default(), packet.at + PACKET_HEADER as u64 + 2);
        for place in 0..usize::from(packet.total()) {
            let length = match topic {
                Topic::Wheels => wheels_length(rest),
                Topic::Add => length::<EventAdd<'_>>(rest, form),
                _ => length::<PhysicsControl>(rest, form),
            };
            let Some((record, behind)) = length.and_then(|length| rest.split_at_checked(length)) else { break };
            let id = if topic.has_keys() { record.first_chunk().map_or(0, |id| u32::from_le_bytes(*id)) } else { 0 };
            let length = u32::try_from(record.len()).unwrap_or(u32::MAX);
            let slot = match recent.get_mut(place) {
                Some(known) if known.id == id => {
                    known.length = length;
                    known.slot
                }
                _ => {
                    let slot = self.slot(topic, id, visit).unwrap_or(NONE);
                    recent.truncate(place);
                    recent.push(Known { id, slot, length });
                    slot
                }
            };
            if slot != NONE {
                visit.sample(Found { topic, slot, at, time, record, form });
            }
            rest = behind;
            at += record.len() as u64;
        }
        recent.truncate(packet.total().into());
        self.slots.put_recent(topic, recent);
    }

    /// The bones of all walkers, each a sample of its own.
    fn bones<V: Visit>(&mut self, body: &[u8], at: u64, visit: &mut V) {
        let (time, form) = (self.time, self.form);
        let mut recent = std::mem::take(&mut self.slots.recent_bones);
        let mut next = 0;
        for_each_bone(body, form, |actor, name, offset, record| {
            let same = |slot: &SlotId| self.slots.bone_is(*slot, actor, name);
            let slot = match recent.get(next).copied().filter(same) {
                Some(slot) => slot,
                None => {
                    let found = self.slots.find_bone(actor, name);
                    let slot = found.or_else(|| {
                        let bone = str::from_utf8(name).unwrap_or_default().into();
                        self.add(Key { topic: Topic::Bone, id: actor, bone }, visit)
                    });
                    let slot = slot.unwrap_or(NONE);
                    recent.truncate(next);
                    recent.push(slot);
                    slot
                }
            };
            next += 1;
            if slot != NONE {
                visit.sample(Found { topic: Topic::Bone, slot, at: at + offset as u64, time, record, form });
            }
        });
        self.slots.recent_bones = recent;
    }

    #[cold]
    fn odd(&mut self, severity: Severity, code: &'static str, packet: &Packet<'_>, message: String) {
        let length = (PACKET_HEADER + packet.body.len()) as u64;
        self.problems.push(Problem::new(severity, code, packet.at, length, message));
    }
}

/// A slot that stands for none: there were too many.
pub(crate) const NONE: SlotId = SlotId::MAX;

/// A moment of a recording in nanoseconds; `None` if it cannot be said.
pub(crate) fn time_of(elapsed: f64) -> Option<i64> {
    Time::from_seconds(elapsed).map(Time::nanos)
}

/// An offset as an index into the recording's bytes.
pub(crate) fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// Says what is odd about a frame that follows another.
pub(crate) fn follow(before: FrameStart, next: FrameStart, at: u64, open: bool, problems: &mut Problems) {
    let mut odd = |severity, code, message| problems.push(Problem::new(severity, code, at, 0, message));
    if open {
        let message = format!("frame {} starts before frame {} ends", next.frame, before.frame);
        odd(Severity::Damage, "frame-order", message);
    }
    if before.frame.checked_add(1) != Some(next.frame) {
        let message = format!("frame {} follows frame {}", next.frame, before.frame);
        let missing = next.frame > before.frame;
        odd(if missing { Severity::Damage } else { Severity::Warning }, "frame-ids", message);
    }
    if next.elapsed < before.elapsed {
        let message =
            format!("frame {} starts {} s before the previous one", next.frame, before.elapsed - next.elapsed);
        odd(Severity::Warning, "time-steps-back", message);
    } else if before.duration == OPEN_DURATION && next.elapsed > before.elapsed {
        let message = format!("frame {} has no duration, although frame {} follows", before.frame, next.frame);
        odd(Severity::Note, "frame-duration", message);
    } else if (before.elapsed + before.duration - next.elapsed).abs() > 1e-3 {
        let message = format!(
            "frame {} lasts {} s, but the next one starts {} s later",
            before.frame,
            before.duration,
            next.elapsed - before.elapsed
        );
        odd(Severity::Note, "frame-duration", message);
    }
}

/// Why the model cannot represent the records of a packet.
enum Unsupported {
    /// They do not fill it: CARLA itself would lose its place.
    Misfit(String),
    /// The model has no words for them.
    Odd(String),
}

/// Checks that the model can represent the records of a packet.
fn check_packet(kind: Kind, packet: &Packet<'_>, form: WireFormat) -> Result<(), Unsupported> {
    let (total, size) = (packet.total(), packet.body.len());
    let body = packet.body.get(2..).unwrap_or_default();
    if let Some(each) = kind.record_size(form) {
        if body.len() != each * usize::from(total) {
            let used = 2 + each * usize::from(total);
            return Err(Unsupported::Misfit(format!("has {size} bytes, its {total} records take {used}")));
        }
        if !comes_back_from_metres(kind, body, each, form) {
            return Err(Unsupported::Odd("has coordinates close to zero".to_owned()));
        }
        return Ok(());
    }
    let fits = match kind {
        Kind::VehicleWheels => {
            let mut rest = Some(body);
            for _ in 0..total {
                rest = rest.and_then(|rest| rest.get(wheels_length(rest)?..));
            }
            rest == Some(&[])
        }
        Kind::WalkerBones => bones_fit(total, body, form).map_err(Unsupported::Odd)?,
        _ => packet.decode(form).is_ok(),
    };
    let misfit = || Unsupported::Misfit(format!("has {size} bytes, which do not match its {total} records"));
    if fits { Ok(()) } else { Err(misfit()) }
}

/// Whether all coordinates of a packet come back from metres; those of binary32 do.
#[inline]
fn comes_back_from_metres(kind: Kind, body: &[u8], size: usize, form: WireFormat) -> bool {
    let vectors = match kind {
        Kind::Position => 1,
        Kind::BoundingBox | Kind::TriggerVolume => 2,
        _ => 0,
    };
    form.vectors == Vectors::F32
        || vectors == 0
        || body.chunks_exact(size).all(|record| come_back(record.get(4..).unwrap_or_default(), vectors))
}

/// Whether records of one size are those of the same actors as before.
#[inline]
fn same_ids(known: &[Known], body: &[u8], size: usize) -> bool {
    let id = |record: &[u8]| record.first_chunk().map(|id| u32::from_le_bytes(*id));
    body.len() == known.len() * size
        && body.chunks_exact(size).zip(known).all(|(record, known)| id(record) == Some(known.id))
}

/// Whether records of wheels are those of the same vehicles as before, each with as many wheels.
#[inline]
fn same_wheels(known: &[Known], body: &[u8]) -> bool {
    let mut rest = body;
    for known in known {
        let Some((record, behind)) = rest.split_at_checked(known.length as usize) else { return false };
        let Some((id, count)) = record.split_first_chunk() else { return false };
        let Some(count) = count.first_chunk() else { return false };
        let length = u64::from(u32::from_le_bytes(*count)) * 9 + 8;
        if u32::from_le_bytes(*id) != known.id || length != u64::from(known.length) {
            return false;
        }
        rest = behind;
    }
    rest.is_empty()
}

/// Whether the centimetres of so many vectors come back from metres.
fn come_back(bytes: &[u8], vectors: usize) -> bool {
    bytes.as_chunks().0.iter().take(3 * vectors).all(|bytes| comes_back(f64::from_le_bytes(*bytes)))
}

/// The length of the record of wheels at the front.
pub(crate) fn wheels_length(record: &[u8]) -> Option<usize> {
    let count = u32::from_le_bytes(*record.get(4..)?.first_chunk()?);
    usize::try_from(count).ok()?.checked_mul(9)?.checked_add(8).filter(|length| *length <= record.len())
}

/// The length of the record at the front, by reading it.
fn length<'a, R: Record<'a>>(rest: &'a [u8], form: WireFormat) -> Option<usize> {
    let mut cur = Cursor::new(rest, 0);
    R::parse(&mut cur, form).ok()?;
    Some(place(cur.offset()))
}

/// Whether the model can represent bones: every walker has some, no two records in a row are of one walker, names are
/// text.
fn bones_fit(total: u16, body: &[u8], form: WireFormat) -> Result<bool, String> {
    let mut walkers = 0_u32;
    let (mut bones, mut before, mut text, mut near) = (0_u64, None, true, false);
    let (mut rest, mut expected) = (body, 0_u64);
    for _ in 0..total {
        let Some((actor, count, behind)) = walker(rest) else { return Ok(false) };
        if count == 0 {
            return Err("has a walker without bones".to_owned());
        }
        if before == Some(actor) {
            return Err("has two records of one walker".to_owned());
        }
        before = Some(actor);
        walkers += 1;
        expected += u64::from(count);
        rest = behind;
        for _ in 0..count {
            let Some((name, pose, behind)) = bone(rest, form) else { return Ok(false) };
            text &= str::from_utf8(name).is_ok();
            near |= form.vectors == Vectors::F64 && !come_back(pose, 1);
            bones += 1;
            rest = behind;
        }
    }
    if !text {
        return Err("has bone names that are not UTF-8".to_owned());
    }
    if near {
        return Err("has coordinates close to zero".to_owned());
    }
    Ok(rest.is_empty() && walkers == u32::from(total) && bones == expected)
}

/// The actor of a walker's record, how many bones it has, and what is behind.
fn walker(rest: &[u8]) -> Option<(u32, u16, &[u8])> {
    let (actor, rest) = rest.split_first_chunk()?;
    let (count, rest) = rest.split_first_chunk()?;
    Some((u32::from_le_bytes(*actor), u16::from_le_bytes(*count), rest))
}

/// A bone's name and pose, and what is behind.
fn bone(rest: &[u8], form: WireFormat) -> Option<(&[u8], &[u8], &[u8])> {
    let (length, rest) = rest.split_first_chunk()?;
    let (name, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
    let (pose, rest) = rest.split_at_checked(if form.vectors == Vectors::F64 { 48 } else { 24 })?;
    Some((name, pose, rest))
}

/// Goes over the bones of a packet that was checked: actor, name, offset in the body, and the bone.
fn for_each_bone(body: &[u8], form: WireFormat, mut each: impl FnMut(u32, &[u8], usize, &[u8])) {
    let mut rest = body;
    while let Some((actor, count, behind)) = walker(rest) {
        rest = behind;
        for _ in 0..count {
            let Some((name, pose, behind)) = bone(rest, form) else { return };
            let record = rest.get(..2 + name.len() + pose.len()).unwrap_or_default();
            each(actor, name, body.len() - rest.len(), record);
            rest = behind;
        }
    }
}

/// Which slot a topic and an actor mean.
#[derive(Debug)]
pub(crate) struct Slots {
    /// The keys, by slot; empty for slots that are the channels of an index.
    pub(crate) keys: Vec<Key>,
    ids: HashMap<(Topic, u32), SlotId>,
    bones: HashMap<u32, HashMap<Box<str>, SlotId>>,
    /// Which topics have any, but for that of bones.
    topics: Vec<bool>,
    /// By topic the actors of the packet before, with their slots.
    recent: Vec<Vec<Known>>,
    recent_bones: Vec<SlotId>,
    /// The bones, by slot.
    names: Vec<(u32, Box<str>)>,
    limit: u32,
    /// Whether there may be new ones.
    is_open: bool,
}

impl Slots {
    /// No slot yet, and at most `limit` ever.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            keys: Vec::new(),
            ids: HashMap::new(),
            bones: HashMap::new(),
            topics: vec![false; Topic::ALL.len()],
            recent: Topic::ALL.iter().map(|_| Vec::new()).collect(),
            recent_bones: Vec::new(),
            names: Vec::new(),
            limit,
            is_open: true,
        }
    }

    /// The slots are those channels of an index that are wanted.
    pub(crate) fn of(index: &Index, lookup: &Lookup) -> Self {
        let mut slots = Self::none();
        for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            if let Some(key) = Key::parse(&found.channel.name) {
                slots.bind(key, id);
            }
        }
        slots
    }

    /// No slot, now and ever.
    fn none() -> Self {
        Self { is_open: false, ..Self::new(0) }
    }

    /// Whether a topic has any.
    pub(crate) fn has(&self, topic: Topic) -> bool {
        match topic {
            Topic::Bone => !self.bones.is_empty(),
            _ => self.topics.get(topic as usize).copied().unwrap_or(false),
        }
    }

    pub(crate) fn find(&self, topic: Topic, id: u32) -> Option<SlotId> {
        self.ids.get(&(topic, id)).copied()
    }

    pub(crate) fn add(&mut self, key: Key) -> Option<SlotId> {
        let next = SlotId::try_from(self.keys.len()).ok().filter(|next| self.is_open && *next < self.limit)?;
        self.keys.push(key.clone());
        self.bind(key, next);
        Some(next)
    }

    fn bind(&mut self, key: Key, slot: SlotId) {
        if key.topic == Topic::Bone {
            self.bones.entry(key.id).or_default().insert(key.bone.clone(), slot);
            let place = slot as usize;
            if self.names.len() <= place {
                self.names.resize_with(place + 1, Default::default);
            }
            if let Some(name) = self.names.get_mut(place) {
                *name = (key.id, key.bone);
            }
        } else {
            if let Some(topic) = self.topics.get_mut(key.topic as usize) {
                *topic = true;
            }
            self.ids.insert((key.topic, key.id), slot);
        }
    }

    fn find_bone(&self, actor: u32, name: &[u8]) -> Option<SlotId> {
        self.bones.get(&actor)?.get(str::from_utf8(name).ok()?).copied()
    }

    fn bone_is(&self, slot: SlotId, actor: u32, name: &[u8]) -> bool {
        self.names.get(slot as usize).is_some_and(|(a, bone)| *a == actor && bone.as_bytes() == name)
    }

    fn recent(&self, topic: Topic) -> &[Known] {
        self.recent.get(topic as usize).map_or(&[], |recent| recent)
    }

    fn take_recent(&mut self, topic: Topic) -> Vec<Known> {
        self.recent.get_mut(topic as usize).map(std::mem::take).unwrap_or_default()
    }

    fn put_recent(&mut self, topic: Topic, recent: Vec<Known>) {
        if let Some(place) = self.recent.get_mut(topic as usize) {
            *place = recent;
        }
    }

    /// Appends the slots of a later part; returns this side's slot for each of the other's.
    pub(crate) fn join(&mut self, later: Self) -> Vec<Option<SlotId>> {
        let own = |slots: &mut Self, key: Key| {
            let known = match key.topic {
                Topic::Bone => slots.find_bone(key.id, key.bone.as_bytes()),
                _ => slots.find(key.topic, key.id),
            };
            known.or_else(|| slots.add(key))
        };
        later.keys.into_iter().map(|key| own(self, key)).collect()
    }

    /// Whether all slots of a later part find room here.
    pub(crate) fn has_room_for(&self, later: &Self) -> bool {
        self.keys.len() + later.keys.len() <= self.limit as usize
    }
}

/// The packets of a stretch, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) tokens: Vec<Token>,
    /// How many packets of records have each id.
    counts: [u32; 256],
}

impl Default for Layout {
    fn default() -> Self {
        Self { tokens: Vec::new(), counts: [0; 256] }
    }
}

/// One packet of a stretch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Token {
    pub(crate) id: u8,
    /// Whether it is kept as it is.
    pub(crate) raw: bool,
    /// How many records it has, where that must be stored.
    pub(crate) records: Option<u16>,
}

impl Layout {
    fn push(&mut self, id: u8, raw: bool, records: Option<u16>) {
        if let (Some(_), Some(count)) = (records, self.counts.get_mut(usize::from(id))) {
            *count += 1;
        }
        self.tokens.push(Token { id, raw, records });
    }

    fn count(&self, id: u8) -> u32 {
        self.counts.get(usize::from(id)).copied().unwrap_or(0)
    }

    /// Forgets how many records a packet has if it is the only one of its kind.
    fn settle(&mut self) {
        let mut tokens = std::mem::take(&mut self.tokens);
        tokens.iter_mut().filter(|token| self.count(token.id) == 1).for_each(|token| token.records = None);
        self.tokens = tokens;
    }

    fn clear(&mut self) {
        for token in self.tokens.drain(..) {
            if let Some(count) = self.counts.get_mut(usize::from(token.id)) {
                *count = 0;
            }
        }
    }

    /// The layout in words.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.tokens.len() * 3);
        for token in &self.tokens {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&token.id.to_string());
            if token.raw {
                text.push('!');
            }
            if let Some(records) = token.records {
                text.push(':');
                text.push_str(&records.to_string());
            }
        }
        text
    }

    /// The packets that these words describe.
    pub(crate) fn parse(text: &str) -> Option<Vec<Token>> {
        let token = |word: &str| {
            let (word, records) = match word.split_once(':') {
                Some((word, records)) => (word, Some(records.parse().ok()?)),
                None => (word, None),
            };
            let (id, raw) = word.strip_suffix('!').map_or((word, false), |id| (id, true));
            Some(Token { id: id.parse().ok()?, raw, records })
        };
        text.split(' ').filter(|word| !word.is_empty()).map(token).collect()
    }
}

/// Counts packets without looking at what they hold.
struct Ignore;

impl Visit for Ignore {
    fn sample(&mut self, _: Found<'_>) {}

    fn wants(&self, _: Topic) -> bool {
        false
    }
}

/// The stretch that holds the byte `at`, by an index.
pub(crate) fn stretch_of(index: &Index, at: u64) -> Span {
    let after = index.marks.partition_point(|mark| mark.at <= at);
    let span = index.spans.iter().find(|span| (span.start..span.end.max(span.start + 1)).contains(&at));
    let (first, end) = span.map_or((0, u64::MAX), |span| (span.start, span.end));
    let start = after.checked_sub(1).and_then(|i| index.marks.get(i)).map_or(first, |mark| mark.at.max(first));
    Span { start, end: index.marks.get(after).map_or(end, |mark| mark.at.min(end)) }
}

/// The layout of a stretch.
pub(crate) fn layout_of(log: &[u8], span: Span, form: WireFormat) -> Layout {
    let mut walk = Walk::new(form, Slots::none());
    let log = log.get(..place(span.end).min(log.len())).unwrap_or_default();
    walk.run(log, place(span.start), usize::MAX, &mut Ignore);
    walk.layout
}

/// The layout of the stretch before the one that begins at `at`.
fn layout_before(log: &[u8], index: &Index, form: WireFormat, at: u64) -> Layout {
    let first = index.spans.first().map_or(0, |span| span.start);
    if at <= first {
        return Layout::default();
    }
    // Between two spans there is nothing: the one before is where the marks say.
    let before = index.marks.partition_point(|mark| mark.at < at).checked_sub(1);
    let start = before.and_then(|i| index.marks.get(i)).map_or(first, |mark: &Mark| mark.at);
    layout_of(log, Span { end: stretch_of(index, start).end, start }, form)
}
