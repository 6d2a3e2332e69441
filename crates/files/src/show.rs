use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use logpose_core::{Channel, ChannelId, Problem, Severity, Value};
use logpose_schema::wpistruct::{Field, Kind, Layout, Scalar};
use logpose_schema::{Decoder, Registry, SchemaError, Tree, json};

use crate::Log;

/// The schemas of a log, and what was found to be wrong with them. Shows values to people and machines,
/// nested where a schema says so.
#[derive(Default)]
pub struct Schemas {
    registry: Registry,
    notes: Notes,
}

/// Reported defects, by type string and kind of defect: each is reported once.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<BTreeMap<(String, &'static str), Problem>>>);

/// One value of one channel, as [`fmt::Display`]: one line for people.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    schemas: &'a Schemas,
    channel: &'a Channel,
    value: &'a Value<'a>,
}

impl Schemas {
    /// The schemas that logs bring along. Where two logs differ, the last one holds.
    pub fn of<'a>(logs: impl IntoIterator<Item = &'a Log>) -> Self {
        let mut all = Self::default();
        for log in logs {
            let channels = (0..).zip(&log.index.channels);
            let schemas = channels.filter(|(_, c)| Registry::is_schema(&c.channel.name, &c.channel.type_name));
            let ids: Vec<ChannelId> = schemas.map(|(id, _)| id).collect();
            let Ok(columns) = log.columns(&ids) else { continue };
            for column in &columns.columns {
                for (_, value) in columns.samples(column) {
                    if let Value::String(payload) | Value::Bytes(payload) = value {
                        all.add(&column.channel, payload);
                    }
                }
            }
        }
        all
    }

    /// Takes one more schema: a value of a schema channel.
    pub fn add(&mut self, channel: &Channel, payload: &[u8]) {
        if let Err(error) = self.registry.add(&channel.name, &channel.type_name, payload) {
            self.notes.note(&channel.name, &error);
        }
    }

    /// What decodes the values.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A value to be shown.
    #[must_use]
    pub fn show<'a>(&'a self, channel: &'a Channel, value: &'a Value<'a>) -> Shown<'a> {
        Shown { schemas: self, channel, value }
    }

    /// Appends one line for people: text bare, bytes as hexadecimal, structs as `{x: 1, y: 2}`.
    pub fn write_text(&self, channel: &Channel, value: &Value<'_>, out: &mut String) {
        match value {
            Value::String(text) => {
                for c in String::from_utf8_lossy(text).chars() {
                    if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
                }
            }
            Value::Bytes(bytes) => {
                let decoded =
                    Registry::decodes(&channel.type_name).then(|| self.registry.decode(&channel.type_name, bytes));
                let tree = match decoded {
                    Some(Ok(decoded)) => decoded.tree,
                    Some(Err(error)) => {
                        self.notes.note(&channel.type_name, &error);
                        Tree::Bytes(bytes.to_vec())
                    }
                    None => Tree::Bytes(bytes.to_vec()),
                };
                out.push_str(&tree.to_string());
            }
            Value::StringArray(_) => {
                let mut bytes = Vec::new();
                plain_json(value, &mut bytes);
                out.push_str(&String::from_utf8_lossy(&bytes).replace("\",\"", "\", \""));
            }
            _ => {
                let mut bytes = Vec::new();
                plain_text(value, &mut bytes);
                out.push_str(&String::from_utf8_lossy(&bytes).replace(',', ", "));
            }
        }
    }

    /// Appends the value as JSON: structs as objects, bytes as base64, NaN and infinities as strings.
    pub fn write_json(&self, channel: &Channel, value: &Value<'_>, out: &mut Vec<u8>) {
        self.painter(channel, false).json(value, out);
    }

    /// The value as a tree: structs as maps. What cannot be decoded is bytes.
    #[must_use]
    pub fn tree(&self, channel: &Channel, value: &Value<'_>) -> Tree {
        if let Value::Bytes(payload) | Value::String(payload) = value
            && Registry::decodes(&channel.type_name)
        {
            match self.registry.decode(&channel.type_name, payload) {
                Ok(decoded) => return decoded.tree,
                Err(error) => self.notes.note(&channel.type_name, &error),
            }
        }
        let text = |text: &[u8]| Tree::Text(String::from_utf8_lossy(text).into_owned());
        match *value {
            Value::Boolean(b) => Tree::Bool(b),
            Value::Int64(x) => Tree::Int(x),
            Value::Float(x) => Tree::Float(x),
            Value::Double(x) => Tree::Double(x),
            Value::String(bytes) => text(bytes),
            Value::Bytes(bytes) => Tree::Bytes(bytes.to_vec()),
            Value::BooleanArray(bytes) => Tree::List(bytes.iter().map(|b| Tree::Bool(*b != 0)).collect()),
            Value::Int64Array(numbers) => Tree::List(numbers.iter().map(Tree::Int).collect()),
            Value::FloatArray(numbers) => Tree::List(numbers.iter().map(Tree::Float).collect()),
            Value::DoubleArray(numbers) => Tree::List(numbers.iter().map(Tree::Double).collect()),
            Value::StringArray(texts) => Tree::List(texts.iter().map(text).collect()),
        }
    }

    /// What is wrong with the schemas, and with values met so far: each kind once for each type.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.notes.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// What shows the values of one channel; with `raw`, structs and the like stay bytes.
    pub(crate) fn painter(&self, channel: &Channel, raw: bool) -> Painter {
        let (notes, type_name) = (self.notes.clone(), channel.type_name.clone());
        let mut painter = Painter { notes, type_name, nested: Nested::None, reported: false };
        if raw || !Registry::decodes(&channel.type_name) {
            return painter;
        }
        painter.nested = match self.registry.decoder(&channel.type_name) {
            _ if channel.type_name == "json" => Nested::Json,
            Ok(decoder) => {
                let shape = match channel.type_name.strip_suffix(']') {
                    None => Shape::One,
                    Some(name) if name.ends_with('[') => Shape::Many,
                    Some(_) => Shape::Other,
                };
                Nested::Decoder(decoder, shape)
            }
            Err(error) => {
                self.notes.note(&channel.type_name, &error);
                Nested::None
            }
        };
        painter
    }
}

