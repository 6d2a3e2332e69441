//! What is wrong with a recording, where its whole frames are, and a valid recording made of them.
//!
//! Packets have neither checksums nor marks. What helps is that a frame's last packet and the head of the next frame's
//! first are ten bytes that never change, and that ids and times of frames only grow.

use std::collections::BTreeSet;
use std::fmt;

use logpose_core::{Cursor, Problem, Problems, Severity};

use crate::about::{About, Visit, visit};
use crate::error::{Error, ErrorKind};
use crate::frames::Frame;
use crate::wire::*;
use crate::wire_format;

/// The last packet of a frame and the head of the next frame's first.
pub(crate) const SEAM: [u8; 10] = [1, 0, 0, 0, 0, 0, 24, 0, 0, 0];
/// The head of the first packet of a recording's first frame.
const FIRST: [u8; 13] = [0, 24, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
/// How many bytes a header can have.
const LONGEST_HEADER: usize = 28 + 65535;
/// How many lost actors a message names.
const NAMED: usize = 10;

/// Bytes that belong to no whole frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lost {
    /// The first of them.
    pub at: u64,
    /// The byte behind the last.
    pub end: u64,
    /// The id of the last whole frame before them.
    pub after: Option<u64>,
    /// The id of the next whole frame.
    pub before: Option<u64>,
}

/// What can be read of a recording, damaged or not.
#[derive(Clone, Debug)]
pub struct Salvage<'a> {
    log: &'a [u8],
    header: Header<'a>,
    form: WireFormat,
    frames: Vec<Frame>,
    lost: Vec<Lost>,
    unknown: Vec<u32>,
}

/// Searches a recording for whole frames, also behind damage, and reports all that is wrong with it.
///
/// An error means that there is nothing to search: not one frame, and no header either.
pub fn salvage<'a>(log: &'a [u8], problems: &mut Problems) -> Result<Salvage<'a>, Error> {
    let (header, start) = find_header(log, problems)?;
    let detected = |packets: &mut dyn Iterator<Item = Packet<'a>>| wire_format::detect(header.version, packets);
    let mut form = detected(&mut packets(log, start, log.len()));
    let mut walk = Walk::run(log, start, form);
    // Damage may have misled the detection: whole frames know better.
    let again = detected(&mut walk.frames.iter().flat_map(|frame| frame_packets(log, frame)));
    if again != form {
        form = again;
        walk = Walk::run(log, start, form);
    }
    let Walk { frames, lost, problems: found, .. } = walk;
    problems.append(found);
    check_frames(&frames, problems);
    // Where the end was cut off, that is reported already.
    if lost.last().is_none_or(|lost| lost.end < log.len() as u64) {
        check_end(&frames, problems);
    }
    let mut salvage = Salvage { log, header, form, frames, lost, unknown: Vec::new() };
    salvage.find_unknown(problems);
    if salvage.frames.is_empty() {
        let message = "the recording has no complete frame";
        problems.push(Problem::new(Severity::Warning, "no-frames", start as u64, 0, message));
    }
    problems.sort_by_place();
    Ok(salvage)
}

