//! Who hit whom: the text of `show_recorder_collisions`, and the contacts themselves.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use crate::frames::Frames;
use crate::identity::Identity;
use crate::text::{Fixed, left};
use crate::wire::{ActorType, Body, Collision, FrameStart, Kind};

/// What is no actor, from 0.9.13 on. Before that it is 0.
pub(super) const NO_ACTOR: u32 = u32::MAX;

/// Which actors to show.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Filter {
    #[default]
    Any,
    Hero,
    Vehicle,
    Walker,
    TrafficLight,
    Other,
}

impl Filter {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Any, Self::Hero, Self::Vehicle, Self::Walker, Self::TrafficLight, Self::Other];

    /// CARLA's letter for it.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Any => 'a',
            Self::Hero => 'h',
            Self::Vehicle => 'v',
            Self::Walker => 'w',
            Self::TrafficLight => 't',
            Self::Other => 'o',
        }
    }

    /// The filter that a letter means.
    #[must_use]
    pub fn of(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|filter| filter.letter() == letter)
    }

    /// Whether one side of a contact is of this kind.
    #[must_use]
    pub fn admits(self, party: &Party<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Hero => party.hero,
            Self::Vehicle => party.class == ActorType::Vehicle,
            Self::Walker => party.class == ActorType::Walker,
            Self::TrafficLight => party.class == ActorType::TrafficLight,
            Self::Other => {
                matches!(party.class, ActorType::Other | ActorType::TrafficSign | ActorType::Sensor)
            }
        }
    }
}

/// Whether packets of a kind matter to the text.
pub(super) fn shows(kind: Kind) -> bool {
    matches!(kind, Kind::EventAdd | Kind::EventDel | Kind::Collision)
}

/// The actors that CARLA's queries know. When one is deleted they forget the one that was added last instead; what
/// they show depends on it.
pub(super) struct Known<T> {
    pub(super) actors: HashMap<u32, T>,
    last_added: Option<u32>,
}

impl<T> Known<T> {
    pub(super) fn new() -> Self {
        Self { actors: HashMap::new(), last_added: None }
    }

    pub(super) fn add(&mut self, actor: u32, known: T) {
        self.actors.insert(actor, known);
        self.last_added = Some(actor);
    }

    pub(super) fn delete(&mut self) {
        if let Some(actor) = self.last_added {
            self.actors.remove(&actor);
        }
    }
}

/// What the text remembers from packet to packet.
pub(super) struct Table<'a> {
    filters: (Filter, Filter),
    known: Known<(u8, &'a [u8])>,
    /// The pairs that touched in the frame before.
    old: HashSet<(u32, u32)>,
    /// The pairs that touch in this frame.
    new: HashSet<(u32, u32)>,
    rows: bool,
}

impl<'a> Table<'a> {
    pub(super) fn columns(out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{:>8} {:>6} {:>6} {:<35} {:>6} {:<35}", "Time", "Types", "Id", "Actor 1", "Id", "Actor 2")
    }

    pub(super) fn new(first: Filter, second: Filter) -> Self {
        Self { filters: (first, second), known: Known::new(), old: HashSet::new(), new: HashSet::new(), rows: false }
    }

    pub(super) fn has_rows(&self) -> bool {
        self.rows
    }

    /// Writes the contacts that begin in one packet.
    pub(super) fn packet(&mut self, body: &Body<'a>, frame: &FrameStart, out: &mut dyn Write) -> io::Result<()> {
        match body {
            Body::FrameStart(_) => {
                std::mem::swap(&mut self.old, &mut self.new);
                self.new.clear();
            }
            Body::EventAdd(records) => {
                records.iter().for_each(|r| self.known.add(r.actor, (r.actor_type, r.blueprint)));
            }
            Body::EventDel(records) => records.iter().for_each(|_| self.known.delete()),
            Body::Collision(records) => return records.iter().try_for_each(|r| self.collision(&r, frame, out)),
            _ => {}
        }
        Ok(())
    }

