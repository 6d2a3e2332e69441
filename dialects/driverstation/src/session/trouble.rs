use std::collections::BTreeMap;
use std::sync::Arc;

use logpose_core::Time;

/// A reply that is overtaken by the next one comes so much later.
const OVERTAKEN: i64 = 30_000_000;

/// What happens to a robot's replies on their way out: the same for the same seed.
#[derive(Debug)]
pub(super) struct Trouble {
    chance: Chance,
    pub(super) drop: f64,
    pub(super) reorder: f64,
    pub(super) duplicate: f64,
    pub(super) delay: i64,
    pub(super) jitter: i64,
    /// By the time at which they leave, and by the order in which they came.
    leaving: BTreeMap<(Time, u64), Arc<[u8]>>,
    order: u64,
}

impl Trouble {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            chance: Chance(seed),
            drop: 0.0,
            reorder: 0.0,
            duplicate: 0.0,
            delay: 0,
            jitter: 0,
            leaving: BTreeMap::new(),
            order: 0,
        }
    }

    /// A reply is to go out.
    pub(super) fn push(&mut self, now: Time, reply: &Arc<[u8]>) {
        if self.chance.strikes(self.drop) {
            return;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "less than the jitter")]
        let jitter = if self.jitter > 0 { (self.jitter as f64 * self.chance.fraction()) as i64 } else { 0 };
        let overtaken = if self.chance.strikes(self.reorder) { OVERTAKEN } else { 0 };
        let leaves = now.plus(self.delay).plus(jitter).plus(overtaken);
        let copies = if self.chance.strikes(self.duplicate) { 2 } else { 1 };
        for _ in 0..copies {
            self.order += 1;
            self.leaving.insert((leaves, self.order), Arc::clone(reply));
        }
    }

    /// The next reply that leaves by now; call until `None`.
    pub(super) fn pop(&mut self, now: Time) -> Option<Arc<[u8]>> {
        self.leaving.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove())
    }

    /// When the next one leaves.
    pub(super) fn next(&self) -> Option<Time> {
        self.leaving.first_key_value().map(|((at, _), _)| *at)
    }

    /// Nothing leaves any more.
    pub(super) fn clear(&mut self) {
        self.leaving.clear();
    }
}

/// Numbers that look random: SplitMix64.
#[derive(Debug)]
struct Chance(u64);

impl Chance {
    /// From 0 to 1, without 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let top = u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or_default();
        f64::from(top) / 4_294_967_296.0
    }

    /// Whether something happens that happens in a share of all cases.
    fn strikes(&mut self, share: f64) -> bool {
        share > 0.0 && self.fraction() < share
    }
}
