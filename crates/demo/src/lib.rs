#![doc = include_str!("../README.md")]

mod akit;
mod datalog;
mod nosedive;
mod pcap;
mod pen;
mod robot;
mod station;

use std::path::{Path, PathBuf};

use logpose_carla::EditError;
use logpose_core::Time;

pub use pcap::{Pcap, Route};

use logpose_files::Mode;
use logpose_files::{Error, Output};
use robot::{Course, Noise};

/// What to simulate.
#[derive(Clone, Copy, Debug)]
pub struct DemoOptions {
    /// How long the driven part of the match lasts, in seconds; 135 in a real one.
    pub teleop_s: u32,
    /// Whether existing files may be replaced.
    pub force: bool,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self { teleop_s: 45, force: false }
    }
}

/// Writes simulated logs into a folder, which is created, and returns their paths.
///
/// One match of one robot in four formats: WPILOG as WPILib's DataLogManager writes it and as AdvantageKit does, RLOG R2
/// and R1; and the first of them damaged in the middle and cut off. The same match as the driver station logged it, and
/// as a capture of its network. A CARLA recording of a junction with one collision. What a Refloat board recorded of a nose-dive.
/// The same options give the same bytes.
pub fn demo(dir: &Path, options: &DemoOptions) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(dir).map_err(|error| Error::writing(dir, error))?;
    let course = Course::new(options.teleop_s);
    LOGS.iter().map(|(name, make)| write(&dir.join(name), *make, &course, options.force)).collect()
}

/// Writes one of the logs of [`demo`], by its name, into a folder, and returns its path. The driven part of the match
/// lasts 25 seconds.
pub fn demo_log(dir: &Path, name: &str) -> Result<PathBuf, Error> {
    let Some((_, make)) = LOGS.iter().find(|(known, _)| *known == name) else {
        return Err(Error::usage(format!("the demo has no log {name:?}")));
    };
    write(&dir.join(name), *make, &Course::new(25), false)
}

fn write(path: &Path, make: Make, course: &Course, force: bool) -> Result<PathBuf, Error> {
    let bytes = make(course, path)?;
    Output::File { path, force, wrapper: None }.write_all(&bytes)?;
    Ok(path.to_owned())
}

/// Makes a log; its path is for messages.
type Make = fn(&Course, &Path) -> Result<Vec<u8>, Error>;

const LOGS: [(&str, Make); 10] = [
    ("FRC_20260321_142233_DEMO_Q12.wpilog", |course, _| datalog::log(course)),
    ("akit_26-03-21_14-22-33_demo_q12.wpilog", |course, _| akit::log(course, akit::Kind::Wpilog)),
    ("demo_q12.rlog", |course, _| akit::log(course, akit::Kind::Rlog2)),
    ("demo_q12_r1.rlog", |course, _| akit::log(course, akit::Kind::Rlog1)),
    ("demo_q12.dslog", |course, _| Ok(station::logs(course).0)),
    ("demo_q12.dsevents", |course, _| Ok(station::logs(course).1)),
    ("demo_q12.pcap", |course, path| station::capture(course).map_err(|error| Error::writing(path, error))),
    ("damaged.wpilog", |course, _| datalog::log(course).map(damage)),
    ("demo_junction.log", |_, _| Ok(logpose_sim::junction(12, JUNCTION_S).map_err(EditError::from)?)),
    ("demo_nosedive.rfrec", |_, path| {
        nosedive::nosedive().map_err(|error| Error::writing(path, std::io::Error::other(error)))
    }),
];

/// 512 bytes of noise in the middle, and the end in the middle of a record.
fn damage(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut noise = Noise::new(12);
    let middle = bytes.len() / 2;
    if let Some(hole) = bytes.get_mut(middle..middle + 512) {
        hole.iter_mut().for_each(|byte| *byte = u8::try_from(noise.bits() & 0xff).unwrap_or(0));
    }
    bytes.truncate(bytes.len().saturating_sub(5));
    bytes
}

/// The moments of the robot's cycles.
fn cycles(course: &Course) -> impl Iterator<Item = (f64, Time)> + use<> {
    let end = course.end + 2.0;
    (0_u32..).map(|i| robot::BOOT + f64::from(i) * robot::STEP).take_while(move |t| *t < end).map(|t| (t, time(t)))
}

/// A moment, to the microsecond.
fn time(t: f64) -> Time {
    Time::from_micros(Time::from_seconds(t).unwrap_or(Time::ZERO).plus(500).micros())
}

/// Enabled, autonomous, test, emergency stop.
fn flags(mode: Mode) -> [bool; 4] {
    [mode.is_enabled(), mode == Mode::Auto, mode == Mode::Test, mode == Mode::EStop]
}

/// What is said on the console at a moment.
fn says(course: &Course, t: f64) -> Option<&'static str> {
    let at = |moment: f64| (t - moment).abs() < robot::STEP / 2.0;
    match t {
        _ if at(robot::BOOT) => Some("********** Robot program startup complete **********"),
        _ if at(course.auto) => Some("Auto: three pieces, left side"),
        _ if at(course.auto + 9.0) => Some("Warning at Intake.java:88: piece lost"),
        _ if at(course.teleop) => Some("Teleop enabled"),
        _ if at(course.push + 0.2) => Some("Error at PowerMonitor.java:41: brownout"),
        _ if at(course.end) => Some("Disabled"),
        _ => None,
    }
}

/// The schemas of the structs that the logs hold.
const SCHEMAS: [(&str, &str); 5] = [
    ("Rotation2d", "double value"),
    ("Translation2d", "double x;double y"),
    ("Pose2d", "Translation2d translation;Rotation2d rotation"),
    ("ChassisSpeeds", "double vx;double vy;double omega"),
    ("SwerveModuleState", "double speed;Rotation2d angle"),
];
/// Wall-clock microseconds at the robot's time zero: 2026-03-21 14:22:33 UTC.
const EPOCH_US: i64 = 1_774_102_953_000_000;
/// How long the junction is recorded; the collision is after about ten seconds.
const JUNCTION_S: f64 = 20.0;
