use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use logpose_core::{Link, Problem, Session, Severity, Sink, SinkError, Time, Transmit};

use super::command::{Command, Event, Match, Refused, Stopped};
use super::joystick::{Description, JoystickState};
use super::telling::{Telling, What};
use super::{CADENCE, LOST_AFTER};
use crate::trips::Trips;
use crate::wire::{
    AllianceStation, Control, ControlBits, ControlTag, Date, JOYSTICKS, MatchInfo, Messages, Mode, RequestBits, Status,
    StatusBits, Tags, ToRobot, ToStation, TraceBits, VERSION,
};

/// A station shows on TCP this often that it is there.
const KEEP_ALIVE_EVERY: i64 = 2_070_000_000;
/// How long a station asks for a reboot.
const REBOOT_FOR: i64 = 18_000_000_000;
/// How long a station asks for a restart of the program, if the robot does not stop reporting one before.
const RESTART_FOR: i64 = 440_000_000;
/// How long a station asks for versions, if the list does not end before.
const VERSIONS_FOR: i64 = 1_000_000_000;
/// Disabled packets that a farewell is made of.
const FAREWELLS: usize = 5;
/// Events that are kept for whoever asks.
const EVENTS: usize = 64;
/// The longest name of an event or a stick.
const LONGEST_NAME: usize = 255;
/// The longest game data: a message holds one byte more.
const LONGEST_GAME_DATA: usize = 65_534;

/// The side that a Driver Station is: control packets every 20 ms, whatever happens.
///
/// It enables nothing unless its options permit it and it is commanded to, disables itself when it has lost the robot or
/// its program, and never enables again by itself. It never says that a field is attached.
///
/// ```
/// use logpose_core::{Link, Session, Time};
/// use logpose_driverstation::session::{Command, Refused, Station, StationOptions};
///
/// let mut station = Station::new(StationOptions::default());
/// station.handle_open(Time::ZERO, Link(0));
/// assert_eq!(station.poll_transmit().unwrap().bytes[..], [0, 1, 1, 0, 0, 0]);
/// assert_eq!(station.command(Time::ZERO, Command::Enable), Err(Refused::NotPermitted));
/// assert_eq!(station.poll_timeout(), Some(Time::from_millis(20)));
/// ```
pub struct Station {
    options: StationOptions,
    telling: Telling,
    now: Time,
    datagrams: Option<Link>,
    tcp: Option<Tcp>,
    /// The grid that packets are sent on.
    anchor: Time,
    next: Time,
    sequence: u16,
    enabled: bool,
    mode: Mode,
    estop: bool,
    sticks: [Stick; JOYSTICKS],
    match_info: Match,
    game_data: String,
    /// When how many seconds were left.
    countdown: Option<(Time, f32)>,
    reboot_until: Option<Time>,
    restart_until: Option<Time>,
    versions_until: Option<Time>,
    /// The next packet answers the start of a program.
    code_started: bool,
    trips: Trips,
    /// The newest packet that was answered.
    answered: Option<u16>,
    /// When the robot was last heard, while it is there.
    heard: Option<Time>,
    /// What the robot last said, while it is there.
    robot: Option<RobotState>,
    date_wanted: bool,
    trip: Option<i64>,
    sent: u64,
    received: u64,
    stopped: Option<Stopped>,
    events: VecDeque<Event>,
    transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
}

/// The settings of a station.
#[derive(Clone, Debug)]
pub struct StationOptions {
    /// Where it stands.
    pub station: AllianceStation,
    /// Whether it may enable the robot at all.
    pub may_enable: bool,
    /// The name of the timezone that it sends to the robot, such as `PST8PDT`.
    pub timezone: String,
}

/// Red 1, never enables, UTC.
impl Default for StationOptions {
    fn default() -> Self {
        Self { station: AllianceStation(0), may_enable: false, timezone: "UTC".into() }
    }
}

