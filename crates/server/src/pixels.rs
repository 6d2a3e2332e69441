use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt16Array};
use arrow_schema::{DataType, Field};
use axum::extract::State;
use axum::http::StatusCode;
use logpose_core::Time;

use crate::api;
use crate::clock::Clock;
use crate::error::Refusal;
use crate::ipc::{Arrow, schema};
use crate::jobs::Stop;
use crate::reference::{Series, number};
use crate::router::{App, Ask};
use crate::session::WIDTH;

/// `POST /api/pixels`
pub(crate) async fn pixels(State(app): State<App>, Ask(query): Ask<api::PixelsQuery>) -> Result<Arrow, Refusal> {
    let session = app.session.clone();
    app.jobs
        .quick(move |stop| {
            let width = checked(&query)?;
            let series = Series::find_all(&session, &query.series)?;
            let mut traces = Traces::default();
            for (place, one) in (0..).zip(&series) {
                traces.draw(place, one, query.start, query.end, width, stop)?;
            }
            traces.finish()
        })
        .await
}

/// The width, if the request makes sense.
pub(crate) fn checked(query: &api::PixelsQuery) -> Result<usize, Refusal> {
    if query.width == 0 || query.width > WIDTH {
        let message = format!("{} pixels are no width", query.width);
        return Err(Refusal::bad("bad-width", message).with_help(format!("ask for 1 to {WIDTH}")));
    }
    ordered(query.start, query.end)?;
    Ok(query.width)
}

/// Complains about a stretch of time that ends before it begins.
pub(crate) fn ordered(start: f64, end: f64) -> Result<(), Refusal> {
    if start <= end {
        return Ok(());
    }
    Err(Refusal::bad("bad-range", format!("the range ends at {end} s, before it begins at {start} s")))
}

/// What is drawn of several series: the rows of the answer.
#[derive(Default)]
pub(crate) struct Traces {
    series: Vec<u16>,
    /// `t`, `u`, `first`, `min`, `max`, `last`.
    columns: [Vec<f64>; 6],
    about: Vec<api::Trace>,
}

/// A bucket on the clock of its log.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    start: Time,
    end: Time,
    values: [f64; 4],
}

impl Drawn {
    fn sample(time: Time, value: f64) -> Self {
        Self { start: time, end: time, values: [value; 4] }
    }
}

impl Traces {
    /// Adds a series.
    fn draw(
        &mut self,
        place: u16,
        one: &Series,
        start: f64,
        end: f64,
        width: usize,
        stop: &Stop,
    ) -> Result<(), Refusal> {
        let (start, end) = one.within(start, end);
        let parts = one.parts();
        let of = |value: &logpose_core::Value<'_>| number(&parts, value, &one.steps);
        let mut before = None;
        one.store.read_back(one.channel, start, &mut |time, value| {
            before = Some(Drawn::sample(time, of(value)));
            ControlFlow::Break(())
        })?;
        let samples = one.store.count(one.channel, start, end)?;
        let raw = samples <= 2 * width as u64;
        let mut drawn: Vec<Drawn> = before.into_iter().collect();
        let step = (end.since(start) / i64::try_from(width).unwrap_or(1)).max(1);
        let mut open: Option<(i64, Drawn)> = None;
        one.store.read(one.channel, start, end, &mut |time, value| {
            let value = of(value);
            let bucket = time.since(start) / step;
            match &mut open {
                Some((at, bucket_now)) if !raw && *at == bucket => {
                    bucket_now.end = time;
                    let [_, min, max, last] = &mut bucket_now.values;
                    (*min, *max, *last) = (min.min(value), max.max(value), value);
                }
                _ => drawn.extend(open.replace((bucket, Drawn::sample(time, value))).map(|(_, drawn)| drawn)),
            }
            if stop.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        drawn.extend(open.map(|(_, drawn)| drawn));
        if end < Time::MAX {
            one.store.read(one.channel, end.plus(1), Time::MAX, &mut |time, value| {
                drawn.push(Drawn::sample(time, of(value)));
                ControlFlow::Break(())
            })?;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        one.store.read(one.channel, Time::MIN, Time::MAX, &mut |_, value| {
            let value = of(value);
            (low, high) = (low.min(value), high.max(value));
            ControlFlow::Continue(())
        })?;
        let known = low <= high;
        let about = api::Trace { samples, raw, low: known.then_some(low), high: known.then_some(high) };
        self.add(place, &drawn, &one.clock, about);
        Ok(())
    }

    fn add(&mut self, place: u16, drawn: &[Drawn], clock: &Clock, about: api::Trace) {
        let [t, u, first, min, max, last] = &mut self.columns;
        for bucket in drawn {
            self.series.push(place);
            t.push(clock.seconds(bucket.start));
            u.push(clock.seconds(bucket.end));
            for (column, value) in [&mut *first, &mut *min, &mut *max, &mut *last].into_iter().zip(bucket.values) {
                column.push(value);
            }
        }
        self.about.push(about);
    }

    /// The answer.
    pub(crate) fn finish(self) -> Result<Arrow, Refusal> {
        let about = serde_json::to_string(&self.about).unwrap_or_default();
        let mut fields = vec![Field::new("series", DataType::UInt16, false)];
        fields.extend(COLUMNS.map(|name| Field::new(name, DataType::Float64, false)));
        let schema = schema(fields, "series", about);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt16Array::from(self.series))];
        columns.extend(self.columns.map(|column| Arc::new(Float64Array::from(column)) as ArrayRef));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).map_err(|error| {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "arrow", format!("the answer does not fit: {error}"))
        })?;
        Arrow::of(&schema, &[batch])
    }
}

const COLUMNS: [&str; 6] = ["t", "u", "first", "min", "max", "last"];
