/// Numbers over time, thinned as they come.
///
/// Of every column of pixels the first, lowest, highest and last value stay: what is drawn is what all samples
/// would have drawn.
#[derive(Clone, Debug)]
pub struct Trace {
    start: f64,
    end: f64,
    columns: Vec<Option<Bucket>>,
    /// The last value before the range, if the line goes on from there.
    before: Option<Point>,
    /// The first value behind the range, if the line goes on to there.
    after: Option<Point>,
    /// Whether the last sample was no number.
    broken: bool,
    /// Until when the last value holds.
    until: f64,
    last: Option<f64>,
    sum: f64,
    count: u64,
}

/// A time and a value.
pub(crate) type Point = (f64, f64);

#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: Point,
    low: Point,
    high: Point,
    last: Point,
    /// Whether a value that is not a number stands before the first.
    broken: bool,
}

impl Trace {
    /// A trace for a range of seconds and a picture that many pixels wide.
    #[must_use]
    pub fn new(range: (f64, f64), columns: u32) -> Self {
        let columns = vec![None; columns.clamp(1, MOST_COLUMNS) as usize];
        let (start, end) = range;
        Self {
            start,
            end,
            columns,
            before: None,
            after: None,
            broken: false,
            until: end,
            last: None,
            sum: 0.0,
            count: 0,
        }
    }

    /// Adds a sample. Times must not go back. What is not finite breaks the line.
    pub fn push(&mut self, time: f64, value: f64) {
        let good = value.abs() <= LARGEST;
        if time < self.start {
            self.before = good.then_some((time, value));
            return;
        }
        if time > self.end {
            if self.after.is_none() && good && !self.broken {
                self.after = Some((time, value));
            }
            self.broken = true;
            return;
        }
        if !good {
            self.broken = true;
            return;
        }
        self.count += 1;
        self.sum += value;
        self.last = Some(value);
        let broken = std::mem::take(&mut self.broken);
        let place = column(time, (self.start, self.end), self.columns.len());
        let point = (time, value);
        match self.columns.get_mut(place) {
            Some(Some(bucket)) => {
                bucket.last = point;
                if value < bucket.low.1 {
                    bucket.low = point;
                }
                if value > bucket.high.1 {
                    bucket.high = point;
                }
            }
            Some(empty) => *empty = Some(Bucket { first: point, low: point, high: point, last: point, broken }),
            None => {}
        }
    }

    /// Says that the last value holds only until this time, not to the end of the range.
    pub fn hold_until(&mut self, time: f64) {
        self.until = time.min(self.end);
    }

    /// The lowest and highest value.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        let buckets = self.columns.iter().flatten().map(|bucket| (bucket.low.1, bucket.high.1));
        // A value from before the range is seen only where it holds into it.
        let held = self.before.filter(|_| self.count == 0).map(|(_, value)| (value, value));
        buckets.chain(held).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// How many numbers lie in the range.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The last number; where none lies in the range, the one before it.
    #[must_use]
    pub fn last(&self) -> Option<f64> {
        self.last.or(self.before.map(|(_, value)| value))
    }

