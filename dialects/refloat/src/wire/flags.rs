//! The bits of samples and of live values.

use std::borrow::Cow;
use std::fmt;

/// Which halves of the footpad are pressed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Footpad {
    /// Neither.
    #[default]
    None,
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// Both.
    Both,
}

impl Footpad {
    const ALL: [Self; 4] = [Self::None, Self::Left, Self::Right, Self::Both];

    /// Its two bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Left => 1,
            Self::Right => 2,
            Self::Both => 3,
        }
    }

    /// The lowest two bits of `bits`.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::None,
            1 => Self::Left,
            2 => Self::Right,
            _ => Self::Both,
        }
    }

    /// Its word in logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Left => "left",
            Self::Right => "right",
            Self::Both => "both",
        }
    }

    /// The one with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pad| pad.name() == name)
    }
}

/// Why the board changes its setpoint, in four bits.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Adjustment(pub u8);

impl Adjustment {
    /// Nothing does.
    pub const NONE: Self = Self(0);
    /// Coming to the level after the start.
    pub const CENTERING: Self = Self(1);
    /// Stopping from riding backwards.
    pub const REVERSE_STOP: Self = Self(2);
    /// Pushback for speed, since 1.2.
    pub const SPEED: Self = Self(5);
    /// Pushback for the duty cycle.
    pub const DUTY: Self = Self(6);
    /// Pushback for a BMS error, since 1.2.
    pub const ERROR: Self = Self(7);
    /// Tiltback for high voltage.
    pub const HIGH_VOLTAGE: Self = Self(10);
    /// Tiltback for low voltage.
    pub const LOW_VOLTAGE: Self = Self(11);
    /// Tiltback for temperature.
    pub const TEMPERATURE: Self = Self(12);

    /// Its word in logs; `type 3` where it has none.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        named(self.0, known_adjustment(self.0), "type")
    }

    /// The one with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        (0..16).map(Self).find(|kind| kind.name() == name)
    }
}

fn known_adjustment(code: u8) -> Option<&'static str> {
    Some(match code {
        0 => "none",
        1 => "centering",
        2 => "reverse stop",
        5 => "speed pushback",
        6 => "duty pushback",
        7 => "error pushback",
        10 => "high voltage",
        11 => "low voltage",
        12 => "temperature",
        _ => return None,
    })
}

/// The byte of flags in a sample.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Flags(pub u8);

impl Flags {
    /// The byte that says all of these.
    #[must_use]
    pub const fn new(running: bool, wheelslip: bool, footpad: Footpad, adjustment: Adjustment) -> Self {
        Self(running as u8 | (wheelslip as u8) << 1 | footpad.bits() << 2 | adjustment.0 << 4)
    }

    /// Whether the board was engaged.
    #[must_use]
    pub const fn running(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether the wheel slipped.
    #[must_use]
    pub const fn wheelslip(self) -> bool {
        self.0 & 2 != 0
    }

    /// Which halves of the footpad were pressed.
    #[must_use]
    pub const fn footpad(self) -> Footpad {
        Footpad::from_bits(self.0 >> 2)
    }

    /// Why the setpoint changed.
    #[must_use]
    pub const fn adjustment(self) -> Adjustment {
        Adjustment(self.0 >> 4)
    }
}

/// `running, wheelslip, footpad both, duty pushback`.
impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.running() { "running" } else { "not running" })?;
        f.write_str(if self.wheelslip() { ", wheelslip" } else { "" })?;
        write!(f, ", footpad {}", self.footpad().name())?;
        match self.adjustment() {
            Adjustment::NONE => Ok(()),
            kind => write!(f, ", {}", kind.name()),
        }
    }
}

/// The four bytes of flags in live values.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct StateFlags(pub u32);

impl StateFlags {
    /// Bits of `mode`, `state` and `footpad`; `charging` and so on are one bit each.
    const MODE: u32 = 28;
    const STATE: u32 = 24;
    const FOOTPAD: u32 = 22;
    const CHARGING: u32 = 1 << 21;
    const FATAL_ERROR: u32 = 1 << 20;
    const DARKRIDE: u32 = 1 << 17;
    const WHEELSLIP: u32 = 1 << 16;
    const ADJUSTMENT: u32 = 12;
    const STOP_CONDITION: u32 = 8;

    /// 0 normal, 1 handtest, 2 flywheel.
    #[must_use]
    pub fn mode(self) -> u8 {
        self.bits(Self::MODE, 3)
    }

