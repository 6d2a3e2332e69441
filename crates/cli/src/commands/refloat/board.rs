use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use logpose::parse_duration;
use logpose_live::refloat::rfrec::{Kind, Recording};
use logpose_live::refloat::{BoardError, BoardPlace, BoardRunner};
use logpose_live::{Join, LinkFigures, Live};
use logpose_sim::board::{BoardOptions, BoardSession, BoardVersion, BoardView, LineOptions, Recorded, Scenario};

use crate::args::OutputFormat;
use crate::commands::live::Ticker;
use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{count, counted, duration};
use crate::interrupt;
use crate::render::refloat as render;
use crate::screen::Screen;

/// Emulate a board that other programs can connect to
///
/// Answers like a real board with Refloat 1.1, 1.2 or 1.3, byte for byte, and follows the ride of a scenario: for trying out
/// clients, for tests, and for replaying a recording (--file). Listens on 127.0.0.1:65102 unless --listen is given, for one
/// client at a time. With --pty it opens a pseudo-terminal, which other programs use as a serial port.
///
/// The link can simulate faults. Most are probabilities per frame, such as 0.1; the same seed gives the same faults and the
/// same ride.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose refloat board
  logpose refloat board --version 1.2 --scenario nosedive
  logpose refloat board --pty /tmp/board --baud 115200
  logpose refloat board --file demo/demo_nosedive.rfrec
  logpose refloat board --drop 0.05 --corrupt 0.02 --delay 20ms --jitter 10ms --json")]
pub(super) struct Board {
    /// Address and port to listen on; 0.0.0.0 for all interfaces
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:65102", conflicts_with = "pty")]
    listen: SocketAddr,
    /// Use UDP instead of TCP
    #[arg(long, conflicts_with = "pty")]
    udp: bool,
    /// Use a pseudo-terminal, optionally with a symbolic link LINK to it
    #[arg(long, value_name = "LINK", num_args = 0..=1)]
    pty: Option<Option<PathBuf>>,
    /// Refloat version: 1.0 (cannot record), 1.1, 1.2 or 1.3 [default: the newest, or that of --file]
    #[arg(long, value_name = "VERSION")]
    version: Option<BoardVersion>,
    /// Scenario: ride, nosedive, empty, low-voltage, high-voltage, footpad, wheelslip, bms-error, temperature, overcurrent or speed
    #[arg(long, value_name = "SCENARIO", default_value = "ride")]
    scenario: Scenario,
    /// Serve the recording in this file
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    file: Option<PathBuf>,
    /// Buffer size in samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    capacity: Option<u32>,
    /// Simulate firmware that reserves no memory for recordings
    #[arg(long)]
    no_recorder: bool,
    /// Report this firmware fault code, such as 5, as an alert
    #[arg(long, value_name = "CODE")]
    fault: Option<u8>,
    /// CAN id of the board behind a VESC Express
    #[arg(long, value_name = "ID")]
    can: Option<u8>,
    /// Stop after this time
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
    #[command(flatten)]
    faults: Faults,
}

/// Simulated link faults.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Link faults")]
struct Faults {
    /// Drop frames
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    drop: f64,
    /// Change a byte of a frame
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    corrupt: f64,
    /// Send frames twice
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    duplicate: f64,
    /// Cut off the end of a frame
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    truncate: f64,
    /// Drop requests
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    lose: f64,
    /// Insert garbage bytes before a frame
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    noise: f64,
    /// Insert frames that answer other clients
    #[arg(long, value_name = "P", value_parser = probability, default_value = "0", hide_default_value = true)]
    foreign: f64,
    /// Delay answers by this time
    #[arg(long, value_name = "DURATION", default_value = "0ms", hide_default_value = true)]
    delay: String,
    /// Add a random delay of up to this time
    #[arg(long, value_name = "DURATION", default_value = "0ms", hide_default_value = true)]
    jitter: String,
    /// Split frames into pieces of N bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    split: Option<u32>,
    /// Limit the speed to that of a serial port at this baud rate
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(1..))]
    baud: Option<u32>,
    /// Close the connection after N bytes, each time
    #[arg(long, value_name = "BYTES")]
    close_after: Option<u64>,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
}

