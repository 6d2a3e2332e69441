//! What a server knows: its topics, and who listens to them.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use logpose_core::{ChannelId, Link, Time, Transmit};
use serde_json::{Map, Value as Json};

use crate::messages::SubscribeOptions;
use crate::wire::Kind;

/// Messages are joined up to this length, as ntcore does: more would hold up pings on a slow radio.
const JOINED_LEN: usize = 16 << 10;
/// Shortest and longest time between two messages, in nanoseconds. Servers may be faster than they are asked to be.
const SHORTEST: i64 = 5_000_000;
const LONGEST: i64 = 10_000_000_000;
/// Periods are rounded to this.
const RESOLUTION: i64 = 10_000_000;

/// All topics by id and by name. Ids of topics that are gone are used again: everyone who knew the old one was told.
#[derive(Debug, Default)]
pub(super) struct Topics {
    list: Vec<Option<Topic>>,
    free: Vec<i32>,
    names: BTreeMap<String, i32>,
    /// Bytes of all names, properties and last values.
    bytes: usize,
}

/// One topic.
#[derive(Debug)]
pub(super) struct Topic {
    pub(super) name: String,
    pub(super) type_name: String,
    pub(super) kind: Kind,
    pub(super) properties: Map<String, Json>,
    /// Bytes of the properties as text.
    text: usize,
    /// Whether newcomers get its last value.
    pub(super) cached: bool,
    pub(super) publishers: Vec<Publisher>,
    pub(super) listeners: Vec<Listener>,
    /// The whole message with the last value; empty if there is none.
    pub(super) last: Vec<u8>,
    pub(super) time: i64,
    /// Who sent it: a client's slot, or the server itself.
    pub(super) from: Option<usize>,
    /// Whether it is one of the server's own topics about itself.
    pub(super) meta: bool,
    /// The server's own channel whose type it has.
    pub(super) owner: Option<ChannelId>,
    /// The channel under which clients' values go into the sink.
    pub(super) channel: Option<ChannelId>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Publisher {
    /// A client's slot, or the server itself.
    pub(super) slot: Option<usize>,
    pub(super) uid: i32,
}

/// A client to whom a topic was announced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listener {
    pub(super) slot: usize,
    pub(super) mode: Mode,
    /// Which of the client's queues its values go to.
    pub(super) queue: usize,
    /// Whether the last value waits in that queue.
    pub(super) pending: bool,
}

/// Which values of a topic a client gets.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Mode {
    None,
    Last,
    All,
}

impl Topic {
    pub(super) fn new(name: &str, type_name: &str, properties: Map<String, Json>) -> Self {
        let mut topic = Self {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            kind: Kind::of_type(type_name),
            properties: Map::new(),
            text: 0,
            cached: true,
            publishers: Vec::new(),
            listeners: Vec::new(),
            last: Vec::new(),
            time: 0,
            from: None,
            meta: false,
            owner: None,
            channel: None,
        };
        topic.set_properties(properties);
        topic
    }

    /// A topic of the server about itself.
    pub(super) fn meta(name: &str) -> Self {
        let retained = Map::from_iter([("retained".to_owned(), Json::Bool(true))]);
        Self { meta: true, ..Self::new(name, "msgpack", retained) }
    }

    fn set_properties(&mut self, properties: Map<String, Json>) {
        self.text = if properties.is_empty() { 0 } else { Json::Object(properties.clone()).to_string().len() };
        self.properties = properties;
        self.cached = self.is("cached") != Some(false);
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>() + self.name.len() + self.type_name.len() + self.text + self.last.len()
    }

    fn is(&self, property: &str) -> Option<bool> {
        self.properties.get(property).and_then(Json::as_bool)
    }

    /// Whether it may stay: somebody publishes it, or its properties keep it.
    pub(super) fn lives(&self) -> bool {
        self.meta
            || !self.publishers.is_empty()
            || self.is("persistent") == Some(true)
            || self.is("retained") == Some(true)
    }

    pub(super) fn listener(&mut self, slot: usize) -> Option<&mut Listener> {
        self.listeners.iter_mut().find(|listener| listener.slot == slot)
    }
}

impl Topics {
    pub(super) fn insert(&mut self, topic: Topic) -> i32 {
        let id = self.free.pop().unwrap_or_else(|| {
            self.list.push(None);
            i32::try_from(self.list.len() - 1).unwrap_or(i32::MAX)
        });
        self.names.insert(topic.name.clone(), id);
        self.bytes += topic.size();
        if let Some(place) = place(id).and_then(|at| self.list.get_mut(at)) {
            *place = Some(topic);
        }
        id
    }

