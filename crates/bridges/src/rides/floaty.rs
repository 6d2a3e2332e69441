//! The JSON of Floaty: `logs` from the board, and `locations` from the phone.

use std::collections::HashMap;

use logpose_core::{
    Channel, ChannelId, Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, StreamError, Time,
    Value,
};
use serde_json::{Map, Value as Json, json};

use super::columns::{How, Known};
use super::table::shown;
use crate::Header;
use crate::inferred::{Guess, Rows};

/// Whether bytes from the front of a file look like such an object.
pub(crate) fn sniff(head: &[u8]) -> Confidence {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let has = |word: &str| head.windows(word.len()).any(|window| window == word.as_bytes());
    let ride = has("\"boardId\"") && (has("\"startTime\"") || has("\"stopReason\""));
    let entries = has("\"dutyCycle\"") && has("\"batteryVolts\"");
    if head.starts_with(b"{") && (ride || entries) { Confidence::Yes } else { Confidence::No }
}

/// Pushes the samples of a ride.
pub(crate) fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let json: Json = serde_json::from_slice(file).map_err(|error| {
        let help = error.is_eof().then(|| "the file is truncated; export the ride from Floaty again".to_owned());
        let at = place(file, error.line(), error.column());
        DecodeError { dialect: DIALECT, code: "no-json", at, message: format!("not JSON: {error}"), help }
    })?;
    let Json::Object(mut ride) = json else {
        return Err(refused("not-a-ride", "expected an object with `logs`").into());
    };
    if !matches!(ride.get("logs"), Some(Json::Array(_))) {
        return Err(refused("not-a-ride", "expected a list `logs`, as in a Floaty ride").into());
    }
    let mut list = |key: &str| match ride.shift_remove(key) {
        Some(Json::Array(list)) => list,
        Some(other) if !other.is_null() => {
            let message = format!("{key:?} is not a list; skipped");
            problems.push(Problem::general(Severity::Damage, "bad-list", message));
            Vec::new()
        }
        _ => Vec::new(),
    };
    let (logs, locations) = (list("logs"), list("locations"));
    let start = ride.get("startTime").and_then(nanos);
    let first = || logs.iter().chain(&locations).filter_map(|entry| nanos(entry.get("timestamp")?)).min();
    let start = start.or_else(first).unwrap_or(0);
    let mut tables = [Entries::new(&logs, "logs", ""), Entries::new(&locations, "locations", "locations/")];
    let mut channels: Vec<Channel> = Vec::new();
    for table in &mut tables {
        table.look(start, problems);
        table.declare(&mut channels, problems);
    }
    if channels.len() > read.limits.channels as usize {
        let message = format!("{} kinds of values, the limit is {}", channels.len(), read.limits.channels);
        return Err(refused("too-many-channels", &message).into());
    }
    let about = ChannelId::try_from(channels.len()).unwrap_or(ChannelId::MAX);
    channels.push(own_channel("ride", "", "json"));
    let mut out = Rows::new(sink, &channels)?;
    out.json(about, Time::ZERO, &Json::Object(ride), true)?;
    // Both lists in the order of time; each keeps its own.
    let [logs, locations] = &tables;
    let mut later = locations.times.iter().zip(locations.list).peekable();
    for (time, entry) in logs.times.iter().zip(logs.list) {
        while let Some((time, entry)) = later.next_if(|(other, _)| time.is_some() && **other <= *time) {
            locations.put(*time, entry, &mut out)?;
        }
        logs.put(*time, entry, &mut out)?;
    }
    for (time, entry) in later {
        locations.put(*time, entry, &mut out)?;
    }
    out.flush()?;
    let epoch_ns = Some(start).filter(|start| *start >= YEAR_2000);
    Ok(Header { origin: DIALECT.to_owned(), epoch_ns, channels, ..Header::default() })
}

/// A list of entries with a time each.
struct Entries<'a> {
    list: &'a [Json],
    name: &'static str,
    /// What stands in front of the names of its own channels.
    prefix: &'static str,
    /// The time of each entry; `None` where it has none.
    times: Vec<Option<Time>>,
    columns: Vec<Column<'a>>,
    /// The places of the columns, by their keys.
    places: HashMap<&'a str, usize>,
}

struct Column<'a> {
    key: &'a str,
    guess: Guess,
    /// Whether there are numbers below zero.
    signed: bool,
    /// Its channels: as a value of the model, and as it is, with its type.
    model: Option<(ChannelId, Known)>,
    own: Option<(ChannelId, Guess)>,
}

impl<'a> Entries<'a> {
    fn new(list: &'a [Json], name: &'static str, prefix: &'static str) -> Self {
        let times = Vec::with_capacity(list.len());
        Self { list, name, prefix, times, columns: Vec::new(), places: HashMap::new() }
    }

    /// Finds the times and what there is in the entries.
    fn look(&mut self, start: i64, problems: &mut Problems) {
        for (number, entry) in self.list.iter().enumerate() {
            let time = entry.get("timestamp").and_then(nanos);
            self.times.push(time.map(|ns| Time::from_nanos(ns.saturating_sub(start))));
            let (Some(_), Json::Object(entry)) = (time, entry) else {
                let text = shown(entry.to_string().as_bytes());
                let message = format!("{}[{number}] has no timestamp: {text}; skipped", self.name);
                problems.push(Problem::general(Severity::Damage, "bad-entry", message));
                continue;
            };
            for (key, value) in said(entry) {
                let next = self.columns.len();
                let place = *self.places.entry(key).or_insert(next);
                if place == next {
                    self.columns.push(Column { key, guess: Guess::Nothing, signed: false, model: None, own: None });
                }
                if let Some(column) = self.columns.get_mut(place) {
                    column.guess = column.guess.and(Guess::of_json(value), Guess::Json);
                    column.signed |= value.as_f64().is_some_and(f64::is_sign_negative);
                }
            }
        }
    }