/// Reports frames whose ids or times do not follow from those before them. Frames with other bytes between them are
/// not compared: what is lost there has its own report.
pub fn check_frames(frames: &[Frame], problems: &mut Problems) {
    let mut warn = |severity, code, at, message: String| problems.push(Problem::new(severity, code, at, 0, message));
    if let Some(first) = frames.first()
        && first.start.frame != 1
    {
        let message = format!("the first frame has the id {}: earlier frames are missing", first.start.frame);
        warn(Severity::Warning, "frame-id", first.at, message);
    }
    for frame in frames {
        let FrameStart { elapsed, frame: id, .. } = frame.start;
        if !elapsed.is_finite() || elapsed < 0.0 {
            warn(Severity::Warning, "elapsed", frame.at, format!("frame {id} has the invalid time {elapsed:?} s"));
        }
    }
    let mut nexts = frames.iter().skip(2).map(|next| next.start.frame);
    // The id that the frame before should have had.
    let mut counted = frames.first().map_or(0, |first| first.start.frame);
    for (before, frame) in frames.iter().zip(frames.iter().skip(1)) {
        let (last, start, next) = (before.start, frame.start, nexts.next());
        if start.elapsed < last.elapsed && start.elapsed >= 0.0 {
            let message = format!(
                "frame {} is at {:?} s, before frame {} at {:?} s",
                start.frame, start.elapsed, last.frame, last.elapsed
            );
            warn(Severity::Warning, "elapsed", frame.at, message);
        }
        let expected = counted.wrapping_add(1);
        counted = start.frame;
        if before.end != frame.at {
            continue;
        }
        if start.frame != expected {
            let (severity, message) = if next == Some(expected.wrapping_add(1)) {
                counted = expected;
                (Severity::Warning, format!("frame {expected} has the id {}", start.frame))
            } else if start.frame > expected {
                let lost = "the frames between are missing, with the actors they added and removed";
                (Severity::Damage, format!("frame {} follows frame {}: {lost}", start.frame, last.frame))
            } else {
                (Severity::Warning, format!("frame {} follows frame {}: ids should count up", start.frame, last.frame))
            };
            warn(severity, "frame-id", frame.at, message);
        }
        if !fits_together(last.elapsed, last.duration, start.elapsed) {
            let message = format!(
                "frame {} lasts {:?} s, but the next one starts {:?} s later",
                last.frame,
                last.duration,
                start.elapsed - last.elapsed
            );
            warn(Severity::Warning, "duration", before.at, message);
        }
    }
}

/// Reports a last frame that says that another one followed it.
pub fn check_end(frames: &[Frame], problems: &mut Problems) {
    if let Some(Frame { at, start: FrameStart { duration, .. }, .. }) = frames.last()
        && duration.to_bits() != OPEN_DURATION.to_bits()
    {
        let message =
            format!("the last frame lasts {duration:?} s instead of {OPEN_DURATION}: a frame after it is missing");
        problems.push(Problem::new(Severity::Warning, "last-duration", *at, 0, message));
    }
}

/// Whether a frame of this duration ends where the next one begins.
pub(crate) fn fits_together(elapsed: f64, duration: f64, next: f64) -> bool {
    // Durations are binary32 ticks, times their sums: equal but for rounding.
    (elapsed + duration - next).abs() <= 1e-6 + 1e-12 * next.abs()
}

impl<'a> Salvage<'a> {
    /// The bytes of the recording.
    #[must_use]
    pub fn log(&self) -> &'a [u8] {
        self.log
    }

    /// The header. Where it could not be read, version 1 and a map without a name.
    #[must_use]
    pub fn header(&self) -> Header<'a> {
        self.header
    }

    /// How the recording is written.
    #[must_use]
    pub fn wire_format(&self) -> WireFormat {
        self.form
    }

    /// The whole frames, as the file has them.
    #[must_use]
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The bytes that belong to no whole frame.
    #[must_use]
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Actors that frames behind lost ones speak of and that nothing adds.
    #[must_use]
    pub fn unknown_actors(&self) -> &[u32] {
        &self.unknown
    }

    /// The stretches of whole frames: first byte, and the byte behind the last.
    #[must_use]
    pub fn spans(&self) -> Vec<(u64, u64)> {
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for frame in &self.frames {
            match spans.last_mut() {
                Some((_, end)) if *end == frame.at => *end = frame.end,
                _ => spans.push((frame.at, frame.end)),
            }
        }
        spans
    }

    /// Looks for actors whose creation was lost.
    fn find_unknown(&mut self, problems: &mut Problems) {
        let whole = self.lost.is_empty() && self.frames.first().is_none_or(|first| first.start.frame <= 1);
        let gaps = self
            .frames
            .iter()
            .zip(self.frames.iter().skip(1))
            .any(|(a, b)| b.start.frame.wrapping_sub(a.start.frame) != 1);
        if whole && !gaps {
            return;
        }
        let (mut known, mut unknown, mut at) = (BTreeSet::new(), BTreeSet::new(), None);
        for frame in &self.frames {
            for packet in frame_packets(self.log, frame) {
                let Ok(body) = packet.decode(self.form) else { continue };
                let added = matches!(body, Body::EventAdd(_));
                let mut actors = Actors(Vec::new());
                visit(&body, &mut actors);
                for actor in actors.0 {
                    if added {
                        known.insert(actor);
                    } else if !known.contains(&actor) && unknown.insert(actor) {
                        at.get_or_insert(packet.at);
                    }
                }
            }
        }
        self.unknown = unknown.into_iter().collect();
        if let Some(at) = at {
            let names: Vec<String> = self.unknown.iter().take(NAMED).map(u32::to_string).collect();
            let more = if self.unknown.len() > NAMED { ", …" } else { "" };
            let message = format!(
                "{} actors appear whose creation was in lost frames: {}{more}; the set of actors is uncertain from here on",
                self.unknown.len(),
                names.join(", ")
            );
            problems.push(Problem::new(Severity::Warning, "actors-unknown", at, 0, message));
        }
    }
}

