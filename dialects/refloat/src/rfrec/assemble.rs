//! Blocks in any order to one recording.

use logpose_core::{Problem, Problems, Severity};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::block::{Block, End, FRAME, HEAD, Head, Kind, TimeRef};
use super::clock::TICK_RATE;
use super::error::{Error, ErrorKind};
use super::reader::{Damage, Reader};
use super::recording::{MetadataBlock, Recording, Run, bytes_of, gaps, rate_of, tick_of};
use crate::wire::{Header, Info, Status};

/// What was met so far of a file.
#[derive(Clone, Debug)]
pub(super) struct Assembly<'a> {
    recording: Recording<'a>,
    /// Stretches of samples as blocks hold them, in the order of the file.
    found: Vec<Run>,
    end: Option<(u64, End)>,
    damaged: bool,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(file: &'a [u8], head: Head) -> Self {
        let recording = Recording {
            head,
            meta: Map::new(),
            info: None,
            header: None,
            status: None,
            timerefs: Vec::new(),
            complete: false,
            problems: Problems::default(),
            file,
            parts: Vec::new(),
            runs: Vec::new(),
            tick_rate: TICK_RATE,
            blocks: 0,
            whole: HEAD as u64,
        };
        Self { recording, found: Vec::new(), end: None, damaged: false }
    }

    /// Takes all blocks of a file.
    pub(super) fn read(mut self, reader: Reader<'a>) -> Result<Recording<'a>, Error> {
        if !self.recording.head.intact {
            let message = "the file header has a bad checksum; reading the blocks, which have their own";
            self.report(Severity::Warning, "bad-head", 0, HEAD as u64, message);
        }
        for block in reader {
            match block {
                Ok((at, block)) => self.block(at, &block),
                Err(found) => {
                    self.recording.problems.push(damage(&found));
                    self.damaged = true;
                }
            }
        }
        self.finish()
    }

    fn report(&mut self, severity: Severity, code: &'static str, at: u64, length: u64, message: impl Into<String>) {
        self.recording.problems.push(Problem::new(severity, code, at, length, message));
    }

    fn block(&mut self, at: u64, block: &Block<'a>) {
        let length = block.length();
        if !self.damaged {
            self.recording.whole = at + length;
        }
        self.recording.blocks += 1;
        let payload = block.payload;
        match block.kind {
            Kind::Meta => match serde_json::from_slice::<Map<String, Value>>(payload) {
                Ok(meta) if self.recording.payload(Kind::Meta).is_none() => self.recording.meta = meta,
                Ok(_) => {}
                Err(error) => {
                    self.report(
                        Severity::Warning,
                        "bad-meta",
                        at,
                        length,
                        format!("META is not a JSON object: {error}"),
                    );
                }
            },
            Kind::Info => self.info(at, length, payload),
            Kind::Header => {
                if !self.header(at, length, payload) {
                    return;
                }
            }
            Kind::Status => match Status::parse(payload) {
                Ok(status) => self.recording.status = Some(status),
                Err(error) => self.report(Severity::Warning, "bad-status", at, length, format!("STATUS: {error}")),
            },
            Kind::Samples => return self.samples(at, length, payload),
            Kind::TimeRef => match TimeRef::parse(payload) {
                Some(timeref) => self.recording.timerefs.push(timeref),
                None => {
                    let message = format!("TIMEREF has {} bytes, expected 16; skipped", payload.len());
                    return self.report(Severity::Warning, "bad-timeref", at, length, message);
                }
            },
            Kind::End => {
                match End::parse(payload) {
                    Some(end) => self.end = Some((at, end)),
                    None => {
                        let message = format!("END has {} bytes, expected 36", payload.len());
                        self.report(Severity::Warning, "bad-end", at, length, message);
                    }
                }
                return;
            }
            Kind::Unknown(number) => {
                let message = format!("skipped a block of unknown type {number:#04x}, perhaps from a later version");
                return self.report(Severity::Note, "unknown-block", at, length, message);
            }
        }
        self.recording.parts.push(MetadataBlock { kind: block.kind, at: at + 8, payload });
    }

    fn info(&mut self, at: u64, length: u64, payload: &[u8]) {
        let info = match Info::parse(payload) {
            Ok(info) => info,
            Err(error) => return self.report(Severity::Warning, "bad-info", at, length, format!("INFO: {error}")),
        };
        if self.recording.info.is_some() {
            return;
        }
        self.recording.tick_rate = rate_of(&info);
        if info.tick_rate() != self.recording.tick_rate {
            let message =
                format!("INFO gives {} ticks per second; using {}", info.tick_rate(), self.recording.tick_rate);
            self.report(Severity::Warning, "tick-rate", at, length, message);
        }
        if let Some(message) = strange(&info) {
            self.report(Severity::Note, "other-board", at, length, message);
        }
        self.recording.info = Some(info);
    }

    /// Takes a header, and returns whether it is the one.
    fn header(&mut self, at: u64, length: u64, payload: &'a [u8]) -> bool {
        if let Some(first) = self.recording.payload(Kind::Header) {
            let (severity, message) = match first == payload {
                true => (Severity::Note, "duplicate HEADER"),
                false => (Severity::Damage, "skipped a second, different HEADER"),
            };
            self.report(severity, "second-header", at, length, message);
            return false;
        }
        match Header::parse(payload) {
            Ok(header) => {
                self.recording.header = Some(header);
                true
            }
            Err(error) => {
                self.report(Severity::Damage, "bad-header", at, length, format!("HEADER: {error}"));
                false
            }
        }
    }

    fn samples(&mut self, at: u64, length: u64, payload: &[u8]) {
        let Some(header) = &self.recording.header else {
            let message = "skipped samples before the HEADER that describes them";
            return self.report(Severity::Damage, "samples-before-header", at, length, message);
        };
        let (size, sample) = (header.size, header.sample_len());
        let Some((index, samples)) = payload.split_first_chunk().filter(|(_, rest)| rest.len().is_multiple_of(sample))
        else {
            let message = format!("SAMPLES has {} bytes, expected 4 plus a multiple of {sample}", payload.len());
            return self.report(Severity::Damage, "bad-samples", at, length, message);
        };
        let index = u32::from_be_bytes(*index);
        let all = u32::try_from(samples.len() / sample).unwrap_or(u32::MAX);
        let count = all.min(size.saturating_sub(index));
        if count < all {
            let message = format!(
                "samples up to {}, but the HEADER declares {size}; skipped {}",
                u64::from(index) + u64::from(all) - 1,
                all - count
            );
            self.report(Severity::Warning, "beyond-size", at, length, message);
        }
        if count > 0 {
            self.found.push(Run { index, count, at: at + 12 });
        }
    }

    fn finish(mut self) -> Result<Recording<'a>, Error> {
        let sample = self.recording.sample_len();
        self.recording.runs = join(self.recording.file, self.found, sample)?;
        let recording = &mut self.recording;
        let (missing, size) = (recording.size() - recording.held(), recording.size());
        let whole = recording.header.is_some() && missing == 0;
        let mut hash = Sha256::new();
        if let (true, Some((at, end))) = (whole, &self.end) {
            recording.runs.iter().for_each(|run| hash.update(bytes_of(recording.file, run, sample)));
            let found: [u8; 32] = hash.finalize().into();
            let wrong = match (end.samples == size, end.sha256 == found) {
                (false, _) => Some(("bad-end", format!("END counts {} samples, the HEADER {size}", end.samples))),
                (true, false) => Some(("bad-sha", "the SHA-256 of the samples does not match END".to_owned())),
                (true, true) => None,
            };
            recording.complete = wrong.is_none();
            if let Some((code, message)) = wrong {
                recording.problems.push(Problem::new(Severity::Damage, code, *at, 36 + FRAME as u64, message));
            }
        }
        if let Some((at, _)) = self.end.filter(|_| !recording.complete) {
            recording.whole = recording.whole.min(at);
        }
        if let Some(problem) = partial(recording, missing, self.end.is_some()) {
            recording.problems.push(problem);
        }
        let mut problems = std::mem::take(&mut recording.problems);
        for sample in recording.timed().filter(|sample| sample.back) {
            let (index, tick) = (sample.index, tick_of(sample.bytes));
            let message = format!("sample {index} has tick {tick}, earlier than the sample before it");
            let length = sample.bytes.len() as u64;
            problems.push(Problem::new(Severity::Warning, "tick-steps-back", sample.at, length, message));
        }
        recording.problems = problems;
        Ok(self.recording)
    }
}