    /// The mean of the numbers.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a mean of 2^53 samples is not more exact")]
        let count = self.count as f64;
        (self.count > 0).then(|| self.sum / count)
    }

    /// The points that stayed, each line on its own.
    pub(crate) fn lines(&self) -> Vec<Vec<Point>> {
        let mut lines: Vec<Vec<Point>> = vec![Vec::new()];
        for bucket in self.columns.iter().flatten() {
            let (low, high) =
                if bucket.low.0 <= bucket.high.0 { (bucket.low, bucket.high) } else { (bucket.high, bucket.low) };
            if bucket.broken {
                lines.push(Vec::new());
            }
            for point in [bucket.first, low, high, bucket.last] {
                if let Some(line) = lines.last_mut()
                    && line.last() != Some(&point)
                {
                    line.push(point);
                }
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }

    /// Straight lines from value to value, cut off at the ends of the range.
    pub(crate) fn slopes(&self) -> Vec<Vec<Point>> {
        let mut lines = self.lines();
        let unbroken = self.columns.iter().flatten().next().is_some_and(|bucket| !bucket.broken);
        if let (Some(line), Some(before), true) = (lines.first_mut(), self.before, unbroken)
            && let Some(first) = line.first().copied()
        {
            line.insert(0, between(before, first, self.start));
        }
        match (lines.last_mut(), self.before, self.after) {
            (Some(line), _, Some(after)) => {
                if let Some(last) = line.last().copied() {
                    line.push(between(last, after, self.end));
                }
            }
            (None, Some(before), Some(after)) => {
                lines.push(vec![between(before, after, self.start), between(before, after, self.end)]);
            }
            _ => {}
        }
        lines
    }

    /// Stairs: each value holds until the next.
    pub(crate) fn steps(&self) -> Vec<Vec<Point>> {
        let mut lines = self.lines();
        if let Some((_, value)) = self.before {
            let held = (self.start, value);
            match lines.first_mut() {
                Some(line) if self.columns.iter().flatten().next().is_some_and(|bucket| !bucket.broken) => {
                    line.insert(0, held);
                }
                _ => lines.insert(0, vec![held]),
            }
        }
        let mut stairs = Vec::with_capacity(lines.len());
        let mut lines = lines.into_iter().peekable();
        while let Some(line) = lines.next() {
            let mut stair: Vec<Point> = Vec::with_capacity(2 * line.len());
            for (time, value) in line {
                if let Some((_, held)) = stair.last().copied() {
                    stair.push((time, held));
                }
                stair.push((time, value));
            }
            let is_last = lines.peek().is_none();
            if let Some((time, held)) = stair.last().copied()
                && is_last
                && (!self.broken || self.after.is_some())
                && self.until > time
            {
                stair.push((self.until, held));
            }
            stairs.push(stair);
        }
        stairs
    }
}

/// Which column of pixels a time of the range falls into.
pub(crate) fn column(time: f64, (start, end): (f64, f64), columns: usize) -> usize {
    let share = (time - start) / (end - start);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of a few thousand columns; it saturates"
    )]
    let place = (share * columns as f64) as usize;
    place.min(columns.saturating_sub(1))
}

/// The point at `time` on the line from one point to another.
fn between(from: Point, to: Point, time: f64) -> Point {
    let share = if to.0 > from.0 { (time - from.0) / (to.0 - from.0) } else { 1.0 };
    (time, from.1 + (to.1 - from.1) * share.clamp(0.0, 1.0))
}

/// Beyond, differences of values would overflow.
pub(crate) const LARGEST: f64 = 1e300;
/// No picture is wider.
const MOST_COLUMNS: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::Trace;

    #[test]
    fn every_spike_stays() {
        let mut trace = Trace::new((0.0, 100.0), 50);
        for i in 0..1_000_000 {
            let value = match i {
                333_333 => 9.0,
                666_666 => -9.0,
                _ => 0.5,
            };
            trace.push(f64::from(i) * 1e-4, value);
        }
        assert_eq!(trace.range(), Some((-9.0, 9.0)));
        let lines = trace.slopes();
        assert!(lines.len() == 1 && lines[0].len() <= 4 * 50 + 2);
        assert!(lines[0].iter().any(|point| point.1 == 9.0) && lines[0].iter().any(|point| point.1 == -9.0));
        assert!(lines[0].is_sorted_by_key(|point| point.0));
    }

    #[test]
    fn what_is_no_number_breaks_the_line() {
        let mut trace = Trace::new((0.0, 4.0), 100);
        [(0.0, 1.0), (1.0, 2.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, f64::INFINITY)]
            .into_iter()
            .for_each(|(t, v)| trace.push(t, v));
        assert_eq!(trace.slopes(), [vec![(0.0, 1.0), (1.0, 2.0)], vec![(3.0, 3.0)]]);
        assert_eq!((trace.count(), trace.last(), trace.mean()), (3, Some(3.0), Some(2.0)));
        assert_eq!(trace.steps().last().unwrap().last(), Some(&(3.0, 3.0)), "what ends broken does not hold");
    }

    #[test]
    fn lines_go_on_to_what_lies_outside_the_range() {
        let mut trace = Trace::new((10.0, 20.0), 100);
        [(0.0, 0.0), (30.0, 30.0)].into_iter().for_each(|(t, v)| trace.push(t, v));
        assert_eq!(trace.slopes(), [[(10.0, 10.0), (20.0, 20.0)]]);
        assert_eq!(trace.steps(), [[(10.0, 0.0), (20.0, 0.0)]]);
        assert_eq!((trace.count(), trace.last()), (0, Some(0.0)));
    }

    #[test]
    fn stairs_hold_until_the_log_ends() {
        let mut trace = Trace::new((0.0, 10.0), 10);
        [(1.0, 5.0), (4.0, 6.0)].into_iter().for_each(|(t, v)| trace.push(t, v));
        trace.hold_until(8.0);
        assert_eq!(trace.steps(), [[(1.0, 5.0), (4.0, 5.0), (4.0, 6.0), (8.0, 6.0)]]);
    }
}
