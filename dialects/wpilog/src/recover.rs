//! Finding records again behind damage. The format has no sync marks, but ids, types and times are
//! predictable, so a few records in a row that fit together are no accident.

use std::collections::HashMap;

use logpose_core::{Layout, Problem, Problems, Severity, Span, Type, Value, array_at, first_word, leading_zeros};

use crate::walk::{place, record_at};
use crate::wire::{
    Control, FIXED_HEADER, HEAD, Header, MAGIC, Record, RecordHeader, Start, begins_second, quick_header, second_header,
};

/// Records in a row that must fit together before a place behind damage is believed.
const CHAIN: usize = 6;
/// Records that must follow one which is doubtful itself.
const SHORT_CHAIN: usize = 3;
/// Odd records in a row that are believed because they lead to plausible ones.
const ODD_RECORDS: usize = 1000;
/// Records that show a writer's habits.
const HABIT: usize = 1000;
/// Payloads above this are not checked in their full length.
const LONG: usize = 4096;
/// Records in a row that mark a boundary for a second thread. It is checked afterwards, so it may be wrong.
const BOUNDARY_CHAIN: usize = 64;
/// How far to look for such a boundary.
const BOUNDARY_SEARCH: usize = 4 << 20;
/// Entry ids below this are looked up in a table.
const SMALL_IDS: usize = 1 << 16;
/// Times of neighbouring records are this near to each other, in microseconds.
const HOUR: u64 = 3_600_000_000;

/// The stretches of a log that hold records, the damage between them left out and reported.
pub(crate) fn spans(log: &[u8], problems: &mut Problems) -> Vec<Span> {
    let mut at = first_record(log, problems);
    let search = Search::new(log, at);
    let mut spans = Vec::new();
    let mut start = at;
    let mut last = None;
    while at < log.len() {
        if let Some((end, time)) = search.accept(at, last) {
            at = end;
            last = time.or(last);
            continue;
        }
        let next = search.next(at + 1, last);
        if search.leads(at, next) {
            at = next;
            continue;
        }
        if start < at {
            spans.push(Span { start: start as u64, end: at as u64 });
        }
        problems.push(lost(log, at, next));
        at = next;
        start = next;
    }
    if start < at {
        spans.push(Span { start: start as u64, end: at as u64 });
    }
    spans
}

/// Where records seem to start, at `near` or behind it: the place for a second walk to begin.
pub(crate) fn boundary(log: &[u8], near: usize, until: usize) -> Option<usize> {
    let seems = |mut at: usize| {
        let mut last: Option<i64> = None;
        for _ in 0..BOUNDARY_CHAIN {
            let Some((record, len)) = minimal(log, at) else { return false };
            let fits = match record.control() {
                Some(control) => well_formed(&control),
                None => last.is_none_or(|last| near_time(last, record.timestamp)),
            };
            if !fits {
                return false;
            }
            if record.entry != 0 && record.timestamp >= 0 {
                last = Some(record.timestamp);
            }
            at += len;
        }
        true
    };
    (near..until.min(near + BOUNDARY_SEARCH)).find(|at| seems(*at))
}

/// Whether bytes look like a log without its header: it begins with a Start record.
pub(crate) fn looks_headerless(head: &[u8]) -> bool {
    start_at(head, 0).is_some()
}

fn first_record(log: &[u8], problems: &mut Problems) -> usize {
    let mut cur = logpose_core::Cursor::new(log, 0);
    match Header::parse(&mut cur) {
        Ok(header) => header.len(),
        Err(error) => {
            let (at, what) =
                if log.starts_with(MAGIC) { (FIXED_HEADER.min(log.len()), "damaged") } else { (0, "missing") };
            problems.push(Problem::new(
                Severity::Damage,
                "no-header",
                0,
                at as u64,
                format!("the header is {what} ({}); reading records from byte {at:#x}", error.kind),
            ));
            at
        }
    }
}

