use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use logpose_core::{Batch, Link, Session, Sink, SinkError, Time, Transmit};

use super::ask::{Ask, PING_TIMEOUT, Step};
use super::discovery::{Discovery, Known};
use super::event::Event;
use super::failure::Failure;
use super::fetch::Fetch;
use super::job::{Job, Refused, Task};
use super::live::Live;
use super::options::ClientOptions;
use super::timing::{Trips, nanos};
use super::view::{ClientView, Phase, Progress, RecorderState};
use crate::vesc::{self, Deframer, FirmwareVersion, MAX_PAYLOAD, command};
use crate::wire::{Control, Reply, Request};

/// How long to wait for the first reply ever.
const FIRST_TIMEOUT: Duration = Duration::from_millis(300);
/// Jobs that may wait.
const JOBS: usize = 64;
/// Events that may wait before no more samples are asked for, and how soon it is looked again whether they still do.
const EVENTS: usize = 4096;
const FULL_FOR: i64 = 20_000_000;
/// Texts of the board that wait for whoever asks.
const PRINTS: usize = 64;
/// While bytes of a frame came this short a time ago, the rest of it may still come, in nanoseconds.
const STALLED: i64 = 30_000_000;
/// How often a board is told to restore what was changed when there is no time to wait for its answer.
const FAREWELLS: usize = 3;

