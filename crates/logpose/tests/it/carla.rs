use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use logpose::core::{Lookup, Severity};
use logpose::{Cache, ConvertOptions, Log, OpenOptions, Order, Quiet};
use logpose_carla::{
    Attributes, Bone, BoundingBox, EventAdd, EventDel, Flag, FrameStart, Header, Ids, Packet, Position, Rotation,
    TrafficLightState, Vector, Vectors, VehicleAnim, VehicleWheels, WalkerAnim, WalkerBones, WheelPose, WireFormat,
    emit_records,
};
use logpose_testkit::{corpus_files, fixture};
use tempfile::TempDir;

use crate::support::{convert_to, open, rows};

/// A recording with vehicles that come and go, a walker, a light and private packets.
pub(crate) fn recording(form: WireFormat, frames: u32, vehicles: u32) -> Vec<u8> {
    let mut out = Vec::new();
    Header { version: 1, date: 1_700_000_000, map: b"Town01" }.emit(&mut out);
    let vector = |seed: u32| Vector::new(f64::from(seed) * 1.7, -f64::from(seed), 0.5);
    for frame in 1..=frames {
        let duration = if frame == frames { -1.0 } else { 0.05 };
        FrameStart { frame: frame.into(), duration, elapsed: f64::from(frame - 1) * 0.05 }.emit(&mut out);
        let born = |actor: u32| if actor.is_multiple_of(4) { 10 } else { 1 };
        let add = |actor: u32, blueprint: &'static str| EventAdd {
            actor,
            actor_type: u8::from(actor < 500),
            location: vector(actor),
            rotation: Rotation::new(0.0, 0.0, 90.0),
            uid: 3,
            blueprint: blueprint.as_bytes(),
            attributes: Attributes::default(),
        };
        let mut adds: Vec<_> =
            (1..=vehicles).filter(|a| born(*a) == frame).map(|a| add(a, "vehicle.audi.tt")).collect();
        if frame == 1 {
            adds.extend([add(500, "walker.pedestrian.0001"), add(501, "traffic.traffic_light"), add(502, "spectator")]);
        }
        emit_records(&adds, form, &mut out);
        let gone = if frame == 30 { vec![EventDel { actor: 2 }] } else { Vec::new() };
        emit_records(&gone, form, &mut out);
        let living: Vec<u32> =
            (1..=vehicles).filter(|a| born(*a) <= frame && (*a != 2 || frame < 30)).chain([500]).collect();
        let positions: Vec<_> = living
            .iter()
            .map(|a| Position { actor: *a, location: vector(a * 100 + frame), rotation: Rotation::new(1.0, 2.0, 3.0) })
            .collect();
        emit_records(&positions, form, &mut out);
        let state = TrafficLightState { actor: 501, frozen: Flag(0), elapsed: 1.5, state: (frame / 10 % 3) as u8 };
        emit_records(&[state], form, &mut out);
        let anims: Vec<_> = living
            .iter()
            .filter(|a| **a < 500)
            .map(|a| VehicleAnim { actor: *a, steering: 0.1, throttle: 0.7, brake: 0.0, handbrake: Flag(0), gear: 2 })
            .collect();
        emit_records(&anims, form, &mut out);
        emit_records(&[WalkerAnim { actor: 500, speed: 141.3 }], form, &mut out);
        let wheel = |wheel| WheelPose { wheel, steering_angle: 1.0, tire_rotation: f32::from(wheel) };
        emit_records(&[VehicleWheels { actor: 1, wheels: (0..4).map(wheel).collect() }], form, &mut out);
        let sizes: Vec<_> = adds
            .iter()
            .map(|a| BoundingBox {
                actor: a.actor,
                origin: if a.actor == 502 { Vector::new(f64::NAN, 0.0, 0.0) } else { vector(3) },
                extent: if a.actor == 502 {
                    Vector::new(f64::INFINITY, 0.0, 0.0)
                } else {
                    Vector::new(240.0, 100.0, 75.0)
                },
            })
            .collect();
        emit_records(&sizes, form, &mut out);
        let bone =
            |name: &'static str| Bone { name: name.as_bytes(), location: vector(1), rotation: Rotation::default() };
        emit_records(&[WalkerBones { actor: 500, bones: vec![bone("hips"), bone("head")] }], form, &mut out);
        if frame.is_multiple_of(7) {
            Packet { at: 0, id: 139, body: &[1, 2, 3] }.emit(&mut out);
        }
        Packet { at: 0, id: 1, body: &[] }.emit(&mut out);
    }
    out
}

