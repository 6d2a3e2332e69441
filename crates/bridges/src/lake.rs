//! The Parquet files of a lake: rows that the caller has sorted, in small row groups, with statistics to skip them by.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use logpose_core::{DecodeError, SinkError};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Encoding, Type};
use parquet::data_type::ByteArray;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::Statistics;
use parquet::schema::types::SchemaDescriptor;

use crate::parquet::{Opened, plain, write_error};

/// Writes one file of a table.
///
/// A row group ends after [`GROUP`](Self::GROUP) rows, or at a [`border`](Self::border) once it has half of them: a
/// reader that wants one channel of many then finds it in few groups, and those hold little else.
pub struct LakeWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
}

/// What a table's log says about a file, so that readers need not open it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileStatistics {
    /// How many rows.
    pub rows: u64,
    /// The top-level columns whose min and max are known.
    pub columns: Vec<ColumnRange>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRange {
    /// Its name.
    pub name: String,
    /// Min and max; `None` if all values are null.
    pub range: Option<(Bound, Bound)>,
    /// How many rows have no value.
    pub nulls: u64,
}

/// An end of a range.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Bound {
    /// Of a column of numbers.
    Integer(i64),
    /// Of a column of texts.
    Text(String),
}

impl<W: Write + Send> LakeWriter<W> {
    /// Rows of a full group.
    pub const GROUP: usize = 128 << 10;

    /// A file of rows of a schema. `numbered` is the same schema with the ids of its columns, as files have them; `ranged`
    /// names the columns of which statistics are kept: those that questions filter by.
    pub fn new(out: W, schema: &SchemaRef, numbered: &Schema, ranged: &[&str]) -> Result<Self, SinkError> {
        let columns = ArrowSchemaConverter::new().convert(numbered).map_err(write_error)?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&columns, ranged))
            .with_parquet_schema(columns)
            // Readers then take the types of the table, in which no column is a dictionary.
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(out, SchemaRef::clone(schema), options).map_err(write_error)?;
        Ok(Self { writer })
    }

    /// Appends rows, which come in the order of the table.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), SinkError> {
        self.writer.write(rows).map_err(write_error)
    }

    /// Says that the next rows are of another channel.
    pub fn border(&mut self) -> Result<(), SinkError> {
        if self.writer.in_progress_rows() >= Self::GROUP / 2 {
            self.writer.flush().map_err(write_error)?;
        }
        Ok(())
    }

    /// About how large the file is so far.
    pub fn size(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    /// Writes the footer.
    pub fn finish(mut self) -> Result<FileStatistics, SinkError> {
        let metadata = self.writer.finish().map_err(write_error)?;
        self.writer.inner_mut().flush()?;
        Ok(statistics(&metadata))
    }
}

/// The rows of a file of a lake, in batches.
pub fn read_lake_file(
    file: &[u8],
) -> Result<(SchemaRef, impl Iterator<Item = Result<RecordBatch, String>>), DecodeError> {
    let opened = Opened::open(file)?;
    Ok((opened.schema(), opened.batches(file)))
}

/// The rows of a file of a lake that have one text in a column, in batches. Of the other rows only that column is read.
pub fn read_lake_rows<'f>(
    file: &'f [u8],
    column: &str,
    text: &str,
) -> Result<impl Iterator<Item = Result<RecordBatch, String>> + use<'f>, DecodeError> {
    let opened = Opened::open(file)?;
    Ok(opened.batches_with(file, column, text))
}

fn properties(columns: &SchemaDescriptor, ranged: &[&str]) -> WriterProperties {
    let mut builder = plain()
        .set_max_row_group_row_count(Some(LakeWriter::<Vec<u8>>::GROUP))
        .set_statistics_enabled(EnabledStatistics::None)
        // Names of channels share long beginnings, so a bound that is cut says nothing.
        .set_statistics_truncate_length(None)
        .set_column_index_truncate_length(None);
    for leaf in columns.columns() {
        let path = leaf.path().clone();
        // Statistics leave NaNs out, and a comparison does not: columns of floats must not be skipped by them.
        let is_float = matches!(leaf.physical_type(), Type::FLOAT | Type::DOUBLE);
        if !is_float && ranged.contains(&path.string().as_str()) {
            builder = builder.set_column_statistics_enabled(path.clone(), EnabledStatistics::Page);
        }
        builder = match leaf.physical_type() {
            // Texts are often the same again; payloads are not.
            Type::BYTE_ARRAY if leaf.logical_type_ref().is_some() => builder.set_column_dictionary_enabled(path, true),
            Type::INT32 => builder.set_column_dictionary_enabled(path, true),
            // Times and counters go on in steps.
            Type::INT64 => builder.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
            _ => builder,
        };
    }
    builder.build()
}

