//! What programs printed: the consoles and errors of a log.

use logpose_core::{Time, Value};
use serde_json::Value as Json;

use super::series::LIKELY;
use logpose_files::Log;
use logpose_files::internal::NamedChannels;

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
    /// The robot's count of lines and errors, if the log has it.
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
    /// The robot's count of lines and errors, if the log has it.
    pub sequence: Option<i64>,
}

/// How bad a message is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// It belongs to running.
    Info,
    /// It is worth a look.
    Warning,
    /// Something went wrong.
    Error,
}

impl Level {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// By the words with which a printed text begins: `Warning at Intake.java:88: …`, `ERROR 1 …`, `[error] …`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let first = text.trim_start_matches(|c: char| !c.is_alphabetic());
        let begins = |word: &str| first.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
        if ["error", "exception", "unhandled exception", "fatal", "severe"].into_iter().any(begins) {
            Self::Error
        } else if begins("warn") {
            Self::Warning
        } else {
            Self::Info
        }
    }
}

/// Whether a channel of that name is known to hold messages for people.
#[must_use]
pub fn has_messages(name: &str) -> bool {
    is_console(name) || name.ends_with(ERRORS) || name.ends_with(EVENTS)
}

/// Whether a channel of that name has the errors and warnings that were sent to a driver station, as JSON.
#[must_use]
pub fn is_report(name: &str) -> bool {
    name.ends_with(ERRORS)
}

/// What a sample of a channel says: a text, or what a driver station keeps of an error. `None` for anything else.
#[must_use]
pub fn message(channel: &str, value: &Value<'_>) -> Option<(Level, String)> {
    let Value::String(text) = value else { return None };
    if is_report(channel)
        && let Some(error) = ErrorLine::parse(Time::ZERO, text)
    {
        let level = if error.severity == "warning" { Level::Warning } else { Level::Error };
        let mut message = error.details.trim_end().to_owned();
        if !error.location.is_empty() {
            message = format!("{message} ({})", error.location);
        }
        if !error.stack.is_empty() {
            message = format!("{message}\n{}", error.stack);
        }
        return Some((level, message));
    }
    let text = String::from_utf8_lossy(text).into_owned();
    Some((Level::of(&text), text))
}

/// The message of the station's error that a printed line repeats: WPILib prints `Warning at Intake.java:88: piece lost`
/// for what it sends to the station, where [`message`] makes it `piece lost (Intake.java:88)`.
#[must_use]
pub fn repeated(line: &str) -> Option<String> {
    let rest = ["Warning at ", "Error at "].into_iter().find_map(|begins| line.strip_prefix(begins))?;
    let (location, details) = rest.split_once(": ")?;
    Some(format!("{} ({location})", details.trim_end()))
}

impl ErrorLine {
    /// An error as a driver station's channel of errors has it, as JSON.
    #[must_use]
    pub fn parse(time: Time, json: &[u8]) -> Option<Self> {
        let error = serde_json::from_slice::<Json>(json).ok()?;
        let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        Some(Self {
            time,
            severity: text("severity"),
            code: error.get("code").and_then(Json::as_i64).unwrap_or(0),
            details: text("details"),
            location: text("location"),
            stack: text("stack"),
            robot_time: error.get("time").and_then(Json::as_f64),
            sequence: error.get("sequence").and_then(Json::as_i64),
        })
    }
}

/// What all consoles of a log have, by time.
#[must_use]
pub fn console(log: &Log) -> Vec<ConsoleLine> {
    let known = NamedChannels::new(log, &LIKELY);
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
    let known = NamedChannels::new(log, &LIKELY);
    let mut lines = Vec::new();
    for channel in known.names().filter(|name| is_report(name)) {
        known.read(channel, |time, value| {
            let Value::String(text) = value else { return };
            lines.extend(ErrorLine::parse(time, text));
        });
    }
    lines.sort_by_key(|line| line.time);
    lines
}

/// Also its name over NetworkTables.
fn is_console(name: &str) -> bool {
    let own = name.strip_prefix("NT:").unwrap_or(name);
    let own = own.strip_prefix("/AdvantageKit").unwrap_or(own);
    let own = own.strip_prefix('/').unwrap_or(own);
    name.ends_with("/ds/console") || CONSOLES.contains(&own)
}

/// What WPILib's DataLogManager and AdvantageKit call theirs.
const CONSOLES: [&str; 3] = ["messages", "console", "RealOutputs/Console"];
/// Behind the address of the robot, in a capture with several.
const ERRORS: &str = "/ds/errors";
/// What a driver station noted by itself.
const EVENTS: &str = "/ds/events";

#[cfg(test)]
mod tests {
    use logpose_core::Value;

    use super::{Level, has_messages, message, repeated};

    #[test]
    fn consoles_are_known_by_their_names() {
        for name in [
            "messages",
            "console",
            "/console",
            "NT:/messages",
            "/RealOutputs/Console",
            "RealOutputs/Console",
            "NT:/AdvantageKit/RealOutputs/Console",
            "/ds/console",
            "/10.24.68.2/ds/console",
        ] {
            assert!(has_messages(name), "{name}");
        }
        for name in ["/Shooter/console", "NT:/SmartDashboard/messages", "", "NT:", "/AdvantageKit", "messages/"] {
            assert!(!has_messages(name), "{name}");
        }
    }

    #[test]
    fn levels_are_told_by_the_first_word() {
        let level = |text: &str| message("messages", &Value::String(text.as_bytes())).map(|(level, _)| level);
        for (text, expected) in [
            ("Warning at Intake.java:88: piece lost", Level::Warning),
            ("Error at PowerMonitor.java:41: brownout", Level::Error),
            ("[ERROR] no camera", Level::Error),
            ("*** Unhandled exception: x", Level::Error),
            ("Auto: three pieces", Level::Info),
            ("no error", Level::Info),
            ("", Level::Info),
        ] {
            assert_eq!(level(text), Some(expected), "{text}");
        }
        let json = br#"{"severity":"warning","code":1,"details":"piece lost","location":"Intake.java:88"}"#;
        let parsed = message("/ds/errors", &Value::String(json));
        assert_eq!(parsed, Some((Level::Warning, "piece lost (Intake.java:88)".to_owned())));
        assert_eq!(message("messages", &Value::Double(1.0)), None);
    }

    #[test]
    fn a_printed_line_repeats_what_was_sent_to_the_station() {
        let json = br#"{"severity":"warning","code":1,"details":"piece lost\n","location":"Intake.java:88"}"#;
        let sent = message("/ds/errors", &Value::String(json)).map(|(_, text)| text);
        assert_eq!(sent, repeated("Warning at Intake.java:88: piece lost"));
        assert_eq!(repeated("Error at a.b(C.java:7): CAN: timeout"), Some("CAN: timeout (a.b(C.java:7))".to_owned()));
        for other in ["Warning: low battery", "Error at dawn", "", "Warning at "] {
            assert_eq!(repeated(other), None, "{other}");
        }
    }
}
