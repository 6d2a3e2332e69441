//! Adds logs to a lake and says what became of each file.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use logpose_lake::{Done, IngestOptions, Lake, LogRow, Sources, Status, ingest, watch};
use logpose_query::LakeTables;
use serde_json::{Value as Json, json};

use super::Ingest;
use crate::commands::lake::complaint;
use crate::commands::shown;
use crate::failure::Outcome;
use crate::human::{bytes, counted};
use crate::interrupt;
use crate::progress::Bar;
use crate::screen::Screen;

pub(super) fn run(command: &Ingest, screen: &mut Screen) -> Result<Outcome> {
    let mut find = || Sources::find(&command.files, &command.lake);
    let lake = Lake::create(&command.lake).map_err(complaint)?;
    let options = IngestOptions {
        open: command.reading.options(),
        salvage: command.salvage,
        replace: command.replace,
        retry: command.retry,
        collection: command.collection.clone(),
        team: command.team,
        labels: command.label.iter().cloned().collect(),
        shard: command.shard,
    };
    let mut totals = Totals::default();
    let bar = Bar::new(screen.notes.quiet);
    let each = &mut |path: &Path, done: Done| {
        totals.count(&done);
        if command.json {
            screen.out.json_line(&as_json(path, &done))?;
            // Who reads along sees each file as soon as it is done.
            std::io::Write::flush(&mut screen.out)?;
        } else {
            report(path, &done, screen);
        }
        interrupt::check();
        Ok(())
    };
    let done = match command.watch {
        true => watch(&lake, &mut find, &options, &LakeTables, &bar, each, &mut || {
            std::thread::sleep(LOOK);
            interrupt::check();
            true
        }),
        false => ingest(&lake, find(), &options, &LakeTables, &bar, each),
    };
    done.map_err(complaint)?;
    if !command.json {
        screen.notes.line(totals.sentence());
    }
    Ok(totals.outcome())
}

/// How often `--watch` looks for new files.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Totals {
    added: u64,
    bytes: u64,
    known: u64,
    others: u64,
    changed: u64,
    growing: u64,
    damaged: u64,
    refused: u64,
    failed: u64,
}

impl Totals {
    fn count(&mut self, done: &Done) {
        match done {
            Done::Added(row) => {
                self.added += 1;
                self.bytes += row.bytes;
                self.damaged += u64::from(row.status == Status::Damaged);
            }
            Done::Known(_) => self.known += 1,
            Done::NotALog => self.others += 1,
            Done::Changed(_) => self.changed += 1,
            Done::Growing => self.growing += 1,
            Done::Refused(_) => self.refused += 1,
            Done::Failed(_) => self.failed += 1,
        }
    }

    fn sentence(&self) -> String {
        let mut text = format!("added {} ({})", counted(self.added, "log"), bytes(self.bytes));
        for (count, what) in [
            (self.known, "in the lake already"),
            (self.changed, "changed since, left as they were"),
            (self.growing, "changed while being read, left for the next run"),
            (self.damaged, "damaged"),
            (self.refused, "not readable"),
            (self.failed, "failed"),
            (self.others, "no logs"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }

    fn outcome(&self) -> Outcome {
        if self.failed > 0 {
            Outcome::Failed
        } else if self.damaged > 0 || self.refused > 0 {
            Outcome::Damage
        } else {
            Outcome::Done
        }
    }
}

fn report(path: &Path, done: &Done, screen: &mut Screen) {
    let notes = &screen.notes;
    let path = shown(path);
    match done {
        Done::Added(row) if row.status == Status::Damaged => {
            notes.note("damaged", format_args!("{path}: added what is before the damage, {}", described(row)));
        }
        Done::Added(row) => notes.note("added", format_args!("{path}: {}", described(row))),
        Done::Known(log) if notes.verbose => notes.note("known", format_args!("{path}: in the lake as {log:?}")),
        Done::NotALog if notes.verbose => notes.note("skipped", format_args!("{path}: not a log")),
        Done::Known(_) | Done::NotALog => {}
        Done::Growing => notes.note("growing", format_args!("{path}: changed while it was read; run ingest again")),
        Done::Changed(log) => notes.note(
            "changed",
            format_args!("{path}: the lake has an earlier content as {log:?}; add --replace to take this one"),
        ),
        Done::Refused(error) => {
            notes.error(error.code, &error.message, None, error.help.as_deref());
        }
        Done::Failed(error) => {
            notes.error(error.code, &error.message, None, error.help.as_deref());
        }
    }
}

fn described(row: &LogRow) -> String {
    let known = row.name_of_match.as_deref().map_or(String::new(), |name| format!(", {name}"));
    format!("{} in {}{known}", counted(row.samples, "sample"), bytes(row.bytes))
}

fn as_json(path: &Path, done: &Done) -> Json {
    let (outcome, mut more) = match done {
        Done::Added(row) => {
            let outcome = if row.status == Status::Damaged { "damaged" } else { "added" };
            let about = json!({
                "log": row.log, "hash": row.hash, "bytes": row.bytes, "samples": row.samples, "problems": row.problems,
                "collection": row.collection,
            });
            (outcome, about)
        }
        Done::Known(log) => ("known", json!({ "log": log })),
        Done::NotALog => ("not-a-log", json!({})),
        Done::Growing => ("growing", json!({})),
        Done::Changed(log) => ("changed", json!({ "log": log })),
        Done::Refused(error) => ("refused", json!({ "code": error.code, "message": error.message })),
        Done::Failed(error) => ("failed", json!({ "code": error.code, "message": error.message })),
    };
    let mut line = json!({ "file": shown(path), "outcome": outcome });
    if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object_mut()) {
        line.append(more);
    }
    line
}
