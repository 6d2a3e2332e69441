#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| logpose_nt4::fuzzing::session(data));
