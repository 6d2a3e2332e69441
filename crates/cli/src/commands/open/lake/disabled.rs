use std::path::{Path, PathBuf};

use anyhow::Result;
use logpose::{Log, OpenOptions};
use logpose_server::LakeLogs;

use crate::failure::Complaint;

/// The lake that nobody can open.
#[derive(Clone)]
pub(in crate::commands::open) enum Shelf {}

impl Shelf {
    pub(in crate::commands::open) fn open(_: &str, _: OpenOptions) -> Result<Self> {
        let complaint = Complaint::failed("no-lake", "this logpose was built without lakes or without SQL");
        Err(complaint.help("build with `--features lake,sql`").into())
    }

    pub(in crate::commands::open) fn path(&self, _: &Path) -> PathBuf {
        match *self {}
    }

    pub(in crate::commands::open) fn take(&self, _: &Path) -> Result<Log> {
        match *self {}
    }
}

impl LakeLogs for Shelf {
    fn list(&self) -> Vec<(String, String)> {
        match *self {}
    }

    fn path(&self, _: &str) -> PathBuf {
        match *self {}
    }

    fn open(&self, _: &str) -> Result<Log, logpose::Error> {
        match *self {}
    }
}
