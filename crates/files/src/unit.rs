//! Units: from what a log states, from well-known structs, or from the end of a name. Always one spelling.

mod table;

use logpose_core::{Channel, Type};

pub use table::{UNITS, Unit, UnitFamily};

/// The unit of a channel's values, as [`unit_of`] finds it.
#[must_use]
pub fn unit(channel: &Channel) -> Option<String> {
    unit_of(channel, "")
}

/// The unit of a channel's values (`path` is empty), their elements (`[0]`) or their fields (`.translation.x`).
///
/// It is the one the log states, the one that WPILib and CARLA define for their structs, or the one the name ends with
/// (`DriveTempCelsius`, `/Power/BatteryVoltage`). Known units have one spelling: `meters` becomes `m`, `deg` becomes `°`.
#[must_use]
pub fn unit_of(channel: &Channel, path: &str) -> Option<String> {
    let of_list = path.starts_with('[') && !path.contains('.');
    if path.is_empty() || of_list {
        if let Some(stated) = stated(channel).map(|stated| symbol_of(&stated).to_owned())
            && !stated.is_empty()
        {
            return Some(stated);
        }
        let number = matches!(
            channel.ty(),
            Type::Int64 | Type::Float | Type::Double | Type::Int64Array | Type::FloatArray | Type::DoubleArray
        );
        return if number { by_name(&channel.name).map(str::to_owned) } else { None };
    }
    // The elements of a list are measured, its length is counted.
    if path.ends_with(".length") {
        return None;
    }
    let name = channel.type_name.strip_prefix("struct:").map(|name| name.trim_end_matches("[]"));
    name.and_then(|name| of_field(name, path)).or_else(|| by_name(path)).map(str::to_owned)
}

/// The unit in which people read a channel's values, where the log has them in another one: milliseconds for a trip time in
/// seconds, percent for a share. Only values distinguish a share from percent: `max` is asked for the largest one.
#[must_use]
pub fn shown_unit(channel: &Channel, max: impl FnOnce() -> Option<f64>) -> Option<&'static str> {
    let plain: String = channel.name.to_lowercase().chars().filter(|c| *c != '_').collect();
    let names = |words: &[&str]| words.iter().any(|word| plain.ends_with(word));
    match unit(channel).as_deref() {
        Some("s") => names(&["triptime", "latency", "ping", "looptime", "cycletime"]).then_some("ms"),
        None if matches!(channel.ty(), Type::Double | Type::Float) => {
            let share = names(&["packetloss", "utilization", "/ds/cpu", "cpuload"]) || plain.contains("/ds/cpu/");
            (share && max().is_some_and(|max| max <= LARGEST_SHARE)).then_some("%")
        }
        _ => None,
    }
}

/// The unit in the log: in AdvantageKit's JSON, or in a line `Units: rotations` as CTRE's converter writes it.
fn stated(channel: &Channel) -> Option<String> {
    if channel.unit.is_some() || channel.metadata.is_empty() {
        return channel.unit.clone();
    }
    if let Ok(metadata) = serde_json::from_str::<serde_json::Value>(&channel.metadata) {
        return ["unit", "units"].iter().find_map(|key| metadata.get(key)?.as_str()).map(str::to_owned);
    }
    let line = channel.metadata.lines().find_map(|line| line.trim().strip_prefix("Units:"));
    line.map(|unit| unit.trim().to_owned())
}

/// The one spelling of a unit. Units that the table lacks stay as they are.
#[must_use]
pub fn symbol_of(stated: &str) -> &str {
    let stated = stated.trim();
    let known = || UNITS.iter().flat_map(|family| family.units);
    // Case distinguishes symbols (`mV`, `MHz`), so they come before words.
    if let Some(unit) = known().find(|unit| unit.symbol == stated) {
        return unit.symbol;
    }
    let spelled = |unit: &&Unit| {
        let mut spellings = unit.spellings.iter().chain(unit.endings).chain([&unit.symbol]);
        spellings.any(|spelling| spelling.to_lowercase() == stated.to_lowercase())
    };
    known().find(spelled).map_or(stated, |unit| unit.symbol)
}

