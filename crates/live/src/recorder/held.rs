use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Layout, Problem, Sample, Sink, SinkError, Time, Type, Value};

/// All channels and the last value of each: what a file that begins in the middle has to begin with.
#[derive(Debug)]
pub(super) struct Held {
    lanes: Vec<Option<Lane>>,
    latest: Option<Time>,
    /// Memory that the values take.
    bytes: usize,
    most: usize,
}

#[derive(Debug)]
struct Lane {
    channel: Channel,
    schema: bool,
    /// `None` before the first value and after an end.
    ty: Option<Type>,
    payload: Vec<u8>,
    /// There is a value, and no room for it.
    missing: bool,
}

impl Default for Held {
    fn default() -> Self {
        Self { lanes: Vec::new(), latest: None, bytes: 0, most: MOST }
    }
}

impl Held {
    /// How many channels have a value for which there was no room.
    pub(super) fn missing(&self) -> usize {
        self.lanes.iter().flatten().filter(|lane| lane.missing).count()
    }

    /// Declares all channels and gives their values, as of the latest time. Schemas come first.
    pub(super) fn play(&self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        for schemas in [true, false] {
            let lanes = || {
                let lanes = (0..).zip(&self.lanes).filter_map(|(id, lane): (ChannelId, _)| Some((id, lane.as_ref()?)));
                lanes.filter(|(_, lane)| lane.schema == schemas)
            };
            lanes().try_for_each(|(id, lane)| sink.channel(id, &lane.channel))?;
            let time = self.latest.unwrap_or_default();
            let values = lanes().filter_map(|(channel, lane)| {
                let value = Value::parse(lane.ty?, &lane.payload, Layout::Little).ok()?;
                Some(Sample { channel, time, value })
            });
            let values: Vec<Sample<'_>> = values.collect();
            if !values.is_empty() {
                sink.samples(&values)?;
            }
        }
        Ok(())
    }

    /// Forgets all values: they are of a robot that was switched off, and that tells everything anew.
    pub(super) fn forget(&mut self) {
        self.latest = None;
        for lane in self.lanes.iter_mut().flatten() {
            lane.ty = None;
            lane.missing = false;
        }
    }

    fn lane(&mut self, id: ChannelId) -> Option<&mut Lane> {
        self.lanes.get_mut(id as usize)?.as_mut()
    }
}

impl Sink for Held {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if self.lanes.len() <= place {
            self.lanes.resize_with(place + 1, || None);
        }
        match self.lanes.get_mut(place) {
            // Declared again: only its metadata can be other ones.
            Some(Some(lane)) => lane.channel.metadata.clone_from(&channel.metadata),
            Some(lane) => {
                let schema = Registry::is_schema(&channel.name, &channel.type_name);
                let channel = channel.clone();
                *lane = Some(Lane { channel, schema, ty: None, payload: Vec::new(), missing: false });
            }
            None => {}
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            self.latest = self.latest.max(Some(sample.time));
            let Some(Some(lane)) = self.lanes.get_mut(sample.channel as usize) else { continue };
            let before = lane.payload.capacity();
            lane.payload.clear();
            sample.value.emit(Layout::Little, &mut lane.payload);
            lane.ty = Some(sample.value.ty());
            lane.missing = false;
            self.bytes = self.bytes - before + lane.payload.capacity();
            if self.bytes > self.most {
                self.bytes -= lane.payload.capacity();
                lane.payload = Vec::new();
                lane.ty = None;
                lane.missing = true;
            }
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, _: Time, metadata: &str) -> Result<(), SinkError> {
        if let Some(lane) = self.lane(id) {
            metadata.clone_into(&mut lane.channel.metadata);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, _: Time) -> Result<(), SinkError> {
        if let Some(lane) = self.lane(id) {
            lane.ty = None;
            lane.missing = false;
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `Live` collects the problems of its sources, for all outputs.
    }
}

/// Bytes of values that are held. Robots have some kilobytes; only pictures come near.
const MOST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, Sample, Sink, Time, Value};

    use super::Held;
    use crate::Batch;

    fn sample(channel: u32, ms: i64, value: Value<'_>) -> Sample<'_> {
        Sample { channel, time: Time::from_millis(ms), value }
    }

    #[test]
    fn values_beyond_the_limit_are_missing_until_smaller_ones_come() {
        let mut held = Held { most: 100, ..Held::default() };
        held.channel(0, &Channel::new("/image", "raw")).unwrap();
        held.channel(1, &Channel::new("/speed", "double")).unwrap();
        held.samples(&[sample(0, 1, Value::Bytes(&[7; 200])), sample(1, 2, Value::Double(1.5))]).unwrap();
        assert_eq!(held.missing(), 1);
        let mut played = Batch::default();
        held.play(&mut played).unwrap();
        assert_eq!((played.sample_count(), played.channels().count()), (1, 2));
        held.samples(&[sample(0, 3, Value::Bytes(&[7; 20]))]).unwrap();
        assert_eq!(held.missing(), 0);
        assert!(held.bytes <= held.most);
    }
}
