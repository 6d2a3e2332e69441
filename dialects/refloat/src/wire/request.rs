//! What a client asks for.

use std::fmt;

use logpose_core::Cursor;

use super::{PACKAGE, WireError, WireErrorKind, id, show};

/// A request. Bytes behind the arguments are ignored, as the package does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Request {
    /// Who are you.
    Info {
        /// The version of the reply; 1 if it is absent.
        version: Option<u8>,
        /// Flags, read for version 2 alone; only with a version.
        flags: Option<u8>,
    },
    /// Live values in the compact form.
    Compact {
        /// How much of it, 1 to 4.
        mode: u8,
    },
    /// Live values in the order of the ids.
    Live,
    /// The ids of the live values.
    LiveIds,
    /// Live values chosen by bits.
    LiveMask {
        /// Bit 0: numbers as binary32.
        control: u8,
        /// The first 32 fields.
        mask1: u32,
        /// The other fields; none if it is absent.
        mask2: Option<u32>,
    },
    /// Alerts.
    Alerts {
        /// Only those behind this tick.
        since: Option<u32>,
    },
    /// Clear the fatal error.
    ClearFatal,
    /// What the recorder shall do.
    Control(Control),
    /// The header of the recording. It also stops the recorder.
    Header,
    /// Samples of the recording.
    Data {
        /// The number of the first one.
        offset: u32,
    },
}

/// What the recorder shall do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Control {
    /// Only report the status; 1.3 and later.
    Status,
    /// Empty the buffer and start, or stop.
    Record(bool),
    /// Start by itself when the board is engaged, or not.
    Autostart(bool),
    /// Stop by itself when the board disengages, or not.
    Autostop(bool),
    /// Keep one of so many samples; 1.3 and later.
    Decimation(u8),
    /// Something that no version knows: a board does nothing.
    Other {
        /// What.
        sub: u8,
        /// Its argument.
        value: u8,
    },
}

/// The first argument of a request to the recorder.
const CONTROL: u8 = 1;
const READ: u8 = 2;

impl Request {
    /// Reads a message.
    pub fn parse(message: &[u8]) -> Result<Self, WireError> {
        let (kind, mut cur) = show::begin(message)?;
        Ok(match kind {
            id::INFO => Self::Info { version: cur.u8("version").ok(), flags: cur.u8("flags").ok() },
            id::REALTIME => {
                let mode = cur.u8("mode")?;
                // Here alone the package wants the exact length.
                show::ends(&cur, "compact request")?;
                Self::Compact { mode }
            }
            id::LIVE => Self::Live,
            id::LIVE_IDS => Self::LiveIds,
            id::LIVE_MASK => Self::LiveMask {
                control: cur.u8("control")?,
                mask1: cur.u32_be("mask 1")?,
                mask2: cur.u32_be("mask 2").ok(),
            },
            id::ALERTS => Self::Alerts { since: cur.u32_be("since").ok() },
            id::CLEAR_FATAL => Self::ClearFatal,
            id::DATA_RECORD => Self::parse_recorder(&mut cur)?,
            found => return Err(WireError::new(1, WireErrorKind::Unknown { what: "command id", found })),
        })
    }

