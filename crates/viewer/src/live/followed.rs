use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use logpose::frc::Level;
use logpose::{Follow, FollowError, Notice, OpenOptions, Polled};
use logpose_core::Time;

use super::{BatchClock, LiveLog, LiveOptions, LiveWriter, lock};

/// A file that still grows, and the live log of its samples.
///
/// Times are those of the file. Where another file takes its place, or the file begins anew, and its times would step
/// back, they go on behind the latest one instead, so that both files can be seen one after the other.
pub struct FollowedLog {
    follow: Follow,
    log: LiveLog,
    writer: LiveWriter,
    times: FileTimes,
    obstacle: Option<Obstacle>,
}

/// How the samples of a growing file are kept.
#[derive(Clone, Debug)]
pub struct FollowedOptions {
    /// Where the temporary file is.
    pub folder: PathBuf,
    /// Bytes that it may have. Beyond, the oldest samples in memory are let go.
    pub limit: u64,
    /// Bytes that must stay free on the disk. Where there are fewer it is the same.
    pub keep_free: u64,
}

/// Why nothing comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Obstacle {
    Missing,
    Gone,
    Damaged,
    Failed,
}

impl FollowedLog {
    /// Follows whatever file has this name. Nothing is read before the first [`FollowedLog::poll`].
    ///
    /// # Errors
    ///
    /// If no temporary file can be made.
    pub fn new(path: &Path, open: &OpenOptions, options: &FollowedOptions) -> io::Result<Self> {
        let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        let FollowedOptions { folder, limit, keep_free } = options.clone();
        let log = LiveLog::new(&LiveOptions {
            name: name.into_owned(),
            address: path.to_string_lossy().into_owned(),
            dialect: String::new(),
            format: String::new(),
            folder,
            limit,
            keep_free,
        })?;
        let (follow, writer) = (Follow::new(path, open), log.writer());
        Ok(Self { follow, log, writer, times: FileTimes::default(), obstacle: None })
    }

    /// The log, to be added to a session.
    #[must_use]
    pub fn log(&self) -> &LiveLog {
        &self.log
    }

    /// Takes in what the file has got since the last time, at most some megabytes of it. To be called again at once after
    /// [`Polled::Read`], and after a pause otherwise: also behind damage, because another file may take its place.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or not while it grows. What came before stays in the log, which is then at its end.
    pub fn poll(&mut self, notice: &mut dyn FnMut(Notice)) -> Result<Polled, FollowError> {
        let mut noticed = None;
        let Self { follow, writer, times, .. } = self;
        let mut time = |own| times.time(own);
        let polled = follow.poll(&mut writer.batch(&mut time, false), &mut |what| noticed = Some(what));
        if let Some(dialect) = self.follow.dialect() {
            let info = dialect.info();
            lock(&self.log.inner.state).format = Some((info.name, info.title));
        }
        if matches!(polled, Ok(Polled::Read | Polled::Ended)) {
            let newest = self.times.newest.map(|newest| (newest, Instant::now()));
            self.writer.end_batch(&BatchClock { newest, ..BatchClock::default() });
        } else {
            self.writer.tick();
        }
        match &polled {
            Ok(Polled::Read) => self.obstacle = None,
            Ok(Polled::Ended) => self.obstacle = Some(Obstacle::Damaged),
            Ok(Polled::Idle) => {}
            Err(_) => self.obstacle = Some(Obstacle::Failed),
        }
        if let Some(what) = noticed {
            self.heed(what);
            notice(what);
        }
        self.log.set_file(self.follow.offset(), self.problem(&polled));
        if polled.is_err() {
            lock(&self.log.inner.status).ended = true;
        }
        polled
    }

    /// Whether any sample has come.
    #[must_use]
    pub fn has_samples(&self) -> bool {
        self.times.newest.is_some()
    }

    /// Nobody follows the file any longer.
    pub fn finish(self) {
        self.writer.finish();
        lock(&self.log.inner.status).ended = true;
    }

    fn heed(&mut self, notice: Notice) {
        match notice {
            Notice::Missing => self.obstacle = Some(Obstacle::Missing),
            Notice::Gone => {
                self.obstacle = self.obstacle.or(Some(Obstacle::Gone));
                self.writer.note(Level::Warning, "The file was removed or renamed");
            }
            Notice::Replaced => {
                self.times.begin_file();
                self.writer.note(Level::Info, "The file was replaced by a new one");
            }
            Notice::Truncated { .. } => {
                self.times.begin_file();
                self.writer.note(Level::Info, "The file was truncated and begins again");
            }
        }
    }

    fn problem(&self, polled: &Result<Polled, FollowError>) -> Option<String> {
        Some(match (self.obstacle, polled) {
            (_, Err(error)) => error.to_string(),
            (Some(Obstacle::Missing), _) => "the file does not exist yet".to_owned(),
            (Some(Obstacle::Gone), _) => "the file was removed or renamed; waiting for a new one".to_owned(),
            (Some(Obstacle::Damaged), _) => "the file is damaged; waiting for a new one".to_owned(),
            (Some(Obstacle::Failed), _) => "the file can no longer be read".to_owned(),
            (None, _) if !self.has_samples() => "no samples in the file yet".to_owned(),
            (None, _) => return None,
        })
    }
}

/// Puts the times of files that follow each other on one clock.
#[derive(Debug, Default)]
struct FileTimes {
    /// What is added to the times of the file.
    shift: i64,
    /// The latest time, shifted.
    newest: Option<Time>,
    /// Whether the next sample is the first of another file.
    is_first: bool,
}

impl FileTimes {
    /// What comes now is of another file.
    fn begin_file(&mut self) {
        (self.shift, self.is_first) = (0, true);
    }

    fn time(&mut self, own: Time) -> Time {
        if std::mem::take(&mut self.is_first)
            && let Some(newest) = self.newest
            && newest.since(own) > OVERLAP_NS
        {
            self.shift = newest.since(own);
        }
        let time = own.plus(self.shift);
        self.newest = self.newest.max(Some(time));
        time
    }
}

/// The parts of a recording that was split share a clock, and the next part begins with values of the last one's end.
const OVERLAP_NS: i64 = 2_000_000_000;

#[cfg(test)]
mod tests {
    use logpose_core::Time;

    use super::FileTimes;

    #[test]
    fn a_file_that_begins_anew_goes_on_behind_the_last_one() {
        let mut times = FileTimes::default();
        let mut check = |own_ms: &[i64], expected_ms: &[i64]| {
            let got: Vec<i64> =
                own_ms.iter().map(|ms| times.time(Time::from_millis(*ms)).nanos() / 1_000_000).collect();
            assert_eq!(got, expected_ms);
            times.begin_file();
        };
        // A step back inside of a file is as it stands there.
        check(&[5_000, 90_000, 20_000], &[5_000, 90_000, 20_000]);
        // The next part of a recording has the same clock.
        check(&[89_990, 95_000], &[89_990, 95_000]);
        // Another robot, or the same one switched off and on.
        check(&[1_000, 2_500, 900], &[95_000, 96_500, 94_900]);
        check(&[1_000], &[96_500]);
        // A clock that is far ahead is left alone.
        check(&[200_000], &[200_000]);
    }
}
