//! Frames to bytes: packets in CARLA's order, durations that are known one frame later.

use std::collections::HashSet;

use crate::about::{About, fits};
use crate::wire::*;

/// The order of packets in a frame, over all builds.
pub(crate) const ORDER: [Kind; 25] = [
    Kind::FrameStart,
    Kind::FrameCounter,
    Kind::VisualTime,
    Kind::EventAdd,
    Kind::EventDel,
    Kind::EventParent,
    Kind::Collision,
    Kind::VehicleDoor,
    Kind::Position,
    Kind::TrafficLightState,
    Kind::VehicleAnim,
    Kind::WalkerAnim,
    Kind::VehicleLight,
    Kind::SceneLight,
    Kind::VehicleWheels,
    Kind::BikerAnim,
    Kind::Weather,
    Kind::Kinematics,
    Kind::BoundingBox,
    Kind::TriggerVolume,
    Kind::PlatformTime,
    Kind::PhysicsControl,
    Kind::TrafficLightTime,
    Kind::WalkerBones,
    Kind::FrameEnd,
];

/// The place of a kind in [`ORDER`].
pub(crate) fn rank(kind: Kind) -> usize {
    ORDER.iter().position(|other| *other == kind).unwrap_or(ORDER.len())
}

/// Why something cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WriteError {
    /// A packet counts its records with 16 bits.
    #[error("frame {frame} would have {count} {} records; the limit of a packet is {MAX_RECORDS}", kind.name())]
    TooManyRecords {
        /// The frame's id.
        frame: u64,
        /// What the records are.
        kind: Kind,
        /// How many there are.
        count: usize,
    },
    /// A list inside of a record is too long for its count.
    #[error("actor {actor} has {count} {what}; the limit is {max}")]
    TooManyItems {
        /// The actor.
        actor: u32,
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there can be.
        max: u64,
    },
    /// A text has its length in 16 bits.
    #[error("the {what} has {len} bytes; the limit is 65535")]
    TextTooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        len: usize,
    },
    /// A packet has its size in 32 bits.
    #[error("a packet of {len} bytes is too long for its size field")]
    PacketTooLong {
        /// Its length.
        len: usize,
    },
    /// The version in the header does not exist.
    #[error("unknown recorder version {0}, expected 1 or 2")]
    Version(u16),
    /// A record is about an actor that was not added, or is gone.
    #[error("{} of frame {frame} refers to actor {actor}, which does not exist", kind.name())]
    UnknownActor {
        /// The frame's id.
        frame: u64,
        /// What the record is.
        kind: Kind,
        /// The actor.
        actor: u32,
    },
    /// An id was given to two actors at once.
    #[error("actor {0} already exists")]
    ActorExists(u32),
    /// An id that means that something is no actor.
    #[error("{0} is not an actor id: collisions use it for non-actors")]
    NoActor(u32),
    /// An actor is of another class than this needs.
    #[error("actor {actor} is a {}, which has no {} records", class.name(), kind.name())]
    WrongClass {
        /// The actor.
        actor: u32,
        /// What it is.
        class: ActorType,
        /// What the record is.
        kind: Kind,
    },
    /// Frames go forward in time.
    #[error("a frame at {elapsed} s cannot follow one at {last} s")]
    FrameOrder {
        /// When it should begin.
        elapsed: f64,
        /// When the one before it began.
        last: f64,
    },
    /// Packets stand in frames.
    #[error("no frame is open")]
    NoFrame,
    /// The frame before this one was not ended.
    #[error("frame {0} is still open")]
    FrameOpen(u64),
    /// The packets of a frame have an order.
    #[error("{} comes before {} in a frame, and only once", kind.name(), after.name())]
    PacketOrder {
        /// The packet that comes too late.
        kind: Kind,
        /// The one that was written already.
        after: Kind,
    },
    /// Frames are begun and ended by calls of their own, and ids up to 100 are CARLA's.
    #[error("packet id {0} is reserved; private packets use ids above 100")]
    ReservedId(u8),
    /// The build that the recording is for has no such packet.
    #[error("CARLA {target} has no {} packets{}", kind.name(), if *extra { " without additional data" } else { "" })]
    NotInTarget {
        /// The build.
        target: &'static str,
        /// The packet.
        kind: Kind,
        /// Whether it would be there with additional data.
        extra: bool,
    },
    /// The build that the recording is for has no attributes of this type.
    #[error("CARLA {target} has no vector attributes")]
    NoVectorAttributes {
        /// The build.
        target: &'static str,
    },
    /// CARLA drops attributes that have no name.
    #[error("an attribute of {blueprint:?} has no name")]
    NamelessAttribute {
        /// What the actor would be.
        blueprint: String,
    },
    /// A pose or velocity must be a number.
    #[error("the {what} of actor {actor} is not finite")]
    NotFinite {
        /// The actor.
        actor: u32,
        /// What is not finite.
        what: &'static str,
    },
    /// UE4 and UE5 describe the physics of a vehicle differently.
    #[error("CARLA {target} needs the other physics description (UE4 and UE5 differ)")]
    WrongPhysics {
        /// The build.
        target: &'static str,
    },
}

