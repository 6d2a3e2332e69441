use std::collections::VecDeque;
use std::time::Duration;

use logpose_core::Time;

use super::passes::{IMU_RATE, Pass, Passes};
use super::plan::cause;
use super::recorded::Recorded;
use super::recorder::Recorder;
use super::scenario::{Moment, Scenario, Truth, What};
use super::snapshot::Snapshot;
use super::version::BoardVersion;
use logpose_refloat::wire::{Header, Info, InfoV1, InfoV2, Status, TICK_RATE, Version, capability};
use logpose_refloat::{float16, items};

/// ns of a tick.
const TICK: i64 = 100_000;
/// ns that a board lies there between the end of its first ride and the first request.
const SETTLED: i64 = 1_500_000_000;
/// ns that are simulated at most when nobody asked for long; the ride stands still for the rest.
const CATCH_UP: i64 = 60_000_000_000;
/// Things that happened on one ride, and samples in a ring, at most.
const MOMENTS: usize = 1_000;
const LARGEST: usize = 1 << 20;
/// Alerts that are kept.
const ALERTS: usize = 20;

/// An emulated board: payloads of VESC frames in, payloads out. Time is an argument, and it starts with the first one.
///
/// ```
/// use logpose_core::Time;
/// use logpose_sim::board::{Board, BoardOptions, BoardVersion, Scenario};
///
/// let mut board = Board::new(BoardOptions { version: BoardVersion::V1_2, ..BoardOptions::default() });
/// let mut replies = Vec::new();
/// board.handle(Time::ZERO, &[0x24, 0x65, 0x00], &mut replies);
/// assert_eq!(replies, [[0x24, 0x65, 0x00, 0x0C, 0x01, 0x00]]);
/// ```
pub struct Board {
    pub(super) version: BoardVersion,
    pub(super) refloat: Version,
    pub(super) can: Option<u8>,
    /// What it says of itself, as a message.
    pub(super) info: Vec<u8>,
    pub(super) enabled: bool,
    pub(super) ids: Vec<String>,
    pub(super) recorder: Recorder,
    /// Centiseconds that the buffer lasts, as the board a recording came from said.
    pub(super) duration: Option<u16>,
    scenario: Scenario,
    passes: Passes,
    /// When time began, what the ticks were then, and how far the ride is.
    began: Option<Time>,
    boot_ticks: u32,
    now: i64,
    running: bool,
    moments: Vec<Moment>,
    stop: u8,
    pub(super) fault: u8,
    pub(super) fatal: bool,
    pub(super) alerts: VecDeque<Alert>,
    pub(super) answered: u64,
    pub(super) refused: u64,
    pub(super) headers: u64,
    pub(super) sent: u64,
    pub(super) fetched: u64,
    /// The header was asked for, and the last sample not yet.
    pub(super) fetching: bool,
    sample: Vec<u8>,
}

/// Something that went wrong with the firmware, or no longer does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alert {
    pub(super) tick: u32,
    pub(super) code: u8,
}

/// What an emulated board is.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardOptions {
    /// Which Refloat it runs.
    pub version: BoardVersion,
    /// How many samples its buffer holds; as many as is usual if `None`.
    pub capacity: Option<usize>,
    /// Whether its firmware has a buffer at all.
    pub recorder: bool,
    /// Its id on the CAN bus, if it is reached through a VESC Express there.
    pub can: Option<u8>,
    /// What happens to it. A board that serves a recording lies still.
    pub scenario: Scenario,
    /// Whether that has happened once before the first request, so that there is something to fetch.
    pub ridden: bool,
    /// The same number, the same ride.
    pub seed: u64,
    /// A recording to serve again, byte for byte: its ids, samples, INFO and settings.
    pub recording: Option<Recorded>,
    /// Ticks since its boot when time begins; some minutes, or shortly after the recording's end, if `None`.
    pub boot_ticks: Option<u32>,
    /// How long a search for other nodes on the CAN bus takes.
    pub ping: Duration,
}

/// A board of 1.3.0-beta2 that was ridden once.
impl Default for BoardOptions {
    fn default() -> Self {
        Self {
            version: BoardVersion::default(),
            capacity: None,
            recorder: true,
            can: None,
            scenario: Scenario::default(),
            ridden: true,
            seed: 1,
            recording: None,
            boot_ticks: None,
            ping: Duration::from_millis(2_500),
        }
    }
}

