use std::collections::HashMap;

use logpose::frc::{
    ErrorLine, LOW_VOLTS, Level, MatchWatch, Mode, ModeSpan, ModeWatch, Role, battery_rank, has_messages, is_brownout,
};
use logpose::refloat::Teller;
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Sample, Time, Type, Value};

use crate::findings::{Band, Finding, Findings};

/// What happened, reported as it happens: modes, brownouts, errors, and how it went with the link.
#[derive(Default)]
pub(super) struct EventTracker {
    watch: ModeWatch,
    /// When each mode began.
    modes: Vec<(Time, Mode)>,
    matches: MatchWatch,
    events: Vec<Finding>,
    /// Whether there were more than are kept.
    cut: bool,
    /// The last stretch of each channel that has some: its place in the events, and whether it goes on.
    stretches: HashMap<ChannelId, (usize, bool)>,
    /// Another number whenever something happened.
    changes: u64,
    /// The channel that most likely has the voltage of the battery, and how likely; lower is likelier.
    battery: Option<(usize, ChannelId)>,
}

/// What a channel means besides its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum WatchedChannel {
    Brownout,
    Battery,
    Errors,
    Console,
    Match,
    Board(Teller),
}

impl EventTracker {
    /// What a channel has to do with modes.
    pub(super) fn role(&mut self, channel: &Channel) -> Option<Role> {
        self.watch.channel(&channel.name)
    }

    /// What else it means.
    pub(super) fn watch(&mut self, id: ChannelId, channel: &Channel) -> Option<WatchedChannel> {
        if let Some(rank) = battery_rank(&channel.name)
            && matches!(channel.ty(), Type::Double | Type::Float)
        {
            if self.battery.is_none_or(|(known, _)| rank < known) {
                self.battery = Some((rank, id));
            }
            return Some(WatchedChannel::Battery);
        }
        if let Some(teller) = Teller::of(channel) {
            return Some(WatchedChannel::Board(teller));
        }
        match channel.ty() {
            Type::Boolean if is_brownout(&channel.name) => Some(WatchedChannel::Brownout),
            Type::String if channel.name.ends_with("/ds/errors") => Some(WatchedChannel::Errors),
            Type::String if has_messages(&channel.name) => Some(WatchedChannel::Console),
            _ => {
                let before = self.matches.watches();
                self.matches.channel(id, channel);
                (self.matches.watches() > before).then_some(WatchedChannel::Match)
            }
        }
    }

    /// Takes in a sample of a channel of modes.
    pub(super) fn mode(&mut self, role: Role, time: Time, value: &Value<'_>, registry: &Registry) {
        self.watch.sample(role, time, value, registry);
        self.settle();
    }

    /// Takes in a sample of any other channel.
    pub(super) fn heed(&mut self, watched: WatchedChannel, id: ChannelId, name: &str, time: Time, value: &Value<'_>) {
        match (watched, value) {
            (WatchedChannel::Brownout, Value::Boolean(on)) => {
                let event = Finding::new(time, "brownout", Level::Error, "Brownout");
                self.stretch(id, time, on.then_some(event), 0);
            }
            (WatchedChannel::Battery, Value::Double(_) | Value::Float(_)) => {
                let volts = match *value {
                    Value::Double(volts) => volts,
                    Value::Float(volts) => volts.into(),
                    _ => return,
                };
                // What has not measured yet says 0.
                if self.battery.is_some_and(|(_, battery)| battery == id) && (1.0..20.0).contains(&volts) {
                    let event = Finding::new(time, "low-battery", Level::Warning, "Battery below 6.8 V");
                    self.stretch(id, time, (volts < LOW_VOLTS).then_some(event), 0);
                }
            }
            (WatchedChannel::Errors, Value::String(text)) => {
                if let Some(error) = ErrorLine::parse(time, text) {
                    self.report(Finding::of_error(&error));
                }
            }
            (WatchedChannel::Console, Value::String(text)) => {
                let Some(event) = Finding::said(time, name, &String::from_utf8_lossy(text)) else { return };
                self.report(event);
            }
            (WatchedChannel::Board(teller), _) => {
                let event = teller.says(value).map(|sign| Finding::of_sign(time, &sign).told_by(name));
                if teller.lasts() {
                    self.stretch(id, time, event, FLICKER_NS);
                } else {
                    event.into_iter().for_each(|event| self.happen(event));
                }
            }
            (WatchedChannel::Match, _) => self.matches.sample(&Sample { channel: id, time, value: *value }),
            _ => {}
        }
    }

