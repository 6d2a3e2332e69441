//! The test vectors of the specification, section 18, byte for byte: written by us, and read and written again.

use logpose_carla::*;
use logpose_core::Cursor;
use logpose_testkit::hex;
use sha2::{Digest, Sha256};

const F32: WireFormat = WireFormat { ids: Ids::A, vectors: Vectors::F32, physics: Physics::W48 };
const W36: WireFormat = WireFormat { physics: Physics::W36, ..F32 };
const F64: WireFormat = WireFormat { ids: Ids::B, vectors: Vectors::F64, physics: Physics::Ue5 };

/// The packet of these records is these bytes, and these bytes are these records.
fn check<'a, R: Record<'a> + PartialEq + std::fmt::Debug>(form: WireFormat, records: &[R], bytes: &'a [u8]) {
    let mut out = Vec::new();
    emit_records(records, form, &mut out);
    assert_eq!(out, bytes, "{:?}", R::KIND);
    let packet = Packet::parse(&mut Cursor::new(bytes, 0)).expect("a packet");
    assert_eq!(packet.kind(form), Some(R::KIND));
    assert_eq!(packet.end(), bytes.len() as u64);
    let read: Vec<R> = Records::new(&packet, form).expect("records").iter().collect();
    assert_eq!(read, records);
    packet.decode(form).expect("decodes");
    let mut again = Vec::new();
    packet.emit(&mut again);
    assert_eq!(again, bytes);
}

macro_rules! vector {
    ($($name:ident: $form:expr, $records:expr, $bytes:literal;)*) => {$(
        #[test]
        fn $name() {
            let bytes = hex($bytes);
            check($form, &$records, &bytes);
        }
    )*};
}

fn add<'a>(attributes: &[Attribute<'a>]) -> EventAdd<'a> {
    EventAdd {
        actor: 24,
        actor_type: 1,
        location: Vector::new(1.0, -2.0, 0.5),
        rotation: Rotation::new(0.0, 0.0, 90.0),
        uid: 17,
        blueprint: b"vehicle.a",
        attributes: Attributes(attributes.to_vec()),
    }
}

fn position() -> Position {
    Position { actor: 24, location: Vector::new(1.0, -2.0, 0.5), rotation: Rotation::new(0.0, 0.0, 90.0) }
}

fn physics(stiffness: Option<[f32; 3]>) -> PhysicsControl {
    let wheel = Ue4Wheel {
        tire_friction: 3.5,
        damping_rate: 0.25,
        max_steer_angle: 70.0,
        radius: 35.0,
        max_brake_torque: 1500.0,
        max_handbrake_torque: 0.0,
        stiffness,
        position: [1.0, 2.0, 3.0],
    };
    let body = Ue4Physics {
        max_rpm: 5000.0,
        moi: 1.0,
        damping_rate_full_throttle: 0.25,
        damping_rate_zero_throttle_clutch_engaged: 2.0,
        damping_rate_zero_throttle_clutch_disengaged: 0.5,
        use_gear_autobox: true.into(),
        clutch_strength: 10.0,
        final_ratio: 4.0,
        mass: 1000.0,
        drag_coefficient: 0.5,
        center_of_mass: [0.5, 0.0, -0.25],
        torque_curve: vec![[0.0, 400.0]],
        forward_gears: vec![[2.0, 0.5, 0.75]],
        steering_curve: vec![[0.0, 1.0]],
        wheels: vec![wheel],
    };
    PhysicsControl { actor: 24, body: PhysicsBody::Ue4(Box::new(body)) }
}

fn door() -> VehicleDoor {
    VehicleDoor { actor: 24, door: 5, open: true.into() }
}

fn wheel(wheel: u8) -> WheelPose {
    WheelPose { wheel, steering_angle: 5.0, tire_rotation: -90.0 }
}

