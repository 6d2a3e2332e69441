//! Questions about whole channels of a lake, answered from its table `channels` instead of `samples`.
//!
//! Every row of `channels` says how many samples and values a channel of a log has, their min, max and sum, and the first
//! and the last time. An aggregation whose groups and conditions are about `log` and `channel` alone needs no more than
//! that. Counts, extremes and times are those of the samples to the bit. Sums of floating-point numbers depend on the order
//! in which they are added, over log files too, where every window is added up on its own: here each channel has been added
//! up in the order of time.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::catalog::default_table_source::source_as_provider;
use datafusion::catalog::{TableProvider, default_table_source::provider_as_source};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, AggregateUDF, Expr, LogicalPlan, LogicalPlanBuilder, cast, col, lit, when};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::lake::{Kept, is_samples};
use crate::tables;

/// Puts `channels` in the place of `samples`.
#[derive(Debug)]
pub(crate) struct WholeChannels(pub Arc<Kept>);

impl OptimizerRule for WholeChannels {
    fn name(&self) -> &'static str {
        "whole_channels"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        let Some(conditions) = conditions(&aggregate.input) else { return Ok(Transformed::no(plan)) };
        let about_names = |expr: &Expr| {
            let names = expr.column_refs().into_iter().all(|column| matches!(column.name(), "log" | "channel"));
            names && !expr.is_volatile() && !matches!(expr, Expr::GroupingSet(_))
        };
        if !aggregate.group_expr.iter().chain(&conditions).all(about_names) {
            return Ok(Transformed::no(plan));
        }
        let Some(channels) = self.0.channels()? else { return Ok(Transformed::no(plan)) };
        match from_channels(aggregate, conditions, channels)? {
            Some(plan) => Ok(Transformed::yes(plan)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// The conditions on the samples below, if there is nothing but conditions between.
fn conditions(plan: &LogicalPlan) -> Option<Vec<Expr>> {
    match plan {
        LogicalPlan::Filter(filter) => {
            let mut below = conditions(&filter.input)?;
            below.push(filter.predicate.clone());
            Some(below)
        }
        LogicalPlan::SubqueryAlias(alias) => conditions(&alias.input),
        LogicalPlan::Projection(projection) => {
            let plain = projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)));
            if plain { conditions(&projection.input) } else { None }
        }
        LogicalPlan::TableScan(scan) => {
            let provider = source_as_provider(&scan.source).ok()?;
            (scan.fetch.is_none() && is_samples(&*provider)).then(|| scan.filters.clone())
        }
        _ => None,
    }
}

/// The same aggregation over the rows of `channels`; `None` if they do not say enough.
fn from_channels(
    aggregate: &Aggregate,
    conditions: Vec<Expr>,
    channels: Arc<dyn TableProvider>,
) -> Result<Option<LogicalPlan>> {
    let mut aggregates: Vec<Expr> = Vec::new();
    let mut results: Vec<Expr> = Vec::new();
    for (place, expr) in aggregate.aggr_expr.iter().enumerate() {
        let Expr::AggregateFunction(function) = expr else { return Ok(None) };
        let Some(asked) = Asked::of(function) else { return Ok(None) };
        results.push(asked.answer(place, &mut aggregates)?);
    }
    // Channels without samples have no row in `samples`.
    let mut plan = LogicalPlanBuilder::scan(tables::CHANNELS, provider_as_source(channels), None)?
        .filter(col("samples").gt(lit(0_i64)))?;
    for condition in conditions {
        plan = plan.filter(bare(condition)?)?;
    }
    let groups = aggregate.group_expr.iter().cloned().map(bare).collect::<Result<Vec<_>>>()?;
    let groups: Vec<Expr> =
        groups.into_iter().enumerate().map(|(n, group)| group.alias(format!("group {n}"))).collect();
    let outer = (0..groups.len()).map(|n| Expr::Column(Column::new_unqualified(format!("group {n}")))).chain(results);
    let named = outer
        .zip(aggregate.schema.iter())
        .map(|(expr, (table, field))| expr.alias_qualified(table.cloned(), field.name()));
    let named: Vec<Expr> = named.collect();
    Ok(Some(plan.aggregate(groups, aggregates)?.project(named)?.build()?))
}

