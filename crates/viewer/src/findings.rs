use std::collections::HashMap;

use logpose::frc::{
    ConsoleLine, Disable, ErrorLine, Facts, Level, LinkFacts, Mode, ModeSpan, console, errors, repeated,
};
use logpose::refloat::{self, Rule, Sign, SignKind, Tone};
use logpose::{Log, carla};
use logpose_core::{Severity, Time};

use crate::api;

/// What happened in a log, by time; on the log's own clock.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Modes, one after the other.
    pub bands: Vec<Band>,
    pub events: Vec<Finding>,
    /// Whether there were more than are kept.
    pub cut: bool,
}

/// A stretch of one mode.
#[derive(Debug)]
pub(crate) struct Band {
    pub start: Time,
    pub end: Time,
    pub kind: &'static str,
    pub text: &'static str,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub time: Time,
    pub end: Option<Time>,
    pub kind: &'static str,
    pub level: Level,
    pub text: String,
    /// Its channel.
    pub channel: Option<String>,
}

impl Finding {
    pub(crate) fn new(time: Time, kind: &'static str, level: Level, text: impl Into<String>) -> Self {
        Self { time, end: None, kind, level, text: text.into(), channel: None }
    }

    /// A mode begins.
    pub(crate) fn of_mode(span: &ModeSpan) -> Self {
        let level = if span.mode == Mode::EStop { Level::Error } else { Level::Info };
        Self::new(span.start, "mode", level, words(span.mode)).until(span.end)
    }

    /// A line that a program printed, if it is more than information.
    pub(crate) fn said(time: Time, channel: &str, text: &str) -> Option<Self> {
        let level = Level::of(text);
        let kind = match level {
            Level::Info => return None,
            Level::Warning => "warning",
            Level::Error => "error",
        };
        let text = text.lines().find(|text| !text.trim().is_empty()).unwrap_or_default().trim();
        Some(Self::new(time, kind, level, shortened(text)).told_by(channel))
    }

    /// What a driver station keeps of an error.
    pub(crate) fn of_error(error: &ErrorLine) -> Self {
        let (kind, level) =
            if error.severity == "warning" { ("warning", Level::Warning) } else { ("error", Level::Error) };
        let details = error.details.lines().next().unwrap_or_default();
        let text = match error.location.lines().next().unwrap_or_default() {
            "" => shortened(details),
            location => shortened(&format!("{details} ({location})")),
        };
        Self::new(error.time, kind, level, text).told_by("/ds/errors")
    }

    /// Events of a live board.
    pub(crate) fn of_sign(time: Time, sign: &Sign) -> Self {
        let kind = match sign.kind {
            SignKind::Pushback => "pushback",
            SignKind::Fault => "fault",
            SignKind::State => "mode",
        };
        Self::new(time, kind, level_of(sign.tone), capital(&sign.text))
    }

    /// Whether it is the same as an earlier one: printed to two channels, or sent to the station and printed.
    pub(crate) fn echoes(&self, earlier: &Self) -> bool {
        if self.kind != earlier.kind {
            return false;
        }
        let apart = self.time.since(earlier.time).abs();
        if self.text == earlier.text {
            return apart < TOGETHER_NS;
        }
        // One of the two was printed: only then they differ in their words alone.
        apart < PRINTED_NS && self.report() == earlier.report()
    }

    /// Its text as the station would have it.
    fn report(&self) -> String {
        repeated(&self.text).unwrap_or_else(|| self.text.clone())
    }

    fn until(self, end: Time) -> Self {
        Self { end: Some(end), ..self }
    }

    pub(crate) fn told_by(self, channel: impl Into<String>) -> Self {
        Self { channel: Some(channel.into()), ..self }
    }
}

impl Findings {
    pub(crate) fn of(log: &Log) -> Self {
        let mut found = Self { bands: log.modes().iter().map(Band::of).collect(), ..Self::default() };
        found.frc(log);
        found.carla(log);
        found.refloat(log);
        found.problems(log);
        found.finish()
    }

