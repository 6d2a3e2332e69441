use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::Time;

use super::random::Random;
use logpose_refloat::vesc::{MAX_PAYLOAD, framed};

/// Bytes that wait at most: what comes on top is lost, as in the queues of a real radio.
const ROOM: usize = 1 << 18;

/// What is wrong with the line between a board and its client. Probabilities are for each frame of the board.
#[derive(Clone, Debug, PartialEq)]
pub struct LineOptions {
    /// That it is lost.
    pub drop: f64,
    /// That one byte of it is another: of the start, the length, the payload, the sum or the end.
    pub corrupt: f64,
    /// That it comes twice.
    pub duplicate: f64,
    /// That its end is missing.
    pub truncate: f64,
    /// That noise, or what looks like the beginning of a frame, comes before it.
    pub noise: f64,
    /// That something nobody asked for comes before or behind it.
    pub foreign: f64,
    /// The probability that a request is lost.
    pub lose: f64,
    /// How late everything is.
    pub delay: Duration,
    /// How much later than that it may be. Nothing overtakes anything.
    pub jitter: Duration,
    /// Frames come in pieces of so many bytes.
    pub split: Option<usize>,
    /// Bits a second, both ways; a byte has ten of them.
    pub baud: Option<u32>,
    /// Each connection is closed after so many bytes of the board.
    pub close_after: Option<u64>,
    /// The same number, the same trouble.
    pub seed: u64,
}

/// A line without trouble.
impl Default for LineOptions {
    fn default() -> Self {
        Self {
            drop: 0.0,
            corrupt: 0.0,
            duplicate: 0.0,
            truncate: 0.0,
            noise: 0.0,
            foreign: 0.0,
            lose: 0.0,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            split: None,
            baud: None,
            close_after: None,
            seed: 1,
        }
    }
}

/// What a line did so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LineTally {
    /// Frames that were to be sent, those nobody asked for included.
    pub frames: u64,
    /// Of those, lost.
    pub dropped: u64,
    /// With a byte changed: in the start, the length, the payload, the sum, the end.
    pub corrupted: [u64; 5],
    /// Sent twice.
    pub duplicated: u64,
    /// Cut.
    pub truncated: u64,
    /// With noise before them.
    pub noisy: u64,
    /// Frames nobody asked for.
    pub foreign: u64,
    /// Requests lost.
    pub lost: u64,
    /// Frames for which there was no room.
    pub overflowed: u64,
    /// Connections closed.
    pub closed: u64,
    /// Bytes that left the line.
    pub bytes: u64,
}

/// The way from a board to its client, with the configured faults. Sans-IO: what is sent comes out later.
#[derive(Clone, Debug)]
pub struct Line {
    options: LineOptions,
    random: Random,
    pieces: VecDeque<Piece>,
    waiting: usize,
    /// When the last frame is through.
    free: Time,
    /// Bytes of this connection, until it is closed.
    sent: u64,
    is_closed: bool,
    tally: LineTally,
}

#[derive(Clone, Debug)]
struct Piece {
    due: Time,
    bytes: Vec<u8>,
}

impl Line {
    /// A line on which nothing is under way.
    #[must_use]
    pub fn new(options: LineOptions) -> Self {
        let random = Random::new(options.seed);
        Self {
            options,
            random,
            pieces: VecDeque::new(),
            waiting: 0,
            free: Time::MIN,
            sent: 0,
            is_closed: false,
            tally: LineTally::default(),
        }
    }

    /// Another connection: what was under way is gone.
    pub fn open(&mut self) {
        self.pieces.clear();
        (self.waiting, self.sent, self.is_closed, self.free) = (0, 0, false, Time::MIN);
    }

    /// Sends a payload, `after` so much more time than the line itself takes.
    pub fn send(&mut self, now: Time, payload: &[u8], after: Duration) {
        if payload.is_empty() || payload.len() > MAX_PAYLOAD || self.is_closed {
            return;
        }
        self.tally.frames += 1;
        if self.random.chance(self.options.drop) {
            self.tally.dropped += 1;
            return;
        }
        let mut frame = framed(payload);
        if self.random.chance(self.options.corrupt) {
            self.corrupt(&mut frame, payload.len());
        }
        if self.random.chance(self.options.truncate) {
            let length = 1 + self.random.below(frame.len() - 1);
            frame.truncate(length);
            self.tally.truncated += 1;
        }
        if self.random.chance(self.options.noise) {
            let noise = self.noise();
            frame.splice(0..0, noise);
            self.tally.noisy += 1;
        }
        if self.random.chance(self.options.duplicate) {
            self.put(now, after, frame.clone());
            self.tally.duplicated += 1;
        }
        self.put(now, after, frame);
    }

