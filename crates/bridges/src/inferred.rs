//! Values in text have no types: what those of a channel are is seen when all were looked at.

use logpose_core::{Channel, ChannelId, Layout, Sample, Sink, SinkError, Time, Type, Value};
use serde_json::Value as Json;

/// What all values of a channel can be read as, as far as they were seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Guess {
    #[default]
    Nothing,
    Boolean,
    Int64,
    Double,
    Array(Element),
    Json,
    Text,
}

/// What all elements of arrays can be read as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Element {
    /// The arrays are empty.
    Nothing,
    Boolean,
    Int64,
    Double,
    Text,
}

impl Guess {
    /// What a cell of a table looks like.
    pub(crate) fn of_cell(cell: &[u8]) -> Self {
        match cell.first() {
            Some(b'[' | b'{') => match serde_json::from_slice(cell) {
                Ok(json) => Self::of_json(&json),
                Err(_) => Self::Text,
            },
            Some(b't' | b'f') if matches!(cell, b"true" | b"false") => Self::Boolean,
            _ if integer(cell).is_some() => Self::Int64,
            _ if double(cell).is_some() => Self::Double,
            _ => Self::Text,
        }
    }

    /// What a JSON value is.
    pub(crate) fn of_json(json: &Json) -> Self {
        match json {
            Json::Bool(_) => Self::Boolean,
            Json::Number(number) if number.is_i64() => Self::Int64,
            Json::Number(_) => Self::Double,
            // What JSON has no number for is a string: see `logpose_schema::json`.
            Json::String(text) => match text.as_str() {
                "NaN" | "Infinity" | "-Infinity" => Self::Double,
                text if large(text).is_some() => Self::Int64,
                _ => Self::Text,
            },
            Json::Array(items) => {
                let elements = items.iter().map(|item| match Self::of_json(item) {
                    Self::Boolean => Some(Element::Boolean),
                    Self::Int64 => Some(Element::Int64),
                    Self::Double => Some(Element::Double),
                    Self::Text => Some(Element::Text),
                    _ => None,
                });
                let all = elements.reduce(|a, b| a?.and(b?));
                all.unwrap_or(Some(Element::Nothing)).map_or(Self::Json, Self::Array)
            }
            Json::Null | Json::Object(_) => Self::Json,
        }
    }

    /// What both can be read as; where there is nothing else, `otherwise`.
    pub(crate) fn and(self, other: Self, otherwise: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Nothing, x) | (x, Self::Nothing) => x,
            (Self::Int64, Self::Double) | (Self::Double, Self::Int64) => Self::Double,
            (Self::Text, Self::Boolean | Self::Int64 | Self::Double)
            | (Self::Boolean | Self::Int64 | Self::Double, Self::Text) => Self::Text,
            (Self::Array(a), Self::Array(b)) => a.and(b).map_or(Self::Json, Self::Array),
            (Self::Array(_), Self::Json) | (Self::Json, Self::Array(_)) => Self::Json,
            _ => otherwise,
        }
    }

    /// The name of the type.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Int64 => "int64",
            Self::Double => "double",
            Self::Array(Element::Boolean) => "boolean[]",
            Self::Array(Element::Int64) => "int64[]",
            // Numbers are what arrays hold most.
            Self::Array(Element::Double | Element::Nothing) => "double[]",
            Self::Array(Element::Text) => "string[]",
            Self::Json => "json",
            Self::Text | Self::Nothing => "string",
        }
    }
}

impl Element {
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Self::Nothing, x) | (x, Self::Nothing) => Some(x),
            (Self::Int64, Self::Double) | (Self::Double, Self::Int64) => Some(Self::Double),
            // An array of texts may hold one that looks like a number.
            (Self::Text, Self::Int64 | Self::Double) | (Self::Int64 | Self::Double, Self::Text) => Some(Self::Text),
            _ => None,
        }
    }
}

/// Samples on their way to a sink, held as bytes until there are some.
pub(crate) struct Rows<'s> {
    sink: &'s mut dyn Sink,
    channels: Vec<Type>,
    bytes: Vec<u8>,
    rows: Vec<(ChannelId, Time, usize)>,
}

impl<'s> Rows<'s> {
    /// Declares the channels.
    pub(crate) fn new(sink: &'s mut dyn Sink, channels: &[Channel]) -> Result<Self, SinkError> {
        for (id, channel) in (0..).zip(channels) {
            sink.channel(id, channel)?;
        }
        let channels = channels.iter().map(Channel::ty).collect();
        Ok(Self { sink, channels, bytes: Vec::new(), rows: Vec::new() })
    }

    /// Adds a cell of a table.
    pub(crate) fn cell(&mut self, id: ChannelId, time: Time, cell: &[u8]) -> Result<(), SinkError> {
        match self.ty(id) {
            Type::Boolean => self.bytes.push((cell == b"true").into()),
            Type::Int64 => self.bytes.extend_from_slice(&integer(cell).unwrap_or(0).to_le_bytes()),
            Type::Double => self.bytes.extend_from_slice(&double(cell).unwrap_or(f64::NAN).to_le_bytes()),
            Type::String => self.bytes.extend_from_slice(cell),
            ty => array(ty, &serde_json::from_slice(cell).unwrap_or_default(), &mut self.bytes),
        }
        self.done(id, time)
    }

