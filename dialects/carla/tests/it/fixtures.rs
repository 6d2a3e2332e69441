//! The recordings in `fixtures/carla`, as code. `make bless` writes them.

use logpose_carla::*;
use logpose_testkit::{Fixtures, corpus_logs, noise};

use crate::model_kit::{drive as generated, f32_form, f64_form};
use crate::vectors::smallest;

pub(crate) const FIXTURES: Fixtures = Fixtures { folder: "carla", make: all };

#[test]
fn every_fixture_is_what_this_code_makes() {
    FIXTURES.check();
}

#[test]
fn the_origin_of_every_fixture_is_written_down() {
    FIXTURES.check_readme();
}

#[test]
fn every_valid_fixture_is_clean_and_comes_out_of_an_encoder_as_it_went_in() {
    for (name, log) in logs_in("valid") {
        let mut problems = logpose_core::Problems::default();
        salvage(&log, &mut problems).expect(&name);
        let serious = problems.list().iter().find(|problem| problem.code != "no-frames");
        assert_eq!(serious, None, "{name}");
        fuzzing::decode(&log);
        fuzzing::roundtrip(&log);
        fuzzing::recover(&log);
        fuzzing::edit(&log);
    }
}

#[test]
fn the_form_of_every_valid_fixture_is_found() {
    let expected = [
        ("0.9.13.log", Ids::A, Vectors::F32),
        ("all-packets.log", Ids::A, Vectors::F32),
        ("attached.log", Ids::A, Vectors::F32),
        ("custom-packets.log", Ids::A, Vectors::F32),
        ("doors-b.log", Ids::B, Vectors::F32),
        ("empty-frames.log", Ids::A, Vectors::F32),
        ("nan-boxes.log", Ids::A, Vectors::F32),
        ("no-frames.log", Ids::A, Vectors::F32),
        ("physics-w36.log", Ids::A, Vectors::F32),
        ("smallest.log", Ids::A, Vectors::F32),
        ("town-0.10.log", Ids::B, Vectors::F64),
        ("town-0.9.16.log", Ids::A, Vectors::F32),
        ("town-0.9.6.log", Ids::A, Vectors::F32),
        ("traffic.log", Ids::A, Vectors::F32),
        ("ue5.log", Ids::B, Vectors::F64),
        ("ue5-weather.log", Ids::A, Vectors::F64),
    ];
    let found: Vec<(String, Ids, Vectors)> = logs_in("valid")
        .into_iter()
        .map(|(name, log)| {
            let form = Frames::scan(&log).expect(&name).wire_format();
            (name, form.ids, form.vectors)
        })
        .collect();
    let mut expected: Vec<_> =
        expected.into_iter().map(|(name, ids, vectors)| (name.to_owned(), ids, vectors)).collect();
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(found, expected);
}

/// The recordings in a folder of fixtures, by name.
pub(crate) fn logs_in(folder: &str) -> Vec<(String, Vec<u8>)> {
    FIXTURES.logs(folder)
}

/// The valid ones that are small enough to be tried with every byte wrong.
pub(crate) fn small() -> Vec<(String, Vec<u8>)> {
    logs_in("valid").into_iter().filter(|(_, log)| log.len() < 4096).collect()
}

/// Our own recordings on which behaviour is checked: those among the fixtures in which something goes on for a while, and
/// generated ones with every kind of packet.
pub(crate) fn own() -> Vec<(String, Vec<u8>)> {
    let towns = logs_in("valid").into_iter().filter(|(name, _)| name.starts_with("town-") || name == "traffic.log");
    let made = [("f32", f32_form(), 2), ("f64", f64_form(), 1)];
    towns.chain(made.map(|(name, form, version)| (name.to_owned(), generated(60, 8, form, version)))).collect()
}

/// The recordings of the corpus of real logs.
pub(crate) fn real() -> Vec<(String, Vec<u8>)> {
    corpus_logs("carla", &["log", "rec"])
}

