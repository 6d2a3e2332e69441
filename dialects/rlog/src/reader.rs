//! Messages from bytes: strictly from a slice, and in pieces.

use logpose_core::{
    Cursor, Decode, DecodeError, Limits, Lookup, Problem, Problems, ReadOptions, Severity, Sink, StreamError,
};

use crate::dialect::report;
use crate::error::{Error, ErrorKind};
use crate::recover;
use crate::replay::{Bound, Output};
use crate::walk::{Stop, Walk, too_long_error};
use crate::wire::{Message, Revision, TIMESTAMP, TIMESTAMP_LEN};

/// The messages of a log, strictly from front to back. After an error it ends: RLOG has no sync marks, so
/// finding the next message is a search, asked for by name.
///
/// ```
/// use logpose_rlog::{Message, Reader};
///
/// let log = b"\x02\x00\x3f\xf0\0\0\0\0\0\0\x01\0\0\0\x02/A\0\x07boolean\x02\0\0\0\x01\x01";
/// let messages = Reader::new(log)?.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(messages[2], Message::Field { key: 0, kind: None, value: &[1] });
/// assert_eq!(messages[0].to_string(), "timestamp 1 s");
/// # Ok::<(), logpose_rlog::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    cur: Cursor<'a>,
    revision: Revision,
    failed: bool,
}

impl<'a> Reader<'a> {
    /// A reader of a whole log, revision byte first.
    pub fn new(log: &'a [u8]) -> Result<Self, Error> {
        let (revision, start) = revision_of(log, None)?;
        Ok(Self::with_revision(log.get(start..).unwrap_or_default(), start as u64, revision))
    }

    /// A reader of messages whose revision is known, the first of which stands at `offset` in the log.
    #[must_use]
    pub fn with_revision(messages: &'a [u8], offset: u64, revision: Revision) -> Self {
        Self { cur: Cursor::new(messages, offset), revision, failed: false }
    }

    /// The log's revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Where the next message begins. After an error: where the message began that could not be read.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.cur.offset()
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Message<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.cur.is_empty() {
            return None;
        }
        let mut cur = self.cur;
        let message = Message::parse(self.revision, &mut cur);
        match message {
            Ok(_) => self.cur = cur,
            Err(_) => self.failed = true,
        }
        Some(message)
    }
}

/// The revision of a log and where its messages begin. `assumed` is for logs that have lost their first byte.
pub(crate) fn revision_of(log: &[u8], assumed: Option<u8>) -> Result<(Revision, usize), Error> {
    let error = |kind| Error { at: 0, kind };
    let found = *log.first().ok_or(error(ErrorKind::Empty))?;
    if let Some(revision) = Revision::of(found) {
        return Ok((revision, 1));
    }
    if !recover::is_headless(log) {
        return Err(error(ErrorKind::BadRevision { found }));
    }
    match assumed {
        Some(byte) => Ok((Revision::of(byte).ok_or(error(ErrorKind::BadRevision { found: byte }))?, 0)),
        None => Err(error(ErrorKind::MissingRevision { guess: recover::guess_revision(log, 0) })),
    }
}

/// Offset of a repeated revision byte, if there is one. Only this far is searched, so that a stream
/// decoder comes to the same answer.
pub(crate) fn repeated_revision(log: &[u8], revision: Revision) -> Option<usize> {
    let at = 1 + TIMESTAMP_LEN;
    if log.get(1) != Some(&TIMESTAMP) {
        return None;
    }
    let near = log.get(..log.len().min(at + LOOK_AHEAD))?;
    recover::is_repeated_revision(near, at, revision).then_some(at)
}

const LOOK_AHEAD: usize = 4096;

/// Bytes in pieces to samples. Fields go out as they come; nothing is held back but an unfinished message.
///
/// It reads strictly: a message that cannot be read is an error.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    assumed: Option<u8>,
    walk: Option<Walk>,
    bound: Bound,
    /// How far the stream has been read.
    base: u64,
    /// Bytes that the next message needs at least.
    need: usize,
    /// Whether the place of the second revision byte is behind us.
    settled: bool,
}

