use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use logpose_core::{Channel, Column, Columns, Time, Type, Value};
use logpose_schema::wpistruct::{Kind, Layout, Scalar};
use logpose_schema::{Decoder, Registry, Tree, json};

use crate::Error;

/// A scalar inside a value: a number, a truth value, a text.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue<'a> {
    /// Nothing is there: null in JSON, an optional field that is not set.
    Nothing,
    /// True or false.
    Boolean(bool),
    /// A signed integer.
    Integer(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A binary32 number.
    Float(f32),
    /// A binary64 number.
    Double(f64),
    /// Text; mostly UTF-8.
    Text(Cow<'a, [u8]>),
    /// Bytes that nothing explains.
    Bytes(Cow<'a, [u8]>),
    /// A number with, if the schema lists it, a name.
    Enum(i64, Option<Cow<'a, str>>),
}

impl ScalarValue<'_> {
    /// As a number, if it is one; an integer beyond 2^53 is rounded.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "said in the sentence above")]
    pub fn number(&self) -> Option<f64> {
        Some(match *self {
            Self::Integer(x) | Self::Enum(x, _) => x as f64,
            Self::Unsigned(x) => x as f64,
            Self::Float(x) => x.into(),
            Self::Double(x) => x,
            _ => return None,
        })
    }

    /// As it is drawn: a number, or 0 and 1 for truth values.
    #[must_use]
    pub fn drawn(&self) -> Option<f64> {
        match *self {
            Self::Boolean(b) => Some(u8::from(b).into()),
            _ => self.number(),
        }
    }

    /// As an integer, exactly, if it is one.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        match *self {
            Self::Integer(x) | Self::Enum(x, _) => Some(x.into()),
            Self::Unsigned(x) => Some(x.into()),
            _ => None,
        }
    }

    /// The same, with bytes of its own.
    #[must_use]
    pub fn into_owned(self) -> ScalarValue<'static> {
        match self {
            Self::Nothing => ScalarValue::Nothing,
            Self::Boolean(b) => ScalarValue::Boolean(b),
            Self::Integer(x) => ScalarValue::Integer(x),
            Self::Unsigned(x) => ScalarValue::Unsigned(x),
            Self::Float(x) => ScalarValue::Float(x),
            Self::Double(x) => ScalarValue::Double(x),
            Self::Text(text) => ScalarValue::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => ScalarValue::Bytes(Cow::Owned(bytes.into_owned())),
            Self::Enum(number, name) => ScalarValue::Enum(number, name.map(|name| Cow::Owned(name.into_owned()))),
        }
    }

    /// Appends it as JSON, by the rules of [`json`].
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => json::null(out),
            Self::Boolean(b) => json::bool(out, *b),
            Self::Integer(x) | Self::Enum(x, _) => json::i64(out, *x),
            Self::Unsigned(x) => json::u64(out, *x),
            Self::Float(x) => json::f32(out, *x),
            Self::Double(x) => json::f64(out, *x),
            Self::Text(text) => json::string(out, &String::from_utf8_lossy(text)),
            Self::Bytes(bytes) => json::bytes(out, bytes),
        }
    }

    fn of(tree: &Tree) -> ScalarValue<'_> {
        match tree {
            Tree::Bool(b) => ScalarValue::Boolean(*b),
            Tree::Int(x) => ScalarValue::Integer(*x),
            Tree::UInt(x) => ScalarValue::Unsigned(*x),
            Tree::Float(x) => ScalarValue::Float(*x),
            Tree::Double(x) => ScalarValue::Double(*x),
            Tree::Text(text) => ScalarValue::Text(Cow::Borrowed(text.as_bytes())),
            Tree::Bytes(bytes) => ScalarValue::Bytes(Cow::Borrowed(bytes)),
            Tree::Enum { number, name } => ScalarValue::Enum(*number, name.as_deref().map(Cow::Borrowed)),
            Tree::Null | Tree::List(_) | Tree::Map(_) => ScalarValue::Nothing,
        }
    }
}

