use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::failure::Outcome;
use crate::screen::Screen;

/// List the Driver Station logs of a season: matches, modes, brownouts, lost communication
#[derive(Args)]
pub(super) struct List {
    /// Folders, which are searched with all that is in them, or files
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

impl List {
    pub(super) fn run(&self, _: &mut Screen) -> Result<Outcome> {
        anyhow::bail!(
            "{} cannot be listed yet",
            self.folders.iter().map(|folder| super::super::shown(folder)).collect::<String>()
        )
    }
}
