//! Tracks mark every frame with the state at its beginning.

use std::collections::BTreeMap;
use std::sync::Arc;

use logpose_carla::{EventAdd, EventDel, EventParent, Frames, Mark, Mode, State, Tracks, UNKNOWN_LIGHT, Vector};

use crate::queries::{actor, packet, packets, position, recording};

fn demo() -> Vec<u8> {
    logpose_sim::junction(1, 20.0).unwrap()
}

/// The actors of a state as marks.
fn marks(state: &State<'_>) -> BTreeMap<u32, Mark> {
    let mark = |actor: &logpose_carla::ActorState<'_>| {
        let norm = |v: Vector| v.array().iter().map(|part| part * part).sum::<f64>().sqrt();
        let unknown = if actor.class.name() == "traffic_light" { UNKNOWN_LIGHT } else { 0 };
        let lights = actor.light.map(|light| light.state.into()).or(actor.lamps).unwrap_or(unknown);
        let speed = actor.velocity.map(|velocity| norm(velocity.linear)).or(actor.walker_speed);
        (actor.actor, Mark { actor: actor.actor, pose: actor.pose, speed, lights })
    };
    state.actors.iter().map(mark).collect()
}

/// Compares every frame of a recording, starting with the one at `first`.
fn check(name: &str, log: &[u8], first: usize) -> usize {
    let Ok(frames) = Frames::scan(log) else { return 0 };
    let count = frames.frames().len();
    let mut tracks = Tracks::over(&frames, first..count);
    let (mut held, mut out, mut compared) = (BTreeMap::new(), Vec::new(), 0);
    for place in first..count {
        out.clear();
        tracks.marks_at(place, &mut out);
        assert!(out.is_sorted_by_key(|mark| mark.actor), "{name}: frame {place}");
        let begins = frames.frames()[place].start.elapsed;
        let Some(state) = State::at(&frames, begins, Mode::True).filter(|state| state.frame == place) else { continue };
        let expected = marks(&state);
        held.retain(|actor, _| expected.contains_key(actor));
        held.extend(out.iter().map(|mark| (mark.actor, *mark)));
        // By their texts, because NaN equals nothing. Arithmetic loses the sign of zeros.
        let text = |marks: &BTreeMap<u32, Mark>| format!("{marks:?}").replace(": -0.0", ": 0.0");
        assert!(text(&held) == text(&expected), "{name}: frame {place}: {held:#?} is not {expected:#?}");
        compared += expected.len();
    }
    compared
}

#[test]
fn every_frame_is_as_its_state() {
    let compared = check("junction", &demo(), 0) + check("junction", &demo(), 200);
    assert!(compared > 10_000, "{compared}");
}

on_recordings!(check_tracks: every_frame_of_ours_is_as_its_state, every_real_frame_is_as_its_state);

fn check_tracks(name: &str, log: &[u8]) {
    assert!(check(name, log, 0) + check(name, log, 1) > 0, "{name}");
}

#[test]
fn still_actors_are_marked_once() {
    let log = demo();
    let frames = Frames::scan(&log).unwrap();
    let mut tracks = Tracks::over(&frames, 0..frames.frames().len());
    let mut out = Vec::new();
    (0..frames.frames().len()).for_each(|place| tracks.marks_at(place, &mut out));
    let rows = |actor: u32| out.iter().filter(|mark| mark.actor == actor).count();
    assert_eq!(rows(3), 1, "a sign");
    assert_eq!(rows(2), 3, "a light that turns from green to yellow to red");
    assert_eq!(rows(10), frames.frames().len(), "a vehicle");
    assert_eq!(rows(13), frames.frames().len(), "a sensor on it");
}

#[test]
fn an_id_that_is_used_again_is_another_actor() {
    let stand = |x: f64| packet(&[position(7, x, 0.0)]);
    let log = recording(
        1,
        &[
            packets(&[packet(&[actor(7, 1, "vehicle.a")]), stand(0.0)]),
            packets(&[packet(&[EventDel { actor: 7 }]), packet(&[actor(7, 2, "walker.b")]), stand(900.0)]),
            stand(950.0),
        ],
    );
    let frames = Frames::scan(&log).unwrap();
    let mut tracks = Tracks::over(&frames, 0..3);
    let mut out = Vec::new();
    tracks.marks_at(0, &mut out);
    assert_eq!((out.len(), out[0].speed), (1, None), "where the other stands says nothing of its speed");
    tracks.marks_at(1, &mut out);
    assert_eq!((out.len(), out[1].pose.x, out[1].speed), (2, 9.0, Some(1.0)));
}

#[test]
fn those_that_hang_on_each_other_stay_where_they_are() {
    let add = |id: u32| EventAdd { location: Vector::new(100.0, 0.0, 0.0), ..actor(id, 5, "sensor.x") };
    let tie = |actor: u32, parent: u32| EventParent { actor, parent };
    let log =
        recording(1, &[packets(&[packet(&[add(1), add(2), add(3)]), packet(&[tie(1, 2), tie(2, 1), tie(3, 3)])])]);
    assert_eq!(check("a ring", &log, 0), 3);
}

#[test]
fn what_was_found_is_good_for_the_same_bytes() {
    let log = demo();
    let found = Frames::scan(&log).unwrap().found();
    let frames = Frames::of(&log, Arc::clone(&found)).unwrap();
    assert_eq!(frames.frames().len(), 400);
    assert_eq!(frames.header().map, b"Junction");
    // Others give less, and do no harm.
    let cut = Frames::of(&log[..2000], found).unwrap();
    let mut out = Vec::new();
    let mut tracks = Tracks::over(&cut, 0..400);
    (0..400).for_each(|place| tracks.marks_at(place, &mut out));
}