/// The side that talks to a board: who is there, the recorder, the download of a recording, live values.
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
    link: Option<Link>,
    deframer: Deframer,
    /// When bytes came last.
    heard: Time,
    /// Frames that came since the search for the board began.
    pub(super) frames: u64,
    /// Bytes that were skipped before this link was opened.
    skipped: u64,
    pub(super) known: Known,
    pub(super) discovery: Discovery,
    jobs: VecDeque<Job>,
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
    transmit: VecDeque<Transmit>,
    /// What was found when a timer expired.
    found: Batch,
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

    /// Does a job, behind those that wait. What becomes of it is told by events; without a link it waits for one.
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
            skipped: self.deframer.skipped(),
        }
    }

    /// Time goes on; it never goes back.
    fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Whether events wait that somebody has to take before more samples are asked for.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= EVENTS
    }

    pub(super) fn event(&mut self, event: Event) {
        // Nobody seems to take them: what is only told by the way is not needed.
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
        // Who is there is told to whoever asks, even if it is known.
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

    /// Sends what is asked for, again if it was sent before.
    fn send_ask(&mut self) {
        let Some(ask) = &mut self.ask else { return };
        ask.tries += 1;
        ask.sent = self.now;
        let wait = if ask.step == Step::Ping { PING_TIMEOUT } else { self.trips.timeout() };
        ask.deadline = self.now.plus(wait);
        let (step, again) = (ask.step, ask.tries > 1);
        for payload in step.payloads(self.known.version.as_ref(), self.known.can) {
            self.send(&payload, again);
        }
    }

    fn send(&mut self, payload: &[u8], again: bool) {
        let Some(link) = self.link else { return };
        self.requests += 1;
        self.retries += u64::from(again);
        self.transmit.push_back(Transmit::one(link, vesc::framed(payload)));
    }

    /// Sends a request of the package.
    pub(super) fn send_request(&mut self, request: Request, again: bool) {
        let (mut payload, mut out) = (Vec::new(), Vec::new());
        vesc::put_app(&mut payload, |out| request.emit(out));
        vesc::forward(self.known.can, &payload, &mut out);
        self.send(&out, again);
    }

    /// Takes the request that waits if it is such a one: it is answered.
    pub(super) fn answered(&mut self, is: impl FnOnce(&Step) -> bool) -> Option<Ask> {
        let ask = self.ask.take_if(|ask| is(&ask.step))?;
        // Which of several requests was answered is not to be seen (RFC 6298, section 3).
        if ask.tries == 1 && ask.step != Step::Ping {
            self.trips.measured(self.now.since(ask.sent));
        }
        Some(ask)
    }

    /// Nobody has answered in time.
    fn overdue(&mut self) {
        let Some(ask) = &mut self.ask else { return };
        if ask.step != Step::Ping {
            self.trips.timed_out();
        }
        let hopeless = match &self.work {
            Some(Work::Fetch(fetch)) => fetch.has_failed(),
            _ => self.discovery.has_substitute(),
        };
        if !ask.is_exhausted(self.now, self.options.tries, nanos(self.options.patience), hopeless) {
            return self.send_ask();
        }
        let Some(ask) = self.ask.take() else { return };
        self.given_up(&ask);
    }

    fn given_up(&mut self, ask: &Ask) {
        match ask.step {
            Step::Firmware | Step::Info { .. } | Step::Ping => self.discovery_silent(ask),
            Step::Live { .. } | Step::Alerts { .. } => self.live_silent(),
            _ => {}
        }
        if !self.discovery.is_done() || ask.step.is_poll() {
            return;
        }
        let failure = match ask.step {
            Step::Control(control) if ask.contradicted => Failure::NotTaken { control, tries: ask.tries },
            step => Failure::Silent { what: step.to_string(), tries: ask.tries, after: ask.after(self.now) },
        };
        match &mut self.work {
            Some(Work::Fetch(fetch)) if fetch.forgives() => self.fetch_without(),
            Some(_) => self.fail(failure),
            None => self.live_silent(),
        }
    }

    /// Drops the beginning of a frame whose end never came, and takes what lies behind it.
    fn expire(&mut self) {
        if self.now.since(self.heard) < STALLED {
            return;
        }
        let mut found = std::mem::take(&mut self.found);
        found.received = self.now;
        while self.deframer.is_pending() {
            self.deframer.expire();
            // A batch takes everything.
            let _ = self.take_all(&mut found);
        }
        self.found = found;
    }

    fn take_all(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut result = Ok(());
        let mut payload = Vec::new();
        while let Some(next) = self.deframer.next_payload() {
            payload.clear();
            payload.extend_from_slice(next);
            let taken = self.take(&payload, sink);
            result = result.and(taken);
            self.pump();
        }
        result
    }

    fn take(&mut self, payload: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.frames += 1;
        match payload {
            [command::FW_VERSION, ..] => {
                if let Some(firmware) = FirmwareVersion::parse(payload)
                    && self.answered(|step| *step == Step::Firmware).is_some()
                {
                    self.firmware_is(Some(firmware));
                }
                Ok(())
            }
            [command::PING_CAN, nodes @ ..] => {
                if self.answered(|step| *step == Step::Ping).is_some() {
                    self.nodes_are(nodes);
                }
                Ok(())
            }
            [command::PRINT, text @ ..] => {
                self.event(Event::Print(String::from_utf8_lossy(text).trim_end().to_owned()));
                self.tell_print(text, sink)
            }
            [command::APP_DATA, app @ ..] => match Reply::parse(app) {
                Ok(reply) if self.take_reply(app, &reply) => self.tell(&reply, sink),
                Ok(_) => Ok(()),
                // Another package, or none.
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Does what follows from a reply. Returns whether it is something new of a board that is known.
    fn take_reply(&mut self, app: &[u8], reply: &Reply<'_>) -> bool {
        let known = self.discovery.is_done();
        match reply {
            Reply::Info(info) => {
                self.info_is(app, info);
                return false;
            }
            // What comes before it is known who is there may be of somebody else.
            _ if !known => {}
            Reply::Status(status) => self.status_is(app, status),
            Reply::Live(live) => return self.live_is(live),
            Reply::LiveMask(live) => return self.live_mask_is(live),
            Reply::Compact(_) => {
                self.live_replies += 1;
                self.answered(|step| matches!(step, Step::Live { .. }));
            }
            Reply::LiveIds(ids) => return self.ids_are(ids),
            Reply::Alerts(_) => {
                self.answered(|step| matches!(step, Step::Alerts { .. }));
            }
            Reply::Header(header) => self.header_is(app, header),
            Reply::Data(data) => self.data_are(data),
            Reply::Other(_) => {}
        }
        known
    }
}

impl Session for Client {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.reach(now);
        if self.link.is_some() {
            return;
        }
        self.link = Some(link);
        self.deframer.clear();
        self.skipped = self.deframer.skipped();
        self.frames = 0;
        self.heard = self.now;
        self.pump();
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.reach(now);
        if self.link != Some(link) {
            return Ok(());
        }
        self.heard = self.now;
        let told = self.poll_samples(sink);
        self.deframer.push(bytes);
        told.and(self.take_all(sink))
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.reach(now);
        if self.link != Some(link) {
            return;
        }
        self.link = None;
        self.deframer.clear();
        self.transmit.clear();
        self.ask = None;
        self.pause = None;
        self.search_again();
        if let Some(Work::Fetch(fetch)) = &mut self.work {
            fetch.interrupted();
        }
        if self.work.is_some() {
            self.event(Event::Interrupted);
        }
        if let Some(live) = &mut self.live {
            live.interrupted();
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.reach(now);
        let overdue = |client: &Self| client.ask.as_ref().is_some_and(|ask| ask.deadline <= client.now);
        let late = |client: &Self| match &client.work {
            Some(Work::Fetch(fetch)) => fetch.deadline().is_some_and(|deadline| deadline <= client.now),
            _ => false,
        };
        if overdue(self) || late(self) {
            // The reply may lie behind noise that looked like the beginning of a frame.
            self.expire();
        }
        if overdue(self) {
            self.overdue();
        }
        if late(self) {
            self.flights_overdue();
        }
        self.pump();
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.link?;
        let fetch = match &self.work {
            Some(Work::Fetch(fetch)) => fetch.deadline(),
            _ => None,
        };
        let live = match (&self.live, &self.work, &self.ask, self.pause) {
            (Some(live), None, None, None) if self.discovery.is_done() => live.due(),
            _ => None,
        };
        // Whoever takes the events need not tell.
        let full = (self.is_full() && self.work.is_some()).then(|| self.now.plus(FULL_FOR));
        [self.ask.as_ref().map(|ask| ask.deadline), self.pause, fetch, live, full].into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        None
    }

    fn handle_end(&mut self, now: Time) {
        self.reach(now);
        let owed = matches!(&self.work, Some(Work::Fetch(fetch)) if fetch.is_owed());
        if owed && self.link.is_some() {
            for _ in 0..FAREWELLS {
                self.send_request(Request::Control(Control::Autostart(true)), false);
            }
        }
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if let Some(live) = &mut self.live {
            live.notes.drain(..).for_each(|note| sink.problem(note));
        }
        if self.found.is_empty() { Ok(()) } else { std::mem::take(&mut self.found).play(sink) }
    }

    fn clock_offset(&self) -> Option<i64> {
        self.live.as_ref()?.clock_offset()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("view", &self.view()).finish_non_exhaustive()
    }
}