/// One line for people; texts in quotes.
impl fmt::Display for ScalarValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tree = match self {
            Self::Nothing => Tree::Null,
            Self::Boolean(b) => Tree::Bool(*b),
            Self::Integer(x) => Tree::Int(*x),
            Self::Unsigned(x) => Tree::UInt(*x),
            Self::Float(x) => Tree::Float(*x),
            Self::Double(x) => Tree::Double(*x),
            Self::Text(text) => Tree::Text(String::from_utf8_lossy(text).into_owned()),
            Self::Bytes(bytes) => Tree::Bytes(bytes.to_vec()),
            Self::Enum(number, name) => Tree::Enum { number: *number, name: name.as_deref().map(str::to_owned) },
        };
        tree.fmt(f)
    }
}

/// One step from a value to a part of it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Step {
    /// To a field: `.x`. A list has one, its `.length`.
    Field(String),
    /// To an element: `[0]`.
    Element(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Element(place) => write!(f, "[{place}]"),
        }
    }
}

/// Steps from their text, such as `.translation.x`, `[0]` or `.poses[2].rotation.value`: what their `Display` gives.
/// Nothing leads to the value itself.
pub fn parse_path(text: &str) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '[')).map_or(rest.len(), |(at, _)| at);
        let (step, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let element = || step.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(Step::Element);
        let field = || step.strip_prefix('.').filter(|name| !name.is_empty()).map(|name| Step::Field(name.to_owned()));
        let known = element().or_else(field).filter(|_| steps.len() < MOST_STEPS);
        steps.push(known.ok_or_else(|| {
            Error::usage(format!("invalid path {text:?} at {step:?}"))
                .with_help("use .name for fields and [0] for elements")
        })?);
        rest = after;
    }
    Ok(steps)
}

/// Receives the scalar fields of a value.
pub trait Visit {
    /// A list of `len` elements is at `path`; the answer is how many of them to visit.
    fn list(&mut self, path: &str, len: usize) -> usize;
    /// A scalar is at `path`, such as `.translation.x` or `[0]`; the path of a value that is one scalar is empty.
    fn scalar(&mut self, path: &str, part: ScalarValue<'_>);
}

/// Reads the scalar fields of one channel's values: all of them, or the one at a path.
#[derive(Clone, Debug)]
pub struct FieldReader {
    how: How,
    path: String,
}

#[derive(Clone, Debug)]
enum How {
    /// The type of the channel says it all.
    Plain,
    /// One struct.
    Struct(Arc<Layout>),
    /// As many structs as there are.
    Structs(Arc<Layout>),
    /// Whatever the decoder finds.
    Decoder(Decoder),
}

/// The kind of value at a path, as far as the schema shows it before any value is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ValueKind {
    /// True or false.
    Boolean,
    /// A number.
    Number,
    /// Text.
    Text,
    /// Bytes that nothing explains.
    Bytes,
    /// A number that may have a name.
    Enum,
    /// Elements, found by number.
    List,
    /// Fields, found by name.
    Struct,
    /// Only the values decide.
    Any,
}

impl FieldReader {
    /// A reader for a channel's values. What cannot be decoded is bytes.
    #[must_use]
    pub fn of(channel: &Channel, registry: &Registry) -> Self {
        let decoder =
            Registry::decodes(&channel.type_name).then(|| registry.decoder(&channel.type_name).ok()).flatten();
        let how = match decoder {
            None => How::Plain,
            Some(decoder) => match (decoder.layout(), channel.type_name.strip_suffix(']')) {
                (Some(layout), None) => How::Struct(Arc::clone(layout)),
                (Some(layout), Some(name)) if name.ends_with('[') && layout.size > 0 => {
                    How::Structs(Arc::clone(layout))
                }
                _ => How::Decoder(decoder),
            },
        };
        Self { how, path: String::new() }
    }

    /// The layout of its values, where they are one struct.
    pub fn layout(&self) -> Option<&Arc<Layout>> {
        match &self.how {
            How::Struct(layout) => Some(layout),
            _ => None,
        }
    }

    /// Visits every scalar of a value, in its order.
    pub fn visit(&mut self, value: &Value<'_>, visit: &mut dyn Visit) {
        let mut walk = Walk { path: &mut self.path, visit };
        walk.path.clear();
        match (&self.how, value) {
            (How::Struct(layout), Value::Bytes(payload)) if payload.len() >= layout.size => {
                walk.fields(layout, payload);
            }
            (How::Structs(layout), Value::Bytes(payload)) => {
                walk.items(payload.chunks_exact(layout.size), |walk, item| walk.fields(layout, item));
            }
            (How::Decoder(decoder), Value::Bytes(payload) | Value::String(payload)) => match decoder.decode(payload) {
                Ok(decoded) => walk.tree(&decoded.tree),
                Err(_) => walk.value(value),
            },
            _ => walk.value(value),
        }
    }

