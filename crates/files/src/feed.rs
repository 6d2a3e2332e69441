use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::OnceLock;

use logpose_bridges::Header;
use logpose_core::{Channel, ChannelId, ChannelIndex, Lookup, Problem, Sample, Sink, SinkError, Span, Time};

use crate::merge::{self, Input};
use crate::{ClockMap, Log, Schemas};

/// In which order samples come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// That of the file, with changes of metadata and ends of channels where they stand.
    File,
    /// That of time; samples of one time in the order of the file. Costs a merge of all channels unless the
    /// file is in this order already.
    Time,
}

/// Several logs as one. Channels with equal name and type are one channel; the same name with another type
/// is another channel.
pub struct Feed<'a> {
    logs: Vec<&'a Log>,
    lookups: Vec<Lookup>,
    /// For each log the clock on which its times are put; their own for those beyond the list.
    clocks: Vec<ClockMap>,
    channels: Vec<Channel>,
    /// For each log the feed's number of each of its channels; empty where the numbers are the same.
    maps: Vec<Vec<ChannelId>>,
    schemas: OnceLock<Schemas>,
}

impl<'a> Feed<'a> {
    /// The wanted parts of logs. A log without a lookup is wanted whole.
    #[must_use]
    pub fn new<L: Borrow<Log>>(logs: &'a [L], mut lookups: Vec<Lookup>) -> Self {
        let logs: Vec<&Log> = logs.iter().map(Borrow::borrow).collect();
        lookups.resize_with(logs.len(), Lookup::default);
        let mut channels: Vec<Channel> = Vec::new();
        let mut known: HashMap<(&str, &str), ChannelId> = HashMap::new();
        let mut maps = Vec::with_capacity(logs.len());
        for (log, lookup) in logs.iter().zip(&lookups) {
            let mut map = Vec::with_capacity(log.index.channels.len());
            for (place, found) in log.index.channels.iter().enumerate() {
                if !ChannelId::try_from(place).is_ok_and(|id| lookup.wants(id)) {
                    map.push(UNWANTED);
                    continue;
                }
                let next = ChannelId::try_from(channels.len()).unwrap_or(UNWANTED);
                let channel = &found.channel;
                let id = *known.entry((&channel.name, &channel.type_name)).or_insert(next);
                if id == next {
                    channels.push(channel.clone());
                }
                map.push(id);
            }
            let same = map.iter().enumerate().all(|(place, id)| *id as usize == place);
            maps.push(if same { Vec::new() } else { map });
        }
        Self { logs, lookups, clocks: Vec::new(), channels, maps, schemas: OnceLock::new() }
    }

    /// The same with the times of each log on another clock, as `Alignment` in `logpose-analysis` finds them. Lookups
    /// stay on the log's own.
    #[must_use]
    pub fn on_clocks(self, clocks: &[ClockMap]) -> Self {
        Self { clocks: clocks.to_vec(), ..self }
    }

    fn clock(&self, place: usize) -> ClockMap {
        self.clocks.get(place).copied().unwrap_or_default()
    }

    /// The wanted channels; a channel's number is its place.
    #[must_use]
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The logs.
    #[must_use]
    pub fn logs(&self) -> &[&'a Log] {
        &self.logs
    }

