use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    UInt32Array, new_empty_array,
};
use arrow_schema::{Schema, SchemaRef, SortOptions};
use datafusion::arrow::compute::{concat, take};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, exec_err, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column as Place;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use logpose_core::{ChannelId, Time};
use logpose_model::{Memory, Shape, channel_batches};

use super::origin::Taken;
use super::{AlignedTable, Rows};
use crate::push::Stretch;
use crate::read::{external, field_of, fitted};

/// Reads channels and puts them side by side, log by log: one part for each opened log, and as many as there are threads over
/// a lake, whose logs are taken out one after the other.
#[derive(Clone, Debug)]
pub(super) struct AlignedScan {
    table: Arc<AlignedTable>,
    projection: Vec<usize>,
    spans: Vec<Stretch>,
    limit: Option<usize>,
    /// The logs of each part.
    parts: Vec<Vec<usize>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl AlignedScan {
    pub(super) fn new(
        table: Arc<AlignedTable>,
        projection: Vec<usize>,
        spans: Vec<Stretch>,
        limit: Option<usize>,
        logs: Vec<usize>,
    ) -> Result<Self> {
        let schema = Arc::new(Schema::new(table.schema.project(&projection)?.fields().clone()));
        let mut equivalences = EquivalenceProperties::new(schema.clone());
        let place = |name: &str| {
            let (at, field) = schema.column_with_name(name)?;
            let expr = Arc::new(Place::new(field.name(), at));
            Some(PhysicalSortExpr { expr, options: SortOptions::default() })
        };
        let is_lake = table.origin.is_lake();
        let count = if is_lake { table.logs.threads.min(logs.len()) } else { logs.len() }.max(1);
        let mut parts = vec![Vec::new(); count];
        for (turn, log) in logs.into_iter().enumerate() {
            parts.get_mut(turn % count).into_iter().for_each(|part| part.push(log));
        }
        // A part of one log is in the order of time. Where the logs of a lake share one their names come first.
        let first = if is_lake { place("log").map(|log| vec![log]) } else { Some(Vec::new()) };
        if let Some(first) = first {
            let orders = ["time_ns", "time"].into_iter().filter_map(place);
            orders.for_each(|order| equivalences.add_ordering(first.iter().cloned().chain([order])));
        }
        let properties = PlanProperties::new(
            equivalences,
            Partitioning::UnknownPartitioning(count),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let (properties, metrics) = (Arc::new(properties), ExecutionPlanMetricsSet::new());
        Ok(Self { table, projection, spans, limit, parts, properties, metrics })
    }

    /// The channels whose values are wanted.
    fn wanted(&self) -> Vec<usize> {
        let first = self.table.first();
        let outputs = self.projection.iter().filter_map(|place| self.table.outputs.get(place.checked_sub(first)?));
        let mut wanted: Vec<usize> = outputs.map(|output| output.series).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// The channels that are read.
    fn needed(&self) -> Vec<usize> {
        let mut needed = self.wanted();
        match self.table.rows {
            Rows::Every => needed = (0..self.table.series.len()).collect(),
            Rows::OfFirst if needed.first() != Some(&0) => needed.insert(0, 0),
            _ => {}
        }
        needed
    }

    /// What makes the rows of a log.
    async fn holder(&self, log: usize, partition: usize, context: &Arc<TaskContext>) -> Result<Holder> {
        let needed = self.needed();
        Ok(Holder {
            scan: self.clone(),
            schema: self.schema(),
            log,
            taken: self.table.origin.take(log, &self.table.series, &needed, context).await?,
            needed,
            loaded: None,
            left: self.limit.unwrap_or(usize::MAX),
            rows: context.session_config().batch_size(),
            reservation: MemoryConsumer::new("holding values").register(context.memory_pool()),
            baseline: BaselineMetrics::new(&self.metrics, partition),
            samples: MetricBuilder::new(&self.metrics).counter("samples_decoded", partition),
        })
    }
}

impl DisplayAs for AlignedScan {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, wanted) = (&self.table, self.wanted().len());
        let separator = if matches!(form, DisplayFormatType::TreeRender) { "\n" } else { ", " };
        if !matches!(form, DisplayFormatType::TreeRender) {
            f.write_str("AlignedScan: ")?;
        }
        write!(f, "table={}{separator}channels={wanted} of {}", table.name, table.series.len())?;
        let (logs, all) = (self.parts.iter().map(Vec::len).sum::<usize>(), table.logs.names.len());
        if logs < all || table.origin.is_lake() {
            write!(f, "{separator}logs={logs} of {all}")?;
        }
        match table.rows {
            Rows::Period(ns) => write!(f, "{separator}every={}s", Time::from_nanos(ns))?,
            Rows::Every => write!(f, "{separator}every=time")?,
            Rows::OfFirst => write!(f, "{separator}every=sample of the first")?,
        }
        if self.spans.iter().any(|span| *span != Stretch::ALL) {
            write!(f, "{separator}time=limited")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for AlignedScan {
    fn name(&self) -> &'static str {
        "AlignedScan"
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
        let Some(logs) = self.parts.get(partition).cloned() else {
            return internal_err!("a scan of {} parts has no part {partition}", self.parts.len());
        };
        let scan = self.clone();
        let holders = futures::stream::iter(logs).then(move |log| {
            let (scan, context) = (scan.clone(), context.clone());
            async move { scan.holder(log, partition, &context).await }
        });
        let rows = holders.map_ok(futures::stream::iter).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Makes the rows of one log.
struct Holder {
    scan: AlignedScan,
    schema: SchemaRef,
    log: usize,
    /// The channels that are needed, and the log that has them.
    needed: Vec<usize>,
    taken: Option<Taken>,
    loaded: Option<Loaded>,
    left: usize,
    rows: usize,
    reservation: MemoryReservation,
    baseline: BaselineMetrics,
    samples: Count,
}

/// What is in memory.
struct Loaded {
    moments: Moments,
    /// By their places among the series.
    series: BTreeMap<usize, Track>,
}

/// The samples of a channel in the order of their times, and how far they have been used.
struct Track {
    times: Int64Array,
    values: ArrayRef,
    at: usize,
}

/// When the next rows are.
enum Moments {
    Period { next: Option<i64>, last: i64, period: i64 },
    Listed { times: Int64Array, at: usize },
}

impl Moments {
    /// The next of them, up to a number, and the place of the first.
    fn take(&mut self, rows: usize) -> (usize, Int64Array) {
        match self {
            Self::Listed { times, at } => {
                let from = *at;
                let count = rows.min(times.len() - from);
                *at += count;
                (from, times.slice(from, count))
            }
            Self::Period { next, last, period } => {
                let mut some = Vec::new();
                while let Some(time) = next.filter(|time| some.len() < rows && *time <= *last) {
                    some.push(time);
                    *next = time.checked_add(*period);
                }
                (0, some.into())
            }
        }
    }
}

impl Holder {
    fn load(&mut self) -> Result<Loaded> {
        let table = self.scan.table.clone();
        let span = self.scan.spans.get(self.log).copied().unwrap_or(Stretch::ALL);
        let mut series = self.tracks(&table)?;
        let moments = match table.rows {
            Rows::Period(period) => period_moments(table.range(self.log), period, span)?,
            Rows::OfFirst => {
                listed(series.get(&0).map(|track| track.times.values().to_vec()), span, series.get_mut(&0))
            }
            Rows::Every => {
                let mut all: Vec<i64> =
                    series.values().flat_map(|track| track.times.values().iter().copied()).collect();
                all.sort_unstable();
                all.dedup();
                listed(Some(all), span, None)
            }
        };
        Ok(Loaded { moments, series })
    }

    /// All samples of the channels.
    fn tracks(&mut self, table: &AlignedTable) -> Result<BTreeMap<usize, Track>> {
        let taken = self.taken.take();
        let found: &[(usize, ChannelId, Shape)] = taken.as_ref().map_or(&[], |taken| &taken.channels);
        let ids: Vec<_> = found.iter().map(|(_, id, _)| *id).collect();
        let columns = taken.as_ref().map(|taken| taken.log.columns(&ids)).transpose().map_err(external)?;
        let (columns, memory) = columns.unwrap_or_default().into_parts();
        let memory = Memory::from(memory);
        let mut tracks = BTreeMap::new();
        for place in &self.needed {
            let Some(one) = table.series.get(*place) else { continue };
            let mut track = Track { times: Vec::<i64>::new().into(), values: new_empty_array(&one.data_type), at: 0 };
            let own = found.iter().zip(&columns).find(|((of, ..), _)| of == place);
            if let Some(((.., shape), column)) = own {
                let batches = channel_batches(column, &memory, shape);
                let joined = |place: usize| {
                    let parts: Vec<&dyn Array> =
                        batches.iter().filter_map(|batch| Some(batch.columns().get(place)?.as_ref())).collect();
                    if parts.is_empty() { Ok(None) } else { concat(&parts).map(Some) }
                };
                if let (Some(times), Some(values)) = (joined(0)?, joined(1)?) {
                    self.samples.add(times.len());
                    self.reservation.try_grow(times.get_array_memory_size() + values.get_array_memory_size())?;
                    track.times = times.as_primitive().clone();
                    track.values = fitted(values, &one.data_type, Some(&one.channel))?;
                }
            }
            tracks.insert(*place, track);
        }
        Ok(tracks)
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        if self.loaded.is_none() {
            self.loaded = Some(self.load()?);
        }
        let Some(loaded) = &mut self.loaded else { return Ok(None) };
        let table = &self.scan.table;
        let (from, moments) = loaded.moments.take(self.rows.min(self.left));
        if moments.is_empty() {
            self.loaded = None;
            self.left = 0;
            self.reservation.free();
            return Ok(None);
        }
        self.left -= moments.len();
        let own = matches!(table.rows, Rows::OfFirst);
        let mut rows: BTreeMap<usize, UInt32Array> = BTreeMap::new();
        for (place, track) in &mut loaded.series {
            let picked = if own && *place == 0 {
                (from..from + moments.len()).map(|row| u32::try_from(row + track.at).ok()).collect()
            } else {
                track.rows(&moments, table.oldest)
            };
            rows.insert(*place, picked);
        }
        let first = table.first();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.scan.projection.len());
        for place in &self.scan.projection {
            arrays.push(match (first - *place.min(&first), place.checked_sub(first)) {
                (3, _) => {
                    let key = i32::try_from(self.log).unwrap_or(i32::MAX);
                    let names = Arc::new(StringArray::from_iter_values(&table.logs.names));
                    Arc::new(DictionaryArray::try_new(Int32Array::from_value(key, moments.len()), names)?)
                }
                (2, _) => table.logs.times(self.log, &moments),
                (1, _) => Arc::new(moments.clone()),
                (_, output) => {
                    let output = output.and_then(|output| table.outputs.get(output));
                    let found = output.and_then(|output| {
                        Some((output, loaded.series.get(&output.series)?, rows.get(&output.series)?))
                    });
                    let Some((output, track, rows)) = found else { return internal_err!("no such column") };
                    let mut values = track.values.clone();
                    for part in &output.path {
                        values = values.as_struct_opt().and_then(|parts| field_of(parts, *part)).unwrap_or(values);
                    }
                    take(&values, rows, None)?
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(moments.len()));
        Ok(Some(RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?))
    }
}

impl Track {
    /// For each moment the last sample that is not behind it, nor too old.
    fn rows(&mut self, moments: &Int64Array, oldest: Option<i64>) -> UInt32Array {
        let times = self.times.values();
        let row = |moment: &i64| {
            while times.get(self.at).is_some_and(|time| time <= moment) {
                self.at += 1;
            }
            let last = self.at.checked_sub(1)?;
            let age = moment.saturating_sub(*times.get(last)?);
            u32::try_from(last).ok().filter(|_| oldest.is_none_or(|oldest| age <= oldest))
        };
        moments.values().iter().map(row).collect()
    }
}

impl Iterator for Holder {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let timer = self.baseline.elapsed_compute().clone();
        let _timing = timer.timer();
        let next = self.advance();
        match &next {
            Ok(Some(batch)) => self.baseline.record_output(batch.num_rows()),
            Ok(None) => self.baseline.done(),
            Err(_) => self.left = 0,
        }
        next.transpose()
    }
}

/// Moments that are given, as far as they are wanted. `own` is told which of them is the first.
fn listed(times: Option<Vec<i64>>, span: Stretch, own: Option<&mut Track>) -> Moments {
    let mut times = times.unwrap_or_default();
    let from = times.partition_point(|ns| *ns < span.start);
    times.truncate(times.partition_point(|ns| *ns <= span.end));
    times.drain(..from.min(times.len()));
    if let Some(own) = own {
        own.at = from;
    }
    Moments::Listed { times: times.into(), at: 0 }
}

/// Moments that are one period apart, as far as they are wanted.
fn period_moments(range: Option<(i64, i64)>, period: i64, span: Stretch) -> Result<Moments> {
    let Some((first, last)) = range else { return Ok(Moments::Period { next: None, last: 0, period }) };
    let last = last.min(span.end);
    // The rows stay where they are, however few of them are wanted.
    let skipped = i128::from(span.start.max(first)) - i128::from(first);
    let steps = skipped.unsigned_abs().div_ceil(u128::from(period.unsigned_abs()));
    let next =
        i128::try_from(steps).ok().and_then(|steps| i64::try_from(i128::from(first) + steps * i128::from(period)).ok());
    let rows = next.map_or(0, |next| (i128::from(last) - i128::from(next)) / i128::from(period));
    if rows > MOST_ROWS {
        return exec_err!(
            "wide: too many rows: {rows} from {} s to {} s; some timestamps are probably from another clock, so limit the range with WHERE time BETWEEN",
            Time::from_nanos(first),
            Time::from_nanos(last)
        );
    }
    Ok(Moments::Period { next, last, period })
}

/// A week of milliseconds.
const MOST_ROWS: i128 = 604_800_000;
