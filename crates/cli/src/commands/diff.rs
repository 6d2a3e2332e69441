use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::core::Time;
use logpose::diff::{self, Align as By, ChannelDiff, DiffOptions, Divergence, Verdict};
use logpose::{Filter, ScalarValue, parse_duration};

use super::{report_problems, shown};
use crate::args::{OutputFormat, Reading, Selection};
use crate::failure::{Complaint, Outcome};
use crate::human::{about_time, clean, clip, count, counted, duration, number};
use crate::render::{self, Scalar};
use crate::screen::{BAD, GOOD, HEAD, STRONG, Screen};
use crate::table::{Align, Table};

/// Compare two logs: which channels differ, when and by how much
///
/// Compares channels with the same name. If a channel has samples at the same times in both logs, they are compared one
/// by one; otherwise each sample is compared with the other log's latest value at that time. Structs and lists are
/// compared by field and element; NaN equals NaN. Exits with 0 if the logs are equal within tolerance, with 4 if they
/// differ.
///
/// --align chooses how to align the clocks: `time` leaves them as they are, `start` aligns the first timestamps, `auto`,
/// `teleop` and `enabled` align the first entry into that mode, `wall` uses wall-clock time, `offset:1.5` adds 1.5
/// seconds to B, `best` uses wall-clock time if available, then the first enable, then the start.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose diff demo/demo_q12.rlog demo/akit*_q12.wpilog --ignore-missing
  logpose diff demo/demo_q12.rlog demo/demo_q12_r1.rlog -y '/Drive/*' --tolerance '*Temp*=0.5'
  logpose diff demo/demo_q12.rlog demo/akit*_q12.wpilog -y '/SystemStats/*' -S auto..auto --json")]
pub(super) struct Diff {
    /// First log; times are on its clock
    #[arg(value_name = "A")]
    a: PathBuf,
    /// Second log
    #[arg(value_name = "B")]
    b: PathBuf,
    /// How to align the clocks: time, start, auto, teleop, enabled, wall, offset:SECONDS, best
    #[arg(long, value_name = "HOW", default_value = "time")]
    align: String,
    /// Absolute tolerance for numbers
    #[arg(long, value_name = "X", default_value_t = 1e-6, value_parser = tolerance)]
    abs: f64,
    /// Relative tolerance for numbers, as a fraction of the larger one
    #[arg(long, value_name = "X", default_value_t = 1e-9, value_parser = tolerance)]
    rel: f64,
    /// Tolerance for matching channels; repeatable, the last match wins
    #[arg(long, value_name = "GLOB=X")]
    tolerance: Vec<String>,
    /// Tolerance for timestamps
    #[arg(long, value_name = "DURATION", default_value = "1ms")]
    time_tolerance: String,
    /// Ignore channels and samples that only one log has
    #[arg(long)]
    ignore_missing: bool,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    reading: Reading,
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| *x >= 0.0);
    number.ok_or_else(|| "expected a number of at least 0".to_owned())
}

