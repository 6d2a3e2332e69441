use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use logpose::core::{ChannelId, Lookup, SinkError};
use logpose::find::{FindError, FindOptions, Finder, Found, Interval, Query, QueryError, Summary, summaries};
use logpose::{Filter, Log, parse_duration};

use super::follow::{Arriving, Asked, Input, Intervals, Wanted, needs_whole};
use super::{report_problems, shown};
use crate::args::{Moments, OutputFormat, Reading};
use crate::failure::{Complaint, Outcome};
use crate::human::{self, clean, count, counted, duration, number, share};
use crate::render::{self, Double, Scalar};
use crate::screen::{HEAD, NAME, STRONG, Screen, TIME};
use crate::table::{Align, Table};

/// Find the times at which a condition on channels is true
///
/// Each channel keeps its last value. The expression is evaluated at every sample of a channel in it. A channel is
/// unknown before its first sample, and a condition on an unknown value is false. Exits with 4 if nothing was found.
///
/// A name can be shortened to any unique ending: BatteryVoltage. Put names with spaces or special characters in double
/// quotes and text in single quotes. Fields and elements: Pose.translation.x, Speeds[0]. `mode` and `enabled` come from
/// the Driver Station.
///
/// Operators, lowest precedence first: or, and, not; = != < <= > >=, in (1, 2), between 1 and 2; + -; * / %.
///
/// Functions: abs, sqrt, floor, min, max; delta(x) and rate(x), between the last two samples; changed(x), true at a
/// sample that differs from the one before; age(x), seconds since the last sample; contains(text, 'part'). Put spaces
/// around operators next to names, because names can contain - and /.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose find 'BatteryVoltage < 10' demo/demo_q12.rlog --merge 0.1s --min-duration 40ms
  logpose find \"enabled and Shooter/State = 'SHOOTING'\" demo/demo_q12.rlog --show '*RPM'
  logpose find 'Pose.translation.x < 4 or abs(rate(BatteryVoltage)) > 99V/s' demo/demo_q12.rlog
  logpose find 'age(Joystick0/AxisValues) > 500ms' demo/demo_q12.rlog --pad 1s
  logpose find 'changed(BrownedOut)' demo/*.rlog --json
  logpose find --follow 'BatteryVoltage < 10' demo/demo_q12.rlog -N 1")]
pub(super) struct Find {
    /// Condition to search for
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    expression: String,
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Print intervals when they end, as samples are appended to the file; Ctrl-C ends it
    #[arg(short, long)]
    follow: bool,
    /// Join intervals that are less than this apart
    #[arg(long, value_name = "DURATION", default_value = "0", hide_default_value = true)]
    merge: String,
    /// Skip intervals shorter than this
    #[arg(long, value_name = "DURATION", default_value = "0", hide_default_value = true)]
    min_duration: String,
    /// Extend intervals by this at both ends and join those that overlap
    #[arg(long, value_name = "DURATION", default_value = "0", hide_default_value = true)]
    pad: String,
    /// Show min, time-weighted mean, max, first and last value of matching channels in each interval; repeatable
    #[arg(long, value_name = "GLOB")]
    show: Vec<String>,
    /// Print at most N intervals per log; the totals include all
    #[arg(short = 'N', long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    moments: Moments,
    #[command(flatten)]
    reading: Reading,
}

/// The result for one log.
struct Answer {
    intervals: Vec<Interval>,
    found: Found,
    summaries: Vec<Summary>,
}

impl Find {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let query = Query::parse(&self.expression).map_err(|error| self.complain(error, None, screen))?;
        let options = FindOptions {
            merge_ns: parse_duration(&self.merge)?,
            min_duration_ns: parse_duration(&self.min_duration)?,
            pad_ns: parse_duration(&self.pad)?,
        };
        let asked = Asked { files: &self.files, follow: self.follow, whole: self.needs_whole()? };
        let mut opened = match Input::open(&asked, &self.reading, &screen.notes)? {
            Input::Arriving(arriving) => return self.arriving(arriving, &query, options, screen),
            Input::Whole(log) => Some(*log),
            Input::Files => None,
        };
        let (start, end) = self.moments.parse()?;
        let show = Filter::new(&self.show, &[])?;
        let (mut total, mut worst, mut rows) = (0, Outcome::Done, Vec::new());
        let mut printed = false;
        for path in &self.files {
            let log = match opened.take() {
                Some(log) => Some(log),
                None => self.reading.open_one_of(path, self.files.len(), screen, &mut worst)?,
            };
            let Some(log) = log else { continue };
            let lookup = log.lookup(&Filter::default(), start.as_ref(), end.as_ref())?;
            let answer = match self.search(&log, &query, &lookup, &options, &show) {
                Ok(answer) => answer,
                Err(error) => {
                    screen.out.flush()?;
                    let error = match error {
                        FindError::Query(error) => self.complain(error, Some(path), screen),
                        FindError::Log(error) => error.into(),
                    };
                    // Logs differ in their channels: one without the channel must not hide the results of the others.
                    if self.files.len() == 1 {
                        return Err(error);
                    }
                    crate::failure::report(&error, &screen.notes);
                    worst = Outcome::Failed;
                    continue;
                }
            };
            total += answer.found.count;
            if self.format.json() {
                rows.push(self.as_json(&log, &answer));
            } else {
                self.print(&log, &answer, printed, screen)?;
                printed = true;
            }
            worst = worst.max(report_problems(std::slice::from_ref(&log), screen));
        }
        if self.format.json() {
            match &*rows {
                [one] if self.files.len() == 1 => screen.out.json(one)?,
                many => screen.out.json(&many)?,
            }
        }
        Ok(if total == 0 { worst.max(Outcome::No) } else { worst })
    }

    /// The option that needs the whole log, and why.
    fn needs_whole(&self) -> Result<Option<(&'static str, &'static str)>> {
        if !self.show.is_empty() {
            return Ok(Some(("--show", "what channels did in an interval is looked up in the finished log")));
        }
        if self.format.json() && !self.follow {
            return Ok(Some(("--json", "the answer is one document")));
        }
        needs_whole(&self.moments, self.follow)
    }

    /// Prints intervals when they end.
    fn arriving(
        &self,
        arriving: Arriving,
        query: &Query,
        options: FindOptions,
        screen: &mut Screen,
    ) -> Result<Outcome> {
        let Some(path) = self.files.first() else { return Ok(Outcome::No) };
        let wanted = Wanted::new(None, &self.moments)?;
        let how = (self.follow, self.format.json());
        let mut intervals = Intervals::new(query, options, wanted, self.limit, how, &mut screen.out);
        let ended = arriving.run(path, &mut intervals, &screen.notes);
        if ended.as_ref().is_ok_and(|ended| ended.complete) {
            intervals.finish()?;
        }
        let Intervals { finder, printed, .. } = intervals;
        let unfit = match &ended {
            Ok(_) => finder.as_ref().filter(|_| !self.follow).and_then(|finder| finder.watcher().check().err()),
            Err(error) => match error.downcast_ref() {
                Some(SinkError::Failed(error)) => error.downcast_ref::<QueryError>().cloned(),
                _ => None,
            },
        };
        if let Some(unfit) = unfit {
            screen.out.flush()?;
            return Err(self.complain(unfit, None, screen));
        }
        let ended = ended?;
        if !ended.complete {
            return Ok(Outcome::Done);
        }
        let found = finder.as_ref().map(Finder::found).unwrap_or_default();
        if !self.follow {
            let range = finder.as_ref().and_then(Finder::range);
            self.conclude(&found, printed, range.map_or(0, |(first, last)| last.since(first)), screen)?;
        }
        Ok(if found.count == 0 { ended.outcome().max(Outcome::No) } else { ended.outcome() })
    }

    fn search(
        &self,
        log: &Log,
        query: &Query,
        lookup: &Lookup,
        options: &FindOptions,
        show: &Filter,
    ) -> Result<Answer, FindError> {
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut intervals = Vec::new();
        let found = query.find(log, lookup, options, &mut |interval| {
            if intervals.len() < limit {
                intervals.push(interval);
            }
        })?;
        let channels =
            (0..).zip(&log.index.channels).filter(|(_, c)| !show.is_empty() && show.accepts(&c.channel.name));
        let mut channels: Vec<(&str, ChannelId)> = channels.map(|(id, c)| (&*c.channel.name, id)).collect();
        channels.sort_unstable();
        let channels: Vec<ChannelId> = channels.into_iter().map(|(_, id)| id).collect();
        let mut summaries = summaries(log, &channels, &intervals).map_err(FindError::Log)?;
        summaries.sort_by_key(|summary| summary.interval);
        Ok(Answer { intervals, found, summaries })
    }

    fn complain(&self, error: QueryError, path: Option<&Path>, screen: &Screen) -> anyhow::Error {
        complain(error, &self.expression, path.filter(|_| self.files.len() > 1), screen)
    }

    fn print(&self, log: &Log, answer: &Answer, gap: bool, screen: &mut Screen) -> Result<()> {
        if self.files.len() > 1 {
            let gap = if gap { "\n" } else { "" };
            writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(&log.path)))?;
        }
        let mut summaries = answer.summaries.iter().peekable();
        let width = |time: fn(&Interval) -> i64| {
            answer.intervals.iter().map(|interval| human::time(time(interval)).len()).max().unwrap_or(0).max(5)
        };
        let (starts, ends) = (width(|i| i.start.nanos()), width(|i| i.end.nanos()));
        if !answer.intervals.is_empty() {
            let head = format!("{:>starts$}  {:>ends$}  {:>9}  mode", "start", "end", "duration");
            writeln!(screen.out, "{}", screen.out.paint(HEAD, head))?;
        }
        for (place, interval) in answer.intervals.iter().enumerate() {
            let (start, end) = (human::time(interval.start.nanos()), human::time(interval.end.nanos()));
            let start = screen.out.paint(TIME, format_args!("{start:>starts$}")).to_string();
            let end = screen.out.paint(TIME, format_args!("{end:>ends$}")).to_string();
            let length = duration(interval.duration_ns());
            let mode = interval.mode.map_or("", |mode| mode.name());
            let words = [mode, if interval.open { "until the end" } else { "" }];
            let words: String = words.iter().filter(|word| !word.is_empty()).map(|word| format!("  {word}")).collect();
            writeln!(screen.out, "{start}  {end}  {length:>9}{words}")?;
            let mut table = Table::new(&[
                ("name", Align::Left),
                ("min", Align::Right),
                ("mean", Align::Right),
                ("max", Align::Right),
                ("first", Align::Right),
                ("last", Align::Right),
            ]);
            while let Some(summary) = summaries.next_if(|summary| summary.interval == place) {
                let text = |part: &Option<logpose::ScalarValue<'static>>| match part {
                    Some(logpose::ScalarValue::Double(x)) => number(*x),
                    Some(part) => clean(&part.to_string()).into_owned(),
                    None => String::new(),
                };
                let (min, mean, max) = match summary.numbers {
                    Some((min, mean, max)) => (number(min), number(mean), number(max)),
                    None => Default::default(),
                };
                let name = clean(&summary.name).into_owned();
                table.row(vec![name, min, mean, max, text(&summary.start), text(&summary.end)]);
            }
            if !table.is_empty() {
                table.print("    ", &mut screen.out)?;
            }
        }
        let whole = log.robust_range().map_or(0, |(first, last)| last.since(first));
        self.conclude(&answer.found, answer.intervals.len() as u64, whole, screen)
    }

    /// The last lines: how many intervals there are, and how much of the log they are.
    fn conclude(&self, found: &Found, printed: u64, whole: i64, screen: &mut Screen) -> Result<()> {
        let hidden = found.count.saturating_sub(printed);
        if hidden > 0 {
            writeln!(screen.out, "… and {} more", count(hidden))?;
        }
        let part = share(found.total_ns.unsigned_abs(), whole.unsigned_abs());
        let (all, total) = (counted(found.count, "interval"), duration(found.total_ns));
        let line = format!("{all}, {total} of {} ({part})", duration(whole));
        writeln!(screen.out, "{}", screen.out.paint(NAME, line))?;
        Ok(())
    }

    fn as_json(&self, log: &Log, answer: &Answer) -> serde_json::Value {
        let mut summaries = answer.summaries.iter().peekable();
        let intervals = answer.intervals.iter().enumerate().map(|(place, interval)| {
            let mut show = Vec::new();
            while let Some(summary) = summaries.next_if(|summary| summary.interval == place) {
                let numbers = |pick: fn((f64, f64, f64)) -> f64| summary.numbers.map(|all| Double(pick(all)));
                show.push(render::Shown {
                    name: &summary.name,
                    min: numbers(|all| all.0),
                    mean: numbers(|all| all.1),
                    max: numbers(|all| all.2),
                    first: summary.start.as_ref().map(Scalar),
                    last: summary.end.as_ref().map(Scalar),
                });
            }
            render::Interval {
                start_ns: interval.start.nanos().into(),
                end_ns: interval.end.nanos().into(),
                duration_ns: interval.duration_ns().into(),
                mode: interval.mode.map(|mode| mode.name()),
                open: interval.open,
                show: (!self.show.is_empty()).then_some(show),
            }
        });
        let found = render::Find {
            file: shown(&log.path),
            expression: &self.expression,
            count: answer.found.count.into(),
            total_ns: answer.found.total_ns.into(),
            intervals: intervals.collect(),
        };
        serde_json::to_value(&found).unwrap_or_default()
    }
}

/// Points at the position of an error in the expression.
pub(super) fn complain(error: QueryError, expression: &str, path: Option<&Path>, screen: &Screen) -> anyhow::Error {
    error.marked(expression).lines().for_each(|line| screen.notes.line(format_args!("  {line}")));
    let file = path.map_or(String::new(), |path| format!("{}: ", shown(path)));
    Complaint { help: error.help.clone(), ..Complaint::usage(format!("{file}{error}")) }.into()
}
