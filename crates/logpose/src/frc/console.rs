//! What programs printed: the consoles and errors of a log.

use logpose_core::{Time, Value};
use serde_json::Value as Json;

use super::series::Known;
use crate::Log;

/// A line, or several, that a program printed.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsoleLine {
    /// When it came.
    pub time: Time,
    /// The channel that has it.
    pub channel: String,
    /// The text.
    pub text: String,
    /// The robot's own stamp, if it has one: seconds since the driver station connected, negative before.
    pub robot_time: Option<f64>,
    /// The robot's count of lines and errors, if the log tells.
    pub sequence: Option<i64>,
}

/// An error or a warning that the driver station got or found itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorLine {
    /// When it came.
    pub time: Time,
    /// `error` or `warning`.
    pub severity: String,
    /// Its number.
    pub code: i64,
    /// What it says.
    pub details: String,
    /// Where in the program.
    pub location: String,
    /// By which calls.
    pub stack: String,
    /// The robot's own stamp, as in [`ConsoleLine`].
    pub robot_time: Option<f64>,
    /// The robot's count of lines and errors, if the log tells.
    pub sequence: Option<i64>,
}

/// What all consoles of a log have, by time.
#[must_use]
pub fn console(log: &Log) -> Vec<ConsoleLine> {
    let known = Known::new(log);
    let mut lines = Vec::new();
    for channel in known.names().filter(|name| is_console(name)) {
        // Stamps and counts come with each line, in their own channels.
        let mut stamps = known.numbers(&format!("{channel}/time")).into_iter();
        let mut counts = known.integers(&format!("{channel}/sequence")).into_iter();
        known.read(channel, |time, value| {
            let Value::String(text) = value else { return };
            lines.push(ConsoleLine {
                time,
                channel: channel.to_owned(),
                text: String::from_utf8_lossy(text).into_owned(),
                robot_time: stamps.next().map(|(_, seconds)| seconds),
                sequence: counts.next().map(|(_, count)| count),
            });
        });
    }
    lines.sort_by_key(|line| line.time);
    lines
}

/// The errors of a driver station's link or log, by time.
#[must_use]
pub fn errors(log: &Log) -> Vec<ErrorLine> {
    let known = Known::new(log);
    let mut lines = Vec::new();
    for channel in known.names().filter(|name| name.ends_with(ERRORS)) {
        known.read(channel, |time, value| {
            let Value::String(text) = value else { return };
            let Ok(error) = serde_json::from_slice::<Json>(text) else { return };
            let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
            lines.push(ErrorLine {
                time,
                severity: text("severity"),
                code: error.get("code").and_then(Json::as_i64).unwrap_or(0),
                details: text("details"),
                location: text("location"),
                stack: text("stack"),
                robot_time: error.get("time").and_then(Json::as_f64),
                sequence: error.get("sequence").and_then(Json::as_i64),
            });
        });
    }
    lines.sort_by_key(|line| line.time);
    lines
}

fn is_console(name: &str) -> bool {
    name.ends_with("/ds/console") || CONSOLES.contains(&name)
}

/// What WPILib's DataLogManager and AdvantageKit call theirs.
const CONSOLES: [&str; 5] =
    ["messages", "console", "/RealOutputs/Console", "RealOutputs/Console", "NT:/AdvantageKit/RealOutputs/Console"];
/// Behind the address of the robot, in a capture with several.
const ERRORS: &str = "/ds/errors";
