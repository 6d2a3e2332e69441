//! Numbers, durations and paths formatted for people.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

pub(crate) use logpose::core::{format_count as count, format_number as number};

/// Bytes with three significant digits: `87 B`, `37.1 kB`, `2.81 MB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = lossy(n) / 1000.0;
    let mut unit = 0;
    // 999.5 would be rounded to 1000.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = decimals_for(value);
    format!("{value:.decimals$} {}", UNITS.get(unit).copied().unwrap_or("EB"))
}

fn decimals_for(value: f64) -> usize {
    if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    }
}

/// A count and its noun: `1 channel`, `2 channels`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A duration: `820 ms`, `15.0 s`, `2 min 46 s`, `1 h 02 min`.
pub(crate) fn duration(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    let seconds = lossy(ns) / 1e9;
    if ns == 0 {
        "0 s".to_owned()
    } else if ns < 1_000_000 {
        format!("{sign}{:.3} ms", seconds * 1e3)
    } else if seconds < 0.9995 {
        format!("{sign}{:.0} ms", seconds * 1e3)
    } else if seconds < 119.95 {
        format!("{sign}{seconds:.1} s")
    } else {
        let whole = (ns + 500_000_000) / 1_000_000_000;
        if whole < 7200 {
            format!("{sign}{} min {:02} s", whole / 60, whole % 60)
        } else {
            format!("{sign}{} h {:02} min", whole / 3600, whole / 60 % 60)
        }
    }
}

/// A percentage: `12.3 %`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0.0 %".to_owned();
    }
    let percent = lossy(part) * 100.0 / lossy(whole);
    if part > 0 && percent < 0.05 { "<0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// Samples per second, from their count and the time between first and last; `None` if that is undefined.
pub(crate) fn rate(samples: u64, span_ns: i64) -> Option<f64> {
    (samples > 1 && span_ns > 0).then(|| lossy(samples - 1) * 1e9 / lossy(span_ns.unsigned_abs()))
}

/// A rate with three significant digits.
pub(crate) fn hertz(rate: f64) -> String {
    let decimals = decimals_for(rate);
    format!("{rate:.decimals$}")
}

/// Log seconds with six decimals, or nine where the time needs them.
pub(crate) fn push_time(ns: i64, out: &mut String) {
    let magnitude = ns.unsigned_abs();
    let (whole, rest) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
    if ns < 0 {
        out.push('-');
    }
    // Writing to a String cannot fail.
    let _ = if rest.is_multiple_of(1000) {
        write!(out, "{whole}.{:06}", rest / 1000)
    } else {
        write!(out, "{whole}.{rest:09}")
    };
}

/// Log seconds, as [`push_time`] writes them.
pub(crate) fn time(ns: i64) -> String {
    let mut text = String::new();
    push_time(ns, &mut text);
    text
}

/// Log seconds with three decimals, for overviews.
pub(crate) fn about_time(ns: i64) -> String {
    format!("{:.3}", logpose::core::Time::from_nanos(ns).seconds())
}

/// Text from a log with control characters escaped: they would let a log move the cursor or ring the bell.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_control() {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// A path quoted for a shell.
pub(crate) fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "._/-+:=@%,~".contains(c);
    if text.chars().all(plain) && !text.is_empty() {
        text
    } else {
        format!("'{}'", clean(&text).replace('\'', "'\\''"))
    }
}

/// `text` cut to `width` characters, ending in an ellipsis if it was longer.
pub(crate) fn clip(text: &str, width: usize) -> Cow<'_, str> {
    if text.chars().count() <= width {
        return Cow::Borrowed(text);
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    Cow::Owned(short)
}

/// For display only.
#[expect(clippy::cast_precision_loss, reason = "beyond 2^53 the last digits are not shown anyway")]
pub(crate) fn lossy(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::{bytes, clean, clip, count, duration, rate, share, time, typed};

    #[test]
    fn bytes_have_three_digits() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (37_081, "37.1 kB"),
            (999_999, "1.00 MB"),
            (50_000_000, "50.0 MB"),
            (u64::MAX, "18.4 EB"),
        ];
        cases.iter().for_each(|(n, text)| assert_eq!(bytes(*n), *text));
    }

    #[test]
    fn counts_have_commas() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        cases.iter().for_each(|(n, text)| assert_eq!(count(*n), *text));
    }

    #[test]
    fn durations_grow_units() {
        let cases = [
            (0, "0 s"),
            (1_500, "0.002 ms"),
            (820_000_000, "820 ms"),
            (999_900_000, "1.0 s"),
            (15_000_000_000, "15.0 s"),
            (166_600_000_000, "2 min 47 s"),
            (3_720_000_000_000, "62 min 00 s"),
            (7_320_000_000_000, "2 h 02 min"),
            (-1_000_000_000, "-1.0 s"),
        ];
        cases.iter().for_each(|(ns, text)| assert_eq!(duration(*ns), *text));
    }

    #[test]
    fn times_show_microseconds_or_all() {
        let cases =
            [(0, "0.000000"), (1_500_000_000, "1.500000"), (-1, "-0.000000001"), (i64::MIN, "-9223372036.854775808")];
        cases.iter().for_each(|(ns, text)| assert_eq!(time(*ns), *text));
    }

    #[test]
    fn shares_and_rates_survive_zero() {
        assert_eq!((share(0, 0), share(1, 100_000), share(1, 8)), ("0.0 %".into(), "<0.1 %".into(), "12.5 %".into()));
        assert_eq!((rate(1, 5), rate(2, 0), rate(51, 1_000_000_000)), (None, None, Some(50.0)));
    }

    #[test]
    fn paths_can_be_typed_again() {
        let cases = [
            ("a/match-1.wpilog", "a/match-1.wpilog"),
            ("my log.rlog", "'my log.rlog'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ];
        cases.iter().for_each(|(path, text)| assert_eq!(typed(path.as_ref()), *text));
    }

    #[test]
    fn logs_cannot_write_escape_sequences() {
        assert_eq!(clean("a\x1b[2Jb\n"), "a\\u{1b}[2Jb\\n");
        assert_eq!(clean("grün"), "grün");
        assert_eq!((&*clip("grün", 4), &*clip("grüner", 4)), ("grün", "grü…"));
    }
}