/// What an emulated board does.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardView {
    /// Which Refloat it runs.
    pub version: BoardVersion,
    /// Ticks since its boot; they wrap.
    pub tick: u32,
    /// Somebody rides it.
    pub running: bool,
    /// It records.
    pub recording: bool,
    /// It starts to record when it is engaged.
    pub autostart: bool,
    /// It stops to record when it disengages.
    pub autostop: bool,
    /// It keeps one of so many samples.
    pub decimation: u8,
    /// Samples stored now.
    pub size: usize,
    /// Samples that it has room for.
    pub capacity: usize,
    /// km/h.
    pub speed: f32,
    /// V.
    pub voltage: f32,
    /// Requests that it answered.
    pub answered: u64,
    /// Requests that it did not understand, or that have no reply.
    pub refused: u64,
    /// How often it was asked for the header, which begins a download.
    pub headers: u64,
    /// Samples that it sent.
    pub sent: u64,
    /// How often the last sample was sent after the header.
    pub fetched: u64,
}

impl Board {
    /// A board that waits for its first request.
    #[must_use]
    pub fn new(options: BoardOptions) -> Self {
        let BoardOptions { version, capacity, recorder, can, scenario, ridden, seed, recording, boot_ticks, .. } =
            options;
        let (major, minor, patch) = version.numbers();
        let refloat =
            Version::new(major, minor, patch, if version == BoardVersion::V1_3 { version.suffix() } else { "" });
        let served = recording.as_ref();
        let ids: Vec<String> = match served {
            Some(recording) => recording.ids().map(str::to_owned).collect(),
            None => items::recorded(&refloat).into_iter().map(str::to_owned).collect(),
        };
        let enabled = recorder && version >= BoardVersion::V1_1;
        let info = served.map(|recording| recording.info.clone()).filter(|info| Info::parse(info).is_ok());
        let info = info.unwrap_or_else(|| about(version, enabled));
        let held = served.map_or(0, Recorded::len);
        let room = capacity.unwrap_or_else(|| version.capacity()).max(held).min(LARGEST);
        let scenario = if served.is_some() { Scenario::Empty } else { scenario };
        let mut board = Self {
            version,
            refloat,
            can,
            info,
            enabled,
            recorder: Recorder::new(version, room, 5 + 2 * ids.len(), IMU_RATE),
            ids,
            duration: None,
            scenario,
            passes: Passes::new(scenario, version, seed),
            began: None,
            boot_ticks: boot_ticks.unwrap_or(6_000_000),
            now: 0,
            running: false,
            moments: Vec::new(),
            stop: 0,
            fault: 0,
            fatal: false,
            alerts: VecDeque::new(),
            answered: 0,
            refused: 0,
            headers: 0,
            sent: 0,
            fetched: 0,
            fetching: false,
            sample: Vec::new(),
        };
        if let Some(recording) = served {
            board.serve(recording, boot_ticks.is_none());
        } else if ridden && scenario != Scenario::Empty {
            board.ride();
        }
        board
    }

    /// Time goes on to `now`: the ride, and what is recorded of it.
    pub fn advance(&mut self, now: Time) {
        let began = *self.began.get_or_insert(now);
        let now = now.since(began).max(self.now);
        let behind = now.saturating_sub(self.passes.due());
        if behind > CATCH_UP {
            self.passes.shift(behind - CATCH_UP);
        }
        self.run(now);
    }

    /// The firmware has this fault from now on; 0 is none.
    pub fn set_fault(&mut self, now: Time, code: u8) {
        self.advance(now);
        if code == self.fault {
            return;
        }
        self.fault = code;
        self.fatal |= code != 0;
        if self.alerts.len() == ALERTS {
            self.alerts.pop_front();
        }
        self.alerts.push_back(Alert { tick: self.tick(), code });
    }

    /// What it does now.
    #[must_use]
    pub fn view(&self) -> BoardView {
        let snapshot = self.snapshot();
        BoardView {
            version: self.version,
            tick: self.tick(),
            running: snapshot.running,
            recording: self.recorder.recording,
            autostart: self.recorder.autostart,
            autostop: self.recorder.autostop,
            decimation: self.recorder.decimation,
            size: self.recorder.size(),
            capacity: self.recorder.capacity(),
            speed: snapshot.speed,
            voltage: snapshot.batt_voltage,
            answered: self.answered,
            refused: self.refused,
            headers: self.headers,
            sent: self.sent,
            fetched: self.fetched,
        }
    }

    /// What a download would give now, without stopping anything.
    #[must_use]
    pub fn recorded(&self) -> Recorded {
        let (info, samples) = (self.info.clone(), self.recorder.samples());
        let mut recorded = Recorded { info, samples, ..Recorded::default() };
        self.put_header(&mut recorded.header);
        if self.version == BoardVersion::V1_3 && self.enabled {
            let mut status = Vec::new();
            self.status().emit(&mut status);
            recorded.status = Some(status);
        }
        let cause = cause(self.scenario, self.version);
        recorded.truth = Some(Truth { cause, stop: self.stop, moments: self.moments.clone() });
        recorded
    }

