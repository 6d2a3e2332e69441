use logpose_core::Cursor;

use crate::error::{Error, ErrorKind};
use crate::walk::place;
use crate::wire::{Header, Record, VERSION};

/// The records of a whole log, in the order of the file.
///
/// After an error the iterator ends: WPILOG has no sync marks, so finding the next plausible record is a
/// search, which is `recover.rs` and asked for by name. Everything before the error is whole.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    header: Header<'a>,
    cur: Cursor<'a>,
}

impl<'a> Reader<'a> {
    /// A reader over all bytes of a log.
    pub fn new(log: &'a [u8]) -> Result<Self, Error> {
        let mut cur = Cursor::new(log, 0);
        let header = Header::parse(&mut cur)?;
        Ok(Self { header, cur })
    }

    /// A reader of the records from `start` to `end`, whatever stands in front of them.
    #[must_use]
    pub(crate) fn over(log: &'a [u8], start: u64, end: u64) -> Self {
        let cur = Cursor::new(log.get(place(start)..place(end)).unwrap_or_default(), start);
        Self { header: Header { version: VERSION, extra: &[] }, cur }
    }

    /// The log's header.
    #[must_use]
    pub fn header(&self) -> Header<'a> {
        self.header
    }

    /// Where the next record starts.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.cur.offset()
    }
}

impl<'a> Iterator for Reader<'a> {
    type Item = Result<Record<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cur.is_empty() {
            return None;
        }
        let start = self.cur;
        let record = Record::parse(&mut self.cur);
        if record.is_err() {
            // What is left is no record: it stays unread, and `offset` names its first byte.
            self.cur = Cursor::new(&[], start.offset());
        }
        Some(record)
    }
}

/// Records out of bytes that arrive in pieces.
///
/// A record that is not all there yet means "not yet", until [`Decoder::finish`] says that no more will come.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    read: usize,
    offset: u64,
    header: Option<(u16, Vec<u8>)>,
    limit: u64,
}

impl Decoder {
    /// A decoder for a log from its first byte on. Records over `limit` bytes are an error: a corrupt size
    /// would otherwise wait for up to 4 GiB.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { buffer: Vec::new(), read: 0, offset: 0, header: None, limit }
    }

    /// Adds bytes, as many as have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        // What was read is dropped when it is the larger part, so that each byte moves at most once or twice.
        if self.read > self.buffer.len() / 2 {
            self.buffer.drain(..self.read);
            self.read = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole record, or `None` until more bytes are pushed.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        if self.header.is_none() && !self.read_header()? {
            return Ok(None);
        }
        let rest = self.buffer.get(self.read..).unwrap_or_default();
        let mut cur = Cursor::new(rest, self.offset);
        match next_in_stream(&mut cur, self.limit)? {
            Some(record) => {
                self.read += rest.len() - cur.rest().len();
                self.offset = cur.offset();
                Ok(Some(record))
            }
            None => Ok(None),
        }
    }

    /// The version and the extra header, once they have arrived.
    #[must_use]
    pub fn header(&self) -> Option<(u16, &[u8])> {
        self.header.as_ref().map(|(version, extra)| (*version, &**extra))
    }

    /// No more bytes will come: what is left over is the error that a reader of the whole log would give.
    pub fn finish(&mut self) -> Result<(), Error> {
        let rest = self.buffer.get(self.read..).unwrap_or_default();
        let mut cur = Cursor::new(rest, self.offset);
        if self.header.is_none() {
            Header::parse(&mut cur)?;
        }
        if cur.is_empty() { Ok(()) } else { Record::parse(&mut cur).map(|_| ()) }
    }

    fn read_header(&mut self) -> Result<bool, Error> {
        let rest = self.buffer.get(self.read..).unwrap_or_default();
        let mut cur = Cursor::new(rest, self.offset);
        let Some(header) = header_in_stream(&mut cur, self.limit)? else { return Ok(false) };
        self.header = Some((header.version, header.extra.to_vec()));
        self.read += rest.len() - cur.rest().len();
        self.offset = cur.offset();
        Ok(true)
    }
}

/// The header, or `None` if it is not all there yet.
pub(crate) fn header_in_stream<'a>(cur: &mut Cursor<'a>, limit: u64) -> Result<Option<Header<'a>>, Error> {
    let start = *cur;
    match Header::parse(cur) {
        Ok(header) => Ok(Some(header)),
        Err(Error { kind: ErrorKind::Truncated { what, needed, .. }, at }) => {
            if what == "extra header" {
                check(at, needed, limit)?;
            }
            *cur = start;
            Ok(None)
        }
        // No byte at all is not a wrong start.
        Err(_) if start.is_empty() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The next record, or `None` if it is not all there yet.
pub(crate) fn next_in_stream<'a>(cur: &mut Cursor<'a>, limit: u64) -> Result<Option<Record<'a>>, Error> {
    let start = *cur;
    match Record::parse(cur) {
        Ok(record) => {
            check(start.offset(), record.payload.len() as u64, limit)?;
            Ok(Some(record))
        }
        Err(Error { kind: ErrorKind::Truncated { what, needed, .. }, .. }) => {
            if what == "payload" {
                check(start.offset(), needed, limit)?;
            }
            *cur = start;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn check(at: u64, claimed: u64, limit: u64) -> Result<(), Error> {
    if claimed > limit { Err(Error { at, kind: ErrorKind::TooLong { claimed, limit } }) } else { Ok(()) }
}
