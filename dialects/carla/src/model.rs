//! What records mean as channels and samples, and back.
//!
//! A [`Topic`] stands for the channels that all records of one kind become; `about` is the table of topics. [`payload`]
//! converts a record to the value of a sample, [`record`] converts it back.

use logpose_core::{Channel, Cursor};
use serde_json::{Value as Json, json};

use crate::json;
use crate::schema::{self, Struct};
use crate::wire::{
    BikerAnim, Bone, BoundingBox, Field as _, Header, Ids, Kind, Kinematics, Position, Record, Rotation,
    TrafficLightState, Vector, Vectors, WalkerAnim, WireFormat, narrow, widen,
};

macro_rules! topics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The channels that records of one kind become: one channel, or one for each actor, light or packet.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[repr(u8)]
        pub(crate) enum Topic { $($(#[$doc])* $name,)* }

        impl Topic {
            /// All of them, in their order.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$name,)*];
        }
    };
}

topics! {
    Frame, Layout, VisualTime, PlatformTime, FrameCounter,
    Add, Delete, Parent, Collision,
    Transform, Velocity, Vehicle, Walker, VehicleLight, Box, Trigger, Wheels, Biker, Door, Physics, Bone,
    LightState, LightTiming, SceneLight, Weather,
    /// Packets that are kept as they are.
    Packet,
}

/// The names of a topic's channels.
#[derive(Clone, Copy, Debug)]
enum Name {
    /// There is one.
    One(&'static str),
    /// One for each actor, light or packet: what stands before and behind the number.
    Each(&'static str, &'static str),
}

/// The type of a topic's values.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Plain(&'static str),
    Struct(Struct),
    /// One behind the other.
    Structs(Struct),
    /// One that has more in binary64 recordings.
    Wide(fn(Vectors) -> Struct),
}

/// The properties of a topic.
#[derive(Clone, Copy, Debug)]
struct About {
    kind: Option<Kind>,
    name: Name,
    shape: Shape,
    unit: &'static str,
    /// The table of all channels of the topic.
    family: &'static str,
    /// Whether its records come once in a while and not in every frame.
    rare: bool,
}

macro_rules! about {
    ($($topic:ident $kind:ident $name:expr, $shape:expr, $unit:literal $family:literal $rare:literal;)*) => {
        impl Topic {
            /// The table of topics.
            fn about(self) -> &'static About {
                match self {
                    $(Self::$topic => &About {
                        kind: about!(@ $kind),
                        name: $name,
                        shape: $shape,
                        unit: $unit,
                        family: $family,
                        rare: $rare,
                    },)*
                }
            }
        }
    };
    (@ None) => { None };
    (@ $kind:ident) => { Some(Kind::$kind) };
}

use Name::{Each, One};
use Shape::{Plain, Struct as Fixed, Structs, Wide};

const ACTOR: &str = "/carla/actors/";
const LIGHT: &str = "/carla/lights/";