/// How things are at a station.
#[derive(Clone, Debug, PartialEq)]
pub struct StationView {
    /// The robot has answered within the last second.
    pub connected: bool,
    /// There is a TCP link.
    pub tcp: bool,
    /// The robot is asked to be enabled.
    pub enabled: bool,
    /// The mode it is asked to be in.
    pub mode: Mode,
    /// It was stopped for an emergency by this station.
    pub estop: bool,
    /// Where the station stands.
    pub station: AllianceStation,
    /// What the robot last said, while it is there.
    pub robot: Option<RobotState>,
    /// How long the last answered packet and its reply took, in nanoseconds.
    pub trip_time: Option<i64>,
    /// How many of the last 25 packets were lost.
    pub lost: u32,
    /// Control packets sent.
    pub sent: u64,
    /// Replies to them received, each once.
    pub received: u64,
    /// Why the station has disabled itself, until it is commanded again.
    pub stopped: Option<Stopped>,
}

/// What a robot says of itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RobotState {
    /// It is enabled.
    pub enabled: bool,
    /// In which mode.
    pub mode: Mode,
    /// It was stopped for an emergency.
    pub estop: bool,
    /// Its voltage is too low.
    pub brownout: bool,
    /// Its program is there.
    pub code: bool,
    /// Volts, once they mean something.
    pub battery: Option<f64>,
    /// All it says of itself.
    pub status: StatusBits,
    /// All it says of its program.
    pub trace: TraceBits,
}

#[derive(Debug)]
struct Tcp {
    link: Link,
    messages: Messages,
    next_keep_alive: Time,
}

#[derive(Clone, Debug, Default)]
struct Stick {
    description: Description,
    /// Somebody has described it, so it is not known by its parts alone.
    described: bool,
    state: Option<JoystickState>,
}

impl Station {
    /// A station without a link: disabled, teleop, no sticks.
    #[must_use]
    pub fn new(options: StationOptions) -> Self {
        Self {
            options,
            telling: Telling::default(),
            now: Time::ZERO,
            datagrams: None,
            tcp: None,
            anchor: Time::ZERO,
            next: Time::ZERO,
            sequence: 0,
            enabled: false,
            mode: Mode::Teleop,
            estop: false,
            sticks: Default::default(),
            match_info: Match::default(),
            game_data: String::new(),
            countdown: None,
            reboot_until: None,
            restart_until: None,
            versions_until: None,
            code_started: false,
            trips: Trips::default(),
            answered: None,
            heard: None,
            robot: None,
            date_wanted: false,
            trip: None,
            sent: 0,
            received: 0,
            stopped: None,
            events: VecDeque::new(),
            transmit: VecDeque::new(),
            close: VecDeque::new(),
        }
    }

    /// Obeys a command with the next packet.
    pub fn command(&mut self, now: Time, command: Command) -> Result<(), Refused> {
        self.watch(now);
        match command {
            Command::Enable => {
                self.may_enable()?;
                self.enabled = true;
                self.stopped = None;
            }
            Command::Disable => self.enabled = false,
            Command::Mode(Mode::Reserved) => return Err(Refused::NoSuchMode),
            Command::Mode(mode) => {
                if mode != self.mode {
                    self.stop(Stopped::Mode);
                }
                self.mode = mode;
            }
            Command::EStop => {
                self.enabled = false;
                self.estop = true;
            }
            Command::Joystick { port, state } => {
                if self.stick(port)?.moved(port, state) {
                    self.describe(now);
                }
            }
            Command::Unplug { port } => {
                let stick = self.stick(port)?;
                let description = std::mem::take(&mut stick.description).unplugged();
                *stick = Stick { description, described: false, state: None };
                self.describe(now);
            }
            Command::Describe { port, description } => {
                Refused::longer("the name of a stick", description.name.len(), LONGEST_NAME)?;
                self.stick(port)?.described(description);
                self.describe(now);
            }
            Command::Match(match_info) => {
                Refused::longer("the name of the event", match_info.event.len(), LONGEST_NAME)?;
                self.match_info = match_info;
                self.tell_match(now);
            }
            Command::GameData(data) => {
                Refused::longer("the game data", data.len(), LONGEST_GAME_DATA)?;
                self.game_data = data;
                self.tell_game_data(now);
            }
            Command::Countdown(left) => self.countdown = left.map(|left| (now, left)),
            Command::Station(station) if !station.is_known() => return Err(Refused::NoSuchStation(station)),
            Command::Station(station) => self.options.station = station,
            Command::RestartCode => {
                self.connected()?;
                self.stop(Stopped::Restart);
                self.restart_until = Some(now.plus(RESTART_FOR));
            }
            Command::Reboot => {
                self.connected()?;
                self.stop(Stopped::Restart);
                self.reboot_until = Some(now.plus(REBOOT_FOR));
            }
            Command::Versions => {
                self.connected()?;
                self.versions_until = Some(now.plus(VERSIONS_FOR));
            }
        }
        Ok(())
    }

