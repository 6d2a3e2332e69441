//! A station, a robot and what is between them, in simulated time.

use std::collections::BTreeMap;

use logpose_core::{Channel, ChannelId, Link, Problem, Sample, Session, Sink, SinkError, Time, To, Value};
use logpose_driverstation::session::{Change, Command, Event, Robot, RobotOptions, Station, StationOptions};

pub(crate) const UDP: Link = Link(0);
/// 2024-08-17 20:01:16.323990 UTC: 20 ms before the second packet of the capture.
pub(crate) const START: Time = Time::from_nanos(1_723_924_876_323_990_000);
pub(crate) const MS: i64 = 1_000_000;

/// Keeps what it is given.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) channels: Vec<Channel>,
    /// Channel, nanoseconds since the first packet of this side, value.
    pub(crate) samples: Vec<(String, i64, String)>,
    pub(crate) problems: Vec<Problem>,
}

impl Kept {
    pub(crate) fn of(&self, name: &str) -> Vec<(i64, &str)> {
        let wanted = self.samples.iter().filter(|(channel, _, _)| channel == name);
        wanted.map(|(_, at, value)| (*at, value.as_str())).collect()
    }

    pub(crate) fn values(&self, name: &str) -> Vec<&str> {
        self.of(name).into_iter().map(|(_, value)| value).collect()
    }
}

impl Sink for Kept {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        assert_eq!(id as usize, self.channels.len(), "numbers in the order of declaration");
        self.channels.push(channel.clone());
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            let channel = &self.channels[sample.channel as usize];
            assert_eq!(channel.ty(), sample.value.ty(), "{}", channel.name);
            let value = match sample.value {
                Value::Boolean(value) => value.to_string(),
                Value::Int64(value) => value.to_string(),
                Value::Float(value) => value.to_string(),
                Value::Double(value) => value.to_string(),
                Value::String(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            self.samples.push((channel.name.clone(), sample.time.nanos(), value));
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// What the links do to datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trouble {
    pub(crate) drop: f64,
    pub(crate) duplicate: f64,
    pub(crate) delay: i64,
    pub(crate) jitter: i64,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum End {
    Station,
    Robot,
}

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) station: Station,
    pub(crate) robot: Robot,
    pub(crate) station_sink: Kept,
    pub(crate) robot_sink: Kept,
    pub(crate) trouble: Trouble,
    /// Whether a TCP link is made when the station wants one.
    pub(crate) tcp: bool,
    tcp_link: Option<Link>,
    tcp_at: Option<Time>,
    links: u32,
    flying: BTreeMap<(Time, u64), (End, Link, Vec<u8>)>,
    order: u64,
    random: u64,
    /// Everything that was sent: when in nanoseconds since the start, by whom, on which link.
    pub(crate) sent: Vec<(i64, End, Link, Vec<u8>)>,
    /// Sequence numbers of datagrams that the links have lost, by who sent them.
    pub(crate) dropped: Vec<(End, u16)>,
    /// How many datagrams the links have made two of, by who sent them.
    pub(crate) doubled: BTreeMap<End, u64>,
    /// When an enabled control packet last arrived.
    pub(crate) enabled_at: Option<Time>,
    pub(crate) events: Vec<(i64, Event)>,
}

impl World {
    /// Both sides with a datagram link, and a station that may enable.
    pub(crate) fn new() -> Self {
        Self::with(RobotOptions::default())
    }

    pub(crate) fn with(robot: RobotOptions) -> Self {
        let options = StationOptions { may_enable: true, timezone: "PST8PDT".into(), ..StationOptions::default() };
        let mut world = Self {
            now: START,
            station: Station::new(options),
            robot: Robot::new(robot),
            station_sink: Kept::default(),
            robot_sink: Kept::default(),
            trouble: Trouble { delay: MS, ..Trouble::default() },
            tcp: true,
            tcp_link: None,
            tcp_at: None,
            links: 0,
            flying: BTreeMap::new(),
            order: 0,
            random: 7,
            sent: Vec::new(),
            dropped: Vec::new(),
            doubled: BTreeMap::new(),
            enabled_at: None,
            events: Vec::new(),
        };
        world.robot.handle_open(world.now, UDP);
        world.station.handle_open(world.now, UDP);
        world.settle();
        world
    }

    pub(crate) fn at_ms(&self) -> i64 {
        self.now.since(START) / MS
    }

    pub(crate) fn random(&mut self) -> f64 {
        // xorshift64*, seeded with a constant.
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f64 / f64::from(1 << 24)
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.station.command(self.now, command).unwrap();
        self.settle();
    }

    pub(crate) fn set(&mut self, change: Change) {
        self.robot.set(self.now, change);
        self.settle();
    }

    /// Until so many milliseconds since the start.
    pub(crate) fn run_to(&mut self, ms: i64) {
        self.run_to_with(ms, |_| {});
    }

    pub(crate) fn run_for(&mut self, ms: i64) {
        self.run_to(self.at_ms() + ms);
    }

