//! Sources that still send: their samples are kept from the first on, and queried like a log.

mod chunk;
mod followed;
mod pyramids;
mod spill;
mod tape;
mod tracker;
mod writer;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use logpose::frc::Level;
use logpose::{Bucket, Drawn, Error, ErrorKind, Schemas, Step, dslog, rlog, wpilog};
use logpose_core::{Channel, ChannelId, Problem, Problems, Severity, Time, Value};

use self::pyramids::{LivePyramids, Picture};
use self::tape::Tape;
use self::tracker::EventTracker;
use crate::api::{LogState, Preset};
use crate::findings::{Finding, Findings};
use crate::store::{About, Catalog, Entry, Fact, Store, Take, TakeHeld};

pub use self::followed::{FollowedLog, FollowedOptions};
pub(crate) use self::tape::Mark;
pub use self::writer::{BatchClock, LiveBatch, LiveWriter};

/// The samples of a live source, from the start of listening. A handle: clones are the same log.
///
/// The newest samples are in memory, all before them in a nameless file, so memory is bounded however long it goes on.
#[derive(Clone)]
pub struct LiveLog {
    inner: Arc<Inner>,
}

/// How a live source is kept.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// What people call it.
    pub name: String,
    /// Its address, as text.
    pub address: String,
    /// The name of its dialect, such as `nt4`.
    pub dialect: String,
    /// The same for people.
    pub format: String,
    /// Where the file is.
    pub folder: PathBuf,
    /// Bytes that the file may have. Beyond, the oldest samples in memory are let go.
    pub limit: u64,
    /// Bytes that must stay free on the disk. Where there are fewer it is the same.
    pub keep_free: u64,
}

/// How the connection to a live source is.
#[derive(Clone, Debug, Default)]
pub struct LinkStatus {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether there will be none any more.
    pub ended: bool,
    /// Who is at the other end.
    pub peer: Option<String>,
    /// Why there is no connection.
    pub problem: Option<String>,
    /// Bytes that came.
    pub bytes: u64,
    /// Samples that came.
    pub samples: u64,
}

/// How a live source is at the moment.
#[derive(Clone, Debug)]
pub(crate) struct LiveStatus {
    pub(crate) state: LogState,
    /// Why nothing comes, or why something is lost.
    pub(crate) problem: Option<String>,
    /// Samples a second.
    pub(crate) samples_per_s: f64,
    pub(crate) samples: u64,
    pub(crate) revision: u64,
    /// Another number whenever something happened.
    pub(crate) events_revision: u64,
}

struct Inner {
    options: LiveOptions,
    tape: Tape,
    state: Mutex<LiveState>,
    status: Mutex<Status>,
    /// The last one that was made, and when.
    catalog: Mutex<Option<(Instant, Arc<Catalog>)>>,
    pyramids: LivePyramids,
    /// Nobody looks at it any more.
    closed: AtomicBool,
}

/// What is known besides the samples.
#[derive(Default)]
struct LiveState {
    /// What the first bytes of a file showed it to be: the name of its dialect, and the same for people. Until then, and
    /// for a link, the options say it.
    format: Option<(&'static str, &'static str)>,
    channels: Vec<Channel>,
    ids: HashMap<(String, String), ChannelId>,
    /// Bytes of names, types, metadata and schemas.
    bytes: usize,
    /// Another number whenever channels came, or something explains them better.
    revision: u64,
    /// The schemas that came, with the channels that they came on.
    schemas: HashMap<ChannelId, Vec<u8>>,
    explained: Arc<Schemas>,
    /// Whether some of them are not in there yet.
    unexplained: bool,
    problems: Problems,
    /// What to add to a time to get Unix nanoseconds.
    epoch_ns: Option<i64>,
    /// The time at which listening began; earlier samples arrived late.
    begun: Option<Time>,
    /// The latest time, and when that came.
    newest: Option<(Time, Instant)>,
    tracker: EventTracker,
    /// When the connection was lost, in order.
    losses: Vec<Time>,
}

/// How it goes with the source.
#[derive(Default)]
struct Status {
    connected: bool,
    ended: bool,
    peer: Option<String>,
    trouble: Option<String>,
    bytes: u64,
    samples: u64,
    since: Option<Instant>,
    rate: f64,
}

