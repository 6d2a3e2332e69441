//! Recordings of one's own data: actors that are spawned, moved and destroyed, in metres and degrees.

use std::collections::{BTreeMap, HashMap};

use crate::about::{About, fits};
use crate::wire::*;
use crate::writer::{Batch, ORDER, WriteError, Writer};

/// The build of CARLA that a recording is for. It decides version, numbers and which packets there are.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// 0.9.4 and 0.9.5: events, positions, traffic lights.
    V0_9_4,
    /// 0.9.6 to 0.9.8: controls of vehicles, speeds of walkers.
    V0_9_6,
    /// 0.9.9: signs have a type of their own.
    V0_9_9,
    /// 0.9.10: lamps, scene lights, additional data.
    V0_9_10,
    /// 0.9.11: positions of everything that moves.
    V0_9_11,
    /// 0.9.12: sensors have a type of their own.
    V0_9_12,
    /// 0.9.13.
    V0_9_13,
    /// 0.9.14: bones, visual time.
    V0_9_14,
    /// 0.9.15: wheels, riders.
    V0_9_15,
    /// 0.9.16: doors.
    #[default]
    V0_9_16,
    /// 0.10.0, the first of UE5.
    V0_10,
    /// UE4 from 2026 on: weather.
    Ue4Dev,
    /// UE5 from 2026 on: weather.
    Ue5Dev,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::V0_9_4,
        Self::V0_9_6,
        Self::V0_9_9,
        Self::V0_9_10,
        Self::V0_9_11,
        Self::V0_9_12,
        Self::V0_9_13,
        Self::V0_9_14,
        Self::V0_9_15,
        Self::V0_9_16,
        Self::V0_10,
        Self::Ue4Dev,
        Self::Ue5Dev,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_9_4 => "0.9.4",
            Self::V0_9_6 => "0.9.6",
            Self::V0_9_9 => "0.9.9",
            Self::V0_9_10 => "0.9.10",
            Self::V0_9_11 => "0.9.11",
            Self::V0_9_12 => "0.9.12",
            Self::V0_9_13 => "0.9.13",
            Self::V0_9_14 => "0.9.14",
            Self::V0_9_15 => "0.9.15",
            Self::V0_9_16 => "0.9.16",
            Self::V0_10 => "0.10.0",
            Self::Ue4Dev => "UE4 of 2026",
            Self::Ue5Dev => "UE5 of 2026",
        }
    }

    /// The version in the header.
    #[must_use]
    pub fn version(self) -> u16 {
        if matches!(self, Self::V0_9_16 | Self::Ue4Dev) { 2 } else { 1 }
    }

    /// Whether it is built on UE5.
    #[must_use]
    pub fn is_ue5(self) -> bool {
        matches!(self, Self::V0_10 | Self::Ue5Dev)
    }

    /// How it writes packets.
    #[must_use]
    pub fn wire_format(self) -> WireFormat {
        WireFormat {
            ids: if self == Self::V0_10 { Ids::B } else { Ids::A },
            vectors: if self.is_ue5() { Vectors::F64 } else { Vectors::F32 },
            physics: match self {
                _ if self.is_ue5() => Physics::Ue5,
                Self::V0_9_10 | Self::V0_9_11 => Physics::W36,
                _ => Physics::W48,
            },
        }
    }

    /// Whether it writes packets of a kind at all.
    #[must_use]
    pub fn has(self, kind: Kind) -> bool {
        let since = match kind {
            Kind::FrameCounter => return false,
            Kind::VehicleAnim | Kind::WalkerAnim => Self::V0_9_6,
            Kind::VehicleLight | Kind::SceneLight => Self::V0_9_10,
            Kind::WalkerBones | Kind::VisualTime => Self::V0_9_14,
            _ if is_additional(kind) => Self::V0_9_10,
            Kind::VehicleWheels | Kind::BikerAnim => Self::V0_9_15,
            Kind::VehicleDoor => Self::V0_9_16,
            Kind::Weather => Self::Ue4Dev,
            _ => Self::V0_9_4,
        };
        self >= since
    }

    /// The number of an actor's type.
    #[must_use]
    pub fn actor_type(self, class: ActorType) -> u8 {
        let known = match class {
            ActorType::TrafficSign => self >= Self::V0_9_9,
            ActorType::Sensor => self >= Self::V0_9_12,
            _ => true,
        };
        if known { class.number() } else { ActorType::Other.number() }
    }

    /// The number of an attribute's type, if it has such attributes.
    #[must_use]
    pub fn attribute_type(self, attribute: AttributeType) -> Option<u8> {
        let number = match attribute {
            AttributeType::Bool => 0,
            AttributeType::Int => 1,
            AttributeType::Float => 2,
            AttributeType::String => 3,
            AttributeType::Color => 4,
            AttributeType::Vector if self.is_ue5() => 5,
            AttributeType::Vector => return None,
        };
        Some(if self.version() >= 2 { number + 1 } else { number })
    }

    /// What stands in a collision for something that is no actor.
    #[must_use]
    pub fn no_actor(self) -> u32 {
        if self >= Self::V0_9_13 { u32::MAX } else { 0 }
    }

    /// Whether actors of a class have positions.
    fn has_position(self, class: ActorType) -> bool {
        match class {
            ActorType::Vehicle | ActorType::Walker => true,
            ActorType::Other => self >= Self::V0_9_11,
            ActorType::TrafficLight | ActorType::TrafficSign | ActorType::Sensor => false,
        }
    }
}

