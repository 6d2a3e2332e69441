use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::Args;
use logpose::{Align, Log, Names};
use logpose_live::player::{Control, End, PlayOptions, PlayStatus, Player, Report, Snapshot};
use logpose_live::{Address, Live, OutputThread, Progress};

use super::live::{KEYS, Key, Keys, Served, Sources, SourcesTicker, Ticker, To, finish, named};
use super::report_problems;
use crate::args::{Channels, Moments, OutputFormat};
use crate::failure::{Complaint, Outcome};
use crate::human::{count, counted, duration};
use crate::interrupt;
use crate::progress::Bar;
use crate::render::live as render;
use crate::screen::Screen;

/// Play back logs to viewers and dashboards in real time
///
/// Stands in for the robot: AdvantageScope, Foxglove, Lichtblick, PlotJuggler and dashboards connect and receive one or
/// more logs as live data. It also forwards live sources: an RLOG robot to Foxglove, NetworkTables to AdvantageScope.
///
/// Several logs are aligned by wall-clock time if all of them contain it, otherwise by their first timestamps. Served
/// timestamps never go backwards: after a loop or a backward seek they continue to increase.
///
/// Keys in a terminal: space pauses, left and right seek 5 s (30 s with shift), comma and dot step through samples, +
/// and - change the speed, 1 resets the speed, Home restarts, q quits.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose play demo/demo_q12.rlog --to rlog://            for AdvantageScope on this computer
  logpose play demo/demo_q12.rlog --to foxglove:// --rate 2 --from auto --loop
  logpose play robot.wpilog vision.wpilog --to nt4:// --wait
  logpose play rlog://254 --to foxglove://                forward a live robot to Foxglove
  logpose play match.mcap --to rlog://:5801 --bind 0.0.0.0")]
pub(super) struct Play {
    /// Logs or live sources such as rlog://HOST
    #[arg(required = true, value_name = "FILE|ADDRESS")]
    pub(super) inputs: Vec<PathBuf>,
    #[command(flatten)]
    to: To,
    /// Playback speed: 2 is twice real time, 0 is as fast as possible
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 1.0,
        hide_default_value = true,
        allow_negative_numbers = true
    )]
    rate: f64,
    /// Start time: `12.5`, `+3s`, `-10s`, `auto`, `teleop+1s`, RFC 3339
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "start")]
    from: Option<String>,
    /// Restart at the end
    #[arg(long = "loop")]
    looped: bool,
    /// Start paused
    #[arg(long)]
    paused: bool,
    /// Wait for the first client
    #[arg(long)]
    wait: bool,
    /// Keep serving the last values after the end, until Ctrl-C
    #[arg(long)]
    stay: bool,
    /// How to align the clocks of several logs
    #[arg(long, value_name = "HOW", value_enum, default_value = "auto", hide_default_value = true)]
    align: AlignBy,
    #[command(flatten)]
    channels: Channels,
    #[command(flatten)]
    moments: Moments,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum AlignBy {
    /// By wall-clock time if all logs contain it, otherwise by their first timestamps
    Auto,
    /// By their first timestamps
    Start,
    /// By wall-clock time
    Wall,
    /// No alignment: the logs already share a clock
    None,
}

impl AlignBy {
    fn align(self) -> Align {
        match self {
            Self::Auto => Align::Auto,
            Self::Start => Align::Start,
            Self::Wall => Align::Epoch,
            Self::None => Align::None,
        }
    }
}