fn all() -> Vec<(String, Vec<u8>)> {
    let valid = valid().into_iter().map(|(name, log)| (format!("valid/{name}.log"), log));
    let corrupt = corrupt().into_iter().map(|(name, log)| (format!("corrupt/{name}.log"), log));
    valid.chain(corrupt).collect()
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("smallest", smallest()),
        ("0.9.13", drive(Target::V0_9_13)),
        ("traffic", traffic()),
        ("all-packets", all_packets(WireFormat::default(), 2)),
        ("ue5", drive(Target::V0_10)),
        ("ue5-weather", drive(Target::Ue5Dev)),
        ("custom-packets", custom_packets()),
        ("physics-w36", drive(Target::V0_9_10)),
        ("doors-b", all_packets(WireFormat { ids: Ids::B, ..WireFormat::default() }, 1)),
        ("attached", attached()),
        ("nan-boxes", nan_boxes()),
        ("empty-frames", empty_frames()),
        ("town-0.9.6", town(Target::V0_9_6)),
        ("town-0.9.16", town(Target::V0_9_16)),
        ("town-0.10", town(Target::V0_10)),
        ("no-frames", start(Target::V0_9_16, false).finish().expect("no frame")),
    ]
}

/// Recordings with one kind of damage each; `corrupt.rs` says what is to be reported.
fn corrupt() -> Vec<(&'static str, Vec<u8>)> {
    let log = traffic();
    let frames = Frames::scan(&log).expect("a recording of ours");
    let frame = |n: usize| {
        let frame = frames.frames()[n];
        usize::try_from(frame.at).expect("small")..usize::try_from(frame.end).expect("small")
    };
    let packet = |n: usize, id: u8| {
        let found = frames.packets(n).find(|packet| packet.id == id).expect("there");
        usize::try_from(found.at).expect("small")..usize::try_from(found.end()).expect("small")
    };
    let patch = |at: usize, bytes: &[u8]| {
        let mut log = log.clone();
        log[at..at + bytes.len()].copy_from_slice(bytes);
        log
    };
    let cut = |at: usize| log[..at].to_vec();
    let without = |range: std::ops::Range<usize>| [&log[..range.start], &log[range.end..]].concat();
    let insert = |at: usize, bytes: &[u8]| [&log[..at], bytes, &log[at..]].concat();
    let fourth = frame(3);
    let anim = packet(3, 8);
    // The recorder writes a size of 0, then the records, then the size.
    let mut unpatched = cut(anim.end - 3);
    unpatched[anim.start + 1..anim.start + 5].fill(0);
    vec![
        ("cut-in-header", cut(20)),
        ("cut-in-packet-header", cut(anim.start + 3)),
        ("cut-in-packet", cut(anim.end - 3)),
        ("cut-in-frame", cut(anim.end)),
        ("cut-behind-frame", cut(fourth.end)),
        ("unpatched", unpatched),
        ("wrong-magic", patch(6, b"a")),
        ("another-file", b"CARLA recordings are not texts, and this is one.\n".to_vec()),
        ("version-3", patch(0, &[3])),
        ("absurd-size", patch(anim.start + 1, &[0xff; 4])),
        ("absurd-total", patch(anim.start + 5, &[0xff; 2])),
        ("frame-start-too-long", patch(fourth.start + 1, &[25])),
        ("garbage", patch(fourth.start + 60, &noise(96))),
        ("garbage-over-frames", patch(fourth.start + 60, &noise(fourth.len()))),
        ("inserted", insert(fourth.start + 60, &noise(33))),
        ("births-lost", patch(frame(0).start + 60, &noise(200))),
        ("frame-missing", without(fourth.clone())),
        ("frame-twice", insert(fourth.end, &log[fourth.clone()])),
        ("frame-end-flipped", patch(fourth.end - 5, &[0x81])),
        ("frame-start-flipped", patch(fourth.start, &[0x80])),
        ("frame-id-flipped", patch(fourth.start + 11, &[0x40])),
        ("elapsed-flipped", patch(fourth.start + 5 + 16 + 7, &[0xff])),
        ("duration-flipped", patch(fourth.start + 5 + 8 + 7, &[0x43])),
        (
            "size-swallows",
            patch(
                anim.start,
                &[&[200][..], &u32::try_from(frame(5).start - anim.start).expect("small").to_le_bytes()].concat(),
            ),
        ),
        ("stray-packet", insert(fourth.start, &[101, 3, 0, 0, 0, 1, 2, 3])),
        ("two-files", [&log[..], &smallest()].concat()),
    ]
}

fn start(target: Target, additional_data: bool) -> Recording {
    let options = RecordingOptions { target, map: "Town03", date: 1_600_000_000, additional_data };
    Recording::new(&options).expect("a map")
}

fn metres(x: f64, y: f64) -> Vector {
    Vector::new(x, y, 0.25)
}

fn turned(yaw: f64) -> Rotation {
    Rotation::new(0.0, 0.0, yaw)
}

