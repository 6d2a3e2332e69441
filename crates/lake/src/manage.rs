//! What can be done with a lake besides filling it and asking it.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::ArrowError;
use logpose::bridges::{Header, ParquetWriter, Piece, Writer, read_lake_file, read_lake_rows};
use logpose::{Log, OpenOptions, Quiet};
use logpose_core::{Channel, Sample, Sink};
use logpose_model::long;

use crate::delta::{Changes, DataFile, Refused, Table, now_ms};
use crate::ingest::{GONE, HASHES, gone_key, hash_key, name_key};
use crate::lake::{HASH, LOGS, ingests, is_live, is_shared};
use crate::samples::Original;
use crate::{Error, Lake, LogRow, Status, hash, rows, walk};

/// What a check of a lake found.
#[derive(Clone, Debug, Default)]
pub struct Verified {
    /// How many logs, files of tables and samples there are.
    pub logs: u64,
    /// Files that tables name.
    pub files: u64,
    /// Samples that the logs have.
    pub samples: u64,
    /// What is wrong: the file or table, and a sentence.
    pub faults: Vec<(String, String)>,
    /// Logs that were compared with the files they came from.
    pub compared: u64,
    /// Files that no table names, and their bytes: of ingests that were killed, and of logs that were removed.
    pub orphans: (u64, u64),
}

/// What `clean` removed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cleaned {
    /// How many files.
    pub files: u64,
    /// How large they were.
    pub bytes: u64,
}

impl Lake {
    /// The log of that name.
    pub fn log(&self, name: &str) -> Result<LogRow, Error> {
        let logs = self.logs()?;
        logs.into_iter().find(|row| row.log == name).ok_or_else(|| {
            let error = Error::new("log-not-found", format!("{}: no log is named {name:?}", self.name()));
            error.help(format!("run `logpose lake ls {}` to list its logs", self.name()))
        })
    }

    /// All tables, as they are now.
    pub(crate) fn open_tables(&self) -> Result<Vec<Table>, Error> {
        let names = self.tables()?;
        let tables = names.iter().map(|name| Table::open(&self.store, name));
        Ok(tables.collect::<Result<Vec<_>, _>>()?.into_iter().filter(Table::exists).collect())
    }

    /// Removes logs from all tables. Their files stay on the disk until [`clean`](Self::clean), for questions that are being
    /// answered, unless they are to go `now`.
    pub fn remove(&self, rows: &[LogRow], now: bool) -> Result<(), Error> {
        self.check_writable()?;
        self.detach(rows)?;
        // First from `logs`: from then on no table of logpose shows any of it.
        let leaving: Vec<&LogRow> = rows.iter().collect();
        let mut gone = Vec::new();
        let mut logs = self.table_of_logs();
        loop {
            logs.refresh(&self.store)?;
            let (add, remove) = self.rows_without(&logs, &leaving)?;
            let changes = Changes {
                operation: "DELETE",
                add,
                remove,
                release: rows.iter().flat_map(|row| [hash_key(&row.hash), name_key(&row.log)]).collect(),
                mark: rows.iter().map(|row| gone_key(&row.ingest)).collect(),
                ..Changes::default()
            };
            if changes.remove.is_empty() {
                // Somebody else has removed them.
                break;
            }
            match logs.commit(&self.store, &changes) {
                Ok(()) => {
                    gone.extend(changes.remove.iter().map(|path| format!("{LOGS}/{path}")));
                    break;
                }
                Err(Refused::Failed(error)) => return Err(error),
                Err(Refused::Gone | Refused::Taken(_)) => {
                    changes.add.iter().try_for_each(|(path, _)| self.store.delete(&format!("{LOGS}/{path}")))?;
                }
            }
        }
        drop(logs);
        let is_own = |file: &DataFile| rows.iter().any(|row| ingests(file).eq([row.ingest.as_str()]));
        for mut table in self.open_tables()?.into_iter().filter(|table| table.name() != LOGS) {
            self.drop_files(&mut table, &is_own, false)?;
            // Files that compaction or this removal has replaced may have rows of the logs too.
            gone.extend(table.removed().map(|(path, _)| path));
        }
        if now {
            let gone: HashSet<String> = gone.into_iter().collect();
            let there = self.store.list("")?.into_iter().filter(|file| gone.contains(&file.path));
            there.into_iter().try_for_each(|file| self.store.delete(&file.path))?;
        }
        Ok(())
    }