impl LiveLog {
    /// An empty one.
    ///
    /// # Errors
    ///
    /// If no temporary file can be made.
    pub fn new(options: &LiveOptions) -> io::Result<Self> {
        let tape = Tape::new(&options.folder, options.limit, options.keep_free)?;
        let inner = Inner {
            options: options.clone(),
            tape,
            state: Mutex::new(LiveState { revision: 1, ..LiveState::default() }),
            status: Mutex::default(),
            catalog: Mutex::default(),
            pyramids: LivePyramids::default(),
            closed: AtomicBool::new(false),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether it was closed. Whoever writes to it or holds it for later should let go of it then.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.inner.closed.load(Ordering::Relaxed)
    }

    pub(crate) fn close(&self) {
        self.inner.closed.store(true, Ordering::Relaxed);
    }

    /// What adds samples to it. A log has one writer at a time.
    #[must_use]
    pub fn writer(&self) -> LiveWriter {
        LiveWriter::new(self)
    }

    /// Takes in how the connection is. To be called a few times a second.
    pub fn set_link(&self, link: &LinkStatus) {
        let now = Instant::now();
        let connected = link.connected;
        let mut status = lock(&self.inner.status);
        if connected != status.connected {
            let mut state = lock(&self.inner.state);
            let at = state.now(now);
            let (level, text) = match (&link.peer, &link.problem) {
                (Some(peer), _) if connected => (Level::Info, format!("Connected to {peer}")),
                (_, Some(trouble)) => (Level::Warning, format!("Connection lost: {trouble}")),
                _ => (Level::Warning, "Connection lost".to_owned()),
            };
            if let Some(time) = at {
                state.tracker.happen(Finding::new(time, "link", level, text));
                if !connected {
                    state.lose(time);
                }
            }
        }
        status.count(now, link.samples);
        (status.connected, status.ended) = (connected, link.ended);
        status.peer.clone_from(&link.peer);
        status.trouble.clone_from(&link.problem);
        status.bytes = link.bytes;
    }

    /// Takes in how it is with the file that the log comes from: bytes that were read of it, and why nothing more comes.
    fn set_file(&self, bytes: u64, problem: Option<String>) {
        let samples = self.inner.tape.total().samples;
        let mut status = lock(&self.inner.status);
        status.count(Instant::now(), samples);
        (status.connected, status.trouble, status.bytes) = (problem.is_none(), problem, bytes);
    }

    /// Bytes in memory and in the file.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        self.inner.tape.size()
    }

    /// How it is at the moment.
    pub(crate) fn pulse(&self) -> LiveStatus {
        let samples = self.inner.tape.total().samples;
        let (full, forgotten) = self.inner.tape.trouble();
        let (revision, events_revision) = {
            let state = lock(&self.inner.state);
            (state.revision, state.tracker.changes())
        };
        let status = lock(&self.inner.status);
        let state = match (status.ended, status.connected && samples > 0) {
            (true, _) => LogState::Ended,
            (false, true) => LogState::Live,
            (false, false) => LogState::Waiting,
        };
        let problem = match (status.connected, &status.trouble, full) {
            (false, Some(trouble), _) => Some(trouble.clone()),
            (false, None, _) => Some("not connected yet".to_owned()),
            (true, _, Some(full)) => Some(format!("discarding the oldest samples, {forgotten} so far: {}", full.0)),
            (true, ..) if samples == 0 => Some("connected, no data yet".to_owned()),
            (true, ..) => None,
        };
        LiveStatus { state, problem, samples_per_s: status.rate, samples, revision, events_revision }
    }

