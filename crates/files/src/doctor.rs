use std::path::Path;

use logpose_core::{Problem, Severity};

use crate::{Astray, Error, ErrorKind, Log, OpenOptions, Progress};

/// One defect of a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// How much it costs.
    pub severity: Severity,
    /// A word for scripts.
    pub code: &'static str,
    /// The first byte concerned, in the unwrapped content.
    pub at: Option<u64>,
    /// How many bytes are concerned; 0 if that cannot be said.
    pub length: u64,
    /// A sentence for people.
    pub message: String,
}

impl From<Problem> for Finding {
    fn from(problem: Problem) -> Self {
        let Problem { severity, code, at, length, message } = problem;
        Self { severity, code, at, length, message }
    }
}

/// What a checkup found.
#[derive(Debug)]
pub struct Checkup {
    /// The defects, in the order of their bytes; those of the log as a whole first.
    pub findings: Vec<Finding>,
    /// How many more were counted and not kept.
    pub dropped: u64,
    /// Whether nothing was lost or damaged.
    pub ok: bool,
    /// The log, if it could be read at all.
    pub log: Option<Log>,
}

/// Looks for every defect of a log, also behind the first damage.
///
/// An error means that the file could not be looked at: not found, empty, of no known format.
pub fn doctor(path: &Path, options: &OpenOptions, progress: &dyn Progress) -> Result<Checkup, Error> {
    let options = OpenOptions { salvage: true, ..options.clone() };
    let log = match Log::open_with(path, &options, progress) {
        Ok(log) => log,
        Err(Error { kind: ErrorKind::Decode(error), .. }) => {
            let finding = Finding {
                severity: Severity::Damage,
                code: error.code,
                at: Some(error.at),
                length: 0,
                message: error.message.clone(),
            };
            return Ok(Checkup { findings: vec![finding], dropped: 0, ok: false, log: None });
        }
        Err(error) => return Err(error),
    };
    let mut findings: Vec<Finding> = log.problems.list().iter().cloned().map(Finding::from).collect();
    findings.extend(schemas(&log));
    findings.extend(clocks(&log));
    findings.extend(names(&log));
    findings.sort_by_key(|finding| finding.at);
    let ok = log.problems.worst() < Some(Severity::Damage) && findings.iter().all(|f| f.severity < Severity::Damage);
    Ok(Checkup { findings, dropped: log.problems.dropped(), ok, log: Some(log) })
}

/// What is wrong with schemas, and with the last value of each channel that needs one.
fn schemas(log: &Log) -> Vec<Finding> {
    let schemas = log.schemas();
    let index = log.placed().unwrap_or(&log.index);
    let mut unreadable = Vec::new();
    for (id, found) in (0..).zip(&index.channels) {
        if found.samples == 0 || !logpose_schema::Registry::decodes(&found.channel.type_name) {
            continue;
        }
        let Some(at) = found.positions.iter().last() else { continue };
        let row = logpose_core::Row { time: found.last, at, channel: id };
        let read = log.dialect().samples(log.bytes(), index, &[row], &mut |samples| {
            samples.iter().for_each(|sample| schemas.write_json(&found.channel, &sample.value, &mut Vec::new()));
            Ok(())
        });
        if let Err(error) = read {
            unreadable.push(general(Severity::Damage, "unreadable", error.to_string()));
        }
    }
    let found = schemas.problems().into_iter().map(Finding::from);
    found.chain(unreadable).collect()
}

/// Times that are not what a reader expects.
fn clocks(log: &Log) -> Vec<Finding> {
    let mut findings = Vec::new();
    let unsorted: Vec<_> = log.index.channels.iter().filter(|c| !c.sorted).map(|c| &*c.channel.name).collect();
    if let Some(first) = unsorted.first() {
        let message = format!(
            "{} of {} channels have timestamps that go backwards, such as {first:?}; nothing is lost",
            unsorted.len(),
            log.index.channels.len()
        );
        findings.push(general(Severity::Note, "time-steps-back", message));
    }
    let range = log.time_range();
    for stragglers in range.iter().flat_map(|range| range.stragglers()) {
        let (severity, code) = match stragglers.reason {
            Astray::ClockNotSet => (Severity::Note, "negative-times"),
            Astray::OtherClock => (Severity::Warning, "mixed-clocks"),
            Astray::Unknown => (Severity::Warning, "stray-times"),
        };
        let bulk = range.map(|range| format!("; all others are between {} s and {} s", range.first, range.last));
        findings.push(general(severity, code, format!("{stragglers}{}", bulk.unwrap_or_default())));
    }
    if let Some((first, _)) = log.robust_range().filter(|(first, _)| first.nanos() < 0) {
        let message =
            format!("timestamps start at {first} s, before zero: values set before the robot program started");
        findings.push(general(Severity::Note, "negative-times", message));
    }
    findings
}

/// Names that two types share.
fn names(log: &Log) -> Vec<Finding> {
    let mut names: Vec<_> = log.index.channels.iter().map(|c| (&*c.channel.name, &*c.channel.type_name)).collect();
    names.sort_unstable();
    let pairs = names.windows(2).filter_map(|pair| match pair {
        [(a, first), (b, second)] if a == b => Some(general(
            Severity::Note,
            "type-changes",
            format!("{a:?} has the types {first} and {second}; treated as two channels"),
        )),
        _ => None,
    });
    pairs.take(100).collect()
}

fn general(severity: Severity, code: &'static str, message: String) -> Finding {
    Finding { severity, code, at: None, length: 0, message }
}
