//! The channels of all conversations of a capture under one set of numbers.

use std::collections::HashMap;

use logpose_core::{Channel, ChannelId, Problem, Problems, Sample, Severity, Sink, SinkError, Time, Value};

/// The channels of a link or of an RLOG source by name and type, so that one which comes again is the same. One for
/// which there was no room has no number.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<(String, String), Option<ChannelId>>);

/// The numbers of channels, by the numbers that one decoder gives them.
#[derive(Debug, Default)]
pub(crate) struct Ids(Vec<Option<ChannelId>>);

impl Names {
    /// Puts a prefix in front of all names.
    pub(crate) fn rename(&self, prefix: &str, channels: &mut [Channel]) {
        for id in self.0.values().flatten() {
            if let Some(channel) = channels.get_mut(*id as usize) {
                channel.name.insert_str(0, if channel.name.starts_with('/') || prefix.is_empty() { "" } else { "/" });
                channel.name.insert_str(0, prefix);
                if let Some((_, key)) = channel.family.as_deref_mut().filter(|_| !prefix.is_empty()) {
                    *key = format!("{}/{key}", prefix.trim_start_matches('/'));
                }
            }
        }
    }
}

/// Where everything goes that is found.
pub(crate) struct Output<'a> {
    sink: &'a mut dyn Sink,
    pub(crate) channels: Vec<Channel>,
    pub(crate) problems: Problems,
    /// How many channels there may be.
    most: usize,
}

impl<'a> Output<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink, most: usize) -> Self {
        Self { sink, channels: Vec::new(), problems: Problems::default(), most }
    }
}

/// Hands on what a decoder gives, under numbers of the whole capture.
pub(crate) struct Renumber<'a, 's> {
    output: &'a mut Output<'s>,
    names: &'a mut Names,
    ids: &'a mut Ids,
    /// What to add to times, in nanoseconds.
    shift: i64,
    /// Where problems are and how long the bytes concerned, if the decoder cannot know it.
    frame: Option<(u64, u64)>,
}

impl<'a, 's> Renumber<'a, 's> {
    pub(crate) fn new(output: &'a mut Output<'s>, names: &'a mut Names, ids: &'a mut Ids, shift: i64) -> Self {
        Self { output, names, ids, shift, frame: None }
    }

    /// From here on problems are in these bytes, whatever the decoder says.
    pub(crate) fn within(&mut self, at: u64, length: usize) {
        self.frame = Some((at, length as u64));
    }

    fn id(&self, id: ChannelId) -> Option<ChannelId> {
        self.ids.0.get(id as usize).copied().flatten()
    }
}

impl Sink for Renumber<'_, '_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        let key = (channel.name.clone(), channel.type_name.clone());
        let number = match self.names.0.get(&key) {
            Some(number) => *number,
            None => {
                let number = ChannelId::try_from(self.output.channels.len())
                    .ok()
                    .filter(|_| self.output.channels.len() < self.output.most);
                match number {
                    Some(number) => {
                        self.output.channels.push(channel.clone());
                        self.output.sink.channel(number, channel)?;
                    }
                    None => {
                        let message = format!("more than {} channels; skipped {:?}", self.output.most, channel.name);
                        self.problem(Problem::general(Severity::Damage, "too-many-channels", message));
                    }
                }
                self.names.0.insert(key, number);
                number
            }
        };
        if place >= self.ids.0.len() {
            self.ids.0.resize(place + 1, None);
        }
        if let Some(known) = self.ids.0.get_mut(place) {
            *known = number;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        // Some at a time, so that no packet needs memory of its own.
        for some in samples.chunks(AT_ONCE) {
            let mut room = [Sample { channel: 0, time: Time::ZERO, value: Value::Boolean(false) }; AT_ONCE];
            let known = some.iter().filter_map(|sample| Some((self.id(sample.channel)?, sample)));
            let mut filled = 0;
            for (place, (channel, sample)) in room.iter_mut().zip(known) {
                *place = Sample { channel, time: sample.time.plus(self.shift), ..*sample };
                filled += 1;
            }
            self.output.sink.samples(room.get(..filled).unwrap_or_default())?;
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        match self.id(id) {
            Some(id) => {
                if let Some(channel) = self.output.channels.get_mut(id as usize).filter(|_| !metadata.is_empty()) {
                    metadata.clone_into(&mut channel.metadata);
                }
                self.output.sink.metadata(id, time.plus(self.shift), metadata)
            }
            None => Ok(()),
        }
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.id(id).map_or(Ok(()), |id| self.output.sink.end(id, time.plus(self.shift)))
    }

    fn problem(&mut self, mut problem: Problem) {
        if let Some((at, length)) = self.frame {
            (problem.at, problem.length) = (Some(at), length);
        }
        self.output.problems.push(problem);
    }
}

/// Samples that are handed on in one call.
const AT_ONCE: usize = 16;
