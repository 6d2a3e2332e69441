use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::Log;
use logpose::refloat::{Chart, Explanation, Limits, Line, Options, Origin, StopKind, Tone, explain};

use crate::args::{OutputFormat, Reading, one_of};
use crate::commands::{outcome, shown};
use crate::failure::Outcome;
use crate::human::{clean, counted, hertz, number};
use crate::render;
use crate::screen::{BAD, GOOD, HEAD, NAME, Out, STRONG, Screen, WARNING};

/// Explain why a board stopped
///
/// Lists what happened in the last seconds before the stop: pushback, footpads, wheelslip, duty, current and voltage
/// against their limits, the nose going down, and what ran out first. Then it gives the reason for the stop, how certain
/// it is, and the evidence for and against it. Works with recordings (.rfrec), conversions of them and logs of live values.
/// docs/refloat-explain.md documents every rule; -v prints the numbers behind each line.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat explain demo/demo_nosedive.rfrec
  logpose refloat explain demo/demo_nosedive.rfrec --seconds 1 -v
  logpose refloat explain demo/demo_nosedive.rfrec --json | jq .verdict
  logpose refloat explain demo/demo_nosedive.rfrec --max-duty 92% --low-voltage 60")]
pub(super) struct Explain {
    /// Recordings, conversions of them, or logs of live values; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Number of seconds before the stop to show
    #[arg(long, value_name = "N", default_value = "10", value_parser = parse_seconds)]
    seconds: f64,
    /// Maximum duty cycle of the motor controller, such as 0.95 or 95% [default: 95%]
    #[arg(long, value_name = "DUTY", value_parser = parse_share)]
    max_duty: Option<f64>,
    /// Duty cycle at which the board pushes back [default: from the recording, or 80%]
    #[arg(long, value_name = "DUTY", value_parser = parse_share)]
    pushback_duty: Option<f64>,
    /// Maximum motor current in amperes [default: from the recording]
    #[arg(long, value_name = "A", value_parser = parse_amount)]
    max_current: Option<f64>,
    /// Voltage below which the board pushes back [default: from the recording]
    #[arg(long, value_name = "V", value_parser = parse_amount)]
    low_voltage: Option<f64>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    reading: Reading,
}

impl Explain {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let mut worst = Outcome::Done;
        let (of, mut shown_before) = (self.files.len(), 0);
        if self.format.json() && of > 1 {
            screen.out.write_all(b"[\n")?;
        }
        for path in &self.files {
            let Some(log) = self.reading.open_one_of(path, of, screen, &mut worst)? else { continue };
            let explained = explain(&log, &self.options()).map_err(anyhow::Error::from);
            let Some(explanation) = one_of(explained, of, screen, &mut worst)? else { continue };
            if shown_before > 0 {
                screen.out.write_all(if self.format.json() { b",\n" } else { b"\n" })?;
            }
            shown_before += 1;
            if self.format.json() {
                screen.out.json(&render::explain::Explained::new(shown(&log.path), &explanation))?;
            } else {
                print(&log, &explanation, screen)?;
            }
            screen.out.flush()?;
            screen.notes.problems((of > 1).then_some(&*log.path), &log.path, &log.problems);
            worst = worst.max(outcome(&log.problems));
        }
        if self.format.json() && of > 1 {
            screen.out.write_all(b"]\n")?;
        }
        Ok(worst)
    }

    fn options(&self) -> Options {
        let limits = Limits {
            max_duty: self.max_duty,
            pushback_duty: self.pushback_duty,
            max_current: self.max_current,
            low_voltage: self.low_voltage,
        };
        Options { seconds: self.seconds, limits, ..Options::default() }
    }
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim_end_matches('s').trim();
    let seconds = seconds.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= LONGEST_S);
    seconds.ok_or_else(|| format!("expected a number of seconds up to {LONGEST_S:.0}"))
}

fn parse_amount(text: &str) -> Result<f64, String> {
    let amount = text.trim_end_matches(['A', 'V']).trim().parse().ok();
    amount
        .filter(|amount: &f64| *amount > 0.0 && amount.is_finite())
        .ok_or_else(|| "expected a number greater than 0".to_owned())
}

/// Parses `0.95`, `95%` or `95`.
fn parse_share(text: &str) -> Result<f64, String> {
    let plain = text.trim_end_matches('%').trim();
    let share: Option<f64> = plain.parse().ok();
    let share = share.map(|share| if text.ends_with('%') || share > 1.0 { share / 100.0 } else { share });
    share
        .filter(|share| *share > 0.0 && *share <= 1.0)
        .ok_or_else(|| "expected a duty cycle such as 0.95 or 95%".to_owned())
}

