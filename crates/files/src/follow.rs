//! Logs that still grow, and bytes that still arrive.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use logpose_core::{
    Channel, ChannelId, Confidence, Decode, FileDialect, Problem, Sample, Severity, Sink, SinkError, StreamError, Time,
};

use crate::error::NAME_A_FILE;
use crate::source::{Source, cut_wrapper};
use crate::{Error, ErrorKind, FORMATS, Format, Log, OpenOptions, Progress, Wrapper};

/// A file that still grows, as `tail -F` reads it: across truncation and rotation, and before it exists.
///
/// ```
/// use logpose::core::Batch;
/// use logpose::{Follow, OpenOptions, Polled};
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("match.wpilog");
///
/// let mut follow = Follow::new(&path, &OpenOptions::default());
/// let mut samples = Batch::default();
/// let mut notices = Vec::new();
/// assert_eq!(follow.poll(&mut samples, &mut |notice| notices.push(notice))?, Polled::Idle);
/// assert_eq!(notices.len(), 1); // the file does not exist yet
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follow {
    path: PathBuf,
    options: OpenOptions,
    open: Option<Open>,
    /// Whether it was said that no file has the name.
    said_missing: bool,
    buffer: Vec<u8>,
}

/// The file that is being read.
struct Open {
    file: File,
    id: FileId,
    offset: u64,
    stream: Stream,
}

/// What happened to a file that is followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Notice {
    /// No file has the name yet.
    Missing,
    /// The file that was read has no longer the name, and no other file has it.
    Gone,
    /// Another file has the name. It is read from its beginning, and its channels are declared anew.
    Replaced,
    /// The file became shorter. It is read again from its beginning, and its channels are declared anew.
    Truncated {
        /// Bytes that were read of it.
        read: u64,
        /// Bytes that it has now.
        len: u64,
    },
}

/// What came of looking for more bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Polled {
    /// There were none.
    Idle,
    /// There were some, and there may be more.
    Read,
    /// There will be no more: the end of a pipe, or damage behind which the dialect finds nothing. A damaged file may
    /// still be truncated or replaced, and polling it again finds out.
    Ended,
}

/// Why nothing more can be read.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The sink takes no more.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// The log cannot be read, or not in pieces.
    #[error(transparent)]
    Log(#[from] Error),
}

impl Follow {
    /// Follows whatever file has this name. Nothing is opened before the first [`Follow::poll`].
    #[must_use]
    pub fn new(path: &Path, options: &OpenOptions) -> Self {
        let (path, options) = (path.to_owned(), options.clone());
        Self { path, options, open: None, said_missing: false, buffer: vec![0; BUFFER] }
    }

