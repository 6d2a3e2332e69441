use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use logpose_core::{Link, Session, Sink, SinkError, Time, Transmit};

use super::change::{Change, DeviceVersion};
use super::command::Match;
use super::gauges::Gauges;
use super::joystick::{Description, JoystickState};
use super::lines::{Lines, Said, Saying, start_of};
use super::telling::{Telling, What};
use super::trouble::Trouble;
use super::{LOST_AFTER, WATCHDOG, nanos};
use crate::wire::{
    AllianceStation, Control, ControlBits, ControlTag, Date, JOYSTICKS, JoystickOutput, Messages, Mode, RequestBits,
    Status, StatusBits, Tags, ToRobot, ToStation, TraceBits, VERSION, Version, rumble_to_raw, volts_to_raw,
};

/// What stands in the place of the voltage while the date is not known, in all captures.
const NO_VOLTAGE: u16 = 0x2560;
/// When message 0d comes after connecting, and what it says, in all captures. Nobody knows what it means.
const UNKNOWN_AFTER: i64 = 600_000_000;
const UNKNOWN: (u8, [u8; 5]) = (0x0d, [0x00, 0x00, 0x04, 0x04, 0x04]);
/// A packet that is up to this far behind the newest one was overtaken; beyond that another station has begun to count.
const OVERTAKEN_BY: u16 = 50;

/// A simulated roboRIO: answers every control packet, obeys the station as a robot does, and has the trouble it is
/// configured to have.
///
/// ```
/// use logpose_core::{Batch, Link, Session, Time};
/// use logpose_driverstation::session::{Robot, RobotOptions};
///
/// let mut robot = Robot::new(RobotOptions::default());
/// robot.handle_open(Time::ZERO, Link(0));
/// robot.handle_input(Time::ZERO, Link(0), &[0, 1, 1, 0, 0, 0], &mut Batch::default())?;
/// assert_eq!(robot.poll_transmit().unwrap().bytes[..], [0, 1, 1, 0, 0x11, 0x25, 0x60, 1]);
/// # Ok::<(), logpose_core::SinkError>(())
/// ```
pub struct Robot {
    options: RobotOptions,
    telling: Telling,
    now: Time,
    datagrams: Option<Link>,
    tcp: Option<Tcp>,
    /// Off, until it has booted.
    booting: Option<Time>,
    code: bool,
    /// When the program that is gone will be back.
    code_at: Option<Time>,
    /// The next status packet says that the program has started.
    code_started: bool,
    heard: Option<Time>,
    /// The newest control packet.
    sequence: Option<u16>,
    asked: ControlBits,
    /// Requests of the last packet; `None` until a packet came, so that nothing is done twice for a station that goes on
    /// asking.
    request: Option<RequestBits>,
    station: Option<AllianceStation>,
    estop: bool,
    enabled: bool,
    /// When it last received an enable.
    enabled_at: Time,
    /// The loop that its program is in: that of the last packet.
    in_loop: Option<Mode>,
    date: Option<Date>,
    timezone: String,
    sticks: Vec<Option<JoystickState>>,
    descriptions: [Description; JOYSTICKS],
    match_info: Option<Match>,
    game_data: Option<String>,
    countdown: Option<f32>,
    gauges: Gauges,
    brownout: bool,
    comms_faults: u16,
    brownouts: u16,
    rails: [u16; 3],
    lines: Lines,
    silent_until: Option<Time>,
    trouble: Trouble,
    received: u64,
    replied: u64,
    transmit: VecDeque<Transmit>,
    close: VecDeque<Link>,
}

/// What a simulated robot is in the beginning.
#[derive(Clone, Debug)]
pub struct RobotOptions {
    /// Whether a program runs.
    pub code: bool,
    /// Volts.
    pub battery: f64,
    /// How many cores its processor has.
    pub cores: u8,
    /// Whether it disables itself 125 ms after the last enabled packet.
    pub watchdog: bool,
    /// Its devices.
    pub versions: Vec<DeviceVersion>,
    /// How long a reboot takes.
    pub boot: Duration,
    /// How long a restart of the program takes.
    pub restart: Duration,
    /// What its trouble is made of: the same number, the same trouble.
    pub seed: u64,
}

