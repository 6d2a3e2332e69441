/// A place in a stream of bytes. It knows its offset and names the field it could not read, so parsing
/// cannot panic and every error has a place.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
}

/// A field that did not fit into what was left.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{what} needs {needed} bytes, {left} left")]
pub struct Truncated {
    /// Offset in the stream of the field.
    pub at: u64,
    /// The field, in the specification's words.
    pub what: &'static str,
    /// How many bytes it needs.
    pub needed: u64,
    /// How many there were.
    pub left: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor over `bytes`, the first of which stands at `offset` in the stream.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: u64) -> Self {
        Self { rest: bytes, offset }
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: u64, what: &'static str) -> Result<&'a [u8], Truncated> {
        let split = usize::try_from(n).ok().and_then(|n| self.rest.split_at_checked(n));
        let Some((taken, rest)) = split else {
            return Err(Truncated { at: self.offset, what, needed: n, left: self.rest.len() as u64 });
        };
        self.rest = rest;
        self.offset += n;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<&'a [u8; N], Truncated> {
        let Some((taken, rest)) = self.rest.split_first_chunk() else {
            return Err(Truncated { at: self.offset, what, needed: N as u64, left: self.rest.len() as u64 });
        };
        self.rest = rest;
        self.offset += N as u64;
        Ok(taken)
    }

    /// One byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, Truncated> {
        self.array::<1>(what).map(|[byte]| *byte)
    }

    /// A big-endian 16-bit number.
    pub fn u16_be(&mut self, what: &'static str) -> Result<u16, Truncated> {
        self.array(what).map(|b| u16::from_be_bytes(*b))
    }

    /// A little-endian 32-bit number.
    pub fn u32_le(&mut self, what: &'static str) -> Result<u32, Truncated> {
        self.array(what).map(|b| u32::from_le_bytes(*b))
    }

    /// A big-endian 32-bit number.
    pub fn u32_be(&mut self, what: &'static str) -> Result<u32, Truncated> {
        self.array(what).map(|b| u32::from_be_bytes(*b))
    }

    /// A big-endian 64-bit number.
    pub fn u64_be(&mut self, what: &'static str) -> Result<u64, Truncated> {
        self.array(what).map(|b| u64::from_be_bytes(*b))
    }

    /// A little-endian number of `width` bytes, at most eight.
    pub fn uint_le(&mut self, width: u8, what: &'static str) -> Result<u64, Truncated> {
        self.take(width.into(), what).map(crate::first_word)
    }

    /// What has not been read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where in the stream the next byte stands.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether everything was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Truncated};

    #[test]
    fn names_the_field_it_could_not_read() {
        let mut cur = Cursor::new(&[1, 2, 3], 100);
        assert_eq!(cur.u8("kind"), Ok(1));
        let expected = Truncated { at: 101, what: "length", needed: 4, left: 2 };
        assert_eq!(cur.u32_le("length"), Err(expected));
        assert_eq!(cur.rest(), [2, 3]);
    }

    #[test]
    fn a_claim_of_more_than_memory_is_an_error() {
        assert!(Cursor::new(&[0; 8], 0).take(u64::MAX, "payload").is_err());
    }
}