/// Whether packets of a kind are only there with additional data.
fn is_additional(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Kinematics
            | Kind::BoundingBox
            | Kind::PlatformTime
            | Kind::PhysicsControl
            | Kind::TrafficLightTime
            | Kind::TriggerVolume
            | Kind::WalkerBones
    )
}

/// Whether packets of a kind are there also when they are empty.
fn is_in_every_frame(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::SceneLight
            | Kind::Kinematics
            | Kind::PhysicsControl
            | Kind::TrafficLightTime
            | Kind::TriggerVolume
            | Kind::Weather
    )
}

/// What an attribute's text means.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum AttributeType {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A text.
    #[default]
    String,
    /// `r,g,b`.
    Color,
    /// `x,y,z`, in UE5 only.
    Vector,
}

/// What a recording is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordingOptions<'a> {
    /// The build it is for.
    pub target: Target,
    /// The map's name, such as `Town03`.
    pub map: &'a str,
    /// When it begins, in seconds since 1970-01-01 UTC.
    pub date: i64,
    /// Whether it has velocities, boxes, physics and the like.
    pub additional_data: bool,
}

/// An actor that is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spawn<'a> {
    /// What it is, such as `vehicle.tesla.model3`.
    pub blueprint: &'a str,
    /// The index of the blueprint in the server that is to replay it, from 1 on. 0.9.15 and older look at nothing else.
    pub uid: u32,
    /// Its id; the next one that is free if none is given.
    pub id: Option<u32>,
    /// Its class, if the blueprint does not imply it.
    pub class: Option<ActorType>,
    /// Where, in metres; relative to the parent if there is one.
    pub location: Vector,
    /// How it is turned, in degrees; relative to the parent if there is one.
    pub rotation: Rotation,
    /// The actor it is attached to.
    pub parent: Option<u32>,
    /// Type, name and value of its attributes.
    pub attributes: &'a [(AttributeType, &'a str, &'a str)],
}

/// What the driver of a vehicle does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Controls {
    /// -1 to 1.
    pub steering: f32,
    /// 0 to 1.
    pub throttle: f32,
    /// 0 to 1.
    pub brake: f32,
    /// Whether the hand brake is on.
    pub handbrake: bool,
    /// -1 reverse, 0 neutral.
    pub gear: i32,
}

/// What a traffic light shows.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the colours")]
pub enum Signal {
    Red,
    Yellow,
    Green,
    Off,
}

impl Signal {
    /// Its number in the file.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Red => 0,
            Self::Yellow => 1,
            Self::Green => 2,
            Self::Off => 3,
        }
    }
}

