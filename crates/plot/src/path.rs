use crate::trace::LARGEST;

/// Places one after the other, thinned as they come.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// What it is called.
    pub name: String,
    /// Kept places; `None` where the line breaks.
    points: Vec<Option<(f64, f64)>>,
    /// Places nearer to the last one than this are left out.
    tolerance: f64,
    last: Option<(f64, f64)>,
}

impl Path {
    /// A path without places.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Adds a place. What is not finite breaks the line.
    pub fn push(&mut self, x: f64, y: f64) {
        let good = x.abs() <= LARGEST && y.abs() <= LARGEST;
        let point = good.then_some((x, y));
        self.last = point.or(self.last);
        if near(self.points.last().copied().flatten(), point, self.tolerance) || (point.is_none() && self.ends_broken())
        {
            return;
        }
        self.points.push(point);
        if self.points.len() >= MOST_POINTS {
            self.thin();
        }
    }

    /// Whether there is no place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    pub(crate) fn first(&self) -> Option<(f64, f64)> {
        self.points.iter().flatten().next().copied()
    }

    pub(crate) fn last(&self) -> Option<(f64, f64)> {
        self.last
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = Vec<(f64, f64)>> + '_ {
        self.points.split(Option::is_none).map(|line| line.iter().flatten().copied().collect())
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points.iter().flatten().copied().chain(self.last)
    }

    fn ends_broken(&self) -> bool {
        self.points.last().is_none_or(Option::is_none)
    }

    /// Leaves out more, until half of the places are gone.
    fn thin(&mut self) {
        let extent = |of: fn((f64, f64)) -> f64| {
            let (low, high) = self.points().map(of).fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
            high - low
        };
        self.tolerance = self.tolerance.max((extent(|p| p.0) + extent(|p| p.1)) / 8192.0);
        while self.points.len() > MOST_POINTS / 2 {
            let mut kept: Vec<Option<(f64, f64)>> = Vec::with_capacity(self.points.len() / 2);
            for point in &self.points {
                let last = kept.last().copied().flatten();
                let twice_broken = point.is_none() && kept.last().is_none_or(Option::is_none);
                if !near(last, *point, self.tolerance) && !twice_broken {
                    kept.push(*point);
                }
            }
            if kept.len() == self.points.len() && self.tolerance == 0.0 {
                // All places are one, with breaks between.
                kept.truncate(1);
            }
            self.points = kept;
            self.tolerance *= 2.0;
        }
    }
}

fn near(a: Option<(f64, f64)>, b: Option<(f64, f64)>, tolerance: f64) -> bool {
    matches!((a, b), (Some(a), Some(b)) if (a.0 - b.0).hypot(a.1 - b.1) <= tolerance)
}

/// More than any screen can show.
const MOST_POINTS: usize = 32_768;

#[cfg(test)]
mod tests {
    use super::{MOST_POINTS, Path};

    #[test]
    fn long_paths_are_thinned_and_keep_their_shape() {
        let mut path = Path::new("x");
        for i in 0..1_000_000 {
            let angle = f64::from(i) * 1e-4;
            path.push(angle.cos() * angle, angle.sin() * angle);
        }
        assert!(path.points().count() <= MOST_POINTS);
        let far = path.points().map(|(x, y)| x.hypot(y)).fold(0.0, f64::max);
        assert!((far - 100.0).abs() < 0.01, "{far}");
    }

    #[test]
    fn breaks_stay_and_do_not_pile_up() {
        let mut path = Path::new("x");
        for i in 0..200_000 {
            path.push(if i % 2 == 0 { 1.0 } else { f64::NAN }, 1.0);
        }
        assert!(path.points.len() <= MOST_POINTS && !path.is_empty());
        let mut path = Path::new("x");
        [(0.0, 0.0), (1.0, 1.0), (f64::NAN, 0.0), (f64::NAN, 0.0), (2.0, 2.0)]
            .into_iter()
            .for_each(|(x, y)| path.push(x, y));
        assert_eq!(path.lines().map(|line| line.len()).collect::<Vec<_>>(), [2, 1]);
    }
}
