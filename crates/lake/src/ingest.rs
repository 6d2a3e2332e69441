//! Logs into a lake: each once, and either whole or not at all.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use logpose::bridges::{Bound, FileStatistics, LakeWriter};
use logpose::frc::Match;
use logpose::{ErrorKind, Log, OpenOptions, Progress};
use logpose_core::{Channel, Severity};
use serde_json::json;

use crate::delta::{Changes, DataFile, Refused, Table, now_ms};
use crate::lake::{HASH, INGEST, LAYOUT, LOGS, THIS_LAYOUT, ingests};
use crate::store::Store;
use crate::walk::{Source, Sources};
use crate::{Error, Lake, LogRow, Status, hash, rows, samples, schema};

/// What of a log its lake keeps besides the samples: the tables that SQL over the log has.
pub trait Derive {
    /// Gives each table to `take`, with its columns as files have them: plain texts for names, `BIGINT` nanoseconds for
    /// moments. Without a log, all tables that every log has, with no rows.
    fn tables(
        &self,
        log: Option<&Arc<Log>>,
        take: &mut dyn FnMut(DerivedTable<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;
}

/// A table of one log.
pub struct DerivedTable<'t> {
    /// Its name.
    pub name: &'t str,
    /// What it holds, in one sentence.
    pub comment: &'t str,
    /// Its columns.
    pub schema: SchemaRef,
    /// Whether logs may have other columns: those of further logs are added, and where a column has another type the rows
    /// go into a table of their own, `NAME_2`.
    pub grows: bool,
    /// Its rows.
    pub rows: &'t mut dyn Iterator<Item = Result<RecordBatch, Error>>,
}

/// How logs are ingested.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// How they are opened.
    pub open: OpenOptions,
    /// Whether readable records behind damage are ingested too.
    pub salvage: bool,
    /// Whether a log takes the place of an earlier one of the same path.
    pub replace: bool,
    /// Whether to try again what could not be read before.
    pub retry: bool,
    /// What the logs belong to; by default the event of the match, else the month.
    pub collection: Option<String>,
    /// The team's number.
    pub team: Option<i64>,
    /// What else is to be known about them.
    pub labels: BTreeMap<String, String>,
    /// Which part of the files, of how many: the first is 1.
    pub shard: Option<(u64, u64)>,
}

/// What became of a file.
#[derive(Debug)]
pub enum Done {
    /// It is in the lake now; the number of its samples, and whether all of it was readable.
    Added(Box<LogRow>),
    /// Its content was in the lake before, under this name.
    Known(String),
    /// It is no log: nothing is known of it.
    NotALog,
    /// It changed while it was read, and is left for the next time.
    Growing,
    /// The lake has another content of this path.
    Changed(String),
    /// It could not be read: the lake remembers it.
    Refused(Error),
    /// It could not be read for a reason that may pass.
    Failed(Error),
}

/// Ingests files, one after the other, and says what became of each.
pub fn ingest(
    lake: &Lake,
    sources: Sources,
    options: &IngestOptions,
    derive: &dyn Derive,
    progress: &dyn Progress,
    told: &mut dyn FnMut(&Path, Done) -> Result<(), Error>,
) -> Result<(), Error> {
    lake.check_writable()?;
    for (path, error) in sources.failed {
        told(&path, Done::Failed(error))?;
    }
    let mut run = Run::new(lake, options, derive)?;
    run.sweep()?;
    for source in &sources.files {
        if !run.is_mine(&source.path) {
            continue;
        }
        let done = match run.file(source, progress) {
            Ok(done) => done,
            // The lake itself is the trouble: the next file would fail too.
            Err(Failure::Lake(error)) => return Err(error),
            Err(Failure::Log(error)) => Done::Failed(error),
        };
        told(&source.path, done)?;
    }
    run.sweep()
}

