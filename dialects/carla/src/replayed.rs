//! What a replay shows, as a recording of its own.

use std::collections::HashSet;

use crate::frames::Frames;
use crate::replay::{Event, Tick};
use crate::wire::{
    Body, BoundingBox, Collision, EventAdd, EventDel, EventParent, Header, Kind, Position, Rotation, TrafficLightState,
    Vector, VehicleAnim, VehicleLight, WalkerAnim,
};
use crate::writer::{WriteError, Writer};

/// Writes the steps of a replay as the frames of a recording: actors where the replayer places them, with the lights,
/// controls and lamps of the frame that it shows. Time is that of who watches: a replay at half the speed lasts twice as
/// long.
pub struct Replayed<'f, 'a> {
    frames: &'f Frames<'a>,
    writer: Writer,
    living: HashSet<u32>,
}

impl<'f, 'a> Replayed<'f, 'a> {
    /// A recording of a replay that begins at a second of another.
    pub fn new(frames: &'f Frames<'a>, start: f64) -> Result<Self, WriteError> {
        let header = frames.header();
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds; what is too large saturates")]
        let date = header.date.saturating_add(start.max(0.0) as i64);
        let writer = Writer::new(&Header { date, ..header }, frames.wire_format())?;
        Ok(Self { frames, writer, living: HashSet::new() })
    }

    /// Appends a step, so many seconds after the last.
    pub fn step(&mut self, tick: &Tick<'a>, delta: f32) -> Result<(), WriteError> {
        self.writer.tick(delta)?;
        if let Some(seconds) = tick.visual_time {
            self.writer.visual_time(seconds)?;
        }
        let Events { added, deleted, attached } = Events::of(&tick.events, &self.living);
        self.writer.records(&added)?;
        self.living.extend(added.iter().map(|birth| birth.actor));
        self.writer.records(&deleted)?;
        deleted.iter().for_each(|death| _ = self.living.remove(&death.actor));
        let there = |actor: u32| self.living.contains(&actor);
        let attached: Vec<_> = attached.into_iter().filter(|r| there(r.actor) && there(r.parent)).collect();
        self.writer.records(&attached)?;
        self.writer.records::<Collision>(&[])?;
        let placed = tick.poses.iter().filter(|(actor, _)| there(*actor)).map(|(actor, pose)| Position {
            actor: *actor,
            location: Vector::new(pose.x * 100.0, pose.y * 100.0, pose.z * 100.0),
            rotation: Rotation::new(pose.roll, pose.pitch, pose.yaw),
        });
        self.writer.records(&placed.collect::<Vec<_>>())?;
        let shown = |kind| tick.shown.and_then(|place| self.frames.packet(place, kind));
        let mut lights: Vec<TrafficLightState> = Vec::new();
        let mut controls: Vec<VehicleAnim> = Vec::new();
        let mut walkers: Vec<WalkerAnim> = Vec::new();
        let mut lamps: Vec<VehicleLight> = Vec::new();
        for kind in [Kind::TrafficLightState, Kind::VehicleAnim, Kind::WalkerAnim, Kind::VehicleLight] {
            match shown(kind) {
                Some(Body::TrafficLightState(records)) => lights.extend(records.iter().filter(|r| there(r.actor))),
                Some(Body::VehicleAnim(records)) => controls.extend(records.iter().filter(|r| there(r.actor))),
                Some(Body::WalkerAnim(records)) => walkers.extend(records.iter().filter(|r| there(r.actor))),
                Some(Body::VehicleLight(records)) => lamps.extend(records.iter().filter(|r| there(r.actor))),
                _ => {}
            }
        }
        self.writer.records(&lights)?;
        self.writer.records(&controls)?;
        self.writer.records(&walkers)?;
        self.writer.records(&lamps)?;
        let sizes = added.iter().filter(|birth| self.living.contains(&birth.actor)).filter_map(|birth| {
            let change = self.frames.change(Kind::BoundingBox, birth.actor.into(), u32::MAX)?;
            self.frames.record::<BoundingBox>(change.at)
        });
        let sizes: Vec<_> = sizes.collect();
        if !sizes.is_empty() {
            self.writer.records(&sizes)?;
        }
        self.writer.end_frame()
    }

    /// The bytes that will not change any more and were not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// The last bytes.
    pub fn finish(self) -> Result<Vec<u8>, WriteError> {
        self.writer.finish()
    }
}

/// What a step changes in the end: an actor that comes and goes within it was never seen.
#[derive(Default)]
struct Events<'a> {
    added: Vec<EventAdd<'a>>,
    deleted: Vec<EventDel>,
    attached: Vec<EventParent>,
}

impl<'a> Events<'a> {
    fn of(events: &[Event<'a>], living: &HashSet<u32>) -> Self {
        let mut net = Self::default();
        for event in events {
            match event {
                Event::Add(birth) => {
                    let again = net.deleted.iter().position(|death| death.actor == birth.actor);
                    // One that goes and comes back under its id stays.
                    if let Some(place) = again {
                        net.deleted.remove(place);
                    } else if !living.contains(&birth.actor) {
                        net.added.retain(|before| before.actor != birth.actor);
                        net.added.push(birth.clone());
                    }
                }
                Event::Delete(actor) => {
                    let before = net.added.len();
                    net.added.retain(|birth| birth.actor != *actor);
                    let known = net.deleted.iter().any(|death| death.actor == *actor);
                    if net.added.len() == before && living.contains(actor) && !known {
                        net.deleted.push(EventDel { actor: *actor });
                    }
                }
                Event::Parent(attached) => net.attached.push(*attached),
            }
        }
        net
    }
}
