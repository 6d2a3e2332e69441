//! Where something is and how it is turned, in CARLA's left-handed frame.

use crate::wire::{Position, Rotation, Vector};

/// Where something is, in metres, and how it is turned, in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "axes and angles")]
pub struct Pose {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub roll: f64,
    pub pitch: f64,
    pub yaw: f64,
}

impl Pose {
    /// The pose of a record: its location is in centimetres.
    #[must_use]
    pub fn of(location: Vector, rotation: Rotation) -> Self {
        let Rotation { roll, pitch, yaw } = rotation;
        Self { x: location.x / 100.0, y: location.y / 100.0, z: location.z / 100.0, roll, pitch, yaw }
    }

    /// The pose between two records: locations on a line, each angle along the shorter way.
    #[must_use]
    pub fn between(a: &Position, b: &Position, per: f64) -> Self {
        let line = |a: f64, b: f64| a + per * (b - a);
        let turn = |a: f64, b: f64| a + per * shorter_way(b - a);
        let location = Vector {
            x: line(a.location.x, b.location.x),
            y: line(a.location.y, b.location.y),
            z: line(a.location.z, b.location.z),
        };
        let rotation = Rotation {
            roll: turn(a.rotation.roll, b.rotation.roll),
            pitch: turn(a.rotation.pitch, b.rotation.pitch),
            yaw: turn(a.rotation.yaw, b.rotation.yaw),
        };
        Self::of(location, rotation)
    }

    /// The pose in the world of what has this pose relative to a parent.
    #[must_use]
    pub fn on(&self, parent: &Self) -> Self {
        let axes = parent.axes();
        let [x, y, z] = turned([self.x, self.y, self.z], &axes);
        let [roll, pitch, yaw] = angles(&self.axes().map(|axis| turned(axis, &axes)));
        Self { x: parent.x + x, y: parent.y + y, z: parent.z + z, roll, pitch, yaw }
    }

    /// The directions of its own axes in the world: forward, right, up.
    fn axes(&self) -> [[f64; 3]; 3] {
        let (sr, cr) = self.roll.to_radians().sin_cos();
        let (sp, cp) = self.pitch.to_radians().sin_cos();
        let (sy, cy) = self.yaw.to_radians().sin_cos();
        [
            [cp * cy, cp * sy, sp],
            [sr * sp * cy - cr * sy, sr * sp * sy + cr * cy, -sr * cp],
            [-(cr * sp * cy + sr * sy), cy * sr - cr * sp * sy, cr * cp],
        ]
    }
}

/// A vector that is given along some axes.
fn turned([x, y, z]: [f64; 3], [a, b, c]: &[[f64; 3]; 3]) -> [f64; 3] {
    let sum = |(a, (b, c)): (&f64, (&f64, &f64))| x * a + y * b + z * c;
    let mut parts = a.iter().zip(b.iter().zip(c)).map(sum);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Roll, pitch and yaw of something with these axes.
fn angles([forward, right, up]: &[[f64; 3]; 3]) -> [f64; 3] {
    let [x, y, z] = *forward;
    let (pitch, yaw) = (z.atan2(x.hypot(y)), y.atan2(x));
    // Where its right would be if it were not rolled.
    let level = [-yaw.sin(), yaw.cos(), 0.0];
    let along = |axis: &[f64; 3]| axis.iter().zip(level).map(|(a, b)| a * b).sum::<f64>();
    let roll = along(up).atan2(along(right));
    [roll, pitch, yaw].map(f64::to_degrees)
}

/// A difference of angles in degrees as the shorter way: from -180 to 180.
pub(crate) fn shorter_way(degrees: f64) -> f64 {
    let turn = degrees % 360.0;
    match turn {
        _ if turn > 180.0 => turn - 360.0,
        _ if turn < -180.0 => turn + 360.0,
        _ => turn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Pose, b: Pose) {
        let parts = |p: Pose| [p.x, p.y, p.z, p.roll, p.pitch, p.yaw];
        assert!(parts(a).iter().zip(parts(b)).all(|(a, b)| (a - b).abs() < 1e-9), "{a:?} is not {b:?}");
    }

    #[test]
    fn the_shorter_way() {
        for (degrees, way) in [(10.0, 10.0), (350.0, -10.0), (-350.0, 10.0), (180.0, 180.0), (730.0, 10.0)] {
            assert_eq!(shorter_way(degrees), way);
        }
        assert!(shorter_way(f64::INFINITY).is_nan());
    }

    #[test]
    fn a_child_turns_with_its_parent() {
        let parent = Pose { x: 10.0, y: 20.0, z: 1.0, yaw: 90.0, ..Pose::default() };
        let camera = Pose { x: -10.0, z: 5.0, pitch: -25.0, ..Pose::default() };
        close(camera.on(&parent), Pose { x: 10.0, y: 10.0, z: 6.0, roll: 0.0, pitch: -25.0, yaw: 90.0 });
        // On a slope, forward goes up.
        let parent = Pose { pitch: 90.0, ..Pose::default() };
        close(Pose { x: 2.0, ..Pose::default() }.on(&parent), Pose { z: 2.0, pitch: 90.0, ..Pose::default() });
        // Rolled to the right, its right points down.
        let parent = Pose { roll: 90.0, ..Pose::default() };
        close(Pose { y: 2.0, ..Pose::default() }.on(&parent), Pose { z: -2.0, roll: 90.0, ..Pose::default() });
    }

    #[test]
    fn what_is_at_its_parent_has_its_parents_pose() {
        let parent = Pose { x: 1.0, y: 2.0, z: 3.0, roll: 10.0, pitch: -20.0, yaw: 150.0 };
        close(Pose::default().on(&parent), parent);
        close(parent.on(&Pose::default()), parent);
    }
}
