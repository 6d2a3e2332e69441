use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::{Error, show};

/// Rows that answer a question, read as they are asked for. Dropping it gives the question up.
pub struct Answer<'e> {
    patience: Patience<'e>,
    task: Task,
    rows: mpsc::Receiver<Result<RecordBatch, Error>>,
    schema: SchemaRef,
}

/// How long who asked waits.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'e> {
    pub handle: &'e Handle,
    /// When it has taken too long, and what that was.
    pub deadline: Option<(Instant, Duration)>,
    pub stop: &'e dyn Fn() -> bool,
}

impl Patience<'_> {
    /// What comes of a future, unless patience ends first.
    pub(crate) fn wait<F: Future + Unpin>(&self, mut next: F) -> Result<F::Output, Error> {
        self.handle.block_on(async {
            loop {
                if let Ok(next) = timeout(GLANCE, &mut next).await {
                    return Ok(next);
                }
                if (self.stop)() {
                    return Err(Error::cancelled());
                }
                if let Some((deadline, allowed)) = self.deadline
                    && Instant::now() >= deadline
                {
                    return Err(Error::too_long(allowed));
                }
            }
        })
    }
}

/// A question that is being answered; given up when it is dropped.
pub(crate) struct Task(pub JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<'e> Answer<'e> {
    pub(crate) fn new(
        patience: Patience<'e>,
        task: Task,
        rows: mpsc::Receiver<Result<RecordBatch, Error>>,
        schema: &SchemaRef,
        names: Vec<String>,
    ) -> Self {
        let named = schema.fields().iter().zip(names).map(|(field, name)| Field::clone(field).with_name(name));
        let schema = Arc::new(Schema::new(named.collect::<Vec<_>>()));
        Self { patience, task, rows, schema }
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
        let Self { patience, task, rows, schema } = self;
        let next = match patience.wait(std::pin::pin!(rows.recv())) {
            Ok(Some(next)) => next,
            // The rows end with the task: well, or because it panicked.
            Ok(None) => match patience.wait(&mut task.0) {
                Ok(Ok(())) => return None,
                Ok(Err(_)) => Err(Error::internal()),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        Some(next.and_then(|batch| {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)
                .map_err(|error| Error::new("sql", error.to_string()))
        }))
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

    /// A value as text; empty for NULL. [`text`](Self::text) appends it to a buffer instead.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> String {
        let mut out = String::new();
        self.text(row, column, &mut out);
        out
    }

    /// Appends a value as text for people; nothing for NULL.
    pub fn text(&self, row: usize, column: usize, out: &mut String) {
        let Some(array) = self.0.columns().get(column).filter(|_| row < self.len()) else { return };
        let mut bytes = Vec::new();
        show::text(array, row, &mut bytes);
        out.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// How often who asked is asked whether to go on.
const GLANCE: Duration = Duration::from_millis(50);
