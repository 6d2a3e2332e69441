//! What a reader must find, to be held against what `generate` says.

use std::fmt;

use logpose_core::{Columns, Declaration, Read, SlotId, Time, Value};
use logpose_wpilog::{Collect, Visit};

/// Counts and sums over all values of a log.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// Data records without schemas.
    pub records: u64,
    /// Records of type `structschema`.
    pub schema: u64,
    /// The sum of doubles and floats, scalars and elements.
    pub double_sum: f64,
    /// The wrapping sum of integers, scalars and elements.
    pub int_sum: i64,
    /// Booleans that are true, scalars and elements.
    pub trues: u64,
    /// Bytes of texts, scalars and elements.
    pub string_bytes: u64,
    /// Bytes of structs.
    pub struct_bytes: u64,
    /// The wrapping sum of the times in microseconds. `generate` does not tell it; all readers must agree.
    pub tsum: i64,
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { records, schema, double_sum, int_sum, trues, string_bytes, struct_bytes, tsum } = self;
        write!(f, "records={records} schema={schema} double_sum={double_sum:?} int_sum={int_sum} true={trues} ")?;
        write!(f, "string_bytes={string_bytes} struct_bytes={struct_bytes} tsum={tsum}")
    }
}

impl Sums {
    /// Counts one value.
    pub fn add(&mut self, type_name: &str, time: Time, value: &Value<'_>) {
        if type_name == "structschema" {
            self.schema += 1;
            return;
        }
        self.records += 1;
        self.tsum = self.tsum.wrapping_add(time.micros());
        match value {
            Value::Boolean(x) => self.trues += u64::from(*x),
            Value::Int64(x) => self.int_sum = self.int_sum.wrapping_add(*x),
            Value::Float(x) => self.double_sum += f64::from(*x),
            Value::Double(x) => self.double_sum += x,
            Value::String(bytes) => self.string_bytes += bytes.len() as u64,
            Value::Bytes(bytes) => self.struct_bytes += bytes.len() as u64,
            Value::BooleanArray(bytes) => self.trues += bytes.iter().filter(|byte| **byte != 0).count() as u64,
            Value::Int64Array(numbers) => numbers.iter().for_each(|x| self.int_sum = self.int_sum.wrapping_add(x)),
            Value::FloatArray(numbers) => numbers.iter().for_each(|x| self.double_sum += f64::from(x)),
            Value::DoubleArray(numbers) => numbers.iter().for_each(|x| self.double_sum += x),
            Value::StringArray(texts) => texts.iter().for_each(|text| self.string_bytes += text.len() as u64),
        }
    }

    fn merge(&mut self, later: &Self) {
        self.records += later.records;
        self.schema += later.schema;
        self.double_sum += later.double_sum;
        self.int_sum = self.int_sum.wrapping_add(later.int_sum);
        self.trues += later.trues;
        self.string_bytes += later.string_bytes;
        self.struct_bytes += later.struct_bytes;
        self.tsum = self.tsum.wrapping_add(later.tsum);
    }

    /// Counts all values of columns.
    #[must_use]
    pub fn of(columns: &Columns) -> Self {
        let mut sums = Self::default();
        for column in &columns.columns {
            columns.samples(column).for_each(|(time, value)| sums.add(&column.channel.type_name, time, &value));
        }
        sums
    }
}

/// Counts while a WPILOG is walked: what a user of `Walk` or `collect` would write.
///
/// In a later part of a log the types are not known, because the declarations stand in an earlier one. There the sums
/// are kept for each slot, as every type that comes into question, until `join` tells the type.
#[derive(Debug, Default)]
pub struct Walked {
    /// What was found.
    pub sums: Sums,
    /// Start records.
    pub control: u64,
    /// Whether a sum stayed open: then the log must be walked in one part.
    pub unsettled: bool,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    kind: Kind,
    open: Open,
}

