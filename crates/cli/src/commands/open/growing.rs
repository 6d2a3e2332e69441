use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use logpose::{FollowError, Polled, parse_bytes};
use logpose_server::{FollowedLog, FollowedOptions};

use super::super::Open;
use super::{Input, temporary_folder};
use crate::commands::follow::{PAUSE, tell};
use crate::failure::{Complaint, Outcome};
use crate::interrupt;
use crate::screen::{Notes, Screen};

/// A file that the viewer shows while it grows.
pub(super) struct Growing {
    path: PathBuf,
    log: FollowedLog,
}

impl Growing {
    /// Reads the beginning of the file, if there is one yet: a format that cannot be followed is refused at once.
    pub(super) fn new(open: &Open, inputs: &[Input], notes: &Notes) -> Result<Self> {
        let [Input::File(path)] = inputs else {
            let complaint = if inputs.len() > 1 {
                Complaint::usage("--follow takes one file at a time")
            } else {
                Complaint::usage("--follow is for files; a live source is always followed").help("leave out --follow")
            };
            return Err(complaint.into());
        };
        if path.as_os_str() == "-" {
            return Err(Complaint::usage("--follow needs a file; standard input cannot be followed").into());
        }
        let options = FollowedOptions {
            folder: temporary_folder(),
            limit: parse_bytes(&open.limit_disk)?,
            keep_free: parse_bytes(&open.keep_free)?,
        };
        let log = FollowedLog::new(path, &open.reading.options(), &options)?;
        let mut growing = Self { path: path.clone(), log };
        growing.poll(notes)?;
        Ok(growing)
    }

    pub(super) fn log(&self) -> &FollowedLog {
        &self.log
    }

    /// Takes in what the file gets, until Ctrl-C or the end of --duration.
    pub(super) fn follow(mut self, limit: Option<Duration>, screen: &Screen) -> Result<Outcome> {
        let (begun, mut failed) = (Instant::now(), None);
        while !interrupt::is_raised() && limit.is_none_or(|limit| begun.elapsed() < limit) {
            let polled = if failed.is_none() { self.poll(&screen.notes) } else { Ok(Polled::Idle) };
            match polled {
                Ok(Polled::Read) => {}
                Ok(Polled::Idle | Polled::Ended) => thread::sleep(PAUSE),
                // Whatever came before can still be looked at.
                Err(error) if self.log.has_samples() => {
                    screen.notes.note("error", format_args!("{error}; still showing everything before"));
                    failed = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        self.log.finish();
        Ok(failed.map_or(Outcome::Done, |_| Outcome::Failed))
    }

    fn poll(&mut self, notes: &Notes) -> Result<Polled> {
        let Self { path, log } = self;
        let polled = log.poll(&mut |notice| tell(notice, path, notes));
        polled.map_err(|error| match error {
            FollowError::Sink(error) => Error::from(error),
            FollowError::Log(error) => Error::from(error),
        })
    }
}
