//! Live values: polled as often as was asked for, and never more often than the link answers.

use std::collections::BTreeMap;

use logpose_core::{Channel, ChannelId, Problem, Sample, Severity, Sink, SinkError, Time, Value};

use super::ask::{Step, Way};
use super::client::{Client, Next};
use super::failure::Failure;
use super::options::LiveOptions;
use super::timing::nanos;
use super::view::LiveValue;
use crate::items;
use crate::live::LiveMapper;
use crate::wire::{Info, Reply};

/// How often alerts and the state of the recorder are asked for.
const SLOWLY: i64 = 500_000_000;
/// The shortest period.
const LEAST_PERIOD: i64 = 1_000_000;

/// Live values that are wanted.
pub(super) struct Live {
    pub(super) options: LiveOptions,
    /// The ids of the values by ids are known.
    pub(super) has_ids: bool,
    /// The latest values by the names of their channels.
    pub(super) latest: BTreeMap<String, LiveValue>,
    /// What is to be emitted to the sink.
    pub(super) notes: Vec<Problem>,
    mapper: LiveMapper,
    /// The names of channels and their units, by their numbers.
    channels: Vec<(String, Option<String>)>,
    due: Time,
    /// When alerts or the recorder are due, and which of them it was last.
    slow_due: Time,
    alerts_next: bool,
    heard: Time,
    silent: bool,
}

impl Live {
    pub(super) fn new(options: LiveOptions) -> Self {
        Self {
            options,
            has_ids: false,
            latest: BTreeMap::new(),
            notes: Vec::new(),
            mapper: LiveMapper::new(),
            channels: Vec::new(),
            due: Time::MIN,
            slow_due: Time::MIN,
            alerts_next: false,
            heard: Time::MIN,
            silent: false,
        }
    }

    pub(super) fn interrupted(&mut self) {
        self.has_ids = false;
    }

    pub(super) fn due(&self) -> Option<Time> {
        Some(self.due.min(self.slow_due))
    }

    pub(super) fn clock_offset(&self) -> Option<i64> {
        self.mapper.clock_offset()
    }

    /// Gives what comes out of the mapper to a sink, and keeps the latest values.
    fn map(
        &mut self,
        sink: &mut dyn Sink,
        map: impl FnOnce(&mut LiveMapper, &mut dyn Sink) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let mut tap = Tap { sink, channels: &mut self.channels, latest: &mut self.latest };
        map(&mut self.mapper, &mut tap)
    }
}

/// A sink before another one, which keeps the latest values.
struct Tap<'t> {
    sink: &'t mut dyn Sink,
    channels: &'t mut Vec<(String, Option<String>)>,
    latest: &'t mut BTreeMap<String, LiveValue>,
}

impl Sink for Tap<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.channels.push((channel.name.clone(), channel.unit.clone()));
        self.sink.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some((name, unit)) = self.channels.get(sample.channel as usize) else { continue };
            let number = |x: f64| LiveValue::Number(x, unit.clone());
            #[expect(clippy::cast_precision_loss, reason = "a value for people")]
            let value = match sample.value {
                Value::Boolean(on) => LiveValue::Boolean(on),
                Value::Int64(n) => number(n as f64),
                Value::Float(x) => number(x.into()),
                Value::Double(x) => number(x),
                Value::String(text) => LiveValue::Text(String::from_utf8_lossy(text).into_owned()),
                _ => continue,
            };
            match self.latest.get_mut(name) {
                Some(place) => *place = value,
                None => drop(self.latest.insert(name.clone(), value)),
            }
        }
        self.sink.samples(samples)
    }

    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}

impl Client {
    pub(super) fn next_of_live(&mut self) -> Next {
        let now = self.now;
        let (Some(live), Some(version)) = (&mut self.live, &self.known.version) else { return Next::Wait };
        let way = match items::masks(version) {
            // Its number may be one of the older package.
            _ if self.known.is_short() => Way::Compact,
            Some((mask1, mask2)) => Way::Mask { mask1, mask2 },
            None if version.has_live_ids() => Way::Ids,
            None => Way::Compact,
        };
        if way == Way::Ids && !live.has_ids {
            return Next::Ask(Step::Ids);
        }
        if live.slow_due <= now {
            // The two take turns. On a slow link most of it is for the values.
            live.slow_due = now.plus((SLOWLY / 2).max(4 * self.trips.median().map_or(0, nanos)));
            live.alerts_next = !live.alerts_next;
            let recorder = version.has_status() && self.known.missing().is_none();
            if live.alerts_next && version.has_alerts() {
                return Next::Ask(Step::Alerts { since: None });
            } else if !live.alerts_next && recorder {
                return Next::Ask(Step::Status);
            }
        }
        if live.due <= now {
            live.due = now.plus(nanos(live.options.period).max(LEAST_PERIOD));
            return Next::Ask(Step::Live { way });
        }
        Next::Wait
    }

    /// The board is known: values are asked for from here on.
    pub(super) fn live_begins(&mut self) {
        let now = self.now;
        if let Some(live) = &mut self.live {
            (live.due, live.slow_due, live.heard, live.silent) = (now, now, now, false);
            // The number of an older package may look like one of a newer one.
            if let Some(info @ Info::V2(_)) = &self.known.info {
                live.mapper.set_info(info);
            }
        }
    }

    /// Nobody has answered. After a while discovery starts again.
    pub(super) fn live_silent(&mut self) {
        let Some(live) = &mut self.live else { return };
        if self.now.since(live.heard) < nanos(self.options.patience) {
            return;
        }
        live.interrupted();
        self.search_again();
    }

    /// Nobody is there: that is reported once.
    pub(super) fn live_not_found(&mut self, failure: &Failure) {
        let Some(live) = &mut self.live else { return };
        if !std::mem::replace(&mut live.silent, true) {
            live.notes.push(Problem::general(Severity::Warning, "refloat-absent", failure.to_string()));
        }
    }

    /// Gives what a reply says to the sink, if live values are wanted.
    pub(super) fn emit(&mut self, reply: &Reply<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        let now = self.now;
        let Some(live) = &mut self.live else { return Ok(()) };
        live.heard = now;
        live.map(sink, |mapper, sink| mapper.reply(now, reply, sink))
    }

    /// The same for a text of the board.
    pub(super) fn tell_print(&mut self, text: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let now = self.now;
        let Some(live) = &mut self.live else { return Ok(()) };
        live.map(sink, |mapper, sink| mapper.print(now, text, sink))
    }
}
