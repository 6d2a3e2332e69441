use logpose_core::Time;

/// Bytes as specifications write them: hexadecimal in pairs, `00*13` for thirteen of them, text in quotes. A bar only
/// divides.
#[must_use]
pub fn hex(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, part) in text.split('"').enumerate() {
        if i % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
            continue;
        }
        for word in part.split_whitespace().filter(|word| *word != "|") {
            let (pair, times) = word.split_once('*').unwrap_or((word, "1"));
            let byte = u8::from_str_radix(pair, 16).unwrap_or_else(|_| panic!("{word} in {text}"));
            out.extend(std::iter::repeat_n(byte, times.parse().unwrap()));
        }
    }
    out
}

/// Milliseconds on a clock.
#[must_use]
pub fn ms(ms: i64) -> Time {
    Time::from_millis(ms)
}

/// What something appends.
pub fn emitted(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    emit(&mut out);
    out
}

/// The same bytes with a change.
#[must_use]
pub fn with(mut bytes: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    change(&mut bytes);
    bytes
}

/// Calls `check` with every prefix, the empty one and the whole among them.
pub fn every_prefix(bytes: &[u8], mut check: impl FnMut(&[u8])) {
    (0..=bytes.len()).for_each(|end| check(&bytes[..end]));
}

/// Calls `check` with the bytes in which one byte is another, for every byte and for each of `flips`, with which it is
/// combined by exclusive or; and returns which byte that is.
pub fn every_flip(bytes: &[u8], flips: &[u8], mut check: impl FnMut(usize, &[u8])) {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        for flip in flips {
            bytes[at] ^= flip;
            check(at, &bytes);
            bytes[at] ^= flip;
        }
    }
}

/// Bytes without a pattern, always the same (xorshift).
#[must_use]
pub fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Numbers one behind the other, little-endian.
#[must_use]
pub fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
