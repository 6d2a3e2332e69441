use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use logpose_bridges::{Header, Pack};
use logpose_core::{
    ChannelId, ChannelIndex, Columns, FileDialect, Index, Limits, Lookup, Positions, Problems, ReadOptions, Severity,
    Sink, SinkError, Span, Sum, Time,
};

use crate::convert::sink_error;
use crate::formats::{Format, Formats};
use crate::named::NamedChannels;
use crate::sidecar::Sidecar;
use crate::source::{Bytes, Source, Spool};
use crate::timing::{self, Timing};
use crate::{
    Cache, ClockMap, Error, ErrorKind, Filter, ModeSpan, Moment, Order, Progress, Quiet, Schemas, TimeRange, Wrapper,
    folder, merge, pair, range, threads, windows,
};

/// How a log is to be opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The name of the dialect, for bytes that do not show it.
    pub from: Option<String>,
    /// The formats that are looked for.
    pub formats: Formats,
    /// The revision to assume where the file does not state it.
    pub revision: Option<u8>,
    /// How many threads to use; 0 for one per processor.
    pub threads: usize,
    /// Whether to search for readable records behind damage instead of stopping there.
    pub salvage: bool,
    /// What reading may cost.
    pub limits: Limits,
    /// From how many bytes on a log is indexed without the place of every record, which takes four bytes each.
    pub light_from: u64,
    /// How many bytes of memory putting samples in the order of time may take, about; beyond, temporary files are used.
    pub memory: Option<u64>,
    /// How many bytes a compressed or piped file may have unpacked; by default a thousand times what it has packed, at
    /// least 1 GiB and at most 64 GiB, or 16 GiB from a pipe. The disk of the temporary folder keeps 200 MiB free in any case.
    pub unpacked: Option<u64>,
    /// Where what was found is kept for the next time.
    pub cache: Cache,
    /// From how many bytes on it is: a smaller log is read as fast as what is kept of it.
    pub cache_from: u64,
    /// How long a file must have been left alone before anything about it is kept. The clocks of some file systems
    /// tick every two seconds, and a change within a tick goes unseen.
    pub cache_after: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            from: None,
            formats: Formats::default(),
            revision: None,
            threads: 0,
            salvage: false,
            limits: Limits::default(),
            light_from: LIGHT_FROM,
            memory: None,
            unpacked: None,
            cache: Cache::Off,
            cache_from: CACHE_FROM,
            cache_after: CACHE_AFTER,
        }
    }
}

impl OpenOptions {
    /// The options for a dialect: with threads to join and huge pages to ask for.
    #[must_use]
    pub fn read(&self) -> ReadOptions<'static> {
        ReadOptions {
            limits: self.limits,
            threads: threads::count(self.threads),
            join: &threads::join,
            salvage: self.salvage,
            revision: self.revision,
            prepare: threads::prepare,
            ..ReadOptions::default()
        }
    }
}

/// A finished log: its bytes, and what one pass over them found.
pub struct Log {
    /// Where it came from; `-` for standard input.
    pub path: PathBuf,
    companion: Option<PathBuf>,
    /// The channels and where their records are.
    pub index: Index,
    /// What was lost or doubtful.
    pub problems: Problems,
    format: Format,
    dialect: &'static dyn FileDialect,
    formats: Formats,
    source: Source,
    read: ReadOptions<'static>,
    memory: Option<u64>,
    sidecar: Option<Sidecar>,
    from_cache: bool,
    schemas: OnceLock<Arc<Schemas>>,
    timing: OnceLock<Timing>,
    range: OnceLock<Option<TimeRange>>,
    /// The index with positions, where the first one was made without.
    placed: OnceLock<Index>,
}

