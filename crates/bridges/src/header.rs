use logpose_core::{Channel, ChannelId, Fact, Time};
use serde_json::{Map, Value as Json, json};

/// What a file keeps besides samples, to give back the same log.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Header {
    /// The name of the dialect that the log had.
    pub origin: String,
    /// What that dialect had to say about the log as a whole, such as `extra_header` and `version`.
    pub facts: Vec<(String, String)>,
    /// What to add to a time to get Unix nanoseconds, if it is known.
    pub epoch_ns: Option<i64>,
    /// The channels; a channel's number is its place.
    pub channels: Vec<Channel>,
}

/// Something that happened to a channel between two samples.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Event {
    /// How many samples stand before it.
    pub(crate) row: u64,
    pub(crate) channel: ChannelId,
    pub(crate) what: What,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum What {
    /// It exists from here on, with these metadata.
    Start(String),
    /// Its metadata are others from here on.
    Metadata(Time, String),
    /// It has no value from here on.
    End(Time),
}

/// Facts that are given back under the same key, because a fact's key is a word of the program.
const FACTS: [&str; 13] = [
    "version",
    "extra_header",
    "revision",
    "cycles",
    "keys",
    "profile",
    "library",
    "application",
    "link_types",
    "packets",
    "links",
    "rlog_streams",
    "unused_packets",
];

impl Header {
    /// The facts that a log of this header has.
    pub(crate) fn index_facts(&self) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        if !self.origin.is_empty() {
            facts.push(Fact { key: "origin", value: self.origin.clone() });
        }
        if let Some(ns) = self.epoch_ns {
            facts.push(Fact { key: "epoch_ns", value: ns.to_string() });
        }
        for (key, value) in &self.facts {
            if let Some(key) = FACTS.iter().find(|known| *known == key) {
                facts.push(Fact { key, value: value.clone() });
            }
        }
        facts
    }

    /// The header as JSON, with the events if there are any.
    pub(crate) fn to_json(&self, events: &[Event]) -> String {
        let mut object = Map::new();
        object.insert("version".into(), VERSION.into());
        object.insert("origin".into(), self.origin.as_str().into());
        if let Some(ns) = self.epoch_ns {
            object.insert("epoch_ns".into(), ns.into());
        }
        let facts = self.facts.iter().map(|(key, value)| json!([key, value]));
        object.insert("facts".into(), facts.collect());
        object.insert("channels".into(), self.channels.iter().map(channel_to_json).collect());
        if !events.is_empty() {
            object.insert("events".into(), events.iter().map(Event::to_json).collect());
        }
        Json::Object(object).to_string()
    }

    /// Reads back what [`Header::to_json`] wrote; the sentence says what is wrong with it.
    pub(crate) fn from_json(text: &str, channels: u32) -> Result<(Self, Vec<Event>), String> {
        let json: Json = serde_json::from_str(text).map_err(|error| format!("the header is not JSON: {error}"))?;
        match json.get("version").and_then(Json::as_u64) {
            Some(VERSION) => {}
            Some(version) => return Err(format!("unsupported header version {version}, expected {VERSION}")),
            None => return Err("the header has no version".to_owned()),
        }
        let list = |key: &str| json.get(key).and_then(Json::as_array).map_or(&[][..], |list| list);
        let found = list("channels");
        if found.len() > channels as usize {
            return Err(format!("the header has {} channels, the limit is {channels}", found.len()));
        }
        let channels: Option<Vec<Channel>> = found.iter().map(channel_from_json).collect();
        let channels = channels.ok_or("a channel in the header has no name or type")?;
        let events: Option<Vec<Event>> = list("events").iter().map(Event::from_json).collect();
        let events = events.ok_or("invalid event in the header")?;
        let facts = list("facts").iter().filter_map(pair).collect();
        let origin = json.get("origin").and_then(Json::as_str).unwrap_or_default().to_owned();
        Ok((Self { origin, facts, epoch_ns: json.get("epoch_ns").and_then(Json::as_i64), channels }, events))
    }
}

/// The version of the JSON.
const VERSION: u64 = 1;

