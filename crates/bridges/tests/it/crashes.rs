//! What once made a fuzz target fail.

use logpose_bridges::fuzzing;
use logpose_testkit::check_crashes;

#[test]
fn inputs_that_made_a_fuzz_target_fail_no_longer_do() {
    check_crashes(&[
        ("decode_arrow", fuzzing::decode_arrow),
        ("decode_csv", fuzzing::decode_csv),
        ("decode_mcap", fuzzing::decode_mcap),
        ("decode_ndjson", fuzzing::decode_ndjson),
        ("decode_parquet", fuzzing::decode_parquet),
        ("decode_pcap", fuzzing::decode_pcap),
        ("decode_rides", fuzzing::decode_rides),
        ("reassembly", fuzzing::reassembly),
    ]);
}
