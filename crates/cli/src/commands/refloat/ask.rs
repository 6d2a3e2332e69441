//! Confirmation before erasing a recording.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::Result;

use crate::failure::Complaint;

/// Asks on a terminal. Returns `None` without a terminal or with JSON output.
pub(super) fn ask(question: &str, json: bool) -> Result<Option<bool>> {
    if json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let mut screen = io::stderr().lock();
    write!(screen, "{question} [y/N] ")?;
    screen.flush()?;
    drop(screen);
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(Some(is_yes(&answer)))
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str())
}

/// The error after the answer no.
pub(super) fn declined() -> Complaint {
    Complaint::failed("declined", "cancelled; nothing was changed")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_yes_is_yes() {
        assert!(["y\n", "YES\r\n", " y "].iter().all(|answer| is_yes(answer)));
        assert!(["", "\n", "n\n", "yeah\n", "no\n"].iter().all(|answer| !is_yes(answer)));
    }
}
