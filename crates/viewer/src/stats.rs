use std::ops::ControlFlow;

use logpose::stats::{Collect, Kind, StatsOptions};

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::RequestError;
use crate::pixels::ordered;
use crate::reference::Series;

impl Viewer {
    /// Statistics of every sample of a range.
    pub fn stats(&self, query: &api::StatsQuery, stop: &CancelToken) -> Result<api::StatsAnswer, RequestError> {
        ordered(query.start, query.end)?;
        if query.bins == 0 || query.bins > BINS {
            let message = format!("invalid number of bins: {}", query.bins);
            return Err(RequestError::invalid("invalid-bins", message).with_help(format!("ask for 1 to {BINS}")));
        }
        let series = Series::find_all(&self.session(), &query.series)?;
        let one = |one: &Series| of(one, query, stop);
        Ok(api::StatsAnswer { series: series.iter().map(one).collect::<Result<_, _>>()? })
    }
}

fn of(one: &Series, query: &api::StatsQuery, stop: &CancelToken) -> Result<api::Stats, RequestError> {
    let (start, end) = one.within(query.start, query.end);
    let samples = one.store.count(one.channel, start, end)?;
    if samples > SAMPLES {
        let message = format!("too many samples in the range: {samples}");
        return Err(RequestError::invalid("too-many-samples", message)
            .with_help("choose a shorter range, or use `logpose sql` on the file"));
    }
    let (parts, mut collect) = (one.parts(), Collect::default());
    one.store.read(one.channel, start, end, &mut |time, value| {
        collect.push(time, parts.at(value, &one.steps));
        if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if stop.is_cancelled() {
        return Err(RequestError::cancelled());
    }
    let (samples, histogram) = (collect.samples(), collect.histogram(query.bins));
    let (timing, row) = collect.finish(&StatsOptions { percentiles: vec![5.0, 95.0] });
    let numbers = row.as_ref().and_then(|row| match &row.kind {
        Kind::Numbers(numbers) => Some(numbers),
        Kind::Booleans { .. } | Kind::Texts { .. } => None,
    });
    let percentile = |place: usize| numbers.and_then(|numbers| numbers.percentiles.get(place)).map(|(_, x)| *x);
    Ok(api::Stats {
        samples,
        count: row.as_ref().map_or(0, |row| row.count) - numbers.map_or(0, |numbers| numbers.nan),
        min: numbers.and_then(|numbers| numbers.min.as_ref()?.0.number()),
        max: numbers.and_then(|numbers| numbers.max.as_ref()?.0.number()),
        mean: numbers.map(|numbers| numbers.mean),
        stddev: numbers.and_then(|numbers| numbers.stddev),
        median: numbers.map(|numbers| numbers.median),
        p05: percentile(0),
        p95: percentile(1),
        first: row.as_ref().and_then(|row| row.first.number()),
        last: row.as_ref().and_then(|row| row.last.number()),
        rate_hz: timing.rate_hz(),
        longest_gap: timing.longest_gap.map(|(start, end)| (one.clock.seconds(start), one.clock.seconds(end))),
        histogram: histogram.map(|found| api::Histogram { min: found.min, max: found.max, counts: found.counts }),
    })
}

/// The most bins of a histogram.
const BINS: usize = 1000;
/// The most samples of one series: they are all in memory, to be sorted.
const SAMPLES: u64 = 20_000_000;
