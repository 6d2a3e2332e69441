/// Numbers that look random and are the same for the same seed, on every machine (splitmix64).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed ^ 0x5DEE_CE66_D1CE_4E5B)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// One of the numbers below `end`; 0 if there are none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.next().checked_rem(end).unwrap_or(0)).unwrap_or(0)
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.next().to_be_bytes()[0]
    }

    /// From 0 up to but without 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between -1 and 1, near 0 more often than far from it.
    pub(super) fn around(&mut self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.next().to_le_bytes();
        let sum: u32 =
            [[a, b], [c, d], [e, f], [g, h]].into_iter().map(|part| u32::from(u16::from_le_bytes(part))).sum();
        sum as f32 / (2 * u32::from(u16::MAX)) as f32 - 1.0
    }

    /// True with probability `p`.
    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}
