use std::time::Duration;

use logpose::{Feed, Log, Order};
use logpose_core::{Channel, ChannelId, Lookup, Problem, Sample, Sink, SinkError, Time, Value};
use logpose_driverstation::session::{BUTTONS, Command, JoystickState};

/// A stick that moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// When, from the first of all moves.
    pub at: Duration,
    /// Which stick, from 0.
    pub port: u8,
    /// Where its parts are then.
    pub state: JoystickState,
}

impl Move {
    pub(super) fn command(self) -> Command {
        Command::Joystick { port: self.port, state: self.state }
    }
}

/// How sticks moved in a log: in one of ours, of WPILib or of AdvantageKit.
pub fn joystick_moves(log: &Log) -> Result<Vec<Move>, SinkError> {
    let channels: Vec<bool> = log.index.channels.iter().map(|one| part(&one.channel.name).is_some()).collect();
    if !channels.contains(&true) {
        return Ok(Vec::new());
    }
    let lookup = Lookup { channels, ..Lookup::default() };
    let mut reading = Reading {
        parts: Vec::new(),
        states: Default::default(),
        counts: [BUTTONS; PORTS as usize],
        moves: Vec::new(),
        first: None,
    };
    let feed = Feed::new(std::slice::from_ref(log), vec![lookup]);
    feed.run(Order::Time, &mut reading)?;
    Ok(reading.moves)
}

/// The input of a joystick that a channel carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum JoystickPart {
    Axes,
    Buttons,
    ButtonCount,
    Povs,
}

/// Which part of which stick a channel is.
fn part(name: &str) -> Option<(u8, JoystickPart)> {
    let lower = name.to_ascii_lowercase();
    let (before, part) = lower.rsplit_once('/')?;
    let part = match part {
        "axes" | "axisvalues" => JoystickPart::Axes,
        "buttons" | "buttonvalues" => JoystickPart::Buttons,
        "buttoncount" => JoystickPart::ButtonCount,
        "povs" => JoystickPart::Povs,
        _ => return None,
    };
    let port = ["/ds/joystick/", "ds:joystick", "/driverstation/joystick", "nt:/advantagekit/driverstation/joystick"]
        .into_iter()
        .find_map(|prefix| before.strip_prefix(prefix))?;
    let port = port.parse().ok().filter(|port| *port < PORTS)?;
    Some((port, part))
}

struct Reading {
    /// By channel.
    parts: Vec<Option<(u8, JoystickPart)>>,
    states: [JoystickState; PORTS as usize],
    /// How many buttons each has, where a log says so.
    counts: [usize; PORTS as usize],
    moves: Vec<Move>,
    first: Option<Time>,
}

impl Sink for Reading {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        let place = id as usize;
        if self.parts.len() <= place {
            self.parts.resize(place + 1, None);
        }
        if let Some(known) = self.parts.get_mut(place) {
            *known = part(&channel.name);
        }
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let Some((port, part)) = self.parts.get(sample.channel as usize).copied().flatten() else { continue };
            let place = usize::from(port);
            let (Some(state), Some(count)) = (self.states.get_mut(place), self.counts.get_mut(place)) else { continue };
            match (part, &sample.value) {
                (JoystickPart::Axes, Value::FloatArray(axes)) => state.axes = axes.iter().collect(),
                #[expect(clippy::cast_possible_truncation, reason = "an axis has eight bits on the wire")]
                (JoystickPart::Axes, Value::DoubleArray(axes)) => {
                    state.axes = axes.iter().map(|axis| axis as f32).collect()
                }
                (JoystickPart::Buttons, Value::BooleanArray(buttons)) => {
                    state.buttons = buttons.iter().map(|button| *button != 0).collect();
                }
                // AdvantageKit has all buttons in one number.
                (JoystickPart::Buttons, Value::Int64(bits)) => {
                    state.buttons = (0..*count).map(|button| bits >> button & 1 == 1).collect();
                }
                (JoystickPart::ButtonCount, Value::Int64(buttons)) => {
                    *count = usize::try_from(*buttons).unwrap_or(0).min(BUTTONS);
                    state.buttons.resize(*count, false);
                }
                (JoystickPart::Povs, Value::Int64Array(povs)) => {
                    state.povs = povs.iter().map(|pov| i16::try_from(pov).unwrap_or(-1)).collect();
                }
                _ => continue,
            }
            let since = sample.time.since(*self.first.get_or_insert(sample.time));
            let at = Duration::from_nanos(u64::try_from(since).unwrap_or(0));
            let state = state.clone();
            // What changes at one moment is one move.
            match self.moves.last_mut().filter(|last| last.at == at && last.port == port) {
                Some(last) => last.state = state,
                None => self.moves.push(Move { at, port, state }),
            }
        }
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}

const PORTS: u8 = 6;

#[cfg(test)]
mod tests {
    use super::{JoystickPart, part};

    #[test]
    fn sticks_are_found_under_all_their_names() {
        let cases = [
            ("/ds/joystick/0/axes", Some((0, JoystickPart::Axes))),
            ("DS:joystick3/buttons", Some((3, JoystickPart::Buttons))),
            ("/DriverStation/Joystick5/POVs", Some((5, JoystickPart::Povs))),
            ("/DriverStation/Joystick1/AxisValues", Some((1, JoystickPart::Axes))),
            ("/DriverStation/Joystick1/ButtonValues", Some((1, JoystickPart::Buttons))),
            ("/DriverStation/Joystick1/ButtonCount", Some((1, JoystickPart::ButtonCount))),
            ("/DriverStation/Joystick1/Type", None),
            ("/ds/joystick/6/axes", None),
            ("/ds/joystick/0/outputs", None),
            ("axes", None),
        ];
        for (name, found) in cases {
            assert_eq!(part(name), found, "{name}");
        }
    }
}
