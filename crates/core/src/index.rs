use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use crate::memory::Memory;
use crate::{Channel, ChannelId, DecodeError, Fact, Fate, SlotId, Time, Type};

/// What one pass over a log found: the channels and where their records are.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// The channels, in the order of their first declaration.
    pub channels: Vec<ChannelIndex>,
    /// What a walk from front to back means by its n-th slot.
    pub slots: Vec<Fate>,
    /// When the slots live, for walks that begin in the middle; empty where none does.
    pub lives: Vec<Life>,
    /// Places where records begin, in the order of the file, every megabyte or so.
    pub steps: Vec<u64>,
    /// Whether the channels' positions are known.
    pub placed: bool,
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

    /// A channel by its number; an error if the log has no such channel.
    pub fn channel(&self, dialect: &'static str, id: ChannelId) -> Result<&ChannelIndex, DecodeError> {
        self.channels.get(id as usize).ok_or_else(|| {
            let message = format!("the log has {} channels, and none with number {id}", self.channels.len());
            DecodeError { dialect, code: "no-channel", at: 0, message, help: None }
        })
    }

    /// The first and the last time of any sample.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        let full = || self.channels.iter().filter(|c| c.samples > 0);
        Some((full().map(|c| c.first).min()?, full().map(|c| c.last).max()?))
    }

    /// The stretches between steps, put together to about `bytes` bytes each.
    #[must_use]
    pub fn windows(&self, bytes: u64) -> Vec<Span> {
        let mut windows: Vec<Span> = Vec::new();
        let end = self.spans.last().map_or(0, |span| span.end);
        for (at, step) in self.steps.iter().enumerate() {
            let next = self.steps.get(at + 1).copied().unwrap_or(end);
            match windows.last_mut() {
                Some(open) if next - open.start <= bytes || open.start == open.end => open.end = next,
                _ => windows.push(Span { start: *step, end: next }),
            }
        }
        windows
    }

    /// The value of a fact.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.key == key).map(|fact| &*fact.value)
    }

    /// The stretches that hold whole records, as far as they lie in `within`.
    pub fn spans_within(&self, within: Option<Span>) -> impl Iterator<Item = Span> + '_ {
        let within = within.unwrap_or(Span { start: 0, end: u64::MAX });
        let cut = move |span: &Span| Span { start: span.start.max(within.start), end: span.end.min(within.end) };
        self.spans.iter().map(cut).filter(|span| span.start < span.end)
    }

    /// The time that the record at `at` takes from the marks. Before the first mark that is zero.
    #[must_use]
    pub fn marked_time(&self, at: u64) -> Time {
        let after = self.marks.partition_point(|mark| mark.at <= at);
        after.checked_sub(1).and_then(|i| self.marks.get(i)).map_or(Time::ZERO, |mark| mark.time)
    }

    /// The times that the records at `at` take from the marks: before the first mark that is zero. A place at `end` or
    /// behind it is an error. Places mostly ascend, so the next mark is near the last.
    pub fn marked_times(
        &self,
        dialect: &'static str,
        end: u64,
        at: &[u64],
        out: &mut Vec<Time>,
    ) -> Result<(), DecodeError> {
        let mut next: usize = 0;
        for at in at {
            if *at >= end {
                return Err(DecodeError::stale_index(dialect, *at));
            }
            let known = next.checked_sub(1).and_then(|i| self.marks.get(i));
            if known.is_some_and(|mark| mark.at > *at) {
                next = 0;
            }
            let mut step = 1;
            while self.marks.get(next + step).is_some_and(|mark| mark.at <= *at) {
                next += step;
                step *= 2;
            }
            let rest = self.marks.get(next..(next + step + 1).min(self.marks.len())).unwrap_or_default();
            next += rest.partition_point(|mark| mark.at <= *at);
            out.push(next.checked_sub(1).and_then(|i| self.marks.get(i)).map_or(Time::ZERO, |mark| mark.time));
        }
        Ok(())
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

/// The life of one slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Life {
    /// The id on the wire.
    pub id: u32,
    /// Where it begins.
    pub start: u64,
    /// Where it is ended, if it is.
    pub end: Option<u64>,
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
#[derive(Clone, Debug, Default)]
pub struct Positions {
    len: usize,
    places: Places,
}

#[derive(Clone, Debug)]
enum Places {
    Known(Known),
    Later(Arc<LazyLock<Positions, Fetch>>),
}

type Fetch = Box<dyn FnOnce() -> Positions + Send>;

#[derive(Clone, Debug, Default)]
struct Known {
    blocks: Blocks,
    memory: Shared,
}

/// Blocks of one channel. Where there are very many channels, most have one.
#[derive(Clone, Debug)]
enum Blocks {
    One(Block),
    Many(Box<[Block]>),
}

impl Blocks {
    fn all(&self) -> &[Block] {
        match self {
            Self::One(block) => std::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl Default for Blocks {
    fn default() -> Self {
        Self::Many(Box::default())
    }
}

impl FromIterator<Block> for Blocks {
    fn from_iter<I: IntoIterator<Item = Block>>(blocks: I) -> Self {
        let blocks: Vec<Block> = blocks.into_iter().collect();
        match *blocks {
            [block] => Self::One(block),
            _ => Self::Many(blocks.into()),
        }
    }
}

/// The memory that the blocks of many channels lie in.
#[derive(Clone)]
enum Shared {
    /// What an index was built in: segments.
    Built(Arc<Vec<Vec<u8>>>),
    /// Bytes that were there before, such as a mapped file: segments of 4 GiB.
    Lent(Arc<dyn AsRef<[u8]> + Send + Sync>),
}

/// Offsets from a base, within 4 GiB of it.
#[derive(Clone, Copy, Debug)]
struct Block {
    base: u64,
    /// Which segment of the memory, and which bytes of it.
    segment: u32,
    start: u32,
    len: u32,
}

impl Positions {
    /// Positions that are fetched when first asked for.
    #[must_use]
    pub fn later(len: usize, fetch: impl FnOnce() -> Self + Send + 'static) -> Self {
        Self { len, places: Places::Later(Arc::new(LazyLock::new(Box::new(fetch)))) }
    }

    /// Positions in memory that is lent: stretches of it as [`Positions::runs`] gives them, each with its base.
    #[must_use]
    pub fn lent(
        memory: Arc<dyn AsRef<[u8]> + Send + Sync>,
        len: usize,
        runs: impl IntoIterator<Item = (u64, Range<usize>)>,
    ) -> Self {
        let blocks = runs.into_iter().filter_map(|(base, range)| {
            let (start, len) = (range.start as u64, u32::try_from(range.len()).ok()?);
            let segment = u32::try_from(start >> 32).ok()?;
            Some(Block { base, segment, start: u32::try_from(start & u64::from(u32::MAX)).ok()?, len })
        });
        let known = Known { blocks: blocks.collect(), memory: Shared::Lent(memory) };
        Self { len, places: Places::Known(known) }
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
        self.runs().flat_map(|(base, lows)| above(base, lows))
    }

    /// The offsets from the `n`-th on, found without going over those before it.
    pub fn iter_from(&self, n: usize) -> impl Iterator<Item = u64> + '_ {
        let known = self.known();
        let mut skip = n;
        let whole = known.blocks.all().iter().take_while(|block| {
            let before = skip >= block.offsets();
            skip -= if before { block.offsets() } else { 0 };
            before
        });
        let mut blocks = known.blocks.all().get(whole.count()..).unwrap_or_default().iter();
        let of = |block: &Block, from: usize| {
            above(block.base, known.memory.block(block).get(4 * from..).unwrap_or_default())
        };
        // A block from a sidecar may have all offsets of a channel: those before are left out, not gone over.
        let begun = blocks.next().map(|block| of(block, skip));
        begun.into_iter().flatten().chain(blocks.flat_map(move |block| of(block, 0)))
    }

    /// How many offsets stand before the first one of which `before` is false, where it is true of all before that one.
    pub fn partition_point(&self, mut before: impl FnMut(u64) -> bool) -> usize {
        let known = self.known();
        let mut at = |block: &Block, low: [u8; 4]| before(block.base + u64::from(u32::from_le_bytes(low)));
        let lows = |block: &Block| known.memory.block(block).as_chunks().0;
        let begun = known.blocks.all().partition_point(|block| lows(block).first().is_some_and(|low| at(block, *low)));
        // The border lies in the last block that begins before it, or at its end.
        let Some((last, whole)) = known.blocks.all().get(..begun).and_then(<[Block]>::split_last) else { return 0 };
        let within = lows(last).partition_point(|low| at(last, *low));
        whole.iter().map(Block::offsets).sum::<usize>() + within
    }

    /// The offsets as they are held: a base, and the distances from it as little-endian numbers of four bytes.
    pub fn runs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let known = self.known();
        known.blocks.all().iter().map(|block| (block.base, known.memory.block(block)))
    }

    fn known(&self) -> &Known {
        match &self.places {
            Places::Known(known) => known,
            Places::Later(later) => later.known(),
        }
    }

    /// Bytes of memory held; what is fetched later is not counted.
    #[must_use]
    pub fn memory(&self) -> usize {
        match &self.places {
            Places::Known(known) => {
                known.blocks.all().iter().map(|block| block.len as usize + size_of::<Block>()).sum()
            }
            Places::Later(_) => 0,
        }
    }
}

impl Default for Places {
    fn default() -> Self {
        Self::Known(Known::default())
    }
}

impl Shared {
    fn block(&self, block: &Block) -> &[u8] {
        match self {
            Self::Built(segments) => block.of(segments),
            Self::Lent(memory) => {
                let start = u64::from(block.segment) << 32 | u64::from(block.start);
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let memory: &[u8] = (**memory).as_ref();
                memory.get(start..start.saturating_add(block.len as usize)).unwrap_or_default()
            }
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self::Built(Arc::default())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Built(_) => "Built",
            Self::Lent(_) => "Lent",
        })
    }
}

impl Block {
    /// How many offsets it has.
    fn offsets(&self) -> usize {
        self.len as usize / 4
    }

    fn of<'m>(&self, segments: &'m [Vec<u8>]) -> &'m [u8] {
        let start = self.start as usize;
        let segment = segments.get(self.segment as usize).map_or(&[][..], |segment| segment);
        segment.get(start..start + self.len as usize).unwrap_or_default()
    }
}

