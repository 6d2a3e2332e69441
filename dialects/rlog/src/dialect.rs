//! All that the rest of logpose sees of RLOG.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::ControlFlow;

use logpose_core::{
    Bindings, Channel, ChannelId, ChannelIndex, ColumnBuilder, Columns, Confidence, Cursor, Decode, DecodeError,
    Dialect, Encode, EncodeOptions, Fact, Fate, FileDialect, Index, IndexBuilder, Info, Layout, Life, Limits,
    LiveDialect, Lookup, Mark, Problem, Problems, Reach, ReadOptions, RecordLine, Resolved, Row, Sample, Serve,
    Session, Severity, Sink, SinkError, SlotId, Span, Support, TakeSamples, Time, Transport, Type,
};

use crate::model::{Show, key_of, resolve, value};
use crate::reader::{Decoder, Reader, repeated_note, repeated_revision, revision_of};
use crate::recover;
use crate::replay::{Bound, Output, bad_value};
use crate::session::{RlogClient, RlogServer};
use crate::walk::{Collect, Field, Found, SPLIT, Stop, Visit, Walk};
use crate::wire::{FIELD, Kind, Message, Revision};
use crate::writer::{Encoder, Options};

/// AdvantageKit's byte log, files and live.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rlog;

/// Its name in commands and in code.
pub const NAME: &str = "rlog";

static INFO: Info = Info {
    extensions: &["rlog"],
    files: Support { read: true, write: true },
    live: Support { read: true, write: true },
    reached: &[Reach { scheme: "rlog", transport: Transport::Tcp { port: 5800 } }],
    revisions: &[1, 2],
    ..Info::new(NAME, "AdvantageKit RLOG")
};

impl Dialect for Rlog {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        Some(self)
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        Some(self)
    }
}

impl LiveDialect for Rlog {
    fn client(&self, limits: Limits) -> Option<Box<dyn Session>> {
        Some(Box::new(RlogClient::new(limits)))
    }

    fn server(&self, options: &EncodeOptions) -> Option<Box<dyn Serve>> {
        Some(Box::new(RlogServer::new(Options::of(options)?)))
    }
}

impl FileDialect for Rlog {
    fn sniff(&self, head: &[u8]) -> Confidence {
        match recover::header(head) {
            Some((revision, first)) if recover::follows(head, 10, revision, first) => Confidence::Yes,
            // Nothing but a later key or a repeated time is wrong with it.
            Some((_, first)) if first > 0.0 && head.get(10).is_some_and(|byte| *byte <= FIELD) => Confidence::Perhaps,
            _ if recover::is_headless(head) => Confidence::Perhaps,
            _ => Confidence::No,
        }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        index(log, read, problems, SPLIT)
    }

    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        scan(log, index, lookup, prepare)
    }

    fn times(&self, log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        index.marked_times(NAME, log.len() as u64, at, out)
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let revision = revision_in(index)?;
        let mut samples = Vec::with_capacity(rows.len());
        for row in rows {
            let rest = log.get(place(row.at)..).unwrap_or_default();
            let message = Message::parse(revision, &mut Cursor::new(rest, row.at)).map_err(DecodeError::from)?;
            let Message::Field { kind, value: bytes, .. } = message else {
                return Err(DecodeError::stale_index(NAME, row.at).into());
            };
            let channel = index.channel(NAME, row.channel)?;
            if let Ok(value) = value(revision, kind.map_or(0, Kind::byte), channel.channel.ty(), bytes) {
                samples.push(Sample { channel: row.channel, time: row.time, value });
            }
        }
        take(&samples)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let revision = revision_in(index)?;
        let mut bound = Bound::to(index.channels.iter().map(|c| &c.channel));
        let mut output =
            Output { revision, bound: &mut bound, lookup, sink, report: false, batch: Vec::new(), error: None };
        let walked = walk_indexed(log, index, revision, &mut output);
        output.declare_empty(|id| index.channels.get(id as usize).is_some_and(|c| c.samples == 0));
        output.finish()?;
        Ok(walked?)
    }

    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let plan = plan(log, read, &mut Problems::default())?;
        let first = plan.spans.first().map_or(0, |(start, _)| *start);
        if from == 0 && first > 0 {
            let text = format!("revision {}", plan.revision.byte());
            if line(RecordLine { at: 0, length: 1, text: &text }).is_break() {
                return Ok(());
            }
        }
        let mut keys = HashMap::new();
        for (start, end) in plan.spans {
            let bytes = log.get(start..end).unwrap_or_default();
            let mut reader = Reader::with_revision(bytes, start as u64, plan.revision);
            loop {
                let at = reader.offset();
                let Some(message) = reader.next() else { break };
                let message = message?;
                if let Message::Key { id, name, type_name } = message {
                    keys.insert(id, (name, type_name));
                }
                let text = Line { revision: plan.revision, message, keys: &keys };
                if at >= from && line(RecordLine { at, length: reader.offset() - at, text: &text }).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        Some(Box::new(Decoder::new(read)))
    }

    fn encoder(&self, options: &EncodeOptions) -> Option<Box<dyn Encode>> {
        Some(Box::new(Encoder::new(Options::of(options)?)))
    }
}