impl Decoder {
    /// A decoder of a log from its first byte on.
    #[must_use]
    pub fn new(read: &ReadOptions<'_>) -> Self {
        Self {
            limits: read.limits,
            assumed: read.revision,
            walk: None,
            bound: Bound::open(),
            base: 0,
            need: 0,
            settled: false,
        }
    }

    /// The revision, once it is known.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.walk.as_ref().map(|walk| walk.revision)
    }

    /// Cycles begun so far.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.walk.as_ref().map_or(0, |walk| walk.stats.cycles)
    }

    /// The time of the current cycle.
    #[must_use]
    pub fn time(&self) -> Option<logpose_core::Time> {
        let walk = self.walk.as_ref().filter(|walk| walk.stats.cycles > 0)?;
        Some(logpose_core::Time::from_nanos(walk.time))
    }

    /// Begins another stream of the same channels, which keep their numbers.
    pub(crate) fn restart(&mut self) {
        self.walk = None;
        self.bound.forget_slots();
        (self.base, self.need, self.settled) = (0, 0, false);
    }

    /// The content of one network frame: whole messages, with a revision byte in front of the first frame, and
    /// sometimes of a later one.
    pub fn frame(&mut self, frame: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        self.settled = true;
        let mut start = 0;
        match &self.walk {
            None => {
                let error = |kind| StreamError::Decode(Error { at: 0, kind }.into());
                let found = *frame.first().ok_or(error(ErrorKind::Empty))?;
                let assumed = self.assumed.and_then(Revision::of).filter(|_| recover::is_headless(frame));
                let revision = match (Revision::of(found), assumed) {
                    (Some(revision), _) => {
                        start = 1;
                        revision
                    }
                    (None, Some(revision)) => revision,
                    (None, None) => return Err(error(ErrorKind::BadRevision { found })),
                };
                self.walk = Some(Walk::new(revision, &self.limits));
            }
            // A frame begins with a timestamp, so here a revision byte cannot be mistaken.
            Some(walk)
                if frame.first() == Some(&walk.revision.byte())
                    && frame.get(1) == Some(&0)
                    && recover::header(frame).is_some() =>
            {
                start = 1;
                let message = "repeated revision byte, as sent by AdvantageKit 2.2.0 to 3.1.1";
                sink.problem(Problem::new(Severity::Note, "repeated-revision", self.base, 1, message));
            }
            Some(_) => {}
        }
        self.base += start as u64;
        let messages = frame.get(start..).unwrap_or_default();
        let used = self.messages(messages, sink)?;
        match messages.get(used..) {
            None | Some([]) => Ok(()),
            Some(rest) => {
                let left = rest.len() as u64;
                let needed = self.need as u64;
                let kind = ErrorKind::Truncated { what: "message at the end of a frame", needed, left };
                Err(StreamError::Decode(Error { at: self.base, kind }.into()))
            }
        }
    }

    fn start(&mut self, input: &[u8], last: bool, sink: &mut dyn Sink) -> Result<Option<usize>, DecodeError> {
        const HEAD: usize = 64;
        let Some(first) = input.first() else { return Ok(None) };
        // Whether a log has lost its revision byte takes some bytes to see.
        if Revision::of(*first).is_none() && input.len() < HEAD && !last {
            return Ok(None);
        }
        let (revision, start) = revision_of(input, self.assumed)?;
        if start == 0 {
            let message = format!("missing revision byte; reading as {revision} as requested");
            sink.problem(Problem::new(Severity::Note, "missing-revision", 0, 0, message));
            self.settled = true;
        }
        self.walk = Some(Walk::new(revision, &self.limits));
        self.base = start as u64;
        Ok(Some(start))
    }

    fn input(&mut self, input: &[u8], last: bool, sink: &mut dyn Sink) -> Result<usize, StreamError> {
        let mut used = 0;
        if self.walk.is_none() {
            match self.start(input, last, sink)? {
                Some(start) => used = start,
                None => return Ok(0),
            }
        }
        let Some(revision) = self.revision() else { return Ok(used) };
        if !self.settled {
            // The first cycle alone, then a look at what stands behind it.
            let rest = input.get(used..).unwrap_or_default();
            let missing = (1 + TIMESTAMP_LEN).saturating_sub(usize::try_from(self.base).unwrap_or(usize::MAX));
            if rest.first().is_some_and(|first| missing > 0 && *first != TIMESTAMP) {
                // A log that begins with another message: nothing to look for.
                self.settled = true;
            } else if missing > 0 {
                if rest.len() < missing && !last {
                    return Ok(used);
                }
                let step = self.messages(rest.get(..missing).unwrap_or(rest), sink)?;
                used += step;
                self.settled = step != missing;
            }
            let rest = input.get(used..).unwrap_or_default();
            if !self.settled {
                let looks_so = match rest {
                    [byte, 0, ..] if rest.len() > TIMESTAMP_LEN => {
                        *byte == revision.byte() && recover::header(rest).is_some()
                    }
                    [byte] | [byte, 0, ..] => *byte == revision.byte(),
                    _ => false,
                };
                if !last && (rest.is_empty() || looks_so && rest.len() < LOOK_AHEAD) {
                    return Ok(used);
                }
                self.settled = true;
                let near = rest.get(..rest.len().min(LOOK_AHEAD)).unwrap_or(rest);
                if recover::is_repeated_revision(near, 0, revision) {
                    sink.problem(repeated_note(self.base));
                    used += 1;
                    self.base += 1;
                }
            }
        }
        let rest = input.get(used..).unwrap_or_default();
        Ok(used + self.messages(rest, sink)?)
    }

    /// Whole messages; returns how many bytes they were.
    fn messages(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        if input.is_empty() || input.len() < self.need {
            return Ok(0);
        }
        self.need = 0;
        let Some(walk) = &mut self.walk else { return Ok(0) };
        let lookup = Lookup::default();
        let mut output = Output {
            revision: walk.revision,
            bound: &mut self.bound,
            lookup: &lookup,
            sink,
            report: true,
            batch: Vec::new(),
            error: None,
        };
        let (used, stop) = walk.run(input, self.base, 0, input.len(), &mut output);
        let begin = self.base + used as u64;
        self.base = begin;
        output.finish()?;
        match stop {
            Stop::Bad(Error { at, kind: ErrorKind::Truncated { needed, .. } }) => {
                let claimed = (at - begin).saturating_add(needed);
                if claimed > self.limits.record_len {
                    return Err(StreamError::Decode(too_long_error(begin, claimed, self.limits.record_len).into()));
                }
                self.need = usize::try_from(claimed).unwrap_or(usize::MAX);
                Ok(used)
            }
            Stop::Bad(error) => Err(StreamError::Decode(error.into())),
            Stop::End | Stop::Halted => Ok(used),
        }
    }
}

