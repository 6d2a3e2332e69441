//! Parquet files.

mod pages;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use bytes::Bytes;
use logpose_core::{Confidence, DecodeError, Problem, Problems, ReadOptions, Sink, SinkError, StreamError, array_at};
use logpose_model::long;
use parquet::DecodeResult;
use parquet::arrow::arrow_reader::{ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, RowFilter};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriter, ArrowWriterOptions, compute_leaves,
};
use parquet::arrow::push_decoder::ParquetPushDecoderBuilder;
use parquet::arrow::{ArrowSchemaConverter, ProjectionMask};
use parquet::basic::{Compression, Encoding, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, ParquetMetaDataPushDecoder};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::SerializedFileWriter;

use crate::long::{Ledger, RowEncoder, Rows, RowsPiece};
use crate::tabular::Source;
use crate::{Header, Writer, tabular};

/// Writes a log as one Parquet file, a row for each sample; a piece is a row group.
pub struct ParquetWriter<W: Write + Send> {
    // Locked by nobody: a writer of pieces is asked for them from several threads, and not every output allows that.
    file: Mutex<SerializedFileWriter<W>>,
    factory: RowGroup,
    ledger: Ledger,
}

/// A row group of a Parquet file.
pub type ParquetPiece = RowsPiece<RowGroup>;

/// What encodes the row groups of a file.
#[derive(Clone)]
pub struct RowGroup(Arc<ArrowRowGroupWriterFactory>);

impl RowEncoder for RowGroup {
    type Encoded = Vec<ArrowColumnChunk>;

    fn encode(&self, rows: &RecordBatch) -> Result<(Self::Encoded, usize), SinkError> {
        let chunks = if rows.num_rows() > 0 { encode(&self.0, rows)? } else { Vec::new() };
        let bytes = chunks.iter().map(|chunk| usize::try_from(chunk.close().bytes_written).unwrap_or(0)).sum();
        Ok((chunks, bytes))
    }
}

impl<W: Write + Send> ParquetWriter<W> {
    /// A file of the channels that the header names.
    pub fn new(out: W, header: Header) -> Result<Self, SinkError> {
        let (file, factory) = open(out, long::schema(), properties(&long::schema()))?;
        Ok(Self { file: Mutex::new(file), factory: RowGroup(Arc::new(factory)), ledger: Ledger::new(header) })
    }
}

impl<W: Write + Send> Writer for ParquetWriter<W> {
    type Piece = ParquetPiece;

    fn piece(&self) -> ParquetPiece {
        RowsPiece::new(Rows::new(&self.ledger.header.channels, NAME), self.factory.clone())
    }

    fn append(&mut self, piece: ParquetPiece) -> Result<(), SinkError> {
        let chunks = piece.hand_over(&mut self.ledger)?.unwrap_or_default();
        append(self.file.get_mut().unwrap_or_else(PoisonError::into_inner), chunks)
    }

    fn finish(self) -> Result<Vec<Problem>, SinkError> {
        let mut file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.append_key_value_metadata(KeyValue::new(KEY.to_owned(), self.ledger.to_json()));
        file.finish().map_err(write_error)?;
        file.inner_mut().flush()?;
        Ok(Vec::new())
    }
}

/// An empty file, and what encodes its row groups.
fn open<W: Write + Send>(
    out: W,
    schema: SchemaRef,
    properties: WriterProperties,
) -> Result<(SerializedFileWriter<W>, ArrowRowGroupWriterFactory), SinkError> {
    let options = ArrowWriterOptions::new().with_properties(properties);
    let writer = ArrowWriter::try_new_with_options(out, schema, options).map_err(write_error)?;
    writer.into_serialized_writer().map_err(write_error)
}

/// Encodes a batch as one row group.
fn encode(factory: &ArrowRowGroupWriterFactory, batch: &RecordBatch) -> Result<Vec<ArrowColumnChunk>, SinkError> {
    let mut writers = factory.create_column_writers(0).map_err(write_error)?;
    let mut next = writers.iter_mut();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        // The leaves come first: a zip would take a writer too many.
        for leaf in compute_leaves(field, column).map_err(write_error)? {
            let writer = next.next().ok_or_else(|| io::Error::other("column without a writer"))?;
            writer.write(&leaf).map_err(write_error)?;
        }
    }
    writers.into_iter().map(|writer| writer.close().map_err(write_error)).collect()
}

/// Writes an encoded row group.
fn append<W: Write + Send>(file: &mut SerializedFileWriter<W>, chunks: Vec<ArrowColumnChunk>) -> Result<(), SinkError> {
    if chunks.is_empty() {
        return Ok(());
    }
    let mut group = file.next_row_group().map_err(write_error)?;
    chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group)).map_err(write_error)?;
    group.close().map_err(write_error)?;
    Ok(())
}