about! {
    Frame FrameStart One("/carla/frame"), Fixed(schema::FRAME), "" "" false;
    Layout None One("/carla/layout"), Plain("string"), "" "" true;
    VisualTime VisualTime One("/carla/visual_time"), Plain("double"), "s" "" false;
    PlatformTime PlatformTime One("/carla/platform_time"), Plain("double"), "s" "" false;
    FrameCounter FrameCounter One("/carla/frame_counter"), Plain("int64"), "" "" false;
    Add EventAdd One("/carla/events/add"), Plain("json"), "" "" true;
    Delete EventDel One("/carla/events/delete"), Plain("int64"), "" "" true;
    Parent EventParent One("/carla/events/parent"), Fixed(schema::PARENT), "" "" true;
    Collision Collision One("/carla/events/collision"), Fixed(schema::COLLISION), "" "" true;
    Transform Position Each(ACTOR, "/transform"), Wide(schema::transform), "" "carla_transform" false;
    Velocity Kinematics Each(ACTOR, "/velocity"), Fixed(schema::VELOCITY), "" "carla_velocity" false;
    Vehicle VehicleAnim Each(ACTOR, "/vehicle"), Fixed(schema::VEHICLE), "" "carla_vehicle" false;
    Walker WalkerAnim Each(ACTOR, "/walker"), Plain("double"), "m/s" "carla_walker" false;
    VehicleLight VehicleLight Each(ACTOR, "/light"), Fixed(schema::VEHICLE_LIGHT), "" "carla_light" false;
    Box BoundingBox Each(ACTOR, "/box"), Wide(schema::bounds), "" "carla_box" true;
    Trigger TriggerVolume Each(ACTOR, "/trigger"), Wide(schema::bounds), "" "carla_trigger" true;
    Wheels VehicleWheels Each(ACTOR, "/wheels"), Structs(schema::WHEEL), "" "carla_wheels" false;
    Biker BikerAnim Each(ACTOR, "/biker"), Fixed(schema::BIKER), "" "carla_biker" false;
    Door VehicleDoor Each(ACTOR, "/door"), Fixed(schema::DOOR), "" "carla_door" true;
    Physics PhysicsControl Each(ACTOR, "/physics"), Plain("json"), "" "carla_physics" true;
    Bone WalkerBones Each(ACTOR, "/bones/"), Wide(schema::transform), "" "carla_bone" false;
    LightState TrafficLightState Each(LIGHT, "/state"), Fixed(schema::LIGHT), "" "carla_light_state" false;
    LightTiming TrafficLightTime Each(LIGHT, "/timing"), Fixed(schema::TIMING), "" "carla_light_timing" true;
    SceneLight SceneLight Each("/carla/scene_lights/", ""), Fixed(schema::SCENE_LIGHT), "" "carla_scene_light" true;
    Weather Weather One("/carla/weather"), Fixed(schema::WEATHER), "" "" true;
    Packet None Each("/carla/packets/", ""), Plain("carla:packet"), "" "" true;
}

impl Topic {
    /// What records of a kind become.
    #[inline]
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::FrameStart => Self::Frame,
            Kind::FrameEnd => return None,
            Kind::EventAdd => Self::Add,
            Kind::EventDel => Self::Delete,
            Kind::EventParent => Self::Parent,
            Kind::Collision => Self::Collision,
            Kind::Position => Self::Transform,
            Kind::TrafficLightState => Self::LightState,
            Kind::VehicleAnim => Self::Vehicle,
            Kind::WalkerAnim => Self::Walker,
            Kind::VehicleLight => Self::VehicleLight,
            Kind::SceneLight => Self::SceneLight,
            Kind::Kinematics => Self::Velocity,
            Kind::BoundingBox => Self::Box,
            Kind::PlatformTime => Self::PlatformTime,
            Kind::PhysicsControl => Self::Physics,
            Kind::TrafficLightTime => Self::LightTiming,
            Kind::TriggerVolume => Self::Trigger,
            Kind::FrameCounter => Self::FrameCounter,
            Kind::WalkerBones => Self::Bone,
            Kind::VisualTime => Self::VisualTime,
            Kind::VehicleWheels => Self::Wheels,
            Kind::BikerAnim => Self::Biker,
            Kind::VehicleDoor => Self::Door,
            Kind::Weather => Self::Weather,
        })
    }

    /// The kind whose records it holds.
    pub(crate) fn kind(self) -> Option<Kind> {
        self.about().kind
    }

    /// Whether its records come once in a while and not in every frame.
    pub(crate) fn is_rare(self) -> bool {
        self.about().rare
    }

    /// Whether it has a channel for each actor, light or packet.
    #[inline]
    pub(crate) fn has_keys(self) -> bool {
        matches!(self.about().name, Each(..))
    }

    /// Whether its keys are actors.
    pub(crate) fn is_of_actor(self) -> bool {
        self.has_keys() && !matches!(self, Self::SceneLight | Self::Packet)
    }

    /// The struct that explains its values.
    pub(crate) fn schema(self, vectors: Vectors) -> Option<Struct> {
        match self.about().shape {
            Plain(_) => None,
            Fixed(schema) | Structs(schema) => Some(schema),
            Wide(schema) => Some(schema(vectors)),
        }
    }

    /// The type of its channels.
    pub(crate) fn type_name(self, vectors: Vectors) -> String {
        match self.about().shape {
            Plain(name) => name.to_owned(),
            Fixed(schema) => format!("struct:{}", schema.name),
            Structs(schema) => format!("struct:{}[]", schema.name),
            Wide(schema) => format!("struct:{}", schema(vectors).name),
        }
    }

    /// About how many bytes a value has.
    #[inline]
    pub(crate) fn size(self, record: usize) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "only whether all are the same counts")]
        let size = record as u32;
        match self {
            // These differ from record to record, and a change of size costs time.
            Self::Wheels | Self::Bone => 0,
            _ => size,
        }
    }
}

