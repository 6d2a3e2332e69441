use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use logpose_core::{Batch, Link, Time, Transmit};

use super::ask::{Ask, Step};
use super::discovery::{Discovery, Known};
use super::event::Event;
use super::failure::Failure;
use super::fetch::Fetch;
use super::job::{Job, Refused, Task};
use super::live::Live;
use super::options::ClientOptions;
use super::timing::Trips;
use super::view::{ClientView, Phase, Progress, RecorderState};
use crate::vesc::{Deframer, MAX_PAYLOAD};
use crate::wire::Control;

/// How long to wait for the first reply ever.
const FIRST_TIMEOUT: Duration = Duration::from_millis(300);
/// Jobs that may wait.
const JOBS: usize = 64;
/// Events that may wait before no more samples are asked for.
const EVENTS: usize = 4096;
/// Texts of the board that wait for whoever asks.
const PRINTS: usize = 64;

/// The side that talks to a board: discovery, the recorder, the download of a recording, live values.
///
/// It asks one thing at a time, and several only for samples. It sends nothing that moves the board or changes how it
/// rides. Its times are those of the caller.
///
/// ```
/// use logpose_core::{Link, Session, Time};
/// use logpose_refloat::session::{Client, ClientOptions, Job};
///
/// let mut client = Client::new(ClientOptions::default());
/// client.command(Time::ZERO, Job::Identify).unwrap();
/// client.handle_open(Time::ZERO, Link(0));
/// assert_eq!(client.poll_transmit().unwrap().bytes[..], [2, 1, 0, 0, 0, 3]);
/// assert_eq!(client.poll_timeout(), Some(Time::from_millis(300)));
/// ```
pub struct Client {
    pub(super) options: ClientOptions,
    pub(super) now: Time,
    pub(super) link: Option<Link>,
    pub(super) deframer: Deframer,
    /// When bytes came last.
    pub(super) heard: Time,
    /// Frames that came since the search for the board began.
    pub(super) frames: u64,
    /// Frames that came since the beginning.
    pub(super) all_frames: u64,
    /// Bytes that were skipped before this link was opened.
    pub(super) skipped: u64,
    pub(super) known: Known,
    pub(super) discovery: Discovery,
    pub(super) jobs: VecDeque<Job>,
    pub(super) work: Option<Work>,
    pub(super) ask: Option<Ask>,
    /// Nothing is asked before.
    pub(super) pause: Option<Time>,
    pub(super) trips: Trips,
    pub(super) live: Option<Live>,
    pub(super) recorder: RecorderState,
    /// The latest tick, and when it came.
    pub(super) tick: Option<(u32, Time)>,
    pub(super) live_replies: u64,
    pub(super) progress: Option<Progress>,
    pub(super) requests: u64,
    pub(super) retries: u64,
    events: VecDeque<Event>,
    prints: usize,
    pub(super) transmit: VecDeque<Transmit>,
    /// What was found when a timer expired.
    pub(super) found: Batch,
}

/// A job under way.
pub(super) enum Work {
    Identify,
    Status,
    Control(Control),
    Fetch(Box<Fetch>),
    Live,
    Ids,
}

impl Work {
    pub(super) fn task(&self) -> Task {
        match self {
            Self::Identify => Task::Identify,
            Self::Status => Task::Status,
            Self::Control(control) => Task::Control(*control),
            Self::Fetch(_) => Task::Fetch,
            Self::Live => Task::Live,
            Self::Ids => Task::Ids,
        }
    }
}

/// What comes next.
pub(super) enum Next {
    /// This is asked for.
    Ask(Step),
    /// Something has changed; look again.
    Again,
    /// Nothing, for the time being.
    Wait,
}

impl Client {
    /// A client without a link.
    #[must_use]
    pub fn new(options: ClientOptions) -> Self {
        let trips = Trips::new(FIRST_TIMEOUT, options.least_timeout, options.timeout);
        let live = options.live.map(Live::new);
        Self {
            options,
            now: Time::MIN,
            link: None,
            deframer: Deframer::new(MAX_PAYLOAD),
            heard: Time::MIN,
            frames: 0,
            all_frames: 0,
            skipped: 0,
            known: Known::default(),
            discovery: Discovery::Firmware,
            jobs: VecDeque::new(),
            work: None,
            ask: None,
            pause: None,
            trips,
            live,
            recorder: RecorderState::default(),
            tick: None,
            live_replies: 0,
            progress: None,
            requests: 0,
            retries: 0,
            events: VecDeque::new(),
            prints: 0,
            transmit: VecDeque::new(),
            found: Batch::default(),
        }
    }

    /// Does a job, behind those that wait. Events report its result; without a link it waits for one.
    pub fn command(&mut self, now: Time, job: Job) -> Result<(), Refused> {
        self.reach(now);
        if let Job::Control(Control::Other { .. }) = job {
            return Err(Refused::NoSuchControl);
        }
        let fetches = |job: &Job| matches!(job, Job::Fetch(_));
        if fetches(&job) && (matches!(self.work, Some(Work::Fetch(_))) || self.jobs.iter().any(fetches)) {
            return Err(Refused::Fetching);
        }
        if self.jobs.len() >= JOBS {
            return Err(Refused::Busy(JOBS));
        }
        self.jobs.push_back(job);
        // A poll comes again, and a reply to this one is still welcome.
        self.ask.take_if(|ask| ask.step.is_poll());
        self.pump();
        Ok(())
    }

    /// Gives up the job under way and those that wait. A download first restores what it has changed, if there is a link.
    pub fn abort(&mut self, now: Time) {
        self.reach(now);
        let waiting: Vec<Task> = self.jobs.drain(..).map(|job| job.task()).collect();
        if self.work.is_some() {
            self.ask = None;
            self.pause = None;
            self.fail(Failure::Aborted);
        }
        for task in waiting {
            self.event(Event::Failed { task, failure: Failure::Aborted });
        }
        self.pump();
    }

