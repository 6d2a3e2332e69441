//! All codes both ways, the table of section 7, and halves between neighbours.

use logpose_refloat::float16::{decode, encode};

/// What a code stands for, in the words of the specification and with numbers that hold it exactly.
fn meaning(code: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(code >> 10 & 31), f64::from(code & 1023));
    let magnitude = match exponent {
        0 => mantissa * 2_f64.powi(-24),
        _ => (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15),
    };
    if code & 0x8000 == 0 { magnitude } else { -magnitude }
}

#[test]
fn every_code_is_decoded_exactly_and_survives() {
    for code in 0..=u16::MAX {
        let value = decode(code);
        assert_eq!(f64::from(value).to_bits(), meaning(code).to_bits(), "{code:04X}");
        assert_eq!(encode(value), code, "{code:04X}");
    }
}

#[test]
fn the_table_of_the_specification() {
    let rows: &[(u32, u16, f64)] = &[
        (0x0000_0000, 0x0000, 0.0),
        (0x8000_0000, 0x8000, -0.0),
        (0x3F80_0000, 0x3C00, 1.0),
        (0xC000_0000, 0xC000, -2.0),
        (0x3DCC_CCCD, 0x2E66, 0.099_975_585_937_5),
        (0x4049_0FDB, 0x4248, 3.140_625),
        (0x3F80_1000, 0x3C01, 1.000_976_562_5),
        (0x3F80_0FFF, 0x3C00, 1.0),
        (0x3F80_3000, 0x3C02, 1.001_953_125),
        (0x4500_1000, 0x6801, 2050.0),
        (0xC500_1000, 0xE801, -2050.0),
        (0x4500_3000, 0x6802, 2052.0),
        (0x477F_E000, 0x7BFF, 65504.0),
        (0x477F_F000, 0x7C00, 65536.0),
        (0x4788_B800, 0x7C46, 70016.0),
        (0x47C0_0000, 0x7E00, 98304.0),
        (0x47C3_5000, 0x7E1B, 100_032.0),
        (0x47FF_E000, 0x7FFF, 131_008.0),
        (131_040_f32.to_bits(), 0x7FFF, 131_008.0),
        (1e9_f32.to_bits(), 0x7FFF, 131_008.0),
        (f32::INFINITY.to_bits(), 0x7FFF, 131_008.0),
        (0xFF80_0000, 0xFFFF, -131_008.0),
        (0x7FC0_0000, 0x7FFF, 131_008.0),
        (0xFFC0_0000, 0xFFFF, -131_008.0),
        (0x7FFF_FFFF, 0x8000, -0.0),
        (0x7FFF_F000, 0x8000, -0.0),
        (0x7FFF_EFFF, 0x7FFF, 131_008.0),
        (0xFFFF_F000, 0x0000, 0.0),
        (0xFFFF_FFFF, 0x0000, 0.0),
        (0x3880_0000, 0x0400, 6.103_515_625e-05),
        (0x387F_FFFF, 0x0400, 6.103_515_625e-05),
        (0x3380_0000, 0x0001, 5.960_464_477_539_063e-08),
        (0x3300_0000, 0x0001, 5.960_464_477_539_063e-08),
        (0x32FF_FFFF, 0x0000, 0.0),
        (0x33C0_0000, 0x0002, 1.192_092_895_507_812_5e-07),
        // The codes of the example in section 6.2.
        (4321_f32.to_bits(), 0x6C38, 4320.0),
        (0.35_f32.to_bits(), 0x359A, 0.350_097_656_25),
    ];
    for (bits, code, back) in rows {
        assert_eq!(encode(f32::from_bits(*bits)), *code, "{bits:08X}");
        assert_eq!(f64::from(decode(*code)).to_bits(), back.to_bits(), "{code:04X}");
    }
}

#[test]
fn a_half_between_two_codes_goes_away_from_zero_and_less_goes_to_the_nearer() {
    for code in 0..0x7FFF_u16 {
        let (low, high) = (decode(code), decode(code + 1));
        let half = low + (high - low) / 2.0;
        assert_eq!(encode(half), code + 1, "{half}");
        assert_eq!(encode(half.next_down()), code, "{half} less one");
        assert_eq!(encode(-half), (code + 1) | 0x8000, "-{half}");
        assert_eq!(encode(-half.next_down()), code | 0x8000, "-{half} less one");
    }
}

#[test]
fn what_is_too_great_saturates() {
    assert_eq!(encode(131_039.99), 0x7FFF);
    assert_eq!(encode(131_040.0), 0x7FFF);
    assert_eq!(encode(f32::MAX), 0x7FFF);
    assert_eq!(encode(f32::MIN), 0xFFFF);
}
