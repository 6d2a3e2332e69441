//! What a server knows: its topics, and who listens to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

use logpose_core::{ChannelId, Link, Time, Transmit};
use serde_json::{Map, Value as Json};

use super::interests::Interests;
use super::server::ServerOptions;
use crate::messages::SubscribeOptions;
use crate::model;
use crate::wire::Kind;

/// Messages are joined up to this length, as ntcore does: more would hold up pings on a slow radio.
const JOINED_LEN: usize = 16 << 10;
/// Shortest and longest time between two messages, in nanoseconds. Servers may be faster than they are asked to be.
const SHORTEST: i64 = 5_000_000;
pub(super) const LONGEST: i64 = 10_000_000_000;
/// Periods are rounded to this.
const RESOLUTION: i64 = 10_000_000;
/// So many different periods has one client; any other is served at the next shorter one.
const PERIODS: usize = 16;

/// All topics by id and by name. Ids of topics that are gone are used again: every client that knew the old one was
/// informed.
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
    pub(super) text: usize,
    /// Whether newcomers get its last value.
    pub(super) cached: bool,
    pub(super) publishers: BTreeSet<Publisher>,
    /// In the order of their slots.
    pub(super) listeners: Vec<Listener>,
    /// The whole message with the last value; empty if there is none.
    pub(super) last: Vec<u8>,
    pub(super) time: i64,
    /// Who sent it: the serial number of a client, or the server itself.
    pub(super) from: Option<u64>,
    /// Whether it is one of the server's own topics about itself.
    pub(super) meta: bool,
    /// The server's own channel whose type it has.
    pub(super) owner: Option<ChannelId>,
    /// The channel under which clients' values go into the sink.
    pub(super) channel: Option<ChannelId>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Publisher {
    /// A client's slot, or the server itself, which comes first.
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
            text: properties.iter().map(entry_size).sum(),
            properties,
            cached: true,
            publishers: BTreeSet::new(),
            listeners: Vec::new(),
            last: Vec::new(),
            time: 0,
            from: None,
            meta: false,
            owner: None,
            channel: None,
        };
        topic.cached = topic.is("cached") != Some(false);
        topic
    }

    /// A topic of the server about itself.
    pub(super) fn meta(name: &str) -> Self {
        let retained = Map::from_iter([("retained".to_owned(), Json::Bool(true))]);
        Self { meta: true, ..Self::new(name, "msgpack", retained) }
    }

    /// Changes properties; null takes one away. The cost is that of the update, however many properties there are.
    fn update_properties(&mut self, update: &Map<String, Json>) {
        for (key, value) in update {
            if let Some(before) = self.properties.get(key) {
                self.text = self.text.saturating_sub(entry_size((key, before)));
            }
            if !value.is_null() {
                self.text += entry_size((key, value));
            }
        }
        model::update(&mut self.properties, update);
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
        let at = self.listeners.binary_search_by_key(&slot, |listener| listener.slot).ok()?;
        self.listeners.get_mut(at)
    }

    /// Notes how a client listens.
    pub(super) fn set_listener(&mut self, slot: usize, mode: Mode, queue: usize) {
        match self.listeners.binary_search_by_key(&slot, |listener| listener.slot) {
            Ok(at) => {
                if let Some(listener) = self.listeners.get_mut(at) {
                    (listener.mode, listener.queue) = (mode, queue);
                }
            }
            Err(at) => self.listeners.insert(at, Listener { slot, mode, queue, pending: false }),
        }
    }

    pub(super) fn remove_listener(&mut self, slot: usize) {
        if let Ok(at) = self.listeners.binary_search_by_key(&slot, |listener| listener.slot) {
            self.listeners.remove(at);
        }
    }
}

