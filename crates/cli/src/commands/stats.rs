use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::Log;
use logpose::core::Time;
use logpose::stats::{self, ChannelStats, Kind, MOST_ROWS, Numbers, Row, StatsOptions};

use super::{report_problems, report_stragglers, shown};
use crate::args::{Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{about_time, clean, clip, count, duration, hertz, number, share};
use crate::render::{self, Double, Int, Scalar, Values};
use crate::screen::{STRONG, Screen};
use crate::table::{Align, Table};

/// Compute channel statistics: min, max, mean, percentiles, rate, gaps
///
/// For every channel: number of samples, rate from the median interval, longest gap and its start, and the number of gaps
/// (intervals longer than five times the median). For numbers: min, max, mean, standard deviation and percentiles over
/// samples, not weighted by time; NaN is counted and excluded. For booleans: share of true and number of changes. For
/// text: distinct values and the most frequent one. Structs are split into fields, and lists into elements if they always
/// have the same small length.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose stats demo/demo_q12.rlog -y '*Battery*'
  logpose stats demo/demo_q12.rlog -S teleop..teleop -y '/Drive/*' --percentiles 1,50,99
  logpose stats demo/demo_q12.rlog --format csv > stats.csv
  logpose stats demo/demo_q12.rlog --json | jq '.[] | select(.gaps > 0) | .name'")]
pub(super) struct Stats {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Percentiles, from 0 to 100
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "5,95")]
    percentiles: Vec<f64>,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: StatsFormat,
    /// Shorthand for --format json
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum StatsFormat {
    Text,
    Json,
    Csv,
}

impl Stats {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        if let Some(bad) = self.percentiles.iter().find(|p| !(0.0..=100.0).contains(*p)) {
            let complaint =
                Complaint::usage(format!("invalid value for --percentiles: {bad} is not between 0 and 100"));
            return Err(complaint.help("example: --percentiles 1,50,99").into());
        }
        let logs = self.reading.open_all(&self.files, &screen.notes)?;
        let lookups = self.selection.lookups(&logs)?;
        let options = StatsOptions { percentiles: self.percentiles.clone() };
        let mut all = Vec::with_capacity(logs.len());
        for (log, lookup) in logs.iter().zip(&lookups) {
            let mut channels = stats::of(log, lookup, &options)?;
            channels.sort_by(|a, b| (&a.name, &a.type_name).cmp(&(&b.name, &b.type_name)));
            for channel in channels.iter().filter(|channel| channel.cut) {
                let name = clean(&channel.name);
                screen.notes.note("note", format_args!("{name}: only the first {MOST_ROWS} fields are shown"));
            }
            all.push((log, channels));
        }
        if lookups.iter().all(|lookup| lookup.start.is_none() && lookup.end.is_none()) {
            report_stragglers(&logs, "includes", screen);
        }
        let files = logs.len() > 1;
        match if self.json { StatsFormat::Json } else { self.format } {
            StatsFormat::Text => self.print(&all, screen)?,
            StatsFormat::Json => {
                let rows = all.iter().flat_map(|(log, channels)| {
                    let file = files.then(|| shown(&log.path));
                    channels.iter().flat_map(move |channel| as_json(channel, file.as_deref()))
                });
                screen.out.json(&rows.collect::<Vec<_>>())?;
            }
            StatsFormat::Csv => self.csv(&all, screen)?,
        }
        Ok(report_problems(&logs, screen))
    }

    /// Prints one table per kind of value.
    fn print(&self, all: &[(&Log, Vec<ChannelStats>)], screen: &mut Screen) -> Result<()> {
        let percents: Vec<String> = self.percentiles.iter().map(|p| format!("p{p}")).collect();
        for (place, (log, channels)) in all.iter().enumerate() {
            if all.len() > 1 {
                let gap = if place > 0 { "\n" } else { "" };
                writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(&log.path)))?;
            }
            let right = |title: &str| (title.to_owned(), Align::Right);
            let head = |own: Vec<(String, Align)>| {
                let timing = ["rate", "gaps", "longest", "at"].map(right);
                let first = [("name".to_owned(), Align::Left), right("count")];
                Table::titled(first.into_iter().chain(own).chain(timing).collect())
            };
            let own = ["min", "mean", "max", "stddev", "median"].map(str::to_owned).into_iter();
            let own = own.chain(percents.iter().cloned()).chain(["NaN".to_owned()]);
            let mut numbers = head(own.map(|title| right(&title)).collect());
            let mut booleans = head(["true", "changes"].map(right).to_vec());
            let texts = [right("distinct"), ("most frequent".to_owned(), Align::Left), right("times")];
            let mut texts = head(texts.to_vec());
            let mut empty = Table::new(&[("no samples", Align::Left)]);
            for channel in channels {
                if channel.rows.is_empty() {
                    empty.row(vec![clean(&channel.name).into_owned()]);
                }
                for row in &channel.rows {
                    let name = clean(&format!("{}{}", channel.name, row.path)).into_owned();
                    let mut cells = vec![name, count(row.count)];
                    let table = match &row.kind {
                        Kind::Numbers(found) => {
                            cells.extend(number_cells(found));
                            &mut numbers
                        }
                        Kind::Booleans { yes, changes } => {
                            cells.extend([share(*yes, row.count), count(*changes)]);
                            &mut booleans
                        }
                        Kind::Texts { distinct, most, times, cut } => {
                            let more = if *cut { "≥ " } else { "" };
                            let most = clip(&clean(most), WIDEST).into_owned();
                            cells.extend([format!("{more}{}", count(*distinct)), most, count(*times)]);
                            &mut texts
                        }
                    };
                    cells.extend(timing_cells(channel));
                    table.row(cells);
                }
            }
            let mut gap = false;
            for table in [numbers, booleans, texts, empty].iter().filter(|table| !table.is_empty()) {
                if gap {
                    writeln!(screen.out)?;
                }
                table.print("", &mut screen.out)?;
                gap = true;
            }
        }
        Ok(())
    }

    fn csv(&self, all: &[(&Log, Vec<ChannelStats>)], screen: &mut Screen) -> Result<()> {
        let mut out = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(&mut screen.out);
        let percents = self.percentiles.iter().map(|p| format!("p{p}"));
        let head = HEAD.iter().map(|title| (*title).to_owned()).chain(percents);
        let file = (all.len() > 1).then(|| "file".to_owned());
        out.write_record(file.into_iter().chain(head)).map_err(unwrapped)?;
        for (log, channels) in all {
            let file = (all.len() > 1).then(|| shown(&log.path));
            for channel in channels {
                for row in &channel.rows {
                    let cells = file.clone().into_iter().chain(csv_cells(channel, row));
                    out.write_record(cells.chain(percentile_cells(row, self.percentiles.len()))).map_err(unwrapped)?;
                }
            }
        }
        Ok(out.flush()?)
    }
}

