use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use logpose::parse_duration;
use logpose_core::Time;

/// `time_bucket('100ms', time)`: the beginning of the stretch that a moment lies in; log seconds, `time_ns` and wall-clock
/// times each stay what they are.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(crate) struct TimeBucket {
    signature: Signature,
}

impl TimeBucket {
    pub(crate) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for TimeBucket {
    fn name(&self) -> &'static str {
        "time_bucket"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [_, time] => Ok(time.clone()),
            _ => plan_err!("{USAGE}"),
        }
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [_, time] = types else { return plan_err!("{USAGE}") };
        let time = match time {
            DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Nanosecond, zone.clone()),
            time if time.is_integer() => DataType::Int64,
            time if time.is_numeric() || time.is_null() => DataType::Float64,
            other => return plan_err!("{USAGE}; {other} is not a time"),
        };
        Ok(vec![DataType::Utf8, time])
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [period, time] = args.args.as_slice() else { return exec_err!("{USAGE}") };
        let ColumnarValue::Scalar(ScalarValue::Utf8(Some(period))) = period else {
            return exec_err!("{USAGE}; the interval must be the same in all rows");
        };
        let period = match parse_duration(period) {
            Ok(period) if period > 0 => period,
            Ok(_) => return exec_err!("time_bucket: {period:?} must be greater than 0"),
            Err(error) => return exec_err!("time_bucket: {error}"),
        };
        let array = match time {
            ColumnarValue::Array(array) => array.clone(),
            ColumnarValue::Scalar(one) => one.to_array()?,
        };
        let result = buckets(period, &array)?;
        match time {
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(result)),
            ColumnarValue::Scalar(_) => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?)),
        }
    }
}

fn buckets(period: i64, array: &ArrayRef) -> Result<ArrayRef> {
    // Before the beginning of all time there is nothing to round down to.
    let floor = |ns: i64| ns.checked_sub(ns.rem_euclid(period)).unwrap_or(ns);
    Ok(match array.data_type() {
        DataType::Int64 => Arc::new(array.as_primitive::<Int64Type>().unary::<_, Int64Type>(floor)),
        DataType::Timestamp(_, zone) => {
            let floored = array.as_primitive::<TimestampNanosecondType>().unary::<_, TimestampNanosecondType>(floor);
            Arc::new(floored.with_timezone_opt(zone.clone()))
        }
        DataType::Float64 => {
            // Whole nanoseconds, so that 0.3 does not fall into the bucket before it.
            let seconds =
                |s: f64| Time::from_seconds(s).map_or(f64::NAN, |t| Time::from_nanos(floor(t.nanos())).seconds());
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(seconds))
        }
        other => return exec_err!("{USAGE}; {other} is not a time"),
    })
}

const USAGE: &str = "time_bucket needs an interval and a time: time_bucket('100ms', time)";