impl Decode for Decoder {
    fn decode(&mut self, input: &[u8], sink: &mut dyn Sink) -> Result<usize, StreamError> {
        self.input(input, false, sink)
    }

    fn finish(&mut self, rest: &[u8], sink: &mut dyn Sink) -> Result<(), StreamError> {
        let used = self.input(rest, true, sink)?;
        let left = rest.len().saturating_sub(used) as u64;
        if self.walk.is_none() {
            return Err(StreamError::Decode(Error { at: 0, kind: ErrorKind::Empty }.into()));
        }
        if left > 0 {
            let message = format!("the last message is truncated: {left} bytes of at least {}", self.need);
            sink.problem(Problem::new(Severity::Damage, "truncated", self.base, left, message));
        }
        if let Some(walk) = &self.walk {
            let mut problems = Problems::default();
            report(walk, &mut problems);
            problems.list().iter().for_each(|problem| sink.problem(problem.clone()));
        }
        Ok(())
    }
}

/// The note on a revision byte that comes twice.
pub(crate) fn repeated_note(at: u64) -> Problem {
    Problem::new(
        Severity::Note,
        "repeated-revision",
        at,
        1,
        "repeated revision byte, as sent by AdvantageKit 2.2.0 to 3.1.1; skipped",
    )
}
