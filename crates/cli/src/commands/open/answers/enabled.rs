use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use logpose::Log;
use logpose_query::{Engine, Error, Options};
use logpose_server::{Sql, SqlAnswer, SqlError};

use crate::args::Reading;

/// Answers the viewer's SQL.
pub(in crate::commands::open) fn engine(reading: &Reading, time: Duration) -> Option<Box<dyn Sql>> {
    let memory = reading.limit_memory.unwrap_or(MEMORY);
    let options = Options { threads: reading.threads, memory: Some(memory), time: Some(time), ..Options::default() };
    Some(Box::new(Answers { options, last: Mutex::default() }))
}

/// What a query of a page may take of the memory that the viewer and others need too.
const MEMORY: u64 = 1 << 30;

/// The engine is created on the first query, because most sessions never query; with a live log it is created for each.
struct Answers {
    options: Options,
    last: Mutex<Option<Ready>>,
}

/// An engine and the logs it was created for.
struct Ready {
    logs: Vec<Arc<Log>>,
    engine: Arc<Engine>,
}

impl Answers {
    fn engine(&self, logs: &[Arc<Log>]) -> Result<Arc<Engine>, Error> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |ready: &&Ready| {
            ready.logs.len() == logs.len() && ready.logs.iter().zip(logs).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        if let Some(ready) = last.as_ref().filter(same) {
            return Ok(Arc::clone(&ready.engine));
        }
        let options = Options { name_logs: logs.len() > 1, ..self.options.clone() };
        let engine = Arc::new(Engine::new(logs.to_vec(), &options)?);
        // A snapshot of a live log is out of date at the next query, so it is not kept.
        let lasts = logs.iter().all(|log| Arc::strong_count(log) > 2);
        *last = lasts.then(|| Ready { logs: logs.to_vec(), engine: Arc::clone(&engine) });
        Ok(engine)
    }
}

impl Sql for Answers {
    fn forget(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn ask(&self, logs: &[Arc<Log>], sql: &str, limit: usize, stop: &dyn Fn() -> bool) -> Result<SqlAnswer, SqlError> {
        let engine = self.engine(logs).map_err(sql_error)?;
        let mut statements = engine.parse(sql).map_err(sql_error)?.into_iter();
        let (Some(statement), None) = (statements.next(), statements.next()) else {
            let error = SqlError {
                code: "usage".to_owned(),
                message: "only one statement can run at a time".to_owned(),
                help: None,
            };
            return Err(error);
        };
        let mut answer = engine.ask_unless(statement, stop).map_err(sql_error)?;
        let (schema, mut batches) = (answer.schema(), Vec::new());
        let (mut left, mut more) = (limit, false);
        while !stop()
            && let Some(batch) = answer.next()
        {
            let batch = batch.map_err(sql_error)?;
            more = batch.num_rows() > left;
            let batch = batch.slice(0, batch.num_rows().min(left));
            left -= batch.num_rows();
            if batch.num_rows() > 0 {
                batches.push(batch);
            }
            if more {
                break;
            }
        }
        Ok(SqlAnswer { schema, batches, more })
    }
}

fn sql_error(error: Error) -> SqlError {
    SqlError { code: error.code.to_owned(), message: error.message, help: error.help }
}
