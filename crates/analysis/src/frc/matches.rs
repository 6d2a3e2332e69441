use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Sample, Value};
use serde_json::Value as Json;

use super::series::LIKELY;
use logpose_files::Log;
use logpose_files::internal::{NamedChannels, integer};

/// Which match it was.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Match {
    /// The event's code.
    pub event: Option<String>,
    /// What kind of match.
    pub kind: MatchKind,
    /// Its number.
    pub number: Option<u32>,
    /// Alliance and station, such as `red 2`.
    pub station: Option<String>,
    /// Game data that the field sent to the robot.
    pub game_data: Option<String>,
}

/// What kind of match.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MatchKind {
    /// For practice.
    Practice,
    /// For ranking.
    Qualification,
    /// For the title.
    Elimination,
    /// The log does not say.
    Unknown,
}

impl MatchKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Practice => "practice",
            Self::Qualification => "qualification",
            Self::Elimination => "elimination",
            Self::Unknown => "unknown",
        }
    }

    /// The letter that stands for it in the names of files, such as the `Q` of `Q12`.
    #[must_use]
    pub fn letter(self) -> Option<char> {
        match self {
            Self::Practice => Some('P'),
            Self::Qualification => Some('Q'),
            Self::Elimination => Some('E'),
            Self::Unknown => None,
        }
    }

    fn from_letter(letter: char) -> Option<Self> {
        match letter.to_ascii_lowercase() {
            'p' => Some(Self::Practice),
            'q' => Some(Self::Qualification),
            'e' => Some(Self::Elimination),
            _ => None,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Practice, Self::Qualification, Self::Elimination].into_iter().find(|kind| kind.name() == name)
    }

    fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::Practice),
            2 => Some(Self::Qualification),
            3 => Some(Self::Elimination),
            _ => None,
        }
    }
}

/// The match, found in samples as they arrive: what [`Match`] is for a log that is finished.
///
/// The channels are those that a finished log is asked for.
#[derive(Clone, Debug, Default)]
pub struct MatchWatch {
    lanes: HashMap<ChannelId, (usize, Field)>,
    /// What each source says, and behind them what a station says.
    claim: [MatchClaim; SOURCES.len() + 1],
}

/// What one source says at the moment.
#[derive(Clone, Debug, Default)]
struct MatchClaim {
    event: Option<String>,
    kind: Option<MatchKind>,
    number: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Event,
    Kind,
    Number,
    /// All three, as a station has them.
    All,
}

impl MatchWatch {
    /// A channel exists from here on. Most are of no interest.
    pub fn channel(&mut self, id: ChannelId, channel: &Channel) {
        let source = |(place, prefix): (usize, &&str)| {
            let field = match channel.name.strip_prefix(prefix)? {
                EVENT => Field::Event,
                KIND => Field::Kind,
                NUMBER => Field::Number,
                _ => return None,
            };
            Some((place, field))
        };
        let station = || (channel.name == STATION_MATCH).then_some((SOURCES.len(), Field::All));
        if let Some(found) = SOURCES.iter().enumerate().find_map(source).or_else(station) {
            self.lanes.insert(id, found);
        }
    }

    /// How many channels are of interest.
    #[must_use]
    pub fn watches(&self) -> usize {
        self.lanes.len()
    }

    /// Takes one sample in.
    #[inline]
    pub fn sample(&mut self, sample: &Sample<'_>) {
        let Some((source, field)) = self.lanes.get(&sample.channel) else { return };
        let Some(claim) = self.claim.get_mut(*source) else { return };
        let number = || integer(&sample.value);
        match field {
            Field::Event => {
                if let Value::String(text) = &sample.value {
                    claim.event = Some(String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty());
                }
            }
            Field::Kind => claim.kind = number().and_then(MatchKind::from_number),
            Field::Number => {
                claim.number = number().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
            }
            Field::All => {
                if let Value::String(text) = &sample.value {
                    *claim = MatchClaim::from_json(&serde_json::from_slice(text).unwrap_or_default());
                }
            }
        }
    }

    /// The match that is on, if a source has both its kind and its number.
    #[must_use]
    pub fn current(&self) -> Option<Match> {
        self.claim.iter().find_map(|claim| {
            let (kind, number) = (claim.kind?, claim.number?);
            let event = claim.event.clone();
            Some(Match { event, kind, number: Some(number), station: None, game_data: None })
        })
    }
}

