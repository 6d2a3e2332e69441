use std::fmt;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef, SortOptions};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ColumnStatistics, Result, ScalarValue, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column as Place;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use logpose_core::Span;

use crate::push::Stretch;
use crate::read::Reader;
use crate::table::{Column, Table};
use crate::windows;

/// What is wanted of a table.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Places of columns.
    pub projection: Vec<usize>,
    /// Places of sources.
    pub kept: Vec<usize>,
    /// A stretch of each log.
    pub spans: Vec<Stretch>,
    /// So many rows are enough.
    pub limit: Option<usize>,
}

/// Reads the samples of a table: batches of one channel each, the wanted columns of the wanted channels and times.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    pub table: Arc<Table>,
    pub wanted: Wanted,
    /// What is read by whom.
    partitions: Vec<Vec<Work>>,
    /// What there is to choose from, for `EXPLAIN`.
    windows: (usize, usize),
    bytes: u64,
    /// Whether batches may lie in memory that is larger than they are. Who keeps batches counts all of it.
    lends: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// A piece of a log that is read at once.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// Some channels, through the index.
    Gather { log: usize, sources: Vec<usize> },
    /// A stretch of bytes, for some channels.
    Window { log: usize, within: Span, sources: Arc<Vec<usize>> },
}

impl Scan {
    pub(crate) fn new(table: Arc<Table>, mut wanted: Wanted) -> Result<Self> {
        let all = std::mem::take(&mut wanted.kept);
        wanted.kept = all.into_iter().filter(|place| overlaps(&table, &wanted, *place)).collect();
        let (mut works, mut windows, mut bytes) = (Vec::new(), (0, 0), 0);
        for log in 0..table.logs.logs.len() {
            let plan = plan(&table, &wanted, log);
            windows = (windows.0 + plan.windows.0, windows.1 + plan.windows.1);
            bytes += plan.bytes;
            works.extend(plan.works);
        }
        let count = match wanted.limit {
            Some(_) => 1,
            None if table.ordered => table.logs.threads.min(works.len()).max(1),
            // Nobody has to share out batches behind a scan that does it itself.
            None => table.logs.threads,
        };
        let mut partitions = vec![Vec::new(); count];
        let whole = works.len().div_ceil(count).max(1);
        for (i, work) in works.into_iter().enumerate() {
            // Neighbours stay together where the order counts; elsewhere everybody has something to do to the end.
            let place = if table.ordered { i / whole } else { i % count };
            if let Some(partition) = partitions.get_mut(place) {
                partition.push(work);
            }
        }
        let schema = projected(&table.schema, &wanted.projection)?;
        let mut equivalences = EquivalenceProperties::new(schema);
        if table.ordered {
            orderings(&table, &wanted.projection).into_iter().for_each(|order| equivalences.add_ordering(order));
        }
        let properties = PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(count),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            table,
            wanted,
            partitions,
            windows,
            bytes,
            lends: false,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The same scan for who does not keep batches.
    pub(crate) fn lending(&self) -> Self {
        Self { lends: true, ..self.clone() }
    }

    pub(crate) fn lends(&self) -> bool {
        self.lends
    }

    /// What a partition reads.
    pub(crate) fn works(&self, partition: usize) -> &[Work] {
        self.partitions.get(partition).map_or(&[], |works| works)
    }

    /// The wanted columns.
    pub(crate) fn columns(&self) -> Vec<Column> {
        self.wanted.projection.iter().filter_map(|place| self.table.columns.get(*place).copied()).collect()
    }

    fn rows(&self) -> Precision<usize> {
        let found = self.wanted.kept.iter().filter_map(|place| self.table.sources.get(*place));
        let rows: u64 = found.clone().filter_map(|source| self.table.found(source)).map(|c| c.samples).sum();
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let whole = found.into_iter().all(|source| {
            let span = self.wanted.spans.get(source.log).copied().unwrap_or(Stretch::ALL);
            self.table.found(source).is_none_or(|c| span.start <= c.first.nanos() && c.last.nanos() <= span.end)
        });
        match self.wanted.limit {
            Some(limit) if limit < rows => Precision::Inexact(limit),
            _ if whole => Precision::Exact(rows),
            _ => Precision::Inexact(rows / 2),
        }
    }

    /// The earliest and the latest moment of what is wanted.
    fn extremes(&self, column: Column) -> Option<(ScalarValue, ScalarValue)> {
        let mut ends = self.wanted.kept.iter().filter_map(|place| {
            let source = self.table.sources.get(*place)?;
            let found = self.table.found(source).filter(|found| found.samples > 0)?;
            let value = |ns: i64| match column {
                Column::Time => self.table.logs.time(source.log, ns),
                _ => ScalarValue::Int64(Some(ns)),
            };
            Some((value(found.first.nanos()), value(found.last.nanos())))
        });
        let first = ends.next()?;
        Some(ends.fold(first, |(low, high), (first, last)| {
            (if first < low { first } else { low }, if last > high { last } else { high })
        }))
    }
}

/// Whether a source has any sample in the wanted stretch.
fn overlaps(table: &Table, wanted: &Wanted, place: usize) -> bool {
    let Some(source) = table.sources.get(place) else { return false };
    let span = wanted.spans.get(source.log).copied().unwrap_or(Stretch::ALL);
    let found = table.found(source).filter(|found| found.samples > 0 && !span.is_empty());
    found.is_some_and(|found| span.overlaps(found.first.nanos(), found.last.nanos()))
}

/// How the wanted part of one log is read.
struct Plan {
    works: Vec<Work>,
    windows: (usize, usize),
    bytes: u64,
}

fn plan(table: &Table, wanted: &Wanted, log: usize) -> Plan {
    let nothing = Plan { works: Vec::new(), windows: (0, 0), bytes: 0 };
    let Some(opened) = table.logs.log(log) else { return nothing };
    let of_log = |place: &usize| table.sources.get(*place).is_some_and(|source| source.log == log);
    let sources: Vec<usize> = wanted.kept.iter().copied().filter(of_log).collect();
    let found = |place: &usize| table.sources.get(*place).and_then(|source| table.found(source));
    let samples = |place: &usize| found(place).map_or(0, |found| found.samples);
    let wanted_samples: u64 = sources.iter().map(samples).sum();
    if wanted_samples == 0 {
        return nothing;
    }
    let all = opened.index.samples();
    // Unsorted channels must be whole to be put in order.
    let must_gather = table.ordered && !sources.iter().all(|place| found(place).is_some_and(|found| found.sorted));
    let short = sources.iter().all(|place| samples(place) <= LONG);
    let few = wanted_samples.saturating_mul(FEW) <= all || table.ordered && wanted_samples <= SHORT;
    // Without the places of records, finding some of them is reading everything.
    if must_gather || (opened.index.placed && few && short) {
        let bytes = sources.iter().filter_map(found).map(|found| found.bytes).sum();
        let mut works: Vec<Work> = Vec::new();
        let mut room = 0;
        for place in sources {
            let samples = samples(&place);
            match works.last_mut() {
                Some(Work::Gather { sources, .. }) if samples <= room || !opened.index.placed => {
                    room = room.saturating_sub(samples);
                    sources.push(place);
                }
                _ => {
                    room = SHORT.saturating_sub(samples);
                    works.push(Work::Gather { log, sources: vec![place] });
                }
            }
        }
        return Plan { works, windows: (0, 0), bytes };
    }
    let end = opened.bytes().len() as u64;
    let share = (end / (2 * table.logs.threads as u64)).max(GLANCE);
    let size = if wanted.limit.is_some() { GLANCE } else { table.logs.window.min(share) };
    let span = wanted.spans.get(log).copied().unwrap_or(Stretch::ALL);
    let all = opened.windows(size);
    let kept = windows::overlapping(opened, &all, span);
    let bytes = kept.iter().map(|window| window.end.min(end).saturating_sub(window.start)).sum();
    let windows = (kept.len(), all.len());
    let sources = Arc::new(sources);
    let works = kept.into_iter().map(|within| Work::Window { log, within, sources: sources.clone() }).collect();
    Plan { works, windows, bytes }
}

fn projected(schema: &SchemaRef, projection: &[usize]) -> Result<SchemaRef> {
    Ok(Arc::new(Schema::new(schema.project(projection)?.fields().clone())))
}

/// The orders in which rows come: by log and time, in each of its two columns.
fn orderings(table: &Table, projection: &[usize]) -> Vec<Vec<PhysicalSortExpr>> {
    let place = |column: Column| {
        let all = projection.iter().enumerate();
        let mut found = all.filter(|(_, place)| table.columns.get(**place) == Some(&column));
        let (at, place) = found.next()?;
        let expr = Arc::new(Place::new(table.schema.fields().get(*place)?.name(), at));
        Some(PhysicalSortExpr { expr, options: SortOptions::default() })
    };
    let log = if table.logs.named { Some(place(Column::Log)) } else { None };
    let first = match log {
        // Without the column `log` nothing can be said.
        Some(None) => return Vec::new(),
        Some(Some(log)) => vec![log],
        None => Vec::new(),
    };
    let times = [Column::TimeNs, Column::Time].into_iter().filter_map(place);
    times.map(|time| first.iter().cloned().chain([time]).collect()).collect()
}

impl DisplayAs for Scan {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if matches!(form, DisplayFormatType::TreeRender) { "\n" } else { ", " };
        let mut parts = vec![format!("table={}", self.table.name)];
        parts.push(format!("channels={} of {}", self.wanted.kept.len(), self.table.sources.len()));
        let names = self.wanted.projection.iter().filter_map(|place| self.table.schema.fields().get(*place));
        parts.push(format!("columns=[{}]", names.map(|field| field.name().as_str()).collect::<Vec<_>>().join(" ")));
        let mut spans = self.wanted.spans.clone();
        spans.dedup();
        match spans.as_slice() {
            [span] if *span == Stretch::ALL => {}
            [span] => parts.push(format!("time=[{}, {}]", End(span.start), End(span.end))),
            _ => parts.push("time=[in each log its own]".to_owned()),
        }
        match self.windows {
            (_, 0) => parts.push("by=index".to_owned()),
            (kept, all) => parts.push(format!("windows={kept} of {all}")),
        }
        parts.push(format!("bytes={}", self.bytes));
        if let Some(limit) = self.wanted.limit {
            parts.push(format!("limit={limit}"));
        }
        match form {
            DisplayFormatType::TreeRender => write!(f, "{}", parts.join(separator)),
            _ => write!(f, "LogScan: {}", parts.join(separator)),
        }
    }
}

