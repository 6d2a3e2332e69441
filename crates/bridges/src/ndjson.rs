//! NDJSON: a line `{"time_ns":…,"channel":…,"value":…}` for each sample.

use std::collections::HashMap;

use logpose_core::{
    Channel, ChannelId, Confidence, DecodeError, Problem, Problems, ReadOptions, Severity, Sink, StreamError, Time,
};
use serde_json::Value as Json;

use crate::Header;
use crate::inferred::{Guess, Rows};

/// Whether bytes from the front of a file look like lines of samples.
#[must_use]
pub fn sniff(head: &[u8]) -> Confidence {
    let line = head.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| line.windows(word.len()).any(|window| window == word);
    if line.starts_with(b"{") && has(b"\"time_ns\"") && has(b"\"channel\"") {
        Confidence::Perhaps
    } else {
        Confidence::No
    }
}

/// Reads lines of samples. Types are those that all values of a channel can be read as.
pub fn read(
    file: &[u8],
    read: &ReadOptions<'_>,
    sink: &mut dyn Sink,
    problems: &mut Problems,
) -> Result<Header, StreamError> {
    let mut by_name: HashMap<String, ChannelId> = HashMap::new();
    let mut found: Vec<(Channel, Guess)> = Vec::new();
    let most = read.limits.channels as usize;
    let mut bad = Problems::default();
    let mut good = 0_u64;
    lines(file, |line| {
        let (_, name, value) = match line.parse() {
            Ok(row) => row,
            Err(message) => {
                let message = format!("line {}: {message}; skipped", line.number);
                bad.push(Problem::new(Severity::Damage, "bad-line", line.at, line.bytes.len() as u64, message));
                return Ok(());
            }
        };
        good += 1;
        let id = match by_name.get(&name) {
            Some(id) => *id,
            None if found.len() >= most => {
                let message = format!("line {}: more than {most} channels; skipped the others", line.number);
                bad.push(Problem::new(Severity::Damage, "too-many-channels", line.at, 0, message));
                return Ok(());
            }
            None => {
                let id = ChannelId::try_from(found.len()).unwrap_or(ChannelId::MAX);
                found.push((Channel::new(name.as_str(), ""), Guess::Nothing));
                by_name.insert(name, id);
                id
            }
        };
        if let Some((_, guess)) = found.get_mut(id as usize) {
            *guess = guess.and(Guess::of_json(&value), Guess::Json);
        }
        Ok(())
    })?;
    if let (0, Some(first)) = (good, bad.list().first()) {
        let (at, message) = (first.at.unwrap_or(0), first.message.clone());
        return Err(DecodeError { dialect: "ndjson", code: "no-rows", at, message, help: None }.into());
    }
    problems.append(bad);
    for (channel, guess) in &mut found {
        channel.type_name = guess.type_name().to_owned();
    }
    let channels: Vec<Channel> = found.into_iter().map(|(channel, _)| channel).collect();
    let mut out = Rows::new(sink, &channels)?;
    lines(file, |line| {
        let Ok((time, name, value)) = line.parse() else { return Ok(()) };
        let Some(id) = by_name.get(&name) else { return Ok(()) };
        let is_json = channels.get(*id as usize).is_some_and(|channel| channel.type_name == "json");
        Ok(out.json(*id, time, &value, is_json)?)
    })?;
    out.flush()?;
    Ok(Header { origin: "ndjson".to_owned(), channels, ..Header::default() })
}

struct Line<'a> {
    number: u64,
    at: u64,
    bytes: &'a [u8],
}

impl Line<'_> {
    /// Time, channel, value; the sentence says what is wrong.
    fn parse(&self) -> Result<(Time, String, Json), String> {
        let json: Json = serde_json::from_slice(self.bytes).map_err(|error| format!("not JSON: {error}"))?;
        let Json::Object(mut object) = json else { return Err("not an object".to_owned()) };
        // Integers beyond 2^53 are strings, here as in values.
        let whole = |json: &Json| json.as_i64().or_else(|| json.as_str()?.parse().ok());
        let time = object.get("time_ns").and_then(whole);
        let time = time.ok_or("\"time_ns\" must be an integer number of nanoseconds")?;
        let Some(Json::String(name)) = object.shift_remove("channel") else {
            return Err("\"channel\" must be a string".to_owned());
        };
        let value = object.shift_remove("value").ok_or("\"value\" is missing")?;
        Ok((Time::from_nanos(time), name, value))
    }
}

/// Gives every line that is not blank to `take`.
fn lines<'a>(file: &'a [u8], mut take: impl FnMut(&Line<'a>) -> Result<(), StreamError>) -> Result<(), StreamError> {
    let mut at = 0;
    for (bytes, number) in file.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        if !bytes.trim_ascii().is_empty() {
            take(&Line { number, at, bytes })?;
        }
        at += bytes.len() as u64;
    }
    Ok(())
}
