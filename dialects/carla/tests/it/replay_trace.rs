//! Replays, step by step as the corpus has them.

use logpose_carla::{
    Attribute, Attributes, Event, EventAdd, EventDel, Frames, Pose, Replay, ReplayError, ReplayOptions, Tick,
};
use serde_json::Value as Json;

use crate::queries::{actor, corpus, packet, packets, position, recording, smallest};

/// The traces of a file: their options are in their names.
fn traces(name: &str) -> Vec<(String, Json)> {
    std::fs::read_dir(logpose_testkit::corpus("carla"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let file = path.file_name()?.to_str()?;
            let options = file.strip_prefix(name)?.strip_prefix(".replay_")?.strip_suffix(".json")?.to_owned();
            Some((options, serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap()))
        })
        .collect()
}

fn check(tick: &Tick<'_>, expected: &Json, what: &str) {
    assert_eq!(tick.time, expected["time"].as_f64().unwrap(), "{what}");
    assert_eq!(tick.frame, expected["frame"].as_u64().unwrap(), "{what}");
    assert_eq!(tick.found, expected["found"].as_bool().unwrap(), "{what}");
    assert_eq!(tick.per, expected["per"].as_f64().unwrap_or(0.0), "{what}");
    assert_eq!(tick.stopped, expected["stopped"].as_bool().unwrap_or(false), "{what}");
    let events: Vec<_> = tick
        .events
        .iter()
        .map(|event| match event {
            Event::Add(record) => serde_json::json!(["EventAdd", record.actor]),
            Event::Delete(actor) => serde_json::json!(["EventDel", actor]),
            Event::Parent(record) => serde_json::json!(["EventParent", record.actor, record.parent]),
        })
        .collect();
    assert_eq!(&Json::from(events), &expected["events"], "{what}");
    let none = serde_json::Map::new();
    let poses = expected["poses"].as_object().unwrap_or(&none);
    assert_eq!(tick.poses.len(), poses.len(), "{what}");
    for (actor, pose) in &tick.poses {
        let expected: Vec<f64> =
            poses[&actor.to_string()].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let ours = [pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw];
        let expected =
            [expected[0] / 100.0, expected[1] / 100.0, expected[2] / 100.0, expected[3], expected[4], expected[5]];
        assert_eq!(ours, expected, "{what}, actor {actor}");
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn traces_are_those_of_the_corpus() {
    let mut compared = 0;
    for (name, log) in corpus() {
        let frames = Frames::scan(&log).unwrap();
        for (words, trace) in traces(&name) {
            let numbers: Vec<f64> = words.split('_').map(|word| word.parse().unwrap()).collect();
            let [start, duration, factor, delta] = numbers[..] else { panic!("{words}") };
            let options =
                ReplayOptions { start, duration, factor, ignore_spectator: false, ..ReplayOptions::default() };
            let (mut replay, first) = Replay::new(&frames, options).unwrap();
            assert_eq!(replay.start(), trace["start"].as_f64().unwrap());
            assert_eq!(replay.stop(), trace["stop"].as_f64().unwrap());
            assert_eq!(frames.total(), trace["total"].as_f64().unwrap());
            let mut ticks = trace["ticks"].as_array().unwrap().iter().enumerate();
            check(&first, ticks.next().unwrap().1, &format!("{name}, start"));
            for (i, expected) in ticks {
                check(&replay.tick(delta as f32), expected, &format!("{name}, tick {i}"));
            }
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}

/// Plays a recording, but not for ever: what it says of its own length may be wrong.
pub(crate) fn to_the_end(frames: &Frames<'_>) {
    for options in [
        ReplayOptions { follow: Some(24), ..ReplayOptions::default() },
        ReplayOptions { start: -0.1, factor: 3.0, ignore_hero: true, ..ReplayOptions::default() },
        ReplayOptions { start: 1e9, duration: 5.0, ..ReplayOptions::default() },
    ] {
        let (mut replay, _) = Replay::new(frames, options).unwrap();
        for _ in 0..8 {
            let tick = replay.tick(0.04);
            if tick.stopped || tick.exhausted {
                break;
            }
        }
        replay.text("x.log", Some(b"Town01"), &mut std::io::sink()).unwrap();
        replay.finish();
    }
}

fn drive() -> Vec<u8> {
    let hero = EventAdd {
        attributes: Attributes(vec![Attribute { attribute_type: 3, id: b"role_name", value: b"hero" }]),
        ..actor(24, 1, "vehicle.a")
    };
    let adds = packet(&[actor(1, 0, "spectator"), hero, actor(25, 2, "walker.b")]);
    let stand = |x: f64, yaw: f64| packet(&[position(1, 0.0, 0.0), position(24, x, yaw), position(25, 7.0, 0.0)]);
    recording(
        1,
        &[
            packets(&[adds, stand(0.0, 170.0)]),
            stand(100.0, 178.0),
            stand(200.0, -174.0),
            packets(&[packet(&[EventDel { actor: 25 }]), packet(&[position(24, 300.0, -174.0)])]),
        ],
    )
}

fn pose(tick: &Tick<'_>, actor: u32) -> Option<Pose> {
    tick.poses.iter().find(|(found, _)| *found == actor).map(|(_, pose)| *pose)
}

#[test]
fn a_replay_is_one_frame_late_and_turns_the_shorter_way() {
    let log = drive();
    let frames = Frames::scan(&log).unwrap();
    let options = ReplayOptions { follow: Some(24), ..ReplayOptions::default() };
    let (mut replay, first) = Replay::new(&frames, options).unwrap();
    // The spectator is left out.
    assert_eq!(first.events.len(), 2);
    assert!(first.poses.is_empty() && first.found);
    // In the first frame there is nothing before it.
    let tick = replay.tick(0.25);
    assert_eq!((tick.frame, tick.per, tick.shown), (1, 0.5, Some(0)));
    assert_eq!(pose(&tick, 24).unwrap().x, 0.0);
    assert_eq!(pose(&tick, 1), None);
    let tick = replay.tick(0.5);
    assert_eq!((tick.frame, tick.per), (2, 0.5));
    assert_eq!(pose(&tick, 24).unwrap(), Pose { x: 0.5, yaw: 174.0, ..Pose::default() });
    let tick = replay.tick(0.5);
    assert_eq!(pose(&tick, 24).unwrap(), Pose { x: 1.5, yaw: 182.0, ..Pose::default() });
    let camera = tick.camera.unwrap();
    assert!((camera.x - (1.5 + 10.0 * 2_f64.to_radians().cos())).abs() < 1e-12, "{camera:?}");
    assert!((camera.z - 5.0).abs() < 1e-12 && (camera.pitch + 25.0).abs() < 1e-12, "{camera:?}");
    // The last frame is read, but not shown.
    let tick = replay.tick(0.5);
    assert_eq!((tick.frame, tick.found, tick.stopped, tick.exhausted), (4, false, true, true));
    assert_eq!(tick.events, [Event::Delete(25)]);
    assert!(tick.poses.is_empty());
    let after = replay.tick(0.5);
    assert!(after.stopped && after.events.is_empty() && after.time == tick.time);
}

#[test]
fn a_fast_replay_does_not_interpolate() {
    let log = drive();
    let frames = Frames::scan(&log).unwrap();
    let options = ReplayOptions { factor: 2.0, ignore_hero: false, ..ReplayOptions::default() };
    let (mut replay, _) = Replay::new(&frames, options).unwrap();
    let tick = replay.tick(0.375);
    assert_eq!((tick.time, tick.per), (0.75, 0.5));
    assert_eq!(pose(&tick, 24).unwrap().x, 0.0);
    replay.set_factor(1.0).unwrap();
    assert_eq!(pose(&replay.tick(0.125), 24).unwrap().x, 0.75);
    // Frame 3 is skipped; what happens in frame 4 is not.
    assert_eq!(replay.finish().events, [Event::Delete(25)]);
}

#[test]
fn what_is_ignored_is_not_placed() {
    let log = drive();
    let frames = Frames::scan(&log).unwrap();
    let options = ReplayOptions { ignore_hero: true, follow: Some(24), ..ReplayOptions::default() };
    let (mut replay, first) = Replay::new(&frames, options).unwrap();
    assert!(matches!(&first.events[..], [Event::Add(record)] if record.actor == 25));
    let tick = replay.tick(0.25);
    assert_eq!(tick.poses.iter().map(|(actor, _)| *actor).collect::<Vec<_>>(), [25]);
    assert_eq!(tick.camera, None);
}

#[test]
fn windows() {
    let log = drive();
    let frames = Frames::scan(&log).unwrap();
    let window = |start: f64, duration: f64| {
        let (replay, _) = Replay::new(&frames, ReplayOptions { start, duration, ..ReplayOptions::default() }).unwrap();
        (replay.start(), replay.stop())
    };
    assert_eq!(window(0.0, 0.0), (0.0, 1.5));
    assert_eq!(window(-1.0, 0.25), (0.5, 0.75));
    assert_eq!(window(-100.0, 0.0), (0.0, 1.5));
    // Beyond the end nothing is shown, and the first step stops.
    let (mut replay, first) = Replay::new(&frames, ReplayOptions { start: 9.0, ..ReplayOptions::default() }).unwrap();
    assert!(!first.found && !first.stopped && first.exhausted);
    let tick = replay.tick(0.05);
    assert!(!tick.found && tick.stopped);
    for (options, error) in [
        (ReplayOptions { start: f64::NAN, ..ReplayOptions::default() }, "invalid replay start NaN s"),
        (ReplayOptions { duration: f64::INFINITY, ..ReplayOptions::default() }, "invalid replay duration inf s"),
        (ReplayOptions { factor: -1.0, ..ReplayOptions::default() }, "invalid replay speed -1"),
    ] {
        let refused: Result<_, ReplayError> = Replay::new(&frames, options).map(|_| ());
        assert_eq!(refused.unwrap_err().to_string(), error);
    }
}

#[test]
fn what_carla_answers() {
    let log = smallest();
    let frames = Frames::scan(&log).unwrap();
    let text = |options: ReplayOptions, map: Option<&[u8]>| {
        let (replay, _) = Replay::new(&frames, options).unwrap();
        let mut out = Vec::new();
        replay.text("/tmp/a.log", map, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let options = ReplayOptions { ignore_spectator: false, ..ReplayOptions::default() };
    assert_eq!(
        text(options, Some(b"T")),
        "Replaying File: /tmp/a.log\nTotal time recorded: 0.05\nReplaying from 0 s - 0.05 s (0.05 s) at 1.0x\n"
    );
    let options = ReplayOptions { ignore_hero: true, factor: 2.25, duration: 0.02, ..ReplayOptions::default() };
    assert_eq!(
        text(options, Some(b"Town01")),
        "Replaying File: /tmp/a.log\nLoading map T\nReplayer will start after map is loaded...\n\
         Total time recorded: 0.05\nReplaying from 0 s - 0.02 s (0.05 s) at 2.2x\nIgnoring Hero vehicle\n\
         Ignoring Spectator camera\n"
    );
}
