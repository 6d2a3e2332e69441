//! Recordings of Refloat boards, through every other format and back.

use std::path::{Path, PathBuf};

use logpose::core::{EncodeOptions, Lookup, Severity, Time};
use logpose::{ConvertOptions, Format, Log, Order, Quiet, recover};
use logpose_refloat::rfrec::Recording;
use tempfile::TempDir;

use crate::support::{convert_to, open, rows};

const FORMATS: [&str; 9] = ["mcap", "parquet", "arrow", "ndjson", "csv", "wpilog", "rlog", "rfrec", "rfrec.gz"];

fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/refloat").join(kind);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "rfrec")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn fixture(name: &str) -> PathBuf {
    fixtures("valid").into_iter().find(|path| path.ends_with(name)).unwrap()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Converts a file to a format and that back, and gives what came out.
fn there_and_back(path: &Path, format: &str, dir: &TempDir) -> Vec<u8> {
    let (there, back) = (dir.path().join(format!("there.{format}")), dir.path().join(format!("back-{format}.rfrec")));
    let options = ConvertOptions { verify: true, ..ConvertOptions::default() };
    convert_to(&[open(path)], Vec::new(), &there, &options).unwrap_or_else(|e| panic!("{format} {}: {e}", name(path)));
    let log = open(&there);
    let report = convert_to(&[log], Vec::new(), &back, &ConvertOptions::default());
    let report = report.unwrap_or_else(|error| panic!("{format} back, {}: {error}", name(path)));
    assert!(report.problems.is_empty(), "{format} {}: {:?}", name(path), report.problems);
    std::fs::remove_file(&there).unwrap();
    std::fs::read(back).unwrap()
}

#[test]
fn every_recording_survives_every_format_to_the_bit() {
    for path in fixtures("valid") {
        let original = std::fs::read(&path).unwrap();
        let one = Recording::read(&original).unwrap();
        for format in FORMATS {
            let dir = TempDir::new().unwrap();
            let back = there_and_back(&path, format, &dir);
            let two = Recording::read(&back).unwrap();
            assert!(one.samples().eq(two.samples()) && two.complete, "{format} {}", name(&path));
            // Only blocks that were out of order are put in it.
            let canonical = !path.ends_with("any-order.rfrec");
            assert_eq!(back == original, canonical, "{format} {}", name(&path));
            assert_eq!(one.epoch_ns(), two.epoch_ns(), "{format} {}", name(&path));
        }
    }
}

#[test]
fn the_wall_clock_is_known() {
    let log = open(&fixture("v1.3.rfrec"));
    assert_eq!(log.epoch_ns(), Some(1_783_159_849_654_400_000));
    assert_eq!(log.index.fact("board"), Some("Refloat 1.3.0-beta2"));
}

#[test]
fn samples_of_one_tick_keep_their_order() {
    let log = open(&fixture("equal-ticks.rfrec"));
    for order in [Order::File, Order::Time] {
        let values = rows(std::slice::from_ref(&log), Vec::new(), order).into_iter();
        let values: Vec<f32> = values
            .filter(|(name, ..)| name == "/refloat/erpm")
            .map(|(.., payload)| f32::from_le_bytes(payload.try_into().unwrap()))
            .collect();
        assert_eq!(values, [7.0, 7.0, 8.0, 8.0, 8.0], "{order:?}");
    }
    let log = open(&fixture("any-order.rfrec"));
    let [file, time] = [Order::File, Order::Time].map(|order| rows(std::slice::from_ref(&log), Vec::new(), order));
    let of = |rows: &[crate::support::Row]| {
        let mut found: Vec<_> = rows.iter().filter(|row| row.0.ends_with("erpm")).cloned().collect();
        found.dedup();
        found
    };
    assert_eq!(of(&file), of(&time));
    assert_eq!(of(&file).len(), 9);
}

