//! Query results as text tables.

use std::io::Write;

use anyhow::Result;
use logpose_query::{Answer, Rows};

use super::complaint;
use crate::human::clean;
use crate::screen::{HEAD, Screen};
use crate::table::{Align, joined};

/// Prints rows as they arrive. The first thousand determine the column widths.
pub(super) fn print(answer: &mut Answer<'_>, screen: &mut Screen) -> Result<()> {
    let columns = answer.columns();
    if matches!(columns.as_slice(), [(first, _), (second, _)] if first == "plan_type" && second == "plan") {
        return plans(answer, screen);
    }
    let mut widths: Vec<usize> = columns.iter().map(|(name, _)| clean(name).chars().count()).collect();
    let mut waiting: Vec<Vec<String>> = Vec::new();
    let mut headed = false;
    let mut cell = String::new();
    loop {
        let rows = answer.next_rows().map_err(complaint)?;
        for row in 0..rows.as_ref().map_or(0, Rows::len) {
            let Some(rows) = &rows else { continue };
            let cells: Vec<String> = (0..columns.len())
                .map(|column| {
                    cell.clear();
                    rows.text(row, column, &mut cell);
                    clean(&cell).into_owned()
                })
                .collect();
            waiting.push(cells);
        }
        if rows.is_some() && !headed && waiting.len() < MEASURED {
            continue;
        }
        for cells in &waiting {
            widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = cell.chars().count().max(*width));
        }
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<_> = cells
                .zip(&columns)
                .zip(&widths)
                .map(|((text, (_, number)), width)| (text, if *number { Align::Right } else { Align::Left }, *width))
                .collect();
            joined("", &cells)
        };
        if !headed {
            let names: Vec<_> = columns.iter().map(|(name, _)| clean(name)).collect();
            let head = line(&mut names.iter().map(|name| &**name));
            writeln!(screen.out, "{}", screen.out.paint(HEAD, &head))?;
            headed = true;
        }
        for cells in waiting.drain(..) {
            writeln!(screen.out, "{}", line(&mut cells.iter().map(String::as_str)))?;
        }
        if rows.is_none() {
            return Ok(());
        }
    }
}

/// Plans are multi-line texts.
fn plans(answer: &mut Answer<'_>, screen: &mut Screen) -> Result<()> {
    while let Some(rows) = answer.next_rows().map_err(complaint)? {
        for row in 0..rows.len() {
            let (mut kind, mut plan) = (String::new(), String::new());
            rows.text(row, 0, &mut kind);
            rows.text(row, 1, &mut plan);
            writeln!(screen.out, "{}", screen.out.paint(HEAD, clean(&kind)))?;
            for line in plan.lines() {
                writeln!(screen.out, "  {}", clean(line))?;
            }
        }
    }
    Ok(())
}

const MEASURED: usize = 1000;