/// A recording that is being made, frame by frame, in metres, seconds and degrees.
///
/// The state of an actor stays until it is changed: every frame holds all of it, as CARLA writes it.
///
/// ```
/// use logpose_carla::{Controls, Frames, Recording, RecordingOptions, Rotation, Spawn, Target, Vector};
///
/// let options = RecordingOptions { target: Target::V0_9_15, map: "Town03", ..RecordingOptions::default() };
/// let mut recording = Recording::new(&options)?;
/// recording.tick(0.05)?; // the first frame is at 0 s
/// let car = recording.spawn(&Spawn { blueprint: "vehicle.tesla.model3", uid: 17, ..Spawn::default() })?;
/// for step in 1..=20 {
///     recording.tick(0.05)?;
///     recording.place(car, Vector::new(0.5 * f64::from(step), 0.0, 0.0), Rotation::new(0.0, 0.0, 90.0))?;
///     recording.control(car, Controls { throttle: 0.4, gear: 1, ..Controls::default() })?;
///     let bytes = recording.take(); // of the frames that are over: write them wherever you like
///     assert!(!bytes.is_empty());
/// }
/// recording.destroy(car)?;
/// let rest = recording.finish()?;
/// # let mut recording = Recording::new(&options)?;
/// # recording.frame(0.0)?;
/// # let log = recording.finish()?;
/// assert_eq!(Frames::scan(&log)?.frames().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    target: Target,
    additional_data: bool,
    writer: Writer,
    actors: BTreeMap<u32, Live>,
    next_id: u32,
    collisions: u32,
    frame: Frame,
}

/// What happens in one frame and not in the next.
#[derive(Debug, Default)]
struct Frame {
    events: HashMap<Kind, Batch>,
    /// Actors that this frame takes away.
    gone: HashMap<u32, bool>,
    private: Vec<(u8, Vec<u8>)>,
    visual_time: Option<f64>,
    platform_time: Option<f64>,
}

/// What is known of an actor that is there. Lengths are centimetres here.
#[derive(Debug)]
struct Live {
    class: ActorType,
    hero: bool,
    location: Vector,
    rotation: Rotation,
    controls: Controls,
    walker_speed: f64,
    lamps: u32,
    signal: Option<(Signal, f32, bool)>,
    velocity: Option<(Vector, Vector)>,
    wheels: Option<Vec<WheelPose>>,
    biker: Option<(f64, f32)>,
    bones: Vec<(String, Vector, Rotation)>,
}

impl Recording {
    /// A recording without frames.
    pub fn new(options: &RecordingOptions<'_>) -> Result<Self, WriteError> {
        let RecordingOptions { target, map, date, additional_data } = *options;
        let header = Header { version: target.version(), date, map: map.as_bytes() };
        let writer = Writer::new(&header, target.wire_format())?;
        let (actors, frame) = (BTreeMap::new(), Frame::default());
        Ok(Self { target, additional_data, writer, actors, next_id: 1, collisions: 0, frame })
    }

    /// Ends the frame before and begins one `elapsed` seconds after the recording began.
    pub fn frame(&mut self, elapsed: f64) -> Result<(), WriteError> {
        // A frame that is refused leaves the one before it open.
        if let Some(last) = self.writer.elapsed()
            && !(elapsed.is_finite() && elapsed >= last)
        {
            return Err(WriteError::FrameOrder { elapsed, last });
        }
        self.end_frame()?;
        self.writer.begin_frame(elapsed)
    }

    /// Ends the frame before and begins one `delta` seconds after it, as CARLA does; the first is at 0.
    pub fn tick(&mut self, delta: f32) -> Result<(), WriteError> {
        if !delta.is_finite() || delta < 0.0 {
            let last = self.writer.elapsed().unwrap_or(0.0);
            return Err(WriteError::FrameOrder { elapsed: last + f64::from(delta), last });
        }
        self.end_frame()?;
        self.writer.tick(delta)
    }

