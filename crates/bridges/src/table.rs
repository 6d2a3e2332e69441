//! Tables that others wrote, as channels: long ones with a channel in each row, and wide ones with a column for each.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use logpose_core::{Channel, ChannelId, Problem, Problems, Severity, Sink, SinkError, Time, Type};

use crate::cast::cast;
use crate::stage::{PushError, Stage};

/// How the columns of a table become channels.
#[derive(Debug)]
pub(crate) struct Table {
    time: TimeColumn,
    /// The column that names the channel of each row, in a long table.
    channel: Option<usize>,
    /// The one channel of all rows, where the table is of one alone.
    only: Option<Channel>,
    columns: Vec<ValueColumn>,
    /// The channels of a long table: by their name, and then by the column their values are in.
    known: HashMap<String, Vec<Option<ChannelId>>>,
    channels: Vec<Channel>,
    declared: bool,
    /// What was skipped, each kind of it once.
    lost: Lost,
}

#[derive(Debug)]
struct TimeColumn {
    place: usize,
    unit: Unit,
}

/// What a number in the time column means.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Whole numbers of so many nanoseconds.
    Nanos(i64),
    /// Seconds, with a fraction.
    Seconds,
}

/// A column of values, by the steps of fields that lead to it.
#[derive(Debug)]
struct ValueColumn {
    path: Vec<usize>,
    /// What it is cast to.
    target: DataType,
    ty: Type,
    type_name: String,
    /// Its channel, in a wide table.
    channel: Option<ChannelId>,
}

#[derive(Debug, Default)]
struct Lost {
    columns: Vec<String>,
    times: u64,
    channels: u64,
    values: u64,
}

impl Table {
    /// What a table's columns mean; the sentence says what was found and what is expected. All rows are of the channel
    /// `only`, if there is one.
    pub(crate) fn of(schema: &Schema, only: Option<Channel>, most: u32) -> Result<Self, String> {
        let fields = schema.fields();
        let all = schema.flattened_fields().len();
        if all > most as usize {
            return Err(format!("{all} columns, the limit is {most}"));
        }
        let time = time_column(fields)?;
        let place = |name: &str| fields.iter().position(|field| field.name().eq_ignore_ascii_case(name));
        let text = |i: &usize| fields.get(*i).is_some_and(|field| is_text(field.data_type()));
        let channel = place("channel").filter(text).filter(|_| only.is_none());
        // Payloads say all that values say, and more.
        let raw = only.as_ref().and(place("raw"));
        // Beside `time_ns` stands the same as `time` in the results of a query, and the name of the log.
        let beside = |name: &str| channel.is_some() && name == "log" || name == "time";
        let skipped: Vec<bool> = (0..)
            .zip(fields)
            .map(|(i, field)| {
                i == time.place || Some(i) == channel || beside(field.name()) || raw.is_some_and(|raw| raw != i)
            })
            .collect();
        let mut table = Self {
            time,
            channel,
            only,
            columns: Vec::new(),
            known: HashMap::new(),
            channels: Vec::new(),
            declared: false,
            lost: Lost::default(),
        };
        for ((i, field), _) in fields.iter().enumerate().zip(skipped).filter(|(_, skipped)| !skipped) {
            table.add(field, &mut vec![i], field.name().clone());
        }
        if table.columns.is_empty() {
            return Err(format!("no column of values besides the time; {}", found(fields)));
        }
        Ok(table)
    }

    /// Adds a column of values, and the fields within it.
    fn add(&mut self, field: &Field, path: &mut Vec<usize>, name: String) {
        if let DataType::Struct(fields) = field.data_type()
            && path.len() < DEEPEST
        {
            for (i, field) in fields.iter().enumerate() {
                path.push(i);
                self.add(field, path, format!("{name}/{}", field.name()));
                path.pop();
            }
            return;
        }
        let Some((target, ty, type_name)) = target(field.data_type()) else {
            self.lost.columns.push(format!("{name:?} ({})", field.data_type()));
            return;
        };
        let (mut ty, mut type_name) = (ty, type_name.to_owned());
        if let Some(only) = &self.only
            && !only.type_name.is_empty()
        {
            if name == "raw" && ty == Type::Bytes {
                ty = only.ty();
            }
            if ty != only.ty() {
                self.lost.columns.push(format!("{name:?} ({})", field.data_type()));
                return;
            }
            type_name.clone_from(&only.type_name);
        }
        let wide = self.channel.is_none() && self.only.is_none();
        let channel = wide.then(|| self.new_channel(Channel::new(name, type_name.as_str())));
        self.columns.push(ValueColumn { path: path.clone(), target, ty, type_name, channel });
    }

