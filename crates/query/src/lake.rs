//! The tables of a lake: plain scans of Parquet files, of which only those are touched that conditions leave.

use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::pruning::PrunableStatistics;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, DFSchema, Result, ScalarValue, Statistics, plan_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType, col, lit};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CastExpr, Column as Place, Literal};
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, empty::EmptyExec};
use datafusion_datasource_parquet::source::ParquetSource;
use logpose_lake::{Lake, LakeFile};
use object_store::ObjectStore;
use url::Url;

use crate::logs::seconds;
use crate::push::{self, Known, Push};
use crate::table::Column;
use crate::{Error, Options, tables};

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
}

/// What a column of SQL is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Made {
    /// The column of the files at that place.
    Stored(usize),
    /// The nanoseconds there, as seconds.
    Seconds(usize),
}

type Tables = Vec<(String, Arc<dyn TableProvider>)>;
/// What plans call the root of a lake, and what reads its files.
type Root = (Url, Arc<dyn ObjectStore>);

/// The tables of a lake, and where their files are.
pub(crate) fn open(lake: &Lake, options: &Options) -> Result<(Tables, Root), Error> {
    if options.wall {
        let message = "wall-clock time is not supported over a lake yet";
        return Err(Error::new("no-epoch", message).with_help("add `epoch_ns` of the table `logs` to `time_ns`"));
    }
    let failed = |error: logpose_lake::Error| Error { code: error.code, message: error.message, help: error.help };
    let mut tables: Tables = Vec::new();
    for name in lake.tables().map_err(failed)? {
        let Some(stored) = lake.columns(&name).map_err(failed)? else { continue };
        let files = lake.files_of(&name).map_err(failed)?;
        let table = LakeTable::new(&name, stored, &files, options.threads());
        tables.push((name, Arc::new(table)));
    }
    let root = Url::parse(ROOT).map_err(|error| Error::new("internal-error", error.to_string()))?;
    Ok((tables, (root, lake.files())))
}

impl LakeTable {
    fn new(name: &str, stored: SchemaRef, files: &[LakeFile], threads: usize) -> Self {
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for (place, field) in stored.fields().iter().enumerate() {
            if is_inner(name, field.name()) {
                continue;
            }
            // `time` stands before `time_ns`, and the other moments in the place of their nanoseconds.
            let is_moment = |moment: &&str| *moment == "time" || tables::is_fixed(name) && *moment != "epoch";
            let moment = field.name().strip_suffix("_ns").filter(is_moment);
            if let Some(moment) = moment {
                columns.push(Made::Seconds(place));
                fields.push(Field::new(moment, DataType::Float64, field.is_nullable()));
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
        Self { name: name.to_owned(), schema: Arc::new(Schema::new(fields)), stored, columns, files, threads }
    }

    /// What conditions say about the columns of the files; nothing more than they say.
    fn on_files(&self, filters: &[Expr]) -> Result<Option<Expr>> {
        let mut conditions: Vec<Expr> = Vec::new();
        for filter in filters {
            if push::kind(filter, self) == Push::Times {
                let span = push::span(std::slice::from_ref(filter), self, 0);
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

    /// The files that may hold rows for which a condition is true.
    fn chosen(&self, condition: Option<&Arc<dyn PhysicalExpr>>) -> Result<Vec<PartitionedFile>> {
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

    fn time(&self, _: usize, ns: i64) -> ScalarValue {
        ScalarValue::Float64(Some(seconds(ns)))
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
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let projection = projection.cloned().unwrap_or_else(|| (0..self.columns.len()).collect());
        let made: Vec<(Made, &Arc<Field>)> = projection
            .iter()
            .filter_map(|place| Some((*self.columns.get(*place)?, self.schema.fields().get(*place)?)))
            .collect();
        let place = |made: Made| match made {
            Made::Stored(place) | Made::Seconds(place) => place,
        };
        let mut needed: Vec<usize> = made.iter().map(|(made, _)| place(*made)).collect();
        needed.sort_unstable();
        needed.dedup();
        let schema = DFSchema::try_from(self.stored.clone())?;
        let condition = self.on_files(filters)?.map(|expr| state.create_physical_expr(expr, &schema)).transpose()?;
        let files = self.chosen(condition.as_ref())?;
        let scan: Arc<dyn ExecutionPlan> = if files.is_empty() {
            Arc::new(EmptyExec::new(Arc::new(self.stored.project(&needed)?)))
        } else {
            let mut source =
                ParquetSource::new(self.stored.clone()).with_pushdown_filters(true).with_reorder_filters(true);
            if let Some(condition) = condition {
                source = source.with_predicate(condition);
            }
            let groups = FileGroup::new(files).split_files(self.threads);
            let config = FileScanConfigBuilder::new(ObjectStoreUrl::parse(ROOT)?, Arc::new(source))
                .with_file_groups(groups)
                .with_projection_indices(Some(needed.clone()))?
                .with_limit(limit.filter(|_| filters.is_empty()))
                .build();
            DataSourceExec::from_data_source(config)
        };
        let mut outputs: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::new();
        for (made, field) in made {
            let at = needed.iter().position(|needed| *needed == place(made)).unwrap_or(0);
            let name = self.stored.fields().get(place(made)).map_or("", |field| field.name());
            let stored: Arc<dyn PhysicalExpr> = Arc::new(Place::new(name, at));
            let expr = match made {
                Made::Stored(_) => stored,
                Made::Seconds(_) => to_seconds(stored),
            };
            outputs.push((expr, field.name().clone()));
        }
        Ok(Arc::new(ProjectionExec::try_new(outputs, scan)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}

/// Seconds of nanoseconds: what [`seconds`] computes, so the same to the bit.
fn to_seconds(nanos: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    let number = Arc::new(CastExpr::new(nanos, DataType::Float64, None));
    let billion = Arc::new(Literal::new(ScalarValue::Float64(Some(1e9))));
    Arc::new(BinaryExpr::new(number, datafusion::logical_expr::Operator::Divide, billion))
}

/// A table function that has no answer over a lake yet.
#[derive(Debug)]
pub(crate) struct NotYet(pub &'static str);

impl TableFunctionImpl for NotYet {
    fn call_with_args(&self, _: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        plan_err!("{} is not supported over a lake yet; run it on the logs themselves", self.0)
    }
}

/// What stands for the root of the lake in plans.
const ROOT: &str = "lake://root";
