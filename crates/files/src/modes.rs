use std::collections::{BTreeMap, BTreeSet, VecDeque};

use logpose_core::{Time, Value};
use logpose_schema::{Registry, Tree};

use crate::named::{NamedChannels, integer};

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

/// The modes of a log, from the best source that it has.
pub(crate) fn modes(known: &NamedChannels<'_>) -> Vec<ModeSpan> {
    let log = known.log();
    let registry = log.schemas().registry();
    let mut events = TELLERS.iter().map(|teller| teller.events(known, registry));
    let Some(events) = events.find(|events| !events.is_empty()) else { return Vec::new() };
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

/// Channels that state modes.
#[derive(Clone, Copy)]
enum Teller {
    /// Four booleans, as DataLogManager, AdvantageKit and the link of a station have them: enabled, autonomous, test,
    /// emergency stop.
    Flags([&'static str; 4]),
    /// The struct that WPILib writes from 2027 on.
    Struct(&'static str),
    /// The field management system's word, as NetworkTables has it.
    Word(&'static str),
    /// The name of the mode, as CTRE's logger writes it.
    Name(&'static str),
}

impl Teller {
    /// All mode changes in a log, in the order of time.
    fn events(&self, known: &NamedChannels<'_>, registry: &Registry) -> Vec<(Time, Mode)> {
        let mut modes = Vec::new();
        match self {
            Self::Flags(names) => {
                let series = names.map(|name| known.booleans(name));
                if series.first().is_none_or(Vec::is_empty) {
                    return modes;
                }
                let series = (0..).zip(series);
                let mut events: Vec<(Time, u32, bool)> = series
                    .flat_map(|(bit, series)| series.into_iter().map(move |(time, on)| (time, bit, on)))
                    .collect();
                events.sort_by_key(|(time, ..)| *time);
                let mut flags = Flags::default();
                modes.extend(events.into_iter().filter_map(|(time, bit, on)| flags.push(time, bit, on)));
                modes.extend(flags.settle());
            }
            Self::Struct(name) | Self::Word(name) | Self::Name(name) => known.read(name, |time, value| {
                modes.extend(self.mode(value, registry).map(|mode| (time, mode)));
            }),
        }
        modes
    }

    /// The mode that one value states.
    fn mode(&self, value: &Value<'_>, registry: &Registry) -> Option<Mode> {
        match (self, value) {
            (Self::Word(_), value) => Some(mode(integer(value)?.cast_unsigned())),
            (Self::Name(_), Value::String(name)) => match *name {
                b"Disabled" => Some(Mode::Disabled),
                b"Autonomous" => Some(Mode::Auto),
                b"Teleop" => Some(Mode::Teleop),
                b"Test" => Some(Mode::Test),
                b"EStopped" => Some(Mode::EStop),
                _ => None,
            },
            (Self::Struct(_), Value::Bytes(payload)) => {
                let decoded = registry.decode("struct:ControlWord", payload).ok()?;
                let field = |names: &[&str]| names.iter().find_map(|name| decoded.tree.field(name)).map_or(0, number);
                let robot_mode = field(&["robotMode"]);
                let auto = field(&["autonomous", "auto"]) != 0 || robot_mode == 1;
                let test = field(&["test"]) != 0 || robot_mode == 3;
                let stop = field(&["eStop", "estop", "emergencyStop"]) != 0;
                let word = u64::from(field(&["enabled"]) != 0)
                    | u64::from(auto) << 1
                    | u64::from(test) << 2
                    | u64::from(stop) << 3;
                Some(mode(word))
            }
            _ => None,
        }
    }
}

/// Four flags that come one by one. Those that change together are one change.
#[derive(Debug, Default)]
struct Flags {
    word: u64,
    /// When the last flag came.
    at: Option<Time>,
}

impl Flags {
    /// Takes the next flag; returns the previous mode, if that is settled by now.
    fn push(&mut self, time: Time, bit: u32, on: bool) -> Option<(Time, Mode)> {
        let settled = self.settled(time);
        self.set(bit, on);
        self.at = Some(time);
        settled
    }

    fn set(&mut self, bit: u32, on: bool) {
        self.word = self.word & !(1 << bit) | u64::from(on) << bit;
    }

    /// The last mode, if no flag of that moment can come at this one.
    fn settled(&mut self, now: Time) -> Option<(Time, Mode)> {
        if self.at.is_some_and(|at| now.since(at) > TOGETHER_NS) { self.settle() } else { None }
    }

    fn settle(&mut self) -> Option<(Time, Mode)> {
        Some((self.at.take()?, mode(self.word)))
    }
}

/// The modes of something that still arrives.
#[derive(Debug, Default)]
pub struct ModeWatch {
    /// Who is there, the best first.
    there: BTreeSet<usize>,
    /// The source of the last mode.
    last: Option<usize>,
    flags: BTreeMap<usize, Flags>,
    /// The last mode of another source. It waits as flags do: a better source may have been a little slower.
    written: Option<(Time, Mode)>,
    known: VecDeque<(Time, Mode)>,
}

/// What a channel has to do with modes: its source, and which flag of that source it is.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    teller: usize,
    bit: u32,
}

impl ModeWatch {
    /// A channel is there; the answer is whether its samples are wanted.
    pub fn channel(&mut self, name: &str) -> Option<Role> {
        let role = TELLERS.iter().enumerate().find_map(|(teller, names)| {
            let bit = match names {
                Teller::Flags(names) => names.iter().position(|known| *known == name)?,
                Teller::Struct(known) | Teller::Word(known) | Teller::Name(known) => (*known == name).then_some(0)?,
            };
            Some(Role { teller, bit: u32::try_from(bit).ok()? })
        })?;
        // Without the first flag, whether the robot is enabled, the others mean nothing.
        if role.bit == 0 {
            self.there.insert(role.teller);
        }
        Some(role)
    }

    /// Takes a sample of such a channel.
    pub fn sample(&mut self, role: Role, time: Time, value: &Value<'_>, registry: &Registry) {
        let Some(teller) = TELLERS.get(role.teller) else { return };
        // A better source that exists will follow soon, if it has not already.
        let best = self.there.first() == Some(&role.teller);
        let written = match (teller, value) {
            (Teller::Flags(_), Value::Boolean(on)) => {
                let flags = self.flags.entry(role.teller).or_default();
                if !best {
                    return flags.set(role.bit, *on);
                }
                self.known.extend(flags.push(time, role.bit, *on));
                None
            }
            (Teller::Struct(_) | Teller::Word(_) | Teller::Name(_), value) if best => {
                match teller.mode(value, registry) {
                    Some(mode) => Some((time, mode)),
                    None => return,
                }
            }
            _ => return,
        };
        let before = std::mem::replace(&mut self.written, written);
        if self.last.replace(role.teller) == Some(role.teller) {
            self.known.extend(before);
        }
    }

    /// It is that late: what came together is there.
    pub fn reach(&mut self, now: Time) {
        let flags = self.flags_mut().and_then(|flags| flags.settled(now));
        self.known.extend(flags);
        self.known.extend(self.written.take_if(|(time, _)| now.since(*time) > TOGETHER_NS));
    }

    /// No more will come.
    pub fn finish(&mut self) {
        let flags = self.flags_mut().and_then(Flags::settle);
        self.known.extend(flags);
        self.known.extend(self.written.take());
    }

    /// From when on the mode is not known yet.
    pub fn open_since(&self) -> Option<Time> {
        let flags = self.flags.get(&self.last?).and_then(|flags| flags.at);
        flags.or(self.written.map(|(time, _)| time))
    }

    /// The flags of the source of the last mode.
    fn flags_mut(&mut self) -> Option<&mut Flags> {
        self.flags.get_mut(&self.last?)
    }

    /// The next mode that is known, and when it began.
    pub fn take(&mut self) -> Option<(Time, Mode)> {
        self.known.pop_front()
    }

    /// Whether any mode was stated.
    pub fn is_told(&self) -> bool {
        self.last.is_some()
    }
}

/// The sources of modes, the best first. Live, the names of NetworkTables come without their prefix.
const TELLERS: [Teller; 14] = [
    Teller::Flags(["DS:enabled", "DS:autonomous", "DS:test", "DS:estop"]),
    Teller::Flags([
        "/DriverStation/Enabled",
        "/DriverStation/Autonomous",
        "/DriverStation/Test",
        "/DriverStation/EmergencyStop",
    ]),
    Teller::Flags([
        "DriverStation/Enabled",
        "DriverStation/Autonomous",
        "DriverStation/Test",
        "DriverStation/EmergencyStop",
    ]),
    Teller::Flags([
        "NT:/AdvantageKit/DriverStation/Enabled",
        "NT:/AdvantageKit/DriverStation/Autonomous",
        "NT:/AdvantageKit/DriverStation/Test",
        "NT:/AdvantageKit/DriverStation/EmergencyStop",
    ]),
    Teller::Flags([
        "/AdvantageKit/DriverStation/Enabled",
        "/AdvantageKit/DriverStation/Autonomous",
        "/AdvantageKit/DriverStation/Test",
        "/AdvantageKit/DriverStation/EmergencyStop",
    ]),
    Teller::Struct("DS:controlWord"),
    // What the station asks for, from its link with the robot or its own log.
    Teller::Flags(["/ds/control/enabled", "/ds/control/autonomous", "/ds/control/test", "/ds/control/estop"]),
    Teller::Struct("NT:/FMSInfo/ControlWord"),
    Teller::Struct("/FMSInfo/ControlWord"),
    Teller::Word("NT:/FMSInfo/FMSControlData"),
    Teller::Word("NT:/FMSInfo/FMSControlWord"),
    Teller::Word("/FMSInfo/FMSControlData"),
    Teller::Word("/FMSInfo/FMSControlWord"),
    // Phoenix 6 writes it every 20 ms, so hoot logs that were converted have it.
    Teller::Name("RobotMode"),
];

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