/// Ingests files as they come, until `wait` says that it is enough. A file is taken once it has not changed between two
/// looks, and told of once for each content.
pub fn watch(
    lake: &Lake,
    find: &mut dyn FnMut() -> Sources,
    options: &IngestOptions,
    derive: &dyn Derive,
    progress: &dyn Progress,
    told: &mut dyn FnMut(&Path, Done) -> Result<(), Error>,
    wait: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let mut seen: HashMap<PathBuf, (Stamp, bool)> = HashMap::new();
    let mut failed: HashSet<PathBuf> = HashSet::new();
    loop {
        let found = find();
        failed.retain(|path| found.failed.iter().any(|(failed, _)| failed == path));
        let new = found.failed.into_iter().filter(|(path, _)| failed.insert(path.clone())).collect();
        let mut ready = Sources { files: Vec::new(), failed: new };
        let mut now = HashMap::new();
        for source in found.files {
            // What is gone again is of no interest.
            let Ok(stamp) = Stamp::of(&source) else { continue };
            let (is_settled, is_done) = match seen.get(&source.path) {
                Some((before, is_done)) if *before == stamp => (true, *is_done),
                _ => (false, false),
            };
            now.insert(source.path.clone(), (stamp, is_settled));
            if is_settled && !is_done {
                ready.files.push(source);
            }
        }
        seen = now;
        if !ready.files.is_empty() || !ready.failed.is_empty() {
            lake.table_of_logs().refresh(&lake.store)?;
            ingest(lake, ready, options, derive, progress, told)?;
        }
        if !wait() {
            return Ok(());
        }
    }
}

/// Where something failed.
enum Failure {
    Lake(Error),
    Log(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Lake(error)
    }
}

struct Run<'a> {
    lake: &'a Lake,
    options: &'a IngestOptions,
    derive: &'a dyn Derive,
    tables: HashMap<String, Table>,
    /// The logs by their content, and by their place.
    known: HashMap<String, LogRow>,
    places: HashMap<String, String>,
}

/// The files of a log that no table names yet.
#[derive(Default)]
struct Written {
    files: Vec<NewFile>,
}

struct NewFile {
    table: String,
    comment: String,
    schema: SchemaRef,
    /// The path within the table, where there is any row.
    file: Option<(String, DataFile)>,
}

impl<'a> Run<'a> {
    fn new(lake: &'a Lake, options: &'a IngestOptions, derive: &'a dyn Derive) -> Result<Self, Error> {
        let mut run =
            Self { lake, options, derive, tables: HashMap::new(), known: HashMap::new(), places: HashMap::new() };
        lake.logs()?.into_iter().for_each(|row| run.note(row));
        Ok(run)
    }

    fn note(&mut self, row: LogRow) {
        self.places.insert(row.source.clone(), row.hash.clone());
        self.known.insert(row.hash.clone(), row);
    }

    /// Whether a file belongs to the part of the work that this machine does.
    fn is_mine(&self, path: &Path) -> bool {
        let Some((part, of)) = self.options.shard else { return true };
        let hash = blake3::hash(path.to_string_lossy().as_bytes());
        let number = hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        number % of.max(1) + 1 == part
    }

