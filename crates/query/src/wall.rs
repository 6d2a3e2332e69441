//! Wall-clock time over a lake: each log has its own clock, of which its row in `logs` tells.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, TimestampNanosecondArray};
use arrow_schema::{DataType, Field, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use logpose_lake::LogRow;

use crate::logs::UTC;

/// What to add to the times of each log.
#[derive(Debug)]
pub(crate) struct Epochs {
    logs: Vec<Option<i64>>,
    names: HashMap<String, usize>,
}

impl Epochs {
    pub(crate) fn of(rows: &[LogRow]) -> Self {
        let names = rows.iter().enumerate().map(|(place, row)| (row.log.clone(), place)).collect();
        Self { logs: rows.iter().map(|row| row.epoch_ns).collect(), names }
    }

    pub(crate) fn len(&self) -> usize {
        self.logs.len()
    }

    /// A moment of a log.
    pub(crate) fn time(&self, log: usize, ns: i64) -> ScalarValue {
        let epoch = self.logs.get(log).copied().flatten();
        ScalarValue::TimestampNanosecond(Some(ns.saturating_add(epoch.unwrap_or(0))), Some(UTC.into()))
    }

    fn moments(&self, logs: &dyn Array, nanos: &dyn Array) -> Result<ArrayRef> {
        let (Some(logs), Some(nanos)) = (logs.as_string_opt::<i32>(), nanos.as_primitive_opt::<Int64Type>()) else {
            return internal_err!("the columns of a lake have other types");
        };
        let mut last: (&str, Option<i64>) = ("", None);
        let mut moments = Vec::with_capacity(nanos.len());
        for (log, ns) in logs.iter().zip(nanos) {
            let log = log.unwrap_or_default();
            // Rows of one log stand together.
            if last.0 != log {
                last = (log, self.names.get(log).and_then(|place| self.logs.get(*place).copied().flatten()));
            }
            moments.push(ns.zip(last.1).map(|(ns, epoch)| ns.saturating_add(epoch)));
        }
        let moments = TimestampNanosecondArray::from(moments);
        Ok(Arc::new(moments.with_timezone(UTC)))
    }
}

/// The type of moments.
pub(crate) fn data_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}

/// Nanoseconds of logs as moments; NULL for a log that does not know the time.
pub(crate) fn moments(
    epochs: &Arc<Epochs>,
    logs: Arc<dyn PhysicalExpr>,
    nanos: Arc<dyn PhysicalExpr>,
) -> Arc<dyn PhysicalExpr> {
    let signature = Signature::any(2, Volatility::Immutable);
    let function = Arc::new(ScalarUDF::from(WallTime { epochs: epochs.clone(), signature }));
    let field = Arc::new(Field::new("wall_time", data_type(), true));
    Arc::new(ScalarFunctionExpr::new(
        "wall_time",
        function,
        vec![logs, nanos],
        field,
        Arc::new(ConfigOptions::default()),
    ))
}

/// The function of the name of a log and of nanoseconds on its clock.
#[derive(Debug)]
struct WallTime {
    epochs: Arc<Epochs>,
    signature: Signature,
}

impl PartialEq for WallTime {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.epochs, &other.epochs)
    }
}

impl Eq for WallTime {}

impl Hash for WallTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.epochs).hash(state);
    }
}

impl ScalarUDFImpl for WallTime {
    fn name(&self) -> &'static str {
        "wall_time"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(data_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let [logs, nanos] = args.args.as_slice() else { return internal_err!("wall_time has two arguments") };
        let (logs, nanos) = (logs.to_array(rows)?, nanos.to_array(rows)?);
        Ok(ColumnarValue::Array(self.epochs.moments(&*logs, &*nanos)?))
    }
}
