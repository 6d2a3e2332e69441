use crate::{Channel, ChannelId, Fact, Fate, SlotId, Time};

/// What one pass over a log found: the channels and where their records are.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The channels, in the order of their first declaration.
    pub channels: Vec<ChannelIndex>,
    /// What a walk from front to back means by its n-th slot.
    pub slots: Vec<Fate>,
    /// Moments from which on records take their time, for dialects whose records carry none.
    pub marks: Vec<Mark>,
    /// The stretches of bytes that hold whole records, in their order.
    pub spans: Vec<Span>,
    /// Records of all kinds.
    pub records: u64,
    /// Whether all samples of the log stand in the order of their times.
    pub sorted: bool,
    /// What the dialect has to say about the log as a whole.
    pub facts: Vec<Fact>,
}

impl Index {
    /// Samples on all channels.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.channels.iter().map(|c| c.samples).sum()
    }

    /// The first and the last time of any sample.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        let full = || self.channels.iter().filter(|c| c.samples > 0);
        Some((full().map(|c| c.first).min()?, full().map(|c| c.last).max()?))
    }

    /// The value of a fact.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.key == key).map(|fact| &*fact.value)
    }

    /// The time that the record at `at` takes from the marks.
    #[must_use]
    pub fn marked_time(&self, at: u64) -> Time {
        let after = self.marks.partition_point(|mark| mark.at <= at);
        after.checked_sub(1).and_then(|i| self.marks.get(i)).map_or(Time::ZERO, |mark| mark.time)
    }
}

/// What one pass over a log found of one channel.
#[derive(Clone, Debug, Default)]
pub struct ChannelIndex {
    /// The channel.
    pub channel: Channel,
    /// How many samples it has.
    pub samples: u64,
    /// How many bytes of the log its records take, headers included.
    pub bytes: u64,
    /// The earliest time.
    pub first: Time,
    /// The latest time.
    pub last: Time,
    /// Whether its samples stand in the order of their times.
    pub sorted: bool,
    /// Where its records are.
    pub positions: Positions,
}

/// From this byte on, records take this time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Mark {
    /// The byte.
    pub at: u64,
    /// The time.
    pub time: Time,
}

/// A stretch of bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Span {
    /// Its first byte.
    pub start: u64,
    /// The byte behind its last.
    pub end: u64,
}

/// One sample's place: what an order of samples is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Row {
    /// Its time.
    pub time: Time,
    /// Where its record is.
    pub at: u64,
    /// Its channel.
    pub channel: ChannelId,
}

/// Offsets of records, in the order of the file, in four bytes each.
///
/// They lie in blocks: a block is never moved when more come. A block's size is an odd number of cache
/// lines, because the channels of a log grow in step, and blocks of a power of two would all compete for
/// the same lines of the cache.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    blocks: Vec<Block>,
    len: usize,
}

/// Offsets within 4 GiB from a base.
#[derive(Clone, Debug, Default)]
struct Block {
    base: u64,
    low: Vec<u32>,
}

/// 261 cache lines.
const BLOCK: usize = 4176;
/// As many offsets as fill a slot's line of the cache.
const FRESH: usize = 8;

impl Block {
    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.low.iter().map(|low| self.base + u64::from(*low))
    }
}

impl Positions {
    fn close(&mut self, block: Block) {
        if !block.low.is_empty() {
            self.len += block.low.len();
            self.blocks.push(block);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The offsets, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.blocks.iter().flat_map(Block::iter)
    }

    /// Appends all offsets of another list. They must not be lower than the last of this one.
    pub fn append(&mut self, mut later: Self) {
        self.len += later.len;
        self.blocks.append(&mut later.blocks);
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.blocks.iter().map(|block| block.low.capacity() * 4 + size_of::<Block>()).sum()
    }
}

impl FromIterator<u64> for Positions {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> Self {
        let mut slot = SlotIndex::default();
        all.into_iter().for_each(|at| slot.record(at, 0, 0, 0));
        slot.into_positions()
    }
}

/// Collects an index while a walk goes on: one call for each record, inlined into the dialect's loop.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    slots: Vec<SlotIndex>,
    sorted: bool,
    last: i64,
    first: Option<i64>,
}

/// What was found of one slot.
///
/// The first line of the cache holds all that a record changes: a log has hundreds of slots, and the walk goes
/// from one to the next.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct SlotIndex {
    last: i64,
    bytes: u64,
    /// The base of the open block, and the newest offsets from it, which are not in it yet: eight at a time go
    /// there, because its line of the cache is another one for each slot.
    base: u64,
    size: u32,
    fresh: u32,
    newest: [u32; FRESH],
    // What follows changes rarely.
    open: Vec<u32>,
    first: i64,
    low: i64,
    high: i64,
    sorted: bool,
    size_or: u32,
    size_and: u32,
    closed: Positions,
}

impl Default for SlotIndex {
    fn default() -> Self {
        Self {
            last: i64::MIN,
            bytes: 0,
            base: 0,
            size: 0,
            fresh: 0,
            newest: [0; FRESH],
            open: Vec::new(),
            first: i64::MAX,
            low: i64::MAX,
            high: i64::MIN,
            sorted: true,
            size_or: 0,
            size_and: u32::MAX,
            closed: Positions::default(),
        }
    }
}

