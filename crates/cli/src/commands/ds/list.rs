use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use logpose::core::Severity;
use logpose::dslog::MatchSummary;
use logpose::season::{self, Entry};
use serde_json::{Value as Json, json};

use super::super::shown;
use crate::args::OutputFormat;
use crate::failure::Outcome;
use crate::human::{clean, counted, duration};
use crate::screen::{HEAD, Screen};
use crate::table::{Align, Table};

/// List Driver Station logs: matches, modes, brownouts, lost communication
///
/// Prints one line per log, which is a pair of files, sorted by start time. Times are in the time zone of this computer.
/// Drops counts how often the robot disconnected and came back. The Driver Station keeps its logs in
/// `C:\Users\Public\Documents\FRC\Log Files`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ds list demo
  logpose ds list demo --matches
  logpose ds list demo --json | jq '.[] | select(.brownouts > 0) | .file'")]
pub(super) struct List {
    /// Files, or folders to search recursively
    #[arg(required = true, value_name = "FOLDER")]
    pub(super) folders: Vec<PathBuf>,
    /// List match logs only
    #[arg(long)]
    matches: bool,
    /// Number of threads; 0 for one per CPU
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    threads: usize,
    #[command(flatten)]
    format: OutputFormat,
}

impl List {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let mut all = season::list(&self.folders, self.threads)?;
        if self.matches {
            all.retain(|entry| is_match(entry) || entry.error.is_some());
        }
        if self.format.json() {
            screen.out.json(&all.iter().map(as_json).collect::<Vec<_>>())?;
        } else {
            print(&all, screen)?;
        }
        screen.out.flush()?;
        let mut worst = Outcome::Done;
        for entry in &all {
            let problems = &entry.summary.problems;
            screen.notes.list_problems(Some(entry.path()), entry.path(), problems.list(), problems.dropped());
            if problems.worst() == Some(Severity::Damage) {
                worst = worst.max(Outcome::Damage);
            }
            if let Some(error) = &entry.error {
                screen.notes.error("unreadable", &format!("{}: {error}", shown(entry.path())), None, None);
                worst = Outcome::Failed;
            }
        }
        Ok(worst)
    }
}

/// Whether the log is of a match, not only of a robot connected to a field.
fn is_match(entry: &Entry) -> bool {
    let number = |played: &MatchSummary| played.number.is_some_and(|number| number > 0);
    entry.summary.played.as_ref().is_some_and(number)
}

fn print(all: &[Entry], screen: &mut Screen) -> Result<()> {
    let zone = TimeZone::system();
    let mut table = Table::new(&[
        ("start", Align::Left),
        ("length", Align::Right),
        ("match", Align::Left),
        ("enabled", Align::Right),
        ("brownouts", Align::Right),
        ("drops", Align::Right),
        ("lowest", Align::Right),
        ("file", Align::Left),
    ]);
    let read = all.iter().filter(|entry| entry.error.is_none());
    for entry in read.clone() {
        let found = &entry.summary;
        let some = |n: u64, ns: i64| if n == 0 { String::new() } else { format!("{n} ({})", duration(ns)) };
        let enabled = found.enabled_ns();
        table.row(vec![
            start(found.start_unix_ns, &zone),
            duration(found.duration_ns),
            found.played.as_ref().map_or_else(String::new, named),
            if enabled > 0 { duration(enabled) } else { String::new() },
            some(found.brownouts, found.brownout_ns),
            some(found.drops, found.drop_ns),
            found.lowest_battery.map_or_else(String::new, |volts| format!("{volts:.2} V")),
            clean(&shown(entry.path())).into_owned(),
        ]);
    }
    table.print("", &mut screen.out)?;
    let (mut matches, mut ns) = (0, 0);
    for entry in read.clone() {
        matches += u64::from(is_match(entry));
        ns += entry.summary.enabled_ns();
    }
    let logs = counted(read.count() as u64, "log");
    let matches = if matches == 1 { "1 match".to_owned() } else { format!("{matches} matches") };
    let line = format!("{logs}, {matches}, enabled for {}", duration(ns));
    writeln!(screen.out, "{}", screen.out.paint(HEAD, line))?;
    Ok(())
}

fn start(unix_ns: i64, zone: &TimeZone) -> String {
    let stamp = Timestamp::from_nanosecond(unix_ns.into());
    stamp.map_or_else(|_| String::new(), |stamp| stamp.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// `TXHOU qualification 48`, with the replay number if there is one.
fn named(played: &MatchSummary) -> String {
    let number = played.number.filter(|number| *number > 0).map(|number| number.to_string());
    let replay = played.replay.filter(|replay| *replay > 1).map(|replay| format!("replay {replay}"));
    let parts = [played.event.clone(), played.kind.clone().filter(|kind| kind != "none"), number, replay];
    clean(&parts.into_iter().flatten().collect::<Vec<_>>().join(" ")).into_owned()
}

fn as_json(entry: &Entry) -> Json {
    let found = &entry.summary;
    let seconds = |ns: i64| logpose::core::Time::from_nanos(ns).seconds();
    let start = Timestamp::from_nanosecond(found.start_unix_ns.into()).ok().filter(|_| entry.error.is_none());
    let played = found.played.as_ref().map(|played| {
        json!({
            "event": played.event,
            "type": played.kind,
            "number": played.number,
            "replay": played.replay,
            "field_time": played.field_time.map(|time| time.to_string()),
        })
    });
    let problems: Vec<Json> = found
        .problems
        .list()
        .iter()
        .map(|p| json!({"severity": p.severity.name(), "code": p.code, "at": p.at, "message": p.message}))
        .collect();
    json!({
        "file": shown(entry.path()),
        "dslog": entry.dslog.as_deref().map(shown),
        "dsevents": entry.dsevents.as_deref().map(shown),
        "version": found.version,
        "start": start.map(|start| start.to_string()),
        "start_unix_ns": found.start_unix_ns.to_string(),
        "length_s": seconds(found.duration_ns),
        "records": found.records,
        "events": found.events,
        "match": played,
        "enabled_s": seconds(found.enabled_ns()),
        "autonomous_s": seconds(found.autonomous_ns),
        "teleop_s": seconds(found.teleop_ns),
        "test_s": seconds(found.test_ns),
        "brownouts": found.brownouts,
        "brownout_s": seconds(found.brownout_ns),
        "drops": found.drops,
        "drop_s": seconds(found.drop_ns),
        "lowest_battery": found.lowest_battery,
        "trip_time_s": found.trip_time,
        "loss_p95": found.loss_p95,
        "pd": found.pd.map(|pd| pd.name()),
        "errors": found.errors,
        "warnings": found.warnings,
        "problems": problems,
        "error": entry.error,
    })
}
