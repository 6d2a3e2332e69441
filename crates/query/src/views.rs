//! Tables of what is known about logs without reading their samples.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt32Array, new_empty_array,
};
use arrow_schema::{DataType, Field, Schema};
use datafusion::arrow::compute::concat;
use datafusion::common::Result;
use datafusion::datasource::MemTable;
use logpose::Log;
use logpose::frc::{self, ConsoleLine, ErrorLine, Match};
use logpose_core::{Problem, Time};

use crate::logs::{Logs, name_type};

/// The logs themselves.
pub(crate) fn logs(logs: &Logs) -> Result<MemTable> {
    let all = || logs.logs.iter();
    let number = |of: &dyn Fn(&Log) -> u64| -> ArrayRef {
        Arc::new(all().map(|log| i64::try_from(of(log)).ok()).collect::<Int64Array>())
    };
    let text = |of: &dyn Fn(&Log) -> Option<String>| -> ArrayRef {
        Arc::new(all().map(|log| of(log)).collect::<StringArray>())
    };
    let matches: Vec<Option<Match>> = all().map(|log| Match::of(log)).collect();
    let of_match = |of: &dyn Fn(&Match) -> Option<String>| -> ArrayRef {
        Arc::new(matches.iter().map(|found| of(found.as_ref()?)).collect::<StringArray>())
    };
    let end = |of: &dyn Fn((Time, Time)) -> Time| {
        moments(logs, all().enumerate().map(|(log, l)| (log, l.index.range().map(of))))
    };
    let numbers: Int64Array = matches.iter().map(|found| Some(i64::from(found.as_ref()?.number?))).collect();
    let epochs: Int64Array = all().map(|log| log.epoch_ns()).collect();
    let moment = logs.time_type();
    let origin = |log: &Log| log.index.fact("origin").unwrap_or(log.dialect().info().name).to_owned();
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("source", DataType::Utf8, false), text(&|log| Some(log.path.display().to_string()))),
        (Field::new("bytes", DataType::Int64, true), number(&Log::file_len)),
        (Field::new("dialect", DataType::Utf8, true), text(&|log| Some(origin(log)))),
        (Field::new("first", moment.clone(), true), end(&|(first, _)| first)?),
        (Field::new("last", moment, true), end(&|(_, last)| last)?),
        (Field::new("epoch_ns", DataType::Int64, true), Arc::new(epochs)),
        (Field::new("channels", DataType::Int64, true), number(&|log| log.index.channels.len() as u64)),
        (Field::new("samples", DataType::Int64, true), number(&|log| log.index.samples())),
        (Field::new("problems", DataType::Int64, true), number(&|log| log.problems.list().len() as u64)),
        (Field::new("match", DataType::Utf8, true), of_match(&|found| found.label())),
        (Field::new("event", DataType::Utf8, true), of_match(&|found| found.event.clone())),
        (Field::new("kind", DataType::Utf8, true), of_match(&|found| Some(found.kind.name().to_owned()))),
        (Field::new("number", DataType::Int64, true), Arc::new(numbers)),
        (Field::new("station", DataType::Utf8, true), of_match(&|found| found.station.clone())),
    ];
    table(logs, (0..logs.logs.len()).collect(), columns)
}

/// What was lost or doubtful while the logs were read.
pub(crate) fn problems(logs: &Logs) -> Result<MemTable> {
    let all: Vec<(usize, &Problem)> =
        logs.logs.iter().enumerate().flat_map(|(log, l)| l.problems.list().iter().map(move |p| (log, p))).collect();
    let text = |of: &dyn Fn(&Problem) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(all.iter().map(|(_, problem)| of(problem))))
    };
    let bytes: Int64Array = all.iter().map(|(_, problem)| i64::try_from(problem.at?).ok()).collect();
    let lengths: Int64Array = all.iter().map(|(_, problem)| i64::try_from(problem.length).ok()).collect();
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("severity", DataType::Utf8, false), text(&|problem| problem.severity.name().to_owned())),
        (Field::new("code", DataType::Utf8, false), text(&|problem| problem.code.to_owned())),
        (Field::new("byte", DataType::Int64, true), Arc::new(bytes)),
        (Field::new("length", DataType::Int64, true), Arc::new(lengths)),
        (Field::new("message", DataType::Utf8, false), text(&|problem| problem.message.clone())),
    ];
    table(logs, all.iter().map(|(log, _)| *log).collect(), columns)
}

