use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::Log;

use super::{report_problems, shown};
use crate::args::{Channels, OutputFormat, Reading};
use crate::failure::Outcome;
use crate::human::{bytes, clean, lossy, share};
use crate::render;
use crate::screen::{HEAD, STRONG, Screen};

/// Show how many bytes each channel takes
///
/// Prints a tree of channel names, largest first. Header, control records and damage have their own lines, so that
/// everything adds up to the size of the log.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose du demo/demo_q12.rlog
  logpose du demo/demo_q12.rlog --depth 4
  logpose du demo/demo_q12.rlog --flat | head")]
pub(super) struct Du {
    /// Logs; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Number of tree levels to show
    #[arg(short, long, value_name = "N", default_value_t = 2, conflicts_with = "flat")]
    depth: usize,
    /// Print one line per channel instead of a tree
    #[arg(long)]
    flat: bool,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    channels: Channels,
    #[command(flatten)]
    reading: Reading,
}

impl Du {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let logs = self.reading.open_all(&self.files, &screen.notes)?;
        let filter = self.channels.filter()?;
        self.channels.check(&filter, &logs)?;
        let bills: Vec<_> = logs.iter().map(|log| Bill::of(log, |name| filter.accepts(name))).collect();
        if self.format.json() {
            let all: Vec<_> = logs.iter().zip(&bills).map(|(log, bill)| self.as_json(log, bill)).collect();
            match &*all {
                [one] => screen.out.json(one)?,
                all => screen.out.json(&all)?,
            }
        } else {
            for (i, (log, bill)) in logs.iter().zip(&bills).enumerate() {
                if logs.len() > 1 {
                    let gap = if i > 0 { "\n" } else { "" };
                    writeln!(screen.out, "{gap}{}", screen.out.paint(STRONG, shown(&log.path)))?;
                }
                self.print(bill, filter.is_empty(), screen)?;
            }
        }
        Ok(report_problems(&logs, screen))
    }

    fn as_json<'a>(&self, log: &Log, bill: &'a Bill) -> render::Disk<'a> {
        let mut tree = Vec::new();
        bill.walk(self.flat, if self.flat { usize::MAX } else { self.depth }, &mut |_, path, node, bytes| {
            let share = if bill.size == 0 { 0.0 } else { lossy(bytes) / lossy(bill.size) };
            tree.push(render::Usage {
                path,
                bytes: bytes.into(),
                samples: node.samples.into(),
                channels: node.channels,
                share,
            });
        });
        render::Disk {
            file: shown(&log.path),
            bytes: bill.size.into(),
            data: bill.root.bytes.into(),
            header: bill.header.into(),
            control: bill.control.into(),
            damage: bill.damage.into(),
            tree,
        }
    }

    fn print(&self, bill: &Bill, whole: bool, screen: &mut Screen) -> Result<()> {
        let out = &mut screen.out;
        let line = |out: &mut crate::screen::Out, level: usize, name: &str, n: u64| {
            let figures = format!("{:>9}  {:>7}", bytes(n), share(n, bill.size));
            let figures = out.paint(HEAD, figures).to_string();
            writeln!(out, "{figures}  {:indent$}{name}", "", indent = level * 2)
        };
        let mut done = Ok(());
        bill.walk(self.flat, if self.flat { usize::MAX } else { self.depth }, &mut |level, path, node, bytes| {
            if done.is_err() {
                return;
            }
            let name = if self.flat { path } else { &*node.label };
            let more = if node.children.is_empty() || self.flat {
                String::new()
            } else {
                format!("  ({} channels)", node.channels)
            };
            done = line(out, level, &format!("{}{more}", clean(name)), bytes);
        });
        done?;
        if whole {
            for (name, n) in [("(header)", bill.header), ("(control records)", bill.control), ("(damage)", bill.damage)]
            {
                if n > 0 {
                    line(out, 0, name, n)?;
                }
            }
            line(out, 0, "total", bill.size)?;
        }
        Ok(())
    }
}

/// The bytes of a log by channel.
struct Bill {
    /// Size of the log after decompression.
    size: u64,
    header: u64,
    control: u64,
    damage: u64,
    root: Node,
}

/// Receives one line: level, path, node, bytes.
type See<'s, 'a> = dyn FnMut(usize, &'a str, &'a Node, u64) + 's;

#[derive(Default)]
struct Node {
    /// The part of the name added at this level.
    label: String,
    /// The full name down to this level.
    path: String,
    bytes: u64,
    samples: u64,
    channels: u64,
    children: BTreeMap<String, Self>,
}

