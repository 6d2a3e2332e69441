//! What RLOG's messages mean as channels and samples.

use std::fmt;

use logpose_core::{Bindings, Fate, Layout, Misfit, Resolved, Time, Type, Value};

use crate::wire::{Hex, Kind, Revision};

/// The moment that a timestamp message means; `None` for NaN and beyond ±292 years.
///
/// AdvantageKit divides microseconds by 1e6, so a value that a whole microsecond gives is that microsecond,
/// exactly. PsiKit divides nanoseconds by 1e9: any other value is the nearest nanosecond.
#[must_use]
pub fn time_of(seconds: f64) -> Option<Time> {
    let us = (seconds * 1e6).round();
    if us.abs() < 9.2e15 && (us / 1e6).to_bits() == seconds.to_bits() {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the line above")]
        return Some(Time::from_micros(us as i64));
    }
    Time::from_seconds(seconds)
}

/// The seconds of a timestamp message: the same division as the writer that counts in these units makes.
#[must_use]
pub fn seconds_of(time: Time) -> f64 {
    let ns = time.nanos();
    #[expect(clippy::cast_precision_loss, reason = "RLOG has no better than binary64 seconds")]
    if ns % 1_000 == 0 { (ns / 1_000) as f64 / 1e6 } else { ns as f64 / 1e9 }
}

/// The id under which [`Bindings`] know an R1 key's values of one kind.
pub(crate) fn r1_id(key: u16, kind: u8) -> u32 {
    u32::from(key) << 4 | u32::from(kind & 0xf)
}

/// The key of an id in [`Bindings`].
pub(crate) fn key_of(revision: Revision, id: u32) -> u32 {
    match revision {
        Revision::R1 => id >> 4,
        Revision::R2 => id,
    }
}

/// What every slot is, and the channels.
///
/// A field that comes before the definition of its key stays unknown: writers define a key before they use it,
/// so the definition was lost, and a later one of the same id belongs to another run of the robot.
pub(crate) fn resolve(bindings: Bindings) -> Resolved {
    let mut resolved = bindings.resolve();
    for fate in &mut resolved.fates {
        if matches!(fate, Fate::Late(_)) {
            *fate = Fate::Unknown;
        }
    }
    resolved
}

/// Reads a field's value: `kind` decides in R1, the channel's type in R2.
#[inline]
pub(crate) fn value(revision: Revision, kind: u8, ty: Type, bytes: &[u8]) -> Result<Value<'_>, Misfit> {
    match revision {
        Revision::R2 => Value::parse(ty, bytes, Layout::Big),
        Revision::R1 => {
            let value = Kind::of(kind).and_then(|kind| kind.value(bytes));
            value.ok_or(Misfit::Size { ty, expected: ty.fixed_size().unwrap_or(0), found: bytes.len() })
        }
    }
}

/// A value for people: the whole of a short one, the beginning of a long one.
pub(crate) struct Show<'a>(pub(crate) Value<'a>);

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Boolean(b) => write!(f, "{b}"),
            Value::Int64(x) => write!(f, "{x}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Double(x) => write!(f, "{x:?}"),
            Value::String(text) => show_text(f, text),
            Value::Bytes(bytes) => write!(f, "{}", Hex(bytes)),
            Value::BooleanArray(bytes) => show_list(f, bytes.iter(), |f, b| write!(f, "{}", *b != 0)),
            Value::Int64Array(numbers) => show_list(f, numbers.iter(), |f, x| write!(f, "{x}")),
            Value::FloatArray(numbers) => show_list(f, numbers.iter(), |f, x| write!(f, "{x:?}")),
            Value::DoubleArray(numbers) => show_list(f, numbers.iter(), |f, x| write!(f, "{x:?}")),
            Value::StringArray(texts) => show_list(f, texts.iter(), show_text),
        }
    }
}

fn show_text(f: &mut fmt::Formatter<'_>, text: &[u8]) -> fmt::Result {
    const SHOWN: usize = 120;
    match text.get(..SHOWN) {
        Some(start) if text.len() > SHOWN => write!(f, "{:?}… {} bytes", String::from_utf8_lossy(start), text.len()),
        _ => write!(f, "{:?}", String::from_utf8_lossy(text)),
    }
}

fn show_list<T>(
    f: &mut fmt::Formatter<'_>,
    all: impl Iterator<Item = T>,
    show: impl Fn(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    const SHOWN: usize = 16;
    f.write_str("[")?;
    let mut count = 0;
    for item in all {
        if count < SHOWN {
            f.write_str(if count > 0 { ", " } else { "" })?;
            show(f, item)?;
        }
        count += 1;
    }
    if count > SHOWN {
        write!(f, ", … {count} in all")?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::{seconds_of, time_of};

    #[test]
    fn microseconds_come_back_exactly() {
        for us in (0..4_000_000_000_000_i64).step_by(7_777_777_777).chain([1, 999_999, 1_000_001, -5]) {
            let time = Time::from_micros(us);
            assert_eq!(time_of(us as f64 / 1e6), Some(time));
            assert_eq!(seconds_of(time).to_bits(), (us as f64 / 1e6).to_bits());
        }
    }

    #[test]
    fn nanoseconds_are_kept() {
        let s = 220.195_677_811;
        assert_eq!(time_of(s), Some(Time::from_nanos(220_195_677_811)));
        assert_eq!(seconds_of(Time::from_nanos(220_195_677_811)).to_bits(), f64::to_bits(s));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for s in [f64::NAN, f64::INFINITY, 1e300, -1e11] {
            assert_eq!(time_of(s), None);
        }
    }
}
