//! A table as Delta Lake keeps it: a log of files, one JSON file a version, which is written only if it does not exist.
//!
//! Written against the protocol (<https://github.com/delta-io/delta/blob/master/PROTOCOL.md>), reader version 1 and
//! writer version 2: adding and removing files, application transactions, checkpoints of one file
//! (`checkpoint.rs`). What a table of somebody else has beyond that is refused with a sentence. ARCHITECTURE.md says why no crate does this.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use logpose_model::widen;
use serde_json::{Map, Value as Json, json};

use crate::store::Store;
use crate::{Error, checkpoint, schema};

/// A table, as of its newest version that was read.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its folder in the lake.
    name: String,
    /// The newest version; none if the table does not exist.
    version: Option<u64>,
    files: BTreeMap<String, DataFile>,
    /// Files that were removed, and when, in milliseconds since 1970.
    removed: BTreeMap<String, i64>,
    /// How often names were taken and released, as application transactions.
    transactions: HashMap<String, i64>,
    /// The columns, as JSON.
    schema: String,
    configuration: BTreeMap<String, String>,
    /// The actions that a checkpoint repeats.
    protocol: Json,
    metadata: Json,
    /// The newest version of which there is a checkpoint.
    checkpoint: Option<u64>,
}

/// A file of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DataFile {
    pub bytes: u64,
    pub modified_ms: i64,
    /// What the writer knows of its columns, as JSON.
    pub statistics: Option<String>,
    pub tags: BTreeMap<String, String>,
}

/// What a commit does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// What is done, for who reads the history: `WRITE`, `DELETE`, `OPTIMIZE`.
    pub operation: &'static str,
    pub add: Vec<(String, DataFile)>,
    /// Files that must still be there.
    pub remove: Vec<String>,
    /// Names that nobody may have taken: of a log's content, and of the log. This commit takes them.
    pub take: Vec<String>,
    /// Names that this commit takes unless somebody has.
    pub mark: Vec<String>,
    /// Names that are free again.
    pub release: Vec<String>,
    /// Names that nobody may have taken, and that this commit does not take either.
    pub untaken: Vec<String>,
    /// Whether rows come or go; compaction only moves them.
    pub moves_only: bool,
}

