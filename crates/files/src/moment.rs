use std::str::FromStr;

use jiff::Timestamp;
use logpose_core::Time;

use crate::modes::Mode;
use crate::{Error, Log};

/// A moment in a log, in words that fit any log.
///
/// | written | means |
/// | --- | --- |
/// | `12.5`, `12.5s` | 12.5 seconds on the log's clock |
/// | `+12.5s` | 12.5 seconds after the log's start |
/// | `-10s` | 10 seconds before the log's end |
/// | `2026-03-21T14:22:33Z` | wall-clock time, for logs that have it |
/// | `auto`, `teleop`, `test`, `enabled` | as a start: when that mode first begins; as an end: when it last ends |
/// | `auto+3s` | 3 seconds after that mode first begins |
/// | `teleop-1s` | 1 second before that mode last ends |
///
/// So a mode is to its offsets what the log is to `+12.5s` and `-10s`, and `auto+3s..teleop` is all from 3
/// seconds into the autonomous period to the end of the driven one. Seconds may be written `s`, `ms`, `us`,
/// `min` or without a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Moment {
    /// On the log's own clock.
    At(Time),
    /// So many nanoseconds after the start.
    AfterStart(i64),
    /// So many nanoseconds before the end.
    BeforeEnd(i64),
    /// Unix nanoseconds.
    Wall(i64),
    /// A mode's start or end, whichever the bound is.
    Mode(Period),
    /// So many nanoseconds after a mode first begins.
    AfterModeStart(Period, i64),
    /// So many nanoseconds before a mode last ends.
    BeforeModeEnd(Period, i64),
}

/// What a mode's name in a moment stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Period {
    /// One mode.
    Only(Mode),
    /// Any in which the robot may move.
    Enabled,
}

impl Moment {
    /// A range such as `auto+3s..teleop`, `10..20`, `..-10s` or `+5s..`.
    pub fn parse_range(text: &str) -> Result<(Option<Self>, Option<Self>), Error> {
        let Some((start, end)) = text.split_once("..") else {
            return Err(Error::usage(format!("invalid time range {text:?}"))
                .with_help("expected START..END, such as auto+3s..teleop or 10..20"));
        };
        let parse = |text: &str| if text.trim().is_empty() { Ok(None) } else { text.parse().map(Some) };
        Ok((parse(start)?, parse(end)?))
    }

    /// The first time that is meant, as a start.
    pub fn as_start(&self, log: &Log) -> Result<Time, Error> {
        match self {
            Self::Mode(period) => Ok(period.span(log)?.0),
            _ => self.resolve(log),
        }
    }

    /// The last time that is meant, as an end.
    pub fn as_end(&self, log: &Log) -> Result<Time, Error> {
        match self {
            Self::Mode(period) => Ok(period.span(log)?.1),
            _ => self.resolve(log),
        }
    }

    /// The time that is meant on a clock that runs from the first to the second time of `range` and whose zero is at
    /// `epoch_ns`, in Unix nanoseconds. Modes are not known there.
    pub fn on_clock(&self, range: impl FnOnce() -> (Time, Time), epoch_ns: Option<i64>) -> Result<Time, Error> {
        let use_seconds = "use log seconds (12.5), time after the start (+12.5s) or before the end (-10s)";
        match *self {
            Self::At(time) => Ok(time),
            Self::AfterStart(ns) => Ok(range().0.plus(ns)),
            Self::BeforeEnd(ns) => Ok(range().1.plus(ns.saturating_neg())),
            Self::Wall(unix) => match epoch_ns {
                Some(epoch) => Ok(Time::from_nanos(unix.saturating_sub(epoch))),
                None => Err(Error::usage("the log does not contain the wall-clock time").with_help(use_seconds)),
            },
            Self::Mode(period) | Self::AfterModeStart(period, _) | Self::BeforeModeEnd(period, _) => {
                let message = format!("{:?} is a mode of FRC robots, and this log has none", period.name());
                Err(Error::usage(message).with_help(use_seconds))
            }
        }
    }

    fn resolve(&self, log: &Log) -> Result<Time, Error> {
        match *self {
            Self::Mode(period) => Ok(period.span(log)?.0),
            Self::AfterModeStart(period, ns) => Ok(period.span(log)?.0.plus(ns)),
            Self::BeforeModeEnd(period, ns) => Ok(period.span(log)?.1.plus(ns.saturating_neg())),
            _ => {
                let range = || log.robust_range().unwrap_or((Time::ZERO, Time::ZERO));
                self.on_clock(range, log.epoch_ns()).map_err(|error| error.in_file(&log.path))
            }
        }
    }
}

/// Reads one of the forms in the table above.
impl FromStr for Moment {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let bad = || Error::usage(format!("invalid time {text:?}")).with_help(HELP);
        if let Some(rest) = text.strip_prefix('+') {
            return nanos(rest).map(Self::AfterStart).ok_or_else(bad);
        }
        if let Some(rest) = text.strip_prefix('-') {
            // A bare negative number is a time of the clock: such times occur.
            let ns = nanos(rest).ok_or_else(bad)?;
            let bare = rest.ends_with(|c: char| c.is_ascii_digit() || c == '.');
            return Ok(if bare { Self::At(Time::from_nanos(ns.saturating_neg())) } else { Self::BeforeEnd(ns) });
        }
        if let Some(ns) = nanos(text) {
            return Ok(Self::At(Time::from_nanos(ns)));
        }
        if let Ok(wall) = text.parse::<Timestamp>() {
            return i64::try_from(wall.as_nanosecond()).map(Self::Wall).map_err(|_| bad());
        }
        let split = text.find(['+', '-']).unwrap_or(text.len());
        let (name, offset) = text.split_at_checked(split).ok_or_else(bad)?;
        let period = Period::from_name(name.trim()).ok_or_else(bad)?;
        match offset.split_at_checked(1) {
            None => Ok(Self::Mode(period)),
            Some(("+", rest)) => nanos(rest).map(|ns| Self::AfterModeStart(period, ns)).ok_or_else(bad),
            Some((_, rest)) => nanos(rest).map(|ns| Self::BeforeModeEnd(period, ns)).ok_or_else(bad),
        }
    }
}

