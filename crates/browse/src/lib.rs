#![doc = include_str!("../README.md")]

mod bucket;
mod fields;
mod kept;
mod level;
mod pass;
mod pyramid;
mod shelf;
#[cfg(test)]
mod tests;
mod track;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use logpose_core::{ChannelId, Index, Row, Time, Value};

pub use bucket::Bucket;
pub use pyramid::{Piece, Pyramid};

use kept::Kept;
use pyramid::Grid;
use shelf::Shelf;
use track::Track;

use logpose_files::{Error, FieldReader, Log, Progress, ScalarValue, Step, ValueKind};

/// A log that somebody looks around in: any channel at any time, and how it looks from afar.
///
/// It is asked from many threads at once. What it keeps in memory is bounded, save for the order of a channel whose samples
/// are out of order, of which one is always kept: 16 bytes a sample.
///
/// Open the log with [`light_from`](logpose_files::OpenOptions::light_from) at `u64::MAX`, so that places are found with the
/// index and kept with it.
///
/// ```
/// use std::sync::Arc;
/// use logpose::core::Time;
/// use logpose::{Browse, parse_path};
/// # let dir = tempfile::tempdir()?;
/// # let files = logpose_demo::demo(dir.path(), &logpose_demo::DemoOptions { teleop_s: 25, force: false })?;
/// # let log = logpose::Log::open_with(&files[1], &logpose::OpenOptions::default(), &logpose::Quiet)?;
/// let browse = Browse::new(Arc::new(log), &logpose::Quiet)?;
/// let pose = browse.log().channel("/RealOutputs/Drive/Pose").expect("a channel of the demo");
/// browse.held(&[pose], Time::from_millis(20_000), &mut |_, time, _| assert!(time <= Time::from_millis(20_000)))?;
/// let mut buckets = Vec::new();
/// let x = parse_path(".translation.x")?;
/// let drawn = browse.drawn(pose, &x, Time::ZERO, Time::from_millis(30_000), 100, &mut buckets)?.expect("a number");
/// assert!(drawn.min < drawn.max && buckets.len() <= 201);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Browse {
    log: Arc<Log>,
    /// What one pass over the log made.
    far: PyramidSource,
    /// What was made since, because somebody asked for it.
    pyramids: Shelf<(ChannelId, Vec<Step>), Option<Arc<Pyramid>>>,
    orders: Shelf<ChannelId, Vec<(Time, u64)>>,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// How many samples the range has.
    pub samples: u64,
    /// Whether each bucket is one of them.
    pub raw: bool,
    /// The min of the whole series.
    pub min: Option<f64>,
    /// The max of the whole series.
    pub max: Option<f64>,
}

impl Browse {
    /// Makes ready what is looked at from afar: by one pass over the log on all threads, or out of the cache, if the log
    /// was opened with one.
    pub fn new(log: Arc<Log>, progress: &dyn Progress) -> Result<Self, Error> {
        Self::with(log, pass::FEW, pass::WINDOW, progress)
    }

    /// The same, where a channel of at least so many samples is made in the pass, which reads so many bytes at once.
    fn with(log: Arc<Log>, few: u64, window: u64, progress: &dyn Progress) -> Result<Self, Error> {
        log.placed()?;
        let far = PyramidSource::of(&log, few, window, progress)?;
        Ok(Self { log, far, pyramids: Shelf::new(PYRAMIDS, MOST), orders: Shelf::new(ORDERS, MOST) })
    }

    /// Whether what is looked at from afar was kept from an earlier time.
    #[must_use]
    pub fn from_cache(&self) -> bool {
        matches!(self.far, PyramidSource::Kept(_, true))
    }

    /// The log.
    #[must_use]
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// How many samples a channel has from `start` to `end`, both included.
    pub fn count(&self, channel: ChannelId, start: Time, end: Time) -> Result<u64, Error> {
        let track = self.track(channel)?;
        Ok(track.until(end)?.saturating_sub(track.before(start)?) as u64)
    }

