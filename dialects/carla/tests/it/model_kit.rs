//! What the tests of the model need: sinks, real recordings, generated ones.

use logpose_carla::{
    Attribute, Attributes, Bone, BoundingBox, Carla, Collision, EventAdd, EventDel, EventParent, Flag, FrameStart,
    Header, Ids, Kinematics, Packet, Position, Record, Rotation, SceneLight, TrafficLightState, TrafficLightTime,
    TriggerVolume, Vector, Vectors, VehicleAnim, VehicleDoor, VehicleLight, VehicleWheels, WalkerAnim, WalkerBones,
    Weather, WheelPose, WireFormat, emit_records,
};
use logpose_core::{Channel, EncodeError, EncodeOptions, Encoding, FileDialect, Index, Lookup, Problems, SinkError};
pub(crate) use logpose_testkit::{bits as show, column_lines, index_lines};

/// The received calls, one line each, with exact values.
pub(crate) type Lines = logpose_testkit::Lines<logpose_testkit::Bits>;

pub(crate) fn index(log: &[u8]) -> (Index, Problems) {
    logpose_testkit::index(&Carla, log)
}

pub(crate) fn replayed(log: &[u8], index: &Index, lookup: &Lookup) -> Vec<String> {
    let mut lines = Lines::default();
    Carla.replay(log, index, lookup, &mut lines).expect("a sink that takes everything");
    lines.lines
}

/// The recording that the model of a recording is written as.
pub(crate) fn again(log: &[u8], lookup: &Lookup) -> Result<Vec<u8>, SinkError> {
    let (index, _) = index(log);
    let mut encoder = Carla.encoder(&EncodeOptions::default()).expect("an encoder");
    let mut out = Vec::new();
    encoder.begin(&mut out);
    let channels: Vec<Channel> = index.channels.iter().filter(|c| c.samples == 0).map(|c| c.channel.clone()).collect();
    Carla.replay(
        log,
        &index,
        lookup,
        &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() },
    )?;
    for channel in channels {
        encoder.channel(1 << 20, &channel, &mut out).map_err(|error: EncodeError| SinkError::Refused(error))?;
    }
    let lost = encoder.finish(&mut out);
    assert!(lost.is_empty(), "{lost:?}");
    Ok(out)
}

/// A packet of records.
pub(crate) fn records<'a, R: Record<'a>>(records: &[R], form: WireFormat, out: &mut Vec<u8>) {
    emit_records(records, form, out);
}

pub(crate) fn plain(id: u8, body: &[u8], out: &mut Vec<u8>) {
    Packet { at: 0, id, body }.emit(out);
}

pub(crate) fn header(version: u16, out: &mut Vec<u8>) {
    Header { version, date: 1_700_000_000, map: b"Town01" }.emit(out);
}

fn vector(seed: f64) -> Vector {
    Vector::new(seed * 1.1, -seed / 3.0, seed.sqrt())
}

fn rotation(seed: f64) -> Rotation {
    Rotation::new(0.0, seed / 7.0, seed * 3.3 - 180.0)
}

pub(crate) fn add<'a>(actor: u32, blueprint: &'a str, hero: bool) -> EventAdd<'a> {
    let attribute = |id: &'static str, value: &'static str| Attribute {
        attribute_type: 3,
        id: id.as_bytes(),
        value: value.as_bytes(),
    };
    let mut attributes = vec![attribute("color", "1,2,3"), attribute("empty", "")];
    if hero {
        attributes.push(attribute("role_name", "hero"));
    }
    let seed = f64::from(actor);
    EventAdd {
        actor,
        actor_type: 1,
        location: vector(seed),
        rotation: rotation(seed),
        uid: 17,
        blueprint: blueprint.as_bytes(),
        attributes: Attributes(attributes),
    }
}

