use std::collections::VecDeque;

use logpose_core::{Channel, ChannelId, Sample, Sink, SinkError, Time};

use super::{FindOptions, Found, Interval, Query, QueryError, Shaper, Watcher};
use logpose_files::{Mode, ModeWatch, Role};

/// Finds when an expression holds in something that still arrives: [`Query::find`], reported as soon as it is known.
///
/// It is a [`Sink`] to be given everything that arrives. An interval is reported when it has ended, and with
/// [`FindOptions::merge_ns`] or [`FindOptions::pad_ns`] when nothing that comes later can belong to it any more.
///
/// ```
/// use logpose::Order;
/// use logpose::find::{Finder, FindOptions, Query};
/// # let dir = tempfile::tempdir()?;
/// # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 25, force: false })?;
/// # let log = logpose::Log::open_with(&files[2], &logpose::OpenOptions::default(), &logpose::Quiet)?;
/// let query = Query::parse("BatteryVoltage < 8 and mode = 'teleop'")?;
/// let mut finder = Finder::new(&query, FindOptions::default(), (None, None))?;
/// log.rows(Order::Time, &logpose::core::Lookup::default(), &mut finder)?;
/// finder.finish();
/// assert!(finder.take().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Finder {
    watcher: Watcher,
    /// The first and the last wanted moment.
    bounds: (Option<Time>, Option<Time>),
    shaper: Shaper,
    modes: ModeWatch,
    roles: Vec<Option<Role>>,
    /// When each mode began, the latest last.
    begun: VecDeque<(Time, Mode)>,
    range: Option<(Time, Time)>,
    intervals: VecDeque<Interval>,
    found: Found,
}

impl Finder {
    /// Looks for an expression between two moments, both included. An expression that is invalid for any channels is
    /// refused here.
    pub fn new(query: &Query, options: FindOptions, bounds: (Option<Time>, Option<Time>)) -> Result<Self, QueryError> {
        let watcher = Watcher::new(query)?.with_ends();
        let shaper = Shaper::new(options, Time::MIN, Time::MAX);
        Ok(Self {
            watcher,
            bounds,
            shaper,
            modes: ModeWatch::default(),
            roles: Vec::new(),
            begun: VecDeque::new(),
            range: None,
            intervals: VecDeque::new(),
            found: Found::default(),
        })
    }

    /// The next interval; call until there is none.
    pub fn take(&mut self) -> Option<Interval> {
        self.intervals.pop_front()
    }

    /// All intervals so far.
    #[must_use]
    pub fn found(&self) -> Found {
        self.found
    }

    /// The earliest and the latest time of any sample.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        self.range
    }

    /// What looks at the expression.
    #[must_use]
    pub fn watcher(&self) -> &Watcher {
        &self.watcher
    }

    /// No more will come: the last samples are evaluated too, and what still holds is reported.
    pub fn finish(&mut self) {
        self.watcher.finish();
        self.modes.finish();
        self.note_modes();
        self.gather();
        let last = self.range.map_or(Time::MAX, |range| range.1);
        if let Some(start) = self.watcher.since() {
            self.stretch(start, last, true);
        }
        self.shaper.end_at(last);
        let found = &mut Vec::new();
        self.shaper.finish(&mut |start, end, open| found.push((start, end, open)));
        self.report(found);
    }

    fn note_modes(&mut self) {
        while let Some(begun) = self.modes.take() {
            self.begun.push_back(begun);
        }
    }

    /// Takes from the watcher what it found.
    fn gather(&mut self) {
        while let Some((start, end)) = self.watcher.take_held() {
            self.stretch(start, end, false);
        }
    }

    /// The expression held from one moment to another.
    fn stretch(&mut self, start: Time, end: Time, open: bool) {
        let (first, last) = (self.bounds.0.unwrap_or(Time::MIN), self.bounds.1.unwrap_or(Time::MAX));
        if end < first || start > last {
            return;
        }
        let found = &mut Vec::new();
        let (start, cut) = (start.max(first), end.min(last));
        self.shaper.push(start, cut, open || cut != end, &mut |start, end, open| found.push((start, end, open)));
        self.report(found);
    }

    fn report(&mut self, found: &[(Time, Time, bool)]) {
        for &(start, end, open) in found {
            self.found.count += 1;
            self.found.total_ns = self.found.total_ns.saturating_add(end.since(start));
            let mode = self.begun.iter().rev().find(|(begun, _)| *begun <= start).map(|(_, mode)| *mode);
            self.intervals.push_back(Interval { start, end, mode, open });
        }
    }
}

impl Sink for Finder {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if self.roles.len() <= place {
            self.roles.resize(place + 1, None);
        }
        if let Some(role) = self.roles.get_mut(place) {
            *role = self.modes.channel(&channel.name);
        }
        self.watcher.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let (first, last) = self.range.unwrap_or((sample.time, sample.time));
            self.range = Some((first.min(sample.time), last.max(sample.time)));
            self.modes.reach(sample.time);
            if let Some(role) = self.roles.get(sample.channel as usize).copied().flatten() {
                self.modes.sample(role, sample.time, &sample.value, self.watcher.registry());
            }
        }
        self.note_modes();
        self.watcher.samples(samples)?;
        self.gather();
        if let Some(now) = self.watcher.since().or(self.watcher.reached()) {
            let found = &mut Vec::new();
            self.shaper.reach(now, &mut |start, end, open| found.push((start, end, open)));
            self.report(found);
        }
        Ok(())
    }

    fn problem(&mut self, problem: logpose_core::Problem) {
        // What was lost of the log is for whoever reads it.
        let _ = problem;
    }
}
