//! What the fuzz targets call of captures and ride logs, and what else must hold. The ordinary tests run these over all fixtures.

use logpose_core::{Dialect, FileDialect, Limits, Problems, ReadOptions};

use crate::{BRIDGES, capture, rides};

/// A whole capture: it is unpacked, and what came out is read.
pub fn decode_pcap(data: &[u8]) {
    capture::fuzzing::decode(data);
    unpack("pcap", data);
}

/// A whole ride log, as each of the programs' would be read.
pub fn decode_rides(data: &[u8]) {
    rides::fuzzing::decode(data);
    for name in ["refloat-csv", "vesc-csv", "vesc-tool", "float-control", "floaty"] {
        unpack(name, data);
    }
}

/// What comes out of a bridge can be read.
fn unpack(name: &str, data: &[u8]) {
    let Some(bridge) = BRIDGES.iter().find(|bridge| bridge.info().name == name) else { return };
    for salvage in [false, true] {
        let limits = Limits { record_len: 1 << 16, channels: 1000, ..Limits::default() };
        let read = ReadOptions { limits, salvage, ..ReadOptions::default() };
        let (mut store, mut problems) = (Vec::new(), Problems::default());
        if bridge.unpack(data, &read, &mut store, &mut problems).is_err() {
            continue;
        }
        let Ok(index) = bridge.index(&store, &read, &mut problems) else { panic!("cannot read what was unpacked") };
        let Ok(columns) = bridge.columns(&store, &read, &mut Problems::default()) else { panic!("no columns") };
        let samples: u64 = columns.columns.iter().map(|column| columns.samples(column).count() as u64).sum();
        assert_eq!(samples, index.samples(), "columns and index");
    }
}

/// A TCP stream in segments.
pub fn reassembly(data: &[u8]) {
    capture::fuzzing::reassembly(data);
}