    /// Disables the robot for good: some disabled packets, to be sent before the links are closed.
    pub fn farewell(&mut self, now: Time) {
        self.now = now;
        self.stop(Stopped::Farewell);
        for _ in 0..FAREWELLS {
            self.send_control(now);
        }
    }

    /// What happened since the last call; call until `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether it would like to have a TCP link: the robot answers, and there is none.
    #[must_use]
    pub fn wants_tcp(&self) -> bool {
        self.heard.is_some() && self.tcp.is_none()
    }

    /// How things are.
    #[must_use]
    pub fn view(&self) -> StationView {
        StationView {
            connected: self.heard.is_some(),
            tcp: self.tcp.is_some(),
            enabled: self.enabled,
            mode: self.mode,
            estop: self.estop,
            station: self.options.station,
            robot: self.robot,
            trip_time: self.trip,
            lost: self.trips.lost(),
            sent: self.sent,
            received: self.received,
            stopped: self.stopped,
        }
    }

    fn may_enable(&self) -> Result<(), Refused> {
        if !self.options.may_enable {
            return Err(Refused::NotPermitted);
        }
        if self.estop {
            return Err(Refused::Stopped);
        }
        self.connected()?;
        if self.reboot_until.is_some() || self.restart_until.is_some() {
            return Err(Refused::Restarting);
        }
        match self.robot {
            Some(robot) if robot.estop => Err(Refused::RobotStopped),
            Some(robot) if robot.code => Ok(()),
            _ => Err(Refused::NoCode),
        }
    }

    fn connected(&self) -> Result<(), Refused> {
        self.heard.map(|_| ()).ok_or(Refused::NotConnected)
    }

    fn stick(&mut self, port: u8) -> Result<&mut Stick, Refused> {
        self.sticks.get_mut(usize::from(port)).ok_or(Refused::NoSuchStick(port))
    }

    /// Disables, and says so if it was enabled.
    fn stop(&mut self, why: Stopped) {
        if !std::mem::take(&mut self.enabled) {
            return;
        }
        self.stopped = Some(why);
        let event = Event::Disabled(why);
        self.event(event);
        self.telling.note(Problem::general(Severity::Note, "station-disabled", event.to_string()));
    }

