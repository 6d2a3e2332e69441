//! What once made a fuzz target fail.

use logpose_testkit::check_crashes;
use logpose_wpilog::fuzzing;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("decode_wpilog", fuzzing::decode),
        ("recover_wpilog", fuzzing::recover),
        ("roundtrip_wpilog", fuzzing::roundtrip),
    ]);
}
