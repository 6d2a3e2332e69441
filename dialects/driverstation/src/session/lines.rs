use std::collections::VecDeque;

use logpose_core::Time;

use super::change::Fault;
use crate::wire::{Console, ErrorFlags, ErrorMessage, ToStation};

/// Lines and errors that are kept for a station that connects later.
const KEPT: usize = 1000;
/// The longest text of a message; three of them fit into one.
pub(super) const LONGEST: usize = 16_000;

/// What a robot's program has printed and reported.
#[derive(Debug, Default)]
pub(super) struct Lines {
    kept: VecDeque<Said>,
    /// The number of the last one: lines and errors are counted together.
    last: u16,
}

/// A line or an error.
#[derive(Clone, Debug)]
pub(super) struct Said {
    at: Time,
    sequence: u16,
    what: Saying,
}

#[derive(Clone, Debug)]
pub(super) enum Saying {
    Line(String),
    Error(Fault),
}

impl Lines {
    /// Keeps it, and numbers it.
    pub(super) fn say(&mut self, now: Time, what: Saying) -> Said {
        self.last = self.last.wrapping_add(1);
        let said = Said { at: now, sequence: self.last, what };
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(said.clone());
        said
    }

    /// A program that starts counts from the beginning.
    pub(super) fn restart(&mut self) {
        self.last = 0;
    }

    /// Whether the program has said nothing yet.
    pub(super) fn is_new(&self) -> bool {
        self.last == 0
    }

    /// What was kept, in the order in which a robot sends it: first all lines, then all errors.
    pub(super) fn backlog(&self) -> Vec<Said> {
        let (lines, errors): (Vec<_>, Vec<_>) =
            self.kept.iter().cloned().partition(|said| matches!(said.what, Saying::Line(_)));
        lines.into_iter().chain(errors).collect()
    }
}

impl Said {
    /// The message for a station that connected at `opened`: its times are counted from there.
    pub(super) fn message(&self, opened: Time) -> ToStation<'_> {
        #[expect(clippy::cast_possible_truncation, reason = "the wire has binary32")]
        let time = Time::from_nanos(self.at.since(opened)).seconds() as f32;
        let sequence = self.sequence;
        match &self.what {
            Saying::Line(text) => ToStation::Console(Console { time, sequence, text: start_of(text) }),
            Saying::Error(fault) => ToStation::Error(ErrorMessage {
                time,
                sequence,
                count: 1,
                code: fault.code,
                flags: ErrorFlags::default().with_error(fault.error),
                details: start_of(&fault.details),
                location: start_of(&fault.location),
                stack: start_of(&fault.stack),
                rest: &[],
            }),
        }
    }
}

/// The bytes of a text, no more than a message has room for.
pub(super) fn start_of(text: &str) -> &[u8] {
    text.as_bytes().get(..LONGEST).unwrap_or(text.as_bytes())
}
