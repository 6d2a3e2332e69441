use logpose::core::{Cursor, Lookup, Severity};
use logpose::{ConvertOptions, Format, Formats, Log, OpenOptions, Output, Quiet, convert, doctor, recover};

use super::Toy;
use super::wire::{MAGIC, Record};

/// The options that make the dialect known.
fn options() -> OpenOptions {
    OpenOptions { formats: Formats::default().with(&Toy), ..OpenOptions::default() }
}

fn csv() -> Log {
    let rows = b"time,channel,value\n0.5,/Drive/Speed,1.5\n0.6,/Arm/Angle,-0.25\n0.7,/Drive/Speed,2.5\n";
    Log::from_bytes("drive.csv", rows.to_vec(), &OpenOptions::default()).unwrap()
}

/// The same as a toy log in memory.
fn toy() -> Vec<u8> {
    let mut out = Vec::new();
    let to = Output::Stream(&mut out);
    convert(&[csv()], Vec::new(), &Format::of(&Toy), to, &ConvertOptions::default(), &Quiet).unwrap();
    out
}

#[test]
fn records_come_back_as_they_were() {
    for record in [Record::Start { id: 7, name: "/a" }, Record::Sample { id: 7, micros: -1, value: 0.1 }] {
        let mut bytes = Vec::new();
        record.emit(&mut bytes);
        assert_eq!(Record::parse(&mut Cursor::new(&bytes, 0)), Ok(record));
    }
}

#[test]
fn a_file_is_written_checked_and_known_by_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.toy");
    let check = ConvertOptions { verify: true, ..ConvertOptions::default() };
    let report = convert(&[csv()], Vec::new(), &Format::of(&Toy), Output::file(&path), &check, &Quiet).unwrap();
    assert!(report.verified && report.problems.is_empty());

    let log = Log::open_with(&path, &options(), &Quiet).unwrap();
    assert_eq!((log.format().name(), log.index.samples()), ("toy", 3));
    let speeds: Vec<f64> = log.samples("/Drive/Speed").unwrap().numbers().map(|(_, speed)| speed).collect();
    assert_eq!(speeds, [1.5, 2.5]);
    // Without the dialect nobody knows such a file.
    assert_eq!(Log::open(&path).unwrap_err().code(), "unknown-format");
}

#[test]
fn a_log_is_printed_and_converted() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::from_bytes("-", toy(), &options()).unwrap();
    let mut rows = Vec::new();
    let lookup = log.within("0.6..").unwrap();
    let logs = std::slice::from_ref(&log);
    convert(logs, vec![lookup], &Format::CSV, Output::Stream(&mut rows), &ConvertOptions::default(), &Quiet).unwrap();
    let expected = "time,channel,value\r\n0.600,/Arm/Angle,-0.25\r\n0.700,/Drive/Speed,2.5\r\n";
    assert_eq!(String::from_utf8(rows).unwrap(), expected);

    let check = ConvertOptions { verify: true, ..ConvertOptions::default() };
    for name in ["a.parquet", "a.mcap", "a.wpilog", "a.csv", "a.toy"] {
        let report = log.save_with(folder.path().join(name), &Lookup::default(), &check).unwrap();
        assert_eq!((report.samples, report.verified), (3, true), "{name}");
    }
}

#[test]
fn every_prefix_is_read_up_to_the_damage() {
    let whole = toy();
    for end in 0..whole.len() {
        let Ok(log) = Log::from_bytes("cut.toy", whole[..end].to_vec(), &options()) else { continue };
        let read = log.index.spans.first().map_or(MAGIC.len() as u64, |span| span.end);
        assert_eq!(log.problems.worst() == Some(Severity::Damage), read < end as u64, "{end} bytes");
    }
}

#[test]
fn a_damaged_file_is_found_out_and_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let (damaged, saved) = (folder.path().join("cut.toy"), folder.path().join("saved.toy"));
    let whole = toy();
    std::fs::write(&damaged, &whole[..whole.len() - 1]).unwrap();
    let checkup = doctor(&damaged, &options(), &Quiet).unwrap();
    assert_eq!((checkup.ok, checkup.findings[0].code), (false, "truncated"));

    let recovered = recover(&damaged, Output::file(&saved), &options(), &Quiet).unwrap();
    assert_eq!((recovered.samples, recovered.report.verified), (2, true));
    let text = Log::from_bytes("t.csv", b"time,channel,value\n1,/t,text\n".to_vec(), &options()).unwrap();
    let refused = text.save(folder.path().join("text.toy")).unwrap_err();
    assert!(refused.to_string().contains("only numbers of the type double"), "{refused}");
}