/// Why a commit was not made.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Somebody else has taken this name.
    Taken(String),
    /// A file that was to be removed is gone.
    Gone,
    Failed(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Table {
    /// The table in a folder of the store, which may not exist yet.
    pub(crate) fn open(store: &Store, name: &str) -> Result<Self, Error> {
        let mut table = Self {
            name: name.to_owned(),
            version: None,
            files: BTreeMap::new(),
            removed: BTreeMap::new(),
            transactions: HashMap::new(),
            schema: String::new(),
            configuration: BTreeMap::new(),
            protocol: Json::Null,
            metadata: Json::Null,
            checkpoint: None,
        };
        table.load(store)?;
        Ok(table)
    }

    /// Reads the newest checkpoint and the versions since.
    fn load(&mut self, store: &Store) -> Result<(), Error> {
        let (mut commits, mut checkpoints) = (BTreeSet::new(), BTreeSet::new());
        for file in store.list(&format!("{}/{LOG}", self.name))? {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            match name.split_once('.') {
                Some((version, "json")) => commits.extend(version.parse::<u64>().ok()),
                Some((version, "checkpoint.parquet")) => checkpoints.extend(version.parse::<u64>().ok()),
                _ => {}
            }
        }
        for version in checkpoints.into_iter().rev() {
            match self.read_checkpoint(store, version) {
                Ok(()) => break,
                // What a checkpoint says is in the versions too, as long as nobody has deleted them.
                Err(_) if (0..=version).all(|version| commits.contains(&version)) => self.forget(),
                Err(error) => return Err(error),
            }
        }
        let first = self.version.map_or(0, |version| version + 1);
        let since: Vec<u64> = commits.range(first..).copied().collect();
        if let Some((missing, _)) = (first..).zip(&since).find(|(expected, version)| expected != *version) {
            let path = store.shown(&self.commit_path(missing));
            return Err(Error::damaged(&path, "this version of the table is missing, and there are later ones"));
        }
        let paths: Vec<String> = since.iter().map(|version| self.commit_path(*version)).collect();
        for (version, bytes) in since.into_iter().zip(store.get_many(&paths)?) {
            let gone = || Error::damaged(&store.shown(&self.commit_path(version)), "the file is missing");
            self.read(store, version, &bytes.ok_or_else(gone)?)?;
        }
        Ok(())
    }

    fn read_checkpoint(&mut self, store: &Store, version: u64) -> Result<(), Error> {
        let path = self.checkpoint_path(version);
        let shown = store.shown(&path);
        let bytes = store.get(&path)?.ok_or_else(|| Error::damaged(&shown, "the file is missing"))?;
        for action in checkpoint::read(&bytes).map_err(|message| Error::damaged(&shown, message))? {
            if let Some((kind, action)) = action.as_object().and_then(|action| action.iter().next()) {
                self.apply(kind, action).map_err(|message| Error::damaged(&shown, message))?;
            }
        }
        (self.version, self.checkpoint) = (Some(version), Some(version));
        Ok(())
    }

    fn forget(&mut self) {
        self.files.clear();
        self.removed.clear();
        self.transactions.clear();
    }

    /// Writes what the table is at its newest version, so that nobody has to read all versions up to it. Does nothing
    /// if fewer than `since` versions came since the last checkpoint.
    pub(crate) fn write_checkpoint(&mut self, store: &Store, since: u64) -> Result<(), Error> {
        let Some(version) = self.version else { return Ok(()) };
        if self.checkpoint.is_some_and(|checkpoint| version - checkpoint < since) || version < since {
            return Ok(());
        }
        let oldest = now_ms().saturating_sub(RETENTION_MS);
        let mut actions = vec![json!({ "protocol": self.protocol }), json!({ "metaData": self.metadata })];
        let transactions: BTreeMap<&String, &i64> = self.transactions.iter().collect();
        actions.extend(
            transactions.into_iter().map(|(name, count)| json!({ "txn": { "appId": name, "version": count } })),
        );
        let removed = self.removed.iter().filter(|(_, when)| **when > oldest);
        actions.extend(removed.map(|(path, when)| {
            json!({ "remove": { "path": escaped(path), "deletionTimestamp": when, "dataChange": false } })
        }));
        actions.extend(self.files.iter().map(|(path, file)| added(path, file, false)));
        let bytes = checkpoint::write(&actions)?;
        let about = json!({
            "version": version, "size": actions.len(), "sizeInBytes": bytes.len(), "numOfAddFiles": self.files.len(),
        });
        // Two who write the same version write the same.
        store.put_new(&self.checkpoint_path(version), bytes)?;
        store.put(&format!("{}/{LOG}/_last_checkpoint", self.name), about.to_string().into_bytes())?;
        self.checkpoint = Some(version);
        Ok(())
    }

    /// When files that are not in the table any more were taken out, in milliseconds since 1970.
    pub(crate) fn removed(&self) -> impl Iterator<Item = (String, i64)> {
        self.removed.iter().map(|(path, when)| (format!("{}/{path}", self.name), *when))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exists(&self) -> bool {
        self.version.is_some()
    }

    pub(crate) fn configuration(&self, key: &str) -> Option<&str> {
        self.configuration.get(key).map(String::as_str)
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// The files that make up the table, with their paths in the lake.
    pub(crate) fn files(&self) -> impl Iterator<Item = (String, &DataFile)> {
        self.files.iter().map(|(path, file)| (format!("{}/{path}", self.name), file))
    }

    /// Whether a name is taken. Each taking and each releasing counts one more.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.transactions.get(name).is_some_and(|count| count % 2 == 1)
    }

    /// All names that are taken.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &str> {
        self.transactions.iter().filter(|(_, count)| *count % 2 == 1).map(|(name, _)| name.as_str())
    }

    /// Reads the versions that were committed meanwhile.
    pub(crate) fn refresh(&mut self, store: &Store) -> Result<(), Error> {
        loop {
            let next = self.version.map_or(0, |version| version + 1);
            let Some(bytes) = store.get(&self.commit_path(next))? else { return Ok(()) };
            self.read(store, next, &bytes)?;
        }
    }

    /// Creates the table, unless somebody has done it meanwhile.
    pub(crate) fn create(
        &mut self,
        store: &Store,
        schema: &str,
        description: &str,
        configuration: &[(&str, &str)],
    ) -> Result<(), Error> {
        let settings: Map<String, Json> =
            configuration.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        let now = now_ms();
        let lines = [
            json!({"commitInfo": {"timestamp": now, "operation": "CREATE TABLE", "engineInfo": ENGINE}}),
            json!({"protocol": {"minReaderVersion": READER, "minWriterVersion": WRITER}}),
            json!({"metaData": {
                "id": uuid::Uuid::new_v4().to_string(), "name": self.name, "description": description,
                "format": {"provider": "parquet", "options": {}}, "schemaString": schema, "partitionColumns": [],
                "configuration": settings, "createdTime": now,
            }}),
        ];
        store.put_new(&self.commit_path(0), to_lines(&lines))?;
        self.refresh(store)
    }

    /// The columns with the ids that the files of this table give them.
    pub(crate) fn with_ids(&self, columns: &Schema) -> SchemaRef {
        let grows = self.configuration.contains_key(GROWS);
        if grows { schema::with_lasting_ids(columns) } else { schema::with_ids(columns) }
    }

    /// Adds the columns that the table does not have yet, or creates it with them; the answer is all its columns. `None` if a
    /// column has another type there.
    pub(crate) fn widen(
        &mut self,
        store: &Store,
        columns: &SchemaRef,
        description: &str,
    ) -> Result<Option<SchemaRef>, Error> {
        if !self.exists() {
            self.create(
                store,
                &schema::to_delta(&schema::with_lasting_ids(columns))?,
                description,
                &[(GROWS, "true")],
            )?;
        }
        loop {
            let known = schema::from_delta(&self.schema)?;
            let mut fields = known.fields().to_vec();
            if !widen(&mut fields, columns.fields()) {
                return Ok(None);
            }
            let all = Arc::new(Schema::new(fields));
            if all.fields().len() == known.fields().len() {
                return Ok(Some(known));
            }
            let mut metadata = self.metadata.clone();
            if let Some(metadata) = metadata.as_object_mut() {
                metadata.insert("schemaString".to_owned(), schema::to_delta(&schema::with_lasting_ids(&all))?.into());
            }
            let lines = [
                json!({"commitInfo": {"timestamp": now_ms(), "operation": "ADD COLUMNS", "engineInfo": ENGINE}}),
                json!({ "metaData": metadata }),
            ];
            let next = self.version.map_or(0, |version| version + 1);
            // Columns may have been added meanwhile, by somebody else too.
            store.put_new(&self.commit_path(next), to_lines(&lines))?;
            self.refresh(store)?;
        }
    }

    /// Commits changes as the next version. Versions of others that came meanwhile are no conflict, unless they have
    /// taken the same name or have removed the same file.
    pub(crate) fn commit(&mut self, store: &Store, changes: &Changes) -> Result<(), Refused> {
        // The newest version that is known may be the newest there is; the store says whether.
        let mut is_new = false;
        loop {
            let taken = changes.take.iter().chain(&changes.untaken).find(|name| self.is_taken(name));
            let gone = changes.remove.iter().any(|path| !self.files.contains_key(path));
            if (taken.is_some() || gone) && !is_new {
                self.refresh(store)?;
                is_new = true;
                continue;
            }
            if let Some(name) = taken {
                return Err(Refused::Taken(name.clone()));
            }
            if gone {
                return Err(Refused::Gone);
            }
            let next = self.version.map_or(0, |version| version + 1);
            let path = self.commit_path(next);
            let bytes = to_lines(&self.actions(changes));
            let is_ours = store.put_new(&path, bytes.clone())?
                // The answer to the first attempt may have been lost on the way.
                || store.get(&path)?.is_some_and(|found| found == bytes);
            if is_ours {
                self.read(store, next, &bytes)?;
                // The commit stands, whatever becomes of the checkpoint.
                let _ = self.write_checkpoint(store, CHECKPOINT_EVERY);
                return Ok(());
            }
            self.refresh(store)?;
            is_new = true;
        }
    }

    /// The part of a path in the lake that names a file in this table.
    pub(crate) fn own<'p>(&self, path: &'p str) -> &'p str {
        path.strip_prefix(self.name.as_str()).map_or(path, |rest| rest.trim_start_matches('/'))
    }

    fn actions(&self, changes: &Changes) -> Vec<Json> {
        let now = now_ms();
        let mut lines = vec![json!({"commitInfo": {
            "timestamp": now, "operation": changes.operation, "operationParameters": {}, "engineInfo": ENGINE,
            "isBlindAppend": changes.remove.is_empty(), "txnId": uuid::Uuid::new_v4().to_string(),
        }})];
        let released = changes.release.iter().filter(|name| self.is_taken(name));
        let marked = changes.mark.iter().filter(|name| !self.is_taken(name));
        for name in changes.take.iter().chain(marked).chain(released) {
            let count = self.transactions.get(name).copied().unwrap_or(0) + 1;
            lines.push(json!({"txn": {"appId": name, "version": count, "lastUpdated": now}}));
        }
        for path in &changes.remove {
            let bytes = self.files.get(path).map_or(0, |file| file.bytes);
            lines.push(json!({"remove": {
                "path": escaped(path), "deletionTimestamp": now, "dataChange": !changes.moves_only,
                "extendedFileMetadata": true, "partitionValues": {}, "size": bytes,
            }}));
        }
        for (path, file) in &changes.add {
            lines.push(added(path, file, !changes.moves_only));
        }
        lines
    }

    /// Reads the actions of a version.
    fn read(&mut self, store: &Store, version: u64, bytes: &[u8]) -> Result<(), Error> {
        let path = store.shown(&self.commit_path(version));
        let damaged = |message: String| Error::damaged(&path, message);
        let text =
            str::from_utf8(bytes).map_err(|error| damaged(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let action: Json = match line.trim() {
                "" => Json::Null,
                line => serde_json::from_str(line)
                    .map_err(|error| damaged(format!("byte {}: {error}", at + error.column().saturating_sub(1))))?,
            };
            if let Some((kind, action)) = action.as_object().and_then(|action| action.iter().next()) {
                self.apply(kind, action).map_err(|message| damaged(format!("byte {at}: {message}")))?;
            }
            at += line.len();
        }
        self.version = Some(version);
        Ok(())
    }

    fn apply(&mut self, kind: &str, action: &Json) -> Result<(), String> {
        let text = |key: &str| action.get(key).and_then(Json::as_str);
        let number = |key: &str| action.get(key).and_then(Json::as_i64);
        let path = || unescaped(text("path").ok_or("a file without a path")?);
        match kind {
            "add" => {
                if action.get("deletionVector").is_some_and(|vector| !vector.is_null()) {
                    return Err("the table has deletion vectors, which logpose does not read".to_owned());
                }
                let tags = action.get("tags").and_then(Json::as_object);
                let tags = tags.into_iter().flatten().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())));
                let file = DataFile {
                    bytes: number("size").and_then(|size| u64::try_from(size).ok()).unwrap_or(0),
                    modified_ms: number("modificationTime").unwrap_or(0),
                    statistics: text("stats").map(str::to_owned),
                    tags: tags.collect(),
                };
                let path = path()?;
                self.removed.remove(&path);
                self.files.insert(path, file);
            }
            "remove" => {
                let path = path()?;
                self.files.remove(&path);
                self.removed.insert(path, number("deletionTimestamp").unwrap_or(0));
            }
            "txn" => {
                let name = text("appId").ok_or("a transaction without a name")?;
                self.transactions.insert(name.to_owned(), number("version").unwrap_or(0));
            }
            "protocol" => {
                let (reader, writer) =
                    (number("minReaderVersion").unwrap_or(0), number("minWriterVersion").unwrap_or(0));
                if reader > READER || writer > WRITER {
                    return Err(format!(
                        "the table needs Delta reader version {reader} and writer version {writer}, this logpose has {READER} and {WRITER}"
                    ));
                }
                self.protocol = action.clone();
            }
            "metaData" => {
                if action.get("partitionColumns").and_then(Json::as_array).is_some_and(|columns| !columns.is_empty()) {
                    return Err("the table is partitioned, which tables of a lake are not".to_owned());
                }
                self.schema = text("schemaString").unwrap_or_default().to_owned();
                self.metadata = action.clone();
                let settings = action.get("configuration").and_then(Json::as_object);
                let settings = settings.into_iter().flatten();
                self.configuration = settings.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect();
            }
            // What is said about a commit, and kinds that need a higher version of the protocol.
            _ => {}
        }
        Ok(())
    }

    fn commit_path(&self, version: u64) -> String {
        format!("{}/{LOG}/{version:020}.json", self.name)
    }

    fn checkpoint_path(&self, version: u64) -> String {
        format!("{}/{LOG}/{version:020}.checkpoint.parquet", self.name)
    }
}

