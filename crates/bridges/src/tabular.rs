//! The seam to the crates that read tables: what is in a batch, and what to do when they fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use logpose_core::{DecodeError, Problems, Read, Sink, SinkError};

use crate::Header;
use crate::long::{Import, is_long};
use crate::stage::{PushError, Stage};
use crate::table::Table;

/// Pushes the samples of a table: one of ours if it has a header, else what its columns say.
pub(crate) fn read(
    dialect: &'static str,
    schema: &Schema,
    header: Option<&str>,
    batches: impl Iterator<Item = Result<RecordBatch, String>>,
    read: &Read<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, DecodeError> {
    let pushed = |error: PushError| match error {
        PushError::Format(message) => damaged(dialect, message),
        PushError::Sink(error) => stopped(dialect, error),
    };
    if let Some(header) = header.filter(|_| is_long(schema)) {
        let header = Header::from_json(header, read.limits.channels).map_err(|message| damaged(dialect, message))?;
        let mut import = Import::new(header.0, header.1);
        for batch in batches {
            let batch = batch.map_err(|message| damaged(dialect, message))?;
            import.push(&batch, sink).map_err(pushed)?;
        }
        return import.finish(problems, sink).map_err(|error| stopped(dialect, error));
    }
    let columns = |message| DecodeError { dialect, code: "no-samples", at: 0, message, help: None };
    let mut table = Table::of(schema, read.limits.channels).map_err(columns)?;
    table.declare(sink).map_err(|error| stopped(dialect, error))?;
    let mut stage = Stage::default();
    for batch in batches {
        let batch = batch.map_err(|message| damaged(dialect, message))?;
        table.push(&batch, &mut stage, sink).map_err(pushed)?;
    }
    let epoch_ns = table.is_wall(schema).then_some(0);
    let channels = std::mem::take(&mut table.channels);
    table.report(problems);
    Ok(Header { origin: dialect.to_owned(), facts: Vec::new(), epoch_ns, channels })
}

/// Runs a reader of a crate that may panic on hostile input, and makes an error of that.
pub(crate) fn guarded<T>(
    dialect: &'static str,
    run: impl FnOnce() -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    // What the closure borrows is given up when it fails.
    let result = catch_unwind(AssertUnwindSafe(run));
    result.unwrap_or_else(|_| Err(damaged(dialect, "its content contradicts itself".to_owned())))
}

pub(crate) fn damaged(dialect: &'static str, message: String) -> DecodeError {
    let help = "the file is damaged; copy it again, or convert the original again".to_owned();
    DecodeError { dialect, code: "damaged", at: 0, message, help: Some(help) }
}

/// The sink takes no more. Who gave the sink knows why.
pub(crate) fn stopped(dialect: &'static str, error: SinkError) -> DecodeError {
    DecodeError { dialect, code: "stopped", at: 0, message: error.to_string(), help: None }
}
