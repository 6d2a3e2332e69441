//! Replays, step by step as the corpus has them.

use logpose_carla::{Event, Frames, Pose, Replay, ReplayError, ReplayOptions, Tick};
use serde_json::Value as Json;

use crate::queries::{corpus, corpus_folder, sample};

/// The traces of a file: their options are in their names.
fn traces(name: &str) -> Vec<(String, Json)> {
    std::fs::read_dir(corpus_folder().unwrap())
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
    println!("{compared} traces are the same");
}
