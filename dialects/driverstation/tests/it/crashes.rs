//! What once made a fuzz target fail.

use logpose_driverstation::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("mapper_driverstation", fuzzing::mapper),
        ("roundtrip_driverstation", fuzzing::roundtrip),
        ("script_driverstation", fuzzing::script),
        ("session_driverstation", fuzzing::session),
    ]);
}