#[test]
fn a_cut_recording_is_one_of_its_own_and_says_so() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("cut.rfrec");
    let log = open(&fixture("v1.3.rfrec"));
    let start = Time::from_nanos((123_456 + 12 * 10) * 100_000);
    let always = log.index.channels.iter().map(|c| c.channel.name.starts_with("/refloat/file/")).collect();
    let lookup = Lookup { start: Some(start), always, ..Lookup::default() };
    let report = convert_to(&[log], vec![lookup], &path, &ConvertOptions::default()).unwrap();
    assert_eq!(report.problems.list()[0].code, "other-size");
    let bytes = std::fs::read(&path).unwrap();
    let recording = Recording::read(&bytes).unwrap();
    assert!(recording.complete && recording.held() == 14);
    assert_eq!(recording.timed().next().unwrap().time, start);
}

#[test]
fn what_is_no_recording_is_refused_by_name_and_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    let made = dir.path().join("x.rfrec");
    let refusal = |channels: &[(&str, &str)], values: &[(u32, Time, logpose::core::Value<'_>)]| {
        let bytes = crate::support::encode("wpilog", channels, values);
        let log = Log::from_bytes("x.wpilog", bytes, &logpose::OpenOptions::default()).unwrap();
        let error = convert_to(&[log], Vec::new(), &made, &ConvertOptions::default()).unwrap_err();
        assert!(!made.exists());
        error.to_string()
    };
    let error = refusal(&[("/drive", "double")], &[]);
    assert!(error.contains("\"/drive\"") && error.contains("-y"), "{error}");
    let value = logpose::core::Value::Float(0.1);
    let error = refusal(&[("/refloat/erpm", "float")], &[(0, Time::ZERO, value)]);
    assert!(error.contains("\"/refloat/erpm\"") && error.contains("0.1 cannot be stored in 16 bits"), "{error}");
    // Only when all samples are there it is known that some are missing.
    let value = logpose::core::Value::Float(0.5);
    let error = refusal(&[("/refloat/erpm", "float"), ("/refloat/pitch", "float")], &[(0, Time::ZERO, value)]);
    assert!(error.contains("\"/refloat/pitch\": it has 0 samples"), "{error}");
}

#[test]
fn two_recordings_are_not_one() {
    let dir = TempDir::new().unwrap();
    let logs = [open(&fixture("v1.2.rfrec")), open(&fixture("v1.3.rfrec"))];
    let error = convert_to(&logs, Vec::new(), &dir.path().join("x.rfrec"), &ConvertOptions::default()).unwrap_err();
    assert!(error.to_string().contains("/refloat/"), "{error}");
}

#[test]
fn damaged_recordings_are_saved_with_what_they_hold() {
    for path in fixtures("corrupt") {
        let Ok(log) = Log::open_with(&path, &logpose::OpenOptions::default(), &Quiet) else { continue };
        let dir = TempDir::new().unwrap();
        let saved = dir.path().join("saved.rfrec");
        let to = logpose::Output::File { path: &saved, force: false, wrapper: None };
        let done = recover(&path, to, &logpose::OpenOptions::default(), &Quiet);
        // Without a HEADER there are no samples, and no file that could hold them.
        let headless = log.problems.list().iter().any(|problem| problem.message.contains("missing HEADER"));
        assert_eq!(done.is_err(), headless, "{}: {done:?}", name(&path));
        if let Err(error) = done {
            assert!(error.to_string().contains("missing header") && !saved.exists(), "{error}");
            continue;
        }
        let again = open(&saved);
        assert!(again.problems.worst() != Some(Severity::Damage), "{}: {:?}", name(&path), again.problems);
        assert_eq!(again.index.samples(), log.index.samples(), "{}", name(&path));
        let codes: Vec<_> = again.problems.list().iter().map(|problem| problem.code).collect();
        assert!(!codes.contains(&"bad-crc") && !codes.contains(&"truncated"), "{}: {codes:?}", name(&path));
        if log.problems.worst() == Some(Severity::Damage) {
            let there = dir.path().join("there.mcap");
            convert_to(&[log], Vec::new(), &there, &ConvertOptions::default()).unwrap();
        }
    }
}

#[test]
fn the_encoder_has_no_revisions() {
    let dialect = Format::from_name("refloat").unwrap().files().unwrap();
    assert!(dialect.encoder(&EncodeOptions { revision: Some(2), ..EncodeOptions::default() }).is_none());
}
