use std::ops::ControlFlow;
use std::sync::Arc;

use logpose::{Bucket, Drawn, Log, Schemas, Step, Stragglers};
use logpose_core::{Channel, ChannelId, Time, Value};

use crate::api::{Damage, LogState, Preset};
use crate::clock::Clock;
use crate::findings::Findings;
use crate::live::LiveLog;

/// Takes samples until it has enough.
pub(crate) type Take<'t> = dyn FnMut(Time, &Value<'_>) -> ControlFlow<()> + 't;
/// Takes what some channels hold: the place in the list that was asked for, when the sample came, and its value.
pub(crate) type TakeHeld<'t> = dyn FnMut(usize, Time, &Value<'_>) + 't;

/// What the API asks of a log, finished or live. All times are on the log's own clock.
pub(crate) trait Store: Send + Sync {
    /// What `/api/session` returns about it.
    fn about(&self) -> About;
    /// Whether more comes.
    fn state(&self) -> LogState;
    /// Its channels, as they are now.
    fn catalog(&self) -> Arc<Catalog>;
    /// From the first moment to the last, without the few samples far from all others; none while nothing is known.
    fn range(&self) -> Option<(Time, Time)>;
    /// How many samples a channel has from `start` to `end`, both included.
    fn count(&self, channel: ChannelId, start: Time, end: Time) -> Result<u64, logpose::Error>;
    /// Gives the samples from `start` to `end`, both included, in the order of time.
    fn read(&self, channel: ChannelId, start: Time, end: Time, take: &mut Take<'_>) -> Result<(), logpose::Error>;
    /// Gives the samples before a moment, the latest first.
    fn read_back(&self, channel: ChannelId, before: Time, take: &mut Take<'_>) -> Result<(), logpose::Error>;
    /// Gives the last sample of each channel at or before a moment.
    fn held(&self, channels: &[ChannelId], at: Time, take: &mut TakeHeld<'_>) -> Result<(), logpose::Error>;
    /// When the source of a channel was lost, in order: what it said before such a moment does not hold behind it.
    fn losses(&self, channel: ChannelId) -> Vec<Time>;
    /// The live source behind it.
    fn live(&self) -> Option<&LiveLog> {
        None
    }
    /// A part of a channel's values within a range, both ends included, as it is drawn on `most` pixels, behind what is in
    /// `out`: at most some two buckets a pixel, and each sample on its own where there are no more. None where the part is
    /// neither a number nor a truth value.
    fn drawn(
        &self,
        channel: ChannelId,
        path: &[Step],
        range: (Time, Time),
        most: usize,
        out: &mut Vec<Bucket>,
    ) -> Result<Option<Drawn>, logpose::Error>;
    /// What happened, for the list of events.
    fn findings(&self) -> Result<Arc<Findings>, logpose::Error> {
        Ok(Arc::default())
    }
    /// The finished log behind it, for what only finished logs can be asked.
    fn log(&self) -> Option<&Arc<Log>> {
        None
    }
}

/// What is said of a log as a whole.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// The file's name, or the address of a live source.
    pub name: String,
    /// As it was given.
    pub path: String,
    /// The dialect's name.
    pub dialect: String,
    /// The same for people.
    pub format: String,
    /// What to add to a time of the log to get Unix nanoseconds.
    pub epoch_ns: Option<i64>,
    /// Samples of all channels.
    pub samples: u64,
    /// Bytes on disk, or that came.
    pub bytes: u64,
    /// Which views suit it.
    pub preset: Preset,
    /// Match, writer, team, map, …
    pub facts: Vec<Fact>,
    /// What is wrong with it: the first ones.
    pub problems: Vec<logpose_core::Problem>,
    /// How many problems there are in all.
    pub problem_count: u64,
    /// How much of it cannot be read, if it is damaged.
    pub damage: Option<Damage>,
    /// Samples far from all others, on its own clock.
    pub stragglers: Vec<Stragglers>,
}

/// A fact of a log.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub name: String,
    pub text: String,
    /// When it was so, on the log's own clock.
    pub at: Option<Time>,
}

impl Fact {
    pub(crate) fn new(name: &str, text: impl Into<String>) -> Self {
        Self { name: name.to_owned(), text: text.into(), at: None }
    }

    /// For people, on the clock that they see.
    pub(crate) fn shown(self, clock: &Clock) -> (String, String) {
        let text = match self.at {
            Some(at) => format!("{} at {:.3} s", self.text, clock.seconds(at)),
            None => self.text,
        };
        (self.name, text)
    }
}

/// The channels of a log at one time.
pub(crate) struct Catalog {
    /// Another number whenever channels came.
    pub revision: u64,
    /// The channels; a channel's number is its place.
    pub channels: Vec<Entry>,
    /// What explains their values.
    pub schemas: Arc<Schemas>,
}

/// One channel.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its name and type.
    pub channel: Channel,
    /// How many samples it has.
    pub samples: u64,
    /// When the first and the last of them came.
    pub range: Option<(Time, Time)>,
}
