//! Text messages: lists of JSON objects with a method and its parameters.

use std::marker::PhantomData;

use serde_json::{Map, Value as Json, json};

use crate::error::{Error, ErrorKind};

/// The longest single JSON message. Real ones have some hundred bytes; parsed JSON takes up to seventy times its text.
const MESSAGE_LEN: usize = 1 << 20;

/// What a client asks of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// It will send values of a topic.
    Publish {
        /// The topic.
        name: String,
        /// The id that its binary messages will have.
        pubuid: i32,
        /// The type, if the topic is new.
        type_name: String,
        /// The properties, if the topic is new.
        properties: Map<String, Json>,
    },
    /// It will send no more of them.
    Unpublish {
        /// The id of the publisher.
        pubuid: i32,
    },
    /// Change properties of a topic.
    SetProperties {
        /// The topic.
        name: String,
        /// The new values; null takes a property away.
        update: Map<String, Json>,
    },
    /// It wants to hear of topics. With an id that is in use it replaces that subscription.
    Subscribe {
        /// Names, or beginnings of names.
        topics: Vec<String>,
        /// The id to unsubscribe with.
        subuid: i32,
        /// How.
        options: SubscribeOptions,
    },
    /// It wants no more of a subscription.
    Unsubscribe {
        /// The id of the subscription.
        subuid: i32,
    },
}

/// Messages from a server to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// A topic exists.
    Announce {
        /// Its name.
        name: String,
        /// The id that its binary messages have on this connection.
        id: i32,
        /// Its type string.
        type_name: String,
        /// The id of the publisher to whom this is the answer.
        pubuid: Option<i32>,
        /// Its properties.
        properties: Map<String, Json>,
    },
    /// A topic exists no more.
    Unannounce {
        /// Its name.
        name: String,
        /// Its id.
        id: i32,
    },
    /// Properties of a topic have changed.
    Properties {
        /// The topic.
        name: String,
        /// Whether it is the answer to a request of this client.
        ack: bool,
        /// The new values; null takes a property away.
        update: Map<String, Json>,
    },
}

/// How a subscription is to be served.
#[derive(Clone, Debug, PartialEq)]
pub struct SubscribeOptions {
    /// Seconds between two messages.
    pub periodic: f64,
    /// Whether every value is wanted, or only the last one in each period.
    pub all: bool,
    /// Whether no values are wanted, only announcements.
    pub topics_only: bool,
    /// Whether the names are beginnings of names.
    pub prefix: bool,
    /// Options that this program does not know.
    pub others: Map<String, Json>,
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self { periodic: 0.1, all: false, topics_only: false, prefix: false, others: Map::new() }
    }
}

impl SubscribeOptions {
    /// All options that are not at their defaults, as JSON has them.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Json> {
        let mut map = Map::new();
        let flags = [("all", self.all), ("topicsonly", self.topics_only), ("prefix", self.prefix)];
        map.extend(flags.into_iter().filter(|(_, set)| *set).map(|(key, _)| (key.to_owned(), Json::Bool(true))));
        if self.periodic.to_bits() != Self::default().periodic.to_bits() {
            map.insert("periodic".to_owned(), json!(self.periodic));
        }
        map.extend(self.others.iter().map(|(key, value)| (key.clone(), value.clone())));
        map
    }

    fn parse(mut map: Map<String, Json>, at: u64) -> Result<Self, Error> {
        let bad = |key, what| bad(at, "subscribe", key, what);
        let mut flag = |key| match map.remove(key) {
            None => Ok(false),
            Some(Json::Bool(set)) => Ok(set),
            Some(_) => Err(bad(key, "a boolean")),
        };
        let (all, topics_only, prefix) = (flag("all")?, flag("topicsonly")?, flag("prefix")?);
        let periodic = match map.remove("periodic") {
            None => Self::default().periodic,
            // What ntcore refuses: more milliseconds than 32 bits hold.
            Some(value) => match value.as_f64() {
                Some(seconds) if (0.0..=4_294_967.295).contains(&seconds) => seconds,
                _ => return Err(bad("periodic", "seconds")),
            },
        };
        Ok(Self { periodic, all, topics_only, prefix, others: map })
    }
}

/// A text message of one direction.
pub trait Message: Sized {
    /// Reads a message out of its method and parameters. `at` is where it stands in the text.
    fn parse(method: &str, params: Map<String, Json>, at: u64) -> Result<Self, Error>;
    /// The message as JSON.
    fn to_json(&self) -> Json;
}

