use crate::memory::Memory;
use crate::{
    Channel, Chunk, Column, Columns, DecodeError, Index, Layout, Lookup, Sink, SinkError, SlotId, Strings, Type, Widths,
};

/// Collects columns while a walk goes on: one call for each record, inlined into the dialect's loop.
///
/// It does not ask for a record's type: a slot whose payloads all have one size is a column of that width,
/// and the type only says at the end how to read it. So a walk can begin in the middle of a log.
#[derive(Debug)]
pub struct ColumnBuilder {
    memory: Memory,
    /// What every record changes, apart from the rest: hundreds of slots stay in the nearest cache.
    open: Vec<OpenChunk>,
    slots: Vec<SlotColumn>,
    /// Bytes from one time to the next: 8, or 0 where each takes the place of the one before.
    step: u32,
    prepare: fn(&mut [u8]),
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
    /// Samples that the first chunk is made for.
    expected: u32,
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
/// Samples after which another size than before makes a column of variable ones.
const FEW: u64 = 8;
/// Bytes of payloads that a chunk has room for, unless one payload alone needs more.
const MOST_BYTES: usize = 16 << 20;
const LINE: usize = 64;
const BLOCK: usize = 64 << 20;
const FIRST_BLOCK: usize = 256 << 10;

impl ColumnBuilder {
    /// A builder that shows every large block of fresh memory to `prepare`.
    #[must_use]
    pub fn new(prepare: fn(&mut [u8])) -> Self {
        Self { memory: Memory::new(FIRST_BLOCK, BLOCK, prepare), open: Vec::new(), slots: Vec::new(), step: 8, prepare }
    }

    /// A builder for what a lookup wants of a log, with a slot for each channel of its index and room for about as many
    /// samples as will come.
    #[must_use]
    pub fn wanted(index: &Index, lookup: &Lookup, prepare: fn(&mut [u8])) -> Self {
        let mut builder = Self::new(prepare);
        if lookup.untimed {
            builder.step = 0;
        }
        let bytes =
            |within| index.spans_within(within).fold(0, |sum: u64, span| sum.saturating_add(span.end - span.start));
        let (total, part) = (bytes(None), bytes(lookup.within));
        for (id, found) in (0..).zip(&index.channels).filter(|(id, _)| lookup.wants(*id)) {
            builder.declare(id, &found.channel.type_name);
            let expected = u128::from(found.samples) * u128::from(part) / u128::from(total.max(1));
            builder.expect(id, u64::try_from(expected + expected / 16).unwrap_or(u64::MAX) + 2);
        }
        builder
    }

