//! The files that are to be ingested.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// Files that were named, and those in folders that were named.
#[derive(Debug, Default)]
pub struct Sources {
    /// Each file once, in the order of folders.
    pub files: Vec<Source>,
    /// What was named and cannot be read.
    pub failed: Vec<(PathBuf, Error)>,
}

/// A file that may be a log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// What belongs to it: the `.dsevents` of a `.dslog`.
    pub companion: Option<PathBuf>,
    /// Whether the user named it, and not only a folder that it is in.
    pub named: bool,
}

impl Sources {
    /// What paths name. Folders are searched with all folders in them; hidden files, links to folders and the lake itself
    /// are left out.
    #[must_use]
    pub fn find(paths: &[PathBuf], lake: &str) -> Self {
        let lake = fs::canonicalize(lake).ok();
        let mut found = Self::default();
        let mut seen = HashSet::new();
        for path in paths {
            let mut files = Vec::new();
            let searched = fs::metadata(path).and_then(|about| match about.is_dir() {
                true => search(path, lake.as_deref(), DEEPEST, &mut files).map(|()| true),
                false => Ok(false),
            });
            let is_folder = match searched {
                Ok(is_folder) => is_folder,
                Err(error) => {
                    found.failed.push((path.clone(), logpose::Error::reading(path, error).into()));
                    continue;
                }
            };
            if is_folder {
                files.sort();
            } else {
                files.push(path.clone());
            }
            for file in files {
                if seen.insert(fs::canonicalize(&file).unwrap_or_else(|_| file.clone())) {
                    let companion = companion(&file);
                    found.files.push(Source { path: file, companion, named: !is_folder });
                }
            }
        }
        // The two files of a Driver Station are one log.
        let others: HashSet<PathBuf> = found.files.iter().map(|source| source.path.clone()).collect();
        found.files.retain(|source| {
            let events = source.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("dsevents"));
            !(events && source.companion.as_ref().is_some_and(|log| others.contains(log)))
        });
        found
    }
}

/// The other one of the two files of a Driver Station.
pub(crate) fn companion(file: &Path) -> Option<PathBuf> {
    let beside = |extension: &str, other: &str| {
        let is = file.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        is.then(|| file.with_extension(other)).filter(|other| other.is_file())
    };
    beside("dslog", "dsevents").or_else(|| beside("dsevents", "dslog"))
}

fn search(folder: &Path, lake: Option<&Path>, deep: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if lake.is_some() && fs::canonicalize(folder).ok().as_deref() == lake {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() {
            // One that nobody may look into must not hide the others.
            if deep > 0 {
                let _ = search(&path, lake, deep - 1, found);
            }
        } else if kind.is_file() || path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// Folders within folders that are looked into.
const DEEPEST: usize = 32;
