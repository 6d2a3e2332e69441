//! Places of samples in the order of time, however many there are: sorted in memory as far as that goes, and merged
//! from a nameless file beyond.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::vec;

use logpose_core::{ChannelId, Time};

/// A sample of one of several logs; they are ordered as their fields are.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) time: Time,
    pub(crate) input: u32,
    pub(crate) at: u64,
    pub(crate) channel: ChannelId,
}

/// Takes places in any order.
pub(crate) struct Spill {
    places: Vec<Place>,
    /// Bytes of memory that may be used.
    memory: usize,
    store: Option<Store>,
    runs: Vec<Run>,
}

impl Spill {
    /// A sorter that uses so many bytes of memory, or 64 KiB if that is more.
    pub(crate) fn new(memory: u64) -> Self {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX).max(LEAST);
        Self { places: Vec::new(), memory, store: None, runs: Vec::new() }
    }

    pub(crate) fn push(&mut self, place: Place) -> io::Result<()> {
        let most = self.memory / size_of::<Place>();
        if self.places.len() >= most {
            self.spill()?;
        }
        if self.places.len() == self.places.capacity() {
            // Twice as much, but never more than is allowed.
            let more = self.places.len().max(1024).min(most - self.places.len());
            self.places.reserve_exact(more);
        }
        self.places.push(place);
        Ok(())
    }

    /// All places, in their order.
    pub(crate) fn finish(mut self) -> io::Result<Sorted> {
        if !self.runs.is_empty() {
            self.spill()?;
        }
        let Some(mut store) = self.store else {
            self.places.sort_unstable();
            return Ok(Sorted::Here(self.places.into_iter()));
        };
        self.places = Vec::new();
        // So many runs that each would be read in small pieces are merged to fewer first.
        while self.runs.len() > FAN {
            let mut merge = Merge::new(self.runs.drain(..FAN), FAN, self.memory / 2, &mut store)?;
            let mut writer = Writer::new(&store);
            while let Some(place) = merge.next(&mut store)? {
                writer.push(place, &mut store)?;
            }
            self.runs.push(writer.finish(&mut store)?);
        }
        let fan = self.runs.len();
        let merge = Merge::new(self.runs, fan, self.memory, &mut store)?;
        Ok(Sorted::Spilled(merge, store))
    }

    #[cold]
    fn spill(&mut self) -> io::Result<()> {
        self.places.sort_unstable();
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(Store { file: tempfile::tempfile()?, end: 0 }),
        };
        let mut writer = Writer::new(store);
        self.places.drain(..).try_for_each(|place| writer.push(place, store))?;
        self.runs.push(writer.finish(store)?);
        Ok(())
    }
}

/// Places in their order.
pub(crate) enum Sorted {
    /// There were few.
    Here(vec::IntoIter<Place>),
    /// There were many.
    Spilled(Merge, Store),
}

impl Sorted {
    pub(crate) fn next(&mut self) -> io::Result<Option<Place>> {
        match self {
            Self::Here(places) => Ok(places.next()),
            Self::Spilled(merge, store) => merge.next(store),
        }
    }
}

/// The nameless file.
pub(crate) struct Store {
    file: File,
    end: u64,
}

impl Store {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// Sorted places in the file.
struct Run {
    start: u64,
    end: u64,
}

/// Writes a run: each place as its distance from the one before, mostly in five to eight bytes instead of 24.
struct Writer {
    start: u64,
    bytes: Vec<u8>,
    last: Place,
}

impl Writer {
    fn new(store: &Store) -> Self {
        Self { start: store.end, bytes: Vec::with_capacity(PIECE + LONGEST), last: Place::default() }
    }