impl MatchClaim {
    /// What a station says about a match; nothing while there is none.
    fn from_json(json: &Json) -> Self {
        let text = |key: &str| json.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        let number = json.get("number").and_then(Json::as_u64).and_then(|number| u32::try_from(number).ok());
        Self {
            event: text("event").map(str::to_owned),
            kind: text("type").and_then(MatchKind::from_name),
            number: number.filter(|number| *number > 0),
        }
    }
}

impl Match {
    /// A short name, such as `2026casf Q12`, of what is known.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let kind = self.kind.letter().map(String::from).unwrap_or_default();
        let number = self.number.map(|number| format!("{kind}{number}"));
        let words: Vec<String> = self.event.iter().cloned().chain(number).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Whether this is another match than that one. Values that one of them lacks make no difference.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        let other_event = matches!((&self.event, &other.event), (Some(a), Some(b)) if a != b);
        self.kind != other.kind || self.number != other.number || other_event
    }
}

/// What stands in front of the names of channels that describe the match: AdvantageKit's with and without a slash,
/// those of NetworkTables as DataLogManager captures them, and as they are.
const SOURCES: [&str; 6] = [
    "/DriverStation/",
    "DriverStation/",
    "NT:/FMSInfo/",
    "NT:/AdvantageKit/DriverStation/",
    "/FMSInfo/",
    "/AdvantageKit/DriverStation/",
];
const EVENT: &str = "EventName";
const KIND: &str = "MatchType";
const NUMBER: &str = "MatchNumber";
const GAME_DATA: &str = "GameSpecificMessage";
/// What a station sends to the robot about the match, as JSON.
const STATION_MATCH: &str = "/ds/match";

impl Match {
    /// The match of a log, by its channels and by the name of the file.
    #[must_use]
    pub fn of(log: &Log) -> Option<Self> {
        find(log, &NamedChannels::new(log, &LIKELY))
    }
}

/// The match by the channels, and what they lack by the name of the file.
pub(super) fn find(log: &Log, known: &NamedChannels<'_>) -> Option<Match> {
    let by_name = log.path.file_name().and_then(|name| from_file_name(&name.to_string_lossy()));
    let by_channels = SOURCES.iter().find_map(|prefix| from_channels(known, prefix)).or_else(|| from_station(known));
    match (by_channels, by_name) {
        (Some(claim), Some(named)) => Some(Match {
            event: claim.event.or(named.event),
            kind: if claim.kind == MatchKind::Unknown { named.kind } else { claim.kind },
            number: claim.number.or(named.number),
            station: claim.station,
            game_data: claim.game_data,
        }),
        (claim, named) => claim.or(named),
    }
}

fn from_channels(known: &NamedChannels<'_>, prefix: &str) -> Option<Match> {
    let name = |last: &str| format!("{prefix}{last}");
    let kind = known.last_integer(&name(KIND)).and_then(MatchKind::from_number);
    let event = known.last_text(&name(EVENT));
    if kind.is_none() && event.is_none() {
        return None;
    }
    let number = known.last_integer(&name(NUMBER)).and_then(|number| u32::try_from(number).ok());
    let (kind, station) = (kind.unwrap_or(MatchKind::Unknown), station(known, prefix));
    Some(Match { event, kind, number, station, game_data: known.last_text(&name(GAME_DATA)) })
}

/// The last match that a station announced.
fn from_station(known: &NamedChannels<'_>) -> Option<Match> {
    let mut last = None;
    known.json(STATION_MATCH, |_, json| {
        let claim = MatchClaim::from_json(json);
        last = if claim.kind.is_some() || claim.event.is_some() { Some(claim) } else { last.take() };
    });
    let MatchClaim { event, kind, number } = last?;
    let (station, game_data) = (known.last_text("/ds/control/station"), known.last_text("/ds/game_data"));
    Some(Match { event, kind: kind.unwrap_or(MatchKind::Unknown), number, station, game_data })
}

fn station(known: &NamedChannels<'_>, prefix: &str) -> Option<String> {
    // WPILib's AllianceStationID: 1 to 3 are red, 4 to 6 blue.
    if let Some(id @ 1..=6) = known.last_integer(&format!("{prefix}AllianceStation")) {
        return Some(if id <= 3 { format!("red {id}") } else { format!("blue {}", id - 3) });
    }
    let (_, red) = known.booleans(&format!("{prefix}IsRedAlliance")).pop()?;
    let station = known.last_integer(&format!("{prefix}StationNumber"))?;
    Some(format!("{} {station}", if red { "red" } else { "blue" }))
}

