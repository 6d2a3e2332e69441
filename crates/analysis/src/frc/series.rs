use logpose_core::Time;
use logpose_files::SYSTEM_TIME;

/// Words in the names of channels that describe a match.
pub(super) const LIKELY: [&str; 20] = [
    "DS:",
    "DriverStation",
    "FMSInfo",
    SYSTEM_TIME,
    "Epoch",
    "attery",
    "Voltage",
    "rown",
    "Metadata",
    "/ds/control/",
    "/ds/status/",
    "/ds/faults/",
    "/ds/can/",
    "/ds/connected",
    "/ds/trip_time",
    "/ds/lost",
    "/ds/packet_loss",
    "/ds/errors",
    "/ds/match",
    "RobotMode",
];

/// The stretches in which a series is true; one that is still so at the end of the series goes on to `end`.
pub(super) fn spans(series: &[(Time, bool)], end: Time) -> Vec<(Time, Time)> {
    let mut spans = Vec::new();
    let mut open = None;
    for (time, on) in series {
        match (open, on) {
            (None, true) => open = Some(*time),
            (Some(start), false) => {
                spans.push((start, *time));
                open = None;
            }
            _ => {}
        }
    }
    spans.extend(open.map(|start| (start, end.max(start))));
    spans
}

/// When a series became `to`.
pub(super) fn edges(series: &[(Time, bool)], to: bool) -> Vec<Time> {
    let pairs = series.iter().zip(series.iter().skip(1));
    pairs.filter(|((_, before), (_, after))| *before != to && *after == to).map(|(_, (time, _))| *time).collect()
}
