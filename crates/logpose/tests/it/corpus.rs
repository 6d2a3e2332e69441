use std::path::Path;

use logpose::core::{Severity, Type};
use logpose::frc::Facts;
use logpose::{ConvertOptions, Log, OpenOptions, Order, Quiet, doctor};
use logpose_testkit::corpus_files;
use tempfile::TempDir;

use crate::support::{by_channel, convert_to, open, rows};

fn logs(folder: &str) -> Vec<std::path::PathBuf> {
    let mut files = corpus_files(folder);
    files.retain(|path| path.extension().is_some_and(|e| e == "wpilog" || e == "wpilogxz" || e == "rlog"));
    files
}

/// What is tried in every way; the large ones are much the same, and a debug build is slow.
const SMALL: u64 = 160 << 10;

fn salvage(path: &Path) -> Log {
    let options = OpenOptions { salvage: true, ..OpenOptions::default() };
    Log::open_with(path, &options, &Quiet).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_log_of_the_corpus_opens() {
    for folder in ["wpilog", "rlog"] {
        let files = logs(folder);
        for path in files {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let log = salvage(&path);
            assert_eq!(log.dialect().info().name, folder, "{name}");
            let _ = (Facts::of(&log), log.schemas(), log.robust_range());
            if let Err(error) = Log::open_with(&path, &OpenOptions::default(), &Quiet) {
                assert!(
                    name.contains("noheader") || name.contains("norevision") || name.contains("headerless"),
                    "{error}"
                );
                assert!(error.help.is_some(), "{error}");
            }
            let checkup = doctor(&path, &OpenOptions::default(), &Quiet).unwrap();
            let damaged =
                ["bitflip", "garbage", "truncated", "ff-tail", "zero-hole", "noheader", "norevision", "headerless"];
            if name.starts_with("derived") && damaged.iter().any(|word| name.contains(word)) {
                assert!(
                    !checkup.ok || checkup.findings.iter().any(|f| f.severity >= Severity::Warning),
                    "{name}: {:?}",
                    checkup.findings
                );
            }
        }
    }
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn the_order_of_time_holds_on_the_corpus() {
    let files = logs("wpilog");
    for path in files.iter().filter(|path| !path.to_string_lossy().contains("noheader")) {
        let log = [open(path)];
        let mut sorted = rows(&log, Vec::new(), Order::File);
        sorted.sort_by_key(|row| row.2);
        assert!(rows(&log, Vec::new(), Order::Time) == sorted, "{}", path.display());
    }
}

/// Whether RLOG has room for everything: lengths have 15 bits for AdvantageScope.
fn fits(log: &Log) -> bool {
    let dialect = log.dialect();
    log.index.channels.iter().enumerate().all(|(id, found)| {
        if found.channel.ty() != Type::Bytes && found.channel.ty().fixed_size().is_some() {
            return found.channel.name.len() < 0x8000;
        }
        let at: Vec<u64> = found.positions.iter().collect();
        let rows: Vec<_> =
            at.iter().map(|at| logpose::core::Row { time: found.first, at: *at, channel: id as u32 }).collect();
        let mut fit = true;
        let take = &mut |samples: &[logpose::core::Sample<'_>]| {
            fit = samples.iter().all(|sample| {
                let mut payload = Vec::new();
                sample.value.emit(logpose::core::Layout::Big, &mut payload);
                payload.len() < 0x8000
            });
            Ok(())
        };
        dialect.samples(log.bytes(), &log.index, &rows, take).unwrap();
        fit
    })
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn logs_go_to_rlog_and_back_with_every_value_and_microsecond() {
    let files = logs("wpilog");
    let dir = TempDir::new().unwrap();
    let mut carried = 0;
    for path in files.iter().filter(|path| !path.to_string_lossy().contains("noheader")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let log = open(path);
        if log.problems.worst() == Some(Severity::Damage) {
            continue;
        }
        let (there, back) = (dir.path().join(format!("{name}.rlog")), dir.path().join(format!("{name}.back.wpilog")));
        let verify = ConvertOptions { verify: true, ..ConvertOptions::default() };
        if !fits(&log) {
            let error = convert_to(&[log], Vec::new(), &there, &verify).unwrap_err();
            assert_eq!(error.code(), "refused", "{name}");
            assert!(!there.exists());
            continue;
        }
        let report = convert_to(&[log], Vec::new(), &there, &verify).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(report.verified);
        convert_to(&[open(&there)], Vec::new(), &back, &verify).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(by_channel(open(&back)) == by_channel(open(path)), "{name}");
        carried += 1;
    }
    assert!(carried > 10, "{carried} logs carried over");
}

#[test]
#[ignore = "needs the corpus of real logs"]
fn every_log_of_the_corpus_converts_to_text_and_is_proved() {
    let dir = TempDir::new().unwrap();
    for folder in ["wpilog", "rlog"] {
        let files = logs(folder);
        for path in files.iter().filter(|path| std::fs::metadata(path).unwrap().len() < SMALL) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let verify = ConvertOptions { verify: true, ..ConvertOptions::default() };
            for format in ["csv", "ndjson", folder] {
                let to = dir.path().join(format!("{name}.{format}"));
                let report = convert_to(&[salvage(path)], Vec::new(), &to, &verify);
                match report {
                    Ok(report) => assert!(report.verified),
                    Err(error) if error.code() == "refused" => println!("{error}"),
                    Err(error) => panic!("{name} to {format}: {error}"),
                }
                let _ = std::fs::remove_file(to);
            }
        }
    }
}
