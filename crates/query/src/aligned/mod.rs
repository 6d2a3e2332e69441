//! Several channels side by side, each with its last value: `wide` and `asof`; and over a lake the table of a channel.

mod origin;
mod scan;

use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, BooleanArray, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DFSchema, Result, ScalarValue, plan_err};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use logpose::{Filter, parse_duration};
use logpose_core::{Channel, ChannelId};
use logpose_model::Shape;

use crate::logs::Logs;
use crate::push::{self, Known, Push};
use crate::read::external;
use crate::table::Column;
pub(crate) use origin::Origin;
use scan::AlignedScan;

/// `wide('20ms', '/Drive/*', …)`: a row every so often, or at every time at which anything was said.
#[derive(Debug)]
pub(crate) struct Wide(pub Origin);

/// `asof('/a', '/b', …, '50ms')`: a row for each sample of the first channel, with the last values of the others, if they
/// are not older than that.
#[derive(Debug)]
pub(crate) struct Asof(pub Origin);

impl TableFunctionImpl for Wide {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let words = texts(args.exprs(), WIDE)?;
        let (period, patterns) = match words.split_first() {
            Some((period, patterns)) => (period.as_deref().unwrap_or_default(), patterns),
            None => return plan_err!("{WIDE}"),
        };
        let rows = match period {
            "" => Rows::Every,
            period => match parse_duration(period) {
                Ok(ns) if ns > 0 => Rows::Period(ns),
                Ok(_) => return plan_err!("wide: {period:?} must be greater than 0"),
                Err(error) => return plan_err!("{WIDE}; {error}"),
            },
        };
        let patterns: Vec<String> = patterns.iter().flatten().cloned().collect();
        let filter = Filter::new(&patterns, &[]).map_err(external)?;
        let series = self.0.series(&|channel| filter.accepts(&channel.name))?;
        if series.is_empty() {
            return plan_err!("wide: no channel matches {}", patterns.join(" or "));
        }
        Ok(Arc::new(Provider(Arc::new(AlignedTable::new(&self.0, "wide", rows, None, series)?))))
    }
}

impl TableFunctionImpl for Asof {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let words = texts(args.exprs(), ASOF)?;
        let mut names: Vec<String> = words.into_iter().flatten().collect();
        let mut oldest = None;
        if let Some(last) = names.last()
            && let Ok(ns) = parse_duration(last)
            && self.0.series(&|channel| channel.name == *last)?.is_empty()
        {
            oldest = Some(ns);
            names.pop();
        }
        if names.len() < 2 {
            return plan_err!("{ASOF}");
        }
        let mut all = Vec::new();
        for name in &names {
            let found = self.0.series(&|channel| channel.name == *name)?;
            let Some(one) = found.into_iter().next() else { return plan_err!("table '{name}' not found") };
            all.push(one);
        }
        Ok(Arc::new(Provider(Arc::new(AlignedTable::new(&self.0, "asof", Rows::OfFirst, oldest, all)?))))
    }
}

/// The texts that a function was called with; NULL is `None`.
fn texts(args: &[Expr], usage: &str) -> Result<Vec<Option<String>>> {
    let text = |arg: &Expr| match arg {
        Expr::Literal(ScalarValue::Null, _) => Ok(None),
        Expr::Literal(value, _) => match value.try_as_str() {
            Some(text) => Ok(text.map(str::to_owned)),
            None => plan_err!("{usage}; {value} is not text"),
        },
        // Names in double quotes are columns to SQL; here they can only be meant as text.
        Expr::Column(column) => Ok(Some(column.name.clone())),
        other => plan_err!("{usage}; {other} is not text"),
    };
    args.iter().map(text).collect()
}

/// At which times there are rows.
#[derive(Clone, Copy, Debug)]
enum Rows {
    /// From the first sample on, so many nanoseconds apart.
    Period(i64),
    /// At every time at which anything was said.
    Every,
    /// At each sample of the first channel.
    OfFirst,
}

/// A channel, in each log that has it.
pub(crate) struct Series {
    pub channel: Channel,
    /// The type of its values, which is that of the first log.
    pub data_type: DataType,
    pub members: Vec<Member>,
}

/// A channel of a log.
pub(crate) struct Member {
    pub log: usize,
    pub id: ChannelId,
    /// How its values are decoded, if that is known before the log is opened.
    pub shape: Option<Shape>,
    /// The first and the last time, if it has any samples.
    pub range: Option<(i64, i64)>,
}

impl Series {
    pub(crate) fn of(&self, log: usize) -> Option<&Member> {
        self.members.iter().find(|member| member.log == log)
    }
}

/// A column of values: a channel, and the way to a field of it.
struct Output {
    series: usize,
    path: Vec<usize>,
}

/// The table of `wide` and `asof`, or of a channel.
struct AlignedTable {
    origin: Origin,
    logs: Arc<Logs>,
    name: String,
    rows: Rows,
    oldest: Option<i64>,
    series: Vec<Series>,
    /// One for each column behind the times.
    outputs: Vec<Output>,
    schema: SchemaRef,
}

