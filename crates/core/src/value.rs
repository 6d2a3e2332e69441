use std::marker::PhantomData;

use crate::{Type, array_at};

/// One value, borrowed from the bytes it was read from. Arrays stay packed and are read as they are walked.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// True or false.
    Boolean(bool),
    /// A signed integer.
    Int64(i64),
    /// A binary32 number.
    Float(f32),
    /// A binary64 number.
    Double(f64),
    /// Text, as the bytes that were written; mostly UTF-8.
    String(&'a [u8]),
    /// Bytes that only the channel's type string explains.
    Bytes(&'a [u8]),
    /// One byte a boolean; whatever is not zero is true, and the byte is kept.
    BooleanArray(&'a [u8]),
    /// Signed integers.
    Int64Array(Numbers<'a, i64>),
    /// Binary32 numbers.
    FloatArray(Numbers<'a, f32>),
    /// Binary64 numbers.
    DoubleArray(Numbers<'a, f64>),
    /// Texts.
    StringArray(Strings<'a>),
}

/// Why a payload is not a value of its type.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// The type has one size, and this is another.
    #[error("{found} bytes, expected {expected} for a {ty:?}")]
    Size {
        /// The type.
        ty: Type,
        /// Its size in bytes.
        expected: usize,
        /// The payload's size in bytes.
        found: usize,
    },
    /// The last element of an array is not whole.
    #[error("{found} bytes is not a multiple of the element size of {element} bytes")]
    Ragged {
        /// Bytes of one element.
        element: usize,
        /// The payload's size in bytes.
        found: usize,
    },
    /// Counts and lengths of a string array that do not fill the payload exactly.
    #[error("the lengths in a string array do not add up to its {found} bytes")]
    Strings {
        /// The payload's size in bytes.
        found: usize,
    },
}

/// How numbers lie in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// Least significant byte first, in the size of the type.
    Little,
    /// Most significant byte first, in the size of the type.
    Big,
    /// RLOG R1: most significant byte first; integers have 32 bits, lengths 16.
    BigShort,
}

impl<'a> Value<'a> {
    /// Reads `payload` as a value of type `ty`. The type's rules decide, nothing is guessed.
    #[inline]
    pub fn parse(ty: Type, payload: &'a [u8], layout: Layout) -> Result<Self, Misfit> {
        let found = payload.len();
        Ok(match ty {
            Type::Boolean => match payload {
                [byte] => Self::Boolean(*byte != 0),
                _ => return Err(Misfit::Size { ty, expected: 1, found }),
            },
            Type::Int64 => Self::Int64(scalar(ty, payload, layout)?),
            Type::Float => Self::Float(scalar(ty, payload, layout)?),
            Type::Double => Self::Double(scalar(ty, payload, layout)?),
            Type::String => Self::String(payload),
            Type::Bytes => Self::Bytes(payload),
            Type::BooleanArray => Self::BooleanArray(payload),
            Type::Int64Array => Self::Int64Array(Numbers::new(payload, layout)?),
            Type::FloatArray => Self::FloatArray(Numbers::new(payload, layout)?),
            Type::DoubleArray => Self::DoubleArray(Numbers::new(payload, layout)?),
            Type::StringArray => Self::StringArray(Strings::new(payload, layout)?),
        })
    }

    /// Appends the value's payload: what [`Value::parse`] reads back.
    pub fn emit(&self, layout: Layout, out: &mut Vec<u8>) {
        match *self {
            Self::Boolean(b) => out.push(b.into()),
            Self::Int64(x) => x.put(layout, out),
            Self::Float(x) => x.put(layout, out),
            Self::Double(x) => x.put(layout, out),
            Self::String(bytes) | Self::Bytes(bytes) | Self::BooleanArray(bytes) => out.extend_from_slice(bytes),
            Self::Int64Array(numbers) => numbers.emit(layout, out),
            Self::FloatArray(numbers) => numbers.emit(layout, out),
            Self::DoubleArray(numbers) => numbers.emit(layout, out),
            Self::StringArray(strings) => strings.emit(layout, out),
        }
    }

    /// How the value is held.
    #[must_use]
    pub fn ty(&self) -> Type {
        match self {
            Self::Boolean(_) => Type::Boolean,
            Self::Int64(_) => Type::Int64,
            Self::Float(_) => Type::Float,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::BooleanArray(_) => Type::BooleanArray,
            Self::Int64Array(_) => Type::Int64Array,
            Self::FloatArray(_) => Type::FloatArray,
            Self::DoubleArray(_) => Type::DoubleArray,
            Self::StringArray(_) => Type::StringArray,
        }
    }

    /// The value as a number: integers, `float` and `double`. A large integer is rounded to the nearest double.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Double(x) => Some(x),
            Self::Float(x) => Some(x.into()),
            #[expect(clippy::cast_precision_loss, reason = "documented: the nearest double")]
            Self::Int64(x) => Some(x as f64),
            _ => None,
        }
    }

    /// The value as an integer, exact; `None` for anything that is not an integer.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Int64(x) = *self { Some(x) } else { None }
    }

    /// The value as a boolean.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Boolean(b) = *self { Some(b) } else { None }
    }

    /// The value as text, if it is a string in UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a str> {
        if let Self::String(bytes) = *self { std::str::from_utf8(bytes).ok() } else { None }
    }

    /// The bytes of a string, or of a value that only the channel's type string explains.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        match *self {
            Self::String(bytes) | Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether both have the same bits: NaN equals the same NaN, and 0 is not -0.
    #[must_use]
    pub fn same(&self, other: &Value<'_>) -> bool {
        match (*self, *other) {
            (Self::Boolean(a), Value::Boolean(b)) => a == b,
            (Self::Int64(a), Value::Int64(b)) => a == b,
            (Self::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::String(a), Value::String(b))
            | (Self::Bytes(a), Value::Bytes(b))
            | (Self::BooleanArray(a), Value::BooleanArray(b)) => a == b,
            (Self::Int64Array(a), Value::Int64Array(b)) => a.iter().eq(b.iter()),
            (Self::FloatArray(a), Value::FloatArray(b)) => a.iter().map(f32::to_bits).eq(b.iter().map(f32::to_bits)),
            (Self::DoubleArray(a), Value::DoubleArray(b)) => a.iter().map(f64::to_bits).eq(b.iter().map(f64::to_bits)),
            (Self::StringArray(a), Value::StringArray(b)) => a.iter().eq(b.iter()),
            _ => false,
        }
    }
}