/// The offsets that lie these distances above a base.
fn above(base: u64, lows: &[u8]) -> impl DoubleEndedIterator<Item = u64> {
    lows.as_chunks().0.iter().map(move |low| base + u64::from(u32::from_le_bytes(*low)))
}

/// Collects an index while a walk goes on: one call for each record, inlined into the dialect's loop.
#[derive(Debug)]
pub struct IndexBuilder {
    slots: Slots,
    memory: Memory,
    sorted: bool,
    last: i64,
    first: Option<i64>,
    placed: bool,
}

/// Bytes of the largest block of offsets: 261 cache lines, an odd number, because the channels of a log grow in step, and
/// blocks of a power of two would all compete for the same lines of the cache.
const BLOCK: usize = 16_704;
/// Offsets that a slot keeps until they fill half a line of the cache, and their bytes.
const FRESH: usize = 8;
const FRESH_BYTES: u32 = 32;
const FIRST_SEGMENT: usize = 64 << 10;
const SEGMENT: usize = 16 << 20;
/// After so many channels, memory of those that were taken is given back.
const GIVEN_BACK: usize = 1 << 16;

/// What was found of the slots. The first are in one piece, because the walk looks one up for each record. Where there are
/// very many, the others are in pieces, which need not be copied to make room and are given back one by one.
#[derive(Debug, Default)]
struct Slots {
    first: Vec<SlotIndex>,
    pieces: Vec<Vec<SlotIndex>>,
}

