//! Who stood still for long: the text of `show_recorder_actors_blocked`, and the stays themselves.

use std::collections::HashMap;
use std::io::{self, Write};

use super::collisions::Known;
use crate::frames::{Frames, Life};
use crate::identity::Identity;
use crate::text::{Fixed, left};
use crate::wire::{ActorType, Body, FrameStart, Kind, Position, Vector, Vectors, narrow};

/// What counts as standing still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocking {
    /// For how long, in seconds.
    pub min_time: f64,
    /// Within how many centimetres.
    pub min_distance_cm: f64,
}

impl Default for Blocking {
    fn default() -> Self {
        Self { min_time: 30.0, min_distance_cm: 10.0 }
    }
}

/// Whether packets of a kind matter to the text.
pub(super) fn shows(kind: Kind) -> bool {
    matches!(kind, Kind::EventAdd | Kind::EventDel | Kind::Position)
}

/// What CARLA knows of an actor.
#[derive(Clone, Copy, Default)]
struct Stay<'a> {
    name: &'a [u8],
    anchor: Vector,
    time: f64,
    duration: f64,
}

/// What the text remembers from packet to packet.
pub(super) struct Table<'a> {
    blocking: Blocking,
    vectors: Vectors,
    known: Known<Stay<'a>>,
    rows: Vec<(u32, Stay<'a>)>,
}

impl<'a> Table<'a> {
    pub(super) fn new(blocking: Blocking, vectors: Vectors) -> Self {
        Self { blocking, vectors, known: Known::new(), rows: Vec::new() }
    }

    /// Takes in one packet.
    pub(super) fn packet(&mut self, body: &Body<'a>, frame: &FrameStart) {
        match body {
            Body::EventAdd(records) => {
                records.iter().for_each(|r| self.known.add(r.actor, Stay { name: r.blueprint, ..Stay::default() }));
            }
            Body::EventDel(records) => records.iter().for_each(|_| self.known.delete()),
            Body::Position(records) => records.iter().for_each(|r| self.position(&r, frame)),
            _ => {}
        }
    }

    fn position(&mut self, record: &Position, frame: &FrameStart) {
        let stay = self.known.actors.entry(record.actor).or_default();
        if distance(stay.anchor, record.location, self.vectors) < self.blocking.min_distance_cm {
            if stay.duration == 0.0 {
                stay.time = frame.elapsed;
            }
            stay.duration += frame.duration;
        } else {
            if stay.duration >= self.blocking.min_time {
                self.rows.push((record.actor, *stay));
            }
            stay.duration = 0.0;
            stay.anchor = record.location;
        }
    }

    /// Writes the rows: the longest first, of equal ones the first that ended.
    pub(super) fn rows(mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut remaining: Vec<_> = self.known.actors.into_iter().collect();
        remaining.retain(|(_, stay)| stay.duration >= self.blocking.min_time);
        remaining.sort_by_key(|(actor, _)| *actor);
        self.rows.append(&mut remaining);
        self.rows.sort_by(|(_, a), (_, b)| b.duration.total_cmp(&a.duration));
        writeln!(out, "{:>8} {:>6} {:<35} {:>10}", "Time", "Id", "Actor", "Duration")?;
        self.rows.iter().try_for_each(|(actor, stay)| {
            write!(out, "{:>8} {actor:>6} ", Fixed(stay.time, 0))?;
            left(out, stay.name, 35)?;
            writeln!(out, " {:>10}", Fixed(stay.duration, 0))
        })
    }
}

/// The distance of two points, reckoned as wide as the recording is.
fn distance(a: Vector, b: Vector, vectors: Vectors) -> f64 {
    match vectors {
        Vectors::F64 => {
            let (x, y, z) = (b.x - a.x, b.y - a.y, b.z - a.z);
            (x * x + y * y + z * z).sqrt()
        }
        Vectors::F32 => {
            let side = |a, b| narrow(b) - narrow(a);
            let (x, y, z) = (side(a.x, b.x), side(a.y, b.y), side(a.z, b.z));
            (x * x + y * y + z * z).sqrt().into()
        }
    }
}