    /// Gives the samples of a channel from `start` to `end`, both included, in the order of time, until `take` has enough.
    pub fn read(
        &self,
        channel: ChannelId,
        start: Time,
        end: Time,
        take: &mut dyn FnMut(Time, &Value<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let track = self.track(channel)?;
        track.read(track.before(start)?..track.until(end)?, take)
    }

    /// Gives the samples of a channel before a moment, the latest first, until `take` has enough.
    pub fn read_back(
        &self,
        channel: ChannelId,
        before: Time,
        take: &mut dyn FnMut(Time, &Value<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let track = self.track(channel)?;
        track.read_back(0..track.before(before)?, take)
    }

    /// Gives the last sample at or before a moment of each of some channels that has one, in any order, with the channel's
    /// place in `channels`.
    pub fn held(
        &self,
        channels: &[ChannelId],
        at: Time,
        take: &mut dyn FnMut(usize, Time, &Value<'_>),
    ) -> Result<(), Error> {
        let mut rows: Vec<Row> = Vec::with_capacity(channels.len());
        let mut asked: Vec<(ChannelId, usize)> = channels.iter().zip(0..).map(|(id, place)| (*id, place)).collect();
        asked.sort_unstable();
        for of_one in asked.chunk_by(|a, b| a.0 == b.0) {
            let Some((id, _)) = of_one.first() else { continue };
            let track = self.track(*id)?;
            if let Some(last) = track.until(at)?.checked_sub(1) {
                rows.extend(track.row(last)?);
            }
        }
        let _ = track::samples(&self.log, self.index()?, &rows, &mut |row, value| {
            let first = asked.partition_point(|(id, _)| *id < row.channel);
            let places = asked.iter().skip(first).take_while(|(id, _)| *id == row.channel);
            places.for_each(|(_, place)| take(*place, row.time, value));
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// How a part of a channel's values looks from afar; none where it is neither a number nor a truth value. Those are 0
    /// and 1, and a sample without that part is NaN.
    pub fn pyramid(&self, channel: ChannelId, path: &[Step]) -> Result<Option<Arc<Pyramid>>, Error> {
        if let Some(pyramid) = self.far.pyramid(channel, path) {
            return Ok(Some(pyramid));
        }
        let key = (channel, path.to_vec());
        let made = self.pyramids.get(&key, || {
            let pyramid = self.made(channel, path)?.map(Arc::new);
            let bytes = pyramid.as_ref().map_or(0, |pyramid| pyramid.memory()) + size_of_val(path);
            Ok::<_, Error>((pyramid, bytes))
        });
        Ok((*made?).clone())
    }

    /// A part of a channel's values from `start` to `end`, both included, as it is drawn on `most` pixels: behind what is in
    /// `out`, in the order of time. That are at most some two buckets a pixel; where there are not more samples than that,
    /// each is a bucket of its own. Buckets at the edges may reach beyond the range by a pixel. None where the part is neither a
    /// number nor a truth value.
    pub fn drawn(
        &self,
        channel: ChannelId,
        path: &[Step],
        start: Time,
        end: Time,
        most: usize,
        out: &mut Vec<Bucket>,
    ) -> Result<Option<Drawn>, Error> {
        let Some(pyramid) = self.pyramid(channel, path)? else { return Ok(None) };
        let track = self.track(channel)?;
        let (first, behind) = (track.before(start)?, track.until(end)?);
        let samples = behind.saturating_sub(first);
        let raw = samples <= most.saturating_mul(2);
        let numbers = self.numbers(channel, path)?;
        if raw {
            track.read(first..behind, &mut |time, value| {
                out.push(Bucket::of(time, numbers.of(value)));
                ControlFlow::Continue(())
            })?;
        } else {
            let grid = Grid::new(start, end, most);
            let mut failed = Ok(());
            let _ = pyramid.pieces(start, end, most, &mut |piece| {
                let (from, to) = match piece {
                    Piece::Bucket(bucket) => {
                        out.push(bucket);
                        return ControlFlow::Continue(());
                    }
                    Piece::Samples(from, to) => (from, to),
                };
                let mut column = None;
                let range = track.before(from).and_then(|before| Ok(before..track.until(to)?));
                failed = range.and_then(|range| {
                    track.read(range, &mut |time, value| {
                        let number = numbers.of(value);
                        match out.last_mut().filter(|_| column == Some(grid.column(time))) {
                            Some(bucket) => bucket.insert(time, number),
                            None => out.push(Bucket::of(time, number)),
                        }
                        column = Some(grid.column(time));
                        ControlFlow::Continue(())
                    })
                });
                if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            failed?;
        }
        Ok(Some(Drawn { samples: samples as u64, raw, min: pyramid.min(), max: pyramid.max() }))
    }

    /// The pyramid of a part, by reading the channel.
    fn made(&self, channel: ChannelId, path: &[Step]) -> Result<Option<Pyramid>, Error> {
        let numbers = self.numbers(channel, path)?;
        if !numbers.possible {
            return Ok(None);
        }
        let track = self.track(channel)?;
        let (mut pyramid, mut any) = (Pyramid::bounded(CELLS), false);
        track.read(0..track.len(), &mut |time, value| {
            let number = numbers.find(value);
            any |= number.is_some();
            pyramid.push(time, number.unwrap_or(f64::NAN));
            ControlFlow::Continue(())
        })?;
        Ok((any || numbers.sure).then_some(pyramid))
    }

    fn numbers<'p>(&self, channel: ChannelId, path: &'p [Step]) -> Result<Numbers<'p>, Error> {
        let found = self.log.index.channels.get(channel as usize).ok_or_else(|| no_channel(channel))?;
        let parts = FieldReader::of(&found.channel, self.log.schemas().registry());
        let kind = parts.kind(found.channel.ty(), path);
        let possible = matches!(kind, Ok(ValueKind::Boolean | ValueKind::Number | ValueKind::Enum | ValueKind::Any));
        let sure = possible && kind != Ok(ValueKind::Any);
        Ok(Numbers { parts, path, possible, sure })
    }

    fn index(&self) -> Result<&Index, Error> {
        self.log.placed()
    }

    fn track(&self, channel: ChannelId) -> Result<Track<'_>, Error> {
        let index = self.index()?;
        let found = index.channels.get(channel as usize).ok_or_else(|| no_channel(channel))?;
        let order = match found.sorted {
            true => None,
            false => Some(self.orders.get(&channel, || {
                let order = Track::order(&self.log, index, found)?;
                let bytes = size_of_val(&*order);
                Ok::<_, Error>((order, bytes))
            })?),
        };
        Ok(Track::new(&self.log, index, channel, found, order))
    }
}

/// The pyramids that one pass made.
enum PyramidSource {
    Made(HashMap<(ChannelId, String), Arc<Pyramid>>),
    /// In a file, and whether that was there before.
    Kept(Kept, bool),
}

impl PyramidSource {
    fn of(log: &Log, few: u64, window: u64, progress: &dyn Progress) -> Result<Self, Error> {
        if let Some(kept) = log.sidecar().and_then(Kept::read) {
            return Ok(Self::Kept(kept, true));
        }
        let lanes = pass::plan(log, few);
        if lanes.is_empty() {
            return Ok(Self::Made(HashMap::new()));
        }
        let fill = pass::fill(log, &lanes);
        let made = pass::build(log, &lanes, fill, window, progress)?;
        if let Some(sidecar) = log.sidecar() {
            Kept::write(sidecar, &lanes, &made, fill);
            // A mapped file is memory that the system may take back.
            if let Some(kept) = Kept::read(sidecar) {
                return Ok(Self::Kept(kept, false));
            }
        }
        let named = lanes.into_iter().zip(made);
        Ok(Self::Made(named.map(|(lane, made)| ((lane.channel, lane.path), Arc::new(made))).collect()))
    }

    fn pyramid(&self, channel: ChannelId, path: &[Step]) -> Option<Arc<Pyramid>> {
        let path: String = path.iter().map(ToString::to_string).collect();
        match self {
            Self::Made(made) => made.get(&(channel, path)).cloned(),
            Self::Kept(kept, _) => kept.pyramid(channel, &path),
        }
    }
}

/// What makes numbers of a channel's values.
struct Numbers<'p> {
    parts: FieldReader,
    path: &'p [Step],
    /// Whether there can be any, and whether there can be nothing else.
    possible: bool,
    sure: bool,
}

impl Numbers<'_> {
    fn find(&self, value: &Value<'_>) -> Option<f64> {
        match (value, self.path) {
            (Value::Double(x), []) => Some(*x),
            _ => self.parts.at(value, self.path).as_ref().and_then(ScalarValue::drawn),
        }
    }

    fn of(&self, value: &Value<'_>) -> f64 {
        self.find(value).unwrap_or(f64::NAN)
    }
}

fn no_channel(channel: ChannelId) -> Error {
    Error::usage(format!("no channel {channel}"))
}

/// Bytes of pyramids that were made when asked for, and of orders of channels, that are kept, and how many of each.
const PYRAMIDS: usize = 256 << 20;
const ORDERS: usize = 256 << 20;
const MOST: usize = 4096;
/// Cells of one of them: for some 67 million samples as fine as any.
const CELLS: usize = 1 << 21;
