//! Several channels side by side, each with its last value: `wide` and `asof`.

mod scan;

use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{Result, ScalarValue, plan_err};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use logpose::{Filter, parse_duration};
use logpose_core::{Channel, ChannelId, ChannelIndex};
use logpose_model::Shape;

use crate::logs::Logs;
use crate::push::{self, Known, Push};
use crate::read::external;
use crate::table::Column;
use scan::AlignedScan;

/// `wide('20ms', '/Drive/*', …)`: a row every so often, or at every time at which anything was said.
#[derive(Debug)]
pub(crate) struct Wide(pub Arc<Logs>);

/// `asof('/a', '/b', …, '50ms')`: a row for each sample of the first channel, with the last values of the others, if they
/// are not older than that.
#[derive(Debug)]
pub(crate) struct Asof(pub Arc<Logs>);

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
        let series = series(&self.0, |channel| filter.accepts(&channel.name));
        if series.is_empty() {
            return plan_err!("wide: no channel matches {}", patterns.join(" or "));
        }
        Ok(Arc::new(Provider(Arc::new(AlignedTable::new(&self.0, "wide", rows, None, series)))))
    }
}

impl TableFunctionImpl for Asof {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let words = texts(args.exprs(), ASOF)?;
        let mut names: Vec<String> = words.into_iter().flatten().collect();
        let known = |name: &str| self.0.logs.iter().any(|log| log.channel(name).is_some());
        let mut oldest = None;
        if let Some(last) = names.last().filter(|last| !known(last))
            && let Ok(ns) = parse_duration(last)
        {
            oldest = Some(ns);
            names.pop();
        }
        if names.len() < 2 {
            return plan_err!("{ASOF}");
        }
        let mut all = Vec::new();
        for name in &names {
            let found = series(&self.0, |channel| channel.name == *name);
            let Some(one) = found.into_iter().next() else { return plan_err!("table '{name}' not found") };
            all.push(one);
        }
        Ok(Arc::new(Provider(Arc::new(AlignedTable::new(&self.0, "asof", Rows::OfFirst, oldest, all)))))
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
struct Series {
    channel: Channel,
    members: Vec<(usize, ChannelId, Shape)>,
}

/// A column of values: a channel, and the way to a field of it.
struct Output {
    series: usize,
    path: Vec<usize>,
}

fn series(logs: &Logs, wanted: impl Fn(&Channel) -> bool) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (log, opened) in logs.logs.iter().enumerate() {
        for (id, found) in (0..).zip(&opened.index.channels).filter(|(_, found)| wanted(&found.channel)) {
            let channel = &found.channel;
            let member = (log, id, Shape::of(channel, opened.schemas().registry()));
            let same =
                |one: &&mut Series| one.channel.name == channel.name && one.channel.type_name == channel.type_name;
            match all.iter_mut().find(same) {
                Some(one) => one.members.push(member),
                None => all.push(Series { channel: channel.clone(), members: vec![member] }),
            }
        }
    }
    all
}

/// The table of `wide` and `asof`.
struct AlignedTable {
    logs: Arc<Logs>,
    name: &'static str,
    rows: Rows,
    oldest: Option<i64>,
    series: Vec<Series>,
    /// One for each column behind the times.
    outputs: Vec<Output>,
    schema: SchemaRef,
}

impl AlignedTable {
    fn new(logs: &Arc<Logs>, name: &'static str, rows: Rows, oldest: Option<i64>, series: Vec<Series>) -> Self {
        let channels: Vec<Channel> = series.iter().map(|one| one.channel.clone()).collect();
        let mut fields = logs.first_fields();
        fields.push(Field::new("time_ns", DataType::Int64, false));
        let mut outputs = Vec::new();
        for (place, (one, name)) in series.iter().zip(logpose_model::names(&channels)).enumerate() {
            if let Some((_, _, shape)) = one.members.first() {
                leaves(&name, shape.data_type(), &mut Vec::new(), &mut |name, data_type, path| {
                    fields.push(Field::new(name, data_type.clone(), true));
                    outputs.push(Output { series: place, path: path.to_vec() });
                });
            }
        }
        let schema = Arc::new(Schema::new(fields));
        Self { logs: logs.clone(), name, rows, oldest, series, outputs, schema }
    }

    /// Columns before the values.
    fn first(&self) -> usize {
        self.schema.fields().len() - self.outputs.len()
    }

    fn found(&self, log: usize, id: ChannelId) -> Option<&ChannelIndex> {
        self.logs.log(log)?.index.channels.get(id as usize).filter(|found| found.samples > 0)
    }

    /// The first and the last time of the channels in a log.
    fn range(&self, log: usize) -> Option<(i64, i64)> {
        let members = self.series.iter().flat_map(|one| &one.members).filter(|(of, ..)| *of == log);
        let ends = members.filter_map(|(_, id, _)| self.found(log, *id)).map(|c| (c.first.nanos(), c.last.nanos()));
        ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
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
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = &self.0;
        let projection = projection.cloned().unwrap_or_else(|| (0..table.schema.fields().len()).collect());
        let spans = (0..table.logs.logs.len()).map(|log| push::span(filters, &**table, log)).collect();
        Ok(Arc::new(AlignedScan::new(table.clone(), projection, spans, limit)?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let pushed = filters.iter().map(|filter| match push::kind(filter, &*self.0) {
            Push::Times => TableProviderFilterPushDown::Exact,
            Push::Names | Push::Nothing => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}

const WIDE: &str = "wide needs an interval and channel patterns: wide('20ms', '/Drive/*')";
const ASOF: &str = "asof needs channel names and an optional maximum age: asof('/a', '/b', '50ms')";
