//! New recordings out of recordings.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::Output;
use logpose::carla::{self, Edit, File, Frames, Who, Written};

use super::{tell, who};
use crate::args::Moments;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted};
use crate::interrupt;
use crate::progress::Bar;
use crate::render::carla::Made;
use crate::screen::Screen;

/// Cut a stretch of time out of a recording
///
/// Actors that are there when the stretch begins are created in its first frame, with what is known of them, so that CARLA
/// can replay it alone. Times begin at 0 again, and the date moves on. A damaged recording is refused: `logpose recover`
/// makes a whole one out of it.
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

/// Leave actors out of a recording
///
/// With them go all records about them, their collisions too, and the actors that were spawned attached to them. A damaged
/// recording is refused: `logpose recover` makes a whole one out of it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla drop demo/demo_junction.log -o alone.log --actor class:walker
  logpose carla drop demo/demo_junction.log -o others.log -a role:hero -a 'vehicle.audi.*'")]
pub(super) struct Drop {
    #[command(flatten)]
    one: One,
    /// Which actors: `24`, `class:walker`, `role:hero`, or a pattern of blueprints such as 'vehicle.*'; repeatable
    #[arg(short, long = "actor", required = true, value_name = "ACTOR", value_parser = who::parse)]
    actors: Vec<Who>,
}

/// Give a recording another map
///
/// CARLA loads the map that the recording names before it replays it. Nothing else changes. A damaged recording is refused:
/// `logpose recover` makes a whole one out of it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla rename demo/demo_junction.log -o town.log --map Town05")]
pub(super) struct Rename {
    #[command(flatten)]
    one: One,
    /// The name of the map
    #[arg(long, value_name = "MAP")]
    map: String,
}

/// Put recordings of the same map one behind the other
///
/// Each follows the last frame of the one before it by one step. Actors that both have under one id, of the same blueprint
/// and attributes, live on; others are destroyed at the seam, and an id that is still taken is replaced. The recordings must
/// be written in the same way, by the same kind of CARLA. A damaged one is refused: `logpose recover` makes a whole one out of
/// it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla concat demo/demo_junction.log demo/demo_junction.log -o twice.log")]
pub(super) struct Concat {
    /// Recordings, two or more
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    target: Target,
}

/// One recording, and the one to be made.
#[derive(Args)]
struct One {
    /// A recording; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    target: Target,
}

/// The recording to be made.
#[derive(Args)]
struct Target {
    /// Where to write; `-` is standard output; .gz, .zst, .xz or .lz4 at the end compress
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

impl Crop {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let (start, end) = self.moments.parse()?;
        if start.is_none() && end.is_none() {
            let complaint = Complaint::usage("neither where to begin nor where to end is said");
            return Err(complaint.help("add -S 10..20, --start 10 or --end -5s").into());
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
                let message = format!("{}: no actor is {}", shown(file.path()), who::written(nobody));
                let help = "`logpose carla info` tells who there is";
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
        self.target.tell(written, screen)?;
        let told = files.iter().map(|file| tell(file, true, Vec::new(), screen)).max();
        Ok(told.unwrap_or(Outcome::Done))
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
        self.target.tell(written, screen)?;
        Ok(tell(&file, false, Vec::new(), screen))
    }
}

impl Target {
    fn is_stdout(&self) -> bool {
        self.output.as_os_str() == "-"
    }

    fn check(&self) -> Result<(), Complaint> {
        if self.is_stdout() && io::stdout().is_terminal() {
            return Err(Complaint::usage("a recording is binary and does not go to a terminal")
                .help("name a file with -o, or pipe the output"));
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

    fn tell(&self, Written { frames, bytes: size }: Written, screen: &mut Screen) -> Result<()> {
        if self.json && !self.is_stdout() {
            let made = Made { output: shown(&self.output), frames: frames.into(), bytes: size.into() };
            screen.out.json(&made)?;
        }
        let count = counted(frames, "frame");
        screen.notes.line(format_args!("wrote {}: {count}, {}", shown(&self.output), bytes(size)));
        Ok(())
    }
}
