//! CARLA's texts byte for byte, and the same facts as data.

use std::path::Path;

use logpose_carla::{
    ActorType, Attribute, Attributes, Blocking, Body, Collision, EventAdd, EventDel, Filter, Flag, FrameStart, Frames,
    Guess, Header, Ids, OPEN_DURATION, Packet, Position, Queries, Reader, Reading, Record, Records, Rotation, Summary,
    Vector, Vectors, VehicleDoor, VehicleLight, Weather, WireFormat, blocked, collisions, emit_records,
};
use logpose_testkit::fixture;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::fixtures::{FIXTURES, real};
pub(crate) use crate::vectors::smallest;

/// So many texts lie beside our own recordings.
const TEXTS: usize = 45;

/// The recordings of the corpus: name without extension, and bytes.
pub(crate) fn corpus() -> Vec<(String, Vec<u8>)> {
    let stem = |(name, log): (String, Vec<u8>)| (name.rsplit_once('.').unwrap().0.to_owned(), log);
    real().into_iter().map(stem).collect()
}

/// One recording of the corpus.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    corpus().into_iter().find(|(found, _)| found == name).expect(name).1
}

/// A recording with a frame every half second, of which each has these packets.
pub(crate) fn recording(version: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut log = Vec::new();
    Header { version, date: 1_554_803_999, map: b"Town04" }.emit(&mut log);
    for (i, packets) in frames.iter().enumerate() {
        let duration = if i + 1 == frames.len() { OPEN_DURATION } else { 0.5 };
        FrameStart { frame: i as u64 + 1, duration, elapsed: i as f64 * 0.5 }.emit(&mut log);
        log.extend_from_slice(packets);
        log.extend_from_slice(&[1, 0, 0, 0, 0]);
    }
    log
}

/// Some packets, one behind the other.
pub(crate) fn packets<'a>(packets: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    packets.into_iter().flatten().copied().collect()
}

pub(crate) fn packet<'a, R: Record<'a>>(records: &[R]) -> Vec<u8> {
    let mut out = Vec::new();
    emit_records(records, WireFormat::default(), &mut out);
    out
}

pub(crate) fn actor(actor: u32, actor_type: u8, blueprint: &str) -> EventAdd<'_> {
    EventAdd {
        actor,
        actor_type,
        location: Vector::default(),
        rotation: Rotation::default(),
        uid: 0,
        blueprint: blueprint.as_bytes(),
        attributes: Attributes::default(),
    }
}

pub(crate) fn position(actor: u32, x: f64, yaw: f64) -> Position {
    Position { actor, location: Vector::new(x, 0.0, 0.0), rotation: Rotation::new(0.0, 0.0, yaw) }
}

fn collision(actor1: u32, actor2: u32) -> Collision {
    Collision { id: 0, actor1, actor2, hero1: Flag(0), hero2: Flag(0) }
}

/// The expected texts of a file: the part of their names between the file's and `.txt`, and what they say.
fn texts(folder: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let mut texts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let file = path.file_name()?.to_str()?;
            let kind = file.strip_prefix(name)?.strip_prefix('.')?.strip_suffix(".txt")?;
            Some((kind.to_owned(), std::fs::read(&path).unwrap()))
        })
        .collect();
    texts.sort();
    texts
}

fn text(log: &[u8], kind: &str) -> Vec<u8> {
    let queries = Queries::new(log).unwrap();
    let mut out = Vec::new();
    let mut words = kind.split('_');
    match words.next().unwrap() {
        "info" => queries.info(words.next() == Some("all"), &mut out),
        "collisions" => {
            let mut filters = words.next().unwrap().chars().map(|letter| Filter::of(letter).unwrap());
            queries.collisions(filters.next().unwrap(), filters.next().unwrap(), &mut out)
        }
        "blocked" => {
            let mut number = || words.next().unwrap().parse().unwrap();
            queries.blocked(Blocking { min_time: number(), min_distance_cm: number() }, &mut out)
        }
        other => panic!("no query {other}"),
    }
    .unwrap();
    out
}

