//! What once made a fuzz target fail.

use logpose_nt4::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[("roundtrip_nt4", fuzzing::roundtrip), ("session_nt4", fuzzing::session)]);
}
