//! What records and texts mean as channels and samples.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::LazyLock;

use logpose_core::{Channel, Value};
use logpose_driverstation::pd::{Kind, PDH_LEN, PDP_LEN, PowerDistribution};
use logpose_driverstation::{ErrorRecord, Name, Origin};

use crate::events::{Coded, Entry, EntryPart, ErrorEntry, Joystick, Match, PORTS, entries_back, parts, whole_entry};
use crate::wire::{Mode, Record};

/// One of the channels that a log can have, as an index into the table of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Topic(u8);

/// A set of topics of records.
pub(crate) type TopicSet = u64;

/// How many topics there are.
pub(crate) const TOPICS: usize = JOYSTICK as usize + PORTS as usize;

/// Topics of records. The first ones are booleans, with a sample for every change.
const OF_RECORDS: [Option<Name>; CURRENT as usize] = [
    Some(Name::Connected),
    Some(Name::ControlEnabled),
    Some(Name::ControlAutonomous),
    Some(Name::ControlTest),
    Some(Name::StatusBrownout),
    Some(Name::Watchdog),
    Some(Name::RobotDisabled),
    Some(Name::RobotTeleop),
    Some(Name::RobotAutonomous),
    Some(Name::PdType),
    Some(Name::PdId),
    Some(Name::PdFaults),
    Some(Name::Battery),
    Some(Name::TripTime),
    Some(Name::PacketLoss),
    Some(Name::PacketLossRaw),
    Some(Name::Cpu),
    Some(Name::CanUtilization),
    // Wi-Fi signal and bandwidth, which the link does not have.
    None,
    None,
    Some(Name::PdTotalCurrent),
    Some(Name::PdVoltage),
    Some(Name::PdTemperature),
    Some(Name::PdResistance),
    // A panel that nobody knows: tag 08 of a status packet.
    Some(Name::Unknown { from: Origin::Status, id: 8 }),
];
const FLAGS: u8 = 9;
const PD_TYPE: u8 = 9;
const PD_ID: u8 = 10;
const PD_FAULTS: u8 = 11;
const BATTERY: u8 = 12;
const TRIP_TIME: u8 = 13;
const LOSS: u8 = 14;
const LOSS_RAW: u8 = 15;
const CPU: u8 = 16;
const CAN: u8 = 17;
const WIFI: u8 = 18;
const BANDWIDTH: u8 = 19;
const PD_TOTAL: u8 = 20;
const PD_VOLTAGE: u8 = 21;
const PD_TEMPERATURE: u8 = 22;
const PD_RESISTANCE: u8 = 23;
const UNKNOWN_PD: u8 = 24;
/// The first current; there are as many as the larger panel has.
const CURRENT: u8 = 25;
const CURRENTS: usize = Kind::Pdh.channels();

/// Topics of event texts.
const OF_TEXTS: [Name; (JOYSTICK - TEXTS) as usize] = [
    Name::Console,
    Name::ConsoleTime,
    Name::Errors,
    Name::Events,
    Name::Match,
    Name::GameData,
    Name::DiskFree,
    Name::RamFree,
    Name::FaultsComms,
    Name::FaultsBrownout12V,
    Name::FaultsRail6V,
    Name::FaultsRail5V,
    Name::FaultsRail3V3,
    Name::Versions,
];
const TEXTS: u8 = 49;
const CONSOLE: u8 = 49;
const CONSOLE_TIME: u8 = 50;
const ERRORS: u8 = 51;
const EVENTS: u8 = 52;
const MATCH: u8 = 53;
const GAME_DATA: u8 = 54;
const DISK: u8 = 55;
const RAM: u8 = 56;
const COMMS: u8 = 57;
const BROWNOUTS: u8 = 58;
const RAIL_6V: u8 = 59;
const RAIL_5V: u8 = 60;
const RAIL_3V3: u8 = 61;
const VERSIONS: u8 = 62;
/// The first joystick.
const JOYSTICK: u8 = 63;