    fn parse_recorder(cur: &mut Cursor<'_>) -> Result<Self, WireError> {
        let at = cur.offset();
        let (mode, sub) = (cur.u8("mode")?, cur.u8("sub mode")?);
        Ok(match (mode, sub) {
            (CONTROL, 0) => Self::Control(Control::Status),
            (CONTROL, sub) => Self::Control(Control::new(sub, cur.u8("value")?)),
            (READ, 1) => Self::Header,
            (READ, 2) => Self::Data { offset: cur.u32_be("offset")? },
            (READ, found) => {
                return Err(WireError::new(at + 1, WireErrorKind::Unknown { what: "sub mode", found }));
            }
            (found, _) => return Err(WireError::new(at, WireErrorKind::Unknown { what: "mode", found })),
        })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[PACKAGE, self.id()]);
        match *self {
            Self::Info { version, flags } => {
                out.extend(version);
                out.extend(flags.filter(|_| version.is_some()));
            }
            Self::Compact { mode } => out.push(mode),
            Self::Live | Self::LiveIds => {}
            Self::LiveMask { control, mask1, mask2 } => {
                out.push(control);
                out.extend_from_slice(&mask1.to_be_bytes());
                out.extend(mask2.into_iter().flat_map(u32::to_be_bytes));
            }
            Self::Alerts { since } => out.extend(since.into_iter().flat_map(u32::to_be_bytes)),
            Self::ClearFatal => out.push(1),
            Self::Control(Control::Status) => out.extend_from_slice(&[CONTROL, 0]),
            Self::Control(control) => {
                let (sub, value) = control.parts();
                out.extend_from_slice(&[CONTROL, sub, value]);
            }
            Self::Header => out.extend_from_slice(&[READ, 1]),
            Self::Data { offset } => {
                out.extend_from_slice(&[READ, 2]);
                out.extend_from_slice(&offset.to_be_bytes());
            }
        }
    }

    /// The message's id.
    #[must_use]
    pub fn id(&self) -> u8 {
        match self {
            Self::Info { .. } => id::INFO,
            Self::Compact { .. } => id::REALTIME,
            Self::Live => id::LIVE,
            Self::LiveIds => id::LIVE_IDS,
            Self::LiveMask { .. } => id::LIVE_MASK,
            Self::Alerts { .. } => id::ALERTS,
            Self::ClearFatal => id::CLEAR_FATAL,
            Self::Control(_) | Self::Header | Self::Data { .. } => id::DATA_RECORD,
        }
    }

    /// The payload that carries the message, through the node `can` of the CAN bus if there is one.
    #[must_use]
    pub fn payload(&self, can: Option<u8>) -> Vec<u8> {
        let mut out = Vec::new();
        crate::vesc::forward(can, &[crate::vesc::command::APP_DATA], &mut out);
        self.emit(&mut out);
        out
    }
}

impl Control {
    /// The control with this number; whatever is not zero is on.
    #[must_use]
    pub fn new(sub: u8, value: u8) -> Self {
        match sub {
            0 => Self::Status,
            1 => Self::Record(value != 0),
            2 => Self::Autostart(value != 0),
            3 => Self::Autostop(value != 0),
            4 => Self::Decimation(value),
            sub => Self::Other { sub, value },
        }
    }

    /// Its number and its argument.
    #[must_use]
    pub fn parts(self) -> (u8, u8) {
        match self {
            Self::Status => (0, 0),
            Self::Record(on) => (1, on.into()),
            Self::Autostart(on) => (2, on.into()),
            Self::Autostop(on) => (3, on.into()),
            Self::Decimation(n) => (4, n),
            Self::Other { sub, value } => (sub, value),
        }
    }
}

/// `start recording`, `data at 20`.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Info { version: None, .. } => f.write_str("info"),
            Self::Info { version: Some(version), flags: None } => write!(f, "info version {version}"),
            Self::Info { version: Some(version), flags: Some(flags) } => {
                write!(f, "info version {version}, flags {flags:#04x}")
            }
            Self::Compact { mode } => write!(f, "compact live values, mode {mode}"),
            Self::Live => f.write_str("live values"),
            Self::LiveIds => f.write_str("live ids"),
            Self::LiveMask { control, mask1, mask2 } => {
                write!(f, "live values by mask {mask1:08x} {:08x}, control {control}", mask2.unwrap_or_default())
            }
            Self::Alerts { since: None } => f.write_str("alerts"),
            Self::Alerts { since: Some(tick) } => write!(f, "alerts since tick {tick}"),
            Self::ClearFatal => f.write_str("clear the fatal error"),
            Self::Control(control) => control.fmt(f),
            Self::Header => f.write_str("send the header"),
            Self::Data { offset } => write!(f, "send data at {offset}"),
        }
    }
}

/// `start recording`, `autostart off`.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Status => f.write_str("recorder status"),
            Self::Record(true) => f.write_str("start recording"),
            Self::Record(false) => f.write_str("stop recording"),
            Self::Autostart(on) => write!(f, "autostart {}", show::switch(on)),
            Self::Autostop(on) => write!(f, "autostop {}", show::switch(on)),
            Self::Decimation(n) => write!(f, "decimation {n}"),
            Self::Other { sub, value } => write!(f, "recorder control {sub}, value {value}"),
        }
    }
}
