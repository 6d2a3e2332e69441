//! What is kept of an index, so that a large log opens at once the next time.
//!
//! A sidecar is a memory of a file that may be another one by now, so nothing in it is believed before it is checked:
//!
//! | bytes | what |
//! | --- | --- |
//! | 32 | `LPX`, the format, and where the description begins, how long it is, its hash |
//! | … | the positions of each channel, one after the other: how many runs, base and length of each, distances |
//! | rest | the description: the key, then all of the index but the positions, then the problems |
//!
//! Numbers are little-endian. The key says which program indexed which file in which way, and must be the same to the
//! byte. The description is hashed when a log is opened, the positions of a channel when they are first asked for; where
//! they are wrong, the log is indexed again.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::hash::Hasher;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use logpose_core::{
    Channel, ChannelIndex, Cursor, Dialect, Fact, Fate, Index, Life, Mark, Positions, Problem, Problems, Read,
    Severity, Span, Time,
};
use memmap2::Mmap;
use twox_hash::XxHash3_64;

use crate::OpenOptions;
use crate::source::{self, Bytes};

/// Where the indexes of large logs are kept.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Cache {
    /// Nowhere.
    #[default]
    Off,
    /// In a folder, which is kept below 2 GiB.
    Folder(PathBuf),
    /// Beside the log, under its name with `.lpx` behind it.
    Beside,
}

/// The user's folder for indexes: what `LOGPOSE_CACHE` says, or `logpose` in the system's folder for such things.
#[must_use]
pub fn default_cache_folder() -> Option<PathBuf> {
    let told = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = told("LOGPOSE_CACHE") {
        return Some(folder);
    }
    if cfg!(windows) {
        told("LOCALAPPDATA").map(|folder| folder.join("logpose").join("cache"))
    } else if cfg!(target_os = "macos") {
        told("HOME").map(|home| home.join("Library").join("Caches").join("logpose"))
    } else {
        let folder = told("XDG_CACHE_HOME").or_else(|| told("HOME").map(|home| home.join(".cache")));
        folder.map(|folder| folder.join("logpose"))
    }
}

/// What the system says about a file: it is another after every change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stamp {
    len: u64,
    modified: i128,
    /// The last change of any kind, and the file's number; zero where the system does not tell.
    changed: i128,
    inode: u64,
    device: u64,
}

impl Stamp {
    pub(crate) fn of(about: &Metadata) -> Self {
        let modified = about.modified().map_or(0, nanos);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let changed = i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec());
            Self { len: about.len(), modified, changed, inode: about.ino(), device: about.dev() }
        }
        #[cfg(not(unix))]
        Self { len: about.len(), modified, changed: 0, inode: 0, device: 0 }
    }

    /// Whether the file was left alone for so long. Within a tick of the file system's clock, a second change leaves
    /// the stamp as it is.
    fn is_settled(&self, after: Duration) -> bool {
        let last = if self.changed == 0 { self.modified } else { self.changed };
        after.is_zero() || i128::try_from(after.as_nanos()).is_ok_and(|after| nanos(SystemTime::now()) - last >= after)
    }
}

fn nanos(time: SystemTime) -> i128 {
    let positive = |length: Duration| i128::try_from(length.as_nanos()).unwrap_or(i128::MAX);
    time.duration_since(UNIX_EPOCH).map_or_else(|before| -positive(before.duration()), positive)
}

/// The place of what is known of one log.
#[derive(Debug)]
pub(crate) struct Sidecar {
    path: PathBuf,
    /// Whether it lies in a folder of its kind, which must not grow for ever.
    in_folder: bool,
    log: PathBuf,
    stamp: Stamp,
    settled: bool,
    key: Vec<u8>,
}

