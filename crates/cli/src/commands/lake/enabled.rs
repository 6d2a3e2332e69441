//! What can be done with a lake besides filling and querying it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use logpose::{ConvertOptions, Format, Log, OpenOptions, Order, Output, convert};
use logpose_lake::{CompactOptions, Error, Lake, LogRow, Status};
use serde_json::{Value as Json, json};

use super::{Clean, Compact, Get, Ls, Rm, Show, Verb, Verify};
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, clean, count, counted, duration};
use crate::interrupt;
use crate::progress::Bar;
use crate::screen::{BAD, GOOD, HEAD, Screen};
use crate::table::{Align, Table};

pub(super) fn run(verb: &Verb, screen: &mut Screen) -> Result<Outcome> {
    match verb {
        Verb::Ls(command) => ls(command, screen),
        Verb::Show(command) => show(command, screen),
        Verb::Get(command) => get(command, screen),
        Verb::Rm(command) => rm(command, screen),
        Verb::Compact(command) => compact(command, screen),
        Verb::Verify(command) => verify(command, screen),
        Verb::Clean(command) => clean_up(command, screen),
    }
}

/// Converts an error of a lake to a command-line error.
pub(crate) fn complaint(error: Error) -> anyhow::Error {
    Complaint::failed(error.code, error.message).help_if(error.help.as_deref()).into()
}

fn open(place: &str) -> Result<Lake> {
    Lake::open(place).map_err(complaint)
}

fn ls(command: &Ls, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    if command.files {
        return ls_files(&lake, command.format.json(), screen);
    }
    let logs = lake.logs().map_err(complaint)?;
    if command.format.json() {
        screen.out.json(&logs.iter().map(as_json).collect::<Vec<_>>())?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("log", Align::Left),
        ("match", Align::Left),
        ("collection", Align::Left),
        ("dialect", Align::Left),
        ("bytes", Align::Right),
        ("samples", Align::Right),
        ("duration", Align::Right),
        ("", Align::Left),
    ]);
    for row in &logs {
        table.row(vec![
            clean(&row.log).into_owned(),
            clean(row.name_of_match.as_deref().unwrap_or_default()).into_owned(),
            clean(&row.collection).into_owned(),
            row.dialect.clone().unwrap_or_default(),
            bytes(row.bytes),
            count(row.samples),
            row.range_ns.map_or(String::new(), |(first, last)| duration(last.saturating_sub(first))),
            if row.status == Status::Whole { String::new() } else { row.status.name().to_owned() },
        ]);
    }
    table.print("", &mut screen.out)?;
    let samples = logs.iter().map(|row| row.samples).sum();
    let raw = logs.iter().map(|row| row.bytes).sum();
    let total = [counted(logs.len() as u64, "log"), bytes(raw), counted(samples, "sample")].join(", ");
    writeln!(screen.out, "{}", screen.out.paint(HEAD, total))?;
    Ok(Outcome::Done)
}

fn ls_files(lake: &Lake, json: bool, screen: &mut Screen) -> Result<Outcome> {
    let mut table =
        Table::new(&[("table", Align::Left), ("file", Align::Left), ("bytes", Align::Right), ("rows", Align::Right)]);
    let mut all = Vec::new();
    for name in lake.tables().map_err(complaint)? {
        for file in lake.files_of(&name).map_err(complaint)? {
            if json {
                all.push(json!({ "table": name, "file": file.path, "bytes": file.bytes, "rows": file.rows }));
            } else {
                let rows = file.rows.map_or(String::new(), count);
                table.row(vec![name.clone(), file.path, bytes(file.bytes), rows]);
            }
        }
    }
    if json {
        screen.out.json(&all)?
    } else {
        table.print("", &mut screen.out)?
    }
    Ok(Outcome::Done)
}

fn as_json(row: &LogRow) -> Json {
    let (first, last) = row.range_ns.unzip();
    json!({
        "log": row.log, "hash": row.hash, "source": row.source, "bytes": row.bytes, "dialect": row.dialect,
        "first_ns": first, "last_ns": last, "epoch_ns": row.epoch_ns, "samples": row.samples,
        "problems": row.problems, "status": row.status.name(), "reason": row.reason, "match": row.name_of_match,
        "collection": row.collection, "team": row.team, "labels": row.labels,
    })
}

fn show(command: &Show, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    let row = lake.log(&command.log).map_err(complaint)?;
    let about = as_json(&row);
    if command.format.json() {
        screen.out.json(&about)?;
        return Ok(Outcome::Done);
    }
    let lines: BTreeMap<_, _> = about.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()).collect();
    let order = about.as_object().into_iter().flatten().map(|(key, _)| key);
    let width = lines.keys().map(|key| key.len()).max().unwrap_or(0);
    for key in order {
        let Some(value) = lines.get(key) else { continue };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        writeln!(screen.out, "{}  {}", screen.out.paint(HEAD, format_args!("{key:<width$}")), clean(&text))?;
    }
    Ok(Outcome::Done)
}

