//! The text of `show_recorder_file_info`.

use std::io::{self, Write};

use crate::text::{Fixed, General, Triple};
use crate::wire::{Body, FrameStart, Kind, PhysicsBody, Record, Records, Ue4Physics, Ue5Physics, Ue5Wheel};
use crate::wire::{Weather, WheelField, widen};

/// The names of lamps in the order of the text, which is not quite that of their bits.
const LAMPS: [(u32, &str); 11] = [
    (0, "Position"),
    (1, "LowBeam"),
    (2, "HighBeam"),
    (3, "Brake"),
    (4, "RightBlinker"),
    (5, "LeftBlinker"),
    (6, "Reverse"),
    (8, "Interior"),
    (7, "Fog"),
    (9, "Special1"),
    (10, "Special2"),
];

const DOORS: [&str; 7] = ["Front Left", "Front Right", "Rear Left", "Rear Right", "Hood", "Trunk", "All"];

const WEATHER: [&str; 14] = [
    "Cloudiness",
    "Precipitation",
    "PrecipitationDeposits",
    "WindIntensity",
    "SunAzimuthAngle",
    "SunAltitudeAngle",
    "FogDensity",
    "FogDistance",
    "FogFalloff",
    "Wetness",
    "ScatteringIntensity",
    "MieScatteringScale",
    "RayleighScatteringScale",
    "DustStorm",
];

/// Whether packets of a kind show in the text.
pub(super) fn shows(kind: Kind, all: bool) -> bool {
    match kind {
        Kind::EventAdd | Kind::EventDel | Kind::EventParent | Kind::Collision | Kind::Weather => true,
        Kind::FrameEnd | Kind::VisualTime | Kind::VehicleWheels | Kind::BikerAnim | Kind::FrameCounter => false,
        _ => all,
    }
}

/// What the text remembers from packet to packet.
pub(super) struct Info {
    all: bool,
    /// Whether the line of this frame was written.
    written: bool,
}

impl Info {
    pub(super) fn new(all: bool) -> Self {
        Self { all, written: false }
    }

    fn frame(&mut self, frame: &FrameStart, out: &mut dyn Write) -> io::Result<()> {
        if !self.written {
            self.written = true;
            writeln!(out, "Frame {} at {} seconds", frame.frame, General(frame.elapsed))?;
        }
        Ok(())
    }

    /// Writes what one packet holds.
    pub(super) fn packet(&mut self, body: &Body<'_>, frame: &FrameStart, out: &mut dyn Write) -> io::Result<()> {
        let events = match body {
            Body::EventAdd(records) => records.len(),
            Body::EventDel(records) => records.len(),
            Body::EventParent(records) => records.len(),
            Body::Collision(records) => records.len(),
            Body::Weather(records) => records.len(),
            _ => 0,
        };
        if let Body::FrameStart(_) = body {
            self.written = false;
        }
        if events > 0 || (self.all && matches!(body, Body::FrameStart(_))) {
            self.frame(frame, out)?;
        }
        match body {
            Body::EventAdd(records) => records.iter().try_for_each(|r| {
                write!(out, " Create {}: ", r.actor)?;
                out.write_all(r.blueprint)?;
                writeln!(out, " ({}) at {}", r.actor_type, Triple(r.location.array()))?;
                r.attributes.0.iter().try_for_each(|attribute| {
                    out.write_all(b"  ")?;
                    out.write_all(attribute.id)?;
                    out.write_all(b" = ")?;
                    out.write_all(attribute.value)?;
                    out.write_all(b"\n")
                })
            }),
            Body::EventDel(records) => records.iter().try_for_each(|r| writeln!(out, " Destroy {}", r.actor)),
            Body::EventParent(records) => {
                records.iter().try_for_each(|r| writeln!(out, " Parenting {} with {} (parent)", r.actor, r.parent))
            }
            Body::Collision(records) => records.iter().try_for_each(|r| {
                let hero = |flag: bool| if flag { " (hero) " } else { "" };
                let (hero1, hero2) = (hero(r.hero1.is_set()), hero(r.hero2.is_set()));
                writeln!(out, " Collision id {} between {}{hero1} with {}{hero2}", r.id, r.actor1, r.actor2)
            }),
            Body::Weather(records) if events > 0 => list(" Weathers", records, out, |out, r: Weather| {
                out.write_all(b" ")?;
                for (name, value) in WEATHER.iter().zip(r.values) {
                    write!(out, " {name}: {}", f(value))?;
                }
                out.write_all(b"\n")
            }),
            _ if self.all => state(body, out),
            _ => Ok(()),
        }
    }
}

