//! Numbers, columns and dates as C++ streams write them in the C locale.

use std::fmt::{self, Write as _};
use std::io;

use logpose_core::civil;

/// A number as `%g` writes it: six digits, without zeros at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct General(pub(crate) f64);

/// A number with so many digits behind the point, as `%.0f` and its like: half goes to the even neighbour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed(pub(crate) f64, pub(crate) usize);

/// Three numbers as `(x, y, z)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triple(pub(crate) [f64; 3]);

/// A date as `%x %X` writes it: seconds since 1970 UTC, and how many seconds the zone is ahead of UTC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Date(pub(crate) i64, pub(crate) i32);

/// What is written for what is no finite number; the sign of a NaN shows.
fn odd(x: f64) -> &'static str {
    match (x.is_nan(), x.is_sign_negative()) {
        (true, false) => "nan",
        (true, true) => "-nan",
        (false, false) => "inf",
        (false, true) => "-inf",
    }
}

/// A short text on the stack: numbers are written by the million.
struct Short {
    bytes: [u8; 24],
    len: usize,
}

impl Short {
    fn new() -> Self {
        Self { bytes: [0; 24], len: 0 }
    }

    fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let end = self.len + s.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl fmt::Display for General {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.0;
        if !x.is_finite() {
            return f.write_str(odd(x));
        }
        if x.is_sign_negative() {
            f.write_char('-')?;
        }
        let x = x.abs();
        if x < 1e6 && x.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 0 to a million")]
            return fmt::Display::fmt(&(x as u32), f);
        }
        // One digit, the point, five digits, `e` and the exponent: rounded as `%g` does.
        let mut parts = Short::new();
        write!(parts, "{x:.5e}")?;
        let (mantissa, exponent) = parts.as_str().split_once('e').ok_or(fmt::Error)?;
        let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
        let (first, rest) = mantissa.split_at_checked(1).ok_or(fmt::Error)?;
        let rest = rest.get(1..).unwrap_or_default().trim_end_matches('0');
        if !(-4..6).contains(&exponent) {
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { '-' } else { '+' };
            return write!(f, "{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs());
        }
        let Ok(whole) = usize::try_from(exponent) else {
            f.write_str("0.")?;
            (1..exponent.unsigned_abs()).try_for_each(|_| f.write_char('0'))?;
            f.write_str(first)?;
            return f.write_str(rest);
        };
        f.write_str(first)?;
        match rest.split_at_checked(whole) {
            Some((digits, "")) => f.write_str(digits),
            Some((digits, fraction)) => write!(f, "{digits}.{fraction}"),
            None => write!(f, "{rest:0<whole$}"),
        }
    }
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(x, digits) = *self;
        let width = f.width().unwrap_or(0);
        if x.is_finite() { write!(f, "{x:>width$.digits$}") } else { write!(f, "{:>width$}", odd(x)) }
    }
}

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({}, {}, {})", General(x), General(y), General(z))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.0.saturating_add(self.1.into());
        let ((year, month, day), [hour, minute, second]) = (day(local), clock(local));
        write!(f, "{month:02}/{day:02}/{:02} {hour:02}:{minute:02}:{second:02}", year.rem_euclid(100))
    }
}

/// A time of a header as `2019-04-09 09:59:59`, in UTC.
#[must_use]
pub fn date(seconds: i64) -> String {
    let ((year, month, day), [hour, minute, second]) = (day(seconds), clock(seconds));
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Hour, minute and second of a time in seconds since 1970-01-01.
fn clock(seconds: i64) -> [i64; 3] {
    let second = seconds.rem_euclid(86400);
    [second / 3600, second / 60 % 60, second % 60]
}

/// Year, month and day of a time in seconds since 1970-01-01.
pub(crate) fn day(seconds: i64) -> (i64, i64, i64) {
    civil(seconds.div_euclid(86400))
}

/// Writes bytes with blanks behind them up to `width` bytes.
pub(crate) fn left(out: &mut dyn io::Write, text: &[u8], width: usize) -> io::Result<()> {
    out.write_all(text)?;
    write!(out, "{:1$}", "", width.saturating_sub(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_is_percent_g() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-260.0, "-260"),
            (0.05000000074505806, "0.05"),
            (382.0010070800781, "382.001"),
            (123456.0, "123456"),
            (999999.0, "999999"),
            (999999.4, "999999"),
            (999999.6, "1e+06"),
            (1e6, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (120000.5, "120000"),
            (120001.5, "120002"),
            (100000.25, "100000"),
            (0.0001, "0.0001"),
            (0.00012345678, "0.000123457"),
            (0.00001, "1e-05"),
            (0.0000999999999, "0.0001"),
            (1e300, "1e+300"),
            (-2.5e-7, "-2.5e-07"),
            (f64::MIN_POSITIVE, "2.22507e-308"),
            (10.5, "10.5"),
            (100.0000001, "100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN.copysign(1.0), "nan"),
            (f64::NAN.copysign(-1.0), "-nan"),
        ] {
            assert_eq!(General(x).to_string(), text);
        }
    }

    #[test]
    fn fixed_goes_to_the_even_neighbour() {
        for (x, text) in
            [(0.5, "       0"), (1.5, "       2"), (2.5, "       2"), (-0.4, "      -0"), (f64::INFINITY, "     inf")]
        {
            assert_eq!(format!("{:>8}", Fixed(x, 0)), text);
        }
        assert_eq!(Fixed(-52.553_875, 6).to_string(), "-52.553875");
    }

    #[test]
    fn dates() {
        for (date, offset, text) in [
            (0, 0, "01/01/70 00:00:00"),
            (1_554_803_999, 0, "04/09/19 09:59:59"),
            (1_554_803_999, 7200, "04/09/19 11:59:59"),
            (951_782_400, 0, "02/29/00 00:00:00"),
            (951_868_800, -1, "02/29/00 23:59:59"),
            (-1, 0, "12/31/69 23:59:59"),
            (4_107_542_400, 0, "03/01/00 00:00:00"),
        ] {
            assert_eq!(Date(date, offset).to_string(), text);
        }
        // What no calendar has a page for is still no reason to stop.
        for date in [i64::MIN, i64::MAX] {
            assert_eq!(Date(date, i32::MAX).to_string().len(), 17);
        }
    }
}
