//! All that the rest of logpose sees of the Driver Station's logs.

use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelIndex, Columns, Confidence, Decode, DecodeError, Dialect, Encode, EncodeOptions, Fact, Fate,
    FileDialect, Index, IndexBuilder, Info, LiveDialect, Lookup, Mark, Problems, ReadOptions, RecordLine, Row,
    Severity, Sink, SinkError, SlotId, Span, Support, TakeSamples, Time,
};
use logpose_driverstation::pd::Kind;

use crate::decode::StreamDecoder;
use crate::model::{TOPICS, Topic};
use crate::pair::{Half, MAGIC};
use crate::reader::Reader;
use crate::rows;
use crate::walk::{Found, Plan, Records, Stop, TextSample, Visit, place, walk_texts};

/// The Driver Station's own logs: `.dslog`, `.dsevents`, or both of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dslog;

/// Its name in commands and in code.
pub const NAME: &str = "dslog";

static INFO: Info = Info {
    extensions: &["dslog", "dsevents"],
    files: Support { read: true, write: false },
    ..Info::new(NAME, "Driver Station log")
};

/// Bytes between two places where a walk may begin later.
const STEP: usize = 1 << 20;

impl Dialect for Dslog {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        Some(self)
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        None
    }
}

impl FileDialect for Dslog {
    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.starts_with(MAGIC) {
            return Confidence::Yes;
        }
        let version = head.first_chunk().map(|bytes| i32::from_be_bytes(*bytes));
        let seconds = head.get(4..12).and_then(<[u8]>::first_chunk).map(|bytes| i64::from_be_bytes(*bytes));
        match (version, seconds.filter(|seconds| SEASONS.contains(seconds))) {
            (Some(3 | 4), Some(_)) => Confidence::Yes,
            // Of another season, which is better said than that nobody knows it.
            (Some(0..16), Some(_)) => Confidence::Perhaps,
            _ => Confidence::No,
        }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let plan = Plan::new(log)?;
        let mut indexer = Indexer::new(read);
        let walked = walk_all(&plan, read, problems, &mut indexer);
        indexer.complain(&plan, problems);
        Ok(indexer.finish(&plan, walked, read.positions))
    }

    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        index.windows(bytes)
    }

    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        rows::scan(log, index, lookup, prepare)
    }

    fn rows(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        take: &mut dyn FnMut(&[Row]) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        rows::rows(log, index, lookup, take)
    }

    fn times(&self, log: &[u8], index: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        rows::times(log, index, at, out)
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        rows::samples(log, index, rows, take)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        rows::replay(log, index, lookup, sink)
    }

    /// The records of the file that was named; those of its companion have bytes of their own.
    fn records(
        &self,
        log: &[u8],
        _: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let plan = Plan::new(log)?;
        let Some(file) = plan.named() else { return Ok(()) };
        let mut reader = Reader::new(plan.slice(file.from, file.to))?;
        let (header, length) = (reader.header(), (file.body() - file.from) as u64);
        if from == 0 && line(RecordLine { at: 0, length, text: &header }).is_break() {
            return Ok(());
        }
        while let Some(record) = reader.next() {
            let (at, record) = record?;
            let length = reader.offset() - at;
            if at >= from && line(RecordLine { at, length, text: &record }).is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        Some(Box::new(StreamDecoder::new(read.limits)))
    }

    /// None: only the Driver Station writes its files.
    fn encoder(&self, _: &EncodeOptions) -> Option<Box<dyn Encode>> {
        None
    }
}

/// The seconds since 1904 at which Driver Stations wrote logs, with room to spare: from 2010 to 2100.
const SEASONS: std::ops::Range<i64> = 3_345_148_800..6_185_289_600;

fn slot(topic: Topic) -> SlotId {
    SlotId::try_from(topic.place()).unwrap_or(SlotId::MAX)
}

/// What a walk over all of a log found.
#[derive(Default)]
struct Walked {
    records: u64,
    spans: Vec<Span>,
    steps: Vec<u64>,
}

/// Walks over all files of a log.
fn walk_all<'a, V: Visit<'a>>(
    plan: &Plan<'a>,
    read: &ReadOptions<'_>,
    problems: &mut Problems,
    visit: &mut V,
) -> Walked {
    let mut walked = Walked::default();
    for file in plan.files() {
        let mut records = Records::new(plan, &file);
        let mut stop = Stop::At(file.body());
        while let Stop::At(at) = stop
            && at < file.to
        {
            walked.steps.push(at as u64);
            let until = at.saturating_add(STEP).min(file.to);
            stop = match file.half {
                Half::Log => records.walk(plan, &file, until, visit),
                Half::Events => {
                    let (stop, met) = walk_texts(plan, &file, at, until, visit);
                    walked.records += met;
                    stop
                }
            };
            (read.passed)(plan.slice(at, stop.at()));
        }
        if file.half == Half::Log {
            walked.records += records.met_so_far();
        }
        plan.complain(&file, &stop).into_iter().for_each(|problem| problems.push(problem));
        walked.spans.push(Span { start: file.body() as u64, end: stop.at() as u64 });
    }
    // A walk that stopped at once has nothing behind its step.
    let whole = |at: &u64| walked.spans.iter().any(|span| (span.start..span.end).contains(at));
    walked.steps.retain(whole);
    walked
}

