//! The JSON of `logpose carla`.

use std::collections::BTreeMap;

use logpose::carla::{
    ActorState, ActorType, Bounds, Doors, Event as Happening, EventAdd, Frames, Pose, PoseSource, SceneLight,
    State as Moment, Summary, Tick as Step, TrafficLightState, TrafficLightTime, Vector, VehicleAnim, Weather,
};
use logpose::core::Time;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Double, Finding, Int, Single};

/// Text from a recording, which may not be UTF-8.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Seconds as nanoseconds; `None` if out of range.
pub(crate) fn nanos(seconds: f64) -> Option<Int> {
    Time::from_seconds(seconds).map(|time| time.nanos().into())
}

/// `carla info --json`.
#[derive(Serialize)]
pub(crate) struct Recording<'a> {
    pub file: String,
    pub bytes: Int,
    pub map: String,
    pub date: Option<String>,
    pub epoch_ns: Option<Int>,
    pub version: u16,
    pub vectors: &'static str,
    pub ids: &'static str,
    pub frames: usize,
    pub duration: Double,
    pub duration_ns: Option<Int>,
    pub mean_fps: Option<Double>,
    pub actors: BTreeMap<&'static str, usize>,
    pub heroes: Vec<Hero>,
    pub collisions: usize,
    pub carla: Guess<'a>,
    pub problems: Vec<Finding<'a>>,
}

/// An ego vehicle in [`Recording`].
#[derive(Serialize)]
pub(crate) struct Hero {
    pub actor: u32,
    pub blueprint: String,
}

/// The CARLA version that wrote a [`Recording`].
#[derive(Serialize)]
pub(crate) struct Guess<'a> {
    pub version: &'a str,
    pub reasons: &'a [String],
}

impl Hero {
    pub(crate) fn all(summary: &Summary<'_>) -> Vec<Self> {
        summary.heroes.iter().map(|hero| Self { actor: hero.actor, blueprint: text(hero.blueprint) }).collect()
    }
}

/// `carla state --json`.
#[derive(Serialize)]
pub(crate) struct State {
    pub file: String,
    pub map: String,
    pub mode: &'static str,
    pub time: Double,
    pub time_ns: Option<Int>,
    pub frame: Frame,
    pub per: Double,
    pub actors: Vec<Actor>,
    pub scene_lights: Vec<Lamp>,
    pub weather: Option<Sky>,
}

/// The frame of a [`State`].
#[derive(Serialize)]
pub(crate) struct Frame {
    pub index: usize,
    pub id: Int,
    pub elapsed: Double,
    pub elapsed_ns: Option<Int>,
    pub duration: Double,
}

impl Frame {
    pub(crate) fn of(state: &Moment<'_>) -> Self {
        Self {
            index: state.frame,
            id: state.start.frame.into(),
            elapsed: Double(state.start.elapsed),
            elapsed_ns: nanos(state.start.elapsed),
            duration: Double(state.start.duration),
        }
    }
}

/// An actor in a [`State`].
#[derive(Serialize)]
pub(crate) struct Actor {
    pub actor: u32,
    pub class: &'static str,
    pub blueprint: String,
    pub hero: bool,
    pub parent: Option<u32>,
    pub pose: Place,
    pub pose_source: &'static str,
    pub velocity: Option<Velocity>,
    pub controls: Option<Controls>,
    pub walker_speed: Option<Double>,
    pub lamps: Option<Lamps>,
    #[serde(rename = "box")]
    pub bounds: Option<Box3>,
    pub trigger: Option<Box3>,
    pub light: Option<Light>,
    pub timing: Option<Timing>,
    pub doors: OpenDoors,
}

impl Actor {
    pub(crate) fn of(state: &ActorState<'_>) -> Self {
        Self {
            actor: state.actor,
            class: state.class.name(),
            blueprint: text(state.blueprint),
            hero: state.hero,
            parent: state.parent,
            pose: state.pose.into(),
            pose_source: source(state.pose_source),
            velocity: state.velocity.map(|velocity| Velocity {
                linear: velocity.linear.into(),
                angular: velocity.angular.into(),
                derived: velocity.derived,
            }),
            controls: state.controls.map(Controls::from),
            walker_speed: state.walker_speed.map(Double),
            lamps: state.lamps.map(|bits| Lamps { bits, on: lamps(bits) }),
            bounds: state.bounds.map(Box3::from),
            trigger: state.trigger.map(Box3::from),
            light: state.light.map(Light::from),
            timing: state.timing.map(Timing::from),
            doors: OpenDoors(state.doors),
        }
    }
}

