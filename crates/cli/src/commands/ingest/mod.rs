//! `logpose ingest`. Without the feature `lake` the command exists and reports the missing feature.

#[cfg_attr(feature = "lake", path = "enabled.rs")]
#[cfg_attr(not(feature = "lake"), path = "disabled.rs")]
mod imp;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::args::Reading;
use crate::failure::Outcome;
use crate::screen::Screen;

/// Add logs to a lake, to query all of them at once
///
/// A lake is a folder with the logs of a season, an event or a lab as Delta Lake tables, which `logpose sql --lake` queries
/// and which DuckDB and polars read too. Folders are searched for logs. What is in the lake already is skipped,
/// whatever its name; a run that was interrupted is finished by the next one.
///
/// Of a damaged log, everything before the damage is added. Exits with 3 if a log was damaged or could not be read.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ingest season demo/demo_q12.rlog
  logpose ingest season 'demo/*.rlog' --team 254 --label robot=practice
  logpose ingest season demo/demo_q12.rlog --json
  logpose ingest season /media/usb --watch --json")]
pub(super) struct Ingest {
    /// The lake; created if it does not exist
    #[arg(value_name = "LAKE")]
    lake: String,
    /// Logs, and folders with logs
    #[arg(required = true, value_name = "PATH")]
    pub(super) files: Vec<PathBuf>,
    /// What the logs belong to [default: the event of the match, or the month]
    #[arg(long, value_name = "NAME")]
    collection: Option<String>,
    /// Team number
    #[arg(long, value_name = "N")]
    team: Option<i64>,
    /// What else to note about the logs; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
    /// Also add what can still be read after the damage
    #[arg(long)]
    salvage: bool,
    /// Replace a log whose file has changed since
    #[arg(long)]
    replace: bool,
    /// Try again what could not be read before
    #[arg(long)]
    retry: bool,
    /// Add only a part of the files: `2/5` is the second of five parts, for five machines
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u64, u64)>,
    /// Keep running and add logs as they appear in the folders, once they are complete
    ///
    /// A file is added when it has not changed for a second. Ends with Ctrl-C.
    #[arg(long)]
    watch: bool,
    /// Print a line of JSON for each file
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parts.filter(|(part, of)| (1..=*of).contains(part)).ok_or_else(|| "expected I/N, such as 1/4".to_owned())
}

impl Ingest {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        imp::run(self, screen)
    }
}
