use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use logpose_core::{Time, Value};

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::error::RequestError;
use crate::gaps::Gap;
use crate::reference::Series;
use crate::session::{ROWS, TEXT_CELLS};
use crate::values::line;

impl Viewer {
    /// Series as rows of text: one for each time at which any of them has a sample.
    pub fn table(&self, query: &api::TableQuery, stop: &CancelToken) -> Result<api::Table, RequestError> {
        let series = Series::find_all(&self.session(), &query.series)?;
        let limit = checked(query.limit)?.min((TEXT_CELLS / series.len().max(1)).max(1));
        let groups = by_channel(&series);
        if query.backward {
            back(&series, &groups, query.from, limit, stop)
        } else {
            ahead(&series, &groups, query.from, limit, stop)
        }
    }
}

/// How many rows, if that makes sense.
pub(crate) fn checked(limit: usize) -> Result<usize, RequestError> {
    if limit == 0 || limit > ROWS {
        let message = format!("invalid number of rows: {limit}");
        return Err(RequestError::invalid("invalid-limit", message).with_help(format!("ask for 1 to {ROWS}")));
    }
    Ok(limit)
}

/// The series that are parts of one channel, by their places: they are read together.
fn by_channel(series: &[Series]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
    for (place, one) in series.iter().enumerate() {
        groups.entry((one.log, one.channel)).or_default().push(place);
    }
    groups.into_values().collect()
}

/// A row that is being put together: the cells that are fresh.
type Fresh = BTreeMap<usize, Option<String>>;

/// Takes the fresh cells of a sample.
fn cells(series: &[Series], group: &[usize], value: &Value<'_>, row: &mut Fresh) {
    for place in group {
        let text = series.get(*place).and_then(|one| {
            let channel = one.channel()?;
            line(&one.catalog.schemas, channel, value, &one.steps, LONGEST)
        });
        row.insert(*place, text);
    }
}

fn ahead(
    series: &[Series],
    groups: &[Vec<usize>],
    from: f64,
    limit: usize,
    stop: &CancelToken,
) -> Result<api::Table, RequestError> {
    // By time on the clock of the session; at most one row more than is asked for, to know whether there are more.
    let mut rows: BTreeMap<Time, Fresh> = BTreeMap::new();
    for group in groups {
        let Some(one) = group.first().and_then(|place| series.get(*place)) else { continue };
        one.store.read(one.channel, one.clock.time(from), Time::MAX, &mut |time, value| {
            let at = one.clock.map.at(time);
            let beyond = rows.len() > limit && rows.last_key_value().is_some_and(|(last, _)| at > *last);
            if beyond || stop.is_cancelled() {
                return ControlFlow::Break(());
            }
            cells(series, group, value, rows.entry(at).or_default());
            if rows.len() > limit + 1 {
                rows.pop_last();
            }
            ControlFlow::Continue(())
        })?;
    }
    let more = rows.len() > limit;
    finish(series, groups, rows.into_iter().take(limit).collect(), more)
}

fn back(
    series: &[Series],
    groups: &[Vec<usize>],
    from: f64,
    limit: usize,
    stop: &CancelToken,
) -> Result<api::Table, RequestError> {
    let mut rows: BTreeMap<Time, Fresh> = BTreeMap::new();
    for group in groups {
        let Some(one) = group.first().and_then(|place| series.get(*place)) else { continue };
        let mut seen = None;
        one.store.read_back(one.channel, one.clock.time(from), &mut |time, value| {
            let at = one.clock.map.at(time);
            let beyond = rows.len() > limit && rows.first_key_value().is_some_and(|(first, _)| at < *first);
            if beyond || stop.is_cancelled() {
                return ControlFlow::Break(());
            }
            // Of several samples at one time the last counts, and it comes first here.
            if seen.replace(at) != Some(at) {
                cells(series, group, value, rows.entry(at).or_default());
            }
            if rows.len() > limit + 1 {
                rows.pop_first();
            }
            ControlFlow::Continue(())
        })?;
    }
    let more = rows.len() > limit;
    let skip = rows.len().saturating_sub(limit);
    finish(series, groups, rows.into_iter().skip(skip).collect(), more)
}

/// What a series said last, and when on the clock of the session.
#[derive(Clone, Default)]
struct Held {
    said: Time,
    text: Option<String>,
}

/// Fills in what holds from before.
fn finish(
    series: &[Series],
    groups: &[Vec<usize>],
    rows: Vec<(Time, Fresh)>,
    more: bool,
) -> Result<api::Table, RequestError> {
    let mut held = vec![Held::default(); series.len()];
    let mut gaps: Vec<Arc<[Gap]>> = vec![Arc::default(); series.len()];
    if let Some((first, _)) = rows.first() {
        for group in groups {
            let Some(one) = group.first().and_then(|place| series.get(*place)) else { continue };
            let own: Arc<[Gap]> = Gap::all(one)?.into();
            let (mut before, mut said) = (Fresh::new(), Time::MIN);
            one.store.read_back(one.channel, one.clock.map.back(*first), &mut |time, value| {
                said = one.clock.map.at(time);
                cells(series, group, value, &mut before);
                ControlFlow::Break(())
            })?;
            for (place, text) in before {
                held.get_mut(place).into_iter().for_each(|held| *held = Held { said, text: text.clone() });
            }
            for place in group {
                gaps.get_mut(*place).into_iter().for_each(|gaps| *gaps = Arc::clone(&own));
            }
        }
    }
    let origin = series.first().map_or(0, |one| one.clock.origin_ns);
    let row = |(time, fresh): (Time, Fresh)| {
        let marks = (0..series.len()).map(|place| fresh.contains_key(&place)).collect();
        for (place, text) in fresh {
            held.get_mut(place).into_iter().for_each(|held| *held = Held { said: time, text: text.clone() });
        }
        let known = series.iter().zip(&held).zip(&gaps).map(|((one, held), gaps)| {
            let own = |time| one.clock.map.back(time);
            held.text.clone().filter(|_| !Gap::hide(gaps, own(held.said), own(time)))
        });
        api::TableRow { time: time.plus(origin.saturating_neg()).seconds(), cells: known.collect(), fresh: marks }
    };
    Ok(api::Table { rows: rows.into_iter().map(row).collect(), more })
}

/// Characters of a cell.
const LONGEST: usize = 500;
