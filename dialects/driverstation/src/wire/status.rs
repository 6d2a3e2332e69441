//! Status packets, from the robot to the station.

use std::fmt;

use logpose_core::{Cursor, Hex, Truncated};

use super::WireError;
use super::bits::{StatusBits, TraceBits};
use super::joystick::JoystickOutput;
use super::show::{Words, extra};
use super::tags::{RawTag, TagProblem, Tags, put_tag};
use crate::pd::{self, PowerDistribution};

const DISK: u8 = 0x04;
const CPU: u8 = 0x05;
const RAM: u8 = 0x06;
const POWER_DISTRIBUTION: u8 = 0x08;
const ENERGY: u8 = 0x09;
const CAN: u8 = 0x0e;

/// A status packet, one for each control packet, borrowed from its datagram.
///
/// ```text
/// sequence u16 | version u8 | status u8 | trace u8 | battery u16 | request date u8 | tags
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status<'a> {
    /// The number of the control packet that this answers.
    pub sequence: u16,
    /// 1 since 2015.
    pub version: u8,
    /// How the robot is.
    pub status: StatusBits,
    /// What its program reports.
    pub trace: TraceBits,
    /// Volts × 256; [`Status::volts`] has the volts.
    pub battery: u16,
    /// Not 0 until the robot knows what time it is.
    pub request_date: u8,
    /// The rest of the datagram.
    pub tags: Tags<'a>,
}

impl<'a> Status<'a> {
    /// Bytes in front of the tags.
    pub const HEADER: usize = 8;

    /// Reads a datagram. Tags are looked at when they are walked.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let mut cur = Cursor::new(datagram, 0);
        let [s0, s1, version, status, trace, b0, b1, request_date] = *cur.array("a status packet")?;
        Ok(Self {
            sequence: u16::from_be_bytes([s0, s1]),
            version,
            status: StatusBits(status),
            trace: TraceBits(trace),
            battery: u16::from_be_bytes([b0, b1]),
            request_date,
            tags: Tags::new(cur.rest(), Self::HEADER),
        })
    }

    /// Appends the datagram, the tags as they came.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sequence.to_be_bytes());
        out.extend_from_slice(&[self.version, self.status.0, self.trace.0]);
        out.extend_from_slice(&self.battery.to_be_bytes());
        out.push(self.request_date);
        out.extend_from_slice(self.tags.bytes());
    }

    /// The battery's voltage. While the robot asks for the date there is nonsense in the field.
    #[must_use]
    pub fn volts(&self) -> Option<f64> {
        (self.request_date == 0).then(|| f64::from(self.battery) / 256.0)
    }
}

/// `#7 teleop; code, roboRIO, disabled; 9.10 V`.
impl fmt::Display for Status<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {}; {}; ", self.sequence, self.status, self.trace)?;
        match self.volts() {
            Some(volts) => write!(f, "{volts:.2} V")?,
            None => f.write_str("date wanted")?,
        }
        for tag in self.tags {
            match tag.and_then(StatusTag::parse) {
                Ok(tag) => write!(f, "; {tag}")?,
                Err(problem) => write!(f, "; {problem}")?,
            }
        }
        Ok(())
    }
}

/// Volts as the battery field has them; what is beyond stops at its ends, NaN is 0.
#[must_use]
pub fn volts_to_raw(volts: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts from floats stop at the ends of the range"
    )]
    let raw = (volts * 256.0).round() as u16;
    raw
}