    pub(super) fn snapshot(&self) -> &Snapshot {
        self.passes.snapshot()
    }

    pub(super) fn tick(&self) -> u32 {
        self.tick_at(self.now)
    }

    pub(super) fn status(&self) -> Status {
        let recorder = &self.recorder;
        let lasts = recorder.capacity() * 100 / IMU_RATE as usize;
        Status {
            enabled: true,
            recording: recorder.recording,
            autostart: recorder.autostart,
            autostop: recorder.autostop,
            decimation: recorder.decimation,
            duration_cs: self.duration.unwrap_or_else(|| u16::try_from(lasts).unwrap_or(u16::MAX)),
        }
    }

    pub(super) fn put_header(&self, out: &mut Vec<u8>) {
        let size = u32::try_from(self.recorder.size()).unwrap_or(u32::MAX);
        Header::put(size, self.ids.iter().map(String::as_str), out);
    }

    /// Rides before time begins. How long that takes is known when it is over, and only then what the ticks were.
    fn ride(&mut self) {
        let mut ridden = Vec::new();
        let mut takes = 10 * CATCH_UP;
        while self.passes.due() < takes {
            ridden.push(self.passes.step());
            if self.passes.is_over() {
                takes = takes.min(self.passes.due() + SETTLED);
            }
        }
        self.passes.shift(-takes);
        for mut pass in ridden {
            pass.at -= takes;
            self.pass(pass);
        }
    }

    /// Holds what was recorded.
    fn serve(&mut self, recording: &Recorded, after: bool) {
        for sample in recording.samples.chunks_exact(recording.sample_len()) {
            self.recorder.push(sample);
        }
        if let Some(status) = recording.status.as_deref().and_then(|status| Status::parse(status).ok()) {
            self.recorder.autostart = status.autostart;
            self.recorder.autostop = status.autostop;
            self.recorder.decimation = status.decimation;
            self.duration = Some(status.duration_cs);
        }
        let last = recording.samples.chunks_exact(recording.sample_len()).last();
        if let Some(tick) = last.filter(|_| after).and_then(|sample| sample.first_chunk()) {
            self.boot_ticks = u32::from_be_bytes(*tick).wrapping_add(5 * TICK_RATE);
        }
    }

    /// The passes up to `until`.
    fn run(&mut self, until: i64) {
        while self.passes.due() <= until {
            let pass = self.passes.step();
            self.pass(pass);
        }
        self.now = until;
    }

    /// One pass of the loop: what is recorded of it.
    fn pass(&mut self, pass: Pass) {
        let tick = self.tick_at(pass.at);
        for what in pass.happened {
            self.note(tick, what);
        }
        if pass.snapshot.running != self.running {
            self.running = pass.snapshot.running;
            if self.enabled {
                self.recorder.trigger(self.running);
            }
        }
        if self.enabled
            && let Some(tick) = self.recorder.pass(tick)
        {
            self.take(tick, &pass.snapshot);
        }
    }

    /// Notes what happened. The last ride is the one that counts.
    fn note(&mut self, tick: u32, what: What) {
        match what {
            What::Engaged => {
                self.moments.clear();
                self.stop = 0;
            }
            What::Stopped(stop) => self.stop = stop,
            _ => {}
        }
        if self.moments.len() < MOMENTS {
            self.moments.push(Moment { tick, what });
        }
    }

    fn take(&mut self, tick: u32, snapshot: &Snapshot) {
        self.sample.clear();
        self.sample.extend_from_slice(&tick.to_be_bytes());
        self.sample.push(snapshot.flags().0);
        for id in &self.ids {
            self.sample.extend_from_slice(&float16::encode(snapshot.value(id)).to_be_bytes());
        }
        self.recorder.push(&self.sample);
    }

    fn tick_at(&self, at: i64) -> u32 {
        let ticks = at.div_euclid(TICK).rem_euclid(1 << 32);
        self.boot_ticks.wrapping_add(u32::try_from(ticks).unwrap_or(0))
    }
}

/// What a board of this version says of itself.
fn about(version: BoardVersion, recorder: bool) -> Vec<u8> {
    let (major, minor, patch) = version.numbers();
    let mut out = Vec::new();
    if version == BoardVersion::V1_0 {
        Info::V1(InfoV1 { version: major * 10 + minor, build: 1, led_type: 0 }).emit(&mut out);
        return out;
    }
    Info::V2(InfoV2 {
        flags: 0,
        name: "Refloat".into(),
        major,
        minor,
        patch,
        suffix: version.suffix().into(),
        commit: version.commit(),
        tick_rate: TICK_RATE,
        capabilities: if recorder { capability::RECORDER } else { 0 },
        extra: 0,
    })
    .emit(&mut out);
    out
}
