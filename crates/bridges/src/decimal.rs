//! Decimal numbers in text, without a detour that rounds twice.

use logpose_core::Time;

/// A decimal number of some unit as a time, to the nanosecond.
pub(crate) fn moment(text: &[u8], places: u32) -> Option<Time> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let (whole, fraction) = match digits.iter().position(|byte| *byte == b'.') {
        Some(at) => (digits.get(..at)?, digits.get(at + 1..)?),
        None => (digits, &[][..]),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        // With an exponent it is a floating-point number.
        let number: f64 =
            str::from_utf8(text).ok().filter(|_| digits.first().is_some_and(u8::is_ascii_digit))?.parse().ok()?;
        return Time::from_seconds(number / 10_f64.powi(9 - i32::try_from(places).ok()?));
    }
    let zeros = std::iter::repeat(&b'0');
    let mut digits = whole.iter().chain(fraction.iter().chain(zeros).take(places as usize));
    let mut ns = digits.try_fold(0_i128, |ns, digit| ns.checked_mul(10)?.checked_add((digit - b'0').into()))?;
    // The first digit behind those that count rounds.
    ns += i128::from(fraction.get(places as usize).is_some_and(|digit| *digit >= b'5'));
    i64::try_from(if negative { -ns } else { ns }).ok().map(Time::from_nanos)
}

/// The number that a text is, moved by so many decimal places: `45` moved by -2 is the number nearest to 0.45.
pub(crate) fn number(text: &[u8], places: i32) -> Option<f64> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    // What else a parser takes for a number, `inf` and `nan`, is none here.
    if !digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return None;
    }
    let text = str::from_utf8(text).ok()?;
    let number: f64 = match places {
        0 => text.parse().ok()?,
        // An exponent of its own leaves no room for another.
        _ if text.contains(['e', 'E']) => text.parse::<f64>().ok()? * power_of_ten(places),
        _ => format!("{text}e{places}").parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// 10 to a power, the same on every system: for negative exponents the last bit of `powi` depends on the C library.
pub(crate) fn power_of_ten(exponent: i32) -> f64 {
    let power = 10_f64.powi(exponent.abs());
    if exponent < 0 { 1.0 / power } else { power }
}

/// Appends a number in the shortest form that reads back to the same.
pub(crate) fn push(number: f64, out: &mut Vec<u8>) {
    use std::io::Write as _;
    let small = number != 0.0 && number.abs() < 1e-4 || number.abs() >= 1e16;
    // Writing to memory fails in no way.
    let _ = if small { write!(out, "{number:e}") } else { write!(out, "{number}") };
}

#[cfg(test)]
mod tests {
    use super::{moment, number, push};

    #[test]
    fn times_are_exact() {
        for (text, places, ns) in [
            ("0.000", 9, Some(0)),
            ("-1.500001", 9, Some(-1_500_001_000)),
            ("9223372036.854775807", 9, Some(i64::MAX)),
            ("-9223372036.854775808", 9, Some(i64::MIN)),
            ("9223372036.854775808", 9, None),
            ("0.0000000005", 9, Some(1)),
            ("12", 6, Some(12_000_000)),
            ("12.5", 3, Some(12_500)),
            ("7.4", 0, Some(7)),
            ("1e-3", 9, Some(1_000_000)),
            ("1e3", 0, Some(1_000)),
            (".5", 9, Some(500_000_000)),
            ("", 9, None),
            (".", 9, None),
            ("-", 9, None),
            ("NaN", 9, None),
            ("2024-03-01T12:00:00Z", 9, None),
        ] {
            assert_eq!(moment(text.as_bytes(), places).map(logpose_core::Time::nanos), ns, "{text}");
        }
    }

    #[test]
    fn numbers_are_rounded_once() {
        for (text, places, value) in [
            ("45", -2, Some(0.45)),
            ("-12.5", -2, Some(-0.125)),
            ("1.1", 3, Some(1100.0)),
            ("1e2", -2, Some(1.0)),
            ("+7", 0, Some(7.0)),
            (".5", 0, Some(0.5)),
            ("1e999", 0, None),
            ("nan", 0, None),
            ("inf", 0, None),
            ("", 0, None),
            ("-", 0, None),
            ("5 V", 0, None),
        ] {
            assert_eq!(number(text.as_bytes(), places), value, "{text}");
        }
    }

    #[test]
    fn numbers_read_back_to_the_bit() {
        for (value, text) in [
            (1.0, "1"),
            (-0.0, "-0"),
            (0.099_975_585_937_5, "0.0999755859375"),
            (131_008.0, "131008"),
            (5.960_464_477_539_063e-8, "5.960464477539063e-8"),
        ] {
            let mut out = Vec::new();
            push(value, &mut out);
            assert_eq!(String::from_utf8(out.clone()).unwrap(), text);
            assert_eq!(number(&out, 0).map(f64::to_bits), Some(value.to_bits()));
        }
    }
}
