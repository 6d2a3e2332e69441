use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};

use super::line::{Line, LineOptions, LineTally};
use super::machine::{Board, BoardOptions, BoardView};
use logpose_refloat::vesc::{Deframer, MAX_PAYLOAD, command, pinged};
use logpose_refloat::wire::{PACKAGE, Print};

/// How often the board lives on while nobody asks.
const PULSE: i64 = 250_000_000;
/// How long the beginning of a frame waits for its end.
const PATIENCE: i64 = 1_000_000_000;
/// Bytes of requests under way at most.
const ROOM: usize = 1 << 16;

/// An emulated board at the end of a line: frames in and out, with the configured faults of the line.
///
/// One client at a time, as VESC Tool has it: another link is closed at once. Where links mean nothing, as with
/// datagrams, whoever drives it gives all of them the same number.
pub struct BoardSession {
    board: Board,
    line: Line,
    ping: Duration,
    deframer: Deframer,
    link: Option<Link>,
    now: Option<Time>,
    /// Requests on a slow line, and when they have arrived.
    incoming: VecDeque<(Time, Vec<u8>)>,
    incoming_len: usize,
    free: Time,
    heard: Time,
    pulse: Time,
    close: VecDeque<Link>,
    replies: Vec<Vec<u8>>,
}

impl BoardSession {
    /// A board and its line. Time begins with the first call.
    #[must_use]
    pub fn new(board: BoardOptions, line: LineOptions) -> Self {
        Self {
            ping: board.ping,
            board: Board::new(board),
            line: Line::new(line),
            deframer: Deframer::new(MAX_PAYLOAD),
            link: None,
            now: None,
            incoming: VecDeque::new(),
            incoming_len: 0,
            free: Time::MIN,
            heard: Time::MIN,
            pulse: Time::MAX,
            close: VecDeque::new(),
            replies: Vec::new(),
        }
    }

    /// The board itself.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The board itself, to set faults.
    pub fn board_mut(&mut self) -> &mut Board {
        &mut self.board
    }

    /// How the board is at a moment. It lives on also while nobody is connected.
    pub fn view(&mut self, now: Time) -> BoardView {
        self.board.advance(now);
        self.board.view()
    }

    /// What the line did so far.
    #[must_use]
    pub fn tally(&self) -> LineTally {
        self.line.tally()
    }

    /// Whether a client is connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.link.is_some()
    }

    fn tick(&mut self, now: Time) {
        let now = self.now.map_or(now, |before| before.max(now));
        self.now = Some(now);
        self.board.advance(now);
        self.pulse = now.plus(PULSE);
    }

    fn connect(&mut self, link: Link) {
        self.link = Some(link);
        self.line.open();
        self.deframer.clear();
        self.incoming.clear();
        self.incoming_len = 0;
        self.free = Time::MIN;
    }

    fn receive(&mut self, now: Time, bytes: &[u8]) {
        self.heard = now;
        self.deframer.push(bytes);
        self.answer(now);
    }

    fn answer(&mut self, now: Time) {
        while let Some(payload) = self.deframer.next_payload() {
            if self.line.loses() {
                continue;
            }
            self.board.handle(now, payload, &mut self.replies);
            for reply in self.replies.drain(..) {
                let after = if pinged(&reply).is_some() { self.ping } else { Duration::ZERO };
                match self.line.foreign() {
                    Some((true, what)) => {
                        self.line.send(now, &foreign(&mut self.board, what), Duration::ZERO);
                        self.line.send(now, &reply, after);
                    }
                    Some((false, what)) => {
                        self.line.send(now, &reply, after);
                        self.line.send(now, &foreign(&mut self.board, what), Duration::ZERO);
                    }
                    None => self.line.send(now, &reply, after),
                }
            }
        }
    }
}

impl Session for BoardSession {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.tick(now);
        match self.link {
            Some(_) => self.close.push_back(link),
            None => self.connect(link),
        }
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], _: &mut dyn Sink) -> Result<(), SinkError> {
        self.tick(now);
        if self.link != Some(link) || self.line.is_closed() {
            return Ok(());
        }
        let takes = self.line.takes(bytes.len());
        if takes == 0 {
            self.receive(now, bytes);
        } else if self.incoming_len + bytes.len() <= ROOM {
            self.free = self.free.max(now).plus(takes);
            self.incoming.push_back((self.free, bytes.to_vec()));
            self.incoming_len += bytes.len();
        }
        Ok(())
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.tick(now);
        if self.link == Some(link) {
            self.link = None;
            self.line.open();
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.tick(now);
        while let Some((at, bytes)) = self.incoming.pop_front_if(|(at, _)| *at <= now) {
            self.incoming_len -= bytes.len();
            self.receive(at, &bytes);
        }
        // What looked like the beginning of a frame was none: a client that repeats its request is heard again.
        if self.deframer.is_pending() && now.since(self.heard) >= PATIENCE {
            while self.deframer.is_pending() {
                self.deframer.expire();
                self.answer(now);
            }
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.now?;
        let arrives = self.incoming.front().map(|(at, _)| *at);
        let expires = self.deframer.is_pending().then(|| self.heard.plus(PATIENCE));
        [self.line.due(), arrives, expires, Some(self.pulse)].into_iter().flatten().min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        let link = self.link?;
        let bytes = self.line.take(self.now?)?;
        if self.line.is_closed() {
            self.close.push_back(link);
            self.link = None;
        }
        Some(Transmit::one(link, bytes))
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }
}

/// Something that nobody asked for: what the page of VESC Tool polls, what packages print, what others download.
fn foreign(board: &mut Board, what: u64) -> Vec<u8> {
    let [kind, low, high, ..] = what.to_le_bytes();
    let asked: &[u8] = match kind % 7 {
        0 => &[command::APP_DATA, PACKAGE, 31],
        1 => &[command::APP_DATA, PACKAGE, 10, 2],
        2 => &[command::APP_DATA, PACKAGE, 41, 2, 2, 0, 0, high & 7, low],
        3 => &[command::APP_DATA, PACKAGE, 35],
        4 => return [command::PRINT].into_iter().chain(text("Battery at 71 %.")).collect(),
        // Another package, and the controller's own values.
        5 => return vec![command::APP_DATA, 100, 43, 0, 0, 0, 0, low],
        _ => return [4].into_iter().chain(std::iter::repeat_n(low, 72)).collect(),
    };
    let mut replies = Vec::new();
    board.controller(asked, &mut replies);
    replies.pop().unwrap_or_else(|| vec![command::APP_DATA, PACKAGE, 20, low])
}

fn text(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    Print { uptime_us: Some(1_234_500), text: text.as_bytes() }.emit(&mut out);
    out
}
