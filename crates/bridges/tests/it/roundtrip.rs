use std::path::{Path, PathBuf};

use logpose_bridges::{ArrowWriter, Header, ParquetWriter, Piece, Writer};
use logpose_core::{Dialect, EncodeOptions, Encoding, Index, Lookup, Problems, Read};
use logpose_wpilog::Wpilog;

use crate::{bridge, open};

/// The log as a WPILOG, written by our encoder.
fn wpilog(dialect: &dyn Dialect, log: &[u8], index: &Index) -> Vec<u8> {
    let mut encoder = Wpilog.encoder(&EncodeOptions::default()).unwrap();
    let mut out = Vec::new();
    encoder.begin(&mut out);
    dialect.replay(log, index, &Lookup::default(), &mut Encoding { encoder: &mut *encoder, out: &mut out }).unwrap();
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

#[test]
fn logs_come_back_with_the_same_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let beside = root.join("../shared/corpus");
    let corpus = std::env::var_os("LOGPOSE_CORPUS").map_or(beside, PathBuf::from).join("wpilog");
    assert!(check_folder(&root.join("fixtures/wpilog/valid")) > 0);
    if !corpus.is_dir() {
        println!("no corpus at {}, only fixtures were compared; LOGPOSE_CORPUS names another folder", corpus.display());
        return;
    }
    assert!(check_folder(&corpus) > 0);
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
        let read = Read { salvage: true, ..Read::default() };
        let Ok(index) = Wpilog.index(&log, &read, &mut Problems::default()) else { continue };
        logs += 1;
        let expected = wpilog(&Wpilog, &log, &index);
        let channels = index.channels.iter().map(|found| found.channel.clone()).collect();
        let header = Header { origin: "wpilog".into(), channels, ..Header::default() };
        for name in ["parquet", "arrow"] {
            let mut file = Vec::new();
            match name {
                "parquet" => written(ParquetWriter::new(&mut file, header.clone()).unwrap(), &log, &index),
                _ => written(ArrowWriter::new(&mut file, header.clone()).unwrap(), &log, &index),
            }
            let (store, back, problems) = open(name, &file);
            assert!(problems.is_empty(), "{problems:?}");
            assert_eq!(back.samples(), index.samples());
            assert!(wpilog(bridge(name), &store, &back) == expected, "{name} {}", path.display());
        }
    }
    logs
}