/// One channel of the model: its topic, and the actor, light or packet that it belongs to; 0 where it is the only one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Key {
    pub(crate) topic: Topic,
    pub(crate) id: u32,
    /// The bone, in the topic of bones.
    pub(crate) bone: Box<str>,
}

impl Key {
    /// A key without a bone.
    pub(crate) fn new(topic: Topic, id: u32) -> Self {
        Self { topic, id, bone: Box::default() }
    }

    /// The name of the channel.
    pub(crate) fn name(&self) -> String {
        match self.topic.about().name {
            One(name) => name.to_owned(),
            Each(before, behind) => format!("{before}{}{behind}{}", self.shown_id(), self.bone),
        }
    }

    /// The key that the name of a channel stands for.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("/carla/")?;
        let digits = |text: &str| text.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(text.len());
        for topic in Topic::ALL.iter().copied() {
            match topic.about().name {
                One(known) if known == name => return Some(Self::new(topic, 0)),
                One(_) => {}
                Each(before, behind) => {
                    let Some(text) = before.strip_prefix("/carla/").and_then(|before| rest.strip_prefix(before)) else {
                        continue;
                    };
                    let (id, rest) = text.split_at(digits(text));
                    let Some(bone) = rest.strip_prefix(behind) else { continue };
                    if !bone.is_empty() && topic != Topic::Bone {
                        continue;
                    }
                    let id = match topic {
                        Topic::SceneLight => id.parse::<i32>().ok().map(i32::cast_unsigned),
                        Topic::Packet => id.parse::<u8>().ok().map(u32::from),
                        _ => id.parse().ok(),
                    };
                    let key = Self { topic, id: id?, bone: bone.into() };
                    // One channel has one name: no zeros in front.
                    return (key.name() == name).then_some(key);
                }
            }
        }
        None
    }

    /// The channel.
    pub(crate) fn channel(&self, header: &Header<'_>, form: WireFormat) -> Channel {
        let about = self.topic.about();
        let mut channel = Channel::new(self.name(), self.topic.type_name(form.vectors));
        if !about.unit.is_empty() {
            channel.unit = Some(about.unit.to_owned());
        }
        if !about.family.is_empty() {
            let bone = if self.topic == Topic::Bone { format!("/{}", self.bone) } else { String::new() };
            channel.family = Some(Box::new((about.family.to_owned(), format!("{}{bone}", self.shown_id()))));
        }
        if self.topic == Topic::Frame {
            channel.metadata = about_recording(header, form);
        }
        channel
    }

    fn shown_id(&self) -> i64 {
        if self.topic == Topic::SceneLight { self.id.cast_signed().into() } else { self.id.into() }
    }
}

/// What the channel of frames says of the recording as a whole.
fn about_recording(header: &Header<'_>, form: WireFormat) -> String {
    let mut about = json!({
        "version": header.version,
        "date": header.date,
        "map": String::from_utf8_lossy(header.map),
        "vectors": vectors_name(form.vectors),
        "ids": ids_name(form.ids),
    });
    if let (Err(_), Some(about)) = (str::from_utf8(header.map), about.as_object_mut()) {
        about.insert("map_raw".to_owned(), json::base64(header.map).into());
    }
    about.to_string()
}