    fn file(&mut self, source: &Source, progress: &dyn Progress) -> Result<Done, Failure> {
        let path = &source.path;
        let failed = |error| Failure::Log(logpose::Error::reading(path, error).into());
        let place = fs::canonicalize(path).map_err(failed)?.display().to_string();
        let before = Stamp::of(source).map_err(failed)?;
        // What has not been touched since it was ingested need not be read again.
        if let Some(row) = self.places.get(&place).and_then(|hash| self.known.get(hash))
            && (row.bytes, row.modified_ms) == (before.bytes, before.modified_ms)
            && !(row.status == Status::Refused && self.options.retry)
        {
            return Ok(Done::Known(row.log.clone()));
        }
        let hash = hash::of(path, source.companion.as_deref()).map_err(Failure::Log)?;
        if let Some(row) = self.known.get(&hash)
            && !(row.status == Status::Refused && self.options.retry)
        {
            return Ok(Done::Known(row.log.clone()));
        }
        // What this log takes the place of: what could not be read before, or another content.
        let refused = self.known.get(&hash);
        let earlier = refused.or_else(|| self.places.get(&place).and_then(|hash| self.known.get(hash))).cloned();
        if let Some(row) = earlier.as_ref().filter(|row| row.hash != hash && !self.options.replace) {
            return Ok(Done::Changed(row.log.clone()));
        }
        let opened = match self.options.salvage {
            true => Log::open_recovered(path, &self.options.open, progress),
            false => Log::open_with(path, &self.options.open, progress),
        };
        let opened = match opened {
            Ok(log) => Ok(Arc::new(log)),
            Err(error) => match error.kind {
                ErrorKind::UnknownFormat { .. } | ErrorKind::Empty if !source.named => return Ok(Done::NotALog),
                // It says what it is, and it will be no better the next time.
                ErrorKind::Decode(_) | ErrorKind::Wrapper { .. } => Err(Error::from(error)),
                _ => return Err(Failure::Log(error.into())),
            },
        };
        let mut row =
            LogRow { hash, source: place, bytes: before.bytes, modified_ms: before.modified_ms, ..LogRow::default() };
        row.log = earlier.as_ref().map_or_else(|| self.free_name(path), |earlier| earlier.log.clone());
        self.describe(&mut row, opened.as_ref());
        loop {
            row.ingest = uuid::Uuid::new_v4().to_string();
            let written = self.write(&mut row, opened.as_ref().ok(), progress)?;
            if Stamp::of(source).ok() != Some(before) {
                self.discard(&written)?;
                return Ok(Done::Growing);
            }
            match self.commit(&row, &written, earlier.as_ref())? {
                Committed::Yes => {
                    if let Some(earlier) = &earlier {
                        self.drop_files(&|file| ingests(file).eq([earlier.ingest.as_str()]), false)?;
                    }
                    break;
                }
                Committed::Known(log) => return Ok(Done::Known(log)),
                // Somebody took the name meanwhile, so the rows need another one.
                Committed::NameTaken => row.log = self.free_name(path),
            }
        }
        self.note(row.clone());
        Ok(match opened {
            Ok(_) => Done::Added(Box::new(row)),
            Err(error) => Done::Refused(error),
        })
    }

    /// What is known of a log before its rows are written.
    fn describe(&self, row: &mut LogRow, opened: Result<&Arc<Log>, &Error>) {
        row.team = self.options.team;
        row.labels.clone_from(&self.options.labels);
        let mut event = None;
        match opened {
            Ok(log) => {
                let damaged = log.problems.worst() == Some(Severity::Damage);
                row.status = if damaged { Status::Damaged } else { Status::Whole };
                row.dialect = Some(log.index.fact("origin").unwrap_or(log.dialect().info().name).to_owned());
                row.samples = log.index.samples();
                row.problems = log.problems.list().len() as u64;
                row.epoch_ns = log.epoch_ns();
                row.range_ns = log.index.range().map(|(first, last)| (first.nanos(), last.nanos()));
                let facts = log.index.facts.iter().map(|fact| json!([fact.key, fact.value]));
                row.facts = serde_json::Value::from_iter(facts).to_string();
                let found = Match::of(log);
                row.name_of_match = found.as_ref().and_then(Match::label);
                event = found.and_then(|found| found.event);
            }
            Err(error) => {
                row.status = Status::Refused;
                row.reason = Some(error.message.clone());
                row.facts = "[]".to_owned();
            }
        }
        let month = || {
            let start =
                row.epoch_ns.zip(row.range_ns).map(|(epoch, (first, _))| epoch.saturating_add(first) / 1_000_000);
            month(start.unwrap_or(row.modified_ms))
        };
        let event = event.map(|event| event.to_lowercase());
        row.collection = self.options.collection.clone().or(event).unwrap_or_else(month);
    }