/// The unit of a field of a struct whose fields are the same everywhere.
fn of_field(name: &str, path: &str) -> Option<&'static str> {
    let path = path.trim_start_matches(|c: char| c == '[' || c == ']' || c.is_ascii_digit());
    let mut fields = path.split('.').skip(1);
    let (field, inner) = (fields.next()?, fields.next().is_some());
    // Poses, module states and the like have angles and places as structs of their own.
    if inner {
        let rest = path.get(1 + field.len()..)?;
        return match (name, field) {
            ("Pose2d" | "Pose3d" | "Transform2d" | "Transform3d", "translation") => of_field("Translation3d", rest),
            ("Pose2d" | "Transform2d", "rotation") => of_field("Rotation2d", rest),
            ("SwerveModuleState" | "SwerveModulePosition", "angle") => of_field("Rotation2d", rest),
            ("Trajectory.State" | "TrajectorySample", "pose") => of_field("Pose2d", rest),
            _ => None,
        };
    }
    Some(match (name, field) {
        ("Translation2d" | "Translation3d", "x" | "y" | "z") => "m",
        ("Rotation2d", "value") => "rad",
        ("ChassisSpeeds", "vx" | "vy") | ("SwerveModuleState", "speed") => "m/s",
        ("ChassisSpeeds", "omega") => "rad/s",
        ("SwerveModulePosition", "distance") | ("Twist2d" | "Twist3d", "dx" | "dy" | "dz") => "m",
        ("Twist2d", "dtheta") | ("Twist3d", "rx" | "ry" | "rz") => "rad",
        ("DifferentialDriveWheelSpeeds", "left" | "right") => "m/s",
        ("CarlaTransform" | "CarlaTransform64" | "CarlaBox" | "CarlaBox64", "x" | "y" | "z") => "m",
        ("CarlaTransform" | "CarlaTransform64", "roll" | "pitch" | "yaw") => "°",
        ("CarlaBox" | "CarlaBox64", "extent_x" | "extent_y" | "extent_z") => "m",
        ("CarlaVelocity", "vx" | "vy" | "vz") | ("CarlaBiker", "forward_speed") => "m/s",
        ("CarlaVelocity", "wx" | "wy" | "wz") => "°/s",
        ("CarlaWheel", "steering_angle" | "rotation") => "°",
        ("CarlaFrame", "duration" | "elapsed") | ("CarlaLight", "elapsed") => "s",
        ("CarlaLightTiming", "green" | "yellow" | "red") => "s",
        _ => return None,
    })
}

/// The unit at the end of a name such as `DriveVelocityMetersPerSec` or `battery_volts`: the longest one that fits.
fn by_name(name: &str) -> Option<&'static str> {
    let last = name.rsplit(['/', ':', '.']).find(|word| !word.is_empty())?.split('[').next()?;
    let lower = last.to_lowercase();
    // A word begins at a capital or behind an underscore: `Background` is not in radians, `parameters` not in metres.
    let fits = |word: &str| {
        let word_lower = word.to_lowercase();
        let before = lower.strip_suffix(&word_lower);
        last.ends_with(word) || before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let endings = UNITS.iter().flat_map(|family| family.units);
    let endings = endings.flat_map(|unit| unit.endings.iter().map(|word| (*word, unit.symbol)));
    endings.filter(|(word, _)| fits(word)).max_by_key(|(word, _)| word.len()).map(|(_, symbol)| symbol)
}