fn probability(text: &str) -> Result<f64, String> {
    let p = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
    p.ok_or_else(|| "expected a probability between 0 and 1".to_owned())
}

impl Board {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let limit = self.duration.as_deref().map(parse_duration).transpose()?;
        let place = match &self.pty {
            Some(link) => BoardPlace::Terminal { link: link.clone() },
            None if self.udp => BoardPlace::Udp(self.listen),
            None => BoardPlace::Tcp(self.listen),
        };
        let session = BoardSession::new(self.options()?, self.faults.line()?);
        let live = Live::new()?;
        let runner = BoardRunner::new(&live, place, session).map_err(complain)?;
        let handle = runner.handle();
        if let Some(code) = self.fault {
            handle.with(|board, now| board.board_mut().set_fault(now, code));
        }
        interrupt::await_it();
        let ticker = Ticker::new(screen, self.format.json());
        let mut state = State {
            ticker,
            before: handle.with(BoardSession::view),
            link: LinkFigures::default(),
            at_terminal: self.pty.is_some(),
            elapsed: Duration::ZERO,
            broken: Ok(()),
        };
        state.started(&handle.address(), screen);
        if self.pty.is_none() && !self.listen.ip().is_loopback() {
            state.ticker.event("exposed", "anyone who can reach this address can connect to the emulated board");
        }
        live.listen(vec![runner.into_source()], Join::single(), &[], &mut |mut progress| {
            state.elapsed = progress.elapsed;
            let link = progress.sources.pop().unwrap_or_default().link;
            state.step(handle.with(BoardSession::view), link, screen);
            let late = limit.is_some_and(|limit| progress.elapsed.as_nanos() >= u128::from(limit.unsigned_abs()));
            let over = late || interrupt::is_raised() || state.broken.is_err();
            if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        state.ticker.clear();
        state.line(&render::BoardLine::of("done", state.elapsed, &state.before, &state.link), screen);
        state.broken?;
        Ok(Outcome::Done)
    }

    fn options(&self) -> Result<BoardOptions> {
        let mut options = BoardOptions {
            version: self.version.unwrap_or_default(),
            capacity: self.capacity.map(|samples| usize::try_from(samples).unwrap_or(usize::MAX)),
            recorder: !self.no_recorder,
            can: self.can,
            scenario: self.scenario,
            seed: self.faults.seed,
            ..BoardOptions::default()
        };
        if let Some(path) = &self.file {
            let recorded = recorded(path)?;
            options.version = self.version.unwrap_or_else(|| recorded.version());
            options.recording = Some(recorded);
        }
        Ok(options)
    }
}

impl Faults {
    fn line(&self) -> Result<LineOptions> {
        let delay = |text: &str| -> Result<Duration> {
            Ok(Duration::from_nanos(u64::try_from(parse_duration(text)?).unwrap_or(0)))
        };
        Ok(LineOptions {
            drop: self.drop,
            corrupt: self.corrupt,
            duplicate: self.duplicate,
            truncate: self.truncate,
            noise: self.noise,
            foreign: self.foreign,
            lose: self.lose,
            delay: delay(&self.delay)?,
            jitter: delay(&self.jitter)?,
            split: self.split.map(|piece| usize::try_from(piece).unwrap_or(usize::MAX)),
            baud: self.baud,
            close_after: self.close_after,
            seed: self.seed,
        })
    }
}

/// Reads the recording of --file.
fn recorded(path: &Path) -> Result<Recorded> {
    let bytes = fs::read(path).with_context(|| shown(path))?;
    let failed = |text: String| Complaint::failed("unreadable", format!("{}: {text}", shown(path)));
    let recording = Recording::read(&bytes).map_err(|error| failed(error.to_string()))?;
    let Some(header) = recording.payload(Kind::Header) else {
        return Err(failed("the recording has no header, so its channels are unknown".to_owned()).into());
    };
    if recording.held() < recording.size() {
        let text = format!("the recording is incomplete, {} of {} samples", recording.held(), recording.size());
        return Err(failed(text).help("run `logpose refloat fetch` with the same -o to continue the download").into());
    }
    Ok(Recorded {
        info: recording.payload(Kind::Info).unwrap_or_default().to_vec(),
        header: header.to_vec(),
        status: recording.payload(Kind::Status).map(<[u8]>::to_vec),
        samples: recording.samples().flat_map(|(_, sample)| sample).copied().collect(),
        truth: None,
    })
}

/// A running board.
struct State {
    ticker: Ticker,
    before: BoardView,
    link: LinkFigures,
    at_terminal: bool,
    elapsed: Duration,
    /// Whether stdout is still open.
    broken: io::Result<()>,
}

impl State {
    /// Prints the address to stdout, so that a script can read it.
    fn started(&mut self, address: &str, screen: &mut Screen) {
        self.line(&render::Started { event: "started", address }, screen);
        if !self.ticker.json {
            self.broken = writeln!(screen.out, "{address}").and_then(|()| screen.out.flush());
            self.ticker.event("board", &format!("Refloat {}, waiting for a client", self.before.version));
        }
    }