/// Slots in one piece, and in each of the others: 32 MiB, of which only what is used takes memory. Allocators return
/// pieces of that size to the system, and keep smaller ones.
const FIRST_SLOTS: usize = 1 << 15;
const PIECE: usize = 1 << 18;

impl Slots {
    fn len(&self) -> usize {
        let last = self.pieces.last().map_or(0, |last| PIECE * (self.pieces.len() - 1) + last.len());
        self.first.len() + last
    }

    fn get(&self, slot: usize) -> Option<&SlotIndex> {
        match slot.checked_sub(FIRST_SLOTS) {
            None => self.first.get(slot),
            Some(beyond) => self.pieces.get(beyond / PIECE)?.get(beyond % PIECE),
        }
    }

    #[inline(always)]
    fn get_mut(&mut self, slot: usize) -> Option<&mut SlotIndex> {
        match self.first.get_mut(slot) {
            Some(slot) => Some(slot),
            None => Self::beyond(&mut self.pieces, slot),
        }
    }

    #[cold]
    fn beyond(pieces: &mut [Vec<SlotIndex>], slot: usize) -> Option<&mut SlotIndex> {
        let beyond = slot.checked_sub(FIRST_SLOTS)?;
        pieces.get_mut(beyond / PIECE)?.get_mut(beyond % PIECE)
    }

