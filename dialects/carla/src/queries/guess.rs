//! Which CARLA wrote a recording: the file does not say, but its contents and layout give strong hints.

use super::collisions::{NO_ACTOR, each_collision};
use crate::frames::Frames;
use crate::text::day;
use crate::wire::{ActorType, Body, EventAdd, Ids, Kind, Physics, Vectors};

/// Which CARLA wrote a recording, and what says so.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Guess {
    /// A release, a span of releases, or a time of development.
    pub version: String,
    /// Why, in sentences.
    pub reasons: Vec<String>,
}

/// The UE4 releases that write version 1 in order, and the month of each where it is known.
const RELEASES: [(&str, Option<(i64, i64)>); 12] = [
    ("0.9.4", Some((2019, 3))),
    ("0.9.5", None),
    ("0.9.6", Some((2019, 7))),
    ("0.9.7", None),
    ("0.9.8", Some((2020, 3))),
    ("0.9.9", Some((2020, 4))),
    ("0.9.10", Some((2020, 9))),
    ("0.9.11", Some((2020, 12))),
    ("0.9.12", Some((2021, 8))),
    ("0.9.13", Some((2021, 11))),
    ("0.9.14", Some((2022, 12))),
    ("0.9.15", Some((2023, 11))),
];

/// What the actors of a recording reveal about its version.
#[derive(Default)]
struct Traits {
    /// Attribute types count from 1 (the newer numbering), or from 0.
    from_one: bool,
    from_zero: bool,
    /// Signs have a type of their own, or that of other things.
    sign_type: bool,
    sign_as_other: bool,
    sensor_type: bool,
    sensor_as_other: bool,
    /// Other things are there, and have positions.
    others: bool,
    other_positions: bool,
    no_actor: bool,
    zero_actor: bool,
}

impl Traits {
    fn of(frames: &Frames<'_>) -> Self {
        let mut traits = Self::default();
        // The ids of other things that appear in the first frame: its positions must name them.
        let mut others = Vec::new();
        for life in frames.lives() {
            let Some(birth) = frames.birth(life) else { continue };
            traits.take(&birth);
            if life.born == 0 && birth.class() == ActorType::Other {
                others.push(birth.actor);
            }
        }
        others.sort_unstable();
        traits.others = !others.is_empty();
        if let Some(Body::Position(records)) = frames.packet(0, Kind::Position) {
            traits.other_positions = records.iter().any(|record| others.binary_search(&record.actor).is_ok());
        }
        each_collision(frames, |_, _, record| {
            traits.no_actor |= record.actor2 == NO_ACTOR;
            traits.zero_actor |= record.actor2 == 0;
        });
        traits
    }

    fn take(&mut self, birth: &EventAdd<'_>) {
        match (birth.class(), birth.actor_type) {
            (ActorType::TrafficSign, 4) => self.sign_type = true,
            (ActorType::TrafficSign, 0) => self.sign_as_other = true,
            (ActorType::Sensor, 5) => self.sensor_type = true,
            (ActorType::Sensor, 0) => self.sensor_as_other = true,
            _ => {}
        }
        for attribute in &birth.attributes.0 {
            let string = match attribute.id {
                b"role_name" => 3,
                b"number_of_wheels" => 1,
                b"color" => 4,
                _ => continue,
            };
            self.from_zero |= attribute.attribute_type == string;
            self.from_one |= attribute.attribute_type == string + 1;
        }
    }
}

impl Guess {
    /// Guesses from what a recording holds.
    #[must_use]
    pub fn of(frames: &Frames<'_>) -> Self {
        let traits = Traits::of(frames);
        let (header, form) = (frames.header(), frames.wire_format());
        let has = |kind| frames.count(kind) > 0;
        let mut reasons = Vec::new();
        let mut because = |reason: &str| reasons.push(reason.to_owned());
        if has(Kind::Weather) {
            because("weather (packet 24) is in builds from 2026 on");
        }
        if form.vectors == Vectors::F64 {
            because("vectors have 64 bits: Unreal Engine 5");
            let version = match form.ids {
                Ids::B => {
                    because("doors are packet 21, as in 0.10.0");
                    "0.10.0, or UE5 development before May 2026"
                }
                Ids::A if has(Kind::VehicleDoor) => {
                    because("doors are packet 23, as in UE5 from May 2026 on");
                    "UE5 development after May 2026"
                }
                Ids::A if has(Kind::Weather) => "UE5 development after May 2026",
                Ids::A => "UE5 development since October 2024",
            };
            return Self { version: version.to_owned(), reasons };
        }
        if header.version >= 2 {
            because("header version 2, since 0.9.16");
            let version = if has(Kind::Weather) { "0.9.16 development after February 2026" } else { "0.9.16" };
            return Self { version: version.to_owned(), reasons };
        }
        if form.ids == Ids::B {
            because("doors are packet 21 and vectors have 32 bits: UE4 development from November 2023 to March 2025");
            let version = match (traits.from_zero, traits.from_one) {
                (false, true) => {
                    because("attribute types count from 1, which began in July 2024");
                    "UE4 development between July 2024 and March 2025"
                }
                (true, false) => {
                    because("attribute types count from 0, which ended in July 2024");
                    "UE4 development between November 2023 and July 2024"
                }
                _ => "UE4 development between November 2023 and March 2025",
            };
            return Self { version: version.to_owned(), reasons };
        }
        if has(Kind::VehicleDoor) {
            because(
                "doors are packet 23, but the header has version 1 and vectors have 32 bits, which no release writes",
            );
            return Self { version: "a build like 0.9.16, or another writer".to_owned(), reasons };
        }
        Self::release(frames, &traits, reasons)
    }

