//! Payloads out of a stream of bytes.

use std::ops::Range;

use super::{END, crc};

/// The payloads of a stream that comes in pieces and may be damaged.
///
/// A candidate at the front whose start, length, end or sum is bad costs exactly one byte: a good frame may begin inside
/// of it. The time is linear in the bytes whatever they are, for the sum of a candidate comes from the running sums at
/// its ends. Whoever calls [`next_payload`](Self::next_payload) until `None` after each push keeps less than one frame
/// of the limit's size here.
#[derive(Clone, Debug)]
pub struct Deframer {
    limit: usize,
    bytes: Vec<u8>,
    /// The running sum before each byte, and behind the last one.
    sums: Vec<u16>,
    /// Bytes at the front that are done with.
    used: usize,
    skipped: u64,
}

impl Deframer {
    /// A stream whose payloads have at most `limit` bytes; what claims to be longer is noise.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, bytes: Vec::new(), sums: vec![0], used: 0, skipped: 0 }
    }

    /// Adds bytes, as many as have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        // Moving what is left only when it is the smaller half moves every byte once on average.
        if self.used > self.bytes.len() / 2 {
            self.bytes.drain(..self.used);
            self.sums.drain(..self.used);
            self.used = 0;
        }
        let mut sum = self.sums.last().copied().unwrap_or_default();
        self.bytes.extend_from_slice(bytes);
        self.sums.extend(bytes.iter().map(|byte| {
            sum = crc::next(sum, *byte);
            sum
        }));
    }

    /// The next payload. `None` until more is pushed; call it until then.
    pub fn next_payload(&mut self) -> Option<&[u8]> {
        let payload = loop {
            match self.candidate() {
                Candidate::Good { payload, end } => {
                    self.used = end;
                    break payload;
                }
                Candidate::Bad => self.skip(),
                Candidate::Pending => return None,
            }
        };
        self.bytes.get(payload)
    }

    /// Whether a candidate waits for more bytes.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.waiting() > 0
    }

    /// How many bytes wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.used
    }

    /// Gives up the candidate that waits, because the reply it might have been is overdue: drops its first byte, so that
    /// what is behind it is looked at again. Call [`next_payload`](Self::next_payload) then.
    pub fn expire(&mut self) {
        if self.is_pending() {
            self.skip();
        }
    }

    /// Forgets what waits: the stream was closed, and another one begins.
    pub fn clear(&mut self) {
        self.skipped += self.waiting() as u64;
        self.used = 0;
        self.bytes.clear();
        self.sums.clear();
        self.sums.push(0);
    }

    /// How many bytes belonged to no frame so far.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn skip(&mut self) {
        self.used += 1;
        self.skipped += 1;
    }

    fn candidate(&self) -> Candidate {
        let front = self.bytes.get(self.used..).unwrap_or_default();
        // The length, the bytes before the payload, and the min length of this form: 255 fits the form for short ones
        // and is accepted in both, as every decoder of the original does.
        let (length, head, min) = match front {
            [] | [2] | [3] | [3, _] | [4] | [4, _] | [4, _, _] => return Candidate::Pending,
            [2, n, ..] => (u32::from(*n), 2, 1),
            [3, high, low, ..] => (u32::from_be_bytes([0, 0, *high, *low]), 3, 255),
            [4, high, middle, low, ..] => (u32::from_be_bytes([0, *high, *middle, *low]), 4, 65_535),
            _ => return Candidate::Bad,
        };
        let Ok(length) = usize::try_from(length) else { return Candidate::Bad };
        if length < min || length > self.limit {
            return Candidate::Bad;
        }
        let begin = self.used + head;
        let payload = begin..begin + length;
        let [Some(high), Some(low), Some(end)] = [0, 1, 2].map(|i| self.bytes.get(payload.end + i)) else {
            return Candidate::Pending;
        };
        let (Some(before), Some(behind)) = (self.sums.get(payload.start), self.sums.get(payload.end)) else {
            return Candidate::Bad;
        };
        let declared = u16::from_be_bytes([*high, *low]);
        if *end == END && crc::between(*before, *behind, length) == declared {
            Candidate::Good { end: payload.end + 3, payload }
        } else {
            Candidate::Bad
        }
    }
}

enum Candidate {
    /// A whole frame: where its payload is, and where the next one begins.
    Good { payload: Range<usize>, end: usize },
    /// No frame begins here.
    Bad,
    /// More bytes are needed to say.
    Pending,
}
