//! Messages out of a TCP stream, and where the next one begins when that was lost.

use std::collections::VecDeque;

use logpose_core::{Problem, Problems, Severity, Time, array_at};
use logpose_driverstation::wire;

use super::reassembly::{Event, Mark};

/// What is spoken on a stream: a length, then so many bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    /// Driver Station to robot.
    ToRobot,
    /// Robot to Driver Station.
    ToStation,
    /// RLOG, robot to client.
    Rlog,
}

impl Protocol {
    /// How long a message says to be: bytes of the length, bytes behind it.
    #[inline]
    fn head(self, bytes: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::ToRobot | Self::ToStation => Some((2, u16::from_be_bytes(*array_at(bytes, 0)?).into())),
            Self::Rlog => Some((4, usize::try_from(u32::from_be_bytes(*array_at(bytes, 0)?)).ok()?)),
        }
    }

    /// Whether the bytes are whole messages, with nothing left.
    fn fits(self, mut bytes: &[u8]) -> bool {
        while let Some((head, length)) = self.head(bytes) {
            let Some(rest) = bytes.get(head..).and_then(|rest| rest.get(length..)) else { return false };
            bytes = rest;
        }
        bytes.is_empty()
    }

    /// Whether messages seem to begin at the front.
    fn plausible(self, bytes: &[u8]) -> bool {
        match self {
            Self::ToRobot => wire::plausible(bytes, true),
            Self::ToStation => wire::plausible(bytes, false),
            Self::Rlog => plausible_rlog(bytes),
        }
    }

    /// The name of the stream for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ToRobot => "the TCP stream to the robot",
            Self::ToStation => "the TCP stream from the robot",
            Self::Rlog => "the RLOG stream",
        }
    }
}

/// Two frames in a row, one of which begins a cycle, or the first frame of a stream.
fn plausible_rlog(mut bytes: &[u8]) -> bool {
    let (mut frames, mut cycles) = (0, 0);
    while let Some((head, length)) = Protocol::Rlog.head(bytes) {
        let rest = bytes.get(head..).unwrap_or_default();
        match (length, rest) {
            (0, _) => {}
            (10.., [1 | 2, cycle @ ..]) => return is_cycle(length - 1, cycle),
            _ if is_cycle(length, rest) => cycles += 1,
            _ => return false,
        }
        frames += 1;
        if frames >= 2 && cycles >= 1 {
            return true;
        }
        let Some(next) = rest.get(length..) else { return false };
        bytes = next;
    }
    false
}

/// Whether a cycle of so many bytes seems to begin here: a timestamp, and behind it a message of a known type.
fn is_cycle(length: usize, bytes: &[u8]) -> bool {
    let Some([0, seconds @ ..]) = array_at::<9>(bytes, 0) else { return false };
    let next = bytes.get(9).filter(|_| length > 9);
    length >= 9 && (0.0..1e9).contains(&f64::from_be_bytes(*seconds)) && next.is_none_or(|kind| *kind <= 2)
}

/// One direction of a connection, cut into messages.
#[derive(Debug)]
pub(crate) struct Framer {
    protocol: Protocol,
    /// The longest message that is waited for.
    longest: u64,
    /// Bytes of messages that are not whole, or in which the first message is looked for.
    buffer: Vec<u8>,
    /// Where in the file parts of the buffer are from: the place in the buffer at which each begins.
    marks: VecDeque<(usize, Mark)>,
    /// Whether the buffer begins with a message.
    found: bool,
    /// Whether any message of this stream was found.
    known: bool,
    /// It is something else on the same port. RLOG's port is that of many a camera and web page.
    foreign: bool,
    /// Whether the stream was captured from its first byte on.
    whole: bool,
    /// Bytes that were passed over since the last message, and where the first of them is.
    passed: u64,
    passed_at: u64,
    /// The latest time of any message: what waited for a hole may have been captured earlier than that.
    latest: Time,
}

/// A message without its length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message<'a> {
    /// Where its first byte behind the length is, and when the last one came.
    pub(crate) mark: Mark,
    pub(crate) body: &'a [u8],
}

