use std::sync::{Arc, OnceLock};

use logpose::{Browse, Bucket, Drawn, Log, Step};
use logpose_core::{ChannelId, Time};

use crate::api::LogState;
use crate::facts;
use crate::findings::Findings;
use crate::store::{About, Catalog, Entry, Store, Take, TakeHeld};

/// A log that is read through and does not grow any more.
pub(crate) struct FinishedLog {
    browse: Browse,
    catalog: Arc<Catalog>,
    range: Option<(Time, Time)>,
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
        Self { browse, catalog: Arc::new(catalog), range, about: OnceLock::new(), findings: OnceLock::new() }
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
        problems: log.problems.list().iter().take(MOST_PROBLEMS).cloned().collect(),
        problem_count: log.problems.total(),
    }
}

/// Problems that are told.
const MOST_PROBLEMS: usize = 20;