    fn new_channel(&mut self, channel: Channel) -> ChannelId {
        let id = ChannelId::try_from(self.channels.len()).unwrap_or(ChannelId::MAX);
        self.channels.push(channel);
        id
    }

    /// Pushes the samples of some rows. What cannot be cast is an error in a sentence.
    pub(crate) fn push(
        &mut self,
        batch: &RecordBatch,
        stage: &mut Stage,
        sink: &mut dyn Sink,
    ) -> Result<(), PushError> {
        self.declare(sink)?;
        let times = self.times(batch)?;
        let names = self.channel.and_then(|place| batch.columns().get(place));
        let names = names.map(|names| cast(names, &DataType::Utf8)).transpose().map_err(PushError::of)?;
        let names = names.as_ref().map(|names| names.as_string::<i32>());
        let only = self.only.as_ref().map(|only| only.name.clone());
        let mut leaves = Vec::with_capacity(self.columns.len());
        for column in &self.columns {
            leaves.push(column.leaf(batch, &mut self.lost)?);
        }
        for row in 0..batch.num_rows() {
            let Some(time) = times.get(row).copied().flatten() else {
                self.lost.times += 1;
                continue;
            };
            let name = match names {
                Some(names) if names.is_null(row) => {
                    self.lost.channels += 1;
                    continue;
                }
                Some(names) => Some(names.value(row)),
                None => only.as_deref(),
            };
            for (place, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| !leaf.is_null(row)) {
                let Some((ty, wide)) = self.columns.get(place).map(|column| (column.ty, column.channel)) else {
                    continue;
                };
                let id = match (wide, name) {
                    (Some(id), _) => id,
                    (None, Some(name)) => self.channel_of(name, place, stage, sink)?,
                    (None, None) => continue,
                };
                if !stage.push(id, time, ty, |out| leaf.emit(row, out)) {
                    self.lost.values += 1;
                }
            }
            stage.flush_full(sink)?;
        }
        stage.flush(sink)?;
        Ok(())
    }

    /// Declares the channels that are known from the columns alone.
    fn declare(&mut self, sink: &mut dyn Sink) -> Result<(), SinkError> {
        if std::mem::replace(&mut self.declared, true) {
            return Ok(());
        }
        (0..).zip(&self.channels).try_for_each(|(id, channel)| sink.channel(id, channel))
    }

    fn channel_of(
        &mut self,
        name: &str,
        place: usize,
        stage: &mut Stage,
        sink: &mut dyn Sink,
    ) -> Result<ChannelId, PushError> {
        if let Some(Some(id)) = self.known.get(name).and_then(|ids| ids.get(place)) {
            return Ok(*id);
        }
        let type_name = self.columns.get(place).map_or("raw", |column| &column.type_name);
        let mut channel = Channel::new(name, type_name);
        if let Some(only) = &self.only {
            channel = Channel { type_name: channel.type_name, ..only.clone() };
        }
        stage.flush(sink)?;
        let id = self.new_channel(channel.clone());
        let ids = self.known.entry(name.to_owned()).or_insert_with(|| vec![None; self.columns.len()]);
        if let Some(known) = ids.get_mut(place) {
            *known = Some(id);
        }
        sink.channel(id, &channel)?;
        Ok(id)
    }

    /// The times of the rows, in nanoseconds.
    fn times(&self, batch: &RecordBatch) -> Result<Vec<Option<Time>>, PushError> {
        let Some(column) = batch.columns().get(self.time.place) else { return Ok(Vec::new()) };
        Ok(match self.time.unit {
            Unit::Seconds => {
                let seconds = cast(column, &DataType::Float64).map_err(PushError::of)?;
                seconds.as_primitive::<Float64Type>().iter().map(|s| Time::from_seconds(s?)).collect()
            }
            Unit::Nanos(unit) => {
                let whole = cast(column, &DataType::Int64).map_err(PushError::of)?;
                let times = whole.as_primitive::<Int64Type>().iter();
                times.map(|time| time?.checked_mul(unit).map(Time::from_nanos)).collect()
            }
        })
    }