    /// The names of the formats that can be read while they grow.
    #[must_use]
    pub fn formats() -> Vec<&'static str> {
        let read = OpenOptions::default().read();
        let grows = |format: &&Format| format.files().is_some_and(|files| files.decoder(&read).is_some());
        FORMATS.iter().filter(grows).map(Format::name).collect()
    }

    /// The dialect of the file, once its first bytes have shown it.
    #[must_use]
    pub fn dialect(&self) -> Option<&'static dyn FileDialect> {
        self.open.as_ref()?.stream.dialect
    }

    /// Bytes that were read of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.offset)
    }

    /// Reads what the file has got since the last time, at most some megabytes of it. To be called again at once after
    /// [`Polled::Read`], and after a pause after [`Polled::Idle`].
    pub fn poll(&mut self, sink: &mut dyn Sink, notice: &mut dyn FnMut(Notice)) -> Result<Polled, FollowError> {
        if self.open.is_none() && !self.try_open(notice)? {
            return Ok(Polled::Idle);
        }
        let Some(open) = &mut self.open else { return Ok(Polled::Idle) };
        let read = open.read(&self.path, &mut self.buffer, sink)?;
        if read != Polled::Idle {
            return Ok(read);
        }
        let about = open.file.metadata().map_err(|error| Error::reading(&self.path, error))?;
        if about.len() < open.offset {
            notice(Notice::Truncated { read: open.offset, len: about.len() });
            self.open = None;
            return Ok(Polled::Read);
        }
        match std::fs::metadata(&self.path) {
            Ok(about) if FileId::of(&about) == open.id => self.said_missing = false,
            Ok(_) => {
                // What came to the old one between the last look and its new name.
                while open.read(&self.path, &mut self.buffer, sink)? == Polled::Read {}
                open.stream.finish(sink)?;
                notice(Notice::Replaced);
                self.open = None;
                return Ok(Polled::Read);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !std::mem::replace(&mut self.said_missing, true) {
                    notice(Notice::Gone);
                }
            }
            Err(error) => return Err(Error::reading(&self.path, error).into()),
        }
        Ok(Polled::Idle)
    }

    /// Nothing more is wanted of the file: what is held back is reported.
    pub fn finish(mut self, sink: &mut dyn Sink) -> Result<(), FollowError> {
        match &mut self.open {
            Some(open) => open.stream.finish(sink).map(drop),
            None => Ok(()),
        }
    }

    fn try_open(&mut self, notice: &mut dyn FnMut(Notice)) -> Result<bool, Error> {
        let failed = |error| Error::reading(&self.path, error);
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if !std::mem::replace(&mut self.said_missing, true) {
                    notice(Notice::Missing);
                }
                return Ok(false);
            }
            Err(error) => return Err(failed(error)),
        };
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(Error::new(ErrorKind::Directory).in_file(&self.path).with_help(NAME_A_FILE));
        }
        if !about.is_file() {
            let error = Error::usage("it is no regular file, so it cannot be followed").in_file(&self.path);
            return Err(error.with_help("leave out --follow: a pipe is read as it comes in any case"));
        }
        self.said_missing = false;
        let stream = Stream::new(&self.path, &self.options);
        self.open = Some(Open { file, id: FileId::of(&about), offset: 0, stream });
        Ok(true)
    }
}

impl Open {
    fn read(&mut self, path: &Path, buffer: &mut [u8], sink: &mut dyn Sink) -> Result<Polled, FollowError> {
        let mut came = 0;
        while came < AT_ONCE {
            let n = match self.file.read(buffer) {
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::reading(path, error).into()),
            };
            if n == 0 {
                break;
            }
            came += n;
            self.offset += n as u64;
            if !self.stream.push(buffer.get(..n).unwrap_or_default(), sink)? {
                return Ok(Polled::Ended);
            }
        }
        Ok(if came == 0 { Polled::Idle } else { Polled::Read })
    }
}

/// What distinguishes one file from another of the same name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    fn of(about: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(about.dev(), about.ino())
    }

    /// The file number is not available here; the creation time is.
    #[cfg(not(unix))]
    fn of(about: &Metadata) -> Self {
        let made = about.created().ok().and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
        made.map_or(Self(0, 0), |made| Self(made.as_secs(), made.subsec_nanos().into()))
    }
}

/// Standard input, or another pipe, once its first bytes have come.
pub enum Piped {
    /// It is decoded as it comes.
    Stream(Box<Pipe>),
    /// Its format can only be read when it is whole, and so it was.
    Log(Box<Log>),
}

/// A pipe that is decoded as it comes.
pub struct Pipe {
    path: PathBuf,
    reader: Box<dyn Read>,
    wrapper: Option<Wrapper>,
    stream: Stream,
    /// Bytes that came out of it, unwrapped.
    came: u64,
    /// Whether the bytes that showed the dialect were decoded.
    begun: bool,
    buffer: Vec<u8>,
}