/// Every channel and what the index knows of it.
pub(crate) fn channels(logs: &Logs) -> Result<MemTable> {
    let found =
        || logs.logs.iter().enumerate().flat_map(|(log, opened)| opened.index.channels.iter().map(move |c| (log, c)));
    let text = |of: &dyn Fn(&logpose_core::Channel) -> Option<String>| -> ArrayRef {
        Arc::new(found().map(|(_, c)| of(&c.channel)).collect::<StringArray>())
    };
    let number = |of: &dyn Fn(&logpose_core::ChannelIndex) -> u64| -> ArrayRef {
        Arc::new(found().map(|(_, c)| i64::try_from(of(c)).ok()).collect::<Int64Array>())
    };
    let time = |of: &dyn Fn(&logpose_core::ChannelIndex) -> Time| {
        moments(logs, found().map(|(log, c)| (log, (c.samples > 0).then(|| of(c)))))
    };
    let moment = logs.time_type();
    let columns = vec![
        (Field::new("channel", DataType::Utf8, false), text(&|c| Some(c.name.clone()))),
        (Field::new("type", DataType::Utf8, false), text(&|c| Some(c.type_name.clone()))),
        (Field::new("unit", DataType::Utf8, true), text(&logpose::unit)),
        (Field::new("samples", DataType::Int64, true), number(&|c| c.samples)),
        (Field::new("bytes", DataType::Int64, true), number(&|c| c.bytes)),
        (Field::new("first", moment.clone(), true), time(&|c| c.first)?),
        (Field::new("last", moment, true), time(&|c| c.last)?),
        (Field::new("metadata", DataType::Utf8, true), text(&|c| Some(c.metadata.clone()).filter(|m| !m.is_empty()))),
    ];
    table(logs, found().map(|(log, _)| log).collect(), columns)
}

/// The driver station's modes.
pub(crate) fn modes(logs: &Logs) -> Result<MemTable> {
    let spans: Vec<_> =
        logs.logs.iter().enumerate().flat_map(|(log, l)| l.modes().iter().map(move |span| (log, *span))).collect();
    let modes: StringArray = spans.iter().map(|(_, span)| Some(span.mode.name())).collect();
    let enabled: BooleanArray = spans.iter().map(|(_, span)| Some(span.mode.is_enabled())).collect();
    let seconds = |ns: i64| Time::from_nanos(ns).seconds();
    let durations: Float64Array = spans.iter().map(|(_, span)| seconds(span.end.since(span.start))).collect();
    let moment = logs.time_type();
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("mode", DataType::Utf8, false), Arc::new(modes)),
        (Field::new("enabled", DataType::Boolean, false), Arc::new(enabled)),
        (
            Field::new("start", moment.clone(), true),
            moments(logs, spans.iter().map(|(log, span)| (*log, Some(span.start))))?,
        ),
        (Field::new("end", moment, true), moments(logs, spans.iter().map(|(log, span)| (*log, Some(span.end))))?),
        (Field::new("duration", DataType::Float64, false), Arc::new(durations)),
    ];
    table(logs, spans.iter().map(|(log, _)| *log).collect(), columns)
}

/// The matches that the logs are of.
pub(crate) fn matches(logs: &Logs) -> Result<MemTable> {
    let found: Vec<_> = logs.logs.iter().enumerate().filter_map(|(log, l)| Some((log, Match::of(l)?))).collect();
    let events: StringArray = found.iter().map(|(_, m)| m.event.clone()).collect();
    let kinds: StringArray = found.iter().map(|(_, m)| Some(m.kind.name())).collect();
    let numbers: UInt32Array = found.iter().map(|(_, m)| m.number).collect();
    let stations: StringArray = found.iter().map(|(_, m)| m.station.clone()).collect();
    let columns: Vec<(Field, ArrayRef)> = vec![
        (Field::new("event", DataType::Utf8, true), Arc::new(events)),
        (Field::new("kind", DataType::Utf8, false), Arc::new(kinds)),
        (Field::new("number", DataType::UInt32, true), Arc::new(numbers)),
        (Field::new("station", DataType::Utf8, true), Arc::new(stations)),
    ];
    table(logs, found.iter().map(|(log, _)| *log).collect(), columns)
}