    /// At most so many samples will come; fewer if times are cut away.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.wanted().filter_map(|wanted| Some(wanted.index()?.samples)).sum()
    }

    /// The earliest and the latest time that can come.
    #[must_use]
    pub fn range(&self) -> Option<(Time, Time)> {
        let mut range: Option<(Time, Time)> = None;
        for wanted in self.wanted() {
            let Some(channel) = wanted.index().filter(|c| c.samples > 0) else { continue };
            let first = wanted.lookup.start.map_or(channel.first, |start| channel.first.max(start));
            let last = wanted.lookup.end.map_or(channel.last, |end| channel.last.min(end));
            if first <= last {
                let (first, last) = (wanted.clock.at(first), wanted.clock.at(last));
                let (a, b) = range.unwrap_or((first, last));
                range = Some((a.min(first), b.max(last)));
            }
        }
        range
    }

    /// The schemas of all logs.
    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        match &*self.logs {
            [log] => log.schemas(),
            logs => self.schemas.get_or_init(|| Schemas::of(logs.iter().copied())),
        }
    }

    /// What a file of another field keeps besides the samples.
    #[must_use]
    pub(crate) fn header(&self) -> Header {
        let same = |value: &dyn Fn(&Log) -> Option<String>| {
            let mut values = self.logs.iter().copied().map(value);
            let first = values.next()?;
            values.all(|value| value == first).then_some(first)?
        };
        let origin = same(&|log| Some(log.index.fact("origin").unwrap_or(log.dialect().info().name).to_owned()));
        let fact = |key: &&'static str| Some(((*key).to_owned(), same(&|log| log.index.fact(key).map(str::to_owned))?));
        let epoch = match self.clocks.is_empty() {
            true => same(&|log| log.epoch_ns().map(|ns| ns.to_string())),
            // Everything is on the clock of the first.
            false => self.logs.first().and_then(|log| log.epoch_ns()).map(|ns| ns.to_string()),
        };
        Header {
            origin: origin.unwrap_or_default(),
            facts: ["version", "extra_header", "revision"].iter().filter_map(fact).collect(),
            epoch_ns: epoch.and_then(|ns| ns.parse().ok()),
            channels: self.channels.clone(),
        }
    }

    /// Stretches of about `bytes` bytes of all logs, one log after the other: the log's number and the stretch.
    pub(crate) fn windows(&self, bytes: u64) -> Vec<(usize, Span)> {
        let logs = self.logs.iter().enumerate();
        logs.flat_map(|(place, log)| log.windows(bytes).into_iter().map(move |span| (place, span))).collect()
    }

    /// Gives the samples of one window to a sink, in the order of the file. Every window announces its channels again.
    pub(crate) fn window(&self, (place, span): (usize, Span), sink: &mut dyn Sink) -> Result<(), SinkError> {
        let (Some(log), Some(lookup), Some(map)) =
            (self.logs.get(place), self.lookups.get(place), self.maps.get(place))
        else {
            return Ok(());
        };
        let lookup = Lookup { within: Some(span), ..lookup.clone() };
        let mut declared = vec![false; self.channels.len()];
        let clock = self.clock(place);
        let end = log.rows(Order::File, &lookup, &mut Renumbered { map, clock, declared: &mut declared, sink });
        log.pass(span);
        end
    }

    /// Declares every channel once and gives all samples to a sink. In the order of files, one log comes after
    /// the other.
    ///
    /// What was found when the logs were opened is in their `problems`; the sink hears only what comes up here.
    pub fn run(&self, order: Order, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let clocks = (0..).map(|place| self.clock(place));
        let inputs = || self.logs.iter().zip(&self.lookups).zip(&self.maps).zip(clocks.clone());
        let sorted = matches!(&*self.logs, [log] if log.index.sorted);
        if order == Order::Time && !sorted {
            let inputs = inputs().map(|(((log, lookup), map), clock)| Input::new(log, lookup, map).on(clock));
            let inputs: Vec<_> = inputs.collect();
            for (id, channel) in (0..).zip(&self.channels) {
                sink.channel(id, channel)?;
            }
            return merge::run(&inputs, sink);
        }
        let mut declared = vec![false; self.channels.len()];
        for (((log, lookup), map), clock) in inputs() {
            log.rows(Order::File, lookup, &mut Renumbered { map, clock, declared: &mut declared, sink })?;
        }
        // Channels that were started and got no sample are channels all the same.
        let silent = (0..).zip(&self.channels).zip(declared).filter(|(_, declared)| !declared);
        silent.map(|(channel, _)| channel).try_for_each(|(id, channel)| sink.channel(id, channel))
    }

    /// Every wanted channel of every log.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = Wanted<'_>> {
        let logs = self.logs.iter().zip(&self.lookups).zip(&self.maps).enumerate();
        logs.flat_map(|(place, ((log, lookup), map))| {
            let clock = self.clock(place);
            (0..).zip(&log.index.channels).filter_map(move |(own, _): (ChannelId, _)| {
                let id = if map.is_empty() { own } else { map.get(own as usize).copied()? };
                (id != UNWANTED).then_some(Wanted { id, log, own, lookup, clock })
            })
        })
    }
}

/// A wanted channel of one log.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The feed's number of it.
    pub(crate) id: ChannelId,
    pub(crate) log: &'a Log,
    /// The log's own number of it.
    pub(crate) own: ChannelId,
    pub(crate) lookup: &'a Lookup,
    pub(crate) clock: ClockMap,
}

impl<'a> Wanted<'a> {
    pub(crate) fn index(&self) -> Option<&'a ChannelIndex> {
        self.log.index.channels.get(self.own as usize)
    }
}

/// A sink in front of another, which knows the channels by other numbers, wants to hear of each once, and may have
/// another clock.
struct Renumbered<'a> {
    map: &'a [ChannelId],
    clock: ClockMap,
    declared: &'a mut [bool],
    sink: &'a mut dyn Sink,
}

impl Renumbered<'_> {
    fn id(&self, own: ChannelId) -> Option<ChannelId> {
        if self.map.is_empty() { Some(own) } else { self.map.get(own as usize).copied().filter(|id| *id != UNWANTED) }
    }
}

impl Sink for Renumbered<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let Some(id) = self.id(id) else { return Ok(()) };
        match self.declared.get_mut(id as usize) {
            Some(declared) if !*declared => *declared = true,
            _ => return Ok(()),
        }
        self.sink.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        if self.map.is_empty() && self.clock == ClockMap::default() {
            return self.sink.samples(samples);
        }
        let renumbered = samples.iter().filter_map(|sample| {
            Some(Sample { channel: self.id(sample.channel)?, time: self.clock.at(sample.time), ..*sample })
        });
        self.sink.samples(&renumbered.collect::<Vec<_>>())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.id(id).map_or(Ok(()), |id| self.sink.metadata(id, self.clock.at(time), metadata))
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.id(id).map_or(Ok(()), |id| self.sink.end(id, self.clock.at(time)))
    }

    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}

const UNWANTED: ChannelId = ChannelId::MAX;
