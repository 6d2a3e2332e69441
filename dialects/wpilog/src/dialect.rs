use std::ops::ControlFlow;

use logpose_core::{
    Bindings, Channel, ChannelId, ColumnBuilder, Columns, Confidence, Cursor, Declaration, Decode, DecodeError,
    Dialect, Encode, EncodeOptions, Fact, Fate, Index, IndexBuilder, Info, Layout, Lookup, Problem, Problems, Read,
    RecordLine, Row, Sample, Severity, Sink, SinkError, SlotId, Span, Support, Time, Type, Value,
};

use crate::decode::StreamDecoder;
use crate::encode::Encoder;
use crate::reader::Reader;
use crate::recover;
use crate::walk::{Stop, Visit, Walk, record_at};
use crate::wire::{Header, metadata_of_2022};

/// WPILib data log files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wpilog;

static INFO: Info = Info {
    name: "wpilog",
    title: "WPILib data log",
    extensions: &["wpilog"],
    files: Support { read: true, write: true },
    live: Support { read: false, write: false },
    scheme: None,
};

impl Dialect for Wpilog {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.starts_with(b"WPILOG") {
            Confidence::Yes
        } else if recover::looks_headerless(head) {
            Confidence::Perhaps
        } else {
            Confidence::No
        }
    }

    fn index(&self, log: &[u8], read: &Read<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let part = read_all::<IndexBuilder>(log, read, problems)?;
        let Part { walk, visit: mut builder, .. } = part.whole;
        let (mut channels, fates) = walk.bindings.resolve();
        report_strays(&walk.bindings, &fates, &builder, problems);
        check_sizes(log, &walk.bindings, &fates, &mut channels, &mut builder, problems);
        let sorted = builder.sorted();
        let zero_bytes = walk.zero_bytes;
        let mut facts = facts(part.header);
        facts.push(Fact { key: "control_bytes", value: walk.control_bytes.to_string() });
        facts.push(Fact { key: "zero_bytes", value: zero_bytes.to_string() });
        Ok(Index {
            channels: builder.channels(channels, &fates),
            slots: fates,
            marks: Vec::new(),
            spans: part.spans,
            records: walk.records,
            sorted,
            facts,
        })
    }

    fn columns(&self, log: &[u8], read: &Read<'_>, problems: &mut Problems) -> Result<Columns, DecodeError> {
        let part = read_all::<ColumnBuilder>(log, read, problems)?;
        let Part { walk, visit, .. } = part.whole;
        let (channels, fates) = walk.bindings.resolve();
        let (mut columns, doubtful) = visit.columns(channels, &fates, Layout::Little);
        if !doubtful.is_empty() || fates.iter().any(|fate| !matches!(fate, Fate::Started(_))) {
            // Values that do not fit their type, and data without a Start: the index looks at each and reports.
            let mut problems_again = Problems::default();
            let index = self.index(log, read, &mut problems_again)?;
            *problems = problems_again;
            let ids: Vec<ChannelId> = doubtful.iter().filter_map(|id| ChannelId::try_from(*id).ok()).collect();
            columns.replace(&doubtful, self.gather(log, &index, &ids, read.prepare)?);
        }
        Ok(columns)
    }

    fn times(&self, log: &[u8], _: &Index, at: &[u64], out: &mut Vec<Time>) {
        out.extend(
            at.iter()
                .map(|at| record_at(log, *at).map_or(Time::ZERO, |(record, _)| Time::from_micros(record.timestamp))),
        );
    }

    fn samples<'a>(&self, log: &'a [u8], index: &Index, rows: &[Row], out: &mut Vec<Sample<'a>>) {
        let mut last: Option<(ChannelId, Type)> = None;
        out.extend(rows.iter().filter_map(|row| {
            let ty = match last {
                Some((channel, ty)) if channel == row.channel => ty,
                _ => {
                    let ty = index.channels.get(row.channel as usize)?.channel.ty();
                    last = Some((row.channel, ty));
                    ty
                }
            };
            let (record, _) = record_at(log, row.at)?;
            let value = Value::parse(ty, record.payload, Layout::Little).ok()?;
            Some(Sample { channel: row.channel, time: row.time, value })
        }));
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let mut walk = Walk::new(u32::try_from(index.slots.len()).unwrap_or(u32::MAX));
        let channels = index.channels.iter().map(|c| (c.channel.ty(), false)).collect();
        let mut replay =
            Replay { log, index, lookup, sink, channels, batch: Vec::with_capacity(BATCH), result: Ok(()) };
        for span in &index.spans {
            let (mut at, end) = (place(span.start), place(span.end));
            // In steps, so that a sink that wants no more ends the walk.
            while at < end && replay.result.is_ok() {
                at = match walk.run(log, at, end.min(at + STEP), &mut replay) {
                    Stop::At(at) => at,
                    Stop::Truncated(_) => break,
                };
            }
        }
        replay.flush();
        replay.result
    }

    fn records(
        &self,
        log: &[u8],
        read: &Read<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let spans = if read.salvage {
            recover::spans(log, &mut Problems::default())
        } else {
            vec![Span { start: 0, end: log.len() as u64 }]
        };
        for span in spans {
            if records_of(log, span, from, line)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn decoder(&self, read: &Read<'_>) -> Box<dyn Decode> {
        Box::new(StreamDecoder::new(read.limits))
    }

    fn encoder(&self, options: &EncodeOptions) -> Option<Box<dyn Encode>> {
        Some(Box::new(Encoder::new(options.extra_header.as_deref().unwrap_or_default())))
    }
}

/// The lines of one stretch of records.
fn records_of(
    log: &[u8],
    span: Span,
    from: u64,
    line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, DecodeError> {
    let start = if span.start == 0 {
        let mut cur = Cursor::new(log, 0);
        let header = Header::parse(&mut cur)?;
        if from == 0 && line(RecordLine { at: 0, length: header.len() as u64, text: &header }).is_break() {
            return Ok(ControlFlow::Break(()));
        }
        header.len() as u64
    } else {
        span.start
    };
    let mut reader = Reader::over(log, start.max(from).min(span.end), span.end);
    loop {
        let at = reader.offset();
        match reader.next() {
            None => return Ok(ControlFlow::Continue(())),
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(record)) => {
                let length = reader.offset() - at;
                if line(RecordLine { at, length, text: &record }).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }
}

/// Records in a step of a replay, in bytes of the log.
const STEP: usize = 1 << 20;
/// Samples in a batch.
const BATCH: usize = 1024;
/// A log is split for two threads only if each has at least this much to do.
const PART: usize = 2 << 20;

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

fn facts(header: Option<Header<'_>>) -> Vec<Fact> {
    let Some(header) = header else { return vec![Fact { key: "version", value: "1.0 (header missing)".into() }] };
    let [minor, major] = header.version.to_le_bytes();
    vec![
        Fact { key: "version", value: format!("{major}.{minor}") },
        Fact { key: "extra_header", value: String::from_utf8_lossy(header.extra).into_owned() },
    ]
}

/// What a walk makes: the index or the columns. Parts of a log are walked on their own and joined.
trait Product: Visit + Send {
    fn new(read: &Read<'_>) -> Self;
    fn join(&mut self, later: Self, map: &[Option<SlotId>]);
}

impl Product for IndexBuilder {
    fn new(_: &Read<'_>) -> Self {
        Self::default()
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
}

impl Product for ColumnBuilder {
    fn new(read: &Read<'_>) -> Self {
        Self::new(read.prepare)
    }

    fn join(&mut self, later: Self, map: &[Option<SlotId>]) {
        self.join(later, map);
    }
}

impl Visit for ColumnBuilder {
    #[inline(always)]
    fn data(&mut self, slot: SlotId, _: u64, timestamp: i64, payload: &[u8], _: u64) {
        self.record(slot, timestamp.saturating_mul(1000), payload);
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, _: i64) {
        if Type::of(&declaration.type_name).fixed_size().is_none() {
            self.expect_variable(slot);
        }
    }
}

/// What walks over the whole log made.
struct Whole<'a, P> {
    header: Option<Header<'a>>,
    spans: Vec<Span>,
    whole: Part<P>,
}

/// What one walk made, and where it ended.
struct Part<P> {
    walk: Walk,
    visit: P,
    stop: Stop,
}

impl<P: Product> Part<P> {
    fn walk(log: &[u8], from: usize, until: usize, read: &Read<'_>) -> Self {
        let (mut walk, mut visit) = (Walk::new(read.limits.channels), P::new(read));
        let stop = walk.run(log, from, until, &mut visit);
        Self { walk, visit, stop }
    }

    fn join(&mut self, later: Self) {
        let map = self.walk.bindings.join(later.walk.bindings);
        self.visit.join(later.visit, &map);
        self.walk.problems.append(later.walk.problems);
        self.walk.records += later.walk.records;
        self.walk.control_bytes += later.walk.control_bytes;
        self.walk.zero_bytes += later.walk.zero_bytes;
        self.stop = later.stop;
    }
}

fn read_all<'a, P: Product>(
    log: &'a [u8],
    read: &Read<'_>,
    problems: &mut Problems,
) -> Result<Whole<'a, P>, DecodeError> {
    if read.salvage {
        return Ok(salvage(log, read, problems));
    }
    let mut cur = Cursor::new(log, 0);
    let header = Header::parse(&mut cur)?;
    if header.version != crate::wire::VERSION {
        let [minor, major] = header.version.to_le_bytes();
        let severity = if major == 1 { Severity::Note } else { Severity::Warning };
        problems.push(Problem::new(
            severity,
            "version",
            6,
            2,
            format!("version {major}.{minor} is newer than 1.0; it is read as 1.0"),
        ));
    }
    let start = place(cur.offset());
    let mut whole = parts(log, start, log.len(), read, read.threads);
    problems.append(std::mem::take(&mut whole.walk.problems));
    let end = whole.stop.at();
    if let Stop::Truncated(at) = whole.stop {
        let rest = log.len() - at;
        let error = Reader::over(log, at as u64, log.len() as u64).find_map(Result::err);
        let why = error.map_or_else(|| "a record is not all there".into(), |error| error.kind.to_string());
        let message = format!("{why}; the last {rest} bytes are not read. If more follows, `logpose recover` finds it");
        problems.push(Problem::new(Severity::Damage, "truncated", at as u64, rest as u64, message));
    }
    let spans = vec![Span { start: start as u64, end: end as u64 }];
    Ok(Whole { header: Some(header), spans, whole })
}

/// The bytes from a record at `from` to the end, in as many parts as there are threads.
///
/// The second part begins at a place where records seem to start. Whether it is one is known when the first
/// part arrives there: if it does not, all is walked again in one. So the result is always that of one walk.
fn parts<P: Product>(log: &[u8], from: usize, until: usize, read: &Read<'_>, threads: usize) -> Part<P> {
    let alone = || Part::walk(log, from, until, read);
    if threads < 2 || until - from < 2 * PART {
        return alone();
    }
    let first = threads / 2;
    let middle = from + (until - from) / threads * first;
    let Some(middle) = recover::boundary(log, middle, until) else { return alone() };
    let (mut a, mut b) = (None, None);
    (read.join)(&mut || a = Some(parts::<P>(log, from, middle, read, first)), &mut || {
        b = Some(parts::<P>(log, middle, until, read, threads - first))
    });
    let (Some(mut a), Some(b)) = (a, b) else { return alone() };
    match a.stop {
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

fn salvage<'a, P: Product>(log: &'a [u8], read: &Read<'_>, problems: &mut Problems) -> Whole<'a, P> {
    let header = Header::parse(&mut Cursor::new(log, 0)).ok();
    let spans = recover::spans(log, problems);
    let mut whole = Part::<P>::walk(log, 0, 0, read);
    for span in &spans {
        whole.stop = whole.walk.run(log, place(span.start), place(span.end), &mut whole.visit);
    }
    problems.append(std::mem::take(&mut whole.walk.problems));
    Whole { header, spans, whole }
}

/// Says which records belong to no live entry, and what was made of them.
fn report_strays(bindings: &Bindings, fates: &[Fate], builder: &IndexBuilder, problems: &mut Problems) {
    for ((slot, fate), found) in bindings.slots().iter().zip(fates).zip(builder.slots()) {
        let (n, bytes, Some(at)) = (found.len(), found.bytes(), found.first_at()) else { continue };
        let id = slot.id;
        let problem = match fate {
            Fate::Started(_) => continue,
            Fate::Late(_) => Problem::new(
                Severity::Note,
                "late-start",
                at,
                bytes,
                format!("{n} records of entry {id} come before its Start, as WPILib 2024 writes them; they are kept"),
            ),
            Fate::Ended(_) => Problem::new(
                Severity::Warning,
                "after-finish",
                at,
                bytes,
                format!("{n} records of entry {id} come after its Finish; they are kept"),
            ),
            Fate::Unknown => Problem::new(
                Severity::Damage,
                "unknown-entry",
                at,
                bytes,
                format!("{n} records of entry {id}, which is never started; they cannot be read"),
            ),
        };
        problems.push(problem);
    }
}

/// Takes out the records whose payload is no value of their type, and reports each.
fn check_sizes(
    log: &[u8],
    bindings: &Bindings,
    fates: &[Fate],
    channels: &mut [Channel],
    builder: &mut IndexBuilder,
    problems: &mut Problems,
) {
    for ((slot, fate), found) in bindings.slots().iter().zip(fates).zip(builder.slots_mut()) {
        let Some(channel) = fate.channel().and_then(|id| channels.get_mut(id as usize)) else { continue };
        let Some(first) = found.first_at() else { continue };
        if found.min() == i64::MIN || found.max() == i64::MAX {
            let message = format!("{:?} has times beyond ±292 years; they are shown as the limit", channel.name);
            problems.push(Problem::new(Severity::Damage, "time-out-of-range", first, 0, message));
        }
        let ty = channel.ty();
        let fits = match (ty.fixed_size(), ty.element_size()) {
            (Some(size), _) => found.sizes_are(size),
            (_, Some(size)) => found.sizes_are_multiples_of(size),
            _ => ty != Type::StringArray,
        };
        if fits {
            continue;
        }
        found.retain(|at| {
            let (record, len) = record_at(log, at)?;
            let kept = Some((u32::try_from(record.payload.len()).ok()?, record.timestamp.saturating_mul(1000), len));
            let Err(misfit) = Value::parse(ty, record.payload, Layout::Little) else { return kept };
            if let Some(metadata) = metadata_of_2022(slot.id, record.payload) {
                channel.metadata = String::from_utf8_lossy(metadata).into_owned();
                problems.push(Problem::new(
                    Severity::Note,
                    "metadata-2022",
                    at,
                    len,
                    format!("metadata of {:?} in a data record, as WPILib 2022 wrote them", channel.name),
                ));
            } else {
                problems.push(Problem::new(
                    Severity::Damage,
                    "bad-value",
                    at,
                    len,
                    format!("no value of {:?} ({}): {misfit}; skipped", channel.name, channel.type_name),
                ));
            }
            None
        });
    }
}

/// Hands the records of a walk to a sink.
struct Replay<'a, 's> {
    log: &'a [u8],
    index: &'a Index,
    lookup: &'a Lookup,
    sink: &'s mut dyn Sink,
    /// For each channel its type, and whether the sink knows it.
    channels: Vec<(Type, bool)>,
    batch: Vec<Sample<'a>>,
    result: Result<(), SinkError>,
}

impl<'a> Replay<'a, '_> {
    fn channel(&self, slot: SlotId) -> Option<ChannelId> {
        let id = self.index.slots.get(slot as usize)?.channel()?;
        self.lookup.wants(id).then_some(id)
    }

    /// The channel's type, once the sink knows the channel.
    fn declared(&mut self, id: ChannelId, metadata: Option<&str>) -> Option<Type> {
        let (ty, known) = self.channels.get_mut(id as usize)?;
        let ty = *ty;
        if !*known {
            *known = true;
            let mut channel = self.index.channels.get(id as usize)?.channel.clone();
            if let Some(metadata) = metadata {
                metadata.clone_into(&mut channel.metadata);
            }
            self.flush();
            let result = self.sink.channel(id, &channel);
            self.note(result);
        }
        Some(ty)
    }

    fn flush(&mut self) {
        if !self.batch.is_empty() && self.result.is_ok() {
            let result = self.sink.samples(&self.batch);
            self.note(result);
        }
        self.batch.clear();
    }

    fn note(&mut self, result: Result<(), SinkError>) {
        if self.result.is_ok() {
            self.result = result;
        }
    }
}

impl Visit for Replay<'_, '_> {
    #[inline]
    fn data(&mut self, slot: SlotId, at: u64, timestamp: i64, payload: &[u8], len: u64) {
        let time = Time::from_micros(timestamp);
        if !self.lookup.within(time) {
            return;
        }
        let Some(id) = self.channel(slot) else { return };
        let Some(ty) = self.declared(id, None) else { return };
        // The same bytes again, borrowed from the log for as long as the batch lives.
        let end = place(at + len);
        let Some(payload) = self.log.get(end - payload.len()..end) else { return };
        let Ok(value) = Value::parse(ty, payload, Layout::Little) else { return };
        self.batch.push(Sample { channel: id, time, value });
        if self.batch.len() == BATCH {
            self.flush();
        }
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        let known = self.channels.get(id as usize).is_some_and(|(_, known)| *known);
        if known {
            // Started again: its metadata may be others.
            self.metadata(slot, &declaration.metadata, timestamp);
        } else {
            self.declared(id, Some(&declaration.metadata));
        }
    }

    fn metadata(&mut self, slot: SlotId, metadata: &str, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        self.declared(id, None);
        self.flush();
        let result = self.sink.metadata(id, Time::from_micros(timestamp), metadata);
        self.note(result);
    }

    fn end(&mut self, slot: SlotId, timestamp: i64) {
        let Some(id) = self.channel(slot) else { return };
        self.flush();
        let result = self.sink.end(id, Time::from_micros(timestamp));
        self.note(result);
    }
}

#[cfg(test)]
mod tests {
    use super::Wpilog;
    use crate::error::{Error, ErrorKind};
    use logpose_core::{Dialect, Problems, Read};

    #[test]
    fn another_format_is_refused_with_its_first_bytes() {
        let error = Wpilog.index(b"MCAP0\r\n", &Read::default(), &mut Problems::default()).unwrap_err();
        assert_eq!((error.code, error.at), ("bad-magic", 0));
        let expected = Error { at: 0, kind: ErrorKind::BadMagic { found: b"MCAP0\r".to_vec() } };
        assert!(error.message == expected.kind.to_string());
    }
}
