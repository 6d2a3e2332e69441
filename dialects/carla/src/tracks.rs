//! Where actors are, frame after frame: what is needed to draw them, at the cost of the packets that changed.

use std::collections::HashMap;
use std::ops::Range;

use crate::frames::{Frames, Life};
use crate::identity::Identity;
use crate::pose::Pose;
use crate::wire::{ActorType, Body, Kind, Position, Vector, widen};

/// One actor in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its id.
    pub actor: u32,
    /// Where it is.
    pub pose: Pose,
    /// Metres a second: as recorded, reckoned from positions, or the speed at which a walker walks.
    pub speed: Option<f64>,
    /// The lamps of a vehicle, a bit for each; of a traffic light its state, [`UNKNOWN_LIGHT`] if the recording does
    /// not have it.
    pub lights: u32,
}

/// The state of a traffic light of which nothing is known.
pub const UNKNOWN_LIGHT: u32 = 4;

/// The actors of a stretch of frames. Its marks of a frame equal [`crate::State::at`] at the moment at which
/// the frame begins.
#[derive(Debug)]
pub struct Tracks<'f, 'a> {
    frames: &'f Frames<'a>,
    /// Who lives in the stretch, by ids.
    cast: Vec<Member>,
    stage: Vec<Slot>,
    positions: Vec<Position>,
    others: Vec<Position>,
}

impl<'f, 'a> Tracks<'f, 'a> {
    /// Those who live in some of these frames, counted from 0.
    #[must_use]
    pub fn over(frames: &'f Frames<'a>, range: Range<usize>) -> Self {
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let (first, end) = (number(range.start), number(range.end));
        let mut attachments: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for made in frames.parents().iter().take_while(|made| made.frame < end) {
            attachments.entry(made.actor).or_default().push((made.frame, made.parent));
        }
        let born = frames.lives().partition_point(|life| life.born < end);
        let lives = frames.lives().iter().take(born).filter(|life| life.died.is_none_or(|died| first < died));
        let mut cast: Vec<Member> =
            lives.map(|life| Member::new(frames, life, attachments.get(&life.actor).map_or(&[], |all| all))).collect();
        // Stable: the lives of one actor stay in the order of their births.
        cast.sort_by_key(|member| member.life.actor);
        Self { frames, cast, stage: Vec::new(), positions: Vec::new(), others: Vec::new() }
    }

    /// Appends the actors that are there in a frame, by their ids. One that the recording has no positions of, and that
    /// hangs on nothing, is left out while it is unchanged since its last mark.
    pub fn marks_at(&mut self, place: usize, out: &mut Vec<Mark>) {
        let Ok(frame) = u32::try_from(place) else { return };
        self.enter(frame, place);
        self.read(place);
        self.compare(place);
        self.hang();
        for slot in &self.stage {
            let member = slot.member.and_then(|member| self.cast.get_mut(member));
            let unknown = if member.as_ref().is_some_and(|member| member.light) { UNKNOWN_LIGHT } else { 0 };
            let lights = slot.lights.unwrap_or(unknown);
            let still = slot.shown.is_none() && !slot.hangs;
            if let Some(member) = member {
                let marked = still.then_some(lights);
                if std::mem::replace(&mut member.lights, marked) == marked && still {
                    continue;
                }
            }
            let speed = slot.velocity.map(length).or(slot.walker);
            out.push(Mark { actor: slot.actor, pose: slot.pose, speed, lights });
        }
    }

    /// Who is there, and where.
    fn enter(&mut self, frame: u32, place: usize) {
        read_positions(self.frames, place, &mut self.positions);
        self.stage.clear();
        let mut positions = self.positions.iter().copied().peekable();
        let there = self.cast.iter().enumerate().filter(|(_, member)| member.life.covers(frame));
        for (at, member) in there {
            let actor = member.life.actor;
            while let Some(position) = positions.next_if(|position| position.actor < actor) {
                stranger(&mut self.stage, position);
            }
            let mut shown = None;
            while let Some(position) = positions.next_if(|position| position.actor == actor) {
                shown = Some(position);
            }
            let attached = member.attachments.iter().rev().find(|(made, _)| *made <= frame);
            let hangs = shown.is_none() && member.placed && attached.is_some_and(|(made, _)| *made == member.life.born);
            self.stage.push(Slot {
                pose: shown.map_or(member.pose, |position| Pose::of(position.location, position.rotation)),
                parent: attached.map(|(_, parent)| *parent),
                hangs,
                relative: hangs,
                member: Some(at),
                shown,
                ..Slot::new(actor)
            });
        }
        positions.for_each(|position| stranger(&mut self.stage, position));
    }

    /// What the frame says of its own.
    fn read(&mut self, place: usize) {
        let form = self.frames.wire_format();
        for packet in self.frames.packets(place) {
            let known = packet.kind(form).is_some_and(|kind| {
                matches!(kind, Kind::TrafficLightState | Kind::WalkerAnim | Kind::VehicleLight | Kind::Kinematics)
            });
            if !known {
                continue;
            }
            match packet.decode(form) {
                Ok(Body::TrafficLightState(records)) => {
                    records.iter().for_each(|r| self.on(r.actor, |slot| slot.lights = Some(r.state.into())));
                }
                Ok(Body::WalkerAnim(records)) => {
                    records.iter().for_each(|r| self.on(r.actor, |slot| slot.walker = Some(widen(r.speed) / 100.0)));
                }
                Ok(Body::VehicleLight(records)) => {
                    records.iter().for_each(|r| self.on(r.actor, |slot| slot.lights = Some(r.lights)));
                }
                Ok(Body::Kinematics(records)) => {
                    records.iter().for_each(|r| self.on(r.actor, |slot| slot.velocity = Some(r.linear)));
                }
                _ => {}
            }
        }
    }