    fn push(&mut self, slot: SlotIndex) {
        if self.first.len() < FIRST_SLOTS {
            self.first.push(slot);
            return;
        }
        match self.pieces.last_mut().filter(|piece| piece.len() < PIECE) {
            Some(piece) => piece.push(slot),
            None => {
                let mut piece = Vec::with_capacity(PIECE);
                piece.push(slot);
                self.pieces.push(piece);
            }
        }
    }

    /// Drops the slots at the end that are empty.
    fn trim(&mut self) {
        while let Some(piece) = self.pieces.last_mut() {
            while piece.pop_if(|slot| slot.is_empty()).is_some() {}
            if !piece.is_empty() {
                return;
            }
            self.pieces.pop();
        }
    }

    fn iter(&self) -> impl Iterator<Item = &SlotIndex> {
        self.first.iter().chain(self.pieces.iter().flatten())
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut SlotIndex> {
        self.first.iter_mut().chain(self.pieces.iter_mut().flatten())
    }

    fn into_iter(self) -> impl Iterator<Item = SlotIndex> {
        self.first.into_iter().chain(self.pieces.into_iter().flatten())
    }
}

/// What was found of one slot.
///
/// The first line of the cache holds all that a record changes: a log has hundreds of slots, and the walk goes
/// from one to the next. The second has the rest, because a log can also have a million slots.
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
    newest: [[u8; 4]; FRESH],
    // What follows changes rarely.
    count: u64,
    first_at: u64,
    last_at: u64,
    first: i64,
    /// The open block: where it begins, its bytes, and those for which there is room behind them.
    segment: u32,
    start: u32,
    len: u16,
    room: u16,
    /// Whether the offsets are kept, and not only counted.
    placed: bool,
    sorted: bool,
    size_or: u32,
    size_and: u32,
    more: Option<Box<More>>,
}

const _: () = assert!(size_of::<SlotIndex>() == 128);

/// What a slot has if its times step back or its offsets fill blocks.
#[derive(Clone, Debug)]
struct More {
    low: i64,
    high: i64,
    closed: Vec<Block>,
}

impl Default for More {
    fn default() -> Self {
        Self { low: i64::MAX, high: i64::MIN, closed: Vec::new() }
    }
}

impl Default for SlotIndex {
    fn default() -> Self {
        Self {
            last: i64::MIN,
            bytes: 0,
            base: 0,
            // No payload is that large, so that the first record is a rare one.
            size: u32::MAX,
            fresh: 0,
            newest: [[0; 4]; FRESH],
            count: 0,
            first_at: 0,
            last_at: 0,
            first: i64::MAX,
            segment: 0,
            start: 0,
            len: 0,
            room: 0,
            placed: true,
            sorted: true,
            size_or: 0,
            size_and: u32::MAX,
            more: None,
        }
    }
}

impl Default for IndexBuilder {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl IndexBuilder {
    /// A builder that shows every large block of fresh memory to `prepare`.
    #[must_use]
    pub fn new(prepare: fn(&mut [u8])) -> Self {
        let memory = Memory::new(FIRST_SEGMENT, SEGMENT, prepare);
        Self { slots: Slots::default(), memory, sorted: false, last: 0, first: None, placed: true }
    }

    /// The same, which counts records and forgets their places.
    #[must_use]
    pub fn counting(mut self) -> Self {
        self.placed = false;
        self
    }

    /// Keeps the places of a slot's records also where only counting was asked for. Call it before its first record.
    pub fn place(&mut self, slot: SlotId) {
        self.grow(slot);
        if let Some(s) = self.slots.get_mut(slot as usize).filter(|s| s.is_empty()) {
            s.placed = true;
        }
    }

    fn grow(&mut self, slot: SlotId) {
        while slot as usize >= self.slots.len() {
            self.slots.push(SlotIndex { placed: self.placed, ..SlotIndex::default() });
        }
    }

    /// Notes one record: its slot, its place, its time, its payload's size and its whole length.
    #[inline(always)]
    pub fn record(&mut self, slot: SlotId, at: u64, time: i64, size: u32, len: u64) {
        if time < self.last || slot as usize >= self.slots.first.len() {
            self.rare(slot, time);
        }
        self.last = time;
        if let Some(s) = self.slots.get_mut(slot as usize) {
            s.record(at, time, size, len, &mut self.memory);
        }
    }

