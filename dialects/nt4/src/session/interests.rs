//! Which subscriptions match a topic, found without looking at every one of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use super::topics::{Mode, Subscription};

/// Subscriptions by the names and prefixes that they ask for. `K` says whose a subscription is.
#[derive(Debug)]
pub(super) struct Interests<K> {
    names: HashMap<String, Interest<K>>,
    prefixes: BTreeMap<String, Interest<K>>,
}

/// All subscriptions that ask for one name or one prefix.
#[derive(Debug)]
pub(super) struct Interest<K> {
    pub(super) keys: BTreeSet<K>,
    /// How many of them want only topics, last values, all values.
    modes: [u32; 3],
    /// The periods of those that want values, each with the number of subscriptions that have it.
    periods: BTreeMap<i64, u32>,
}

impl<K> Default for Interests<K> {
    fn default() -> Self {
        Self { names: HashMap::new(), prefixes: BTreeMap::new() }
    }
}

impl<K> Default for Interest<K> {
    fn default() -> Self {
        Self { keys: BTreeSet::new(), modes: [0; 3], periods: BTreeMap::new() }
    }
}

impl<K: Copy + Ord> Interests<K> {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.prefixes.is_empty()
    }

    /// Adds those names of a subscription for which `wanted` says so.
    pub(super) fn add(&mut self, key: K, subscription: &Subscription, wanted: impl Fn(&str) -> bool) {
        for name in subscription.topics.iter().filter(|name| wanted(name)) {
            let interest = if subscription.options.prefix {
                self.prefixes.entry(name.clone()).or_default()
            } else {
                self.names.entry(name.clone()).or_default()
            };
            // A name that is given twice is one.
            if interest.keys.insert(key) {
                interest.count(subscription, 1);
            }
        }
    }

    /// Takes a subscription away that was added with this key.
    pub(super) fn remove(&mut self, key: K, subscription: &Subscription) {
        for name in &subscription.topics {
            let found =
                if subscription.options.prefix { self.prefixes.get_mut(name) } else { self.names.get_mut(name) };
            let Some(interest) = found else { continue };
            if interest.keys.remove(&key) {
                interest.count(subscription, -1);
            }
            if interest.keys.is_empty() {
                if subscription.options.prefix {
                    self.prefixes.remove(name);
                } else {
                    self.names.remove(name);
                }
            }
        }
    }

    /// Calls `found` with all that asks for a topic. The server's own topics are hidden from the empty prefix.
    ///
    /// Of the prefixes only those next to the name in their order are looked at: where one of them is no prefix of the
    /// name, only what both have in common can begin with a shorter one.
    pub(super) fn matching<'s>(&'s self, name: &str, mut found: impl FnMut(&'s Interest<K>)) {
        self.names.get(name).into_iter().for_each(&mut found);
        let mut upto = Bound::Included(name);
        while let Some((prefix, interest)) = self.prefixes.range::<str, _>((Bound::Unbounded, upto)).next_back() {
            let mut common = prefix.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
            if common == prefix.len() {
                if !prefix.is_empty() || !name.starts_with('$') {
                    found(interest);
                }
                upto = Bound::Excluded(prefix);
                continue;
            }
            while !name.is_char_boundary(common) {
                common -= 1;
            }
            upto = Bound::Included(name.get(..common).unwrap_or_default());
        }
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let mut any = false;
        self.matching(name, |_| any = true);
        any
    }

    /// How a topic is served: the most that any subscription asks for, at the shortest period of those that want
    /// values.
    pub(super) fn serves(&self, name: &str) -> Option<(Mode, i64)> {
        let mut served: Option<(Mode, i64)> = None;
        self.matching(name, |interest| {
            let (mode, period) = interest.serves();
            let (most, shortest) = served.unwrap_or((mode, period));
            served = Some((most.max(mode), shortest.min(period)));
        });
        served
    }
}

impl<K> Interest<K> {
    fn count(&mut self, subscription: &Subscription, by: i32) {
        let mode = subscription.mode();
        let count = match mode {
            Mode::None => &mut self.modes[0],
            Mode::Last => &mut self.modes[1],
            Mode::All => &mut self.modes[2],
        };
        *count = count.saturating_add_signed(by);
        if mode != Mode::None {
            let period = subscription.period();
            let count = self.periods.entry(period).or_default();
            *count = count.saturating_add_signed(by);
            if *count == 0 {
                self.periods.remove(&period);
            }
        }
    }

    /// The most that is wanted, and the shortest period; the longest there is if nobody wants values.
    fn serves(&self) -> (Mode, i64) {
        let [_, last, all] = self.modes;
        let mode = match (last, all) {
            (0, 0) => Mode::None,
            (_, 0) => Mode::Last,
            _ => Mode::All,
        };
        (mode, self.periods.keys().next().copied().unwrap_or(super::topics::LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::{Interests, Mode, Subscription};
    use crate::messages::SubscribeOptions;
    use crate::session::topics::LONGEST;

    /// Numbers that look random and are the same every time.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }

        fn name(&mut self) -> String {
            (0..self.below(5)).map(|_| ['/', 'a', 'b', '$', 'é', 'è', '\u{10ffff}'][self.below(7)]).collect()
        }
    }

    /// What a search through all subscriptions says.
    fn plainly(all: &[(i32, Subscription)], name: &str) -> (Vec<i32>, Option<(Mode, i64)>) {
        let matches = |subscription: &Subscription| {
            subscription.topics.iter().any(|topic| match subscription.options.prefix {
                true => name.starts_with(topic.as_str()) && (!topic.is_empty() || !name.starts_with('$')),
                false => name == topic,
            })
        };
        let found: Vec<_> = all.iter().filter(|(_, subscription)| matches(subscription)).collect();
        let period = |s: &Subscription| if s.mode() == Mode::None { LONGEST } else { s.period() };
        let served = found.iter().map(|(_, s)| (s.mode(), period(s))).reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)));
        (found.iter().map(|(key, _)| *key).collect(), served)
    }

    #[test]
    fn it_finds_what_a_search_through_all_subscriptions_finds() {
        let mut numbers = Numbers(7);
        let (mut index, mut all) = (Interests::default(), Vec::<(i32, Subscription)>::new());
        for key in 0..2000 {
            if all.len() > 30 {
                let (old, subscription) = all.remove(numbers.below(all.len()));
                index.remove(old, &subscription);
            }
            let options = SubscribeOptions {
                periodic: [0.0, 0.02, 0.1, 5.0][numbers.below(4)],
                all: numbers.below(2) == 0,
                topics_only: numbers.below(3) == 0,
                prefix: numbers.below(2) == 0,
                ..SubscribeOptions::default()
            };
            let topics = (0..=numbers.below(3)).map(|_| numbers.name()).collect();
            let subscription = Subscription { topics, options };
            index.add(key, &subscription, |_| true);
            all.push((key, subscription));
            let name = numbers.name();
            let (keys, served) = plainly(&all, &name);
            let mut found = std::collections::BTreeSet::<i32>::new();
            index.matching(&name, |interest| found.extend(&interest.keys));
            assert_eq!(found.into_iter().collect::<Vec<_>>(), keys, "{name}");
            assert_eq!((index.serves(&name), index.matches(&name)), (served, served.is_some()), "{name}");
        }
        for (key, subscription) in &all {
            index.remove(*key, subscription);
        }
        assert!(index.is_empty());
    }
}
