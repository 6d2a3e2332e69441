//! TCP messages from the robot to the station.

use std::fmt;

use logpose_core::{Cursor, Hex};

use super::WireError;
use super::bits::ErrorFlags;
use super::framing::{put_long, put_message, put_short};
use super::show::{Quoted, extra};

const TEXT: u8 = 0x00;
const USAGE: u8 = 0x01;
const DISABLE_FAULTS: u8 = 0x04;
const RAIL_FAULTS: u8 = 0x05;
const VERSION: u8 = 0x0a;
const ERROR: u8 = 0x0b;
const CONSOLE: u8 = 0x0c;
/// Sent once after connecting; what it says is not known.
const GREETING: u8 = 0x0d;

/// A message from the robot, borrowed from its bytes. `rest` is what stands behind the known layout.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "`rest` is said above")]
pub enum ToStation<'a> {
    /// No id and no data.
    KeepAlive,
    /// `00`: text, mostly of the radio and of reboots.
    Text(&'a [u8]),
    /// `01`: what of WPILib the program uses.
    Usage(UsageReport<'a>),
    /// `04`: how often the robot disabled itself.
    DisableFaults {
        /// Because no packet came.
        comms: u16,
        /// Because the voltage was too low.
        brownout_12v: u16,
        rest: &'a [u8],
    },
    /// `05`: how often the rails for sensors and servos failed.
    RailFaults {
        /// 6 V; the Driver Station calls it 12 V.
        v6: u16,
        /// 5 V.
        v5: u16,
        /// 3.3 V.
        v3_3: u16,
        rest: &'a [u8],
    },
    /// `0a`: what version a device or a program has.
    Version(Version<'a>),
    /// `0b`: an error or a warning.
    Error(ErrorMessage<'a>),
    /// `0c`: a line that the program printed.
    Console(Console<'a>),
    /// What nobody knows, `0d` among them.
    Unknown {
        /// What it is.
        id: u8,
        /// What stands behind the id.
        data: &'a [u8],
    },
}

impl<'a> ToStation<'a> {
    /// Reads what stands behind the size of a message.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = Cursor::new(body, 0);
        if cur.is_empty() {
            return Ok(Self::KeepAlive);
        }
        let id = cur.u8("message id")?;
        Ok(match id {
            TEXT => Self::Text(cur.rest()),
            USAGE => Self::Usage(UsageReport::parse(&mut cur)?),
            DISABLE_FAULTS => {
                let (comms, brownout_12v) = (cur.u16_be("comms faults")?, cur.u16_be("12 V faults")?);
                Self::DisableFaults { comms, brownout_12v, rest: cur.rest() }
            }
            RAIL_FAULTS => {
                let v6 = cur.u16_be("6 V faults")?;
                let v5 = cur.u16_be("5 V faults")?;
                let v3_3 = cur.u16_be("3.3 V faults")?;
                Self::RailFaults { v6, v5, v3_3, rest: cur.rest() }
            }
            VERSION => Self::Version(Version::parse(&mut cur)?),
            ERROR => Self::Error(ErrorMessage::parse(&mut cur)?),
            CONSOLE => Self::Console(Console::parse(&mut cur)?),
            _ => Self::Unknown { id, data: cur.rest() },
        })
    }

    /// Whether this is a message whose layout is known and fits. Robots send no keepalives.
    pub(super) fn is_known(body: &'a [u8]) -> bool {
        match Self::parse(body) {
            Err(_) | Ok(Self::KeepAlive) => false,
            Ok(Self::Unknown { id, .. }) => id == GREETING,
            Ok(_) => true,
        }
    }

    /// What stands behind the known layout.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self {
            Self::DisableFaults { rest, .. } | Self::RailFaults { rest, .. } => rest,
            Self::Version(version) => version.rest,
            Self::Error(error) => error.rest,
            Self::KeepAlive | Self::Text(_) | Self::Usage(_) | Self::Console(_) | Self::Unknown { .. } => &[],
        }
    }

    /// Appends size, id and data. What a length cannot say is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        put_message(out, |out| match self {
            Self::KeepAlive => {}
            Self::Text(text) => put(TEXT, out, &[text]),
            Self::Usage(report) => put(USAGE, out, &[report.head, report.entries]),
            Self::DisableFaults { comms, brownout_12v, rest } => {
                put(DISABLE_FAULTS, out, &[&comms.to_be_bytes(), &brownout_12v.to_be_bytes(), rest]);
            }
            Self::RailFaults { v6, v5, v3_3, rest } => {
                put(RAIL_FAULTS, out, &[&v6.to_be_bytes(), &v5.to_be_bytes(), &v3_3.to_be_bytes(), rest]);
            }
            Self::Version(version) => version.emit(out),
            Self::Error(error) => error.emit(out),
            Self::Console(console) => console.emit(out),
            Self::Unknown { id, data } => put(*id, out, &[data]),
        });
    }
}

fn put(id: u8, out: &mut Vec<u8>, fields: &[&[u8]]) {
    out.push(id);
    fields.iter().for_each(|field| out.extend_from_slice(field));
}

impl fmt::Display for ToStation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepAlive => f.write_str("keepalive"),
            Self::Text(text) => write!(f, "text {}", Quoted(text)),
            Self::Usage(report) => write!(f, "usage {}, {}", Hex(report.head), Quoted(report.entries)),
            Self::DisableFaults { comms, brownout_12v, .. } => {
                write!(f, "disabled {comms} times by the watchdog, {brownout_12v} times by brownout")
            }
            Self::RailFaults { v6, v5, v3_3, .. } => write!(f, "rail faults 6 V {v6}, 5 V {v5}, 3.3 V {v3_3}"),
            Self::Version(version) => write!(f, "{version}"),
            Self::Error(error) => write!(f, "{error}"),
            Self::Console(console) => write!(f, "{console}"),
            Self::Unknown { id, data } => write!(f, "message {id:02x} {}", Hex(data)),
        }?;
        extra(f, self.rest())
    }
}