/// How the columns of a table of samples are encoded.
pub(crate) fn properties(schema: &Schema) -> WriterProperties {
    let mut builder = plain();
    let leaves = ArrowSchemaConverter::new().convert(schema);
    for leaf in leaves.iter().flat_map(|leaves| leaves.columns()) {
        let path = leaf.path().clone();
        let name = leaf.name();
        builder = match leaf.physical_type() {
            // Texts are often the same again; payloads are not.
            Type::BYTE_ARRAY if leaf.logical_type_ref().is_some() => {
                builder.set_column_dictionary_enabled(path.clone(), true)
            }
            // Times and counters go on in steps.
            Type::INT64 => builder.set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED),
            _ => builder,
        };
        // A filter by time skips pages. Every row group has all channels, so their min and max name say nothing
        // and cost a comparison a row.
        builder = match name {
            TIME => builder.set_column_statistics_enabled(path, EnabledStatistics::Page),
            CHANNEL => builder.set_column_statistics_enabled(path, EnabledStatistics::None),
            _ => builder,
        };
    }
    builder.build()
}

/// How columns are encoded of which nothing else is known.
pub(crate) fn plain() -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(concat!("logpose ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD).unwrap_or_default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::Chunk)
}

/// An error of the writer, or the one of the output that was behind it.
pub(crate) fn write_error(error: ParquetError) -> SinkError {
    SinkError::Io(match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    })
}

pub(crate) fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) || head.starts_with(ENCRYPTED) { Confidence::Yes } else { Confidence::No }
}

/// Pushes the samples of a file.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    tabular::guarded(NAME, || {
        let opened = Opened::open(file)?;
        let source = Source::open(NAME, &opened.schema(), opened.header(), None, read)?;
        tabular::read(source, opened.batches(file), sink, problems)
    })
}

/// The footer of a file.
pub(crate) struct Opened {
    metadata: ArrowReaderMetadata,
}

impl Opened {
    pub(crate) fn open(file: &[u8]) -> Result<Self, DecodeError> {
        let refuse = |code, at, message: String, help: &str| {
            let help = (!help.is_empty()).then(|| help.to_owned());
            DecodeError { dialect: NAME, code, at, message, help }
        };
        let end = file.len() as u64;
        if file.starts_with(ENCRYPTED) || file.ends_with(ENCRYPTED) {
            let message = "the file is encrypted".to_owned();
            return Err(refuse("encrypted", 0, message, "decrypt it with the program that wrote it"));
        }
        if !file.starts_with(MAGIC) {
            return Err(refuse("bad-magic", 0, "not a Parquet file: expected PAR1 at the start".to_owned(), ""));
        }
        if file.len() < 12 || !file.ends_with(MAGIC) {
            let message = "missing footer: the file is truncated or was not finished".to_owned();
            let help =
                "a Parquet file cannot be read without its footer; copy the file again, or convert the original again";
            return Err(refuse("no-footer", end, message, help));
        }
        let damaged = |error: ParquetError| refuse("bad-footer", end, format!("the footer is damaged: {error}"), AGAIN);
        let length = array_at(file, file.len() - 8).map_or(0, |b| u32::from_le_bytes(*b));
        if u64::from(length) + 12 > end {
            let message = format!("the footer length is {length} bytes, the file has {end}");
            return Err(refuse("bad-footer", end, message, AGAIN));
        }
        let mut decoder = ParquetMetaDataPushDecoder::try_new(end).map_err(damaged)?;
        let metadata = loop {
            match decoder.try_decode().map_err(damaged)? {
                DecodeResult::Data(metadata) => break metadata,
                DecodeResult::NeedsData(ranges) => {
                    let bytes = slices(file, &ranges).map_err(damaged)?;
                    decoder.push_ranges(ranges, bytes).map_err(damaged)?;
                }
                DecodeResult::Finished => return Err(damaged(ParquetError::EOF("no metadata".to_owned()))),
            }
        };
        check(&metadata, file).map_err(|message| refuse("bad-footer", end, message, AGAIN))?;
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(damaged)?;
        Ok(Self { metadata })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    /// What we keep in a file besides samples, if it is one of ours.
    pub(crate) fn header(&self) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == KEY)?.value.as_deref()
    }

    /// The rows, in batches.
    pub(crate) fn batches<'f>(&self, file: &'f [u8]) -> impl Iterator<Item = Result<RecordBatch, String>> + use<'f> {
        drained(self.decoder(), file)
    }

    /// The rows that have one text in a column, in batches.
    pub(crate) fn batches_with<'f>(
        &self,
        file: &'f [u8],
        column: &str,
        text: &str,
    ) -> impl Iterator<Item = Result<RecordBatch, String>> + use<'f> {
        let wanted = text.to_owned();
        let is_wanted = move |rows: RecordBatch| {
            let texts = rows.columns().first().and_then(|column| column.as_string_opt::<i32>());
            let texts = texts.ok_or_else(|| ArrowError::SchemaError("expected a column of texts".to_owned()))?;
            Ok(texts.iter().map(|text| Some(text == Some(&*wanted))).collect::<BooleanArray>())
        };
        let mask = ProjectionMask::columns(self.metadata.metadata().file_metadata().schema_descr(), [column]);
        let filter = RowFilter::new(vec![Box::new(ArrowPredicateFn::new(mask, is_wanted))]);
        drained(self.decoder().with_row_filter(filter), file)
    }

    fn decoder(&self) -> ParquetPushDecoderBuilder {
        ParquetPushDecoderBuilder::new_with_metadata(self.metadata.clone()).with_batch_size(BATCH)
    }
}

