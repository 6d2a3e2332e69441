use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use logpose::core::Severity;
use logpose_live::recorder::{RecordError, RecordOptions, RecordStats, RecordWatch, Recorder};
use logpose_live::{Clock, OutputError, OutputThread};

use crate::commands::shown;
use crate::failure::{Complaint, Outcome};
use crate::human::{bytes, counted, duration};
use crate::screen::Screen;

/// A recording in progress, written on its own thread.
pub(in crate::commands) struct Recorded {
    path: PathBuf,
    pub(in crate::commands) thread: OutputThread,
    pub(in crate::commands) watch: RecordWatch,
}

/// A finished recording.
pub(in crate::commands) struct Finished {
    path: PathBuf,
    written: Result<(), OutputError>,
    pub(in crate::commands) stats: RecordStats,
    pub(in crate::commands) dropped: u64,
}

impl Recorded {
    pub(in crate::commands) fn start(path: &Path, options: RecordOptions, clock: Clock) -> Result<Self> {
        let recorder = Recorder::create(path, options).map_err(|error| Complaint {
            code: if matches!(error, RecordError::Usage(_)) { "usage" } else { "record" },
            message: error.to_string(),
            help: error.help().map(str::to_owned),
        })?;
        let watch = recorder.watch();
        let thread = OutputThread::start("recorder", Box::new(recorder), clock)?;
        Ok(Self { path: path.to_owned(), thread, watch })
    }

    /// Closes the file.
    pub(in crate::commands) fn finish(self) -> Finished {
        let dropped = self.thread.dropped();
        let written = self.thread.finish();
        Finished { path: self.path, written, stats: self.watch.stats(), dropped }
    }
}

impl Finished {
    /// Describes what was recorded.
    pub(in crate::commands) fn conclude(&self, elapsed: Duration, screen: &Screen) {
        for file in &self.stats.files {
            screen.notes.line(shown(file));
        }
        let mut text = format!(
            "{}, {}, {} in {}",
            bytes(self.stats.bytes),
            counted(self.stats.channels, "channel"),
            counted(self.stats.samples, "sample"),
            duration(i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX))
        );
        if self.stats.late > 0 {
            let late = counted(self.stats.late, "sample");
            text += &format!("; {late} arrived out of order and got the timestamp of the sample before");
        }
        if self.dropped > 0 {
            text += &format!("; lost {} because the disk was too slow", counted(self.dropped, "sample"));
        }
        screen.notes.note("recorded", text);
    }

    /// Reports problems of the recording and returns the outcome.
    pub(in crate::commands) fn outcome(self, screen: &Screen) -> Result<Outcome> {
        screen.notes.problems(None, &self.path, &self.stats.problems);
        match self.written {
            Ok(()) => {}
            Err(error @ OutputError::NoSpace { .. }) => {
                screen.notes.error("no-space", &error.to_string(), None, None);
                return Ok(Outcome::Damage);
            }
            Err(error) => return Err(Complaint::failed("record", format!("{}: {error}", shown(&self.path))).into()),
        }
        let damaged = self.dropped > 0 || self.stats.problems.worst() == Some(Severity::Damage);
        Ok(if damaged { Outcome::Damage } else { Outcome::Done })
    }
}
