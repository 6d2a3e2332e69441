//! Samples to messages: a typed writer, and the encoder of the seam.

use std::collections::HashMap;

use logpose_core::{
    Channel, ChannelId, Encode, EncodeError, EncodeOptions, Layout, Problem, Sample, Severity, Time, Type, Value,
};

use crate::model::seconds_of;
use crate::wire::{FIELD, Kind, Message, Revision};

/// The longest name, value or array that two bytes can say.
const MAX: usize = 0xffff;
/// The longest that AdvantageScope, which reads lengths as signed, can read.
const MAX_SIGNED: usize = 0x7fff;
/// After so many keys the ids would repeat.
const KEYS: u32 = 1 << 16;

/// What to write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// The revision.
    pub revision: Revision,
    /// Whether to write lengths from 32768 to 65535, which are legal but make AdvantageScope refuse the log.
    pub long_values: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { revision: Revision::R2, long_values: false }
    }
}

impl Options {
    /// What was asked for; `None` for a revision that does not exist.
    pub(crate) fn of(options: &EncodeOptions) -> Option<Self> {
        let revision = match options.revision {
            None => Revision::R2,
            Some(byte) => Revision::of(byte)?,
        };
        Some(Self { revision, long_values: options.long_values })
    }
}

/// Writes a log into memory.
///
/// ```
/// use logpose_core::{Time, Value};
/// use logpose_rlog::{Options, Revision, Writer};
///
/// let mut log = Writer::new(Options { revision: Revision::R1, ..Options::default() });
/// let speed = log.key("/Drive/Speed", "double");
/// log.cycle(Time::from_millis(20));
/// log.put(speed, &Value::Double(1.5))?;
/// log.cycle(Time::from_millis(40));
/// log.remove(speed);
/// assert_eq!(log.bytes().len(), 1 + 9 + 17 + 12 + 9 + 4);
/// # Ok::<(), logpose_core::EncodeError>(())
/// ```
///
/// A value put before the first cycle begins one at time zero, because a log begins with a timestamp. Nothing is
/// compared: a value that has not changed is written all the same.
#[derive(Debug)]
pub struct Writer {
    emitter: Emitter,
    out: Vec<u8>,
    begun: bool,
}

/// A key of a [`Writer`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Key(usize);

impl Writer {
    /// A log with its revision byte.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { emitter: Emitter::new(options), out: vec![options.revision.byte()], begun: false }
    }

    /// A key to put values to, the same for the same name and type. Its message is written with its first value. R1 writes no type strings: there the
    /// name alone makes the key, and the values of several types share it.
    pub fn key(&mut self, name: &str, type_name: &str) -> Key {
        Key(self.emitter.entry(name, type_name))
    }

    /// Begins a cycle: everything that is put from here on has this time.
    pub fn cycle(&mut self, time: Time) {
        self.begun = true;
        timestamp(time, &mut self.out);
    }

    /// Writes a value. A value that the format cannot say is refused, and nothing is written of it.
    pub fn put(&mut self, key: Key, value: &Value<'_>) -> Result<(), EncodeError> {
        if !self.begun {
            self.cycle(Time::ZERO);
        }
        self.emitter.field(key.0, value, &mut self.out)
    }

    /// Says that a key has no value from here on. Returns whether that could be said: R2 cannot, and a key
    /// without a value needs no end.
    pub fn remove(&mut self, key: Key) -> bool {
        self.emitter.null(key.0, &mut self.out)
    }

    /// The log so far; it always ends with a whole message.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// The log.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// The log so far, to be written elsewhere; what follows continues it.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Forgets the bytes so far, which were written elsewhere; what follows continues them. Unlike
    /// [`Writer::take`] it keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.out.clear();
    }
}

/// The state of a stream of messages: which keys it has, and under which ids.
#[derive(Debug)]
pub(crate) struct Emitter {
    options: Options,
    entries: Vec<Entry>,
    by_name: HashMap<(String, String), usize>,
    /// R1: a name has one id, whatever the types of its values.
    names: HashMap<String, u16>,
    /// The entry whose value an id has now, by id; R1 only.
    current: Vec<Option<usize>>,
    next: u32,
}

#[derive(Debug)]
struct Entry {
    name: String,
    type_name: String,
    ty: Type,
    id: Option<u16>,
}