/// Eight frames of a few actors with everything that 0.9.16 writes by default: what the damaged files are made of.
pub(crate) fn traffic() -> Vec<u8> {
    let mut log = start(Target::V0_9_16, false);
    let (mut hero, mut walker, mut light) = (0, 0, 0);
    for step in 0_u8..8 {
        log.tick(0.05).expect("in order");
        let way = f64::from(step);
        match step {
            0 => {
                let role =
                    [(AttributeType::String, "role_name", "hero"), (AttributeType::Int, "number_of_wheels", "4")];
                let car = Spawn { blueprint: "vehicle.tesla.model3", uid: 28, id: Some(24), ..Spawn::default() };
                hero = log.spawn(&Spawn { attributes: &role, ..car }).expect("free");
                light = log.spawn(&Spawn { blueprint: "traffic.traffic_light", ..Spawn::default() }).expect("free");
            }
            2 => {
                let pedestrian = Spawn {
                    blueprint: "walker.pedestrian.0001",
                    uid: 3,
                    location: metres(5.0, 2.0),
                    ..Spawn::default()
                };
                walker = log.spawn(&pedestrian).expect("free");
            }
            5 => log.collide(hero, Some(walker)).expect("there"),
            6 => log.destroy(walker).expect("there"),
            _ => {}
        }
        log.place(hero, metres(way, 0.5), turned(way)).expect("there");
        log.control(hero, Controls { throttle: 0.5, gear: 1, ..Controls::default() }).expect("there");
        log.signal(light, if step < 4 { Signal::Red } else { Signal::Green }, f32::from(step % 4), false)
            .expect("there");
        if (2..6).contains(&step) {
            log.walk(walker, 1.4).expect("there");
        }
    }
    log.finish().expect("whole")
}

/// Twenty seconds in a town, a frame every half second, so that CARLA's queries have something to find. A car stands for
/// seven seconds and then drives on, another stands from the third second to the end; the hero runs into a walker and stays in touch with
/// it for two frames, touches it again later, and hits the ground at the end. A walker and a sensor come and go, and an
/// id is used again.
fn town(target: Target) -> Vec<u8> {
    let mut log = start(target, target.has(Kind::Kinematics));
    let role = [(AttributeType::String, "role_name", "hero"), (AttributeType::Int, "number_of_wheels", "4")];
    let hero =
        Spawn { blueprint: "vehicle.tesla.model3", uid: 28, id: Some(100), attributes: &role, ..Spawn::default() };
    let car = |id, y| Spawn {
        blueprint: "vehicle.audi.tt",
        uid: 5,
        id: Some(id),
        location: metres(0.0, y),
        attributes: &[(AttributeType::String, "role_name", "")],
        ..Spawn::default()
    };
    let walker = Spawn { blueprint: "walker.pedestrian.0001", uid: 3, id: Some(110), ..Spawn::default() };
    let light = Spawn { blueprint: "traffic.traffic_light", id: Some(5), ..Spawn::default() };
    let eye = Spawn { blueprint: "sensor.camera.rgb", id: Some(120), parent: Some(100), ..Spawn::default() };
    for step in 0_u8..40 {
        log.tick(0.5).expect("in order");
        let way = f64::from(step);
        match step {
            0 => {
                for actor in [&light, &hero, &car(101, 10.0), &car(102, 20.0)] {
                    log.spawn(actor).expect("free");
                }
                if target.has(Kind::BoundingBox) {
                    log.bounding_box(100, Vector::new(0.0, 0.0, 0.75), Vector::new(2.5, 1.0, 0.75)).expect("there");
                    log.timing(5, 10.0, 3.0, 2.0).expect("there");
                    log.trigger(5, metres(3.0, 3.0), Vector::new(1.0, 2.0, 1.5)).expect("there");
                }
                if target.has(Kind::SceneLight) {
                    log.scene_light(lamp()).expect("known");
                }
            }
            6 => drop(log.spawn(&walker).expect("free")),
            8 => drop(log.spawn(&eye).expect("free")),
            14 | 15 | 22 => log.collide(100, Some(110)).expect("there"),
            28 => {
                log.destroy(110).expect("there");
                log.destroy(120).expect("there");
            }
            32 => drop(log.spawn(&Spawn { blueprint: "walker.pedestrian.0002", ..walker }).expect("free")),
            39 => log.collide(100, None).expect("there"),
            _ => {}
        }
        log.place(100, metres(way, 0.5), turned(way * 3.0 - 90.0)).expect("there");
        log.place(101, metres(if step < 14 { 4.0 } else { way }, 10.0), turned(0.0)).expect("there");
        log.place(102, metres(way.min(6.0) * 5.0, 20.0), turned(45.0)).expect("there");
        log.control(100, Controls { throttle: 0.5, gear: 1, ..Controls::default() }).expect("there");
        log.signal(5, if step % 16 < 8 { Signal::Red } else { Signal::Green }, f32::from(step % 8) * 0.5, step == 7)
            .expect("there");
        if (6..28).contains(&step) || step >= 32 {
            log.place(110, metres(20.0, way / 8.0), turned(180.0)).expect("there");
            log.walk(110, 1.5).expect("there");
        }
        if target.has(Kind::VehicleLight) {
            log.lamps(100, if step < 20 { 0 } else { 0x183 }).expect("there");
        }
        if target.has(Kind::Kinematics) {
            log.velocity(100, Vector::new(2.0, 0.0, 0.0), Vector::new(0.0, 0.0, 6.0)).expect("there");
            log.platform_time(way * 0.0625).expect("known");
        }
        if target.has(Kind::VehicleDoor) && (step == 34 || step == 36) {
            log.door(101, 1, step == 34).expect("there");
        }
    }
    log.finish().expect("whole")
}

