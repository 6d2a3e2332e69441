//! Recordings out of recordings: a stretch of time, without some actors, under another map's name, one after another.
//! What comes out is made frame by frame.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use logpose_core::{Problem, Problems};

use crate::about::{About, Visit, fits, visit};
use crate::error::Error;
use crate::frames::{Change, Frame, Frames, Life};
use crate::recover::{check_frames, fits_together};
use crate::wire::*;
use crate::writer::{Batch, WriteError, rank};

/// The length of a tick where the recordings do not give one, in seconds.
const TICK: f64 = 0.05;

/// Which actors.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Who {
    /// All that have this id.
    Id(u32),
    /// All of a class.
    Class(ActorType),
    /// All whose blueprint is like this; `*` stands for any characters, `?` for one.
    Blueprint(String),
    /// All whose attribute `role_name` is this.
    Role(String),
}

impl Who {
    /// Whether an actor is one of them.
    #[must_use]
    pub fn is(&self, actor: &EventAdd<'_>) -> bool {
        match self {
            Self::Id(id) => actor.actor == *id,
            Self::Class(class) => actor.class() == *class,
            Self::Blueprint(pattern) => is_like(actor.blueprint, pattern.as_bytes()),
            Self::Role(role) => actor.attribute("role_name") == Some(role.as_bytes()),
        }
    }
}

/// What is to be made of a recording; without anything set, the same one.
#[derive(Clone, Debug, Default)]
pub struct Edit {
    /// The first second to keep. Actors that exist at that moment exist from the new start on.
    pub from: Option<f64>,
    /// The last second to keep.
    pub to: Option<f64>,
    /// Actors to leave out, with all records about them and with the actors that were spawned attached to them.
    pub drop: Vec<Who>,
    /// Another name for the map.
    pub map: Option<String>,
}

/// Why a recording cannot be edited.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// It is damaged.
    #[error("the recording is damaged ({0}); run `logpose recover` first")]
    Damaged(#[source] Error),
    /// Its last frame is not whole.
    #[error("byte {at:#x}: the recording is truncated inside frame {frame}; run `logpose recover` first")]
    Unended {
        /// Where the frame begins.
        at: u64,
        /// Its id.
        frame: u64,
    },
    /// Its times make no sense.
    #[error("{0}; run `logpose recover` first")]
    Times(String),
    /// A packet about actors cannot be understood.
    #[error("{0}; its actors are unknown, so run `logpose recover` first")]
    Odd(#[source] Error),
    /// No frame lies in the stretch of time.
    #[error("no frame between {from} s and {to} s; the recording has {frames} frames, the last at {total} s")]
    NoFrames {
        /// The first second.
        from: f64,
        /// The last second.
        to: f64,
        /// How many frames there are.
        frames: usize,
        /// When the last begins.
        total: f64,
    },
    /// Two recordings are of different maps.
    #[error("the maps differ: {0:?} and {1:?}")]
    Maps(String, String),
    /// Two recordings are written differently.
    #[error("{what} differ, so the recordings cannot be joined")]
    Forms {
        /// What differs.
        what: &'static str,
    },
    /// All ids are taken.
    #[error("actor {0} is in both recordings, and no free id is left")]
    NoFreeId(u32),
    /// What would come out cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Edit {
    /// Prepares the edit. Nothing is written before the frames are asked for.
    pub fn apply<'a>(&self, frames: &'a Frames<'a>) -> Result<Edited<'a>, EditError> {
        check(frames)?;
        let header = frames.header();
        let map = self.map.as_ref().map_or(header.map, |map| map.as_bytes());
        fits("map", map)?;
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or(f64::INFINITY));
        let all = frames.frames();
        let range = match (self.from, self.to) {
            (None, None) => 0..all.len(),
            _ => {
                let start = all.partition_point(|frame| frame.start.elapsed < from);
                let end = all.partition_point(|frame| frame.start.elapsed <= to);
                if start >= end {
                    return Err(EditError::NoFrames { from, to, frames: all.len(), total: frames.total() });
                }
                start..end
            }
        };
        let mut clip = Clip::new(frames, range);
        clip.drop(&self.drop);
        let begins = all.get(clip.range.start).map_or(0.0, |frame| frame.start.elapsed);
        let mut date = header.date;
        if clip.range.start > 0 {
            clip.open();
            clip.shift = -begins;
            clip.platform = -platform_time(frames, clip.range.start).unwrap_or(0.0);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole seconds; a float beyond i64 becomes the largest"
            )]
            let seconds = begins.floor() as i64;
            date = date.saturating_add(seconds);
        }
        let mut head = Vec::new();
        Header { date, map, ..header }.emit(&mut head);
        Ok(Edited::new(head, vec![clip]))
    }
}

