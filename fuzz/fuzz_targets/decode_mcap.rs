#![no_main]
#[path = "../foreign.rs"]
mod foreign;
libfuzzer_sys::fuzz_target!(init: foreign::allow_caught_panics(), |data: &[u8]| logpose_bridges::fuzzing::decode_mcap(data));
