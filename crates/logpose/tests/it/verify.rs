use logpose::core::Lookup;
use logpose::{ConvertOptions, Filter, Format, Log, Output, Quiet, Wide, convert};
use tempfile::TempDir;

use crate::support::{AKIT, DATALOG, R1, R2, convert_to, open_demo};

fn some_seconds(log: &Log) -> Lookup {
    log.lookup(&Filter::default(), Some(&"19".parse().unwrap()), Some(&"25".parse().unwrap())).unwrap()
}

#[test]
fn every_format_can_be_proved() {
    let dir = TempDir::new().unwrap();
    for name in [DATALOG, AKIT, R2, R1] {
        for format in ["wpilog", "rlog", "csv", "ndjson", "csv.gz", "ndjson.zst"] {
            let path = dir.path().join(format!("{name}.{format}"));
            let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
            let logs = [open_demo(name)];
            let report = convert_to(&logs, vec![some_seconds(&logs[0])], &path, &options);
            let report = report.unwrap_or_else(|error| panic!("{name} to {format}: {error}"));
            assert!(report.verified && path.exists());
        }
        for every in [None, Some(100_000_000)] {
            let path = dir.path().join(format!("{name}.{every:?}.wide.csv"));
            let options = ConvertOptions { verify: true, wide: Some(Wide { every }), ..ConvertOptions::default() };
            let logs = [open_demo(name)];
            assert!(convert_to(&logs, vec![some_seconds(&logs[0])], &path, &options).unwrap().verified);
        }
    }
}

#[test]
fn a_stream_cannot_be_proved() {
    let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
    let error = convert(&[open_demo(R2)], Vec::new(), &Format::CSV, Output::Stream(&mut Vec::new()), &options, &Quiet)
        .unwrap_err();
    assert_eq!(error.code(), "usage");
}