/// Driver Station logs have shares up to 255 / 200.
const LARGEST_SHARE: f64 = 1.28;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use logpose_core::Channel;

    use super::{UNITS, shown_unit, symbol_of, unit, unit_of};

    #[test]
    fn units_come_from_structs_and_names() {
        let of = |name: &str, type_name: &str, path: &str| unit_of(&Channel::new(name, type_name), path);
        let cases = [
            ("/Drive/Module0/DriveTempCelsius", "double", "", Some("°C")),
            ("/Drive/Module0/DriveVelocityMetersPerSec", "double", "", Some("m/s")),
            ("/Drive/Module0/TurnPositionRad", "double", "", Some("rad")),
            ("/Power/BatteryVoltage", "double", "", Some("V")),
            ("/Power/BatteryVoltage", "string", "", None),
            ("/Arm/arm_angle_deg", "double", "", Some("°")),
            ("/Arm/voltage", "double", "", Some("V")),
            ("/Arm/Currents", "double[]", "[0]", None),
            ("/Arm/MotorAmps", "double[]", "[0]", Some("A")),
            ("/Arm/MotorAmps", "double[]", ".length", None),
            ("/Shooter/State", "string", "", None),
            ("/Shooter/RPM", "double", "", Some("rpm")),
            ("/Background", "double", "", None),
            ("/parameters", "double", "", None),
            ("/JoinMillimeters", "double", "", Some("mm")),
            ("p", "struct:Pose2d", ".translation.x", Some("m")),
            ("p", "struct:Pose2d", ".rotation.value", Some("rad")),
            ("p", "struct:Pose2d", ".translation", None),
            ("p", "struct:Pose3d", ".rotation.q.x", None),
            ("p", "struct:SwerveModuleState[]", "[2].angle.value", Some("rad")),
            ("p", "struct:SwerveModuleState[]", "[2].speed", Some("m/s")),
            ("c", "struct:CarlaTransform", ".yaw", Some("°")),
            ("c", "struct:Mine", ".x", None),
            ("c", "struct:Mine", ".heightMeters", Some("m")),
            ("c", "json", ".motors[1].supply_volts", Some("V")),
        ];
        for (name, type_name, path, expected) in cases {
            assert_eq!(of(name, type_name, path).as_deref(), expected, "{name} {type_name} {path}");
        }
    }

    #[test]
    fn units_come_from_the_metadata() {
        let of = |metadata: &str| unit(&Channel { metadata: metadata.to_owned(), ..Channel::new("x", "double") });
        assert_eq!(of(r#"{"source":"AdvantageKit","unit":"meters"}"#).as_deref(), Some("m"));
        assert_eq!(of("Position of the mechanism.\nUnits: rotations").as_deref(), Some("rot"));
        assert_eq!(of(r#"{"unit":"furlongs"}"#).as_deref(), Some("furlongs"));
        assert_eq!((of(r#"{"source":"NT"}"#), of(""), of("Units:"), of(r#"{"unit":""}"#)), (None, None, None, None));
    }

    #[test]
    fn short_times_and_shares_are_shown_in_the_units_of_people() {
        let seconds = |name: &str| Channel { unit: Some("s".to_owned()), ..Channel::new(name, "double") };
        let plain = |name: &str| Channel::new(name, "double");
        let cases = [
            (seconds("/ds/trip_time"), Some(0.2), Some("ms")),
            (seconds("/Robot/LoopTime"), None, Some("ms")),
            (seconds("/ds/control/countdown"), Some(135.0), None),
            (plain("/ds/packet_loss"), Some(1.0), Some("%")),
            (plain("/ds/cpu"), Some(1.275), Some("%")),
            (plain("/ds/cpu/0/other"), Some(0.5), Some("%")),
            (plain("/SystemStats/CANBus/Utilization"), Some(0.4), Some("%")),
            // Some robots say percent.
            (plain("/ds/can/utilization"), Some(40.0), None),
            (plain("/ds/can/utilization"), None, None),
            (plain("/Drive/Speed"), Some(0.5), None),
            (Channel::new("/ds/cpu", "string"), Some(0.5), None),
        ];
        for (channel, max, expected) in cases {
            assert_eq!(shown_unit(&channel, || max), expected, "{}", channel.name);
        }
    }

    #[test]
    fn units_have_one_spelling() {
        let cases = [
            ("meters", "m"),
            ("Metres", "m"),
            ("RPM", "rpm"),
            ("deg", "°"),
            ("deg/s", "°/s"),
            ("degC", "°C"),
            ("Volts", "V"),
            // Case distinguishes these.
            ("mV", "mV"),
            ("MHz", "MHz"),
            ("K", "K"),
            ("furlongs", "furlongs"),
            ("", ""),
        ];
        for (stated, symbol) in cases {
            assert_eq!(symbol_of(stated), symbol, "{stated}");
        }
    }

    #[test]
    fn no_word_stands_for_two_units() {
        let mut seen = HashSet::new();
        for unit in UNITS.iter().flat_map(|family| family.units) {
            let words: HashSet<String> =
                unit.spellings.iter().chain(unit.endings).map(|word| word.to_lowercase()).collect();
            assert!(words.iter().all(|word| seen.insert(word.clone())), "{unit:?}");
        }
    }
}
