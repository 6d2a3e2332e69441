use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;

use crate::{Channel, ChannelId, Index, Life};

/// The number of a slot, in the order in which a walk from front to back meets them.
pub type SlotId = u32;

/// What a log says of an id when it starts it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Declaration {
    /// The channel's name.
    pub name: String,
    /// The channel's type string.
    pub type_name: String,
    /// Free text.
    pub metadata: String,
}

/// One stretch of one id's life: from its start to its end, or to its next start.
///
/// A log can have a million, so it is small: [`Bindings::declared`] gives what it was started as.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Where in the log the slot begins.
    pub at: u64,
    /// The id on the wire.
    pub id: u32,
    /// The slot whose end the data follow, or [`NONE`].
    after: SlotId,
    /// What it was started as: its name, and the number of its type, or [`NONE`] for data that come before any start or
    /// after the end.
    name: Box<str>,
    type_number: u32,
    /// Whether data brought it into being, and not an end or metadata of an id that was not known.
    by_data: bool,
    /// Its metadata, if there are any: those that were set last.
    metadata: Option<Box<str>>,
    /// Where it was ended, or `u64::MAX`.
    ended: u64,
}

/// No slot, no type.
const NONE: u32 = u32::MAX;

impl Slot {
    fn new(id: u32, at: u64) -> Self {
        let (name, metadata) = (Box::default(), None);
        Self { at, id, after: NONE, name, type_number: NONE, by_data: false, metadata, ended: u64::MAX }
    }

    /// Whether the log says what it is, in the slot itself.
    #[must_use]
    pub fn is_declared(&self) -> bool {
        self.type_number != NONE
    }

    /// The slot whose end the data follow, if any.
    #[must_use]
    pub fn after(&self) -> Option<SlotId> {
        (self.after != NONE).then_some(self.after)
    }

    /// Whether an end or metadata of an id that was not known brought it into being.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        !self.is_declared() && self.after == NONE && !self.by_data
    }

    /// Its metadata.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        self.metadata.as_deref()
    }

    fn life(&self) -> Life {
        Life { id: self.id, start: self.at, end: (self.ended != u64::MAX).then_some(self.ended) }
    }
}

/// What became of a slot once the whole log is known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// It was started as this channel.
    Started(ChannelId),
    /// Its data come before the first start of their id and belong to that.
    Late(ChannelId),
    /// Its data come after the end of their id and belong to what had ended.
    Ended(ChannelId),
    /// Nothing in the log says what it is.
    Unknown,
}

impl Fate {
    /// The channel, if there is one.
    #[must_use]
    pub fn channel(self) -> Option<ChannelId> {
        match self {
            Self::Started(id) | Self::Late(id) | Self::Ended(id) => Some(id),
            Self::Unknown => None,
        }
    }
}

/// Which slot an id on the wire means, as a walk goes on.
///
/// A walk that begins in the middle of a log knows nothing of earlier starts: data of an id that it has not
/// seen started go to a slot without a declaration. [`Bindings::join`] gives that slot to what the part
/// before it had bound, and [`Bindings::resolve`] binds what is left to later starts.
#[derive(Clone, Debug)]
pub struct Bindings {
    /// Slot + 1 by id, 0 for none, for ids that a table can hold.
    near: Vec<SlotId>,
    /// The same for the others, which only broken or hostile logs have.
    far: HashMap<u32, SlotId>,
    /// The last slot of ids that have ended.
    ended: HashMap<u32, SlotId>,
    /// Ids that were started and of which this walk had seen no start or end before.
    fresh: Vec<u32>,
    slots: Vec<Slot>,
    /// The types of slots: a few, however many slots there are.
    types: Vec<Arc<str>>,
    type_numbers: HashMap<Arc<str>, u32>,
    limit: u32,
}

