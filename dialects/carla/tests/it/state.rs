//! States at any time.

use logpose_carla::{
    ActorType, BoundingBox, EventAdd, EventDel, EventParent, Flag, Frames, Kinematics, Mode, PhysicsBody, Pose,
    PoseSource, Position, SceneLight, State, Vector, VehicleAnim, VehicleDoor, WalkerAnim, Weather,
};
use serde_json::Value as Json;

use crate::queries::{actor, corpus, packet, packets, position, recording, sample};

/// States in both modes before, in, between and after the frames.
pub(crate) fn at_many_times(frames: &Frames<'_>) {
    for mode in [Mode::True, Mode::Carla] {
        for time in [0.0, 0.11, 1e9] {
            let Some(state) = State::at(frames, time, mode) else { continue };
            for actor in &state.actors {
                let _ = actor.physics(frames);
            }
        }
    }
}

#[test]
fn a_pose_lies_between_two_frames() {
    let stand = |x: f64, yaw: f64| packet(&[position(24, x, yaw)]);
    let log = recording(
        1,
        &[
            packets(&[packet(&[actor(24, 1, "vehicle.a")]), stand(0.0, 170.0)]),
            stand(100.0, 178.0),
            stand(200.0, -174.0),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let pose = |time: f64, mode: Mode| {
        let state = State::at(&frames, time, mode).unwrap();
        let pose = state.actor(24).unwrap().pose;
        (pose.x, pose.yaw)
    };
    for (time, recorded, shown) in [
        (0.0, (0.0, 170.0), (0.0, 170.0)),
        (0.25, (0.5, 174.0), (0.0, 170.0)),
        (0.5, (1.0, 178.0), (0.0, 170.0)),
        (0.75, (1.5, 182.0), (0.5, 174.0)),
        // The last frame is not shown.
        (1.0, (2.0, -174.0), (1.0, 178.0)),
        (100.0, (2.0, -174.0), (1.0, 178.0)),
    ] {
        assert_eq!((pose(time, Mode::True), pose(time, Mode::Carla)), (recorded, shown), "{time}");
    }
    assert_eq!(State::at(&frames, -0.1, Mode::True), None);
    assert_eq!(State::at(&frames, f64::NAN, Mode::True), None);
    let velocity = State::at(&frames, 1.0, Mode::True).unwrap().actor(24).unwrap().velocity.unwrap();
    assert_eq!((velocity.linear.x, velocity.angular.z, velocity.derived), (2.0, 16.0, true));
}

#[test]
fn an_actor_exists_from_its_birth_to_its_end() {
    let log = recording(
        1,
        &[
            packets(&[packet(&[actor(1, 1, "vehicle.a")]), packet(&[position(1, 100.0, 0.0)])]),
            packets(&[
                packet(&[actor(2, 2, "walker.b")]),
                packet(&[position(1, 100.0, 0.0), position(2, 0.0, 0.0), position(77, 0.0, 0.0)]),
                packet(&[WalkerAnim { actor: 2, speed: 140.0 }]),
            ]),
            // 1 is another from here on.
            packets(&[
                packet(&[EventDel { actor: 1 }]),
                packet(&[actor(1, 0, "static.c")]),
                packet(&[position(1, 900.0, 0.0)]),
            ]),
            packets(&[packet(&[EventDel { actor: 1 }]), packet::<Position>(&[])]),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let seen = |time: f64| {
        let state = State::at(&frames, time, Mode::True).unwrap();
        state.actors.iter().map(|actor| (actor.actor, actor.class, actor.pose.x)).collect::<Vec<_>>()
    };
    use ActorType::{Other, Vehicle, Walker};
    assert_eq!(seen(0.25), [(1, Vehicle, 1.0)]);
    // No way leads from one actor to the other; 77 is not known, but has a position.
    assert_eq!(seen(0.75), [(1, Vehicle, 1.0), (2, Walker, 0.0), (77, Other, 0.0)]);
    assert_eq!(seen(1.25), [(1, Other, 9.0), (2, Walker, 0.0)]);
    assert_eq!(seen(1.5), [(2, Walker, 0.0)]);
    let state = State::at(&frames, 0.75, Mode::True).unwrap();
    assert_eq!(state.actor(2).unwrap().walker_speed, Some(1.4));
    assert_eq!(state.actor(2).unwrap().velocity, None);
}

#[test]
fn what_hangs_moves_with_its_parent() {
    let sensor =
        |id: u32, z: f64| EventAdd { location: Vector::new(100.0, 0.0, z), ..actor(id, 5, "sensor.camera.rgb") };
    let log = recording(
        1,
        &[
            packets(&[
                packet(&[
                    actor(9, 1, "vehicle.a"),
                    sensor(3, 200.0),
                    sensor(4, 50.0),
                    sensor(5, 0.0),
                    sensor(6, 0.0),
                    sensor(7, 0.0),
                ]),
                packet(&[
                    EventParent { actor: 3, parent: 9 },
                    EventParent { actor: 4, parent: 3 },
                    EventParent { actor: 5, parent: 6 },
                    EventParent { actor: 6, parent: 5 },
                    EventParent { actor: 7, parent: 99 },
                ]),
                packet(&[position(9, 1000.0, 90.0)]),
            ]),
            packet(&[position(9, 2000.0, 90.0)]),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let state = State::at(&frames, 0.25, Mode::True).unwrap();
    let near = |actor: u32, x: f64, y: f64, z: f64| {
        let actor = state.actor(actor).unwrap();
        let Pose { x: ax, y: ay, z: az, .. } = actor.pose;
        assert!((ax - x).abs() + (ay - y).abs() + (az - z).abs() < 1e-9, "{:?}", actor.pose);
        (actor.pose_source, actor.parent)
    };
    assert_eq!(near(9, 15.0, 0.0, 0.0), (PoseSource::Recorded, None));
    assert_eq!(near(3, 15.0, 1.0, 2.0), (PoseSource::Parent, Some(9)));
    assert_eq!(near(4, 15.0, 2.0, 2.5), (PoseSource::Parent, Some(3)));
    // Those that hang on each other, or on nothing, stay where they say.
    assert_eq!(near(5, 1.0, 0.0, 0.0), (PoseSource::Relative, Some(6)));
    assert_eq!(near(6, 1.0, 0.0, 0.0), (PoseSource::Relative, Some(5)));
    assert_eq!(near(7, 1.0, 0.0, 0.0), (PoseSource::Relative, Some(99)));
}

#[test]
fn what_lasts_lasts_until_it_changes() {
    let door = |door: u8, open: bool| VehicleDoor { actor: 24, door, open: Flag::from(open) };
    let light = |light: i32, intensity: f32| SceneLight { light, intensity, color: [0.0; 4], on: Flag(1), group: 2 };
    let anim = VehicleAnim { actor: 24, steering: 0.5, throttle: 1.0, brake: 0.0, handbrake: Flag(0), gear: 2 };
    let velocity = Kinematics { actor: 24, linear: Vector::new(20.0, 0.0, 0.0), angular: Vector::new(0.0, 0.0, 8.0) };
    let size = BoundingBox { actor: 24, origin: Vector::new(0.0, 0.0, 75.0), extent: Vector::new(240.0, 100.0, 75.0) };
    let log = recording(
        2,
        &[
            packets(&[
                packet(&[actor(24, 1, "vehicle.a")]),
                packet(&[door(5, true), door(0, true)]),
                packet(&[position(24, 0.0, 0.0)]),
                packet(&[light(-1, 1.0), light(5, 2.0)]),
                packet(&[Weather { values: [1.0; 14] }]),
                packet(&[size]),
            ]),
            packets(&[
                packet(&[door(6, false)]),
                packet(&[position(24, 100.0, 0.0)]),
                packet(&[anim]),
                packet(&[velocity]),
            ]),
            packets(&[
                packet(&[door(1, true)]),
                packet(&[position(24, 200.0, 0.0)]),
                packet(&[light(5, 3.0)]),
                packet(&[Weather { values: [2.0; 14] }]),
            ]),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let state = |time: f64| State::at(&frames, time, Mode::True).unwrap();
    let doors = |time: f64| {
        let doors = state(time).actor(24).unwrap().doors;
        [0, 1, 5, 6, 200].map(|door| doors.is_open(door))
    };
    assert_eq!(doors(0.0), [Some(true), None, Some(true), None, None]);
    assert_eq!(doors(0.5), [Some(false), Some(false), Some(false), None, None]);
    assert_eq!(doors(1.0), [Some(false), Some(true), Some(false), None, None]);
    let lights = |time: f64| state(time).scene_lights.iter().map(|l| (l.light, l.intensity)).collect::<Vec<_>>();
    assert_eq!(lights(0.75), [(-1, 1.0), (5, 2.0)]);
    assert_eq!(lights(1.0), [(-1, 1.0), (5, 3.0)]);
    assert_eq!(state(0.9).weather.unwrap().values[0], 1.0);
    assert_eq!(state(1.1).weather.unwrap().values[0], 2.0);
    let vehicle = *state(0.75).actor(24).unwrap();
    assert_eq!((vehicle.bounds.unwrap().extent, vehicle.controls), (Vector::new(2.4, 1.0, 0.75), Some(anim)));
    let velocity = vehicle.velocity.unwrap();
    assert_eq!((velocity.linear.x, velocity.angular.z, velocity.derived), (20.0, 8.0, false));
    let vehicle = *state(0.25).actor(24).unwrap();
    assert_eq!((vehicle.controls, vehicle.velocity.map(|v| (v.linear.x, v.derived))), (None, Some((2.0, true))));
}

/// The last positions that the corpus names, at the times of their frames.
#[test]
#[ignore = "needs the corpus of real logs"]
fn last_positions_of_the_corpus() {
    for (name, log) in corpus() {
        let Ok(expected) = std::fs::read(logpose_testkit::corpus("carla").join(format!("{name}.summary.json"))) else {
            continue;
        };
        let expected: Json = serde_json::from_slice(&expected).unwrap();
        let frames = Frames::scan(&log).unwrap();
        for (actor, last) in expected["last_position"].as_object().unwrap() {
            let number = last["frame"].as_u64().unwrap();
            let frame = frames.frames().iter().find(|frame| frame.start.frame == number).unwrap();
            let state = State::at(&frames, frame.start.elapsed, Mode::True).unwrap();
            let pose = state.actor(actor.parse().unwrap()).unwrap().pose;
            let three =
                |key: &str| -> Vec<f64> { last[key].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
            let metres: Vec<f64> = three("location").iter().map(|x| x / 100.0).collect();
            assert_eq!(vec![pose.x, pose.y, pose.z], metres, "{name}, {actor}");
            assert_eq!(vec![pose.roll, pose.pitch, pose.yaw], three("rotation"), "{name}, {actor}");
        }
    }
}

/// A replay without skipped frames shows what a state in CARLA's mode says.
fn check_replay(name: &str, log: &[u8]) {
    use logpose_carla::{Replay, ReplayOptions};
    let frames = Frames::scan(log).unwrap();
    let options = ReplayOptions { ignore_spectator: false, ..ReplayOptions::default() };
    let (mut replay, _) = Replay::new(&frames, options).unwrap();
    // Some steps in each frame.
    let step = if frames.frames()[0].start.duration > 0.1 { 0.04 } else { 0.004 };
    let mut seen = 0;
    let mut shown: Option<usize> = Some(0);
    for _ in 0..40 {
        let tick = replay.tick(step);
        // Before the second frame is shown there is no other to come from.
        let skipped = tick.shown.zip(shown).is_none_or(|(now, before)| now > before + 1);
        shown = tick.shown;
        assert!(!skipped || !tick.found, "{name}");
        let state = State::at(&frames, tick.time, Mode::Carla).unwrap();
        for (actor, pose) in &tick.poses {
            // By their texts, because NaN equals nothing.
            let found = state.actor(*actor).unwrap().pose;
            assert_eq!(format!("{found:?}"), format!("{pose:?}"), "{name}, {actor} at {}", tick.time);
            seen += 1;
        }
    }
    assert!(seen > 0, "{name}");
}

on_recordings!(check_replay: a_replay_shows_the_states_of_its_mode, real_replays_show_the_states_of_their_mode);

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_whole_sample() {
    let log = sample("sample_0_9_16_full");
    let frames = Frames::scan(&log).unwrap();
    let state = State::at(&frames, 0.06, Mode::True).unwrap();
    let ids: Vec<_> = state.actors.iter().map(|actor| actor.actor).collect();
    assert_eq!(ids, [1, 2, 3, 24, 25, 26, 30]);
    let hero = state.actor(24).unwrap();
    assert!(hero.hero && hero.class == ActorType::Vehicle && hero.blueprint == b"vehicle.tesla.model3");
    assert_eq!(hero.doors.is_open(0), Some(true));
    assert_eq!(hero.lamps, Some(1));
    assert!(!hero.velocity.unwrap().derived);
    let Some(PhysicsBody::Ue4(physics)) = hero.physics(&frames).map(|physics| physics.body) else { panic!() };
    assert_eq!(physics.mass, 2404.0);
    let light = state.actor(2).unwrap();
    assert_eq!((light.light.unwrap().state, light.timing.unwrap().green), (1, 10.0));
    assert!(light.trigger.is_some() && light.pose_source == PoseSource::Birth);
    let sensor = state.actor(30).unwrap();
    assert_eq!((sensor.parent, sensor.pose_source), (Some(24), PoseSource::Parent));
    assert!((sensor.pose.z - hero.pose.z - 2.4).abs() < 0.01);
    assert!(state.actor(1).unwrap().bounds.unwrap().origin.x.is_nan());
    assert_eq!(state.scene_lights.len(), 2);
    // The sensor is gone in the last frame.
    assert!(State::at(&frames, 1.0, Mode::True).unwrap().actor(30).is_none());
}
