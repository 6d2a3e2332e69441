//! The recording: its header and its samples.

use std::fmt;
use std::slice::ChunksExact;

use super::{Flags, Ids, MAX_APP, PACKAGE, WireError, WireErrorKind, id, put_ids, show};
use crate::float16;

/// What a recording holds.
///
/// ```text
/// 65 2A | size | n | n strings
///   2   |  4   | 1 |    ..
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header<'a> {
    /// How many samples are stored now.
    pub size: u32,
    /// The ids of the values, in the order of a sample.
    pub ids: Ids<'a>,
}

impl<'a> Header<'a> {
    /// Reads a message, which ends with the last id.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::HEADER)?;
        let header = Self { size: cur.u32_be("size")?, ids: Ids::parse(&mut cur)? };
        show::ends(&cur, "header")?;
        Ok(header)
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_head(self.size, out);
        self.ids.emit(out);
    }

    /// Appends the message of a recording of `size` samples with these ids.
    pub fn put<'i>(size: u32, ids: impl IntoIterator<Item = &'i str>, out: &mut Vec<u8>) {
        put_head(size, out);
        put_ids(ids, out);
    }

    /// Bytes of one sample: the tick, the flags, and two for each value.
    #[must_use]
    pub fn sample_len(&self) -> usize {
        SAMPLE_HEAD + 2 * self.ids.len()
    }

    /// How many samples a full reply has; 0 if not one would fit, which no header of a board can say.
    #[must_use]
    pub fn chunk(&self) -> usize {
        (MAX_APP - DATA_HEAD) / self.sample_len()
    }
}

/// The id and the offset in front of samples.
const DATA_HEAD: usize = 6;
/// The tick and the flags in front of values.
const SAMPLE_HEAD: usize = 5;

fn put_head(size: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[PACKAGE, id::HEADER]);
    out.extend_from_slice(&size.to_be_bytes());
}

/// `header: 1500 samples of 10 values: motor.erpm …`.
impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header: {} samples of {} values: {}", self.size, self.ids.len(), self.ids)
    }
}

/// Samples of a recording, as many as fit.
///
/// ```text
/// 65 2B | offset | samples
///   2   |   4    |   ..
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Data<'a> {
    /// The number of the first one; 0 is the oldest stored.
    pub offset: u32,
    /// The samples; only the header shows whether they are complete.
    pub bytes: &'a [u8],
}

impl<'a> Data<'a> {
    /// Reads a message.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::DATA)?;
        Ok(Self { offset: cur.u32_be("offset")?, bytes: cur.rest() })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, id::DATA]);
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(self.bytes);
    }

    /// The samples of a recording of `values` values; an error if the last one is not whole.
    pub fn samples(&self, values: usize) -> Result<Samples<'a>, WireError> {
        Samples::new(self.bytes, values).map_err(|error| WireError { at: error.at + DATA_HEAD as u64, ..error })
    }
}

/// `data at 20: 260 bytes`.
impl fmt::Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "data at {}: {} bytes", self.offset, self.bytes.len())
    }
}

/// Samples one behind the other.
#[derive(Clone, Debug)]
pub struct Samples<'a>(ChunksExact<'a, u8>);

impl<'a> Samples<'a> {
    /// The samples in `bytes`, with `values` values each; an error if the last one is not whole.
    pub fn new(bytes: &'a [u8], values: usize) -> Result<Self, WireError> {
        let length = SAMPLE_HEAD + 2 * values;
        let samples = bytes.chunks_exact(length);
        if samples.remainder().is_empty() {
            return Ok(Self(samples));
        }
        let (element, found) = (length as u64, bytes.len() as u64);
        let at = found - samples.remainder().len() as u64;
        Err(WireError::new(at, WireErrorKind::Ragged { what: "samples", element, found }))
    }
}

impl<'a> Iterator for Samples<'a> {
    type Item = Sample<'a>;

    fn next(&mut self) -> Option<Sample<'a>> {
        Sample::parse(self.0.next()?).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Samples<'_> {}

/// One sample.
///
/// ```text
/// tick | flags | n values
///  4   |   1   |   2n
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sample<'a> {
    /// Ticks since the controller booted; wraps.
    pub tick: u32,
    /// What the board did.
    pub flags: Flags,
    /// The codes of the values, two bytes each.
    pub values: &'a [u8],
}

impl<'a> Sample<'a> {
    /// Reads one sample that fills `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = logpose_core::Cursor::new(bytes, 0);
        let (tick, flags) = (cur.u32_be("time")?, Flags(cur.u8("flags")?));
        let values = cur.rest();
        if values.len() % 2 != 0 {
            let found = values.len() as u64;
            return Err(WireError::new(
                cur.offset() + found - 1,
                WireErrorKind::Ragged { what: "values", element: 2, found },
            ));
        }
        Ok(Self { tick, flags, values })
    }

    /// Appends the sample.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_sample_head(self.tick, self.flags, out);
        out.extend_from_slice(self.values);
    }

    /// Appends a sample with these codes.
    pub fn put(tick: u32, flags: Flags, codes: impl IntoIterator<Item = u16>, out: &mut Vec<u8>) {
        put_sample_head(tick, flags, out);
        out.extend(codes.into_iter().flat_map(u16::to_be_bytes));
    }

    /// The codes of the values.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = u16> + use<'a> {
        codes(self.values)
    }

    /// The values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        self.codes().map(float16::decode)
    }
}

fn put_sample_head(tick: u32, flags: Flags, out: &mut Vec<u8>) {
    out.extend_from_slice(&tick.to_be_bytes());
    out.push(flags.0);
}

/// `tick 123456, running, footpad both: 4320 -12.5 0.35009766`.
impl fmt::Display for Sample<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}, {}:", self.tick, self.flags)?;
        self.values().try_for_each(|value| write!(f, " {value}"))
    }
}

/// Codes of two bytes each.
pub(super) fn codes(bytes: &[u8]) -> impl ExactSizeIterator<Item = u16> + use<'_> {
    bytes.as_chunks().0.iter().map(|code| u16::from_be_bytes(*code))
}
