//! The JSON lines of `ds robot`, `ds station` and `ds proxy`.

use logpose_live::ds::session::{RobotView, StationView};
use logpose_live::ds::{ProxyView, Way as WayFigures};
use logpose_live::recorder::RecordStats;
use serde::Serialize;

use super::Int;

/// The command has started.
#[derive(Serialize)]
pub(crate) struct Started<'a> {
    pub event: &'static str,
    /// The address of the robot, as far as known.
    pub address: &'a str,
}

/// An event.
#[derive(Serialize)]
pub(crate) struct News<'a> {
    pub event: &'static str,
    pub text: &'a str,
}

/// The recording, included in every line.
#[derive(Serialize)]
pub(crate) struct Recording {
    pub files: Vec<String>,
    pub samples: Int,
    pub bytes: Int,
    pub dropped: Int,
}

impl Recording {
    pub(crate) fn of(stats: &RecordStats, dropped: u64) -> Self {
        Self {
            files: stats.files.iter().map(|file| file.display().to_string()).collect(),
            samples: stats.samples.into(),
            bytes: stats.bytes.into(),
            dropped: dropped.into(),
        }
    }
}

/// One line of `ds station --json`.
#[derive(Serialize)]
pub(crate) struct StationLine<'a> {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub connected: bool,
    pub tcp: bool,
    pub peer: Option<&'a str>,
    pub problem: Option<&'a str>,
    pub enabled: bool,
    pub mode: &'static str,
    pub estop: bool,
    pub station: String,
    pub robot: Option<Robot>,
    pub trip_time_us: Option<f64>,
    /// Lost packets among the last 25.
    pub lost: u32,
    pub sent: Int,
    pub received: Int,
    pub recording: Option<Recording>,
}

/// The robot's own status.
#[derive(Serialize)]
pub(crate) struct Robot {
    pub enabled: bool,
    pub mode: &'static str,
    pub estop: bool,
    pub brownout: bool,
    pub code: bool,
    pub battery_v: Option<f64>,
}

impl<'a> StationLine<'a> {
    pub(crate) fn of(
        event: &'static str,
        elapsed_s: f64,
        view: &StationView,
        (peer, problem): (Option<&'a str>, Option<&'a str>),
        recording: Option<Recording>,
    ) -> Self {
        Self {
            event,
            elapsed_s,
            connected: view.connected,
            tcp: view.tcp,
            peer,
            problem,
            enabled: view.enabled,
            mode: view.mode.name(),
            estop: view.estop,
            station: view.station.to_string(),
            robot: view.robot.map(|robot| Robot {
                enabled: robot.enabled,
                mode: robot.mode.name(),
                estop: robot.estop,
                brownout: robot.brownout,
                code: robot.code,
                battery_v: robot.battery,
            }),
            trip_time_us: view.trip_time.map(|ns| us(ns.unsigned_abs())),
            lost: view.lost,
            sent: view.sent.into(),
            received: view.received.into(),
            recording,
        }
    }
}

/// One line of `ds robot --json`: `control` whenever the requested state changes.
#[derive(Serialize)]
pub(crate) struct RobotLine {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub connected: bool,
    pub tcp: bool,
    pub enabled: bool,
    pub mode: &'static str,
    pub estop: bool,
    pub fms_attached: bool,
    pub station: Option<String>,
    pub code: bool,
    pub brownout: bool,
    pub battery_v: f64,
    pub match_number: Option<u16>,
    pub game_data: Option<String>,
    pub joysticks: Vec<Option<Joystick>>,
    /// How often the watchdog has disabled the robot.
    pub watchdog: u16,
    pub received: Int,
    pub replied: Int,
    pub recording: Option<Recording>,
}

/// The state of a joystick.
#[derive(Serialize)]
pub(crate) struct Joystick {
    pub axes: Vec<f32>,
    pub buttons: Vec<bool>,
    pub povs: Vec<i16>,
}

impl RobotLine {
    pub(crate) fn of(event: &'static str, elapsed_s: f64, view: &RobotView, recording: Option<Recording>) -> Self {
        let joysticks = view.joysticks.iter().map(|stick| {
            let stick = stick.as_ref()?;
            Some(Joystick { axes: stick.axes.clone(), buttons: stick.buttons.clone(), povs: stick.povs.clone() })
        });
        Self {
            event,
            elapsed_s,
            connected: view.connected,
            tcp: view.tcp,
            enabled: view.enabled,
            mode: view.mode.name(),
            estop: view.estop,
            fms_attached: view.fms_attached,
            station: view.station.map(|station| station.to_string()),
            code: view.code,
            brownout: view.brownout,
            battery_v: view.battery,
            match_number: view.match_info.as_ref().map(|info| info.number),
            game_data: view.game_data.clone(),
            joysticks: joysticks.collect(),
            watchdog: view.comms_faults,
            received: view.received.into(),
            replied: view.replied.into(),
            recording,
        }
    }
}

/// One line of `ds proxy --json`.
#[derive(Serialize)]
pub(crate) struct ProxyLine {
    pub event: &'static str,
    pub elapsed_s: f64,
    pub station: Option<String>,
    pub robot: Option<String>,
    pub tcp: bool,
    pub control: Option<String>,
    pub status: Option<String>,
    pub battery_v: Option<f64>,
    pub to_robot: Way,
    pub to_station: Way,
    pub turned_away: Int,
    /// Datagrams forwarded but not recorded.
    pub unrecorded: Int,
    pub recording: Option<Recording>,
}

/// Traffic in one direction.
#[derive(Serialize)]
pub(crate) struct Way {
    pub datagrams: Int,
    pub bytes: Int,
    pub failed: Int,
    pub tcp_bytes: Int,
    pub delay_p50_us: f64,
    pub delay_p99_us: f64,
    pub delay_max_us: f64,
}

impl From<&WayFigures> for Way {
    fn from(way: &WayFigures) -> Self {
        Self {
            datagrams: way.datagrams.into(),
            bytes: way.bytes.into(),
            failed: way.failed.into(),
            tcp_bytes: way.stream_bytes.into(),
            delay_p50_us: us(way.delay.p50_ns),
            delay_p99_us: us(way.delay.p99_ns),
            delay_max_us: us(way.delay.max_ns),
        }
    }
}

impl ProxyLine {
    pub(crate) fn of(event: &'static str, view: &ProxyView, recording: Option<Recording>) -> Self {
        Self {
            event,
            elapsed_s: view.elapsed.as_secs_f64(),
            station: view.station.map(|ip| ip.to_string()),
            robot: view.robot.map(|ip| ip.to_string()),
            tcp: view.stream,
            control: view.control.map(|control| control.to_string()),
            status: view.status.map(|status| status.to_string()),
            battery_v: view.battery,
            to_robot: (&view.to_robot).into(),
            to_station: (&view.to_station).into(),
            turned_away: view.turned_away.into(),
            unrecorded: view.unrecorded.into(),
            recording,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds for display")]
fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}