/// One message with the name and the value that the keys before it give.
struct Line<'l, 'a> {
    revision: Revision,
    message: Message<'a>,
    keys: &'l HashMap<u16, (&'a [u8], Option<&'a [u8]>)>,
}

impl fmt::Display for Line<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message::Field { key, kind, value: bytes } = self.message else { return self.message.fmt(f) };
        let Some((name, type_name)) = self.keys.get(&key) else { return write!(f, "{} (unknown key)", self.message) };
        write!(f, "field {key} {:?} ", String::from_utf8_lossy(name))?;
        let type_name = String::from_utf8_lossy(type_name.unwrap_or_default());
        match kind {
            Some(kind) => write!(f, "{}", kind.name())?,
            None => write!(f, "{type_name:?}")?,
        }
        match value(self.revision, kind.map_or(0, Kind::byte), Type::of(&type_name), bytes) {
            _ if kind == Some(Kind::Null) => Ok(()),
            Ok(value) => write!(f, " = {}", Show(value)),
            Err(misfit) => write!(f, " {} ({misfit})", crate::wire::Hex(bytes)),
        }
    }
}

/// Where the messages of a log are.
struct Plan {
    revision: Revision,
    spans: Vec<(usize, usize)>,
}

fn plan(log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Plan, DecodeError> {
    if read.salvage {
        let found = recover::salvage(log, read.revision, problems)?;
        return Ok(Plan { revision: found.revision, spans: found.spans });
    }
    let (revision, start) = revision_of(log, read.revision)?;
    if start == 0 {
        let message = format!("missing revision byte; reading as {revision} as requested");
        problems.push(Problem::new(Severity::Note, "missing-revision", 0, 0, message));
    } else if let Some(again) = repeated_revision(log, revision) {
        problems.push(repeated_note(again as u64));
        return Ok(Plan { revision, spans: vec![(start, again), (again + 1, log.len())] });
    }
    Ok(Plan { revision, spans: vec![(start, log.len())] })
}

/// Walks all stretches of a log. Returns what was found and the stretches that hold whole messages.
fn walk<'a, V: Collect<'a>>(
    log: &'a [u8],
    plan: &Plan,
    read: &ReadOptions<'_>,
    split: usize,
    problems: &mut Problems,
) -> (Found<V>, Vec<Span>) {
    let mut found = Found::new(plan.revision, read);
    let mut spans = Vec::with_capacity(plan.spans.len());
    for (start, end) in &plan.spans {
        found.stretch(log, *start, *end, read, split);
        spans.push(Span { start: *start as u64, end: found.end as u64 });
        if let Stop::Bad(error) = &found.stop {
            let rest = log.len() - found.end;
            let what = if error.is_truncation() { "the last message is truncated" } else { "cannot read the message" };
            let message = format!("{what}: {}; skipped the last {rest} bytes", error.kind);
            problems.push(Problem::new(Severity::Damage, error.code(), found.end as u64, rest as u64, message));
            break;
        }
    }
    report(&found.walk, problems);
    (found, spans)
}

/// Reports what the log as a whole has of oddities.
pub(crate) fn report(walk: &Walk, problems: &mut Problems) {
    let stats = &walk.stats;
    let mut report = |severity, code, tally: crate::walk::Tally, message: &str| {
        if tally.count > 0 {
            problems.push(Problem::new(severity, code, tally.first, 0, format!("{} {message}", tally.count)));
        }
    };
    report(
        Severity::Damage,
        "bad-time",
        stats.bad_times,
        "invalid timestamps; their cycles keep the previous timestamp",
    );
    report(Severity::Damage, "too-many-channels", stats.overflow, "keys or fields beyond the channel limit; skipped");
    report(
        Severity::Warning,
        "bad-utf8",
        stats.bad_names,
        "names or type strings that are not UTF-8; replaced the invalid bytes",
    );
    report(
        Severity::Note,
        "advantagescope-times",
        stats.refused_times,
        "timestamps rise by less than 0.1 ms or by 60 s or more: AdvantageScope treats that as corruption and may reject the log",
    );
    report(
        Severity::Note,
        "advantagescope-lengths",
        stats.long,
        "lengths above 32767: AdvantageScope reads them as negative and rejects the log",
    );
    let mut names: HashMap<u32, (&str, &str)> = HashMap::new();
    for slot in walk.bindings.slots() {
        let Some((name, type_name)) = walk.bindings.declared(slot) else { continue };
        let key = key_of(walk.revision, slot.id);
        let now = (name, if walk.revision == Revision::R2 { type_name } else { "" });
        if let Some(before) = names.insert(key, now)
            && before != now
        {
            let message = format!("key {key} changes from {:?} to {:?}", before.0, now.0);
            problems.push(Problem::new(Severity::Note, "key-redefined", slot.at, 0, message));
        }
    }
}

/// Collects an index.
struct Indexer {
    records: IndexBuilder,
    marks: Vec<Mark>,
}

impl<'a> Visit<'a> for Indexer {
    #[inline(always)]
    fn field(&mut self, _: &Bindings, field: Field<'a>) -> ControlFlow<()> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only its low bits decide whether a value fits its type, and R2 lengths have 16"
        )]
        self.records.record(field.slot, field.at, field.time, field.value.len() as u32, field.len as u64);
        ControlFlow::Continue(())
    }

    fn cycle(&mut self, mark: Mark) {
        self.marks.push(mark);
    }
}

