//! The values of JSON channels.

use std::fmt::Display;
use std::io::Write;

use crate::wire::{Descriptor, ErrorMessage, MatchInfo, Version};

/// Appends what `/ds/joystick/{p}/descriptor` has of a stick.
pub fn put_descriptor(stick: &Descriptor<'_>, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.text("name", stick.name);
    object.plain("xbox", stick.xbox != 0);
    object.plain("type", stick.kind);
    object.numbers("axes", stick.axes);
    object.plain("buttons", stick.buttons);
    object.plain("povs", stick.povs);
    object.end();
}

/// Appends what `/ds/match` has of a match.
pub fn put_match(info: &MatchInfo<'_>, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.text("event", info.event);
    object.text("type", info.kind.to_string().as_bytes());
    object.maybe("number", info.number);
    object.maybe("replay", info.replay);
    object.end();
}

/// Appends what `/ds/versions` has of a device or program.
pub fn put_version(version: &Version<'_>, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.plain("type", version.kind);
    object.plain("id", version.id);
    object.text("name", version.name);
    object.text("version", version.version);
    object.end();
}

/// What `/ds/errors` has of an error. Logs lack some of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorRecord<'a> {
    /// Whether it is an error, or a warning.
    pub error: bool,
    /// Which error.
    pub code: i32,
    /// What is wrong.
    pub details: &'a [u8],
    /// Where in the program.
    pub location: &'a [u8],
    /// How the program came there.
    pub stack: &'a [u8],
    /// The byte of flags.
    pub flags: Option<u8>,
    /// How often.
    pub count: Option<u16>,
    /// Seconds, as the robot reports them.
    pub time: Option<f64>,
    /// Its number among errors and console lines.
    pub sequence: Option<u16>,
}

impl<'a> From<&ErrorMessage<'a>> for ErrorRecord<'a> {
    fn from(error: &ErrorMessage<'a>) -> Self {
        Self {
            error: error.flags.error(),
            code: error.code,
            details: error.details,
            location: error.location,
            stack: error.stack,
            flags: Some(error.flags.0),
            count: Some(error.count),
            time: Some(error.time.into()),
            sequence: Some(error.sequence),
        }
    }
}

impl ErrorRecord<'_> {
    /// Appends the JSON.
    pub fn put(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.text("severity", if self.error { b"error" } else { b"warning" });
        object.plain("code", self.code);
        object.text("details", self.details);
        object.text("location", self.location);
        object.text("stack", self.stack);
        object.maybe("flags", self.flags);
        object.maybe("count", self.count);
        object.maybe("time", self.time.filter(|time| time.is_finite()));
        object.maybe("sequence", self.sequence);
        object.end();
    }
}

/// A JSON object that is written as it is named. A tree of values would be made and dropped for each message.
struct Object<'o> {
    out: &'o mut Vec<u8>,
    separator: u8,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut Vec<u8>) -> Self {
        Self { out, separator: b'{' }
    }

    fn end(self) {
        self.out.push(b'}');
    }

    fn key(&mut self, key: &str) {
        self.out.push(std::mem::replace(&mut self.separator, b','));
        self.quote(key);
        self.out.push(b':');
    }

    /// What is written in JSON as it is shown: finite numbers, truths and null.
    fn plain(&mut self, key: &str, value: impl Display) {
        self.key(key);
        // Writing to memory does not fail.
        let _ = write!(self.out, "{value}");
    }

    fn maybe(&mut self, key: &str, value: Option<impl Display>) {
        match value {
            Some(value) => self.plain(key, value),
            None => self.plain(key, "null"),
        }
    }

    fn numbers(&mut self, key: &str, numbers: &[u8]) {
        self.key(key);
        let mut separator = b'[';
        for number in numbers {
            self.out.push(std::mem::replace(&mut separator, b','));
            let _ = write!(self.out, "{number}");
        }
        self.out.extend_from_slice(if numbers.is_empty() { b"[]" } else { b"]" });
    }

    /// Text, with signs in place of bytes that are no UTF-8: JSON has no others.
    fn text(&mut self, key: &str, text: &[u8]) {
        self.key(key);
        self.quote(&String::from_utf8_lossy(text));
    }

    fn quote(&mut self, text: &str) {
        let _ = serde_json::to_writer(&mut *self.out, text);
    }
}
