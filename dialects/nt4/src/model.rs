//! What topics mean as channels, and binary messages as samples.

use std::fmt;
use std::ops::Range;

use logpose_core::{ChannelId, Layout, Misfit, Number, Sample, Time, Type, Value};
use serde_json::{Map, Value as Json, json};

use crate::msgpack::{Item, Items, put_array, put_bin, put_bool, put_double, put_float, put_int, put_map, put_str};
use crate::wire::Kind;

/// What WPILib puts in front of a topic's name where it logs NetworkTables.
const PREFIX: &str = "NT:";

/// The channel of a topic, named as WPILib's own logs of NetworkTables name it.
#[must_use]
pub fn channel_name(topic: &str) -> String {
    format!("{PREFIX}{topic}")
}

/// The topic of a channel: what was recorded from NetworkTables gets its name back. Names that begin with `$` belong to
/// the server's own topics, so such a channel gets a slash in front.
#[must_use]
pub fn topic_name(channel: &str) -> String {
    let name = channel.strip_prefix(PREFIX).unwrap_or(channel);
    if name.starts_with('$') { format!("/{name}") } else { name.to_owned() }
}

/// The type string that logs have for a topic's: integers are `int64` there.
#[must_use]
pub fn channel_type(topic_type: &str) -> &str {
    match topic_type {
        "int" => "int64",
        "int[]" => "int64[]",
        other => other,
    }
}

/// The type string that NetworkTables has for a channel's.
#[must_use]
pub fn topic_type(channel_type: &str) -> &str {
    match channel_type {
        "int64" => "int",
        "int64[]" => "int[]",
        other => other,
    }
}

/// A channel's metadata, as WPILib writes them for a topic with these properties: keys in the order of their letters.
pub(crate) fn metadata_of(properties: &Map<String, Json>) -> String {
    let mut properties = Json::Object(properties.clone());
    properties.sort_all_objects();
    format!("{{\"properties\":{properties},\"source\":\"NT\"}}")
}

/// A topic's properties: those in the metadata that WPILib writes for a topic, or else all of other metadata that are
/// an object, without the note about their source.
pub(crate) fn properties_of(metadata: &str) -> Map<String, Json> {
    let Ok(Json::Object(mut map)) = serde_json::from_str(metadata) else { return Map::new() };
    match map.remove("properties") {
        Some(Json::Object(properties)) => properties,
        _ => {
            map.remove("source");
            map
        }
    }
}

/// Changes properties; null takes one away.
pub(crate) fn update(properties: &mut Map<String, Json>, update: &Map<String, Json>) {
    for (key, value) in update {
        if value.is_null() {
            properties.remove(key);
        } else {
            properties.insert(key.clone(), value.clone());
        }
    }
}

/// What makes `to` out of `from`.
pub(crate) fn difference(from: &Map<String, Json>, to: &Map<String, Json>) -> Map<String, Json> {
    let changed = to.iter().filter(|(key, value)| from.get(*key) != Some(*value));
    let mut update: Map<_, _> = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
    update.extend(from.keys().filter(|key| !to.contains_key(*key)).map(|key| (key.clone(), json!(null))));
    update
}

/// Why a value is none of its topic's type.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Unfit {
    #[error("it says that it is {found}")]
    Kind { found: Kind },
    #[error("it is {found}")]
    Item { found: &'static str },
    #[error(transparent)]
    Bytes(#[from] Misfit),
}

/// The samples of one binary WebSocket message. Arrays lie in MessagePack with a byte in front of each element: they
/// are packed here.
#[derive(Debug, Default)]
pub(crate) struct Values<'a> {
    pending: Vec<PendingSample<'a>>,
    packed: Vec<u8>,
}

/// A sample that waits for the end of its message.
#[derive(Debug)]
struct PendingSample<'a> {
    channel: ChannelId,
    time: Time,
    value: Place<'a>,
}

#[derive(Debug)]
enum Place<'a> {
    Whole(Value<'a>),
    Packed(Type, Range<usize>),
}