/// In every record.
const ALWAYS: TopicSet = 1 << LOSS | 1 << LOSS_RAW | 1 << CPU | 1 << CAN;
/// Of every panel, of the CTRE PDP, and of the REV PDH.
const OF_PANEL: TopicSet = 1 << PD_TOTAL | currents(0, Kind::Pdp.channels());
const OF_PDP: TopicSet = 1 << PD_VOLTAGE | 1 << PD_TEMPERATURE;
const OF_PDH: TopicSet = currents(Kind::Pdp.channels(), CURRENTS);
const fn currents(from: usize, to: usize) -> TopicSet {
    ((1 << to) - (1 << from)) << CURRENT
}

impl Topic {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..).take(TOPICS).map(Self)
    }

    /// The topics of a set.
    #[inline]
    pub(crate) fn of(mut topics: TopicSet) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let topic = u8::try_from(topics.trailing_zeros()).ok().filter(|_| topics != 0)?;
            topics &= topics - 1;
            Some(Self(topic))
        })
    }

    /// The topic's place among all.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0.into()
    }

    /// The set of this topic alone; empty if it is none of records.
    pub(crate) fn set(self) -> TopicSet {
        if self.0 < TEXTS { 1 << self.0 } else { 0 }
    }

    /// The topic whose samples are in the same records, one for all that are.
    pub(crate) fn leader(self) -> Self {
        let groups = [ALWAYS, OF_PANEL, OF_PDP, OF_PDH];
        let group = groups.into_iter().find(|group| group & self.set() != 0);
        group.and_then(|group| Self::of(group).next()).unwrap_or(self)
    }

    /// The leaders among topics.
    #[inline]
    pub(crate) fn leaders(topics: TopicSet) -> impl Iterator<Item = Self> {
        const FOLLOWERS: TopicSet = followers(ALWAYS) | followers(OF_PANEL) | followers(OF_PDP) | followers(OF_PDH);
        Self::of(topics & !FOLLOWERS)
    }

    /// The topic of the channel of that name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        static NAMES: LazyLock<HashMap<String, Topic>> =
            LazyLock::new(|| Topic::all().map(|topic| (topic.channel().name, topic)).collect());
        NAMES.get(name).copied()
    }

    /// The channel.
    pub(crate) fn channel(self) -> Channel {
        let plain = |name, unit: &str| Channel { unit: Some(unit.to_owned()), ..Channel::new(name, "double") };
        let name = match self.0 {
            WIFI => return plain("/ds/wifi_signal", "dB"),
            BANDWIDTH => return plain("/ds/bandwidth", "Mb/s"),
            CURRENT..TEXTS => Some(Name::PdCurrent(self.0 - CURRENT)),
            JOYSTICK.. => Some(Name::Descriptor(self.0 - JOYSTICK)),
            TEXTS.. => OF_TEXTS.get(usize::from(self.0 - TEXTS)).copied(),
            _ => OF_RECORDS.get(self.place()).copied().flatten(),
        };
        name.map_or_else(Channel::default, Name::channel)
    }

    /// How many bytes of the file a sample takes, where that is always the same: what is made of others takes none.
    pub(crate) fn bytes(self) -> u64 {
        match self.0 {
            BATTERY | BANDWIDTH => 2,
            TRIP_TIME | LOSS | CPU | CAN | WIFI | PD_VOLTAGE | PD_TEMPERATURE | PD_RESISTANCE => 1,
            CURRENT..TEXTS => 1,
            _ => 0,
        }
    }
}

impl Topic {
    /// How many bytes of a record a sample takes, where it is not always the same.
    #[inline]
    pub(crate) fn taken(self, record: &Record<'_>) -> u64 {
        if self.0 == UNKNOWN_PD { record.pd.len() as u64 } else { 0 }
    }
}

const fn followers(group: TopicSet) -> TopicSet {
    group & (group - 1)
}

