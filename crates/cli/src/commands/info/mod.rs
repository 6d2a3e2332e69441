mod board;
mod story;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::carla::{Summary, recorded};
use logpose::core::{ChannelIndex, Severity, Time};
use logpose::frc::Facts;
use logpose::{Log, TimeRange};
use serde_json::{Map, Value, json};

use super::{outcome, shown};
use crate::args::{OutputFormat, Reading};
use crate::failure::Outcome;
use crate::human::{about_time, bytes, clean, clip, counted, duration, share, typed};
use crate::render::{self, Int, carla};
use crate::screen::{BAD, GOOD, HEAD, Out, STRONG, Screen, WARNING};
use crate::table::{Align, Table};

/// Show a summary of a log
///
/// Shows dialect, writer, size, time range, match, robot modes, battery, largest channels and damage; map and actors of a
/// CARLA recording; why a Refloat board stopped. `logpose FILE` does the same. Exits with 3 if the log is damaged.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose demo/demo_q12.rlog
  logpose info demo/*.wpilog
  logpose info demo/demo_q12.rlog --json | jq .details.modes")]
pub(super) struct Info {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    reading: Reading,
}

impl Info {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let mut worst = Outcome::Done;
        let mut blocks = 0;
        if self.format.json() && self.files.len() > 1 {
            screen.out.write_all(b"[\n")?;
        }
        for path in &self.files {
            let Some(log) = self.reading.open_one_of(path, self.files.len(), screen, &mut worst)? else { continue };
            worst = worst.max(outcome(&log.problems));
            if self.format.json() {
                if blocks > 0 {
                    screen.out.write_all(b",\n")?;
                }
                screen.out.json(&as_json(&log))?;
            } else {
                if blocks > 0 {
                    writeln!(screen.out)?;
                }
                print(&log, screen)?;
            }
            blocks += 1;
        }
        if self.format.json() && self.files.len() > 1 {
            screen.out.write_all(b"]\n")?;
        }
        Ok(worst)
    }
}

fn as_json(log: &Log) -> render::Info<'_> {
    let range = log.index.range();
    render::Info {
        file: shown(&log.path),
        dialect: log.dialect().info().name,
        version: log.version(),
        bytes: log.file_len().into(),
        records: log.index.records.into(),
        samples: log.index.samples().into(),
        channels: log.index.channels.len(),
        first_ns: range.map(|(first, _)| first.nanos().into()),
        last_ns: range.map(|(_, last)| last.nanos().into()),
        epoch_ns: log.epoch_ns().map(Int::from),
        problems: log.problems.list().iter().map(render::InfoProblem::from).collect(),
        details: details(log),
    }
}

fn details(log: &Log) -> Value {
    let mut details = Map::new();
    for fact in &log.index.facts {
        let number = fact.value.parse::<i64>().ok().filter(|_| !["version", "extra_header"].contains(&fact.key));
        details.insert(
            fact.key.to_owned(),
            number.map_or_else(|| fact.value.clone().into(), |number| json!(Int::from(number))),
        );
    }
    let facts = Facts::of(log);
    details.insert("wrapper".into(), log.wrapper().map(|w| w.name()).into());
    details.insert("content_bytes".into(), json!(Int::from(log.bytes().len() as u64)));
    details.insert("sorted".into(), log.index.sorted.into());
    details.extend(log.time_range().map(|range| ("range".into(), time_range(range))));
    details.insert("writer".into(), facts.writer.clone().into());
    details.extend(story::as_json(&facts));
    details.insert("schemas".into(), schemas(log).into());
    details
        .insert("joysticks".into(), facts.joysticks.iter().map(|j| json!({"port": j.port, "name": j.name})).collect());
    let largest: Vec<_> = largest(log)
        .iter()
        .map(|c| json!({"name": c.channel.name, "type": c.channel.type_name, "bytes": Int::from(c.bytes)}))
        .collect();
    details.insert("largest".into(), largest.into());
    details.insert("problems_not_listed".into(), log.problems.dropped().into());
    let recording = with_recording(log, |summary| {
        json!({
            "map": String::from_utf8_lossy(summary.map),
            "frames": summary.frames,
            "duration": summary.duration,
            "mean_fps": summary.mean_fps,
            "actors": carla::classes(summary),
            "heroes": summary.heroes.iter().map(|hero| hero.actor).collect::<Vec<_>>(),
            "collisions": summary.collisions,
            "carla": {"version": summary.guess.version, "reasons": summary.guess.reasons},
        })
    });
    if let Some(recording) = recording {
        details.insert("recording".into(), recording);
    }
    details.extend(board::as_json(log).map(|board| ("refloat".into(), board)));
    Value::Object(details)
}

/// The stretch that holds nearly all samples, and the samples far from it.
fn time_range(range: &TimeRange) -> Value {
    let stragglers = range.stragglers().map(|stragglers| {
        json!({
            "samples": Int::from(stragglers.samples),
            "exact": stragglers.exact,
            "first_ns": Int::from(stragglers.first.nanos()),
            "last_ns": Int::from(stragglers.last.nanos()),
            "message": stragglers.to_string(),
        })
    });
    json!({
        "first_ns": Int::from(range.first.nanos()),
        "last_ns": Int::from(range.last.nanos()),
        "stragglers": stragglers.collect::<Vec<_>>(),
    })
}

fn print(log: &Log, screen: &mut Screen) -> Result<()> {
    let Screen { out, notes } = screen;
    let facts = Facts::of(log);
    let size = match log.wrapper() {
        Some(wrapper) => format!("{} ({wrapper}: {} on disk)", bytes(log.bytes().len() as u64), bytes(log.file_len())),
        None => bytes(log.file_len()),
    };
    let dialect = log.dialect().info().title;
    let version = log.version().map_or(String::new(), |version| format!(" {version}"));
    writeln!(out, "{}", out.paint(STRONG, clean(&shown(&log.path))))?;
    let writer = facts.writer.as_deref().map_or(String::new(), |writer| format!(", written by {}", clean(writer)));
    row(out, "format", &format!("{}{version} ({dialect}){writer}", log.dialect().info().name))?;
    row(out, "size", &size)?;
    let schemas = schemas(log);
    let with_schemas =
        if schemas.is_empty() { String::new() } else { format!(", {}", counted(schemas.len() as u64, "schema")) };
    let index = &log.index;
    let contents = [
        counted(index.samples(), "sample"),
        counted(index.channels.len() as u64, "channel"),
        counted(index.records, "record"),
    ];
    row(out, "content", &format!("{}{with_schemas}", contents.join(", ")))?;
    print_times(log, out)?;
    story::print(&facts, out)?;
    board::print(log, out)?;
    with_recording(log, |summary| print_recording(summary, out)).unwrap_or(Ok(()))?;
    print_largest(log, out)?;
    print_problems(log, notes.verbose, out)
}

fn print_times(log: &Log, out: &mut Out) -> Result<()> {
    let Some(range) = log.time_range() else { return row(out, "time", "no samples") };
    let (first, last) = (range.first, range.last);
    row(
        out,
        "time",
        &format!("{} s to {} s ({})", about_time(first.nanos()), about_time(last.nanos()), duration(last.since(first))),
    )?;
    for stragglers in range.stragglers() {
        row(out, "", &format!("excluding {stragglers}"))?;
    }
    if let Some(epoch) = log.epoch_ns() {
        let (from, to) = (wall(first.plus(epoch)), wall(last.plus(epoch)));
        if let (Some(from), Some(to)) = (from, to) {
            let same_day = from.date() == to.date();
            let to = if same_day {
                to.strftime("%H:%M:%S").to_string()
            } else {
                to.strftime("%Y-%m-%d %H:%M:%S").to_string()
            };
            row(out, "wall clock", &format!("{} to {to} UTC", from.strftime("%Y-%m-%d %H:%M:%S")))?;
        }
    }
    Ok(())
}

pub(super) fn wall(time: Time) -> Option<jiff::civil::DateTime> {
    let stamp = jiff::Timestamp::from_nanosecond(time.nanos().into()).ok()?;
    Some(stamp.to_zoned(jiff::tz::TimeZone::UTC).datetime())
}

/// Facts about the CARLA recording that the log is or was converted from.
fn with_recording<T>(log: &Log, with: impl FnOnce(&Summary<'_>) -> T) -> Option<T> {
    let recorded = recorded(log).ok().flatten()?;
    let frames = recorded.frames().ok()?;
    Some(with(&Summary::of(&frames)))
}

fn print_recording(summary: &Summary<'_>, out: &mut Out) -> Result<()> {
    let fps = summary.mean_fps.map_or(String::new(), |fps| format!(", {fps:.1} frames/s"));
    let map = String::from_utf8_lossy(summary.map);
    row(out, "recording", &format!("{}, {}{fps}", clean(&map), counted(summary.frames as u64, "frame")))?;
    row(out, "", &format!("by CARLA {}: {}", summary.guess.version, summary.guess.reasons.join("; ")))?;
    let actors: Vec<String> =
        summary.actors.iter().map(|(class, count)| counted(*count as u64, &class.name().replace('_', " "))).collect();
    if !actors.is_empty() {
        row(out, "actors", &actors.join(", "))?;
    }
    for hero in &summary.heroes {
        let blueprint = String::from_utf8_lossy(hero.blueprint);
        row(out, "", &format!("hero {} ({})", hero.actor, clean(&blueprint)))?;
    }
    row(out, "collisions", &summary.collisions.to_string())
}

fn print_largest(log: &Log, out: &mut Out) -> Result<()> {
    let largest = largest(log);
    if largest.is_empty() {
        return Ok(());
    }
    row(out, "largest", "")?;
    let whole = log.bytes().len() as u64;
    let mut table = Table::new(&[("", Align::Right), ("", Align::Right), ("", Align::Left), ("", Align::Left)]);
    for channel in largest {
        let name = clean(&channel.channel.name);
        let name = clip(&name, out.width.saturating_sub(40).max(20)).into_owned();
        table.row(vec![
            share(channel.bytes, whole),
            bytes(channel.bytes),
            name,
            clean(&channel.channel.type_name).into_owned(),
        ]);
    }
    Ok(table.print("    ", out)?)
}

/// Prints problems by kind, worst first, and what to do about them.
fn print_problems(log: &Log, verbose: bool, out: &mut Out) -> Result<()> {
    let mut kinds: Vec<_> = log.problems.kinds().to_vec();
    if !verbose {
        kinds.retain(|(_, severity, _)| *severity > Severity::Note);
    }
    kinds.sort_by_key(|(_, severity, _)| std::cmp::Reverse(*severity));
    if !kinds.iter().any(|(_, severity, _)| *severity == Severity::Damage) {
        let none = out.paint(GOOD, "none").to_string();
        row(out, "damage", &none)?;
    }
    for (code, severity, count) in &kinds {
        let (label, style) = match severity {
            Severity::Damage => ("damage", BAD),
            Severity::Warning => ("warning", WARNING),
            Severity::Note => ("note", HEAD),
        };
        let shown = if verbose { usize::MAX } else { SHOWN_PER_KIND };
        for problem in log.problems.list().iter().filter(|problem| problem.code == *code).take(shown) {
            let label = format!("{label:LABEL$}");
            writeln!(out, "  {}{}", out.paint(style, label), clean(&problem.to_string()))?;
        }
        let more = count.saturating_sub(shown as u64);
        if more > 0 {
            row(out, "", &format!("… and {more} more of this kind"))?;
        }
    }
    if kinds.iter().any(|(_, severity, _)| *severity == Severity::Damage) {
        let path = typed(&log.path);
        row(
            out,
            "",
            &format!("run `logpose doctor {path}` for details, `logpose recover {path}` for a repaired copy"),
        )?;
    }
    Ok(())
}

fn row(out: &mut Out, label: &str, text: &str) -> Result<()> {
    let label = format!("{label:LABEL$}");
    let line = format!("  {}{text}", out.paint(HEAD, label));
    Ok(writeln!(out, "{}", line.trim_end())?)
}

fn largest(log: &Log) -> Vec<&ChannelIndex> {
    let mut channels: Vec<_> = log.index.channels.iter().filter(|c| c.bytes > 0).collect();
    channels.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.channel.name.cmp(&b.channel.name)));
    channels.truncate(LARGEST);
    channels
}

/// The names of the schemas in the log.
fn schemas(log: &Log) -> Vec<String> {
    let mut names: Vec<_> =
        log.index.channels.iter().filter_map(|c| super::list::schema_name(&c.channel)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Width of the labels.
const LABEL: usize = 12;
const LARGEST: usize = 5;
const SHOWN_PER_KIND: usize = 3;
