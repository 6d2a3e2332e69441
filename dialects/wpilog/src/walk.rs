//! The one loop over the records of a log that the index, the columns and the rows are made with.

use logpose_core::{
    Bindings, Cursor, Declaration, Index, Problem, Problems, Severity, SlotId, array_at, leading_zeros,
};

use crate::wire::{Control, HEAD, Record, RecordHeader, Start, begins_second, header_of, quick_header, second_header};

/// Callbacks of a walk. The calls are inlined into the loop, so that every use is a loop of its own without a
/// dynamic call.
pub trait Visit {
    /// A data record: its slot, its first byte, its time in microseconds, its payload and its whole length.
    fn data(&mut self, slot: SlotId, at: u64, timestamp: i64, payload: &[u8], len: u64);
    /// A slot was started.
    fn start(&mut self, slot: SlotId, declaration: &Declaration, timestamp: i64) {
        let _ = (slot, declaration, timestamp);
    }
    /// A slot has other metadata.
    fn metadata(&mut self, slot: SlotId, metadata: &str, timestamp: i64) {
        let _ = (slot, metadata, timestamp);
    }
    /// A slot has ended.
    fn end(&mut self, slot: SlotId, timestamp: i64) {
        let _ = (slot, timestamp);
    }
}

/// A walk over a part of a log: what it has learned so far.
#[derive(Debug)]
pub struct Walk {
    /// Which slot every id means.
    pub bindings: Bindings,
    /// What was odd.
    pub problems: Problems,
    /// Records met, zero fill not counted.
    pub records: u64,
    /// Bytes of records that carry no data, and of second headers.
    pub control_bytes: u64,
    /// Zero bytes where records should be.
    pub zero_bytes: u64,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// It arrived at this byte, where a record starts or the log ends.
    At(usize),
    /// The record at this byte is not all there.
    Truncated(usize),
}

impl Stop {
    /// The byte where it ended.
    #[must_use]
    pub fn at(self) -> usize {
        match self {
            Self::At(at) | Self::Truncated(at) => at,
        }
    }
}