pub(crate) fn name_of(event: &[u8]) -> Option<String> {
    (!event.is_empty()).then(|| String::from_utf8_lossy(event).into_owned())
}

/// Collects an index.
struct Indexer {
    builder: IndexBuilder,
    marks: Vec<Mark>,
    event: Option<String>,
    /// Records with a PDP, with a PDH, and with what nobody knows.
    panels: [u64; 3],
    /// The first panel that nobody knows: where it is, and how long.
    unknown: Option<(u64, usize)>,
}

impl Indexer {
    fn new(read: &ReadOptions<'_>) -> Self {
        let builder = IndexBuilder::new(read.prepare);
        let builder = if read.positions { builder } else { builder.counting() };
        Self { builder, marks: Vec::new(), event: None, panels: [0; 3], unknown: None }
    }

    fn complain(&self, plan: &Plan<'_>, problems: &mut Problems) {
        let (Some((at, length)), Some(file), [.., count]) = (self.unknown, plan.log, self.panels) else { return };
        let message = format!(
            "power distribution of {length} bytes is neither a PDP nor a PDH; kept {count} such blocks as bytes"
        );
        problems.push(plan.problem(&file, Severity::Warning, "unknown-pd", (place(at), length), message));
    }

    fn finish(self, plan: &Plan<'_>, walked: Walked, placed: bool) -> Index {
        let sorted = self.builder.sorted();
        let first: Vec<_> = self.builder.slots().map(logpose_core::SlotIndex::first_at).collect();
        let first = |topic: Topic| first.get(topic.leader().place()).copied().flatten();
        let mut topics: Vec<(u64, Topic)> = Topic::all().filter_map(|topic| Some((first(topic)?, topic))).collect();
        topics.sort_by_key(|(at, _)| *at);
        let fates: Vec<Fate> = Topic::all().map(|topic| Fate::Started(slot(topic))).collect();
        let leaders = self.builder.channels(vec![Channel::default(); TOPICS], &fates);
        // The positions of channels that have samples in the same records are held once.
        let found = |(_, topic): (u64, Topic)| {
            let leader = leaders.get(topic.leader().place())?;
            let bytes = leader.samples * topic.bytes() + if topic.bytes() == 0 { leader.bytes } else { 0 };
            Some(ChannelIndex { channel: topic.channel(), bytes, ..leader.clone() })
        };
        let channels: Vec<ChannelIndex> = topics.into_iter().filter_map(found).collect();
        let mut facts = vec![
            Fact {
                key: "version",
                value: plan.files().next().map_or(0, |file| file.header.version.number()).to_string(),
            },
            Fact { key: "epoch_ns", value: plan.start.to_string() },
        ];
        let [pdp, pdh, _] = self.panels;
        let panels = [(Kind::Pdp, pdp), (Kind::Pdh, pdh)].into_iter().filter(|(_, count)| *count > 0);
        let panels: Vec<&str> = panels.map(|(kind, _)| kind.name()).collect();
        facts.extend((!panels.is_empty()).then(|| Fact { key: "pd", value: panels.join(", ") }));
        facts.extend(self.event.map(|value| Fact { key: "event", value }));
        let read: u64 = walked.spans.iter().map(|span| span.end - span.start).sum();
        let taken: u64 = channels.iter().map(|c| c.bytes).sum();
        facts.push(Fact { key: "control_bytes", value: read.saturating_sub(taken).to_string() });
        Index {
            channels,
            steps: walked.steps,
            placed,
            marks: self.marks,
            spans: walked.spans,
            records: walked.records,
            sorted,
            facts,
            ..Index::default()
        }
    }
}

impl<'a> Visit<'a> for Indexer {
    fn run(&mut self, at: u64, time: i64) {
        self.marks.push(Mark { at, time: Time::from_nanos(time) });
    }

    #[inline]
    fn record(&mut self, found: &Found<'_, 'a>) {
        let [pdp, pdh, unknown] = &mut self.panels;
        match found.power.as_ref().map(logpose_driverstation::pd::PowerDistribution::kind) {
            Some(Kind::Pdp) => *pdp += 1,
            Some(Kind::Pdh) => *pdh += 1,
            None if found.record.is_without_power() => {}
            None => {
                *unknown += 1;
                self.unknown.get_or_insert((found.at, found.record.pd.len()));
            }
        }
        for topic in Topic::leaders(found.topics) {
            self.builder.record(slot(topic), found.at, found.time, 0, topic.taken(found.record));
        }
    }

    fn text(&mut self, at: u64, time: i64) {
        self.marks.push(Mark { at, time: Time::from_nanos(time) });
    }

    fn event(&mut self, name: &'a [u8]) {
        self.event = self.event.take().or_else(|| name_of(name));
    }

    fn said(&mut self, sample: TextSample<'a>) {
        self.builder.record(slot(sample.topic), sample.at, sample.time, 0, sample.length);
    }
}