fn lost(log: &[u8], from: usize, to: usize) -> Problem {
    let bytes = log.get(from..to).unwrap_or_default();
    let n = bytes.len();
    let (code, message) = if leading_zeros(bytes) == n {
        ("zero-fill", format!("{n} zero bytes instead of records, as after a power loss"))
    } else if to == log.len() {
        ("lost-bytes", format!("the last {n} bytes contain no complete record"))
    } else {
        ("lost-bytes", format!("{n} bytes contain no readable record; continuing at byte {to:#x}"))
    };
    Problem::new(Severity::Damage, code, from as u64, n as u64, message)
}

/// Every Start record in the log, wherever it stands: the entries' types, by their places.
fn entries(log: &[u8]) -> HashMap<u32, Vec<(usize, Type)>> {
    let mut entries: HashMap<u32, Vec<(usize, Type)>> = HashMap::new();
    let mut at = behind_zeros(log, 0);
    while at < log.len() {
        let next = match start_at(log, at) {
            Some((start, len)) => {
                entries.entry(start.entry).or_default().push((at, type_of(&start)));
                at + len
            }
            None => at + 1,
        };
        at = behind_zeros(log, next);
    }
    entries
}

/// The first place from `at` on where a record may begin that is no zero fill: four zeros in a row are an empty control
/// record, whatever follows them, and so are three.
fn behind_zeros(log: &[u8], at: usize) -> usize {
    match leading_zeros(log.get(at..).unwrap_or_default()) {
        run if at + run == log.len() => log.len(),
        run => at + run.saturating_sub(2),
    }
}

fn type_of(start: &Start<'_>) -> Type {
    std::str::from_utf8(start.type_name).map_or(Type::Bytes, Type::of)
}

/// The Start record at `at`, if it is one beyond doubt.
fn start_at(log: &[u8], at: usize) -> Option<(Start<'_>, usize)> {
    // Cheap tests first: this runs for every byte of a damaged log.
    if !matches!(log.get(at..at + 2), Some([widths, 0]) if widths & 0b1000_0011 == 0) {
        return None;
    }
    let (record, len) = minimal(log, at)?;
    match record.control()? {
        Control::Start(start) if start.exact && printable(start.name) && printable(start.type_name) => {
            Some((start, len))
        }
        _ => None,
    }
}

fn printable(text: &[u8]) -> bool {
    text.iter().all(|byte| *byte >= b' ')
}

/// The record at `at` if it is all there and its header has the spare bit clear and minimal widths, as every
/// known writer leaves them.
fn minimal(log: &[u8], at: usize) -> Option<(Record<'_>, usize)> {
    let (record, len) = whole(log, at)?;
    let size = u32::try_from(record.payload.len()).ok()?;
    let (header, header_len) = RecordHeader { entry: record.entry, size, timestamp: record.timestamp }.emit();
    let same = header_len + record.payload.len() == len && log.get(at) == header.first();
    same.then_some((record, len))
}

fn whole(log: &[u8], at: usize) -> Option<(Record<'_>, usize)> {
    #[cfg(test)]
    tests::LOOKS.set(tests::LOOKS.get() + 1);
    record_at(log, at as u64).map(|(record, len)| (record, place(len)))
}

fn well_formed(control: &Control<'_>) -> bool {
    match control {
        Control::Start(start) => start.exact,
        Control::Finish { .. } => true,
        // SetMetadata has no bytes behind its text if it was read at all, up to what a reader ignores.
        Control::SetMetadata { .. } => true,
        Control::Unknown { .. } => false,
    }
}

fn near_time(last: i64, time: i64) -> bool {
    // Negative times have all eight bytes and come from other clocks.
    time < 0 || last.abs_diff(time) <= HOUR
}

struct Search<'a> {
    log: &'a [u8],
    entries: HashMap<u32, Vec<(usize, Type)>>,
    /// Whether this log's writer uses minimal widths, as all known ones do.
    minimal: bool,
    /// Which of the small ids have an entry: the test that most bytes of a damaged log fail.
    small: Vec<bool>,
}