impl Message for Request {
    fn parse(method: &str, params: Map<String, Json>, at: u64) -> Result<Self, Error> {
        let known = ["publish", "unpublish", "setproperties", "subscribe", "unsubscribe"];
        let mut params = Params::of(method, &known, params, at)?;
        Ok(match method {
            "publish" => Self::Publish {
                name: params.text("name")?,
                pubuid: params.id("pubuid")?,
                type_name: params.text("type")?,
                properties: params.map_or_empty("properties")?,
            },
            "unpublish" => Self::Unpublish { pubuid: params.id("pubuid")? },
            "setproperties" => Self::SetProperties { name: params.text("name")?, update: params.map("update")? },
            "subscribe" => {
                let options = SubscribeOptions::parse(params.map_or_empty("options")?, at)?;
                Self::Subscribe { topics: params.texts("topics")?, subuid: params.id("subuid")?, options }
            }
            _ => Self::Unsubscribe { subuid: params.id("subuid")? },
        })
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Publish { name, pubuid, type_name, properties } => message(
                "publish",
                json!({ "name": name, "pubuid": pubuid, "type": type_name, "properties": properties }),
            ),
            Self::Unpublish { pubuid } => message("unpublish", json!({ "pubuid": pubuid })),
            Self::SetProperties { name, update } => message("setproperties", json!({ "name": name, "update": update })),
            Self::Subscribe { topics, subuid, options } => {
                message("subscribe", json!({ "topics": topics, "subuid": subuid, "options": options.to_json() }))
            }
            Self::Unsubscribe { subuid } => message("unsubscribe", json!({ "subuid": subuid })),
        }
    }
}

impl Message for Notice {
    fn parse(method: &str, params: Map<String, Json>, at: u64) -> Result<Self, Error> {
        let mut params = Params::of(method, &["announce", "unannounce", "properties"], params, at)?;
        Ok(match method {
            "announce" => Self::Announce {
                name: params.text("name")?,
                id: params.id("id")?,
                type_name: params.text("type")?,
                pubuid: if params.has("pubuid") { Some(params.id("pubuid")?) } else { None },
                // ntcore takes what is no map for an empty one, too.
                properties: params.map_or_empty("properties").unwrap_or_default(),
            },
            "unannounce" => Self::Unannounce { name: params.text("name")?, id: params.id("id")? },
            _ => Self::Properties {
                name: params.text("name")?,
                ack: params.params.get("ack").and_then(Json::as_bool).unwrap_or(false),
                update: params.map("update")?,
            },
        })
    }

    fn to_json(&self) -> Json {
        match self {
            Self::Announce { name, id, type_name, pubuid, properties } => {
                announce(name, *id, type_name, *pubuid, properties)
            }
            Self::Unannounce { name, id } => unannounce(name, *id),
            Self::Properties { name, ack, update } => properties(name, *ack, update),
        }
    }
}

pub(crate) fn announce(
    name: &str,
    id: i32,
    type_name: &str,
    pubuid: Option<i32>,
    properties: &Map<String, Json>,
) -> Json {
    let mut params = json!({ "name": name, "id": id, "type": type_name, "properties": properties });
    if let (Some(pubuid), Some(params)) = (pubuid, params.as_object_mut()) {
        params.insert("pubuid".to_owned(), pubuid.into());
    }
    message("announce", params)
}

pub(crate) fn unannounce(name: &str, id: i32) -> Json {
    message("unannounce", json!({ "name": name, "id": id }))
}

pub(crate) fn properties(name: &str, ack: bool, update: &Map<String, Json>) -> Json {
    let mut params = json!({ "name": name, "update": update });
    if let (true, Some(params)) = (ack, params.as_object_mut()) {
        params.insert("ack".to_owned(), true.into());
    }
    message("properties", params)
}

fn message(method: &str, params: Json) -> Json {
    json!({ "method": method, "params": params })
}

/// The parameters of a message, taken out one by one.
struct Params {
    method: &'static str,
    params: Map<String, Json>,
    at: u64,
}

