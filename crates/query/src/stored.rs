//! What a lake keeps of a log besides its samples: the tables that SQL over the log has, with the types of files.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use datafusion::arrow::compute::cast;
use logpose::Log;
use logpose_lake::{Derive, DerivedTable, Error as LakeError};

use crate::logs::Clock;
use crate::{Engine, Error, Options};

/// The tables of a log, found by asking for them.
#[derive(Clone, Copy, Debug)]
pub struct Tables;

impl Derive for Tables {
    fn tables(
        &self,
        log: Option<&Arc<Log>>,
        take: &mut dyn FnMut(DerivedTable<'_>) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        let options = Options { name_logs: true, ..Options::default() };
        let logs = log.into_iter().cloned().collect();
        let engine = Engine::of_logs(logs, Clock::Nanos, &options).map_err(failed)?;
        for name in engine.derived() {
            let mut answer = engine.run(&format!("SELECT * FROM {}", Engine::quoted(name))).map_err(failed)?;
            let columns = columns(&answer.schema());
            let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(|(_, f)| f.clone()).collect::<Vec<_>>()));
            let mut rows = (&mut answer).fuse().map(|batch| to_files(&batch.map_err(failed)?, &columns, &schema));
            take(DerivedTable { name, comment: comment(name), schema: schema.clone(), rows: &mut rows })?;
        }
        Ok(())
    }
}

fn failed(error: Error) -> LakeError {
    LakeError { code: error.code, message: error.message, help: error.help }
}

/// What a table holds.
fn comment(name: &str) -> &'static str {
    match name {
        "logs" => "a row for each log",
        "channels" => "a row for each channel of each log, with the range and the sum of its values",
        "problems" => "what was lost or doubtful while a log was read",
        "modes" => "the driver station's modes, one after the other",
        "matches" => "the match that a log is of",
        "console" => "what programs printed",
        "errors" => "errors and warnings of driver stations",
        "frames" => "the frames of CARLA recordings",
        "actors" => "the actors of CARLA recordings",
        "collisions" => "contacts of actors, each from its first frame to its last",
        "blocked" => "actors that stood still for a second or more",
        "carla_motion" => "where every actor was and how fast",
        "ttc" => "actors that approach each other",
        _ => "the samples of a family of channels, with a column for each field",
    }
}

/// The columns of a table as files have them: the place of each among those of SQL, and the field. A moment is nanoseconds,
/// and its name says so.
fn columns(schema: &Schema) -> Vec<(usize, Field)> {
    let twice = |name: &str| name == "time" && schema.column_with_name("time_ns").is_some();
    let fields = schema.fields().iter().enumerate().filter(|(_, field)| !twice(field.name()));
    fields
        .map(|(place, field)| {
            let name = match field.data_type() {
                DataType::Timestamp(..) => format!("{}_ns", field.name()),
                _ => field.name().clone(),
            };
            (place, Field::new(name, plain(field.data_type()), field.is_nullable()))
        })
        .collect()
}

/// The type that every reader of the lake knows.
fn plain(data_type: &DataType) -> DataType {
    let part = |field: &Arc<Field>| Arc::new(Field::new(field.name(), plain(field.data_type()), field.is_nullable()));
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Timestamp(TimeUnit::Nanosecond, _)
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32 => DataType::Int64,
        DataType::List(item) | DataType::FixedSizeList(item, _) => DataType::List(part(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect::<Fields>()),
        other => other.clone(),
    }
}

fn to_files(batch: &RecordBatch, columns: &[(usize, Field)], schema: &SchemaRef) -> Result<RecordBatch, LakeError> {
    let internal = |error: arrow_schema::ArrowError| failed(Error::new("internal-error", error.to_string()));
    let arrays = columns.iter().map(|(place, field)| {
        let column = batch.columns().get(*place).ok_or_else(|| failed(Error::internal()))?;
        cast(column, field.data_type()).map_err(internal)
    });
    RecordBatch::try_new(schema.clone(), arrays.collect::<Result<_, _>>()?).map_err(internal)
}
