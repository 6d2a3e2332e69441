//! What once made a fuzz target fail.

use logpose_refloat::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("decode_refloat", fuzzing::decode),
        ("deframe_refloat", fuzzing::deframe),
        ("recover_refloat", fuzzing::recover),
        ("roundtrip_refloat", fuzzing::roundtrip),
    ]);
}