/// What makes a recording a partial one.
fn partial(recording: &Recording<'_>, missing: u32, ended: bool) -> Option<Problem> {
    const RESUME: &str = "run `logpose refloat fetch ADDRESS -o FILE` to continue while the board has the recording";
    if recording.header.is_none() {
        let message = format!("missing HEADER, so there are no samples; {RESUME}");
        return Some(Problem::general(Severity::Damage, "partial", message));
    }
    let size = recording.size();
    if missing > 0 {
        let gaps = gaps(&recording.runs, size);
        let first = gaps.first().map_or(0, |gap| gap.start);
        let (are, more) = if missing == 1 { ("is", "") } else { ("are", " on") };
        let more = if gaps.len() > 1 { format!(", in {} gaps", gaps.len()) } else { more.to_owned() };
        let message = format!("{missing} of {size} samples {are} missing, from {first}{more}; {RESUME}");
        return Some(Problem::general(Severity::Damage, "partial", message));
    }
    let message = format!("missing END, although all {size} samples are present; {RESUME}");
    (!ended).then(|| Problem::general(Severity::Warning, "partial", message))
}

/// A board that this was not written for.
fn strange(info: &Info) -> Option<String> {
    let Info::V2(about) = info else { return None };
    if about.name != "Refloat" {
        return Some(format!("the board has {info}, which is not Refloat; using the names in the HEADER"));
    }
    ((about.major, about.minor) > (1, 3))
        .then(|| format!("the board has {info}, which is newer than logpose supports; using the names in the HEADER"))
}

