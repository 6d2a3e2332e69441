//! A client and an emulated board in simulated time.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::Duration;

use logpose_core::{Batch, Link, Session, Time, To};
use logpose_refloat::session::{Client, ClientOptions, Event, Failure, FetchOptions, Job, Task};
use logpose_refloat::vesc::{Deframer, LARGEST, command, forwarded};
use logpose_refloat::wire::{Control, PACKAGE, Request};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, LineOptions, Recorded, Scenario, simulate};

pub(crate) const MS: i64 = 1_000_000;
/// 2026-01-01 00:00:00 UTC.
pub(crate) const START: Time = Time::from_nanos(1_767_225_600_000_000_000);
/// How long after a link was closed the next one is opened.
const REOPEN: i64 = 50 * MS;

/// The two sides and what is on its way between them.
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) client: Client,
    pub(crate) board: BoardSession,
    pub(crate) sink: Batch,
    pub(crate) events: Vec<(i64, Event)>,
    /// Payloads that the client has sent.
    pub(crate) sent: Vec<(i64, Vec<u8>)>,
    /// Bytes of the board are delayed by up to so much each, so that they overtake each other.
    pub(crate) reorder: i64,
    /// The link is opened again when it was closed.
    pub(crate) reopens: bool,
    pub(crate) link: Option<Link>,
    links: u32,
    open_at: Option<Time>,
    flying: BTreeMap<(Time, u64), (Link, Vec<u8>)>,
    order: u64,
    random: u64,
}

impl World {
    pub(crate) fn new(client: ClientOptions, board: BoardOptions, line: LineOptions) -> Self {
        Self::with(Client::new(client), BoardSession::new(board, line))
    }

    pub(crate) fn with(client: Client, board: BoardSession) -> Self {
        Self {
            now: START,
            client,
            board,
            sink: Batch::default(),
            events: Vec::new(),
            sent: Vec::new(),
            reorder: 0,
            reopens: true,
            link: None,
            links: 0,
            open_at: Some(START),
            flying: BTreeMap::new(),
            order: 0,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }

    pub(crate) fn at_ms(&self) -> i64 {
        self.now.since(START) / MS
    }

    pub(crate) fn command(&mut self, job: Job) {
        self.client.command(self.now, job).unwrap();
        self.settle();
    }

    /// Until so many milliseconds later.
    pub(crate) fn run_for(&mut self, ms: i64) {
        let end = self.now.plus(ms * MS);
        while self.step(end) {}
        self.now = end;
    }

    /// Does a job; returns what happened, up to its end. Fails if it has none within an hour.
    pub(crate) fn run(&mut self, job: Job) -> Vec<Event> {
        let task = job.task();
        let first = self.events.len();
        self.command(job);
        let end = self.now.plus(3_600_000 * MS);
        let ended = |event: &(i64, Event)| match &event.1 {
            Event::Done(done) => *done == task,
            Event::Failed { task: failed, .. } => *failed == task,
            _ => false,
        };
        loop {
            if let Some(last) = self.events[first..].iter().position(ended) {
                return self.events[first..=first + last].iter().map(|(_, event)| event.clone()).collect();
            }
            assert!(self.step(end), "{task} has no end: {:?}", self.client.view());
        }
    }

    /// Does a job that fails.
    pub(crate) fn fail(&mut self, job: Job) -> Failure {
        match self.run(job).pop() {
            Some(Event::Failed { failure, .. }) => failure,
            other => panic!("{other:?}"),
        }
    }

    /// The next thing that happens before `end`.
    pub(crate) fn step(&mut self, end: Time) -> bool {
        let flying = self.flying.first_key_value().map(|((at, _), _)| *at);
        let board = self.link.and(self.board.poll_timeout());
        let next = [self.client.poll_timeout(), board, flying, self.open_at];
        let Some(next) = next.into_iter().flatten().min().filter(|next| *next <= end) else { return false };
        self.now = self.now.max(next);
        if self.open_at.take_if(|at| *at <= self.now).is_some() {
            self.open();
        }
        while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= self.now) {
            let (link, bytes) = first.remove();
            self.client.handle_input(self.now, link, &bytes, &mut self.sink).unwrap();
            self.settle();
        }
        self.board.handle_timeout(self.now);
        self.settle();
        self.client.handle_timeout(self.now);
        self.client.poll_samples(&mut self.sink).unwrap();
        assert!(self.client.poll_timeout().is_none_or(|due| due > self.now), "it does not wait");
        self.settle();
        true
    }

    pub(crate) fn open(&mut self) {
        self.links += 1;
        let link = Link(self.links);
        self.link = Some(link);
        self.open_at = None;
        self.board.handle_open(self.now, link);
        self.client.handle_open(self.now, link);
        self.settle();
    }

    pub(crate) fn close(&mut self) {
        let Some(link) = self.link.take() else { return };
        self.flying.clear();
        self.board.handle_close(self.now, link);
        self.client.handle_close(self.now, link);
        self.open_at = self.reopens.then(|| self.now.plus(REOPEN));
        self.settle();
    }

