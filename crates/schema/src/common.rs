//! The structs of WPILib, for logs that hold values without their schemas.
//!
//! Always a guess: feed-forwards had one size in 2024 and another since, and teams write structs of
//! their own under any name. So the payload must have the size of the struct, and a log's own schema wins.

use std::borrow::Cow;

/// Which WPILib a guess supposes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Edition {
    /// 2025 and later.
    Recent,
    /// 2024, the first with structs.
    First,
}

impl Edition {
    /// In the order in which they are tried.
    pub(crate) const ALL: [Self; 2] = [Self::Recent, Self::First];
}

/// The schema text WPILib writes for `name`.
pub(crate) fn schema(name: &str, edition: Edition) -> Option<Cow<'static, str>> {
    let before = if edition == Edition::First { BEFORE } else { &[] };
    let fixed = before.iter().chain(STRUCTS).find(|(names, _)| names.contains(&name));
    fixed.map(|&(_, schema)| Cow::Borrowed(schema)).or_else(|| sized(name).map(Cow::Owned))
}

/// The structs with sizes spelled into their names.
fn sized(name: &str) -> Option<String> {
    let (family, sizes) = name.split_once("__")?;
    let mut numbers = [0; 3];
    let mut count = 0;
    for (number, text) in numbers.iter_mut().zip(sizes.split('_')) {
        *number = text.parse::<u64>().ok().filter(|number| (1..=MAX_DIMENSION).contains(number))?;
        count += 1;
    }
    if sizes.split('_').count() != count {
        return None;
    }
    let [a, b, c] = numbers;
    Some(match (family, count) {
        ("SwerveDriveKinematics", 1) => format!("Translation2d modules[{a}]"),
        ("Vector", 1) => format!("double data[{a}]"),
        ("Matrix", 2) => format!("double data[{}]", a * b),
        ("LinearSystem", 3) => {
            format!("Matrix__{a}_{a} a;Matrix__{a}_{b} b;Matrix__{c}_{a} c;Matrix__{c}_{b} d")
        }
        _ => return None,
    })
}

/// The largest matrix side that is still taken for one.
const MAX_DIMENSION: u64 = 1000;

type Table = [(&'static [&'static str], &'static str)];

/// What 2024 wrote differently.
const BEFORE: &Table = &[(&["ArmFeedforward", "ElevatorFeedforward"], "double ks;double kg;double kv;double ka")];

const STRUCTS: &Table = &[
    (&["Translation2d"], "double x;double y"),
    (&["Rotation2d"], "double value"),
    (&["Pose2d", "Transform2d"], "Translation2d translation;Rotation2d rotation"),
    (&["Twist2d"], "double dx;double dy;double dtheta"),
    (&["Translation3d"], "double x;double y;double z"),
    (&["Quaternion"], "double w;double x;double y;double z"),
    (&["Rotation3d"], "Quaternion q"),
    (&["Pose3d", "Transform3d"], "Translation3d translation;Rotation3d rotation"),
    (&["Twist3d"], "double dx;double dy;double dz;double rx;double ry;double rz"),
    (&["Rectangle2d"], "Pose2d center;double xWidth;double yWidth"),
    (&["Ellipse2d"], "Pose2d center;double xSemiAxis;double ySemiAxis"),
    (&["ChassisSpeeds", "ChassisVelocities"], "double vx;double vy;double omega"),
    (&["ChassisAccelerations"], "double ax;double ay;double alpha"),
    (&["SwerveModuleState"], "double speed;Rotation2d angle"),
    (&["SwerveModulePosition"], "double distance;Rotation2d angle"),
    (&["SwerveModuleVelocity"], "double velocity;Rotation2d angle"),
    (
        &["DifferentialDriveWheelSpeeds", "DifferentialDriveWheelPositions", "DifferentialDriveWheelVoltages"],
        "double left;double right",
    ),
    (&["DifferentialDriveKinematics"], "double track_width"),
    (
        &["MecanumDriveWheelSpeeds", "MecanumDriveWheelPositions"],
        "double front_left;double front_right;double rear_left;double rear_right",
    ),
    (
        &["MecanumDriveKinematics"],
        "Translation2d front_left;Translation2d front_right;Translation2d rear_left;Translation2d rear_right",
    ),
    (&["ArmFeedforward", "ElevatorFeedforward"], "double ks;double kg;double kv;double ka;double dt"),
    (&["SimpleMotorFeedforward"], "double ks;double kv;double ka;double dt"),
    (&["DifferentialDriveFeedforward"], "double kVLinear;double kALinear;double kVAngular;double kAAngular"),
    (
        &["DCMotor"],
        "double nominal_voltage;double stall_torque;double stall_current;double free_current;double free_speed",
    ),
    (&["CubicHermiteSpline"], "double xInitial[2];double xFinal[2];double yInitial[2];double yFinal[2]"),
    (&["QuinticHermiteSpline"], "double xInitial[3];double xFinal[3];double yInitial[3];double yFinal[3]"),
    (&["TrapezoidProfileState", "ExponentialProfileState"], "double position;double velocity"),
    (
        &["ControlWord"],
        "uint64 opModeHash:56;enum{unknown=0,autonomous=1,teleoperated=2,utility=3} uint64 robotMode:2;\
         bool enabled:1;bool eStop:1;bool fmsAttached:1;bool dsAttached:1;",
    ),
];
