use std::collections::HashMap;

use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Problem, Sample, Sink, SinkError, Time, Value};

use crate::Batch;
use crate::source_clock::SourceClock;

/// Merges several sources into one: one numbering of channels and, if there is more than one source, one clock.
///
/// A single source keeps its names and its clock. Several have a prefix each, and their times become those of this
/// machine since the start: a source's clock is set by the message that took the shortest way of those of the last
/// seconds. The source's own time and the moment of receipt are kept in two channels of each source.
pub struct Join {
    sources: Vec<Joined>,
    channels: HashMap<(String, String), ChannelId>,
    next: ChannelId,
    /// The zero of the common clock, if there is one.
    start: Option<Time>,
}

struct Joined {
    /// What stands before its names: empty or `/name`.
    prefix: String,
    /// By its own numbers.
    map: Vec<ChannelId>,
    clock: Option<SourceClock>,
    /// The channels of its own time and of the moment of receipt, once they are declared.
    times: Option<(ChannelId, ChannelId)>,
    noted: Option<Time>,
}

impl Join {
    /// One source, as it is.
    #[must_use]
    pub fn single() -> Self {
        let source = Joined { prefix: String::new(), map: Vec::new(), clock: None, times: None, noted: None };
        Self { sources: vec![source], channels: HashMap::new(), next: 0, start: None }
    }

    /// Sources with these names on one clock, which is zero at `start`.
    #[must_use]
    pub fn several(names: &[String], start: Time) -> Self {
        let source = |name: &String| Joined {
            prefix: format!("/{name}"),
            map: Vec::new(),
            clock: Some(SourceClock::default()),
            times: None,
            noted: None,
        };
        Self { sources: names.iter().map(source).collect(), channels: HashMap::new(), next: 0, start: Some(start) }
    }

    /// How many channels there are.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.next as usize
    }

    /// What a batch of that source is among all.
    #[must_use]
    pub fn join(&mut self, source: usize, batch: &Batch) -> Batch {
        // On a clock of ours there is nothing left to add.
        let mut out = Batch::new(batch.received);
        out.clock_offset = batch.clock_offset.filter(|_| self.start.is_none());
        if let Some(joined) = self.sources.get_mut(source) {
            let (channels, next, start) = (&mut self.channels, &mut self.next, self.start);
            let mut joining = Joining { joined, channels, next, start, batch, out: &mut out };
            // A batch takes everything.
            let _ = batch.play(&mut joining);
        }
        out
    }
}

struct Joining<'j> {
    joined: &'j mut Joined,
    channels: &'j mut HashMap<(String, String), ChannelId>,
    next: &'j mut ChannelId,
    start: Option<Time>,
    batch: &'j Batch,
    out: &'j mut Batch,
}

impl Joining<'_> {
    /// The number of a channel among all. It is declared if it is new.
    fn declare(&mut self, channel: &Channel) -> ChannelId {
        let key = (channel.name.clone(), channel.type_name.clone());
        if let Some(id) = self.channels.get(&key) {
            return *id;
        }
        let id = *self.next;
        *self.next += 1;
        self.channels.insert(key, id);
        let _ = self.out.channel(id, channel);
        id
    }

    fn id(&self, own: ChannelId) -> Option<ChannelId> {
        self.joined.map.get(own as usize).copied().filter(|id| *id != NONE)
    }

    /// A time of the source on the common clock, in whole microseconds: no format rounds them, and the exact times are
    /// kept besides.
    fn time(&mut self, time: Time) -> Time {
        let (Some(clock), Some(start)) = (&mut self.joined.clock, self.start) else { return time };
        let offset = self.batch.clock_offset.unwrap_or_else(|| clock.offset(time, self.batch.received));
        Time::from_micros(time.plus(offset).plus(-start.nanos()).micros())
    }

    /// Tells the source's own time and the moment of receipt, whenever the former is another.
    fn note(&mut self, own: Time, common: Time) {
        if self.joined.clock.is_none() || self.joined.noted == Some(own) {
            return;
        }
        self.joined.noted = Some(own);
        let (source, receive) = match self.joined.times {
            Some(times) => times,
            None => {
                let prefix = self.joined.prefix.clone();
                let channel = |what: &str, about: &str| Channel {
                    unit: Some("ns".to_owned()),
                    metadata: format!("{{\"source\":\"logpose\",\"about\":\"{about}\",\"unit\":\"ns\"}}"),
                    ..Channel::new(format!("/logpose{prefix}/{what}"), "int64")
                };
                let source = self.declare(&channel("source_time", "time on the clock of the source"));
                let receive = self.declare(&channel("receive_time", "time of receipt, since 1970"));
                self.joined.times = Some((source, receive));
                (source, receive)
            }
        };
        let sample = |channel, value: Time| Sample { channel, time: common, value: Value::Int64(value.nanos()) };
        let _ = self.out.samples(&[sample(source, own), sample(receive, self.batch.received)]);
    }
}

impl Sink for Joining<'_> {
    fn channel(&mut self, own: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let mut channel = channel.clone();
        // Schemas are looked up by their names, and are the same for all.
        if !Registry::is_schema(&channel.name, &channel.type_name) {
            let slash = if self.joined.prefix.is_empty() || channel.name.starts_with('/') { "" } else { "/" };
            channel.name = format!("{}{slash}{}", self.joined.prefix, channel.name);
        }
        let id = self.declare(&channel);
        let place = own as usize;
        if place >= MOST_CHANNELS {
            return Ok(());
        }
        if self.joined.map.len() <= place {
            self.joined.map.resize(place + 1, NONE);
        }
        if let Some(known) = self.joined.map.get_mut(place) {
            *known = id;
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for cycle in samples.chunk_by(|a, b| a.time == b.time) {
            let Some(own) = cycle.first().map(|sample| sample.time) else { continue };
            let time = self.time(own);
            self.note(own, time);
            for sample in cycle {
                if let Some(channel) = self.id(sample.channel) {
                    self.out.samples(&[Sample { channel, time, ..*sample }])?;
                }
            }
        }
        Ok(())
    }

    fn metadata(&mut self, own: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        let time = self.time(time);
        self.id(own).map_or(Ok(()), |id| self.out.metadata(id, time, metadata))
    }

    fn end(&mut self, own: ChannelId, time: Time) -> Result<(), SinkError> {
        let time = self.time(time);
        self.id(own).map_or(Ok(()), |id| self.out.end(id, time))
    }

    fn problem(&mut self, problem: Problem) {
        self.out.problem(problem);
    }
}

const NONE: ChannelId = ChannelId::MAX;
/// No source has more.
const MOST_CHANNELS: usize = 1 << 20;
