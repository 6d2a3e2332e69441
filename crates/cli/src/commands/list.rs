use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::core::{Channel, ChannelId, ChannelIndex, Lookup, Problem, Sample, Sink, SinkError};
use logpose::{Log, Order, unit};

use super::{report_problems, shown};
use crate::args::{Channels, OutputFormat, Reading};
use crate::failure::Outcome;
use crate::human::{about_time, bytes, clean, count, hertz, rate};
use crate::render::{self, Int};
use crate::screen::{HEAD, NAME, STRONG, Screen};
use crate::table::{Align, Table};

/// List the channels of a log
///
/// Shows name, type, unit, number of samples, samples per second, bytes, and first and last timestamp in log seconds.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose list demo/demo_q12.rlog
  logpose list demo/demo_q12.rlog -y '/Drive/*' --sort bytes
  logpose list demo/demo_q12.rlog --schemas
  logpose list demo/demo_q12.rlog --json | jq -r '.[].name'")]
pub(super) struct List {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Sort order
    #[arg(long, value_name = "BY", value_enum, default_value = "name")]
    sort: Sort,
    /// Print the schemas in the log instead of its channels
    #[arg(long)]
    schemas: bool,
    /// Print each channel's metadata below it
    #[arg(long, conflicts_with = "schemas")]
    metadata: bool,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    channels: Channels,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, ValueEnum)]
enum Sort {
    Name,
    Bytes,
    Samples,
    Rate,
}

impl List {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let logs = self.reading.open_all(&self.files, &screen.notes)?;
        let filter = self.channels.filter()?;
        self.channels.check(&filter, &logs)?;
        let chosen = |log: &'_ Log| -> Vec<usize> {
            let mut places: Vec<usize> = (0..log.index.channels.len())
                .filter(|i| log.index.channels.get(*i).is_some_and(|c| filter.accepts(&c.channel.name)))
                .collect();
            self.order(log, &mut places);
            places
        };
        if self.schemas {
            self.print_schemas(&logs, &chosen, screen)?;
        } else if self.format.json() {
            let file = |log: &Log| (logs.len() > 1).then(|| shown(&log.path));
            let rows: Vec<_> = logs
                .iter()
                .flat_map(|log| {
                    chosen(log)
                        .into_iter()
                        .filter_map(move |i| log.index.channels.get(i))
                        .map(move |c| as_json(c, file(log)))
                })
                .collect();
            screen.out.json(&rows)?;
        } else {
            for (i, log) in logs.iter().enumerate() {
                if logs.len() > 1 {
                    let gap = if i > 0 { "\n" } else { "" };
                    writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(&log.path)))?;
                }
                let channels: Vec<_> = chosen(log).into_iter().filter_map(|i| log.index.channels.get(i)).collect();
                if self.metadata { print_metadata(&channels, screen)? } else { print_table(&channels, screen)? }
            }
        }
        Ok(report_problems(&logs, screen))
    }

    fn order(&self, log: &Log, places: &mut [usize]) {
        let channel = |i: usize| log.index.channels.get(i);
        let name = |i: usize| channel(i).map(|c| (&c.channel.name, &c.channel.type_name));
        places.sort_by(|a, b| {
            let (a, b) = (*a, *b);
            let by = match self.sort {
                Sort::Name => std::cmp::Ordering::Equal,
                Sort::Bytes => channel(b).map(|c| c.bytes).cmp(&channel(a).map(|c| c.bytes)),
                Sort::Samples => channel(b).map(|c| c.samples).cmp(&channel(a).map(|c| c.samples)),
                Sort::Rate => {
                    channel(b).and_then(rate_of).unwrap_or(0.0).total_cmp(&channel(a).and_then(rate_of).unwrap_or(0.0))
                }
            };
            by.then_with(|| name(a).cmp(&name(b)))
        });
    }

    fn print_schemas(&self, logs: &[Log], chosen: &dyn Fn(&Log) -> Vec<usize>, screen: &mut Screen) -> Result<()> {
        let mut rows = Vec::new();
        for log in logs {
            let mut lookup = Lookup { channels: vec![false; log.index.channels.len()], ..Lookup::default() };
            for i in chosen(log) {
                if let (Some(wanted), Some(found)) = (lookup.channels.get_mut(i), log.index.channels.get(i)) {
                    *wanted = schema_name(&found.channel).is_some();
                }
            }
            let mut texts = Texts { log, found: BTreeMap::new() };
            log.rows(Order::File, &lookup, &mut texts)?;
            let file = (logs.len() > 1).then(|| shown(&log.path));
            for (id, text) in texts.found {
                let Some(found) = log.index.channels.get(id as usize) else { continue };
                rows.push((
                    file.clone(),
                    schema_name(&found.channel).unwrap_or_default(),
                    &found.channel.type_name,
                    text,
                ));
            }
        }
        rows.sort();
        rows.dedup();
        if self.format.json() {
            let rows: Vec<_> = rows
                .iter()
                .map(|(file, name, type_name, text)| render::Schema {
                    file: file.clone(),
                    name,
                    type_name,
                    text: text.as_str().into(),
                })
                .collect();
            return Ok(screen.out.json(&rows)?);
        }
        if rows.is_empty() {
            screen.notes.note("note", "this log has no schemas");
        }
        let out = &mut screen.out;
        for (i, (_, name, _, text)) in rows.iter().enumerate() {
            let gap = if i > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}", out.paint(NAME, clean(name)))?;
            // Struct fields are separated by semicolons, mostly in one long line.
            let fields: Vec<_> = text.split([';', '\n']).map(str::trim).filter(|field| !field.is_empty()).collect();
            for field in fields {
                writeln!(out, "  {}", clean(field))?;
            }
        }
        Ok(())
    }
}

