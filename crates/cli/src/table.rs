//! Aligned columns.

use std::io::{self, Write};

use crate::screen::{HEAD, Out};

/// Alignment of a cell in its column.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Rows of cells, printed with every column as wide as its widest cell.
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self::titled(columns.iter().map(|(title, align)| ((*title).to_owned(), *align)).collect())
    }

    /// A table with titles known only at run time.
    pub(crate) fn titled(columns: Vec<(String, Align)>) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Prints the titles and rows, each after `indent`. Empty columns are left out.
    pub(crate) fn print(&self, indent: &str, out: &mut Out) -> io::Result<()> {
        let width = |i: usize| {
            self.rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let head = self.columns.iter().any(|(title, _)| !title.is_empty());
        let columns: Vec<_> =
            self.columns.iter().enumerate().map(|(i, (title, align))| (i, title.as_str(), *align, width(i))).collect();
        let columns: Vec<_> = columns
            .into_iter()
            .filter(|(.., width)| *width > 0)
            .map(|(i, title, align, width)| (i, title, align, width.max(title.chars().count())))
            .collect();
        if head {
            let cells: Vec<_> = columns.iter().map(|(_, title, align, width)| (*title, *align, *width)).collect();
            let line = joined(indent, &cells);
            writeln!(out, "{}", out.paint(HEAD, &line))?;
        }
        for row in &self.rows {
            let cells: Vec<_> = columns
                .iter()
                .map(|(i, _, align, width)| (row.get(*i).map_or("", String::as_str), *align, *width))
                .collect();
            writeln!(out, "{}", joined(indent, &cells))?;
        }
        Ok(())
    }
}

/// Cells side by side, each as wide as its column.
pub(crate) fn joined(indent: &str, cells: &[(&str, Align, usize)]) -> String {
    let mut line = indent.to_owned();
    for (i, (text, align, width)) in cells.iter().enumerate() {
        if i > 0 {
            line.push_str("  ");
        }
        let padding = width.saturating_sub(text.chars().count());
        if *align == Align::Right {
            line.extend(std::iter::repeat_n(' ', padding));
        }
        line.push_str(text);
        if *align == Align::Left {
            line.extend(std::iter::repeat_n(' ', padding));
        }
    }
    line.truncate(line.trim_end().len());
    line
}
