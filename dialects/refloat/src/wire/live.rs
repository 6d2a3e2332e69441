//! Live values: by ids and by bits.

use std::fmt;

use logpose_core::Cursor;

use super::recording::codes;
use super::{Ids, PACKAGE, StateFlags, WireError, WireErrorKind, id, show};
use crate::float16;
use crate::items::{FieldKind, MaskField, Since, fields};

/// The ids of the live values.
///
/// ```text
/// 65 20 | a | a strings | b | b strings
///   2   | 1 |    ..     | 1 |    ..
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LiveIds<'a> {
    /// Those of the values that are always sent.
    pub always: Ids<'a>,
    /// Those of the values that are sent while the board is engaged.
    pub running: Ids<'a>,
}

impl<'a> LiveIds<'a> {
    /// Reads a message, which ends with the last id.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::LIVE_IDS)?;
        let ids = Self { always: Ids::parse(&mut cur)?, running: Ids::parse(&mut cur)? };
        show::ends(&cur, "live ids")?;
        Ok(ids)
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, id::LIVE_IDS]);
        self.always.emit(out);
        self.running.emit(out);
    }

    /// Appends the message with these ids.
    pub fn put<'i>(
        always: impl IntoIterator<Item = &'i str>,
        running: impl IntoIterator<Item = &'i str>,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(&[PACKAGE, id::LIVE_IDS]);
        super::put_ids(always, out);
        super::put_ids(running, out);
    }
}

/// `live ids: speed erpm; while running: setpoint`.
impl fmt::Display for LiveIds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "live ids: {}; while running: {}", self.always, self.running)
    }
}

/// Live values in the order of the ids.
///
/// ```text
/// 65 1F | mask | extra flags | time | state flags | values | charging | alerts
///   2   |  1   |      1      |  4   |      4      |   ..   |  0 or 4  | 0 or 9
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Live<'a> {
    /// Which parts follow. The bits of charging and of alerts are those of the fields here when it is emitted.
    pub mask: u8,
    /// Bit 0 recording; up to 1.3.0-preview1 bit 1 autostart and bit 2 autostop; in 1.2 bit 3 fatal error.
    pub extra: u8,
    /// Ticks since the controller booted; wraps.
    pub tick: u32,
    /// What the board does.
    pub state: StateFlags,
    /// The codes of the values, two bytes each: those always sent, then those of a running board.
    pub values: &'a [u8],
    /// The charger, if one is connected.
    pub charging: Option<Charging>,
    /// What is wrong, since 1.2.
    pub alerts: Option<ActiveAlerts>,
}

/// The charger, as codes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Charging {
    /// A.
    pub current: u16,
    /// V.
    pub voltage: u16,
}

/// What is wrong now.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ActiveAlerts {
    /// A bit for each alert.
    pub active: u32,
    /// Always 0 so far.
    pub active2: u32,
    /// The firmware's fault code.
    pub fault: u8,
}

impl<'a> Live<'a> {
    /// Bit of `mask`: values of a running board follow.
    pub const RUNNING: u8 = 1;
    /// Bit of `mask`: the charger follows.
    pub const CHARGING: u8 = 2;
    /// Bit of `mask`: alerts follow.
    pub const ALERTS: u8 = 4;