impl Framer {
    pub(crate) fn new(protocol: Protocol, longest: u64) -> Self {
        Self {
            protocol,
            longest,
            buffer: Vec::new(),
            marks: VecDeque::new(),
            found: false,
            known: false,
            foreign: false,
            whole: false,
            passed: 0,
            passed_at: 0,
            latest: Time::MIN,
        }
    }

    /// Takes what has become of segments; whole messages go to `take`.
    pub(crate) fn handle<E>(
        &mut self,
        event: Event<'_>,
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match event {
            Event::Begin { middle, mark } => {
                // What RLOG's first frame looks like is known, so even that is looked at first.
                (self.found, self.whole) = (!middle && self.protocol != Protocol::Rlog, !middle);
                (self.known, self.foreign, self.latest) = (self.found, false, Time::MIN);
                if middle {
                    let message = format!("the capture starts in the middle of {}", self.protocol.name());
                    problems.push(Problem::new(Severity::Warning, "middle-of-stream", mark.at, 0, message));
                }
                Ok(())
            }
            Event::Hole { mark, length } => {
                let message = format!("{length} bytes of {} were not captured", self.protocol.name());
                problems.push(Problem::new(Severity::Damage, "missing-segment", mark.at, length, message));
                self.whole = false;
                self.finish(Severity::Damage, problems, take)
            }
            // A capture may end in the middle of anything.
            Event::End => self.finish(Severity::Warning, problems, take),
            Event::Data { .. } if self.foreign => Ok(()),
            Event::Data { mark, bytes } => self.data(mark, bytes, problems, take),
        }
    }

    /// Whether this is no stream of the protocol at all.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// No more bytes will come: an incomplete message is reported and dropped. `severity` is that of
    /// a message that has only begun.
    fn finish<E>(
        &mut self,
        severity: Severity,
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.found && !self.buffer.is_empty() {
            // Too few messages to be sure, but they end where they should: then one is as good as two.
            let begins = |(at, _): &(usize, Mark)| {
                let bytes = self.buffer.get(*at..).filter(|bytes| self.protocol.fits(bytes))?;
                self.protocol.plausible(&bytes.repeat(2)).then_some(*at)
            };
            if let Some(at) = self.marks.iter().find_map(begins) {
                self.begin(at, problems);
                self.take_messages(problems, take)?;
            }
        }
        if self.found && !self.buffer.is_empty() {
            let at = self.mark(0).at;
            let length = self.buffer.len() as u64;
            let message = format!("a message of {} is truncated after {length} bytes", self.protocol.name());
            problems.push(Problem::new(severity, "cut-message", at, length, message));
        } else {
            self.pass(self.buffer.len());
            self.tell_passed(problems);
        }
        self.buffer.clear();
        self.marks.clear();
        self.found = false;
        Ok(())
    }

    fn data<E>(
        &mut self,
        mark: Mark,
        bytes: &[u8],
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.found && self.buffer.is_empty() {
            // Most segments hold whole messages.
            self.marks.clear();
            self.marks.push_back((0, mark));
            let used = self.messages(bytes, problems, take)?;
            let rest = bytes.get(used..).unwrap_or_default();
            self.marks.clear();
            self.marks.push_back((0, Mark { at: mark.at + used as u64, ..mark }));
            self.buffer.extend_from_slice(rest);
            if self.found || rest.is_empty() {
                return Ok(());
            }
            // A length that cannot be right: from here on the next beginning is looked for.
            return self.search(problems, take);
        }
        self.marks.push_back((self.buffer.len(), mark));
        self.buffer.extend_from_slice(bytes);
        self.search(problems, take)
    }

