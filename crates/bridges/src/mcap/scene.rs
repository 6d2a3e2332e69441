//! A recording of traffic as Foxglove's 3D panel shows it: frames that move, boxes that hang on them, lights.
//!
//! CARLA's world is left-handed (x forward, y right, z up; yaw to the right, pitch up, roll to the right), that of
//! Foxglove right-handed with y to the left. Mirrored at the plane of x and z, a place (x, y, z) is (x, -y, z). The
//! forward axis of a body, (cos p cos y, cos p sin y, sin p), becomes (cos p cos y, -cos p sin y, sin p), which is that of
//! the right-handed rotation Rz(-y) Ry(-p); comparing the second axis in the same way leaves the roll as it is:
//! Rz(-yaw) Ry(-pitch) Rx(roll).

use std::collections::BTreeMap;

use logpose_core::{Channel, Time, Value, array_at};

use super::foxglove::{doubles, nested, stamp, varint};

/// Who is there when in a recording of traffic, how large, and where the traffic lights stand.
///
/// The pieces of a file are written side by side, so that what lasts must be known before.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    adds: Vec<Add>,
    deletes: Vec<(Time, u32)>,
    boxes: BTreeMap<u32, Vec<(Time, [f64; 6])>>,
}

#[derive(Clone, Debug)]
struct Add {
    time: Time,
    actor: u32,
    blueprint: String,
    class: Class,
    place: [f64; 3],
    hero: bool,
    wheels: Option<u32>,
    color: Option<[f64; 3]>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Vehicle,
    Walker,
    TrafficLight,
}

impl Scene {
    /// Whether the samples of a channel are to be passed to [`Scene::note`].
    #[must_use]
    pub fn needs(channel: &Channel) -> bool {
        matches!(&*channel.name, ADD | DELETE) || is_box(channel)
    }

    /// Takes a sample of a channel that is needed.
    pub fn note(&mut self, channel: &Channel, time: Time, value: &Value<'_>) {
        match value {
            Value::String(text) if channel.name == ADD => self.adds.extend(add(time, text)),
            Value::Int64(actor) if channel.name == DELETE => {
                self.deletes.extend(u32::try_from(*actor).ok().map(|actor| (time, actor)));
            }
            Value::Bytes(bytes) if is_box(channel) => {
                if let (Some(actor), Some(numbers)) = (actor_of(&channel.name, "/box"), six(bytes)) {
                    self.boxes.entry(actor).or_default().push((time, numbers));
                }
            }
            _ => {}
        }
    }

    /// What is to be drawn as far as it was noted. A log that is played again has the same again.
    pub(crate) fn drawn_so_far(&mut self) -> Drawn {
        self.adds.sort_by_key(|add| (add.time, add.actor));
        self.adds.dedup_by_key(|add| (add.time, add.actor));
        self.deletes.sort_unstable();
        self.deletes.dedup();
        for boxes in self.boxes.values_mut() {
            boxes.sort_by_key(|(time, _)| *time);
            boxes.dedup_by_key(|(time, _)| *time);
        }
        self.clone().drawn()
    }

    /// What is to be drawn, once everything was noted.
    pub(crate) fn drawn(mut self) -> Drawn {
        self.adds.sort_by_key(|add| add.time);
        let mut gone: BTreeMap<u32, Vec<Time>> = BTreeMap::new();
        self.deletes.sort_unstable();
        self.deletes.iter().for_each(|(time, actor)| gone.entry(*actor).or_default().push(*time));
        let mut shown: Vec<Shown> = Vec::with_capacity(self.adds.len());
        let mut next: BTreeMap<u32, Time> = BTreeMap::new();
        for add in self.adds.into_iter().rev() {
            // An id may be used again; then there are two lives.
            let again = next.insert(add.actor, add.time);
            let gone = gone.get(&add.actor).map_or(&[][..], |times| times);
            let gone = gone.get(gone.partition_point(|time| *time < add.time)).copied();
            let until = again.into_iter().chain(gone).min().unwrap_or(Time::MAX);
            let boxes = self.boxes.get(&add.actor).map_or(&[][..], |boxes| boxes);
            let recorded = boxes.iter().rev().find(|(time, _)| *time < until && *time >= add.time);
            let recorded = recorded.map(|(_, numbers)| *numbers).filter(|n| n.iter().all(|x| x.is_finite()));
            shown.push(Shown { from: add.time, until, shape: shape(&add, recorded), add });
        }
        shown.reverse();
        let mut changes: Vec<Time> = shown.iter().flat_map(|one| [one.from, one.until]).collect();
        changes.sort_unstable();
        changes.dedup();
        Drawn { shown, changes }
    }
}

