use std::cmp::Reverse;
use std::sync::{Arc, OnceLock};

use logpose::{Browse, Bucket, Drawn, Log, Step, TimeRange};
use logpose_core::{ChannelId, Problem, Severity, Time};

use crate::api::{Damage, LogState};
use crate::facts;
use crate::findings::Findings;
use crate::store::{About, Catalog, Entry, Store, Take, TakeHeld};

/// A log that is read through and does not grow any more.
pub(crate) struct FinishedLog {
    browse: Browse,
    catalog: Arc<Catalog>,
    range: Option<(Time, Time)>,
    /// When each channel ended, by channel and time.
    ends: Vec<(ChannelId, Time)>,
    about: OnceLock<About>,
    findings: OnceLock<Arc<Findings>>,
}

impl FinishedLog {
    pub(crate) fn new(browse: Browse) -> Self {
        let log = browse.log();
        let entries = log.index.channels.iter().map(|found| Entry {
            channel: found.channel.clone(),
            samples: found.samples,
            range: (found.samples > 0).then_some((found.first, found.last)),
        });
        let catalog = Catalog { revision: 1, channels: entries.collect(), schemas: log.shared_schemas() };
        let range = log.robust_range();
        let mut ends = log.ends();
        ends.sort_unstable();
        Self { browse, catalog: Arc::new(catalog), range, ends, about: OnceLock::new(), findings: OnceLock::new() }
    }
}

impl Store for FinishedLog {
    fn about(&self) -> About {
        self.about.get_or_init(|| about(self.browse.log())).clone()
    }

    fn state(&self) -> LogState {
        LogState::Finished
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    fn range(&self) -> Option<(Time, Time)> {
        self.range
    }

    fn count(&self, channel: ChannelId, start: Time, end: Time) -> Result<u64, logpose::Error> {
        self.browse.count(channel, start, end)
    }

    fn read(&self, channel: ChannelId, start: Time, end: Time, take: &mut Take<'_>) -> Result<(), logpose::Error> {
        self.browse.read(channel, start, end, take)
    }

    fn read_back(&self, channel: ChannelId, before: Time, take: &mut Take<'_>) -> Result<(), logpose::Error> {
        self.browse.read_back(channel, before, take)
    }

    fn held(&self, channels: &[ChannelId], at: Time, take: &mut TakeHeld<'_>) -> Result<(), logpose::Error> {
        self.browse.held(channels, at, take)
    }

    fn losses(&self, channel: ChannelId) -> Vec<Time> {
        let first = self.ends.partition_point(|(id, _)| *id < channel);
        let ends = self.ends.iter().skip(first).take_while(|(id, _)| *id == channel);
        ends.map(|(_, time)| *time).collect()
    }

    fn drawn(
        &self,
        channel: ChannelId,
        path: &[Step],
        (start, end): (Time, Time),
        most: usize,
        out: &mut Vec<Bucket>,
    ) -> Result<Option<Drawn>, logpose::Error> {
        self.browse.drawn(channel, path, start, end, most, out)
    }

    fn findings(&self) -> Result<Arc<Findings>, logpose::Error> {
        Ok(Arc::clone(self.findings.get_or_init(|| Arc::new(Findings::of(self.browse.log())))))
    }

    fn log(&self) -> Option<&Arc<Log>> {
        Some(self.browse.log())
    }
}

fn about(log: &Log) -> About {
    let name = log.path.file_name().map_or_else(|| log.path.to_string_lossy(), |name| name.to_string_lossy());
    About {
        name: name.into_owned(),
        path: log.path.to_string_lossy().into_owned(),
        dialect: facts::dialect(log).to_owned(),
        format: facts::format(log),
        epoch_ns: log.epoch_ns(),
        samples: log.index.samples(),
        bytes: log.file_len(),
        preset: facts::preset(log),
        facts: facts::facts(log),
        problems: worst_problems(log),
        problem_count: log.problems.total(),
        damage: damage(log),
        stragglers: log.time_range().into_iter().flat_map(TimeRange::stragglers).cloned().collect(),
    }
}

/// Damage first, then what is only doubtful.
fn worst_problems(log: &Log) -> Vec<Problem> {
    let mut problems: Vec<&Problem> = log.problems.list().iter().collect();
    problems.sort_by_key(|problem| Reverse(problem.severity));
    problems.into_iter().take(MOST_PROBLEMS).cloned().collect()
}

/// How much of a log cannot be read; none if it is not damaged.
fn damage(log: &Log) -> Option<Damage> {
    let (bytes, all) = (log.problems.lost_bytes(), log.bytes().len().max(1));
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = (bytes as f64 / all as f64).min(1.0);
    (log.problems.worst() >= Some(Severity::Damage)).then_some(Damage { bytes, share })
}

/// The max number of reported problems.
const MOST_PROBLEMS: usize = 20;
