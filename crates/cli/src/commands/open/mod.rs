//! `logpose open`. Without the feature `viewer` the command exists and reports the missing feature.

#[cfg_attr(feature = "viewer", path = "enabled.rs")]
#[cfg_attr(not(feature = "viewer"), path = "disabled.rs")]
mod imp;

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::args::{OutputFormat, Reading};
use crate::failure::Outcome;
use crate::screen::Screen;

/// View logs and live robots in the browser
///
/// Serves the viewer on localhost and opens it in the browser: channel tree, graphs, tables, console, field, 3D,
/// statistics and SQL. It works offline and sends nothing anywhere. Press Ctrl-C to stop.
///
/// Live sources use the same addresses as `logpose record`. Their data is kept in a temporary file while the viewer runs,
/// so that you can scroll back to the start; use --record to save it.
///
/// Without arguments it shows a start page. Files can be dropped into the page at any time: a file that logpose knows,
/// because it or another one of its folder was opened before, is read where it is, and any other one is copied to a
/// temporary file that is deleted when logpose ends.
///
/// Several logs share one clock, see --align. With --bind, others on the network can connect too if they have the full
/// address, which ends in a new random token on every start.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose open                                               a start page: drop or choose files, connect to a robot
  logpose open demo/demo_q12.rlog
  logpose open demo/demo_q12.rlog demo/demo_q12_r1.rlog --align enabled   two logs on one clock
  logpose open demo/demo_q12.rlog --no-browser --port 8080   print the address only
  logpose open demo/demo_q12.rlog --bind 0.0.0.0             for a tablet on the same network
  logpose open nt4://254                                     live, with history
  logpose open rlog://254 --record match.wpilog              live, and save a recording
  logpose open robot.wpilog --follow                         a file that still grows
  logpose open --lake season demo_q12.rlog                   a log of a lake, see `logpose ingest`")]
pub(super) struct Open {
    /// Logs and live sources: rlog://HOST, nt4://HOST, ds://HOST, refloat+tcp://HOST, refloat+serial:PORT
    #[arg(value_name = "FILE|ADDRESS")]
    pub(super) inputs: Vec<PathBuf>,
    /// Show logs of this lake: the files are names of its logs. Without names the start page lists them all
    #[arg(long, value_name = "LAKE", conflicts_with_all = ["follow", "record"])]
    lake: Option<String>,
    /// Show a file that still grows as `tail -F` would: WPILOG, RLOG, CARLA, .dslog or .rfrec, one file at a time
    #[arg(short, long)]
    follow: bool,
    /// Port to listen on [default: a free port]
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Address to listen on, to let others on the network connect; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "IP")]
    bind: Option<IpAddr>,
    /// With --bind, let others on the network add logs: they can drop files into the page, and close logs
    #[arg(long, requires = "bind")]
    allow_upload: bool,
    /// Maximum size of all files that are dropped into the page and cannot be read where they are
    #[arg(long, value_name = "SIZE", default_value = "16GB")]
    limit_upload: String,
    /// Additional host name to accept in requests; repeatable
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Print the address without opening a browser
    #[arg(long)]
    no_browser: bool,
    /// How to align the clocks of several logs
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto", hide_default_value = true)]
    align: AlignBy,
    /// Begin with the layout in this file: one saved by the viewer, or exported by AdvantageScope
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Record live sources to this file, as `logpose record` does
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Overwrite the --record file if it exists
    #[arg(long, requires = "record")]
    force: bool,
    /// Maximum size of the temporary file for live data and with --follow
    #[arg(long, value_name = "SIZE", default_value = "64GiB")]
    limit_disk: String,
    /// With --record, stop when less disk space than this is free; otherwise discard the oldest live data
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    keep_free: String,
    /// Give up an SQL query after this time
    #[arg(long, value_name = "DURATION", default_value = "300s")]
    limit_time: String,
    /// Stop after this time
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum AlignBy {
    /// By wall-clock time if all logs contain it, otherwise by their first timestamps
    Auto,
    /// By their first timestamps
    Start,
    /// By wall-clock time
    Wall,
    /// By the moments at which the robot was enabled and disabled
    Enabled,
    /// No alignment: the logs already share a clock
    None,
}

impl Open {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        imp::run(self, screen)
    }
}
