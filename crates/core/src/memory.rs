/// Memory that is cut into pieces, which are never moved: blocks of a first size, then of a larger one, or as large as
/// the one piece that needs more.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) blocks: Vec<Vec<u8>>,
    /// Bytes of the last block that are given away.
    used: usize,
    first: usize,
    size: usize,
    prepare: fn(&mut [u8]),
}

impl Memory {
    /// No memory yet. Every block is shown to `prepare` before anything is written to it.
    pub(crate) fn new(first: usize, size: usize, prepare: fn(&mut [u8])) -> Self {
        Self { blocks: Vec::new(), used: 0, first, size, prepare }
    }

    /// A place for `len` zero bytes: which block, and where in it.
    pub(crate) fn take(&mut self, len: usize) -> (u32, usize) {
        if self.blocks.last().is_none_or(|block| block.len() - self.used < len) {
            let size = if self.blocks.is_empty() { self.first } else { self.size };
            let mut block = vec![0; size.max(len)];
            (self.prepare)(&mut block);
            self.blocks.push(block);
            self.used = 0;
        }
        let at = self.used;
        self.used += len;
        (u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX), at)
    }

    /// Takes over all blocks of another memory; returns by how much the numbers of those grow.
    pub(crate) fn append(&mut self, mut later: Self) -> u32 {
        let shift = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        if !later.blocks.is_empty() {
            self.blocks.append(&mut later.blocks);
            self.used = later.used;
        }
        shift
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

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
