use std::sync::{Arc, OnceLock};

use logpose::{Browse, ClockEvidence, ClockMap};
use logpose_core::Time;

use crate::api::{AlignedBy, Alignment};
use crate::carla::Recording;
use crate::clock::{Clock, origin};
use crate::error::RequestError;
use crate::finished::FinishedLog;
use crate::layouts::Layouts;
use crate::library::{Library, UploadedFile};
use crate::live::LiveLog;
use crate::sql::Sql;
use crate::store::Store;

/// What is open: logs and live sources on one clock, in the order in which they were opened. While it is shown, a
/// changed copy takes its place, so whoever works on a request keeps what the session was.
#[derive(Clone, Default)]
pub struct Session {
    title: Option<String>,
    /// A log's number is its place, also when others are closed.
    logs: Vec<Member>,
    sql: Option<Arc<dyn Sql>>,
    layouts: Arc<Layouts>,
    library: Option<Arc<Library>>,
    /// Set once anything is known of the times, and the same from then on.
    origin_ns: Arc<OnceLock<i64>>,
    /// How often it was changed.
    revision: u64,
}

/// A place in a session.
#[derive(Clone)]
pub(crate) enum Member {
    Open(OpenLog),
    /// What is still known of a log that was closed.
    Closed {
        name: String,
        path: String,
    },
}

/// A log of a session, with its clock.
#[derive(Clone)]
pub(crate) struct OpenLog {
    pub store: Arc<dyn Store>,
    /// From its clock to that of the session.
    pub map: ClockMap,
    /// Its CARLA recording, if it has one; gone over when it is asked for first.
    pub recording: Arc<OnceLock<Recording>>,
    /// How its clock was found, if there is more to say than the offset.
    pub alignment: Option<Alignment>,
    /// The file that it was uploaded to, if it was.
    pub upload: Option<Arc<UploadedFile>>,
}

impl OpenLog {
    fn new(store: Arc<dyn Store>, map: ClockMap) -> Self {
        Self { store, map, recording: Arc::default(), alignment: None, upload: None }
    }

    /// Its path for people: an uploaded file has none.
    pub(crate) fn path(&self) -> String {
        let about = self.store.about();
        if self.upload.is_some() { about.name } else { about.path }
    }
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
        self.push(OpenLog::new(store, map))
    }

    fn push(&mut self, log: OpenLog) -> usize {
        self.logs.push(Member::Open(log));
        self.revision += 1;
        self.logs.len() - 1
    }

    /// Adds a log and puts it on the clock of those that are open: by the wall clock if both have it and are near each
    /// other, else by their first moments.
    pub(crate) fn place(&mut self, store: Arc<dyn Store>, upload: Option<Arc<UploadedFile>>) -> usize {
        let evidence = |store: &dyn Store| ClockEvidence { range: store.range(), epoch_ns: store.about().epoch_ns };
        let first = self.open().find(|(_, log)| log.store.range().is_some()).map(|(_, log)| {
            let own = evidence(&*log.store);
            let shift = own.range.map_or(0, |(first, _)| log.map.at(first).since(first));
            let range = own.range.map(|(first, last)| (log.map.at(first), log.map.at(last)));
            ClockEvidence { range, epoch_ns: own.epoch_ns.map(|epoch| epoch.saturating_sub(shift)) }
        });
        if self.open().next().is_none() {
            // Nothing is left of the clock that there was.
            self.origin_ns = Arc::default();
        }
        let found = first.map(|first| evidence(&*store).shift_to(first));
        let (shift, by_wall) = found.unwrap_or_default();
        let alignment = found.map(|_| Alignment::by(if by_wall { AlignedBy::Wall } else { AlignedBy::Start }));
        self.push(OpenLog { alignment, upload, ..OpenLog::new(store, ClockMap::shifted(shift)) })
    }

    /// Lets go of a log. Its number stays taken.
    pub(crate) fn close(&mut self, number: usize) -> Result<OpenLog, RequestError> {
        let closed = self.log(number)?.clone();
        if let Some(member) = self.logs.get_mut(number) {
            *member = Member::Closed { name: closed.store.about().name, path: closed.path() };
        }
        self.revision += 1;
        Ok(closed)
    }

    /// Says who answers SQL.
    pub fn set_sql(&mut self, sql: Box<dyn Sql>) {
        self.sql = Some(sql.into());
    }

    /// Says where logs come from that are added while the session is shown. Without it, or if it allows nothing, none can
    /// be added or closed.
    pub fn set_library(&mut self, library: Library) {
        let offers = library.offers();
        self.library = (offers.upload || offers.local).then(|| Arc::new(library));
    }

    /// Says how a log that was added came onto the clock of the first one.
    pub fn set_alignment(&mut self, log: usize, alignment: Alignment) {
        if let Some(Member::Open(log)) = self.logs.get_mut(log) {
            log.alignment = Some(alignment);
        }
    }

    /// Says which layouts the page can begin with.
    pub fn set_layouts(&mut self, layouts: Layouts) {
        self.layouts = Arc::new(layouts);
    }

    pub(crate) fn layouts(&self) -> Arc<Layouts> {
        Arc::clone(&self.layouts)
    }

    /// Gives the window a title; without one it is the names of the logs.
    pub fn set_title(&mut self, title: impl Into<String>) {
        self.title = Some(title.into());
    }

    pub(crate) fn sql(&self) -> Option<&dyn Sql> {
        self.sql.as_deref()
    }

    pub(crate) fn library(&self) -> Option<&Arc<Library>> {
        self.library.as_ref()
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn title(&self) -> String {
        let names = self.open().map(|(_, log)| log.store.about().name).collect::<Vec<_>>().join(", ");
        let named = || if names.is_empty() { "logpose".to_owned() } else { names };
        self.title.clone().unwrap_or_else(named)
    }

    /// All places, by number.
    pub(crate) fn members(&self) -> &[Member] {
        &self.logs
    }

    /// The open logs with their numbers.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, &OpenLog)> {
        self.logs.iter().enumerate().filter_map(|(number, member)| match member {
            Member::Open(log) => Some((number, log)),
            Member::Closed { .. } => None,
        })
    }

    /// Computes the facts of every log in advance.
    pub(crate) fn prepare(&self) {
        self.open().for_each(|(_, log)| drop(log.store.about()));
        self.open().for_each(|(_, log)| drop(log.store.findings()));
    }

    /// A log by its number.
    pub(crate) fn log(&self, number: usize) -> Result<&OpenLog, RequestError> {
        match self.logs.get(number) {
            Some(Member::Open(log)) => Ok(log),
            Some(Member::Closed { name, .. }) => {
                Err(RequestError::not_found("log-closed", format!("log {number} ({name}) was closed")))
            }
            None => {
                let help = match self.logs.len() {
                    0 => "no log is open".to_owned(),
                    1 => "the only open log is 0".to_owned(),
                    open => format!("open logs are 0 to {}", open - 1),
                };
                Err(RequestError::not_found("log-not-found", format!("no log {number}")).with_help(help))
            }
        }
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
        let ranges = self.open().filter_map(|(_, log)| {
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
