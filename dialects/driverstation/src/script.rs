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

use std::collections::BTreeMap;
use std::time::Duration;

use crate::pd::{Pdh, Pdp, PowerDistribution};
use crate::session::{
    AXES, BUTTONS, Change, Command, Description, DeviceVersion, Fault, JoystickState, Match, POV_RELEASED, POVS,
};
use crate::wire::{AllianceStation, CanMetrics, JOYSTICKS, MatchType, Mode};

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
    /// A station is told something.
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

const STATION: &[(&str, &str)] = &[
    ("mode", "mode teleop|auto|test"),
    ("enable", "enable"),
    ("disable", "disable"),
    ("estop", "estop"),
    ("joystick", "joystick PORT [axes V…] [buttons N,N…|none [of COUNT]] [pov DEGREES|off…]"),
    ("describe", "describe PORT NAME [xbox] [type N] [axes N] [buttons N] [povs N]"),
    ("unplug", "unplug PORT"),
    ("match", "match none|practice|qualification|elimination [NUMBER [EVENT]] [replay N]"),
    ("gamedata", "gamedata TEXT"),
    ("countdown", "countdown SECONDS|off"),
    ("station", "station red|blue 1|2|3"),
    ("versions", "versions"),
    ("restart", "restart"),
    ("reboot", "reboot"),
    ("end", "end"),
];

const ROBOT: &[(&str, &str)] = &[
    ("battery", "battery VOLTS [over TIME]"),
    ("brownout", "brownout on|off"),
    ("cpu", "cpu PERCENT… or CRITICAL/ABOVE/NORMAL/LOW…, for each core"),
    ("can", "can UTILIZATION [busoff N] [txfull N] [receive N] [transmit N]"),
    ("disk", "disk BYTES"),
    ("ram", "ram BYTES"),
    ("pd", "pd off, or pd pdp|pdh AMPERES… [id N] [voltage V]"),
    ("code", "code on|off"),
    ("print", "print TEXT"),
    ("error", "error CODE DETAILS [LOCATION [STACK]]"),
    ("warning", "warning CODE DETAILS [LOCATION [STACK]]"),
    ("text", "text TEXT"),
    ("version", "version NAME VERSION [type N] [id N]"),
    ("faults", "faults COMMS BROWNOUTS"),
    ("rails", "rails 6V 5V 3.3V"),
    ("output", "output PORT BITS [LEFT RIGHT]"),
    ("silence", "silence TIME"),
    ("loss", "loss SHARE"),
    ("reorder", "reorder SHARE"),
    ("duplicate", "duplicate SHARE"),
    ("delay", "delay TIME [jitter TIME]"),
    ("reboot", "reboot"),
    ("end", "end"),
];

/// A word of a line.
struct Word {
    /// From 1, in characters.
    column: usize,
    text: String,
    /// Where it stands in the line, in bytes.
    start: usize,
    end: usize,
    quoted: bool,
}

/// The words of a line, one after the other.
struct Words<'t> {
    line: usize,
    text: &'t str,
    words: Vec<Word>,
    next: usize,
    /// The command that is read.
    usage: &'static str,
}

