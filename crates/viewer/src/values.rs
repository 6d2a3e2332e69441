use logpose::schema::Tree;
use logpose::{Schemas, Step, tree_at};
use logpose_core::{Channel, ChannelId, Value};
use serde_json::Value as Any;

use crate::Viewer;
use crate::api;
use crate::error::RequestError;
use crate::gaps::Gap;
use crate::reference::Series;

impl Viewer {
    /// The latest value of each series at a time.
    pub fn values(&self, query: &api::ValuesQuery) -> Result<api::Values, RequestError> {
        let series = Series::find_all(&self.session(), &query.series)?;
        Ok(api::Values { values: values_at(&series, query.time)? })
    }
}

/// What each series holds at a session time: one look-up for each log.
fn values_at(series: &[Series], t: f64) -> Result<Vec<Option<api::HeldValue>>, RequestError> {
    let mut held: Vec<Option<api::HeldValue>> = series.iter().map(|_| None).collect();
    let mut left = MOST_ALL;
    let mut logs: Vec<usize> = series.iter().map(|one| one.log).collect();
    logs.sort_unstable();
    logs.dedup();
    for log in logs {
        let places: Vec<usize> =
            series.iter().enumerate().filter(|(_, one)| one.log == log).map(|(place, _)| place).collect();
        let of = |place: usize| places.get(place).and_then(|place| Some((*place, series.get(*place)?)));
        let Some((_, first)) = of(0) else { continue };
        let channels: Vec<ChannelId> = (0..places.len()).filter_map(|place| Some(of(place)?.1.channel)).collect();
        let at = first.clock.time(t);
        let gaps = (0..places.len()).map(|place| of(place).map_or(Ok(Vec::new()), |(_, one)| Gap::all(one)));
        let gaps: Vec<Vec<Gap>> = gaps.collect::<Result<_, _>>()?;
        first.store.held(&channels, at, &mut |place, time, value| {
            if gaps.get(place).is_some_and(|gaps| Gap::hide(gaps, time, at)) {
                return;
            }
            let Some((place, one)) = of(place) else { return };
            let Some(channel) = one.channel() else { return };
            let shown = show(&one.catalog.schemas, channel, value, &one.steps, &mut left);
            if let (Some((value, text)), Some(held)) = (shown, held.get_mut(place)) {
                *held = Some(api::HeldValue { time: one.clock.seconds(time), value, text });
            }
        })?;
    }
    Ok(held)
}

/// A part of a value as JSON and as one line for people; nothing if the value has no such part. What is very large, or comes
/// when nothing is `left`, is null.
fn show(
    schemas: &Schemas,
    channel: &Channel,
    value: &Value<'_>,
    steps: &[Step],
    left: &mut usize,
) -> Option<(Any, String)> {
    let mut json = Vec::new();
    let text = if steps.is_empty() {
        schemas.write_json(channel, value, &mut json);
        line(schemas, channel, value, steps, LONGEST)?
    } else {
        let tree = schemas.tree(channel, value);
        let part = tree_at(&tree, steps)?;
        part.write_json(&mut json);
        text(&part, LONGEST)
    };
    let fits = json.len() <= MOST.min(*left);
    *left -= if fits { json.len() } else { 0 };
    Some((if fits { serde_json::from_slice(&json).unwrap_or(Any::Null) } else { Any::Null }, text))
}

/// A part of a value as one line for people, of so many characters.
pub(crate) fn line(
    schemas: &Schemas,
    channel: &Channel,
    value: &Value<'_>,
    steps: &[Step],
    longest: usize,
) -> Option<String> {
    if !steps.is_empty() {
        return tree_at(&schemas.tree(channel, value), steps).map(|part| text(&part, longest));
    }
    let mut text = String::new();
    schemas.write_text(channel, value, &mut text);
    Some(cut(text, longest))
}

fn text(tree: &Tree, longest: usize) -> String {
    match tree {
        // Bare, as `logpose cat` shows the texts of channels.
        Tree::Text(text) => cut(text.chars().flat_map(shown_char).collect(), longest),
        tree => cut(tree.to_string(), longest),
    }
}

fn shown_char(c: char) -> impl Iterator<Item = char> {
    let (odd, plain) = if c.is_control() { (Some(c.escape_default()), None) } else { (None, Some(c)) };
    odd.into_iter().flatten().chain(plain)
}

fn cut(mut text: String, longest: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(longest) {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// Characters of a line.
const LONGEST: usize = 1000;
/// Bytes of one value as JSON, and of all values of an answer.
const MOST: usize = 256 << 10;
const MOST_ALL: usize = 16 << 20;
