//! What a recording says of one moment, found by index: only the frames around it and the records that last until it
//! are read.

use crate::frames::{Frames, Life};
use crate::identity::Identity;
use crate::pose::{Pose, shorter_way};
use crate::wire::{
    ActorType, Body, BoundingBox, FrameStart, Kind, PhysicsControl, Position, SceneLight, TrafficLightState,
    TrafficLightTime, TriggerVolume, Vector, VehicleAnim, VehicleDoor, Weather, widen,
};

/// Between which frames poses are taken.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Mode {
    /// As recorded: between the last frame that has begun and the next.
    #[default]
    True,
    /// As CARLA's replayer shows it, which is one frame late: between the frame before the last that has begun and
    /// that one. The last frame of a recording is never shown.
    Carla,
}

/// Where a pose comes from.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PoseSource {
    /// From recorded positions.
    Recorded,
    /// From where the actor appeared; the recording has no positions of it.
    Birth,
    /// From where it was attached to its parent, and the parent's pose.
    Parent,
    /// Relative to a parent that is not there.
    Relative,
}

/// How fast something moves, in metres and degrees a second, along and about the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Velocity {
    /// Metres a second.
    pub linear: Vector,
    /// Degrees a second. If derived, how fast roll, pitch and yaw change.
    pub angular: Vector,
    /// Whether it was reckoned from the positions of two frames, for lack of a recorded one.
    pub derived: bool,
}

/// A box: centre and half sizes, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The centre: of an actor's own box in its frame, of a trigger in the world. Sensors have NaN.
    pub origin: Vector,
    /// Half sizes. Sensors have infinities.
    pub extent: Vector,
}

/// The doors of a vehicle. Only those are known that were opened or closed while recording.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Doors {
    known: u8,
    open: u8,
}

impl Doors {
    /// Their names, in the order of their numbers.
    pub const NAMES: [&'static str; 6] = ["front_left", "front_right", "rear_left", "rear_right", "hood", "trunk"];

    /// Whether a door is open, by its number; `None` if the recording does not say.
    #[must_use]
    pub fn is_open(self, door: u8) -> Option<bool> {
        let bit = |mask: u8| mask.checked_shr(door.into()).unwrap_or(0) & 1 == 1;
        bit(self.known).then(|| bit(self.open))
    }

    fn set(&mut self, door: u8, open: bool) {
        let mask = 1_u8.checked_shl(door.into()).unwrap_or(0);
        self.known |= mask;
        self.open = if open { self.open | mask } else { self.open & !mask };
    }
}

/// One actor at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActorState<'a> {
    /// Its id.
    pub actor: u32,
    /// What it is; empty if the recording does not say.
    pub blueprint: &'a [u8],
    /// What it is, in one word.
    pub class: ActorType,
    /// Whether it is the ego vehicle.
    pub hero: bool,
    /// What it is attached to; only attachments that were made while recording are known.
    pub parent: Option<u32>,
    /// Where it is.
    pub pose: Pose,
    /// Where that comes from.
    pub pose_source: PoseSource,
    /// How fast it moves.
    pub velocity: Option<Velocity>,
    /// The controls of a vehicle.
    pub controls: Option<VehicleAnim>,
    /// The speed of a walker, in metres a second.
    pub walker_speed: Option<f64>,
    /// The lamps of a vehicle, a bit for each.
    pub lamps: Option<u32>,
    /// Its size.
    pub bounds: Option<Bounds>,
    /// Where a light or sign looks for vehicles.
    pub trigger: Option<Bounds>,
    /// What a traffic light shows.
    pub light: Option<TrafficLightState>,
    /// How long a traffic light shows each colour.
    pub timing: Option<TrafficLightTime>,
    /// The doors of a vehicle.
    pub doors: Doors,
    /// Where its physics stand, see [`ActorState::physics`].
    physics_at: Option<u64>,
}

impl<'a> ActorState<'a> {
    fn new(actor: u32) -> Self {
        Self {
            actor,
            blueprint: b"",
            class: ActorType::Other,
            hero: false,
            parent: None,
            pose: Pose::default(),
            pose_source: PoseSource::Birth,
            velocity: None,
            controls: None,
            walker_speed: None,
            lamps: None,
            bounds: None,
            trigger: None,
            light: None,
            timing: None,
            doors: Doors::default(),
            physics_at: None,
        }
    }

    /// Its physics.
    #[must_use]
    pub fn physics(&self, frames: &Frames<'a>) -> Option<PhysicsControl> {
        frames.record(self.physics_at?)
    }
}

