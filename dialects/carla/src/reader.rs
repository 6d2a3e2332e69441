//! The packets of a recording, strictly: what is not whole is an error.

use logpose_core::Cursor;

use crate::error::{Error, ErrorKind};
use crate::wire::{Header, Packet, WireFormat};
use crate::wire_format;

/// The packets of a recording in memory, in the order of the file.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    header: Header<'a>,
    form: WireFormat,
    cur: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// Reads the header and finds out how the recording is written.
    pub fn new(log: &'a [u8]) -> Result<Self, Error> {
        let mut cur = Cursor::new(log, 0);
        let header = Header::parse(&mut cur)?;
        if !matches!(header.version, 1 | 2) {
            return Err(Error { at: 0, kind: ErrorKind::Version(header.version) });
        }
        Ok(Self { header, form: wire_format::detect_in(log, &header), cur })
    }

    /// The packets of `log` from byte `at` on, which begins one.
    #[must_use]
    pub fn resume(log: &'a [u8], header: Header<'a>, form: WireFormat, at: u64) -> Self {
        let rest = usize::try_from(at).ok().and_then(|at| log.get(at..)).unwrap_or_default();
        Self { header, form, cur: Cursor::new(rest, at) }
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> Header<'a> {
        self.header
    }

    /// How the recording is written.
    #[must_use]
    pub fn wire_format(&self) -> WireFormat {
        self.form
    }

    /// Where the next packet begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.cur.offset()
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Packet<'a>, Error>;

    /// The next packet. After an error the iteration is over: where the next one begins is not known.
    fn next(&mut self) -> Option<Self::Item> {
        if self.cur.is_empty() {
            return None;
        }
        let packet = Packet::parse(&mut self.cur);
        if packet.is_err() {
            self.cur = Cursor::new(&[], self.cur.offset());
        }
        Some(packet)
    }
}
