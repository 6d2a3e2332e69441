use std::fmt;
use std::time::Duration;

use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::sqlparser::parser::ParserError;
use logpose::Log;

use crate::catalog::Catalog;

/// Why a question has no answer, in one sentence, and what would help.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// A word for scripts: `syntax`, `table-not-found`, `column-not-found`, `function-not-found`, `refused`,
    /// `too-complex`, `memory`, `time-limit`, `cancelled`, `no-epoch`, `read`, `write`, `internal-error` or `sql`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What the user can do.
    pub help: Option<String>,
}

impl Error {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn no_epoch(log: &Log) -> Self {
        let message = format!("{}: the log does not contain the wall-clock time", log.path.display());
        Self::new("no-epoch", message).with_help("use log seconds instead")
    }

    /// Why a log cannot be taken out of a lake.
    #[cfg(feature = "lake")]
    pub(crate) fn lost(error: &DataFusionError) -> Self {
        match root(error) {
            DataFusionError::External(error) => match error.downcast_ref::<Self>() {
                Some(error) => error.clone(),
                None => Self::new("read", error.to_string()),
            },
            other => Self::new("read", sentence(&other.strip_backtrace())),
        }
    }

    pub(crate) fn refused() -> Self {
        Self::new("refused", "logs are read-only: expected SELECT, WITH, EXPLAIN, SHOW or DESCRIBE")
            .with_help("to write the result to a file, use -o")
    }

    pub(crate) fn cancelled() -> Self {
        Self::new("cancelled", "the query was cancelled")
    }

    pub(crate) fn too_long(allowed: Duration) -> Self {
        Self::new("time-limit", format!("the query exceeds the time limit of {} s", allowed.as_secs_f64()))
            .with_help("raise --limit-time, or select less: fewer channels, a shorter time range")
    }

    pub(crate) fn internal() -> Self {
        Self::new("internal-error", "internal error in this query; other queries still work")
    }

