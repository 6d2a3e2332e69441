use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use logpose_core::{ChannelId, Time, Type, Value};

use super::chunk::Chunk;
use super::spill::{Full, Looked, Spill};

/// All that was written, by channel: the newest in memory, everything before in a nameless file. One thread writes, any
/// number reads; nobody holds the lock while a file is read.
///
/// A channel has up to four runs, each in the order of time. A sample goes to the first run that ends before it, so
/// those that come late have runs of their own, and reading merges a few runs instead of sorting.
pub(super) struct Tape {
    state: Mutex<State>,
    spill: Spill,
}

/// How much of a channel somebody has seen: samples of each run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark([u64; MAX_RUNS]);

/// What a channel has, in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) samples: u64,
    /// The earliest and the latest time.
    pub(super) range: Option<(Time, Time)>,
}

impl Extent {
    fn add(&mut self, time: Time) {
        let (first, last) = self.range.unwrap_or((time, time));
        *self = Self { samples: self.samples + 1, range: Some((first.min(time), last.max(time))) };
    }
}

/// Who is written samples, one by one, until he has enough.
pub(super) type Take<'t> = &'t mut dyn FnMut(Time, &Value<'_>) -> ControlFlow<()>;

#[derive(Default)]
struct State {
    tracks: Vec<Track>,
    total: Extent,
    /// Bytes of all open chunks.
    open: usize,
    looked: Looked,
    full: Option<Full>,
    /// Samples that had to be let go because nothing could be put away.
    forgotten: u64,
    /// Samples so late that no run was left: they stand at a later time.
    moved: u64,
    bytes: Vec<u8>,
}

struct Track {
    ty: Type,
    runs: Vec<SortedRun>,
    extent: Extent,
}

#[derive(Default)]
struct SortedRun {
    sealed: Vec<Sealed>,
    open: Chunk,
    /// Samples that were ever put into it.
    written: u64,
    last: Option<Time>,
}

impl SortedRun {
    /// How many samples are before a time, or somewhat fewer: what is in the file is counted by chunks.
    fn before(&self, time: Time) -> u64 {
        match self.sealed.get(self.sealed.partition_point(|sealed| sealed.last < time)) {
            Some(sealed) => sealed.before,
            None => self.written - (self.open.len() - self.open.before(time)) as u64,
        }
    }
}

/// A chunk in the file.
#[derive(Clone, Copy)]
struct Sealed {
    first: Time,
    last: Time,
    at: u64,
    len: u32,
    count: u32,
    /// Samples of the run before it.
    before: u64,
}

impl Tape {
    /// An empty one, whose file lies in `folder`, has at most `limit` bytes and leaves `keep_free` bytes free.
    pub(super) fn new(folder: &Path, limit: u64, keep_free: u64) -> io::Result<Self> {
        Ok(Self { state: Mutex::default(), spill: Spill::create(folder, limit, keep_free)? })
    }

    /// Adds a channel; the answer is its number.
    pub(super) fn add(&self, ty: Type) -> ChannelId {
        let tracks = &mut self.lock().tracks;
        tracks.push(Track { ty, runs: Vec::new(), extent: Extent::default() });
        ChannelId::try_from(tracks.len() - 1).unwrap_or(ChannelId::MAX)
    }

    /// Takes samples in, all of them while nobody reads.
    pub(super) fn write<'v>(&self, samples: impl Iterator<Item = (ChannelId, Time, Value<'v>)>) {
        let state = &mut *self.lock();
        for (id, time, value) in samples {
            state.push(&self.spill, id, time, &value);
        }
        if state.open > OPEN_BYTES {
            state.shrink(&self.spill);
        }
    }

    /// All channels together.
    pub(super) fn total(&self) -> Extent {
        self.lock().total
    }

    /// The extents of all channels, in their order.
    pub(super) fn extents(&self) -> Vec<Extent> {
        self.lock().tracks.iter().map(|track| track.extent).collect()
    }

    /// Bytes in memory and in the file.
    pub(super) fn size(&self) -> (usize, u64) {
        (self.lock().open, self.spill.len())
    }

    /// Why older samples are let go, if they are, and how many were.
    pub(super) fn trouble(&self) -> (Option<Full>, u64) {
        let state = self.lock();
        (state.full.clone(), state.forgotten)
    }

    /// Samples that stand at a later time than they should.
    pub(super) fn moved(&self) -> u64 {
        self.lock().moved
    }

    /// How many samples a channel has from `start` to `end`, both included.
    pub(super) fn count(&self, id: ChannelId, start: Time, end: Time) -> io::Result<u64> {
        let mut count = 0;
        let mut edges = Vec::new();
        {
            let state = self.lock();
            let Some(track) = state.tracks.get(id as usize) else { return Ok(0) };
            for (run, track) in track.runs.iter().enumerate() {
                let from = track.sealed.partition_point(|sealed| sealed.last < start);
                let some = track.sealed.iter().enumerate().skip(from).take_while(|(_, sealed)| sealed.first <= end);
                for (place, sealed) in some {
                    match sealed.first >= start && sealed.last <= end {
                        true => count += u64::from(sealed.count),
                        false => edges.push((run, place)),
                    }
                }
                count += track.open.until(end).saturating_sub(track.open.before(start)) as u64;
            }
        }
        for (run, place) in edges {
            let chunk = self.load(id, run, place)?;
            count += chunk.until(end).saturating_sub(chunk.before(start)) as u64;
        }
        Ok(count)
    }

    /// Tells the samples from `start` to `end`, both included, in the order of time.
    pub(super) fn read(&self, id: ChannelId, start: Time, end: Time, take: Take<'_>) -> io::Result<()> {
        let Some((ty, mut cursors)) = self.cursors(id, |run| {
            let next = run.sealed.partition_point(|sealed| sealed.last < start);
            let open = run.open.last().is_some_and(|last| last >= start).then(|| run.open.clone());
            Reach { next, stop: run.sealed.partition_point(|sealed| sealed.first <= end), open, skip: 0 }
        }) else {
            return Ok(());
        };
        for cursor in &mut cursors {
            cursor.forward(self, id, start)?;
        }
        loop {
            let times = cursors.iter_mut().filter_map(|cursor| Some((cursor.chunk.time(cursor.place)?, cursor)));
            // Of several at one time that of the first run came first.
            let Some((time, cursor)) = times.min_by_key(|(time, cursor)| (*time, cursor.run)) else { return Ok(()) };
            if time > end {
                return Ok(());
            }
            if let Some((time, value)) = cursor.chunk.get(cursor.place, ty)
                && take(time, &value).is_break()
            {
                return Ok(());
            }
            cursor.place += 1;
            cursor.forward(self, id, start)?;
        }
    }

    /// Tells the samples before a time, the latest first.
    pub(super) fn read_back(&self, id: ChannelId, before: Time, take: Take<'_>) -> io::Result<()> {
        let Some((ty, mut cursors)) = self.cursors(id, |run| {
            let open = run.open.first().is_some_and(|first| first < before).then(|| run.open.clone());
            Reach { next: run.sealed.partition_point(|sealed| sealed.first < before), open, ..Reach::default() }
        }) else {
            return Ok(());
        };
        for cursor in &mut cursors {
            cursor.back(self, id, before)?;
        }
        loop {
            let times = cursors.iter_mut().filter_map(|cursor| {
                let place = cursor.place.checked_sub(1)?;
                Some((cursor.chunk.time(place)?, place, cursor))
            });
            let latest = times.max_by_key(|(time, _, cursor)| (*time, cursor.run));
            let Some((_, place, cursor)) = latest else { return Ok(()) };
            if let Some((time, value)) = cursor.chunk.get(place, ty)
                && take(time, &value).is_break()
            {
                return Ok(());
            }
            cursor.place = place;
            cursor.back(self, id, before)?;
        }
    }

    /// Tells what came since a mark, and sets it. Late samples come last.
    pub(super) fn news(
        &self,
        id: ChannelId,
        mark: &mut Mark,
        take: &mut dyn FnMut(Time, &Value<'_>),
    ) -> io::Result<()> {
        let mut seen = mark.0.iter_mut();
        let Some((ty, mut cursors)) = self.cursors(id, |run| {
            let Some(seen) = seen.next() else { return Reach::default() };
            let next = run.sealed.partition_point(|sealed| sealed.before + u64::from(sealed.count) <= *seen);
            let first = run.sealed.get(next).map_or(run.written - run.open.len() as u64, |sealed| sealed.before);
            let skip = usize::try_from(seen.saturating_sub(first)).unwrap_or(usize::MAX);
            *seen = run.written;
            Reach { next, stop: run.sealed.len(), open: Some(run.open.clone()), skip }
        }) else {
            return Ok(());
        };
        for cursor in &mut cursors {
            cursor.forward(self, id, Time::MIN)?;
            cursor.place += cursor.reach.skip;
            cursor.forward(self, id, Time::MIN)?;
            while let Some((time, value)) = cursor.chunk.get(cursor.place, ty) {
                take(time, &value);
                cursor.place += 1;
                cursor.forward(self, id, Time::MIN)?;
            }
        }
        Ok(())
    }

    /// A mark before everything that is not earlier than `since`, and perhaps some more.
    pub(super) fn mark(&self, id: ChannelId, since: Time) -> Mark {
        let mut mark = Mark::default();
        if let Some(track) = self.lock().tracks.get(id as usize) {
            let runs = mark.0.iter_mut().zip(&track.runs);
            runs.for_each(|(seen, run)| *seen = run.before(since));
        }
        mark
    }

    /// What reads each run.
    fn cursors(&self, id: ChannelId, mut of: impl FnMut(&SortedRun) -> Reach) -> Option<(Type, Vec<Cursor>)> {
        let state = self.lock();
        let track = state.tracks.get(id as usize)?;
        let cursor = |(number, run): (usize, &SortedRun)| Cursor {
            run: number,
            reach: of(run),
            chunk: Chunk::default(),
            place: 0,
        };
        Some((track.ty, track.runs.iter().enumerate().map(cursor).collect()))
    }

    fn load(&self, id: ChannelId, run: usize, place: usize) -> io::Result<Chunk> {
        let sealed = {
            let state = self.lock();
            let run = state.tracks.get(id as usize).and_then(|track| track.runs.get(run));
            run.and_then(|run| run.sealed.get(place)).copied()
        };
        let Some(sealed) = sealed else { return Ok(Chunk::default()) };
        let bytes = self.spill.read(sealed.at, sealed.len as usize)?;
        Chunk::parse(&bytes, sealed.count as usize).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is to be read of a run.
#[derive(Default)]
struct Reach {
    /// The next chunk in the file, and the one at which to stop.
    next: usize,
    stop: usize,
    /// The chunk in memory, if that is wanted too.
    open: Option<Chunk>,
    /// Samples of the first chunk that are known already.
    skip: usize,
}

/// Where somebody reads in a run.
struct Cursor {
    run: usize,
    reach: Reach,
    chunk: Chunk,
    /// The next sample; going back, how many are left.
    place: usize,
}

impl Cursor {
    /// Fetches chunks until there is a sample at `start` or behind it.
    fn forward(&mut self, tape: &Tape, id: ChannelId, start: Time) -> io::Result<()> {
        while self.place >= self.chunk.len() {
            let over = self.place - self.chunk.len();
            if self.reach.next < self.reach.stop {
                self.chunk = tape.load(id, self.run, self.reach.next)?;
                self.reach.next += 1;
            } else if let Some(open) = self.reach.open.take() {
                self.chunk = open;
            } else {
                (self.chunk, self.place) = (Chunk::default(), 0);
                return Ok(());
            }
            self.place = self.chunk.before(start) + over;
        }
        Ok(())
    }

    /// Fetches chunks until there is a sample before a time.
    fn back(&mut self, tape: &Tape, id: ChannelId, before: Time) -> io::Result<()> {
        while self.place == 0 {
            if let Some(open) = self.reach.open.take() {
                self.chunk = open;
            } else if let Some(next) = self.reach.next.checked_sub(1) {
                self.chunk = tape.load(id, self.run, next)?;
                self.reach.next = next;
            } else {
                return Ok(());
            }
            self.place = self.chunk.before(before);
        }
        Ok(())
    }
}

impl State {
    fn push(&mut self, spill: &Spill, id: ChannelId, time: Time, value: &Value<'_>) {
        let Some(track) = self.tracks.get_mut(id as usize) else { return };
        let fits = |run: &SortedRun| run.last.is_none_or(|last| last <= time);
        let found = track.runs.iter().position(fits);
        if found.is_none() && track.runs.len() < MAX_RUNS {
            track.runs.push(SortedRun::default());
        }
        // Where none is left it stands at the end of the one that ended first.
        let least = || (0..).zip(&track.runs).min_by_key(|(_, run)| run.last).map_or(0, |(number, _)| number);
        let number = found.unwrap_or_else(least);
        let Some(run) = track.runs.get_mut(number) else { return };
        let stands = run.last.map_or(time, |last| last.max(time));
        self.moved += u64::from(stands != time);
        let before = run.open.size();
        if !run.open.push(stands, value) {
            self.forgotten += 1;
            return;
        }
        (run.last, run.written) = (Some(stands), run.written + 1);
        self.open += run.open.size() - before;
        track.extent.add(stands);
        self.total.add(stands);
        if run.open.size() >= CHUNK_BYTES {
            self.seal(spill, id as usize, number);
        }
    }

    /// Puts an open chunk away. What cannot be put away loses its older half, so that the newest is always there.
    fn seal(&mut self, spill: &Spill, track: usize, run: usize) {
        let Some(run) = self.tracks.get_mut(track).and_then(|track| track.runs.get_mut(run)) else { return };
        let (Some(first), Some(last)) = (run.open.first(), run.open.last()) else { return };
        let before = run.open.size();
        self.bytes.clear();
        run.open.emit(&mut self.bytes);
        let sizes = u32::try_from(self.bytes.len()).ok().zip(u32::try_from(run.open.len()).ok());
        let Some((len, count)) = sizes else { return };
        match spill.append(&self.bytes, &mut self.looked) {
            Ok(at) => {
                let before = run.written - u64::from(count);
                run.sealed.push(Sealed { first, last, at, len, count, before });
                run.open = Chunk::default();
                self.full = None;
            }
            Err(full) => {
                let half = run.open.len().div_ceil(2);
                run.open.forget(half);
                self.forgotten += half as u64;
                self.full = Some(full);
            }
        }
        self.open = self.open.saturating_sub(before - run.open.size());
    }

    /// Puts away what is larger than most.
    fn shrink(&mut self, spill: &Spill) {
        let all = self.tracks.iter().enumerate().flat_map(|(track, found)| {
            found.runs.iter().enumerate().map(move |(run, found)| (track, run, found.open.size()))
        });
        let all: Vec<_> = all.filter(|(.., size)| *size > 0).collect();
        let usual = self.open / all.len().max(1);
        for (track, run, _) in all.into_iter().filter(|(.., size)| *size >= usual) {
            self.seal(spill, track, run);
        }
    }
}

/// Of one channel.
const MAX_RUNS: usize = 4;
/// An open chunk that has so many is put away.
const CHUNK_BYTES: usize = 32 << 10;
/// All open chunks together.
const OPEN_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use logpose_core::{ChannelId, Time, Type, Value};

    use super::{Mark, Tape};

    fn tape(keep_free: u64) -> Tape {
        Tape::new(&std::env::temp_dir(), u64::MAX, keep_free).unwrap()
    }

    fn write(tape: &Tape, id: ChannelId, samples: &[(i64, i64)]) {
        tape.write(samples.iter().map(|(ns, x)| (id, Time::from_nanos(*ns), Value::Int64(*x))));
    }

    fn pair(time: Time, value: &Value<'_>) -> (i64, i64) {
        let Value::Int64(x) = value else { panic!("{value:?}") };
        (time.nanos(), *x)
    }

    fn read(tape: &Tape, id: ChannelId, start: i64, end: i64) -> Vec<(i64, i64)> {
        let mut found = Vec::new();
        tape.read(id, Time::from_nanos(start), Time::from_nanos(end), &mut |time, value| {
            found.push(pair(time, value));
            ControlFlow::Continue(())
        })
        .unwrap();
        found
    }

    fn back(tape: &Tape, id: ChannelId, before: i64, most: usize) -> Vec<(i64, i64)> {
        let mut found = Vec::new();
        tape.read_back(id, Time::from_nanos(before), &mut |time, value| {
            found.push(pair(time, value));
            if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .unwrap();
        found
    }

    #[test]
    fn everything_comes_back_in_the_order_of_time_with_a_bounded_memory() {
        let tape = tape(0);
        let id = tape.add(Type::Int64);
        let all: Vec<(i64, i64)> = (0..200_000).map(|n| (n * 10, n)).collect();
        all.chunks(777).for_each(|some| write(&tape, id, some));
        let (memory, file) = tape.size();
        assert!(memory < 64 << 10 && file > 3 << 20, "{memory} {file}");
        assert_eq!(read(&tape, id, i64::MIN, i64::MAX), all);
        assert_eq!(read(&tape, id, 15, 40), [(20, 2), (30, 3), (40, 4)]);
        assert_eq!(back(&tape, id, 1_000_000, 3), [(999_990, 99_999), (999_980, 99_998), (999_970, 99_997)]);
        let mut down = all.clone();
        down.reverse();
        assert_eq!(back(&tape, id, i64::MAX, usize::MAX), down);
        for (start, end) in [(0, 0), (5, 9), (123_450, 1_654_321), (i64::MIN, i64::MAX), (1_999_985, 3_000_000)] {
            let expected = all.iter().filter(|(ns, _)| (start..=end).contains(ns)).count() as u64;
            let found = tape.count(id, Time::from_nanos(start), Time::from_nanos(end)).unwrap();
            assert_eq!(found, expected, "{start} {end}");
        }
        assert_eq!((tape.total().samples, tape.extents()[0].samples), (200_000, 200_000));
        assert_eq!(tape.count(99, Time::MIN, Time::MAX).unwrap(), 0, "a channel that is not there has nothing");
    }

    #[test]
    fn late_samples_stand_where_they_belong() {
        let tape = tape(0);
        let id = tape.add(Type::Int64);
        // Two senders, one of them always a second behind, and now and then one that is much later.
        let mut expected = Vec::new();
        for n in 0..20_000_i64 {
            let mut samples = vec![(n * 10, n), (n * 10 - 995, -n)];
            if n % 1000 == 0 {
                samples.push((n * 5, n));
            }
            write(&tape, id, &samples);
            expected.extend(samples);
        }
        expected.sort_by_key(|(ns, _)| *ns);
        let mut found = read(&tape, id, i64::MIN, i64::MAX);
        assert!(found.is_sorted_by_key(|(ns, _)| *ns));
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(tape.moved(), 0);
        let mut down = back(&tape, id, i64::MAX, usize::MAX);
        assert!(down.is_sorted_by_key(|(ns, _)| -*ns));
        down.sort_unstable();
        assert_eq!(down, expected);
    }

    #[test]
    fn those_that_fit_nowhere_stand_a_little_later_and_none_is_lost() {
        let tape = tape(0);
        let id = tape.add(Type::Int64);
        let samples: Vec<(i64, i64)> = (0..10_000).map(|n| (10_000 - n, n)).collect();
        write(&tape, id, &samples);
        let found = read(&tape, id, i64::MIN, i64::MAX);
        assert_eq!((found.len(), found.is_sorted_by_key(|(ns, _)| *ns)), (10_000, true));
        assert_eq!(tape.moved(), 10_000 - 4);
    }

    #[test]
    fn news_are_told_once() {
        let tape = tape(0);
        let id = tape.add(Type::Int64);
        let mut mark = Mark::default();
        let mut heard = Vec::new();
        let mut sent = Vec::new();
        for n in 0..300_i64 {
            let some: Vec<(i64, i64)> = (0..n * 3 % 700).map(|i| (n * 10_000 + i, n)).collect();
            write(&tape, id, &some);
            sent.extend(some);
            if n % 7 != 0 {
                tape.news(id, &mut mark, &mut |time, value| heard.push(pair(time, value))).unwrap();
            }
        }
        tape.news(id, &mut mark, &mut |time, value| heard.push(pair(time, value))).unwrap();
        assert_eq!(heard, sent);
        write(&tape, id, &[(5, 1), (99_999_999, 2)]);
        let mut late = Vec::new();
        tape.news(id, &mut mark, &mut |time, value| late.push(pair(time, value))).unwrap();
        assert_eq!(late, [(99_999_999, 2), (5, 1)]);
        let mut none = tape.mark(id, Time::MAX);
        tape.news(id, &mut none, &mut |_, _| panic!("nothing is new")).unwrap();
        for since in [0, 1_500_000, 2_990_300, 99_999_999] {
            let mut found = std::collections::HashSet::new();
            let mut mark = tape.mark(id, Time::from_nanos(since));
            tape.news(id, &mut mark, &mut |time, value| assert!(found.insert(pair(time, value)))).unwrap();
            let wanted = sent.iter().chain([&(99_999_999, 2)]).filter(|(ns, _)| *ns >= since);
            assert!(wanted.clone().all(|sample| found.contains(sample)) && found.len() < wanted.count() + 2000);
        }
    }

    #[test]
    fn a_full_disk_costs_the_older_samples_alone() {
        let tape = tape(u64::MAX);
        let id = tape.add(Type::Int64);
        let all: Vec<(i64, i64)> = (0..100_000).map(|n| (n, n)).collect();
        all.chunks(100).for_each(|some| write(&tape, id, some));
        let found = read(&tape, id, i64::MIN, i64::MAX);
        assert!(found.len() > 500 && all.ends_with(&found), "{}", found.len());
        let (full, forgotten) = tape.trouble();
        assert!(full.unwrap().0.contains("must stay free"));
        assert_eq!(forgotten + found.len() as u64, 100_000);
        assert_eq!(tape.size().1, 0);
    }

    #[test]
    fn many_channels_share_the_memory() {
        let tape = tape(0);
        let ids: Vec<ChannelId> = (0..5000).map(|_| tape.add(Type::Bytes)).collect();
        let payload = [7; 1000];
        for n in 0..30 {
            tape.write(ids.iter().map(|id| (*id, Time::from_nanos(n), Value::Bytes(&payload))));
        }
        let (memory, file) = tape.size();
        assert!(memory <= 65 << 20 && memory as u64 + file >= 150_000_000, "{memory} {file}");
        let mut count = 0;
        tape.read(4321, Time::MIN, Time::MAX, &mut |_, value| {
            assert!(matches!(value, Value::Bytes(bytes) if *bytes == payload));
            count += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(count, 30);
    }
}
