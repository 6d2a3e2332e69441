use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field};
use logpose_core::Time;

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::RequestError;
use crate::gaps::Gap;
use crate::ipc::{self, schema};
use crate::pixels::ordered;
use crate::reference::{Series, number};
use crate::session::{CELLS, POINTS};

impl Viewer {
    /// Series beside each other, one row for each sample of the first, as an Arrow stream.
    pub fn rows(&self, query: &api::RowsQuery, stop: &CancelToken) -> Result<Vec<u8>, RequestError> {
        if query.points == 0 || query.points > POINTS {
            let message = format!("invalid number of points: {}", query.points);
            return Err(RequestError::invalid("invalid-points", message).with_help(format!("ask for 1 to {POINTS}")));
        }
        ordered(query.start, query.end)?;
        let series = Series::find_all(&self.session(), &query.series)?;
        let points = query.points.min((CELLS / series.len().max(1)).max(1));
        answer(&series, query, points, stop)
    }
}

fn answer(
    series: &[Series],
    query: &api::RowsQuery,
    points: usize,
    stop: &CancelToken,
) -> Result<Vec<u8>, RequestError> {
    let mut columns: Vec<Vec<Option<f64>>> = Vec::with_capacity(series.len());
    let (mut times, mut about) = (Vec::new(), api::RowsSummary { samples: 0, downsampled: false });
    let mut seconds: Vec<f64> = Vec::new();
    if let Some((first, others)) = series.split_first() {
        let (start, end) = first.within(query.start, query.end);
        about.samples = first.store.count(first.channel, start, end)?;
        about.downsampled = about.samples > points as u64;
        let (own, values) = leading(first, (start, end), points, about.downsampled, stop)?;
        seconds.extend(own.iter().map(|time| first.clock.seconds(*time)));
        times.extend(own.iter().map(|time| first.clock.map.at(*time)));
        columns.push(values);
        for one in others {
            columns.push(following(one, &times, stop)?);
        }
    }
    let mut fields = vec![Field::new("time", DataType::Float64, false)];
    fields.extend((0..columns.len()).map(|place| Field::new(format!("c{place}"), DataType::Float64, true)));
    let schema = schema(fields, "rows", serde_json::to_string(&about).unwrap_or_default());
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(Float64Array::from(seconds))];
    arrays.extend(columns.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|error| RequestError::internal(format!("cannot build the response: {error}")))?;
    ipc::stream(&schema, &[batch])
}

type Column = Vec<Option<f64>>;

/// The samples that give the rows: all, or the first of each of so many equal stretches.
fn leading(
    one: &Series,
    (start, end): (Time, Time),
    points: usize,
    thinned: bool,
    stop: &CancelToken,
) -> Result<(Vec<Time>, Column), RequestError> {
    let parts = one.parts();
    let (mut times, mut values) = (Vec::new(), Vec::new());
    let mut take = |time, value: &logpose_core::Value<'_>| {
        times.push(time);
        values.push(Some(number(&parts, value, &one.steps)));
    };
    if !thinned {
        one.store.read(one.channel, start, end, &mut |time, value| {
            take(time, value);
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        return Ok((times, values));
    }
    // The stretches are of the part that has samples: a range may be far wider than the log.
    let Some((first, last)) = one.entry().and_then(|entry| entry.range) else { return Ok((times, values)) };
    let (start, end) = (start.max(first), end.min(last));
    let length = i128::from(end.nanos()) - i128::from(start.nanos()) + 1;
    let border = |place: usize| {
        let ns = i128::from(start.nanos()) + length * place as i128 / points.max(1) as i128;
        Time::from_nanos(i64::try_from(ns).unwrap_or(i64::MAX))
    };
    let mut place = 0;
    while place < points && !stop.is_cancelled() {
        // The first sample from here on says in which stretch it lies: empty ones are passed over.
        let mut found = None;
        one.store.read(one.channel, border(place), end, &mut |time, value| {
            found = Some(time);
            take(time, value);
            ControlFlow::Break(())
        })?;
        let Some(time) = found else { break };
        let since = i128::from(time.nanos()) - i128::from(start.nanos());
        let stretch = usize::try_from(since * points as i128 / length).unwrap_or(points);
        place = stretch.max(place) + 1;
        while place < points && border(place) <= time {
            place += 1;
        }
    }
    Ok((times, values))
}

/// What another series held at each of these times of the session's clock, which ascend.
fn following(one: &Series, times: &[Time], stop: &CancelToken) -> Result<Column, RequestError> {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Ok(Vec::new()) };
    let parts = one.parts();
    // The last moment of the log that is not behind a time of the session.
    let own = |time: &Time| one.clock.map.back(time.plus(1)).plus(-1);
    let gaps = Gap::all(one)?;
    let known = |held: Option<(Time, f64)>, row: &Time| {
        held.filter(|(said, _)| !Gap::hide(&gaps, *said, own(row))).map(|(_, value)| value)
    };
    let mut held = None;
    let mut column = Vec::with_capacity(times.len());
    let few = one.store.count(one.channel, own(first), own(last))? <= 8 * times.len() as u64;
    if few {
        one.store.read_back(one.channel, own(first).plus(1), &mut |time, value| {
            held = Some((time, number(&parts, value, &one.steps)));
            ControlFlow::Break(())
        })?;
        one.store.read(one.channel, own(first).plus(1), own(last), &mut |time, value| {
            while let Some(row) = times.get(column.len()).filter(|row| own(row) < time) {
                column.push(known(held, row));
            }
            held = Some((time, number(&parts, value, &one.steps)));
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        column.extend(times.iter().skip(column.len()).map(|row| known(held, row)));
        return Ok(column);
    }
    for time in times {
        if stop.is_cancelled() {
            return Err(RequestError::cancelled());
        }
        one.store.read_back(one.channel, own(time).plus(1), &mut |said, value| {
            held = Some((said, number(&parts, value, &one.steps)));
            ControlFlow::Break(())
        })?;
        column.push(known(held, time));
    }
    Ok(column)
}
