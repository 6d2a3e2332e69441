use logpose_core::{Time, Value};
use logpose_schema::Tree;

use super::series::Known;
use crate::Log;

/// What the driver station asked of the robot.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mode {
    /// To stand still.
    Disabled,
    /// To drive by itself.
    Auto,
    /// To do what the drivers say.
    Teleop,
    /// To run tests.
    Test,
    /// To stop until it is restarted.
    EStop,
}

impl Mode {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Auto => "auto",
            Self::Teleop => "teleop",
            Self::Test => "test",
            Self::EStop => "estop",
        }
    }

    /// Whether the robot may move.
    #[must_use]
    pub fn is_enabled(self) -> bool {
        matches!(self, Self::Auto | Self::Teleop | Self::Test)
    }
}

/// A stretch of one mode.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ModeSpan {
    /// The mode.
    pub mode: Mode,
    /// From when.
    pub start: Time,
    /// Until when: the next mode's start, or the log's end.
    pub end: Time,
}

/// The modes of a log, from the first source that tells them.
pub(super) fn modes(log: &Log, known: &Known<'_>) -> Vec<ModeSpan> {
    let sources = [flags(known), control_struct(known), control_word(known)];
    let Some(events) = sources.into_iter().find(|events| !events.is_empty()) else { return Vec::new() };
    let Some((first, last)) = log.robust_range() else { return Vec::new() };
    let mut spans: Vec<ModeSpan> = Vec::new();
    for (time, mode) in events {
        let time = time.clamp(first, last);
        match spans.last_mut() {
            Some(span) if span.mode == mode => continue,
            Some(span) => span.end = time,
            None => {}
        }
        spans.push(ModeSpan { mode, start: time, end: last });
    }
    spans.retain(|span| span.start < span.end);
    // What was only there for no time at all may have kept two spans of one mode apart.
    spans.dedup_by(|later, earlier| {
        let same = later.mode == earlier.mode;
        if same {
            earlier.end = later.end;
        }
        same
    });
    spans
}

/// DataLogManager's and AdvantageKit's four booleans.
fn flags(known: &Known<'_>) -> Vec<(Time, Mode)> {
    let sources = [
        ["DS:enabled", "DS:autonomous", "DS:test", "DS:estop"],
        ["/DriverStation/Enabled", "/DriverStation/Autonomous", "/DriverStation/Test", "/DriverStation/EmergencyStop"],
        ["DriverStation/Enabled", "DriverStation/Autonomous", "DriverStation/Test", "DriverStation/EmergencyStop"],
        [
            "NT:/AdvantageKit/DriverStation/Enabled",
            "NT:/AdvantageKit/DriverStation/Autonomous",
            "NT:/AdvantageKit/DriverStation/Test",
            "NT:/AdvantageKit/DriverStation/EmergencyStop",
        ],
    ];
    for names in sources {
        let [enabled, ..] = names.map(|name| known.booleans(name));
        if enabled.is_empty() {
            continue;
        }
        let mut events: Vec<(Time, u32, bool)> = Vec::new();
        for (bit, name) in (0..).zip(names) {
            events.extend(known.booleans(name).into_iter().map(|(time, on)| (time, bit, on)));
        }
        events.sort_by_key(|(time, ..)| *time);
        let mut word = 0_u32;
        let mut modes = Vec::with_capacity(events.len());
        let mut events = events.into_iter().peekable();
        while let Some((time, bit, on)) = events.next() {
            word = word & !(1 << bit) | u32::from(on) << bit;
            // Flags that change together are one change.
            if events.peek().is_none_or(|(next, ..)| next.since(time) > TOGETHER_NS) {
                modes.push((time, mode(word.into())));
            }
        }
        return modes;
    }
    Vec::new()
}

/// The struct that WPILib writes from 2027 on.
fn control_struct(known: &Known<'_>) -> Vec<(Time, Mode)> {
    let registry = known.log().schemas().registry();
    let mut modes = Vec::new();
    let mut read = |time: Time, value: &Value<'_>| {
        if let Value::Bytes(payload) = value
            && let Ok(decoded) = registry.decode("struct:ControlWord", payload)
        {
            let field = |names: &[&str]| names.iter().find_map(|name| decoded.tree.field(name)).map_or(0, number);
            let robot_mode = field(&["robotMode"]);
            let auto = field(&["autonomous", "auto"]) != 0 || robot_mode == 1;
            let test = field(&["test"]) != 0 || robot_mode == 3;
            let stop = field(&["eStop", "estop", "emergencyStop"]) != 0;
            let word = u64::from(field(&["enabled"]) != 0)
                | u64::from(auto) << 1
                | u64::from(test) << 2
                | u64::from(stop) << 3;
            modes.push((time, mode(word)));
        }
    };
    ["DS:controlWord", "NT:/FMSInfo/ControlWord"].iter().for_each(|name| known.read(name, &mut read));
    modes
}

/// The field management system's word, as NetworkTables has it.
fn control_word(known: &Known<'_>) -> Vec<(Time, Mode)> {
    let words = ["NT:/FMSInfo/FMSControlData", "NT:/FMSInfo/FMSControlWord", "/FMSInfo/FMSControlData"]
        .iter()
        .map(|name| known.integers(name));
    let words = words.into_iter().find(|words| !words.is_empty()).unwrap_or_default();
    words.into_iter().map(|(time, word)| (time, mode(word.cast_unsigned()))).collect()
}

/// Bit 0 enabled, 1 autonomous, 2 test, 3 emergency stop.
fn mode(word: u64) -> Mode {
    match word {
        _ if word & 8 != 0 => Mode::EStop,
        _ if word & 1 == 0 => Mode::Disabled,
        _ if word & 2 != 0 => Mode::Auto,
        _ if word & 4 != 0 => Mode::Test,
        _ => Mode::Teleop,
    }
}

fn number(tree: &Tree) -> i64 {
    match tree {
        Tree::Bool(b) => (*b).into(),
        Tree::Int(x) | Tree::Enum { number: x, .. } => *x,
        Tree::UInt(x) => i64::try_from(*x).unwrap_or(i64::MAX),
        _ => 0,
    }
}

/// DataLogManager writes the flags of one packet one after the other, each with its own time.
const TOGETHER_NS: i64 = 5_000_000;
