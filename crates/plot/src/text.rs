use std::borrow::Cow;

/// Text that every picture can hold: control characters are not allowed in XML and would move a terminal's cursor.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if bad(c) { '\u{fffd}' } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\x1b[2J\n\u{202e}b"), "a\u{fffd}[2J\u{fffd}\u{fffd}b");
        assert_eq!(clean("grün <&>"), "grün <&>");
    }
}