/// What [`about_recording`] returned: version, date, map, and how the recording is written.
pub(crate) fn recording(about: &str) -> Option<(u16, i64, Vec<u8>, WireFormat)> {
    let about: Json = serde_json::from_str(about).ok()?;
    let text = |key: &str| about.get(key).and_then(Json::as_str);
    let map = match text("map_raw") {
        Some(raw) => json::unbase64(raw)?,
        None => text("map").unwrap_or_default().as_bytes().to_vec(),
    };
    let version = about.get("version").map_or(Some(1), |n| n.as_u64().and_then(|n| u16::try_from(n).ok()))?;
    let date = about.get("date").and_then(Json::as_i64).unwrap_or(0);
    let form = form_of(text("vectors"), text("ids"))?;
    (map.len() <= usize::from(u16::MAX)).then_some((version, date, map, form))
}

/// The form that the words for vectors and ids describe; missing words mean UE4.
pub(crate) fn form_of(vectors: Option<&str>, ids: Option<&str>) -> Option<WireFormat> {
    let vectors = match vectors.unwrap_or("f32") {
        "f32" => Vectors::F32,
        "f64" => Vectors::F64,
        _ => return None,
    };
    let ids = match ids.unwrap_or("A") {
        "A" => Ids::A,
        "B" => Ids::B,
        _ => return None,
    };
    Some(WireFormat { ids, vectors, ..WireFormat::default() })
}

pub(crate) fn vectors_name(vectors: Vectors) -> &'static str {
    match vectors {
        Vectors::F32 => "f32",
        Vectors::F64 => "f64",
    }
}

pub(crate) fn ids_name(ids: Ids) -> &'static str {
    match ids {
        Ids::A => "A",
        Ids::B => "B",
    }
}

/// Centimetres as metres.
#[inline]
pub(crate) fn metres(cm: f64) -> f64 {
    // Arithmetic may change the bits of a NaN.
    if cm.is_nan() { cm } else { cm / 100.0 }
}

/// What brings metres back to the centimetres of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Coarse {
    /// The file has binary32 numbers, to which the product is rounded.
    Narrow,
    /// For each number two bits: whether the product is right, or one step below or above.
    Fine(u8),
}

impl Coarse {
    pub(crate) fn of(form: WireFormat, fine: u8) -> Self {
        match form.vectors {
            Vectors::F32 => Self::Narrow,
            Vectors::F64 => Self::Fine(fine),
        }
    }
}

/// Metres as centimetres.
pub(crate) fn centimetres(metres: [f64; 3], coarse: Coarse) -> [f64; 3] {
    let mut fine = if let Coarse::Fine(fine) = coarse { fine } else { 0 };
    metres.map(|m| {
        let cm = if m.is_nan() { m } else { m * 100.0 };
        let step = fine & 3;
        fine >>= 2;
        match step {
            1 => cm.next_up(),
            2 => cm.next_down(),
            _ => cm,
        }
    })
}

/// What [`Coarse::Fine`] needs to know of these centimetres.
#[inline]
pub(crate) fn fine(cm: [f64; 3]) -> u8 {
    let step = |cm: f64| {
        let back = metres(cm) * 100.0;
        if cm > back {
            1
        } else if cm < back {
            2
        } else {
            0
        }
    };
    cm.into_iter().rev().fold(0, |fine, cm| fine << 2 | step(cm))
}

/// Whether centimetres of binary64 come back from metres: all but those next to zero do, because a quotient and a
/// product together are less than one step off.
#[inline]
pub(crate) fn comes_back(cm: f64) -> bool {
    cm == 0.0 || cm.is_nan() || cm.abs() >= 1e-290
}

