use std::io::{self, IsTerminal};
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use crossterm::event::{KeyCode, KeyModifiers};
use logpose::{Log, OpenOptions, parse_duration};
use logpose_live::ds::script::{Role, Script};
use logpose_live::ds::session::{Command, Match, StationOptions, StationView};
use logpose_live::ds::wire::{AllianceStation, MatchType, Mode as WireMode};
use logpose_live::ds::{Move, Ports, StationHandle, StationRunner, StationSetup, joystick_moves};
use logpose_live::{Join, LinkFigures, Live};

use super::running::{Running, Show, complain, ports, robot, script};
use crate::commands::live::Keys;
use crate::failure::{Complaint, Outcome};
use crate::human::{count, duration};
use crate::interrupt;
use crate::progress::Bar;
use crate::render::ds as render;
use crate::screen::Screen;

/// Act as the Driver Station of a robot or simulator
///
/// Sends a control packet every 20 ms and shows the robot's answers. The robot is never enabled without --enable, and with
/// it only by --enable-after, a script or the key e. logpose always disables the robot before it exits. It never acts as a
/// field management system and never connects to one.
///
/// Each line of a script is a time, a command and its arguments. Times are in seconds unless they have a unit, and count
/// from the first answer of the robot:
///
/// 0 mode auto · 1 enable · 1.5 joystick 0 axes 0.5 -1 buttons 1,3 pov 90 · 16 disable · 17 match qualification 12 TXPAS ·
/// 18 gamedata LRL · 19 estop · 20 end
///
/// Keys in a terminal: e enables, d or Enter disables, space triggers an emergency stop (only a reboot of the robot clears
/// it), a, t and s select autonomous, teleop and test, q quits.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ds station                                    a simulator on localhost, kept disabled
  logpose ds station --robot 254 -o pit.wpilog
  logpose ds station --robot 10.2.54.2 --enable --mode teleop
  logpose ds station --enable --enable-after 1s --mode auto --duration 16s
  logpose ds station --match 'qualification 12' --event TXPAS --game-data LRL --alliance blue2
  logpose ds station --enable --script match.txt --joysticks demo/demo_q12.rlog --json")]
pub(super) struct Station {
    /// Robot: team number, address or host name [default: localhost]
    #[arg(
        long,
        visible_alias = "team",
        value_name = "HOST|TEAM",
        default_value = "127.0.0.1",
        hide_default_value = true
    )]
    robot: String,
    /// Allow enabling the robot
    #[arg(long)]
    enable: bool,
    /// Enable the robot this long after its first answer
    #[arg(long, value_name = "DURATION", requires = "enable")]
    enable_after: Option<String>,
    /// Initial mode
    #[arg(long, value_name = "MODE", value_enum)]
    mode: Option<Mode>,
    /// Script of commands; repeatable
    #[arg(long, value_name = "FILE")]
    script: Vec<PathBuf>,
    /// Replay the joysticks of this logpose, WPILib or AdvantageKit log; with --enable, starting when the robot is enabled
    #[arg(long, value_name = "FILE")]
    joysticks: Option<PathBuf>,
    /// Match to send: `practice 1`, `qualification 12`, `elimination 3`
    #[arg(long = "match", value_name = "MATCH")]
    match_info: Option<String>,
    /// Event name to send
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Game data to send
    #[arg(long, value_name = "TEXT")]
    game_data: Option<String>,
    /// Alliance station: red1 to blue3
    #[arg(long, value_name = "STATION", default_value = "red1", hide_default_value = true)]
    alliance: String,
    /// Local address to use [default: chosen by the system]
    #[arg(long, value_name = "IP")]
    bind: Option<IpAddr>,
    /// Ports of the robot if not the usual ones: control packets, answers, TCP
    #[arg(long, value_name = "UDP,UDP,TCP", value_parser = ports)]
    ports: Option<Ports>,
    #[command(flatten)]
    running: Running,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// Autonomous
    #[value(alias = "autonomous")]
    Auto,
    /// Teleoperated
    Teleop,
    /// Test
    Test,
}

