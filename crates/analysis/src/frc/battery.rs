use logpose_core::{Time, Type};

use super::series::spans;
use logpose_files::internal::NamedChannels;

/// The lowest voltage of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Battery {
    /// Its channel.
    pub channel: String,
    /// Volts.
    pub lowest: f64,
    /// When.
    pub at: Time,
}

/// When the robot controller said that it cut off outputs.
pub(super) fn brownouts(known: &NamedChannels<'_>) -> Vec<(Time, Time)> {
    let channels =
        known.log().index.channels.iter().filter(|c| c.channel.ty() == Type::Boolean && is_brownout(&c.channel.name));
    // Most log it when it changes.
    let end = known.log().robust_range().map_or(Time::MIN, |(_, last)| last);
    let mut all: Vec<_> = channels.flat_map(|c| spans(&known.booleans(&c.channel.name), end)).collect();
    all.sort_unstable();
    // Two channels with the same values.
    all.dedup_by(|later, earlier| {
        let overlap = later.0 <= earlier.1;
        if overlap {
            earlier.1 = earlier.1.max(later.1);
        }
        overlap
    });
    all
}

/// Whether a boolean of that name means that the robot controller cuts off outputs.
#[must_use]
pub fn is_brownout(name: &str) -> bool {
    matches!(
        last_segment(name),
        "BrownedOut" | "brownedOut" | "BrownOut" | "brownOut" | "brownout" | "isBrownedOut" | "BrownoutActive"
    )
}

/// The lowest voltage, and when it was below [`LOW_VOLTS`].
pub(super) fn battery(known: &NamedChannels<'_>) -> (Option<Battery>, Vec<(Time, Time)>) {
    let numbers = || {
        known
            .log()
            .index
            .channels
            .iter()
            .filter(|c| c.samples > 0 && matches!(c.channel.ty(), Type::Double | Type::Float))
            .map(|c| &*c.channel.name)
    };
    let best = numbers().filter_map(|name| Some((battery_rank(name)?, name))).min_by_key(|(rank, _)| *rank);
    let Some((_, name)) = best else { return (None, Vec::new()) };
    // A simulation without a battery, and a controller that has not measured yet, say 0.
    let volts: Vec<(Time, f64)> =
        known.numbers(name).into_iter().filter(|(_, volts)| *volts >= 1.0 && *volts < 20.0).collect();
    let Some((at, lowest)) = volts.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return (None, Vec::new());
    };
    let low: Vec<(Time, bool)> = volts.iter().map(|(time, volts)| (*time, *volts < LOW_VOLTS)).collect();
    let end = low.last().map_or(at, |(last, _)| *last);
    (Some(Battery { channel: name.to_owned(), lowest, at }), spans(&low, end))
}

/// How likely a channel of that name is to hold the battery's voltage; lower is likelier.
#[must_use]
pub fn battery_rank(name: &str) -> Option<usize> {
    let last = last_segment(name);
    match name {
        "/SystemStats/BatteryVoltage" | "SystemStats/BatteryVoltage" | "DS:batteryVoltage" | "/ds/battery" => Some(0),
        _ if last.eq_ignore_ascii_case("BatteryVoltage") || last.eq_ignore_ascii_case("Battery Voltage") => Some(1),
        _ if name.to_ascii_lowercase().contains("batteryvoltage") => Some(2),
        _ if last.eq_ignore_ascii_case("InputVoltage") || last.eq_ignore_ascii_case("BusVoltage") => Some(3),
        _ => None,
    }
}

fn last_segment(name: &str) -> &str {
    name.rsplit(['/', ':']).next().unwrap_or(name)
}

/// Below this the robot controller is about to cut off outputs (roboRIO 2: 6.75 V, roboRIO 1: 6.3 V).
pub const LOW_VOLTS: f64 = 6.8;
