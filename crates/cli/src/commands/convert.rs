use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use logpose::bridges::mcap::{Compression, McapOptions};
use logpose::core::EncodeOptions;
use logpose::{
    Aligned, Alignment, ConvertOptions, FORMATS, FolderLayout, Format, Log, Output, Report, Wide, Wrapper, WriteOption,
    convert, convert_to_folder, parse_duration,
};

use super::{outcome, report_problems, shown};
use crate::args::{By, Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, count, counted, duration, lossy, time};
use crate::interrupt;
use crate::progress::Bar;
use crate::render;
use crate::screen::Screen;

/// Convert, crop, filter, resample and merge logs
///
/// The extension of OUT selects the format: .wpilog, .rlog, .parquet, .arrow, .mcap, .csv or .ndjson, optionally followed
/// by .gz, .zst, .xz or .lz4 (.wpilogxz works too). If OUT ends in /, logpose writes a folder with one Parquet file per
/// channel. Parquet, Arrow and MCAP keep everything: converting back gives the same log.
///
/// A Refloat recording is written as Refloat CSV, which converts back to .rfrec; use --to vesc-csv for VESC Tool.
///
/// Several logs are merged by time. --align enabled puts them on the clock of the first by matching the moments at which
/// the robot was enabled and disabled, for example a robot log and a Driver Station log of the same match.
///
/// logpose reports everything the output format cannot represent, and exits with 3 if data was lost.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose convert demo/demo_q12.rlog -o match.csv
  logpose convert demo/demo_q12.rlog -o auto.wpilog -S auto..auto -y '/Drive/*'
  logpose convert demo/demo_q12.rlog -o wide.csv --wide --every 20ms -y '*Voltage'
  logpose convert demo/demo_q12.rlog -o match.wpilog.zst --verify
  logpose convert demo/demo_q12.rlog -o match.parquet
  logpose convert demo/demo_q12.rlog -o match.mcap --compression lz4
  logpose convert demo/demo_q12.rlog -o match/ --layout channel
  logpose convert demo/demo_q12.rlog demo/demo_q12_r1.rlog -o both.mcap --align enabled
  logpose convert demo/demo_q12.rlog --to ndjson -o - | head -n 3")]
pub(super) struct Convert {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Output file or folder; `-` is standard output and needs --to
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Output format, overriding the extension
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(formats()))]
    to: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Read the result back and check that it equals the input
    #[arg(long)]
    verify: bool,
    /// CSV: one column per channel, repeating the last value
    #[arg(long)]
    wide: bool,
    /// CSV with --wide: one row per interval, such as 20ms or 0.1s, instead of one per timestamp
    #[arg(long, value_name = "TIME", requires = "wide", value_parser = period)]
    every: Option<i64>,
    /// Layout of a folder of Parquet files [default: hive]
    #[arg(long, value_enum, value_name = "LAYOUT")]
    layout: Option<Layout>,
    /// MCAP: chunk compression [default: zstd]
    #[arg(long, value_enum, value_name = "HOW")]
    compression: Option<Compressed>,
    /// MCAP: do not add poses as Foxglove messages
    #[arg(long)]
    no_poses: bool,
    /// Several logs: align them to the clock of the first; fails if the alignment is ambiguous
    #[arg(long, value_enum, value_name = "BY")]
    align: Option<AlignBy>,
    /// Order of the samples [default: file order for one log, time order for several]
    #[arg(long, value_enum, value_name = "BY")]
    order: Option<By>,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Layout {
    /// One file with one row per sample
    Long,
    /// A folder with one file per channel; values keep their types, structs are nested
    Channel,
    /// One folder `channel=NAME/` per channel with the columns of long: a single table for DuckDB, polars and Spark
    Hive,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum AlignBy {
    /// Match the moments at which the robot was enabled and disabled
    Enabled,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Compressed {
    Zstd,
    Lz4,
    None,
}

/// The names of the output formats.
fn formats() -> Vec<&'static str> {
    written().map(Format::name).collect()
}

fn written() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().filter(|format| format.info().files.write)
}

