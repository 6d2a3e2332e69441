//! One file for each command.

mod carla;
mod cat;
mod completion;
mod convert;
mod demo;
mod dialects;
mod diff;
mod doctor;
mod ds;
mod du;
mod dump;
mod find;
mod grep;
mod info;
mod list;
mod live;
mod man;
mod open;
mod play;
mod plot;
mod record;
mod recover;
mod refloat;
mod sql;
mod stats;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Parser, Subcommand};
use logpose::Log;
use logpose::core::{Problems, Severity};

use crate::args::{Common, expand};
use crate::failure::Outcome;
use crate::screen::Screen;

/// Opens robot logs, tells what is in them and what is broken, and converts them.
#[derive(Parser)]
#[command(name = "logpose", bin_name = "logpose", version, max_term_width = 100, after_help = EXAMPLES, subcommand_value_name = "COMMAND", override_usage = "logpose FILE...\n       logpose <COMMAND> [OPTIONS] [FILE]...")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Info),
    List(list::List),
    Cat(cat::Cat),
    Dump(dump::Dump),
    Du(du::Du),
    Stats(stats::Stats),
    Find(find::Find),
    Diff(diff::Diff),
    Grep(grep::Grep),
    Sql(sql::Sql),
    Open(open::Open),
    Doctor(doctor::Doctor),
    Recover(recover::Recover),
    Convert(convert::Convert),
    Plot(plot::Plot),
    Record(record::Record),
    Play(play::Play),
    Carla(carla::Carla),
    Ds(ds::Ds),
    Refloat(refloat::Refloat),
    Dialects(dialects::Dialects),
    Demo(demo::Demo),
    Completion(completion::Completion),
    Man(man::Man),
}

impl Cli {
    /// Replaces patterns among the files by what they match.
    pub(crate) fn expand_patterns(&mut self) {
        if let Some(files) = self.command.as_mut().and_then(Command::files) {
            expand(files);
        }
    }

    pub(crate) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            None => {
                writeln!(screen.out, "{EXAMPLES}")?;
                writeln!(screen.out, "\n`logpose --help` lists all commands.")?;
                Ok(Outcome::Done)
            }
            Some(Command::Info(command)) => command.run(screen),
            Some(Command::List(command)) => command.run(screen),
            Some(Command::Cat(command)) => command.run(screen),
            Some(Command::Dump(command)) => command.run(screen),
            Some(Command::Du(command)) => command.run(screen),
            Some(Command::Stats(command)) => command.run(screen),
            Some(Command::Find(command)) => command.run(screen),
            Some(Command::Diff(command)) => command.run(screen),
            Some(Command::Grep(command)) => command.run(screen),
            Some(Command::Sql(command)) => command.run(screen),
            Some(Command::Open(command)) => command.run(screen),
            Some(Command::Doctor(command)) => command.run(screen),
            Some(Command::Recover(command)) => command.run(screen),
            Some(Command::Convert(command)) => command.run(screen),
            Some(Command::Plot(command)) => command.run(screen),
            Some(Command::Record(command)) => command.run(screen),
            Some(Command::Play(command)) => command.run(screen),
            Some(Command::Carla(command)) => command.run(screen),
            Some(Command::Ds(command)) => command.run(screen),
            Some(Command::Refloat(command)) => command.run(screen),
            Some(Command::Dialects(command)) => command.run(screen),
            Some(Command::Demo(command)) => command.run(screen),
            Some(Command::Completion(command)) => command.run(screen),
            Some(Command::Man(command)) => command.run(screen),
        }
    }
}

impl Command {
    /// The files to be read, where there can be several. Those of `sql` are behind the query, which is no pattern.
    fn files(&mut self) -> Option<&mut Vec<PathBuf>> {
        match self {
            Self::Info(command) => Some(&mut command.files),
            Self::List(command) => Some(&mut command.files),
            Self::Cat(command) => Some(&mut command.files),
            Self::Du(command) => Some(&mut command.files),
            Self::Stats(command) => Some(&mut command.files),
            Self::Find(command) => Some(&mut command.files),
            Self::Grep(command) => Some(&mut command.files),
            Self::Open(command) => Some(&mut command.inputs),
            Self::Doctor(command) => Some(&mut command.files),
            Self::Convert(command) => Some(&mut command.files),
            Self::Plot(command) => Some(&mut command.files),
            Self::Play(command) => Some(&mut command.inputs),
            Self::Carla(command) => command.files(),
            Self::Ds(command) => command.files(),
            Self::Refloat(command) => command.files(),
            _ => None,
        }
    }
}

/// What a bare `logpose` shows, and the end of `logpose --help`.
const EXAMPLES: &str = "\
Examples:
  logpose demo                                     make a few logs to try things on
  logpose demo/demo_q12.rlog                       match, modes, battery, largest channels, damage
  logpose open demo/demo_q12.rlog                  look around in it, in the browser
  logpose cat demo/demo_q12.rlog -y '*Voltage' -S auto..auto
  logpose convert demo/demo_q12.rlog -o match.csv  for a spreadsheet
  logpose recover demo/damaged.wpilog              save what can be saved";

/// How a command ends that met these problems.
fn outcome(problems: &Problems) -> Outcome {
    if problems.worst() == Some(Severity::Damage) { Outcome::Damage } else { Outcome::Done }
}

/// Shows the problems of all logs on stderr; the files are named where there are several.
fn tell_problems(logs: &[Log], screen: &Screen) -> Outcome {
    let named = |path| if logs.len() > 1 { Some(path) } else { None };
    logs.iter().for_each(|log| screen.notes.problems(named(&*log.path), &log.path, &log.problems));
    logs.iter().map(|log| outcome(&log.problems)).max().unwrap_or(Outcome::Done)
}

/// A path as results name it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
