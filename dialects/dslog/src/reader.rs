use std::fmt;

use logpose_core::Cursor;

use crate::error::Error;
use crate::pair::Half;
use crate::wire::{Event, HEADER, Header, Record};

/// The records of one file, strictly: a record that is not whole is an error, and the last item. Padding at the end is
/// given as it is.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    header: Header,
    half: Half,
    cur: Cursor<'a>,
}

/// One record of a `.dslog` or of a `.dsevents`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Item<'a> {
    /// Of a `.dslog`.
    Record(Record<'a>),
    /// Of a `.dsevents`.
    Event(Event<'a>),
}

impl<'a> Reader<'a> {
    /// Reads the header of a file.
    pub fn new(file: &'a [u8]) -> Result<Self, Error> {
        let header = Header::of(file)?;
        let body = file.get(HEADER..).unwrap_or_default();
        Ok(Self { header, half: Half::of(file), cur: Cursor::new(body, HEADER as u64) })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// Which file it is.
    #[must_use]
    pub fn half(&self) -> Half {
        self.half
    }

    /// Where the next record begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.cur.offset()
    }
}

impl<'a> Iterator for Reader<'a> {
    /// Where the record begins, and the record.
    type Item = Result<(u64, Item<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cur.is_empty() {
            return None;
        }
        let at = self.cur.offset();
        let item = match self.half {
            Half::Log => Record::parse(&mut self.cur, self.header.version).map(Item::Record),
            Half::Events => Event::parse(&mut self.cur).map(Item::Event),
        };
        if item.is_err() {
            self.cur = Cursor::new(&[], self.cur.offset());
        }
        Some(item.map(|item| (at, item)))
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(record) => record.fmt(f),
            Self::Event(event) => event.fmt(f),
        }
    }
}