/// What a tag of a status packet says. `rest` is what stands behind the known layout.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "`rest` is said above")]
pub enum StatusTag<'a> {
    /// `01`: what the robot wants of a stick. Its place among these tags is the stick's number.
    JoystickOutput {
        /// `None` is a tag without data: nothing.
        output: Option<JoystickOutput>,
        rest: &'a [u8],
    },
    /// `04`: room on the disk.
    Disk {
        /// Free bytes.
        free: u64,
        rest: &'a [u8],
    },
    /// `05`: what the processor does.
    Cpu {
        /// Its cores.
        cores: Cores<'a>,
        rest: &'a [u8],
    },
    /// `06`: room in the memory.
    Ram {
        /// Free bytes.
        free: u64,
        rest: &'a [u8],
    },
    /// `08`: currents of the power distribution.
    PowerDistribution {
        /// The panel and what it says.
        pd: PowerDistribution,
        rest: &'a [u8],
    },
    /// `09`: presumably the energy of the power distribution; nobody has seen one.
    Energy(&'a [u8]),
    /// `0e`: how the CAN bus does.
    Can {
        /// Its counters.
        can: CanMetrics,
        rest: &'a [u8],
    },
    /// What nobody knows.
    Unknown(RawTag<'a>),
}

impl<'a> StatusTag<'a> {
    /// The id of the tags with what sticks are to do.
    pub const JOYSTICK_OUTPUT: u8 = 0x01;

    /// Looks into a tag.
    pub fn parse(tag: RawTag<'a>) -> Result<Self, TagProblem> {
        Self::parse_data(tag).map_err(|error| tag.too_short(error))
    }

    fn parse_data(tag: RawTag<'a>) -> Result<Self, WireError> {
        let mut cur = tag.cursor();
        Ok(match tag.id {
            Self::JOYSTICK_OUTPUT if cur.is_empty() => Self::JoystickOutput { output: None, rest: &[] },
            Self::JOYSTICK_OUTPUT => {
                let output = Some(JoystickOutput::parse(&mut cur)?);
                Self::JoystickOutput { output, rest: cur.rest() }
            }
            DISK => {
                let free = cur.u64_be("free disk")?;
                Self::Disk { free, rest: cur.rest() }
            }
            CPU => {
                let cores = cur.u8("core count")?;
                let cores = Cores { bytes: cur.take(16 * u64::from(cores), "cores")? };
                Self::Cpu { cores, rest: cur.rest() }
            }
            RAM => {
                let free = cur.u64_be("free RAM")?;
                Self::Ram { free, rest: cur.rest() }
            }
            POWER_DISTRIBUTION => {
                let (needed, left) = (pd::PDP_LEN as u64, tag.data.len() as u64);
                let short = Truncated { at: cur.offset(), what: "power distribution", needed, left };
                let (pd, rest) = PowerDistribution::split(tag.data).ok_or(short)?;
                Self::PowerDistribution { pd, rest }
            }
            ENERGY => Self::Energy(tag.data),
            CAN => {
                let can = CanMetrics::parse(&mut cur)?;
                Self::Can { can, rest: cur.rest() }
            }
            _ => Self::Unknown(tag),
        })
    }

    /// What stands behind the known layout.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        match self {
            Self::JoystickOutput { rest, .. }
            | Self::Disk { rest, .. }
            | Self::Cpu { rest, .. }
            | Self::Ram { rest, .. }
            | Self::PowerDistribution { rest, .. }
            | Self::Can { rest, .. } => rest,
            Self::Energy(_) | Self::Unknown(_) => &[],
        }
    }

    /// Appends the tag. What one size byte cannot say is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::JoystickOutput { output, rest } => put_tag(Self::JOYSTICK_OUTPUT, out, |out| {
                if let Some(output) = output {
                    output.emit(out);
                }
                out.extend_from_slice(rest);
            }),
            Self::Disk { free, rest } => put_free(DISK, *free, rest, out),
            Self::Ram { free, rest } => put_free(RAM, *free, rest, out),
            Self::Cpu { cores, rest } => put_tag(CPU, out, |out| {
                out.push(u8::try_from(cores.len()).unwrap_or(u8::MAX));
                out.extend_from_slice(cores.bytes);
                out.extend_from_slice(rest);
            }),
            Self::PowerDistribution { pd, rest } => put_tag(POWER_DISTRIBUTION, out, |out| {
                pd.emit(out);
                out.extend_from_slice(rest);
            }),
            Self::Energy(data) => put_tag(ENERGY, out, |out| out.extend_from_slice(data)),
            Self::Can { can, rest } => put_tag(CAN, out, |out| {
                can.emit(out);
                out.extend_from_slice(rest);
            }),
            Self::Unknown(tag) => tag.emit(out),
        }
    }
}

fn put_free(id: u8, free: u64, rest: &[u8], out: &mut Vec<u8>) {
    put_tag(id, out, |out| {
        out.extend_from_slice(&free.to_be_bytes());
        out.extend_from_slice(rest);
    });
}

