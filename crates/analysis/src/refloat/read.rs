//! The channels of a log as a series.

use std::collections::BTreeMap;

use logpose_core::{ChannelId, Time, Value};
use logpose_refloat::items::newest;
use logpose_refloat::wire::{Adjustment, Footpad};

use super::series::{Series, Values};
use logpose_files::in_time_order;
use logpose_files::{Error, ErrorKind, Log};

/// What one channel says, by time.
type Said<T> = Vec<(Time, T)>;

impl Series {
    /// What a log says about a board.
    ///
    /// # Errors
    ///
    /// If the log cannot be read, or lacks what an explanation needs.
    pub fn of(log: &Log) -> Result<Self, Error> {
        if let Some(channels) = missing(log) {
            let error = Error::new(ErrorKind::MissingChannels { channels }).in_file(&log.path);
            return Err(error.with_help(HELP));
        }
        let channels = channels(log);
        let mut numbers: BTreeMap<String, (String, Said<f64>)> = BTreeMap::new();
        for (id, (name, channel)) in channels.iter().filter(|(id, _)| NUMBERS.contains(&&***id)) {
            numbers.insert((*id).to_owned(), ((*name).to_owned(), read(log, *channel, number)?));
        }
        let state = |id: &str| channels.get(id).map(|(_, channel)| *channel);
        let mut running = Vec::new();
        if let Some(channel) = state(RUNNING) {
            running = read(log, channel, truth)?;
        } else if let Some(channel) = STATES.iter().find_map(|id| state(id)) {
            running = read(log, channel, is_running)?;
        }
        let mut wheelslip = Vec::new();
        if let Some(channel) = state("wheelslip") {
            wheelslip = read(log, channel, truth)?;
        }
        let (mut footpad, mut adjustment) = (Vec::new(), Vec::new());
        if let Some(channel) = state("footpad") {
            footpad = read(log, channel, |value| text(value).and_then(Footpad::from_name))?;
        }
        if let Some(channel) = state("adjustment") {
            adjustment = read(log, channel, |value| text(value).and_then(Adjustment::from_name))?;
        }
        let mut times: Vec<Vec<Time>> = numbers.values().map(|(_, said)| stamps(said)).collect();
        times.extend([stamps(&running), stamps(&wheelslip), stamps(&footpad), stamps(&adjustment)]);
        times.retain(|times| !times.is_empty());
        // A recording has one sample on each channel for each record, also where several have one time.
        let is_even = times.iter().zip(times.iter().skip(1)).all(|(a, b)| a == b);
        let mut all: Vec<Time> = if is_even { times.pop().unwrap_or_default() } else { times.concat() };
        if !is_even {
            all.sort_unstable();
            all.dedup();
        }
        let values = numbers.into_iter().map(|(id, (channel, said))| {
            let values = held(&all, &said, is_even).into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
            (id, Values { channel, values })
        });
        let no = |held: Option<bool>| held.unwrap_or(false);
        Ok(Self {
            values: values.collect(),
            running: held(&all, &running, is_even).into_iter().map(no).collect(),
            wheelslip: held(&all, &wheelslip, is_even).into_iter().map(no).collect(),
            footpad: held(&all, &footpad, is_even),
            adjustment: held(&all, &adjustment, is_even)
                .into_iter()
                .map(|held| held.unwrap_or(Adjustment(0)))
                .collect(),
            is_recording: log.index.channels.iter().any(|c| c.channel.name == HEADER),
            is_cut: log.index.fact("complete") == Some("false"),
            times: all,
        })
    }
}

/// What a log lacks for an explanation.
pub(super) fn missing(log: &Log) -> Option<Vec<String>> {
    let channels = channels(log);
    let mut missing = Vec::new();
    if !channels.contains_key(RUNNING) && !STATES.iter().any(|id| channels.contains_key(id)) {
        missing.push(format!("{PREFIX}{RUNNING}"));
    }
    if !NUMBERS.iter().any(|id| channels.contains_key(id)) {
        missing.extend(["duty_cycle", "pitch", "setpoint", "erpm"].map(|id| format!("{PREFIX}{id}")));
    }
    (!missing.is_empty()).then_some(missing)
}

