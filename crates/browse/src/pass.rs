//! One pass over a log that makes the cells of all plain numbers, truth values and fixed fields of structs.

use logpose_core::{ChannelId, Chunk, Columns, Lookup, Time, Type, Widths};
use logpose_schema::wpistruct::Scalar;

use super::fields::{Field, fields};
use super::pyramid::FILL;
use super::{Bucket, Pyramid};
use logpose_files::internal::windows;
use logpose_files::{Error, FieldReader, Log, Progress};

/// A series that the pass makes.
#[derive(Clone, Debug)]
pub(crate) struct SeriesPlan {
    pub(crate) channel: ChannelId,
    /// As [`logpose_files::parse_path`] reads it.
    pub(crate) path: String,
    at: At,
}

/// Where in a payload its number is.
#[derive(Clone, Debug)]
enum At {
    Boolean,
    Int64,
    Float,
    Double,
    /// In a struct of so many bytes.
    Field(usize, Field),
}

/// The series of a log that are made in one pass: of channels in the order of time that have at least `few` samples.
/// Others are made when they are asked for.
pub(crate) fn plan(log: &Log, few: u64) -> Vec<SeriesPlan> {
    let mut lanes = Vec::new();
    if log.index.channels.len() > MOST_CHANNELS {
        return lanes;
    }
    for (channel, found) in (0..).zip(&log.index.channels) {
        if found.samples < few || !found.sorted {
            continue;
        }
        let at = match found.channel.ty() {
            Type::Boolean => At::Boolean,
            Type::Int64 => At::Int64,
            Type::Float => At::Float,
            Type::Double => At::Double,
            Type::Bytes => {
                let parts = FieldReader::of(&found.channel, log.schemas().registry());
                let Some(layout) = parts.layout() else { continue };
                let all = fields(layout, MOST_FIELDS).into_iter();
                lanes.extend(all.map(|(path, field)| SeriesPlan { channel, path, at: At::Field(layout.size, field) }));
                continue;
            }
            _ => continue,
        };
        lanes.push(SeriesPlan { channel, path: String::new(), at });
    }
    lanes
}

/// How many samples fill a cell, so that all of them together take no more than some memory.
pub(crate) fn fill(log: &Log, lanes: &[SeriesPlan]) -> u64 {
    let samples = |lane: &SeriesPlan| log.index.channels.get(lane.channel as usize).map_or(0, |found| found.samples);
    let total = lanes.iter().map(samples).fold(0, u64::saturating_add);
    let mut fill = FILL;
    while (total / fill).saturating_mul(Bucket::BYTES as u64) > MEMORY {
        fill *= 2;
    }
    fill
}

/// Makes the pyramids of lanes, window by window of so many bytes on all threads.
pub(crate) fn build(
    log: &Log,
    lanes: &[SeriesPlan],
    fill: u64,
    window: u64,
    progress: &dyn Progress,
) -> Result<Vec<Pyramid>, Error> {
    let mut wanted = vec![false; log.index.channels.len()];
    for lane in lanes {
        wanted.get_mut(lane.channel as usize).into_iter().for_each(|wanted| *wanted = true);
    }
    let spans = log.windows(window);
    let mut all: Vec<Vec<Bucket>> = lanes.iter().map(|_| Vec::new()).collect();
    let work = |number: usize| {
        let within = spans.get(number).copied();
        let columns = log.scan(&Lookup { channels: wanted.clone(), within, ..Lookup::default() })?;
        within.into_iter().for_each(|within| log.pass(within));
        Ok((within, lanes.iter().map(|lane| lane.cells(&columns, fill)).collect::<Vec<_>>()))
    };
    progress.begin("surveying", log.bytes().len() as u64);
    let done = windows::in_order(log.how().threads, spans.len(), work, |(within, cells)| {
        all.iter_mut().zip(cells).for_each(|(all, cells)| append(all, &cells, fill));
        within.into_iter().for_each(|within| progress.at(within.end.min(log.bytes().len() as u64)));
        Ok::<_, Error>(())
    });
    progress.end();
    done?;
    Ok(all.into_iter().map(|cells| Pyramid::of_cells(cells, fill)).collect())
}

