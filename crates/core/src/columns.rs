use std::ops::Range;

use crate::{
    Channel, ChannelId, ColumnBuilder, DecodeError, Index, Layout, Problem, Sample, Sink, SinkError, SlotId, Sum, Time,
    Value, array_at,
};

/// The samples of channels as flat buffers: all times of a chunk, then all its payloads. Numbers are
/// little-endian and strings are UTF-8 bytes with offsets, which is what Arrow wants, so a columnar engine
/// takes the memory over as it is.
#[derive(Debug, Default)]
pub struct Columns {
    /// One for each channel that was asked for.
    pub columns: Vec<Column>,
    pub(crate) memory: Vec<Vec<u8>>,
}

/// The samples of one channel, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The channel.
    pub channel: Channel,
    /// Whether the samples stand in the order of their times.
    pub sorted: bool,
    /// The samples, in pieces.
    pub chunks: Vec<Chunk>,
}

impl Column {
    /// How many samples it has.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows as usize).sum()
    }
}

/// A run of samples in one piece of memory.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// How many samples.
    pub rows: u32,
    /// Which of the memory's blocks.
    pub(crate) block: u32,
    /// Where in it the times, and the payloads, begin.
    pub(crate) times: u32,
    pub(crate) values: u32,
    pub(crate) widths: Widths,
}

/// How long the payloads of a chunk are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Widths {
    /// All of them this many bytes.
    Fixed(u32),
    /// Each its own: `rows + 1` 32-bit offsets at this place, counted from the first payload byte.
    Offsets(u32),
}

impl Columns {
    /// How many binary numbers each column has, and their sums. Times are not looked at.
    #[must_use]
    pub fn sums(&self) -> Vec<Sum> {
        let sum = |column: &Column| {
            let payloads = column.chunks.iter().flat_map(|chunk| self.payloads(chunk));
            let values = payloads.filter_map(|payload| Value::parse(column.channel.ty(), payload, Layout::Little).ok());
            values.fold(Sum::default(), |sum, value| sum.with(&value))
        };
        self.columns.iter().map(sum).collect()
    }

    /// The memory that chunks point into.
    #[must_use]
    pub fn memory(&self) -> &[Vec<u8>] {
        &self.memory
    }

    /// The columns and their memory, for callers that keep the chunks.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Column>, Vec<Vec<u8>>) {
        (self.columns, self.memory)
    }

    /// Times of a chunk.
    pub fn times(&self, chunk: &Chunk) -> impl ExactSizeIterator<Item = Time> + '_ {
        let bytes = self.bytes(chunk.times_range(), chunk);
        bytes.chunks_exact(8).map(|b| Time::from_nanos(array_at(b, 0).map_or(0, |b| i64::from_le_bytes(*b))))
    }

    /// Payloads of a chunk, numbers in little-endian order.
    pub fn payloads(&self, chunk: &Chunk) -> impl Iterator<Item = &[u8]> + '_ {
        chunk.payloads(self.memory.get(chunk.block as usize).map_or(&[][..], |block| block))
    }

    /// Samples of a column: times and values.
    pub fn samples<'a>(&'a self, column: &'a Column) -> impl Iterator<Item = (Time, Value<'a>)> + 'a {
        let ty = column.channel.ty();
        column.chunks.iter().flat_map(move |chunk| {
            let values = self.payloads(chunk).map(move |payload| Value::parse(ty, payload, Layout::Little));
            self.times(chunk).zip(values).filter_map(|(time, value)| Some((time, value.ok()?)))
        })
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.memory.iter().map(Vec::len).sum()
    }

    fn bytes(&self, range: Range<usize>, chunk: &Chunk) -> &[u8] {
        let block = self.memory.get(chunk.block as usize).map_or(&[][..], |block| block);
        block.get(range.start..range.end.min(block.len())).unwrap_or_default()
    }
}