/// Keeps the I/O error of a closed pipe recognizable.
fn unwrapped(error: csv::Error) -> anyhow::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error.into(),
        other => anyhow::anyhow!("csv: {other:?}"),
    }
}

fn number_cells(found: &Numbers) -> Vec<String> {
    let extreme = |extreme: &Option<(logpose::ScalarValue<'static>, Time)>| match extreme {
        // Integers are exact, however long.
        Some((part, _)) if part.integer().is_some() => part.to_string(),
        Some((part, _)) => part.number().map(number).unwrap_or_default(),
        None => String::new(),
    };
    let some = found.min.is_some();
    let value = |x: f64| if some { number(x) } else { String::new() };
    let mut cells = vec![extreme(&found.min), value(found.mean), extreme(&found.max)];
    cells.push(found.stddev.map(number).unwrap_or_default());
    cells.push(value(found.median));
    cells.extend(found.percentiles.iter().map(|(_, x)| value(*x)));
    cells.push(if found.nan > 0 { count(found.nan) } else { String::new() });
    cells
}

fn timing_cells(channel: &ChannelStats) -> [String; 4] {
    let timing = &channel.timing;
    [
        timing.rate_hz().map(hertz).unwrap_or_default(),
        if timing.gaps > 0 { count(timing.gaps) } else { String::new() },
        timing.longest_gap.map(|(start, end)| duration(end.since(start))).unwrap_or_default(),
        timing.longest_gap.map(|(start, _)| about_time(start.nanos())).unwrap_or_default(),
    ]
}

fn as_json<'a>(channel: &'a ChannelStats, file: Option<&str>) -> Vec<render::Stats<'a>> {
    let timing = &channel.timing;
    let ns = |time: Option<Time>| time.map(|time| Int::from(time.nanos()));
    let row = |row: Option<&'a Row>| render::Stats {
        file: file.map(str::to_owned),
        name: format!("{}{}", channel.name, row.map_or("", |row| &row.path)),
        channel: &channel.name,
        type_name: &channel.type_name,
        kind: row.map_or("empty", kind),
        count: row.map_or(0, |row| row.count).into(),
        first_ns: ns(timing.first),
        last_ns: ns(timing.last),
        rate_hz: timing.rate_hz(),
        median_interval_ns: timing.median_interval_ns.map(Int::from),
        gaps: timing.gaps.into(),
        longest_gap_ns: timing.longest_gap.map(|(start, end)| Int::from(end.since(start))),
        longest_gap_at_ns: ns(timing.longest_gap.map(|(start, _)| start)),
        first: row.map(|row| Scalar(&row.first)),
        last: row.map(|row| Scalar(&row.last)),
        values: row.map_or(Values::Nothing {}, values),
    };
    if channel.rows.is_empty() {
        return vec![row(None)];
    }
    channel.rows.iter().map(|found| row(Some(found))).collect()
}