impl Station {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let setup = self.setup(screen)?;
        let after = self.enable_after.as_deref().map(parse_duration).transpose()?;
        let commands = self.commands()?;
        let live = Live::new()?;
        let places = setup.robot.candidates().join(", ");
        let ports = setup.ports;
        let runner = StationRunner::new(live.clock(), setup).map_err(complain)?;
        let handle = runner.handle();
        for command in commands {
            handle.command(command).map_err(|refused| Complaint::usage(refused.to_string()))?;
        }
        let show = self.running.start(live.clock(), screen)?;
        let address = format!("ds://{}", self.robot);
        let may = if self.enable { "enabling is allowed" } else { "the robot stays disabled" };
        show.started("robot", &address, &format!("{places}, port {}; {may}", ports.datagrams), screen);
        let at_keyboard = show.ticker.is_drawn() && io::stdin().is_terminal();
        if at_keyboard {
            show.ticker.event("keys", KEYS);
        }
        let keys = Keys::new(at_keyboard);
        let guard = Guard::start(&handle)?;
        let mut state = State { handle, after, heard: None, quit: false, connected: None };
        let (mut elapsed, mut link) = (Duration::ZERO, LinkFigures::default());
        live.listen(vec![runner.into_source()], Join::single(), &show.outputs(), &mut |mut progress| {
            guard.look();
            elapsed = progress.elapsed;
            link = progress.sources.pop().unwrap_or_default().link;
            while let Some((code, modifiers)) = at_keyboard.then(|| keys.press(Duration::ZERO)).flatten() {
                state.press(code, modifiers, &show, screen);
            }
            state.look(elapsed, &link, &show, screen);
            for problem in progress.problems.iter().filter(|problem| problem.severity > logpose::core::Severity::Note) {
                show.ticker.event(problem.severity.name(), &problem.to_string());
            }
            let over = state.quit || state.handle.is_over() || show.is_over(elapsed);
            if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(keys);
        let view = state.handle.view();
        let outcome = show.finish(elapsed, |recording| line("done", elapsed, &view, &link, recording), screen)?;
        if state.heard.is_none() {
            let why = link.trouble.map(|trouble| format!(" ({trouble})")).unwrap_or_default();
            return Err(Complaint::failed("no-robot", format!("no robot answered at {places}{why}"))
                .help("check that the robot is on and that you are on its network")
                .into());
        }
        Ok(outcome)
    }

    fn setup(&self, screen: &Screen) -> Result<StationSetup> {
        let (host, ports) = robot(&self.robot)?;
        let ports = self.ports.unwrap_or(ports);
        let station: AllianceStation = self
            .alliance
            .parse()
            .map_err(|error: logpose_live::ds::wire::UnknownStation| Complaint::usage(error.to_string()))?;
        let options = StationOptions { station, may_enable: self.enable, timezone: timezone() };
        let scripts: Vec<Script> = self.script.iter().map(|path| script(path, Role::Station)).collect::<Result<_>>()?;
        if let Some((path, _)) = self.script.iter().zip(&scripts).find(|(_, script)| script.enables() && !self.enable) {
            let message = format!("{} enables the robot, which needs --enable", path.display());
            return Err(Complaint::usage(message).help("add --enable when everyone is clear of the robot").into());
        }
        let moves = self.joysticks.as_deref().map(|path| moves(path, screen)).transpose()?.unwrap_or_default();
        Ok(StationSetup { robot: host, ports, bind: self.bind, options, scripts, moves })
    }

    /// The initial settings of the station.
    fn commands(&self) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        commands.extend(self.mode.map(|mode| {
            Command::Mode(match mode {
                Mode::Auto => WireMode::Autonomous,
                Mode::Teleop => WireMode::Teleop,
                Mode::Test => WireMode::Test,
            })
        }));
        if self.match_info.is_some() || self.event.is_some() {
            let info = self.match_info.as_deref().map(match_info).transpose()?.unwrap_or_default();
            commands.push(Command::Match(Match { event: self.event.clone().unwrap_or_default(), ..info }));
        }
        commands.extend(self.game_data.clone().map(Command::GameData));
        Ok(commands)
    }
}

/// `qualification 12`.
fn match_info(text: &str) -> Result<Match> {
    let mut words = text.split_whitespace();
    let kind = words.next().and_then(|word| MatchType::of(&word.to_ascii_lowercase()));
    let number = words.next().map_or(Some(0), |word| word.parse().ok());
    match (kind, number, words.next()) {
        (Some(kind), Some(number), None) => Ok(Match { kind, number, ..Match::default() }),
        _ => Err(Complaint::usage(format!("invalid value for --match: {text:?}"))
            .help("use a match type and number: `practice 1`, `qualification 12`, `elimination 3`")
            .into()),
    }
}

/// The time zone name sent to the robot.
fn timezone() -> String {
    std::env::var("TZ").ok().filter(|zone| !zone.is_empty() && zone.len() < 64).unwrap_or_else(|| "UTC".to_owned())
}

/// Reads joystick samples from a log.
fn moves(path: &Path, screen: &Screen) -> Result<Vec<Move>> {
    let log = Log::open_with(path, &OpenOptions::default(), &Bar::new(screen.notes.quiet))?;
    let moves = joystick_moves(&log)?;
    if moves.is_empty() {
        let message = format!("{}: the log has no joystick data", path.display());
        let help =
            "expected channels such as /ds/joystick/0/axes, DS:joystick0/axes or /DriverStation/Joystick0/AxisValues";
        return Err(Complaint::failed("no-joysticks", message).help(help).into());
    }
    Ok(moves)
}

/// Disables the robot if the main loop stalls, for example because nobody reads its output.
struct Guard {
    start: Instant,
    /// Milliseconds from the start to the last sign of life.
    looked: Arc<AtomicU64>,
}