    /// Adds a JSON value.
    pub(crate) fn json(&mut self, id: ChannelId, time: Time, json: &Json, is_json: bool) -> Result<(), SinkError> {
        match (self.ty(id), json) {
            (Type::String, Json::String(text)) if !is_json => self.bytes.extend_from_slice(text.as_bytes()),
            (Type::String, json) => self.bytes.extend_from_slice(json.to_string().as_bytes()),
            (ty @ (Type::Boolean | Type::Int64 | Type::Double), json) => element(ty, json, &mut self.bytes),
            (ty, json) => array(ty, json, &mut self.bytes),
        }
        self.done(id, time)
    }

    /// Adds a value of the channel's type.
    pub(crate) fn value(&mut self, id: ChannelId, time: Time, value: &Value<'_>) -> Result<(), SinkError> {
        value.emit(Layout::Little, &mut self.bytes);
        self.done(id, time)
    }

    /// Gives the rest to the sink.
    pub(crate) fn flush(&mut self) -> Result<(), SinkError> {
        let mut start = 0;
        let samples = self.rows.iter().filter_map(|(id, time, end)| {
            let payload = self.bytes.get(start..*end)?;
            start = *end;
            let ty = self.channels.get(*id as usize).copied()?;
            Some(Sample { channel: *id, time: *time, value: Value::parse(ty, payload, Layout::Little).ok()? })
        });
        self.sink.samples(&samples.collect::<Vec<_>>())?;
        self.rows.clear();
        self.bytes.clear();
        Ok(())
    }

    fn ty(&self, id: ChannelId) -> Type {
        self.channels.get(id as usize).copied().unwrap_or(Type::String)
    }

    fn done(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.rows.push((id, time, self.bytes.len()));
        if self.rows.len() >= BATCH { self.flush() } else { Ok(()) }
    }
}

/// Samples given to the sink at once.
const BATCH: usize = 4096;

fn array(ty: Type, json: &Json, out: &mut Vec<u8>) {
    let items = json.as_array().map_or(&[][..], |items| items);
    let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let inner = match ty {
        Type::BooleanArray => Type::Boolean,
        Type::Int64Array => Type::Int64,
        Type::StringArray => {
            out.extend_from_slice(&length(items.len()));
            for item in items {
                let text = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
                out.extend_from_slice(&length(text.len()));
                out.extend_from_slice(text.as_bytes());
            }
            return;
        }
        _ => Type::Double,
    };
    items.iter().for_each(|item| element(inner, item, out));
}

fn element(ty: Type, json: &Json, out: &mut Vec<u8>) {
    let text = || json.as_str().unwrap_or_default();
    match ty {
        Type::Boolean => out.push(json.as_bool().unwrap_or(false).into()),
        Type::Int64 => {
            let number = json.as_i64().or_else(|| large(text())).unwrap_or(0);
            out.extend_from_slice(&number.to_le_bytes());
        }
        _ => {
            let number = json.as_f64().or_else(|| double(text().as_bytes())).unwrap_or(f64::NAN);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// The integer that these digits are, if they are written as a number is.
fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let proper = match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    proper.then(|| str::from_utf8(text).ok()?.parse().ok()).flatten()
}

/// An integer so large that JSON has it as a string.
fn large(text: &str) -> Option<i64> {
    integer(text.as_bytes()).filter(|number| number.unsigned_abs() > 1 << 53)
}

/// The number that the text is. Digits behind a leading zero are no number but a name.
fn double(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    match digits {
        [b'0', b'0'..=b'9', ..] => None,
        [b'0'..=b'9' | b'.', ..] => str::from_utf8(text).ok()?.parse().ok(),
        b"NaN" | b"nan" => Some(f64::NAN),
        b"Infinity" | b"inf" => Some(if text.starts_with(b"-") { f64::NEG_INFINITY } else { f64::INFINITY }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, Guess};

    #[test]
    fn cells_look_like_types() {
        for (cell, guess) in [
            ("true", Guess::Boolean),
            ("True", Guess::Text),
            ("0", Guess::Int64),
            ("-12", Guess::Int64),
            ("-0", Guess::Double),
            ("9223372036854775808", Guess::Double),
            ("007", Guess::Text),
            ("1e3", Guess::Double),
            (".5", Guess::Double),
            ("-Infinity", Guess::Double),
            ("1.2.3", Guess::Text),
            ("", Guess::Text),
            ("[]", Guess::Array(Element::Nothing)),
            ("[1,2.5]", Guess::Array(Element::Double)),
            ("[1.0,\"NaN\"]", Guess::Array(Element::Double)),
            ("[true]", Guess::Array(Element::Boolean)),
            ("[\"a\",\"1152921504606846976\"]", Guess::Array(Element::Text)),
            ("[[1]]", Guess::Json),
            ("[1,true]", Guess::Json),
            ("{\"x\":1}", Guess::Json),
            ("{x}", Guess::Text),
        ] {
            assert_eq!(Guess::of_cell(cell.as_bytes()), guess, "{cell}");
        }
    }
}