impl Walk {
    /// A walk that knows nothing yet and may meet `limit` entries.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            bindings: Bindings::new(limit),
            problems: Problems::default(),
            records: 0,
            control_bytes: 0,
            zero_bytes: 0,
        }
    }

    /// A walk that begins at the record at `at` and knows all that one from the front would know there.
    #[must_use]
    pub fn at(index: &Index, at: u64) -> Self {
        Self { bindings: Bindings::at(index, at), ..Self::new(0) }
    }

    /// Walks from the record at `from` until a record starts at `until` or behind it.
    pub fn run<V: Visit>(&mut self, log: &[u8], from: usize, until: usize, visit: &mut V) -> Stop {
        let mut at = from;
        loop {
            at = self.run_quickly(log, at, until, visit);
            if at >= until {
                return Stop::At(at);
            }
            match self.run_carefully(log, at, visit) {
                Ok(next) => at = next,
                Err(stop) => return stop,
            }
        }
    }

    /// Walks over data records of live entries, as long as nothing else comes; returns where that is.
    #[inline(always)]
    fn run_quickly<V: Visit>(&mut self, log: &[u8], from: usize, until: usize, visit: &mut V) -> usize {
        // A record that starts before `until` finds its header and eight bytes of payload in here, unless the log
        // ends: so one comparison says both that the walk goes on and that the bytes are there.
        let window = log.get(..until.saturating_add(HEAD - 1).min(log.len())).unwrap_or_default();
        let Some(mut rest) = window.get(from..) else { return from };
        while let Some(head) = rest.first_chunk::<HEAD>() {
            // The first byte fixes all widths, and a few values make up nearly all records of nearly all logs:
            // with constant widths the processor need not wait for one field to find the next.
            let next = match *head {
                [0x30, ..] => self.quick_record(window, rest, head, header_of::<1, 4>(head), visit),
                [0x31, ..] => self.quick_record(window, rest, head, header_of::<2, 4>(head), visit),
                [0x20, ..] => self.quick_record(window, rest, head, header_of::<1, 3>(head), visit),
                [0x21, ..] => self.quick_record(window, rest, head, header_of::<2, 3>(head), visit),
                _ => self.quick_record(window, rest, head, quick_header(head), visit),
            };
            match next {
                Some(next) => rest = next,
                None => break,
            }
        }
        window.len() - rest.len()
    }

    /// A data record of a live entry at the front of `rest`, the last bytes of `window`; returns what is behind it.
    #[inline(always)]
    fn quick_record<'a, V: Visit>(
        &mut self,
        window: &[u8],
        rest: &'a [u8],
        head: &[u8; HEAD],
        (header, len): (RecordHeader, usize),
        visit: &mut V,
    ) -> Option<&'a [u8]> {
        let slot = self.bindings.slot(header.entry)?;
        let at = (window.len() - rest.len()) as u64;
        // Eight bytes are the usual size, and a constant again.
        let next = if header.size == 8 {
            let payload = array_at::<8>(head, len)?;
            visit.data(slot, at, header.timestamp, payload, len as u64 + 8);
            rest.get(len + 8..)?
        } else {
            let end = len + header.size as usize;
            let payload = rest.get(len..end)?;
            visit.data(slot, at, header.timestamp, payload, end as u64);
            rest.get(end..)?
        };
        self.records += 1;
        Some(next)
    }

    /// Any record, also a control record or one that the log ends in; returns where the next one starts.
    #[cold]
    #[inline(never)]
    fn run_carefully<V: Visit>(&mut self, log: &[u8], at: usize, visit: &mut V) -> Result<usize, Stop> {
        let Some((header, len)) = header_at(log, at) else { return Err(self.end_of_log(log, at)) };
        if header.entry == 0 {
            return self.control(log, at, header, len, visit);
        }
        let body = at + len;
        let end = body + header.size as usize;
        let live = self.bindings.slot(header.entry);
        if live.is_none() && begins_second(log, at) {
            return self.second(log, at);
        }
        let Some(payload) = log.get(body..end) else { return Err(Stop::Truncated(at)) };
        let Some(slot) = live.or_else(|| self.bindings.stray(header.entry, at as u64)) else {
            let message = "too many entries; skipped the record";
            let length = (end - at) as u64;
            self.problems.push(Problem::new(Severity::Damage, "too-many-entries", at as u64, length, message));
            return Ok(end);
        };
        self.records += 1;
        visit.data(slot, at as u64, header.timestamp, payload, (end - at) as u64);
        Ok(end)
    }

    /// The header of a second log.
    fn second(&mut self, log: &[u8], at: usize) -> Result<usize, Stop> {
        // If its extra header is not all there, the log ends here.
        let header = second_header(log, at).ok_or(Stop::Truncated(at))?;
        let (length, message) =
            (header.len() as u64, "a second log starts here: two files were written into one; reading both");
        self.problems.push(Problem::new(Severity::Warning, "second-header", at as u64, length, message));
        self.control_bytes += length;
        Ok(at + header.len())
    }

    fn control<V: Visit>(
        &mut self,
        log: &[u8],
        at: usize,
        header: RecordHeader,
        len: usize,
        visit: &mut V,
    ) -> Result<usize, Stop> {
        if header.size == 0 && header.timestamp == 0 {
            return Ok(self.zero_fill(log, at, len));
        }
        let body = at + len;
        let end = body + header.size as usize;
        let Some(payload) = log.get(body..end) else { return Err(Stop::Truncated(at)) };
        self.records += 1;
        self.control_bytes += (end - at) as u64;
        let (place, length, time) = (at as u64, (end - at) as u64, header.timestamp);
        match Control::parse(payload) {
            Control::Start(start) => self.started(start, place, length, time, visit),
            // Entry 0 is the control records themselves: it has no end and no metadata.
            Control::Unknown { .. } | Control::Finish { entry: 0 } | Control::SetMetadata { entry: 0, .. } => {
                let message = format!(
                    "a control record of {} bytes that is not Start, Finish or SetMetadata; skipped",
                    payload.len()
                );
                self.problems.push(Problem::new(Severity::Warning, "unknown-control", place, length, message));
            }
            Control::Finish { entry } => match self.bindings.end(entry, place) {
                Some(slot) => visit.end(slot, time),
                None => self.unknown("finish-unknown", entry, place, length),
            },
            Control::SetMetadata { entry, metadata } => {
                let text = self.text(metadata, "metadata", place);
                match self.bindings.set_metadata(entry, place, text.clone()) {
                    Some(slot) => visit.metadata(slot, &text, time),
                    None => self.unknown("metadata-unknown", entry, place, length),
                }
            }
        }
        Ok(end)
    }

    /// A control record of an id that is not live. If nothing at all is known of the id, its Start may lie in an
    /// earlier part: then [`Walk::report_unknown`] has the last word.
    fn unknown(&mut self, code: &'static str, entry: u32, at: u64, length: u64) {
        if self.bindings.slots().last().is_none_or(|slot| slot.at != at) {
            self.note(code, at, length, format!("a control record of entry {entry}, which is not live; ignored"));
        }
    }

    /// Notes the ids that were ended or got metadata and were never started before, once all parts are joined.
    pub(crate) fn report_unknown(&mut self) {
        for slot in self.bindings.slots().iter().filter(|slot| slot.is_unknown()) {
            let code = if slot.metadata().is_some() { "metadata-unknown" } else { "finish-unknown" };
            let message = format!("a control record of entry {}, which is not live; ignored", slot.id);
            self.problems.push(Problem::new(Severity::Note, code, slot.at, 0, message));
        }
    }

    fn started<V: Visit>(&mut self, start: Start<'_>, at: u64, length: u64, time: i64, visit: &mut V) {
        let declaration = Declaration {
            name: self.text(start.name, "name", at),
            type_name: self.text(start.type_name, "type", at),
            metadata: self.text(start.metadata, "metadata", at),
        };
        if !start.exact {
            self.note("start-too-long", at, length, "a Start record has extra bytes at its end; ignored".into());
        }
        let name = &declaration.name;
        match self.bindings.start(start.entry, at, &declaration) {
            Some((slot, replaced)) => {
                if replaced {
                    self.note(
                        "started-twice",
                        at,
                        length,
                        format!("entry {} ({name:?}) was started while it was live; using the last Start", start.entry),
                    );
                }
                visit.start(slot, &declaration, time);
            }
            None => {
                let message = format!("too many entries; skipped {name:?}");
                self.problems.push(Problem::new(Severity::Damage, "too-many-entries", at, length, message));
            }
        }
    }

    /// A run of zero bytes looks like a row of empty control records. It is one problem, not one for each.
    fn zero_fill(&mut self, log: &[u8], at: usize, len: usize) -> usize {
        let rest = log.get(at..).unwrap_or_default();
        let zeros = leading_zeros(rest);
        let run = if zeros < 4 {
            // Over-wide fields that are all zero.
            len
        } else if zeros == rest.len() {
            zeros
        } else {
            zeros - zeros % 4
        };
        self.zero_bytes += run as u64;
        let message = format!("{run} zero bytes instead of records, as after a power loss");
        self.problems.push(Problem::new(Severity::Damage, "zero-fill", at as u64, run as u64, message));
        at + run
    }

    /// Fewer bytes than a record header: nothing, or what is left of one.
    #[cold]
    fn end_of_log(&mut self, log: &[u8], at: usize) -> Stop {
        let rest = log.get(at..).unwrap_or_default();
        if !rest.is_empty() && rest.iter().all(|byte| *byte == 0) {
            self.zero_bytes += rest.len() as u64;
            let message = format!("{} zero bytes instead of records", rest.len());
            self.problems.push(Problem::new(Severity::Damage, "zero-fill", at as u64, rest.len() as u64, message));
            return Stop::At(log.len());
        }
        if rest.is_empty() { Stop::At(at) } else { Stop::Truncated(at) }
    }

    fn text(&mut self, bytes: &[u8], what: &str, at: u64) -> String {
        String::from_utf8(bytes.to_vec()).unwrap_or_else(|error| {
            let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
            self.note("bad-utf8", at, 0, format!("the {what} {shown:?} is not UTF-8; showing invalid bytes as U+FFFD"));
            shown
        })
    }

    fn note(&mut self, code: &'static str, at: u64, length: u64, message: String) {
        self.problems.push(Problem::new(Severity::Note, code, at, length, message));
    }
}

