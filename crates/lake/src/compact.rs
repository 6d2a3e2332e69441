//! Rewriting files of tables: many small ones become few large ones, and logs leave files that they share.
//!
//! A file with rows of several logs names all their ingests, and holds logs of the lake only: compaction takes files of
//! such logs alone, and a log that is to be removed first gets files of its own again ([`Lake::detach`]). The mark
//! `gone:INGEST` in a table keeps compaction from undoing that.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use logpose::Progress;
use logpose::bridges::{FileStatistics, LakeWriter, read_lake_file, read_lake_rows};
use logpose::internal::Bytes;

use crate::delta::{Changes, DataFile, Refused, Table, now_ms};
use crate::ingest::{gone_key, ranged, to_json};
use crate::lake::{HASH, INGEST, LOGS, ROWS, ingests};
use crate::{Error, Lake, LogRow, samples, schema};

/// How a lake is compacted.
#[derive(Clone, Copy, Debug)]
pub struct CompactOptions {
    /// Logs whose samples go into one group of files, at most.
    pub logs: usize,
    /// From this size on a file ends before the next channel, and at twice the size before the next log.
    pub file_bytes: usize,
    /// Only tell what would be done.
    pub dry_run: bool,
}

impl Default for CompactOptions {
    fn default() -> Self {
        Self { logs: 64, file_bytes: 128 << 20, dry_run: false }
    }
}

/// What compaction did to the files of the tables.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Compacted {
    /// Files that were rewritten, and their bytes.
    pub before: (u64, u64),
    /// Files that they became, and their bytes.
    pub after: (u64, u64),
}

/// Files that are rewritten together.
struct Group {
    files: Vec<(String, DataFile)>,
    /// The ingests of their rows.
    ids: Vec<String>,
    bytes: u64,
}

/// New files of a table, which its log does not name yet.
type NewFiles = Vec<(String, DataFile)>;

impl Lake {
    /// Rewrites small files of each table into larger ones. Others may ingest, ask and remove meanwhile.
    pub fn compact(&self, options: &CompactOptions, progress: &dyn Progress) -> Result<Compacted, Error> {
        self.check_writable()?;
        let mut done = Compacted::default();
        for name in self.tables()? {
            let mut table = Table::open(&self.store, &name)?;
            if !table.exists() {
                continue;
            }
            for _ in 0..ATTEMPTS {
                let logs = self.refreshed_logs()?;
                table.refresh(&self.store)?;
                let mut is_over = true;
                for group in groups(&table, &logs, options) {
                    if options.dry_run {
                        done.before = (done.before.0 + group.files.len() as u64, done.before.1 + group.bytes);
                        continue;
                    }
                    match self.compact_group(&mut table, &group, &logs, options, progress)? {
                        Some(files) => {
                            done.before = (done.before.0 + group.files.len() as u64, done.before.1 + group.bytes);
                            let bytes: u64 = files.iter().map(|(_, file)| file.bytes).sum();
                            done.after = (done.after.0 + files.len() as u64, done.after.1 + bytes);
                        }
                        None => is_over = false,
                    }
                }
                if is_over {
                    break;
                }
            }
            if !options.dry_run {
                table.write_checkpoint(&self.store, 1)?;
            }
        }
        Ok(done)
    }

    /// The logs by their ingests, as of now.
    fn refreshed_logs(&self) -> Result<HashMap<String, LogRow>, Error> {
        self.table_of_logs().refresh(&self.store)?;
        Ok(self.logs()?.into_iter().map(|row| (row.ingest.clone(), row)).collect())
    }

