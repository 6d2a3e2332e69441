use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use logpose::Moment;
use logpose::carla::{self, ActorState, File, Frames, Mode, Vector, VehicleAnim, Who};
use logpose::core::Time;

use super::{problems, report_problems, who};
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{clean, counted, number};
use crate::progress::Bar;
use crate::render::Double;
use crate::render::carla as shapes;
use crate::rows::{Cell, RowFormat, Rows};
use crate::screen::{STRONG, Screen};
use crate::table::{Align, Table};

/// Show the state of all actors at a time
///
/// Poses are interpolated between the two nearest frames, in metres and degrees. Speeds are recorded values; ~ marks a speed
/// computed from positions because the recording has none. --json includes everything: velocities, controls, vehicle
/// lights, bounding boxes, traffic lights and their timing, doors, street lights and weather. Exits with 4 if no actor
/// matches.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose carla state demo/demo_junction.log --time 10
  logpose carla state demo/demo_junction.log --time -2s --actor class:vehicle
  logpose carla state demo/demo_junction.log --time 10 --actor 10 --json | jq .actors
  logpose carla state demo/demo_junction.log --time 10 --mode carla --format csv")]
pub(super) struct State {
    /// Recording; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Time: `12.5` seconds, `+3s` after the start, `-10s` before the end, RFC 3339
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true)]
    time: String,
    /// As recorded (true), or as shown by CARLA's replayer, which is one frame late (carla)
    #[arg(long, value_enum, value_name = "MODE", default_value = "true")]
    mode: Shown,
    /// Only these actors: `24`, `class:walker`, `role:hero`, or a blueprint pattern such as 'vehicle.*'; repeatable
    #[arg(short, long = "actor", value_name = "ACTOR", value_parser = who::parse)]
    actors: Vec<Who>,
    /// Output format; csv and ndjson have one row per actor
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: Format,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Shown {
    True,
    Carla,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
enum Format {
    Text,
    Csv,
    Ndjson,
    Json,
}

impl State {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let moment = moment(&self.time).context("--time")?;
        let file = File::open(&self.file, &Bar::new(screen.notes.quiet))?;
        let frames = file.frames()?;
        let time = file.seconds(&frames, &moment)?;
        let mode = match self.mode {
            Shown::True => Mode::True,
            Shown::Carla => Mode::Carla,
        };
        let Some(state) = carla::State::at(&frames, time, mode) else {
            report_problems(&file, false, problems(&frames), screen);
            return Err(too_early(&file, &frames, time).into());
        };
        if time > frames.total() {
            let end = number(frames.total());
            screen.notes.note("note", format_args!("the recording ends at {end} s; showing its last frame"));
        }
        let frame = u32::try_from(state.frame).unwrap_or(u32::MAX);
        let wanted = |actor: &&ActorState<'_>| {
            self.actors.is_empty() || self.actors.iter().any(|who| who::is(who, actor.actor, &frames, frame))
        };
        let actors: Vec<&ActorState<'_>> = state.actors.iter().filter(wanted).collect();
        match if self.json { Format::Json } else { self.format } {
            Format::Text => self.print(&file, &frames, &state, &actors, screen)?,
            Format::Csv => rows(RowFormat::Csv, &state, &actors, screen)?,
            Format::Ndjson => rows(RowFormat::Ndjson, &state, &actors, screen)?,
            Format::Json => screen.out.json(&shapes::State {
                file: shown(file.path()),
                map: shapes::text(frames.header().map),
                mode: if mode == Mode::True { "true" } else { "carla" },
                time: Double(state.time),
                time_ns: shapes::nanos(state.time),
                frame: shapes::Frame::of(&state),
                per: Double(state.per),
                actors: actors.iter().map(|actor| shapes::Actor::of(actor)).collect(),
                scene_lights: state.scene_lights.iter().map(shapes::Lamp::from).collect(),
                weather: state.weather.map(shapes::Sky),
            })?,
        }
        screen.out.flush()?;
        let outcome = report_problems(&file, false, problems(&frames), screen);
        if !actors.is_empty() || self.actors.is_empty() {
            return Ok(outcome);
        }
        let asked: Vec<_> = self.actors.iter().map(who::written).collect();
        screen.notes.note("note", format_args!("no actor matches {} at this time", asked.join(" or ")));
        Ok(outcome.max(Outcome::No))
    }

    fn print(
        &self,
        file: &File,
        frames: &Frames<'_>,
        state: &carla::State<'_>,
        actors: &[&ActorState<'_>],
        screen: &mut Screen,
    ) -> Result<()> {
        let out = &mut screen.out;
        let map = shapes::text(frames.header().map);
        let count = counted(actors.len() as u64, "actor");
        let (time, id) = (number(state.time), state.start.frame);
        let head = format!("{}: {} at {time} s, frame {id}: {count}", shown(file.path()), clean(&map));
        writeln!(out, "{}", out.paint(STRONG, head))?;
        let right = |title| (title, Align::Right);
        let left = |title| (title, Align::Left);
        let mut table = Table::new(&[
            right("id"),
            left("class"),
            left("blueprint"),
            left("hero"),
            right("x"),
            right("y"),
            right("z"),
            right("yaw"),
            right("m/s"),
            left("controls"),
            left("lights"),
            right("parent"),
        ]);
        for actor in actors {
            let pose = &actor.pose;
            let place = |x: f64| format!("{x:.2}");
            table.row(vec![
                actor.actor.to_string(),
                actor.class.name().to_owned(),
                clean(&shapes::text(actor.blueprint)).into_owned(),
                (if actor.hero { "hero" } else { "" }).to_owned(),
                place(pose.x),
                place(pose.y),
                place(pose.z),
                format!("{:.1}", pose.yaw),
                speed(actor).map(|(speed, mark)| format!("{mark}{speed:.2}")).unwrap_or_default(),
                actor.controls.map(controls).unwrap_or_default(),
                lights(actor),
                actor.parent.map(|parent| parent.to_string()).unwrap_or_default(),
            ]);
        }
        if !table.is_empty() {
            table.print("", out)?;
        }
        Ok(())
    }
}

