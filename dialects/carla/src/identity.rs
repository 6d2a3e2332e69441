//! Who an actor is, read without gathering its attributes.

use logpose_core::{Cursor, Truncated};

use crate::frames::{Frames, Life};
use crate::pose::Pose;
use crate::wire::{ActorType, Attribute, Field, Rotation, Vector, WireFormat};

/// Who an actor is.
pub(crate) struct Identity<'a> {
    pub(crate) blueprint: &'a [u8],
    pub(crate) class: ActorType,
    pub(crate) hero: bool,
    /// Where it appeared, if the recording says how it did.
    pub(crate) pose: Option<Pose>,
}

impl<'a> Identity<'a> {
    /// Who lives a life. Of one that is not known nothing is said.
    pub(crate) fn of(frames: &Frames<'a>, life: Option<&Life>) -> Self {
        let read = |life: &Life| {
            let rest = usize::try_from(life.at).ok().and_then(|at| frames.log().get(at..))?;
            Self::parse(&mut Cursor::new(rest, life.at), frames.wire_format()).ok()
        };
        life.and_then(read).unwrap_or(Self { blueprint: b"", class: ActorType::Other, hero: false, pose: None })
    }

    /// Reads a record that says how an actor appears.
    fn parse(cur: &mut Cursor<'a>, form: WireFormat) -> Result<Self, Truncated> {
        u32::get(cur, form, "actor")?;
        let actor_type = u8::get(cur, form, "type")?;
        let location = Vector::get(cur, form, "location")?;
        let rotation = Rotation::get(cur, form, "rotation")?;
        u32::get(cur, form, "uid")?;
        let blueprint = <&[u8]>::get(cur, form, "blueprint")?;
        let count = u16::get(cur, form, "attributes")?;
        let hero = (0..count)
            .map_while(|_| Attribute::get(cur, form, "attribute").ok())
            .find(|attribute| attribute.id == b"role_name")
            .is_some_and(|attribute| attribute.value == b"hero");
        let class = ActorType::of_blueprint(blueprint).unwrap_or_else(|| ActorType::of(actor_type));
        Ok(Self { blueprint, class, hero, pose: Some(Pose::of(location, rotation)) })
    }
}
