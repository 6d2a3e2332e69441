//! Where the frames of a recording are, who lives in them, and where lasting things change: all that is needed to go
//! to any moment without reading what lies before it.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::error::Error;
use crate::reader::Reader;
use crate::wire::{Body, EventAdd, FrameStart, Header, Kind, PACKET_HEADER, Packet, Record, WireFormat};
use logpose_core::Cursor;

/// One whole frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Where its first packet begins.
    pub at: u64,
    /// The byte behind its last packet.
    pub end: u64,
    /// What its first packet says.
    pub start: FrameStart,
}

/// The life of one actor. An id that is used again has another life.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Life {
    /// The actor's id.
    pub actor: u32,
    /// The frame in which it appears, counted from 0.
    pub born: u32,
    /// The frame in which it disappears.
    pub died: Option<u32>,
    /// Where the record stands that says what it is.
    pub at: u64,
}

impl Life {
    /// Whether the actor is there in a frame. In the one in which it disappears it is not.
    #[must_use]
    pub fn covers(&self, frame: u32) -> bool {
        self.born <= frame && self.died.is_none_or(|died| frame < died)
    }
}

/// A record that holds until the next one like it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Change {
    /// The frame, counted from 0.
    pub frame: u32,
    /// Where the record stands.
    pub at: u64,
}

/// An attachment that was made while recording.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attachment {
    /// The frame, counted from 0.
    pub frame: u32,
    /// The child.
    pub actor: u32,
    /// The parent.
    pub parent: u32,
}

/// The frames of a recording.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    log: &'a [u8],
    header: Header<'a>,
    found: Arc<Found>,
}

/// What one pass over a recording found. It borrows nothing, so that it can be kept beside whatever holds the bytes.
#[derive(Debug)]
pub struct Found {
    form: WireFormat,
    frames: Vec<Frame>,
    lives: Vec<Life>,
    parents: Vec<Attachment>,
    changes: BTreeMap<(Kind, u64), Vec<Change>>,
    /// The packets that hold collisions.
    collisions: Vec<Change>,
    /// How many packets there are of each id.
    counts: Box<[u64; 256]>,
    /// The places of lives, by actor and birth.
    by_actor: Vec<usize>,
    open: Option<Frame>,
    stop: Option<Error>,
    odd: Vec<Error>,
}

impl<'a> Frames<'a> {
    /// Goes over the headers of all packets once. Reading ends at the first packet that is not whole; what was found
    /// before it is there, and [`Frames::stop`] says why it ended.
    pub fn scan(log: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(log)?;
        let header = reader.header();
        let mut living = HashMap::new();
        let mut found = Found::new(reader.wire_format());
        for packet in &mut reader {
            let taken = packet.and_then(|packet| found.take(&packet, &mut living));
            if let Err(error) = taken {
                found.stop = Some(error);
                break;
            }
        }
        found.by_actor = (0..found.lives.len()).collect();
        // Stable: the lives of one actor stay in the order of their births.
        found.by_actor.sort_by_key(|&place| found.lives.get(place).map(|life| life.actor));
        Ok(Self { log, header, found: Arc::new(found) })
    }

    /// The frames of a recording that was scanned before: these must be the same bytes. With others nothing worse
    /// happens than that nothing is found.
    pub fn of(log: &'a [u8], found: Arc<Found>) -> Result<Self, Error> {
        Ok(Self { log, header: Header::parse(&mut Cursor::new(log, 0))?, found })
    }

    /// What the pass over it found, for [`Frames::of`].
    #[must_use]
    pub fn found(&self) -> Arc<Found> {
        Arc::clone(&self.found)
    }