/// What the footer of a file says about its columns.
fn statistics(metadata: &ParquetMetaData) -> FileStatistics {
    let rows = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum();
    let mut columns: Vec<ColumnRange> = Vec::new();
    for group in metadata.row_groups() {
        for chunk in group.columns() {
            let (Some(found), [name]) = (chunk.statistics(), chunk.column_path().parts()) else { continue };
            let nulls = found.null_count_opt().unwrap_or(0);
            let place = columns.iter().position(|column| column.name == *name).unwrap_or_else(|| {
                columns.push(ColumnRange { name: name.clone(), range: None, nulls: 0 });
                columns.len() - 1
            });
            let Some(column) = columns.get_mut(place) else { continue };
            column.nulls += nulls;
            column.range = match (column.range.take(), range(found)) {
                (Some((low, high)), Some((min, max))) => Some((low.min(min), high.max(max))),
                (one, other) => one.or(other),
            };
        }
    }
    FileStatistics { rows, columns }
}

fn range(found: &Statistics) -> Option<(Bound, Bound)> {
    let text = |bytes: &ByteArray| bytes.as_utf8().ok().map(|text| Bound::Text(text.to_owned()));
    match found {
        Statistics::Int32(found) => {
            Some((Bound::Integer((*found.min_opt()?).into()), Bound::Integer((*found.max_opt()?).into())))
        }
        Statistics::Int64(found) => Some((Bound::Integer(*found.min_opt()?), Bound::Integer(*found.max_opt()?))),
        Statistics::ByteArray(found) => Some((text(found.min_opt()?)?, text(found.max_opt()?)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use arrow_schema::{DataType, Field, Schema};
    use parquet::file::metadata::ParquetMetaDataReader;

    use super::{Bound, ColumnRange, LakeWriter, read_lake_file};

    #[test]
    fn groups_end_at_channels_and_floats_have_no_statistics() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("channel", DataType::Utf8, false),
            Field::new("time_ns", DataType::Int64, false),
            Field::new("number", DataType::Float64, true),
        ]));
        let mut out = Vec::new();
        let mut writer = LakeWriter::new(&mut out, &schema, &schema, &["channel", "time_ns", "number"]).unwrap();
        let long = "x".repeat(100);
        let channels = [(format!("{long}/a"), 10), (format!("{long}/b"), 70_000), (format!("{long}/c"), 200_000)];
        for (name, rows) in &channels {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(StringArray::from(vec![name.as_str(); *rows])),
                Arc::new((0..i64::try_from(*rows).unwrap()).collect::<Int64Array>()),
                Arc::new(Float64Array::from(vec![f64::NAN; *rows])),
            ];
            writer.border().unwrap();
            writer.write(&RecordBatch::try_new(schema.clone(), columns).unwrap()).unwrap();
        }
        let about = writer.finish().unwrap();
        assert_eq!(about.rows, 270_010);
        let range = |name: &str, low, high| ColumnRange { name: name.to_owned(), range: Some((low, high)), nulls: 0 };
        let text = |(name, _): &(String, usize)| Bound::Text(name.clone());
        assert_eq!(
            about.columns,
            [
                range("channel", text(&channels[0]), text(&channels[2])),
                range("time_ns", Bound::Integer(0), Bound::Integer(199_999)),
            ]
        );
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::from(out.clone())).unwrap();
        let rows: Vec<i64> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, [70_010, 131_072, 68_928]);
        let (read, batches) = read_lake_file(&out).unwrap();
        assert_eq!(read.field(0).data_type(), &DataType::Utf8);
        assert_eq!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 270_010);
    }
}