    /// The same, with a look at it after every step.
    pub(crate) fn run_to_with(&mut self, ms: i64, mut look: impl FnMut(&Self)) {
        let end = START.plus(ms * MS);
        loop {
            let flying = self.flying.first_key_value().map(|((at, _), _)| *at);
            let next = [self.station.poll_timeout(), self.robot.poll_timeout(), flying, self.tcp_at];
            let Some(next) = next.into_iter().flatten().min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            self.step();
            look(self);
        }
        self.now = end;
        self.station.poll_samples(&mut self.station_sink).unwrap();
        self.robot.poll_samples(&mut self.robot_sink).unwrap();
    }

    fn step(&mut self) {
        while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= self.now) {
            let (end, link, bytes) = first.remove();
            if (end, link) == (End::Robot, UDP) && bytes[3] & 0x04 != 0 {
                self.enabled_at = Some(self.now);
            }
            match end {
                End::Station => self.station.handle_input(self.now, link, &bytes, &mut self.station_sink).unwrap(),
                End::Robot => self.robot.handle_input(self.now, link, &bytes, &mut self.robot_sink).unwrap(),
            }
        }
        if self.tcp_at.take_if(|at| *at <= self.now).is_some() && self.station.wants_tcp() {
            self.open_tcp();
        }
        self.station.handle_timeout(self.now);
        self.robot.handle_timeout(self.now);
        self.settle();
    }

    pub(crate) fn open_tcp(&mut self) {
        self.links += 1;
        let link = Link(self.links);
        self.tcp_link = Some(link);
        self.robot.handle_open(self.now, link);
        self.station.handle_open(self.now, link);
        self.settle();
    }

    pub(crate) fn close_tcp(&mut self) {
        if let Some(link) = self.tcp_link.take() {
            self.flying.retain(|_, (_, on, _)| *on != link);
            self.station.handle_close(self.now, link);
            self.robot.handle_close(self.now, link);
        }
        self.settle();
    }

    pub(crate) fn close_udp(&mut self) {
        self.flying.retain(|_, (_, on, _)| *on != UDP);
        self.station.handle_close(self.now, UDP);
        self.robot.handle_close(self.now, UDP);
        self.settle();
    }

    pub(crate) fn open_udp(&mut self) {
        self.robot.handle_open(self.now, UDP);
        self.station.handle_open(self.now, UDP);
        self.settle();
    }

    /// Takes what either side has to send, to close and to report.
    fn settle(&mut self) {
        while let Some(transmit) = self.station.poll_transmit() {
            let To::One(link) = transmit.to else { panic!("not to all") };
            self.send(End::Station, link, &transmit.bytes);
        }
        while let Some(transmit) = self.robot.poll_transmit() {
            let To::One(link) = transmit.to else { panic!("not to all") };
            self.send(End::Robot, link, &transmit.bytes);
        }
        while let Some(link) = self.robot.poll_close().or_else(|| self.station.poll_close()) {
            if self.tcp_link == Some(link) {
                self.close_tcp();
            }
        }
        self.station.poll_samples(&mut self.station_sink).unwrap();
        self.robot.poll_samples(&mut self.robot_sink).unwrap();
        while let Some(event) = self.station.poll_event() {
            self.events.push((self.at_ms(), event));
        }
        if self.tcp && self.tcp_at.is_none() && self.station.wants_tcp() {
            self.tcp_at = Some(self.now.plus(18 * MS));
        }
    }

    fn send(&mut self, from: End, link: Link, bytes: &[u8]) {
        self.sent.push((self.now.since(START), from, link, bytes.to_vec()));
        let to = if from == End::Station { End::Robot } else { End::Station };
        let mut copies = 1;
        let mut delay = self.trouble.delay;
        if link == UDP {
            let Trouble { drop, duplicate, jitter, .. } = self.trouble;
            if self.random() < drop {
                self.dropped.push((from, u16::from_be_bytes([bytes[0], bytes[1]])));
                return;
            }
            if self.random() < duplicate {
                copies += 1;
                *self.doubled.entry(from).or_default() += 1;
            }
            delay += (jitter as f64 * self.random()) as i64;
        } else if self.tcp_link != Some(link) {
            return;
        }
        for _ in 0..copies {
            self.order += 1;
            self.flying.insert((self.now.plus(delay), self.order), (to, link, bytes.to_vec()));
        }
    }

    /// How many datagrams are on their way to one side.
    pub(crate) fn flying(&self, to: End) -> u64 {
        self.flying.values().filter(|(end, link, _)| (*end, *link) == (to, UDP)).count() as u64
    }

    /// The datagrams that one side has sent.
    pub(crate) fn datagrams(&self, from: End) -> Vec<(i64, &[u8])> {
        let sent = self.sent.iter().filter(|(_, by, link, _)| *by == from && *link == UDP);
        sent.map(|(at, _, _, bytes)| (*at, bytes.as_slice())).collect()
    }

    /// The bytes that one side has sent over TCP, over all connections.
    pub(crate) fn stream(&self, from: End) -> Vec<u8> {
        let sent = self.sent.iter().filter(|(_, by, link, _)| *by == from && *link != UDP);
        sent.flat_map(|(_, _, _, bytes)| bytes.clone()).collect()
    }
}