/// What a log is made of, once all of it is known.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    /// The channels: one for each name and type.
    pub channels: Vec<Channel>,
    /// What every slot is.
    pub fates: Vec<Fate>,
    /// When the slots live.
    pub lives: Vec<Life>,
}

const NEAR: u32 = 1 << 16;

impl Bindings {
    /// No binding yet, and at most `limit` slots ever.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            near: Vec::new(),
            far: HashMap::new(),
            ended: HashMap::new(),
            fresh: Vec::new(),
            slots: Vec::new(),
            types: Vec::new(),
            type_numbers: HashMap::new(),
            limit,
        }
    }

    /// What a walk from the front knows when it arrives at `at`, out of the index that it made.
    #[must_use]
    pub fn at(index: &Index, at: u64) -> Self {
        let limit = SlotId::try_from(index.slots.len()).unwrap_or(SlotId::MAX);
        let mut bindings = Self::new(limit);
        for (life, fate) in index.lives.iter().zip(&index.slots).take_while(|(life, _)| life.start < at) {
            let channel = match fate {
                Fate::Started(id) => index.channels.get(*id as usize).map(|found| &found.channel),
                _ => None,
            };
            let mut slot = Slot::new(life.id, life.start);
            match channel {
                Some(channel) => {
                    slot.name = (*channel.name).into();
                    slot.type_number = bindings.type_number(&channel.type_name);
                }
                None => slot.by_data = true,
            }
            let Some(slot) = bindings.add(slot) else { break };
            if life.end.is_some_and(|end| end < at) {
                bindings.ended.insert(life.id, slot);
                bindings.unbind(life.id);
            }
        }
        bindings
    }

    /// The name and the type that a slot was started with.
    #[must_use]
    pub fn declared<'a>(&'a self, slot: &'a Slot) -> Option<(&'a str, &'a str)> {
        Some((&slot.name, self.types.get(slot.type_number as usize)?))
    }

    fn type_number(&mut self, name: &str) -> u32 {
        if let Some(known) = self.type_numbers.get(name) {
            return *known;
        }
        let (number, name) = (u32::try_from(self.types.len()).unwrap_or(NONE), Arc::<str>::from(name));
        self.types.push(Arc::clone(&name));
        self.type_numbers.insert(name, number);
        number
    }

    /// The slot of a live id.
    #[inline(always)]
    #[must_use]
    pub fn slot(&self, id: u32) -> Option<SlotId> {
        match self.near.get(id as usize) {
            Some(0) => None,
            Some(slot) => Some(slot - 1),
            None => self.far_slot(id),
        }
    }

    /// The slot for data of an id that is not live; `None` when there are too many.
    #[cold]
    pub fn stray(&mut self, id: u32, at: u64) -> Option<SlotId> {
        let after = self.ended.get(&id).copied().unwrap_or(NONE);
        self.add(Slot { after, by_data: true, ..Slot::new(id, at) })
    }

    /// The slot for an id whose end or metadata came without a start: in the middle of a log the start may lie
    /// in an earlier part.
    fn unknown(&mut self, id: u32, at: u64) -> Option<SlotId> {
        self.add(Slot::new(id, at))
    }

    /// Starts an id. The same declaration of a live id only replaces its metadata. Returns the slot and
    /// whether another declaration was still live.
    #[cold]
    pub fn start(&mut self, id: u32, at: u64, declared: &Declaration) -> Option<(SlotId, bool)> {
        let Declaration { name, type_name, metadata } = declared;
        let (type_number, mut replaced) = (self.type_number(type_name), false);
        if let Some(live) = self.slot(id)
            && let Some(slot) = self.slots.get_mut(live as usize)
            && slot.is_declared()
        {
            if *slot.name == **name && slot.type_number == type_number {
                slot.metadata = Some((**metadata).into());
                return Some((live, true));
            }
            replaced = true;
        } else if !self.ended.contains_key(&id) {
            self.fresh.push(id);
        }
        let metadata = (!metadata.is_empty()).then(|| (**metadata).into());
        let slot = self.add(Slot { name: (**name).into(), type_number, metadata, ..Slot::new(id, at) })?;
        Some((slot, replaced))
    }

    /// Ends an id. Returns whether it was live, as far as this walk knows.
    #[cold]
    pub fn end(&mut self, id: u32, at: u64) -> Option<SlotId> {
        let live = self.slot(id);
        let slot = live.or_else(|| if self.ended.contains_key(&id) { None } else { self.unknown(id, at) })?;
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.ended = at;
        }
        self.ended.insert(id, slot);
        self.unbind(id);
        live
    }

    /// Replaces the metadata of an id. Returns its slot if it is live, as far as this walk knows; the metadata
    /// of an id that has ended are dropped.
    #[cold]
    pub fn set_metadata(&mut self, id: u32, at: u64, metadata: String) -> Option<SlotId> {
        let live = self.slot(id);
        if live.is_none() && self.ended.contains_key(&id) {
            return None;
        }
        let target = live.or_else(|| self.unknown(id, at))?;
        self.slots.get_mut(target as usize)?.metadata = Some(metadata.into());
        live
    }

    /// The slots so far.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Whether [`Bindings::join`] gives the same slots as one walk over both parts would. It does not where the
    /// next part ends an id, or sets its metadata, that is not live here, or starts one that is: then walk both
    /// parts in one.
    #[must_use]
    pub fn joins(&self, later: &Self) -> bool {
        later.slots.iter().filter(|slot| slot.is_unknown()).all(|slot| self.slot(slot.id).is_some())
            && later.fresh.iter().all(|id| self.slot(*id).is_none())
    }

    /// Appends what a walk over the next part found. Returns this side's slot for each of the other's; `None`
    /// where there were too many.
    pub fn join(&mut self, later: Self) -> Vec<Option<SlotId>> {
        let mut map: Vec<Option<SlotId>> = Vec::with_capacity(later.slots.len());
        self.fresh.extend(later.fresh.iter().filter(|id| !self.ended.contains_key(id)));
        for mut slot in later.slots {
            let mapped = match (slot.is_declared(), slot.after()) {
                (false, None) => match (self.slot(slot.id), self.ended.get(&slot.id)) {
                    (Some(live), _) => {
                        if let Some(live) = self.slots.get_mut(live as usize) {
                            live.metadata = slot.metadata.take().or(live.metadata.take());
                            live.ended = slot.ended;
                        }
                        Some(live)
                    }
                    (None, ended) => {
                        slot.after = ended.copied().unwrap_or(NONE);
                        self.push(slot)
                    }
                },
                (false, Some(after)) => {
                    slot.after = map.get(after as usize).copied().flatten().unwrap_or(NONE);
                    self.push(slot)
                }
                (true, _) => {
                    let type_name = later.types.get(slot.type_number as usize).cloned().unwrap_or_default();
                    slot.type_number = self.type_number(&type_name);
                    self.push(slot)
                }
            };
            map.push(mapped);
        }
        let at = |slot: SlotId| map.get(slot as usize).copied().flatten();
        let near = later.near.iter().enumerate().filter(|(_, slot)| **slot != 0);
        let near = near.filter_map(|(id, slot)| Some((u32::try_from(id).ok()?, slot - 1)));
        let live: Vec<(u32, SlotId)> = near.chain(later.far).collect();
        for (id, slot) in later.ended {
            if let Some(slot) = at(slot) {
                self.ended.insert(id, slot);
                self.unbind(id);
            }
        }
        for (id, slot) in live {
            if let Some(slot) = at(slot) {
                self.bind(id, slot);
            }
        }
        map
    }

    /// What the slots are, once the whole log is known, and the channels: one for each name and type.
    ///
    /// There may be a million slots. Their memory is given back on the way.
    #[must_use]
    pub fn resolve(mut self) -> Resolved {
        (self.near, self.far, self.ended, self.fresh) = Default::default();
        let Resolved { mut channels, mut fates, mut lives } = Resolved::default();
        let strays = self.slots.iter().filter(|slot| !slot.is_declared());
        let mut first_start: HashMap<u32, Option<ChannelId>> = strays.map(|slot| (slot.id, None)).collect();
        let mut keys = Keys::new(self.slots.len());
        fates.reserve_exact(self.slots.len());
        lives.reserve_exact(self.slots.len());
        self.slots.reverse();
        while let Some(slot) = self.slots.pop() {
            if self.slots.len().is_multiple_of(GIVEN_BACK) {
                self.slots.shrink_to_fit();
            }
            lives.push(slot.life());
            let metadata = slot.metadata.filter(|metadata| !metadata.is_empty()).map(String::from);
            let Some(type_name) = self.types.get(slot.type_number as usize) else {
                let after = (slot.after != NONE).then_some(slot.after);
                let before = after.and_then(|after| fates.get(after as usize)).and_then(|fate: &Fate| fate.channel());
                fates.push(before.map_or(Fate::Unknown, Fate::Ended));
                // Data brought an ended id back to life, and then it got other metadata.
                if let (Some(id), Some(metadata)) = (before, metadata)
                    && let Some(channel) = channels.get_mut(id as usize)
                {
                    channel.metadata = metadata;
                }
                continue;
            };
            let id = match keys.find(&channels, &slot.name, type_name) {
                Ok(id) => id,
                Err(hash) => {
                    channels.push(Channel::new(slot.name, &**type_name));
                    keys.add(hash)
                }
            };
            if let (Some(channel), Some(metadata)) = (channels.get_mut(id as usize), metadata) {
                channel.metadata = metadata;
            }
            if let Some(first) = first_start.get_mut(&slot.id) {
                first.get_or_insert(id);
            }
            fates.push(Fate::Started(id));
        }
        for (life, fate) in lives.iter().zip(&mut fates) {
            // Unknown also follows on an end without a start: an id that the log only starts later.
            if *fate == Fate::Unknown
                && let Some(Some(id)) = first_start.get(&life.id)
            {
                *fate = Fate::Late(*id);
            }
        }
        Resolved { channels, fates, lives }
    }

    fn far_slot(&self, id: u32) -> Option<SlotId> {
        if self.far.is_empty() { None } else { self.far.get(&id).copied() }
    }

    fn push(&mut self, slot: Slot) -> Option<SlotId> {
        let next = SlotId::try_from(self.slots.len()).ok().filter(|next| *next < self.limit)?;
        self.slots.push(slot);
        Some(next)
    }

    fn add(&mut self, slot: Slot) -> Option<SlotId> {
        let id = slot.id;
        let next = self.push(slot)?;
        self.bind(id, next);
        Some(next)
    }

    fn bind(&mut self, id: u32, slot: SlotId) {
        if id < NEAR {
            if self.near.len() <= id as usize {
                self.near.resize(id as usize + 1, 0);
            }
            if let Some(entry) = self.near.get_mut(id as usize) {
                *entry = slot + 1;
            }
        } else {
            self.far.insert(id, slot);
        }
    }

    fn unbind(&mut self, id: u32) {
        match self.near.get_mut(id as usize) {
            Some(entry) => *entry = 0,
            None => {
                self.far.remove(&id);
            }
        }
    }
}