impl Diff {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let options = self.options()?;
        let logs = [self.reading.open(&self.a, &screen.notes)?, self.reading.open(&self.b, &screen.notes)?];
        let [a, b] = &logs;
        let filter = self.selection.channels.filter()?;
        self.selection.channels.check(&filter, &logs)?;
        let (start, end) = self.selection.moments.parse()?;
        let start = start.map(|moment| moment.as_start(a)).transpose()?;
        let end = end.map(|moment| moment.as_end(a)).transpose()?;
        let diff = diff::of(a, b, &filter, (start, end), &options)?;
        let differs = diff.differs(self.ignore_missing);
        if self.format.json() {
            screen.out.json(&self.as_json(&diff, differs))?;
        } else {
            self.print(&diff, differs, screen)?;
        }
        let no = if differs { Outcome::No } else { Outcome::Done };
        Ok(report_problems(&logs, screen).max(no))
    }

    fn options(&self) -> Result<DiffOptions> {
        let mut tolerances = Vec::new();
        for text in &self.tolerance {
            let wrong = |what: &str| {
                let complaint = Complaint::usage(format!("--tolerance {text}: {what}"));
                complaint.help("example: --tolerance '/Drive/*=0.01'")
            };
            let (glob, number) = text.rsplit_once('=').ok_or_else(|| wrong("expected PATTERN=NUMBER"))?;
            let number = tolerance(number.trim()).map_err(|what| wrong(&what))?;
            tolerances.push((Filter::new(&[glob.trim().to_owned()], &[])?, number));
        }
        Ok(DiffOptions {
            align: self.align.parse()?,
            abs: self.abs,
            rel: self.rel,
            tolerances,
            time_tolerance_ns: parse_duration(&self.time_tolerance)?,
        })
    }

    fn print(&self, diff: &diff::Diff, differs: bool, screen: &mut Screen) -> Result<()> {
        let out = &mut screen.out;
        writeln!(out, "{}", out.paint(HEAD, aligned(diff)))?;
        if let Some((channel, first)) = diff.first() {
            let name = format!("{}{}", channel.name, first.path);
            let at = format!("first difference at {} s: {}", first.time, clean(&name));
            let (a, b) = texts(first);
            writeln!(out, "{} {a} → {b}", out.paint(BAD, at))?;
        }
        let of = |verdict: Verdict| diff.channels.iter().filter(move |channel| channel.verdict == verdict);
        let mut table = Table::new(&[
            ("first at", Align::Right),
            ("channel", Align::Left),
            ("differ", Align::Right),
            ("a", Align::Right),
            ("b", Align::Right),
            ("largest", Align::Right),
            ("at", Align::Right),
        ]);
        for channel in of(Verdict::Differs) {
            let Some(first) = &channel.first else { continue };
            let (amount, at) = largest(channel);
            let name = format!("{}{}", channel.name, first.path);
            let cells = [about_time(first.time.nanos()), clean(&name).into_owned(), differing(channel)];
            let (a, b) = texts(first);
            table.row(cells.into_iter().chain([a, b, amount, at]).collect());
        }
        if !table.is_empty() {
            writeln!(out)?;
            table.print("", out)?;
        }
        let mut within = Table::new(&[
            ("within tolerance", Align::Left),
            ("samples", Align::Right),
            ("largest", Align::Right),
            ("at", Align::Right),
        ]);
        for channel in of(Verdict::Within) {
            let (amount, at) = largest(channel);
            within.row(vec![clean(&channel.name).into_owned(), samples(channel), amount, at]);
        }
        let mut types = Table::new(&[("types differ", Align::Left), ("a", Align::Left), ("b", Align::Left)]);
        for channel in of(Verdict::Types) {
            let name = |name: &Option<String>| clean(name.as_deref().unwrap_or("")).into_owned();
            types.row(vec![clean(&channel.name).into_owned(), name(&channel.types.0), name(&channel.types.1)]);
        }
        let head =
            [("equal where both have samples", Align::Left), ("only in a", Align::Right), ("only in b", Align::Right)];
        let mut missing = Table::new(&head);
        for channel in of(Verdict::Missing) {
            let (a, b) = channel.missing;
            missing.row(vec![clean(&channel.name).into_owned(), counted(a, "sample"), counted(b, "sample")]);
        }
        let only = |verdict: Verdict, title: &'static str| {
            let mut table = Table::new(&[(title, Align::Left), ("type", Align::Left), ("samples", Align::Right)]);
            for channel in of(verdict) {
                let name = channel.types.0.as_ref().or(channel.types.1.as_ref()).map_or("", String::as_str);
                let samples = channel.samples.0.max(channel.samples.1);
                table.row(vec![clean(&channel.name).into_owned(), clean(name).into_owned(), count(samples)]);
            }
            table
        };
        let mut tables = vec![within, types];
        if !self.ignore_missing {
            tables.extend([missing, only(Verdict::OnlyA, "only in a"), only(Verdict::OnlyB, "only in b")]);
        }
        for table in tables.iter().filter(|table| !table.is_empty()) {
            writeln!(out)?;
            table.print("", out)?;
        }
        let words = [
            (Verdict::Differs, "differ"),
            (Verdict::Types, "with different types"),
            (Verdict::Missing, "with missing samples"),
            (Verdict::OnlyA, "only in a"),
            (Verdict::OnlyB, "only in b"),
            (Verdict::Within, "within tolerance"),
            (Verdict::Equal, "equal"),
        ];
        let counts = words.map(|(verdict, word)| (of(verdict).count(), word));
        let counts: Vec<_> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
        let (style, verdict) = if differs { (STRONG, "the logs differ") } else { (GOOD, "no difference") };
        let total = counted(diff.channels.len() as u64, "channel");
        writeln!(out, "\n{}; {total}: {}", out.paint(style, verdict), counts.join(", "))?;
        Ok(())
    }

    fn as_json<'a>(&self, diff: &'a diff::Diff, differs: bool) -> render::Diff<'a> {
        let ns = |time: Time| render::Int::from(time.nanos());
        let divergence = |at: &'a Divergence| render::Divergence {
            time_ns: ns(at.time),
            path: &at.path,
            a: Scalar(&at.a),
            b: Scalar(&at.b),
            difference: at.amount.map(render::Double),
        };
        let channels = diff.channels.iter().map(|channel| render::ChannelDiff {
            name: &channel.name,
            verdict: channel.verdict.name(),
            type_a: channel.types.0.as_deref(),
            type_b: channel.types.1.as_deref(),
            samples_a: channel.samples.0.into(),
            samples_b: channel.samples.1.into(),
            differing_a: channel.differing.0.into(),
            differing_b: channel.differing.1.into(),
            missing_a: channel.missing.0.into(),
            missing_b: channel.missing.1.into(),
            first: channel.first.as_ref().map(divergence),
            largest: channel.largest.as_ref().map(divergence),
        });
        render::Diff {
            a: shown(&self.a),
            b: shown(&self.b),
            differs,
            align: diff.align.name(),
            offset_ns: diff.offset_ns.into(),
            common_start_ns: diff.common.map(|(first, _)| ns(first)),
            common_end_ns: diff.common.map(|(_, last)| ns(last)),
            first_divergence: diff
                .first()
                .map(|(channel, first)| render::First { channel: &channel.name, divergence: divergence(first) }),
            channels: channels.collect(),
        }
    }
}

