//! The match as the driver station saw it: its own log, and its link on the network.

use std::io;
use std::sync::Arc;

use logpose_core::{Batch, Link, Session, Time, To, Transmit};
use logpose_driverstation::pd::{Pdh, PowerDistribution};
use logpose_driverstation::session::{
    Change, Command, JoystickState, Match, Robot, RobotOptions, Station, StationOptions,
};
use logpose_driverstation::wire::{AllianceStation, MatchType, Mode as Asked, volts_to_raw};
use logpose_dslog::{Event, Header, Record, Stamp, Status, Version};

use super::pcap::{Pcap, Route};
use super::robot::{Course, Noise, STEP, State};
use super::{EPOCH_US, says};
use logpose_files::Mode;

/// The station's two files, `.dslog` and `.dsevents`.
pub(super) fn logs(course: &Course) -> (Vec<u8>, Vec<u8>) {
    let header = Header { version: Version::V4, start: stamp(START) };
    let (mut log, mut events) = (Vec::new(), Vec::new());
    header.emit(&mut log);
    header.emit(&mut events);
    let mut noise = Noise::new(1110);
    let mut block = Vec::new();
    let mut event = |t: f64, text: &str| Event { time: stamp(t), text: text.as_bytes() }.emit(&mut events);
    event(START + 0.1, "FMS Connected:   Qualification - 12:1, Field Time: 26/3/21 14:22:36\n");
    event(START + 0.1, "Info FMS Event Name: DEMO");
    event(START + CONNECTED, "Info Joystick 0: (Controller (Xbox One For Windows))6 axes, 16 buttons, 1 POVs. ");
    for number in 0_u32.. {
        let t = START + f64::from(number) * STEP;
        if t > course.end + 4.0 {
            break;
        }
        let state = course.state(t, noise.next());
        block.clear();
        let answers = t >= START + CONNECTED;
        if answers {
            panel(&state).emit(&mut block);
        }
        record(course, &state, t, answers, noise.next(), &block).emit(Version::V4, &mut log);
        if let Some(line) = says(course, t).filter(|_| answers) {
            let time = t - START - CONNECTED;
            match line.split_once(" at ").zip(line.split_once(": ")) {
                Some(((kind, _), (place, what))) => {
                    let flags = u8::from(kind == "Error");
                    let place = place.split_once(" at ").map_or(place, |(_, place)| place);
                    event(
                        t,
                        &format!(
                            "<TagVersion>1 <time> {time:06.3} <count> 1 <flags> {flags} <Code> 1 <details> {what} <location> {place} <stack> "
                        ),
                    );
                }
                None => event(t, &format!("<TagVersion>1 <time> {time:06.3} <message> {line} ")),
            }
        }
    }
    (log, events)
}

fn record<'a>(course: &Course, state: &State, t: f64, answers: bool, noise: f64, pd: &'a [u8]) -> Record<'a> {
    // Bits that are 0 mean "true".
    let asked = match state.mode {
        Mode::Auto => 0x10,
        Mode::Teleop => 0x20,
        _ => 0x08,
    };
    let brownout = if state.browned_out { 0x80 } else { 0 };
    let (status, trip, battery) = match answers {
        true => (asked | asked >> 3 | brownout, small(12.0 + 4.0 * noise), volts_to_raw(state.volts)),
        false => (asked, u8::MAX, u16::MAX),
    };
    let loss = match (answers, crowded(course, t)) {
        (false, _) => 25,
        (true, true) => 7,
        (true, false) => 0,
    };
    Record {
        trip,
        loss,
        battery,
        cpu: if answers { small(70.0 + 10.0 * noise) } else { 0 },
        status: Status(!status),
        can: if answers { small(88.0 + 6.0 * noise) } else { 0 },
        wifi: 0,
        bandwidth: 0,
        pd,
    }
}

/// The link on the network, as a capture: two sessions that talk over simulated wires.
pub(super) fn capture(course: &Course) -> io::Result<Vec<u8>> {
    let mut wires = Wires { pcap: Pcap::new(Vec::new())?, noise: Noise::new(1150), sent: [1; 2], flying: Vec::new() };
    let options = StationOptions { station: AllianceStation(1), may_enable: true, timezone: "UTC0".to_owned() };
    let (mut station, mut robot) = (Station::new(options), Robot::new(RobotOptions::default()));
    let played = Match { event: "DEMO".to_owned(), kind: MatchType(2), number: 12, replay: 1 };
    let start = wall(START);
    for from in [Side::Station, Side::Robot] {
        wires.pcap.syn(start, from.route(STREAM), 0)?;
    }
    for link in [DATAGRAMS, STREAM] {
        station.handle_open(start, link);
        robot.handle_open(start, link);
    }
    let stick = |state: &State| {
        let [vx, vy, omega] = state.speeds.map(|speed| if state.mode == Mode::Teleop { speed / 4.5 } else { 0.0 });
        #[expect(clippy::cast_possible_truncation, reason = "a joystick has eight bits")]
        let axes = [vx as f32, vy as f32, 0.0, 0.0, omega as f32, 0.0];
        JoystickState { axes: axes.to_vec(), buttons: vec![false; 16], povs: vec![-1] }
    };
    let mut noise = Noise::new(1110);
    let mut mode = Mode::Disabled;
    // Nothing that is asked of it here is refused.
    let ask = |station: &mut Station, now: Time, command: Command| drop(station.command(now, command));
    ask(&mut station, start, Command::Match(played));
    for step in 0_u32.. {
        let t = START + f64::from(step) * TICK;
        if t > course.end + 2.0 {
            break;
        }
        let now = wall(t);
        if step.is_multiple_of(TICKS) {
            let state = course.state(t, noise.next());
            if state.mode != mode {
                mode = state.mode;
                ask(&mut station, now, Command::Disable);
                if mode.is_enabled() {
                    let asked = if mode == Mode::Auto { Asked::Autonomous } else { Asked::Teleop };
                    ask(&mut station, now, Command::Mode(asked));
                    ask(&mut station, now, Command::Enable);
                }
            }
            ask(&mut station, now, Command::Joystick { port: 0, state: stick(&state) });
            robot.set(now, Change::Battery(state.volts));
            robot.set(now, Change::Brownout(state.browned_out));
            robot.set(now, Change::Pd(Some(panel(&state))));
            // The crowd's phones, for half a second before the push.
            robot.set(now, Change::Drop(if crowded(course, t) { 0.3 } else { 0.002 }));
            if let Some(line) = says(course, t) {
                robot.set(now, Change::Print(line.to_owned()));
            }
        }
        station.handle_timeout(now);
        robot.handle_timeout(now);
        wires.carry(now, &mut station, &mut robot)?;
    }
    Ok(wires.pcap.into_inner())
}

