//! Aggregates of DataFusion whose results are mended here; everything else about them stays as it is.
//!
//! - `min` and `max` of floating-point numbers by group start from the largest finite number there, so a group of
//!   infinities only gives 1.797e308; and NaN takes the place of whatever was found before and is replaced by whatever
//!   comes next, so the result depends on the order of rows. Without groups, a NaN counts as the smallest number if its
//!   sign bit is set, as it is for 0.0 / 0.0 on x86. Here NaN is larger than all numbers, as in DuckDB and PostgreSQL.
//! - `corr` by group subtracts sums of squares, which cancel for values far from zero: seven digits are left for values
//!   around a million. Without groups it follows the means, and that is what is used for groups as well.
//! - `array_agg` and `string_agg` over a window have a result for each row, each longer than the last, and nobody accounts
//!   for them. Here all of them together are bounded.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow_schema::{DataType, FieldRef};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{not, nullif, prep_null_mask_filter};
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::execution::SessionStateDefaults;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams, WindowFunctionParams};
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, Expr, GroupsAccumulator, Operator,
    ReversedUDAF, SetMonotonicity, Signature, StatisticsArgs,
};

/// Whether a new value replaces the one found before; NaN is larger than all numbers.
macro_rules! smaller {
    () => {
        |found, new| match (found.is_nan(), new.is_nan()) {
            (true, nan) => !nan,
            (false, true) => false,
            (false, false) => new.total_cmp(&found).is_lt(),
        }
    };
}
macro_rules! larger {
    () => {
        |found, new| match (found.is_nan(), new.is_nan()) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => new.total_cmp(&found).is_gt(),
        }
    };
}

/// DataFusion's aggregates, some of them mended.
pub(crate) fn all(most: u64) -> Vec<Arc<AggregateUDF>> {
    let mended = |inner: Arc<AggregateUDF>| {
        let mend = match inner.name() {
            "min" => Mend::Extreme { max: false },
            "max" => Mend::Extreme { max: true },
            "corr" => Mend::OneByOne,
            "array_agg" | "string_agg" => Mend::Bounded { most },
            _ => return inner,
        };
        Arc::new(AggregateUDF::from(Mended { inner, mend }))
    };
    SessionStateDefaults::default_aggregate_functions().into_iter().map(mended).collect()
}

/// An aggregate of which one thing differs.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Mended {
    inner: Arc<AggregateUDF>,
    mend: Mend,
}

/// What differs.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Mend {
    /// The smallest or the largest value.
    Extreme { max: bool },
    /// Groups have an accumulator each, the one that is used without groups.
    OneByOne,
    /// All results of an accumulator have at most so many bytes.
    Bounded { most: u64 },
}

impl Mended {
    fn parts(&self) -> &Arc<dyn AggregateUDFImpl> {
        self.inner.inner()
    }

    /// An accumulator that is not misled by the sign of NaN, or one that is bounded.
    fn mended(&self, made: Box<dyn Accumulator>, data_type: &DataType) -> Box<dyn Accumulator> {
        match self.mend {
            Mend::Extreme { .. } if is_float(data_type) => Box::new(Unsigned(made)),
            Mend::Bounded { most } => Box::new(Bounded { made, function: self.name().to_owned(), most, left: most }),
            _ => made,
        }
    }
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float32 | DataType::Float64)
}

impl AggregateUDFImpl for Mended {
    fn name(&self) -> &str {
        self.parts().name()
    }

    fn aliases(&self) -> &[String] {
        self.parts().aliases()
    }

    fn signature(&self) -> &Signature {
        self.parts().signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.parts().return_type(arguments)
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        self.parts().return_field(arguments)
    }