    fn collision(&mut self, record: &Collision, frame: &FrameStart, out: &mut dyn Write) -> io::Result<()> {
        let known = |actor: u32| {
            let (number, name) = self.known.actors.get(&actor).copied().unwrap_or_default();
            // CARLA takes the letter by the actor's number from a string that was not made for signs and sensors.
            let letter = if actor == NO_ACTOR { None } else { "ovwtha".chars().nth(number.into()) };
            (letter.unwrap_or('o'), name)
        };
        let (letter1, name1) = known(record.actor1);
        let (letter2, name2) = known(record.actor2);
        let passes = |filter: Filter, letter: char, hero: bool| {
            filter == Filter::Any || filter.letter() == letter || (filter == Filter::Hero && hero)
        };
        if !passes(self.filters.0, letter1, record.hero1.is_set())
            || !passes(self.filters.1, letter2, record.hero2.is_set())
        {
            return Ok(());
        }
        let pair = (record.actor1, record.actor2);
        self.new.insert(pair);
        if self.old.contains(&pair) {
            return Ok(());
        }
        self.rows = true;
        write!(out, "{:>8}   {letter1} {letter2}  {:>6} ", Fixed(frame.elapsed, 0), record.actor1)?;
        left(out, name1, 35)?;
        write!(out, " {:>6} ", record.actor2)?;
        left(out, name2, 35)?;
        out.write_all(b"\n")
    }
}

/// One side of a contact.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Party<'a> {
    /// Which actor; `None` if it is none, such as a wall.
    pub actor: Option<u32>,
    /// What it is; empty if the recording does not say.
    pub blueprint: &'a [u8],
    /// What it is, in one word.
    pub class: ActorType,
    /// Whether it is the ego vehicle.
    pub hero: bool,
}

/// A contact of two, from the first frame to the last without a pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<'a> {
    /// The id of its first record.
    pub id: u32,
    /// Its first frame, counted from 0.
    pub first: u32,
    /// Its last frame, counted from 0.
    pub last: u32,
    /// The number of its first frame in the recording.
    pub frame: u64,
    /// When it begins, in seconds.
    pub time: f64,
    /// When its last frame begins, in seconds.
    pub until: f64,
    /// Who has the sensor.
    pub actor1: Party<'a>,
    /// What it hit.
    pub actor2: Party<'a>,
}

/// The contacts of a recording, in the order in which they begin. Only whole frames count.
#[must_use]
pub fn collisions<'a>(frames: &Frames<'a>) -> Vec<Contact<'a>> {
    let mut contacts: Vec<Contact<'a>> = Vec::new();
    let mut running: HashMap<(u32, u32), usize> = HashMap::new();
    each_collision(frames, |index, start, record| {
        let pair = (record.actor1, record.actor2);
        let contact = running.get(&pair).and_then(|&at| contacts.get_mut(at));
        if let Some(contact) = contact.filter(|contact| index - contact.last <= 1) {
            contact.last = index;
            contact.until = start.elapsed;
            contact.actor1.hero |= record.hero1.is_set();
            contact.actor2.hero |= record.hero2.is_set();
            return;
        }
        running.insert(pair, contacts.len());
        contacts.push(Contact {
            id: record.id,
            first: index,
            last: index,
            frame: start.frame,
            time: start.elapsed,
            until: start.elapsed,
            actor1: party(frames, record.actor1, record.hero1.is_set(), index),
            actor2: party(frames, record.actor2, record.hero2.is_set(), index),
        });
    });
    contacts
}

/// Hands over the collisions of all whole frames: the frame, counted from 0, how it starts, and the record.
pub(super) fn each_collision<'a>(frames: &Frames<'a>, mut each: impl FnMut(u32, &FrameStart, &Collision)) {
    for packet in frames.collisions() {
        let frame = usize::try_from(packet.frame).ok().and_then(|index| frames.frames().get(index));
        let Some((frame, Body::Collision(records))) = frame.zip(frames.packet_at(packet.at)) else { continue };
        records.iter().for_each(|record| each(packet.frame, &frame.start, &record));
    }
}

fn party<'a>(frames: &Frames<'a>, actor: u32, hero: bool, frame: u32) -> Party<'a> {
    let who = Identity::of(frames, frames.life(actor, frame));
    let nobody = actor == NO_ACTOR || (actor == 0 && who.pose.is_none());
    Party { actor: (!nobody).then_some(actor), blueprint: who.blueprint, class: who.class, hero: hero || who.hero }
}
