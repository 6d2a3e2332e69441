use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use logpose::Log;
use logpose_core::Lookup;

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::{RequestError, RequestErrorKind};
use crate::ipc;
use crate::session::{OpenLog, SQL_ROWS};
use crate::snapshot::snapshot;

/// Who answers SQL. The server knows no engine: the binary brings one.
pub trait Sql: Send + Sync {
    /// The first `limit` rows of the answer to one statement about some logs: mostly those of the last time, but that a
    /// live one is each time what has come of it so far. `stop` is asked between batches whether anybody still waits for it.
    fn ask(&self, logs: &[Arc<Log>], sql: &str, limit: usize, stop: &dyn Fn() -> bool) -> Result<SqlAnswer, SqlError>;
    /// A log was closed: nothing of the logs that were asked about is to be kept.
    fn forget(&self);
}

/// What was found.
#[derive(Clone, Debug)]
pub struct SqlAnswer {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Whether rows were left out.
    pub more: bool,
}

/// Why a question has no answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SqlError {
    /// A short word for this kind of error.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
}

/// The answer to an SQL query: an Arrow stream.
#[derive(Clone, Debug)]
pub struct SqlStream {
    /// The bytes of the stream.
    pub bytes: Vec<u8>,
    /// Whether rows were left out.
    pub more: bool,
}

impl Viewer {
    /// The answer to one SQL statement about all logs, by the engine that the session was given.
    pub fn sql(&self, query: &api::SqlQuery, stop: &CancelToken) -> Result<SqlStream, RequestError> {
        let limit = query.limit.unwrap_or(SQL_ROWS).clamp(1, SQL_ROWS);
        let session = self.session();
        let Some(engine) = session.sql() else {
            return Err(RequestError::not_found("sql-unavailable", "this server was built without SQL")
                .with_help("build with the feature `sql`, which is on by default"));
        };
        let so_far = |member: &OpenLog| match member.store.log() {
            Some(log) => Ok(Arc::clone(log)),
            None => snapshot(member, &Lookup::default(), stop).map(|(log, _)| Arc::new(log)),
        };
        let logs: Vec<Arc<Log>> = session.open().map(|(_, log)| so_far(log)).collect::<Result<_, RequestError>>()?;
        let answer = engine.ask(&logs, &query.sql, limit, &|| stop.is_cancelled());
        let answer = answer.map_err(|error| {
            let refusal = RequestError::new(RequestErrorKind::Failed, error.code, error.message);
            RequestError { help: error.help, ..refusal }
        })?;
        Ok(SqlStream { bytes: ipc::stream(&answer.schema, &answer.batches)?, more: answer.more })
    }
}