/// A recording at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct State<'a> {
    /// The moment, in seconds.
    pub time: f64,
    /// The last frame that has begun, counted from 0.
    pub frame: usize,
    /// How that frame starts.
    pub start: FrameStart,
    /// How far the poses are from the first of their two frames to the second, from 0 to 1.
    pub per: f64,
    /// The actors that are there, by their ids.
    pub actors: Vec<ActorState<'a>>,
    /// The lights of streets and buildings, by their ids.
    pub scene_lights: Vec<SceneLight>,
    /// The weather.
    pub weather: Option<Weather>,
}

impl<'a> State<'a> {
    /// The state at a time in seconds. `None` before the first whole frame; after the last, its state remains.
    #[must_use]
    pub fn at(frames: &Frames<'a>, time: f64, mode: Mode) -> Option<Self> {
        let place = frames.at_time(time)?;
        let frame = u32::try_from(place).ok()?;
        let motion = Motion::at(frames, place, time, mode);
        let mut slots = Slots::list(frames, frame, motion.shown.and_then(|(place, _)| positions(frames, place)));
        slots.attach(frames, frame);
        if let Some((shown, _)) = motion.shown {
            slots.read_frame(frames, shown);
        }
        let others = motion.other.and_then(|(place, _)| positions(frames, place));
        others.into_iter().flatten().for_each(|record| slots.update(record.actor, |slot| slot.other = Some(record)));
        slots.lasting(frames, frame);
        slots.place(frames, &motion);
        let lights = frames.changes_in(Kind::SceneLight, 0..=u64::MAX, frame);
        let mut scene_lights: Vec<SceneLight> = lights.filter_map(|(_, change)| frames.record(change.at)).collect();
        scene_lights.sort_by_key(|light| light.light);
        Some(Self {
            time,
            frame: place,
            start: frames.frames().get(place)?.start,
            per: motion.per,
            actors: slots.0.into_iter().map(|slot| slot.state).collect(),
            scene_lights,
            weather: frames.change(Kind::Weather, 0, frame).and_then(|change| frames.record(change.at)),
        })
    }

    /// The state of one actor.
    #[must_use]
    pub fn actor(&self, actor: u32) -> Option<&ActorState<'a>> {
        self.actors.binary_search_by_key(&actor, |state| state.actor).ok().and_then(|place| self.actors.get(place))
    }
}

/// The positions of a frame.
fn positions<'a>(frames: &Frames<'a>, place: usize) -> Option<impl Iterator<Item = Position> + use<'a>> {
    match frames.packet(place, Kind::Position)? {
        Body::Position(records) => Some(records.iter()),
        _ => None,
    }
}

/// Between which frames poses are taken, and how far.
struct Motion {
    mode: Mode,
    /// The frame whose actors are shown: its place, and when it begins.
    shown: Option<(usize, f64)>,
    /// Its neighbour.
    other: Option<(usize, f64)>,
    per: f64,
}

impl Motion {
    fn at(frames: &Frames<'_>, place: usize, time: f64, mode: Mode) -> Self {
        let frame = |place: usize| Some((place, frames.frames().get(place)?.start));
        let begins = |(place, start): (usize, FrameStart)| (place, start.elapsed);
        let (now, before) = (frame(place), place.checked_sub(1).and_then(frame));
        let part = |time: f64, whole: f64| Some(time / whole).filter(|part| part.is_finite()).unwrap_or(0.0);
        let (shown, other, per) = match (mode, now) {
            (Mode::True, Some((_, start))) => match frame(place + 1) {
                Some((_, next)) => (now, frame(place + 1), part(time - start.elapsed, next.elapsed - start.elapsed)),
                None => (now, before, 0.0),
            },
            (Mode::Carla, Some((_, start))) if time < start.elapsed + start.duration => {
                (now, before, part(time - start.elapsed, start.duration))
            }
            // A frame that lasts for no time is not shown: what was shown before it remains.
            (Mode::Carla, _) => (before, place.checked_sub(2).and_then(frame), 1.0),
            (Mode::True, None) => (None, None, 0.0),
        };
        Self { mode, shown: shown.map(begins), other: other.map(begins), per: per.clamp(0.0, 1.0) }
    }

    /// The pose of an actor, and its velocity.
    fn of(&self, slot: &Slot<'_>) -> Option<(Pose, Option<Velocity>)> {
        let shown = slot.shown.as_ref()?;
        let as_is = Pose::of(shown.location, shown.rotation);
        let (place, begins) = self.shown?;
        let Some(((other_place, other_begins), other)) = self.other.zip(slot.other.as_ref()) else {
            return Some((as_is, None));
        };
        let pose = match self.mode {
            Mode::Carla => Pose::between(other, shown, self.per),
            // An actor that had or gets the same id is another.
            Mode::True if other_place > place && slot.is_same(other_place) => Pose::between(shown, other, self.per),
            Mode::True => as_is,
        };
        let velocity = slot.is_same(other_place).then(|| derived(other, shown, begins - other_begins)).flatten();
        Some((pose, velocity))
    }
}

