use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use logpose::core::{Channel, ChannelId, Lookup, Problem, Problems, Sample, Sink, SinkError};
use logpose::{ConvertOptions, Feed, Format, Log, Order, Output, Quiet, RowEncoder, convert};

use super::follow::{Arriving, Asked, DataRows, Ended, Input, TextRows, Wanted, needs_whole};
use super::{outcome, report_problems};
use crate::args::{By, Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{self, clean};
use crate::screen::{NAME, Out, Screen, TIME};

/// Print the samples of a log, one per line
///
/// Each line has the timestamp in log seconds, the channel and the value. Structs, Protobuf and JSON values are
/// expanded to their fields. Several logs are merged by time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose cat demo/demo_q12.rlog | head
  logpose cat demo/demo_q12.rlog -y '*BatteryVoltage' -S auto+3s..teleop
  logpose cat demo/demo_q12.rlog -y '*Console' --wall
  logpose cat demo/demo_q12.rlog --json | jq -c 'select(.value == true)'
  logpose cat --follow demo/demo_q12.rlog -y '*BatteryVoltage' -N 100
  ssh robot 'tail -c +1 -f latest.wpilog' | logpose cat -")]
pub(super) struct Cat {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Print samples as they are appended to the file, like `tail -F`; Ctrl-C ends it
    #[arg(short, long)]
    follow: bool,
    /// Order of the samples [default: time; with --follow and from standard input: file]
    #[arg(long, value_enum, value_name = "BY")]
    order: Option<By>,
    /// Stop after N samples
    #[arg(short = 'N', long, value_name = "N")]
    limit: Option<u64>,
    /// Print wall-clock time (RFC 3339, UTC) instead of log seconds, if the log contains it
    #[arg(long)]
    wall: bool,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "text", conflicts_with = "json")]
    format: CatFormat,
    /// Shorthand for --format ndjson
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, Eq, PartialEq, ValueEnum)]
enum CatFormat {
    Text,
    #[value(alias = "json")]
    Ndjson,
    Csv,
}

