use logpose_core::{Layout, Time, Type, Value};

/// Samples of one channel that follow each other, in the order of their times.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    times: Vec<i64>,
    /// Where each payload ends.
    ends: Vec<u32>,
    bytes: Vec<u8>,
}

impl Chunk {
    /// Adds a sample, which must not be earlier than the last. `false` if there is no room for it.
    pub(super) fn push(&mut self, time: Time, value: &Value<'_>) -> bool {
        let before = self.bytes.len();
        value.emit(Layout::Little, &mut self.bytes);
        let Ok(end) = u32::try_from(self.bytes.len()) else {
            self.bytes.truncate(before);
            return false;
        };
        self.times.push(time.nanos());
        self.ends.push(end);
        true
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        self.times.len() * (size_of::<i64>() + size_of::<u32>()) + self.bytes.len()
    }

    pub(super) fn first(&self) -> Option<Time> {
        self.times.first().map(|ns| Time::from_nanos(*ns))
    }

    pub(super) fn last(&self) -> Option<Time> {
        self.times.last().map(|ns| Time::from_nanos(*ns))
    }

    /// How many samples are before a time.
    pub(super) fn before(&self, time: Time) -> usize {
        self.times.partition_point(|ns| *ns < time.nanos())
    }

    /// How many samples are at a time or before it.
    pub(super) fn until(&self, time: Time) -> usize {
        self.times.partition_point(|ns| *ns <= time.nanos())
    }

    pub(super) fn time(&self, place: usize) -> Option<Time> {
        self.times.get(place).map(|ns| Time::from_nanos(*ns))
    }

    /// The sample at a place.
    pub(super) fn get(&self, place: usize, ty: Type) -> Option<(Time, Value<'_>)> {
        let time = self.time(place)?;
        let start = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        let payload = self.bytes.get(start..*self.ends.get(place)? as usize)?;
        Some((time, Value::parse(ty, payload, Layout::Little).ok()?))
    }

    /// Lets the first samples go.
    pub(super) fn forget(&mut self, count: usize) {
        let count = count.min(self.len());
        let Some(cut) = count.checked_sub(1).and_then(|last| self.ends.get(last).copied()) else { return };
        self.times.drain(..count);
        self.ends.drain(..count);
        self.ends.iter_mut().for_each(|end| *end -= cut);
        self.bytes.drain(..cut as usize);
    }

    /// Appends it as bytes: times, ends, payloads.
    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.reserve(self.size());
        self.times.iter().for_each(|ns| out.extend_from_slice(&ns.to_le_bytes()));
        self.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
        out.extend_from_slice(&self.bytes);
    }

    /// Reads `count` samples from bytes that [`Chunk::emit`] made.
    pub(super) fn parse(bytes: &[u8], count: usize) -> Option<Self> {
        let (times, rest) = bytes.split_at_checked(count.checked_mul(size_of::<i64>())?)?;
        let (ends, payloads) = rest.split_at_checked(count.checked_mul(size_of::<u32>())?)?;
        let times = times.chunks_exact(size_of::<i64>()).filter_map(|ns| Some(i64::from_le_bytes(*ns.first_chunk()?)));
        let ends = ends.chunks_exact(size_of::<u32>()).filter_map(|end| Some(u32::from_le_bytes(*end.first_chunk()?)));
        Some(Self { times: times.collect(), ends: ends.collect(), bytes: payloads.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::{Time, Type, Value};

    use super::Chunk;

    fn texts(chunk: &Chunk) -> Vec<(i64, String)> {
        let all = (0..chunk.len()).filter_map(|place| chunk.get(place, Type::String));
        let text = |value: Value<'_>| match value {
            Value::String(text) => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{other:?}"),
        };
        all.map(|(time, value)| (time.nanos(), text(value))).collect()
    }

    #[test]
    fn what_went_to_bytes_comes_back_and_the_front_can_be_forgotten() {
        let mut chunk = Chunk::default();
        for (ns, text) in [(1, "one"), (2, ""), (2, "two"), (5, "five")] {
            assert!(chunk.push(Time::from_nanos(ns), &Value::String(text.as_bytes())));
        }
        assert_eq!((chunk.before(Time::from_nanos(2)), chunk.until(Time::from_nanos(2))), (1, 3));
        let mut bytes = Vec::new();
        chunk.emit(&mut bytes);
        assert_eq!(bytes.len(), chunk.size());
        let mut back = Chunk::parse(&bytes, chunk.len()).unwrap();
        assert_eq!(texts(&back), texts(&chunk));
        assert!(Chunk::parse(&bytes[..20], chunk.len()).is_none());
        back.forget(2);
        assert_eq!(texts(&back), [(2, "two".to_owned()), (5, "five".to_owned())]);
        back.forget(9);
        assert_eq!((back.len(), back.size()), (0, 0));
    }
}
