//! What packages print. These are hints, never replies.

use std::fmt;

/// A printed text: the bytes behind VESC's command 135.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Print<'a> {
    /// Microseconds since the controller booted, if Refloat printed it.
    pub uptime_us: Option<u64>,
    /// The text, without what Refloat puts in front of it.
    pub text: &'a [u8],
}

/// What Refloat puts between the time and the text.
const MARK: &str = " [refloat] ";
/// What it puts in front of errors.
const ERROR: &str = "Error: ";

impl<'a> Print<'a> {
    /// Reads a text; every one is something.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Self {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let marked = || {
            let at = text.windows(MARK.len()).position(|window| window == MARK.as_bytes())?;
            let (time, rest) = text.split_at_checked(at)?;
            Some((micros(str::from_utf8(time).ok()?)?, rest.get(MARK.len()..)?))
        };
        marked().map_or(Self { uptime_us: None, text }, |(us, text)| Self { uptime_us: Some(us), text })
    }

    /// Appends the text.
    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(us) = self.uptime_us {
            out.extend_from_slice(format!("{}.{:06}{MARK}", us / 1_000_000, us % 1_000_000).as_bytes());
        }
        out.extend_from_slice(self.text);
    }

    /// What Refloat complains of, if it does.
    #[must_use]
    pub fn error(&self) -> Option<PackageError> {
        self.uptime_us?;
        PackageError::parse(str::from_utf8(self.text).ok()?)
    }
}

/// `0.544700` in microseconds.
fn micros(text: &str) -> Option<u64> {
    let (seconds, decimals) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(decimals) || decimals.len() != 6 {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(decimals.parse().ok()?)
}

impl fmt::Display for Print<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "print: {}", self.text.escape_ascii())
    }
}

/// What Refloat complains of. `N` counts the bytes behind the command's id, but for the first, which counts all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PackageError {
    /// No command.
    TooShort(u64),
    /// Another package is meant.
    PackageId(u64),
    /// A command that it does not have.
    UnknownCommand(u64),
    /// The firmware has no buffer.
    NotSupported,
    /// A request to the recorder without a mode.
    MissingData,
    /// A control request without its value.
    MissingValue(u64),
    /// A request for data without the offset.
    MissingOffset(u64),
}

impl PackageError {
    /// Reads a text as [`Display`](fmt::Display) writes it, with or without `Error: ` in front.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix(ERROR).unwrap_or(text);
        let number = |before: &str, behind: &str| {
            let digits = text.strip_prefix(before)?.strip_suffix(behind)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        match text {
            "Data Record not supported." => Some(Self::NotSupported),
            "Data Record request missing data." => Some(Self::MissingData),
            _ => None
                .or_else(|| number("Received command data too short: ", " bytes.").map(Self::TooShort))
                .or_else(|| number("Invalid Package ID: ", "").map(Self::PackageId))
                .or_else(|| number("Unknown command received: ", "").map(Self::UnknownCommand))
                .or_else(|| number("Data Record request missing value, length: ", "").map(Self::MissingValue))
                .or_else(|| number("Data Record request missing offset, length: ", "").map(Self::MissingOffset)),
        }
    }

    /// Appends the whole text as the package prints it so many microseconds after the boot.
    pub fn emit(&self, uptime_us: u64, out: &mut Vec<u8>) {
        let text = format!("{ERROR}{self}");
        Print { uptime_us: Some(uptime_us), text: text.as_bytes() }.emit(out);
    }
}

/// `Data Record not supported.`
impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort(n) => write!(f, "Received command data too short: {n} bytes."),
            Self::PackageId(n) => write!(f, "Invalid Package ID: {n}"),
            Self::UnknownCommand(n) => write!(f, "Unknown command received: {n}"),
            Self::NotSupported => f.write_str("Data Record not supported."),
            Self::MissingData => f.write_str("Data Record request missing data."),
            Self::MissingValue(n) => write!(f, "Data Record request missing value, length: {n}"),
            Self::MissingOffset(n) => write!(f, "Data Record request missing offset, length: {n}"),
        }
    }
}
