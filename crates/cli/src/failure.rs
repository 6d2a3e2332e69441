//! Error reporting and exit codes.

use std::fmt;
use std::io;

use logpose::core::SinkError;
use logpose::{Error, ErrorKind};

use crate::args::is_pattern;
use crate::screen::Notes;

/// The result of a command that ran to its end, with its exit code.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Outcome {
    /// Success: 0.
    Done,
    /// Nothing found, or a difference found: 4.
    No,
    /// Done, but data was lost or damage was found: 3.
    Damage,
    /// Some inputs failed and were already reported: 1.
    Failed,
}

impl Outcome {
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Damage => 3,
            Self::No => 4,
        }
    }
}

/// An error raised by the command line itself, not by the library.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
}

impl Complaint {
    /// Invalid usage: exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: "usage", message: message.into(), help: None }
    }

    /// A valid request that failed: exit code 1.
    pub(crate) fn failed(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    /// An invalid regular expression.
    pub(crate) fn pattern(pattern: &str, error: &regex::Error) -> Self {
        // The first lines repeat the pattern with a marker below it; the last line has the reason.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Self::usage(format!("invalid regular expression `{pattern}`: {reason}"))
            .help("to match a bracket, dot or star literally, put a backslash before it")
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a hint about what to do next.
    pub(crate) fn help_if(self, help: Option<&str>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Complaint {}

/// Prints why a command failed and returns the exit code. A closed pipe is success: the reader has what it wanted.
pub(crate) fn report(error: &anyhow::Error, notes: &Notes) -> u8 {
    if is_closed_pipe(error) {
        return 0;
    }
    if let Some(error) = find::<Error>(error) {
        let pattern = matches!(error.kind, ErrorKind::NotFound) && error.path.as_deref().is_some_and(is_pattern);
        let help = error.help.as_deref().or(pattern.then_some("no file matches this pattern"));
        notes.error(error.code(), &error.to_string(), error.at, help);
        return if matches!(error.kind, ErrorKind::Usage(_)) { 2 } else { 1 };
    }
    if let Some(complaint) = find::<Complaint>(error) {
        notes.error(complaint.code, &complaint.message, None, complaint.help.as_deref());
        return if complaint.code == "usage" { 2 } else { 1 };
    }
    let code = if find::<io::Error>(error).is_some() { "io" } else { "failed" };
    notes.error(code, &format!("{error:#}"), None, None);
    1
}

/// Whether the reader of our output has closed the pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |io: &io::Error| io.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(closed)
            || matches!(cause.downcast_ref::<SinkError>(), Some(SinkError::Io(io)) if closed(io))
            || matches!(cause.downcast_ref::<Error>(), Some(Error { kind: ErrorKind::Io(io), .. }) if closed(io))
    })
}

fn find<E: std::error::Error + Send + Sync + 'static>(error: &anyhow::Error) -> Option<&E> {
    error.chain().find_map(|cause| cause.downcast_ref())
}