    /// Notes one record: its slot, its time in nanoseconds and its payload.
    #[inline(always)]
    pub fn record(&mut self, slot: SlotId, time: i64, payload: &[u8]) {
        if let Some(open) = self.open.get_mut(slot as usize)
            && open.left > 0
            && time >= open.last
            && open.width as usize == payload.len()
            && let Some(block) = self.memory.blocks.get_mut(open.block as usize)
        {
            open.left -= 1;
            open.last = time;
            put(block, open.times, &time.to_le_bytes());
            open.times += self.step;
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

    /// Tells a slot's type, where it is known. Texts have different sizes, so that not the first ones decide; numbers
    /// have one, and arrays and structs mostly.
    pub fn declare(&mut self, slot: SlotId, type_name: &str) {
        let varies = match Type::of(type_name) {
            Type::String | Type::StringArray => true,
            Type::Bytes => !type_name.starts_with("struct:"),
            _ => false,
        };
        self.grow(slot);
        if let (Some(open), Some(s)) = (self.open.get_mut(slot as usize), self.slots.get(slot as usize))
            && varies
            && s.total == 0
            && s.chunk.is_none()
        {
            open.width = VARIABLE;
        }
    }

    /// About how many samples a slot will have, so that few chunks hold them.
    fn expect(&mut self, slot: SlotId, rows: u64) {
        self.grow(slot);
        if let Some(s) = self.slots.get_mut(slot as usize) {
            s.expected = u32::try_from(rows).unwrap_or(u32::MAX);
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
            && let Some(block) = self.memory.blocks.get_mut(open.block as usize)
        {
            open.left -= 1;
            open.last = time;
            put(block, open.times, &time.to_le_bytes());
            open.times += self.step;
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
        if open.width != VARIABLE && open.width != width {
            // The first few may be others, such as empty arrays before there is something to say.
            open.width = if s.total <= FEW { width } else { VARIABLE };
        }
        let rows = if s.total == 0 { s.expected.into() } else { s.total / 8 };
        let rows = usize::try_from(rows.clamp(8, ROWS)).unwrap_or(8);
        // A chunk of variable payloads is sized by the one before it.
        let mean = if before > 0 { ((s.bytes - s.bytes_start) as usize).div_ceil(before as usize) } else { len };
        // One large payload among small ones must not make room for thousands of its size.
        let rows = if open.width == VARIABLE { rows } else { rows.min(MOST_BYTES / len.max(1)).max(1) };
        let times = odd_lines(if self.step == 0 { 8 } else { rows * 8 });
        let (values, bytes) = match open.width {
            VARIABLE => {
                let bytes = (rows * (mean + mean / 8 + 1)).min(MOST_BYTES).max(len);
                (odd_lines((rows + 1) * 4), odd_lines(bytes))
            }
            width => (odd_lines(rows * width as usize), 0),
        };
        let (block, at) = self.memory.take(times + values + bytes);
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

    fn grow(&mut self, slot: SlotId) {
        if slot as usize >= self.slots.len() {
            self.slots.resize_with(slot as usize + 1, SlotColumn::default);
            self.open.resize(slot as usize + 1, OpenChunk { last: i64::MIN, ..OpenChunk::default() });
        }
    }

    /// One column for each channel, of the slot with its number; `layout` is how numbers lie in the payloads. Channels
    /// with payloads that are not values of their type are named by their places: they have no chunks here, and are to be
    /// read value by value.
    #[must_use]
    pub fn columns(mut self, channels: Vec<Channel>, layout: Layout) -> (Columns, Vec<usize>) {
        self.grow(SlotId::try_from(channels.len()).unwrap_or(SlotId::MAX));
        let slots = std::mem::take(&mut self.slots).into_iter().zip(std::mem::take(&mut self.open));
        let (mut columns, mut doubtful) = (Vec::with_capacity(channels.len()), Vec::new());
        for (channel, (mut slot, mut open)) in channels.into_iter().zip(slots) {
            slot.close(&mut open);
            let ty = channel.ty();
            if slot.chunks.iter().all(|chunk| self.fits(ty, chunk, layout)) {
                if layout != Layout::Little {
                    slot.chunks.iter().for_each(|chunk| self.turn(ty, chunk));
                }
            } else {
                doubtful.push(columns.len());
                slot.chunks.clear();
            }
            columns.push(Column { channel, sorted: !slot.unsorted, chunks: slot.chunks });
        }
        (Columns { columns, memory: self.memory.blocks }, doubtful)
    }

    /// The columns of a scan with the builder of [`ColumnBuilder::wanted`]. `replay` reads those again that have payloads
    /// which are not values of their type.
    pub fn scanned(
        self,
        dialect: &'static str,
        index: &Index,
        lookup: &Lookup,
        layout: Layout,
        replay: impl FnOnce(&Lookup, &mut dyn Sink) -> Result<(), SinkError>,
    ) -> Result<Columns, DecodeError> {
        let prepare = self.prepare;
        let (mut columns, doubtful) =
            self.columns(index.channels.iter().map(|found| found.channel.clone()).collect(), layout);
        if !doubtful.is_empty() {
            let mut rest = Lookup { channels: vec![false; index.channels.len()], ..lookup.clone() };
            for place in &doubtful {
                rest.channels.get_mut(*place).into_iter().for_each(|wanted| *wanted = true);
            }
            let mut checked = Columns::of_rows(dialect, index, prepare, |sink| replay(&rest, sink))?;
            checked.columns = doubtful.iter().filter_map(|id| checked.columns.get(*id).cloned()).collect();
            columns.replace(&doubtful, checked);
        }
        Ok(columns)
    }

    /// Whether every payload of a chunk is a value of the type.
    fn fits(&self, ty: Type, chunk: &Chunk, layout: Layout) -> bool {
        let block = self.memory.blocks.get(chunk.block as usize).map_or(&[][..], |block| block);
        match (ty.fixed_size(), ty.element_size(), chunk.widths) {
            (Some(size), _, Widths::Fixed(width)) => size == width as usize,
            (Some(_), _, Widths::Offsets(_)) => false,
            (_, Some(size), Widths::Fixed(width)) => (width as usize).is_multiple_of(size),
            (_, Some(size), Widths::Offsets(_)) => {
                size == 1 || chunk.payloads(block).all(|payload| payload.len().is_multiple_of(size))
            }
            _ if ty == Type::StringArray => chunk.payloads(block).all(|payload| Strings::new(payload, layout).is_ok()),
            _ => true,
        }
    }

    /// Turns big-endian numbers, and the lengths in string arrays, to little-endian ones.
    fn turn(&mut self, ty: Type, chunk: &Chunk) {
        let Some(block) = self.memory.blocks.get_mut(chunk.block as usize) else { return };
        let range = chunk.values_range(block);
        if ty == Type::StringArray {
            let mut at = range.start;
            for len in chunk.payloads(block).map(<[u8]>::len).collect::<Vec<_>>() {
                if let Some(payload) = block.get_mut(at..at + len) {
                    turn_strings(payload);
                }
                at += len;
            }
            return;
        }
        let Some(values) = block.get_mut(range) else { return };
        match ty.fixed_size().or(ty.element_size()) {
            Some(8) => values.as_chunks_mut().0.iter_mut().for_each(|b| *b = u64::from_be_bytes(*b).to_le_bytes()),
            Some(4) => values.as_chunks_mut().0.iter_mut().for_each(|b| *b = u32::from_be_bytes(*b).to_le_bytes()),
            _ => {}
        }
    }
}

/// Turns the count and the lengths of a string array around.
fn turn_strings(payload: &mut [u8]) {
    let Some((count, mut rest)) = payload.split_first_chunk_mut::<4>() else { return };
    count.reverse();
    while let Some((length, after)) = rest.split_first_chunk_mut::<4>() {
        length.reverse();
        let Some(next) = after.get_mut(u32::from_le_bytes(*length) as usize..) else { return };
        rest = next;
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

/// `len` rounded up to an odd number of cache lines.
fn odd_lines(len: usize) -> usize {
    (len.div_ceil(LINE) | 1) * LINE
}

#[inline(always)]
fn put<const N: usize>(block: &mut [u8], at: u32, bytes: &[u8; N]) {
    if let Some(place) = block.get_mut(at as usize..at as usize + N) {
        place.copy_from_slice(bytes);
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
    use super::ColumnBuilder;
    use crate::{Channel, Columns, Layout, Value};

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
        let (columns, doubtful) = build(0..n).columns(channels(), Layout::Little);
        check(&columns, &doubtful, n);
    }

    #[test]
    fn one_large_payload_among_small_ones_takes_no_more_than_its_own_room() {
        let mut builder = ColumnBuilder::new(|_| {});
        for i in 0..70_000 {
            builder.record(0, i, &[0; 3][..usize::try_from(i % 4).unwrap()]);
        }
        builder.record(0, 70_000, &vec![7; 50 << 20]);
        (70_001..70_100).for_each(|i| builder.record(0, i, b"x"));
        let (columns, _) = builder.columns(vec![Channel::new("a", "raw")], Layout::Little);
        assert_eq!(columns.columns[0].samples(), 70_100);
        assert!(columns.held() < 300 << 20, "{}", columns.held());
    }

    #[test]
    fn big_endian_numbers_are_turned() {
        let mut b = ColumnBuilder::new(|_| {});
        (0..100).for_each(|i| b.record(0, i, &(i as f64).to_be_bytes()));
        let (columns, _) = b.columns(vec![Channel::new("a", "double")], Layout::Big);
        assert!(columns.samples(&columns.columns[0]).enumerate().all(|(i, (_, v))| v.same(&Value::Double(i as f64))));

        let mut b = ColumnBuilder::new(|_| {});
        b.record(0, 0, b"\0\0\0\x02\0\0\0\x03abc\0\0\0\0");
        b.record(0, 1, b"\0\0\0\0");
        let (columns, doubtful) = b.columns(vec![Channel::new("s", "string[]")], Layout::Big);
        assert!(doubtful.is_empty());
        let texts = columns.samples(&columns.columns[0]).map(|(_, v)| match v {
            Value::StringArray(texts) => texts.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(),
            _ => panic!("{v:?}"),
        });
        assert_eq!(texts.collect::<Vec<_>>(), [vec![b"abc".to_vec(), vec![]], vec![]]);
    }
}