impl<'a> Collect<'a> for Indexer {
    fn fresh(read: &ReadOptions<'_>) -> Self {
        Self { records: IndexBuilder::new(read.prepare), marks: Vec::new() }
    }

    fn join(&mut self, mut later: Self, map: &[Option<SlotId>]) {
        self.records.join(later.records, map);
        self.marks.append(&mut later.marks);
    }
}

pub(crate) fn index(
    log: &[u8],
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    split: usize,
) -> Result<Index, DecodeError> {
    let plan = plan(log, read, problems)?;
    let revision = plan.revision;
    let (found, spans) = walk::<Indexer>(log, &plan, read, split, problems);
    let Indexer { mut records, marks } = found.visitor;
    let Walk { bindings, stats, .. } = found.walk;
    let fields: u64 = records.slots().map(|slot| slot.len() as u64).sum();
    let declared = bindings.slots().iter().filter(|slot| slot.is_declared());
    let keys: std::collections::HashSet<u32> = declared.map(|slot| key_of(revision, slot.id)).collect();
    let Resolved { channels, mut fates, lives } = resolve(bindings);
    report_unknown(revision, &lives, &fates, &records, problems);
    if revision == Revision::R2 {
        drop_misfits(log, &channels, &fates, &mut records, &marks, problems);
    }
    let sorted = records.sorted();
    let mut channels = records.channels(channels, &fates);
    if revision == Revision::R1 {
        drop_empty(&mut channels, &mut fates);
    }
    let facts = vec![
        Fact { key: "revision", value: revision.byte().to_string() },
        Fact { key: "cycles", value: stats.cycles.to_string() },
        Fact { key: "keys", value: keys.len().to_string() },
    ];
    let messages = fields + stats.cycles + stats.keys + stats.nulls;
    Ok(Index {
        channels,
        slots: fates,
        marks,
        spans,
        records: messages,
        sorted,
        facts,
        placed: true,
        ..Index::default()
    })
}