    /// A name for a log that no other has.
    fn free_name(&self, path: &Path) -> String {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let logs = self.lake.table_of_logs();
        let mut free = name.clone();
        for number in 2.. {
            if !logs.is_taken(&name_key(&free)) {
                break;
            }
            free = format!("{name} ({number})");
        }
        free
    }

    /// Writes the files of a log. Nobody knows of them yet.
    fn write(&self, row: &mut LogRow, log: Option<&Arc<Log>>, progress: &dyn Progress) -> Result<Written, Failure> {
        let mut written = Written::default();
        let done = self.write_into(&mut written, row, log, progress);
        if done.is_err() {
            // What cannot be removed is an orphan, which `clean` removes.
            let _ = self.discard(&written);
        }
        done.map(|()| written)
    }

    fn write_into(
        &self,
        written: &mut Written,
        row: &LogRow,
        log: Option<&Arc<Log>>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        let tags = BTreeMap::from([(INGEST.to_owned(), row.ingest.clone()), (HASH.to_owned(), row.hash.clone())]);
        let mut summaries = Vec::new();
        let mut file = None;
        if let Some(log) = log {
            let bytes = log.index.channels.iter().map(|found| found.bytes).sum();
            progress.begin("ingesting", bytes);
            let mut done = 0;
            let created = self.create("samples", &tags, |out| {
                samples::write(log, &row.log, out, &mut |bytes| {
                    done += bytes;
                    progress.at(done);
                })
            });
            progress.end();
            let (created, found) = created?;
            (file, summaries) = (Some(created), found);
        }
        written.files.push(NewFile {
            table: "samples".to_owned(),
            comment: "a row for each sample, sorted by channel and time".to_owned(),
            schema: samples::schema(),
            file,
        });
        let mut logs: Option<(RecordBatch, String)> = None;
        self.derive
            .tables(log, &mut |table| {
                let mut name = table.name.to_owned();
                let first = loop {
                    match table.rows.next().transpose()? {
                        Some(batch) if batch.num_rows() == 0 => {}
                        first => break first,
                    }
                };
                let mut batches: Vec<RecordBatch> = Vec::new();
                let mut schema = table.schema;
                match table.name {
                    LOGS => {
                        let told = first.unwrap_or_else(|| RecordBatch::new_empty(schema));
                        logs = Some((rows::log_row(&told, row)?, table.comment.to_owned()));
                        return Ok(());
                    }
                    "channels" => {
                        let mut told = vec![first.unwrap_or_else(|| RecordBatch::new_empty(schema.clone()))];
                        for more in &mut *table.rows {
                            told.push(more?);
                        }
                        let told = arrow_select::concat::concat_batches(&schema, &told)
                            .map_err(|error| Error::new("internal-error", error.to_string()))?;
                        let channels: Vec<&Channel> =
                            log.iter().flat_map(|log| &log.index.channels).map(|found| &found.channel).collect();
                        let all = rows::channels(&told, &channels, &summaries)?;
                        schema = all.schema();
                        batches.extend((all.num_rows() > 0).then_some(all));
                    }
                    _ => batches.extend(first),
                }
                let ids = if table.grows { schema::with_lasting_ids } else { schema::with_ids };
                if table.grows {
                    (name, schema) = grown(&self.lake.store, &name, table.comment, &schema)?;
                }
                let file = match batches.is_empty() {
                    true => None,
                    false => {
                        let rest: &mut dyn Iterator<Item = Result<RecordBatch, Error>> = table.rows;
                        let all = batches.into_iter().map(Ok).chain(rest);
                        let fit = |rows: &RecordBatch| {
                            schema::fitted(rows, &schema).map_err(|message| Error::new("internal-error", message))
                        };
                        let all = all.map(|batch| fit(&batch?));
                        Some(self.create(&name, &tags, |out| write_rows(&schema, &ids(&schema), &row.log, all, out))?.0)
                    }
                };
                written.files.push(NewFile { table: name, comment: table.comment.to_owned(), schema, file });
                Ok(())
            })
            .map_err(Failure::Log)?;
        let Some((row_of_log, comment)) = logs else {
            return Err(Error::new("internal-error", "SQL has no table `logs`").into());
        };
        let schema = row_of_log.schema();
        let rows = std::iter::once(Ok(row_of_log));
        let (file, ()) =
            self.create(LOGS, &tags, |out| write_rows(&schema, &schema::with_ids(&schema), &row.log, rows, out))?;
        written.files.push(NewFile { table: LOGS.to_owned(), comment, schema, file: Some(file) });
        Ok(())
    }