impl Notes {
    fn note(&self, subject: &str, error: &SchemaError) {
        let code = match error {
            SchemaError::Missing { .. } => "missing-schema",
            SchemaError::Replaced { .. } => "changed-schema",
            SchemaError::Short { .. } | SchemaError::Photon { .. } | SchemaError::Payload { .. } => "bad-payload",
            _ => "bad-schema",
        };
        // A broken schema is met twice, where it stands and where it is used, and says the same both times.
        let text = error.to_string();
        let what = text.strip_prefix(&format!("{subject}: ")).unwrap_or(&text);
        let named = if what.contains(subject) { what.to_owned() } else { format!("{subject}: {what}") };
        let subject = if code == "bad-schema" { what } else { subject };
        self.report(subject, code, &named);
    }

    fn report(&self, subject: &str, code: &'static str, message: &str) {
        let mut problems = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < MOST_PROBLEMS {
            let key = (subject.to_owned(), code);
            problems.entry(key).or_insert_with(|| Problem::general(Severity::Warning, code, message));
        }
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schemas").finish_non_exhaustive()
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.schemas.write_text(self.channel, self.value, &mut text);
        f.write_str(&text)
    }
}

/// Shows the values of one channel, with everything looked up beforehand.
pub(crate) struct Painter {
    notes: Notes,
    type_name: String,
    nested: Nested,
    /// Whether a defect of a value was reported already.
    reported: bool,
}

enum Nested {
    None,
    Json,
    Decoder(Decoder, Shape),
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Shape {
    One,
    Many,
    Other,
}

impl Painter {
    /// Appends the value as JSON.
    pub(crate) fn json(&mut self, value: &Value<'_>, out: &mut Vec<u8>) {
        match (value, &self.nested) {
            (Value::Bytes(payload), Nested::Decoder(decoder, shape)) => {
                let start = out.len();
                if let Some(layout) = decoder.layout()
                    && structs_json(layout, *shape, payload, out).is_some()
                {
                    return;
                }
                out.truncate(start);
                match decoder.decode(payload) {
                    Ok(decoded) => decoded.tree.write_json(out),
                    Err(error) => {
                        json::bytes(out, payload);
                        self.defect(&error);
                    }
                }
            }
            (Value::String(text), Nested::Json) => match serde_json::from_slice::<serde_json::Value>(text) {
                // The text itself, because a parsed number may have lost digits. Line breaks in JSON are blanks.
                Ok(_) => out.extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte })),
                Err(error) => {
                    json::string(out, &self.utf8(text));
                    self.defect(&SchemaError::Payload { format: "json", reason: error.to_string() });
                }
            },
            (Value::String(text), _) => json::string(out, &self.utf8(text)),
            _ => plain_json(value, out),
        }
    }

    /// Appends the value as the bare text of a table cell, and says whether it needs no quotes in any case.
    pub(crate) fn cell(&mut self, value: &Value<'_>, out: &mut Vec<u8>) -> bool {
        match value {
            Value::Boolean(_) | Value::Int64(_) | Value::Float(_) | Value::Double(_) => {
                plain_text(value, out);
                true
            }
            Value::String(text) => {
                out.extend_from_slice(self.utf8(text).as_bytes());
                false
            }
            Value::Bytes(bytes) if matches!(self.nested, Nested::None) => {
                json::base64_text(out, bytes);
                true
            }
            _ => {
                let start = out.len();
                self.json(value, out);
                // Bytes that were no value of their type: base64, which as a cell needs no quotes.
                if let Some([b'"', .., b'"']) = out.get(start..) {
                    out.pop();
                    out.remove(start);
                }
                false
            }
        }
    }

    fn utf8<'t>(&mut self, text: &'t [u8]) -> Cow<'t, str> {
        let text = String::from_utf8_lossy(text);
        if let Cow::Owned(_) = &text
            && !std::mem::replace(&mut self.reported, true)
        {
            let message = format!("{}: text that is not UTF-8; showing invalid bytes as \u{fffd}", self.type_name);
            self.notes.report(&self.type_name, "not-utf8", &message);
        }
        text
    }

    #[cold]
    fn defect(&mut self, error: &SchemaError) {
        if !std::mem::replace(&mut self.reported, true) {
            self.notes.note(&self.type_name, error);
        }
    }
}

