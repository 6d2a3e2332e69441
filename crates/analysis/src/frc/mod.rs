//! What a log shows about a match: modes, battery, wall-clock time, and the program that wrote it.
//!
//! Everything is read from a few known channels, through the index; nothing here looks at the whole log.

mod battery;
mod console;
mod link;
mod matches;
mod series;

use logpose_core::{Time, Value};

use logpose_files::Log;
use logpose_files::internal::NamedChannels;
use series::LIKELY;

pub use battery::{Battery, LOW_VOLTS, battery_rank, is_brownout};
pub use console::{ConsoleLine, ErrorLine, Level, console, errors, has_messages, is_report, message, repeated};
pub use link::{Disable, ErrorGroup, LinkFacts, Peak, Percentiles, Reason, Rise, Stretch};
pub use logpose_files::{Mode, ModeSpan, ModeWatch, Role, SYSTEM_TIME, SYSTEM_TIME_METADATA};
pub use matches::{Match, MatchKind, MatchWatch};

/// What a log shows about a match.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What to add to a time of the log to get Unix nanoseconds.
    pub epoch_ns: Option<i64>,
    /// The match, by the channels of the log or by the name of the file.
    pub match_: Option<Match>,
    /// The driver station's modes, one after the other; none for logs without a driver station.
    pub modes: Vec<ModeSpan>,
    /// When the robot controller cut off outputs because of low voltage.
    pub brownouts: Vec<(Time, Time)>,
    /// When the battery was below 6.8 V.
    pub low_battery: Vec<(Time, Time)>,
    /// The lowest battery voltage.
    pub battery: Option<Battery>,
    /// The program that wrote the log.
    pub writer: Option<String>,
    /// The joysticks that were plugged in.
    pub joysticks: Vec<Joystick>,
    /// How the link between the driver station and the robot was, where the log is of the link or of the station.
    pub link: Option<LinkFacts>,
}

/// A joystick that was plugged in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Joystick {
    /// Its number in the driver station.
    pub port: u8,
    /// What it calls itself, if the log has it.
    pub name: Option<String>,
}

impl Facts {
    /// Reads what a log says. Nothing is kept: ask once.
    #[must_use]
    pub fn of(log: &Log) -> Self {
        let known = NamedChannels::new(log, &LIKELY);
        log.read_timing(&known);
        let (battery, low_battery) = battery::battery(&known);
        let mut facts = Self {
            epoch_ns: log.epoch_ns(),
            match_: matches::find(log, &known),
            modes: log.modes().to_vec(),
            brownouts: battery::brownouts(&known),
            low_battery,
            battery,
            writer: writer(log, &known),
            joysticks: joysticks(&known),
            link: None,
        };
        facts.link = LinkFacts::of(&known, &facts);
        facts
    }
}

fn writer(log: &Log, known: &NamedChannels<'_>) -> Option<String> {
    match log.index.fact("extra_header") {
        Some("") | None => {}
        Some(text @ ("AdvantageKit" | "AdvantageScope")) => return Some(text.to_owned()),
        // CTRE's converter writes the name of the CAN bus.
        Some(text) if known.names().any(|name| name.starts_with("Phoenix6/")) => {
            return Some(format!("CTRE hoot converter, bus {text:?}"));
        }
        Some(text) => return Some(text.to_owned()),
    }
    // Recordings of ours have the wall-clock time under the same name, and say so in its metadata.
    if known.channels().any(|channel| channel.name == SYSTEM_TIME && channel.metadata == SYSTEM_TIME_METADATA) {
        return Some("logpose".to_owned());
    }
    if known.names().any(|name| name == SYSTEM_TIME || name.starts_with("DS:")) {
        return Some("WPILib DataLogManager".to_owned());
    }
    let origin = log.index.fact("origin").unwrap_or(log.format().name());
    if origin == logpose_dslog::NAME {
        return Some("NI Driver Station".to_owned());
    }
    let rlog = log.format().name() == logpose_rlog::NAME;
    let outputs = |prefix: &str| known.names().any(|name| name.starts_with(prefix));
    match rlog {
        true if outputs("/RealOutputs/") || outputs("/DriverStation/") || outputs("/SystemStats/") => {
            Some("AdvantageKit".to_owned())
        }
        true if outputs("RealOutputs/") => Some("PsiKit".to_owned()),
        _ => None,
    }
}

fn joysticks(known: &NamedChannels<'_>) -> Vec<Joystick> {
    let mut found = Vec::new();
    for port in 0..6 {
        // "Axes" is the spelling of AdvantageKit 2021.
        let axes = [
            "DS:joystick#/axes",
            "/DriverStation/Joystick#/AxisValues",
            "DriverStation/Joystick#/AxisValues",
            "/DriverStation/Joystick#/Axes",
            "/ds/joystick/#/axes",
        ];
        let axes = axes.map(|name| name.replace('#', &port.to_string()));
        let plugged = |value: &Value<'_>| match value {
            Value::FloatArray(axes) => !axes.is_empty(),
            Value::DoubleArray(axes) => !axes.is_empty(),
            _ => false,
        };
        // Absent sticks have a name too, which is empty.
        let names = [format!("/DriverStation/Joystick{port}/Name"), format!("DriverStation/Joystick{port}/Name")];
        let described = described(known, port);
        if described.is_none() && !axes.iter().any(|name| known.any(name, plugged)) {
            continue;
        }
        let name = described.or_else(|| names.iter().find_map(|name| known.last_text(name)));
        found.push(Joystick { port, name });
    }
    found
}

/// The last name by which a station described a stick to the robot.
fn described(known: &NamedChannels<'_>, port: u8) -> Option<String> {
    let mut last = None;
    known.json(&format!("/ds/joystick/{port}/descriptor"), |_, json| {
        let name = json.get("name").and_then(|name| name.as_str()).filter(|name| !name.is_empty());
        last = name.map(str::to_owned).or(last.take());
    });
    last
}