    /// Adds the channels of what was found.
    fn declare(&mut self, channels: &mut Vec<Channel>, problems: &mut Problems) {
        let mut add = |channel: Channel| {
            channels.push(channel);
            ChannelId::try_from(channels.len() - 1).unwrap_or(ChannelId::MAX)
        };
        for column in &mut self.columns {
            let found = if self.prefix.is_empty() { known(column.key) } else { known_place(column.key) };
            let known = found.filter(|known| match known.how {
                How::Whole => column.guess == Guess::Int64,
                _ => matches!(column.guess, Guess::Int64 | Guess::Double),
            });
            if let (Some(_), None) = (found, known) {
                let message = format!("{:?} of {} is not always a number; keeping it unchanged", column.key, self.name);
                problems.push(Problem::general(Severity::Warning, "no-numbers", message));
            }
            column.model = known.map(|known| {
                (add(known.channel(&json!({ "program": DIALECT, "column": column.key, "list": self.name }))), known)
            });
            let loses_signs = matches!(known, Some(Known { how: How::Magnitude(_), .. })) && column.signed;
            if known.is_none() || loses_signs {
                let id = add(own_channel(column.key, self.prefix, column.guess.type_name()));
                column.own = Some((id, column.guess));
            }
        }
    }

    fn put(&self, time: Option<Time>, entry: &Json, out: &mut Rows<'_>) -> Result<(), StreamError> {
        let (Some(time), Json::Object(entry)) = (time, entry) else { return Ok(()) };
        for (key, value) in said(entry) {
            let Some(column) = self.places.get(key).and_then(|place| self.columns.get(*place)) else { continue };
            match column.model {
                Some((id, Known { how: How::Whole, .. })) => out.json(id, time, value, false)?,
                Some((id, known)) => {
                    out.value(id, time, &Value::Double(known.of(value.as_f64().unwrap_or(f64::NAN))))?;
                }
                None => {}
            }
            if let Some((id, guess)) = column.own {
                out.json(id, time, value, guess == Guess::Json)?;
            }
        }
        Ok(())
    }
}

/// The values of an entry. A read that failed is null, and no sample.
fn said(entry: &Map<String, Json>) -> impl Iterator<Item = (&str, &Json)> {
    entry
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, value)| *key != "timestamp" && !value.is_null())
}

/// What a value of the board is in the model. Those without a known unit are not in it.
fn known(key: &str) -> Option<Known> {
    Some(match key {
        "speed" => Known::same("speed", "km/h"),
        "dutyCycle" => Known::new("duty_cycle", "", How::Magnitude(0)),
        "batteryVolts" => Known::same("batt_voltage", "V"),
        "batteryCurrent" => Known::same("batt_current", "A"),
        "motorCurrent" => Known::same("current", "A"),
        "motorTemp" => Known::same("motor_temp", "degC"),
        "controllerTemp" => Known::same("mosfet_temp", "degC"),
        "rollAngle" => Known::same("roll", "deg"),
        // As in Float Control: the angle that the board balances by, and the plain one.
        "pitchAngle" => Known::same("balance_pitch", "deg"),
        "truePitchAngle" => Known::same("pitch", "deg"),
        "inputTilt" => Known::same("remote.setpoint", "deg"),
        "ampHours" => Known::same("amp_hours.used", "Ah"),
        "wattHours" => Known::same("watt_hours.used", "Wh"),
        "faultCode" => Known::new("fault_code", "", How::Whole),
        "adc1" => Known::same("adc_left", "V"),
        "adc2" => Known::same("adc_right", "V"),
        _ => return None,
    })
}

/// What a value of the phone is in the model.
fn known_place(key: &str) -> Option<Known> {
    Some(match key {
        "latitude" => Known::same("gnss.latitude", "deg"),
        "longitude" => Known::same("gnss.longitude", "deg"),
        "altitude" => Known::same("gnss.altitude", "m"),
        _ => return None,
    })
}

fn own_channel(key: &str, prefix: &str, type_name: &str) -> Channel {
    let metadata = json!({ "program": DIALECT, "column": key }).to_string();
    Channel { metadata, ..Channel::new(format!("/refloat/floaty/{prefix}{key}"), type_name) }
}

/// Unix milliseconds as nanoseconds.
fn nanos(json: &Json) -> Option<i64> {
    match json.as_i64() {
        Some(ms) => ms.checked_mul(1_000_000),
        None => Some(Time::from_seconds(json.as_f64()? / 1e3)?.nanos()),
    }
}

/// The byte at a line and a column, both from 1.
fn place(file: &[u8], line: usize, column: usize) -> u64 {
    let before: usize = file.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column.saturating_sub(1)).min(file.len()) as u64
}

fn refused(code: &'static str, message: &str) -> DecodeError {
    DecodeError { dialect: DIALECT, code, at: 0, message: message.to_owned(), help: None }
}

const DIALECT: &str = "floaty";
/// Before that no time is one of a wall clock.
const YEAR_2000: i64 = 946_684_800_000_000_000;