    /// Whether the times are those of a wall clock.
    pub(crate) fn is_wall(&self, schema: &Schema) -> bool {
        let field = schema.fields().get(self.time.place);
        field.is_some_and(|field| matches!(field.data_type(), DataType::Timestamp(..)))
    }

    /// Says what was skipped, and which channels there are.
    pub(crate) fn finish(mut self, problems: &mut Problems, sink: &mut dyn Sink) -> Result<Vec<Channel>, SinkError> {
        if let Some(only) = self.only.take()
            && self.channels.is_empty()
            && !only.type_name.is_empty()
        {
            self.new_channel(only);
            self.declared = false;
        }
        self.declare(sink)?;
        let mut lost = |code, message: String| problems.push(Problem::general(Severity::Damage, code, message));
        if !self.lost.columns.is_empty() {
            let columns = self.lost.columns.join(", ");
            lost("column-skipped", format!("skipped columns of unsupported types: {columns}"));
        }
        if self.lost.times > 0 {
            lost("row-without-time", format!("skipped {} rows without a valid timestamp", self.lost.times));
        }
        if self.lost.channels > 0 {
            lost("row-without-channel", format!("skipped {} rows without a channel", self.lost.channels));
        }
        if self.lost.values > 0 {
            let message = format!("skipped {} values with nulls or numbers beyond 64 bits", self.lost.values);
            lost("bad-value", message);
        }
        Ok(self.channels)
    }
}

impl ValueColumn {
    fn leaf(&self, batch: &RecordBatch, lost: &mut Lost) -> Result<Leaf, PushError> {
        let mut steps = self.path.iter();
        let mut array = steps.next().and_then(|i| batch.columns().get(*i)).cloned();
        // A struct that is null has fields which are.
        let mut nulls = None;
        for i in steps {
            let Some(outer) = array.as_ref().and_then(|array| array.as_struct_opt()) else { break };
            nulls = NullBuffer::union(nulls.as_ref(), outer.nulls());
            array = outer.columns().get(*i).cloned();
        }
        let array = array.ok_or_else(|| PushError::Format("a column is missing".to_owned()))?;
        let typed = cast(&array, &self.target).map_err(PushError::of)?;
        let before = array.logical_null_count();
        lost.values += typed.null_count().saturating_sub(before) as u64;
        let held = if self.target == DataType::Binary { Type::Bytes } else { self.ty };
        Ok(Leaf { array: typed, held, nulls })
    }
}

/// A column of values in one of the few types that channels have.
struct Leaf {
    array: ArrayRef,
    /// What the array holds: values, or payloads of them.
    held: Type,
    /// Rows without a value, besides those of the array.
    nulls: Option<NullBuffer>,
}

