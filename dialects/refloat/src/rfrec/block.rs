//! The pieces that a file is made of: its head, then blocks.

use std::fmt;

use logpose_core::Cursor;

use super::error::{Error, ErrorKind};

/// How every file begins: `RFLTREC` and a line feed.
pub const MAGIC: [u8; 8] = *b"RFLTREC\n";
/// Bytes of the head.
pub const HEAD: usize = 16;
/// Bytes of a block besides its payload: eight in front of it, and four of the checksum behind it.
pub(crate) const FRAME: usize = 12;
/// The version that is written, and the newest one that is read.
pub const VERSION: (u8, u8) = (1, 0);

/// The first 16 bytes of a file.
///
/// ```text
/// "RFLTREC\n" | major | minor | 0 | CRC-32 of the bytes before
///      8      |   1   |   1   | 2 |  4
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Head {
    /// A greater one means that the file cannot be read.
    pub major: u8,
    /// A greater one means that there may be more in the file than is known here.
    pub minor: u8,
    /// Whether the checksum fits.
    pub intact: bool,
}

impl Head {
    /// Reads the head. A wrong checksum is reported and is not an error: the blocks have their own.
    pub fn parse(file: &[u8]) -> Result<Self, Error> {
        let mut cur = Cursor::new(file, 0);
        let front = cur.array::<12>("head").map_err(|_| match file.get(..MAGIC.len().min(file.len())) {
            Some(begin) if MAGIC.starts_with(begin) => Error { at: 0, kind: short(file) },
            _ => bad_magic(file),
        })?;
        let [a, b, c, d, e, f, g, h, major, minor, _, _] = *front;
        if [a, b, c, d, e, f, g, h] != MAGIC {
            return Err(bad_magic(file));
        }
        let stored = cur.u32_be("checksum of the head").map_err(|_| Error { at: 0, kind: short(file) })?;
        let intact = stored == crc32fast::hash(front);
        // A damaged head says nothing about versions.
        if intact && major != VERSION.0 {
            return Err(Error { at: 8, kind: ErrorKind::Version { major, minor } });
        }
        Ok(Self { major, minor, intact })
    }

    /// Appends the head of the version that is written.
    pub fn emit(out: &mut Vec<u8>) {
        let mut head = [0; 12];
        let bytes = MAGIC.into_iter().chain([VERSION.0, VERSION.1]);
        head.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        out.extend_from_slice(&head);
        out.extend_from_slice(&crc32fast::hash(&head).to_be_bytes());
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "head {}.{}", self.major, self.minor)?;
        if self.intact { Ok(()) } else { f.write_str(" bad checksum") }
    }
}

fn short(file: &[u8]) -> ErrorKind {
    ErrorKind::Truncated { what: "head", needed: HEAD as u64, left: file.len() as u64 }
}

fn bad_magic(file: &[u8]) -> Error {
    let mut found = [0; 8];
    found.iter_mut().zip(file).for_each(|(to, from)| *to = *from);
    Error { at: 0, kind: ErrorKind::BadMagic { found } }
}

/// What a block holds.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// A JSON object about the recording.
    Meta,
    /// The INFO reply, as received.
    Info,
    /// The HEADER reply, as received.
    Header,
    /// The STATUS reply, as received.
    Status,
    /// The number of the first sample, then whole samples as received.
    Samples,
    /// A tick of the board and when that was.
    TimeRef,
    /// How many samples there are, and their SHA-256.
    End,
    /// Of a later version.
    Unknown(u8),
}

impl Kind {
    /// The kind with this number.
    #[must_use]
    pub fn of(number: u8) -> Self {
        match number {
            0x01 => Self::Meta,
            0x02 => Self::Info,
            0x03 => Self::Header,
            0x04 => Self::Status,
            0x05 => Self::Samples,
            0x06 => Self::TimeRef,
            0x7f => Self::End,
            other => Self::Unknown(other),
        }
    }

    /// Its number in the file.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Meta => 0x01,
            Self::Info => 0x02,
            Self::Header => 0x03,
            Self::Status => 0x04,
            Self::Samples => 0x05,
            Self::TimeRef => 0x06,
            Self::End => 0x7f,
            Self::Unknown(number) => number,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Meta => f.write_str("META"),
            Self::Info => f.write_str("INFO"),
            Self::Header => f.write_str("HEADER"),
            Self::Status => f.write_str("STATUS"),
            Self::Samples => f.write_str("SAMPLES"),
            Self::TimeRef => f.write_str("TIMEREF"),
            Self::End => f.write_str("END"),
            Self::Unknown(number) => write!(f, "block {number:#04x}"),
        }
    }
}

