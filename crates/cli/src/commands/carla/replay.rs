use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::carla::{self, File, Pose, ReplayError, ReplayOptions, Replayed, Tick, WriteError};
use logpose::{ConvertOptions, Log, OpenOptions, Output, convert};

use super::{problems, report_problems};
use crate::commands::convert::format_of;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, number};
use crate::interrupt;
use crate::progress::Bar;
use crate::render::carla as shapes;
use crate::rows::{Array, Cell, RowFormat, Rows};
use crate::screen::{Out, Screen};

/// Step through a recording like CARLA's replayer
///
/// Prints one line per step: time, current frame, fraction of the frame that has passed, events, and the poses of actors in
/// metres and degrees. The first line is the step to the start, which moves no actor. CARLA's reply to replay_file goes to
/// standard error.
///
/// With -o the steps are written as a new recording: .log for a simulator, .mcap for Foxglove, or any other output format.
/// The replay ends where CARLA's replayer stops or at the end of the recording.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla replay demo/demo_junction.log --start 9 --duration 2
  logpose carla replay demo/demo_junction.log --start -3 --factor 0.5 --format csv > poses.csv
  logpose carla replay demo/demo_junction.log --delta 0.1 | jq -c '[.time, .frame, .per]'
  logpose carla replay demo/demo_junction.log --ignore-hero --format json > replay.json
  logpose carla replay demo/demo_junction.log --start 9 --duration 2 --factor 0.25 -o slow.mcap")]
pub(super) struct Replay {
    /// Recording; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Start time in seconds; negative values count from the end
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true)]
    start: f64,
    /// Duration in seconds of the recording; 0 replays to the end
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true)]
    duration: f64,
    /// Print the pose of a camera that follows this actor, like CARLA's spectator
    #[arg(long, value_name = "ID")]
    follow: Option<u32>,
    /// Playback speed; from 2 on CARLA shows recorded poses without interpolation
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    factor: f64,
    /// Simulation step in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.05, allow_negative_numbers = true)]
    delta: f32,
    /// Skip the ego vehicle
    #[arg(long)]
    ignore_hero: bool,
    /// Skip the spectator, the default in CARLA 0.9.15 and later
    #[arg(long)]
    ignore_spectator: bool,
    /// Output format; csv has one row per pose and no events
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "ndjson", conflicts_with = "json")]
    format: Format,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
    /// Write the steps to a file; the extension selects the format
    #[arg(short, long, value_name = "OUT", conflicts_with_all = ["format", "json"])]
    output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    force: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    Ndjson,
    Json,
    Csv,
}

