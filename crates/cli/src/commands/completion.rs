use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::failure::Outcome;
use crate::screen::Screen;

/// Print a shell completion script
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose completion bash > ~/.local/share/bash-completion/completions/logpose
  logpose completion zsh > ~/.zfunc/_logpose
  logpose completion fish > ~/.config/fish/completions/logpose.fish")]
pub(super) struct Completion {
    /// Shell to generate the script for
    #[arg(value_enum)]
    shell: Shell,
}

impl Completion {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        use std::io::Write;
        // Into memory first: the generator panics on a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "logpose", &mut script);
        screen.out.write_all(&script)?;
        Ok(Outcome::Done)
    }
}
