//! The tables of a lake: plain scans of Parquet files, of which only those are touched that conditions leave.

use std::any::Any;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::pruning::PrunableStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::{
    ColumnStatistics, DFSchema, DataFusionError, Result as DfResult, ScalarValue, Statistics, internal_err, plan_err,
};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder, TaskContext};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType, col, lit};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column as Place, Literal};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, empty::EmptyExec};
use datafusion::prelude::SessionConfig;
use datafusion_datasource_parquet::metadata::DFParquetMetadata;
use datafusion_datasource_parquet::source::ParquetSource;
use datafusion_datasource_parquet::{ParquetAccessPlan, ParquetFileMetrics, RowGroupAccessPlanFilter};
use futures::StreamExt;
use logpose::schema::Registry;
use logpose::{Log, OpenOptions};
use logpose_core::{Channel, ChannelId, Type};
use logpose_lake::{ChannelRow, Lake, LakeFile, LogRow, Status};
use logpose_model::Shape;
use object_store::ObjectStore;
use url::Url;

use crate::aligned::{Member, Series};
use crate::logs::{Clock, Logs, seconds};
use crate::push::{self, Known, Push};
use crate::table::Column;
use crate::wall::{self, Epochs};
use crate::{Error, Options, tables};

/// A lake, of which only what questions ask for is read, once.
pub(crate) struct Kept {
    lake: Arc<Lake>,
    threads: usize,
    wall: bool,
    /// What plans are made with before a question has a session, and what reads then.
    state: SessionState,
    rows: Mutex<Option<Arc<Vec<LogRow>>>>,
    known: Mutex<Option<Arc<KnownLogs>>>,
    samples: Mutex<Option<Arc<LakeTable>>>,
}

/// The logs of a lake and their channels.
pub(crate) struct KnownLogs {
    /// The names of the logs, and their clock. None of them is open.
    pub logs: Arc<Logs>,
    rows: Arc<Vec<LogRow>>,
    /// The channels of each log, in their order.
    channels: Vec<Vec<ChannelRow>>,
}

/// A table of a lake.
struct LakeTable {
    name: String,
    /// The columns of its files.
    stored: SchemaRef,
    /// The columns that SQL has, and what they are made of.
    columns: Vec<Made>,
    schema: SchemaRef,
    files: Vec<PartitionedFile>,
    threads: usize,
    /// With wall-clock time, what to add to the times of each log.
    epochs: Option<Arc<Epochs>>,
}

/// What a column of SQL is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    /// The column of the files at that place.
    Stored(usize),
    /// The nanoseconds there, as the moments that the clock has.
    Moment(usize),
}

/// What plans call the root of a lake, and what reads its files.
type Root = (Url, Arc<dyn ObjectStore>);

impl Kept {
    pub(crate) fn new(lake: Arc<Lake>, options: &Options) -> Result<(Self, Root), Error> {
        let root = Url::parse(ROOT).map_err(|error| Error::new("internal-error", error.to_string()))?;
        let config = SessionConfig::new().with_target_partitions(options.threads());
        let state = SessionStateBuilder::new().with_config(config).build();
        state.runtime_env().register_object_store(&root, lake.files());
        let files = lake.files();
        let (threads, wall) = (options.threads(), options.wall);
        let (rows, known, samples) = (Mutex::default(), Mutex::default(), Mutex::default());
        Ok((Self { lake, threads, wall, state, rows, known, samples }, (root, files)))
    }

