//! Every prefix of every vector: an error or less, never a panic, and never a byte that goes missing.

use logpose_driverstation::fuzzing;
use logpose_driverstation::wire::{Control, Status, ToRobot, ToStation};

use crate::kit::{Play, ms, samples};

#[test]
fn every_prefix_reads_without_panic() {
    let all = samples();
    let each = |list: &[Vec<u8>], check: &mut dyn FnMut(&[u8])| {
        assert!(!list.is_empty());
        for whole in list {
            (0..=whole.len()).for_each(|length| check(&whole[..length]));
        }
    };
    each(&all.control, &mut |bytes| {
        fuzzing::roundtrip(bytes);
        assert_eq!(Control::parse(bytes).is_ok(), bytes.len() >= Control::HEADER);
        let mut play = Play::default();
        play.mapper.control(ms(0), 0, bytes, &mut play.sink).unwrap();
    });
    each(&all.status, &mut |bytes| {
        fuzzing::roundtrip(bytes);
        assert_eq!(Status::parse(bytes).is_ok(), bytes.len() >= Status::HEADER);
        let mut play = Play::default();
        play.mapper.status(ms(0), 0, bytes, &mut play.sink).unwrap();
    });
    each(&all.to_robot, &mut |body| {
        let mut play = Play::default();
        play.mapper.to_robot(ms(0), 0, body, &mut play.sink).unwrap();
        assert_eq!(play.sink.problems.len(), usize::from(ToRobot::parse(body).is_err()));
    });
    each(&all.to_station, &mut |body| {
        let mut play = Play::default();
        play.mapper.to_station(ms(0), 0, body, &mut play.sink).unwrap();
        assert_eq!(play.sink.problems.len(), usize::from(ToStation::parse(body).is_err()));
    });
}

#[test]
fn every_single_byte_can_be_anything() {
    let all = samples();
    for whole in all.control.iter().chain(&all.status) {
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            for value in [0, 1, 2, 0x0c, 0x7f, 0x80, 0xff] {
                bytes[at] = value;
                fuzzing::roundtrip(&bytes);
                let mut play = Play::default();
                play.mapper.control(ms(0), 0, &bytes, &mut play.sink).unwrap();
                play.mapper.status(ms(1), 0, &bytes, &mut play.sink).unwrap();
            }
        }
    }
}
