//! Logs of other origins: live values, apps, tables, and what has nothing to do with boards.

use std::fmt::Write as _;

use logpose::core::{Time, Value};
use logpose::refloat::{Cause, Footpad, Options, Rule, StopKind, explain, is_explainable};
use logpose::{Error, ErrorKind, Log, OpenOptions};

use super::made::{Made, Point};
use crate::support::{encode, log_of};

fn dive() -> Made {
    Made::quiet(10.0, 20.0).from(2.0, |point, gone| point.duty = (0.6 + 0.4 * gone).min(0.95)).dive(0.6)
}

/// What a live recording looks like: states when they change, numbers with every reply, and the end after the stop.
fn live(made: &Made) -> Vec<u8> {
    let channels = [
        ("/refloat/state", "string"),
        ("/refloat/footpad", "string"),
        ("/refloat/adjustment", "string"),
        ("/refloat/wheelslip", "boolean"),
        ("/refloat/motor.erpm", "float"),
        ("/refloat/motor.duty_cycle", "float"),
        ("/refloat/motor.batt_voltage", "float"),
        ("/refloat/imu.pitch", "float"),
        ("/refloat/setpoint", "float"),
        ("/refloat/prints", "string"),
    ];
    let mut samples = vec![(2, Time::ZERO, Value::String(b"none")), (3, Time::ZERO, Value::Boolean(false))];
    let (mut state, mut pads) = (None, None);
    let after = Point { running: false, before: -0.1, ..*made.points.last().unwrap() };
    for point in made.points.iter().chain([&after]) {
        let time = Time::from_micros(((100.0 - point.before) * 1e6) as i64);
        if state.replace(point.running) != Some(point.running) {
            samples.push((0, time, Value::String(if point.running { b"running" } else { b"ready" })));
        }
        if pads != point.footpad {
            pads = point.footpad;
            samples.push((1, time, Value::String(pads.map_or("none", Footpad::name).as_bytes())));
        }
        for (id, value) in [(4, point.erpm), (5, point.duty), (6, point.volts), (7, point.pitch), (8, point.setpoint)] {
            samples.push((id, time, Value::Float(value as f32)));
        }
    }
    encode("wpilog", &channels, &samples)
}

#[test]
fn live_recordings_are_explained() {
    let explanation = explain(&log_of(live(&dive())), &Options::default()).unwrap();
    assert_eq!(explanation.verdict.cause, Cause::DutyLimit, "{explanation:#?}");
    assert_eq!(explanation.stop.kind, StopKind::Disengaged);
    let explanation = explain(&log_of(live(&Made::quiet(50.0, 5.0))), &Options::default()).unwrap();
    // The board disengages at speed, with a rider and in balance: nobody knows why.
    assert_eq!(explanation.verdict.cause, Cause::Unknown);
}

/// The log of Float Control, of that ride.
fn float_control(made: &Made, state: impl Fn(&Point) -> String) -> Log {
    let mut text = "Time(s),State,Speed(km/h),Duty%,Voltage,Requested Amps,Pitch,Setpoint\n".to_owned();
    for point in &made.points {
        let _ = writeln!(
            text,
            "{:.3},{},{:.1},{:.1}%,{:.2},{:.1},{:.2},{:.2}",
            20.0 - point.before,
            state(point),
            point.erpm * 0.003_52,
            point.duty * 100.0,
            point.volts,
            point.request,
            point.pitch,
            point.setpoint
        );
    }
    Log::from_bytes("ride.csv", text.into_bytes(), &OpenOptions::default()).unwrap()
}

#[test]
fn ride_logs_of_apps_are_explained() {
    let made = dive().from(0.1, |point, _| point.running = false);
    let log = float_control(&made, |point| if point.running { "RUNNING" } else { "STOP PITCH" }.to_owned());
    let explanation = explain(&log, &Options::default()).unwrap();
    assert_eq!((explanation.verdict.cause, explanation.stop.kind), (Cause::DutyLimit, StopKind::Disengaged));
    assert!(explanation.lines.iter().any(|line| line.rule == Rule::DutyLimit));
}

#[test]
fn a_log_without_the_channels_says_which_are_missing() {
    let missing = |channels: &[(&str, &str)]| {
        let samples: Vec<_> = (0..).zip(channels).map(|(id, _)| (id, Time::ZERO, Value::Boolean(true))).collect();
        let log = log_of(encode("wpilog", channels, &samples));
        assert!(!is_explainable(&log));
        let Error { kind: ErrorKind::MissingChannels { channels }, help: Some(_), path: Some(_), .. } =
            explain(&log, &Options::default()).unwrap_err()
        else {
            panic!()
        };
        channels.join(" ")
    };
    assert_eq!(
        missing(&[("/Robot/Enabled", "boolean")]),
        "/refloat/running /refloat/duty_cycle /refloat/pitch /refloat/setpoint /refloat/erpm"
    );
    assert_eq!(
        missing(&[("/refloat/running", "boolean")]),
        "/refloat/duty_cycle /refloat/pitch /refloat/setpoint /refloat/erpm"
    );
    assert_eq!(missing(&[("/refloat/erpm", "boolean")]), "/refloat/running");
}

#[test]
fn what_is_missing_beyond_that_only_silences_rules() {
    let channels = [("/refloat/running", "boolean"), ("/refloat/duty_cycle", "double")];
    let samples: Vec<_> = (0..200)
        .flat_map(|n| {
            let time = Time::from_millis(n * 20);
            [(0, time, Value::Boolean(true)), (1, time, Value::Double(if n > 100 { 0.95 } else { 0.5 }))]
        })
        .collect();
    let explanation = explain(&log_of(encode("wpilog", &channels, &samples)), &Options::default()).unwrap();
    assert_eq!(explanation.verdict.cause, Cause::Nothing);
    assert!(explanation.verdict.contra.iter().any(|reason| reason.contains("pitch and setpoint")));
    assert!(explanation.lines.iter().any(|line| line.rule == Rule::DutyLimit));
}