    /// Rewrites a group; none if one of its logs was removed, or another compaction was faster.
    fn compact_group(
        &self,
        table: &mut Table,
        group: &Group,
        logs: &HashMap<String, LogRow>,
        options: &CompactOptions,
        progress: &dyn Progress,
    ) -> Result<Option<NewFiles>, Error> {
        let rows: Vec<&LogRow> = group.ids.iter().filter_map(|id| logs.get(id)).collect();
        progress.begin("compacting", group.bytes);
        let written = self.rewrite(table, &group.files, &rows, options.file_bytes, &mut |bytes| progress.at(bytes));
        progress.end();
        let add = match written {
            Ok(add) => add,
            // The files may have been removed, also from the disk, since they were listed.
            Err(error) => {
                table.refresh(&self.store)?;
                let there: HashSet<String> = table.files().map(|(path, _)| path).collect();
                return if group.files.iter().all(|(path, _)| there.contains(path)) { Err(error) } else { Ok(None) };
            }
        };
        let changes = Changes {
            operation: "OPTIMIZE",
            add: add.clone(),
            remove: group.files.iter().map(|(path, _)| table.own(path).to_owned()).collect(),
            untaken: group.ids.iter().map(|id| gone_key(id)).collect(),
            moves_only: true,
            ..Changes::default()
        };
        match table.commit(&self.store, &changes) {
            Ok(()) => Ok(Some(add)),
            Err(Refused::Gone | Refused::Taken(_)) => self.discard(table.name(), &add).map(|()| None),
            Err(Refused::Failed(error)) => Err(error),
        }
    }

    /// Removes files that no table names.
    fn discard(&self, table: &str, files: &[(String, DataFile)]) -> Result<(), Error> {
        files.iter().try_for_each(|(path, _)| self.store.delete(&format!("{table}/{path}")))
    }