/// A roboRIO 2 with a program and a full battery.
impl Default for RobotOptions {
    fn default() -> Self {
        Self {
            code: true,
            battery: 12.5,
            cores: 2,
            watchdog: true,
            versions: vec![DeviceVersion {
                kind: 0,
                id: 0,
                name: "roboRIO Image".into(),
                version: "simulated by logpose".into(),
            }],
            boot: Duration::from_secs(10),
            restart: Duration::from_secs(2),
            seed: 1,
        }
    }
}

/// What robot code would see, and what the robot makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotView {
    /// A station was heard within the last second.
    pub connected: bool,
    /// There is a TCP link.
    pub tcp: bool,
    /// It is enabled.
    pub enabled: bool,
    /// Its outputs are on: it is enabled and there is no brownout.
    pub outputs: bool,
    /// The mode it is asked to be in.
    pub mode: Mode,
    /// It was stopped for an emergency.
    pub estop: bool,
    /// The station says that a field is attached.
    pub fms_attached: bool,
    /// Its program runs.
    pub code: bool,
    /// It is booting.
    pub booting: bool,
    /// Volts.
    pub battery: f64,
    /// Its voltage is too low.
    pub brownout: bool,
    /// Where the station stands.
    pub station: Option<AllianceStation>,
    /// The sticks of the last packet, up to the last one that is there.
    pub joysticks: Vec<Option<JoystickState>>,
    /// What the station sent about its sticks.
    pub descriptions: [Description; JOYSTICKS],
    /// Which match it is.
    pub match_info: Option<Match>,
    /// The field's secret.
    pub game_data: Option<String>,
    /// Seconds left.
    pub countdown: Option<f32>,
    /// The date that the station sent.
    pub date: Option<Date>,
    /// The timezone that the station sent.
    pub timezone: String,
    /// How often its watchdog has disabled it.
    pub comms_faults: u16,
    /// Control packets it has heard.
    pub received: u64,
    /// Replies it has sent.
    pub replied: u64,
}

struct Tcp {
    link: Link,
    messages: Messages,
    opened: Time,
    unknown_at: Option<Time>,
    /// What waits for the end of a silence.
    held: VecDeque<Arc<[u8]>>,
}

impl Robot {
    /// A robot without a link.
    #[must_use]
    pub fn new(options: RobotOptions) -> Self {
        Self {
            telling: Telling::default(),
            now: Time::ZERO,
            datagrams: None,
            tcp: None,
            booting: None,
            code: options.code,
            code_at: None,
            code_started: false,
            heard: None,
            sequence: None,
            asked: ControlBits::default(),
            request: None,
            station: None,
            estop: false,
            enabled: false,
            enabled_at: Time::ZERO,
            in_loop: None,
            date: None,
            timezone: String::new(),
            sticks: Vec::new(),
            descriptions: Default::default(),
            match_info: None,
            game_data: None,
            countdown: None,
            gauges: Gauges::new(options.battery, options.cores),
            brownout: false,
            comms_faults: 0,
            brownouts: 0,
            rails: [0; 3],
            lines: Lines::default(),
            silent_until: None,
            trouble: Trouble::new(options.seed),
            received: 0,
            replied: 0,
            transmit: VecDeque::new(),
            close: VecDeque::new(),
            options,
        }
    }