/// `FRC_20260321_142233_DEMO_Q12.wpilog`, `akit_26-03-21_14-22-33_demo_q12.wpilog`, `Log_…_q12.rlog`.
fn from_file_name(name: &str) -> Option<Match> {
    let stem = name.split('.').next()?;
    let mut words = stem.split('_');
    matches!(words.next()?, "FRC" | "WPILIB" | "akit" | "Log").then_some(())?;
    // The date and the time.
    words.by_ref().take(2).all(|word| word.chars().all(|c| c.is_ascii_digit() || c == '-')).then_some(())?;
    let rest: Vec<&str> = words.collect();
    let (last, event) = rest.split_last()?;
    let mut letters = last.chars();
    let kind = MatchKind::from_letter(letters.next()?)?;
    let number = letters.as_str().parse().ok()?;
    let event = Some(event.join("_")).filter(|event| !event.is_empty());
    Some(Match { event, kind, number: Some(number), station: None, game_data: None })
}

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, Sample, Time, Value};

    use super::{MatchKind, MatchWatch, from_file_name};

    #[test]
    fn a_match_is_on_when_its_kind_and_number_are_told() {
        let mut watch = MatchWatch::default();
        for (id, name) in (0..).zip(["/Drive/MatchNumber", "NT:/FMSInfo/MatchNumber", "NT:/FMSInfo/MatchType"]) {
            watch.channel(id, &Channel::new(name, "double"));
        }
        watch.channel(3, &Channel::new("NT:/FMSInfo/EventName", "string"));
        let mut on = |channel: u32, value: Value<'_>| {
            watch.sample(&Sample { channel, time: Time::ZERO, value });
            watch.current().map(|found| (found.event, found.kind, found.number))
        };
        assert_eq!(on(0, Value::Double(99.0)), None);
        assert_eq!(on(1, Value::Double(12.0)), None);
        assert_eq!(on(2, Value::Double(2.0)), Some((None, MatchKind::Qualification, Some(12))));
        let event = Some("DEMO".to_owned());
        assert_eq!(on(3, Value::String(b"DEMO")), Some((event, MatchKind::Qualification, Some(12))));
        assert_eq!(on(1, Value::Double(0.0)), None);
    }

    #[test]
    fn a_station_tells_all_of_a_match_at_once() {
        let mut watch = MatchWatch::default();
        watch.channel(7, &Channel::new("/ds/match", "json"));
        let mut on = |json: &str| {
            watch.sample(&Sample { channel: 7, time: Time::ZERO, value: Value::String(json.as_bytes()) });
            watch.current().map(|found| (found.event, found.kind, found.number))
        };
        let event = Some("TXPAS".to_owned());
        let claim = r#"{"event":"TXPAS","type":"elimination","number":3,"replay":1}"#;
        assert_eq!(on(claim), Some((event, MatchKind::Elimination, Some(3))));
        assert_eq!(on(r#"{"event":"","type":"none","number":0,"replay":0}"#), None);
        assert_eq!(on("nonsense"), None);
    }

    #[test]
    fn file_names_tell_the_match() {
        let cases = [
            ("FRC_20260321_142233_DEMO_Q12.wpilog", Some((Some("DEMO"), MatchKind::Qualification, 12))),
            ("FRC_20240307_191055_NYTR_E3.2.wpilog", Some((Some("NYTR"), MatchKind::Elimination, 3))),
            ("akit_26-03-21_14-22-33_demo_q12.wpilog", Some((Some("demo"), MatchKind::Qualification, 12))),
            ("Log_22-03-05_09-00-00_p7.rlog", Some((None, MatchKind::Practice, 7))),
            ("FRC_20260321_142233.wpilog", None),
            ("FRC_TBD_0123456789abcdef.wpilog", None),
            ("notes_q12.wpilog", None),
        ];
        for (name, expected) in cases {
            let found = from_file_name(name);
            let found = found.as_ref().map(|m| (m.event.as_deref(), m.kind, m.number.unwrap_or(0)));
            assert_eq!(found, expected, "{name}");
        }
    }
}
