//! What a power distribution panel says: the same block in status packets and in `.dslog` files.
//!
//! ```text
//! PDP, 25 bytes: id | 3 frames of 8 bytes, most significant bit first: 6, 6 and 4 channels of 10 bits,
//!                in the last also resistance, voltage and temperature, a byte each
//! PDH, 33 bytes: id | 6 × u32le: three channels of 10 bits, two faults | u24le: two channels, four faults
//!                   | 4 channels of 8 bits | 8 faults
//! ```

use std::fmt;

/// Bytes of the block of a CTRE PDP.
pub const PDP_LEN: usize = 25;
/// Bytes of the block of a REV PDH.
pub const PDH_LEN: usize = 33;

/// One reading of a panel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PowerDistribution {
    /// CTRE's.
    Pdp(Pdp),
    /// REV's.
    Pdh(Pdh),
}

/// Which panel.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// CTRE Power Distribution Panel, 16 channels.
    Pdp,
    /// REV Power Distribution Hub, 24 channels.
    Pdh,
}

impl Kind {
    /// The name as the Driver Station's logs have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pdp => "CTRE PDP",
            Self::Pdh => "REV PDH",
        }
    }

    /// How many channels it has.
    #[must_use]
    pub const fn channels(self) -> usize {
        match self {
            Self::Pdp => 16,
            Self::Pdh => 24,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PowerDistribution {
    /// Reads a block of exactly 25 or 33 bytes.
    #[must_use]
    pub fn parse(block: &[u8]) -> Option<Self> {
        Self::split(block).filter(|(_, rest)| rest.is_empty()).map(|(pd, _)| pd)
    }

    /// Reads a block from the front; only its length identifies the panel. Returns the bytes behind it, too.
    pub(crate) fn split(bytes: &[u8]) -> Option<(Self, &[u8])> {
        if let Some((block, rest)) = bytes.split_first_chunk() {
            return Some((Self::Pdh(Pdh::parse(block)), rest));
        }
        let (block, rest) = bytes.split_first_chunk()?;
        Some((Self::Pdp(Pdp::parse(block)), rest))
    }

    /// Appends the block.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Pdp(pdp) => pdp.emit(out),
            Self::Pdh(pdh) => pdh.emit(out),
        }
    }

    /// Which panel it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Pdp(_) => Kind::Pdp,
            Self::Pdh(_) => Kind::Pdh,
        }
    }

    /// Its number on the CAN bus.
    #[must_use]
    pub const fn id(&self) -> u8 {
        match self {
            Self::Pdp(pdp) => pdp.id,
            Self::Pdh(pdh) => pdh.id,
        }
    }

    /// The currents of its channels, in ampere.
    pub fn currents(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        let raw: &[u16] = match self {
            Self::Pdp(pdp) => &pdp.currents,
            Self::Pdh(pdh) => &pdh.currents,
        };
        raw.iter().enumerate().map(|(n, raw)| f64::from(*raw) / if n < Pdh::FINE_FROM { 8.0 } else { 16.0 })
    }

    /// The sum of the currents, in ampere.
    #[must_use]
    pub fn total_current(&self) -> f64 {
        self.currents().sum()
    }

    /// What a PDP takes for the resistance of the battery, in ohm.
    #[must_use]
    pub fn resistance(&self) -> Option<f64> {
        match self {
            Self::Pdp(Pdp { resistance: 255, .. }) | Self::Pdh(_) => None,
            Self::Pdp(pdp) => Some(f64::from(pdp.resistance) / 1000.0),
        }
    }

    /// The voltage at a PDP, in volts.
    #[must_use]
    pub fn voltage(&self) -> Option<f64> {
        self.pdp().map(|pdp| 0.05 * f64::from(pdp.voltage) + 4.0)
    }

    /// The temperature of a PDP, in °C.
    #[must_use]
    pub fn temperature(&self) -> Option<f64> {
        self.pdp().map(|pdp| 1.032_508_369_575_42 * f64::from(pdp.temperature) - 67.856_450_048_496_6)
    }

    /// Which breakers of a PDH are open; bit 0 is the first. An empty slot shows as open.
    #[must_use]
    pub fn faults(&self) -> Option<u32> {
        match self {
            Self::Pdp(_) => None,
            Self::Pdh(pdh) => Some(pdh.faults),
        }
    }

    fn pdp(&self) -> Option<&Pdp> {
        match self {
            Self::Pdp(pdp) => Some(pdp),
            Self::Pdh(_) => None,
        }
    }
}

