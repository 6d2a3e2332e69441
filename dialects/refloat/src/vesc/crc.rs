//! CRC-16/XMODEM, and its arithmetic: the sum of any stretch out of two running sums.

/// x^16 + x^12 + x^5 + 1.
const POLYNOMIAL: u16 = 0x1021;

/// What the sum becomes for each value of its high byte.
static TABLE: [u16; 256] = table();

/// x^(8 * 2^i) modulo the polynomial: what moves a sum by 2^i bytes.
static STEPS: [u16; 32] = steps();

/// The sum over a payload.
#[must_use]
pub fn crc16(payload: &[u8]) -> u16 {
    payload.iter().fold(0, |sum, byte| next(sum, *byte))
}

/// The running sum behind one more byte.
pub(super) fn next(sum: u16, byte: u8) -> u16 {
    let [high, low] = sum.to_be_bytes();
    let entry = TABLE.get(usize::from(high ^ byte)).copied().unwrap_or_default();
    u16::from_be_bytes([low, 0]) ^ entry
}

/// The sum over the `length` bytes between two places of a running sum. The sum is linear: what stood before the stretch
/// is moved over it and taken out, so that no byte is read again.
pub(super) fn between(before: u16, behind: u16, length: usize) -> u16 {
    let moved = STEPS
        .iter()
        .enumerate()
        .filter(|(i, _)| length >> i & 1 == 1)
        .fold(before, |sum, (_, step)| multiply(sum, *step));
    behind ^ moved
}

/// The product modulo the polynomial.
const fn multiply(a: u16, b: u16) -> u16 {
    let mut product = 0;
    let mut bit = 16;
    while bit > 0 {
        bit -= 1;
        product = double(product);
        if b >> bit & 1 == 1 {
            product ^= a;
        }
    }
    product
}

const fn double(x: u16) -> u16 {
    if x & 0x8000 == 0 { x << 1 } else { x << 1 ^ POLYNOMIAL }
}

#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "computed when this is compiled")]
const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < table.len() {
        table[i] = multiply((i as u16) << 8, 0x100);
        i += 1;
    }
    table
}

#[expect(clippy::indexing_slicing, reason = "computed when this is compiled")]
const fn steps() -> [u16; 32] {
    let mut steps = [0x100; 32];
    let mut i = 1;
    while i < steps.len() {
        steps[i] = multiply(steps[i - 1], steps[i - 1]);
        i += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::{between, crc16, next};

    #[test]
    fn gives_the_check_value() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(crc16(&[0; 300]), 0);
    }

    #[test]
    fn every_stretch_is_the_difference_of_two_running_sums() {
        let bytes: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(i).wrapping_add(7)).collect();
        let mut sums = vec![0];
        for byte in &bytes {
            sums.push(next(sums[sums.len() - 1], *byte));
        }
        for from in 0..bytes.len() {
            for to in from..=bytes.len() {
                assert_eq!(between(sums[from], sums[to], to - from), crc16(&bytes[from..to]));
            }
        }
    }
}
