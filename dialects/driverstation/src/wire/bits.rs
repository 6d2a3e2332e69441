//! Bytes of flags. Bits without a name are kept.

use std::fmt;

use super::show::Words;

/// A byte of flags: a newtype with a question and a setter for each named bit.
macro_rules! bits {
    ($(#[$doc:meta])* $name:ident { $($(#[$bit_doc:meta])* $get:ident $with:ident $word:literal $mask:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
        pub struct $name(pub u8);

        impl $name {
            $(
                $(#[$bit_doc])*
                #[must_use]
                pub const fn $get(self) -> bool {
                    self.0 & $mask != 0
                }

                #[doc = concat!("The same with [`", stringify!($get), "`](Self::", stringify!($get), ") as given.")]
                #[must_use]
                pub const fn $with(self, on: bool) -> Self {
                    Self(if on { self.0 | $mask } else { self.0 & !$mask })
                }
            )*

            const NAMED: &[(u8, &str)] = &[$(($mask, $word)),*];
        }
    };
}

bits! {
    /// What the station asks for: byte 3 of a control packet.
    ControlBits {
        /// Emergency stop.
        estop with_estop "estop" 0x80,
        /// A field is attached.
        fms_attached with_fms_attached "fms" 0x08,
        /// The robot is to be enabled.
        enabled with_enabled "enabled" 0x04,
    }
}

bits! {
    /// What the station wants besides: byte 4 of a control packet.
    RequestBits {
        /// LibDS sets this one in place of `connected`.
        libds_connected with_libds_connected "connected (LibDS)" 0x80,
        /// The station has heard of the robot.
        connected with_connected "connected" 0x10,
        /// Reboot the roboRIO.
        reboot with_reboot "reboot" 0x08,
        /// Restart the robot's program.
        restart_code with_restart_code "restart code" 0x04,
        /// Send the list of device versions over TCP.
        versions with_versions "versions" 0x01,
    }
}

bits! {
    /// How the robot is: byte 3 of a status packet.
    StatusBits {
        /// It was stopped for an emergency.
        estop with_estop "estop" 0x80,
        /// The voltage is too low for its outputs.
        brownout with_brownout "brownout" 0x10,
        /// The user's program has just started. WPILib's simulator has the station's FMS bit here.
        code_start with_code_start "code start" 0x08,
        /// It is enabled.
        enabled with_enabled "enabled" 0x04,
    }
}

bits! {
    /// What the user's program has reported since the last packet: byte 4 of a status packet.
    TraceBits {
        /// There is a program.
        code with_code "code" 0x20,
        /// This is a roboRIO and no simulator.
        roborio with_roborio "roboRIO" 0x10,
        /// The program is in its test loop.
        test with_test "test" 0x08,
        /// The program is in its autonomous loop.
        autonomous with_autonomous "autonomous" 0x04,
        /// The program is in its teleop loop.
        teleop with_teleop "teleop" 0x02,
        /// The program is in its disabled loop.
        disabled with_disabled "disabled" 0x01,
    }
}

bits! {
    /// What an error message is.
    ErrorFlags {
        /// The code is from NI's list of LabVIEW codes.
        labview with_labview "LabVIEW code" 0x02,
        /// An error; a warning if not.
        error with_error "error" 0x01,
    }
}

/// What the robot is to do when it is enabled, or does.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Mode {
    /// People drive.
    #[default]
    Teleop,
    /// The program tests itself.
    Test,
    /// The program drives.
    Autonomous,
    /// The fourth value, which nobody has seen.
    Reserved,
}

impl Mode {
    const MASK: u8 = 0x03;

    const fn of(bits: u8) -> Self {
        match bits & Self::MASK {
            0 => Self::Teleop,
            1 => Self::Test,
            2 => Self::Autonomous,
            _ => Self::Reserved,
        }
    }

    const fn into(self, bits: u8) -> u8 {
        bits & !Self::MASK | self as u8
    }

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Teleop => "teleop",
            Self::Test => "test",
            Self::Autonomous => "autonomous",
            Self::Reserved => "mode 3",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ControlBits {
    /// The mode asked for.
    #[must_use]
    pub const fn mode(self) -> Mode {
        Mode::of(self.0)
    }

    /// The same with another mode.
    #[must_use]
    pub const fn with_mode(self, mode: Mode) -> Self {
        Self(mode.into(self.0))
    }
}

impl StatusBits {
    /// The mode the robot is in.
    #[must_use]
    pub const fn mode(self) -> Mode {
        Mode::of(self.0)
    }

    /// The same with another mode.
    #[must_use]
    pub const fn with_mode(self, mode: Mode) -> Self {
        Self(mode.into(self.0))
    }
}

impl fmt::Display for ControlBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Words::new(f);
        words.put(self.mode())?;
        put_bits(&mut words, self.0 & !Mode::MASK, Self::NAMED)
    }
}

impl fmt::Display for RequestBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("no request");
        }
        put_bits(&mut Words::new(f), self.0, Self::NAMED)
    }
}

impl fmt::Display for StatusBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Words::new(f);
        words.put(self.mode())?;
        put_bits(&mut words, self.0 & !Mode::MASK, Self::NAMED)
    }
}

impl fmt::Display for TraceBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("no trace");
        }
        put_bits(&mut Words::new(f), self.0, Self::NAMED)
    }
}

impl fmt::Display for ErrorFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        put_bits(&mut Words::new(f), self.0, Self::NAMED)
    }
}

/// The words of the bits that are set, and in hex those that have none.
fn put_bits(words: &mut Words<'_, '_>, bits: u8, named: &[(u8, &str)]) -> fmt::Result {
    let set = named.iter().filter(|(mask, _)| bits & mask != 0);
    set.clone().try_for_each(|(_, word)| words.put(word))?;
    match set.fold(bits, |rest, (mask, _)| rest & !mask) {
        0 => Ok(()),
        unknown => words.put(format_args!("bits {unknown:02x}")),
    }
}
