//! Bytes as text.

/// The bytes of a text in base64 as formats without bytes have it, with its padding.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let (groups, rest) = text.as_chunks::<4>();
    let mut out = Vec::with_capacity(groups.len() * 3);
    for (place, group) in groups.iter().enumerate() {
        let last = place + 1 == groups.len();
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if padding > if last { 2 } else { 0 } {
            return None;
        }
        let digits = group.iter().take(4 - padding).map(|byte| digit(*byte));
        let mut digits = digits.chain(std::iter::repeat_n(Some(0), padding));
        let number = digits.try_fold(0_u32, |number, digit| Some(number << 6 | digit?))?;
        let [_, bytes @ ..] = number.to_be_bytes();
        out.extend(bytes.iter().take(3 - padding));
    }
    rest.is_empty().then_some(out)
}

fn digit(byte: u8) -> Option<u32> {
    let (first, value) = match byte {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(byte - first) + value)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn texts_are_the_bytes_they_stand_for() {
        let cases: [(&str, Option<&[u8]>); 10] = [
            ("", Some(b"")),
            ("Zg==", Some(b"f")),
            ("Zm8=", Some(b"fo")),
            ("Zm9v", Some(b"foo")),
            ("Zm9vYg==", Some(b"foob")),
            ("+/8A", Some(&[0xfb, 0xff, 0])),
            ("Zm9", None),
            ("Zg==Zg==", None),
            ("Z===", None),
            ("Zm!v", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(decode(text.as_bytes()).as_deref(), bytes, "{text}");
        }
    }
}
