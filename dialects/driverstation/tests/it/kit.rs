//! What the tests share.

/// Bytes as the specification writes them: hex in pairs, text in quotes.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, part) in text.split('"').enumerate() {
        if i % 2 == 1 {
            out.extend_from_slice(part.as_bytes());
        } else {
            out.extend(part.split_whitespace().map(|pair| u8::from_str_radix(pair, 16).unwrap()));
        }
    }
    out
}
