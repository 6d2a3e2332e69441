use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use logpose::schema::Registry;
use logpose_core::{Channel, ChannelId, ChannelIndex};
use logpose_model::{Shape, long};

use crate::carla;
use crate::logs::{Logs, name_type};
use crate::push::{self, Known, Push};
use crate::scan::{Scan, Wanted};
use crate::structs::{Member, Members};

/// A table whose rows are samples: of all channels, of one, or of a family.
pub(crate) struct Table {
    pub logs: Arc<Logs>,
    pub name: String,
    pub columns: Vec<Column>,
    pub schema: SchemaRef,
    /// The channels whose samples these are.
    pub sources: Vec<Source>,
    /// What the keys of the columns `log`, and `channel` or `key`, stand for.
    pub log_names: ArrayRef,
    pub labels: ArrayRef,
    /// Whether rows come in the order of `log` and time.
    pub ordered: bool,
}

/// What a column holds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Column {
    Log,
    Time,
    TimeNs,
    /// The name of the channel, or its key in the family.
    Label,
    /// The column of that place in [`long::schema`].
    Long(usize),
    Value,
    /// A field of a struct.
    Field(usize),
}

/// A channel of a log.
pub(crate) struct Source {
    pub log: usize,
    pub id: ChannelId,
    /// The key of the label.
    pub label: i32,
    pub shape: Shape,
    /// Where the columns of a table of structs are among the fields of this channel's struct; the table of a family has all
    /// of them in their order.
    pub places: Option<Arc<[Option<usize>]>>,
}

impl Table {
    /// One row for each sample of all channels.
    pub(crate) fn samples(logs: &Arc<Logs>) -> Self {
        let all = logs.logs.iter().enumerate().flat_map(|(log, opened)| {
            (0..).zip(&opened.index.channels).map(move |(id, found)| (log, id, found.channel.name.clone()))
        });
        let long = long::schema();
        let values = || long.fields().iter().enumerate().skip_while(|(_, field)| field.name() != "channel").skip(1);
        let columns = [Column::Label].into_iter().chain(values().map(|(place, _)| Column::Long(place)));
        let fields = [Arc::new(Field::new("channel", name_type(), false))].into_iter();
        let fields = fields.chain(values().map(|(_, field)| field.clone()));
        Self::new(logs, "samples", all.collect(), columns.collect(), fields.collect(), false)
    }

    /// One row for each sample of the channels that stand for one in all logs.
    pub(crate) fn channel(logs: &Arc<Logs>, name: &str, channels: Vec<(usize, ChannelId)>) -> Self {
        let labelled = channels.into_iter().map(|(log, id)| (log, id, String::new())).collect();
        let shape = |table: &Self| table.sources.first().map_or(DataType::Null, |s| s.shape.data_type().clone());
        let mut table = Self::new(logs, name, labelled, vec![Column::Value], Fields::empty(), true);
        let value = Arc::new(Field::new("value", shape(&table), true));
        table.schema = with_fields(logs, [value].into_iter().collect());
        table
    }

    /// One row for each sample of the channels of a family, with their keys; the fields of structs are columns.
    pub(crate) fn family(logs: &Arc<Logs>, name: &str, channels: Vec<(usize, ChannelId, String)>) -> Self {
        let mut table = Self::new(logs, name, channels, Vec::new(), Fields::empty(), false);
        let key = Arc::new(Field::new(carla::key_column(name), name_type(), false));
        table.columns.push(Column::Label);
        let fields: Vec<_> = match table.sources.first().map(|source| source.shape.data_type()) {
            Some(DataType::Struct(fields)) => {
                table.columns.extend((0..fields.len()).map(Column::Field));
                let nullable = |field: &Field| Arc::new(field.clone().with_nullable(true));
                fields.iter().map(|field| nullable(field)).collect()
            }
            other => {
                table.columns.push(Column::Value);
                vec![Arc::new(Field::new("value", other.cloned().unwrap_or(DataType::Null), true))]
            }
        };
        table.schema = with_fields(logs, [key].into_iter().chain(fields).collect());
        table
    }

    /// One row for each sample of the channels of a struct type; the fields are columns.
    pub(crate) fn structs(logs: &Arc<Logs>, name: &str, members: &Members) -> Self {
        let labelled = |member: &Member| {
            let found = logs.log(member.log).and_then(|log| log.index.channels.get(member.id as usize));
            (member.log, member.id, found.map_or_else(String::new, |found| found.channel.name.clone()))
        };
        let channels = members.channels.iter().map(labelled).collect();
        let mut table = Self::new(logs, name, channels, Vec::new(), Fields::empty(), false);
        for (source, member) in table.sources.iter_mut().zip(&members.channels) {
            source.places = Some(member.places.clone());
        }
        table.columns.push(Column::Label);
        table.columns.extend((0..members.fields.len()).map(Column::Field));
        let channel = Arc::new(Field::new("channel", name_type(), false));
        table.schema = with_fields(logs, [channel].into_iter().chain(members.fields.iter().cloned()).collect());
        table
    }