pub(crate) fn recordings(folder: &Path) -> Vec<PathBuf> {
    let wide = WireFormat { ids: Ids::B, vectors: Vectors::F64, ..WireFormat::default() };
    let made = [("narrow.log", recording(WireFormat::default(), 60, 9)), ("wide.log", recording(wide, 60, 9))];
    let mut files: Vec<PathBuf> = Vec::new();
    for (name, bytes) in made {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        files.push(path);
    }
    files.extend(["town-0.9.6", "town-0.9.16", "town-0.10"].map(|name| fixture(&format!("carla/valid/{name}.log"))));
    files
}

/// The recordings of the corpus of real logs.
fn real() -> Vec<PathBuf> {
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|e| e == "log" || e == "rec");
    corpus_files("carla").into_iter().filter(is_recording).collect()
}

fn is_cut(path: &Path) -> bool {
    path.to_string_lossy().contains("truncated")
}

#[test]
fn recordings_come_back_from_other_formats_to_the_byte() {
    let dir = TempDir::new().unwrap();
    check_recordings_come_back_from_other_formats_to_the_byte(&dir, recordings(dir.path()));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn recordings_come_back_from_other_formats_to_the_byte_real() {
    check_recordings_come_back_from_other_formats_to_the_byte(&TempDir::new().unwrap(), real());
}

fn check_recordings_come_back_from_other_formats_to_the_byte(dir: &TempDir, recordings: Vec<PathBuf>) {
    for path in recordings.iter().filter(|path| !is_cut(path)) {
        let bytes = fs::read(path).unwrap();
        let log = [open(path)];
        for format in ["parquet", "arrow", "mcap"] {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let there = dir.path().join(format!("{stem}.{format}"));
            let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
            let report =
                convert_to(&log, Vec::new(), &there, &options).unwrap_or_else(|error| panic!("{stem}: {error}"));
            assert!(report.problems.worst() < Some(Severity::Damage));
            let back = dir.path().join(format!("{stem}.{format}.log"));
            convert_to(&[open(&there)], Vec::new(), &back, &options).unwrap_or_else(|error| panic!("{stem}: {error}"));
            assert!(fs::read(&back).unwrap() == bytes, "{stem} by way of {format}");
            assert_eq!(open(&there).epoch_ns(), log[0].epoch_ns());
        }
        let copy = dir.path().join("copy.rec");
        convert_to(&log, Vec::new(), &copy, &ConvertOptions { force: true, ..ConvertOptions::default() }).unwrap();
        assert!(fs::read(&copy).unwrap() == bytes);
    }
}

#[test]
fn recordings_become_tables_and_robot_logs() {
    let dir = TempDir::new().unwrap();
    check_recordings_become_tables_and_robot_logs(&dir, recordings(dir.path()));
    let text = fs::read_to_string(dir.path().join("narrow.ndjson")).unwrap();
    let line = text.lines().find(|line| line.contains("/carla/actors/1/transform")).unwrap();
    assert_eq!(
        line,
        "{\"time_ns\":0,\"channel\":\"/carla/actors/1/transform\",\"value\":{\"x\":1.7169999694824218\
         ,\"y\":-1.01,\"z\":0.005,\"roll\":1.0,\"pitch\":2.0,\"yaw\":3.0}}"
    );
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn recordings_become_tables_and_robot_logs_real() {
    check_recordings_become_tables_and_robot_logs(&TempDir::new().unwrap(), real());
}

fn check_recordings_become_tables_and_robot_logs(dir: &TempDir, recordings: Vec<PathBuf>) {
    for path in recordings {
        let log = [open(&path)];
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        for format in ["csv", "ndjson", "wpilog", "rlog"] {
            let there = dir.path().join(format!("{stem}.{format}"));
            let report = convert_to(&log, Vec::new(), &there, &ConvertOptions::default());
            let report = report.unwrap_or_else(|error| panic!("{stem} to {format}: {error}"));
            assert_eq!(report.samples, log[0].index.samples());
        }
        let text = fs::read_to_string(dir.path().join(format!("{stem}.csv"))).unwrap();
        assert!(text.contains("/carla/frame") && text.contains("\"\"blueprint\"\""), "{stem}");
    }
}

#[test]
fn a_recording_is_known_by_its_bytes_and_has_a_date() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("anything.bin");
    fs::write(&path, recording(WireFormat::default(), 3, 2)).unwrap();
    let log = open(&path);
    assert_eq!(log.dialect().info().name, "carla");
    assert_eq!(log.epoch_ns(), Some(1_700_000_000_000_000_000));
    assert_eq!(log.index.fact("map"), Some("Town01"));
    fs::write(dir.path().join("server.log"), "2024-01-01 12:00:00 INFO started\n".repeat(100)).unwrap();
    let other =
        Log::open_with(&dir.path().join("server.log"), &OpenOptions::default(), &Quiet).map(|_| ()).unwrap_err();
    assert_eq!(other.code(), "unknown-format", "{other}");
}

#[test]
fn the_second_time_a_recording_opens_from_what_was_kept() {
    let dir = TempDir::new().unwrap();
    check_the_second_time_a_recording_opens_from_what_was_kept(recordings(dir.path()));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_second_time_a_recording_opens_from_what_was_kept_real() {
    check_the_second_time_a_recording_opens_from_what_was_kept(real());
}

fn check_the_second_time_a_recording_opens_from_what_was_kept(recordings: Vec<PathBuf>) {
    for path in recordings {
        for light_from in [0, u64::MAX] {
            let cache = TempDir::new().unwrap();
            let options = OpenOptions {
                cache: Cache::Folder(cache.path().to_owned()),
                cache_from: 0,
                cache_after: Duration::ZERO,
                light_from,
                ..OpenOptions::default()
            };
            let first = Log::open_with(&path, &options, &Quiet).unwrap();
            let second = Log::open_with(&path, &options, &Quiet).unwrap();
            assert!(!first.from_cache() && second.from_cache(), "{}", path.display());
            let seen = |log: &Log| {
                let index = &log.index;
                let channels: Vec<_> = index.channels.iter().map(|c| (c.channel.clone(), c.samples, c.bytes)).collect();
                let marks = (index.marks.clone(), index.steps.clone(), index.lives.clone(), index.facts.clone());
                (channels, marks, format!("{:?} {:?}", index.slots, log.problems.list()))
            };
            assert_eq!(seen(&first), seen(&second));
            assert!(rows(&[second], Vec::new(), Order::File) == rows(&[first], Vec::new(), Order::File));
        }
    }
}

#[test]
fn the_order_of_time_is_the_order_of_the_file() {
    let dir = TempDir::new().unwrap();
    check_the_order_of_time_is_the_order_of_the_file(recordings(dir.path()));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_order_of_time_is_the_order_of_the_file_real() {
    check_the_order_of_time_is_the_order_of_the_file(real());
}

fn check_the_order_of_time_is_the_order_of_the_file(recordings: Vec<PathBuf>) {
    for path in recordings {
        let log = open(&path);
        assert!(log.index.sorted, "{}", path.display());
        // Two recordings are merged through their places.
        let both = rows(&[open(&path), open(&path)], Vec::new(), Order::Time);
        let one = rows(&[log], Vec::new(), Order::File);
        assert_eq!(both.len(), 2 * one.len());
        let twice: Vec<_> = both.iter().filter(|row| row.0 == "/carla/frame").collect();
        assert!(twice.chunks(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn mcap_shows_the_scene_and_reading_back_does_not_see_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.log");
    fs::write(&path, recording(WireFormat::default(), 40, 3)).unwrap();
    let log = [open(&path)];
    let there = dir.path().join("a.mcap");
    convert_to(&log, Vec::new(), &there, &ConvertOptions::default()).unwrap();
    let mut found: std::collections::BTreeMap<String, Vec<Vec<u8>>> = std::collections::BTreeMap::new();
    let file = fs::read(&there).unwrap();
    for message in mcap::MessageStream::new(&file).unwrap() {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref().map_or(String::new(), |schema| schema.name.clone());
        let topic = format!("{} {schema}", message.channel.topic);
        found.entry(topic).or_default().push(message.data.into_owned());
    }
    assert_eq!(found["/tf foxglove.FrameTransforms"].len(), 40, "one for each frame");
    // Vehicle 4 is none of three; the light changes at frames 10, 20, 30 and 40, vehicle 2 goes at 30.
    let scenes = &found["/carla/scene foxglove.SceneUpdate"];
    assert_eq!(scenes.len(), 5);
    let holds = |scene: &[u8], text: &str| scene.windows(text.len()).any(|part| part == text.as_bytes());
    for text in ["actor/1", "actor/2", "actor/3", "actor/500", "vehicle.audi.tt", "traffic_lights", "recorded"] {
        assert!(holds(&scenes[0], text), "{text}");
    }
    assert!(!holds(&scenes[0], "actor/502"), "the spectator is not drawn");
    assert!(!holds(&scenes[3], "actor/2") && holds(&scenes[3], "actor/3"));
    let back = open(&there);
    assert!(back.channel("/tf").is_none() && back.channel("/carla/scene").is_none());
    let plain = dir.path().join("plain.mcap");
    let mut options = ConvertOptions::default();
    options.mcap.poses = false;
    convert_to(&log, Vec::new(), &plain, &options).unwrap();
    assert!(fs::read(&plain).unwrap().len() < file.len());
}

#[test]
fn two_recordings_are_not_mixed() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("a.log");
    fs::write(&path, recording(WireFormat::default(), 9, 2)).unwrap();
    let out = dir.path().join("b.log");
    let error = convert_to(&[open(&path), open(&path)], vec![Lookup::default(); 2], &out, &ConvertOptions::default());
    let error = error.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("frame 1 occurs twice") && !out.exists(), "{error}");
}
