//! Commands that write new recordings.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::Output;
use logpose::carla::{self, Edit, File, Frames, Who, Written};

use super::{report_problems, who};
use crate::args::Moments;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted};
use crate::interrupt;
use crate::progress::Bar;
use crate::render::carla::Made;
use crate::screen::Screen;

/// Extract a time range of a recording
///
/// Actors that exist at the start of the range are created in its first frame with their known state, so that CARLA can
/// replay the result on its own. Times start at 0 again, and the date is adjusted. To crop a damaged recording, run
/// `logpose recover` first.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla crop demo/demo_junction.log -o crash.log -S 8..12
  logpose carla crop demo/demo_junction.log -o end.log.gz --start -5s --force")]
pub(super) struct Crop {
    #[command(flatten)]
    one: One,
    #[command(flatten)]
    moments: Moments,
}

/// Remove actors from a recording
///
/// Removes the actors, all records about them including collisions, and the actors attached to them. To edit a damaged
/// recording, run `logpose recover` first.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla drop demo/demo_junction.log -o alone.log --actor class:walker
  logpose carla drop demo/demo_junction.log -o others.log -a role:hero -a 'vehicle.audi.*'")]
pub(super) struct Drop {
    #[command(flatten)]
    one: One,
    /// Actors to remove: `24`, `class:walker`, `role:hero`, or a blueprint pattern such as 'vehicle.*'; repeatable
    #[arg(short, long = "actor", required = true, value_name = "ACTOR", value_parser = who::parse)]
    actors: Vec<Who>,
}

/// Change the map name of a recording
///
/// CARLA loads the map named in the recording before it replays it. Nothing else changes. To edit a damaged recording, run
/// `logpose recover` first.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla rename demo/demo_junction.log -o town.log --map Town05")]
pub(super) struct Rename {
    #[command(flatten)]
    one: One,
    /// New map name
    #[arg(long, value_name = "MAP")]
    map: String,
}

/// Join recordings of the same map
///
/// Each recording starts one step after the last frame of the one before. Actors with the same id, blueprint and attributes
/// in both live on; others are destroyed at the joint, and an id still in use is replaced. All recordings must have the
/// same wire format. To join a damaged recording, run `logpose recover` first.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla concat demo/demo_junction.log demo/demo_junction.log -o twice.log")]
pub(super) struct Concat {
    /// Two or more recordings
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
}

/// The input and output of an edit.
#[derive(Args)]
struct One {
    /// Recording; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    target: Target,
}

/// The output of an edit.
#[derive(Args)]
struct Target {
    /// Output file; `-` is standard output; .gz, .zst, .xz or .lz4 at the end compresses it
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

impl Crop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let (start, end) = self.moments.parse()?;
        if start.is_none() && end.is_none() {
            let complaint = Complaint::usage("missing --start or --end");
            return Err(complaint.help("for example -S 10..20, --start 10 or --end -5s").into());
        }
        self.one.edit(screen, |file, frames| {
            let seconds = |moment: &logpose::Moment| file.seconds(frames, moment);
            let (from, to) = (start.as_ref().map(seconds).transpose()?, end.as_ref().map(seconds).transpose()?);
            Ok(Edit { from, to, ..Edit::default() })
        })
    }
}

impl Drop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        self.one.edit(screen, |file, frames| {
            if let Some(nobody) = self.actors.iter().find(|who| !who::occurs(who, frames)) {
                let message = format!("{}: no actor matches {}", shown(file.path()), who::written(nobody));
                let help = "run `logpose carla info` to list the actors";
                return Err(Complaint::failed("no-actor", message).help(help).into());
            }
            Ok(Edit { drop: self.actors.clone(), ..Edit::default() })
        })
    }
}

impl Rename {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        self.one.edit(screen, |_, _| Ok(Edit { map: Some(self.map.clone()), ..Edit::default() }))
    }
}

impl Concat {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        self.target.check()?;
        let bar = Bar::new(screen.notes.quiet);
        let files: Vec<File> = self.files.iter().map(|path| Ok(File::open(path, &bar)?)).collect::<Result<_>>()?;
        let written = self.target.write(screen, |out| Ok(carla::concat(&files, out, &bar)?))?;
        self.target.report(written, screen)?;
        let outcome = files.iter().map(|file| report_problems(file, true, Vec::new(), screen)).max();
        Ok(outcome.unwrap_or(Outcome::Done))
    }
}

impl One {
    fn edit(&self, screen: &mut Screen, plan: impl FnOnce(&File, &Frames<'_>) -> Result<Edit>) -> Result<Outcome> {
        self.target.check()?;
        let bar = Bar::new(screen.notes.quiet);
        let file = File::open(&self.file, &bar)?;
        let frames = file.frames()?;
        let edit = plan(&file, &frames)?;
        let written = self.target.write(screen, |out| Ok(carla::edit(&file, &frames, &edit, out, &bar)?))?;
        self.target.report(written, screen)?;
        Ok(report_problems(&file, false, Vec::new(), screen))
    }
}

impl Target {
    fn is_stdout(&self) -> bool {
        self.output.as_os_str() == "-"
    }

    fn check(&self) -> Result<(), Complaint> {
        if self.is_stdout() && io::stdout().is_terminal() {
            return Err(Complaint::usage("refusing to write binary data to a terminal")
                .help("write to a file with -o, or pipe the output"));
        }
        Ok(())
    }

    fn write(&self, screen: &mut Screen, make: impl FnOnce(Output<'_>) -> Result<Written>) -> Result<Written> {
        if self.is_stdout() {
            return make(Output::Stream(&mut screen.out));
        }
        let wrapper = logpose::Wrapper::of_path(&self.output);
        interrupt::while_writing(&self.output, || make(Output::File { path: &self.output, force: self.force, wrapper }))
    }

    fn report(&self, Written { frames, bytes: size }: Written, screen: &mut Screen) -> Result<()> {
        if self.json && !self.is_stdout() {
            let made = Made { output: shown(&self.output), frames: frames.into(), bytes: size.into() };
            screen.out.json(&made)?;
        }
        let count = counted(frames, "frame");
        screen.notes.line(format_args!("wrote {}: {count}, {}", shown(&self.output), bytes(size)));
        Ok(())
    }
}
