use std::time::Instant;

use logpose_core::{Problem, SinkError, Time};
use logpose_driverstation::Mapper;
use logpose_driverstation::wire::{Control, ControlBits, Messages, Status, StatusBits, plausible};

use crate::{Batch, Clock};

/// Makes samples of what goes by.
#[derive(Debug, Default)]
pub(super) struct Tap {
    mapper: Mapper,
    /// The moment of the first piece, from which times are counted.
    zero: Option<Time>,
    /// The last moment that is complete: everything before it was taken.
    now: Time,
    /// What was tapped and may still have something before it.
    waiting: Vec<Tapped>,
    /// Bytes of all datagrams so far, by direction.
    control_bytes: u64,
    status_bytes: u64,
    to_robot: Option<Messages>,
    to_station: Option<Messages>,
    pub(super) control: Option<ControlBits>,
    pub(super) status: Option<StatusBits>,
    pub(super) battery: Option<f64>,
    pub(super) samples: u64,
    pub(super) problems: Vec<Problem>,
}

/// Something that went by.
#[derive(Debug)]
pub(super) struct Tapped {
    /// When it was received.
    pub(super) at: Instant,
    pub(super) what: What,
    pub(super) bytes: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A datagram from the station.
    Control,
    /// A datagram from the robot.
    Status,
    /// A TCP link was opened.
    Opened,
    /// A piece of the TCP link; `whole` if the one before it in this direction was recorded.
    Stream { to_robot: bool, whole: bool },
}

impl Tap {
    /// What waits, and some more pieces, hold up to the moment `until`, and what time alone brings about. The directions are
    /// passed on by threads of their own, so an answer may be tapped before its question; whoever calls knows until when
    /// nothing can come any more.
    pub(super) fn take(&mut self, pieces: impl Iterator<Item = Tapped>, until: Instant, clock: &Clock) -> Batch {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.extend(pieces);
        // What was received in the same instant stays in the order in which it was tapped.
        waiting.sort_by_key(|piece| piece.at);
        let complete = waiting.partition_point(|piece| piece.at <= until);
        let mut batch = Batch::default();
        for piece in waiting.drain(..complete) {
            // A batch takes everything.
            let _ = self.one(&piece, clock, &mut batch);
        }
        self.waiting = waiting;
        self.now = self.now.max(Time::from_micros(clock.at(until).micros()));
        if self.zero.is_some() {
            let now = self.since_zero();
            let _ = self.mapper.reach(now, &mut batch);
        }
        self.close(batch)
    }

    /// The same at the end, when nothing is passed on any more.
    pub(super) fn finish(&mut self, pieces: impl Iterator<Item = Tapped>, clock: &Clock) -> Batch {
        let mut batch = self.take(pieces, Instant::now(), clock);
        let mut last = Batch::new(self.now);
        let _ = self.mapper.finish(&mut last);
        batch.append(self.close(last));
        batch
    }

    fn close(&mut self, mut batch: Batch) -> Batch {
        batch.received = self.now;
        batch.clock_offset = self.zero.map(Time::nanos);
        self.samples += batch.sample_count() as u64;
        let room = PROBLEMS.saturating_sub(self.problems.len());
        self.problems.extend(batch.problems().take(room).cloned());
        batch
    }

    /// The last moment as the times of samples have it.
    fn since_zero(&mut self) -> Time {
        Time::from_nanos(self.now.since(*self.zero.get_or_insert(self.now)))
    }

    fn one(&mut self, piece: &Tapped, clock: &Clock, batch: &mut Batch) -> Result<(), SinkError> {
        self.now = self.now.max(Time::from_micros(clock.at(piece.at).micros()));
        let (now, bytes) = (self.since_zero(), &*piece.bytes);
        match piece.what {
            What::Control => {
                let at = self.control_bytes;
                self.control_bytes += bytes.len() as u64;
                self.control = Control::parse(bytes).ok().map(|control| control.control).or(self.control);
                self.mapper.control(now, at, bytes, batch)
            }
            What::Status => {
                let at = self.status_bytes;
                self.status_bytes += bytes.len() as u64;
                if let Ok(status) = Status::parse(bytes) {
                    (self.status, self.battery) = (Some(status.status), status.volts().or(self.battery));
                }
                self.mapper.status(now, at, bytes, batch)
            }
            What::Opened => {
                (self.to_robot, self.to_station) = (Some(Messages::default()), Some(Messages::default()));
                Ok(())
            }
            What::Stream { to_robot, whole } => {
                let stream = if to_robot { &mut self.to_robot } else { &mut self.to_station };
                if !whole {
                    *stream = None;
                }
                // Behind a hole only a piece that looks like the beginning of messages can be read.
                if stream.is_none() && plausible(bytes, to_robot) {
                    *stream = Some(Messages::default());
                }
                let Some(messages) = stream else { return Ok(()) };
                messages.push(bytes);
                while let Some((at, body)) = messages.next() {
                    match to_robot {
                        true => self.mapper.to_robot(now, at, body, batch)?,
                        false => self.mapper.to_station(now, at, body, batch)?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// Problems that are kept until somebody asks.
const PROBLEMS: usize = 1000;