    /// Makes it do something, at once.
    pub fn set(&mut self, now: Time, change: Change) {
        self.watch(now);
        match change {
            Change::Battery(volts) => self.gauges.charge(now, volts, 0),
            Change::BatteryOver { volts, over } => self.gauges.charge(now, volts, nanos(over)),
            Change::Cpu(cores) => self.gauges.cpu = cores,
            Change::Can(can) => self.gauges.can = can,
            Change::Disk(bytes) => self.gauges.disk = bytes,
            Change::Ram(bytes) => self.gauges.ram = bytes,
            Change::Pd(pd) => self.gauges.pd = pd,
            Change::Brownout(on) => {
                if on && !self.brownout {
                    self.brownouts = self.brownouts.saturating_add(1);
                    self.tell_faults(now);
                }
                self.brownout = on;
            }
            Change::Code(true) => self.start_code(now),
            Change::Code(false) => {
                self.code_at = None;
                self.end_code();
            }
            Change::Print(text) => text.split('\n').for_each(|line| self.say(now, Saying::Line(line.into()))),
            Change::Error(fault) => self.say(now, Saying::Error(fault)),
            Change::Text(text) => self.send_message(now, &ToStation::Text(start_of(&text))),
            Change::Silence(duration) => self.silent_until = Some(now.plus(nanos(duration))),
            Change::Drop(share) => self.trouble.drop = share,
            Change::Reorder(share) => self.trouble.reorder = share,
            Change::Duplicate(share) => self.trouble.duplicate = share,
            Change::Delay { delay, jitter } => {
                (self.trouble.delay, self.trouble.jitter) = (nanos(delay), nanos(jitter));
            }
            Change::Version(version) => self.options.versions.push(version),
            Change::Faults { comms, brownouts } => {
                (self.comms_faults, self.brownouts) = (comms, brownouts);
                self.tell_faults(now);
            }
            Change::Rails(rails) => {
                self.rails = rails;
                self.tell_rails(now);
            }
            Change::Output { port, bits, left, right } => {
                if let Some(place) = self.gauges.outputs.get_mut(usize::from(port)) {
                    let (left_rumble, right_rumble) = (rumble_to_raw(left), rumble_to_raw(right));
                    *place = Some(JoystickOutput { outputs: bits, left_rumble, right_rumble });
                }
            }
            Change::Reboot => self.reboot(now),
        }
    }

    /// What robot code would see.
    #[must_use]
    pub fn view(&self) -> RobotView {
        RobotView {
            connected: self.heard.is_some(),
            tcp: self.tcp.is_some(),
            enabled: self.enabled,
            outputs: self.enabled && !self.brownout,
            mode: self.asked.mode(),
            estop: self.estop,
            fms_attached: self.asked.fms_attached(),
            code: self.code,
            booting: self.booting.is_some(),
            battery: self.gauges.volts(self.now),
            brownout: self.brownout,
            station: self.station,
            joysticks: self.sticks.clone(),
            descriptions: self.descriptions.clone(),
            match_info: self.match_info.clone(),
            game_data: self.game_data.clone(),
            countdown: self.countdown,
            date: self.date,
            timezone: self.timezone.clone(),
            comms_faults: self.comms_faults,
            received: self.received,
            replied: self.replied,
        }
    }

    fn start_code(&mut self, now: Time) {
        if self.booting.is_some() || std::mem::replace(&mut self.code, true) {
            return;
        }
        self.code_at = None;
        self.code_started = true;
        self.lines.restart();
        self.say(now, Saying::Line(PROGRAM_STARTS.into()));
    }

    fn end_code(&mut self) {
        self.code = false;
        self.code_started = false;
        self.enabled = false;
        self.in_loop = None;
        self.gauges.outputs = Default::default();
    }

    fn reboot(&mut self, now: Time) {
        self.booting = Some(now.plus(nanos(self.options.boot)));
        self.code_at = None;
        self.end_code();
        self.forget_station();
        self.estop = false;
        self.date = None;
        self.timezone.clear();
        self.request = None;
        (self.comms_faults, self.brownouts, self.rails) = (0, 0, [0; 3]);
        self.lines = Lines::default();
        self.trouble.clear();
        self.descriptions = Default::default();
        (self.match_info, self.game_data) = (None, None);
        if let Some(tcp) = self.tcp.take() {
            self.telling.ended(What::ToRobot, &tcp.messages);
            self.close.push_back(tcp.link);
        }
    }

