//! `logpose refloat`: Refloat boards and their recordings.

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

/// Download and explain recordings of Refloat boards, watch live values, emulate a board
///
/// A board with Refloat 1.1 or later, and firmware that reserves memory for it, records its control loop: several seconds at
/// hundreds of samples per second, usually up to the moment it disengaged. `fetch` downloads that recording. It is lost when
/// the board engages again or is switched off.
///
/// Connect over USB or another serial port, the Wi-Fi of a VESC Express, or the TCP and UDP bridge of VESC Tool. Only one
/// program at a time can connect to a board: disconnect your phone first.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose refloat board --duration 1m                   an emulated board to try things on
  logpose refloat info 192.168.4.1                      a VESC Express on its own Wi-Fi
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