impl Event {
    fn to_json(&self) -> Json {
        let (row, channel) = (self.row, self.channel);
        match &self.what {
            What::Start(text) => json!([row, channel, "start", text]),
            What::Metadata(time, text) => json!([row, channel, "metadata", time.nanos(), text]),
            What::End(time) => json!([row, channel, "end", time.nanos()]),
        }
    }

    fn from_json(json: &Json) -> Option<Self> {
        let [row, channel, what, rest @ ..] = json.as_array()?.as_slice() else { return None };
        let time = |json: &Json| json.as_i64().map(Time::from_nanos);
        let what = match (what.as_str()?, rest) {
            ("start", [text]) => What::Start(text.as_str()?.to_owned()),
            ("metadata", [ns, text]) => What::Metadata(time(ns)?, text.as_str()?.to_owned()),
            ("end", [ns]) => What::End(time(ns)?),
            _ => return None,
        };
        Some(Self { row: row.as_u64()?, channel: ChannelId::try_from(channel.as_u64()?).ok()?, what })
    }
}

pub(crate) fn channel_to_json(channel: &Channel) -> Json {
    let mut object = Map::new();
    object.insert("name".into(), channel.name.as_str().into());
    object.insert("type".into(), channel.type_name.as_str().into());
    if let Some(unit) = &channel.unit {
        object.insert("unit".into(), unit.as_str().into());
    }
    if !channel.metadata.is_empty() {
        object.insert("metadata".into(), channel.metadata.as_str().into());
    }
    if let Some((table, key)) = channel.family.as_deref() {
        object.insert("family".into(), json!([table, key]));
    }
    Json::Object(object)
}

pub(crate) fn channel_from_json(json: &Json) -> Option<Channel> {
    let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
    Some(Channel {
        name: text("name")?,
        type_name: text("type")?,
        unit: text("unit"),
        metadata: text("metadata").unwrap_or_default(),
        family: json.get("family").and_then(pair).map(Box::new),
    })
}

fn pair(json: &Json) -> Option<(String, String)> {
    let [a, b] = json.as_array()?.as_slice() else { return None };
    Some((a.as_str()?.to_owned(), b.as_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Event, Header, What};
    use logpose_core::{Channel, Time};

    #[test]
    fn a_header_comes_back_whole() {
        let mut odd = Channel::new("/a \"quoted\"\n", "struct:Pose2d[]");
        odd.unit = Some("m/s".into());
        odd.metadata = "{\"source\":\"NT\"}".into();
        odd.family = Some(Box::new(("motor".into(), "7".into())));
        let header = Header {
            origin: "wpilog".into(),
            facts: vec![("extra_header".into(), "{}".into()), ("version".into(), "1.0".into())],
            epoch_ns: Some(-5),
            channels: vec![Channel::new("", ""), odd],
        };
        let events = vec![
            Event { row: 0, channel: 1, what: What::Start("x".into()) },
            Event { row: u64::MAX, channel: 0, what: What::Metadata(Time::MIN, "é".into()) },
            Event { row: 7, channel: 1, what: What::End(Time::MAX) },
        ];
        assert_eq!(Header::from_json(&header.to_json(&events), 2), Ok((header.clone(), events)));
        assert_eq!(Header::from_json(&header.to_json(&[]), 2), Ok((header, Vec::new())));
    }

    #[test]
    fn other_json_is_refused_with_a_sentence() {
        for (text, sentence) in [
            ("", "the header is not JSON: EOF while parsing a value at line 1 column 0"),
            ("[]", "the header has no version"),
            ("{\"version\":9}", "unsupported header version 9, expected 1"),
            ("{\"version\":1,\"channels\":[{}]}", "a channel in the header has no name or type"),
            ("{\"version\":1,\"channels\":[1,2,3]}", "the header has 3 channels, the limit is 2"),
            ("{\"version\":1,\"events\":[[1]]}", "invalid event in the header"),
        ] {
            assert_eq!(Header::from_json(text, 2).unwrap_err(), sentence);
        }
    }
}
