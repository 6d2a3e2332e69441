//! All that logpose sees of the format.

use std::ops::ControlFlow;

use logpose_core::{
    Bindings, Confidence, Decode, DecodeError, Dialect, Encode, EncodeOptions, FileDialect, Index, IndexBuilder, Info,
    LiveDialect, Lookup, Problem, Problems, ReadOptions, RecordLine, Resolved, Row, Sample, Severity, Sink, SinkError,
    Span, Support, TakeSamples, Time, Value,
};

use super::encode::Encoder;
use super::walk::{sample_at, walk};
use super::wire::{Error, MAGIC, Record};

/// Toy logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Toy;

pub(super) static INFO: Info =
    Info { extensions: &["toy"], files: Support { read: true, write: true }, ..Info::new("toy", "Toy log") };

impl Dialect for Toy {
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

impl FileDialect for Toy {
    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.starts_with(MAGIC) { Confidence::Yes } else { Confidence::No }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let mut bindings = Bindings::new(read.limits.channels);
        let mut builder = IndexBuilder::new(read.prepare);
        let (mut records, mut end) = (0, MAGIC.len() as u64);
        let walked = walk(log, &mut bindings, |found| {
            records += 1;
            end = found.at + found.len;
            if let (Some(slot), Record::Sample { micros, .. }) = (found.slot, found.record) {
                builder.record(slot, found.at, Time::from_micros(micros).nanos(), 8, found.len);
            }
            ControlFlow::Continue(())
        });
        if let Err(error) = walked {
            let is_another_file = error == Error::Magic;
            let error = DecodeError::from(error);
            if is_another_file {
                return Err(error);
            }
            // Everything before the damage is good.
            let lost = log.len() as u64 - end;
            problems.push(Problem::new(Severity::Damage, error.code, end, lost, error.message));
        }
        let Resolved { channels, fates: slots, .. } = bindings.resolve();
        Ok(Index {
            sorted: builder.sorted(),
            channels: builder.channels(channels, &slots),
            slots,
            placed: true,
            spans: vec![Span { start: MAGIC.len() as u64, end }],
            records,
            ..Index::default()
        })
    }

    fn times(&self, log: &[u8], _: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        for at in at {
            let (micros, _) = sample_at(log, *at).ok_or_else(|| DecodeError::stale_index(INFO.name, *at))?;
            out.push(Time::from_micros(micros));
        }
        Ok(())
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let mut samples = Vec::with_capacity(rows.len());
        for row in rows {
            index.channel(INFO.name, row.channel)?;
            let (_, value) = sample_at(log, row.at).ok_or_else(|| DecodeError::stale_index(INFO.name, row.at))?;
            samples.push(Sample { channel: row.channel, time: row.time, value: Value::Double(value) });
        }
        take(&samples)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            sink.channel(id, &found.channel)?;
        }
        let whole = index.spans.first().map_or(0, |span| span.end);
        let log = usize::try_from(whole).ok().and_then(|whole| log.get(..whole));
        let log = log.ok_or_else(|| DecodeError::stale_index(INFO.name, whole))?;
        let mut batch = Vec::with_capacity(BATCH);
        let mut end = Ok(());
        walk(log, &mut Bindings::new(u32::MAX), |found| {
            let (Some(slot), Record::Sample { micros, value, .. }) = (found.slot, found.record) else {
                return ControlFlow::Continue(());
            };
            let channel = index.slots.get(slot as usize).and_then(|fate| fate.channel());
            if let Some(channel) = channel.filter(|channel| lookup.wants(*channel))
                && let Some(time) = lookup.admits(channel, Time::from_micros(micros))
            {
                batch.push(Sample { channel, time, value: Value::Double(value) });
            }
            if batch.len() == BATCH {
                end = sink.samples(&batch);
                batch.clear();
            }
            if end.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .map_err(DecodeError::from)?;
        end?;
        sink.samples(&batch)
    }

    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let mut bindings = Bindings::new(read.limits.channels);
        Ok(walk(log, &mut bindings, |found| match found.at < from {
            true => ControlFlow::Continue(()),
            false => line(RecordLine { at: found.at, length: found.len, text: &found.record }),
        })?)
    }

    /// None: a toy log is read when it is finished.
    fn decoder(&self, _: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        None
    }

    fn encoder(&self, _: &EncodeOptions) -> Option<Box<dyn Encode>> {
        Some(Box::new(Encoder::default()))
    }
}

/// Samples that go to a sink at once.
const BATCH: usize = 1024;
