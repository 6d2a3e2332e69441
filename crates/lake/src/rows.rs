//! What the lake adds to the rows of `logs` and `channels`, and how it reads `logs`.

use std::sync::Arc;

use arrow_array::builder::{MapBuilder, MapFieldNames, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use logpose::bridges::read_lake_file;
use logpose_core::Channel;

use crate::samples::Summary;
use crate::{ChannelRow, Error, LogRow, Status};

/// The row of a log: `told` is what SQL says about it, of which refused logs have nothing.
pub(crate) fn log_row(told: &RecordBatch, row: &LogRow) -> Result<RecordBatch, Error> {
    let text = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
    // DuckDB finds the parts of a map by these names.
    let names = MapFieldNames { entry: "entries".to_owned(), key: "key".to_owned(), value: "value".to_owned() };
    let mut labels = MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new());
    for (key, value) in &row.labels {
        labels.keys().append_value(key);
        labels.values().append_value(value);
    }
    labels.append(true).map_err(inner)?;
    let labels = labels.finish();
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (field, column) in told.schema().fields().iter().zip(told.columns()) {
        let column: ArrayRef = match field.name().as_str() {
            "log" => text(&row.log),
            "source" => text(&row.source),
            "bytes" => Arc::new(Int64Array::from(vec![i64::try_from(row.bytes).ok()])),
            _ if column.is_empty() => arrow_array::new_null_array(field.data_type(), 1),
            _ => column.clone(),
        };
        columns.push((Field::clone(field), column));
    }
    columns.extend([
        (Field::new("hash", DataType::Utf8, false), text(&row.hash)),
        (Field::new("status", DataType::Utf8, false), text(row.status.name())),
        (Field::new("reason", DataType::Utf8, true), Arc::new(StringArray::from(vec![row.reason.clone()])) as _),
        (Field::new("collection", DataType::Utf8, false), text(&row.collection)),
        (Field::new("team", DataType::Int64, true), Arc::new(Int64Array::from(vec![row.team])) as _),
        (Field::new("labels", labels.data_type().clone(), true), Arc::new(labels) as _),
        (Field::new("modified_ms", DataType::Int64, false), Arc::new(Int64Array::from(vec![row.modified_ms])) as _),
        (Field::new("facts", DataType::Utf8, false), text(&row.facts)),
        (Field::new("ingest", DataType::Utf8, false), text(&row.ingest)),
    ]);
    batch(columns)
}

/// The channels of a log: what SQL says about them, and what their values are.
pub(crate) fn channels(told: &RecordBatch, channels: &[&Channel], known: &[Summary]) -> Result<RecordBatch, Error> {
    let numbers =
        |of: &dyn Fn(&Summary) -> Option<f64>| -> ArrayRef { Arc::new(known.iter().map(of).collect::<Float64Array>()) };
    let texts = |of: &dyn Fn(&Channel) -> Option<String>| -> ArrayRef {
        Arc::new(channels.iter().map(|channel| of(channel)).collect::<StringArray>())
    };
    let ids: Int32Array = (0..).take(channels.len()).map(Some).collect();
    let values: Int64Array = known.iter().map(|known| i64::try_from(known.values).ok()).collect();
    let nans: Int64Array = known.iter().map(|known| i64::try_from(known.nans).ok()).collect();
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    let mut columns: Vec<(Field, ArrayRef)> =
        told.schema().fields().iter().map(|field| Field::clone(field)).zip(told.columns().iter().cloned()).collect();
    columns.extend([
        (Field::new("values", DataType::Int64, false), Arc::new(values) as ArrayRef),
        (Field::new("nans", DataType::Int64, false), Arc::new(nans) as ArrayRef),
        (number("min"), numbers(&|known| Some(known.range?.0))),
        (number("max"), numbers(&|known| Some(known.range?.1))),
        (number("sum"), numbers(&|known| known.sum)),
        (number("first_value"), numbers(&|known| known.first)),
        (number("last_value"), numbers(&|known| known.last)),
        (Field::new("id", DataType::Int32, false), Arc::new(ids) as _),
        (Field::new("family", DataType::Utf8, true), texts(&|channel| Some(channel.family.clone()?.0))),
        (Field::new("key", DataType::Utf8, true), texts(&|channel| Some(channel.family.clone()?.1))),
        (Field::new("declared_unit", DataType::Utf8, true), texts(&|channel| channel.unit.clone())),
    ]);
    batch(columns)
}

fn batch(columns: Vec<(Field, ArrayRef)>) -> Result<RecordBatch, Error> {
    let (fields, arrays): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(inner)
}

fn inner(error: arrow_schema::ArrowError) -> Error {
    Error::new("internal-error", error.to_string())
}

