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
