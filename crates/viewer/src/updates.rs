use std::sync::Arc;
use std::time::{Duration, Instant};

use logpose::{Bucket, FieldReader};
use logpose_core::Time;

use crate::Viewer;
use crate::api;
use crate::error::RequestError;
use crate::live::LiveStatus;
use crate::live::Mark;
use crate::pixels::Traces;
use crate::reference::{Series, number};
use crate::session::{Member, SERIES, Session};
use crate::store::Store;

/// What a listener has not received yet. It is looked up when the listener is ready: nothing waits.
pub struct LiveUpdates {
    viewer: Arc<Viewer>,
    subscribed: Vec<Subscribed>,
    last: Option<LastTick>,
}

/// A series that is listened to.
struct Subscribed {
    reference: api::Reference,
    /// How much of it was sent.
    mark: Mark,
    /// How many losses of its source were.
    losses: usize,
    /// What it was found to be, as of a revision of its log; nothing if there is no such series.
    found: Option<(u64, Series, FieldReader)>,
}

/// What the last tick said, and when.
struct LastTick {
    at: Instant,
    /// Of each log samples, revision, events and state.
    was: Vec<(u64, u64, u64, api::LogState)>,
}

impl LiveUpdates {
    pub(crate) fn new(viewer: Arc<Viewer>) -> Self {
        Self { viewer, subscribed: Vec::new(), last: None }
    }

    /// Listens to these series from now on. What was listened to before goes on where it is.
    pub fn subscribe(&mut self, references: Vec<api::Reference>) -> Result<(), RequestError> {
        if references.len() > SERIES {
            let message = format!("too many series: {}", references.len());
            return Err(
                RequestError::invalid("too-many-series", message).with_help(format!("subscribe to at most {SERIES}"))
            );
        }
        let session = self.viewer.session();
        let mut before = std::mem::take(&mut self.subscribed);
        for reference in references {
            let known = before.iter().position(|one| one.reference == reference).map(|place| before.swap_remove(place));
            self.subscribed.push(known.unwrap_or_else(|| {
                let live = session.log(reference.log).ok().and_then(|log| log.store.live());
                let mark = live.map(|live| live.mark(reference.channel)).unwrap_or_default();
                let losses = live.map_or(0, |live| live.losses(reference.channel).len());
                Subscribed { reference, mark, losses, found: None }
            }));
        }
        Ok(())
    }

    /// New samples of all series as an Arrow stream; none where there are none.
    pub fn frame(&mut self) -> Result<Option<Vec<u8>>, RequestError> {
        let session = self.viewer.session();
        let most = MOST_ROWS / self.subscribed.len().max(1);
        let mut traces = Traces::default();
        let mut any = false;
        for (place, one) in (0..).zip(&mut self.subscribed) {
            let rows = one.rows(&session, most.max(LEAST_ROWS))?;
            any |= !rows.buckets.is_empty();
            let clock = one.found.as_ref().map(|(_, series, _)| series.clock).unwrap_or_default();
            let (series_min, series_max) = rows.extremes();
            let about = api::SeriesSummary { samples: rows.samples, raw: rows.fill == 1, series_min, series_max };
            traces.add(place, rows.buckets.iter(), &clock, about);
        }
        if !any {
            return Ok(None);
        }
        // A client that subscribes again while this is on its way must be able to match it.
        let references: Vec<&api::Reference> = self.subscribed.iter().map(|one| &one.reference).collect();
        traces.note("references", serde_json::to_string(&references).unwrap_or_default());
        traces.finish().map(Some)
    }

    /// How all logs are, if anything is another than the last time, or that is long ago.
    pub fn tick(&mut self) -> Option<api::Tick> {
        let session = self.viewer.session();
        let logs: Vec<api::TickLog> = session
            .members()
            .iter()
            .enumerate()
            .map(|(id, member)| {
                let Member::Open(log) = member else { return api::TickLog::closed(id) };
                let (clock, range) = (session.clock(log), log.store.range());
                let (start, end) =
                    (range.map(|range| clock.seconds(range.0)), range.map(|range| clock.seconds(range.1)));
                match log.store.live().map(crate::LiveLog::pulse) {
                    Some(pulse) => {
                        let LiveStatus { revision, events_revision, samples, problem, samples_per_s, state } = pulse;
                        api::TickLog {
                            id,
                            start,
                            end,
                            revision,
                            events_revision,
                            samples,
                            state,
                            problem,
                            samples_per_s,
                        }
                    }
                    None => {
                        let catalog = log.store.catalog();
                        let samples = catalog.channels.iter().map(|entry| entry.samples).sum();
                        let (revision, state) = (catalog.revision, log.store.state());
                        api::TickLog {
                            id,
                            start,
                            end,
                            revision,
                            events_revision: 0,
                            samples,
                            state,
                            problem: None,
                            samples_per_s: 0.0,
                        }
                    }
                }
            })
            .collect();
        let was = logs.iter().map(|log| (log.samples, log.revision, log.events_revision, log.state)).collect();
        let is_live = session.open().any(|(_, log)| log.store.live().is_some());
        let seldom = if is_live { SELDOM } else { NEVER };
        if self.last.as_ref().is_some_and(|last| last.was == was && last.at.elapsed() < seldom) {
            return None;
        }
        self.last = Some(LastTick { at: Instant::now(), was });
        let (range, revision) = (session.seconds(), session.revision());
        Some(api::Tick { start: range.map(|range| range.0), end: range.map(|range| range.1), revision, logs })
    }
}