    /// Modes, power and the link of an FRC robot, and what its program and the station complained about.
    fn frc(&mut self, log: &Log) {
        let facts = Facts::of(log);
        let disables = facts.link.as_ref().map_or(&[][..], |link| &link.disables);
        for span in &facts.modes {
            let why = disables.iter().find(|disable| disable.at == span.start && !span.mode.is_enabled());
            let text = match why {
                Some(Disable { reason, evidence, .. }) => {
                    format!("{}: {}, {evidence}", words(span.mode), reason.name())
                }
                None => words(span.mode).to_owned(),
            };
            self.events.push(Finding { text, ..Finding::of_mode(span) });
        }
        for (start, end) in &facts.brownouts {
            let text = format!("Brownout, outputs off for {}", lasting(end.since(*start)));
            self.events.push(Finding::new(*start, "brownout", Level::Error, text).until(*end));
        }
        for (start, end) in &facts.low_battery {
            let text = format!("Low battery for {}", lasting(end.since(*start)));
            let event = Finding::new(*start, "low-battery", Level::Warning, text).until(*end);
            self.events.push(match &facts.battery {
                Some(battery) => event.told_by(&*battery.channel),
                None => event,
            });
        }
        facts.link.iter().for_each(|link| self.link(link));
        let said = |line: &ConsoleLine| Finding::said(line.time, &line.channel, &line.text);
        let mut said: Vec<Finding> = console(log).iter().filter_map(said).collect();
        // Who prints to two channels says it once.
        said.dedup_by(|b, a| b.echoes(a));
        let sent: Vec<Finding> = errors(log).iter().map(Finding::of_error).collect();
        let mut reports: HashMap<(&str, String), Vec<Time>> = HashMap::new();
        for error in &sent {
            reports.entry((error.kind, error.report())).or_default().push(error.time);
        }
        // What the program sends to the station it prints as well.
        said.retain(|line| {
            let Some(times) = reports.get(&(line.kind, line.report())) else { return true };
            let near = times.partition_point(|sent| line.time.since(*sent) >= PRINTED_NS);
            times.get(near).is_none_or(|sent| sent.since(line.time) >= PRINTED_NS)
        });
        self.events.extend(said);
        self.events.extend(sent);
    }

    fn link(&mut self, link: &LinkFacts) {
        for (start, end) in &link.drops {
            let text = format!("Robot lost for {}", lasting(end.since(*start)));
            self.events.push(Finding::new(*start, "link", Level::Error, text).until(*end).told_by("/ds/connected"));
        }
        if let Some(gone) = link.gone {
            let event = Finding::new(gone, "link", Level::Error, "Robot lost until the end");
            self.events.push(event.told_by("/ds/connected"));
        }
        if let Some(worst) = link.worst {
            let text =
                format!("{:.0} % of packets lost for {}", worst.loss * 100.0, lasting(worst.end.since(worst.start)));
            let level = if worst.loss >= LOSSY { Level::Warning } else { Level::Info };
            self.events
                .push(Finding::new(worst.start, "link", level, text).until(worst.end).told_by("/ds/packet_loss"));
        }
        for rise in &link.faults {
            let name = rise.channel.rsplit('/').next().unwrap_or_default().replace('_', " ");
            let text = format!("Fault counter {name} increased by {}", rise.by);
            self.events.push(Finding::new(rise.first, "fault", Level::Warning, text).told_by(&*rise.channel));
        }
    }