    /// Whether a request is lost now.
    pub fn loses(&mut self) -> bool {
        let lost = self.random.chance(self.options.lose);
        self.tally.lost += u64::from(lost);
        lost
    }

    /// When the next bytes come out.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.pieces.front().map(|piece| piece.due)
    }

    /// Bytes that have come out by `now`; call until `None`.
    pub fn take(&mut self, now: Time) -> Option<Vec<u8>> {
        let mut piece = self.pieces.pop_front_if(|piece| piece.due <= now)?;
        self.waiting -= piece.bytes.len();
        if let Some(limit) = self.options.close_after {
            let left = usize::try_from(limit.saturating_sub(self.sent)).unwrap_or(usize::MAX);
            if piece.bytes.len() >= left {
                piece.bytes.truncate(left);
                self.pieces.clear();
                self.waiting = 0;
                self.is_closed = true;
                self.tally.closed += 1;
            }
        }
        self.sent += piece.bytes.len() as u64;
        self.tally.bytes += piece.bytes.len() as u64;
        Some(piece.bytes)
    }

    /// Whether the connection is to be closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// What it did so far.
    #[must_use]
    pub fn tally(&self) -> LineTally {
        self.tally
    }

    /// What nobody asked for is to come now, and whether it comes before the reply.
    pub(super) fn foreign(&mut self) -> Option<(bool, u64)> {
        if !self.random.chance(self.options.foreign) {
            return None;
        }
        self.tally.foreign += 1;
        Some((self.random.chance(0.5), self.random.next()))
    }

    /// How long so many bytes take.
    pub(super) fn takes(&self, bytes: usize) -> i64 {
        let baud = self.options.baud.filter(|baud| *baud > 0);
        baud.map_or(0, |baud| bytes as i64 * 10_000_000_000 / i64::from(baud))
    }

    fn put(&mut self, now: Time, after: Duration, bytes: Vec<u8>) {
        if self.waiting + bytes.len() > ROOM {
            self.tally.overflowed += 1;
            return;
        }
        let late = self.options.delay + self.options.jitter.mul_f64(self.random.unit());
        let begin = now.plus(nanos(late)).max(self.free);
        // What takes long by itself does not hold up the line.
        if after.is_zero() {
            self.free = begin.plus(self.takes(bytes.len()));
        }
        let begin = begin.plus(nanos(after));
        let size = self.options.split.unwrap_or(usize::MAX).max(1);
        let mut done = 0;
        for piece in bytes.chunks(size) {
            done += piece.len();
            let due = begin.plus(self.takes(done));
            let at = self.pieces.partition_point(|other| other.due <= due);
            self.pieces.insert(at, Piece { due, bytes: piece.to_vec() });
        }
        self.waiting += bytes.len();
    }

    /// Changes one byte.
    fn corrupt(&mut self, frame: &mut [u8], payload: usize) {
        let head = if payload < 256 { 2 } else { 3 };
        let part = self.random.below(5);
        let at = match part {
            0 => 0,
            1 => 1 + self.random.below(head - 1),
            2 => head + self.random.below(payload),
            3 => head + payload + self.random.below(2),
            _ => head + payload + 2,
        };
        let flip = 1 + self.random.byte() % 255;
        if let Some(byte) = frame.get_mut(at) {
            *byte ^= flip;
        }
        if let Some(count) = self.tally.corrupted.get_mut(part) {
            *count += 1;
        }
    }

    /// Bytes of no meaning, or the beginning of a frame that does not go on.
    fn noise(&mut self) -> Vec<u8> {
        match self.random.below(4) {
            0 => vec![2, self.random.byte() | 1],
            1 => vec![3, 1, self.random.byte()],
            _ => {
                let length = 1 + self.random.below(16);
                (0..length).map(|_| self.random.byte()).collect()
            }
        }
    }
}

fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
