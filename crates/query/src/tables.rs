//! The tables that questions can be about, over logs and over lakes alike.

/// What a table holds, in one sentence.
#[cfg(feature = "lake")]
pub(crate) fn comment(name: &str) -> &'static str {
    if name.starts_with(crate::structs::PREFIX) {
        return "the samples of all channels of a struct type, with a column for each field";
    }
    let known = FIXED.iter().find(|(fixed, ..)| *fixed == name);
    known.map_or("the samples of a family of channels, with a column for each field", |(_, comment)| comment)
}

/// Whether a table has the same columns for every log.
#[cfg(feature = "lake")]
pub(crate) fn is_fixed(name: &str) -> bool {
    FIXED.iter().any(|(fixed, ..)| *fixed == name)
}

pub(crate) const LOGS: &str = "logs";
pub(crate) const CHANNELS: &str = "channels";
pub(crate) const SAMPLES: &str = "samples";

/// The tables of which every log has the same columns.
#[cfg(feature = "lake")]
const FIXED: [(&str, &str); 14] = [
    (LOGS, "a row for each log"),
    (CHANNELS, "a row for each channel of each log, with the range and the sum of its values"),
    (SAMPLES, "a row for each sample, sorted by channel and time"),
    ("problems", "what was lost or doubtful while a log was read"),
    ("modes", "the driver station's modes, one after the other"),
    ("matches", "the match that a log is of"),
    ("console", "what programs printed"),
    ("errors", "errors and warnings of driver stations"),
    ("frames", "the frames of CARLA recordings"),
    ("actors", "the actors of CARLA recordings"),
    ("collisions", "contacts of actors, each from its first frame to its last"),
    ("blocked", "actors that stood still for a second or more"),
    ("carla_motion", "where every actor was and how fast"),
    ("ttc", "actors that approach each other"),
];
