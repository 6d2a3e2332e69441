//! Conditions that the reader itself obeys: on names, and on times.

use std::cmp::Ordering;

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column as Named, Result, ScalarValue};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use crate::table::Column;

/// What conditions can be about.
pub(crate) trait Known {
    /// What the column of that name holds, if it can decide what is read.
    fn column(&self, name: &str) -> Option<Column>;
    /// One moment of a log as the column `time` has it.
    fn time(&self, log: usize, ns: i64) -> ScalarValue;
}

/// What a condition is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Push {
    /// Names of logs, channels and keys alone: it is decided before anything is read.
    Names,
    /// A stretch of time.
    Times,
    /// Values.
    Nothing,
}

/// Moments of a log that are wanted, both ends included.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stretch {
    pub start: i64,
    pub end: i64,
}

impl Stretch {
    pub(crate) const ALL: Self = Self { start: i64::MIN, end: i64::MAX };

    pub(crate) fn is_empty(&self) -> bool {
        self.start > self.end
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { start: self.start.max(other.start), end: self.end.min(other.end) }
    }

    /// All that is in either of them.
    #[cfg(feature = "lake")]
    pub(crate) fn around(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub(crate) fn overlaps(&self, first: i64, last: i64) -> bool {
        self.start <= last && first <= self.end
    }
}

pub(crate) fn kind(filter: &Expr, table: &dyn Known) -> Push {
    if is_about_names(filter, table) {
        Push::Names
    } else if comparisons(filter, table).is_some() {
        Push::Times
    } else {
        Push::Nothing
    }
}

/// Whether a condition can be decided by names alone, once for all.
pub(crate) fn is_about_names(filter: &Expr, table: &dyn Known) -> bool {
    let columns = filter.column_refs();
    let names = |name: &&Named| matches!(table.column(name.name()), Some(Column::Log | Column::Label));
    !columns.is_empty() && columns.iter().all(names) && !filter.is_volatile() && !has_subquery(filter)
}

fn has_subquery(filter: &Expr) -> bool {
    let is_subquery = |e: &Expr| {
        matches!(
            e,
            Expr::Exists(_)
                | Expr::InSubquery(_)
                | Expr::SetComparison(_)
                | Expr::ScalarSubquery(_)
                | Expr::OuterReferenceColumn(..)
                | Expr::Placeholder(_)
        )
    };
    filter.exists(|e| Ok(is_subquery(e))).unwrap_or(true)
}

/// The condition with bare column names.
pub(crate) fn unqualified(filter: &Expr) -> Result<Expr> {
    let bare = |e: Expr| {
        Ok(match e {
            Expr::Column(column) => Transformed::yes(Expr::Column(Named::new_unqualified(column.name))),
            other => Transformed::no(other),
        })
    };
    filter.clone().transform(bare).data()
}

/// The stretch of a log that all conditions on time leave.
pub(crate) fn span(filters: &[Expr], table: &dyn Known, log: usize) -> Stretch {
    let all = filters.iter().filter_map(|filter| comparisons(filter, table)).flatten();
    all.fold(Stretch::ALL, |span, comparison| span.and(comparison.span(table, log)))
}

/// `time >= 10` and the like.
struct Comparison {
    column: Column,
    operator: Operator,
    with: ScalarValue,
}

/// What a condition says, if it says nothing but where a time lies.
fn comparisons(filter: &Expr, table: &dyn Known) -> Option<Vec<Comparison>> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            let mut both = comparisons(left, table)?;
            both.extend(comparisons(right, table)?);
            Some(both)
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let one = comparison(left, *op, right, table);
            Some(vec![one.or_else(|| comparison(right, op.swap()?, left, table))?])
        }
        Expr::Between(between) if !between.negated => Some(vec![
            comparison(&between.expr, Operator::GtEq, &between.low, table)?,
            comparison(&between.expr, Operator::LtEq, &between.high, table)?,
        ]),
        _ => None,
    }
}

fn comparison(left: &Expr, operator: Operator, right: &Expr, table: &dyn Known) -> Option<Comparison> {
    let (Expr::Column(name), Expr::Literal(with, _)) = (left, right) else { return None };
    let column = table.column(name.name())?;
    let fits = match (column, with) {
        (Column::TimeNs, ScalarValue::Int64(Some(_))) => true,
        (Column::Time, ScalarValue::Float64(Some(x))) => !x.is_nan(),
        (Column::Time, ScalarValue::TimestampNanosecond(Some(_), _)) => true,
        _ => false,
    };
    let known = matches!(operator, Operator::Eq | Operator::Gt | Operator::GtEq | Operator::Lt | Operator::LtEq);
    (fits && known).then(|| Comparison { column, operator, with: with.clone() })
}

impl Comparison {
    /// The moments for which it holds. The column grows with the moment, so the ends can be searched for; that
    /// gives what comparing every row would give, to the last bit.
    fn span(&self, table: &dyn Known, log: usize) -> Stretch {
        let order = |ns: i64| match (&self.with, self.column) {
            (ScalarValue::Int64(Some(with)), _) => ns.cmp(with),
            (with, _) => match (table.time(log, ns), with) {
                (ScalarValue::Float64(Some(a)), ScalarValue::Float64(Some(b))) => a.total_cmp(b),
                (ScalarValue::TimestampNanosecond(Some(a), _), ScalarValue::TimestampNanosecond(Some(b), _)) => {
                    a.cmp(b)
                }
                _ => Ordering::Equal,
            },
        };
        let nothing = Stretch { start: i64::MAX, end: i64::MIN };
        let from = |first: Option<i64>| first.map_or(nothing, |start| Stretch { start, end: i64::MAX });
        let before = |first: Option<i64>| match first {
            None => Stretch::ALL,
            Some(i64::MIN) => nothing,
            Some(first) => Stretch { start: i64::MIN, end: first - 1 },
        };
        let at_least = || first(|ns| order(ns).is_ge());
        let above = || first(|ns| order(ns).is_gt());
        match self.operator {
            Operator::GtEq => from(at_least()),
            Operator::Gt => from(above()),
            Operator::Lt => before(at_least()),
            Operator::LtEq => before(above()),
            _ => from(at_least()).and(before(above())),
        }
    }
}

/// The first moment for which something holds that then holds for all later ones.
fn first(holds: impl Fn(i64) -> bool) -> Option<i64> {
    if !holds(i64::MAX) {
        return None;
    }
    let (mut low, mut high) = (i64::MIN, i64::MAX);
    while low < high {
        let half = high.wrapping_sub(low).cast_unsigned() / 2;
        let middle = low.wrapping_add(half.cast_signed());
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::first;

    #[test]
    fn the_first_moment_is_found_anywhere() {
        for at in [i64::MIN, -1, 0, 1, 12_345, i64::MAX] {
            assert_eq!(first(|ns| ns >= at), Some(at));
        }
        assert_eq!(first(|_| false), None);
    }
}
