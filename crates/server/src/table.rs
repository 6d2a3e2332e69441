use std::collections::BTreeMap;
use std::ops::ControlFlow;

use axum::Json;
use axum::extract::State;
use logpose_core::{Time, Value};

use crate::api;
use crate::error::Refusal;
use crate::jobs::Stop;
use crate::reference::Series;
use crate::router::{App, Ask};
use crate::session::{ROWS, TEXT_CELLS};
use crate::values::line;

/// `POST /api/table`
pub(crate) async fn table(
    State(app): State<App>,
    Ask(query): Ask<api::TableQuery>,
) -> Result<Json<api::Table>, Refusal> {
    let session = app.session.clone();
    let table = app.jobs.quick(move |stop| {
        let series = Series::find_all(&session, &query.series)?;
        let limit = checked(query.limit)?.min((TEXT_CELLS / series.len().max(1)).max(1));
        let lanes = lanes(&series);
        if query.backward {
            back(&series, &lanes, query.from, limit, stop)
        } else {
            ahead(&series, &lanes, query.from, limit, stop)
        }
    });
    Ok(Json(table.await?))
}

/// How many rows, if that makes sense.
pub(crate) fn checked(limit: usize) -> Result<usize, Refusal> {
    if limit == 0 || limit > ROWS {
        let message = format!("{limit} rows cannot be asked for at once");
        return Err(Refusal::bad("invalid-limit", message).with_help(format!("ask for 1 to {ROWS}")));
    }
    Ok(limit)
}

/// The series that are parts of one channel, by their places: they are read together.
fn lanes(series: &[Series]) -> Vec<Vec<usize>> {
    let mut lanes: BTreeMap<(usize, u32), Vec<usize>> = BTreeMap::new();
    for (place, one) in series.iter().enumerate() {
        lanes.entry((one.log, one.channel)).or_default().push(place);
    }
    lanes.into_values().collect()
}

/// A row that is being put together: the cells that are fresh.
type Fresh = BTreeMap<usize, Option<String>>;

/// Takes the fresh cells of a sample.
fn cells(series: &[Series], lane: &[usize], value: &Value<'_>, row: &mut Fresh) {
    for place in lane {
        let text = series.get(*place).and_then(|one| {
            let channel = one.channel()?;
            line(&one.catalog.schemas, channel, value, &one.steps, LONGEST)
        });
        row.insert(*place, text);
    }
}

fn ahead(series: &[Series], lanes: &[Vec<usize>], from: f64, limit: usize, stop: &Stop) -> Result<api::Table, Refusal> {
    // By time on the clock of the session; at most one row more than is asked for, to know whether there are more.
    let mut rows: BTreeMap<Time, Fresh> = BTreeMap::new();
    for lane in lanes {
        let Some(one) = lane.first().and_then(|place| series.get(*place)) else { continue };
        one.store.read(one.channel, one.clock.time(from), Time::MAX, &mut |time, value| {
            let at = one.clock.map.at(time);
            let beyond = rows.len() > limit && rows.last_key_value().is_some_and(|(last, _)| at > *last);
            if beyond || stop.is_set() {
                return ControlFlow::Break(());
            }
            cells(series, lane, value, rows.entry(at).or_default());
            if rows.len() > limit + 1 {
                rows.pop_last();
            }
            ControlFlow::Continue(())
        })?;
    }
    let more = rows.len() > limit;
    finish(series, lanes, rows.into_iter().take(limit).collect(), more)
}

fn back(series: &[Series], lanes: &[Vec<usize>], from: f64, limit: usize, stop: &Stop) -> Result<api::Table, Refusal> {
    let mut rows: BTreeMap<Time, Fresh> = BTreeMap::new();
    for lane in lanes {
        let Some(one) = lane.first().and_then(|place| series.get(*place)) else { continue };
        let mut seen = None;
        one.store.read_back(one.channel, one.clock.time(from), &mut |time, value| {
            let at = one.clock.map.at(time);
            let beyond = rows.len() > limit && rows.first_key_value().is_some_and(|(first, _)| at < *first);
            if beyond || stop.is_set() {
                return ControlFlow::Break(());
            }
            // Of several samples at one time the last counts, and it comes first here.
            if seen.replace(at) != Some(at) {
                cells(series, lane, value, rows.entry(at).or_default());
            }
            if rows.len() > limit + 1 {
                rows.pop_first();
            }
            ControlFlow::Continue(())
        })?;
    }
    let more = rows.len() > limit;
    let skip = rows.len().saturating_sub(limit);
    finish(series, lanes, rows.into_iter().skip(skip).collect(), more)
}

/// Fills in what holds from before.
fn finish(
    series: &[Series],
    lanes: &[Vec<usize>],
    rows: Vec<(Time, Fresh)>,
    more: bool,
) -> Result<api::Table, Refusal> {
    let mut held: Vec<Option<String>> = vec![None; series.len()];
    if let Some((first, _)) = rows.first() {
        for lane in lanes {
            let Some(one) = lane.first().and_then(|place| series.get(*place)) else { continue };
            let mut before = Fresh::new();
            one.store.read_back(one.channel, one.clock.map.back(*first), &mut |_, value| {
                cells(series, lane, value, &mut before);
                ControlFlow::Break(())
            })?;
            for (place, text) in before {
                held.get_mut(place).into_iter().for_each(|held| held.clone_from(&text));
            }
        }
    }
    let origin = series.first().map_or(0, |one| one.clock.origin_ns);
    let row = |(time, fresh): (Time, Fresh)| {
        let marks = (0..series.len()).map(|place| fresh.contains_key(&place)).collect();
        for (place, text) in fresh {
            held.get_mut(place).into_iter().for_each(|held| held.clone_from(&text));
        }
        api::TableRow { time: time.plus(origin.saturating_neg()).seconds(), cells: held.clone(), fresh: marks }
    };
    Ok(api::Table { rows: rows.into_iter().map(row).collect(), more })
}

/// Characters of a cell.
const LONGEST: usize = 500;