/// Channels by name and type: chains of their numbers. A map of texts would take more memory than all that is known of a
/// channel.
struct Keys {
    hasher: RandomState,
    /// The last channel + 1 of each chain, and before each channel the one before it in its chain.
    heads: Vec<ChannelId>,
    before: Vec<ChannelId>,
}

impl Keys {
    fn new(channels: usize) -> Self {
        Self { hasher: RandomState::new(), heads: vec![0; channels.next_power_of_two()], before: Vec::new() }
    }

    /// The number of a channel, or the place of its chain.
    fn find(&self, channels: &[Channel], name: &str, type_name: &str) -> Result<ChannelId, usize> {
        let hash = self.hasher.hash_one((name, type_name));
        let chain = usize::try_from(hash & (self.heads.len() as u64 - 1)).unwrap_or(0);
        let mut at = self.heads.get(chain).copied().unwrap_or(0);
        while let Some(id) = at.checked_sub(1) {
            let channel = channels.get(id as usize);
            if channel.is_some_and(|channel| channel.name == name && channel.type_name == type_name) {
                return Ok(id);
            }
            at = self.before.get(id as usize).copied().unwrap_or(0);
        }
        Err(chain)
    }

    /// Adds the next channel to a chain.
    fn add(&mut self, chain: usize) -> ChannelId {
        let id = ChannelId::try_from(self.before.len()).unwrap_or(ChannelId::MAX);
        if let Some(head) = self.heads.get_mut(chain) {
            self.before.push(std::mem::replace(head, id.saturating_add(1)));
        }
        id
    }
}

