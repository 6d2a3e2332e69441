//! Byte layout: header, records, control records. Pure functions of bytes.

use std::fmt;

use logpose_core::{Cursor, array_at, first_word};

use crate::error::{Error, ErrorKind};

/// The first six bytes of every log.
pub const MAGIC: &[u8; 6] = b"WPILOG";
/// The magic and the version 1.0, as one word.
pub(crate) const MAGIC_1_0: u64 = u64::from_le_bytes(*b"WPILOG\0\x01");
/// The only version there is: 1.0, high byte major.
pub const VERSION: u16 = 0x0100;
/// Bytes in front of the extra header.
pub const FIXED_HEADER: usize = 12;

/// What the fast loops look at at once: any record header and eight bytes of payload.
pub(crate) const HEAD: usize = 32;

/// The header of a log.
///
/// ```text
/// "WPILOG" | version | extra header length | extra header
///    6     |    2    |          4          |    length
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header<'a> {
    /// Version: high byte major, low byte minor.
    pub version: u16,
    /// Free text of the writer, UTF-8 by convention.
    pub extra: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the header at the front of a log.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let at = cur.offset();
        let found = cur.rest().get(..MAGIC.len()).unwrap_or(cur.rest());
        if found != MAGIC {
            // A file that ends within the magic was cut; any other start is another format.
            let kind = if !found.is_empty() && MAGIC.starts_with(found) {
                ErrorKind::Truncated { what: "magic", needed: 6, left: found.len() as u64 }
            } else {
                ErrorKind::BadMagic { found: found.to_vec() }
            };
            return Err(Error { at, kind });
        }
        cur.take(6, "magic")?;
        let at = cur.offset();
        let version = u16::from_le_bytes(*cur.array("version")?);
        let [minor, major] = version.to_le_bytes();
        if major == 0 {
            return Err(Error { at, kind: ErrorKind::BadVersion { major, minor } });
        }
        let length = cur.u32_le("extra header length")?;
        let extra = cur.take(length.into(), "extra header")?;
        Ok(Self { version, extra })
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&u32::try_from(self.extra.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend_from_slice(self.extra);
    }

    /// Bytes on the wire.
    #[must_use]
    pub fn len(&self) -> usize {
        FIXED_HEADER + self.extra.len()
    }

    /// A header always has bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [minor, major] = self.version.to_le_bytes();
        write!(f, "Header version={major}.{minor} extra={:?}", String::from_utf8_lossy(self.extra))
    }
}

/// One record, borrowed from the bytes it was read from.
///
/// ```text
/// widths | entry id | payload size | timestamp µs | payload
///   1    |  1..=4   |    1..=4     |    1..=8     |  size
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'a> {
    /// The entry the payload belongs to; 0 marks a control record.
    pub entry: u32,
    /// Microseconds on the robot's clock; negative ones occur in real logs.
    pub timestamp: i64,
    /// Bytes, to be read as the entry's type.
    pub payload: &'a [u8],
}

impl<'a> Record<'a> {
    /// Reads the record at the cursor. The spare bit of the widths is ignored and any width is taken.
    pub fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let head = RecordHeader::parse(cur)?;
        let payload = cur.take(head.size.into(), "payload")?;
        Ok(Self { entry: head.entry, timestamp: head.timestamp, payload })
    }

    /// Appends the record with the fewest bytes that hold its numbers, as WPILib does.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let size = u32::try_from(self.payload.len()).unwrap_or(u32::MAX);
        let (header, len) = RecordHeader { entry: self.entry, size, timestamp: self.timestamp }.emit();
        // A copy of a fixed size costs less than one of the right size.
        let end = out.len() + len;
        out.extend_from_slice(&header);
        out.truncate(end);
        out.extend_from_slice(self.payload);
    }

    /// The control record in the payload, if this is one.
    #[must_use]
    pub fn control(&self) -> Option<Control<'a>> {
        (self.entry == 0).then(|| Control::parse(self.payload))
    }
}

/// The entry id and the time of a record come before its payload; a data record shows its size and its first bytes.
impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(control) = self.control() {
            return write!(f, "{control} time={}us", self.timestamp);
        }
        write!(f, "Data entry={} time={}us size={}", self.entry, self.timestamp, self.payload.len())?;
        let shown = self.payload.get(..16).unwrap_or(self.payload);
        if !shown.is_empty() {
            f.write_str(" ")?;
            shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str(if shown.len() < self.payload.len() { "…" } else { "" })?;
        }
        Ok(())
    }
}

/// What stands in front of a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RecordHeader {
    pub(crate) entry: u32,
    pub(crate) size: u32,
    pub(crate) timestamp: i64,
}