impl Sidecar {
    /// The sidecar of a log, if it is one that has any.
    pub(crate) fn of(
        log: &Path,
        bytes: &[u8],
        stamp: Stamp,
        dialect: &dyn Dialect,
        options: &OpenOptions,
    ) -> Option<Self> {
        if options.salvage || stamp.len < options.cache_from || stamp.len != bytes.len() as u64 {
            return None;
        }
        let mut how = Vec::new();
        put_text(&mut how, dialect.info().name);
        let limits = options.limits;
        put(&mut how, options.revision.map_or(u64::MAX, u64::from));
        put(&mut how, limits.record_len);
        put(&mut how, limits.channels.into());
        put(&mut how, limits.held_back as u64);
        let path = match &options.cache {
            Cache::Off => return None,
            Cache::Folder(folder) => {
                let log = fs::canonicalize(log).ok()?;
                let mut name = XxHash3_64::new();
                name.write(log.as_os_str().as_encoded_bytes());
                name.write(&how);
                folder.join(format!("{:016x}.{EXTENSION}", name.finish()))
            }
            Cache::Beside => {
                let mut name = log.file_name()?.to_owned();
                name.push(".");
                name.push(EXTENSION);
                log.with_file_name(name)
            }
        };
        let mut key = Vec::new();
        put_text(&mut key, env!("CARGO_PKG_VERSION"));
        key.extend(how);
        put(&mut key, stamp.len);
        key.extend(stamp.modified.to_le_bytes());
        key.extend(stamp.changed.to_le_bytes());
        put(&mut key, stamp.inode);
        put(&mut key, stamp.device);
        put(&mut key, sampled(bytes));
        let in_folder = matches!(options.cache, Cache::Folder(_));
        let settled = stamp.is_settled(options.cache_after);
        Some(Self { path, in_folder, log: log.to_owned(), stamp, settled, key })
    }

    /// What was kept, if it is there, whole, and about this very file.
    pub(crate) fn read(
        &self,
        log: &Arc<Bytes>,
        dialect: &'static dyn Dialect,
        read: &Read<'static>,
    ) -> Option<(Index, Problems)> {
        let file = File::open(&self.path).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let map = Arc::new(source::map(&file).ok()?);
        let (log, sidecar) = (Arc::clone(log), self.path.clone());
        let kept = Arc::new(Kept { map, sidecar, log, dialect, read: *read, again: OnceLock::new() });
        let found = decode(&kept, &self.key).filter(|(index, _)| index.placed || !read.positions)?;
        // The oldest are deleted first, and one that is used is not old.
        let _ = file.set_modified(SystemTime::now());
        Some(found)
    }

    /// Keeps an index. Where that cannot be done, nothing is lost but the time of the next opening.
    pub(crate) fn write(&self, index: &Index, problems: &Problems) {
        // What was found says nothing about a file that is another one by now.
        let same = || fs::metadata(&self.log).is_ok_and(|about| Stamp::of(&about) == self.stamp);
        if !self.settled || !same() || self.try_write(index, problems, same).is_err() {
            return;
        }
        if self.in_folder {
            let _ = self.evict();
        }
    }

    fn try_write(&self, index: &Index, problems: &Problems, same: impl Fn() -> bool) -> io::Result<()> {
        let places: u64 = index.channels.iter().map(|c| c.positions.len() as u64).sum();
        if index.placed && places.saturating_mul(4) > FOLDER / 2 {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        if self.in_folder {
            fs::create_dir_all(folder)?;
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let suffix = format!(".{EXTENSION}");
        let mut file = tempfile::Builder::new().prefix(".").suffix(&suffix).tempfile_in(folder)?;
        encode(&self.key, index, problems, file.as_file_mut())?;
        if same() {
            file.persist(&self.path)?;
        }
        Ok(())
    }

    /// Deletes the oldest of the folder until it is small enough.
    fn evict(&self) -> io::Result<()> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                let about = entry.metadata()?;
                all.push((about.modified()?, about.len(), path));
            }
        }
        all.sort();
        let mut sum: u64 = all.iter().map(|(_, len, _)| len).sum();
        for (_, len, path) in all.iter().filter(|(.., path)| *path != self.path) {
            if sum <= FOLDER {
                break;
            }
            fs::remove_file(path)?;
            sum -= len;
        }
        Ok(())
    }
}