    fn event(&mut self, event: Event) {
        if self.events.len() >= EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// The robot is not there any more.
    fn lose(&mut self, why: Stopped) {
        if self.heard.take().is_some() {
            self.event(Event::Lost);
        }
        self.robot = None;
        self.date_wanted = false;
        self.code_started = false;
        self.restart_until = None;
        self.versions_until = None;
        self.stop(why);
    }

    fn send_control(&mut self, now: Time) {
        let Some(link) = self.datagrams else { return };
        self.sequence = self.sequence.wrapping_add(1);
        let mut tags = Vec::new();
        let present = self.sticks.iter().rposition(|stick| stick.state.is_some()).map_or(0, |last| last + 1);
        for stick in self.sticks.iter().take(present) {
            match &stick.state {
                Some(state) => state.emit(&mut tags),
                None => ControlTag::Joystick(None).emit(&mut tags),
            }
        }
        if let Some((from, left)) = self.countdown {
            #[expect(clippy::cast_possible_truncation, reason = "seconds of a match")]
            let gone = Time::from_nanos(now.since(from)).seconds() as f32;
            ControlTag::Countdown { seconds: (left - gone).max(0.0), rest: &[] }.emit(&mut tags);
        }
        if self.date_wanted {
            let date = Date::of(now).unwrap_or_default();
            ControlTag::Date { date, rest: &[] }.emit(&mut tags);
            ControlTag::Timezone(self.options.timezone.as_bytes()).emit(&mut tags);
        }
        let control = ControlBits::default().with_mode(self.mode);
        let packet = Control {
            sequence: self.sequence,
            version: VERSION,
            control: control.with_enabled(self.enabled && !self.estop).with_estop(self.estop),
            request: self.request(),
            station: self.options.station,
            tags: Tags::new(&tags, 0),
        };
        let mut bytes = Vec::new();
        packet.emit(&mut bytes);
        self.sent += 1;
        self.trips.sent(self.sequence, now);
        let bytes: Arc<[u8]> = bytes.into();
        self.telling.said(now, What::Control, &bytes);
        self.transmit.push_back(Transmit::one(link, bytes));
    }

    /// Nothing until the first reply, and nothing once when a program has started.
    fn request(&mut self) -> RequestBits {
        if self.trip.is_none() || std::mem::take(&mut self.code_started) {
            return RequestBits::default();
        }
        RequestBits::default()
            .with_connected(true)
            .with_reboot(self.reboot_until.is_some())
            .with_restart_code(self.restart_until.is_some())
            .with_versions(self.versions_until.is_some())
    }

    fn send_message(&mut self, now: Time, message: &ToRobot<'_>) {
        let Some(tcp) = &self.tcp else { return };
        let mut bytes = Vec::new();
        message.emit(&mut bytes);
        let bytes: Arc<[u8]> = bytes.into();
        self.telling.said(now, What::ToRobot, &bytes);
        self.transmit.push_back(Transmit::one(tcp.link, bytes));
    }

    /// All six, as NI's station does whenever one changes.
    fn describe(&mut self, now: Time) {
        let sticks = self.sticks.each_ref().map(|stick| stick.description.clone());
        for (port, stick) in (0..).zip(&sticks) {
            self.send_message(now, &ToRobot::Descriptor(stick.wire(port)));
        }
    }

    fn tell_match(&mut self, now: Time) {
        let Match { event, kind, number, replay } = self.match_info.clone();
        let (number, replay) = (Some(number), Some(replay));
        let message = MatchInfo { event: event.as_bytes(), kind, number, replay, rest: &[] };
        self.send_message(now, &ToRobot::Match(message));
    }

    fn tell_game_data(&mut self, now: Time) {
        let data = std::mem::take(&mut self.game_data);
        self.send_message(now, &ToRobot::GameData(data.as_bytes()));
        self.game_data = data;
    }

    /// A reply, if it is one to a packet of ours.
    fn hear(&mut self, now: Time, status: &Status<'_>) {
        let Some(trip) = self.trips.answered(status.sequence, now) else { return };
        self.received += 1;
        self.trip = Some(trip);
        if self.heard.replace(now).is_none() {
            self.event(Event::Connected);
            // The reboot that was asked for has happened.
            self.reboot_until = None;
        }
        if self.answered.is_some_and(|newest| status.sequence.wrapping_sub(newest) >= 0x8000) {
            // It was overtaken by a newer one.
            return;
        }
        self.answered = Some(status.sequence);
        let state = RobotState {
            enabled: status.status.enabled(),
            mode: status.status.mode(),
            estop: status.status.estop(),
            brownout: status.status.brownout(),
            code: status.trace.code(),
            battery: status.volts(),
            status: status.status,
            trace: status.trace,
        };
        let before = self.robot.replace(state);
        self.date_wanted = status.request_date != 0;
        if status.status.code_start() && !before.is_some_and(|before| before.status.code_start()) {
            self.code_started = true;
            self.event(Event::CodeStarted);
        }
        if !state.code {
            self.restart_until = None;
            self.stop(Stopped::NoCode);
        }
        if state.estop {
            self.stop(Stopped::EStop);
        }
    }

    /// What time alone brings about.
    fn watch(&mut self, now: Time) {
        self.now = now;
        while self.trips.verdict(now).is_some() {}
        if self.heard.is_some_and(|heard| now.since(heard) > LOST_AFTER) {
            self.lose(Stopped::Lost);
        }
        for until in [&mut self.reboot_until, &mut self.restart_until, &mut self.versions_until] {
            *until = until.filter(|until| now < *until);
        }
    }
}

impl fmt::Debug for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Station").field("view", &self.view()).finish_non_exhaustive()
    }
}