    /// Polls no live values from here on.
    pub fn stop_live(&mut self, now: Time) {
        self.reach(now);
        self.live = None;
        self.ask.take_if(|ask| ask.step.is_poll());
        self.pump();
    }

    /// What happened since the last call; call until `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        let full = self.is_full();
        let event = self.events.pop_front()?;
        if full && !self.is_full() {
            self.pump();
        }
        self.prints -= usize::from(matches!(event, Event::Print(_)));
        Some(event)
    }

    /// Whether a job is under way or waits.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.work.is_some() || !self.jobs.is_empty()
    }

    /// How things are.
    #[must_use]
    pub fn view(&self) -> ClientView {
        let phase = match (&self.link, &self.work) {
            (None, _) => Phase::Closed,
            (Some(_), None) if self.live.is_none() => Phase::Idle,
            _ if !self.discovery.is_done() => Phase::Identifying,
            (Some(_), Some(work)) => Phase::Working(work.task()),
            (Some(_), None) => Phase::Live,
        };
        let fetch = match &self.work {
            Some(Work::Fetch(fetch)) => Some(fetch.progress(self.now)),
            _ => self.progress.clone(),
        };
        ClientView {
            phase,
            connected: self.link.is_some(),
            firmware: self.known.firmware.clone(),
            gateway: self.known.gateway.clone(),
            info: self.known.info.clone(),
            can: self.known.can,
            missing: self.known.missing(),
            recorder: self.recorder,
            live: self.live.as_ref().map(|live| live.latest.clone()).unwrap_or_default(),
            live_replies: self.live_replies,
            tick: self.tick.map(|(tick, _)| tick),
            fetch,
            round_trip: self.trips.median(),
            requests: self.requests,
            retries: self.retries,
            frames: self.all_frames,
            skipped: self.deframer.skipped(),
        }
    }

    /// Time goes on; it never goes back.
    pub(super) fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Whether events wait that somebody has to take before more samples are asked for.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= EVENTS
    }

    pub(super) fn event(&mut self, event: Event) {
        // Nobody seems to take them: progress events are not needed.
        if matches!(event, Event::Identified { .. } | Event::Interrupted) && self.is_full() {
            return;
        }
        if matches!(event, Event::Print(_)) {
            if self.prints >= PRINTS {
                return;
            }
            self.prints += 1;
        }
        self.events.push_back(event);
    }

    /// Asks for what comes next, as long as nothing is waited for.
    pub(super) fn pump(&mut self) {
        while self.link.is_some() && self.ask.is_none() && self.pause.is_none_or(|until| until <= self.now) {
            self.pause = None;
            match self.next() {
                Next::Ask(step) => {
                    self.ask = Some(Ask::new(step, self.now));
                    self.send_ask();
                }
                Next::Again => {}
                Next::Wait => break,
            }
        }
    }

    fn next(&mut self) -> Next {
        if self.work.is_none()
            && let Some(job) = self.jobs.pop_front()
        {
            self.begin(job);
            return Next::Again;
        }
        if self.work.is_none() && self.live.is_none() {
            return Next::Wait;
        }
        if !self.discovery.is_done() {
            return self.next_of_discovery();
        }
        match &self.work {
            None => self.next_of_live(),
            Some(Work::Identify | Work::Live) => {
                self.done();
                Next::Again
            }
            Some(Work::Status) => self.if_recorder(Step::Status),
            Some(Work::Control(control)) => {
                let control = *control;
                self.next_of_control(control)
            }
            Some(Work::Ids) => self.next_of_ids(),
            Some(Work::Fetch(_)) => self.next_of_fetch(),
        }
    }

    fn begin(&mut self, job: Job) {
        self.work = Some(match job {
            Job::Identify => Work::Identify,
            Job::Status => Work::Status,
            Job::Control(control) => Work::Control(control),
            Job::Ids => Work::Ids,
            Job::Live(options) => {
                match &mut self.live {
                    Some(live) => live.options = options,
                    None => self.live = Some(Live::new(options)),
                }
                Work::Live
            }
            Job::Fetch(options) => match Fetch::new(options, &self.options) {
                Ok(fetch) => Work::Fetch(Box::new(fetch)),
                Err(failure) => return self.event(Event::Failed { task: Task::Fetch, failure }),
            },
        });
        // Every request for the board's identity is answered, even if it is known already.
        if let (Some(Work::Identify), true) = (&self.work, self.discovery.is_done()) {
            let info = self.known.payload.clone();
            self.event(Event::Identified { info });
        }
    }

    /// A step that needs a recorder, or the failure of the job.
    pub(super) fn if_recorder(&mut self, step: Step) -> Next {
        match self.known.missing() {
            None => Next::Ask(step),
            Some(missing) => {
                self.fail(missing);
                Next::Again
            }
        }
    }

    /// The job under way is done.
    pub(super) fn done(&mut self) {
        if let Some(work) = self.work.take() {
            self.event(Event::Done(work.task()));
        }
    }

    /// The job under way has failed.
    pub(super) fn fail(&mut self, failure: Failure) {
        match self.work.take() {
            Some(Work::Fetch(fetch)) => self.fetch_failed(fetch, failure),
            Some(work) => self.event(Event::Failed { task: work.task(), failure }),
            None => {}
        }
    }

    /// Bytes of this link that belonged to no frame.
    pub(super) fn skipped_here(&self) -> u64 {
        self.deframer.skipped().saturating_sub(self.skipped)
    }

    pub(super) fn is_open(&self) -> bool {
        self.link.is_some()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("view", &self.view()).finish_non_exhaustive()
    }
}
