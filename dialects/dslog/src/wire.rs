//! The bytes: the header of both files, the records of `.dslog`, those of `.dsevents`.

use std::fmt;

use logpose_core::{Cursor, civil};
use logpose_driverstation::pd::PowerDistribution;

use crate::error::{Error, ErrorKind};

/// Bytes of the header of both files.
pub const HEADER: usize = 20;
/// Bytes of a record of version 3.
pub(crate) const RECORD_V3: usize = FIXED + PD_V3;
/// Bytes of a record of version 4 without power distribution.
pub(crate) const RECORD_V4: usize = FIXED + 4;
/// Bytes before the text of an event.
pub(crate) const EVENT: usize = 20;
/// Nanoseconds from one record to the next.
pub(crate) const PERIOD_NS: i64 = 20_000_000;

const FIXED: usize = 10;
const PD_V3: usize = 25;
/// Seconds from the first moment of 1904, LabVIEW's zero, to that of 1970.
const EPOCH_1904: i64 = 2_082_844_800;

/// A moment as LabVIEW writes it: seconds since 1904 and a binary fraction.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Stamp {
    /// Whole seconds since 1904-01-01T00:00:00Z.
    pub seconds: i64,
    /// The rest, in 2^-64 s.
    pub fraction: u64,
}

impl Stamp {
    pub(crate) fn parse(cur: &mut Cursor<'_>) -> Result<Self, Error> {
        let seconds = cur.u64_be("seconds")?.cast_signed();
        Ok(Self { seconds, fraction: cur.u64_be("fraction of a second")? })
    }

    /// Appends its 16 bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.seconds.to_be_bytes());
        out.extend_from_slice(&self.fraction.to_be_bytes());
    }

    /// The moment of Unix nanoseconds.
    #[must_use]
    pub fn from_unix_ns(ns: i64) -> Self {
        let rest = u128::from(ns.rem_euclid(1_000_000_000).unsigned_abs());
        // Rounded up, so that the nanoseconds come back.
        let fraction = (rest << 64).div_ceil(1_000_000_000);
        let fraction = u64::try_from(fraction).unwrap_or(u64::MAX);
        Self { seconds: ns.div_euclid(1_000_000_000) + EPOCH_1904, fraction }
    }

    /// Unix nanoseconds; beyond ±292 years the last that can be said.
    #[must_use]
    pub fn unix_ns(&self) -> i64 {
        let seconds = i128::from(self.seconds) - i128::from(EPOCH_1904);
        let ns = seconds * 1_000_000_000 + i128::from(self.nanos());
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }

    fn nanos(&self) -> u32 {
        u32::try_from((u128::from(self.fraction) * 1_000_000_000) >> 64).unwrap_or(0)
    }
}

/// As RFC 3339.
impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.seconds.saturating_sub(EPOCH_1904);
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}.{:09}Z", second % 60, self.nanos())
    }
}

/// The layout of the records.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Version {
    /// 2016 to 2021: every record has room for a CTRE PDP.
    V3,
    /// 2022 to 2026: every record contains the length of its power distribution.
    V4,
}

impl Version {
    /// The number in the header.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::V3 => 3,
            Self::V4 => 4,
        }
    }

    /// Bytes of its shortest record.
    #[must_use]
    pub fn shortest(self) -> usize {
        match self {
            Self::V3 => RECORD_V3,
            Self::V4 => RECORD_V4,
        }
    }
}

/// What both files of a pair begin with.
///
/// ```text
/// version | start
///    4    |  16
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// How the records are written.
    pub version: Version,
    /// When the first record was written.
    pub start: Stamp,
}

impl Header {
    pub(crate) fn parse(cur: &mut Cursor<'_>) -> Result<Self, Error> {
        let at = cur.offset();
        let found = cur.array("version").map(|bytes| i32::from_be_bytes(*bytes))?;
        let start = Stamp::parse(cur)?;
        let version = match found {
            3 => Version::V3,
            4 => Version::V4,
            _ => return Err(Error { at, kind: ErrorKind::Version { found } }),
        };
        Ok(Self { version, start })
    }

    /// The header of a file.
    pub fn of(file: &[u8]) -> Result<Self, Error> {
        Self::parse(&mut Cursor::new(file, 0))
    }

    /// Appends its 20 bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.version.number().to_be_bytes());
        self.start.emit(out);
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "header version {} {}", self.version.number(), self.start)
    }
}

