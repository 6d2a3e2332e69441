use std::ops::ControlFlow;

use logpose_core::{
    Channel, ChannelId, Columns, Confidence, Cursor, Decode, DecodeError, Dialect, Encode, EncodeOptions, Fact, Fate,
    FileDialect, Index, IndexBuilder, Info, Layout, Life, LiveDialect, Lookup, Problem, Problems, ReadOptions,
    RecordLine, Resolved, Row, Sample, Severity, Sink, SinkError, Span, Sum, Support, TakeSamples, Time, Type, Value,
};

use crate::decode::StreamDecoder;
use crate::encode::Encoder;
use crate::reader::Reader;
use crate::recover;
use crate::replay::{replay, scan, sums};
use crate::rows::{Take, rows};
use crate::segments::{Collected, collect};
use crate::walk::{place, record_at};
use crate::wire::{Header, metadata_of_2022, second_header};

/// WPILib data log files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wpilog;

/// Its name in commands and in code.
pub const NAME: &str = "wpilog";

pub(crate) static INFO: Info = Info {
    extensions: &["wpilog"],
    files: Support { read: true, write: true },
    system_time: true,
    ..Info::new(NAME, "WPILib data log")
};

impl Dialect for Wpilog {
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

impl FileDialect for Wpilog {
    fn sniff(&self, head: &[u8]) -> Confidence {
        if head.starts_with(b"WPILOG") {
            Confidence::Yes
        } else if recover::looks_headerless(head) {
            Confidence::Perhaps
        } else {
            Confidence::No
        }
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, problems: &mut Problems) -> Result<Index, DecodeError> {
        let mut found = Problems::default();
        let Collected { header, spans, walk, product: mut builder, steps } =
            collect::<IndexBuilder>(log, read, &mut found)?;
        let Resolved { mut channels, fates, lives } = walk.bindings.resolve();
        if !read.positions && has_doubtful(&fates, &channels, &builder) {
            // Each of their records must be looked at.
            return self.index(log, &ReadOptions { positions: true, ..*read }, problems);
        }
        problems.append(found);
        report_strays(&lives, &fates, &builder, problems);
        check_sizes(log, &lives, &fates, &mut channels, &mut builder, problems);
        let sorted = builder.sorted();
        let zero_bytes = walk.zero_bytes;
        let mut facts = facts(header);
        facts.push(Fact { key: "control_bytes", value: walk.control_bytes.to_string() });
        facts.push(Fact { key: "zero_bytes", value: zero_bytes.to_string() });
        Ok(Index {
            channels: builder.channels(channels, &fates),
            slots: fates,
            lives,
            steps,
            placed: read.positions,
            marks: Vec::new(),
            spans,
            records: walk.records,
            sorted,
            facts,
        })
    }

    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        index.windows(bytes)
    }

    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        scan(log, index, lookup, prepare)
    }

    fn sums(
        &self,
        log: &[u8],
        index: &Index,
        lookup: &Lookup,
        prepare: fn(&mut [u8]),
    ) -> Result<Vec<Sum>, DecodeError> {
        match sums(log, index, lookup)? {
            Some(sums) => Ok(sums),
            None => Ok(self.scan(log, index, lookup, prepare)?.sums()),
        }
    }

    fn rows(&self, log: &[u8], index: &Index, lookup: &Lookup, take: &mut Take<'_>) -> Result<(), SinkError> {
        rows(log, index, lookup, take)
    }

    fn times(&self, log: &[u8], _: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        out.reserve(at.len());
        for at in at {
            let (record, _) = record_at(log, *at).ok_or_else(|| DecodeError::stale_index(NAME, *at))?;
            out.push(Time::from_micros(record.timestamp));
        }
        Ok(())
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let mut samples = Vec::with_capacity(rows.len());
        let mut last: Option<(ChannelId, Type)> = None;
        for row in rows {
            let ty = match last {
                Some((channel, ty)) if channel == row.channel => ty,
                _ => {
                    let ty = index.channel(NAME, row.channel)?.channel.ty();
                    last = Some((row.channel, ty));
                    ty
                }
            };
            let (record, _) = record_at(log, row.at).ok_or_else(|| DecodeError::stale_index(NAME, row.at))?;
            if let Ok(value) = Value::parse(ty, record.payload, Layout::Little) {
                samples.push(Sample { channel: row.channel, time: row.time, value });
            }
        }
        take(&samples)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        replay(log, index, lookup, sink)
    }

    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
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

    fn decoder(&self, read: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        Some(Box::new(StreamDecoder::new(read.limits)))
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
        if at < span.end
            && let Some(header) = second_header(log, place(at))
        {
            let length = header.len() as u64;
            if line(RecordLine { at, length, text: &header }).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            reader = Reader::over(log, at + length, span.end);
            continue;
        }
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

fn facts(header: Option<Header<'_>>) -> Vec<Fact> {
    let Some(header) = header else { return vec![Fact { key: "version", value: "1.0 (header missing)".into() }] };
    let [minor, major] = header.version.to_le_bytes();
    vec![
        Fact { key: "version", value: format!("{major}.{minor}") },
        Fact { key: "extra_header", value: String::from_utf8_lossy(header.extra).into_owned() },
    ]
}

/// Says which records belong to no live entry, and what was made of them.
fn report_strays(lives: &[Life], fates: &[Fate], builder: &IndexBuilder, problems: &mut Problems) {
    for ((life, fate), found) in lives.iter().zip(fates).zip(builder.slots()) {
        let (n, bytes, Some(at)) = (found.len(), found.bytes(), found.first_at()) else { continue };
        let id = life.id;
        let problem = match fate {
            Fate::Started(_) => continue,
            Fate::Late(_) => Problem::new(
                Severity::Note,
                "late-start",
                at,
                bytes,
                format!("{n} records of entry {id} before its Start, as written by WPILib 2024; kept"),
            ),
            Fate::Ended(_) => Problem::new(
                Severity::Warning,
                "after-finish",
                at,
                bytes,
                format!("{n} records of entry {id} after its Finish; kept"),
            ),
            Fate::Unknown => Problem::new(
                Severity::Damage,
                "unknown-entry",
                at,
                bytes,
                format!("{n} records of entry {id}, which is never started; skipped"),
            ),
        };
        problems.push(problem);
    }
}

/// Whether there are records of which the sizes do not say that they are values, and whose places are not known.
fn has_doubtful(fates: &[Fate], channels: &[Channel], builder: &IndexBuilder) -> bool {
    fates.iter().zip(builder.slots()).any(|(fate, found)| {
        let channel = fate.channel().and_then(|id| channels.get(id as usize));
        channel.is_some_and(|channel| !found.is_empty() && !found.is_placed() && !found.sizes_fit(channel.ty()))
    })
}

/// Takes out the records whose payload is not a valid value of their type, and reports each.
fn check_sizes(
    log: &[u8],
    lives: &[Life],
    fates: &[Fate],
    channels: &mut [Channel],
    builder: &mut IndexBuilder,
    problems: &mut Problems,
) {
    for (place, (life, fate)) in lives.iter().zip(fates).enumerate() {
        let Some(channel) = fate.channel().and_then(|id| channels.get_mut(id as usize)) else { continue };
        let Some(found) = builder.slot(place) else { continue };
        let Some(first) = found.first_at() else { continue };
        if found.min() == i64::MIN || found.max() == i64::MAX {
            let message = format!("{:?} has timestamps beyond ±292 years, which were clamped", channel.name);
            problems.push(Problem::new(Severity::Damage, "time-out-of-range", first, 0, message));
        }
        let ty = channel.ty();
        if found.sizes_fit(ty) {
            continue;
        }
        builder.retain(place, |at| {
            let (record, len) = record_at(log, at)?;
            let kept = Some((u32::try_from(record.payload.len()).ok()?, record.timestamp.saturating_mul(1000), len));
            let Err(misfit) = Value::parse(ty, record.payload, Layout::Little) else { return kept };
            if let Some(metadata) = metadata_of_2022(life.id, record.payload) {
                channel.metadata = String::from_utf8_lossy(metadata).into_owned();
                problems.push(Problem::new(
                    Severity::Note,
                    "metadata-2022",
                    at,
                    len,
                    format!("metadata of {:?} in a data record, as written by WPILib 2022", channel.name),
                ));
            } else {
                problems.push(Problem::new(
                    Severity::Damage,
                    "bad-value",
                    at,
                    len,
                    format!("invalid value of {:?} ({}): {misfit}; skipped", channel.name, channel.type_name),
                ));
            }
            None
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Wpilog;
    use crate::error::{Error, ErrorKind};
    use logpose_core::{FileDialect as _, Problems, ReadOptions};

    #[test]
    fn another_format_is_refused_with_its_first_bytes() {
        let error = Wpilog.index(b"MCAP0\r\n", &ReadOptions::default(), &mut Problems::default()).unwrap_err();
        assert_eq!((error.code, error.at), ("bad-magic", 0));
        let expected = Error { at: 0, kind: ErrorKind::BadMagic { found: b"MCAP0\r".to_vec() } };
        assert!(error.message == expected.kind.to_string());
    }
}
