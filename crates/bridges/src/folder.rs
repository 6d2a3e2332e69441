//! Folders with a file for each channel.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use logpose_core::{
    Channel, ChannelId, Chunk, Column, DecodeError, Problem, Problems, ReadOptions, Sample, Severity, Sink, SinkError,
    StreamError, Time, Type, Value,
};
use logpose_model::{Memory, Shape, binary, long, names, sort, times};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;

use crate::parquet::{KEY, NAME, Opened, properties, write_error};
use crate::stage::Stage;
use crate::tabular::{Source, guarded};
use crate::{Header, Pack, UnpackError};

/// How a folder with a file for each channel is laid out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FolderLayout {
    /// `Drive.Speed.parquet`, with the columns `time_ns`, `value` and, where values are decoded, `raw`.
    Channel,
    /// `channel=%2FDrive%2FSpeed/part-0.parquet`, with the columns of values of a long file: what other programs read
    /// as one table with a column `channel`.
    Hive,
}

impl FolderLayout {
    /// A file for each channel, as a path within the folder. Every name is one that all systems have, and no two are
    /// the same even where large and small letters are.
    #[must_use]
    pub fn paths(self, channels: &[Channel]) -> Vec<String> {
        let mut taken: HashSet<String> = HashSet::new();
        let path = |(place, name): (usize, String)| match self {
            Self::Channel => {
                let stem = safe(&name);
                let mut unique = stem.clone();
                for n in 2.. {
                    if taken.insert(case_key(&unique)) {
                        break;
                    }
                    unique = format!("{stem}-{n}");
                }
                format!("{unique}.parquet")
            }
            Self::Hive => {
                let folder = format!("channel={}", percent(&name, place));
                let part = (0..).find(|part| taken.insert(format!("{}/{part}", case_key(&folder)))).unwrap_or(0);
                format!("{folder}/part-{part}.parquet")
            }
        };
        names(channels).into_iter().enumerate().map(path).collect()
    }
}

/// A name without what a file's name may not have.
fn safe(name: &str) -> String {
    let name = name.strip_prefix('/').filter(|rest| !rest.is_empty()).unwrap_or(name);
    let mut safe = String::with_capacity(name.len());
    for c in name.chars() {
        let c = match c {
            '/' => '.',
            // Not what other programs take for a pattern: `[0]` would match another channel's file.
            c if c.is_alphanumeric() || "-_+ ().,=@".contains(c) => c,
            _ => '_',
        };
        if safe.len() + c.len_utf8() > LONGEST {
            break;
        }
        safe.push(c);
    }
    let prefixed = is_reserved(&safe) || safe.is_empty() || safe.starts_with(['.', ' ', '-']);
    if prefixed { format!("_{safe}") } else { safe }
}

/// Whether Windows takes a file's name for a device, whatever its extension: `aux.parquet`, `COM3`.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    let device = name.split('.').next().unwrap_or_default().trim().to_ascii_uppercase();
    let numbered = |prefix| device.strip_prefix(prefix).is_some_and(|n| n.chars().count() == 1);
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&&*device) || numbered("COM") || numbered("LPT")
}

/// Names with the same key are the same file where case is ignored, also for letters with more than two cases (σ, ς, Σ).
fn case_key(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// A name as part of a path, in the way that other programs read it back. One that is too long is cut, and the channel's
/// place keeps it apart from others.
fn percent(name: &str, place: usize) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        let whole = out.len();
        // Windows drops dots at the end of a name.
        let is_last_dot = c == '.' && rest.as_str().is_empty();
        let bare = c.is_ascii_alphanumeric() || "-_.".contains(c) && name != NULL_PARTITION && !is_last_dot;
        if bare {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
        if out.len() > LONGEST {
            out.truncate(whole);
            let _ = write!(out, "~{place}");
            break;
        }
    }
    out
}

