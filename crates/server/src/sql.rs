use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use logpose::Log;
use logpose_core::Lookup;

use crate::api;
use crate::error::Refusal;
use crate::ipc::Arrow;
use crate::router::{App, Ask};
use crate::session::{Member, SQL_ROWS};
use crate::snapshot::snapshot;

/// Who answers SQL. The server knows no engine: the binary brings one.
pub trait Sql: Send + Sync {
    /// The first `limit` rows of the answer to one statement about some logs: always the same ones, but that a live one
    /// is each time what has come of it so far. `stop` is asked between batches whether anybody still waits for it.
    fn ask(&self, logs: &[Arc<Log>], sql: &str, limit: usize, stop: &dyn Fn() -> bool) -> Result<SqlAnswer, SqlError>;
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

pub(crate) async fn sql(State(app): State<App>, Ask(query): Ask<api::SqlQuery>) -> Result<Response, Refusal> {
    let limit = query.limit.unwrap_or(SQL_ROWS).clamp(1, SQL_ROWS);
    let session = app.session.clone();
    let (arrow, more) = app
        .jobs
        .long(move |stop| {
            let Some(engine) = session.sql() else {
                return Err(Refusal::missing("sql-unavailable", "this server answers no SQL")
                    .with_help("a logpose that was built with SQL does; `logpose --version` tells"));
            };
            let so_far = |member: &Member| match member.store.log() {
                Some(log) => Ok(Arc::clone(log)),
                None => snapshot(member, &Lookup::default(), stop).map(|(log, _)| Arc::new(log)),
            };
            let logs: Vec<Arc<Log>> = session.logs().iter().map(so_far).collect::<Result<_, Refusal>>()?;
            let answer = engine.ask(&logs, &query.sql, limit, &|| stop.is_set());
            let answer = answer.map_err(Refused)?;
            Ok((Arrow::of(&answer.schema, &answer.batches)?, answer.more))
        })
        .await?;
    let mut response = arrow.into_response();
    if more {
        response.headers_mut().insert(HeaderName::from_static("logpose-more"), HeaderValue::from_static("true"));
    }
    Ok(response)
}

struct Refused(SqlError);

impl From<Refused> for Refusal {
    fn from(Refused(error): Refused) -> Self {
        let refusal = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "sql", error.message);
        Self { code: error.code.into(), help: error.help, ..refusal }
    }
}