impl Chunk {
    /// Which block of [`Columns::memory`] the chunk lies in.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block as usize
    }

    /// Where in its block the times are, as 64-bit nanoseconds.
    #[must_use]
    pub fn times_range(&self) -> Range<usize> {
        let start = self.times as usize;
        start..start + self.rows as usize * 8
    }

    /// Where in its block the payloads begin.
    #[must_use]
    pub fn values_at(&self) -> usize {
        self.values as usize
    }

    /// How long the payloads are.
    #[must_use]
    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// Where in its block all payloads are.
    pub(crate) fn values_range(&self, block: &[u8]) -> Range<usize> {
        let len = match self.widths {
            Widths::Fixed(width) => width as usize * self.rows as usize,
            Widths::Offsets(at) => offset(block, at, self.rows as usize),
        };
        self.values as usize..self.values as usize + len
    }

    /// The payloads, out of the block that the chunk lies in.
    pub(crate) fn payloads<'b>(&self, block: &'b [u8]) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        let values = block.get(self.values_range(block)).unwrap_or_default();
        let widths = self.widths;
        (0..self.rows as usize).map(move |row| {
            let range = match widths {
                Widths::Fixed(width) => row * width as usize..(row + 1) * width as usize,
                Widths::Offsets(at) => offset(block, at, row)..offset(block, at, row + 1),
            };
            values.get(range).unwrap_or_default()
        })
    }
}

/// The `row`-th of the offsets at `at`.
fn offset(block: &[u8], at: u32, row: usize) -> usize {
    array_at(block, at as usize + 4 * row).map_or(0, |b| u32::from_le_bytes(*b) as usize)
}

impl Columns {
    /// Columns made one value at a time: for the few channels that need a closer look, and for selections.
    pub fn gather(
        channels: Vec<Channel>,
        prepare: fn(&mut [u8]),
        fill: impl FnOnce(&mut dyn FnMut(usize, Time, &Value<'_>)) -> Result<(), DecodeError>,
    ) -> Result<Self, DecodeError> {
        let mut builder = ColumnBuilder::new(prepare);
        for (id, channel) in channels.iter().enumerate() {
            builder.declare(SlotId::try_from(id).unwrap_or(SlotId::MAX), &channel.type_name);
        }
        let mut payload = Vec::new();
        fill(&mut |id, time, value| {
            payload.clear();
            value.emit(Layout::Little, &mut payload);
            builder.record(SlotId::try_from(id).unwrap_or(SlotId::MAX), time.nanos(), &payload);
        })?;
        // Made of values, so none is doubtful.
        Ok(builder.columns(channels, Layout::Little).0)
    }

    /// Columns of what `replay` gives to a sink, which takes everything: one for each channel of the index.
    pub fn of_rows(
        dialect: &'static str,
        index: &Index,
        prepare: fn(&mut [u8]),
        replay: impl FnOnce(&mut dyn Sink) -> Result<(), SinkError>,
    ) -> Result<Self, DecodeError> {
        let channels = index.channels.iter().map(|c| c.channel.clone()).collect();
        Self::gather(channels, prepare, |push| replay(&mut Pushing(push)).map_err(|error| error.into_source(dialect)))
    }

    /// Appends the samples of a later part of the same log, which has the same channels.
    pub fn append(&mut self, later: Self) {
        let shift = u32::try_from(self.memory.len()).unwrap_or(u32::MAX);
        for (column, mut more) in self.columns.iter_mut().zip(later.columns) {
            more.chunks.iter_mut().for_each(|chunk| chunk.block += shift);
            column.sorted &= more.sorted;
            column.chunks.append(&mut more.chunks);
        }
        self.memory.extend(later.memory);
    }

    /// Replaces the columns at the places `which` by those of `other`, in that order.
    pub fn replace(&mut self, which: &[usize], mut other: Self) {
        let shift = u32::try_from(self.memory.len()).unwrap_or(u32::MAX);
        for (id, mut column) in which.iter().zip(other.columns) {
            column.chunks.iter_mut().for_each(|chunk| chunk.block += shift);
            if let Some(place) = self.columns.get_mut(*id) {
                *place = column;
            }
        }
        self.memory.append(&mut other.memory);
    }
}

/// A sink that pushes samples into columns.
struct Pushing<'p>(&'p mut dyn FnMut(usize, Time, &Value<'_>));

impl Sink for Pushing<'_> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        samples.iter().for_each(|sample| (self.0)(sample.channel as usize, sample.time, &sample.value));
        Ok(())
    }

    fn problem(&mut self, _: Problem) {
        // `FileDialect::index` has reported the problems of the log.
    }
}
