//! A client, given anything at any time, with a board behind it that sometimes answers.

use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::{Batch, Link, Session, Time, To};

use crate::board::{Board, BoardOptions, BoardVersion, Recorded};
use logpose_refloat::session::{Client, ClientOptions, Event, FetchOptions, Job, LiveOptions, PartialRecording};
use logpose_refloat::vesc::{Deframer, LARGEST, command, forwarded, framed};
use logpose_refloat::wire::{Control, Header, PACKAGE, Request};

const MS: i64 = 1_000_000;
/// Replies of the board that wait for their turn.
const WAITING: usize = 64;

/// The data say what is commanded, what becomes of requests, what else comes, and when. Nothing makes the client panic,
/// hang, grow or send what it must not; and what it calls complete is what the board has, unless somebody else has
/// spoken in its place.
pub fn session(data: &[u8]) {
    let [kind, size, steps @ ..] = data else { return };
    let mut fuzz = Fuzz::new(*kind, u32::from(*size));
    let mut rest = steps;
    while let [what, wait, after @ ..] = rest {
        rest = fuzz.step(*what, *wait, after);
        fuzz.check();
    }
    fuzz.end();
}

struct Fuzz {
    client: Client,
    board: Board,
    recorded: Recorded,
    now: Time,
    link: Option<Link>,
    links: u32,
    sink: Batch,
    /// Payloads of the client that nobody has looked at.
    requests: VecDeque<Vec<u8>>,
    replies: VecDeque<Vec<u8>>,
    /// Only the board has spoken.
    honest: bool,
    held: Vec<(u32, Vec<u8>)>,
    header: bool,
}

impl Fuzz {
    fn new(kind: u8, size: u32) -> Self {
        let version = match kind & 3 {
            0 => BoardVersion::V1_0,
            1 => BoardVersion::V1_1,
            2 => BoardVersion::V1_2,
            _ => BoardVersion::V1_3,
        };
        let mut recorded = Recorded::default();
        Header::put(size, ["erpm", "pitch"], &mut recorded.header);
        recorded.samples =
            (0..size).flat_map(|i| [&(i * 7).to_be_bytes()[..], &[13, 0x7c, 0, 1, 2]].concat()).collect();
        let can = (kind & 4 != 0).then_some(7);
        let board = Board::new(BoardOptions {
            version,
            can,
            recorder: kind & 0xc0 != 0xc0,
            recording: Some(recorded.clone()),
            ..BoardOptions::default()
        });
        let client = Client::new(ClientOptions {
            can: can.filter(|_| kind & 8 != 0),
            window: (kind & 16 != 0).then_some(3),
            live: (kind & 32 != 0).then(LiveOptions::default),
            ..ClientOptions::default()
        });
        Self {
            client,
            board,
            recorded,
            now: Time::ZERO,
            link: None,
            links: 0,
            sink: Batch::default(),
            requests: VecDeque::new(),
            replies: VecDeque::new(),
            honest: true,
            held: Vec::new(),
            header: false,
        }
    }

