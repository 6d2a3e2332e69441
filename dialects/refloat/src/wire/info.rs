//! Who the board is.

use std::fmt;

use super::{PACKAGE, TICK_RATE, Version, WireError, id, show};

/// What the bits of `capabilities` say.
pub mod capability {
    /// It has lights.
    pub const LEDS: u32 = 1;
    /// Its lights are on an external module.
    pub const EXTERNAL_LEDS: u32 = 1 << 1;
    /// Data of satellite navigation were seen; 1.3.0-beta1 and later.
    pub const GNSS: u32 = 1 << 2;
    /// It can record.
    pub const RECORDER: u32 = 1 << 31;
}

/// The reply to INFO.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Info {
    /// The short form, which every version has.
    V1(InfoV1),
    /// The long form, since 1.1.
    V2(InfoV2),
}

/// The short form.
///
/// ```text
/// 65 00 | major * 10 + minor | 1 | LED type
///   2   |         1          | 1 |    1
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InfoV1 {
    /// Major version times ten plus minor version.
    pub version: u8,
    /// Always 1.
    pub build: u8,
    /// 0 none, 1 internal, 3 external.
    pub led_type: u8,
}

/// The long form.
///
/// ```text
/// 65 00 | 2 | flags | name | major minor patch | suffix | commit | tick rate | capabilities | extra flags
///   2   | 1 |   1   |  20  |         3         |   20   |   4    |     4     |      4       |      1
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InfoV2 {
    /// The request's flags again.
    pub flags: u8,
    /// The package's name; forks have others.
    pub name: String,
    /// Major version.
    pub major: u8,
    /// Minor version.
    pub minor: u8,
    /// Patch version.
    pub patch: u8,
    /// The suffix as it was sent: releases say their patch number here.
    pub suffix: String,
    /// The first four bytes of the commit it was built from.
    pub commit: u32,
    /// Ticks a second.
    pub tick_rate: u32,
    /// See [`capability`].
    pub capabilities: u32,
    /// Always 0 so far.
    pub extra: u8,
}

/// Distinguishes the long form from the short one, which has 10 or more here.
const SECOND: u8 = 2;
/// Bytes of the name and of the suffix.
const TEXT: usize = 20;

impl Info {
    /// Reads a message. What a later version may append is left alone.
    pub fn parse(message: &[u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::INFO)?;
        let version = cur.u8("version")?;
        if version != SECOND {
            let (build, led_type) = (cur.u8("build")?, cur.u8("LED type")?);
            return Ok(Self::V1(InfoV1 { version, build, led_type }));
        }
        Ok(Self::V2(InfoV2 {
            flags: cur.u8("flags")?,
            name: text(cur.array("package name")?),
            major: cur.u8("major version")?,
            minor: cur.u8("minor version")?,
            patch: cur.u8("patch version")?,
            suffix: text(cur.array("version suffix")?),
            commit: cur.u32_be("commit")?,
            tick_rate: cur.u32_be("tick rate")?,
            capabilities: cur.u32_be("capabilities")?,
            extra: cur.u8("extra flags")?,
        }))
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, id::INFO]);
        match self {
            Self::V1(info) => out.extend_from_slice(&[info.version, info.build, info.led_type]),
            Self::V2(info) => {
                out.extend_from_slice(&[SECOND, info.flags]);
                put_text(&info.name, out);
                out.extend_from_slice(&[info.major, info.minor, info.patch]);
                put_text(&info.suffix, out);
                for number in [info.commit, info.tick_rate, info.capabilities] {
                    out.extend_from_slice(&number.to_be_bytes());
                }
                out.push(info.extra);
            }
        }
    }

    /// The version. The short form has no patch number, and a suffix that repeats it is none.
    #[must_use]
    pub fn version(&self) -> Version {
        match self {
            Self::V1(info) => Version::new(info.version / 10, info.version % 10, 0, ""),
            Self::V2(info) => {
                let repeats = info.suffix == info.patch.to_string();
                Version::new(info.major, info.minor, info.patch, if repeats { "" } else { &info.suffix })
            }
        }
    }

    /// Whether it can record; the short form does not say.
    #[must_use]
    pub fn can_record(&self) -> Option<bool> {
        match self {
            Self::V1(_) => None,
            Self::V2(info) => Some(info.capabilities & capability::RECORDER != 0),
        }
    }

    /// Ticks a second. A rate of 0 is invalid and counts as absent.
    #[must_use]
    pub fn tick_rate(&self) -> u32 {
        match self {
            Self::V2(info) if info.tick_rate > 0 => info.tick_rate,
            _ => TICK_RATE,
        }
    }
}

/// `Refloat 1.3.0-beta2`; the short form has no name and no patch number: `Refloat 1.2`.
impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V1(info) => write!(f, "Refloat {}.{}", info.version / 10, info.version % 10),
            Self::V2(info) => write!(f, "{} {}", info.name.escape_debug(), self.version()),
        }
    }
}

/// A text up to its first zero.
fn text(field: &[u8; TEXT]) -> String {
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut text = String::from_utf8_lossy(text).into_owned();
    // The replacement for an invalid byte takes more than one byte: the end is cut, so that the rest fits.
    while text.len() > TEXT {
        text.pop();
    }
    text
}

/// A text in its field. What is too long is cut.
fn put_text(text: &str, out: &mut Vec<u8>) {
    let padding = std::iter::repeat_n(0, TEXT);
    out.extend(text.bytes().chain(padding).take(TEXT));
}
