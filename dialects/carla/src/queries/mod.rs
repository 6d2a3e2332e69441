//! What CARLA's server reports about a recording, in its own words and as data.
//!
//! The words are those of 0.9.16, with its slips: what consumes them expects them so. The data is what the recording
//! says.

mod blocked;
mod collisions;
mod guess;
mod info;
mod summary;

use std::io::{self, BufWriter, Write};

use logpose_core::{Problem, Severity};

pub use blocked::{Blocked, Blocking, blocked};
pub use collisions::{Contact, Filter, Party, collisions};
pub use guess::Guess;
pub use summary::{Hero, Summary};

use crate::error::Error;
use crate::frames::Frames;
use crate::reader::Reader;
use crate::text::{Date, Fixed, General};
use crate::wire::{Body, FrameStart, Kind};

/// CARLA's queries of one recording, as text. Each goes over the packets once and holds no more of the text than a
/// buffer does.
#[derive(Clone, Debug)]
pub struct Queries<'a> {
    reader: Reader<'a>,
    utc_offset: i32,
}

/// How far a query came, and what it had to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The last frame that was begun.
    pub last: Option<FrameStart>,
    /// Whether that frame has no end.
    pub open: bool,
    /// Why reading ended before the end of the file.
    pub stop: Option<Error>,
    /// How many packets could not be understood.
    pub odd: u64,
    /// The first of these.
    pub first_odd: Option<Error>,
}

impl Reading {
    /// What is not as it should be.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let at = |error: &Error, message| Problem::new(Severity::Damage, error.code(), error.at, 0, message);
        let mut problems = Vec::new();
        if let Some(stop) = &self.stop {
            problems.push(at(stop, format!("{}; the rest is not shown", stop.kind)));
        }
        if let (true, Some(last)) = (self.open, &self.last) {
            let message = format!("frame {} has no end: the recording is truncated", last.frame);
            problems.push(Problem::general(Severity::Damage, "frame-open", message));
        }
        if let Some(first) = &self.first_odd {
            let message = match self.odd {
                1 => format!("skipped a packet that could not be decoded: {}", first.kind),
                odd => format!("skipped {odd} packets that could not be decoded; the first: {}", first.kind),
            };
            problems.push(at(first, message));
        }
        problems
    }

    /// What is known of the reading of an index.
    #[must_use]
    pub fn of(frames: &Frames<'_>) -> Self {
        let open = frames.open();
        Self {
            last: open.or(frames.frames().last()).map(|frame| frame.start),
            open: open.is_some(),
            stop: frames.stop().copied(),
            odd: frames.odd().len() as u64,
            first_odd: frames.odd().first().copied(),
        }
    }
}

impl<'a> Queries<'a> {
    /// Reads the header and finds out how the recording is written.
    pub fn new(log: &'a [u8]) -> Result<Self, Error> {
        Reader::new(log).map(|reader| Self { reader, utc_offset: 0 })
    }

    /// With dates of a zone that is so many seconds ahead of UTC. CARLA shows those of its server.
    #[must_use]
    pub fn with_utc_offset(self, seconds: i32) -> Self {
        Self { utc_offset: seconds, ..self }
    }

    /// `show_recorder_file_info`: what happens, and with `all` also what every frame holds.
    pub fn info(&self, all: bool, out: &mut dyn Write) -> io::Result<Reading> {
        let out = &mut BufWriter::new(out);
        self.head(out)?;
        let mut info = info::Info::new(all);
        let reading = self.walk(|kind| info::shows(kind, all), |body, frame| info.packet(body, frame, out))?;
        Self::tail(&reading, false, out)?;
        Ok(reading)
    }

    /// `show_recorder_collisions`: who hit whom, of the kinds asked for.
    pub fn collisions(&self, first: Filter, second: Filter, out: &mut dyn Write) -> io::Result<Reading> {
        let out = &mut BufWriter::new(out);
        self.head(out)?;
        collisions::Table::columns(out)?;
        let mut table = collisions::Table::new(first, second);
        let reading = self.walk(collisions::shows, |body, frame| table.packet(body, frame, out))?;
        // Once a row was written, the stream stays at no digits behind the point.
        Self::tail(&reading, table.has_rows(), out)?;
        Ok(reading)
    }

    /// `show_recorder_actors_blocked`: who stood still for long.
    pub fn blocked(&self, blocking: Blocking, out: &mut dyn Write) -> io::Result<Reading> {
        let out = &mut BufWriter::new(out);
        self.head(out)?;
        let mut table = blocked::Table::new(blocking, self.reader.wire_format().vectors);
        let reading = self.walk(blocked::shows, |body, frame| {
            table.packet(body, frame);
            Ok(())
        })?;
        table.rows(out)?;
        Self::tail(&reading, false, out)?;
        Ok(reading)
    }

    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let header = self.reader.header();
        write!(out, "Version: {}\nMap: ", header.version)?;
        out.write_all(header.map)?;
        write!(out, "\nDate: {}\n\n", Date(header.date, self.utc_offset))
    }

    fn tail(reading: &Reading, rounded: bool, out: &mut dyn Write) -> io::Result<()> {
        let (frame, elapsed) = reading.last.map_or((0, 0.0), |last| (last.frame, last.elapsed));
        write!(out, "\nFrames: {frame}\nDuration: ")?;
        match rounded {
            true => write!(out, "{}", Fixed(elapsed, 0))?,
            false => write!(out, "{}", General(elapsed))?,
        }
        out.write_all(b" seconds\n")?;
        out.flush()
    }

    /// Hands over the packets that are wanted, as far as they are whole, and the frame they stand in.
    fn walk(
        &self,
        wanted: impl Fn(Kind) -> bool,
        mut each: impl FnMut(&Body<'a>, &FrameStart) -> io::Result<()>,
    ) -> io::Result<Reading> {
        let mut reading = Reading::default();
        let mut frame = FrameStart { frame: 0, duration: 0.0, elapsed: 0.0 };
        let form = self.reader.wire_format();
        for packet in self.reader.clone() {
            let known = packet.and_then(|packet| Ok((packet, packet.checked_kind(form)?)));
            let (packet, kind) = match known {
                Ok((packet, Some(kind))) => (packet, kind),
                Ok((_, None)) => continue,
                Err(stop) => {
                    reading.stop = Some(stop);
                    break;
                }
            };
            if kind == Kind::FrameEnd {
                reading.open = false;
            }
            if kind != Kind::FrameStart && !wanted(kind) {
                continue;
            }
            match packet.decode(form) {
                Ok(body) => {
                    if let Body::FrameStart(start) = body {
                        frame = start;
                        reading.last = Some(start);
                        reading.open = true;
                    }
                    each(&body, &frame)?;
                }
                Err(error) => {
                    reading.odd += 1;
                    reading.first_odd.get_or_insert(error);
                }
            }
        }
        Ok(reading)
    }
}
