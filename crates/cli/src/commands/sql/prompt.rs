//! The interactive SQL prompt.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use logpose_query::Engine;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::{complaint, rows};
use crate::failure;
use crate::human::clean;
use crate::screen::{HEAD, NAME, Screen};

/// Reads and runs statements until the end of input or `.quit`.
pub(super) fn run(engine: &Engine, screen: &mut Screen) -> Result<()> {
    let config = Config::builder().max_history_size(HISTORY)?.auto_add_history(true).build();
    let mut editor: Editor<Words<'_>, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Words { engine }));
    let history = history();
    if let Some(path) = &history {
        // On the first start there is no history yet.
        let _ = editor.load_history(path);
    }
    screen.notes.line("End statements with `;`. `.tables` lists the tables, `.help` shows help, `.quit` quits.");
    loop {
        let typed = match editor.readline("logpose> ") {
            Ok(typed) => typed,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        match typed.trim() {
            "" => {}
            ".quit" | ".exit" | "\\q" => break,
            ".help" | "\\?" => writeln!(screen.out, "{HELP}")?,
            ".tables" | "\\d" | "\\dt" => {
                for name in engine.tables() {
                    writeln!(screen.out, "{}", screen.out.paint(NAME, clean(&Engine::quoted(name))))?;
                }
            }
            line => {
                let done = match line.strip_prefix("\\d ").or_else(|| line.strip_prefix(".columns ")) {
                    Some(table) => describe(engine, table, screen),
                    None => answer(engine, line, screen),
                };
                if let Err(error) = done {
                    screen.out.flush()?;
                    failure::report(&error, &screen.notes);
                }
            }
        }
        screen.out.flush()?;
    }
    if let Some(path) = &history {
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        // The prompt works without history too.
        let _ = folder.map(|()| editor.save_history(path));
    }
    Ok(())
}

fn answer(engine: &Engine, sql: &str, screen: &mut Screen) -> Result<()> {
    for statement in engine.parse(sql).map_err(complaint)? {
        rows::print(&mut engine.ask(statement).map_err(complaint)?, screen)?;
    }
    Ok(())
}

fn describe(engine: &Engine, table: &str, screen: &mut Screen) -> Result<()> {
    let name = table.trim().trim_end_matches(';').trim_matches('"');
    let columns = engine.columns(name).ok_or_else(|| complaint(engine.no_table(name)))?;
    let width = columns.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, data_type) in columns {
        let kind = screen.out.paint(HEAD, data_type).to_string();
        writeln!(screen.out, "{:<width$}  {kind}", clean(&name))?;
    }
    Ok(())
}

/// The history file: `LOGPOSE_HISTORY` if set (none if empty), otherwise a file in the state folder.
fn history() -> Option<PathBuf> {
    if let Some(history) = std::env::var_os("LOGPOSE_HISTORY") {
        return (!history.is_empty()).then(|| history.into());
    }
    let state = std::env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || std::env::home_dir().map(|home| home.join(".local/state"));
    Some(state.or_else(home)?.join("logpose/sql-history"))
}

/// Completes SQL keywords, tables and columns.
struct Words<'e> {
    engine: &'e Engine,
}

impl Completer for Words<'_> {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = line.get(..at).unwrap_or(line);
        Ok(complete(self.engine, before))
    }
}

/// The start of the word before the cursor and its completions.
fn complete(engine: &Engine, before: &str) -> (usize, Vec<Pair>) {
    // A quoted name may contain any character.
    let open = before.matches('"').count() % 2 == 1;
    let quote = before.rfind('"').filter(|_| open);
    let blank = before.rfind(|c: char| c.is_whitespace() || "(),=<>".contains(c)).map_or(0, |at| at + 1);
    let start = quote.unwrap_or(blank);
    let word = before.get(start..).unwrap_or_default();
    let bare = word.trim_start_matches('"').to_lowercase();
    let mut names: Vec<String> = engine.tables().map(Engine::quoted).collect();
    if quote.is_none() {
        // The columns of tables already named in the line.
        let named = engine.tables().filter(|name| before.contains(&Engine::quoted(name)));
        let columns = named.filter_map(|name| engine.columns(name)).flatten().map(|(name, _)| Engine::quoted(&name));
        names.extend(columns.collect::<Vec<_>>());
        names.extend(KEYWORDS.iter().map(|word| (*word).to_owned()));
    }
    names.sort();
    names.dedup();
    let fits = |name: &String| name.trim_start_matches('"').to_lowercase().starts_with(&bare);
    let pair = |name: String| Pair { display: name.clone(), replacement: name };
    (start, names.into_iter().filter(fits).map(pair).collect())
}

impl Validator for Words<'_> {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = context.input().trim();
        let whole = input.is_empty() || input.starts_with(['.', '\\']) || input.ends_with(';');
        Ok(if whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for Words<'_> {
    type Hint = String;
}

impl Highlighter for Words<'_> {}

impl Helper for Words<'_> {}

const HISTORY: usize = 1000;
const KEYWORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "BETWEEN",
    "EXPLAIN",
    "WITH",
    "asof(",
    "avg(",
    "count(",
    "max(",
    "min(",
    "time_bucket(",
    "wide(",
];
const HELP: &str = "\
.tables, \\d        list the tables
.columns T, \\d T   list the columns of a table
.quit, \\q          quit
SELECT * FROM channels;
SELECT avg(value) FROM \"/Drive/Speed\" WHERE time BETWEEN 10 AND 20;
SELECT * FROM wide('20ms', '/Drive/*');
EXPLAIN SELECT …;   show the query plan";

#[cfg(test)]
mod tests {
    use logpose::{Log, OpenOptions};
    use logpose_query::{Engine, Options};
    use std::sync::Arc;

    use super::complete;

    #[test]
    fn names_are_completed_in_and_out_of_quotes() {
        let mut bytes = b"WPILOG\x00\x01\x00\x00\x00\x00".to_vec();
        let mut start = vec![0, 1, 0, 0, 0];
        for text in ["/Drive/Speed", "double", ""] {
            start.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            start.extend(text.as_bytes());
        }
        bytes.extend([0, 0, u8::try_from(start.len()).unwrap(), 0]);
        bytes.extend(start);
        let log = Log::from_bytes("a.wpilog", bytes, &OpenOptions::default()).unwrap();
        let engine = Engine::new(vec![Arc::new(log)], &Options::default()).unwrap();
        let words = |before: &str| -> Vec<String> {
            complete(&engine, before).1.into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(words("SELECT * FROM sam"), ["samples"]);
        assert_eq!(words("SELECT * FROM \"/dri"), ["\"/Drive/Speed\""]);
        assert_eq!(words("SELECT * FROM \"/Drive/Speed\" WHERE val"), ["value"]);
    }
}
