//! A small language for what happens when, at a station or at a simulated robot.
//!
//! ```text
//! # a line is a time, a command, and what it needs
//! 0      mode auto
//! 1      enable
//! +500ms joystick 0 axes 0.5 -1 buttons 1,3 of 10 pov 90
//! 2      every 100ms until 5s gamedata LRL
//! 16     disable
//! 17     end
//! ```
//!
//! A time is in seconds or has a unit (`us`, `ms`, `s`, `min`), and counts from the beginning, or with a `+` from the line
//! before. Lines may stand in any order. Text with spaces at its ends, `#` or quotes is quoted: `"a \"b\"\n"`.

mod commands;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

use self::commands::{ROBOT, STATION};
use self::words::Words;
use crate::session::{Change, Command, JoystickState};
use crate::wire::JOYSTICKS;

/// Whose script it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// A station's.
    Station,
    /// A simulated robot's.
    Robot,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Station => "station",
            Self::Robot => "robot",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Station => Self::Robot,
            Self::Robot => Self::Station,
        }
    }

    /// The commands of such a script: the word, and the whole of it.
    #[must_use]
    pub fn commands(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Station => STATION,
            Self::Robot => ROBOT,
        }
    }
}

/// What is still to happen.
///
/// ```
/// use std::time::Duration;
/// use logpose_driverstation::script::{Action, Role, Script};
/// use logpose_driverstation::session::Command;
///
/// let mut script = Script::parse("0 mode auto\n1 enable", Role::Station)?;
/// assert!(script.enables());
/// assert!(script.due(Duration::ZERO).is_some());
/// assert_eq!(script.due(Duration::ZERO), None);
/// assert_eq!(script.next_at(), Some(Duration::from_secs(1)));
/// let step = script.due(Duration::from_secs(3)).unwrap();
/// assert_eq!((step.line, step.action), (2, Action::Station(Command::Enable)));
/// # Ok::<(), logpose_driverstation::script::ScriptError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// By time, and by line where the time is the same.
    steps: BTreeMap<(Duration, usize), Planned>,
}

/// One thing that is to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When, from the beginning.
    pub at: Duration,
    /// The line that says so, from 1.
    pub line: usize,
    /// What.
    pub action: Action,
}

/// What is to happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A command to a station.
    Station(Command),
    /// A robot is made to do something.
    Robot(Change),
    /// It is over.
    End,
}

/// Why a text is no script.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Planned {
    action: Action,
    every: Option<Every>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Every {
    period: Duration,
    until: Option<Duration>,
}

impl Script {
    /// Reads a script.
    pub fn parse(text: &str, role: Role) -> Result<Self, ScriptError> {
        let mut lines = Vec::new();
        let mut before = Duration::ZERO;
        for (number, text) in (1..).zip(text.lines()) {
            let mut words = Words::new(number, text)?;
            if words.is_empty() {
                continue;
            }
            before = words.time(before)?;
            let every = words.every()?;
            let what = words.command(role)?;
            words.finish()?;
            lines.push(Line { at: before, number, every, what });
        }
        lines.sort_by_key(|line| line.at);
        Ok(Self { steps: plan(lines) })
    }

    /// The next thing that is to happen by `elapsed`; call until `None`.
    pub fn due(&mut self, elapsed: Duration) -> Option<Step> {
        let first = self.steps.first_entry().filter(|step| step.key().0 <= elapsed)?;
        let ((at, line), planned) = first.remove_entry();
        if let Some(every) = planned.every {
            let next = at.saturating_add(every.period);
            if every.until.is_none_or(|until| next <= until) {
                self.steps.insert((next, line), planned.clone());
            }
        }
        if planned.action == Action::End {
            self.steps.clear();
        }
        Some(Step { at, line, action: planned.action })
    }

    /// When the next thing is to happen; `None` if it is over.
    #[must_use]
    pub fn next_at(&self) -> Option<Duration> {
        self.steps.first_key_value().map(|((at, _), _)| *at)
    }

    /// Whether anything in what is left enables a robot.
    #[must_use]
    pub fn enables(&self) -> bool {
        self.steps.values().any(|step| matches!(&step.action, Action::Station(command) if command.enables()))
    }
}

struct Line {
    at: Duration,
    number: usize,
    every: Option<Every>,
    what: Said,
}

/// What a line says.
enum Said {
    Action(Action),
    Stick(Moved),
}

/// What a line says about a stick; what it does not say stays as it is.
struct Moved {
    port: u8,
    axes: Option<Vec<f32>>,
    pressed: Option<Vec<usize>>,
    buttons: usize,
    povs: Option<Vec<i16>>,
}

impl Moved {
    /// How many axes, buttons and POVs the line needs.
    fn parts(&self) -> (usize, usize, usize) {
        let highest = self.pressed.iter().flatten().copied().max().unwrap_or(0);
        (self.axes.as_ref().map_or(0, Vec::len), highest.max(self.buttons), self.povs.as_ref().map_or(0, Vec::len))
    }

    fn apply(self, state: &mut JoystickState) {
        for (place, value) in state.axes.iter_mut().zip(self.axes.into_iter().flatten()) {
            *place = value;
        }
        if let Some(pressed) = self.pressed {
            for (number, down) in (1..).zip(&mut state.buttons) {
                *down = pressed.contains(&number);
            }
        }
        for (place, value) in state.povs.iter_mut().zip(self.povs.into_iter().flatten()) {
            *place = value;
        }
    }
}

/// A stick has from the beginning all the parts that any line names: robot code should not see it change.
fn plan(lines: Vec<Line>) -> BTreeMap<(Duration, usize), Planned> {
    let mut sticks: [JoystickState; JOYSTICKS] = Default::default();
    for line in &lines {
        if let Said::Stick(moved) = &line.what
            && let Some(stick) = sticks.get_mut(usize::from(moved.port))
        {
            let (axes, buttons, povs) = moved.parts();
            stick.widen(axes, buttons, povs);
        }
    }
    let mut steps = BTreeMap::new();
    for Line { at, number, every, what } in lines {
        let action = match what {
            Said::Action(action) => action,
            Said::Stick(moved) => {
                let port = moved.port;
                let Some(stick) = sticks.get_mut(usize::from(port)) else { continue };
                moved.apply(stick);
                Action::Station(Command::Joystick { port, state: stick.clone() })
            }
        };
        steps.insert((at, number), Planned { action, every });
    }
    steps
}