/// What other programs take for no value at all.
const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The name that [`percent`] was given.
fn from_percent(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        let code = rest.get(..2).filter(|_| *byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        out.push(code.unwrap_or(*byte));
        bytes = if code.is_some() { rest.get(2..).unwrap_or_default() } else { rest };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A file of one channel, written as its columns come.
pub struct ChannelFile<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    layout: FolderLayout,
    channel: Channel,
    shape: Shape,
    /// The channel's name, as the dictionary of a long table.
    name: ArrayRef,
    changed: u64,
}

impl<W: Write + Send> ChannelFile<W> {
    /// A file of the channel number `id` of the header; `shape` is how its values are decoded.
    pub fn new(out: W, layout: FolderLayout, header: &Header, id: ChannelId, shape: &Shape) -> Result<Self, SinkError> {
        let channel = header.channels.get(id as usize).cloned().unwrap_or_default();
        let schema = match layout {
            FolderLayout::Hive => Arc::new(without_channel(&long::schema())),
            FolderLayout::Channel => {
                let mut fields = vec![
                    Field::new("time_ns", DataType::Int64, false),
                    Field::new("value", shape.data_type().clone(), true),
                ];
                if shape.is_decoded() {
                    fields.push(Field::new("raw", DataType::Binary, false));
                }
                Arc::new(Schema::new(fields))
            }
        };
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties(&schema)));
        let mut writer = writer.map_err(write_error)?;
        let own = Header { channels: vec![channel.clone()], ..header.clone() };
        writer.append_key_value_metadata(KeyValue::new(KEY.to_owned(), own.to_json(&[])));
        let name = long::dictionary(&own.channels);
        Ok(Self { writer, schema, layout, channel, shape: shape.clone(), name, changed: 0 })
    }

    /// Writes samples behind those before them, in the order of their times.
    pub fn write(&mut self, column: &Column, memory: &Memory) -> Result<(), SinkError> {
        let mut batches = Vec::with_capacity(column.chunks.len());
        for chunk in &column.chunks {
            batches.push(self.batch(memory, chunk)?);
        }
        if !column.sorted {
            batches = sort(&batches);
        }
        batches.iter().try_for_each(|batch| self.writer.write(batch)).map_err(write_error)
    }

    fn batch(&mut self, memory: &Memory, chunk: &Chunk) -> Result<RecordBatch, SinkError> {
        let columns: Vec<ArrayRef> = match self.layout {
            FolderLayout::Hive => {
                let rows = long::of_chunk(0, &self.name, &self.channel, memory, chunk);
                self.schema.fields().iter().filter_map(|field| rows.column_by_name(field.name()).cloned()).collect()
            }
            FolderLayout::Channel => {
                let mut columns: Vec<ArrayRef> = vec![Arc::new(times(memory, chunk)), self.shape.array(memory, chunk)];
                if self.shape.is_decoded() {
                    columns.push(Arc::new(binary(memory, chunk)));
                } else {
                    self.changed += changed(self.channel.ty(), memory, chunk);
                }
                columns
            }
        };
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(|error| write_error(error.into()))
    }

    /// Writes the footer. What the file could not keep is reported.
    pub fn finish(mut self) -> Result<Vec<Problem>, SinkError> {
        self.writer.finish().map_err(write_error)?;
        self.writer.inner_mut().flush()?;
        if self.changed == 0 {
            return Ok(Vec::new());
        }
        let (name, n) = (&self.channel.name, self.changed);
        let message =
            format!("{n} values of {name:?} are not UTF-8, or not 0 or 1; replaced with the nearest valid value");
        Ok(vec![Problem::general(Severity::Damage, "changed-value", message)])
    }
}