/// Adds the cells of the next window. At the border a cell may go on.
fn append(all: &mut Vec<Bucket>, cells: &[Bucket], fill: u64) {
    let Some((first, rest)) = cells.split_first() else { return };
    match all.last_mut() {
        Some(last) if last.count + first.count <= fill || first.start <= last.end => last.append(first),
        _ => all.push(*first),
    }
    all.extend_from_slice(rest);
}

impl SeriesPlan {
    fn cells(&self, columns: &Columns, fill: u64) -> Vec<Bucket> {
        let mut cells = Cells { all: Vec::new(), fill };
        let Some(column) = columns.columns.get(self.channel as usize) else { return cells.all };
        cells.all.reserve_exact(column.samples() / usize::try_from(fill).unwrap_or(usize::MAX) + 1);
        for chunk in &column.chunks {
            match &self.at {
                At::Boolean => cells.plain(columns, chunk, |[byte]: &[u8; 1]| f64::from(u8::from(*byte != 0))),
                #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more than 53 bits")]
                At::Int64 => cells.plain(columns, chunk, |bytes| i64::from_le_bytes(*bytes) as f64),
                At::Float => cells.plain(columns, chunk, |bytes| f32::from_le_bytes(*bytes).into()),
                At::Double => cells.plain(columns, chunk, |bytes| f64::from_le_bytes(*bytes)),
                At::Field(size, field) => cells.struct_field(columns, chunk, *size, field),
            }
        }
        cells.all
    }
}

/// The cells of one series in one window.
struct Cells {
    all: Vec<Bucket>,
    fill: u64,
}

impl Cells {
    /// Adds numbers of `N` bytes. A payload of another size is none, and has no sample either.
    fn plain<const N: usize>(&mut self, columns: &Columns, chunk: &Chunk, read: impl Fn(&[u8; N]) -> f64) {
        if matches!(chunk.widths(), Widths::Fixed(width) if width as usize == N) {
            let (times, payloads) = raw(columns, chunk, N);
            return self.add(times, payloads.as_chunks().0.iter().map(read));
        }
        for (time, payload) in columns.times(chunk).zip(columns.payloads(chunk)) {
            if let Some(bytes) = payload.as_array() {
                self.one(time, read(bytes));
            }
        }
    }

    /// Adds a field of structs of `size` bytes.
    fn struct_field(&mut self, columns: &Columns, chunk: &Chunk, size: usize, field: &Field) {
        let at = (size, field.offset);
        #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more than 53 bits")]
        match (field.bits, field.scalar) {
            (Some(bits), scalar) if scalar.is_signed() => {
                self.field(columns, chunk, at, |bytes| bits.signed(bytes).map(|x| x as f64));
            }
            (Some(bits), Scalar::Bool) => {
                self.field(columns, chunk, at, |bytes| bits.unsigned(bytes).map(|x| u8::from(x != 0).into()));
            }
            (Some(bits), _) => self.field(columns, chunk, at, |bytes| bits.unsigned(bytes).map(|x| x as f64)),
            (None, Scalar::Bool) => self.field(columns, chunk, at, le(|[x]| u8::from(x != 0).into())),
            (None, Scalar::Int8) => self.field(columns, chunk, at, le(|x| i8::from_le_bytes(x).into())),
            (None, Scalar::UInt8 | Scalar::Char) => self.field(columns, chunk, at, le(|[x]| x.into())),
            (None, Scalar::Int16) => self.field(columns, chunk, at, le(|x| i16::from_le_bytes(x).into())),
            (None, Scalar::UInt16) => self.field(columns, chunk, at, le(|x| u16::from_le_bytes(x).into())),
            (None, Scalar::Int32) => self.field(columns, chunk, at, le(|x| i32::from_le_bytes(x).into())),
            (None, Scalar::UInt32) => self.field(columns, chunk, at, le(|x| u32::from_le_bytes(x).into())),
            (None, Scalar::Int64) => self.field(columns, chunk, at, le(|x| i64::from_le_bytes(x) as f64)),
            (None, Scalar::UInt64) => self.field(columns, chunk, at, le(|x| u64::from_le_bytes(x) as f64)),
            (None, Scalar::Float) => self.field(columns, chunk, at, le(|x| f32::from_le_bytes(x).into())),
            (None, Scalar::Double) => self.field(columns, chunk, at, le(f64::from_le_bytes)),
        }
    }