impl<'a> Search<'a> {
    /// Learns the entries of a log, and its writer's habits from the first records.
    fn new(log: &'a [u8], first: usize) -> Self {
        let mut entries = entries(log);
        let (mut at, mut wide, mut seen) = (first, 0, 0);
        while seen < HABIT
            && let Some((record, len)) = record_at(log, at as u64)
        {
            seen += 1;
            if minimal(log, at).is_none() {
                wide += 1;
                if let Some(Control::Start(start)) = record.control() {
                    let starts = entries.entry(start.entry).or_default();
                    starts.insert(starts.partition_point(|(start, _)| *start < at), (at, type_of(&start)));
                }
            }
            at += place(len);
        }
        let mut small = vec![false; SMALL_IDS];
        for id in entries.keys() {
            small.get_mut(*id as usize).into_iter().for_each(|known| *known = true);
        }
        Self { log, entries, minimal: wide * 2 <= seen, small }
    }

    /// The record at `at`, if it may be one in the course of a plain walk: its end, and its time if that says
    /// something about its neighbours.
    fn accept(&self, at: usize, last: Option<i64>) -> Option<(usize, Option<i64>)> {
        if begins_second(self.log, at) {
            return second_header(self.log, at).map(|header| (at + header.len(), None));
        }
        let (record, len) = record_at(self.log, at as u64)?;
        let end = at + place(len);
        let time = (record.entry != 0 && record.timestamp >= 0).then_some(record.timestamp);
        let typed = match record.control() {
            Some(control) => {
                if record.payload.is_empty() && record.timestamp == 0 {
                    return None; // zero fill
                }
                well_formed(&control).then_some(true)
            }
            None => self.type_of(record.entry, at).filter(|ty| fits(*ty, record.payload)).map(|ty| {
                // The size of other types says nothing, so the next record has to.
                let near = last.is_none_or(|last| near_time(last, record.timestamp));
                near && (ty.fixed_size().is_some() || self.chain(end, 1, time.or(last)))
            }),
        };
        let believed = match typed {
            Some(true) => true,
            // It has a known id and fits its type, but not its neighbours. If nothing better begins within it,
            // the damage is behind it.
            Some(false) => self.chain(end, SHORT_CHAIN, time.or(last)) || self.next_within(at + 1, end, last).is_none(),
            None => self.chain(end, SHORT_CHAIN, time.or(last)),
        };
        believed.then_some((end, time))
    }

    /// Where plausible records begin again, at `from` or behind it; the end of the log if nowhere.
    fn next(&self, from: usize, last: Option<i64>) -> usize {
        self.next_within(from, self.log.len(), last).unwrap_or(self.log.len())
    }

    fn next_within(&self, from: usize, to: usize, last: Option<i64>) -> Option<usize> {
        let mut at = behind_zeros(self.log, from);
        while at < to {
            let header = begins_second(self.log, at) && second_header(self.log, at).is_some();
            if header || self.may_begin(at) && self.chain(at, CHAIN, last) {
                return Some(at);
            }
            at = behind_zeros(self.log, at + 1);
        }
        None
    }

    /// Whether the bytes at `at` may be the header of a plausible record. A search asks this of every byte.
    fn may_begin(&self, at: usize) -> bool {
        let Some(head) = array_at::<HEAD>(self.log, at) else { return true };
        let (header, len) = quick_header(head);
        let known = match header.entry {
            // The shortest control record is Finish.
            0 => header.size >= 5,
            id => self.small.get(id as usize).map_or_else(|| self.entries.contains_key(&id), |known| *known),
        };
        known && len + header.size as usize <= self.log.len() - at
    }

    /// Whether records of known entries lead from one place exactly to another. Then their values are odd, but
    /// no byte is lost: a program may log what does not fit its type.
    fn leads(&self, mut at: usize, to: usize) -> bool {
        for _ in 0..ODD_RECORDS {
            if at >= to {
                break;
            }
            let Some((record, len)) = record_at(self.log, at as u64) else { return false };
            let zero_fill = record.entry == 0 && record.payload.is_empty() && record.timestamp == 0;
            if zero_fill || record.entry != 0 && !self.entries.contains_key(&record.entry) {
                return false;
            }
            at += place(len);
        }
        at == to
    }

    /// Whether `n` plausible records follow each other, or fewer that end where the log ends.
    fn chain(&self, mut at: usize, n: usize, mut last: Option<i64>) -> bool {
        for _ in 0..n {
            if at == self.log.len() {
                return true;
            }
            if let Some(header) = second_header(self.log, at) {
                at += header.len();
                continue;
            }
            let Some((end, time)) = self.plausible(at, last) else { return false };
            at = end;
            last = time.or(last);
        }
        true
    }