/// One block whose checksum fits, borrowed from the file.
///
/// ```text
/// type | 0 | 0 | length | payload | CRC-32 of the bytes before
///   1  | 1 | 2 |   4    | length  |  4
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block<'a> {
    /// What it holds.
    pub kind: Kind,
    /// Its content.
    pub payload: &'a [u8],
}

impl<'a> Block<'a> {
    /// The block that begins at byte `at` of a file.
    pub fn parse(file: &'a [u8], at: usize) -> Result<Self, Error> {
        let bytes = file.get(at..).unwrap_or_default();
        let mut cur = Cursor::new(bytes, at as u64);
        let kind = Kind::of(cur.u8("type of a block")?);
        cur.array::<3>("zeros of a block")?;
        let length = cur.u32_be("length of a block")?;
        let payload = cur.take(length.into(), "payload of a block")?;
        let stored = cur.u32_be("checksum of a block")?;
        let computed = crc32fast::hash(bytes.get(..8 + payload.len()).unwrap_or_default());
        if stored == computed {
            Ok(Self { kind, payload })
        } else {
            Err(Error { at: at as u64, kind: ErrorKind::BadCrc { kind, stored, computed } })
        }
    }

    /// Appends the block. A payload of 4 GiB and more cannot be said, and nothing is appended.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let Ok(length) = u32::try_from(self.payload.len()) else { return };
        let from = out.len();
        out.extend_from_slice(&[self.kind.number(), 0, 0, 0]);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(self.payload);
        let checksum = crc32fast::hash(out.get(from..).unwrap_or_default());
        out.extend_from_slice(&checksum.to_be_bytes());
    }

    /// Its length in the file.
    #[must_use]
    pub fn length(&self) -> u64 {
        (self.payload.len() + FRAME) as u64
    }
}

/// A tick of the board, and when it was by the clock of the computer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TimeRef {
    /// Ticks since the board was switched on.
    pub tick: u32,
    /// Microseconds since 1970.
    pub host_us: u64,
    /// By how much that may be wrong.
    pub uncertainty_us: u32,
}

impl TimeRef {
    /// Out of the payload of a block.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut cur = Cursor::new(payload, 0);
        let (tick, host_us) = (cur.u32_be("tick").ok()?, cur.u64_be("host time").ok()?);
        let uncertainty_us = cur.u32_be("uncertainty").ok()?;
        cur.is_empty().then_some(Self { tick, host_us, uncertainty_us })
    }

    /// Appends the payload of a block.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tick.to_be_bytes());
        out.extend_from_slice(&self.host_us.to_be_bytes());
        out.extend_from_slice(&self.uncertainty_us.to_be_bytes());
    }

    /// The same as JSON: the value of the channel `/refloat/file/timeref`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let Self { tick, host_us, uncertainty_us } = self;
        format!(r#"{{"tick":{tick},"host_us":{host_us},"uncertainty_us":{uncertainty_us}}}"#)
    }

    /// Out of JSON, whatever the order of its keys.
    #[must_use]
    pub fn from_json(text: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(text).ok()?;
        let number = |key: &str| value.get(key)?.as_u64();
        Some(Self {
            tick: number("tick")?.try_into().ok()?,
            host_us: number("host_us")?,
            uncertainty_us: number("uncertainty_us")?.try_into().ok()?,
        })
    }
}

/// What the last block says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct End {
    /// How many samples there are.
    pub samples: u32,
    /// SHA-256 over all samples in the order of their numbers.
    pub sha256: [u8; 32],
}

impl End {
    /// Out of the payload of a block.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut cur = Cursor::new(payload, 0);
        let (samples, sha256) = (cur.u32_be("samples").ok()?, *cur.array("SHA-256").ok()?);
        cur.is_empty().then_some(Self { samples, sha256 })
    }

    /// Appends the payload of a block.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.samples.to_be_bytes());
        out.extend_from_slice(&self.sha256);
    }
}
