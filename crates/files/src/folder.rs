//! A folder with a Parquet file for each channel: written from columns, and opened as one log.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use logpose_bridges::{ChannelFile, FolderLayout, Header};
use logpose_core::{ChannelId, Column, Columns, Lookup};
use logpose_model::{Memory, Shape};

use crate::convert::{Report, sink_error};
use crate::error::USE_FORCE;
use crate::{Error, ErrorKind, Feed, Log, Progress, windows};

/// A folder that is being written. It gets its name when it is whole.
pub(crate) struct NewFolder<'a> {
    path: &'a Path,
    force: bool,
    temporary: tempfile::TempDir,
}

impl<'a> NewFolder<'a> {
    /// Begins a folder; one of that name may be replaced with `force` alone, and only if it holds nothing else than what
    /// a conversion wrote.
    pub(crate) fn new(path: &'a Path, force: bool) -> Result<Self, Error> {
        Error::check_name(path)?;
        match fs::metadata(path) {
            Ok(about) if !about.is_dir() => {
                return Err(Error::new(ErrorKind::Exists).in_file(path).with_help("it is not a folder"));
            }
            Ok(_) if is_empty(path) => {}
            Ok(_) if !force => return Err(Error::new(ErrorKind::Exists).in_file(path).with_help(USE_FORCE)),
            Ok(_) if !holds_only_parquet(path) => {
                let help = "it contains files other than Parquet; choose another folder, or empty it";
                return Err(Error::new(ErrorKind::Exists).in_file(path).with_help(help));
            }
            _ => {}
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let failed = |error| Error::writing(path, error);
        fs::create_dir_all(parent).map_err(failed)?;
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}.");
        builder.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        Ok(Self { path, force, temporary: builder.tempdir_in(parent).map_err(failed)? })
    }

    /// Where its content is before it is kept.
    pub(crate) fn content(&self) -> &Path {
        self.temporary.path()
    }

    /// Gives the folder its name.
    pub(crate) fn keep(self) -> Result<(), Error> {
        let failed = |error| Error::replacing(self.path, error);
        let new = self.temporary.path();
        let old = new.with_extension("old");
        let replaces = self.path.exists();
        if replaces {
            if !self.force && !is_empty(self.path) {
                return Err(Error::new(ErrorKind::Exists).in_file(self.path).with_help(USE_FORCE));
            }
            fs::rename(self.path, &old).map_err(failed)?;
        }
        if let Err(error) = fs::rename(new, self.path) {
            if replaces {
                // The old one gets its name back.
                fs::rename(&old, self.path).map_err(failed)?;
            }
            return Err(failed(error));
        }
        // Until here a failure removes it.
        let _ = self.temporary.keep();
        if replaces { fs::remove_dir_all(&old).map_err(failed) } else { Ok(()) }
    }
}

/// Writes the files of all channels, several at once.
pub(crate) fn write(
    feed: &Feed<'_>,
    layout: FolderLayout,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let header = feed.header();
    let paths = layout.paths(feed.channels());
    let groups = groups(feed);
    let threads = feed.logs().iter().map(|log| log.how().threads).max().unwrap_or(1);
    let mut report = Report { channels: feed.channels().len(), ..Report::default() };
    let mut done = 0;
    let work = |number: usize| {
        let Some(group) = groups.get(number) else { return Ok((Report::default(), 0)) };
        let part = write_group(feed, &header, layout, group, &paths, folder)?;
        Ok((part, group.bytes))
    };
    windows::in_order(threads, groups.len(), work, |(part, bytes): (Report, u64)| {
        report.samples += part.samples;
        report.bytes += part.bytes;
        report.problems.append(part.problems);
        done += bytes;
        progress.at(done);
        Ok::<_, Error>(())
    })?;
    Ok(report)
}

/// Channels that are read together.
#[derive(Default)]
struct Group<'a> {
    channels: Vec<Source<'a>>,
    bytes: u64,
}

/// A channel of the feed, and where its samples are.
struct Source<'a> {
    id: ChannelId,
    parts: Vec<(&'a Log, ChannelId, &'a Lookup)>,
}