impl<'t> Words<'t> {
    fn new(line: usize, text: &'t str) -> Result<Self, ScriptError> {
        let mut words = Self { line, text, words: Vec::new(), next: 0, usage: "TIME COMMAND …" };
        let mut chars = (1..).zip(text.char_indices()).peekable();
        while let Some((column, (start, first))) = chars.next() {
            if first.is_whitespace() {
                continue;
            }
            if first == '#' {
                break;
            }
            let quoted = first == '"';
            let mut word = Word { column, text: String::new(), start, end: text.len(), quoted };
            if !quoted {
                word.text.push(first);
                while let Some((_, (at, next))) = chars.peek().copied() {
                    if next.is_whitespace() {
                        word.end = at;
                        break;
                    }
                    word.text.push(next);
                    chars.next();
                }
                words.words.push(word);
                continue;
            }
            let mut closed = false;
            while let Some((column, (at, next))) = chars.next() {
                match next {
                    '"' => {
                        (closed, word.end) = (true, at + 1);
                        break;
                    }
                    '\\' => match chars.next() {
                        Some((_, (_, 'n'))) => word.text.push('\n'),
                        Some((_, (_, 't'))) => word.text.push('\t'),
                        Some((_, (_, same @ ('"' | '\\')))) => word.text.push(same),
                        _ => return Err(words.error(column, r#"behind \ must be one of n, t, \ and ""#.into())),
                    },
                    other => word.text.push(other),
                }
            }
            if !closed {
                return Err(words.error(word.column, "the quoted text does not end; a \" is missing".into()));
            }
            words.words.push(word);
        }
        Ok(words)
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn error(&self, column: usize, message: String) -> ScriptError {
        ScriptError { line: self.line, column, message }
    }

    /// An error at the word that was just read.
    fn wrong(&self, wanted: &str) -> ScriptError {
        let Some(word) = self.next.checked_sub(1).and_then(|last| self.words.get(last)) else {
            return self.missing(wanted);
        };
        self.error(word.column, format!("`{}` is not {wanted}; write `{}`", word.text, self.usage))
    }

    fn missing(&self, wanted: &str) -> ScriptError {
        let column = self.text.trim_end().chars().count() + 1;
        self.error(column, format!("{wanted} is missing; write `{}`", self.usage))
    }

    fn peek(&self) -> Option<&str> {
        self.words.get(self.next).map(|word| word.text.as_str())
    }

    fn word(&mut self, wanted: &str) -> Result<String, ScriptError> {
        let word = self.peek().map(str::to_owned).ok_or_else(|| self.missing(wanted))?;
        self.next += 1;
        Ok(word)
    }

    /// Takes the next word if it is this one.
    fn keyword(&mut self, keyword: &str) -> bool {
        let found = self.words.get(self.next).is_some_and(|word| !word.quoted && word.text == keyword);
        self.next += usize::from(found);
        found
    }

    fn finish(&self) -> Result<(), ScriptError> {
        match self.words.get(self.next) {
            None => Ok(()),
            Some(word) => Err(self.error(word.column, format!("`{}` is too much; write `{}`", word.text, self.usage))),
        }
    }

    fn time(&mut self, before: Duration) -> Result<Duration, ScriptError> {
        let wanted = "a time such as 1.5, 200ms or +1s";
        let word = self.word(wanted)?;
        let (from, time) = match word.strip_prefix('+') {
            Some(time) => (before, time),
            None => (Duration::ZERO, word.as_str()),
        };
        let time = duration(time).and_then(|time| from.checked_add(time));
        time.ok_or_else(|| self.wrong(wanted))
    }

    fn duration(&mut self) -> Result<Duration, ScriptError> {
        let wanted = "a time such as 1.5 or 200ms";
        let word = self.word(wanted)?;
        duration(&word).ok_or_else(|| self.wrong(wanted))
    }

    fn every(&mut self) -> Result<Option<Every>, ScriptError> {
        if !self.keyword("every") {
            return Ok(None);
        }
        self.usage = "TIME every PERIOD [until TIME] COMMAND …";
        let period = self.duration()?;
        if period < SHORTEST_PERIOD {
            return Err(self.wrong("a period of at least 1ms"));
        }
        let until = if self.keyword("until") { Some(self.duration()?) } else { None };
        Ok(Some(Every { period, until }))
    }

    fn number<N: Copy + PartialOrd + std::str::FromStr>(
        &mut self,
        wanted: &str,
        range: std::ops::RangeInclusive<N>,
    ) -> Result<N, ScriptError> {
        let word = self.word(wanted)?;
        let number = word.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.wrong(wanted))
    }

    fn number_after<N: Copy + PartialOrd + std::str::FromStr>(
        &mut self,
        keyword: &str,
        wanted: &str,
        range: std::ops::RangeInclusive<N>,
    ) -> Result<Option<N>, ScriptError> {
        if self.keyword(keyword) { self.number(wanted, range).map(Some) } else { Ok(None) }
    }

    fn port(&mut self) -> Result<u8, ScriptError> {
        self.number("a stick from 0 to 5", 0..=5)
    }

    fn share(&mut self) -> Result<f64, ScriptError> {
        self.number("a share from 0 to 1", 0.0..=1.0)
    }

    fn switch(&mut self) -> Result<bool, ScriptError> {
        match self.word("on or off")?.as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(self.wrong("on or off")),
        }
    }

    /// One word if it is quoted; else the rest of the line as it stands.
    fn rest(&mut self) -> Result<String, ScriptError> {
        let rest = self.words.get(self.next..).unwrap_or_default();
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return Err(self.missing("a text")) };
        if first.quoted {
            return self.word("a text");
        }
        let text = self.text.get(first.start..last.end).unwrap_or_default().to_owned();
        self.next = self.words.len();
        Ok(text)
    }

