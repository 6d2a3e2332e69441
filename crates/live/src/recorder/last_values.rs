use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Layout, Problem, Sample, Sink, SinkError, Time, Type, Value};

/// All channels and the last value of each: a file that begins in the middle starts with these.
#[derive(Debug)]
pub(super) struct LastValues {
    channels: Vec<Option<LastValue>>,
    latest: Option<Time>,
    /// Memory that the values take.
    bytes: usize,
    most: usize,
}

/// A channel and its last value.
#[derive(Debug)]
struct LastValue {
    channel: Channel,
    schema: bool,
    /// `None` before the first value and after an end.
    ty: Option<Type>,
    payload: Vec<u8>,
    /// There is a value, and no room for it.
    missing: bool,
}

impl Default for LastValues {
    fn default() -> Self {
        Self { channels: Vec::new(), latest: None, bytes: 0, most: MOST }
    }
}

impl LastValues {
    /// How many channels have a value for which there was no room.
    pub(super) fn missing(&self) -> usize {
        self.channels.iter().flatten().filter(|last| last.missing).count()
    }

    /// Declares all channels and gives their values, as of the latest time. Schemas come first.
    pub(super) fn play(&self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for schemas in [true, false] {
            let channels = || {
                let channels =
                    (0..).zip(&self.channels).filter_map(|(id, last): (ChannelId, _)| Some((id, last.as_ref()?)));
                channels.filter(|(_, last)| last.schema == schemas)
            };
            channels().try_for_each(|(id, last)| sink.channel(id, &last.channel))?;
            let time = self.latest.unwrap_or_default();
            let values = channels().filter_map(|(channel, last)| {
                let value = Value::parse(last.ty?, &last.payload, Layout::Little).ok()?;
                Some(Sample { channel, time, value })
            });
            let values: Vec<Sample<'_>> = values.collect();
            if !values.is_empty() {
                sink.samples(&values)?;
            }
        }
        Ok(())
    }

    /// Forgets all values: they are of a robot that was switched off, and that sends everything again.
    pub(super) fn forget(&mut self) {
        self.latest = None;
        for last in self.channels.iter_mut().flatten() {
            last.ty = None;
            last.missing = false;
        }
    }

    fn last(&mut self, id: ChannelId) -> Option<&mut LastValue> {
        self.channels.get_mut(id as usize)?.as_mut()
    }
}

impl Sink for LastValues {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if self.channels.len() <= place {
            self.channels.resize_with(place + 1, || None);
        }
        match self.channels.get_mut(place) {
            // Declared again: only its metadata can be other ones.
            Some(Some(last)) => last.channel.metadata.clone_from(&channel.metadata),
            Some(last) => {
                let schema = Registry::is_schema(&channel.name, &channel.type_name);
                let channel = channel.clone();
                *last = Some(LastValue { channel, schema, ty: None, payload: Vec::new(), missing: false });
            }
            None => {}
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            self.latest = self.latest.max(Some(sample.time));
            let Some(Some(last)) = self.channels.get_mut(sample.channel as usize) else { continue };
            let before = last.payload.capacity();
            last.payload.clear();
            sample.value.emit(Layout::Little, &mut last.payload);
            last.ty = Some(sample.value.ty());
            last.missing = false;
            self.bytes = self.bytes - before + last.payload.capacity();
            if self.bytes > self.most {
                self.bytes -= last.payload.capacity();
                last.payload = Vec::new();
                last.ty = None;
                last.missing = true;
            }
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, _: Time, metadata: &str) -> Result<(), SinkError> {
        if let Some(last) = self.last(id) {
            metadata.clone_into(&mut last.channel.metadata);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, _: Time) -> Result<(), SinkError> {
        if let Some(last) = self.last(id) {
            last.ty = None;
            last.missing = false;
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `Live` collects the problems of its sources, for all outputs.
    }
}

/// Memory limit for the values. Robots have some kilobytes; only pictures come near.
const MOST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, Sample, Sink, Time, Value};

    use super::LastValues;
    use crate::Batch;

    fn sample(channel: u32, ms: i64, value: Value<'_>) -> Sample<'_> {
        Sample { channel, time: Time::from_millis(ms), value }
    }

    #[test]
    fn values_beyond_the_limit_are_missing_until_smaller_ones_come() {
        let mut values = LastValues { most: 100, ..LastValues::default() };
        values.channel(0, &Channel::new("/image", "raw")).unwrap();
        values.channel(1, &Channel::new("/speed", "double")).unwrap();
        values.samples(&[sample(0, 1, Value::Bytes(&[7; 200])), sample(1, 2, Value::Double(1.5))]).unwrap();
        assert_eq!(values.missing(), 1);
        let mut played = Batch::default();
        values.play(&mut played).unwrap();
        assert_eq!((played.sample_count(), played.channels().count()), (1, 2));
        values.samples(&[sample(0, 3, Value::Bytes(&[7; 20]))]).unwrap();
        assert_eq!(values.missing(), 0);
        assert!(values.bytes <= values.most);
    }
}