#[inline]
fn scalar<T: Number>(ty: Type, payload: &[u8], layout: Layout) -> Result<T, Misfit> {
    let expected = T::width(layout);
    let whole = (payload.len() == expected).then(|| T::get(payload, layout)).flatten();
    whole.ok_or(Misfit::Size { ty, expected, found: payload.len() })
}

/// A number that lies in bytes.
pub trait Number: Copy {
    /// Its size in bytes.
    fn width(layout: Layout) -> usize;
    /// Reads it from the front.
    fn get(bytes: &[u8], layout: Layout) -> Option<Self>;
    /// Appends it.
    fn put(self, layout: Layout, out: &mut Vec<u8>);
}

macro_rules! float {
    ($t:ty, $n:literal) => {
        impl Number for $t {
            #[inline]
            fn width(_: Layout) -> usize {
                $n
            }
            #[inline]
            fn get(bytes: &[u8], layout: Layout) -> Option<Self> {
                let bytes = *array_at::<$n>(bytes, 0)?;
                Some(match layout {
                    Layout::Little => Self::from_le_bytes(bytes),
                    Layout::Big | Layout::BigShort => Self::from_be_bytes(bytes),
                })
            }
            #[inline]
            fn put(self, layout: Layout, out: &mut Vec<u8>) {
                out.extend_from_slice(&match layout {
                    Layout::Little => self.to_le_bytes(),
                    Layout::Big | Layout::BigShort => self.to_be_bytes(),
                });
            }
        }
    };
}
float!(f32, 4);
float!(f64, 8);