fn print(log: &Log, explanation: &Explanation, screen: &mut Screen) -> Result<()> {
    let Screen { out, notes } = screen;
    writeln!(out, "{}", out.paint(STRONG, clean(&shown(&log.path))))?;
    print_verdict(explanation, out)?;
    print_lines(&explanation.lines, notes.verbose, out)?;
    print_reasons(explanation, out)?;
    print_charts(&explanation.charts, out)?;
    if notes.verbose {
        print_limits(explanation, out)?;
    }
    Ok(())
}

fn print_verdict(explanation: &Explanation, out: &mut Out) -> Result<()> {
    let verdict = &explanation.verdict;
    let style = verdict_style(explanation);
    for line in wrapped(&verdict.summary, out.width.saturating_sub(2)) {
        writeln!(out, "  {}", out.paint(style, line))?;
    }
    let mut words = vec![verdict.certainty.name().to_owned()];
    words.extend(seen(explanation));
    if let [first, rest @ ..] = &*explanation.ran_out
        && verdict.cause.is_bad()
    {
        let then: String = rest.iter().map(|out| format!(", then {}", out.what.name())).collect();
        words.push(format!("{} ran out first{then}", first.what.name()));
    }
    Ok(writeln!(out, "  {}", out.paint(HEAD, words.join(" · ")))?)
}

/// The color of a conclusion.
pub(in crate::commands) fn verdict_style(explanation: &Explanation) -> anstyle::Style {
    use logpose::refloat::Cause;
    match explanation.verdict.cause {
        cause if cause.is_bad() => BAD,
        Cause::Unknown | Cause::PushbackHeeded => WARNING,
        _ => GOOD,
    }
}

fn seen(explanation: &Explanation) -> Option<String> {
    if explanation.stop.kind == StopKind::NeverRunning {
        return None;
    }
    let seconds = logpose::core::Time::from_nanos(explanation.seen.span_ns).seconds();
    let rate = explanation.seen.rate_hz.map_or(String::new(), |rate| format!(" at {} samples/s", hertz(rate)));
    Some(format!("{seconds:.1} s of the ride{rate}"))
}

fn print_lines(lines: &[Line], verbose: bool, out: &mut Out) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {}", out.paint(HEAD, "before the stop"))?;
    let shown = if verbose { lines.iter().collect() } else { most(lines) };
    let width = out.width.saturating_sub(WHEN + 4);
    for line in &shown {
        let style = match line.tone {
            Tone::Calm => anstyle::Style::new(),
            Tone::Notable => WARNING,
            Tone::Bad => BAD,
        };
        let seconds = logpose::core::Time::from_nanos(line.before_ns).seconds();
        let mut when = format!("{seconds:>7.2} s");
        for text in wrapped(&line.text, width) {
            writeln!(out, "  {when:WHEN$}  {}", out.paint(style, text))?;
            when.clear();
        }
        if verbose {
            print_evidence(line, width, out)?;
        }
    }
    let hidden = lines.len() - shown.len();
    if hidden > 0 {
        writeln!(out, "  {:WHEN$}  … and {}; -v shows all", "", counted(hidden as u64, "minor event"))?;
    }
    Ok(())
}

/// The most severe lines that fit on a screen, in time order.
fn most(lines: &[Line]) -> Vec<&Line> {
    let mut places: Vec<usize> = (0..lines.len()).collect();
    places.sort_by_key(|place| lines.get(*place).map(|line| (std::cmp::Reverse(line.tone), line.before_ns)));
    places.truncate(SHOWN);
    let last = lines.len() - 1;
    if !places.contains(&last) {
        places.pop();
        places.push(last);
    }
    places.sort_unstable();
    places.into_iter().filter_map(|place| lines.get(place)).collect()
}

fn print_evidence(line: &Line, width: usize, out: &mut Out) -> Result<()> {
    let evidence = line.evidence.iter().map(|evidence| {
        let unit = evidence.unit.map_or(String::new(), spaced);
        let from = match &evidence.origin {
            Origin::Sample { time, .. } => format!(" at {:.4} s", time.seconds()),
            Origin::Derived(_) => String::new(),
            Origin::Limit(by) => format!(" ({} limit)", by.name()),
            Origin::Threshold(_) => " (threshold)".to_owned(),
        };
        format!("{} {}{unit}{from}", evidence.name, number(evidence.value))
    });
    let text = format!("[{}] {}", line.rule.id(), evidence.collect::<Vec<_>>().join(", "));
    for text in wrapped(&text, width) {
        writeln!(out, "  {:WHEN$}  {}", "", out.paint(HEAD, text))?;
    }
    Ok(())
}

