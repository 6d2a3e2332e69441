use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use memmap2::Mmap;

use super::Bucket;

/// The buckets of one level.
#[derive(Clone, Default)]
pub(crate) struct Level {
    owned: Vec<Bucket>,
    /// Where they are in a mapped file, in which they are read in place. Then none are owned.
    kept: Option<(Arc<Mmap>, Range<usize>)>,
}

impl Level {
    /// Buckets in memory.
    pub(crate) fn owned(buckets: Vec<Bucket>) -> Self {
        Self { owned: buckets, kept: None }
    }

    /// Buckets in some bytes of a mapped file.
    pub(crate) fn kept(map: Arc<Mmap>, range: Range<usize>) -> Self {
        Self { owned: Vec::new(), kept: Some((map, range)) }
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.as_ref().map_or(self.owned.len(), |(_, range)| range.len() / Bucket::BYTES)
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<Bucket> {
        match &self.kept {
            None => self.owned.get(place).copied(),
            Some(kept) => lying(kept).get(place).map(Bucket::from_bytes),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Bucket> + '_ {
        (0..self.len()).map_while(|place| self.get(place))
    }

    /// How many stand before the first of which `before` is false.
    pub(crate) fn partition_point(&self, before: impl Fn(&Bucket) -> bool) -> usize {
        match &self.kept {
            None => self.owned.partition_point(before),
            Some(kept) => lying(kept).partition_point(|bytes| before(&Bucket::from_bytes(bytes))),
        }
    }

    /// The buckets, to be changed: in memory from now on.
    pub(crate) fn change(&mut self) -> &mut Vec<Bucket> {
        if self.kept.is_some() {
            self.owned = self.iter().collect();
            self.kept = None;
        }
        &mut self.owned
    }

    /// Bytes of memory that are its own.
    pub(crate) fn memory(&self) -> usize {
        self.owned.capacity() * size_of::<Bucket>()
    }
}

fn lying((map, range): &(Arc<Mmap>, Range<usize>)) -> &[[u8; Bucket::BYTES]] {
    map.get(range.clone()).unwrap_or_default().as_chunks().0
}

impl fmt::Debug for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
