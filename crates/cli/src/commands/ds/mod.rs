//! `logpose ds`: the FRC Driver Station, its link to the robot and its own logs.

mod list;
mod proxy;
mod robot;
mod running;
mod station;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::failure::Outcome;
use crate::screen::Screen;

/// The FRC Driver Station: its logs, its link to the robot, and both sides of it
///
/// A Driver Station writes a pair of files for every connection to a robot, .dslog and .dsevents. Other commands take
/// them too: naming one of the two opens both as one log. `station` and `robot` are the two sides of the link, `proxy` stands
/// between them and records it.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose ds list demo
  logpose ds list demo --matches --json
  logpose ds robot --duration 1m                 a robot for any Driver Station, on this machine
  logpose ds station --robot 254 -o pit.wpilog   what a robot says, disabled"
)]
pub(super) struct Ds {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::List),
    Robot(robot::Robot),
    Station(station::Station),
    Proxy(proxy::Proxy),
}

impl Ds {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            Command::List(command) => command.run(screen),
            Command::Robot(command) => command.run(screen),
            Command::Station(command) => command.run(screen),
            Command::Proxy(command) => command.run(screen),
        }
    }

    pub(super) fn files(&mut self) -> Option<&mut Vec<PathBuf>> {
        match &mut self.command {
            Command::List(command) => Some(&mut command.folders),
            _ => None,
        }
    }
}
