use std::collections::BTreeMap;

use logpose::frc::{battery_rank, is_brownout};

use super::evidence::{Evidence, Known};
use super::words::segments;
use super::{Choice, ENOUGH, Picked, best, listed, others};

/// The views of a robot's log.
pub(super) fn robot(evidence: &Evidence<'_>, choice: &mut Choice) {
    power(evidence, choice, "power", &[]);
    let pose = best(evidence.channels.iter(), |known| pose(evidence, known));
    if let Some(pose) = pose.filter(|pose| pose.samples > 1) {
        choice.show("field", "field", format!("Field: {}", short(pose)), &[Picked::whole(pose)]);
    }
    let (mut speeds, velocities) = (speeds(evidence), group(evidence, wheel_speed));
    // A robot that was disabled all the time has no speeds worth a view.
    if !moves(evidence, &speeds) {
        speeds.clear();
    }
    if let Some(chosen) = speeds.first().map(|one| one.known) {
        let title = if chosen.is_wanted() { "Chassis speeds (setpoint)" } else { "Chassis speeds" };
        choice.graph("motion", title.to_owned(), &speeds);
    } else if moves(evidence, &velocities) {
        choice.graph("motion", velocity_title(&velocities), &velocities);
    }
    if !choice.panes.iter().any(|pane| pane.name == "motion") {
        others::numbers(evidence, choice);
    }
    let states = best(evidence.channels.iter(), |known| {
        known.type_name.ends_with("SwerveModuleState[]").then(|| 40 + known.merit())
    });
    if let Some(states) = states.filter(|states| states.samples > 1) {
        choice.show("swerve", "swerve", format!("Swerve: {}", short(states)), &[Picked::whole(states)]);
    }
    // Beside the speeds of the chassis: alone they are shown already.
    if !speeds.is_empty() {
        choice.graph("modules", velocity_title(&velocities), &velocities);
    }
    let turning = group(evidence, module_angle);
    choice.graph("turning", "Module angles".to_owned(), &turning);
    joysticks(evidence, choice);
}

