//! One log out of one file, or out of a pair of them.

use logpose_core::Cursor;

use crate::error::{Error, ErrorKind};
use crate::wire::is_events;

/// What an envelope begins with.
pub(crate) const MAGIC: &[u8; 8] = b"\xffDSPAIR\n";
const VERSION: u8 = 1;

/// Which of the two files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Half {
    /// The `.dslog`.
    Log,
    /// The `.dsevents`.
    Events,
}

impl Half {
    /// Which file bytes are, by what they hold. What holds nothing is a `.dslog`.
    #[must_use]
    pub fn of(file: &[u8]) -> Self {
        if is_events(file) { Self::Events } else { Self::Log }
    }

    /// The extension of its files.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Log => "dslog",
            Self::Events => "dsevents",
        }
    }

    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Log => Self::Events,
            Self::Events => Self::Log,
        }
    }
}

/// Both files of a pair as one run of bytes, which the dialect reads as one log.
///
/// ```text
/// magic | version | named | length of the name | length of the .dslog | of the .dsevents | name | .dslog | .dsevents
///   8   |    1    |   1   |         2          |          8           |        8         |
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Envelope<'a> {
    /// The file that was asked for: problems of the other one include its name.
    pub named: Half,
    /// The name of the other file.
    pub companion: &'a [u8],
    /// The `.dslog`.
    pub log: &'a [u8],
    /// The `.dsevents`.
    pub events: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads an envelope whose two files are all there.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let front = Front::parse(bytes)?;
        let (claimed, left) = (front.log.saturating_add(front.events), bytes.len().saturating_sub(front.size) as u64);
        let files = bytes.get(front.size..).unwrap_or_default();
        let split = usize::try_from(front.log).ok().and_then(|at| files.split_at_checked(at));
        let Some((log, events)) = split.filter(|_| claimed == left) else {
            return Err(Error { at: 12, kind: ErrorKind::Pair { claimed, left } });
        };
        Ok(Self { named: front.named, companion: front.companion, log, events })
    }

    /// Appends what stands before the two files.
    pub fn emit_front(&self, out: &mut Vec<u8>) {
        let name = self.companion.get(..usize::from(u16::MAX)).unwrap_or(self.companion);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[VERSION, u8::from(self.named == Half::Events)]);
        out.extend_from_slice(&u16::try_from(name.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(&(self.log.len() as u64).to_be_bytes());
        out.extend_from_slice(&(self.events.len() as u64).to_be_bytes());
        out.extend_from_slice(name);
    }

    /// Appends all of it.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.emit_front(out);
        out.extend_from_slice(self.log);
        out.extend_from_slice(self.events);
    }
}

/// What stands before the two files of an envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front<'a> {
    pub(crate) named: Half,
    pub(crate) companion: &'a [u8],
    /// Bytes of the two files.
    pub(crate) log: u64,
    pub(crate) events: u64,
    /// Bytes up to them.
    pub(crate) size: usize,
}

impl<'a> Front<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cur = Cursor::new(bytes, 0);
        cur.take(MAGIC.len() as u64, "magic")?;
        let (version, named) = (cur.u8("version")?, cur.u8("file that was named")?);
        let name = cur.u16_be("length of the name")?;
        let (log, events) = (cur.u64_be("length of the log")?, cur.u64_be("length of the events")?);
        if version != VERSION {
            return Err(Error { at: 8, kind: ErrorKind::PairVersion { found: version } });
        }
        let companion = cur.take(name.into(), "name")?;
        let named = if named == 0 { Half::Log } else { Half::Events };
        Ok(Self { named, companion, log, events, size: bytes.len() - cur.rest().len() })
    }
}
