//! All samples of a log in one table, a row each: the time, the channel, and the value in the column of its kind.
//!
//! Floats are widened to `number` and `numbers`; structs and other payloads are `bytes`. A value that its column cannot
//! hold exactly (text that is not UTF-8, boolean arrays with bytes other than 0 and 1, signalling NaNs of 32 bits)
//! is in `bytes` as its little-endian payload, so that [`Reader`] gives back every value as it was.

mod cells;
mod chunk;
mod reader;
mod rows;

use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use logpose_core::{Channel, Type};

use crate::plain::data_type;

pub use chunk::of_chunk;
pub use reader::Reader;
pub use rows::Rows;

/// The schema of the table.
#[must_use]
pub fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let channel = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut fields = vec![Field::new(TIME, DataType::Int64, false), Field::new(CHANNEL, channel, false)];
        fields.extend(VALUES.iter().map(|(name, ty)| Field::new(*name, data_type(*ty), true)));
        Arc::new(Schema::new(fields))
    });
    Arc::clone(&SCHEMA)
}

/// The values of the `channel` column's dictionary: a name for each channel, see [`names`](crate::names).
#[must_use]
pub fn dictionary(channels: &[Channel]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(crate::names(channels)))
}

const TIME: &str = "time_ns";
const CHANNEL: &str = "channel";

/// The columns of values, with the type that each holds.
const VALUES: [(&str, Type); 9] = [
    ("number", Type::Double),
    ("integer", Type::Int64),
    ("boolean", Type::Boolean),
    ("text", Type::String),
    ("bytes", Type::Bytes),
    ("numbers", Type::DoubleArray),
    ("integers", Type::Int64Array),
    ("booleans", Type::BooleanArray),
    ("texts", Type::StringArray),
];

/// Whether widening to 64 bits would change the number: processors quiet such a NaN.
fn is_signalling(x: f32) -> bool {
    x.is_nan() && x.to_bits() & 0x0040_0000 == 0
}

/// The same number in 64 bits; NaNs keep their bits, which a cast does not promise.
fn widen(x: f32) -> f64 {
    if x.is_nan() {
        let bits = u64::from(x.to_bits());
        return f64::from_bits((bits >> 31) << 63 | 0x7ff0_0000_0000_0000 | (bits & 0x007f_ffff) << 29);
    }
    x.into()
}

/// The number that [`widen`] was given.
#[expect(clippy::cast_possible_truncation, reason = "numbers that were widened lose nothing")]
fn narrow(x: f64) -> f32 {
    if x.is_nan() {
        let bits = x.to_bits();
        // A NaN of 64 bits may have all its bits below those that stay; it must not become infinite.
        let fraction = (bits >> 29) as u32 & 0x007f_ffff;
        return f32::from_bits((bits >> 63 << 31) as u32 | 0x7f80_0000 | fraction.max(1));
    }
    x as f32
}

#[cfg(test)]
mod tests {
    use super::{is_signalling, narrow, widen};

    #[test]
    fn floats_come_back_to_the_bit() {
        let special = [0x7fc0_0000, 0xffc0_0001, 0x7f80_0001, 0xff80_0000, 0x8000_0000, 1, 0x7fff_ffff];
        for bits in special.into_iter().chain((0..u32::MAX).step_by(65_521)) {
            let x = f32::from_bits(bits);
            assert_eq!(narrow(widen(x)).to_bits(), bits, "{bits:#x}");
        }
        assert!(is_signalling(f32::from_bits(0x7f80_0001)));
        assert!(!is_signalling(f32::NAN) && !is_signalling(f32::INFINITY));
        assert!(narrow(f64::from_bits(0x7ff0_0000_0000_0001)).is_nan());
    }
}
