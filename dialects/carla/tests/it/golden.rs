//! Every file in `fixtures/carla/valid` equals its dump.

use logpose_carla::Carla;
use logpose_testkit::check_dump_from_anywhere;

use crate::fixtures::{FIXTURES, small};

#[test]
fn every_valid_file_equals_its_dump() {
    FIXTURES.check_valid(&Carla);
}

#[test]
fn a_dump_can_begin_and_end_anywhere() {
    for (name, log) in small() {
        println!("{name}"); // shown if the next line panics
        check_dump_from_anywhere(&Carla, &log);
    }
}