fn as_json(found: &ChannelIndex, file: Option<String>) -> render::Channel<'_> {
    let channel = &found.channel;
    let full = found.samples > 0;
    render::Channel {
        file,
        name: &channel.name,
        type_name: &channel.type_name,
        unit: unit(channel),
        samples: found.samples.into(),
        bytes: found.bytes.into(),
        first_ns: full.then(|| Int::from(found.first.nanos())),
        last_ns: full.then(|| Int::from(found.last.nanos())),
        rate_hz: rate_of(found),
        metadata: &channel.metadata,
    }
}

fn print_table(channels: &[&ChannelIndex], screen: &mut Screen) -> Result<()> {
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("type", Align::Left),
        ("unit", Align::Left),
        ("samples", Align::Right),
        ("rate", Align::Right),
        ("bytes", Align::Right),
        ("first", Align::Right),
        ("last", Align::Right),
    ]);
    for found in channels {
        let time = |time: logpose::core::Time| if found.samples > 0 { about_time(time.nanos()) } else { String::new() };
        table.row(vec![
            clean(&found.channel.name).into_owned(),
            clean(&found.channel.type_name).into_owned(),
            unit(&found.channel).map(|unit| clean(&unit).into_owned()).unwrap_or_default(),
            count(found.samples),
            rate_of(found).map(hertz).unwrap_or_default(),
            bytes(found.bytes),
            time(found.first),
            time(found.last),
        ]);
    }
    Ok(table.print("", &mut screen.out)?)
}

fn print_metadata(channels: &[&ChannelIndex], screen: &mut Screen) -> Result<()> {
    let out = &mut screen.out;
    for found in channels {
        let channel = &found.channel;
        writeln!(out, "{}  {}", out.paint(NAME, clean(&channel.name)), clean(&channel.type_name))?;
        for line in channel.metadata.lines().filter(|line| !line.trim().is_empty()) {
            writeln!(out, "  {}", out.paint(HEAD, clean(line)))?;
        }
    }
    Ok(())
}

fn rate_of(found: &ChannelIndex) -> Option<f64> {
    rate(found.samples, found.last.since(found.first))
}

/// The name of the schema in a channel: `struct:Pose2d` for `/.schema/struct:Pose2d`.
pub(super) fn schema_name(channel: &Channel) -> Option<&str> {
    let (_, name) = channel.name.split_once(".schema/")?;
    let known = ["structschema", "photonstructschema", "proto:FileDescriptorProto"].contains(&&*channel.type_name);
    (known || name.starts_with("struct:") || name.starts_with("proto:") || name.starts_with("photonstruct:"))
        .then_some(name)
}

/// Keeps the last text of each channel.
struct Texts<'a> {
    log: &'a Log,
    found: BTreeMap<ChannelId, String>,
}

impl Sink for Texts<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some(found) = self.log.index.channels.get(sample.channel as usize) else { continue };
            let text = match sample.value {
                logpose::core::Value::String(text) | logpose::core::Value::Bytes(text)
                    if found.channel.type_name != "proto:FileDescriptorProto" =>
                {
                    String::from_utf8_lossy(text).into_owned()
                }
                value => {
                    let mut text = String::new();
                    self.log.schemas().write_text(&found.channel, &value, &mut text);
                    text
                }
            };
            self.found.insert(sample.channel, text);
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}

#[cfg(test)]
mod tests {
    use logpose::core::Channel;

    use super::schema_name;

    #[test]
    fn schemas_are_known_by_their_names() {
        let of = |name: &str, type_name: &str| schema_name(&Channel::new(name, type_name)).map(str::to_owned);
        assert_eq!(of("NT:/.schema/struct:Pose2d", "structschema"), Some("struct:Pose2d".into()));
        assert_eq!((of("/Drive/x", "double"), of("/.schema/notes", "string")), (None, None));
    }
}
