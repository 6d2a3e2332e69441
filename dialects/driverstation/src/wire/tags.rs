//! Tags of datagrams: a size, an id and data, one behind the other until the datagram ends.

use std::fmt;

use logpose_core::{Cursor, Hex};

use super::WireError;
use super::joystick::{self, Joystick};

/// The most data that a tag can hold: its size is one byte and counts the id.
const LONGEST: usize = 254;

/// The tags of a datagram, as an iterator. A tag of size 0 is a problem and one byte is stepped over; a tag that claims
/// more than is left is a problem and the end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tags<'a> {
    rest: &'a [u8],
    at: usize,
    lenient: bool,
    forgave: bool,
}

/// One tag, its contents not yet looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RawTag<'a> {
    /// Where its size byte stands in the datagram.
    pub at: usize,
    /// What it is.
    pub id: u8,
    /// What stands behind the id.
    pub data: &'a [u8],
}

/// What is wrong with a tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TagProblem {
    /// Its size is 0, so that it has not even an id.
    #[error("a tag of size 0")]
    Empty {
        /// Its byte in the datagram.
        at: usize,
    },
    /// It claims more bytes than there are: nothing behind it can be found.
    #[error("a tag needs {size} bytes, {left} left")]
    TooLong {
        /// Its size byte in the datagram.
        at: usize,
        /// What it claims.
        size: u8,
        /// What there is behind the size byte.
        left: usize,
    },
    /// It is shorter than its layout; what is behind it is not touched by that.
    #[error("tag {id:02x}: {error}")]
    TooShort {
        /// Its size byte in the datagram.
        at: usize,
        /// What it is.
        id: u8,
        /// How many bytes it has, with its size byte.
        length: usize,
        /// The field that is not all there, at its byte in the datagram.
        error: WireError,
    },
}

impl<'a> Tags<'a> {
    /// Tags over their bytes, the first of which stands at `at` in the datagram.
    #[must_use]
    pub fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { rest: bytes, at, ..Self::default() }
    }

    /// The same, but a joystick tag that claims too much is taken if its own counts end exactly with the datagram.
    /// LibDS (QDriverStation) counts the size byte in the size of joystick tags, so that its last one seems cut.
    #[must_use]
    pub fn lenient(self) -> Self {
        Self { lenient: true, ..self }
    }

    /// Whether a tag was taken that a strict reader would have refused.
    #[must_use]
    pub fn forgave(&self) -> bool {
        self.forgave
    }

    /// The bytes that were not walked yet.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.rest
    }

    fn step(&mut self, n: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(n).unwrap_or((self.rest, &[]));
        self.rest = rest;
        self.at += taken.len();
        taken
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = Result<RawTag<'a>, TagProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        let (size, behind) = self.rest.split_first()?;
        let (at, size) = (self.at, *size);
        if size == 0 {
            self.step(1);
            return Some(Err(TagProblem::Empty { at }));
        }
        let found = self.step(1 + usize::from(size));
        match found {
            [_, id, data @ ..] if data.len() + 1 == usize::from(size) => Some(Ok(RawTag { at, id: *id, data })),
            [_, joystick::TAG, data @ ..] if self.lenient && Joystick::is_all_of(data) => {
                self.forgave = true;
                Some(Ok(RawTag { at, id: joystick::TAG, data }))
            }
            _ => Some(Err(TagProblem::TooLong { at, size, left: behind.len() })),
        }
    }
}

impl<'a> RawTag<'a> {
    /// Appends it. What one size byte cannot say is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_tag(self.id, out, |out| out.extend_from_slice(self.data));
    }

    /// A cursor over the data that knows its place in the datagram.
    pub(super) fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.data, self.at as u64 + 2)
    }

    /// The problem of a field that is not all there.
    pub(super) fn too_short(&self, error: WireError) -> TagProblem {
        TagProblem::TooShort { at: self.at, id: self.id, length: self.data.len() + 2, error }
    }
}

impl fmt::Display for RawTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tag {:02x} {}", self.id, Hex(self.data))
    }
}

impl TagProblem {
    /// The first byte concerned, in the datagram.
    #[must_use]
    pub fn at(&self) -> usize {
        match self {
            Self::Empty { at } | Self::TooLong { at, .. } | Self::TooShort { at, .. } => *at,
        }
    }

    /// How many bytes are concerned.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Empty { .. } => 1,
            Self::TooLong { left, .. } => 1 + left,
            Self::TooShort { length, .. } => *length,
        }
    }

    /// A short word for this kind of problem, the same in every run.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "empty-tag",
            Self::TooLong { .. } => "long-tag",
            Self::TooShort { .. } => "short-tag",
        }
    }
}

/// Appends a tag whose data `put` appends.
pub(super) fn put_tag(id: u8, out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend_from_slice(&[0, id]);
    put(out);
    out.truncate(begin + 2 + LONGEST);
    let size = out.len() - begin - 1;
    if let Some(byte) = out.get_mut(begin) {
        *byte = u8::try_from(size).unwrap_or(u8::MAX);
    }
}
