use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::Log;
use logpose::carla::{Summary, recorded};
use logpose::core::{ChannelIndex, Severity, Time};
use logpose::frc::{Facts, Mode, ModeSpan};
use serde_json::{Map, Value, json};

use super::{outcome, shown};
use crate::args::{Form, Reading};
use crate::failure::Outcome;
use crate::human::{about_time, bytes, clean, clip, counted, duration, share, typed};
use crate::render::{self, Int, carla};
use crate::screen::{BAD, GOOD, HEAD, Out, STRONG, Screen, WARNING};
use crate::table::{Align, Table};

/// Show what is in a log, on one screen
///
/// Dialect, writer, size, time range, match, robot modes, battery, map and actors of a recording, largest channels and
/// damage. `logpose FILE` means the same. Exits with 3 if the log is damaged.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose demo/demo_q12.rlog
  logpose info demo/*.wpilog
  logpose info demo/demo_q12.rlog --json | jq .details.modes")]
pub(super) struct Info {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    reading: Reading,
}

impl Info {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let mut worst = Outcome::Done;
        let mut blocks = 0;
        if self.form.json() && self.files.len() > 1 {
            screen.out.write_all(b"[\n")?;
        }
        for path in &self.files {
            let Some(log) = self.reading.open_one_of(path, self.files.len(), screen, &mut worst)? else { continue };
            worst = worst.max(outcome(&log.problems));
            if self.form.json() {
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
        if self.form.json() && self.files.len() > 1 {
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
        version: version(log),
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
    let ns = |time: Time| json!(Int::from(time.nanos()));
    let facts = log.frc();
    let modes: Vec<_> = facts
        .modes
        .iter()
        .map(|span| json!({"mode": span.mode.name(), "start_ns": ns(span.start), "end_ns": ns(span.end)}))
        .collect();
    let brownouts: Vec<_> =
        facts.brownouts.iter().map(|(start, end)| json!({"start_ns": ns(*start), "end_ns": ns(*end)})).collect();
    details.insert("wrapper".into(), log.wrapper().map(|w| w.name()).into());
    details.insert("content_bytes".into(), json!(Int::from(log.bytes().len() as u64)));
    details.insert("sorted".into(), log.index.sorted.into());
    details.insert("writer".into(), facts.writer.clone().into());
    details.insert("match".into(), match_json(facts));
    details.insert("modes".into(), modes.into());
    details.insert("brownouts".into(), brownouts.into());
    details.insert("battery".into(), battery_json(facts));
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
    Value::Object(details)
}

fn match_json(facts: &Facts) -> Value {
    facts.match_.as_ref().map_or(
        Value::Null,
        |m| json!({"event": m.event, "kind": m.kind.name(), "number": m.number, "station": m.station}),
    )
}

fn battery_json(facts: &Facts) -> Value {
    let low: Vec<_> = facts
        .low_battery
        .iter()
        .map(|(start, end)| json!({"start_ns": Int::from(start.nanos()), "end_ns": Int::from(end.nanos())}))
        .collect();
    facts.battery.as_ref().map_or(
        Value::Null,
        |b| json!({"channel": b.channel, "lowest_volts": b.lowest, "at_ns": Int::from(b.at.nanos()), "low": low}),
    )
}

fn print(log: &Log, screen: &mut Screen) -> Result<()> {
    let Screen { out, notes } = screen;
    let facts = log.frc();
    let size = match log.wrapper() {
        Some(wrapper) => format!("{} ({wrapper}: {} on disk)", bytes(log.bytes().len() as u64), bytes(log.file_len())),
        None => bytes(log.file_len()),
    };
    let dialect = log.dialect().info().title;
    let version = version(log).map_or(String::new(), |version| format!(" {version}"));
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
    print_match(facts, out)?;
    print_modes(log, out)?;
    print_battery(facts, out)?;
    with_recording(log, |summary| print_recording(summary, out)).unwrap_or(Ok(()))?;
    print_largest(log, out)?;
    print_problems(log, notes.verbose, out)
}

fn print_times(log: &Log, out: &mut Out) -> Result<()> {
    let Some((first, last)) = log.robust_range() else { return row(out, "time", "no samples") };
    row(
        out,
        "time",
        &format!("{} s to {} s ({})", about_time(first.nanos()), about_time(last.nanos()), duration(last.since(first))),
    )?;
    if log.index.range() != Some((first, last)) {
        row(out, "", "some channels are stamped by another clock and not counted here")?;
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

fn print_match(facts: &Facts, out: &mut Out) -> Result<()> {
    let Some(played) = &facts.match_ else { return Ok(()) };
    let number = played.number.map_or(String::new(), |number| format!(" {number}"));
    let event = played
        .event
        .as_deref()
        .filter(|event| !event.is_empty())
        .map_or(String::new(), |event| format!(" at {}", clean(event)));
    let station = played.station.as_deref().map_or(String::new(), |station| format!(", {}", clean(station)));
    row(out, "match", &format!("{}{number}{event}{station}", played.kind.name()))
}

/// A bar of the modes over time and, below it, the stretches in which the robot was enabled.
fn print_modes(log: &Log, out: &mut Out) -> Result<()> {
    let modes = &log.frc().modes;
    let (Some(first), Some(last)) = (modes.first(), modes.last()) else { return Ok(()) };
    let enabled: Vec<&ModeSpan> = modes.iter().filter(|span| span.mode.is_enabled()).collect();
    let bar = timeline(modes, first.start, last.end, out.width.saturating_sub(LABEL + 4).min(72));
    let cells: Vec<char> = bar.chars().collect();
    let runs = cells.chunk_by(|a, b| a == b);
    let painted: String = runs
        .filter_map(|run| Some(out.paint(mode_style(*run.first()?), run.iter().collect::<String>()).to_string()))
        .collect();
    row(out, "modes", &painted)?;
    if enabled.is_empty() {
        return row(out, "", "never enabled");
    }
    let lengths = |span: &ModeSpan| span.end.since(span.start);
    if enabled.len() <= 4 {
        let stretches = enabled.iter().map(|span| {
            format!("{} {} from {} s", span.mode.name(), duration(lengths(span)), about_time(span.start.nanos()))
        });
        return row(out, "", &stretches.collect::<Vec<_>>().join(", "));
    }
    let mut sums: Vec<(&str, u64, i64)> = Vec::new();
    for span in modes {
        let name = span.mode.name();
        match sums.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, times, sum)) => (*times, *sum) = (*times + 1, sum.saturating_add(lengths(span))),
            None => sums.push((name, 1, lengths(span))),
        }
    }
    let sums = sums.iter().map(|(name, times, sum)| format!("{name} {} ({times}×)", duration(*sum)));
    row(out, "", &sums.collect::<Vec<_>>().join(", "))
}

/// Each character is the mode that the robot was in for most of its share of the time; short moments of being
/// enabled are never lost.
fn timeline(modes: &[ModeSpan], start: Time, end: Time, width: usize) -> String {
    let total = i128::from(end.since(start)).max(1);
    let cell = |time: Time| usize::try_from(i128::from(time.since(start)) * width as i128 / total).unwrap_or(0);
    let mut cells = vec!['·'; width];
    for span in modes.iter().filter(|span| span.mode.is_enabled()) {
        let (from, to) = (cell(span.start), cell(span.end).min(width));
        let to = to.max(from + 1);
        cells.iter_mut().take(to).skip(from).for_each(|c| *c = mode_letter(span.mode));
    }
    cells.into_iter().collect()
}

fn mode_letter(mode: Mode) -> char {
    match mode {
        Mode::Disabled => '·',
        Mode::Auto => 'A',
        Mode::Teleop => 'T',
        Mode::Test => 't',
        Mode::EStop => '!',
    }
}

fn mode_style(letter: char) -> anstyle::Style {
    match letter {
        'A' => GOOD,
        'T' => anstyle::AnsiColor::Blue.on_default().bold(),
        't' => WARNING,
        '!' => BAD,
        _ => HEAD,
    }
}

fn print_battery(facts: &Facts, out: &mut Out) -> Result<()> {
    let mut words = Vec::new();
    if let Some(battery) = &facts.battery {
        words.push(format!("lowest {:.2} V at {} s", battery.lowest, about_time(battery.at.nanos())));
    }
    if !facts.low_battery.is_empty() {
        let total = facts.low_battery.iter().fold(0i64, |sum, (start, end)| sum.saturating_add(end.since(*start)));
        words.push(format!("too low {}× for {}", facts.low_battery.len(), duration(total)));
    }
    if let Some((first, _)) = facts.brownouts.first() {
        let longest = facts.brownouts.iter().map(|(start, end)| end.since(*start)).max().unwrap_or(0);
        words.push(format!(
            "{}, first at {} s, longest {}",
            counted(facts.brownouts.len() as u64, "brownout"),
            about_time(first.nanos()),
            duration(longest)
        ));
    }
    if words.is_empty() { Ok(()) } else { row(out, "battery", &words.join("; ")) }
}

/// What the CARLA recording says that a log is or was made of.
fn with_recording<T>(log: &Log, with: impl FnOnce(&Summary<'_>) -> T) -> Option<T> {
    let recorded = recorded(log).ok().flatten()?;
    let frames = recorded.frames().ok()?;
    Some(with(&Summary::of(&frames)))
}

fn print_recording(summary: &Summary<'_>, out: &mut Out) -> Result<()> {
    let fps = summary.mean_fps.map_or(String::new(), |fps| format!(", {fps:.1} a second"));
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

/// What is wrong, by kind, the worst first, and what to do about it.
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
        row(out, "", &format!("`logpose doctor {path}` tells more, `logpose recover {path}` saves what can be saved"))?;
    }
    Ok(())
}

fn row(out: &mut Out, label: &str, text: &str) -> Result<()> {
    let label = format!("{label:LABEL$}");
    let line = format!("  {}{text}", out.paint(HEAD, label));
    Ok(writeln!(out, "{}", line.trim_end())?)
}

fn version(log: &Log) -> Option<String> {
    let revision = || log.index.fact("revision").map(|revision| format!("R{}", revision.trim_start_matches('R')));
    log.index.fact("version").map(str::to_owned).or_else(revision)
}

fn largest(log: &Log) -> Vec<&ChannelIndex> {
    let mut channels: Vec<_> = log.index.channels.iter().filter(|c| c.bytes > 0).collect();
    channels.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.channel.name.cmp(&b.channel.name)));
    channels.truncate(LARGEST);
    channels
}

/// The names of the schemas that the log brings along.
fn schemas(log: &Log) -> Vec<String> {
    let mut names: Vec<_> =
        log.index.channels.iter().filter_map(|c| super::list::schema_name(&c.channel)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The width of the words on the left.
const LABEL: usize = 12;
const LARGEST: usize = 5;
const SHOWN_PER_KIND: usize = 3;

#[cfg(test)]
mod tests {
    use logpose::core::Time;
    use logpose::frc::{Mode, ModeSpan};

    use super::timeline;

    #[test]
    fn short_modes_are_not_lost_in_the_bar() {
        let span = |mode, start, end| ModeSpan { mode, start: Time::from_millis(start), end: Time::from_millis(end) };
        let modes = [
            span(Mode::Disabled, 0, 5000),
            span(Mode::Auto, 5000, 5001),
            span(Mode::Disabled, 5001, 8000),
            span(Mode::Teleop, 8000, 10_000),
        ];
        assert_eq!(timeline(&modes, Time::ZERO, Time::from_millis(10_000), 10), "·····A··TT");
        assert_eq!(timeline(&modes[..1], Time::ZERO, Time::ZERO, 4), "····");
    }
}