/// The channels in groups that are large enough to be worth a walk, and small enough for the memory.
fn groups<'a>(feed: &'a Feed<'_>) -> Vec<Group<'a>> {
    let mut sources: Vec<Source<'a>> =
        (0..).zip(feed.channels()).map(|(id, _)| Source { id, parts: Vec::new() }).collect();
    for wanted in feed.wanted() {
        if let Some(source) = sources.get_mut(wanted.id as usize) {
            source.parts.push((wanted.log, wanted.own, wanted.lookup));
        }
    }
    let size = |source: &Source<'_>| -> u64 {
        let bytes = |(log, own, _): &(&Log, ChannelId, _)| log.index.channels.get(*own as usize).map_or(0, |c| c.bytes);
        source.parts.iter().map(bytes).sum()
    };
    let total: u64 = sources.iter().map(size).sum();
    let limit = (total / 8).clamp(SMALLEST, LARGEST);
    let mut groups: Vec<Group<'a>> = Vec::new();
    for source in sources {
        let bytes = size(&source);
        match groups.last_mut() {
            Some(group) if group.bytes + bytes <= limit => {
                group.bytes += bytes;
                group.channels.push(source);
            }
            _ => groups.push(Group { bytes, channels: vec![source] }),
        }
    }
    groups
}

fn write_group(
    feed: &Feed<'_>,
    header: &Header,
    layout: FolderLayout,
    group: &Group<'_>,
    paths: &[String],
    folder: &Path,
) -> Result<Report, Error> {
    let (columns, memory) = read_group(feed, group)?.into_parts();
    let memory = Memory::from(memory);
    let mut report = Report::default();
    for (source, column) in group.channels.iter().zip(&columns) {
        let Some(path) = paths.get(source.id as usize) else { continue };
        let path = folder.join(path);
        let failed = |error| Error::writing(&path, error);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
        let out = BufWriter::new(File::create_new(&path).map_err(failed)?);
        let shape = Shape::of(&column.channel, feed.schemas().registry());
        let written = ChannelFile::new(out, layout, header, source.id, &shape).and_then(|mut file| {
            file.write(column, &memory)?;
            file.finish()
        });
        written
            .map_err(|error| sink_error(error, Some(&path)))?
            .into_iter()
            .for_each(|problem| report.problems.push(problem));
        report.samples += column.samples() as u64;
        report.bytes += fs::metadata(&path).map_err(failed)?.len();
    }
    Ok(report)
}

/// The columns of a group, out of all logs; those of several logs are not in the order of time.
fn read_group<'g>(feed: &Feed<'_>, group: &Group<'g>) -> Result<Columns, Error> {
    let mut all: Option<Columns> = None;
    for log in feed.logs().iter().copied() {
        let own = |parts: &[(&Log, ChannelId, &'g Lookup)]| {
            let part = parts.iter().find(|(from, ..)| std::ptr::eq(*from, log));
            part.map(|(_, own, lookup)| (*own, *lookup))
        };
        let parts: Vec<Option<(ChannelId, &Lookup)>> = group.channels.iter().map(|source| own(&source.parts)).collect();
        let Some((_, lookup)) = parts.iter().flatten().next() else { continue };
        let ids: Vec<ChannelId> = parts.iter().flatten().map(|(own, _)| *own).collect();
        let mut columns = log.columns_within(&ids, lookup)?;
        let mut found = std::mem::take(&mut columns.columns).into_iter();
        let in_place = group.channels.iter().zip(&parts).map(|(source, part)| {
            let column = part.and_then(|_| found.next());
            let channel = || feed.channels().get(source.id as usize).cloned().unwrap_or_default();
            column.unwrap_or_else(|| Column { channel: channel(), sorted: true, chunks: Vec::new() })
        });
        columns.columns = in_place.collect();
        match &mut all {
            Some(all) => {
                all.append(columns);
                all.columns.iter_mut().for_each(|column| column.sorted = false);
            }
            None => all = Some(columns),
        }
    }
    Ok(all.unwrap_or_default())
}

/// The Parquet files in a folder and the folders in it, by path; none if there are no such.
pub(crate) fn parquet_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(folder, DEPTH, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // A link could lead in a circle, or out of the folder.
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, found);
        } else if kind.is_file() && is_parquet(&path) && found.len() < MOST_FILES {
            found.push(path);
        }
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Whether all that is in a folder may go when a conversion replaces it.
fn holds_only_parquet(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    entries.all(|entry| {
        entry.is_ok_and(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds_only_parquet(&entry.path()),
            Ok(kind) => kind.is_file() && is_parquet(&entry.path()),
            Err(_) => false,
        })
    })
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

const SMALLEST: u64 = 1 << 20;
const LARGEST: u64 = 64 << 20;
/// Folders within folders that are looked into: hive layouts have one or two.
const DEPTH: usize = 4;
const MOST_FILES: usize = 1 << 16;