impl Params {
    fn of(method: &str, known: &[&'static str], params: Map<String, Json>, at: u64) -> Result<Self, Error> {
        match known.iter().find(|known| **known == method) {
            Some(method) => Ok(Self { method, params, at }),
            None => Err(Error::new(at, ErrorKind::UnknownMethod { method: method.chars().take(40).collect() })),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.params.contains_key(key)
    }

    fn text(&mut self, key: &'static str) -> Result<String, Error> {
        match self.params.remove(key) {
            Some(Json::String(text)) => Ok(text),
            _ => Err(self.bad(key, "a text")),
        }
    }

    fn texts(&mut self, key: &'static str) -> Result<Vec<String>, Error> {
        let texts = match self.params.remove(key) {
            Some(Json::Array(list)) => list.into_iter().map(|item| match item {
                Json::String(text) => Some(text),
                _ => None,
            }),
            _ => return Err(self.bad(key, "a list of texts")),
        };
        texts.collect::<Option<_>>().ok_or_else(|| self.bad(key, "a list of texts"))
    }

    /// The specification asks for 32 bits with sign.
    fn id(&mut self, key: &'static str) -> Result<i32, Error> {
        let number = self.params.remove(key).and_then(|value| i32::try_from(value.as_i64()?).ok());
        number.ok_or_else(|| self.bad(key, "an integer of 32 bits"))
    }

    fn map(&mut self, key: &'static str) -> Result<Map<String, Json>, Error> {
        match self.params.remove(key) {
            Some(Json::Object(map)) => Ok(map),
            _ => Err(self.bad(key, "an object")),
        }
    }

    fn map_or_empty(&mut self, key: &'static str) -> Result<Map<String, Json>, Error> {
        if self.has(key) { self.map(key) } else { Ok(Map::new()) }
    }

    fn bad(&self, key: &'static str, what: &'static str) -> Error {
        bad(self.at, self.method, key, what)
    }
}

fn bad(at: u64, method: &'static str, key: &'static str, what: &'static str) -> Error {
    Error::new(at, ErrorKind::BadParameter { method, key, what })
}

/// The messages of one text WebSocket message. After an error it goes on if [`Error::is_recoverable`], and ends
/// otherwise.
///
/// One message is parsed at a time, so that a long list takes no more memory than a short one.
#[derive(Clone, Debug)]
pub struct Messages<'a, M> {
    text: &'a [u8],
    at: usize,
    state: State,
    message: PhantomData<fn() -> M>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Begin,
    First,
    Next,
    Done,
}

impl<'a, M: Message> Messages<'a, M> {
    /// The messages in `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, state: State::Begin, message: PhantomData }
    }

    /// The byte behind white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.text.get(self.at).copied()
    }

    /// Goes past the byte that must be there.
    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(self.error(ErrorKind::NotAList { expected }));
        }
        self.at += 1;
        Ok(())
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::new(self.at as u64, kind)
    }

    /// The next JSON value of the list and where it begins, or `None` behind the end.
    fn value(&mut self) -> Result<Option<(Json, u64)>, Error> {
        if self.state == State::Begin {
            self.expect(b'[', "the beginning")?;
            self.state = State::First;
        }
        if self.peek() == Some(b']') {
            self.at += 1;
            self.state = State::Done;
            return match self.peek() {
                None => Ok(None),
                Some(_) => Err(self.error(ErrorKind::NotAList { expected: "nothing behind the end" })),
            };
        }
        if self.state == State::Next {
            self.expect(b',', "a comma or the end")?;
        }
        self.state = State::Next;
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let within = rest.get(..MESSAGE_LEN).unwrap_or(rest);
        let mut values = serde_json::Deserializer::from_slice(within).into_iter::<Json>();
        match values.next() {
            Some(Ok(value)) => {
                let begin = self.at as u64;
                self.at += values.byte_offset();
                Ok(Some((value, begin)))
            }
            Some(Err(error)) if error.is_eof() && within.len() < rest.len() => {
                Err(self.error(ErrorKind::TooLong { limit: MESSAGE_LEN }))
            }
            Some(Err(error)) => Err(self.error(ErrorKind::BadJson { message: error.to_string() })),
            None => Err(self.error(ErrorKind::NotAList { expected: "the end" })),
        }
    }
}

impl<M: Message> Iterator for Messages<'_, M> {
    type Item = Result<M, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        match self.value() {
            Ok(None) => None,
            Ok(Some((value, at))) => Some(open(value, at)),
            Err(error) => {
                self.state = State::Done;
                Some(Err(error))
            }
        }
    }
}

fn open<M: Message>(value: Json, at: u64) -> Result<M, Error> {
    let lacks = |missing| Error::new(at, ErrorKind::NotAMessage { missing });
    let Json::Object(mut object) = value else { return Err(lacks("keys")) };
    let Some(Json::String(method)) = object.remove("method") else { return Err(lacks("a method")) };
    let Some(Json::Object(params)) = object.remove("params") else { return Err(lacks("parameters")) };
    M::parse(&method, params, at)
}
