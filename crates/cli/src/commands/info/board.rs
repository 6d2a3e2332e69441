//! Refloat facts in `info`.

use anyhow::Result;
use logpose::Log;
use logpose::refloat::{Explanation, Options, explain, is_explainable};
use serde_json::{Value, json};

use super::row;
use crate::commands::refloat::explain::verdict_style;
use crate::human::{clean, counted, hertz, typed};
use crate::render::Double;
use crate::screen::{Out, WARNING};

/// Why the board in a log stopped; `None` for other logs.
fn explained(log: &Log) -> Option<Explanation> {
    is_explainable(log).then(|| explain(log, &Options::default()).ok())?
}

/// The part of `details` about the board.
pub(super) fn as_json(log: &Log) -> Option<Value> {
    let Explanation { verdict, stop, seen, .. } = explained(log)?;
    Some(json!({
        "cause": verdict.cause.name(),
        "certainty": verdict.certainty.name(),
        "summary": verdict.summary,
        "stop": stop.kind.name(),
        "rate_hz": seen.rate_hz.map(Double),
    }))
}

pub(super) fn print(log: &Log, out: &mut Out) -> Result<()> {
    if log.index.fact("recorded_samples").is_some() {
        print_recording(log, out)?;
    }
    let Some(explanation) = explained(log) else { return Ok(()) };
    let summary = out.paint(verdict_style(&explanation), &explanation.verdict.summary).to_string();
    row(out, "stopped", &format!("{summary} ({})", explanation.verdict.certainty.name()))?;
    row(out, "", &format!("run `logpose refloat explain {}` for the details", typed(&log.path)))
}

fn print_recording(log: &Log, out: &mut Out) -> Result<()> {
    let fact = |key: &str| log.index.fact(key).map(|text| clean(text).into_owned());
    if let Some(board) = fact("board") {
        let commit = fact("commit").map_or(String::new(), |commit| format!(" ({commit})"));
        row(out, "board", &format!("{board}{commit}"))?;
    }
    let firmware: Vec<_> = ["firmware", "hardware"].into_iter().filter_map(fact).collect();
    if !firmware.is_empty() {
        row(out, "firmware", &firmware.join(" on "))?;
    }
    if let Some(at) = fact("captured_at") {
        let from = fact("address").map_or(String::new(), |address| format!(" from {address}"));
        let tool = fact("tool").map_or(String::new(), |tool| format!(" by {tool}"));
        row(out, "fetched", &format!("{at}{from}{tool}"))?;
    }
    if let Some(note) = fact("note") {
        row(out, "note", &note)?;
    }
    let number = |key: &str| log.index.fact(key).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (recorded, held) = (number("recorded_samples"), number("held_samples"));
    let range = log.index.channels.iter().find(|c| c.channel.name == RUNNING && c.samples > 1);
    let rate = range.and_then(|c| crate::human::rate(c.samples, c.last.since(c.first)));
    let rate = rate.map_or(String::new(), |rate| format!(", {} per second", hertz(rate)));
    let of_each = match number("decimation") {
        0 => String::new(),
        1 => ", every step of the control loop".to_owned(),
        n => format!(", every {n}th step of the control loop"),
    };
    let whole = if log.index.fact("complete") == Some("true") {
        "complete".to_owned()
    } else {
        let text =
            format!("partial, {held} of {recorded}: run `logpose refloat fetch -o {}` to continue", typed(&log.path));
        out.paint(WARNING, text).to_string()
    };
    row(out, "recording", &format!("{}{rate}{of_each}; {whole}", counted(held, "sample")))
}

const RUNNING: &str = "/refloat/running";