    /// Gives logs files of their own in all tables but `logs`, and keeps them out of compaction from then on. All of them
    /// stay in the lake.
    pub(crate) fn detach(&self, leaving: &[LogRow]) -> Result<(), Error> {
        for mut table in self.open_tables()?.into_iter().filter(|table| table.name() != LOGS) {
            loop {
                let is_leaving = |id: &str| leaving.iter().any(|row| row.ingest == id);
                let has_any = table.files().any(|(_, file)| ingests(file).any(is_leaving));
                let marks: Vec<String> = leaving.iter().map(|row| gone_key(&row.ingest)).collect();
                let shared: Vec<(String, DataFile)> = table
                    .files()
                    .filter(|(_, file)| ingests(file).count() > 1 && ingests(file).any(is_leaving))
                    .map(|(path, file)| (path, file.clone()))
                    .collect();
                if !has_any || shared.is_empty() && marks.iter().all(|mark| table.is_taken(mark)) {
                    break;
                }
                let remove = shared.iter().map(|(path, _)| table.own(path).to_owned()).collect();
                let add = match shared.is_empty() {
                    true => Vec::new(),
                    false => self.split(&table, shared, leaving)?,
                };
                let changes = Changes {
                    operation: "OPTIMIZE",
                    add: add.clone(),
                    remove,
                    mark: marks,
                    moves_only: true,
                    ..Changes::default()
                };
                match table.commit(&self.store, &changes) {
                    // Compaction may have been faster than the mark, so this looks once more.
                    Ok(()) => {}
                    Err(Refused::Gone | Refused::Taken(_)) => self.discard(table.name(), &add)?,
                    Err(Refused::Failed(error)) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// The same rows with those of each leaving log in files of their own.
    fn split(&self, table: &Table, shared: Vec<(String, DataFile)>, leaving: &[LogRow]) -> Result<NewFiles, Error> {
        let logs = self.refreshed_logs()?;
        let mut groups: BTreeMap<String, Vec<(String, DataFile)>> = BTreeMap::new();
        for (path, file) in shared {
            groups.entry(file.tags.get(INGEST).cloned().unwrap_or_default()).or_default().push((path, file));
        }
        let mut add = Vec::new();
        for (ids, files) in groups {
            let is_leaving = |id: &str| leaving.iter().any(|row| row.ingest == id);
            let rest: Vec<&LogRow> =
                ids.split(',').filter(|id| !is_leaving(id)).filter_map(|id| logs.get(id)).collect();
            let own = leaving.iter().filter(|row| ids.split(',').any(|id| id == row.ingest)).map(|row| vec![row]);
            let parts = own.chain(std::iter::once(rest)).filter(|rows| !rows.is_empty());
            for rows in parts {
                match self.rewrite(table, &files, &rows, CompactOptions::default().file_bytes, &mut |_| {}) {
                    Ok(files) => add.extend(files),
                    Err(error) => {
                        // What cannot be removed is an orphan, which `clean` removes.
                        let _ = self.discard(table.name(), &add);
                        return Err(error);
                    }
                }
            }
        }
        Ok(add)
    }

    /// What to change in `logs` so that logs are not in it any more.
    pub(crate) fn rows_without(&self, logs: &Table, leaving: &[&LogRow]) -> Result<(NewFiles, Vec<String>), Error> {
        let is_leaving = |id: &str| leaving.iter().any(|row| row.ingest == id);
        let (mut add, mut remove) = (Vec::new(), Vec::new());
        for (path, file) in logs.files().filter(|(_, file)| ingests(file).any(is_leaving)) {
            remove.push(logs.own(&path).to_owned());
            let shown = self.store.shown(&path);
            let bytes = self.store.get(&path)?.ok_or_else(|| Error::damaged(&shown, "the file is missing"))?;
            let mut rows = Vec::new();
            crate::rows::read_logs(&bytes, &mut rows).map_err(|message| Error::damaged(&shown, message))?;
            let rest: Vec<&LogRow> = rows.iter().filter(|row| !is_leaving(&row.ingest)).collect();
            if !rest.is_empty() {
                add.extend(self.rewrite(logs, &[(path, file.clone())], &rest, usize::MAX, &mut |_| {})?);
            }
        }
        Ok((add, remove))
    }

    /// Writes the rows that some logs have in files of a table as new files, in the order of the table.
    fn rewrite(
        &self,
        table: &Table,
        files: &[(String, DataFile)],
        rows: &[&LogRow],
        file_bytes: usize,
        progress: &mut dyn FnMut(u64),
    ) -> Result<NewFiles, Error> {
        let schema = schema::from_delta(table.schema())?;
        let held = files.iter().map(|(path, _)| self.store.read(path)).collect::<Result<Vec<Bytes>, Error>>()?;
        let only = match rows {
            [row] => Some(row.log.as_str()),
            _ => None,
        };
        let mut cursors = Vec::new();
        for ((path, _), bytes) in files.iter().zip(&held) {
            cursors.push(Cursor::open(self.store.shown(path), bytes, only, &schema)?);
        }
        let mut merge = Merge {
            cursors,
            by_channel: table.name() == "samples",
            wanted: rows.iter().enumerate().map(|(place, row)| (row.log.as_str(), place)).collect(),
            counts: vec![0; rows.len()],
            bytes: files.iter().map(|(_, file)| file.bytes).sum(),
            rows: files
                .iter()
                .filter_map(|(_, file)| file.statistics.as_deref().and_then(crate::lake::statistics))
                .map(|known| known.rows)
                .sum(),
            done: 0,
            next: None,
        };
        merge.advance()?;
        let mut written = Vec::new();
        while merge.next.is_some() {
            let path = format!("{}.parquet", uuid::Uuid::new_v4());
            merge.counts.fill(0);
            let created = self.store.create(&format!("{}/{path}", table.name()), |out| {
                merge.fill(table, &schema, file_bytes, out, progress)
            });
            let (statistics, bytes) = match created {
                Ok(created) => created,
                Err(error) => {
                    let _ = self.discard(table.name(), &written);
                    return Err(error);
                }
            };
            let ids: Vec<&str> = rows.iter().map(|row| row.ingest.as_str()).collect();
            let counts: Vec<String> = merge.counts.iter().map(u64::to_string).collect();
            let mut tags = BTreeMap::from([(INGEST.to_owned(), ids.join(",")), (ROWS.to_owned(), counts.join(","))]);
            if let [row] = rows {
                tags.insert(HASH.to_owned(), row.hash.clone());
            }
            let file = DataFile { bytes, modified_ms: now_ms(), statistics: Some(to_json(&statistics)), tags };
            written.push((path, file));
        }
        Ok(written)
    }
}

/// What is worth rewriting: files of logs of one collection. A group joins only with others that are not much smaller, so
/// that each log is rewritten a few times however often compaction runs.
fn groups(table: &Table, logs: &HashMap<String, LogRow>, options: &CompactOptions) -> Vec<Group> {
    let is_samples = table.name() == "samples";
    let most = if is_samples { options.logs } else { options.logs * SMALL_TABLES };
    let full = options.file_bytes as u64;
    let mut units: BTreeMap<&str, Group> = BTreeMap::new();
    for (path, file) in table.files() {
        let is_whole = ingests(file).all(|id| logs.contains_key(id) && !table.is_taken(&gone_key(id)));
        let Some(tag) = file.tags.get(INGEST).filter(|_| is_whole) else { continue };
        let unit = units.entry(tag).or_insert_with(|| Group {
            files: Vec::new(),
            ids: ingests(file).map(str::to_owned).collect(),
            bytes: 0,
        });
        unit.bytes += file.bytes;
        unit.files.push((path, file.clone()));
    }
    let row = |unit: &Group| unit.ids.first().and_then(|id| logs.get(id));
    let mut units: Vec<Group> = units.into_values().collect();
    units.sort_by_cached_key(|unit| {
        let row = row(unit);
        (row.map(|row| row.collection.clone()), unit.ids.len(), row.map(|row| row.log.clone()))
    });
    let mut found: Vec<(Option<&str>, usize, Group)> = Vec::new();
    for unit in units {
        let collection = row(&unit).map(|row| row.collection.as_str());
        match found.last_mut() {
            Some((same, count, group))
                if *same == collection
                    && group.ids.len() + unit.ids.len() <= most
                    && unit.ids.len() <= 2 * group.ids.len()
                    && (is_samples || group.bytes + unit.bytes <= 2 * full) =>
            {
                *count += 1;
                group.bytes += unit.bytes;
                group.ids.extend(unit.ids);
                group.files.extend(unit.files);
            }
            _ => found.push((collection, 1, unit)),
        }
    }
    found.into_iter().filter(|(_, count, _)| *count > 1).map(|(_, _, group)| group).collect()
}

/// The rows of a file, of which those up to `at` are done.
struct Cursor<'f> {
    path: String,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, String>> + 'f>,
    schema: SchemaRef,
    batch: Option<RecordBatch>,
    channels: Option<StringArray>,
    logs: Option<StringArray>,
    at: usize,
}

impl<'f> Cursor<'f> {
    fn open(path: String, bytes: &'f [u8], only: Option<&str>, schema: &SchemaRef) -> Result<Self, Error> {
        let damaged = |error| Error::damaged(&path, error);
        let batches: Box<dyn Iterator<Item = _> + 'f> = match only {
            Some(log) => Box::new(read_lake_rows(bytes, "log", log).map_err(damaged)?),
            None => Box::new(read_lake_file(bytes).map_err(damaged)?.1),
        };
        let schema = schema.clone();
        let mut cursor = Self { path, batches, schema, batch: None, channels: None, logs: None, at: 0 };
        cursor.load()?;
        Ok(cursor)
    }

    /// The next batch that has rows.
    fn load(&mut self) -> Result<(), Error> {
        (self.batch, self.at) = (None, 0);
        for batch in &mut self.batches {
            let batch = batch.and_then(|batch| schema::fitted(&batch, &self.schema));
            let batch = batch.map_err(|message| Error::damaged(&self.path, message))?;
            if batch.num_rows() > 0 {
                let texts = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>().cloned();
                (self.channels, self.logs) = (texts("channel"), texts("log"));
                if self.logs.is_none() {
                    return Err(Error::damaged(&self.path, "no column `log`"));
                }
                self.batch = Some(batch);
                break;
            }
        }
        Ok(())
    }

    /// What the rows of a table are sorted by: the channel and the log of a row.
    fn key(&self, row: usize, by_channel: bool) -> (&str, &str) {
        fn text(texts: Option<&StringArray>, row: usize) -> &str {
            texts.filter(|texts| row < texts.len()).map_or("", |texts| texts.value(row))
        }
        (text(self.channels.as_ref().filter(|_| by_channel), row), text(self.logs.as_ref(), row))
    }
}

/// Rows of one log, and in `samples` of one channel.
struct Run {
    rows: RecordBatch,
    channel: String,
    log: usize,
}

/// Several files in one order.
struct Merge<'f> {
    cursors: Vec<Cursor<'f>>,
    by_channel: bool,
    /// The logs that are wanted, and the place of each.
    wanted: HashMap<&'f str, usize>,
    /// Rows of each log in the file at hand.
    counts: Vec<u64>,
    /// What is read, for the progress.
    bytes: u64,
    rows: u64,
    done: u64,
    next: Option<Run>,
}

impl Merge<'_> {
    /// Finds the run after the one at hand.
    fn advance(&mut self) -> Result<(), Error> {
        self.next = None;
        let by_channel = self.by_channel;
        while self.next.is_none() {
            let open = self.cursors.iter_mut().filter(|cursor| cursor.batch.is_some());
            let first = open.min_by(|a, b| a.key(a.at, by_channel).cmp(&b.key(b.at, by_channel)));
            let Some(cursor) = first else { break };
            let Some(batch) = &cursor.batch else { break };
            let (from, end) = (cursor.at, batch.num_rows());
            let key = cursor.key(from, by_channel);
            let to = (from + 1..end).find(|row| cursor.key(*row, by_channel) != key).unwrap_or(end);
            let rows = batch.slice(from, to - from);
            self.done += rows.num_rows() as u64;
            if let Some(log) = self.wanted.get(key.1) {
                self.next = Some(Run { rows, channel: key.0.to_owned(), log: *log });
            }
            cursor.at = to;
            if to == end {
                cursor.load()?;
            }
        }
        Ok(())
    }

