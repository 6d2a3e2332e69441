use std::ops::Range;

use crate::{Channel, DecodeError, Fate, Layout, SlotId, Time, Type, Value, array_at};

/// The samples of channels as flat buffers: all times of a chunk, then all its payloads. Numbers are
/// little-endian and strings are UTF-8 bytes with offsets, which is what Arrow wants, so a columnar engine
/// takes the memory over as it is.
#[derive(Debug, Default)]
pub struct Columns {
    /// One for each channel that was asked for.
    pub columns: Vec<Column>,
    memory: Vec<Vec<u8>>,
}

/// The samples of one channel, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The channel.
    pub channel: Channel,
    /// Whether the samples stand in the order of their times.
    pub sorted: bool,
    /// The samples, in pieces.
    pub chunks: Vec<Chunk>,
}

impl Column {
    /// How many samples it has.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows as usize).sum()
    }
}

/// A run of samples in one piece of memory.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// How many samples.
    pub rows: u32,
    /// Which of the memory's blocks.
    block: u32,
    times: u32,
    values: u32,
    widths: Widths,
}

/// How long the payloads of a chunk are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Widths {
    /// All of them this many bytes.
    Fixed(u32),
    /// Each its own: `rows + 1` 32-bit offsets at this place, counted from the first payload byte.
    Offsets(u32),
}

impl Columns {
    /// The memory that chunks point into.
    #[must_use]
    pub fn memory(&self) -> &[Vec<u8>] {
        &self.memory
    }

    /// The memory itself, for who keeps the chunks.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Column>, Vec<Vec<u8>>) {
        (self.columns, self.memory)
    }

    /// Times of a chunk.
    pub fn times(&self, chunk: &Chunk) -> impl ExactSizeIterator<Item = Time> + '_ {
        let bytes = self.bytes(chunk.times_range(), chunk);
        bytes.chunks_exact(8).map(|b| Time::from_nanos(array_at(b, 0).map_or(0, |b| i64::from_le_bytes(*b))))
    }

    /// Payloads of a chunk, numbers in little-endian order.
    pub fn payloads(&self, chunk: &Chunk) -> impl Iterator<Item = &[u8]> + '_ {
        let rows = chunk.rows as usize;
        let (fixed, offsets, values) = match chunk.widths {
            Widths::Fixed(width) => (width as usize, &[][..], self.bytes(chunk.fixed_range(width), chunk)),
            Widths::Offsets(at) => {
                let offsets = self.bytes(at as usize..at as usize + 4 * (rows + 1), chunk);
                (0, offsets, self.bytes(chunk.values as usize..usize::MAX, chunk))
            }
        };
        let offset = |i: usize| array_at(offsets, i * 4).map_or(0, |b| u32::from_le_bytes(*b) as usize);
        (0..rows).map(move |i| {
            let range = if offsets.is_empty() { i * fixed..(i + 1) * fixed } else { offset(i)..offset(i + 1) };
            values.get(range).unwrap_or_default()
        })
    }

    /// Samples of a column: times and values.
    pub fn samples<'a>(&'a self, column: &'a Column) -> impl Iterator<Item = (Time, Value<'a>)> + 'a {
        let ty = column.channel.ty();
        column.chunks.iter().flat_map(move |chunk| {
            let values = self.payloads(chunk).map(move |payload| Value::parse(ty, payload, Layout::Little));
            self.times(chunk).zip(values).filter_map(|(time, value)| Some((time, value.ok()?)))
        })
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.memory.iter().map(Vec::len).sum()
    }

    fn bytes(&self, range: Range<usize>, chunk: &Chunk) -> &[u8] {
        let block = self.memory.get(chunk.block as usize).map_or(&[][..], |block| block);
        block.get(range.start..range.end.min(block.len())).unwrap_or_default()
    }
}

