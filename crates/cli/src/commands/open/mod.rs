//! `logpose open`. Without the feature `viewer` the command is there and says what it lacks.

#[cfg_attr(feature = "viewer", path = "enabled.rs")]
#[cfg_attr(not(feature = "viewer"), path = "disabled.rs")]
mod imp;

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::args::{Form, Reading};
use crate::failure::Outcome;
use crate::screen::Screen;

/// Look around in logs and live robots, in the browser
///
/// Serves a page on this machine and opens it: the tree of channels, graphs, tables, console, field, 3D, statistics, SQL.
/// The address is printed; Ctrl-C ends it. Nothing leaves the machine, and nothing needs the internet.
///
/// Live sources are addresses as `logpose record` takes them. All that they tell is kept in a temporary file as long as this
/// runs, so that the page can go back to the start; --record keeps it for good.
///
/// Several logs are put on one clock, see --align. With --bind others on the network can look, too, if they have the whole
/// address that is printed: it ends in a token that is made anew each time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose open demo/demo_q12.rlog
  logpose open demo/demo_q12.rlog demo/demo_q12_r1.rlog --align enabled   two logs on one clock
  logpose open demo/demo_q12.rlog --no-browser --port 8080   only print the address
  logpose open demo/demo_q12.rlog --bind 0.0.0.0             for the tablet on the same network
  logpose open nt4://254                                     live, back to the moment at which this began
  logpose open rlog://254 --record match.wpilog              the same, and keep it")]
pub(super) struct Open {
    /// Logs, and live sources: rlog://HOST, nt4://HOST, ds://HOST, refloat+tcp://HOST, refloat+serial:PORT
    #[arg(required = true, value_name = "FILE|ADDRESS")]
    pub(super) inputs: Vec<PathBuf>,
    /// The port to listen on [default: one that is free]
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Let others on the network look: an address of this machine, or 0.0.0.0 for all of them
    #[arg(long, value_name = "IP")]
    bind: Option<IpAddr>,
    /// A name by which this machine may be called besides its address; repeatable
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Print the address and leave the browser alone
    #[arg(long)]
    no_browser: bool,
    /// How the clocks of several logs become one
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto", hide_default_value = true)]
    align: AlignBy,
    /// Record what live sources tell, as `logpose record` does
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Replace the file of --record if it exists
    #[arg(long, requires = "record")]
    force: bool,
    /// How much of the disk what live sources tell may take, until this ends
    #[arg(long, value_name = "SIZE", default_value = "64GiB")]
    limit_disk: String,
    /// End when less than this is free on the disk for --record; without it, let the oldest go
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    keep_free: String,
    /// End after so long
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum AlignBy {
    /// By the wall clock if all logs tell it, else by their starts
    Auto,
    /// All logs begin at the same moment
    Start,
    /// By the wall clock
    Wall,
    /// By the moments at which the robot was enabled and disabled
    Enabled,
    /// Not at all: the clocks are one already
    None,
}

impl Open {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        imp::run(self, screen)
    }
}