impl IndexBuilder {
    /// Notes one record: its slot, its place, its time, its payload's size and its whole length.
    #[inline(always)]
    pub fn record(&mut self, slot: SlotId, at: u64, time: i64, size: u32, len: u64) {
        if time < self.last || slot as usize >= self.slots.len() {
            self.rare(slot, time);
        }
        self.last = time;
        if let Some(s) = self.slots.get_mut(slot as usize) {
            s.record(at, time, size, len);
        }
    }

    #[cold]
    #[inline(never)]
    fn rare(&mut self, slot: SlotId, time: i64) {
        match self.first {
            Some(_) => self.sorted &= time >= self.last,
            None => {
                self.first = Some(time);
                self.sorted = true;
            }
        }
        if slot as usize >= self.slots.len() {
            self.slots.resize_with(slot as usize + 1, SlotIndex::default);
        }
    }

    /// Appends what a walk over the next part found; `map` names this side's slot for each of the other's.
    pub fn join(&mut self, later: Self, map: &[Option<SlotId>]) {
        if let Some(first) = later.first {
            self.sorted = match self.first {
                Some(_) => self.sorted && later.sorted && first >= self.last,
                None => later.sorted,
            };
            self.first.get_or_insert(first);
            self.last = later.last;
        }
        for (from, to) in later.slots.into_iter().zip(map) {
            let Some(to) = *to else { continue };
            if from.is_empty() {
                continue;
            }
            if to as usize >= self.slots.len() {
                self.slots.resize_with(to as usize + 1, SlotIndex::default);
            }
            if let Some(s) = self.slots.get_mut(to as usize) {
                s.append(from);
            }
        }
    }

    /// What was found of the slots.
    #[must_use]
    pub fn slots(&self) -> &[SlotIndex] {
        &self.slots
    }

    /// The slots, to take records out of.
    pub fn slots_mut(&mut self) -> &mut [SlotIndex] {
        &mut self.slots
    }

    /// Whether all records stand in the order of their times.
    #[must_use]
    pub fn sorted(&self) -> bool {
        self.first.is_none() || self.sorted
    }

    /// Puts the slots together to channels, by what became of them.
    #[must_use]
    pub fn channels(self, channels: Vec<Channel>, fates: &[Fate]) -> Vec<ChannelIndex> {
        let mut joined: Vec<Option<SlotIndex>> = vec![None; channels.len()];
        for (slot, fate) in self.slots.into_iter().zip(fates) {
            let Some(entry) = fate.channel().and_then(|id| joined.get_mut(id as usize)) else { continue };
            if slot.is_empty() {
                continue;
            }
            match entry {
                Some(before) => before.append(slot),
                None => *entry = Some(slot),
            }
        }
        let all = channels.into_iter().zip(joined).map(|(channel, slot)| {
            let Some(slot) = slot else { return ChannelIndex { channel, sorted: true, ..ChannelIndex::default() } };
            ChannelIndex {
                channel,
                samples: slot.len() as u64,
                bytes: slot.bytes,
                first: Time::from_nanos(slot.min()),
                last: Time::from_nanos(slot.max()),
                sorted: slot.sorted,
                positions: slot.into_positions(),
            }
        });
        all.collect()
    }
}

impl SlotIndex {
    #[inline(always)]
    fn record(&mut self, at: u64, time: i64, size: u32, len: u64) {
        if time >= self.last
            && size == self.size
            && let Ok(low) = u32::try_from(at.wrapping_sub(self.base))
        {
            if self.fresh as usize == FRESH {
                self.settle();
            }
            if let Some(place) = self.newest.get_mut(self.fresh as usize) {
                *place = low;
                self.fresh += 1;
            }
        } else {
            self.rare(at, time, size);
        }
        self.last = time;
        self.bytes += len;
    }

    /// Times that step back, another size than before, eight offsets that are to be moved.
    #[inline(never)]
    fn rare(&mut self, at: u64, time: i64, size: u32) {
        if self.is_empty() {
            self.first = time;
        } else if time < self.last {
            self.sorted = false;
            self.low = self.low.min(time);
            self.high = self.high.max(self.last);
        }
        self.size = size;
        self.size_or |= size;
        self.size_and &= size;
        let near = u32::try_from(at.wrapping_sub(self.base)).is_ok();
        if !near {
            // The next offsets are counted from another base.
            self.close();
            self.base = at;
        } else if self.fresh as usize == FRESH {
            self.settle();
        }
        if let (Ok(low), Some(place)) =
            (u32::try_from(at.wrapping_sub(self.base)), self.newest.get_mut(self.fresh as usize))
        {
            *place = low;
            self.fresh += 1;
        }
    }