impl Chunk {
    /// Which block of [`Columns::memory`] the chunk lies in.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block as usize
    }

    /// Where in its block the times are, as 64-bit nanoseconds.
    #[must_use]
    pub fn times_range(&self) -> Range<usize> {
        let start = self.times as usize;
        start..start + self.rows as usize * 8
    }

    /// Where in its block the payloads begin.
    #[must_use]
    pub fn values_at(&self) -> usize {
        self.values as usize
    }

    /// How long the payloads are.
    #[must_use]
    pub fn widths(&self) -> Widths {
        self.widths
    }

    fn fixed_range(&self, width: u32) -> Range<usize> {
        let start = self.values as usize;
        start..start + self.rows as usize * width as usize
    }
}

/// Collects columns while a walk goes on: one call for each record, inlined into the dialect's loop.
///
/// It does not ask for a record's type: a slot whose payloads all have one size is a column of that width,
/// and the type only says at the end how to read it. So a walk can begin in the middle of a log.
#[derive(Debug)]
pub struct ColumnBuilder {
    memory: Vec<Vec<u8>>,
    used: usize,
    prepare: fn(&mut [u8]),
    /// What every record changes, apart from the rest: hundreds of slots stay in the nearest cache.
    open: Vec<OpenChunk>,
    slots: Vec<SlotColumn>,
}

/// Where the next sample of a slot goes.
#[derive(Clone, Copy, Debug, Default)]
struct OpenChunk {
    last: i64,
    /// The one payload size, or `VARIABLE`.
    width: u32,
    /// Samples for which there is room.
    left: u32,
    block: u32,
    /// Where in the block the next time goes, and the next payload or offset.
    times: u32,
    values: u32,
}

#[derive(Debug, Default)]
struct SlotColumn {
    unsorted: bool,
    /// Variable payloads: where the next one goes, where they must end, and where they began.
    bytes: u32,
    bytes_end: u32,
    bytes_start: u32,
    /// Room in the open chunk, and samples in all closed ones.
    rows: u32,
    total: u64,
    chunk: Option<Chunk>,
    chunks: Vec<Chunk>,
}

const VARIABLE: u32 = u32::MAX;
/// At most this many samples in a chunk: with 8 bytes each 1025 cache lines, an odd number, so that
/// channels which grow in step do not compete for the same lines of the cache.
const ROWS: u64 = 8200;
const LINE: usize = 64;
const BLOCK: usize = 64 << 20;
const FIRST_BLOCK: usize = 256 << 10;

impl ColumnBuilder {
    /// A builder that shows every large block of fresh memory to `prepare`.
    #[must_use]
    pub fn new(prepare: fn(&mut [u8])) -> Self {
        Self { memory: Vec::new(), used: 0, prepare, open: Vec::new(), slots: Vec::new() }
    }

    /// Notes one record: its slot, its time in nanoseconds and its payload.
    #[inline(always)]
    pub fn record(&mut self, slot: SlotId, time: i64, payload: &[u8]) {
        if let Some(open) = self.open.get_mut(slot as usize)
            && open.left > 0
            && time >= open.last
            && open.width as usize == payload.len()
            && let Some(block) = self.memory.get_mut(open.block as usize)
        {
            open.left -= 1;
            open.last = time;
            put(block, open.times, &time.to_le_bytes());
            open.times += 8;
            if let Some(word) = payload.first_chunk::<8>()
                && payload.len() == 8
            {
                put(block, open.values, word);
                open.values += 8;
            } else {
                put_slice(block, open.values, payload);
                open.values += open.width;
            }
        } else {
            self.record_variable(slot, time, payload);
        }
    }

    /// Says that the payloads of a slot have different sizes, so that not the first one decides.
    pub fn expect_variable(&mut self, slot: SlotId) {
        self.grow(slot);
        if let (Some(open), Some(s)) = (self.open.get_mut(slot as usize), self.slots.get(slot as usize))
            && s.total == 0
            && s.chunk.is_none()
        {
            open.width = VARIABLE;
        }
    }