    /// The names of the tables.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        blocking(|| self.lake.tables()).map_err(failed)
    }

    /// The table of that name.
    pub(crate) fn table(&self, name: &str) -> DfResult<Option<Arc<dyn TableProvider>>> {
        Ok(self.open(name)?.map(|table| table as _))
    }

    fn open(&self, name: &str) -> DfResult<Option<Arc<LakeTable>>> {
        let Some((stored, files)) = blocking(|| self.lake.table(name)).map_err(lost)? else { return Ok(None) };
        let epochs = if self.wall { Some(Arc::new(Epochs::of(&self.rows()?))) } else { None };
        Ok(Some(Arc::new(LakeTable::new(name, stored, &files, self.threads, epochs))))
    }

    /// The table `channels` with the nanoseconds of its moments too.
    pub(crate) fn channels(&self) -> DfResult<Option<Arc<dyn TableProvider>>> {
        let Some((stored, files)) = blocking(|| self.lake.table(tables::CHANNELS)).map_err(lost)? else {
            return Ok(None);
        };
        let epochs = if self.wall { Some(Arc::new(Epochs::of(&self.rows()?))) } else { None };
        let mut table = LakeTable::new(tables::CHANNELS, stored, &files, self.threads, epochs);
        let mut fields = table.schema.fields().to_vec();
        for (place, field) in table.stored.fields().iter().enumerate() {
            if table.schema.column_with_name(field.name()).is_none() {
                fields.push(field.clone());
                table.columns.push(Made::Stored(place));
            }
        }
        table.schema = Arc::new(Schema::new(fields));
        Ok(Some(Arc::new(table)))
    }

    fn samples(&self) -> DfResult<Arc<LakeTable>> {
        once(&self.samples, || match self.open(tables::SAMPLES)? {
            Some(samples) => Ok(samples),
            None => plan_err!("table '{}' not found", tables::SAMPLES),
        })
    }

    fn rows(&self) -> DfResult<Arc<Vec<LogRow>>> {
        once(&self.rows, || Ok(Arc::new(blocking(|| self.lake.logs()).map_err(lost)?)))
    }

    /// The logs and their channels.
    pub(crate) fn known(&self) -> DfResult<Arc<KnownLogs>> {
        once(&self.known, || {
            let rows = self.rows()?;
            let names: Vec<String> = rows.iter().map(|row| row.log.clone()).collect();
            let places: HashMap<&str, usize> =
                rows.iter().enumerate().map(|(place, row)| (row.log.as_str(), place)).collect();
            let mut channels: Vec<Vec<ChannelRow>> = vec![Vec::new(); rows.len()];
            for found in blocking(|| self.lake.channels()).map_err(lost)? {
                let log = places.get(found.log.as_str()).and_then(|place| channels.get_mut(*place));
                log.into_iter().for_each(|log| log.push(found.clone()));
            }
            let clock = match self.wall {
                true => Clock::Wall(rows.iter().map(|row| row.epoch_ns.unwrap_or(0)).collect()),
                false => Clock::Seconds,
            };
            let logs = Arc::new(Logs::of_names(names, clock, self.threads));
            Ok(Arc::new(KnownLogs { logs, rows, channels }))
        })
    }

    /// The channels that are wanted, each in all logs that have it.
    pub(crate) fn series(&self, wanted: &dyn Fn(&Channel) -> bool) -> DfResult<Vec<Series>> {
        let known = self.known()?;
        let mut all: Vec<Series> = Vec::new();
        let mut schemas: HashMap<usize, Arc<Log>> = HashMap::new();
        for (log, (row, channels)) in known.rows.iter().zip(&known.channels).enumerate() {
            for found in channels.iter().filter(|found| wanted(&found.channel)) {
                if self.wall && row.epoch_ns.is_none() {
                    return plan_err!("{}: the log does not contain the wall-clock time", row.log);
                }
                let channel = &found.channel;
                let id = ChannelId::try_from(found.id).unwrap_or(ChannelId::MAX);
                let member = Member { log, id, shape: None, range: found.range_ns };
                let same =
                    |one: &&mut Series| one.channel.name == channel.name && one.channel.type_name == channel.type_name;
                if let Some(one) = all.iter_mut().find(same) {
                    one.members.push(member);
                    continue;
                }
                let data_type = if channel.ty() == Type::Bytes {
                    let opened = match schemas.entry(log) {
                        Entry::Occupied(opened) => opened.into_mut(),
                        Entry::Vacant(place) => {
                            let context = Arc::new(TaskContext::from(&self.state));
                            place.insert(Arc::new(waiting(self.take(log, &[], &context))?))
                        }
                    };
                    Shape::of(channel, opened.schemas().registry()).data_type().clone()
                } else {
                    Shape::of(channel, &Registry::default()).data_type().clone()
                };
                all.push(Series { channel: channel.clone(), data_type, members: vec![member] });
            }
        }
        Ok(all)
    }

    /// The channel whose table has that name, and the name as it is written.
    pub(crate) fn channel_named(&self, name: &str) -> DfResult<Option<(String, Channel)>> {
        let known = self.known()?;
        let mut seen: HashSet<(&str, &str)> = HashSet::new();
        let all = known.channels.iter().flatten().map(|found| &found.channel);
        let channels: Vec<Channel> =
            all.filter(|channel| seen.insert((&channel.name, &channel.type_name))).cloned().collect();
        let named: Vec<(String, Channel)> = logpose_model::names(&channels).into_iter().zip(channels).collect();
        if let Some(found) = named.iter().find(|(known, _)| known == name) {
            return Ok(Some(found.clone()));
        }
        // Outside of quotes SQL has names in small letters; nothing is meant where those are the same for two.
        let mut folded = named.into_iter().filter(|(known, _)| known.to_lowercase() == name);
        let first = folded.next();
        Ok(first.filter(|_| folded.next().is_none()))
    }

    /// Takes a log out of the lake: some of its channels, in that order, and behind them its schemas if any of those needs
    /// one. Only rows of that log are read, as far as the files tell.
    pub(crate) async fn take(&self, log: usize, ids: &[ChannelId], context: &Arc<TaskContext>) -> DfResult<Log> {
        let known = self.known()?;
        let (Some(row), Some(channels)) = (known.rows.get(log), known.channels.get(log)) else {
            return internal_err!("no such log");
        };
        let place = |id: &ChannelId| {
            let id = i32::try_from(*id).ok()?;
            channels.binary_search_by_key(&id, |found| found.id).ok().and_then(|place| channels.get(place))
        };
        let mut wanted: Vec<&ChannelRow> = ids.iter().filter_map(place).collect();
        if wanted.is_empty() || wanted.iter().any(|found| found.channel.ty() == Type::Bytes) {
            let is_schema = |found: &&ChannelRow| {
                Registry::is_schema(&found.channel.name, &found.channel.type_name)
                    && !ids.iter().any(|id| i64::from(*id) == i64::from(found.id))
            };
            wanted.extend(channels.iter().filter(is_schema));
        }
        let mut batches = Vec::new();
        for mut rows in self.rows_of(row, &wanted, context)? {
            while let Some(batch) = rows.next().await {
                batches.push(batch?);
            }
        }
        let wanted = described(&wanted);
        let mut batches = batches.into_iter().map(Ok);
        logpose_lake::gather(row, Path::new(&row.log), &wanted, &OpenOptions::default(), &mut batches).map_err(lost)
    }

    /// Takes a whole log out of the lake. Its rows are read while it is written.
    fn whole(&self, name: &str, path: &Path, options: &OpenOptions) -> DfResult<Log> {
        let known = self.known()?;
        let found = known.rows.iter().zip(&known.channels).find(|(row, _)| row.log == name);
        let Some((row, channels)) = found else { return plan_err!("no log is named {name:?}") };
        let wanted: Vec<&ChannelRow> = channels.iter().collect();
        blocking(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| DataFusionError::External(Box::new(error)))?;
            let context = Arc::new(TaskContext::from(&self.state));
            let mut parts = self.rows_of(row, &wanted, &context)?;
            let mut batches = parts.iter_mut().flat_map(|part| {
                std::iter::from_fn(|| runtime.block_on(part.next()).map(|batch| batch.map_err(found_in_rows)))
            });
            logpose_lake::gather(row, path, &described(&wanted), options, &mut batches).map_err(lost)
        })
    }

    /// The rows of channels of a log, with others among them; each part is to be read to its end before the next one.
    fn rows_of(
        &self,
        row: &LogRow,
        channels: &[&ChannelRow],
        context: &Arc<TaskContext>,
    ) -> DfResult<Vec<SendableRecordBatchStream>> {
        let names: BTreeSet<&str> = channels.iter().map(|found| found.channel.name.as_str()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut filters = vec![col("log").eq(lit(&row.log))];
        if names.len() <= MOST_NAMES {
            filters.push(col("channel").in_list(names.into_iter().map(lit).collect(), false));
        }
        let samples = self.samples()?;
        let stored: Vec<usize> = (0..samples.stored.fields().len()).collect();
        let condition = samples.physical(&self.state, conjunction(filters))?;
        let plan = samples.scan_files(condition, &stored, None)?;
        (0..plan.output_partitioning().partition_count()).map(|part| plan.execute(part, context.clone())).collect()
    }
}