const ADD: &str = "/carla/events/add";
const DELETE: &str = "/carla/events/delete";
/// The frame in which everything stands.
const MAP: &str = "map";

fn is_box(channel: &Channel) -> bool {
    matches!(&*channel.type_name, "struct:CarlaBox" | "struct:CarlaBox64") && channel.name.ends_with("/box")
}

fn actor_of(name: &str, suffix: &str) -> Option<u32> {
    name.strip_prefix("/carla/actors/")?.strip_suffix(suffix)?.parse().ok()
}

fn add(time: Time, text: &[u8]) -> Option<Add> {
    let json: serde_json::Value = serde_json::from_slice(text).ok()?;
    let number = |key: &str| json.get(key).and_then(serde_json::Value::as_f64);
    let class = match json.get("class")?.as_str()? {
        "vehicle" => Class::Vehicle,
        "walker" => Class::Walker,
        "traffic_light" => Class::TrafficLight,
        _ => return None,
    };
    let attributes = json.get("attributes").and_then(serde_json::Value::as_array);
    let attribute = |id: &str| {
        let found = attributes?.iter().find(|one| one.get("id").and_then(serde_json::Value::as_str) == Some(id))?;
        found.get("value")?.as_str()
    };
    let color = |text: &str| {
        let mut parts = text.split(',').map(|part| part.trim().parse::<u8>().ok().map(|x| f64::from(x) / 255.0));
        Some([parts.next()??, parts.next()??, parts.next()??])
    };
    Some(Add {
        time,
        actor: u32::try_from(json.get("actor")?.as_u64()?).ok()?,
        blueprint: json.get("blueprint").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
        class,
        place: [number("x")?, number("y")?, number("z")?],
        hero: attribute("role_name") == Some("hero"),
        wheels: attribute("number_of_wheels").and_then(|text| text.parse().ok()),
        color: attribute("color").and_then(color),
    })
}

/// A box: its centre in the actor's frame and its sizes, and whether they were recorded.
#[derive(Clone, Copy, Debug)]
struct Shape {
    centre: [f64; 3],
    size: [f64; 3],
    recorded: bool,
}

fn shape(add: &Add, recorded: Option<[f64; 6]>) -> Shape {
    if let Some([x, y, z, a, b, c]) = recorded {
        return Shape { centre: [x, -y, z], size: [2.0 * a, 2.0 * b, 2.0 * c].map(f64::abs), recorded: true };
    }
    // Vehicles stand on their origin, walkers have it in their middle.
    let (size, height): ([f64; 3], f64) = match (add.class, add.wheels) {
        (Class::Vehicle, Some(2)) => ([1.9, 0.7, 1.5], 0.75),
        (Class::Vehicle, _) => ([4.5, 1.9, 1.6], 0.8),
        (Class::Walker, _) => ([0.5, 0.5, 1.8], 0.0),
        (Class::TrafficLight, _) => ([1.0; 3], LAMP),
    };
    Shape { centre: [0.0, 0.0, height], size, recorded: false }
}

/// Metres from the foot of a traffic light to the sphere that shows its colour.
const LAMP: f64 = 4.0;

/// What is drawn, and when it changes.
#[derive(Debug)]
pub(crate) struct Drawn {
    shown: Vec<Shown>,
    changes: Vec<Time>,
}

#[derive(Clone, Debug)]
struct Shown {
    from: Time,
    until: Time,
    add: Add,
    shape: Shape,
}

impl Drawn {
    /// Which stretch between two changes a moment lies in.
    fn stretch(&self, time: Time) -> usize {
        self.changes.partition_point(|change| *change <= time)
    }
}

/// What the samples of a channel change in the scene.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SceneRole {
    /// Where an actor is.
    Pose(u32),
    /// What a traffic light shows.
    Light(u32),
}

impl SceneRole {
    /// What the samples of a channel mean.
    pub(crate) fn of(channel: &Channel) -> Option<Self> {
        match &*channel.type_name {
            "struct:CarlaTransform" | "struct:CarlaTransform64" => {
                actor_of(&channel.name, "/transform").map(Self::Pose)
            }
            "struct:CarlaLight" => {
                let id = channel.name.strip_prefix("/carla/lights/")?.strip_suffix("/state")?;
                id.parse().ok().map(Self::Light)
            }
            _ => None,
        }
    }
}

