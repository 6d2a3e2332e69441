//! The one loop over the records of a file.

use std::ops::ControlFlow;

use logpose_core::{Bindings, Cursor, Declaration, SlotId};

use super::wire::{Error, MAGIC, Record};

/// A record, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) at: u64,
    pub(super) len: u64,
    pub(super) record: Record<'a>,
    /// The stretch of an id's life that a sample belongs to; `None` for other records, and where there are too many.
    pub(super) slot: Option<SlotId>,
}

/// Calls `visit` with every record of a file. What an id means can change on the way, which `bindings` keeps track of.
///
/// Generic over the visitor, so that each use is compiled for itself and no call goes through a pointer.
pub(super) fn walk<'a>(
    log: &'a [u8],
    bindings: &mut Bindings,
    mut visit: impl FnMut(Found<'a>) -> ControlFlow<()>,
) -> Result<(), Error> {
    let rest = log.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    let mut cur = Cursor::new(rest, MAGIC.len() as u64);
    while !cur.is_empty() {
        let at = cur.offset();
        let record = Record::parse(&mut cur)?;
        let slot = match record {
            Record::Start { id, name } => {
                let declared = Declaration { name: name.into(), type_name: "double".into(), metadata: String::new() };
                bindings.start(id.into(), at, &declared);
                None
            }
            Record::Sample { id, .. } => bindings.slot(id.into()).or_else(|| bindings.stray(id.into(), at)),
        };
        if visit(Found { at, len: cur.offset() - at, record, slot }).is_break() {
            break;
        }
    }
    Ok(())
}

/// The sample at a byte of a file: its time in microseconds and its value.
pub(super) fn sample_at(log: &[u8], at: u64) -> Option<(i64, f64)> {
    let bytes = log.get(usize::try_from(at).ok()?..)?;
    match Record::parse(&mut Cursor::new(bytes, at)) {
        Ok(Record::Sample { micros, value, .. }) => Some((micros, value)),
        _ => None,
    }
}