impl Emitter {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            entries: Vec::new(),
            by_name: HashMap::new(),
            names: HashMap::new(),
            current: Vec::new(),
            next: 0,
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.options.revision
    }

    pub(crate) fn entry(&mut self, name: &str, type_name: &str) -> usize {
        let next = self.entries.len();
        let entry = *self.by_name.entry((name.into(), type_name.into())).or_insert(next);
        if entry < next {
            return entry;
        }
        self.entries.push(Entry { name: name.into(), type_name: type_name.into(), ty: Type::of(type_name), id: None });
        next
    }

    /// Appends a field, and its key before the first one. After an error nothing was appended.
    #[inline]
    pub(crate) fn field(&mut self, entry: usize, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.options.revision == Revision::R2
            && let Some(Entry { ty, id: Some(id), .. }) = self.entries.get(entry)
        {
            let word = match (ty, value) {
                (Type::Double, Value::Double(x)) => Some(x.to_be_bytes()),
                (Type::Int64, Value::Int64(x)) => Some(x.to_be_bytes()),
                _ => None,
            };
            if let Some([a, b, c, d, e, f, g, h]) = word {
                let [i1, i0] = id.to_be_bytes();
                out.extend_from_slice(&[FIELD, i1, i0, 0, 8, a, b, c, d, e, f, g, h]);
                return Ok(());
            }
        }
        self.any_field(entry, value, out)
    }

    fn any_field(&mut self, entry: usize, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Some(found) = self.entries.get(entry) else {
            return Err(refusal("", "undeclared key".into()));
        };
        if !fits(found.ty, value.ty()) {
            return Err(refusal(
                &found.name,
                format!("a {:?} value on a channel of type {:?}", value.ty(), found.type_name),
            ));
        }
        let kind = r1_kind(&found.type_name, value);
        match self.options.revision {
            Revision::R1 => self.check_r1(&found.name, value)?,
            Revision::R2 => self.check(&found.name, "a value", "bytes", r2_len(value))?,
        }
        let id = match found.id {
            Some(id) => id,
            None => self.define(entry, out)?,
        };
        let [i1, i0] = id.to_be_bytes();
        match self.options.revision {
            Revision::R1 => {
                out.extend_from_slice(&[FIELD, i1, i0, kind.byte()]);
                emit_r1(kind, value, out);
                if let Some(current) = self.current.get_mut(usize::from(id)) {
                    *current = Some(entry);
                }
            }
            Revision::R2 => {
                let [n1, n0] = short(r2_len(value));
                out.extend_from_slice(&[FIELD, i1, i0, n1, n0]);
                value.emit(Layout::Big, out);
            }
        }
        Ok(())
    }

    /// Appends the key message if the stream does not have it yet.
    pub(crate) fn define(&mut self, entry: usize, out: &mut Vec<u8>) -> Result<u16, EncodeError> {
        let Some(found) = self.entries.get(entry) else {
            return Err(refusal("", "undeclared key".into()));
        };
        if let Some(id) = found.id {
            return Ok(id);
        }
        self.check(&found.name, "a name", "bytes", found.name.len())?;
        let r2 = self.options.revision == Revision::R2;
        if r2 {
            self.check(&found.name, "a type string", "bytes", found.type_name.len())?;
        }
        let known = if r2 { None } else { self.names.get(&found.name).copied() };
        let id = match known {
            Some(id) => id,
            None => {
                let next = u16::try_from(self.next)
                    .map_err(|_| refusal(&found.name, format!("too many keys (max {KEYS})")))?;
                self.next += 1;
                let type_name = r2.then_some(found.type_name.as_bytes());
                Message::Key { id: next, name: found.name.as_bytes(), type_name }.emit(out);
                if !r2 {
                    self.names.insert(found.name.clone(), next);
                    self.current.push(None);
                }
                next
            }
        };
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.id = Some(id);
        }
        Ok(id)
    }

    /// Appends R1's null if this entry's value is the one that its key has.
    pub(crate) fn null(&mut self, entry: usize, out: &mut Vec<u8>) -> bool {
        let Some(id) = self.live(entry) else { return false };
        if let Some(current) = self.current.get_mut(usize::from(id)) {
            *current = None;
        }
        Message::Field { key: id, kind: Some(Kind::Null), value: &[] }.emit(out);
        true
    }

    /// The id of an R1 entry whose value is the one that its key has.
    pub(crate) fn live(&self, entry: usize) -> Option<u16> {
        let id = self.entries.get(entry)?.id.filter(|_| self.options.revision == Revision::R1)?;
        (self.current.get(usize::from(id)) == Some(&Some(entry))).then_some(id)
    }

    fn check_r1(&self, name: &str, value: &Value<'_>) -> Result<(), EncodeError> {
        let narrow = |x: i64| match i32::try_from(x) {
            Ok(_) => Ok(()),
            Err(_) => Err(refusal(name, format!("{x} does not fit in the 32-bit integers of R1; use R2"))),
        };
        match value {
            Value::Int64(x) => narrow(*x),
            Value::Int64Array(numbers) => {
                self.check(name, "an array", "elements", numbers.len())?;
                numbers.iter().try_for_each(narrow)
            }
            Value::String(bytes) | Value::Bytes(bytes) | Value::BooleanArray(bytes) => {
                self.check(name, "a value", "bytes", bytes.len())
            }
            Value::FloatArray(numbers) => self.check(name, "an array", "elements", numbers.len()),
            Value::DoubleArray(numbers) => self.check(name, "an array", "elements", numbers.len()),
            Value::StringArray(texts) => {
                self.check(name, "an array", "elements", texts.len())?;
                texts.iter().try_for_each(|text| self.check(name, "a string", "bytes", text.len()))
            }
            Value::Boolean(_) | Value::Float(_) | Value::Double(_) => Ok(()),
        }
    }

    fn check(&self, name: &str, what: &str, unit: &str, n: usize) -> Result<(), EncodeError> {
        if n > MAX {
            return Err(refusal(name, format!("{what} has {n} {unit}, the limit of RLOG is {MAX}")));
        }
        if n > MAX_SIGNED && !self.options.long_values {
            return Err(refusal(
                name,
                format!(
                    "{what} has {n} {unit}, but AdvantageScope cannot read lengths above {MAX_SIGNED}; allow long values to write it anyway"
                ),
            ));
        }
        Ok(())
    }
}

