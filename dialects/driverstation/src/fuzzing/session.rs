//! A station and a robot, given anything, and talking to each other over links that lose, double and delay.

use std::collections::BTreeMap;
use std::time::Duration;

use logpose_core::{Channel, ChannelId, Link, Problem, Sample, Session, Severity, Sink, SinkError, Time, To};

use super::Checked;
use crate::script::{Role, Script};
use crate::session::{Change, Command, JoystickState, Robot, RobotOptions, Station, StationOptions, WATCHDOG};
use crate::wire::{Control, Messages, Mode, Status, ToRobot, ToStation};

const DATAGRAMS: Link = Link(0);
const MS: i64 = 1_000_000;

/// Both sides, alone and together.
pub fn session(data: &[u8]) {
    alone(&mut Station::new(StationOptions::default()), data, true);
    alone(&mut Robot::new(RobotOptions::default()), data, false);
    together(data);
}

/// A text that may be a script: a mistake has a place, and what can be read has an end.
pub fn script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for role in [Role::Station, Role::Robot] {
        match Script::parse(&text, role) {
            Ok(mut script) => {
                let mut last = Duration::ZERO;
                for _ in 0..1000 {
                    let next = script.next_at();
                    let Some(step) = script.due(Duration::MAX) else { break };
                    assert_eq!(next, Some(step.at));
                    assert!(last <= step.at && step.line <= text.lines().count());
                    last = step.at;
                }
            }
            Err(error) => {
                let line = text.lines().nth(error.line - 1).map(|line| line.chars().count());
                assert!(line.is_some_and(|line| error.column <= line + 1), "{error}");
            }
        }
    }
}

/// Whatever comes, whenever: what goes out makes sense.
fn alone(session: &mut dyn Session, data: &[u8], station: bool) {
    let mut sink = Anything::default();
    let mut now = Time::ZERO;
    let mut rest = data;
    while let [what, wait, length, after @ ..] = rest {
        let (bytes, after) = after.split_at_checked(usize::from(*length)).unwrap_or((after, &[]));
        rest = after;
        // Clocks are sometimes set back.
        now = now.plus(i64::from(*wait) * 5 * MS - i64::from(*what >> 7) * 300 * MS);
        let link = Link(u32::from(*what >> 4 & 3));
        match what & 15 {
            0 => session.handle_close(now, link),
            1 | 2 => session.handle_open(now, link),
            3..7 => session.handle_timeout(now),
            _ => assert!(session.handle_input(now, link, bytes, &mut sink).is_ok()),
        }
        if session.poll_timeout().is_some_and(|due| due <= now) {
            session.handle_timeout(now);
            assert!(session.poll_timeout().is_none_or(|due| due > now), "it does not wait");
        }
        assert!(session.poll_samples(&mut sink).is_ok());
        while let Some(transmit) = session.poll_transmit() {
            check(&transmit.bytes, station);
        }
        while session.poll_close().is_some() {}
    }
}

/// What a side that may enable nothing sends: a packet or a message that can be read.
fn check(bytes: &[u8], station: bool) {
    let packet = if station {
        let good = |packet: &Control<'_>| packet.version == 1 && packet.control.0 & 0x0c == 0;
        Control::parse(bytes).is_ok_and(|packet| good(&packet) && { packet.tags }.all(|tag| tag.is_ok()))
    } else {
        Status::parse(bytes).is_ok_and(|packet| packet.version == 1 && { packet.tags }.all(|tag| tag.is_ok()))
    };
    let mut messages = Messages::default();
    messages.push(bytes);
    let whole = messages
        .next()
        .is_some_and(|(_, body)| if station { ToRobot::parse(body).is_ok() } else { ToStation::parse(body).is_ok() });
    assert!(packet || whole && messages.rest_len() == 0, "{bytes:02x?}");
}

/// A conversation in which the data say what is commanded and what the links do.
fn together(data: &[u8]) {
    let mut station = Station::new(StationOptions { may_enable: true, ..StationOptions::default() });
    let mut robot = Robot::new(RobotOptions { boot: Duration::from_secs(2), ..RobotOptions::default() });
    let mut sinks = [Anything::default(), Anything::default()];
    let mut links = Links { fates: data, flying: BTreeMap::new(), order: 0, tcp: None, opened: 0 };
    let mut now = Time::ZERO;
    let mut permitted = false;
    let mut enabled_at: Option<Time> = None;
    robot.handle_open(now, DATAGRAMS);
    station.handle_open(now, DATAGRAMS);
    for byte in data {
        permitted |= command(&mut station, &mut robot, &mut links, now, *byte);
        let end = now.plus(i64::from(*byte % 64) * MS);
        loop {
            links.take(&mut station, true, now);
            links.take(&mut robot, false, now);
            let next = [links.next(), station.poll_timeout(), robot.poll_timeout()];
            let Some(next) = next.into_iter().flatten().min().filter(|next| *next <= end) else { break };
            now = now.max(next);
            while let Some((link, to_robot, bytes)) = links.arrived(now) {
                let enabled = to_robot && link == DATAGRAMS && bytes.get(3).is_some_and(|bits| bits & 0x04 != 0);
                enabled_at = if enabled { Some(now) } else { enabled_at };
                let [at_station, at_robot] = &mut sinks;
                let done = match to_robot {
                    true => robot.handle_input(now, link, &bytes, at_robot),
                    false => station.handle_input(now, link, &bytes, at_station),
                };
                assert!(done.is_ok());
            }
            for session in [&mut station as &mut dyn Session, &mut robot] {
                session.handle_timeout(now);
                assert!(session.poll_timeout().is_none_or(|due| due > now), "it does not wait");
            }
            permitted &= station.view().stopped.is_none();
            assert!(!station.view().enabled || permitted, "enabled by itself");
            let fresh = enabled_at.is_some_and(|enabled_at| now.since(enabled_at) < WATCHDOG);
            assert!(!robot.view().enabled || fresh && robot.view().code, "enabled without a packet");
        }
        now = end;
        for (session, sink) in [&mut station as &mut dyn Session, &mut robot].into_iter().zip(&mut sinks) {
            assert!(session.poll_samples(sink).is_ok());
        }
    }
    assert!(sinks.iter().all(|sink| sink.damage == 0), "nothing was sent that cannot be read");
}

