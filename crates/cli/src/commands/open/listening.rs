use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::Result;
use logpose::{ClockMap, Log, parse_bytes};
use logpose_live::recorder::{Epoch, RecordOptions};
use logpose_live::{Join, Live, OutputThread, Progress, Source};
use logpose_server::{LiveClock, LiveLog, LiveOptions};

use super::super::{AlignBy, Open};
use super::{Input, temporary_folder};
use crate::commands::live::{Recorded, Sources, SourcesTicker, Ticker};
use crate::failure::{Complaint, Outcome};
use crate::human::duration;
use crate::interrupt;
use crate::screen::Screen;

/// Live sources: their data goes to a log that the viewer shows, and optionally to a recording.
pub(super) struct Listening {
    live: Live,
    sources: Vec<Source>,
    names: SourcesTicker,
    /// One per source, until it is closed in the page.
    logs: Vec<Option<LiveLog>>,
    /// One per source.
    threads: Vec<OutputThread>,
    join: Join,
    file: Option<Recorded>,
    /// Start time in nanoseconds since 1970.
    start_ns: i64,
    commanding: Vec<String>,
    json: bool,
}

impl Listening {
    /// Prepares the live sources; `None` if there are none.
    pub(super) fn new(open: &Open, inputs: &[Input]) -> Result<Option<Self>> {
        let texts = inputs.iter().filter_map(|input| match input {
            Input::Live(text) => Some(text.clone()),
            Input::File(_) => None,
        });
        let texts: Vec<String> = texts.collect();
        if texts.is_empty() {
            return Ok(None);
        }
        let sources = Sources::parse(&texts, false)?;
        let live = Live::new()?;
        let start = live.clock().now();
        // A single source keeps its own clock; several share the clock of this computer.
        let clock = if inputs.len() == 1 { LiveClock::Own } else { LiveClock::Common(start) };
        let (limit, keep_free) = (parse_bytes(&open.limit_disk)?, parse_bytes(&open.keep_free)?);
        let folder = temporary_folder();
        let (mut logs, mut threads) = (Vec::new(), Vec::new());
        for (name, address) in sources.names.iter().zip(&sources.addresses) {
            let options = LiveOptions {
                name: if texts.len() > 1 { format!("{name} ({address})") } else { address.to_string() },
                address: address.clone(),
                clock,
                folder: folder.clone(),
                limit,
                keep_free,
            };
            let log = LiveLog::new(&options)?;
            threads.push(OutputThread::start("viewer", log.output(), live.clock())?);
            logs.push(Some(log));
        }
        let epoch = if texts.len() > 1 { Epoch::Known(start.nanos()) } else { Epoch::Received };
        let record = |path| {
            let options = RecordOptions { force: open.force, keep_free, epoch, ..RecordOptions::default() };
            Recorded::start(path, options, live.clock())
        };
        let commanding = sources.addresses.iter().filter(|address| address.is_commanding()).map(ToString::to_string);
        Ok(Some(Self {
            file: open.record.as_deref().map(record).transpose()?,
            names: SourcesTicker::new(&sources),
            join: sources.join(start),
            commanding: commanding.collect(),
            sources: sources.list,
            live,
            logs,
            threads,
            start_ns: start.nanos(),
            json: open.format.json(),
        }))
    }

    /// The logs that the viewer shows, one per source.
    pub(super) fn logs(&self) -> Vec<LiveLog> {
        self.logs.iter().flatten().cloned().collect()
    }

    /// From the clock of live sources to that of the first file.
    pub(super) fn clock(&self, align: AlignBy, files: &[Log]) -> Result<ClockMap> {
        let Some(first) = files.first() else { return Ok(ClockMap::default()) };
        let wall = first.epoch_ns().map(|epoch| self.start_ns.saturating_sub(epoch));
        let (begin, end) = first.robust_range().unwrap_or_default();
        let near = wall.filter(|shift| (shift - end.nanos()).abs() < NEAR_NS);
        Ok(ClockMap::shifted(match align {
            AlignBy::None => 0,
            AlignBy::Start => begin.nanos(),
            AlignBy::Auto => near.unwrap_or(begin.nanos()),
            AlignBy::Wall => wall.ok_or_else(|| {
                Complaint::usage(format!("{}: the log does not contain the wall-clock time", first.path.display()))
                    .help("use --align start or --align none")
            })?,
            AlignBy::Enabled => {
                let complaint = Complaint::usage("--align enabled needs finished logs");
                return Err(complaint
                    .help("a live source does not yet contain the moments at which the robot is enabled")
                    .into());
            }
        }))
    }

    /// Receives data until Ctrl-C or the end of --duration.
    pub(super) fn listen(mut self, limit: Option<Duration>, screen: &Screen) -> Result<Outcome> {
        let ticker = Ticker::new(screen, self.json);
        for address in &self.commanding {
            let text = format!("{address}: logpose replaces the Driver Station; the robot stays disabled");
            ticker.event("note", &text);
        }
        let outputs: Vec<&OutputThread> = self.file.iter().map(|file| &file.thread).collect();
        let each: Vec<&OutputThread> = self.threads.iter().collect();
        let mut last = Progress::default();
        self.live.listen_to_each(self.sources, &each, self.join, &outputs, &mut |progress| {
            self.names.take(&progress, &ticker);
            for (log, source) in self.logs.iter_mut().zip(&progress.sources) {
                log.take_if(|log| log.log().is_closed());
                if let Some(log) = log {
                    log.set_progress(source);
                }
            }
            if ticker.is_drawn() && ticker.is_due() {
                ticker.show(line(&progress, self.names.rate()));
            }
            let over = limit.is_some_and(|limit| progress.elapsed >= limit) || interrupt::is_raised();
            last = progress;
            if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        drop((outputs, each));
        self.threads.into_iter().for_each(|thread| drop(thread.finish()));
        let file = self.file.map(Recorded::finish);
        ticker.clear();
        let Some(file) = file else { return Ok(Outcome::Done) };
        let heard = last.sources.iter().any(|source| source.samples > 0);
        if heard {
            file.conclude(last.elapsed, screen);
        } else {
            // An empty file would only block the next attempt.
            file.stats.files.iter().for_each(|file| drop(std::fs::remove_file(file)));
            screen.notes.note("note", "no data received, so no recording was written");
        }
        file.outcome(screen)
    }
}

/// The status line.
fn line(progress: &Progress, rate: f64) -> String {
    let open = progress.sources.iter().filter(|source| source.link.open > 0).count();
    let mut parts = vec![
        duration(i64::try_from(progress.elapsed.as_nanos()).unwrap_or(i64::MAX)),
        format!("{} channels", progress.channels),
        format!("{rate:.0} samples/s"),
    ];
    if open < progress.sources.len() {
        parts.push(format!("{open} of {} connected", progress.sources.len()));
    }
    parts.join(" · ")
}

/// A file that ended less than this before now is taken to belong to the live session.
const NEAR_NS: i64 = 3_600_000_000_000;
