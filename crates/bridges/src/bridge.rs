use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;

use logpose_core::{
    ColumnBuilder, Columns, Confidence, Decode, DecodeError, Dialect, Encode, EncodeOptions, Fate, FileDialect, Index,
    IndexBuilder, Info, Layout, LiveDialect, Lookup, Problems, ReadOptions, RecordLine, Row, Sample, Sink, SinkError,
    SlotId, Span, StreamError, Support, TakeSamples, Time, Type,
};

use crate::store::{Kind, Line, Pack, Record, Store, not_whole, value, walk};
use crate::{Header, arrow, capture, csv, mcap, ndjson, parquet, rides};

/// A format of another field: its files are unpacked once, and what comes out is a log like any other.
///
/// As a [`Dialect`] it reads the unpacked bytes, which [`Bridge::unpack`] describes; only [`FileDialect::sniff`] looks
/// at the file itself.
pub struct Bridge {
    info: &'static Info,
    sniff: fn(&[u8]) -> Confidence,
    read: Unpack,
    mend: Option<MendFile>,
}

/// Pushes the samples of a file into a sink.
type Unpack = fn(&[u8], &ReadOptions<'_>, &mut dyn Sink, &mut Problems) -> Result<Header, StreamError>;

/// Writes the records that can be read of a damaged file, as they are, as a file that is whole.
pub type MendFile = fn(&[u8], &mut dyn Write) -> io::Result<()>;

/// Apache Parquet.
pub static PARQUET: Bridge =
    Bridge::new(&both("parquet", "Apache Parquet", &["parquet", "pq"]), parquet::sniff, parquet::read);
/// Arrow IPC files and streams.
pub static ARROW: Bridge =
    Bridge::new(&both("arrow", "Apache Arrow IPC", &["arrow", "feather", "arrows", "ipc"]), arrow::sniff, arrow::read);
/// MCAP.
pub static MCAP: Bridge =
    Bridge { mend: Some(mcap::mend), ..Bridge::new(&both("mcap", "MCAP", &["mcap"]), mcap::sniff, mcap::read) };
/// Tables of text.
pub static CSV: Bridge = Bridge::new(&both("csv", "CSV tables, long or wide", &["csv", "tsv"]), csv::sniff, csv::read);
/// A JSON object on each line.
pub static NDJSON: Bridge =
    Bridge::new(&both("ndjson", "JSON lines", &["ndjson", "jsonl"]), ndjson::sniff, ndjson::read);
/// Network captures.
pub static PCAP: Bridge = Bridge::new(
    &info("pcap", "Network capture (pcap, pcapng)", &["pcap", "pcapng", "cap"]),
    capture::sniff,
    capture::read,
);

// Ride logs have the names that tables have: their columns distinguish them, and the name of a file never does.
/// The table of a recording of a Refloat board.
pub static REFLOAT_CSV: Bridge = Bridge::new(
    &Info { holds_only: Some("what a board recorded"), ..both("refloat-csv", "Refloat recording as CSV", &["csv"]) },
    rides::sniff_refloat,
    rides::read_refloat,
);
/// The table of VESC Tool's log analysis.
pub static VESC_CSV: Bridge = Bridge::new(
    &Info { holds_only: Some("numbers"), ..both("vesc-csv", "VESC Tool log analysis, VESC Express", &["csv"]) },
    rides::sniff_analysis,
    rides::read_analysis,
);
/// VESC Tool's live log.
pub static VESC_TOOL: Bridge =
    Bridge::new(&info("vesc-tool", "VESC Tool live log", &["csv"]), rides::sniff_live_log, rides::read_live_log);
/// Rides of Float Control.
pub static FLOAT_CONTROL: Bridge = Bridge::new(
    &info("float-control", "Float Control ride, also zipped", &["csv", "zip"]),
    rides::sniff_float_control,
    rides::read_float_control,
);
/// Rides of Floaty.
pub static FLOATY: Bridge =
    Bridge::new(&info("floaty", "Floaty ride", &["json"]), rides::sniff_floaty, rides::read_floaty);

/// What a format is that is read and written.
const fn both(name: &'static str, title: &'static str, extensions: &'static [&'static str]) -> Info {
    Info { files: Support { read: true, write: true }, ..info(name, title, extensions) }
}

/// What a format is that is only read.
const fn info(name: &'static str, title: &'static str, extensions: &'static [&'static str]) -> Info {
    Info { extensions, files: Support { read: true, write: false }, ..Info::new(name, title) }
}

/// Why a file could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The file could not be read.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// What came out of it could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl UnpackError {
    pub(crate) fn of(dialect: &'static str, error: StreamError) -> Self {
        match error {
            StreamError::Decode(error) => Self::Decode(error),
            StreamError::Sink(SinkError::Io(error)) => Self::Write(error),
            StreamError::Sink(error) => {
                Self::Decode(DecodeError { dialect, code: "refused", at: 0, message: error.to_string(), help: None })
            }
        }
    }
}