impl Leaf {
    fn is_null(&self, row: usize) -> bool {
        self.array.is_null(row) || self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends a row's payload; false if it cannot be said.
    fn emit(&self, row: usize, out: &mut Vec<u8>) -> bool {
        match self.held {
            Type::Boolean => out.push(self.array.as_boolean().value(row).into()),
            Type::Int64 => out.extend_from_slice(&self.array.as_primitive::<Int64Type>().value(row).to_le_bytes()),
            Type::Float => out.extend_from_slice(&self.array.as_primitive::<Float32Type>().value(row).to_le_bytes()),
            Type::Double => out.extend_from_slice(&self.array.as_primitive::<Float64Type>().value(row).to_le_bytes()),
            Type::String => out.extend_from_slice(self.array.as_string::<i32>().value(row).as_bytes()),
            Type::Bytes => out.extend_from_slice(self.array.as_binary::<i32>().value(row)),
            _ => return self.emit_list(&self.array.as_list::<i32>().value(row), out),
        }
        true
    }

    fn emit_list(&self, list: &ArrayRef, out: &mut Vec<u8>) -> bool {
        if list.null_count() > 0 {
            return false;
        }
        match self.held {
            Type::BooleanArray => out.extend(list.as_boolean().values().iter().map(u8::from)),
            Type::Int64Array => extend(out, list.as_primitive::<Int64Type>().values(), |x| x.to_le_bytes()),
            Type::FloatArray => extend(out, list.as_primitive::<Float32Type>().values(), |x| x.to_le_bytes()),
            Type::DoubleArray => extend(out, list.as_primitive::<Float64Type>().values(), |x| x.to_le_bytes()),
            _ => {
                let texts = list.as_string::<i32>();
                let Ok(count) = u32::try_from(texts.len()) else { return false };
                out.extend_from_slice(&count.to_le_bytes());
                for text in texts.iter().flatten() {
                    let Ok(length) = u32::try_from(text.len()) else { return false };
                    out.extend_from_slice(&length.to_le_bytes());
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
        true
    }
}

fn extend<T: Copy, const N: usize>(out: &mut Vec<u8>, numbers: &[T], bytes: fn(T) -> [u8; N]) {
    out.extend(numbers.iter().flat_map(|number| bytes(*number)));
}

/// The column of times, by name; the first of the list that the table has.
fn time_column(fields: &Fields) -> Result<TimeColumn, String> {
    for (known, unit) in TIMES {
        let Some(place) = fields.iter().position(|field| field.name().eq_ignore_ascii_case(known)) else { continue };
        let Some(field) = fields.get(place) else { continue };
        let unit = match field.data_type() {
            DataType::Timestamp(unit, _) | DataType::Duration(unit) => Unit::Nanos(nanos(*unit)),
            ty if ty.is_numeric() => match unit {
                Some(unit) => *unit,
                None if ty.is_integer() => {
                    return Err(format!(
                        "column {:?} has integers of an unknown unit; rename it to time_ns, time_us or time_ms",
                        field.name()
                    ));
                }
                None => Unit::Seconds,
            },
            _ => continue,
        };
        return Ok(TimeColumn { place, unit });
    }
    Err(format!("no column of timestamps; {}", found(fields)))
}

fn nanos(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// What was found, and what a table should have.
fn found(fields: &Fields) -> String {
    let names: Vec<String> =
        fields.iter().take(NAMED).map(|field| format!("{} ({})", field.name(), field.data_type())).collect();
    let more = fields.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "found the columns {}{more}; expected time_ns (or time, in seconds), channel and columns of values, or a \
         time and one column per channel",
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    )
}

fn is_text(ty: &DataType) -> bool {
    match ty {
        DataType::Dictionary(_, values) => is_text(values),
        ty => matches!(ty, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

/// What a column is cast to, and the type that its channel gets; `None` for what no channel can be.
fn target(ty: &DataType) -> Option<(DataType, Type, &'static str)> {
    Some(match ty {
        DataType::Boolean => (DataType::Boolean, Type::Boolean, "boolean"),
        DataType::Float16 | DataType::Float32 => (DataType::Float32, Type::Float, "float"),
        ty if ty.is_floating() || ty.is_decimal() => (DataType::Float64, Type::Double, "double"),
        ty if ty.is_integer() || ty.is_temporal() && !matches!(ty, DataType::Interval(_)) => {
            (DataType::Int64, Type::Int64, "int64")
        }
        ty if is_text(ty) => (DataType::Utf8, Type::String, "string"),
        DataType::Dictionary(_, values) => return target(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            (DataType::Binary, Type::Bytes, "raw")
        }
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            let (element, ty, _) = target(field.data_type())?;
            let (ty, name) = match ty {
                Type::Boolean => (Type::BooleanArray, "boolean[]"),
                Type::Int64 => (Type::Int64Array, "int64[]"),
                Type::Float => (Type::FloatArray, "float[]"),
                Type::Double => (Type::DoubleArray, "double[]"),
                Type::String => (Type::StringArray, "string[]"),
                _ => return None,
            };
            (DataType::List(Arc::new(Field::new_list_field(element, true))), ty, name)
        }
        _ => return None,
    })
}

/// Names of columns that hold times, and what their numbers mean; without that, fractions are seconds.
const TIMES: &[(&str, Option<Unit>)] = &[
    ("time_ns", Some(Unit::Nanos(1))),
    ("timestamp_ns", Some(Unit::Nanos(1))),
    ("time_us", Some(Unit::Nanos(1_000))),
    ("timestamp_us", Some(Unit::Nanos(1_000))),
    ("time_ms", Some(Unit::Nanos(1_000_000))),
    ("timestamp_ms", Some(Unit::Nanos(1_000_000))),
    ("time_s", Some(Unit::Seconds)),
    ("timestamp_s", Some(Unit::Seconds)),
    ("time", None),
    ("timestamp", None),
    ("datetime", None),
    ("t", None),
];
/// How many columns an error names.
const NAMED: usize = 12;
/// How many structs within structs become channels.
const DEEPEST: usize = 16;
