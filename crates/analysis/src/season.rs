//! The Driver Station's logs of a whole season, each in a few numbers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use logpose_core::{Problem, Severity};
use logpose_dslog::{Half, Header, Summary, summary};

use logpose_files::internal::Source;
use logpose_files::internal::{pair, threads};
use logpose_files::{Error, Quiet};

/// One log of a season.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The `.dslog`, if there is one.
    pub dslog: Option<PathBuf>,
    /// The `.dsevents`, if there is one.
    pub dsevents: Option<PathBuf>,
    /// What is in it.
    pub summary: Summary,
    /// Why nothing of it could be read.
    pub error: Option<String>,
}

impl Entry {
    /// The file that stands for it.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dslog.as_deref().or(self.dsevents.as_deref()).unwrap_or(Path::new(""))
    }
}

/// The logs in some folders and all that is in them, by their starts; those that cannot be read come last. A file that is
/// named is a log with the companion beside it.
pub fn list(folders: &[PathBuf], threads: usize) -> Result<Vec<Entry>, Error> {
    let mut pairs = Pairs::new();
    for folder in folders {
        let about = fs::metadata(folder).map_err(|error| Error::reading(folder, error))?;
        if about.is_dir() {
            search(folder, DEEPEST, &mut pairs).map_err(|error| Error::reading(folder, error))?;
        } else {
            let named = folder.file_name().and_then(|name| pair::split(name.to_str()?));
            let companion = named.and_then(|(_, half)| pair::beside(folder, half.other()));
            companion.into_iter().chain([folder.clone()]).for_each(|path| add(path, &mut pairs));
        }
    }
    let pairs: Vec<[Option<PathBuf>; 2]> = pairs.into_values().collect();
    let read = |at: usize| pairs.get(at).map(|[dslog, dsevents]| entries(dslog.as_deref(), dsevents.as_deref()));
    let mut all: Vec<Entry> =
        threads::map(pairs.len(), threads::count(threads), read).into_iter().flatten().flatten().collect();
    all.sort_by(|a, b| {
        let key = |entry: &Entry| (entry.error.is_some(), entry.summary.start_unix_ns);
        key(a).cmp(&key(b)).then_with(|| a.path().cmp(b.path()))
    });
    Ok(all)
}

/// The files of logs, by their names without extension.
type Pairs = BTreeMap<PathBuf, [Option<PathBuf>; 2]>;

/// Folders within folders that are looked into.
const DEEPEST: usize = 16;

fn search(folder: &Path, deep: usize, pairs: &mut Pairs) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            // One that nobody may look into must not hide the others.
            if deep > 0 {
                let _ = search(&path, deep - 1, pairs);
            }
        } else if kind.is_file() || path.is_file() {
            // Links to folders are not followed: they may lead back.
            add(path, pairs);
        }
    }
    Ok(())
}

fn add(path: PathBuf, pairs: &mut Pairs) {
    let Some((stem, half)) = path.file_name().and_then(|name| pair::split(name.to_str()?)) else { return };
    let [dslog, dsevents] = pairs.entry(path.with_file_name(stem)).or_default();
    let place = if half == Half::Log { dslog } else { dsevents };
    // Of a file and the same one wrapped, the shorter name.
    if place.as_ref().is_none_or(|known| known.as_os_str().len() > path.as_os_str().len()) {
        *place = Some(path);
    }
}

/// A pair as one log, or as two where they are not of one.
fn entries(dslog: Option<&Path>, dsevents: Option<&Path>) -> Vec<Entry> {
    let open = |path: Option<&Path>| path.map(|path| Source::open(path, None, &Quiet)).transpose();
    let (log, events) = match (open(dslog), open(dsevents)) {
        (Ok(log), Ok(events)) => (log, events),
        (log, events) => {
            let alone = |path: Option<&Path>, half, source| path.map(|path| alone(path, half, source));
            return [alone(dslog, Half::Log, log), alone(dsevents, Half::Events, events)]
                .into_iter()
                .flatten()
                .collect();
        }
    };
    if let (Some(log), Some(events), Some(dslog), Some(dsevents)) = (&log, &events, dslog, dsevents)
        && let (Ok(a), Ok(b)) = (Header::of(&log.bytes), Header::of(&events.bytes))
        && !pair::are_one(&a, &b)
    {
        let name = dsevents.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut first = entry(Some(dslog), None, Some(log), None);
        let message = format!("{name} is not opened with it: it starts at {}, this log at {}", b.start, a.start);
        first.summary.problems.push(Problem::general(Severity::Warning, "companion", message));
        return vec![first, entry(None, Some(dsevents), None, Some(events))];
    }
    vec![entry(dslog, dsevents, log.as_ref(), events.as_ref())]
}

/// A file whose companion cannot be opened, or that cannot be opened itself.
fn alone(path: &Path, half: Half, source: Result<Option<Source>, Error>) -> Entry {
    let (dslog, dsevents) = if half == Half::Log { (Some(path), None) } else { (None, Some(path)) };
    match source {
        Ok(source) => {
            let (log, events) = if half == Half::Log { (source.as_ref(), None) } else { (None, source.as_ref()) };
            entry(dslog, dsevents, log, events)
        }
        Err(error) => Entry { error: Some(error.to_string()), ..entry(dslog, dsevents, None, None) },
    }
}

fn entry(dslog: Option<&Path>, dsevents: Option<&Path>, log: Option<&Source>, events: Option<&Source>) -> Entry {
    let mut found = summary(log.map(|source| &**source.bytes), events.map(|source| &**source.bytes));
    for source in [log, events].into_iter().flatten() {
        source.problem.iter().for_each(|problem| found.problems.push(problem.clone()));
    }
    // What one of two files lacks is a problem, what all lack an error.
    let unread = found.records == 0 && found.events == 0;
    let error = found.error.as_ref().map(ToString::to_string);
    if let (Some(error), false) = (&error, unread) {
        found.problems.push(Problem::general(Severity::Damage, "unreadable", error.clone()));
    }
    let [dslog, dsevents] = [dslog, dsevents].map(|path| path.map(Path::to_owned));
    Entry { dslog, dsevents, summary: found, error: error.filter(|_| unread) }
}