/// The value of a record in the model: bytes as [`logpose_core::Value`] takes them, out of the record where they stand
/// there as they are, else made in `scratch`.
#[inline]
pub(crate) fn payload<'p>(topic: Topic, record: &'p [u8], form: WireFormat, scratch: &'p mut Vec<u8>) -> &'p [u8] {
    let from = match topic {
        Topic::Frame
        | Topic::Layout
        | Topic::VisualTime
        | Topic::PlatformTime
        | Topic::FrameCounter
        | Topic::Parent
        | Topic::Collision
        | Topic::Weather
        | Topic::Packet => 0,
        Topic::Vehicle | Topic::VehicleLight | Topic::Door | Topic::LightTiming | Topic::SceneLight => 4,
        Topic::Wheels => 8,
        _ => {
            scratch.clear();
            let _ = convert(topic, record, form, scratch);
            return scratch;
        }
    };
    record.get(from..).unwrap_or_default()
}

#[inline]
fn convert(topic: Topic, record: &[u8], form: WireFormat, out: &mut Vec<u8>) -> Result<(), logpose_core::Truncated> {
    let cur = &mut Cursor::new(record, 0);
    match topic {
        Topic::Transform => {
            let position = Position::parse(cur, form)?;
            put_pose(position.location, position.rotation, form, out);
        }
        Topic::Bone => {
            let bone = Bone::get(cur, form, "bone")?;
            put_pose(bone.location, bone.rotation, form, out);
        }
        Topic::Velocity => {
            let Kinematics { linear, angular, .. } = Kinematics::parse(cur, form)?;
            put_numbers([linear.x, linear.y, linear.z, angular.x, angular.y, angular.z], out);
        }
        Topic::Box | Topic::Trigger => {
            let BoundingBox { origin, extent, .. } = BoundingBox::parse(cur, form)?;
            put_numbers([origin.x, origin.y, origin.z, extent.x, extent.y, extent.z].map(metres), out);
            if form.vectors == Vectors::F64 {
                out.extend_from_slice(&[fine(origin.array()), fine(extent.array())]);
            }
        }
        Topic::Walker => {
            let walker = WalkerAnim::parse(cur, form)?;
            put_numbers([metres(widen(walker.speed))], out);
        }
        Topic::Biker => {
            let biker = BikerAnim::parse(cur, form)?;
            put_numbers([metres(widen(biker.forward_speed))], out);
            biker.engine_rotation.put(form, out);
        }
        Topic::LightState => {
            let light = TrafficLightState::parse(cur, form)?;
            out.extend_from_slice(&[light.state, light.frozen.0]);
            light.elapsed.put(form, out);
        }
        Topic::Delete => out.extend_from_slice(&i64::from(cur.u32_le("actor")?).to_le_bytes()),
        Topic::Add => json::put_add(record, form, out),
        Topic::Physics => json::put_physics(record, form, out),
        _ => {}
    }
    Ok(())
}

#[inline]
fn put_pose(location: Vector, Rotation { roll, pitch, yaw }: Rotation, form: WireFormat, out: &mut Vec<u8>) {
    let Vector { x, y, z } = location;
    put_numbers([metres(x), metres(y), metres(z), roll, pitch, yaw], out);
    if form.vectors == Vectors::F64 {
        out.push(fine([x, y, z]));
    }
}

#[inline]
fn put_numbers<const N: usize>(numbers: [f64; N], out: &mut Vec<u8>) {
    out.extend_from_slice(numbers.map(f64::to_le_bytes).as_flattened());
}