impl Period {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "auto" | "autonomous" => Self::Only(Mode::Auto),
            "teleop" => Self::Only(Mode::Teleop),
            "test" => Self::Only(Mode::Test),
            "disabled" => Self::Only(Mode::Disabled),
            "enabled" => Self::Enabled,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Only(mode) => mode.name(),
            Self::Enabled => "enabled",
        }
    }

    /// From where the period first begins to where it last ends.
    fn span(self, log: &Log) -> Result<(Time, Time), Error> {
        let modes = log.modes();
        let fits = |mode: Mode| match self {
            Self::Only(only) => mode == only,
            Self::Enabled => mode.is_enabled(),
        };
        let mut spans = modes.iter().filter(|span| fits(span.mode));
        let error = || {
            let error =
                Error::usage(format!("the robot was never in the mode {:?} here", self.name())).in_file(&log.path);
            let seen: Vec<_> =
                modes.iter().map(|span| format!("{} {}–{} s", span.mode.name(), span.start, span.end)).collect();
            match seen.is_empty() {
                true => error.with_help("the log has no Driver Station modes; use seconds (12.5, +12.5s, -10s)"),
                false => error.with_help(format!("its modes are: {}", seen.join(", "))),
            }
        };
        let first = spans.next().ok_or_else(error)?;
        Ok((first.start, spans.next_back().unwrap_or(first).end))
    }
}

/// Nanoseconds from `12.5`, `12.5s`, `20ms`, `5us`, `100ns`, `2min`, `20m`, `1h`, exactly; no sign.
pub fn nanos(text: &str) -> Option<i64> {
    let units = [
        ("min", 60_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("µs", 1_000),
        ("ns", 1),
        ("s", 1_000_000_000_i64),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let (number, unit) =
        units.iter().find_map(|(name, ns)| Some((text.strip_suffix(name)?, *ns))).unwrap_or((text, 1_000_000_000));
    let (whole, part) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && part.is_empty()) || !digits(whole) || !digits(part) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.checked_mul(unit)? };
    let mut place = unit;
    let part = part.bytes().fold(0, |sum, digit| {
        place /= 10;
        sum + i64::from(digit - b'0') * place
    });
    whole.checked_add(part)
}

/// Nanoseconds from a length of time such as `20ms` or `0.5`.
pub fn parse_duration(text: &str) -> Result<i64, Error> {
    let help = "expected seconds or a unit, such as 0.02, 20ms, 5us, 2m or 1h";
    nanos(text.trim()).ok_or_else(|| Error::usage(format!("invalid duration {text:?}")).with_help(help))
}

const HELP: &str = "expected 12.5 (log seconds), +12.5s (after the start), -10s (before the end), 2026-03-21T14:22:33Z, auto, teleop, enabled, auto+3s or teleop-1s";

#[cfg(test)]
mod tests {
    use super::{Moment, Period, nanos};
    use crate::modes::Mode;
    use logpose_core::Time;

    #[test]
    fn every_form_reads() {
        let auto = Period::Only(Mode::Auto);
        let cases = [
            ("12.5", Moment::At(Time::from_millis(12_500))),
            ("-3.25", Moment::At(Time::from_millis(-3_250))),
            ("12.5s", Moment::At(Time::from_millis(12_500))),
            ("+12.5s", Moment::AfterStart(12_500_000_000)),
            ("-10s", Moment::BeforeEnd(10_000_000_000)),
            ("1970-01-01T00:00:01Z", Moment::Wall(1_000_000_000)),
            ("auto", Moment::Mode(auto)),
            ("auto+3s", Moment::AfterModeStart(auto, 3_000_000_000)),
            ("teleop-1.5", Moment::BeforeModeEnd(Period::Only(Mode::Teleop), 1_500_000_000)),
            ("Enabled", Moment::Mode(Period::Enabled)),
        ];
        for (text, moment) in cases {
            assert_eq!(text.parse::<Moment>().unwrap(), moment, "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_help() {
        for text in ["", "+", "-", "abc", "1.2.3", "auto+", "auto+x", "12,5", "--5s", "1e3"] {
            let error = text.parse::<Moment>().unwrap_err();
            assert!(error.help.is_some(), "{text}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(nanos("0.1"), Some(100_000_000));
        assert_eq!(nanos("1.000000001s"), Some(1_000_000_001));
        assert_eq!(nanos("20ms"), Some(20_000_000));
        assert_eq!(nanos("1.5min"), Some(90_000_000_000));
        assert_eq!((nanos("1.5m"), nanos("0.025h")), (Some(90_000_000_000), Some(90_000_000_000)));
        assert_eq!(nanos("99999999999999999999"), None);
    }

    #[test]
    fn ranges_have_two_optional_ends() {
        let (start, end) = Moment::parse_range("auto+3s..teleop").unwrap();
        assert!(start.is_some() && end.is_some());
        assert_eq!(Moment::parse_range("..-10s").unwrap().0, None);
        assert!(Moment::parse_range("12").is_err());
    }
}
