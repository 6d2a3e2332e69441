use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use logpose::{FieldReader, ScalarValue, Step};
use logpose_core::{ChannelId, Time, Value};

use crate::Viewer;
use crate::api;
use crate::cancel::CancelToken;
use crate::changes::{Changes, MIXED};
use crate::error::RequestError;
use crate::gaps::{holes, outside};
use crate::pixels::checked;
use crate::reference::Series;
use crate::session::RUNS;

impl Viewer {
    /// Booleans, enums and texts as runs of one label, none much shorter than a pixel.
    pub fn states(&self, query: &api::PixelsQuery, stop: &CancelToken) -> Result<api::StatesAnswer, RequestError> {
        let width = checked(query)?.min(RUNS / 2 - 2);
        let series = Series::find_all(&self.session(), &query.series)?;
        let one = |one: &Series| of(one, query, width, self.changes(), stop);
        Ok(api::StatesAnswer { series: series.iter().map(one).collect::<Result<_, _>>()? })
    }
}

/// The lists of changes that are kept, the latest used ones.
#[derive(Default)]
pub(crate) struct ChangeCache(Mutex<Vec<(Key, Arc<Mutex<Changes>>)>>);

type Key = (usize, ChannelId, Vec<Step>);

impl ChangeCache {
    /// Lets go of what belongs to a log.
    pub(crate) fn forget(&self, log: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|((known, ..), _)| *known != log);
    }

    fn get(&self, one: &Series) -> Arc<Mutex<Changes>> {
        let key = (one.log, one.channel, one.steps.clone());
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match kept.iter().position(|(known, _)| *known == key) {
            Some(place) => kept.remove(place),
            None => (key, Arc::default()),
        };
        let changes = Arc::clone(&found.1);
        kept.insert(0, found);
        kept.truncate(MOST_KEPT);
        changes
    }
}

fn of(
    one: &Series,
    query: &api::PixelsQuery,
    width: usize,
    kept: &ChangeCache,
    stop: &CancelToken,
) -> Result<api::States, RequestError> {
    let Some((first, last)) = one.entry().and_then(|entry| entry.range) else { return Ok(api::States::default()) };
    let log_end = one.store.range().map_or(last, |range| range.1.max(last));
    let (start, end) = one.within(query.start, query.end);
    let (start, end) = (start.max(first), end.min(log_end));
    if start > end {
        return Ok(api::States::default());
    }
    let changes = kept.get(one);
    let mut changes = changes.lock().unwrap_or_else(PoisonError::into_inner);
    fill(&mut changes, one, stop)?;
    // One pixel in nanoseconds of the log.
    let (from, to) = one.within(query.start, query.end);
    let pixel = (to.since(from) / i64::try_from(width).unwrap_or(1)).max(1);
    let mut fine = Changes::default();
    let changes = if changes.grain() > pixel && one.store.count(one.channel, start, end)? <= MOST_READ {
        let parts = one.parts();
        let mut take = |time: Time, value: &Value<'_>| {
            fine.push(time, &label(&parts, value, &one.steps));
            ControlFlow::Continue(())
        };
        one.store.read_back(one.channel, start.plus(1), &mut |time, value| {
            let _ = take(time, value);
            ControlFlow::Break(())
        })?;
        one.store.read(one.channel, start.plus(1), end, &mut take)?;
        &fine
    } else {
        &*changes
    };
    let holes = holes(one, (start, end), pixel)?;
    Ok(shown(changes, one, (start, end), pixel, &holes))
}

/// Reads what is not in the list yet: all of it the first time, of a live log what came since.
fn fill(changes: &mut Changes, one: &Series, stop: &CancelToken) -> Result<(), RequestError> {
    let whole = one.store.state() == api::LogState::Finished;
    if changes.until().is_some() && whole {
        return Ok(());
    }
    let parts = one.parts();
    let mut fresh = std::mem::take(changes);
    if let Some(until) = fresh.until()
        && one.store.count(one.channel, Time::MIN, until)? != fresh.samples()
    {
        // Some came late.
        fresh = Changes::default();
    }
    let from = fresh.until().map_or(Time::MIN, |until| until.plus(1));
    one.store.read(one.channel, from, Time::MAX, &mut |time, value| {
        fresh.push(time, &label(&parts, value, &one.steps));
        if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if stop.is_cancelled() {
        return Err(RequestError::cancelled());
    }
    *changes = fresh;
    Ok(())
}

/// The runs of a stretch, none of them much finer than a pixel, and nothing where the source was gone.
fn shown(
    changes: &Changes,
    one: &Series,
    (start, end): (Time, Time),
    pixel: i64,
    holes: &[(Time, Time)],
) -> api::States {
    let mut answer = api::States::default();
    let mut places: HashMap<u32, i64> = HashMap::new();
    let mut emit = |from: Time, to: Time, label: u32| {
        let label = if label == MIXED {
            -1
        } else {
            let next = i64::try_from(places.len()).unwrap_or(-1);
            *places.entry(label).or_insert_with(|| {
                answer.labels.push(changes.label(label).to_owned());
                next
            })
        };
        answer.runs.push((one.clock.seconds(from), one.clock.seconds(to), label));
    };
    // Runs shorter than a pixel that follow each other are put together; one alone keeps its label.
    let mut short: Option<(Time, Time, u32)> = None;
    let whole = changes.runs(start, end);
    let known = whole.flat_map(|(from, to, label)| outside((from, to), holes).map(move |(from, to)| (from, to, label)));
    for (from, to, label) in known {
        if let Some((first, last, before)) = short.take_if(|(_, last, _)| *last < from) {
            emit(first, last, before);
        }
        if to.since(from) < pixel {
            short = Some(match short {
                Some((first, _, before)) => (first, to, if before == label { label } else { MIXED }),
                None => (from, to, label),
            });
            continue;
        }
        if let Some((from, to, label)) = short.take() {
            emit(from, to, label);
        }
        emit(from, to, label);
    }
    if let Some((from, to, label)) = short {
        emit(from, to, label);
    }
    answer
}

/// What a value is called.
fn label(parts: &FieldReader, value: &Value<'_>, steps: &[Step]) -> String {
    let text = match parts.at(value, steps) {
        Some(ScalarValue::Text(text)) => String::from_utf8_lossy(&text).into_owned(),
        Some(ScalarValue::Enum(_, Some(name))) => name.into_owned(),
        Some(part) => part.to_string(),
        None => String::new(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text,
    }
}

/// Lists of changes that are kept.
const MOST_KEPT: usize = 64;
/// Samples that are read for one series where the list of changes is too coarse.
const MOST_READ: u64 = 1 << 18;
/// Characters of a label.
const LONGEST: usize = 200;