/// One record of a `.dslog`, 20 ms after the one before.
///
/// ```text
/// trip | loss | battery | cpu | status | can | wifi | bandwidth | [length, version 4] | power distribution
///  1   |  1   |    2    |  1  |   1    |  1  |  1   |     2     |          4          | 25, or length
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Record<'a> {
    /// Trip time in half milliseconds; 255 without a reply.
    pub trip: u8,
    /// Packets lost of the last 25; late replies make it negative.
    pub loss: i8,
    /// Battery in 1/256 V; `ffff` without a robot.
    pub battery: u16,
    /// Load of the roboRIO's processor in half percents.
    pub cpu: u8,
    /// Modes and faults.
    pub status: Status,
    /// Load of the CAN bus in half percents.
    pub can: u8,
    /// Wi-Fi signal in half decibels; the Driver Station never fills it.
    pub wifi: u8,
    /// Bandwidth in 1/256 Mb/s; the Driver Station never fills it.
    pub bandwidth: u16,
    /// The power distribution's block.
    pub pd: &'a [u8],
}

impl<'a> Record<'a> {
    #[inline]
    pub(crate) fn parse(cur: &mut Cursor<'a>, version: Version) -> Result<Self, Error> {
        let [trip, loss, b1, b0, cpu, status, can, wifi, w1, w0] = *cur.array("record")?;
        let pd = match version {
            Version::V3 => cur.take(PD_V3 as u64, "power distribution")?,
            Version::V4 => {
                let length = cur.array("length of the power distribution").map(|bytes| u32::from_be_bytes(*bytes))?;
                cur.take(length.into(), "power distribution")?
            }
        };
        Ok(Self {
            trip,
            loss: loss.cast_signed(),
            battery: u16::from_be_bytes([b1, b0]),
            cpu,
            status: Status(status),
            can,
            wifi,
            bandwidth: u16::from_be_bytes([w1, w0]),
            pd,
        })
    }

    /// Appends its bytes. In version 3 what the power distribution lacks of its 25 bytes is zero.
    pub fn emit(&self, version: Version, out: &mut Vec<u8>) {
        let ([b1, b0], [w1, w0]) = (self.battery.to_be_bytes(), self.bandwidth.to_be_bytes());
        let loss = self.loss.cast_unsigned();
        out.extend_from_slice(&[self.trip, loss, b1, b0, self.cpu, self.status.0, self.can, self.wifi, w1, w0]);
        match version {
            Version::V3 => out.extend(self.pd.iter().copied().chain(std::iter::repeat(0)).take(PD_V3)),
            Version::V4 => {
                out.extend_from_slice(&u32::try_from(self.pd.len()).unwrap_or(u32::MAX).to_be_bytes());
                out.extend_from_slice(self.pd);
            }
        }
    }

    /// Bytes that it takes.
    #[inline]
    #[must_use]
    pub fn size(&self, version: Version) -> usize {
        match version {
            Version::V3 => RECORD_V3,
            Version::V4 => RECORD_V4 + self.pd.len(),
        }
    }

    /// Whether a robot answers.
    #[inline]
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.battery != u16::MAX
    }

    /// The battery in volts, if a robot answers.
    #[inline]
    #[must_use]
    pub fn volts(&self) -> Option<f64> {
        self.is_connected().then(|| f64::from(self.battery) / 256.0)
    }

    /// The trip time in seconds, if there was a reply.
    #[inline]
    #[must_use]
    pub fn trip_time(&self) -> Option<f64> {
        (self.trip != u8::MAX).then(|| f64::from(self.trip) * 0.5 / 1000.0)
    }

    /// The share of packets that was lost.
    #[inline]
    #[must_use]
    pub fn packet_loss(&self) -> f64 {
        f64::from(self.loss.clamp(0, 25)) * 4.0 / 100.0
    }

    /// What the station asks for.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let status = self.status;
        if status.ds_autonomous() {
            Mode::Autonomous
        } else if status.ds_teleop() {
            Mode::Teleop
        } else if !status.ds_disabled() && self.is_connected() {
            Mode::Test
        } else {
            Mode::Disabled
        }
    }

    /// The power distribution, if there is one of a known kind.
    #[inline]
    #[must_use]
    pub fn power(&self) -> Option<PowerDistribution> {
        if self.is_without_power() { None } else { PowerDistribution::parse(self.pd) }
    }

    /// Whether there is no power distribution: version 3 has room for one in every record, and zeros in it.
    #[inline]
    #[must_use]
    pub fn is_without_power(&self) -> bool {
        self.pd.iter().all(|byte| *byte == 0)
    }
}

impl fmt::Display for Record<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.trip_time() {
            Some(seconds) => write!(f, "trip {} ms", seconds * 1000.0)?,
            None => f.write_str("no reply")?,
        }
        write!(f, " loss {}", self.loss)?;
        match self.volts() {
            Some(volts) => write!(f, " {volts} V")?,
            None => f.write_str(" no battery")?,
        }
        let half = |byte: u8| f64::from(byte) * 0.5;
        write!(f, " cpu {} % can {} % {}", half(self.cpu), half(self.can), self.status)?;
        if self.wifi != 0 || self.bandwidth != 0 {
            write!(f, " wifi {} dB bandwidth {} Mb/s", half(self.wifi), f64::from(self.bandwidth) / 256.0)?;
        }
        match (self.power(), self.pd.len()) {
            (Some(pd), _) => write!(f, " {pd}"),
            (None, 0) => Ok(()),
            (None, length) if self.is_without_power() => write!(f, " {length} zero bytes"),
            (None, length) => write!(f, " power distribution of {length} bytes"),
        }
    }
}

