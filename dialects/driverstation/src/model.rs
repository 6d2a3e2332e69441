//! What packets and messages mean as samples.

use std::fmt::Display;
use std::io::Write;

use logpose_core::{Hex, Layout, Number, Problem, Severity, Sink, SinkError, Time, Value};

use crate::channels::{Name, Origin};
use crate::json::{ErrorRecord, put_descriptor, put_match, put_version};
use crate::pd::PowerDistribution;
use crate::samples::Samples;
use crate::trips::Trips;
use crate::wire::{
    CanMetrics, Control, ControlTag, Cores, Joystick, JoystickOutput, Mode, RawTag, Status, StatusTag, TagProblem,
    Tags, ToRobot, ToStation, WireError, axis_value, rumble_value,
};

/// After so many nanoseconds without a reply the robot is gone.
const GONE: i64 = 1_000_000_000;

/// The packets of one link, both directions, to samples.
///
/// Channels are numbered from 0 in the order in which they appear, and the samples of one packet are given in one call.
/// What is malformed is a problem with its byte, and the rest of the packet is still used; its bytes are kept in
/// `/ds/unknown/…`, as are those that stand behind a known layout.
#[derive(Debug, Default)]
pub struct Mapper {
    samples: Samples,
    trips: Trips,
    /// When the robot was last heard of; before that when it was first spoken to.
    alive: Option<Time>,
    /// How many sticks the last packets had.
    sticks: usize,
    outputs: usize,
    /// Whether the wrong sizes of LibDS were already reported.
    forgave: bool,
    /// The bits of the last packet of each direction: most packets repeat them, and then there is nothing to report.
    asked: Option<[u8; 3]>,
    said: Option<[u8; 2]>,
}

impl Mapper {
    /// A link of which nothing was seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A control datagram that was sent at `now`. `at` is its place in whatever it was read from, for problems.
    pub fn control(&mut self, now: Time, at: u64, datagram: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.packet(now, sink, |put| put.control(at, datagram))
    }

    /// A status datagram that came at `now`.
    pub fn status(&mut self, now: Time, at: u64, datagram: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.packet(now, sink, |put| put.status(at, datagram))
    }

    /// A whole TCP message from the station to the robot, without its size. `at` is the place of the size.
    pub fn to_robot(&mut self, now: Time, at: u64, body: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.packet(now, sink, |put| put.message_to_robot(at, body))
    }

    /// A whole TCP message from the robot to the station, without its size. `at` is the place of the size.
    pub fn to_station(&mut self, now: Time, at: u64, body: &[u8], sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.packet(now, sink, |put| put.message_to_station(at, body))
    }

    /// Time has passed: emits what waited for it, such as lost packets and a robot that is gone.
    pub fn reach(&mut self, now: Time, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.packet(now, sink, |_| Ok(()))
    }

    /// No more will come.
    pub fn finish(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        self.trips.close();
        self.samples.begin();
        Putting { mapper: self, now: Time::MIN, sink }.verdicts()?;
        self.samples.flush(sink)
    }

    /// What time brings, what a packet says, and what it decides: in one call of the sink.
    fn packet(
        &mut self,
        now: Time,
        sink: &mut dyn Sink,
        read: impl FnOnce(&mut Putting<'_>) -> Result<(), SinkError>,
    ) -> Result<(), SinkError> {
        self.samples.begin();
        let mut put = Putting { mapper: self, now, sink };
        put.connection()?;
        put.verdicts()?;
        read(&mut put)?;
        put.verdicts()?;
        self.samples.flush(sink)
    }
}

/// A packet that is being read.
struct Putting<'m> {
    mapper: &'m mut Mapper,
    now: Time,
    sink: &'m mut dyn Sink,
}