/// One recording after another. They must be of the same map and written in the same way.
///
/// The second follows the last frame of the first by one tick. An actor that both have under one id, of the same
/// blueprint and attributes, lives on; the others of the first are destroyed at the seam, and an actor of the second
/// whose id is still taken there gets another.
pub fn concatenate<'a>(first: &'a Frames<'a>, second: &'a Frames<'a>) -> Result<Edited<'a>, EditError> {
    check(first)?;
    check(second)?;
    let (a, b) = (first.header(), second.header());
    if a.map != b.map {
        let name = |map| String::from_utf8_lossy(map).into_owned();
        return Err(EditError::Maps(name(a.map), name(b.map)));
    }
    for (what, differ) in [
        ("the versions in the headers", a.version != b.version),
        ("the numberings of packets", first.wire_format().ids != second.wire_format().ids),
        ("the widths of vectors", first.wire_format().vectors != second.wire_format().vectors),
    ] {
        if differ {
            return Err(EditError::Forms { what });
        }
    }
    let mut clips = vec![Clip::new(first, 0..first.frames().len())];
    if let Some(begins) = second.frames().first() {
        let mut clip = Clip::new(second, 0..second.frames().len());
        if let Some(last) = first.frames().last() {
            let tick = tick(first.frames()).or_else(|| tick(second.frames())).unwrap_or(TICK);
            clip.shift = last.start.elapsed + tick - begins.start.elapsed;
            let clocks = (platform_time(first, first.frames().len() - 1), platform_time(second, 0));
            if let (Some(a), Some(b)) = clocks {
                clip.platform = a + tick - b;
            }
            clip.join(first)?;
        }
        clips.push(clip);
    }
    let mut head = Vec::new();
    a.emit(&mut head);
    Ok(Edited::new(head, clips))
}

/// A recording that comes out of an edit, frame by frame.
#[derive(Debug)]
pub struct Edited<'a> {
    head: Vec<u8>,
    clips: Vec<Clip<'a>>,
    clip: usize,
    written: u64,
}

impl<'a> Edited<'a> {
    fn new(head: Vec<u8>, mut clips: Vec<Clip<'a>>) -> Self {
        clips.retain(|clip| !clip.range.is_empty());
        Self { head, clips, clip: 0, written: 0 }
    }

    /// Appends the header.
    pub fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
    }

    /// Appends the next frame; `false` if there is none.
    pub fn next_frame(&mut self, out: &mut Vec<u8>) -> Result<bool, EditError> {
        let begins = self.clips.get(self.clip + 1).and_then(Clip::begins);
        let Some(clip) = self.clips.get_mut(self.clip) else { return Ok(false) };
        let Some(at) = clip.range.next() else { return Ok(false) };
        let Some(frame) = clip.frames.frames().get(at) else { return Ok(false) };
        let elapsed = frame.start.elapsed + clip.shift;
        let (next, duration) = (clip.begins().or(begins), frame.start.duration);
        let duration = match next {
            None => OPEN_DURATION,
            Some(next) if fits_together(elapsed, duration, next) => duration,
            Some(next) => next - elapsed,
        };
        self.written += 1;
        clip.frame(at, FrameStart { frame: self.written, duration, elapsed }, out)?;
        if clip.range.is_empty() {
            self.clip += 1;
        }
        Ok(true)
    }

    /// The whole recording at once.
    pub fn into_bytes(mut self) -> Result<Vec<u8>, EditError> {
        let mut out = Vec::new();
        self.begin(&mut out);
        while self.next_frame(&mut out)? {}
        Ok(out)
    }
}

/// A range of frames of one recording, and the changes to apply to them.
#[derive(Debug)]
struct Clip<'a> {
    frames: &'a Frames<'a>,
    /// The frames not written yet.
    range: Range<usize>,
    /// What is added to times, in seconds.
    shift: f64,
    /// What is added to platform times.
    platform: f64,
    /// Records that add actors which go, by their place.
    dropped: HashSet<u64>,
    /// Records that add actors which are there already.
    present: HashSet<u64>,
    /// Actors about which no record is kept, at this moment.
    hidden: HashSet<u32>,
    /// Actors that get another id.
    ids: HashMap<u32, u32>,
    /// Records that come first in the packets of the first frame.
    opening: BTreeMap<Kind, Batch>,
}

