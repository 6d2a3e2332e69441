//! Recordings out of recordings.

use std::collections::{BTreeMap, BTreeSet};

use logpose_carla::*;
use logpose_core::Problems;

use crate::fixtures::{logs_in, traffic};

fn fixture(name: &str) -> Vec<u8> {
    logs_in("valid").into_iter().find(|(found, _)| found == name).map(|(_, log)| log).expect(name)
}

fn edited(edit: &Edit, log: &[u8]) -> Vec<u8> {
    let frames = Frames::scan(log).expect("whole");
    let out = edit.apply(&frames).and_then(Edited::into_bytes).unwrap_or_else(|error| panic!("{edit:?}: {error}"));
    assert_valid(&out);
    out
}

fn joined(first: &[u8], second: &[u8]) -> Result<Vec<u8>, EditError> {
    let (a, b) = (Frames::scan(first).expect("whole"), Frames::scan(second).expect("whole"));
    let out = concatenate(&a, &b)?.into_bytes()?;
    assert_valid(&out);
    Ok(out)
}

fn crop(from: f64, to: f64) -> Edit {
    Edit { from: Some(from), to: Some(to), ..Edit::default() }
}

fn drop(who: &[Who]) -> Edit {
    Edit { drop: who.to_vec(), ..Edit::default() }
}

/// Nothing is wrong with it, and every record is about an actor that is there.
fn assert_valid(log: &[u8]) {
    let mut problems = Problems::default();
    let salvage = salvage(log, &mut problems).expect("a recording");
    assert_eq!(problems.list(), []);
    let frames = Frames::scan(log).expect("a recording");
    let mut living = BTreeSet::new();
    for frame in 0..salvage.frames().len() {
        for packet in frames.packets(frame) {
            let about = actors(&packet, frames.wire_format());
            match packet.kind(frames.wire_format()) {
                Some(Kind::EventAdd) => {
                    about.iter().for_each(|actor| assert!(living.insert(*actor), "{actor} is added twice"))
                }
                _ => about.iter().for_each(|a| assert!(living.contains(a), "{a} of packet {} is not there", packet.id)),
            }
            if packet.kind(frames.wire_format()) == Some(Kind::EventDel) {
                about.iter().for_each(|actor| assert!(living.remove(actor)));
            }
        }
    }
}

/// The actors of a packet.
fn actors(packet: &Packet<'_>, form: WireFormat) -> Vec<u32> {
    macro_rules! each {
        ($($kind:ident)*) => {
            match packet.decode(form).expect("it can be read") {
                $(Body::$kind(records) => records.iter().flat_map(|record| record.actors()).flatten().collect(),)*
                _ => Vec::new(),
            }
        };
    }
    each!(EventAdd EventDel EventParent Collision Position TrafficLightState VehicleAnim WalkerAnim VehicleLight Kinematics
        BoundingBox PhysicsControl TrafficLightTime TriggerVolume WalkerBones VehicleWheels BikerAnim VehicleDoor)
}

