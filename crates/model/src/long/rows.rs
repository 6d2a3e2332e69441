use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, PrimitiveArray, RecordBatch, StringArray};
use logpose_core::{Channel, ChannelId, EncodeError, Problem, Sample, Sink, SinkError};

use super::cells::{Arrays, Cells};
use super::schema;
use crate::batch::{batch_of, free_name, names};
use crate::memory::MOST;

/// Collects samples in the order in which they come. The number of a channel is its key in the dictionary of names.
///
/// Offsets have 31 bits, so a batch holds less than 2 GiB of text, and of bytes: call [`Rows::finish`] long before
/// [`Rows::bytes`] comes there. A sample that finds no room is refused.
#[derive(Debug, Default)]
pub struct Rows {
    names: Vec<String>,
    taken: HashSet<String>,
    /// The names as an array, until another is added.
    dictionary: Option<ArrayRef>,
    times: Vec<i64>,
    keys: Vec<i32>,
    cells: Cells,
}

impl Rows {
    /// Rows for the channels of a log. More may be declared while samples come; those that come early keep their names.
    #[must_use]
    pub fn new(channels: &[Channel]) -> Self {
        let names = names(channels);
        Self { taken: names.iter().cloned().collect(), names, ..Self::default() }
    }

    /// How many samples were collected since the last batch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there was none since the last batch.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// About how many bytes of memory the next batch takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.times.len() * 12 + self.cells.size()
    }

    /// What was collected, as one batch. Starts anew.
    pub fn finish(&mut self) -> RecordBatch {
        let rows = self.times.len();
        let times = std::mem::replace(&mut self.times, Vec::with_capacity(rows));
        let keys = std::mem::replace(&mut self.keys, Vec::with_capacity(rows));
        let names = &self.names;
        let dictionary =
            self.dictionary.get_or_insert_with(|| Arc::new(StringArray::from_iter_values(names)) as ArrayRef);
        batch(Int64Array::new(times.into(), None), keys, dictionary, self.cells.finish(rows))
    }

    #[cold]
    fn refusal(&self, id: ChannelId, message: String) -> SinkError {
        let name = usize::try_from(id).ok().and_then(|id| self.names.get(id));
        let channel = name.cloned().unwrap_or_else(|| format!("#{id}"));
        EncodeError::new("columns", channel, message).into()
    }
}

impl Sink for Rows {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let id = id as usize;
        if id < self.names.len() {
            return Ok(());
        }
        if id > self.names.len() {
            let message = format!("has the id {id}, expected {}: channels must be declared in order", self.names.len());
            return Err(EncodeError::new("columns", &channel.name, message).into());
        }
        let name = if self.taken.insert(channel.name.clone()) {
            channel.name.clone()
        } else {
            free_name(&mut self.taken, format!("{} ({})", channel.name, channel.type_name))
        };
        self.names.push(name);
        self.dictionary = None;
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        let known = self.names.len();
        for sample in samples {
            let Some(key) = i32::try_from(sample.channel).ok().filter(|_| (sample.channel as usize) < known) else {
                return Err(self.refusal(sample.channel, "has a sample but was not declared".to_owned()));
            };
            if self.cells.push(self.times.len(), &sample.value).is_err() {
                return Err(self.refusal(sample.channel, format!("a batch can hold at most {MOST} bytes of values")));
            }
            self.times.push(sample.time.nanos());
            self.keys.push(key);
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // Rows are values. Whoever fills them reads the log, and has its problems from the index.
    }
}

/// A batch of rows; every key must be one of the dictionary.
pub(super) fn batch(times: Int64Array, keys: Vec<i32>, dictionary: &ArrayRef, values: Arrays) -> RecordBatch {
    let keys = PrimitiveArray::<Int32Type>::new(keys.into(), None);
    let channels = DictionaryArray::new(keys, Arc::clone(dictionary));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(times), Arc::new(channels)];
    columns.extend(values);
    batch_of(&schema(), columns)
}