impl<'a> Clip<'a> {
    fn new(frames: &'a Frames<'a>, range: Range<usize>) -> Self {
        Self {
            frames,
            range,
            shift: 0.0,
            platform: 0.0,
            dropped: HashSet::new(),
            present: HashSet::new(),
            hidden: HashSet::new(),
            ids: HashMap::new(),
            opening: BTreeMap::new(),
        }
    }

    /// When the next frame begins, in the time of what comes out.
    fn begins(&self) -> Option<f64> {
        let next = self.range.clone().next().and_then(|at| self.frames.frames().get(at));
        next.map(|frame| frame.start.elapsed + self.shift)
    }

    /// Leaves actors out.
    fn drop(&mut self, who: &[Who]) {
        if who.is_empty() {
            return;
        }
        let lives = self.frames.lives();
        let gone = |life: &Life| self.frames.birth(life).is_some_and(|birth| who.iter().any(|who| who.is(&birth)));
        let mut open: Vec<usize> = (0..).zip(lives).filter(|(_, life)| gone(life)).map(|(i, _)| i).collect();
        let children = self.children();
        let mut dropped = HashSet::new();
        while let Some(i) = open.pop() {
            if let Some(life) = lives.get(i)
                && dropped.insert(life.at)
            {
                open.extend(children.get(&i).into_iter().flatten());
            }
        }
        let first = first_frame(&self.range);
        let there = lives.iter().filter(|life| life.born < first && dropped.contains(&life.at));
        self.hidden.extend(there.filter(|life| !is_over(life, first)).map(|life| life.actor));
        // Actors that were never added can only be meant by their id.
        self.hidden.extend(who.iter().filter_map(|who| if let Who::Id(id) = who { Some(*id) } else { None }));
        self.dropped = dropped;
    }

    /// The lives that began attached to another life, by that one.
    fn children(&self) -> HashMap<usize, Vec<usize>> {
        let mut by_actor: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
        for (i, life) in (0..).zip(self.frames.lives()) {
            by_actor.entry(life.actor).or_default().push((life.born, i));
        }
        let life_in = |actor: u32, frame: u32| {
            let lives = by_actor.get(&actor)?;
            let after = lives.partition_point(|(born, _)| *born <= frame);
            lives.get(after.checked_sub(1)?).copied()
        };
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        for made in self.frames.parents() {
            if let Some((born, child)) = life_in(made.actor, made.frame)
                && born == made.frame
                && let Some((_, parent)) = life_in(made.parent, made.frame)
            {
                children.entry(parent).or_default().push(child);
            }
        }
        children
    }

    /// Makes the first frame one that can stand alone: it adds all actors and states that exist by then.
    fn open(&mut self) {
        let (frames, form) = (self.frames, self.frames.wire_format());
        let first = first_frame(&self.range);
        let mut poses = HashMap::new();
        if let Some(Body::Position(records)) = frames.packet(self.range.start, Kind::Position) {
            poses.extend(records.iter().map(|record| (record.actor, (record.location, record.rotation))));
        }
        let earlier = frames.parents().iter().take_while(|made| made.frame < first);
        let attached: HashMap<u32, _> = earlier.map(|made| (made.actor, made)).collect();
        let before = frames.lives().iter().filter(|life| life.born < first && !self.dropped.contains(&life.at));
        let (mut living, mut adds, mut parents) = (HashMap::new(), Batch::default(), Batch::default());
        for life in before {
            if life.covers(first) {
                living.insert(life.actor, life);
            } else if life.died == Some(first) {
                // It goes in this very frame, so for what comes out it never was.
                self.hidden.insert(life.actor);
            }
        }
        let mut lives: Vec<&Life> = living.values().copied().collect();
        lives.sort_unstable_by_key(|life| life.at);
        for life in lives {
            let Some(mut birth) = frames.birth(life) else { continue };
            let made = attached.get(&life.actor).filter(|made| made.frame >= life.born);
            let made = made.filter(|made| living.get(&made.parent).is_some_and(|parent| parent.born <= made.frame));
            // The pose of one that was spawned attached is relative to its parent, and stays so.
            if made.is_none_or(|made| made.frame != life.born)
                && let Some((location, rotation)) = poses.get(&life.actor)
            {
                (birth.location, birth.rotation) = (*location, *rotation);
            }
            adds.push(&birth, form);
            if let Some(made) = made {
                parents.push(&EventParent { actor: made.actor, parent: made.parent }, form);
            }
        }
        self.opening.insert(Kind::EventAdd, adds);
        self.opening.insert(Kind::EventParent, parents);
        let mut lasting: Vec<(u64, Kind)> = Vec::new();
        for ((kind, key), _) in frames.changes() {
            let Some(change) = frames.change(kind, key, first).filter(|change| change.frame < first) else { continue };
            let actor = match kind {
                Kind::SceneLight | Kind::Weather => None,
                Kind::VehicleDoor => Some(key >> 8),
                _ => Some(key),
            };
            let holds = |actor: u64, change: &Change| {
                let life = u32::try_from(actor).ok().and_then(|actor| living.get(&actor));
                life.is_some_and(|life| life.born <= change.frame)
            };
            if actor.is_none_or(|actor| holds(actor, &change)) {
                lasting.push((change.at, kind));
            }
        }
        // In the order of the file, so that the last word on a thing stays the last.
        lasting.sort_unstable_by_key(|(at, _)| *at);
        for (at, kind) in lasting {
            let batch = self.opening.entry(kind).or_default();
            match kind {
                Kind::SceneLight => again::<SceneLight>(frames, at, batch),
                Kind::BoundingBox => again::<BoundingBox>(frames, at, batch),
                Kind::PhysicsControl => again::<PhysicsControl>(frames, at, batch),
                Kind::TrafficLightTime => again::<TrafficLightTime>(frames, at, batch),
                Kind::TriggerVolume => again::<TriggerVolume>(frames, at, batch),
                Kind::VehicleDoor => again::<VehicleDoor>(frames, at, batch),
                Kind::Weather => again::<Weather>(frames, at, batch),
                _ => {}
            }
        }
        self.opening.retain(|_, batch| batch.total > 0);
    }

