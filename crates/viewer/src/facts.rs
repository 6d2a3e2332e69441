use logpose::carla::Summary;
use logpose::frc::{Battery, Facts as FrcFacts, Joystick, MatchKind};
use logpose::{Log, carla, refloat};

use crate::api::Preset;
use crate::findings::lasting;
use crate::store::Fact;

/// The dialect of a log; of one that was converted, that from which it was.
pub(crate) fn dialect(log: &Log) -> &str {
    log.index.fact("origin").unwrap_or(log.dialect().info().name)
}

/// The format for people.
pub(crate) fn format(log: &Log) -> String {
    let title = log.dialect().info().title;
    log.version().map_or_else(|| title.to_owned(), |version| format!("{title} {version}"))
}

/// Which views suit a log, by its channels.
pub(crate) fn preset(log: &Log) -> Preset {
    let any = |prefix: &str| log.index.channels.iter().any(|found| found.channel.name.starts_with(prefix));
    if carla::is_recording(log) {
        Preset::Carla
    } else if any("/refloat/") || refloat::is_explainable(log) {
        Preset::Refloat
    } else if any("/ds/") {
        Preset::Ds
    } else if !log.modes().is_empty() || FrcFacts::of(log).writer.is_some() {
        Preset::Frc
    } else {
        Preset::General
    }
}

/// The facts of a log, for people.
pub(crate) fn facts(log: &Log) -> Vec<Fact> {
    let mut facts = FactList(Vec::new());
    match_and_power(log, &mut facts);
    recording(log, &mut facts);
    board(log, &mut facts);
    facts.add("Wrapped in", log.wrapper().map(|wrapper| wrapper.name().to_owned()));
    facts.add("With", log.companion().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())));
    facts.0
}

struct FactList(Vec<Fact>);

impl FactList {
    fn add(&mut self, name: &str, text: Option<String>) {
        self.0.extend(text.filter(|text| !text.is_empty()).map(|text| Fact::new(name, text)));
    }
}

fn match_and_power(log: &Log, facts: &mut FactList) {
    let frc = FrcFacts::of(log);
    if let Some(played) = &frc.match_ {
        let kind = (played.kind != MatchKind::Unknown).then(|| played.kind.name());
        facts.add(
            "Match",
            match (kind, played.number) {
                (Some(kind), Some(number)) => Some(format!("{kind} {number}")),
                (None, Some(number)) => Some(format!("match {number}")),
                (kind, None) => kind.map(str::to_owned),
            },
        );
        facts.add("Event", played.event.clone());
        facts.add("Station", played.station.clone());
        facts.add("Game data", played.game_data.clone());
    }
    facts.add("Writer", frc.writer.clone());
    let enabled: i64 =
        frc.modes.iter().filter(|span| span.mode.is_enabled()).map(|span| span.end.since(span.start)).sum();
    facts.add("Enabled", (!frc.modes.is_empty()).then(|| lasting(enabled)));
    let lowest = |battery: &Battery| Fact {
        at: Some(battery.at),
        ..Fact::new("Battery", format!("min {:.2} V", battery.lowest))
    };
    facts.0.extend(frc.battery.as_ref().map(lowest));
    facts.add("Brownouts", (!frc.brownouts.is_empty()).then(|| frc.brownouts.len().to_string()));
    let stick = |stick: &Joystick| match &stick.name {
        Some(name) => format!("{}: {name}", stick.port),
        None => stick.port.to_string(),
    };
    facts.add("Joysticks", Some(frc.joysticks.iter().map(stick).collect::<Vec<_>>().join(", ")));
    if let Some(link) = &frc.link {
        facts.add(
            "Trip time",
            link.trip_time.map(|trip| format!("p50 {:.1} ms, p95 {:.1} ms", trip.p50 * 1e3, trip.p95 * 1e3)),
        );
        facts.add(
            "Packet loss",
            link.loss.map(|loss| format!("p50 {:.1} %, max {:.0} %", loss.p50 * 100.0, loss.max * 100.0)),
        );
        facts.add(
            "Errors",
            (link.errors + link.warnings > 0)
                .then(|| format!("{}, {}", counted(link.errors, "error"), counted(link.warnings, "warning"))),
        );
    }
}

fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What a CARLA recording says.
fn recording(log: &Log, facts: &mut FactList) {
    // The page waits for this, and it is a walk over the file.
    if log.bytes().len() > LARGE {
        return facts.add("Map", log.index.fact("map").map(str::to_owned));
    }
    let Ok(Some(recorded)) = carla::recorded(log) else { return };
    let Ok(frames) = recorded.frames() else { return };
    let summary = Summary::of(&frames);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    facts.add("Map", Some(text(summary.map)));
    facts.add("CARLA", Some(summary.guess.version.to_string()));
    let rate = summary.mean_fps.map_or(String::new(), |fps| format!(", {fps:.1} frames/s"));
    facts.add("Frames", Some(format!("{}{rate}", summary.frames)));
    let class = |(class, count): (&carla::ActorType, &usize)| counted(*count as u64, &class.name().replace('_', " "));
    facts.add("Actors", Some(summary.actors.iter().map(class).collect::<Vec<_>>().join(", ")));
    let hero = |hero: &carla::Hero<'_>| format!("{} ({})", hero.actor, text(hero.blueprint));
    facts.add("Hero", Some(summary.heroes.iter().map(hero).collect::<Vec<_>>().join(", ")));
    facts.add("Collisions", Some(summary.collisions.to_string()));
}

/// What a board's recording says.
fn board(log: &Log, facts: &mut FactList) {
    let fact = |key: &str| log.index.fact(key).map(str::to_owned);
    for (name, key) in [
        ("Board", "board"),
        ("Commit", "commit"),
        ("Firmware", "firmware"),
        ("Hardware", "hardware"),
        ("Fetched", "captured_at"),
        ("From", "address"),
        ("Note", "note"),
    ] {
        facts.add(name, fact(key));
    }
    if let (Some(recorded), Some(held)) = (fact("recorded_samples"), fact("held_samples")) {
        facts.add("Recorded", Some(if recorded == held { held } else { format!("{held} of {recorded}") }));
    }
    if refloat::is_explainable(log)
        && let Ok(explanation) = refloat::explain(log, &refloat::Options::default())
    {
        let verdict = &explanation.verdict;
        facts.add("Stopped", Some(format!("{} ({})", verdict.summary, verdict.certainty.name())));
    }
}

/// Larger recordings are not walked through for their facts.
const LARGE: usize = 512 << 20;