/// An end of a stretch, in seconds.
struct End(i64);

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            i64::MIN => f.write_str("start"),
            i64::MAX => f.write_str("end"),
            ns => write!(f, "{}s", logpose_core::Time::from_nanos(ns)),
        }
    }
}

impl ExecutionPlan for Scan {
    fn name(&self) -> &'static str {
        "LogScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan of a log has no children") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("a scan of a log has no children") }
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(works) = self.partitions.get(partition) else {
            return internal_err!("a scan of {} parts has no part {partition}", self.partitions.len());
        };
        let reader = Reader::new(self, works.clone(), partition, &context, &self.metrics);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), futures::stream::iter(reader))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if args.partition().is_some() {
            return Ok(Arc::new(statistics));
        }
        statistics.num_rows = self.rows();
        let exact = matches!(statistics.num_rows, Precision::Exact(_));
        for (column, about) in self.columns().into_iter().zip(&mut statistics.column_statistics) {
            if !matches!(column, Column::Long(_) | Column::Value | Column::Field(_)) {
                about.null_count = Precision::Exact(0);
            }
            if exact
                && matches!(column, Column::Time | Column::TimeNs)
                && let Some((low, high)) = self.extremes(column)
            {
                *about = ColumnStatistics {
                    min_value: Precision::Exact(low),
                    max_value: Precision::Exact(high),
                    ..about.clone()
                };
            }
        }
        Ok(Arc::new(statistics))
    }
}

/// A channel is found through the index if what is wanted is at most one part of so many of the log: it costs a jump
/// for each sample, and reading everything does not.
const FEW: u64 = 4;
/// Samples of one channel that are in memory at once, and of several.
const LONG: u64 = 4 << 20;
const SHORT: u64 = 1 << 20;
/// The fewest bytes that are read at a time, and those if only the first rows are wanted.
const GLANCE: u64 = 1 << 20;
