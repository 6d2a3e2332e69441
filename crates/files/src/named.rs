use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Columns, Time, Value};

use crate::Log;
use crate::parts::in_time_order;

/// The channels of a log by name, to read a few of them.
pub struct NamedChannels<'a> {
    log: &'a Log,
    by_name: HashMap<&'a str, ChannelId>,
    /// The columns of channels that will probably be asked for, where reading one alone costs a walk over the log.
    read: Columns,
    place: HashMap<ChannelId, usize>,
}

impl<'a> NamedChannels<'a> {
    /// The channels of a log. Reading one channel of a large log costs a walk over all of it, so that those whose names
    /// contain a word of `likely` are then read at once.
    pub fn new(log: &'a Log, likely: &[&str]) -> Self {
        let full = (0..).zip(&log.index.channels).filter(|(_, c)| c.samples > 0);
        let by_name: HashMap<&str, ChannelId> = full.map(|(id, c)| (&*c.channel.name, id)).collect();
        let words = likely;
        let mut likely = Vec::new();
        if !log.index.placed {
            let found = |name: &str| words.iter().any(|word| name.contains(word));
            likely.extend(by_name.iter().filter(|(name, _)| found(name)).map(|(_, id)| *id));
        }
        let read = log.columns(&likely).unwrap_or_default();
        let place = likely.into_iter().enumerate().map(|(place, id)| (id, place)).collect();
        Self { log, by_name, read, place }
    }

    /// The log.
    pub fn log(&self) -> &'a Log {
        self.log
    }

    /// All channels that have samples.
    pub fn channels(&self) -> impl Iterator<Item = &'a Channel> {
        self.log.index.channels.iter().filter(|c| c.samples > 0).map(|c| &c.channel)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.channels().map(|channel| &*channel.name)
    }

    /// Reads a channel in the order of time; nothing if there is none.
    pub fn read(&self, name: &str, mut each: impl FnMut(Time, &Value<'_>)) {
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

    /// The booleans of a channel.
    pub fn booleans(&self, name: &str) -> Vec<(Time, bool)> {
        let mut found = Vec::new();
        self.read(name, |time, value| {
            if let Value::Boolean(b) = value {
                found.push((time, *b));
            }
        });
        found
    }

    /// The whole numbers of a channel.
    pub fn integers(&self, name: &str) -> Vec<(Time, i64)> {
        let mut found = Vec::new();
        self.read(name, |time, value| found.extend(integer(value).map(|x| (time, x))));
        found
    }

    /// The floating-point numbers of a channel.
    pub fn numbers(&self, name: &str) -> Vec<(Time, f64)> {
        let mut found = Vec::new();
        self.read(name, |time, value| match value {
            Value::Double(x) => found.push((time, *x)),
            Value::Float(x) => found.push((time, f64::from(*x))),
            _ => {}
        });
        found
    }

    /// Reads a channel of JSON texts; what is none is left out.
    pub fn json(&self, name: &str, mut each: impl FnMut(Time, &serde_json::Value)) {
        self.read(name, |time, value| {
            if let Value::String(text) = value
                && let Ok(json) = serde_json::from_slice(text)
            {
                each(time, &json);
            }
        });
    }

    /// Whether any value of a channel is such.
    pub fn any(&self, name: &str, mut such: impl FnMut(&Value<'_>) -> bool) -> bool {
        let mut found = false;
        self.read(name, |_, value| found |= such(value));
        found
    }

    /// The last text that is not empty.
    pub fn last_text(&self, name: &str) -> Option<String> {
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
    pub fn last_integer(&self, name: &str) -> Option<i64> {
        self.integers(name).into_iter().rev().map(|(_, x)| x).find(|x| *x != 0)
    }
}

/// A whole number, also one that was sent as a double.
pub fn integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Int64(x) => Some(*x),
        // NetworkTables before 2023 knew only doubles; control words and match numbers are small.
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked in the same line")]
        Value::Double(x) if x.abs() < 9e15 => Some(*x as i64),
        _ => None,
    }
}
