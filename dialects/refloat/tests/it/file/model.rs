//! What a file is as channels, times and facts.

use std::ops::Range;

use logpose_core::{FileDialect, Lookup, Severity, Time};
use logpose_refloat::Refloat;
use logpose_refloat::rfrec::{Block, Kind, Recording, TimeRef};

use super::kit::{Parts, index, ride, sample};

#[test]
fn facts_describe_the_board_and_the_recording() {
    let (found, problems) = index(&ride(3, 24).file());
    assert!(problems.is_empty(), "{problems:?}");
    let expected = [
        ("version", "1.0"),
        ("board", "Refloat 1.3.0-beta2"),
        ("commit", "9a16b5c5"),
        ("firmware", "6.05 rflt-xtras-1"),
        ("hardware", "LITTLE_FOCER_V3_1"),
        ("captured_at", "2026-07-04T10:11:12Z"),
        ("tick_rate", "10000"),
        ("decimation", "5"),
        ("recorded_samples", "24"),
        ("held_samples", "24"),
        ("complete", "true"),
        // The tick 223456 was at 1783159872 s.
        ("epoch_ns", "1783159849654400000"),
    ];
    for (key, value) in expected {
        assert_eq!(found.fact(key), Some(value), "{key}");
    }
}

#[test]
fn every_sample_is_on_every_channel_at_its_own_time() {
    let parts = ride(2, 21);
    let (found, _) = index(&parts.file());
    let own = found.channels.iter().filter(|c| !c.channel.name.starts_with("/refloat/file/"));
    for channel in own {
        assert_eq!(channel.samples, 21, "{}", channel.channel.name);
        assert_eq!(channel.first, Time::from_nanos(12_345_600_000));
        assert_eq!(channel.last, Time::from_nanos((123_456 + 20 * 14) * 100_000));
    }
    assert!(found.sorted);
    assert_eq!(found.channels[0].channel.unit.as_deref(), Some("rpm"));
    let taken: u64 = found.channels.iter().map(|c| c.bytes).sum();
    assert!(taken < parts.file().len() as u64);
}

#[test]
fn blocks_are_emitted_at_the_time_of_the_first_sample() {
    let (found, _) = index(&ride(3, 3).file());
    for name in ["meta", "info", "status", "header", "timeref"] {
        let name = format!("/refloat/file/{name}");
        let channel = found.channels.iter().find(|c| c.channel.name == name).unwrap();
        assert_eq!((channel.samples, channel.first), (1, Time::from_nanos(12_345_600_000)), "{name}");
    }
}

#[test]
fn the_wall_clock_is_that_of_the_surest_reference_also_across_a_wrap() {
    let mut parts = Parts { ids: vec!["erpm".into()], ..Parts::default() };
    parts.samples = [4_294_967_290, 4_294_967_295].map(|tick| sample(tick, 1, &[0.0])).to_vec();
    // Ten ticks behind the last sample, by then from 0 again.
    parts.timeref = Some(TimeRef { tick: 9, host_us: 1_000_000_000, uncertainty_us: 10 });
    let mut file = parts.file();
    let mut worse = Vec::new();
    TimeRef { tick: 50, host_us: 5, uncertainty_us: 1000 }.emit(&mut worse);
    Block { kind: Kind::TimeRef, payload: &worse }.emit(&mut file);
    let recording = Recording::read(&file).unwrap();
    let last = recording.timed().last().unwrap().time;
    assert_eq!(recording.epoch_ns().unwrap() + last.nanos(), 1_000_000_000_000 - 10 * 100_000);
}

#[test]
fn a_size_of_four_billion_costs_nothing() {
    let mut parts = ride(2, 1);
    let header = parts.header();
    let at = parts.begin().0.len() - 4 - header.len();
    let mut file = parts.begin().0;
    file[at + 2..at + 6].copy_from_slice(&[0xff; 4]);
    let end = file.len() - 4;
    let crc = crc32(&file[at - 8..end]);
    file[end..].copy_from_slice(&crc.to_be_bytes());
    parts.samples.clear();
    let recording = Recording::read(&file).unwrap();
    assert_eq!((recording.size(), recording.held()), (u32::MAX, 0));
    assert_eq!(recording.missing(), vec![Range { start: 0, end: u32::MAX }]);
    let (found, problems) = index(&file);
    assert_eq!((found.channels[0].samples, found.marks.len()), (0, 1));
    assert_eq!(problems.worst(), Some(Severity::Damage));
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

#[test]
fn a_damaged_file_with_bytes_that_look_like_blocks_is_searched_for_a_bounded_time() {
    let mut file = ride(2, 1).begin().0;
    file.push(0x05);
    file.extend([0x05, 0, 0, 0, 0, 0x0f, 0, 0].repeat(250_000));
    let found = Recording::read(&file).unwrap();
    assert!(
        found.problems.list().iter().any(|problem| problem.message.contains("gave up searching")),
        "{:?}",
        found.problems
    );
}

#[test]
fn a_window_and_a_range_of_times_have_their_samples_alone() {
    let log = ride(2, 21).file();
    let (found, _) = index(&log);
    let start = Time::from_nanos((123_456 + 14 * 5) * 100_000);
    let lookup = Lookup { start: Some(start), channels: vec![true], ..Lookup::default() };
    let columns = Refloat.scan(&log, &found, &lookup, |_| {}).unwrap();
    assert_eq!(columns.columns[0].samples(), 16);
    let all = logpose_testkit::columns(&Refloat, &log);
    assert_eq!(all.columns.len(), found.channels.len());
}
