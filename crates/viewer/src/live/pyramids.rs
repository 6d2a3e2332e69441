use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use logpose::schema::Registry;
use logpose::{Bucket, Drawn, FieldReader, Piece, Pyramid, Schemas, Step};
use logpose_core::{Channel, ChannelId, Time, Value};

use super::lock;
use super::tape::{Mark, Tape};

/// Pyramids of the series of a live log: built on the first request for a series, and brought up to date by each further
/// one. So a series that nobody looks at costs nothing.
#[derive(Default)]
pub(super) struct LivePyramids {
    series: Mutex<HashMap<(ChannelId, String), CachedSeries>>,
}

struct CachedSeries {
    series: Arc<Mutex<Series>>,
    used: Instant,
}

/// One part of a channel's values.
struct Series {
    pyramid: Pyramid,
    /// Which samples are in it.
    mark: Mark,
    /// Whether any value was a number or a truth value.
    any: bool,
    /// What explained the values.
    schemas: Arc<Schemas>,
}

/// What is to be drawn.
pub(super) struct Picture<'p> {
    pub(super) id: ChannelId,
    pub(super) channel: &'p Channel,
    pub(super) schemas: &'p Arc<Schemas>,
    pub(super) path: &'p [Step],
    pub(super) start: Time,
    pub(super) end: Time,
    /// Pixels.
    pub(super) most: usize,
}

impl LivePyramids {
    /// Draws it, behind what is in `out`; nothing where there are no numbers.
    pub(super) fn drawn(&self, tape: &Tape, picture: &Picture<'_>, out: &mut Vec<Bucket>) -> io::Result<Option<Drawn>> {
        let kept = self.series(picture);
        let mut series = lock(&kept);
        let parts = FieldReader::of(picture.channel, picture.schemas.registry());
        let number = |value: &Value<'_>| parts.at(value, picture.path).as_ref().and_then(logpose::ScalarValue::drawn);
        series.catch_up(tape, picture, &number)?;
        if !series.any {
            return Ok(None);
        }
        let (id, start, end) = (picture.id, picture.start, picture.end);
        let samples = tape.count(id, start, end)?;
        let raw = samples <= (picture.most as u64).saturating_mul(2);
        let width = end.since(start) / i64::try_from(picture.most.max(1)).unwrap_or(i64::MAX);
        let width = width.saturating_add(1);
        let read = |from: Time, to: Time, out: &mut Vec<Bucket>| {
            let mut open = None;
            tape.read(id, from, to, &mut |time, value| {
                let (column, number) = (time.since(start) / width, number(value).unwrap_or(f64::NAN));
                match out.last_mut().filter(|_| !raw && open == Some(column)) {
                    Some(bucket) => bucket.insert(time, number),
                    None => out.push(Bucket::of(time, number)),
                }
                open = Some(column);
                ControlFlow::Continue(())
            })
        };
        if raw {
            read(start, end, out)?;
        } else {
            let mut failed = Ok(());
            let _ = series.pyramid.pieces(start, end, picture.most, &mut |piece| {
                match piece {
                    Piece::Bucket(bucket) => out.push(bucket),
                    Piece::Samples(from, to) => failed = read(from, to, out),
                }
                if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            failed?;
        }
        Ok(Some(Drawn { samples, raw, min: series.pyramid.min(), max: series.pyramid.max() }))
    }

    /// The series, perhaps a new one in the place of the one that nobody asked for longest.
    fn series(&self, picture: &Picture<'_>) -> Arc<Mutex<Series>> {
        let path: String = picture.path.iter().map(ToString::to_string).collect();
        let key = (picture.id, path);
        let mut all = lock(&self.series);
        if !all.contains_key(&key) && all.len() >= MOST_SERIES {
            let oldest = all.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            oldest.into_iter().for_each(|key| drop(all.remove(&key)));
        }
        let kept = all.entry(key).or_insert_with(|| CachedSeries {
            series: Arc::new(Mutex::new(Series::new(picture.schemas))),
            used: Instant::now(),
        });
        kept.used = Instant::now();
        Arc::clone(&kept.series)
    }
}

impl Series {
    fn new(schemas: &Arc<Schemas>) -> Self {
        Self { pyramid: Pyramid::bounded(CELLS), mark: Mark::default(), any: false, schemas: Arc::clone(schemas) }
    }

    fn catch_up(
        &mut self,
        tape: &Tape,
        picture: &Picture<'_>,
        number: &dyn Fn(&Value<'_>) -> Option<f64>,
    ) -> io::Result<()> {
        let other = !Arc::ptr_eq(&self.schemas, picture.schemas);
        if other && Registry::decodes(&picture.channel.type_name) {
            // A schema came, by which values may mean something else than before.
            *self = Self::new(picture.schemas);
        }
        let (pyramid, any) = (&mut self.pyramid, &mut self.any);
        tape.news(picture.id, &mut self.mark, &mut |time, value| {
            let number = number(value);
            *any |= number.is_some();
            pyramid.push(time, number.unwrap_or(f64::NAN));
        })
    }
}

/// Series that are kept, and cells of each: some 300 kB.
const MOST_SERIES: usize = 256;
const CELLS: usize = 4096;