    /// The scalar at a path; `None` if the value has none there.
    #[must_use]
    pub fn at<'a>(&self, value: &Value<'a>, steps: &[Step]) -> Option<ScalarValue<'a>> {
        match (&self.how, value) {
            (How::Struct(layout), Value::Bytes(payload)) if payload.len() >= layout.size => {
                in_struct(layout, payload, steps)
            }
            (How::Structs(layout), Value::Bytes(payload)) => {
                let mut items = payload.chunks_exact(layout.size);
                match steps.split_first()? {
                    (Step::Element(place), rest) => in_struct(layout, items.nth(*place)?, rest),
                    _ => length(steps, || items.len()),
                }
            }
            (How::Decoder(decoder), Value::Bytes(payload) | Value::String(payload)) => {
                let decoded = decoder.decode(payload).ok()?;
                in_tree(&decoded.tree, steps).map(ScalarValue::into_owned)
            }
            _ => in_value(value, steps),
        }
    }

    /// The kind of value at a path, or how many steps of it are valid and what could follow them.
    pub fn kind(&self, ty: Type, steps: &[Step]) -> Result<ValueKind, (usize, Vec<String>)> {
        match &self.how {
            How::Decoder(_) => Ok(ValueKind::Any),
            How::Struct(layout) => kind_in_struct(layout, steps, 0),
            How::Structs(layout) => match steps.split_first() {
                None => Ok(ValueKind::List),
                Some((Step::Element(_), rest)) => kind_in_struct(layout, rest, 1),
                Some((Step::Field(_), _)) if is_length(steps) => Ok(ValueKind::Number),
                Some((Step::Field(_), _)) => Err((0, vec!["[0]".to_owned()])),
            },
            How::Plain => {
                let (kind, element) = match ty {
                    Type::Boolean => (ValueKind::Boolean, None),
                    Type::Int64 | Type::Float | Type::Double => (ValueKind::Number, None),
                    Type::String => (ValueKind::Text, None),
                    Type::Bytes => (ValueKind::Bytes, None),
                    Type::BooleanArray => (ValueKind::List, Some(ValueKind::Boolean)),
                    Type::Int64Array | Type::FloatArray | Type::DoubleArray => {
                        (ValueKind::List, Some(ValueKind::Number))
                    }
                    Type::StringArray => (ValueKind::List, Some(ValueKind::Text)),
                };
                match (steps, element) {
                    ([], _) => Ok(kind),
                    ([Step::Element(_)], Some(element)) => Ok(element),
                    ([Step::Element(_), ..], Some(_)) => Err((1, Vec::new())),
                    (steps, Some(_)) if is_length(steps) => Ok(ValueKind::Number),
                    (_, Some(_)) => Err((0, vec!["[0]".to_owned()])),
                    (_, None) => Err((0, Vec::new())),
                }
            }
        }
    }
}