/// Three frames of everything that a build knows, with additional data.
fn drive(target: Target) -> Vec<u8> {
    let mut log = start(target, true);
    log.tick(0.05).expect("in order");
    let role = [(AttributeType::String, "role_name", "hero"), (AttributeType::Color, "color", "255,0,0")];
    let car = Spawn { blueprint: "vehicle.tesla.model3", uid: 28, attributes: &role, ..Spawn::default() };
    let car = log.spawn(&Spawn { location: metres(1.5, -2.5), rotation: turned(90.0), ..car }).expect("free");
    let walker = log.spawn(&Spawn { blueprint: "walker.pedestrian.0001", uid: 3, ..Spawn::default() }).expect("free");
    let light = log.spawn(&Spawn { blueprint: "traffic.traffic_light", ..Spawn::default() }).expect("free");
    let sign = log.spawn(&Spawn { blueprint: "traffic.stop", ..Spawn::default() }).expect("free");
    let eye =
        Spawn { blueprint: "sensor.camera.rgb", parent: Some(car), location: metres(-5.0, 0.0), ..Spawn::default() };
    log.spawn(&eye).expect("free");
    log.bounding_box(car, Vector::new(0.0, 0.0, 0.75), Vector::new(2.5, 1.0, 0.75)).expect("there");
    log.bounding_box(walker, Vector::default(), Vector::new(0.25, 0.25, 1.0)).expect("there");
    log.trigger(sign, metres(3.0, 3.0), Vector::new(1.0, 2.0, 1.5)).expect("there");
    log.timing(light, 10.0, 3.0, 2.0).expect("there");
    log.physics(car, physics(target)).expect("there");
    log.scene_light(lamp()).expect("known");
    if target.has(Kind::Weather) {
        log.weather(weather()).expect("known");
    }
    for step in 0_u8..3 {
        if step > 0 {
            log.tick(0.05).expect("in order");
        }
        let way = f64::from(step);
        log.place(car, metres(1.5, -2.5 + way), turned(90.0)).expect("there");
        log.place(walker, metres(way / 4.0, 0.0), turned(0.0)).expect("there");
        log.control(car, Controls { steering: -0.25, throttle: 0.5, brake: 0.0, handbrake: false, gear: 2 })
            .expect("there");
        log.walk(walker, 1.5).expect("there");
        log.lamps(car, 0x183).expect("there");
        log.velocity(car, Vector::new(0.0, 20.0, 0.0), Vector::new(0.0, 0.0, 8.0)).expect("there");
        log.signal(light, Signal::Yellow, f32::from(step) * 0.5, step == 2).expect("there");
        log.platform_time(way * 0.0625).expect("known");
        if target.has(Kind::VehicleWheels) {
            let wheel = |wheel| WheelPose { wheel, steering_angle: 5.0, tire_rotation: -90.0 * f32::from(step) };
            log.wheels(car, &[wheel(0), wheel(1)]).expect("there");
        }
        if target.has(Kind::WalkerBones) {
            log.bones(walker, &[("hip", metres(0.0, 0.01), turned(5.0)), ("", Vector::default(), turned(0.0))])
                .expect("there");
        }
        if target.has(Kind::VehicleDoor) && step == 1 {
            log.door(car, 5, true).expect("there");
        }
    }
    log.collide(car, None).expect("there");
    log.finish().expect("whole")
}

