//! Where the bytes of a log come from, and where they are held.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use logpose_bridges::{Bridge, UnpackError};
use logpose_core::{Problem, Problems, Severity};
use memmap2::Mmap;

use crate::error::NAME_A_FILE;
use crate::sidecar::Stamp;
use crate::{Error, ErrorKind, OpenOptions, Progress, Wrapper};

/// The bytes of a log, unwrapped.
pub struct Source {
    /// The content.
    pub bytes: Arc<Bytes>,
    /// Bytes before unwrapping.
    pub file_len: u64,
    /// The compression around it.
    pub wrapper: Option<Wrapper>,
    /// What unwrapping lost.
    pub problem: Option<Problem>,
    /// What the system says about the file, if the bytes are all of it.
    pub(crate) stamp: Option<Stamp>,
}

/// Bytes in memory or in a mapped file.
pub enum Bytes {
    /// In memory.
    Owned(Vec<u8>),
    /// In a mapped file.
    Mapped(Mmap),
}

impl Bytes {
    /// The bytes of a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        hold(file, len)
    }

    /// Whether they lie in a mapped file.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Self::Mapped(_))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// What is unpacked or piped is kept in memory or in a temporary file, up to `limit` bytes.
    pub fn open(path: &Path, limit: Option<u64>, progress: &dyn Progress) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            return Self::from_pipe(path, io::stdin().lock(), limit, progress);
        }
        if let Some(scheme) = live_scheme(path) {
            let help =
                "record it with `logpose record ADDRESS -o FILE`, or forward it with `logpose play ADDRESS --to …`";
            return Err(Error::new(ErrorKind::Live { scheme }).in_file(path).with_help(help));
        }
        let file = File::open(path).map_err(|error| Error::reading(path, error))?;
        let about = file.metadata().map_err(|error| Error::reading(path, error))?;
        if about.is_dir() {
            return Err(Error::new(ErrorKind::Directory).in_file(path).with_help(NAME_A_FILE));
        }
        if !about.is_file() {
            return Self::from_pipe(path, file, limit, progress);
        }
        let bytes = hold(file, about.len()).map_err(|error| Error::reading(path, error))?;
        let source = Self::from_bytes(path, bytes, limit, progress)?;
        let stamp = source.wrapper.is_none().then(|| Stamp::of(&about));
        Ok(Self { stamp, ..source })
    }

    /// Takes bytes that are there already.
    pub fn from_bytes(path: &Path, bytes: Bytes, limit: Option<u64>, progress: &dyn Progress) -> Result<Self, Error> {
        let file_len = bytes.len() as u64;
        if bytes.is_empty() {
            let help = "the robot was switched off before it wrote any data, or the copy failed";
            return Err(Error::new(ErrorKind::Empty).in_file(path).with_help(help));
        }
        let Some(wrapper) = Wrapper::sniff(&bytes) else {
            return Ok(Self { bytes: Arc::new(bytes), file_len, wrapper: None, problem: None, stamp: None });
        };
        progress.begin("decompressing", file_len);
        let unwrapped = unwrap(path, wrapper, &bytes, limit, progress);
        progress.end();
        let (bytes, problem) = unwrapped?;
        Ok(Self { bytes: Arc::new(bytes), file_len, wrapper: Some(wrapper), problem, stamp: None })
    }

    /// Puts what a bridge unpacks in the place of the file.
    pub(crate) fn unpack(
        &mut self,
        path: &Path,
        bridge: &Bridge,
        options: &OpenOptions,
        problems: &mut Problems,
    ) -> Result<(), Error> {
        let (mut spool, read) = (Spool::new(options.unpacked, Some(self.bytes.len() as u64)), &options.read());
        bridge.unpack(&self.bytes, read, &mut spool, problems).map_err(|error| unpack_error(path, error))?;
        self.bytes = Arc::new(spool.finish().map_err(|error| Error::reading(path, error))?);
        self.stamp = None;
        Ok(())
    }

    /// Unpacks the Parquet files of a folder as one log.
    pub(crate) fn folder(
        folder: &Path,
        files: &[PathBuf],
        options: &OpenOptions,
        problems: &mut Problems,
    ) -> Result<Self, Error> {
        let mut held = Vec::with_capacity(files.len());
        for path in files {
            let failed = |error| Error::reading(path, error);
            let file = File::open(path).map_err(failed)?;
            let len = file.metadata().map_err(failed)?.len();
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
            held.push((name, hold(file, len).map_err(failed)?));
        }
        let file_len = held.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let parts: Vec<(&str, &[u8])> = held.iter().map(|(name, bytes)| (&**name, &**bytes)).collect();
        let mut spool = Spool::new(options.unpacked, Some(file_len));
        let unpacked = logpose_bridges::read_folder(&parts, &options.read(), &mut spool, problems);
        unpacked.map_err(|error| unpack_error(folder, error))?;
        let bytes = Arc::new(spool.finish().map_err(|error| Error::reading(folder, error))?);
        Ok(Self { bytes, file_len, wrapper: None, problem: None, stamp: None })
    }

    /// Reads to the end what cannot be mapped.
    pub(crate) fn from_pipe(
        path: &Path,
        mut pipe: impl Read,
        limit: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let mut spool = Spool::new(limit, None);
        let mut buffer = vec![0; BUFFER];
        progress.begin("reading", 0);
        let read = spool.fill(&mut pipe, &mut buffer, |done| progress.at(done));
        progress.end();
        read.map_err(|stopped| Error::reading(path, stopped.into()))?;
        let bytes = spool.finish().map_err(|error| Error::reading(path, error))?;
        Self::from_bytes(path, bytes, limit, progress)
    }

    /// Reads to the end what comes out of a wrapper.
    pub(crate) fn from_unwrapped(
        path: &Path,
        mut pipe: impl Read,
        wrapper: Wrapper,
        limit: Option<u64>,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let (mut spool, mut buffer) = (Spool::new(limit, None), vec![0; BUFFER]);
        progress.begin("decompressing", 0);
        let read = spool.fill(&mut pipe, &mut buffer, |done| progress.at(done));
        progress.end();
        let (bytes, problem) = unwrapped(path, wrapper, spool, read)?;
        let file_len = bytes.len() as u64;
        Ok(Self { bytes: Arc::new(bytes), file_len, wrapper: Some(wrapper), problem, stamp: None })
    }
}