fn added(path: &str, file: &DataFile, is_change: bool) -> Json {
    let mut add = json!({
        "path": escaped(path), "partitionValues": {}, "size": file.bytes,
        "modificationTime": file.modified_ms, "dataChange": is_change, "tags": file.tags,
    });
    if let (Some(add), Some(statistics)) = (add.as_object_mut(), &file.statistics) {
        add.insert("stats".to_owned(), statistics.as_str().into());
    }
    json!({ "add": add })
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn to_lines(actions: &[Json]) -> Vec<u8> {
    actions.iter().flat_map(|action| format!("{action}\n").into_bytes()).collect()
}

/// A path as the protocol writes it: like a relative URL.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'=' => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn unescaped(path: &str) -> Result<String, String> {
    let mut out = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(format!("the path {path:?} is not a URL")) };
        out.push(high << 4 | low);
    }
    String::from_utf8(out).map_err(|_| format!("the path {path:?} is not UTF-8"))
}

const LOG: &str = "_delta_log";
/// Versions from one checkpoint to the next.
const CHECKPOINT_EVERY: u64 = 16;
/// How long a table remembers files that were removed: a week, as other programs do.
const RETENTION_MS: i64 = 7 * 24 * 3600 * 1000;
const READER: i64 = 1;
const WRITER: i64 = 2;
const ENGINE: &str = concat!("logpose/", env!("CARGO_PKG_VERSION"));
/// The setting of tables that get columns of their logs as these come.
const GROWS: &str = "logpose.grows";

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use arrow_schema::{DataType, Field, Schema};

    use super::{Changes, DataFile, Refused, Table, escaped, unescaped};
    use crate::store::Store;

    fn file(bytes: u64) -> DataFile {
        let tags = [("logpose.ingest".to_owned(), "a".to_owned())].into_iter().collect();
        DataFile { bytes, modified_ms: 5, statistics: Some("{\"numRecords\":1}".to_owned()), tags }
    }

    fn table(store: &Store) -> Table {
        let mut table = Table::open(store, "t").unwrap();
        table.create(store, "{}", "a table", &[("key", "value")]).unwrap();
        table
    }

    fn adding(path: &str) -> Changes {
        Changes { operation: "WRITE", add: vec![(path.to_owned(), file(9))], ..Changes::default() }
    }

    #[test]
    fn what_one_writes_another_reads() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
        let (mut one, mut other) = (table(&store), table(&store));
        one.commit(&store, &adding("a b.parquet")).unwrap();
        // The other one has seen no file yet, and is no conflict.
        other.commit(&store, &adding("ü.parquet")).unwrap();
        one.refresh(&store).unwrap();
        let files = |table: &Table| table.files().map(|(path, file)| (path, file.clone())).collect::<Vec<_>>();
        assert_eq!(files(&one), [("t/a b.parquet".to_owned(), file(9)), ("t/ü.parquet".to_owned(), file(9))]);
        assert_eq!((files(&one), one.configuration("key")), (files(&other), Some("value")));
        let removing =
            |path: &str| Changes { operation: "DELETE", remove: vec![path.to_owned()], ..Changes::default() };
        other.commit(&store, &removing("a b.parquet")).unwrap();
        assert!(matches!(one.commit(&store, &removing("a b.parquet")), Err(Refused::Gone)));
        assert_eq!(files(&one).len(), 1);
        assert!(!Table::open(&store, "another").unwrap().exists());
    }

    #[test]
    fn a_name_is_taken_once_however_many_try() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().to_str().unwrap();
        table(&Store::open(place, false).unwrap());
        let taken: Vec<usize> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    scope.spawn(move || {
                        let store = Store::open(place, false).unwrap();
                        let mut table = Table::open(&store, "t").unwrap();
                        let mut taking = |name: usize| {
                            let take = vec![format!("log:{name}")];
                            let changes = Changes { take, ..adding(&format!("{thread}-{name}")) };
                            match table.commit(&store, &changes) {
                                Ok(()) => true,
                                Err(Refused::Taken(_)) => false,
                                Err(other) => panic!("{other:?}"),
                            }
                        };
                        (0..20).filter(|name| taking(*name)).count()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().sum::<usize>(), 20, "{taken:?}");
        let store = Store::open(place, false).unwrap();
        let mut table = Table::open(&store, "t").unwrap();
        assert_eq!((table.files().count(), table.taken().count()), (20, 20));
        // What is released can be taken again.
        let release = Changes { operation: "DELETE", release: vec!["log:3".to_owned()], ..Changes::default() };
        table.commit(&store, &release).unwrap();
        assert!(!table.is_taken("log:3"));
        table.commit(&store, &Changes { take: vec!["log:3".to_owned()], ..adding("again") }).unwrap();
    }

    #[test]
    fn a_table_is_read_from_its_newest_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
        let mut one = table(&store);
        for number in 0..40 {
            let take = vec![format!("log:{number}")];
            one.commit(&store, &Changes { take, ..adding(&format!("a {number}.parquet")) }).unwrap();
        }
        let remove = vec!["a 7.parquet".to_owned()];
        one.commit(&store, &Changes { operation: "DELETE", remove, ..Changes::default() }).unwrap();
        let state = |table: &Table| {
            let mut taken: Vec<String> = table.taken().map(str::to_owned).collect();
            taken.sort();
            let files: Vec<_> = table.files().map(|(path, file)| (path, file.clone())).collect();
            (files, taken, table.schema().to_owned(), table.version, table.removed().count())
        };
        let log = dir.path().join("t/_delta_log");
        let version = |version: u64, extension: &str| log.join(format!("{version:020}.{extension}"));
        assert!(version(16, "checkpoint.parquet").exists() && version(32, "checkpoint.parquet").exists());
        // Versions before a checkpoint may be gone, and a damaged checkpoint is left aside while they are there.
        let whole = std::fs::read(version(32, "checkpoint.parquet")).unwrap();
        std::fs::write(version(32, "checkpoint.parquet"), &whole[..90]).unwrap();
        assert_eq!(state(&Table::open(&store, "t").unwrap()), state(&one));
        std::fs::write(version(32, "checkpoint.parquet"), &whole).unwrap();
        (0..32).for_each(|number| std::fs::remove_file(version(number, "json")).unwrap());
        let mut other = Table::open(&store, "t").unwrap();
        assert_eq!(state(&other), state(&one));
        other.commit(&store, &adding("more.parquet")).unwrap();
        one.refresh(&store).unwrap();
        assert_eq!(state(&other), state(&one));
        std::fs::remove_file(version(40, "json")).unwrap();
        let error = Table::open(&store, "t").unwrap_err();
        assert!(error.message.contains("00000000000000000040.json: this version"), "{}", error.message);
    }

    #[test]
    fn a_name_that_is_taken_keeps_others_from_committing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
        let (mut one, mut other) = (table(&store), table(&store));
        let mark = || Changes { operation: "OPTIMIZE", mark: vec!["gone:a".to_owned()], ..Changes::default() };
        one.commit(&store, &mark()).unwrap();
        one.commit(&store, &mark()).unwrap();
        assert!(one.is_taken("gone:a"), "marked twice is marked");
        let untaken = |name: &str| Changes { untaken: vec![name.to_owned()], ..adding(name) };
        assert!(matches!(other.commit(&store, &untaken("gone:a")), Err(Refused::Taken(_))));
        other.commit(&store, &untaken("gone:b")).unwrap();
        assert!(!other.is_taken("gone:b"));
    }

    #[test]
    fn tables_of_others_are_refused_with_a_sentence() {
        for (action, sentence) in [
            (r#"{"protocol":{"minReaderVersion":3,"minWriterVersion":7}}"#, "needs Delta reader version 3"),
            (r#"{"metaData":{"partitionColumns":["day"],"schemaString":"{}"}}"#, "is partitioned"),
            (r#"{"add":{"path":"a","size":1,"deletionVector":{"storageType":"u"}}}"#, "deletion vectors"),
            (r#"{"add":{"size":1}}"#, "a file without a path"),
            (r#"{"add":{"path":"%zz"}}"#, "is not a URL"),
            (r#"{"add":"#, "byte 6"),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("t/_delta_log")).unwrap();
            std::fs::write(dir.path().join("t/_delta_log/00000000000000000000.json"), format!("{action}\n")).unwrap();
            let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
            let error = Table::open(&store, "t").unwrap_err();
            assert!(error.message.contains(sentence), "{}", error.message);
            assert!(error.message.contains("t/_delta_log/00000000000000000000.json"), "{}", error.message);
        }
    }

    #[test]
    fn columns_are_added_once_and_never_change_their_type() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
        let columns = |fields: &[(&str, DataType)]| {
            let field = |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), true);
            Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
        };
        let (x, y) = (("x", DataType::Float64), ("y", DataType::Int64));
        let open = || Table::open(&store, "t").unwrap();
        // The second one does not know yet what the first one has added.
        let (mut one, mut other) = (open(), open());
        let first = columns(std::slice::from_ref(&x));
        assert_eq!(one.widen(&store, &first, "a table").unwrap(), Some(first.clone()));
        let both = columns(&[x.clone(), y.clone()]);
        assert_eq!(other.widen(&store, &columns(std::slice::from_ref(&y)), "a table").unwrap(), Some(both.clone()));
        assert_eq!(one.widen(&store, &both, "a table").unwrap(), Some(both.clone()));
        assert_eq!(one.widen(&store, &columns(&[("x", DataType::Int64)]), "a table").unwrap(), None);
        assert_eq!(open().widen(&store, &first, "a table").unwrap(), Some(both));
        assert_eq!(open().version, Some(1));
        one.commit(&store, &adding("a.parquet")).unwrap();
        assert_eq!(open().files().count(), 1);
    }

    #[test]
    fn no_path_leads_out_of_the_lake() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path().to_str().unwrap(), false).unwrap();
        for path in ["../secret", "/etc/passwd", "t/../../secret", "t/./a"] {
            assert!(store.get(path).is_err() && store.delete(path).is_err(), "{path}");
        }
        assert!(store.get("t/a").unwrap().is_none());
    }

    #[test]
    fn paths_are_written_like_urls() {
        for path in ["a/b.parquet", "collection=2026casf/a b.parquet", "ü%", "\u{1f916}"] {
            assert_eq!(unescaped(&escaped(path)).unwrap(), path);
        }
        assert_eq!(escaped("a b%"), "a%20b%25");
        assert!(unescaped("%ff").is_err() && unescaped("%4").is_err());
    }
}
