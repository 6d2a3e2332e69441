use std::io::{self, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use logpose_core::SinkError;
use parquet::arrow::ArrowWriter;
use std::sync::Arc;

use crate::cast::cast;
use crate::{arrow, parquet as own};

/// The formats that any table can be written in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TableFormat {
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
}

/// Writes batches of one schema as a file, as they come; returns how many rows there were.
pub fn write_batches<E: From<io::Error>>(
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch, E>>,
    out: impl Write + Send,
    format: TableFormat,
) -> Result<u64, E> {
    let mut rows = 0;
    match format {
        TableFormat::Parquet => {
            let properties = own::plain().set_dictionary_enabled(true).build();
            let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties));
            let mut writer = writer.map_err(|error| output(own::write_error(error)))?;
            for batch in batches {
                let batch = batch?;
                rows += batch.num_rows() as u64;
                writer.write(&batch).map_err(|error| output(own::write_error(error)))?;
            }
            writer.finish().map_err(|error| output(own::write_error(error)))?;
            writer.inner_mut().flush()?;
        }
        TableFormat::Arrow => {
            // A file has one dictionary for a column, and each batch of a query may bring its own.
            let plain =
                Arc::new(Schema::new_with_metadata(without_dictionaries(schema.fields()), schema.metadata().clone()));
            let options = arrow::options().map_err(output)?;
            let fail = |error| output(arrow::write_error(error));
            let mut writer = FileWriter::try_new_with_options(out, &plain, options).map_err(fail)?;
            for batch in batches {
                let batch = batch?;
                rows += batch.num_rows() as u64;
                let columns = batch.columns().iter().zip(plain.fields());
                let columns = columns.map(|(column, field)| cast(column, field.data_type()));
                let columns = columns.collect::<Result<_, _>>().map_err(fail)?;
                let batch = RecordBatch::try_new(Arc::clone(&plain), columns).map_err(fail)?;
                writer.write(&batch).map_err(fail)?;
            }
            writer.finish().map_err(fail)?;
        }
    }
    Ok(rows)
}

fn output(error: SinkError) -> io::Error {
    match error {
        SinkError::Io(error) => error,
        error => io::Error::other(error),
    }
}

fn without_dictionaries(fields: &Fields) -> Fields {
    fields.iter().map(|field| plain(field)).collect()
}

/// The field with the values of dictionaries in the place of their keys.
fn plain(field: &Field) -> Field {
    let inner = |field: &Field| Arc::new(plain(field));
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => (**values).clone(),
        DataType::Struct(fields) => DataType::Struct(without_dictionaries(fields)),
        DataType::List(field) => DataType::List(inner(field)),
        DataType::LargeList(field) => DataType::LargeList(inner(field)),
        DataType::FixedSizeList(field, len) => DataType::FixedSizeList(inner(field), *len),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}