/// What carries packets from one side to the other, and writes down each that it sees.
struct Wires {
    pcap: Pcap<Vec<u8>>,
    noise: Noise,
    /// How far each stream has gone: the station's, the robot's.
    sent: [u32; 2],
    /// Who gets what, on which link, and when.
    flying: Vec<(Time, Side, Link, Arc<[u8]>)>,
}

/// One of the two who talk.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Side {
    Station,
    Robot,
}

impl Side {
    /// The way of what it sends.
    fn route(self, link: Link) -> Route {
        match (self, link) {
            (Self::Station, STREAM) => Route { from: LAPTOP, from_port: 53_000, to: RIO, to_port: 1740 },
            (Self::Station, _) => Route { from: LAPTOP, from_port: 51_000, to: RIO, to_port: 1110 },
            (Self::Robot, STREAM) => Route { from: RIO, from_port: 1740, to: LAPTOP, to_port: 53_000 },
            (Self::Robot, _) => Route { from: RIO, from_port: 52_000, to: LAPTOP, to_port: 1150 },
        }
    }
}

impl Wires {
    fn carry(&mut self, now: Time, station: &mut Station, robot: &mut Robot) -> io::Result<()> {
        while let Some(transmit) = station.poll_transmit() {
            self.take(now, Side::Station, transmit)?;
        }
        while let Some(transmit) = robot.poll_transmit() {
            self.take(now, Side::Robot, transmit)?;
        }
        let (due, later) = std::mem::take(&mut self.flying).into_iter().partition(|(at, ..)| *at <= now);
        self.flying = later;
        let arrived: Vec<(Time, Side, Link, Arc<[u8]>)> = due;
        for (at, to, link, bytes) in arrived {
            let session: &mut dyn Session = if to == Side::Station { station } else { robot };
            // Nobody listens here: what was said is read from the capture.
            let _ = session.handle_input(at, link, &bytes, &mut Batch::new(at));
        }
        Ok(())
    }

    fn take(&mut self, now: Time, from: Side, Transmit { to, bytes, .. }: Transmit) -> io::Result<()> {
        let link = match to {
            To::One(link) => link,
            To::All => return Ok(()),
        };
        if link == STREAM {
            let [station, robot] = &mut self.sent;
            let sent = if from == Side::Station { station } else { robot };
            self.pcap.tcp(now, from.route(link), *sent, &bytes)?;
            *sent = sent.wrapping_add(u32::try_from(bytes.len()).unwrap_or(0));
        } else {
            self.pcap.udp(now, from.route(link), &bytes)?;
        }
        let way = 700_000 + 300_000 * i64::try_from(self.noise.bits() % 4).unwrap_or(0);
        let to = if from == Side::Station { Side::Robot } else { Side::Station };
        self.flying.push((now.plus(way), to, link, bytes));
        Ok(())
    }
}

/// The crowd's phones disturb the link for half a second before the push.
fn crowded(course: &Course, t: f64) -> bool {
    (course.push - 6.0..course.push - 5.5).contains(&t)
}

fn panel(state: &State) -> PowerDistribution {
    let mut currents = [0; 24];
    // The drive has half of it, the shooter and the rest what is left.
    for (current, share) in currents.iter_mut().zip([0.15, 0.14, 0.12, 0.11, 0.2, 0.05, 0.02]) {
        *current = whole(8.0 * share * state.amperes);
    }
    PowerDistribution::Pdh(Pdh { id: 1, currents, faults: 0 })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts from floats stop at the ends")]
fn whole(x: f64) -> u16 {
    (x.round() as u16).min(1023)
}

fn small(x: f64) -> u8 {
    u8::try_from(whole(x)).unwrap_or(u8::MAX - 1)
}

/// The wall clock at a moment of the robot.
fn wall(t: f64) -> Time {
    Time::from_seconds(t).unwrap_or(Time::ZERO).plus(EPOCH_US * 1000)
}

fn stamp(t: f64) -> Stamp {
    Stamp::from_unix_ns(wall(t).nanos())
}

/// When the station begins, on the robot's clock.
const START: f64 = 2.413;
/// How long it takes until the robot answers.
const CONNECTED: f64 = 1.5;
/// A simulated moment, and how many are a cycle of the robot.
const TICK: f64 = 0.0005;
const TICKS: u32 = 40;
const DATAGRAMS: Link = Link(0);
const STREAM: Link = Link(1);
const LAPTOP: [u8; 4] = [10, 2, 54, 5];
const RIO: [u8; 4] = [10, 2, 54, 2];
