use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use bytes::Bytes;
use logpose_core::{Chunk, Widths, give_back};

/// Blocks of column memory as Arrow buffers, taken over without copying. Cheap to clone; the memory lives as long as
/// the last array over it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    blocks: Arc<[Buffer]>,
}

impl From<Vec<Vec<u8>>> for Memory {
    fn from(blocks: Vec<Vec<u8>>) -> Self {
        Self { blocks: blocks.into_iter().map(|block| Bytes::from_owner(Block(block)).into()).collect() }
    }
}

/// A block, given back when the last array over it is gone.
struct Block(Vec<u8>);

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.0));
    }
}

impl Memory {
    /// `len` bytes of the block that a chunk lies in; fewer where the block ends.
    fn slice(&self, chunk: &Chunk, at: usize, len: usize) -> Buffer {
        let Some(block) = self.blocks.get(chunk.block()) else { return Buffer::default() };
        let at = at.min(block.len());
        block.slice_with_length(at, len.min(block.len() - at))
    }

    /// The times of a chunk.
    pub(crate) fn times(&self, chunk: &Chunk) -> ScalarBuffer<i64> {
        let range = chunk.times_range();
        numbers(&self.slice(chunk, range.start, range.len()), chunk.rows as usize)
    }
}

/// The payloads of a chunk, back to back.
///
/// Arrow counts in 31 bits. Chunks are a few thousand samples long and blocks mostly 64 MiB, so payloads of more are a
/// matter of values of hundreds of megabytes each; those which end beyond 2 GiB are null.
#[derive(Clone, Debug)]
pub(crate) struct Payloads {
    pub(crate) rows: usize,
    pub(crate) bytes: Buffer,
    pub(crate) ends: Ends,
    pub(crate) nulls: Option<NullBuffer>,
}

/// Where payloads end.
#[derive(Clone, Debug)]
pub(crate) enum Ends {
    /// All have this many bytes.
    Every(usize),
    /// Each its own.
    Offsets(OffsetBuffer<i32>),
}

impl Payloads {
    pub(crate) fn new(memory: &Memory, chunk: &Chunk) -> Self {
        let rows = chunk.rows as usize;
        let (ends, len, kept) = match chunk.widths() {
            Widths::Fixed(width) => {
                let width = width as usize;
                let kept = MOST.checked_div(width).map_or(rows, |most| rows.min(most));
                let ends = if kept == rows { Ends::Every(width) } else { Ends::Offsets(cut(kept, rows, width)) };
                (ends, kept * width, kept)
            }
            Widths::Offsets(at) => {
                let offsets: ScalarBuffer<i32> = numbers(&memory.slice(chunk, at as usize, (rows + 1) * 4), rows + 1);
                // What is beyond 31 bits shows as a negative number.
                let kept = offsets.iter().take_while(|end| **end >= 0).count().saturating_sub(1);
                let last = offsets.get(kept).map_or(0, |end| end.as_usize());
                let offsets = if kept == rows && offsets.is_sorted() {
                    OffsetBuffer::new(offsets)
                } else {
                    let whole = offsets.iter().take(kept + 1).scan(0, |top, end| {
                        *top = (*top).max(*end);
                        Some(*top)
                    });
                    let rest = std::iter::repeat_n(i32::usize_as(last), rows - kept);
                    OffsetBuffer::new(whole.chain(rest).collect())
                };
                (Ends::Offsets(offsets), last, kept)
            }
        };
        let bytes = memory.slice(chunk, chunk.values_at(), len);
        let nulls = (kept < rows).then(|| NullBuffer::new(BooleanBuffer::collect_bool(rows, |row| row < kept)));
        Self { rows, bytes, ends, nulls }
    }

    /// Payloads that all pass. Others are null, with `fill` zeros in their place.
    pub(crate) fn fit(self, fits: impl Fn(usize) -> bool, fill: usize) -> Self {
        let fit = match &self.ends {
            Ends::Every(width) => fits(*width) || self.rows == 0,
            Ends::Offsets(offsets) => self.nulls.is_none() && fill == 0 && offsets.lengths().all(&fits),
        };
        if fit { self } else { self.refit(fits, fill) }
    }

    #[cold]
    fn refit(self, fits: impl Fn(usize) -> bool, fill: usize) -> Self {
        let mut bytes = Vec::new();
        let mut offsets = vec![0];
        let valid = self.iter().map(|payload| {
            let good = payload.filter(|payload| fits(payload.len()) && payload.len() <= MOST - bytes.len());
            match good {
                Some(payload) => bytes.extend_from_slice(payload),
                None => bytes.resize(bytes.len() + fill.min(MOST - bytes.len()), 0),
            }
            offsets.push(i32::usize_as(bytes.len()));
            good.is_some()
        });
        let nulls = NullBuffer::from(valid.collect::<Vec<_>>());
        let ends = if fill > 0 { Ends::Every(fill) } else { Ends::Offsets(OffsetBuffer::new(offsets.into())) };
        Self { rows: self.rows, bytes: Buffer::from_vec(bytes), ends, nulls: Some(nulls) }
    }

    /// The payloads, `None` for null.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        (0..self.rows).map(|row| {
            let valid = self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
            self.bytes.get(self.start(row)..self.start(row + 1)).filter(|_| valid)
        })
    }

    /// Where the payload of a row begins, and the one before it ends.
    pub(crate) fn start(&self, row: usize) -> usize {
        match &self.ends {
            Ends::Every(width) => row * width,
            Ends::Offsets(offsets) => offsets.get(row).map_or(0, |at| at.as_usize()),
        }
    }

    /// Where payloads end, counted in elements of `size` bytes; all must be whole.
    pub(crate) fn offsets(&self, size: usize) -> OffsetBuffer<i32> {
        match &self.ends {
            Ends::Every(width) => OffsetBuffer::from_repeated_length(width / size, self.rows),
            Ends::Offsets(offsets) if size == 1 => offsets.clone(),
            Ends::Offsets(offsets) => {
                OffsetBuffer::new(offsets.iter().map(|at| i32::usize_as(at.as_usize() / size)).collect())
            }
        }
    }
}

/// Numbers over the bytes of a buffer, as they are where they are aligned; missing ones are zero.
pub(crate) fn numbers<T: ArrowNativeType>(bytes: &Buffer, len: usize) -> ScalarBuffer<T> {
    let size = size_of::<T>();
    if bytes.len() < len * size {
        let mut whole = bytes.to_vec();
        whole.resize(len * size, 0);
        return numbers(&Buffer::from_vec(whole), len);
    }
    if bytes.as_ptr().align_offset(align_of::<T>()) == 0 {
        return ScalarBuffer::new(bytes.clone(), 0, len);
    }
    // Arrow's own memory is aligned for every type.
    ScalarBuffer::new(Buffer::from(bytes.as_slice()), 0, len)
}

/// Offsets of `rows` payloads of which only the first `kept` have a width.
fn cut(kept: usize, rows: usize, width: usize) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths((0..rows).map(|row| if row < kept { width } else { 0 }))
}

const _: () =
    assert!(cfg!(target_endian = "little"), "chunks are little-endian, and arrays are taken over as they are");

/// The most bytes that 31-bit offsets reach.
pub(crate) const MOST: usize = i32::MAX as usize;
