use std::ops::ControlFlow;
use std::sync::Arc;

use logpose::{Log, in_time_order};
use logpose_core::{ChannelId, Time};

use crate::facts;
use crate::store::{About, Catalog, Entry, State, Store, Take, TakeHeld};

/// A finished log.
pub(crate) struct Whole {
    log: Arc<Log>,
    catalog: Arc<Catalog>,
    about: std::sync::OnceLock<About>,
}

impl Whole {
    pub(crate) fn new(log: Arc<Log>) -> Self {
        let entries = log.index.channels.iter().map(|found| Entry {
            channel: found.channel.clone(),
            samples: found.samples,
            range: (found.samples > 0).then_some((found.first, found.last)),
        });
        let catalog = Catalog { revision: 1, channels: entries.collect(), schemas: log.shared_schemas() };
        Self { log, catalog: Arc::new(catalog), about: std::sync::OnceLock::new() }
    }
}

impl Store for Whole {
    fn about(&self) -> About {
        self.about.get_or_init(|| about(&self.log)).clone()
    }

    fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog)
    }

    fn range(&self) -> Option<(Time, Time)> {
        self.log.robust_range()
    }

    fn count(&self, channel: ChannelId, start: Time, end: Time) -> Result<u64, logpose::Error> {
        let mut count = 0;
        self.read(channel, start, end, &mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })?;
        Ok(count)
    }

    fn read(&self, channel: ChannelId, start: Time, end: Time, take: &mut Take<'_>) -> Result<(), logpose::Error> {
        let columns = self.log.columns(&[channel])?;
        let mut done = ControlFlow::Continue(());
        for column in &columns.columns {
            in_time_order(&columns, column, |time, value| {
                if done.is_continue() && (start..=end).contains(&time) {
                    done = take(time, value);
                }
            });
        }
        Ok(())
    }

    fn read_back(&self, channel: ChannelId, before: Time, take: &mut Take<'_>) -> Result<(), logpose::Error> {
        let columns = self.log.columns(&[channel])?;
        for column in &columns.columns {
            let mut samples: Vec<_> = columns.samples(column).filter(|(time, _)| *time < before).collect();
            samples.sort_by_key(|(time, _)| *time);
            for (time, value) in samples.iter().rev() {
                if take(*time, value).is_break() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn held(&self, channels: &[ChannelId], at: Time, take: &mut TakeHeld<'_>) -> Result<(), logpose::Error> {
        for (place, channel) in channels.iter().enumerate() {
            self.read_back(*channel, at.plus(1), &mut |time, value| {
                take(place, time, value);
                ControlFlow::Break(())
            })?;
        }
        Ok(())
    }

    fn log(&self) -> Option<&Arc<Log>> {
        Some(&self.log)
    }
}

fn about(log: &Log) -> About {
    let info = log.dialect().info();
    let name = log.path.file_name().map_or_else(|| log.path.to_string_lossy(), |name| name.to_string_lossy());
    About {
        name: name.into_owned(),
        path: log.path.to_string_lossy().into_owned(),
        dialect: facts::dialect(log).to_owned(),
        format: info.title.to_owned(),
        epoch_ns: log.epoch_ns(),
        samples: log.index.samples(),
        bytes: log.file_len(),
        state: State::Whole,
        preset: facts::preset(log),
        facts: facts::facts(log),
        problems: log.problems.list().iter().take(20).cloned().collect(),
        problem_count: log.problems.total(),
    }
}
