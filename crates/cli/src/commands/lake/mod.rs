//! `logpose lake`. Without the feature `lake` the command exists and reports the missing feature.

#[cfg_attr(feature = "lake", path = "enabled.rs")]
#[cfg_attr(not(feature = "lake"), path = "disabled.rs")]
mod imp;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

#[cfg(feature = "lake")]
pub(super) use imp::complaint;
#[cfg(not(feature = "lake"))]
pub(super) use imp::missing;

use crate::args::OutputFormat;
use crate::failure::Outcome;
use crate::screen::Screen;

/// List, check, restore and remove the logs of a lake
///
/// `logpose ingest` fills a lake, `logpose sql --lake` queries it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose lake ls season
  logpose lake show season demo_q12.rlog
  logpose lake get season demo_q12.rlog -o back.wpilog
  logpose lake rm season demo_q12.rlog
  logpose lake compact season
  logpose lake verify season
  logpose lake clean season")]
pub(super) struct LakeCommand {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the logs, or the files of the tables
    Ls(Ls),
    /// Show everything that is known about a log
    Show(Show),
    /// Write a log of the lake as a file again
    Get(Get),
    /// Remove logs from all tables
    Rm(Rm),
    /// Rewrite small files as fewer large ones
    ///
    /// Queries over many logs then open fewer files and read each channel in one piece. Ingests and queries may go on
    /// meanwhile.
    Compact(Compact),
    /// Check that the lake is whole
    ///
    /// Compares every table with its files, and the number of samples of each log. Exits with 3 if something is wrong.
    Verify(Verify),
    /// Delete files that no table names any more
    ///
    /// They are left by removed logs and by ingests that were killed. Files of the last day stay, because an ingest or a
    /// query may be using them.
    Clean(Clean),
}

#[derive(Args)]
struct Ls {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// List the files of each table instead of the logs
    #[arg(long)]
    files: bool,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Args)]
struct Show {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// The log, by its name in the lake
    #[arg(value_name = "LOG")]
    log: String,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Args)]
struct Get {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// The log, by its name in the lake
    #[arg(value_name = "LOG")]
    log: String,
    /// Output file, whose extension selects the format [default: the name of the log]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Args)]
struct Rm {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// Logs, by their names in the lake
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Delete the files at once; queries that are running may fail
    #[arg(long)]
    now: bool,
}

#[derive(Args)]
struct Compact {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// Only show what would be rewritten
    #[arg(long)]
    dry_run: bool,
}

#[derive(Args)]
struct Verify {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// Read every sample, and compare it with the original log where that is still there
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Args)]
struct Clean {
    /// The lake
    #[arg(value_name = "LAKE")]
    lake: String,
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Delete files that are at least this old
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    older_than: String,
}

impl LakeCommand {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        imp::run(&self.verb, screen)
    }
}