    /// Carries what either side has to send, until nothing moves at this moment.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut moved = false;
            while let Some(transmit) = self.client.poll_transmit() {
                moved = true;
                let To::One(link) = transmit.to else { panic!("not to all") };
                self.sent.extend(permitted(&transmit.bytes).into_iter().map(|p| (self.now.since(START) / MS, p)));
                if self.link == Some(link) {
                    self.board.handle_input(self.now, link, &transmit.bytes, &mut Batch::default()).unwrap();
                }
            }
            while let Some(transmit) = self.board.poll_transmit() {
                moved = true;
                let To::One(link) = transmit.to else { panic!("not to all") };
                if self.reorder == 0 {
                    self.client.handle_input(self.now, link, &transmit.bytes, &mut self.sink).unwrap();
                    continue;
                }
                let late = self.below(self.reorder);
                self.order += 1;
                self.flying.insert((self.now.plus(late), self.order), (link, transmit.bytes.to_vec()));
            }
            while let Some(link) = self.board.poll_close() {
                moved = true;
                if self.link == Some(link) {
                    self.close();
                }
            }
            while let Some(event) = self.client.poll_event() {
                self.events.push((self.at_ms(), event));
            }
            if !moved {
                return;
            }
        }
    }

    pub(crate) fn below(&mut self, n: i64) -> i64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 1).cast_signed() % n
    }
}

/// The payloads in what a client sent. It panics if one is not among those that a telemetry tool needs: nothing else may
/// be sent to a board that somebody may stand on.
pub(crate) fn permitted(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut deframer = Deframer::new(LARGEST);
    deframer.push(bytes);
    let mut payloads = Vec::new();
    while let Some(payload) = deframer.next_payload() {
        payloads.push(payload.to_vec());
    }
    assert!(!deframer.is_pending() && deframer.skipped() == 0, "{bytes:02x?}");
    for payload in &payloads {
        let inner = forwarded(payload).map_or(&payload[..], |(_, inner)| inner);
        let good = match inner {
            [command::FW_VERSION] => true,
            [command::PING_CAN] => inner == &payload[..],
            [command::APP_DATA, app @ ..] => {
                app[0] == PACKAGE
                    && matches!(
                        Request::parse(app),
                        Ok(Request::Info { .. }
                            | Request::Compact { mode: 4 }
                            | Request::Live
                            | Request::LiveIds
                            | Request::LiveMask { .. }
                            | Request::Alerts { .. }
                            | Request::Header
                            | Request::Data { .. }
                            | Request::Control(
                                Control::Status
                                    | Control::Record(_)
                                    | Control::Autostart(_)
                                    | Control::Autostop(_)
                                    | Control::Decimation(_)
                            ))
                    )
            }
            _ => false,
        };
        assert!(good, "this must not be sent: {payload:02x?}");
        let mut again = Vec::new();
        if let [command::APP_DATA, app @ ..] = inner {
            Request::parse(app).unwrap().emit(&mut again);
            assert_eq!(again, app, "in its one form");
        }
    }
    payloads
}

/// How a download is tried: permitted to stop, protected.
pub(crate) fn fetch() -> FetchOptions {
    FetchOptions { may_stop: true, protect: true, held: None }
}

/// The samples of events, which must fit together without overlapping.
pub(crate) fn samples(events: &[Event], sample_len: usize) -> Vec<u8> {
    let mut pieces: Vec<(u32, &[u8])> = events
        .iter()
        .filter_map(|event| match event {
            Event::Samples { index, bytes } => Some((*index, &bytes[..])),
            _ => None,
        })
        .collect();
    pieces.sort_unstable_by_key(|(index, _)| *index);
    let mut all = Vec::new();
    for (index, bytes) in pieces {
        assert_eq!(all.len(), index as usize * sample_len, "each sample once");
        all.extend_from_slice(bytes);
    }
    all
}

/// Whether these events are those of a download of exactly this recording.
pub(crate) fn is_download_of(events: &[Event], recorded: &Recorded) {
    let done = matches!(events.last(), Some(Event::Done(Task::Fetch)));
    assert!(done, "{:?}", events.iter().rfind(|event| !matches!(event, Event::Samples { .. })));
    let headers: Vec<&Vec<u8>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Header { payload } => Some(payload),
            _ => None,
        })
        .collect();
    assert_eq!(headers, [&recorded.header]);
    assert!(samples(events, recorded.sample_len()) == recorded.samples, "the board's samples byte for byte");
    let complete = Event::Complete { samples: recorded.len() as u32 };
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Complete { .. })).collect::<Vec<_>>(), [&complete]);
}

/// A board that serves the first `size` samples of a ride.
pub(crate) fn serving(version: BoardVersion, size: usize) -> BoardOptions {
    let recorded = recorded(version, size);
    BoardOptions { version, recording: Some(recorded), ..BoardOptions::default() }
}

/// The first `size` samples of a ride.
pub(crate) fn recorded(version: BoardVersion, size: usize) -> Recorded {
    static RIDES: LazyLock<[Recorded; 3]> = LazyLock::new(|| VERSIONS.map(|v| simulate(Scenario::Nosedive, v, 7)));
    let which = VERSIONS.iter().position(|known| *known == version).unwrap();
    let mut recorded = RIDES[which].clone();
    assert!(recorded.len() >= size, "{} of {size}", recorded.len());
    recorded.samples.truncate(size * recorded.sample_len());
    recorded.header[2..6].copy_from_slice(&(size as u32).to_be_bytes());
    recorded
}

/// A client that does not give up soon.
pub(crate) fn patient() -> ClientOptions {
    ClientOptions { patience: Duration::from_secs(60), ..ClientOptions::default() }
}

pub(crate) const VERSIONS: [BoardVersion; 3] = [BoardVersion::V1_1, BoardVersion::V1_2, BoardVersion::V1_3];