    /// Numbers until something else comes.
    fn numbers<N: Copy + PartialOrd + std::str::FromStr>(
        &mut self,
        wanted: &str,
        most: usize,
        range: &std::ops::RangeInclusive<N>,
    ) -> Result<Vec<N>, ScriptError> {
        let mut numbers = Vec::new();
        while let Some(first) = self.peek().and_then(|word| word.chars().next())
            && !first.is_alphabetic()
        {
            self.next += 1;
            let word = self.words.get(self.next - 1).map(|word| word.text.clone()).unwrap_or_default();
            for piece in word.split(',').filter(|piece| !piece.is_empty()) {
                let number = piece.parse().ok().filter(|number| range.contains(number));
                numbers.push(number.ok_or_else(|| self.wrong(wanted))?);
            }
            if numbers.len() > most {
                return Err(self.wrong(&format!("one of at most {most}")));
            }
        }
        if numbers.is_empty() { Err(self.missing_here(wanted)) } else { Ok(numbers) }
    }

    fn missing_here(&self, wanted: &str) -> ScriptError {
        match self.words.get(self.next) {
            None => self.missing(wanted),
            Some(word) => {
                self.error(word.column, format!("{wanted} is missing before `{}`; write `{}`", word.text, self.usage))
            }
        }
    }

    fn command(&mut self, role: Role) -> Result<Said, ScriptError> {
        let word = self.word("a command")?;
        let of = |role: Role| role.commands().iter().find(|(name, _)| *name == word);
        let Some((_, usage)) = of(role) else {
            let other = of(role.other()).map(|_| format!("`{word}` is for a {} script", role.other().name()));
            let what = other.unwrap_or_else(|| format!("`{word}` is no command"));
            let names: Vec<&str> = role.commands().iter().map(|(name, _)| *name).collect();
            let column = self.words.get(self.next - 1).map_or(1, |word| word.column);
            let message = format!("{what}; a {} script has {}", role.name(), names.join(", "));
            return Err(self.error(column, message));
        };
        self.usage = usage;
        if word == "end" {
            return Ok(Said::Action(Action::End));
        }
        match role {
            Role::Station if word == "joystick" => self.joystick().map(Said::Stick),
            Role::Station => Ok(Said::Action(Action::Station(self.station(&word)?))),
            Role::Robot => Ok(Said::Action(Action::Robot(self.robot(&word)?))),
        }
    }

    fn station(&mut self, word: &str) -> Result<Command, ScriptError> {
        Ok(match word {
            "mode" => Command::Mode(match self.word("a mode")?.as_str() {
                "teleop" => Mode::Teleop,
                "auto" | "autonomous" => Mode::Autonomous,
                "test" => Mode::Test,
                _ => return Err(self.wrong("a mode")),
            }),
            "enable" => Command::Enable,
            "disable" => Command::Disable,
            "estop" => Command::EStop,
            "describe" => Command::Describe { port: self.port()?, description: self.description()? },
            "unplug" => Command::Unplug { port: self.port()? },
            "match" => Command::Match(self.match_info()?),
            "gamedata" => Command::GameData(self.rest()?),
            "countdown" if self.keyword("off") => Command::Countdown(None),
            "countdown" => Command::Countdown(Some(self.number("seconds or off", 0.0..=f32::MAX)?)),
            "station" => {
                let side = self.word("red or blue")?;
                // `red 1` and `red1`.
                let place =
                    if side.ends_with(|c: char| c.is_ascii_digit()) { String::new() } else { self.word("1, 2 or 3")? };
                let station = format!("{side} {place}").parse::<AllianceStation>();
                Command::Station(station.map_err(|_| self.wrong("red 1 to blue 3"))?)
            }
            "versions" => Command::Versions,
            "restart" => Command::RestartCode,
            _ => Command::Reboot,
        })
    }

    fn joystick(&mut self) -> Result<Moved, ScriptError> {
        let mut moved = Moved { port: self.port()?, axes: None, pressed: None, buttons: 0, povs: None };
        loop {
            if self.keyword("axes") {
                moved.axes = Some(self.numbers("an axis from -1 to 1", AXES, &(-1.0..=1.0))?);
            } else if self.keyword("buttons") {
                let none = self.keyword("none") || self.peek() == Some("of");
                let buttons = |words: &mut Self| words.numbers("a button from 1 to 32", BUTTONS, &(1..=BUTTONS));
                moved.pressed = Some(if none { Vec::new() } else { buttons(self)? });
                moved.buttons = self.number_after("of", "a count from 1 to 32", 1..=BUTTONS)?.unwrap_or(0);
            } else if self.keyword("pov") || self.keyword("povs") {
                let mut povs = Vec::new();
                while povs.len() < POVS {
                    if self.keyword("off") {
                        povs.push(POV_RELEASED);
                    } else if self.peek().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
                    {
                        povs.push(self.number("degrees from 0 to 359, or off", POV_RELEASED..=359)?);
                    } else {
                        break;
                    }
                }
                if povs.is_empty() {
                    return Err(self.missing_here("an angle"));
                }
                moved.povs = Some(povs);
            } else {
                return Ok(moved);
            }
        }
    }

