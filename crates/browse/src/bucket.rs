use logpose_core::Time;

/// A stretch of a series, as it looks from afar.
///
/// NaN is not in `min` and `max`, as long as there is any other number; `first` and `last` are what was there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The time of its first sample.
    pub start: Time,
    /// The time of its last sample.
    pub end: Time,
    /// The first value.
    pub first: f64,
    /// The smallest value.
    pub min: f64,
    /// The max value.
    pub max: f64,
    /// The last value.
    pub last: f64,
    /// How many samples it has.
    pub count: u64,
}

impl Bucket {
    /// A bucket of one sample.
    #[inline]
    #[must_use]
    pub fn of(time: Time, value: f64) -> Self {
        Self { start: time, end: time, first: value, min: value, max: value, last: value, count: 1 }
    }

    /// Adds what lies behind it.
    #[inline]
    pub fn append(&mut self, later: &Self) {
        self.end = later.end;
        self.last = later.last;
        self.widen(later.min, later.max);
        self.count = self.count.saturating_add(later.count);
    }

    /// Adds a sample of any time; of equal times it is the last.
    #[inline]
    pub fn insert(&mut self, time: Time, value: f64) {
        if time >= self.end {
            (self.end, self.last) = (time, value);
        } else if time < self.start {
            (self.start, self.first) = (time, value);
        }
        self.widen(value, value);
        self.count = self.count.saturating_add(1);
    }

    #[inline]
    fn widen(&mut self, min: f64, max: f64) {
        // These take the number where one of two is NaN.
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// Nanoseconds from its first sample to its last.
    #[inline]
    pub(crate) fn span(&self) -> u64 {
        self.end.nanos().abs_diff(self.start.nanos())
    }

    /// As bytes of a file.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let Self { start, end, first, min, max, last, count } = self;
        let [first, min, max, last] = [first, min, max, last].map(f64::to_bits);
        let words = [start.nanos().cast_unsigned(), end.nanos().cast_unsigned(), first, min, max, last, count];
        let mut bytes = [0; Self::BYTES];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        bytes
    }

    /// Out of bytes of a file.
    #[inline]
    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let mut words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
        let mut next = || words.next().unwrap_or_default();
        Self {
            start: Time::from_nanos(next().cast_signed()),
            end: Time::from_nanos(next().cast_signed()),
            first: f64::from_bits(next()),
            min: f64::from_bits(next()),
            max: f64::from_bits(next()),
            last: f64::from_bits(next()),
            count: next(),
        }
    }

    pub(crate) const BYTES: usize = 56;
}
