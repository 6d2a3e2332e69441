use std::collections::HashMap;

use logpose::frc::{LOW_VOLTS, MatchWatch, Mode, ModeWatch, Role, battery_rank, is_brownout};
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, Sample, Time, Type, Value};
use serde_json::Value as Json;

use crate::api;
use crate::clock::Clock;

/// What happened, told as it happens: modes, brownouts, errors, and how it went with the link.
#[derive(Default)]
pub(super) struct Story {
    watch: ModeWatch,
    /// When each mode began.
    modes: Vec<(Time, Mode)>,
    matches: MatchWatch,
    events: Vec<Happening>,
    /// Whether there were more than are kept.
    cut: bool,
    /// The events of stretches that have not ended, by channel.
    open: HashMap<ChannelId, usize>,
    /// The channel that most likely has the voltage of the battery, and how likely; lower is likelier.
    battery: Option<(usize, ChannelId)>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) time: Time,
    pub(super) end: Option<Time>,
    pub(super) kind: &'static str,
    pub(super) level: &'static str,
    pub(super) text: String,
    pub(super) path: Option<String>,
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
            (Watched::Brownout, Value::Boolean(on)) => self.stretch(id, *on, time, "brownout", "error", "Brownout"),
            (Watched::Battery, Value::Double(_) | Value::Float(_)) => {
                let volts = match *value {
                    Value::Double(volts) => volts,
                    Value::Float(volts) => volts.into(),
                    _ => return,
                };
                // What has not measured yet says 0.
                if self.battery.is_some_and(|(_, battery)| battery == id) && (1.0..20.0).contains(&volts) {
                    let text = "Battery below 6.8 V";
                    self.stretch(id, volts < LOW_VOLTS, time, "low-battery", "warning", text);
                }
            }
            (Watched::Errors, Value::String(text)) => {
                let Ok(error) = serde_json::from_slice::<Json>(text) else { return };
                let text = |key: &str| error.get(key).and_then(Json::as_str).unwrap_or_default();
                let is_error = text("severity") == "error";
                self.happen(Happening {
                    time,
                    end: None,
                    kind: if is_error { "error" } else { "warning" },
                    level: if is_error { "error" } else { "warning" },
                    text: text("details").chars().take(LONGEST).collect(),
                    path: Some("/ds/errors".to_owned()),
                });
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
        let text = "The clock of the robot started anew: it was switched off and on".to_owned();
        self.happen(Happening { time, end: None, kind: "link", level: "warning", text, path: None });
    }

    /// Something happened.
    pub(super) fn happen(&mut self, event: Happening) {
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

    /// All of it, in the words of the API; `end` is where it has come to.
    pub(super) fn told(&self, clock: &Clock, end: Time) -> api::Events {
        let ends = self.modes.iter().skip(1).map(|(time, _)| *time).chain([end]);
        let spans = self.modes.iter().zip(ends).filter(|((start, _), end)| start < end);
        let bands = spans.map(|((start, mode), end)| api::Band {
            start: clock.seconds(*start),
            end: clock.seconds(end),
            kind: mode.name().to_owned(),
            text: words(*mode).to_owned(),
        });
        let bands: Vec<api::Band> = bands.collect();
        let modes = bands.iter().map(|band| api::Event {
            t: band.start,
            end: Some(band.end),
            kind: "mode",
            level: "info",
            text: band.text.clone(),
            path: None,
        });
        let others = self.events.iter().map(|event| api::Event {
            t: clock.seconds(event.time),
            end: event.end.map(|end| clock.seconds(end)),
            kind: event.kind,
            level: event.level,
            text: event.text.clone(),
            path: event.path.clone(),
        });
        let mut events: Vec<api::Event> = modes.chain(others).collect();
        events.sort_by(|a, b| a.t.total_cmp(&b.t));
        api::Events { bands, events, cut: self.cut }
    }

    /// A stretch begins or ends.
    fn stretch(
        &mut self,
        id: ChannelId,
        on: bool,
        time: Time,
        kind: &'static str,
        level: &'static str,
        text: &'static str,
    ) {
        match self.open.get(&id) {
            None if on => {
                self.open.insert(id, self.events.len());
                self.happen(Happening { time, end: None, kind, level, text: text.to_owned(), path: None });
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
        while let Some((time, mode)) = self.watch.next() {
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

fn words(mode: Mode) -> &'static str {
    match mode {
        Mode::Disabled => "Disabled",
        Mode::Auto => "Autonomous",
        Mode::Teleop => "Teleoperated",
        Mode::Test => "Test",
        Mode::EStop => "Emergency stop",
    }
}

/// Events, and modes, that are kept.
const MOST: usize = 10_000;
/// Characters of one.
const LONGEST: usize = 500;