pub(crate) fn timestamp(time: Time, out: &mut Vec<u8>) {
    Message::Timestamp { seconds: seconds_of(time) }.emit(out);
}

fn refusal(channel: &str, message: String) -> EncodeError {
    EncodeError::new("rlog", channel, message)
}

/// Whether a channel that is held as `ty` takes a value that is held as `value`. Texts and bytes stand for each
/// other: both are bytes on the wire.
fn fits(ty: Type, value: Type) -> bool {
    let bytes = |ty| matches!(ty, Type::String | Type::Bytes);
    ty == value || bytes(ty) && bytes(value)
}

#[expect(clippy::cast_possible_truncation, reason = "checked against the longest that two bytes can say before")]
fn short(n: usize) -> [u8; 2] {
    (n as u16).to_be_bytes()
}

fn r2_len(value: &Value<'_>) -> usize {
    match value {
        Value::Boolean(_) => 1,
        Value::Float(_) => 4,
        Value::Int64(_) | Value::Double(_) => 8,
        Value::String(bytes) | Value::Bytes(bytes) | Value::BooleanArray(bytes) => bytes.len(),
        Value::Int64Array(numbers) => 8 * numbers.len(),
        Value::FloatArray(numbers) => 4 * numbers.len(),
        Value::DoubleArray(numbers) => 8 * numbers.len(),
        Value::StringArray(texts) => 4 + texts.iter().map(|text| 4 + text.len()).sum::<usize>(),
    }
}

/// The R1 type that AdvantageKit 3.1.1 gives a value: floats widen, and what has a schema is bytes.
fn r1_kind(type_name: &str, value: &Value<'_>) -> Kind {
    match value {
        Value::Boolean(_) => Kind::Boolean,
        Value::Int64(_) => Kind::Integer,
        Value::Float(_) | Value::Double(_) => Kind::Double,
        Value::String(_) | Value::Bytes(_) if type_name == "string" || type_name == "json" => Kind::String,
        Value::String(_) | Value::Bytes(_) => Kind::ByteArray,
        Value::BooleanArray(_) => Kind::BooleanArray,
        Value::Int64Array(_) => Kind::IntegerArray,
        Value::FloatArray(_) | Value::DoubleArray(_) => Kind::DoubleArray,
        Value::StringArray(_) => Kind::StringArray,
    }
}

/// Whether R1 keeps the type as it is.
fn r1_keeps(type_name: &str) -> bool {
    Kind::ALL.iter().any(|kind| *kind != Kind::Null && kind.type_name() == type_name)
}

fn emit_r1(kind: Kind, value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(_) | Value::Int64(_) | Value::Double(_) => value.emit(Layout::BigShort, out),
        Value::Float(x) => out.extend_from_slice(&f64::from(*x).to_be_bytes()),
        Value::String(bytes) | Value::Bytes(bytes) | Value::BooleanArray(bytes) => {
            out.extend_from_slice(&short(bytes.len()));
            out.extend_from_slice(bytes);
        }
        Value::Int64Array(numbers) => {
            out.extend_from_slice(&short(numbers.len()));
            value.emit(Layout::BigShort, out);
        }
        Value::DoubleArray(numbers) => {
            out.extend_from_slice(&short(numbers.len()));
            value.emit(Layout::BigShort, out);
        }
        Value::FloatArray(numbers) => {
            out.extend_from_slice(&short(numbers.len()));
            numbers.iter().for_each(|x| out.extend_from_slice(&f64::from(x).to_be_bytes()));
        }
        Value::StringArray(_) => value.emit(Layout::BigShort, out),
    }
    debug_assert_ne!(kind, Kind::Null);
}