impl fmt::Display for StatusTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JoystickOutput { output: None, .. } => f.write_str("no joystick output"),
            Self::JoystickOutput { output: Some(output), .. } => write!(f, "joystick {output}"),
            Self::Disk { free, .. } => write!(f, "disk {free} B free"),
            Self::Cpu { cores, .. } => write!(f, "CPU {cores}"),
            Self::Ram { free, .. } => write!(f, "RAM {free} B free"),
            Self::PowerDistribution { pd, .. } => write!(f, "{pd}"),
            Self::Energy(data) => write!(f, "energy {}", Hex(data)),
            Self::Can { can, .. } => write!(f, "{can}"),
            Self::Unknown(tag) => write!(f, "{tag}"),
        }?;
        extra(f, self.rest())
    }
}

/// What each core of the processor does, borrowed from its tag: percentages of its time by priority of the threads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cores<'a> {
    bytes: &'a [u8],
}

impl<'a> Cores<'a> {
    /// The classes of threads, in the order of the numbers of a core.
    pub const CLASSES: [&'static str; 4] = ["time_critical", "above_normal", "normal", "low"];

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / 16
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Percentages of each core, one for each of the [`Cores::CLASSES`].
    pub fn iter(&self) -> impl ExactSizeIterator<Item = [f32; 4]> + use<'a> {
        let core = |core: &[[u8; 4]]| -> [f32; 4] {
            let mut classes = core.iter().map(|class| f32::from_be_bytes(*class));
            std::array::from_fn(|_| classes.next().unwrap_or_default())
        };
        self.bytes.as_chunks().0.chunks_exact(4).map(core)
    }

    /// The share of its time that the processor was busy: the mean over the cores of the sums of all classes, as a
    /// fraction. `None` without cores.
    #[must_use]
    pub fn busy(&self) -> Option<f64> {
        let sum: f64 = self.iter().flatten().map(f64::from).sum();
        #[expect(clippy::cast_precision_loss, reason = "a tag has room for fifteen cores")]
        let cores = self.len() as f64;
        (cores > 0.0).then(|| sum / cores / 100.0)
    }

    /// Appends a CPU tag with these cores. A tag has room for fifteen.
    pub fn emit_tag(cores: &[[f32; 4]], out: &mut Vec<u8>) {
        let cores = cores.get(..15).unwrap_or(cores);
        put_tag(CPU, out, |out| {
            out.push(u8::try_from(cores.len()).unwrap_or(u8::MAX));
            cores.iter().flatten().for_each(|class| out.extend_from_slice(&class.to_bits().to_be_bytes()));
        });
    }
}

impl fmt::Display for Cores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Words::new(f);
        self.iter().try_for_each(|[critical, above, normal, low]| {
            words.put(format_args!("{critical:.2}/{above:.2}/{normal:.2}/{low:.2} %"))
        })
    }
}

/// How the CAN bus does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CanMetrics {
    /// How much of it is used. Documents disagree on whether it is a fraction or a percentage.
    pub utilization: f32,
    /// How often the controller went off the bus.
    pub bus_off: u32,
    /// How often there was no room to send.
    pub tx_full: u32,
    /// Its counter of receive errors.
    pub receive_errors: u8,
    /// Its counter of transmit errors.
    pub transmit_errors: u8,
}

impl CanMetrics {
    fn parse(cur: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            utilization: f32::from_bits(cur.u32_be("CAN utilization")?),
            bus_off: cur.u32_be("bus-off count")?,
            tx_full: cur.u32_be("TX-full count")?,
            receive_errors: cur.u8("receive errors")?,
            transmit_errors: cur.u8("transmit errors")?,
        })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.utilization.to_bits().to_be_bytes());
        out.extend_from_slice(&self.bus_off.to_be_bytes());
        out.extend_from_slice(&self.tx_full.to_be_bytes());
        out.extend_from_slice(&[self.receive_errors, self.transmit_errors]);
    }
}

impl fmt::Display for CanMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { utilization, bus_off, tx_full, receive_errors, transmit_errors } = self;
        write!(f, "CAN {utilization}, {bus_off} bus off, {tx_full} TX full, errors {receive_errors}/{transmit_errors}")
    }
}
