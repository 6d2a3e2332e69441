//! The junction behaves like one.

use std::collections::BTreeMap;

use logpose_carla::*;
use logpose_core::Problems;
use logpose_sim::junction;

/// Where somebody is, how fast, and half sizes.
#[derive(Clone, Copy, Debug)]
struct Actor {
    class: ActorType,
    at: (f64, f64),
    yaw: f64,
    speed: f64,
    half: (f64, f64),
}

#[derive(Debug)]
struct Moment {
    time: f64,
    actors: BTreeMap<u32, Actor>,
    hits: Vec<(u32, u32)>,
    lights: BTreeMap<u32, u8>,
}

fn moments(log: &[u8]) -> Vec<Moment> {
    let frames = Frames::scan(log).expect("whole");
    let mut moments = Vec::new();
    for (n, frame) in (0_u32..).zip(frames.frames()) {
        let at = usize::try_from(n).expect("small");
        let mut actors = BTreeMap::new();
        let living: BTreeMap<u32, ActorType> = frames
            .lives()
            .iter()
            .filter(|life| life.covers(n))
            .map(|life| (life.actor, frames.birth(life).expect("there").class()))
            .collect();
        let Some(Body::Position(positions)) = frames.packet(at, Kind::Position) else { panic!("no positions") };
        let Some(Body::Kinematics(speeds)) = frames.packet(at, Kind::Kinematics) else { panic!("no speeds") };
        let speeds: BTreeMap<u32, f64> = speeds.iter().map(|r| (r.actor, r.linear.x.hypot(r.linear.y))).collect();
        for record in positions.iter() {
            let Some(change) = frames.change(Kind::BoundingBox, record.actor.into(), n) else { continue };
            let size = frames.record::<BoundingBox>(change.at).expect("there").extent;
            let actor = Actor {
                class: living[&record.actor],
                at: (record.location.x / 100.0, record.location.y / 100.0),
                yaw: record.rotation.yaw,
                speed: speeds[&record.actor],
                half: (size.x / 100.0, size.y / 100.0),
            };
            actors.insert(record.actor, actor);
        }
        let Some(Body::Collision(hits)) = frames.packet(at, Kind::Collision) else { panic!("no collisions") };
        let Some(Body::TrafficLightState(lights)) = frames.packet(at, Kind::TrafficLightState) else {
            panic!("no lights")
        };
        moments.push(Moment {
            time: frame.start.elapsed,
            actors,
            hits: hits.iter().map(|hit| (hit.actor1, hit.actor2)).collect(),
            lights: lights.iter().map(|light| (light.actor, light.state)).collect(),
        });
    }
    moments
}

/// Whether two rectangles overlap by more than a hand.
fn overlap(a: &Actor, b: &Actor) -> bool {
    let axes = [a.yaw, a.yaw + 90.0, b.yaw, b.yaw + 90.0].map(|yaw| (yaw.to_radians().cos(), yaw.to_radians().sin()));
    let reach = |of: &Actor, (x, y): (f64, f64)| {
        let (cos, sin) = (of.yaw.to_radians().cos(), of.yaw.to_radians().sin());
        of.half.0 * (cos * x + sin * y).abs() + of.half.1 * (-sin * x + cos * y).abs()
    };
    axes.iter().all(|axis| {
        let apart = ((b.at.0 - a.at.0) * axis.0 + (b.at.1 - a.at.1) * axis.1).abs();
        apart < reach(a, *axis) + reach(b, *axis) - 0.1
    })
}

#[test]
fn the_junction_is_one_that_could_be() {
    for seed in 0..6 {
        let log = junction(seed, 60.0).expect("it can be written");
        let mut problems = Problems::default();
        salvage(&log, &mut problems).expect("a recording");
        assert_eq!(problems.list(), []);
        let moments = moments(&log);
        assert_eq!(moments.len(), 1200, "20 Hz for a minute");
        let hit: Vec<f64> = moments.iter().filter(|moment| !moment.hits.is_empty()).map(|moment| moment.time).collect();
        assert!((2..6).contains(&hit.len()), "seed {seed}: one short contact, not {hit:?}");
        assert!(hit[hit.len() - 1] - hit[0] < 0.3 && (6.0..14.0).contains(&hit[0]), "seed {seed}: {hit:?}");
        let (mut fastest, mut stood, mut crossed) = (0.0_f64, 0, 0.0);
        for (before, now) in moments.iter().zip(&moments[1..]) {
            let vehicles = now.actors.values().filter(|actor| actor.class == ActorType::Vehicle).count();
            assert!((3..=11).contains(&vehicles), "seed {seed}, {} s: {vehicles} vehicles", now.time);
            for (id, actor) in &now.actors {
                let Some(last) = before.actors.get(id) else { continue };
                let dt = now.time - before.time;
                let way = (actor.at.0 - last.at.0).hypot(actor.at.1 - last.at.1);
                let place = format!("seed {seed}, {:.2} s, actor {id}: {last:?} {actor:?}", now.time);
                let crash = hit.iter().any(|time| (now.time - time).abs() < 0.2);
                assert!(crash || (way - (actor.speed + last.speed) / 2.0 * dt).abs() < 0.02, "jumps: {place}");
                assert!(crash || ((actor.speed - last.speed) / dt).abs() < 7.7, "accelerates: {place}");
                assert!(((actor.yaw - last.yaw + 540.0).rem_euclid(360.0) - 180.0).abs() < 8.0, "spins: {place}");
                fastest = fastest.max(actor.speed);
                if actor.class == ActorType::Walker {
                    crossed += way;
                } else {
                    stood += usize::from(actor.speed == 0.0);
                }
            }
            let actors: Vec<_> = now.actors.iter().collect();
            for (i, (a, first)) in actors.iter().enumerate() {
                for (b, second) in &actors[i + 1..] {
                    let people = first.class == ActorType::Walker && second.class == ActorType::Walker;
                    assert!(
                        people || !overlap(first, second),
                        "seed {seed}, {:.2} s: {a} in {b}: {first:?} {second:?}",
                        now.time
                    );
                }
            }
        }
        assert!((8.0..16.0).contains(&fastest), "seed {seed}: {fastest} m/s");
        assert!(stood > 400, "seed {seed}: vehicles stood for {stood} ticks");
        assert!(crossed > 60.0, "seed {seed}: people walked {crossed} m");
        let green = moments.iter().filter(|moment| moment.lights.values().any(|state| *state == 2)).count();
        assert!(green > 600, "seed {seed}: {green} ticks of green");
        let opposed = |moment: &Moment| {
            moment.lights.values().zip(moment.lights.values().skip(1)).all(|(a, b)| *a != 2 || *b != 2)
        };
        assert!(moments.iter().all(opposed), "seed {seed}: green for both");
    }
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    assert!(junction(1, 3.0) == junction(1, 3.0));
    assert!(junction(1, 3.0) != junction(2, 3.0));
    for odd in [f64::NAN, -1.0, 0.0] {
        assert_eq!(Frames::scan(&junction(0, odd).expect("one frame")).expect("whole").frames().len(), 1);
    }
}
