//! Runs the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use logpose_testkit::kept;
use tempfile::TempDir;

use crate::logs;

/// A fresh folder with every log in it.
pub(crate) fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    logs::write_all(dir.path());
    dir
}

/// A folder that nobody writes to, for the cases that only read.
pub(crate) static SHARED: LazyLock<PathBuf> =
    LazyLock::new(|| kept(env!("CARGO_TARGET_TMPDIR"), "cli-logs", logs::write_all));

/// Where the binary keeps what it wants to find again.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| kept(env!("CARGO_TARGET_TMPDIR"), "cli-cache", |_| {}));

/// `logpose`, as if typed in `dir` by somebody without settings.
pub(crate) fn logpose(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_logpose"));
    command.current_dir(dir).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
        command.env_remove(name);
    }
    // Tests leave nothing in the folder of who runs them.
    command.env("LOGPOSE_CACHE", &*CACHE).env("LOGPOSE_LAYOUTS", "");
    command
}

/// What a line of words does; `'…'` and `"…"` keep blanks, and `< FILE` at the end is standard input.
pub(crate) fn typed(dir: &Path, line: &str) -> Output {
    let mut words = words(line);
    let mut command = logpose(dir);
    if let [.., (sign, false), (input, _)] = &*words
        && sign == "<"
    {
        command.stdin(fs::File::open(dir.join(input)).unwrap());
        words.truncate(words.len() - 2);
    }
    command.args(words.iter().skip(1).map(|(word, _)| word));
    command.output().unwrap()
}

/// The words of a line, and whether any of each was in quotes.
fn words(line: &str) -> Vec<(String, bool)> {
    let mut words: Vec<(String, bool)> = Vec::new();
    let (mut word, mut quote, mut any) = (String::new(), None, false);
    for c in line.chars() {
        match c {
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => (quote, any) = (Some(c), true),
            ' ' if quote.is_none() => {
                if any || !word.is_empty() {
                    words.push((std::mem::take(&mut word), any));
                }
                any = false;
            }
            c => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push((word, any));
    }
    words
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}
