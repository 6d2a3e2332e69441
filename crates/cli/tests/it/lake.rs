//! Lakes from outside: commands that are killed, and several at once.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

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

/// Fewer and smaller ones, for tests that run many commands.
fn few_logs(dir: &Path) {
    logs(dir);
    let demo = std::fs::read_dir(dir.join("logs")).unwrap().map(|entry| entry.unwrap().path());
    let kept = ["demo_q12.rlog", "demo_nosedive.rfrec", "match.wpilog", "pit.wpilog", "truncated.wpilog", "notes.txt"];
    demo.filter(|path| !kept.iter().any(|kept| path.ends_with(kept)))
        .for_each(|path| std::fs::remove_file(path).unwrap());
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

/// The files of a table that are in use.
fn files_of(dir: &Path, lake: &str, table: &str) -> Vec<String> {
    let output = typed(dir, &format!("logpose lake ls {lake} --files --json"));
    let rows: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let rows = rows.as_array().unwrap().iter().filter(|row| row["table"] == table);
    rows.map(|row| row["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_compacted_lake_is_the_same_lake_in_fewer_files() {
    let dir = tempfile::tempdir().unwrap();
    few_logs(dir.path());
    let line = |line: &str| {
        let output = typed(dir.path(), line);
        assert!(matches!(code(&output), 0 | 3), "{line}: {}", stderr(&output));
        stdout(&output)
    };
    line("logpose ingest lake logs --collection all -q");
    let questions = [
        "SELECT log, channel, count(*), min(time_ns), max(time_ns), min(number), max(text) FROM samples GROUP BY log, channel ORDER BY log, channel",
        "SELECT * FROM channels ORDER BY log, channel, first",
        "SELECT * FROM modes ORDER BY log, start",
        "SELECT log, hash, status, samples FROM logs ORDER BY log",
    ];
    let ask = || questions.map(|sql| line(&format!("logpose sql --lake lake '{sql}' --format csv")));
    let (before, all) = (ask(), listed(dir.path(), "lake"));
    line("logpose lake get lake demo_q12.rlog -o before.wpilog");
    assert!(files_of(dir.path(), "lake", "samples").len() >= 5);
    line("logpose lake compact lake --dry-run");
    assert!(files_of(dir.path(), "lake", "samples").len() >= 5);
    line("logpose lake compact lake");
    for table in ["samples", "channels", "logs", "modes"] {
        assert_eq!(files_of(dir.path(), "lake", table).len(), 1, "{table}");
    }
    assert_eq!(ask(), before);
    assert_sound(dir.path(), "lake", "compacted");
    line("logpose lake get lake demo_q12.rlog -o after.wpilog");
    assert_eq!(
        std::fs::read(dir.path().join("before.wpilog")).unwrap(),
        std::fs::read(dir.path().join("after.wpilog")).unwrap()
    );
    let again = typed(dir.path(), "logpose lake compact lake");
    assert_eq!(stderr(&again), "nothing to compact\n");

    // A log leaves the files that it shares, and can come back.
    let rows = all.len();
    line("logpose lake rm lake demo_q12.rlog match.wpilog --now");
    assert_eq!(listed(dir.path(), "lake").len(), rows - 2);
    assert_sound(dir.path(), "lake", "after a removal");
    let gone = line(
        "logpose sql --lake lake 'SELECT count(*) AS n FROM samples WHERE log IN ($$demo_q12.rlog$$, $$match.wpilog$$)' --format csv",
    );
    assert_eq!(gone, "n\r\n0\r\n");
    line("logpose ingest lake logs --collection all -q");
    assert_eq!(listed(dir.path(), "lake"), all);
    assert_eq!(ask(), before);
    line("logpose lake compact lake");
    std::fs::copy(dir.path().join("logs/pit.wpilog"), dir.path().join("logs/match.wpilog")).unwrap();
    std::fs::remove_file(dir.path().join("logs/pit.wpilog")).unwrap();
    line("logpose lake rm lake pit.wpilog");
    line("logpose ingest lake logs/match.wpilog --replace");
    assert_eq!(listed(dir.path(), "lake").len(), rows - 1);
    assert_sound(dir.path(), "lake", "after a replacement");
    line("logpose lake clean lake --older-than 0s");
    assert_sound(dir.path(), "lake", "after cleaning");
}

#[test]
fn a_lake_is_compacted_while_others_ingest_remove_and_ask() {
    let dir = tempfile::tempdir().unwrap();
    let made = folder();
    std::fs::create_dir(dir.path().join("logs")).unwrap();
    let log = std::fs::read(made.path().join("match.wpilog")).unwrap();
    for number in 0..12_u8 {
        // The text of the header makes them different contents.
        let mut log = log.clone();
        let extra = log.len() - 1;
        log[extra] = log[extra].wrapping_add(number);
        std::fs::write(dir.path().join(format!("logs/{number}.wpilog")), log).unwrap();
    }
    let start = |line: &str| {
        logpose(dir.path()).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    assert_eq!(
        code(&typed(dir.path(), "logpose ingest lake logs/0.wpilog logs/1.wpilog logs/2.wpilog logs/3.wpilog -q")),
        0
    );
    let children = [
        start("ingest lake logs -q"),
        start("lake compact lake"),
        start("lake rm lake 0.wpilog 2.wpilog"),
        start("lake compact lake"),
        start("lake rm lake 3.wpilog"),
    ];
    let sums = "SELECT count(*) % 61 AS rest FROM samples";
    for _ in 0..3 {
        // All logs have as many samples: none is seen in part, and none is missing for a moment.
        let asked = typed(dir.path(), &format!("logpose sql --lake lake '{sums}' --format csv"));
        assert_eq!(stdout(&asked), "rest\r\n0\r\n", "{}", stderr(&asked));
    }
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
    assert_sound(dir.path(), "lake", "all at once");
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake logs -q")), 0);
    assert_eq!(code(&typed(dir.path(), "logpose lake compact lake -q")), 0);
    assert_eq!(listed(dir.path(), "lake").len(), 12);
    assert_sound(dir.path(), "lake", "at the end");
}

/// Numbers that are the same in every run.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

#[test]
fn what_was_killed_is_finished_by_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    few_logs(dir.path());
    let ingest = "ingest lake logs --collection all -q";
    let lines = [ingest, "lake compact lake -q", "lake rm lake demo_q12.rlog match.wpilog -q"];
    let begun = Instant::now();
    assert_eq!(code(&typed(dir.path(), &format!("logpose {ingest}"))), 3);
    // What a command takes here, and a little more.
    let span = u64::try_from(begun.elapsed().as_millis()).unwrap();
    let all = listed(dir.path(), "lake");
    let kills = std::env::var("LOGPOSE_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(SHORT);
    let mut seeded = Seeded(21);
    let mut ended = 0;
    for round in 0..kills {
        let line = lines[(round % 3) as usize];
        let what = format!("round {round}: {line}");
        let mut child = logpose(dir.path()).args(line.split(' ')).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(seeded.below(span)));
        ended += u64::from(child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        // Nothing is half visible.
        let sums = "SELECT (SELECT count(*) FROM samples) - (SELECT coalesce(sum(samples), 0) FROM logs) AS more";
        let asked = typed(dir.path(), &format!("logpose sql --lake lake '{sums}' --format csv"));
        assert_eq!(stdout(&asked), "more\r\n0\r\n", "{what}: {}", stderr(&asked));
        let again = logpose(dir.path()).args(line.split(' ')).output().unwrap();
        let is_gone = stderr(&again).contains("no log is named");
        assert!(matches!(code(&again), 0 | 3) || is_gone, "{what}: {}", stderr(&again));
        let now = listed(dir.path(), "lake").len();
        assert_eq!(now, if line.contains(" rm ") { all.len() - 2 } else { all.len() }, "{what}");
        let verified = typed(dir.path(), "logpose lake verify lake");
        assert_eq!(code(&verified), 0, "{what}: {}", stdout(&verified));
    }
    assert_eq!(code(&typed(dir.path(), &format!("logpose {ingest}"))), if kills.is_multiple_of(3) { 0 } else { 3 });
    assert_eq!(listed(dir.path(), "lake"), all);
    assert_eq!(code(&typed(dir.path(), "logpose lake clean lake --older-than 0s -q")), 0);
    assert_sound(dir.path(), "lake", "at the end");
    println!("{kills} kills, {ended} of them after the command had ended");
}

#[test]
fn a_folder_is_watched() {
    let dir = tempfile::tempdir().unwrap();
    let made = folder();
    std::fs::create_dir(dir.path().join("logs")).unwrap();
    let arrive = |name: &str| std::fs::copy(made.path().join(name), dir.path().join("logs").join(name)).unwrap();
    arrive("match.wpilog");
    let mut child = logpose(dir.path())
        .args(["ingest", "lake", "logs", "--watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> serde_json::Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let line = next();
    assert_eq!((&line["outcome"], &line["samples"]), (&"added".into(), &61.into()), "{line}");
    arrive("truncated.wpilog");
    assert_eq!(next()["outcome"], "damaged");
    std::fs::write(dir.path().join("logs/notes.txt"), "no log").unwrap();
    assert_eq!(next()["outcome"], "not-a-log");
    std::fs::copy(made.path().join("match.wpilog"), dir.path().join("logs/again.wpilog")).unwrap();
    assert_eq!(next()["outcome"], "known");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_sound(dir.path(), "lake", "watched");
}

#[test]
fn verify_says_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let made = folder();
    let copy = |name: &str| std::fs::copy(made.path().join(name), dir.path().join(name)).unwrap();
    copy("match.wpilog");
    copy("pit.wpilog");
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake match.wpilog -q")), 0);
    let verify = |options: &str| {
        let output = typed(dir.path(), &format!("logpose lake verify lake {options}"));
        (code(&output), stdout(&output))
    };
    let (ok, text) = verify("--deep");
    assert!(ok == 0 && text.contains("1 of 1 log compared with the original"), "{text}");
    let path = dir.path().join("lake").join(&files_of(dir.path(), "lake", "samples")[0]);
    let whole = std::fs::read(&path).unwrap();
    // Bits of pages: only who reads them sees it, and a few mean nothing.
    let mut found = 0;
    for at in (200..700).step_by(100) {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        std::fs::write(&path, &flipped).unwrap();
        assert_eq!(verify("").0, 0);
        found += u64::from(verify("--deep").0 == 3);
    }
    assert!(found >= 3, "{found} of 5");
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let (cut, text) = verify("");
    assert!(cut == 3 && text.contains("the table says"), "{text}");
    std::fs::remove_file(&path).unwrap();
    let (missing, text) = verify("");
    assert!(missing == 3 && text.contains("is missing"), "{text}");
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(verify("--deep").0, 0);

    // A lake of a later layout is read and not changed.
    let first = dir.path().join("lake/logs/_delta_log/00000000000000000000.json");
    let log = std::fs::read_to_string(&first).unwrap().replace("\"logpose.layout\":\"1\"", "\"logpose.layout\":\"9\"");
    std::fs::write(&first, log).unwrap();
    assert_eq!(verify("").0, 0);
    for line in ["ingest lake pit.wpilog", "lake rm lake match.wpilog", "lake compact lake", "lake clean lake"] {
        let refused = typed(dir.path(), &format!("logpose {line}"));
        assert_eq!(code(&refused), 1, "{line}");
        assert!(
            stderr(&refused).contains("has layout 9, this logpose writes layout 1"),
            "{line}: {}",
            stderr(&refused)
        );
        assert!(stderr(&refused).contains("update logpose"), "{line}: {}", stderr(&refused));
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_an_ingest_and_leaves_the_lake_whole() {
    let dir = tempfile::tempdir().unwrap();
    logs(dir.path());
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake logs/match.wpilog -q")), 0);
    let full = Command::new("sh")
        .current_dir(dir.path())
        .args(["-c", "ulimit -f 60; exec \"$0\" ingest lake logs -q", env!("CARGO_BIN_EXE_logpose")])
        .env("LOGPOSE_CACHE", "")
        .output()
        .unwrap();
    assert_eq!(code(&full), 1, "{}", stderr(&full));
    assert!(stderr(&full).contains("lake/samples/"), "{}", stderr(&full));
    assert_sound(dir.path(), "lake", "full");
    assert_eq!(code(&typed(dir.path(), "logpose ingest lake logs -q")), 3);
    assert_sound(dir.path(), "lake", "with room again");
}

/// Kills of one test; `make torture` does more.
const KILLS: u64 = 16;
/// Kills of ingest, compact and rm; `LOGPOSE_KILLS=200` is the long form.
const SHORT: u64 = 12;
