//! Live messages as samples: the same channels and the same clock as recordings.

mod clock;
mod compact;
mod samples;

use logpose_core::{Channel, Problem, Severity, Sink, SinkError, Time};
use serde_json::json;

use self::clock::Clock;
use self::samples::{OwnedValue, Samples, When};
use crate::float16;
use crate::items::{self, FOLDER, MaskField};
use crate::vesc;
use crate::wire::{
    ActiveAlerts, Alerts, Charging, Compact, FieldValue, Info, Live, LiveIds, LiveMask, Reply, StateFlags, Status,
    TICK_RATE, Version,
};

/// The live messages of one board to samples.
///
/// Channels are numbered from 0 in the order in which they appear, and the samples of one message are given in one call.
/// States have a sample where they change, values one for each message. Times are those of the board's ticks, counted on
/// beyond their 32 bits; what comes without a tick is placed by the clock offset. For a board that never sends ticks,
/// which is one older than 1.1, the time of receipt counts.
#[derive(Debug)]
pub struct LiveMapper {
    clock: Clock,
    version: Option<Version>,
    always: Vec<String>,
    running: Vec<String>,
    samples: Samples,
    /// What came without a tick before the first tick: its place is not known yet.
    waiting: Vec<(Time, Vec<u8>)>,
    /// The alerts that were emitted last: a board repeats them again and again.
    alerts: Vec<(u32, u8, bool, u8)>,
}

/// How much waits for the first tick.
const WAITING: usize = 64;
/// How many alerts a board keeps, and some more.
const ALERTS: usize = 32;

impl Default for LiveMapper {
    fn default() -> Self {
        Self::new()
    }
}

