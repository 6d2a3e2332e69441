//! What the fuzz targets call, and what else must hold. The ordinary tests run these over fixtures.

use logpose_core::fuzzing::check_readings;
use logpose_core::{FileDialect, Limits, Problems, ReadOptions};

use crate::{
    ARROW, Bridge, CSV, FLOAT_CONTROL, FLOATY, MCAP, NDJSON, PARQUET, PCAP, REFLOAT_CSV, VESC_CSV, VESC_TOOL, capture,
    mcap, rides,
};

/// A whole MCAP file: it is unpacked, and so is the copy that is made of it when it is damaged.
pub fn decode_mcap(data: &[u8]) {
    unpack(&MCAP, data);
    let mut copy = Vec::new();
    if mcap::mend(data, &mut copy).is_ok() {
        unpack(&MCAP, &copy);
    }
}

/// A whole Parquet file.
pub fn decode_parquet(data: &[u8]) {
    unpack(&PARQUET, data);
}

/// A whole Arrow file or stream.
pub fn decode_arrow(data: &[u8]) {
    unpack(&ARROW, data);
}

/// A table of text, whose types are inferred.
pub fn decode_csv(data: &[u8]) {
    unpack(&CSV, data);
}

/// Lines of JSON, whose types are inferred.
pub fn decode_ndjson(data: &[u8]) {
    unpack(&NDJSON, data);
}

/// A whole capture: it is unpacked, and what came out is read.
pub fn decode_pcap(data: &[u8]) {
    capture::fuzzing::decode(data);
    unpack(&PCAP, data);
}

/// A whole ride log, as each of the programs' would be read.
pub fn decode_rides(data: &[u8]) {
    rides::fuzzing::decode(data);
    [&REFLOAT_CSV, &VESC_CSV, &VESC_TOOL, &FLOAT_CONTROL, &FLOATY].into_iter().for_each(|bridge| unpack(bridge, data));
}

/// What comes out of a bridge can be read.
fn unpack(bridge: &Bridge, data: &[u8]) {
    for salvage in [false, true] {
        let limits = Limits { record_len: 1 << 16, channels: 1000, ..Limits::default() };
        let read = ReadOptions { limits, salvage, ..ReadOptions::default() };
        let (mut store, mut problems) = (Vec::new(), Problems::default());
        if bridge.unpack(data, &read, &mut store, &mut problems).is_err() {
            continue;
        }
        let Ok(index) = bridge.index(&store, &read, &mut problems) else { panic!("cannot read what was unpacked") };
        check_readings(bridge, &store, &index);
    }
}

/// A TCP stream in segments.
pub fn reassembly(data: &[u8]) {
    capture::fuzzing::reassembly(data);
}
