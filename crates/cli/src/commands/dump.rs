use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::shown;
use crate::args::{OutputFormat, Reading};
use crate::failure::{Complaint, Outcome};
use crate::human::{clean, typed};
use crate::render;
use crate::screen::{HEAD, Screen};

/// Print the raw records of a log in file order
///
/// Each line has the byte offset, the length and the decoded record. The dump ends at the first damaged record; use
/// --at to start after it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose dump demo/demo_q12.rlog --limit 20
  logpose dump demo/demo_q12.rlog --limit 5 --json
  logpose dump demo/demo_q12.rlog --at 0x1 --limit 3")]
pub(super) struct Dump {
    /// A log; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Byte offset to start at, which must be the start of a record; decimal or hexadecimal, as in 0x3f2
    #[arg(long, value_name = "BYTE", default_value = "0", hide_default_value = true, value_parser = byte)]
    at: u64,
    /// Stop after N records
    #[arg(short = 'N', long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    reading: Reading,
}

fn byte(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    number.map_err(|_| "expected a byte offset such as 1010 or 0x3f2".to_owned())
}

impl Dump {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let log = self.reading.open(&self.file, &screen.notes)?;
        let size = log.bytes().len() as u64;
        if self.at > 0 && self.at >= size {
            let message =
                format!("{}: --at {:#x} is past the end of the log ({size} bytes)", shown(&log.path), self.at);
            return Err(Complaint::usage(message).into());
        }
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut failed: io::Result<()> = Ok(());
        let out = &mut screen.out;
        let mut text = String::new();
        let walked = log.dialect().records(log.bytes(), log.how(), self.at, &mut |record| {
            use std::fmt::Write as _;
            if left == 0 {
                return ControlFlow::Break(());
            }
            left -= 1;
            text.clear();
            // Writing to a String cannot fail.
            let _ = write!(text, "{}", record.text);
            failed = if self.format.json() {
                out.json_line(&render::Record { at: record.at.into(), length: record.length.into(), text: &text })
            } else {
                let place = out.paint(HEAD, format_args!("{:#010x} {:>7}", record.at, record.length)).to_string();
                writeln!(out, "{place}  {}", clean(&text))
            };
            if failed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        failed?;
        out.flush()?;
        let Err(error) = walked else { return Ok(Outcome::Done) };
        let problem =
            logpose::core::Problem::new(logpose::core::Severity::Damage, error.code, error.at, 0, error.message);
        screen.notes.list_problems(None, &log.path, &[problem], 0);
        screen.notes.note(
            "help",
            format_args!("run `logpose doctor {}` to look for readable records after it", typed(&log.path)),
        );
        Ok(Outcome::Damage)
    }
}

#[cfg(test)]
mod tests {
    use super::byte;

    #[test]
    fn bytes_are_decimal_or_hexadecimal() {
        assert_eq!((byte("1010"), byte("0x3f2"), byte("1_000")), (Ok(1010), Ok(1010), Ok(1000)));
        assert!(byte("-1").is_err() && byte("0x").is_err() && byte("f2").is_err());
    }
}