    /// Notes `count` more records of a slot, all like the last one; `at` and `time` are those of the last of them. Only for
    /// slots whose records are counted and not placed, and if none of the times steps back.
    pub fn repeat(&mut self, slot: SlotId, count: u64, at: u64, time: i64, len: u64) {
        if let Some(s) = self.slots.get_mut(slot as usize) {
            s.repeat(count, at, time, len, &mut self.memory);
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
        self.grow(slot);
    }

    /// Appends what a walk over the next part found; `map` names this side's slot for each of the other's.
    pub fn join(&mut self, mut later: Self, map: &[Option<SlotId>]) {
        if let Some(first) = later.first {
            self.sorted = match self.first {
                Some(_) => self.sorted && later.sorted && first >= self.last,
                None => later.sorted,
            };
            self.first.get_or_insert(first);
            self.last = later.last;
        }
        later.slots.iter_mut().for_each(|slot| slot.close(&mut later.memory));
        let shift = self.memory.append(later.memory);
        for (mut from, to) in later.slots.into_iter().zip(map) {
            from.more.iter_mut().flat_map(|more| &mut more.closed).for_each(|block| block.segment += shift);
            let Some(to) = *to else { continue };
            if from.is_empty() {
                continue;
            }
            self.grow(to);
            if let Some(s) = self.slots.get_mut(to as usize) {
                s.close(&mut self.memory);
                s.append(from, &mut self.memory);
            }
        }
    }

    /// Keeps only the records of a slot for which `keep` gives their payload's size, time and whole length.
    pub fn retain(&mut self, slot: usize, mut keep: impl FnMut(u64) -> Option<(u32, i64, u64)>) {
        let Some(found) = self.slots.get_mut(slot) else { return };
        found.close(&mut self.memory);
        let mut kept = SlotIndex::default();
        for at in found.iter(&self.memory).collect::<Vec<_>>() {
            if let Some((size, time, len)) = keep(at) {
                kept.record(at, time, size, len, &mut self.memory);
            }
        }
        *found = kept;
    }

    /// What was found of the slots.
    pub fn slots(&self) -> impl Iterator<Item = &SlotIndex> {
        self.slots.iter()
    }

    /// What was found of one slot.
    #[must_use]
    pub fn slot(&self, slot: usize) -> Option<&SlotIndex> {
        self.slots.get(slot)
    }

    /// Whether all records stand in the order of their times.
    #[must_use]
    pub fn sorted(&self) -> bool {
        self.first.is_none() || self.sorted
    }

    /// Puts the slots together to channels, by what became of them.
    #[must_use]
    pub fn channels(mut self, mut channels: Vec<Channel>, fates: &[Fate]) -> Vec<ChannelIndex> {
        let mut slots = std::mem::take(&mut self.slots);
        // Each channel's slots become its first one. There may be a million, so none is copied.
        let mut firsts: Vec<Option<SlotId>> = vec![None; channels.len()];
        for (number, fate) in (0..).zip(fates) {
            let Some(first) = fate.channel().and_then(|id| firsts.get_mut(id as usize)) else { continue };
            let Some(slot) = slots.get_mut(number as usize) else { break };
            if slot.is_empty() {
                continue;
            }
            match *first {
                Some(first) => {
                    let mut later = std::mem::take(slot);
                    later.close(&mut self.memory);
                    if let Some(first) = slots.get_mut(first as usize) {
                        first.close(&mut self.memory);
                        first.append(later, &mut self.memory);
                    }
                }
                None => *first = Some(number),
            }
        }
        let mut all = Vec::with_capacity(channels.len());
        // From the end, so that what has been taken can be given back on the way.
        while let (Some(channel), Some(first)) = (channels.pop(), firsts.pop()) {
            if channels.len().is_multiple_of(GIVEN_BACK) {
                slots.trim();
                channels.shrink_to_fit();
            }
            let Some(mut slot) = first.and_then(|first| slots.get_mut(first as usize)).map(std::mem::take) else {
                all.push(ChannelIndex { channel, sorted: true, ..ChannelIndex::default() });
                continue;
            };
            all.push(ChannelIndex {
                channel,
                samples: slot.len() as u64,
                bytes: slot.bytes,
                first: Time::from_nanos(slot.min()),
                last: Time::from_nanos(slot.max()),
                sorted: slot.sorted,
                positions: Positions {
                    len: slot.len(),
                    places: Places::Known(Known { blocks: slot.blocks(&mut self.memory), memory: Shared::default() }),
                },
            });
        }
        let memory = Shared::Built(Arc::new(self.memory.blocks));
        for found in &mut all {
            if let Places::Known(known) = &mut found.positions.places {
                known.memory = memory.clone();
            }
        }
        all.reverse();
        all
    }
}

impl SlotIndex {
    #[inline(always)]
    fn record(&mut self, at: u64, time: i64, size: u32, len: u64, memory: &mut Memory) {
        if time >= self.last
            && size == self.size
            && let Ok(low) = u32::try_from(at.wrapping_sub(self.base))
        {
            if self.fresh as usize == FRESH {
                self.settle(memory);
            }
            if let Some(place) = self.newest.get_mut(self.fresh as usize) {
                *place = low.to_le_bytes();
                self.fresh += 1;
            }
        } else {
            self.rare(at, time, size, memory);
        }
        self.last = time;
        self.bytes += len;
    }

