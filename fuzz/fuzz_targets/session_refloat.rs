#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| logpose_sim::fuzzing::session(data));