    /// What DataFusion says, in the words of logs and channels.
    pub(crate) fn of(error: &DataFusionError, sql: &str, catalog: &Catalog) -> Self {
        match root(error) {
            DataFusionError::SQL(error, _) => syntax(error, sql),
            DataFusionError::SchemaError(error, _) => match &**error {
                SchemaError::FieldNotFound { field, valid_fields } => {
                    let known: Vec<&str> = valid_fields.iter().map(|field| field.name()).collect();
                    no_column(field.name(), &known, catalog)
                }
                other => Self::new("sql", sentence(&other.to_string())),
            },
            DataFusionError::Plan(message) => planning(message, catalog),
            DataFusionError::ResourcesExhausted(_) => memory(),
            DataFusionError::External(error) => match (error.downcast_ref::<logpose::Error>(), error.downcast_ref()) {
                (Some(error), _) => Self { code: error.code(), message: error.to_string(), help: error.help.clone() },
                (None, Some(error)) => Self::clone(error),
                (None, None) => Self::new("sql", error.to_string()),
            },
            other => Self::new("sql", sentence(&other.strip_backtrace())),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The error without what was wrapped around it.
fn root(error: &DataFusionError) -> &DataFusionError {
    match error {
        DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => root(inner),
        DataFusionError::Shared(inner) => root(inner),
        DataFusionError::Collection(all) => all.first().map_or(error, root),
        DataFusionError::External(inner) => inner.downcast_ref::<DataFusionError>().map_or(error, root),
        DataFusionError::ArrowError(inner, _) => match &**inner {
            datafusion::arrow::error::ArrowError::ExternalError(inner) => {
                inner.downcast_ref::<DataFusionError>().map_or(error, root)
            }
            _ => error,
        },
        _ => error,
    }
}

fn memory() -> Error {
    Error::new("memory", "the query exceeds the memory limit, even with temporary files")
        .with_help("raise --limit-memory, or select less: fewer columns, a shorter time range, fewer groups, a LIMIT")
}

fn syntax(error: &ParserError, sql: &str) -> Error {
    let text = match error {
        ParserError::TokenizerError(text) | ParserError::ParserError(text) => text.as_str(),
        ParserError::RecursionLimitExceeded => "too deeply nested",
    };
    let (what, place) = text.split_once(" at Line: ").unwrap_or((text, ""));
    let place = place.split_once(", Column: ").and_then(|(line, column)| {
        let column = column.trim_end_matches(|c: char| !c.is_ascii_digit());
        Some((line.parse::<usize>().ok()?, column.parse::<usize>().ok()?))
    });
    let what = what.replacen("Expected: ", "expected ", 1).replacen(", found: ", ", found ", 1);
    let message = match place {
        Some((line, column)) => {
            let rest: String =
                sql.lines().nth(line.saturating_sub(1)).unwrap_or("").chars().skip(column.saturating_sub(1)).collect();
            let short: String = rest.chars().take(24).collect();
            let dots = if short.len() < rest.len() { "…" } else { "" };
            let near = if short.is_empty() { String::new() } else { format!(", at `{short}{dots}`") };
            format!("line {line}, column {column}: {what}{near}")
        }
        None => what,
    };
    let error = Error::new("syntax", message);
    if text.to_lowercase().contains("found: end ") {
        return error.with_help("END is an SQL keyword: write the column as \"end\"");
    }
    // A name with a slash that stands outside of quotes, or in the wrong ones.
    let upper = sql.to_uppercase();
    let after = |word: &str| upper.split(word).skip(1).any(|rest| rest.trim_start().starts_with(['/', '\'']));
    if after("FROM") || after("JOIN") { error.with_help(QUOTES) } else { error }
}

fn planning(message: &str, catalog: &Catalog) -> Error {
    if let Some(name) = message.strip_prefix("table '").and_then(|rest| rest.strip_suffix("' not found")) {
        return no_table(name, catalog);
    }
    if let Some(rest) = message.strip_prefix("Invalid function '") {
        return no_function(rest.split('\'').next().unwrap_or(rest), catalog);
    }
    if let Some(rest) = message.strip_prefix("table function '") {
        return no_function(rest.split('\'').next().unwrap_or(rest), catalog);
    }
    if ["DDL not supported", "DML not supported", "Statement not supported"].iter().any(|word| message.contains(word)) {
        return Error::refused();
    }
    Error::new("sql", sentence(message))
}

pub(crate) fn no_table(name: &str, catalog: &Catalog) -> Error {
    let name = name.strip_prefix(crate::catalog::PREFIX).unwrap_or(name);
    let error = Error::new("table-not-found", format!("no table {}", quoted(name)));
    let near = nearest(name, catalog.names());
    if near.is_empty() {
        return error
            .with_help("run SHOW TABLES to list all tables; the table of a channel is its name in double quotes");
    }
    let near: Vec<String> = near.iter().map(|name| quoted(name)).collect();
    error.with_help(format!("did you mean {}?", near.join(" or ")))
}

fn no_function(name: &str, catalog: &Catalog) -> Error {
    let error = Error::new("function-not-found", format!("no function {name}"));
    let near = nearest(name, catalog.functions.get().into_iter().flatten().map(String::as_str));
    match near.as_slice() {
        [] => error.with_help("run SHOW FUNCTIONS to list all functions"),
        near => error.with_help(format!("did you mean {}?", near.join(" or "))),
    }
}

fn no_column(name: &str, known: &[&str], catalog: &Catalog) -> Error {
    let error = Error::new("column-not-found", format!("no column {name:?}"));
    if catalog.names().any(|table| table == name) {
        return error.with_help(format!("it is a channel name: put text in single quotes, '{name}'"));
    }
    let near = nearest(name, known.iter().copied());
    if !near.is_empty() {
        let near: Vec<String> = near.iter().map(|name| quoted(name)).collect();
        return error.with_help(format!("did you mean {}?", near.join(" or ")));
    }
    let shown: Vec<String> = known.iter().take(12).map(|name| quoted(name)).collect();
    let more = if known.len() > shown.len() { ", …" } else { "" };
    if shown.is_empty() { error } else { error.with_help(format!("expected one of {}{more}", shown.join(", "))) }
}

/// A name as it can be typed.
pub(crate) fn quoted(name: &str) -> String {
    let mut letters = name.chars();
    let plain = letters.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_')
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !RESERVED.contains(&name) { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Up to three names that are nearly the same.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = name.to_lowercase();
    let tail = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut near: Vec<(f64, &str)> = known
        .filter_map(|known| {
            let folded = known.to_lowercase();
            let whole = strsim::normalized_damerau_levenshtein(&wanted, &folded);
            let last = 0.9 * strsim::normalized_damerau_levenshtein(&tail(&wanted), &tail(&folded));
            let score = whole.max(last);
            (score >= NEAR).then_some((score, known))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let best = near.first().map_or(0.0, |(score, _)| *score);
    near.into_iter().take(3).take_while(|(score, _)| *score > best - 0.2).map(|(_, name)| name).collect()
}

/// The first sentence of a message, without the name of the part that speaks.
fn sentence(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let prefixes = [
        "Error during planning: ",
        "Execution error: ",
        "Schema error: ",
        "Arrow error: ",
        "This feature is not implemented: ",
        "External error: ",
    ];
    let bare = prefixes.iter().fold(line, |line, prefix| line.strip_prefix(prefix).unwrap_or(line));
    bare.to_owned()
}

const NEAR: f64 = 0.6;
/// Words that are no names outside of quotes.
const RESERVED: &[&str] = &[
    "case", "end", "from", "group", "having", "join", "left", "limit", "on", "order", "right", "select", "union",
    "where", "with",
];
const QUOTES: &str =
    "put channel names in double quotes and the query in single quotes: 'SELECT * FROM \"/Drive/Speed\"'";
