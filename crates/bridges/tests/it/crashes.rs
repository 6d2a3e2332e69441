//! What once made a fuzz target fail.

use logpose_bridges::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("decode_pcap", fuzzing::decode_pcap),
        ("decode_rides", fuzzing::decode_rides),
        ("reassembly", fuzzing::reassembly),
    ]);
}