impl Play {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        if self.to.to.is_empty() {
            let complaint = Complaint::usage("missing --to: choose what to serve, for example --to rlog://");
            return Err(complaint
                .help("use --to rlog:// for AdvantageScope, --to foxglove:// for Foxglove, --to nt4:// for dashboards")
                .into());
        }
        let live = |path: &PathBuf| path.to_str().is_some_and(|text| Address::is_live(named(text).1));
        match self.inputs.iter().filter(|path| live(path)).count() {
            0 => self.play(screen),
            n if n == self.inputs.len() => self.relay(screen),
            _ => Err(Complaint::usage("cannot play files and live sources together").into()),
        }
    }

    /// Plays log files.
    fn play(&self, screen: &mut Screen) -> Result<Outcome> {
        let logs = self.open(screen)?;
        let problems = report_problems(&logs, screen);
        let filter = self.channels.filter()?;
        self.channels.check(&filter, &logs)?;
        let moments = match &self.from {
            Some(from) => Moments { start: Some(from.clone()), end: self.moments.end.clone() },
            None => self.moments.clone(),
        };
        let (start, end) = moments.parse()?;
        let lookups: Result<Vec<_>> =
            logs.iter().map(|log| Ok(log.lookup(&filter, start.as_ref(), end.as_ref())?)).collect();
        let options = PlayOptions {
            rate: self.rate,
            looped: self.looped,
            paused: self.paused,
            align: self.align.align(),
            names: Names::Auto,
            ..PlayOptions::default()
        };
        let mut player = Player::new(&logs, lookups?, options)?;
        let live = Live::new()?;
        let ticker = Ticker::new(screen, self.format.json());
        let epoch = match &*logs {
            [log] => log.epoch_ns(),
            _ => None,
        };
        let served = self.start(&live, epoch, &ticker, screen)?;
        // Foxglove clients subscribe to channels that were declared to them, so the channels are declared before the wait.
        // Other clients receive the first moment once they are connected.
        let declares = self.wait && served.iter().any(Served::declares_first);
        if declares {
            player.pause();
        }
        interrupt::await_it();
        if self.wait && !declares {
            wait_for_client(&served, &ticker, &|| false);
        }
        let status = player.status();
        let report = std::thread::scope(|scope| {
            let (controls, commands) = channel();
            let outputs = &served;
            let playing = scope.spawn(move || {
                player.run(commands, &mut |batch| {
                    let batch = Arc::new(batch);
                    let taken = outputs.iter().map(|one| one.thread.give(Arc::clone(&batch)));
                    // Every server must receive each batch, so one that fails must not skip the rest.
                    if taken.fold(false, |any, taken| any | taken) {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                })
            });
            let is_done = || playing.is_finished();
            if declares && wait_for_client(&served, &ticker, &is_done) && !self.paused {
                let _ = controls.send(Control::Resume);
            }
            self.watch(&status, &controls, &served, &ticker, screen, &is_done);
            playing.join()
        });
        let Ok(report) = report else {
            return Err(Complaint::failed("failed", "the player thread failed").into());
        };
        if self.stay {
            ticker.event("stays", "end of log; serving the last values until Ctrl-C");
            while !interrupt::is_raised() {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        drop(ticker);
        let figures = finish(served, &screen.notes);
        self.conclude(&report, figures, screen)?;
        match report.end {
            End::Unreadable(error) => Err(error.into()),
            End::Finished | End::Quit | End::Refused => Ok(problems),
        }
    }

    fn open(&self, screen: &Screen) -> Result<Vec<Log>> {
        let options = logpose::OpenOptions::default();
        let bar = Bar::new(screen.notes.quiet);
        self.inputs.iter().map(|path| Ok(Log::open_with(path, &options, &bar)?)).collect()
    }

    fn start(&self, live: &Live, epoch: Option<i64>, ticker: &Ticker, screen: &mut Screen) -> Result<Vec<Served>> {
        let served = self.to.start(live, epoch, ticker)?;
        if self.format.json() {
            for one in &served {
                screen.out.json_line(&render::Serving { event: "serving", address: &one.address })?;
            }
            screen.out.flush()?;
        }
        Ok(served)
    }

    /// Shows progress and forwards key presses until playback ends.
    fn watch(
        &self,
        status: &PlayStatus,
        controls: &Sender<Control>,
        served: &[Served],
        ticker: &Ticker,
        screen: &mut Screen,
        is_done: &dyn Fn() -> bool,
    ) {
        let at_keyboard = ticker.is_drawn() && io::stdin().is_terminal();
        if at_keyboard {
            ticker.event("keys", KEYS);
        }
        let keys = Keys::new(at_keyboard);
        let mut due = Instant::now();
        while !is_done() {
            if interrupt::is_raised() {
                let _ = controls.send(Control::Quit);
            }
            if let Some(key) = keys.next(Duration::from_millis(20)) {
                let now = status.snapshot();
                let control = match key {
                    Key::Control(control) => control,
                    Key::Faster(factor) => Control::Rate((now.rate * factor).clamp(1.0 / 64.0, 64.0)),
                    Key::Home => Control::Seek(now.range.map_or(now.position, |range| range.0)),
                };
                let _ = controls.send(control);
            }
            if Instant::now() >= due {
                let now = status.snapshot();
                due = Instant::now() + Duration::from_millis(if self.format.json() { 1000 } else { 100 });
                if self.format.json() {
                    let line = render::PlayLine::of("status", &now, figures(served));
                    let _ = screen.out.json_line(&line).and_then(|()| screen.out.flush());
                } else {
                    ticker.show(line(&now, served));
                }
            }
        }
    }

    fn conclude(&self, report: &Report, figures: Vec<render::Server>, screen: &mut Screen) -> Result<()> {
        let last = &report.last;
        if self.format.json() {
            screen.out.json_line(&render::PlayLine::of("done", last, figures))?;
            return Ok(());
        }
        let text = format!(
            "{} at {}; latency p50 {}, p99 {}, max {}",
            counted(last.samples, "sample"),
            counted(last.groups, "moment"),
            short(last.error.p50_ns),
            short(last.error.p99_ns),
            short(last.error.max_ns),
        );
        screen.notes.note("played", text);
        if last.late > 0 {
            screen.notes.note("warning", format!("{} sent more than 10 ms late", counted(last.late, "step")));
        }
        Ok(())
    }

    /// Forwards live sources.
    fn relay(&self, screen: &mut Screen) -> Result<Outcome> {
        let texts: Vec<String> = self.inputs.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let sources = Sources::parse(&texts, false)?;
        let live = Live::new()?;
        let ticker = Ticker::new(screen, self.format.json());
        sources.warn(&ticker);
        let join = sources.join(live.clock().now());
        let served = self.start(&live, None, &ticker, screen)?;
        interrupt::await_it();
        let mut state = SourcesTicker::new(&sources);
        let outputs: Vec<&OutputThread> = served.iter().map(|one| &one.thread).collect();
        let mut last = Progress::default();
        live.listen(sources.list, join, &outputs, &mut |progress: Progress| {
            state.take(&progress, &ticker);
            if ticker.is_due() {
                if ticker.json {
                    let line = render::RelayLine::of("status", &progress, &state.named(), figures(&served));
                    let _ = screen.out.json_line(&line).and_then(|()| screen.out.flush());
                } else {
                    let channels = counted(progress.channels as u64, "channel");
                    let mut parts = vec![format!("{:.0} samples/s", state.rate()), channels];
                    parts.extend(served.iter().map(Served::line));
                    ticker.show(parts.join(" · "));
                }
            }
            last = progress;
            if interrupt::is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop((outputs, ticker));
        let figures = finish(served, &screen.notes);
        if self.format.json() {
            screen.out.json_line(&render::RelayLine::of("done", &last, &state.named(), figures))?;
        }
        Ok(Outcome::Done)
    }
}

/// The state of all servers.
fn figures(served: &[Served]) -> Vec<render::Server> {
    served.iter().map(Served::figures).collect()
}

/// Waits for the first client, and says whether one came.
fn wait_for_client(served: &[Served], ticker: &Ticker, is_done: &dyn Fn() -> bool) -> bool {
    ticker.event("waiting", "for the first client");
    while served.iter().all(|one| !one.has_listener()) {
        if interrupt::is_raised() || is_done() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // Clients may still have to send the rest of their subscriptions.
    std::thread::sleep(Duration::from_millis(500));
    true
}

/// The playback state in one line.
fn line(now: &Snapshot, served: &[Served]) -> String {
    let (first, last) = now.range.unwrap_or_default();
    let mut parts = vec![
        format!(
            "{} {} of {}",
            if now.paused { "‖" } else { "▶" },
            duration(now.position.since(first)),
            duration(last.since(first))
        ),
        format!("×{}", now.rate),
    ];
    if now.loops > 0 {
        parts.push(format!("loop {}", now.loops + 1));
    }
    parts.push(format!("{} samples", count(now.samples)));
    if now.behind_ns > 10_000_000 {
        parts.push(format!("{} behind", duration(now.behind_ns)));
    }
    parts.extend(served.iter().map(Served::line));
    parts.join(" · ")
}

/// Nanoseconds as text.
fn short(ns: u64) -> String {
    if ns < 1_000_000 { format!("{} µs", ns / 1000) } else { duration(i64::try_from(ns).unwrap_or(i64::MAX)) }
}
