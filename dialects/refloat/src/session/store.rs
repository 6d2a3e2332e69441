//! The samples of a recording that are there already.

use std::collections::BTreeMap;
use std::ops::Range;

/// Samples by index, with gaps.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    size: u32,
    sample_len: usize,
    bytes: Vec<u8>,
    /// Where stretches begin and end. They neither touch nor overlap.
    have: BTreeMap<u32, u32>,
    count: u32,
}

/// A sample that is there is another one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Contradiction {
    /// Which.
    pub(super) index: u32,
}

impl Store {
    pub(super) fn new(size: u32, sample_len: usize) -> Self {
        Self { size, sample_len: sample_len.max(1), ..Self::default() }
    }

    /// Takes whole samples from `index` on and returns the stretches that were not there before. What lies behind the end
    /// is cut off. If any sample contradicts a stored one, none is taken.
    pub(super) fn insert(&mut self, index: u32, bytes: &[u8]) -> Result<Vec<Range<u32>>, Contradiction> {
        let samples = u32::try_from(bytes.len() / self.sample_len).unwrap_or(u32::MAX);
        let range = index..index.saturating_add(samples).min(self.size);
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let length = self.sample_len;
        let piece = |part: &Range<u32>| {
            bytes.get(offset(part.start - index, length)..offset(part.end - index, length)).unwrap_or_default()
        };
        let (mut fresh, mut next) = (Vec::new(), range.start);
        for (start, end) in self.overlapping(&range) {
            let shared = start.max(range.start)..end.min(range.end);
            if self.get(&shared) != Some(piece(&shared)) {
                let differs = |i: &u32| self.get(&(*i..*i + 1)) != Some(piece(&(*i..*i + 1)));
                return Err(Contradiction { index: shared.clone().find(differs).unwrap_or(shared.start) });
            }
            if next < shared.start {
                fresh.push(next..shared.start);
            }
            next = shared.end;
        }
        if next < range.end {
            fresh.push(next..range.end);
        }
        for part in &fresh {
            let (start, end) = (offset(part.start, length), offset(part.end, length));
            if self.bytes.len() < end {
                self.bytes.resize(end, 0);
            }
            let place = self.bytes.get_mut(start..end).unwrap_or_default();
            place.iter_mut().zip(piece(part)).for_each(|(place, byte)| *place = *byte);
            self.count += part.end - part.start;
        }
        if !fresh.is_empty() {
            self.merge(range);
        }
        Ok(fresh)
    }

    /// The bytes of a stretch that is there.
    pub(super) fn get(&self, range: &Range<u32>) -> Option<&[u8]> {
        let length = self.sample_len;
        self.covers(range).then(|| self.bytes.get(offset(range.start, length)..offset(range.end, length)))?
    }

    /// Whether all of a stretch is there.
    pub(super) fn covers(&self, range: &Range<u32>) -> bool {
        range.is_empty() || self.stretch(range.start).is_some_and(|held| held.end >= range.end)
    }

    /// The first stretch from `from` on that is not there.
    pub(super) fn gap(&self, from: u32) -> Option<Range<u32>> {
        let start = self.stretch(from).map_or(from, |held| held.end);
        let end = self.have.range(start..).next().map_or(self.size, |(next, _)| *next);
        (start < self.size).then_some(start..end)
    }

    /// The last sample that is there.
    pub(super) fn last(&self) -> Option<u32> {
        self.have.last_key_value().map(|(_, end)| end - 1)
    }

    /// How many are there.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// How many there are to be.
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// How long each is.
    pub(super) fn sample_len(&self) -> usize {
        self.sample_len
    }

    pub(super) fn is_complete(&self) -> bool {
        self.count == self.size
    }

