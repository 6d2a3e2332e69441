use std::io::Write;

use anyhow::Result;
use clap::Args;
use logpose::carla::{ActorType, File, Frames, Summary};
use logpose::core::Problem;

use super::{Format, Query, each};
use crate::commands::shown;
use crate::failure::Outcome;
use crate::render::carla::{self, text};
use crate::render::{Double, Finding, Int};
use crate::rows::{Cell, RowFormat, Rows};
use crate::screen::Screen;

/// Show the contents of a recording, like CARLA's show_recorder_file_info
///
/// The text output matches CARLA's: actors that appear, disappear and collide, and with --all the contents of every frame.
/// The other formats print one row per recording: map, date, frames, duration, actors by class, heroes, collisions, and the
/// CARLA version that wrote it with the evidence for it. Exits with 3 if a recording is damaged; the readable part is shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla info demo/demo_junction.log
  logpose carla info demo/demo_junction.log --all | head -n 40
  logpose carla info demo/demo_junction.log --time-zone local
  logpose carla info 'demo/*.log' --format csv > runs.csv
  logpose carla info demo/demo_junction.log --json | jq .carla")]
pub(super) struct Info {
    #[command(flatten)]
    pub(super) query: Query,
    /// Also show the contents of every frame: positions, controls, lights
    #[arg(long)]
    all: bool,
}

impl Info {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let (format, files) = (self.query.rows(), &self.query.files);
        match format {
            None => self.query.text(screen, |queries, out| queries.info(self.all, out)),
            Some(format @ (RowFormat::Table | RowFormat::Csv)) => {
                let mut rows = Rows::begin(format, COLUMNS.to_vec(), &mut screen.out)?;
                let worst = each(files, screen, |file, screen| {
                    let frames = file.frames()?;
                    let summary = Summary::of(&frames);
                    rows.row(self.row(file, &frames, &summary), &mut screen.out)?;
                    Ok(summary.problems)
                })?;
                rows.finish(&mut screen.out)?;
                Ok(worst)
            }
            Some(_) => {
                let array = self.query.format() == Format::Json && files.len() > 1;
                let mut before: &[u8] = if array { b"[\n" } else { b"" };
                let worst = each(files, screen, |file, screen| {
                    let frames = file.frames()?;
                    let summary = Summary::of(&frames);
                    let problems: Vec<Problem> = summary.problems.iter().chain(file.problem()).cloned().collect();
                    let recording = self.recording(file, &frames, &summary, &problems);
                    screen.out.write_all(before)?;
                    match self.query.format() {
                        Format::Json => screen.out.json(&recording)?,
                        _ => screen.out.json_line(&recording)?,
                    }
                    before = if array { b",\n" } else { b"" };
                    Ok(summary.problems)
                })?;
                if array {
                    screen.out.write_all(if before == b",\n" { b"]\n" } else { b"[]\n" })?;
                }
                Ok(worst)
            }
        }
    }

    fn recording<'a>(
        &self,
        file: &File,
        frames: &Frames<'_>,
        summary: &'a Summary<'_>,
        problems: &'a [Problem],
    ) -> carla::Recording<'a> {
        let (vectors, ids) = carla::wire_format(frames);
        carla::Recording {
            file: shown(file.path()),
            bytes: Int::from(file.bytes().len() as u64),
            map: text(summary.map),
            date: self.query.time_zone.date(summary.date),
            epoch_ns: summary.date.checked_mul(1_000_000_000).map(Int::from),
            version: summary.version,
            vectors,
            ids,
            frames: summary.frames,
            duration: Double(summary.duration),
            duration_ns: carla::nanos(summary.duration),
            mean_fps: summary.mean_fps.map(Double),
            actors: carla::classes(summary),
            heroes: carla::Hero::all(summary),
            collisions: summary.collisions,
            carla: carla::Guess { version: &summary.guess.version, reasons: &summary.guess.reasons },
            problems: problems.iter().map(Finding::from).collect(),
        }
    }

    /// The cells below [`COLUMNS`].
    fn row(&self, file: &File, frames: &Frames<'_>, summary: &Summary<'_>) -> Vec<Cell> {
        let (vectors, ids) = carla::wire_format(frames);
        let count = |class| Cell::integer(Some(summary.actors.get(&class).map_or(0, |n| *n as u64)));
        let heroes: Vec<String> = summary.heroes.iter().map(|hero| hero.actor.to_string()).collect();
        let mut cells = vec![
            Cell::Text(shown(file.path())),
            Cell::text(summary.map),
            self.query.time_zone.date(summary.date).map_or(Cell::Nothing, Cell::Text),
            Cell::integer(Some(summary.version)),
            Cell::Text(vectors.to_owned()),
            Cell::Text(ids.to_owned()),
            Cell::integer(Some(summary.frames as u64)),
            Cell::Number(summary.duration),
            Cell::number(summary.mean_fps),
        ];
        cells.extend(ActorType::ALL.map(count));
        cells.extend([
            Cell::Text(heroes.join(" ")),
            Cell::integer(Some(summary.collisions as u64)),
            Cell::Text(summary.guess.version.clone()),
            Cell::integer(Some(summary.problems.len() as u64 + u64::from(file.problem().is_some()))),
        ]);
        cells
    }
}

/// The columns of a table of recordings; those of actors are in the order of [`ActorType::ALL`].
const COLUMNS: [&str; 19] = [
    "file",
    "map",
    "date",
    "version",
    "vectors",
    "ids",
    "frames",
    "duration",
    "mean_fps",
    "others",
    "vehicles",
    "walkers",
    "traffic_lights",
    "traffic_signs",
    "sensors",
    "heroes",
    "collisions",
    "carla",
    "problems",
];