impl Bridge {
    const fn new(info: &'static Info, sniff: fn(&[u8]) -> Confidence, read: Unpack) -> Self {
        Self { info, sniff, read, mend: None }
    }

    /// Unpacks a file: `out` gets the bytes that this dialect then reads.
    pub fn unpack(
        &self,
        file: &[u8],
        read: &ReadOptions<'_>,
        out: &mut dyn Write,
        problems: &mut Problems,
    ) -> Result<(), UnpackError> {
        let mut pack = Pack::new(out);
        let header = (self.read)(file, read, &mut pack, problems);
        let header = header.map_err(|error| UnpackError::of(self.info.name, error))?;
        problems.append(pack.finish(header)?);
        Ok(())
    }

    /// How the undamaged records of a file are put together, where that does better than writing the samples anew.
    #[must_use]
    pub fn mend(&self) -> Option<MendFile> {
        self.mend
    }

    /// What the file keeps besides samples, out of the unpacked bytes.
    pub fn header(&self, log: &[u8], read: &ReadOptions<'_>) -> Result<Header, DecodeError> {
        self.open(log)?.header(log, self.info.name, &read.limits)
    }

    fn open(&self, log: &[u8]) -> Result<Store, DecodeError> {
        Store::open(log, self.info.name)
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Bridge").field(&self.info.name).finish()
    }
}

impl Dialect for Bridge {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn files(&self) -> Option<&dyn FileDialect> {
        Some(self)
    }

    fn live(&self) -> Option<&dyn LiveDialect> {
        None
    }
}

impl FileDialect for Bridge {
    fn sniff(&self, head: &[u8]) -> Confidence {
        (self.sniff)(head)
    }