impl Pipe {
    /// Reads the beginning of a pipe, and all of it where its format needs that. `path` stands for it in messages.
    pub fn open(
        path: &Path,
        mut pipe: impl Read + 'static,
        options: &OpenOptions,
        progress: &dyn Progress,
    ) -> Result<Piped, Error> {
        let failed = |error| Error::reading(path, error);
        let mut head = Vec::new();
        // Every wrapper is known by six bytes.
        fill(&mut pipe, &mut head, 6).map_err(failed)?;
        let wrapper = Wrapper::sniff(&head);
        let mut reader: Box<dyn Read> = Box::new(Cursor::new(head).chain(pipe));
        if let Some(wrapper) = wrapper {
            reader = wrapper.reader(BufReader::new(reader)).map_err(failed)?;
        }
        let mut stream = Stream::new(path, options);
        loop {
            let more = stream.rest.len() + 1;
            let come = fill(&mut reader, &mut stream.rest, more);
            // A wrapper that breaks off here does so again below, where that is reported.
            let come = if wrapper.is_some() { come.unwrap_or(false) } else { come.map_err(failed)? };
            if !come || stream.settle(false).unwrap_or(true) {
                break;
            }
        }
        if stream.decoder.is_none() && !stream.settle(true).unwrap_or(false) {
            let whole = Cursor::new(stream.rest).chain(reader);
            let source = match wrapper {
                None => Source::from_pipe(path, whole, options.unpacked, progress)?,
                Some(wrapper) => Source::from_unwrapped(path, whole, wrapper, options.unpacked, progress)?,
            };
            return Ok(Piped::Log(Box::new(Log::new(path, source, options, progress, false)?)));
        }
        let (came, buffer) = (stream.rest.len() as u64, vec![0; BUFFER]);
        Ok(Piped::Stream(Box::new(Self { path: path.to_owned(), reader, wrapper, stream, came, begun: false, buffer })))
    }

