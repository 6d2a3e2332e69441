//! What the one-line texts of messages are made of, and how they begin.

use logpose_core::Cursor;

use super::{PACKAGE, WireError, WireErrorKind};

/// `on` or `off`.
pub(super) fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The message's id, and a cursor behind it.
pub(super) fn begin(message: &[u8]) -> Result<(u8, Cursor<'_>), WireError> {
    let mut cur = Cursor::new(message, 0);
    let package = cur.u8("package id")?;
    if package != PACKAGE {
        return Err(WireError::new(0, WireErrorKind::Package { found: package }));
    }
    Ok((cur.u8("command id")?, cur))
}

/// A cursor behind the id of a message that must be `expected`.
pub(super) fn expect(message: &[u8], expected: u8) -> Result<Cursor<'_>, WireError> {
    let (found, cur) = begin(message)?;
    if found != expected {
        return Err(WireError::new(1, WireErrorKind::Command { expected, found }));
    }
    Ok(cur)
}

/// An error if a message goes on behind its end.
pub(super) fn ends(cur: &Cursor<'_>, what: &'static str) -> Result<(), WireError> {
    if cur.is_empty() {
        return Ok(());
    }
    let (at, left) = (cur.offset(), cur.rest().len() as u64);
    Err(WireError::new(at, WireErrorKind::Length { what, expected: at, found: at + left }))
}