/// The actors that the records of a packet are about.
struct Actors(Vec<u32>);

impl<'a> Visit<'a> for Actors {
    fn records<R: Record<'a> + About>(&mut self, records: &Records<'a, R>) {
        self.0.extend(records.iter().flat_map(|record| record.actors()).flatten());
    }
}

/// A valid recording made of what can be read of another: only whole frames, ids that count from 1, times that grow,
/// durations that fit, packets that their records fill, and an open end.
#[derive(Clone, Debug)]
pub struct Repair<'a> {
    salvage: Salvage<'a>,
    /// What each frame's first packet will say.
    starts: Vec<FrameStart>,
    /// Whether packets 21 to 23 go: their meaning can no longer be determined.
    plain: bool,
    next: usize,
}

/// Makes a valid recording of what can be read; what that costs is among the problems.
pub fn repair<'a>(log: &'a [u8], problems: &mut Problems) -> Result<Repair<'a>, Error> {
    let salvage = salvage(log, problems)?;
    let starts = mend(&salvage.frames);
    let mut repair = Repair { salvage, starts, plain: false, next: 0 };
    let Salvage { header, form, frames, .. } = &repair.salvage;
    let kept = frames.iter().flat_map(|frame| repair.kept(frame));
    repair.plain = wire_format::detect(header.version, kept).ids != form.ids;
    Ok(repair)
}

impl<'a> Repair<'a> {
    /// What was found.
    #[must_use]
    pub fn salvage(&self) -> &Salvage<'a> {
        &self.salvage
    }

    /// Appends the header.
    pub fn begin(&self, out: &mut Vec<u8>) {
        self.salvage.header.emit(out);
    }

    /// Appends the next frame; `false` if there is none.
    pub fn next_frame(&mut self, out: &mut Vec<u8>) -> bool {
        let (Some(frame), Some(start)) = (self.salvage.frames.get(self.next), self.starts.get(self.next)) else {
            return false;
        };
        for packet in self.kept(frame) {
            if packet.id == 0 { start.emit(out) } else { packet.emit(out) }
        }
        self.next += 1;
        true
    }

    /// The whole recording at once.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.begin(&mut out);
        while self.next_frame(&mut out) {}
        out
    }

    /// The packets of a frame as they will be: bytes behind the last record go, and those that cannot be understood are
    /// empty.
    fn kept(&self, frame: &Frame) -> impl Iterator<Item = Packet<'a>> + use<'a> {
        let (form, plain) = (self.salvage.form, self.plain);
        frame_packets(self.salvage.log, frame).filter_map(move |packet| {
            let ambiguous = matches!(packet.id, 21..=23);
            if ambiguous && plain {
                return None;
            }
            match packet.decode(form) {
                Ok(_) => Some(packet),
                // An empty packet of one of these could be taken for a sign of the other numbering.
                Err(_) if ambiguous => None,
                Err(error) => {
                    let used = match error.kind {
                        ErrorKind::Size { used, .. } => packet.body.get(..place(used)),
                        _ => None,
                    };
                    let records = used.map(|body| Packet { body, ..packet });
                    let records = records.filter(|packet| packet.decode(form).is_ok());
                    Some(records.unwrap_or(Packet { body: &[0, 0], ..packet }))
                }
            }
        })
    }
}