/// The views of a station's log.
pub(super) fn station(evidence: &Evidence<'_>, choice: &mut Choice) {
    power(evidence, choice, "battery", &["/ds/pd/total_current"]);
    let some = |names: &[(&'static str, &'static str)]| {
        let found = names.iter().filter_map(|(name, title)| {
            let known = evidence.channels.iter().find(|known| known.name.ends_with(name))?;
            // No robot, or no power distribution: 0 all the time.
            (known.samples > 1 && is_used(evidence, known)).then(|| (Picked::whole(known), *title))
        });
        found.unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let (link, titles) = some(&[("/ds/trip_time", "Trip time"), ("/ds/packet_loss", "packet loss")]);
    choice.graph("link", capital(&listed(&titles)), &link);
    let (load, titles) =
        some(&[("/ds/cpu", "CPU load"), ("/ds/can/utilization", "CAN utilization"), ("/pd/total_current", "current")]);
    choice.graph("load", capital(&listed(&titles)), &load);
    let mut currents: Vec<(u32, &Known)> = evidence
        .numbers()
        .filter(|known| known.says(&["pd", "current"]))
        .filter_map(|known| Some((known.leaf().parse().ok()?, known)))
        // Nothing is connected to most of them.
        .filter(|(_, known)| is_used(evidence, known))
        .collect();
    currents.sort_by_key(|(number, _)| *number);
    let currents: Vec<Picked<'_>> = currents.into_iter().map(|(_, known)| Picked::whole(known)).collect();
    let most = currents.get(..12).unwrap_or(&currents);
    choice.graph("currents", "Current of each power channel".to_owned(), most);
    choice.show("statistics", "statistics", "Statistics of the currents".to_owned(), &currents);
    joysticks(evidence, choice);
}

/// Battery, total current, and whether the robot is enabled and has enough voltage. `without` is shown elsewhere.
fn power(evidence: &Evidence<'_>, choice: &mut Choice, pane: &'static str, without: &[&str]) {
    let battery = best(evidence.numbers(), |known| battery(evidence, known));
    let current = best(evidence.numbers().filter(|known| !without.contains(&&*known.name)), |known| {
        let base = match () {
            () if known.says(&["total", "current"]) => 50,
            () if known.says(&["battery", "current"]) => 40,
            () => return None,
        };
        Some(base + known.merit() - if evidence.varies(known, "") { 0 } else { 40 })
    });
    // What a roboRIO draws itself is called the battery's current.
    let total = current.is_some_and(|known| known.has(&["total"]));
    let lines = [(battery, "Battery voltage"), (current, if total { "total current" } else { "current" })];
    let lines: Vec<(&Known, &str)> = lines.into_iter().filter_map(|(known, title)| Some((known?, title))).collect();
    let title = listed(&lines.iter().map(|(_, title)| *title).collect::<Vec<_>>());
    let mut series: Vec<Picked<'_>> = lines.iter().map(|(known, _)| Picked::whole(known)).collect();
    series.extend(enabled(evidence).map(Picked::whole));
    series.extend(best(evidence.booleans(), |known| is_brownout(&known.name).then_some(ENOUGH)).map(Picked::whole));
    choice.graph(pane, capital(&title), &series);
}

/// How likely a number is the battery's voltage: its name proposes it, its values may contradict.
pub(super) fn battery(evidence: &Evidence<'_>, known: &Known) -> Option<i64> {
    let base = match battery_rank(&known.name) {
        Some(0) => 60,
        Some(1) => 50,
        Some(2) => 45,
        None if !known.has(&["voltage", "volts", "vbat"]) || known.is_wanted() => return None,
        None if known.has(&["vbat", "battery"]) => 40,
        None if known.has(&["pdp", "pdh", "pd"]) || known.says(&["power", "distribution"]) => 35,
        Some(_) => 25,
        None if known.says(&["supply", "voltage"]) => 20,
        None => return None,
    };
    // A sensor that is not there says 0. The station's log has 37.4 V for the moment before the first packet.
    let (_, high) = evidence.extent(known, "")?;
    let sane = if (4.0..=40.0).contains(&high) { 0 } else { -60 };
    Some(base + known.merit() + sane + if evidence.varies(known, "") { 10 } else { 0 })
}

/// Whether the robot is enabled: not one of its mechanisms, and no setting of the dashboard.
fn enabled<'e>(evidence: &'e Evidence<'_>) -> Option<&'e Known> {
    best(evidence.booleans(), |known| {
        let is_robot = |parent: &str| {
            ["", "NT", "DS", "DriverStation", "control", "Robot", "RobotState"]
                .iter()
                .any(|robot| parent.eq_ignore_ascii_case(robot))
        };
        let fits = known.leaf().eq_ignore_ascii_case("enabled") && is_robot(known.parent());
        fits.then(|| 50 + known.merit())
    })
}

/// How likely a channel is where the robot is.
fn pose(evidence: &Evidence<'_>, known: &Known) -> Option<i64> {
    let (base, x) = match &*known.type_name {
        "struct:Pose2d" => (40, ".translation.x"),
        "struct:Pose3d" => (36, ".translation.x"),
        "proto:wpi.proto.ProtobufPose2d" => (38, ".translation.x"),
        "proto:wpi.proto.ProtobufPose3d" => (34, ".translation.x"),
        // Field2d writes x, y and degrees.
        "double[]" if known.leaf() == "Robot" && known.has(&["field"]) => (30, "[0]"),
        "double[]" if known.leaf().to_ascii_lowercase().ends_with("pose") => (24, "[0]"),
        _ => return None,
    };
    let own = if known.has(&["odometry", "estimated", "estimator", "fused"]) { 12 } else { 0 };
    let robot = if known.has(&["drive", "drivetrain", "chassis", "swerve"]) { 6 } else { 0 };
    let other = known.has(&[
        "module",
        "note",
        "piece",
        "component",
        "turret",
        "arm",
        "shooter",
        "intake",
        "climber",
        "elevator",
        "pivot",
        "claw",
        "wrist",
        "hood",
    ]);
    let other = if other { -15 } else { 0 };
    let still = if evidence.varies(known, x) { 0 } else { -8 };
    Some(base + known.merit() + own + robot + other + still)
}

/// The measured speeds of the chassis.
fn speeds<'e>(evidence: &'e Evidence<'_>) -> Vec<Picked<'e>> {
    let chosen = best(evidence.channels.iter(), |known| {
        let fits = known.type_name.ends_with("ChassisSpeeds") && !known.type_name.ends_with(']');
        let measured = if known.has(&["measured", "actual"]) { 8 } else { 0 };
        (fits && known.samples > 1).then(|| 40 + known.merit() + measured)
    });
    let Some(known) = chosen else { return Vec::new() };
    let fields = evidence.fields(known);
    let part = |start: &str| fields.iter().find(|name| name.starts_with(start));
    let parts = ["vx", "vy", "omega"].into_iter().filter_map(part);
    parts.map(|name| Picked { known, path: format!(".{name}") }).collect()
}

/// Whether a number is ever another one than 0.
fn is_used(evidence: &Evidence<'_>, known: &Known) -> bool {
    evidence.extent(known, "").is_some_and(|(low, high)| low < 0.0 || high > 0.0)
}

/// Whether any of some series has more than one value.
fn moves(evidence: &Evidence<'_>, series: &[Picked<'_>]) -> bool {
    series.iter().any(|one| evidence.varies(one.known, &one.path))
}

