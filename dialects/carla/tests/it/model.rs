//! What a recording is in the model: channels, values, places, and the way back.

use logpose_carla::{Carla, EventAdd, FrameStart, Position, Rotation, Vector, fuzzing};
use logpose_core::{
    Channel, ChannelId, Confidence, EncodeOptions, Encoding, FileDialect, Lookup, Problem, Problems, ReadOptions, Row,
    Sample, Severity, Sink, SinkError, Value,
};
use logpose_testkit::{corpus, hex as bytes};
use serde_json::Value as Json;

use crate::fixtures::{own, real};
use crate::model_kit::{
    Lines, add, again, column_lines, drive, f32_form, f64_form, header, index, plain, records, replayed, show,
};
use crate::vectors::smallest;

/// The real recordings that are whole.
fn whole_real() -> Vec<(String, Vec<u8>)> {
    real().into_iter().filter(|(name, _)| !name.contains("truncated")).collect()
}

/// Our own recordings, all of them whole.
fn whole() -> Vec<(String, Vec<u8>)> {
    // A second recording behind the first, whose times step back.
    let front = drive(20, 5, f32_form(), 2);
    let twice = [&front[..], &drive(25, 4, f32_form(), 2)[34..]].concat();
    let made = [
        ("twice".to_owned(), twice),
        ("f32".to_owned(), drive(120, 12, f32_form(), 2)),
        ("f32 version 1".to_owned(), drive(9, 3, f32_form(), 1)),
        ("f64".to_owned(), drive(120, 12, f64_form(), 1)),
        ("spec".to_owned(), smallest()),
    ];
    made.into_iter().chain(own()).collect()
}