    /// Samples that are older than the one before them: the ticks of a recording only go on.
    pub(super) fn steps_back(&self) -> impl Iterator<Item = u32> + '_ {
        let tick = |sample: &[u8]| sample.first_chunk().map(|tick| u32::from_be_bytes(*tick));
        let ticks = self.bytes.chunks(self.sample_len).filter_map(tick);
        let later = self.bytes.chunks(self.sample_len).skip(1).filter_map(tick);
        (1..).zip(ticks.zip(later)).filter(|(_, (a, b))| b.wrapping_sub(*a) > 1 << 31).map(|(index, _)| index)
    }

    fn stretch(&self, index: u32) -> Option<Range<u32>> {
        let (start, end) = self.have.range(..=index).next_back()?;
        (index < *end).then_some(*start..*end)
    }

    fn overlapping(&self, range: &Range<u32>) -> impl Iterator<Item = (u32, u32)> + use<> {
        let first = self.stretch(range.start).map(|held| (held.start, held.end));
        let behind = range.start.saturating_add(u32::from(first.is_some()));
        let behind: Vec<_> =
            self.have.range(behind..range.end.max(behind)).map(|(start, end)| (*start, *end)).collect();
        first.into_iter().chain(behind)
    }

    fn merge(&mut self, range: Range<u32>) {
        let Range { mut start, mut end } = range;
        if let Some((before, until)) = self.have.range(..start).next_back()
            && *until >= start
        {
            start = *before;
            end = end.max(*until);
        }
        while let Some((next, until)) = self.have.range(start..).next().filter(|(next, _)| **next <= end) {
            let (next, until) = (*next, *until);
            end = end.max(until);
            self.have.remove(&next);
        }
        self.have.insert(start, end);
    }
}

/// Bytes of so many samples.
fn offset(samples: u32, length: usize) -> usize {
    usize::try_from(samples).unwrap_or(usize::MAX).saturating_mul(length)
}

#[cfg(test)]
mod tests {
    use super::{Contradiction, Store};

    /// Where the new stretches begin and end.
    fn insert(store: &mut Store, index: u32, bytes: &[u8]) -> Vec<[u32; 2]> {
        store.insert(index, bytes).unwrap().into_iter().map(|range| [range.start, range.end]).collect()
    }

    /// Samples of seven bytes whose tick is ten times their index.
    fn samples(range: std::ops::Range<u32>) -> Vec<u8> {
        range.flat_map(|i| [&(i * 10).to_be_bytes()[..], &[1, 2, 3]].concat()).collect()
    }

    #[test]
    fn pieces_in_any_order_become_one() {
        let mut store = Store::new(20, 7);
        assert_eq!(insert(&mut store, 4, &samples(4..8)), [[4, 8]]);
        assert_eq!(insert(&mut store, 12, &samples(12..16)), [[12, 16]]);
        assert_eq!(store.gap(0), Some(0..4));
        assert_eq!(store.gap(5), Some(8..12));
        assert_eq!(insert(&mut store, 2, &samples(2..14)), [[2, 4], [8, 12]]);
        assert!(insert(&mut store, 2, &samples(2..14)).is_empty());
        assert_eq!((store.count(), store.last()), (14, Some(15)));
        assert_eq!(insert(&mut store, 0, &samples(0..2)), [[0, 2]]);
        assert_eq!(store.have.len(), 1);
        assert_eq!(store.gap(0), Some(16..20));
        assert_eq!(insert(&mut store, 15, &samples(15..40)), [[16, 20]]);
        assert!(store.is_complete());
        assert_eq!(store.gap(0), None);
        assert_eq!(store.get(&(0..20)), Some(&samples(0..20)[..]));
        assert_eq!(store.steps_back().count(), 0);
    }

    #[test]
    fn what_contradicts_is_not_taken() {
        let mut store = Store::new(20, 7);
        store.insert(4, &samples(4..8)).unwrap();
        let mut wrong = samples(2..10);
        wrong[7 * 3 + 2] ^= 1;
        assert_eq!(store.insert(2, &wrong), Err(Contradiction { index: 5 }));
        assert_eq!(store.count(), 4);
    }

    #[test]
    fn what_lies_behind_the_end_is_cut_off() {
        let mut store = Store::new(3, 7);
        assert!(insert(&mut store, 3, &samples(3..5)).is_empty());
        assert!(insert(&mut store, u32::MAX, &samples(0..2)).is_empty());
        assert_eq!(insert(&mut store, 1, &samples(1..9)), [[1, 3]]);
        assert_eq!(store.bytes.len(), 21);
        let mut none = Store::new(0, 7);
        assert!(insert(&mut none, 0, &samples(0..1)).is_empty());
        assert!(none.is_complete());
        assert_eq!((none.gap(0), none.last()), (None, None));
    }

    #[test]
    fn ticks_that_step_back_are_found_and_those_that_wrap_are_not() {
        let ticks = [u32::MAX - 1, u32::MAX, 0, 133, 133, 100, 200];
        let mut store = Store::new(7, 5);
        let bytes: Vec<u8> = ticks.iter().flat_map(|tick| [&tick.to_be_bytes()[..], &[0]].concat()).collect();
        store.insert(0, &bytes).unwrap();
        assert_eq!(store.steps_back().collect::<Vec<_>>(), [5]);
    }
}