/// The channels of the board by their newest ids.
fn channels(log: &Log) -> BTreeMap<&str, (&str, ChannelId)> {
    let all = (0..).zip(&log.index.channels);
    let named = all
        .filter_map(|(channel, c)| Some((newest(c.channel.name.strip_prefix(PREFIX)?), (&*c.channel.name, channel))));
    // Where a log has a channel twice, the first one with samples is it.
    let mut found: BTreeMap<&str, (&str, ChannelId)> = BTreeMap::new();
    let has = |channel: ChannelId| log.index.channels.get(channel as usize).is_some_and(|c| c.samples > 0);
    for (id, channel) in named {
        let known = found.entry(id).or_insert(channel);
        if !has(known.1) && has(channel.1) {
            *known = channel;
        }
    }
    found
}

fn read<T>(log: &Log, channel: ChannelId, what: impl Fn(&Value<'_>) -> Option<T>) -> Result<Said<T>, Error> {
    let columns = log.columns(&[channel])?;
    let mut said = Vec::new();
    for column in &columns.columns {
        in_time_order(&columns, column, |time, value| said.extend(what(value).map(|value| (time, value))));
    }
    Ok(said)
}

fn stamps<T>(said: &Said<T>) -> Vec<Time> {
    said.iter().map(|(time, _)| *time).collect()
}

/// What was said at each time: by place where all channels have the same times, else what was said last.
fn held<T: Copy>(times: &[Time], said: &Said<T>, is_even: bool) -> Vec<Option<T>> {
    if is_even {
        return times.iter().enumerate().map(|(place, _)| said.get(place).map(|(_, value)| *value)).collect();
    }
    let (mut next, mut last) = (said.iter().peekable(), None);
    let mut values = Vec::with_capacity(times.len());
    for time in times {
        while let Some((_, value)) = next.next_if(|(said, _)| said <= time) {
            last = Some(*value);
        }
        values.push(last);
    }
    values
}

#[expect(clippy::cast_precision_loss, reason = "no value of a board has so many digits")]
fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(x) => Some(f64::from(*x)),
        Value::Double(x) => Some(*x),
        Value::Int64(x) => Some(*x as f64),
        _ => None,
    }
}

fn truth(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Boolean(is) => Some(*is),
        Value::Int64(x) => Some(*x != 0),
        Value::Float(x) => Some(*x != 0.0),
        Value::Double(x) => Some(*x != 0.0),
        _ => None,
    }
}

fn text<'a>(value: &Value<'a>) -> Option<&'a str> {
    match value {
        Value::String(text) => str::from_utf8(text).ok(),
        _ => None,
    }
}

/// Whether a state of the board, or of an app that asked it, is one of those in which it balances.
fn is_running(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::String(_) => {
            let state = text(value)?.to_ascii_lowercase();
            Some(WORDS.iter().any(|word| state.starts_with(word)))
        }
        // As the compact live reply has it: running, tiltback, wheelslip, upside down, flywheel.
        _ => number(value).map(|code| (1.0..=5.0).contains(&code)),
    }
}

const PREFIX: &str = "/refloat/";
const RUNNING: &str = "running";
/// Where logs without it have the same: live values, and apps under their own names.
const STATES: [&str; 4] = ["state", "float-control/State", "float-control/State(num)", "floaty/state"];
const WORDS: [&str; 6] = ["running", "riding", "tiltback", "wheelslip", "upside down", "flywheel"];
/// Only recordings of a board have it.
const HEADER: &str = "/refloat/file/header";
const NUMBERS: [&str; 10] = [
    "balance_current",
    "balance_pitch",
    "batt_current",
    "batt_voltage",
    "dir_current",
    "duty_cycle",
    "erpm",
    "pitch",
    "setpoint",
    "speed",
];
const HELP: &str = "explain needs a Refloat recording (.rfrec), a conversion of one, or a log of live values";