/// Describes the alignment.
fn aligned(diff: &diff::Diff) -> String {
    let by = match diff.align {
        By::Time | By::Best => "log time".to_owned(),
        By::Wall => "wall-clock time".to_owned(),
        By::Start => "first timestamp".to_owned(),
        By::Offset(_) => "fixed offset".to_owned(),
        By::Mode(_) => format!("start of {}", diff.align.name()),
    };
    let shift = match diff.offset_ns {
        0 => String::new(),
        ns => format!(", b shifted by {} s", Time::from_nanos(ns)),
    };
    let common = diff.common.map_or(String::new(), |(first, last)| {
        let (from, to) = (about_time(first.nanos()), about_time(last.nanos()));
        format!("; overlap {}, from {from} s to {to} s", duration(last.since(first)))
    });
    format!("aligned by {by}{shift}{common}")
}

/// Both values, with enough digits to show the difference.
fn texts(at: &Divergence) -> (String, String) {
    if let (ScalarValue::Double(a), ScalarValue::Double(b)) = (&at.a, &at.b) {
        let (a, b) = (number(*a), number(*b));
        if a != b {
            return (a, b);
        }
    }
    let text = |part: &ScalarValue<'static>| clip(&clean(&part.to_string()), WIDEST).into_owned();
    (text(&at.a), text(&at.b))
}

fn largest(channel: &ChannelDiff) -> (String, String) {
    channel.largest.as_ref().map_or_else(Default::default, |largest| {
        (largest.amount.map(number).unwrap_or_default(), about_time(largest.time.nanos()))
    })
}

/// How many samples differ, counted in the log where the fraction is larger.
fn differing(channel: &ChannelDiff) -> String {
    let (a, b) = channel.differing;
    let (differing, of) = if a >= b { (a, channel.samples.0) } else { (b, channel.samples.1) };
    format!("{} of {}", count(differing), count(of))
}

fn samples(channel: &ChannelDiff) -> String {
    match channel.samples {
        (a, b) if a == b => count(a),
        (a, b) => format!("{} / {}", count(a), count(b)),
    }
}

/// Values longer than this are cut in tables.
const WIDEST: usize = 32;
