use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::Time;
use logpose_driverstation::script::{Action, Script};

use super::Move;

/// What is to happen when, from a moment on that is not known yet.
#[derive(Debug)]
pub(super) struct Agenda {
    steps: Steps,
    pub(super) begins: Begins,
    since: Option<Time>,
}

#[derive(Debug)]
enum Steps {
    Script(Script),
    Moves(VecDeque<Move>),
}

/// From when on an agenda is followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Begins {
    /// When the other side is heard for the first time.
    Heard,
    /// When the robot is enabled for the first time.
    Enabled,
}

impl Agenda {
    pub(super) fn script(script: Script) -> Self {
        Self { steps: Steps::Script(script), begins: Begins::Heard, since: None }
    }

    pub(super) fn moves(moves: Vec<Move>, begins: Begins) -> Self {
        Self { steps: Steps::Moves(moves.into()), begins, since: None }
    }

    /// The moment has come, if it had not yet.
    pub(super) fn begin(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// The next thing that is due, and the line that says so, if it is one of a script.
    pub(super) fn due(&mut self, now: Time) -> Option<(Option<usize>, Action)> {
        let elapsed = Duration::from_nanos(u64::try_from(now.since(self.since?)).unwrap_or(0));
        match &mut self.steps {
            Steps::Script(script) => script.due(elapsed).map(|step| (Some(step.line), step.action)),
            Steps::Moves(moves) => {
                let due = moves.pop_front_if(|one| one.at <= elapsed)?;
                Some((None, Action::Station(due.command())))
            }
        }
    }

    /// When the next thing is due.
    pub(super) fn next(&self) -> Option<Time> {
        let at = match &self.steps {
            Steps::Script(script) => script.next_at(),
            Steps::Moves(moves) => moves.front().map(|one| one.at),
        };
        Some(self.since?.plus(i64::try_from(at?.as_nanos()).unwrap_or(i64::MAX)))
    }
}