    /// No station is there any more.
    fn forget_station(&mut self) {
        self.heard = None;
        self.sequence = None;
        self.enabled = false;
        self.asked = ControlBits::default();
        self.station = None;
        self.sticks.clear();
        self.countdown = None;
    }

    fn is_silent(&self) -> bool {
        self.booting.is_some() || self.silent_until.is_some()
    }

    /// What time alone brings about.
    fn watch(&mut self, now: Time) {
        // A clock that is set back must not keep it enabled.
        self.enabled_at = self.enabled_at.min(now);
        self.heard = self.heard.map(|heard| heard.min(now));
        self.now = now;
        if self.booting.is_some_and(|until| now >= until) {
            self.booting = None;
            self.code_at = self.options.code.then(|| now.plus(nanos(self.options.restart)));
        }
        if self.code_at.is_some_and(|at| now >= at) {
            self.start_code(now);
        }
        if self.watchdog_at().is_some_and(|until| now >= until) {
            self.enabled = false;
            self.comms_faults = self.comms_faults.saturating_add(1);
            self.tell_faults(now);
        }
        if self.heard.is_some_and(|heard| now.since(heard) > LOST_AFTER) {
            self.forget_station();
        }
        self.silent_until = self.silent_until.filter(|until| now < *until);
        if self.is_silent() {
            return;
        }
        if let Some(tcp) = &mut self.tcp {
            if tcp.unknown_at.take_if(|at| now >= *at).is_some() {
                let (id, data) = UNKNOWN;
                self.send_message(now, &ToStation::Unknown { id, data: &data });
            }
            self.release(now);
        }
        self.send_replies(now);
    }

    fn watchdog_at(&self) -> Option<Time> {
        (self.options.watchdog && self.enabled).then(|| self.enabled_at.plus(WATCHDOG))
    }

    /// A control packet; one that was overtaken changes nothing.
    fn hear(&mut self, now: Time, control: &Control<'_>) {
        self.received += 1;
        self.heard = Some(now);
        let behind = self.sequence.map_or(0, |newest| newest.wrapping_sub(control.sequence));
        if (1..=OVERTAKEN_BY).contains(&behind) {
            return;
        }
        self.sequence = Some(control.sequence);
        self.asked = control.control;
        self.station = Some(control.station);
        self.estop |= control.control.estop();
        self.enabled = control.control.enabled() && !self.estop && self.code;
        if self.enabled {
            self.enabled_at = now;
        }
        self.sticks.clear();
        self.countdown = None;
        for tag in control.tags.lenient().flatten() {
            match ControlTag::parse(tag) {
                Ok(ControlTag::Joystick(stick)) => {
                    let stick = stick.filter(|stick| !stick.is_absent());
                    self.sticks.push(stick.map(|stick| JoystickState::of_wire(&stick)));
                }
                Ok(ControlTag::Countdown { seconds, .. }) => self.countdown = Some(seconds),
                Ok(ControlTag::Date { date, .. }) => {
                    if self.date.replace(date).is_none() {
                        self.gauges.begin(now);
                    }
                }
                Ok(ControlTag::Timezone(name)) => self.timezone = String::from_utf8_lossy(name).into_owned(),
                Ok(ControlTag::Unknown(_)) => {}
                // One that cannot be read keeps its place.
                Err(_) if tag.id == ControlTag::JOYSTICK => self.sticks.push(None),
                Err(_) => {}
            }
        }
        self.sticks.truncate(JOYSTICKS);
        self.obey(now, control.request);
    }

    /// Does what was not asked for before.
    fn obey(&mut self, now: Time, request: RequestBits) {
        let before = self.request.replace(request);
        let rises = |bit: fn(RequestBits) -> bool| bit(request) && before.is_some_and(|before| !bit(before));
        if rises(RequestBits::versions) {
            self.tell_versions(now);
        }
        if rises(RequestBits::restart_code) && self.code {
            self.end_code();
            self.code_at = Some(now.plus(nanos(self.options.restart)));
        }
        if rises(RequestBits::reboot) {
            self.reboot(now);
        }
    }

