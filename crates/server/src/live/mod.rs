//! Live sources: what `logpose-live` receives goes to a live log of the viewer.

mod feed;
mod timing;

use std::io;
use std::path::PathBuf;

use logpose_core::Time;
use logpose_live::{Address, Output, SourceProgress, Speech};
use logpose_viewer::LinkStatus;

use self::feed::Feed;

/// A live source and the log of what it has sent. A handle: clones are the same log.
#[derive(Clone)]
pub struct LiveLog {
    log: logpose_viewer::LiveLog,
    clock: LiveClock,
}

/// How a live source is kept.
#[derive(Clone, Debug)]
pub struct LiveOptions {
    /// What people call it.
    pub name: String,
    /// Where it is.
    pub address: Address,
    /// Which clock its times are on.
    pub clock: LiveClock,
    /// Where the temporary file is.
    pub folder: PathBuf,
    /// Bytes that the file may have. Beyond, the oldest samples in memory are let go.
    pub limit: u64,
    /// Bytes that must stay free on the disk. Where there are fewer it is the same.
    pub keep_free: u64,
}

/// Which clock the times of a live source are on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LiveClock {
    /// Its own. When that starts anew, as of a robot that was switched off and on, time goes on all the same.
    Own,
    /// That of this machine since a moment, so that several sources lie beside each other.
    Common(Time),
}

impl LiveLog {
    /// An empty one.
    ///
    /// # Errors
    ///
    /// If no temporary file can be made.
    pub fn new(options: &LiveOptions) -> io::Result<Self> {
        let (dialect, format) = match options.address.speech {
            Speech::Dialect(dialect, _) => (dialect.info().name, dialect.info().title),
            Speech::Foxglove => ("foxglove", "Foxglove"),
        };
        let kept = logpose_viewer::LiveOptions {
            name: options.name.clone(),
            address: options.address.to_string(),
            dialect: dialect.to_owned(),
            format: format.to_owned(),
            folder: options.folder.clone(),
            limit: options.limit,
            keep_free: options.keep_free,
        };
        Ok(Self { log: logpose_viewer::LiveLog::new(&kept)?, clock: options.clock })
    }

    /// The log, to be added to a session.
    #[must_use]
    pub fn log(&self) -> &logpose_viewer::LiveLog {
        &self.log
    }

    /// The output that adds batches of the source to the log.
    #[must_use]
    pub fn output(&self) -> Box<dyn Output> {
        Box::new(Feed::new(self.log.writer(), self.clock))
    }

    /// Takes in how the connection is. To be called a few times a second.
    pub fn set_progress(&self, source: &SourceProgress) {
        self.log.set_link(&LinkStatus {
            connected: source.link.open > 0,
            ended: source.ended,
            peer: source.link.peer.clone(),
            problem: source.link.trouble.clone(),
            bytes: source.link.received,
            samples: source.samples,
        });
    }

    /// Bytes in memory and in the file.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        self.log.size()
    }
}
