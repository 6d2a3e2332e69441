//! Recordings of CARLA: the motion of a stretch equals the recording at each of its moments.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use logpose::carla::{Frames, Mode, State};
use logpose::{ClockMap, ConvertOptions, Format, Log, Output, Quiet, convert};
use logpose_core::Time;

use crate::support::{Batch, Client, fixture, named, open, serve, serve_all};

const JUNCTION: &str = "demo_junction.log";

/// A row: place, angles, speed, and lights.
type Row = ([f32; 7], u32);

/// Start time of a frame, and its rows by actor.
type FrameRows = (f64, BTreeMap<u32, Row>);

/// The frames of a stretch, and what is said of all.
fn motion(client: &Client, query: &str) -> (Vec<FrameRows>, serde_json::Value) {
    let answer = client.get(&format!("/api/logs/0/carla/motion{query}"));
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let batch = Batch::of(&answer.body);
    let ids = |name: &str| batch.0.column_by_name(name).unwrap().as_primitive::<UInt32Type>().values().to_vec();
    let (actor, lights) = (ids("actor"), ids("lights"));
    let parts = ["x", "y", "z", "roll", "pitch", "yaw", "speed"]
        .map(|name| batch.0.column_by_name(name).unwrap().as_primitive::<Float32Type>().values().to_vec());
    let mut frames: Vec<FrameRows> = Vec::new();
    for (row, t) in batch.column("time").into_iter().enumerate() {
        if frames.last().is_none_or(|last| last.0 != t) {
            frames.push((t, BTreeMap::new()));
        }
        let before =
            frames.last_mut().unwrap().1.insert(actor[row], (parts.each_ref().map(|part| part[row]), lights[row]));
        assert!(before.is_none(), "actor {} twice at {t}", actor[row]);
    }
    (frames, batch.about("motion"))
}

/// Compares all frames of a recording with its states.
fn check(name: &str, log: &Arc<Log>, bytes: &[u8]) -> usize {
    let client = serve(log);
    let frames = Frames::scan(bytes).unwrap();
    let (moved, about) = motion(&client, "");
    assert_eq!((about["frames"].as_u64(), about["step"].as_f64()), (Some(frames.frames().len() as u64), Some(0.0)));
    let (mut held, mut compared) = (BTreeMap::new(), 0);
    let mut moved = moved.into_iter().peekable();
    for frame in frames.frames() {
        let begins = frame.start.elapsed;
        let t = Time::from_seconds(begins).unwrap().seconds();
        // In a frame in which nothing moves there are no rows.
        let rows = moved.next_if(|frame| frame.0 == t).map(|frame| frame.1).unwrap_or_default();
        let state = State::at(&frames, begins, Mode::True).unwrap();
        held.retain(|actor, _| state.actor(*actor).is_some());
        held.extend(rows);
        assert_eq!(held.len(), state.actors.len(), "{name} at {t}");
        for actor in &state.actors {
            let (parts, lights) = &held[&actor.actor];
            let speed = actor.velocity.map(|v| v.linear.x.hypot(v.linear.y).hypot(v.linear.z)).or(actor.walker_speed);
            let pose = actor.pose;
            let expected = [pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw, speed.unwrap_or(f64::NAN)];
            for (part, expected) in parts.iter().zip(expected) {
                let close = (f64::from(*part) - expected).abs() <= 1e-5 * expected.abs().max(1.0);
                assert!(close || (part.is_nan() && expected.is_nan()), "{name} at {t}: {actor:?} is {parts:?}");
            }
            let unknown = if actor.class.name() == "traffic_light" { 4 } else { 0 };
            assert_eq!(*lights, actor.light.map(|light| light.state.into()).or(actor.lamps).unwrap_or(unknown));
            compared += 1;
        }
    }
    assert!(moved.next().is_none(), "{name}: more frames than there are");
    compared
}

