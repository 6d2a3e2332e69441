use logpose_core::{Index, Layout, Lookup, Row, SinkError, SlotId, Span, Time, Type, Value};

use crate::replay::walk_indexed;
use crate::walk::{Visit, Walk};

/// Takes some rows.
pub(crate) type Take<'t> = dyn FnMut(&[Row]) -> Result<(), SinkError> + 't;

/// Hands the places of all wanted samples to `take`, in the order of the file.
pub(crate) fn rows(log: &[u8], index: &Index, lookup: &Lookup, take: &mut Take<'_>) -> Result<(), SinkError> {
    let within = lookup.within.unwrap_or(Span { start: 0, end: u64::MAX });
    let mut walk = Walk::at(index, within.start);
    let types = index.channels.iter().map(|c| c.channel.ty()).collect();
    let mut found = Found { index, lookup, types, batch: Vec::new() };
    walk_indexed(log, index, &mut walk, within, STEP, &mut found, |found| {
        let taken = take(&found.batch);
        found.batch.clear();
        taken
    })
}

/// Collects the places of a walk.
struct Found<'a> {
    index: &'a Index,
    lookup: &'a Lookup,
    types: Vec<Type>,
    batch: Vec<Row>,
}

impl Visit for Found<'_> {
    #[inline]
    fn data(&mut self, slot: SlotId, at: u64, timestamp: i64, payload: &[u8], _: u64) {
        let id = self.index.slots.get(slot as usize).and_then(|fate| fate.channel());
        let Some(id) = id.filter(|id| self.lookup.wants(*id)) else { return };
        let Some(ty) = self.types.get(id as usize) else { return };
        if let Some(time) = self.lookup.admits(id, Time::from_micros(timestamp))
            && Value::parse(*ty, payload, Layout::Little).is_ok()
        {
            self.batch.push(Row { time, at, channel: id });
        }
    }
}

/// Bytes of the log whose places are handed over together.
const STEP: usize = 256 << 10;