    /// Writes runs until the file is large enough.
    fn fill(
        &mut self,
        table: &Table,
        schema: &SchemaRef,
        file_bytes: usize,
        out: &mut (dyn Write + Send),
        progress: &mut dyn FnMut(u64),
    ) -> Result<FileStatistics, Error> {
        let ranged = if table.name() == "samples" { samples::RANGED.to_vec() } else { ranged(schema) };
        let mut writer = LakeWriter::new(out, schema, &table.with_ids(schema), &ranged)?;
        let mut last: Option<(String, usize)> = None;
        while let Some(run) = self.next.take() {
            if let Some((channel, log)) = &last {
                let is_border = if self.by_channel { *channel != run.channel } else { *log != run.log };
                let size = writer.size();
                let is_full = is_border && size >= file_bytes || *log != run.log && size / 2 >= file_bytes;
                if is_full {
                    self.next = Some(run);
                    break;
                }
                if is_border {
                    writer.border()?;
                }
            }
            writer.write(&run.rows)?;
            if let Some(count) = self.counts.get_mut(run.log) {
                *count += run.rows.num_rows() as u64;
            }
            progress(
                (u128::from(self.bytes) * u128::from(self.done) / u128::from(self.rows.max(1)))
                    .try_into()
                    .unwrap_or(self.bytes),
            );
            last = Some((run.channel, run.log));
            self.advance()?;
        }
        Ok(writer.finish()?)
    }
}

/// How often compaction of a table starts over because of others.
const ATTEMPTS: usize = 8;
/// In tables of few rows a log, groups have so many times as many logs.
const SMALL_TABLES: usize = 8;
