//! What once made a fuzz target fail, and the questions that it starts from.

use logpose_query::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[("questions_sql", fuzzing::questions)]);
}
