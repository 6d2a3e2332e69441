//! `logpose ds list`, and other commands on the Driver Station's logs.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::run::{code, logpose, stderr, stdout, typed};

/// A folder with a match, a log without events, a damaged one, and one that nobody can read.
fn season() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/dslog");
    fs::create_dir(dir.path().join("day 1")).unwrap();
    for (from, to) in [
        ("valid/match.dslog", "day 1/q35.dslog"),
        ("valid/match.dsevents", "day 1/q35.dsevents"),
        ("valid/v4-pdp.dslog", "pit.dslog"),
        ("corrupt/v3-cut.dslog", "cut.dslog"),
        ("corrupt/version-2.dslog", "old.dslog"),
    ] {
        fs::copy(fixtures.join(from), dir.path().join(to)).unwrap();
    }
    dir
}

#[test]
fn a_season_is_a_table() {
    let dir = season();
    let output = logpose(dir.path()).args(["ds", "list", "."]).env("TZ", "UTC").output().unwrap();
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    let line = lines.iter().find(|line| line.contains("q35")).unwrap();
    let words: Vec<&str> = line.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    let file = format!(".{0}day 1{0}q35.dslog", std::path::MAIN_SEPARATOR);
    assert_eq!(
        words,
        [
            "2022-03-06 07:33:40",
            "300 ms",
            "TXPAS qualification 35",
            "120 ms",
            "1 (20 ms)",
            "1 (40 ms)",
            "6.64 V",
            &*file
        ]
    );
    assert_eq!(lines[4], "3 logs, 1 match, enabled for 360 ms");
    assert_eq!(code(&output), 1, "one cannot be read");
    let errors = stderr(&output);
    assert!(errors.contains("written by the Driver Station of 2015"), "{errors}");
    assert!(errors.contains("cut.dslog: byte 0x1fe: power distribution needs 25 bytes, 22 left"), "{errors}");
}

#[test]
fn a_season_is_json() {
    let dir = season();
    let output = typed(dir.path(), "logpose ds list 'day 1' pit.dslog --matches --json");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found: Json = serde_json::from_str(&stdout(&output)).unwrap();
    let [log] = found.as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!(log["match"]["number"], 35);
    assert_eq!(log["match"]["field_time"], "2022-03-06T01:33:48");
    assert_eq!(log["start"], "2022-03-06T07:33:40.5Z");
    assert_eq!((&log["records"], &log["events"], &log["errors"]), (&15.into(), &14.into(), &1.into()));
    assert_eq!((&log["pd"], &log["lowest_battery"]), (&"REV PDH".into(), &6.640_625.into()));
    assert_eq!(code(&typed(dir.path(), "logpose ds list nowhere")), 1);
    assert_eq!(code(&typed(dir.path(), "logpose ds list")), 2);
}

#[test]
fn both_files_of_a_log_are_opened_once() {
    let dir = season();
    for names in ["q35.dslog", "q35.dsevents", "q35.dslog q35.dsevents"] {
        let output = typed(&dir.path().join("day 1"), &format!("logpose cat {names} -y /ds/console -y /ds/battery"));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        // Two lines of the console, and ten records with a robot.
        assert_eq!(stdout(&output).lines().count(), 12, "{names}: {}", stdout(&output));
    }
    let output = typed(&dir.path().join("day 1"), "logpose dump q35.dsevents -N 2");
    assert!(stdout(&output).contains("0x00000014     202  2022-03-06T07:33:40.500000000Z"), "{}", stdout(&output));
}
