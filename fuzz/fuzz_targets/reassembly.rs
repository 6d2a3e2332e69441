#![no_main]
#![allow(dead_code, unused_imports)]

// The module alone: its crate brings Parquet and Arrow along, which take long to build.
#[path = "../../crates/bridges/src/capture/mod.rs"]
mod capture;
#[path = "../../crates/bridges/src/header.rs"]
mod header;
use header::Header;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::fuzzing::reassembly(data));
