//! `logpose ds`: the FRC Driver Station, its link to the robot and its own logs.

mod list;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::failure::Outcome;
use crate::screen::Screen;

/// Look through the logs of an FRC Driver Station
///
/// A Driver Station writes a pair of files for every connection to a robot, .dslog and .dsevents. Other commands take
/// them too: naming one of the two opens both as one log.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose ds list 'C:/Users/Public/Documents/FRC/Log Files'
  logpose ds list season --matches --json"
)]
pub(super) struct Ds {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::List),
}

impl Ds {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            Command::List(command) => command.run(screen),
        }
    }
}