    fn repeat(&mut self, count: u64, at: u64, time: i64, len: u64, memory: &mut Memory) {
        self.settle(memory);
        self.count += count;
        self.bytes += count * len;
        self.last = time;
        self.last_at = at;
    }

    /// The first record, times that step back, another size than before, an offset that is far from the last.
    #[cold]
    #[inline(never)]
    fn rare(&mut self, at: u64, time: i64, size: u32, memory: &mut Memory) {
        if self.is_empty() {
            self.first = time;
            self.first_at = at;
        } else if time < self.last {
            self.sorted = false;
            let last = self.last;
            let more = self.more();
            more.low = more.low.min(time);
            more.high = more.high.max(last);
        }
        self.size = size;
        self.size_or |= size;
        self.size_and &= size;
        if u32::try_from(at.wrapping_sub(self.base)).is_err() || self.is_empty() {
            // The next offsets are counted from another base.
            self.close(memory);
            self.base = at;
        } else if self.fresh as usize == FRESH {
            self.settle(memory);
        }
        if let (Ok(low), Some(place)) =
            (u32::try_from(at.wrapping_sub(self.base)), self.newest.get_mut(self.fresh as usize))
        {
            *place = low.to_le_bytes();
            self.fresh += 1;
        }
    }

    /// Moves the newest offsets to the open block.
    #[inline(never)]
    fn settle(&mut self, memory: &mut Memory) {
        let newest = (self.fresh as usize).checked_sub(1).and_then(|last| self.newest.get(last));
        self.last_at = self.base + newest.map_or(0, |low| u64::from(u32::from_le_bytes(*low)));
        self.count += u64::from(self.fresh);
        let len = 4 * u16::try_from(std::mem::take(&mut self.fresh)).unwrap_or(0);
        if !self.placed {
            return;
        }
        if u32::from(self.room) < FRESH_BYTES {
            self.open_block(memory);
        }
        let at = self.start as usize + usize::from(self.len);
        if let Some(segment) = memory.blocks.get_mut(self.segment as usize)
            && let Some(place) = segment.get_mut(at..at + FRESH_BYTES as usize)
        {
            // All of them, also where some are old: a copy of a fixed size costs less.
            place.copy_from_slice(self.newest.as_flattened());
        }
        self.len += len;
        self.room -= len;
    }

    #[cold]
    fn open_block(&mut self, memory: &mut Memory) {
        self.close_block();
        let offsets = usize::try_from(self.count / 2).unwrap_or(BLOCK);
        let fresh = FRESH_BYTES as usize;
        self.take_room((offsets * 4).clamp(fresh, BLOCK).next_multiple_of(fresh), memory);
    }

    fn take_room(&mut self, room: usize, memory: &mut Memory) {
        let (segment, start) = memory.take(room);
        (self.segment, self.start) = (segment, u32::try_from(start).unwrap_or(u32::MAX));
        (self.len, self.room) = (0, u16::try_from(room).unwrap_or(0));
    }

    /// The open block, if there is something in it.
    fn open(&self) -> Option<Block> {
        let Self { base, segment, start, len, .. } = *self;
        (len > 0).then_some(Block { base, segment, start, len: len.into() })
    }

    fn close_block(&mut self) {
        if let Some(block) = self.open() {
            self.more().closed.push(block);
        }
        (self.len, self.room) = (0, 0);
    }

    /// Moves all offsets to where they stay.
    fn close(&mut self, memory: &mut Memory) {
        if self.fresh > 0 {
            self.settle(memory);
        }
        self.close_block();
    }