impl<'a> Values<'a> {
    /// Adds a value of a channel whose topic has the kind `kind` and whose values are held as `ty`.
    #[inline]
    pub(crate) fn push(
        &mut self,
        channel: ChannelId,
        time: Time,
        (kind, ty): (Kind, Type),
        (found, item): (Kind, &Item<'a>),
    ) -> Result<(), Unfit> {
        if found != kind {
            return Err(Unfit::Kind { found });
        }
        let value = match (kind, *item) {
            (Kind::Boolean, Item::Boolean(value)) => Place::Whole(Value::Boolean(value)),
            (Kind::Int, Item::Int(number)) => Place::Whole(Value::Int64(number)),
            (Kind::Double, item) => Place::Whole(Value::Double(double(item).ok_or_else(|| unfit(&item))?)),
            (Kind::Float, item) => Place::Whole(Value::Float(float(item).ok_or_else(|| unfit(&item))?)),
            (Kind::String, Item::Str(text)) => Place::Whole(Value::String(text)),
            // What the type string explains is the same bytes in a log.
            (Kind::Raw, Item::Bin(bytes)) => Place::Whole(Value::parse(ty, bytes, Layout::Little)?),
            (_, Item::Array(items)) => Place::Packed(ty, self.pack(kind, items)?),
            (_, item) => return Err(unfit(&item)),
        };
        self.pending.push(PendingSample { channel, time, value });
        Ok(())
    }

    /// Packs an array; returns where it lies.
    fn pack(&mut self, kind: Kind, items: Items<'a>) -> Result<Range<usize>, Unfit> {
        let begin = self.packed.len();
        let done = self.pack_all(kind, items);
        if done.is_err() {
            self.packed.truncate(begin);
        }
        done.map(|()| begin..self.packed.len())
    }

    fn pack_all(&mut self, kind: Kind, items: Items<'a>) -> Result<(), Unfit> {
        let out = &mut self.packed;
        match kind {
            Kind::BooleanArray => each(items, boolean, |value| out.push(value.into())),
            Kind::IntArray => each(items, int, |number| number.put(Layout::Little, out)),
            Kind::DoubleArray => each(items, double, |number| number.put(Layout::Little, out)),
            Kind::FloatArray => each(items, float, |number| number.put(Layout::Little, out)),
            Kind::StringArray => {
                put_u32(items.len(), out);
                each(items, text, |text| {
                    put_u32(text.len(), out);
                    out.extend_from_slice(text);
                })
            }
            _ => Err(Unfit::Item { found: "an array" }),
        }
    }

    /// All of them, in their order.
    pub(crate) fn samples(&self) -> Vec<Sample<'_>> {
        let sample = |pending: &PendingSample<'a>| {
            let value = match &pending.value {
                Place::Whole(value) => *value,
                Place::Packed(ty, range) => {
                    let bytes = self.packed.get(range.clone()).unwrap_or_default();
                    // It was packed as this type, a few lines above.
                    Value::parse(*ty, bytes, Layout::Little).unwrap_or(Value::Bytes(bytes))
                }
            };
            Sample { channel: pending.channel, time: pending.time, value }
        };
        self.pending.iter().map(sample).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

fn each<'a, T>(items: Items<'a>, of: fn(Item<'a>) -> Option<T>, mut put: impl FnMut(T)) -> Result<(), Unfit> {
    for item in items.iter() {
        put(of(item).ok_or_else(|| unfit(&item))?);
    }
    Ok(())
}

fn unfit(item: &Item<'_>) -> Unfit {
    Unfit::Item { found: item.name() }
}

fn boolean(item: Item<'_>) -> Option<bool> {
    if let Item::Boolean(value) = item { Some(value) } else { None }
}

fn int(item: Item<'_>) -> Option<i64> {
    if let Item::Int(number) = item { Some(number) } else { None }
}

fn text(item: Item<'_>) -> Option<&[u8]> {
    if let Item::Str(text) = item { Some(text) } else { None }
}

/// JavaScript writes whole numbers as integers, and ntcore takes every number for a double.
#[expect(clippy::cast_precision_loss, reason = "a double is what the topic has")]
fn double(item: Item<'_>) -> Option<f64> {
    match item {
        Item::Double(number) => Some(number),
        Item::Float(number) => Some(number.into()),
        Item::Int(number) => Some(number as f64),
        Item::Uint(number) => Some(number as f64),
        _ => None,
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a float is what the topic has, and the nearest one is what ntcore takes"
)]
fn float(item: Item<'_>) -> Option<f32> {
    match item {
        Item::Float(number) => Some(number),
        Item::Double(number) => Some(number as f32),
        Item::Int(number) => Some(number as f32),
        Item::Uint(number) => Some(number as f32),
        _ => None,
    }
}

fn put_u32(n: usize, out: &mut Vec<u8>) {
    // Both come from messages that are shorter than 4 GiB.
    out.extend_from_slice(&u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
}

/// Appends a value of a topic of this kind. `false`, and nothing appended, if it is none.
#[inline]
pub(crate) fn put_value(kind: Kind, value: &Value<'_>, out: &mut Vec<u8>) -> bool {
    match (kind, *value) {
        (Kind::Boolean, Value::Boolean(value)) => put_bool(value, out),
        (Kind::Int, Value::Int64(number)) => put_int(number, out),
        (Kind::Float, Value::Float(number)) => put_float(number, out),
        (Kind::Double, Value::Double(number)) => put_double(number, out),
        (Kind::String, Value::String(text)) => put_str(text, out),
        // Schemas are texts in logs, and bytes here.
        (Kind::Raw, Value::Bytes(bytes) | Value::String(bytes)) => put_bin(bytes, out),
        (Kind::BooleanArray, Value::BooleanArray(bytes)) => {
            put_array(bytes.len(), out);
            bytes.iter().for_each(|byte| put_bool(*byte != 0, out));
        }
        (Kind::IntArray, Value::Int64Array(numbers)) => {
            put_array(numbers.len(), out);
            numbers.iter().for_each(|number| put_int(number, out));
        }
        (Kind::FloatArray, Value::FloatArray(numbers)) => {
            put_array(numbers.len(), out);
            numbers.iter().for_each(|number| put_float(number, out));
        }
        (Kind::DoubleArray, Value::DoubleArray(numbers)) => {
            put_array(numbers.len(), out);
            numbers.iter().for_each(|number| put_double(number, out));
        }
        (Kind::StringArray, Value::StringArray(texts)) => {
            put_array(texts.len(), out);
            texts.iter().for_each(|text| put_str(text, out));
        }
        _ => return false,
    }
    true
}

/// Appends JSON as MessagePack. Numbers that are no integers of 64 bits become doubles.
pub(crate) fn put_json(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Null => out.push(0xc0),
        Json::Bool(value) => put_bool(*value, out),
        Json::Number(number) => match number.as_i64() {
            Some(number) => put_int(number, out),
            None => put_double(number.as_f64().unwrap_or(f64::NAN), out),
        },
        Json::String(text) => put_str(text.as_bytes(), out),
        Json::Array(list) => {
            put_array(list.len(), out);
            list.iter().for_each(|item| put_json(item, out));
        }
        Json::Object(map) => {
            put_map(map.len(), out);
            for (key, value) in map {
                put_str(key.as_bytes(), out);
                put_json(value, out);
            }
        }
    }
}

/// An element for people: the whole of a short one, the beginning of a long one.
pub(crate) fn show(f: &mut fmt::Formatter<'_>, item: &Item<'_>) -> fmt::Result {
    const SHOWN: usize = 32;
    match item {
        Item::Nil => f.write_str("nil"),
        Item::Boolean(value) => write!(f, "{value}"),
        Item::Int(number) => write!(f, "{number}"),
        Item::Uint(number) => write!(f, "{number}"),
        Item::Float(number) => write!(f, "{number:?}"),
        Item::Double(number) => write!(f, "{number:?}"),
        Item::Str(text) => {
            let start = text.get(..SHOWN).unwrap_or(text);
            let more = if text.len() > SHOWN { "…" } else { "" };
            write!(f, "{:?}{more}", String::from_utf8_lossy(start))
        }
        Item::Bin(bytes) | Item::Ext(_, bytes) => {
            bytes.iter().take(SHOWN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str(if bytes.len() > SHOWN { "…" } else { "" })
        }
        Item::Array(items) | Item::Map(items) => {
            // What lies inside another array is not shown: nests may be deep.
            f.write_str("[")?;
            for (i, item) in items.iter().take(SHOWN).enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                match item {
                    Item::Array(inner) | Item::Map(inner) => write!(f, "[{} elements]", inner.len())?,
                    item => show(f, &item)?,
                }
            }
            f.write_str(if items.len() > SHOWN { ", …]" } else { "]" })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{channel_type, difference, metadata_of, properties_of, topic_name, topic_type, update};

    #[test]
    fn metadata_are_those_of_wpilib() {
        let properties = json!({ "z": 1, "persistent": true, "a": { "y": [{ "q": 1, "b": 0.1 }], "b": "ü\u{1}" } });
        let text = metadata_of(properties.as_object().unwrap());
        let expected =
            r#"{"properties":{"a":{"b":"ü\u0001","y":[{"b":0.1,"q":1}]},"persistent":true,"z":1},"source":"NT"}"#;
        assert_eq!(text, expected);
        assert_eq!(json!(properties_of(&text)), properties);
        assert_eq!(metadata_of(&properties_of("")), r#"{"properties":{},"source":"NT"}"#);
    }

    #[test]
    fn other_metadata_become_properties_if_they_can() {
        assert_eq!(json!(properties_of(r#"{"source":"AdvantageKit","unit":"m"}"#)), json!({ "unit": "m" }));
        for text in ["", "free text", "[1]", "7", r#"{"source":"NT"}"#] {
            assert!(properties_of(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn names_and_types_come_back() {
        assert_eq!(topic_name("NT:/a/b"), "/a/b");
        assert_eq!(topic_name("/a/b"), "/a/b");
        assert_eq!(topic_name("NT:$clients"), "/$clients");
        for (topic, channel) in [("int", "int64"), ("int[]", "int64[]"), ("struct:Pose2d", "struct:Pose2d")] {
            assert_eq!((channel_type(topic), topic_type(channel)), (channel, topic));
        }
    }

    #[test]
    fn a_difference_makes_the_one_out_of_the_other() {
        let maps = [json!({}), json!({ "a": 1 }), json!({ "a": 2, "b": {} }), json!({ "b": [] })];
        for from in &maps {
            for to in &maps {
                let (from, to) = (from.as_object().unwrap(), to.as_object().unwrap());
                let mut changed = from.clone();
                update(&mut changed, &difference(from, to));
                assert_eq!(&changed, to);
            }
        }
    }
}
