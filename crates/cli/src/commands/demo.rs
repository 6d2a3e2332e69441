use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose_demo::{DemoOptions, demo};

use super::shown;
use crate::failure::Outcome;
use crate::human::typed;
use crate::screen::Screen;

/// Write sample logs to try things on
///
/// Writes a simulated FRC match as WPILOG and RLOG, a damaged log, and a CARLA recording of a junction. The files are
/// the same on every run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose demo
  logpose demo /tmp/logs --force")]
pub(super) struct Demo {
    /// Output folder; created if missing
    #[arg(value_name = "DIR", default_value = "demo")]
    dir: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Print the file names as JSON
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
        let named =
            |end: &str| files.iter().find(|file| shown(file).ends_with(end)).map_or_else(String::new, |f| typed(f));
        let (log, rlog, damaged) = (named("_Q12.wpilog"), named("_q12.rlog"), named("damaged.wpilog"));
        let junction = named("_junction.log");
        let tries = [
            format!("logpose {log}"),
            format!("logpose list {rlog} --sort bytes"),
            format!("logpose cat {rlog} -y '*BatteryVoltage' -S auto+1s..auto+2s"),
            format!("logpose grep -i warning {log}"),
            format!("logpose convert {rlog} -o match.csv"),
            format!("logpose doctor {damaged}"),
            format!("logpose carla collisions {junction}"),
            format!("logpose carla state {junction} --time 10 --actor class:vehicle"),
        ];
        screen.out.flush()?;
        screen.notes.line("\nTry:");
        tries.iter().for_each(|line| screen.notes.line(format_args!("  {line}")));
        Ok(Outcome::Done)
    }
}