impl Number for i64 {
    #[inline]
    fn width(layout: Layout) -> usize {
        if layout == Layout::BigShort { 4 } else { 8 }
    }

    #[inline]
    fn get(bytes: &[u8], layout: Layout) -> Option<Self> {
        match layout {
            Layout::Little => array_at(bytes, 0).map(|b| Self::from_le_bytes(*b)),
            Layout::Big => array_at(bytes, 0).map(|b| Self::from_be_bytes(*b)),
            Layout::BigShort => array_at(bytes, 0).map(|b| i32::from_be_bytes(*b).into()),
        }
    }

    #[inline]
    fn put(self, layout: Layout, out: &mut Vec<u8>) {
        match layout {
            Layout::Little => out.extend_from_slice(&self.to_le_bytes()),
            Layout::Big => out.extend_from_slice(&self.to_be_bytes()),
            Layout::BigShort => {
                // An encoder checks the range first and refuses; here the nearest value stands in.
                let near = i32::try_from(self).unwrap_or(if self < 0 { i32::MIN } else { i32::MAX });
                out.extend_from_slice(&near.to_be_bytes());
            }
        }
    }
}

/// Numbers of one type, packed.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a, T> {
    bytes: &'a [u8],
    layout: Layout,
    number: PhantomData<T>,
}

