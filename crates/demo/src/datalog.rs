//! The match as WPILib's DataLogManager logs it, with NetworkTables and the driver station.

use logpose_core::{EncodeOptions, Time};

use super::pen::Pen;
use super::robot::{Course, Noise, State};
use super::{EPOCH_US, SCHEMAS, cycles, flags, says};
use logpose_files::{Error, Format};

pub(super) fn log(course: &Course) -> Result<Vec<u8>, Error> {
    let format = Format::from_name("wpilog").ok_or_else(|| Error::usage("no WPILOG dialect"))?;
    let mut pen = Pen::new(format, &EncodeOptions::default(), false)?;
    let mut noise = Noise::new(2026);
    begin(&mut pen, Time::from_millis(1200))?;
    let mut before: Option<State> = None;
    for (cycle, (t, time)) in cycles(course).enumerate() {
        let state = course.state(t, noise.next());
        // Records of one packet come one after the other, and NetworkTables hands its values over later.
        driver_station(&mut pen, time.plus(40_000), &state, before.as_ref())?;
        if cycle.is_multiple_of(250) {
            pen.int(time.plus(60_000), "systemTime", EPOCH_US + time.micros() + 60)?;
        }
        telemetry(&mut pen, time.plus(100_000), &state)?;
        tables(&mut pen, time.plus(-300_000), &state, before.as_ref())?;
        if let Some(line) = says(course, t) {
            pen.text(time.plus(90_000), "messages", line)?;
            pen.text(time.plus(95_000), "console", &format!("{line}\n"))?;
        }
        pen.flush()?;
        before = Some(state);
    }
    pen.finish()
}

fn begin(pen: &mut Pen, time: Time) -> Result<(), Error> {
    pen.declare("systemTime", "int64", r#"{"source":"DataLogManager","format":"time_t_us"}"#)?;
    pen.declare("NTConnection", "json", r#"{"schema":"NTConnectionInfo","source":"NT"}"#)?;
    for (name, schema) in SCHEMAS {
        let channel = format!("NT:/.schema/struct:{name}");
        pen.declare(&channel, "structschema", r#"{"properties":{"retained":true},"source":"NT"}"#)?;
        pen.put(time, &channel, "structschema", schema.as_bytes())?;
    }
    let published = ["NT:/Drive/Pose", "NT:/Drive/ModuleStates", "NT:/Drive/ChassisSpeeds"];
    for (name, type_name) in
        published.iter().zip(["struct:Pose2d", "struct:SwerveModuleState[]", "struct:ChassisSpeeds"])
    {
        pen.declare(name, type_name, NT)?;
    }
    pen.declare("NT:/FMSInfo/FMSControlData", "int64", NT)?;
    for (name, type_name, value) in [
        ("NT:/FMSInfo/EventName", "string", &b"DEMO"[..]),
        ("NT:/FMSInfo/MatchType", "int64", &2_i64.to_le_bytes()),
        ("NT:/FMSInfo/MatchNumber", "int64", &12_i64.to_le_bytes()),
        ("NT:/FMSInfo/IsRedAlliance", "boolean", &[1]),
        ("NT:/FMSInfo/StationNumber", "int64", &2_i64.to_le_bytes()),
        ("NT:/SmartDashboard/Auto Selected", "string", b"Three pieces, left side"),
    ] {
        pen.declare(name, type_name, NT)?;
        pen.put(time, name, type_name, value)?;
    }
    let connection = r#"{"connected":true,"remote_id":"elastic@1","remote_ip":"10.2.54.5","remote_port":59695,"protocol_version":1025}"#;
    pen.put(time, "NTConnection", "json", connection.as_bytes())
}

fn driver_station(pen: &mut Pen, time: Time, state: &State, before: Option<&State>) -> Result<(), Error> {
    let (now, then) = (flags(state.mode), before.map(|state| flags(state.mode)));
    for (place, name) in ["DS:enabled", "DS:autonomous", "DS:test", "DS:estop"].iter().enumerate() {
        let (now, then) = (now.get(place), then.as_ref().and_then(|then| then.get(place)));
        if now != then {
            pen.boolean(time, name, now.copied().unwrap_or(false))?;
        }
    }
    let [vx, vy, omega] =
        state.speeds.map(|speed| if state.mode == logpose_files::Mode::Teleop { speed / 4.5 } else { 0.0 });
    #[expect(clippy::cast_possible_truncation, reason = "a joystick has eight bits")]
    let axes: Vec<u8> =
        [-vy, -vx, 0.0, 0.0, -omega, 0.0].iter().flat_map(|axis| (*axis as f32).to_le_bytes()).collect();
    pen.put(time.plus(5_000), "DS:joystick0/axes", "float[]", &axes)?;
    let shooting = state.shooter == "SHOOTING";
    if before.is_none_or(|before| before.shooter != state.shooter) {
        pen.put(time.plus(6_000), "DS:joystick0/buttons", "boolean[]", &[0, shooting.into(), 0, 0, 0, 0, 0, 0, 0, 0])?;
        pen.put(time.plus(7_000), "DS:joystick0/povs", "int64[]", &(-1_i64).to_le_bytes())?;
    }
    Ok(())
}

fn telemetry(pen: &mut Pen, time: Time, state: &State) -> Result<(), Error> {
    pen.double(time, "/Power/BatteryVoltage", state.volts)?;
    pen.double(time.plus(2_000), "/Power/TotalCurrent", state.amperes)?;
    pen.boolean(time.plus(3_000), "/Power/BrownedOut", state.browned_out)?;
    pen.double(time.plus(5_000), "/Shooter/RPM", state.shooter_rpm)?;
    pen.text(time.plus(6_000), "/Shooter/State", state.shooter)?;
    for (module, ([speed, angle], heat)) in state.modules.iter().zip(state.heat).enumerate() {
        let name = |last: &str| format!("/Drive/Module{module}/{last}");
        pen.double(time.plus(8_000), &name("DriveVelocity"), *speed)?;
        pen.double(time.plus(8_000), &name("TurnPosition"), *angle)?;
        pen.put(time.plus(9_000), &name("MotorTemperature"), "float", &heat.to_le_bytes())?;
    }
    Ok(())
}

fn tables(pen: &mut Pen, time: Time, state: &State, before: Option<&State>) -> Result<(), Error> {
    pen.doubles(time, "NT:/Drive/Pose", "struct:Pose2d", &state.pose)?;
    pen.doubles(time, "NT:/Drive/ModuleStates", "struct:SwerveModuleState[]", state.modules.as_flattened())?;
    pen.doubles(time, "NT:/Drive/ChassisSpeeds", "struct:ChassisSpeeds", &state.speeds)?;
    if before.is_none_or(|before| before.mode != state.mode) {
        let [enabled, auto, ..] = flags(state.mode).map(i64::from);
        // The field and the driver station are there all the time.
        pen.int(time, "NT:/FMSInfo/FMSControlData", enabled | auto << 1 | 0b11_0000)?;
    }
    Ok(())
}

const NT: &str = r#"{"properties":{},"source":"NT"}"#;