    /// Adds an actor and says its id.
    pub fn spawn(&mut self, actor: &Spawn<'_>) -> Result<u32, WriteError> {
        self.in_frame()?;
        let id = actor.id.unwrap_or(self.next_id);
        if !Collision::is_actor(id) {
            return Err(WriteError::NoActor(id));
        }
        if self.actors.len() >= MAX_RECORDS {
            let (frame, count) = (self.writer.frame_id(), self.actors.len() + 1);
            return Err(WriteError::TooManyRecords { frame, kind: Kind::Position, count });
        }
        if self.actors.contains_key(&id) || self.frame.gone.contains_key(&id) {
            return Err(WriteError::ActorExists(id));
        }
        finite(id, "location", actor.location.array())?;
        finite(id, "rotation", actor.rotation.array())?;
        if let Some(parent) = actor.parent {
            self.living(parent, Kind::EventParent)?;
        }
        let mut attributes = Vec::with_capacity(actor.attributes.len());
        for (kind, name, value) in actor.attributes {
            let number = self.target.attribute_type(*kind);
            let attribute_type = number.ok_or(WriteError::NoVectorAttributes { target: self.target.name() })?;
            if name.is_empty() {
                return Err(WriteError::NamelessAttribute { blueprint: actor.blueprint.to_owned() });
            }
            attributes.push(Attribute { attribute_type, id: name.as_bytes(), value: value.as_bytes() });
        }
        let implied = ActorType::of_blueprint(actor.blueprint.as_bytes());
        let class = actor.class.or(implied).unwrap_or(ActorType::Other);
        let (location, rotation) = (centimetres(actor.location), actor.rotation);
        let add = EventAdd {
            actor: id,
            actor_type: self.target.actor_type(class),
            location,
            rotation,
            uid: actor.uid,
            blueprint: actor.blueprint.as_bytes(),
            attributes: Attributes(attributes),
        };
        add.check()?;
        let hero = add.is_hero();
        if actor.parent.is_some() {
            self.room(Kind::EventParent)?;
        }
        self.push(&add)?;
        self.actors.insert(id, Live::new(class, hero, location, rotation));
        self.next_id = self.next_id.max(id.saturating_add(1));
        if let Some(parent) = actor.parent {
            self.push(&EventParent { actor: id, parent })?;
        }
        Ok(id)
    }

    /// Takes an actor away.
    pub fn destroy(&mut self, actor: u32) -> Result<(), WriteError> {
        self.in_frame()?;
        let hero = self.living(actor, Kind::EventDel)?.hero;
        self.push(&EventDel { actor })?;
        self.actors.remove(&actor);
        self.frame.gone.insert(actor, hero);
        Ok(())
    }

    /// Attaches an actor to another.
    pub fn attach(&mut self, actor: u32, parent: u32) -> Result<(), WriteError> {
        self.in_frame()?;
        self.living(actor, Kind::EventParent)?;
        self.living(parent, Kind::EventParent)?;
        self.push(&EventParent { actor, parent })
    }

    /// Notes that an actor hit another, or something that is no actor.
    pub fn collide(&mut self, actor: u32, other: Option<u32>) -> Result<(), WriteError> {
        self.in_frame()?;
        let hero1 = self.hero(actor)?;
        let hero2 = other.map_or(Ok(false), |other| self.hero(other))?;
        let actor2 = other.unwrap_or_else(|| self.target.no_actor());
        let id = self.collisions;
        self.collisions = id.wrapping_add(1);
        let record = Collision { id, actor1: actor, actor2, hero1: hero1.into(), hero2: hero2.into() };
        self.push(&record)
    }

    /// Moves an actor: metres and degrees, in the world.
    pub fn place(&mut self, actor: u32, location: Vector, rotation: Rotation) -> Result<(), WriteError> {
        self.in_frame()?;
        finite(actor, "location", location.array())?;
        finite(actor, "rotation", rotation.array())?;
        let target = self.target;
        let live = self.living(actor, Kind::Position)?;
        if !target.has_position(live.class) {
            return Err(WriteError::WrongClass { actor, class: live.class, kind: Kind::Position });
        }
        live.location = centimetres(location);
        live.rotation = rotation;
        Ok(())
    }

