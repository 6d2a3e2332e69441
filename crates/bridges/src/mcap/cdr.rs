//! ROS 2 messages: the same fields as those of ROS 1, each at a multiple of its size.
//!
//! ```text
//! 00 01 00 00 | fields; numbers with the least significant byte first
//! ```
//!
//! The first four bytes say so, and offsets are counted behind them. Sequences and texts have a count of four bytes in
//! front; that of a text counts the zero byte at its end.

use logpose_core::{Layout as Order, Value};
use logpose_schema::wpistruct::{Kind, Layout};

/// A message that is being written.
pub(crate) struct Writing<'a> {
    out: &'a mut Vec<u8>,
    /// Where offsets are counted from.
    start: usize,
}

impl<'a> Writing<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        out.extend_from_slice(&[0, 1, 0, 0]);
        let start = out.len();
        Self { out, start }
    }

    /// Numbers of `size` bytes each.
    pub(crate) fn numbers(&mut self, size: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            let over = (self.out.len() - self.start) % size.max(1);
            self.out.resize(self.out.len() + if over == 0 { 0 } else { size - over }, 0);
            self.out.extend_from_slice(bytes);
        }
    }

    /// What stands in front of a sequence; `None` if that cannot be said.
    pub(crate) fn count(&mut self, count: usize) -> Option<()> {
        self.numbers(4, &u32::try_from(count).ok()?.to_le_bytes());
        Some(())
    }

    pub(crate) fn text(&mut self, text: &[u8]) -> Option<()> {
        self.count(text.len().checked_add(1)?)?;
        self.out.extend_from_slice(text);
        self.out.push(0);
        Some(())
    }

    /// Structs, one behind the other.
    pub(crate) fn structs(&mut self, runs: &[Run], size: usize, bytes: &[u8]) {
        for mut bytes in bytes.chunks_exact(size.max(1)) {
            self.runs(runs, &mut bytes);
        }
    }

    fn runs(&mut self, runs: &[Run], bytes: &mut &[u8]) {
        for run in runs {
            match run {
                Run::Numbers { size, count } => {
                    let (now, rest) = bytes.split_at((size * count).min(bytes.len()));
                    self.numbers(*size, now);
                    *bytes = rest;
                }
                Run::Structs { runs, count } => (0..*count).for_each(|_| self.runs(runs, bytes)),
            }
        }
    }

    /// A value that no schema explains; `None` if it is too long.
    pub(crate) fn value(&mut self, value: &Value<'_>) -> Option<()> {
        let mut bytes = Vec::new();
        match *value {
            Value::Boolean(b) => self.numbers(1, &[b.into()]),
            Value::Int64(x) => self.numbers(8, &x.to_le_bytes()),
            Value::Float(x) => self.numbers(4, &x.to_le_bytes()),
            Value::Double(x) => self.numbers(8, &x.to_le_bytes()),
            Value::String(text) => self.text(text)?,
            Value::Bytes(bytes) | Value::BooleanArray(bytes) => {
                self.count(bytes.len())?;
                self.numbers(1, bytes);
            }
            Value::Int64Array(_) | Value::FloatArray(_) | Value::DoubleArray(_) => {
                let size = value.ty().element_size().unwrap_or(1);
                value.emit(Order::Little, &mut bytes);
                self.count(bytes.len() / size)?;
                self.numbers(size, &bytes);
            }
            Value::StringArray(texts) => {
                self.count(texts.len())?;
                texts.iter().try_for_each(|text| self.text(text))?;
            }
        }
        Some(())
    }
}

/// Fields of a struct that lie behind each other, packed.
#[derive(Debug)]
pub(crate) enum Run {
    Numbers { size: usize, count: usize },
    Structs { runs: Vec<Self>, count: usize },
}

/// What a struct is made of.
pub(crate) fn runs(layout: &Layout) -> Vec<Run> {
    let mut runs = Vec::with_capacity(layout.fields.len());
    let mut unit = None;
    for field in &layout.fields {
        let count = field.count.unwrap_or(1);
        runs.push(match (&field.kind, field.bits) {
            // Bit-fields that share a unit are one number.
            (_, Some(_)) if unit == Some(field.offset) => continue,
            (_, Some(bits)) => {
                unit = Some(field.offset);
                Run::Numbers { size: bits.unit, count: 1 }
            }
            (Kind::Scalar(scalar), None) => Run::Numbers { size: scalar.size(), count },
            (Kind::Struct(inner), None) => Run::Structs { runs: self::runs(inner), count },
        });
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::Writing;
    use logpose_core::{Layout, Type, Value};

    fn written(ty: Type, payload: &[u8]) -> Vec<u8> {
        let mut out = vec![0xaa; 3]; // what came before does not matter
        Writing::new(&mut out).value(&Value::parse(ty, payload, Layout::Little).unwrap()).unwrap();
        out.split_off(3)
    }

    #[test]
    fn numbers_stand_at_multiples_of_their_size() {
        assert_eq!(written(Type::Double, &[1; 8]), [&[0, 1, 0, 0][..], &[1; 8]].concat());
        let two = [&[0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0][..], &[7; 16]].concat();
        assert_eq!(written(Type::DoubleArray, &[7; 16]), two);
        assert_eq!(written(Type::DoubleArray, &[]), [0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(written(Type::FloatArray, &[7; 4]), [0, 1, 0, 0, 1, 0, 0, 0, 7, 7, 7, 7]);
    }

    #[test]
    fn texts_end_with_a_zero() {
        assert_eq!(written(Type::String, b"ab"), b"\0\x01\0\0\x03\0\0\0ab\0");
        let list = b"\x02\0\0\0\x02\0\0\0ab\0\0\0\0";
        assert_eq!(written(Type::StringArray, list), b"\0\x01\0\0\x02\0\0\0\x03\0\0\0ab\0\0\x01\0\0\0\0");
    }
}