/// About how many bytes a property takes.
pub(super) fn entry_size((key, value): (&String, &Json)) -> usize {
    key.len() + value.to_string().len()
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

    pub(super) fn update_properties(&mut self, id: i32, update: &Map<String, Json>) {
        self.change(id, |topic| topic.update_properties(update));
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

    pub(super) fn iter(&self) -> impl Iterator<Item = &Topic> {
        self.list.iter().flatten()
    }

    /// The ids of all topics that changes of subscriptions concern, each once.
    pub(super) fn concerned(&self, changes: &Changes) -> Vec<i32> {
        if changes.all {
            return self.names.values().copied().collect();
        }
        let mut ids: Vec<i32> = changes.names.iter().filter_map(|name| self.id(name)).collect();
        let mut outer: Option<&str> = None;
        for prefix in &changes.prefixes {
            // The topics of a longer prefix are among those of a shorter one, except that the empty one has none of
            // the server's own.
            let within = |outer: &str| prefix.starts_with(outer) && (!outer.is_empty() || !prefix.starts_with('$'));
            if outer.is_some_and(within) {
                continue;
            }
            outer = Some(prefix);
            let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
            let found = self.names.range::<str, _>(from).take_while(|(found, _)| found.starts_with(prefix.as_str()));
            ids.extend(found.filter(|(found, _)| !prefix.is_empty() || !found.starts_with('$')).map(|(_, id)| *id));
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
}

/// Subscriptions that came or went and with which the topics' listeners have not caught up.
#[derive(Debug, Default)]
pub(super) struct Changes {
    names: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    bytes: usize,
    /// So much has changed that all topics are looked at.
    all: bool,
}

impl Changes {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.prefixes.is_empty() && !self.all
    }

    /// How many names and prefixes there are.
    pub(super) fn len(&self) -> usize {
        self.names.len() + self.prefixes.len()
    }

    /// Notes a subscription, in at most so many bytes.
    fn note(&mut self, subscription: &Subscription, most: usize) {
        self.bytes += subscription.size();
        if self.bytes > most {
            *self = Self { all: true, bytes: self.bytes, ..Self::default() };
        }
        if self.all {
            return;
        }
        let concerned = if subscription.options.prefix { &mut self.prefixes } else { &mut self.names };
        concerned.extend(subscription.topics.iter().cloned());
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
    /// Tells it from all clients before it, also from those that had its slot.
    pub(super) serial: u64,
    pub(super) publishers: BTreeMap<i32, i32>,
    pub(super) subscriptions: BTreeMap<i32, Subscription>,
    /// The same subscriptions by what they ask for.
    pub(super) interests: Interests<i32>,
    /// Names and bytes of all subscriptions.
    names: usize,
    held: usize,
    /// Subscriptions with which the listeners of topics have not caught up, and whether the client waits for that.
    pub(super) changes: Changes,
    pub(super) waits: bool,
    /// The topics that were announced to it.
    pub(super) topics: BTreeSet<i32>,
    /// Whether values of the wrong type were reported.
    pub(super) reported: bool,
    text: String,
    queues: Vec<Queue>,
}

/// A client asks for more than it may have.
#[derive(Debug)]
pub(super) struct TooMany;

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
    pub(super) fn new(link: Link, slot: usize, serial: u64) -> Self {
        Self {
            link,
            serial,
            name: format!("NT4@{slot}"),
            address: String::new(),
            speaks: false,
            publishers: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            interests: Interests::default(),
            names: 0,
            held: 0,
            changes: Changes::default(),
            waits: false,
            topics: BTreeSet::new(),
            reported: false,
            text: String::new(),
            queues: Vec::new(),
        }
    }

    /// Adds, replaces or takes away a subscription and gives the one before. `Err` if the client may not have so much.
    pub(super) fn subscribe(
        &mut self,
        subuid: i32,
        new: Option<&Subscription>,
        options: &ServerOptions,
    ) -> Result<Option<Subscription>, TooMany> {
        let before = self.subscriptions.get(&subuid);
        let count = |subscription: Option<&Subscription>| {
            subscription.map_or((0, 0, 0), |found| (1, found.topics.len(), found.size()))
        };
        let (old, added) = (count(before), count(new));
        let subscriptions = self.subscriptions.len() - old.0 + added.0;
        let (names, held) = (self.names - old.1 + added.1, self.held - old.2 + added.2);
        let fits = subscriptions <= options.subscriptions && names <= options.names && held <= options.limits.held_back;
        if new.is_some() && !fits {
            return Err(TooMany);
        }
        (self.names, self.held) = (names, held);
        let old = match new {
            Some(new) => self.subscriptions.insert(subuid, new.clone()),
            None => self.subscriptions.remove(&subuid),
        };
        if let Some(old) = &old {
            self.interests.remove(subuid, old);
            self.changes.note(old, options.limits.held_back);
        }
        if let Some(new) = new {
            self.interests.add(subuid, new, |_| true);
            self.changes.note(new, options.limits.held_back);
        }
        Ok(old)
    }

    /// The queue with this period, or with the next shorter one if there are too many.
    pub(super) fn queue(&mut self, period: i64) -> usize {
        if let Some(found) = self.queues.iter().position(|queue| queue.period == period) {
            return found;
        }
        if self.queues.len() >= PERIODS {
            let shorter = self.queues.iter().enumerate().filter(|(_, queue)| queue.period < period);
            let next = shorter.max_by_key(|(_, queue)| queue.period);
            let shortest = || self.queues.iter().enumerate().min_by_key(|(_, queue)| queue.period);
            return next.or_else(shortest).map_or(0, |(at, _)| at);
        }
        self.queues.push(Queue { period, sent: Time::MIN, due: None, bytes: Vec::new(), pending: Vec::new() });
        self.queues.len() - 1
    }

    /// Adds a text message. It goes out before any value that is added from now on.
    pub(super) fn say(&mut self, message: &str, out: &mut VecDeque<Transmit>) {
        if !self.text.is_empty() && self.text.len() + message.len() > JOINED_LEN {
            self.send_text(out);
        }
        self.text.push(if self.text.is_empty() { '[' } else { ',' });
        self.text.push_str(message);
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