/// What the first packets of the frames are to say, so that ids count and times grow. Times and durations say the same
/// twice, so that one of them can be wrong.
fn mend(frames: &[Frame]) -> Vec<FrameStart> {
    let mut times: Vec<f64> = Vec::with_capacity(frames.len());
    for (i, frame) in frames.iter().enumerate() {
        let last = times.last().copied();
        let min = last.unwrap_or(0.0);
        let FrameStart { elapsed, duration, .. } = frame.start;
        let next = frames.get(i + 1).map(|next| next.start.elapsed).filter(|next| *next >= min && next.is_finite());
        let before = i.checked_sub(1).and_then(|i| frames.get(i)).filter(|before| before.end == frame.at);
        let predicted = match (last, before) {
            (Some(last), Some(before)) => Some(last + before.start.duration),
            // Only the second frame can confirm the first.
            (None, _) => next.map(|next| next - duration),
            _ => None,
        };
        let predicted = predicted.filter(|t| *t >= min && t.is_finite() && next.is_none_or(|next| *t <= next));
        let possible = elapsed.is_finite() && elapsed >= min && next.is_none_or(|next| elapsed <= next);
        let leads_on = |from: f64| next.is_some_and(|next| fits_together(from, duration, next));
        times.push(match predicted {
            _ if possible && (leads_on(elapsed) || last.is_none()) => elapsed,
            Some(predicted) if possible && fits_together(predicted, 0.0, elapsed) => elapsed,
            Some(predicted) if possible && !leads_on(predicted) => elapsed.min(predicted),
            Some(predicted) => predicted,
            None if possible => elapsed,
            None => min,
        });
    }
    let nexts = times.iter().skip(1).copied().map(Some).chain([None]);
    let both = times.iter().zip(nexts).zip(frames);
    (1..)
        .zip(both)
        .map(|(frame, ((&elapsed, next), old))| {
            let duration = match next {
                None => OPEN_DURATION,
                Some(next) if fits_together(elapsed, old.start.duration, next) => old.start.duration,
                Some(next) => next - elapsed,
            };
            FrameStart { frame, duration, elapsed }
        })
        .collect()
}

/// Reads the header and says where the packets begin. A damaged one is done without if a frame follows it.
fn find_header<'a>(log: &'a [u8], problems: &mut Problems) -> Result<(Header<'a>, usize), Error> {
    let error = match Header::parse(&mut Cursor::new(log, 0)) {
        Ok(header) if matches!(header.version, 1 | 2) => return Ok((header, header.size())),
        Ok(header) => {
            let message = format!("{}; reading it as version 2", ErrorKind::Version(header.version));
            problems.push(Problem::new(Severity::Warning, "version", 0, 2, message));
            return Ok((Header { version: 2, ..header }, header.size()));
        }
        Err(error) => error,
    };
    let head = log.get(..LONGEST_HEADER + FIRST.len()).unwrap_or(log);
    let at = find(head, &FIRST).or_else(|| find(head, &SEAM).map(|at| at + 5)).ok_or(error)?;
    // The attributes would identify the version, but only with a table of them.
    let version = if log.first_chunk() == Some(&[2, 0]) { 2 } else { 1 };
    let message = format!(
        "cannot read the header ({}); assuming version {version}, map and date are lost, the first frame starts at byte {at:#x}",
        error.kind
    );
    problems.push(Problem::new(
        Severity::Damage,
        error.code(),
        error.at,
        (at as u64).saturating_sub(error.at),
        message,
    ));
    Ok((Header { version, date: 0, map: b"" }, at))
}

/// A walk over all frames that can be found.
struct Walk<'a> {
    log: &'a [u8],
    form: WireFormat,
    frames: Vec<Frame>,
    lost: Vec<Lost>,
    problems: Problems,
    /// Id and time of the last frame that is believed.
    last: Option<(u64, f64)>,
    /// Bytes that attempts to read a frame may still cost in vain.
    patience: u64,
}

