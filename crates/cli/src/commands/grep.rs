use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Type, Value};
use logpose::{Feed, Log, Order};
use regex::{Regex, RegexBuilder};

use super::follow::{Arriving, Asked, Input, Print, Wanted, needs_whole};
use super::{report_problems, shown};
use crate::args::{OutputFormat, Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{self, clean};
use crate::render;
use crate::screen::{MATCH, NAME, Out, STRONG, Screen, TIME};

/// Search text in string channels and consoles
///
/// PATTERN is a regular expression. Prints each matching line with its timestamp and channel. Exits with 4 if nothing
/// was found.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose grep -i 'warning|error' demo/demo_q12.rlog
  logpose grep -i warning demo/*.rlog -c
  logpose grep --names Voltage demo/demo_q12.rlog
  ssh robot 'tail -c +1 -f latest.wpilog' | logpose grep -i warning -")]
pub(super) struct Grep {
    /// Regular expression to search for
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pattern: String,
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Print lines as they are appended to the file, like `tail -F`; Ctrl-C ends it
    #[arg(short, long, conflicts_with_all = ["count", "names"])]
    follow: bool,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// Print lines that do not match
    #[arg(long)]
    invert: bool,
    /// Print only the number of matching lines
    #[arg(short, long)]
    count: bool,
    /// Search channel names instead of values
    #[arg(long, conflicts_with_all = ["start", "end"])]
    names: bool,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

impl Grep {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let pattern = RegexBuilder::new(&self.pattern)
            .case_insensitive(self.ignore_case)
            .build()
            .map_err(|error| Complaint::pattern(&self.pattern, &error))?;
        let whole = match self.names {
            true => Some(("--names", "the names are sorted")),
            false => needs_whole(&self.selection.moments, self.follow)?,
        };
        let asked = Asked { files: &self.files, follow: self.follow, whole };
        let mut opened = match Input::open(&asked, &self.reading, &screen.notes)? {
            Input::Arriving(arriving) => return self.arriving(arriving, &pattern, screen),
            Input::Whole(log) => Some(*log),
            Input::Files => None,
        };
        let (mut found, mut worst) = (0, Outcome::Done);
        for path in &self.files {
            let log = match opened.take() {
                Some(log) => Some(log),
                None => self.reading.open_one_of(path, self.files.len(), screen, &mut worst)?,
            };
            let Some(log) = log else { continue };
            let logs = std::slice::from_ref(&log);
            let hits = if self.names {
                self.search_names(&log, &pattern, screen)?
            } else {
                self.search(logs, &pattern, screen)?
            };
            if self.count && !self.format.json() {
                let file = if self.files.len() > 1 { format!("{}: ", shown(path)) } else { String::new() };
                writeln!(screen.out, "{file}{hits}")?;
            }
            found += hits;
            worst = worst.max(report_problems(logs, screen));
        }
        if self.count && self.format.json() {
            screen.out.json_line(&serde_json::json!({ "count": found }))?;
        }
        if found == 0 { Ok(worst.max(Outcome::No)) } else { Ok(worst) }
    }

    /// Prints lines as they arrive.
    fn arriving(&self, arriving: Arriving, pattern: &Regex, screen: &mut Screen) -> Result<Outcome> {
        let Some(path) = self.files.first() else { return Ok(Outcome::No) };
        let wanted = Wanted::new(Some(&self.selection.channels), &self.selection.moments)?;
        let search = Search { grep: self, pattern, channels: Vec::new(), file: None, found: 0, out: &mut screen.out };
        let mut search = ArrivingSearch { wanted, search };
        let ended = arriving.run(path, &mut search, &screen.notes)?;
        let (found, wanted) = (search.search.found, search.wanted);
        if !ended.complete {
            return Ok(Outcome::Done);
        }
        if !self.follow {
            wanted.check(&self.selection.channels)?;
        }
        if self.count {
            match self.format.json() {
                true => screen.out.json_line(&serde_json::json!({ "count": found }))?,
                false => writeln!(screen.out, "{found}")?,
            }
        }
        Ok(if found == 0 { ended.outcome().max(Outcome::No) } else { ended.outcome() })
    }

    fn search(&self, logs: &[Log], pattern: &Regex, screen: &mut Screen) -> Result<u64> {
        let mut lookups = self.selection.lookups(logs)?;
        for (log, lookup) in logs.iter().zip(&mut lookups) {
            only_text(log, lookup);
        }
        let feed = Feed::new(logs, lookups);
        let file = logs.first().filter(|_| self.files.len() > 1).map(|log| shown(&log.path));
        let mut search =
            Search { grep: self, pattern, channels: feed.channels().to_vec(), file, found: 0, out: &mut screen.out };
        feed.run(Order::Time, &mut search)?;
        Ok(search.found)
    }

    fn search_names(&self, log: &Log, pattern: &Regex, screen: &mut Screen) -> Result<u64> {
        let filter = self.selection.channels.filter()?;
        let file = (self.files.len() > 1).then(|| shown(&log.path));
        let names = log
            .index
            .channels
            .iter()
            .map(|c| &c.channel)
            .filter(|c| filter.accepts(&c.name) && pattern.is_match(&c.name) != self.invert);
        let mut names: Vec<_> = names.collect();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for channel in names.iter().filter(|_| !self.count) {
            if self.format.json() {
                let mut line = serde_json::json!({ "name": channel.name, "type": channel.type_name });
                if let (Some(line), Some(file)) = (line.as_object_mut(), &file) {
                    line.insert("file".into(), file.as_str().into());
                }
                screen.out.json_line(&line)?;
            } else {
                let prefix =
                    file.as_ref().map_or(String::new(), |file| format!("{}: ", screen.out.paint(STRONG, file)));
                let name = marked(&screen.out, pattern, self.invert, &channel.name);
                writeln!(screen.out, "{prefix}{name}  {}", clean(&channel.type_name))?;
            }
        }
        Ok(names.len() as u64)
    }
}

/// Whether a channel has text that people write.
fn is_text(channel: &Channel) -> bool {
    matches!(channel.ty(), Type::String | Type::StringArray) && !channel.type_name.ends_with("schema")
}

/// Removes channels without text from a lookup.
fn only_text(log: &Log, lookup: &mut Lookup) {
    let text = |i: usize| log.index.channels.get(i).is_some_and(|c| is_text(&c.channel));
    let wants: Vec<bool> = (0..).zip(&log.index.channels).map(|(id, _)| lookup.wants(id)).collect();
    lookup.channels = wants.into_iter().enumerate().map(|(i, wanted)| wanted && text(i)).collect();
}

/// `text` with matches highlighted.
fn marked(out: &Out, pattern: &Regex, invert: bool, text: &str) -> String {
    if !out.color || invert {
        return clean(text).into_owned();
    }
    let mut line = String::new();
    let mut end = 0;
    for hit in pattern.find_iter(text).filter(|hit| !hit.is_empty()) {
        line.push_str(&clean(text.get(end..hit.start()).unwrap_or("")));
        line.push_str(&out.paint(MATCH, clean(hit.as_str())).to_string());
        end = hit.end();
    }
    line.push_str(&clean(text.get(end..).unwrap_or("")));
    line
}

/// Prints matching lines.
struct Search<'a> {
    grep: &'a Grep,
    pattern: &'a Regex,
    channels: Vec<Channel>,
    file: Option<String>,
    found: u64,
    out: &'a mut Out,
}

impl Search<'_> {
    fn text(&mut self, sample: &Sample<'_>, text: &[u8]) -> io::Result<()> {
        let text = String::from_utf8_lossy(text);
        for line in text.lines() {
            if self.pattern.is_match(line) == self.grep.invert {
                continue;
            }
            self.found += 1;
            if self.grep.count {
                continue;
            }
            let channel = self.channels.get(sample.channel as usize).map_or("", |c| &c.name);
            let ns = sample.time.nanos();
            if self.grep.format.json() {
                self.out.json_line(&render::Hit {
                    file: self.file.clone(),
                    time_ns: ns.into(),
                    channel,
                    value: line,
                })?;
                continue;
            }
            let file = self.file.as_ref().map_or(String::new(), |file| format!("{}: ", self.out.paint(STRONG, file)));
            let time = self.out.paint(TIME, human::time(ns)).to_string();
            let channel = self.out.paint(NAME, clean(channel)).to_string();
            let line = marked(self.out, self.pattern, self.grep.invert, line);
            writeln!(self.out, "{file}{time}  {channel}  {line}")?;
        }
        Ok(())
    }
}

impl Sink for Search<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            match sample.value {
                Value::String(text) => self.text(sample, text)?,
                Value::StringArray(texts) => texts.iter().try_for_each(|text| self.text(sample, text))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}

/// Prints the lines that match of channels that come one by one.
struct ArrivingSearch<'a> {
    wanted: Wanted,
    search: Search<'a>,
}

impl Sink for ArrivingSearch<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.wanted.channel(id, channel);
        let (channels, place) = (&mut self.search.channels, id as usize);
        if channels.len() <= place {
            channels.resize_with(place + 1, || Channel::new("", ""));
        }
        channels.get_mut(place).into_iter().for_each(|known| known.clone_from(channel));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            if self.wanted.sample(sample).is_some_and(|(channel, wanted)| wanted && is_text(channel)) {
                self.search.samples(std::slice::from_ref(sample))?;
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {}
}

impl Print for ArrivingSearch<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.search.out.flush()
    }
}