/// After so many slots, memory of those that were taken is given back.
const GIVEN_BACK: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{Bindings, Declaration, Fate, Resolved};

    fn double(name: &str) -> Declaration {
        Declaration { name: name.into(), type_name: "double".into(), metadata: String::new() }
    }

    fn fates(bindings: &Bindings) -> Vec<Fate> {
        bindings.clone().resolve().fates
    }

    #[test]
    fn data_before_the_first_start_bind_to_it() {
        let mut b = Bindings::new(100);
        b.stray(7, 0);
        b.start(7, 10, &double("a"));
        assert_eq!(fates(&b), [Fate::Late(0), Fate::Started(0)]);
    }

    #[test]
    fn data_after_the_end_keep_the_old_binding() {
        let mut b = Bindings::new(100);
        b.start(7, 0, &double("a"));
        assert!(b.end(7, 5).is_some());
        assert_eq!(b.slot(7), None);
        b.stray(7, 9);
        assert_eq!(fates(&b), [Fate::Started(0), Fate::Ended(0)]);
    }

    #[test]
    fn parts_join_as_if_walked_in_one() {
        let mut a = Bindings::new(100);
        a.start(1, 0, &double("one"));
        a.start(2, 1, &double("two"));
        let mut b = Bindings::new(100);
        b.stray(1, 50); // data of an id started in the first part
        b.end(2, 60);
        b.stray(2, 61);
        b.start(3, 70, &double("three"));
        b.set_metadata(1, 80, "m".into());
        let map = a.join(b);
        assert_eq!(map, [Some(0), Some(1), Some(2), Some(3)]);
        let Resolved { channels, fates, .. } = a.clone().resolve();
        assert_eq!(fates, [Fate::Started(0), Fate::Started(1), Fate::Ended(1), Fate::Started(2)]);
        assert_eq!(channels[0].metadata, "m");
        assert_eq!((a.slot(1), a.slot(2), a.slot(3)), (Some(0), Some(2), Some(3)));
    }

    #[test]
    fn one_channel_for_each_name_and_type() {
        let mut b = Bindings::new(100);
        b.start(1, 0, &double("a"));
        b.end(1, 1);
        b.start(1, 2, &double("a"));
        b.start(9, 3, &double("a"));
        b.start(1, 4, &Declaration { name: "a".into(), type_name: "string".into(), metadata: String::new() });
        assert_eq!(fates(&b), [Fate::Started(0), Fate::Started(0), Fate::Started(0), Fate::Started(1)]);
    }

    #[test]
    fn huge_ids_cost_no_table() {
        let mut b = Bindings::new(4);
        b.start(u32::MAX, 0, &double("big"));
        assert_eq!(b.slot(u32::MAX), Some(0));
        for id in 0..100 {
            b.stray(id, 0);
        }
        assert_eq!(b.slots().len(), 4);
    }
}
