use logpose::core::{Severity, Time, Value};
use logpose::{OpenOptions, Output, Quiet, doctor, recover};
use tempfile::TempDir;

use crate::support::{AKIT, DAMAGED, DATALOG, R1, R2, demo_dir, encode, open, open_demo, rows};

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
    let output = Output::File { path: to, force: true, wrapper: None };
    let done = recover(from, output, &OpenOptions::default(), &Quiet)?;
    let checkup = doctor(to, &OpenOptions::default(), &Quiet).unwrap();
    // A CARLA packet with bytes behind its records keeps them in every copy, so its copy is still damaged. `recover`
    // reports that, but should write a packet that CARLA can read.
    let surplus = |code: &str| code == "packet-size";
    if !checkup.ok && checkup.findings.iter().any(|finding| surplus(finding.code)) {
        assert!(done.findings.iter().any(|finding| finding.code == "copy-damaged") && !done.report.verified);
        return Ok(done);
    }
    assert!(checkup.ok, "{}: {:?}, {:?}", from.display(), checkup.findings, done.findings);
    let log = checkup.log.unwrap();
    assert_eq!((done.samples, done.report.channels), (log.index.samples(), log.index.channels.len()));
    assert!(done.report.verified, "{}: {:?}", from.display(), done.findings);
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

#[test]
fn what_is_recovered_of_any_mutated_log_is_whole() {
    let dir = TempDir::new().unwrap();
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let (mut state, mut met) = (0x2545_f491_4f6c_dd1d_u64, 0);
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    };
    for name in ["wpilog", "rlog", "carla", "dslog", "refloat"] {
        let info = logpose::dialect(name).unwrap().info();
        let mut files: Vec<_> = std::fs::read_dir(fixtures.join(name).join("valid"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| info.extensions.contains(&e.to_str().unwrap())))
            .filter(|path| path.metadata().unwrap().len() < 64 << 10)
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{name}");
        for round in 0..60 {
            let original = files.get(round % files.len()).unwrap();
            let mut bytes = std::fs::read(original).unwrap();
            for _ in 0..=next(3) {
                let at = next(bytes.len());
                match next(4) {
                    0 => bytes.truncate(at.max(16)),
                    1 => bytes[at] ^= 1 << next(8),
                    2 => bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xff),
                    _ => drop(bytes.drain(at..(at + next(40)).min(bytes.len()))),
                }
            }
            let extension = original.extension().unwrap().to_str().unwrap();
            let from = dir.path().join(format!("mutated.{extension}"));
            std::fs::write(&from, bytes).unwrap();
            let kept = if info.files.write { extension } else { "wpilog" };
            // What cannot be read at all is refused with a sentence, and leaves no file.
            met += usize::from(recovered(&from, &dir.path().join(format!("saved.{kept}"))).is_ok());
        }
    }
    assert!(met > 200, "only {met} could be recovered");
}
