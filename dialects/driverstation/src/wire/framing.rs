//! Messages out of a TCP stream.

use logpose_core::Cursor;

use super::WireError;
use super::to_robot::ToRobot;
use super::to_station::ToStation;

/// The most that a message can hold behind its size.
pub(super) const LONGEST: usize = u16::MAX as usize;

/// The messages of one direction of a TCP stream that comes in pieces. The stream must be pushed from the beginning of a
/// message on.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    buffer: Vec<u8>,
    used: usize,
    offset: u64,
}

impl Messages {
    /// A stream whose next byte stands at `offset`.
    #[must_use]
    pub fn new(offset: u64) -> Self {
        Self { offset, ..Self::default() }
    }

    /// Adds bytes, as many as have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message: where its size stands in the stream, and what is behind the size. `None` until more is
    /// pushed.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Option<(u64, &[u8])> {
        let rest = self.buffer.get(self.used..)?;
        let (body, after) = split(rest)?;
        let at = self.offset;
        let length = rest.len() - after.len();
        self.used += length;
        self.offset += length as u64;
        Some((at, body))
    }

    /// How many bytes wait for the rest of their message.
    #[must_use]
    pub fn rest_len(&self) -> usize {
        self.buffer.len() - self.used
    }

    /// What is missing, if no more will be pushed: the message that is not all there, at the place of its size.
    #[must_use]
    pub fn unfinished(&self) -> Option<WireError> {
        let mut cur = Cursor::new(self.buffer.get(self.used..)?, self.offset);
        if cur.is_empty() {
            return None;
        }
        let at = self.offset;
        let size = cur.u16_be("message size");
        let missing = size.and_then(|size| cur.take(size.into(), "message")).err()?;
        Some(WireError { at, ..missing })
    }

    /// Where the first byte that waits stands in the stream.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

/// The body of the first message and what is behind it, if it is whole.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, behind) = bytes.split_first_chunk()?;
    behind.split_at_checked(u16::from_be_bytes(*size).into())
}

/// Whether messages seem to begin here: two in a row that are known and whole. The stream has no marks, so this is all
/// that can be said of a piece from its middle.
#[must_use]
pub fn plausible(bytes: &[u8], to_robot: bool) -> bool {
    let Some((first, rest)) = split(bytes) else { return false };
    let Some((second, rest)) = split(rest) else { return false };
    // Four zeros are two keepalives, and also what many a message ends with.
    let silent = first.is_empty() && second.is_empty() && !rest.is_empty();
    let known = |body| if to_robot { ToRobot::is_known(body) } else { ToStation::is_known(body) };
    !silent && known(first) && known(second)
}

/// Appends a message whose id and data `put` appends. What its size cannot say is cut.
pub(super) fn put_message(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0, 0]);
    put(out);
    out.truncate(begin + 2 + LONGEST);
    let size = u16::try_from(out.len() - begin - 2).unwrap_or(u16::MAX);
    if let Some(field) = out.get_mut(begin..).and_then(|message| message.first_chunk_mut()) {
        *field = size.to_be_bytes();
    }
}

/// Appends a text behind its length in one byte. What that cannot say is cut.
pub(super) fn put_short(text: &[u8], out: &mut Vec<u8>) {
    let n = u8::try_from(text.len()).unwrap_or(u8::MAX);
    out.push(n);
    out.extend_from_slice(text.get(..n.into()).unwrap_or(text));
}

/// Appends a text behind its length in two bytes. What that cannot say is cut.
pub(super) fn put_long(text: &[u8], out: &mut Vec<u8>) {
    let n = u16::try_from(text.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&n.to_be_bytes());
    out.extend_from_slice(text.get(..n.into()).unwrap_or(text));
}