    fn plausible(&self, at: usize, last: Option<i64>) -> Option<(usize, Option<i64>)> {
        let (record, len) = if self.minimal { minimal(self.log, at)? } else { whole(self.log, at)? };
        let end = at + len;
        if let Some(control) = record.control() {
            return well_formed(&control).then_some((end, None));
        }
        let ty = self.type_of(record.entry, at)?;
        let plausible = fits(ty, record.payload) && last.is_none_or(|last| near_time(last, record.timestamp));
        plausible.then_some((end, (record.timestamp >= 0).then_some(record.timestamp)))
    }

    /// The type that an entry has at a place: of its last Start before it, or of its first one at all.
    fn type_of(&self, entry: u32, at: usize) -> Option<Type> {
        let starts = self.entries.get(&entry)?;
        let before = starts.partition_point(|(start, _)| *start < at);
        starts.get(before.saturating_sub(1)).map(|(_, ty)| *ty)
    }
}

fn fits(ty: Type, payload: &[u8]) -> bool {
    match (ty, payload) {
        // Writers write 0 or 1.
        (Type::Boolean, [byte]) => *byte <= 1,
        // A search looks at every byte: it must not read megabytes at each.
        (Type::StringArray, _) if payload.len() > LONG => {
            first_word(payload) & 0xffff_ffff <= (payload.len() / 4) as u64
        }
        _ => Value::parse(ty, payload, Layout::Little).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use logpose_core::Problems;

    use super::{place, spans};
    use crate::wire::{Header, Record};

    thread_local! {
        /// Records looked at in searches.
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    /// A log of a few entries and cycles.
    fn log() -> Vec<u8> {
        let mut log = Vec::new();
        Header { version: 0x0100, extra: b"" }.emit(&mut log);
        for entry in 1..=100_u32 {
            let mut start = vec![0];
            start.extend(entry.to_le_bytes());
            for text in [&b"a"[..], b"int64", b""] {
                start.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
                start.extend(text);
            }
            Record { entry: 0, timestamp: 1, payload: &start }.emit(&mut log);
        }
        for n in 0..1000_i64 {
            let entry = u32::try_from(n % 100).unwrap() + 1;
            Record { entry, timestamp: 20_000 * n, payload: &n.to_le_bytes() }.emit(&mut log);
        }
        log
    }

    #[test]
    fn a_search_looks_at_few_records_whatever_repeats() {
        const LENGTH: usize = 1 << 17;
        let patterns: [(&str, &[u8], usize); 7] = [
            ("zeros", &[0], 0),
            ("zeros with gaps", &[0, 0, 0, 1], LENGTH / 2),
            ("ones", &[1], 0),
            ("0xff", &[0xff], 0),
            ("text", b"[INFO] the quick brown fox jumps over the lazy dog 0123456789\r\n", LENGTH / 8),
            ("heads of records of an entry", &[0x20, 1, 8, 0, 0, 0], LENGTH),
            ("heads of control records", &[0x20, 0, 26, 0, 0, 0], LENGTH),
        ];
        for (name, pattern, most) in patterns {
            let mut damaged = log();
            let (front, whole) = (damaged.len(), damaged.clone());
            damaged.extend(pattern.iter().cycle().take(LENGTH));
            damaged.extend(&whole[12..]);
            LOOKS.set(0);
            let mut problems = Problems::default();
            let found = spans(&damaged, &mut problems);
            let looks = LOOKS.get();
            // The walk over the records around it costs the same in every case.
            assert!(looks <= most + 4000, "{name}: {looks} looks in {LENGTH} bytes");
            // A few bytes more may look like a record.
            let found: Vec<_> = found.iter().map(|span| (place(span.start), place(span.end))).collect();
            let [(12, end), (start, last)] = found[..] else { panic!("{name}: {found:?}") };
            assert!(last == damaged.len() && end.abs_diff(front) < 30 && start.abs_diff(front + LENGTH) < 30, "{name}");
        }
    }
}