    fn reply(&mut self, now: Time, sequence: u16) {
        let known = self.date.is_some();
        let status = StatusBits::default()
            .with_mode(self.asked.mode())
            .with_enabled(self.enabled)
            .with_code_start(std::mem::take(&mut self.code_started))
            .with_brownout(self.brownout)
            .with_estop(self.estop);
        let mut tags = Vec::new();
        if known {
            self.gauges.emit(now, &mut tags);
        }
        let packet = Status {
            sequence,
            version: VERSION,
            status,
            trace: self.trace(),
            battery: if known { volts_to_raw(self.gauges.volts(now)) } else { NO_VOLTAGE },
            request_date: u8::from(!known),
            tags: Tags::new(&tags, 0),
        };
        let mut bytes = Vec::new();
        packet.emit(&mut bytes);
        self.trouble.push(now, &bytes.into());
        self.send_replies(now);
    }

    fn send_replies(&mut self, now: Time) {
        while let Some(bytes) = self.trouble.pop(now) {
            let Some(link) = self.datagrams else { continue };
            self.replied += 1;
            self.telling.said(now, What::Status, &bytes);
            self.transmit.push_back(Transmit::one(link, bytes));
        }
    }

    /// The loop of the last packet: a program is one packet behind its input.
    fn trace(&mut self) -> TraceBits {
        let trace = TraceBits::default().with_roborio(true);
        if !self.code {
            return trace;
        }
        let now_in = self.enabled.then(|| self.asked.mode());
        let was_in = std::mem::replace(&mut self.in_loop, now_in);
        // Before the date is known a program is still loading, as captured.
        let trace = trace.with_code(self.date.is_some());
        match was_in {
            None => trace.with_disabled(true),
            Some(Mode::Autonomous) => trace.with_autonomous(true),
            Some(Mode::Test) => trace.with_test(true),
            Some(Mode::Teleop | Mode::Reserved) => trace.with_teleop(true),
        }
    }

    /// A line or an error of the program: kept, and sent if a station listens.
    fn say(&mut self, now: Time, what: Saying) {
        let said = self.lines.say(now, what);
        self.send_said(now, &said);
    }

    fn send_said(&mut self, now: Time, said: &Said) {
        if let Some(tcp) = &self.tcp {
            self.send_message(now, &said.message(tcp.opened));
        }
    }

    fn tell_faults(&mut self, now: Time) {
        let (comms, brownouts) = (self.comms_faults, self.brownouts);
        self.send_message(now, &ToStation::DisableFaults { comms, brownout_12v: brownouts, rest: &[] });
    }

    fn tell_rails(&mut self, now: Time) {
        let [v6, v5, v3_3] = self.rails;
        self.send_message(now, &ToStation::RailFaults { v6, v5, v3_3, rest: &[] });
    }

    /// The list of devices, and the empty one that ends it.
    fn tell_versions(&mut self, now: Time) {
        let versions = std::mem::take(&mut self.options.versions);
        for DeviceVersion { kind, id, name, version } in &versions {
            let (kind, id, name, version) = (*kind, *id, name.as_bytes(), version.as_bytes());
            self.send_message(now, &ToStation::Version(Version { kind, id, name, version, ..Version::default() }));
        }
        self.options.versions = versions;
        self.send_message(now, &ToStation::Version(Version::default()));
    }

    /// A message for the station, if it listens; after a silence, if there is one.
    fn send_message(&mut self, now: Time, message: &ToStation<'_>) {
        let Some(tcp) = &mut self.tcp else { return };
        let mut bytes = Vec::new();
        message.emit(&mut bytes);
        tcp.held.push_back(bytes.into());
        if !self.is_silent() {
            self.release(now);
        }
    }

    fn release(&mut self, now: Time) {
        let Some(tcp) = &mut self.tcp else { return };
        for bytes in tcp.held.drain(..) {
            self.telling.said(now, What::ToStation, &bytes);
            self.transmit.push_back(Transmit::one(tcp.link, bytes));
        }
    }

