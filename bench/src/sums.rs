//! What a reader must find, to be held against what `generate` says.

use std::fmt;

use logpose_core::{Columns, Declaration, ReadOptions, SlotId, Time, Value};
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
    /// The wrapping sum of the times in microseconds. `generate` does not print it; all readers must agree.
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
/// In a later part of a log the types are not known, because the declarations stand in an earlier one. So the sums are
/// kept for each slot, and its type decides at the end which of them counts.
#[derive(Debug, Default)]
pub struct Walked {
    /// Start records.
    pub control: u64,
    eights: Vec<Eights>,
    others: Vec<Others>,
}

/// The payloads of eight bytes in a slot, which nearly all are.
#[derive(Clone, Copy, Debug, Default)]
struct Eights {
    count: u64,
    doubles: f64,
    ints: i64,
    /// The times of all payloads.
    times: i64,
}

/// All other payloads in a slot: as what its type says, or as every type that comes into question.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    kind: Kind,
    count: u64,
    bytes: u64,
    doubles: f64,
    floats: f64,
    ints: i64,
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
        let Some(eights) = self.eights.get_mut(slot as usize) else { return self.grow(slot, timestamp, payload) };
        // The peers read the times too.
        eights.times = eights.times.wrapping_add(timestamp);
        match <[u8; 8]>::try_from(payload) {
            Ok(word) => {
                eights.count += 1;
                eights.doubles += f64::from_le_bytes(word);
                eights.ints = eights.ints.wrapping_add(i64::from_le_bytes(word));
            }
            Err(_) => self.other(slot, payload),
        }
    }

    fn start(&mut self, slot: SlotId, declaration: &Declaration, _: i64) {
        self.control += 1;
        self.reach(slot);
        if let Some(others) = self.others.get_mut(slot as usize) {
            others.kind = Kind::of(&declaration.type_name);
        }
    }
}

impl Collect for Walked {
    fn new(_: &ReadOptions<'_>) -> Self {
        Self::default()
    }

    fn join(&mut self, later: Self, map: &[Option<SlotId>]) {
        self.control += later.control;
        for ((eights, others), to) in later.eights.iter().zip(&later.others).zip(map) {
            let Some(to) = *to else { continue };
            self.reach(to);
            if let (Some(e), Some(o)) = (self.eights.get_mut(to as usize), self.others.get_mut(to as usize)) {
                e.add(eights);
                o.add(others);
            }
        }
    }
}

impl Walked {
    /// The sums, by what the types say. An error if payloads were added up as what they are not.
    pub fn sums(&self) -> Result<Sums, String> {
        let mut sums = Sums::default();
        for (eights, others) in self.eights.iter().zip(&self.others) {
            let kind = others.kind;
            if eights.count > 0 && matches!(kind, Kind::Booleans | Kind::Floats | Kind::Texts | Kind::Unknown) {
                return Err(format!("{} payloads of eight bytes on a {kind:?} slot", eights.count));
            }
            let count = eights.count + others.count;
            if kind == Kind::Schema {
                sums.schema += count;
                continue;
            }
            sums.records += count;
            sums.tsum = sums.tsum.wrapping_add(eights.times);
            let bytes = others.bytes + 8 * eights.count;
            match kind {
                Kind::Double | Kind::Doubles => sums.double_sum += eights.doubles + others.doubles,
                Kind::Int64 | Kind::Int64s => {
                    sums.int_sum = sums.int_sum.wrapping_add(eights.ints).wrapping_add(others.ints);
                }
                Kind::Boolean | Kind::Booleans => sums.trues += others.trues,
                Kind::Float | Kind::Floats => sums.double_sum += others.floats,
                Kind::Text => sums.string_bytes += bytes,
                Kind::Texts => sums.string_bytes += others.text_elements,
                Kind::Struct => sums.struct_bytes += bytes,
                Kind::Schema | Kind::Unknown => {}
            }
        }
        Ok(sums)
    }

    fn reach(&mut self, slot: SlotId) {
        if self.eights.len() <= slot as usize {
            self.eights.resize(slot as usize + 1, Eights::default());
            self.others.resize(slot as usize + 1, Others::default());
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, slot: SlotId, timestamp: i64, payload: &[u8]) {
        self.reach(slot);
        self.data(slot, 0, timestamp, payload, 0);
    }

    fn other(&mut self, slot: SlotId, payload: &[u8]) {
        let Some(others) = self.others.get_mut(slot as usize) else { return };
        others.count += 1;
        others.bytes += payload.len() as u64;
        let (kind, known) = (others.kind, others.kind != Kind::Unknown);
        if !known || kind == Kind::Doubles {
            others.doubles = doubles(payload, others.doubles);
        }
        if !known || matches!(kind, Kind::Float | Kind::Floats) {
            others.floats = floats(payload, others.floats);
        }
        if !known || kind == Kind::Int64s {
            others.ints = ints(payload, others.ints);
        }
        if !known || matches!(kind, Kind::Boolean | Kind::Booleans) {
            others.trues += trues(payload);
        }
        if !known || kind == Kind::Texts {
            others.text_elements = others.text_elements.wrapping_add(text_elements(payload));
        }
    }
}

impl Eights {
    fn add(&mut self, later: &Self) {
        self.count += later.count;
        self.doubles += later.doubles;
        self.ints = self.ints.wrapping_add(later.ints);
        self.times = self.times.wrapping_add(later.times);
    }
}

impl Others {
    fn add(&mut self, later: &Self) {
        if later.kind != Kind::Unknown {
            self.kind = later.kind;
        }
        self.count += later.count;
        self.bytes += later.bytes;
        self.doubles += later.doubles;
        self.floats += later.floats;
        self.ints = self.ints.wrapping_add(later.ints);
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