    fn description(&mut self) -> Result<Description, ScriptError> {
        let mut description =
            Description { name: self.word("a name")?, kind: Description::HID_JOYSTICK, ..Description::default() };
        loop {
            if self.keyword("xbox") {
                (description.xbox, description.kind) = (true, Description::GAMEPAD);
            } else if let Some(kind) = self.number_after("type", "a type from 0 to 24", 0..=24)? {
                description.kind = kind;
            } else if let Some(axes) = self.number_after("axes", "a count from 0 to 12", 0..=AXES)? {
                description.axes = (0..).take(axes).collect();
            } else if let Some(buttons) = self.number_after("buttons", "a count from 0 to 32", 0..=32)? {
                description.buttons = buttons;
            } else if let Some(povs) = self.number_after("povs", "a count from 0 to 12", 0..=12)? {
                description.povs = povs;
            } else {
                return Ok(description);
            }
        }
    }

    fn match_info(&mut self) -> Result<Match, ScriptError> {
        let wanted = "none, practice, qualification or elimination";
        let kind = self.word(wanted)?;
        let kind = MatchType::of(&kind).ok_or_else(|| self.wrong(wanted))?;
        let mut info = Match { kind, ..Match::default() };
        if self.peek().is_some_and(|word| word != "replay") {
            info.number = self.number("a number from 0 to 65535", 0..=u16::MAX)?;
        }
        if self.peek().is_some_and(|word| word != "replay") {
            info.event = self.word("the name of the event")?;
        }
        info.replay = self.number_after("replay", "a number from 0 to 255", 0..=u8::MAX)?.unwrap_or(0);
        Ok(info)
    }

    fn robot(&mut self, word: &str) -> Result<Change, ScriptError> {
        const COUNT: &str = "a number from 0 to 65535";
        Ok(match word {
            "battery" => {
                let volts = self.number("volts from 0 to 255", 0.0..=255.0)?;
                if self.keyword("over") {
                    Change::BatteryOver { volts, over: self.duration()? }
                } else {
                    Change::Battery(volts)
                }
            }
            "brownout" => Change::Brownout(self.switch()?),
            "cpu" => self.cpu()?,
            "can" => self.can()?,
            "disk" => Change::Disk(self.number("bytes from 0 to 4294967295", 0..=u32::MAX)?),
            "ram" => Change::Ram(self.number("bytes from 0 to 4294967295", 0..=u32::MAX)?),
            "pd" => self.pd()?,
            "code" => Change::Code(self.switch()?),
            "print" => Change::Print(self.rest()?),
            "error" | "warning" => Change::Error(Fault {
                error: word == "error",
                code: self.number("a code", i32::MIN..=i32::MAX)?,
                details: self.word("the details")?,
                location: self.optional(),
                stack: self.optional(),
            }),
            "text" => Change::Text(self.rest()?),
            "version" => {
                let (name, version) = (self.word("a name")?, self.word("a version")?);
                let kind = self.number_after("type", "a type from 0 to 255", 0..=u8::MAX)?.unwrap_or(0);
                let id = self.number_after("id", "an ID from 0 to 63", 0..=63)?.unwrap_or(0);
                Change::Version(DeviceVersion { kind, id, name, version })
            }
            "faults" => Change::Faults {
                comms: self.number(COUNT, 0..=u16::MAX)?,
                brownouts: self.number(COUNT, 0..=u16::MAX)?,
            },
            "rails" => {
                let mut rail = || self.number(COUNT, 0..=u16::MAX);
                Change::Rails([rail()?, rail()?, rail()?])
            }
            "output" => {
                let (port, bits) = (self.port()?, self.number("bits from 0 to 4294967295", 0..=u32::MAX)?);
                let (left, right) = if self.peek().is_some() { (self.share()?, self.share()?) } else { (0.0, 0.0) };
                Change::Output { port, bits, left, right }
            }
            "silence" => Change::Silence(self.duration()?),
            "loss" => Change::Drop(self.share()?),
            "reorder" => Change::Reorder(self.share()?),
            "duplicate" => Change::Duplicate(self.share()?),
            "delay" => {
                let delay = self.duration()?;
                let jitter = if self.keyword("jitter") { self.duration()? } else { Duration::ZERO };
                Change::Delay { delay, jitter }
            }
            _ => Change::Reboot,
        })
    }

