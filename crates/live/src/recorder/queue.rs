use logpose_core::{ChannelId, Layout, Sample, Time, Type, Value};

/// What waits for the next flush, where a format needs the order of time.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: Vec<Event>,
    /// The payloads, one after the other in the order of arrival.
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Event {
    time: Time,
    channel: ChannelId,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Sample { ty: Type, start: usize, end: usize },
    Metadata(Box<str>),
    End,
}

/// What happened: samples that follow each other, or one other thing.
pub(super) enum What<'a> {
    Samples(&'a [Sample<'a>]),
    Metadata(ChannelId, Time, &'a str),
    End(ChannelId, Time),
}

impl Queue {
    pub(super) fn sample(&mut self, sample: &Sample<'_>) {
        let start = self.bytes.len();
        sample.value.emit(Layout::Little, &mut self.bytes);
        let kind = Kind::Sample { ty: sample.value.ty(), start, end: self.bytes.len() };
        self.events.push(Event { time: sample.time, channel: sample.channel, kind });
    }

    pub(super) fn metadata(&mut self, channel: ChannelId, time: Time, metadata: &str) {
        self.events.push(Event { time, channel, kind: Kind::Metadata(metadata.into()) });
    }

    pub(super) fn end(&mut self, channel: ChannelId, time: Time) {
        self.events.push(Event { time, channel, kind: Kind::End });
    }

    /// About how many bytes it will become.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.events.len() * HEADER
    }

    /// Gives everything away in the order of time; what has the same time in the order of arrival. What is earlier than
    /// `last` cannot be put in order any more and comes at that time. Returns how many samples that were.
    pub(super) fn drain<E>(
        &mut self,
        last: &mut Option<Time>,
        mut each: impl FnMut(What<'_>) -> Result<(), E>,
    ) -> Result<u64, E> {
        if !self.events.is_sorted_by_key(|event| event.time) {
            self.events.sort_by_key(|event| event.time);
        }
        let late = self.give(last, &mut each);
        self.events.clear();
        self.bytes.clear();
        late
    }

    fn give<E>(&self, last: &mut Option<Time>, each: &mut impl FnMut(What<'_>) -> Result<(), E>) -> Result<u64, E> {
        let (mut samples, mut late) = (Vec::new(), 0);
        for &Event { time, channel, ref kind } in &self.events {
            let at = last.map_or(time, |last| time.max(last));
            *last = Some(at);
            if let Kind::Sample { ty, start, end } = kind {
                late += u64::from(at != time);
                let payload = self.bytes.get(*start..*end).unwrap_or_default();
                // It was emitted by a value of this type.
                if let Ok(value) = Value::parse(*ty, payload, Layout::Little) {
                    samples.push(Sample { channel, time: at, value });
                }
                continue;
            }
            if !samples.is_empty() {
                each(What::Samples(&samples))?;
                samples.clear();
            }
            match kind {
                Kind::Metadata(text) => each(What::Metadata(channel, at, text))?,
                Kind::End => each(What::End(channel, at))?,
                Kind::Sample { .. } => {}
            }
        }
        if !samples.is_empty() {
            each(What::Samples(&samples))?;
        }
        Ok(late)
    }
}

/// Bytes of what stands in front of a value, about.
const HEADER: usize = 8;