/// `REV PDH 1: 0 6.25 12.5 … A`.
impl fmt::Display for PowerDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}:", self.kind(), self.id())?;
        self.currents().try_for_each(|current| write!(f, " {current}"))?;
        f.write_str(" A")?;
        if let (Some(volts), Some(degrees)) = (self.voltage(), self.temperature()) {
            write!(f, ", {volts:.2} V, {degrees:.1} °C")?;
        }
        match self.faults() {
            None | Some(0) => Ok(()),
            Some(faults) => write!(f, ", faults {faults:06x}"),
        }
    }
}

/// The block of a CTRE PDP, unpacked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Pdp {
    /// Its number on the CAN bus.
    pub id: u8,
    /// Eighths of an ampere, 10 bits each.
    pub currents: [u16; 16],
    /// The four bits that the first two frames have left.
    pub spare: [u8; 2],
    /// Milliohm; 255 is unknown.
    pub resistance: u8,
    /// Twentieths of a volt above 4 V.
    pub voltage: u8,
    /// 1.0325 × this − 67.856 is °C.
    pub temperature: u8,
}

impl Pdp {
    fn parse(block: &[u8; PDP_LEN]) -> Self {
        let [id, bytes @ ..] = block;
        let mut frames = [0; 3];
        for (frame, bytes) in frames.iter_mut().zip(bytes.as_chunks().0) {
            *frame = u64::from_be_bytes(*bytes);
        }
        let currents = std::array::from_fn(|n| {
            let frame = frames.get(n / 6).copied().unwrap_or(0);
            ten_bits(frame >> (54 - 10 * (n % 6)))
        });
        let spare = [bytes[7] & 0xf, bytes[15] & 0xf];
        let [.., resistance, voltage, temperature] = *bytes;
        Self { id: *id, currents, spare, resistance, voltage, temperature }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let packed = |currents: &[u16]| -> u64 {
            currents.iter().enumerate().map(|(n, raw)| u64::from(raw & 0x3ff) << (54 - 10 * n)).sum()
        };
        let mut frames = self.currents.chunks(6).map(packed);
        let mut frame = || frames.next().unwrap_or(0);
        let [s0, s1] = self.spare.map(|bits| u64::from(bits & 0xf));
        let tail = u64::from(u32::from_be_bytes([0, self.resistance, self.voltage, self.temperature]));
        out.push(self.id);
        for frame in [frame() | s0, frame() | s1, frame() | tail] {
            out.extend_from_slice(&frame.to_be_bytes());
        }
    }
}

/// The block of a REV PDH, unpacked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Pdh {
    /// Its number on the CAN bus.
    pub id: u8,
    /// Eighths of an ampere in 10 bits, from channel 20 on sixteenths in 8 bits.
    pub currents: [u16; 24],
    /// Which breakers are open; bit 0 is the first.
    pub faults: u32,
}

impl Pdh {
    /// The first channel that counts in sixteenths.
    const FINE_FROM: usize = 20;

    fn parse(block: &[u8; PDH_LEN]) -> Self {
        let [id, bytes @ ..] = block;
        // The seventh word begins with the three bytes of channels 18 and 19; its last byte is channel 20.
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        let currents = std::array::from_fn(|n| match n {
            0..Self::FINE_FROM => ten_bits(u64::from(words.get(n / 3).copied().unwrap_or(0)) >> (10 * (n % 3))),
            _ => bytes.get(7 + n).copied().unwrap_or(0).into(),
        });
        let [.., seventh, _] = words;
        let [.., last] = *bytes;
        let pairs = words.iter().take(6).zip((0..).step_by(2)).map(|(word, shift): (_, u32)| word >> 30 << shift);
        let faults = pairs.sum::<u32>() | (seventh >> 20 & 0xf) << 12 | u32::from(last) << 16;
        Self { id: *id, currents, faults }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let coarse = |n: usize| self.currents.get(n).map_or(0, |raw| u32::from(raw & 0x3ff));
        out.push(self.id);
        for k in 0..6 {
            let faults = self.faults >> (2 * k) & 0b11;
            let word = coarse(3 * k) | coarse(3 * k + 1) << 10 | coarse(3 * k + 2) << 20 | faults << 30;
            out.extend_from_slice(&word.to_le_bytes());
        }
        let [b0, b1, b2, _] = (coarse(18) | coarse(19) << 10 | (self.faults >> 12 & 0xf) << 20).to_le_bytes();
        out.extend_from_slice(&[b0, b1, b2]);
        out.extend(self.currents.iter().skip(Self::FINE_FROM).map(|raw| raw.to_le_bytes()[0]));
        out.push((self.faults >> 16).to_le_bytes()[0]);
    }
}

fn ten_bits(bits: u64) -> u16 {
    u16::try_from(bits & 0x3ff).unwrap_or(u16::MAX)
}