impl api::TickLog {
    fn closed(id: usize) -> Self {
        Self {
            id,
            start: None,
            end: None,
            revision: 0,
            events_revision: 0,
            samples: 0,
            state: api::LogState::Closed,
            problem: None,
            samples_per_s: 0.0,
        }
    }
}

impl Subscribed {
    /// What came since the last time, in at most about `most` rows.
    fn rows(&mut self, session: &Session, most: usize) -> Result<Rows, RequestError> {
        let mut rows = Rows::new(most);
        let Ok(log) = session.log(self.reference.log) else {
            // What was found would keep a closed log.
            self.found = None;
            return Ok(rows);
        };
        let Some(live) = log.store.live() else { return Ok(rows) };
        let revision = live.pulse().revision;
        if self.found.as_ref().is_none_or(|(known, ..)| *known != revision) {
            self.found = Series::find(session, &self.reference).ok().map(|series| {
                let parts = series.parts();
                (revision, series, parts)
            });
        }
        if let Some((_, series, parts)) = &mut self.found {
            // Where the session has its zero is known with the first sample of all.
            series.clock = session.clock(log);
            live.news(series.channel, &mut self.mark, &mut |time, value| {
                rows.push(time, number(parts, value, &series.steps));
            })?;
            // Lines end where the source was lost.
            let losses = live.losses(series.channel);
            rows.buckets.extend(losses.iter().skip(self.losses).map(|time| Bucket::of(*time, f64::NAN)));
            self.losses = losses.len();
        }
        Ok(rows.sorted())
    }
}

/// Samples as they come; when they are too many, every two become one.
struct Rows {
    buckets: Vec<Bucket>,
    /// Samples of one bucket.
    fill: u64,
    samples: u64,
    most: usize,
}

impl Rows {
    fn new(most: usize) -> Self {
        Self { buckets: Vec::new(), fill: 1, samples: 0, most }
    }

    fn push(&mut self, time: Time, value: f64) {
        self.samples += 1;
        match self.buckets.last_mut() {
            Some(last) if last.count < self.fill && time >= last.end => return last.insert(time, value),
            _ => self.buckets.push(Bucket::of(time, value)),
        }
        if self.buckets.len() > self.most {
            // Late samples are in the order of time among themselves, and never in one bucket with others.
            let mut halved: Vec<Bucket> = Vec::with_capacity(self.most);
            for pair in self.buckets.chunks(2) {
                match pair {
                    [first, second] if second.start >= first.end => {
                        let mut both = *first;
                        both.append(second);
                        halved.push(both);
                    }
                    _ => halved.extend_from_slice(pair),
                }
            }
            self.buckets = halved;
            self.fill *= 2;
        }
    }

    fn sorted(mut self) -> Self {
        self.buckets.sort_by_key(|bucket| bucket.start);
        self
    }

    fn extremes(&self) -> (Option<f64>, Option<f64>) {
        let low = self.buckets.iter().fold(f64::NAN, |low, bucket| low.min(bucket.min));
        let high = self.buckets.iter().fold(f64::NAN, |high, bucket| high.max(bucket.max));
        (Some(low).filter(|low| !low.is_nan()), Some(high).filter(|high| !high.is_nan()))
    }
}

/// Rows of one frame, and of one series in it at least.
const MOST_ROWS: usize = 4000;
const LEAST_ROWS: usize = 16;
/// How often an unchanged state is sent; without a live source, hardly ever.
const SELDOM: Duration = Duration::from_secs(1);
const NEVER: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::Rows;

    #[test]
    fn too_many_samples_are_thinned_and_no_extreme_is_lost() {
        let mut rows = Rows::new(100);
        for n in 0..100_000_i32 {
            let value = if n == 77_777 { 1e6 } else { f64::from(n % 10) };
            rows.push(Time::from_nanos(n.into()), value);
        }
        rows.push(Time::from_nanos(5), -3.0);
        let rows = rows.sorted();
        assert!((40..=101).contains(&rows.buckets.len()), "{}", rows.buckets.len());
        assert_eq!((rows.extremes(), rows.samples), ((Some(-3.0), Some(1e6)), 100_001));
        assert_eq!(rows.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 100_001);
        assert!(rows.buckets.is_sorted_by_key(|bucket| bucket.start));
        assert_eq!(Rows::new(100).extremes(), (None, None));
    }
}
