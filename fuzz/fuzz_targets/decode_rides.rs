#![no_main]
#![allow(dead_code, unused_imports)]

// The modules alone: their crate brings Parquet and Arrow along, which take long to build.
#[path = "../../crates/bridges/src/decimal.rs"]
mod decimal;
#[path = "../../crates/bridges/src/header.rs"]
mod header;
#[path = "../../crates/bridges/src/inferred.rs"]
mod inferred;
#[path = "../../crates/bridges/src/rides/mod.rs"]
mod rides;
use header::Header;

libfuzzer_sys::fuzz_target!(|data: &[u8]| rides::fuzzing::decode(data));