impl RecordHeader {
    pub(crate) fn parse(cur: &mut Cursor<'_>) -> Result<Self, Error> {
        let widths = cur.u8("field widths")?;
        let entry = cur.uint_le(1 + (widths & 0b11), "entry id")?;
        let size = cur.uint_le(1 + (widths >> 2 & 0b11), "payload size")?;
        let timestamp = cur.uint_le(1 + (widths >> 4 & 0b111), "timestamp")?.cast_signed();
        #[expect(clippy::cast_possible_truncation, reason = "entry and size have at most four bytes")]
        Ok(Self { entry: entry as u32, size: size as u32, timestamp })
    }

    /// The header with minimal widths, and how many of the bytes it takes.
    #[inline]
    pub(crate) fn emit(&self) -> ([u8; HEAD], usize) {
        let mut out = [0; HEAD];
        let len = self.emit_to(&mut out);
        (out, len)
    }

    /// Writes the header with minimal widths to the front of `out`, and perhaps zeros behind it; returns its
    /// length.
    #[inline(always)]
    pub(crate) fn emit_to<const N: usize>(&self, out: &mut [u8; N]) -> usize {
        let entry_width = width(self.entry.into());
        let size_width = width(self.size.into());
        let time_width = width(self.timestamp.cast_unsigned());
        let widths = ((entry_width - 1) | (size_width - 1) << 2 | (time_width - 1) << 4) as u64;
        let (size_at, time_at) = (1 + entry_width, 1 + entry_width + size_width);
        let len = time_at + time_width;
        if len <= 8 {
            // Nearly all headers: one word, one store.
            let ids = widths | u64::from(self.entry) << 8 | u64::from(self.size) << (8 * size_at);
            put(out, 0, (ids | self.timestamp.cast_unsigned() << (8 * time_at)).to_le_bytes());
        } else {
            // Each number is written at its full size; the next one covers the bytes it did not need.
            put(out, 0, widths.to_le_bytes());
            put(out, 1, self.entry.to_le_bytes());
            put(out, size_at, self.size.to_le_bytes());
            put(out, time_at, self.timestamp.to_le_bytes());
        }
        len
    }
}

#[inline(always)]
fn put<const N: usize, const M: usize>(out: &mut [u8; N], at: usize, bytes: [u8; M]) {
    if let Some(place) = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = bytes;
    }
}

/// Bytes that a number needs, at least one.
#[inline(always)]
fn width(number: u64) -> usize {
    (71 - (number | 1).leading_zeros() as usize) / 8
}

/// The numbers in front of a payload, and how many bytes they took, out of the first bytes of a record. This is the
/// parser of the fast loops: one load and one mask for each number.
#[inline(always)]
pub(crate) fn quick_header(head: &[u8; HEAD]) -> (RecordHeader, usize) {
    let [widths, ..] = *head;
    let entry_width = usize::from(widths & 0b11) + 1;
    let size_width = usize::from(widths >> 2 & 0b11) + 1;
    let time_width = usize::from(widths >> 4 & 0b111) + 1;
    let size_at = 1 + entry_width;
    let time_at = size_at + size_width;
    let word = |at: usize| array_at(head, at).map_or(0, |b: &[u8; 8]| u64::from_le_bytes(*b));
    let masked = |at: usize, width: usize| word(at) & (u64::MAX >> (64 - 8 * width));
    #[expect(clippy::cast_possible_truncation, reason = "entry and size have at most four bytes")]
    let header = RecordHeader {
        entry: masked(1, entry_width) as u32,
        size: masked(size_at, size_width) as u32,
        timestamp: masked(time_at, time_width).cast_signed(),
    };
    (header, time_at + time_width)
}

/// [`quick_header`] for a header whose entry id has `E` bytes, its size one and its timestamp `T`.
#[inline(always)]
pub(crate) fn header_of<const E: usize, const T: usize>(head: &[u8; HEAD]) -> (RecordHeader, usize) {
    let word = |at: usize, width: usize| {
        array_at(head, at).map_or(0, |b: &[u8; 8]| u64::from_le_bytes(*b)) & (u64::MAX >> (64 - 8 * width))
    };
    #[expect(clippy::cast_possible_truncation, reason = "entry and size have at most four bytes")]
    let header =
        RecordHeader { entry: word(1, E) as u32, size: word(1 + E, 1) as u32, timestamp: word(2 + E, T).cast_signed() };
    (header, 2 + E + T)
}

/// The payload of a record whose entry id is 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Control<'a> {
    /// An id is a name, a type and metadata from here on.
    Start(Start<'a>),
    /// An id means nothing from here on.
    Finish {
        /// The id.
        entry: u32,
    },
    /// An id has other metadata from here on.
    SetMetadata {
        /// The id.
        entry: u32,
        /// The text that replaces the old one.
        metadata: &'a [u8],
    },
    /// Something else, or one of the above with lengths that do not fit.
    Unknown {
        /// The payload.
        bytes: &'a [u8],
    },
}