/// Why a frame is not whole.
enum Flaw {
    /// A packet cannot be read.
    Packet(Error),
    /// Another frame begins at a byte before this one has ended.
    Unended(usize),
    /// A packet holds what looks like the next frame.
    Swallowed { id: u8, at: u64 },
    /// The bytes end.
    End,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(error) => write!(f, "byte {:#x}: {}", error.at, error.kind),
            Self::Unended(at) => write!(f, "byte {at:#x}: the next frame starts before this one ends"),
            Self::Swallowed { id, at } => write!(f, "byte {at:#x}: packet {id} overlaps the start of another frame"),
            Self::End => write!(f, "the recording is truncated inside a frame"),
        }
    }
}

impl Flaw {
    fn code(&self) -> &'static str {
        match self {
            Self::Packet(error) => error.code(),
            Self::Unended(_) => "frame-unended",
            Self::Swallowed { .. } => "packet-size",
            Self::End => "truncated",
        }
    }
}

impl<'a> Walk<'a> {
    fn run(log: &'a [u8], start: usize, form: WireFormat) -> Self {
        let patience = (log.len() as u64).saturating_mul(8).max(1 << 20);
        let (frames, lost, problems) = (Vec::new(), Vec::new(), Problems::default());
        let mut walk = Self { log, form, frames, lost, problems, last: None, patience };
        walk.all(start);
        walk
    }

    fn all(&mut self, start: usize) {
        let mut at = start;
        while at < self.log.len() {
            let outside = self.outside(at);
            if outside > at {
                self.lose(at, Some(outside), "stray-packet", "are packets outside frames");
                at = outside;
                continue;
            }
            if let Ok(header) = Header::parse(&mut Cursor::new(self.log.get(at..).unwrap_or_default(), at as u64)) {
                let map = String::from_utf8_lossy(header.map);
                self.lose(at, None, "second-header", &format!("are another recording, of {map:?}"));
                break;
            }
            let mut odd = Problems::default();
            let flaw = match self.frame(at, &mut odd) {
                Ok(frame) => {
                    self.believe(&frame);
                    self.frames.push(frame);
                    self.problems.append(odd);
                    at = place(frame.end);
                    continue;
                }
                Err(flaw) => flaw,
            };
            let next = match flaw {
                Flaw::Unended(next) => Some(next),
                _ => self.next_frame(at + 1),
            };
            self.lose(at, next, flaw.code(), &format!("cannot be read ({flaw})"));
            let Some(next) = next else { break };
            at = next;
        }
    }

    /// Passes over whole packets that no frame holds; the place of the first that is none of these.
    fn outside(&self, at: usize) -> usize {
        let mut at = at;
        for packet in packets(self.log, at, self.log.len()) {
            if packet.id == 0 || packet.checked_kind(self.form).is_err() || self.swallowed(&packet).is_some() {
                break;
            }
            at = place(packet.end());
        }
        at
    }

    /// Reads the frame at a byte. Packets whose records do not fill them are reported; the frame is whole all the same.
    fn frame(&mut self, at: usize, odd: &mut Problems) -> Result<Frame, Flaw> {
        let mut work = 0;
        let result = self.whole_frame(at, odd, &mut work);
        if result.is_err() {
            self.patience = self.patience.saturating_sub(work);
        }
        result
    }

