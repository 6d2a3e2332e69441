//! Splits channels into single numbers, booleans and texts.

use std::collections::HashMap;

use anyhow::Result;
use logpose::core::{Channel, Time, Type, Value};
use logpose::schema::Registry;
use logpose::{FieldReader, Filter, Log, ScalarValue, Visit, in_time_order};

use crate::args::Channels;

/// One value of a leaf.
pub(super) enum Leaf<'a> {
    Number(f64),
    Integer(f64),
    Text(&'a str),
}

/// Receives the values of leaves, channel by channel, each leaf in time order.
pub(super) trait Taker {
    /// Called for a new leaf. Returns its position, or `None` to skip it.
    fn meet(&mut self, channel: &Channel, name: &str, value: &Leaf<'_>) -> Result<Option<usize>>;
    /// Called for each of its values.
    fn take(&mut self, place: usize, time: Time, value: Leaf<'_>);
}

/// The selected leaves: `/Drive/Pose` with everything below it, or single ones such as `/Drive/Pose.translation.x`.
pub(super) struct Wanted {
    include: Filter,
    exclude: Option<Filter>,
    /// The literal prefix of the pattern, which a channel name must start with or be a prefix of.
    beginnings: Vec<String>,
}

impl Wanted {
    pub(super) fn new(channels: &Channels) -> Result<Self> {
        // Reports invalid patterns with the same message as every other command.
        channels.filter()?;
        let beginning = |pattern: &String| match pattern.strip_prefix("re:") {
            Some(_) => String::new(),
            None => pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default().to_owned(),
        };
        Ok(Self {
            include: Filter::new(&channels.include, &[])?,
            exclude: (!channels.exclude.is_empty()).then(|| Filter::new(&channels.exclude, &[])).transpose()?,
            beginnings: channels.include.iter().map(beginning).collect(),
        })
    }

    fn refuses(&self, name: &str) -> bool {
        self.exclude.as_ref().is_some_and(|exclude| exclude.accepts(name))
    }

    /// Whether a leaf of this channel could match.
    fn hopes(&self, channel: &Channel) -> bool {
        let name = &*channel.name;
        let near = |beginning: &String| name.starts_with(&**beginning) || beginning.starts_with(name);
        !self.refuses(name) && (self.include.accepts(name) || has_leaves(channel) && self.beginnings.iter().any(near))
    }
}

/// Passes all selected leaves of a log to a taker. Returns the number of channels that have any.
pub(super) fn gather(log: &Log, wanted: &Wanted, taker: &mut impl Taker) -> Result<usize> {
    let mut matched = 0;
    for (id, found) in (0..).zip(&log.index.channels) {
        let channel = &found.channel;
        if found.samples == 0 || Registry::is_schema(&channel.name, &channel.type_name) || !wanted.hopes(channel) {
            continue;
        }
        let mut parts = FieldReader::of(channel, log.schemas().registry());
        let mut walk = Walk::new(channel, wanted, taker);
        let columns = log.columns(&[id])?;
        for column in &columns.columns {
            in_time_order(&columns, column, |time, value| walk.sample(&mut parts, time, value));
        }
        walk.result?;
        matched += usize::from(walk.whole || walk.leaves.iter().any(|leaf| leaf.place.is_some()));
    }
    Ok(matched)
}

/// Visits the samples of one channel.
struct Walk<'a, T> {
    channel: &'a Channel,
    wanted: &'a Wanted,
    taker: &'a mut T,
    /// Whether the channel itself is selected, with all its leaves.
    whole: bool,
    leaves: Vec<Known>,
    /// Positions by the path within the channel.
    by_path: HashMap<String, usize>,
    /// The leaf that probably comes next: consecutive samples mostly have the same leaves.
    next: usize,
    time: Time,
    /// Whether no further sample can have a selected leaf.
    done: bool,
    result: Result<()>,
}

struct Known {
    path: String,
    place: Option<usize>,
}

impl<'a, T: Taker> Walk<'a, T> {
    fn new(channel: &'a Channel, wanted: &'a Wanted, taker: &'a mut T) -> Self {
        Self {
            channel,
            wanted,
            taker,
            whole: wanted.include.accepts(&channel.name),
            leaves: Vec::new(),
            by_path: HashMap::new(),
            next: 0,
            time: Time::ZERO,
            done: false,
            result: Ok(()),
        }
    }

    fn sample(&mut self, parts: &mut FieldReader, time: Time, value: &Value<'_>) {
        if self.done {
            return;
        }
        (self.next, self.time) = (0, time);
        parts.visit(value, self);
        let fixed = self.channel.type_name.starts_with("struct:") && !self.channel.type_name.ends_with(']');
        self.done = self.result.is_err() || fixed && self.leaves.iter().all(|leaf| leaf.place.is_none());
    }

    fn leaf(&mut self, path: &str, value: Leaf<'_>) -> Result<()> {
        let expected = self.leaves.get(self.next).is_some_and(|leaf| leaf.path == path);
        let at = match self.by_path.get(path) {
            _ if expected => self.next,
            Some(at) => *at,
            None if self.leaves.len() >= MOST_LEAVES => return Ok(()),
            None => {
                let name = format!("{}{path}", self.channel.name);
                let wanted = (self.whole || self.wanted.include.accepts(&name)) && !self.wanted.refuses(&name);
                let place = if wanted { self.taker.meet(self.channel, &name, &value)? } else { None };
                self.leaves.push(Known { path: path.to_owned(), place });
                self.by_path.insert(path.to_owned(), self.leaves.len() - 1);
                self.leaves.len() - 1
            }
        };
        self.next = at + 1;
        if let Some(place) = self.leaves.get(at).and_then(|leaf| leaf.place) {
            self.taker.take(place, self.time, value);
        }
        Ok(())
    }
}

impl<T: Taker> Visit for Walk<'_, T> {
    fn list(&mut self, _: &str, len: usize) -> usize {
        len
    }

    fn scalar(&mut self, path: &str, part: ScalarValue<'_>) {
        if self.result.is_err() {
            return;
        }
        self.result = match &part {
            ScalarValue::Nothing | ScalarValue::Bytes(_) => Ok(()),
            ScalarValue::Boolean(b) => self.leaf(path, Leaf::Text(if *b { "true" } else { "false" })),
            ScalarValue::Text(text) => self.leaf(path, Leaf::Text(&String::from_utf8_lossy(text))),
            ScalarValue::Enum(_, Some(name)) => self.leaf(path, Leaf::Text(name)),
            ScalarValue::Enum(number, None) => self.leaf(path, Leaf::Text(&number.to_string())),
            ScalarValue::Integer(_) | ScalarValue::Unsigned(_) => {
                part.number().map_or(Ok(()), |number| self.leaf(path, Leaf::Integer(number)))
            }
            ScalarValue::Float(_) | ScalarValue::Double(_) => {
                part.number().map_or(Ok(()), |number| self.leaf(path, Leaf::Number(number)))
            }
        };
    }
}

/// Whether a channel has more than one value per sample.
fn has_leaves(channel: &Channel) -> bool {
    let array = matches!(
        channel.ty(),
        Type::BooleanArray | Type::Int64Array | Type::FloatArray | Type::DoubleArray | Type::StringArray
    );
    array || Registry::decodes(&channel.type_name)
}

/// A JSON object with more leaves is treated as data, not as a set of channels.
const MOST_LEAVES: usize = 100_000;