    /// Adds what `read` finds at a place in structs of `size` bytes. A payload that is shorter has it not.
    fn field(
        &mut self,
        columns: &Columns,
        chunk: &Chunk,
        (size, offset): (usize, usize),
        read: impl Fn(&[u8]) -> Option<f64>,
    ) {
        let find = |payload: &[u8]| {
            let whole = payload.len() >= size;
            payload.get(offset..).filter(|_| whole).and_then(&read).unwrap_or(f64::NAN)
        };
        match chunk.widths() {
            Widths::Fixed(width) if width > 0 => {
                let (times, payloads) = raw(columns, chunk, width as usize);
                self.add(times, payloads.chunks_exact(width as usize).map(find));
            }
            _ => {
                for (time, payload) in columns.times(chunk).zip(columns.payloads(chunk)) {
                    self.one(time, find(payload));
                }
            }
        }
    }

    /// Adds samples that follow each other.
    #[inline]
    fn add(&mut self, mut times: &[[u8; 8]], mut values: impl Iterator<Item = f64>) {
        while let Some(first) = times.first() {
            let start = time(first);
            let room = self.room(start).min(times.len() as u64);
            let (now, later) = times.split_at_checked(usize::try_from(room).unwrap_or(1)).unwrap_or((times, &[]));
            let Some(value) = values.next() else { break };
            let mut cell = Bucket::of(start, value);
            for value in values.by_ref().take(now.len() - 1) {
                cell.min = cell.min.min(value);
                cell.max = cell.max.max(value);
                cell.last = value;
            }
            cell.end = now.last().map_or(start, time);
            cell.count = room;
            self.put(&cell);
            times = later;
        }
    }

    /// Adds one sample.
    fn one(&mut self, time: Time, value: f64) {
        self.put(&Bucket::of(time, value));
    }

    /// How many samples from a moment on go together into a cell, the open one or the next.
    fn room(&self, start: Time) -> u64 {
        match self.all.last() {
            Some(open) if open.count < self.fill => self.fill - open.count,
            // What is of one moment stays together.
            Some(open) if start <= open.end => 1,
            _ => self.fill,
        }
    }

    fn put(&mut self, next: &Bucket) {
        match self.all.last_mut() {
            Some(open) if open.count < self.fill || next.start <= open.end => open.append(next),
            _ => self.all.push(*next),
        }
    }
}

/// Reads a number at the front of bytes.
fn le<const N: usize>(number: impl Fn([u8; N]) -> f64) -> impl Fn(&[u8]) -> Option<f64> {
    move |bytes| bytes.first_chunk().map(|bytes| number(*bytes))
}

/// The times of a chunk and its payloads, which all have one width.
fn raw<'c>(columns: &'c Columns, chunk: &Chunk, width: usize) -> (&'c [[u8; 8]], &'c [u8]) {
    let block = columns.memory().get(chunk.block()).map_or(&[][..], |block| block);
    let (start, bytes) = (chunk.values_at(), chunk.rows as usize * width);
    let times = block.get(chunk.times_range()).unwrap_or_default();
    (times.as_chunks().0, block.get(start..start.saturating_add(bytes)).unwrap_or_default())
}

fn time(bytes: &[u8; 8]) -> Time {
    Time::from_nanos(i64::from_le_bytes(*bytes))
}

/// Channels with fewer samples are read as fast when somebody asks for them.
pub(crate) const FEW: u64 = 4096;
/// Bytes of cells that one pass makes.
const MEMORY: u64 = 384 << 20;
/// In a log of more channels a window has more of them than samples of any one.
const MOST_CHANNELS: usize = 1 << 16;
/// Fields of one channel that it makes.
const MOST_FIELDS: usize = 64;
/// Bytes of a log that are read at once.
pub(crate) const WINDOW: u64 = 16 << 20;
