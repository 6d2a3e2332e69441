//! A stick in a control packet, and what the robot wants of it in a status packet.

use std::fmt;

use logpose_core::{Cursor, Truncated};

use super::tags::put_tag;

/// The tag of a stick.
pub(super) const TAG: u8 = 0x0c;

/// What a stick says, borrowed from its tag.
///
/// ```text
/// a u8 | axes: a × i8 | b u8 | buttons: ⌈b ÷ 8⌉ bytes, button 1 is bit 0 of the last | p u8 | POVs: p × i16 degrees
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Joystick<'a> {
    axes: &'a [u8],
    button_count: u8,
    buttons: &'a [u8],
    povs: &'a [u8],
    /// Bytes behind the layout.
    pub rest: &'a [u8],
}

impl<'a> Joystick<'a> {
    pub(super) fn parse(cur: &mut Cursor<'a>) -> Result<Self, Truncated> {
        let axes = cur.u8("axis count")?;
        let axes = cur.take(axes.into(), "axes")?;
        let button_count = cur.u8("button count")?;
        let buttons = cur.take(button_count.div_ceil(8).into(), "buttons")?;
        let povs = cur.u8("POV count")?;
        let povs = cur.take(2 * u64::from(povs), "POVs")?;
        Ok(Self { axes, button_count, buttons, povs, rest: cur.rest() })
    }

    /// Whether these bytes are one stick and nothing more.
    pub(super) fn is_all_of(data: &'a [u8]) -> bool {
        Self::parse(&mut Cursor::new(data, 0)).is_ok_and(|stick| stick.rest.is_empty())
    }

    /// The axes as they came, −128 to 127. [`axis_value`] makes −1 to 1 of them.
    pub fn axes(&self) -> impl ExactSizeIterator<Item = i8> + use<'a> {
        self.axes.iter().map(|byte| byte.cast_signed())
    }

    /// How many buttons there are. Robot code keeps 32.
    #[must_use]
    pub fn button_count(&self) -> u8 {
        self.button_count
    }

    /// The buttons from the first on; `true` is pressed.
    pub fn buttons(&self) -> impl ExactSizeIterator<Item = bool> + use<'a> {
        let bytes = self.buttons;
        (0..self.button_count).map(move |n| {
            let byte = bytes.iter().rev().nth(usize::from(n / 8)).copied().unwrap_or(0);
            byte >> (n % 8) & 1 != 0
        })
    }

    /// The POVs in degrees; −1 is released.
    pub fn povs(&self) -> impl ExactSizeIterator<Item = i16> + use<'a> {
        self.povs.as_chunks().0.iter().map(|bytes| i16::from_be_bytes(*bytes))
    }

    /// Whether it has neither axes nor buttons nor POVs: a slot without a stick.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.axes.is_empty() && self.button_count == 0 && self.povs.is_empty()
    }

    /// Appends the tag of a stick with these values. What there is no room for is left out: more than 128 axes, 255
    /// buttons or 45 POVs. Robot code keeps 12, 32 and 12.
    pub fn emit_tag(axes: &[i8], buttons: &[bool], povs: &[i16], out: &mut Vec<u8>) {
        let axes = axes.get(..128).unwrap_or(axes);
        let buttons = buttons.get(..255).unwrap_or(buttons);
        let povs = povs.get(..45).unwrap_or(povs);
        put_tag(TAG, out, |out| {
            put_count(axes.len(), out);
            out.extend(axes.iter().map(|axis| axis.cast_unsigned()));
            put_count(buttons.len(), out);
            // The last byte has the first eight.
            let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, down| byte << 1 | u8::from(*down));
            out.extend(buttons.chunks(8).rev().map(byte));
            put_count(povs.len(), out);
            povs.iter().for_each(|pov| out.extend_from_slice(&pov.to_be_bytes()));
        });
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        put_count(self.axes.len(), out);
        out.extend_from_slice(self.axes);
        out.push(self.button_count);
        out.extend_from_slice(self.buttons);
        put_count(self.povs.len() / 2, out);
        out.extend_from_slice(self.povs);
        out.extend_from_slice(self.rest);
    }
}

fn put_count(n: usize, out: &mut Vec<u8>) {
    out.push(u8::try_from(n).unwrap_or(u8::MAX));
}

/// `axes -7 -1 0, buttons 2 4 of 16, POVs -1`.
impl fmt::Display for Joystick<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("axes")?;
        self.axes().try_for_each(|axis| write!(f, " {axis}"))?;
        f.write_str(", buttons")?;
        (1..).zip(self.buttons()).filter(|(_, down)| *down).try_for_each(|(n, _): (u16, _)| write!(f, " {n}"))?;
        write!(f, " of {}, POVs", self.button_count)?;
        self.povs().try_for_each(|pov| write!(f, " {pov}"))
    }
}

/// An axis as robot code sees it: −1 to 1. The two halves have different steps.
#[must_use]
pub fn axis_value(raw: i8) -> f32 {
    f32::from(raw) / if raw < 0 { 128.0 } else { 127.0 }
}

/// The raw value nearest to an axis of −1 to 1; what is beyond stops there, NaN is 0.
#[must_use]
pub fn axis_to_raw(value: f32) -> i8 {
    #[expect(clippy::cast_possible_truncation, reason = "casts from floats stop at the ends of the range")]
    let raw = (value * if value < 0.0 { 128.0 } else { 127.0 }).round() as i8;
    raw
}

/// What the robot wants a stick to do.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct JoystickOutput {
    /// Bit 0 is output 1.
    pub outputs: u32,
    /// How hard it rumbles on the left. WPILib's simulator puts the right one here.
    pub left_rumble: u16,
    /// How hard it rumbles on the right.
    pub right_rumble: u16,
}

impl JoystickOutput {
    pub(super) fn parse(cur: &mut Cursor<'_>) -> Result<Self, Truncated> {
        Ok(Self {
            outputs: cur.u32_be("outputs")?,
            left_rumble: cur.u16_be("left rumble")?,
            right_rumble: cur.u16_be("right rumble")?,
        })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.outputs.to_be_bytes());
        out.extend_from_slice(&self.left_rumble.to_be_bytes());
        out.extend_from_slice(&self.right_rumble.to_be_bytes());
    }
}

impl fmt::Display for JoystickOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right) = (rumble_value(self.left_rumble), rumble_value(self.right_rumble));
        write!(f, "outputs {:08x}, rumble {left:.3} {right:.3}", self.outputs)
    }
}

/// A rumble as robot code sets it: 0 to 1.
#[must_use]
pub fn rumble_value(raw: u16) -> f64 {
    f64::from(raw) / f64::from(u16::MAX)
}

/// The raw value nearest to a rumble of 0 to 1; what is beyond stops there, NaN is 0.
#[must_use]
pub fn rumble_to_raw(value: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts from floats stop at the ends of the range"
    )]
    let raw = (value * f64::from(u16::MAX)).round() as u16;
    raw
}
