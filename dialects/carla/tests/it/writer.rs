//! What the writers write, and what they refuse.

use logpose_carla::*;

use crate::fixtures::real;

fn recording(target: Target, additional_data: bool) -> Recording {
    let mut log = Recording::new(&RecordingOptions { target, map: "Town01", date: 0, additional_data }).expect("a map");
    log.tick(0.05).expect("in order");
    log
}

fn ids(log: &[u8], frame: usize) -> Vec<u8> {
    Frames::scan(log).expect("whole").packets(frame).map(|packet| packet.id).collect()
}

/// The table of section 8, with those packets that are there also when empty.
#[test]
fn every_build_gets_its_packets_in_its_order() {
    let table: &[(Target, bool, &[u8])] = &[
        (Target::V0_9_4, false, &[0, 2, 3, 4, 5, 6, 7, 1]),
        (Target::V0_9_6, false, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 1]),
        (Target::V0_9_9, false, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 1]),
        (Target::V0_9_10, false, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1]),
        (Target::V0_9_13, true, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 1]),
        (Target::V0_9_14, true, &[0, 20, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 19, 1]),
        (Target::V0_9_15, false, &[0, 20, 2, 3, 4, 5, 6, 7, 8, 9, 10, 21, 22, 1]),
        (Target::V0_9_16, false, &[0, 20, 2, 3, 4, 5, 23, 6, 7, 8, 9, 10, 21, 22, 1]),
        (Target::V0_9_16, true, &[0, 20, 2, 3, 4, 5, 23, 6, 7, 8, 9, 10, 21, 22, 13, 14, 19, 1]),
        (Target::V0_10, true, &[0, 20, 2, 3, 4, 5, 21, 6, 7, 8, 9, 10, 22, 23, 13, 14, 19, 1]),
        (Target::Ue5Dev, false, &[0, 20, 2, 3, 4, 5, 23, 6, 7, 8, 9, 10, 21, 22, 1]),
    ];
    for (target, extra, expected) in table {
        let log = recording(*target, *extra).finish().expect("whole");
        assert_eq!(ids(&log, 0), *expected, "{}", target.name());
    }
}

/// A recording of a build, made by a server, has the packets that we would write for it.
#[test]
#[ignore = "needs the corpus of real logs"]
fn real_recordings_have_the_packets_of_their_build() {
    let builds = [
        ("0.9.6", Target::V0_9_6),
        ("0.9.10", Target::V0_9_10),
        ("0.9.13", Target::V0_9_13),
        ("0.9.15", Target::V0_9_15),
    ];
    for (name, log) in real() {
        let Some((_, target)) = builds.iter().find(|(build, _)| name.contains(&format!("{build}."))) else { continue };
        let frames = Frames::scan(&log).expect(&name);
        let extra = frames.packet(1, Kind::PlatformTime).is_some();
        let ours = ids(&recording(*target, extra).finish().expect("whole"), 0);
        for frame in 0..frames.frames().len() {
            let optional = [11, 12, 15, 16, 17];
            let theirs: Vec<u8> =
                frames.packets(frame).map(|packet| packet.id).filter(|id| !optional.contains(id)).collect();
            assert_eq!(theirs, ours, "frame {frame} of {name}");
        }
        // The same frames, with the times that CARLA's rule gives, are the same bytes.
        let (first, second) = (frames.frames()[0].start, frames.frames()[1].start);
        assert_eq!((first.frame, first.elapsed, second.elapsed), (1, 0.0, first.duration), "{name}");
    }
}

on_recordings!(check_records: recordings_are_written_again_by_their_records, real_recordings_are_written_again_by_their_records);

/// Written from its records, packet by packet, it is the same recording.
fn check_records(name: &str, log: &[u8]) {
    macro_rules! write {
        ($writer:ident, $packet:ident, $body:ident, $($kind:ident)*) => {
            match $body {
                $(Body::$kind(records) => {
                    let mut all: Vec<_> = records.iter().collect();
                    $writer.records(&std::mem::take(&mut all))
                })*
                Body::VisualTime(seconds) => $writer.visual_time(seconds),
                Body::PlatformTime(seconds) => $writer.platform_time(seconds),
                _ => $writer.raw($packet.id, $packet.body),
            }
        };
    }
    let frames = Frames::scan(log).expect(name);
    let mut writer = Writer::new(&frames.header(), frames.wire_format()).expect(name);
    let mut out = Vec::new();
    let mut tick = 0.0;
    for (n, frame) in frames.frames().iter().enumerate() {
        writer.tick(tick).expect(name);
        tick = narrow(frame.start.duration);
        for packet in frames.packets(n) {
            if packet.id <= 1 {
                continue;
            }
            let body = packet.decode(frames.wire_format()).expect(name);
            let written = write!(writer, packet, body,
                    EventAdd EventDel EventParent Collision Position TrafficLightState VehicleAnim WalkerAnim VehicleLight
                    SceneLight Kinematics BoundingBox PhysicsControl TrafficLightTime TriggerVolume WalkerBones
                    VehicleWheels BikerAnim VehicleDoor Weather);
            written.unwrap_or_else(|error| panic!("{name}: frame {}, byte {}: {error}", frame.start.frame, packet.at));
        }
        writer.end_frame().expect(name);
        out.extend(writer.take());
    }
    out.extend(writer.finish().expect(name));
    let end = frames.frames().last().map_or(0, |last| usize::try_from(last.end).expect("small"));
    let mut expected = log[..end].to_vec();
    if frames.stop().is_some() {
        // The sample that is cut: its last whole frame was not the last.
        let at = usize::try_from(frames.frames().last().expect("some").at).expect("small") + 13;
        expected[at..at + 8].copy_from_slice(&OPEN_DURATION.to_le_bytes());
    }
    assert!(out == expected, "{name}");
}