/// How many values an array of the type cannot hold as they were.
fn changed(ty: Type, memory: &Memory, chunk: &Chunk) -> u64 {
    let odd = |payload: &[u8]| match Value::parse(ty, payload, logpose_core::Layout::Little) {
        Ok(Value::String(text)) => std::str::from_utf8(text).is_err(),
        Ok(Value::StringArray(texts)) => texts.iter().any(|text| std::str::from_utf8(text).is_err()),
        Ok(Value::BooleanArray(bytes)) => bytes.iter().any(|byte| *byte > 1),
        _ => false,
    };
    match ty {
        Type::String | Type::StringArray | Type::BooleanArray => {
            binary(memory, chunk).iter().flatten().filter(|payload| odd(payload)).count() as u64
        }
        _ => 0,
    }
}

fn without_channel(schema: &Schema) -> Schema {
    Schema::new(schema.fields().iter().filter(|field| field.name() != "channel").cloned().collect::<Vec<_>>())
}

/// Unpacks the Parquet files of a folder as one log, merged by time: `files` are their paths within the folder and
/// their bytes, `out` gets the bytes that the bridge `parquet` then reads.
pub fn read_folder(
    files: &[(&str, &[u8])],
    read: &ReadOptions<'_>,
    out: &mut dyn Write,
    problems: &mut Problems,
) -> Result<(), UnpackError> {
    let mut pack = Pack::new(out);
    let header = guarded(NAME, || merge(files, read, &mut pack, problems));
    problems.append(pack.finish(header.map_err(|error| UnpackError::of(NAME, error))?)?);
    Ok(())
}

fn merge(
    files: &[(&str, &[u8])],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    if files.is_empty() {
        let message = "the folder has no Parquet files".to_owned();
        return Err(DecodeError { dialect: NAME, code: "empty", at: 0, message, help: None }.into());
    }
    let mut known = Known::default();
    let mut header: Option<Header> = None;
    let mut inputs: Vec<FolderFile<'_>> = Vec::with_capacity(files.len());
    for (path, file) in files {
        inputs.push(FolderFile::open(path, file, read)?);
    }
    let mut stage = Stage::default();
    let mut heads: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::with_capacity(inputs.len());
    for (place, input) in inputs.iter_mut().enumerate() {
        let time = input.refill(&mut known, &mut header, problems)?;
        heads.extend(time.map(|time| Reverse((time, place))));
    }
    known.declare(sink)?;
    while let Some(Reverse((_, place))) = heads.pop() {
        let Some(input) = inputs.get_mut(place) else { continue };
        let until = heads.peek().map(|Reverse(head)| *head);
        loop {
            let Some(row) = input.pending.rows.get(input.pending.next) else {
                let time = input.refill(&mut known, &mut header, problems)?;
                if known.has_fresh() {
                    stage.flush(sink)?;
                    known.declare(sink)?;
                }
                match time {
                    Some(_) => continue,
                    None => break,
                }
            };
            if until.is_some_and(|until| (row.time, place) > until) {
                heads.push(Reverse((row.time, place)));
                break;
            }
            let payload = input.pending.payloads.get(row.start..row.end).unwrap_or_default();
            stage.push(row.channel, row.time, row.ty, |out| {
                out.extend_from_slice(payload);
                true
            });
            input.pending.next += 1;
            stage.flush_full(sink)?;
        }
    }
    stage.flush(sink)?;
    known.declare(sink)?;
    Ok(Header { channels: known.channels, ..header.unwrap_or_default() })
}

/// One file of a folder, and the samples that were read from it but not yet merged.
struct FolderFile<'f> {
    path: &'f str,
    source: Option<Source>,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, String>> + 'f>,
    pending: PendingSamples,
}

/// Samples that wait for their turn in the merge.
#[derive(Default)]
struct PendingSamples {
    /// The folder's number of each channel of the file.
    map: HashMap<ChannelId, ChannelId>,
    rows: Vec<PendingRow>,
    payloads: Vec<u8>,
    problems: Problems,
    next: usize,
}

struct PendingRow {
    channel: ChannelId,
    time: Time,
    ty: Type,
    start: usize,
    end: usize,
}

