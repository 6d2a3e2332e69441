use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use arrow_select::interleave::interleave_record_batch;
use logpose_core::{Channel, Column};

use crate::{Memory, Shape, times};

/// The schema of one channel's samples: `time_ns` and `value`.
#[must_use]
pub fn channel_schema(shape: &Shape) -> SchemaRef {
    let time = Field::new("time_ns", DataType::Int64, false);
    let value = Field::new("value", shape.data_type().clone(), true);
    Arc::new(Schema::new(vec![time, value]))
}

/// The samples of a column in the order of their times; those of one time in the order of the file.
#[must_use]
pub fn channel_batches(column: &Column, memory: &Memory, shape: &Shape) -> Vec<RecordBatch> {
    let schema = channel_schema(shape);
    let batch = |chunk| {
        let columns = vec![Arc::new(times(memory, chunk)) as _, shape.array(memory, chunk)];
        batch_of(&schema, columns)
    };
    let batches: Vec<RecordBatch> = column.chunks.iter().map(batch).collect();
    if column.sorted { batches } else { sort(&batches) }
}

/// The rows of all batches in the order of their times, which are the first column; rows of one time keep theirs.
#[must_use]
pub fn sort(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let mut places = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for (which, batch) in batches.iter().enumerate() {
        let times = batch.columns().first().and_then(|times| times.as_primitive_opt::<Int64Type>());
        let times = times.map_or(&[][..], |times| times.values());
        places.extend(times.iter().enumerate().map(|(row, time)| (*time, (which, row))));
    }
    places.sort_by_key(|(time, _)| *time);
    let places: Vec<(usize, usize)> = places.into_iter().map(|(_, place)| place).collect();
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    let mut sorted = Vec::with_capacity(places.len().div_ceil(ROWS));
    places.chunks(ROWS).for_each(|places| pick(&batches, places, &mut sorted));
    sorted
}

/// Appends the named rows as one batch, or as several where Arrow's 31-bit offsets do not reach over all of them.
fn pick(batches: &[&RecordBatch], places: &[(usize, usize)], out: &mut Vec<RecordBatch>) {
    match interleave_record_batch(batches, places) {
        Ok(batch) => out.push(batch),
        Err(_) if places.len() > 1 => {
            let (first, second) = places.split_at(places.len() / 2);
            pick(batches, first, out);
            pick(batches, second, out);
        }
        // One row alone was part of an array before, so it fits one now.
        Err(_) => {}
    }
}

/// Names of columns and tables for channels, no two alike: the channel's name, or `name (type)` where channels share it.
#[must_use]
pub fn names(channels: &[Channel]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for channel in channels {
        *counts.entry(&channel.name).or_default() += 1;
    }
    let mut taken: HashSet<String> =
        counts.iter().filter(|(_, count)| **count == 1).map(|(name, _)| (*name).to_owned()).collect();
    let name = |channel: &Channel| {
        if counts.get(channel.name.as_str()) == Some(&1) {
            return channel.name.clone();
        }
        free_name(&mut taken, format!("{} ({})", channel.name, channel.type_name))
    };
    channels.iter().map(name).collect()
}

/// The name, or one like it that is not taken, which is then taken.
pub fn free_name(taken: &mut HashSet<String>, name: String) -> String {
    let mut free = name.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = format!("{name} {number}");
        number += 1;
    }
    free
}

/// Adds the columns that a table does not have yet, as nullable ones. If a column would change its type nothing is added,
/// and the answer is `false`.
pub fn widen(table: &mut Vec<FieldRef>, more: &[FieldRef]) -> bool {
    let known = |field: &FieldRef| table.iter().find(|one| one.name() == field.name());
    if more.iter().any(|field| known(field).is_some_and(|one| one.data_type() != field.data_type())) {
        return false;
    }
    let new: Vec<FieldRef> = more.iter().filter(|field| known(field).is_none()).cloned().collect();
    table.extend(new.into_iter().map(|field| Arc::new(Field::clone(&field).with_nullable(true))));
    true
}

/// A batch of columns that were made for the schema.
pub(crate) fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>) -> RecordBatch {
    #[expect(clippy::expect_used, reason = "the columns have the types and the one length that the schema says")]
    RecordBatch::try_new(Arc::clone(schema), columns).expect("columns fit their schema")
}

/// Rows of a sorted batch; about as many as a chunk has.
const ROWS: usize = 8192;
