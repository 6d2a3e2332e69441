use crate::Tree;

/// A type with a fixed meaning in every schema; little-endian on the wire.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scalar {
    /// One byte, true unless zero.
    Bool,
    /// One byte of UTF-8 text.
    Char,
    /// Signed, 1 byte.
    Int8,
    /// Unsigned, 1 byte.
    UInt8,
    /// Signed, 2 bytes.
    Int16,
    /// Unsigned, 2 bytes.
    UInt16,
    /// Signed, 4 bytes.
    Int32,
    /// Unsigned, 4 bytes.
    UInt32,
    /// Signed, 8 bytes.
    Int64,
    /// Unsigned, 8 bytes.
    UInt64,
    /// IEEE 754 single; also spelled `float32`.
    Float,
    /// IEEE 754 double; also spelled `float64`.
    Double,
}

impl Scalar {
    /// The scalar a schema means by `name`; any other name is a struct.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "char" => Self::Char,
            "int8" => Self::Int8,
            "uint8" => Self::UInt8,
            "int16" => Self::Int16,
            "uint16" => Self::UInt16,
            "int32" => Self::Int32,
            "uint32" => Self::UInt32,
            "int64" => Self::Int64,
            "uint64" => Self::UInt64,
            "float" | "float32" => Self::Float,
            "double" | "float64" => Self::Double,
            _ => return None,
        })
    }

    /// The name schemas use most.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Char => "char",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::UInt32 => "uint32",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float => "float",
            Self::Double => "double",
        }
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::Char | Self::Int8 | Self::UInt8 => 1,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float => 4,
            Self::Int64 | Self::UInt64 | Self::Double => 8,
        }
    }

    /// True for `int8` to `int64`.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// True for signed and unsigned integers, not for `bool` and `char`.
    pub fn is_integer(self) -> bool {
        !matches!(self, Self::Bool | Self::Char | Self::Float | Self::Double)
    }

    /// The element at the start of `bytes`; `None` if they are too few.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<Tree> {
        Some(match self {
            Self::Bool => Tree::Bool(*bytes.first()? != 0),
            Self::Char => Tree::Text(super::text(bytes.get(..1)?).into_owned()),
            Self::Int8 => Tree::Int(i8::from_le_bytes(*bytes.first_chunk()?).into()),
            Self::UInt8 => Tree::UInt((*bytes.first()?).into()),
            Self::Int16 => Tree::Int(i16::from_le_bytes(*bytes.first_chunk()?).into()),
            Self::UInt16 => Tree::UInt(u16::from_le_bytes(*bytes.first_chunk()?).into()),
            Self::Int32 => Tree::Int(i32::from_le_bytes(*bytes.first_chunk()?).into()),
            Self::UInt32 => Tree::UInt(u32::from_le_bytes(*bytes.first_chunk()?).into()),
            Self::Int64 => Tree::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
            Self::UInt64 => Tree::UInt(u64::from_le_bytes(*bytes.first_chunk()?)),
            Self::Float => Tree::Float(f32::from_le_bytes(*bytes.first_chunk()?)),
            Self::Double => Tree::Double(f64::from_le_bytes(*bytes.first_chunk()?)),
        })
    }
}

/// Where a bit-field lies in its storage unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bits {
    /// Bytes of the unit: 1, 2, 4 or 8. A `bool` takes the unit it joins, so this need not be the
    /// size of the field's type.
    pub unit: usize,
    /// Bits below the field, counted from the least significant.
    pub shift: u32,
    /// Bits of the field, at least 1 and less than those of its type.
    pub width: u32,
}

impl Bits {
    /// The field of the unit at the start of `bytes`, zero-extended.
    pub fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        let unit = match self.unit {
            1 => (*bytes.first()?).into(),
            2 => u16::from_le_bytes(*bytes.first_chunk()?).into(),
            4 => u32::from_le_bytes(*bytes.first_chunk()?).into(),
            _ => u64::from_le_bytes(*bytes.first_chunk()?),
        };
        Some(unit.checked_shr(self.shift)? & u64::MAX.checked_shr(64_u32.checked_sub(self.width)?)?)
    }

    /// The field of the unit at the start of `bytes`, sign-extended from its own width.
    ///
    /// WPILib's Java code reads signed bit-fields this way and its C++ code does not; the README
    /// says more.
    pub fn signed(self, bytes: &[u8]) -> Option<i64> {
        let unused = 64_u32.checked_sub(self.width)?;
        let field = self.unsigned(bytes)?.checked_shl(unused)?;
        field.cast_signed().checked_shr(unused)
    }
}
