//! Channels down to single numbers, truth values and texts.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::Result;
use logpose::core::{Channel, Time, Type, Value};
use logpose::schema::{Decoder, Registry, Tree};
use logpose::{Filter, Log};

use crate::args::Channels;

/// A single value of a leaf.
pub(super) enum Leaf<'a> {
    Number(f64),
    Integer(f64),
    Text(&'a str),
}

/// What takes the values of leaves, channel by channel, each leaf in the order of time.
pub(super) trait Taker {
    /// A leaf that was not met before. Returns its place, or nothing if it is not wanted.
    fn meet(&mut self, channel: &Channel, name: &str, value: &Leaf<'_>) -> Result<Option<usize>>;
    /// One of its values.
    fn take(&mut self, place: usize, time: Time, value: Leaf<'_>);
}

/// Which leaves are wanted: `/Drive/Pose` with all below it, or single ones such as `/Drive/Pose.translation.x`.
pub(super) struct Wanted {
    include: Filter,
    exclude: Option<Filter>,
    /// What the name of a channel must begin with, or be the beginning of.
    beginnings: Vec<String>,
}

impl Wanted {
    pub(super) fn new(channels: &Channels) -> Result<Self> {
        // Complains about patterns that are none in the words of every other command.
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

    /// Whether a leaf of this channel could be wanted.
    fn hopes(&self, channel: &Channel) -> bool {
        let name = &*channel.name;
        let near = |beginning: &String| name.starts_with(&**beginning) || beginning.starts_with(name);
        !self.refuses(name) && (self.include.accepts(name) || has_leaves(channel) && self.beginnings.iter().any(near))
    }
}

/// Gives all wanted leaves of a log to a taker. Returns how many channels have any.
pub(super) fn gather(log: &Log, wanted: &Wanted, taker: &mut impl Taker) -> Result<usize> {
    let mut matched = 0;
    for (id, found) in (0..).zip(&log.index.channels) {
        let channel = &found.channel;
        if found.samples == 0 || Registry::is_schema(&channel.name, &channel.type_name) || !wanted.hopes(channel) {
            continue;
        }
        let decoder = log.schemas().registry().decoder(&channel.type_name).ok();
        let mut walk = Walk::new(channel, decoder, wanted, taker);
        let columns = log.columns(&[id])?;
        for column in &columns.columns {
            if column.sorted {
                for (time, value) in columns.samples(column) {
                    if !walk.sample(time, &value)? {
                        break;
                    }
                }
            } else {
                let mut samples: Vec<_> = columns.samples(column).collect();
                samples.sort_by_key(|(time, _)| *time);
                for (time, value) in &samples {
                    if !walk.sample(*time, value)? {
                        break;
                    }
                }
            }
        }
        matched += usize::from(walk.whole || walk.leaves.iter().any(|leaf| leaf.place.is_some()));
    }
    Ok(matched)
}

/// Walks over the samples of one channel.
struct Walk<'a, T> {
    channel: &'a Channel,
    decoder: Option<Decoder>,
    wanted: &'a Wanted,
    taker: &'a mut T,
    /// Whether the channel itself is wanted, with all its leaves.
    whole: bool,
    leaves: Vec<Known>,
    by_name: HashMap<String, usize>,
    /// The leaf that probably comes next: samples are mostly alike.
    next: usize,
}

struct Known {
    name: String,
    place: Option<usize>,
}

impl<'a, T: Taker> Walk<'a, T> {
    fn new(channel: &'a Channel, decoder: Option<Decoder>, wanted: &'a Wanted, taker: &'a mut T) -> Self {
        let whole = wanted.include.accepts(&channel.name);
        Self { channel, decoder, wanted, taker, whole, leaves: Vec::new(), by_name: HashMap::new(), next: 0 }
    }

    /// Takes a sample; false if no other can have anything that is wanted.
    fn sample(&mut self, time: Time, value: &Value<'_>) -> Result<bool> {
        self.next = 0;
        let mut path = self.channel.name.clone();
        match value {
            Value::Boolean(b) => self.leaf(&path, time, flag(*b))?,
            Value::Int64(x) => self.leaf(&path, time, Leaf::Integer(real(*x)))?,
            Value::Float(x) => self.leaf(&path, time, Leaf::Number((*x).into()))?,
            Value::Double(x) => self.leaf(&path, time, Leaf::Number(*x))?,
            Value::BooleanArray(bytes) => self.items(&mut path, time, bytes.iter().map(|b| flag(*b != 0)))?,
            Value::Int64Array(xs) => self.items(&mut path, time, xs.iter().map(|x| Leaf::Integer(real(x))))?,
            Value::FloatArray(xs) => self.items(&mut path, time, xs.iter().map(|x| Leaf::Number(x.into())))?,
            Value::DoubleArray(xs) => self.items(&mut path, time, xs.iter().map(Leaf::Number))?,
            Value::StringArray(texts) => {
                for (place, text) in texts.iter().enumerate() {
                    let item = self.item(&mut path, place);
                    self.leaf(item, time, Leaf::Text(&String::from_utf8_lossy(text)))?;
                    path.truncate(self.channel.name.len());
                }
            }
            Value::String(bytes) | Value::Bytes(bytes) => match self.decoder.clone() {
                Some(decoder) => {
                    // What does not decode is a gap, and `doctor` and `cat` tell about it.
                    if let Ok(decoded) = decoder.decode(bytes) {
                        self.tree(&mut path, time, &decoded.tree)?;
                    }
                }
                None if matches!(value, Value::String(_)) => {
                    self.leaf(&path, time, Leaf::Text(&String::from_utf8_lossy(bytes)))?;
                }
                None => return Ok(false),
            },
        }
        let fixed = self.channel.type_name.starts_with("struct:") && !self.channel.type_name.ends_with(']');
        Ok(!fixed || self.leaves.iter().any(|leaf| leaf.place.is_some()))
    }

    fn items<'v>(&mut self, path: &mut String, time: Time, items: impl Iterator<Item = Leaf<'v>>) -> Result<()> {
        for (place, value) in items.enumerate() {
            let item = self.item(path, place);
            self.leaf(item, time, value)?;
            path.truncate(self.channel.name.len());
        }
        Ok(())
    }

    fn item<'p>(&self, path: &'p mut String, place: usize) -> &'p str {
        // Writing to a String cannot fail.
        let _ = write!(path, "[{place}]");
        path
    }

    fn tree(&mut self, path: &mut String, time: Time, tree: &Tree) -> Result<()> {
        let length = path.len();
        match tree {
            Tree::Map(fields) => {
                for (name, value) in fields {
                    path.push('.');
                    path.push_str(name);
                    self.tree(path, time, value)?;
                    path.truncate(length);
                }
            }
            Tree::List(items) => {
                for (place, value) in items.iter().enumerate() {
                    self.item(path, place);
                    self.tree(path, time, value)?;
                    path.truncate(length);
                }
            }
            Tree::Bool(b) => self.leaf(path, time, flag(*b))?,
            Tree::Int(x) => self.leaf(path, time, Leaf::Integer(real(*x)))?,
            #[expect(clippy::cast_precision_loss, reason = "a picture does not show the last of 64 bits")]
            Tree::UInt(x) => self.leaf(path, time, Leaf::Integer(*x as f64))?,
            Tree::Float(x) => self.leaf(path, time, Leaf::Number((*x).into()))?,
            Tree::Double(x) => self.leaf(path, time, Leaf::Number(*x))?,
            Tree::Text(text) => self.leaf(path, time, Leaf::Text(text))?,
            Tree::Enum { number, name: None } => self.leaf(path, time, Leaf::Text(&number.to_string()))?,
            Tree::Enum { name: Some(name), .. } => self.leaf(path, time, Leaf::Text(name))?,
            Tree::Null | Tree::Bytes(_) => {}
        }
        Ok(())
    }

    fn leaf(&mut self, name: &str, time: Time, value: Leaf<'_>) -> Result<()> {
        let expected = self.leaves.get(self.next).is_some_and(|leaf| leaf.name == name);
        let at = match self.by_name.get(name) {
            _ if expected => self.next,
            Some(at) => *at,
            None if self.leaves.len() >= MOST_LEAVES => return Ok(()),
            None => {
                let wanted = (self.whole || self.wanted.include.accepts(name)) && !self.wanted.refuses(name);
                let place = if wanted { self.taker.meet(self.channel, name, &value)? } else { None };
                self.leaves.push(Known { name: name.to_owned(), place });
                self.by_name.insert(name.to_owned(), self.leaves.len() - 1);
                self.leaves.len() - 1
            }
        };
        self.next = at + 1;
        if let Some(place) = self.leaves.get(at).and_then(|leaf| leaf.place) {
            self.taker.take(place, time, value);
        }
        Ok(())
    }
}

/// Whether a channel has more in it than one value.
fn has_leaves(channel: &Channel) -> bool {
    let array = matches!(
        channel.ty(),
        Type::BooleanArray | Type::Int64Array | Type::FloatArray | Type::DoubleArray | Type::StringArray
    );
    array || Registry::decodes(&channel.type_name)
}

fn flag(b: bool) -> Leaf<'static> {
    Leaf::Text(if b { "true" } else { "false" })
}

#[expect(clippy::cast_precision_loss, reason = "a picture does not show the last of 64 bits")]
fn real(x: i64) -> f64 {
    x as f64
}

/// Beyond, a JSON object is data and no set of channels.
const MOST_LEAVES: usize = 100_000;
