//! `GROUP BY channel` without looking at every row.
//!
//! Every batch of a scan is of one channel, so a group is known for a batch as a whole: DataFusion's own accumulators are
//! given whole arrays instead of a number for each row.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use datafusion::arrow::compute::{concat, filter, prep_null_mask_filter};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Accumulator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column as Place;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateInputMode, aggregate_expressions, create_accumulators, finalize_aggregation,
};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, TryStreamExt};

use crate::scan::Scan;
use crate::table::Column;

/// Puts [`Grouped`] in the place of aggregations over a scan whose groups depend on names alone.
#[derive(Debug)]
pub(crate) struct ByChannel;

impl PhysicalOptimizerRule for ByChannel {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            let grouped = node.downcast_ref::<AggregateExec>().and_then(Grouped::of);
            Ok(grouped.map_or_else(
                || Transformed::no(node.clone()),
                |grouped| Transformed::yes(Arc::new(grouped) as Arc<dyn ExecutionPlan>),
            ))
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

/// An aggregation whose groups are channels.
#[derive(Clone, Debug)]
struct Grouped {
    /// What it stands for.
    plan: Arc<AggregateExec>,
    /// The scan.
    input: Arc<dyn ExecutionPlan>,
    /// Where in a batch its names are.
    names: Vec<usize>,
    metrics: ExecutionPlanMetricsSet,
}

impl Grouped {
    fn of(plan: &AggregateExec) -> Option<Self> {
        let scan = scan_below(plan.input())?;
        let groups = plan.group_expr();
        let columns = scan.columns();
        let names: Vec<usize> = (0..)
            .zip(&columns)
            .filter(|(_, column)| matches!(column, Column::Log | Column::Label))
            .map(|(place, _)| place)
            .collect();
        let by_name = |expr: &Arc<dyn PhysicalExpr>| {
            collect_columns(expr).iter().all(|column| names.contains(&column.index())) && !expr.is_volatile()
        };
        let simple = plan.mode().input_mode() == AggregateInputMode::Raw
            && plan.limit_options().is_none()
            && plan.dynamic_filter_expr().is_none()
            && groups.is_single()
            && !groups.expr().is_empty()
            && groups.expr().iter().all(|(expr, _)| by_name(expr))
            && plan.aggr_expr().iter().all(|aggregate| aggregate.order_bys().is_empty());
        simple.then(|| Self {
            plan: Arc::new(plan.clone()),
            input: plan.input().clone(),
            names,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }
}

/// The scan, if nothing lies between that mixes channels in a batch.
fn scan_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&Scan> {
    match plan.downcast_ref::<CooperativeExec>() {
        Some(between) => scan_below(between.input()),
        None => plan.downcast_ref::<Scan>(),
    }
}

impl DisplayAs for Grouped {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(form, DisplayFormatType::TreeRender) {
            f.write_str("ByChannel: ")?;
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
        use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.plan.apply_expressions(f)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.input.execute(partition, context.clone())?;
        let mut groups = Groups::new(&self.plan, self.names.clone(), &context)?;
        let baseline = BaselineMetrics::new(&self.metrics, partition);
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
        let stream = futures::stream::once(result).try_filter(|batch| futures::future::ready(batch.num_rows() > 0));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// What was accumulated so far.
struct Groups {
    plan: Arc<AggregateExec>,
    schema: SchemaRef,
    names: Vec<usize>,
    arguments: Vec<Vec<Arc<dyn PhysicalExpr>>>,
    /// The group of each channel, by the keys of its names.
    channels: HashMap<Vec<i32>, usize>,
    groups: HashMap<Vec<ScalarValue>, usize>,
    keys: Vec<Vec<ScalarValue>>,
    accumulators: Vec<Vec<Box<dyn Accumulator>>>,
    reservation: MemoryReservation,
}

impl Groups {
    fn new(plan: &Arc<AggregateExec>, names: Vec<usize>, context: &TaskContext) -> Result<Self> {
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
                let mask: BooleanArray = prep_null_mask_filter(mask.as_boolean());
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

    /// The group of a batch: all its rows have the same names.
    fn group(&mut self, batch: &RecordBatch) -> Result<usize> {
        let key = |place: &usize| {
            let names = batch.columns().get(*place)?.as_dictionary_opt::<Int32Type>()?;
            names.keys().values().first().copied()
        };
        let channel: Vec<i32> = self.names.iter().filter_map(key).collect();
        if let Some(group) = self.channels.get(&channel) {
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
        self.channels.insert(channel, group);
        Ok(group)
    }

    fn finish(mut self) -> Result<RecordBatch> {
        if self.keys.is_empty() {
            return Ok(RecordBatch::new_empty(self.schema));
        }
        let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); self.schema.fields().len()];
        for (key, accumulators) in self.keys.iter().zip(&mut self.accumulators) {
            let keys = key.iter().map(ScalarValue::to_array).collect::<Result<Vec<_>>>()?;
            let results = finalize_aggregation(accumulators, self.plan.mode())?;
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
