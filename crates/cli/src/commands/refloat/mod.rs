//! `logpose refloat`: boards that balance with Refloat, and their recordings.

mod ask;
mod board;
mod control;
pub(super) mod explain;
mod fetch;
mod info;
mod reach;
mod watch;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::failure::Outcome;
use crate::screen::Screen;

/// Refloat boards: fetch and explain their recordings, watch them live, be one
///
/// A board with Refloat 1.1 or later, and a firmware that reserves memory for it, records its control loop: some seconds,
/// hundreds of times a second, and usually up to the moment at which it disengaged. `fetch` saves that. A recording is gone
/// when the board is engaged again or switched off.
///
/// Boards are reached over USB or another serial port, over the WiFi of a VESC Express, and through VESC Tool's TCP and
/// UDP bridge. One program at a time can talk to a board: disconnect the phone first.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose refloat board --duration 1m                   a board to try the others on
  logpose refloat info 192.168.4.1                      a VESC Express on its own WiFi
  logpose refloat fetch /dev/ttyACM0 -o ride.rfrec      over USB
  logpose refloat explain demo/demo_nosedive.rfrec      why it stopped
  logpose refloat watch refloat+tcp://192.168.4.1"
)]
pub(super) struct Refloat {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Info),
    Status(control::Status),
    Start(control::Start),
    Stop(control::Stop),
    Autostart(control::Autostart),
    Autostop(control::Autostop),
    Decimation(control::Decimation),
    Fetch(fetch::Fetch),
    Watch(watch::Watch),
    Explain(explain::Explain),
    Board(board::Board),
}

impl Refloat {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            Command::Info(command) => command.run(screen),
            Command::Status(command) => command.run(screen),
            Command::Start(command) => command.run(screen),
            Command::Stop(command) => command.run(screen),
            Command::Autostart(command) => command.run(screen),
            Command::Autostop(command) => command.run(screen),
            Command::Decimation(command) => command.run(screen),
            Command::Fetch(command) => command.run(screen),
            Command::Watch(command) => command.run(screen),
            Command::Explain(command) => command.run(screen),
            Command::Board(command) => command.run(screen),
        }
    }

    pub(super) fn files(&mut self) -> Option<&mut Vec<PathBuf>> {
        match &mut self.command {
            Command::Explain(command) => Some(&mut command.files),
            _ => None,
        }
    }
}