/// What the records of a slot without a type would be.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// Records of eight bytes, and their sums.
    eights: u64,
    doubles: f64,
    ints: i64,
    /// All others.
    records: u64,
    bytes: u64,
    double_elements: f64,
    float_elements: f64,
    int_elements: i64,
    trues: u64,
    text_elements: u64,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Kind {
    #[default]
    Unknown,
    Double,
    Int64,
    Boolean,
    Float,
    Doubles,
    Int64s,
    Booleans,
    Floats,
    Text,
    Texts,
    Struct,
    Schema,
}

impl Kind {
    fn of(type_name: &str) -> Self {
        match type_name {
            "double" => Self::Double,
            "int64" => Self::Int64,
            "boolean" => Self::Boolean,
            "float" => Self::Float,
            "double[]" => Self::Doubles,
            "int64[]" => Self::Int64s,
            "boolean[]" => Self::Booleans,
            "float[]" => Self::Floats,
            "string" | "json" => Self::Text,
            "string[]" => Self::Texts,
            "structschema" => Self::Schema,
            name if name.starts_with("struct:") => Self::Struct,
            _ => Self::Unknown,
        }
    }
}

impl Visit for Walked {
    #[inline(always)]
    fn data(&mut self, slot: SlotId, _: u64, timestamp: i64, payload: &[u8], _: u64) {
        // The peers read the times too.
        self.sums.tsum = self.sums.tsum.wrapping_add(timestamp);
        // Nearly all values have eight bytes.
        if let Ok(word) = <[u8; 8]>::try_from(payload)
            && let Some(slot) = self.slots.get_mut(slot as usize)
        {
            match slot.kind {
                Kind::Double => {
                    self.sums.records += 1;
                    self.sums.double_sum += f64::from_le_bytes(word);
                    return;
                }
                Kind::Int64 => {
                    self.sums.records += 1;
                    self.sums.int_sum = self.sums.int_sum.wrapping_add(i64::from_le_bytes(word));
                    return;
                }
                Kind::Unknown => {
                    slot.open.eight(word);
                    return;
                }
                _ => {}
            }
        }
        self.other(slot, timestamp, payload);
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, _: i64) {
        self.control += 1;
        self.slot(slot).kind = Kind::of(&declaration.type_name);
    }
}

impl Collect for Walked {
    fn new(_: &Read<'_>) -> Self {
        Self::default()
    }

    fn join(&mut self, later: Self, map: &[Option<SlotId>]) {
        self.control += later.control;
        self.unsettled |= later.unsettled;
        self.sums.merge(&later.sums);
        for (from, to) in later.slots.iter().zip(map) {
            let Some(to) = *to else { continue };
            let slot = self.slot(to);
            if from.kind != Kind::Unknown {
                slot.kind = from.kind;
            } else if slot.kind == Kind::Unknown {
                slot.open.merge(&from.open);
            } else {
                let kind = slot.kind;
                self.settle(kind, &from.open);
            }
        }
    }
}

