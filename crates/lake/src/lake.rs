use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_schema::SchemaRef;
use logpose::bridges::{Bound, ColumnRange, FileStatistics};
use object_store::ObjectStore;
use serde_json::Value as Json;

use crate::delta::{DataFile, Table};
use crate::store::Store;
use crate::{Error, rows, schema};

/// Many logs in one place, as tables that any program reads which knows Delta Lake.
///
/// A log is in the lake when its row is in the table `logs`, which is committed last. Every file says by which ingest it
/// was written; files of an ingest that is not in `logs` are left out of every table.
pub struct Lake {
    pub(crate) store: Store,
    logs: Mutex<Table>,
}

/// A log of a lake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogRow {
    /// What the column `log` calls it.
    pub log: String,
    /// BLAKE3 of its bytes, in hexadecimal.
    pub hash: String,
    /// Where it was read.
    pub source: String,
    /// How large the file is.
    pub bytes: u64,
    /// The dialect; none for a log that could not be read.
    pub dialect: Option<String>,
    /// The first and the last time, on the log's own clock.
    pub range_ns: Option<(i64, i64)>,
    /// What to add to a time to get Unix nanoseconds.
    pub epoch_ns: Option<i64>,
    /// How many samples it has.
    pub samples: u64,
    /// How many problems.
    pub problems: u64,
    /// Whether all of it is in the lake.
    pub status: Status,
    /// Why it is not.
    pub reason: Option<String>,
    /// The match, such as `2026casf Q12`.
    pub name_of_match: Option<String>,
    /// What it belongs to: an event, a month.
    pub collection: String,
    /// The team's number.
    pub team: Option<i64>,
    /// What the user said about it.
    pub labels: BTreeMap<String, String>,
    /// What the dialect says about the log as a whole, as JSON.
    pub facts: String,
    /// When the file was last changed, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Who wrote its files.
    pub ingest: String,
}

/// How much of a log is in a lake.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Status {
    /// All of it.
    #[default]
    Whole,
    /// What could be read of a damaged log.
    Damaged,
    /// Nothing: it could not be read, and is not tried again.
    Refused,
}

impl Status {
    const ALL: [Self; 3] = [Self::Whole, Self::Damaged, Self::Refused];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Damaged => "damaged",
            Self::Refused => "refused",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A Parquet file of a table.
#[derive(Clone, Debug)]
pub struct LakeFile {
    /// Its path below the root of the lake.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
    /// How many rows it has, if the table's log tells.
    pub rows: Option<u64>,
    /// What lies in its columns, as far as the table's log tells.
    pub ranges: Vec<ColumnRange>,
}

impl Lake {
    /// The lake at a place.
    pub fn open(place: &str) -> Result<Self, Error> {
        let lake = Self::at(place, false)?;
        if !lake.table_of_logs().exists() {
            let message = format!("{place}: not a lake: it has no table `logs`");
            return Err(Error::new("not-a-lake", message).help("`logpose ingest LAKE PATH…` makes one"));
        }
        Ok(lake)
    }

    /// The lake at a place, made if there is none.
    pub fn create(place: &str) -> Result<Self, Error> {
        Self::at(place, true)
    }

    fn at(place: &str, create: bool) -> Result<Self, Error> {
        let store = Store::open(place, create)?;
        let logs = Table::open(&store, LOGS)?;
        let layout = logs.configuration(LAYOUT).and_then(|layout| layout.parse::<u32>().ok());
        if logs.exists() && layout.is_none() {
            let message = format!("{place}: the table `logs` was not made by logpose");
            return Err(Error::new("not-a-lake", message).help("name another folder"));
        }
        Ok(Self { store, logs: Mutex::new(logs) })
    }

    /// What the user called it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.store.name()
    }

