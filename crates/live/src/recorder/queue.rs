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

/// One thing that happened.
pub(super) enum What<'a> {
    Sample(Value<'a>),
    Metadata(&'a str),
    End,
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

    /// Gives everything away in the order of time; what has the same time in the order of arrival.
    pub(super) fn drain<E>(
        &mut self,
        mut each: impl FnMut(ChannelId, Time, What<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.events.is_sorted_by_key(|event| event.time) {
            self.events.sort_by_key(|event| event.time);
        }
        let mut result = Ok(());
        for Event { time, channel, kind } in &self.events {
            let what = match kind {
                Kind::Sample { ty, start, end } => {
                    let payload = self.bytes.get(*start..*end).unwrap_or_default();
                    // It was emitted by a value of this type.
                    let Ok(value) = Value::parse(*ty, payload, Layout::Little) else { continue };
                    What::Sample(value)
                }
                Kind::Metadata(text) => What::Metadata(text),
                Kind::End => What::End,
            };
            result = each(*channel, *time, what);
            if result.is_err() {
                break;
            }
        }
        self.events.clear();
        self.bytes.clear();
        result
    }
}

/// Bytes of what stands in front of a value, about.
const HEADER: usize = 8;