    /// Tells what came on a channel since a mark, and sets it. Late samples come last.
    pub(crate) fn news(
        &self,
        channel: ChannelId,
        mark: &mut Mark,
        take: &mut dyn FnMut(Time, &Value<'_>),
    ) -> Result<(), Error> {
        self.inner.tape.news(channel, mark, take).map_err(failed)
    }

    /// A mark before the last samples of a channel: who begins to listen has asked for what was before, a moment ago.
    pub(crate) fn mark(&self, channel: ChannelId) -> Mark {
        let newest = self.range().map_or(Time::MAX, |range| range.1);
        self.inner.tape.mark(channel, newest.plus(-OVERLAP_NS))
    }
}

impl Store for LiveLog {
    fn about(&self) -> About {
        let LiveOptions { name, address, dialect, format, .. } = &self.inner.options;
        let format_found = lock(&self.inner.state).format;
        let (dialect, format) = format_found.unwrap_or((dialect, format));
        let preset = match dialect {
            logpose_driverstation::NAME | dslog::NAME => Preset::Ds,
            logpose_refloat::NAME => Preset::Refloat,
            rlog::NAME | logpose_nt4::NAME | wpilog::NAME => Preset::Frc,
            // The views of CARLA need a finished recording.
            _ => Preset::General,
        };
        let pulse = self.pulse();
        let (bytes, peer) = {
            let status = lock(&self.inner.status);
            (status.bytes, status.peer.clone())
        };
        let mut facts = Vec::new();
        facts.extend(peer.map(|peer| Fact::new("connected", peer)));
        let state = lock(&self.inner.state);
        facts.extend(state.tracker.match_text().map(|text| Fact::new("match", text)));
        let mut problems = state.problems.clone();
        let moved = self.inner.tape.moved();
        if moved > 0 {
            let message = format!("{moved} samples arrived late and got a later timestamp");
            problems.push(Problem::general(Severity::Note, "late", message));
        }
        About {
            name: name.clone(),
            path: address.clone(),
            dialect: dialect.to_owned(),
            format: format.to_owned(),
            epoch_ns: state.epoch_ns,
            samples: pulse.samples,
            bytes,
            preset,
            facts,
            problem_count: problems.kinds().iter().map(|(.., count)| count).sum(),
            problems: problems.list().iter().take(20).cloned().collect(),
            damage: None,
            stragglers: Vec::new(),
        }
    }

    fn state(&self) -> LogState {
        self.pulse().state
    }

    fn catalog(&self) -> Arc<Catalog> {
        let revision = lock(&self.inner.state).revision;
        let mut last = lock(&self.inner.catalog);
        if let Some((made, catalog)) = &*last
            && catalog.revision == revision
            && made.elapsed() < FRESH
        {
            return Arc::clone(catalog);
        }
        let state = lock(&self.inner.state);
        let entries = state.channels.iter().zip(self.inner.tape.extents());
        let entries = entries.map(|(channel, extent)| Entry {
            channel: channel.clone(),
            samples: extent.samples,
            range: extent.range,
        });
        let schemas = Arc::clone(&state.explained);
        let catalog = Arc::new(Catalog { revision: state.revision, channels: entries.collect(), schemas });
        *last = Some((Instant::now(), Arc::clone(&catalog)));
        catalog
    }

    fn range(&self) -> Option<(Time, Time)> {
        let (first, last) = self.inner.tape.total().range?;
        let begun = lock(&self.inner.state).begun.unwrap_or(first);
        Some((first.max(begun).min(last), last))
    }

    fn count(&self, channel: ChannelId, start: Time, end: Time) -> Result<u64, Error> {
        self.inner.tape.count(channel, start, end).map_err(failed)
    }

    fn read(&self, channel: ChannelId, start: Time, end: Time, take: &mut Take<'_>) -> Result<(), Error> {
        self.inner.tape.read(channel, start, end, take).map_err(failed)
    }

    fn read_back(&self, channel: ChannelId, before: Time, take: &mut Take<'_>) -> Result<(), Error> {
        self.inner.tape.read_back(channel, before, take).map_err(failed)
    }

    fn held(&self, channels: &[ChannelId], at: Time, take: &mut TakeHeld<'_>) -> Result<(), Error> {
        for (place, channel) in channels.iter().enumerate() {
            let mut last = |time, value: &Value<'_>| {
                take(place, time, value);
                ControlFlow::Break(())
            };
            self.read_back(*channel, at.plus(1), &mut last)?;
        }
        Ok(())
    }

    fn losses(&self, _: ChannelId) -> Vec<Time> {
        lock(&self.inner.state).losses.clone()
    }

    fn drawn(
        &self,
        channel: ChannelId,
        path: &[Step],
        (start, end): (Time, Time),
        most: usize,
        out: &mut Vec<Bucket>,
    ) -> Result<Option<Drawn>, Error> {
        let catalog = self.catalog();
        let Some(entry) = catalog.channels.get(channel as usize) else { return Ok(None) };
        let (id, schemas) = (channel, &catalog.schemas);
        let picture = Picture { id, channel: &entry.channel, schemas, path, start, end, most };
        self.inner.pyramids.drawn(&self.inner.tape, &picture, out).map_err(failed)
    }