/// Turns samples into the bytes of a log, for any source. Samples of one time make one cycle, so they must come
/// in the order of their times. Samples that RLOG cannot represent are counted, and `finish` reports them.
#[derive(Debug)]
pub struct Encoder {
    emitter: Emitter,
    by_channel: Vec<Option<usize>>,
    time: Option<Time>,
    metadata_dropped: Vec<bool>,
    types_dropped: u64,
    ends_dropped: u64,
    negative: u64,
    refused_times: u64,
}

impl Encoder {
    /// An encoder of one log.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            emitter: Emitter::new(options),
            by_channel: Vec::new(),
            time: None,
            metadata_dropped: Vec::new(),
            types_dropped: 0,
            ends_dropped: 0,
            negative: 0,
            refused_times: 0,
        }
    }

    #[inline(never)]
    fn cycle(&mut self, time: Time, out: &mut Vec<u8>) {
        if let Some(last) = self.time {
            // Section 3 of the specification: AdvantageScope takes other rises for corruption.
            self.refused_times += u64::from(!(100_000..60_000_000_000).contains(&time.since(last)));
        }
        self.negative += u64::from(time < Time::ZERO);
        self.time = Some(time);
        timestamp(time, out);
    }

    fn drop_metadata(&mut self, id: ChannelId) {
        let at = id as usize;
        if self.metadata_dropped.len() <= at {
            self.metadata_dropped.resize(at + 1, false);
        }
        if let Some(dropped) = self.metadata_dropped.get_mut(at) {
            *dropped = true;
        }
    }
}

impl Encode for Encoder {
    fn needs_time_order(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        out.push(self.emitter.revision().byte());
    }

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        let at = id as usize;
        if self.by_channel.len() <= at {
            self.by_channel.resize(at + 1, None);
        }
        let entry = self.emitter.entry(&channel.name, &channel.type_name);
        if let Some(place) = self.by_channel.get_mut(at) {
            *place = Some(entry);
        }
        if !channel.metadata.is_empty() || channel.unit.is_some() {
            self.drop_metadata(id);
        }
        if self.emitter.revision() == Revision::R1 && !r1_keeps(&channel.type_name) {
            self.types_dropped += 1;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for (place, sample) in samples.iter().enumerate() {
            let before = (out.len(), self.time, self.negative, self.refused_times);
            if self.time != Some(sample.time) {
                self.cycle(sample.time, out);
            }
            let entry = self.by_channel.get(sample.channel as usize).copied().flatten().unwrap_or(usize::MAX);
            if let Err(error) = self.emitter.field(entry, &sample.value, out) {
                // No cycle is left behind that has nothing in it.
                let length;
                (length, self.time, self.negative, self.refused_times) = before;
                out.truncate(length);
                return Err(error.of_sample(place));
            }
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, _: Time, metadata: &str, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        if !metadata.is_empty() {
            self.drop_metadata(id);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Some(entry) = self.by_channel.get(id as usize).copied().flatten() else { return Ok(()) };
        match self.emitter.revision() {
            Revision::R1 if self.emitter.live(entry).is_some() => {
                if self.time != Some(time) {
                    self.cycle(time, out);
                }
                self.emitter.null(entry, out);
            }
            Revision::R1 => {}
            Revision::R2 => self.ends_dropped += 1,
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem> {
        if self.time.is_none() {
            // A log begins with a timestamp, also one without a sample.
            self.cycle(Time::ZERO, out);
        }
        let metadata = self.metadata_dropped.iter().filter(|dropped| **dropped).count() as u64;
        let kinds = [
            (Severity::Warning, "metadata-dropped", metadata, "channels have metadata, which RLOG cannot store"),
            (
                Severity::Warning,
                "type-dropped",
                self.types_dropped,
                "channels have types that R1 cannot represent; their values are written as doubles or byte arrays",
            ),
            (
                Severity::Warning,
                "end-dropped",
                self.ends_dropped,
                "channel ends, which R2 cannot represent; the channels keep their last value",
            ),
            (
                Severity::Note,
                "negative-times",
                self.negative,
                "cycles have negative timestamps, which AdvantageScope reads as 0",
            ),
            (
                Severity::Note,
                "advantagescope-times",
                self.refused_times,
                "cycles start less than 0.1 ms or at least 60 s after the previous one: AdvantageScope may reject the log",
            ),
        ];
        let losses = kinds.into_iter().filter(|(_, _, count, _)| *count > 0);
        losses
            .map(|(severity, code, count, text)| Problem::general(severity, code, format!("{count} {text}")))
            .collect()
    }
}
