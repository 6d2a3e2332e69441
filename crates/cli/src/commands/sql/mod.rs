//! `logpose sql`. Without the feature `sql` the command exists and reports the missing feature.

#[cfg_attr(feature = "sql", path = "enabled.rs")]
#[cfg_attr(not(feature = "sql"), path = "disabled.rs")]
mod imp;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::args::Reading;
use crate::failure::Outcome;
use crate::screen::Screen;

/// Query logs with SQL
///
/// Tables: `logs` (source, dialect, first, last, samples, match, …); `channels` (channel, type, unit, samples, bytes,
/// first, last, metadata); `samples` (time, time_ns, channel, and one
/// of number, integer, boolean, text, bytes, numbers, integers, booleans, texts); one table per channel, with its name in
/// double quotes (time, time_ns, value; struct fields as value.x); `problems`; `modes`, `matches`, `console` and
/// `errors` for FRC logs.
///
/// Functions: wide('20ms', '/Drive/*') returns a row every 20 ms with a column per channel, repeating the last value;
/// asof('/a', '/b', '50ms') returns a row per sample of /a with the latest value of /b, if it is at most 50 ms old;
/// time_bucket('100ms', time) rounds times down.
///
/// With several logs every table has a column `log`. Filters on time and channel limit how much of the log is read: see
/// EXPLAIN. Without a query logpose starts a prompt, or runs standard input as a script.
#[derive(Args)]
#[command(
    override_usage = "logpose sql [OPTIONS] [QUERY] FILE...\n       logpose sql [OPTIONS] -f QUERY.sql FILE...\n       logpose sql [OPTIONS] --lake LAKE [QUERY]",
    after_help = "\
Examples:
  logpose sql 'SELECT mode, start, duration FROM modes' demo/demo_q12.rlog
  logpose sql 'SELECT channel, avg(number) FROM samples GROUP BY channel' demo/demo_q12.rlog
  logpose sql 'SELECT time, value.translation.x FROM \"/RealOutputs/Drive/Pose\"' demo/demo_q12.rlog
  logpose sql \"SELECT * FROM wide('20ms', '*Battery*')\" demo/demo_q12.rlog -o battery.parquet
  logpose sql 'SELECT log, count(*) FROM samples GROUP BY log' 'demo/demo*.rlog' --json
  logpose sql --lake season 'SELECT log, channel, min, max FROM channels WHERE max > 100'"
)]
pub(super) struct Sql {
    /// The query, then logs; logpose expands patterns such as 'logs/*.wpilog' itself
    #[arg(value_name = "QUERY FILE", hide = true)]
    words: Vec<PathBuf>,
    /// Query this lake instead of logs; see `logpose ingest`
    #[arg(long, value_name = "LAKE")]
    lake: Option<String>,
    /// Read the query from a file; `-` is standard input
    #[arg(short = 'f', long = "file", value_name = "QUERY.sql")]
    script: Option<PathBuf>,
    /// Output format [default: table, or the extension of OUT]
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
    /// Output file: .csv, .ndjson, .json, .parquet or .arrow; text formats also with .gz, .zst, .xz or .lz4
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Make `time` wall-clock time (UTC) instead of log seconds, if the logs contain it
    #[arg(long)]
    wall: bool,
    /// Give up a query after this time, such as `30s` [default: no limit]
    #[arg(long, value_name = "DURATION")]
    limit_time: Option<String>,
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