impl Bill {
    fn of(log: &Log, accepts: impl Fn(&str) -> bool) -> Self {
        let size = log.bytes().len() as u64;
        let all: u64 = log.index.channels.iter().map(|c| c.bytes).sum();
        let spans = &log.index.spans;
        let held: u64 = spans.iter().map(|span| span.end.saturating_sub(span.start)).sum();
        let header = spans.first().map_or(0, |span| span.start);
        let mut root = Node::default();
        for found in log.index.channels.iter().filter(|c| accepts(&c.channel.name)) {
            root.add(&found.channel.name, found.bytes, found.samples);
        }
        root.collapse();
        let others = held.saturating_sub(all);
        // Records that are neither control records nor part of a channel are lost.
        let control = log
            .index
            .fact("control_bytes")
            .and_then(|n| n.parse().ok())
            .map_or(others, |control: u64| control.min(others));
        Self { size, header, control, damage: size.saturating_sub(header + all + control), root }
    }

    /// Calls `see` for every line, largest first.
    fn walk<'a>(&'a self, flat: bool, depth: usize, see: &mut See<'_, 'a>) {
        if flat {
            let mut leaves = Vec::new();
            self.root.leaves(&mut leaves);
            leaves.sort_by(|a, b| b.own().cmp(&a.own()).then_with(|| a.path.cmp(&b.path)));
            leaves.into_iter().for_each(|leaf| see(0, &leaf.path, leaf, leaf.own()));
        } else {
            self.root.walk(0, depth, see);
        }
    }
}

impl Node {
    fn add(&mut self, name: &str, bytes: u64, samples: u64) {
        let mut node = self;
        node.count(bytes, samples);
        let mut at = 0;
        while at < name.len() {
            let rest = name.get(at..).unwrap_or("");
            // A slash belongs to the part after it, so that joined labels give the name again.
            let skip = rest.len() - rest.trim_start_matches('/').len();
            let end = rest.get(skip..).and_then(|part| part.find('/')).map_or(rest.len(), |found| skip + found);
            let label = rest.get(..end).unwrap_or(rest);
            at += end.max(1);
            let path = name.get(..at).unwrap_or(name);
            node = node.children.entry(label.to_owned()).or_insert_with(|| Self {
                label: label.to_owned(),
                path: path.to_owned(),
                ..Self::default()
            });
            node.count(bytes, samples);
        }
        if name.is_empty() {
            node.children
                .entry(String::new())
                .or_insert_with(|| Self { label: "(unnamed)".to_owned(), ..Self::default() })
                .count(bytes, samples);
        }
    }

    fn count(&mut self, bytes: u64, samples: u64) {
        self.bytes += bytes;
        self.samples += samples;
        self.channels += 1;
    }

    /// Merges levels that have a single child.
    fn collapse(&mut self) {
        for child in self.children.values_mut() {
            child.collapse();
            while child.children.len() == 1 && child.own() == 0 {
                let Some((_, only)) = child.children.pop_first() else { break };
                let label = format!("{}{}", child.label, only.label);
                *child = Self { label, ..only };
            }
        }
    }

    /// Bytes of this node without its children.
    fn own(&self) -> u64 {
        self.bytes - self.children.values().map(|child| child.bytes).sum::<u64>()
    }

    fn leaves<'a>(&'a self, out: &mut Vec<&'a Self>) {
        if self.children.is_empty() || (self.own() > 0 && !self.path.is_empty()) {
            out.push(self);
        }
        self.children.values().for_each(|child| child.leaves(out));
    }

    fn walk<'a>(&'a self, level: usize, depth: usize, see: &mut See<'_, 'a>) {
        if level >= depth {
            return;
        }
        let mut children: Vec<_> = self.children.values().collect();
        children.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.label.cmp(&b.label)));
        for child in children {
            see(level, &child.path, child, child.bytes);
            child.walk(level + 1, depth, see);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn names_become_a_tree_and_chains_become_one_level() {
        let mut root = Node::default();
        for (name, bytes) in [
            ("NT:/SmartDashboard/Drive/x", 3),
            ("NT:/SmartDashboard/Drive/y", 4),
            ("/Drive", 1),
            ("/Drive/z", 2),
            ("", 5),
            ("a//b", 6),
        ] {
            root.add(name, bytes, 1);
        }
        root.collapse();
        let mut lines = Vec::new();
        root.walk(0, 9, &mut |level, path, node, bytes| {
            lines.push((level, path.to_owned(), node.label.clone(), bytes))
        });
        let expected = [
            (0, "NT:/SmartDashboard/Drive", "NT:/SmartDashboard/Drive", 7),
            (1, "NT:/SmartDashboard/Drive/y", "/y", 4),
            (1, "NT:/SmartDashboard/Drive/x", "/x", 3),
            (0, "a//b", "a//b", 6),
            (0, "", "(unnamed)", 5),
            (0, "/Drive", "/Drive", 3),
            (1, "/Drive/z", "/z", 2),
        ];
        assert_eq!(
            lines,
            expected.map(|(level, path, label, bytes)| (level, path.to_owned(), label.to_owned(), bytes))
        );
    }
}
