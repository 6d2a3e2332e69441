//! What a recording does not say of itself: numbering of packets and width of vectors, found out from its packets.

use logpose_core::Cursor;

use crate::wire::{EventAdd, Header, Ids, Kind, Packet, Physics, Records, Vectors, WireFormat};

/// Finds out how a recording is written, from its packets in their order. Reads no further than needed.
#[must_use]
pub fn detect<'a>(version: u16, packets: impl IntoIterator<Item = Packet<'a>>) -> WireFormat {
    let mut detector = Detector::new(version);
    for packet in packets {
        detector.see(&packet);
        if detector.is_sure() {
            break;
        }
    }
    detector.wire_format()
}

/// What is known so far of how a recording is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detector {
    ids: Option<Ids>,
    vectors: Option<Vectors>,
    /// Whether this frame's positions were passed.
    positions: bool,
    frames: u32,
}

impl Detector {
    pub(crate) fn new(version: u16) -> Self {
        Self { ids: (version >= 2).then_some(Ids::A), vectors: None, positions: false, frames: 0 }
    }

    /// Takes note of the next packet.
    pub(crate) fn see(&mut self, packet: &Packet<'_>) {
        match packet.id {
            0 => {
                self.positions = false;
                self.frames = self.frames.saturating_add(1);
            }
            6 => self.positions = true,
            21 if self.ids.is_none() => {
                self.ids = Some(if self.positions || !is_doors(packet) { Ids::A } else { Ids::B });
            }
            23 if self.ids.is_none() && !self.positions => self.ids = Some(Ids::A),
            // Only foreign writers leave out the one before it. A rider has 12 bytes, and no number of wheels does.
            22 if self.ids.is_none() && packet.total() > 0 => {
                let riders = packet.body.len() == 2 + 12 * usize::from(packet.total());
                self.ids = Some(if riders { Ids::A } else { Ids::B });
            }
            _ => {}
        }
        self.vectors = self.vectors.or_else(|| width(packet));
    }

    /// Whether no later packet can change anything. Builds that know the packets 21 to 23 write them in every frame.
    pub(crate) fn is_sure(&self) -> bool {
        (self.ids.is_some() || self.frames > FRAMES) && self.vectors.is_some()
    }

    /// How the recording is written, as far as is known.
    pub(crate) fn wire_format(&self) -> WireFormat {
        let vectors = self.vectors.unwrap_or_default();
        let physics = match vectors {
            Vectors::F32 => Physics::W48,
            Vectors::F64 => Physics::Ue5,
        };
        WireFormat { ids: self.ids.unwrap_or_default(), vectors, physics }
    }
}

/// Frames after which a recording without any packet 21 to 23 is taken to have none.
const FRAMES: u32 = 64;

/// Finds out how the recording in `log` is written; its header must be whole.
#[must_use]
pub(crate) fn detect_in(log: &[u8], header: &Header<'_>) -> WireFormat {
    let start = header.size();
    let mut cur = Cursor::new(log.get(start..).unwrap_or_default(), start as u64);
    detect(header.version, std::iter::from_fn(|| Packet::parse(&mut cur).ok()))
}

/// Whether a packet could be one of doors: foreign writers may put wheels before the positions.
fn is_doors(packet: &Packet<'_>) -> bool {
    packet.body.len() == 2 + 6 * usize::from(packet.total())
}

/// The width of vectors, as seen in a packet.
fn width(packet: &Packet<'_>) -> Option<Vectors> {
    let total = usize::from(packet.total());
    if total == 0 {
        return None;
    }
    match Kind::of(packet.id, Ids::A)? {
        Kind::Position | Kind::Kinematics | Kind::BoundingBox | Kind::TriggerVolume => {
            match packet.body.len().checked_sub(2)? {
                size if size == 28 * total => Some(Vectors::F32),
                size if size == 52 * total => Some(Vectors::F64),
                _ => None,
            }
        }
        Kind::EventAdd => [Vectors::F32, Vectors::F64].into_iter().find(|vectors| {
            Records::<EventAdd<'_>>::new(packet, WireFormat { vectors: *vectors, ..WireFormat::default() }).is_ok()
        }),
        _ => None,
    }
}
