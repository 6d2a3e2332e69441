//! Fixed-size reads that cannot panic.

/// The `N` bytes at `at`, if they are all there.
#[inline(always)]
#[must_use]
pub fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}

/// How many zeros the bytes begin with.
#[must_use]
pub fn leading_zeros(bytes: &[u8]) -> usize {
    // Whole blocks first: after a power loss a log may end in a gigabyte of zeros.
    let (blocks, _) = bytes.as_chunks::<64>();
    let whole = blocks.iter().take_while(|block| **block == [0; 64]).count() * 64;
    whole + bytes.get(whole..).unwrap_or_default().iter().take_while(|byte| **byte == 0).count()
}

/// The little-endian 64-bit word at `at`, if all its bytes are there.
#[inline(always)]
#[must_use]
pub fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(|b| u64::from_le_bytes(*b))
}

/// Up to eight bytes from the front as a little-endian word, missing ones as zero.
#[inline]
#[must_use]
pub fn first_word(bytes: &[u8]) -> u64 {
    if let Some(word) = word_at(bytes, 0) {
        return word;
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}
