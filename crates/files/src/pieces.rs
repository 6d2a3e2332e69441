//! Files that are written in pieces, which are filled and sealed side by side.

use std::sync::{PoisonError, RwLock};

use logpose_bridges::{Piece, Writer};
use logpose_core::{Channel, ChannelId, Problem, Problems, Sample, Sink, SinkError, Time};

use crate::{Feed, Order, Progress, windows};

/// What was written.
pub(crate) struct Written {
    pub(crate) samples: u64,
    pub(crate) problems: Problems,
}

/// Writes everything that a feed has.
pub(crate) fn write<W: Writer + Send>(
    feed: &Feed<'_>,
    order: Order,
    writer: W,
    progress: &dyn Progress,
) -> Result<Written, SinkError> {
    let (writer, samples, mut problems) = match order {
        Order::File => side_by_side(feed, writer, progress).map(|(writer, n)| (writer, n, Problems::default()))?,
        Order::Time => one_by_one(feed, writer, progress)?,
    };
    writer.finish()?.into_iter().for_each(|problem| problems.push(problem));
    Ok(Written { samples, problems })
}

/// In the order of the files: a piece for each window, several windows at once.
fn side_by_side<W: Writer + Send>(feed: &Feed<'_>, writer: W, progress: &dyn Progress) -> Result<(W, u64), SinkError> {
    let windows = feed.windows(WINDOW);
    let threads = feed.logs().iter().map(|log| log.how().threads).max().unwrap_or(1);
    let writer = RwLock::new(writer);
    let fill = |number: usize| {
        let mut piece = writer.read().unwrap_or_else(PoisonError::into_inner).piece();
        if let Some(window) = windows.get(number) {
            feed.window(*window, &mut piece)?;
        }
        piece.seal()?;
        Ok(piece)
    };
    let (mut samples, mut done, mut sizes) =
        (0, 0, windows.iter().map(|(_, span)| span.end.saturating_sub(span.start)));
    let end = windows::in_order(threads, windows.len(), fill, |piece: W::Piece| {
        samples += piece.rows() as u64;
        done += sizes.next().unwrap_or(0);
        progress.at(done);
        writer.write().unwrap_or_else(PoisonError::into_inner).append(piece)
    });
    end?;
    Ok((writer.into_inner().unwrap_or_else(PoisonError::into_inner), samples))
}

/// In the order of time, which is made by one merge: a piece whenever enough has come.
fn one_by_one<W: Writer>(feed: &Feed<'_>, writer: W, progress: &dyn Progress) -> Result<(W, u64, Problems), SinkError> {
    let bytes: u64 = feed.logs().iter().map(|log| log.bytes().len() as u64).sum();
    let share = feed.samples().max(1);
    let mut cut = Cut {
        piece: writer.piece(),
        writer,
        samples: 0,
        problems: Problems::default(),
        report: |samples| {
            let done = u128::from(bytes) * u128::from(samples) / u128::from(share);
            progress.at(u64::try_from(done).unwrap_or(bytes));
        },
    };
    feed.run(Order::Time, &mut cut)?;
    let Cut { mut writer, piece, samples, problems, .. } = cut;
    let samples = samples + piece.rows() as u64;
    writer.append(piece)?;
    Ok((writer, samples, problems))
}

/// A sink that begins a new piece when one is full.
struct Cut<W: Writer, F> {
    writer: W,
    piece: W::Piece,
    samples: u64,
    problems: Problems,
    report: F,
}

impl<W: Writer, F: Fn(u64)> Sink for Cut<W, F> {
    fn channel(&mut self, id: ChannelId, channel: &Channel) -> Result<(), SinkError> {
        self.piece.channel(id, channel)
    }

    fn samples(&mut self, samples: &[Sample<'_>]) -> Result<(), SinkError> {
        self.piece.samples(samples)?;
        if self.piece.rows() >= ROWS || self.piece.size() >= SIZE {
            let full = std::mem::replace(&mut self.piece, self.writer.piece());
            self.samples += full.rows() as u64;
            (self.report)(self.samples);
            self.writer.append(full)?;
        }
        Ok(())
    }

    fn metadata(&mut self, id: ChannelId, time: Time, metadata: &str) -> Result<(), SinkError> {
        self.piece.metadata(id, time, metadata)
    }

    fn end(&mut self, id: ChannelId, time: Time) -> Result<(), SinkError> {
        self.piece.end(id, time)
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// Bytes of a log that go into one piece.
const WINDOW: u64 = 16 << 20;
/// Samples, and bytes of memory, from which on a piece is full.
const ROWS: usize = 1 << 20;
const SIZE: usize = 64 << 20;
