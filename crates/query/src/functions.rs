//! Functions whose results can be far larger than their arguments, such as `repeat`: they are refused before memory is
//! taken for more than a part of what a query may have. DataFusion accounts only for what its operators keep. Functions
//! that only add their arguments are among them, because in a recursive query each step can double what the last made.

use std::any::Any;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, IntervalMonthDayNanoType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, FieldRef, IntervalUnit, TimeUnit};
use datafusion::arrow::compute::kernels::{concat_elements::concat_elements_dyn, length::length};
use datafusion::arrow::compute::{cast, concat};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, Result, ScalarValue, internal_err};
use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Documentation, Expr, LogicalPlan, Operator, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// DataFusion's functions, some of them bounded: by `most` bytes for the rows of one batch.
pub(crate) fn all(most: u64) -> Vec<Arc<ScalarUDF>> {
    let bounded = |inner: Arc<ScalarUDF>| match estimate(inner.name()) {
        Some(_) => Bounded::of(inner, most),
        None => inner,
    };
    SessionStateDefaults::default_scalar_functions().into_iter().map(bounded).collect()
}

/// Bounds what a query does without calling a function by its name: `||` and lists in brackets.
#[derive(Debug)]
pub(crate) struct Bounds {
    /// Bytes for the rows of one batch.
    pub most: u64,
}

impl FunctionRewrite for Bounds {
    fn name(&self) -> &'static str {
        "bounds"
    }

    fn rewrite(&self, expr: Expr, _: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let (func, args) = match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::StringConcat, right }) => {
                (Arc::new(ScalarUDF::from(Join(Signature::user_defined(Volatility::Immutable)))), vec![*left, *right])
            }
            Expr::ScalarFunction(ScalarFunction { func, args })
                if estimate(func.name()).is_some() && !(func.inner().as_ref() as &dyn Any).is::<Bounded>() =>
            {
                (func, args)
            }
            other => return Ok(Transformed::no(other)),
        };
        let func = Bounded::of(func, self.most);
        Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
    }
}

/// Refuses a plan in which a large constant is written into every row.
pub(crate) fn check_constants(plan: &LogicalPlan, most: u64, batch: usize) -> Result<()> {
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::Projection(projection) = plan
            && !matches!(*projection.input, LogicalPlan::EmptyRelation(_))
        {
            for expr in &projection.expr {
                if let Expr::Literal(value, _) = expr.clone().unalias()
                    && (value.size() as u64).saturating_mul(batch as u64) > most
                {
                    let message = format!("a constant of {} bytes is too large for a column", value.size());
                    return Err(DataFusionError::Execution(message));
                }
            }
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// The operator `||` of texts, which is NULL where one side is.
#[derive(Debug, Eq, Hash, PartialEq)]
struct Join(Signature);

impl ScalarUDFImpl for Join {
    fn name(&self) -> &'static str {
        JOIN
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let [left, right] = types else { return internal_err!("|| has two sides") };
        BinaryTypeCoercer::new(left, &Operator::StringConcat, right).get_result_type()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [left, right] = types else { return internal_err!("|| has two sides") };
        let (left, right) = BinaryTypeCoercer::new(left, &Operator::StringConcat, right).get_input_types()?;
        Ok(vec![left, right])
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [left, right] = &*ColumnarValue::values_to_arrays(&args.args)? else {
            return internal_err!("|| has two sides");
        };
        let joined = concat_elements_dyn(left, right)?;
        if args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_))) {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&joined, 0)?));
        }
        Ok(ColumnarValue::Array(joined))
    }
}

const JOIN: &str = "||";

/// Bytes that one row of a result has at most, by the arguments of that row.
type Estimate = fn(&[Argument], usize) -> u64;

fn estimate(function: &str) -> Option<Estimate> {
    Some(match function {
        "repeat" | "array_repeat" => |arguments, row| size(arguments, 0, row).saturating_mul(count(arguments, 1, row)),
        "lpad" | "rpad" => |arguments, row| count(arguments, 1, row).saturating_mul(4),
        "array_resize" => |arguments, row| count(arguments, 1, row).saturating_mul(size(arguments, 2, row).max(8)),
        "range" | "generate_series" => |arguments, row| steps(arguments, row).saturating_mul(8),
        "replace" => |arguments, row| {
            let (text, found) = (size(arguments, 0, row), size(arguments, 1, row).max(1));
            (text / found + 1).saturating_mul(size(arguments, 2, row)).saturating_add(text)
        },
        "regexp_replace" => |arguments, row| (size(arguments, 0, row) + 1).saturating_mul(size(arguments, 2, row) + 1),
        "array_to_string" => |arguments, row| {
            let length = arguments.first().map_or(0, |list| list.at(&list.lengths, row));
            length.saturating_mul(size(arguments, 1, row).saturating_add(size(arguments, 2, row)).saturating_add(24))
        },
        "encode" => |arguments, row| size(arguments, 0, row).saturating_mul(2),
        "translate" => |arguments, row| size(arguments, 0, row).saturating_mul(4),
        "string_to_array" => |arguments, row| (size(arguments, 0, row) + 1).saturating_mul(20),
        JOIN | "overlay" | "array_append" | "array_prepend" | "array_union" | "make_array" => {
            |arguments, row| (0..arguments.len()).fold(0, |sum, n| sum.saturating_add(size(arguments, n, row)))
        }
        "concat" | "concat_ws" | "array_concat" => |arguments, row| {
            let separators = size(arguments, 0, row).saturating_mul(arguments.len() as u64);
            (0..arguments.len()).fold(separators, |sum, n| sum.saturating_add(size(arguments, n, row)))
        },
        _ => return None,
    })
}

