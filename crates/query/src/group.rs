//! `GROUP BY channel` without looking at every row.
//!
//! Every batch of a scan is of one channel, so a group is known for a batch as a whole: DataFusion's own accumulators are
//! given whole arrays instead of a number for each row.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use datafusion::arrow::compute::{concat, filter, prep_null_mask_filter};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Accumulator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateInputMode, AggregateOutputMode, aggregate_expressions, create_accumulators,
};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::udaf::AggregateFunctionExpr;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use logpose_core::Sum;
use tokio::task::yield_now;

use crate::logs::name_type;
use crate::scan::Scan;
use crate::sums;
use crate::table::Column;

/// Puts [`Grouped`] in the place of aggregations over a scan whose groups depend on names alone. Other aggregations
/// directly over a scan get its memory without a copy.
#[derive(Debug)]
pub(crate) struct ByChannel;

impl PhysicalOptimizerRule for ByChannel {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let Some(plan) = node.downcast_ref::<AggregateExec>() else { return Ok(Transformed::no(node)) };
            let Some(batches) = Batches::of(plan.input())? else { return Ok(Transformed::no(node)) };
            if let Some(grouped) = Grouped::of(plan, &batches) {
                return Ok(Transformed::yes(Arc::new(grouped)));
            }
            Ok(Transformed::yes(node.replace_children(vec![batches.plan], KEEP)?))
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "by_channel"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Has joins let others run now and then: they can make far more rows than they read, without ever waiting for any, and
/// would not notice that their query was given up.
#[derive(Debug)]
pub(crate) struct YieldingJoins;

impl PhysicalOptimizerRule for YieldingJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| match node.name() {
            "NestedLoopJoinExec" | "CrossJoinExec" | "HashJoinExec" | "SortMergeJoinExec" => {
                Ok(Transformed::yes(Arc::new(Yielding { join: node }) as Arc<dyn ExecutionPlan>))
            }
            _ => Ok(Transformed::no(node)),
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "yielding_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A join that lets others run whenever it has worked for a while. DataFusion's own way counts batches, and a batch of a
/// join can take any time.
#[derive(Debug)]
struct Yielding {
    join: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for Yielding {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ExecutionPlan for Yielding {
    fn name(&self) -> &'static str {
        "Yielding"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.join.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.join]
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(join), true) => Ok(Arc::new(Self { join })),
            _ => internal_err!("there is one join"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batches = self.join.execute(partition, context)?;
        let (schema, mut since) = (batches.schema(), Instant::now());
        let batches = batches.then(move |batch| {
            let tired = since.elapsed() > STRETCH;
            if tired {
                since = Instant::now();
            }
            async move {
                if tired {
                    yield_now().await;
                }
                batch
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// For how long a join works before others may run.
const STRETCH: Duration = Duration::from_millis(20);

/// An aggregation whose groups are channels.
#[derive(Clone, Debug)]
struct Grouped {
    /// What it stands for.
    plan: Arc<AggregateExec>,
    /// Batches of one channel each.
    input: Arc<dyn ExecutionPlan>,
    /// The scan, where its sums are all that is asked for.
    sums: Option<Arc<Scan>>,
    metrics: ExecutionPlanMetricsSet,
}

impl Grouped {
    fn of(plan: &AggregateExec, batches: &Batches) -> Option<Self> {
        let groups = plan.group_expr();
        let names = &batches.names;
        let simple = plan.mode().input_mode() == AggregateInputMode::Raw
            && plan.limit_options().is_none()
            && plan.dynamic_expressions_produced().is_empty()
            && groups.is_single()
            && !groups.expr().is_empty()
            && groups.expr().iter().all(|(expr, _)| by_name(expr, names))
            && plan.aggr_expr().iter().all(|aggregate| is_known(aggregate));
        simple.then(|| Self {
            plan: Arc::new(plan.clone()),
            input: batches.plan.clone(),
            sums: sums::scan_below(plan).map(Arc::new),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }
}

impl Grouped {
    /// A stream of one batch, or of none if it is empty.
    fn once(&self, result: impl Future<Output = Result<RecordBatch>> + Send + 'static) -> SendableRecordBatchStream {
        let stream = futures::stream::once(result).try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
        Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream))
    }
}

/// Whether one accumulator for each group gives what DataFusion's hash tables give.
///
/// Where it keeps all groups in one accumulator, what the two kinds hand on for merging need not be the same: for groups
/// without values it often is not. So these are only the ones for which a test says so.
fn is_known(aggregate: &AggregateFunctionExpr) -> bool {
    let same = ["count", "sum", "avg", "min", "max", "bool_and", "bool_or"];
    aggregate.order_bys().is_empty()
        && (same.contains(&aggregate.fun().name()) || !aggregate.groups_accumulator_supported())
}

/// A plan whose batches are of one channel each.
struct Batches {
    /// It lends its memory: what is added up is not kept.
    plan: Arc<dyn ExecutionPlan>,
    /// Where in a batch are its names, and what depends on them alone: all rows have the same.
    names: Vec<usize>,
}

fn by_name(expr: &Arc<dyn PhysicalExpr>, names: &[usize]) -> bool {
    collect_columns(expr).iter().all(|column| names.contains(&column.index())) && !is_volatile(expr)
}

impl Batches {
    /// A scan, or what changes its batches one by one.
    fn of(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Self>> {
        if let Some(scan) = plan.downcast_ref::<Scan>() {
            let is_name = |(_, column): &(usize, Column)| matches!(column, Column::Log | Column::Label);
            let names = scan.columns().into_iter().enumerate().filter(is_name).map(|(place, _)| place).collect();
            return Ok(Some(Self { plan: Arc::new(scan.lending()), names }));
        }
        if let Some(between) = plan.downcast_ref::<CooperativeExec>() {
            let Some(below) = Self::of(between.input())? else { return Ok(None) };
            return Ok(Some(Self { plan: Arc::new(CooperativeExec::new(below.plan)), names: below.names }));
        }
        let Some(projection) = plan.downcast_ref::<ProjectionExec>() else { return Ok(None) };
        let Some(below) = Self::of(projection.input())? else { return Ok(None) };
        let outputs = projection.expr().iter().enumerate();
        let names = outputs.filter(|(_, output)| by_name(&output.expr, &below.names)).map(|(place, _)| place).collect();
        Ok(Some(Self { plan: plan.clone().replace_children(vec![below.plan], KEEP)?, names }))
    }
}

impl DisplayAs for Grouped {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(form, DisplayFormatType::TreeRender) {
            f.write_str(if self.sums.is_some() { "ByChannel: sums: " } else { "ByChannel: " })?;
        }
        self.plan.fmt_as(form, f)
    }
}

impl ExecutionPlan for Grouped {
    fn name(&self) -> &'static str {
        "ByChannel"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.plan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self { input, ..Self::clone(&self) })),
            _ => internal_err!("an aggregation has one input"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.plan.apply_expressions(f)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut groups = Groups::new(&self.plan, &context)?;
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        if let Some(scan) = self.sums.clone() {
            let result = async move {
                let timer = baseline.elapsed_compute().timer();
                for (place, sum) in sums::of(&scan, partition)? {
                    groups.merge(&sums::row(&scan, place)?, sum)?;
                }
                timer.done();
                let result = groups.finish()?;
                baseline.record_output(result.num_rows());
                Ok(result)
            };
            return Ok(self.once(result));
        }
        let mut input = self.input.execute(partition, context.clone())?;
        let result = async move {
            while let Some(batch) = input.next().await {
                let timer = baseline.elapsed_compute().timer();
                groups.add(&batch?)?;
                timer.done();
            }
            drop(input);
            let result = groups.finish()?;
            baseline.record_output(result.num_rows());
            Ok(result)
        };
        Ok(self.once(result))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// What was accumulated so far.
struct Groups {
    plan: Arc<AggregateExec>,
    schema: SchemaRef,
    /// The columns that decide the group, if all of them are names.
    names: Option<Vec<usize>>,
    arguments: Vec<Vec<Arc<dyn PhysicalExpr>>>,
    /// The group of each channel, by the keys of its names.
    channels: HashMap<Vec<i32>, usize>,
    groups: HashMap<Vec<ScalarValue>, usize>,
    keys: Vec<Vec<ScalarValue>>,
    accumulators: Vec<Vec<Box<dyn Accumulator>>>,
    reservation: MemoryReservation,
}

impl Groups {
    fn new(plan: &Arc<AggregateExec>, context: &TaskContext) -> Result<Self> {
        let input = plan.input_schema();
        let is_name = |place: usize| input.fields().get(place).is_some_and(|field| *field.data_type() == name_type());
        let columns = plan.group_expr().expr().iter().flat_map(|(expr, _)| collect_columns(expr));
        let names = columns.map(|column| is_name(column.index()).then_some(column.index())).collect();
        let arguments = aggregate_expressions(plan.aggr_expr(), plan.mode(), plan.group_expr().num_group_exprs())?;
        Ok(Self {
            plan: plan.clone(),
            schema: plan.schema(),
            names,
            arguments,
            channels: HashMap::new(),
            groups: HashMap::new(),
            keys: Vec::new(),
            accumulators: Vec::new(),
            reservation: MemoryConsumer::new("grouping by channel").register(context.memory_pool()),
        })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let group = self.group(batch)?;
        let Some(accumulators) = self.accumulators.get_mut(group) else { return internal_err!("no such group") };
        let before: usize = accumulators.iter().map(|one| one.size()).sum();
        let filters = self.plan.filter_expr();
        for ((accumulator, arguments), condition) in accumulators.iter_mut().zip(&self.arguments).zip(filters) {
            let mut values = arguments
                .iter()
                .map(|argument| argument.evaluate(batch)?.into_array(batch.num_rows()))
                .collect::<Result<Vec<ArrayRef>>>()?;
            if let Some(condition) = condition {
                let mask = condition.evaluate(batch)?.into_array(batch.num_rows())?;
                let mask = mask.as_boolean();
                // NULL is not true.
                let mask = if mask.null_count() > 0 { prep_null_mask_filter(mask) } else { mask.clone() };
                values = values.iter().map(|array| Ok(filter(array, &mask)?)).collect::<Result<_>>()?;
            }
            accumulator.update_batch(&values)?;
        }
        let after: usize = accumulators.iter().map(|one| one.size()).sum();
        if after > before {
            self.reservation.try_grow(after - before)?;
        }
        Ok(())
    }

    /// Adds the sum of a channel, of which there is one row.
    fn merge(&mut self, row: &RecordBatch, sum: Sum) -> Result<()> {
        let group = self.group(row)?;
        let Some(accumulators) = self.accumulators.get_mut(group) else { return internal_err!("no such group") };
        for (accumulator, aggregate) in accumulators.iter_mut().zip(self.plan.aggr_expr()) {
            if let Some(state) = sums::state(aggregate, sum) {
                accumulator.merge_batch(&state)?;
            }
        }
        Ok(())
    }

    /// The group of a batch: all its rows have the same names.
    fn group(&mut self, batch: &RecordBatch) -> Result<usize> {
        let key = |place: &usize| {
            let names = batch.columns().get(*place)?.as_dictionary_opt::<Int32Type>()?;
            names.keys().values().first().copied()
        };
        let channel: Option<Vec<i32>> = self.names.as_ref().and_then(|names| names.iter().map(key).collect());
        if let Some(group) = channel.as_ref().and_then(|channel| self.channels.get(channel)) {
            return Ok(*group);
        }
        let row = batch.slice(0, 1);
        let value = |(expr, _): &(Arc<dyn PhysicalExpr>, String)| {
            ScalarValue::try_from_array(&expr.evaluate(&row)?.into_array(1)?, 0)
        };
        let key = self.plan.group_expr().expr().iter().map(value).collect::<Result<Vec<_>>>()?;
        let group = match self.groups.get(&key) {
            Some(group) => *group,
            None => {
                self.accumulators.push(create_accumulators(self.plan.aggr_expr())?);
                self.keys.push(key.clone());
                let group = self.keys.len() - 1;
                self.groups.insert(key, group);
                group
            }
        };
        if let Some(channel) = channel {
            self.channels.insert(channel, group);
        }
        Ok(group)
    }

    fn finish(mut self) -> Result<RecordBatch> {
        if self.keys.is_empty() {
            return Ok(RecordBatch::new_empty(self.schema));
        }
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.schema.fields().len()];
        for (key, accumulators) in self.keys.iter().zip(&mut self.accumulators) {
            let keys = key.iter().map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
            let mut results = Vec::new();
            for (accumulator, aggregate) in accumulators.iter_mut().zip(self.plan.aggr_expr()) {
                results.extend(result(accumulator, aggregate, self.plan.mode().output_mode())?);
            }
            for (column, array) in columns.iter_mut().zip(keys.into_iter().chain(results)) {
                column.push(array);
            }
        }
        let columns = columns
            .iter()
            .map(|parts| Ok(concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())?))
            .collect::<Result<Vec<_>>>()?;
        Ok(RecordBatch::try_new(self.schema, columns)?)
    }
}

/// What an accumulator found, or what is to be merged with what others found.
fn result(
    accumulator: &mut Box<dyn Accumulator>,
    aggregate: &AggregateFunctionExpr,
    mode: AggregateOutputMode,
) -> Result<Vec<ArrayRef>> {
    if mode == AggregateOutputMode::Final {
        return Ok(vec![accumulator.evaluate()?.to_array()?]);
    }
    let mut state = accumulator.state()?;
    // The mean of no values is a count of 0 here, and NULL for those who merge it: they would divide by it.
    if aggregate.fun().name() == "avg" && state.iter().any(ScalarValue::is_null) {
        for part in &mut state {
            *part = ScalarValue::try_new_null(&part.data_type())?;
        }
    }
    state.iter().map(ScalarValue::to_array).collect()
}

const KEEP: ReplaceChildrenOptions = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