    /// The dialect of what comes.
    #[must_use]
    pub fn dialect(&self) -> Option<&'static dyn FileDialect> {
        self.stream.dialect
    }

    /// Waits for more bytes, and gives what they hold to the sink.
    pub fn poll(&mut self, sink: &mut dyn Sink) -> Result<Polled, FollowError> {
        if self.begun {
            let read = loop {
                match self.reader.read(&mut self.buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            match read {
                Ok(0) => {
                    self.stream.finish(sink)?;
                    return Ok(Polled::Ended);
                }
                Ok(n) => {
                    self.came += n as u64;
                    let bytes = self.buffer.get(..n).unwrap_or_default();
                    return Ok(if self.stream.push(bytes, sink)? { Polled::Read } else { Polled::Ended });
                }
                Err(error) => {
                    let Some(wrapper) = self.wrapper else { return Err(Error::reading(&self.path, error).into()) };
                    self.stream.finish(sink)?;
                    sink.problem(cut_wrapper(wrapper, &error, self.came));
                    return Ok(Polled::Ended);
                }
            }
        }
        // The bytes that showed the dialect.
        self.begun = true;
        Ok(if self.stream.push(&[], sink)? { Polled::Read } else { Polled::Ended })
    }
}

/// Reads until there are so many bytes; the answer is whether there are.
fn fill(reader: &mut dyn Read, bytes: &mut Vec<u8>, len: usize) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    while bytes.len() < len {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(n) => bytes.extend_from_slice(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Bytes that still arrive, turned into samples.
struct Stream {
    path: PathBuf,
    options: OpenOptions,
    dialect: Option<&'static dyn FileDialect>,
    decoder: Option<Box<dyn Decode>>,
    /// What the decoder has not used.
    rest: Vec<u8>,
    /// Whether any channel was found.
    found: bool,
    damaged: bool,
}

impl Stream {
    fn new(path: &Path, options: &OpenOptions) -> Self {
        let (path, options) = (path.to_owned(), options.clone());
        Self { path, options, dialect: None, decoder: None, rest: Vec::new(), found: false, damaged: false }
    }

    /// Takes more bytes. The answer is whether the ones behind them can be read.
    fn push(&mut self, bytes: &[u8], sink: &mut dyn Sink) -> Result<bool, FollowError> {
        if self.damaged {
            return Ok(false);
        }
        self.rest.extend_from_slice(bytes);
        if !self.settle(false)? {
            return Ok(true);
        }
        let Some(decoder) = &mut self.decoder else { return Ok(true) };
        match decoder.decode(&self.rest, &mut Passing { sink, found: &mut self.found }) {
            Ok(used) => {
                self.rest.drain(..used.min(self.rest.len()));
                Ok(true)
            }
            Err(error) => self.failed(error, sink),
        }
    }

    /// No more bytes will come.
    fn finish(&mut self, sink: &mut dyn Sink) -> Result<bool, FollowError> {
        if self.damaged || self.rest.is_empty() && self.decoder.is_none() || !self.settle(true)? {
            return Ok(false);
        }
        let Some(mut decoder) = self.decoder.take() else { return Ok(false) };
        match decoder.finish(&std::mem::take(&mut self.rest), &mut Passing { sink, found: &mut self.found }) {
            Ok(()) => Ok(false),
            Err(error) => self.failed(error, sink),
        }
    }

    /// Reading ends at damage, and everything before it is good. Where nothing is before it, it is not a log.
    fn failed(&mut self, error: StreamError, sink: &mut dyn Sink) -> Result<bool, FollowError> {
        let error = match error {
            StreamError::Sink(error) => return Err(error.into()),
            StreamError::Decode(error) if !self.found => return Err(Error::decode(&self.path, error).into()),
            StreamError::Decode(error) => error,
        };
        self.damaged = true;
        self.rest = Vec::new();
        sink.problem(Problem::new(Severity::Damage, error.code, error.at, 0, error.message));
        Ok(false)
    }

    /// Finds out the dialect; the answer is whether it is known. `last` says that no more bytes will come.
    fn settle(&mut self, last: bool) -> Result<bool, Error> {
        if self.decoder.is_some() {
            return Ok(true);
        }
        let refused = |what: &str| {
            let error = Error::usage(format!("{what} cannot be read while it grows")).in_file(&self.path);
            let known = Follow::formats().join(", ");
            error.with_help(format!(
                "--follow reads these formats: {known}; leave out --follow, and read the file when it is finished"
            ))
        };
        if let Some(wrapper) = Wrapper::sniff(&self.rest).filter(|_| self.options.from.is_none()) {
            return Err(refused(&format!("a compressed file ({wrapper})")));
        }
        let Some(format) = self.choose(last)? else { return Ok(false) };
        let dialect = format.files().ok_or_else(|| Error::decode(&self.path, format.info().no_files()))?;
        let decoder = dialect.decoder(&self.options.read());
        self.decoder = Some(decoder.ok_or_else(|| refused(&format!("a {} file", dialect.info().name)))?);
        self.dialect = Some(dialect);
        Ok(true)
    }

    /// The format of these bytes, if there are enough of them.
    fn choose(&self, last: bool) -> Result<Option<Format>, Error> {
        let formats = &self.options.formats;
        if let Some(name) = &self.options.from {
            return formats.for_reading(name).map(Some);
        }
        let found = formats.detect(&self.rest, &self.path);
        let sure =
            found.and_then(|found| found.files()).is_some_and(|files| files.sniff(&self.rest) == Confidence::Yes);
        if !last && (self.rest.len() < LEAST || !sure && self.rest.len() < ENOUGH) {
            return Ok(None);
        }
        let found = found.or_else(|| formats.by_extension(&self.path));
        found.map(Some).ok_or_else(|| Error::unknown_format(&self.path, &self.rest, formats))
    }
}

/// Passes everything on, and heeds whether there are channels.
struct Passing<'a> {
    sink: &'a mut dyn Sink,
    found: &'a mut bool,
}

impl Sink for Passing<'_> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        *self.found = true;
        self.sink.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.sink.samples(samples)
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.sink.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.sink.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        self.sink.problem(problem);
    }
}

/// Bytes by which a dialect can be known that is sure of itself, and by which any can.
const LEAST: usize = 12;
const ENOUGH: usize = 256;
const BUFFER: usize = 256 << 10;
/// Bytes that are read before anybody else gets a turn.
const AT_ONCE: usize = 4 << 20;