impl<'f> FolderFile<'f> {
    fn open(path: &'f str, file: &'f [u8], read: &ReadOptions<'_>) -> Result<Self, DecodeError> {
        let opened = Opened::open(file).map_err(|error| within(path, error))?;
        let schema = opened.schema();
        let name = named(path, &schema);
        let source = Source::open(NAME, &schema, opened.header(), name.as_deref(), read);
        let source = Some(source.map_err(|error| within(path, error))?);
        Ok(Self { path, source, batches: Box::new(opened.batches(file)), pending: PendingSamples::default() })
    }

    /// Reads the next batch that has samples; returns the time of its first sample, or `None` at the end.
    fn refill(
        &mut self,
        known: &mut Known,
        header: &mut Option<Header>,
        problems: &mut Problems,
    ) -> Result<Option<Time>, StreamError> {
        self.pending.rows.clear();
        self.pending.payloads.clear();
        self.pending.next = 0;
        while let Some(source) = &mut self.source {
            let mut collect = Collect { pending: &mut self.pending, known };
            match self.batches.next() {
                Some(batch) => source.push(batch, &mut collect).map_err(|error| match error {
                    StreamError::Decode(error) => within(self.path, error).into(),
                    error => error,
                })?,
                None => {
                    let Some(source) = self.source.take() else { break };
                    let own = source.finish(problems, &mut collect)?;
                    header.get_or_insert(own);
                }
            }
            problems.append(std::mem::take(&mut self.pending.problems));
            if let Some(first) = self.pending.rows.first() {
                return Ok(Some(first.time));
            }
        }
        Ok(None)
    }
}

/// The channel name in the path, for files that do not contain it.
fn named(path: &str, schema: &Schema) -> Option<String> {
    let mut parts = path.split(['/', '\\']);
    if let Some(value) = parts.clone().find_map(|part| part.strip_prefix("channel=")) {
        return Some(from_percent(value));
    }
    schema.column_with_name("value")?;
    let stem = parts.next_back().and_then(|name| name.rsplit_once('.')).map(|(stem, _)| stem);
    stem.map(str::to_owned)
}

fn within(path: &str, error: DecodeError) -> DecodeError {
    DecodeError { message: format!("{path}: {}", error.message), ..error }
}

/// The channels of all files: one for each name and type.
#[derive(Default)]
struct Known {
    ids: HashMap<(String, String), ChannelId>,
    channels: Vec<Channel>,
    declared: usize,
}

impl Known {
    fn id(&mut self, channel: &Channel) -> ChannelId {
        let next = ChannelId::try_from(self.channels.len()).unwrap_or(ChannelId::MAX);
        let id = *self.ids.entry((channel.name.clone(), channel.type_name.clone())).or_insert(next);
        if id == next {
            self.channels.push(channel.clone());
        }
        id
    }

    fn has_fresh(&self) -> bool {
        self.declared < self.channels.len()
    }

    fn declare(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for (id, channel) in (0..).zip(&self.channels).skip(self.declared) {
            sink.channel(id, channel)?;
        }
        self.declared = self.channels.len();
        Ok(())
    }
}

/// A sink that holds the samples of one file.
struct Collect<'a> {
    pending: &'a mut PendingSamples,
    known: &'a mut Known,
}

impl Sink for Collect<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.pending.map.insert(id, self.known.id(channel));
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some(channel) = self.pending.map.get(&sample.channel).copied() else { continue };
            let start = self.pending.payloads.len();
            sample.value.emit(logpose_core::Layout::Little, &mut self.pending.payloads);
            let (time, ty, end) = (sample.time, sample.value.ty(), self.pending.payloads.len());
            self.pending.rows.push(PendingRow { channel, time, ty, start, end });
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.pending.problems.push(problem);
    }
}

/// Bytes of the longest name, so that an extension and a number have room behind it.
const LONGEST: usize = 200;