fn lamp() -> SceneLight {
    SceneLight { light: -1, intensity: 100.0, color: [1.0, 0.5, 0.25, 1.0], on: true.into(), group: 2 }
}

fn weather() -> Weather {
    Weather { values: std::array::from_fn(|i| f32::from(u8::try_from(i).expect("small"))) }
}

fn physics(target: Target) -> PhysicsBody {
    if target.is_ue5() {
        let mut image = [0; 208];
        for (byte, n) in image.iter_mut().zip(0_u8..).take(72) {
            *byte = n;
        }
        return PhysicsBody::Ue5(Box::new(Ue5Physics {
            max_torque: 300.0,
            max_rpm: 5000.0,
            differential_type: 2,
            mass: 1500.0,
            torque_curve: vec![[0.0, 0.5], [1.0, 1.0]],
            forward_gear_ratios: vec![2.5, 1.5],
            reverse_gear_ratios: vec![2.75],
            steering_curve: vec![[0.0, 1.0]],
            wheels: vec![Ue5Wheel(image)],
            ..Ue5Physics::default()
        }));
    }
    let stiffness = (target.wire_format().physics == Physics::W48).then_some([2.0, 17.0, 1000.0]);
    let wheel =
        Ue4Wheel { tire_friction: 3.5, radius: 35.0, stiffness, position: [1.0, 2.0, 3.0], ..Ue4Wheel::default() };
    PhysicsBody::Ue4(Box::new(Ue4Physics {
        max_rpm: 5000.0,
        use_gear_autobox: true.into(),
        mass: 1500.0,
        torque_curve: vec![[0.0, 400.0], [5000.0, 300.0]],
        forward_gears: vec![[2.0, 0.5, 0.75]],
        steering_curve: vec![[0.0, 1.0]],
        wheels: vec![wheel, wheel],
        ..Ue4Physics::default()
    }))
}

/// Two frames with every kind of packet that there is, also those that no build writes together.
fn all_packets(form: WireFormat, version: u16) -> Vec<u8> {
    let mut log = Writer::new(&Header { version, date: -1, map: "Città".as_bytes() }, form).expect("a map");
    let add = |actor, actor_type, blueprint| EventAdd {
        actor,
        actor_type,
        location: Vector::new(1.0, -2.0, 0.5),
        rotation: Rotation::new(1.0, 2.0, 90.0),
        uid: 17,
        blueprint,
        attributes: Attributes(vec![Attribute { attribute_type: 4, id: b"role_name", value: b"" }]),
    };
    let (car, walker, light) = (24, 26, 2);
    let wheel = |wheel| WheelPose { wheel, steering_angle: 5.0, tire_rotation: -90.0 };
    let bone = Bone { name: b"hip", location: Vector::new(0.0, 1.0, 2.0), rotation: Rotation::new(3.0, 4.0, 5.0) };
    let anim = VehicleAnim { actor: car, steering: -0.5, throttle: 0.75, brake: 0.0, handbrake: true.into(), gear: -1 };
    let hit = Collision { id: 0, actor1: car, actor2: u32::MAX, hero1: true.into(), hero2: false.into() };
    for step in 0_u8..2 {
        log.tick(0.05).expect("in order");
        let first = step == 0;
        log.frame_counter(u64::from(step) + 7).expect("in order");
        log.visual_time(12.5).expect("in order");
        let adds = [add(car, 1, b"vehicle.a"), add(walker, 2, b"walker.b"), add(light, 3, b"traffic.traffic_light")];
        log.records(if first { &adds[..] } else { &[] }).expect("new");
        log.records(&when(!first, EventDel { actor: walker })).expect("there");
        log.records(&when(first, EventParent { actor: walker, parent: car })).expect("there");
        log.records(&[hit]).expect("there");
        log.records(&[VehicleDoor { actor: car, door: 5, open: first.into() }]).expect("there");
        let rotation = Rotation::new(0.0, 0.0, 90.0);
        log.records(&[Position { actor: car, location: Vector::new(1.0, f64::from(step), 0.5), rotation }])
            .expect("there");
        log.records(&[TrafficLightState { actor: light, frozen: false.into(), elapsed: 1.5, state: 2 }])
            .expect("there");
        log.records(&[anim]).expect("there");
        log.records(&when(first, WalkerAnim { actor: walker, speed: 140.0 })).expect("there");
        log.records(&[VehicleLight { actor: car, lights: 0x183 }]).expect("there");
        log.records(&[lamp()]).expect("there");
        log.records(&[VehicleWheels { actor: car, wheels: vec![wheel(0), wheel(1)] }]).expect("there");
        log.records(&[BikerAnim { actor: car, forward_speed: 250.0, engine_rotation: 0.5 }]).expect("there");
        log.records(&[weather()]).expect("there");
        let linear = Vector::new(20.0, 0.0, 0.0);
        log.records(&[Kinematics { actor: car, linear, angular: Vector::new(0.0, 0.0, 8.0) }]).expect("there");
        let (origin, extent) = (Vector::new(0.0, 0.0, 75.0), Vector::new(240.0, 100.0, 75.0));
        log.records(&[BoundingBox { actor: car, origin, extent }]).expect("there");
        log.records(&[TriggerVolume { actor: light, origin, extent }]).expect("there");
        log.platform_time(0.25).expect("in order");
        log.records(&[PhysicsControl { actor: car, body: physics(Target::V0_9_16) }]).expect("there");
        log.records(&[TrafficLightTime { actor: light, green: 10.0, yellow: 3.0, red: 2.0 }]).expect("there");
        log.records(&when(first, WalkerBones { actor: walker, bones: vec![bone] })).expect("there");
        log.end_frame().expect("open");
    }
    log.finish().expect("whole")
}

