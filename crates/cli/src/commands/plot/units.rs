//! Units of values.

use logpose::core::Channel;

/// The unit of a leaf: from the log if it states one, otherwise from the struct or the end of the name.
pub(super) fn unit(channel: &Channel, leaf: &str) -> Option<String> {
    if let Some(unit) = logpose::unit(channel) {
        let words = WORDS.iter().find(|(words, _)| words.iter().any(|word| word.eq_ignore_ascii_case(&unit)));
        return Some(words.map_or(unit, |(_, symbol)| (*symbol).to_owned()));
    }
    let field = leaf.get(channel.name.len()..).unwrap_or_default();
    let of_struct = of_struct(&channel.type_name, field);
    of_struct.or_else(|| by_name(leaf)).map(str::to_owned)
}

/// WPILib's own structs are in SI units.
fn of_struct(type_name: &str, field: &str) -> Option<&'static str> {
    let name = type_name.strip_prefix("struct:")?.split('[').next()?;
    let last = field.rsplit(['.', ']']).next()?;
    match (name, last) {
        ("Pose2d" | "Pose3d" | "Transform2d" | "Transform3d" | "Translation2d" | "Translation3d", "x" | "y" | "z") => {
            // A quaternion has an x too, but no unit.
            (!field.contains(".q.")).then_some("m")
        }
        ("Pose2d" | "Transform2d" | "Rotation2d" | "SwerveModuleState" | "SwerveModulePosition", "value") => {
            Some("rad")
        }
        ("ChassisSpeeds", "vx" | "vy") | ("SwerveModuleState", "speed") => Some("m/s"),
        ("ChassisSpeeds", "omega") => Some("rad/s"),
        ("SwerveModulePosition", "distance") => Some("m"),
        _ => None,
    }
}

/// The unit at the end of a name such as `DriveVelocityMetersPerSec` or `battery_volts`.
fn by_name(leaf: &str) -> Option<&'static str> {
    let last = leaf.rsplit(['/', '.']).find(|part| !part.is_empty())?;
    let last = last.split('[').next()?;
    let fits = |word: &str| {
        let snake = || {
            last.len() > word.len() && last.to_ascii_lowercase().ends_with(&format!("_{}", word.to_ascii_lowercase()))
        };
        last.ends_with(word) || last.eq_ignore_ascii_case(word) || snake()
    };
    let ends = WORDS.iter().flat_map(|(words, unit)| words.iter().map(move |word| (*word, *unit)));
    ends.filter(|(word, _)| fits(word)).max_by_key(|(word, _)| word.len()).map(|(_, unit)| unit)
}

/// Name endings and their units.
const WORDS: &[(&[&str], &str)] = &[
    (&["Volts", "Volt", "Voltage"], "V"),
    (&["Amps", "Amperes", "Current"], "A"),
    (&["Celsius", "DegC", "TempC"], "°C"),
    (&["Fahrenheit"], "°F"),
    (&["Radians", "Radian", "Rads", "Rad"], "rad"),
    (&["RadiansPerSecond", "RadiansPerSec", "RadPerSec", "RadsPerSec", "RadPerSecond"], "rad/s"),
    (&["RadiansPerSecondSquared", "RadPerSecSquared", "RadPerSecPerSec", "RadiansPerSecPerSec"], "rad/s²"),
    (&["Degrees", "Degree", "Deg"], "°"),
    (&["DegreesPerSecond", "DegreesPerSec", "DegPerSec"], "°/s"),
    (&["Rotations", "Rotation", "Rots", "Rot", "Revolutions"], "rot"),
    (&["RotationsPerSecond", "RotationsPerSec", "RotPerSec", "RotsPerSec", "RPS"], "rot/s"),
    (&["RotationsPerMinute", "RevolutionsPerMinute", "RevPerMin", "RPM", "Rpm"], "rpm"),
    (&["Meters", "Meter", "Metres"], "m"),
    (&["MetersPerSecond", "MetersPerSec", "MetresPerSecond", "MPS", "Mps"], "m/s"),
    (&["MetersPerSecondSquared", "MetersPerSecPerSec", "MetersPerSecSquared"], "m/s²"),
    (&["Centimeters"], "cm"),
    (&["Millimeters"], "mm"),
    (&["Inches", "Inch"], "in"),
    (&["Feet"], "ft"),
    (&["Seconds", "Second", "Secs", "Sec"], "s"),
    (&["Milliseconds", "Millis", "Msec", "MS", "Ms"], "ms"),
    (&["Microseconds", "Micros", "Usec"], "µs"),
    (&["Percent", "Pct"], "%"),
    (&["Hertz", "Hz"], "Hz"),
    (&["Newtons"], "N"),
    (&["NewtonMeters", "Nm"], "N·m"),
    (&["Kilograms", "Kg"], "kg"),
    (&["Pascals"], "Pa"),
    (&["PSI", "Psi"], "psi"),
    (&["Watts"], "W"),
    (&["Joules"], "J"),
    (&["Bytes"], "B"),
];

#[cfg(test)]
mod tests {
    use logpose::core::Channel;

    use super::unit;

    #[test]
    fn units_come_from_metadata_structs_and_names() {
        let cases = [
            ("/Power/x", "double", r#"{"unit":"volts"}"#, "", Some("V")),
            ("/Power/x", "double", r#"{"unit":"furlongs"}"#, "", Some("furlongs")),
            ("/Drive/DriveVelocityMetersPerSec", "double", "", "", Some("m/s")),
            ("/Drive/TurnPositionRad", "double", "", "", Some("rad")),
            ("/Arm/arm_angle_deg", "double", "", "", Some("°")),
            ("/Arm/voltage", "double", "", "", Some("V")),
            ("/Arm/Currents", "double[]", "", "[0]", None),
            ("/Arm/CurrentAmps", "double[]", "", "[0]", Some("A")),
            ("/Background", "double", "", "", None),
            ("/Pose", "struct:Pose2d", "", ".translation.x", Some("m")),
            ("/Pose", "struct:Pose2d", "", ".rotation.value", Some("rad")),
            ("/Pose", "struct:Pose3d", "", ".rotation.q.x", None),
            ("/States", "struct:SwerveModuleState[]", "", "[0].speed", Some("m/s")),
            ("/Own", "struct:Own", "", ".heightMeters", Some("m")),
        ];
        for (name, ty, metadata, field, expected) in cases {
            let channel = Channel { metadata: metadata.to_owned(), ..Channel::new(name, ty) };
            assert_eq!(unit(&channel, &format!("{name}{field}")).as_deref(), expected, "{name}{field}");
        }
    }
}
