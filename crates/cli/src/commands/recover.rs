use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use logpose::core::Severity;
use logpose::wpilog;
use logpose::{FORMATS, Format, Output, Recovered, Wrapper, recover};

use super::{doctor, shown};
use crate::args::Reading;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted};
use crate::interrupt;
use crate::progress::Bar;
use crate::render;
use crate::screen::Screen;

/// Write a repaired copy of a damaged log
///
/// logpose searches for readable records after the damage and keeps those that are plausible. It reports what was lost,
/// and writes it as JSON with --map. The damaged file is never changed. The copy is read back and checked before it gets
/// its name. Exits with 3 if anything was lost.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose recover demo/damaged.wpilog
  logpose recover demo/damaged.wpilog -o saved.wpilog --map lost.json --force")]
pub(super) struct Recover {
    /// Damaged log; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output file, whose extension selects the format; `-` is standard output [default: NAME.recovered.EXT next to the
    /// input, in the same format, or WPILOG where logpose only reads it]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Write what was lost to this file, in the format of `doctor --json`
    #[arg(long, value_name = "MAP")]
    map: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Recover {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let output = self.output.clone().map_or_else(|| beside(&self.file), Ok)?;
        let to_stdout = output.as_os_str() == "-";
        if to_stdout && io::stdout().is_terminal() {
            return Err(Complaint::usage("refusing to write binary data to a terminal")
                .help("write to a file with -o, or pipe the output")
                .into());
        }
        if fs::canonicalize(&output).is_ok_and(|output| fs::canonicalize(&self.file).is_ok_and(|file| file == output)) {
            return Err(Complaint::usage(
                "refusing to overwrite the damaged log: it is the only copy of the original data",
            )
            .help("choose another output file with -o")
            .into());
        }
        if let Some(map) = self.map.as_ref().filter(|map| !self.force && map.exists()) {
            return Err(exists(map).into());
        }
        let bar = Bar::new(screen.notes.quiet);
        let options = self.reading.options();
        let done = if to_stdout {
            recover(&self.file, Output::Stream(&mut screen.out), &options, &bar)?
        } else {
            let wrapper = Format::from_path(&output).and_then(|(_, wrapper)| wrapper);
            interrupt::while_writing(&output, || {
                let file = Output::File { path: &output, force: self.force, wrapper };
                Ok::<_, anyhow::Error>(recover(&self.file, file, &options, &bar)?)
            })?
        };
        let lost = done.findings.iter().any(|f| f.severity == Severity::Damage);
        if let Some(map) = &self.map {
            write_map(map, self.force, &doctor::as_json(&self.file, !lost, &done.findings))
                .with_context(|| format!("writing {}", map.display()))?;
        }
        self.report(&done, &output, to_stdout, screen)?;
        Ok(if lost { Outcome::Damage } else { Outcome::Done })
    }

    fn report(&self, done: &Recovered, output: &Path, to_stdout: bool, screen: &mut Screen) -> Result<()> {
        if self.json && !to_stdout {
            let problems = done
                .findings
                .iter()
                .map(|f| render::Finding::new(f.severity, f.code, f.at, f.length, &f.message))
                .collect();
            let report = &done.report;
            return Ok(screen.out.json(&render::Written {
                output: shown(output),
                samples: done.samples.into(),
                channels: report.channels,
                bytes: report.bytes.into(),
                verified: report.verified,
                alignment: None,
                lost_bytes: Some(done.lost_bytes.into()),
                problems,
            })?);
        }
        let problems: Vec<_> = done
            .findings
            .iter()
            .map(|f| logpose::core::Problem {
                severity: f.severity,
                code: f.code,
                at: f.at,
                length: f.length,
                message: f.message.clone(),
            })
            .collect();
        screen.notes.list_problems(None, &self.file, &problems, 0);
        let lost = match done.lost_bytes {
            0 if done.findings.iter().any(|f| f.severity == Severity::Damage) => "lost no bytes".to_owned(),
            0 => "lost nothing".to_owned(),
            n => format!("lost {}", bytes(n)),
        };
        let samples = counted(done.samples, "sample");
        screen.notes.line(format_args!(
            "wrote {}: {samples} in {}; {lost}",
            shown(output),
            counted(done.report.channels as u64, "channel")
        ));
        Ok(())
    }
}

/// `match.wpilog` and `match.wpilog.gz` become `match.recovered.wpilog`, and so do `match.dslog` and `match.pcap`.
fn beside(file: &Path) -> Result<PathBuf, Complaint> {
    if file.as_os_str() == "-" {
        return Err(Complaint::usage("missing -o: standard input has no name to derive the output name from")
            .help("add -o OUT"));
    }
    let last = file.extension().and_then(OsStr::to_str);
    let is_wrapped = last.is_some_and(|last| Wrapper::from_name(last).is_some());
    let bare = if is_wrapped { file.with_extension("") } else { file.to_owned() };
    let mut extension = Format::extension_of(file).unwrap_or_default();
    let is_written = Format::from_path(file).is_some_and(|(format, _)| format.is_log());
    // Formats that logpose only reads, and tables of text, are recovered as WPILOG.
    let mut others = FORMATS.iter().filter(|format| !format.is_log());
    if !is_written && others.any(|format| format.info().extensions.contains(&&*extension)) {
        wpilog::NAME.clone_into(&mut extension);
    }
    let dotted = if extension.is_empty() { "recovered".to_owned() } else { format!("recovered.{extension}") };
    Ok(bare.with_extension(dotted))
}

pub(super) fn exists(path: &Path) -> Complaint {
    Complaint::failed("exists", format!("{}: file already exists", path.display()))
        .help("choose another name, or overwrite it with --force")
}

fn write_map(path: &Path, force: bool, map: &render::Checkup<'_>) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(map)?;
    text.push(b'\n');
    Ok(Output::File { path, force, wrapper: None }.write_all(&text)?)
}