fn print_reasons(explanation: &Explanation, out: &mut Out) -> Result<()> {
    let verdict = &explanation.verdict;
    if !verdict.pro.is_empty() || !verdict.contra.is_empty() {
        writeln!(out)?;
    }
    for (label, reasons) in [("for it", &verdict.pro), ("against it", &verdict.contra)] {
        let mut label = label;
        for reason in reasons {
            for text in wrapped(reason, out.width.saturating_sub(LABEL + 2)) {
                writeln!(out, "  {}{text}", out.paint(HEAD, format!("{label:LABEL$}")))?;
                label = "";
            }
        }
    }
    Ok(())
}

fn print_charts(charts: &[Chart], out: &mut Out) -> Result<()> {
    if !charts.is_empty() {
        writeln!(out)?;
    }
    for chart in charts {
        let known = || chart.values.iter().flatten().copied();
        let (Some(first), Some(last)) = (known().next(), known().last()) else { continue };
        let decimals = usize::from(known().all(|x| x.abs() < 100.0) && chart.unit != "%" && chart.unit != "km/h");
        let label = out.paint(HEAD, format!("{:LABEL$}", chart.name));
        let unit = spaced(chart.unit);
        let line = out.paint(NAME, spark(chart));
        writeln!(out, "  {label}{line} {first:.decimals$} → {last:.decimals$}{unit}")?;
    }
    Ok(())
}

/// A unit as it follows a number: a degree sign without a space.
fn spaced(unit: &str) -> String {
    if unit == "°" { unit.to_owned() } else { format!(" {unit}") }
}

/// A sparkline of block characters.
fn spark(chart: &Chart) -> String {
    let known = || chart.values.iter().flatten().copied();
    let (min, max) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    // Small changes of a nearly constant value must not look large.
    let (min, max) = match chart.unit {
        "%" => (0.0, max.max(100.0)),
        "V" => (min.min(max * 0.8), max),
        "°" => (min.min(0.0), max.max(10.0)),
        _ => (min.min(0.0), max.max(min + 1.0)),
    };
    let block = |x: f64| {
        let share = (x - min) / (max - min).max(f64::MIN_POSITIVE);
        BLOCKS.iter().rfind(|(from, _)| share >= *from).map_or(' ', |(_, block)| *block)
    };
    chart.values.iter().map(|x| x.map_or(' ', block)).collect()
}

fn print_limits(explanation: &Explanation, out: &mut Out) -> Result<()> {
    let limits = &explanation.limits;
    let duty = |share: f64| format!("{:.0} %", share * 100.0);
    let mut words = vec![
        format!("duty up to {} ({})", duty(limits.max_duty.value), limits.max_duty.by.name()),
        format!("pushback from {} ({})", duty(limits.pushback_duty.value), limits.pushback_duty.by.name()),
    ];
    words.extend(limits.max_current.map(|limit| format!("current up to {:.0} A ({})", limit.value, limit.by.name())));
    words.extend(limits.low_voltage.map(|limit| format!("low voltage {:.1} V ({})", limit.value, limit.by.name())));
    Ok(writeln!(out, "\n  {}{}", out.paint(HEAD, format!("{:LABEL$}", "limits")), words.join(", "))?)
}

/// Wraps text between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Block characters from low to high.
const BLOCKS: [(f64, char); 8] = [
    (f64::NEG_INFINITY, '▁'),
    (0.125, '▂'),
    (0.25, '▃'),
    (0.375, '▄'),
    (0.5, '▅'),
    (0.625, '▆'),
    (0.75, '▇'),
    (0.875, '█'),
];
/// Width of the labels.
const LABEL: usize = 14;
/// Width of the time column.
const WHEN: usize = 9;
/// Maximum number of lines without -v.
const SHOWN: usize = 12;
/// Upper bound for --seconds: one day.
const LONGEST_S: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::{parse_amount, parse_seconds, parse_share, wrapped};

    #[test]
    fn duties_are_shares_or_percent() {
        let cases = [("0.95", 0.95), ("95%", 0.95), ("95", 0.95), ("1", 1.0), ("80 %", 0.8)];
        cases.iter().for_each(|(text, share)| assert_eq!(parse_share(text), Ok(*share), "{text}"));
        for text in ["", "%", "0", "-0.5", "101", "NaN", "inf", "much"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_and_seconds_are_above_nothing() {
        assert_eq!((parse_amount("60V"), parse_amount("120 A")), (Ok(60.0), Ok(120.0)));
        assert_eq!((parse_seconds("2.5"), parse_seconds("3s")), (Ok(2.5), Ok(3.0)));
        for text in ["", "0", "-1", "NaN", "inf", "soon"] {
            assert!(parse_amount(text).is_err() && parse_seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("unbreakable word", 4), ["unbreakable", "word"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
