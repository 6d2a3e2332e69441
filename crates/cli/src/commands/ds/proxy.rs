use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use logpose::core::Severity;
use logpose_live::Clock;
use logpose_live::ds::{self, Ports, ProxyOptions, ProxyView, Way};

use super::running::{Running, complain, ports, robot};
use crate::failure::Outcome;
use crate::human::{count, counted, duration};
use crate::render::ds as render;
use crate::screen::Screen;

/// Stand between a Driver Station and a robot, and record both
///
/// A station that is told the address of this machine instead of the robot's finds the robot behind it. Every byte is
/// passed on as it is, also what nobody understands; what is recorded is a copy that never delays it. How long datagrams
/// were here is told in the end.
///
/// Robots answer at a port that a Driver Station on the same machine has, too: let the proxy run on another machine, or give
/// it an address of its own with --answers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ds proxy --robot 254 --bind 0.0.0.0 -o match.wpilog
  logpose ds proxy --robot 127.0.0.2                        a simulator, for a station on this machine
  logpose ds proxy --robot 10.2.54.2 -o match.mcap --json")]
pub(super) struct Proxy {
    /// Where the robot is: a team's number, an address or a name
    #[arg(long, value_name = "HOST|TEAM")]
    robot: String,
    /// The address of this machine at which stations find it; 0.0.0.0 for every network
    #[arg(long, value_name = "IP", default_value_t = IpAddr::from(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// The address of this machine at which the robot's answers come, if not the one that comes by itself
    #[arg(long, value_name = "IP")]
    answers: Option<IpAddr>,
    /// The ports at which stations find it: control packets, their answers, TCP; others than usual where a simulator on this
    /// machine has those
    #[arg(long, value_name = "UDP,UDP,TCP", value_parser = ports)]
    ports: Option<Ports>,
    #[command(flatten)]
    running: Running,
}

impl Proxy {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let (host, ports) = robot(&self.robot)?;
        let front = self.ports.unwrap_or_default();
        let clock = Clock::new();
        let options = ProxyOptions { robot: host, bind: self.bind, answers: self.answers, ports, front };
        let mut proxy = ds::Proxy::start(clock, &options).map_err(complain)?;
        let show = self.running.start(clock, screen)?;
        let address = format!("ds://{}:{}", self.bind, front.datagrams);
        show.started("proxy", &address, &format!("{address} is passed on to ds://{}", self.robot), screen);
        if !self.bind.is_loopback() {
            show.ticker.tell("exposed", "whoever reaches this address can be the station of the robot behind it");
        }
        let mut before = ProxyView::default();
        proxy.run(&show.outputs(), &mut |view| {
            if view.station.is_some() && view.station != before.station {
                show.news("station", &view.station.map(|ip| ip.to_string()).unwrap_or_default(), screen);
            }
            if view.robot != before.robot {
                let text = view.robot.map_or_else(|| "it does not answer".to_owned(), |ip| ip.to_string());
                show.news("robot", &text, screen);
            }
            for problem in view.problems.iter().filter(|problem| problem.severity > Severity::Note) {
                show.ticker.tell(problem.severity.name(), &problem.to_string());
            }
            if show.ticker.is_due() {
                show.line(&render::ProxyLine::of("status", &view, show.recording()), screen);
                show.ticker.show(status(&view));
            }
            before = view;
            if show.is_over(before.elapsed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(proxy);
        let outcome =
            show.finish(before.elapsed, |recording| render::ProxyLine::of("done", &before, recording), screen)?;
        for (to, way) in [("the robot", &before.to_robot), ("the station", &before.to_station)] {
            screen.notes.note("passed on", format!("to {to}: {}", summary(way)));
        }
        if before.unrecorded > 0 {
            screen.notes.note("warning", format!("{} were not recorded, for want of time", count(before.unrecorded)));
            return Ok(outcome.max(Outcome::Damage));
        }
        Ok(outcome)
    }
}

/// What went one way.
fn summary(way: &Way) -> String {
    let failed =
        if way.failed > 0 { format!(", {} not taken by the system", count(way.failed)) } else { String::new() };
    let delay = way.delay;
    format!(
        "{}{failed}; each was here for {} (p50), {} (p99), {} at most; {} by TCP",
        counted(way.datagrams, "datagram"),
        us(delay.p50_ns),
        us(delay.p99_ns),
        us(delay.max_ns),
        crate::human::bytes(way.stream_bytes),
    )
}

fn us(ns: u64) -> String {
    format!("{} µs", ns / 1000)
}

/// How it goes, in one line.
fn status(view: &ProxyView) -> String {
    let ns = |elapsed: Duration| i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX);
    let mut parts = vec![duration(ns(view.elapsed))];
    parts.push(match (view.station, view.robot) {
        (None, _) => "no station".to_owned(),
        (_, None) => "no robot".to_owned(),
        (Some(station), Some(robot)) => format!("{station} ⇄ {robot}"),
    });
    parts.extend(view.control.map(|control| control.to_string()));
    parts.extend(view.battery.map(|volts| format!("{volts:.2} V")));
    for (arrow, way) in [("→", &view.to_robot), ("←", &view.to_station)] {
        let (p50, p99) = (us(way.delay.p50_ns), us(way.delay.p99_ns));
        parts.push(format!("{arrow} {} in {p50}, p99 {p99}", count(way.datagrams)));
    }
    parts.join(" · ")
}