/// What the station asks the robot to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mode {
    /// Nothing.
    Disabled,
    /// To drive by itself.
    Autonomous,
    /// To be driven.
    Teleop,
    /// Test mode, which has no bit of its own.
    Test,
}

/// Modes and faults of a record. A bit that is 0 means "true".
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status(pub u8);

impl Status {
    const NAMES: [(u8, &'static str); 8] = [
        (0x80, "brownout"),
        (0x40, "watchdog"),
        (0x20, "ds-teleop"),
        (0x10, "ds-auto"),
        (0x08, "ds-disabled"),
        (0x04, "robot-teleop"),
        (0x02, "robot-auto"),
        (0x01, "robot-disabled"),
    ];

    #[inline]
    fn has(self, mask: u8) -> bool {
        self.0 & mask == 0
    }

    /// The robot's voltage is too low for its outputs.
    #[inline]
    #[must_use]
    pub fn brownout(self) -> bool {
        self.has(0x80)
    }

    /// The system watchdog stopped the robot's outputs.
    #[inline]
    #[must_use]
    pub fn watchdog(self) -> bool {
        self.has(0x40)
    }

    /// The station asks for teleop.
    #[inline]
    #[must_use]
    pub fn ds_teleop(self) -> bool {
        self.has(0x20)
    }

    /// The station asks for autonomous.
    #[inline]
    #[must_use]
    pub fn ds_autonomous(self) -> bool {
        self.has(0x10)
    }

    /// The station asks the robot to be disabled.
    #[inline]
    #[must_use]
    pub fn ds_disabled(self) -> bool {
        self.has(0x08)
    }

    /// The robot's program is in teleop.
    #[inline]
    #[must_use]
    pub fn robot_teleop(self) -> bool {
        self.has(0x04)
    }

    /// The robot's program is in autonomous.
    #[inline]
    #[must_use]
    pub fn robot_autonomous(self) -> bool {
        self.has(0x02)
    }

    /// The robot's program is disabled.
    #[inline]
    #[must_use]
    pub fn robot_disabled(self) -> bool {
        self.has(0x01)
    }
}

/// The names of what is true.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        let mut first = true;
        for (_, name) in Self::NAMES.iter().filter(|(mask, _)| self.has(*mask)) {
            let gap = if std::mem::take(&mut first) { "" } else { " " };
            write!(f, "{gap}{name}")?;
        }
        f.write_str("]")
    }
}

/// One record of a `.dsevents`.
///
/// ```text
/// time | length | text
///  16  |   4    | length
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event<'a> {
    /// When the station wrote it.
    pub time: Stamp,
    /// One or more entries, run together; mostly UTF-8.
    pub text: &'a [u8],
}

impl<'a> Event<'a> {
    pub(crate) fn parse(cur: &mut Cursor<'a>) -> Result<Self, Error> {
        let time = Stamp::parse(cur)?;
        let at = cur.offset();
        let found = cur.array("length of the text").map(|bytes| i32::from_be_bytes(*bytes))?;
        let length = u64::try_from(found).map_err(|_| Error { at, kind: ErrorKind::NegativeLength { found } })?;
        Ok(Self { time, text: cur.take(length, "text")? })
    }

    /// Appends its bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        self.time.emit(out);
        out.extend_from_slice(&i32::try_from(self.text.len()).unwrap_or(i32::MAX).to_be_bytes());
        out.extend_from_slice(self.text);
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        EVENT + self.text.len()
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.time, String::from_utf8_lossy(self.text))
    }
}

/// Whether a file with this header is a `.dsevents`: where a `.dslog` has its first record, it has a moment near the start.
#[must_use]
pub(crate) fn is_events(file: &[u8]) -> bool {
    let (Some(start), Some(rest)) = (file.get(4..12), file.get(HEADER..)) else { return false };
    let seconds = |bytes: &[u8]| bytes.first_chunk().map(|bytes| i64::from_be_bytes(*bytes));
    match (seconds(start), seconds(rest)) {
        (Some(start), Some(first)) => start.checked_sub(first).is_some_and(|apart| apart.unsigned_abs() < NEAR),
        // Cut inside the first record: the seconds change in their last bytes alone.
        _ => rest.len() >= 4 && start.starts_with(rest.get(..4).unwrap_or_default()),
    }
}

/// How many seconds the first event is from the start, at most: a day.
const NEAR: u64 = 86_400;
