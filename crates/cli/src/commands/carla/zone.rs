//! Time zones for dates.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

/// A time zone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Zone {
    /// A fixed offset in seconds east of UTC.
    Ahead(i32),
    /// The time zone of this computer.
    Local,
}

impl Zone {
    /// The offset from UTC in seconds at a date given in seconds since 1970.
    pub(super) fn offset(self, date: i64) -> i32 {
        match (self, Timestamp::from_second(date)) {
            (Self::Ahead(seconds), _) => seconds,
            (Self::Local, Ok(date)) => TimeZone::system().to_offset(date).seconds(),
            (Self::Local, Err(_)) => 0,
        }
    }

    /// A date in seconds since 1970 as RFC 3339; `None` if out of range.
    pub(super) fn date(self, date: i64) -> Option<String> {
        let time = Timestamp::from_second(date).ok()?;
        Some(match self.offset(date) {
            0 => time.to_string(),
            seconds => time.display_with_offset(Offset::from_seconds(seconds).ok()?).to_string(),
        })
    }
}

/// Parses `UTC`, `local`, `+02:00`, `-0530` or `+2`.
pub(super) fn parse(text: &str) -> Result<Zone, String> {
    let bad = || "expected a time zone such as UTC, +02:00 or local".to_owned();
    match text.to_ascii_lowercase().as_str() {
        "utc" | "z" => return Ok(Zone::Ahead(0)),
        "local" => return Ok(Zone::Local),
        _ => {}
    }
    let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return Err(bad()),
    };
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None if rest.len() == 4 => rest.split_at_checked(2).ok_or_else(bad)?,
        None => (rest, "0"),
    };
    let part = |text: &str, most: i32| {
        let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| digits && *number <= most)
    };
    let (hours, minutes): (i32, i32) = part(hours, 23).zip(part(minutes, 59)).ok_or_else(bad)?;
    Ok(Zone::Ahead(sign * (hours * 3600 + minutes * 60)))
}

#[cfg(test)]
mod tests {
    use super::{Zone, parse};

    #[test]
    fn zones_are_offsets() {
        let cases = [("UTC", 0), ("z", 0), ("+02:00", 7200), ("-05:30", -19_800), ("+0545", 20_700), ("-8", -28_800)];
        cases.iter().for_each(|(text, ahead)| assert_eq!(parse(text), Ok(Zone::Ahead(*ahead)), "{text}"));
        assert_eq!(parse("local"), Ok(Zone::Local));
        for text in ["", "+", "2", "+24:00", "+1:60", "+02:0a", "+1:2:3", "CET"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_have_their_zone() {
        assert_eq!(Zone::Ahead(0).date(1_554_803_999).as_deref(), Some("2019-04-09T09:59:59Z"));
        assert_eq!(Zone::Ahead(7200).date(1_554_803_999).as_deref(), Some("2019-04-09T11:59:59+02:00"));
        assert_eq!((Zone::Local.date(i64::MAX), Zone::Local.offset(i64::MAX)), (None, 0));
    }
}