    #[inline(never)]
    fn record_variable(&mut self, slot: SlotId, time: i64, payload: &[u8]) {
        if let Some(open) = self.open.get_mut(slot as usize)
            && let Some(s) = self.slots.get_mut(slot as usize)
            && open.width == VARIABLE
            && open.left > 0
            && time >= open.last
            && payload.len() <= (s.bytes_end - s.bytes) as usize
            && let Some(block) = self.memory.get_mut(open.block as usize)
        {
            open.left -= 1;
            open.last = time;
            put(block, open.times, &time.to_le_bytes());
            open.times += 8;
            put_slice(block, s.bytes, payload);
            #[expect(clippy::cast_possible_truncation, reason = "compared with what is left of the chunk above")]
            let len = payload.len() as u32;
            s.bytes += len;
            put(block, open.values, &(s.bytes - s.bytes_start).to_le_bytes());
            open.values += 4;
        } else {
            self.record_rare(slot, time, payload);
        }
    }

    /// A time that steps back, a full chunk, another size than before, a new slot.
    #[cold]
    #[inline(never)]
    fn record_rare(&mut self, slot: SlotId, time: i64, payload: &[u8]) {
        self.grow(slot);
        let (Some(open), Some(s)) = (self.open.get_mut(slot as usize), self.slots.get_mut(slot as usize)) else {
            return;
        };
        if time < open.last {
            s.unsorted |= s.total > 0 || s.chunk.is_some();
            open.last = time;
            return self.record(slot, time, payload);
        }
        let before = s.close(open);
        let len = payload.len();
        let width = u32::try_from(len).unwrap_or(VARIABLE);
        if s.total == 0 && open.width != VARIABLE {
            open.width = width;
        } else if open.width != width {
            open.width = VARIABLE;
        }
        let rows = usize::try_from((s.total / 8).clamp(8, ROWS)).unwrap_or(8);
        // A chunk of variable payloads is sized by the one before it.
        let mean = if before > 0 { ((s.bytes - s.bytes_start) as usize).div_ceil(before as usize) } else { len };
        let (times, values, bytes) = match open.width {
            VARIABLE => {
                (odd_lines(rows * 8), odd_lines((rows + 1) * 4), odd_lines((rows * (mean + mean / 8 + 1)).max(len)))
            }
            width => (odd_lines(rows * 8), odd_lines(rows * width as usize), 0),
        };
        let (block, at) = self.take(times + values + bytes);
        let (Some(open), Some(s)) = (self.open.get_mut(slot as usize), self.slots.get_mut(slot as usize)) else {
            return;
        };
        #[expect(clippy::cast_possible_truncation, reason = "`take` gives places in blocks of less than 4 GiB")]
        {
            open.block = block;
            open.times = at as u32;
            open.values = (at + times) as u32;
            s.bytes = (at + times + values) as u32;
            s.bytes_end = (at + times + values + bytes) as u32;
            open.left = rows as u32;
        }
        s.rows = open.left;
        s.bytes_start = s.bytes;
        let (values, widths) = if open.width == VARIABLE {
            (s.bytes, Widths::Offsets(open.values))
        } else {
            (open.values, Widths::Fixed(open.width))
        };
        s.chunk = Some(Chunk { rows: 0, block, times: open.times, values, widths });
        if open.width == VARIABLE {
            // The first offset is zero, and fresh memory is.
            open.values += 4;
        }
        self.record(slot, time, payload);
    }

    /// A place for `len` bytes: block and offset.
    fn take(&mut self, len: usize) -> (u32, usize) {
        let fits = self.memory.last().is_some_and(|block| block.len() - self.used >= len);
        if !fits {
            let size = if self.memory.is_empty() { FIRST_BLOCK } else { BLOCK };
            let mut block = vec![0; size.max(len)];
            (self.prepare)(&mut block);
            self.memory.push(block);
            self.used = 0;
        }
        let at = self.used;
        self.used += len;
        (u32::try_from(self.memory.len() - 1).unwrap_or(u32::MAX), at)
    }

