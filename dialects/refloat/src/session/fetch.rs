//! What a download has, and what it still needs.

use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::Time;

use super::discovery::Known;
use super::event::{Change, Event, TimeRef};
use super::failure::Failure;
use super::flights::Flights;
use super::options::{ClientOptions, FetchOptions, PartialRecording};
use super::store::Store;
use super::timing::Rate;
use super::view::Progress;
use crate::wire::{Data, Header};

/// Steps back in time that are looked at again.
const STEPS_BACK: usize = 4;
/// Live replies of which the one with the shortest way sets the clock; one is enough if it is as good as this.
const MARKS: usize = 3;
const MARKED_US: u32 = 1000;

/// A download under way.
#[derive(Clone, Debug)]
pub(super) struct Fetch {
    pub(super) may_stop: bool,
    pub(super) protect: bool,
    pub(super) limit: usize,
    /// Where it was begun.
    pub(super) board: Option<Known>,
    pub(super) stage: Stage,
    /// What follows the size in the header: the ids.
    pub(super) ids: Option<Vec<u8>>,
    pub(super) store: Store,
    /// How many samples a full reply has.
    pub(super) chunk: u32,
    /// Samples that are there and are to be seen again.
    pub(super) checks: VecDeque<u32>,
    /// Something was received since the last check.
    pub(super) fresh: bool,
    pub(super) flights: Option<Flights>,
    /// Autostart is to be switched on again.
    pub(super) owed: bool,
    pub(super) protected: bool,
    pub(super) failure: Option<Failure>,
    pub(super) doubts: u32,
    pub(super) marks: Vec<TimeRef>,
    pub(super) counts: Progress,
    pub(super) rate: Rate,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stage {
    /// Is it recording, and does it start by itself?
    Status,
    /// It is not to start by itself.
    Protect,
    /// What has it recorded?
    Header,
    /// Is it still what it was?
    Check,
    Samples,
    /// Was it the same until the end?
    Verify,
    /// When is now on its clock?
    Time,
    /// It may start by itself again.
    Restore,
}

impl Fetch {
    pub(super) fn new(fetch: FetchOptions, options: &ClientOptions) -> Result<Self, Failure> {
        let mut this = Self {
            may_stop: fetch.may_stop,
            protect: fetch.protect,
            limit: options.limits.held_back,
            board: None,
            stage: Stage::Status,
            ids: None,
            store: Store::default(),
            chunk: 1,
            checks: VecDeque::new(),
            fresh: false,
            flights: None,
            owed: false,
            protected: false,
            failure: None,
            doubts: 0,
            marks: Vec::new(),
            counts: Progress::default(),
            rate: Rate::default(),
        };
        if let Some(held) = fetch.held {
            this.hold(&held)?;
        }
        Ok(this)
    }

    /// Starts with the samples of `held`.
    fn hold(&mut self, held: &PartialRecording) -> Result<(), Failure> {
        let header = Header::parse(&held.header).map_err(|_| Failure::Held("invalid header"))?;
        self.keep(&held.header, &header)?;
        for (index, bytes) in &held.samples {
            if !bytes.len().is_multiple_of(self.store.sample_len()) {
                return Err(Failure::Held("a piece has an incomplete sample"));
            }
            if self.store.insert(*index, bytes).is_err() {
                return Err(Failure::Held("two pieces contradict each other"));
            }
        }
        self.counts.before = self.store.count();
        Ok(())
    }

    /// This is what the recording is like.
    pub(super) fn keep(&mut self, payload: &[u8], header: &Header<'_>) -> Result<(), Failure> {
        let (size, sample_len) = (header.size, header.sample_len());
        let bytes = usize::try_from(size).ok().and_then(|size| size.checked_mul(sample_len));
        if bytes.is_none_or(|bytes| bytes > self.limit) {
            return Err(Failure::TooLarge { size, sample_len, limit: self.limit });
        }
        // Where not even one would fit the board has to cut somehow: whatever comes is taken.
        self.chunk = u32::try_from(header.chunk()).unwrap_or(1).max(1);
        self.store = Store::new(size, sample_len);
        self.ids = Some(ids(payload));
        Ok(())
    }