/// The logs of a lake, to be taken out one by one.
#[derive(Debug)]
pub struct LakeLogs {
    kept: Kept,
}

impl LakeLogs {
    /// The logs of a lake, as they are now.
    pub fn new(lake: Arc<Lake>) -> Result<Self, Error> {
        Ok(Self { kept: Kept::new(lake, &Options::default())?.0 })
    }

    /// What is known of them, in the order of their names.
    pub fn list(&self) -> Result<Arc<Vec<LogRow>>, Error> {
        self.kept.rows().map_err(|error| Error::lost(&error))
    }

    /// Opens one of them as a log; `path` is what it is called. Nothing of the others is read, as far as the files tell.
    pub fn open(&self, name: &str, path: &Path, options: &OpenOptions) -> Result<Log, Error> {
        let rows = self.list()?;
        let Some(row) = rows.iter().find(|row| row.log == name) else {
            let error = Error::new("log-not-found", format!("{}: no log is named {name:?}", self.kept.lake.name()));
            return Err(error.with_help(format!("run `logpose lake ls {}` to list its logs", self.kept.lake.name())));
        };
        if let Some(reason) = row.reason.as_deref().filter(|_| row.status == Status::Refused) {
            return Err(Error::new("refused", format!("{name}: nothing of it is in the lake: {reason}")));
        }
        self.kept.whole(name, path, options).map_err(|error| Error::lost(&error))
    }
}