#[test]
fn the_smallest_recording_is_these_samples() {
    let log = smallest();
    let (index, problems) = index(&log);
    assert!(problems.is_empty(), "{:?}", problems.list());
    let double = |x: f64| format!("{:02x?}", x.to_le_bytes()).trim_matches(['[', ']']).to_owned();
    let pose = [0.01, 0.02, 0.03, 0.0, 0.0, 90.0].map(double).join(", ");
    let (frame, time) = (double(f64::from_bits(1)), f64::from(0.05_f32));
    let open = double(f64::from_bits(2));
    let expected = [
        "0.000 /.schema/struct:CarlaFrame uint64 frame;double duration;double elapsed".to_owned(),
        "0.000 /.schema/struct:CarlaTransform double x;double y;double z;double roll;double pitch;double yaw".to_owned(),
        format!("0.000 /carla/frame Bytes [{frame}, {}, {}]", double(time), double(0.0)),
        "0.000 /carla/events/add {\"actor\":7,\"type\":1,\"class\":\"vehicle\",\"blueprint\":\"v\",\"uid\":0,\"x\":0.01,\
         \"y\":0.02,\"z\":0.03,\"roll\":0.0,\"pitch\":0.0,\"yaw\":90.0,\"attributes\":[]}"
            .to_owned(),
        format!("0.000 /carla/actors/7/transform Bytes [{pose}]"),
        "0.000 /carla/layout 0 2 3 4 5 6 7 1".to_owned(),
        format!("0.050000001 /carla/frame Bytes [{open}, {}, {}]", double(-1.0), double(time)),
        format!("0.050000001 /carla/events/delete Int64 [{}]", double(f64::from_bits(7))),
    ];
    assert_eq!(replayed(&log, &index, &Lookup::default()), expected);
    assert_eq!(index.fact("frames"), Some("2"));
    assert_eq!(index.fact("epoch_ns"), None, "no date");
    let frame = &index.channels[2].channel;
    assert_eq!(frame.metadata, r#"{"version":1,"date":0,"map":"T","vectors":"f32","ids":"A"}"#);
    let pose = index.channels.iter().find(|c| c.channel.name.ends_with("transform")).unwrap();
    assert_eq!(pose.channel.family, Some(Box::new(("carla_transform".to_owned(), "7".to_owned()))));
}

#[test]
fn every_way_to_read_gives_the_same() {
    check_every_way_to_read_gives_the_same(whole());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_way_to_read_gives_the_same_real() {
    check_every_way_to_read_gives_the_same(whole_real());
}

fn check_every_way_to_read_gives_the_same(recordings: Vec<(String, Vec<u8>)>) {
    for (name, log) in recordings {
        let (index, _) = index(&log);
        let columns = logpose_testkit::columns(&Carla, &log);
        let wanted = column_lines(&columns);
        let ids: Vec<u32> = (0..index.channels.len() as u32).collect();
        assert!(column_lines(&Carla.gather(&log, &index, &ids, |_| {}).unwrap()) == wanted, "{name}: gather");
        assert!(column_lines(&Carla.scan(&log, &index, &Lookup::default(), |_| {}).unwrap()) == wanted, "{name}: scan");
        let mut rows = Vec::new();
        let take = &mut |more: &[Row]| {
            rows.extend_from_slice(more);
            Ok(())
        };
        Carla.rows(&log, &index, &Lookup::default(), take).unwrap();
        let mut lines = Vec::new();
        Carla
            .samples(&log, &index, &rows, &mut |samples| {
                lines.extend(samples.iter().map(|s| {
                    let name = &index.channels[s.channel as usize].channel.name;
                    format!("{} {name} {}", s.time, show(&s.value))
                }));
                Ok(())
            })
            .unwrap();
        assert!(lines == replayed(&log, &index, &Lookup::default()), "{name}: rows");
        let light = ReadOptions { positions: false, ..ReadOptions::default() };
        let light = Carla.index(&log, &light, &mut Problems::default()).unwrap();
        for (a, b) in index.channels.iter().zip(&light.channels) {
            assert_eq!(a.sorted, b.sorted);
            assert_eq!(
                (&a.channel, a.samples, a.bytes, a.first, a.last),
                (&b.channel, b.samples, b.bytes, b.first, b.last)
            );
            let event = a.channel.name.contains("/events/") || a.channel.name.ends_with("/box");
            assert!(!event || a.positions.iter().eq(b.positions.iter()), "{name}: {} stays placed", a.channel.name);
        }
        assert!(replayed(&log, &light, &Lookup::default()) == lines, "{name}: without positions");
    }
}

#[test]
fn windows_give_all_of_it_piece_by_piece() {
    check_windows_give_all_of_it_piece_by_piece(whole());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn windows_give_all_of_it_piece_by_piece_real() {
    check_windows_give_all_of_it_piece_by_piece(whole_real());
}

fn check_windows_give_all_of_it_piece_by_piece(recordings: Vec<(String, Vec<u8>)>) {
    for (name, log) in recordings {
        let (mut index, _) = index(&log);
        // More places to begin at than a small recording has.
        index.steps = index.marks.iter().map(|mark| mark.at).step_by(7).collect();
        let windows = Carla.windows(&index, 1);
        assert_eq!(windows.len(), index.steps.len());
        let lines: Vec<String> = windows
            .iter()
            .flat_map(|window| {
                let mut sink = Lines::default();
                // Channels that began before the window are not declared again.
                let known = index.slots.iter().zip(&index.lives).filter(|(_, life)| life.start < window.start);
                let known = known.filter_map(|(fate, _)| fate.channel());
                sink.channels = known.map(|id| (id, index.channels[id as usize].channel.clone())).collect();
                let lookup = Lookup { within: Some(*window), ..Lookup::default() };
                Carla.replay(&log, &index, &lookup, &mut sink).unwrap();
                sink.lines
            })
            .collect();
        assert!(lines == replayed(&log, &index, &Lookup::default()), "{name}");
    }
}

#[test]
fn a_selection_is_what_was_asked_for() {
    let log = drive(100, 8, f32_form(), 2);
    let (index, _) = index(&log);
    let all = replayed(&log, &index, &Lookup::default());
    let channels: Vec<bool> = index.channels.iter().map(|c| c.channel.name.ends_with("/vehicle")).collect();
    let (start, end) = (index.marks[20].time, index.marks[29].time);
    let lookup = Lookup { channels, start: Some(start), end: Some(end), ..Lookup::default() };
    let found = replayed(&log, &index, &lookup);
    let within = |line: &&String| {
        let time: f64 = line.split(' ').next().unwrap().parse().unwrap();
        line.contains("/vehicle ") && (start.seconds()..=end.seconds()).contains(&time)
    };
    assert_eq!(found, all.iter().filter(within).cloned().collect::<Vec<_>>());
    assert!(!found.is_empty());
    let columns = Carla.scan(&log, &index, &lookup, |_| {}).unwrap();
    assert_eq!(columns.columns.iter().map(|c| c.samples()).sum::<usize>(), found.len());
    // Schemas are wanted at any time.
    let always = index.channels.iter().map(|c| c.channel.type_name == "structschema").collect();
    let lookup = Lookup { start: Some(start), always, ..Lookup::default() };
    let schemas = replayed(&log, &index, &lookup).iter().filter(|line| line.contains("/.schema/")).count();
    assert_eq!(schemas, index.channels.iter().filter(|c| c.channel.type_name == "structschema").count());
}

#[test]
fn the_model_of_a_recording_is_written_as_the_same_bytes() {
    check_the_model_of_a_recording_is_written_as_the_same_bytes(whole());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_model_of_a_recording_is_written_as_the_same_bytes_real() {
    check_the_model_of_a_recording_is_written_as_the_same_bytes(whole_real());
}

fn check_the_model_of_a_recording_is_written_as_the_same_bytes(recordings: Vec<(String, Vec<u8>)>) {
    for (name, log) in recordings {
        assert!(again(&log, &Lookup::default()).unwrap() == log, "{name}");
    }
}

#[test]
fn a_cut_recording_is_written_with_an_end() {
    let log = drive(10, 3, f32_form(), 2);
    let cut = &log[..log.len() * 3 / 5];
    let (found, problems) = index(cut);
    assert_eq!(problems.worst(), Some(Severity::Damage));
    let out = again(cut, &Lookup::default()).unwrap();
    let (back, problems) = index(&out);
    assert!(problems.worst() < Some(Severity::Damage), "{:?}", problems.list());
    assert_eq!(back.marks.len(), found.marks.len());
    // The same packets; the last frame has no duration, and an end.
    let last = found.marks.last().unwrap().at as usize;
    assert_eq!(out[..last], cut[..last]);
    assert_eq!(&out[last + 13..last + 21], (-1.0_f64).to_le_bytes());
    assert!(out.ends_with(&[1, 0, 0, 0, 0]));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_real_recording_that_is_cut_is_the_same_up_to_its_last_frame() {
    for (name, log) in real().into_iter().filter(|(name, _)| name.contains("truncated")) {
        let out = again(&log, &Lookup::default()).unwrap();
        let (found, _) = index(&log);
        let last = found.marks.last().unwrap().at as usize;
        assert_eq!(out[..last], log[..last], "{name}");
    }
}

#[test]
fn odd_packets_are_kept_to_the_byte() {
    let form = f32_form();
    let mut log = Vec::new();
    header(1, &mut log);
    // Before the first frame.
    plain(150, b"early", &mut log);
    FrameStart { frame: 1, duration: 0.5, elapsed: 0.0 }.emit(&mut log);
    records(&[add(1, "vehicle.a", false), EventAdd { blueprint: b"\xff\xfe", ..add(2, "", true) }], form, &mut log);
    // Kinds that come twice.
    let position = Position { actor: 1, location: Vector::new(1.0, 2.0, 3.0), rotation: Rotation::new(0.0, 0.0, 0.0) };
    records(&[position, Position { actor: 2, ..position }], form, &mut log);
    plain(101, b"", &mut log);
    records(&[Position { actor: 2, ..position }], form, &mut log);
    // A size that is not that of its records, walkers without bones, one walker twice.
    plain(24, &[1, 0, 1, 2, 3], &mut log);
    plain(19, &[1, 0, 5, 0, 0, 0, 0, 0], &mut log);
    let mut bones = bytes("02 00 1A 00 00 00 01 00 03 00 68 69 70");
    bones.extend([0; 24]);
    bones.extend(bytes("1A 00 00 00 01 00 03 00 68 69 70"));
    bones.extend([0; 24]);
    plain(19, &bones, &mut log);
    plain(1, b"", &mut log);
    // Behind the end of a frame, and two ends.
    plain(20, &12.5_f64.to_le_bytes(), &mut log);
    plain(1, b"", &mut log);
    FrameStart { frame: 2, duration: -1.0, elapsed: 0.5 }.emit(&mut log);
    plain(20, &1.0_f64.to_le_bytes(), &mut log);
    plain(20, &2.0_f64.to_le_bytes(), &mut log);
    plain(18, &7_u64.to_le_bytes(), &mut log);
    plain(1, b"", &mut log);
    let (index, problems) = index(&log);
    let lines = replayed(&log, &index, &Lookup::default());
    let layouts: Vec<_> =
        lines.iter().filter_map(|line| line.split_once("/carla/layout ").map(|(_, text)| text)).collect();
    assert_eq!(layouts, ["150!", "0 2 6:2 101! 6:1 24! 19! 19! 1 20 1", "0 20 20 18 1"]);
    assert!(lines.iter().any(|line| line.contains("\"raw\":\"")), "a blueprint that is not UTF-8");
    let codes: Vec<_> = problems.kinds().iter().map(|(code, severity, count)| (*code, *severity, *count)).collect();
    let expected = [
        ("frame-order", Severity::Damage, 3),
        ("packet-size", Severity::Damage, 1),
        ("odd-packet", Severity::Warning, 2),
    ];
    assert_eq!(codes, expected);
    assert!(again(&log, &Lookup::default()).unwrap() == log);
}

#[test]
fn numbers_that_metres_cannot_say_are_kept() {
    let form = f64_form();
    let odd = [5e-324, -5e-324, 1e-300, 4.9e-320, f64::MIN_POSITIVE, f64::MAX, -0.0, 0.1, 1234.56, 1e-289];
    let mut log = Vec::new();
    header(1, &mut log);
    FrameStart { frame: 1, duration: -1.0, elapsed: 0.0 }.emit(&mut log);
    records(&[add(1, "vehicle.a", false)], form, &mut log);
    for x in odd {
        let location = Vector::new(x, f64::from_bits(x.to_bits() + 1), 7.77);
        records(&[Position { actor: 1, location, rotation: Rotation::new(x, x, x) }], form, &mut log);
    }
    for seed in 0..500_u32 {
        let x = f64::from(seed).sin() * 1e5;
        let event = EventAdd { location: Vector::new(x, x / 7.0, x * 3.0), ..add(seed + 10, "x", false) };
        records(&[event], form, &mut log);
    }
    plain(1, b"", &mut log);
    assert!(again(&log, &Lookup::default()).unwrap() == log);
    let (index, _) = index(&log);
    let lines = replayed(&log, &index, &Lookup::default());
    assert!(lines.iter().all(|line| !line.contains("\"raw\"")) && lines.iter().any(|line| line.contains("\"fine\"")));
}

#[test]
fn an_empty_recording_keeps_its_header() {
    let mut log = Vec::new();
    header(2, &mut log);
    let (index, problems) = index(&log);
    assert_eq!((index.samples(), problems.list()[0].code), (0, "no-frames"));
    assert_eq!(again(&log, &Lookup::default()).unwrap(), log);
}

#[test]
fn a_crop_without_the_actors_is_refused() {
    let log = drive(50, 4, f32_form(), 2);
    let (found, _) = index(&log);
    let refused =
        again(&log, &Lookup { start: Some(found.marks[10].time), ..Lookup::default() }).unwrap_err().to_string();
    assert!(refused.contains("was never added") && refused.contains("`logpose carla crop`"), "{refused}");
    // The front of a recording needs nothing, and its last frame has no duration.
    let front = again(&log, &Lookup { end: Some(found.marks[9].time), ..Lookup::default() }).unwrap();
    let (front_index, problems) = index(&front);
    assert!(problems.is_empty() && front_index.marks.len() == 10, "{:?}", problems.list());
    let last = front_index.marks[9].at as usize;
    assert_eq!(&front[last + 13..last + 21], (-1.0_f64).to_le_bytes());
    let no_events = found.channels.iter().map(|c| !c.channel.name.contains("/events/")).collect();
    let refused = again(&log, &Lookup { channels: no_events, ..Lookup::default() }).unwrap_err().to_string();
    assert!(refused.contains("include /carla/events/add"), "{refused}");
    let no_frames = found.channels.iter().map(|c| c.channel.name != "/carla/frame").collect();
    let refused = again(&log, &Lookup { channels: no_frames, ..Lookup::default() }).unwrap_err().to_string();
    assert!(refused.contains("missing channel /carla/frame"), "{refused}");
    // Without layouts the packets stand as the specification orders them.
    let no_layout = found.channels.iter().map(|c| c.channel.name != "/carla/layout").collect();
    let out = again(&log, &Lookup { channels: no_layout, ..Lookup::default() }).unwrap();
    assert!(index(&out).1.is_empty());
    assert_eq!(replayed_without_layout(&out), replayed_without_layout(&log));
}

fn replayed_without_layout(log: &[u8]) -> Vec<String> {
    let (index, _) = index(log);
    let mut lines = replayed(log, &index, &Lookup::default());
    lines.retain(|line| !line.contains("/carla/layout"));
    // Private packets stand at the end of a frame, in either case; only doors may stand elsewhere.
    lines.sort();
    lines
}

#[test]
fn foreign_channels_are_refused_by_name() {
    let mut encoder = Carla.encoder(&logpose_core::EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    let mut refuse = |name: &str, ty: &str| {
        encoder.channel(0, &logpose_core::Channel::new(name, ty), &mut out).unwrap_err().to_string()
    };
    assert!(
        refuse("/Drive/Speed", "double")
            .contains("channel \"/Drive/Speed\": a CARLA recording can only hold CARLA channels")
    );
    assert!(refuse("/carla/actors/7/vehicle", "double").contains("its type is double, expected struct:CarlaVehicle"));
}

/// Whether a channel is meant.
type Path = fn(&str) -> bool;

#[test]
#[ignore = "needs the corpus of real logs"]
fn corpus_counts_are_those_of_the_summaries() {
    for (name, log) in real() {
        let stem = name.rsplit_once('.').unwrap().0;
        let Ok(text) = std::fs::read(corpus("carla").join(format!("{stem}.summary.json"))) else { continue };
        let summary: Json = serde_json::from_slice(&text).unwrap();
        let (index, problems) = index(&log);
        assert!(problems.worst() < Some(Severity::Damage), "{name}: {:?}", problems.list());
        assert!(problems.is_empty(), "{name}: {:?}", problems.list());
        let expected = |key: &str| summary[key].as_u64().map(|n| n.to_string());
        assert_eq!(index.fact("frames").map(str::to_owned), expected("complete_frames"), "{name}");
        assert_eq!(index.fact("map"), summary["header"]["map"].as_str(), "{name}");
        assert_eq!(index.fact("date").map(str::to_owned), summary["header"]["date"].as_i64().map(|n| n.to_string()));
        assert_eq!(index.fact("vectors"), summary["dialect"]["vector"].as_str(), "{name}");
        let packets: u64 = summary["packet_counts"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(index.records, packets, "{name}");
        let actors = summary["record_counts"]["2:EventAdd"].as_u64().unwrap();
        assert_eq!(index.fact("actors"), Some(&*actors.to_string()), "{name}");
        let samples =
            |path: Path| -> u64 { index.channels.iter().filter(|c| path(&c.channel.name)).map(|c| c.samples).sum() };
        let counts: [(&str, Path); 12] = [
            ("2:EventAdd", |name| name == "/carla/events/add"),
            ("5:Collision", |name| name == "/carla/events/collision"),
            ("6:Position", |name| name.ends_with("/transform")),
            ("7:TrafficLightState", |name| name.ends_with("/state")),
            ("8:VehicleAnim", |name| name.ends_with("/vehicle")),
            ("9:WalkerAnim", |name| name.ends_with("/walker")),
            ("10:VehicleLight", |name| name.ends_with("/light")),
            ("11:SceneLight", |name| name.starts_with("/carla/scene_lights/")),
            ("12:Kinematics", |name| name.ends_with("/velocity")),
            ("13:BoundingBox", |name| name.ends_with("/box")),
            ("15:PhysicsControl", |name| name.ends_with("/physics")),
            ("16:TrafficLightTime", |name| name.ends_with("/timing")),
        ];
        for (key, path) in counts {
            assert_eq!(samples(path), summary["record_counts"][key].as_u64().unwrap_or(0), "{name}: {key}");
        }
        for (actor, last) in summary["last_position"].as_object().into_iter().flatten() {
            let lines = replayed_channel(&log, &index, &format!("/carla/actors/{actor}/transform"));
            let x = last.pointer("/location/0").and_then(Json::as_f64);
            let shown = format!("{:02x?}", (f64::from(x.unwrap() as f32) / 100.0).to_le_bytes());
            let line = lines.last().unwrap();
            assert!(line.contains(shown.trim_matches(['[', ']'])), "{name}: {actor}: {line}");
        }
    }
}

fn replayed_channel(log: &[u8], index: &logpose_core::Index, name: &str) -> Vec<String> {
    let channels = index.channels.iter().map(|c| c.channel.name == name).collect();
    replayed(log, index, &Lookup { channels, ..Lookup::default() })
}

#[test]
fn every_prefix_and_every_changed_byte_reads_without_panic() {
    let log = drive(4, 2, f32_form(), 1);
    for end in 0..log.len() {
        if end.is_multiple_of(29) || end < 100 {
            fuzzing::model(&log[..end]);
        }
    }
    for log in [drive(2, 1, f32_form(), 1), drive(1, 1, f64_form(), 1)] {
        let mut changed = log.clone();
        for at in 0..log.len() {
            changed[at] = if at.is_multiple_of(2) { 0xff } else { log[at] ^ 1 };
            fuzzing::model(&changed);
            changed[at] = log[at];
        }
    }
    own().iter().filter(|(_, log)| log.len() < 10_000).for_each(|(_, log)| fuzzing::model(log));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn small_real_recordings_survive_what_the_fuzzer_does() {
    real().iter().filter(|(_, log)| log.len() < 10_000).for_each(|(_, log)| fuzzing::model(log));
}

#[test]
fn the_name_is_common_so_the_bytes_must_decide() {
    let log = drive(30, 3, f32_form(), 1);
    assert_eq!(Carla.sniff(&log), Confidence::Yes);
    assert_eq!(Carla.sniff(&log[100..]), Confidence::Perhaps, "frames behind a lost header");
    for other in [&b"2024-01-01 INFO started\n"[..], b"", b"\x01\0\x0e\0CARLA_RECORDEX", &[0; 4096], b"WPILOG\0\x01"] {
        assert_eq!(Carla.sniff(other), Confidence::No);
    }
}

#[test]
fn salvage_finds_the_frames_behind_damage() {
    let log = drive(30, 3, f32_form(), 1);
    let (whole, _) = index(&log);
    let (from, to) = (whole.marks[10].at as usize + 40, whole.marks[12].at as usize + 3);
    let mut damaged = log.clone();
    damaged[from..to].fill(0xee);
    let mut problems = Problems::default();
    let found = Carla.index(&damaged, &ReadOptions { salvage: true, ..ReadOptions::default() }, &mut problems).unwrap();
    assert_eq!(found.marks.len(), 27);
    assert_eq!(found.spans.len(), 2);
    assert_eq!(problems.lost_bytes(), whole.marks[13].at - whole.marks[10].at);
    let mut sink = Lines::default();
    Carla.replay(&damaged, &found, &Lookup::default(), &mut sink).unwrap();
    assert_eq!(sink.lines.len() as u64, found.samples());
    // Windows cover the gap.
    let windows = Carla.windows(&found, 1);
    assert!(windows.iter().map(|w| w.end - w.start).sum::<u64>() >= found.spans.iter().map(|s| s.end - s.start).sum());
    // Without a header.
    let mut problems = Problems::default();
    let headless =
        Carla.index(&log[20..], &ReadOptions { salvage: true, ..ReadOptions::default() }, &mut problems).unwrap();
    assert_eq!(headless.marks.len(), 30);
    assert_eq!(headless.range(), whole.range());
}

/// Encodes every batch with samples in it that cannot be encoded: in front, in the middle, behind, and several in a row.
struct Spoiling<'a> {
    encoding: Encoding<'a>,
    spoilt: Vec<ChannelId>,
    refused: usize,
}

impl Sink for Spoiling<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        // Packets that nobody understands may hold anything.
        if channel.type_name != "structschema" && !channel.name.contains("/packets/") {
            self.spoilt.push(id);
        }
        self.encoding.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let (front, back) = samples.split_at(samples.len() / 2);
        let bad =
            || self.spoilt.iter().map(|id| Sample { channel: *id, time: samples[0].time, value: Value::Bytes(b"?") });
        let all: Vec<Sample<'_>> =
            bad().chain(front.iter().copied()).chain(bad()).chain(back.iter().copied()).chain(bad()).collect();
        let mut rest = &all[..];
        while let Err(error) = self.encoding.samples(rest) {
            let SinkError::Refused(error) = error else { panic!("{error}") };
            let place = error.sample.expect("a place");
            assert!(matches!(rest[place].value, Value::Bytes(b"?")), "{error}");
            rest = &rest[place + 1..];
            self.refused += 1;
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        panic!("{problem:?}");
    }
}

#[test]
fn a_refused_sample_is_named_and_leaves_no_trace() {
    for form in [f32_form(), f64_form()] {
        let log = drive(20, 4, form, 2);
        let (found, _) = index(&log);
        let mut encoder = Carla.encoder(&EncodeOptions::default()).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        let mut problems = Problems::default();
        let encoding = Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut problems };
        let mut spoiling = Spoiling { encoding, spoilt: Vec::new(), refused: 0 };
        Carla.replay(&log, &found, &Lookup::default(), &mut spoiling).unwrap();
        assert!(spoiling.refused > 0);
        assert!(encoder.finish(&mut out).is_empty());
        assert!(out == log);
    }
}