/// What is asked of all samples of a group.
struct Asked {
    what: What,
    function: Arc<AggregateUDF>,
}

#[derive(Clone, Copy)]
enum What {
    Rows,
    Values(&'static [&'static str]),
    Sum,
    Mean,
    Min,
    Max,
    First(&'static str),
    Last(&'static str),
}

impl Asked {
    fn of(function: &AggregateFunction) -> Option<Self> {
        let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = &function.params;
        if *distinct || filter.is_some() || !order_by.is_empty() || null_treatment.is_some() {
            return None;
        }
        let [argument] = args.as_slice() else { return None };
        let column = match argument {
            Expr::Column(column) => column.name(),
            Expr::Literal(value, _) if !value.is_null() => "",
            _ => return None,
        };
        let what = match (function.func.name(), column) {
            ("count", "" | "log" | "channel" | "time_ns") => What::Rows,
            ("count", "number") => What::Values(NUMBERS),
            ("count", "integer") => What::Values(INTEGERS),
            ("count", "boolean") => What::Values(&["boolean"]),
            ("sum", "number") => What::Sum,
            ("avg", "number") => What::Mean,
            ("min", "number") => What::Min,
            ("max", "number") => What::Max,
            ("min", "time_ns") => What::First("time_ns"),
            ("max", "time_ns") => What::Last("time_ns"),
            ("min", "time") => What::First("time"),
            ("max", "time") => What::Last("time"),
            _ => return None,
        };
        Some(Self { what, function: function.func.clone() })
    }

    /// The answer, out of aggregates over rows of `channels`, which are added.
    fn answer(&self, place: usize, aggregates: &mut Vec<Expr>) -> Result<Expr> {
        let mut add = |function: &Arc<AggregateUDF>, of: Expr| {
            let name = format!("value {place} {}", aggregates.len());
            aggregates.push(function.call(vec![of]).alias(&name));
            Expr::Column(Column::new_unqualified(name))
        };
        let none = || Expr::Literal(ScalarValue::Float64(None), None);
        let nan = || lit(f64::NAN);
        let has = |types: &[&str]| col("type").in_list(types.iter().map(|name| lit(*name)).collect(), false);
        let numbers = |of: Expr| when(has(NUMBERS), of).otherwise(none());
        let zero_if_none = |sum: Expr| when(sum.clone().is_null(), lit(0_i64)).otherwise(sum);
        let values = |types: &[&str]| when(has(types), col("values")).otherwise(lit(0_i64));
        Ok(match self.what {
            What::Rows => zero_if_none(add(&sum_udaf(), col("samples")))?,
            What::Values(types) => zero_if_none(add(&sum_udaf(), values(types)?))?,
            What::Sum => add(&sum_udaf(), numbers(col("sum"))?),
            What::Mean => {
                let sum = add(&sum_udaf(), numbers(col("sum"))?);
                let count = add(&sum_udaf(), values(NUMBERS)?);
                sum / cast(count, DataType::Float64)
            }
            // NaN is larger than all numbers.
            What::Min => {
                let all_nan = col("min").is_null().and(col("nans").gt(lit(0_i64)));
                add(&self.function, numbers(when(all_nan, nan()).otherwise(col("min"))?)?)
            }
            What::Max => add(&self.function, numbers(when(col("nans").gt(lit(0_i64)), nan()).otherwise(col("max"))?)?),
            What::First(column) => add(&self.function, end("first", column)),
            What::Last(column) => add(&self.function, end("last", column)),
        })
    }
}

/// The first or the last time of a channel.
fn end(which: &str, column: &str) -> Expr {
    if column == "time" { col(which) } else { col(format!("{which}_ns")) }
}

fn bare(expr: Expr) -> Result<Expr> {
    let unqualified = |expr: Expr| {
        Ok(match expr {
            Expr::Column(column) => Transformed::yes(Expr::Column(Column::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    };
    expr.transform(unqualified).data()
}

/// The types whose values are in `number`.
const NUMBERS: &[&str] = &["double", "float"];
/// The types whose values are in `integer`, with every name that [`logpose_core::Type::of`] knows.
const INTEGERS: &[&str] = &["int64", "int"];