/// A hash of parts of a log: its beginning, its end, and pages all over it.
fn sampled(log: &[u8]) -> u64 {
    let mut hash = XxHash3_64::new();
    let mut add = |start: usize, len: usize| {
        hash.write(log.get(start..start.saturating_add(len).min(log.len())).unwrap_or_default());
    };
    add(0, ENDS);
    add(log.len().saturating_sub(ENDS), ENDS);
    let step = log.len() / PAGES;
    (0..PAGES).for_each(|page| add(page * step, PAGE));
    hash.finish()
}

/// A sidecar in use, and what is needed to do without it.
struct Kept {
    map: Arc<Mmap>,
    sidecar: PathBuf,
    log: Arc<Bytes>,
    dialect: &'static dyn Dialect,
    read: Read<'static>,
    /// The log, indexed again.
    again: OnceLock<Option<Index>>,
}

impl Kept {
    /// The positions of a channel, from the sidecar if they are what was written there.
    fn positions(&self, channel: usize, section: &Section) -> Positions {
        if let Some(found) = self.checked(section) {
            return found;
        }
        let again = self.again.get_or_init(|| {
            let _ = fs::remove_file(&self.sidecar);
            let read = Read { positions: true, ..self.read };
            self.dialect.index(&self.log, &read, &mut Problems::default()).ok()
        });
        let found = again.as_ref().and_then(|index| index.channels.get(channel));
        found.map(|channel| channel.positions.clone()).unwrap_or_default()
    }

    fn checked(&self, section: &Section) -> Option<Positions> {
        let bytes = self.map.get(section.range.clone())?;
        if XxHash3_64::oneshot(bytes) != section.hash {
            return None;
        }
        let mut cur = Cursor::new(bytes, 0);
        let count = number(&mut cur)?;
        let mut directory = Cursor::new(cur.take(count.checked_mul(16)?, "runs").ok()?, 0);
        let mut start = section.range.end - cur.rest().len();
        let (mut runs, mut places) = (Vec::new(), 0);
        while !directory.rest().is_empty() {
            let (base, len) = (number(&mut directory)?, number(&mut directory)?);
            let lows = cur.take(len, "distances").ok()?.as_chunks().0;
            let highest = lows.iter().map(|low| u32::from_le_bytes(*low)).max().unwrap_or(0);
            if len % 4 != 0 || base.checked_add(highest.into())? >= self.log.len() as u64 {
                return None;
            }
            places += lows.len();
            let end = start + usize::try_from(len).ok()?;
            runs.push((base, start..end));
            start = end;
        }
        let whole = cur.rest().is_empty() && places == section.places;
        whole.then(|| Positions::lent(Arc::clone(&self.map) as _, places, runs))
    }
}

/// Where the positions of a channel are.
struct Section {
    range: Range<usize>,
    hash: u64,
    places: usize,
}

fn encode(key: &[u8], index: &Index, problems: &Problems, file: &mut File) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, &mut *file);
    out.write_all(&[0; HEAD])?;
    let mut sections = Vec::with_capacity(index.channels.len());
    let mut end = HEAD as u64;
    for channel in &index.channels {
        let (len, hash) = if index.placed { write_positions(&channel.positions, &mut out)? } else { (0, 0) };
        sections.push((len, hash));
        end += len;
    }
    let description = describe(key, index, problems, &sections);
    out.write_all(&description)?;
    out.flush()?;
    drop(out);
    let mut head = Vec::from(MAGIC);
    put(&mut head, end);
    put(&mut head, description.len() as u64);
    put(&mut head, XxHash3_64::oneshot(&description));
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&head)
}