impl Replay {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let file = File::open(&self.file, &Bar::new(screen.notes.quiet))?;
        let frames = file.frames()?;
        let options = ReplayOptions {
            start: self.start,
            duration: self.duration,
            follow: self.follow,
            factor: self.factor,
            ignore_hero: self.ignore_hero,
            ignore_spectator: self.ignore_spectator,
            ..ReplayOptions::default()
        };
        let usage = |error: ReplayError| Complaint::usage(error.to_string());
        let (mut replay, first) = carla::Replay::new(&frames, options).map_err(usage)?;
        self.check_step(replay.start(), replay.stop())?;
        let mut answer = Vec::new();
        replay.text(&shown(file.path()), None, &mut answer)?;
        String::from_utf8_lossy(&answer).lines().for_each(|line| screen.notes.line(crate::human::clean(line)));
        let format = match self.output {
            Some(_) => Steps::Recording(Box::new(Replayed::new(&frames, replay.start()).map_err(written)?), self.delta),
            None => Steps::begin(if self.json { Format::Json } else { self.format }, &mut screen.out)?,
        };
        let (mut steps, mut last) = (format, first);
        steps.step(&last, &mut screen.out)?;
        while !last.stopped && !last.exhausted {
            last = replay.tick(self.delta);
            steps.step(&last, &mut screen.out)?;
        }
        if let (Some(recording), Some(output)) = (steps.finish(&mut screen.out)?, &self.output) {
            self.write(recording, output, screen)?;
        }
        screen.out.flush()?;
        if !last.stopped {
            let (end, stop) = (number(frames.total()), number(replay.stop()));
            screen.notes.note("note", format_args!("the recording ends at {end} s; CARLA would continue to {stop} s"));
        }
        Ok(report_problems(&file, false, problems(&frames), screen))
    }

    /// Writes a recording in the format given by the extension.
    fn write(&self, recording: Vec<u8>, output: &Path, screen: &mut Screen) -> Result<()> {
        let (format, wrapper) = format_of(output)?;
        let log = [Log::from_bytes("replay.log", recording, &OpenOptions::default())?];
        let to = Output::File { path: output, force: self.force, wrapper };
        let bar = Bar::new(screen.notes.quiet);
        let report = interrupt::while_writing(output, || {
            Ok::<_, anyhow::Error>(convert(&log, Vec::new(), &format, to, &ConvertOptions::default(), &bar)?)
        })?;
        let steps = log.iter().filter_map(|log| log.index.fact("frames")).collect::<String>();
        screen.notes.line(format_args!("wrote {}: {steps} steps, {}", shown(output), bytes(report.bytes)));
        Ok(())
    }

    /// A step that does not advance time would repeat forever.
    fn check_step(&self, start: f64, stop: f64) -> Result<(), Complaint> {
        let step = f64::from(self.delta) * self.factor;
        if step.is_finite() && step > 0.0 && start + step > start && stop - step < stop {
            return Ok(());
        }
        let (delta, factor) = (self.delta, self.factor);
        Err(Complaint::usage(format!("time does not advance with --delta {delta} and --factor {factor}"))
            .help("both must be greater than 0; a common CARLA step is 0.05"))
    }
}

fn written(error: WriteError) -> Complaint {
    Complaint::failed("write", error.to_string())
}

/// Receives steps and prints or writes them.
enum Steps<'f, 'a> {
    Lines,
    Array(Array),
    Poses(Rows),
    /// A new recording with this many seconds per step.
    Recording(Box<Replayed<'f, 'a>>, f32),
}

impl<'a> Steps<'_, 'a> {
    fn begin(format: Format, out: &mut Out) -> Result<Self> {
        Ok(match format {
            Format::Ndjson => Self::Lines,
            Format::Json => Self::Array(Array::default()),
            Format::Csv => Self::Poses(Rows::begin(RowFormat::Csv, COLUMNS.to_vec(), out)?),
        })
    }

    fn step(&mut self, tick: &Tick<'a>, out: &mut Out) -> Result<()> {
        match self {
            Self::Recording(recording, delta) => recording.step(tick, *delta).map_err(written)?,
            Self::Lines => out.json_line(&shapes::Tick::from(tick))?,
            Self::Array(array) => array.push(&shapes::Tick::from(tick), out)?,
            Self::Poses(rows) => {
                for (actor, Pose { x, y, z, roll, pitch, yaw }) in &tick.poses {
                    let mut cells = vec![
                        Cell::Number(tick.time),
                        Cell::nanos(tick.time),
                        Cell::integer(Some(tick.frame)),
                        Cell::Number(tick.per),
                        Cell::integer(Some(*actor)),
                    ];
                    cells.extend([*x, *y, *z, *roll, *pitch, *yaw].map(Cell::Number));
                    rows.row(cells, out)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the output, or returns the recording.
    fn finish(self, out: &mut Out) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Lines => {}
            Self::Array(array) => array.finish(out)?,
            Self::Poses(rows) => rows.finish(out)?,
            Self::Recording(recording, _) => return Ok(Some(recording.finish().map_err(written)?)),
        }
        Ok(None)
    }
}

const COLUMNS: [&str; 11] = ["time", "time_ns", "frame", "per", "actor", "x", "y", "z", "roll", "pitch", "yaw"];
