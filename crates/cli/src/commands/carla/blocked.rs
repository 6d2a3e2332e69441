use anyhow::Result;
use clap::Args;
use logpose::carla::{self, Blocking, Reading};

use super::{Query, each};
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::rows::{Cell, Rows};
use crate::screen::Screen;

/// List actors that stood still, like CARLA's show_recorder_actors_blocked
///
/// The text output matches CARLA's: longest first, times without decimals. The other formats list every stop with its
/// position and whether it lasted until the end of the recording. Exits with 0 even if no actor was blocked: CARLA prints
/// its table then too.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla blocked demo/demo_junction.log --min-time 5
  logpose carla blocked demo/demo_junction.log --min-time 5 --min-distance 100 --format table
  logpose carla blocked 'demo/*.log' --min-time 5 --json")]
pub(super) struct Blocked {
    #[command(flatten)]
    pub(super) query: Query,
    /// Minimum time standing still, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, allow_negative_numbers = true)]
    min_time: f64,
    /// Distance that counts as movement, in centimetres
    #[arg(long, value_name = "CM", default_value_t = 10.0, allow_negative_numbers = true)]
    min_distance: f64,
}

impl Blocked {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        if self.min_time.is_nan() || self.min_distance.is_nan() {
            return Err(Complaint::usage("--min-time and --min-distance must be numbers").into());
        }
        let blocking = Blocking { min_time: self.min_time, min_distance_cm: self.min_distance };
        let Some(format) = self.query.rows() else {
            return self.query.text(screen, |queries, out| queries.blocked(blocking, out));
        };
        let files = &self.query.files;
        let named = files.len() > 1;
        let columns = named.then_some("file").into_iter().chain(COLUMNS).collect();
        let mut rows = Rows::begin(format, columns, &mut screen.out)?;
        let worst = each(files, screen, |file, screen| {
            let frames = file.frames()?;
            for stay in carla::blocked(&frames, blocking) {
                let name = named.then(|| Cell::Text(shown(file.path())));
                rows.row(name.into_iter().chain(cells(&stay)).collect(), &mut screen.out)?;
            }
            Ok(Reading::of(&frames).problems())
        })?;
        rows.finish(&mut screen.out)?;
        Ok(worst)
    }
}

/// The cells below [`COLUMNS`].
fn cells(stay: &carla::Blocked<'_>) -> [Cell; 12] {
    [
        Cell::Number(stay.from),
        Cell::nanos(stay.from),
        Cell::Number(stay.duration),
        Cell::nanos(stay.duration),
        Cell::integer(Some(stay.actor)),
        Cell::Text(stay.class.name().to_owned()),
        Cell::text(stay.blueprint),
        Cell::Truth(stay.hero),
        Cell::Number(stay.place.x),
        Cell::Number(stay.place.y),
        Cell::Number(stay.place.z),
        Cell::Truth(stay.to_the_end),
    ]
}

const COLUMNS: [&str; 12] =
    ["time", "time_ns", "duration", "duration_ns", "actor", "class", "blueprint", "hero", "x", "y", "z", "to_the_end"];
