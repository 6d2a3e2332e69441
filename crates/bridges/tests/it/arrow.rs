use logpose_bridges::{ArrowWriter, Header};
use logpose_core::{Confidence, FileDialect, Lookup, Problems, ReadOptions};

use crate::parquet::refused;
use crate::{Call, Recording, bridge, log_of_everything, long_log, replay, write};

fn everything(rows: usize) -> Vec<u8> {
    let (header, calls) = log_of_everything();
    let mut file = Vec::new();
    write(ArrowWriter::new(&mut file, header).unwrap(), &calls, rows);
    file
}

#[test]
fn every_call_comes_back() {
    let (header, calls) = log_of_everything();
    for rows in [usize::MAX, 5, 1] {
        assert_eq!(replay("arrow", &everything(rows)), (header.clone(), calls.clone()), "{rows}");
    }
}

#[test]
fn long_logs_come_back() {
    let (header, calls) = long_log(300_000);
    let mut file = Vec::new();
    write(ArrowWriter::new(&mut file, header.clone()).unwrap(), &calls, 200_000);
    assert_eq!(replay("arrow", &file), (header, calls));
}

#[test]
fn the_arrow_crate_reads_our_files() {
    let (header, calls) = long_log(200_000);
    let mut file = Vec::new();
    write(ArrowWriter::new(&mut file, header).unwrap(), &calls, 150_000);
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(file), None).unwrap();
    assert!(reader.custom_metadata().contains_key("logpose") && reader.schema().metadata().contains_key("logpose"));
    assert_eq!(reader.num_batches(), 3);
    let rows: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(rows, 200_000);

    let mut empty = Vec::new();
    write(ArrowWriter::new(&mut empty, Header::default()).unwrap(), &[], 1);
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(&empty), None).unwrap();
    assert_eq!(reader.num_batches(), 0);
    assert_eq!(replay("arrow", &empty), (Header::default(), Vec::new()));
}

#[test]
fn streams_are_read_too() {
    let file = everything(usize::MAX);
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(&file), None).unwrap();
    let mut stream = Vec::new();
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut stream, &reader.schema()).unwrap();
    reader.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.finish().unwrap();
    assert_eq!(bridge("arrow").sniff(&stream[..4096.min(stream.len())]), Confidence::Yes);
    let (header, calls) = replay("arrow", &stream);
    // A stream has no footer, so the events are lost.
    assert_eq!(header, log_of_everything().0);
    assert_eq!(calls.len(), log_of_everything().1.len() - 4);
}

#[test]
fn a_cut_file_keeps_its_whole_batches_when_salvaged() {
    let (header, calls) = long_log(300_000);
    let mut file = Vec::new();
    write(ArrowWriter::new(&mut file, header).unwrap(), &calls, 100_000);
    let cut = &file[..file.len() / 2];
    let error = refused("arrow", cut);
    assert_eq!((error.code, error.at), ("no-footer", cut.len() as u64));
    assert!(error.help.unwrap().contains("logpose recover"));
    let (mut store, mut problems) = (Vec::new(), Problems::default());
    let read = ReadOptions { salvage: true, ..ReadOptions::default() };
    bridge("arrow").unpack(cut, &read, &mut store, &mut problems).unwrap();
    let codes: Vec<_> = problems.list().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["no-footer", "truncated"]);
    let index = bridge("arrow").index(&store, &read, &mut problems).unwrap();
    let mut kept = Recording::default();
    bridge("arrow").replay(&store, &index, &Lookup::default(), &mut kept).unwrap();
    let samples = |calls: &[Call]| calls.iter().filter(|c| matches!(c, Call::Sample(..))).cloned().collect::<Vec<_>>();
    let (kept, all) = (samples(&kept.0), samples(&calls));
    assert!(kept.len() > 50_000);
    assert_eq!(kept, all[..kept.len()]);
}

#[test]
fn every_damaged_byte_is_an_error_or_other_samples() {
    let file = everything(20);
    for salvage in [false, true] {
        let read = ReadOptions { salvage, ..ReadOptions::default() };
        for at in (0..file.len()).step_by(13) {
            for flip in [0x15, 0x80] {
                let mut file = file.clone();
                file[at] ^= flip;
                let _ = bridge("arrow").unpack(&file, &read, &mut Vec::new(), &mut Problems::default());
            }
        }
    }
}

#[test]
fn every_prefix_is_an_error_or_fewer_samples() {
    let file = everything(20);
    let read = ReadOptions { salvage: true, ..ReadOptions::default() };
    for len in (0..file.len()).step_by(7) {
        assert!(len < 12 || refused("arrow", &file[..len]).help.is_some());
        let _ = bridge("arrow").unpack(&file[..len], &read, &mut Vec::new(), &mut Problems::default());
    }
}