fn kind(row: &Row) -> &'static str {
    match row.kind {
        Kind::Numbers(_) => "number",
        Kind::Booleans { .. } => "boolean",
        Kind::Texts { .. } => "text",
    }
}

fn values(row: &Row) -> Values<'_> {
    match &row.kind {
        Kind::Numbers(found) => {
            let some = found.min.is_some();
            Values::Numbers {
                nan: found.nan.into(),
                min: found.min.as_ref().map(|(part, _)| Scalar(part)),
                min_at_ns: found.min.as_ref().map(|(_, time)| time.nanos().into()),
                max: found.max.as_ref().map(|(part, _)| Scalar(part)),
                max_at_ns: found.max.as_ref().map(|(_, time)| time.nanos().into()),
                mean: some.then_some(Double(found.mean)),
                stddev: found.stddev.map(Double),
                median: some.then_some(Double(found.median)),
                percentiles: found.percentiles.iter().map(|(p, x)| (p.to_string(), Double(*x))).collect(),
            }
        }
        Kind::Booleans { yes, changes } => Values::Booleans {
            yes: (*yes).into(),
            share_true: crate::human::lossy(*yes) / crate::human::lossy(row.count.max(1)),
            changes: (*changes).into(),
        },
        Kind::Texts { distinct, most, times, cut } => Values::Texts {
            distinct: (*distinct).into(),
            distinct_is_exact: !cut,
            most_frequent: most,
            most_frequent_count: (*times).into(),
        },
    }
}

/// The cells below [`HEAD`]; empty where a kind has no such value.
fn csv_cells(channel: &ChannelStats, row: &Row) -> Vec<String> {
    let timing = &channel.timing;
    let time = |time: Option<Time>| time.map(|time| time.to_string()).unwrap_or_default();
    let seconds = |ns: Option<i64>| time(ns.map(Time::from_nanos));
    let mut cells = vec![
        format!("{}{}", channel.name, row.path),
        channel.type_name.clone(),
        kind(row).to_owned(),
        row.count.to_string(),
        time(timing.first),
        time(timing.last),
        timing.rate_hz().map(|rate| rate.to_string()).unwrap_or_default(),
        timing.gaps.to_string(),
        seconds(timing.longest_gap.map(|(start, end)| end.since(start))),
        time(timing.longest_gap.map(|(start, _)| start)),
    ];
    let mut own = vec![String::new(); HEAD.len() - cells.len()];
    let texts = match &row.kind {
        Kind::Numbers(found) => {
            let extreme = |found: &Option<(logpose::ScalarValue<'static>, Time)>| {
                found.as_ref().map(|(part, _)| part.to_string()).unwrap_or_default()
            };
            let value = |x: f64| if found.min.is_some() { x.to_string() } else { String::new() };
            let stddev = found.stddev.map(|x| x.to_string()).unwrap_or_default();
            let nan = found.nan.to_string();
            vec![nan, extreme(&found.min), value(found.mean), extreme(&found.max), stddev, value(found.median)]
        }
        Kind::Booleans { yes, changes } => {
            let empty = std::iter::repeat_n(String::new(), 6);
            empty.chain([yes.to_string(), changes.to_string()]).collect()
        }
        Kind::Texts { distinct, most, times, .. } => {
            let empty = std::iter::repeat_n(String::new(), 8);
            empty.chain([distinct.to_string(), most.clone(), times.to_string()]).collect()
        }
    };
    own.iter_mut().zip(texts).for_each(|(cell, text)| *cell = text);
    cells.extend(own);
    cells
}

fn percentile_cells(row: &Row, wanted: usize) -> Vec<String> {
    match &row.kind {
        Kind::Numbers(found) if found.min.is_some() => found.percentiles.iter().map(|(_, x)| x.to_string()).collect(),
        _ => vec![String::new(); wanted],
    }
}

/// The CSV columns; percentiles follow them.
const HEAD: [&str; 21] = [
    "name",
    "type",
    "kind",
    "count",
    "first_s",
    "last_s",
    "rate_hz",
    "gaps",
    "longest_gap_s",
    "longest_gap_at_s",
    "nan",
    "min",
    "mean",
    "max",
    "stddev",
    "median",
    "true",
    "changes",
    "distinct",
    "most_frequent",
    "most_frequent_count",
];
/// Longer texts are cut in the table.
const WIDEST: usize = 32;