    /// Finds the first message if need be, and takes messages off the buffer.
    fn search<E>(
        &mut self,
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if !self.found {
                // Section 6: segments nearly always begin with a message.
                let begins = |(at, _): &(usize, Mark)| {
                    self.buffer.get(*at..).is_some_and(|bytes| self.protocol.plausible(bytes)).then_some(*at)
                };
                match self.marks.iter().find_map(begins) {
                    Some(at) => self.begin(at, problems),
                    None => {
                        self.doubt();
                        return Ok(());
                    }
                }
            }
            self.take_messages(problems, take)?;
            if self.found {
                return Ok(());
            }
            // This place is no beginning, whatever it looked like.
            self.drop_front(self.marks.get(1).map_or(self.buffer.len(), |(at, _)| *at));
        }
    }

    /// No beginning of a message can be seen: makes room, or gives up.
    fn doubt(&mut self) {
        let enough = self.buffer.len() > LONGEST_SEARCH || self.whole && self.buffer.len() >= LONGEST_HEAD;
        if self.protocol == Protocol::Rlog && !self.known && enough {
            self.foreign = true;
            self.passed = 0;
            self.buffer = Vec::new();
            self.marks.clear();
        }
        while self.marks.len() > MOST_BEGINS || self.buffer.len() > LONGEST_SEARCH {
            self.drop_front(self.marks.get(1).map_or(self.buffer.len(), |(at, _)| *at));
        }
    }

    /// A message begins at this place of the buffer.
    fn begin(&mut self, at: usize, problems: &mut Problems) {
        self.drop_front(at);
        self.tell_passed(problems);
        (self.found, self.known) = (true, true);
    }

    fn take_messages<E>(
        &mut self,
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.messages(&buffer, problems, take);
        self.buffer = buffer;
        self.remove(result?);
        Ok(())
    }

    /// Takes whole messages off the front; returns how many bytes they were.
    fn messages<E>(
        &mut self,
        bytes: &[u8],
        problems: &mut Problems,
        take: &mut impl FnMut(Message<'_>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut used = 0;
        while let Some((head, length)) = bytes.get(used..).and_then(|rest| self.protocol.head(rest)) {
            if length as u64 > self.longest {
                let message = format!("a message of {} has an invalid length of {length} bytes", self.protocol.name());
                problems.push(Problem::new(Severity::Damage, "too-long", self.mark(used).at, 0, message));
                self.found = false;
                break;
            }
            let begin = used + head;
            let Some(body) = bytes.get(begin..).and_then(|rest| rest.get(..length)) else { break };
            used = begin + length;
            self.latest = self.latest.max(self.mark(used - 1).time);
            take(Message { mark: Mark { at: self.mark(begin).at, time: self.latest }, body })?;
        }
        Ok(used)
    }

    /// Where a place of the buffer is from.
    fn mark(&self, place: usize) -> Mark {
        let after = self.marks.partition_point(|(at, _)| *at <= place);
        let mark = self.marks.get(after.saturating_sub(1));
        let (at, mark) = *mark.unwrap_or(&(0, Mark { at: 0, time: Time::ZERO }));
        Mark { at: mark.at + (place - at.min(place)) as u64, ..mark }
    }

    /// Removes bytes that were no messages from the front of the buffer.
    fn drop_front(&mut self, count: usize) {
        self.pass(count);
        self.remove(count);
    }

    fn remove(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let front = self.mark(count);
        self.buffer.drain(..count.min(self.buffer.len()));
        while self.marks.front().is_some_and(|(at, _)| *at <= count) {
            self.marks.pop_front();
        }
        for (at, _) in &mut self.marks {
            *at -= count;
        }
        if !self.buffer.is_empty() && self.marks.front().is_none_or(|(at, _)| *at > 0) {
            self.marks.push_front((0, front));
        }
    }

    fn pass(&mut self, count: usize) {
        if count > 0 && self.passed == 0 {
            self.passed_at = self.mark(0).at;
        }
        self.passed += count as u64;
    }

    fn tell_passed(&mut self, problems: &mut Problems) {
        let length = std::mem::take(&mut self.passed);
        if length > 0 {
            let message = format!("{length} bytes of {} belong to no recognizable message", self.protocol.name());
            problems.push(Problem::new(Severity::Damage, "no-message", self.passed_at, length, message));
        }
    }
}

/// Places that are kept at which messages may begin.
const MOST_BEGINS: usize = 64;
/// Bytes after which it is clear whether an RLOG stream begins.
const LONGEST_HEAD: usize = 15;
/// Bytes in which the next message is looked for.
const LONGEST_SEARCH: usize = 256 << 10;