    /// Waits for no samples any more.
    pub(super) fn land(&mut self) {
        if let Some(flights) = self.flights.take() {
            (self.counts.window, self.counts.round_trip) = (flights.window(), flights.median());
        }
    }

    /// The link was closed.
    pub(super) fn interrupted(&mut self) {
        self.counts.interruptions += 1;
        self.land();
        self.checks.clear();
        self.marks.clear();
        let done = matches!(self.stage, Stage::Time | Stage::Restore);
        self.stage = match self.failure {
            None if !done => Stage::Status,
            _ => Stage::Restore,
        };
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(super) fn is_owed(&self) -> bool {
        self.owed
    }

    /// Whether it can go on without an answer to this.
    pub(super) fn forgives(&self) -> bool {
        matches!(self.stage, Stage::Time | Stage::Restore)
    }

    /// It is another board: nothing can be restored there.
    pub(super) fn elsewhere(&mut self) {
        self.stage = Stage::Restore;
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.flights.as_ref().filter(|_| self.stage == Stage::Samples)?.deadline()
    }

    pub(super) fn progress(&self, now: Time) -> Progress {
        let rate = self.rate.each_second(now, self.counts.bytes);
        let missing = f64::from(self.store.size() - self.store.count()) * self.store.sample_len().min(1 << 16) as f64;
        Progress {
            size: self.ids.is_some().then(|| self.store.size()),
            sample_len: self.store.sample_len(),
            received: self.store.count(),
            rate,
            left: if rate > 0.0 { Duration::try_from_secs_f64(missing / rate).ok() } else { None },
            window: self.flights.as_ref().map_or(self.counts.window, Flights::window),
            round_trip: self.flights.as_ref().and_then(Flights::median).or(self.counts.round_trip),
            protected: self.owed,
            ..self.counts.clone()
        }
    }

    /// Whether it is known well enough when now is on its clock.
    pub(super) fn is_marked(&self) -> bool {
        self.marks.len() >= MARKS || self.marks.iter().any(|mark| mark.uncertainty_us <= MARKED_US)
    }

    /// Samples to be compared before it goes on: the first one and the last one.
    pub(super) fn ends(&self) -> VecDeque<u32> {
        let first = self.store.covers(&(0..1)).then_some(0).filter(|_| self.store.count() > 0);
        let last = self.store.last();
        first.into_iter().chain(last.filter(|last| Some(*last) != first)).collect()
    }

    /// Samples to be compared in the end: the first one, and those where time seems to step back.
    pub(super) fn suspects(&self) -> VecDeque<u32> {
        let steps = self.store.steps_back().take(STEPS_BACK).flat_map(|index| [index.saturating_sub(1), index]);
        let first = self.store.covers(&(0..1)).then_some(0).filter(|_| self.store.count() > 0);
        let mut all: VecDeque<u32> = first.into_iter().chain(steps.filter(|index| *index > 0)).collect();
        all.make_contiguous().sort_unstable();
        all
    }

    /// The samples of a reply, if it can be one of this recording.
    pub(super) fn fits<'d>(&self, data: &Data<'d>) -> Option<&'d [u8]> {
        let whole = data.bytes.len().is_multiple_of(self.store.sample_len());
        (whole && data.offset < self.store.size()).then_some(data.bytes)
    }

    /// Stores samples, and reports those that are new.
    pub(super) fn insert(&mut self, now: Time, offset: u32, bytes: &[u8]) -> Result<Vec<Event>, Change> {
        let fresh = match self.store.insert(offset, bytes) {
            Ok(fresh) => fresh,
            Err(contradiction) => return Err(Change::Sample { index: contradiction.index }),
        };
        let mut events = Vec::new();
        for range in fresh {
            let bytes = self.store.get(&range).unwrap_or_default().to_vec();
            self.counts.bytes += bytes.len() as u64;
            self.fresh = true;
            events.push(Event::Samples { index: range.start, bytes });
        }
        self.rate.reached(now, self.counts.bytes);
        Ok(events)
    }
}

/// What follows the size in a header.
pub(super) fn ids(payload: &[u8]) -> Vec<u8> {
    payload.get(6..).unwrap_or_default().to_vec()
}
