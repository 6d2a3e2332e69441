//! Intervals as `find` prints them, as they end.

use std::io::{self, Write};

use anyhow::Result;
use logpose::core::{Channel, ChannelId, Problem, Sample, Sink, SinkError};
use logpose::find::{FindOptions, Finder, Interval, Query};

use super::{Print, Wanted};
use crate::human::{self, duration};
use crate::render;
use crate::screen::{HEAD, Notes, Out, TIME};

/// Prints intervals when they end.
pub(in crate::commands) struct Intervals<'a> {
    query: Query,
    options: FindOptions,
    wanted: Wanted,
    /// Made with the first sample, which anchors the wanted times.
    pub(in crate::commands) finder: Option<Finder>,
    /// Channels that came before it.
    early: Vec<(ChannelId, Channel)>,
    left: usize,
    /// Whether nobody wants more once so many were printed; otherwise the rest is counted.
    stops: bool,
    widths: (usize, usize),
    json: bool,
    said_missing: bool,
    pub(in crate::commands) printed: u64,
    out: &'a mut Out,
}

impl<'a> Intervals<'a> {
    pub(in crate::commands) fn new(
        query: &Query,
        options: FindOptions,
        wanted: Wanted,
        limit: Option<usize>,
        (stops, json): (bool, bool),
        out: &'a mut Out,
    ) -> Self {
        Self {
            query: query.clone(),
            options,
            wanted,
            finder: None,
            early: Vec::new(),
            left: limit.unwrap_or(usize::MAX),
            stops,
            widths: (0, 0),
            json,
            said_missing: false,
            printed: 0,
            out,
        }
    }

    /// No more will come.
    pub(in crate::commands) fn finish(&mut self) -> io::Result<()> {
        if let Some(finder) = &mut self.finder {
            finder.finish();
        }
        self.print()
    }

    fn print(&mut self) -> io::Result<()> {
        while let Some(interval) = self.finder.as_mut().and_then(Finder::take) {
            if self.left > 0 {
                self.left -= 1;
                self.printed += 1;
                self.interval(&interval)?;
            }
        }
        Ok(())
    }

    fn interval(&mut self, interval: &Interval) -> io::Result<()> {
        if self.json {
            return self.out.json_line(&render::Interval {
                start_ns: interval.start.nanos().into(),
                end_ns: interval.end.nanos().into(),
                duration_ns: interval.duration_ns().into(),
                mode: interval.mode.map(|mode| mode.name()),
                open: interval.open,
                show: None,
            });
        }
        let (start, end) = (human::time(interval.start.nanos()), human::time(interval.end.nanos()));
        let first = self.widths == (0, 0);
        self.widths = (self.widths.0.max(start.len()).max(5), self.widths.1.max(end.len()).max(5));
        let (starts, ends) = self.widths;
        if first {
            let head = format!("{:>starts$}  {:>ends$}  {:>9}  mode", "start", "end", "duration");
            writeln!(self.out, "{}", self.out.paint(HEAD, head))?;
        }
        let start = self.out.paint(TIME, format_args!("{start:>starts$}")).to_string();
        let end = self.out.paint(TIME, format_args!("{end:>ends$}")).to_string();
        let mode = interval.mode.map_or(String::new(), |mode| format!("  {}", mode.name()));
        let open = if interval.open { "  until the end" } else { "" };
        writeln!(self.out, "{start}  {end}  {:>9}{mode}{open}", duration(interval.duration_ns()))
    }
}

impl Sink for Intervals<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        match &mut self.finder {
            Some(finder) => finder.channel(id, channel),
            None => {
                self.early.push((id, channel.clone()));
                Ok(())
            }
        }
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        if self.finder.is_none()
            && let Some(first) = samples.first()
        {
            let bounds = self.wanted.bounds(first.time);
            match Finder::new(&self.query, self.options, bounds) {
                Ok(mut finder) => {
                    self.early.drain(..).try_for_each(|(id, channel)| finder.channel(id, &channel))?;
                    self.finder = Some(finder);
                }
                Err(fault) => return Err(SinkError::Failed(fault.into())),
            }
        }
        let Some(finder) = &mut self.finder else { return Ok(()) };
        finder.samples(samples)?;
        if let Some(fault) = finder.watcher().fault() {
            return Err(SinkError::Failed(fault.clone().into()));
        }
        self.print()?;
        if self.left == 0 && self.stops { Err(SinkError::Stopped) } else { Ok(()) }
    }

    fn problem(&mut self, _: Problem) {}
}

impl Print for Intervals<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn idle(&mut self, notes: &Notes) -> Result<()> {
        if self.said_missing {
            return Ok(());
        }
        let Some(finder) = &self.finder else { return Ok(()) };
        self.said_missing = true;
        let missing: Vec<&str> = finder.watcher().missing().collect();
        if !missing.is_empty() {
            notes.note("note", format_args!("waiting for channels: {}", missing.join(", ")));
        }
        Ok(())
    }
}
