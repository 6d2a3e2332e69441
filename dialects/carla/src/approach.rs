//! How long until two actors touch, if both go on as they do.

use crate::state::{ActorState, Bounds, PoseSource, State};
use crate::wire::{ActorType, Vector};

/// Two actors that will touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// The one with the lower id.
    pub actor1: u32,
    /// The other.
    pub actor2: u32,
    /// Between their centres on the ground, in metres.
    pub distance: f64,
    /// How fast their centres come nearer, in metres a second; negative if they part.
    pub closing_speed: f64,
    /// Seconds until their boxes touch; 0 if they do already.
    pub time_to_collision: f64,
}

/// The pairs of vehicles and walkers that will touch within so many seconds if none of them changes its velocity, seen
/// from above. Their boxes are the recorded ones; those without have the usual size of their class.
#[must_use]
pub fn approaches(state: &State<'_>, within: f64) -> Vec<Approach> {
    let movers: Vec<Mover> = state.actors.iter().filter_map(Mover::of).collect();
    let mut found = Vec::new();
    for (place, a) in movers.iter().enumerate() {
        found.extend(movers.iter().skip(place + 1).filter_map(|b| a.approach(b, within)));
    }
    found
}

impl Bounds {
    /// The usual box of a vehicle or walker, for those whose own is not recorded. Others have none.
    #[must_use]
    pub fn usual(class: ActorType) -> Option<Self> {
        let (length, width, height) = match class {
            ActorType::Vehicle => (2.3, 1.0, 0.75),
            ActorType::Walker => (0.2, 0.2, 0.9),
            _ => return None,
        };
        Some(Self { origin: Vector::new(0.0, 0.0, height), extent: Vector::new(length, width, height) })
    }

    /// Whether all its numbers are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.origin.array().into_iter().chain(self.extent.array()).all(f64::is_finite)
    }
}

/// A box on the ground that moves.
struct Mover {
    actor: u32,
    centre: [f64; 2],
    velocity: [f64; 2],
    /// Half of its length forward and half of its width to the right.
    sides: [[f64; 2]; 2],
    /// Half of its diagonal.
    radius: f64,
}

impl Mover {
    fn of(state: &ActorState<'_>) -> Option<Self> {
        let usual = Bounds::usual(state.class)?;
        let bounds = state.bounds.filter(Bounds::is_finite).unwrap_or(usual);
        if state.pose_source != PoseSource::Recorded {
            return None;
        }
        let (sin, cos) = state.pose.yaw.to_radians().sin_cos();
        let (forward, right) = ([cos, sin], [-sin, cos]);
        let Vector { x, y, .. } = bounds.origin;
        let extent = bounds.extent;
        let velocity = state.velocity.map_or([0.0, 0.0], |velocity| [velocity.linear.x, velocity.linear.y]);
        let mover = Self {
            actor: state.actor,
            centre: plus([state.pose.x, state.pose.y], plus(times(forward, x), times(right, y))),
            velocity,
            sides: [times(forward, extent.x.abs()), times(right, extent.y.abs())],
            radius: extent.x.hypot(extent.y),
        };
        let [x, y] = mover.centre;
        let [vx, vy] = mover.velocity;
        [x, y, vx, vy, mover.radius].into_iter().all(f64::is_finite).then_some(mover)
    }

    fn approach(&self, other: &Self, within: f64) -> Option<Approach> {
        let apart = minus(other.centre, self.centre);
        let speed = minus(other.velocity, self.velocity);
        let distance = apart[0].hypot(apart[1]);
        // The circles around them do not meet in time.
        if distance - self.radius - other.radius > speed[0].hypot(speed[1]) * within {
            return None;
        }
        // The boxes overlap while their shadows do on the axes of both.
        let (mut enter, mut leave) = (0.0_f64, within);
        for axis in self.sides.iter().chain(&other.sides) {
            let length = axis[0].hypot(axis[1]);
            if length == 0.0 {
                continue;
            }
            let axis = times(*axis, 1.0 / length);
            let reach: f64 = self.sides.iter().chain(&other.sides).map(|side| dot(axis, *side).abs()).sum();
            let (at, rate) = (dot(axis, apart), dot(axis, speed));
            if rate == 0.0 {
                if at.abs() > reach {
                    return None;
                }
                continue;
            }
            let (a, b) = ((-reach - at) / rate, (reach - at) / rate);
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        let closing_speed = if distance > 0.0 { -dot(apart, speed) / distance } else { 0.0 };
        (enter <= leave).then_some(Approach {
            actor1: self.actor,
            actor2: other.actor,
            distance,
            closing_speed,
            time_to_collision: enter,
        })
    }
}

fn plus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn times(a: [f64; 2], factor: f64) -> [f64; 2] {
    [a[0] * factor, a[1] * factor]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mover(actor: u32, centre: [f64; 2], velocity: [f64; 2], yaw: f64) -> Mover {
        let (sin, cos) = yaw.to_radians().sin_cos();
        Mover {
            actor,
            centre,
            velocity,
            sides: [times([cos, sin], 2.0), times([-sin, cos], 1.0)],
            radius: 2.0_f64.hypot(1.0),
        }
    }

    #[test]
    fn head_on_the_gap_is_closed_by_both() {
        let a = mover(1, [0.0, 0.0], [10.0, 0.0], 0.0);
        let b = mover(2, [54.0, 0.5], [-15.0, 0.0], 180.0);
        let found = a.approach(&b, 10.0).unwrap();
        assert!((found.time_to_collision - 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.closing_speed - 25.0).abs() < 0.01);
        assert_eq!(a.approach(&b, 1.9), None);
    }

    #[test]
    fn side_by_side_nothing_happens() {
        let a = mover(1, [0.0, 0.0], [10.0, 0.0], 0.0);
        let b = mover(2, [1.0, 3.5], [12.0, 0.0], 0.0);
        assert_eq!(a.approach(&b, 60.0), None);
    }

    #[test]
    fn crossing_paths_meet_only_at_the_same_time() {
        let a = mover(1, [-20.0, 0.0], [10.0, 0.0], 0.0);
        let meets = mover(2, [0.0, -20.0], [0.0, 10.0], 90.0);
        let found = a.approach(&meets, 10.0).unwrap();
        // Each reaches the other's lane, which begins 3 m before its centre line.
        assert!((found.time_to_collision - 1.7).abs() < 1e-9, "{found:?}");
        let late = mover(3, [0.0, -60.0], [0.0, 10.0], 90.0);
        assert_eq!(a.approach(&late, 10.0), None);
    }

    #[test]
    fn what_overlaps_touches_now() {
        let a = mover(1, [0.0, 0.0], [0.0, 0.0], 0.0);
        let b = mover(2, [1.0, 0.0], [0.0, 0.0], 45.0);
        assert_eq!(a.approach(&b, 10.0).unwrap().time_to_collision, 0.0);
    }
}