/// The wheels' speeds.
fn wheel_speed(known: &Known) -> Option<i64> {
    let fast = known.has(&["velocity", "velocities", "speed", "vel"]);
    let wheel = known.has(&["module", "modules", "drive", "drivetrain", "swerve"])
        || (known.has(&["wheel"]) && known.has(&["left", "right", "front"]));
    let turns = known.has(&["turn", "turning", "steer", "azimuth", "angular", "gyro", "yaw", "max", "error", "length"]);
    (fast && wheel && !turns).then(|| 30 + known.merit() + if known.has(&["module", "wheel"]) { 5 } else { 0 })
}

/// The directions of swerve modules.
fn module_angle(known: &Known) -> Option<i64> {
    let turned = known.has(&["turn", "turning", "steer", "azimuth"])
        && known.has(&["position", "angle", "rotation", "positions"]);
    let module = known.has(&["module", "modules", "swerve"]);
    let other = known.has(&["velocity", "error", "offset", "length"]);
    // AdvantageKit also writes all positions of a loop as lists.
    let raw = if known.has(&["absolute", "odometry"]) { -6 } else { 0 };
    (turned && module && !other).then(|| 30 + known.merit() + raw)
}

/// The best set of numbers that differ in their place on the robot alone, such as the speeds of four modules.
fn group<'e>(evidence: &'e Evidence<'_>, score: impl Fn(&Known) -> Option<i64>) -> Vec<Picked<'e>> {
    let mut groups: BTreeMap<String, Vec<(i64, &Known)>> = BTreeMap::new();
    for known in evidence.numbers() {
        let Some(score) = score(known).filter(|score| *score >= ENOUGH) else { continue };
        let shape: Vec<&str> = known.words.iter().map(|word| &**word).filter(|word| !is_place(word)).collect();
        groups.entry(shape.join(" ")).or_default().push((score, known));
    }
    let mut found: Vec<Vec<(i64, &Known)>> = groups.into_values().collect();
    let total = |group: &[(i64, &Known)]| group.iter().take(MODULES).map(|(score, _)| *score).sum::<i64>();
    // Groups come in the order of their names, and sorting keeps it among equals.
    found.sort_by_key(|group| {
        let still = group.iter().all(|(_, known)| !evidence.varies(known, ""));
        (still, std::cmp::Reverse(total(group)))
    });
    let Some(best) = found.into_iter().next() else { return Vec::new() };
    best.into_iter().take(MODULES).map(|(_, known)| Picked::whole(known)).collect()
}

/// Whether a word says where on the robot something is.
fn is_place(word: &str) -> bool {
    let places =
        ["front", "back", "rear", "left", "right", "fl", "fr", "bl", "br", "rl", "rr", "lf", "rf", "lb", "rb", "lr"];
    places.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

fn velocity_title(series: &[Picked<'_>]) -> String {
    let modules = series.iter().any(|one| one.known.has(&["module", "modules"]));
    if modules { "Module velocities".to_owned() } else { "Wheel velocities".to_owned() }
}

/// The axes of joysticks that somebody moved.
fn joysticks(evidence: &Evidence<'_>, choice: &mut Choice) {
    let axes = evidence.channels.iter().filter(|known| {
        let leaf = known.leaf().to_ascii_lowercase();
        let named = (leaf == "axes" || leaf == "axisvalues") && known.has(&["joystick", "joysticks"]);
        named && (0..AXES).any(|axis| evidence.varies(known, &format!("[{axis}]")))
    });
    let axes: Vec<Picked<'_>> = axes.take(6).map(Picked::whole).collect();
    choice.show("joysticks", "joysticks", String::new(), &axes);
}

/// The last two parts of a name.
fn short(known: &Known) -> String {
    let parts: Vec<&str> = segments(&known.name).collect();
    parts.get(parts.len().saturating_sub(2)..).unwrap_or_default().join("/")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Modules of a swerve drive.
const MODULES: usize = 4;
/// Axes of a joystick.
const AXES: usize = 6;