#[test]
fn metres_become_centimetres_and_attributes_get_the_numbers_of_the_build() {
    let cases = [(Target::V0_9_15, 3, 1), (Target::V0_9_16, 4, 1), (Target::V0_10, 3, 1)];
    for (target, string, vehicle) in cases {
        let mut log = recording(target, false);
        let attributes = [(AttributeType::String, "role_name", "hero")];
        let location = Vector::new(1.5, -2.25, 0.125);
        let car = Spawn { blueprint: "vehicle.a", attributes: &attributes, location, ..Spawn::default() };
        log.spawn(&car).expect("free");
        let log = log.finish().expect("whole");
        let frames = Frames::scan(&log).expect("whole");
        assert_eq!(frames.wire_format(), target.wire_format());
        let birth = frames.birth(&frames.lives()[0]).expect("there");
        assert_eq!(birth.location, Vector::new(150.0, -225.0, 12.5));
        assert_eq!((birth.attributes.0[0].attribute_type, birth.actor_type), (string, vehicle));
        assert!(birth.is_hero());
    }
}

#[test]
fn the_state_of_an_actor_lasts_until_it_changes() {
    let mut log = recording(Target::V0_9_16, false);
    let car = log.spawn(&Spawn { blueprint: "vehicle.a", ..Spawn::default() }).expect("free");
    log.control(car, Controls { throttle: 0.5, ..Controls::default() }).expect("there");
    log.tick(0.05).expect("in order");
    log.tick(0.05).expect("in order");
    log.control(car, Controls::default()).expect("there");
    let log = log.finish().expect("whole");
    let frames = Frames::scan(&log).expect("whole");
    let throttle = |frame| match frames.packet(frame, Kind::VehicleAnim) {
        Some(Body::VehicleAnim(records)) => records.iter().map(|record| record.throttle).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!([throttle(0), throttle(1), throttle(2)], [[0.5], [0.5], [0.0]]);
}

#[test]
fn the_builder_refuses() {
    let say = |error: WriteError| error.to_string();
    let options = RecordingOptions { target: Target::V0_9_6, ..RecordingOptions::default() };
    let mut log = Recording::new(&options).expect("a map");
    assert_eq!(log.spawn(&Spawn::default()), Err(WriteError::NoFrame));
    log.frame(1.0).expect("in order");
    let car = log.spawn(&Spawn { blueprint: "vehicle.a", ..Spawn::default() }).expect("free");
    let walker = log.spawn(&Spawn { blueprint: "walker.a", ..Spawn::default() }).expect("free");
    let errors = [
        log.frame(0.5).map_err(say).unwrap_err(),
        log.tick(-1.0).map_err(say).unwrap_err(),
        log.destroy(99).map_err(say).unwrap_err(),
        log.spawn(&Spawn { id: Some(car), ..Spawn::default() }).map_err(say).unwrap_err(),
        log.walk(car, 1.0).map_err(say).unwrap_err(),
        log.lamps(car, 1).map_err(say).unwrap_err(),
        log.velocity(car, Vector::default(), Vector::default()).map_err(say).unwrap_err(),
        log.place(car, Vector::new(f64::NAN, 0.0, 0.0), Rotation::default()).map_err(say).unwrap_err(),
        log.packet(77, &[]).map_err(say).unwrap_err(),
        log.attach(walker, 50).map_err(say).unwrap_err(),
        log.spawn(&Spawn { blueprint: &"x".repeat(70_000), ..Spawn::default() }).map_err(say).unwrap_err(),
        log.spawn(&Spawn { attributes: &[(AttributeType::Vector, "a", "0,0,0")], ..Spawn::default() })
            .map_err(say)
            .unwrap_err(),
        log.spawn(&Spawn { blueprint: "b", attributes: &[(AttributeType::Int, "", "1")], ..Spawn::default() })
            .map_err(say)
            .unwrap_err(),
    ];
    let expected = [
        "a frame at 0.5 s cannot follow one at 1 s",
        "a frame at 0 s cannot follow one at 1 s",
        "EventDel of frame 1 refers to actor 99, which does not exist",
        "actor 1 already exists",
        "actor 1 is a vehicle, which has no WalkerAnim records",
        "CARLA 0.9.6 has no VehicleLight packets",
        "CARLA 0.9.6 has no Kinematics packets",
        "the location of actor 1 is not finite",
        "packet id 77 is reserved; private packets use ids above 100",
        "EventParent of frame 1 refers to actor 50, which does not exist",
        "the blueprint has 70000 bytes; the limit is 65535",
        "CARLA 0.9.6 has no vector attributes",
        "an attribute of \"b\" has no name",
    ];
    assert_eq!(errors, expected);
    // What was refused left no trace.
    let log = log.finish().expect("whole");
    assert_eq!(Frames::scan(&log).expect("whole").lives().len(), 2);

    let mut full = recording(Target::V0_9_4, false);
    for _ in 0..65_535 {
        full.spawn(&Spawn { blueprint: "static.prop.box", ..Spawn::default() }).expect("free");
    }
    let error = full.spawn(&Spawn::default()).unwrap_err();
    assert_eq!(say(error), "frame 1 would have 65536 Position records; the limit of a packet is 65535");
    assert_eq!(full.spawn(&Spawn { id: Some(0), ..Spawn::default() }), Err(WriteError::NoActor(0)));
    assert_eq!(Frames::scan(&full.finish().expect("whole")).expect("whole").lives().len(), 65_535);

    let mut plain = recording(Target::V0_9_16, false);
    let car = plain.spawn(&Spawn { blueprint: "vehicle.a", ..Spawn::default() }).expect("free");
    let error = plain.velocity(car, Vector::default(), Vector::default()).unwrap_err();
    assert_eq!(say(error), "CARLA 0.9.16 has no Kinematics packets without additional data");
    let map = "x".repeat(65_536);
    let error = Recording::new(&RecordingOptions { map: &map, ..RecordingOptions::default() }).unwrap_err();
    assert_eq!(say(error), "the map has 65536 bytes; the limit is 65535");
    let mut other = recording(Target::V0_10, true);
    let car = other.spawn(&Spawn { blueprint: "vehicle.a", ..Spawn::default() }).expect("free");
    assert!(other.physics(car, PhysicsBody::Ue4(Box::default())).is_err());
}

#[test]
fn the_writer_refuses() {
    let header = Header { version: 1, date: 0, map: b"" };
    assert_eq!(
        Writer::new(&Header { version: 3, ..header }, WireFormat::default()).unwrap_err(),
        WriteError::Version(3)
    );
    let mut log = Writer::new(&header, WireFormat::default()).expect("a header");
    let stand = |actor| Position { actor, location: Vector::default(), rotation: Rotation::default() };
    assert_eq!(log.records(&[stand(1)]), Err(WriteError::NoFrame));
    log.begin_frame(2.0).expect("in order");
    assert_eq!(log.begin_frame(3.0), Err(WriteError::FrameOpen(1)));
    assert_eq!(log.raw(1, &[]), Err(WriteError::ReservedId(1)));
    let unknown = WriteError::UnknownActor { frame: 1, kind: Kind::Position, actor: 1 };
    assert_eq!(log.records(&[stand(1)]), Err(unknown));
    log.records(&[] as &[Position]).expect("in order");
    let order = WriteError::PacketOrder { kind: Kind::EventDel, after: Kind::Position };
    assert_eq!(log.records(&[EventDel { actor: 1 }]), Err(order));
    let again = WriteError::PacketOrder { kind: Kind::Position, after: Kind::Position };
    assert_eq!(log.records(&[] as &[Position]), Err(again));
    let lamp = SceneLight { light: 0, intensity: 0.0, color: [0.0; 4], on: true.into(), group: 0 };
    let many = WriteError::TooManyRecords { frame: 1, kind: Kind::SceneLight, count: 65_536 };
    assert_eq!(many.to_string(), "frame 1 would have 65536 SceneLight records; the limit of a packet is 65535");
    assert_eq!(log.records(&vec![lamp; 65_536]), Err(many));
    log.records(&vec![lamp; 65_535]).expect("as many as there can be");
    log.end_frame().expect("open");
    assert_eq!(log.end_frame(), Err(WriteError::NoFrame));
    assert_eq!(log.begin_frame(1.0), Err(WriteError::FrameOrder { elapsed: 1.0, last: 2.0 }));
    assert_eq!(
        log.begin_frame(f64::NAN).map_err(|error| error.to_string()),
        Err("a frame at NaN s cannot follow one at 2 s".into())
    );
    let log = log.finish().expect("whole");
    assert_eq!(Frames::scan(&log).expect("whole").frames().len(), 1);
}
