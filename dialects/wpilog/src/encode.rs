use logpose_core::{Channel, ChannelId, Encode, EncodeError, Layout, Problem, Sample, Severity, Time};

use crate::wire::{Control, Header, Record, Start, VERSION};

/// Samples of the model to the records of a log.
#[derive(Debug)]
pub(crate) struct Encoder {
    extra: String,
    entries: Vec<Option<Entry>>,
    next_id: u32,
    /// What a control record says.
    payload: Vec<u8>,
    value: Vec<u8>,
    /// The longest value in bytes.
    longest: usize,
    finer: u64,
    last: i64,
}

#[derive(Debug)]
struct Entry {
    id: u32,
    name: String,
    type_name: String,
    metadata: String,
    live: bool,
    started: bool,
}

impl Encoder {
    pub(crate) fn new(extra: &str) -> Self {
        let longest = u32::MAX as usize;
        let (entries, payload, value) = (Vec::new(), Vec::new(), Vec::new());
        Self { extra: extra.into(), entries, next_id: 1, payload, value, longest, finer: 0, last: 0 }
    }

    /// The entry, started if it is not live.
    fn live(&mut self, channel: ChannelId, timestamp: i64, out: &mut Vec<u8>) -> Option<u32> {
        let entry = self.entries.get_mut(channel as usize)?.as_mut()?;
        if !entry.live {
            if !entry.started {
                // Ids in the order of the Start records, so that writing a log again gives the same log.
                entry.id = self.next_id;
                self.next_id += 1;
            }
            entry.live = true;
            entry.started = true;
            self.payload.clear();
            let (name, type_name, metadata) =
                (entry.name.as_bytes(), entry.type_name.as_bytes(), entry.metadata.as_bytes());
            Control::Start(Start { entry: entry.id, name, type_name, metadata, exact: true }).emit(&mut self.payload);
            Record { entry: 0, timestamp, payload: &self.payload }.emit(out);
        }
        Some(entry.id)
    }

    fn control(&mut self, control: Control<'_>, timestamp: i64, out: &mut Vec<u8>) {
        self.payload.clear();
        control.emit(&mut self.payload);
        Record { entry: 0, timestamp, payload: &self.payload }.emit(out);
    }
}

/// A time in the microseconds of a record. Rounding takes the first and the last times out of the range in which they can
/// be read again, so those are the ones next to them.
fn stamp(time: Time) -> i64 {
    time.micros().clamp(i64::MIN / 1000, i64::MAX / 1000)
}

fn fits(channel: &str, what: &str, len: usize) -> Result<(), EncodeError> {
    if u32::try_from(len).is_ok() { Ok(()) } else { Err(too_long(channel, what, len)) }
}

#[cold]
fn too_long(channel: &str, what: &str, len: usize) -> EncodeError {
    let message = format!("the {what} has {len} bytes, the limit of WPILOG is {} bytes", u32::MAX);
    EncodeError::new("wpilog", channel, message)
}

impl Encode for Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        Header { version: VERSION, extra: self.extra.as_bytes() }.emit(out);
    }

    fn channel(&mut self, id: ChannelId, channel: &Channel, _: &mut Vec<u8>) -> Result<(), EncodeError> {
        for (what, text) in
            [("name", &channel.name), ("type", &channel.type_name), ("metadata text", &channel.metadata)]
        {
            fits(&channel.name, what, text.len())?;
        }
        if self.entries.len() <= id as usize {
            self.entries.resize_with(id as usize + 1, || None);
        }
        if let Some(place) = self.entries.get_mut(id as usize) {
            let (name, type_name, metadata) =
                (channel.name.clone(), channel.type_name.clone(), channel.metadata.clone());
            *place = Some(Entry { id: 0, name, type_name, metadata, live: false, started: false });
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>], out: &mut Vec<u8>) -> Result<(), EncodeError> {
        for (place, sample) in samples.iter().enumerate() {
            self.value.clear();
            sample.value.emit(Layout::Little, &mut self.value);
            if self.value.len() > self.longest {
                let entry = self.entries.get(sample.channel as usize).and_then(Option::as_ref);
                let name = entry.map_or("", |entry| &entry.name);
                return Err(too_long(name, "value", self.value.len()).of_sample(place));
            }
            let timestamp = stamp(sample.time);
            self.finer +=
                u64::from(sample.time.nanos() % 1000 != 0 && sample.time != Time::MAX && sample.time != Time::MIN);
            self.last = timestamp;
            let Some(entry) = self.live(sample.channel, timestamp, out) else { continue };
            Record { entry, timestamp, payload: &self.value }.emit(out);
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Some(entry) = self.entries.get_mut(id as usize).and_then(Option::as_mut) else { return Ok(()) };
        fits(&entry.name, "metadata text", metadata.len())?;
        if entry.metadata == metadata {
            return Ok(());
        }
        metadata.clone_into(&mut entry.metadata);
        let (live, started, entry) = (entry.live, entry.started, entry.id);
        if started && !live {
            // Only an entry that was started again gets metadata after its end.
            self.live(id, stamp(time), out);
        } else if live {
            self.control(Control::SetMetadata { entry, metadata: metadata.as_bytes() }, stamp(time), out);
        }
        Ok(())
    }

    fn end(&mut self, id: ChannelId, time: Time, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.live(id, stamp(time), out).is_none() {
            return Ok(());
        }
        if let Some(entry) = self.entries.get_mut(id as usize).and_then(Option::as_mut) {
            entry.live = false;
            let entry = entry.id;
            self.control(Control::Finish { entry }, stamp(time), out);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Vec<Problem> {
        // Channels without a sample, which no Start has named yet.
        for id in 0..self.entries.len() {
            let never = self.entries.get(id).and_then(Option::as_ref).is_some_and(|entry| !entry.started);
            if never && let Ok(id) = ChannelId::try_from(id) {
                self.live(id, self.last, out);
            }
        }
        let mut problems = Vec::new();
        if self.finer > 0 {
            let message = format!("rounded {} timestamps to the microseconds of WPILOG", self.finer);
            problems.push(Problem::general(Severity::Warning, "times-rounded", message));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use logpose_core::{Channel, Encode, Sample, Time, Value};

    use super::Encoder;

    fn encoder() -> Encoder {
        let mut encoder = Encoder { longest: 8, ..Encoder::new("") };
        for id in 0..2 {
            encoder.channel(id, &Channel::new(format!("/{id}"), "string"), &mut Vec::new()).unwrap();
        }
        encoder
    }

    #[test]
    fn a_refused_sample_is_named_and_leaves_no_trace() {
        let text = |channel, text| Sample { channel, time: Time::from_nanos(1), value: Value::String(text) };
        let (good, more, bad) = (text(0, &b"short"[..]), text(1, &b"brief"[..]), text(1, &b"far too long"[..]));
        for (place, batch) in [[bad, good, more], [good, bad, more], [good, more, bad]].iter().enumerate() {
            let (mut left, mut right) = (encoder(), encoder());
            let (mut one, mut many) = (Vec::new(), Vec::new());
            [good, more].iter().for_each(|sample| left.samples(&[*sample], &mut one).unwrap());
            let error = right.samples(batch, &mut many).unwrap_err();
            assert_eq!((error.sample, &*error.channel), (Some(place), "/1"));
            right.samples(&batch[place + 1..], &mut many).unwrap();
            assert_eq!((left.finish(&mut one), left.finer), (right.finish(&mut many), right.finer));
            assert_eq!(one, many);
        }
    }
}
