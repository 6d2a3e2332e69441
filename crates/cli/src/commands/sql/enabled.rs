//! Runs queries and writes their results.

#[path = "prompt.rs"]
mod prompt;
#[path = "rows.rs"]
mod rows;

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use logpose::{Log, Output, Wrapper};
use logpose_query::{AnswerFormat, Engine, Error, Options, Statement, WriteError};

use super::{Format, Sql};
use crate::args::{expand, time_limit};
use crate::commands::{outcome, shown};
use crate::failure::{Complaint, Outcome};
use crate::human::counted;
use crate::interrupt;
use crate::screen::Screen;

pub(super) fn run(sql: &Sql, screen: &mut Screen) -> Result<Outcome> {
    let mut request = Request::new(sql)?;
    expand(&mut request.files);
    let files = &request.files;
    let options = Options {
        threads: sql.reading.threads,
        memory: sql.reading.limit_memory,
        time: sql.limit_time.as_deref().map(time_limit).transpose()?,
        wall: sql.wall,
        name_logs: files.len() > 1,
    };
    if let Some(lake) = &sql.lake {
        return over_lake(sql, lake, &request, &options, screen);
    }
    let mut worst = Outcome::Done;
    let mut logs: Vec<Arc<Log>> = Vec::new();
    for path in files {
        logs.extend(sql.reading.open_one_of(path, files.len(), screen, &mut worst)?.map(Arc::new));
    }
    if logs.is_empty() {
        return Ok(worst);
    }
    let engine = Engine::new(logs.clone(), &options).map_err(complaint)?;
    ask(sql, &engine, &request, screen)?;
    for log in &logs {
        let named = (logs.len() > 1).then_some(&*log.path);
        screen.notes.problems(named, &log.path, &log.problems);
        worst = worst.max(outcome(&log.problems));
    }
    Ok(worst)
}

#[cfg(feature = "lake")]
fn over_lake(sql: &Sql, lake: &str, request: &Request, options: &Options, screen: &mut Screen) -> Result<Outcome> {
    let lake = logpose_lake::Lake::open(lake).map_err(crate::commands::lake::complaint)?;
    let engine = Engine::over(logpose_query::Source::Lake(Arc::new(lake)), options).map_err(complaint)?;
    ask(sql, &engine, request, screen)?;
    Ok(Outcome::Done)
}

#[cfg(not(feature = "lake"))]
fn over_lake(_: &Sql, _: &str, _: &Request, _: &Options, _: &mut Screen) -> Result<Outcome> {
    Err(crate::commands::lake::missing().into())
}

/// Answers the query, or what is typed at the prompt.
fn ask(sql: &Sql, engine: &Engine, request: &Request, screen: &mut Screen) -> Result<()> {
    match &request.query {
        Some(query) => answer(sql, engine, engine.parse(query).map_err(complaint)?, screen)?,
        None => prompt::run(engine, screen)?,
    }
    Ok(screen.out.flush()?)
}

/// The query and its files.
struct Request {
    /// `None` starts the prompt.
    query: Option<String>,
    files: Vec<PathBuf>,
}

impl Request {
    fn new(sql: &Sql) -> Result<Self> {
        if let Some(lake) = &sql.lake {
            return Self::over_lake(sql, lake);
        }
        let (first, rest) = match sql.words.split_first() {
            Some((first, rest)) => (first, rest),
            None => {
                return Err(Complaint::usage("missing log file").help("usage: logpose sql 'SELECT …' FILE...").into());
            }
        };
        let request = if let Some(script) = &sql.script {
            Self { query: Some(read(script)?), files: sql.words.clone() }
        } else if is_query(first) {
            Self { query: Some(first.to_string_lossy().into_owned()), files: rest.to_vec() }
        } else if io::stdin().is_terminal() {
            Self { query: None, files: sql.words.clone() }
        } else {
            Self { query: Some(read(Path::new("-"))?), files: sql.words.clone() }
        };
        if request.files.is_empty() {
            return Err(Complaint::usage("missing log file after the query")
                .help("usage: logpose sql 'SELECT …' FILE...")
                .into());
        }
        Ok(request)
    }

    fn over_lake(sql: &Sql, lake: &str) -> Result<Self> {
        let query = match (&sql.script, sql.words.as_slice()) {
            (Some(script), []) => Some(read(script)?),
            (None, [query]) => Some(query.to_string_lossy().into_owned()),
            (None, []) if io::stdin().is_terminal() => None,
            (None, []) => Some(read(Path::new("-"))?),
            _ => {
                let message = format!("--lake {lake} takes a query and no log files");
                return Err(Complaint::usage(message).help("usage: logpose sql --lake LAKE 'SELECT …'").into());
            }
        };
        Ok(Self { query, files: Vec::new() })
    }
}

