use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use logpose_core::{ChannelId, ChannelIndex, Index, Row, SinkError, Time, Value};

use logpose_files::internal::sink_error;
use logpose_files::{Error, Log};

/// The samples of one channel in the order of time, found by their number in it.
pub(crate) struct Track<'l> {
    log: &'l Log,
    index: &'l Index,
    id: ChannelId,
    found: &'l ChannelIndex,
    /// Where the file has another order: times and places.
    order: Option<Arc<Vec<(Time, u64)>>>,
}

/// Takes a sample, and returns whether another is wanted.
pub(crate) type Take<'t> = dyn FnMut(Time, &Value<'_>) -> ControlFlow<()> + 't;

impl<'l> Track<'l> {
    pub(crate) fn new(
        log: &'l Log,
        index: &'l Index,
        id: ChannelId,
        found: &'l ChannelIndex,
        order: Option<Arc<Vec<(Time, u64)>>>,
    ) -> Self {
        Self { log, index, id, found, order }
    }

    /// The order of a channel whose samples stand in another one in the file.
    pub(crate) fn order(log: &Log, index: &Index, found: &ChannelIndex) -> Result<Vec<(Time, u64)>, Error> {
        let at: Vec<u64> = found.positions.iter().collect();
        let mut times = Vec::with_capacity(at.len());
        let read = log.dialect().times(log.bytes(), index, &at, &mut times);
        read.map_err(|error| Error::decode(&log.path, error))?;
        let mut order: Vec<(Time, u64)> = times.into_iter().zip(at).collect();
        order.sort_by_key(|(time, _)| *time);
        Ok(order)
    }

    pub(crate) fn len(&self) -> usize {
        self.order.as_ref().map_or(self.found.positions.len(), |order| order.len())
    }

    /// How many samples lie before a moment.
    pub(crate) fn before(&self, moment: Time) -> Result<usize, Error> {
        match &self.order {
            Some(order) => Ok(order.partition_point(|(time, _)| *time < moment)),
            None => self.log.samples_before(self.index, self.found, moment),
        }
    }

    /// How many samples lie at a moment or before it.
    pub(crate) fn until(&self, moment: Time) -> Result<usize, Error> {
        if moment == Time::MAX { Ok(self.len()) } else { self.before(moment.plus(1)) }
    }

    /// Where some samples are.
    fn rows(&self, range: Range<usize>, rows: &mut Vec<Row>) -> Result<(), Error> {
        rows.clear();
        let row = |time: Time, at: u64| Row { time, at, channel: self.id };
        match &self.order {
            Some(order) => rows.extend(order.get(range).unwrap_or_default().iter().map(|(time, at)| row(*time, *at))),
            None => {
                let at: Vec<u64> = self.found.positions.iter_from(range.start).take(range.len()).collect();
                let mut times = Vec::with_capacity(at.len());
                let read = self.log.dialect().times(self.log.bytes(), self.index, &at, &mut times);
                read.map_err(|error| Error::decode(&self.log.path, error))?;
                rows.extend(times.into_iter().zip(at).map(|(time, at)| row(time, at)));
            }
        }
        Ok(())
    }

    /// The place of one sample.
    pub(crate) fn row(&self, number: usize) -> Result<Option<Row>, Error> {
        let mut rows = Vec::with_capacity(1);
        self.rows(number..number.saturating_add(1), &mut rows)?;
        Ok(rows.first().copied())
    }

    /// Gives some samples, in the order of time.
    pub(crate) fn read(&self, mut range: Range<usize>, take: &mut Take<'_>) -> Result<(), Error> {
        let (mut rows, mut block) = (Vec::new(), FIRST);
        while !range.is_empty() {
            let end = range.end.min(range.start.saturating_add(block));
            self.rows(range.start..end, &mut rows)?;
            if samples(self.log, self.index, &rows, &mut |row, value| take(row.time, value))?.is_break() {
                break;
            }
            range.start = end;
            block = (block * 4).min(BLOCK);
        }
        Ok(())
    }

    /// Gives some samples, the latest first.
    pub(crate) fn read_back(&self, mut range: Range<usize>, take: &mut Take<'_>) -> Result<(), Error> {
        let (mut rows, mut block) = (Vec::new(), FIRST);
        while !range.is_empty() {
            let start = range.start.max(range.end.saturating_sub(block));
            self.rows(start..range.end, &mut rows)?;
            rows.reverse();
            if samples(self.log, self.index, &rows, &mut |row, value| take(row.time, value))?.is_break() {
                break;
            }
            range.end = start;
            block = (block * 4).min(BLOCK);
        }
        Ok(())
    }
}

/// Gives the values of rows, until one was enough.
pub(crate) fn samples(
    log: &Log,
    index: &Index,
    rows: &[Row],
    take: &mut dyn FnMut(&Row, &Value<'_>) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, Error> {
    let read = log.dialect().samples(log.bytes(), index, rows, &mut |samples| {
        let mut next = rows.iter();
        for sample in samples {
            // A record whose payload is not a valid value of its type has a row and no sample.
            let Some(row) = next.find(|row| row.channel == sample.channel && row.time == sample.time) else { break };
            if take(row, &sample.value).is_break() {
                return Err(SinkError::Stopped);
            }
        }
        Ok(())
    });
    match read {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(SinkError::Stopped) => Ok(ControlFlow::Break(())),
        Err(error) => Err(sink_error(error, Some(&log.path))),
    }
}

/// Rows that are read at once: few at first, because often one is enough.
const FIRST: usize = 16;
const BLOCK: usize = 4096;