/// What programs printed.
pub(crate) fn console(logs: &Logs) -> Result<MemTable> {
    let lines: Vec<_> = of_each(logs, frc::console);
    let text = |of: &dyn Fn(&ConsoleLine) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(lines.iter().map(|(_, line)| of(line))))
    };
    let mut columns = stamped(logs, lines.iter().map(|(log, line)| (*log, line.time)))?;
    columns.extend([
        (Field::new("channel", DataType::Utf8, false), text(&|line| &line.channel)),
        (Field::new("text", DataType::Utf8, false), text(&|line| &line.text)),
    ]);
    columns.extend(robots(lines.iter().map(|(_, line)| (line.robot_time, line.sequence))));
    table(logs, lines.iter().map(|(log, _)| *log).collect(), columns)
}

/// Errors and warnings of driver stations' links and logs.
pub(crate) fn errors(logs: &Logs) -> Result<MemTable> {
    let lines: Vec<_> = of_each(logs, frc::errors);
    let text = |of: &dyn Fn(&ErrorLine) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(lines.iter().map(|(_, line)| of(line))))
    };
    let codes: Int64Array = lines.iter().map(|(_, line)| Some(line.code)).collect();
    let mut columns = stamped(logs, lines.iter().map(|(log, line)| (*log, line.time)))?;
    columns.extend([
        (Field::new("severity", DataType::Utf8, false), text(&|line| &line.severity)),
        (Field::new("code", DataType::Int64, false), Arc::new(codes) as ArrayRef),
        (Field::new("details", DataType::Utf8, false), text(&|line| &line.details)),
        (Field::new("location", DataType::Utf8, false), text(&|line| &line.location)),
        (Field::new("stack", DataType::Utf8, false), text(&|line| &line.stack)),
    ]);
    columns.extend(robots(lines.iter().map(|(_, line)| (line.robot_time, line.sequence))));
    table(logs, lines.iter().map(|(log, _)| *log).collect(), columns)
}

/// What each log has of something, with the number of the log.
fn of_each<T>(logs: &Logs, of: fn(&Log) -> Vec<T>) -> Vec<(usize, T)> {
    logs.logs.iter().enumerate().flat_map(|(log, l)| of(l).into_iter().map(move |found| (log, found))).collect()
}

/// The columns `time` and `time_ns` of rows that have a moment each.
fn stamped(logs: &Logs, rows: impl Iterator<Item = (usize, Time)> + Clone) -> Result<Vec<(Field, ArrayRef)>> {
    let nanos: Int64Array = rows.clone().map(|(_, time)| Some(time.nanos())).collect();
    Ok(vec![
        (Field::new("time", logs.time_type(), true), moments(logs, rows.map(|(log, time)| (log, Some(time))))?),
        (Field::new("time_ns", DataType::Int64, false), Arc::new(nanos)),
    ])
}

/// The robot's own stamps and counts.
fn robots(rows: impl Iterator<Item = (Option<f64>, Option<i64>)>) -> [(Field, ArrayRef); 2] {
    let (stamps, counts): (Vec<_>, Vec<_>) = rows.unzip();
    [
        (Field::new("robot_time", DataType::Float64, true), Arc::new(Float64Array::from(stamps))),
        (Field::new("sequence", DataType::Int64, true), Arc::new(Int64Array::from(counts))),
    ]
}

/// A table in memory, with the column `log` where there is one.
pub(crate) fn table(logs: &Logs, rows: Vec<usize>, columns: Vec<(Field, ArrayRef)>) -> Result<MemTable> {
    let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    if logs.named {
        let keys: Int32Array = rows.iter().map(|log| i32::try_from(*log).ok()).collect();
        let names = Arc::new(StringArray::from_iter_values(&logs.names));
        fields.push(Field::new("log", name_type(), false));
        arrays.push(Arc::new(DictionaryArray::try_new(keys, names)?));
    }
    for (field, array) in columns {
        fields.push(field);
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), arrays)?;
    MemTable::try_new(schema, vec![vec![batch]])
}

/// Moments of several logs as one column.
pub(crate) fn moments(logs: &Logs, of: impl Iterator<Item = (usize, Option<Time>)>) -> Result<ArrayRef> {
    let rows: Vec<_> = of.collect();
    let times = |run: &[(usize, Option<Time>)]| {
        let nanos: Int64Array = run.iter().map(|(_, time)| time.map(Time::nanos)).collect();
        Some(logs.times(run.first()?.0, &nanos))
    };
    let parts: Vec<ArrayRef> = rows.chunk_by(|a, b| a.0 == b.0).filter_map(times).collect();
    if parts.is_empty() {
        return Ok(new_empty_array(&logs.time_type()));
    }
    Ok(concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())?)
}