/// What a decoder gives, which asks for the bytes that it needs.
fn drained<'f>(
    builder: ParquetPushDecoderBuilder,
    file: &'f [u8],
) -> impl Iterator<Item = Result<RecordBatch, String>> + use<'f> {
    let mut decoder = builder.build().map_err(|error| error.to_string());
    let mut asked = Vec::new();
    let mut next = move || -> Result<Option<RecordBatch>, String> {
        let decoder = decoder.as_mut().map_err(|error| error.clone())?;
        loop {
            match decoder.try_decode().map_err(|error| error.to_string())? {
                DecodeResult::Data(batch) => return Ok(Some(batch)),
                DecodeResult::Finished => return Ok(None),
                DecodeResult::NeedsData(ranges) => {
                    if ranges == asked {
                        return Err("the reader made no progress".to_owned());
                    }
                    let bytes = slices(file, &ranges).map_err(|error| error.to_string())?;
                    decoder.push_ranges(ranges.clone(), bytes).map_err(|error| error.to_string())?;
                    asked = ranges;
                }
            }
        }
    };
    let mut over = false;
    std::iter::from_fn(move || {
        if over {
            return None;
        }
        let item = next().transpose();
        over = !matches!(item, Some(Ok(_)));
        item
    })
}

/// Copies of ranges of a file, of which only the row group at hand is held.
fn slices(file: &[u8], ranges: &[Range<u64>]) -> Result<Vec<Bytes>, ParquetError> {
    let slice = |range: &Range<u64>| {
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        file.get(start..end).map(Bytes::copy_from_slice)
    };
    let slice = |range| slice(range).ok_or_else(|| ParquetError::EOF(format!("bytes {range:?} of {}", file.len())));
    ranges.iter().map(slice).collect()
}

/// Looks at the claims of a footer before anything relies on them.
fn check(metadata: &ParquetMetaData, file: &[u8]) -> Result<(), String> {
    let mut rows = 0_u64;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        let claimed = u64::try_from(group.num_rows()).ok().and_then(|n| rows.checked_add(n));
        rows = claimed.ok_or_else(|| format!("row group {place} has {} rows", group.num_rows()))?;
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
            let start = usize::try_from(start.min(column.data_page_offset())).ok();
            let len = usize::try_from(column.compressed_size()).ok();
            let bytes = start.zip(len).and_then(|(start, len)| file.get(start..)?.get(..len));
            let fail = |what: &str| format!("column {:?} of row group {place}{what}", column.column_path().string());
            let bytes = bytes.ok_or_else(|| fail(" is outside the file"))?;
            pages::check(bytes, column.compression()).map_err(|message| fail(&format!(": {message}")))?;
        }
    }
    let file = file.len() as u64;
    // Runs of one value take next to no bytes, but not that few.
    if rows > file.saturating_mul(ROWS_PER_BYTE) {
        return Err(format!("the file declares {rows} rows in {file} bytes"));
    }
    Ok(())
}

pub(crate) const NAME: &str = "parquet";
/// The key of our header in the metadata of a file.
pub(crate) const KEY: &str = "logpose";
const TIME: &str = "time_ns";
const CHANNEL: &str = "channel";
const MAGIC: &[u8; 4] = b"PAR1";
const ENCRYPTED: &[u8; 4] = b"PARE";
const ZSTD: i32 = 1;
const BATCH: usize = 8192;
const ROWS_PER_BYTE: u64 = 1 << 16;
const AGAIN: &str = "the file is damaged; copy it again, or convert the original again";