    fn findings(&self) -> Result<Arc<Findings>, Error> {
        let end = self.range().map_or(Time::ZERO, |range| range.1);
        Ok(Arc::new(lock(&self.inner.state).tracker.told(end)))
    }

    fn live(&self) -> Option<&LiveLog> {
        Some(self)
    }
}

impl Status {
    /// So many samples came until now.
    fn count(&mut self, now: Instant, total: u64) {
        let since = *self.since.get_or_insert(now);
        let seconds = now.duration_since(since).as_secs_f64();
        if seconds >= 1.0 {
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            let samples = total.saturating_sub(self.samples) as f64;
            (self.rate, self.samples, self.since) = (samples / seconds, total, Some(now));
        }
    }
}

impl LiveState {
    /// The number of a channel; a new one if there is room for it.
    fn declare(&mut self, tape: &Tape, channel: &Channel) -> Option<ChannelId> {
        let key = (channel.name.clone(), channel.type_name.clone());
        if let Some(id) = self.ids.get(&key) {
            let id = *id;
            self.describe(id, &channel.metadata);
            return Some(id);
        }
        let bytes = channel.name.len() * 2 + channel.type_name.len() * 2 + channel.metadata.len();
        if self.channels.len() >= MOST_CHANNELS || self.bytes + bytes > MOST_BYTES {
            let message = format!("limit of {} channels reached; skipped {}", self.channels.len(), channel.name);
            self.problems.push(Problem::general(Severity::Damage, "too-many-channels", message));
            return None;
        }
        self.bytes += bytes;
        let id = tape.add(channel.ty());
        self.ids.insert(key, id);
        self.channels.push(channel.clone());
        self.revision += 1;
        Some(id)
    }

    /// A channel's metadata are this text from here on.
    fn describe(&mut self, id: ChannelId, metadata: &str) {
        let Some(channel) = self.channels.get_mut(id as usize) else { return };
        if channel.metadata == metadata || self.bytes + metadata.len() > MOST_BYTES {
            return;
        }
        self.bytes = (self.bytes + metadata.len()).saturating_sub(channel.metadata.len());
        metadata.clone_into(&mut channel.metadata);
        self.revision += 1;
    }

    /// A schema came: values that it explains can be read from now on, also those that came before.
    fn explain(&mut self, id: ChannelId, payload: &[u8]) {
        let known = self.schemas.get(&id);
        let room = self.bytes + payload.len() <= MOST_BYTES && (known.is_some() || self.schemas.len() < MOST_SCHEMAS);
        if known.is_some_and(|known| known == payload) || !room {
            return;
        }
        self.bytes += payload.len();
        self.schemas.insert(id, payload.to_vec());
        self.unexplained = true;
    }

    /// Takes all schemas that came into account, if there are new ones.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.unexplained) {
            return;
        }
        let mut explained = Schemas::default();
        for (id, payload) in &self.schemas {
            if let Some(channel) = self.channels.get(*id as usize) {
                explained.add(channel, payload);
            }
        }
        self.explained = Arc::new(explained);
        self.revision += 1;
    }

    /// The source was lost: what it said before does not hold any more.
    fn lose(&mut self, time: Time) {
        let time = self.losses.last().map_or(time, |last| time.max(*last));
        if self.losses.len() < MOST_LOSSES {
            self.losses.push(time);
        }
    }

    /// About what time it is on the clock of the log.
    fn now(&self, now: Instant) -> Option<Time> {
        let (newest, came) = self.newest?;
        Some(newest.plus(i64::try_from(now.saturating_duration_since(came).as_nanos()).unwrap_or(0)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Io(error))
}

/// Counts and ranges in a catalog are at most so old.
const FRESH: Duration = Duration::from_millis(500);
/// What is repeated for a new listener.
const OVERLAP_NS: i64 = 2_000_000_000;
/// Losses of the connection that are kept. Beyond, values are drawn as if they held.
const MOST_LOSSES: usize = 10_000;
/// Channels of one source. Nobody looks at more.
const MOST_CHANNELS: usize = 100_000;
/// Schemas of one source.
const MOST_SCHEMAS: usize = 2000;
/// Bytes of their names, types, metadata and schemas.
const MOST_BYTES: usize = 64 << 20;
