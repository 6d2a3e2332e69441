use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use logpose::{parse_bytes, parse_duration};
use logpose_live::recorder::{Epoch, RecordOptions, RecordWatch, SplitBy};
use logpose_live::{ExpressionTrigger, Live, OutputThread, Progress};

use super::find::complain;
use super::live::{Recorded, Served, Sources, SourcesTicker, Ticker, To, finish};
use super::shown;
use crate::args::OutputFormat;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, count, duration};
use crate::interrupt;
use crate::render::live as render;
use crate::screen::Screen;

/// Record live robots to a file that survives crashes and power loss
///
/// Connects, reconnects whenever the link breaks, and records until Ctrl-C. The file can be opened while it grows and
/// after a crash, a power loss or a full disk: it loses at most the last flush interval.
///
/// HOST is an address, a host name or a team number: team 254 is looked up at 10.2.54.2, roborio-254-FRC.local and
/// 172.22.11.2. A single source keeps its channel names and clock. Several sources go into one file on this computer's
/// clock, each with a name prefix; /logpose/NAME/source_time and receive_time keep the source's timestamps and the time
/// of arrival.
///
/// ds:// connects to a robot in place of its Driver Station and keeps it disabled: close the Driver Station first. To
/// record a robot that a Driver Station controls, use `logpose ds proxy`.
///
/// refloat+tcp://, refloat+serial: and refloat+udp:// poll the live values of a Refloat board. To save the board's own
/// recording, which has a much higher sample rate, use `logpose refloat fetch`.
///
/// --trigger keeps only the time around events, one file per event. --ring keeps only the last minutes, in segments. They
/// can be combined.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose record rlog://254 -o match.wpilog
  logpose record nt4://10.2.54.2 -o match.mcap --split match
  logpose record rlog://254 nt4://254 -o all.mcap          both on one clock
  logpose record camera=nt4://10.2.54.11 drive=rlog://254 -o all.wpilog
  logpose record nt4://254 -o a.wpilog --ring 20m --trigger 'BatteryVoltage < 9' --pre 9s --post 5s
  logpose record rlog://254 -o match.wpilog --to foxglove://  and watch in Foxglove
  logpose record ds://254 -o pit.wpilog                     the robot stays disabled
  logpose record refloat+tcp://192.168.4.1 -o ride.wpilog   live values of a Refloat board")]
pub(super) struct Record {
    /// Live sources: rlog://HOST, nt4://HOST, ds://HOST, refloat+tcp://HOST, refloat+serial:PORT; `NAME=rlog://HOST` sets the name
    #[arg(required = true, value_name = "ADDRESS")]
    sources: Vec<String>,
    /// Output file: .wpilog, .rlog, .mcap, .csv or .ndjson
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Start a new file after a size (`500MB`), after a time (`10m`), or at every `match`
    #[arg(long, value_name = "WHEN")]
    split: Option<String>,
    /// Keep only the last period, such as 20m, in segments
    #[arg(long, value_name = "DURATION")]
    ring: Option<String>,
    /// Keep only the time around moments when this condition becomes true; see `logpose find --help`
    #[arg(long, value_name = "EXPRESSION")]
    trigger: Option<String>,
    /// Time to keep before an event
    #[arg(long, value_name = "DURATION", default_value = "10s", requires = "trigger")]
    pre: String,
    /// Time to keep after an event
    #[arg(long, value_name = "DURATION", default_value = "5s", requires = "trigger")]
    post: String,
    /// Flush interval: the most that a power loss or a kill can lose
    #[arg(long, value_name = "DURATION", default_value = "250ms")]
    flush: String,
    /// Stop when less disk space than this is free
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    keep_free: String,
    /// Stop after this time
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    /// Stop when the connection ends instead of reconnecting
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    format: OutputFormat,
}