    /// The same; `work` becomes the number of bytes that were looked at.
    fn whole_frame(&self, at: usize, odd: &mut Problems, work: &mut u64) -> Result<Frame, Flaw> {
        let mut cur = Cursor::new(self.log.get(at..).unwrap_or_default(), at as u64);
        let mut frame: Option<Frame> = None;
        // A packet that seems to hold the beginning of another frame.
        let mut suspect = None;
        while !cur.is_empty() {
            *work += PACKET_HEADER as u64;
            let checked = Packet::parse(&mut cur).and_then(|packet| Ok((packet, packet.checked_kind(self.form)?)));
            let (packet, kind) = match checked {
                Ok(checked) => checked,
                Err(error) => return Err(suspect.unwrap_or(Flaw::Packet(error))),
            };
            match (kind, frame) {
                (Some(Kind::FrameStart), None) => {
                    let mut body = Cursor::new(packet.body, packet.at + PACKET_HEADER as u64);
                    let start = FrameStart::parse(&mut body).map_err(|error| Flaw::Packet(error.into()))?;
                    frame = Some(Frame { at: packet.at, end: packet.end(), start });
                }
                (Some(Kind::FrameStart), Some(_)) => {
                    return Err(suspect.unwrap_or(Flaw::Unended(place(packet.at))));
                }
                (Some(Kind::FrameEnd), Some(frame)) => {
                    return match suspect {
                        Some(flaw) if !self.goes_on(&frame.start, place(packet.end())) => Err(flaw),
                        _ => Ok(Frame { end: packet.end(), ..frame }),
                    };
                }
                // Packets outside of frames were passed over, but for those that hide a frame.
                (_, None) => return Err(Flaw::Swallowed { id: packet.id, at: packet.at }),
                (_, Some(_)) => {
                    let misfit = packet.decode(self.form).err();
                    // Records of one size are only counted, and of others one reads little more than their lengths.
                    let varies = kind.is_some_and(|kind| kind.record_size(self.form).is_none());
                    *work += match misfit.map(|error| error.kind) {
                        None if varies => packet.body.len() as u64 / 16,
                        Some(ErrorKind::Truncated(truncated)) => truncated.at.saturating_sub(packet.at) / 16,
                        Some(ErrorKind::Size { used, .. }) if varies => used / 16,
                        _ => 0,
                    };
                    if suspect.is_none() && (kind.is_none() || misfit.is_some()) {
                        let seam = self.swallowed(&packet);
                        *work += (seam.unwrap_or(place(packet.end())) as u64).saturating_sub(packet.at);
                        suspect = seam.map(|_| Flaw::Swallowed { id: packet.id, at: packet.at });
                    }
                    if let Some(error) = misfit {
                        let message = format!("{}; CARLA loses its place here", error.kind);
                        let length = packet.end() - packet.at;
                        odd.push(Problem::new(Severity::Damage, "packet-size", packet.at, length, message));
                    }
                }
            }
        }
        Err(suspect.unwrap_or(Flaw::End))
    }

    /// Whether what stands behind a frame is what follows it: private packets may hold what they like, also what looks
    /// like frames, and the frames around them decide.
    fn goes_on(&self, start: &FrameStart, end: usize) -> bool {
        if end >= self.log.len() {
            return start.duration.to_bits() == OPEN_DURATION.to_bits();
        }
        start_at(self.log, end).is_some_and(|next| next.frame == start.frame.wrapping_add(1))
    }

    /// Where the body of a packet holds the end of a frame and the beginning of the next.
    fn swallowed(&self, packet: &Packet<'_>) -> Option<usize> {
        let start = place(packet.at) + PACKET_HEADER;
        self.find_seam(start, place(packet.end()))
    }

    /// The next place from `from` on where a frame seems to begin.
    fn next_frame(&self, from: usize) -> Option<usize> {
        if self.patience == 0 { None } else { self.find_seam(from, self.log.len()) }
    }

    fn find_seam(&self, from: usize, end: usize) -> Option<usize> {
        let mut from = from;
        loop {
            let at = from + find(self.log.get(from..end)?, &SEAM)?;
            if self.is_start(at + SEAM.len(), end) {
                return Some(at + 5);
            }
            from = at + 1;
        }
    }

    /// Whether the body of a likely first packet stands between two bytes: later than the last frame, at a possible time.
    fn is_start(&self, at: usize, end: usize) -> bool {
        let rest = self.log.get(at..end).unwrap_or_default();
        let Ok(start) = FrameStart::parse(&mut Cursor::new(rest, at as u64)) else { return false };
        let (id, elapsed) = self.last.unwrap_or((0, 0.0));
        start.frame > id && start.elapsed.is_finite() && start.elapsed >= elapsed
    }

    /// Notes how far the recording has come. A frame that does not fit the one before it may be wrong about itself:
    /// it is believed when the next one agrees.
    fn believe(&mut self, frame: &Frame) {
        let FrameStart { frame: id, elapsed, .. } = frame.start;
        let follows = |(last, time): (u64, f64)| id == last.wrapping_add(1) && elapsed >= time;
        let before = self.frames.last();
        let gap = before.is_none_or(|before| before.end != frame.at);
        let agrees = before.is_some_and(|before| follows((before.start.frame, before.start.elapsed)));
        if elapsed.is_finite() && (gap || agrees || self.last.is_none_or(follows)) {
            self.last = Some((id, elapsed));
        } else if let Some((last, _)) = &mut self.last {
            *last = last.wrapping_add(1);
        }
    }