    fn is_nullable(&self) -> bool {
        self.parts().is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let data_type = args.return_field.data_type().clone();
        Ok(self.mended(self.parts().accumulator(args)?, &data_type))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let data_type = args.return_field.data_type().clone();
        Ok(self.mended(self.parts().create_sliding_accumulator(args)?, &data_type))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.mend {
            Mend::OneByOne => false,
            // Nothing here makes half-precision numbers.
            Mend::Extreme { .. } if *args.return_field.data_type() == DataType::Float16 => false,
            Mend::Extreme { .. } | Mend::Bounded { .. } => self.parts().groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let max = match self.mend {
            Mend::Extreme { max } => max,
            Mend::OneByOne | Mend::Bounded { .. } => return self.parts().create_groups_accumulator(args),
        };
        match args.return_field.data_type() {
            DataType::Float64 if max => Ok(Box::new(Extremes::<Float64Type>::new(larger!()))),
            DataType::Float64 => Ok(Box::new(Extremes::<Float64Type>::new(smaller!()))),
            DataType::Float32 if max => Ok(Box::new(Extremes::<Float32Type>::new(larger!()))),
            DataType::Float32 => Ok(Box::new(Extremes::<Float32Type>::new(smaller!()))),
            _ => self.parts().create_groups_accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        self.parts().state_fields(args)
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.parts().schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.parts().human_display(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.parts().display_name(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.parts().window_function_schema_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.parts().window_function_display_name(params)
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        beneficial_ordering: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let made = Arc::clone(self.parts()).with_beneficial_ordering(beneficial_ordering)?;
        Ok(made.map(|made| {
            let inner = Arc::new(AggregateUDF::new_from_shared_impl(made));
            Arc::new(Self { inner, mend: self.mend }) as Arc<dyn AggregateUDFImpl>
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.parts().order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.parts().simplify()
    }

    fn simplify_expr_op_literal(
        &self,
        function: &AggregateFunction,
        argument: &Expr,
        operator: Operator,
        literal: &Expr,
        argument_is_left: bool,
    ) -> Result<Option<Expr>> {
        self.parts().simplify_expr_op_literal(function, argument, operator, literal, argument_is_left)
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.parts().reverse_expr()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.parts().coerce_types(arguments)
    }

    fn is_descending(&self) -> Option<bool> {
        self.parts().is_descending()
    }

    fn value_from_stats(&self, args: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        self.parts().value_from_stats(args)
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.parts().default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.parts().supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.parts().supports_within_group_clause()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.parts().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.parts().documentation()
    }
}

/// The smallest or the largest numbers of groups.
struct Extremes<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// Whether a group has a value yet.
    seen: Vec<bool>,
    /// Whether the second value replaces the first.
    replaces: fn(T::Native, T::Native) -> bool,
}

impl<T: ArrowPrimitiveType> Extremes<T> {
    fn new(replaces: fn(T::Native, T::Native) -> bool) -> Self {
        Self { values: Vec::new(), seen: Vec::new(), replaces }
    }
}

impl<T: ArrowPrimitiveType> GroupsAccumulator for Extremes<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        let [values] = values else { return internal_err!("expected one argument") };
        let values = values.as_primitive::<T>();
        self.values.resize(total, T::Native::default());
        self.seen.resize(total, false);
        for (row, (group, new)) in groups.iter().zip(values.values()).enumerate() {
            // NULL is not true.
            let is_kept = filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
            if !is_kept || values.is_null(row) {
                continue;
            }
            let (Some(value), Some(seen)) = (self.values.get_mut(*group), self.seen.get_mut(*group)) else {
                return internal_err!("no such group");
            };
            if !*seen || (self.replaces)(*value, *new) {
                (*value, *seen) = (*new, true);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let values = emit_to.take_needed(&mut self.values);
        let seen = emit_to.take_needed(&mut self.seen);
        Ok(Arc::new(PrimitiveArray::<T>::try_new(values.into(), Some(NullBuffer::from(seen)))?))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.update_batch(values, groups, None, total)
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let [values] = values else { return internal_err!("expected one argument") };
        let Some(filter) = filter else { return Ok(vec![Arc::clone(values)]) };
        Ok(vec![nullif(values, &not(&prep_null_mask_filter(filter))?)?])
    }

    fn size(&self) -> usize {
        self.values.capacity() * size_of::<T::Native>() + self.seen.capacity()
    }
}

/// An accumulator for which every NaN is a positive one.
#[derive(Debug)]
struct Unsigned(Box<dyn Accumulator>);

impl Accumulator for Unsigned {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.update_batch(&unsigned(values))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.0.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge_batch(&unsigned(states))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.retract_batch(&unsigned(values))
    }

    fn supports_retract_batch(&self) -> bool {
        self.0.supports_retract_batch()
    }
}

/// An accumulator whose results have at most so many bytes together.
#[derive(Debug)]
struct Bounded {
    made: Box<dyn Accumulator>,
    function: String,
    most: u64,
    left: u64,
}

impl Accumulator for Bounded {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.made.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let result = self.made.evaluate()?;
        match self.left.checked_sub(result.size() as u64) {
            Some(left) => self.left = left,
            None => {
                let (function, megabytes) = (&self.function, self.most / 1_000_000);
                let message = format!("the results of {function} have more than {megabytes} MB");
                return Err(DataFusionError::Execution(message));
            }
        }
        Ok(result)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.made.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.made.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.made.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.made.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.made.supports_retract_batch()
    }
}

fn unsigned(arrays: &[ArrayRef]) -> Vec<ArrayRef> {
    let one = |array: &ArrayRef| -> ArrayRef {
        if let Some(numbers) = array.as_primitive_opt::<Float64Type>()
            && numbers.values().iter().any(|x| x.is_nan() && x.is_sign_negative())
        {
            return Arc::new(numbers.unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x }));
        }
        if let Some(numbers) = array.as_primitive_opt::<Float32Type>()
            && numbers.values().iter().any(|x| x.is_nan() && x.is_sign_negative())
        {
            return Arc::new(numbers.unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x }));
        }
        Arc::clone(array)
    };
    arrays.iter().map(one).collect()
}
