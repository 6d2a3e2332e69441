//! The entries of a usage report: which parts of WPILib a program uses.
//!
//! ```text
//! V1 | entries: > for each further page of codes | letter | instance | : context, if there is one | (feature), if there is one
//! ```

use std::fmt;

/// What every report begins with.
const MAGIC: &[u8] = b"V1";
/// Codes of one page: `A` to `Z` and `a` to `z`.
const PAGE: u16 = 52;

/// One use of a resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Entry<'a> {
    /// The number in WPILib's table: 2 is the language, 18 an encoder, 52 a Talon on the CAN bus.
    pub resource: u16,
    /// Which one of several; of the language which language.
    pub instance: u32,
    /// More about it.
    pub context: Option<u32>,
    /// Free text about it.
    pub feature: Option<&'a [u8]>,
}

/// The entries of a report, as an iterator that ends where it understands no more.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    /// The entries of a report.
    #[must_use]
    pub fn new(report: &'a [u8]) -> Self {
        Self { rest: report.strip_prefix(MAGIC).unwrap_or(report) }
    }

    /// What was not read, or not understood.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let pages = self.rest.iter().take_while(|byte| **byte == b'>').count();
        let (letter, rest) = self.rest.get(pages..)?.split_first()?;
        let code = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            _ => return None,
        };
        let resource = u16::try_from(pages).ok()?.checked_mul(PAGE)?.checked_add(code.into())?;
        let (instance, mut rest) = number(rest)?;
        let mut context = None;
        if let Some((found, after)) = rest.strip_prefix(b":").and_then(number) {
            (context, rest) = (Some(found), after);
        }
        let mut feature = None;
        if let Some(text) = rest.strip_prefix(b"(") {
            let end = text.iter().position(|byte| *byte == b')')?;
            feature = text.get(..end);
            rest = text.get(end + 1..)?;
        }
        self.rest = rest;
        Some(Entry { resource, instance, context, feature })
    }
}

/// The entry as a report has it.
impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.resource / PAGE).try_for_each(|_| f.write_str(">"))?;
        let code = u8::try_from(self.resource % PAGE).unwrap_or(0);
        let letter = if code < 26 { b'A' + code } else { b'a' + code - 26 };
        write!(f, "{}{}", char::from(letter), self.instance)?;
        if let Some(context) = self.context {
            write!(f, ":{context}")?;
        }
        match self.feature {
            Some(feature) => write!(f, "({})", String::from_utf8_lossy(feature)),
            None => Ok(()),
        }
    }
}

/// A decimal number from the front, and what is behind it.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = bytes.split_at_checked(digits)?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{Entries, Entry};

    #[test]
    fn the_report_of_the_documents() {
        let report = "V1K0N0Y0c0i0q0r0N1W1Y1b1i1j1o1q1C2i2i3A4>A31>O31>A32>O32f2:1S0:2";
        let mut entries = Entries::new(report.as_bytes());
        let all: Vec<Entry<'_>> = entries.by_ref().collect();
        assert!(entries.rest().is_empty());
        let entry = |resource, instance, context| Entry { resource, instance, context, feature: None };
        // The language is C++, and there is a Talon 31.
        assert!(all.contains(&entry(2, 2, None)) && all.contains(&entry(52, 31, None)));
        assert_eq!(all[all.len() - 2..], [entry(31, 2, Some(1)), entry(18, 0, Some(2))]);
        let again: String = all.iter().map(Entry::to_string).collect();
        assert_eq!(format!("V1{again}"), report);
    }

    #[test]
    fn features_hold_anything_and_nonsense_ends_it() {
        let mut entries = Entries::new(b"V1W3(a>B2:)A1:7(x) A2");
        let found: Vec<_> = entries.by_ref().map(|entry| entry.to_string()).collect();
        assert_eq!(found, ["W3(a>B2:)", "A1:7(x)"]);
        assert_eq!(entries.rest(), b" A2");
        for report in [&b"V1A"[..], b"V1A1(", b"V1>", b"V1A99999999999", b"", b"V1"] {
            assert_eq!(Entries::new(report).next(), None);
        }
    }
}
