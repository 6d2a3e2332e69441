//! What a lake keeps of a log besides its samples: the tables that SQL over the log has, with the types of files.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::compute::cast;
use logpose::Log;
use logpose_lake::{Derive, DerivedTable, Error as LakeError};

use crate::logs::Clock;
use crate::structs::plain;
use crate::{Engine, Error, Options, tables};

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
            let mut answer = engine.run(&format!("SELECT * FROM {}", Engine::quoted(&name))).map_err(failed)?;
            let columns = columns(&answer.schema());
            let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(|(_, f)| f.clone()).collect::<Vec<_>>()));
            let mut rows = (&mut answer).fuse().map(|batch| to_files(&batch.map_err(failed)?, &columns, &schema));
            take(DerivedTable {
                name: &name,
                comment: tables::comment(&name),
                schema: schema.clone(),
                grows: !tables::is_fixed(&name),
                rows: &mut rows,
            })?;
        }
        Ok(())
    }
}

fn failed(error: Error) -> LakeError {
    LakeError { code: error.code, message: error.message, help: error.help }
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

fn to_files(batch: &RecordBatch, columns: &[(usize, Field)], schema: &SchemaRef) -> Result<RecordBatch, LakeError> {
    let internal = |error: arrow_schema::ArrowError| failed(Error::new("internal-error", error.to_string()));
    let arrays = columns.iter().map(|(place, field)| {
        let column = batch.columns().get(*place).ok_or_else(|| failed(Error::internal()))?;
        cast(column, field.data_type()).map_err(internal)
    });
    RecordBatch::try_new(schema.clone(), arrays.collect::<Result<_, _>>()?).map_err(internal)
}