/// A recording with every kind of packet, of `frames` frames with about `actors` vehicles, some of which come and go.
pub(crate) fn drive(frames: u32, actors: u32, form: WireFormat, version: u16) -> Vec<u8> {
    let mut out = Vec::new();
    header(version, &mut out);
    let walker = 5000;
    let light = 9000;
    for frame in 1..=frames {
        let elapsed = f64::from(frame - 1) * f64::from(0.05_f32);
        let duration = if frame == frames { -1.0 } else { f64::from(0.05_f32) };
        FrameStart { frame: frame.into(), duration, elapsed }.emit(&mut out);
        plain(20, &elapsed.to_le_bytes(), &mut out);
        let born = |actor: u32| 1 + actor * 7 % 50 * u32::from(actor.is_multiple_of(3));
        let dies = |actor: u32| if actor.is_multiple_of(5) { born(actor) + 40 } else { u32::MAX };
        let mut adds: Vec<EventAdd<'_>> =
            (1..=actors).filter(|a| born(*a) == frame).map(|a| add(a, "vehicle.audi.tt", a == 1)).collect();
        if frame == 1 {
            adds.push(add(walker, "walker.pedestrian.0001", false));
            adds.push(add(light, "traffic.traffic_light", false));
            adds.push(add(light + 1, "spectator", false));
        }
        records(&adds, form, &mut out);
        let gone: Vec<EventDel> = (1..=actors).filter(|a| dies(*a) == frame).map(|actor| EventDel { actor }).collect();
        records(&gone, form, &mut out);
        let parents = if frame == 3 { vec![EventParent { actor: 2, parent: 1 }] } else { vec![] };
        records(&parents, form, &mut out);
        let hit = Collision { id: frame, actor1: 1, actor2: u32::MAX, hero1: Flag(1), hero2: Flag(0) };
        records(&if frame % 40 == 9 { vec![hit] } else { vec![] }, form, &mut out);
        let doors: Vec<VehicleDoor> =
            if frame % 30 == 4 { vec![VehicleDoor { actor: 1, door: 5, open: Flag(1) }] } else { vec![] };
        records(&doors, form, &mut out);
        let living: Vec<u32> = (1..=actors).filter(|a| born(*a) <= frame && frame < dies(*a)).collect();
        let at = |actor: u32| f64::from(actor) * 1000.0 + f64::from(frame) * 1.7;
        let mut positions: Vec<Position> = living
            .iter()
            .map(|a| Position { actor: *a, location: vector(at(*a)), rotation: rotation(at(*a) % 100.0) })
            .collect();
        positions.push(Position { actor: walker, location: vector(-f64::from(frame)), rotation: rotation(0.0) });
        records(&positions, form, &mut out);
        let state = TrafficLightState { actor: light, frozen: Flag(0), elapsed: 0.5, state: (frame / 20 % 3) as u8 };
        records(&[state], form, &mut out);
        let anims: Vec<VehicleAnim> = living
            .iter()
            .map(|a| VehicleAnim {
                actor: *a,
                steering: -0.5,
                throttle: *a as f32 / 100.0,
                brake: 0.0,
                handbrake: Flag((*a % 2) as u8),
                gear: -1,
            })
            .collect();
        records(&anims, form, &mut out);
        records(&[WalkerAnim { actor: walker, speed: 140.0 + frame as f32 }], form, &mut out);
        let lights: Vec<VehicleLight> = living.iter().map(|a| VehicleLight { actor: *a, lights: a * 77 }).collect();
        records(&lights, form, &mut out);
        if frame % 25 == 1 {
            let one = SceneLight { light: -1, intensity: 100.0, color: [1.0, 0.5, 0.25, 1.0], on: Flag(1), group: 2 };
            records(&[one, SceneLight { light: 3, ..one }], form, &mut out);
        }
        let wheels: Vec<VehicleWheels> = living
            .iter()
            .map(|a| {
                let wheel = |wheel| WheelPose { wheel, steering_angle: 5.0, tire_rotation: -90.0 };
                VehicleWheels { actor: *a, wheels: (0..(*a % 3 * 2) as u8).map(wheel).collect() }
            })
            .collect();
        records(&wheels, form, &mut out);
        if frame % 25 == 2 {
            records(&[Weather { values: std::array::from_fn(|i| i as f32) }], form, &mut out);
        }
        let kinematics: Vec<Kinematics> =
            living.iter().map(|a| Kinematics { actor: *a, linear: vector(3.0), angular: vector(at(*a)) }).collect();
        records(&kinematics, form, &mut out);
        let nan = f64::from(f32::NAN);
        let boxes: Vec<BoundingBox> = adds
            .iter()
            .map(|a| BoundingBox {
                actor: a.actor,
                origin: if a.actor > 9000 { Vector::new(nan, nan, nan) } else { Vector::new(0.0, 0.0, 75.1) },
                extent: if a.actor > 9000 {
                    Vector::new(f64::INFINITY, f64::NEG_INFINITY, 0.0)
                } else {
                    Vector::new(240.3, 100.0, 75.0)
                },
            })
            .collect();
        records(&boxes, form, &mut out);
        if frame == 1 {
            records(&[TriggerVolume { actor: light, origin: vector(8.0), extent: vector(9.0) }], form, &mut out);
        }
        plain(14, &(elapsed * 1.5).to_le_bytes(), &mut out);
        if frame == 1 {
            records(&[TrafficLightTime { actor: light, green: 10.0, yellow: 3.0, red: 2.0 }], form, &mut out);
        }
        let bones = ["hips", "spine", "häd"].map(|name| Bone {
            name: name.as_bytes(),
            location: vector(at(7)),
            rotation: rotation(2.0),
        });
        records(&[WalkerBones { actor: walker, bones: bones.to_vec() }], form, &mut out);
        if frame % 10 == 0 {
            plain(139, &[0xaa, 0xbb, frame as u8], &mut out);
        }
        plain(1, &[], &mut out);
    }
    out
}

pub(crate) fn f32_form() -> WireFormat {
    WireFormat::default()
}

pub(crate) fn f64_form() -> WireFormat {
    WireFormat { ids: Ids::B, vectors: Vectors::F64, ..WireFormat::default() }
}