/// Appends the channels of a log, with their numbers in it.
pub(crate) fn read_channels(batch: &RecordBatch, log: &str, out: &mut Vec<(i32, Channel)>) -> Result<(), String> {
    let texts = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let logs = texts("log").ok_or("no column `log`")?;
    let ids = batch.column_by_name("id").and_then(|ids| ids.as_primitive_opt::<Int32Type>()).ok_or("no column `id`")?;
    for row in 0..batch.num_rows() {
        if logs.value(row) != log {
            continue;
        }
        let text =
            |name: &str| texts(name).filter(|texts| texts.is_valid(row)).map(|texts| texts.value(row).to_owned());
        let channel = Channel {
            name: text("channel").ok_or_else(|| format!("row {row} has no `channel`"))?,
            type_name: text("type").ok_or_else(|| format!("row {row} has no `type`"))?,
            unit: text("declared_unit"),
            metadata: text("metadata").unwrap_or_default(),
            family: text("family").zip(text("key")).map(Box::new),
        };
        out.push((ids.value(row), channel));
    }
    Ok(())
}

/// Appends the rows of a batch of `channels`.
pub(crate) fn read_channel_rows(batch: &RecordBatch, out: &mut Vec<ChannelRow>) -> Result<(), String> {
    let logs = batch.column_by_name("log").and_then(|logs| logs.as_string_opt::<i32>()).ok_or("no column `log`")?;
    let number = |name: &str| batch.column_by_name(name)?.as_primitive_opt::<Int64Type>();
    let number = |name: &str| number(name).ok_or_else(|| format!("no column `{name}`"));
    let (samples, first, last) = (number("samples")?, number("first_ns")?, number("last_ns")?);
    let mut names: Vec<&str> = logs.iter().flatten().collect();
    names.sort_unstable();
    names.dedup();
    // One log at a time, as `read_channels` has them; within a log rows keep their order.
    for log in names {
        let mut channels = Vec::new();
        read_channels(batch, log, &mut channels)?;
        let rows = (0..batch.num_rows()).filter(|row| logs.value(*row) == log);
        for (row, (id, channel)) in rows.zip(channels) {
            let at = |column: &Int64Array| column.is_valid(row).then(|| column.value(row));
            let samples = at(samples).and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
            out.push(ChannelRow { log: log.to_owned(), id, channel, samples, range_ns: at(first).zip(at(last)) });
        }
    }
    Ok(())
}

/// Appends the rows of a file of `logs`.
pub(crate) fn read_logs(file: &[u8], out: &mut Vec<LogRow>) -> Result<(), String> {
    let (_, batches) = read_lake_file(file).map_err(|error| error.to_string())?;
    for batch in batches {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name);
        let text = |name: &str, row: usize| {
            let texts = column(name)?.as_string_opt::<i32>()?;
            texts.is_valid(row).then(|| texts.value(row).to_owned())
        };
        let number = |name: &str, row: usize| {
            let numbers = column(name)?.as_primitive_opt::<Int64Type>()?;
            numbers.is_valid(row).then(|| numbers.value(row))
        };
        let count = |name: &str, row: usize| number(name, row).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        for row in 0..batch.num_rows() {
            let needed = |name: &str| text(name, row).ok_or_else(|| format!("row {row} has no `{name}`"));
            let pairs = column("labels").and_then(|labels| Some(labels.as_map_opt()?.value(row)));
            let pairs = pairs
                .as_ref()
                .map(|pairs| pairs.columns().iter().map(|c| c.as_string_opt::<i32>()).collect::<Vec<_>>());
            let labels = match pairs.as_deref() {
                Some([Some(keys), Some(values)]) => keys.iter().zip(values.iter()).collect(),
                _ => Vec::new(),
            };
            let labels = labels.into_iter().filter_map(|(key, value)| Some((key?.to_owned(), value?.to_owned())));
            let status = text("status", row).and_then(|name| Status::from_name(&name));
            out.push(LogRow {
                log: needed("log")?,
                hash: needed("hash")?,
                source: text("source", row).unwrap_or_default(),
                bytes: count("bytes", row),
                dialect: text("dialect", row),
                range_ns: number("first_ns", row).zip(number("last_ns", row)),
                epoch_ns: number("epoch_ns", row),
                samples: count("samples", row),
                problems: count("problems", row),
                status: status.ok_or_else(|| format!("row {row} has an unknown status"))?,
                reason: text("reason", row),
                name_of_match: text("match", row),
                collection: text("collection", row).unwrap_or_default(),
                team: number("team", row),
                labels: labels.collect(),
                facts: text("facts", row).unwrap_or_default(),
                modified_ms: number("modified_ms", row).unwrap_or(0),
                ingest: needed("ingest")?,
            });
        }
    }
    Ok(())
}
