use std::ops::ControlFlow;

use logpose_core::Time;

use super::Bucket;
use super::level::Level;

/// An overview of a series of numbers: first, min, max and last value of its stretches, level above level.
///
/// The lowest level has a bucket, a *cell*, for every 32 samples that follow each other; each level above has one for
/// four below it. Cells are made of samples and not of equal times, so a burst is as fine as a series that is even; those
/// of one moment are never parted. What a question costs depends on the number of buckets that are wanted.
///
/// Samples may be pushed in any order, though late ones make cells coarse: whoever has them all sorts them first.
///
/// ```
/// use logpose::Pyramid;
/// use logpose::core::Time;
///
/// let mut pyramid = Pyramid::new();
/// for i in 0..1_000_000 {
///     pyramid.push(Time::from_millis(i), (i % 1000) as f64);
/// }
/// let mut buckets = Vec::new();
/// let enough = pyramid.buckets(Time::from_millis(0), Time::from_millis(999_999), 100, &mut buckets);
/// assert!(enough && (50..=201).contains(&buckets.len()));
/// assert_eq!((buckets[0].min, buckets[0].max), (0.0, 999.0));
/// // Of a thousand samples a hundred buckets cannot be made out of cells: these are to be read.
/// assert!(!pyramid.buckets(Time::from_millis(5000), Time::from_millis(6000), 100, &mut buckets));
/// ```
#[derive(Clone, Debug)]
pub struct Pyramid {
    /// The cells, then level above level; the highest has at most as many buckets as one bucket has parts.
    levels: Vec<Level>,
    /// How many samples fill a cell, and how many cells there may be.
    fill: u64,
    most: usize,
}

/// A part of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// This bucket is short enough.
    Bucket(Bucket),
    /// The samples of these times, both included, lie so far apart that they must be read.
    Samples(Time, Time),
}

impl Default for Pyramid {
    fn default() -> Self {
        Self::new()
    }
}

impl Pyramid {
    /// One without samples, which may grow for ever: by some two bytes a sample.
    #[must_use]
    pub fn new() -> Self {
        Self::bounded(usize::MAX)
    }

    /// One with at most so many cells, of some 75 bytes each. When it has more, every two become one, and from then on
    /// twice as many samples fill a cell.
    #[must_use]
    pub fn bounded(cells: usize) -> Self {
        Self { levels: Vec::new(), fill: FILL, most: cells.max(2) }
    }

    /// One of cells that are there: their times ascend, and do not meet.
    pub(crate) fn of_cells(cells: Vec<Bucket>, fill: u64) -> Self {
        let mut pyramid = Self { levels: Vec::new(), fill, most: usize::MAX };
        if !cells.is_empty() {
            pyramid.levels.push(Level::owned(cells));
            pyramid.raise();
        }
        pyramid
    }

    /// One of levels that are there, if they can be those of a pyramid.
    pub(crate) fn of_levels(levels: Vec<Level>, fill: u64) -> Option<Self> {
        let mut pairs = levels.iter().zip(levels.iter().skip(1));
        let fit = |(below, above): (&Level, &Level)| below.len() > FAN && above.len() == below.len().div_ceil(FAN);
        let whole = pairs.all(fit) && levels.last().is_none_or(|top| (1..=FAN).contains(&top.len()));
        whole.then_some(Self { levels, fill, most: usize::MAX })
    }

    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Adds a sample. One that comes late goes to the cell of its time; of equal times it is the last.
    pub fn push(&mut self, time: Time, value: f64) {
        if self.levels.is_empty() {
            self.levels.push(Level::owned(Vec::new()));
        }
        let mut place = self.place(time);
        if place >= self.most {
            self.halve();
            place = self.place(time);
        }
        for level in &mut self.levels {
            let nodes = level.change();
            match nodes.get_mut(place) {
                Some(node) => node.insert(time, value),
                None => nodes.push(Bucket::of(time, value)),
            }
            place /= FAN;
        }
        self.raise();
    }

