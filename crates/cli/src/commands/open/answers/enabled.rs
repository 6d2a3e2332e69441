use std::sync::{Arc, OnceLock};

use logpose::Log;
use logpose_query::{Engine, Error, Options};
use logpose_server::{Sql, SqlAnswer, SqlError};

use crate::args::Reading;

/// What answers questions about finished logs; none if there is no such log.
pub(in crate::commands::open) fn engine(logs: &[Arc<Log>], reading: &Reading) -> Option<Box<dyn Sql>> {
    let options =
        Options { threads: reading.threads, memory: reading.limit_memory, wall: false, name_logs: logs.len() > 1 };
    let answers = Answers { logs: logs.to_vec(), options, engine: OnceLock::new() };
    (!logs.is_empty()).then(|| Box::new(answers) as Box<dyn Sql>)
}

/// The engine, made when something is asked for the first time: most who look at a log ask nothing.
struct Answers {
    logs: Vec<Arc<Log>>,
    options: Options,
    engine: OnceLock<Result<Engine, Error>>,
}

impl Sql for Answers {
    fn ask(&self, sql: &str, limit: usize, stop: &dyn Fn() -> bool) -> Result<SqlAnswer, SqlError> {
        let engine = self.engine.get_or_init(|| Engine::new(self.logs.clone(), &self.options));
        let engine = engine.as_ref().map_err(|error| told(error.clone()))?;
        let mut statements = engine.parse(sql).map_err(told)?.into_iter();
        let (Some(statement), None) = (statements.next(), statements.next()) else {
            let error = SqlError {
                code: "usage".to_owned(),
                message: "one statement is answered at a time".to_owned(),
                help: None,
            };
            return Err(error);
        };
        let mut answer = engine.ask(statement).map_err(told)?;
        let (schema, mut batches) = (answer.schema(), Vec::new());
        let (mut left, mut more) = (limit, false);
        while !stop()
            && let Some(batch) = answer.next()
        {
            let batch = batch.map_err(told)?;
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

fn told(error: Error) -> SqlError {
    SqlError { code: error.code.to_owned(), message: error.message, help: error.help }
}
