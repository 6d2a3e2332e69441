use logpose_core::Time;

use crate::pd::PowerDistribution;
use crate::wire::{CanMetrics, Cores, JOYSTICKS, JoystickOutput, StatusTag};

/// How often each kind of tag comes.
const CAN_EVERY: i64 = 200_000_000;
const SECOND: i64 = 1_000_000_000;
/// Nobody has seen how often a roboRIO sends this one.
const PD_EVERY: i64 = 100_000_000;
/// How long after the first CAN tag the first one with the load of the processor comes; disk and RAM follow each other.
const CPU_AFTER: i64 = 800_000_000;
const BETWEEN: i64 = 100_000_000;

/// What a robot measures and sets, and when it reports it.
#[derive(Debug)]
pub(super) struct Gauges {
    battery: Ramp,
    pub(super) cpu: Vec<[f32; 4]>,
    pub(super) can: CanMetrics,
    pub(super) disk: u32,
    pub(super) ram: u32,
    pub(super) pd: Option<PowerDistribution>,
    pub(super) outputs: [Option<JoystickOutput>; JOYSTICKS],
    due: Due,
}

/// A voltage on its way.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    from: f64,
    to: f64,
    start: Time,
    over: i64,
}

/// When each kind of tag comes next.
#[derive(Clone, Copy, Debug)]
struct Due {
    can: Time,
    cpu: Time,
    disk: Time,
    ram: Time,
    pd: Time,
}

impl Gauges {
    pub(super) fn new(volts: f64, cores: u8) -> Self {
        Self {
            battery: Ramp { from: volts, to: volts, start: Time::ZERO, over: 0 },
            cpu: vec![[10.0, 0.0, 0.0, 2.0]; cores.into()],
            can: CanMetrics::default(),
            disk: 3_000_000_000,
            ram: 250_000_000,
            pd: None,
            outputs: Default::default(),
            due: Due::from(Time::ZERO),
        }
    }

    pub(super) fn volts(&self, now: Time) -> f64 {
        let Ramp { from, to, start, over } = self.battery;
        let gone = now.since(start);
        if gone >= over {
            return to;
        }
        #[expect(clippy::cast_precision_loss, reason = "a share of a duration")]
        let share = gone.max(0) as f64 / over as f64;
        from + (to - from) * share
    }

    /// Another voltage, reached in a straight line.
    pub(super) fn charge(&mut self, now: Time, volts: f64, over: i64) {
        self.battery = Ramp { from: self.volts(now), to: volts, start: now, over };
    }

    /// From here on it reports.
    pub(super) fn begin(&mut self, now: Time) {
        self.due = Due::from(now);
    }

    /// Appends the tags whose time has come.
    pub(super) fn emit(&mut self, now: Time, out: &mut Vec<u8>) {
        let outputs = self.outputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        for output in self.outputs.into_iter().take(outputs) {
            StatusTag::JoystickOutput { output, rest: &[] }.emit(out);
        }
        if due(&mut self.due.disk, SECOND, now) {
            StatusTag::Disk { free: self.disk.into(), rest: &[] }.emit(out);
        }
        if due(&mut self.due.cpu, SECOND, now) {
            Cores::emit_tag(&self.cpu, out);
        }
        if due(&mut self.due.ram, SECOND, now) {
            StatusTag::Ram { free: self.ram.into(), rest: &[] }.emit(out);
        }
        if let Some(pd) = self.pd.filter(|_| due(&mut self.due.pd, PD_EVERY, now)) {
            StatusTag::PowerDistribution { pd, rest: &[] }.emit(out);
        }
        if due(&mut self.due.can, CAN_EVERY, now) {
            StatusTag::Can { can: self.can, rest: &[] }.emit(out);
        }
    }
}

impl Due {
    fn from(now: Time) -> Self {
        let cpu = now.plus(CPU_AFTER);
        Self { can: now, cpu, disk: cpu.plus(BETWEEN), ram: cpu.plus(2 * BETWEEN), pd: now }
    }
}

/// Whether it is time, and if so sets the next one.
fn due(next: &mut Time, every: i64, now: Time) -> bool {
    let late = now.since(*next);
    if late >= 0 {
        *next = now.plus(every - late % every);
    }
    late >= 0
}
