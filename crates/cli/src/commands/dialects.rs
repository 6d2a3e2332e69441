use std::io::Write;

use anyhow::Result;
use clap::Args;
use logpose::core::{Reach, Support};
use logpose::{FORMATS, Wrapper};

use crate::args::OutputFormat;
use crate::failure::Outcome;
use crate::render;
use crate::screen::Screen;
use crate::table::{Align, Table};

/// List the supported formats
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose dialects
  logpose dialects --json | jq -r '.[] | select(.files.write) | .name'")]
pub(super) struct Dialects {
    /// Print a Markdown table, as in the README
    #[arg(long, conflicts_with_all = ["json", "format"])]
    markdown: bool,
    #[command(flatten)]
    format: OutputFormat,
}

impl Dialects {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let rows = rows();
        if self.format.json() {
            screen.out.json(&rows)?;
        } else if self.markdown {
            writeln!(screen.out, "| name | what | files | read | write | live |")?;
            writeln!(screen.out, "| --- | --- | --- | --- | --- | --- |")?;
            // The README lists compression in a sentence of its own.
            for row in rows.iter().filter(|row| row.kind != "wrapper") {
                let mut files: Vec<_> = row.extensions.iter().map(|extension| format!("`.{extension}`")).collect();
                if files.is_empty() {
                    files.push("–".to_owned());
                }
                writeln!(
                    screen.out,
                    "| `{}` | {} | {} | {} | {} | {} |",
                    row.name,
                    row.title,
                    files.join(" "),
                    yes(row.files.read),
                    yes(row.files.write),
                    addresses(row)
                )?;
            }
        } else {
            let mut table = Table::new(&[
                ("name", Align::Left),
                ("kind", Align::Left),
                ("files", Align::Left),
                ("live", Align::Left),
                ("extensions", Align::Left),
                ("what", Align::Left),
            ]);
            for row in &rows {
                let extensions =
                    row.extensions.iter().map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(" ");
                table.row(vec![
                    row.name.into(),
                    row.kind.into(),
                    can(&row.files).into(),
                    live(row),
                    extensions,
                    row.title.into(),
                ]);
            }
            table.print("", &mut screen.out)?;
        }
        Ok(Outcome::Done)
    }
}

/// The formats, then compression.
fn rows() -> Vec<render::Dialect<'static>> {
    let support = |s: Support| render::Support { read: s.read, write: s.write };
    let mut rows: Vec<_> = FORMATS
        .iter()
        .map(|format| (if format.unpacker().is_some() { "bridge" } else { "dialect" }, format.info()))
        .map(|(kind, info)| render::Dialect {
            name: info.name,
            kind,
            title: info.title,
            extensions: info.extensions.iter().map(|e| (*e).to_owned()).collect(),
            files: support(info.files),
            live: support(info.live),
            addresses: info.reached.iter().map(Reach::prefix).collect(),
        })
        .collect();
    rows.push(render::Dialect {
        name: "foxglove",
        kind: "viewer",
        title: "Foxglove, Lichtblick, PlotJuggler, over WebSocket",
        extensions: Vec::new(),
        files: render::Support { read: false, write: false },
        live: render::Support { read: false, write: true },
        addresses: vec!["foxglove://".to_owned()],
    });
    for wrapper in Wrapper::ALL {
        let title = match wrapper {
            Wrapper::Gz => "gzip compression of any of these",
            Wrapper::Zst => "Zstandard compression of any of these",
            Wrapper::Xz => "XZ compression of any of these",
            Wrapper::Lz4 => "LZ4 compression of any of these",
        };
        let mut extensions = vec![wrapper.name().to_owned()];
        if wrapper == Wrapper::Xz {
            extensions.push("wpilogxz".to_owned());
        }
        rows.push(render::Dialect {
            name: wrapper.name(),
            kind: "wrapper",
            title,
            extensions,
            files: render::Support { read: true, write: true },
            live: render::Support { read: false, write: false },
            addresses: Vec::new(),
        });
    }
    rows
}

/// The live capabilities and their address prefixes.
fn live(row: &render::Dialect<'_>) -> String {
    let can = match (row.live.read, row.live.write) {
        (true, true) => "client, server",
        (true, false) => "client",
        (false, true) => "server",
        (false, false) => return String::new(),
    };
    // Several transports of one dialect differ in the part after the plus.
    let stem = row.addresses.first().and_then(|first| first.split_once('+')).map_or("", |(stem, _)| stem);
    let others = row.addresses.iter().skip(1).map(|other| other.strip_prefix(stem).unwrap_or(other));
    row.addresses.iter().take(1).map(String::as_str).chain(others).chain([can]).collect::<Vec<_>>().join(" ")
}

fn can(support: &render::Support) -> &'static str {
    match (support.read, support.write) {
        (true, true) => "read, write",
        (true, false) => "read",
        (false, true) => "write",
        (false, false) => "",
    }
}

fn yes(can: bool) -> &'static str {
    if can { "yes" } else { "–" }
}

/// The prefixes of live addresses, for the Markdown table.
fn addresses(row: &render::Dialect<'_>) -> String {
    let all: Vec<String> = row.addresses.iter().map(|prefix| format!("`{prefix}`")).collect();
    if all.is_empty() { "–".to_owned() } else { all.join(" ") }
}