struct Walk<'w> {
    path: &'w mut String,
    visit: &'w mut dyn Visit,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value<'_>) {
        match *value {
            Value::Boolean(b) => self.scalar(ScalarValue::Boolean(b)),
            Value::Int64(x) => self.scalar(ScalarValue::Integer(x)),
            Value::Float(x) => self.scalar(ScalarValue::Float(x)),
            Value::Double(x) => self.scalar(ScalarValue::Double(x)),
            Value::String(text) => self.scalar(ScalarValue::Text(Cow::Borrowed(text))),
            Value::Bytes(bytes) => self.scalar(ScalarValue::Bytes(Cow::Borrowed(bytes))),
            Value::BooleanArray(bytes) => {
                self.items(bytes.iter(), |walk, b| walk.scalar(ScalarValue::Boolean(*b != 0)))
            }
            Value::Int64Array(numbers) => self.items(numbers.iter(), |walk, x| walk.scalar(ScalarValue::Integer(x))),
            Value::FloatArray(numbers) => self.items(numbers.iter(), |walk, x| walk.scalar(ScalarValue::Float(x))),
            Value::DoubleArray(numbers) => self.items(numbers.iter(), |walk, x| walk.scalar(ScalarValue::Double(x))),
            Value::StringArray(texts) => {
                let wanted = self.visit.list(self.path, texts.len());
                self.some(texts.iter().take(wanted), |walk, text| walk.scalar(ScalarValue::Text(Cow::Borrowed(text))));
            }
        }
    }

    fn scalar(&mut self, part: ScalarValue<'_>) {
        self.visit.scalar(self.path, part);
    }

    fn items<T>(&mut self, items: impl ExactSizeIterator<Item = T>, each: impl FnMut(&mut Self, T)) {
        let wanted = self.visit.list(self.path, items.len());
        self.some(items.take(wanted), each);
    }

    fn some<T>(&mut self, items: impl Iterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        let length = self.path.len();
        for (place, item) in items.enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(self.path, "[{place}]");
            each(self, item);
            self.path.truncate(length);
        }
    }

    fn field(&mut self, name: &str, each: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push('.');
        self.path.push_str(name);
        each(self);
        self.path.truncate(length);
    }

    fn fields(&mut self, layout: &Layout, bytes: &[u8]) {
        for field in &layout.fields {
            self.field(&field.name, |walk| match (&field.kind, field.count) {
                (Kind::Struct(inner), None) => {
                    walk.fields(inner, bytes.get(field.offset..).unwrap_or_default());
                }
                (Kind::Struct(inner), Some(count)) if inner.size > 0 => {
                    let items = bytes.get(field.offset..).unwrap_or_default().chunks_exact(inner.size).take(count);
                    walk.items(items, |walk, item| walk.fields(inner, item));
                }
                _ => {
                    if let Some(tree) = field.read(bytes) {
                        walk.tree(&tree);
                    }
                }
            });
        }
    }

    fn tree(&mut self, tree: &Tree) {
        match tree {
            Tree::List(items) => self.items(items.iter(), |walk, item| walk.tree(item)),
            Tree::Map(fields) => fields.iter().for_each(|(name, value)| self.field(name, |walk| walk.tree(value))),
            _ => self.scalar(ScalarValue::of(tree)),
        }
    }
}

fn in_value<'a>(value: &Value<'a>, steps: &[Step]) -> Option<ScalarValue<'a>> {
    let place = match steps {
        [] => None,
        [Step::Element(place)] => Some(*place),
        _ => return length_of(value).and_then(|len| length(steps, || len)),
    };
    Some(match (*value, place) {
        (Value::Boolean(b), None) => ScalarValue::Boolean(b),
        (Value::Int64(x), None) => ScalarValue::Integer(x),
        (Value::Float(x), None) => ScalarValue::Float(x),
        (Value::Double(x), None) => ScalarValue::Double(x),
        (Value::String(text), None) => ScalarValue::Text(Cow::Borrowed(text)),
        (Value::Bytes(bytes), None) => ScalarValue::Bytes(Cow::Borrowed(bytes)),
        (Value::BooleanArray(bytes), Some(i)) => ScalarValue::Boolean(*bytes.get(i)? != 0),
        (Value::Int64Array(numbers), Some(i)) => ScalarValue::Integer(numbers.iter().nth(i)?),
        (Value::FloatArray(numbers), Some(i)) => ScalarValue::Float(numbers.iter().nth(i)?),
        (Value::DoubleArray(numbers), Some(i)) => ScalarValue::Double(numbers.iter().nth(i)?),
        (Value::StringArray(texts), Some(i)) => ScalarValue::Text(Cow::Borrowed(texts.iter().nth(i)?)),
        _ => return None,
    })
}

/// How many elements a list has.
fn length_of(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::BooleanArray(bytes) => Some(bytes.len()),
        Value::Int64Array(numbers) => Some(numbers.len()),
        Value::FloatArray(numbers) => Some(numbers.len()),
        Value::DoubleArray(numbers) => Some(numbers.len()),
        Value::StringArray(texts) => Some(texts.len()),
        _ => None,
    }
}

/// Whether steps lead from a list to its length.
fn is_length(steps: &[Step]) -> bool {
    matches!(steps, [Step::Field(name)] if name == "length")
}

fn length(steps: &[Step], of: impl FnOnce() -> usize) -> Option<ScalarValue<'static>> {
    is_length(steps).then(|| ScalarValue::Integer(i64::try_from(of()).unwrap_or(i64::MAX)))
}