    /// Writes one file of a table.
    fn create<T>(
        &self,
        table: &str,
        tags: &BTreeMap<String, String>,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(FileStatistics, T), Error>,
    ) -> Result<((String, DataFile), T), Error> {
        let name = format!("{}.parquet", uuid::Uuid::new_v4());
        let ((statistics, rest), bytes) = self.lake.store.create(&format!("{table}/{name}"), fill)?;
        let file =
            DataFile { bytes, modified_ms: now_ms(), statistics: Some(to_json(&statistics)), tags: tags.clone() };
        Ok(((name, file), rest))
    }

    /// Removes the files of a log that nobody knows of.
    fn discard(&self, written: &Written) -> Result<(), Error> {
        let paths = written.files.iter().filter_map(|new| Some((&new.table, &new.file.as_ref()?.0)));
        paths.into_iter().try_for_each(|(table, path)| self.lake.store.delete(&format!("{table}/{path}")))
    }

    /// Tells all tables of the files of a log, `logs` last. From then on it is in the lake.
    fn commit(&mut self, row: &LogRow, written: &Written, earlier: Option<&LogRow>) -> Result<Committed, Error> {
        let store = &self.lake.store;
        for new in &written.files {
            if new.table == LOGS {
                continue;
            }
            let table = match self.tables.get_mut(&new.table) {
                Some(table) => table,
                None => {
                    let table = Table::open(store, &new.table)?;
                    self.tables.entry(new.table.clone()).or_insert(table)
                }
            };
            if !table.exists() {
                table.create(store, &schema::to_delta(&schema::with_ids(&new.schema))?, &new.comment, &[])?;
            }
            if let Some(file) = &new.file {
                let changes = Changes { operation: "WRITE", add: vec![file.clone()], ..Changes::default() };
                table.commit(store, &changes).map_err(failed)?;
            }
        }
        let Some(new) = written.files.iter().find(|new| new.table == LOGS) else { return Ok(Committed::Yes) };
        let lake = self.lake;
        if let Some(earlier) = earlier {
            // Its rows may be in files that it shares with others.
            lake.detach(std::slice::from_ref(earlier))?;
        }
        let mut logs = lake.table_of_logs();
        if !logs.exists() {
            let layout = THIS_LAYOUT.to_string();
            logs.create(store, &schema::to_delta(&schema::with_ids(&new.schema))?, &new.comment, &[(LAYOUT, &layout)])?;
        }
        let refused = loop {
            let mut changes = Changes {
                operation: "WRITE",
                add: new.file.iter().cloned().collect(),
                take: vec![hash_key(&row.hash), name_key(&row.log)],
                ..Changes::default()
            };
            let mut rewritten = Vec::new();
            if let Some(earlier) = earlier {
                (rewritten, changes.remove) = lake.rows_without(&logs, &[earlier])?;
                changes.add.extend(rewritten.iter().cloned());
                // It keeps the names that it shares with the earlier one.
                let kept = [hash_key(&earlier.hash), name_key(&earlier.log)];
                changes.release = kept.iter().filter(|name| !changes.take.contains(name)).cloned().collect();
                changes.take.retain(|name| !kept.contains(name));
                changes.take.push(gone_key(&earlier.ingest));
            }
            let refused = match logs.commit(store, &changes) {
                Ok(()) => return Ok(Committed::Yes),
                Err(Refused::Failed(error)) => return Err(error),
                Err(refused) => refused,
            };
            rewritten.iter().try_for_each(|(path, _)| store.delete(&format!("{LOGS}/{path}")))?;
            // Compaction, or the removal of another log, has moved the row of the earlier one.
            if !matches!(refused, Refused::Gone) {
                break refused;
            }
        };
        drop(logs);
        self.undo(row, written)?;
        match refused {
            Refused::Taken(name) if earlier.is_some_and(|earlier| name == gone_key(&earlier.ingest)) => {
                let message = format!("{}: the lake has changed meanwhile", row.source);
                Err(Error::new("conflict", message).help("run the same command again"))
            }
            Refused::Taken(name) if name != hash_key(&row.hash) => Ok(Committed::NameTaken),
            _ => {
                self.lake.logs()?.into_iter().for_each(|row| self.note(row));
                let log = self.known.get(&row.hash).map_or_else(|| row.log.clone(), |row| row.log.clone());
                Ok(Committed::Known(log))
            }
        }
    }