    /// Makes the first frame follow the last one of another recording.
    fn join(&mut self, before: &Frames<'_>) -> Result<(), EditError> {
        let lives = || before.lives().iter().chain(self.frames.lives());
        let mut free = lives().map(|life| life.actor).filter(|id| Collision::is_actor(*id)).max().unwrap_or(0);
        let new: HashMap<u32, &Life> =
            self.frames.lives().iter().filter(|life| life.born == 0).map(|life| (life.actor, life)).collect();
        let mut dels = Batch::default();
        let mut ended = HashSet::new();
        for old in before.lives().iter().filter(|life| life.died.is_none()) {
            let next = new.get(&old.actor);
            let (was, is) = (before.birth(old), next.and_then(|life| self.frames.birth(life)));
            match (next, was, is) {
                (Some(next), Some(was), Some(is)) if is_same(&was, &is) => {
                    self.present.insert(next.at);
                }
                (next, ..) => {
                    if ended.insert(old.actor) {
                        dels.push(&EventDel { actor: old.actor }, self.frames.wire_format());
                    }
                    if next.is_some() {
                        free = free
                            .checked_add(1)
                            .filter(|id| Collision::is_actor(*id))
                            .ok_or(EditError::NoFreeId(old.actor))?;
                        self.ids.insert(old.actor, free);
                    }
                }
            }
        }
        if dels.total > 0 {
            self.opening.insert(Kind::EventDel, dels);
        }
        Ok(())
    }

    /// Appends a frame.
    fn frame(&mut self, at: usize, start: FrameStart, out: &mut Vec<u8>) -> Result<(), EditError> {
        let form = self.frames.wire_format();
        let mut opening = std::mem::take(&mut self.opening);
        let there: HashSet<Kind> = if opening.is_empty() {
            HashSet::new()
        } else {
            self.frames.packets(at).filter_map(|p| p.kind(form)).collect()
        };
        let mut missing: Vec<Kind> = opening.keys().copied().filter(|kind| !there.contains(kind)).collect();
        missing.sort_unstable_by_key(|kind| std::cmp::Reverse(rank(*kind)));
        start.emit(out);
        for packet in self.frames.packets(at).skip(1) {
            let Some(kind) = packet.kind(form) else {
                packet.emit(out);
                continue;
            };
            while let Some(next) = missing.pop_if(|next| rank(*next) < rank(kind)) {
                if let Some(batch) = opening.remove(&next) {
                    batch.emit(next, form.ids, start.frame, out)?;
                }
            }
            self.packet(&packet, kind, opening.remove(&kind), start.frame, out)?;
        }
        Ok(())
    }