/// A number of the file.
fn f(x: f32) -> General {
    General(widen(x))
}

fn triple(xyz: [f32; 3]) -> Triple {
    Triple(xyz.map(widen))
}

/// Writes how many records there are, and each.
fn list<'a, R: Record<'a>>(
    title: &str,
    records: &Records<'a, R>,
    out: &mut dyn Write,
    mut each: impl FnMut(&mut dyn Write, R) -> io::Result<()>,
) -> io::Result<()> {
    writeln!(out, "{title}: {}", records.len())?;
    records.iter().try_for_each(|record| each(out, record))
}

/// Writes a packet of what holds for its frame.
fn state(body: &Body<'_>, out: &mut dyn Write) -> io::Result<()> {
    let boxes = |out: &mut dyn Write, actor: u32, origin: [f64; 3], extent: [f64; 3]| {
        writeln!(out, "  Id: {actor} origin: {} extension: {}", Triple(origin), Triple(extent))
    };
    match body {
        Body::Position(records) => list(" Positions", records, out, |out, r| {
            let (location, rotation) = (Triple(r.location.array()), Triple(r.rotation.array()));
            writeln!(out, "  Id: {} Location: {location} Rotation: {rotation}", r.actor)
        }),
        Body::TrafficLightState(records) => list(" State traffic lights", records, out, |out, r| {
            write!(out, "  Id: {} state: ", r.actor)?;
            out.write_all(&[b'0'.wrapping_add(r.state)])?;
            writeln!(out, " frozen: {} elapsedTime: {}", u8::from(r.frozen.is_set()), f(r.elapsed))
        }),
        Body::VehicleAnim(records) => list(" Vehicle animations", records, out, |out, r| {
            let (steering, throttle, brake) = (f(r.steering), f(r.throttle), f(r.brake));
            write!(out, "  Id: {} Steering: {steering} Throttle: {throttle} Brake: {brake}", r.actor)?;
            writeln!(out, " Handbrake: {} Gear: {}", u8::from(r.handbrake.is_set()), r.gear)
        }),
        Body::WalkerAnim(records) => {
            list(" Walker animations", records, out, |out, r| writeln!(out, "  Id: {} speed: {}", r.actor, f(r.speed)))
        }
        Body::VehicleDoor(records) => list(" Vehicle door animations", records, out, |out, r| {
            write!(out, "  Id: {}\n  Doors opened: ", r.actor)?;
            DOORS.get(usize::from(r.door)).map_or(Ok(()), |door| writeln!(out, " {door} "))
        }),
        Body::VehicleLight(records) => list(" Vehicle light animations", records, out, |out, r| {
            write!(out, "  Id: {}", r.actor)?;
            let lit = LAMPS.iter().filter(|(bit, _)| r.lights >> bit & 1 == 1);
            lit.clone().try_for_each(|(_, name)| write!(out, " {name}"))?;
            out.write_all(if lit.count() == 0 { b" None\n" } else { b"\n" })
        }),
        Body::SceneLight(records) => list(" Scene light changes", records, out, |out, r| {
            let on = if r.on.is_set() { "True" } else { "False" };
            let [red, green, blue, _] = r.color;
            let color = triple([red, green, blue]);
            writeln!(out, "  Id: {} enabled: {on} intensity: {} RGB_color: {color}", r.light, f(r.intensity))
        }),
        Body::Kinematics(records) => list(" Dynamic actors", records, out, |out, r| {
            let (linear, angular) = (Triple(r.linear.array()), Triple(r.angular.array()));
            writeln!(out, "  Id: {} linear_velocity: {linear} angular_velocity: {angular}", r.actor)
        }),
        Body::BoundingBox(records) => list(" Actor bounding boxes", records, out, |out, r| {
            boxes(out, r.actor, r.origin.array(), r.extent.array())
        }),
        Body::TriggerVolume(records) => list(" Actor trigger volumes", records, out, |out, r| {
            boxes(out, r.actor, r.origin.array(), r.extent.array())
        }),
        Body::PlatformTime(time) => writeln!(out, " Current platform time: {}", General(*time)),
        Body::PhysicsControl(records) => list(" Physics Control events", records, out, |out, r| {
            writeln!(out, "  Id: {}", r.actor)?;
            match &r.body {
                PhysicsBody::Ue4(physics) => ue4(physics, out),
                PhysicsBody::Ue5(physics) => ue5(physics, out),
            }
        }),
        Body::TrafficLightTime(records) => list(" Traffic Light time events", records, out, |out, r| {
            let (green, yellow, red) = (f(r.green), f(r.yellow), f(r.red));
            writeln!(out, "  Id: {} green_time: {green} yellow_time: {yellow} red_time: {red}", r.actor)
        }),
        Body::WalkerBones(records) => {
            list(" Walkers Bones", records, out, |out, r| {
                writeln!(out, "  Id: {}", r.actor)?;
                r.bones.iter().try_for_each(|bone| {
                    out.write_all(b"     Bone: \"")?;
                    out.write_all(bone.name)?;
                    let (location, rotation) = (Triple(bone.location.array()), Triple(bone.rotation.array()));
                    writeln!(out, "\" relative: Loc{location} Rot{rotation}")
                })
            })?;
            out.write_all(b"\n")
        }
        _ => Ok(()),
    }
}

