//! Counts, sums and means of the numbers of channels, added up while the log is walked: no column is made.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, Int64Array, RecordBatch, UInt64Array, new_null_array,
};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::expressions::Column as Place;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::udaf::AggregateFunctionExpr;
use logpose_core::{Lookup, Sum};

use crate::push::Stretch;
use crate::read::external;
use crate::scan::{Scan, Work};
use crate::table::Column;

/// The scan below an aggregation, if sums of whole channels are all that is asked of it.
pub(crate) fn scan_below(plan: &AggregateExec) -> Option<Scan> {
    let mut below = plan.input();
    if let Some(between) = below.downcast_ref::<CooperativeExec>() {
        below = between.input();
    }
    let scan = below.downcast_ref::<Scan>()?;
    let columns = scan.columns();
    let number = |place: usize| {
        matches!(columns.get(place), Some(Column::Long(_)))
            && scan.schema().fields().get(place).is_some_and(|field| field.name() == "number")
    };
    let of_numbers = |aggregate: &Arc<AggregateFunctionExpr>| {
        let arguments = aggregate.expressions();
        let [argument] = arguments.as_slice() else { return false };
        matches!(aggregate.fun().name(), "avg" | "sum" | "count")
            && !aggregate.is_distinct()
            && argument.downcast_ref::<Place>().is_some_and(|place| number(place.index()))
    };
    let whole = scan.wanted.limit.is_none() && scan.wanted.spans.iter().all(|span| *span == Stretch::ALL);
    let plain = !plan.aggr_expr().is_empty()
        && plan.aggr_expr().iter().all(of_numbers)
        && plan.filter_expr().iter().all(Option::is_none)
        && plan.group_expr().expr().iter().all(|(expr, _)| expr.downcast_ref::<Place>().is_some());
    (whole && plain).then(|| scan.clone())
}

/// The sums of what a partition of a scan reads, by source. The first partition has all sources, also those without
/// numbers.
pub(crate) fn of(scan: &Scan, partition: usize) -> Result<Vec<(usize, Sum)>> {
    let mut sums: HashMap<usize, Sum> = HashMap::new();
    if partition == 0 {
        sums.extend(scan.wanted.kept.iter().map(|place| (*place, Sum::default())));
    }
    let mut add = |place: usize, sum: &Sum| {
        let known = sums.entry(place).or_default();
        *known = Sum { count: known.count + sum.count, sum: known.sum + sum.sum };
    };
    for work in scan.works(partition) {
        let (log, within, sources) = match work {
            Work::Gather { log, sources } => (*log, None, sources),
            Work::Window { log, within, sources } => (*log, Some(*within), &**sources),
        };
        let Some(opened) = scan.table.logs.log(log) else { continue };
        let found = |place: &usize| scan.table.sources.get(*place).map(|source| (*place, source.id));
        let found: Vec<_> = sources.iter().filter_map(found).collect();
        match within {
            Some(within) => {
                let mut channels = vec![false; opened.index.channels.len()];
                for (_, id) in &found {
                    channels.get_mut(*id as usize).into_iter().for_each(|wanted| *wanted = true);
                }
                let lookup = Lookup { channels, within: Some(within), untimed: true, ..Lookup::default() };
                let sums = opened.sums(&lookup).map_err(external)?;
                opened.pass(within);
                found.iter().for_each(|(place, id)| add(*place, sums.get(*id as usize).unwrap_or(&Sum::default())));
            }
            None => {
                let ids: Vec<_> = found.iter().map(|(_, id)| *id).collect();
                let sums = opened.columns(&ids).map_err(external)?.sums();
                found.iter().zip(&sums).for_each(|((place, _), sum)| add(*place, sum));
            }
        }
    }
    // In the order of the sources, as a scan has them.
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|(place, _)| *place);
    Ok(sums)
}

/// One row of a source, with its names and nothing else.
pub(crate) fn row(scan: &Scan, place: usize) -> Result<RecordBatch> {
    let Some(source) = scan.table.sources.get(place) else { return internal_err!("no such source") };
    let name = |key: i32, values: &ArrayRef| -> Result<ArrayRef> {
        Ok(Arc::new(DictionaryArray::try_new(Int32Array::from(vec![key]), values.clone())?))
    };
    let schema = scan.schema();
    let columns = scan.columns().into_iter().zip(schema.fields()).map(|(column, field)| match column {
        Column::Log => name(i32::try_from(source.log).unwrap_or(i32::MAX), &scan.table.log_names),
        Column::Label => name(source.label, &scan.table.labels),
        _ => Ok(new_null_array(field.data_type(), 1)),
    });
    Ok(RecordBatch::try_new(schema.clone(), columns.collect::<Result<_>>()?)?)
}

/// A sum as the state of an aggregation; `None` if it changes nothing.
pub(crate) fn state(aggregate: &AggregateFunctionExpr, sum: Sum) -> Option<Vec<ArrayRef>> {
    let total = || Arc::new(Float64Array::from(vec![sum.sum])) as ArrayRef;
    match aggregate.fun().name() {
        _ if sum.count == 0 => None,
        "avg" => Some(vec![Arc::new(UInt64Array::from(vec![sum.count])), total()]),
        "sum" => Some(vec![total()]),
        _ => Some(vec![Arc::new(Int64Array::from(vec![i64::try_from(sum.count).unwrap_or(i64::MAX)]))]),
    }
}
