//! Logs that grow while they are printed, and pipes that stay open.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use crate::logs::{Wpilog, a_match};
use crate::run::{SHARED, code, logpose, stderr, stdout, typed};

/// A command that prints while it runs, and is killed when it is no longer needed.
struct Printing {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Printing {
    fn start(dir: &Path, words: &[&str]) -> Self {
        let mut command = logpose(dir);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.lines.read_line(&mut line).unwrap() > 0, "it ended");
        line.trim_end().to_owned()
    }

    fn type_in(&mut self, bytes: &[u8]) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Ends it as Ctrl-C does.
    #[cfg(unix)]
    fn interrupt(self) -> (Option<i32>, String) {
        let done = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(done.success());
        self.wait()
    }

    /// How it ends, and what it said on stderr.
    fn wait(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let mut notes = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        (self.child.wait().unwrap().code(), notes)
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The beginning of a log, then one sample each.
fn counts(from: i64, count: i64) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut log = Wpilog::new("");
    let entry = log.start("/count", "int64", "");
    let text = log.start("/text", "string", "");
    let head = log.bytes();
    let one = |n: i64| {
        let mut log = Wpilog::new("");
        let before = Wpilog::new("").bytes().len();
        log.record(entry, n * 10, &n.to_le_bytes());
        log.record(text, n * 10, format!("number {n}").as_bytes());
        log.bytes()[before..].to_vec()
    };
    (head, (from..from + count).map(one).collect())
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(bytes).unwrap();
}

fn grown() -> (TempDir, PathBuf, Vec<Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grows.wpilog");
    let (head, records) = counts(1, 20);
    fs::write(&path, head).unwrap();
    (dir, path, records)
}

#[cfg(unix)]
#[test]
fn cat_prints_what_is_appended_and_ctrl_c_ends_it_well() {
    let (dir, path, records) = grown();
    append(&path, &records[0]);
    let mut cat = Printing::start(dir.path(), &["cat", "--follow", "grows.wpilog", "-y", "/count"]);
    assert_eq!(cat.line(), "0.010000  /count  1");
    for (n, record) in (2..).zip(&records[1..]) {
        // In two pieces: half a record is not printed.
        let (front, back) = record.split_at(record.len() / 3);
        append(&path, front);
        append(&path, back);
        assert_eq!(cat.line().split_whitespace().last(), Some(&*n.to_string()));
    }
    assert_eq!(cat.interrupt(), (Some(0), String::new()));
}

#[cfg(unix)]
#[test]
fn a_file_may_come_late_be_truncated_and_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("late.wpilog");
    let mut cat = Printing::start(dir.path(), &["cat", "-f", "late.wpilog", "--json", "-y", "/count"]);
    let value = |line: String| serde_json::from_str::<serde_json::Value>(&line).unwrap()["value"].as_i64().unwrap();
    let (head, records) = counts(1, 3);
    append(&path, &[head.clone(), records.concat()].concat());
    assert_eq!([cat.line(), cat.line(), cat.line()].map(value), [1, 2, 3]);
    fs::write(&path, [head.clone(), counts(7, 1).1.concat()].concat()).unwrap();
    assert_eq!(value(cat.line()), 7);
    let fresh = dir.path().join("fresh.wpilog");
    fs::write(&fresh, [head, counts(8, 2).1.concat()].concat()).unwrap();
    fs::rename(&fresh, &path).unwrap();
    assert_eq!([cat.line(), cat.line()].map(value), [8, 9]);
    let (code, notes) = cat.interrupt();
    assert_eq!(code, Some(0));
    let notes: Vec<&str> = notes.lines().collect();
    assert!(notes.is_empty() || notes.len() == 3, "JSON silences notes: {notes:?}");
}

#[cfg(unix)]
#[test]
fn grep_and_find_follow_too() {
    let (dir, path, records) = grown();
    let mut grep = Printing::start(dir.path(), &["grep", "-f", "number [37]", "grows.wpilog"]);
    let mut find = Printing::start(dir.path(), &["find", "-f", "count between 4 and 5", "grows.wpilog"]);
    append(&path, &records[..8].concat());
    assert_eq!([grep.line(), grep.line()], ["0.030000  /text  number 3", "0.070000  /text  number 7"]);
    assert_eq!(find.line().split_whitespace().collect::<Vec<_>>(), ["start", "end", "duration", "mode"]);
    assert_eq!(find.line().split_whitespace().collect::<Vec<_>>(), ["0.040000", "0.060000", "20", "ms"]);
    assert_eq!((grep.interrupt().0, find.interrupt().0), (Some(0), Some(0)));
}

