use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use logpose_core::Problem;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::stats::LinkStats;
use crate::{Address, Batch, Clock, Join, LinkFigures, OutputThread, Server, ServerError, ServerOptions, Source};

/// Everything live runs in here, on one clock.
pub struct Live {
    runtime: Runtime,
    clock: Clock,
}

/// How it goes with sources that are listened to.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Since the start.
    pub elapsed: Duration,
    /// One for each source.
    pub sources: Vec<SourceProgress>,
    /// Channels of all sources together.
    pub channels: usize,
    /// What was lost or doubtful since the last time.
    pub problems: Vec<Problem>,
}

/// How it goes with one source.
#[derive(Clone, Debug, Default)]
pub struct SourceProgress {
    /// Its link.
    pub link: LinkFigures,
    /// Samples that came.
    pub samples: u64,
    /// Whether it has ended.
    pub ended: bool,
}

impl Live {
    /// Starts the threads that all of this needs.
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().thread_name("logpose-live").enable_all().build()?;
        Ok(Self { runtime, clock: Clock::new() })
    }

    /// The clock of everything in here.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Does something that needs to be inside of all this.
    #[cfg(unix)]
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _inside = self.runtime.enter();
        work()
    }

    /// Starts a server. It is an output.
    pub fn serve(&self, address: &Address, options: &ServerOptions) -> Result<Server, ServerError> {
        self.runtime.block_on(Server::start(address, self.clock, options))
    }

    /// Listens to one source and calls `each` with every batch on this thread, until it breaks or the source has ended.
    /// The source connects again whenever its connection is lost. To look at the clock or at the connection while nothing
    /// arrives, use [`listen`](Self::listen).
    pub fn receive(&self, source: Source, each: &mut dyn FnMut(&Batch) -> ControlFlow<()>) {
        let (sender, mut batches) = mpsc::channel(BATCHES);
        let (stop, stopped) = watch::channel(false);
        let task = self.runtime.spawn(source.run(self.clock, 0, sender, stopped));
        let _ended_well = Tasks { runtime: &self.runtime, stop, list: vec![task] };
        while let Some((_, batch)) = self.runtime.block_on(batches.recv()) {
            if each(&batch).is_break() {
                // A source that waits for room must not wait for ever.
                batches.close();
                break;
            }
        }
    }

    /// Listens to sources and hands their batches to the outputs, until `watch` has enough, all sources have ended or
    /// all outputs have, if there are any. `watch` is asked every 50 ms or so.
    pub fn listen(
        &self,
        sources: Vec<Source>,
        join: Join,
        outputs: &[&OutputThread],
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) {
        self.listen_to_each(sources, &[], join, outputs, watch);
    }

    /// The same, where each source also has an output of its own in `each`, by its place, which gets what that source
    /// sent as it sent it: with its own names and on its own clock.
    pub fn listen_to_each(
        &self,
        sources: Vec<Source>,
        each: &[&OutputThread],
        mut join: Join,
        outputs: &[&OutputThread],
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) {
        let start = Instant::now();
        let (sender, mut batches) = mpsc::channel(BATCHES);
        let (stop, stopped) = watch::channel(false);
        let mut state = Listening { start, stats: Vec::new(), samples: vec![0; sources.len()], problems: Vec::new() };
        let mut tasks = Tasks { runtime: &self.runtime, stop, list: Vec::new() };
        for (number, source) in sources.into_iter().enumerate() {
            state.stats.push(source.stats());
            tasks.list.push(self.runtime.spawn(source.run(self.clock, number, sender.clone(), stopped.clone())));
        }
        drop((sender, stopped));
        let mut next_look = start;
        loop {
            let now = Instant::now();
            if now >= next_look {
                next_look = now + LOOK;
                let progress =
                    state.progress(&tasks.list.iter().map(JoinHandle::is_finished).collect::<Vec<_>>(), &join);
                let mut all = each.iter().chain(outputs).peekable();
                let done = all.peek().is_some() && all.all(|output| output.is_done());
                if watch(progress).is_break() || done {
                    break;
                }
            }
            let wait = next_look.saturating_duration_since(Instant::now());
            match self.runtime.block_on(async { timeout(wait, batches.recv()).await }) {
                Ok(Some(heard)) => state.pass_on(heard, each, &mut join, outputs),
                Ok(None) => break,
                Err(_) => {}
            }
        }
        // Sources are asked to stop; what they sent until then still counts.
        let _ = tasks.stop.send(true);
        while let Some(heard) = self.runtime.block_on(batches.recv()) {
            state.pass_on(heard, each, &mut join, outputs);
        }
        let ended = vec![true; state.stats.len()];
        let _ = watch(state.progress(&ended, &join));
    }
}

/// Sources that run. They are ended well also when whoever watches them panics: a station has to say goodbye.
struct Tasks<'r> {
    runtime: &'r Runtime,
    stop: watch::Sender<bool>,
    list: Vec<JoinHandle<()>>,
}

impl Drop for Tasks<'_> {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        let ended = join_all(self.list.drain(..));
        let _ = self.runtime.block_on(async { timeout(FAREWELL, ended).await });
    }
}

struct Listening {
    start: Instant,
    stats: Vec<Arc<LinkStats>>,
    samples: Vec<u64>,
    problems: Vec<Problem>,
}

impl Listening {
    fn pass_on(
        &mut self,
        (source, batch): (usize, Batch),
        each: &[&OutputThread],
        join: &mut Join,
        outputs: &[&OutputThread],
    ) {
        if let Some(samples) = self.samples.get_mut(source) {
            *samples += batch.sample_count() as u64;
        }
        let joined = Arc::new(join.join(source, &batch));
        self.problems.extend(joined.problems().cloned());
        outputs.iter().for_each(|output| output.offer(&joined));
        if let Some(own) = each.get(source) {
            own.offer(&Arc::new(batch));
        }
    }

    fn progress(&mut self, ended: &[bool], join: &Join) -> Progress {
        let sources = self.stats.iter().zip(&self.samples).zip(ended);
        let sources = sources.map(|((stats, samples), ended)| SourceProgress {
            link: stats.figures(),
            samples: *samples,
            ended: *ended,
        });
        Progress {
            elapsed: self.start.elapsed(),
            sources: sources.collect(),
            channels: join.channels(),
            problems: std::mem::take(&mut self.problems),
        }
    }
}

/// Batches of sources that may wait: after that, a source waits itself.
const BATCHES: usize = 4096;
const LOOK: Duration = Duration::from_millis(50);
/// How long sources may take to end.
const FAREWELL: Duration = Duration::from_secs(1);
