use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use logpose_core::{Problem, Problems, Time};

/// How a recording stands.
#[derive(Clone, Debug, Default)]
pub struct RecordStats {
    /// Bytes of the files that are there.
    pub bytes: u64,
    /// Samples that were written, to files that a ring has removed since, too: what is counted here outlasts the end
    /// of the program. What a file repeats at its beginning does not count; what goes into a segment and into the
    /// file of an event counts in both.
    pub samples: u64,
    /// Channels that were declared.
    pub channels: u64,
    /// The files that are there, in the order in which they were begun.
    pub files: Vec<PathBuf>,
    /// When samples were last given to the system.
    pub last_flush: Option<Time>,
    /// Samples that came too late for a format that needs the order of time, and stand at the time of the one before.
    pub late: u64,
    /// What was lost or doubtful.
    pub problems: Problems,
}

/// The facts of a recording that goes on, to be read from any thread.
#[derive(Clone, Debug, Default)]
pub struct RecordWatch(Arc<Mutex<RecordStats>>);

impl RecordWatch {
    /// How the recording stands now.
    #[must_use]
    pub fn stats(&self) -> RecordStats {
        self.lock().clone()
    }

    /// Samples that are safe in files, without copying all the rest.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.lock().samples
    }

    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    pub(super) fn wrote(&self, bytes: u64, samples: u64, now: Time) {
        let mut stats = self.lock();
        stats.bytes += bytes;
        stats.samples += samples;
        if samples > 0 {
            stats.last_flush = stats.last_flush.max(Some(now));
        }
    }

    pub(super) fn channels(&self, count: u64) {
        let mut stats = self.lock();
        stats.channels = stats.channels.max(count);
    }

    pub(super) fn late(&self, count: u64) {
        self.lock().late += count;
    }

    pub(super) fn added(&self, path: &Path) {
        self.lock().files.push(path.to_owned());
    }

    pub(super) fn renamed(&self, from: &Path, to: &Path) {
        self.lock().files.iter_mut().filter(|known| *known == from).for_each(|known| to.clone_into(known));
    }

    pub(super) fn removed(&self, path: &Path, bytes: u64) {
        let mut stats = self.lock();
        stats.files.retain(|known| known != path);
        stats.bytes = stats.bytes.saturating_sub(bytes);
    }

    pub(super) fn problem(&self, problem: Problem) {
        self.lock().problems.push(problem);
    }

    pub(super) fn problems(&self, problems: Problems) {
        if !problems.is_empty() {
            self.lock().problems.append(problems);
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecordStats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
