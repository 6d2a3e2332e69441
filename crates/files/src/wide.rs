//! Samples as one table: a column for each channel, the last value held.

use std::io::{self, Write};

use logpose_core::{Channel, ChannelId, Problem, Problems, Sample, Sink, SinkError, Time};

use crate::show::Painter;
use crate::table::{FLUSH, quote, seconds};
use crate::{Error, Feed};

/// A table with one column for each channel, in which a value stands until the next one. Cells before a
/// channel's first sample are empty. Arrays and structs are JSON in one cell.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Wide {
    /// Nanoseconds from row to row; `None` for a row at every time at which anything was said.
    pub every: Option<i64>,
}

/// Writes the table. Samples must come in the order of time.
pub(crate) struct WideRows<W> {
    wide: Wide,
    painters: Vec<Painter>,
    /// The cells of the next row, quoted.
    cells: Vec<Vec<u8>>,
    scratch: Vec<u8>,
    /// When the next row stands; none before the first sample.
    next: Option<Time>,
    last: Time,
    buffer: Vec<u8>,
    out: W,
    pub(crate) problems: Problems,
    pub(crate) samples: u64,
}

impl<W: Write> WideRows<W> {
    pub(crate) fn new(wide: Wide, feed: &Feed<'_>, raw: bool, out: W) -> Result<Self, Error> {
        check(wide, feed)?;
        let painters: Vec<_> = feed.channels().iter().map(|channel| feed.schemas().painter(channel, raw)).collect();
        let mut buffer = b"time".to_vec();
        for name in logpose_model::names(feed.channels()) {
            buffer.push(b',');
            quote(name.as_bytes(), &mut buffer);
        }
        buffer.extend_from_slice(b"\r\n");
        let cells = painters.iter().map(|_| Vec::new()).collect();
        Ok(Self {
            wide,
            painters,
            cells,
            scratch: Vec::new(),
            next: None,
            last: Time::MIN,
            buffer,
            out,
            problems: Problems::default(),
            samples: 0,
        })
    }

    /// Writes the last rows.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        match self.wide.every {
            None => {
                if let Some(time) = self.next {
                    self.row(time)?;
                }
            }
            Some(every) => {
                while let Some(time) = self.next.filter(|time| *time <= self.last) {
                    self.row(time)?;
                    self.advance(time, every);
                }
            }
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// What the table was written to.
    pub(crate) fn into_out(self) -> W {
        self.out
    }

    /// Writes the rows that stand before `time`.
    fn until(&mut self, time: Time) -> io::Result<()> {
        match (self.next, self.wide.every) {
            (None, _) => self.next = Some(time),
            (Some(next), None) => {
                if next != time {
                    self.row(next)?;
                    self.next = Some(time);
                }
            }
            (Some(_), Some(every)) => {
                while let Some(next) = self.next.filter(|next| *next < time) {
                    self.row(next)?;
                    self.advance(next, every);
                }
            }
        }
        Ok(())
    }

    fn advance(&mut self, time: Time, every: i64) {
        // At the end of all time there is no next row.
        self.next = Some(time.plus(every)).filter(|next| *next > time);
    }

    fn row(&mut self, time: Time) -> io::Result<()> {
        seconds(time, &mut self.buffer);
        for cell in &self.cells {
            self.buffer.push(b',');
            self.buffer.extend_from_slice(cell);
        }
        self.buffer.extend_from_slice(b"\r\n");
        if self.buffer.len() >= FLUSH {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

impl<W: Write> Sink for WideRows<W> {
    fn channel(&mut self, _: ChannelId, _: &Channel) -> Result<(), SinkError> {
        Ok(())
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        for sample in samples {
            self.until(sample.time)?;
            self.last = self.last.max(sample.time);
            let id = sample.channel as usize;
            let (Some(cell), Some(painter)) = (self.cells.get_mut(id), self.painters.get_mut(id)) else { continue };
            cell.clear();
            self.scratch.clear();
            if painter.cell(&sample.value, &mut self.scratch) {
                cell.extend_from_slice(&self.scratch);
            } else {
                quote(&self.scratch, cell);
            }
        }
        self.samples += samples.len() as u64;
        Ok(())
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

fn check(wide: Wide, feed: &Feed<'_>) -> Result<(), Error> {
    let Some(every) = wide.every else { return Ok(()) };
    if every <= 0 {
        return Err(Error::usage("the interval between rows must be greater than zero"));
    }
    let Some((first, last)) = feed.range() else { return Ok(()) };
    let rows = last.since(first) / every;
    if rows > MOST_ROWS {
        let error = Error::usage(format!("too many rows: {rows} from {first} s to {last} s"));
        return Err(
            error.with_help("some timestamps are probably from another clock; limit the range with --start and --end")
        );
    }
    Ok(())
}

/// A week of milliseconds.
const MOST_ROWS: i64 = 604_800_000;
