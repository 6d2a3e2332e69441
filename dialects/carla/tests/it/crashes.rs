//! What once made a fuzz target fail.

use logpose_carla::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("decode_carla", fuzzing::decode),
        ("edit_carla", fuzzing::edit),
        ("model_carla", fuzzing::model),
        ("recover_carla", fuzzing::recover),
        ("roundtrip_carla", fuzzing::roundtrip),
    ]);
}