/// The scene of one moment, while its samples come.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    /// When, on the log's clock and as MCAP has it.
    time: Option<(Time, u64)>,
    /// `foxglove.FrameTransforms` so far.
    transforms: Vec<u8>,
    lights: BTreeMap<u32, u8>,
    /// Whether the lights are others than those that were drawn last.
    changed: bool,
    /// The stretch that was drawn last.
    stretch: Option<usize>,
}

impl Moment {
    /// Whether something waits to be written that is not of this time.
    #[inline]
    pub(crate) fn is_before(&self, log_time: u64) -> bool {
        self.time.is_some_and(|(_, time)| time != log_time)
    }

    /// Another scene is to be drawn from here on.
    pub(crate) fn redraw(&mut self) {
        self.changed = true;
    }

    /// Takes a sample.
    pub(crate) fn note(&mut self, role: SceneRole, time: Time, log_time: u64, payload: &[u8]) {
        self.time = Some((time, log_time));
        match role {
            SceneRole::Pose(actor) => {
                let Some([x, y, z, roll, pitch, yaw]) = six(payload).filter(|n| n.iter().all(|x| x.is_finite())) else {
                    return;
                };
                nested(&mut self.transforms, 1, |out| {
                    stamp(out, 1, log_time);
                    nested(out, 2, |out| out.extend_from_slice(MAP.as_bytes()));
                    nested(out, 3, |out| out.extend_from_slice(frame(actor).as_bytes()));
                    nested(out, 4, |out| doubles(out, &[x, -y, z]));
                    nested(out, 5, |out| doubles(out, &quaternion(roll, pitch, yaw)));
                });
            }
            SceneRole::Light(actor) => {
                let Some(state) = payload.first() else { return };
                self.changed |= self.lights.insert(actor, *state) != Some(*state);
            }
        }
    }

    /// Gives what was noted to `write`: the time, the transforms if there are any, the scene if it is another than
    /// before.
    pub(crate) fn finish(&mut self, drawn: &Drawn, mut write: impl FnMut(u64, Option<&[u8]>, Option<&[u8]>)) {
        let Some((time, log_time)) = self.time.take() else { return };
        let stretch = drawn.stretch(time);
        let scene = (self.changed || self.stretch != Some(stretch)).then(|| {
            self.changed = false;
            self.stretch = Some(stretch);
            self.scene(drawn, time, log_time)
        });
        let transforms = (!self.transforms.is_empty()).then_some(&*self.transforms);
        write(log_time, transforms, scene.as_deref());
        self.transforms.clear();
    }

    /// All that is to be seen, as `foxglove.SceneUpdate`. Each one is whole, so that a viewer that jumps needs but the
    /// last before its place.
    fn scene(&self, drawn: &Drawn, time: Time, log_time: u64) -> Vec<u8> {
        let mut out = Vec::new();
        nested(&mut out, 1, |out| {
            stamp(out, 1, log_time);
            out.push(2 << 3);
            varint(out, 1); // all that came before
        });
        let here = || drawn.shown.iter().filter(|one| one.from <= time && time < one.until);
        for Shown { add, shape, .. } in here().filter(|one| one.add.class != Class::TrafficLight) {
            nested(&mut out, 2, |out| {
                let (frame, kind) = (frame(add.actor), if add.class == Class::Walker { "walker" } else { "vehicle" });
                entity(out, log_time, &frame, &add.actor.to_string(), true);
                pair(out, "blueprint", &add.blueprint);
                pair(out, "class", kind);
                if add.hero {
                    pair(out, "role", "hero");
                }
                pair(out, "size", if shape.recorded { "recorded" } else { "default" });
                nested(out, 8, |out| primitive(out, shape.centre, shape.size, add.color()));
            });
        }
        if here().any(|one| one.add.class == Class::TrafficLight) {
            nested(&mut out, 2, |out| {
                entity(out, log_time, MAP, "traffic_lights", false);
                for one in here().filter(|one| one.add.class == Class::TrafficLight) {
                    let [x, y, z] = one.add.place;
                    let color = match self.lights.get(&one.add.actor) {
                        Some(0) => [0.9, 0.1, 0.1],
                        Some(1) => [0.95, 0.75, 0.1],
                        Some(2) => [0.1, 0.8, 0.2],
                        _ => [0.4, 0.4, 0.4],
                    };
                    nested(out, 9, |out| primitive(out, [x, -y, z + LAMP], [1.0; 3], color));
                }
            });
        }
        out
    }
}