    fn lose(&mut self, at: usize, next: Option<usize>, code: &'static str, what: &str) {
        let end = next.unwrap_or(self.log.len());
        let after = self.frames.last().map(|frame| frame.start.frame);
        let before = next.and_then(|next| start_at(self.log, next)).map(|start| start.frame);
        let frames = match (after, before) {
            (Some(after), Some(before)) => match before.saturating_sub(after) {
                0 | 1 => String::new(),
                2 => format!("; frame {} is lost", before - 1),
                _ => format!("; frames {} to {} are lost", after + 1, before - 1),
            },
            (Some(after), None) => format!("; the last complete frame is {after}"),
            (None, Some(before)) => format!("; the first complete frame is {before}"),
            (None, None) => String::new(),
        };
        let length = (end - at) as u64;
        let message = format!("{length} bytes {what}{frames}");
        self.problems.push(Problem::new(Severity::Damage, code, at as u64, length, message));
        self.lost.push(Lost { at: at as u64, end: end as u64, after, before });
    }
}

/// The first packet of a frame, if one begins at a byte.
fn start_at(log: &[u8], at: usize) -> Option<FrameStart> {
    match log.get(at..)?.split_first_chunk()? {
        (&[0, 24, 0, 0, 0], body) => FrameStart::parse(&mut Cursor::new(body, at as u64)).ok(),
        _ => None,
    }
}

/// The packets between two bytes, up to the first that is not whole.
fn packets(log: &[u8], at: usize, end: usize) -> impl Iterator<Item = Packet<'_>> {
    let mut cur = Cursor::new(log.get(at..end).unwrap_or_default(), at as u64);
    std::iter::from_fn(move || if cur.is_empty() { None } else { Packet::parse(&mut cur).ok() })
}

fn frame_packets<'a>(log: &'a [u8], frame: &Frame) -> impl Iterator<Item = Packet<'a>> + use<'a> {
    packets(log, place(frame.at), place(frame.end))
}

fn place(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// Where `pattern` first occurs.
pub(crate) fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    let first = pattern.first()?;
    let mut from = 0;
    loop {
        let rest = bytes.get(from..)?;
        let at = rest.iter().position(|byte| byte == first);
        #[cfg(test)]
        tests::SEARCHED.set(tests::SEARCHED.get() + at.map_or(rest.len(), |at| at + 1));
        let at = at?;
        if rest.get(at..)?.starts_with(pattern) {
            return Some(from + at);
        }
        from += at + 1;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use logpose_core::Problems;
    use logpose_testkit::fixtures;

    use super::{FIRST, SEAM, salvage};

    thread_local! {
        /// Bytes that searches went over.
        pub(super) static SEARCHED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn a_search_goes_over_few_bytes_whatever_repeats() {
        const LENGTH: usize = 1 << 17;
        let (_, sound) = fixtures("carla/valid").into_iter().find(|(name, _)| name == "attached.log").unwrap();
        let patterns: [(&str, &[u8]); 9] = [
            ("zeros", &[0]),
            ("ones", &[1]),
            ("0xff", &[0xff]),
            ("text", b"the quick brown fox jumps over the lazy dog\r\n"),
            ("seams", &SEAM),
            ("heads of first frames", &FIRST),
            ("heads of packets", &[6, 40, 0, 0, 0]),
            ("empty packets", &[6, 2, 0, 0, 0, 0, 0]),
            ("packets that swallow", &[6, 0, 0, 1, 0]),
        ];
        for (name, pattern) in patterns {
            let mut log = sound.clone();
            log.extend(pattern.iter().cycle().take(LENGTH));
            SEARCHED.set(0);
            let found = salvage(&log, &mut Problems::default()).unwrap();
            let searched = SEARCHED.get();
            assert!(searched <= 8 * log.len(), "{name}: {searched} bytes searched in {}", log.len());
            assert!(!found.frames().is_empty(), "{name}");
        }
    }
}