impl Stick {
    /// Whether its description is another one now.
    fn moved(&mut self, port: u8, mut state: JoystickState) -> bool {
        let before = self.description.clone();
        if self.described {
            let Description { axes, buttons, povs, .. } = &self.description;
            state.widen(axes.len(), (*buttons).into(), (*povs).into());
        } else {
            self.description = Description::of_state(&format!("Joystick {port}"), &state);
        }
        self.state = Some(state);
        self.description != before
    }

    fn described(&mut self, description: Description) {
        self.state = (description.kind != Description::ABSENT).then(|| {
            let mut state = self.state.take().unwrap_or_default();
            state.widen(description.axes.len(), description.buttons.into(), description.povs.into());
            state
        });
        self.described = true;
        self.description = description;
    }
}

impl Session for Station {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.now = now;
        if self.datagrams.is_none() {
            self.datagrams = Some(link);
            self.anchor = now;
            self.next = now.plus(CADENCE);
            self.send_control(now);
            return;
        }
        let tcp = Tcp { link, messages: Messages::default(), next_keep_alive: now.plus(KEEP_ALIVE_EVERY) };
        if let Some(old) = self.tcp.replace(tcp) {
            self.telling.ended(What::ToStation, &old.messages);
            self.close.extend(Some(old.link).filter(|old| *old != link));
        }
        self.describe(now);
        self.tell_match(now);
        self.tell_game_data(now);
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.watch(now);
        if self.datagrams == Some(link) {
            // Anything but a status packet is a problem, which the mapper reports.
            if let Ok(status) = Status::parse(bytes) {
                self.hear(now, &status);
            }
            return self.telling.heard(now, What::Status, bytes, sink);
        }
        let Some(tcp) = self.tcp.as_mut().filter(|tcp| tcp.link == link) else { return Ok(()) };
        tcp.messages.push(bytes);
        while let Some((_, body)) = tcp.messages.next() {
            self.telling.heard(now, What::ToStation, body, sink)?;
            if let Ok(ToStation::Version(version)) = ToStation::parse(body)
                && version.is_end()
            {
                self.versions_until = None;
            }
        }
        Ok(())
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.now = now;
        if self.datagrams == Some(link) {
            self.datagrams = None;
            self.lose(Stopped::Closed);
            self.reboot_until = None;
            self.trip = None;
        }
        if let Some(tcp) = self.tcp.take_if(|tcp| tcp.link == link) {
            self.telling.ended(What::ToStation, &tcp.messages);
            self.versions_until = None;
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.next.since(now) > CADENCE {
            // The clock was set back: the old grid would mean silence until it has caught up.
            self.anchor = now;
            self.next = now;
            self.heard = self.heard.map(|heard| heard.min(now));
        }
        self.watch(now);
        if self.datagrams.is_some() && now >= self.next {
            self.send_control(now);
            self.next = now.plus(CADENCE - now.since(self.anchor).rem_euclid(CADENCE));
        }
        if let Some(tcp) = self.tcp.as_mut().filter(|tcp| now >= tcp.next_keep_alive) {
            tcp.next_keep_alive = now.plus(KEEP_ALIVE_EVERY);
            self.send_message(now, &ToRobot::KeepAlive);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let packet = self.datagrams.map(|_| self.next);
        let keep_alive = self.tcp.as_ref().map(|tcp| tcp.next_keep_alive);
        packet.into_iter().chain(keep_alive).min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }

    fn handle_end(&mut self, now: Time) {
        self.farewell(now);
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.telling.reach(self.now, sink)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.telling.clock_offset()
    }
}
