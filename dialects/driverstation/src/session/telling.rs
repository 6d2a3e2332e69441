use std::collections::VecDeque;
use std::sync::Arc;

use logpose_core::{Problem, Severity, Sink, SinkError, Time};

use crate::Mapper;
use crate::wire::Messages;

/// What goes over the link in either direction, on its way into the sink.
///
/// Received packets go to the sink at once; sent ones wait until there is a sink.
#[derive(Default)]
pub(super) struct Telling {
    mapper: Mapper,
    /// The moment of the first packet, from which the times of samples are counted: the link has no clock of its own.
    zero: Option<Time>,
    waiting: VecDeque<(Time, What, Arc<[u8]>)>,
    notes: VecDeque<Problem>,
    /// Bytes of each kind so far.
    bytes: [u64; 4],
}

/// What some bytes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A datagram from the station.
    Control,
    /// A datagram from the robot.
    Status,
    /// A message without its size from the station.
    ToRobot,
    /// A message without its size from the robot.
    ToStation,
}

impl Telling {
    /// Keeps something that was said until there is a sink. A message is whole, with its size.
    pub(super) fn said(&mut self, now: Time, what: What, bytes: &Arc<[u8]>) {
        self.waiting.push_back((now, what, Arc::clone(bytes)));
    }

    pub(super) fn note(&mut self, problem: Problem) {
        self.notes.push_back(problem);
    }

    /// A stream has ended: what is left of it is the beginning of a message.
    pub(super) fn ended(&mut self, what: What, messages: &Messages) {
        let Some(missing) = messages.unfinished() else { return };
        let (at, left) = (*self.total(what), messages.rest_len() as u64);
        *self.total(what) += left;
        let message = format!("the TCP link was closed inside a message: {missing}");
        self.note(Problem::new(Severity::Damage, "unfinished-message", at, left, message));
    }

    /// Tells what was heard, and before it what waits.
    pub(super) fn heard(&mut self, now: Time, what: What, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.flush(sink)?;
        self.pass(now, what, bytes, sink)
    }

    /// Tells what waits, and that time has gone on.
    pub(super) fn reach(&mut self, now: Time, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.flush(sink)?;
        match self.zero {
            Some(_) => {
                let now = self.since_zero(now);
                self.mapper.reach(now, sink)
            }
            None => Ok(()),
        }
    }

    /// What to add to the times of samples to get those of the session.
    pub(super) fn clock_offset(&self) -> Option<i64> {
        self.zero.map(Time::nanos)
    }

    fn since_zero(&mut self, now: Time) -> Time {
        Time::from_nanos(now.since(*self.zero.get_or_insert(now)))
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        while let Some((now, what, bytes)) = self.waiting.pop_front() {
            let without_size = match what {
                What::Control | What::Status => &bytes[..],
                What::ToRobot | What::ToStation => bytes.get(2..).unwrap_or_default(),
            };
            self.pass(now, what, without_size, sink)?;
        }
        self.notes.drain(..).for_each(|note| sink.problem(note));
        Ok(())
    }

    fn pass(&mut self, now: Time, what: What, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        let size = match what {
            What::Control | What::Status => 0,
            What::ToRobot | What::ToStation => 2,
        };
        let total = self.total(what);
        let at = *total;
        *total += size + bytes.len() as u64;
        let now = self.since_zero(now);
        match what {
            What::Control => self.mapper.control(now, at, bytes, sink),
            What::Status => self.mapper.status(now, at, bytes, sink),
            What::ToRobot => self.mapper.to_robot(now, at, bytes, sink),
            What::ToStation => self.mapper.to_station(now, at, bytes, sink),
        }
    }

    fn total(&mut self, what: What) -> &mut u64 {
        let [control, status, to_robot, to_station] = &mut self.bytes;
        match what {
            What::Control => control,
            What::Status => status,
            What::ToRobot => to_robot,
            What::ToStation => to_station,
        }
    }
}