    fn push(&mut self, place: Place, store: &mut Store) -> io::Result<()> {
        let last = std::mem::replace(&mut self.last, place);
        put(&mut self.bytes, place.time.nanos().wrapping_sub(last.time.nanos()).cast_unsigned());
        put(&mut self.bytes, place.input.into());
        // Distances to both sides are small numbers: 0, -1, 1, -2 are 0, 1, 2, 3.
        let distance = place.at.wrapping_sub(last.at).cast_signed();
        put(&mut self.bytes, (distance << 1 ^ distance >> 63).cast_unsigned());
        put(&mut self.bytes, place.channel.into());
        if self.bytes.len() >= PIECE {
            store.append(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(self, store: &mut Store) -> io::Result<Run> {
        store.append(&self.bytes)?;
        Ok(Run { start: self.start, end: store.end })
    }
}

/// Reads a run, a piece at a time.
struct Reader {
    run: Run,
    piece: Vec<u8>,
    used: usize,
    last: Place,
    size: usize,
}

impl Reader {
    fn next(&mut self, store: &mut Store) -> io::Result<Option<Place>> {
        if self.piece.len() - self.used < LONGEST && self.run.start < self.run.end {
            self.fill(store)?;
        }
        let mut rest = self.piece.get(self.used..).unwrap_or_default();
        let left = rest.len();
        if left == 0 {
            return Ok(None);
        }
        let place = take_place(&mut rest, self.last).ok_or(io::ErrorKind::InvalidData)?;
        self.used += left - rest.len();
        self.last = place;
        Ok(Some(place))
    }

    #[cold]
    fn fill(&mut self, store: &mut Store) -> io::Result<()> {
        self.piece.drain(..self.used);
        self.used = 0;
        let more = (self.run.end - self.run.start).min(self.size as u64);
        store.file.seek(SeekFrom::Start(self.run.start))?;
        (&mut store.file).take(more).read_to_end(&mut self.piece)?;
        self.run.start += more;
        Ok(())
    }
}

/// Several runs as one.
pub(crate) struct Merge {
    readers: Vec<Reader>,
    heap: BinaryHeap<Reverse<(Place, usize)>>,
}

impl Merge {
    /// `memory` is for all `fan` runs together.
    fn new(runs: impl IntoIterator<Item = Run>, fan: usize, memory: usize, store: &mut Store) -> io::Result<Self> {
        let size = (memory / fan.max(1)).clamp(SMALLEST, PIECE);
        let mut merge = Self { readers: Vec::with_capacity(fan), heap: BinaryHeap::with_capacity(fan) };
        for run in runs {
            let mut reader = Reader { run, piece: Vec::new(), used: 0, last: Place::default(), size };
            reader.piece.reserve_exact(size + LONGEST);
            if let Some(place) = reader.next(store)? {
                merge.heap.push(Reverse((place, merge.readers.len())));
            }
            merge.readers.push(reader);
        }
        Ok(merge)
    }

    fn next(&mut self, store: &mut Store) -> io::Result<Option<Place>> {
        let Some(mut top) = self.heap.peek_mut() else { return Ok(None) };
        let Reverse((place, number)) = *top;
        let next = self.readers.get_mut(number).map_or(Ok(None), |reader| reader.next(store))?;
        match next {
            Some(next) => *top = Reverse((next, number)),
            None => {
                PeekMut::pop(top);
            }
        }
        Ok(Some(place))
    }
}

/// Seven bits a byte, the lowest first; all but the last have the eighth bit set.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

fn take_place(bytes: &mut &[u8], last: Place) -> Option<Place> {
    let time = last.time.nanos().wrapping_add(take(bytes)?.cast_signed());
    let input = u32::try_from(take(bytes)?).ok()?;
    let distance = take(bytes)?;
    let distance = distance >> 1 ^ (distance & 1).wrapping_neg();
    let at = last.at.wrapping_add(distance);
    let channel = ChannelId::try_from(take(bytes)?).ok()?;
    Some(Place { time: Time::from_nanos(time), input, at, channel })
}

const LEAST: usize = 64 << 10;
/// Bytes that are written at once, and at most read at once.
const PIECE: usize = 256 << 10;
const SMALLEST: usize = 4 << 10;
/// Runs that are merged at once.
const FAN: usize = 256;
/// A place takes no more bytes in a run.
const LONGEST: usize = 30;

#[cfg(test)]
mod tests {
    use super::{Place, Spill};
    use logpose_core::Time;

    #[test]
    fn many_places_come_back_sorted_also_from_more_runs_than_are_merged_at_once() {
        for count in [0, 1, 2_730, 2_731, 20_000, 1_500_000] {
            let mut x = 7_u64;
            let mut random = || {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                x >> 11
            };
            let place = |at: u64| Place {
                time: if at.is_multiple_of(1000) {
                    Time::MIN
                } else {
                    Time::from_nanos((random() % 5000).cast_signed() - 2500)
                },
                input: (at % 3) as u32,
                at: if at.is_multiple_of(77) { u64::MAX - at } else { at },
                channel: u32::MAX - (at % 5) as u32,
            };
            let mut all: Vec<Place> = (0..count).map(place).collect();
            let mut spill = Spill::new(0);
            all.iter().for_each(|place| spill.push(*place).unwrap());
            all.sort_unstable();
            let mut sorted = spill.finish().unwrap();
            for place in all {
                assert_eq!(sorted.next().unwrap(), Some(place));
            }
            assert_eq!(sorted.next().unwrap(), None);
        }
    }
}
