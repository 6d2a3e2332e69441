use logpose_testkit::check_dump_from_anywhere;
use logpose_wpilog::Wpilog;

use crate::fixtures::FIXTURES;
use crate::support::logs_in;

#[test]
fn every_valid_log_equals_its_dump() {
    FIXTURES.check_dumps(&Wpilog);
}

#[test]
fn a_dump_can_begin_and_end_anywhere() {
    for (name, log) in logs_in("valid") {
        println!("{name}"); // shown if the next line panics
        check_dump_from_anywhere(&Wpilog, &log);
    }
}
