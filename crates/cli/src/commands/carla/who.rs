//! Actor selection.

use logpose::carla::{ActorType, Body, Frames, Kind, Who};

/// Parses `24`, `class:walker`, `role:hero`, or a blueprint pattern.
pub(super) fn parse(text: &str) -> Result<Who, String> {
    if let Some(name) = text.strip_prefix("class:") {
        let class = ActorType::ALL.into_iter().find(|class| class.name() == name).map(Who::Class);
        let names = ActorType::ALL.map(ActorType::name).join(", ");
        return class.ok_or_else(|| format!("unknown class {name:?}, expected one of {names}"));
    }
    if let Some(role) = text.strip_prefix("role:") {
        return Ok(Who::Role(role.to_owned()));
    }
    if text.is_empty() {
        return Err("expected an actor such as 24, class:walker, role:hero or vehicle.*".to_owned());
    }
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => text.parse().map(Who::Id).map_err(|_| "actor id is too large".to_owned()),
        false => Ok(Who::Blueprint(text.to_owned())),
    }
}

/// The selection as it was typed.
pub(super) fn written(who: &Who) -> String {
    match who {
        Who::Id(id) => id.to_string(),
        Who::Class(class) => format!("class:{}", class.name()),
        Who::Blueprint(pattern) => pattern.clone(),
        Who::Role(role) => format!("role:{role}"),
    }
}

/// Whether an actor matches in a frame, counted from 0. Only the id is known of an actor that was never added.
pub(super) fn is(who: &Who, actor: u32, frames: &Frames<'_>, frame: u32) -> bool {
    let birth = || frames.life(actor, frame).and_then(|life| frames.birth(life));
    *who == Who::Id(actor) || birth().is_some_and(|birth| who.is(&birth))
}

/// Whether any actor of the recording matches at any time.
pub(super) fn occurs(who: &Who, frames: &Frames<'_>) -> bool {
    let born = frames.lives().iter().filter_map(|life| frames.birth(life)).any(|birth| who.is(&birth));
    let placed = |id: u32| {
        (0..frames.frames().len()).any(|place| match frames.packet(place, Kind::Position) {
            Some(Body::Position(records)) => records.iter().any(|record| record.actor == id),
            _ => false,
        })
    };
    born || matches!(who, Who::Id(id) if placed(*id))
}

#[cfg(test)]
mod tests {
    use logpose::carla::{ActorType, Who};

    use super::{parse, written};

    #[test]
    fn actors_are_named_in_four_ways() {
        let cases = [
            ("24", Who::Id(24)),
            ("class:traffic_light", Who::Class(ActorType::TrafficLight)),
            ("role:hero", Who::Role("hero".to_owned())),
            ("vehicle.*", Who::Blueprint("vehicle.*".to_owned())),
        ];
        for (text, who) in cases {
            assert_eq!(parse(text).as_ref(), Ok(&who));
            assert_eq!(written(&who), text);
        }
        assert!(parse("").is_err() && parse("class:car").is_err() && parse("99999999999").is_err());
    }
}