fn number(name: &str, value: f32, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "   {name} = {}", f(value))
}

/// The server keeps the centre of mass in centimetres, and reports it in metres.
fn center_of_mass(metres: [f32; 3], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "   center_of_mass = {}", triple(metres.map(|x| x * 100.0 * 0.01)))
}

/// Writes the points of a curve in the order in which the server keeps them: by x, and of equal ones the last first.
fn curve(name: &str, points: &[[f32; 2]], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "   {name} =")?;
    let mut points: Vec<_> = points.iter().rev().copied().collect();
    // Adding zero makes one of the two zeros.
    points.sort_by(|[a, _], [b, _]| (a + 0.0).total_cmp(&(b + 0.0)));
    points.iter().try_for_each(|[x, y]| write!(out, " ({}, {})", f(*x), f(*y)))?;
    out.write_all(b"\n")
}

fn ue4(p: &Ue4Physics, out: &mut dyn Write) -> io::Result<()> {
    number("max_rpm", p.max_rpm, out)?;
    number("MOI", p.moi, out)?;
    number("damping_rate_full_throttle", p.damping_rate_full_throttle, out)?;
    number("damping_rate_zero_throttle_clutch_engaged", p.damping_rate_zero_throttle_clutch_engaged, out)?;
    number("damping_rate_zero_throttle_clutch_disengaged", p.damping_rate_zero_throttle_clutch_disengaged, out)?;
    writeln!(out, "   use_gear_auto_box = {}", p.use_gear_autobox)?;
    // Not recorded: what a server shows is what it begins with.
    number("gear_switch_time", 0.5, out)?;
    number("clutch_strength", p.clutch_strength, out)?;
    number("final_ratio", p.final_ratio, out)?;
    number("mass", p.mass, out)?;
    number("drag_coefficient", p.drag_coefficient, out)?;
    center_of_mass(p.center_of_mass, out)?;
    curve("torque_curve", &p.torque_curve, out)?;
    curve("steering_curve", &p.steering_curve, out)?;
    out.write_all(b"   forward_gears:\n")?;
    for (i, [ratio, down, up]) in p.forward_gears.iter().enumerate() {
        writeln!(out, "    gear {i}: ratio {} down_ratio {} up_ratio {}", f(*ratio), f(*down), f(*up))?;
    }
    out.write_all(b"   wheels:\n")?;
    for (i, wheel) in p.wheels.iter().enumerate() {
        write!(out, "    wheel {i}: tire_friction {}", f(wheel.tire_friction))?;
        write!(out, " damping_rate {}", f(wheel.damping_rate))?;
        write!(out, " max_steer_angle {}", f(wheel.max_steer_angle))?;
        write!(out, " radius {}", f(wheel.radius))?;
        write!(out, " max_brake_torque {}", f(wheel.max_brake_torque))?;
        write!(out, " max_handbrake_torque {}", f(wheel.max_handbrake_torque))?;
        writeln!(out, " position {}", triple(wheel.position))?;
    }
    Ok(())
}