    /// Sets what the driver of a vehicle does.
    pub fn control(&mut self, vehicle: u32, controls: Controls) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::VehicleAnim)?.controls = controls;
        Ok(())
    }

    /// Sets the speed of a walker, in metres a second.
    pub fn walk(&mut self, walker: u32, speed: f64) -> Result<(), WriteError> {
        self.of_class(walker, ActorType::Walker, Kind::WalkerAnim)?.walker_speed = speed * 100.0;
        Ok(())
    }

    /// Sets the lamps of a vehicle: bit 0 position, 1 low beam, 2 high beam, 3 brake, 4 right and 5 left blinker,
    /// 6 reverse, 7 fog, 8 interior, 9 and 10 special.
    pub fn lamps(&mut self, vehicle: u32, lamps: u32) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::VehicleLight)?.lamps = lamps;
        Ok(())
    }

    /// Sets what a traffic light shows, since how many seconds, and whether it stays so.
    pub fn signal(&mut self, light: u32, signal: Signal, elapsed: f32, frozen: bool) -> Result<(), WriteError> {
        self.of_class(light, ActorType::TrafficLight, Kind::TrafficLightState)?.signal =
            Some((signal, elapsed, frozen));
        Ok(())
    }

    /// Sets how fast an actor moves and turns: metres and degrees a second, along the axes of the world.
    pub fn velocity(&mut self, actor: u32, linear: Vector, angular: Vector) -> Result<(), WriteError> {
        finite(actor, "velocity", linear.array())?;
        finite(actor, "velocity", angular.array())?;
        self.known(Kind::Kinematics)?;
        self.living(actor, Kind::Kinematics)?.velocity = Some((linear, angular));
        Ok(())
    }

    /// Sets how the wheels of a vehicle stand.
    pub fn wheels(&mut self, vehicle: u32, wheels: &[WheelPose]) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::VehicleWheels)?.wheels = Some(wheels.to_vec());
        Ok(())
    }

    /// Sets what the rider of a two-wheeler does: metres a second, and engine speed by its maximum.
    pub fn biker(&mut self, vehicle: u32, forward_speed: f64, engine_rotation: f32) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::BikerAnim)?.biker =
            Some((forward_speed * 100.0, engine_rotation));
        Ok(())
    }

    /// Sets the bones of a walker: name, metres and degrees, relative to the bone each hangs on.
    pub fn bones(&mut self, walker: u32, bones: &[(&str, Vector, Rotation)]) -> Result<(), WriteError> {
        bones.iter().try_for_each(|(name, ..)| fits("name of a bone", name.as_bytes()))?;
        let owned = bones.iter().map(|(name, at, turn)| ((*name).to_owned(), centimetres(*at), *turn));
        self.of_class(walker, ActorType::Walker, Kind::WalkerBones)?.bones = owned.collect();
        Ok(())
    }

    /// Says how large an actor is: centre in its own frame, and half sizes, in metres.
    pub fn bounding_box(&mut self, actor: u32, origin: Vector, extent: Vector) -> Result<(), WriteError> {
        self.known(Kind::BoundingBox)?;
        self.living(actor, Kind::BoundingBox)?;
        let (origin, extent) = (centimetres(origin), centimetres(extent));
        self.push(&BoundingBox { actor, origin, extent })
    }

    /// Says where a traffic light or sign looks for vehicles: centre in the world, and half sizes, in metres.
    pub fn trigger(&mut self, actor: u32, origin: Vector, extent: Vector) -> Result<(), WriteError> {
        self.known(Kind::TriggerVolume)?;
        let class = self.living(actor, Kind::TriggerVolume)?.class;
        if !matches!(class, ActorType::TrafficLight | ActorType::TrafficSign) {
            return Err(WriteError::WrongClass { actor, class, kind: Kind::TriggerVolume });
        }
        let (origin, extent) = (centimetres(origin), centimetres(extent));
        self.push(&TriggerVolume { actor, origin, extent })
    }

    /// Says how many seconds a traffic light shows each colour.
    pub fn timing(&mut self, light: u32, green: f32, yellow: f32, red: f32) -> Result<(), WriteError> {
        self.of_class(light, ActorType::TrafficLight, Kind::TrafficLightTime)?;
        self.push(&TrafficLightTime { actor: light, green, yellow, red })
    }

    /// Describes the physics of a vehicle.
    pub fn physics(&mut self, vehicle: u32, body: PhysicsBody) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::PhysicsControl)?;
        if matches!(body, PhysicsBody::Ue5(_)) != self.target.is_ue5() {
            return Err(WriteError::WrongPhysics { target: self.target.name() });
        }
        self.push(&PhysicsControl { actor: vehicle, body })
    }

    /// Opens or closes a door: 0 front left, 1 front right, 2 rear left, 3 rear right, 4 hood, 5 trunk, 6 all.
    pub fn door(&mut self, vehicle: u32, door: u8, open: bool) -> Result<(), WriteError> {
        self.of_class(vehicle, ActorType::Vehicle, Kind::VehicleDoor)?;
        self.push(&VehicleDoor { actor: vehicle, door, open: open.into() })
    }

    /// Changes a street or building light.
    pub fn scene_light(&mut self, light: SceneLight) -> Result<(), WriteError> {
        self.known(Kind::SceneLight)?;
        self.push(&light)
    }

    /// Changes the weather.
    pub fn weather(&mut self, weather: Weather) -> Result<(), WriteError> {
        self.known(Kind::Weather)?;
        self.push(&weather)
    }

    /// Sets the clock of visual effects for this frame, in seconds; without it, it is the time of the frame.
    pub fn visual_time(&mut self, seconds: f64) -> Result<(), WriteError> {
        self.known(Kind::VisualTime)?;
        self.frame.visual_time = Some(seconds);
        Ok(())
    }

    /// Sets the seconds of wall-clock time since the recording began; without it, they are the time of the frame.
    pub fn platform_time(&mut self, seconds: f64) -> Result<(), WriteError> {
        self.known(Kind::PlatformTime)?;
        self.frame.platform_time = Some(seconds);
        Ok(())
    }

    /// Adds a packet of one's own. CARLA passes over ids above 100.
    pub fn packet(&mut self, id: u8, body: &[u8]) -> Result<(), WriteError> {
        self.in_frame()?;
        if id <= 100 {
            return Err(WriteError::ReservedId(id));
        }
        self.frame.private.push((id, body.to_vec()));
        Ok(())
    }

    /// The bytes of all frames that are over and were not taken yet.
    pub fn take(&mut self) -> Vec<u8> {
        self.writer.take()
    }

    /// Ends the last frame and gives the rest of the bytes: all, if none were taken.
    pub fn finish(mut self) -> Result<Vec<u8>, WriteError> {
        self.end_frame()?;
        self.writer.finish()
    }

    /// The ids of the actors that are there.
    pub fn actors(&self) -> impl Iterator<Item = u32> + '_ {
        self.actors.keys().copied()
    }

    fn end_frame(&mut self) -> Result<(), WriteError> {
        let Some(elapsed) = self.writer.elapsed() else { return Ok(()) };
        let frame = std::mem::take(&mut self.frame);
        for kind in ORDER {
            if !self.target.has(kind) || is_additional(kind) && !self.additional_data {
                continue;
            }
            match kind {
                Kind::FrameStart | Kind::FrameEnd => {}
                Kind::VisualTime => self.writer.visual_time(frame.visual_time.unwrap_or(elapsed))?,
                Kind::PlatformTime => self.writer.platform_time(frame.platform_time.unwrap_or(elapsed))?,
                _ => {
                    let states;
                    let batch = match frame.events.get(&kind) {
                        Some(batch) => batch,
                        None => {
                            states = self.states(kind);
                            &states
                        }
                    };
                    if batch.total > 0 || is_in_every_frame(kind) {
                        self.writer.batch(kind, batch)?;
                    }
                }
            }
        }
        frame.private.iter().try_for_each(|(id, body)| self.writer.raw(*id, body))?;
        self.writer.end_frame()
    }

    /// The records of what lasts, of all actors.
    fn states(&self, kind: Kind) -> Batch {
        let (mut batch, form, target) = (Batch::default(), self.target.wire_format(), self.target);
        for (&actor, live) in &self.actors {
            match kind {
                Kind::Position if target.has_position(live.class) => {
                    batch.push(&Position { actor, location: live.location, rotation: live.rotation }, form);
                }
                Kind::TrafficLightState => {
                    if let Some((signal, elapsed, frozen)) = live.signal {
                        let state = signal.number();
                        batch.push(&TrafficLightState { actor, frozen: frozen.into(), elapsed, state }, form);
                    }
                }
                Kind::VehicleAnim if live.class == ActorType::Vehicle => {
                    let Controls { steering, throttle, brake, handbrake, gear } = live.controls;
                    let record = VehicleAnim { actor, steering, throttle, brake, handbrake: handbrake.into(), gear };
                    batch.push(&record, form);
                }
                Kind::WalkerAnim if live.class == ActorType::Walker => {
                    batch.push(&WalkerAnim { actor, speed: narrow(live.walker_speed) }, form);
                }
                Kind::VehicleLight if live.class == ActorType::Vehicle => {
                    batch.push(&VehicleLight { actor, lights: live.lamps }, form);
                }
                Kind::VehicleWheels => {
                    if let Some(wheels) = &live.wheels {
                        batch.push(&VehicleWheels { actor, wheels: wheels.clone() }, form);
                    }
                }
                Kind::BikerAnim => {
                    if let Some((forward_speed, engine_rotation)) = live.biker {
                        let forward_speed = narrow(forward_speed);
                        batch.push(&BikerAnim { actor, forward_speed, engine_rotation }, form);
                    }
                }
                Kind::Kinematics => {
                    if let Some((linear, angular)) = live.velocity {
                        batch.push(&Kinematics { actor, linear, angular }, form);
                    }
                }
                Kind::WalkerBones if !live.bones.is_empty() => {
                    let bones = live.bones.iter().map(|(name, location, rotation)| Bone {
                        name: name.as_bytes(),
                        location: *location,
                        rotation: *rotation,
                    });
                    batch.push(&WalkerBones { actor, bones: bones.collect() }, form);
                }
                _ => {}
            }
        }
        batch
    }

    fn push<'a, R: Record<'a>>(&mut self, record: &R) -> Result<(), WriteError> {
        self.room(R::KIND)?;
        self.frame.events.entry(R::KIND).or_default().push(record, self.target.wire_format());
        Ok(())
    }

    /// Whether one more record of a kind fits into this frame.
    fn room(&self, kind: Kind) -> Result<(), WriteError> {
        let count = self.frame.events.get(&kind).map_or(0, |batch| batch.total) + 1;
        if count <= MAX_RECORDS {
            Ok(())
        } else {
            Err(WriteError::TooManyRecords { frame: self.writer.frame_id(), kind, count })
        }
    }

    fn in_frame(&self) -> Result<(), WriteError> {
        self.writer.elapsed().map(drop).ok_or(WriteError::NoFrame)
    }

    /// Whether the recording can hold packets of a kind now.
    fn known(&self, kind: Kind) -> Result<(), WriteError> {
        self.in_frame()?;
        let (has, target) = (self.target.has(kind), self.target.name());
        if has && (self.additional_data || !is_additional(kind)) {
            Ok(())
        } else {
            Err(WriteError::NotInTarget { target, kind, extra: has })
        }
    }

    fn living(&mut self, actor: u32, kind: Kind) -> Result<&mut Live, WriteError> {
        let frame = self.writer.frame_id();
        self.actors.get_mut(&actor).ok_or(WriteError::UnknownActor { frame, kind, actor })
    }

    fn of_class(&mut self, actor: u32, class: ActorType, kind: Kind) -> Result<&mut Live, WriteError> {
        self.known(kind)?;
        let live = self.living(actor, kind)?;
        if live.class == class { Ok(live) } else { Err(WriteError::WrongClass { actor, class: live.class, kind }) }
    }

    /// Whether an actor that is there, or was until this frame, is the ego vehicle.
    fn hero(&mut self, actor: u32) -> Result<bool, WriteError> {
        match self.frame.gone.get(&actor) {
            Some(hero) => Ok(*hero),
            None => self.living(actor, Kind::Collision).map(|live| live.hero),
        }
    }
}

impl Live {
    fn new(class: ActorType, hero: bool, location: Vector, rotation: Rotation) -> Self {
        Self {
            class,
            hero,
            location,
            rotation,
            controls: Controls::default(),
            walker_speed: 0.0,
            lamps: 0,
            signal: None,
            velocity: None,
            wheels: None,
            biker: None,
            bones: Vec::new(),
        }
    }
}

fn centimetres(metres: Vector) -> Vector {
    Vector::new(metres.x * 100.0, metres.y * 100.0, metres.z * 100.0)
}

fn finite(actor: u32, what: &'static str, numbers: [f64; 3]) -> Result<(), WriteError> {
    if numbers.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(WriteError::NotFinite { actor, what }) }
}