fn described(channels: &[&ChannelRow]) -> Vec<(i32, Channel)> {
    channels.iter().map(|found| (found.id, found.channel.clone())).collect()
}

fn found_in_rows(error: DataFusionError) -> logpose_lake::Error {
    let Error { code, message, help } = Error::lost(&error);
    logpose_lake::Error { code, message, help }
}

/// Whether a table is the samples of a lake.
pub(crate) fn is_samples(table: &dyn TableProvider) -> bool {
    let table: &dyn Any = table;
    table.downcast_ref::<LakeTable>().is_some_and(|table| table.name == tables::SAMPLES)
}

/// What a question over a lake would read of each table, found while it is explained.
#[derive(Debug, Default)]
pub(crate) struct Touched(Mutex<Vec<String>>);

impl Touched {
    fn note(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }

    /// A row behind those of `EXPLAIN`.
    pub(crate) fn rows(&self, schema: &SchemaRef) -> Option<RecordBatch> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = |text: &str| -> ArrayRef { Arc::new(StringArray::from(vec![text])) };
        let columns = vec![cell("lake"), cell(&lines.join("\n"))];
        RecordBatch::try_new(schema.clone(), columns).ok().filter(|_| !lines.is_empty())
    }
}

/// What is found once and kept.
fn once<T: Clone>(place: &Mutex<Option<T>>, find: impl FnOnce() -> DfResult<T>) -> DfResult<T> {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    match &*place {
        Some(found) => Ok(found.clone()),
        None => Ok(place.insert(find()?).clone()),
    }
}

/// Does what waits for the lake's own runtime, which must not be within another one.
fn blocking<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Waits for what must be known before there is a plan.
fn waiting<T: Send>(work: impl Future<Output = DfResult<T>> + Send) -> DfResult<T> {
    blocking(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| DataFusionError::External(Box::new(error)))?.block_on(work)
    })
}