    /// Whether this version of logpose may change it.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        let logs = self.table_of_logs();
        let layout = logs.configuration(LAYOUT).and_then(|layout| layout.parse::<u32>().ok());
        match layout {
            Some(layout) if layout > THIS_LAYOUT => {
                let message =
                    format!("{}: the lake has layout {layout}, this logpose writes layout {THIS_LAYOUT}", self.name());
                Err(Error::new("newer-lake", message).help("update logpose; reading works"))
            }
            _ => Ok(()),
        }
    }

    /// What reads its files.
    #[must_use]
    pub fn files(&self) -> Arc<dyn ObjectStore> {
        self.store.files()
    }

    /// The names of its tables.
    pub fn tables(&self) -> Result<Vec<String>, Error> {
        self.store.folders()
    }

    /// The columns of a table; none if there is no such table.
    pub fn columns(&self, table: &str) -> Result<Option<SchemaRef>, Error> {
        let table = Table::open(&self.store, table)?;
        if table.exists() { schema::from_delta(table.schema()).map(Some) } else { Ok(None) }
    }

    /// The columns of a table, and the files that hold rows of its logs; none if there is no such table.
    pub fn table(&self, name: &str) -> Result<Option<(SchemaRef, Vec<LakeFile>)>, Error> {
        let table = Table::open(&self.store, name)?;
        if !table.exists() {
            return Ok(None);
        }
        Ok(Some((schema::from_delta(table.schema())?, self.live_files(&table)?)))
    }

    /// The files of a table that hold rows of its logs.
    pub fn files_of(&self, table: &str) -> Result<Vec<LakeFile>, Error> {
        self.live_files(&Table::open(&self.store, table)?)
    }

    fn live_files(&self, table: &Table) -> Result<Vec<LakeFile>, Error> {
        let mut live = self.live();
        if table.files().any(|(_, file)| ingests(file).any(|id| !live.contains(id))) {
            // A log that came after the lake was opened may share files with earlier ones by now.
            self.table_of_logs().refresh(&self.store)?;
            live = self.live();
        }
        let files = table.files().filter(|(_, file)| is_live(file, &live));
        let about = |(path, file): (String, &DataFile)| {
            let known = file.statistics.as_deref().and_then(statistics).unwrap_or_default();
            LakeFile {
                path,
                bytes: file.bytes,
                rows: file.statistics.as_ref().map(|_| known.rows),
                ranges: known.columns,
            }
        };
        Ok(files.map(about).collect())
    }

    /// Its logs, in the order of their names.
    pub fn logs(&self) -> Result<Vec<LogRow>, Error> {
        let paths: Vec<String> = self.table_of_logs().files().map(|(path, _)| path).collect();
        let mut all = Vec::new();
        for (path, bytes) in paths.iter().zip(self.store.get_many(&paths)?) {
            let shown = self.store.shown(path);
            let bytes = bytes.ok_or_else(|| Error::damaged(&shown, "the file is missing"))?;
            rows::read_logs(&bytes, &mut all).map_err(|message| Error::damaged(&shown, message))?;
        }
        all.sort_by(|a: &LogRow, b| a.log.cmp(&b.log));
        Ok(all)
    }

    /// The table `logs`, for who does not ask for another thing of the lake meanwhile.
    pub(crate) fn table_of_logs(&self) -> MutexGuard<'_, Table> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ingests whose logs are in the lake.
    pub(crate) fn live(&self) -> HashSet<String> {
        let logs = self.table_of_logs();
        logs.files().flat_map(|(_, file)| ingests(file).map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// Who wrote the rows of a file.
pub(crate) fn ingests(file: &DataFile) -> impl Iterator<Item = &str> {
    file.tags.get(INGEST).into_iter().flat_map(|ids| ids.split(','))
}

/// Whether the rows of a file belong to logs of the lake. Those of a file that several logs share always do: compaction
/// takes logs of the lake alone, and a log that is to be removed gets files of its own first.
pub(crate) fn is_live(file: &DataFile, live: &HashSet<String>) -> bool {
    is_shared(file) || ingests(file).all(|ingest| live.contains(ingest))
}

/// Whether a file has rows of several logs.
pub(crate) fn is_shared(file: &DataFile) -> bool {
    ingests(file).count() > 1
}

/// How many rows of a file are of each ingest.
pub(crate) fn rows_of(file: &DataFile) -> Vec<(&str, u64)> {
    let rows = || file.statistics.as_deref().and_then(statistics).map_or(0, |known| known.rows);
    match file.tags.get(ROWS) {
        Some(counts) => ingests(file).zip(counts.split(',').map(|count| count.parse().unwrap_or(0))).collect(),
        None => ingests(file).map(|id| (id, rows())).collect(),
    }
}

/// What the log of a table tells about the rows of a file.
pub(crate) fn statistics(text: &str) -> Option<FileStatistics> {
    let json: Json = serde_json::from_str(text).ok()?;
    let part = |key: &str, name: &str| json.get(key)?.get(name);
    let bound = |bound: &Json| match bound {
        Json::String(text) => Some(Bound::Text(text.clone())),
        number => number.as_i64().map(Bound::Integer),
    };
    let nulls = json.get("nullCount").and_then(Json::as_object);
    let columns = nulls.into_iter().flatten().map(|(name, nulls)| {
        let end = |key: &str| part(key, name).and_then(bound);
        ColumnRange {
            name: name.clone(),
            range: end("minValues").zip(end("maxValues")),
            nulls: nulls.as_u64().unwrap_or(0),
        }
    });
    Some(FileStatistics { rows: json.get("numRecords")?.as_u64()?, columns: columns.collect() })
}

impl fmt::Debug for Lake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lake").field("name", &self.store.name()).finish_non_exhaustive()
    }
}

/// The table of logs, which says what is in a lake.
pub(crate) const LOGS: &str = "logs";
/// The tags of files: who wrote them, and the content that they are of.
pub(crate) const INGEST: &str = "logpose.ingest";
pub(crate) const HASH: &str = "logpose.hash";
/// How many rows are of each ingest, in the order of those.
pub(crate) const ROWS: &str = "logpose.rows";
/// The setting of `logs` that says how a lake is laid out.
pub(crate) const LAYOUT: &str = "logpose.layout";
pub(crate) const THIS_LAYOUT: u32 = 1;