/// The source of a pose.
pub(crate) fn source(source: PoseSource) -> &'static str {
    match source {
        PoseSource::Recorded => "recorded",
        PoseSource::Birth => "birth",
        PoseSource::Parent => "parent",
        PoseSource::Relative => "relative",
    }
}

/// Metres and degrees.
#[derive(Serialize)]
pub(crate) struct Place {
    x: Double,
    y: Double,
    z: Double,
    roll: Double,
    pitch: Double,
    yaw: Double,
}

impl From<Pose> for Place {
    fn from(pose: Pose) -> Self {
        let [x, y, z, roll, pitch, yaw] = [pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw].map(Double);
        Self { x, y, z, roll, pitch, yaw }
    }
}

/// Along the axes of the world.
#[derive(Serialize)]
pub(crate) struct Axes {
    x: Double,
    y: Double,
    z: Double,
}

impl From<Vector> for Axes {
    fn from(Vector { x, y, z }: Vector) -> Self {
        Self { x: Double(x), y: Double(y), z: Double(z) }
    }
}

/// Metres and degrees per second.
#[derive(Serialize)]
pub(crate) struct Velocity {
    linear: Axes,
    angular: Axes,
    derived: bool,
}

/// The controls of a vehicle.
#[derive(Serialize)]
pub(crate) struct Controls {
    steering: Single,
    throttle: Single,
    brake: Single,
    handbrake: bool,
    gear: i32,
}

impl From<VehicleAnim> for Controls {
    fn from(controls: VehicleAnim) -> Self {
        Self {
            steering: Single(controls.steering),
            throttle: Single(controls.throttle),
            brake: Single(controls.brake),
            handbrake: controls.handbrake.is_set(),
            gear: controls.gear,
        }
    }
}

/// The lamps of a vehicle.
#[derive(Serialize)]
pub(crate) struct Lamps {
    bits: u32,
    on: Vec<&'static str>,
}

/// The names of the lamps that are on.
pub(crate) fn lamps(bits: u32) -> Vec<&'static str> {
    (0..).zip(LAMPS).filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| name).collect()
}

/// The lamps of vehicles, by their bits.
const LAMPS: [&str; 11] = [
    "position",
    "low_beam",
    "high_beam",
    "brake",
    "right_blinker",
    "left_blinker",
    "reverse",
    "fog",
    "interior",
    "special1",
    "special2",
];

/// Metres.
#[derive(Serialize)]
pub(crate) struct Box3 {
    origin: Axes,
    extent: Axes,
}

impl From<Bounds> for Box3 {
    fn from(bounds: Bounds) -> Self {
        Self { origin: bounds.origin.into(), extent: bounds.extent.into() }
    }
}

/// The state of a traffic light.
#[derive(Serialize)]
pub(crate) struct Light {
    state: String,
    elapsed: Single,
    frozen: bool,
}

impl From<TrafficLightState> for Light {
    fn from(light: TrafficLightState) -> Self {
        Self { state: colour(light.state), elapsed: Single(light.elapsed), frozen: light.frozen.is_set() }
    }
}

/// The color of a traffic light; an unknown value stays a number.
pub(crate) fn colour(state: u8) -> String {
    ["red", "yellow", "green", "off"]
        .get(usize::from(state))
        .map_or_else(|| state.to_string(), |name| (*name).to_owned())
}

/// Seconds.
#[derive(Serialize)]
pub(crate) struct Timing {
    green: Single,
    yellow: Single,
    red: Single,
}

impl From<TrafficLightTime> for Timing {
    fn from(timing: TrafficLightTime) -> Self {
        Self { green: Single(timing.green), yellow: Single(timing.yellow), red: Single(timing.red) }
    }
}

/// Known doors and whether they are open.
pub(crate) struct OpenDoors(Doors);

impl Serialize for OpenDoors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = (0..).zip(Doors::NAMES).filter_map(|(door, name)| Some((name, self.0.is_open(door)?)));
        serializer.collect_map(known)
    }
}

/// A street or building light.
#[derive(Serialize)]
pub(crate) struct Lamp {
    light: i32,
    on: bool,
    intensity: Single,
    color: [Single; 4],
    group: &'static str,
}