fn unpack_error(path: &Path, error: UnpackError) -> Error {
    match error {
        UnpackError::Decode(error) => Error::decode(path, error),
        UnpackError::Write(error) => Error::reading(path, error),
    }
}

/// Unwraps all that can be unwrapped. A file that was cut keeps what came out of it.
fn unwrap(
    path: &Path,
    wrapper: Wrapper,
    bytes: &[u8],
    limit: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Bytes, Option<Problem>), Error> {
    let counted = Counted { rest: bytes, used: std::cell::Cell::new(0) };
    let mut spool = Spool::new(limit, Some(bytes.len() as u64));
    let mut buffer = vec![0; BUFFER];
    let result = match wrapper.reader(BufReader::with_capacity(BUFFER, &counted)) {
        Ok(mut reader) => spool.fill(&mut reader, &mut buffer, |_| progress.at(counted.used.get() as u64)),
        Err(error) => Err(Stopped::Reading(error)),
    };
    unwrapped(path, wrapper, spool, result)
}

/// What came out of a wrapper, whole or not.
fn unwrapped(
    path: &Path,
    wrapper: Wrapper,
    spool: Spool,
    result: Result<(), Stopped>,
) -> Result<(Bytes, Option<Problem>), Error> {
    let came_out = spool.len;
    let held = spool.finish().map_err(|error| Error::reading(path, error))?;
    let error = match result {
        Ok(()) if came_out > 0 => return Ok((held, None)),
        Ok(()) => io::Error::from(io::ErrorKind::UnexpectedEof),
        Err(Stopped::Reading(error)) => error,
        Err(Stopped::Holding(error)) => return Err(Error::reading(path, error)),
    };
    if came_out == 0 {
        let error = Error::new(ErrorKind::Wrapper { wrapper, reason: error.to_string() }).in_file(path);
        return Err(error.with_help("the start of the file is damaged; copy it again"));
    }
    Ok((held, Some(cut_wrapper(wrapper, &error, came_out))))
}

/// A wrapper broke off after so many bytes came out of it.
pub(crate) fn cut_wrapper(wrapper: Wrapper, error: &io::Error, came_out: u64) -> Problem {
    let (code, what) = match error.kind() {
        io::ErrorKind::UnexpectedEof => ("truncated-wrapper", "is truncated".to_owned()),
        _ => ("damaged-wrapper", format!("is damaged ({error})")),
    };
    let message = format!("the {wrapper} file {what}; kept the first {came_out} decompressed bytes");
    Problem::general(Severity::Damage, code, message)
}

/// Holds a regular file: small ones are read, others mapped.
fn hold(mut file: File, len: u64) -> io::Result<Bytes> {
    if len < SMALL {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Bytes::Owned(bytes));
    }
    map(&file).map(Bytes::Mapped)
}