    /// Collisions, and who did not get on.
    fn carla(&mut self, log: &Log) {
        let Ok(Some(recorded)) = carla::recorded(log) else { return };
        let Ok(frames) = recorded.frames() else { return };
        let party = |party: &carla::Party<'_>| match party.actor {
            Some(actor) => format!("{} {actor}", named(party.blueprint)),
            None => "a static object".to_owned(),
        };
        for contact in carla::collisions(&frames) {
            let (Some(time), Some(until)) = (Time::from_seconds(contact.time), Time::from_seconds(contact.until))
            else {
                continue;
            };
            let text = format!("{} hits {}", party(&contact.actor1), party(&contact.actor2));
            let event = Finding::new(time, "collision", Level::Error, text).told_by("/carla/events/collision");
            self.events.push(if until > time { event.until(until) } else { event });
        }
        for stay in carla::blocked(&frames, carla::Blocking::default()) {
            let times = (Time::from_seconds(stay.from), Time::from_seconds(stay.from + stay.duration));
            let (Some(from), Some(until)) = times else { continue };
            let text =
                format!("{} {} stood still for {}", named(stay.blueprint), stay.actor, lasting(until.since(from)));
            let path = format!("/carla/actors/{}/transform", stay.actor);
            self.events.push(Finding::new(from, "blocked", Level::Warning, text).until(until).told_by(path));
        }
    }

    /// What a board did against its rider's will, and why it stopped.
    fn refloat(&mut self, log: &Log) {
        let length = log.robust_range().map_or(0, |(first, last)| last.since(first));
        let options =
            refloat::Options { seconds: Time::from_nanos(length).seconds() + 1.0, ..refloat::Options::default() };
        if !refloat::is_explainable(log) {
            return;
        }
        let Ok(explanation) = refloat::explain(log, &options) else { return };
        for line in &explanation.lines {
            let kind = match line.rule {
                Rule::Adjustment => "pushback",
                Rule::VoltageSag | Rule::VoltageLow => "low-battery",
                Rule::NoNumber | Rule::Gap => "problem",
                _ if line.tone == Tone::Calm => "mode",
                _ => "fault",
            };
            let event = Finding::new(line.time, kind, level_of(line.tone), capital(&line.text));
            self.events.push(match line.lasted_ns {
                Some(lasted) => event.until(line.time.plus(lasted)),
                None => event,
            });
        }
        let bad = explanation.verdict.cause.is_bad();
        let (kind, level) = if bad { ("fault", Level::Error) } else { ("mode", Level::Info) };
        self.events.push(Finding::new(explanation.stop.time, kind, level, explanation.verdict.summary));
    }

    /// What is wrong with the file, where it is known when.
    fn problems(&mut self, log: &Log) {
        for problem in log.problems.list().iter().filter(|problem| problem.severity > Severity::Note) {
            let Some(time) = problem.at.and_then(|at| log.time_before(at)) else { continue };
            let level = if problem.severity == Severity::Damage { Level::Error } else { Level::Warning };
            self.events.push(Finding::new(time, "problem", level, capital(&problem.message)));
        }
    }

    /// Puts all in order. Where there is too much, the least important ones are left out.
    fn finish(mut self) -> Self {
        self.cut = self.events.len() > MOST;
        if self.cut {
            self.events.sort_by_key(|event| (std::cmp::Reverse(event.level), event.time));
            self.events.truncate(MOST);
        }
        self.events.sort_by_key(|event| event.time);
        self
    }
}

impl Band {
    pub(crate) fn of(span: &ModeSpan) -> Self {
        Self { start: span.start, end: span.end, kind: span.mode.name(), text: words(span.mode) }
    }
}

