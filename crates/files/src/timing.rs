//! When things happened: the wall-clock time of a log, and the robot's modes.

use crate::modes::{self, ModeSpan};
use crate::named::NamedChannels;

/// What `-S auto`, dates and merging by the wall clock need to know of a log.
pub(crate) struct Timing {
    /// What to add to a time of the log to get Unix nanoseconds.
    pub(crate) epoch_ns: Option<i64>,
    /// The driver station's modes, one after the other.
    pub(crate) modes: Vec<ModeSpan>,
}

impl Timing {
    pub(crate) fn of(known: &NamedChannels<'_>) -> Self {
        Self { epoch_ns: epoch(known), modes: modes::modes(known) }
    }
}

fn epoch(known: &NamedChannels<'_>) -> Option<i64> {
    let log = known.log();
    if let Some(epoch) = log.index.fact("epoch_ns").and_then(|text| text.parse().ok()) {
        return Some(epoch);
    }
    for name in [
        SYSTEM_TIME,
        "/SystemStats/EpochTimeMicros",
        "SystemStats/EpochTimeMicros",
        "NT:/AdvantageKit/SystemStats/EpochTimeMicros",
    ] {
        let offsets = known.integers(name).into_iter().filter(|(_, us)| *us > YEAR_2000_US);
        let offsets: Vec<i64> =
            offsets.map(|(time, us)| us.saturating_mul(1000).saturating_sub(time.nanos())).collect();
        if let Some(offset) = median(offsets) {
            return Some(offset);
        }
    }
    // A desktop program has no robot clock: its times are the wall clock's.
    let (first, _) = log.robust_range()?;
    (first.nanos() / 1000 > YEAR_2000_US).then_some(0)
}

/// The middle value.
fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len() / 2;
    values.sort_unstable();
    values.get(middle).copied()
}

/// Words in the names of the channels that are read here.
pub(crate) const LIKELY: [&str; 11] = [
    "DS:enabled",
    "DS:autonomous",
    "DS:test",
    "DS:estop",
    "DS:controlWord",
    "DriverStation/",
    "FMSInfo/",
    "/ds/control/",
    SYSTEM_TIME,
    "EpochTimeMicros",
    "RobotMode",
];
/// The channel of WPILOG with the wall-clock time: an `int64` with the microseconds since 1970 at its own time.
pub const SYSTEM_TIME: &str = "systemTime";
/// The metadata of [`SYSTEM_TIME`] where logpose has written it.
pub const SYSTEM_TIME_METADATA: &str = r#"{"source":"logpose","format":"time_t_us"}"#;

const YEAR_2000_US: i64 = 946_684_800_000_000;
