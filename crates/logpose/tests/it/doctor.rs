use logpose::core::{Severity, Time, Value};
use logpose::{OpenOptions, Output, Quiet, doctor, recover};
use tempfile::TempDir;

use crate::support::{AKIT, DAMAGED, DATALOG, R1, R2, convert_to, demo_dir, encode, open, open_demo, rows};

#[test]
fn healthy_logs_are_healthy() {
    for name in [DATALOG, AKIT, R2, R1] {
        let checkup = doctor(&demo_dir().join(name), &OpenOptions::default(), &Quiet).unwrap();
        assert!(checkup.ok, "{name}: {:?}", checkup.findings);
        assert!(
            checkup.findings.iter().all(|finding| finding.severity == Severity::Note),
            "{name}: {:?}",
            checkup.findings
        );
    }
}

#[test]
fn damage_is_found_where_it_is() {
    let checkup = doctor(&demo_dir().join(DAMAGED), &OpenOptions::default(), &Quiet).unwrap();
    assert!(!checkup.ok);
    let middle = open_demo(DATALOG).bytes().len() as u64 / 2;
    let damage: Vec<_> = checkup.findings.iter().filter(|finding| finding.severity == Severity::Damage).collect();
    let near = |at: u64| at.abs_diff(middle) < 2000;
    assert!(damage.iter().any(|finding| finding.at.is_some_and(near)), "{damage:?}");
    let end = checkup.log.unwrap().bytes().len() as u64;
    assert!(damage.iter().any(|finding| finding.at.is_some_and(|at| end - at < 200)), "{damage:?}");
}

#[test]
fn a_damaged_log_is_recovered_but_for_the_damage() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("saved.wpilog");
    let to = Output::File { path: &path, force: false, wrapper: None };
    let recovered = recover(&demo_dir().join(DAMAGED), to, &OpenOptions::default(), &Quiet).unwrap();
    let saved = open(&path);
    assert!(saved.problems.is_empty(), "{:?}", saved.problems);
    assert_eq!(saved.index.samples(), recovered.samples);
    let whole = open_demo(DATALOG).index.samples();
    assert!(recovered.samples < whole && recovered.samples + 60 > whole, "{} of {whole}", recovered.samples);
    assert!((512..1500).contains(&recovered.lost_bytes), "{} bytes lost", recovered.lost_bytes);
    assert!(recovered.findings.iter().any(|finding| finding.severity == Severity::Damage));
}

#[test]
fn a_healthy_log_is_recovered_whole() {
    let dir = TempDir::new().unwrap();
    for name in [DATALOG, AKIT, R2, R1] {
        let path = dir.path().join(name);
        let to = Output::File { path: &path, force: false, wrapper: None };
        let recovered = recover(&demo_dir().join(name), to, &OpenOptions::default(), &Quiet).unwrap();
        assert_eq!(recovered.lost_bytes, 0, "{name}: {:?}", recovered.findings);
        let (saved, original) = (open(&path), open_demo(name));
        for fact in ["extra_header", "revision"] {
            assert_eq!(saved.index.fact(fact), original.index.fact(fact), "{name}");
        }
        assert!(
            rows(&[saved], Vec::new(), logpose::Order::File) == rows(&[original], Vec::new(), logpose::Order::File),
            "{name}"
        );
    }
}

#[test]
fn oddities_are_findings_too() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("odd.wpilog");
    let samples = [
        (0, Time::from_millis(20), Value::Double(0.0)),
        (0, Time::from_millis(10), Value::Double(0.0)),
        (1, Time::from_millis(-10), Value::String(b"x")),
        (2, Time::ZERO, Value::Bytes(&[1])),
    ];
    std::fs::write(&path, encode("wpilog", &[("a", "double"), ("a", "string"), ("b", "struct:Unheard")], &samples))
        .unwrap();
    let checkup = doctor(&path, &OpenOptions::default(), &Quiet).unwrap();
    let codes: Vec<_> = checkup.findings.iter().map(|finding| finding.code).collect();
    for code in ["time-steps-back", "type-changes", "negative-times", "missing-schema"] {
        assert!(codes.contains(&code), "{code} in {codes:?}");
    }
    assert!(checkup.ok, "nothing of it is damage");
}

