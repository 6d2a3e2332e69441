/// A number for people, with six significant digits: `12.4653`, `123457`, `2.88889e-6`, `∞`.
///
/// Whole numbers below 10^15 keep all of their digits. The viewer's page follows the same rules, which are in
/// `fixtures/numbers.md` with their cases beside them. Files and `--json` have the full value instead.
#[must_use]
pub fn format_number(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return format!("{sign}∞");
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-5..1e15).contains(&size) {
        let text = format!("{:.*e}", DIGITS - 1, ties_up(size, DIGITS));
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{sign}{}e{exponent}", without_zeros(digits));
    }
    if size.fract() == 0.0 {
        return format!("{value}");
    }
    // Digits before the point. Below 0.1 it is negative: zeros behind the point are not significant.
    let exponent = format!("{size:e}").split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    let before: isize = exponent.unwrap_or(0_isize) + 1;
    let decimals = DIGITS.saturating_add_signed(-before);
    let kept = DIGITS.max(usize::try_from(before).unwrap_or(0));
    format!("{sign}{}", without_zeros(&format!("{:.decimals$}", ties_up(size, kept))))
}

/// A count for people, with commas between thousands: `1,234,567`.
#[must_use]
pub fn format_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

const DIGITS: usize = 6;

/// A float has at most 767 significant decimal digits.
const ALL_DIGITS: usize = 767;

/// Rust rounds a value half way between two texts to the even one. The next larger float has the text away from zero.
fn ties_up(size: f64, kept: usize) -> f64 {
    let digits = |count: usize| {
        let text = format!("{size:.count$e}");
        text.split('e').next().unwrap_or_default().trim_end_matches('0').to_owned()
    };
    let first = digits(kept);
    // A digit, the point, and one digit more than are kept.
    let half = first.len() == kept + 2 && first.ends_with('5');
    if half && digits(ALL_DIGITS) == first { size.next_up() } else { size }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}