fn failed(error: logpose_lake::Error) -> Error {
    Error { code: error.code, message: error.message, help: error.help }
}

fn lost(error: logpose_lake::Error) -> DataFusionError {
    DataFusionError::External(Box::new(failed(error)))
}

impl LakeTable {
    fn new(name: &str, stored: SchemaRef, files: &[LakeFile], threads: usize, epochs: Option<Arc<Epochs>>) -> Self {
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for (place, field) in stored.fields().iter().enumerate() {
            if is_inner(name, field.name()) {
                continue;
            }
            // `time` stands before `time_ns`, and the other moments in the place of their nanoseconds.
            let is_moment = |moment: &&str| *moment == "time" || tables::is_fixed(name) && *moment != "epoch";
            let moment = field.name().strip_suffix("_ns").filter(is_moment);
            if let Some(moment) = moment {
                columns.push(Made::Moment(place));
                let (kind, nullable) = match epochs {
                    Some(_) => (wall::data_type(), true),
                    None => (DataType::Float64, field.is_nullable()),
                };
                fields.push(Field::new(moment, kind, nullable));
            }
            if moment.is_none_or(|moment| moment == "time" && has_both(name)) {
                columns.push(Made::Stored(place));
                fields.push(Field::clone(field));
            }
        }
        if has_both(name) {
            // The order that the same tables have over logs.
            let rank = |field: &Field| match field.name().as_str() {
                "log" => 0,
                "time" => 1,
                "time_ns" => 2,
                _ => 3,
            };
            let mut order: Vec<(Made, Field)> = columns.into_iter().zip(fields).collect();
            order.sort_by_key(|(_, field)| rank(field));
            (columns, fields) = order.into_iter().unzip();
        }
        let files = files.iter().map(|file| partitioned(file, &stored)).collect();
        Self { name: name.to_owned(), schema: Arc::new(Schema::new(fields)), stored, columns, files, threads, epochs }
    }

    /// What conditions say about the columns of the files; nothing more than they say.
    fn on_files(&self, filters: &[Expr]) -> DfResult<Option<Expr>> {
        let mut conditions: Vec<Expr> = Vec::new();
        for filter in filters {
            if push::kind(filter, self) == Push::Times {
                // Each log has its own clock; what none of them wants is left out.
                let logs = 0..self.epochs.as_ref().map_or(1, |epochs| epochs.len());
                let spans = logs.map(|log| push::span(std::slice::from_ref(filter), self, log));
                let span = spans.filter(|span| !span.is_empty()).reduce(push::Stretch::around);
                let Some(span) = span else {
                    conditions.push(lit(false));
                    continue;
                };
                let low = (span.start > i64::MIN).then(|| col("time_ns").gt_eq(lit(span.start)));
                let high = (span.end < i64::MAX).then(|| col("time_ns").lt_eq(lit(span.end)));
                conditions.extend(low.into_iter().chain(high));
                continue;
            }
            let is_stored = |name: &str| {
                let place = self.schema.column_with_name(name).and_then(|(place, _)| self.columns.get(place));
                matches!(place, Some(Made::Stored(_)))
            };
            if filter.column_refs().iter().all(|column| is_stored(column.name())) && !filter.is_volatile() {
                conditions.push(push::unqualified(filter)?);
            }
        }
        Ok(conjunction(conditions))
    }

    /// A condition on the columns of the files.
    fn physical(&self, state: &dyn Session, condition: Option<Expr>) -> DfResult<Option<Arc<dyn PhysicalExpr>>> {
        let schema = DFSchema::try_from(self.stored.clone())?;
        condition.map(|expr| state.create_physical_expr(expr, &schema)).transpose()
    }

