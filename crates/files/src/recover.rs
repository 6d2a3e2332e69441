use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use logpose_core::{EncodeOptions, Severity, SinkError};

use crate::convert::{Job, sink_error};
use crate::output::{FinishedOutput, Opened};
use crate::source::{Bytes, Source};
use crate::{
    Cache, Checkup, ConvertOptions, Error, Feed, Finding, Format, Log, OpenOptions, Output, Progress, Quiet, Report,
    Wrapper, doctor,
};

/// What could be saved, and what not.
#[derive(Debug)]
pub struct Recovered {
    /// What was written, as reading it back found it.
    pub report: Report,
    /// The map of the loss: where, how much, why.
    pub findings: Vec<Finding>,
    /// Bytes that hold no readable record.
    pub lost_bytes: u64,
    /// Records of all kinds that were read.
    pub records: u64,
    /// Samples that were saved.
    pub samples: u64,
    /// What the names of files in the copy's format end with, without a dot.
    pub extension: &'static str,
}

/// Writes what is readable of a damaged log as a whole one, in the order of the file.
///
/// The name of the output selects the format. Without one it is the format of the input; what logpose only reads, such
/// as a network capture or the Driver Station's own log, and tables of text become a WPILOG.
///
/// What was written is opened and checked again before it gets its name, and the counts reported are those found then.
/// A copy of the records as they are is preferred; if it is still damaged or lacks samples, all samples are written anew.
pub fn recover(
    path: &Path,
    to: Output<'_>,
    options: &OpenOptions,
    progress: &dyn Progress,
) -> Result<Recovered, Error> {
    let options = OpenOptions { salvage: true, ..options.clone() };
    let (log, file) = open(path, &options, progress)?;
    let mut findings: Vec<Finding> = log.problems.list().iter().cloned().map(Finding::from).collect();
    let lost_bytes = log.problems.lost_bytes();
    let records = log.index.records;
    let format = match &to {
        Output::File { path, .. } => named_format(path, &options)?.unwrap_or_else(|| own_format(&log)),
        Output::Stream(_) => own_format(&log),
    };
    let scratch;
    let (target, stream) = match to {
        Output::File { path, force, wrapper } => (Target { path: path.to_owned(), force, wrapper }, None),
        // What cannot be read back is proven before the first byte of it leaves.
        Output::Stream(stream) => {
            scratch = tempfile::tempdir().map_err(|error| Error::writing(&std::env::temp_dir(), error))?;
            (Target { path: scratch.path().join("recovered"), force: true, wrapper: None }, Some(stream))
        }
    };
    let logs = [log];
    let work =
        Work { feed: Feed::new(&logs, Vec::new()), format, file, encode: encode_options(&logs, &format, &options) };
    progress.begin("recovering", work.log().bytes().len() as u64);
    let written = work.run(&target, &options, progress);
    progress.end();
    let Written { report, whole, finding } = written?;
    findings.extend(finding);
    findings.sort_by_key(|finding| finding.at);
    whole.keep()?;
    if let Some(stream) = stream {
        let copied = File::open(&target.path).and_then(|mut file| io::copy(&mut file, stream));
        copied.map_err(|error| sink_error(SinkError::Io(error), None))?;
    }
    let samples = report.samples;
    Ok(Recovered { report, findings, lost_bytes, records, samples, extension: format.extension() })
}

/// The log, and the bytes of its file where those are not what it is read from.
fn open(path: &Path, options: &OpenOptions, progress: &dyn Progress) -> Result<(Log, Option<Arc<Bytes>>), Error> {
    if path.is_dir() {
        return Ok((Log::open_with(path, options, progress)?, None));
    }
    let source = Source::open(path, options.unpacked, progress)?;
    let file = Arc::clone(&source.bytes);
    let log = Log::new(path, source, options, progress, true)?;
    let is_bridge = log.format().unpacker().is_some();
    Ok((log, is_bridge.then_some(file)))
}

/// The format that the name of an output asks for.
fn named_format(path: &Path, options: &OpenOptions) -> Result<Option<Format>, Error> {
    match options.formats.for_path(path) {
        Some((format, _)) if !format.is_log() => {
            let extension = Format::extension_of(path).unwrap_or_default();
            let help = "use the extension of a log that logpose writes, such as .wpilog; \
                        `logpose convert` makes tables of it";
            Err(Error::usage(format!("recover cannot write .{extension} files")).in_file(path).with_help(help))
        }
        found => Ok(found.map(|(format, _)| format)),
    }
}

/// The format of a log, or WPILOG where that is not written.
fn own_format(log: &Log) -> Format {
    Some(log.format()).filter(Format::is_log).unwrap_or(Format::of(&logpose_wpilog::Wpilog))
}

fn encode_options(logs: &[Log; 1], format: &Format, options: &OpenOptions) -> EncodeOptions {
    let [log] = logs;
    // Another dialect has other revisions.
    let is_own = log.format().name() == format.name();
    let found = log.index.fact("revision").and_then(|revision| revision.trim_start_matches('R').parse().ok());
    let revision = found.or(options.revision).filter(|_| is_own);
    EncodeOptions { revision, extra_header: log.index.fact("extra_header").map(str::to_owned), long_values: true }
}