    /// The next word, or nothing.
    fn optional(&mut self) -> String {
        let word = self.peek().unwrap_or_default().to_owned();
        self.next = self.words.len().min(self.next + 1);
        word
    }

    fn cpu(&mut self) -> Result<Change, ScriptError> {
        let wanted = "a load from 0 to 100";
        let mut cores = Vec::new();
        while self.peek().is_some() || cores.is_empty() {
            let word = self.word(wanted)?;
            let mut core = [0.0; 4];
            let mut places = core.iter_mut();
            for load in word.split('/') {
                let load = load.parse().ok().filter(|load| (0.0..=100.0).contains(load));
                let (Some(place), Some(load)) = (places.next(), load) else { return Err(self.wrong(wanted)) };
                *place = load;
            }
            cores.push(core);
            if cores.len() > MOST_CORES {
                return Err(self.wrong("one of at most 15 cores"));
            }
        }
        Ok(Change::Cpu(cores))
    }

    fn can(&mut self) -> Result<Change, ScriptError> {
        let mut can =
            CanMetrics { utilization: self.number("a share from 0 to 1", 0.0..=1.0)?, ..CanMetrics::default() };
        loop {
            if let Some(n) = self.number_after("busoff", "a number", 0..=u32::MAX)? {
                can.bus_off = n;
            } else if let Some(n) = self.number_after("txfull", "a number", 0..=u32::MAX)? {
                can.tx_full = n;
            } else if let Some(n) = self.number_after("receive", "a number from 0 to 255", 0..=u8::MAX)? {
                can.receive_errors = n;
            } else if let Some(n) = self.number_after("transmit", "a number from 0 to 255", 0..=u8::MAX)? {
                can.transmit_errors = n;
            } else {
                return Ok(Change::Can(can));
            }
        }
    }

    fn pd(&mut self) -> Result<Change, ScriptError> {
        let wanted = "off, pdp or pdh";
        let hub = match self.word(wanted)?.as_str() {
            "off" => return Ok(Change::Pd(None)),
            "pdp" => false,
            "pdh" => true,
            _ => return Err(self.wrong(wanted)),
        };
        let channels = if hub { 24 } else { 16 };
        let amperes: Vec<f64> = self.numbers("a current from 0 to 127", channels, &(0.0..=127.0))?;
        let id = self.number_after("id", "an ID from 0 to 63", 0..=63)?.unwrap_or(u8::from(hub));
        let volts = self.number_after("voltage", "volts from 4 to 16", 4.0..=16.0)?.unwrap_or(12.0);
        // Channels in order, the steps as section 5.1 of the specification has them.
        let raw = |place: usize| {
            let (steps, most): (f64, f64) = if place < 20 { (8.0, 1023.0) } else { (16.0, 255.0) };
            whole((amperes.get(place).copied().unwrap_or(0.0) * steps).min(most))
        };
        Ok(Change::Pd(Some(if hub {
            PowerDistribution::Pdh(Pdh { id, currents: std::array::from_fn(raw), faults: 0 })
        } else {
            let voltage = u8::try_from(whole((volts - 4.0) / 0.05)).unwrap_or(u8::MAX);
            let currents = std::array::from_fn(raw);
            // 25 °C, and a resistance that is not known.
            PowerDistribution::Pdp(Pdp { id, currents, spare: [0; 2], resistance: u8::MAX, voltage, temperature: 90 })
        })))
    }
}

/// So many cores fit into a tag.
const MOST_CORES: usize = 15;
/// A shorter one is a mistake.
const SHORTEST_PERIOD: Duration = Duration::from_millis(1);

fn whole(number: f64) -> u16 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "stops at the ends of the range")]
    let whole = number.round() as u16;
    whole
}

/// Seconds, or a number with a unit.
fn duration(text: &str) -> Option<Duration> {
    let units = [("us", 1e-6), ("ms", 1e-3), ("min", 60.0), ("s", 1.0)];
    let unit = units.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let plain = number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = number.parse::<f64>().ok().filter(|_| plain)?;
    // Rounded, because 0.3 s are 300 ms and not 299.999999 ms.
    Duration::try_from_secs_f64((number * seconds * 1e9).round() / 1e9).ok()
}