/// What changes rarely, as the last record left it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    flags: Option<u16>,
    panel: Option<(Kind, u8)>,
    faults: Option<u32>,
}

/// What is true of a record, in the order of the topics.
#[inline]
fn flags(record: &Record<'_>) -> u16 {
    let (status, mode) = (record.status, record.mode());
    let all: [bool; FLAGS as usize] = [
        record.is_connected(),
        mode != Mode::Disabled,
        status.ds_autonomous(),
        mode == Mode::Test,
        status.brownout(),
        status.watchdog(),
        status.robot_disabled(),
        status.robot_teleop(),
        status.robot_autonomous(),
    ];
    all.into_iter().rev().fold(0, |flags, flag| flags << 1 | u16::from(flag))
}

impl State {
    /// The topics that have a sample in the next record.
    #[inline]
    pub(crate) fn step(&mut self, record: &Record<'_>, power: Option<&PowerDistribution>) -> TopicSet {
        let now = flags(record);
        let changed = self.flags.replace(now).map_or((1 << FLAGS) - 1, |last| last ^ now);
        let mut topics = ALWAYS | TopicSet::from(changed);
        let mut also = |there: bool, topic: u8| topics |= if there { 1 << topic } else { 0 };
        also(record.is_connected(), BATTERY);
        also(record.trip_time().is_some(), TRIP_TIME);
        also(record.wifi != 0, WIFI);
        also(record.bandwidth != 0, BANDWIDTH);
        also(power.is_none() && !record.is_without_power(), UNKNOWN_PD);
        if let Some(power) = power {
            let (kind, id) = (power.kind(), power.id());
            let before = self.panel.replace((kind, id));
            also(before.is_none_or(|(before, _)| before != kind), PD_TYPE);
            also(before.is_none_or(|(_, before)| before != id), PD_ID);
            also(power.resistance().is_some(), PD_RESISTANCE);
            if let Some(faults) = power.faults() {
                also(self.faults.replace(faults) != Some(faults), PD_FAULTS);
            }
            topics |= OF_PANEL | if kind == Kind::Pdp { OF_PDP } else { OF_PDH };
        }
        topics
    }

    /// Takes what is not known yet from a record further in front. Tells whether others of its length could add something.
    pub(crate) fn recall(&mut self, record: &Record<'_>) -> bool {
        self.flags.get_or_insert_with(|| flags(record));
        let may_add = |state: &Self| {
            let (pdp, pdh) = (record.pd.len() == PDP_LEN, record.pd.len() == PDH_LEN);
            state.panel.is_none() && (pdp || pdh) || state.faults.is_none() && pdh
        };
        if may_add(self)
            && let Some(power) = record.power()
        {
            self.panel.get_or_insert((power.kind(), power.id()));
            self.faults = self.faults.or(power.faults());
        }
        may_add(self)
    }
}

/// A record whose values are wanted.
pub(crate) struct Values<'a> {
    record: Record<'a>,
    power: Option<PowerDistribution>,
    currents: [f64; CURRENTS],
    total: f64,
}

impl<'a> Values<'a> {
    #[inline]
    pub(crate) fn new(record: &Record<'a>, power: Option<PowerDistribution>) -> Self {
        let mut values = Self { record: *record, power, currents: [0.0; CURRENTS], total: 0.0 };
        if let Some(power) = &values.power {
            values.currents.iter_mut().zip(power.currents()).for_each(|(place, current)| *place = current);
            values.total = values.currents.iter().sum();
        }
        values
    }