/// The velocity of what went from one place to another in so many seconds, which may be negative.
fn derived(from: &Position, to: &Position, seconds: f64) -> Option<Velocity> {
    if !seconds.is_finite() || seconds == 0.0 {
        return None;
    }
    let (a, b) = (from.location, to.location);
    let rate = |a: f64, b: f64| (b - a) / 100.0 / seconds;
    let linear = Vector::new(rate(a.x, b.x), rate(a.y, b.y), rate(a.z, b.z));
    let (a, b) = (from.rotation, to.rotation);
    let rate = |a: f64, b: f64| shorter_way(b - a) / seconds;
    let angular = Vector::new(rate(a.roll, b.roll), rate(a.pitch, b.pitch), rate(a.yaw, b.yaw));
    Some(Velocity { linear, angular, derived: true })
}

/// An actor, and what is needed to find out its state.
struct Slot<'a> {
    state: ActorState<'a>,
    life: Option<Life>,
    /// Whether it appeared attached to its parent, so that its pose is relative to it.
    hangs: bool,
    shown: Option<Position>,
    other: Option<Position>,
}

impl Slot<'_> {
    fn new(actor: u32, life: Option<Life>) -> Self {
        Self { state: ActorState::new(actor), life, hangs: false, shown: None, other: None }
    }

    /// Whether in another frame its id is its own.
    fn is_same(&self, place: usize) -> bool {
        let frame = u32::try_from(place).unwrap_or(u32::MAX);
        self.life.is_none_or(|life| life.covers(frame))
    }

    fn born(&self) -> u32 {
        self.life.map_or(0, |life| life.born)
    }
}

/// The actors of a frame, by their ids.
struct Slots<'a>(Vec<Slot<'a>>);

impl<'a> Slots<'a> {
    /// Lists the actors that are there: those that live, and those that only have a position.
    fn list(frames: &Frames<'a>, frame: u32, positions: Option<impl Iterator<Item = Position>>) -> Self {
        let born = frames.lives().partition_point(|life| life.born <= frame);
        let lives = frames.lives().iter().take(born).filter(|life| life.covers(frame));
        let mut slots = Self(lives.map(|life| Slot::new(life.actor, Some(*life))).collect());
        slots.sort();
        let mut unknown = Vec::new();
        for record in positions.into_iter().flatten() {
            match slots.find(record.actor).and_then(|place| slots.0.get_mut(place)) {
                Some(slot) => slot.shown = Some(record),
                None => unknown.push(Slot { shown: Some(record), ..Slot::new(record.actor, None) }),
            }
        }
        if !unknown.is_empty() {
            slots.0.append(&mut unknown);
            slots.sort();
            slots.0.dedup_by_key(|slot| slot.state.actor);
        }
        slots
    }

    fn sort(&mut self) {
        self.0.sort_by_key(|slot| slot.state.actor);
    }

    fn find(&self, actor: u32) -> Option<usize> {
        self.0.binary_search_by_key(&actor, |slot| slot.state.actor).ok()
    }