    /// The bytes of the recording.
    #[must_use]
    pub fn log(&self) -> &'a [u8] {
        self.log
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> Header<'a> {
        self.header
    }

    /// How the recording is written.
    #[must_use]
    pub fn wire_format(&self) -> WireFormat {
        self.found.form
    }

    /// The whole frames, in the order of the file.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.found.frames
    }

    /// The last frame, if it was begun and not ended.
    #[must_use]
    pub fn open(&self) -> Option<&Frame> {
        self.found.open.as_ref()
    }

    /// Why reading ended before the end of the file.
    #[must_use]
    pub fn stop(&self) -> Option<&Error> {
        self.found.stop.as_ref()
    }

    /// Packets of known kinds whose records do not fill them: they are kept, but not understood.
    #[must_use]
    pub fn odd(&self) -> &[Error] {
        &self.found.odd
    }

    /// The lives of all actors, in the order of their births.
    #[must_use]
    pub fn lives(&self) -> &[Life] {
        &self.found.lives
    }

    /// The attachments, in the order of the file.
    #[must_use]
    pub fn parents(&self) -> &[Attachment] {
        &self.found.parents
    }

    /// Everything that lasts until it changes, by kind and key: the actor, the number of a scene light, a door as
    /// actor · 256 + door, and 0 for the weather.
    pub fn changes(&self) -> impl Iterator<Item = ((Kind, u64), &[Change])> {
        self.found.changes.iter().map(|(key, changes)| (*key, &changes[..]))
    }

    /// The last change of one thing up to and including a frame.
    #[must_use]
    pub fn change(&self, kind: Kind, key: u64, frame: u32) -> Option<Change> {
        last_change(self.found.changes.get(&(kind, key))?, frame)
    }

    /// Everything of one kind that lasts until it changes, from one key to another, as of a frame: the last change of
    /// each up to and including it.
    pub fn changes_in(
        &self,
        kind: Kind,
        keys: RangeInclusive<u64>,
        frame: u32,
    ) -> impl Iterator<Item = (u64, Change)> + '_ {
        let range = (kind, *keys.start())..=(kind, *keys.end());
        self.found
            .changes
            .range(range)
            .filter_map(move |((_, key), changes)| Some((*key, last_change(changes, frame)?)))
    }

    /// The packets that hold collisions, in the order of the file.
    #[must_use]
    pub fn collisions(&self) -> &[Change] {
        &self.found.collisions
    }

    /// How many packets of a kind there are.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.found.counts.get(usize::from(kind.id(self.found.form.ids))).copied().unwrap_or(0)
    }

    /// The life that an actor lives in a frame. In the one in which it disappears it is still found.
    #[must_use]
    pub fn life(&self, actor: u32, frame: u32) -> Option<&Life> {
        let life = |place: &usize| self.found.lives.get(*place);
        let after = self
            .found
            .by_actor
            .partition_point(|place| life(place).is_some_and(|life| (life.actor, life.born) <= (actor, frame)));
        let found = after.checked_sub(1).and_then(|at| self.found.by_actor.get(at)).and_then(life)?;
        (found.actor == actor && found.died.is_none_or(|died| frame <= died)).then_some(found)
    }

    /// The packet at an offset that [`Frames::collisions`] gave, decoded; `None` if it cannot be understood.
    #[must_use]
    pub fn packet_at(&self, at: u64) -> Option<Body<'a>> {
        let rest = usize::try_from(at).ok().and_then(|at| self.log.get(at..))?;
        Packet::parse(&mut Cursor::new(rest, at)).and_then(|packet| packet.decode(self.found.form)).ok()
    }

    /// The record at an offset that [`Life`] or [`Change`] gave.
    #[must_use]
    pub fn record<R: Record<'a>>(&self, at: u64) -> Option<R> {
        let rest = usize::try_from(at).ok().and_then(|at| self.log.get(at..))?;
        R::parse(&mut Cursor::new(rest, at), self.found.form).ok()
    }

    /// How the actor of a life appeared.
    #[must_use]
    pub fn birth(&self, life: &Life) -> Option<EventAdd<'a>> {
        self.record(life.at)
    }

    /// The last frame that has begun at `time`, in seconds; `None` before the first.
    #[must_use]
    pub fn at_time(&self, time: f64) -> Option<usize> {
        self.found.frames.partition_point(|frame| frame.start.elapsed <= time).checked_sub(1)
    }

    /// The packets of a frame, its first and last included.
    pub fn packets(&self, frame: usize) -> impl Iterator<Item = Packet<'a>> + use<'a> {
        let (start, end) = self.found.frames.get(frame).map_or((0, 0), |frame| (frame.at, frame.end));
        let place = |at| usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.log.get(place(start)..place(end)).unwrap_or_default();
        let mut cur = Cursor::new(bytes, start);
        std::iter::from_fn(move || (!cur.is_empty()).then(|| Packet::parse(&mut cur).ok()).flatten())
    }

    /// The packet of one kind in a frame, decoded; `None` if there is none or if it cannot be understood.
    #[must_use]
    pub fn packet(&self, frame: usize, kind: Kind) -> Option<Body<'a>> {
        let id = kind.id(self.found.form.ids);
        self.packets(frame).find(|packet| packet.id == id)?.decode(self.found.form).ok()
    }

    /// Seconds from the first frame to the last: CARLA's total time.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.found.frames.last().map_or(0.0, |frame| frame.start.elapsed)
    }
}

