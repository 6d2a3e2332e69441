//! The samples of a log as rows of the table `samples`: channel by channel, each in the order of time.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use logpose::Log;
use logpose::bridges::{FileStatistics, LakeWriter};
use logpose_core::{ChannelId, Column, SinkError};
use logpose_model::{Memory, long, sort};

use crate::Error;
use crate::schema::with_ids;

/// What is known of a channel's values once all of them have been seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// How many numbers, integers and booleans there are.
    pub values: u64,
    /// Numbers that are none.
    pub nans: u64,
    /// Of numbers, of integers and of booleans; NaNs are left out.
    pub range: Option<(f64, f64)>,
    /// What they add up to, NaNs included.
    pub sum: Option<f64>,
    pub first: Option<f64>,
    pub last: Option<f64>,
}

/// The columns of the files: those that SQL shows, without `time`, and the number of the channel in its log, which tells
/// channels apart that share a name.
pub(crate) fn schema() -> SchemaRef {
    with_ids(&Schema::new(fields(DataType::Utf8)))
}

/// The columns of which files say what lies in them.
pub(crate) const RANGED: [&str; 4] = ["log", "channel", "id", "time_ns"];

fn fields(name: DataType) -> Vec<Field> {
    let long = long::schema();
    let values = long.fields().iter().skip(2).map(|field| Field::clone(field));
    [
        Field::new("log", name.clone(), false),
        Field::new("channel", name, false),
        Field::new("id", DataType::Int32, false),
        Field::new("time_ns", DataType::Int64, false),
    ]
    .into_iter()
    .chain(values)
    .collect()
}

/// Writes all samples of a log. The summaries are those of its channels, in their order.
pub(crate) fn write(
    log: &Log,
    name: &str,
    out: &mut (dyn Write + Send),
    progress: &mut dyn FnMut(u64),
) -> Result<(FileStatistics, Vec<Summary>), Error> {
    let channels = &log.index.channels;
    let names = Names::new(name);
    let mut writer = LakeWriter::new(out, &names.schema, &schema(), &RANGED)?;
    let mut summaries = vec![Summary::default(); channels.len()];
    for group in groups(log) {
        let (columns, memory) = log.columns(&group)?.into_parts();
        let memory = Memory::from(memory);
        for (id, column) in group.iter().zip(&columns) {
            writer.border()?;
            let summary = summaries.get_mut(*id as usize);
            let mut summary = summary.map_or_else(|| (Summary::default(), None), |place| (*place, Some(place)));
            for batch in batches(column, &memory) {
                summary.0.add(&batch);
                writer.write(&names.batch(*id, column, &batch)?)?;
            }
            if let Some(place) = summary.1 {
                *place = summary.0;
            }
        }
        progress(group.iter().filter_map(|id| channels.get(*id as usize)).map(|found| found.bytes).sum());
    }
    Ok((writer.finish()?, summaries))
}

