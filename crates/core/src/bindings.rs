use std::collections::HashMap;

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
#[derive(Clone, Debug)]
pub struct Slot {
    /// The id on the wire.
    pub id: u32,
    /// Where in the log the slot begins.
    pub at: u64,
    /// How it was started; `None` for data that come before any start or after the end.
    pub declared: Option<Declaration>,
    /// The slot whose end the data follow, if any.
    pub after: Option<SlotId>,
    /// Metadata that were set later than the start.
    metadata: Option<String>,
    /// Whether data brought it into being, and not an end or metadata of an id that was not known.
    by_data: bool,
    /// Where it was ended.
    ended: Option<u64>,
}

impl Slot {
    /// Whether an end or metadata of an id that was not known brought it into being.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        self.declared.is_none() && self.after.is_none() && !self.by_data
    }

    /// Metadata that were set later than the start.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        self.metadata.as_deref()
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
    limit: u32,
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
            let declared = channel.map(|channel| Declaration {
                name: channel.name.clone(),
                type_name: channel.type_name.clone(),
                metadata: String::new(),
            });
            let by_data = declared.is_none();
            let slot =
                Slot { id: life.id, at: life.start, declared, after: None, metadata: None, by_data, ended: None };
            let Some(slot) = bindings.add(slot) else { break };
            if life.end.is_some_and(|end| end < at) {
                bindings.ended.insert(life.id, slot);
                bindings.unbind(life.id);
            }
        }
        bindings
    }

    /// When the slots live.
    #[must_use]
    pub fn lives(&self) -> Vec<Life> {
        self.slots.iter().map(|slot| Life { id: slot.id, start: slot.at, end: slot.ended }).collect()
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
        let after = self.ended.get(&id).copied();
        self.add(Slot { id, at, declared: None, after, metadata: None, by_data: true, ended: None })
    }

    /// The slot for an id whose end or metadata came without a start: in the middle of a log the start may lie
    /// in an earlier part.
    fn unknown(&mut self, id: u32, at: u64) -> Option<SlotId> {
        self.add(Slot { id, at, declared: None, after: None, metadata: None, by_data: false, ended: None })
    }

    /// Starts an id. The same declaration of a live id only replaces its metadata. Returns the slot and
    /// whether another declaration was still live.
    #[cold]
    pub fn start(&mut self, id: u32, at: u64, declared: Declaration) -> Option<(SlotId, bool)> {
        let mut replaced = false;
        if let Some(live) = self.slot(id)
            && let Some(slot) = self.slots.get_mut(live as usize)
            && let Some(old) = &slot.declared
        {
            if old.name == declared.name && old.type_name == declared.type_name {
                slot.metadata = Some(declared.metadata);
                return Some((live, true));
            }
            replaced = true;
        } else if !self.ended.contains_key(&id) {
            self.fresh.push(id);
        }
        let slot = self.add(Slot {
            id,
            at,
            declared: Some(declared),
            after: None,
            metadata: None,
            by_data: false,
            ended: None,
        })?;
        Some((slot, replaced))
    }

    /// Ends an id. Returns whether it was live, as far as this walk knows.
    #[cold]
    pub fn end(&mut self, id: u32, at: u64) -> Option<SlotId> {
        let live = self.slot(id);
        let slot = live.or_else(|| if self.ended.contains_key(&id) { None } else { self.unknown(id, at) })?;
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.ended = Some(at);
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
        self.slots.get_mut(target as usize)?.metadata = Some(metadata);
        live
    }

    /// Replaces the metadata of a slot.
    pub fn set_slot_metadata(&mut self, slot: SlotId, metadata: String) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            slot.metadata = Some(metadata);
        }
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
            let mapped = match (&slot.declared, slot.after) {
                (None, None) => match (self.slot(slot.id), self.ended.get(&slot.id)) {
                    (Some(live), _) => {
                        if let Some(live) = self.slots.get_mut(live as usize) {
                            live.metadata = slot.metadata.take().or(live.metadata.take());
                            live.ended = slot.ended;
                        }
                        Some(live)
                    }
                    (None, ended) => {
                        slot.after = ended.copied();
                        self.push(slot)
                    }
                },
                (None, Some(after)) => {
                    slot.after = map.get(after as usize).copied().flatten();
                    self.push(slot)
                }
                (Some(_), _) => self.push(slot),
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

    /// What every slot is, once the whole log is known, and the channels: one for each name and type.
    #[must_use]
    pub fn resolve(&self) -> (Vec<Channel>, Vec<Fate>) {
        let mut channels: Vec<Channel> = Vec::new();
        let mut by_key: HashMap<(&str, &str), ChannelId> = HashMap::new();
        let strays = self.slots.iter().filter(|slot| slot.declared.is_none());
        let mut first_start: HashMap<u32, Option<ChannelId>> = strays.map(|slot| (slot.id, None)).collect();
        let mut fates: Vec<Fate> = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let Some(declared) = &slot.declared else {
                let before = slot.after.and_then(|after| fates.get(after as usize)).and_then(|fate| fate.channel());
                fates.push(before.map_or(Fate::Unknown, Fate::Ended));
                // Data brought an ended id back to life, and then it got other metadata.
                if let (Some(id), Some(metadata)) = (before, &slot.metadata)
                    && let Some(channel) = channels.get_mut(id as usize)
                    && !metadata.is_empty()
                {
                    channel.metadata.clone_from(metadata);
                }
                continue;
            };
            let next = ChannelId::try_from(channels.len()).unwrap_or(ChannelId::MAX);
            let id = *by_key.entry((&declared.name, &declared.type_name)).or_insert(next);
            if id == next {
                channels.push(Channel::new(&*declared.name, &*declared.type_name));
            }
            let metadata = slot.metadata.as_ref().unwrap_or(&declared.metadata);
            if let Some(channel) = channels.get_mut(id as usize)
                && !metadata.is_empty()
            {
                channel.metadata.clone_from(metadata);
            }
            if let Some(first) = first_start.get_mut(&slot.id) {
                first.get_or_insert(id);
            }
            fates.push(Fate::Started(id));
        }
        for (slot, fate) in self.slots.iter().zip(&mut fates) {
            // Unknown also follows on an end without a start: an id that the log only starts later.
            if *fate == Fate::Unknown
                && let Some(Some(id)) = first_start.get(&slot.id)
            {
                *fate = Fate::Late(*id);
            }
        }
        (channels, fates)
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

#[cfg(test)]
mod tests {
    use super::{Bindings, Declaration, Fate};

    fn double(name: &str) -> Declaration {
        Declaration { name: name.into(), type_name: "double".into(), metadata: String::new() }
    }

    fn fates(bindings: &Bindings) -> Vec<Fate> {
        bindings.resolve().1
    }

    #[test]
    fn data_before_the_first_start_bind_to_it() {
        let mut b = Bindings::new(100);
        b.stray(7, 0);
        b.start(7, 10, double("a"));
        assert_eq!(fates(&b), [Fate::Late(0), Fate::Started(0)]);
    }

    #[test]
    fn data_after_the_end_keep_the_old_binding() {
        let mut b = Bindings::new(100);
        b.start(7, 0, double("a"));
        assert!(b.end(7, 5).is_some());
        assert_eq!(b.slot(7), None);
        b.stray(7, 9);
        assert_eq!(fates(&b), [Fate::Started(0), Fate::Ended(0)]);
    }

    #[test]
    fn parts_join_as_if_walked_in_one() {
        let mut a = Bindings::new(100);
        a.start(1, 0, double("one"));
        a.start(2, 1, double("two"));
        let mut b = Bindings::new(100);
        b.stray(1, 50); // data of an id started in the first part
        b.end(2, 60);
        b.stray(2, 61);
        b.start(3, 70, double("three"));
        b.set_metadata(1, 80, "m".into());
        let map = a.join(b);
        assert_eq!(map, [Some(0), Some(1), Some(2), Some(3)]);
        let (channels, fates) = a.resolve();
        assert_eq!(fates, [Fate::Started(0), Fate::Started(1), Fate::Ended(1), Fate::Started(2)]);
        assert_eq!(channels[0].metadata, "m");
        assert_eq!((a.slot(1), a.slot(2), a.slot(3)), (Some(0), Some(2), Some(3)));
    }

    #[test]
    fn one_channel_for_each_name_and_type() {
        let mut b = Bindings::new(100);
        b.start(1, 0, double("a"));
        b.end(1, 1);
        b.start(1, 2, double("a"));
        b.start(9, 3, double("a"));
        b.start(1, 4, Declaration { name: "a".into(), type_name: "string".into(), metadata: String::new() });
        assert_eq!(fates(&b), [Fate::Started(0), Fate::Started(0), Fate::Started(0), Fate::Started(1)]);
    }

    #[test]
    fn huge_ids_cost_no_table() {
        let mut b = Bindings::new(4);
        b.start(u32::MAX, 0, double("big"));
        assert_eq!(b.slot(u32::MAX), Some(0));
        for id in 0..100 {
            b.stray(id, 0);
        }
        assert_eq!(b.slots().len(), 4);
    }
}
