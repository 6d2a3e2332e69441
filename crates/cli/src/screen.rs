//! Output streams: results go to stdout, everything else to stderr.

use std::fmt::{self, Display};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use logpose::core::{Problem, Problems, Severity};

use crate::human::{clean, typed};
use crate::render;

pub(crate) const HEAD: Style = Style::new().dimmed();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const TIME: Style = AnsiColor::Green.on_default();
pub(crate) const MATCH: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();

/// The output streams of a command.
pub(crate) struct Screen {
    pub out: Out,
    pub notes: Notes,
}

impl Screen {
    pub(crate) fn new(color: clap::ColorChoice, quiet: bool, verbose: bool, json: bool) -> Self {
        let colored = |auto: ColorChoice| match color {
            clap::ColorChoice::Always => true,
            clap::ColorChoice::Never => false,
            clap::ColorChoice::Auto => auto != ColorChoice::Never,
        };
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let width =
            if terminal { terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)) } else { 100 };
        let color = colored(AutoStream::choice(&stdout));
        let writer: Box<dyn Write + Send> =
            if color { Box::new(AutoStream::new(stdout, ColorChoice::Always)) } else { Box::new(stdout) };
        let out = Out { writer: BufWriter::with_capacity(1 << 16, writer), color, width: width.clamp(40, 200) };
        let color = colored(AutoStream::choice(&io::stderr()));
        Self { out, notes: Notes { color, quiet, verbose, json } }
    }
}

/// Standard output.
pub(crate) struct Out {
    writer: BufWriter<Box<dyn Write + Send>>,
    pub color: bool,
    pub width: usize,
}

impl Out {
    /// `text` in a style, or plain without color.
    pub(crate) fn paint<T: Display>(&self, style: Style, text: T) -> Painted<T> {
        Painted { style: self.color.then_some(style), text }
    }

    /// A value as pretty JSON, on a terminal and elsewhere alike.
    pub(crate) fn json<T: serde::Serialize>(&mut self, value: &T) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.writer, value)?;
        self.writer.write_all(b"\n")
    }

    /// A value as one line of JSON.
    pub(crate) fn json_line<T: serde::Serialize>(&mut self, value: &T) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, value)?;
        self.writer.write_all(b"\n")
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Text in a style.
pub(crate) struct Painted<T> {
    style: Option<Style>,
    text: T,
}

impl<T: Display> Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.style {
            Some(style) => write!(f, "{style}{}{style:#}", self.text),
            None => self.text.fmt(f),
        }
    }
}

/// Standard error: everything except results.
#[derive(Clone, Copy)]
pub(crate) struct Notes {
    color: bool,
    pub quiet: bool,
    pub verbose: bool,
    json: bool,
}

/// Problems beyond this number are only counted.
const SHOWN: usize = 10;

impl Notes {
    /// Prints a line unless `-q` is given.
    pub(crate) fn line(&self, text: impl Display) {
        if !self.quiet && !self.json {
            say(format_args!("{text}"));
        }
    }

    /// Prints a labelled line unless `-q` is given.
    pub(crate) fn note(&self, word: &str, text: impl Display) {
        if !self.quiet && !self.json {
            self.labelled(HELP, word, text);
        }
    }

    fn labelled(&self, style: Style, word: &str, text: impl Display) {
        let word = Painted { style: self.color.then_some(style), text: format_args!("{word}:") };
        say(format_args!("{word} {}", clean(&text.to_string())));
    }

    /// Prints why the command failed, even with `-q`.
    pub(crate) fn error(&self, code: &str, message: &str, at: Option<u64>, help: Option<&str>) {
        if self.json {
            let error =
                render::Failed { error: render::Failure { code, message, at: at.map(render::Int::from), help } };
            say(format_args!("{}", serde_json::to_string(&error).unwrap_or_default()));
            return;
        }
        self.labelled(BAD, "error", message);
        if let Some(help) = help {
            self.labelled(HELP, "help", help);
        }
    }

    /// Prints the problems of a log that was read, at most ten; `file` is given if there are several logs.
    pub(crate) fn problems(&self, file: Option<&Path>, source: &Path, problems: &Problems) {
        self.list_problems(file, source, problems.list(), problems.dropped());
    }

    /// The same for a plain list.
    pub(crate) fn list_problems(&self, file: Option<&Path>, source: &Path, problems: &[Problem], dropped: u64) {
        if self.quiet {
            return;
        }
        let min = if self.verbose { Severity::Note } else { Severity::Warning };
        let shown = if self.verbose || self.json { usize::MAX } else { SHOWN };
        let mut worth: Vec<&Problem> = problems.iter().filter(|p| p.severity >= min).collect();
        // Lost data must not be hidden by warnings.
        worth.sort_by_key(|p| std::cmp::Reverse(p.severity));
        let more = (worth.len().saturating_sub(shown)) as u64 + if worth.is_empty() { 0 } else { dropped };
        for problem in worth.into_iter().take(shown) {
            if self.json {
                let line = render::Problematic { problem: render::Finding::from(problem) };
                say(format_args!("{}", serde_json::to_string(&line).unwrap_or_default()));
                continue;
            }
            let word = if problem.severity == Severity::Damage { "problem" } else { problem.severity.name() };
            match file {
                Some(file) => self.labelled(WARNING, word, format_args!("{}: {problem}", file.display())),
                None => self.labelled(WARNING, word, problem),
            }
        }
        if more > 0 && !self.json {
            say(format_args!("… and {more} more; run `logpose doctor {}` for all", typed(source)));
        }
    }
}

/// A line on stderr. Errors are ignored: there is nowhere to report them.
fn say(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
