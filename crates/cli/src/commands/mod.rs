//! One file per command.

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
mod follow;
mod grep;
mod info;
mod ingest;
mod lake;
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

/// Read, inspect, repair, convert and view robot logs.
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
    Ingest(ingest::Ingest),
    Lake(lake::LakeCommand),
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
    /// Expands wildcard patterns among the files.
    pub(crate) fn expand_patterns(&mut self) {
        if let Some(files) = self.command.as_mut().and_then(Command::files) {
            expand(files);
        }
    }

    pub(crate) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            None => {
                writeln!(screen.out, "{EXAMPLES}")?;
                writeln!(screen.out, "\nRun `logpose --help` to list all commands.")?;
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
            Some(Command::Ingest(command)) => command.run(screen),
            Some(Command::Lake(command)) => command.run(screen),
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
    /// The input files of commands that take several. `sql` has its own parsing: its first argument is the query.
    fn files(&mut self) -> Option<&mut Vec<PathBuf>> {
        match self {
            Self::Info(command) => Some(&mut command.files),
            Self::List(command) => Some(&mut command.files),
            Self::Cat(command) => Some(&mut command.files),
            Self::Du(command) => Some(&mut command.files),
            Self::Stats(command) => Some(&mut command.files),
            Self::Find(command) => Some(&mut command.files),
            Self::Grep(command) => Some(&mut command.files),
            Self::Ingest(command) => Some(&mut command.files),
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

/// Printed by a bare `logpose` and at the end of `logpose --help`.
const EXAMPLES: &str = "\
Examples:
  logpose demo                                     write sample logs to try things on
  logpose demo/demo_q12.rlog                       summary: match, modes, battery, damage
  logpose open demo/demo_q12.rlog                  view it in the browser
  logpose cat demo/demo_q12.rlog -y '*Voltage' -S auto..auto
  logpose convert demo/demo_q12.rlog -o match.csv  convert it for a spreadsheet
  logpose recover demo/damaged.wpilog              repair a damaged log";

/// The outcome of a command that met these problems.
fn outcome(problems: &Problems) -> Outcome {
    if problems.worst() == Some(Severity::Damage) { Outcome::Damage } else { Outcome::Done }
}

/// Prints the problems of all logs to stderr, with file names if there are several.
fn report_problems(logs: &[Log], screen: &Screen) -> Outcome {
    let named = |path| if logs.len() > 1 { Some(path) } else { None };
    logs.iter().for_each(|log| screen.notes.problems(named(&*log.path), &log.path, &log.problems));
    logs.iter().map(|log| outcome(&log.problems)).max().unwrap_or(Outcome::Done)
}

/// Names the samples far from all others of each log, and what becomes of them: `includes` or `excludes`.
fn report_stragglers(logs: &[Log], verb: &str, screen: &Screen) {
    for log in logs {
        let named = if logs.len() > 1 { format!("{}: ", shown(&log.path)) } else { String::new() };
        for stragglers in log.time_range().iter().flat_map(|range| range.stragglers()) {
            screen.notes.note("note", format_args!("{named}{verb} {stragglers}"));
        }
    }
}

/// A path as it appears in results.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
