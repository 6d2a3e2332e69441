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
