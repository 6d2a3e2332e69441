use std::fmt::Write as _;
use std::sync::Arc;

use logpose::{Browse, ClockMap, Log, OpenOptions, Quiet};
use logpose_core::{Channel, Sample, Sink, Time, Value};
use logpose_testkit::{corpus_files, golden, workspace};

use crate::api::{Pane, Panes, PanesQuery, Preset};
use crate::{LiveLog, LiveOptions, Session, Viewer};

/// A viewer of a made log: the name, type and values of each channel, one sample every 20 ms.
fn viewer(channels: &[(&str, &str, Vec<Value<'_>>)]) -> Viewer {
    let options = LiveOptions {
        name: "made".to_owned(),
        address: "made".to_owned(),
        dialect: "wpilog".to_owned(),
        format: "made".to_owned(),
        folder: std::env::temp_dir(),
        limit: 1 << 30,
        keep_free: 0,
    };
    let log = LiveLog::new(&options).unwrap();
    let mut writer = log.writer();
    let mut same = |time: Time| time;
    let mut batch = writer.batch(&mut same, false);
    for (id, (name, type_name, values)) in (0..).zip(channels) {
        let channel = Channel { name: (*name).to_owned(), type_name: (*type_name).to_owned(), ..Channel::default() };
        batch.channel(id, &channel).unwrap();
        for (step, value) in (0..).zip(values) {
            batch.samples(&[Sample { channel: id, time: Time::from_millis(step * 20), value: *value }]).unwrap();
        }
    }
    let mut session = Session::new();
    session.add_live(&log, ClockMap::default());
    Viewer::new(session)
}

fn rising(from: f64, by: f64) -> Vec<Value<'static>> {
    (0..50).map(|step| Value::Double(from + by * f64::from(step))).collect()
}

fn chosen(viewer: &Viewer, preset: Preset) -> Panes {
    viewer.panes(0, &PanesQuery { preset: Some(preset) }).unwrap()
}

/// The names of what a pane shows.
fn shown(viewer: &Viewer, panes: &Panes, name: &str) -> Vec<String> {
    let channels = viewer.channels(0).unwrap().channels;
    let series = panes.panes.iter().filter(|pane| pane.name == name).flat_map(|pane| &pane.series);
    series.map(|one| channels[one.channel as usize].name.clone() + one.path.as_deref().unwrap_or_default()).collect()
}

#[test]
fn power_is_the_battery_and_the_robot_s_mode() {
    let viewer = viewer(&[
        ("NT:/SmartDashboard/Color Sensor/Enabled", "boolean", vec![Value::Boolean(true); 50]),
        ("/Shooter/AppliedVoltage", "double", rising(0.0, 0.2)),
        ("/LiveWindow/PDP/Voltage", "double", rising(11.0, 0.02)),
        ("/SystemStats/BatteryVoltage", "double", vec![Value::Double(0.0); 50]),
        ("/PowerDistribution/Voltage", "double", rising(11.0, 0.02)),
        ("/PowerDistribution/TotalCurrent", "double", rising(0.0, 1.0)),
        ("/DriverStation/Enabled", "boolean", vec![Value::Boolean(true); 2]),
    ]);
    let panes = chosen(&viewer, Preset::Frc);
    // The battery's own channel is not connected: it says 0 for the whole log.
    let expected = ["/PowerDistribution/Voltage", "/PowerDistribution/TotalCurrent", "/DriverStation/Enabled"];
    assert_eq!(shown(&viewer, &panes, "power"), expected);
    assert_eq!(panes.panes[0].title, "Battery voltage and total current");
}

#[test]
fn the_field_shows_odometry_and_not_what_a_camera_saw_once() {
    let place = [1.0_f64.to_le_bytes(), 2.0_f64.to_le_bytes(), 0.0_f64.to_le_bytes()].concat();
    let there = [1.5_f64.to_le_bytes(), 2.0_f64.to_le_bytes(), 0.0_f64.to_le_bytes()].concat();
    let schema = |text: &'static str| vec![Value::Bytes(text.as_bytes())];
    let driven: Vec<Value<'_>> = (0..50).map(|n| Value::Bytes(if n % 2 == 0 { &place } else { &there })).collect();
    let mut channels = vec![
        ("/.schema/struct:Translation2d", "structschema", schema("double x;double y")),
        ("/.schema/struct:Rotation2d", "structschema", schema("double value")),
        ("/.schema/struct:Pose2d", "structschema", schema("Translation2d translation;Rotation2d rotation")),
        ("/A/Vision/Front/Pose", "struct:Pose2d", vec![Value::Bytes(&place)]),
        ("/B/TargetPose", "struct:Pose2d", driven.clone()),
        ("/Limelight/botpose", "struct:Pose2d", driven.clone()),
    ];
    let odometry = ("/RealOutputs/Odometry/Robot", "struct:Pose2d", driven);
    channels.push(odometry);
    let all = viewer(&channels);
    let panes = chosen(&all, Preset::Frc);
    assert_eq!(shown(&all, &panes, "field"), ["/RealOutputs/Odometry/Robot"]);
    let field = panes.panes.iter().find(|pane| pane.name == "field").unwrap();
    assert_eq!(field.title, "Field: Odometry/Robot");
    // One sample of a camera is no field.
    let seen = viewer(&channels[..4]);
    assert_eq!(shown(&seen, &chosen(&seen, Preset::Frc), "field"), Vec::<String>::new());
}

#[test]
fn wheels_are_a_set_and_measured_ones_go_first() {
    let viewer = viewer(&[
        ("/Drive/ModuleFL/VelocitySetpoint", "double", rising(0.0, 1.0)),
        ("/Drive/ModuleFR/VelocitySetpoint", "double", rising(0.0, 1.0)),
        ("/Drive/ModuleFL/DriveVelocity", "double", rising(0.0, 1.0)),
        ("/Drive/ModuleFR/DriveVelocity", "double", rising(0.0, 1.0)),
        ("/Drive/ModuleFL/TurnVelocity", "double", rising(0.0, 1.0)),
        ("/Drive/ModuleFL/TurnPosition", "double", rising(0.0, 1.0)),
        ("/Drive/MaxSpeed", "double", vec![Value::Double(4.0)]),
    ]);
    let panes = chosen(&viewer, Preset::Frc);
    let expected = ["/Drive/ModuleFL/DriveVelocity", "/Drive/ModuleFR/DriveVelocity"];
    assert_eq!(shown(&viewer, &panes, "motion"), expected);
    assert_eq!(shown(&viewer, &panes, "turning"), ["/Drive/ModuleFL/TurnPosition"]);
    let names: Vec<&str> = panes.panes.iter().map(|pane| pane.name).collect();
    assert!(!names.contains(&"swerve") && !names.contains(&"power") && !names.contains(&"field"), "{names:?}");
}

#[test]
fn what_is_unusual_is_shown_by_what_varies() {
    let viewer = viewer(&[
        ("/Timestamp", "int64", (0..50).map(Value::Int64).collect()),
        ("/Constant", "double", vec![Value::Double(3.0); 50]),
        ("/Arm/Angle", "double", rising(0.0, 1.0)),
        ("/Arm/kP", "double", vec![Value::Double(3.0)]),
        ("/Elevator/Height", "double", rising(0.0, 0.1)),
    ]);
    for preset in [Preset::General, Preset::Frc, Preset::Ds, Preset::Refloat, Preset::Carla] {
        let panes = chosen(&viewer, preset);
        let numbers = shown(&viewer, &panes, "numbers");
        assert_eq!(numbers, ["/Arm/Angle", "/Elevator/Height"], "{preset:?}");
        let graph = panes.panes.iter().find(|pane| pane.name == "numbers").unwrap();
        assert_eq!(graph.title, "Angle, Height");
    }
    assert!(viewer.panes(7, &PanesQuery::default()).is_err());
}

#[test]
fn what_never_changes_is_no_line() {
    let flat = || vec![Value::Double(0.0); 50];
    let station = viewer(&[
        ("/ds/battery", "double", rising(11.0, 0.02)),
        ("/ds/trip_time", "double", rising(0.0, 0.001)),
        ("/ds/packet_loss", "double", flat()),
        ("/ds/cpu", "double", flat()),
        ("/ds/pd/total_current", "double", flat()),
    ]);
    let panes = chosen(&station, Preset::Ds);
    assert_eq!(shown(&station, &panes, "link"), ["/ds/trip_time"]);
    assert_eq!(panes.panes.iter().find(|pane| pane.name == "link").unwrap().title, "Trip time");
    assert_eq!(shown(&station, &panes, "load"), Vec::<String>::new());
    let disabled = viewer(&[
        ("/Drive/ModuleFL/DriveVelocity", "double", flat()),
        ("/Drive/ModuleFR/DriveVelocity", "double", flat()),
        ("/Arm/Angle", "double", rising(0.0, 1.0)),
    ]);
    let panes = chosen(&disabled, Preset::Frc);
    assert_eq!(shown(&disabled, &panes, "motion"), Vec::<String>::new());
    assert_eq!(shown(&disabled, &panes, "numbers"), ["/Arm/Angle"]);
}

#[test]
fn lines_that_share_an_axis_have_a_scale_in_common() {
    let viewer = viewer(&[
        ("/Arm/Heading", "double", rising(0.0, 0.02)),
        ("/Arm/Range", "double", rising(0.0, 40.0)),
        ("/Arm/Lift", "double", rising(0.2, 0.01)),
    ]);
    assert_eq!(shown(&viewer, &chosen(&viewer, Preset::General), "numbers"), ["/Arm/Heading", "/Arm/Lift"]);
}

#[test]
fn titles_say_what_is_shown() {
    let viewer = viewer(&[
        ("/SystemStats/BatteryVoltage", "double", rising(11.0, 0.02)),
        ("/SystemStats/BatteryCurrent", "double", rising(0.4, 0.01)),
        ("/limelight/tx", "double", rising(0.0, 1.0)),
        ("/limelight/ta", "double", rising(0.0, 0.5)),
    ]);
    let panes = chosen(&viewer, Preset::Frc);
    let titles: Vec<&str> = panes.panes.iter().map(|pane| &*pane.title).collect();
    assert_eq!(titles.get(..2), Some(&["Battery voltage and current", "limelight: tx, ta"][..]));
}

#[test]
fn a_log_without_samples_has_no_panes_but_those_that_wait() {
    let viewer = viewer(&[("/Nothing", "double", Vec::new())]);
    let names: Vec<&str> = chosen(&viewer, Preset::Frc).panes.iter().map(|pane| pane.name).collect();
    assert_eq!(names, ["events", "console"]);
}

/// The choice for every log of the corpus. A change of it is a change of what people see first: review it as such.
#[test]
#[ignore = "needs the corpus of real logs"]
fn every_log_of_the_corpus_opens_with_its_best_channels() {
    let mut text = String::new();
    for folder in ["carla", "ds", "rlog", "wpilog"] {
        for path in corpus_files(folder) {
            let options = OpenOptions { salvage: true, ..OpenOptions::default() };
            let Ok(log) = Log::open_with(&path, &options, &Quiet) else { continue };
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            write_choice(&name, log, &mut text);
        }
    }
    golden(&workspace().join("fixtures/api/corpus-panes.txt"), text.as_bytes());
}

fn write_choice(name: &str, log: Log, out: &mut String) {
    let mut session = Session::new();
    session.add(Browse::new(Arc::new(log), &Quiet).unwrap(), ClockMap::default());
    let viewer = Viewer::new(session);
    let panes = viewer.panes(0, &PanesQuery::default()).unwrap();
    let channels = viewer.channels(0).unwrap().channels;
    writeln!(out, "{name}: {:?}", panes.preset).unwrap();
    for Pane { name, view, title, series } in &panes.panes {
        let title = if title.is_empty() { String::new() } else { format!(" \"{title}\"") };
        writeln!(out, "  {name} ({view}){title}").unwrap();
        for one in series {
            let channel = &channels[one.channel as usize];
            let path = one.path.as_deref().unwrap_or_default();
            writeln!(out, "    {}{path}", channel.name).unwrap();
        }
    }
}