    /// Reads a message. The number of values is checked by [`fits`](Self::fits), because only the ids determine it.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::LIVE)?;
        let (mask, extra) = (cur.u8("mask")?, cur.u8("extra flags")?);
        let (tick, state) = (cur.u32_be("time")?, StateFlags(cur.u32_be("state flags")?));
        let tail = if mask & Self::CHARGING != 0 { 4 } else { 0 } + if mask & Self::ALERTS != 0 { 9 } else { 0 };
        let at = cur.offset();
        let left = cur.rest().len() as u64;
        let Some(length) = left.checked_sub(tail) else {
            return Err(WireError::new(at, WireErrorKind::Length { what: "live values", expected: tail, found: left }));
        };
        if length % 2 != 0 {
            let kind = WireErrorKind::Ragged { what: "values", element: 2, found: length };
            return Err(WireError::new(at + length - 1, kind));
        }
        let values = cur.take(length, "values")?;
        let mut charging = None;
        if mask & Self::CHARGING != 0 {
            let (current, voltage) = (cur.u16_be("charging current")?, cur.u16_be("charging voltage")?);
            charging = Some(Charging { current, voltage });
        }
        let mut alerts = None;
        if mask & Self::ALERTS != 0 {
            let (active, active2) = (cur.u32_be("active alerts")?, cur.u32_be("second mask of alerts")?);
            alerts = Some(ActiveAlerts { active, active2, fault: cur.u8("fault code")? });
        }
        Ok(Self { mask, extra, tick, state, values, charging, alerts })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut mask = self.mask & !(Self::CHARGING | Self::ALERTS);
        mask |= if self.charging.is_some() { Self::CHARGING } else { 0 };
        mask |= if self.alerts.is_some() { Self::ALERTS } else { 0 };
        out.extend_from_slice(&[PACKAGE, id::LIVE, mask, self.extra]);
        out.extend_from_slice(&self.tick.to_be_bytes());
        out.extend_from_slice(&self.state.0.to_be_bytes());
        out.extend_from_slice(self.values);
        if let Some(Charging { current, voltage }) = self.charging {
            out.extend([current, voltage].into_iter().flat_map(u16::to_be_bytes));
        }
        if let Some(ActiveAlerts { active, active2, fault }) = self.alerts {
            out.extend([active, active2].into_iter().flat_map(u32::to_be_bytes));
            out.push(fault);
        }
    }

    /// Whether the values of a running board are there.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.mask & Self::RUNNING != 0
    }

    /// An error unless there are as many values as the ids and the mask say.
    pub fn fits(&self, always: usize, running: usize) -> Result<(), WireError> {
        let expected = 2 * (always + if self.is_running() { running } else { 0 });
        if self.values.len() == expected {
            return Ok(());
        }
        let (expected, found) = (expected as u64, self.values.len() as u64);
        Err(WireError::new(12, WireErrorKind::Length { what: "live values", expected, found }))
    }

    /// The codes of the values.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = u16> + use<'a> {
        codes(self.values)
    }

    /// The values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        self.codes().map(float16::decode)
    }
}

/// `live at tick 123456, running, footpad both, recording: 4320 -12.5; charging 3 A 60 V; fault 5`.
impl fmt::Display for Live<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "live at tick {}, {}", self.tick, self.state)?;
        f.write_str(if self.extra & 1 != 0 { ", recording:" } else { ":" })?;
        self.values().try_for_each(|value| write!(f, " {value}"))?;
        if let Some(Charging { current, voltage }) = self.charging {
            write!(f, "; charging {} A {} V", float16::decode(current), float16::decode(voltage))?;
        }
        match self.alerts {
            Some(ActiveAlerts { fault, .. }) if fault != 0 => write!(f, "; fault {fault}"),
            _ => Ok(()),
        }
    }
}

/// Live values chosen by bits, since 1.3.
///
/// ```text
/// 65 21 | control | mask 1 | mask 2 | time | fields
///   2   |    1    |   4    |   4    |  4   |   ..
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LiveMask<'a> {
    /// Bit 0: numbers are binary32 and not float16.
    pub control: u8,
    /// The first 32 fields, as they were asked for.
    pub mask1: u32,
    /// The other fields, as they were asked for.
    pub mask2: u32,
    /// Ticks since the controller booted; wraps.
    pub tick: u32,
    /// The fields that the build knows, in the order of the bits.
    pub bytes: &'a [u8],
}

impl<'a> LiveMask<'a> {
    /// Bit of `control`: numbers are binary32.
    pub const FLOAT32: u8 = 1;

