//! Walks over segments of a log, in parallel if there are threads. The joined result is that of a single walk.

use logpose_core::{
    Cursor, Declaration, DecodeError, IndexBuilder, Problem, Problems, ReadOptions, Severity, SlotId, Span, Type,
};

use crate::reader::Reader;
use crate::recover;
use crate::walk::{Stop, Visit, Walk, place};
use crate::wire::{Header, VERSION};

/// A log is split for two threads only if each has at least this much to do.
const MIN_SEGMENT: usize = 2 << 20;
/// A walk that begins in the middle ends when it has met so many entries: in a log with very many, finding out what the
/// entries of a later part are takes far more memory than walking on from the front.
const MOST_SLOTS: usize = 1 << 15;
/// Bytes between two places where a walk may begin later.
const STEP: usize = 1 << 20;

/// What a walk makes: the index, a sum. Segments of a log are walked on their own, perhaps side by side,
/// and joined.
pub trait Collect: Visit + Send {
    /// Nothing yet.
    fn new(read: &ReadOptions<'_>) -> Self;
    /// Appends what a walk over the next segment made; `map` names this side's slot for each of the other's. A slot
    /// that began in an earlier segment has no declaration in the later one.
    fn join(&mut self, later: Self, map: &[Option<SlotId>]);
}

impl Collect for IndexBuilder {
    fn new(read: &ReadOptions<'_>) -> Self {
        let builder = Self::new(read.prepare);
        if read.positions { builder } else { builder.counting() }
    }

    fn join(&mut self, later: Self, map: &[Option<SlotId>]) {
        self.join(later, map);
    }
}

impl Visit for IndexBuilder {
    #[inline(always)]
    fn data(&mut self, slot: SlotId, at: u64, timestamp: i64, payload: &[u8], len: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "a payload's size is 32 bits on the wire")]
        self.record(slot, at, timestamp.saturating_mul(1000), payload.len() as u32, len);
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, _: i64) {
        // Only a look at each says whether they are values of their type.
        if Type::of(&declaration.type_name) == Type::StringArray {
            self.place(slot);
        }
    }
}

/// What walks over a whole log made.
#[derive(Debug)]
pub struct Collected<'a, C> {
    /// The log's header, if it has one.
    pub header: Option<Header<'a>>,
    /// The stretches of bytes that were walked.
    pub spans: Vec<Span>,
    /// What the walks learned.
    pub walk: Walk,
    /// What they made.
    pub product: C,
    /// Places where records begin, every megabyte or so.
    pub steps: Vec<u64>,
}

/// The result of walking one segment, and where the walk ended.
struct Segment<C> {
    walk: Walk,
    product: C,
    stop: Stop,
    steps: Vec<u64>,
    most_slots: usize,
    /// Whether it met more than that, and ended early.
    gave_up: bool,
}

impl<C: Collect> Segment<C> {
    fn walk(log: &[u8], from: usize, until: usize, read: &ReadOptions<'_>, most_slots: usize) -> Self {
        let (walk, product) = (Walk::new(read.limits.channels), C::new(read));
        let mut segment = Self { walk, product, stop: Stop::At(from), steps: Vec::new(), most_slots, gave_up: false };
        segment.run(log, from, until, read);
        segment
    }

    /// Walks on, over another stretch.
    fn run(&mut self, log: &[u8], from: usize, until: usize, read: &ReadOptions<'_>) {
        self.stop = Stop::At(from);
        while let Stop::At(at) = self.stop
            && at < until
        {
            self.steps.push(at as u64);
            self.stop = self.walk.run(log, at, until.min(at + STEP), &mut self.product);
            (read.passed)(log.get(at..self.stop.at()).unwrap_or_default());
            if self.walk.bindings.slots().len() > self.most_slots {
                self.gave_up = true;
                return;
            }
        }
    }

    fn join(&mut self, later: Self) {
        let map = self.walk.bindings.join(later.walk.bindings);
        self.product.join(later.product, &map);
        self.walk.problems.append(later.walk.problems);
        self.walk.records += later.walk.records;
        self.walk.control_bytes += later.walk.control_bytes;
        self.walk.zero_bytes += later.walk.zero_bytes;
        self.stop = later.stop;
        self.steps.extend(later.steps);
    }
}

/// Walks over a whole log. Reports what is odd or lost; an error means that this is not a log at all.
pub fn collect<'a, C: Collect>(
    log: &'a [u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
) -> Result<Collected<'a, C>, DecodeError> {
    if read.salvage {
        return Ok(salvage(log, read, problems));
    }
    let mut cur = Cursor::new(log, 0);
    let header = Header::parse(&mut cur)?;
    problems_of_version(&header, problems);
    let start = place(cur.offset());
    let mut whole = segments(log, start, log.len(), read, read.threads, usize::MAX);
    whole.walk.report_unknown();
    problems.append(std::mem::take(&mut whole.walk.problems));
    let end = whole.stop.at();
    if let Stop::Truncated(at) = whole.stop {
        let rest = log.len() - at;
        let error = Reader::over(log, at as u64, log.len() as u64).find_map(Result::err);
        let why = error.map_or_else(|| "a record is truncated".into(), |error| error.kind.to_string());
        let message =
            format!("{why}; skipped the last {rest} bytes. Run `logpose recover` to search them for more records");
        problems.push(Problem::new(Severity::Damage, "truncated", at as u64, rest as u64, message));
    }
    let spans = vec![Span { start: start as u64, end: end as u64 }];
    Ok(Collected { header: Some(header), spans, walk: whole.walk, product: whole.product, steps: whole.steps })
}