    /// Reports changes.
    fn step(&mut self, view: BoardView, link: LinkFigures, screen: &mut Screen) {
        // A pseudo-terminal does not show who connects.
        if !self.at_terminal && (link.opened != self.link.opened || link.peer != self.link.peer) {
            match (&link.peer, &self.link.peer) {
                (Some(peer), _) => self.news("client", &format!("{peer} connected"), screen),
                (None, Some(peer)) => self.news("client", &format!("{peer} disconnected"), screen),
                (None, None) => self.news("client", "connected and disconnected", screen),
            }
        }
        self.link = link;
        if view.headers != self.before.headers {
            self.news("fetch", &format!("started, {}", counted(view.size as u64, "sample")), screen);
        }
        if view.fetched != self.before.fetched {
            self.news("fetched", &counted(view.size as u64, "sample"), screen);
        }
        if view.running != self.before.running {
            let text = if view.running { "riding" } else { "stopped" };
            self.news("ride", text, screen);
        }
        if view.recording != self.before.recording {
            if view.recording {
                self.news("recording", "started", screen);
            } else {
                self.news("recorded", &counted(view.size as u64, "sample"), screen);
            }
        }
        for (name, now, then) in
            [("autostart", view.autostart, self.before.autostart), ("autostop", view.autostop, self.before.autostop)]
        {
            if now != then {
                self.news(name, if now { "on" } else { "off" }, screen);
            }
        }
        if view.decimation != self.before.decimation {
            self.news("decimation", &view.decimation.to_string(), screen);
        }
        self.before = view;
        if self.ticker.is_due() {
            self.line(&render::BoardLine::of("status", self.elapsed, &self.before, &self.link), screen);
            self.ticker.show(status(&self.before, self.elapsed));
        }
    }

    fn news(&mut self, what: &str, text: &str, screen: &mut Screen) {
        self.ticker.event(what, text);
        self.line(&render::News { event: "news", what, text }, screen);
    }

    /// Prints a line of JSON, if requested.
    fn line<T: serde::Serialize>(&mut self, line: &T, screen: &mut Screen) {
        if self.ticker.json {
            self.broken = screen.out.json_line(line).and_then(|()| screen.out.flush());
        }
    }
}

/// The status line.
fn status(view: &BoardView, elapsed: Duration) -> String {
    let mut parts = vec![duration(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX))];
    parts.push(if view.running { format!("{:.1} km/h", view.speed) } else { "stopped".to_owned() });
    parts.push(format!("{:.1} V", view.voltage));
    let recording = if view.recording { ", recording" } else { "" };
    parts.push(format!("{}{recording}", counted(view.size as u64, "sample")));
    parts.push(format!("{} answers", count(view.answered)));
    parts.join(" · ")
}

fn complain(error: BoardError) -> Complaint {
    let complaint = Complaint::failed("bind", error.to_string());
    match error {
        BoardError::Taken { .. } => complaint.help("choose another port, such as --listen 127.0.0.1:0 for a free one"),
        BoardError::Exists(_) => complaint.help("choose another name for --pty, or remove the file"),
        _ => complaint,
    }
}
