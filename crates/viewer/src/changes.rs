use std::collections::HashMap;

use logpose_core::Time;

/// When a series changed, and to what. Bounded: where there are too many changes, those that follow each other quickly
/// become one burst.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    labels: Vec<String>,
    places: HashMap<String, u32>,
    /// Bytes of labels.
    held: usize,
    list: Vec<Burst>,
    /// Changes within so many nanoseconds are one burst; 0 as long as each is kept.
    grain: i64,
    until: Option<Time>,
    samples: u64,
}

/// Changes from one moment to another, and what holds from then on. Mostly both moments are the same: one change.
#[derive(Clone, Copy, Debug)]
struct Burst {
    from: Time,
    until: Time,
    label: u32,
}

/// The label of a stretch in which values change too often to distinguish them.
pub(crate) const MIXED: u32 = u32::MAX;

impl Changes {
    /// Takes the next sample.
    pub(crate) fn push(&mut self, time: Time, label: &str) {
        self.until = Some(time);
        self.samples += 1;
        let label = self.place(label);
        match self.list.last_mut() {
            Some(last) if last.label == label => return,
            Some(last) if time.since(last.from) < self.grain => (last.until, last.label) = (time, label),
            _ => self.list.push(Burst { from: time, until: time, label }),
        }
        while self.list.len() > MOST {
            self.coarsen();
        }
    }

    /// The time of the last sample.
    pub(crate) fn until(&self) -> Option<Time> {
        self.until
    }

    /// How many samples there were.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// Changes within this many nanoseconds are not distinguished.
    pub(crate) fn grain(&self) -> i64 {
        self.grain
    }

    /// A label by its place.
    pub(crate) fn label(&self, place: u32) -> &str {
        self.labels.get(place as usize).map_or(OTHERS, String::as_str)
    }

    /// The runs from `start` to `end`, cut off there.
    pub(crate) fn runs(&self, start: Time, end: Time) -> impl Iterator<Item = (Time, Time, u32)> + '_ {
        let begun = self.list.partition_point(|burst| burst.from <= start);
        let list = self.list.get(begun.saturating_sub(1)..).unwrap_or_default();
        let ends = list.iter().skip(1).map(|burst| burst.from).chain([Time::MAX]);
        let runs = list.iter().zip(ends).take_while(move |(burst, _)| burst.from <= end);
        let runs = runs.flat_map(|(burst, to)| [(burst.from, burst.until, MIXED), (burst.until, to, burst.label)]);
        runs.map(move |(from, to, label)| (from.max(start), to.min(end), label)).filter(|(from, to, _)| from < to)
    }

    fn place(&mut self, label: &str) -> u32 {
        if let Some(place) = self.places.get(label) {
            return *place;
        }
        if self.held + label.len() > MOST_BYTES {
            return OTHER;
        }
        let place = u32::try_from(self.labels.len()).unwrap_or(OTHER);
        self.held += label.len() + 64;
        self.labels.push(label.to_owned());
        self.places.insert(label.to_owned(), place);
        place
    }

    fn coarsen(&mut self) {
        let span = self.list.first().zip(self.list.last()).map_or(0, |(first, last)| last.from.since(first.from));
        self.grain = (self.grain.saturating_mul(2)).max(span / (MOST as i64 / 2)).max(1);
        let mut kept: Vec<Burst> = Vec::with_capacity(MOST / 2);
        for burst in self.list.drain(..) {
            match kept.last_mut() {
                Some(last) if burst.from.since(last.from) < self.grain => {
                    (last.until, last.label) = (burst.until, burst.label);
                }
                _ => kept.push(burst),
            }
        }
        self.list = kept;
    }
}

/// The most bursts that are kept.
const MOST: usize = 1 << 17;
/// The most bytes of labels.
const MOST_BYTES: usize = 1 << 20;
/// What all labels beyond that are.
const OTHER: u32 = u32::MAX - 1;
const OTHERS: &str = "(another text)";

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::{Changes, MIXED, MOST};

    fn ms(t: i64) -> Time {
        Time::from_millis(t)
    }

    #[test]
    fn runs_are_cut_to_the_range() {
        let mut changes = Changes::default();
        for (t, label) in [(0, "a"), (10, "a"), (20, "b"), (30, "a")] {
            changes.push(ms(t), label);
        }
        let runs = |start, end| changes.runs(ms(start), ms(end)).collect::<Vec<_>>();
        assert_eq!(runs(0, 40), [(ms(0), ms(20), 0), (ms(20), ms(30), 1), (ms(30), ms(40), 0)]);
        assert_eq!(runs(25, 28), [(ms(25), ms(28), 1)]);
        assert_eq!(runs(-9, -1), []);
        assert_eq!(changes.label(1), "b");
    }

    #[test]
    fn too_many_changes_become_bursts() {
        let mut changes = Changes::default();
        let many = i64::try_from(MOST).unwrap_or(0) * 3;
        for t in 0..many {
            changes.push(ms(t), if t % 2 == 0 { "on" } else { "off" });
        }
        assert!(changes.list.len() <= MOST && changes.grain() > 0);
        let mut last = ms(0);
        for (from, to, _) in changes.runs(ms(0), ms(many)) {
            assert!(from == last && to > from);
            last = to;
        }
        assert_eq!(last, ms(many));
        assert!(changes.runs(ms(0), ms(many)).any(|(.., label)| label == MIXED));
    }
}