    /// It is that late: modes that were sent together are known.
    pub(super) fn reach(&mut self, now: Time) {
        self.watch.reach(now);
        self.settle();
    }

    /// No more will come.
    pub(super) fn finish(&mut self) {
        self.watch.finish();
        self.settle();
    }

    /// The clock of the source started anew.
    pub(super) fn restart(&mut self, time: Time) {
        let text = "The robot's clock restarted: it was switched off and on";
        self.happen(Finding::new(time, "link", Level::Warning, text));
    }

    /// Something was reported, unless that is known already from elsewhere.
    fn report(&mut self, event: Finding) {
        let elsewhere = |earlier: &Finding| event.channel != earlier.channel && event.echoes(earlier);
        if !self.events.iter().rev().take(RECENT).any(elsewhere) {
            self.happen(event);
        }
    }

    /// Something happened.
    pub(super) fn happen(&mut self, event: Finding) {
        if self.events.len() < MOST {
            self.events.push(event);
            self.changes += 1;
        } else {
            self.leave_out();
        }
    }

    /// Another number whenever something happened.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// The match that is on.
    pub(super) fn match_text(&self) -> Option<String> {
        let found = self.matches.current()?;
        let number = found.number.map(|number| format!(" {number}")).unwrap_or_default();
        let event = found.event.map(|event| format!("{event} ")).unwrap_or_default();
        Some(format!("{event}{}{number}", found.kind.name()))
    }

    /// All of it; `end` is where it has come to.
    pub(super) fn told(&self, end: Time) -> Findings {
        let ends = self.modes.iter().skip(1).map(|(time, _)| *time).chain([end]);
        let spans = self.modes.iter().zip(ends).filter(|((start, _), end)| start < end);
        let spans: Vec<ModeSpan> =
            spans.map(|((start, mode), end)| ModeSpan { mode: *mode, start: *start, end }).collect();
        let modes = spans.iter().map(Finding::of_mode);
        let mut events: Vec<Finding> = modes.chain(self.events.iter().cloned()).collect();
        events.sort_by_key(|event| event.time);
        Findings { bands: spans.iter().map(Band::of).collect(), events, cut: self.cut }
    }

    /// A stretch of a channel begins, goes on or ends. One like the last that begins so soon after its end belongs to it.
    fn stretch(&mut self, id: ChannelId, time: Time, event: Option<Finding>, soon_ns: i64) {
        if let Some((place, goes_on)) = self.stretches.get_mut(&id)
            && let Some(last) = self.events.get_mut(*place)
        {
            let same = event.as_ref().is_some_and(|event| event.text == last.text);
            if same && *goes_on {
                return;
            }
            if same && last.end.is_some_and(|end| time.since(end) < soon_ns) {
                (last.end, *goes_on) = (None, true);
                self.changes += 1;
                return;
            }
            if std::mem::take(goes_on) {
                last.end = Some(time);
                self.changes += 1;
            }
        }
        if let Some(event) = event {
            self.stretches.insert(id, (self.events.len(), true));
            self.happen(event);
        }
    }

    /// There is more than is kept, which is news but once.
    fn leave_out(&mut self) {
        if !std::mem::replace(&mut self.cut, true) {
            self.changes += 1;
        }
    }

    fn settle(&mut self) {
        while let Some((time, mode)) = self.watch.take() {
            if self.modes.last().is_some_and(|(_, last)| *last == mode) {
                continue;
            }
            // A robot that restarted sent its first mode before the last one was known.
            let time = self.modes.last().map_or(time, |(last, _)| time.max(*last));
            if self.modes.len() < MOST {
                self.modes.push((time, mode));
                self.changes += 1;
            } else {
                self.leave_out();
            }
        }
    }
}

/// Events, and modes, that are kept.
const MOST: usize = 5000;
/// Among so many of the last events one is sought that says the same.
const RECENT: usize = 8;
/// A pushback at its threshold comes and goes: breaks that nobody feels do not count.
const FLICKER_NS: i64 = 300_000_000;