fn get(command: &Get, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    let row = lake.log(&command.log).map_err(complaint)?;
    let path = command.output.clone().unwrap_or_else(|| PathBuf::from(&row.log));
    let Some((format, wrapper)) = Format::from_path(&path) else {
        return Err(Complaint::usage(format!("{}: unknown output format", shown(&path)))
            .help("choose an extension such as .wpilog or .rlog with -o")
            .into());
    };
    let mut rows = tempfile::NamedTempFile::new()?;
    lake.restore(&row, rows.as_file_mut()).map_err(complaint)?;
    let options = OpenOptions { from: Some("parquet".to_owned()), ..OpenOptions::default() };
    let bar = Bar::new(screen.notes.quiet);
    let log = Log::open_with(rows.path(), &options, &bar)?;
    let report = interrupt::while_writing(&path, || {
        let file = Output::File { path: &path, force: command.force, wrapper };
        let how = ConvertOptions { order: Some(Order::Time), ..ConvertOptions::default() };
        convert(&[log], Vec::new(), &format, file, &how, &bar)
    })?;
    screen.notes.list_problems(None, &path, report.problems.list(), report.problems.dropped());
    screen.notes.line(format_args!("wrote {}: {}", shown(&path), counted(report.samples, "sample")));
    Ok(Outcome::Done)
}

fn rm(command: &Rm, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    lake.finish().map_err(complaint)?;
    let rows = command.logs.iter().map(|name| lake.log(name).map_err(complaint)).collect::<Result<Vec<_>>>()?;
    lake.remove(&rows, command.now).map_err(complaint)?;
    for row in &rows {
        screen.notes.line(format_args!("removed {}", clean(&row.log)));
    }
    if !command.now {
        screen.notes.line(format_args!("run `logpose lake clean {}` to free the disk space", lake.name()));
    }
    Ok(Outcome::Done)
}

fn compact(command: &Compact, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    if !command.dry_run {
        lake.finish().map_err(complaint)?;
    }
    let bar = Bar::new(screen.notes.quiet);
    let options = CompactOptions { dry_run: command.dry_run, ..CompactOptions::default() };
    let done = lake.compact(&options, &bar).map_err(complaint)?;
    let size = |(files, size): (u64, u64)| format!("{}, {}", counted(files, "file"), bytes(size));
    if done.before.0 == 0 {
        screen.notes.line(format_args!("nothing to compact"));
    } else if command.dry_run {
        screen.notes.line(format_args!("would rewrite {}", size(done.before)));
    } else {
        screen.notes.line(format_args!("rewrote {} as {}", size(done.before), size(done.after)));
        screen.notes.line(format_args!("run `logpose lake clean {}` to free the disk space", lake.name()));
    }
    Ok(Outcome::Done)
}

fn verify(command: &Verify, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    let found = lake.verify(command.deep, &mut |_| interrupt::check()).map_err(complaint)?;
    let outcome = if found.faults.is_empty() { Outcome::Done } else { Outcome::Damage };
    let (orphans, orphan_bytes) = found.orphans;
    if command.format.json() {
        let faults = found.faults.iter().map(|(what, message)| json!({ "what": what, "message": message }));
        screen.out.json(&json!({
            "ok": found.faults.is_empty(), "logs": found.logs, "files": found.files, "samples": found.samples,
            "compared": found.compared, "orphans": orphans, "orphan_bytes": orphan_bytes, "faults": faults.collect::<Vec<_>>(),
        }))?;
        return Ok(outcome);
    }
    for (what, message) in &found.faults {
        writeln!(screen.out, "{}  {}: {}", screen.out.paint(BAD, "fault"), clean(what), clean(message))?;
    }
    if orphans > 0 {
        let text = format!("{} that no table names, {}", counted(orphans, "file"), bytes(orphan_bytes));
        writeln!(screen.out, "{}  {text}; `logpose lake clean` deletes them", screen.out.paint(HEAD, "note"))?;
    }
    if command.deep {
        let text = format!("{} of {} compared with the original", found.compared, counted(found.logs, "log"));
        writeln!(screen.out, "{}  {text}", screen.out.paint(HEAD, "note"))?;
    }
    let total = [counted(found.logs, "log"), counted(found.files, "file"), counted(found.samples, "sample")].join(", ");
    let verdict = match found.faults.len() as u64 {
        0 => format!("{}: {total}", screen.out.paint(GOOD, "sound")),
        faults => format!("{}: {}; {total}", screen.out.paint(BAD, "damaged"), counted(faults, "fault")),
    };
    writeln!(screen.out, "{verdict}")?;
    Ok(outcome)
}

fn clean_up(command: &Clean, screen: &mut Screen) -> Result<Outcome> {
    let lake = open(&command.lake)?;
    let age_ms = logpose::parse_duration(&command.older_than)? / 1_000_000;
    let cleaned = lake.clean(age_ms, command.dry_run).map_err(complaint)?;
    let verb = if command.dry_run { "would delete" } else { "deleted" };
    screen.notes.line(format_args!("{verb} {}, {}", counted(cleaned.files, "file"), bytes(cleaned.bytes)));
    Ok(Outcome::Done)
}
