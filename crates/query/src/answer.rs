use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;

use crate::{Engine, Error, show};

/// Rows that answer a question, read as they are asked for.
pub struct Answer<'e> {
    engine: &'e Engine,
    stream: SendableRecordBatchStream,
    schema: SchemaRef,
    sql: String,
}

impl<'e> Answer<'e> {
    pub(crate) fn new(engine: &'e Engine, stream: SendableRecordBatchStream, names: Vec<String>, sql: String) -> Self {
        let schema = stream.schema();
        let named = schema.fields().iter().zip(names).map(|(field, name)| Field::clone(field).with_name(name));
        let schema = Arc::new(Schema::new(named.collect::<Vec<_>>()));
        Self { engine, stream, schema, sql }
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The names of the columns, and whether their values are numbers.
    #[must_use]
    pub fn columns(&self) -> Vec<(String, bool)> {
        let schema = self.schema();
        schema.fields().iter().map(|field| (field.name().clone(), is_number(field.data_type()))).collect()
    }

    /// The next rows, `None` behind the last.
    pub fn next_rows(&mut self) -> Result<Option<Rows>, Error> {
        Ok(self.next().transpose()?.map(Rows))
    }
}

/// Batches as they come.
impl Iterator for Answer<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.engine.wait(&mut self.stream)?;
        let named = next.and_then(|batch| {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(self.schema.clone(), batch.columns().to_vec(), &options)?)
        });
        Some(named.map_err(|error| self.engine.failed(&error, &self.sql)))
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

/// Some rows of an answer.
#[derive(Clone, Debug)]
pub struct Rows(RecordBatch);

impl Rows {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.num_rows()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a value as text for people; nothing for NULL.
    pub fn text(&self, row: usize, column: usize, out: &mut String) {
        let Some(array) = self.0.columns().get(column).filter(|_| row < self.len()) else { return };
        let mut bytes = Vec::new();
        show::text(array, row, &mut bytes);
        out.push_str(&String::from_utf8_lossy(&bytes));
    }
}
