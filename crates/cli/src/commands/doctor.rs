use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use logpose::core::Severity;
use logpose::{Checkup, Finding, doctor};

use super::shown;
use crate::args::{OutputFormat, Reading};
use crate::failure::{self, Outcome};
use crate::human::{bytes, clean, counted, typed};
use crate::progress::Bar;
use crate::render;
use crate::screen::{BAD, GOOD, HEAD, STRONG, Screen, WARNING};

/// Check a log for damage and other problems
///
/// Each finding has a severity (damage, warning, note), a code, a byte offset and a length. The last line is the
/// verdict. Exits with 3 if data was lost or damaged.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose doctor demo/demo_q12.rlog
  logpose doctor demo/damaged.wpilog
  logpose doctor demo/damaged.wpilog --json | jq '.findings[] | select(.severity == \"damage\")'")]
pub(super) struct Doctor {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    reading: Reading,
}

impl Doctor {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let mut worst = Outcome::Done;
        let mut all = Vec::new();
        for path in &self.files {
            match doctor(path, &self.reading.options(), &Bar::new(screen.notes.quiet)) {
                Ok(checkup) => all.push((path, checkup)),
                Err(error) if self.files.len() > 1 => {
                    failure::report(&error.into(), &screen.notes);
                    worst = Outcome::Failed;
                }
                Err(error) => return Err(error.into()),
            }
        }
        if all.iter().any(|(_, checkup)| damaged(checkup)) {
            worst = worst.max(Outcome::Damage);
        }
        if self.format.json() {
            let all: Vec<_> = all.iter().map(|(path, checkup)| as_json(path, checkup.ok, &checkup.findings)).collect();
            match &*all {
                [one] if self.files.len() == 1 => screen.out.json(one)?,
                all => screen.out.json(&all)?,
            }
            return Ok(worst);
        }
        for (i, (path, checkup)) in all.iter().enumerate() {
            if self.files.len() > 1 {
                let gap = if i > 0 { "\n" } else { "" };
                writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(path)))?;
            }
            print(path, checkup, screen)?;
        }
        Ok(worst)
    }
}

fn damaged(checkup: &Checkup) -> bool {
    !checkup.ok || checkup.findings.iter().any(|finding| finding.severity == Severity::Damage)
}

/// The documented JSON shape, also used by `recover --map`.
pub(super) fn as_json<'a>(path: &Path, ok: bool, findings: &'a [Finding]) -> render::Checkup<'a> {
    let findings =
        findings.iter().map(|f| render::Finding::new(f.severity, f.code, f.at, f.length, &f.message)).collect();
    render::Checkup { file: shown(path), ok, findings }
}

fn print(path: &Path, checkup: &Checkup, screen: &mut Screen) -> Result<()> {
    let out = &mut screen.out;
    print_findings(&checkup.findings, out)?;
    if checkup.dropped > 0 {
        writeln!(out, "… and {} more of the same kinds", checkup.dropped)?;
    }
    let of = |severity| checkup.findings.iter().filter(|f| f.severity == severity).count() as u64;
    let (damage, warnings) = (of(Severity::Damage), of(Severity::Warning));
    if damaged(checkup) {
        let verdict = out.paint(BAD, "damaged").to_string();
        let lost: u64 = checkup.findings.iter().filter(|f| f.severity == Severity::Damage).map(|f| f.length).sum();
        let of_bytes = if lost > 0 { format!(", {} affected", bytes(lost)) } else { String::new() };
        writeln!(
            out,
            "{verdict}: {}{of_bytes}; run `logpose recover {}` to write a repaired copy",
            counted(damage, "damaged place"),
            typed(path)
        )?;
    } else if warnings > 0 {
        writeln!(out, "{}: all data is readable, {}", out.paint(GOOD, "sound"), counted(warnings, "warning"))?;
    } else {
        writeln!(out, "{}: all data is readable", out.paint(GOOD, "sound"))?;
    }
    Ok(())
}

/// Prints one line per finding.
pub(super) fn print_findings(findings: &[Finding], out: &mut crate::screen::Out) -> Result<()> {
    let codes = findings.iter().map(|f| f.code.len()).max().unwrap_or(0);
    for finding in findings {
        let style = match finding.severity {
            Severity::Damage => BAD,
            Severity::Warning => WARNING,
            Severity::Note => HEAD,
        };
        let severity = out.paint(style, format!("{:7}", finding.severity.name())).to_string();
        let place = finding.at.map_or(String::new(), |at| format!("{at:#x}"));
        let length = if finding.length > 0 { format!("+{}", finding.length) } else { String::new() };
        writeln!(out, "{severity}  {:codes$}  {place:>10} {length:<9} {}", finding.code, clean(&finding.message))?;
    }
    Ok(())
}
