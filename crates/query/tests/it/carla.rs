//! Tables of CARLA recordings, also of those that were converted.

use std::path::Path;

use logpose::carla::{Frames, collisions};
use logpose::{ConvertOptions, Format, Log, OpenOptions, Output, Quiet, convert};
use logpose_sim::junction;

use crate::support::{ask, engine, line};

fn open(path: &Path) -> Log {
    Log::open_with(path, &OpenOptions::default(), &Quiet).unwrap()
}

#[test]
fn a_recording_has_its_own_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junction.log");
    let bytes = junction(1, 15.0).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let frames = Frames::scan(&bytes).unwrap();
    let engine = engine(vec![open(&path)]);

    assert_eq!(line(&engine, "SELECT count(*), min(frame) FROM frames"), format!("{} 1", frames.frames().len()));
    assert_eq!(line(&engine, "SELECT count(*) FROM actors"), frames.lives().len().to_string());
    let hero = line(&engine, "SELECT actor FROM actors WHERE hero");
    let [contact] = &collisions(&frames)[..] else { panic!("one contact") };
    assert_eq!(
        line(&engine, "SELECT actor1, actor2, frame FROM collisions"),
        format!("{hero} {} {}", contact.actor2.actor.unwrap(), contact.frame)
    );

    // Velocities are recorded here; what they add up to is where the hero went.
    let sql = format!(
        "SELECT max(x) - min(x), sum(vx) * 0.05, bool_or(derived) FROM carla_motion WHERE actor = {hero} AND time < 5"
    );
    let found = &ask(&engine, &sql)[0];
    let (gone, summed): (f64, f64) = (found[0].parse().unwrap(), found[1].parse().unwrap());
    assert!((gone - summed).abs() < 0.05 * gone, "{found:?}");
    assert_eq!(found[2], "false");

    // The one who will hit comes nearer and nearer until they touch.
    let sql = "SELECT t.ttc FROM ttc t JOIN collisions c ON t.actor1 = c.actor1 AND t.actor2 = c.actor2
               WHERE t.time BETWEEN c.time - 0.5 AND c.time ORDER BY t.time";
    let times: Vec<f64> = ask(&engine, sql).iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(times.len() > 5 && times[0] < 1.0, "{times:?}");
    assert!(times.last().unwrap() < &0.1, "{times:?}");

    // Families have the actor as their key, and join with the actors.
    let sql = "SELECT count(DISTINCT t.actor) FROM carla_transform t JOIN actors a ON t.actor = a.actor WHERE a.hero";
    assert_eq!(line(&engine, sql), "1");
    let plan = engine.explain(&format!("SELECT x FROM carla_transform WHERE actor = '{hero}'")).unwrap();
    assert!(plan.contains("channels=1 of"), "{plan}");
}

#[test]
fn a_converted_recording_has_the_same_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("junction.log");
    std::fs::write(&path, junction(2, 3.0).unwrap()).unwrap();
    let recording = [open(&path)];
    let parquet = folder.path().join("junction.parquet");
    let to = Output::File { path: &parquet, force: false, wrapper: None };
    convert(&recording, Vec::new(), &Format::PARQUET, to, &ConvertOptions::default(), &Quiet).unwrap();
    let (own, converted) = (engine(recording.into()), engine(vec![open(&parquet)]));
    for sql in [
        "SELECT * FROM frames",
        "SELECT * FROM actors",
        "SELECT * FROM blocked",
        "SELECT * FROM carla_motion",
        "SELECT * FROM carla_vehicle ORDER BY actor, time",
    ] {
        assert_eq!(ask(&own, sql), ask(&converted, sql), "{sql}");
    }
}

#[test]
fn without_a_recording_there_are_no_such_tables() {
    let engine = engine(vec![crate::support::small("a.wpilog")]);
    let error = engine.run("SELECT * FROM ttc").map(|_| ()).unwrap_err();
    assert!(error.message.contains("no table ttc"), "{}", error.message);
}