    /// The blocks of all offsets, of which there will be no more.
    fn blocks(&mut self, memory: &mut Memory) -> Blocks {
        if self.fresh > 0 && self.count == 0 && self.placed {
            // Most channels of a log with very many have a few, so no room is left behind them.
            let bytes = 4 * self.fresh as usize;
            self.take_room(bytes, memory);
            let fresh = self.newest.as_flattened().get(..bytes).unwrap_or_default();
            let at = self.start as usize;
            let segment = memory.blocks.get_mut(self.segment as usize);
            if let Some(place) = segment.and_then(|segment| segment.get_mut(at..at + bytes)) {
                place.copy_from_slice(fresh);
            }
            (self.len, self.room) = (std::mem::take(&mut self.room), 0);
            (self.count, self.fresh) = (self.fresh.into(), 0);
        } else if self.fresh > 0 {
            self.settle(memory);
        }
        let closed = self.more.take().map_or_else(Vec::new, |more| more.closed);
        closed.into_iter().chain(self.open()).collect()
    }

    #[cold]
    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    fn closed(&self) -> &[Block] {
        self.more.as_ref().map_or(&[], |more| &more.closed)
    }

    /// How many records.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX) + self.fresh as usize
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
        self.more.as_ref().map_or(self.first, |more| more.low.min(self.first))
    }

    /// The highest time.
    #[must_use]
    pub fn max(&self) -> i64 {
        self.more.as_ref().map_or(self.last, |more| more.high.max(self.last))
    }

    /// Where the first record is.
    #[must_use]
    pub fn first_at(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.first_at)
    }

    /// Whether the places of its records are known.
    #[must_use]
    pub fn is_placed(&self) -> bool {
        self.placed
    }

    /// Whether the sizes alone say that every payload is a value of the type. Those of string arrays never do.
    #[must_use]
    pub fn sizes_fit(&self, ty: Type) -> bool {
        match (ty.fixed_size(), ty.element_size()) {
            (Some(size), _) => self.size_or == self.size_and && self.size_or as usize == size,
            // The sizes of elements are powers of two, so that no bit below them is set in any size.
            (None, Some(size)) => (self.size_or as usize).is_multiple_of(size),
            (None, None) => ty != Type::StringArray,
        }
    }

    /// The offsets of a slot that is closed.
    fn iter<'a>(&'a self, memory: &'a Memory) -> impl DoubleEndedIterator<Item = u64> + 'a {
        self.closed().iter().flat_map(|block| above(block.base, block.of(&memory.blocks)))
    }

