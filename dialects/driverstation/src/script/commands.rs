//! What a line can say.

use std::time::Duration;

use super::words::Words;
use super::{Action, Moved, Role, Said, ScriptError};
use crate::pd::{Pdh, Pdp, PowerDistribution};
use crate::session::{AXES, BUTTONS, Change, Command, Description, DeviceVersion, Fault, Match, POV_RELEASED, POVS};
use crate::wire::{AllianceStation, CanMetrics, MatchType, Mode};

pub(super) const STATION: &[(&str, &str)] = &[
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

pub(super) const ROBOT: &[(&str, &str)] = &[
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

/// So many cores fit into a tag.
const MOST_CORES: usize = 15;

impl Words<'_> {
    /// The command of a script for `role`.
    pub(super) fn command(&mut self, role: Role) -> Result<Said, ScriptError> {
        let word = self.word("a command")?;
        let of = |role: Role| role.commands().iter().find(|(name, _)| *name == word);
        let Some((_, usage)) = of(role) else {
            let other = of(role.other()).map(|_| format!("`{word}` is for a {} script", role.other().name()));
            let what = other.unwrap_or_else(|| format!("unknown command `{word}`"));
            let names: Vec<&str> = role.commands().iter().map(|(name, _)| *name).collect();
            return Err(self.unsuitable(format!("{what}; commands of a {} script: {}", role.name(), names.join(", "))));
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
                return Err(self.wrong("at most 15 cores"));
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

fn whole(number: f64) -> u16 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "stops at the ends of the range")]
    let whole = number.round() as u16;
    whole
}