impl<'a, T: Number> Numbers<'a, T> {
    /// Numbers over their bytes, which must be a whole number of them.
    #[inline]
    pub fn new(bytes: &'a [u8], layout: Layout) -> Result<Self, Misfit> {
        let element = T::width(layout);
        if bytes.len().is_multiple_of(element) {
            Ok(Self { bytes, layout, number: PhantomData })
        } else {
            Err(Misfit::Ragged { element, found: bytes.len() })
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / T::width(self.layout)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The numbers, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + use<'a, T>
    where
        T: Default,
    {
        let layout = self.layout;
        self.bytes.chunks_exact(T::width(layout)).map(move |b| T::get(b, layout).unwrap_or_default())
    }

    fn emit(&self, layout: Layout, out: &mut Vec<u8>)
    where
        T: Default,
    {
        if layout == self.layout {
            out.extend_from_slice(self.bytes);
        } else {
            self.iter().for_each(|number| number.put(layout, out));
        }
    }
}

/// Texts, packed: a count, then each with its length in front.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Strings<'a> {
    /// Texts over their bytes. Count and lengths must fill the bytes exactly.
    pub fn new(bytes: &'a [u8], layout: Layout) -> Result<Self, Misfit> {
        let misfit = Misfit::Strings { found: bytes.len() };
        let strings = Self { bytes, layout };
        let (count, mut rest) = length(bytes, layout).ok_or(misfit)?;
        // The count is a claim: every text needs at least its length field.
        let field = if layout == Layout::BigShort { 2 } else { 4 };
        if count > rest.len() / field {
            return Err(misfit);
        }
        for _ in 0..count {
            let (n, after) = length(rest, layout).ok_or(misfit)?;
            rest = after.get(n..).ok_or(misfit)?;
        }
        if rest.is_empty() { Ok(strings) } else { Err(misfit) }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        length(self.bytes, self.layout).map_or(0, |(count, _)| count)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The texts, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let layout = self.layout;
        let (count, mut rest) = length(self.bytes, layout).unwrap_or((0, &[]));
        (0..count).map_while(move |_| {
            let (n, after) = length(rest, layout)?;
            let (text, after) = after.split_at_checked(n)?;
            rest = after;
            Some(text)
        })
    }

    fn emit(&self, layout: Layout, out: &mut Vec<u8>) {
        if layout == self.layout {
            out.extend_from_slice(self.bytes);
            return;
        }
        put_length(self.len(), layout, out);
        for text in self.iter() {
            put_length(text.len(), layout, out);
            out.extend_from_slice(text);
        }
    }
}

fn length(bytes: &[u8], layout: Layout) -> Option<(usize, &[u8])> {
    Some(match layout {
        Layout::Little => bytes.split_first_chunk().map(|(n, rest)| (u32::from_le_bytes(*n) as usize, rest))?,
        Layout::Big => bytes.split_first_chunk().map(|(n, rest)| (u32::from_be_bytes(*n) as usize, rest))?,
        Layout::BigShort => bytes.split_first_chunk().map(|(n, rest)| (u16::from_be_bytes(*n).into(), rest))?,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "encoders refuse longer values before they come here")]
fn put_length(n: usize, layout: Layout, out: &mut Vec<u8>) {
    match layout {
        Layout::Little => out.extend_from_slice(&(n as u32).to_le_bytes()),
        Layout::Big => out.extend_from_slice(&(n as u32).to_be_bytes()),
        Layout::BigShort => out.extend_from_slice(&(n as u16).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Misfit, Value};
    use crate::Type;

    fn emitted(value: &Value<'_>, layout: Layout) -> Vec<u8> {
        let mut out = Vec::new();
        value.emit(layout, &mut out);
        out
    }

    #[test]
    fn string_arrays_change_layout_and_come_back() {
        let little = b"\x03\0\0\0\x01\0\0\0a\0\0\0\0\x02\0\0\0\xc3\xa9";
        let value = Value::parse(Type::StringArray, little, Layout::Little).unwrap();
        let big = emitted(&value, Layout::Big);
        assert_eq!(big, b"\0\0\0\x03\0\0\0\x01a\0\0\0\0\0\0\0\x02\xc3\xa9");
        let short = emitted(&value, Layout::BigShort);
        assert_eq!(short, b"\0\x03\0\x01a\0\0\0\x02\xc3\xa9");
        let back = Value::parse(Type::StringArray, &short, Layout::BigShort).unwrap();
        assert_eq!(emitted(&back, Layout::Little), little);
        assert!(back.same(&value));
    }

    #[test]
    fn counts_are_claims() {
        for bad in [&b"\xff\xff\xff\xff"[..], b"\x01\0\0\0", b"\0\0\0\0x", b"\x01\0\0\0\x05\0\0\0abc", b""] {
            let found = Value::parse(Type::StringArray, bad, Layout::Little).map(|_| ());
            assert_eq!(found, Err(Misfit::Strings { found: bad.len() }));
        }
    }

    #[test]
    fn sizes_must_fit_exactly() {
        assert!(Value::parse(Type::Double, &[0; 9], Layout::Little).is_err());
        assert!(Value::parse(Type::Boolean, &[], Layout::Little).is_err());
        assert!(Value::parse(Type::FloatArray, &[0; 6], Layout::Little).is_err());
        assert!(Value::parse(Type::Int64, &[0, 0, 0, 5], Layout::BigShort).is_ok());
    }

    #[test]
    fn values_convert_only_where_nothing_is_guessed() {
        assert_eq!(Value::Float(1.5).as_f64(), Some(1.5));
        assert_eq!((Value::Int64(7).as_f64(), Value::Int64(7).as_i64()), (Some(7.0), Some(7)));
        assert_eq!((Value::Double(7.0).as_i64(), Value::Boolean(true).as_f64()), (None, None));
        assert_eq!((Value::String(b"a").as_str(), Value::String(b"\xff").as_str()), (Some("a"), None));
        assert_eq!((Value::String(b"\xff").as_bytes(), Value::Bytes(b"a").as_str()), (Some(&b"\xff"[..]), None));
    }

    #[test]
    fn sameness_is_to_the_bit() {
        assert!(Value::Double(f64::NAN).same(&Value::Double(f64::NAN)));
        assert!(!Value::Double(0.0).same(&Value::Double(-0.0)));
        assert!(!Value::String(b"x").same(&Value::Bytes(b"x")));
    }
}
