use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use logpose_core::{Channel, ChannelId, EncodeError, Problem, Sample, Sink, SinkError, Time};

use crate::{Batch, Clock};

/// Where a pipeline ends. It is called from a thread of its own and may block on disks, never on clients.
pub trait Output: Send {
    /// Takes what happened. An error ends this output; the others go on.
    fn take(&mut self, batch: &Batch) -> Result<(), OutputError>;
    /// Time went by: flush, sync, split, look at the free space. Called at least every 50 ms.
    fn tick(&mut self, now: Time) -> Result<(), OutputError>;
    /// No more will come: closes whole.
    fn finish(self: Box<Self>) -> Result<(), OutputError>;
}

/// Why an output takes no more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The format cannot say this.
    #[error(transparent)]
    Refused(#[from] EncodeError),
    /// Anything else that makes it impossible to go on.
    #[error("{0}")]
    Failed(String),
    /// The disk is full, or as full as it may get. What was recorded before is whole.
    #[error(
        "{}: {}: recording stopped, {} saved; free some space, record to another disk, or lower --keep-free",
        folder.display(),
        room(*free, *keep),
        amount(*saved)
    )]
    NoSpace {
        /// Where it was recorded to.
        folder: PathBuf,
        /// Bytes that are free there.
        free: u64,
        /// Bytes that were to stay free.
        keep: u64,
        /// Bytes of the recording, all of them whole records.
        saved: u64,
    },
    /// The disk took no more for another reason. What was recorded before is whole.
    #[error("{}: {error}: recording stopped, {} saved", path.display(), amount(*saved))]
    Disk {
        /// The file that was being written.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
        /// Bytes of the recording, all of them whole records.
        saved: u64,
    },
}

/// How much room there is on a disk that has too little.
pub(crate) fn room(free: u64, keep: u64) -> String {
    match free < keep {
        true => format!("{} free, {} must stay free", amount(free), amount(keep)),
        false => format!("the disk is full, {} free", amount(free)),
    }
}

impl From<SinkError> for OutputError {
    fn from(error: SinkError) -> Self {
        match error {
            SinkError::Io(error) => Self::Io(error),
            SinkError::Refused(error) => Self::Refused(error),
            SinkError::Source(error) => Self::Failed(error.to_string()),
            SinkError::Failed(error) => Self::Failed(error.to_string()),
            SinkError::Stopped => Self::Failed("the output ended before the recording did".to_owned()),
        }
    }
}

/// An output on its own thread, with a queue in front that is bounded in bytes.
pub struct OutputThread {
    queue: Option<SyncSender<Arc<Batch>>>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// Bytes that wait.
    waiting: AtomicUsize,
    dropped_samples: AtomicU64,
    /// What dropped batches contained besides samples: later samples need it.
    owed: Mutex<Batch>,
    error: Mutex<Option<OutputError>>,
}

impl OutputThread {
    /// Starts the thread.
    pub fn start(name: &str, output: Box<dyn Output>, clock: Clock) -> io::Result<Self> {
        let (queue, batches) = sync_channel(QUEUE);
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let work = move || {
            if let Err(error) = run(output, &batches, &theirs, clock) {
                *theirs.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        Ok(Self { queue: Some(queue), shared, thread: Some(thread) })
    }

    /// Hands a batch over without waiting. If too much waits already, its samples are dropped and counted; what else it
    /// contains comes with the next one for which there is room.
    pub fn offer(&self, batch: &Arc<Batch>) {
        let mut owed = self.shared.owed.lock().unwrap_or_else(PoisonError::into_inner);
        if !owed.is_empty() && self.try_queue(&Arc::new(owed.clone())) {
            *owed = Batch::default();
        }
        if !owed.is_empty() || !self.try_queue(batch) {
            self.shared.dropped_samples.fetch_add(batch.sample_count() as u64, Ordering::Relaxed);
            // A batch takes everything.
            let _ = batch.play(&mut Unsampled(&mut owed));
        }
    }

    /// Puts a batch into the queue if there is room. One for which nobody is left is gone.
    fn try_queue(&self, batch: &Arc<Batch>) -> bool {
        let Some(queue) = &self.queue else { return true };
        let size = batch.size();
        let full = self.shared.waiting.fetch_add(size, Ordering::AcqRel) > QUEUE_BYTES;
        let refused = full || matches!(queue.try_send(Arc::clone(batch)), Err(TrySendError::Full(_)));
        if refused {
            self.shared.waiting.fetch_sub(size, Ordering::AcqRel);
        }
        !refused
    }

    /// Hands a batch over, and waits while too much waits already. Returns whether the output still takes something.
    #[must_use]
    pub fn give(&self, batch: Arc<Batch>) -> bool {
        let Some(queue) = &self.queue else { return false };
        while self.shared.waiting.load(Ordering::Acquire) > QUEUE_BYTES && !self.is_done() {
            thread::sleep(Duration::from_millis(1));
        }
        self.shared.waiting.fetch_add(batch.size(), Ordering::AcqRel);
        queue.send(batch).is_ok()
    }

    /// Samples that were dropped because the output was too slow.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.shared.dropped_samples.load(Ordering::Relaxed)
    }

    /// Whether the output has ended, mostly because of an error.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// No more will come: waits until all is written and closed.
    pub fn finish(mut self) -> Result<(), OutputError> {
        self.queue = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err(OutputError::Failed("an output thread failed".to_owned()));
        }
        let error = self.shared.error.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), Err)
    }
}

/// Takes everything but samples.
struct Unsampled<'b>(&'b mut Batch);

impl Sink for Unsampled<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.0.channel(id, channel)
    }

    fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), SinkError> {
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.0.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.0.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        self.0.problem(problem);
    }
}

fn run(
    mut output: Box<dyn Output>,
    batches: &Receiver<Arc<Batch>>,
    shared: &Shared,
    clock: Clock,
) -> Result<(), OutputError> {
    let mut next_tick = Instant::now() + TICK;
    loop {
        match batches.recv_timeout(next_tick.saturating_duration_since(Instant::now())) {
            Ok(batch) => {
                let taken = output.take(&batch);
                shared.waiting.fetch_sub(batch.size(), Ordering::AcqRel);
                taken?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return output.finish(),
        }
        if Instant::now() >= next_tick {
            output.tick(clock.now())?;
            next_tick = Instant::now() + TICK;
        }
    }
}

/// Batches that may wait for an output.
const QUEUE: usize = 1 << 14;
/// Bytes that may wait for an output before samples are dropped.
const QUEUE_BYTES: usize = 128 << 20;
const TICK: Duration = Duration::from_millis(25);

/// Bytes for people, in powers of 1000.
pub(crate) fn amount(bytes: u64) -> String {
    let mut unit = 1;
    for name in ["B", "kB", "MB", "GB"] {
        if bytes < unit * 1000 || name == "GB" {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            return if unit == 1 { format!("{bytes} B") } else { format!("{}.{} {name}", tenths / 10, tenths % 10) };
        }
        unit *= 1000;
    }
    format!("{bytes} B")
}

#[cfg(test)]
mod tests {
    use super::amount;

    #[test]
    fn amounts_have_a_unit() {
        let cases =
            [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (200_000_000, "200.0 MB"), (u64::MAX, "18446744073.7 GB")];
        for (bytes, text) in cases {
            assert_eq!(amount(bytes), text);
        }
    }
}
