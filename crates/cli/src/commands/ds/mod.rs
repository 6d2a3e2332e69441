//! `logpose ds`: the FRC Driver Station, its link to the robot and its logs.

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

/// Work with FRC Driver Station logs and the link to the robot
///
/// A Driver Station writes two files for every connection to a robot, .dslog and .dsevents. All other commands accept them
/// too: opening one opens both as a single log. `station` and `robot` act as the two ends of the link; `proxy` sits between
/// a Driver Station and a robot and records the traffic.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose ds list demo
  logpose ds list demo --matches --json
  logpose ds robot --duration 1m                 simulate a robot on localhost
  logpose ds station --robot 254 -o pit.wpilog   record a robot, kept disabled"
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
