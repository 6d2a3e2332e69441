use crate::wire::{Descriptor, Joystick, axis_to_raw, axis_value};

/// Axes that a stick has at most.
pub const AXES: usize = 12;
/// Buttons that robot code keeps at most.
pub const BUTTONS: usize = 32;
/// POVs that a stick has at most.
pub const POVS: usize = 12;

/// A released POV.
pub const POV_RELEASED: i16 = -1;

/// Where the parts of a stick are. What is more than a stick can have is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JoystickState {
    /// From -1 to 1; what lies outside is taken as the nearest.
    pub axes: Vec<f32>,
    /// Which buttons are down, button 1 first.
    pub buttons: Vec<bool>,
    /// Degrees clockwise from the front, or [`POV_RELEASED`].
    pub povs: Vec<i16>,
}

impl JoystickState {
    /// A stick that nobody touches.
    #[must_use]
    pub fn at_rest(axes: usize, buttons: usize, povs: usize) -> Self {
        let mut state = Self::default();
        state.widen(axes, buttons, povs);
        state
    }

    /// What a joystick tag says.
    #[must_use]
    pub fn of_wire(stick: &Joystick<'_>) -> Self {
        Self {
            axes: stick.axes().map(axis_value).collect(),
            buttons: stick.buttons().collect(),
            povs: stick.povs().collect(),
        }
    }

    /// Gives it more axes, buttons and POVs at rest, if it has fewer.
    pub fn widen(&mut self, axes: usize, buttons: usize, povs: usize) {
        self.axes.resize(axes.max(self.axes.len()), 0.0);
        self.buttons.resize(buttons.max(self.buttons.len()), false);
        self.povs.resize(povs.max(self.povs.len()), POV_RELEASED);
    }

    /// Appends the joystick tag.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let axes: Vec<i8> = self.axes.iter().take(AXES).map(|axis| axis_to_raw(*axis)).collect();
        let buttons: Vec<bool> = self.buttons.iter().take(BUTTONS).copied().collect();
        let povs: Vec<i16> = self.povs.iter().take(POVS).copied().collect();
        Joystick::emit_tag(&axes, &buttons, &povs, out);
    }
}

/// What a station sends about a stick.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Whether it is an Xbox controller.
    pub xbox: bool,
    /// What it is: -1 absent, 1 gamepad, 20 joystick, 21 gamepad without XInput; section 7 of the specification has all.
    pub kind: i8,
    /// What each axis is: 0 X, 1 Y, 2 Z, 3 twist, 4 throttle.
    pub axes: Vec<u8>,
    /// How many buttons it has.
    pub buttons: u8,
    /// How many POVs it has.
    pub povs: u8,
}

impl Description {
    /// The kind of a place without a stick.
    pub const ABSENT: i8 = -1;
    /// The kind of a gamepad that speaks XInput.
    pub const GAMEPAD: i8 = 1;
    /// The kind of a joystick that is no XInput device.
    pub const HID_JOYSTICK: i8 = 20;

    /// A stick with the parts of `state`.
    #[must_use]
    pub fn of_state(name: &str, state: &JoystickState) -> Self {
        Self {
            name: name.into(),
            xbox: false,
            kind: Self::HID_JOYSTICK,
            axes: (0..).take(state.axes.len().min(AXES)).collect(),
            buttons: u8::try_from(state.buttons.len().min(BUTTONS)).unwrap_or(u8::MAX),
            povs: u8::try_from(state.povs.len().min(POVS)).unwrap_or(u8::MAX),
        }
    }

    pub(super) fn wire(&self, index: u8) -> Descriptor<'_> {
        Descriptor {
            index,
            xbox: self.xbox.into(),
            kind: self.kind,
            name: self.name.as_bytes(),
            axes: &self.axes,
            buttons: self.buttons,
            povs: self.povs,
            rest: &[],
        }
    }

    pub(super) fn of_wire(descriptor: &Descriptor<'_>) -> Self {
        Self {
            name: String::from_utf8_lossy(descriptor.name).into_owned(),
            xbox: descriptor.xbox != 0,
            kind: descriptor.kind,
            axes: descriptor.axes.into(),
            buttons: descriptor.buttons,
            povs: descriptor.povs,
        }
    }

    /// The same stick, pulled out: a station remembers its name.
    #[must_use]
    pub fn unplugged(self) -> Self {
        Self { name: self.name, ..Self::default() }
    }

    /// A stick at rest that has these parts.
    #[must_use]
    pub fn at_rest(&self) -> JoystickState {
        JoystickState::at_rest(self.axes.len(), self.buttons.into(), self.povs.into())
    }
}

/// A place without a stick.
impl Default for Description {
    fn default() -> Self {
        Self { name: String::new(), xbox: false, kind: Self::ABSENT, axes: Vec::new(), buttons: 0, povs: 0 }
    }
}