impl Walked {
    fn slot(&mut self, slot: SlotId) -> &mut Slot {
        let at = slot as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, Slot::default());
        }
        #[expect(clippy::indexing_slicing, reason = "made two lines above")]
        &mut self.slots[at]
    }

    fn other(&mut self, slot: SlotId, timestamp: i64, payload: &[u8]) {
        let slot = self.slot(slot);
        let kind = slot.kind;
        if kind == Kind::Unknown {
            match <[u8; 8]>::try_from(payload) {
                Ok(word) => slot.open.eight(word),
                Err(_) => slot.open.other(payload),
            }
            return;
        }
        let sums = &mut self.sums;
        sums.records += 1;
        match kind {
            Kind::Boolean | Kind::Booleans => sums.trues += trues(payload),
            Kind::Doubles => sums.double_sum = doubles(payload, sums.double_sum),
            Kind::Float | Kind::Floats => sums.double_sum = floats(payload, sums.double_sum),
            Kind::Int64s => sums.int_sum = ints(payload, sums.int_sum),
            Kind::Text => sums.string_bytes += payload.len() as u64,
            Kind::Texts => sums.string_bytes += text_elements(payload),
            Kind::Struct => sums.struct_bytes += payload.len() as u64,
            Kind::Schema => {
                sums.records -= 1;
                sums.tsum = sums.tsum.wrapping_sub(timestamp);
                sums.schema += 1;
            }
            Kind::Double | Kind::Int64 | Kind::Unknown => {}
        }
    }

    /// Counts what was kept open, now that its type is known.
    fn settle(&mut self, kind: Kind, open: &Open) {
        let sums = &mut self.sums;
        let all = open.eights + open.records;
        let bytes = open.bytes + 8 * open.eights;
        match kind {
            Kind::Schema => sums.schema += all,
            _ => sums.records += all,
        }
        match kind {
            Kind::Double => sums.double_sum += open.doubles,
            Kind::Doubles => sums.double_sum += open.doubles + open.double_elements,
            Kind::Int64 => sums.int_sum = sums.int_sum.wrapping_add(open.ints),
            Kind::Int64s => sums.int_sum = sums.int_sum.wrapping_add(open.ints).wrapping_add(open.int_elements),
            Kind::Boolean | Kind::Booleans => sums.trues += open.trues,
            Kind::Float | Kind::Floats => sums.double_sum += open.float_elements,
            Kind::Text => sums.string_bytes += bytes,
            Kind::Texts => sums.string_bytes += open.text_elements,
            Kind::Struct => sums.struct_bytes += bytes,
            Kind::Schema | Kind::Unknown => {}
        }
        // The times of schemas do not count, and eight bytes were only added up as a double or an integer.
        self.unsettled |= all > 0 && kind == Kind::Schema;
        self.unsettled |= open.eights > 0 && matches!(kind, Kind::Booleans | Kind::Floats | Kind::Texts);
    }
}

impl Open {
    #[inline(always)]
    fn eight(&mut self, word: [u8; 8]) {
        let bits = u64::from_le_bytes(word);
        self.eights += 1;
        self.ints = self.ints.wrapping_add(bits.cast_signed());
        // A small integer is a denormal number, and those are slow to add. None is worth it in a sum.
        if bits >> 52 & 0x7ff != 0 {
            self.doubles += f64::from_bits(bits);
        }
    }

    fn other(&mut self, payload: &[u8]) {
        self.records += 1;
        self.bytes += payload.len() as u64;
        self.double_elements = doubles(payload, self.double_elements);
        self.float_elements = floats(payload, self.float_elements);
        self.int_elements = ints(payload, self.int_elements);
        self.trues += trues(payload);
        self.text_elements = self.text_elements.wrapping_add(text_elements(payload));
    }

    fn merge(&mut self, later: &Self) {
        self.eights += later.eights;
        self.doubles += later.doubles;
        self.ints = self.ints.wrapping_add(later.ints);
        self.records += later.records;
        self.bytes += later.bytes;
        self.double_elements += later.double_elements;
        self.float_elements += later.float_elements;
        self.int_elements = self.int_elements.wrapping_add(later.int_elements);
        self.trues += later.trues;
        self.text_elements = self.text_elements.wrapping_add(later.text_elements);
    }
}

fn doubles(payload: &[u8], sum: f64) -> f64 {
    payload.as_chunks().0.iter().fold(sum, |sum, b| sum + f64::from_le_bytes(*b))
}

fn floats(payload: &[u8], sum: f64) -> f64 {
    payload.as_chunks().0.iter().fold(sum, |sum, b| sum + f64::from(f32::from_le_bytes(*b)))
}

fn ints(payload: &[u8], sum: i64) -> i64 {
    payload.as_chunks().0.iter().fold(sum, |sum, b| sum.wrapping_add(i64::from_le_bytes(*b)))
}

fn trues(payload: &[u8]) -> u64 {
    payload.iter().filter(|byte| **byte != 0).count() as u64
}

/// Bytes of the texts: a count stands before them all, a length before each.
fn text_elements(payload: &[u8]) -> u64 {
    let count = payload.first_chunk().map_or(0, |b| u64::from(u32::from_le_bytes(*b)));
    (payload.len() as u64).wrapping_sub(4 + 4 * count)
}