    /// Guesses among the UE4 releases that write version 1.
    fn release(frames: &Frames<'_>, traits: &Traits, reasons: Vec<String>) -> Self {
        let has = |kind| frames.count(kind) > 0;
        let mut span = Span { first: 0, last: RELEASES.len() - 1, reasons };
        let any_frame = !frames.frames().is_empty();
        match () {
            () if has(Kind::VehicleWheels) || has(Kind::BikerAnim) => {
                span.since("0.9.15", "wheels and bikers (packets 21 and 22), since 0.9.15");
            }
            () if has(Kind::VisualTime) => {
                span.since("0.9.14", "the clock of visual effects (packet 20), since 0.9.14");
                span.until("0.9.14", "no wheels and bikers (packets 21 and 22), which 0.9.15 writes");
            }
            () if has(Kind::VehicleLight) => {
                span.since("0.9.10", "vehicle lights (packet 10), since 0.9.10");
                span.until("0.9.13", "no clock of visual effects (packet 20), which 0.9.14 writes");
            }
            () if has(Kind::VehicleAnim) || has(Kind::WalkerAnim) => {
                span.since("0.9.6", "controls and walkers (packets 8 and 9), since 0.9.6");
                span.until("0.9.9", "no vehicle lights (packet 10), which 0.9.10 writes");
            }
            () if any_frame => {
                span.until("0.9.5", "no controls and walkers (packets 8 and 9), which 0.9.6 writes");
            }
            () => {}
        }
        if traits.no_actor {
            span.since("0.9.13", "collisions with non-actors use the id 4294967295, since 0.9.13");
        }
        if traits.zero_actor {
            span.until("0.9.12", "collisions with non-actors use the id 0, until 0.9.12");
        }
        if has(Kind::PhysicsControl) && frames.changes_in(Kind::PhysicsControl, 0..=u64::MAX, u32::MAX).next().is_some()
        {
            match frames.wire_format().physics {
                Physics::W36 => {
                    span.until("0.9.11", "physics wheels have 36 bytes, until 0.9.11");
                }
                Physics::W48 | Physics::Ue5 => {
                    span.since("0.9.12", "physics wheels have 48 bytes, since 0.9.12");
                }
            }
        }
        if traits.sensor_type {
            span.since("0.9.12", "sensors have their own type, since 0.9.12");
        } else if traits.sensor_as_other {
            span.until("0.9.11", "sensors have no type of their own, until 0.9.11");
        }
        if traits.other_positions {
            span.since("0.9.11", "actors other than vehicles and walkers have positions, since 0.9.11");
        } else if traits.others {
            span.until("0.9.10", "actors other than vehicles and walkers have no positions, until 0.9.10");
        }
        if traits.sign_type {
            span.since("0.9.9", "traffic signs have their own type, since 0.9.9");
        } else if traits.sign_as_other {
            span.until("0.9.8", "traffic signs have no type of their own, until 0.9.8");
        }
        span.date(frames.header().date);
        span.guess()
    }
}

/// The releases that are left.
struct Span {
    first: usize,
    last: usize,
    reasons: Vec<String>,
}

impl Span {
    fn place(release: &str) -> usize {
        RELEASES.iter().position(|(name, _)| *name == release).unwrap_or(0)
    }

    /// Keeps the releases from one on. What rules out nothing more is no reason.
    fn since(&mut self, release: &str, reason: &str) {
        if Self::place(release) > self.first {
            self.first = Self::place(release);
            self.reasons.push(reason.to_owned());
        }
    }

    /// Keeps the releases up to one.
    fn until(&mut self, release: &str, reason: &str) {
        if Self::place(release) < self.last {
            self.last = Self::place(release);
            self.reasons.push(reason.to_owned());
        }
    }

    /// A recording is not older than what wrote it.
    fn date(&mut self, date: i64) {
        let (year, month, _) = day(date);
        // Alone it proves too little, and nothing if the clock stood before the first release.
        if self.reasons.is_empty() || (year, month) < (2019, 3) {
            return;
        }
        let later = RELEASES.iter().position(|(_, released)| released.is_some_and(|released| released > (year, month)));
        let Some(later) = later.filter(|later| (self.first + 1..=self.last).contains(later)) else { return };
        self.last = later - 1;
        let name = RELEASES.get(later).map_or("", |(name, _)| name);
        self.reasons.push(format!("recorded in {year}-{month:02}, before the release of {name}"));
    }

    fn guess(self) -> Guess {
        let name = |place: usize| RELEASES.get(place).map_or("", |(name, _)| name);
        let version = match self.last {
            _ if self.reasons.is_empty() => "unknown".to_owned(),
            last if self.first > last => "unknown: the contents match no release".to_owned(),
            last if self.first == last => name(last).to_owned(),
            last => format!("{} to {}", name(self.first), name(last)),
        };
        Guess { version, reasons: self.reasons }
    }
}