    /// The value of a topic that has a sample in the record.
    #[inline]
    pub(crate) fn value(&self, topic: Topic) -> Option<Value<'a>> {
        let record = &self.record;
        Some(match topic.0 {
            0..FLAGS => Value::Boolean(flags(record) >> topic.0 & 1 != 0),
            PD_TYPE => Value::String(self.power.as_ref()?.kind().name().as_bytes()),
            PD_ID => Value::Int64(self.power.as_ref()?.id().into()),
            PD_FAULTS => Value::Int64(self.power.as_ref()?.faults()?.into()),
            BATTERY => Value::Double(record.volts()?),
            TRIP_TIME => Value::Double(record.trip_time()?),
            LOSS => Value::Double(record.packet_loss()),
            LOSS_RAW => Value::Int64(record.loss.into()),
            CPU => Value::Double(f64::from(record.cpu) / 200.0),
            CAN => Value::Double(f64::from(record.can) / 200.0),
            WIFI => Value::Double(f64::from(record.wifi) * 0.5),
            BANDWIDTH => Value::Double(f64::from(record.bandwidth) / 256.0),
            PD_TOTAL => Value::Double(self.total),
            PD_VOLTAGE => Value::Double(self.power.as_ref()?.voltage()?),
            PD_TEMPERATURE => Value::Double(self.power.as_ref()?.temperature()?),
            PD_RESISTANCE => Value::Double(self.power.as_ref()?.resistance()?),
            UNKNOWN_PD => Value::Bytes(record.pd),
            CURRENT..TEXTS => Value::Double(*self.currents.get(usize::from(topic.0 - CURRENT))?),
            _ => return None,
        })
    }
}

