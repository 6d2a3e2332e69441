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

/// Simulate a roboRIO that any Driver Station can connect to
///
/// Answers control packets like a roboRIO, disables itself 125 ms after the last one, and prints the requested state; with
/// -v also joystick changes. Listens on 127.0.0.1 unless --bind is given, and accepts one Driver Station at a time. Nothing
/// moves.
///
/// A script simulates faults. Each line is a time, a command and its arguments. Times are in seconds unless they have a
/// unit, and count from the first packet of a Driver Station:
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
    /// Address to listen on; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "IP", default_value_t = IpAddr::from(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Script of faults
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Battery voltage
    #[arg(long, value_name = "VOLTS", default_value_t = 12.5)]
    battery: f64,
    /// Report that no robot code is running
    #[arg(long)]
    no_code: bool,
    /// Stay enabled when the Driver Station stops sending
    #[arg(long)]
    no_watchdog: bool,
    /// Announce a simulator to the Driver Station on this computer, as WPILib's simulator does
    #[arg(long)]
    beacon: bool,
    /// Ports: control packets, answers, TCP; change them if another simulator uses the usual ones
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
        show.started("robot", &address, &format!("waiting for a Driver Station at {address}"), screen);
        if !self.bind.is_loopback() {
            show.ticker.event("exposed", "anyone who can reach this address can control the simulated robot");
        }
        let handle = runner.handle();
        let verbose = screen.notes.verbose;
        let mut before = handle.view();
        let mut elapsed = Duration::ZERO;
        live.listen(vec![runner.into_source()], Join::single(), &show.outputs(), &mut |progress| {
            elapsed = progress.elapsed;
            let view = handle.view();
            report_changes(&before, &view, verbose, &show);
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

/// The state requested by the station.
fn asked(view: &RobotView) -> impl PartialEq {
    let RobotView { connected, enabled, mode, estop, station, match_info, game_data, .. } = view.clone();
    (connected, enabled, mode, estop, station, match_info, game_data)
}

/// Reports changes.
fn report_changes(before: &RobotView, view: &RobotView, verbose: bool, show: &Show) {
    if view.connected != before.connected {
        let text = if view.connected { "station connected" } else { "station stopped sending" };
        show.ticker.event("station", text);
    }
    let state = |view: &RobotView| (view.enabled, view.mode, view.estop, view.station);
    if view.connected && (state(before) != state(view) || !before.connected) {
        let station = view.station.map(|station| format!(", {station}")).unwrap_or_default();
        let stopped = if view.estop { ", emergency stop" } else { "" };
        show.ticker.event("control", &format!("{} {}{station}{stopped}", word(view), view.mode));
    }
    if view.comms_faults != before.comms_faults {
        show.ticker.event("watchdog", "no packet for 125 ms: disabled");
    }
    if let Some(Match { event, kind, number, replay }) =
        view.match_info.as_ref().filter(|_| view.match_info != before.match_info)
    {
        let replay = if *replay > 0 { format!(", replay {replay}") } else { String::new() };
        show.ticker.event("match", &format!("{event} {kind} {number}{replay}"));
    }
    if let Some(data) =
        view.game_data.as_ref().filter(|data| before.game_data.as_ref() != Some(*data) && !data.is_empty())
    {
        show.ticker.event("game data", data);
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
        show.ticker.event("joystick", &text);
    }
}

fn word(view: &RobotView) -> &'static str {
    if view.enabled { "enabled" } else { "disabled" }
}

/// The status line.
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
