use std::sync::{Arc, OnceLock};

use logpose::{Browse, ClockMap};
use logpose_core::Time;

use crate::carla::Recording;
use crate::clock::{Clock, origin};
use crate::error::RequestError;
use crate::finished::FinishedLog;
use crate::live::LiveLog;
use crate::sql::Sql;
use crate::store::Store;

/// What is open: logs and live sources on one clock, in the order in which they were given.
#[derive(Default)]
pub struct Session {
    title: Option<String>,
    logs: Vec<OpenLog>,
    sql: Option<Box<dyn Sql>>,
    /// Set once anything is known of the times, and the same from then on.
    origin_ns: OnceLock<i64>,
}

/// A log of a session, with its clock.
#[derive(Clone)]
pub(crate) struct OpenLog {
    pub store: Arc<dyn Store>,
    /// From its clock to that of the session.
    pub map: ClockMap,
    /// Its CARLA recording, if it has one; gone over when it is asked for first.
    pub recording: Arc<OnceLock<Recording>>,
}

impl Session {
    /// A session in which nothing is open yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a finished log, whose times are put on the clock of the session by `clock`; the answer is its number.
    pub fn add(&mut self, log: Browse, clock: ClockMap) -> usize {
        self.add_store(Arc::new(FinishedLog::new(log)), clock)
    }

    /// Adds a live source; the answer is its number.
    pub fn add_live(&mut self, log: &LiveLog, clock: ClockMap) -> usize {
        self.add_store(Arc::new(log.clone()), clock)
    }

    /// Adds anything that can be asked like a log.
    pub(crate) fn add_store(&mut self, store: Arc<dyn Store>, map: ClockMap) -> usize {
        self.logs.push(OpenLog { store, map, recording: Arc::default() });
        self.logs.len() - 1
    }

    /// Says who answers SQL.
    pub fn set_sql(&mut self, sql: Box<dyn Sql>) {
        self.sql = Some(sql);
    }

    /// Gives the window a title; without one it is the names of the logs.
    pub fn set_title(&mut self, title: impl Into<String>) {
        self.title = Some(title.into());
    }

    pub(crate) fn sql(&self) -> Option<&dyn Sql> {
        self.sql.as_deref()
    }

    pub(crate) fn title(&self) -> String {
        let names = || self.logs.iter().map(|log| log.store.about().name).collect::<Vec<_>>().join(", ");
        self.title.clone().unwrap_or_else(names)
    }

    pub(crate) fn logs(&self) -> &[OpenLog] {
        &self.logs
    }

    /// Works out what is told of every log before anybody asks.
    pub(crate) fn prepare(&self) {
        self.logs.iter().for_each(|log| drop(log.store.about()));
        self.logs.iter().for_each(|log| drop(log.store.findings()));
    }

    /// A log by its number.
    pub(crate) fn log(&self, number: usize) -> Result<&OpenLog, RequestError> {
        self.logs.get(number).ok_or_else(|| {
            let help = match self.logs.len() {
                0 => "no log is open".to_owned(),
                1 => "the only open log is 0".to_owned(),
                open => format!("open logs are 0 to {}", open - 1),
            };
            RequestError::not_found("log-not-found", format!("no log {number}")).with_help(help)
        })
    }

    /// The clock of a log.
    pub(crate) fn clock(&self, member: &OpenLog) -> Clock {
        Clock { map: member.map, origin_ns: self.origin_ns() }
    }

    /// Nanoseconds of the session's clock at session time 0.
    pub(crate) fn origin_ns(&self) -> i64 {
        if let Some(known) = self.origin_ns.get() {
            return *known;
        }
        self.range().map_or(0, |(first, last)| *self.origin_ns.get_or_init(|| origin(first, last)))
    }

    /// From the first moment of any log to the last, on the clock of the session.
    fn range(&self) -> Option<(Time, Time)> {
        let ranges = self.logs.iter().filter_map(|log| {
            let (first, last) = log.store.range()?;
            Some((log.map.at(first), log.map.at(last)))
        });
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The same in session time.
    pub(crate) fn seconds(&self) -> Option<(f64, f64)> {
        let clock = Clock { map: ClockMap::default(), origin_ns: self.origin_ns() };
        self.range().map(|(first, last)| (clock.seconds(first), clock.seconds(last)))
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("logs", &self.logs.len()).finish_non_exhaustive()
    }
}

/// The most series that one request may ask for.
pub(crate) const SERIES: usize = 1024;
/// The most pixels of all series of a request together: beyond, pictures get coarser.
pub(crate) const PIXELS: usize = 500_000;
/// The most cells of rows and tables together: beyond, there are fewer rows.
pub(crate) const CELLS: usize = 4_000_000;
/// The same where cells are texts.
pub(crate) const TEXT_CELLS: usize = 200_000;
/// The most pixels of one series.
pub(crate) const WIDTH: usize = 8192;
/// The most points of `/api/rows`.
pub(crate) const POINTS: usize = 100_000;
/// The most rows of tables and consoles.
pub(crate) const ROWS: usize = 2000;
/// The most runs of one series of `/api/states`.
pub(crate) const RUNS: usize = 20_000;
/// The most rows of an answer to SQL.
pub(crate) const SQL_ROWS: usize = 1_000_000;
