use super::random::Random;
use super::ride::Ride;
use super::scenario::{Scenario, What};
use super::snapshot::Snapshot;
use super::version::BoardVersion;

/// Hz, as the IMU is configured.
pub(super) const IMU_RATE: u32 = 832;
/// ns of a pass of the main loop, which is configured for 832 Hz and makes about 720, and of a cycle of the motor's
/// control in 1.3.
const MAIN_LOOP: i64 = 1_388_889;
const CONTROL: i64 = 2_000_000;
/// ns between two samples of this IMU; no two of them are the same.
const IMU: i64 = 1_203_100;

/// The passes of the loop that samples the recorder, one after the other, with their jitter.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    version: BoardVersion,
    ride: Ride,
    random: Random,
    /// When the next pass is due.
    at: i64,
    /// When motor and setpoints were last computed, and what they were: 1.3 does that at its own pace.
    control_at: i64,
    control: Snapshot,
    late: bool,
}

/// One pass.
pub(super) struct Pass {
    /// When its clock was read.
    pub(super) at: i64,
    pub(super) snapshot: Snapshot,
    /// What happened in it.
    pub(super) happened: Vec<What>,
}

impl Passes {
    pub(super) fn new(scenario: Scenario, version: BoardVersion, seed: u64) -> Self {
        let ride = Ride::new(scenario, version, seed);
        let control = *ride.snapshot();
        let random = Random::new(seed.wrapping_add(0x7469_636B));
        Self { version, ride, random, at: 0, control_at: i64::MIN, control, late: false }
    }

    /// When the next pass is due.
    pub(super) fn due(&self) -> i64 {
        self.at
    }

    /// Moves all passes still to come by `ns`.
    pub(super) fn shift(&mut self, ns: i64) {
        self.at = self.at.saturating_add(ns);
        self.control_at = i64::MIN;
    }

    pub(super) fn is_over(&self) -> bool {
        self.ride.is_over()
    }

    /// The values at this moment.
    pub(super) fn snapshot(&self) -> &Snapshot {
        self.ride.snapshot()
    }

    pub(super) fn step(&mut self) -> Pass {
        let from = self.at;
        if self.version == BoardVersion::V1_3 { self.imu(from) } else { self.main_loop(from) }
    }

    fn main_loop(&mut self, from: i64) -> Pass {
        let mut period = MAIN_LOOP + self.jitter(60_000.0);
        if self.random.chance(0.01) {
            period += 250_000;
        }
        self.at = from + period;
        self.ride.step(period as f32 / 1e9);
        Pass { at: from, snapshot: *self.ride.snapshot(), happened: self.ride.happened() }
    }

    fn imu(&mut self, from: i64) -> Pass {
        self.at = from + IMU;
        self.ride.step(IMU as f32 / 1e9);
        let fresh = *self.ride.snapshot();
        if self.control_at <= from {
            self.control_at = self.control_at.max(from - CONTROL) + CONTROL;
            self.control = fresh;
        }
        // Now and then a callback is late, and the next one follows at once.
        let late = std::mem::replace(&mut self.late, self.random.chance(0.004));
        let read = if self.late { from + IMU - 20_000 } else { from + self.jitter(15_000.0) };
        let dt = match (self.late, late) {
            (true, _) => 2.0 * fresh.dt - 0.02,
            (false, true) => 0.02,
            (false, false) => fresh.dt + self.random.around() * 0.01,
        };
        let snapshot = Snapshot {
            running: fresh.running,
            pads: fresh.pads,
            dt,
            freq: fresh.freq,
            pitch: fresh.pitch,
            balance_pitch: fresh.balance_pitch,
            balance_current: fresh.balance_current,
            ..self.control
        };
        Pass { at: read, snapshot, happened: self.ride.happened() }
    }

    #[expect(clippy::cast_possible_truncation, reason = "far less than a second")]
    fn jitter(&mut self, ns: f32) -> i64 {
        (self.random.around() * ns) as i64
    }
}
