use std::io::Write as _;
use std::path::Path;

use logpose_core::{EncodeOptions, Problems, SinkError};

use crate::convert::{Encoding, encoder, sink_error};
use crate::dialects::Reader;
use crate::{Error, Feed, Finding, Log, OpenOptions, Order, Output, Progress, Report};

/// What could be saved, and what not.
#[derive(Debug)]
pub struct Recovered {
    /// What was written.
    pub report: Report,
    /// The map of the loss: where, how much, why.
    pub findings: Vec<Finding>,
    /// Bytes that hold no readable record.
    pub lost_bytes: u64,
    /// Records of all kinds that were read.
    pub records: u64,
    /// Samples that were saved.
    pub samples: u64,
}

/// Writes what is readable of a damaged log as a whole one of the same dialect, in the order of the file. What cannot be
/// written, such as a network capture, and what is of another field, such as a table, becomes a WPILOG.
pub fn recover(
    path: &Path,
    to: Output<'_>,
    options: &OpenOptions,
    progress: &dyn Progress,
) -> Result<Recovered, Error> {
    let options = OpenOptions { salvage: true, ..options.clone() };
    let log = Log::open_with(path, &options, progress)?;
    let mut findings: Vec<Finding> = log.problems.list().iter().cloned().map(Finding::from).collect();
    findings.sort_by_key(|finding| finding.at);
    let lost_bytes = log.problems.lost_bytes();
    let records = log.index.records;
    let revision = log
        .index
        .fact("revision")
        .and_then(|revision| revision.trim_start_matches('R').parse().ok())
        .or(options.revision);
    let extra_header = log.index.fact("extra_header").map(str::to_owned);
    let encode = EncodeOptions { revision, extra_header, long_values: true };
    let logs = [log];
    let feed = Feed::new(&logs, Vec::new());
    let [log] = &logs;
    let target = match &to {
        Output::File { path, .. } => Some(*path),
        Output::Stream(_) => None,
    };
    let mut out = to.open()?;
    progress.begin("recovering", log.bytes().len() as u64);
    let (written, samples, problems) = match log.dialect().mend(log.bytes()) {
        Some(mut mend) => {
            let mut part = Vec::new();
            let mut more = true;
            let mut written = Ok(());
            while more && written.is_ok() {
                part.clear();
                more = mend(&mut part);
                written = out.write_all(&part).map_err(SinkError::Io);
            }
            (written, log.index.samples(), Problems::default())
        }
        None => {
            let has_own = Reader::named(log.dialect().info().name).is_some_and(|reader| !reader.is_bridge());
            let has_own = has_own && log.dialect().info().files.write;
            let encoder = encoder(if has_own { log.dialect() } else { &logpose_wpilog::Wpilog }, &encode)?;
            let order = if encoder.needs_time_order() { Order::Time } else { Order::File };
            let mut sink = Encoding::new(encoder, &mut out);
            let written = feed.run(order, &mut sink).and_then(|()| sink.finish());
            (written, sink.samples, sink.problems)
        }
    };
    progress.end();
    written.map_err(|error| sink_error(error, target))?;
    let whole = out.finish().map_err(|error| sink_error(SinkError::Io(error), target))?;
    let report = Report { samples, channels: feed.channels().len(), bytes: whole.bytes, problems, verified: false };
    whole.keep()?;
    Ok(Recovered { report, findings, lost_bytes, records, samples })
}
