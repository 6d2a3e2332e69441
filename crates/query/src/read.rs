use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, make_array, new_null_array,
};
use arrow_array::{RecordBatchOptions, StructArray};
use arrow_schema::{DataType, SchemaRef};
use datafusion::arrow::array::MutableArrayData;
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{can_cast_types, cast, filter_record_batch};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::{BaselineMetrics, Count, ExecutionPlanMetricsSet, MetricBuilder};
use logpose_core::{Channel, Chunk, Column as Samples, Columns, Lookup, Time, Type};
use logpose_model::{Memory, channel_batches, long, times};

use crate::push::Stretch;
use crate::scan::{Scan, Wanted, Work};
use crate::table::{Column, Source, Table};

/// Reads one part of a scan: an iterator of batches, each of one channel.
pub(crate) struct Reader {
    table: Arc<Table>,
    wanted: Wanted,
    columns: Vec<Column>,
    schema: SchemaRef,
    works: VecDeque<Work>,
    pieces: VecDeque<Piece>,
    memory: Memory,
    constants: Constants,
    lends: bool,
    /// Rows that may still come.
    left: usize,
    reservation: MemoryReservation,
    baseline: BaselineMetrics,
    bytes: Count,
    samples: Count,
}

/// What becomes one batch.
struct Piece {
    source: usize,
    values: Values,
    /// Whether some of the rows may lie outside of the wanted stretch.
    mixed: bool,
}

enum Values {
    Chunk(Chunk),
    /// Times and values that were put in order.
    Sorted(Int64Array, ArrayRef),
}

