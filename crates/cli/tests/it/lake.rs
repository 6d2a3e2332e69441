//! Lakes from outside: ingests that are killed, and several at once.

use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::run::{code, folder, logpose, stderr, stdout, typed};

/// Logs of a few sizes in a folder of their own.
fn logs(dir: &Path) {
    assert_eq!(code(&typed(dir, "logpose demo logs -q")), 0);
    let made = folder();
    for name in ["match.wpilog", "pit.wpilog", "truncated.wpilog"] {
        std::fs::copy(made.path().join(name), dir.join("logs").join(name)).unwrap();
    }
    std::fs::write(dir.join("logs/notes.txt"), "no log").unwrap();
}

/// The logs of a lake, by their hashes, and their samples.
fn listed(dir: &Path, lake: &str) -> Vec<(String, u64)> {
    let output = typed(dir, &format!("logpose lake ls {lake} --json"));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let rows: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let row = |row: &serde_json::Value| (row["hash"].as_str().unwrap().to_owned(), row["samples"].as_u64().unwrap());
    let mut rows: Vec<_> = rows.as_array().unwrap().iter().map(row).collect();
    rows.sort();
    rows
}

fn assert_sound(dir: &Path, lake: &str, what: &str) {
    let verified = typed(dir, &format!("logpose lake verify {lake} --deep"));
    assert_eq!(code(&verified), 0, "{what}: {}{}", stdout(&verified), stderr(&verified));
    // What the tables say, asked of them.
    let sums = "SELECT (SELECT count(*) FROM samples) - (SELECT coalesce(sum(samples), 0) FROM logs) AS more";
    let asked = typed(dir, &format!("logpose sql --lake {lake} '{sums}' --format csv"));
    assert_eq!(stdout(&asked), "more\r\n0\r\n", "{what}: {}", stderr(&asked));
}

#[test]
fn an_ingest_that_is_killed_is_finished_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    logs(dir.path());
    let whole = typed(dir.path(), "logpose ingest whole logs");
    // One of the logs is damaged.
    assert_eq!(code(&whole), 3, "{}", stderr(&whole));
    let expected = listed(dir.path(), "whole");
    assert!(expected.len() >= 6, "{expected:?}");
    for round in 0..KILLS {
        let lake = format!("killed{}", round / 4);
        let mut child =
            logpose(dir.path()).args(["ingest", &lake, "logs", "-q"]).stderr(Stdio::null()).spawn().unwrap();
        // Moments spread over what an ingest takes.
        thread::sleep(Duration::from_millis(20 + (round * 7919) % 900));
        child.kill().unwrap();
        child.wait().unwrap();
        if round % 4 == 3 {
            let again = typed(dir.path(), &format!("logpose ingest {lake} logs -q"));
            assert!(matches!(code(&again), 0 | 3), "{}", stderr(&again));
            assert_eq!(listed(dir.path(), &lake), expected, "round {round}");
            assert_sound(dir.path(), &lake, &format!("round {round}"));
        } else if dir.path().join(&lake).join("logs/_delta_log").exists() {
            // Nothing is half visible: each log that is there is there as a whole.
            let found = listed(dir.path(), &lake);
            assert!(found.iter().all(|log| expected.contains(log)), "round {round}: {found:?}");
            let sums = "SELECT (SELECT count(*) FROM samples) - (SELECT coalesce(sum(samples), 0) FROM logs) AS more";
            let asked = typed(dir.path(), &format!("logpose sql --lake {lake} '{sums}' --format csv"));
            assert_eq!(stdout(&asked), "more\r\n0\r\n", "round {round}: {}", stderr(&asked));
        }
    }
}

#[test]
fn several_ingests_of_one_lake_hold_each_log_once() {
    let dir = tempfile::tempdir().unwrap();
    logs(dir.path());
    assert_eq!(code(&typed(dir.path(), "logpose ingest whole logs -q")), 3);
    let expected = listed(dir.path(), "whole");
    let children: Vec<_> = (0..4)
        .map(|_| logpose(dir.path()).args(["ingest", "lake", "logs", "--json"]).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut added = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(matches!(code(&output), 0 | 3), "{}", stderr(&output));
        for line in stdout(&output).lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let outcome = line["outcome"].as_str().unwrap();
            assert!(["added", "damaged", "known", "not-a-log"].contains(&outcome), "{line}");
            added += usize::from(matches!(outcome, "added" | "damaged"));
        }
    }
    assert_eq!(added, expected.len());
    assert_eq!(listed(dir.path(), "lake"), expected);
    assert_sound(dir.path(), "lake", "four at once");
}

#[test]
fn a_lake_knows_content_and_not_names() {
    let dir = tempfile::tempdir().unwrap();
    let made = folder();
    let copy = |from: &str, to: &str| std::fs::copy(made.path().join(from), dir.path().join(to)).unwrap();
    let ingest = |line: &str| {
        let output = typed(dir.path(), &format!("logpose ingest lake {line} --json"));
        let lines = stdout(&output);
        lines
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["outcome"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    copy("match.wpilog", "a.wpilog");
    assert_eq!(ingest("a.wpilog"), ["added"]);
    copy("match.wpilog", "b.wpilog");
    assert_eq!(ingest("b.wpilog"), ["known"], "the same content under another name");
    copy("pit.wpilog", "a.wpilog");
    assert_eq!(ingest("a.wpilog"), ["changed"], "another content of the same path");
    assert_eq!(listed(dir.path(), "lake").len(), 1);
    assert_eq!(ingest("a.wpilog --replace"), ["added"]);
    assert_eq!(listed(dir.path(), "lake").len(), 1);
    assert_sound(dir.path(), "lake", "after a replacement");
    assert_eq!(ingest("b.wpilog"), ["added"], "what was replaced is not known any more");
    assert_eq!(code(&typed(dir.path(), "logpose lake rm lake b.wpilog")), 0);
    assert_sound(dir.path(), "lake", "after a removal");
    assert_eq!(ingest("b.wpilog"), ["added"], "what was removed can come back");
    std::fs::create_dir(dir.path().join("deep")).unwrap();
    copy("truncated.wpilog", "deep/b.wpilog");
    assert_eq!(ingest("deep"), ["damaged"]);
    let names = typed(dir.path(), "logpose sql --lake lake 'SELECT log, status FROM logs ORDER BY log' --format csv");
    assert_eq!(stdout(&names), "log,status\r\na.wpilog,whole\r\nb.wpilog,whole\r\nb.wpilog (2),damaged\r\n");
}

#[test]
fn logs_of_a_lake_that_cannot_be_read_are_remembered() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("cut.parquet"), b"PAR1 and no footer").unwrap();
    std::fs::write(dir.path().join("notes.txt"), b"no log").unwrap();
    std::fs::write(dir.path().join("empty.wpilog"), b"").unwrap();
    let first = typed(dir.path(), "logpose ingest lake .");
    assert_eq!(code(&first), 3, "{}", stderr(&first));
    assert!(stderr(&first).contains("missing footer"), "{}", stderr(&first));
    let again = typed(dir.path(), "logpose ingest lake .");
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    let rows = typed(dir.path(), "logpose sql --lake lake 'SELECT log, status, samples FROM logs' --format csv");
    assert_eq!(stdout(&rows), "log,status,samples\r\ncut.parquet,refused,\r\n");
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake . --retry -q")), 3);
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake notes.txt -q")), 1, "a file that was named must be a log");
    assert_sound(dir.path(), "lake", "with a refused log");
}

/// Kills of one test; `make torture` does more.
const KILLS: u64 = 16;