fn size(arguments: &[Argument], n: usize, row: usize) -> u64 {
    arguments.get(n).map_or(0, |argument| argument.at(&argument.sizes, row))
}

fn number(arguments: &[Argument], n: usize, row: usize) -> Option<i64> {
    arguments.get(n).map(|argument| argument.at(&argument.numbers, row))
}

fn count(arguments: &[Argument], n: usize, row: usize) -> u64 {
    number(arguments, n, row).map_or(0, |number| u64::try_from(number).unwrap_or(0))
}

/// How many steps a range has.
fn steps(arguments: &[Argument], row: usize) -> u64 {
    let (start, stop) = match (number(arguments, 0, row), number(arguments, 1, row)) {
        (Some(stop), None) => (0, stop),
        (start, stop) => (start.unwrap_or(0), stop.unwrap_or(0)),
    };
    let step = number(arguments, 2, row).unwrap_or(1).unsigned_abs().max(1);
    start.abs_diff(stop) / step
}

/// What an estimate has to know of an argument: for each row, or once if it is the same in all of them.
struct Argument {
    /// Bytes of values.
    sizes: Vec<u64>,
    /// Elements of lists.
    lengths: Vec<u64>,
    /// Values as whole numbers, times in nanoseconds.
    numbers: Vec<i64>,
}

impl Argument {
    fn new(value: &ColumnarValue) -> Result<Self> {
        let array = match value {
            ColumnarValue::Array(array) => Arc::clone(array),
            ColumnarValue::Scalar(scalar) => scalar.to_array()?,
        };
        let of_rows = |array: &dyn Array| -> Option<Vec<u64>> {
            let lengths = cast(array, &DataType::Int64).ok()?;
            let lengths = lengths.as_primitive_opt::<Int64Type>()?;
            Some(lengths.iter().map(|length| u64::try_from(length.unwrap_or(0)).unwrap_or(0)).collect())
        };
        let lengths = length(&array).ok().and_then(|lengths| of_rows(&lengths));
        let element = match array.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => 1,
            _ => {
                let elements = lengths.as_ref().map_or(array.len() as u64, |lengths| lengths.iter().sum());
                (array.get_array_memory_size() as u64).div_ceil(elements.max(1))
            }
        };
        let lengths = lengths.unwrap_or_else(|| vec![1; array.len()]);
        let sizes = lengths.iter().map(|length| length.saturating_mul(element)).collect();
        Ok(Self { sizes, lengths, numbers: numbers(&array) })
    }

    fn at<T: Copy + Default>(&self, of: &[T], row: usize) -> T {
        of.get(if of.len() == 1 { 0 } else { row }).copied().unwrap_or_default()
    }
}

fn numbers(array: &ArrayRef) -> Vec<i64> {
    if let DataType::Interval(IntervalUnit::MonthDayNano) = array.data_type() {
        let nanos = |step: arrow_array::types::IntervalMonthDayNano| {
            let days = i64::from(step.months) * 28 + i64::from(step.days);
            days.saturating_mul(86_400_000_000_000).saturating_add(step.nanoseconds)
        };
        let steps = array.as_primitive::<IntervalMonthDayNanoType>();
        return steps.iter().map(|step| step.map_or(0, nanos)).collect();
    }
    let times = match array.data_type() {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => {
            cast(array, &DataType::Timestamp(TimeUnit::Nanosecond, None)).ok()
        }
        _ => None,
    };
    let whole = cast(times.as_ref().unwrap_or(array), &DataType::Int64);
    whole
        .map_or_else(|_| Vec::new(), |whole| whole.as_primitive::<Int64Type>().iter().map(|n| n.unwrap_or(0)).collect())
}

/// A function whose results are bounded.
#[derive(Debug, Eq, Hash, PartialEq)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    most: u64,
}

impl Bounded {
    fn of(inner: Arc<ScalarUDF>, most: u64) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::from(Self { inner, most }))
    }

    fn refuse<T>(&self) -> Result<T> {
        let message = format!("the result of {} has more than {} MB", self.name(), self.most / 1_000_000);
        Err(DataFusionError::Execution(message))
    }
}

impl ScalarUDFImpl for Bounded {
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(estimate) = estimate(self.name()) else { return self.inner.invoke_with_args(args) };
        let arguments: Vec<Argument> = args.args.iter().map(Argument::new).collect::<Result<_>>()?;
        let rows =
            if args.args.iter().any(|arg| matches!(arg, ColumnarValue::Array(_))) { args.number_rows } else { 1 };
        // Rows whose results fit for certain are made at once. An estimate is far above what most results have.
        let (mut ends, mut sum) = (Vec::new(), 0_u64);
        for row in 0..rows {
            let size = estimate(&arguments, row);
            if size > self.most {
                return self.refuse();
            }
            sum = sum.saturating_add(size);
            if sum > self.most {
                ends.push(row);
                sum = size;
            }
        }
        if ends.is_empty() {
            return self.inner.invoke_with_args(args);
        }
        ends.push(rows);
        let (mut made, mut size, mut start) = (Vec::new(), 0_u64, 0);
        for end in ends {
            let number_rows = end - start;
            let slice = |arg: &ColumnarValue| match arg {
                ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(start, number_rows)),
                scalar @ ColumnarValue::Scalar(_) => scalar.clone(),
            };
            let args = ScalarFunctionArgs { args: args.args.iter().map(slice).collect(), number_rows, ..args.clone() };
            let array = self.inner.invoke_with_args(args)?.into_array(number_rows)?;
            size += array.get_array_memory_size() as u64;
            if size > self.most {
                return self.refuse();
            }
            made.push(array);
            start = end;
        }
        let made: Vec<&dyn Array> = made.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&made)?))
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