/// Does what a byte says; returns whether the robot may be enabled from here on.
fn command(station: &mut Station, robot: &mut Robot, links: &mut Links<'_>, now: Time, byte: u8) -> bool {
    let share = f64::from(byte) / 255.0;
    let millis = Duration::from_millis(u64::from(byte) * 8);
    let command = match byte % 32 {
        0..8 => Command::Enable,
        8 => Command::Disable,
        9 => Command::Mode(if byte & 0x80 == 0 { Mode::Autonomous } else { Mode::Test }),
        10 => Command::Joystick { port: byte >> 5, state: JoystickState::at_rest(usize::from(byte >> 4), 9, 1) },
        11 => Command::Unplug { port: byte >> 5 },
        12 => Command::RestartCode,
        13 => Command::Versions,
        14 if byte & 0xc0 == 0 => Command::Reboot,
        15 if byte & 0xe0 == 0 => Command::EStop,
        16 => Command::GameData("LRL".into()),
        17 => Command::Countdown(Some(15.0)),
        other => {
            match other {
                18 => robot.set(now, Change::Silence(millis)),
                19 => robot.set(now, Change::Drop(share)),
                20 => robot.set(now, Change::Reorder(share)),
                21 => robot.set(now, Change::Duplicate(share)),
                22 => robot.set(now, Change::Delay { delay: millis / 16, jitter: millis / 8 }),
                23 => robot.set(now, Change::Code(byte & 0x80 == 0)),
                24 => robot.set(now, Change::Print("line".into())),
                25 => robot.set(now, Change::Brownout(byte & 0x80 == 0)),
                26 if byte & 0xc0 == 0 => robot.set(now, Change::Reboot),
                27 => links.close(station, robot, now),
                28 | 29 if station.wants_tcp() => links.open(station, robot, now),
                _ => {}
            }
            return false;
        }
    };
    let enables = command.enables();
    station.command(now, command).is_ok() && enables
}

/// What is on its way, by when it arrives.
struct Links<'a> {
    fates: &'a [u8],
    flying: BTreeMap<(Time, u64), (Link, bool, Vec<u8>)>,
    order: u64,
    tcp: Option<Link>,
    opened: u32,
}

impl Links<'_> {
    fn open(&mut self, station: &mut Station, robot: &mut Robot, now: Time) {
        self.opened += 1;
        let link = Link(self.opened);
        self.tcp = Some(link);
        robot.handle_open(now, link);
        station.handle_open(now, link);
    }

    fn close(&mut self, station: &mut Station, robot: &mut Robot, now: Time) {
        let Some(link) = self.tcp.take() else { return };
        self.flying.retain(|_, (on, _, _)| *on != link);
        station.handle_close(now, link);
        robot.handle_close(now, link);
    }

    /// Takes what a side sends. What the links do to it is in the data, over and over.
    fn take(&mut self, session: &mut dyn Session, from_station: bool, now: Time) {
        while let Some(transmit) = session.poll_transmit() {
            let To::One(link) = transmit.to else { panic!("not to all") };
            if link != DATAGRAMS && self.tcp != Some(link) {
                continue;
            }
            self.order += 1;
            let fate = usize::try_from(self.order).ok().and_then(|n| self.fates.get(n % self.fates.len())).copied();
            let fate = fate.filter(|_| link == DATAGRAMS).unwrap_or(2);
            let copies = if fate % 8 == 0 { 0 } else { 1 + usize::from(fate % 8 == 1) };
            let delay = if link == DATAGRAMS { i64::from(fate) * MS / 2 } else { MS };
            for copy in 0..copies {
                let at = now.plus(delay + i64::from(copy > 0) * 7 * MS);
                self.order += 1;
                self.flying.insert((at, self.order), (link, from_station, transmit.bytes.to_vec()));
            }
        }
        while session.poll_close().is_some() {}
    }

    fn next(&self) -> Option<Time> {
        self.flying.first_key_value().map(|((at, _), _)| *at)
    }

    fn arrived(&mut self, now: Time) -> Option<(Link, bool, Vec<u8>)> {
        self.flying.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove())
    }
}

/// A sink for as many packets at a time as there are.
#[derive(Default)]
struct Anything {
    checked: Checked,
    damage: usize,
}

impl Sink for Anything {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.checked.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.checked.calls = 0;
        self.checked.samples(samples)
    }

    fn problem(&mut self, problem: Problem) {
        self.damage += usize::from(problem.severity == Severity::Damage);
    }
}