fn level_of(tone: Tone) -> Level {
    match tone {
        Tone::Calm => Level::Info,
        Tone::Notable => Level::Warning,
        Tone::Bad => Level::Error,
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

/// A duration in words, such as `820 ms` or `2.4 s`.
pub(crate) fn lasting(ns: i64) -> String {
    let seconds = Time::from_nanos(ns).seconds();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// The last words of a blueprint such as `vehicle.tesla.model3`.
fn named(blueprint: &[u8]) -> String {
    let text = String::from_utf8_lossy(blueprint);
    let short = text.split_once('.').map_or(&*text, |(_, rest)| rest);
    if short.is_empty() { "actor".to_owned() } else { shortened(short) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A text that is not too long for a list.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The max number of events.
const MOST: usize = 5000;
/// Characters of an event's text.
const LONGEST: usize = 300;
/// The same text within this time is one event.
const TOGETHER_NS: i64 = 50_000_000;
/// What was sent to the station and what was printed of it are at most so far apart; in real logs it is 60 ms.
const PRINTED_NS: i64 = 1_000_000_000;
/// From this share on lost packets are felt.
const LOSSY: f64 = 0.05;

impl From<Level> for api::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use logpose::{Browse, ClockMap, Format, Log, OpenOptions, Quiet};
    use logpose_core::{Channel, EncodeOptions, Sample, Sink, Time, Value};

    use crate::cancel::CancelToken;
    use crate::{LiveLog, LiveOptions, Session, Viewer, api};

    const CHANNELS: [&str; 2] = ["/ds/errors", "/ds/console"];
    const LOST: &str = r#"{"severity":"warning","code":1,"details":"piece lost\n","location":"Intake.java:88","stack":"at Intake.java:88\nat Robot.java:12\n"}"#;
    const ALONE: &str = r#"{"severity":"error","code":2,"details":"no camera","location":"","stack":""}"#;
    /// What was sent to the station, and what was printed: both are there twice, once the line comes first.
    const SAID: [(i64, u32, &str); 9] = [
        (1000, 0, LOST),
        (1055, 1, "Warning at Intake.java:88: piece lost"),
        (1055, 1, "\tat Intake.java:88"),
        (1056, 1, "at Robot.java:12"),
        (2000, 1, "Auto: three pieces"),
        (5000, 1, "Warning at Intake.java:88: piece lost"),
        (5002, 0, LOST),
        (7000, 0, ALONE),
        // Nothing was sent then.
        (9000, 1, "Warning at Intake.java:88: piece lost"),
    ];

    fn samples() -> impl Iterator<Item = Sample<'static>> {
        let sample = |(ms, channel, text): (i64, u32, &'static str)| Sample {
            channel,
            time: Time::from_millis(ms),
            value: Value::String(text.as_bytes()),
        };
        SAID.into_iter().map(sample)
    }

    fn finished() -> Viewer {
        let mut encoder = Format::from_name("wpilog").unwrap().encoder(&EncodeOptions::default()).unwrap();
        let mut bytes = Vec::new();
        encoder.begin(&mut bytes);
        for (id, name) in (0..).zip(CHANNELS) {
            encoder.channel(id, &Channel::new(name, "string"), &mut bytes).unwrap();
        }
        samples().for_each(|sample| encoder.samples(&[sample], &mut bytes).unwrap());
        encoder.finish(&mut bytes);
        let log = Log::from_bytes("made.wpilog", bytes, &OpenOptions::default()).unwrap();
        let mut session = Session::new();
        session.add(Browse::new(Arc::new(log), &Quiet).unwrap(), ClockMap::default());
        Viewer::new(session)
    }

    fn live() -> Viewer {
        let options = LiveOptions {
            name: "made".to_owned(),
            address: "made".to_owned(),
            dialect: "wpilog".to_owned(),
            format: "made".to_owned(),
            folder: std::env::temp_dir(),
            limit: 1 << 30,
            keep_free: 0,
        };
        let log = LiveLog::new(&options).unwrap();
        let mut writer = log.writer();
        let mut same = |time: Time| time;
        let mut batch = writer.batch(&mut same, false);
        for (id, name) in (0..).zip(CHANNELS) {
            batch.channel(id, &Channel::new(name, "string")).unwrap();
        }
        samples().for_each(|sample| batch.samples(&[sample]).unwrap());
        let mut session = Session::new();
        session.add_live(&log, ClockMap::default());
        Viewer::new(session)
    }

    #[test]
    fn what_was_sent_to_the_station_and_printed_is_one_event() {
        for viewer in [finished(), live()] {
            let events = viewer.events(0).unwrap().events;
            let told: Vec<_> = events.iter().map(|event| (event.start, event.kind)).collect();
            let times: Vec<f64> = told.iter().map(|(time, _)| time.round()).collect();
            assert_eq!(times, [1.0, 5.0, 7.0, 9.0], "{told:?}");
            let kinds: Vec<_> = told.iter().map(|(_, kind)| *kind).collect();
            assert_eq!(kinds, ["warning", "warning", "error", "warning"]);
        }
    }

    #[test]
    fn the_console_has_a_report_once_with_its_stack() {
        for viewer in [finished(), live()] {
            let query: api::ConsoleQuery = serde_json::from_str(r#"{"limit": 100}"#).unwrap();
            let rows = viewer.console(&query, &CancelToken::default()).unwrap().rows;
            let texts: Vec<String> = rows.into_iter().map(|row| row.text).collect();
            let lost = "piece lost (Intake.java:88)\nat Intake.java:88\nat Robot.java:12";
            let expected = [lost, "Auto: three pieces", lost, "no camera", "Warning at Intake.java:88: piece lost"];
            assert_eq!(texts, expected);
        }
    }
}
