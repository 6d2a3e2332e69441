//! A swerve robot in a match, as a function of time. No physics engine: smooth enough to look at.

use logpose_files::Mode;

/// What the robot is at one moment.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) mode: Mode,
    /// Metres and radians on the field.
    pub(super) pose: [f64; 3],
    /// Metres and radians per second, seen from the robot.
    pub(super) speeds: [f64; 3],
    /// Speed and angle of each wheel.
    pub(super) modules: [[f64; 2]; 4],
    pub(super) amperes: f64,
    pub(super) volts: f64,
    pub(super) browned_out: bool,
    pub(super) shooter_rpm: f64,
    pub(super) shooter: &'static str,
    /// Degrees Celsius of the drive motors.
    pub(super) heat: [f32; 4],
}

/// A match and its times in seconds, counted from the start of the robot program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) auto: f64,
    pub(super) pause: f64,
    pub(super) teleop: f64,
    /// When it pushes against another robot, until the lights go out.
    pub(super) push: f64,
    pub(super) end: f64,
}

impl Course {
    pub(super) fn new(teleop_s: u32) -> Self {
        let auto = BOOT + 5.0;
        let (pause, teleop) = (auto + 15.0, auto + 18.0);
        let end = teleop + f64::from(teleop_s);
        let push = teleop + 20.0_f64.min(0.8 * f64::from(teleop_s));
        Self { auto, pause, teleop, push, end }
    }

    pub(super) fn mode(&self, t: f64) -> Mode {
        match t {
            _ if t >= self.auto && t < self.pause => Mode::Auto,
            _ if t >= self.teleop && t < self.end => Mode::Teleop,
            _ => Mode::Disabled,
        }
    }

    /// How far the robot has gone along its path: it only moves while it is enabled.
    fn along(&self, t: f64) -> f64 {
        let auto = (t.min(self.pause) - self.auto).max(0.0);
        let teleop = (t.min(self.end) - self.teleop).max(0.0);
        0.6 * eased(auto) + eased(teleop)
    }

    fn place(&self, t: f64) -> [f64; 3] {
        let s = self.along(t);
        let x = 8.27 + 6.4 * (0.23 * s).sin();
        let y = 4.1 + 2.9 * (0.37 * s).sin() * (0.05 * s + 0.4).cos();
        [x, y, 1.2 * (0.31 * s).sin()]
    }

    /// The robot at a moment; `noise` is anything between -1 and 1.
    pub(super) fn state(&self, t: f64, noise: f64) -> State {
        let mode = self.mode(t);
        let pose = self.place(t);
        let before = self.place(t - STEP);
        let [dx, dy, omega] = [0, 1, 2].map(|i| (part(pose, i) - part(before, i)) / STEP);
        let (sin, cos) = part(pose, 2).sin_cos();
        let (vx, vy) = (dx * cos + dy * sin, dy * cos - dx * sin);
        let modules = CORNERS.map(|[x, y]| {
            let (wx, wy) = (vx - omega * y, vy + omega * x);
            [wx.hypot(wy), wy.atan2(wx)]
        });
        let speed = vx.hypot(vy);
        let push = mode == Mode::Teleop && (t - self.push).abs() < 0.4;
        let working = mode.is_enabled();
        let shooting = working && (t * 0.25).sin() > 0.55;
        let amperes = 4.0
            + if working { 12.0 + 45.0 * speed } else { 0.0 }
            + if shooting { 40.0 } else { 0.0 }
            + if push { 265.0 } else { 0.0 }
            + noise;
        let volts = 12.75 - 0.0185 * amperes - 0.004 * t + 0.02 * noise;
        let shooter_rpm = if shooting { 4200.0 + 35.0 * noise } else { (300.0 * (-(t % 5.0)).exp()).max(0.0) };
        let shooter = match (working, shooting) {
            (false, _) => "OFF",
            (_, true) => "SHOOTING",
            (true, false) => "IDLE",
        };
        #[expect(clippy::cast_possible_truncation, reason = "a temperature needs no more digits")]
        let heat = [0.0, 1.1, 2.3, 0.6].map(|more| (24.0 + more + 0.12 * self.along(t)) as f32);
        State {
            mode,
            pose,
            speeds: [vx, vy, omega],
            modules,
            amperes,
            volts,
            browned_out: volts < 6.8,
            shooter_rpm,
            shooter,
            heat,
        }
    }
}

/// Deterministic noise between -1 and 1.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub(super) fn next(&mut self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "31 bits fit a double")]
        let unit = self.bits() as f64 / f64::from(1_u32 << 31);
        unit * 2.0 - 1.0
    }
}

/// Starts slowly: no robot jumps.
fn eased(t: f64) -> f64 {
    if t < 1.0 { t * t / 2.0 } else { t - 0.5 }
}

fn part<const N: usize>(of: [f64; N], i: usize) -> f64 {
    of.get(i).copied().unwrap_or(0.0)
}

/// When the robot program starts to log.
pub(super) const BOOT: f64 = 1.2;
/// Seconds from cycle to cycle.
pub(super) const STEP: f64 = 0.02;
/// Where the wheels are.
const CORNERS: [[f64; 2]; 4] = [[0.27, 0.27], [0.27, -0.27], [-0.27, 0.27], [-0.27, -0.27]];
