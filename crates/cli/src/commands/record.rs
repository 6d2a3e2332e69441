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
use crate::args::Form;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, count, duration};
use crate::interrupt;
use crate::render::live as render;
use crate::screen::Screen;

/// Record live robots to a file that is whole at every instant
///
/// Connects, and connects again whenever the link breaks; Ctrl-C ends the recording. The file can be opened while it
/// grows, and after a crash, a power cut or a full disk: it lacks at most the flush interval.
///
/// A host is an address, a name, or a team's number: 254 is sought at 10.2.54.2, at roborio-254-FRC.local and at
/// 172.22.11.2. One source keeps its own names and clock. Several go into one file on this machine's clock, each behind
/// a prefix, with the source's own time and the moment of receipt in /logpose/NAME/source_time and receive_time.
///
/// ds:// listens to a robot in the place of its Driver Station, and keeps it disabled: close the other one first. To record
/// both while a station drives, see `logpose ds proxy`.
///
/// refloat+tcp://, refloat+serial: and refloat+udp:// poll the live values of a Refloat board; its own recording, at a much
/// higher rate, is saved by `logpose refloat fetch`.
///
/// With --trigger only what is around an event is kept, a file for each event; with --ring the last so many minutes are,
/// in files that follow each other; with both, both.
#[derive(Args)]
#[command(after_help = "\
Examples:
  logpose record rlog://254 -o match.wpilog
  logpose record nt4://10.2.54.2 -o match.mcap --split match
  logpose record rlog://254 nt4://254 -o all.mcap          both, on one clock
  logpose record camera=nt4://10.2.54.11 drive=rlog://254 -o all.wpilog
  logpose record nt4://254 -o a.wpilog --ring 20m --trigger 'BatteryVoltage < 9' --pre 9s --post 5s
  logpose record rlog://254 -o match.wpilog --to foxglove://  watch in Foxglove meanwhile
  logpose record ds://254 -o pit.wpilog                     battery, currents and console, disabled
  logpose record refloat+tcp://192.168.4.1 -o ride.wpilog   live values of a Refloat board")]
pub(super) struct Record {
    /// Live sources: rlog://HOST, nt4://HOST, ds://HOST, refloat+tcp://HOST, refloat+serial:PORT; `NAME=rlog://HOST` gives one a name
    #[arg(required = true, value_name = "ADDRESS")]
    sources: Vec<String>,
    /// The file; .wpilog, .rlog, .mcap, .csv or .ndjson
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Begin another file after so much (`500MB`), after so long (`10m`), or with every `match`
    #[arg(long, value_name = "WHEN")]
    split: Option<String>,
    /// Keep the last so many minutes, in segments
    #[arg(long, value_name = "DURATION")]
    ring: Option<String>,
    /// Keep what is around the moments at which this begins to hold; see `logpose find --help`
    #[arg(long, value_name = "EXPRESSION")]
    trigger: Option<String>,
    /// How much before an event is kept
    #[arg(long, value_name = "DURATION", default_value = "10s", requires = "trigger")]
    pre: String,
    /// How much after it
    #[arg(long, value_name = "DURATION", default_value = "5s", requires = "trigger")]
    post: String,
    /// What may be lost at most when the power fails or the program is killed
    #[arg(long, value_name = "DURATION", default_value = "250ms")]
    flush: String,
    /// End when less than this is free on the disk
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    keep_free: String,
    /// End after so long
    #[arg(long, value_name = "DURATION")]
    duration: Option<String>,
    /// End when the connection ends, instead of connecting again
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    to: To,
    #[command(flatten)]
    form: Form,
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
        let ticker = Ticker::new(screen, self.form.json());
        sources.tell(&ticker);
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
        if self.form.json() {
            let named = state.sources.named();
            let line = render::RecordLine::of("done", &last, &file.stats, file.dropped, &named, servers);
            screen.out.json_line(&line)?;
        } else if state.heard {
            file.conclude(last.elapsed, screen);
        }
        let files = file.stats.files.clone();
        let outcome = file.outcome(screen)?;
        if !state.heard {
            // A file without a sample would only be in the way of the next try.
            for file in &files {
                let _ = std::fs::remove_file(file);
            }
            let why = last.sources.iter().zip(&state.sources.addresses).map(|(source, address)| {
                format!("{address}: {}", source.link.trouble.as_deref().unwrap_or("connected, but it told nothing"))
            });
            let message = format!("nothing was received: {}", why.collect::<Vec<_>>().join("; "));
            return Err(Complaint::failed("nothing-received", message)
                .help("is the robot on, and are you on its network?")
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

/// When another file is begun.
fn split(text: &str) -> Result<SplitBy> {
    if text.eq_ignore_ascii_case("match") {
        return Ok(SplitBy::Match);
    }
    // A bare number could be either.
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
    let complaint = Complaint::usage(format!("--split {text} makes no sense"));
    Err(complaint.help("say how much (500MB), how long (10m), or `match`").into())
}

/// How a recording goes.
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