#[expect(
    unsafe_code,
    reason = "a mapped file is as large as memory needs to be, and pages that are not asked for cost nothing"
)]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is only read. If another program shortens the file meanwhile the system ends this
    // process, and if it overwrites it some values are those of the new file; both are what reading a file
    // that someone else writes can do, and no reader here relies on bytes staying what they were.
    unsafe { Mmap::map(file) }
}

/// Bytes that arrive, of which nobody knows how many will: in memory first, in a nameless file when many.
pub struct Spool {
    memory: Vec<u8>,
    file: Option<File>,
    len: u64,
    /// How many there may be, and what that follows from.
    most: u64,
    because: &'static str,
}

impl Default for Spool {
    fn default() -> Self {
        Self { memory: Vec::new(), file: None, len: 0, most: LARGEST, because: "" }
    }
}

/// Why no more bytes arrive.
enum Stopped {
    /// They cannot be read: damage, if they come out of a wrapper.
    Reading(io::Error),
    /// There is no place for them.
    Holding(io::Error),
}

impl From<Stopped> for io::Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Reading(error) | Stopped::Holding(error) => error,
        }
    }
}

impl Spool {
    fn fill(&mut self, from: &mut dyn Read, buffer: &mut [u8], mut report: impl FnMut(u64)) -> Result<(), Stopped> {
        loop {
            let n = match from.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Stopped::Reading(error)),
            };
            self.push(buffer.get(..n).unwrap_or_default()).map_err(Stopped::Holding)?;
            report(self.len);
        }
    }

    /// Takes up to `limit` bytes; without a limit, what logs of so many packed bytes become.
    pub(crate) fn new(limit: Option<u64>, packed: Option<u64>) -> Self {
        let densest = packed.map_or(LARGEST, |packed| packed.saturating_mul(RATIO).max(SMALL_LIMIT));
        let (most, because) = match limit {
            Some(limit) => (limit, ""),
            None if densest < LARGEST => (densest, ", far more than logs become"),
            None if packed.is_none() => (LARGEST_PIPE, ""),
            None => (LARGEST, ""),
        };
        Self { most, because, ..Self::default() }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len() as u64;
        if self.len > self.most {
            let limit = match self.most >> 20 {
                0 => format!("{} bytes", self.most),
                mebi => format!("{mebi} MiB"),
            };
            let message =
                format!("unpacked, it has more than {limit}{}; raise --limit-unpacked to read it", self.because);
            return Err(io::Error::other(message));
        }
        let folder = std::env::temp_dir();
        let failed = |error: io::Error| {
            let message = format!("cannot keep unpacked data in the temporary folder {}: {error}", folder.display());
            io::Error::new(error.kind(), message)
        };
        if self.file.is_none() && self.memory.len() + bytes.len() > IN_MEMORY {
            let free = fs4::available_space(&folder).map_err(failed)?.saturating_sub(KEEP_FREE);
            if free < self.most {
                (self.most, self.because) = (free, ", as much as fits into the temporary folder");
            }
            let mut file = tempfile::tempfile_in(&folder).map_err(failed)?;
            file.write_all(&std::mem::take(&mut self.memory)).map_err(failed)?;
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes).map_err(failed),
            None => {
                self.memory.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// All bytes that arrived.
    pub fn finish(self) -> io::Result<Bytes> {
        match self.file {
            Some(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                map(&file).map(Bytes::Mapped)
            }
            None => Ok(Bytes::Owned(self.memory)),
        }
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A slice that knows how much of it was read.
struct Counted<'a> {
    rest: &'a [u8],
    used: std::cell::Cell<usize>,
}

impl Read for &Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.rest.get(self.used.get()..).unwrap_or_default().read(out)?;
        self.used.set(self.used.get() + n);
        Ok(n)
    }
}

/// The scheme of an address such as `rlog://10.2.54.2`.
fn live_scheme(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://").or_else(|| text.split_once("+serial:"))?;
    // One letter is a drive: `C://logs/match.wpilog`.
    let fits = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    fits.then(|| scheme.to_owned())
}

/// Below this a file is read at once: mapping costs more.
const SMALL: u64 = 64 << 10;
/// What may be held in memory of what came out of a wrapper, a pipe or a bridge.
const IN_MEMORY: usize = 256 << 20;
/// No more than this is unpacked, whatever it comes from.
const LARGEST: u64 = 64 << 30;
/// Of a pipe nobody knows when it ends.
const LARGEST_PIPE: u64 = 16 << 30;
/// Logs become at most some hundred times as large; zeros, which fill disks, become a thousand to a hundred thousand times
/// as large.
const RATIO: u64 = 1000;
/// That much is unpacked of any file.
const SMALL_LIMIT: u64 = 1 << 30;
/// What a temporary file leaves free.
const KEEP_FREE: u64 = 200 << 20;
const BUFFER: usize = 256 << 10;
