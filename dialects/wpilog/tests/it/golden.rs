use logpose_wpilog::Wpilog;

use crate::fixtures::FIXTURES;

#[test]
fn every_valid_log_equals_its_dump() {
    FIXTURES.check_valid(&Wpilog);
}

#[test]
fn a_dump_can_begin_and_end_anywhere() {
    FIXTURES.check_dumps_from_anywhere(&Wpilog);
}
