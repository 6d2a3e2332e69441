use std::path::{Path, PathBuf};

use logpose_carla::{ErrorKind, Frames, Queries};
use logpose_core::{DecodeError, Problem, Time};

use logpose_files::internal::Source;
use logpose_files::{Error, Formats, Moment, Progress};

/// A file with a recording, unwrapped.
pub struct File {
    path: PathBuf,
    source: Source,
}

impl File {
    /// Opens a file, or standard input for `-`. Whether it is a recording is found out when it is asked something.
    pub fn open(path: &Path, progress: &dyn Progress) -> Result<Self, Error> {
        Ok(Self { path: path.to_owned(), source: Source::open(path, None, progress)? })
    }

    /// Where it came from; `-` for standard input.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the recording.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.source.bytes
    }

    /// What the compression around it lost.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        self.source.problem.as_ref()
    }

    /// Its frames and actors, found in one pass.
    pub fn frames(&self) -> Result<Frames<'_>, Error> {
        Frames::scan(self.bytes()).map_err(|error| self.refused(error))
    }

    /// CARLA's queries of it.
    pub fn queries(&self) -> Result<Queries<'_>, Error> {
        Queries::new(self.bytes()).map_err(|error| self.refused(error))
    }

    /// The second of the recording that is meant by a moment. A time that only rounding to nanoseconds keeps from the
    /// start of a frame is that start.
    pub fn seconds(&self, frames: &Frames<'_>, moment: &Moment) -> Result<f64, Error> {
        let nanos = |seconds: f64| Time::from_seconds(seconds).unwrap_or(Time::MAX);
        let all = frames.frames();
        let range = || (all.first().map_or(Time::ZERO, |first| nanos(first.start.elapsed)), nanos(frames.total()));
        let epoch = frames.header().date.checked_mul(1_000_000_000);
        let time = moment.on_clock(range, epoch).map_err(|error| error.in_file(&self.path))?;
        let after = all.partition_point(|frame| nanos(frame.start.elapsed) < time);
        let start = all.get(after).map(|frame| frame.start.elapsed).filter(|start| nanos(*start) == time);
        Ok(start.unwrap_or_else(|| time.seconds()))
    }

    /// Why it cannot be read, and what would help.
    pub(super) fn refused(&self, error: logpose_carla::Error) -> Error {
        let refused = Error::decode(&self.path, DecodeError::from(error));
        if error.kind != ErrorKind::Magic {
            return refused;
        }
        let other = Formats::default().detect(self.bytes(), &self.path);
        match other.map(|other| other.name()).filter(|name| *name != logpose_carla::NAME) {
            Some(name) => refused.with_help(format!("it looks like {name}; run `logpose info` for a summary")),
            None => refused
                .with_help("if it is a damaged CARLA recording, run `logpose recover` to keep its complete frames"),
        }
    }
}