impl Guard {
    fn start(handle: &StationHandle) -> io::Result<Self> {
        let guard = Self { start: Instant::now(), looked: Arc::default() };
        let (start, life, handle) = (guard.start, Arc::downgrade(&guard.looked), handle.clone());
        let watch = move || {
            while let Some(looked) = life.upgrade() {
                let looked = start + Duration::from_millis(looked.load(Ordering::Relaxed));
                if (looked.elapsed() > UNATTENDED || interrupt::is_raised()) && handle.view().enabled {
                    // Disabling is always allowed.
                    let _ = handle.command(Command::Disable);
                }
                thread::sleep(Duration::from_millis(20));
            }
        };
        thread::Builder::new().name("guard".to_owned()).spawn(watch)?;
        Ok(guard)
    }

    fn look(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.looked.store(now, Ordering::Relaxed);
    }
}

/// The main loop counts as stalled after this time.
const UNATTENDED: Duration = Duration::from_secs(1);

/// A running station.
struct State {
    handle: StationHandle,
    /// When to enable, in nanoseconds after the first answer.
    after: Option<i64>,
    /// When the robot first answered.
    heard: Option<Duration>,
    quit: bool,
    /// The last reported state of the connection.
    connected: Option<String>,
}

impl State {
    /// Handles a key.
    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers, show: &Show, screen: &mut Screen) {
        let command = match code {
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => return self.quit = true,
            KeyCode::Char('q') | KeyCode::Esc => return self.quit = true,
            KeyCode::Char('e') => Command::Enable,
            KeyCode::Char('d') | KeyCode::Enter => Command::Disable,
            KeyCode::Char(' ') => Command::EStop,
            KeyCode::Char('a') => Command::Mode(WireMode::Autonomous),
            KeyCode::Char('t') => Command::Mode(WireMode::Teleop),
            KeyCode::Char('s') => Command::Mode(WireMode::Test),
            _ => return,
        };
        self.command(command, show, screen);
    }

    fn command(&self, command: Command, show: &Show, screen: &mut Screen) {
        if let Err(refused) = self.handle.command(command) {
            show.news("refused", &refused.to_string(), screen);
        }
    }

    /// Reports changes, and enables the robot when it is time.
    fn look(&mut self, elapsed: Duration, link: &LinkFigures, show: &Show, screen: &mut Screen) {
        while let Some(news) = self.handle.poll_news() {
            show.news("station", &news.to_string(), screen);
        }
        let view = self.handle.view();
        if view.connected {
            self.heard.get_or_insert(elapsed);
        }
        let connected = match (&link.peer, &link.trouble) {
            (Some(peer), _) => Some(("connected", format!("to {peer}"))),
            (None, Some(trouble)) => Some(("waiting", format!("{trouble}; retrying"))),
            (None, None) => None,
        };
        if let Some((word, text)) = connected
            && self.connected.as_ref() != Some(&text)
        {
            show.news(word, &text, screen);
            self.connected = Some(text);
        }
        let due = |heard: Duration, after: i64| (elapsed - heard).as_nanos() >= u128::from(after.unsigned_abs());
        if let (Some(heard), Some(after)) = (self.heard, self.after)
            && due(heard, after)
        {
            self.after = None;
            self.command(Command::Enable, show, screen);
        }
        if show.ticker.is_due() {
            show.line(&line("status", elapsed, &view, link, show.recording()), screen);
            show.ticker.show(status(&view, elapsed));
        }
    }
}

fn line<'a>(
    event: &'static str,
    elapsed: Duration,
    view: &StationView,
    link: &'a LinkFigures,
    recording: Option<render::Recording>,
) -> render::StationLine<'a> {
    let ends = (link.peer.as_deref(), link.trouble.as_deref());
    render::StationLine::of(event, elapsed.as_secs_f64(), view, ends, recording)
}

/// The status line.
fn status(view: &StationView, elapsed: Duration) -> String {
    let asked = match (view.estop, view.enabled) {
        (true, _) => "EMERGENCY STOP",
        (false, true) => "ENABLED",
        (false, false) => "disabled",
    };
    let mut parts = vec![
        duration(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX)),
        format!("{asked} {}", view.mode),
        view.station.to_string(),
    ];
    match &view.robot {
        None => parts.push("no robot".to_owned()),
        Some(robot) => {
            let code = if robot.code { "" } else { ", no robot code" };
            let brownout = if robot.brownout { ", brownout" } else { "" };
            parts.push(format!("robot {}{code}{brownout}", if robot.enabled { "enabled" } else { "disabled" }));
            parts.extend(robot.battery.map(|volts| format!("{volts:.2} V")));
        }
    }
    parts.extend(view.trip_time.map(duration));
    if view.lost > 0 {
        parts.push(format!("{} of 25 lost", view.lost));
    }
    parts.push(format!("{} packets", count(view.sent)));
    parts.join(" · ")
}

/// Shown when key input is active.
const KEYS: &str = "e enables, d or Enter disables, space is emergency stop, a t s select the mode, q quits";