/// The problem that a damaged stretch is.
fn damage(found: &Damage) -> Problem {
    let rest = if found.given_up { "; gave up searching for blocks after it" } else { "" };
    let message = match &found.error.kind {
        ErrorKind::Truncated { needed, left, .. } if found.length == *left => {
            format!("the last block needs {needed} bytes, {left} left{rest}")
        }
        kind => format!("{kind}; skipped {} bytes{rest}", found.length),
    };
    Problem::new(Severity::Damage, found.error.code(), found.at, found.length, message)
}

/// Stretches in the order of their numbers, each sample once. Where two have the same sample, they must agree.
fn join(file: &[u8], mut found: Vec<Run>, sample: usize) -> Result<Vec<Run>, Error> {
    found.sort_by_key(|run| (run.index, run.at));
    let mut runs: Vec<Run> = Vec::with_capacity(found.len());
    for run in found {
        let next = runs.last().map_or(0, Run::end);
        // Everything that begins before `next` is there already, without a gap behind the run's first sample.
        let first = runs.partition_point(|held| held.end() <= run.index);
        for held in runs.get(first..).unwrap_or_default() {
            agree(file, held, &run, sample)?;
        }
        let known = next.saturating_sub(run.index);
        if known < run.count {
            let at = run.at + u64::from(known) * sample as u64;
            runs.push(Run { index: run.index + known, count: run.count - known, at });
        }
    }
    Ok(runs)
}

/// Compares the samples that two stretches share.
fn agree(file: &[u8], a: &Run, b: &Run, sample: usize) -> Result<(), Error> {
    let (start, end) = (a.index.max(b.index), a.end().min(b.end()));
    let Some(count) = end.checked_sub(start).filter(|count| *count > 0) else { return Ok(()) };
    let part = |run: &Run| Run { index: start, count, at: run.at + u64::from(start - run.index) * sample as u64 };
    let (a, b) = (part(a), part(b));
    let (left, right) = (bytes_of(file, &a, sample), bytes_of(file, &b, sample));
    if left == right {
        return Ok(());
    }
    let place = left.iter().zip(right).position(|(x, y)| x != y).unwrap_or(0) / sample.max(1);
    let at = |run: &Run| run.at + (place * sample) as u64;
    let (first, second) = (at(&a).min(at(&b)), at(&a).max(at(&b)));
    let index = start.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
    Err(Error { at: second, kind: ErrorKind::Disagreement { index, other: first } })
}