/// What of WPILib the program uses. Nobody has published one as it is on the wire.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UsageReport<'a> {
    /// What stands in front of the entries: presumably the team's number in two bytes, and one more.
    pub head: &'a [u8],
    /// The entries, to be read with [`usage`](crate::usage).
    pub entries: &'a [u8],
}

impl<'a> UsageReport<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let begins = |n: usize| cur.rest().get(n..).is_some_and(|text| text.starts_with(b"V1"));
        let head = [2, 1].into_iter().find(|n| begins(*n)).unwrap_or(3);
        let head = cur.take(head as u64, "usage report")?;
        Ok(Self { head, entries: cur.rest() })
    }
}

/// What version a device or a program has.
///
/// ```text
/// type u8 | unknown u16 | id u8 | n u8 | name: n | m u8 | version: m
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Version<'a> {
    /// 0 software, 2 Talon, 8 PDP, 9 PCM, 21 Pigeon.
    pub kind: u8,
    /// 0 so far.
    pub unknown: u16,
    /// Its number on the CAN bus.
    pub id: u8,
    /// What it is called.
    pub name: &'a [u8],
    /// Its version.
    pub version: &'a [u8],
    /// Bytes behind the layout.
    pub rest: &'a [u8],
}

impl<'a> Version<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let kind = cur.u8("device type")?;
        let unknown = cur.u16_be("device type")?;
        let id = cur.u8("device id")?;
        let name = cur.u8("name length")?;
        let name = cur.take(name.into(), "name")?;
        let version = cur.u8("version length")?;
        let version = cur.take(version.into(), "version")?;
        Ok(Self { kind, unknown, id, name, version, rest: cur.rest() })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put(VERSION, out, &[&[self.kind], &self.unknown.to_be_bytes(), &[self.id]]);
        put_short(self.name, out);
        put_short(self.version, out);
        out.extend_from_slice(self.rest);
    }

    /// Whether this is no version but the end of the list.
    #[must_use]
    pub fn is_end(&self) -> bool {
        self.name.is_empty() && self.version.is_empty()
    }
}

impl fmt::Display for Version<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_end() {
            return f.write_str("end of versions");
        }
        write!(f, "version type {} id {}: {} {}", self.kind, self.id, Quoted(self.name), Quoted(self.version))
    }
}

/// An error or a warning.
///
/// ```text
/// time f32 | sequence u16 | count u16 | code i32 | flags u8 | details, location, call stack: each n u16 | text: n
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorMessage<'a> {
    /// Seconds since this station connected; before that they are negative.
    pub time: f32,
    /// One count for errors and console lines. It begins anew with the program.
    pub sequence: u16,
    /// How often; 1 so far.
    pub count: u16,
    /// Which error.
    pub code: i32,
    /// Error or warning.
    pub flags: ErrorFlags,
    /// What is wrong.
    pub details: &'a [u8],
    /// Where in the program.
    pub location: &'a [u8],
    /// How the program came there.
    pub stack: &'a [u8],
    /// Bytes behind the layout.
    pub rest: &'a [u8],
}

impl<'a> ErrorMessage<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let time = f32::from_bits(cur.u32_be("time")?);
        let sequence = cur.u16_be("sequence")?;
        let count = cur.u16_be("count")?;
        let code = cur.u32_be("error code")?.cast_signed();
        let flags = ErrorFlags(cur.u8("flags")?);
        let mut text = |what| {
            let n = cur.u16_be(what)?;
            cur.take(n.into(), what)
        };
        let (details, location, stack) = (text("details")?, text("location")?, text("call stack")?);
        Ok(Self { time, sequence, count, code, flags, details, location, stack, rest: cur.rest() })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put(ERROR, out, &[&self.time.to_bits().to_be_bytes(), &self.sequence.to_be_bytes()]);
        out.extend_from_slice(&self.count.to_be_bytes());
        out.extend_from_slice(&self.code.to_be_bytes());
        out.push(self.flags.0);
        [self.details, self.location, self.stack].iter().for_each(|text| put_long(text, out));
        out.extend_from_slice(self.rest);
    }
}

impl fmt::Display for ErrorMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.flags.error() { "error" } else { "warning" };
        write!(f, "{word} {} at {} s #{}: {}", self.code, self.time, self.sequence, Quoted(self.details))?;
        for text in [self.location, self.stack].iter().filter(|text| !text.is_empty()) {
            write!(f, ", {}", Quoted(text))?;
        }
        Ok(())
    }
}

/// A line that the program printed.
///
/// ```text
/// time f32 | sequence u16 | text without its end of line
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Console<'a> {
    /// Seconds since this station connected; before that they are negative.
    pub time: f32,
    /// One count for errors and console lines; 0 for lines of the system itself.
    pub sequence: u16,
    /// The line.
    pub text: &'a [u8],
}

impl<'a> Console<'a> {
    fn parse(cur: &mut Cursor<'a>) -> Result<Self, WireError> {
        let time = f32::from_bits(cur.u32_be("time")?);
        Ok(Self { time, sequence: cur.u16_be("sequence")?, text: cur.rest() })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        put(CONSOLE, out, &[&self.time.to_bits().to_be_bytes(), &self.sequence.to_be_bytes(), self.text]);
    }
}

impl fmt::Display for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "console at {} s #{}: {}", self.time, self.sequence, Quoted(self.text))
    }
}
