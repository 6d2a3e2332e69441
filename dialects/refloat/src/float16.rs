//! The 16-bit numbers of recordings and live values: like IEEE 754 binary16, but the largest exponent is an ordinary
//! one. There are no infinities and no NaNs, the largest number is 131008, and it also stands for whatever was too
//! great, infinite or no number at the source.

/// The number a code stands for, exactly.
#[must_use]
pub fn decode(code: u16) -> f32 {
    let code = u32::from(code);
    let (sign, exponent, mantissa) = ((code & 0x8000) << 16, code >> 10 & 0x1F, code & 0x3FF);
    if exponent == 0 {
        // Both factors are exact, and so is the product.
        let magnitude = f32::from_bits(0x3380_0000) * f32::from(u16::try_from(mantissa).unwrap_or_default());
        return f32::from_bits(magnitude.to_bits() | sign);
    }
    f32::from_bits(sign | (exponent + 112) << 23 | mantissa << 13)
}

/// The code of a number as the board computes it: rounded to nearest, halves away from zero; what is too great
/// saturates, as do infinities and NaNs, but for the NaNs whose rounding carries into the sign.
#[must_use]
pub fn encode(x: f32) -> u16 {
    let bits = x.to_bits().wrapping_add(0x1000);
    let (sign, exponent, mantissa) = (bits >> 16 & 0x8000, bits >> 23 & 0xFF, bits & 0x7F_FFFF);
    let magnitude = match exponent {
        144.. => 0x7FFF,
        113..=143 => (exponent - 112) << 10 | mantissa >> 13,
        102..=112 => (((0x7F_F000 + mantissa) >> (125 - exponent)) + 1) >> 1,
        _ => 0,
    };
    u16::try_from(sign | magnitude).unwrap_or(u16::MAX)
}
