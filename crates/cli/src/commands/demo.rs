use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::{DemoOptions, demo};

use super::shown;
use crate::failure::Outcome;
use crate::screen::{Screen};

/// Make simulated logs to try things on
///
/// A short FRC match as WPILOG and RLOG, and one damaged log. The same bytes every time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose demo
  logpose demo /tmp/logs --force")]
pub(super) struct Demo {
    /// Where to write; the folder is created
    #[arg(value_name = "DIR", default_value = "demo")]
    dir: PathBuf,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Print the files' names as JSON
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let files = demo(&self.dir, &DemoOptions { force: self.force, ..DemoOptions::default() })?;
        if self.json {
            let names: Vec<_> = files.iter().map(|file| shown(file)).collect();
            screen.out.json(&names)?;
            return Ok(Outcome::Done);
        }
        for file in &files {
            writeln!(screen.out, "{}", shown(file))?;
        }
        if screen.notes.quiet {
            return Ok(Outcome::Done);
        }
        let dir = self.dir.display();
        let tries = [
            format!("logpose {dir}/match.wpilog"),
            format!("logpose list {dir}/match.wpilog --sort bytes"),
            format!("logpose cat {dir}/match.wpilog -y '*Voltage*' -S auto+1s..teleop"),
            format!("logpose grep -i warning {dir}/match.wpilog"),
            format!("logpose convert {dir}/match.rlog -o match.csv"),
            format!("logpose doctor {dir}/damaged.wpilog"),
        ];
        screen.out.flush()?;
        screen.notes.line("\nNow try:");
        tries.iter().for_each(|line| screen.notes.line(format_args!("  {line}")));
        Ok(Outcome::Done)
    }
}