/// A Start record: names are bytes, mostly UTF-8.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Start<'a> {
    /// The id; never 0.
    pub entry: u32,
    /// The name.
    pub name: &'a [u8],
    /// The type string.
    pub type_name: &'a [u8],
    /// Free text.
    pub metadata: &'a [u8],
    /// Whether the three texts fill the payload; WPILib ignores what is left over.
    pub exact: bool,
}

impl<'a> Control<'a> {
    /// Reads a control payload. What does not fit is [`Control::Unknown`].
    #[must_use]
    pub fn parse(payload: &'a [u8]) -> Self {
        Self::known(payload).unwrap_or(Self::Unknown { bytes: payload })
    }

    fn known(payload: &'a [u8]) -> Option<Self> {
        let mut cur = Cursor::new(payload, 0);
        let kind = cur.u8("control type").ok()?;
        let entry = cur.u32_le("entry id").ok()?;
        let mut text = || {
            let n = cur.u32_le("length").ok()?;
            cur.take(n.into(), "text").ok()
        };
        match (kind, payload.len()) {
            (0, 17..) if entry != 0 => {
                let (name, type_name, metadata) = (text()?, text()?, text()?);
                Some(Self::Start(Start { entry, name, type_name, metadata, exact: cur.is_empty() }))
            }
            (1, 5) => Some(Self::Finish { entry }),
            (2, 9..) => Some(Self::SetMetadata { entry, metadata: text()? }),
            _ => None,
        }
    }

    /// Appends the payload.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let text = |bytes: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
            out.extend_from_slice(bytes);
        };
        match *self {
            Self::Start(start) => {
                out.push(0);
                out.extend_from_slice(&start.entry.to_le_bytes());
                text(start.name, out);
                text(start.type_name, out);
                text(start.metadata, out);
            }
            Self::Finish { entry } => {
                out.push(1);
                out.extend_from_slice(&entry.to_le_bytes());
            }
            Self::SetMetadata { entry, metadata } => {
                out.push(2);
                out.extend_from_slice(&entry.to_le_bytes());
                text(metadata, out);
            }
            Self::Unknown { bytes } => out.extend_from_slice(bytes),
        }
    }
}

impl fmt::Display for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy;
        match *self {
            Self::Start(s) => write!(
                f,
                "Start entry={} name={:?} type={:?} metadata={:?}",
                s.entry,
                text(s.name),
                text(s.type_name),
                text(s.metadata)
            ),
            Self::Finish { entry } => write!(f, "Finish entry={entry}"),
            Self::SetMetadata { entry, metadata } => {
                write!(f, "SetMetadata entry={entry} metadata={:?}", text(metadata))
            }
            Self::Unknown { bytes } => write!(f, "UnknownControl size={}", bytes.len()),
        }
    }
}

/// WPILib up to 2022.4.1 wrote SetMetadata under the id of its target instead of 0. The metadata, if a data
/// record's payload has exactly that shape.
#[must_use]
pub(crate) fn metadata_of_2022(entry: u32, payload: &[u8]) -> Option<&[u8]> {
    match Control::parse(payload) {
        Control::SetMetadata { entry: target, metadata } if target == entry && payload.len() == 9 + metadata.len() => {
            Some(metadata)
        }
        _ => None,
    }
}

/// The header of a second log at `at`, as when two files were written into one.
#[cold]
pub(crate) fn second_header(log: &[u8], at: usize) -> Option<Header<'_>> {
    if !begins_second(log, at) {
        return None;
    }
    Header::parse(&mut Cursor::new(log.get(at..)?, at as u64)).ok()
}

/// Whether a second header begins at `at`, all there or not.
#[inline]
pub(crate) fn begins_second(log: &[u8], at: usize) -> bool {
    log.get(at..).is_some_and(|rest| first_word(rest) == MAGIC_1_0)
}

#[cfg(test)]
mod tests {
    use super::{RecordHeader, header_of, quick_header, width};

    #[test]
    fn widths_are_minimal() {
        for (number, bytes) in [
            (0, 1),
            (255, 1),
            (256, 2),
            (65_535, 2),
            (65_536, 3),
            (1 << 24, 4),
            (1 << 32, 5),
            (1 << 40, 6),
            (1 << 48, 7),
            (1 << 56, 8),
            (u64::MAX, 8),
        ] {
            assert_eq!(width(number), bytes, "{number}");
        }
    }

    #[test]
    fn the_quick_parser_agrees_with_the_writer() {
        for entry in [0, 1, 255, 256, 70_000, u32::MAX] {
            for size in [0, 8, 200, 255, 256, 1 << 20, u32::MAX] {
                for timestamp in [0, 1, 1 << 20, 1 << 33, i64::MAX, -1, i64::MIN] {
                    let header = RecordHeader { entry, size, timestamp };
                    let (bytes, len) = header.emit();
                    assert_eq!(quick_header(&bytes), (header, len));
                    if bytes[0] == 0x31 {
                        assert_eq!(header_of::<2, 4>(&bytes), (header, len));
                    }
                }
            }
        }
    }
}
