//! What `cat`, `grep` and `find` share where samples are printed as they arrive: with --follow, and from a pipe.

mod intervals;
mod rows;

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use logpose::core::{Channel, ChannelId, Problem, Problems, Sample, Sink, SinkError, Time};
use logpose::{Filter, Follow, FollowError, Log, Moment, Notice, Pipe, Piped, Polled};

pub(super) use self::intervals::Intervals;
pub(super) use self::rows::{DataRows, TextRows};
use super::{outcome, shown};
use crate::args::{Channels, Moments, Reading};
use crate::failure::{Complaint, Outcome};
use crate::interrupt;
use crate::progress::Bar;
use crate::screen::Notes;

/// Where samples come from.
pub(super) enum Input {
    /// They are printed as they arrive.
    Arriving(Arriving),
    /// Everything is read first.
    Whole(Box<Log>),
    /// Nothing was opened yet.
    Files,
}

/// What the command line asks of an input.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) follow: bool,
    /// The option that needs the whole log, and why, if there is one.
    pub(super) whole: Option<(&'a str, &'a str)>,
}

impl Input {
    pub(super) fn open(asked: &Asked<'_>, reading: &Reading, notes: &Notes) -> Result<Self> {
        let is_stdin = |path: &Path| path.as_os_str() == "-";
        if asked.follow {
            let [path] = asked.files else {
                return Err(Complaint::usage("--follow takes one file at a time").into());
            };
            if let Some((option, why)) = asked.whole {
                return Err(Complaint::usage(format!("--follow cannot be combined with {option}: {why}")).into());
            }
            if !is_stdin(path) {
                return Ok(Self::Arriving(Arriving::File(Box::new(Follow::new(path, &reading.options())))));
            }
        }
        match asked.files {
            [path] if is_stdin(path) && asked.whole.is_none() => {
                match Pipe::open(path, io::stdin(), &reading.options(), &Bar::new(notes.quiet))? {
                    Piped::Stream(pipe) => Ok(Self::Arriving(Arriving::Pipe(pipe))),
                    Piped::Log(_) if asked.follow => {
                        let complaint = Complaint::usage("this input can only be read when it is finished");
                        Err(complaint.help("leave out --follow").into())
                    }
                    Piped::Log(log) => Ok(Self::Whole(log)),
                }
            }
            _ => Ok(Self::Files),
        }
    }
}

/// The option of a selection that needs the whole log, and why.
pub(super) fn needs_whole(moments: &Moments, follow: bool) -> Result<Option<(&'static str, &'static str)>> {
    let (start, end) = moments.parse()?;
    let fits = |moment: Option<Moment>| match moment {
        None | Some(Moment::At(_)) => true,
        // The first sample of a finished log need not be its earliest.
        Some(Moment::AfterStart(_)) => follow,
        Some(_) => false,
    };
    let why = "only times in seconds (`12.5`, `+3s`) are known while the log grows";
    Ok(if !fits(start) {
        Some(("this -S", why))
    } else if !fits(end) {
        Some(("this -E", why))
    } else {
        None
    })
}

/// Samples that are printed as they arrive.
pub(super) enum Arriving {
    File(Box<Follow>),
    Pipe(Box<Pipe>),
}

/// Prints what it is given.
pub(super) trait Print: Sink {
    /// What was given is to be seen now.
    fn flush(&mut self) -> io::Result<()>;
    /// Nothing comes for the moment.
    fn idle(&mut self, notes: &Notes) -> Result<()> {
        let _ = notes;
        Ok(())
    }
}

/// How it ended.
pub(super) struct Ended {
    /// Whether everything has come: otherwise somebody had enough.
    pub(super) complete: bool,
    pub(super) problems: Problems,
}

impl Ended {
    /// The outcome of a command that found something, or that did not look for anything.
    pub(super) fn outcome(&self) -> Outcome {
        if self.complete { outcome(&self.problems) } else { Outcome::Done }
    }
}