    fn new(
        logs: &Arc<Logs>,
        name: &str,
        channels: Vec<(usize, ChannelId, String)>,
        columns: Vec<Column>,
        fields: Fields,
        ordered: bool,
    ) -> Self {
        let mut labels: Vec<String> = Vec::new();
        let mut keys: HashMap<String, i32> = HashMap::new();
        let mut sources = Vec::with_capacity(channels.len());
        let plain = Registry::default();
        for (log, id, label) in channels {
            let Some(opened) = logs.log(log) else { continue };
            let Some(found) = opened.index.channels.get(id as usize) else { continue };
            let label = *keys.entry(label).or_insert_with_key(|label| {
                labels.push(label.clone());
                i32::try_from(labels.len() - 1).unwrap_or(i32::MAX)
            });
            // A table of all channels holds payloads as they are.
            let shape = if columns.is_empty() || ordered {
                Shape::of(&found.channel, opened.schemas().registry())
            } else {
                Shape::of(&found.channel, &plain)
            };
            sources.push(Source { log, id, label, shape, places: None });
        }
        if ordered {
            let name = |source: &Source| logs.names.get(source.log);
            sources.sort_by(|a, b| name(a).cmp(&name(b)));
        }
        let first = if logs.named { vec![Column::Log] } else { Vec::new() };
        let first = first.into_iter().chain([Column::Time, Column::TimeNs]);
        Self {
            logs: logs.clone(),
            name: name.to_owned(),
            columns: first.chain(columns).collect(),
            schema: with_fields(logs, fields),
            sources,
            log_names: Arc::new(StringArray::from_iter_values(&logs.names)),
            labels: Arc::new(StringArray::from_iter_values(labels)),
            ordered,
        }
    }

    pub(crate) fn found(&self, source: &Source) -> Option<&ChannelIndex> {
        self.logs.log(source.log)?.index.channels.get(source.id as usize)
    }

    pub(crate) fn described(&self, source: &Source) -> Option<&Channel> {
        Some(&self.found(source)?.channel)
    }

    /// The sources that conditions on names leave, found by asking the conditions about the names alone.
    fn chosen(&self, state: &dyn Session, filters: &[Expr]) -> Result<Vec<usize>> {
        let mut kept: Vec<usize> = (0..self.sources.len()).collect();
        let conditions: Vec<&Expr> = filters.iter().filter(|filter| push::is_about_names(filter, self)).collect();
        if conditions.is_empty() {
            return Ok(kept);
        }
        let names = |column: Column| {
            let key = |source: &Source| match column {
                Column::Log => i32::try_from(source.log).unwrap_or(i32::MAX),
                _ => source.label,
            };
            let keys: Int32Array = self.sources.iter().map(key).collect();
            let values = if column == Column::Log { &self.log_names } else { &self.labels };
            DictionaryArray::try_new(keys, values.clone())
        };
        let (mut fields, mut arrays): (Vec<Arc<Field>>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
        for (column, field) in self.columns.iter().zip(self.schema.fields()) {
            if matches!(column, Column::Log | Column::Label) {
                fields.push(field.clone());
                arrays.push(Arc::new(names(*column)?));
            }
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
        let schema = DFSchema::try_from(batch.schema())?;
        for condition in conditions {
            let expr = state.create_physical_expr(push::unqualified(condition)?, &schema)?;
            let mask = expr.evaluate(&batch)?.into_array(batch.num_rows())?;
            let mask = mask.as_any().downcast_ref::<BooleanArray>();
            kept.retain(|place| mask.is_none_or(|mask| mask.is_valid(*place) && mask.value(*place)));
        }
        Ok(kept)
    }
}

impl Known for Table {
    fn column(&self, name: &str) -> Option<Column> {
        let (place, _) = self.schema.column_with_name(name)?;
        self.columns.get(place).copied()
    }

    fn time(&self, log: usize, ns: i64) -> ScalarValue {
        self.logs.time(log, ns)
    }
}

pub(crate) fn with_fields(logs: &Logs, fields: Fields) -> SchemaRef {
    let first = logs.first_fields().into_iter().chain([Field::new("time_ns", DataType::Int64, false)]);
    Arc::new(Schema::new(first.map(Arc::new).chain(fields.iter().cloned()).collect::<Vec<_>>()))
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A table as DataFusion asks for it.
#[derive(Debug)]
pub(crate) struct Provider(pub Arc<Table>);

#[async_trait]
impl TableProvider for Provider {
    fn schema(&self) -> SchemaRef {
        self.0.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let table = &self.0;
        let projection = projection.cloned().unwrap_or_else(|| (0..table.columns.len()).collect());
        let kept = table.chosen(state, filters)?;
        let spans = (0..table.logs.logs.len()).map(|log| push::span(filters, &**table, log)).collect();
        Ok(Arc::new(Scan::new(table.clone(), Wanted { projection, kept, spans, limit })?))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let pushed = filters.iter().map(|filter| match push::kind(filter, &*self.0) {
            Push::Names | Push::Times => TableProviderFilterPushDown::Exact,
            Push::Nothing => TableProviderFilterPushDown::Unsupported,
        });
        Ok(pushed.collect())
    }
}
