use std::path::Path;

use logpose_bridges::mcap::{McapOptions, McapWriter};
use logpose_bridges::{ArrowWriter, Header, ParquetWriter, Piece, Writer};
use logpose_core::{EncodeOptions, Encoding, FileDialect, Index, Lookup, Problems, ReadOptions, Value};
use logpose_schema::Registry;
use logpose_testkit::{corpus, fixture};
use logpose_wpilog::Wpilog;

use crate::{bridge, open};

/// The log as a WPILOG, written by our encoder.
fn wpilog(dialect: &dyn FileDialect, log: &[u8], index: &Index) -> Vec<u8> {
    let mut encoder = Wpilog.encoder(&EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    encoder.begin(&mut out);
    dialect
        .replay(
            log,
            index,
            &Lookup::default(),
            &mut Encoding { encoder: &mut *encoder, out: &mut out, problems: &mut Problems::default() },
        )
        .unwrap();
    encoder.finish(&mut out);
    out
}

fn written<W: Writer>(mut writer: W, log: &[u8], index: &Index) {
    let mut piece = writer.piece();
    Wpilog.replay(log, index, &Lookup::default(), &mut piece).unwrap();
    piece.seal().unwrap();
    writer.append(piece).unwrap();
    writer.finish().unwrap();
}

/// The schemas that a log brings along.
fn registry(log: &[u8], index: &Index) -> Registry {
    let mut registry = Registry::new();
    let columns = Wpilog.scan(log, index, &Lookup::default(), |_| {}).unwrap();
    for column in &columns.columns {
        let channel = &column.channel;
        if Registry::is_schema(&channel.name, &channel.type_name) {
            for (_, value) in columns.samples(column) {
                let (Value::String(payload) | Value::Bytes(payload)) = value else { continue };
                let _ = registry.add(&channel.name, &channel.type_name, payload);
            }
        }
    }
    registry
}

#[test]
fn logs_come_back_with_the_same_records() {
    assert!(check_folder(&fixture("wpilog/valid")) > 0);
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn real_logs_come_back_with_the_same_records() {
    assert!(check_folder(&corpus("wpilog")) > 0);
}

/// Compares every log of a folder with what comes back of it; returns how many there were.
fn check_folder(folder: &Path) -> usize {
    let mut logs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wpilog") {
            continue;
        }
        let log = std::fs::read(&path).unwrap();
        let read = ReadOptions { salvage: true, ..ReadOptions::default() };
        let Ok(index) = Wpilog.index(&log, &read, &mut Problems::default()) else { continue };
        logs += 1;
        let expected = wpilog(&Wpilog, &log, &index);
        let channels = index.channels.iter().map(|found| found.channel.clone()).collect();
        let header = Header { origin: "wpilog".into(), channels, ..Header::default() };
        for name in ["parquet", "arrow", "mcap"] {
            let mut file = Vec::new();
            match name {
                "parquet" => written(ParquetWriter::new(&mut file, header.clone()).unwrap(), &log, &index),
                "arrow" => written(ArrowWriter::new(&mut file, header.clone()).unwrap(), &log, &index),
                _ => {
                    let earliest =
                        index.channels.iter().filter(|found| found.samples > 0).map(|found| found.first).min();
                    let options = McapOptions { earliest: earliest.unwrap_or_default(), ..McapOptions::default() };
                    let registry = registry(&log, &index);
                    written(McapWriter::new(&mut file, &header, &registry, &options).unwrap(), &log, &index);
                }
            }
            let (store, back, problems) = open(name, &file);
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(back.samples(), index.samples());
            assert!(wpilog(bridge(name), &store, &back) == expected, "{name} {}", path.display());
        }
    }
    logs
}