/// Appends the record whose value in the model is `payload`; the sentence says what is wrong with it. A bone has no
/// record of its own: it is what stands in one.
pub(crate) fn record(key: &Key, payload: &[u8], form: WireFormat, out: &mut Vec<u8>) -> Result<(), String> {
    let id = key.id;
    let misfit = || {
        let (size, ty) = (payload.len(), key.topic.type_name(form.vectors));
        format!("{size} bytes is not a valid {ty}")
    };
    let exactly = |size: usize| if payload.len() == size { Ok(()) } else { Err(misfit()) };
    match key.topic {
        Topic::Frame => exactly(24)?,
        Topic::VisualTime | Topic::PlatformTime | Topic::FrameCounter | Topic::Parent => exactly(8)?,
        Topic::Collision => exactly(14)?,
        Topic::Weather => exactly(56)?,
        Topic::Vehicle => exactly(17)?,
        Topic::VehicleLight => exactly(4)?,
        Topic::Door => exactly(2)?,
        Topic::LightTiming => exactly(12)?,
        Topic::SceneLight => exactly(22)?,
        _ => {}
    }
    match key.topic {
        Topic::Vehicle | Topic::VehicleLight | Topic::Door | Topic::LightTiming | Topic::SceneLight => {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(payload);
        }
        Topic::Wheels => {
            let (wheels, rest) = payload.as_chunks::<9>();
            let count = u32::try_from(wheels.len()).ok().filter(|_| rest.is_empty()).ok_or_else(misfit)?;
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&count.to_le_bytes());
            out.extend_from_slice(payload);
        }
        Topic::Delete => {
            let actor = payload.try_into().map(i64::from_le_bytes).map_err(|_| misfit())?;
            let actor = u32::try_from(actor).map_err(|_| format!("{actor} is not an actor id"))?;
            out.extend_from_slice(&actor.to_le_bytes());
        }
        Topic::Transform => {
            let ([location, rotation], fine) = six(payload).ok_or_else(misfit)?;
            let [x, y, z] = centimetres(location, Coarse::of(form, fine[0]));
            let [roll, pitch, yaw] = rotation;
            let rotation = Rotation { roll, pitch, yaw };
            Position { actor: id, location: Vector { x, y, z }, rotation }.emit(form, out);
        }
        Topic::Bone => {
            let ([location, rotation], fine) = six(payload).ok_or_else(misfit)?;
            let [x, y, z] = centimetres(location, Coarse::of(form, fine[0]));
            let [roll, pitch, yaw] = rotation;
            let rotation = Rotation { roll, pitch, yaw };
            if key.bone.len() > usize::from(u16::MAX) {
                return Err("the name of a bone is longer than 65535 bytes".to_owned());
            }
            Bone { name: key.bone.as_bytes(), location: Vector { x, y, z }, rotation }.put(form, out);
        }
        Topic::Velocity => {
            let ([[x, y, z], [p, q, r]], _) = six(payload).ok_or_else(misfit)?;
            Kinematics { actor: id, linear: Vector { x, y, z }, angular: Vector { x: p, y: q, z: r } }.emit(form, out);
        }
        Topic::Box | Topic::Trigger => {
            let ([origin, extent], fine) = six(payload).ok_or_else(misfit)?;
            let [x, y, z] = centimetres(origin, Coarse::of(form, fine[0]));
            let [p, q, r] = centimetres(extent, Coarse::of(form, fine[1]));
            let bounds = BoundingBox { actor: id, origin: Vector { x, y, z }, extent: Vector { x: p, y: q, z: r } };
            bounds.emit(form, out);
        }
        Topic::Walker => {
            let speed = payload.try_into().map(f64::from_le_bytes).map_err(|_| misfit())?;
            WalkerAnim { actor: id, speed: slowly(speed) }.emit(form, out);
        }
        Topic::Biker => {
            let (speed, engine) = payload.split_first_chunk().ok_or_else(misfit)?;
            let engine_rotation = engine.try_into().map(f32::from_le_bytes).map_err(|_| misfit())?;
            let forward_speed = slowly(f64::from_le_bytes(*speed));
            BikerAnim { actor: id, forward_speed, engine_rotation }.emit(form, out);
        }
        Topic::LightState => {
            let [state, frozen, elapsed @ ..]: [u8; 6] = payload.try_into().map_err(|_| misfit())?;
            let elapsed = f32::from_le_bytes(elapsed);
            TrafficLightState { actor: id, frozen: crate::wire::Flag(frozen), elapsed, state }.emit(form, out);
        }
        Topic::Add => {
            json::get_add(payload, form, out)?;
        }
        Topic::Physics => {
            let actor = json::get_physics(payload, form, out)?;
            if actor != id {
                return Err(format!("it is about actor {actor}"));
            }
        }
        _ => out.extend_from_slice(payload),
    }
    Ok(())
}