#[test]
fn a_limit_ends_it_and_so_does_a_closed_pipe() {
    let (dir, path, records) = grown();
    append(&path, &records[..5].concat());
    let mut cat = Printing::start(dir.path(), &["cat", "-f", "grows.wpilog", "-y", "/count", "-N", "2"]);
    assert_eq!([cat.line(), cat.line()], ["0.010000  /count  1", "0.020000  /count  2"]);
    assert_eq!(cat.wait().0, Some(0));
    let mut cat = Printing::start(dir.path(), &["cat", "-f", "grows.wpilog"]);
    cat.line();
    // Nobody reads any more.
    let reader = std::mem::replace(&mut cat.lines, BufReader::new(closed()));
    drop(reader);
    for record in &records[5..] {
        append(&path, record);
    }
    assert_eq!(cat.wait(), (Some(0), String::new()));
}

/// The output of a command that prints nothing.
fn closed() -> ChildStdout {
    let mut child = logpose(Path::new(".")).arg("--version").stdout(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    child.wait().unwrap();
    out
}

#[test]
fn damage_behind_which_nothing_is_found_ends_it() {
    let (dir, path, records) = grown();
    append(&path, &records[..2].concat());
    let mut cat = Printing::start(dir.path(), &["cat", "-f", "grows.wpilog", "-y", "/count"]);
    assert_eq!([cat.line(), cat.line()], ["0.010000  /count  1", "0.020000  /count  2"]);
    // A record that claims 4 GiB.
    let at = fs::metadata(&path).unwrap().len();
    append(&path, &[0b0000_1100, 1, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0]);
    let (code, notes) = cat.wait();
    assert_eq!(code, Some(3), "{notes}");
    assert!(notes.contains(&format!("byte {at:#x}")), "{notes}");
}

#[test]
fn standard_input_is_printed_as_it_comes() {
    let (head, records) = counts(1, 6);
    for words in [&["cat", "-", "-y", "/count"][..], &["grep", "number", "-"], &["cat", "-f", "-", "-y", "/text"]] {
        let mut reading = Printing::start(&SHARED, words);
        reading.type_in(&head);
        for (n, record) in (1..).zip(&records) {
            reading.type_in(record);
            assert_eq!(reading.line().split_whitespace().last(), Some(&*n.to_string()), "{words:?}");
        }
        assert_eq!(reading.wait(), (Some(0), String::new()), "{words:?}");
    }
    let mut find = Printing::start(&SHARED, &["find", "count = 3", "-"]);
    find.type_in(&[head, records.concat()].concat());
    find.line();
    assert!(find.line().starts_with("0.030"), "before the end");
    drop(find.child.stdin.take());
    assert_eq!(find.line(), "1 interval, 10 ms of 50 ms (20.0 %)");
    assert_eq!(find.wait().0, Some(0));
}

/// A command whose input is a pipe.
fn piped(words: &[&str], bytes: Vec<u8>) -> std::process::Output {
    let mut command = logpose(&SHARED);
    let mut child =
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writing = std::thread::spawn(move || drop(stdin.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

#[test]
fn a_finished_pipe_gives_what_the_file_gives() {
    // Schemas of CARLA come with the first value that needs them, which a stream learns later.
    let sorted = |text: String| {
        let lines = text.lines().filter(|line| !line.contains("/.schema/struct:Carla"));
        let mut lines: Vec<String> = lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        lines.sort();
        lines
    };
    for file in ["match.wpilog", "truncated.wpilog", "garbage.wpilog", "many.wpilog", "unsorted.wpilog", "traffic.log"]
    {
        for words in [
            "cat FILE",
            "cat FILE --json",
            "cat FILE --format csv",
            "cat FILE -S 0.01 -E 9",
            "cat FILE -S +1s",
            "cat FILE --order time -N 5",
            "grep a FILE",
            "grep a FILE -c",
            "grep --names e FILE",
            "find true FILE",
        ] {
            if file == "unsorted.wpilog" && words.starts_with("find") {
                // What arrives late counts when it arrives.
                continue;
            }
            let at_rest = typed(&SHARED, &format!("logpose {}", words.replace("FILE", file)));
            let words: Vec<&str> = words.split(' ').map(|word| if word == "FILE" { "-" } else { word }).collect();
            let output = piped(&words, fs::read(SHARED.join(file)).unwrap());
            assert_eq!(sorted(stdout(&output)), sorted(stdout(&at_rest)), "{words:?} {file}");
            assert_eq!(code(&output), code(&at_rest), "{words:?} {file}: {}", stderr(&output));
        }
    }
    // What can only be read whole still is.
    let zip = piped(&["cat", "-", "-N", "3"], fs::read(SHARED.join("phone.zip")).unwrap());
    assert_eq!((code(&zip), stdout(&zip).lines().count()), (0, 3), "{}", stderr(&zip));
    let json = piped(&["find", "-", "--json"], a_match());
    assert_eq!(code(&json), 2, "an expression is missing");
}
