use std::time::Duration;

use crate::pd::PowerDistribution;
use crate::wire::CanMetrics;

/// What a simulated robot can be made to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The battery has another voltage, in volts.
    Battery(f64),
    /// The voltage goes there in a straight line.
    BatteryOver {
        /// Volts in the end.
        volts: f64,
        /// How long it takes.
        over: Duration,
    },
    /// The load of each core in percent: time critical, above normal, normal, low.
    Cpu(Vec<[f32; 4]>),
    /// The CAN bus is like this.
    Can(CanMetrics),
    /// Bytes free on the disk.
    Disk(u32),
    /// Bytes free in memory.
    Ram(u32),
    /// What the power distribution says, if there is one.
    Pd(Option<PowerDistribution>),
    /// The voltage is too low for the outputs, or not any more.
    Brownout(bool),
    /// The program ends or starts.
    Code(bool),
    /// The program prints a line.
    Print(String),
    /// The program reports an error or a warning.
    Error(Fault),
    /// The system sends a text of the old kind.
    Text(String),
    /// It hears and says nothing for so long.
    Silence(Duration),
    /// This share of the replies is lost.
    Drop(f64),
    /// This share of the replies is overtaken by the next one.
    Reorder(f64),
    /// This share of the replies comes twice.
    Duplicate(f64),
    /// Replies come later by `delay` and up to `jitter` more.
    Delay {
        /// How much at least.
        delay: Duration,
        /// How much more at most.
        jitter: Duration,
    },
    /// It has another device.
    Version(DeviceVersion),
    /// How often it was disabled by its watchdog and by a brownout.
    Faults {
        /// By the watchdog.
        comms: u16,
        /// By a brownout.
        brownouts: u16,
    },
    /// How often each rail failed: 6 V, 5 V, 3.3 V.
    Rails([u16; 3]),
    /// The program sets the outputs and the rumble of a stick, from 0 to 1.
    Output {
        /// Which stick, from 0.
        port: u8,
        /// Output 1 is bit 0.
        bits: u32,
        /// The left rumble.
        left: f64,
        /// The right rumble.
        right: f64,
    },
    /// It reboots.
    Reboot,
}

/// An error or a warning, as a program reports it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Fault {
    /// An error; a warning if not.
    pub error: bool,
    /// Its code.
    pub code: i32,
    /// What went wrong.
    pub details: String,
    /// Where.
    pub location: String,
    /// The call stack.
    pub stack: String,
}

/// One device and its version.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeviceVersion {
    /// What it is: 0 software, 2 CAN Talon, 8 PDP, 9 PCM, 21 Pigeon.
    pub kind: u8,
    /// Its CAN ID.
    pub id: u8,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