impl Log {
    /// Opens a file and indexes it, with the default options. [`open_with`](Self::open_with) takes others.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path.as_ref(), &OpenOptions::default(), &Quiet)
    }

    /// Opens a file, or standard input for `-`, and indexes it.
    ///
    /// The dialect is known by the first bytes; the name only breaks ties.
    pub fn open_with(path: &Path, options: &OpenOptions, progress: &dyn Progress) -> Result<Self, Error> {
        let files = if path.is_dir() { folder::parquet_files(path) } else { Vec::new() };
        if files.is_empty() {
            return Self::new(path, Source::open(path, options.unpacked, progress)?, options, progress, true);
        }
        let mut problems = Problems::default();
        progress.begin("unpacking", 0);
        let source = Source::folder(path, &files, options, &mut problems);
        progress.end();
        let choice = Choice { format: Format::PARQUET, sure: true };
        Self::index(path, source?, &choice, problems, options, progress)
    }

    /// Opens a log as [`open_with`](Self::open_with) does, and a damaged one with
    /// [`salvage`](OpenOptions::salvage): for all that can still be read. Undamaged logs cost nothing extra.
    ///
    /// A file in which no sample can be found is an error.
    pub fn open_recovered(path: &Path, options: &OpenOptions, progress: &dyn Progress) -> Result<Self, Error> {
        let salvage = OpenOptions { salvage: true, ..options.clone() };
        if path.as_os_str() == "-" {
            // Standard input cannot be read twice.
            return Self::open_with(path, &salvage, progress);
        }
        match Self::open_with(path, options, progress) {
            Ok(log) if log.problems.worst() < Some(Severity::Damage) => Ok(log),
            Ok(log) => Ok(match Self::open_with(path, &salvage, progress) {
                Ok(found) if found.index.samples() >= log.index.samples() => found,
                _ => log,
            }),
            Err(error) if matches!(error.kind, ErrorKind::Decode(_) | ErrorKind::UnknownFormat { .. }) => {
                let found = Self::open_with(path, &salvage, progress).ok();
                found.filter(|found| found.index.samples() > 0).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Indexes bytes that are in memory already; `name` stands for the path.
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &OpenOptions) -> Result<Self, Error> {
        let path = Path::new(name);
        Self::new(
            path,
            Source::from_bytes(path, Bytes::Owned(bytes), options.unpacked, &Quiet)?,
            options,
            &Quiet,
            false,
        )
    }

    /// A log of samples that come from elsewhere, which are kept as those of a file that was unpacked: in memory first, in a
    /// nameless file when many. `name` stands for the path. `fill` gives the samples to a sink and returns what is known of
    /// the log besides.
    pub fn unpacked(
        name: &Path,
        options: &OpenOptions,
        fill: impl FnOnce(&mut dyn Sink) -> Result<Header, SinkError>,
    ) -> Result<Self, Error> {
        let mut spool = Spool::new(options.unpacked, None);
        let mut pack = Pack::new(&mut spool);
        let header = fill(&mut pack).map_err(|error| sink_error(error, Some(name)))?;
        let mut problems = Problems::default();
        problems.append(pack.finish(header).map_err(|error| Error::reading(name, error))?);
        let bytes = spool.finish().map_err(|error| Error::reading(name, error))?;
        let file_len = bytes.len() as u64;
        let source = Source { bytes: Arc::new(bytes), file_len, wrapper: None, problem: None, stamp: None };
        let choice = Choice { format: Format::PARQUET, sure: true };
        Self::index(name, source, &choice, problems, options, &Quiet)
    }

    /// A log out of a source; `beside` says whether files beside it may belong to it.
    pub(crate) fn new(
        path: &Path,
        mut source: Source,
        options: &OpenOptions,
        progress: &dyn Progress,
        beside: bool,
    ) -> Result<Self, Error> {
        let choice = choose(path, &source.bytes, options)?;
        let mut problems = Problems::default();
        if let Some(bridge) = choice.format.unpacker() {
            progress.begin("unpacking", source.file_len);
            let unpacked = source.unpack(path, bridge, options, &mut problems);
            progress.end();
            unpacked?;
        }
        let mut companion = None;
        if beside && pair::has_pairs(choice.format) {
            companion = pair::join(path, &mut source, options.unpacked, &mut problems, progress)?;
        }
        let log = Self::index(path, source, &choice, problems, options, progress)?;
        Ok(Self { companion, ..log })
    }

    /// The log whose bytes are there.
    fn index(
        path: &Path,
        mut source: Source,
        choice: &Choice,
        mut problems: Problems,
        options: &OpenOptions,
        progress: &dyn Progress,
    ) -> Result<Self, Error> {
        let format = choice.format;
        let dialect = format.files().ok_or_else(|| Error::decode(path, format.info().no_files()))?;
        let mut read = options.read();
        source.problem.take().into_iter().for_each(|problem| problems.push(problem));
        read.positions = (source.bytes.len() as u64) < options.light_from;
        if source.bytes.is_mapped() && source.bytes.len() as u64 > PASSED_FROM {
            read.passed = threads::pass;
        }
        let sidecar = source.stamp.and_then(|stamp| Sidecar::of(path, &source.bytes, stamp, dialect, options));
        let kept = sidecar.as_ref().and_then(|sidecar| sidecar.read(&source.bytes, dialect, &read));
        let from_cache = kept.is_some();
        let (index, problems) = match kept {
            Some(kept) => kept,
            None => {
                progress.begin("reading", source.bytes.len() as u64);
                let index = dialect.index(&source.bytes, &read, &mut problems);
                progress.end();
                let index = index.map_err(|error| {
                    if choice.sure { Error::decode(path, error) } else { mistaken(path, &source.bytes, dialect) }
                })?;
                sidecar.iter().for_each(|sidecar| sidecar.write(&index, &problems));
                (index, problems)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            companion: None,
            index,
            problems,
            format,
            dialect,
            formats: options.formats.clone(),
            source,
            read,
            memory: options.memory,
            sidecar,
            from_cache,
            schemas: OnceLock::new(),
            timing: OnceLock::new(),
            range: OnceLock::new(),
            placed: OnceLock::new(),
        })
    }

    /// The format it is written in.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The formats that it was opened with.
    pub(crate) fn formats(&self) -> &Formats {
        &self.formats
    }

    /// What reads it.
    #[must_use]
    pub fn dialect(&self) -> &'static dyn FileDialect {
        self.dialect
    }

    /// The file beside it that was opened with it: the other one of a Driver Station's two.
    #[must_use]
    pub fn companion(&self) -> Option<&Path> {
        self.companion.as_deref()
    }

    /// The content, unwrapped.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.source.bytes
    }

    /// Bytes on disk, before unwrapping.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.source.file_len
    }

    /// The compression around it.
    #[must_use]
    pub fn wrapper(&self) -> Option<Wrapper> {
        self.source.wrapper
    }

    /// Whether its index was kept from an earlier time; see [`Cache`].
    #[must_use]
    pub fn from_cache(&self) -> bool {
        self.from_cache
    }

    /// How it is read, for calls of the dialect itself.
    #[must_use]
    pub fn how(&self) -> &ReadOptions<'static> {
        &self.read
    }

    /// The schemas that it brings along for its own values.
    #[must_use]
    pub fn schemas(&self) -> &Schemas {
        self.schemas.get_or_init(|| Arc::new(Schemas::of([self])))
    }

    /// The same, for callers that outlive the log.
    #[must_use]
    pub fn shared_schemas(&self) -> Arc<Schemas> {
        Arc::clone(self.schemas.get_or_init(|| Arc::new(Schemas::of([self]))))
    }

    /// The driver station's modes, one after the other; none for logs without a driver station.
    #[must_use]
    pub fn modes(&self) -> &[ModeSpan] {
        &self.timing().modes
    }

    /// What to add to a time of this log to get Unix nanoseconds, if the log states it.
    #[must_use]
    pub fn epoch_ns(&self) -> Option<i64> {
        self.timing().epoch_ns
    }

    fn timing(&self) -> &Timing {
        self.timing.get_or_init(|| Timing::of(&NamedChannels::new(self, &timing::LIKELY)))
    }

    /// Reads modes and wall-clock time from channels that the caller has read anyway, unless they are known already:
    /// of a large log, each set of channels costs a walk over the file.
    #[doc(hidden)]
    pub fn read_timing(&self, channels: &NamedChannels<'_>) {
        self.timing.get_or_init(|| Timing::of(channels));
    }

    /// Gives the samples that a lookup wants to a sink, in the order of time, found through the index. For a few
    /// channels this reads less of the file than [`rows`](Self::rows). Channels are not declared to the sink.
    pub fn rows_by_index(&self, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        merge::run(&[merge::Input::new(self, lookup, &[])], sink)
    }

    /// How many samples of a channel whose times are in order lie before a moment. The index must have positions.
    pub fn samples_before(&self, index: &Index, channel: &ChannelIndex, moment: Time) -> Result<usize, Error> {
        let before = merge::border(self, index, channel, &ClockMap::default(), moment);
        before.map_err(|error| Error::decode(&self.path, error))
    }

    /// Which channels and times are meant, in the words of this log.
    pub fn lookup(&self, filter: &Filter, start: Option<&Moment>, end: Option<&Moment>) -> Result<Lookup, Error> {
        let names = self.index.channels.iter().map(|c| &*c.channel.name);
        let channels = if filter.is_empty() { Vec::new() } else { names.map(|name| filter.accepts(name)).collect() };
        let start = start.map(|moment| moment.as_start(self)).transpose()?;
        let end = end.map(|moment| moment.as_end(self)).transpose()?;
        Ok(Lookup { channels, start, end, ..Lookup::default() })
    }

    /// Gives the samples to a sink. See [`Order`] for what each order costs.
    pub fn rows(&self, order: Order, lookup: &Lookup, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if order == Order::File || self.index.sorted {
            return self.dialect.replay(&self.source.bytes, &self.index, lookup, sink);
        }
        let wanted = (0..).zip(&self.index.channels).filter(|(id, _)| lookup.wants(*id));
        for (id, channel) in wanted {
            sink.channel(id, &channel.channel)?;
        }
        self.rows_by_index(lookup, sink)
    }

    /// Where something about it may be kept.
    #[doc(hidden)]
    pub fn sidecar(&self) -> Option<&Sidecar> {
        self.sidecar.as_ref()
    }

    /// Whether the place of every record is known already.
    pub(crate) fn has_places(&self) -> bool {
        self.index.placed || self.placed.get().is_some()
    }

    /// How much memory the order of time may take.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// The index with the place of every record. A large log is opened without, and they are found when first needed.
    pub fn placed(&self) -> Result<&Index, Error> {
        if self.index.placed {
            return Ok(&self.index);
        }
        if let Some(placed) = self.placed.get() {
            return Ok(placed);
        }
        let read = ReadOptions { positions: true, ..self.read };
        let index = self.dialect.index(&self.source.bytes, &read, &mut Problems::default());
        let index = index.map_err(|error| Error::decode(&self.path, error))?;
        Ok(self.placed.get_or_init(|| {
            self.sidecar.iter().for_each(|sidecar| sidecar.write(&index, &self.problems));
            index
        }))
    }

    /// Some channels as flat buffers, in the order asked for.
    pub fn columns(&self, channels: &[ChannelId]) -> Result<Columns, Error> {
        if !self.index.placed && !channels.is_empty() {
            return self.walked(channels, &Lookup::default());
        }
        let columns = self.dialect.gather(&self.source.bytes, &self.index, channels, self.read.prepare);
        columns.map_err(|error| Error::decode(&self.path, error))
    }

    /// Some channels as flat buffers, in the order asked for, of the times that a lookup wants.
    pub fn columns_within(&self, channels: &[ChannelId], lookup: &Lookup) -> Result<Columns, Error> {
        if lookup.start.is_none() && lookup.end.is_none() {
            return self.columns(channels);
        }
        self.walked(channels, lookup)
    }

    /// Some channels as flat buffers, found by a walk over the whole log.
    fn walked(&self, channels: &[ChannelId], lookup: &Lookup) -> Result<Columns, Error> {
        let mut wanted = vec![false; self.index.channels.len()];
        for id in channels {
            wanted.get_mut(*id as usize).into_iter().for_each(|wanted| *wanted = true);
        }
        let windows = self.windows(WINDOW);
        let mut all: Option<Columns> = None;
        let scan = |number: usize| {
            let within = windows.get(number).copied();
            let columns = self.scan(&Lookup { channels: wanted.clone(), within, ..lookup.clone() });
            within.into_iter().for_each(|within| self.pass(within));
            columns
        };
        windows::in_order(self.read.threads, windows.len(), scan, |columns| {
            match &mut all {
                Some(all) => all.append(columns),
                None => all = Some(columns),
            }
            Ok(())
        })?;
        let mut all = all.unwrap_or_default();
        let found = |id: &ChannelId| {
            let mut column = all.columns.get(*id as usize)?.clone();
            column.sorted = self.index.channels.get(*id as usize)?.sorted;
            Some(column)
        };
        all.columns = channels.iter().filter_map(found).collect();
        Ok(all)
    }

    /// Says that a stretch of the log is not needed for now, so that a large one does not fill the memory.
    pub fn pass(&self, span: Span) {
        let start = usize::try_from(span.start).unwrap_or(usize::MAX);
        let end = usize::try_from(span.end).unwrap_or(usize::MAX).min(self.source.bytes.len());
        (self.read.passed)(self.source.bytes.get(start..end).unwrap_or_default());
    }

    /// Stretches of about `bytes` bytes that can be read on their own, by [`Lookup::within`]; together the whole log.
    #[must_use]
    pub fn windows(&self, bytes: u64) -> Vec<Span> {
        self.dialect.windows(&self.index, bytes)
    }

    /// What is wanted as flat buffers, in one pass over the wanted bytes: one column for each channel of the index,
    /// empty where it is not wanted.
    pub fn scan(&self, lookup: &Lookup) -> Result<Columns, Error> {
        let columns = self.dialect.scan(&self.source.bytes, &self.index, lookup, self.read.prepare);
        columns.map_err(|error| Error::decode(&self.path, error))
    }

    /// How many binary numbers each channel has in what is wanted, and their sums.
    pub fn sums(&self, lookup: &Lookup) -> Result<Vec<Sum>, Error> {
        let sums = self.dialect.sums(&self.source.bytes, &self.index, lookup, self.read.prepare);
        sums.map_err(|error| Error::decode(&self.path, error))
    }

    /// All channels as flat buffers, in one pass on all threads.
    pub fn all_columns(&self) -> Result<Columns, Error> {
        let all: Vec<ChannelId> = (0..).zip(&self.index.channels).map(|(id, _)| id).collect();
        self.walked(&all, &Lookup::default())
    }

    /// The first channel of that name.
    #[must_use]
    pub fn channel(&self, name: &str) -> Option<ChannelId> {
        let place = self.index.channels.iter().position(|c| c.channel.name == name)?;
        ChannelId::try_from(place).ok()
    }

    /// The version of its format, as it says itself.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        let revision = || self.index.fact("revision").map(|revision| format!("R{}", revision.trim_start_matches('R')));
        self.index.fact("version").map(str::to_owned).or_else(revision)
    }

    /// The time of the last sample whose record begins before a byte, if there is one and the places of records are
    /// known: about when something at that byte happened.
    #[must_use]
    pub fn time_before(&self, byte: u64) -> Option<Time> {
        let index = if self.index.placed { &self.index } else { self.placed.get()? };
        let last = |positions: &Positions| {
            let before = positions.partition_point(|at| at < byte).checked_sub(1)?;
            positions.iter_from(before).next()
        };
        let at = index.channels.iter().filter_map(|found| last(&found.positions)).max()?;
        self.times_at(index, &[at])?.first().copied()
    }

    /// When the log says that a channel has ended, as WPILOG does when a publisher closes: each such record's channel
    /// and time.
    #[must_use]
    pub fn ends(&self) -> Vec<(ChannelId, Time)> {
        let lives = self.index.slots.iter().zip(&self.index.lives);
        let (ids, places): (Vec<_>, Vec<_>) =
            lives.filter_map(|(fate, life)| Some((fate.channel()?, life.end?))).unzip();
        ids.into_iter().zip(self.times_at(&self.index, &places).unwrap_or_default()).collect()
    }

    /// When its samples are; none if it has none.
    #[must_use]
    pub fn time_range(&self) -> Option<&TimeRange> {
        self.range.get_or_init(|| range::time_range(self)).as_ref()
    }

    /// From the first to the last moment of [`time_range`](Self::time_range): without the few samples that are far from
    /// all others.
    #[must_use]
    pub fn robust_range(&self) -> Option<(Time, Time)> {
        self.time_range().map(|range| (range.first, range.last))
    }

    /// The times of the records at some places, if they can be read.
    pub(crate) fn times_at(&self, index: &Index, places: &[u64]) -> Option<Vec<Time>> {
        let mut times = Vec::with_capacity(places.len());
        self.dialect.times(&self.source.bytes, index, places, &mut times).ok()?;
        Some(times)
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.dialect.info().name;
        f.debug_struct("Log").field("path", &self.path).field("dialect", &name).finish_non_exhaustive()
    }
}