/// Where everybody is in a frame.
fn poses(log: &[u8], frame: usize) -> BTreeMap<u32, [f64; 6]> {
    match Frames::scan(log).expect("whole").packet(frame, Kind::Position) {
        Some(Body::Position(records)) => records
            .iter()
            .map(|r| {
                (r.actor, [r.location.x, r.location.y, r.location.z, r.rotation.roll, r.rotation.pitch, r.rotation.yaw])
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edit_of_nothing_changes_nothing() {
    logs_in("valid").iter().for_each(|(name, log)| check_no_edit(name, log));
}

on_recordings!(check_no_edit: an_edit_of_nothing_leaves_ours_alone, an_edit_of_nothing_leaves_real_ones_alone);

fn check_no_edit(name: &str, log: &[u8]) {
    let frames = Frames::scan(log).expect(name);
    match Edit::default().apply(&frames) {
        Ok(same) => assert!(same.into_bytes().expect(name) == log, "{name}"),
        Err(error) => assert!(name.contains("truncated"), "{name}: {error}"),
    }
}

#[test]
fn the_map_gets_another_name() {
    let log = traffic();
    let renamed = edited(&Edit { map: Some("Town10HD".into()), ..Edit::default() }, &log);
    assert_eq!(Frames::scan(&renamed).expect("whole").header().map, b"Town10HD");
    assert_eq!(renamed[36..], log[34..]);
    let frames = Frames::scan(&log).expect("whole");
    let error = Edit { map: Some("x".repeat(65_536)), ..Edit::default() }.apply(&frames).unwrap_err();
    assert_eq!(error.to_string(), "the map has 65536 bytes; the limit is 65535");
}

#[test]
fn a_crop_begins_anew_with_everybody_where_they_are() {
    let log = traffic();
    let part = edited(&crop(0.13, 0.28), &log);
    let (old, new) = (Frames::scan(&log).expect("whole"), Frames::scan(&part).expect("whole"));
    let starts: Vec<_> = new.frames().iter().map(|frame| (frame.start.frame, frame.start.duration > 0.0)).collect();
    assert_eq!(starts, [(1, true), (2, true), (3, false)]);
    assert_eq!(new.frames()[0].start.elapsed, 0.0);
    assert_eq!(new.header().date, old.header().date);
    let added: Vec<_> = new.lives().iter().map(|life| (life.actor, life.born)).collect();
    assert_eq!(added, [(24, 0), (25, 0), (26, 0)]);
    for frame in 0..3 {
        assert_eq!(poses(&part, frame), poses(&log, frame + 3));
    }
    let hero = new.birth(&new.lives()[0]).expect("there");
    assert!(hero.is_hero());
    assert_eq!(hero.location.array()[..], poses(&log, 3)[&24][..3]);
    // The collision of the sixth frame is now in the third.
    assert!(matches!(new.packet(2, Kind::Collision), Some(Body::Collision(records)) if records.len() == 1));
}

#[test]
fn whole_seconds_go_to_the_date() {
    let log = fixture("attached.log");
    let part = edited(&crop(2.5, 3.0), &log);
    let (old, new) = (Frames::scan(&log).expect("whole"), Frames::scan(&part).expect("whole"));
    assert_eq!(new.header().date, old.header().date + 2);
    let Some(Body::PlatformTime(first)) = new.packet(0, Kind::PlatformTime) else { panic!("no time") };
    let Some(Body::PlatformTime(second)) = new.packet(1, Kind::PlatformTime) else { panic!("no time") };
    assert_eq!((first, second), (0.0, 0.5));
}

#[test]
fn what_is_attached_stays_attached() {
    let log = fixture("attached.log");
    let early = edited(&crop(0.5, 1.0), &log);
    let frames = Frames::scan(&early).expect("whole");
    let parents: Vec<_> = frames.parents().iter().map(|made| (made.frame, made.actor, made.parent)).collect();
    assert_eq!(parents, [(0, 11, 10)]);
    // The pose of the camera is relative to the vehicle.
    assert_eq!(frames.birth(&frames.lives()[1]).expect("there").location, Vector::new(-500.0, 0.0, 25.0));

    // Id 10 is another vehicle later.
    let late = edited(&crop(2.5, 3.5), &log);
    let frames = Frames::scan(&late).expect("whole");
    assert_eq!(frames.birth(&frames.lives()[0]).expect("there").blueprint, b"vehicle.bh.crossbike");
    let parents: Vec<_> = frames.parents().iter().map(|made| (made.frame, made.actor, made.parent)).collect();
    assert_eq!(parents, [(0, 12, 10)]);
    assert_eq!(frames.change(Kind::BoundingBox, 10, 0).map(|change| change.frame), Some(0));

    // In the frame in which both go, they are not there any more.
    let gone = edited(&crop(1.5, 1.6), &log);
    assert_eq!(Frames::scan(&gone).expect("whole").lives(), []);
}

#[test]
fn lasting_state_is_in_the_first_frame_of_a_crop() {
    for name in ["0.9.13.log", "physics-w36.log", "ue5.log", "ue5-weather.log"] {
        let log = fixture(name);
        let part = edited(&crop(0.1, 1.0), &log);
        let (old, new) = (Frames::scan(&log).expect("whole"), Frames::scan(&part).expect("whole"));
        assert_eq!(new.wire_format(), old.wire_format(), "{name}");
        let mut keys: Vec<_> = old.changes().map(|(key, _)| key).collect();
        keys.sort_unstable();
        assert!(keys.len() >= 6, "{name}: {keys:?}");
        for (kind, key) in keys {
            let (before, after) = (old.change(kind, key, 2).expect("there"), new.change(kind, key, 0).expect("there"));
            macro_rules! same {
                ($($name:ident)*) => {
                    match kind {
                        $(Kind::$name => assert_eq!(old.record::<$name>(before.at), new.record::<$name>(after.at)),)*
                        _ => panic!("{kind:?}"),
                    }
                };
            }
            same!(SceneLight BoundingBox PhysicsControl TrafficLightTime TriggerVolume VehicleDoor Weather);
        }
        // The packets that came with it stand where they belong.
        let ids: Vec<u8> = new.packets(0).map(|packet| packet.id).collect();
        let order: Vec<u8> = old.packets(0).map(|packet| packet.id).filter(|id| ids.contains(id)).collect();
        assert_eq!(ids, order, "{name}");
    }
}

#[test]
fn actors_go_with_all_that_is_about_them() {
    let log = traffic();
    let all = Frames::scan(&log).expect("whole").lives().len();
    let cases: [(Who, usize); 6] = [
        (Who::Id(24), 1),
        (Who::Class(ActorType::Walker), 1),
        (Who::Blueprint("*.tesla.*".into()), 1),
        (Who::Blueprint("traffic.traffic_ligh?".into()), 1),
        (Who::Role("hero".into()), 1),
        (Who::Blueprint("vehicle".into()), 0),
    ];
    for (who, gone) in cases {
        let part = edited(&drop(std::slice::from_ref(&who)), &log);
        assert_eq!(Frames::scan(&part).expect("whole").lives().len(), all - gone, "{who:?}");
    }
    let without = edited(&drop(&[Who::Id(26)]), &log);
    let frames = Frames::scan(&without).expect("whole");
    for frame in 0..frames.frames().len() {
        assert!(matches!(frames.packet(frame, Kind::Collision), Some(Body::Collision(records)) if records.is_empty()));
        assert!(frames.packets(frame).all(|packet| !actors(&packet, frames.wire_format()).contains(&26)));
    }
    let nobody = edited(&drop(&ActorType::ALL.map(Who::Class)), &log);
    assert_eq!(Frames::scan(&nobody).expect("whole").lives(), []);
}

#[test]
fn what_hangs_on_an_actor_goes_with_it() {
    let log = fixture("attached.log");
    let part = edited(&drop(&[Who::Blueprint("vehicle.a".into())]), &log);
    let frames = Frames::scan(&part).expect("whole");
    let left: Vec<_> = frames.lives().iter().filter_map(|life| frames.birth(life)).map(|birth| birth.actor).collect();
    // The other vehicle with the same id stays, and so does its sensor.
    assert_eq!(left, [10, 12]);
    let both = edited(&Edit { from: Some(1.0), drop: vec![Who::Id(10)], ..Edit::default() }, &log);
    assert_eq!(Frames::scan(&both).expect("whole").lives(), []);
}

#[test]
fn one_recording_after_another() {
    let log = traffic();
    let both = joined(&log, &log).expect("of one kind");
    let (one, two) = (Frames::scan(&log).expect("whole"), Frames::scan(&both).expect("whole"));
    assert_eq!(two.frames().len(), 16);
    assert_eq!(two.frames()[15].start.frame, 16);
    let tick = f64::from(0.05_f32);
    assert!((two.total() - 15.0 * tick).abs() < 1e-9);
    assert!((two.frames()[7].start.duration - tick).abs() < 1e-9);
    // Hero and light are the same and live on; the walker comes twice.
    let lives: Vec<_> = two.lives().iter().map(|life| (life.actor, life.born, life.died)).collect();
    assert_eq!(lives, [(24, 0, None), (25, 0, None), (26, 2, Some(6)), (26, 10, Some(14))]);
    for frame in 0..8 {
        assert_eq!(poses(&both, frame + 8), poses(&log, frame));
    }
    assert_eq!(one.header(), two.header());
}

#[test]
fn at_a_seam_others_are_destroyed_and_clashing_ids_change() {
    let make = |blueprint| {
        let options = RecordingOptions { map: "Town03", ..RecordingOptions::default() };
        let mut log = Recording::new(&options).expect("a map");
        log.tick(0.05).expect("in order");
        let car = log.spawn(&Spawn { blueprint, id: Some(5), ..Spawn::default() }).expect("free");
        let other = log.spawn(&Spawn { blueprint: "vehicle.z", ..Spawn::default() }).expect("free");
        log.attach(other, car).expect("there");
        log.tick(0.05).expect("in order");
        log.collide(car, Some(other)).expect("there");
        log.finish().expect("whole")
    };
    let both = joined(&make("vehicle.a"), &make("vehicle.b")).expect("of one kind");
    let frames = Frames::scan(&both).expect("whole");
    let lives: Vec<_> = frames.lives().iter().map(|life| (life.actor, life.born, life.died)).collect();
    assert_eq!(lives, [(5, 0, Some(2)), (6, 0, None), (7, 2, None)]);
    let parents: Vec<_> = frames.parents().iter().map(|made| (made.frame, made.actor, made.parent)).collect();
    assert_eq!(parents, [(0, 6, 5), (2, 6, 7)]);
    let Some(Body::Collision(hits)) = frames.packet(3, Kind::Collision) else { panic!("no collision") };
    assert_eq!(hits.iter().map(|hit| (hit.actor1, hit.actor2)).collect::<Vec<_>>(), [(7, 6)]);
}

#[test]
fn what_does_not_fit_is_refused_in_a_sentence() {
    let say = |first: &str, second: &str| joined(&fixture(first), &fixture(second)).unwrap_err().to_string();
    assert_eq!(say("traffic.log", "all-packets.log"), "the maps differ: \"Town03\" and \"Città\"");
    assert_eq!(
        say("traffic.log", "attached.log"),
        "the versions in the headers differ, so the recordings cannot be joined"
    );
    assert_eq!(say("attached.log", "ue5.log"), "the numberings of packets differ, so the recordings cannot be joined");
    assert_eq!(
        say("attached.log", "ue5-weather.log"),
        "the widths of vectors differ, so the recordings cannot be joined"
    );
    let log = traffic();
    let frames = Frames::scan(&log).expect("whole");
    let error = crop(7.0, 9.0).apply(&frames).unwrap_err().to_string();
    assert_eq!(error, "no frame between 7 s and 9 s; the recording has 8 frames, the last at 0.3500000052154064 s");
    let refused = |name: &str| {
        let log = logs_in("corrupt").into_iter().find(|(found, _)| found == name).expect(name).1;
        let frames = Frames::scan(&log).expect(name);
        drop(&[Who::Id(24)]).apply(&frames).and_then(Edited::into_bytes).unwrap_err().to_string()
    };
    assert_eq!(
        refused("cut-in-packet.log"),
        "the recording is damaged (byte 0x410: packet body needs 23 bytes, 20 left); run `logpose recover` first"
    );
    assert_eq!(
        refused("cut-in-frame.log"),
        "byte 0x36e: the recording is truncated inside frame 4; run `logpose recover` first"
    );
    let time = refused("elapsed-flipped.log");
    assert!(time.contains(" has the invalid time ") && time.ends_with(" s; run `logpose recover` first"), "{time}");
    assert_eq!(
        refused("absurd-total.log"),
        "byte 0x40b: packet 8 has 23 bytes, its 65535 records take 1376237; its actors are unknown, so run `logpose recover` first"
    );
}

on_recordings!(check_edits: recordings_are_cropped_thinned_and_joined, real_recordings_are_cropped_thinned_and_joined);

fn check_edits(name: &str, log: &[u8]) {
    let frames = Frames::scan(log).expect(name);
    if frames.stop().is_some() {
        return;
    }
    let total = frames.total();
    let part = edited(&crop(total / 3.0, total / 2.0), log);
    let start = frames.frames().partition_point(|frame| frame.start.elapsed < total / 3.0);
    // By their texts, because NaN equals nothing.
    assert_eq!(format!("{:?}", poses(&part, 0)), format!("{:?}", poses(log, start)), "{name}");
    let there = frames.lives().iter().filter(|life| life.covers(u32::try_from(start).expect("small"))).count();
    let cropped = Frames::scan(&part).expect(name);
    assert_eq!(cropped.lives().iter().filter(|life| life.born == 0).count(), there, "{name}");
    let thin = edited(&drop(&[Who::Class(ActorType::Vehicle), Who::Blueprint("static.*".into())]), log);
    assert!(thin.len() < log.len(), "{name}");
    joined(log, &part).unwrap_or_else(|error| panic!("{name}: {error}"));
}