/// The header of the record at `at` and its length, if it is all there.
#[inline]
fn header_at(log: &[u8], at: usize) -> Option<(RecordHeader, usize)> {
    if let Some(head) = array_at::<HEAD>(log, at) {
        return Some(quick_header(head));
    }
    let rest = log.get(at..)?;
    let mut cur = Cursor::new(rest, at as u64);
    let header = RecordHeader::parse(&mut cur).ok()?;
    Some((header, rest.len() - cur.rest().len()))
}

/// An offset as an index into the log's bytes.
pub(crate) fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The record at `at`, where a walk has been before.
#[inline]
pub(crate) fn record_at(log: &[u8], at: u64) -> Option<(Record<'_>, u64)> {
    let start = place(at);
    let (header, len) = header_at(log, start)?;
    let payload = log.get(start + len..start + len + header.size as usize)?;
    Some((Record { entry: header.entry, timestamp: header.timestamp, payload }, (len + payload.len()) as u64))
}

#[cfg(test)]
mod tests {
    use super::{Stop, Visit, Walk};

    struct Count(u64);

    impl Visit for Count {
        fn data(&mut self, _: u32, _: u64, _: i64, _: &[u8], _: u64) {
            self.0 += 1;
        }
    }

    fn walk(log: &[u8]) -> (Stop, Walk, u64) {
        let (mut walk, mut count) = (Walk::new(100), Count(0));
        let stop = walk.run(log, 0, log.len(), &mut count);
        (stop, walk, count.0)
    }

    #[test]
    fn zero_tails_are_one_problem() {
        let mut log = b"\x00\x01\x01\x01\x01".to_vec();
        log.extend([0; 4095]);
        let (stop, walk, data) = walk(&log);
        assert_eq!((stop, data, walk.records, walk.problems.list().len()), (Stop::At(4100), 1, 1, 1));
        assert_eq!(walk.problems.list()[0].length, 4095);
    }

    #[test]
    fn a_cut_record_ends_the_walk_at_its_first_byte() {
        let log = b"\x00\x01\x01\x01\x01\x00\x01\x08\x01\x01\x02";
        let (stop, _, data) = walk(log);
        assert_eq!((stop, data), (Stop::Truncated(5), 1));
    }
}