impl AlignedTable {
    fn new(origin: &Origin, name: &str, rows: Rows, oldest: Option<i64>, series: Vec<Series>) -> Result<Self> {
        let logs = origin.logs()?;
        let channels: Vec<Channel> = series.iter().map(|one| one.channel.clone()).collect();
        let mut fields = logs.first_fields();
        fields.push(Field::new("time_ns", DataType::Int64, false));
        let mut outputs = Vec::new();
        for (place, (one, name)) in series.iter().zip(logpose_model::names(&channels)).enumerate() {
            leaves(&name, &one.data_type, &mut Vec::new(), &mut |name, data_type, path| {
                fields.push(Field::new(name, data_type.clone(), true));
                outputs.push(Output { series: place, path: path.to_vec() });
            });
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { origin: origin.clone(), logs, name: name.to_owned(), rows, oldest, series, outputs, schema })
    }

    /// The samples of one channel as they are.
    #[cfg(feature = "lake")]
    fn of_channel(origin: &Origin, name: &str, series: Series) -> Result<Self> {
        let logs = origin.logs()?;
        let mut fields = logs.first_fields();
        fields.push(Field::new("time_ns", DataType::Int64, false));
        fields.push(Field::new("value", series.data_type.clone(), true));
        let (outputs, schema) = (vec![Output { series: 0, path: Vec::new() }], Arc::new(Schema::new(fields)));
        let (origin, name, series) = (origin.clone(), name.to_owned(), vec![series]);
        Ok(Self { origin, logs, name, rows: Rows::OfFirst, oldest: None, series, outputs, schema })
    }

    /// Columns before the values.
    fn first(&self) -> usize {
        self.schema.fields().len() - self.outputs.len()
    }

    /// The first and the last time of the channels in a log.
    fn range(&self, log: usize) -> Option<(i64, i64)> {
        let ends = self.series.iter().filter_map(|one| one.of(log)?.range);
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The logs that may have rows: those with any of the channels, which conditions on the name of the log leave.
    fn chosen(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<usize>> {
        let all = 0..self.logs.names.len();
        let mut kept: Vec<usize> = all.filter(|log| self.series.iter().any(|one| one.of(*log).is_some())).collect();
        let Some(field) = self.schema.fields().first().filter(|_| self.logs.named) else { return Ok(kept) };
        let conditions: Vec<&Expr> = filters.iter().filter(|filter| push::is_about_names(filter, self)).collect();
        if conditions.is_empty() {
            return Ok(kept);
        }
        let keys: Int32Array = (0..self.logs.names.len()).map(|log| i32::try_from(log).ok()).collect();
        let names = Arc::new(StringArray::from_iter_values(&self.logs.names));
        let column = Arc::new(DictionaryArray::try_new(keys, names)?);
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field.clone()])), vec![column])?;
        let schema = DFSchema::try_from(batch.schema())?;
        for condition in conditions {
            let expr = state.create_physical_expr(push::unqualified(condition)?, &schema)?;
            let mask = expr.evaluate(&batch)?.into_array(batch.num_rows())?;
            let mask = mask.as_any().downcast_ref::<BooleanArray>();
            kept.retain(|log| mask.is_none_or(|mask| mask.is_valid(*log) && mask.value(*log)));
        }
        Ok(kept)
    }
}

/// The table of a channel over a lake, if there is one of that name.
#[cfg(feature = "lake")]
pub(crate) fn channel_table(origin: &Origin, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some((name, found)) = origin.channel_named(name)? else { return Ok(None) };
    let series = origin.series(&|channel| channel.name == found.name && channel.type_name == found.type_name)?;
    let Some(series) = series.into_iter().next() else { return Ok(None) };
    Ok(Some(Arc::new(Provider(Arc::new(AlignedTable::of_channel(origin, &name, series)?)))))
}

/// Calls `each` for what is no struct, with its name and the way to it.
fn leaves(name: &str, of: &DataType, path: &mut Vec<usize>, each: &mut dyn FnMut(&str, &DataType, &[usize])) {
    let DataType::Struct(fields) = of else { return each(name, of, path) };
    for (place, field) in fields.iter().enumerate() {
        path.push(place);
        leaves(&format!("{name}.{}", field.name()), field.data_type(), path, each);
        path.pop();
    }
}

impl Known for AlignedTable {
    fn column(&self, name: &str) -> Option<Column> {
        let (place, _) = self.schema.column_with_name(name)?;
        match self.first() - place.min(self.first()) {
            3 => Some(Column::Log),
            2 => Some(Column::Time),
            1 => Some(Column::TimeNs),
            _ => None,
        }
    }

    fn time(&self, log: usize, ns: i64) -> ScalarValue {
        self.logs.time(log, ns)
    }
}

impl fmt::Debug for AlignedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedTable").field("name", &self.name).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// The table as DataFusion asks for it.
#[derive(Debug)]
struct Provider(Arc<AlignedTable>);

#[async_trait]
impl TableProvider for Provider {
    fn schema(&self) -> SchemaRef {
        self.0.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = &self.0;
        let projection = projection.cloned().unwrap_or_else(|| (0..table.schema.fields().len()).collect());
        let spans = (0..table.logs.names.len()).map(|log| push::span(filters, &**table, log)).collect();
        let chosen = table.chosen(state, filters)?;
        Ok(Arc::new(AlignedScan::new(table.clone(), projection, spans, limit, chosen)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let pushed = filters.iter().map(|filter| match push::kind(filter, &*self.0) {
            Push::Names | Push::Times => TableProviderFilterPushDown::Exact,
            Push::Nothing => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}

const WIDE: &str = "wide needs an interval and channel patterns: wide('20ms', '/Drive/*')";
const ASOF: &str = "asof needs channel names and an optional maximum age: asof('/a', '/b', '50ms')";
