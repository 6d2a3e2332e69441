//! Packets in one line each, as `logpose dump` prints them.

use std::fmt;

use crate::wire::{Body, Header, Packet, PhysicsBody, Record, Records, WireFormat};

/// A packet in one line: what it is, how much it holds, and its first records.
pub(crate) struct Line<'a> {
    pub(crate) packet: Packet<'a>,
    pub(crate) form: WireFormat,
}

/// How many records are shown.
const SHOWN: usize = 3;

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let map = String::from_utf8_lossy(self.map);
        write!(f, "header: version {}, map {map:?}, date {}", self.version, self.date)
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Packet { id, body, .. } = self.packet;
        let size = body.len();
        let Some(kind) = self.packet.kind(self.form) else {
            write!(f, "{id}: {size} bytes")?;
            body.iter().take(16).try_for_each(|byte| write!(f, " {byte:02x}"))?;
            return if size > 16 { f.write_str(" …") } else { Ok(()) };
        };
        write!(f, "{id} {}", kind.name())?;
        match self.packet.decode(self.form) {
            Err(error) => write!(f, ": {size} bytes, {} records claimed: {}", self.packet.total(), error.kind),
            Ok(Body::FrameStart(start)) => {
                write!(f, " {}: at {} s, for {} s", start.frame, start.elapsed, start.duration)
            }
            Ok(Body::PlatformTime(time) | Body::VisualTime(time)) => write!(f, ": {time} s"),
            Ok(Body::FrameCounter(count)) => write!(f, ": {count}"),
            Ok(Body::FrameEnd | Body::Unknown(_)) => Ok(()),
            Ok(Body::EventAdd(records)) => list(f, size, records, |f, r| {
                let blueprint = String::from_utf8_lossy(r.blueprint);
                write!(f, "{} {blueprint:?} ({}) at {} {}", r.actor, r.actor_type, r.location, r.rotation)?;
                write!(f, ", uid {}, {} attributes", r.uid, r.attributes.0.len())
            }),
            Ok(Body::EventDel(records)) => list(f, size, records, |f, r| write!(f, "{}", r.actor)),
            Ok(Body::EventParent(records)) => list(f, size, records, |f, r| write!(f, "{} to {}", r.actor, r.parent)),
            Ok(Body::Collision(records)) => list(f, size, records, |f, r| {
                let hero = |flag: crate::wire::Flag| if flag.is_set() { " (hero)" } else { "" };
                write!(f, "{}: {}{} with {}{}", r.id, r.actor1, hero(r.hero1), r.actor2, hero(r.hero2))
            }),
            Ok(Body::Position(records)) => {
                list(f, size, records, |f, r| write!(f, "{} at {} {}", r.actor, r.location, r.rotation))
            }
            Ok(Body::TrafficLightState(records)) => list(f, size, records, |f, r| {
                let frozen = if r.frozen.is_set() { ", frozen" } else { "" };
                write!(f, "{} {} for {} s{frozen}", r.actor, r.state, r.elapsed)
            }),
            Ok(Body::VehicleAnim(records)) => list(f, size, records, |f, r| {
                write!(f, "{} steering {} throttle {} brake {}", r.actor, r.steering, r.throttle, r.brake)?;
                write!(f, " handbrake {} gear {}", r.handbrake, r.gear)
            }),
            Ok(Body::WalkerAnim(records)) => list(f, size, records, |f, r| write!(f, "{} {} cm/s", r.actor, r.speed)),
            Ok(Body::VehicleLight(records)) => list(f, size, records, |f, r| write!(f, "{} {:#x}", r.actor, r.lights)),
            Ok(Body::SceneLight(records)) => list(f, size, records, |f, r| {
                let on = if r.on.is_set() { "on" } else { "off" };
                write!(f, "{} {on} {} {:?} group {}", r.light, r.intensity, r.color, r.group)
            }),
            Ok(Body::Kinematics(records)) => {
                list(f, size, records, |f, r| write!(f, "{} {} m/s {} °/s", r.actor, r.linear, r.angular))
            }
            Ok(Body::BoundingBox(records)) => {
                list(f, size, records, |f, r| write!(f, "{} {} extent {}", r.actor, r.origin, r.extent))
            }
            Ok(Body::TriggerVolume(records)) => {
                list(f, size, records, |f, r| write!(f, "{} {} extent {}", r.actor, r.origin, r.extent))
            }
            Ok(Body::PhysicsControl(records)) => list(f, size, records, |f, r| {
                let wheels = match &r.body {
                    PhysicsBody::Ue4(body) => body.wheels.len(),
                    PhysicsBody::Ue5(body) => body.wheels.len(),
                };
                write!(f, "{} with {wheels} wheels", r.actor)
            }),
            Ok(Body::TrafficLightTime(records)) => list(f, size, records, |f, r| {
                write!(f, "{} green {} s yellow {} s red {} s", r.actor, r.green, r.yellow, r.red)
            }),
            Ok(Body::WalkerBones(records)) => {
                list(f, size, records, |f, r| write!(f, "{} with {} bones", r.actor, r.bones.len()))
            }
            Ok(Body::VehicleWheels(records)) => list(f, size, records, |f, r| {
                write!(f, "{}", r.actor)?;
                r.wheels.iter().try_for_each(|w| write!(f, " {}:{}°/{}°", w.wheel, w.steering_angle, w.tire_rotation))
            }),
            Ok(Body::BikerAnim(records)) => list(f, size, records, |f, r| {
                write!(f, "{} {} cm/s engine {}", r.actor, r.forward_speed, r.engine_rotation)
            }),
            Ok(Body::VehicleDoor(records)) => list(f, size, records, |f, r| {
                let open = if r.open.is_set() { "open" } else { "closed" };
                write!(f, "{} door {} {open}", r.actor, r.door)
            }),
            Ok(Body::Weather(records)) => list(f, size, records, |f, r| write!(f, "{:?}", r.values)),
        }
    }
}

fn list<'a, R: Record<'a>>(
    f: &mut fmt::Formatter<'_>,
    size: usize,
    records: Records<'a, R>,
    mut show: impl FnMut(&mut fmt::Formatter<'_>, &R) -> fmt::Result,
) -> fmt::Result {
    let many = records.len();
    write!(f, ": {many} record{} in {size} bytes", if many == 1 { "" } else { "s" })?;
    for (place, record) in records.iter().take(SHOWN).enumerate() {
        f.write_str(if place == 0 { ": " } else { "; " })?;
        show(f, &record)?;
    }
    if many > SHOWN { f.write_str("; …") } else { Ok(()) }
}
