//! What a repair makes of damaged recordings, real ones among them.

use logpose_carla::{Frames, Lost, OPEN_DURATION, fuzzing, repair, salvage};
use logpose_core::{Problems, Severity};

use crate::fixtures::logs_in;

fn named(folder: &str, name: &str) -> Vec<u8> {
    logs_in(folder).into_iter().find(|(found, _)| found == name).map(|(_, log)| log).expect(name)
}

fn repaired(log: &[u8]) -> Vec<u8> {
    repair(log, &mut Problems::default()).expect("it can be repaired").into_bytes()
}

#[test]
fn a_whole_recording_is_not_changed() {
    for (name, log) in logs_in("valid") {
        assert!(repaired(&log) == log, "{name}");
    }
}

on_recordings!(check_whole: ours_are_not_changed, real_recordings_are_not_changed);

fn check_whole(name: &str, log: &[u8]) {
    let truncated = name.contains("truncated");
    let mut problems = Problems::default();
    let repair = repair(log, &mut problems).expect(name);
    assert_eq!(problems.worst() == Some(Severity::Damage), truncated, "{name}: {:#?}", problems.list());
    assert!(truncated || repair.into_bytes() == log, "{name}");
    fuzzing::roundtrip(log);
}

/// `repaired_size` and `complete_frames` of the corpus: the sample is cut in packet 8 of frame 4.
#[test]
#[ignore = "needs the corpus of real logs"]
fn the_truncated_sample_of_the_corpus_ends_behind_its_last_whole_frame() {
    let log = logpose_testkit::corpus_file("carla/sample_custom_truncated.log");
    let mut problems = Problems::default();
    let repair = repair(&log, &mut problems).expect("it can be repaired");
    assert_eq!(repair.salvage().frames().len(), 3);
    assert_eq!(problems.list().len(), 1, "{:#?}", problems.list());
    let saved = repair.into_bytes();
    let last = Frames::scan(&saved).expect("whole").frames()[2];
    assert_eq!(last.start.duration.to_bits(), OPEN_DURATION.to_bits());
    // But for that duration, the same bytes.
    let at = usize::try_from(last.at).expect("small") + 13;
    assert_eq!(saved[..at], log[..at]);
    assert_eq!(saved[at + 8..], log[at + 8..saved.len()]);
}

#[test]
fn a_hole_is_closed() {
    let log = named("corrupt", "garbage-over-frames.log");
    let mut problems = Problems::default();
    let repair = repair(&log, &mut problems).expect("it can be repaired");
    let lost = [Lost { at: 878, end: 1346, after: Some(3), before: Some(6) }];
    assert_eq!(repair.salvage().lost(), lost);
    assert_eq!(repair.salvage().spans(), [(34, 878), (1346, 1994)]);
    assert_eq!(problems.lost_bytes(), 468);
    let saved = repair.into_bytes();
    let frames = Frames::scan(&saved).expect("whole");
    let starts: Vec<_> = frames.frames().iter().map(|frame| (frame.start.frame, frame.start.elapsed)).collect();
    let tick = f64::from(0.05_f32);
    let at = |n: u8| (0..n).fold(0.0, |sum, _| sum + tick);
    assert_eq!(starts, [(1, 0.0), (2, at(1)), (3, at(2)), (4, at(5)), (5, at(6)), (6, at(7))]);
    assert!((frames.frames()[2].start.duration - 3.0 * tick).abs() < 1e-9);
}

#[test]
fn times_that_are_damaged_are_mended_by_the_durations_and_the_other_way_round() {
    let whole = named("valid", "traffic.log");
    for name in ["elapsed-flipped.log", "duration-flipped.log", "frame-id-flipped.log"] {
        assert!(repaired(&named("corrupt", name)) == whole, "{name}");
    }
}

#[test]
fn actors_whose_creation_was_lost_are_named() {
    let log = named("corrupt", "births-lost.log");
    let found = salvage(&log, &mut Problems::default()).expect("it can be read");
    assert_eq!(found.unknown_actors(), [24, 25]);
}

#[test]
fn a_recording_without_its_header_is_saved() {
    let whole = named("valid", "traffic.log");
    let saved = repaired(&named("corrupt", "wrong-magic.log"));
    assert_eq!(saved[28..], whole[34..]);
    assert_eq!(Frames::scan(&saved).expect("whole").header().map, b"");
}

on_recordings!(check_damage: anything_is_repaired_or_refused, anything_real_is_repaired_or_refused);

fn check_damage(_: &str, log: &[u8]) {
    if log.len() > 300_000 {
        return;
    }
    // A byte in every few hundred, so that most frames are hit.
    let mut log = log.to_vec();
    for at in (100..log.len()).step_by(997) {
        log[at] ^= 0x5a;
    }
    fuzzing::recover(&log);
    fuzzing::decode(&log);
}

#[test]
fn noise_is_no_recording() {
    let noise = logpose_testkit::noise(4096);
    assert!(salvage(&noise, &mut Problems::default()).is_err());
    assert!(salvage(&[], &mut Problems::default()).is_err());
}