/// Metres a second as the centimetres a second of the file.
fn slowly(speed: f64) -> f32 {
    let [speed, ..] = centimetres([speed, 0.0, 0.0], Coarse::Narrow);
    narrow(speed)
}

/// Six numbers, and what stands behind them, if it does.
fn six(payload: &[u8]) -> Option<([[f64; 3]; 2], [u8; 2])> {
    let (numbers, behind) = payload.split_first_chunk::<48>()?;
    let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let mut three = || Some([numbers.next()?, numbers.next()?, numbers.next()?]);
    let both = [three()?, three()?];
    match *behind {
        [] => Some((both, [0, 0])),
        [fine] => Some((both, [fine, 0])),
        [fine, extent] => Some((both, [fine, extent])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Coarse, Key, Topic, centimetres, comes_back, fine, metres};
    use crate::wire::{Kind, narrow, widen};

    #[test]
    fn every_kind_has_a_topic() {
        for kind in Kind::ALL {
            assert_eq!(Topic::of(*kind).and_then(Topic::kind), Some(*kind).filter(|kind| *kind != Kind::FrameEnd));
        }
    }

    #[test]
    fn names_come_back() {
        for topic in Topic::ALL {
            for id in [0, 7, 255, u32::MAX] {
                let bone: &str = if *topic == Topic::Bone { "crl_hips__C/a" } else { "" };
                let id = if topic.has_keys() { id } else { 0 };
                if *topic == Topic::Packet && id > 255 {
                    continue;
                }
                let key = Key { topic: *topic, id, bone: bone.into() };
                assert_eq!(Key::parse(&key.name()), Some(key));
            }
        }
        for odd in [
            "/carla/actors/07/transform",
            "/carla/actors/x/transform",
            "/carla/actors/7/transform/x",
            "/carla",
            "/carla/packets/256",
            "/carla/actors/-1/box",
            "/carla/actors/4294967296/box",
        ] {
            assert_eq!(Key::parse(odd), None, "{odd}");
        }
        assert_eq!(Key::new(Topic::SceneLight, u32::MAX).name(), "/carla/scene_lights/-1");
    }

    /// Numbers that are spread over all bits.
    fn numbers() -> impl Iterator<Item = u64> {
        std::iter::successors(Some(0x9e37_79b9_7f4a_7c15_u64), |x| {
            let x = x ^ x << 13;
            let x = x ^ x >> 7;
            Some(x ^ x << 17)
        })
    }

    #[test]
    fn binary32_centimetres_come_back_from_metres() {
        let odd = [0, 1, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 0xffff_ffff, 0x007f_ffff];
        let random = numbers().take(200_000).map(|x| (x >> 32) as u32);
        for bits in odd.into_iter().chain(random) {
            let m = metres(widen(f32::from_bits(bits)));
            let [back, ..] = centimetres([m, 0.0, 0.0], Coarse::Narrow);
            assert_eq!(narrow(back).to_bits(), bits);
        }
    }

    #[test]
    fn binary64_centimetres_come_back_from_metres_and_two_bits() {
        let mut steps = [0; 3];
        let usual = numbers().take(200_000).map(|x| ((x >> 20) as f64 / 1e6).to_bits());
        for bits in
            numbers().take(200_000).chain(usual).chain([0, 1 << 63, f64::INFINITY.to_bits(), 0x7ff0_0000_0000_0001])
        {
            let cm = f64::from_bits(bits);
            if !comes_back(cm) {
                continue;
            }
            let fine = fine([0.0, cm, 0.0]);
            steps[usize::from(fine >> 2)] += 1;
            let [_, back, _] = centimetres([0.0, metres(cm), 0.0], Coarse::Fine(fine));
            assert_eq!(back.to_bits(), bits, "{cm:e}");
        }
        assert!(steps.iter().all(|n| *n > 100), "{steps:?}");
    }
}
