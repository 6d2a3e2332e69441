//! WPILib's own structs, for logs without schemas.

use logpose_schema::{Note, Registry, SchemaError};

use crate::support::{add_struct, doubles};

#[test]
fn a_missing_schema_of_wpilib_is_guessed_and_said_so() {
    let registry = Registry::new();
    let decoded = registry.decode("struct:SwerveModuleState[]", &doubles(&[1.5, 0.5, -1.0, 0.0])).unwrap();
    assert_eq!(decoded.tree.to_string(), "[{speed: 1.5, angle: {value: 0.5}}, {speed: -1, angle: {value: 0}}]");
    assert_eq!(decoded.note, Some(Note::Guessed));
    assert_eq!(decoded.note.unwrap().to_string(), "missing schema; assuming WPILib's usual layout");
    assert_eq!(registry.guess_layout("struct:SwerveModuleState[]", 32).unwrap().size, 16);
    assert!(registry.guess_layout("struct:SwerveModuleState[]", 33).is_none());
}

#[test]
fn a_guess_needs_the_right_size() {
    let registry = Registry::new();
    for (type_name, len) in
        [("struct:Pose2d", 23), ("struct:Pose2d", 25), ("struct:Pose2d[]", 25), ("struct:Pose2d[2]", 24)]
    {
        let error = registry.decode(type_name, &vec![0; len]).unwrap_err();
        assert_eq!(error, SchemaError::Missing { what: "struct:Pose2d".into(), needed_by: None });
    }
    assert!(registry.decode("struct:Pose2d[2]", &[0; 48]).is_ok());
    assert_eq!(registry.decode("struct:Pose2d[]", &[]).unwrap().tree.to_string(), "[]");
}

#[test]
fn two_sizes_of_one_name_are_distinguished() {
    let registry = Registry::new();
    let shown = |values: &[f64]| registry.decode("struct:ArmFeedforward", &doubles(values)).unwrap().tree.to_string();
    assert_eq!(shown(&[1.0, 2.0, 3.0, 4.0]), "{ks: 1, kg: 2, kv: 3, ka: 4}");
    assert_eq!(shown(&[1.0, 2.0, 3.0, 4.0, 5.0]), "{ks: 1, kg: 2, kv: 3, ka: 4, dt: 5}");
}

#[test]
fn the_schema_of_the_log_wins() {
    let mut registry = Registry::new();
    assert_eq!(registry.decode("struct:Rotation2d", &[0; 8]).unwrap().note, Some(Note::Guessed));
    add_struct(&mut registry, "Rotation2d", "float cos;float sin").unwrap();
    let decoded = registry.decode("struct:Rotation2d", &[0; 8]).unwrap();
    assert_eq!((decoded.tree.to_string().as_str(), decoded.note), ("{cos: 0, sin: 0}", None));
    // The outer struct is still a guess, made with what the log says of its parts.
    assert_eq!(registry.decode("struct:Pose2d", &[0; 24]).unwrap().note, Some(Note::Guessed));
    add_struct(&mut registry, "Mine", "Translation2d at;int8 x").unwrap();
    assert_eq!(registry.decode("struct:Mine", &[0; 17]).unwrap().note, Some(Note::Guessed));
    assert!(registry.decode("struct:Mine", &[0; 18]).is_err());
}

#[test]
fn the_table_has_the_sizes_of_the_specification() {
    for (name, size) in [
        ("Translation2d", 16),
        ("Rotation2d", 8),
        ("Pose2d", 24),
        ("Transform2d", 24),
        ("Twist2d", 24),
        ("Translation3d", 24),
        ("Quaternion", 32),
        ("Rotation3d", 32),
        ("Pose3d", 56),
        ("Transform3d", 56),
        ("Twist3d", 48),
        ("Rectangle2d", 40),
        ("Ellipse2d", 40),
        ("ChassisSpeeds", 24),
        ("ChassisVelocities", 24),
        ("ChassisAccelerations", 24),
        ("SwerveModuleState", 16),
        ("SwerveModulePosition", 16),
        ("SwerveModuleVelocity", 16),
        ("DifferentialDriveWheelSpeeds", 16),
        ("DifferentialDriveWheelPositions", 16),
        ("DifferentialDriveWheelVoltages", 16),
        ("DifferentialDriveKinematics", 8),
        ("MecanumDriveWheelSpeeds", 32),
        ("MecanumDriveWheelPositions", 32),
        ("MecanumDriveKinematics", 64),
        ("SwerveDriveKinematics__4", 64),
        ("ArmFeedforward", 40),
        ("ArmFeedforward", 32),
        ("ElevatorFeedforward", 40),
        ("ElevatorFeedforward", 32),
        ("SimpleMotorFeedforward", 32),
        ("DifferentialDriveFeedforward", 32),
        ("DCMotor", 40),
        ("Matrix__3_2", 48),
        ("Vector__3", 24),
        ("LinearSystem__2_1_1", 8 * (4 + 2 + 2 + 1)),
        ("CubicHermiteSpline", 64),
        ("QuinticHermiteSpline", 96),
        ("TrapezoidProfileState", 16),
        ("ExponentialProfileState", 16),
        ("ControlWord", 8),
    ] {
        assert!(Registry::guess(&format!("struct:{name}"), size).is_some(), "{name}");
        assert!(Registry::guess(&format!("struct:{name}"), size + 1).is_none(), "{name}");
    }
}

#[test]
fn guesses_are_texts() {
    assert_eq!(Registry::guess("struct:Matrix__3_2", 48).as_deref(), Some("double data[6]"));
    assert_eq!(Registry::guess("struct:Vector__2[]", 64).as_deref(), Some("double data[2]"));
    for name in
        ["struct:Unknown", "struct:Matrix__3", "struct:Matrix__0_1", "struct:Matrix__3_2_1", "struct:Vector__x", "json"]
    {
        assert_eq!(Registry::guess(name, 0), None, "{name}");
    }
}
