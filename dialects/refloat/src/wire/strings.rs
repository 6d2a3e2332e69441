//! Texts behind their length, and lists of them.

use std::fmt;

use logpose_core::Cursor;

use super::{WireError, WireErrorKind};

/// A list of ids whose texts were all checked. It borrows the bytes of the message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Ids<'a> {
    count: u8,
    /// What is behind the count: whole strings, `count` of them.
    bytes: &'a [u8],
}

impl<'a> Ids<'a> {
    pub(super) fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let count = cur.u8("number of ids")?;
        let begin = cur.rest();
        for _ in 0..count {
            string(cur, "id")?;
        }
        let length = begin.len() - cur.rest().len();
        Ok(Self { count, bytes: begin.get(..length).unwrap_or_default() })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.push(self.count);
        out.extend_from_slice(self.bytes);
    }

    /// The ids, in the order of the values.
    pub fn iter(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut cur = Cursor::new(self.bytes, 0);
        (0..self.count).map_while(move |_| string(&mut cur, "id").ok())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.into()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// `erpm dir_current duty_cycle`.
impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, id) in self.iter().enumerate() {
            write!(f, "{}{}", if i > 0 { " " } else { "" }, id.escape_debug())?;
        }
        Ok(())
    }
}

/// Appends a list of ids as the board does: a count and the strings. More than 255 of them are left out.
pub fn put_ids<'i>(ids: impl IntoIterator<Item = &'i str>, out: &mut Vec<u8>) {
    let place = out.len();
    out.push(0);
    let mut count = 0;
    for id in ids.into_iter().take(u8::MAX.into()) {
        put_string(id, out);
        count += 1;
    }
    if let Some(field) = out.get_mut(place) {
        *field = count;
    }
}

/// A text behind its length in one byte.
pub(super) fn string<'a>(cur: &mut Cursor<'a>, what: &'static str) -> Result<&'a str, WireError> {
    let length = cur.u8(what)?;
    let at = cur.offset();
    let bytes = cur.take(length.into(), what)?;
    let foreign = bytes.iter().zip(at..).find(|(byte, _)| !byte.is_ascii());
    match (foreign, str::from_utf8(bytes)) {
        (Some((found, at)), _) => Err(WireError::new(at, WireErrorKind::Text { what, found: *found })),
        // ASCII is UTF-8, so the other arm has nothing left.
        (None, text) => Ok(text.unwrap_or_default()),
    }
}

/// Appends a text behind its length. What that cannot say is cut, and what is not ASCII becomes a question mark.
pub(super) fn put_string(text: &str, out: &mut Vec<u8>) {
    let ascii = text.chars().map(|c| if c.is_ascii() { u8::try_from(c).unwrap_or(b'?') } else { b'?' });
    let place = out.len();
    out.push(0);
    out.extend(ascii.take(u8::MAX.into()));
    let length = u8::try_from(out.len() - place - 1).unwrap_or(u8::MAX);
    if let Some(field) = out.get_mut(place) {
        *field = length;
    }
}