fn when<T>(so: bool, record: T) -> Vec<T> {
    so.then_some(record).into_iter().collect()
}

/// Packets that CARLA does not know, within frames.
fn custom_packets() -> Vec<u8> {
    let mut log = start(Target::V0_9_15, false);
    for step in 0_u8..3 {
        log.tick(0.05).expect("in order");
        if step == 0 {
            log.spawn(&Spawn { blueprint: "vehicle.a", ..Spawn::default() }).expect("free");
        }
        log.packet(101, &[]).expect("free");
        log.packet(139, &[0xaa, 0xbb, step]).expect("free");
        // What looks like the seam of two frames, but of none that could be.
        log.packet(140, &[1, 0, 0, 0, 0, 0, 24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]).expect("free");
    }
    log.finish().expect("whole")
}

/// Sensors that hang on a vehicle, an id that is used again.
fn attached() -> Vec<u8> {
    let mut log = start(Target::V0_9_15, true);
    log.frame(0.0).expect("in order");
    let car = Spawn { blueprint: "vehicle.a", id: Some(10), location: metres(1.0, 1.0), ..Spawn::default() };
    log.spawn(&car).expect("free");
    let eye =
        Spawn { blueprint: "sensor.camera.rgb", parent: Some(10), location: metres(-5.0, 0.0), ..Spawn::default() };
    let first = log.spawn(&eye).expect("free");
    for step in 1..8 {
        log.frame(f64::from(step) * 0.5).expect("in order");
        match step {
            3 => {
                log.destroy(first).expect("there");
                log.destroy(10).expect("there");
            }
            4 => {
                let bike = Spawn { blueprint: "vehicle.bh.crossbike", id: Some(10), ..Spawn::default() };
                log.spawn(&bike).expect("free again");
                log.biker(10, 2.5, 0.5).expect("there");
                log.spawn(&Spawn { blueprint: "sensor.other.collision", parent: Some(10), ..Spawn::default() })
                    .expect("free");
                log.bounding_box(10, Vector::default(), Vector::new(1.0, 0.25, 0.5)).expect("there");
            }
            _ => {}
        }
    }
    log.finish().expect("whole")
}

/// What real recordings say of the size of a sensor and of the spectator.
fn nan_boxes() -> Vec<u8> {
    let mut log = start(Target::V0_9_13, true);
    log.tick(0.05).expect("in order");
    let eye = log.spawn(&Spawn { blueprint: "sensor.camera.rgb", ..Spawn::default() }).expect("free");
    let spectator = log.spawn(&Spawn { blueprint: "spectator", ..Spawn::default() }).expect("free");
    let nan = Vector::new(f64::NAN, -f64::NAN, widen(f32::from_bits(0x7fc0_1234)));
    let endless = Vector::new(f64::INFINITY, f64::NEG_INFINITY, f64::MAX);
    log.bounding_box(eye, nan, endless).expect("there");
    log.bounding_box(spectator, nan, endless).expect("there");
    log.tick(0.05).expect("in order");
    log.finish().expect("whole")
}

fn empty_frames() -> Vec<u8> {
    let mut log = start(Target::V0_9_6, false);
    for _ in 0..3 {
        log.tick(0.1).expect("in order");
    }
    log.finish().expect("whole")
}
