//! What the one-line texts of packets and messages are made of.

use std::fmt::{self, Display, Write};

use logpose_core::Hex;

/// Words with commas between them.
pub(crate) struct Words<'f, 'b> {
    out: &'f mut fmt::Formatter<'b>,
    any: bool,
}

impl<'f, 'b> Words<'f, 'b> {
    pub(crate) fn new(out: &'f mut fmt::Formatter<'b>) -> Self {
        Self { out, any: false }
    }

    pub(crate) fn put(&mut self, word: impl Display) -> fmt::Result {
        self.out.write_str(if self.any { ", " } else { "" })?;
        self.any = true;
        write!(self.out, "{word}")
    }
}

/// Bytes behind a known layout, if there are any.
pub(crate) fn extra(f: &mut fmt::Formatter<'_>, rest: &[u8]) -> fmt::Result {
    if rest.is_empty() { Ok(()) } else { write!(f, ", and {}", Hex(rest)) }
}

/// Text from the wire in quotes and on one line.
pub(crate) struct Quoted<'a>(pub(crate) &'a [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        f.write_char('"')
    }
}
