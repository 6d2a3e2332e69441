use logpose_core::{Channel, Type};

/// What the values are measured in, if the log tells: in AdvantageKit's JSON, or in a line `Units: rotations` as CTRE's
/// converter writes it.
#[must_use]
pub fn unit(channel: &Channel) -> Option<String> {
    if channel.unit.is_some() || channel.metadata.is_empty() {
        return channel.unit.clone();
    }
    if let Ok(metadata) = serde_json::from_str::<serde_json::Value>(&channel.metadata) {
        let named = ["unit", "units"].iter().find_map(|key| metadata.get(key)?.as_str());
        return named.filter(|unit| !unit.is_empty()).map(str::to_owned);
    }
    channel
        .metadata
        .lines()
        .find_map(|line| line.trim().strip_prefix("Units:"))
        .map(|unit| unit.trim().to_owned())
        .filter(|unit| !unit.is_empty())
}

/// What a part of a channel's values is measured in: as the log tells, or as the names of WPILib's and CARLA's structs and
/// habits of naming say (`DriveTempCelsius`, `/Power/BatteryVoltage`). Nothing where that would be a guess.
#[must_use]
pub fn unit_of(channel: &Channel, path: &str) -> Option<String> {
    let of_list = path.starts_with('[') && !path.contains('.');
    if path.is_empty() || of_list {
        if let Some(told) = unit(channel) {
            return Some(told);
        }
        let number = matches!(
            channel.ty(),
            Type::Int64 | Type::Float | Type::Double | Type::Int64Array | Type::FloatArray | Type::DoubleArray
        );
        return if number { by_name(last_word(&channel.name)).map(str::to_owned) } else { None };
    }
    let name = channel.type_name.strip_prefix("struct:")?.trim_end_matches("[]");
    of_field(name, path).map(str::to_owned)
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
        ("CarlaTransform" | "CarlaTransform64", "roll" | "pitch" | "yaw") => "deg",
        ("CarlaBox" | "CarlaBox64", "extent_x" | "extent_y" | "extent_z") => "m",
        ("CarlaVelocity", "vx" | "vy" | "vz") | ("CarlaBiker", "forward_speed") => "m/s",
        ("CarlaVelocity", "wx" | "wy" | "wz") => "deg/s",
        ("CarlaWheel", "steering_angle" | "rotation") => "deg",
        ("CarlaFrame", "duration" | "elapsed") | ("CarlaLight", "elapsed") => "s",
        ("CarlaLightTiming", "green" | "yellow" | "red") => "s",
        _ => return None,
    })
}

/// The unit with which a name ends, as AdvantageKit's examples have it, or that the word for a quantity says.
fn by_name(word: &str) -> Option<&'static str> {
    let plain = word.to_ascii_lowercase();
    ENDS.iter().find(|(end, _)| plain.ends_with(end)).map(|(_, unit)| *unit)
}

fn last_word(name: &str) -> &str {
    name.rsplit(['/', ':', '.']).next().unwrap_or(name)
}

/// Longer ends first: what ends in `radpersec` also ends in `sec`.
const ENDS: [(&str, &str); 33] = [
    ("metersperseconds", "m/s"),
    ("meterspersecond", "m/s"),
    ("meterspersec", "m/s"),
    ("radianspersecond", "rad/s"),
    ("radpersecond", "rad/s"),
    ("radpersec", "rad/s"),
    ("degreespersecond", "deg/s"),
    ("degpersec", "deg/s"),
    ("rotationspersecond", "rot/s"),
    ("rotpersec", "rot/s"),
    ("rpm", "rpm"),
    ("celsius", "°C"),
    ("temperature", "°C"),
    ("volts", "V"),
    ("voltage", "V"),
    ("amps", "A"),
    ("current", "A"),
    ("watts", "W"),
    ("joules", "J"),
    ("meters", "m"),
    ("radians", "rad"),
    ("rads", "rad"),
    ("positionrad", "rad"),
    ("anglerad", "rad"),
    ("degrees", "deg"),
    ("positiondeg", "deg"),
    ("rotations", "rot"),
    ("micros", "µs"),
    ("millis", "ms"),
    ("seconds", "s"),
    ("drivevelocity", "m/s"),
    ("turnposition", "rad"),
    ("turnvelocity", "rad/s"),
];

#[cfg(test)]
mod tests {
    use logpose_core::Channel;

    use super::{unit, unit_of};

    #[test]
    fn known_names_have_units() {
        let of = |name: &str, type_name: &str, path: &str| unit_of(&Channel::new(name, type_name), path);
        let cases = [
            ("/Drive/Module0/DriveTempCelsius", "double", "", Some("°C")),
            ("/Drive/Module0/DriveVelocityMetersPerSec", "double", "", Some("m/s")),
            ("/Drive/Module0/TurnPositionRad", "double", "", Some("rad")),
            ("/Power/BatteryVoltage", "double", "", Some("V")),
            ("/Power/BatteryVoltage", "string", "", None),
            ("/Arm/Currents", "double[]", "[0]", None),
            ("/Arm/MotorAmps", "double[]", "[0]", Some("A")),
            ("/Arm/MotorAmps", "double[]", ".length", None),
            ("/Shooter/State", "string", "", None),
            ("p", "struct:Pose2d", ".translation.x", Some("m")),
            ("p", "struct:Pose2d", ".rotation.value", Some("rad")),
            ("p", "struct:Pose2d", ".translation", None),
            ("p", "struct:SwerveModuleState[]", "[2].angle.value", Some("rad")),
            ("p", "struct:SwerveModuleState[]", "[2].speed", Some("m/s")),
            ("c", "struct:CarlaTransform", ".yaw", Some("deg")),
            ("c", "struct:Mine", ".x", None),
        ];
        for (name, type_name, path, expected) in cases {
            assert_eq!(of(name, type_name, path).as_deref(), expected, "{name} {type_name} {path}");
        }
    }

    #[test]
    fn units_come_from_the_metadata() {
        let of = |metadata: &str| unit(&Channel { metadata: metadata.to_owned(), ..Channel::new("x", "double") });
        assert_eq!(of(r#"{"source":"AdvantageKit","unit":"meters"}"#), Some("meters".into()));
        assert_eq!(of("Position of the mechanism.\nUnits: rotations"), Some("rotations".into()));
        assert_eq!((of(r#"{"source":"NT"}"#), of(""), of("Units:")), (None, None, None));
    }
}