    /// Reads a message. Its length must be that of the fields that some version has for these masks.
    pub fn parse(message: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = show::expect(message, id::LIVE_MASK)?;
        let live = Self {
            control: cur.u8("control")?,
            mask1: cur.u32_be("mask 1")?,
            mask2: cur.u32_be("mask 2")?,
            tick: cur.u32_be("time")?,
            bytes: cur.rest(),
        };
        if live.version().is_some() {
            return Ok(live);
        }
        let (expected, found) = (live.due(Since::Beta1) as u64, live.bytes.len() as u64);
        Err(WireError::new(cur.offset(), WireErrorKind::Length { what: "fields of the masks", expected, found }))
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, id::LIVE_MASK, self.control]);
        out.extend([self.mask1, self.mask2, self.tick].into_iter().flat_map(u32::to_be_bytes));
        out.extend_from_slice(self.bytes);
    }

    /// The fields, in the order of the bits.
    pub fn fields(&self) -> impl Iterator<Item = (&'static MaskField, FieldValue)> + use<'a> {
        let (version, float32) = (self.version().unwrap_or(Since::Beta1), self.is_float32());
        let mut cur = Cursor::new(self.bytes, 0);
        let known = fields(self.mask1, self.mask2).filter(move |field| field.since <= version);
        known.map_while(move |field| Some((field, FieldValue::parse(field.kind, float32, &mut cur).ok()?)))
    }

    /// Whether numbers are binary32.
    #[must_use]
    pub fn is_float32(&self) -> bool {
        self.control & Self::FLOAT32 != 0
    }

    /// The latest of the versions whose fields have this length. A later one has more of them, so the length decides
    /// wherever it matters.
    fn version(&self) -> Option<Since> {
        Since::ALL.into_iter().rev().find(|since| self.due(*since) == self.bytes.len())
    }

    /// Bytes of the fields if the board is of this version.
    fn due(&self, version: Since) -> usize {
        let known = fields(self.mask1, self.mask2).filter(|field| field.since <= version);
        known.map(|field| field.kind.size(self.is_float32())).sum()
    }
}

/// `live at tick 123456: erpm 4320, batt_voltage 75.5`.
impl fmt::Display for LiveMask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "live at tick {}", self.tick)?;
        for (i, (field, value)) in self.fields().enumerate() {
            write!(f, "{}{} {value}", if i > 0 { ", " } else { ": " }, field.id)?;
        }
        Ok(())
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue {
    /// Bits in one byte.
    Extra(u8),
    /// What the board does.
    State(StateFlags),
    /// A number, as float16 or binary32.
    Number(f32),
    /// A whole number.
    Whole(u32),
    /// A number as binary64.
    Double(f64),
}

impl FieldValue {
    fn parse(kind: FieldKind, float32: bool, cur: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(match kind {
            FieldKind::Extra => Self::Extra(cur.u8("extra flags")?),
            FieldKind::State => Self::State(StateFlags(cur.u32_be("state flags")?)),
            FieldKind::Number if float32 => Self::Number(f32::from_bits(cur.u32_be("number")?)),
            FieldKind::Number => Self::Number(float16::decode(cur.u16_be("number")?)),
            FieldKind::Whole => Self::Whole(cur.u32_be("number")?),
            FieldKind::Double => Self::Double(f64::from_bits(cur.u64_be("number")?)),
        })
    }

    /// Appends the field, numbers as binary32 or float16.
    pub fn emit(&self, float32: bool, out: &mut Vec<u8>) {
        match *self {
            Self::Extra(bits) => out.push(bits),
            Self::State(flags) => out.extend_from_slice(&flags.0.to_be_bytes()),
            Self::Number(x) if float32 => put_float32(x, out),
            Self::Number(x) => out.extend_from_slice(&float16::encode(x).to_be_bytes()),
            Self::Whole(n) => out.extend_from_slice(&n.to_be_bytes()),
            Self::Double(x) => out.extend_from_slice(&x.to_be_bytes()),
        }
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extra(bits) => write!(f, "{bits:#04x}"),
            Self::State(flags) => flags.fmt(f),
            Self::Number(x) => x.fmt(f),
            Self::Whole(n) => n.fmt(f),
            Self::Double(x) => x.fmt(f),
        }
    }
}

/// Appends a number as the board does: binary32, but magnitudes below 1.5e-38 and negative zero as zero.
pub fn put_float32(x: f32, out: &mut Vec<u8>) {
    let sent = if x.abs() < 1.5e-38 { 0.0 } else { x };
    out.extend_from_slice(&sent.to_be_bytes());
}