    /// Reads columns of the files that a condition leaves; rows for which it is not true may be among them.
    fn scan_files(
        &self,
        condition: Option<Arc<dyn PhysicalExpr>>,
        columns: &[usize],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let files = self.chosen(condition.as_ref())?;
        if files.is_empty() {
            return Ok(Arc::new(EmptyExec::new(Arc::new(self.stored.project(columns)?))));
        }
        let mut source = ParquetSource::new(self.stored.clone()).with_pushdown_filters(true).with_reorder_filters(true);
        if let Some(condition) = condition {
            source = source.with_predicate(condition);
        }
        let groups = FileGroup::new(files).split_files(self.threads);
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::parse(ROOT)?, Arc::new(source))
            .with_file_groups(groups)
            .with_projection_indices(Some(columns.to_vec()))?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }

    /// How much of the files a condition leaves, in words. Their footers are read for that.
    async fn touched(&self, state: &dyn Session, condition: Option<&Arc<dyn PhysicalExpr>>) -> DfResult<String> {
        let files = self.chosen(condition)?;
        let store = state.runtime_env().object_store(ObjectStoreUrl::parse(ROOT)?)?;
        let builder = PruningPredicateBuilder::new().with_file_schema(self.stored.clone());
        let predicate = condition.map(|condition| builder.try_build(condition.clone())).transpose()?;
        let metrics = ParquetFileMetrics::new(0, "", &ExecutionPlanMetricsSet::new());
        let (mut kept, mut all) = (0, 0);
        for file in &files {
            let metadata = DFParquetMetadata::new(&*store, &file.object_meta).fetch_metadata().await?;
            let (groups, columns) = (metadata.row_groups(), metadata.file_metadata().schema_descr());
            let mut left = RowGroupAccessPlanFilter::new(ParquetAccessPlan::new_all(groups.len()));
            if let Some(predicate) = &predicate {
                left.prune_by_statistics(&self.stored, columns, groups, predicate, &metrics);
            }
            (kept, all) = (kept + left.remaining_row_group_count(), all + groups.len());
        }
        let of_files = format!("{} of {} files", files.len(), self.files.len());
        Ok(format!("{}: {of_files}, {kept} of their {all} row groups", self.name))
    }

    /// The files that may hold rows for which a condition is true.
    fn chosen(&self, condition: Option<&Arc<dyn PhysicalExpr>>) -> DfResult<Vec<PartitionedFile>> {
        let Some(condition) = condition else { return Ok(self.files.clone()) };
        let predicate =
            PruningPredicateBuilder::new().with_file_schema(self.stored.clone()).try_build(condition.clone())?;
        let unknown = || Arc::new(Statistics::new_unknown(&self.stored));
        let known = self.files.iter().map(|file| file.statistics.clone().unwrap_or_else(unknown)).collect();
        let kept = predicate.prune(&PrunableStatistics::new(known, self.stored.clone()))?;
        Ok(self.files.iter().zip(kept).filter(|(_, kept)| *kept).map(|(file, _)| file.clone()).collect())
    }
}

/// Whether a table has the moment of a row in both forms.
fn has_both(table: &str) -> bool {
    !matches!(table, "logs" | "channels" | "modes" | "frames" | "actors" | "collisions" | "blocked")
}

/// Whether a column is for logpose alone.
fn is_inner(table: &str, column: &str) -> bool {
    match table {
        "samples" => column == "id",
        "channels" => matches!(column, "id" | "family" | "key" | "declared_unit"),
        "logs" => matches!(column, "facts" | "modified_ms"),
        _ => false,
    }
}