    fn grow(&mut self, slot: SlotId) {
        if slot as usize >= self.slots.len() {
            self.slots.resize_with(slot as usize + 1, SlotColumn::default);
            self.open.resize(slot as usize + 1, OpenChunk { last: i64::MIN, ..OpenChunk::default() });
        }
    }

    /// The slots with their chunks closed, and the last time of each.
    fn close(&mut self) -> Vec<(SlotColumn, i64)> {
        let closed = std::mem::take(&mut self.slots).into_iter().zip(std::mem::take(&mut self.open)).map(
            |(mut slot, mut open)| {
                slot.close(&mut open);
                (slot, open.last)
            },
        );
        closed.collect()
    }

    /// Appends what a walk over the next part collected; `map` names this side's slot for each of the other's.
    pub fn join(&mut self, mut later: Self, map: &[Option<SlotId>]) {
        let shift = u32::try_from(self.memory.len()).unwrap_or(u32::MAX);
        for ((mut from, last), to) in later.close().into_iter().zip(map) {
            let Some(to) = *to else { continue };
            self.grow(to);
            let (Some(open), Some(s)) = (self.open.get_mut(to as usize), self.slots.get_mut(to as usize)) else {
                continue;
            };
            s.close(open);
            if let Some(chunk) = from.chunks.first() {
                let first =
                    later.memory.get(chunk.block as usize).and_then(|block| array_at(block, chunk.times as usize));
                let follows = first.is_some_and(|first| i64::from_le_bytes(*first) >= open.last);
                s.unsorted |= from.unsorted || !follows;
                open.last = last;
                s.total += from.total;
                from.chunks.iter_mut().for_each(|chunk| chunk.block += shift);
                s.chunks.append(&mut from.chunks);
            }
        }
        self.memory.append(&mut later.memory);
        self.used = self.memory.last().map_or(0, Vec::len);
    }

    /// The columns of all channels, by what became of the slots; `layout` is how numbers lie in the payloads.
    /// A channel with payloads that are no values of its type is named by its place in the second list: it has
    /// no chunks here and wants a closer look.
    #[must_use]
    pub fn columns(mut self, channels: Vec<Channel>, fates: &[Fate], layout: Layout) -> (Columns, Vec<usize>) {
        let empty = |channel| Column { channel, sorted: true, chunks: Vec::new() };
        let mut columns: Vec<Column> = channels.into_iter().map(empty).collect();
        let mut doubtful = Vec::new();
        for ((mut slot, _), fate) in self.close().into_iter().zip(fates) {
            let Some(id) = fate.channel().map(|id| id as usize) else { continue };
            let Some(column) = columns.get_mut(id).filter(|_| slot.total > 0) else { continue };
            let fits = slot.chunks.iter().all(|chunk| self.fits(column.channel.ty(), chunk));
            // Restarted and duplicate names: whether they follow on each other is for the closer look to say.
            if !fits || !column.chunks.is_empty() {
                doubtful.push(id);
            }
            column.sorted = !slot.unsorted;
            column.chunks.append(&mut slot.chunks);
        }
        doubtful.sort_unstable();
        doubtful.dedup();
        for id in &doubtful {
            if let Some(column) = columns.get_mut(*id) {
                column.chunks.clear();
            }
        }
        if layout != Layout::Little {
            for column in &columns {
                let ty = column.channel.ty();
                if let Some(width) = ty.fixed_size().or(ty.element_size()).filter(|width| *width > 1) {
                    column.chunks.iter().for_each(|chunk| self.swap(chunk, width));
                }
            }
        }
        (Columns { columns, memory: self.memory }, doubtful)
    }

