//! Where the channels of `wide` and `asof` come from: opened logs, or a lake, out of which a log is taken when its rows are
//! asked for.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::TaskContext;
use logpose::Log;
use logpose_core::{Channel, ChannelId};
use logpose_model::Shape;

use super::{Member, Series};
use crate::logs::Logs;

/// Where channels come from.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// Opened logs.
    Logs(Arc<Logs>),
    /// A lake.
    #[cfg(feature = "lake")]
    Lake(Arc<crate::lake::Kept>),
}

/// A log with the channels that are wanted of it, by their places among the series.
pub(super) struct Taken {
    pub log: Arc<Log>,
    pub channels: Vec<(usize, ChannelId, Shape)>,
}

impl Origin {
    /// The names of the logs, and their clock.
    pub(super) fn logs(&self) -> Result<Arc<Logs>> {
        match self {
            Self::Logs(logs) => Ok(logs.clone()),
            #[cfg(feature = "lake")]
            Self::Lake(kept) => Ok(kept.known()?.logs.clone()),
        }
    }

    /// Whether logs are taken out one after the other, so that not all of them are in memory.
    pub(super) fn is_lake(&self) -> bool {
        !matches!(self, Self::Logs(_))
    }

    /// The channels that are wanted, each in all logs that have it.
    pub(super) fn series(&self, wanted: &dyn Fn(&Channel) -> bool) -> Result<Vec<Series>> {
        match self {
            Self::Logs(logs) => Ok(of_logs(logs, wanted)),
            #[cfg(feature = "lake")]
            Self::Lake(kept) => kept.series(wanted),
        }
    }

    /// The channel whose table has that name, and that name as it is written.
    #[cfg(feature = "lake")]
    pub(super) fn channel_named(&self, name: &str) -> Result<Option<(String, Channel)>> {
        match self {
            // Those are tables of the catalog.
            Self::Logs(_) => Ok(None),
            Self::Lake(kept) => kept.channel_named(name),
        }
    }

    /// Some series of a log.
    #[cfg_attr(not(feature = "lake"), expect(clippy::unused_async, reason = "a lake is read asynchronously"))]
    pub(super) async fn take(
        &self,
        log: usize,
        series: &[Series],
        needed: &[usize],
        context: &Arc<TaskContext>,
    ) -> Result<Option<Taken>> {
        let members = needed.iter().filter_map(|place| Some((*place, series.get(*place)?.of(log)?)));
        match self {
            Self::Logs(logs) => {
                let channels = members.filter_map(|(place, one)| Some((place, one.id, one.shape.clone()?))).collect();
                Ok(logs.log(log).map(|log| Taken { log: log.clone(), channels }))
            }
            #[cfg(feature = "lake")]
            Self::Lake(kept) => {
                let members: Vec<(usize, ChannelId)> = members.map(|(place, one)| (place, one.id)).collect();
                let ids: Vec<ChannelId> = members.iter().map(|(_, id)| *id).collect();
                let opened = Arc::new(kept.take(log, &ids, context).await?);
                // The wanted channels are the first ones of the log, in that order.
                let shape = |id: ChannelId| {
                    let found = opened.index.channels.get(id as usize)?;
                    Some(Shape::of(&found.channel, opened.schemas().registry()))
                };
                let channels = (0..).zip(&members).filter_map(|(id, (place, _))| Some((*place, id, shape(id)?)));
                let channels = channels.collect();
                Ok(Some(Taken { log: opened, channels }))
            }
        }
    }
}

fn of_logs(logs: &Logs, wanted: &dyn Fn(&Channel) -> bool) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (log, opened) in logs.logs.iter().enumerate() {
        for (id, found) in (0..).zip(&opened.index.channels).filter(|(_, found)| wanted(&found.channel)) {
            let channel = &found.channel;
            let shape = Shape::of(channel, opened.schemas().registry());
            let data_type = shape.data_type().clone();
            let range = (found.samples > 0).then(|| (found.first.nanos(), found.last.nanos()));
            let member = Member { log, id, shape: Some(shape), range };
            let same =
                |one: &&mut Series| one.channel.name == channel.name && one.channel.type_name == channel.type_name;
            match all.iter_mut().find(same) {
                Some(one) => one.members.push(member),
                None => all.push(Series { channel: channel.clone(), data_type, members: vec![member] }),
            }
        }
    }
    all
}
