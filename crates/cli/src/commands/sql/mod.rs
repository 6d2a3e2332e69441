//! `logpose sql`. Without the feature `sql` the command is there and says what it lacks.

#[cfg_attr(feature = "sql", path = "enabled.rs")]
#[cfg_attr(not(feature = "sql"), path = "disabled.rs")]
mod imp;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::args::Reading;
use crate::failure::Outcome;
use crate::screen::Screen;

/// Ask logs questions in SQL
///
/// Tables: `channels` (name, type, unit, samples, bytes, first, last, metadata); `samples` (time, time_ns, channel, and of
/// number, integer, boolean, text, bytes, numbers, integers, booleans, texts the one that fits); each channel under its
/// name in double quotes (time, time_ns, value; fields of structs as value.x); `modes`, `matches`, `console` and `errors` of FRC logs.
/// wide('20ms', '/Drive/*') has a row every 20 ms and a column for each channel, the last value held; asof('/a', '/b',
/// '50ms') a row for each sample of /a with the value that /b had, if it is not older; time_bucket('100ms', time) rounds
/// times down. With several logs every table has the column `log`. Conditions on time and channel keep the rest of a log
/// from being read: see EXPLAIN.
///
/// Without a query there is a prompt; what is piped in is run as a script.
#[derive(Args)]
#[command(
    override_usage = "logpose sql [OPTIONS] [QUERY] FILE...\n       logpose sql [OPTIONS] -f QUERY.sql FILE...",
    after_help = "\
Examples:
  logpose sql 'SELECT mode, start, duration FROM modes' demo/demo_q12.rlog
  logpose sql 'SELECT channel, avg(number) FROM samples GROUP BY channel' demo/demo_q12.rlog
  logpose sql 'SELECT time, value.translation.x FROM \"/RealOutputs/Drive/Pose\"' demo/demo_q12.rlog
  logpose sql \"SELECT * FROM wide('20ms', '*Battery*')\" demo/demo_q12.rlog -o battery.parquet
  logpose sql 'SELECT log, count(*) FROM samples GROUP BY log' 'demo/demo*.rlog' --json"
)]
pub(super) struct Sql {
    /// The query, then logs; patterns such as 'logs/*.wpilog' work without help of the shell
    #[arg(value_name = "QUERY FILE", hide = true)]
    words: Vec<PathBuf>,
    /// Read the query from a file; `-` is standard input
    #[arg(short = 'f', long = "file", value_name = "QUERY.sql")]
    script: Option<PathBuf>,
    /// How to print the result [default: table, or what the extension of OUT says]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// The same as --format json
    #[arg(long)]
    json: bool,
    /// Write to a file; its extension decides the format: .csv, .ndjson, .json, .parquet, .arrow, text also with .gz, .zst, .xz or .lz4
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Give `time` as wall-clock time (UTC) instead of log seconds, if the logs tell it
    #[arg(long)]
    wall: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    Table,
    Csv,
    Ndjson,
    Json,
    Parquet,
    Arrow,
}

impl Sql {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        imp::run(self, screen)
    }
}