impl Cat {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let asked = Asked { files: &self.files, follow: self.follow, whole: self.needs_whole()? };
        let logs = match Input::open(&asked, &self.reading, &screen.notes)? {
            Input::Arriving(arriving) => return self.arriving(arriving, screen),
            Input::Whole(log) => vec![*log],
            Input::Files => self.reading.open_all(&self.files, &screen.notes)?,
        };
        let lookups = self.selection.lookups(&logs)?;
        let order = self.order.unwrap_or(By::Time).order();
        let format = self.format();
        if self.wall && format != CatFormat::Text {
            return Err(Complaint::usage(
                "--wall needs --format text; other formats use log time, and `logpose info --json` has the epoch",
            )
            .into());
        }
        let problems = match format {
            CatFormat::Text => self.text(&logs, lookups, order, &mut screen.out)?,
            CatFormat::Ndjson => self.lines(&logs, lookups, order, (Format::NDJSON, 0), &mut screen.out)?,
            CatFormat::Csv => self.lines(&logs, lookups, order, (Format::CSV, 1), &mut screen.out)?,
        };
        screen.out.flush()?;
        let worst = report_problems(&logs, screen);
        if let Some(first) = logs.first() {
            screen.notes.problems(None, &first.path, &problems);
        }
        Ok(worst.max(outcome(&problems)))
    }

    fn format(&self) -> CatFormat {
        if self.json { CatFormat::Ndjson } else { self.format }
    }

    /// The option that needs the whole log, and why.
    fn needs_whole(&self) -> Result<Option<(&'static str, &'static str)>> {
        if matches!(self.order, Some(By::Time)) {
            return Ok(Some(("--order time", "samples are printed as they arrive")));
        }
        if self.wall {
            return Ok(Some(("--wall", "a log may state its wall-clock time only later")));
        }
        needs_whole(&self.selection.moments, self.follow)
    }

    /// Prints samples as they arrive.
    fn arriving(&self, arriving: Arriving, screen: &mut Screen) -> Result<Outcome> {
        let Some(path) = self.files.first() else { return Ok(Outcome::Done) };
        let wanted = Wanted::new(Some(&self.selection.channels), &self.selection.moments)?;
        let encoder = match self.format() {
            CatFormat::Text => {
                let mut rows = TextRows::new(wanted, self.limit, &mut screen.out);
                let ended = arriving.run(path, &mut rows, &screen.notes)?;
                let unexplained = rows.problems();
                return self.ended(&rows.wanted, ended, unexplained, screen);
            }
            CatFormat::Ndjson => RowEncoder::ndjson(),
            CatFormat::Csv => RowEncoder::csv(),
        };
        let mut rows = DataRows::new(wanted, self.limit, encoder, &mut screen.out);
        let ended = arriving.run(path, &mut rows, &screen.notes)?;
        let unexplained = rows.problems();
        self.ended(&rows.wanted, ended, unexplained, screen)
    }

    fn ended(&self, wanted: &Wanted, ended: Ended, unexplained: Vec<Problem>, screen: &Screen) -> Result<Outcome> {
        if !ended.complete {
            return Ok(Outcome::Done);
        }
        if !self.follow {
            wanted.check(&self.selection.channels)?;
        }
        let mut problems = Problems::default();
        unexplained.into_iter().for_each(|problem| problems.push(problem));
        if let Some(path) = self.files.first() {
            screen.notes.problems(None, path, &problems);
        }
        Ok(ended.outcome().max(outcome(&problems)))
    }

    fn text(&self, logs: &[Log], lookups: Vec<Lookup>, order: Order, out: &mut Out) -> Result<Problems> {
        let epoch = match (self.wall, logs) {
            (false, _) => None,
            (true, [log]) => {
                let unknown = || {
                    Complaint::failed(
                        "no-epoch",
                        format!("{}: the log does not contain the wall-clock time", log.path.display()),
                    )
                };
                Some(log.epoch_ns().ok_or_else(|| unknown().help("omit --wall to print log seconds"))?)
            }
            (true, _) => return Err(Complaint::usage("--wall works with one log at a time").into()),
        };
        let feed = Feed::new(logs, lookups);
        let names: Vec<_> = feed.channels().iter().map(|channel| clean(&channel.name).into_owned()).collect();
        let widest = names.iter().map(|name| name.chars().count()).filter(|width| *width <= WIDEST).max().unwrap_or(0);
        let names = names.into_iter().map(|name| {
            let padding = " ".repeat(widest.saturating_sub(name.chars().count()));
            format!("{}{padding}", out.paint(NAME, name))
        });
        let range = feed.range().filter(|_| epoch.is_none());
        let mut rows = Rows {
            names: names.collect(),
            feed: &feed,
            time_width: range
                .map_or(0, |(first, last)| human::time(first.nanos()).len().max(human::time(last.nanos()).len())),
            left: self.limit.unwrap_or(u64::MAX),
            stamp: Stamp { epoch, second: i64::MIN, text: String::new() },
            time: String::new(),
            line: String::new(),
            problems: Problems::default(),
            out,
        };
        match feed.run(order, &mut rows) {
            Ok(()) | Err(SinkError::Stopped) => {}
            Err(error) => return Err(error.into()),
        }
        let mut problems = rows.problems;
        feed.schemas().problems().into_iter().for_each(|problem| problems.push(problem));
        Ok(problems)
    }

    /// Prints rows in a format that begins with so many lines that are no rows.
    fn lines(
        &self,
        logs: &[Log],
        lookups: Vec<Lookup>,
        order: Order,
        (format, head): (Format, u64),
        out: &mut Out,
    ) -> Result<Problems> {
        let mut limited =
            Limited { left: self.limit.map_or(u64::MAX, |limit| limit + head), quotes: head > 0, quoted: false, out };
        let options = ConvertOptions { order: Some(order), ..ConvertOptions::default() };
        match convert(logs, lookups, &format, Output::Stream(&mut limited), &options, &Quiet) {
            Ok(report) => Ok(report.problems),
            Err(_) if limited.left == 0 => Ok(Problems::default()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Writes samples as text lines.
struct Rows<'a> {
    /// The name with color and padding.
    names: Vec<String>,
    feed: &'a Feed<'a>,
    time_width: usize,
    left: u64,
    stamp: Stamp,
    time: String,
    line: String,
    problems: Problems,
    out: &'a mut Out,
}

impl Sink for Rows<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let schemas = self.feed.schemas();
        for sample in samples {
            if self.left == 0 {
                return Err(SinkError::Stopped);
            }
            self.left -= 1;
            let place = sample.channel as usize;
            let (Some(channel), Some(name)) = (self.feed.channels().get(place), self.names.get(place)) else {
                continue;
            };
            self.time.clear();
            self.stamp.push(sample.time.nanos(), &mut self.time);
            self.line.clear();
            schemas.write_text(channel, &sample.value, &mut self.line);
            if self.line.contains(char::is_control) {
                self.line = clean(&self.line).into_owned();
            }
            let (time, width) = (&self.time, self.time_width);
            if self.out.color {
                let time = self.out.paint(TIME, format_args!("{time:>width$}")).to_string();
                writeln!(self.out, "{time}  {name}  {}", self.line)?;
            } else {
                writeln!(self.out, "{time:>width$}  {name}  {}", self.line)?;
            }
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// Formats timestamps as log time or wall-clock time.
struct Stamp {
    epoch: Option<i64>,
    /// The second that `text` currently shows.
    second: i64,
    text: String,
}

impl Stamp {
    fn push(&mut self, ns: i64, out: &mut String) {
        let Some(unix) = self.epoch.and_then(|epoch| ns.checked_add(epoch)) else { return human::push_time(ns, out) };
        let (second, rest) = (unix.div_euclid(1_000_000_000), unix.rem_euclid(1_000_000_000));
        if second != self.second {
            self.second = second;
            self.text = jiff::Timestamp::from_second(second)
                .map(|t| t.strftime("%Y-%m-%dT%H:%M:%S").to_string())
                .unwrap_or_default();
        }
        out.push_str(&self.text);
        // Writing to a String cannot fail.
        let _ = write!(out, ".{:06}Z", rest / 1000);
    }
}

/// Passes a limited number of lines, then acts like a closed pipe. Line breaks inside quotes do not count.
struct Limited<'a> {
    left: u64,
    quotes: bool,
    quoted: bool,
    out: &'a mut Out,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == u64::MAX {
            return self.out.write(bytes);
        }
        if self.left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let mut end = bytes.len();
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' if self.quotes => self.quoted = !self.quoted,
                b'\n' if !self.quoted => self.left -= 1,
                _ => continue,
            }
            if self.left == 0 {
                end = i + 1;
                break;
            }
        }
        self.out.write_all(bytes.get(..end).unwrap_or(bytes))?;
        Ok(end)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Names longer than this are not used to align the values.
pub(super) const WIDEST: usize = 48;
