use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use datafusion::arrow::compute::cast;
use logpose::schema::json;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::{Answer, Error, show};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// Rows of values between commas, the first of them the names.
    Csv,
    /// A JSON object a line.
    Ndjson,
    /// An array of JSON objects.
    Json,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
}

impl Form {
    /// The form of that name or extension.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "ndjson" | "jsonl" => Self::Ndjson,
            "json" => Self::Json,
            "parquet" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            _ => return None,
        })
    }

    /// Whether it can be shown on a terminal.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson | Self::Json)
    }
}

/// Why an answer was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// There is no answer.
    #[error(transparent)]
    Answer(#[from] Error),
    /// It could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<ArrowError> for WriteError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Io(error),
            other => Self::Answer(Error::new("write", other.to_string())),
        }
    }
}

impl From<ParquetError> for WriteError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(error) => Self::Answer(Error::new("write", error.to_string())),
            },
            other => Self::Answer(Error::new("write", other.to_string())),
        }
    }
}

impl Answer<'_> {
    /// Writes all rows and returns how many there were; `beat` is called before each batch of them.
    pub fn write(&mut self, form: Form, out: &mut (dyn Write + Send), beat: &dyn Fn()) -> Result<u64, WriteError> {
        let schema = self.schema();
        let mut rows = 0;
        let batches = self.inspect(|batch| {
            beat();
            rows += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        });
        match form {
            Form::Csv => csv(&schema, batches, out),
            Form::Ndjson => lines(&schema, batches, ["", "\n", "\n", ""], out),
            Form::Json => lines(&schema, batches, ["[\n", ",\n", "", "\n]\n"], out),
            Form::Parquet => parquet(&schema, batches, out),
            Form::Arrow => arrow(&schema, batches, out),
        }?;
        Ok(rows)
    }
}

fn csv(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    out: &mut (dyn Write + Send),
) -> Result<(), WriteError> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    let failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => WriteError::Io(error),
        other => WriteError::Io(io::Error::other(format!("{other:?}"))),
    };
    writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(failed)?;
    let mut cell = Vec::new();
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            for array in batch.columns() {
                cell.clear();
                show::text(array, row, &mut cell);
                writer.write_field(&cell).map_err(failed)?;
            }
            writer.write_record(None::<&[u8]>).map_err(failed)?;
        }
    }
    Ok(writer.flush()?)
}

/// Rows as JSON objects, with what stands before the first, between two, behind the last, and at the end.
fn lines(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    [open, between, last, close]: [&str; 4],
    out: &mut (dyn Write + Send),
) -> Result<(), WriteError> {
    let names: Vec<Vec<u8>> = schema
        .fields()
        .iter()
        .map(|field| {
            let mut name = Vec::new();
            json::string(&mut name, field.name());
            name
        })
        .collect();
    let mut buffer = open.as_bytes().to_vec();
    let mut any = false;
    for batch in batches {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if any {
                buffer.extend_from_slice(between.as_bytes());
            }
            any = true;
            for (i, (name, array)) in names.iter().zip(batch.columns()).enumerate() {
                buffer.push(if i == 0 { b'{' } else { b',' });
                buffer.extend_from_slice(name);
                buffer.push(b':');
                show::value(array, row, &mut buffer);
            }
            buffer.extend_from_slice(if names.is_empty() { b"{}" } else { b"}" });
            if buffer.len() > FLUSH {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
    }
    if any {
        buffer.extend_from_slice(last.as_bytes());
    }
    buffer.extend_from_slice(close.as_bytes());
    out.write_all(&buffer)?;
    Ok(out.flush()?)
}

fn parquet(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    out: &mut (dyn Write + Send),
) -> Result<(), WriteError> {
    let schema = plain(schema);
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
    for batch in batches {
        writer.write(&plainly(&batch?, &schema)?)?;
    }
    writer.close()?;
    Ok(())
}

fn arrow(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, Error>>,
    out: &mut (dyn Write + Send),
) -> Result<(), WriteError> {
    let schema = plain(schema);
    let mut writer = FileWriter::try_new_buffered(out, &schema)?;
    for batch in batches {
        writer.write(&plainly(&batch?, &schema)?)?;
    }
    Ok(writer.finish()?)
}

/// The schema without dictionaries. A file may have only one for each column, and batches bring their own.
fn plain(schema: &SchemaRef) -> SchemaRef {
    Arc::new(Schema::new(schema.fields().iter().map(plain_field).collect::<Fields>()))
}

fn plain_field(field: &Arc<Field>) -> Arc<Field> {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, value) => (**value).clone(),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        DataType::List(item) => DataType::List(plain_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(plain_field(item), *size),
        _ => return field.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

fn plainly(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns: Result<Vec<ArrayRef>, _> = batch
        .columns()
        .iter()
        .zip(schema.fields())
        .map(|(array, field)| {
            if array.data_type() == field.data_type() { Ok(array.clone()) } else { cast(array, field.data_type()) }
        })
        .collect();
    RecordBatch::try_new(schema.clone(), columns?)
}

const FLUSH: usize = 64 << 10;
