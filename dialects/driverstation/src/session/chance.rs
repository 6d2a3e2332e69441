/// Numbers that look random and are the same for the same seed: SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From 0 to 1, without 1.
    pub(super) fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let top = u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap_or_default();
        f64::from(top) / 4_294_967_296.0
    }

    /// Whether something happens that happens in a share of all cases.
    pub(super) fn strikes(&mut self, share: f64) -> bool {
        share > 0.0 && self.fraction() < share
    }
}