    /// Appends a packet, its records behind those of `opening`.
    fn packet(
        &mut self,
        packet: &Packet<'a>,
        kind: Kind,
        opening: Option<Batch>,
        frame: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), EditError> {
        let adds = kind == Kind::EventAdd && !(self.dropped.is_empty() && self.present.is_empty());
        let clock = kind == Kind::PlatformTime && self.platform != 0.0;
        let others = kind.fixed_size().is_none() && !(self.hidden.is_empty() && self.ids.is_empty());
        if !(adds || clock || others || opening.is_some()) {
            packet.emit(out);
            return Ok(());
        }
        let mut batch = opening.unwrap_or_default();
        match packet.decode(self.frames.wire_format()).map_err(EditError::Odd)? {
            Body::PlatformTime(seconds) => {
                Packet { body: &(seconds + self.platform).to_le_bytes(), ..*packet }.emit(out);
                return Ok(());
            }
            Body::EventAdd(records) => {
                for (at, record) in records.places() {
                    if self.dropped.contains(&at) {
                        self.hidden.insert(record.actor);
                    } else {
                        self.hidden.remove(&record.actor);
                        if !self.present.contains(&at) {
                            self.keep(record, records.wire_format(), &mut batch);
                        }
                    }
                }
            }
            body => {
                visit(&body, &mut Keep { clip: self, batch: &mut batch });
            }
        }
        Ok(batch.emit(kind, self.frames.wire_format().ids, frame, out)?)
    }

    /// Keeps a record, unless it is about an actor that is not there; its actors get their new ids.
    fn keep<R: Record<'a> + About>(&self, mut record: R, form: WireFormat, batch: &mut Batch) {
        if record.actors().into_iter().flatten().any(|actor| self.hidden.contains(&actor)) {
            return;
        }
        for actor in record.actors_mut().into_iter().flatten() {
            *actor = self.ids.get(actor).copied().unwrap_or(*actor);
        }
        batch.push(&record, form);
    }
}

/// The records that are kept.
struct Keep<'b, 'a> {
    clip: &'b Clip<'a>,
    batch: &'b mut Batch,
}

impl<'a> Visit<'a> for Keep<'_, 'a> {
    fn records<R: Record<'a> + About>(&mut self, records: &Records<'a, R>) {
        records.iter().for_each(|record| self.clip.keep(record, records.wire_format(), self.batch));
    }
}

/// Writes a record once more.
fn again<'a, R: Record<'a>>(frames: &Frames<'a>, at: u64, batch: &mut Batch) {
    if let Some(record) = frames.record::<R>(at) {
        batch.push(&record, frames.wire_format());
    }
}

/// Whether a recording is whole enough to be edited.
fn check(frames: &Frames<'_>) -> Result<(), EditError> {
    if let Some(error) = frames.stop() {
        return Err(EditError::Damaged(*error));
    }
    if let Some(Frame { at, start, .. }) = frames.open() {
        return Err(EditError::Unended { at: *at, frame: start.frame });
    }
    let mut problems = Problems::default();
    check_frames(frames.frames(), &mut problems);
    let times = |problem: &&Problem| problem.code == "elapsed";
    match problems.list().iter().find(times) {
        Some(problem) => Err(EditError::Times(problem.to_string())),
        None => Ok(()),
    }
}

/// How long the last frames took, if that is known.
fn tick(frames: &[Frame]) -> Option<f64> {
    let last = frames.iter().rev().map(|frame| frame.start.duration).nth(1);
    last.filter(|tick| *tick > 0.0 && tick.is_finite())
}

fn platform_time(frames: &Frames<'_>, frame: usize) -> Option<f64> {
    match frames.packet(frame, Kind::PlatformTime) {
        Some(Body::PlatformTime(seconds)) => Some(seconds),
        _ => None,
    }
}

/// Whether two actors with one id are one.
fn is_same(a: &EventAdd<'_>, b: &EventAdd<'_>) -> bool {
    let sorted = |add: &EventAdd<'_>| {
        let mut attributes: Vec<_> = add.attributes.0.iter().map(|a| (a.id.to_vec(), a.value.to_vec())).collect();
        attributes.sort_unstable();
        attributes
    };
    a.actor_type == b.actor_type && a.blueprint == b.blueprint && sorted(a) == sorted(b)
}

/// Whether a life was over before a frame.
fn is_over(life: &Life, frame: u32) -> bool {
    life.died.is_some_and(|died| died < frame)
}

fn first_frame(range: &Range<usize>) -> u32 {
    u32::try_from(range.start).unwrap_or(u32::MAX)
}

/// Whether a text is like a pattern in which `*` stands for any bytes and `?` for one.
fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    let (mut t, mut p) = (0, 0);
    // Where the last star stands, and up to where it reaches.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(other) if *other == b'?' || other == byte => {
                t += 1;
                p += 1;
            }
            _ => {
                let Some((at, reach)) = &mut star else { return false };
                *reach += 1;
                (t, p) = (*reach, *at + 1);
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|byte| *byte == b'*'))
}