/// The bytes from a record at `from` to the end, in one segment per thread.
///
/// The second segment begins where records seem to start. The guess was right if the first segment ends exactly there;
/// otherwise everything is walked again as one segment. So the result is always that of a single walk.
fn segments<C: Collect>(
    log: &[u8],
    from: usize,
    until: usize,
    read: &ReadOptions<'_>,
    threads: usize,
    most_slots: usize,
) -> Segment<C> {
    let alone = || Segment::walk(log, from, until, read, most_slots);
    if threads < 2 || until - from < 2 * MIN_SEGMENT {
        return alone();
    }
    let first = threads / 2;
    let middle = from + (until - from) / threads * first;
    let Some(middle) = recover::boundary(log, middle, until) else { return alone() };
    let (mut a, mut b) = (None, None);
    (read.join)(&mut || a = Some(segments::<C>(log, from, middle, read, first, most_slots)), &mut || {
        b = Some(segments::<C>(log, middle, until, read, threads - first, MOST_SLOTS))
    });
    let (Some(mut a), Some(b)) = (a, b) else { return alone() };
    match a.stop {
        _ if a.gave_up => {}
        Stop::At(at) if at == middle && b.gave_up => {
            drop(b);
            a.run(log, middle, until, read);
        }
        Stop::At(at) if at == middle => {
            if !a.walk.bindings.joins(&b.walk.bindings) {
                return alone();
            }
            a.join(b);
        }
        Stop::At(_) => return alone(),
        Stop::Truncated(_) => {}
    }
    a
}

fn problems_of_version(header: &Header<'_>, problems: &mut Problems) {
    if header.version == VERSION {
        return;
    }
    let [minor, major] = header.version.to_le_bytes();
    let severity = if major == 1 { Severity::Note } else { Severity::Warning };
    let message = format!("version {major}.{minor} is newer than 1.0; reading it as 1.0");
    problems.push(Problem::new(severity, "version", 6, 2, message));
}

fn salvage<'a, C: Collect>(log: &'a [u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Collected<'a, C> {
    let header = Header::parse(&mut Cursor::new(log, 0)).ok();
    header.iter().for_each(|header| problems_of_version(header, problems));
    let mut spans = recover::spans(log, problems);
    let mut whole = Segment::<C>::walk(log, 0, 0, read, usize::MAX);
    for span in &mut spans {
        whole.run(log, place(span.start), place(span.end), read);
        if let Stop::Truncated(at) = whole.stop {
            span.end = at as u64;
        }
    }
    whole.walk.report_unknown();
    problems.append(std::mem::take(&mut whole.walk.problems));
    Collected { header, spans, walk: whole.walk, product: whole.product, steps: whole.steps }
}

#[cfg(test)]
mod tests {
    use super::MOST_SLOTS;
    use crate::Wpilog;
    use logpose_core::{Channel, EncodeOptions, FileDialect as _, Index, Problems, ReadOptions, Sample, Time, Value};

    #[test]
    fn very_many_entries_are_walked_from_the_front() {
        let (mut log, mut encoder) = (Vec::new(), Wpilog.encoder(&EncodeOptions::default()).unwrap());
        let channels = u32::try_from(2 * MOST_SLOTS).unwrap();
        encoder.begin(&mut log);
        for id in 0..channels {
            encoder.channel(id, &Channel::new(format!("/a/rather/long/name/{id}"), "double"), &mut log).unwrap();
        }
        for id in (0..channels).chain(0..channels) {
            let (time, value) = (Time::from_millis(id.into()), Value::Double(id.into()));
            encoder.samples(&[Sample { channel: id, time, value }], &mut log).unwrap();
        }
        let index = |threads| -> Index {
            let read = ReadOptions { threads, ..ReadOptions::default() };
            let mut problems = Problems::default();
            let index = Wpilog.index(&log, &read, &mut problems).unwrap();
            assert!(problems.is_empty());
            index
        };
        let whole = index(1);
        assert_eq!((whole.samples(), whole.channels.len()), (2 * u64::from(channels), channels as usize));
        for threads in [2, 3, 4] {
            let found = index(threads);
            assert_eq!((found.records, found.sorted, found.slots), (whole.records, whole.sorted, whole.slots.clone()));
            for (found, whole) in found.channels.iter().zip(&whole.channels) {
                assert_eq!((&found.channel, found.first, found.last), (&whole.channel, whole.first, whole.last));
                assert!(found.positions.iter().eq(whole.positions.iter()));
            }
        }
    }
}