    /// Finishes what was begun: takes files out of the tables that are of no use any more, because another ingest has done
    /// the work of one that was killed, or because the removal of a log was.
    pub fn finish(&self) -> Result<(), Error> {
        self.sweep(self.open_tables()?.iter_mut())
    }

    pub(crate) fn sweep<'t>(&self, tables: impl Iterator<Item = &'t mut Table>) -> Result<(), Error> {
        let mut tables: Vec<&mut Table> = tables.filter(|table| table.name() != LOGS).collect();
        tables.iter_mut().try_for_each(|table| table.refresh(&self.store))?;
        // After the tables: what they name and `logs` does not name now was not committed to the end.
        self.table_of_logs().refresh(&self.store)?;
        let live = self.live();
        let (mut hashes, mut gone) = (HashSet::new(), HashSet::new());
        {
            let logs = self.table_of_logs();
            for name in logs.taken() {
                hashes.extend(name.strip_prefix(HASHES).map(str::to_owned));
                gone.extend(name.strip_prefix(GONE).map(str::to_owned));
            }
        }
        // Another ingest of the same content may still go on, unless the content is in the lake already.
        let is_dead = |file: &DataFile| {
            let is_done = file.tags.get(HASH).is_some_and(|hash| hashes.contains(hash));
            !is_live(file, &live) && (is_done || ingests(file).any(|id| gone.contains(id)))
        };
        // Queries that began before the removal of a log still read its files, so they stay on the disk until `clean`.
        tables.into_iter().try_for_each(|table| self.drop_files(table, &is_dead, false))
    }

    /// Takes files out of a table, and `now` from the disk too.
    pub(crate) fn drop_files(
        &self,
        table: &mut Table,
        is_dead: &dyn Fn(&DataFile) -> bool,
        now: bool,
    ) -> Result<(), Error> {
        let dead: Vec<String> = table.files().filter(|(_, file)| is_dead(file)).map(|(path, _)| path).collect();
        if dead.is_empty() {
            return Ok(());
        }
        let remove = dead.iter().map(|path| table.own(path).to_owned()).collect();
        commit(table, self, &Changes { operation: "DELETE", remove, ..Changes::default() })?;
        if now { dead.iter().try_for_each(|path| self.store.delete(path)) } else { Ok(()) }
    }

    /// Whether everything is as the tables say. `deep` reads every sample too, compares it with the file it came from if
    /// that is still there and unchanged, and calls `progress` before each log.
    pub fn verify(&self, deep: bool, progress: &mut dyn FnMut(&LogRow)) -> Result<Verified, Error> {
        let mut found = Verified::default();
        let mut present: HashMap<String, u64> =
            self.store.list("")?.into_iter().map(|file| (file.path, file.bytes)).collect();
        let mut rows: HashMap<String, u64> = HashMap::new();
        let tables = self.open_tables()?;
        // After the tables, so that a log that is being added is no fault.
        self.table_of_logs().refresh(&self.store)?;
        let logs = self.logs()?;
        let live = self.live();
        for table in tables {
            for (path, file) in table.files() {
                found.files += 1;
                match present.remove(&path) {
                    Some(bytes) if bytes == file.bytes => {}
                    Some(bytes) => {
                        let message = format!("has {bytes} bytes, the table says {}", file.bytes);
                        found.faults.push((path.clone(), message));
                    }
                    None => found.faults.push((path.clone(), "is missing".to_owned())),
                }
                if !is_live(file, &live) {
                    let message =
                        "is of an ingest that did not end, or of a log that was removed; run `logpose lake clean`";
                    found.faults.push((path.clone(), message.to_owned()));
                }
                if is_shared(file) && ingests(file).any(|id| !live.contains(id)) {
                    let message = "has rows of a log that is not in `logs`";
                    found.faults.push((path.clone(), message.to_owned()));
                }
                if path.starts_with("samples/") {
                    for (id, count) in crate::lake::rows_of(file) {
                        *rows.entry(id.to_owned()).or_default() += count;
                    }
                }
            }
        }
        for (path, bytes) in present {
            if !path.contains("/_delta_log/") {
                found.orphans = (found.orphans.0 + 1, found.orphans.1 + bytes);
            }
        }
        for row in &logs {
            found.logs += 1;
            found.samples += row.samples;
            let there = rows.get(&row.ingest).copied().unwrap_or(0);
            if there != row.samples {
                let message = format!("has {there} samples, `logs` says {}", row.samples);
                found.faults.push((row.log.clone(), message));
            }
            if deep && row.status != Status::Refused {
                progress(row);
                let mut original = match self.original(row) {
                    Ok(original) => original,
                    Err(message) => {
                        found.faults.push((row.log.clone(), message));
                        None
                    }
                };
                found.compared += u64::from(original.is_some());
                let mut count = 0;
                let read = self.rows_of("samples", row, &mut |_, batch| {
                    count += batch.num_rows() as u64;
                    original.as_mut().map_or(Ok(()), |original| original.compare(batch))
                });
                match read {
                    Ok(()) if count == row.samples => {}
                    Ok(()) => found
                        .faults
                        .push((row.log.clone(), format!("{count} samples can be read, not {}", row.samples))),
                    Err(error) => found.faults.push((row.log.clone(), error.message)),
                }
            }
        }
        Ok(found)
    }

    /// Removes files that no table names, and takes out of the tables what ingests left that did not end. What is younger
    /// than `age_ms` may belong to an ingest or to a question of this moment, and stays.
    pub fn clean(&self, age_ms: i64, dry: bool) -> Result<Cleaned, Error> {
        self.check_writable()?;
        let live = self.live();
        let oldest = now_ms().saturating_sub(age_ms);
        let mut named = HashSet::new();
        let mut dead = HashSet::new();
        let mut removed: HashMap<String, i64> = HashMap::new();
        for mut table in self.open_tables()? {
            let is_dead = |file: &DataFile| !is_live(file, &live) && file.modified_ms <= oldest;
            let paths: Vec<String> = table.files().filter(|(_, file)| is_dead(file)).map(|(path, _)| path).collect();
            if !paths.is_empty() && !dry {
                let remove = paths.iter().map(|path| table.own(path).to_owned()).collect();
                commit(&mut table, self, &Changes { operation: "DELETE", remove, ..Changes::default() })?;
            }
            named.extend(table.files().map(|(path, _)| path));
            removed.extend(table.removed());
            dead.extend(paths);
        }
        let mut cleaned = Cleaned::default();
        for file in self.store.list("")? {
            // A question may still read what was removed or compacted a moment ago.
            let since = removed.get(&file.path).copied().unwrap_or(file.modified_ms).max(file.modified_ms);
            let is_orphan = !named.contains(&file.path) && since <= oldest || dead.contains(&file.path);
            if is_orphan && file.path.ends_with(".parquet") && !file.path.contains("/_delta_log/") {
                if !dry {
                    self.store.delete(&file.path)?;
                }
                cleaned = Cleaned { files: cleaned.files + 1, bytes: cleaned.bytes + file.bytes };
            }
        }
        Ok(cleaned)
    }

    /// Writes a log as a Parquet file that logpose opens as the log it was: channel by channel, each in the order of time.
    pub fn restore(&self, row: &LogRow, out: impl Write + Send) -> Result<u64, Error> {
        if row.status == Status::Refused {
            let reason = row.reason.as_deref().unwrap_or("it could not be read");
            return Err(Error::new("refused", format!("{}: nothing of it is in the lake: {reason}", row.log)));
        }
        let channels = self.channels_of(row)?;
        let facts: Vec<(String, String)> = serde_json::from_str(&row.facts).unwrap_or_default();
        let header = Header {
            origin: row.dialect.clone().unwrap_or_default(),
            facts,
            epoch_ns: row.epoch_ns,
            channels: channels.clone(),
        };
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(channels.iter().map(|channel| &channel.name)));
        let mut writer = ParquetWriter::new(out, header)?;
        let mut piece = writer.piece();
        for (id, channel) in (0..).zip(&channels) {
            piece.channel(id, channel)?;
        }
        let mut count = 0;
        let mut scratch = Vec::new();
        self.rows_of("samples", row, &mut |path, batch| {
            let damaged = |message: &str| Error::damaged(path, message);
            let ids = batch.column_by_name("id").and_then(|ids| ids.as_primitive_opt::<Int32Type>());
            let ids = ids.ok_or_else(|| damaged("no column `id`"))?;
            let batch = keyed(batch, ids.clone(), &names).map_err(|error| damaged(&error.to_string()))?;
            let reader = long::Reader::new(&batch).map_err(|error| damaged(&error.to_string()))?;
            for row in 0..reader.len() {
                let id = reader.channel(row).and_then(|key| u32::try_from(key).ok());
                let channel = id.and_then(|id| channels.get(id as usize));
                let (Some(id), Some(channel)) = (id, channel) else {
                    return Err(damaged(&format!("row {row} is of a channel that its log does not have")));
                };
                let value = reader.value(row, channel.ty(), &mut scratch);
                let value = value.ok_or_else(|| damaged(&format!("row {row} has no value of its channel's type")))?;
                piece.samples(&[Sample { channel: id, time: reader.time(row), value }])?;
                count += 1;
            }
            if piece.size() > PIECE {
                let full = std::mem::replace(&mut piece, writer.piece());
                writer.append(full)?;
            }
            Ok(())
        })?;
        writer.append(piece)?;
        writer.finish()?;
        Ok(count)
    }

    /// The log that a row is of, if its file is there and has not changed.
    fn original(&self, row: &LogRow) -> Result<Option<Original>, String> {
        let path = Path::new(&row.source);
        if !path.is_file() || hash::of(path, walk::companion(path).as_deref()).ok().as_deref() != Some(&*row.hash) {
            return Ok(None);
        }
        let plain = OpenOptions::default();
        let named = OpenOptions { from: row.dialect.clone(), ..OpenOptions::default() };
        let attempts = [
            Log::open_with(path, &plain, &Quiet),
            Log::open_recovered(path, &plain, &Quiet),
            Log::open_with(path, &named, &Quiet),
        ];
        let mut has = None;
        for log in attempts.into_iter().flatten() {
            if log.index.samples() == row.samples {
                return Ok(Some(Original::new(log, &row.log)));
            }
            has.get_or_insert(log.index.samples());
        }
        let has = has.map_or("cannot be read".to_owned(), |count| format!("has {count} samples"));
        Err(format!("{} {has}, `logs` says {}", row.source, row.samples))
    }

    /// The channels of a log, in their order.
    fn channels_of(&self, row: &LogRow) -> Result<Vec<Channel>, Error> {
        let mut channels: Vec<(i32, Channel)> = Vec::new();
        self.rows_of("channels", row, &mut |path, batch| {
            rows::read_channels(batch, &row.log, &mut channels).map_err(|message| Error::damaged(path, message))
        })?;
        channels.sort_by_key(|(id, _)| *id);
        Ok(channels.into_iter().map(|(_, channel)| channel).collect())
    }

    /// Gives the rows of a log in a table to `take`, batch by batch, with the file that they are in.
    fn rows_of(
        &self,
        table: &str,
        row: &LogRow,
        take: &mut dyn FnMut(&str, &RecordBatch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let table = Table::open(&self.store, table)?;
        let mut files: Vec<(String, &DataFile)> =
            table.files().filter(|(_, file)| ingests(file).any(|id| id == row.ingest)).collect();
        // In the order of channels, where each file has a range of them.
        files.sort_by_cached_key(|(_, file)| {
            let known = file.statistics.as_deref().and_then(crate::lake::statistics).unwrap_or_default();
            known.columns.into_iter().find(|column| column.name == "channel").and_then(|column| Some(column.range?.0))
        });
        for (path, file) in files {
            let shown = self.store.shown(&path);
            let bytes = self.store.read(&path)?;
            let damaged = |error| Error::damaged(&shown, error);
            let batches: Box<dyn Iterator<Item = Result<RecordBatch, String>> + '_> = match is_shared(file) {
                true => Box::new(read_lake_rows(&bytes, "log", &row.log).map_err(damaged)?),
                false => Box::new(read_lake_file(&bytes).map_err(damaged)?.1),
            };
            for batch in batches {
                take(&shown, &batch.map_err(|message| Error::damaged(&shown, message))?)?;
            }
        }
        Ok(())
    }
}

/// The rows with the number of the channel as the key of its name.
pub(crate) fn keyed(
    batch: &RecordBatch,
    ids: arrow_array::Int32Array,
    names: &ArrayRef,
) -> Result<RecordBatch, ArrowError> {
    let channels: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::try_new(ids, names.clone())?);
    let schema = long::schema();
    let columns = schema.fields().iter().map(|field| match field.name().as_str() {
        "channel" => Ok(channels.clone()),
        name => match batch.column_by_name(name) {
            // Parts of columns have ids in files.
            Some(column) => cast(column, field.data_type()),
            None => Err(ArrowError::SchemaError(format!("no column `{name}`"))),
        },
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema.clone(), columns)
}

/// Commits; what somebody else has removed already is no failure.
fn commit(table: &mut Table, lake: &Lake, changes: &Changes) -> Result<(), Error> {
    match table.commit(&lake.store, changes) {
        Ok(()) | Err(Refused::Gone | Refused::Taken(_)) => Ok(()),
        Err(Refused::Failed(error)) => Err(error),
    }
}

/// Bytes of samples that become one row group of a restored log.
const PIECE: usize = 16 << 20;