/// Writes the positions of a channel; returns how many bytes, and their hash.
fn write_positions(positions: &Positions, out: &mut impl Write) -> io::Result<(u64, u64)> {
    // Blocks that follow each other from one base are one run here.
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for (base, lows) in positions.runs() {
        match runs.last_mut() {
            Some((last, len)) if *last == base && *len < LONGEST_RUN => *len += lows.len() as u64,
            _ => runs.push((base, lows.len() as u64)),
        }
    }
    let mut hash = XxHash3_64::new();
    let mut written = 0;
    let mut write = |bytes: &[u8]| {
        hash.write(bytes);
        written += bytes.len() as u64;
        out.write_all(bytes)
    };
    let mut directory = Vec::new();
    put(&mut directory, runs.len() as u64);
    for (base, len) in runs {
        put(&mut directory, base);
        put(&mut directory, len);
    }
    write(&directory)?;
    positions.runs().try_for_each(|(_, lows)| write(lows))?;
    Ok((written, hash.finish()))
}

/// All but the positions.
fn describe(key: &[u8], index: &Index, problems: &Problems, sections: &[(u64, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, key);
    out.extend([u8::from(index.placed), u8::from(index.sorted)]);
    put(&mut out, index.records);
    put(&mut out, index.spans.len() as u64);
    for span in &index.spans {
        put(&mut out, span.start);
        put(&mut out, span.end);
    }
    put(&mut out, index.steps.len() as u64);
    index.steps.iter().for_each(|step| put(&mut out, *step));
    put(&mut out, index.marks.len() as u64);
    for mark in &index.marks {
        put(&mut out, mark.at);
        put_time(&mut out, mark.time);
    }
    put(&mut out, index.lives.len() as u64);
    for life in &index.lives {
        put(&mut out, life.id.into());
        put(&mut out, life.start);
        put_place(&mut out, life.end);
    }
    put(&mut out, index.facts.len() as u64);
    for fact in &index.facts {
        put_text(&mut out, fact.key);
        put_text(&mut out, &fact.value);
    }
    put(&mut out, index.channels.len() as u64);
    for (found, (len, hash)) in index.channels.iter().zip(sections) {
        let Channel { name, type_name, unit, metadata, family } = &found.channel;
        [name, type_name, metadata].into_iter().for_each(|text| put_text(&mut out, text));
        out.push(u8::from(unit.is_some()) | u8::from(family.is_some()) << 1 | u8::from(found.sorted) << 2);
        unit.iter().for_each(|unit| put_text(&mut out, unit));
        family.iter().flat_map(|(table, key)| [table, key]).for_each(|text| put_text(&mut out, text));
        put(&mut out, found.samples);
        put(&mut out, found.bytes);
        put_time(&mut out, found.first);
        put_time(&mut out, found.last);
        put(&mut out, *len);
        put(&mut out, *hash);
    }
    put(&mut out, index.slots.len() as u64);
    for fate in &index.slots {
        let kind = match fate {
            Fate::Started(_) => 0,
            Fate::Late(_) => 1,
            Fate::Ended(_) => 2,
            Fate::Unknown => 3,
        };
        out.push(kind);
        put(&mut out, fate.channel().unwrap_or(0).into());
    }
    put(&mut out, problems.lost_bytes());
    put(&mut out, problems.kinds().len() as u64);
    for (code, severity, count) in problems.kinds() {
        put_text(&mut out, code);
        out.push(*severity as u8);
        put(&mut out, *count);
    }
    put(&mut out, problems.list().len() as u64);
    for problem in problems.list() {
        out.push(problem.severity as u8);
        put_text(&mut out, problem.code);
        put_place(&mut out, problem.at);
        put(&mut out, problem.length);
        put_text(&mut out, &problem.message);
    }
    out
}

/// What a sidecar says, if it is whole and has this key.
fn decode(kept: &Arc<Kept>, key: &[u8]) -> Option<(Index, Problems)> {
    let map: &[u8] = &kept.map;
    let mut cur = Cursor::new(map, 0);
    if cur.take(8, "magic").ok()? != MAGIC {
        return None;
    }
    let (start, len, hash) = (number(&mut cur)?, number(&mut cur)?, number(&mut cur)?);
    let start = usize::try_from(start).ok().filter(|start| *start >= HEAD)?;
    let description = map.get(start..)?;
    if description.len() as u64 != len || XxHash3_64::oneshot(description) != hash {
        return None;
    }
    let mut cur = Cursor::new(description, 0);
    if bytes(&mut cur)? != key {
        return None;
    }
    let size = kept.log.len() as u64;
    let within = |at: u64| (at <= size).then_some(at);
    let (placed, sorted) = (flag(&mut cur)?, flag(&mut cur)?);
    let records = within(number(&mut cur)?)?;
    let mut last = 0;
    let mut ascending = |at: u64| (at >= std::mem::replace(&mut last, at)).then_some(at).and_then(within);
    let spans =
        list(&mut cur, 16, |cur| Some(Span { start: ascending(number(cur)?)?, end: ascending(number(cur)?)? }))?;
    let end = spans.last().map_or(0, |span| span.end);
    let mut last = 0;
    let mut ascending = |at: u64| (at >= std::mem::replace(&mut last, at) && at <= end).then_some(at);
    let steps = list(&mut cur, 8, |cur| ascending(number(cur)?))?;
    let marks = list(&mut cur, 16, |cur| Some(Mark { at: within(number(cur)?)?, time: time(cur)? }))?;
    let lives = list(&mut cur, 24, |cur| {
        Some(Life { id: u32::try_from(number(cur)?).ok()?, start: within(number(cur)?)?, end: place(cur)? })
    })?;
    let facts = list(&mut cur, 16, |cur| Some(Fact { key: word(cur)?, value: text(cur)? }))?;
    let (mut at, mut taken, mut id) = (HEAD, 0_u64, 0);
    let channels = list(&mut cur, 73, |cur| {
        let (name, type_name, metadata) = (text(cur)?, text(cur)?, text(cur)?);
        let flags = cur.u8("flags").ok().filter(|flags| *flags < 8)?;
        let unit = if flags & 1 == 0 { None } else { Some(text(cur)?) };
        let family = if flags & 2 == 0 { None } else { Some((text(cur)?, text(cur)?)) };
        let samples = within(number(cur)?)?;
        let bytes = number(cur)?;
        // Records do not share bytes.
        taken = taken.checked_add(bytes).and_then(within)?;
        let (first, last) = (time(cur)?, time(cur)?);
        let (len, hash) = (number(cur)?, number(cur)?);
        let end = at.checked_add(usize::try_from(len).ok()?).filter(|end| *end <= start)?;
        let section = Section { range: at..end, hash, places: usize::try_from(samples).ok()? };
        let (places, own, kept) = (section.places, id, Arc::clone(kept));
        let positions = match placed {
            true => Positions::later(places, move || kept.positions(own, &section)),
            false => Positions::default(),
        };
        (at, id) = (end, id + 1);
        let channel = Channel { name, type_name, unit, metadata, family };
        Some(ChannelIndex { channel, samples, bytes, first, last, sorted: flags & 4 != 0, positions })
    })?;
    let known = |id: u64| u32::try_from(id).ok().filter(|id| (*id as usize) < channels.len());
    let slots = list(&mut cur, 9, |cur| {
        let (kind, id) = (cur.u8("fate").ok()?, number(cur)?);
        match kind {
            0 => known(id).map(Fate::Started),
            1 => known(id).map(Fate::Late),
            2 => known(id).map(Fate::Ended),
            3 => Some(Fate::Unknown),
            _ => None,
        }
    })?;
    let lost_bytes = number(&mut cur)?;
    let kinds = list(&mut cur, 17, |cur| Some((word(cur)?, severity(cur)?, number(cur)?)))?;
    let all = list(&mut cur, 33, |cur| {
        let (severity, code, at) = (severity(cur)?, word(cur)?, place(cur)?);
        Some(Problem { severity, code, at, length: number(cur)?, message: text(cur)? })
    })?;
    let whole = cur.rest().is_empty() && at == start;
    let index = Index { channels, slots, lives, steps, placed, marks, spans, records, sorted, facts };
    whole.then(|| (index, Problems::from_parts(all, kinds, lost_bytes)))
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

fn put_time(out: &mut Vec<u8>, time: Time) {
    out.extend(time.nanos().to_le_bytes());
}

/// No log is so long that its last place is the largest number.
fn put_place(out: &mut Vec<u8>, at: Option<u64>) {
    put(out, at.unwrap_or(u64::MAX));
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn number(cur: &mut Cursor<'_>) -> Option<u64> {
    cur.array("number").ok().map(|bytes| u64::from_le_bytes(*bytes))
}

fn time(cur: &mut Cursor<'_>) -> Option<Time> {
    number(cur).map(|ns| Time::from_nanos(ns.cast_signed()))
}

fn place(cur: &mut Cursor<'_>) -> Option<Option<u64>> {
    number(cur).map(|at| (at != u64::MAX).then_some(at))
}

fn flag(cur: &mut Cursor<'_>) -> Option<bool> {
    match cur.u8("flag").ok()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn bytes<'a>(cur: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let len = number(cur)?;
    cur.take(len, "bytes").ok()
}

fn text(cur: &mut Cursor<'_>) -> Option<String> {
    str::from_utf8(bytes(cur)?).ok().map(str::to_owned)
}

fn severity(cur: &mut Cursor<'_>) -> Option<Severity> {
    let number = cur.u8("severity").ok()?;
    [Severity::Note, Severity::Warning, Severity::Damage].into_iter().find(|severity| *severity as u8 == number)
}

/// A list whose items take at least `least` bytes each, so that its length cannot be more than a claim.
fn list<T>(cur: &mut Cursor<'_>, least: u64, mut item: impl FnMut(&mut Cursor<'_>) -> Option<T>) -> Option<Vec<T>> {
    let count = number(cur)?;
    if count.checked_mul(least)? > cur.rest().len() as u64 {
        return None;
    }
    (0..count).map(|_| item(cur)).collect()
}

/// A code or a key: a word of the program, one of a few, and the same in all logs. So each is held once and for ever.
fn word(cur: &mut Cursor<'_>) -> Option<&'static str> {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let word = str::from_utf8(bytes(cur)?).ok().filter(|word| word.len() <= LONGEST_WORD)?;
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(word) {
        return Some(known);
    }
    if words.len() == MOST_WORDS {
        return None;
    }
    let new: &'static str = Box::leak(word.into());
    words.insert(new);
    Some(new)
}

/// The last byte is the number of the format. It must grow with every change of it, and whenever the same bytes are
/// indexed in another way.
const MAGIC: [u8; 8] = *b"LPX\0\0\0\0\x01";
const HEAD: usize = 32;
const EXTENSION: &str = "lpx";
/// What a folder may hold.
const FOLDER: u64 = 2 << 30;
/// Bytes that are hashed at each end of a log, and of each page between.
const ENDS: usize = 64 << 10;
const PAGE: usize = 4 << 10;
const PAGES: usize = 64;
const BUFFER: usize = 256 << 10;
const LONGEST_RUN: u64 = 1 << 30;
const LONGEST_WORD: usize = 64;
const MOST_WORDS: usize = 1000;

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use logpose_core::{ChannelId, EncodeOptions, Lookup, Sample, Sink, SinkError, Value};
    use logpose_wpilog::Wpilog;

    use super::*;

    fn log() -> Vec<u8> {
        let mut encoder = Wpilog.encoder(&EncodeOptions::default()).unwrap();
        let mut out = Vec::new();
        encoder.begin(&mut out);
        for (id, name) in (0..).zip(["a", "b"]) {
            encoder.channel(id, &Channel::new(name, "int64"), &mut out).unwrap();
        }
        for i in 0..40 {
            let sample = Sample { channel: i % 2, time: Time::from_millis(50 - i64::from(i)), value: Value::Int64(1) };
            encoder.samples(&[sample], &mut out).unwrap();
        }
        encoder.finish(&mut out);
        out.extend([0x30, 1, 8]);
        out
    }

    struct Nobody;

    impl Sink for Nobody {
        fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
            Ok(())
        }
        fn samples(&mut self, _: &[Sample<'_>]) -> Result<(), SinkError> {
            Ok(())
        }
    }

    /// Everything that an index is used for.
    fn use_it(index: &Index, log: &[u8]) {
        let _ = (index.samples(), index.range(), index.marked_time(7));
        for bytes in [1, 100, u64::MAX] {
            for window in Wpilog.windows(index, bytes) {
                let lookup = Lookup { within: Some(window), ..Lookup::default() };
                Wpilog.scan(log, index, &lookup, |_| {}).unwrap();
                Wpilog.replay(log, index, &lookup, &mut Nobody).unwrap();
                Wpilog.rows(log, index, &lookup, &mut |_| Ok(())).unwrap();
            }
        }
        let all: Vec<ChannelId> = (0..).zip(&index.channels).map(|(id, _)| id).collect();
        Wpilog.gather(log, index, &all, |_| {}).unwrap();
    }

    #[test]
    fn a_sidecar_that_lies_with_the_right_hash_breaks_nothing() {
        let bytes = log();
        let mut problems = Problems::default();
        let index = Wpilog.index(&bytes, &Read::default(), &mut problems).unwrap();
        assert!(!problems.is_empty());
        let mut file = tempfile::tempfile().unwrap();
        encode(b"key", &index, &problems, &mut file).unwrap();
        let mut whole = Vec::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut whole).unwrap();
        let start = u64::from_le_bytes(*whole[8..].first_chunk().unwrap()) as usize;
        let bytes = Arc::new(Bytes::Owned(bytes));
        let lie = |sidecar: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(sidecar).unwrap();
            let (map, log) = (Arc::new(source::map(&file).unwrap()), Arc::clone(&bytes));
            let (read, sidecar) = (Read::default(), PathBuf::new());
            let kept = Kept { map, sidecar, log, dialect: &Wpilog, read, again: OnceLock::new() };
            decode(&Arc::new(kept), b"key").inspect(|(index, _)| use_it(index, &bytes)).is_some()
        };
        assert!(lie(&whole));
        let mut believed = 0;
        for at in 8..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut sidecar = whole.clone();
                sidecar[at] ^= change;
                // The first section begins behind the head; its hash is made right as well where it was changed.
                let section: usize = 8 + 16 + 20 * 4;
                if (HEAD..HEAD + section).contains(&at) {
                    let before = XxHash3_64::oneshot(&whole[HEAD..HEAD + section]).to_le_bytes();
                    let place = sidecar.windows(8).position(|window| window == before).unwrap();
                    let after = XxHash3_64::oneshot(&sidecar[HEAD..HEAD + section]);
                    sidecar[place..place + 8].copy_from_slice(&after.to_le_bytes());
                }
                let hash = XxHash3_64::oneshot(&sidecar[start..]);
                sidecar[24..32].copy_from_slice(&hash.to_le_bytes());
                believed += usize::from(lie(&sidecar));
            }
        }
        assert!(believed > 100, "{believed}");
    }

    #[test]
    fn the_oldest_go_when_the_folder_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, age, len) in [("a.lpx", 30, 1 << 30), ("b.lpx", 20, 1 << 30), ("c.lpx", 10, 1), ("d.txt", 99, 1)] {
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_len(len).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        let stamp = Stamp { len: 0, modified: 0, changed: 0, inode: 0, device: 0 };
        let (log, key) = (PathBuf::new(), Vec::new());
        let sidecar = Sidecar { path: dir.path().join("c.lpx"), in_folder: true, log, stamp, settled: true, key };
        sidecar.evict().unwrap();
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["b.lpx", "c.lpx", "d.txt"]);
    }
}