/// A query contains spaces; an argument without spaces, or one that exists, is a file.
fn is_query(word: &Path) -> bool {
    word.to_string_lossy().trim().contains(char::is_whitespace) && !word.exists()
}

fn read(script: &Path) -> Result<String> {
    let mut text = String::new();
    let done = if script.as_os_str() == "-" {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(script).map(|whole| text = whole)
    };
    done.map_err(|error| Complaint::failed("io", format!("{}: {error}", shown(script))))?;
    Ok(text)
}

/// Runs statements one after the other.
fn answer(sql: &Sql, engine: &Engine, statements: Vec<Statement>, screen: &mut Screen) -> Result<()> {
    let format = answer_format(sql)?;
    let several = statements.len() > 1;
    if statements.is_empty() {
        return Err(Complaint::usage("the query is empty").into());
    }
    if several && (format.is_some() || sql.output.is_some()) {
        return Err(Complaint::usage("-o can write the result of one statement only").into());
    }
    for (i, statement) in statements.into_iter().enumerate() {
        if i > 0 {
            writeln!(screen.out)?;
        }
        let mut answer = engine.ask_unless(statement, &interrupt::is_raised).map_err(complaint)?;
        match (format, &sql.output) {
            (Some((format, wrapper)), Some(path)) => {
                let file = Output::File { path, force: sql.force, wrapper };
                let rows = interrupt::while_writing(path, || {
                    file.fill(|out| answer.write(format, out, &interrupt::check).map_err(written))
                })?;
                screen.notes.line(format_args!("wrote {}: {}", shown(path), counted(rows, "row")));
            }
            (Some((format, _)), None) => {
                if !format.is_text() && io::stdout().is_terminal() {
                    return Err(Complaint::usage("refusing to write binary data to a terminal")
                        .help("write to a file with -o, or pipe the output")
                        .into());
                }
                answer.write(format, &mut screen.out, &|| ()).map_err(written)?;
            }
            (None, _) => {
                rows::print(&mut answer, screen)?;
            }
        }
    }
    Ok(())
}

/// The output format and its compression; a text table by default.
fn answer_format(sql: &Sql) -> Result<Option<(AnswerFormat, Option<Wrapper>)>> {
    let named = if sql.json { Some(Format::Json) } else { sql.format };
    let named = named.map(|format| match format {
        Format::Table => None,
        Format::Csv => Some(AnswerFormat::Csv),
        Format::Ndjson => Some(AnswerFormat::Ndjson),
        Format::Json => Some(AnswerFormat::Json),
        Format::Parquet => Some(AnswerFormat::Parquet),
        Format::Arrow => Some(AnswerFormat::Arrow),
    });
    let Some(path) = &sql.output else { return Ok(named.flatten().map(|format| (format, None))) };
    let extension = |path: &Path| path.extension().map(|extension| extension.to_string_lossy().into_owned());
    let wrapper = extension(path).and_then(|extension| Wrapper::from_name(&extension));
    let bare = if wrapper.is_some() { path.with_extension("") } else { path.clone() };
    let by_extension = extension(&bare).and_then(|extension| AnswerFormat::from_name(&extension));
    match (named, by_extension) {
        (Some(Some(format)), _) | (None, Some(format)) => Ok(Some((format, wrapper))),
        (Some(None), _) => Err(Complaint::usage("--format table cannot be written to a file").into()),
        (None, None) => Err(Complaint::usage(format!("{}: unknown output format", shown(path)))
            .help("use the extension .csv, .ndjson, .json, .parquet or .arrow, or add --format")
            .into()),
    }
}

/// Converts an engine error to a command-line error.
fn complaint(error: Error) -> anyhow::Error {
    let made = match error.code {
        "syntax" | "refused" | "too-complex" => Complaint::usage(error.message),
        code => Complaint::failed(code, error.message),
    };
    match error.help {
        Some(help) => made.help(help).into(),
        None => made.into(),
    }
}

fn written(error: WriteError) -> anyhow::Error {
    match error {
        WriteError::Answer(error) => complaint(error),
        WriteError::Io(error) => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::is_query;

    #[test]
    fn a_query_has_blanks() {
        let cases =
            [("SELECT 1", true), ("SHOW TABLES", true), ("a.wpilog", false), ("logs/*.rlog", false), (" ", false)];
        cases.iter().for_each(|(word, query)| assert_eq!(is_query(Path::new(word)), *query, "{word}"));
    }
}