    fn index(&self, log: &[u8], read: &ReadOptions<'_>, _: &mut Problems) -> Result<Index, DecodeError> {
        let store = self.open(log)?;
        let header = store.header(log, self.info.name, &read.limits)?;
        let spans: Vec<Span> = store.spans().map(|(span, _)| span).collect();
        let known = header.channels.len();
        let make = || (IndexBuilder::new(read.prepare), 0_u64);
        let note = |(builder, records): &mut (IndexBuilder, u64), record: Record<'_>| {
            *records += 1;
            if record.kind == Kind::Sample && (record.channel as usize) < known {
                #[expect(clippy::cast_possible_truncation, reason = "read from 32 bits")]
                let size = record.payload.len() as u32;
                builder.record(record.channel, record.at, record.time.nanos(), size, record.len());
            }
        };
        let ((mut builder, mut records), later) = in_halves(self.info.name, log, &spans, read, make, note)?;
        if let Some((later, more)) = later {
            builder.join(later, &same_slots(known));
            records += more;
        }
        let (facts, channels) = (header.index_facts(), header.channels);
        let slots = fates(known);
        let sorted = builder.sorted();
        Ok(Index {
            channels: builder.channels(channels, &slots),
            slots,
            steps: spans.iter().map(|span| span.start).collect(),
            placed: true,
            spans,
            records,
            sorted,
            facts,
            ..Index::default()
        })
    }

    fn times(&self, log: &[u8], _: &Index, at: &[u64], out: &mut Vec<Time>) -> Result<(), DecodeError> {
        out.reserve(at.len());
        for at in at {
            let record = Record::at(log, *at).ok_or_else(|| not_whole(self.info.name, log, *at))?;
            out.push(record.time);
        }
        Ok(())
    }

    fn samples(&self, log: &[u8], index: &Index, rows: &[Row], take: &mut TakeSamples<'_>) -> Result<(), SinkError> {
        let mut samples = Vec::with_capacity(rows.len());
        let mut last: Option<(u32, Type)> = None;
        for row in rows {
            let ty = match last {
                Some((channel, ty)) if channel == row.channel => ty,
                _ => index.channel(self.info.name, row.channel)?.channel.ty(),
            };
            last = Some((row.channel, ty));
            let record = Record::at(log, row.at).ok_or_else(|| not_whole(self.info.name, log, row.at))?;
            if let Some(value) = value(ty, record.payload) {
                samples.push(Sample { channel: row.channel, time: row.time, value });
            }
        }
        take(&samples)
    }

    fn replay(&self, log: &[u8], index: &Index, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let store = self.open(log)?;
        let mut replay = Replay {
            index,
            lookup,
            sink,
            channels: index.channels.iter().map(|c| (c.channel.ty(), false)).collect(),
            batch: Vec::with_capacity(BATCH),
        };
        let mut result = Ok(());
        for span in store.wanted(lookup) {
            let end = walk(self.info.name, log, span, |record| {
                result = replay.record(record);
                if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            if end.is_break() {
                return result;
            }
        }
        replay.flush()
    }

    fn records(
        &self,
        log: &[u8],
        read: &ReadOptions<'_>,
        from: u64,
        line: &mut dyn FnMut(RecordLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), DecodeError> {
        let store = self.open(log)?;
        let channels = store.header(log, self.info.name, &read.limits)?.channels;
        for (span, _) in store.spans().filter(|(span, _)| span.end > from) {
            let end = walk(self.info.name, log, span, |record| {
                if record.at < from {
                    return ControlFlow::Continue(());
                }
                let channel = channels.get(record.channel as usize);
                line(RecordLine { at: record.at, length: record.len(), text: &Line { record, channel } })
            })?;
            if end.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn windows(&self, index: &Index, bytes: u64) -> Vec<Span> {
        index.windows(bytes)
    }

    fn scan(&self, log: &[u8], index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Result<Columns, DecodeError> {
        let store = self.open(log)?;
        let wanted: Vec<bool> = (0..).zip(&index.channels).map(|(id, _)| lookup.wants(id)).collect();
        let mut builder = ColumnBuilder::wanted(index, lookup, prepare);
        for span in store.wanted(lookup) {
            let _ = walk(self.info.name, log, span, |record| {
                if record.kind == Kind::Sample
                    && wanted.get(record.channel as usize).copied().unwrap_or(false)
                    && let Some(time) = lookup.admits(record.channel, record.time)
                {
                    builder.record(record.channel, time.nanos(), record.payload);
                }
                ControlFlow::Continue(())
            })?;
        }
        builder.scanned(self.info.name, index, lookup, Layout::Little, |rest, sink| self.replay(log, index, rest, sink))
    }

    /// None: the store is made of a whole file.
    fn decoder(&self, _: &ReadOptions<'_>) -> Option<Box<dyn Decode>> {
        None
    }

    /// None: a bridge's files are written piece by piece, by a [`Writer`](crate::Writer).
    fn encoder(&self, _: &EncodeOptions) -> Option<Box<dyn Encode>> {
        None
    }
}

/// Walks over all records, on two threads if there are many: a block can be walked on its own.
fn in_halves<B: Send>(
    dialect: &'static str,
    log: &[u8],
    spans: &[Span],
    read: &ReadOptions<'_>,
    make: impl Fn() -> B + Sync,
    note: impl Fn(&mut B, Record<'_>) + Sync,
) -> Result<(B, Option<B>), DecodeError> {
    let run = |spans: &[Span]| {
        let mut built = make();
        for span in spans {
            let _ = walk(dialect, log, *span, |record| {
                note(&mut built, record);
                ControlFlow::Continue(())
            })?;
        }
        Ok::<B, DecodeError>(built)
    };
    let Some((first, second)) = spans.split_at_checked(spans.len() / 2).filter(|_| read.threads > 1 && spans.len() > 3)
    else {
        return Ok((run(spans)?, None));
    };
    let (mut a, mut b) = (None, None);
    (read.join)(&mut || a = Some(run(first)), &mut || b = Some(run(second)));
    Ok((a.unwrap_or_else(|| Ok(make()))?, b.transpose()?))
}

fn fates(channels: usize) -> Vec<Fate> {
    (0..).take(channels).map(Fate::Started).collect()
}

fn same_slots(channels: usize) -> Vec<Option<SlotId>> {
    (0..).take(channels).map(Some).collect()
}

/// Hands records to a sink.
struct Replay<'a, 's> {
    index: &'a Index,
    lookup: &'a Lookup,
    sink: &'s mut dyn Sink,
    /// For each channel its type, and whether the sink knows it.
    channels: Vec<(Type, bool)>,
    batch: Vec<Sample<'a>>,
}

impl<'a> Replay<'a, '_> {
    #[inline]
    fn record(&mut self, record: Record<'a>) -> Result<(), SinkError> {
        let Record { kind, channel, payload, .. } = record;
        if !self.lookup.wants(channel) {
            return Ok(());
        }
        let Some((ty, known)) = self.channels.get(channel as usize).copied() else { return Ok(()) };
        if kind == Kind::Sample {
            let Some(time) = self.lookup.admits(channel, record.time) else { return Ok(()) };
            if !known {
                self.declare(channel, None)?;
            }
            let Some(value) = value(ty, payload) else { return Ok(()) };
            self.batch.push(Sample { channel, time, value });
            return if self.batch.len() < BATCH { Ok(()) } else { self.flush() };
        }
        self.flush()?;
        match kind {
            Kind::End if known => self.sink.end(channel, record.time),
            Kind::Start if !known => self.declare(channel, Some(&record.text())),
            Kind::Metadata => {
                if !known {
                    self.declare(channel, None)?;
                }
                self.sink.metadata(channel, record.time, &record.text())
            }
            _ => Ok(()),
        }
    }

    #[cold]
    fn declare(&mut self, id: u32, metadata: Option<&str>) -> Result<(), SinkError> {
        self.flush()?;
        if let Some((_, known)) = self.channels.get_mut(id as usize) {
            *known = true;
        }
        let Some(found) = self.index.channels.get(id as usize) else { return Ok(()) };
        let mut channel = found.channel.clone();
        if let Some(metadata) = metadata {
            metadata.clone_into(&mut channel.metadata);
        }
        self.sink.channel(id, &channel)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let result = self.sink.samples(&self.batch);
        self.batch.clear();
        result
    }
}

const BATCH: usize = 1024;