/// The records of one packet that is being put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    pub(crate) total: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Batch {
    pub(crate) fn push<'a, R: Record<'a>>(&mut self, record: &R, form: WireFormat) {
        self.total += 1;
        record.emit(form, &mut self.bytes);
    }

    /// Appends the packet.
    pub(crate) fn emit(&self, kind: Kind, ids: Ids, frame: u64, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let Ok(total) = u16::try_from(self.total) else {
            return Err(WriteError::TooManyRecords { frame, kind, count: self.total });
        };
        emit_packet(kind.id(ids), &[&total.to_le_bytes(), &self.bytes], out)
    }
}

/// Appends a packet whose body is the given pieces.
fn emit_packet(id: u8, body: &[&[u8]], out: &mut Vec<u8>) -> Result<(), WriteError> {
    let len = body.iter().map(|piece| piece.len()).sum();
    let size = u32::try_from(len).map_err(|_| WriteError::PacketTooLong { len })?;
    out.push(id);
    out.extend_from_slice(&size.to_le_bytes());
    body.iter().for_each(|piece| out.extend_from_slice(piece));
    Ok(())
}

/// Writes a recording packet by packet. [`crate::Recording`] is the comfortable way; this is for those who have records.
///
/// A frame's duration is known when the next one begins, so the last frame is held back: [`Writer::take`] gives the
/// bytes that will not change any more, [`Writer::finish`] the rest. Nothing that was refused is written.
#[derive(Debug)]
pub struct Writer {
    form: WireFormat,
    ready: Vec<u8>,
    /// The last frame, whose duration is still open.
    frame: Vec<u8>,
    last: Option<FrameStart>,
    /// The kind of the last packet of the open frame.
    open: Option<Kind>,
    living: HashSet<u32>,
    /// Actors that this frame took away: collisions may still name them.
    gone: Vec<u32>,
}

impl Writer {
    /// A recording with this header, written in this form.
    pub fn new(header: &Header<'_>, form: WireFormat) -> Result<Self, WriteError> {
        if !matches!(header.version, 1 | 2) {
            return Err(WriteError::Version(header.version));
        }
        fits("map", header.map)?;
        let mut ready = Vec::new();
        header.emit(&mut ready);
        let (living, gone) = (HashSet::new(), Vec::new());
        Ok(Self { form, ready, frame: Vec::new(), last: None, open: None, living, gone })
    }

    /// Begins a frame `elapsed` seconds after the recording began; ids count by themselves.
    pub fn begin_frame(&mut self, elapsed: f64) -> Result<(), WriteError> {
        let duration = elapsed - self.last.map_or(0.0, |last| last.elapsed);
        self.begin(elapsed, duration)
    }

    /// Begins a frame `delta` seconds after the last one, as CARLA does: the first one begins at 0 whatever `delta` is.
    pub fn tick(&mut self, delta: f32) -> Result<(), WriteError> {
        let duration = f64::from(delta);
        let elapsed = self.last.map_or(0.0, |last| last.elapsed + duration);
        self.begin(elapsed, duration)
    }

    fn begin(&mut self, elapsed: f64, duration: f64) -> Result<(), WriteError> {
        self.closed()?;
        let last = self.last.map_or(0.0, |last| last.elapsed);
        if !elapsed.is_finite() || elapsed < last {
            return Err(WriteError::FrameOrder { elapsed, last });
        }
        if let Some(place) = self.frame.get_mut(DURATION) {
            place.copy_from_slice(&duration.to_le_bytes());
        }
        self.ready.append(&mut self.frame);
        self.gone.clear();
        let start = FrameStart { frame: self.frame_id() + 1, duration: OPEN_DURATION, elapsed };
        start.emit(&mut self.frame);
        self.last = Some(start);
        self.open = Some(Kind::FrameStart);
        Ok(())
    }