/// Compares the texts of recordings with those in a folder; returns how many there were.
fn check_texts(folder: &Path, recordings: Vec<(String, Vec<u8>)>) -> usize {
    let mut compared = 0;
    for (name, log) in recordings {
        for (kind, expected) in texts(folder, &name) {
            let ours = text(&log, &kind);
            let (ours, expected) = (String::from_utf8_lossy(&ours), String::from_utf8_lossy(&expected));
            let first = ours.lines().zip(expected.lines()).enumerate().find(|(_, (ours, expected))| ours != expected);
            assert_eq!(first, None, "{name}.{kind}: the first line that differs, ours and the expected one");
            assert!(ours == expected, "{name}.{kind}: one is longer");
            compared += 1;
        }
    }
    compared
}

#[test]
fn texts_of_our_recordings_are_those_of_the_specification() {
    let stem = |(name, log): (String, Vec<u8>)| (name.rsplit_once('.').unwrap().0.to_owned(), log);
    let recordings = FIXTURES.logs("valid").into_iter().map(stem).collect();
    assert_eq!(check_texts(&fixture("carla/texts"), recordings), TEXTS);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn texts_are_carlas_byte_for_byte() {
    assert!(check_texts(&logpose_testkit::corpus("carla"), corpus()) > 20);
}

/// The texts that are too large to store: the README of the corpus has their hashes.
#[test]
#[ignore = "needs the corpus of real logs"]
fn long_texts_have_the_hashes_of_the_corpus() {
    let folder = logpose_testkit::corpus("carla");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut compared = 0;
    for line in readme.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, file, _, log_hash, text_hash, size, _] = cells[..] else { continue };
        let Ok(size) = size.parse::<usize>() else { continue };
        let log = std::fs::read(folder.join(file)).unwrap();
        assert_eq!(hex(&log), log_hash, "{file}");
        let text = text(&log, "info_all");
        assert_eq!((text.len(), hex(&text)), (size, text_hash.to_owned()), "{file}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The lines of a text behind its head.
fn lines(text: &[u8]) -> Vec<&str> {
    str::from_utf8(text).unwrap().lines().skip(4).collect()
}

#[test]
fn the_smallest_recording() {
    let log = smallest();
    assert_eq!(hex(&log), "8ef45e192f9afd44f1c58addf5bed35bcc67f8c65b3dc04203e4e1c6c9a8a835");
    let expected = "Version: 1\nMap: T\nDate: 01/01/70 00:00:00\n\nFrame 1 at 0 seconds\n Create 7: v (1) at (1, 2, 3)\n\
                    Frame 2 at 0.05 seconds\n Destroy 7\n\nFrames: 2\nDuration: 0.05 seconds\n";
    assert_eq!(String::from_utf8(text(&log, "info")).unwrap(), expected);
    let mut shifted = Vec::new();
    Queries::new(&log).unwrap().with_utc_offset(-3600).info(false, &mut shifted).unwrap();
    assert_eq!(String::from_utf8(shifted).unwrap(), expected.replace("01/01/70 00:00:00", "12/31/69 23:00:00"));
    let summary = Summary::of(&Frames::scan(&log).unwrap());
    assert_eq!(summary.guess.version, "0.9.4 to 0.9.5");
    assert_eq!(summary.actors.into_iter().collect::<Vec<_>>(), [(ActorType::Vehicle, 1)]);
}

#[test]
fn a_recording_without_packets_or_frames() {
    let log = recording(1, &[]);
    assert_eq!(lines(&text(&log, "info_all")), ["", "Frames: 0", "Duration: 0 seconds"]);
    let summary = Summary::of(&Frames::scan(&log).unwrap());
    assert_eq!(
        (summary.frames, summary.mean_fps, summary.guess),
        (0, None, Guess { version: "unknown".to_owned(), reasons: vec![] })
    );
}

#[test]
fn odd_lines_of_info() {
    let door = |door| VehicleDoor { actor: 24, door, open: Flag(1) };
    let mut doors = Vec::new();
    emit_records(&[door(5), door(9), door(6)], WireFormat::default(), &mut doors);
    let frame = packets(&[
        packet(&[VehicleLight { actor: 24, lights: 0x183 }, VehicleLight { actor: 25, lights: 0x800 }]),
        doors,
        packet(&[Weather { values: std::array::from_fn(|i| i as f32) }]),
        packet::<Weather>(&[]),
    ]);
    assert_eq!(
        lines(&text(&recording(2, &[frame]), "info_all"))[..9],
        [
            "Frame 1 at 0 seconds",
            " Vehicle light animations: 2",
            "  Id: 24 Position LowBeam Interior Fog",
            "  Id: 25 None",
            " Vehicle door animations: 3",
            "  Id: 24",
            "  Doors opened:  Trunk ",
            "  Id: 24",
            "  Doors opened:   Id: 24",
        ]
    );
    let log = recording(2, &[packet(&[Weather { values: std::array::from_fn(|i| i as f32) }])]);
    assert_eq!(
        lines(&text(&log, "info"))[..3],
        [
            "Frame 1 at 0 seconds",
            " Weathers: 1",
            "  Cloudiness: 0 Precipitation: 1 PrecipitationDeposits: 2 WindIntensity: 3 SunAzimuthAngle: 4 \
             SunAltitudeAngle: 5 FogDensity: 6 FogDistance: 7 FogFalloff: 8 Wetness: 9 ScatteringIntensity: 10 \
             MieScatteringScale: 11 RayleighScatteringScale: 12 DustStorm: 13",
        ]
    );
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn a_cut_recording_is_reported_once_as_far_as_it_is_whole() {
    let log = sample("sample_custom_truncated");
    let mut out = Vec::new();
    let reading = Queries::new(&log).unwrap().info(true, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("Frame 4 at").count(), 1);
    let frame = text.split("Frame 4 at").nth(1).unwrap();
    assert_eq!(frame.matches(" State traffic lights: 1").count(), 1);
    assert!(frame.ends_with(" elapsedTime: 1.5\n\nFrames: 4\nDuration: 0.125425 seconds\n"), "{frame}");
    assert_eq!(
        reading.problems().iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "byte 0x8f1: packet body needs 44 bytes, 30 left; the rest is not shown",
            "frame 4 has no end: the recording is truncated",
        ]
    );
    assert_eq!(Reading::of(&Frames::scan(&log).unwrap()), reading);
    // Frame 4 has the contact too, but is not whole.
    let contacts = collisions(&Frames::scan(&log).unwrap());
    assert!(contacts.iter().all(|contact| (contact.first, contact.last) == (2, 2)), "{contacts:?}");
}

#[test]
fn a_packet_that_is_not_understood_is_left_out() {
    let mut wrong = packet(&[EventDel { actor: 24 }]);
    wrong[5] = 2;
    let log = recording(1, &[packets(&[packet(&[actor(24, 1, "vehicle.a")]), wrong])]);
    let mut out = Vec::new();
    let reading = Queries::new(&log).unwrap().info(false, &mut out).unwrap();
    assert_eq!((reading.odd, reading.stop), (1, None));
    assert_eq!(reading.problems().len(), 1);
    assert_eq!(lines(&out)[1], " Create 24: vehicle.a (1) at (0, 0, 0)");
}

#[test]
fn what_is_no_recording_is_refused_with_its_byte() {
    let mut log = smallest();
    log[4] = b'K';
    assert_eq!(
        Queries::new(&log).unwrap_err().to_string(),
        "byte 0x2: not a CARLA recording: expected the magic CARLA_RECORDER"
    );
    log[4] = b'C';
    log[0] = 3;
    assert_eq!(Queries::new(&log).unwrap_err().to_string(), "byte 0x0: unknown recorder version 3, expected 1 or 2");
}

/// Deleting makes CARLA forget the actor that was added last. The text does so too, the data does not.
#[test]
fn the_slip_of_deletions() {
    let adds = packet(&[actor(1, 1, "vehicle.a"), actor(2, 2, "walker.b"), actor(3, 4, "traffic.stop")]);
    let log = recording(
        1,
        &[
            packets(&[adds, packet(&[collision(1, 2)])]),
            packets(&[packet(&[EventDel { actor: 1 }]), packet(&[collision(1, 2), collision(3, u32::MAX)])]),
            packet(&[collision(9, 0)]),
            packet(&[collision(1, 2)]),
        ],
    );
    let row = |time: &str, types: &str, id1: &str, name1: &str, id2: &str, name2: &str| {
        format!("{time:>8}   {types}  {id1:>6} {name1:<35} {id2:>6} {name2:<35}")
    };
    assert_eq!(
        lines(&text(&log, "collisions_aa"))[1..],
        [
            row("0", "v w", "1", "vehicle.a", "2", "walker.b"),
            row("0", "o o", "3", "", "4294967295", ""),
            row("1", "o o", "9", "", "0", ""),
            row("2", "v w", "1", "vehicle.a", "2", "walker.b"),
            String::new(),
            "Frames: 4".to_owned(),
            "Duration: 2 seconds".to_owned(),
        ]
    );
    assert_eq!(lines(&text(&log, "collisions_hw"))[1..], ["", "Frames: 4", "Duration: 1.5 seconds"]);
    let frames = Frames::scan(&log).unwrap();
    let contacts = collisions(&frames);
    use ActorType::{Other, TrafficSign, Vehicle, Walker};
    let seen: Vec<_> = contacts
        .iter()
        .map(|c| (c.first, c.last, c.actor1.actor, c.actor1.class, c.actor2.actor, c.actor2.class))
        .collect();
    assert_eq!(
        seen,
        [
            (0, 1, Some(1), Vehicle, Some(2), Walker),
            (1, 1, Some(3), TrafficSign, None, Other),
            (2, 2, Some(9), Other, None, Other),
            // Vehicle 1 is gone by then.
            (3, 3, Some(1), Other, Some(2), Walker),
        ]
    );
    assert_eq!((contacts[0].time, contacts[0].until, contacts[0].frame), (0.0, 0.5, 1));
    assert_eq!(contacts[1].actor1.blueprint, b"traffic.stop");
    assert!(Filter::Vehicle.admits(&contacts[0].actor1) && !Filter::Hero.admits(&contacts[0].actor1));
}

#[test]
fn letters_of_collisions() {
    let hero = EventAdd {
        attributes: Attributes(vec![Attribute { attribute_type: 3, id: b"role_name", value: b"hero" }]),
        ..actor(7, 1, "vehicle.a")
    };
    let adds = packet(&[hero, actor(8, 4, "traffic.stop"), actor(9, 5, "sensor.x"), actor(10, 200, "thing")]);
    let hits = packet(&[
        Collision { hero1: Flag(1), ..collision(7, 8) },
        collision(7, 9),
        collision(7, 10),
        Collision { hero2: Flag(7), ..collision(8, 7) },
    ]);
    let log = recording(1, &[packets(&[adds, hits])]);
    let types = |kind: &str| -> Vec<String> {
        let text = text(&log, kind);
        lines(&text)[1..].iter().take_while(|line| !line.is_empty()).map(|line| line[11..14].to_owned()).collect()
    };
    assert_eq!(types("collisions_aa"), ["v h", "v a", "v o", "h v"]);
    assert_eq!(types("collisions_ha"), ["v h", "h v"]);
    assert_eq!(types("collisions_hh"), ["v h", "h v"]);
    assert_eq!(types("collisions_vo"), ["v o"]);
    assert_eq!(Filter::of('x'), None);
    let frames = Frames::scan(&log).unwrap();
    let contacts = collisions(&frames);
    // The recording says of the actor that it is the hero, even if a record does not.
    assert!(contacts.iter().all(|contact| contact.actor1.hero == (contact.actor1.actor == Some(7))));
    assert_eq!(Summary::of(&frames).heroes.len(), 1);
}

/// The data has neither the second that the last frame takes away nor the deletion of the wrong actor, and counts from
/// the frame in which an actor comes to stand.
#[test]
fn standing_still() {
    let adds = packet(&[actor(1, 1, "vehicle.a"), actor(2, 1, "vehicle.b")]);
    let stand = |x: f64| packet(&[position(1, x, 0.0), position(2, 500.0, 0.0)]);
    let log = recording(
        1,
        &[
            packets(&[adds, stand(300.0)]),
            stand(305.0),
            stand(309.0),
            stand(800.0),
            packets(&[packet(&[EventDel { actor: 1 }]), packet(&[position(2, 501.0, 0.0)])]),
            packet(&[position(2, 502.0, 0.0)]),
        ],
    );
    let kind = "blocked_0.5_10";
    assert_eq!(
        lines(&text(&log, kind))[1..],
        [
            // 1 was forgotten in the place of 2: its name is still known, and it loses nothing.
            format!("{:>8} {:>6} {:<35} {:>10}", "0", "1", "vehicle.a", "1"),
            String::new(),
            "Frames: 6".to_owned(),
            "Duration: 2.5 seconds".to_owned(),
        ]
    );
    let frames = Frames::scan(&log).unwrap();
    let found: Vec<_> = blocked(&frames, Blocking { min_time: 0.5, min_distance_cm: 10.0 })
        .into_iter()
        .map(|b| (b.actor, b.blueprint, b.from, b.duration, b.to_the_end, b.place.x))
        .collect();
    assert_eq!(found, [(2, &b"vehicle.b"[..], 0.0, 2.5, true, 5.0), (1, &b"vehicle.a"[..], 0.0, 1.5, false, 3.0)]);
    assert!(blocked(&frames, Blocking::default()).is_empty());
}

#[test]
fn an_id_that_is_used_again_is_another_actor() {
    let log = recording(
        1,
        &[
            packets(&[packet(&[actor(1, 1, "vehicle.a")]), packet(&[position(1, 5.0, 0.0)])]),
            packet(&[position(1, 5.0, 0.0)]),
            packets(&[
                packet(&[EventDel { actor: 1 }]),
                packet(&[actor(1, 2, "walker.b")]),
                packet(&[position(1, 5.0, 0.0)]),
            ]),
            packet(&[position(1, 5.0, 0.0)]),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let found: Vec<_> = blocked(&frames, Blocking { min_time: 0.1, min_distance_cm: 10.0 })
        .into_iter()
        .map(|b| (b.class, b.from, b.duration, b.to_the_end))
        .collect();
    assert_eq!(found, [(ActorType::Vehicle, 0.0, 1.0, false), (ActorType::Walker, 1.0, 0.5, true)]);
}

/// What the corpus says of its real files.
#[test]
#[ignore = "needs the corpus of real logs"]
fn summaries() {
    let guesses = [
        ("gf_crash_0.9.15", "0.9.15"),
        ("sample_0_9_16_full", "0.9.16"),
        ("sample_custom_truncated", "0.9.15"),
        ("sample_ue5_0_10_0", "0.10.0, or UE5 development before May 2026"),
        ("sr_lanecenter_0.9.10", "0.9.10"),
        ("sr_lanecenter_0.9.13", "0.9.12 to 0.9.13"),
        ("tk_2762_0.9.6", "0.9.6 to 0.9.7"),
        ("tk_4853_0.9.6", "0.9.6 to 0.9.7"),
    ];
    for (name, log) in corpus() {
        let frames = Frames::scan(&log).unwrap();
        let summary = Summary::of(&frames);
        let guess = guesses.iter().find(|(file, _)| *file == name).unwrap().1;
        assert_eq!(summary.guess.version, guess, "{name}: {:#?}", summary.guess.reasons);
        assert!(!summary.guess.reasons.is_empty());
        let Ok(expected) = std::fs::read(logpose_testkit::corpus("carla").join(format!("{name}.summary.json"))) else {
            continue;
        };
        let expected: Json = serde_json::from_slice(&expected).unwrap();
        assert_eq!(summary.frames as u64, expected["complete_frames"].as_u64().unwrap());
        assert_eq!(summary.map, expected["header"]["map"].as_str().unwrap().as_bytes());
        assert_eq!(summary.date, expected["header"]["date"].as_i64().unwrap());
        assert_eq!(summary.duration, expected["last_frame"]["elapsed"].as_f64().unwrap());
        assert!(summary.problems.is_empty());
        let actors = expected["actors"].as_object().unwrap();
        assert_eq!(summary.actors.values().sum::<usize>(), actors.len(), "{name}");
        for life in frames.lives() {
            let expected = &actors[&life.actor.to_string()];
            let number = |index: u32| frames.frames()[index as usize].start.frame;
            assert_eq!(Some(number(life.born)), expected["created_frame"].as_u64());
            assert_eq!(life.died.map(number), expected["destroyed_frame"].as_u64());
            assert_eq!(frames.birth(life).unwrap().blueprint, expected["blueprint"].as_str().unwrap().as_bytes());
        }
        let hits = expected["collisions"].as_array().unwrap();
        let contacts = collisions(&frames);
        assert_eq!(contacts.len(), hits.len(), "{name}");
        for (contact, hit) in contacts.iter().zip(hits) {
            assert_eq!(Some(contact.frame), hit["frame"].as_u64());
            assert_eq!(contact.actor1.actor.map(u64::from), hit["actor1_id"].as_u64());
            assert_eq!(contact.actor2.blueprint, b"vehicle.mini.cooperst");
        }
    }
}

#[test]
fn guesses_by_what_there_is() {
    let guess =
        |version: u16, frames: &[Vec<u8>]| Guess::of(&Frames::scan(&recording(version, frames)).unwrap()).version;
    let role = |attribute_type: u8| EventAdd {
        attributes: Attributes(vec![Attribute { attribute_type, id: b"role_name", value: b"x" }]),
        ..actor(1, 1, "vehicle.a")
    };
    let form = WireFormat { ids: Ids::B, ..WireFormat::default() };
    let doors = |form| {
        let mut out = Vec::new();
        emit_records::<VehicleDoor>(&[], form, &mut out);
        out
    };
    let place = packet(&[position(1, 0.0, 0.0)]);
    let dev = |kind: u8| packets(&[packet(&[role(kind)]), doors(form), place.clone()]);
    assert_eq!(guess(1, &[dev(3)]), "UE4 development between November 2023 and July 2024");
    assert_eq!(guess(1, &[dev(4)]), "UE4 development between July 2024 and March 2025");
    assert_eq!(guess(2, &[doors(WireFormat::default())]), "0.9.16");
    let weather = packet(&[Weather { values: [0.0; 14] }]);
    assert_eq!(guess(2, &[weather]), "0.9.16 development after February 2026");
    let mut wide = Vec::new();
    let vectors = WireFormat { vectors: Vectors::F64, ..WireFormat::default() };
    emit_records(&[position(1, 0.0, 0.0)], vectors, &mut wide);
    assert_eq!(guess(1, &[packets(&[doors(vectors), wide.clone()])]), "UE5 development after May 2026");
    assert_eq!(guess(1, &[packets(&[doors(form), wide])]), "0.10.0, or UE5 development before May 2026");
    // Until 0.9.12 a wall is 0; the clock stands in April 2019.
    let lamps = packet::<VehicleLight>(&[]);
    assert_eq!(guess(1, &[packets(&[packet(&[collision(1, 0)]), lamps.clone()])]), "0.9.10 to 0.9.12");
    assert_eq!(guess(1, &[packets(&[packet(&[collision(1, u32::MAX)]), lamps])]), "0.9.13");
    // No release writes both.
    let clock = logpose_testkit::hex("14 08 00 00 00 00 00 00 00 00 00 29 40");
    let both = packets(&[packet(&[collision(1, 0)]), clock]);
    assert_eq!(guess(1, &[both]), "unknown: the contents match no release");
}

/// What every packet holds, written again.
fn rewritten(packet: &Packet<'_>, form: WireFormat) -> Vec<u8> {
    fn records<'a, R: Record<'a>>(records: &Records<'a, R>) -> Vec<u8> {
        let mut out = Vec::new();
        emit_records(&records.iter().collect::<Vec<_>>(), records.wire_format(), &mut out);
        out
    }
    let fixed = |body: &[u8]| {
        let mut out = Vec::new();
        Packet { at: 0, id: packet.id, body }.emit(&mut out);
        out
    };
    match packet.decode(form).unwrap() {
        Body::FrameStart(start) => {
            let mut out = Vec::new();
            start.emit(&mut out);
            out
        }
        Body::FrameEnd => fixed(&[]),
        Body::PlatformTime(time) | Body::VisualTime(time) => fixed(&time.to_le_bytes()),
        Body::FrameCounter(count) => fixed(&count.to_le_bytes()),
        Body::Unknown(bytes) => fixed(bytes),
        Body::EventAdd(r) => records(&r),
        Body::EventDel(r) => records(&r),
        Body::EventParent(r) => records(&r),
        Body::Collision(r) => records(&r),
        Body::Position(r) => records(&r),
        Body::TrafficLightState(r) => records(&r),
        Body::VehicleAnim(r) => records(&r),
        Body::WalkerAnim(r) => records(&r),
        Body::VehicleLight(r) => records(&r),
        Body::SceneLight(r) => records(&r),
        Body::Kinematics(r) => records(&r),
        Body::BoundingBox(r) => records(&r),
        Body::PhysicsControl(r) => records(&r),
        Body::TrafficLightTime(r) => records(&r),
        Body::TriggerVolume(r) => records(&r),
        Body::WalkerBones(r) => records(&r),
        Body::VehicleWheels(r) => records(&r),
        Body::BikerAnim(r) => records(&r),
        Body::VehicleDoor(r) => records(&r),
        Body::Weather(r) => records(&r),
    }
}

on_recordings!(check_packets: every_packet_is_written_as_it_was_read, real_packets_are_written_as_they_were_read);

fn check_packets(name: &str, log: &[u8]) {
    let reader = Reader::new(log).unwrap();
    let form = reader.wire_format();
    let mut out = Vec::new();
    reader.header().emit(&mut out);
    for packet in reader.map_while(Result::ok) {
        let bytes = rewritten(&packet, form);
        assert_eq!(bytes, log[packet.at as usize..packet.end() as usize], "{name} at {:#x}", packet.at);
        out.extend_from_slice(&bytes);
    }
    let whole = if name == "sample_custom_truncated.log" { 2284 } else { log.len() };
    assert!(out == log[..whole], "{name}");
}

/// Everything that reads a recording, on bytes that may be anything.
pub(crate) fn all_queries(log: &[u8]) {
    let Ok(queries) = Queries::new(log) else { return };
    let mut sink = std::io::sink();
    queries.info(true, &mut sink).unwrap();
    queries.collisions(Filter::Any, Filter::Any, &mut sink).unwrap();
    queries.blocked(Blocking { min_time: 0.0, min_distance_cm: 1e9 }, &mut sink).unwrap();
    let Ok(frames) = Frames::scan(log) else { return };
    let _ = Summary::of(&frames);
    let _ = blocked(&frames, Blocking { min_time: 0.0, min_distance_cm: 1e9 });
    crate::state::at_many_times(&frames);
    crate::replay_trace::to_the_end(&frames);
}

/// Every prefix of the small recordings, in tests of their own so that they run beside each other.
fn every_prefix(log: &[u8]) {
    logpose_testkit::every_prefix(log, all_queries);
}

#[test]
fn every_prefix_of_everything() {
    ["all-packets.log", "ue5.log", "attached.log"].iter().for_each(|name| every_prefix(&FIXTURES.log("valid", name)));
}

#[test]
fn every_single_byte_of_ours_wrong() {
    logpose_testkit::every_flip(&FIXTURES.log("valid", "traffic.log"), &[0x01, 0xff], |_, log| all_queries(log));
}

#[test]
fn every_prefix_of_the_smallest() {
    every_prefix(&smallest());
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_prefix_of_ue4() {
    every_prefix(&sample("sample_0_9_16_full"));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_prefix_of_ue5() {
    every_prefix(&sample("sample_ue5_0_10_0"));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_prefix_of_a_cut_recording() {
    every_prefix(&sample("sample_custom_truncated"));
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_single_byte_wrong() {
    let mut log = sample("sample_custom_truncated");
    for at in 0..log.len() {
        for wrong in [0xff, log[at] ^ 0x01] {
            let right = std::mem::replace(&mut log[at], wrong);
            all_queries(&log);
            log[at] = right;
        }
    }
}
