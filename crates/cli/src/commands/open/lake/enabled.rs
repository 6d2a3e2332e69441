use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use logpose::{ErrorKind, Log, OpenOptions};
use logpose_lake::{Lake, LogRow, Status};
use logpose_query::{Error, LakeLogs as Logs};
use logpose_server::LakeLogs;

use crate::commands::lake::complaint;
use crate::failure::Complaint;
use crate::human::{bytes, duration};

/// The lake whose logs the viewer shows.
#[derive(Clone)]
pub(in crate::commands::open) struct Shelf {
    place: PathBuf,
    logs: Arc<Logs>,
    options: OpenOptions,
}

impl Shelf {
    pub(in crate::commands::open) fn open(place: &str, options: OpenOptions) -> Result<Self> {
        let lake = Lake::open(place).map_err(complaint)?;
        let logs = Arc::new(Logs::new(Arc::new(lake)).map_err(told)?);
        Ok(Self { place: place.into(), logs, options })
    }

    /// What stands for the path of a log.
    pub(in crate::commands::open) fn path(&self, name: &Path) -> PathBuf {
        self.place.join(name)
    }

    /// Takes a log out, by what stands for its path.
    pub(in crate::commands::open) fn take(&self, path: &Path) -> Result<Log> {
        let name = path.strip_prefix(&self.place).unwrap_or(path);
        self.logs.open(&name.to_string_lossy(), path, &self.options).map_err(told)
    }
}

fn told(error: Error) -> anyhow::Error {
    Complaint::failed(error.code, error.message).help_if(error.help.as_deref()).into()
}

/// A few words on a log.
fn about(row: &LogRow) -> String {
    let length = row.range_ns.map(|(first, last)| duration(last.saturating_sub(first)));
    let parts = [row.name_of_match.clone(), Some(row.collection.clone()), length, Some(bytes(row.bytes))];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

impl LakeLogs for Shelf {
    fn list(&self) -> Vec<(String, String)> {
        let rows = self.logs.list().unwrap_or_default();
        let readable = rows.iter().filter(|row| row.status != Status::Refused);
        readable.map(|row| (row.log.clone(), about(row))).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        Self::path(self, Path::new(name))
    }

    fn open(&self, name: &str) -> Result<Log, logpose::Error> {
        let opened = self.logs.open(name, &LakeLogs::path(self, name), &self.options);
        opened.map_err(|error| {
            let told = logpose::Error::new(ErrorKind::Io(std::io::Error::other(error.message)));
            match error.help {
                Some(help) => told.with_help(help),
                None => told,
            }
        })
    }
}
