use std::sync::{Mutex, PoisonError};

/// Blocks that were given back.
static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
/// How many are kept, and from what size on: fewer bytes are not worth the trouble.
const MOST_SPARE: usize = 4;
const LEAST_SPARE: usize = 1 << 20;
const LARGEST_SPARE: usize = 64 << 20;

/// Gives back a block of column memory that nobody reads any more. The next columns lie in it: memory that was touched
/// before costs less than pages that the system must clear first.
pub fn give_back(block: Vec<u8>) {
    if (LEAST_SPARE..=LARGEST_SPARE).contains(&block.len()) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(block);
        }
    }
}

/// A block of that length that was given back.
fn spare(len: usize) -> Option<Vec<u8>> {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let found = spare.iter().rposition(|block| block.len() == len)?;
    Some(spare.swap_remove(found))
}

/// Memory that is cut into pieces, which are never moved: blocks of a first size, then of a larger one, or as large as
/// the one piece that needs more.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) blocks: Vec<Vec<u8>>,
    /// Bytes of the last block that are given away.
    used: usize,
    first: usize,
    size: usize,
    /// Whether the last block was used before.
    used_before: bool,
    prepare: fn(&mut [u8]),
}

impl Memory {
    /// No memory yet. Every block is shown to `prepare` before anything is written to it.
    pub(crate) fn new(first: usize, size: usize, prepare: fn(&mut [u8])) -> Self {
        Self { blocks: Vec::new(), used: 0, first, size, used_before: false, prepare }
    }

    /// A place for `len` zero bytes: which block, and where in it.
    pub(crate) fn take(&mut self, len: usize) -> (u32, usize) {
        if self.blocks.last().is_none_or(|block| block.len() - self.used < len) {
            let size = if self.blocks.is_empty() { self.first } else { self.size };
            let size = size.max(len);
            let known = spare(size);
            self.used_before = known.is_some();
            let block = known.unwrap_or_else(|| {
                let mut block = vec![0; size];
                (self.prepare)(&mut block);
                block
            });
            self.blocks.push(block);
            self.used = 0;
        }
        let at = self.used;
        self.used += len;
        if self.used_before
            && let Some(piece) = self.blocks.last_mut().and_then(|block| block.get_mut(at..at + len))
        {
            piece.fill(0);
        }
        (u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX), at)
    }

    /// Takes over all blocks of another memory; returns by how much the numbers of those grow.
    pub(crate) fn append(&mut self, mut later: Self) -> u32 {
        let shift = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        if !later.blocks.is_empty() {
            self.blocks.append(&mut later.blocks);
            (self.used, self.used_before) = (later.used, later.used_before);
        }
        shift
    }
}

#[cfg(test)]
mod tests {
    use super::{Memory, give_back};

    #[test]
    fn what_was_given_back_is_zero_again() {
        const SIZE: usize = (1 << 20) + 64; // no other test asks for this one
        let mut memory = Memory::new(SIZE, SIZE, |_| {});
        memory.take(100);
        let mut block = memory.blocks.pop().unwrap();
        let place = block.as_ptr();
        block.fill(0xff);
        give_back(block);
        let mut memory = Memory::new(SIZE, SIZE, |_| {});
        let (number, at) = memory.take(100);
        let block = &memory.blocks[number as usize];
        assert_eq!(block.as_ptr(), place);
        assert!(block[at..at + 100].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn pieces_do_not_overlap_also_after_an_empty_memory_was_appended() {
        let mut memory = Memory::new(64, 256, |_| {});
        assert_eq!(memory.take(40), (0, 0));
        assert_eq!(memory.append(Memory::new(64, 256, |_| {})), 1);
        assert_eq!(memory.take(24), (0, 40));
        assert_eq!((memory.take(1), memory.take(1000)), ((1, 0), (2, 0)));
        let mut later = Memory::new(64, 256, |_| {});
        later.take(10);
        assert_eq!(memory.append(later), 3);
        assert_eq!(memory.take(10), (3, 10));
    }
}
