/// How often spans of time of some length occurred, to an eighth of a power of two. It never allocates.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: [u64; BUCKETS],
    total: u64,
    max: u64,
}

/// What the spans of a histogram are like, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spread {
    /// Half of them are no longer than this.
    pub p50_ns: u64,
    /// 99 of a hundred are no longer than this.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

impl Histogram {
    pub(crate) fn add(&mut self, ns: u64) {
        if let Some(count) = self.counts.get_mut(bucket(ns)) {
            *count += 1;
        }
        self.total += 1;
        self.max = self.max.max(ns);
    }

    pub(crate) fn spread(&self) -> Spread {
        Spread { p50_ns: self.below(50), p99_ns: self.below(99), max_ns: self.max }
    }

    /// The upper edge of the bucket in which so many of a hundred are reached.
    fn below(&self, percent: u64) -> u64 {
        let wanted = (self.total * percent).div_ceil(100);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0, |bucket| edge(bucket).min(self.max))
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], total: 0, max: 0 }
    }
}

/// Below eight nanoseconds each has its own; then every power of two has eight.
fn bucket(ns: u64) -> usize {
    if ns < EIGHT {
        return usize::try_from(ns).unwrap_or(0);
    }
    let power = ns.ilog2();
    let eighth = (ns >> (power - 3)) & (EIGHT - 1);
    (power as usize - 2) * 8 + usize::try_from(eighth).unwrap_or(0)
}

/// The longest span of a bucket.
fn edge(bucket: usize) -> u64 {
    let (power, eighth) = (bucket / 8, (bucket % 8) as u64);
    match power.checked_sub(1) {
        None => eighth,
        Some(shift) => ((EIGHT + eighth + 1) << shift).wrapping_sub(1),
    }
}

const EIGHT: u64 = 8;
/// Up to the longest span that 64 bits hold.
const BUCKETS: usize = 62 * 8;

#[cfg(test)]
mod tests {
    use super::{BUCKETS, Histogram, Spread, bucket, edge};

    #[test]
    fn every_span_has_a_bucket_and_none_is_an_eighth_away_from_its_edge() {
        for power in 0..64 {
            for near in [0, 1, 2, 3, 5, 7] {
                for ns in
                    [(1_u64 << power).wrapping_sub(near), (1_u64 << power).saturating_add(near << power.max(3) >> 3)]
                {
                    let found = bucket(ns);
                    assert!(found < BUCKETS, "{ns}");
                    assert!(edge(found) >= ns && (edge(found) - ns) <= ns / 8, "{ns} {}", edge(found));
                    assert!(found == 0 || edge(found - 1) < ns, "{ns}");
                }
            }
        }
        assert_eq!(edge(BUCKETS - 1), u64::MAX);
    }

    #[test]
    fn the_middle_and_the_rare_are_told_apart() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.spread(), Spread::default());
        (0..980).for_each(|_| histogram.add(100));
        (0..20).for_each(|_| histogram.add(1_000_000));
        let spread = histogram.spread();
        assert!((100..=112).contains(&spread.p50_ns), "{spread:?}");
        assert_eq!((spread.p99_ns, spread.max_ns), (1_000_000, 1_000_000));
    }
}