    /// Appends the offsets of another slot; both are closed.
    fn append(&mut self, later: Self, memory: &mut Memory) {
        let in_order = self.is_empty() || later.is_empty() || self.last_at < later.first_at;
        let follows = self.is_empty() || later.first >= self.last;
        let (low, high) = (self.min().min(later.min()), self.max().max(later.max()));
        // Two live ids with one name: their records interleave, and their order is not known.
        self.sorted = self.sorted && later.sorted && follows && in_order;
        self.first_at = if self.is_empty() { later.first_at } else { self.first_at.min(later.first_at) };
        self.first = self.first.min(later.first);
        self.last = later.last;
        self.last_at = self.last_at.max(later.last_at);
        if low < self.first || high > self.last {
            let more = self.more();
            (more.low, more.high) = (low, high);
        }
        self.placed &= later.placed;
        self.bytes += later.bytes;
        self.size_or |= later.size_or;
        self.size_and &= later.size_and;
        self.size = later.size;
        if in_order || !self.placed {
            self.count += later.count;
            if let Some(later) = later.more {
                self.more().closed.extend(later.closed);
            }
        } else {
            let mut all: Vec<u64> = self.iter(memory).chain(later.iter(memory)).collect();
            all.sort_unstable();
            let mut merged = Self::default();
            all.into_iter().for_each(|at| merged.record(at, 0, 0, 0, memory));
            merged.close(memory);
            self.count = merged.count;
            self.more().closed = merged.more.map_or_else(Vec::new, |more| more.closed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{IndexBuilder, Positions};
    use crate::{Channel, Fate, Time};

    fn positions(all: impl IntoIterator<Item = u64>) -> Positions {
        let mut builder = IndexBuilder::default();
        all.into_iter().for_each(|at| builder.record(0, at, 0, 8, 14));
        let mut channels = builder.channels(vec![Channel::new("a", "double")], &[Fate::Started(0)]);
        channels.remove(0).positions
    }

    #[test]
    fn positions_come_back_also_beyond_4_gib() {
        let all: Vec<u64> = (0..20_000).map(|i| i * 1_000_003).collect();
        let positions = positions(all.iter().copied());
        assert_eq!(positions.iter().collect::<Vec<_>>(), all);
        assert!(positions.memory() <= all.len() * 8);
    }

    #[test]
    fn lent_positions_are_found_in_the_middle_of_a_long_run() {
        // As a sidecar has them: all positions of a channel in two runs. Going over those before would take minutes.
        let lows: Vec<u8> = (0..1_000_000_u32).flat_map(|low| (low * 14).to_le_bytes()).collect();
        let half = lows.len() / 2;
        let runs = [(100, 0..half), (200, half..lows.len())];
        let positions = Positions::lent(Arc::new(lows), 1_000_000, runs);
        let at = |n: u64| 14 * n + if n < 500_000 { 100 } else { 200 };
        for n in (0..1_000_000).step_by(97).chain([499_999, 500_000, 999_999]) {
            let from = usize::try_from(n).unwrap();
            let expected = (n..1_000_000).take(3).map(at);
            assert!(positions.iter_from(from).take(3).eq(expected), "{n}");
        }
        assert_eq!(positions.iter_from(1_000_000).next(), None);
    }

    #[test]
    fn positions_are_found_in_the_middle() {
        for n in [0, 1, 8, 9, 5000, 20_000] {
            let positions = positions((0..n).map(|i| i * 1_000_003));
            for i in [0, 1, 7, 4175, 4176, 4177, 8400, n / 2, n.saturating_sub(1), n, n + 1] {
                let from = usize::try_from(i).unwrap();
                assert!(positions.iter_from(from).eq((i..n).map(|i| i * 1_000_003)), "{n} {i}");
                let found = positions.partition_point(|at| at < i * 1_000_003);
                assert_eq!(found, from.min(positions.len()), "{n} {i}");
            }
        }
    }

    #[test]
    fn a_log_may_have_very_many_channels() {
        const N: u32 = 100_000;
        let mut builder = IndexBuilder::default();
        (0..N).for_each(|slot| builder.record(slot, u64::from(slot) * 14, i64::from(slot), 8, 14));
        // Every other slot continues the channel before it; some are behind the first piece.
        (0..N).for_each(|slot| builder.record(slot, u64::from(N + slot) * 14, i64::from(N + slot), 8, 14));
        let fates: Vec<Fate> = (0..N).map(|slot| Fate::Started(slot / 2)).collect();
        let names = (0..N / 2).map(|n| Channel::new(n.to_string(), "double")).collect();
        let channels = builder.channels(names, &fates);
        for (n, found) in (0..u64::from(N)).step_by(2).zip(&channels) {
            let expected = [n, n + 1, n + u64::from(N), n + 1 + u64::from(N)].map(|place| place * 14);
            assert!(found.positions.iter().eq(expected), "{n}");
            assert_eq!((found.samples, found.channel.name.parse()), (4, Ok(n / 2)));
        }
        assert_eq!(channels.len(), N as usize / 2);
    }

    #[test]
    fn few_and_many_positions_come_back() {
        for n in [0, 1, 7, 8, 9, 16, 17, 1000, 5000, 100_000] {
            assert!(positions((0..n).map(|i| 12 + i * 14)).iter().eq((0..n).map(|i| 12 + i * 14)), "{n}");
        }
    }

    #[test]
    fn what_is_looked_at_again_after_an_empty_part_covers_nothing_else() {
        let mut a = IndexBuilder::default();
        (0..1000).for_each(|i| a.record((i % 2) as u32, i * 14, 0, 8, 14));
        a.join(IndexBuilder::default(), &[]);
        a.retain(0, |_| Some((8, 0, 14)));
        let names = ["a", "b"].map(|name| Channel::new(name, "double")).to_vec();
        let channels = a.channels(names, &[Fate::Started(0), Fate::Started(1)]);
        for (channel, first) in channels.iter().zip([0, 1]) {
            assert!(channel.positions.iter().eq((first..1000).step_by(2).map(|i| i * 14)));
        }
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
            assert!(channels[0].positions.iter().eq((0..100).step_by(3).map(|i| i * 10)));
        }
    }
}