/// Structs as JSON straight from their bytes; `None` if the sizes do not fit exactly.
fn structs_json(layout: &Layout, shape: Shape, payload: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match shape {
        Shape::One if payload.len() == layout.size => struct_json(layout, payload, out),
        Shape::Many if layout.size > 0 && payload.len().is_multiple_of(layout.size) => {
            list_json(payload.chunks_exact(layout.size), out, |item, out| struct_json(layout, item, out))
        }
        _ => None,
    }
}

fn struct_json(layout: &Layout, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    out.push(b'{');
    for (place, field) in layout.fields.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        json::string(out, &field.name);
        out.push(b':');
        field_json(field, bytes.get(field.offset..)?, out)?;
    }
    out.push(b'}');
    Some(())
}

fn field_json(field: &Field, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match (&field.kind, field.count) {
        // Bit-fields and texts are rare, and have rules of their own.
        _ if field.bits.is_some() => None,
        (Kind::Scalar(Scalar::Char), _) => None,
        (Kind::Scalar(scalar), None) => scalar_json(*scalar, bytes, out),
        (Kind::Scalar(scalar), Some(count)) => {
            let packed = bytes.get(..count.checked_mul(scalar.size())?)?;
            list_json(packed.chunks_exact(scalar.size()), out, |item, out| scalar_json(*scalar, item, out))
        }
        (Kind::Struct(inner), None) => struct_json(inner, bytes.get(..inner.size)?, out),
        (Kind::Struct(inner), Some(count)) if inner.size > 0 => {
            let packed = bytes.get(..count.checked_mul(inner.size)?)?;
            list_json(packed.chunks_exact(inner.size), out, |item, out| struct_json(inner, item, out))
        }
        (Kind::Struct(_), Some(_)) => None,
    }
}

fn scalar_json(scalar: Scalar, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    match scalar {
        Scalar::Bool => json::bool(out, *bytes.first()? != 0),
        Scalar::Char => return None,
        Scalar::Int8 => json::i64(out, i8::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::UInt8 => json::i64(out, (*bytes.first()?).into()),
        Scalar::Int16 => json::i64(out, i16::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::UInt16 => json::i64(out, u16::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::Int32 => json::i64(out, i32::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::UInt32 => json::i64(out, u32::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::Int64 => json::i64(out, i64::from_le_bytes(*bytes.first_chunk()?)),
        Scalar::UInt64 => json::u64(out, u64::from_le_bytes(*bytes.first_chunk()?)),
        Scalar::Float => json::f32(out, f32::from_le_bytes(*bytes.first_chunk()?)),
        Scalar::Double => json::f64(out, f64::from_le_bytes(*bytes.first_chunk()?)),
    }
    Some(())
}

fn list_json<T>(
    items: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    mut write: impl FnMut(T, &mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    out.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(item, out)?;
    }
    out.push(b']');
    Some(())
}

/// A value as JSON, without any schema.
fn plain_json(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(b) => json::bool(out, *b),
        Value::Int64(x) => json::i64(out, *x),
        Value::Float(x) => json::f32(out, *x),
        Value::Double(x) => json::f64(out, *x),
        Value::String(text) => json::string(out, &String::from_utf8_lossy(text)),
        Value::Bytes(bytes) => json::bytes(out, bytes),
        Value::BooleanArray(bytes) => array(out, bytes.iter(), |out, b| json::bool(out, *b != 0)),
        Value::Int64Array(numbers) => array(out, numbers.iter(), json::i64),
        Value::FloatArray(numbers) => array(out, numbers.iter(), json::f32),
        Value::DoubleArray(numbers) => array(out, numbers.iter(), json::f64),
        Value::StringArray(texts) => {
            array(out, texts.iter(), |out, text| json::string(out, &String::from_utf8_lossy(text)))
        }
    }
}

/// A value of numbers as bare text, arrays in brackets.
fn plain_text(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(b) => json::bool(out, *b),
        Value::Int64(x) => json::i64_text(out, *x),
        Value::Float(x) => json::f32_text(out, *x),
        Value::Double(x) => json::f64_text(out, *x),
        Value::Int64Array(numbers) => array(out, numbers.iter(), json::i64_text),
        Value::FloatArray(numbers) => array(out, numbers.iter(), json::f32_text),
        Value::DoubleArray(numbers) => array(out, numbers.iter(), json::f64_text),
        _ => plain_json(value, out),
    }
}

fn array<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// A log with more broken types than this has one problem: itself.
const MOST_PROBLEMS: usize = 1000;
