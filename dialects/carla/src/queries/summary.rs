//! The facts of a recording.

use std::collections::BTreeMap;

use logpose_core::Problem;

use super::{Guess, Reading, collisions};
use crate::frames::Frames;
use crate::wire::{ActorType, WireFormat};

/// The facts of a recording. Only whole frames count.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The map's name.
    pub map: &'a [u8],
    /// When it was recorded, in seconds since 1970-01-01 UTC.
    pub date: i64,
    /// The version in the header.
    pub version: u16,
    /// How it is written.
    pub form: WireFormat,
    /// How many whole frames there are.
    pub frames: usize,
    /// Seconds from the beginning to the last frame.
    pub duration: f64,
    /// Frames a second; `None` if there are not two frames at two times.
    pub mean_fps: Option<f64>,
    /// How many actors of each class there are in the course of the recording.
    pub actors: BTreeMap<ActorType, usize>,
    /// The ego vehicles.
    pub heroes: Vec<Hero<'a>>,
    /// How many contacts there are; one that lasts for several frames counts once.
    pub collisions: usize,
    /// Which CARLA wrote it.
    pub guess: Guess,
    /// What is not as it should be.
    pub problems: Vec<Problem>,
}

/// An ego vehicle.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hero<'a> {
    /// Which actor.
    pub actor: u32,
    /// What it is.
    pub blueprint: &'a [u8],
}

impl<'a> Summary<'a> {
    /// Gathers the facts.
    #[must_use]
    pub fn of(frames: &Frames<'a>) -> Self {
        let header = frames.header();
        let count = frames.frames().len();
        let mut actors = BTreeMap::new();
        let mut heroes = Vec::new();
        let whole = |born: u32| usize::try_from(born).is_ok_and(|born| born < count);
        for birth in frames.lives().iter().filter(|life| whole(life.born)).filter_map(|life| frames.birth(life)) {
            *actors.entry(birth.class()).or_insert(0) += 1;
            if birth.is_hero() {
                heroes.push(Hero { actor: birth.actor, blueprint: birth.blueprint });
            }
        }
        let span = frames.total() - frames.frames().first().map_or(0.0, |frame| frame.start.elapsed);
        Self {
            map: header.map,
            date: header.date,
            version: header.version,
            form: frames.wire_format(),
            frames: count,
            duration: frames.total(),
            mean_fps: (count > 1 && span > 0.0 && span.is_finite()).then(|| (count - 1) as f64 / span),
            actors,
            heroes,
            collisions: collisions(frames).len(),
            guess: Guess::of(frames),
            problems: Reading::of(frames).problems(),
        }
    }
}