impl LiveMapper {
    /// A board of which nothing is known yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Clock::new(TICK_RATE),
            version: None,
            always: Vec::new(),
            running: Vec::new(),
            samples: Samples::default(),
            waiting: Vec::new(),
            alerts: Vec::new(),
        }
    }

    /// A payload that came at `now`, of whatever kind. What is not of the package is left alone.
    pub fn payload(&mut self, now: Time, payload: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        if let Some(text) = vesc::printed(payload) {
            return self.print(now, text, sink);
        }
        let Some(message) = vesc::app_data(payload) else { return Ok(()) };
        if message.first() != Some(&crate::wire::PACKAGE) {
            return Ok(());
        }
        match Reply::parse(message) {
            Ok(reply) => self.reply(now, &reply, sink),
            Err(error) => {
                let text = format!("skipped a message of the board: {error}");
                sink.problem(Problem::general(Severity::Damage, "bad-message", text));
                Ok(())
            }
        }
    }

    /// A message that came at `now`.
    pub fn reply(&mut self, now: Time, reply: &Reply<'_>, sink: &mut dyn Sink) -> Result<(), SinkError> {
        match reply {
            Reply::Info(info) => self.set_info(info),
            Reply::LiveIds(ids) => self.set_ids(ids),
            Reply::Live(live) => return self.ticked(now, live.tick, sink, |put| put.live(live)),
            Reply::LiveMask(live) => return self.ticked(now, live.tick, sink, |put| put.mask(live)),
            Reply::Compact(_) if self.awaits_ticks() => self.wait(now, reply),
            Reply::Compact(compact) => {
                self.clock.without_ticks();
                return self.placed(now, sink, |put| put.compact(compact));
            }
            Reply::Status(status) if self.clock.is_known() => {
                return self.placed(now, sink, |put| put.status(status));
            }
            Reply::Alerts(alerts) if self.clock.is_known() => {
                return self.placed(now, sink, |put| put.alerts(alerts));
            }
            Reply::Status(_) | Reply::Alerts(_) => self.wait(now, reply),
            Reply::Header(_) | Reply::Data(_) | Reply::Other(_) => {}
        }
        Ok(())
    }

    /// A text that a package printed at `now`.
    pub fn print(&mut self, now: Time, text: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        if !self.clock.is_known() {
            let mut payload = vec![vesc::command::PRINT];
            payload.extend_from_slice(text);
            self.keep(now, payload);
            return Ok(());
        }
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        self.placed(now, sink, |put| put.other("prints", "string", OwnedValue::Text(text.to_vec()), When::Always))
    }

    /// What the board says of itself: its version and its ticks.
    pub fn set_info(&mut self, info: &Info) {
        self.version = Some(info.version());
        self.clock.set_rate(info.tick_rate());
    }

    /// The ids of the values of [`Live`]; without them only its states are known.
    pub fn set_ids(&mut self, ids: &LiveIds<'_>) {
        self.always = ids.always.iter().map(str::to_owned).collect();
        self.running = ids.running.iter().map(str::to_owned).collect();
    }

    /// What to add to the times of samples to get times of the clock that `now` is on, in nanoseconds. It is that of the
    /// message with the smallest delay among the last ones.
    #[must_use]
    pub fn clock_offset(&self) -> Option<i64> {
        self.clock.offset()
    }

    /// Whether the board is going to send ticks: messages without one may wait for them. Not forever, because
    /// the ticks may never be requested.
    fn awaits_ticks(&self) -> bool {
        let has_ticks = self.version.as_ref().is_some_and(Version::has_live_ids);
        has_ticks && !self.clock.is_known() && self.waiting.len() < WAITING
    }

    fn wait(&mut self, now: Time, reply: &Reply<'_>) {
        let mut payload = Vec::new();
        vesc::put_app(&mut payload, |out| reply.emit(out));
        self.keep(now, payload);
    }

    fn keep(&mut self, now: Time, payload: Vec<u8>) {
        if self.waiting.len() < WAITING {
            self.waiting.push((now, payload));
        }
    }

    /// A message with a tick.
    fn ticked(
        &mut self,
        now: Time,
        tick: u32,
        sink: &mut dyn Sink,
        read: impl FnOnce(&mut Putting<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        let (time, restarted) = self.clock.tick(now, tick);
        if restarted {
            self.samples.forget();
            self.alerts.clear();
            let text = "the board's clock restarted: it was switched off and on";
            sink.problem(Problem::general(Severity::Note, "restarted", text));
        }
        for (came, payload) in std::mem::take(&mut self.waiting) {
            self.payload(came, &payload, sink)?;
        }
        self.message(now, time, sink, read)
    }

    /// A message without a tick.
    fn placed(
        &mut self,
        now: Time,
        sink: &mut dyn Sink,
        read: impl FnOnce(&mut Putting<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        for (came, payload) in std::mem::take(&mut self.waiting) {
            self.payload(came, &payload, sink)?;
        }
        let time = self.clock.at(now);
        self.message(now, time, sink, read)
    }

    fn message(
        &mut self,
        now: Time,
        time: Time,
        sink: &mut dyn Sink,
        read: impl FnOnce(&mut Putting<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.samples.begin();
        read(&mut Putting { mapper: self, now, time, sink })?;
        self.samples.flush(sink)
    }
}

/// A message that is being read.
struct Putting<'m> {
    mapper: &'m mut LiveMapper,
    now: Time,
    time: Time,
    sink: &'m mut dyn Sink,
}

impl Putting<'_> {
    fn live(&mut self, live: &Live<'_>) -> Result<(), SinkError> {
        self.state(live.state)?;
        self.truth("fatal_error", live.state.fatal_error() || live.extra & 8 != 0)?;
        self.extra(live.extra)?;
        self.values(live)?;
        if let Some(Charging { current, voltage }) = live.charging {
            self.field("charging.current", float16::decode(current))?;
            self.field("charging.voltage", float16::decode(voltage))?;
        }
        match live.alerts {
            Some(ActiveAlerts { fault, .. }) => self.fault(fault),
            None => Ok(()),
        }
    }

    /// The values, if the ids are known and as many.
    fn values(&mut self, live: &Live<'_>) -> Result<(), SinkError> {
        let (always, running) = (self.mapper.always.len(), self.mapper.running.len());
        if always + running == 0 {
            return Ok(());
        }
        if let Err(error) = live.fits(always, running) {
            let text = format!("skipped the values of a live reply: {error}");
            self.sink.problem(Problem::general(Severity::Damage, "live-values", text));
            return Ok(());
        }
        let (time, mapper) = (self.time, &mut *self.mapper);
        let ids = mapper.always.iter().chain(&mapper.running);
        for (id, value) in ids.zip(live.values()) {
            mapper.samples.put(items::channel(id), time, OwnedValue::Float(value), When::Always, self.sink)?;
        }
        Ok(())
    }

    fn mask(&mut self, live: &LiveMask<'_>) -> Result<(), SinkError> {
        for (field, value) in live.fields() {
            match value {
                FieldValue::Extra(bits) => self.truth("recording", bits & 1 != 0)?,
                FieldValue::State(flags) => {
                    self.state(flags)?;
                    self.truth("fatal_error", flags.fatal_error())?;
                }
                FieldValue::Number(x) => self.put(field.channel(), OwnedValue::Float(x), When::Always)?,
                FieldValue::Whole(n) => self.put(field.channel(), OwnedValue::Int64(n.into()), When::Always)?,
                FieldValue::Double(x) => self.put(field.channel(), OwnedValue::Double(x), When::Always)?,
            }
        }
        Ok(())
    }

    fn state(&mut self, flags: StateFlags) -> Result<(), SinkError> {
        self.word("state", flags.state_name())?;
        self.word("mode", &flags.mode_name())?;
        self.truth("running", flags.running())?;
        self.truth("wheelslip", flags.wheelslip())?;
        self.word("footpad", flags.footpad().name())?;
        self.word("adjustment", &flags.adjustment().name())?;
        self.truth("charging", flags.charging())?;
        self.truth("darkride", flags.darkride())?;
        self.word("stop_condition", &flags.stop_condition_name())?;
        self.word("beep_reason", &flags.beep_reason_name())
    }

    /// The flags of the recorder. Since 1.3.0-preview2 only the status contains autostart and autostop.
    fn extra(&mut self, bits: u8) -> Result<(), SinkError> {
        self.truth("recording", bits & 1 != 0)?;
        let complete = match &self.mapper.version {
            Some(version) => !version.has_status(),
            None => self.mapper.always.iter().any(|id| items::newest(id) != id),
        };
        if !complete {
            return Ok(());
        }
        self.truth("autostart", bits & 2 != 0)?;
        self.truth("autostop", bits & 4 != 0)
    }

    fn status(&mut self, status: &Status) -> Result<(), SinkError> {
        self.truth("recording", status.recording)?;
        self.truth("autostart", status.autostart)?;
        self.truth("autostop", status.autostop)
    }

    fn alerts(&mut self, alerts: &Alerts<'_>) -> Result<(), SinkError> {
        self.fault(alerts.fault)?;
        for record in alerts.records.iter() {
            let key = (record.tick, record.id, record.active, record.code);
            if self.mapper.alerts.contains(&key) {
                continue;
            }
            if self.mapper.alerts.len() >= ALERTS {
                self.mapper.alerts.remove(0);
            }
            self.mapper.alerts.push(key);
            let text = json!({"id": record.id, "active": record.active, "code": record.code, "name": record.name});
            let time = self.mapper.clock.recent(self.now, record.tick);
            let channel = Channel::new(format!("{FOLDER}alerts"), "json");
            let value = OwnedValue::Text(text.to_string().into_bytes());
            self.mapper.samples.put(channel, time, value, When::Always, self.sink)?;
        }
        Ok(())
    }

    fn compact(&mut self, compact: &Compact) -> Result<(), SinkError> {
        match compact {
            Compact::Fault(code) => self.fault(*code),
            Compact::Values(values) => self.compact_values(values),
        }
    }

    fn fault(&mut self, code: u8) -> Result<(), SinkError> {
        self.other("fault_code", "int64", OwnedValue::Int64(code.into()), When::Changed)
    }

    fn truth(&mut self, name: &str, on: bool) -> Result<(), SinkError> {
        self.other(name, "boolean", OwnedValue::Boolean(on), When::Changed)
    }

    fn word(&mut self, name: &str, word: &str) -> Result<(), SinkError> {
        self.other(name, "string", OwnedValue::Text(word.as_bytes().to_vec()), When::Changed)
    }

    /// A number that has a bit in the masks or is an item.
    fn field(&mut self, id: &str, x: f32) -> Result<(), SinkError> {
        let channel = items::mask_field(id).map_or_else(|| items::channel(id), MaskField::channel);
        self.put(channel, OwnedValue::Float(x), When::Always)
    }

    fn other(&mut self, name: &str, type_name: &str, value: OwnedValue, when: When) -> Result<(), SinkError> {
        self.put(Channel::new(format!("{FOLDER}{name}"), type_name), value, when)
    }

    fn put(&mut self, channel: Channel, value: OwnedValue, when: When) -> Result<(), SinkError> {
        self.mapper.samples.put(channel, self.time, value, when, self.sink)
    }
}