    /// Whether every payload of a chunk is a value of the type.
    fn fits(&self, ty: Type, chunk: &Chunk) -> bool {
        match (ty.fixed_size(), ty.element_size(), chunk.widths) {
            (Some(size), _, Widths::Fixed(width)) => size == width as usize,
            (Some(_), _, Widths::Offsets(_)) => false,
            (_, Some(size), Widths::Fixed(width)) => (width as usize).is_multiple_of(size),
            (_, Some(1), Widths::Offsets(_)) => true,
            (_, Some(size), Widths::Offsets(at)) => {
                let block = self.memory.get(chunk.block as usize).map_or(&[][..], |block| block);
                let offsets = block.get(at as usize..at as usize + 4 * (chunk.rows as usize + 1)).unwrap_or_default();
                let all = offsets
                    .chunks_exact(4)
                    .fold(0, |all, b| all | array_at(b, 0).map_or(0, |b| u32::from_le_bytes(*b)));
                (all as usize).is_multiple_of(size)
            }
            // The lengths inside string arrays are checked value by value, and big-endian ones rewritten.
            (None, None, _) => ty != Type::StringArray,
        }
    }

    fn swap(&mut self, chunk: &Chunk, width: usize) {
        let Some(block) = self.memory.get_mut(chunk.block as usize) else { return };
        let start = chunk.values as usize;
        let len = match chunk.widths {
            Widths::Fixed(w) => w as usize * chunk.rows as usize,
            Widths::Offsets(at) => {
                array_at(block, at as usize + 4 * chunk.rows as usize).map_or(0, |b| u32::from_le_bytes(*b) as usize)
            }
        };
        let Some(values) = block.get_mut(start..start + len) else { return };
        if width == 8 {
            for b in values.as_chunks_mut::<8>().0 {
                *b = u64::from_be_bytes(*b).to_le_bytes();
            }
        } else {
            for b in values.as_chunks_mut::<4>().0 {
                *b = u32::from_be_bytes(*b).to_le_bytes();
            }
        }
    }
}

impl SlotColumn {
    /// Closes the open chunk; returns how many samples it has.
    fn close(&mut self, open: &mut OpenChunk) -> u32 {
        let Some(mut chunk) = self.chunk.take() else { return 0 };
        chunk.rows = self.rows - open.left;
        open.left = 0;
        self.total += u64::from(chunk.rows);
        if chunk.rows > 0 {
            self.chunks.push(chunk);
        }
        chunk.rows
    }
}

