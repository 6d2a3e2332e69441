//! Results in rows: a text table, CSV or JSON.

use std::io::{self, Write};

use logpose::core::Time;
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::human::{clean, number};
use crate::render::{Double, Int};
use crate::screen::Out;
use crate::table::{Align, Table};

/// Output format of rows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RowFormat {
    Table,
    Csv,
    Ndjson,
    Json,
}

/// One cell.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Nothing,
    Truth(bool),
    Integer(i128),
    Number(f64),
    Text(String),
}

impl Cell {
    /// An optional number.
    pub(crate) fn number(x: Option<f64>) -> Self {
        x.map_or(Self::Nothing, Self::Number)
    }

    /// An optional 32-bit float, printed with only the digits it has.
    pub(crate) fn single(x: Option<f32>) -> Self {
        Self::number(x.map(|x| x.to_string().parse().unwrap_or_else(|_| x.into())))
    }

    /// An optional integer.
    pub(crate) fn integer(n: Option<impl Into<i128>>) -> Self {
        n.map_or(Self::Nothing, |n| Self::Integer(n.into()))
    }

    /// Seconds as nanoseconds; empty if out of range.
    pub(crate) fn nanos(seconds: f64) -> Self {
        Self::integer(Time::from_seconds(seconds).map(Time::nanos))
    }

    /// Text from a log.
    pub(crate) fn text(bytes: &[u8]) -> Self {
        Self::Text(String::from_utf8_lossy(bytes).into_owned())
    }

    fn align(&self) -> Option<Align> {
        match self {
            Self::Nothing => None,
            Self::Integer(_) | Self::Number(_) => Some(Align::Right),
            Self::Truth(_) | Self::Text(_) => Some(Align::Left),
        }
    }

    /// The cell in a text table.
    fn shown(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Truth(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
            Self::Integer(n) => n.to_string(),
            Self::Number(x) => number(*x),
            Self::Text(text) => clean(text).into_owned(),
        }
    }

    /// The cell in CSV; NaN and infinities are spelled as in JSON.
    fn plain(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Truth(yes) => yes.to_string(),
            Self::Integer(n) => n.to_string(),
            Self::Number(x) if x.is_infinite() => (if *x > 0.0 { "Infinity" } else { "-Infinity" }).to_owned(),
            Self::Number(x) => x.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Truth(yes) => serializer.serialize_bool(*yes),
            Self::Integer(n) => Int::from(*n).serialize(serializer),
            Self::Number(x) => Double(*x).serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// A row as a JSON object.
struct Object<'a>(&'a [&'static str], &'a [Cell]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().zip(self.1).try_for_each(|(name, cell)| map.serialize_entry(name, cell))?;
        map.end()
    }
}

/// A JSON array with one value per line, also used by `sql --json`.
#[derive(Default)]
pub(crate) struct Array {
    begun: bool,
}

impl Array {
    pub(crate) fn push(&mut self, value: &impl Serialize, out: &mut Out) -> io::Result<()> {
        out.write_all(if self.begun { b",\n" } else { b"[\n" })?;
        self.begun = true;
        serde_json::to_writer(&mut *out, value)?;
        Ok(())
    }

    pub(crate) fn finish(self, out: &mut Out) -> io::Result<()> {
        out.write_all(if self.begun { b"\n]\n" } else { b"[]\n" })
    }
}

/// Prints rows as they come; a table waits for the last row to know its widths.
pub(crate) struct Rows {
    format: RowFormat,
    columns: Vec<&'static str>,
    array: Array,
    waiting: Vec<Vec<Cell>>,
}

impl Rows {
    /// Rows with these columns. Text tables leave out columns ending in `_ns`, which repeat others.
    pub(crate) fn begin(format: RowFormat, columns: Vec<&'static str>, out: &mut Out) -> io::Result<Self> {
        if format == RowFormat::Csv {
            record(columns.iter().copied(), out)?;
        }
        Ok(Self { format, columns, array: Array::default(), waiting: Vec::new() })
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>, out: &mut Out) -> io::Result<()> {
        let object = Object(&self.columns, &cells);
        match self.format {
            RowFormat::Csv => record(cells.iter().map(Cell::plain), out),
            RowFormat::Ndjson => out.json_line(&object),
            RowFormat::Json => self.array.push(&object, out),
            RowFormat::Table => {
                self.waiting.push(cells);
                Ok(())
            }
        }
    }

    pub(crate) fn finish(self, out: &mut Out) -> io::Result<()> {
        match self.format {
            RowFormat::Json => self.array.finish(out),
            // Without rows it is unknown which columns have content.
            RowFormat::Table if self.waiting.is_empty() => Ok(()),
            RowFormat::Table => {
                let shown = |i: &usize| self.columns.get(*i).is_some_and(|name| !name.ends_with("_ns"));
                let places: Vec<usize> = (0..self.columns.len()).filter(shown).collect();
                let align = |i: usize| self.waiting.iter().find_map(|cells| cells.get(i)?.align());
                let title = |i: usize| (*self.columns.get(i).unwrap_or(&"")).to_owned();
                let mut table =
                    Table::titled(places.iter().map(|i| (title(*i), align(*i).unwrap_or(Align::Left))).collect());
                for cells in &self.waiting {
                    let text = |i: &usize| cells.get(*i).map(Cell::shown).unwrap_or_default();
                    table.row(places.iter().map(text).collect());
                }
                table.print("", out)
            }
            RowFormat::Csv | RowFormat::Ndjson => Ok(()),
        }
    }
}

/// One line of CSV.
fn record<T: AsRef<[u8]>>(cells: impl Iterator<Item = T>, out: &mut Out) -> io::Result<()> {
    let mut csv =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).buffer_capacity(512).from_writer(Vec::new());
    csv.write_record(cells)?;
    out.write_all(&csv.into_inner().map_err(csv::IntoInnerError::into_error)?)
}
