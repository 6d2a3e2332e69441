use logpose::{Log, carla, refloat};

/// Which views suit a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Preset {
    /// A match of an FRC robot.
    Frc,
    /// The log or the link of a driver station.
    Ds,
    /// A CARLA recording.
    Carla,
    /// A ride on a Refloat board.
    Refloat,
    /// Anything else.
    General,
}

impl Preset {
    /// The word for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Frc => "frc",
            Self::Ds => "ds",
            Self::Carla => "carla",
            Self::Refloat => "refloat",
            Self::General => "general",
        }
    }
}

/// The dialect of a log; of one that was converted, that from which it was.
pub(crate) fn dialect(log: &Log) -> &str {
    log.index.fact("origin").unwrap_or(log.dialect().info().name)
}

/// The format for people.
pub(crate) fn format(log: &Log) -> String {
    log.dialect().info().title.to_owned()
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
    } else if !log.frc().modes.is_empty() || log.frc().writer.is_some() {
        Preset::Frc
    } else {
        Preset::General
    }
}

/// What a log tells about itself, for people.
pub(crate) fn facts(log: &Log) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut tell = |name: &str, text: Option<String>| facts.extend(text.map(|text| (name.to_owned(), text)));
    let frc = log.frc();
    tell("match", frc.match_.as_ref().map(|found| found.kind.name().to_owned()));
    tell("writer", frc.writer.clone());
    facts
}