impl From<&SceneLight> for Lamp {
    fn from(light: &SceneLight) -> Self {
        let groups = ["none", "vehicle", "street", "building", "other"];
        Self {
            light: light.light,
            on: light.on.is_set(),
            intensity: Single(light.intensity),
            color: light.color.map(Single),
            group: groups.get(usize::from(light.group)).unwrap_or(&"unknown"),
        }
    }
}

/// Weather parameters by name.
pub(crate) struct Sky(pub Weather);

impl Serialize for Sky {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Weather::NAMES.iter().zip(self.0.values.map(Single)))
    }
}

/// A line of `carla replay`.
#[derive(Serialize)]
pub(crate) struct Tick<'a> {
    pub time: Double,
    pub time_ns: Option<Int>,
    pub frame: Int,
    pub found: bool,
    pub per: Double,
    pub events: Vec<Event<'a>>,
    pub poses: Vec<Placed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visual_time: Option<Double>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weather: Option<Sky>,
}

impl<'a> From<&'a Step<'a>> for Tick<'a> {
    fn from(tick: &'a Step<'a>) -> Self {
        Self {
            time: Double(tick.time),
            time_ns: nanos(tick.time),
            frame: tick.frame.into(),
            found: tick.found,
            per: Double(tick.per),
            events: tick.events.iter().map(Event).collect(),
            poses: tick.poses.iter().map(|(actor, pose)| Placed { actor: *actor, pose: (*pose).into() }).collect(),
            camera: tick.camera.map(Place::from),
            visual_time: tick.visual_time.map(Double),
            weather: tick.weather.map(Sky),
        }
    }
}

/// The pose of an actor in a [`Tick`].
#[derive(Serialize)]
pub(crate) struct Placed {
    actor: u32,
    #[serde(flatten)]
    pose: Place,
}

/// An event in a [`Tick`].
pub(crate) struct Event<'a>(&'a Happening<'a>);

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Happening::Add(record) => Added::from(record).serialize(serializer),
            Happening::Delete(actor) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("event", "delete")?;
                map.serialize_entry("actor", actor)?;
                map.end()
            }
            Happening::Parent(record) => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("event", "parent")?;
                map.serialize_entry("actor", &record.actor)?;
                map.serialize_entry("parent", &record.parent)?;
                map.end()
            }
        }
    }
}

/// An actor that appears.
#[derive(Serialize)]
struct Added {
    event: &'static str,
    actor: u32,
    #[serde(rename = "type")]
    number: u8,
    class: &'static str,
    blueprint: String,
    uid: u32,
    #[serde(flatten)]
    pose: Place,
    attributes: Vec<Attribute>,
}

#[derive(Serialize)]
struct Attribute {
    #[serde(rename = "type")]
    number: u8,
    id: String,
    value: String,
}

impl From<&EventAdd<'_>> for Added {
    fn from(record: &EventAdd<'_>) -> Self {
        let attributes = record.attributes.0.iter().map(|attribute| Attribute {
            number: attribute.attribute_type,
            id: text(attribute.id),
            value: text(attribute.value),
        });
        Self {
            event: "add",
            actor: record.actor,
            number: record.actor_type,
            class: record.class().name(),
            blueprint: text(record.blueprint),
            uid: record.uid,
            pose: Pose::of(record.location, record.rotation).into(),
            attributes: attributes.collect(),
        }
    }
}

/// `carla crop`, `drop`, `rename` and `concat` with `--json`.
#[derive(Serialize)]
pub(crate) struct Made {
    pub output: String,
    pub frames: Int,
    pub bytes: Int,
}

/// The number of actors of each class, including zeros.
pub(crate) fn classes(summary: &Summary<'_>) -> BTreeMap<&'static str, usize> {
    ActorType::ALL.iter().map(|class| (class.name(), summary.actors.get(class).copied().unwrap_or(0))).collect()
}

/// The wire flavor of a recording, as the model names it.
pub(crate) fn wire_format(frames: &Frames<'_>) -> (&'static str, &'static str) {
    use logpose::carla::{Ids, Vectors};
    let vectors = match frames.wire_format().vectors {
        Vectors::F32 => "f32",
        Vectors::F64 => "f64",
    };
    let ids = match frames.wire_format().ids {
        Ids::A => "A",
        Ids::B => "B",
    };
    (vectors, ids)
}
