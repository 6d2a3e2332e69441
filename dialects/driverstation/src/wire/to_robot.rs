//! TCP messages from the station to the robot.

use std::fmt;

use logpose_core::{Cursor, Hex};

use super::WireError;
use super::framing::{put_message, put_short};
use super::show::{Quoted, extra};

const DESCRIPTOR: u8 = 0x02;
const MATCH: u8 = 0x07;
const GAME_DATA: u8 = 0x0e;

/// A message from the station, borrowed from its bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ToRobot<'a> {
    /// No id and no data: the station is still there.
    KeepAlive,
    /// `02`: what a stick is.
    Descriptor(Descriptor<'a>),
    /// `07`: which match this is.
    Match(MatchInfo<'a>),
    /// `0e`: game data for the teams during a match.
    GameData(&'a [u8]),
    /// What nobody knows.
    Unknown {
        /// What it is.
        id: u8,
        /// What stands behind the id.
        data: &'a [u8],
    },
}

impl<'a> ToRobot<'a> {
    /// Reads what stands behind the size of a message.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = Cursor::new(body, 0);
        if cur.is_empty() {
            return Ok(Self::KeepAlive);
        }
        let id = cur.u8("message id")?;
        Ok(match id {
            DESCRIPTOR => Self::Descriptor(Descriptor::parse(&mut cur)?),
            MATCH => Self::Match(MatchInfo::parse(&mut cur)?),
            GAME_DATA => Self::GameData(cur.rest()),
            _ => Self::Unknown { id, data: cur.rest() },
        })
    }

    /// Whether this is a message whose layout is known and fits.
    pub(super) fn is_known(body: &'a [u8]) -> bool {
        !matches!(Self::parse(body), Err(_) | Ok(Self::Unknown { .. }))
    }

    /// What stands behind the known layout.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self {
            Self::Descriptor(descriptor) => descriptor.rest,
            Self::Match(info) => info.rest,
            Self::KeepAlive | Self::GameData(_) | Self::Unknown { .. } => &[],
        }
    }

    /// Appends size, id and data. What a length cannot say is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_message(out, |out| match self {
            Self::KeepAlive => {}
            Self::Descriptor(descriptor) => {
                out.push(DESCRIPTOR);
                descriptor.emit(out);
            }
            Self::Match(info) => {
                out.push(MATCH);
                info.emit(out);
            }
            Self::GameData(text) => {
                out.push(GAME_DATA);
                out.extend_from_slice(text);
            }
            Self::Unknown { id, data } => {
                out.push(*id);
                out.extend_from_slice(data);
            }
        });
    }
}

impl fmt::Display for ToRobot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepAlive => f.write_str("keepalive"),
            Self::Descriptor(descriptor) => write!(f, "descriptor {descriptor}"),
            Self::Match(info) => write!(f, "match {info}"),
            Self::GameData(text) => write!(f, "game data {}", Quoted(text)),
            Self::Unknown { id, data } => write!(f, "message {id:02x} {}", Hex(data)),
        }?;
        extra(f, self.rest())
    }
}

/// What a stick is.
///
/// ```text
/// index u8 | is Xbox u8 | type i8 | n u8 | name: n | a u8 | axis types: a | button count u8 | POV count u8
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Descriptor<'a> {
    /// Which slot, 0 to 5.
    pub index: u8,
    /// 1 if it is an Xbox controller.
    pub xbox: u8,
    /// −1 is unknown or absent, 1 a gamepad, 20 and more are HID devices.
    pub kind: i8,
    /// What it calls itself.
    pub name: &'a [u8],
    /// What each axis is: 0 X, 1 Y, 2 Z, 3 twist, 4 throttle.
    pub axes: &'a [u8],
    /// How many buttons it has.
    pub buttons: u8,
    /// How many POVs it has.
    pub povs: u8,
    /// Bytes behind the layout.
    pub rest: &'a [u8],
}

impl<'a> Descriptor<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let [index, xbox, kind] = *cur.array("descriptor")?;
        let name = cur.u8("name length")?;
        let name = cur.take(name.into(), "name")?;
        let axes = cur.u8("axis count")?;
        let axes = cur.take(axes.into(), "axis types")?;
        let [buttons, povs] = *cur.array("button and POV count")?;
        Ok(Self { index, xbox, kind: kind.cast_signed(), name, axes, buttons, povs, rest: cur.rest() })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.index, self.xbox, self.kind.cast_unsigned()]);
        put_short(self.name, out);
        put_short(self.axes, out);
        out.extend_from_slice(&[self.buttons, self.povs]);
        out.extend_from_slice(self.rest);
    }

    /// The slot `index` without a stick.
    #[must_use]
    pub fn empty(index: u8) -> Self {
        Self { index, kind: -1, ..Self::default() }
    }
}

impl fmt::Display for Descriptor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.index, Quoted(self.name))?;
        f.write_str(if self.xbox != 0 { ", Xbox" } else { "" })?;
        write!(f, ", type {}, {} axes, {} buttons, {} POVs", self.kind, self.axes.len(), self.buttons, self.povs)
    }
}

/// Which match this is.
///
/// ```text
/// n u8 | event: n | type u8 | number u16 | replay u8
/// ```
///
/// Some stations end behind the type.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MatchInfo<'a> {
    /// The name of the event. Robot code keeps 63 bytes.
    pub event: &'a [u8],
    /// What kind of match.
    pub kind: MatchType,
    /// Its number, if it was sent.
    pub number: Option<u16>,
    /// How often it was replayed, if it was sent. It can only stand behind the number.
    pub replay: Option<u8>,
    /// Bytes behind the layout.
    pub rest: &'a [u8],
}

impl<'a> MatchInfo<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let event = cur.u8("event length")?;
        let event = cur.take(event.into(), "event")?;
        let kind = MatchType(cur.u8("match type")?);
        let number = if cur.is_empty() { None } else { Some(cur.u16_be("match number")?) };
        let replay = if cur.is_empty() { None } else { Some(cur.u8("replay")?) };
        Ok(Self { event, kind, number, replay, rest: cur.rest() })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put_short(self.event, out);
        out.push(self.kind.0);
        let Some(number) = self.number else { return };
        out.extend_from_slice(&number.to_be_bytes());
        let Some(replay) = self.replay else { return };
        out.push(replay);
        out.extend_from_slice(self.rest);
    }
}

impl fmt::Display for MatchInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", Quoted(self.event), self.kind)?;
        if let Some(number) = self.number {
            write!(f, " {number}")?;
        }
        match self.replay {
            None | Some(0) => Ok(()),
            Some(replay) => write!(f, ", replay {replay}"),
        }
    }
}

/// What kind of match.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct MatchType(pub u8);

impl MatchType {
    /// No match.
    pub const NONE: Self = Self(0);
    /// Practice.
    pub const PRACTICE: Self = Self(1);
    /// Qualification.
    pub const QUALIFICATION: Self = Self(2);
    /// Elimination.
    pub const ELIMINATION: Self = Self(3);

    const NAMES: [&'static str; 4] = ["none", "practice", "qualification", "elimination"];

    /// The kind that a word names.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        (0..).zip(Self::NAMES).find(|(_, word)| *word == name).map(|(byte, _)| Self(byte))
    }
}

impl fmt::Display for MatchType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => write!(f, "type {}", self.0),
        }
    }
}