/// Reports the fields whose key nothing defines, one problem for each key.
fn report_unknown(revision: Revision, lives: &[Life], fates: &[Fate], records: &IndexBuilder, problems: &mut Problems) {
    let mut unknown: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for ((life, fate), index) in lives.iter().zip(fates).zip(records.slots()) {
        if let (Fate::Unknown, Some(first)) = (fate, index.first_at()) {
            let (count, at) = unknown.entry(key_of(revision, life.id)).or_insert((0, first));
            *count += index.len() as u64;
            *at = first.min(*at);
        }
    }
    let mut unknown: Vec<_> = unknown.into_iter().collect();
    unknown.sort_by_key(|(_, (_, at))| *at);
    for (key, (count, at)) in unknown {
        let message = format!("skipped {count} fields of key {key}, which is not defined before them");
        problems.push(Problem::new(Severity::Damage, "unknown-key", at, 0, message));
    }
}

/// Takes values out of the index whose size does not fit the type of their key.
fn drop_misfits(
    log: &[u8],
    channels: &[Channel],
    fates: &[Fate],
    records: &mut IndexBuilder,
    marks: &[Mark],
    problems: &mut Problems,
) {
    for (place, fate) in fates.iter().enumerate() {
        let Some(channel) = fate.channel().and_then(|id| channels.get(id as usize)) else { continue };
        let Some(slot) = records.slot(place) else { continue };
        let ty = channel.ty();
        if slot.sizes_fit(ty) || slot.is_empty() {
            continue;
        }
        records.retain(place, |at| {
            let rest = log.get(usize::try_from(at).ok()?..)?;
            let Ok(Message::Field { value: bytes, .. }) = Message::parse(Revision::R2, &mut Cursor::new(rest, at))
            else {
                return None;
            };
            match value(Revision::R2, 0, ty, bytes) {
                Ok(_) => {
                    let mark = marks.partition_point(|mark| mark.at <= at).checked_sub(1).and_then(|i| marks.get(i));
                    Some((
                        u32::try_from(bytes.len()).ok()?,
                        mark.map_or(0, |mark| mark.time.nanos()),
                        bytes.len() as u64 + 5,
                    ))
                }
                Err(misfit) => {
                    problems.push(bad_value(channel, at, bytes.len() + 5, &misfit));
                    None
                }
            }
        });
    }
}

/// Drops the channels of R1 types that never had a value.
fn drop_empty(channels: &mut Vec<ChannelIndex>, fates: &mut [Fate]) {
    let mut next = 0;
    let kept: Vec<Option<u32>> = channels
        .iter()
        .map(|c| {
            let id = (c.samples > 0).then_some(next);
            next += u32::from(c.samples > 0);
            id
        })
        .collect();
    channels.retain(|c| c.samples > 0);
    let new = |id: u32| kept.get(id as usize).copied().flatten();
    for fate in fates {
        *fate = match *fate {
            Fate::Started(id) => new(id).map_or(Fate::Unknown, Fate::Started),
            Fate::Ended(id) => new(id).map_or(Fate::Unknown, Fate::Ended),
            Fate::Late(_) | Fate::Unknown => Fate::Unknown,
        };
    }
}