    /// Writes a packet of records. Packets have an order in a frame, and every actor must be there.
    pub fn records<'a, R: Record<'a> + About>(&mut self, records: &[R]) -> Result<(), WriteError> {
        self.in_order(R::KIND)?;
        let frame = self.frame_id();
        let mut batch = Batch::default();
        let mut added = HashSet::new();
        for record in records {
            record.check()?;
            for actor in record.actors().into_iter().flatten() {
                let there = self.living.contains(&actor);
                match R::KIND {
                    Kind::EventAdd if there || !added.insert(actor) => return Err(WriteError::ActorExists(actor)),
                    Kind::EventAdd => {}
                    Kind::Collision if self.gone.contains(&actor) => {}
                    kind if !there => return Err(WriteError::UnknownActor { frame, kind, actor }),
                    _ => {}
                }
            }
            batch.push(record, self.form);
        }
        self.batch(R::KIND, &batch)?;
        match R::KIND {
            Kind::EventAdd => self.living.extend(added),
            Kind::EventDel => {
                self.gone = records.iter().filter_map(|record| record.actors()[0]).collect();
                self.living.retain(|actor| !self.gone.contains(actor));
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes a packet of records that were checked.
    pub(crate) fn batch(&mut self, kind: Kind, batch: &Batch) -> Result<(), WriteError> {
        self.in_order(kind)?;
        batch.emit(kind, self.form.ids, self.frame_id(), &mut self.frame)?;
        self.open = Some(kind);
        Ok(())
    }

    /// Writes the clock of visual effects, in seconds.
    pub fn visual_time(&mut self, seconds: f64) -> Result<(), WriteError> {
        self.fixed(Kind::VisualTime, seconds.to_le_bytes())
    }

    /// Writes the seconds of wall-clock time since the recording began.
    pub fn platform_time(&mut self, seconds: f64) -> Result<(), WriteError> {
        self.fixed(Kind::PlatformTime, seconds.to_le_bytes())
    }

    /// Writes a counter of frames, which CARLA itself never does in files.
    pub fn frame_counter(&mut self, counter: u64) -> Result<(), WriteError> {
        self.fixed(Kind::FrameCounter, counter.to_le_bytes())
    }

    fn fixed(&mut self, kind: Kind, body: [u8; 8]) -> Result<(), WriteError> {
        self.in_order(kind)?;
        emit_packet(kind.id(self.form.ids), &[&body], &mut self.frame)?;
        self.open = Some(kind);
        Ok(())
    }

    /// Writes any packet but the first and last of a frame, unseen and wherever it comes.
    pub fn raw(&mut self, id: u8, body: &[u8]) -> Result<(), WriteError> {
        if id <= 1 {
            return Err(WriteError::ReservedId(id));
        }
        self.open.ok_or(WriteError::NoFrame)?;
        emit_packet(id, &[body], &mut self.frame)
    }

    /// Ends the frame.
    pub fn end_frame(&mut self) -> Result<(), WriteError> {
        self.open.take().ok_or(WriteError::NoFrame)?;
        emit_packet(Kind::FrameEnd.id(self.form.ids), &[], &mut self.frame)
    }

    /// The bytes that will not change any more and were not taken yet: all but the last frame.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ready)
    }

    /// The last bytes. The last frame's duration stays open, as in every recording.
    pub fn finish(mut self) -> Result<Vec<u8>, WriteError> {
        self.closed()?;
        self.ready.append(&mut self.frame);
        Ok(self.ready)
    }

    /// The id of the last frame that was begun.
    #[must_use]
    pub fn frame_id(&self) -> u64 {
        self.last.map_or(0, |last| last.frame)
    }

    /// When the last frame began.
    #[must_use]
    pub fn elapsed(&self) -> Option<f64> {
        self.last.map(|last| last.elapsed)
    }

    fn closed(&self) -> Result<(), WriteError> {
        if self.open.is_some() { Err(WriteError::FrameOpen(self.frame_id())) } else { Ok(()) }
    }

    fn in_order(&self, kind: Kind) -> Result<(), WriteError> {
        let after = self.open.ok_or(WriteError::NoFrame)?;
        if rank(kind) > rank(after) { Ok(()) } else { Err(WriteError::PacketOrder { kind, after }) }
    }
}

/// Where the duration stands in a frame.
const DURATION: std::ops::Range<usize> = PACKET_HEADER + 8..PACKET_HEADER + 16;