    /// Moves the newest offsets to the open block.
    #[inline(never)]
    fn settle(&mut self) {
        if self.open.capacity() - self.open.len() < FRESH {
            self.open_block();
        }
        if self.fresh as usize == FRESH {
            self.open.extend_from_slice(&self.newest);
        } else {
            self.open.extend_from_slice(self.newest.get(..self.fresh as usize).unwrap_or_default());
        }
        self.fresh = 0;
    }

    #[cold]
    fn open_block(&mut self) {
        let rows = (self.len() / 2).clamp(FRESH, BLOCK).next_multiple_of(FRESH);
        let low = std::mem::replace(&mut self.open, Vec::with_capacity(rows));
        self.closed.close(Block { base: self.base, low });
    }

    /// Moves all offsets to where they stay.
    fn close(&mut self) {
        self.settle();
        self.closed.close(Block { base: self.base, low: std::mem::take(&mut self.open) });
    }

    /// How many records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.closed.len + self.open.len() + self.fresh as usize
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the records, headers included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The lowest time.
    #[must_use]
    pub fn min(&self) -> i64 {
        self.low.min(self.first)
    }

    /// The highest time.
    #[must_use]
    pub fn max(&self) -> i64 {
        self.high.max(self.last)
    }

    /// Where the first record is.
    #[must_use]
    pub fn first_at(&self) -> Option<u64> {
        self.iter().next()
    }

    /// Whether every payload has this size.
    #[must_use]
    pub fn sizes_are(&self, size: usize) -> bool {
        self.size_or == self.size_and && self.size_or as usize == size
    }

    /// Whether the size of every payload is a multiple of `element`, a power of two.
    #[must_use]
    pub fn sizes_are_multiples_of(&self, element: usize) -> bool {
        (self.size_or as usize).is_multiple_of(element)
    }

    /// Keeps only the records for which `keep` gives their payload's size, time and whole length.
    pub fn retain(&mut self, mut keep: impl FnMut(u64) -> Option<(u32, i64, u64)>) {
        let mut kept = Self::default();
        for at in self.iter() {
            if let Some((size, time, len)) = keep(at) {
                kept.record(at, time, size, len);
            }
        }
        *self = kept;
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        let newest = self.newest.iter().take(self.fresh as usize);
        let open = self.open.iter().chain(newest).map(|low| self.base + u64::from(*low));
        self.closed.iter().chain(open)
    }

    fn into_positions(mut self) -> Positions {
        self.close();
        self.closed
    }

    fn append(&mut self, later: Self) {
        let in_order = self.iter().last() < later.first_at();
        let follows = self.is_empty() || later.first >= self.last;
        self.low = self.min().min(later.min());
        self.high = self.max().max(later.max());
        // Two live ids with one name: their records interleave, and their order is not known.
        self.sorted = self.sorted && later.sorted && follows && in_order;
        self.first = self.first.min(later.first);
        self.last = later.last;
        self.bytes += later.bytes;
        self.size_or |= later.size_or;
        self.size_and &= later.size_and;
        self.size = later.size;
        self.close();
        let later = later.into_positions();
        if in_order {
            self.closed.append(later);
        } else {
            let mut all: Vec<u64> = self.closed.iter().chain(later.iter()).collect();
            all.sort_unstable();
            self.closed = all.into_iter().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IndexBuilder, Positions};
    use crate::{Channel, Fate, Time};

    #[test]
    fn positions_come_back_also_beyond_4_gib() {
        let all: Vec<u64> = (0..20_000).map(|i| i * 1_000_003).collect();
        let positions: Positions = all.iter().copied().collect();
        assert_eq!(positions.iter().collect::<Vec<_>>(), all);
        assert!(positions.memory() <= all.len() * 8);
    }

    #[test]
    fn positions_join() {
        let mut a: Positions = (0..10).collect();
        a.append((10..5000).chain([1 << 40]).collect());
        assert_eq!(a.len(), 5001);
        assert!(a.iter().eq((0..5000).chain([1 << 40])));
    }

    #[test]
    fn parts_join_as_if_walked_in_one() {
        let records: Vec<(u32, u64, i64)> =
            (0..100).map(|i| ((i % 3) as u32, i * 10, if i == 60 { 0 } else { i as i64 })).collect();
        let build = |records: &[(u32, u64, i64)]| {
            let mut b = IndexBuilder::default();
            records.iter().for_each(|(slot, at, time)| b.record(*slot, *at, *time, 8, 14));
            b
        };
        let whole = build(&records);
        for cut in [0, 1, 2, 50, 60, 61, 99, 100] {
            let mut a = build(&records[..cut]);
            a.join(build(&records[cut..]), &[Some(0), Some(1), Some(2)]);
            assert_eq!(a.sorted(), whole.sorted());
            let names = || ["a", "b", "c"].map(|n| Channel::new(n, "double")).to_vec();
            let fates = [Fate::Started(0), Fate::Started(1), Fate::Started(2)];
            let channels = a.channels(names(), &fates);
            assert_eq!(channels.iter().map(|c| c.samples).sum::<u64>(), 100);
            assert_eq!(channels.iter().map(|c| c.sorted).collect::<Vec<_>>(), [false, true, true]);
            assert_eq!(channels[1].last, Time::from_nanos(97));
        }
    }
}
