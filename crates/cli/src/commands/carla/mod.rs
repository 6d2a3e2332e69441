//! `logpose carla`: commands for CARLA recordings.

mod blocked;
mod collisions;
mod edit;
mod info;
mod replay;
mod state;
mod who;
mod zone;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand, ValueEnum};
use logpose::carla::{File, Frames, Queries, Reader, Reading, check_frames};
use logpose::core::{Problem, Problems, Severity};

use super::shown;
use crate::args::one_of;
use crate::failure::Outcome;
use crate::human::clean;
use crate::progress::Bar;
use crate::rows::RowFormat;
use crate::screen::{STRONG, Screen};

/// Query, replay and edit CARLA recordings without CARLA
///
/// Reads recordings from CARLA 0.9.4 to 0.10 and development builds, also compressed with .gz, .zst, .xz or .lz4. The
/// queries print the same text as the CARLA server, byte for byte, or the same facts as a table, CSV or JSON. All other
/// commands accept recordings too: `logpose doctor` finds damage, and `logpose recover` writes a repaired recording that
/// CARLA can replay.
#[derive(Args)]
#[command(
    arg_required_else_help = true,
    subcommand_value_name = "COMMAND",
    after_help = "\
Examples:
  logpose carla info demo/demo_junction.log
  logpose carla collisions demo/demo_junction.log --types h a
  logpose carla blocked demo/demo_junction.log --min-time 5
  logpose carla state demo/demo_junction.log --time 10
  logpose carla crop demo/demo_junction.log -o crash.log -S 8..12"
)]
pub(super) struct Carla {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Info(info::Info),
    Collisions(collisions::Collisions),
    Blocked(blocked::Blocked),
    State(state::State),
    Replay(replay::Replay),
    Crop(edit::Crop),
    Drop(edit::Drop),
    Rename(edit::Rename),
    Concat(edit::Concat),
}

impl Carla {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        match &self.command {
            Command::Info(command) => command.run(screen),
            Command::Collisions(command) => command.run(screen),
            Command::Blocked(command) => command.run(screen),
            Command::State(command) => command.run(screen),
            Command::Replay(command) => command.run(screen),
            Command::Crop(command) => command.run(screen),
            Command::Drop(command) => command.run(screen),
            Command::Rename(command) => command.run(screen),
            Command::Concat(command) => command.run(screen),
        }
    }

    pub(super) fn files(&mut self) -> Option<&mut Vec<PathBuf>> {
        match &mut self.command {
            Command::Info(command) => Some(&mut command.query.files),
            Command::Collisions(command) => Some(&mut command.query.files),
            Command::Blocked(command) => Some(&mut command.query.files),
            Command::Concat(command) => Some(&mut command.files),
            _ => None,
        }
    }
}

/// Inputs and output format of a query.
#[derive(Args)]
struct Query {
    /// Recordings; logpose expands patterns such as 'runs/*.log' itself; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
    /// Time zone of the date: `UTC`, `+02:00`, or `local` for this computer's; a CARLA server uses its own
    #[arg(long, value_name = "ZONE", default_value = "UTC", value_parser = zone::parse, allow_hyphen_values = true)]
    time_zone: zone::Zone,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    /// The text of the CARLA server, byte for byte
    Text,
    /// A text table
    Table,
    /// CSV for spreadsheets
    Csv,
    /// One JSON object per line
    Ndjson,
    /// One JSON document
    Json,
}

impl Query {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// The row format; `None` for CARLA's text.
    fn rows(&self) -> Option<RowFormat> {
        match self.format() {
            Format::Text => None,
            Format::Table => Some(RowFormat::Table),
            Format::Csv => Some(RowFormat::Csv),
            Format::Ndjson => Some(RowFormat::Ndjson),
            Format::Json => Some(RowFormat::Json),
        }
    }

    /// Prints CARLA's text for every recording, under its name if there are several.
    fn text(
        &self,
        screen: &mut Screen,
        ask: impl Fn(&Queries<'_>, &mut dyn Write) -> io::Result<Reading>,
    ) -> Result<Outcome> {
        let files = &self.files;
        let mut first = true;
        each(files, screen, |file, screen| {
            let queries = file.queries()?;
            let date = Reader::new(file.bytes()).map_or(0, |reader| reader.header().date);
            let queries = queries.with_utc_offset(self.time_zone.offset(date));
            if files.len() > 1 {
                let gap = if first { "" } else { "\n" };
                writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(file.path())))?;
            }
            first = false;
            let reading = if io::stdout().is_terminal() {
                let mut harmless = Harmless { out: &mut screen.out, line: Vec::new() };
                let reading = ask(&queries, &mut harmless)?;
                harmless.end()?;
                reading
            } else {
                ask(&queries, &mut screen.out)?
            };
            Ok(reading.problems())
        })
    }
}

/// Opens files one after the other and reports the problems of each. One that cannot be read is reported and skipped.
fn each(
    files: &[PathBuf],
    screen: &mut Screen,
    mut act: impl FnMut(&File, &mut Screen) -> Result<Vec<Problem>>,
) -> Result<Outcome> {
    let mut worst = Outcome::Done;
    for path in files {
        let opened = File::open(path, &Bar::new(screen.notes.quiet)).map_err(anyhow::Error::from);
        let Some(file) = one_of(opened, files.len(), screen, &mut worst)? else { continue };
        let done = act(&file, screen);
        // An output error is not the fault of this input file.
        let of = if done.as_ref().is_err_and(|error| !error.is::<logpose::Error>()) { 1 } else { files.len() };
        let Some(problems) = one_of(done, of, screen, &mut worst)? else { continue };
        screen.out.flush()?;
        worst = worst.max(report_problems(&file, files.len() > 1, problems, screen));
    }
    Ok(worst)
}

/// Reports what was lost of a recording.
fn report_problems(file: &File, named: bool, mut problems: Vec<Problem>, screen: &Screen) -> Outcome {
    problems.extend(file.problem().cloned());
    screen.notes.list_problems(named.then_some(file.path()), file.path(), &problems, 0);
    let damage = problems.iter().any(|problem| problem.severity == Severity::Damage);
    if damage { Outcome::Damage } else { Outcome::Done }
}

/// Problems of a recording that affect its timestamps.
fn problems(frames: &Frames<'_>) -> Vec<Problem> {
    let mut doubts = Problems::default();
    check_frames(frames.frames(), &mut doubts);
    Reading::of(frames).problems().into_iter().chain(doubts.list().iter().cloned()).collect()
}

/// Escapes control characters for a terminal: a recording must not move the cursor or ring the bell.
struct Harmless<'a, W> {
    out: &'a mut W,
    line: Vec<u8>,
}

impl<W: Write> Harmless<'_, W> {
    fn end(self) -> io::Result<()> {
        self.out.write_all(clean(&String::from_utf8_lossy(&self.line)).as_bytes())
    }
}

impl<W: Write> Write for Harmless<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.pop_if(|byte| *byte == b'\n').is_some() {
                writeln!(self.out, "{}", clean(&String::from_utf8_lossy(&self.line)))?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::Harmless;

    #[test]
    fn a_recording_cannot_write_escape_sequences() {
        let mut out = Vec::new();
        let mut harmless = Harmless { out: &mut out, line: Vec::new() };
        for part in ["Map: Citt", "à\nMap: \x1b[2J\r", "\nno line break\x07"] {
            harmless.write_all(part.as_bytes()).unwrap();
        }
        harmless.end().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "Map: Città\nMap: \\u{1b}[2J\\r\nno line break\\u{7}");
    }
}