impl Reader {
    pub(crate) fn new(
        scan: &Scan,
        works: Vec<Work>,
        partition: usize,
        context: &TaskContext,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Self {
        Self {
            table: scan.table.clone(),
            wanted: scan.wanted.clone(),
            columns: scan.columns(),
            schema: scan.schema(),
            works: works.into(),
            pieces: VecDeque::new(),
            memory: Memory::default(),
            constants: Constants::default(),
            lends: scan.lends(),
            left: scan.wanted.limit.unwrap_or(usize::MAX),
            reservation: MemoryConsumer::new("reading").register(context.memory_pool()),
            baseline: BaselineMetrics::new(metrics, partition),
            bytes: MetricBuilder::new(metrics).counter("bytes_touched", partition),
            samples: MetricBuilder::new(metrics).counter("samples_decoded", partition),
        }
    }

    /// Reads the next piece of a log.
    fn read(&mut self, work: Work) -> Result<()> {
        self.memory = Memory::default();
        self.reservation.free();
        match work {
            Work::Gather { log, sources } => self.gather(log, &sources),
            Work::Window { log, within, sources } => {
                let Some(opened) = self.table.logs.log(log).cloned() else { return Ok(()) };
                let end = opened.bytes().len() as u64;
                self.bytes.add(count(within.end.min(end).saturating_sub(within.start)));
                let mut channels = vec![false; opened.index.channels.len()];
                let mut places = vec![None; channels.len()];
                for place in sources.iter() {
                    let Some(source) = self.table.sources.get(*place) else { continue };
                    if let Some(wanted) = channels.get_mut(source.id as usize) {
                        *wanted = true;
                    }
                    if let Some(slot) = places.get_mut(source.id as usize) {
                        *slot = Some(*place);
                    }
                }
                if channels.iter().all(|wanted| *wanted) {
                    channels.clear();
                }
                let span = self.span(log);
                let lookup = Lookup {
                    channels,
                    start: (span.start > i64::MIN).then(|| Time::from_nanos(span.start)),
                    end: (span.end < i64::MAX).then(|| Time::from_nanos(span.end)),
                    within: Some(within),
                    untimed: span == Stretch::ALL && !self.wants_time(),
                    ..Lookup::default()
                };
                let columns = opened.scan(&lookup).map_err(external)?;
                opened.pass(within);
                self.reservation.try_resize(taken(&columns, within.end.min(end) - within.start.min(end)))?;
                let (columns, memory) = columns.into_parts();
                self.memory = memory.into();
                for (column, place) in columns.iter().zip(places) {
                    if let Some(source) = place {
                        self.pieces.extend(chunks(source, column, false));
                    }
                }
                Ok(())
            }
        }
    }

    fn gather(&mut self, log: usize, sources: &[usize]) -> Result<()> {
        let table = self.table.clone();
        let Some(opened) = table.logs.log(log) else { return Ok(()) };
        let found: Vec<(usize, &Source)> =
            sources.iter().filter_map(|place| Some((*place, table.sources.get(*place)?))).collect();
        let ids: Vec<_> = found.iter().map(|(_, source)| source.id).collect();
        let of_all: u64 = found.iter().filter_map(|(_, source)| table.found(source)).map(|c| c.bytes).sum();
        self.bytes.add(count(of_all));
        let columns = opened.columns(&ids).map_err(external)?;
        self.reservation.try_resize(taken(&columns, of_all))?;
        let (columns, memory) = columns.into_parts();
        self.memory = memory.into();
        for (column, (place, source)) in columns.iter().zip(found) {
            if table.ordered && !column.sorted {
                for batch in channel_batches(column, &self.memory, &source.shape) {
                    let [times, values] = batch.columns() else { continue };
                    let times = times.as_primitive().clone();
                    let values = Values::Sorted(times, values.clone());
                    self.pieces.push_back(Piece { source: place, values, mixed: true });
                }
            } else {
                self.pieces.extend(chunks(place, column, true));
            }
        }
        Ok(())
    }

    fn wants_time(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, Column::Time | Column::TimeNs))
    }

    fn span(&self, log: usize) -> Stretch {
        self.wanted.spans.get(log).copied().unwrap_or(Stretch::ALL)
    }

    fn batch(&mut self, piece: &Piece) -> Result<Option<RecordBatch>> {
        let table = self.table.clone();
        let Some(source) = table.sources.get(piece.source) else { return Ok(None) };
        let rows = match &piece.values {
            Values::Chunk(chunk) => chunk.rows as usize,
            Values::Sorted(times, _) => times.len(),
        };
        self.samples.add(rows);
        let span = self.span(source.log);
        let limits = piece.mixed && span != Stretch::ALL;
        let moments = (limits || self.wants_time()).then(|| match &piece.values {
            Values::Chunk(chunk) => times(&self.memory, chunk),
            Values::Sorted(times, _) => times.clone(),
        });
        let mut arrays = Vec::with_capacity(self.columns.len());
        let mut decoded: Option<ArrayRef> = None;
        let mut payload: Option<RecordBatch> = None;
        for (column, field) in self.columns.iter().zip(self.schema.fields()) {
            let moments = || moments.clone().unwrap_or_else(|| Int64Array::from(Vec::<i64>::new()));
            let mut value = |memory: &Memory| match &piece.values {
                Values::Sorted(_, values) => values.clone(),
                Values::Chunk(chunk) => decoded.get_or_insert_with(|| source.shape.array(memory, chunk)).clone(),
            };
            arrays.push(match column {
                Column::Log => {
                    let key = i32::try_from(source.log).unwrap_or(i32::MAX);
                    self.constants.name(*column, key, &table.log_names, rows)?
                }
                Column::Label => self.constants.name(*column, source.label, &table.labels, rows)?,
                Column::TimeNs => Arc::new(moments()),
                Column::Time => table.logs.times(source.log, &moments()),
                Column::Value => fitted(value(&self.memory), field.data_type(), table.described(source))?,
                Column::Field(place) if source.places.is_some() => {
                    let place = source.places.as_ref().and_then(|places| places.get(*place).copied().flatten());
                    let part = place.and_then(|place| field_of(value(&self.memory).as_struct_opt()?, place));
                    match part {
                        Some(part) => fitted(part, field.data_type(), table.described(source))?,
                        None => self.constants.nulls(*column, field.data_type(), rows),
                    }
                }
                Column::Field(place) => {
                    let values = value(&self.memory);
                    let part = values.as_struct_opt().and_then(|parts| field_of(parts, *place));
                    fitted(part.unwrap_or(values), field.data_type(), table.described(source))?
                }
                Column::Long(place) => {
                    let (Some(channel), Values::Chunk(chunk)) = (table.described(source), &piece.values) else {
                        return Ok(None);
                    };
                    match kept_in(channel.ty(), field.name()) {
                        Kept::Not => self.constants.nulls(*column, field.data_type(), rows),
                        Kept::Alone => value(&self.memory),
                        Kept::Among => {
                            let batch = payload.get_or_insert_with(|| {
                                long::of_chunk(0, &self.constants.unnamed(), channel, &self.memory, chunk)
                            });
                            batch
                                .columns()
                                .get(*place)
                                .cloned()
                                .unwrap_or_else(|| new_null_array(field.data_type(), rows))
                        }
                    }
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        if !self.lends {
            let columns = self.columns.iter().zip(&mut arrays);
            columns
                .filter(|(column, _)| !matches!(column, Column::Log | Column::Label))
                .for_each(|(_, array)| own(array));
        }
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?;
        match moments.filter(|_| limits) {
            Some(moments) => within(&batch, &moments, span).map(Some),
            None => Ok(Some(batch)),
        }
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>> {
        while self.left > 0 {
            if let Some(piece) = self.pieces.pop_front() {
                let batch = self.batch(&piece)?;
                let Some(batch) = batch.filter(|batch| batch.num_rows() > 0) else { continue };
                let batch = if batch.num_rows() > self.left { batch.slice(0, self.left) } else { batch };
                self.left -= batch.num_rows();
                return Ok(Some(batch));
            }
            match self.works.pop_front() {
                Some(work) => self.read(work)?,
                None => break,
            }
        }
        self.memory = Memory::default();
        self.reservation.free();
        Ok(None)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let timer = self.baseline.elapsed_compute().clone();
        let _timing = timer.timer();
        let next = self.advance();
        match &next {
            Ok(Some(batch)) => self.baseline.record_output(batch.num_rows()),
            Ok(None) => self.baseline.done(),
            // What is broken stays broken.
            Err(_) => {
                self.works.clear();
                self.pieces.clear();
            }
        }
        next.transpose()
    }
}

/// Gives an array memory of its own, as large as it is. A piece of a block counts as the whole block.
fn own(array: &mut ArrayRef) {
    let large = array.get_buffer_memory_size() > LOOSE * array.len().max(1);
    if large && array.logical_null_count() < array.len() {
        let data = array.to_data();
        let mut copy = MutableArrayData::new(vec![&data], false, data.len());
        if copy.try_extend(0, 0, data.len()).is_ok() {
            *array = make_array(copy.freeze());
        }
    }
}

/// About how much memory columns take whose records have so many bytes: blocks are larger than what is used of them.
fn taken(columns: &Columns, bytes: u64) -> usize {
    let samples: usize = columns.columns.iter().map(Samples::samples).sum();
    columns.held().min(samples * size_of::<i64>() + count(bytes))
}

fn chunks(source: usize, column: &Samples, mixed: bool) -> impl Iterator<Item = Piece> {
    column.chunks.iter().filter(|chunk| chunk.rows > 0).map(move |chunk| Piece {
        source,
        values: Values::Chunk(*chunk),
        mixed,
    })
}

/// How the values of a type lie in a column of the long table.
enum Kept {
    /// Not at all.
    Not,
    /// All of them, as their own array is.
    Alone,
    /// All or some of them, changed or not.
    Among,
}

fn kept_in(ty: Type, column: &str) -> Kept {
    match (ty, column) {
        (Type::Double, "number") | (Type::Int64, "integer") | (Type::Boolean, "boolean") => Kept::Alone,
        (Type::Double | Type::Int64 | Type::Boolean, _) => Kept::Not,
        (Type::DoubleArray | Type::FloatArray, "numbers")
        | (Type::Float, "number")
        | (Type::Int64Array, "integers")
        | (Type::BooleanArray, "booleans")
        | (Type::StringArray, "texts")
        | (Type::String, "text")
        // What another column cannot hold to the bit is here.
        | (_, "bytes") => Kept::Among,
        _ => Kept::Not,
    }
}

/// A field of a struct, null where the struct is.
pub(crate) fn field_of(parts: &StructArray, place: usize) -> Option<ArrayRef> {
    let part = parts.columns().get(place)?;
    let Some(nulls) = parts.nulls() else { return Some(part.clone()) };
    let nulls = NullBuffer::union(Some(nulls), part.nulls());
    part.to_data().into_builder().nulls(nulls).build().ok().map(make_array)
}

/// Values in the type of their column: logs may write one channel with several schemas.
pub(crate) fn fitted(values: ArrayRef, wanted: &DataType, channel: Option<&Channel>) -> Result<ArrayRef> {
    if values.data_type() == wanted {
        return Ok(values);
    }
    if can_cast_types(values.data_type(), wanted) {
        return Ok(cast(&values, wanted)?);
    }
    let name = channel.map_or("", |channel| &channel.name);
    Err(DataFusionError::Execution(format!(
        "channel {name:?} is {} in one log and {wanted} in the first; query them separately",
        values.data_type()
    )))
}

/// The rows of a stretch of time.
fn within(batch: &RecordBatch, times: &Int64Array, span: Stretch) -> Result<RecordBatch> {
    let values = times.values();
    if values.is_sorted() {
        let from = values.partition_point(|ns| *ns < span.start);
        let to = values.partition_point(|ns| *ns <= span.end).max(from);
        return Ok(batch.slice(from, to - from));
    }
    let mask: BooleanArray = values.iter().map(|ns| Some(span.start <= *ns && *ns <= span.end)).collect();
    Ok(filter_record_batch(batch, &mask)?)
}

/// Columns in which all rows are the same, made once and cut to length.
#[derive(Default)]
struct Constants {
    names: HashMap<(Column, i32), DictionaryArray<Int32Type>>,
    /// Rows of all of them.
    held: usize,
    nulls: HashMap<Column, ArrayRef>,
    unnamed: Option<ArrayRef>,
}

impl Constants {
    fn name(&mut self, column: Column, key: i32, values: &ArrayRef, rows: usize) -> Result<ArrayRef> {
        if let Some(made) = self.names.get(&(column, key)).filter(|made| made.len() >= rows) {
            return Ok(Arc::new(made.slice(0, rows)));
        }
        let keys = Int32Array::from_value(key, rows.next_power_of_two());
        let made = DictionaryArray::try_new(keys, values.clone())?;
        let cut = made.slice(0, rows);
        self.held += made.len();
        if self.held > MOST_KEYS {
            self.names.clear();
            self.held = made.len();
        }
        self.names.insert((column, key), made);
        Ok(Arc::new(cut))
    }

    fn nulls(&mut self, column: Column, data_type: &DataType, rows: usize) -> ArrayRef {
        let made = self.nulls.get(&column).filter(|made| made.len() >= rows).cloned();
        let made = made.unwrap_or_else(|| new_null_array(data_type, rows.next_power_of_two()));
        let cut = made.slice(0, rows);
        self.nulls.insert(column, made);
        cut
    }

    /// A dictionary for batches whose names nobody looks at.
    fn unnamed(&mut self) -> ArrayRef {
        let one = || Arc::new(arrow_array::StringArray::from(vec![""])) as ArrayRef;
        self.unnamed.get_or_insert_with(one).clone()
    }
}

pub(crate) fn external(error: logpose::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

fn count(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Rows of constant columns that are kept: thousands of channels must not fill the memory with their names.
const MOST_KEYS: usize = 4 << 20;
/// So many bytes a row are no reason for a copy.
const LOOSE: usize = 64;