    /// Reckons how fast those move of which the recording does not say it, from the next frame or from the one before.
    fn compare(&mut self, place: usize) {
        if self.stage.iter().all(|slot| slot.shown.is_none() || slot.velocity.is_some()) {
            return;
        }
        let begins = |place: usize| self.frames.frames().get(place).map(|frame| frame.start.elapsed);
        let next = begins(place + 1).map(|time| (place + 1, time));
        let other = next.or_else(|| place.checked_sub(1).and_then(|before| Some((before, begins(before)?))));
        let Some(((other, there), here)) = other.zip(begins(place)) else { return };
        let (seconds, frame) = (here - there, u32::try_from(other).unwrap_or(u32::MAX));
        if !seconds.is_finite() || seconds == 0.0 {
            return;
        }
        read_positions(self.frames, other, &mut self.others);
        for slot in &mut self.stage {
            let Some(shown) = slot.shown.filter(|_| slot.velocity.is_none()) else { continue };
            let member = slot.member.and_then(|member| self.cast.get(member));
            // An actor that had or gets the same id is another.
            if member.is_some_and(|member| !member.life.covers(frame)) {
                continue;
            }
            let behind = self.others.partition_point(|position| position.actor <= slot.actor);
            let position = behind.checked_sub(1).and_then(|at| self.others.get(at));
            let Some(position) = position.filter(|position| position.actor == slot.actor) else { continue };
            let rate = |a: f64, b: f64| (b - a) / 100.0 / seconds;
            let (a, b) = (position.location, shown.location);
            slot.velocity = Some(Vector::new(rate(a.x, b.x), rate(a.y, b.y), rate(a.z, b.z)));
        }
    }

    /// Puts those that are known only relative to their parents where they are: each once, from the first whose parent's
    /// place is known, so that those that hang on each other do no harm.
    fn hang(&mut self) {
        let mut chain = Vec::new();
        for start in 0..self.stage.len() {
            let mut next = Some(start);
            while let Some(slot) = next.and_then(|place| self.stage.get_mut(place)).filter(|slot| slot.relative) {
                // Whoever is met again on the way up is its own ancestor and stays as it is.
                slot.relative = false;
                let parent = slot.parent;
                chain.extend(next.zip(parent));
                next = parent.and_then(|parent| self.find(parent));
            }
            while let Some((place, parent)) = chain.pop() {
                let parent = self.find(parent).and_then(|parent| self.stage.get(parent));
                let known = parent.filter(|parent| !parent.hangs || parent.put).map(|parent| parent.pose);
                if let Some((parent, slot)) = known.zip(self.stage.get_mut(place)) {
                    slot.pose = slot.pose.on(&parent);
                    slot.put = true;
                }
            }
        }
    }

    fn find(&self, actor: u32) -> Option<usize> {
        self.stage.binary_search_by_key(&actor, |slot| slot.actor).ok()
    }

    fn on(&mut self, actor: u32, change: impl FnOnce(&mut Slot)) {
        if let Some(slot) = self.find(actor).and_then(|place| self.stage.get_mut(place)) {
            change(slot);
        }
    }
}

/// One that lives in the stretch.
#[derive(Debug)]
struct Member {
    life: Life,
    /// Where it appeared; relative to its parent if it appeared attached.
    pose: Pose,
    /// Whether the recording says where it appeared.
    placed: bool,
    light: bool,
    /// In which frames it was attached to whom.
    attachments: Vec<(u32, u32)>,
    /// The lights of its last mark, while it stood still.
    lights: Option<u32>,
}

impl Member {
    fn new(frames: &Frames<'_>, life: &Life, attachments: &[(u32, u32)]) -> Self {
        let who = Identity::of(frames, Some(life));
        Self {
            life: *life,
            pose: who.pose.unwrap_or_default(),
            placed: who.pose.is_some(),
            light: who.class == ActorType::TrafficLight,
            // Not those of another actor that had the same id.
            attachments: attachments.iter().filter(|(made, _)| *made >= life.born).copied().collect(),
            lights: None,
        }
    }
}

/// One that is there in a frame.
#[derive(Clone, Copy, Debug)]
struct Slot {
    actor: u32,
    member: Option<usize>,
    pose: Pose,
    shown: Option<Position>,
    parent: Option<u32>,
    /// Whether it has no position but that of where it was attached.
    hangs: bool,
    /// Whether its pose is still to be put on its parent's, if that is there.
    relative: bool,
    /// Whether that was done.
    put: bool,
    velocity: Option<Vector>,
    walker: Option<f64>,
    lights: Option<u32>,
}

impl Slot {
    fn new(actor: u32) -> Self {
        Self {
            actor,
            member: None,
            pose: Pose::default(),
            shown: None,
            parent: None,
            hangs: false,
            relative: false,
            put: false,
            velocity: None,
            walker: None,
            lights: None,
        }
    }
}

/// One of which the recording has nothing but positions. Of several the first counts.
fn stranger(stage: &mut Vec<Slot>, position: Position) {
    if stage.last().is_none_or(|last| last.actor != position.actor) {
        let pose = Pose::of(position.location, position.rotation);
        stage.push(Slot { pose, shown: Some(position), ..Slot::new(position.actor) });
    }
}

/// The positions of a frame, by actors.
fn read_positions(frames: &Frames<'_>, place: usize, out: &mut Vec<Position>) {
    out.clear();
    if let Some(Body::Position(records)) = frames.packet(place, Kind::Position) {
        out.extend(records.iter());
        out.sort_by_key(|position| position.actor);
    }
}

fn length(velocity: Vector) -> f64 {
    velocity.array().iter().map(|part| part * part).sum::<f64>().sqrt()
}
