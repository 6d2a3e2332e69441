//! Numbers as riders read them.

use super::ride::seconds;

/// `82 %`
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `0.42 s`
pub(super) fn time(ns: i64) -> String {
    let seconds = seconds(ns);
    if seconds.abs() < 9.995 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}

/// `4.8°`
pub(super) fn degrees(x: f64) -> String {
    if x.abs() < 9.95 { format!("{x:.1}°") } else { format!("{x:.0}°") }
}

/// `31 km/h`
pub(super) fn kmh(x: f64) -> String {
    format!("{x:.0} km/h")
}

/// `62 A`
pub(super) fn amperes(x: f64) -> String {
    format!("{x:.0} A")
}

/// `66.3 V`
pub(super) fn volts(x: f64) -> String {
    format!("{x:.1} V")
}