/// Parses a time. Seconds may have more than nine decimals, because those of recordings do.
fn moment(text: &str) -> Result<Moment> {
    let moment: Moment = text.parse()?;
    let exact = text.trim().parse().ok().and_then(Time::from_seconds);
    Ok(match (moment, exact) {
        (Moment::At(_), Some(time)) => Moment::At(time),
        _ => moment,
    })
}

fn too_early(file: &File, frames: &Frames<'_>, time: f64) -> Complaint {
    let path = shown(file.path());
    match frames.frames().first() {
        None => Complaint::failed("no-frames", format!("{path}: the recording has no complete frame")),
        Some(first) => {
            let (time, first, last) = (number(time), number(first.start.elapsed), number(frames.total()));
            Complaint::failed("too-early", format!("{path}: no data at {time} s"))
                .help(format!("the recording covers {first} s to {last} s"))
        }
    }
}

/// The speed of an actor, marked if it was computed.
fn speed(actor: &ActorState<'_>) -> Option<(f64, &'static str)> {
    let length = |Vector { x, y, z }: Vector| (x * x + y * y + z * z).sqrt();
    let velocity = actor.velocity.map(|v| (length(v.linear), if v.derived { "~" } else { "" }));
    match (actor.walker_speed, velocity) {
        (_, Some((speed, ""))) => Some((speed, "")),
        (Some(speed), _) => Some((speed, "")),
        (None, derived) => derived,
    }
}

/// Controls other than zero.
fn controls(controls: VehicleAnim) -> String {
    let named = [("throttle", controls.throttle), ("brake", controls.brake), ("steer", controls.steering)];
    let mut words: Vec<String> =
        named.iter().filter(|(_, x)| *x != 0.0).map(|(name, x)| format!("{name} {x:.2}")).collect();
    if controls.handbrake.is_set() {
        words.push("handbrake".to_owned());
    }
    words.push(format!("gear {}", controls.gear));
    words.join(" ")
}

/// The state of a traffic light, or the lamps of a vehicle that are on.
fn lights(actor: &ActorState<'_>) -> String {
    match (&actor.light, actor.lamps) {
        (Some(light), _) => {
            let frozen = if light.frozen.is_set() { " frozen" } else { "" };
            format!("{} {:.1} s{frozen}", shapes::colour(light.state), light.elapsed)
        }
        (None, Some(bits)) => shapes::lamps(bits).join(" "),
        (None, None) => String::new(),
    }
}

/// One row per actor.
fn rows(format: RowFormat, state: &carla::State<'_>, actors: &[&ActorState<'_>], screen: &mut Screen) -> Result<()> {
    let out = &mut screen.out;
    let mut rows = Rows::begin(format, COLUMNS.to_vec(), out)?;
    for actor in actors {
        rows.row(cells(state.time, actor), out)?;
    }
    Ok(rows.finish(out)?)
}

/// The cells below [`COLUMNS`].
fn cells(time: f64, actor: &ActorState<'_>) -> Vec<Cell> {
    let pose = &actor.pose;
    let word = |text: &str| Cell::Text(text.to_owned());
    let truth = |yes: Option<bool>| yes.map_or(Cell::Nothing, Cell::Truth);
    let (velocity, controls, light) = (actor.velocity, actor.controls, actor.light);
    let mut cells = vec![
        Cell::Number(time),
        Cell::nanos(time),
        Cell::integer(Some(actor.actor)),
        word(actor.class.name()),
        Cell::text(actor.blueprint),
        Cell::Truth(actor.hero),
        Cell::integer(actor.parent),
    ];
    cells.extend([pose.x, pose.y, pose.z, pose.roll, pose.pitch, pose.yaw].map(Cell::Number));
    cells.extend([
        word(shapes::source(actor.pose_source)),
        Cell::number(velocity.map(|v| v.linear.x)),
        Cell::number(velocity.map(|v| v.linear.y)),
        Cell::number(velocity.map(|v| v.linear.z)),
        truth(velocity.map(|v| v.derived)),
        Cell::single(controls.map(|c| c.steering)),
        Cell::single(controls.map(|c| c.throttle)),
        Cell::single(controls.map(|c| c.brake)),
        truth(controls.map(|c| c.handbrake.is_set())),
        Cell::integer(controls.map(|c| c.gear)),
        Cell::number(actor.walker_speed),
        actor.lamps.map_or(Cell::Nothing, |bits| Cell::Text(shapes::lamps(bits).join(" "))),
        light.map_or(Cell::Nothing, |light| Cell::Text(shapes::colour(light.state))),
        Cell::single(light.map(|light| light.elapsed)),
        truth(light.map(|light| light.frozen.is_set())),
    ]);
    cells
}

const COLUMNS: [&str; 28] = [
    "time",
    "time_ns",
    "actor",
    "class",
    "blueprint",
    "hero",
    "parent",
    "x",
    "y",
    "z",
    "roll",
    "pitch",
    "yaw",
    "pose_source",
    "vx",
    "vy",
    "vz",
    "velocity_derived",
    "steering",
    "throttle",
    "brake",
    "handbrake",
    "gear",
    "walker_speed",
    "lamps",
    "light",
    "light_elapsed",
    "light_frozen",
];
