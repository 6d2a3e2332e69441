//! A replay written as a recording is a valid one, and shows what the replayer shows.

use logpose_carla::{Body, Frames, Kind, Replay, ReplayOptions, Replayed, salvage};
use logpose_core::Problems;
use logpose_sim::junction;

#[test]
fn the_recording_of_a_replay_shows_its_steps() {
    let log = junction(3, 4.0).unwrap();
    let frames = Frames::scan(&log).unwrap();
    for factor in [0.5, 1.0, 3.0] {
        let options = ReplayOptions { start: 1.0, duration: 2.0, factor, ..ReplayOptions::default() };
        let (mut replay, first) = Replay::new(&frames, options).unwrap();
        let mut recording = Replayed::new(&frames, replay.start()).unwrap();
        recording.step(&first, 0.05).unwrap();
        let mut ticks = vec![first];
        while !ticks.last().unwrap().stopped {
            let tick = replay.tick(0.05);
            recording.step(&tick, 0.05).unwrap();
            ticks.push(tick);
        }
        let bytes = recording.finish().unwrap();
        let mut problems = Problems::default();
        salvage(&bytes, &mut problems).unwrap();
        assert!(problems.list().is_empty(), "{factor}: {:?}", problems.list());
        let shown = Frames::scan(&bytes).unwrap();
        assert_eq!(shown.frames().len(), ticks.len());
        assert_eq!(shown.header().date, frames.header().date + 1);
        for (place, tick) in ticks.iter().enumerate() {
            let Some(Body::Position(records)) = shown.packet(place, Kind::Position) else { panic!("positions") };
            assert_eq!(records.len(), tick.poses.len());
            for (record, (actor, pose)) in records.iter().zip(&tick.poses) {
                assert_eq!(record.actor, *actor);
                // As exact as the recording is.
                assert!((record.location.x - pose.x * 100.0).abs() <= pose.x.abs() * 1e-5);
                assert!((record.rotation.yaw - pose.yaw).abs() <= 1e-4);
            }
        }
    }
}