/// Channels that are read together: enough to be worth a walk over a large log, and few enough for the memory.
fn groups(log: &Log) -> Vec<Vec<ChannelId>> {
    let channels = &log.index.channels;
    let mut order: Vec<ChannelId> = (0..).zip(channels).map(|(id, _)| id).collect();
    order.sort_by_key(|id| channels.get(*id as usize).map(|found| &found.channel.name));
    let mut groups: Vec<(u64, Vec<ChannelId>)> = Vec::new();
    for id in &order {
        let bytes = channels.get(*id as usize).map_or(0, |found| found.bytes);
        match groups.last_mut() {
            Some((held, group)) if *held + bytes <= GROUP => {
                *held += bytes;
                group.push(*id);
            }
            _ => groups.push((bytes, vec![*id])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The rows of a channel in the order of time; those of one time in the order of the log.
fn batches(column: &Column, memory: &Memory) -> Vec<RecordBatch> {
    let names: ArrayRef = Arc::new(StringArray::from(vec![column.channel.name.as_str()]));
    let batch = |chunk| long::of_chunk(0, &names, &column.channel, memory, chunk);
    let batches: Vec<RecordBatch> = column.chunks.iter().map(batch).collect();
    if column.sorted { batches } else { sort(&batches) }
}

struct Names {
    log: ArrayRef,
    schema: SchemaRef,
}

impl Names {
    fn new(log: &str) -> Self {
        let schema = Arc::new(Schema::new(fields(name_type())));
        Self { log: Arc::new(StringArray::from(vec![log])), schema }
    }

    /// Rows of one channel with the columns that all of them share.
    fn batch(&self, id: ChannelId, column: &Column, rows: &RecordBatch) -> Result<RecordBatch, SinkError> {
        let all = |values: ArrayRef| -> Result<ArrayRef, SinkError> {
            let keys = Int32Array::from_value(0, rows.num_rows());
            Ok(Arc::new(DictionaryArray::try_new(keys, values).map_err(std::io::Error::other)?))
        };
        let channel = Arc::new(StringArray::from(vec![column.channel.name.as_str()]));
        let id = Int32Array::from_value(i32::try_from(id).unwrap_or(i32::MAX), rows.num_rows());
        let mut columns = vec![all(self.log.clone())?, all(channel)?, Arc::new(id)];
        columns.extend(rows.columns().iter().enumerate().filter(|(place, _)| *place != 1).map(|(_, a)| a.clone()));
        Ok(RecordBatch::try_new(self.schema.clone(), columns).map_err(std::io::Error::other)?)
    }
}

/// The rows that a log has in `samples`, made from the log once more.
pub(crate) struct Original {
    log: Log,
    names: Names,
    groups: std::vec::IntoIter<Vec<ChannelId>>,
    batches: VecDeque<RecordBatch>,
    /// How many rows were compared.
    done: u64,
}

impl Original {
    pub(crate) fn new(log: Log, name: &str) -> Self {
        let groups = groups(&log).into_iter();
        Self { log, names: Names::new(name), groups, batches: VecDeque::new(), done: 0 }
    }

    /// Compares the next rows, bit for bit.
    pub(crate) fn compare(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        let mut at = 0;
        while at < rows.num_rows() {
            let Some(expected) = self.next()? else {
                return Err(Error::new("differs", format!("has more than the {} samples of its file", self.done)));
            };
            let count = expected.num_rows().min(rows.num_rows() - at);
            let (now, rest) = (expected.slice(0, count), expected.slice(count, expected.num_rows() - count));
            let found = rows.slice(at, count);
            if !same(&now, &found)? {
                let mut row = 0;
                while row + 1 < count && same(&now.slice(row, 1), &found.slice(row, 1))? {
                    row += 1;
                }
                let message =
                    format!("sample {} in the order of channels differs from its file", self.done + row as u64);
                return Err(Error::new("differs", message));
            }
            (self.done, at) = (self.done + count as u64, at + count);
            if rest.num_rows() > 0 {
                self.batches.push_front(rest);
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            if let Some(batch) = self.batches.pop_front() {
                return Ok(Some(batch));
            }
            let Some(group) = self.groups.next() else { return Ok(None) };
            let (columns, memory) = self.log.columns(&group)?.into_parts();
            let memory = Memory::from(memory);
            for (id, column) in group.iter().zip(&columns) {
                for batch in batches(column, &memory) {
                    self.batches.push_back(self.names.batch(*id, column, &batch)?);
                }
            }
        }
    }
}

/// Whether rows are the same, names and values to the last bit.
fn same(expected: &RecordBatch, found: &RecordBatch) -> Result<bool, Error> {
    for (field, expected) in expected.schema().fields().iter().zip(expected.columns()) {
        let Some(found) = found.column_by_name(field.name()) else { return Ok(false) };
        let failed = |error: arrow_schema::ArrowError| Error::new("internal-error", error.to_string());
        // Names are dictionaries on one side, and lists call their items differently in files.
        let as_found = cast(expected, found.data_type()).map_err(failed)?;
        if as_found.as_ref() != found.as_ref() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

impl Summary {
    /// Takes in rows of the long table.
    fn add(&mut self, rows: &RecordBatch) {
        let column = |name| rows.column_by_name(name).filter(|column| column.null_count() < column.len());
        if let Some(numbers) = column("number").and_then(|column| column.as_primitive_opt::<Float64Type>()) {
            numbers.iter().flatten().for_each(|x| self.value(x));
        }
        if let Some(numbers) = column("integer").and_then(|column| column.as_primitive_opt::<Int64Type>()) {
            #[expect(clippy::cast_precision_loss, reason = "the exact values stand in the samples")]
            numbers.iter().flatten().for_each(|x| self.value(x as f64));
        }
        if let Some(states) = column("boolean").and_then(|column| column.as_boolean_opt()) {
            states.iter().flatten().for_each(|x| self.value(f64::from(u8::from(x))));
        }
    }

    fn value(&mut self, x: f64) {
        self.values += 1;
        self.first.get_or_insert(x);
        self.last = Some(x);
        self.sum = Some(self.sum.map_or(x, |sum| sum + x));
        if x.is_nan() {
            self.nans += 1;
        } else {
            // -0 is less than 0, as it is where values are sorted.
            let less = |a: f64, b: f64| if a.total_cmp(&b).is_lt() { a } else { b };
            let more = |a: f64, b: f64| if a.total_cmp(&b).is_gt() { a } else { b };
            self.range = Some(self.range.map_or((x, x), |(low, high)| (less(x, low), more(x, high))));
        }
    }
}

/// Bytes of a log that are read at a time.
const GROUP: u64 = 64 << 20;