    /// How many samples there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.top().fold(0, |sum, node| sum.saturating_add(node.count))
    }

    /// The min of all numbers.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        Some(self.top().fold(f64::NAN, |low, node| low.min(node.min))).filter(|low| !low.is_nan())
    }

    /// The max of all numbers.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        Some(self.top().fold(f64::NAN, |high, node| high.max(node.max))).filter(|high| !high.is_nan())
    }

    /// The times of the first and of the last sample.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        let top = self.levels.last()?;
        Some((top.get(0)?.start, top.get(top.len().checked_sub(1)?)?.end))
    }

    /// Bytes of memory that it holds; those of a mapped file are not counted.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.levels.iter().map(Level::memory).sum::<usize>()
    }

    /// The series from `start` to `end`, both included, in about `most` buckets and at most twice as many and one, behind
    /// what is in `out`. Each lies within a stretch of time that is the wanted range divided by `most`, or is no longer than
    /// one; those at the edges may reach beyond the range.
    ///
    /// If that cannot be answered without the samples, because there are no more than `most` or they lie too far apart,
    /// the answer is `false` and `out` stays as it was. [`Pyramid::pieces`] lists which of them must be read.
    pub fn buckets(&self, start: Time, end: Time, most: usize, out: &mut Vec<Bucket>) -> bool {
        let before = out.len();
        let mut count = 0_u64;
        let flow = self.pieces(start, end, most, &mut |piece| match piece {
            Piece::Bucket(bucket) => {
                count = count.saturating_add(bucket.count);
                out.push(bucket);
                ControlFlow::Continue(())
            }
            Piece::Samples(..) => ControlFlow::Break(()),
        });
        let enough = flow.is_continue() && (count == 0 || count > most as u64);
        if !enough {
            out.truncate(before);
        }
        enough
    }

    /// The series from `start` to `end`, both included, piece by piece in the order of time: buckets where cells are short
    /// enough for `most` of them in the range, and the times of samples where they are not. There are at
    /// most one more than `most` such cells.
    pub fn pieces(
        &self,
        start: Time,
        end: Time,
        most: usize,
        take: &mut dyn FnMut(Piece) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut query = Query { grid: Grid::new(start, end, most), end, open: None, coarse: None, take };
        if let Some((level, top)) = self.levels.iter().enumerate().next_back().filter(|_| start <= end) {
            self.visit(level, 0..top.len(), &mut query)?;
        }
        query.flush()
    }

    fn visit(&self, level: usize, nodes: std::ops::Range<usize>, query: &mut Query<'_>) -> ControlFlow<()> {
        let Some(at) = self.levels.get(level) else { return ControlFlow::Continue(()) };
        for place in nodes {
            let Some(node) = at.get(place) else { break };
            if node.end < query.grid.start {
                continue;
            }
            if node.start > query.end {
                break;
            }
            let below = level.checked_sub(1).filter(|_| !query.fits(&node));
            match below {
                Some(below) => self.visit(below, place * FAN..(place + 1) * FAN, query)?,
                None => query.node(&node)?,
            }
        }
        ControlFlow::Continue(())
    }

    fn top(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.levels.last().into_iter().flat_map(Level::iter)
    }

    /// The cell to which a sample belongs: one that is there or the next.
    fn place(&self, time: Time) -> usize {
        let Some(cells) = self.levels.first() else { return 0 };
        match cells.len().checked_sub(1).and_then(|last| Some((last, cells.get(last)?))) {
            None => 0,
            Some((last, cell)) if time > cell.end && cell.count >= self.fill => last + 1,
            Some((last, cell)) if time >= cell.start => last,
            _ => cells.partition_point(|cell| cell.start <= time).saturating_sub(1),
        }
    }

    /// Makes one of every two cells.
    fn halve(&mut self) {
        self.fill = self.fill.saturating_mul(2);
        self.levels.truncate(1);
        if let Some(cells) = self.levels.first_mut() {
            let halved = Level::owned(joined(cells.iter(), cells.len(), 2));
            *cells = halved;
        }
        self.raise();
    }

    /// Adds the levels that are missing.
    fn raise(&mut self) {
        while let Some(top) = self.levels.last().filter(|top| top.len() > FAN) {
            let above = joined(top.iter(), top.len(), FAN);
            self.levels.push(Level::owned(above));
        }
    }
}

/// One bucket of every `each`.
fn joined(buckets: impl Iterator<Item = Bucket>, count: usize, each: usize) -> Vec<Bucket> {
    let mut out: Vec<Bucket> = Vec::with_capacity(count.div_ceil(each));
    for (place, bucket) in buckets.enumerate() {
        match out.last_mut() {
            Some(last) if !place.is_multiple_of(each) => last.append(&bucket),
            _ => out.push(bucket),
        }
    }
    out
}

/// Equal stretches of time, one for each pixel.
#[derive(Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) start: Time,
    width: u64,
}

impl Grid {
    pub(crate) fn new(start: Time, end: Time, most: usize) -> Self {
        let span = end.nanos().abs_diff(start.nanos());
        // Rounded up, so that there are not more than wanted.
        Self { start, width: (span / (most as u64).max(1)).saturating_add(1) }
    }

    /// Which one a time at or behind the start lies in.
    #[inline]
    pub(crate) fn column(&self, time: Time) -> u64 {
        time.nanos().abs_diff(self.start.nanos()) / self.width
    }
}

/// A question that is being answered.
struct Query<'q> {
    grid: Grid,
    end: Time,
    /// What was found of one column, and the times of cells that are too long.
    open: Option<(u64, Bucket)>,
    coarse: Option<(Time, Time)>,
    take: &'q mut dyn FnMut(Piece) -> ControlFlow<()>,
}

impl Query<'_> {
    /// Whether a node lies in one column, all of it.
    #[inline]
    fn fits(&self, node: &Bucket) -> bool {
        node.start >= self.grid.start
            && node.end <= self.end
            && self.grid.column(node.start) == self.grid.column(node.end)
    }

    /// Takes a node that fits, or a cell.
    fn node(&mut self, node: &Bucket) -> ControlFlow<()> {
        if self.fits(node) {
            let column = self.grid.column(node.start);
            match &mut self.open {
                Some((open, bucket)) if *open == column => bucket.append(node),
                _ => {
                    self.flush()?;
                    self.open = Some((column, *node));
                }
            }
            return ControlFlow::Continue(());
        }
        if node.span() <= self.grid.width {
            self.flush()?;
            return (self.take)(Piece::Bucket(*node));
        }
        let (start, end) = (node.start.max(self.grid.start), node.end.min(self.end));
        match &mut self.coarse {
            Some((_, last)) => *last = end,
            None => {
                self.flush()?;
                self.coarse = Some((start, end));
            }
        }
        ControlFlow::Continue(())
    }

    /// Gives what is open.
    fn flush(&mut self) -> ControlFlow<()> {
        if let Some((_, bucket)) = self.open.take() {
            (self.take)(Piece::Bucket(bucket))?;
        }
        match self.coarse.take() {
            Some((start, end)) => (self.take)(Piece::Samples(start, end)),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Samples of a cell.
pub(crate) const FILL: u64 = 32;
/// Buckets that make one of the level above.
pub(crate) const FAN: usize = 4;
