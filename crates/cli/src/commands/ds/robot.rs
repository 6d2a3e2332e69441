use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use logpose_live::ds::script::Role;
use logpose_live::ds::session::{Match, RobotOptions, RobotView};
use logpose_live::ds::{Ports, RobotRunner, RobotSetup};
use logpose_live::{Join, Live};

use super::running::{Running, Show, complain, ports, script};
use crate::failure::Outcome;
use crate::human::{count, duration};
use crate::render::ds as render;
use crate::screen::Screen;

/// Be a robot: a simulated roboRIO that any Driver Station can connect to
///
/// Answers control packets as a roboRIO does, disables itself 125 ms after the last one, and prints what the station asks
/// for; with -v also how the joysticks move. It is found at 127.0.0.1 unless --bind says otherwise, by one station at a
/// time. Nothing moves.
///
/// A script makes it have trouble. A line is a time, a command and what it needs; the time is in seconds or has a unit, and
/// counts from the first packet of a station:
///
/// 0 battery 12.6 · 5 battery 9.5 over 2s · 6 brownout on · 7 cpu 40 20 · 8 print hello · 9 error 1 "details" · 10 silence 2s ·
/// 12 code off · 13 loss 0.2 · 14 delay 30ms jitter 10ms · 20 end
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ds robot
  logpose ds robot --bind 127.0.0.2 --battery 11.8 --duration 1m -o robot.wpilog
  logpose ds robot --script trouble.txt --json")]
pub(super) struct Robot {
    /// The address of this machine at which it is found; 0.0.0.0 for every network
    #[arg(long, value_name = "IP", default_value_t = IpAddr::from(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// What happens to it when
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// The voltage of its battery
    #[arg(long, value_name = "VOLTS", default_value_t = 12.5)]
    battery: f64,
    /// It has no program running
    #[arg(long)]
    no_code: bool,
    /// It stays enabled when the station falls silent
    #[arg(long)]
    no_watchdog: bool,
    /// Tell the Driver Station of this machine that a simulator is here, as WPILib's simulator does
    #[arg(long)]
    beacon: bool,
    /// Its ports: control packets, their answers, TCP; others than usual where another simulator has those
    #[arg(long, value_name = "UDP,UDP,TCP", value_parser = ports)]
    ports: Option<Ports>,
    #[command(flatten)]
    running: Running,
}

impl Robot {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let script = self.script.as_deref().map(|path| script(path, Role::Robot)).transpose()?;
        let live = Live::new()?;
        let options = RobotOptions {
            battery: self.battery,
            code: !self.no_code,
            watchdog: !self.no_watchdog,
            ..RobotOptions::default()
        };
        let ports = self.ports.unwrap_or_default();
        let setup = RobotSetup { bind: self.bind, ports, options, script, beacon: self.beacon };
        let runner = RobotRunner::new(live.clock(), setup).map_err(complain)?;
        let show = self.running.start(live.clock(), screen)?;
        let address = format!("ds://{}", runner.address());
        show.started("robot", &address, &format!("{address} waits for a Driver Station"), screen);
        if !self.bind.is_loopback() {
            show.ticker.tell("exposed", "whoever reaches this address can be its station; nothing moves");
        }
        let handle = runner.handle();
        let verbose = screen.notes.verbose;
        let mut before = handle.view();
        let mut elapsed = Duration::ZERO;
        live.listen(vec![runner.into_source()], Join::single(), &show.outputs(), &mut |progress| {
            elapsed = progress.elapsed;
            let view = handle.view();
            tell(&before, &view, verbose, &show);
            let line = |event| render::RobotLine::of(event, elapsed.as_secs_f64(), &view, show.recording());
            if asked(&before) != asked(&view) {
                show.line(&line("control"), screen);
            }
            if show.ticker.is_due() {
                show.line(&line("status"), screen);
                show.ticker.show(status(&view, elapsed));
            }
            before = view;
            if show.is_over(elapsed) || handle.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let last = |recording| render::RobotLine::of("done", elapsed.as_secs_f64(), &before, recording);
        show.finish(elapsed, last, screen)
    }
}

/// What a station asks for.
fn asked(view: &RobotView) -> impl PartialEq {
    let RobotView { connected, enabled, mode, estop, station, match_info, game_data, .. } = view.clone();
    (connected, enabled, mode, estop, station, match_info, game_data)
}

/// Tells what is new.
fn tell(before: &RobotView, view: &RobotView, verbose: bool, show: &Show) {
    if view.connected != before.connected {
        let text = if view.connected { "a station is there" } else { "the station is silent" };
        show.ticker.tell("station", text);
    }
    let state = |view: &RobotView| (view.enabled, view.mode, view.estop, view.station);
    if view.connected && (state(before) != state(view) || !before.connected) {
        let station = view.station.map(|station| format!(", {station}")).unwrap_or_default();
        let stopped = if view.estop { ", stopped for an emergency" } else { "" };
        show.ticker.tell("control", &format!("{} {}{station}{stopped}", word(view), view.mode));
    }
    if view.comms_faults != before.comms_faults {
        show.ticker.tell("watchdog", "no packet for 125 ms: it has disabled itself");
    }
    if let Some(Match { event, kind, number, replay }) =
        view.match_info.as_ref().filter(|_| view.match_info != before.match_info)
    {
        let replay = if *replay > 0 { format!(", replay {replay}") } else { String::new() };
        show.ticker.tell("match", &format!("{event} {kind} {number}{replay}"));
    }
    if let Some(data) =
        view.game_data.as_ref().filter(|data| before.game_data.as_ref() != Some(*data) && !data.is_empty())
    {
        show.ticker.tell("game data", data);
    }
    if !verbose {
        return;
    }
    for (port, stick) in view.joysticks.iter().enumerate() {
        let Some(stick) = stick.as_ref().filter(|_| before.joysticks.get(port) != Some(stick)) else { continue };
        let axes: Vec<String> = stick.axes.iter().map(|axis| format!("{axis:.2}")).collect();
        let down = (1..).zip(&stick.buttons).filter(|(_, down)| **down).map(|(button, _): (u32, _)| button.to_string());
        let down = down.collect::<Vec<_>>().join(",");
        let povs: Vec<String> = stick.povs.iter().map(ToString::to_string).collect();
        let text = format!("{port}: axes {}; buttons {down}; povs {}", axes.join(" "), povs.join(" "));
        show.ticker.tell("joystick", &text);
    }
}

fn word(view: &RobotView) -> &'static str {
    if view.enabled { "enabled" } else { "disabled" }
}

/// How it is, in one line.
fn status(view: &RobotView, elapsed: Duration) -> String {
    let mut parts = vec![duration(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX))];
    if view.connected {
        parts.push(format!("{} {}", word(view), view.mode));
        parts.extend(view.station.map(|station| station.to_string()));
    } else {
        parts.push("no station".to_owned());
    }
    parts.push(format!("{:.2} V", view.battery));
    parts.push(format!("{} packets", count(view.received)));
    parts.join(" · ")
}