vector! {
    event_add_empty: F32, [] as [EventAdd<'_>; 0], "02 02 00 00 00 00 00";
    event_add: F32, [add(&[Attribute { attribute_type: 4, id: b"role_name", value: b"hero" }])],
        "02 42 00 00 00 01 00 18 00 00 00 01 00 00 80 3F 00 00 00 C0 00 00 00 3F 00 00 00 00 00 00 00 00 00 00 B4 42 11 00 00 00 09 00 76 65 68 69 63 6C 65 2E 61 01 00 04 09 00 72 6F 6C 65 5F 6E 61 6D 65 04 00 68 65 72 6F";
    event_add_f64: F64, [add(&[])],
        "02 48 00 00 00 01 00 18 00 00 00 01 00 00 00 00 00 00 F0 3F 00 00 00 00 00 00 00 C0 00 00 00 00 00 00 E0 3F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80 56 40 11 00 00 00 09 00 76 65 68 69 63 6C 65 2E 61 00 00";
    event_del: F32, [100, 101, 120].map(|actor| EventDel { actor }),
        "03 0E 00 00 00 03 00 64 00 00 00 65 00 00 00 78 00 00 00";
    event_parent: F32, [EventParent { actor: 30, parent: 24 }], "04 0A 00 00 00 01 00 1E 00 00 00 18 00 00 00";
    collision: F32, [Collision { id: 0, actor1: 24, actor2: u32::MAX, hero1: true.into(), hero2: false.into() }],
        "05 10 00 00 00 01 00 00 00 00 00 18 00 00 00 FF FF FF FF 01 00";
    position_f32: F32, [position()],
        "06 1E 00 00 00 01 00 18 00 00 00 00 00 80 3F 00 00 00 C0 00 00 00 3F 00 00 00 00 00 00 00 00 00 00 B4 42";
    position_f64: F64, [position()],
        "06 36 00 00 00 01 00 18 00 00 00 00 00 00 00 00 00 F0 3F 00 00 00 00 00 00 00 C0 00 00 00 00 00 00 E0 3F 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80 56 40";
    traffic_light_state: F32, [TrafficLightState { actor: 2, frozen: false.into(), elapsed: 1.5, state: 2 }],
        "07 0C 00 00 00 01 00 02 00 00 00 00 00 00 C0 3F 02";
    vehicle_anim: F32,
        [VehicleAnim { actor: 24, steering: -0.5, throttle: 0.75, brake: 0.0, handbrake: true.into(), gear: -1 }],
        "08 17 00 00 00 01 00 18 00 00 00 00 00 00 BF 00 00 40 3F 00 00 00 00 01 FF FF FF FF";
    walker_anim: F32, [WalkerAnim { actor: 26, speed: 140.0 }], "09 0A 00 00 00 01 00 1A 00 00 00 00 00 0C 43";
    vehicle_light: F32, [VehicleLight { actor: 24, lights: 0x183 }], "0A 0A 00 00 00 01 00 18 00 00 00 83 01 00 00";
    scene_light: F32,
        [SceneLight { light: 5, intensity: 100.0, color: [1.0, 0.5, 0.25, 1.0], on: true.into(), group: 2 }],
        "0B 1C 00 00 00 01 00 05 00 00 00 00 00 C8 42 00 00 80 3F 00 00 00 3F 00 00 80 3E 00 00 80 3F 01 02";
    kinematics: F32,
        [Kinematics { actor: 24, linear: Vector::new(20.0, 0.0, 0.0), angular: Vector::new(0.0, 0.0, 8.0) }],
        "0C 1E 00 00 00 01 00 18 00 00 00 00 00 A0 41 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 41";
    bounding_box: F32,
        [BoundingBox { actor: 24, origin: Vector::new(0.0, 0.0, 75.0), extent: Vector::new(240.0, 100.0, 75.0) }],
        "0D 1E 00 00 00 01 00 18 00 00 00 00 00 00 00 00 00 00 00 00 00 96 42 00 00 70 43 00 00 C8 42 00 00 96 42";
    physics_w48: F32, [physics(Some([2.0, 17.0, 1000.0]))],
        "0F 93 00 00 00 01 00 18 00 00 00 00 40 9C 45 00 00 80 3F 00 00 80 3E 00 00 00 40 00 00 00 3F 01 00 00 20 41 00 00 80 40 00 00 7A 44 00 00 00 3F 00 00 00 3F 00 00 00 00 00 00 80 BE 01 00 00 00 00 00 00 00 00 00 C8 43 01 00 00 00 00 00 00 40 00 00 00 3F 00 00 40 3F 01 00 00 00 00 00 00 00 00 00 80 3F 01 00 00 00 00 00 60 40 00 00 80 3E 00 00 8C 42 00 00 0C 42 00 80 BB 44 00 00 00 00 00 00 00 40 00 00 88 41 00 00 7A 44 00 00 80 3F 00 00 00 40 00 00 40 40";
    physics_w36: W36, [physics(None)],
        "0F 87 00 00 00 01 00 18 00 00 00 00 40 9C 45 00 00 80 3F 00 00 80 3E 00 00 00 40 00 00 00 3F 01 00 00 20 41 00 00 80 40 00 00 7A 44 00 00 00 3F 00 00 00 3F 00 00 00 00 00 00 80 BE 01 00 00 00 00 00 00 00 00 00 C8 43 01 00 00 00 00 00 00 40 00 00 00 3F 00 00 40 3F 01 00 00 00 00 00 00 00 00 00 80 3F 01 00 00 00 00 00 60 40 00 00 80 3E 00 00 8C 42 00 00 0C 42 00 80 BB 44 00 00 00 00 00 00 80 3F 00 00 00 40 00 00 40 40";
    traffic_light_time: F32, [TrafficLightTime { actor: 2, green: 10.0, yellow: 3.0, red: 2.0 }],
        "10 12 00 00 00 01 00 02 00 00 00 00 00 20 41 00 00 40 40 00 00 00 40";
    walker_bones: F32, [WalkerBones { actor: 26, bones: vec![
        Bone { name: b"hip", location: Vector::new(0.0, 1.0, 2.0), rotation: Rotation::new(3.0, 4.0, 5.0) },
    ] }], "13 25 00 00 00 01 00 1A 00 00 00 01 00 03 00 68 69 70 00 00 00 00 00 00 80 3F 00 00 00 40 00 00 40 40 00 00 80 40 00 00 A0 40";
    vehicle_wheels: F32, [VehicleWheels { actor: 24, wheels: vec![wheel(0), wheel(1)] }],
        "15 1C 00 00 00 01 00 18 00 00 00 02 00 00 00 00 00 00 A0 40 00 00 B4 C2 01 00 00 A0 40 00 00 B4 C2";
    biker_anim: F32, [BikerAnim { actor: 25, forward_speed: 250.0, engine_rotation: 0.5 }],
        "16 0E 00 00 00 01 00 19 00 00 00 00 00 7A 43 00 00 00 3F";
    vehicle_door_a: F32, [door()], "17 08 00 00 00 01 00 18 00 00 00 05 01";
    vehicle_door_b: F64, [door()], "15 08 00 00 00 01 00 18 00 00 00 05 01";
    weather: F32, [Weather { values: std::array::from_fn(|i| f32::from(u8::try_from(i).expect("small"))) }],
        "18 3A 00 00 00 01 00 00 00 00 00 00 00 80 3F 00 00 00 40 00 00 40 40 00 00 80 40 00 00 A0 40 00 00 C0 40 00 00 E0 40 00 00 00 41 00 00 10 41 00 00 20 41 00 00 30 41 00 00 40 41 00 00 50 41";
}

#[test]
fn header() {
    let bytes =
        hex("01 00 0E 00 43 41 52 4C 41 5F 52 45 43 4F 52 44 45 52 1F 6D AC 5C 00 00 00 00 06 00 54 6F 77 6E 30 34");
    let header = Header { version: 1, date: 1_554_803_999, map: b"Town04" };
    let mut out = Vec::new();
    header.emit(&mut out);
    assert_eq!(out, bytes);
    assert_eq!(Header::parse(&mut Cursor::new(&bytes, 0)), Ok(header));
    assert_eq!(header.size(), bytes.len());
}

#[test]
fn a_text() {
    let header = Header { version: 1, date: 0, map: b"Town06" };
    let mut out = Vec::new();
    header.emit(&mut out);
    assert!(out.ends_with(&hex("06 00 54 6F 77 6E 30 36")));
}

/// The packets that hold no records, as the writer puts them into a frame.
#[test]
fn fixed_packets_and_private_ones() {
    let mut writer = Writer::new(&Header { version: 1, date: 0, map: b"" }, F32).expect("a header");
    writer.begin_frame(0.0).expect("in order");
    writer.frame_counter(7).expect("in order");
    writer.visual_time(12.5).expect("in order");
    writer.platform_time(0.25).expect("in order");
    writer.raw(139, &[0xaa, 0xbb, 0xcc]).expect("free");
    writer.end_frame().expect("open");
    writer.begin_frame(0.05).expect("in order");
    writer.end_frame().expect("open");
    let log = writer.finish().expect("closed");
    let packets = [
        "00 18 00 00 00 01 00 00 00 00 00 00 00 9A 99 99 99 99 99 A9 3F 00 00 00 00 00 00 00 00",
        "12 08 00 00 00 07 00 00 00 00 00 00 00",
        "14 08 00 00 00 00 00 00 00 00 00 29 40",
        "0E 08 00 00 00 00 00 00 00 00 00 D0 3F",
        "8B 03 00 00 00 AA BB CC",
        "01 00 00 00 00",
        "00 18 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 F0 BF 9A 99 99 99 99 99 A9 3F",
        "01 00 00 00 00",
    ];
    let mut at = 28;
    for packet in packets {
        let bytes = hex(packet);
        assert_eq!(log[at..at + bytes.len()], bytes, "{packet}");
        at += bytes.len();
    }
    assert_eq!(at, log.len());
}

/// The smallest complete file of 0.9.4 with two frames.
pub(crate) fn smallest() -> Vec<u8> {
    let options = RecordingOptions { target: Target::V0_9_4, map: "T", ..RecordingOptions::default() };
    let mut recording = Recording::new(&options).expect("a map");
    recording.tick(0.05).expect("in order");
    let (location, rotation) = (Vector::new(0.01, 0.02, 0.03), Rotation::new(0.0, 0.0, 90.0));
    let class = Some(ActorType::Vehicle);
    let car = Spawn { blueprint: "v", id: Some(7), class, location, rotation, ..Spawn::default() };
    assert_eq!(recording.spawn(&car), Ok(7));
    recording.tick(0.05).expect("in order");
    recording.destroy(7).expect("there");
    recording.finish().expect("whole")
}

#[test]
fn the_smallest_file() {
    let expected = hex(
        "01 00 0E 00 43 41 52 4C 41 5F 52 45 43 4F 52 44 45 52 00 00 00 00 00 00 00 00 01 00 54
         00 18 00 00 00 01 00 00 00 00 00 00 00 00 00 00 A0 99 99 A9 3F 00 00 00 00 00 00 00 00
         02 28 00 00 00 01 00 07 00 00 00 01 00 00 80 3F 00 00 00 40 00 00 40 40 00 00 00 00 00 00 00 00 00 00 B4 42 00 00 00 00 01 00 76 00 00
         03 02 00 00 00 00 00
         04 02 00 00 00 00 00
         05 02 00 00 00 00 00
         06 1E 00 00 00 01 00 07 00 00 00 00 00 80 3F 00 00 00 40 00 00 40 40 00 00 00 00 00 00 00 00 00 00 B4 42
         07 02 00 00 00 00 00
         01 00 00 00 00
         00 18 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 F0 BF 00 00 00 A0 99 99 A9 3F
         02 02 00 00 00 00 00
         03 06 00 00 00 01 00 07 00 00 00
         04 02 00 00 00 00 00
         05 02 00 00 00 00 00
         06 02 00 00 00 00 00
         07 02 00 00 00 00 00
         01 00 00 00 00",
    );
    let log = smallest();
    assert_eq!(log.len(), 251);
    assert_eq!(log, expected);
    let digest: String = Sha256::digest(&log).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, "8ef45e192f9afd44f1c58addf5bed35bcc67f8c65b3dc04203e4e1c6c9a8a835");
}