fn in_struct(layout: &Layout, bytes: &[u8], steps: &[Step]) -> Option<ScalarValue<'static>> {
    let (Step::Field(name), rest) = steps.split_first()? else { return None };
    let field = layout.fields.iter().find(|field| field.name == *name)?;
    match (&field.kind, field.count, rest.split_first()) {
        (Kind::Struct(inner), None, _) => in_struct(inner, bytes.get(field.offset..)?, rest),
        (Kind::Struct(inner), Some(count), Some((Step::Element(place), rest))) if *place < count => {
            let start = field.offset.checked_add(inner.size.checked_mul(*place)?)?;
            in_struct(inner, bytes.get(start..)?, rest)
        }
        (Kind::Struct(_), Some(count), _) => length(rest, || count),
        (Kind::Scalar(_), ..) => in_tree(&field.read(bytes)?, rest).map(ScalarValue::into_owned),
    }
}

fn in_tree<'t>(tree: &'t Tree, steps: &[Step]) -> Option<ScalarValue<'t>> {
    match (steps.split_first(), tree) {
        (None, Tree::List(_) | Tree::Map(_)) => None,
        (None, scalar) => Some(ScalarValue::of(scalar)),
        (Some((Step::Field(_), _)), Tree::List(items)) => length(steps, || items.len()),
        (Some((Step::Field(name), rest)), _) => in_tree(tree.field(name)?, rest),
        (Some((Step::Element(place), rest)), _) => in_tree(tree.items()?.get(*place)?, rest),
    }
}

/// What is at the end of some steps into a decoded value, of any shape.
#[must_use]
pub fn tree_at<'t>(tree: &'t Tree, steps: &[Step]) -> Option<Cow<'t, Tree>> {
    match (steps.split_first(), tree) {
        (None, tree) => Some(Cow::Borrowed(tree)),
        (Some((Step::Field(_), _)), Tree::List(items)) => {
            is_length(steps).then(|| Cow::Owned(Tree::Int(i64::try_from(items.len()).unwrap_or(i64::MAX))))
        }
        (Some((Step::Field(name), rest)), _) => tree_at(tree.field(name)?, rest),
        (Some((Step::Element(place), rest)), _) => tree_at(tree.items()?.get(*place)?, rest),
    }
}

fn kind_in_struct(layout: &Layout, steps: &[Step], done: usize) -> Result<ValueKind, (usize, Vec<String>)> {
    let names = || layout.fields.iter().map(|field| format!(".{}", field.name)).collect();
    let (name, rest) = match steps.split_first() {
        None => return Ok(ValueKind::Struct),
        Some((Step::Element(_), _)) => return Err((done, names())),
        Some((Step::Field(name), rest)) => (name, rest),
    };
    let field = layout.fields.iter().find(|field| field.name == *name).ok_or_else(|| (done, names()))?;
    let text = matches!(field.kind, Kind::Scalar(Scalar::Char));
    let (rest, done) = match (field.count.filter(|_| !text), rest.split_first()) {
        (None, _) => (rest, done + 1),
        (Some(_), None) => return Ok(ValueKind::List),
        (Some(_), Some(_)) if is_length(rest) => return Ok(ValueKind::Number),
        (Some(count), Some((Step::Element(place), rest))) if *place < count => (rest, done + 2),
        (Some(count), _) => return Err((done + 1, vec![format!("[0] to [{}]", count.saturating_sub(1))])),
    };
    let kind = match &field.kind {
        Kind::Struct(inner) => return kind_in_struct(inner, rest, done),
        Kind::Scalar(_) if !field.names.is_empty() => ValueKind::Enum,
        Kind::Scalar(Scalar::Bool) => ValueKind::Boolean,
        Kind::Scalar(Scalar::Char) => ValueKind::Text,
        Kind::Scalar(_) => ValueKind::Number,
    };
    if rest.is_empty() { Ok(kind) } else { Err((done, Vec::new())) }
}

/// Gives the samples of a column in the order of their times, stably.
pub fn in_time_order(columns: &Columns, column: &Column, mut each: impl FnMut(Time, &Value<'_>)) {
    if column.sorted {
        columns.samples(column).for_each(|(time, value)| each(time, &value));
    } else {
        let mut samples: Vec<_> = columns.samples(column).collect();
        samples.sort_by_key(|(time, _)| *time);
        samples.iter().for_each(|(time, value)| each(*time, value));
    }
}

/// No value is deeper.
const MOST_STEPS: usize = 128;
