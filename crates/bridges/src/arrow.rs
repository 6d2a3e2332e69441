//! Arrow IPC: files, and the stream of messages that they are made of.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::{IpcSchemaEncoder, fb_to_schema, metadata_to_fb};
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{
    DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message,
};
use arrow_ipc::{
    Block, CompressionType, FooterBuilder, Message, MessageHeader, MetadataVersion, root_as_footer, root_as_message,
};
use arrow_schema::{ArrowError, Schema};
use flatbuffers::FlatBufferBuilder;
use logpose_core::{
    Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, SinkError, StreamError, array_at, word_at,
};
use logpose_model::long;

use crate::long::{Ledger, RowEncoder, Rows, RowsPiece};
use crate::parquet::KEY;
use crate::tabular::Source;
use crate::{Header, Writer, claims, tabular};

/// Writes a log as one Arrow file, a row for each sample. The dictionary of channels stands at its front.
pub struct ArrowWriter<W: Write + Send> {
    // Locked by nobody: a writer of pieces is asked for them from several threads, and not every output allows that.
    out: Mutex<W>,
    schema: Schema,
    ledger: Ledger,
    at: u64,
    dictionaries: Vec<Block>,
    batches: Vec<Block>,
}

/// Some record batches of an Arrow file.
pub type ArrowPiece = RowsPiece<RecordBatches>;

/// What encodes record batches.
#[derive(Clone, Copy)]
pub struct RecordBatches;

impl RowEncoder for RecordBatches {
    type Encoded = Vec<EncodedData>;

    fn encode(&self, rows: &RecordBatch) -> Result<(Self::Encoded, usize), SinkError> {
        let count = rows.num_rows();
        let mut messages = Vec::with_capacity(count.div_ceil(BATCH));
        for start in (0..count).step_by(BATCH) {
            messages.push(encode(&rows.slice(start, BATCH.min(count - start)))?.1);
        }
        let bytes = messages.iter().map(|message| message.arrow_data.len()).sum();
        Ok((messages, bytes))
    }
}

impl<W: Write + Send> ArrowWriter<W> {
    /// A file of the channels that the header names.
    pub fn new(mut out: W, header: Header) -> Result<Self, SinkError> {
        let ledger = Ledger::new(header);
        // At the front too: there it is all that a cut file has.
        let metadata = [(KEY.to_owned(), ledger.to_json())].into();
        let schema = Schema::new_with_metadata(long::schema().fields().clone(), metadata);
        out.write_all(MAGIC)?;
        out.write_all(&[0; 2])?;
        let options = options()?;
        let mut tracker = DictionaryTracker::new(true);
        let message =
            IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(&schema, &mut tracker, &options);
        let (meta, body) = write_message(&mut out, message, &options).map_err(write_error)?;
        let empty = Rows::new(&ledger.header.channels, NAME).finish().0;
        let at = (START + meta + body) as u64;
        let mut writer =
            Self { out: Mutex::new(out), schema, ledger, at, dictionaries: Vec::new(), batches: Vec::new() };
        for message in encode(&empty)?.0 {
            let block = writer.write(message, &options)?;
            writer.dictionaries.push(block);
        }
        Ok(writer)
    }

    fn write(&mut self, message: EncodedData, options: &IpcWriteOptions) -> Result<Block, SinkError> {
        let out = self.out.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (meta, body) = write_message(out, message, options).map_err(write_error)?;
        let long = || SinkError::Io(io::Error::other("message too long"));
        let place = i64::try_from(self.at).ok().zip(i32::try_from(meta).ok()).zip(i64::try_from(body).ok());
        let ((at, length), body_length) = place.ok_or_else(long)?;
        self.at += (meta + body) as u64;
        Ok(Block::new(at, length, body_length))
    }
}

impl<W: Write + Send> Writer for ArrowWriter<W> {
    type Piece = ArrowPiece;

    fn piece(&self) -> ArrowPiece {
        RowsPiece::new(Rows::new(&self.ledger.header.channels, NAME), RecordBatches)
    }

