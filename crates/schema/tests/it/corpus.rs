//! A log made for the purpose, and the values an independent decoder found in it; and real logs.

use std::collections::BTreeMap;

use logpose_schema::{Decoded, Registry, SchemaError, Tree};
use logpose_testkit::corpus;
use serde_json::Value;

/// A sample: channel name, type, payload.
type Sample = (String, String, Vec<u8>);

/// All samples of a WPILOG whose channel has a Start record before them.
fn samples(log: &[u8]) -> Vec<Sample> {
    let uint = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    let len = |bytes: &[u8]| usize::try_from(uint(bytes)).unwrap();
    let mut rest = &log[12 + len(&log[8..12])..];
    let mut channels = BTreeMap::new();
    let mut samples = Vec::new();
    while let Some((&widths, tail)) = rest.split_first() {
        let (a, b, c) = (1 + (widths & 3), 1 + (widths >> 2 & 3), 1 + (widths >> 4 & 7));
        let [a, b, c] = [a, b, c].map(usize::from);
        let (Some(id), Some(size)) = (tail.get(..a), tail.get(a..a + b)) else {
            break;
        };
        let Some(payload) = tail.get(a + b + c..).and_then(|tail| tail.get(..len(size))) else {
            break;
        };
        rest = &tail[a + b + c + payload.len()..];
        match (uint(id), payload) {
            (0, [0, start @ ..]) => {
                let text = |at: usize| {
                    let size = len(&start[at..at + 4]);
                    let end = at + 4 + size;
                    (String::from_utf8_lossy(&start[at + 4..end]).into_owned(), end)
                };
                let (name, end) = text(4);
                channels.insert(uint(&start[..4]), (name, text(end).0));
            }
            (0, _) => {}
            (id, payload) => {
                if let Some((name, type_name)) = channels.get(&id) {
                    samples.push((name.clone(), type_name.clone(), payload.to_vec()));
                }
            }
        }
    }
    samples
}

fn registry(samples: &[Sample]) -> Registry {
    let mut registry = Registry::new();
    for (channel, type_name, payload) in samples {
        if Registry::is_schema(channel, type_name) {
            registry.add(channel, type_name, payload).unwrap();
        }
    }
    registry
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_made_log_decodes_as_expected() {
    let folder = corpus("wpilog");
    let samples = samples(&std::fs::read(folder.join("made-features.wpilog")).unwrap());
    let registry = registry(&samples);
    let expected: Value = serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let expected = &expected["made-features.wpilog"]["decoded"];
    let decode = |channel: &str| -> Vec<Result<Decoded, SchemaError>> {
        let of_channel = samples.iter().filter(|(name, _, _)| name == channel);
        of_channel.map(|(_, type_name, payload)| registry.decode(type_name, payload)).collect()
    };

    let pose = &expected["/Struct/Pose"][0];
    for channel in ["/Proto/Pose", "/Proto/Result", "/Struct/Pose", "/Struct/Flags", "/Struct/Mixed", "/Photon/Result"]
    {
        let expected = expected[channel].as_array().unwrap();
        let found = decode(channel);
        assert_eq!(found.len(), expected.len(), "{channel}");
        for (found, expected) in found.into_iter().zip(expected) {
            let found = found.unwrap();
            assert_eq!(found.note, None, "{channel}");
            let json = serde_json::from_str(&found.tree.to_json()).unwrap();
            assert_within(&json, expected, pose, channel);
        }
    }

    let poses = decode("/Struct/Poses");
    let counts: Vec<_> = poses.iter().map(|found| found.as_ref().unwrap().tree.items().unwrap().len()).collect();
    assert_eq!(counts, [3, 0]);
    for item in poses[0].as_ref().unwrap().tree.items().unwrap() {
        assert_within(&serde_json::from_str(&item.to_json()).unwrap(), pose, pose, "/Struct/Poses");
    }
    let text = |channel: &str| -> Vec<String> {
        let line = |found: Result<Decoded, SchemaError>| match found {
            Ok(Decoded { tree, note }) => {
                format!("{tree}{}", note.map(|note| format!(" ({note})")).unwrap_or_default())
            }
            Err(error) => format!("{}: {error}", error.key()),
        };
        decode(channel).into_iter().map(line).collect()
    };
    assert_eq!(text("/Struct/Short"), ["short: struct:Pose2d needs 24 bytes, payload has 20"]);
    assert_eq!(
        text("/Struct/Ragged"),
        ["[{translation: {x: 1, y: 2}, rotation: {value: 0.5}}] (5 bytes left over after 1 elements of 24 bytes)"]
    );
    assert_eq!(text("/Struct/NoSchema"), ["missing: no schema for struct:Unknown"]);
    assert_eq!(text("/Json")[0], r#"{a: [1, 2, {b: null}], c: "é"}"#);
    assert!(text("/Json")[1].starts_with("payload: json: "));
    assert_eq!(text("/Msgpack")[0], "{a: [1, 2.5, true, null], b: 0x0001}");
    assert!(text("/Msgpack")[1].starts_with("payload: msgpack: "));
}

/// Everything in `expected` is in `found`; the list of expected protobuf fields is not complete.
fn assert_within(found: &Value, expected: &Value, pose: &Value, place: &str) {
    match (found, expected) {
        (found, Value::String(text)) if text == "as /Struct/Pose" => assert_within(found, pose, pose, place),
        (Value::Object(found), Value::Object(expected)) => {
            for (name, expected) in expected {
                assert_within(&found[name], expected, pose, &format!("{place}/{name}"));
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}");
            for (found, expected) in found.iter().zip(expected) {
                assert_within(found, expected, pose, place);
            }
        }
        (found, expected) => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn real_logs_decode_without_surprise() {
    let folder = corpus("wpilog");
    let mut decoded = 0;
    for name in [
        "sciborgs-2024-match-negts.wpilog",
        "sciborgs-2024-sim.wpilog",
        "frc829-2025-small.wpilog",
        "spectrum-2024-akit.wpilog",
        "team100-2023-sim.wpilog",
        "dropbears-2024-python-tbd.wpilog",
        "wave2826-2025-ascope-export-akit.wpilog",
    ] {
        let Ok(log) = std::fs::read(folder.join(name)) else {
            continue;
        };
        let samples = samples(&log);
        let registry = registry(&samples);
        for (channel, type_name, payload) in &samples {
            if Registry::decodes(type_name) {
                let value = registry.decode(type_name, payload);
                let value = value.unwrap_or_else(|error| panic!("{name}: {channel} {type_name}: {error}"));
                assert_ne!(value.tree, Tree::Null, "{name}: {channel}");
                serde_json::from_str::<Value>(&value.tree.to_json()).unwrap();
                decoded += 1;
            }
        }
    }
    println!("{decoded} values decoded");
    assert!(decoded > 0);
}