/// Recovers a file and checks that the copy is whole and has what the report says.
fn recovered(from: &std::path::Path, to: &std::path::Path) -> Result<logpose::Recovered, logpose::Error> {
    let wrapper = logpose::Format::from_path(to).and_then(|(_, wrapper)| wrapper);
    let output = Output::File { path: to, force: true, wrapper };
    let done = recover(from, output, &OpenOptions::default(), &Quiet)?;
    let checkup = doctor(to, &OpenOptions::default(), &Quiet).unwrap();
    assert!(checkup.ok, "{}: {:?}, {:?}", from.display(), checkup.findings, done.findings);
    let log = checkup.log.unwrap();
    assert_eq!((done.samples, done.report.channels), (log.index.samples(), log.index.channels.len()));
    // A copy that cannot have everything says so.
    let incomplete = done.findings.iter().any(|finding| finding.code == "copy-incomplete");
    assert!(done.report.verified != incomplete, "{}: {:?}", from.display(), done.findings);
    Ok(done)
}

#[test]
fn both_files_of_a_driver_station_are_recovered_as_wpilog() {
    let dir = TempDir::new().unwrap();
    let log = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dslog/valid/match.dslog");
    let (to, both) = (dir.path().join("match.wpilog"), open(&log).index);
    let done = recovered(&log, &to).unwrap();
    assert_eq!((done.samples, done.report.channels), (both.samples(), both.channels.len()));
    assert_eq!(open(&to).dialect().info().name, "wpilog");
}

#[test]
fn the_name_of_the_output_selects_the_format_of_what_is_recovered() {
    let dir = TempDir::new().unwrap();
    for name in ["wpilog", "rlog", "mcap", "parquet", "arrow"] {
        let to = dir.path().join(format!("saved.{name}"));
        recovered(&demo_dir().join(DAMAGED), &to).unwrap();
        assert_eq!(open(&to).dialect().info().name, name);
    }
    for name in ["saved.csv", "saved.dslog"] {
        let error = recovered(&demo_dir().join(DAMAGED), &dir.path().join(name)).unwrap_err();
        assert!(error.to_string().contains("recover cannot write"), "{error}");
    }
}

/// Mutates logs by a fixed seed, recovers each, and checks that the copy is healthy. At least `min` of the mutants must
/// be readable at all.
fn check_mutants(seeds: &[(String, Vec<u8>)], kept: &str, rounds: usize, min: usize) {
    let dir = TempDir::new().unwrap();
    let (mut state, mut met) = (0x2545_f491_4f6c_dd1d_u64, 0);
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    };
    for round in 0..rounds {
        let (name, original) = &seeds[round % seeds.len()];
        let mut bytes = original.clone();
        for _ in 0..=next(3) {
            // Something is left to be damaged further.
            bytes.resize(bytes.len().max(16), 0);
            let at = next(bytes.len());
            match next(7) {
                0 => bytes.truncate(at.max(16)),
                1 => bytes[at] ^= 1 << next(8),
                2 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                3 => bytes[at..].iter_mut().take(30).for_each(|byte| *byte = 0),
                4 => bytes[at] = u8::try_from(next(256)).unwrap(),
                5 => {
                    let again = bytes[at..(at + next(200)).min(bytes.len())].to_vec();
                    let place = next(bytes.len());
                    drop(bytes.splice(place..place, again));
                }
                _ => drop(bytes.drain(at..(at + next(40)).min(bytes.len()))),
            }
        }
        let from = dir.path().join(format!("{round}-{name}"));
        std::fs::write(&from, bytes).unwrap();
        // What cannot be read at all is refused with a sentence, and leaves no file.
        met += usize::from(recovered(&from, &dir.path().join(format!("saved.{kept}"))).is_ok());
        std::fs::remove_file(&from).unwrap();
    }
    println!("{kept}: {met} of {rounds} recovered");
    assert!(met >= min, "only {met} of {rounds} could be recovered");
}