fn ue5(p: &Ue5Physics, out: &mut dyn Write) -> io::Result<()> {
    number("max_torque", p.max_torque, out)?;
    number("max_rpm", p.max_rpm, out)?;
    number("MOI", p.rev_up_moi, out)?;
    number("rev_down_rate", p.rev_down_rate, out)?;
    // A byte is a character to a C++ stream.
    out.write_all(b"   differential_type = ")?;
    out.write_all(&[p.differential_type, b'\n'])?;
    number("front_rear_split", p.front_rear_split, out)?;
    writeln!(out, "   use_gear_auto_box = {}", p.use_automatic_gears)?;
    number("gear_change_time", p.gear_change_time, out)?;
    number("final_ratio", p.final_ratio, out)?;
    number("change_up_rpm", p.change_up_rpm, out)?;
    number("change_down_rpm", p.change_down_rpm, out)?;
    number("transmission_efficiency", p.transmission_efficiency, out)?;
    number("mass", p.mass, out)?;
    number("drag_coefficient", p.drag_coefficient, out)?;
    center_of_mass(p.center_of_mass, out)?;
    curve("torque_curve", &p.torque_curve, out)?;
    curve("steering_curve", &p.steering_curve, out)?;
    for (name, ratios) in [("forward", &p.forward_gear_ratios), ("reverse", &p.reverse_gear_ratios)] {
        writeln!(out, "   {name}_gear_ratios:")?;
        for (i, ratio) in ratios.iter().enumerate() {
            writeln!(out, "    gear {i}: ratio {}", f(*ratio))?;
        }
    }
    out.write_all(b"   wheels:\n")?;
    for (i, wheel) in p.wheels.iter().enumerate() {
        writeln!(out, "wheel #{i}:")?;
        ue5_wheel(wheel, out)?;
    }
    Ok(())
}

fn ue5_wheel(wheel: &Ue5Wheel, out: &mut dyn Write) -> io::Result<()> {
    for &(name, at, field) in Ue5Wheel::FIELDS {
        let bytes = wheel.0.get(at..).unwrap_or_default();
        let word = |i: usize| bytes.get(4 * i..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        let number = |i: usize| widen(f32::from_le_bytes(word(i)));
        let byte = bytes.first().copied().unwrap_or_default();
        write!(out, " {name}: ")?;
        match field {
            WheelField::Byte => out.write_all(&[byte])?,
            WheelField::Flag => write!(out, "{}", u8::from(byte != 0))?,
            WheelField::Number => write!(out, "{}", General(number(0)))?,
            WheelField::Integer => write!(out, "{}", i32::from_le_bytes(word(0)))?,
            WheelField::Vector => {
                write!(out, "({}, {}, {})", Fixed(number(0), 6), Fixed(number(1), 6), Fixed(number(2), 6))?;
            }
        }
        if name == "external_torque_combine_method" {
            out.write_all(b" lateral_slip_graph: []")?;
        }
    }
    out.write_all(b"\n")
}