fn period(text: &str) -> Result<i64, String> {
    match parse_duration(text) {
        Ok(ns) if ns > 0 => Ok(ns),
        Ok(_) => Err("must be greater than 0".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl Convert {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let begun = Instant::now();
        let to_stdout = self.output.as_os_str() == "-";
        let folder = self.folder()?;
        let (format, wrapper) = if folder.is_some() { (Format::PARQUET, None) } else { self.format(to_stdout)? };
        let asked = [
            ("--layout", self.layout.is_some(), WriteOption::Layout, "Parquet"),
            ("--compression", self.compression.is_some(), WriteOption::Compression, "MCAP"),
            ("--no-poses", self.no_poses, WriteOption::Poses, "MCAP"),
        ];
        if let Some((flag, .., only)) = asked.iter().find(|(_, asked, option, _)| *asked && !format.takes(*option)) {
            return Err(Complaint::usage(format!(
                "{flag} only applies to {only} output, but OUT is {}",
                format.name()
            ))
            .into());
        }
        if self.wide && !format.takes(WriteOption::Wide) {
            return Err(Complaint::usage("--wide needs CSV output")
                .help("use --to csv, or an OUT that ends in .csv")
                .into());
        }
        if self.align.is_some() && self.files.len() < 2 {
            return Err(Complaint::usage("--align needs at least two logs").into());
        }
        if self.align.is_some() && folder.is_some() {
            return Err(Complaint::usage("--align cannot write a folder")
                .help("use a file as OUT, such as one that ends in .parquet")
                .into());
        }
        if to_stdout && !format.is_text() && io::stdout().is_terminal() {
            return Err(Complaint::usage("refusing to write binary data to a terminal")
                .help("write to a file with -o, or pipe the output")
                .into());
        }
        let logs = self.reading.open_all(&self.files, &screen.notes)?;
        let has_revisions = |format: Format| !format.info().revisions.is_empty();
        let mut formats = logs.iter().map(Log::format).chain([format]);
        if self.reading.rlog_revision.is_some() && !formats.any(has_revisions) {
            return Err(Complaint::usage("--rlog-revision needs an RLOG input or output").into());
        }
        let alignment = self.align.map(|AlignBy::Enabled| Alignment::by_enabled(&logs)).transpose()?;
        let clocks = alignment.as_ref().map_or_else(Vec::new, Alignment::clocks);
        let lookups = match &alignment {
            Some(_) => self.selection.lookups_on(&logs, &clocks)?,
            None => self.selection.lookups(&logs)?,
        };
        let options = ConvertOptions {
            encode: EncodeOptions { revision: self.reading.rlog_revision, ..EncodeOptions::default() },
            wide: self.wide.then_some(Wide { every: self.every }),
            force: self.force,
            verify: self.verify,
            order: self.order.map(By::order),
            mcap: self.mcap(),
            clocks,
            ..ConvertOptions::default()
        };
        let suited = if self.to.is_some() || self.wide { None } else { format.suited(&logs, &lookups) };
        let format = suited.map_or(format, |(suited, note)| {
            screen.notes.line(format_args!("{note}"));
            suited
        });
        let bar = Bar::new(screen.notes.quiet);
        let report = if let Some(layout) = folder {
            interrupt::while_writing(&self.output, || {
                Ok::<_, anyhow::Error>(convert_to_folder(&logs, lookups, layout, &self.output, &options, &bar)?)
            })?
        } else if to_stdout {
            convert(&logs, lookups, &format, Output::Stream(&mut screen.out), &options, &bar)?
        } else {
            let file = Output::File { path: &self.output, force: self.force, wrapper };
            interrupt::while_writing(&self.output, || {
                Ok::<_, anyhow::Error>(convert(&logs, lookups, &format, file, &options, &bar)?)
            })?
        };
        let worst = report_problems(&logs, screen);
        if let Some(first) = self.files.first() {
            screen.notes.problems(None, first, &report.problems);
        }
        let aligned = alignment.as_ref().map(|alignment| alignment.others.iter().zip(logs.iter().skip(1)).collect());
        let aligned: Option<Vec<(&Aligned, &Log)>> = aligned;
        if let (Some(first), Some(aligned)) = (self.files.first(), &aligned) {
            report_alignment(first, aligned, screen);
        }
        self.report(&report, aligned.as_deref(), begun, to_stdout, screen)?;
        Ok(worst.max(outcome(&report.problems)))
    }

    fn aligned<'a>(&self, found: &'a Aligned, log: &Log) -> render::Aligned<'a> {
        render::Aligned {
            file: shown(&log.path),
            to: self.files.first().map_or_else(String::new, |first| shown(first)),
            offset_ns: found.offset_ns.into(),
            drift: found.clock.drift(),
            drift_seen: found.drift_seen,
            matched: found.matched,
            edges: found.edges,
            to_edges: found.reference_edges,
            residual_median_ns: found.residual_median_ns.into(),
            residual_max_ns: found.residual_max_ns.into(),
            runner_up: found.runner_up,
            confidence: found.confidence,
            confidence_word: found.confidence_name(),
            warnings: &found.warnings,
        }
    }

    /// The layout, if OUT is a folder.
    fn folder(&self) -> Result<Option<FolderLayout>> {
        let text = self.output.to_string_lossy();
        let named = text.ends_with(['/', std::path::MAIN_SEPARATOR]) || self.output.is_dir();
        let layout = match self.layout {
            Some(Layout::Long) | None if !named => return Ok(None),
            Some(Layout::Channel) => FolderLayout::Channel,
            Some(Layout::Hive) | None => FolderLayout::Hive,
            Some(Layout::Long) => {
                return Err(Complaint::usage("--layout long writes a single file, but OUT is a folder")
                    .help("use a file that ends in .parquet as OUT")
                    .into());
            }
        };
        let in_folders = |to: &str| Format::from_name(to).is_some_and(|format| format.takes(WriteOption::Layout));
        if !self.to.as_deref().is_none_or(in_folders) || Format::from_path(&self.output).is_some() {
            let message = format!("{}: a folder can only hold Parquet, one file per channel", shown(&self.output));
            return Err(Complaint::usage(message).help("omit --to, or use a file as OUT").into());
        }
        if let Some(By::File) = self.order {
            return Err(Complaint::usage("--order file cannot write a folder: each channel is sorted by time").into());
        }
        Ok(Some(layout))
    }

    fn mcap(&self) -> McapOptions {
        let compression = match self.compression {
            None | Some(Compressed::Zstd) => Compression::Zstd,
            Some(Compressed::Lz4) => Compression::Lz4,
            Some(Compressed::None) => Compression::None,
        };
        McapOptions { compression, poses: !self.no_poses, ..McapOptions::default() }
    }

    fn format(&self, to_stdout: bool) -> Result<(Format, Option<Wrapper>)> {
        let by_name = self.to.as_deref().and_then(Format::from_name);
        let by_path = if to_stdout { None } else { Format::from_path(&self.output) };
        match (by_name, by_path) {
            (Some(format), Some((_, wrapper))) => Ok((format, wrapper)),
            (Some(format), None) => Ok((format, self.wrapper())),
            (None, Some(found)) => Ok(found),
            (None, None) if to_stdout => {
                Err(Complaint::usage("missing --to: standard output has no extension to choose the format by")
                    .help(format!("add --to ({})", formats().join(", ")))
                    .into())
            }
            (None, None) => Err(untold(&self.output, ", or add --to").into()),
        }
    }

    /// The compression of an output such as `data.gz`, whose format `--to` names.
    fn wrapper(&self) -> Option<Wrapper> {
        self.output.extension().and_then(|extension| Wrapper::from_name(extension.to_str()?))
    }

    fn report(
        &self,
        report: &Report,
        aligned: Option<&[(&Aligned, &Log)]>,
        begun: Instant,
        to_stdout: bool,
        screen: &mut Screen,
    ) -> Result<()> {
        if self.json && !to_stdout {
            let problems = report.problems.list().iter().map(render::Finding::from).collect();
            return Ok(screen.out.json(&render::Written {
                output: shown(&self.output),
                samples: report.samples.into(),
                channels: report.channels,
                bytes: report.bytes.into(),
                verified: report.verified,
                lost_bytes: None,
                alignment: aligned.map(|aligned| aligned.iter().map(|(found, log)| self.aligned(found, log)).collect()),
                problems,
            })?);
        }
        if to_stdout {
            return Ok(());
        }
        let seconds = begun.elapsed().as_secs_f64();
        let rate = lossy(report.samples) / seconds.max(1e-3);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people; it saturates")]
        let rate = count(rate as u64);
        let verified = if report.verified { "; verified" } else { "" };
        let samples = counted(report.samples, "sample");
        // Report the size on disk, not the size before compression.
        let about = std::fs::metadata(&self.output).ok().filter(|about| about.is_file());
        let size = about.map_or(report.bytes, |about| about.len());
        let channels = counted(report.channels as u64, "channel");
        screen.notes.line(format_args!(
            "wrote {}: {samples} of {channels}, {} in {seconds:.2} s ({rate} samples/s){verified}",
            shown(&self.output),
            bytes(size)
        ));
        Ok(())
    }
}

