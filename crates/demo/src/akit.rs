//! The match as AdvantageKit logs it: cycles of one time each, and only what has changed.

use logpose_core::{EncodeOptions, Time};

use super::pen::Pen;
use super::robot::{Course, Noise, State};
use super::{EPOCH_US, SCHEMAS, cycles, flags, says};
use logpose_files::{Error, Format};

/// In which format.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Kind {
    Wpilog,
    Rlog2,
    /// Has no integers beyond 32 bits and no types.
    Rlog1,
}

pub(super) fn log(course: &Course, kind: Kind) -> Result<Vec<u8>, Error> {
    let (name, revision) = match kind {
        Kind::Wpilog => ("wpilog", None),
        Kind::Rlog2 => ("rlog", Some(2)),
        Kind::Rlog1 => ("rlog", Some(1)),
    };
    let format = Format::from_name(name).ok_or_else(|| Error::usage(format!("no {name} dialect")))?;
    let extra_header = (kind == Kind::Wpilog).then(|| "AdvantageKit".to_owned());
    let mut pen = Pen::new(format, &EncodeOptions { revision, extra_header, ..EncodeOptions::default() }, true)?;
    let mut noise = Noise::new(2026);
    for (cycle, (t, time)) in cycles(course).enumerate() {
        let state = course.state(t, noise.next());
        if kind == Kind::Wpilog {
            // AdvantageKit's replay knows a cycle by this.
            pen.int(time, "/Timestamp", time.micros())?;
        }
        if cycle == 0 && kind != Kind::Rlog1 {
            for (name, schema) in SCHEMAS {
                pen.put(time, &format!("/.schema/struct:{name}"), "structschema", schema.as_bytes())?;
            }
        }
        inputs(&mut pen, time, &state)?;
        if kind != Kind::Rlog1 {
            pen.int(time, "/SystemStats/EpochTimeMicros", EPOCH_US + time.micros())?;
        }
        outputs(&mut pen, time, &state, kind)?;
        if let Some(line) = says(course, t) {
            pen.text(time, "/RealOutputs/Console", line)?;
        }
        pen.flush()?;
    }
    pen.finish()
}

fn inputs(pen: &mut Pen, time: Time, state: &State) -> Result<(), Error> {
    let names = ["Enabled", "Autonomous", "Test", "EmergencyStop"];
    for (name, on) in names.iter().zip(flags(state.mode)) {
        pen.boolean(time, &format!("/DriverStation/{name}"), on)?;
    }
    pen.text(time, "/DriverStation/EventName", "DEMO")?;
    pen.int(time, "/DriverStation/MatchType", 2)?;
    pen.int(time, "/DriverStation/MatchNumber", 12)?;
    pen.int(time, "/DriverStation/AllianceStation", 2)?;
    pen.text(time, "/DriverStation/Joystick0/Name", "Controller (Demo)")?;
    let [vx, vy, omega] =
        state.speeds.map(|speed| if state.mode == logpose_files::Mode::Teleop { speed / 4.5 } else { 0.0 });
    pen.doubles(time, "/DriverStation/Joystick0/AxisValues", "double[]", &[-vy, -vx, 0.0, 0.0, -omega, 0.0])?;
    pen.double(time, "/SystemStats/BatteryVoltage", state.volts)?;
    pen.double(time, "/SystemStats/BatteryCurrent", state.amperes)?;
    pen.boolean(time, "/SystemStats/BrownedOut", state.browned_out)?;
    for (module, ([speed, angle], heat)) in state.modules.iter().zip(state.heat).enumerate() {
        let name = |last: &str| format!("/Drive/Module{module}/{last}");
        pen.double(time, &name("DriveVelocityMetersPerSec"), *speed)?;
        pen.double(time, &name("TurnPositionRad"), *angle)?;
        pen.double(time, &name("DriveTempCelsius"), heat.into())?;
    }
    Ok(())
}

fn outputs(pen: &mut Pen, time: Time, state: &State, kind: Kind) -> Result<(), Error> {
    // Before structs, AdvantageKit wrote poses as arrays.
    let of = |type_name: &'static str| if kind == Kind::Rlog1 { "double[]" } else { type_name };
    pen.doubles(time, "/RealOutputs/Drive/Pose", of("struct:Pose2d"), &state.pose)?;
    pen.doubles(
        time,
        "/RealOutputs/Drive/ModuleStates",
        of("struct:SwerveModuleState[]"),
        state.modules.as_flattened(),
    )?;
    pen.doubles(time, "/RealOutputs/Drive/ChassisSpeeds", of("struct:ChassisSpeeds"), &state.speeds)?;
    pen.double(time, "/RealOutputs/Shooter/RPM", state.shooter_rpm)?;
    pen.text(time, "/RealOutputs/Shooter/State", state.shooter)
}
