//! Rides made by hand.

use logpose::core::Time;
use logpose::refloat::{Adjustment, Footpad, Series, Values};

/// One moment of a ride.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// Seconds before the end.
    pub(super) before: f64,
    pub(super) running: bool,
    pub(super) wheelslip: bool,
    pub(super) footpad: Option<Footpad>,
    pub(super) adjustment: Adjustment,
    pub(super) erpm: f64,
    pub(super) duty: f64,
    pub(super) volts: f64,
    pub(super) request: f64,
    pub(super) current: f64,
    pub(super) pitch: f64,
    pub(super) setpoint: f64,
}

/// A ride at 24 km/h on which nothing happens, and which is changed then.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) points: Vec<Point>,
}

impl Made {
    /// So many seconds at so many samples a second.
    pub(super) fn quiet(hz: f64, seconds: f64) -> Self {
        let count = (hz * seconds) as usize;
        let point = |place: usize| {
            let before = (count - place) as f64 / hz;
            let wobble = (before * 11.0).sin() + 0.3 * (before * 171.0).sin();
            let request = 12.0 + 4.0 * wobble;
            Point {
                before,
                running: true,
                wheelslip: false,
                footpad: Some(Footpad::Both),
                adjustment: Adjustment::NONE,
                erpm: 7000.0 + 40.0 * wobble,
                duty: 0.5 + 0.01 * wobble,
                volts: 76.0 - 0.1 * wobble,
                request,
                current: request - 0.5,
                pitch: 0.4 * wobble,
                setpoint: 0.5,
            }
        };
        Self { points: (0..=count).map(point).collect() }
    }

    /// Changes all moments from so many seconds before the end on; the change gets the seconds elapsed since then.
    pub(super) fn from(mut self, before: f64, change: impl Fn(&mut Point, f64)) -> Self {
        for point in &mut self.points {
            if point.before <= before {
                let gone = before - point.before;
                change(point, gone);
            }
        }
        self
    }

    /// Changes all moments between two times before the end.
    pub(super) fn between(mut self, before: f64, until: f64, change: impl Fn(&mut Point)) -> Self {
        self.points.iter_mut().filter(|point| (until..=before).contains(&point.before)).for_each(change);
        self
    }

    /// The nose goes down from then on, by 60° a second, and the rider is off 0.3 s later.
    pub(super) fn dive(self, before: f64) -> Self {
        self.from(before, |point, gone| {
            point.pitch = point.setpoint - 60.0 * gone;
            if gone > 0.3 {
                point.footpad = Some(Footpad::None);
            }
        })
    }

    pub(super) fn series(&self) -> Series {
        let numbers = |id: &str, of: &dyn Fn(&Point) -> f64| {
            let values = self.points.iter().map(of).collect();
            (id.to_owned(), Values { channel: format!("/refloat/{id}"), values })
        };
        let last = self.points.last().map_or(0.0, |point| point.before);
        let time = |point: &Point| Time::from_nanos(((1000.0 + last - point.before) * 1e9).round() as i64);
        Series {
            times: self.points.iter().map(time).collect(),
            running: self.points.iter().map(|point| point.running).collect(),
            wheelslip: self.points.iter().map(|point| point.wheelslip).collect(),
            footpad: self.points.iter().map(|point| point.footpad).collect(),
            adjustment: self.points.iter().map(|point| point.adjustment).collect(),
            values: [
                numbers("erpm", &|point| point.erpm),
                numbers("duty_cycle", &|point| point.duty),
                numbers("batt_voltage", &|point| point.volts),
                numbers("balance_current", &|point| point.request),
                numbers("dir_current", &|point| point.current),
                numbers("pitch", &|point| point.pitch),
                numbers("setpoint", &|point| point.setpoint),
            ]
            .into_iter()
            .collect(),
            is_recording: false,
            is_cut: false,
        }
    }
}

/// Rides that emulated boards do not have.
pub(super) fn all() -> Vec<Series> {
    let quiet = || Made::quiet(240.0, 3.0);
    let open = |point: &mut Point| point.footpad = Some(Footpad::None);
    let mut gap = quiet();
    gap.points.retain(|point| !(1.0..1.05).contains(&point.before));
    let made = [
        quiet(),
        gap,
        Made::quiet(50.0, 3.0),
        quiet().between(2.0, 1.7, |point| point.duty = 0.85),
        quiet().between(2.0, 1.94, |point| point.duty = 0.95),
        quiet().between(2.0, 1.9, open).from(0.25, |point, _| open(point)),
        quiet().from(9.0, |point, _| point.erpm *= 0.45).from(0.25, |point, _| open(point)),
        quiet().from(0.5, |point, _| open(point)),
        quiet().from(1.0, |point, _| open(point)),
        quiet().from(1.0, |point, gone| (point.erpm, point.pitch) = (100.0, 14.0 * gone)),
        quiet().from(1.2, |point, _| point.adjustment = Adjustment::ERROR).dive(0.5),
        quiet().between(0.9, 0.55, |point| point.adjustment = Adjustment::ERROR).dive(0.5),
        quiet().from(1.0, |point, _| (point.request, point.current) = (34.0, 17.0)).dive(0.5),
        quiet().from(1.0, |point, _| point.volts = 66.5).dive(0.5),
        quiet().from(1.0, |point, gone| (point.request, point.current) = (52.0, 52.0 - gone)).dive(0.5),
        quiet().from(0.9, |point, gone| point.duty = if gone < 0.2 { 0.95 } else { 0.7 }).dive(0.5),
        quiet().from(2.9, |point, gone| (point.pitch, point.duty) = (if gone < 0.4 { -20.0 } else { 0.0 }, 0.95)),
        Made::quiet(20.0, 70.0).from(9.0, |point, gone| (point.volts, point.current) = (70.0 - gone, 30.0)),
    ];
    made.iter().map(Made::series).collect()
}