    /// Takes the files of a log out of all tables again.
    fn undo(&mut self, row: &LogRow, written: &Written) -> Result<(), Error> {
        self.drop_files(&|file| ingests(file).eq([row.ingest.as_str()]), true)?;
        self.discard(written)
    }

    /// Takes files of ingests that were killed out of the tables, where another ingest has done their work since.
    fn sweep(&mut self) -> Result<(), Error> {
        for name in self.lake.tables()? {
            if name != LOGS && !self.tables.contains_key(&name) {
                let table = Table::open(&self.lake.store, &name)?;
                self.tables.insert(name, table);
            }
        }
        self.lake.sweep(self.tables.values_mut())
    }

    fn drop_files(&mut self, is_dead: &dyn Fn(&DataFile) -> bool, now: bool) -> Result<(), Error> {
        for table in self.tables.values_mut() {
            table.refresh(&self.lake.store)?;
            self.lake.drop_files(table, is_dead, now)?;
        }
        Ok(())
    }
}

enum Committed {
    Yes,
    /// The content is in the lake already, under this name.
    Known(String),
    NameTaken,
}

/// An append that needs nothing to be so is not refused.
fn failed(refused: Refused) -> Error {
    match refused {
        Refused::Failed(error) => error,
        Refused::Taken(_) | Refused::Gone => Error::new("internal-error", "an append was refused"),
    }
}

/// What tells whether a file has changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Stamp {
    bytes: u64,
    modified_ms: i64,
}