/// Walks over all of a log whose index is known. A log that ends before its index says so is an error, once everything
/// before that was visited.
fn walk_indexed<'a, V: Visit<'a>>(
    log: &'a [u8],
    index: &Index,
    revision: Revision,
    visit: &mut V,
) -> Result<(), DecodeError> {
    let mut walk = Walk::new(revision, &Limits { channels: u32::MAX, ..Limits::default() });
    for span in &index.spans {
        match walk.run(log, 0, place(span.start), place(span.end), visit) {
            (at, Stop::End) if at as u64 >= span.end => {}
            (_, Stop::Halted) => break,
            (at, _) => return Err(DecodeError::stale_index(NAME, at as u64)),
        }
    }
    Ok(())
}

/// What is wanted as flat buffers. See [`FileDialect::scan`].
fn scan(log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
    let revision = revision_in(index)?;
    let wanted = |fate: &Fate| fate.channel().filter(|id| lookup.wants(*id)).unwrap_or(UNWANTED);
    let mut scan = Scan {
        columns: ColumnBuilder::wanted(index, lookup, prepare),
        channels: index.slots.iter().map(wanted).collect(),
        start: lookup.start.map_or(i64::MIN, Time::nanos),
        end: lookup.end.map_or(i64::MAX, Time::nanos),
        lookup,
        widened: Vec::new(),
    };
    walk_indexed(log, index, revision, &mut scan)?;
    let layout = match revision {
        Revision::R1 => Layout::Little, // widened as it was collected
        Revision::R2 => Layout::Big,
    };
    scan.columns.scanned(NAME, index, lookup, layout, |rest, sink| Rlog.replay(log, index, rest, sink))
}

const UNWANTED: ChannelId = ChannelId::MAX;

/// Collects the wanted fields of a walk in columns, by channel.
struct Scan<'l> {
    columns: ColumnBuilder,
    /// The channel of each slot, if it is wanted.
    channels: Vec<ChannelId>,
    start: i64,
    end: i64,
    lookup: &'l Lookup,
    /// An R1 value as its column holds it.
    widened: Vec<u8>,
}

impl<'a> Visit<'a> for Scan<'_> {
    #[inline(always)]
    fn field(&mut self, _: &Bindings, field: Field<'a>) -> ControlFlow<()> {
        let id = self.channels.get(field.slot as usize).copied().unwrap_or(UNWANTED);
        if id != UNWANTED {
            if !(self.start..=self.end).contains(&field.time) {
                self.at_border(id, field);
            } else if field.kind == 0 {
                self.columns.record(id, field.time, field.value);
            } else {
                self.widen(id, field);
            }
        }
        ControlFlow::Continue(())
    }
}

impl Scan<'_> {
    /// A field outside the wanted times, of which some channels are wanted all the same.
    #[cold]
    fn at_border(&mut self, id: ChannelId, field: Field<'_>) {
        match self.lookup.admits(id, Time::from_nanos(field.time)) {
            Some(time) if field.kind == 0 => self.columns.record(id, time.nanos(), field.value),
            Some(time) => self.widen(id, Field { time: time.nanos(), ..field }),
            None => {}
        }
    }

    fn widen(&mut self, id: ChannelId, field: Field<'_>) {
        if let Some(value) = Kind::of(field.kind).and_then(|kind| kind.value(field.value)) {
            self.widened.clear();
            value.emit(Layout::Little, &mut self.widened);
            self.columns.record(id, field.time, &self.widened);
        }
    }
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

fn revision_in(index: &Index) -> Result<Revision, DecodeError> {
    let known = index.fact("revision").and_then(|text| text.parse().ok()).and_then(Revision::of);
    known.ok_or_else(|| {
        let message = "the index does not say which revision the log has".to_owned();
        DecodeError { dialect: NAME, code: "bad-index", at: 0, message, help: None }
    })
}
