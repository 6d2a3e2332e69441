use std::collections::HashMap;

use logpose::frc::{LOW_VOLTS, Level, MatchWatch, Mode, ModeSpan, ModeWatch, Role, battery_rank, is_brownout};
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Sample, Time, Type, Value};
use serde_json::Value as Json;

use crate::findings::{Band, Finding, Findings, shortened};

/// What happened, told as it happens: modes, brownouts, errors, and how it went with the link.
#[derive(Default)]
pub(super) struct Story {
    watch: ModeWatch,
    /// When each mode began.
    modes: Vec<(Time, Mode)>,
    matches: MatchWatch,
    events: Vec<Finding>,
    /// Whether there were more than are kept.
    cut: bool,
    /// The events of stretches that have not ended, by channel.
    open: HashMap<ChannelId, usize>,
    /// The channel that most likely has the voltage of the battery, and how likely; lower is likelier.
    battery: Option<(usize, ChannelId)>,
}

/// What a channel tells besides its values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Watched {
    Brownout,
    Battery,
    Errors,
    Match,
}

impl Story {
    /// What a channel has to do with modes.
    pub(super) fn role(&mut self, channel: &Channel) -> Option<Role> {
        self.watch.channel(&channel.name)
    }

    /// What else it tells.
    pub(super) fn watch(&mut self, id: ChannelId, channel: &Channel) -> Option<Watched> {
        if let Some(rank) = battery_rank(&channel.name)
            && matches!(channel.ty(), Type::Double | Type::Float)
        {
            if self.battery.is_none_or(|(known, _)| rank < known) {
                self.battery = Some((rank, id));
            }
            return Some(Watched::Battery);
        }
        match channel.ty() {
            Type::Boolean if is_brownout(&channel.name) => Some(Watched::Brownout),
            Type::String if channel.name.ends_with("/ds/errors") => Some(Watched::Errors),
            _ => {
                let before = self.matches.watches();
                self.matches.channel(id, channel);
                (self.matches.watches() > before).then_some(Watched::Match)
            }
        }
    }

    /// Takes in a sample of a channel that tells modes.
    pub(super) fn mode(&mut self, role: Role, time: Time, value: &Value<'_>, registry: &Registry) {
        self.watch.sample(role, time, value, registry);
        self.settle();
    }

    /// Takes in a sample of a channel that tells something else.
    pub(super) fn heed(&mut self, watched: Watched, id: ChannelId, time: Time, value: &Value<'_>) {
        match (watched, value) {
            (Watched::Brownout, Value::Boolean(on)) => {
                self.stretch(id, *on, time, "brownout", Level::Error, "Brownout")
            }
            (Watched::Battery, Value::Double(_) | Value::Float(_)) => {
                let volts = match *value {
                    Value::Double(volts) => volts,
                    Value::Float(volts) => volts.into(),
                    _ => return,
                };
                // What has not measured yet says 0.
                if self.battery.is_some_and(|(_, battery)| battery == id) && (1.0..20.0).contains(&volts) {
                    let text = "Battery below 6.8 V";
                    self.stretch(id, volts < LOW_VOLTS, time, "low-battery", Level::Warning, text);
                }
            }
            (Watched::Errors, Value::String(text)) => {
                let Ok(error) = serde_json::from_slice::<Json>(text) else { return };
                let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default();
                let (kind, level) =
                    if text("severity") == "warning" { ("warning", Level::Warning) } else { ("error", Level::Error) };
                let details = shortened(text("details").lines().next().unwrap_or_default());
                self.happen(Finding::new(time, kind, level, details).told_by("/ds/errors"));
            }
            (Watched::Match, _) => self.matches.sample(&Sample { channel: id, time, value: *value }),
            _ => {}
        }
    }

    /// It is that late: modes that were told together are known.
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
        let text = "The clock of the robot started anew: it was switched off and on";
        self.happen(Finding::new(time, "link", Level::Warning, text));
    }

    /// Something happened.
    pub(super) fn happen(&mut self, event: Finding) {
        if self.events.len() < MOST {
            self.events.push(event);
        } else {
            self.cut = true;
        }
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

    /// A stretch begins or ends.
    fn stretch(&mut self, id: ChannelId, on: bool, time: Time, kind: &'static str, level: Level, text: &'static str) {
        match self.open.get(&id) {
            None if on => {
                self.open.insert(id, self.events.len());
                self.happen(Finding::new(time, kind, level, text));
            }
            Some(place) if !on => {
                if let Some(event) = self.events.get_mut(*place) {
                    event.end = Some(time);
                }
                self.open.remove(&id);
            }
            _ => {}
        }
    }

    fn settle(&mut self) {
        while let Some((time, mode)) = self.watch.take() {
            if self.modes.last().is_some_and(|(_, last)| *last == mode) {
                continue;
            }
            // A robot that began anew told its first mode before the last one was known.
            let time = self.modes.last().map_or(time, |(last, _)| time.max(*last));
            if self.modes.len() < MOST {
                self.modes.push((time, mode));
            } else {
                self.cut = true;
            }
        }
    }
}

/// Events, and modes, that are kept.
const MOST: usize = 5000;