/// Where the copy goes, as often as it takes.
struct Target {
    path: PathBuf,
    force: bool,
    wrapper: Option<Wrapper>,
}

impl Target {
    fn open(&self) -> Result<Opened<'_>, Error> {
        Output::File { path: &self.path, force: self.force, wrapper: self.wrapper }.open()
    }
}

/// A copy that was written and checked.
struct Written {
    report: Report,
    whole: FinishedOutput,
    /// What is still wrong with it.
    finding: Option<Finding>,
}

impl Written {
    fn is_damaged(&self) -> bool {
        self.finding.as_ref().is_some_and(|finding| finding.code == DAMAGED)
    }
}

/// What is to be copied.
struct Work<'a> {
    feed: Feed<'a>,
    format: Format,
    file: Option<Arc<Bytes>>,
    encode: EncodeOptions,
}

impl Work<'_> {
    fn log(&self) -> &Log {
        #[expect(clippy::indexing_slicing, reason = "the feed is made of one log")]
        self.feed.logs()[0]
    }

    fn run(&self, target: &Target, options: &OpenOptions, progress: &dyn Progress) -> Result<Written, Error> {
        let mut mended = None;
        if let Some(whole) = self.mended(target)? {
            let report = Report { samples: self.log().index.samples(), ..Report::default() };
            let written = self.proven(whole, report, options)?;
            if written.finding.is_none() {
                return Ok(written);
            }
            mended = Some(written);
        }
        let convert = ConvertOptions { encode: self.encode.clone(), ..ConvertOptions::default() };
        let job = Job::new(&self.feed, self.format, &convert, progress)?;
        let mut out = target.open()?;
        let failed = |error| sink_error(error, Some(&target.path));
        let (report, end) = job.write(&mut out)?;
        end.map_err(failed)?;
        let whole = out.finish().map_err(|error| failed(SinkError::Io(error)))?;
        let written = self.proven(whole, report, options)?;
        // Some damage is a sample like others, such as a packet of CARLA that nobody can read, and every copy of it is
        // damaged too. Then a copy without it is worth more.
        Ok(mended.filter(|mended| written.is_damaged() && !mended.is_damaged()).unwrap_or(written))
    }

    /// The records that are whole, as they are, where the format has a way to put them together.
    fn mended(&self, target: &Target) -> Result<Option<FinishedOutput>, Error> {
        let (log, own) = (self.log(), self.log().format());
        if own.name() != self.format.name() {
            return Ok(None);
        }
        let failed = |error| sink_error(SinkError::Io(error), Some(&target.path));
        let mut out;
        match (own.unpacker(), &self.file) {
            (Some(bridge), Some(file)) => {
                let Some(mend) = bridge.mend() else { return Ok(None) };
                out = target.open()?;
                mend(file, &mut out).map_err(failed)?;
            }
            (Some(_), None) => return Ok(None),
            (None, _) => {
                let Some(mut mend) = log.dialect().mend(log.bytes()) else { return Ok(None) };
                out = target.open()?;
                let (mut part, mut more) = (Vec::new(), true);
                while more {
                    part.clear();
                    more = mend(&mut part);
                    out.write_all(&part).map_err(failed)?;
                }
            }
        }
        out.finish().map(Some).map_err(failed)
    }

    /// Opens what was written and compares it with what should be in it.
    fn proven(&self, whole: FinishedOutput, report: Report, options: &OpenOptions) -> Result<Written, Error> {
        let given = report.samples;
        let mut report = Report { bytes: whole.bytes, channels: self.feed.channels().len(), ..report };
        // A device has taken it and gives nothing back.
        let Some(path) = whole.path() else { return Ok(Written { report, whole, finding: None }) };
        let revision = self.encode.revision;
        let from = Some(self.format.name().to_owned());
        let options = OpenOptions { from, revision, cache: Cache::Off, ..options.clone() };
        let checkup = doctor(path, &options, &Quiet)?;
        let found = checkup.log.as_ref().map_or((0, 0), |log| (log.index.samples(), log.index.channels.len()));
        let finding = still_wrong(&checkup, given, found.0);
        (report.samples, report.channels) = found;
        report.verified = finding.is_none();
        Ok(Written { report, whole, finding })
    }
}

/// What keeps a copy from being whole.
fn still_wrong(checkup: &Checkup, given: u64, found: u64) -> Option<Finding> {
    let damage = checkup.findings.iter().find(|finding| finding.severity == Severity::Damage);
    let (code, message) = match damage {
        Some(damage) => (DAMAGED, format!("the recovered copy is still damaged: {}", damage.message)),
        None if !checkup.ok => (DAMAGED, "the recovered copy is still damaged".to_owned()),
        None if found < given => {
            ("copy-incomplete", format!("the recovered copy has {found} samples, expected {given}"))
        }
        None => return None,
    };
    Some(Finding { severity: Severity::Damage, code, at: None, length: 0, message })
}

const DAMAGED: &str = "copy-damaged";
