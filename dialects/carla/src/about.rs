//! Who a record is about, and all kinds of records through one door.

use crate::wire::*;
use crate::writer::WriteError;

/// What a writer must know of a record besides its bytes.
pub trait About {
    /// The actors that it is about and that must be there.
    fn actors(&self) -> [Option<u32>; 2];
    /// The same, to change them.
    fn actors_mut(&mut self) -> [Option<&mut u32>; 2];
    /// Whether its texts and lists fit their fields.
    fn check(&self) -> Result<(), WriteError> {
        Ok(())
    }
}

macro_rules! about_actor {
    ($($record:ty),*) => {$(
        impl About for $record {
            fn actors(&self) -> [Option<u32>; 2] {
                [Some(self.actor), None]
            }
            fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
                [Some(&mut self.actor), None]
            }
        }
    )*};
}
about_actor!(
    EventDel,
    Position,
    TrafficLightState,
    VehicleAnim,
    WalkerAnim,
    VehicleLight,
    Kinematics,
    BoundingBox,
    TriggerVolume,
    PhysicsControl,
    TrafficLightTime,
    BikerAnim,
    VehicleDoor,
    VehicleWheels
);

macro_rules! about_nobody {
    ($($record:ty),*) => {$(
        impl About for $record {
            fn actors(&self) -> [Option<u32>; 2] {
                [None, None]
            }
            fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
                [None, None]
            }
        }
    )*};
}
about_nobody!(SceneLight, Weather);

impl About for EventAdd<'_> {
    fn actors(&self) -> [Option<u32>; 2] {
        [Some(self.actor), None]
    }
    fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
        [Some(&mut self.actor), None]
    }
    fn check(&self) -> Result<(), WriteError> {
        fits("blueprint", self.blueprint)?;
        few(self.actor, "attributes", self.attributes.0.len(), MAX_RECORDS as u64)?;
        self.attributes.0.iter().try_for_each(|attribute| {
            fits("name of an attribute", attribute.id)?;
            fits("value of an attribute", attribute.value)
        })
    }
}

impl About for EventParent {
    fn actors(&self) -> [Option<u32>; 2] {
        [Some(self.actor), Some(self.parent)]
    }
    fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
        [Some(&mut self.actor), Some(&mut self.parent)]
    }
}

impl Collision {
    /// Whether a side of a collision is no actor: 0 up to 0.9.12, 0xFFFFFFFF later.
    pub(crate) fn is_actor(id: u32) -> bool {
        id != 0 && id != u32::MAX
    }
}

impl About for Collision {
    fn actors(&self) -> [Option<u32>; 2] {
        [self.actor1, self.actor2].map(|id| Self::is_actor(id).then_some(id))
    }
    fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
        [&mut self.actor1, &mut self.actor2].map(|id| Self::is_actor(*id).then_some(id))
    }
}

impl About for WalkerBones<'_> {
    fn actors(&self) -> [Option<u32>; 2] {
        [Some(self.actor), None]
    }
    fn actors_mut(&mut self) -> [Option<&mut u32>; 2] {
        [Some(&mut self.actor), None]
    }
    fn check(&self) -> Result<(), WriteError> {
        few(self.actor, "bones", self.bones.len(), MAX_RECORDS as u64)?;
        self.bones.iter().try_for_each(|bone| fits("name of a bone", bone.name))
    }
}

/// Whether a text's length fits into its 16 bits.
pub(crate) fn fits(what: &'static str, text: &[u8]) -> Result<(), WriteError> {
    if u16::try_from(text.len()).is_ok() { Ok(()) } else { Err(WriteError::TextTooLong { what, len: text.len() }) }
}

fn few(actor: u32, what: &'static str, count: usize, max: u64) -> Result<(), WriteError> {
    if count as u64 <= max { Ok(()) } else { Err(WriteError::TooManyItems { actor, what, count, max }) }
}

/// Something that is done with the records of a packet, whatever they are.
pub(crate) trait Visit<'a> {
    fn records<R: Record<'a> + About>(&mut self, records: &Records<'a, R>);
}

/// Hands the records of a packet to a visitor; `false` if the packet holds none by its kind.
pub(crate) fn visit<'a>(body: &Body<'a>, visitor: &mut impl Visit<'a>) -> bool {
    match body {
        Body::FrameStart(_)
        | Body::FrameEnd
        | Body::PlatformTime(_)
        | Body::FrameCounter(_)
        | Body::VisualTime(_)
        | Body::Unknown(_) => return false,
        Body::EventAdd(records) => visitor.records(records),
        Body::EventDel(records) => visitor.records(records),
        Body::EventParent(records) => visitor.records(records),
        Body::Collision(records) => visitor.records(records),
        Body::Position(records) => visitor.records(records),
        Body::TrafficLightState(records) => visitor.records(records),
        Body::VehicleAnim(records) => visitor.records(records),
        Body::WalkerAnim(records) => visitor.records(records),
        Body::VehicleLight(records) => visitor.records(records),
        Body::SceneLight(records) => visitor.records(records),
        Body::Kinematics(records) => visitor.records(records),
        Body::BoundingBox(records) => visitor.records(records),
        Body::PhysicsControl(records) => visitor.records(records),
        Body::TrafficLightTime(records) => visitor.records(records),
        Body::TriggerVolume(records) => visitor.records(records),
        Body::WalkerBones(records) => visitor.records(records),
        Body::VehicleWheels(records) => visitor.records(records),
        Body::BikerAnim(records) => visitor.records(records),
        Body::VehicleDoor(records) => visitor.records(records),
        Body::Weather(records) => visitor.records(records),
    }
    true
}