/// Reports how each log was aligned to the clock of the first.
pub(super) fn report_alignment(first: &Path, aligned: &[(&Aligned, &Log)], screen: &Screen) {
    for (found, log) in aligned {
        let Aligned { offset_ns, matched, reference_edges, edges, residual_median_ns, residual_max_ns, .. } = found;
        let sign = if *offset_ns < 0 { "" } else { "+" };
        let drift = match (found.clock.drift(), found.drift_seen) {
            (0.0, None) => String::new(),
            (0.0, Some(seen)) => format!("; clock may be {}", drift(seen)),
            (applied, _) => format!("; clock is {}", drift(applied)),
        };
        screen.notes.line(format_args!(
            "{}: shifted by {sign}{} s to the clock of {}: {matched} enable and disable edges match (of {reference_edges} and {edges}), median error {}, max {}{drift}",
            shown(&log.path),
            time(*offset_ns),
            shown(first),
            duration(*residual_median_ns),
            duration(*residual_max_ns),
        ));
        let runner_up = match found.runner_up {
            0 => "no other alignment matches".to_owned(),
            n => format!("the next best alignment matches {n}"),
        };
        screen.notes.line(format_args!(
            "{}: confidence {} ({:.2}); {runner_up}",
            shown(&log.path),
            found.confidence_name(),
            found.confidence
        ));
        found.warnings.iter().for_each(|warning| screen.notes.note("warning", warning));
    }
}

/// A clock drift as text.
fn drift(drift: f64) -> String {
    let (percent, way) = (drift.abs() * 100.0, if drift > 0.0 { "slow" } else { "fast" });
    format!("{percent:.3} % {way}")
}

/// The format and compression from the name of an output.
pub(super) fn format_of(output: &Path) -> Result<(Format, Option<Wrapper>), Complaint> {
    Format::from_path(output).ok_or_else(|| untold(output, ""))
}

fn untold(output: &Path, also: &str) -> Complaint {
    let message = format!("{}: unknown output format", shown(output));
    let mut extensions: Vec<_> = written().map(Format::extension).collect();
    let mut seen = HashSet::new();
    extensions.retain(|extension| seen.insert(*extension));
    let extensions = extensions.join(", .");
    Complaint::usage(message).help(format!("use an extension such as .{extensions}{also}"))
}
