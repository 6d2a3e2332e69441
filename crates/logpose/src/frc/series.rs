use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Columns, Time, Value};

use super::SYSTEM_TIME;
use crate::Log;
use crate::parts::in_time_order;

/// The channels of a log by name, to read a few of them.
pub(super) struct Known<'a> {
    log: &'a Log,
    by_name: HashMap<&'a str, ChannelId>,
    /// The columns of channels that will probably be asked for, where reading one alone costs a walk over the log.
    read: Columns,
    place: HashMap<ChannelId, usize>,
}

impl<'a> Known<'a> {
    pub(super) fn new(log: &'a Log) -> Self {
        let full = (0..).zip(&log.index.channels).filter(|(_, c)| c.samples > 0);
        let by_name: HashMap<&str, ChannelId> = full.map(|(id, c)| (&*c.channel.name, id)).collect();
        let mut likely = Vec::new();
        if !log.index.placed {
            let found = |name: &str| LIKELY.iter().any(|word| name.contains(word));
            likely.extend(by_name.iter().filter(|(name, _)| found(name)).map(|(_, id)| *id));
        }
        let read = log.columns(&likely).unwrap_or_default();
        let place = likely.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
        Self { log, by_name, read, place }
    }

    pub(super) fn log(&self) -> &'a Log {
        self.log
    }

    /// All channels that have samples.
    pub(super) fn channels(&self) -> impl Iterator<Item = &'a Channel> {
        self.log.index.channels.iter().filter(|c| c.samples > 0).map(|c| &c.channel)
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.channels().map(|channel| &*channel.name)
    }

    /// Reads a channel in the order of time; nothing if there is none.
    pub(super) fn read(&self, name: &str, mut each: impl FnMut(Time, &Value<'_>)) {
        let Some(id) = self.by_name.get(name) else { return };
        let fresh;
        let (columns, some) = match self.place.get(id) {
            Some(place) => (&self.read, self.read.columns.get(*place..=*place).unwrap_or_default()),
            None => {
                fresh = self.log.columns(&[*id]).unwrap_or_default();
                (&fresh, &*fresh.columns)
            }
        };
        for column in some {
            in_time_order(columns, column, &mut each);
        }
    }

    pub(super) fn booleans(&self, name: &str) -> Vec<(Time, bool)> {
        let mut found = Vec::new();
        self.read(name, |time, value| {
            if let Value::Boolean(b) = value {
                found.push((time, *b));
            }
        });
        found
    }

    pub(super) fn integers(&self, name: &str) -> Vec<(Time, i64)> {
        let mut found = Vec::new();
        self.read(name, |time, value| found.extend(integer(value).map(|x| (time, x))));
        found
    }

    pub(super) fn numbers(&self, name: &str) -> Vec<(Time, f64)> {
        let mut found = Vec::new();
        self.read(name, |time, value| match value {
            Value::Double(x) => found.push((time, *x)),
            Value::Float(x) => found.push((time, f64::from(*x))),
            _ => {}
        });
        found
    }

    /// Reads a channel of JSON texts; what is none is left out.
    pub(super) fn json(&self, name: &str, mut each: impl FnMut(Time, &serde_json::Value)) {
        self.read(name, |time, value| {
            if let Value::String(text) = value
                && let Ok(json) = serde_json::from_slice(text)
            {
                each(time, &json);
            }
        });
    }

    /// Whether any value of a channel is such.
    pub(super) fn any(&self, name: &str, mut such: impl FnMut(&Value<'_>) -> bool) -> bool {
        let mut found = false;
        self.read(name, |_, value| found |= such(value));
        found
    }

    /// The last text that is not empty.
    pub(super) fn last_text(&self, name: &str) -> Option<String> {
        let mut found = None;
        self.read(name, |_, value| {
            if let Value::String(text) = value
                && !text.is_empty()
            {
                found = Some(String::from_utf8_lossy(text).into_owned());
            }
        });
        found
    }

    /// The last number that is not zero.
    pub(super) fn last_integer(&self, name: &str) -> Option<i64> {
        self.integers(name).into_iter().rev().map(|(_, x)| x).find(|x| *x != 0)
    }
}

/// A whole number, also one that was sent as a double.
pub(super) fn integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Int64(x) => Some(*x),
        // NetworkTables before 2023 knew only doubles; control words and match numbers are small.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the same line")]
        Value::Double(x) if x.abs() < 9e15 => Some(*x as i64),
        _ => None,
    }
}

/// Words in the names of channels that tell about a match.
const LIKELY: [&str; 19] = [
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

/// The middle value.
pub(super) fn median(mut values: Vec<i64>) -> Option<i64> {
    let middle = values.len() / 2;
    values.sort_unstable();
    values.get(middle).copied()
}