    /// The word of the mode.
    #[must_use]
    pub fn mode_name(self) -> Cow<'static, str> {
        let name = ["normal", "handtest", "flywheel"].get(usize::from(self.mode())).copied();
        named(self.mode(), name, "mode")
    }

    /// 0 disabled, 1 startup, 2 ready, 3 running.
    #[must_use]
    pub fn state(self) -> u8 {
        self.bits(Self::STATE, 3)
    }

    /// The word of the state.
    #[must_use]
    pub fn state_name(self) -> &'static str {
        match self.state() {
            0 => "disabled",
            1 => "startup",
            2 => "ready",
            _ => "running",
        }
    }

    /// Whether the board is engaged.
    #[must_use]
    pub fn running(self) -> bool {
        self.state() == 3
    }

    /// Which halves of the footpad are pressed.
    #[must_use]
    pub fn footpad(self) -> Footpad {
        Footpad::from_bits(self.bits(Self::FOOTPAD, 3))
    }

    /// Whether a charger is connected.
    #[must_use]
    pub const fn charging(self) -> bool {
        self.0 & Self::CHARGING != 0
    }

    /// Whether the board refuses to ride; 1.3 and later say so here.
    #[must_use]
    pub const fn fatal_error(self) -> bool {
        self.0 & Self::FATAL_ERROR != 0
    }

    /// Whether it rides upside down.
    #[must_use]
    pub const fn darkride(self) -> bool {
        self.0 & Self::DARKRIDE != 0
    }

    /// Whether the wheel slips.
    #[must_use]
    pub const fn wheelslip(self) -> bool {
        self.0 & Self::WHEELSLIP != 0
    }

    /// Why the setpoint changes.
    #[must_use]
    pub fn adjustment(self) -> Adjustment {
        Adjustment(self.bits(Self::ADJUSTMENT, 15))
    }

    /// Why the board disengaged last.
    #[must_use]
    pub fn stop_condition(self) -> u8 {
        self.bits(Self::STOP_CONDITION, 15)
    }

    /// The word of the stop condition.
    #[must_use]
    pub fn stop_condition_name(self) -> Cow<'static, str> {
        let names = ["none", "pitch", "roll", "switch half", "switch full", "reverse stop", "quickstop"];
        named(self.stop_condition(), names.get(usize::from(self.stop_condition())).copied(), "condition")
    }

    /// Why it beeped last.
    #[must_use]
    pub fn beep_reason(self) -> u8 {
        self.bits(0, 255)
    }

    /// The word of the beep reason.
    #[must_use]
    pub fn beep_reason_name(self) -> Cow<'static, str> {
        beep_reason_name(self.beep_reason())
    }

    /// The same with another mode.
    #[must_use]
    pub fn with_mode(self, mode: u8) -> Self {
        self.with(Self::MODE, 3, mode)
    }

    /// The same with another state.
    #[must_use]
    pub fn with_state(self, state: u8) -> Self {
        self.with(Self::STATE, 3, state)
    }

    /// The same with another footpad.
    #[must_use]
    pub fn with_footpad(self, footpad: Footpad) -> Self {
        self.with(Self::FOOTPAD, 3, footpad.bits())
    }

    /// The same with or without a charger.
    #[must_use]
    pub fn with_charging(self, on: bool) -> Self {
        self.with(21, 1, on.into())
    }

    /// The same with or without a fatal error.
    #[must_use]
    pub fn with_fatal_error(self, on: bool) -> Self {
        self.with(20, 1, on.into())
    }

    /// The same upside down or not.
    #[must_use]
    pub fn with_darkride(self, on: bool) -> Self {
        self.with(17, 1, on.into())
    }

    /// The same with or without wheelslip.
    #[must_use]
    pub fn with_wheelslip(self, on: bool) -> Self {
        self.with(16, 1, on.into())
    }

    /// The same with another adjustment.
    #[must_use]
    pub fn with_adjustment(self, kind: Adjustment) -> Self {
        self.with(Self::ADJUSTMENT, 15, kind.0)
    }

    /// The same with another stop condition.
    #[must_use]
    pub fn with_stop_condition(self, condition: u8) -> Self {
        self.with(Self::STOP_CONDITION, 15, condition)
    }

    /// The same with another beep reason.
    #[must_use]
    pub fn with_beep_reason(self, reason: u8) -> Self {
        self.with(0, 255, reason)
    }

    fn bits(self, at: u32, mask: u32) -> u8 {
        u8::try_from(self.0 >> at & mask).unwrap_or_default()
    }

    fn with(self, at: u32, mask: u32, value: u8) -> Self {
        Self(self.0 & !(mask << at) | (u32::from(value) & mask) << at)
    }
}

/// `running, footpad both, duty pushback`: what is as usual is left out.
impl fmt::Display for StateFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.state_name())?;
        if self.mode() != 0 {
            write!(f, ", {}", self.mode_name())?;
        }
        write!(f, ", footpad {}", self.footpad().name())?;
        let bits = [
            (self.charging(), "charging"),
            (self.fatal_error(), "fatal error"),
            (self.darkride(), "darkride"),
            (self.wheelslip(), "wheelslip"),
        ];
        bits.iter().filter(|(on, _)| *on).try_for_each(|(_, word)| write!(f, ", {word}"))?;
        if self.adjustment() != Adjustment::NONE {
            write!(f, ", {}", self.adjustment().name())?;
        }
        if self.stop_condition() != 0 {
            write!(f, ", stopped by {}", self.stop_condition_name())?;
        }
        if self.beep_reason() != 0 {
            write!(f, ", beeped for {}", self.beep_reason_name())?;
        }
        Ok(())
    }
}

/// The word of a beep reason; the compact reply has them too.
pub(super) fn beep_reason_name(reason: u8) -> Cow<'static, str> {
    let names = [
        "none",
        "low voltage",
        "high voltage",
        "MOSFET temperature",
        "motor temperature",
        "current",
        "duty",
        "sensors",
        "low battery",
        "idle",
        "error",
    ];
    named(reason, names.get(usize::from(reason)).copied(), "reason")
}

/// A name, or a word and the number where there is none.
fn named(code: u8, name: Option<&'static str>, what: &str) -> Cow<'static, str> {
    name.map_or_else(|| Cow::Owned(format!("{what} {code}")), Cow::Borrowed)
}