    fn append(&mut self, piece: ArrowPiece) -> Result<(), SinkError> {
        let options = options()?;
        for message in piece.hand_over(&mut self.ledger)?.unwrap_or_default() {
            let block = self.write(message, &options)?;
            self.batches.push(block);
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Problem>, SinkError> {
        let mut out = self.out.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The end of the stream, for who reads the file as one.
        out.write_all(&CONTINUATION)?;
        out.write_all(&[0; 4])?;
        let mut fbb = FlatBufferBuilder::new();
        let dictionaries = fbb.create_vector(&self.dictionaries);
        let batches = fbb.create_vector(&self.batches);
        let mut tracker = DictionaryTracker::new(true);
        let mut encoder = IpcSchemaEncoder::new().with_dictionary_tracker(&mut tracker);
        let schema = encoder.schema_to_fb_offset(&mut fbb, &self.schema);
        let metadata = metadata_to_fb(&mut fbb, &[(KEY.to_owned(), self.ledger.to_json())].into());
        let mut footer = FooterBuilder::new(&mut fbb);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        footer.add_custom_metadata(metadata);
        let root = footer.finish();
        fbb.finish(root, None);
        let footer = fbb.finished_data();
        let length = i32::try_from(footer.len()).map_err(|_| io::Error::other("header too long"))?;
        out.write_all(footer)?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(MAGIC)?;
        out.flush()?;
        Ok(Vec::new())
    }
}

/// The messages of a batch: its dictionaries, and itself.
fn encode(batch: &RecordBatch) -> Result<(Vec<EncodedData>, EncodedData), SinkError> {
    let options = options()?;
    let generator = IpcDataGenerator::default();
    let mut tracker = DictionaryTracker::new(true);
    // This gives the dictionaries the numbers that they have in the schema.
    generator.schema_to_bytes_with_dictionary_tracker(&batch.schema(), &mut tracker, &options);
    generator.encode(batch, &mut tracker, &options, &mut IpcWriteContext::default()).map_err(write_error)
}

pub(crate) fn options() -> Result<IpcWriteOptions, SinkError> {
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V5).map_err(write_error)?;
    let options = options.try_with_compression(Some(CompressionType::ZSTD)).map_err(write_error)?;
    options.try_with_compression_level(Some(ZSTD)).map_err(write_error)
}

/// An error of the writer, or the one of the output that was behind it.
pub(crate) fn write_error(error: ArrowError) -> SinkError {
    SinkError::Io(match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    })
}

pub(crate) fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) {
        return Confidence::Yes;
    }
    // A stream begins with the message of its schema.
    let schema = Encapsulated::parse(head, 0).ok().flatten();
    if schema.is_some_and(|message| message.kind == MessageHeader::Schema) { Confidence::Yes } else { Confidence::No }
}

/// Pushes the samples of a file.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    tabular::guarded(NAME, || unpack(file, read, sink, problems))
}

fn unpack(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let is_file = file.starts_with(MAGIC);
    let footer = if is_file { footer(file) } else { None };
    if is_file && footer.is_none() {
        let message = "missing footer: the file is truncated or was not finished";
        if !read.salvage {
            let help =
                "run `logpose recover --from arrow` to keep the complete batches, or copy the file again".to_owned();
            let (at, message) = (file.len() as u64, message.to_owned());
            return Err(DecodeError { dialect: NAME, code: "no-footer", at, message, help: Some(help) }.into());
        }
        problems.push(Problem::general(Severity::Damage, "no-footer", message));
    }
    let start = if is_file { START } else { 0 };
    let fail = |(at, message): (usize, String)| DecodeError { at: at as u64, ..tabular::damaged(NAME, message) };
    let first = Encapsulated::parse(file, start).map_err(fail)?;
    let schema = first.as_ref().and_then(|message| root_as_message(message.metadata).ok()?.header_as_schema());
    let schema = fb_to_schema(schema.ok_or_else(|| fail((start, "expected a schema first".to_owned())))?);
    let own = footer.flatten().or_else(|| schema.metadata().get(KEY).cloned());
    let mut messages = Messages { file, at: start, decoder: StreamDecoder::new(), damage: None };
    let batches = std::iter::from_fn(|| messages.next_batch());
    let source = Source::open(NAME, &schema, own.as_deref(), None, read)?;
    let header = tabular::read(source, batches, sink, problems)?;
    match messages.damage {
        Some((at, message)) if read.salvage => {
            let lost = (file.len() - at) as u64;
            problems.push(Problem::new(Severity::Damage, "truncated", at as u64, lost, message));
        }
        Some(damage) => return Err(fail(damage).into()),
        None => {}
    }
    Ok(header)
}

