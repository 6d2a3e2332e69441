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

/// Record the traffic between a Driver Station and a robot
///
/// Set the Driver Station to the address of this computer instead of the robot's. The proxy forwards every byte unchanged,
/// including packets it does not understand; it records a copy, which never delays the traffic. At the end it prints how
/// long datagrams took to pass through.
///
/// Robots answer on a port that a Driver Station on the same computer also uses: run the proxy on another computer, or give
/// it its own address with --answers.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose ds proxy --robot 254 --bind 0.0.0.0 -o match.wpilog
  logpose ds proxy --robot 127.0.0.2                        simulator and station on this computer
  logpose ds proxy --robot 10.2.54.2 -o match.mcap --json")]
pub(super) struct Proxy {
    /// Robot: team number, address or host name
    #[arg(long, value_name = "HOST|TEAM")]
    robot: String,
    /// Address to listen on for the Driver Station; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "IP", default_value_t = IpAddr::from(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Local address for the robot's answers [default: chosen by the system]
    #[arg(long, value_name = "IP")]
    answers: Option<IpAddr>,
    /// Ports for the Driver Station: control packets, answers, TCP; change them if a simulator on this computer uses the
    /// usual ones
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
        show.started("proxy", &address, &format!("forwarding {address} to ds://{}", self.robot), screen);
        if !self.bind.is_loopback() {
            show.ticker.event("exposed", "anyone who can reach this address can control the robot behind it");
        }
        let mut before = ProxyView::default();
        proxy.run(&show.outputs(), &mut |view| {
            if view.station.is_some() && view.station != before.station {
                show.news("station", &view.station.map(|ip| ip.to_string()).unwrap_or_default(), screen);
            }
            if view.robot != before.robot {
                let text = view.robot.map_or_else(|| "not answering".to_owned(), |ip| ip.to_string());
                show.news("robot", &text, screen);
            }
            for problem in view.problems.iter().filter(|problem| problem.severity > Severity::Note) {
                show.ticker.event(problem.severity.name(), &problem.to_string());
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
            screen.notes.note("forwarded", format!("to {to}: {}", summary(way)));
        }
        if before.unrecorded > 0 {
            screen.notes.note(
                "warning",
                format!("{} datagrams were not recorded because the recorder was too slow", count(before.unrecorded)),
            );
            return Ok(outcome.max(Outcome::Damage));
        }
        Ok(outcome)
    }
}

/// Summary of one direction.
fn summary(way: &Way) -> String {
    let failed = if way.failed > 0 { format!(", {} refused by the system", count(way.failed)) } else { String::new() };
    let delay = way.delay;
    format!(
        "{}{failed}; delay p50 {}, p99 {}, max {}; {} over TCP",
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

/// The status line.
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