impl Found {
    fn new(form: WireFormat) -> Self {
        Self {
            form,
            frames: Vec::new(),
            lives: Vec::new(),
            parents: Vec::new(),
            changes: BTreeMap::new(),
            collisions: Vec::new(),
            counts: Box::new([0; 256]),
            by_actor: Vec::new(),
            open: None,
            stop: None,
            odd: Vec::new(),
        }
    }

    /// Takes note of the next packet. `living` has the place among the lives of every actor that lives.
    fn take(&mut self, packet: &Packet<'_>, living: &mut HashMap<u32, usize>) -> Result<(), Error> {
        let kind = packet.checked_kind(self.form)?;
        if let Some(count) = self.counts.get_mut(usize::from(packet.id)) {
            *count += 1;
        }
        let Some(kind) = kind else { return Ok(()) };
        match kind {
            Kind::FrameStart => {
                let start = FrameStart::parse(&mut Cursor::new(packet.body, packet.at + PACKET_HEADER as u64))?;
                self.open = Some(Frame { at: packet.at, end: packet.end(), start });
            }
            Kind::FrameEnd => {
                if let Some(frame) = self.open.take() {
                    self.frames.push(Frame { end: packet.end(), ..frame });
                }
            }
            _ if kind.fixed_size().is_some() || packet.total() == 0 => {}
            Kind::Collision => self.collisions.push(Change { frame: count(&self.frames), at: packet.at }),
            Kind::EventAdd
            | Kind::EventDel
            | Kind::EventParent
            | Kind::SceneLight
            | Kind::BoundingBox
            | Kind::PhysicsControl
            | Kind::TrafficLightTime
            | Kind::TriggerVolume
            | Kind::VehicleDoor
            | Kind::Weather => match packet.decode(self.form) {
                Ok(body) => self.note(&body, living),
                Err(error) => self.odd.push(error),
            },
            _ => {}
        }
        Ok(())
    }

    /// Notes what lasts beyond its frame.
    fn note(&mut self, body: &Body<'_>, living: &mut HashMap<u32, usize>) {
        let frame = count(&self.frames);
        let mut change = |kind, key: u64, at| self.changes.entry((kind, key)).or_default().push(Change { frame, at });
        match body {
            Body::EventAdd(records) => {
                for (at, record) in records.places() {
                    // An id that is added again without an end begins another life.
                    let life = Life { actor: record.actor, born: frame, died: None, at };
                    if let Some(before) = living.insert(record.actor, self.lives.len()) {
                        self.end_life(before, frame);
                    }
                    self.lives.push(life);
                }
            }
            Body::EventDel(records) => {
                for record in records.iter() {
                    if let Some(life) = living.remove(&record.actor) {
                        self.end_life(life, frame);
                    }
                }
            }
            Body::EventParent(records) => {
                let made = records.iter().map(|r| Attachment { frame, actor: r.actor, parent: r.parent });
                self.parents.extend(made);
            }
            Body::SceneLight(records) => {
                records.places().for_each(|(at, r)| change(Kind::SceneLight, u64::from(r.light.cast_unsigned()), at));
            }
            Body::BoundingBox(records) => {
                records.places().for_each(|(at, r)| change(Kind::BoundingBox, r.actor.into(), at));
            }
            Body::PhysicsControl(records) => {
                self.form.physics = records.wire_format().physics;
                records.places().for_each(|(at, r)| change(Kind::PhysicsControl, r.actor.into(), at));
            }
            Body::TrafficLightTime(records) => {
                records.places().for_each(|(at, r)| change(Kind::TrafficLightTime, r.actor.into(), at));
            }
            Body::TriggerVolume(records) => {
                records.places().for_each(|(at, r)| change(Kind::TriggerVolume, r.actor.into(), at));
            }
            Body::VehicleDoor(records) => {
                let key = |actor: u32, door: u8| u64::from(actor) << 8 | u64::from(door);
                records.places().for_each(|(at, r)| change(Kind::VehicleDoor, key(r.actor, r.door), at));
            }
            Body::Weather(records) => records.places().for_each(|(at, _)| change(Kind::Weather, 0, at)),
            _ => {}
        }
    }

    fn end_life(&mut self, life: usize, frame: u32) {
        if let Some(life) = self.lives.get_mut(life) {
            life.died = Some(frame);
        }
    }
}

/// The last of some changes up to and including a frame.
fn last_change(changes: &[Change], frame: u32) -> Option<Change> {
    let after = changes.partition_point(|change| change.frame <= frame);
    after.checked_sub(1).and_then(|at| changes.get(at)).copied()
}

fn count(frames: &[Frame]) -> u32 {
    u32::try_from(frames.len()).unwrap_or(u32::MAX)
}
