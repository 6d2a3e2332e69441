use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};

use super::Cli;
use crate::failure::Outcome;
use crate::screen::Screen;

/// Print the manual page, or write all manual pages to a folder
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose man | man -l -
  logpose man ~/.local/share/man/man1")]
pub(super) struct Man {
    /// Folder to write one page per command to
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let Some(dir) = &self.dir else {
            clap_mangen::Man::new(Cli::command()).render(&mut screen.out)?;
            return Ok(Outcome::Done);
        };
        fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
        clap_mangen::generate_to(Cli::command(), dir).with_context(|| format!("writing {}", dir.display()))?;
        screen.notes.line(format_args!("wrote manual pages to {}", dir.display()));
        Ok(Outcome::Done)
    }
}