impl Record {
    pub(super) fn run(&self, screen: &mut Screen) -> Result<Outcome> {
        let sources = Sources::parse(&self.sources, self.once)?;
        let limit = self.duration.as_deref().map(parse_duration).transpose()?;
        let live = Live::new()?;
        let start = live.clock().now();
        let join = sources.join(start);
        let epoch = if sources.names.len() > 1 { Epoch::Known(start.nanos()) } else { Epoch::Received };
        let file = Recorded::start(&self.output, self.options(epoch, screen)?, live.clock())?;
        let ticker = Ticker::new(screen, self.format.json());
        sources.warn(&ticker);
        let served = self.to.start(&live, None, &ticker)?;
        interrupt::await_it();
        let watch = file.watch.clone();
        let mut state = Recording { sources: SourcesTicker::new(&sources), watch, ticker, heard: false };
        let outputs: Vec<&OutputThread> =
            std::iter::once(&file.thread).chain(served.iter().map(|one| &one.thread)).collect();
        let mut last = Progress::default();
        live.listen(sources.list, join, &outputs, &mut |progress| {
            let over = limit.is_some_and(|limit| progress.elapsed.as_nanos() >= u128::from(limit.unsigned_abs()));
            state.tick(&progress, &served, &file.thread, screen);
            let ended = progress.sources.iter().all(|source| source.ended) || file.thread.is_done();
            last = progress;
            if over || ended || interrupt::is_raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop(outputs);
        let file = file.finish();
        state.ticker.clear();
        let servers = finish(served, &screen.notes);
        if self.format.json() {
            let named = state.sources.named();
            let line = render::RecordLine::of("done", &last, &file.stats, file.dropped, &named, servers);
            screen.out.json_line(&line)?;
        } else if state.heard {
            file.conclude(last.elapsed, screen);
        }
        let files = file.stats.files.clone();
        let outcome = file.outcome(screen)?;
        if !state.heard {
            // An empty file would only block the next attempt.
            for file in &files {
                let _ = std::fs::remove_file(file);
            }
            let why = last.sources.iter().zip(&state.sources.addresses).map(|(source, address)| {
                format!("{address}: {}", source.link.trouble.as_deref().unwrap_or("connected, but sent no data"))
            });
            let message = format!("no data received: {}", why.collect::<Vec<_>>().join("; "));
            return Err(Complaint::failed("nothing-received", message)
                .help("check that the robot is on and that you are on its network")
                .into());
        }
        Ok(outcome)
    }

    fn options(&self, epoch: Epoch, screen: &Screen) -> Result<RecordOptions> {
        let mut options = RecordOptions {
            force: self.force,
            flush_ns: parse_duration(&self.flush)?,
            keep_free: parse_bytes(&self.keep_free)?,
            split: self.split.as_deref().map(split).transpose()?,
            ring_ns: self.ring.as_deref().map(parse_duration).transpose()?,
            pre_ns: parse_duration(&self.pre)?,
            post_ns: parse_duration(&self.post)?,
            epoch,
            encode: self.to.encode(),
            ..RecordOptions::default()
        };
        if let Some(text) = &self.trigger {
            let trigger = ExpressionTrigger::parse(text).map_err(|error| complain(error, text, None, screen))?;
            options.trigger = Some(Box::new(trigger));
        }
        Ok(options)
    }
}

/// When to start a new file.
fn split(text: &str) -> Result<SplitBy> {
    if text.eq_ignore_ascii_case("match") {
        return Ok(SplitBy::Match);
    }
    // A bare number could be a size or a time.
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    if let Ok(ns) = parse_duration(text)
        && !unit.is_empty()
    {
        return Ok(SplitBy::Time(ns));
    }
    if let Ok(bytes) = parse_bytes(text)
        && !unit.is_empty()
    {
        return Ok(SplitBy::Size(bytes));
    }
    let complaint = Complaint::usage(format!("invalid value for --split: {text}"));
    Err(complaint.help("use a size (500MB), a time (10m), or `match`").into())
}

/// The state of a recording.
struct Recording {
    sources: SourcesTicker,
    watch: RecordWatch,
    ticker: Ticker,
    heard: bool,
}

impl Recording {
    fn tick(&mut self, progress: &Progress, served: &[Served], file: &OutputThread, screen: &mut Screen) {
        self.sources.take(progress, &self.ticker);
        self.heard |= progress.sources.iter().any(|source| source.samples > 0);
        if !self.ticker.is_due() {
            return;
        }
        let (stats, dropped) = (self.watch.stats(), file.dropped());
        if self.ticker.json {
            let servers = served.iter().map(Served::figures).collect();
            let line = render::RecordLine::of("status", progress, &stats, dropped, &self.sources.named(), servers);
            let _ = screen.out.json_line(&line).and_then(|()| std::io::Write::flush(&mut screen.out));
            return;
        }
        let mut parts = vec![
            duration(i64::try_from(progress.elapsed.as_nanos()).unwrap_or(i64::MAX)),
            stats.files.last().map_or_else(String::new, |file| format!("{} {}", shown(file), bytes(stats.bytes))),
            format!("{:.0} samples/s", self.sources.rate()),
        ];
        let open = progress.sources.iter().filter(|source| source.link.open > 0).count();
        if open < progress.sources.len() {
            parts.push(format!("{open} of {} connected", progress.sources.len()));
        }
        parts.extend(served.iter().map(Served::line));
        if dropped > 0 {
            parts.push(format!("{} dropped", count(dropped)));
        }
        parts.retain(|part| !part.is_empty());
        self.ticker.show(parts.join(" · "));
    }
}