    fn update(&mut self, actor: u32, change: impl FnOnce(&mut Slot<'a>)) {
        if let Some(slot) = self.find(actor).and_then(|place| self.0.get_mut(place)) {
            change(slot);
        }
    }

    /// Notes which actor is attached to which.
    fn attach(&mut self, frames: &Frames<'a>, frame: u32) {
        let made = frames.parents().partition_point(|attachment| attachment.frame <= frame);
        for attachment in frames.parents().iter().take(made) {
            self.update(attachment.actor, |slot| {
                // Not one of another actor that had the same id.
                if attachment.frame >= slot.born() {
                    slot.state.parent = Some(attachment.parent);
                    slot.hangs = slot.life.is_some_and(|life| life.born == attachment.frame);
                }
            });
        }
    }

    /// Takes over what a frame says of its own.
    fn read_frame(&mut self, frames: &Frames<'a>, place: usize) {
        let form = frames.wire_format();
        for packet in frames.packets(place) {
            let handled = matches!(
                packet.kind(form),
                Some(
                    Kind::TrafficLightState
                        | Kind::VehicleAnim
                        | Kind::WalkerAnim
                        | Kind::VehicleLight
                        | Kind::Kinematics
                )
            );
            if !handled {
                continue;
            }
            match packet.decode(form) {
                Ok(Body::TrafficLightState(records)) => {
                    records.iter().for_each(|r| self.update(r.actor, |slot| slot.state.light = Some(r)));
                }
                Ok(Body::VehicleAnim(records)) => {
                    records.iter().for_each(|r| self.update(r.actor, |slot| slot.state.controls = Some(r)));
                }
                Ok(Body::WalkerAnim(records)) => records.iter().for_each(|r| {
                    self.update(r.actor, |slot| slot.state.walker_speed = Some(widen(r.speed) / 100.0));
                }),
                Ok(Body::VehicleLight(records)) => {
                    records.iter().for_each(|r| self.update(r.actor, |slot| slot.state.lamps = Some(r.lights)));
                }
                Ok(Body::Kinematics(records)) => records.iter().for_each(|r| {
                    let velocity = Velocity { linear: r.linear, angular: r.angular, derived: false };
                    self.update(r.actor, |slot| slot.state.velocity = Some(velocity));
                }),
                _ => {}
            }
        }
    }

    /// Takes over what was said before and still holds.
    fn lasting(&mut self, frames: &Frames<'a>, frame: u32) {
        for slot in &mut self.0 {
            let (born, actor) = (slot.born(), &mut slot.state);
            let key = u64::from(actor.actor);
            let last = |kind| frames.change(kind, key, frame).filter(|change| change.frame >= born);
            let bounds = |origin, extent| Bounds { origin: metres(origin), extent: metres(extent) };
            actor.bounds = last(Kind::BoundingBox)
                .and_then(|change| frames.record::<BoundingBox>(change.at))
                .map(|r| bounds(r.origin, r.extent));
            actor.trigger = last(Kind::TriggerVolume)
                .and_then(|change| frames.record::<TriggerVolume>(change.at))
                .map(|r| bounds(r.origin, r.extent));
            actor.timing = last(Kind::TrafficLightTime).and_then(|change| frames.record(change.at));
            actor.physics_at = last(Kind::PhysicsControl).map(|change| change.at);
            let mut doors: Vec<_> = frames
                .changes_in(Kind::VehicleDoor, key << 8..=key << 8 | 0xff, frame)
                .filter(|(_, change)| change.frame >= born)
                .collect();
            // In the order in which they moved: all of them at once is a door of its own.
            doors.sort_by_key(|(_, change)| change.at);
            for record in doors.iter().filter_map(|(_, change)| frames.record::<VehicleDoor>(change.at)) {
                match record.door {
                    6 => (0..6).for_each(|door| actor.doors.set(door, record.open.is_set())),
                    door => actor.doors.set(door, record.open.is_set()),
                }
            }
        }
    }

    /// Says who the actors are, and where.
    fn place(&mut self, frames: &Frames<'a>, motion: &Motion) {
        for slot in &mut self.0 {
            let who = Identity::of(frames, slot.life.as_ref());
            slot.state.blueprint = who.blueprint;
            slot.state.class = who.class;
            slot.state.hero = who.hero;
            if let Some((pose, velocity)) = motion.of(slot) {
                slot.state.pose = pose;
                slot.state.pose_source = PoseSource::Recorded;
                slot.state.velocity = slot.state.velocity.or(velocity);
            } else if let Some(pose) = who.pose {
                slot.state.pose = pose;
                slot.state.pose_source = if slot.hangs { PoseSource::Relative } else { PoseSource::Birth };
            }
        }
        self.hang();
    }

    /// Finds the poses of those that are known only relative to their parents: from each up to the first whose pose is
    /// known, and back. Every one is visited once, so that those that hang on each other do no harm.
    fn hang(&mut self) {
        let mut visited = vec![false; self.0.len()];
        let mut chain = Vec::new();
        for start in 0..self.0.len() {
            let mut next = Some(start);
            while let Some(place) = next {
                let relative = self.0.get(place).filter(|slot| slot.state.pose_source == PoseSource::Relative);
                let (Some(slot), Some(visited)) = (relative, visited.get_mut(place)) else { break };
                if std::mem::replace(visited, true) {
                    break;
                }
                chain.push(place);
                next = slot.state.parent.and_then(|parent| self.find(parent));
            }
            while let Some(place) = chain.pop() {
                let parent = self.0.get(place).and_then(|slot| self.find(slot.state.parent?));
                let parent = parent.and_then(|parent| self.0.get(parent)).map(|slot| &slot.state);
                let known =
                    parent.filter(|parent| parent.pose_source != PoseSource::Relative).map(|parent| parent.pose);
                if let (Some(parent), Some(slot)) = (known, self.0.get_mut(place)) {
                    slot.state.pose = slot.state.pose.on(&parent);
                    slot.state.pose_source = PoseSource::Parent;
                }
            }
        }
    }
}

fn metres(Vector { x, y, z }: Vector) -> Vector {
    Vector::new(x / 100.0, y / 100.0, z / 100.0)
}