/// One value in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<'a> {
    Text(&'a [u8]),
    Double(f64),
    Int(i64),
    Error(ErrorEntry<'a>),
    Coded(Coded<'a>),
    Match(Match<'a>),
    Joystick(Joystick<'a>),
    Version(&'a [u8], &'a [u8]),
}

/// Where in the text it stands.
pub(crate) struct Place {
    pub(crate) topic: Topic,
    /// Its first byte, counted from that of the text.
    pub(crate) at: usize,
    /// How many bytes of the text it takes; nothing where another sample has them already.
    pub(crate) length: usize,
}

/// The event that a text names.
pub(crate) fn event_in(text: &[u8]) -> Option<&[u8]> {
    parts(whole_entry(text)).find_map(|(_, part)| match part {
        EntryPart::EventName(name) if !name.is_empty() => Some(name),
        _ => None,
    })
}

/// All values of a text in the order in which they happened: in a text the newest comes first.
pub(crate) fn read_text<'a>(text: &'a [u8], mut take: impl FnMut(Place, Said<'a>)) {
    for (at, entry) in entries_back(text) {
        let length = entry.len();
        match Entry::parse(entry) {
            Entry::Console(line) => {
                take(Place { topic: Topic(CONSOLE), at, length }, Said::Text(line.text));
                take(Place { topic: Topic(CONSOLE_TIME), at, length: 0 }, Said::Double(line.time));
            }
            Entry::Error(error) => take(Place { topic: Topic(ERRORS), at, length }, Said::Error(error)),
            Entry::Other(entry) => {
                let parts: Vec<_> = parts(entry).collect();
                for (within, part) in parts.into_iter().rev() {
                    let values = part.values().into_iter().flatten();
                    values.for_each(|(topic, said)| {
                        take(Place { topic: Topic(topic), at: at + within, length: 0 }, said)
                    });
                }
                take(Place { topic: Topic(EVENTS), at, length }, Said::Text(entry));
            }
        }
    }
}

/// The values at the front of `rest`, which goes to the end of the text.
pub(crate) fn told_at(topic: Topic, rest: &[u8]) -> Option<Said<'_>> {
    let entry = whole_entry(rest);
    if topic.0 == EVENTS {
        return Some(Said::Text(entry));
    }
    match (Entry::parse(entry), topic.0) {
        (Entry::Console(line), CONSOLE) => Some(Said::Text(line.text)),
        (Entry::Console(line), CONSOLE_TIME) => Some(Said::Double(line.time)),
        (Entry::Error(error), ERRORS) => Some(Said::Error(error)),
        (Entry::Other(entry), wanted) => {
            let values = EntryPart::parse(entry).0?.values();
            values.into_iter().flatten().find(|(topic, _)| *topic == wanted).map(|(_, said)| said)
        }
        _ => None,
    }
}

impl<'a> EntryPart<'a> {
    /// Its values and their topics.
    fn values(self) -> [Option<(u8, Said<'a>)>; 3] {
        let one = |topic, said| [Some((topic, said)), None, None];
        let int = |topic, n| Some((topic, Said::Int(n)));
        match self {
            Self::Match(played) => one(MATCH, Said::Match(played)),
            Self::Joystick(stick) => one(JOYSTICK + stick.port, Said::Joystick(stick)),
            Self::Free { disk, memory } => [int(DISK, megabytes(disk)), int(RAM, megabytes(memory)), None],
            Self::Faults { comms, brownouts } => [int(COMMS, comms), int(BROWNOUTS, brownouts), None],
            Self::Rails { v6, v5, v3 } => [int(RAIL_6V, v6), int(RAIL_5V, v5), int(RAIL_3V3, v3)],
            Self::Version { name, version } => one(VERSIONS, Said::Version(name, version)),
            Self::Coded(coded) => one(ERRORS, Said::Coded(coded)),
            Self::GameData(text) => one(GAME_DATA, Said::Text(text)),
            Self::EventName(_) | Self::CodeStart | Self::CodeRestart | Self::Reboot | Self::TagIssue => [None; 3],
        }
    }
}

fn megabytes(n: i64) -> i64 {
    n.saturating_mul(1_000_000)
}

impl<'a> Said<'a> {
    /// The value, if it is a piece of the text or a number.
    pub(crate) fn value(&self) -> Option<Value<'a>> {
        match self {
            Self::Text(text) => Some(Value::String(text)),
            Self::Double(x) => Some(Value::Double(*x)),
            Self::Int(n) => Some(Value::Int64(*n)),
            _ => None,
        }
    }

    /// Appends the value as JSON; `event` is the event of the log's match.
    pub(crate) fn emit(&self, event: Option<&str>, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = match *self {
            Self::Text(_) | Self::Double(_) | Self::Int(_) => Ok(()),
            Self::Error(error) => {
                ErrorRecord {
                    error: error.is_error(),
                    code: error.code,
                    details: error.details,
                    location: error.location,
                    stack: error.stack,
                    flags: Some(error.flags),
                    count: Some(error.count),
                    time: Some(error.time),
                    sequence: None,
                }
                .put(out);
                Ok(())
            }
            Self::Coded(Coded { is_error: error, code, text: details }) => {
                ErrorRecord { error, code, details, ..ErrorRecord::default() }.put(out);
                Ok(())
            }
            Self::Match(m) => {
                let event = event.map_or_else(|| "null".to_owned(), |name| Quoted(name.as_bytes()).to_string());
                let time = m.field_time.map_or_else(|| "null".to_owned(), |time| format!("\"{time}\""));
                let kind = m.kind.to_ascii_lowercase();
                let (kind, number, replay) = (Quoted(&kind), m.number, m.replay);
                write!(
                    out,
                    r#"{{"event":{event},"type":{kind},"number":{number},"replay":{replay},"field_time":{time}}}"#
                )
            }
            Self::Joystick(s) => {
                // Of the axes only their number is known, not their types.
                let axes = vec!["null"; usize::try_from(s.axes).unwrap_or(0).min(usize::from(u8::MAX))].join(",");
                let (name, buttons, povs) = (Quoted(s.name), s.buttons, s.povs);
                write!(
                    out,
                    r#"{{"name":{name},"xbox":null,"type":null,"axes":[{axes}],"buttons":{buttons},"povs":{povs}}}"#
                )
            }
            Self::Version(name, version) => {
                write!(out, r#"{{"type":null,"id":null,"name":{},"version":{}}}"#, Quoted(name), Quoted(version))
            }
        };
    }
}

/// Text as a JSON string.
struct Quoted<'a>(&'a [u8]);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy(self.0);
        f.write_str(&serde_json::to_string(&*text).map_err(|_| std::fmt::Error)?)
    }
}