    pub(super) fn remove(&mut self, id: i32) -> Option<Topic> {
        let topic = place(id).and_then(|at| self.list.get_mut(at))?.take()?;
        self.names.remove(&topic.name);
        self.free.push(id);
        self.bytes = self.bytes.saturating_sub(topic.size());
        Some(topic)
    }

    /// Changes what has a size.
    pub(super) fn change(&mut self, id: i32, change: impl FnOnce(&mut Topic)) {
        let Some(Some(topic)) = place(id).and_then(|at| self.list.get_mut(at)) else { return };
        let before = topic.size();
        change(topic);
        self.bytes = (self.bytes + topic.size()).saturating_sub(before);
    }

    pub(super) fn set_properties(&mut self, id: i32, properties: Map<String, Json>) {
        self.change(id, |topic| topic.set_properties(properties));
    }

    /// Bytes of all names, properties and last values.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub(super) fn get(&self, id: i32) -> Option<&Topic> {
        self.list.get(place(id)?)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: i32) -> Option<&mut Topic> {
        self.list.get_mut(place(id)?)?.as_mut()
    }

    pub(super) fn id(&self, name: &str) -> Option<i32> {
        self.names.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn ids(&self) -> Vec<i32> {
        self.names.values().copied().collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Topic> {
        self.list.iter().flatten()
    }

    /// The ids of all topics that a subscription matches, each once.
    pub(super) fn matching(&self, subscription: &Subscription) -> Vec<i32> {
        let mut ids = Vec::new();
        for name in &subscription.topics {
            if subscription.options.prefix {
                let from = (Bound::Included(name.as_str()), Bound::Unbounded);
                let found = self.names.range::<str, _>(from).take_while(|(found, _)| found.starts_with(name.as_str()));
                ids.extend(found.filter(|(found, _)| subscription.matches(found)).map(|(_, id)| *id));
            } else {
                ids.extend(self.id(name));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

fn place(id: i32) -> Option<usize> {
    usize::try_from(id).ok()
}

/// What a client has asked for.
#[derive(Clone, Debug)]
pub(super) struct Subscription {
    pub(super) topics: Vec<String>,
    pub(super) options: SubscribeOptions,
}

impl Subscription {
    /// The server's own topics are hidden from those who ask for the empty prefix.
    pub(super) fn matches(&self, name: &str) -> bool {
        self.topics.iter().any(|topic| {
            if self.options.prefix {
                name.starts_with(topic.as_str()) && (!topic.is_empty() || !name.starts_with('$'))
            } else {
                name == topic
            }
        })
    }

    pub(super) fn mode(&self) -> Mode {
        match (self.options.topics_only, self.options.all) {
            (true, _) => Mode::None,
            (false, false) => Mode::Last,
            (false, true) => Mode::All,
        }
    }

    /// Nanoseconds between two messages.
    pub(super) fn period(&self) -> i64 {
        let asked = Time::from_seconds(self.options.periodic).map_or(LONGEST, Time::nanos);
        let rounded = asked.saturating_add(RESOLUTION / 2) / RESOLUTION * RESOLUTION;
        rounded.clamp(SHORTEST, LONGEST)
    }

    pub(super) fn size(&self) -> usize {
        self.topics.iter().map(|topic| topic.len() + size_of::<String>()).sum()
    }

    /// Whether it asks for topics of the server about itself.
    pub(super) fn wants_meta(&self) -> bool {
        self.topics.iter().any(|topic| topic.starts_with('$'))
    }
}

/// One link and what is known of the client behind it.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) link: Link,
    /// What it calls itself, with a number behind it, and where it is.
    pub(super) name: String,
    pub(super) address: String,
    /// Whether it has sent text: links for time syncs alone are no clients.
    pub(super) speaks: bool,
    pub(super) publishers: BTreeMap<i32, i32>,
    pub(super) subscriptions: BTreeMap<i32, Subscription>,
    /// Publishers whose values do not fit, once told.
    pub(super) told: bool,
    text: String,
    queues: Vec<Queue>,
}

/// Values that wait for the end of a period.
#[derive(Debug)]
struct Queue {
    period: i64,
    /// When it was last sent.
    sent: Time,
    /// When it is to be sent, if it has something.
    due: Option<Time>,
    /// Whole messages, in the order in which they came.
    bytes: Vec<u8>,
    /// Topics whose last value is to be sent.
    pending: Vec<i32>,
}

impl Client {
    pub(super) fn new(link: Link, slot: usize) -> Self {
        Self {
            link,
            name: format!("NT4@{slot}"),
            address: String::new(),
            speaks: false,
            publishers: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            told: false,
            text: String::new(),
            queues: Vec::new(),
        }
    }

    /// How the subscriptions serve a topic: the most that any of them asks for, at the shortest period.
    pub(super) fn serves(&self, name: &str) -> Option<(Mode, i64)> {
        let matching = self.subscriptions.values().filter(|subscription| subscription.matches(name));
        matching.map(|s| (s.mode(), s.period())).reduce(|a, b| match (a.0, b.0) {
            (Mode::None, _) => b,
            (_, Mode::None) => a,
            _ => (a.0.max(b.0), a.1.min(b.1)),
        })
    }

    /// The queue with this period.
    pub(super) fn queue(&mut self, period: i64) -> usize {
        if let Some(found) = self.queues.iter().position(|queue| queue.period == period) {
            return found;
        }
        self.queues.push(Queue { period, sent: Time::MIN, due: None, bytes: Vec::new(), pending: Vec::new() });
        self.queues.len() - 1
    }

    /// Adds a text message. It goes out before any value that is added from now on.
    pub(super) fn say(&mut self, message: &Json, out: &mut VecDeque<Transmit>) {
        let message = message.to_string();
        if !self.text.is_empty() && self.text.len() + message.len() > JOINED_LEN {
            self.send_text(out);
        }
        self.text.push(if self.text.is_empty() { '[' } else { ',' });
        self.text.push_str(&message);
    }

    pub(super) fn send_text(&mut self, out: &mut VecDeque<Transmit>) {
        if !self.text.is_empty() {
            self.text.push(']');
            out.push_back(Transmit::text(self.link, &self.text));
            self.text.clear();
        }
    }

    /// Adds a whole message with a value.
    #[inline]
    pub(super) fn add(&mut self, queue: usize, message: &[u8], now: Time, out: &mut VecDeque<Transmit>) {
        let Some(place) = self.queues.get(queue) else { return };
        if !place.bytes.is_empty() && place.bytes.len() + message.len() > JOINED_LEN {
            self.send_bytes(queue, out);
        }
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.bytes.extend_from_slice(message);
            queue.wake(now);
        }
    }

    /// Notes that a topic's last value is to be sent.
    #[inline]
    pub(super) fn remember(&mut self, queue: usize, topic: i32, now: Time) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.pending.push(topic);
            queue.wake(now);
        }
    }

    /// When something is to be sent.
    pub(super) fn due(&self) -> Option<Time> {
        self.queues.iter().filter_map(|queue| queue.due).min()
    }

    /// Sends what is due at `now`, or everything.
    pub(super) fn send(
        &mut self,
        slot: usize,
        due: Option<Time>,
        now: Time,
        topics: &mut Topics,
        out: &mut VecDeque<Transmit>,
    ) {
        for at in 0..self.queues.len() {
            let Some(queue) = self.queues.get_mut(at) else { continue };
            if queue.due.is_none_or(|at| due.is_some_and(|due| at > due)) {
                continue;
            }
            (queue.sent, queue.due) = (now, None);
            let mut pending = std::mem::take(&mut queue.pending);
            for id in pending.drain(..) {
                let Some(topic) = topics.get_mut(id) else { continue };
                let Some(listener) = topic.listener(slot).filter(|listener| listener.pending) else { continue };
                listener.pending = false;
                let Some(queue) = self.queues.get(at) else { continue };
                if !queue.bytes.is_empty() && queue.bytes.len() + topic.last.len() > JOINED_LEN {
                    self.send_bytes(at, out);
                }
                if let Some(queue) = self.queues.get_mut(at) {
                    queue.bytes.extend_from_slice(&topic.last);
                }
            }
            if let Some(queue) = self.queues.get_mut(at) {
                queue.pending = pending;
            }
            self.send_bytes(at, out);
        }
    }

    fn send_bytes(&mut self, queue: usize, out: &mut VecDeque<Transmit>) {
        // The announcement of a topic comes before its values.
        self.send_text(out);
        if let Some(queue) = self.queues.get_mut(queue).filter(|queue| !queue.bytes.is_empty()) {
            out.push_back(Transmit::one(self.link, queue.bytes.as_slice()));
            queue.bytes.clear();
        }
    }
}

impl Queue {
    #[inline]
    fn wake(&mut self, now: Time) {
        if self.due.is_none() {
            self.due = Some(self.sent.plus(self.period).max(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, SHORTEST, SubscribeOptions, Subscription};

    #[test]
    fn periods_are_rounded_and_bounded() {
        let period = |periodic| {
            let options = SubscribeOptions { periodic, ..SubscribeOptions::default() };
            Subscription { topics: Vec::new(), options }.period()
        };
        let ms = |n: i64| n * 1_000_000;
        let cases =
            [(0.0, SHORTEST), (0.004, SHORTEST), (0.02, ms(20)), (0.024, ms(20)), (0.025, ms(30)), (0.1, ms(100))];
        for (asked, given) in cases {
            assert_eq!(period(asked), given, "{asked}");
        }
        assert_eq!((period(3600.0), period(4e6)), (LONGEST, LONGEST));
    }
}