impl Stamp {
    fn of(source: &Source) -> std::io::Result<Self> {
        let mut stamp = Self { bytes: 0, modified_ms: i64::MIN };
        for path in [Some(&source.path), source.companion.as_ref()].into_iter().flatten() {
            let about = fs::metadata(path)?;
            let since = about.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            stamp.bytes += about.len();
            stamp.modified_ms = stamp.modified_ms.max(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        }
        Ok(stamp)
    }
}

/// The table that rows of such columns go into, which has all of them, and its columns.
fn grown(store: &Store, name: &str, comment: &str, columns: &SchemaRef) -> Result<(String, SchemaRef), Error> {
    for number in 1..MOST_VARIANTS {
        let name = if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
        if let Some(columns) = Table::open(store, &name)?.widen(store, columns, comment)? {
            return Ok((name, columns));
        }
    }
    let message = format!("{}: {name} has columns of other types in each of {MOST_VARIANTS} logs", store.name());
    Err(Error::new("too-many-types", message).help("ingest these logs into a lake of their own"))
}

/// Writes rows, with the name of the log in each.
fn write_rows(
    schema: &SchemaRef,
    numbered: &SchemaRef,
    name: &str,
    rows: impl Iterator<Item = Result<RecordBatch, Error>>,
    out: &mut (dyn Write + Send),
) -> Result<(FileStatistics, ()), Error> {
    let mut writer = LakeWriter::new(out, schema, numbered, &ranged(schema))?;
    for batch in rows {
        let batch = batch?;
        let mut columns = batch.columns().to_vec();
        if let (Some(first), Some((0, _))) = (columns.first_mut(), schema.column_with_name("log")) {
            *first = Arc::new(arrow_array::StringArray::from(vec![name; batch.num_rows()]));
        }
        let batch = RecordBatch::try_new(schema.clone(), columns);
        writer.write(&batch.map_err(|error| Error::new("internal-error", error.to_string()))?)?;
    }
    Ok((writer.finish()?, ()))
}

/// The columns of which files say what lies in them.
pub(crate) fn ranged(schema: &SchemaRef) -> Vec<&str> {
    schema.fields().iter().filter(|f| is_ranged(f.name(), f.data_type())).map(|f| f.name().as_str()).collect()
}

/// Whether questions filter by a column: by names and numbers, not by long texts.
fn is_ranged(name: &str, data_type: &DataType) -> bool {
    matches!(data_type, DataType::Int64 | DataType::Int32)
        || matches!(name, "log" | "channel" | "type" | "hash" | "key")
}

/// What a table's log says about the rows of a file.
pub(crate) fn to_json(statistics: &FileStatistics) -> String {
    let bound = |bound: &Bound| match bound {
        Bound::Integer(number) => json!(number),
        Bound::Text(text) => json!(text),
    };
    let ends = |pick: fn(&(Bound, Bound)) -> &Bound| -> serde_json::Map<_, _> {
        let ranges = statistics.columns.iter().filter_map(|c| Some((c.name.clone(), c.range.as_ref()?)));
        ranges.map(|(name, range)| (name, bound(pick(range)))).collect()
    };
    let nulls: serde_json::Map<_, _> = statistics.columns.iter().map(|c| (c.name.clone(), json!(c.nulls))).collect();
    json!({
        "numRecords": statistics.rows, "minValues": ends(|range| &range.0), "maxValues": ends(|range| &range.1),
        "nullCount": nulls,
    })
    .to_string()
}

pub(crate) fn hash_key(hash: &str) -> String {
    format!("{HASHES}{hash}")
}

pub(crate) const HASHES: &str = "log:";

/// What says that the files of an ingest are of no use any more.
pub(crate) fn gone_key(ingest: &str) -> String {
    format!("{GONE}{ingest}")
}

pub(crate) const GONE: &str = "gone:";
/// Tables that the types of one column can make of one.
const MOST_VARIANTS: usize = 100;

pub(crate) fn name_key(name: &str) -> String {
    format!("name:{name}")
}

/// The month of a moment in milliseconds since 1970, such as `2026-03`.
fn month(ms: i64) -> String {
    // Days to a date of the Gregorian calendar, counted in years that begin in March.
    let days = ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (year, month) = if month < 10 { (year + era * 400, month + 3) } else { (year + era * 400 + 1, month - 9) };
    format!("{year:04}-{month:02}")
}

#[cfg(test)]
mod tests {
    use super::month;

    #[test]
    fn months_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01"),
            (951_782_399, "2000-02"),
            (951_868_799, "2000-02"),
            (951_868_800, "2000-03"),
            (1_772_323_199, "2026-02"),
            (1_772_323_200, "2026-03"),
            (1_798_761_599, "2026-12"),
            (-1, "1969-12"),
        ] {
            assert_eq!(month(seconds * 1000), expected, "{seconds}");
        }
    }
}