/// What the footer holds of ours, if there is a footer.
fn footer(file: &[u8]) -> Option<Option<String>> {
    let body = file.strip_suffix(MAGIC)?;
    let (body, length) = body.split_last_chunk()?;
    let length = usize::try_from(i32::from_le_bytes(*length)).ok()?;
    let footer = root_as_footer(body.get(body.len().checked_sub(length)?..)?).ok()?;
    let pairs = footer.custom_metadata();
    let own = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key() == Some(KEY))?.value().map(str::to_owned));
    Some(own)
}

/// The messages of a stream, one after the other.
struct Messages<'f> {
    file: &'f [u8],
    at: usize,
    decoder: StreamDecoder,
    /// Where the stream could not be read any more, and why.
    damage: Option<(usize, String)>,
}

impl Messages<'_> {
    fn next_batch(&mut self) -> Option<Result<RecordBatch, String>> {
        while self.damage.is_none() {
            let message = match Encapsulated::parse(self.file, self.at) {
                Ok(None) => return None,
                Ok(Some(message)) => message,
                Err(damage) => {
                    self.damage = Some(damage);
                    return None;
                }
            };
            let at = std::mem::replace(&mut self.at, message.end);
            // The copy is aligned, and of one message alone.
            let mut buffer = Buffer::from(message.bytes);
            match self.decoder.decode(&mut buffer) {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(error) => self.damage = Some((at, error.to_string())),
            }
        }
        None
    }
}

/// A message with its length in front and its body behind.
struct Encapsulated<'f> {
    bytes: &'f [u8],
    metadata: &'f [u8],
    kind: MessageHeader,
    end: usize,
}

impl<'f> Encapsulated<'f> {
    /// The message at a place; `None` where the stream ends.
    fn parse(file: &'f [u8], start: usize) -> Result<Option<Self>, (usize, String)> {
        let fail = |message: &str| (start, message.to_owned());
        let rest = file.get(start..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        // Before 2019 the length stood alone.
        let prefix = if rest.starts_with(&CONTINUATION) { 8 } else { 4 };
        let length = array_at(rest, prefix - 4).map(|b| i32::from_le_bytes(*b));
        let length = length.ok_or_else(|| fail("message length is truncated"))?;
        if length == 0 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| fail("message length is negative"))?;
        let metadata = rest.get(prefix..).and_then(|rest| rest.get(..length));
        let metadata = metadata.ok_or_else(|| fail("message is truncated"))?;
        let message = root_as_message(metadata).map_err(|error| (start, format!("not an Arrow message: {error}")))?;
        let body_start = prefix + length;
        let body_len = usize::try_from(message.bodyLength()).ok();
        let end = body_len.and_then(|len| body_start.checked_add(len));
        let bytes = end.and_then(|end| rest.get(..end)).ok_or_else(|| fail("message body is truncated"))?;
        check(&message, bytes.get(body_start..).unwrap_or_default()).map_err(|message| (start, message))?;
        Ok(Some(Self { bytes, metadata, kind: message.header_type(), end: start + bytes.len() }))
    }
}

/// Looks at the claims of a message before memory is taken for them.
fn check(message: &Message<'_>, body: &[u8]) -> Result<(), String> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch else { return Ok(()) };
    for buffer in batch.buffers().into_iter().flatten() {
        let range = usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(at, length)| body.get(at..)?.get(..length));
        let bytes = bytes.ok_or("a buffer is outside its message")?;
        let Some((claim, compression)) = word_at(bytes, 0).zip(batch.compression()) else { continue };
        let packed = bytes.get(8..).unwrap_or_default();
        let most = match compression.codec() {
            CompressionType::ZSTD => claims::zstd(packed),
            _ => (packed.len() as u64).saturating_mul(claims::LZ4),
        };
        // A negative claim says that the buffer is not compressed.
        if claim.cast_signed() > 0 && claim > most {
            return Err(format!("a buffer of {} bytes is declared as {claim}", bytes.len()));
        }
    }
    Ok(())
}

pub(crate) const NAME: &str = "arrow";
const MAGIC: &[u8; 6] = b"ARROW1";
/// Where the first message of a file begins.
const START: usize = 8;
const CONTINUATION: [u8; 4] = [0xff; 4];
/// Rows of a batch.
const BATCH: usize = 1 << 17;
const ZSTD: i32 = 1;