impl Columns {
    /// Columns made one value at a time: for the few channels that need a closer look, and for selections.
    pub fn gather<'a>(
        channels: Vec<Channel>,
        prepare: fn(&mut [u8]),
        fill: impl FnOnce(&mut dyn FnMut(usize, Time, &Value<'a>)) -> Result<(), DecodeError>,
    ) -> Result<Self, DecodeError> {
        let mut builder = ColumnBuilder::new(prepare);
        for (id, channel) in channels.iter().enumerate() {
            if channel.ty().fixed_size().is_none() {
                builder.expect_variable(SlotId::try_from(id).unwrap_or(SlotId::MAX));
            }
        }
        let mut payload = Vec::new();
        fill(&mut |id, time, value| {
            payload.clear();
            value.emit(Layout::Little, &mut payload);
            builder.record(SlotId::try_from(id).unwrap_or(SlotId::MAX), time.nanos(), &payload);
        })?;
        builder.grow(SlotId::try_from(channels.len()).unwrap_or(SlotId::MAX));
        let slots = channels.into_iter().zip(builder.close());
        let columns = slots.map(|(channel, (slot, _))| Column { channel, sorted: !slot.unsorted, chunks: slot.chunks });
        Ok(Self { columns: columns.collect(), memory: builder.memory })
    }

    /// Replaces the columns at the places `which` by those of `other`, in that order.
    pub fn replace(&mut self, which: &[usize], mut other: Self) {
        let shift = u32::try_from(self.memory.len()).unwrap_or(u32::MAX);
        for (id, mut column) in which.iter().zip(other.columns) {
            column.chunks.iter_mut().for_each(|chunk| chunk.block += shift);
            if let Some(place) = self.columns.get_mut(*id) {
                *place = column;
            }
        }
        self.memory.append(&mut other.memory);
    }
}

/// `len` rounded up to an odd number of cache lines.
fn odd_lines(len: usize) -> usize {
    (len.div_ceil(LINE) | 1) * LINE
}

#[inline(always)]
fn put<const N: usize>(block: &mut [u8], at: u32, bytes: &[u8; N]) {
    if let Some(place) = block.get_mut(at as usize..).and_then(|rest| rest.first_chunk_mut::<N>()) {
        *place = *bytes;
    }
}

#[inline(always)]
fn put_slice(block: &mut [u8], at: u32, bytes: &[u8]) {
    if let Some(place) = block.get_mut(at as usize..at as usize + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnBuilder, Columns};
    use crate::{Channel, Fate, Layout, Value};

    /// Payloads of three channels: doubles, texts, and doubles of which some are short.
    fn payload(i: u64) -> (u32, Vec<u8>) {
        match i % 3 {
            0 => (0, (i as f64).to_le_bytes().to_vec()),
            1 => (1, vec![b'x'; (i % 50) as usize]),
            _ => (2, if i == 500 { vec![1, 2] } else { (i as f64).to_le_bytes().to_vec() }),
        }
    }

    fn build(range: std::ops::Range<u64>) -> ColumnBuilder {
        let mut b = ColumnBuilder::new(|_| {});
        for i in range {
            let (slot, payload) = payload(i);
            b.record(slot, i as i64, &payload);
        }
        b
    }

    fn channels() -> Vec<Channel> {
        vec![Channel::new("a", "double"), Channel::new("b", "string"), Channel::new("c", "double")]
    }

    fn check(columns: &Columns, doubtful: &[usize], n: u64) {
        assert_eq!(doubtful, [2], "the channel with a short double wants a closer look");
        let doubles: Vec<f64> = columns
            .samples(&columns.columns[0])
            .filter_map(|(_, v)| if let Value::Double(x) = v { Some(x) } else { None })
            .collect();
        assert_eq!(doubles, (0..n).filter(|i| i % 3 == 0).map(|i| i as f64).collect::<Vec<_>>());
        let texts: Vec<usize> = columns
            .samples(&columns.columns[1])
            .filter_map(|(_, v)| if let Value::String(x) = v { Some(x.len()) } else { None })
            .collect();
        assert_eq!(texts, (0..n).filter(|i| i % 3 == 1).map(|i| (i % 50) as usize).collect::<Vec<_>>());
        assert!(columns.columns.iter().all(|c| c.sorted));
    }

    #[test]
    fn columns_hold_what_was_recorded() {
        let n = 40_000;
        let fates = [Fate::Started(0), Fate::Started(1), Fate::Started(2)];
        let (columns, doubtful) = build(0..n).columns(channels(), &fates, Layout::Little);
        check(&columns, &doubtful, n);
        for cut in [0, 1, 2, 3, 20_000] {
            let mut a = build(0..cut);
            a.join(build(cut..n), &[Some(0), Some(1), Some(2)]);
            let (columns, doubtful) = a.columns(channels(), &fates, Layout::Little);
            check(&columns, &doubtful, n);
        }
    }

    #[test]
    fn big_endian_numbers_are_turned() {
        let mut b = ColumnBuilder::new(|_| {});
        (0..100).for_each(|i| b.record(0, i, &(i as f64).to_be_bytes()));
        let (columns, _) = b.columns(vec![Channel::new("a", "double")], &[Fate::Started(0)], Layout::Big);
        assert!(columns.samples(&columns.columns[0]).enumerate().all(|(i, (_, v))| v.same(&Value::Double(i as f64))));
    }
}