    fn step<'d>(&mut self, what: u8, wait: u8, after: &'d [u8]) -> &'d [u8] {
        // Clocks are sometimes set back.
        self.now = self.now.plus(i64::from(wait) * 5 * MS - i64::from(what >> 7) * 300 * MS);
        let taking = usize::from(what >> 4 & 7) * 9;
        match what & 15 {
            0 => self.close(),
            1 | 2 => self.open(),
            3 => self.command(wait),
            // What comes from nowhere, as it is, in frames, and as a message of the package.
            4..7 => {
                let (bytes, rest) = after.split_at_checked(taking).unwrap_or((after, &[]));
                self.honest = false;
                match what & 15 {
                    4 => self.input(bytes),
                    5 => self.input(&framed(bytes)),
                    _ => self.input(&framed(&[&[command::APP_DATA, PACKAGE], bytes].concat())),
                }
                return rest;
            }
            7 => self.client.handle_timeout(self.now),
            // Time goes on to what the client waits for.
            8 | 9 => {
                if let Some(due) = self.client.poll_timeout() {
                    self.now = self.now.max(due);
                    self.client.handle_timeout(self.now);
                }
            }
            // A request is lost, a reply is lost, a reply comes twice, in pieces.
            10 => drop(self.requests.pop_front()),
            11 => drop(self.replies.pop_front()),
            12 => {
                if let Some(reply) = self.replies.front().cloned() {
                    self.input(&reply);
                }
            }
            13 => {
                if let Some(reply) = self.replies.pop_front() {
                    reply.chunks(taking.max(1)).for_each(|piece| self.input(piece));
                }
            }
            // All is well for a while.
            _ => (0..=taking).for_each(|_| self.exchange()),
        }
        after
    }

    fn open(&mut self) {
        if self.link.is_none() {
            self.links += 1;
            self.link = Some(Link(self.links));
        }
        self.client.handle_open(self.now, Link(self.links));
    }

    fn close(&mut self) {
        self.requests.clear();
        self.replies.clear();
        if let Some(link) = self.link.take() {
            self.client.handle_close(self.now, link);
        }
    }

    fn input(&mut self, bytes: &[u8]) {
        if let Some(link) = self.link {
            assert!(self.client.handle_input(self.now, link, bytes, &mut self.sink).is_ok());
        }
    }

    fn exchange(&mut self) {
        self.transmits();
        if let Some(request) = self.requests.pop_front() {
            let mut replies = Vec::new();
            self.board.handle(self.now, &request, &mut replies);
            self.replies.extend(replies.iter().map(|reply| framed(reply)));
            self.replies.truncate(WAITING);
        }
        if let Some(reply) = self.replies.pop_front() {
            self.input(&reply);
        }
    }

    fn command(&mut self, byte: u8) {
        let job = match byte & 15 {
            0 => Job::Identify,
            1 => Job::Status,
            2 => Job::Ids,
            3 => Job::Live(LiveOptions { period: Duration::from_millis(u64::from(byte)) }),
            4 => Job::Control(Control::Autostart(byte & 16 != 0)),
            5 => Job::Control(Control::Autostop(byte & 16 != 0)),
            6 => Job::Control(Control::Decimation(byte)),
            7 => Job::Control(Control::Other { sub: byte, value: 1 }),
            8 => return self.client.abort(self.now),
            9 => return self.client.stop_live(self.now),
            10 => return self.client.handle_end(self.now),
            _ => {
                let held = PartialRecording { header: self.recorded.header.clone(), samples: self.held.clone() };
                let (may_stop, protect) = (byte & 16 != 0, byte & 32 != 0);
                let held = (byte & 64 != 0 && self.header && self.honest).then_some(held);
                let fresh = held.is_none();
                let taken = self.client.command(self.now, Job::Fetch(FetchOptions { may_stop, protect, held }));
                if taken.is_ok() && fresh {
                    self.held.clear();
                }
                return;
            }
        };
        let _ = self.client.command(self.now, job);
    }

    fn transmits(&mut self) {
        while let Some(transmit) = self.client.poll_transmit() {
            assert!(matches!(transmit.to, To::One(link) if Some(link) == self.link), "only where somebody listens");
            self.requests.extend(permitted(&transmit.bytes));
        }
        self.requests.truncate(WAITING);
    }

    fn check(&mut self) {
        if self.client.poll_timeout().is_some_and(|due| due <= self.now) {
            self.client.handle_timeout(self.now);
            assert!(self.client.poll_timeout().is_none_or(|due| due > self.now), "it does not wait");
        }
        assert!(self.client.poll_samples(&mut self.sink).is_ok());
        self.sink = Batch::default();
        self.transmits();
        while let Some(event) = self.client.poll_event() {
            assert!(!event.to_string().contains('\n'));
            match event {
                Event::Header { .. } => self.header = true,
                Event::Samples { index, bytes } => self.held.push((index, bytes)),
                Event::Complete { samples } if self.honest => self.complete(samples),
                _ => {}
            }
        }
        let view = self.client.view();
        assert!(view.live.len() <= 4096 + 64 && view.connected == self.link.is_some());
    }

    /// All samples are there, each once, and they are those of the board.
    fn complete(&self, samples: u32) {
        let mut held = self.held.clone();
        held.sort_unstable_by_key(|(index, _)| *index);
        let bytes: Vec<u8> = held.into_iter().flat_map(|(_, bytes)| bytes).collect();
        assert_eq!(bytes, self.recorded.samples);
        assert_eq!(samples as usize, self.recorded.len());
    }

    /// With nobody there every job has an end.
    fn end(mut self) {
        self.client.stop_live(self.now);
        if self.link.is_none() {
            self.open();
        }
        for _ in 0..20_000 {
            if !self.client.is_busy() {
                return;
            }
            self.check();
            self.requests.clear();
            if let Some(due) = self.client.poll_timeout() {
                self.now = self.now.max(due);
                self.client.handle_timeout(self.now);
            }
        }
        panic!("no end: {:?}", self.client);
    }
}

/// The payloads in what a client sent; all of them are requests that change nothing but the recorder.
fn permitted(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut deframer = Deframer::new(LARGEST);
    deframer.push(bytes);
    let mut payloads = Vec::new();
    while let Some(payload) = deframer.next_payload() {
        let inner = forwarded(payload).map_or(payload, |(_, inner)| inner);
        let good = match inner {
            [command::FW_VERSION] => true,
            [command::PING_CAN] => inner.len() == payload.len(),
            [command::APP_DATA, app @ ..] => match Request::parse(app) {
                Ok(Request::ClearFatal | Request::Control(Control::Other { .. })) | Err(_) => false,
                Ok(_) => true,
            },
            _ => false,
        };
        assert!(good, "this must not be sent: {payload:02x?}");
        payloads.push(payload.to_vec());
    }
    assert!(!deframer.is_pending() && deframer.skipped() == 0);
    payloads
}