impl Add {
    fn color(&self) -> [f64; 3] {
        match (self.hero, self.color, self.class) {
            (true, ..) => [0.95, 0.3, 0.2],
            (_, Some(color), _) => color,
            (.., Class::Walker) => [0.95, 0.6, 0.15],
            _ => [0.3, 0.5, 0.85],
        }
    }
}

/// The frame of an actor.
fn frame(actor: u32) -> String {
    format!("actor/{actor}")
}

/// The front of a `foxglove.SceneEntity`.
fn entity(out: &mut Vec<u8>, time: u64, frame: &str, id: &str, locked: bool) {
    stamp(out, 1, time);
    nested(out, 2, |out| out.extend_from_slice(frame.as_bytes()));
    nested(out, 3, |out| out.extend_from_slice(id.as_bytes()));
    if locked {
        out.extend_from_slice(&[5 << 3, 1]);
    }
}

/// A line of metadata of a `foxglove.SceneEntity`.
fn pair(out: &mut Vec<u8>, key: &str, value: &str) {
    nested(out, 6, |out| {
        nested(out, 1, |out| out.extend_from_slice(key.as_bytes()));
        nested(out, 2, |out| out.extend_from_slice(value.as_bytes()));
    });
}

/// A cube or a sphere: pose, size, colour.
fn primitive(out: &mut Vec<u8>, place: [f64; 3], size: [f64; 3], [r, g, b]: [f64; 3]) {
    nested(out, 1, |out| {
        nested(out, 1, |out| doubles(out, &place));
        nested(out, 2, |out| doubles(out, &[0.0, 0.0, 0.0, 1.0]));
    });
    nested(out, 2, |out| doubles(out, &size));
    nested(out, 3, |out| doubles(out, &[r, g, b, 0.8]));
}

/// The right-handed rotation of CARLA's angles in degrees, with w last.
fn quaternion(roll: f64, pitch: f64, yaw: f64) -> [f64; 4] {
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin_cos();
    let ((sr, cr), (sp, cp), (sy, cy)) = (half(roll), half(-pitch), half(-yaw));
    [sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy]
}

/// Six numbers at the front of a payload.
fn six(payload: &[u8]) -> Option<[f64; 6]> {
    let numbers: &[u8; 48] = array_at(payload, 0)?;
    let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    Some(std::array::from_fn(|_| numbers.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::quaternion;

    /// A vector turned by a quaternion.
    fn turned([x, y, z, w]: [f64; 4], [a, b, c]: [f64; 3]) -> [f64; 3] {
        let t = [2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)];
        [a + w * t[0] + y * t[2] - z * t[1], b + w * t[1] + z * t[0] - x * t[2], c + w * t[2] + x * t[1] - y * t[0]]
    }

    #[test]
    fn turns_are_those_of_the_left_handed_world_in_a_mirror() {
        // The axes of Unreal's rotation matrix: forward and right.
        for (roll, pitch, yaw) in [(0.0, 0.0, 90.0), (10.0, 0.0, 0.0), (0.0, 20.0, 0.0), (-30.0, 40.0, 130.0)] {
            let (r, p, y): (f64, f64, f64) = (f64::to_radians(roll), f64::to_radians(pitch), f64::to_radians(yaw));
            let forward = [p.cos() * y.cos(), p.cos() * y.sin(), p.sin()];
            let right = [
                r.sin() * p.sin() * y.cos() - r.cos() * y.sin(),
                r.sin() * p.sin() * y.sin() + r.cos() * y.cos(),
                -r.sin() * p.cos(),
            ];
            let q = quaternion(roll, pitch, yaw);
            let mirrored = |[x, y, z]: [f64; 3]| [x, -y, z];
            let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near(turned(q, [1.0, 0.0, 0.0]), mirrored(forward)), "{roll} {pitch} {yaw}");
            // Its right side is at -y here.
            assert!(near(turned(q, [0.0, -1.0, 0.0]), mirrored(right)), "{roll} {pitch} {yaw}");
        }
    }
}