impl Putting<'_> {
    fn control(&mut self, at: u64, datagram: &[u8]) -> Result<(), SinkError> {
        let packet = match Control::parse(datagram) {
            Ok(packet) => packet,
            Err(error) => return self.short_packet(at, error),
        };
        let asked = Some([packet.control.0, packet.request.0, packet.station.0]);
        if std::mem::replace(&mut self.mapper.asked, asked) != asked {
            self.asked(&packet)?;
        }
        let mut tags = packet.tags.lenient();
        let seen = self.tags(Origin::Control, at, datagram, &mut tags, ControlTag::parse, Self::control_tag)?;
        if tags.forgave() && !std::mem::replace(&mut self.mapper.forgave, true) {
            self.sink.problem(Problem::new(
                Severity::Note,
                "libds-size",
                at,
                datagram.len() as u64,
                "control packet: the size of a joystick tag includes itself, as LibDS writes it; read anyway",
            ));
        }
        if let Some(sticks) = seen {
            let before = std::mem::replace(&mut self.mapper.sticks, sticks);
            (sticks..before).try_for_each(|port| self.stick(port, None))?;
        }
        self.mapper.trips.sent(packet.sequence, self.now);
        self.mapper.alive.get_or_insert(self.now);
        Ok(())
    }

    fn asked(&mut self, packet: &Control<'_>) -> Result<(), SinkError> {
        let (bits, mode) = (packet.control, packet.control.mode());
        self.truths([
            (Name::ControlEnabled, bits.enabled()),
            (Name::ControlAutonomous, mode == Mode::Autonomous),
            (Name::ControlTest, mode == Mode::Test),
            (Name::ControlEstop, bits.estop()),
            (Name::ControlFms, bits.fms_attached()),
        ])?;
        self.numbers([(Name::ControlBits, i64::from(bits.0)), (Name::ControlRequest, packet.request.0.into())])?;
        self.put_with(Name::ControlStation, |out| show(&packet.station, out))
    }

    fn control_tag(&mut self, id: u8, place: usize, tag: ControlTag<'_>) -> Result<(), SinkError> {
        match tag {
            ControlTag::Countdown { seconds, .. } => self.put(Name::Countdown, Value::Float(seconds))?,
            ControlTag::Joystick(stick) => self.stick(place, stick.as_ref())?,
            ControlTag::Date { date, .. } => self.put_with(Name::Date, |out| show(&date, out))?,
            ControlTag::Timezone(name) => self.put(Name::Timezone, Value::String(name))?,
            ControlTag::Unknown(tag) => self.unknown(Origin::Control, id, tag.data)?,
        }
        self.extra(Origin::Control, id, tag.rest())
    }

    /// What a stick says; `None` for one that is not there. A slot that never had one has no channels, and behind the
    /// 256th there are none: stations have six.
    fn stick(&mut self, port: usize, stick: Option<&Joystick<'_>>) -> Result<(), SinkError> {
        let Ok(port) = u8::try_from(port) else { return Ok(()) };
        let absent = Joystick::default();
        let stick = match stick {
            Some(stick) if !stick.is_absent() => stick,
            _ if self.mapper.samples.has(Name::Axes(port)) => &absent,
            _ => return Ok(()),
        };
        self.put_with(Name::Axes(port), |out| {
            stick.axes().for_each(|axis| axis_value(axis).put(Layout::Little, out));
        })?;
        self.put_with(Name::Buttons(port), |out| out.extend(stick.buttons().map(u8::from)))?;
        self.put_with(Name::Povs(port), |out| {
            stick.povs().for_each(|pov| i64::from(pov).put(Layout::Little, out));
        })
    }

    fn status(&mut self, at: u64, datagram: &[u8]) -> Result<(), SinkError> {
        let packet = match Status::parse(datagram) {
            Ok(packet) => packet,
            Err(error) => return self.short_packet(at, error),
        };
        self.mapper.alive = Some(self.now);
        self.truths([(Name::Connected, true)])?;
        let said = Some([packet.status.0, packet.trace.0]);
        if std::mem::replace(&mut self.mapper.said, said) != said {
            self.said(&packet)?;
        }
        let trip = self.mapper.trips.answered(packet.sequence, self.now).map(seconds);
        self.doubles([(Name::Battery, packet.volts()), (Name::TripTime, trip)])?;
        let mut tags = packet.tags;
        let seen = self.tags(Origin::Status, at, datagram, &mut tags, StatusTag::parse, Self::status_tag)?;
        if let Some(outputs) = seen {
            // A robot leaves the tags out when no stick has output.
            let before = std::mem::replace(&mut self.mapper.outputs, outputs);
            (outputs..before).try_for_each(|port| self.output(port, None))?;
        }
        Ok(())
    }

    fn said(&mut self, packet: &Status<'_>) -> Result<(), SinkError> {
        let (bits, mode, trace) = (packet.status, packet.status.mode(), packet.trace);
        self.truths([
            (Name::StatusEnabled, bits.enabled()),
            (Name::StatusAutonomous, mode == Mode::Autonomous),
            (Name::StatusTest, mode == Mode::Test),
            (Name::StatusEstop, bits.estop()),
            (Name::StatusBrownout, bits.brownout()),
            (Name::StatusCodeStart, bits.code_start()),
            (Name::StatusCode, trace.code()),
            (Name::StatusRoborio, trace.roborio()),
            (Name::RobotDisabled, trace.disabled()),
            (Name::RobotTeleop, trace.teleop()),
            (Name::RobotAutonomous, trace.autonomous()),
            (Name::RobotTest, trace.test()),
        ])?;
        self.numbers([(Name::StatusBits, i64::from(bits.0)), (Name::StatusTrace, trace.0.into())])
    }

    fn status_tag(&mut self, id: u8, place: usize, tag: StatusTag<'_>) -> Result<(), SinkError> {
        match tag {
            StatusTag::JoystickOutput { output, .. } => self.output(place, output)?,
            StatusTag::Disk { free, .. } => self.put(Name::DiskFree, bytes(free))?,
            StatusTag::Cpu { cores, .. } => self.cores(cores)?,
            StatusTag::Ram { free, .. } => self.put(Name::RamFree, bytes(free))?,
            StatusTag::PowerDistribution { pd, .. } => self.power(&pd)?,
            StatusTag::Energy(data) => self.put(Name::PdEnergy, Value::Bytes(data))?,
            StatusTag::Can { can, .. } => self.can(can)?,
            StatusTag::Unknown(tag) => self.unknown(Origin::Status, id, tag.data)?,
        }
        self.extra(Origin::Status, id, tag.rest())
    }

    /// What the robot wants of a stick; `None` for nothing. A stick of which it never wanted anything has no channels.
    fn output(&mut self, port: usize, output: Option<JoystickOutput>) -> Result<(), SinkError> {
        let Ok(port) = u8::try_from(port) else { return Ok(()) };
        if output.is_none() && !self.mapper.samples.has(Name::Outputs(port)) {
            return Ok(());
        }
        let output = output.unwrap_or_default();
        self.put(Name::Outputs(port), Value::Int64(output.outputs.into()))?;
        self.put_with(Name::Rumble(port), |out| {
            for raw in [output.left_rumble, output.right_rumble] {
                rumble_value(raw).put(Layout::Little, out);
            }
        })
    }

    fn cores(&mut self, cores: Cores<'_>) -> Result<(), SinkError> {
        self.doubles([(Name::Cpu, cores.busy())])?;
        for (core, classes) in (0..).zip(cores.iter()) {
            for (class, percent) in (0..).zip(classes) {
                self.put(Name::Core { core, class }, Value::Double(f64::from(percent) / 100.0))?;
            }
        }
        Ok(())
    }

    fn power(&mut self, pd: &PowerDistribution) -> Result<(), SinkError> {
        self.put(Name::PdType, Value::String(pd.kind().name().as_bytes()))?;
        self.put(Name::PdId, Value::Int64(pd.id().into()))?;
        for (n, current) in (0..).zip(pd.currents()) {
            self.put(Name::PdCurrent(n), Value::Double(current))?;
        }
        self.doubles([
            (Name::PdTotalCurrent, Some(pd.total_current())),
            (Name::PdVoltage, pd.voltage()),
            (Name::PdTemperature, pd.temperature()),
            (Name::PdResistance, pd.resistance()),
        ])?;
        match pd.faults() {
            Some(faults) => self.put(Name::PdFaults, Value::Int64(faults.into())),
            None => Ok(()),
        }
    }

    fn can(&mut self, can: CanMetrics) -> Result<(), SinkError> {
        self.put(Name::CanUtilization, Value::Double(can.utilization.into()))?;
        self.numbers([
            (Name::CanBusOff, i64::from(can.bus_off)),
            (Name::CanTxFull, can.tx_full.into()),
            (Name::CanReceiveErrors, can.receive_errors.into()),
            (Name::CanTransmitErrors, can.transmit_errors.into()),
        ])
    }

    fn message_to_robot(&mut self, at: u64, body: &[u8]) -> Result<(), SinkError> {
        let message = match ToRobot::parse(body) {
            Ok(message) => message,
            Err(error) => return self.short_message(Origin::ToRobot, at, body, error),
        };
        match &message {
            ToRobot::KeepAlive => {}
            ToRobot::Descriptor(stick) => {
                self.put_with(Name::Descriptor(stick.index), |out| put_descriptor(stick, out))?;
            }
            ToRobot::Match(info) => self.put_with(Name::Match, |out| put_match(info, out))?,
            ToRobot::GameData(text) => self.put(Name::GameData, Value::String(text))?,
            ToRobot::Unknown { id, data } => self.unknown(Origin::ToRobot, *id, data)?,
        }
        self.extra(Origin::ToRobot, id_of(body), message.rest())
    }

    fn message_to_station(&mut self, at: u64, body: &[u8]) -> Result<(), SinkError> {
        let message = match ToStation::parse(body) {
            Ok(message) => message,
            Err(error) => return self.short_message(Origin::ToStation, at, body, error),
        };
        match &message {
            ToStation::KeepAlive => {}
            ToStation::Text(text) => self.put(Name::Events, Value::String(text))?,
            ToStation::Usage(report) => {
                self.put(Name::Usage, Value::String(report.entries))?;
                self.extra(Origin::ToStation, id_of(body), report.head)?;
            }
            ToStation::DisableFaults { comms, brownout_12v, .. } => self
                .numbers([(Name::FaultsComms, i64::from(*comms)), (Name::FaultsBrownout12V, (*brownout_12v).into())])?,
            ToStation::RailFaults { v6, v5, v3_3, .. } => self.numbers([
                (Name::FaultsRail6V, i64::from(*v6)),
                (Name::FaultsRail5V, (*v5).into()),
                (Name::FaultsRail3V3, (*v3_3).into()),
            ])?,
            // The end of the list carries no value of its own.
            ToStation::Version(version) if version.is_end() => {}
            ToStation::Version(version) => self.put_with(Name::Versions, |out| put_version(version, out))?,
            ToStation::Error(error) => self.put_with(Name::Errors, |out| ErrorRecord::from(error).put(out))?,
            ToStation::Console(line) => {
                self.put(Name::Console, Value::String(line.text))?;
                self.put(Name::ConsoleTime, Value::Double(line.time.into()))?;
                self.put(Name::ConsoleSequence, Value::Int64(line.sequence.into()))?;
            }
            ToStation::Unknown { id, data } => self.unknown(Origin::ToStation, *id, data)?,
        }
        self.extra(Origin::ToStation, id_of(body), message.rest())
    }

    /// A robot that timed out is gone from then on.
    fn connection(&mut self) -> Result<(), SinkError> {
        let Some(alive) = self.mapper.alive else { return Ok(()) };
        if self.now.since(alive) <= GONE {
            return Ok(());
        }
        self.mapper.samples.put(Name::Connected, alive.plus(GONE), Value::Boolean(false), self.sink)
    }

    fn verdicts(&mut self) -> Result<(), SinkError> {
        let Mapper { samples, trips, .. } = &mut *self.mapper;
        while let Some(verdict) = trips.verdict(self.now) {
            samples.put(Name::Lost, verdict.time, Value::Boolean(verdict.lost), self.sink)?;
            samples.put(Name::PacketLoss, verdict.time, Value::Double(verdict.loss), self.sink)?;
        }
        Ok(())
    }

    fn put(&mut self, name: Name, value: Value<'_>) -> Result<(), SinkError> {
        self.mapper.samples.put(name, self.now, value, self.sink)
    }

    fn put_with(&mut self, name: Name, emit: impl FnOnce(&mut Vec<u8>)) -> Result<(), SinkError> {
        self.mapper.samples.put_with(name, self.now, self.sink, emit)
    }

    fn truths<const N: usize>(&mut self, values: [(Name, bool); N]) -> Result<(), SinkError> {
        values.into_iter().try_for_each(|(name, value)| self.put(name, Value::Boolean(value)))
    }

    fn numbers<const N: usize>(&mut self, values: [(Name, i64); N]) -> Result<(), SinkError> {
        values.into_iter().try_for_each(|(name, value)| self.put(name, Value::Int64(value)))
    }

    fn doubles<const N: usize>(&mut self, values: [(Name, Option<f64>); N]) -> Result<(), SinkError> {
        let mut known = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
        known.try_for_each(|(name, value)| self.put(name, Value::Double(value)))
    }

    /// Bytes behind a known layout, if there are any.
    fn extra(&mut self, from: Origin, id: u8, rest: &[u8]) -> Result<(), SinkError> {
        if rest.is_empty() { Ok(()) } else { self.unknown(from, id, rest) }
    }

    fn unknown(&mut self, from: Origin, id: u8, data: &[u8]) -> Result<(), SinkError> {
        self.put(Name::Unknown { from, id }, Value::Bytes(data))
    }

    /// Gives every tag to `take`, with its id and how many of the tags before it were of sticks: their places are their
    /// numbers. Returns how many there were of these, if all tags were good.
    fn tags<'a, T>(
        &mut self,
        from: Origin,
        at: u64,
        datagram: &[u8],
        tags: &mut Tags<'a>,
        parse: fn(RawTag<'a>) -> Result<T, TagProblem>,
        take: fn(&mut Self, u8, usize, T) -> Result<(), SinkError>,
    ) -> Result<Option<usize>, SinkError> {
        let (mut places, mut whole) = (0, true);
        for tag in tags {
            let place = places;
            // A tag of which the contents are bad has its place, too.
            places += usize::from(tag.is_ok_and(|raw| Some(raw.id) == from.stick_tag()));
            match tag.and_then(|raw| Ok((raw.id, parse(raw)?))) {
                Ok((id, tag)) => take(self, id, place, tag)?,
                Err(problem) => {
                    whole = false;
                    self.bad_tag(from, at, datagram, problem)?;
                }
            }
        }
        Ok(whole.then_some(places))
    }

    /// Reports a tag. The contents of one that is too short are kept.
    fn bad_tag(&mut self, from: Origin, at: u64, datagram: &[u8], problem: TagProblem) -> Result<(), SinkError> {
        let (begin, length) = (problem.at(), problem.length());
        let bytes = datagram.get(begin..begin + length).unwrap_or_default();
        let (severity, cost) = match problem {
            TagProblem::Empty { .. } => (Severity::Warning, "skipped one byte"),
            TagProblem::TooLong { .. } => (Severity::Damage, "lost the rest of the packet"),
            TagProblem::TooShort { .. } => (Severity::Damage, "kept its bytes"),
        };
        let message = format!("{} packet: {problem}; {cost}: {}", from.name(), Hex(bytes));
        self.sink.problem(Problem::new(severity, problem.code(), at + begin as u64, length as u64, message));
        match (problem, bytes) {
            (TagProblem::TooShort { id, .. }, [_, _, data @ ..]) => self.unknown(from, id, data),
            _ => Ok(()),
        }
    }

    /// Reports a datagram that has not even a header.
    fn short_packet(&mut self, at: u64, error: WireError) -> Result<(), SinkError> {
        let message = format!("{error}; lost the packet");
        self.sink.problem(Problem::new(Severity::Damage, "short-packet", at, error.left, message));
        Ok(())
    }

    /// Reports a message whose contents do not fill its layout, and keeps them.
    fn short_message(&mut self, from: Origin, at: u64, body: &[u8], error: WireError) -> Result<(), SinkError> {
        let (id, data) = body.split_first().unwrap_or((&0, &[]));
        let message = format!("message {id:02x}: {error}; kept its bytes");
        let (begin, length) = (at + SIZE + error.at, error.left);
        self.sink.problem(Problem::new(Severity::Damage, "short-message", begin, length, message));
        self.unknown(from, *id, data)
    }
}

/// Bytes of a message's size, which stand in front of its body.
const SIZE: u64 = 2;

fn id_of(body: &[u8]) -> u8 {
    body.first().copied().unwrap_or(0)
}

/// A number of bytes, as far as a signed number goes.
fn bytes(n: u64) -> Value<'static> {
    Value::Int64(i64::try_from(n).unwrap_or(i64::MAX))
}

fn seconds(ns: i64) -> f64 {
    Time::from_nanos(ns).seconds()
}

/// Appends a thing as it is shown.
fn show(thing: &dyn Display, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = write!(out, "{thing}");
}