#[test]
fn every_frame_of_a_stretch_is_as_its_state() {
    let path = named(JUNCTION);
    let mut compared = check("junction", &open(&path), &std::fs::read(&path).unwrap());
    for name in ["traffic", "attached", "ue5", "nan-boxes", "0.9.13"] {
        let path = fixture(&format!("carla/valid/{name}.log"));
        compared += check(name, &open(&path), &std::fs::read(&path).unwrap());
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn actors_and_collisions_are_listed() {
    let client = serve(&open(&named(JUNCTION)));
    let actors = client.got("/api/logs/0/carla/actors");
    assert_eq!(actors["map"], "Junction");
    let actor = |id: u64| actors["actors"].as_array().unwrap().iter().find(|actor| actor["id"] == id).unwrap();
    let hero = actor(10);
    assert_eq!(hero["type"], "vehicle.tesla.model3");
    assert_eq!(
        (hero["kind"].as_str(), hero["hero"].as_bool(), hero["color"].as_str()),
        (Some("vehicle"), Some(true), Some("#b42c2c"))
    );
    assert_eq!(hero["bounding_box"][3], 2.4);
    assert_eq!((actor(19)["kind"].as_str(), actor(20)["kind"].as_str()), (Some("bicycle"), Some("walker")));
    assert_eq!((actor(2)["kind"].as_str(), actor(3)["kind"].as_str()), (Some("traffic_light"), Some("traffic_sign")));
    assert_eq!((actor(1)["kind"].as_str(), actor(12)["parent"].as_u64()), (Some("spectator"), Some(10)));
    assert!(actor(14)["destroyed"].as_f64().unwrap() > 12.0 && hero["destroyed"].is_null());
    let hit = &actors["collisions"][0];
    assert_eq!((hit["actor"].as_u64(), hit["other_actor"].as_u64()), (Some(10), Some(11)));
    assert!(hit["end"].as_f64().unwrap() > hit["start"].as_f64().unwrap() && hit["location"][1] == 1.75);
}

#[test]
fn a_converted_recording_shows_the_same() {
    let log = open(&named(JUNCTION));
    let dir = tempfile::tempdir().unwrap();
    let (actors, rows) = motion_of(&serve(&log));
    for name in ["a.mcap", "a.wpilog"] {
        let path = dir.path().join(name);
        let format = Format::from_name(name.trim_start_matches("a.")).unwrap();
        let to = Output::File { path: &path, force: false, wrapper: None };
        convert(&[&*log], Vec::new(), &format, to, &ConvertOptions::default(), &Quiet).unwrap();
        let (again, moved) = motion_of(&serve(&open(&path)));
        assert_eq!(again["collisions"].as_array().unwrap().len(), 1, "{name}");
        assert_eq!(again["actors"].as_array().unwrap().len(), actors["actors"].as_array().unwrap().len(), "{name}");
        assert_eq!(moved, rows, "{name}");
    }
}

/// Actors and how many rows there are.
fn motion_of(client: &Client) -> (serde_json::Value, usize) {
    let (frames, _) = motion(client, "");
    (client.got("/api/logs/0/carla/actors"), frames.iter().map(|(_, rows)| rows.len()).sum())
}

#[test]
fn a_stretch_has_a_frame_before_and_one_behind() {
    let client = serve(&open(&named(JUNCTION)));
    let times = |query: &str| -> Vec<f64> {
        motion(&client, query).0.iter().map(|(t, _)| (t * 1000.0).round() / 1000.0).collect()
    };
    assert_eq!(times("?start=5.02&end=5.12"), [5.0, 5.05, 5.1, 5.15]);
    assert_eq!(times("?start=5.02&end=5.72&step=0.2"), [5.0, 5.2, 5.4, 5.6, 5.75]);
    assert_eq!(times("?start=-5&end=0.01"), [0.0, 0.05]);
    assert_eq!(times("?start=100&end=200"), [19.95]);
    assert_eq!(times("?start=19.9"), [19.85, 19.9, 19.95]);
}

#[test]
fn times_are_those_of_the_session() {
    let log = open(&named(JUNCTION));
    let client = serve_all(&[(log, ClockMap::shifted(5_000_000_000))]);
    let (frames, _) = motion(&client, "?start=5&end=5.01");
    assert_eq!(frames[0].0, 5.0);
    let actors = client.got("/api/logs/0/carla/actors");
    assert_eq!(
        (actors["actors"][0]["spawned"].as_f64(), actors["collisions"][0]["start"].as_f64()),
        (Some(5.0), Some(15.150000151))
    );
}

#[test]
fn what_makes_no_sense_is_refused() {
    let client = serve(&open(&named(JUNCTION)));
    let refused = |query: &str| client.get(&format!("/api/logs/0/carla/motion{query}")).refusal();
    for query in ["?start=2&end=1", "?start=NaN&end=1"] {
        assert_eq!(refused(query), (400, "invalid-range".to_owned()), "{query}");
    }
    for query in ["?step=-1", "?step=NaN", "?step=inf"] {
        assert_eq!(refused(query), (400, "invalid-step".to_owned()), "{query}");
    }
    assert_eq!(refused("?start=x"), (400, "bad-request".to_owned()));
    assert_eq!(client.get("/api/logs/1/carla/actors").refusal(), (404, "log-not-found".to_owned()));
    let other = serve(&open(&fixture("wpilog/valid/all-types.wpilog")));
    assert_eq!(other.get("/api/logs/0/carla/actors").refusal(), (404, "not-a-carla-recording".to_owned()));
}

#[test]
fn a_recording_without_frames_has_no_actors() {
    let client = serve(&open(&fixture("carla/valid/no-frames.log")));
    assert_eq!(client.got("/api/logs/0/carla/actors")["actors"], serde_json::json!([]));
    assert_eq!(motion(&client, "").0, []);
}