impl Arriving {
    /// Prints everything up to the end: that of a pipe, damage, or Ctrl-C.
    pub(super) fn run<P: Print>(mut self, path: &Path, print: &mut P, notes: &Notes) -> Result<Ended> {
        let follow = matches!(self, Self::File(_));
        if follow {
            interrupt::await_it();
        }
        let mut ended = Ended { complete: true, problems: Problems::default() };
        loop {
            let mut sink = Reporting { print, problems: &mut ended.problems, at_once: follow.then_some((path, notes)) };
            let polled = match &mut self {
                Self::File(file) => file.poll(&mut sink, &mut |notice| tell(notice, path, notes)),
                Self::Pipe(pipe) => pipe.poll(&mut sink),
            };
            // Whatever happened, what came before it is printed.
            print.flush()?;
            match polled {
                Ok(Polled::Read) => {}
                Ok(Polled::Idle) => {
                    print.idle(notes)?;
                    thread::sleep(PAUSE);
                }
                Ok(Polled::Ended) => break,
                Err(FollowError::Sink(SinkError::Stopped)) => {
                    ended.complete = false;
                    break;
                }
                Err(FollowError::Sink(error)) => return Err(error.into()),
                Err(FollowError::Log(error)) => return Err(error.into()),
            }
            if follow && interrupt::is_raised() {
                ended.complete = false;
                break;
            }
        }
        if !follow {
            notes.problems(None, path, &ended.problems);
        }
        Ok(ended)
    }
}

/// Says what became of a file.
pub(in crate::commands) fn tell(notice: Notice, path: &Path, notes: &Notes) {
    let file = shown(path);
    match notice {
        Notice::Missing => notes.note("note", format_args!("{file} does not exist yet; waiting for it")),
        Notice::Gone => notes.note("note", format_args!("{file} was removed or renamed; waiting for a new one")),
        Notice::Replaced => notes.note("note", format_args!("{file} was replaced; following the new file")),
        Notice::Truncated { read, len } => notes.note(
            "note",
            format_args!("{file} was truncated from {read} to {len} bytes; reading it from the beginning"),
        ),
    }
}

/// Passes everything on, and takes the problems out.
struct Reporting<'a, P> {
    print: &'a mut P,
    problems: &'a mut Problems,
    /// With a path, they are reported as they come.
    at_once: Option<(&'a Path, &'a Notes)>,
}

impl<P: Print> Sink for Reporting<'_, P> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.print.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.print.samples(samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.print.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.print.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        if let Some((path, notes)) = self.at_once {
            notes.list_problems(None, path, std::slice::from_ref(&problem), 0);
        }
        self.problems.push(problem);
    }
}

/// What is selected of a log whose channels come one by one.
pub(super) struct Wanted {
    filter: Filter,
    start: Option<Moment>,
    end: Option<Moment>,
    first: Option<Time>,
    /// The channels, by their numbers, and whether they are wanted.
    channels: Vec<Option<(Channel, bool)>>,
    /// Whether there was a channel, and whether any was wanted.
    any: (bool, bool),
}

impl Wanted {
    pub(super) fn new(channels: Option<&Channels>, moments: &Moments) -> Result<Self> {
        let filter = channels.map_or_else(|| Ok(Filter::default()), Channels::filter)?;
        let (start, end) = moments.parse()?;
        Ok(Self { filter, start, end, first: None, channels: Vec::new(), any: (false, false) })
    }

    /// A channel exists; the answer is whether it is wanted.
    pub(super) fn channel(&mut self, id: ChannelId, channel: &Channel) -> bool {
        let place = id as usize;
        if self.channels.len() <= place {
            self.channels.resize_with(place + 1, || None);
        }
        let wanted = self.filter.accepts(&channel.name);
        self.any = (true, self.any.1 || wanted);
        if let Some(known) = self.channels.get_mut(place) {
            *known = Some((channel.clone(), wanted));
        }
        wanted
    }

    /// The channel of a sample, and whether the sample is wanted.
    pub(super) fn sample(&mut self, sample: &Sample<'_>) -> Option<(&Channel, bool)> {
        let (start, end) = self.bounds(sample.time);
        let timely = start.is_none_or(|start| sample.time >= start) && end.is_none_or(|end| sample.time <= end);
        let (channel, wanted) = self.channels.get(sample.channel as usize)?.as_ref()?;
        Some((channel, *wanted && timely))
    }

    /// The first and the last wanted moment, on the clock of the samples.
    pub(super) fn bounds(&mut self, time: Time) -> (Option<Time>, Option<Time>) {
        let first = *self.first.get_or_insert(time);
        let resolve = |moment: Option<Moment>| match moment {
            Some(Moment::At(time)) => Some(time),
            Some(Moment::AfterStart(ns)) => Some(first.plus(ns)),
            _ => None,
        };
        (resolve(self.start), resolve(self.end))
    }

    /// Refuses a filter that let no channel through, once all have come.
    pub(super) fn check(&self, channels: &Channels) -> Result<()> {
        if self.any.0 && !self.any.1 { Err(channels.nothing().into()) } else { Ok(()) }
    }
}

/// How long to wait before looking for more.
pub(in crate::commands) const PAUSE: Duration = Duration::from_millis(50);
