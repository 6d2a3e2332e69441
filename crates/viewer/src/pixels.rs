use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt16Array};
use arrow_schema::{DataType, Field, Schema};
use logpose::{Bucket, Drawn};
use logpose_core::Time;

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::clock::Clock;
use crate::error::RequestError;
use crate::gaps::{Gap, broken, without_unmeasured};
use crate::ipc;
use crate::reference::{Series, number};
use crate::session::{PIXELS, WIDTH};

impl Viewer {
    /// Series as they are drawn on so many pixels, as an Arrow stream: about two buckets for each pixel.
    pub fn pixels(&self, query: &api::PixelsQuery, stop: &CancelToken) -> Result<Vec<u8>, RequestError> {
        let width = checked(query)?;
        let series = Series::find_all(&self.session(), &query.series)?;
        let mut traces = Traces::default();
        for (place, one) in (0..).zip(&series) {
            if stop.is_cancelled() {
                return Err(RequestError::cancelled());
            }
            traces.draw(place, one, query.start, query.end, width)?;
        }
        traces.finish()
    }
}

/// The width, if the request makes sense; less where there are very many series.
pub(crate) fn checked(query: &api::PixelsQuery) -> Result<usize, RequestError> {
    if query.width == 0 || query.width > WIDTH {
        let message = format!("width must be between 1 and {WIDTH}, found {}", query.width);
        return Err(RequestError::invalid("invalid-width", message).with_help(format!("ask for 1 to {WIDTH}")));
    }
    ordered(query.start, query.end)?;
    Ok(query.width.min((PIXELS / query.series.len().max(1)).max(1)))
}

/// Complains about a stretch of time that ends before it begins.
pub(crate) fn ordered(start: f64, end: f64) -> Result<(), RequestError> {
    if start <= end {
        return Ok(());
    }
    Err(RequestError::invalid("invalid-range", format!("the range ends at {end} s, before its start at {start} s")))
}

/// What is drawn of several series: the rows of the answer.
#[derive(Default)]
pub(crate) struct Traces {
    series: Vec<u16>,
    /// `start`, `end`, `first`, `min`, `max`, `last`.
    columns: [Vec<f64>; 6],
    about: Vec<api::SeriesSummary>,
    /// What the schema says besides.
    notes: Vec<(String, String)>,
}

impl Traces {
    /// Adds what is drawn of a series on so many pixels, with its neighbours outside of the range.
    pub(crate) fn draw(
        &mut self,
        place: u16,
        one: &Series,
        start: f64,
        end: f64,
        width: usize,
    ) -> Result<(), RequestError> {
        let (start, end) = one.within(start, end);
        let mut buckets = Vec::new();
        let drawn = one.store.drawn(one.channel, &one.steps, (start, end), width, &mut buckets)?;
        let Some(Drawn { samples, raw, min, max }) = drawn else {
            self.about.push(api::SeriesSummary { samples: 0, raw: true, series_min: None, series_max: None });
            return Ok(());
        };
        let parts = one.parts();
        // Buckets at the edges may reach beyond the range already.
        let from = buckets.first().map_or(start, |bucket| bucket.start.min(start));
        let to = buckets.last().map_or(end, |bucket| bucket.end.max(end));
        let (mut before, mut behind) = (None, None);
        one.store.read_back(one.channel, from, &mut |time, value| {
            before = Some(Bucket::of(time, number(&parts, value, &one.steps)));
            ControlFlow::Break(())
        })?;
        if to < Time::MAX {
            one.store.read(one.channel, to.plus(1), Time::MAX, &mut |time, value| {
                behind = Some(Bucket::of(time, number(&parts, value, &one.steps)));
                ControlFlow::Break(())
            })?;
        }
        let about = api::SeriesSummary { samples, raw, series_min: min, series_max: max };
        let mut all: Vec<Bucket> = before.into_iter().chain(buckets).chain(behind).collect();
        without_unmeasured(one, &mut all);
        let gaps = Gap::all(one)?;
        if gaps.is_empty() {
            self.add(place, all.iter(), &one.clock, about);
        } else {
            let pixel = end.since(start) / i64::try_from(width).unwrap_or(i64::MAX);
            self.add(place, broken(&all, &gaps, end, pixel).iter(), &one.clock, about);
        }
        Ok(())
    }

    /// Adds buckets of a series.
    pub(crate) fn add<'b>(
        &mut self,
        place: u16,
        buckets: impl Iterator<Item = &'b Bucket>,
        clock: &Clock,
        about: api::SeriesSummary,
    ) {
        for bucket in buckets {
            self.series.push(place);
            let Bucket { start, end, first, min, max, last, .. } = *bucket;
            let row = [clock.seconds(start), clock.seconds(end), first, min, max, last];
            self.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        self.about.push(about);
    }

    /// Says something in the metadata of the schema.
    pub(crate) fn note(&mut self, key: &str, text: String) {
        self.notes.push((key.to_owned(), text));
    }

    /// The answer.
    pub(crate) fn finish(self) -> Result<Vec<u8>, RequestError> {
        let about = serde_json::to_string(&self.about).unwrap_or_default();
        let mut fields = vec![Field::new("series", DataType::UInt16, false)];
        fields.extend(COLUMNS.map(|name| Field::new(name, DataType::Float64, false)));
        let notes = self.notes.into_iter().chain([("series".to_owned(), about)]).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, notes));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt16Array::from(self.series))];
        columns.extend(self.columns.map(|column| Arc::new(Float64Array::from(column)) as ArrayRef));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns)
            .map_err(|error| RequestError::internal(format!("cannot build the response: {error}")))?;
        ipc::stream(&schema, &[batch])
    }
}

const COLUMNS: [&str; 6] = ["start", "end", "first", "min", "max", "last"];