/// Where an actor stood still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocked<'a> {
    /// Which.
    pub actor: u32,
    /// What it is; empty if the recording does not say.
    pub blueprint: &'a [u8],
    /// What it is, in one word.
    pub class: ActorType,
    /// Whether it is the ego vehicle.
    pub hero: bool,
    /// Since when, in seconds.
    pub from: f64,
    /// For how long, in seconds: until it moved on, disappeared, or the recording ended.
    pub duration: f64,
    /// Whether it still stood there when the recording ended.
    pub to_the_end: bool,
    /// Where, in metres.
    pub place: Vector,
}

/// A stay that has not ended yet.
struct Open {
    life: Option<Life>,
    anchor: Vector,
    from: f64,
    /// When the last frame began in which it was seen there.
    seen: f64,
    /// The frames after the one in which it came.
    frames: u64,
}

impl Open {
    /// When it ended if the actor was not seen elsewhere: when it disappeared, or when it was seen last.
    fn end(&self, frames: &Frames<'_>) -> f64 {
        let died = self.life.and_then(|life| usize::try_from(life.died?).ok());
        died.and_then(|died| frames.frames().get(died)).map_or(self.seen, |frame| frame.start.elapsed)
    }
}

/// The stays of a recording that were long enough, the longest first. Only whole frames count.
#[must_use]
pub fn blocked<'a>(frames: &Frames<'a>, blocking: Blocking) -> Vec<Blocked<'a>> {
    let mut open: HashMap<u32, Open> = HashMap::new();
    let mut found = Vec::new();
    let mut close = |actor: u32, stay: &Open, until: f64, to_the_end: bool| {
        let duration = until - stay.from;
        if stay.frames == 0 || duration < blocking.min_time || duration.is_nan() {
            return;
        }
        let who = Identity::of(frames, stay.life.as_ref());
        let Vector { x, y, z } = stay.anchor;
        found.push(Blocked {
            actor,
            blueprint: who.blueprint,
            class: who.class,
            hero: who.hero,
            from: stay.from,
            duration,
            to_the_end,
            place: Vector::new(x / 100.0, y / 100.0, z / 100.0),
        });
    };
    let vectors = frames.wire_format().vectors;
    for (place, frame) in frames.frames().iter().enumerate() {
        let (index, now) = (u32::try_from(place).unwrap_or(u32::MAX), frame.start.elapsed);
        let Some(Body::Position(records)) = frames.packet(place, Kind::Position) else { continue };
        for record in records.iter() {
            let stay = open.get_mut(&record.actor);
            let before = stay.as_ref().and_then(|stay| stay.life).filter(|life| life.covers(index));
            let life = before.or_else(|| frames.life(record.actor, index).copied());
            let arrived = Open { life, anchor: record.location, from: now, seen: now, frames: 0 };
            match stay {
                None => drop(open.insert(record.actor, arrived)),
                Some(stay) if stay.life != life => {
                    close(record.actor, stay, stay.end(frames), false);
                    *stay = arrived;
                }
                Some(stay) if distance(stay.anchor, record.location, vectors) < blocking.min_distance_cm => {
                    stay.frames += 1;
                    stay.seen = now;
                }
                Some(stay) => {
                    close(record.actor, stay, now, false);
                    *stay = arrived;
                }
            }
        }
    }
    let mut open: Vec<_> = open.into_iter().collect();
    open.sort_by_key(|(actor, _)| *actor);
    for (actor, stay) in &open {
        let until = stay.end(frames);
        let died = stay.life.and_then(|life| usize::try_from(life.died?).ok());
        let to_the_end = stay.seen == frames.total() && died.is_none_or(|died| died >= frames.frames().len());
        close(*actor, stay, until, to_the_end);
    }
    found.sort_by(|a, b| b.duration.total_cmp(&a.duration));
    found
}