fn partitioned(file: &LakeFile, stored: &SchemaRef) -> PartitionedFile {
    let about = PartitionedFile::new(file.path.clone(), file.bytes);
    let Some(rows) = file.rows.and_then(|rows| usize::try_from(rows).ok()) else { return about };
    let mut statistics = Statistics::new_unknown(stored);
    statistics.num_rows = Precision::Exact(rows);
    for (field, column) in stored.fields().iter().zip(&mut statistics.column_statistics) {
        let Some(range) = file.ranges.iter().find(|range| range.name == *field.name()) else { continue };
        let value = |bound: &logpose::bridges::Bound| match (bound, field.data_type()) {
            (logpose::bridges::Bound::Text(text), DataType::Utf8) => Some(ScalarValue::Utf8(Some(text.clone()))),
            (logpose::bridges::Bound::Integer(n), DataType::Int64) => Some(ScalarValue::Int64(Some(*n))),
            (logpose::bridges::Bound::Integer(n), DataType::Int32) => i32::try_from(*n).ok().map(Into::into),
            _ => None,
        };
        let ends = range.range.as_ref().and_then(|(low, high)| Some((value(low)?, value(high)?)));
        let Some((low, high)) = ends else { continue };
        *column = ColumnStatistics {
            min_value: Precision::Exact(low),
            max_value: Precision::Exact(high),
            null_count: usize::try_from(range.nulls).map_or(Precision::Absent, Precision::Exact),
            ..ColumnStatistics::new_unknown()
        };
    }
    about.with_statistics(Arc::new(statistics))
}

impl Known for LakeTable {
    fn column(&self, name: &str) -> Option<Column> {
        match name {
            "time" if has_both(&self.name) => Some(Column::Time),
            "time_ns" => Some(Column::TimeNs),
            _ => None,
        }
    }

    fn time(&self, log: usize, ns: i64) -> ScalarValue {
        match &self.epochs {
            Some(epochs) => epochs.time(log, ns),
            None => ScalarValue::Float64(Some(seconds(ns))),
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("lake", &self.lake).finish_non_exhaustive()
    }
}

impl fmt::Debug for LakeTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LakeTable").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for LakeTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let projection = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let made: Vec<(Made, &Arc<Field>)> = projection
            .iter()
            .filter_map(|place| Some((*self.columns.get(*place)?, self.schema.fields().get(*place)?)))
            .collect();
        let place = |made: Made| match made {
            Made::Stored(place) | Made::Moment(place) => place,
        };
        let mut needed: Vec<usize> = made.iter().map(|(made, _)| place(*made)).collect();
        let moments = made.iter().any(|(made, _)| matches!(made, Made::Moment(_)));
        if self.epochs.is_some() && moments {
            needed.extend(self.stored.column_with_name("log").map(|(place, _)| place));
        }
        needed.sort_unstable();
        needed.dedup();
        let condition = self.physical(state, self.on_files(filters)?)?;
        if let Some(explained) = state.config().get_extension::<Touched>() {
            explained.note(self.touched(state, condition.as_ref()).await?);
        }
        let scan = self.scan_files(condition, &needed, limit.filter(|_| filters.is_empty()))?;
        let stored = |of: usize| -> Arc<dyn PhysicalExpr> {
            let at = needed.iter().position(|needed| *needed == of).unwrap_or(0);
            Arc::new(Place::new(self.stored.fields().get(of).map_or("", |field| field.name()), at))
        };
        let mut outputs: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::new();
        for (made, field) in made {
            let expr = match (made, &self.epochs) {
                (Made::Stored(place), _) => stored(place),
                (Made::Moment(place), None) => to_seconds(stored(place)),
                (Made::Moment(place), Some(epochs)) => {
                    let log = self.stored.column_with_name("log").map_or(0, |(place, _)| place);
                    wall::moments(epochs, stored(log), stored(place))
                }
            };
            outputs.push((expr, field.name().clone()));
        }
        Ok(Arc::new(ProjectionExec::try_new(outputs, scan)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}

/// Seconds of nanoseconds: what [`seconds`] computes, so the same to the bit.
fn to_seconds(nanos: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    let number = Arc::new(CastExpr::new(nanos, DataType::Float64, None));
    let billion = Arc::new(Literal::new(ScalarValue::Float64(Some(1e9))));
    Arc::new(BinaryExpr::new(number, datafusion::logical_expr::Operator::Divide, billion))
}

/// What stands for the root of the lake in plans.
const ROOT: &str = "lake://root";
/// Names of channels by which files and pages are chosen; for more of them everything of the log is looked at.
const MOST_NAMES: usize = 20;