    /// A message from the station.
    fn listen(&mut self, message: &ToRobot<'_>) {
        match message {
            ToRobot::Descriptor(descriptor) => {
                if let Some(place) = self.descriptions.get_mut(usize::from(descriptor.index)) {
                    *place = Description::of_wire(descriptor);
                }
            }
            ToRobot::Match(info) => self.match_info = Some(Match::of_wire(info)),
            ToRobot::GameData(data) => self.game_data = Some(String::from_utf8_lossy(data).into_owned()),
            ToRobot::KeepAlive | ToRobot::Unknown { .. } => {}
        }
    }
}

impl fmt::Debug for Robot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Robot").field("view", &self.view()).finish_non_exhaustive()
    }
}

impl Session for Robot {
    fn handle_open(&mut self, now: Time, link: Link) {
        self.watch(now);
        if self.datagrams.is_none() {
            self.datagrams = Some(link);
            if self.code && self.lines.is_new() {
                self.say(now, Saying::Line(PROGRAM_STARTS.into()));
            }
            return;
        }
        if self.booting.is_some() {
            self.close.push_back(link);
            return;
        }
        let tcp = Tcp {
            link,
            messages: Messages::default(),
            opened: now,
            unknown_at: Some(now.plus(UNKNOWN_AFTER)),
            held: VecDeque::new(),
        };
        if let Some(old) = self.tcp.replace(tcp) {
            self.telling.ended(What::ToRobot, &old.messages);
            self.close.extend(Some(old.link).filter(|old| *old != link));
        }
        self.lines.backlog().iter().for_each(|said| self.send_said(now, said));
    }

    fn handle_input(&mut self, now: Time, link: Link, bytes: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.watch(now);
        if self.datagrams == Some(link) {
            if self.is_silent() {
                return Ok(());
            }
            self.telling.heard(now, What::Control, bytes, sink)?;
            // Anything but a control packet is a problem, which the mapper has reported.
            if let Ok(control) = Control::parse(bytes) {
                self.hear(now, &control);
                if !self.is_silent() {
                    self.reply(now, control.sequence);
                }
            }
            return self.telling.reach(now, sink);
        }
        let Some(mut tcp) = self.tcp.take_if(|tcp| tcp.link == link) else { return Ok(()) };
        tcp.messages.push(bytes);
        let mut result = Ok(());
        while result.is_ok()
            && let Some((_, body)) = tcp.messages.next()
        {
            result = self.telling.heard(now, What::ToRobot, body, sink);
            if let Ok(message) = ToRobot::parse(body) {
                self.listen(&message);
            }
        }
        self.tcp = Some(tcp);
        result
    }

    fn handle_close(&mut self, now: Time, link: Link) {
        self.watch(now);
        if self.datagrams == Some(link) {
            self.datagrams = None;
            self.forget_station();
        }
        if let Some(tcp) = self.tcp.take_if(|tcp| tcp.link == link) {
            self.telling.ended(What::ToRobot, &tcp.messages);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.watch(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let lost = self.heard.map(|heard| heard.plus(LOST_AFTER + 1));
        let until = [self.booting, self.code_at, self.watchdog_at(), lost, self.silent_until];
        let unknown = self.tcp.as_ref().and_then(|tcp| tcp.unknown_at);
        // What is ready waits for the end of the silence.
        let ready = if self.is_silent() { None } else { unknown.into_iter().chain(self.trouble.next()).min() };
        until.into_iter().flatten().chain(ready).min()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmit.pop_front()
    }

    fn poll_close(&mut self) -> Option<Link> {
        self.close.pop_front()
    }

    fn poll_samples(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.telling.reach(self.now, sink)
    }

    fn clock_offset(&self) -> Option<i64> {
        self.telling.clock_offset()
    }
}

/// What WPILib prints first.
const PROGRAM_STARTS: &str = "********** Robot program starting **********";