/// The fixtures of a dialect, sound and corrupt, with one of these extensions.
fn seeds(folder: &str, extensions: &[&str]) -> Vec<(String, Vec<u8>)> {
    let folders = [format!("{folder}/valid"), format!("{folder}/corrupt")];
    let is_wanted = |name: &str| extensions.iter().any(|extension| name.ends_with(&format!(".{extension}")));
    let found = folders.iter().flat_map(|folder| logpose_testkit::fixtures(folder));
    found.filter(|(name, bytes)| is_wanted(name) && bytes.len() < 64 << 10).collect()
}

/// Small logs in a format, made of fixtures.
fn made(format: &str) -> Vec<(String, Vec<u8>)> {
    let dir = TempDir::new().unwrap();
    let sources =
        [("wpilog/valid", "wpilog"), ("rlog/valid", "rlog"), ("refloat/valid", "rfrec"), ("carla/valid", "log")];
    let mut made = Vec::new();
    for (folder, extension) in sources {
        let files = logpose_testkit::files_in(&logpose_testkit::fixture(folder));
        let is_small = |path: &std::path::PathBuf| path.metadata().unwrap().len() < 4000;
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|e| e == extension)).filter(is_small) {
            let to = dir.path().join(format!("{}.{format}", made.len()));
            if convert_to(&[open(&path)], Vec::new(), &to, &logpose::ConvertOptions::default()).is_ok() {
                made.push((to.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&to).unwrap()));
            }
        }
    }
    made
}

#[test]
fn what_is_recovered_of_any_mutated_wpilog_is_healthy() {
    check_mutants(&seeds("wpilog", &["wpilog"]), "wpilog", 600, 550);
}

#[test]
fn what_is_recovered_of_any_mutated_rlog_is_healthy() {
    check_mutants(&seeds("rlog", &["rlog"]), "rlog", 500, 400);
}

#[test]
fn what_is_recovered_of_any_mutated_carla_recording_is_healthy() {
    check_mutants(&seeds("carla", &["log"]), "log", 500, 400);
}

#[test]
fn what_is_recovered_of_any_mutated_refloat_recording_is_healthy() {
    check_mutants(&seeds("refloat", &["rfrec"]), "rfrec", 500, 200);
}

#[test]
fn what_is_recovered_of_any_mutated_log_of_a_driver_station_is_healthy() {
    check_mutants(&seeds("dslog", &["dslog"]), "wpilog", 300, 200);
    check_mutants(&seeds("dslog", &["dsevents"]), "wpilog", 300, 200);
}

#[test]
fn what_is_recovered_of_any_mutated_mcap_is_healthy() {
    check_mutants(&made("mcap"), "mcap", 300, 200);
}

#[test]
fn what_is_recovered_of_any_mutated_table_is_healthy() {
    check_mutants(&made("arrow"), "arrow", 200, 5);
    check_mutants(&made("parquet"), "parquet", 200, 5);
    check_mutants(&made("csv"), "wpilog", 200, 5);
    check_mutants(&made("ndjson"), "wpilog", 200, 5);
}

#[test]
fn what_is_recovered_of_any_mutated_capture_is_healthy() {
    check_mutants(&seeds("pcap", &["pcap", "pcapng"]), "wpilog", 300, 200);
}

#[test]
fn what_is_recovered_of_any_mutated_ride_is_healthy() {
    check_mutants(&seeds("rides", &["csv", "json", "zip"]), "wpilog", 300, 40);
}

#[test]
fn what_is_recovered_of_any_mutated_wrapper_is_healthy() {
    for wrapper in ["gz", "zst", "xz", "lz4"] {
        let format = format!("wpilog.{wrapper}");
        check_mutants(&made(&format), &format, 60, 5);
    }
}
