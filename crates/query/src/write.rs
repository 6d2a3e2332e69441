use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use logpose::bridges::{TableFormat, write_batches};
use logpose::schema::json;

use crate::{Answer, Error, show};

/// How an answer is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AnswerFormat {
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

impl AnswerFormat {
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

impl Answer<'_> {
    /// Writes all rows and returns how many there were; `beat` is called before each batch of them.
    pub fn write(
        &mut self,
        form: AnswerFormat,
        out: &mut (dyn Write + Send),
        beat: &dyn Fn(),
    ) -> Result<u64, WriteError> {
        let schema = self.schema();
        let mut rows = 0;
        let batches = self.inspect(|batch| {
            beat();
            rows += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        });
        match form {
            AnswerFormat::Csv => csv(&schema, batches, out),
            AnswerFormat::Ndjson => lines(&schema, batches, ["", "\n", "\n", ""], out),
            AnswerFormat::Json => lines(&schema, batches, ["[\n", ",\n", "", "\n]\n"], out),
            AnswerFormat::Parquet => write_batches(&schema, batches.map(answered), out, TableFormat::Parquet).map(drop),
            AnswerFormat::Arrow => write_batches(&schema, batches.map(answered), out, TableFormat::Arrow).map(drop),
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

fn answered(batch: Result<RecordBatch, Error>) -> Result<RecordBatch, WriteError> {
    Ok(batch?)
}

const FLUSH: usize = 64 << 10;