/// The format of a file, and whether more than its name speaks for it.
struct Choice {
    format: Format,
    sure: bool,
}

/// The format of bytes: what was asked for, what the bytes say, or else what the name says.
fn choose(path: &Path, bytes: &[u8], options: &OpenOptions) -> Result<Choice, Error> {
    if let Some(name) = &options.from {
        return Ok(Choice { format: options.formats.for_reading(name)?, sure: true });
    }
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    if let Some(format) = options.formats.detect(head, path) {
        return Ok(Choice { format, sure: true });
    }
    let named = options.formats.by_extension(path);
    let format = named.ok_or_else(|| Error::unknown_format(path, bytes, &options.formats))?;
    Ok(Choice { format, sure: options.salvage })
}

/// The name promised more than the bytes keep.
fn mistaken(path: &Path, bytes: &[u8], dialect: &dyn FileDialect) -> Error {
    let name = dialect.info().name;
    let help = format!("the extension suggests {name}; if the file is damaged, try `logpose recover --from {name}`");
    Error::unknown_format(path, bytes, &Formats::default()).with_help(help)
}

/// Bytes of a window when all of a log is read for a few of its channels.
const WINDOW: u64 = 32 << 20;
/// Logs from this size on are indexed without positions.
const LIGHT_FROM: u64 = 512 << 20;
/// Below this a log is indexed in a few hundredths of a second.
const CACHE_FROM: u64 = 32 << 20;
const CACHE_AFTER: Duration = Duration::from_secs(2);
/// What lies behind the walk in files of this size is given back to the system.
const PASSED_FROM: u64 = 1 << 30;
/// How much of a file the dialects see when asked whether it is theirs.
const HEAD: usize = 4096;
